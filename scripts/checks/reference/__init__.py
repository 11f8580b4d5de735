"""The library beside recorded values of independent implementations."""
