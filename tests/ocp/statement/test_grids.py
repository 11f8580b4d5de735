"""Grids of a phase: lengths, nodes, errors."""

from __future__ import annotations

import numpy as np
import pytest

from ocp_dyn import ocp


def test_nodes_shares_and_places_of_uneven_intervals():
    grid = ocp.Intervals([1.0, 3.0, 0.5, 2.5])
    assert grid.count == 4
    assert not grid.is_even
    assert grid.shares.sum() == pytest.approx(1, abs=1e-15)
    assert np.allclose(grid.nodes, [0, 1 / 7, 4 / 7, 4.5 / 7, 1], atol=1e-15)
    assert grid.nodes[-1] == 1.0
    assert grid.at(1, 0.5) == pytest.approx(2.5 / 7)
    assert grid.at(4) == 1.0
    for s in (0.0, 0.1, 1 / 7, 0.5, 0.99, 1.0):
        k, u = grid.find(s)
        assert grid.at(k, u) == pytest.approx(s, abs=1e-12)
        assert -1e-12 <= u <= 1 + 1e-12
    assert grid.find(1 / 7)[0] == 1
    assert grid.find(1.0) == (3, 1.0)


def test_equal_intervals_are_known_by_their_nodes():
    assert ocp.Intervals.through(0.3 + 0.7 * np.linspace(0, 1, 14)) == ocp.Intervals.even(13)
    assert ocp.Intervals([2, 2, 2]).is_even
    assert repr(ocp.Intervals([2, 2, 2])) == "Intervals.even(3)"
    other = ocp.Intervals.through([0.1, 0.2, 0.4])
    assert not other.is_even
    assert repr(other) == "Intervals([1.0, 2.0])"
    assert "3 unequal intervals" in ocp.Phase("a", ocp.Intervals([1, 2, 1]), 1.0).outline()


@pytest.mark.parametrize(
    ("lengths", "error", "words"),
    [
        ([1, -1], ValueError, "lengths"),
        ([1, 0], ValueError, "lengths"),
        ([1, np.nan], ValueError, "lengths"),
        ([], ValueError, "lengths"),
        (5, TypeError, "Phase.intervals=20"),
        ("12", TypeError, "several numbers"),
        ([1, 1e-9], ValueError, "1e-06 is the least"),
        ([1, "x"], TypeError, "lengths"),
    ],
)
def test_wrong_lengths_are_told(lengths, error, words):
    with pytest.raises(error, match=words):
        ocp.Intervals(lengths)


def test_other_wrong_grids_are_told():
    with pytest.raises(ValueError, match="increasing"):
        ocp.Intervals.through([0.0, 0.2, 0.1])
    with pytest.raises(ValueError, match=r"Intervals\.even"):
        ocp.Intervals.even(0)
    with pytest.raises(ValueError, match="intervals must be"):
        ocp.Phase("a", [1, 2, 3], 1.0)
