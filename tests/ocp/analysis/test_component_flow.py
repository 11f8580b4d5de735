"""States of components in defects and Floquet multipliers: explicit and implicit ones, and algebraic channels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.analysis.component_flow import ComponentFlow
from ocp_dyn.ocp.analysis.defects import Flow
from ocp_dyn.ocp.analysis.flow_derivatives import flow_derivatives
from tests.helpers import close

ROD = od.models.pendulum()


@dataclass(frozen=True)
class Lag(ocp.Component):
    """A brake that follows the speed, y + y^3/10 + 0.2 dy/dt = qd, and a spring whose force a obeys a + a^3 = q."""

    implicit: bool = False

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        found = [ocp.Channel("y", labels=model.qd_names, mirror="signed"), ocp.Channel("count", periodic=False)]
        found.append(ocp.Channel("u", "control", rate=np.inf))
        return [*found, ocp.Channel("a", "algebraic")] if self.implicit else found

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        y = {} if self.implicit else {"y": (instant.qd - instant["y"] - instant["y"] ** 3 / 10) / 0.2}
        return {"count": instant["y"] ** 2} | y

    def rows(self, instant: ocp.Instant) -> Any:
        if not self.implicit:
            return ca.SX(0, 1)
        y, a = instant["y"], instant["a"]
        return ca.vertcat(y + y**3 / 10 + 0.2 * instant.rates["y"] - instant.qd, a + a**3 - instant.q)

    def force(self, instant: ocp.Instant) -> Any:
        q = instant.q
        root = ca.sqrt(q**2 / 4 + 1 / 27)  # Cardano's formula
        a = instant["a"] if self.implicit else _cube_root(q / 2 + root) - _cube_root(root - q / 2)
        return instant["u"] + 0.3 * instant.s - 0.5 * instant["y"] - 2 * a


def _cube_root(x: Any) -> Any:
    return ca.exp(ca.log(x) / 3)


def swing(component: ocp.Component, transition: Any = None, **options: Any) -> ocp.Solution:
    """A rod that swings by itself, pushed a little."""
    effort = ocp.Integral(lambda x: x["u"] ** 2 + ca.sumsqr(x.tau), name="effort")
    cycle = ocp.Periodic(step_length=0.0, mirror=False, transition=transition or ocp.Continuous())
    high = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - 0.6, s["count"]), 0, 0))
    phase = ocp.Phase("swing", 10, 1.6, objective=[effort])
    settings: dict[str, Any] = {"integrator": "gauss:3", "torque": "linear"} | options
    problem = ocp.Problem(ROD, [phase], periodic=cycle, boundary=[high], components=[component], **settings)
    solution = problem.solve(progress=False, guess=None)
    assert solution.converged
    return solution


def halved(end: ocp.Instant, start: ocp.Instant) -> tuple[Any, float, float]:
    return ca.vertcat(start.q - end.q, start.qd - end.qd, start["y"] - 0.5 * end["y"]), 0, 0


@pytest.mark.slow
def test_defects_and_multipliers_follow_all_states() -> None:
    solution = swing(Lag(implicit=True))
    assert solution.defects().angle < 1e-5
    (phase,) = solution.phases
    flow = Flow(solution.equations, phase.contacts, ComponentFlow.of(solution, phase))

    def period(x: Any) -> Any:
        for k in range(len(phase.tau)):
            x = flow(x, flow.inputs(phase, k))
        return x

    start = flow.state(phase, 0)
    h = 1e-4 * np.eye(start.size)[:3]
    expected = np.array([(period(start + d) - period(start - d)) / 2e-4 for d in h]).T[:3]
    found = solution.floquet()
    close(found.basis @ found.derivative @ found.basis.T, expected, 1e-5)
    assert np.abs(expected[2, :2]).max() > 0.01  # what the state does to the others, and they to it


@pytest.mark.slow
def test_a_jump_changes_the_states_of_components() -> None:
    jump = ocp.Jump(halved)
    solution = swing(Lag(), jump)
    again = ocp.Periodic(step_length=0.0, mirror=False, transition=jump)
    problem = ocp.Problem(ROD, [ocp.Phase("swing", 10, 1.6)], periodic=again)
    found, (phase,) = solution.floquet(problem=problem), solution.phases
    parts = [*flow_derivatives(solution.equations, phase, 0.0025, ComponentFlow.of(solution, phase))]
    expected = np.diag([1, 1, 0.5]) @ np.linalg.multi_dot(parts[::-1])[:3, :3]
    close(found.basis @ found.derivative @ found.basis.T, expected, 1e-9)


class Rope(ocp.Component):
    """A spring of 4 N/m between a cart of 1 kg and the world."""

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        return []

    def force(self, instant: ocp.Instant) -> Any:
        return -4 * instant.q


@pytest.mark.slow
def test_a_shift_on_which_a_component_acts_is_not_neutral() -> None:
    builder = od.ModelBuilder("cart")
    builder.add_body("cart", od.Prismatic("x"), mass=1.0)
    still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    phase = ocp.Phase("hold", 4, 1.0, objective=[ocp.TorqueSquared()])
    for parts, neutral in (((), ["x"]), ((Rope(),), [])):
        problem = ocp.Problem(builder.build(), [phase], periodic=still, components=parts, unactuated=["cart_joint"])
        found = problem.solve(progress=False).floquet()
        assert list(found.neutral) == neutral
    close(sorted(found.multipliers.imag), [-np.sin(2.0), np.sin(2.0)], 1e-7)


def test_rows_that_do_not_determine_the_unknowns_are_told() -> None:
    class Twice(Lag):
        def rows(self, instant: ocp.Instant) -> Any:
            return ca.vertcat(super().rows(instant), instant["a"] * (instant["a"] - instant["a"]) + instant.rates["y"])

    problem = ocp.Problem(ROD, [ocp.Phase("swing", 4, 1.0)], components=[Twice(True)])
    solution = problem.solve(progress=False, max_iterations=1, early_verdict=False)
    with pytest.raises(ValueError, match=r"3 equality rows determine the 2 unknown rates .* of y, a, and there"):
        solution.defects()
