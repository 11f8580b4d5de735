"""Plans of a factorization: right for every kind of problem, small fronts, and rows that find variables."""

from __future__ import annotations

import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.ocp.solvers.chain.plan import PRIMAL, ChainPlan, chain_plan
from ocp_dyn.ocp.workflows.solve import prepare
from problems import five_link, four_bar_leg, rabbit, robot_trot, stairs
from problems.small import hopper, juggling, slider_crank
from tests import hopper as monopod
from tests.ocp.solvers.chain.plan_checks import check_plan
from tests.ocp.transcription.test_dependent_joints import problem as linkage
from tests.ocp.transcription.test_shared_stage_order import EFFORT, SHARING, reach, rest_to_rest

FEW = {"intervals": 6}
SMALL = {
    **SHARING,
    "explicit Euler": lambda: reach(rest_to_rest, integrator="euler"),
    "Runge-Kutta": lambda: reach(rest_to_rest, integrator="rk4", form="explicit", steps=2),
    "three stages": lambda: reach(rest_to_rest, integrator="gauss:3", form="implicit"),
    "stages between nodes": lambda: reach(rest_to_rest, integrator="gauss:2", form="implicit", steps=2),
    "rates of accelerations": lambda: reach(
        rest_to_rest, form="implicit", objective=(EFFORT, ocp.JerkSquared(0.1), ocp.Peak(lambda i: i.q))
    ),
    "monopod": monopod.problem,
    "five links": lambda: five_link.problem(**FEW),
    "five links, implicit": lambda: five_link.problem("implicit", integrator="gauss:2", torque="linear", **FEW),
    "hop": lambda: hopper.problem(6),
    "balls": lambda: juggling.problem(6),
    "closed loop": lambda: slider_crank.problem(6),
}
LARGE = {
    "linkage": linkage,
    "joints that follow, linear torques": lambda: linkage(torque="linear", integrator="gauss:2"),
    "two loops": lambda: four_bar_leg.problem(intervals=(2, 3, 2)),
    "rabbit": lambda: rabbit.problem(intervals=6),
    "quadruped": robot_trot.problem,
    "stairs": lambda: stairs.problem(still=True, intervals=(2, 2, 3, 3)),
}


def planned(problem: ocp.Problem, threads: int = 2) -> tuple[ChainPlan, object]:
    """The plan of a problem, checked."""
    transcription, program = prepare(problem)
    bounds = transcription.program.x_lower, transcription.program.x_upper
    plan = chain_plan(program, *bounds, threads)
    check_plan(plan, program, *bounds)
    return plan, program


@pytest.mark.parametrize("name", SMALL)
def test_plans_of_all_kinds_of_problems(name):
    plan, _program = planned(SMALL[name]())
    assert plan.own.sum() >= plan.nx_free + plan.nc - np.sum(plan.role >= PRIMAL)
    assert f"{plan.parent.size} fronts" in plan.describe()
    assert np.all(plan.own + np.bincount(plan.front[plan.role >= PRIMAL], minlength=plan.own.size) > 0)
