"""Walks by the muscles of a model on compliant feet: predicted, or after a recording; first guesses of them."""
