"""Random redundant constraint sets beside a dense reference."""
