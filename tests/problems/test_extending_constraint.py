"""A constraint of the user's own: constrained dynamics, impacts, optimal control, files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from problems.extending.constraint import Rod

MODEL = od.models.pendulum(3)
ROD = Rod("link3", (0.4, 0.1, -1.2), 0.9)


def by_ad() -> od.CustomConstraint:
    """The same constraint by automatic differentiation of phi."""
    return od.CustomConstraint(lambda q: ROD.position(MODEL, q), name="rod")


@pytest.mark.parametrize(
    "algorithm", [od.constrained_dynamics, od.impact, od.constrained_dynamics_derivatives, od.constrained_equations]
)
@pytest.mark.slow
def test_algorithms_agree_with_automatic_differentiation(algorithm: Any, rng: np.random.Generator) -> None:
    f, g = (od.function(algorithm, MODEL, (c, od.LockedJoint("joint1"))) for c in (ROD, by_ad()))
    x = [DM(rng.normal(size=f.size1_in(i))) for i in range(f.n_in())]
    for mine, other in zip(f.call(x), g.call(x), strict=True):
        np.testing.assert_allclose(mine.full(), other.full(), rtol=1e-10, atol=1e-12)


def test_inverse_dynamics_agree(rng: np.random.Generator) -> None:
    x = [DM(rng.normal(size=3)) for _ in range(3)]
    mine, other = (od.constrained_inverse_dynamics(MODEL, c, *x, actuated=["joint2", "joint3"]) for c in (ROD, by_ad()))
    np.testing.assert_allclose(ca.vertcat(*mine).full(), ca.vertcat(*other).full(), rtol=1e-10, atol=1e-12)


def test_magnitudes_are_those_of_its_terms(rng: np.random.Generator) -> None:
    q = DM(rng.normal(size=3))
    assert np.all(
        od.constraint_magnitudes(MODEL, ROD, q).full() >= np.abs(od.constraint_jacobian(MODEL, ROD, q).full())
    )


def swing(rod: Any, q0: float = 1.2) -> ocp.Problem:
    """A mass on a rod, without motors, from rest at an angle: a pendulum in coordinates x, z."""
    builder = od.ModelBuilder("mass on a rod")
    builder.add_body("slide", od.Prismatic("x"), mass=0.0)
    builder.add_body("ball", od.Prismatic("z"), "slide", mass=2.0)
    start = (0.7 * np.sin(q0), -0.7 * np.cos(q0))
    begin = ocp.Boundary(lambda start_, end: (ca.vertcat(start_.q[0] - start[0], start_.qd[0]), 0.0, 0.0))
    return ocp.Problem(
        builder.build(),
        ocp.Phase("swing", 12, 0.6, constraints=rod, objective=ocp.ForceSquared()),
        boundary=begin,
        unactuated=["slide_joint", "ball_joint"],
        guess=lambda s: (start, np.zeros(2)),
        integrator="gauss:2",
    )


@pytest.mark.slow
def test_a_phase_holds_it(tmp_path: Any) -> None:
    rod = Rod("ball", (0.0, 0.0, 0.0), 0.7)
    solution = swing(rod).solve(progress=False)
    assert solution.converged
    assert max(solution.drift().position, solution.drift().velocity) < 1e-8
    phase = solution.phases[0]
    x, z = phase.q[-1]
    energy = 9.81 * (phase.q[:, 1] + 0.7 * np.cos(1.2)) + np.sum(phase.qd**2, axis=1) / 2
    assert np.abs(energy).max() < 1e-3
    angle, rate, h = 1.2, 0.0, 1e-5  # theta'' = -(g / l) sin(theta), by small steps
    for _ in range(round(0.6 / h)):
        rate -= h * 9.81 / 0.7 * np.sin(angle)
        angle += h * rate
    assert np.arctan2(x, -z) == pytest.approx(angle, abs=2e-4)

    path = solution.save(tmp_path / "swing.npz")
    again = ocp.Solution.load(path, constraints=(Rod,))
    assert again.phases[0].contacts == (rod,)
    assert again.drift() == solution.drift()
    with pytest.raises(od.ModelError, match=r"swing.npz: .*no kind of constraint 'Rod'.*constraints=\(Rod,\)"):
        ocp.Solution.load(path)
    with pytest.raises(TypeError, match=r"constraints must be a tuple of classes.*give the class, Rod"):
        ocp.Solution.load(path, constraints=rod)
    with pytest.raises(TypeError, match="constraints must be a tuple of classes"):
        ocp.Solution.load(path, constraints=(od.Revolute,))

    own = replace(solution, phases=(replace(phase, contacts=(Weak(),)),))
    with pytest.warns(
        od.ModelWarning, match=r"under the constraint .* cannot be saved: its class is not a frozen dataclass"
    ):
        own.save(tmp_path / "weak.npz")
    own = replace(solution, phases=(replace(phase, contacts=(Law("ball", (0, 0, 0), 1.0),)),))
    with pytest.warns(od.ModelWarning, match="cannot be saved: a file holds no functions, such as its law"):
        own.save(tmp_path / "law.npz")


class Weak(od.Constraint):
    rows = ("weak",)

    def position(self, *_: Any) -> Any:
        return 0

    jacobian = hessian = position


@dataclass(frozen=True)
class Law(Rod):
    law: Any = print


def test_a_class_without_the_methods_is_refused() -> None:
    class Half:
        rows = ("half",)

    with pytest.raises(TypeError, match=r"constraints must be a tuple of constraints such as Contact, got .*Half"):
        od.constrained_dynamics(MODEL, (Half(),), *[DM(3, 1)] * 3)
