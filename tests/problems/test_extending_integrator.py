"""Integrators of the user's own: tableaus as values, their orders, checks and files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.integrators import scheme
from problems.extending.integrator import RADAU_IA, RALSTON, fall
from tests.hopper import problem as hopper

KUTTA = {"A": [[0, 0, 0], [0.5, 0, 0], [-1, 2, 0]], "b": [1 / 6, 2 / 3, 1 / 6]}


def test_the_order_is_found_from_the_tableau() -> None:
    assert (RALSTON.order, RALSTON.explicit, RADAU_IA.order, RADAU_IA.explicit) == (2, True, 3, False)
    assert np.allclose(RADAU_IA.c, [0, 2 / 3])
    assert ocp.Scheme("Kutta", **KUTTA).order == 3
    for name in ("heun", "rk4", "midpoint", "radau:3", "gauss:3", "lobatto:4"):
        known = scheme(name)
        assert ocp.Scheme(name, known.A, known.b).order == known.order
    assert ocp.Scheme("of order 10", scheme("gauss:5").A, scheme("gauss:5").b, order=10).order == 10


@pytest.fixture(scope="module")
def end() -> np.ndarray:
    """The configuration at the end by small steps of a scheme of high order."""
    return fall("gauss:4", "implicit", 40).solve(progress=False).q[-1]


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.parametrize("own", [RALSTON, RADAU_IA], ids=lambda own: own.name)
@pytest.mark.slow
def test_halving_the_step_shows_the_order(own: ocp.Scheme, form: str, end: np.ndarray) -> None:
    errors = [np.abs(fall(own, form, n).solve(progress=False).q[-1] - end).max() for n in (16, 32)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(own.order, abs=0.35)


def test_a_tableau_by_value_is_the_scheme_by_name() -> None:
    named = scheme("radau:2")
    own = ocp.Scheme("Radau IIA", named.A, named.b)
    one, other = (fall(x, "implicit", 8).solve(progress=False) for x in ("radau:2", own))
    assert np.array_equal(one.q, other.q)


def test_a_file_holds_the_tableau(tmp_path: Any) -> None:
    solution = fall(RALSTON, "explicit", 6).solve(progress=False)
    again = ocp.Solution.load(solution.save(tmp_path / "fall.npz"))
    found = again.stats["integrator"]
    assert found == RALSTON
    assert hash(found) == hash(RALSTON)
    assert found != RADAU_IA
    assert replace(fall("rk4", "explicit", 6), integrator=found).scheme.order == 2
    for wrong in ({"A": [[0]], "b": [1]}, {"name": "x", "A": [[0]], "b": [2]}):
        bad = replace(solution, stats=solution.stats | {"integrator": wrong})
        with pytest.raises(ValueError, match="'stats': 'integrator': "):
            bad.save(tmp_path / "fall.npz")


@pytest.mark.slow
def test_contacts_are_held_by_an_own_scheme() -> None:
    named = scheme("gauss:2")
    hop = replace(hopper(), integrator=ocp.Scheme("own", named.A, named.b)).solve(progress=False)
    assert hop.converged
    assert hop.drift().position < 1e-6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (KUTTA | {"b": [0.5, 0.4, 0.2]}, "Scheme 'own': the weights b must sum to 1"),
        (KUTTA | {"A": [[0, 0], [1, 0]]}, r"Scheme 'own': A \(3 x 3, since b has 3 numbers\) must be 9 finite numbers"),
        (KUTTA | {"b": [np.nan, 1, 0]}, "Scheme 'own': b must be 3 finite numbers"),
        (KUTTA | {"c": [0, 0.4, 1]}, r"c must be the row sums of A, \[0.0, 0.5, 1.0\], got \[0, 0.4, 1\]"),
        (KUTTA | {"order": 4}, "Scheme 'own' has the order 3, got order=4: leave it out, or check A and b"),
        (KUTTA | {"order": 1.5}, "order, 0 if it is left out, must be at least 0, a whole number, got 1.5"),
        (
            {"A": [[0, 0], [2, 0]], "b": [0.75, 0.25]},
            r"fractions c of the step must lie between 0 and 1, got \[0.0, 2.0",
        ),
    ],
)
def test_what_is_no_scheme_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ocp.Scheme("own", **given)


def test_schemes_that_cannot_hold_contacts_are_refused() -> None:
    euler = ocp.Scheme("explicit Euler", [[0]], [1])
    with pytest.raises(
        ValueError, match="integrator 'explicit Euler' cannot hold contacts at contact_level 'position'"
    ):
        replace(hopper(), integrator=euler)
    unweighted = ocp.Scheme("unweighted", [[0, 0], [1, 0]], [1, 0])
    with pytest.raises(
        ValueError, match="'unweighted' cannot hold contacts at contact_level 'velocity': its last stage"
    ):
        replace(hopper(), integrator=unweighted, contact_level="velocity")
    with pytest.raises(ValueError, match=r"integrator must be one of euler, heun, .* or a Scheme, got "):
        ocp.Problem(od.models.pendulum(1), ocp.Phase("a", 2, 1.0), integrator=euler.A)
