"""Measurements of speed, size and iterations: one command each, `python -m scripts.bench.NAME`."""
