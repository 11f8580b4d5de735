"""Times of the dynamics of robots, beside other libraries."""
