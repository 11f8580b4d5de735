"""Tools of every room: types, checks of input, whole files, display, rounding, automatic differentiation."""
