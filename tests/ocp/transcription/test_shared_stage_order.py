"""Chains that carry along what their stages share: their derivatives, and the same optimum as without a chain."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.solvers import fatrop_program
from ocp_dyn.ocp.transcription import shared_stage_order
from ocp_dyn.ocp.workflows import solve as solver
from tests.helpers import close

EFFORT = ocp.TorqueSquared()


def reach(*conditions, duration=1.0, objective=EFFORT, **options):
    """A pendulum, ten intervals, one condition on its ends."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(*(rows(s, e) for rows in conditions)), 0, 0))
    phase = ocp.Phase("swing", 10, duration, objective=objective)
    return ocp.Problem(pendulum(1), phase, boundary=ends, **options)


def between():
    """From anywhere to anywhere, but a cost of the two places keeps them together: no stage sees both."""
    places = [ocp.Parameter("goal", bounds=(0.5, 1.5)), ocp.Parameter("begin", bounds=(-0.5, 0.5))]
    near = ocp.Terminal(lambda s, e: (s.values["goal"] - s.values["begin"] - 0.7) ** 2, 5.0)
    return reach(
        lambda s, e: ca.vertcat(s.q - s.values["begin"], s.qd, e.q - s.values["goal"], e.qd),
        parameters=places,
        terminal=near,
    )


def rest_to_rest(start, end):
    return ca.vertcat(start.q, start.qd, end.q - 1.0, end.qd)


def hop():
    """A hopper in its plane: an impact, a foothold, two durations and the step length free, periodic."""
    builder = od.ModelBuilder("hopper")
    builder.add_body("cart", od.Prismatic("x"), joint_name="root", mass=1, inertia=(1, 1, 1))
    builder.add_body("trunk", od.Prismatic("z"), "cart", joint_name="up", mass=7, inertia=(1, 1, 1))
    builder.add_body("hip", od.Revolute("y"), "trunk", mass=1, inertia=(0.1, 0.1, 0.1), lower=-0.8, upper=0.8)
    builder.add_body("leg", od.Prismatic("-z"), "hip", mass=1, com=(0, 0, -0.3), lower=0.0, upper=0.5)
    builder.add_frame("foot", "leg", (0, 0, -0.5))
    foot = ocp.Foothold(od.Contact("foot", axes="xz"), x=(-1, 1), y=0.0)
    effort = (ocp.TorqueSquared(1e-4), ocp.AccelerationSquared(1e-4))
    clear = ocp.Clearance([("foot", (0, 0, 0))], 0.02)
    phases = [
        ocp.Phase("stance", 5, (0.1, 0.5), foot, (ocp.Unilateral(), ocp.FrictionCone(0.8)), effort),
        ocp.Phase("flight", 5, (0.1, 0.6), (), clear, effort),
    ]
    periodic = ocp.Periodic(0.8, mirror=False)
    return ocp.Problem(builder.build(), phases, periodic=periodic, unactuated=["root", "up"], per_distance=True)


HURRY = (EFFORT, ocp.Duration(weight=3.0))
RATE = (EFFORT, ocp.TorqueRateSquared(0.1))
AGAIN = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=0)
SHARING = {
    "free duration": lambda: reach(rest_to_rest, duration=(0.3, 2.0), objective=HURRY),
    "free parameter": lambda: reach(
        lambda s, e: ca.vertcat(s.q, s.qd, e.q - e.values["goal"], e.qd),
        parameters=ocp.Parameter("goal", bounds=(0.5, 1.5)),
    ),
    "parameters of both ends": lambda: between(),
    "closed by a condition": lambda: reach(
        lambda s, e: ca.vertcat(s.q - e.q, s.qd - e.qd, s.q - 0.3), duration=(0.3, 2.0), objective=HURRY
    ),
    "periodic": lambda: reach(lambda s, e: s.q - 0.3, duration=(0.3, 2.0), objective=HURRY, periodic=AGAIN),
    "linear torques": lambda: reach(rest_to_rest, torque="linear", integrator="gauss:2"),
    "torque rates": lambda: reach(rest_to_rest, objective=RATE),
    "linear torques and rates": lambda: reach(rest_to_rest, objective=RATE, torque="linear"),
    "steps between nodes": lambda: reach(rest_to_rest, form="implicit", steps=2),
    "hopper": hop,
}


