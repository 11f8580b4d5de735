"""Path constraints of the user's own: a class and a function, and what is said about wrong ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from problems.extending.path_constraint import Corridor, swing

WALLS = Corridor("link2", 0.85)


def reach(solution: ocp.Solution) -> float:
    return max(abs(float(od.point_position(solution.model, "link2", ca.DM(q))[0])) for q in solution.q)


@pytest.mark.slow
def test_a_class_holds_at_every_node() -> None:
    free, held = (swing(path).solve(progress=False) for path in ((), WALLS))
    assert reach(free) > 0.9
    assert reach(held) < 0.85 + 1e-7
    assert held.multipliers()["swing Corridor: Corridor"].shape == (21, 1)


def test_a_function_is_the_same_constraint() -> None:
    path = ocp.Path(lambda instant: od.point_position(instant.model, "link2", instant.q)[0], -0.85, 0.85)
    one, other = (swing(p).solve(progress=False) for p in (WALLS, path))
    np.testing.assert_allclose(one.q, other.q, atol=1e-6)


@dataclass(frozen=True)
class Own(ocp.PathConstraint):
    """A constraint of intervals whose rows the test gives."""

    value: Any
    where: str = "interval"

    def rows(self, instant: ocp.Instant) -> Any:
        return self.value(instant) if callable(self.value) else self.value


def test_a_class_of_intervals_sees_torques() -> None:
    problem = swing(Own(lambda instant: (instant.tau, -5.0, 5.0)))
    solution = problem.solve(progress=False)
    assert np.abs(swing(()).solve(progress=False).tau).max() > 6.0
    assert np.abs(solution.tau).max() == pytest.approx(5.0, abs=1e-5)


def test_wrong_classes_are_explained_when_the_problem_is_made() -> None:
    with pytest.raises(KeyError, match="phase 'swing': no frame 'link3'"):
        swing(replace(WALLS, frame="link3"))
    with pytest.raises(ValueError, match=r"where of Own.* must be one of node, interval, wrench, got 'nodes'.*'node'"):
        swing(Own(None, "nodes"))

    class Half:  # not derived from ocp.PathConstraint
        def rows(self, instant: ocp.Instant) -> Any:
            return instant.q, 0.0, 1.0

    with pytest.raises(TypeError, match=r"derive its class from the base class, class Half\(ocp.PathConstraint\)"):
        swing(Half())
