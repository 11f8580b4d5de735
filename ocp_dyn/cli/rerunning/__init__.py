"""`ocp-dyn rerun`: a saved problem solved again, and how far the two solutions are apart."""
