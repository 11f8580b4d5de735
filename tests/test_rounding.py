"""Numbers that are equal up to rounding."""

import math

import numpy as np

from ocp_dyn._base.rounding import largest, ordinal


def test_the_first_of_equal_numbers_is_chosen(rng):
    for sign in (1.0, -1.0):
        values = sign * np.array([0.5, 1.0, 1.0, 0.5])
        for _ in range(50):
            assert largest(values * (1 + 1e-12 * rng.standard_normal(4))) == (1 if sign > 0 else 0)
    assert largest([1.0, 1.00001]) == 1
    assert largest([0.0, 0.0]) == 0
    assert largest([1.0, math.inf, math.inf]) == 1
    assert largest([-math.inf, -math.inf]) == 0
    assert largest([1.0, math.nan, 2.0]) == 1


def test_equal_numbers_keep_their_order(rng):
    values = np.array([3.0, 1.0, 3.0, 2.0, 1.0])
    for _ in range(50):
        keys = [ordinal(-x) for x in values * (1 + 1e-12 * rng.standard_normal(5))]
        assert sorted(range(5), key=keys.__getitem__) == [0, 2, 3, 1, 4]
    assert ordinal(1.00001) > 1.0
