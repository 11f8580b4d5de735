"""Parts of the benchmarks: clocks, models, functions of this library and of others, tables and figures."""