@pytest.mark.parametrize("make", SHARING.values(), ids=SHARING)
def test_fatrop_carries_what_stages_share(make):
    problem = make()
    one, other = (problem.solve(solver=name, progress=False, tolerance=1e-8) for name in ("ipopt", "fatrop"))
    assert one.converged
    assert other.converged
    assert other.stats["solver"] == "fatrop"
    assert other.objective == pytest.approx(one.objective, rel=1e-6)
    close(other.q, one.q, 1e-4)
    assert other.stats["infeasibility"] < 2e-8
    again = problem.solve(solver="fatrop", start=other, progress=False)
    assert again.stats["iterations"] <= max(5, other.stats["iterations"] // 4)


def test_copies_are_where_they_are_needed():
    """Of a free duration at every stage but the first, whose control it is; of the first state, of a rate's torque."""
    problem = reach(rest_to_rest, duration=(0.3, 2.0), objective=HURRY)
    chain = shared_stage_order.shared_stage_order(*solver.prepare(problem))
    assert chain.nx == [2] + [3] * 9 + [2]  # the last stage sees no duration
    assert chain.nu == [3] + [2] * 9 + [0]
    assert shared_stage_order.shared_stage_order(*solver.prepare(reach(rest_to_rest))).copies.size == 0
    closed = reach(lambda s, e: s.q - e.q)
    assert shared_stage_order.shared_stage_order(*solver.prepare(closed)).nx == [2] + [3] * 10
    rates = shared_stage_order.shared_stage_order(*solver.prepare(reach(rest_to_rest, objective=RATE)))
    assert rates.nx == [2] + [3] * 9 + [2]


def test_what_the_last_stage_alone_sees_begins_before_it():
    """The last stage has no controls; and what a cost alone joins to it goes along to where the other begins."""
    goal = shared_stage_order.shared_stage_order(*solver.prepare(SHARING["free parameter"]()))
    assert goal.nx == [2] * 10 + [3]
    assert goal.nu == [2] * 9 + [3, 0]
    both = shared_stage_order.shared_stage_order(*solver.prepare(between()))
    assert both.nx == [2] + [3] * 10
    assert both.nu == [3] + [2] * 8 + [3, 0]


def test_a_chain_has_the_derivatives_of_its_program(rng):
    """Where all copies move together: the same rows, the same curvature; all of it within stages, gaps one ahead."""
    t, program = solver.prepare(hop())
    x, p, e = t.program.start, t.program.values, program.evaluator
    chain = shared_stage_order.shared_stage_order(t, program)
    functions = fatrop_program.FatropProgram(program, chain, x, lambda *iterate: False).functions
    step = np.where(chain.home < 0, 0.0, rng.standard_normal(x.size))
    lam = rng.standard_normal(program.row_lower.size)
    z, dz, lam_z = x[chain.columns], step[chain.columns], np.where(chain.rows < 0, 0.0, lam[chain.rows])
    J, J_z = ca.DM(e.jacobian_pattern, e.jacobian(x, p).copy()), functions["nlp_jac_g"](z, p)[1]
    moved = np.array(J_z @ dz).ravel()
    assert not np.any(moved[chain.rows < 0])
    close(moved[chain.rows >= 0], np.array(J @ step).ravel()[chain.rows[chain.rows >= 0]])
    H = ca.triu2symm(ca.DM(e.hessian_pattern, e.hessian(x, p, 1.0, lam).copy()))
    H_z = functions["nlp_hess_l"](z, p, 1.0, lam_z)[1]
    close(float(ca.dot(dz, H_z @ dz)), float(ca.dot(step, H @ step)))
    stage = np.repeat(np.arange(len(chain.nx)), np.add(chain.nx, chain.nu))
    of_row = np.repeat(np.arange(len(chain.nx)), np.add([*chain.nx[1:], 0], chain.ng))
    i, j = (np.array(k) for k in H_z.sparsity().get_triplet())
    assert np.array_equal(stage[i], stage[j])
    i, j = (np.array(k) for k in J_z.sparsity().get_triplet())
    ahead = stage[j] - of_row[i]
    assert set(ahead) == {0, 1}
    first = (np.searchsorted(of_row, of_row[i[ahead == 1]]), np.searchsorted(stage, stage[j[ahead == 1]]))
    assert np.array_equal(i[ahead == 1] - first[0], j[ahead == 1] - first[1])  # x_{k+1} = ..., in its order
