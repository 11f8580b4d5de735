"""Tables and examples of chapter 8 [GJB94], and published benchmarks."""
