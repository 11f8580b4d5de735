"""What `bench_dynamics.py` measures with: clocks, models, our functions, other libraries, tables and figures."""
