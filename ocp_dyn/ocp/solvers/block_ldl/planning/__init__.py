"""Order in which the rows of a KKT matrix are eliminated: fronts along a sequence of intervals, from the structure of a
program."""
