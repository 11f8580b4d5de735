"""First guesses from solutions of other grids, phases and models."""

from dataclasses import replace

import casadi
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.guess.from_solution import carry_over
from ocp_dyn.ocp.guess.standing_guess import initial_guess
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.transcription.variables import number, place_value
from tests import hopper


def swing(links=1, intervals=(6,), **options):
    def from_rest_to_one(start, end):
        return casadi.vertcat(start.q, end.q - 1), 0, 0

    phases = [ocp.Phase(f"part {k}", n, (0.2, 2.0), (), (), ocp.TorqueSquared()) for k, n in enumerate(intervals)]
    return ocp.Problem(pendulum(links), phases, boundary=[ocp.Boundary(from_rest_to_one)], **options)


def carried(problem, guess):
    """The transcription with first values from the guess."""
    t = transcribe(problem)
    initial_guess(t)
    carry_over(t, guess)
    return t


def values(t, slots):
    return np.array([number(t, slot, t.program.start) for slot in slots])


@pytest.mark.parametrize("torque", ["constant", "linear"])
@pytest.mark.slow
def test_the_same_grid_keeps_every_node(torque):
    problem = swing(2, (5, 4), torque=torque)
    found = problem.solve(progress=False)
    t = carried(problem, found)
    for x, phase in zip(t.phases, found.phases, strict=True):
        assert np.allclose(values(t, x["q"]), phase.q, atol=1e-12)
        assert np.allclose(values(t, x["qd"]), phase.qd, atol=1e-12)
        assert np.allclose(values(t, x["qdd"]), phase.qdd, atol=1e-9)
        assert number(t, x.duration, t.program.start) == pytest.approx(phase.duration)
        means = (
            values(t, x["tau"]) if torque == "constant" else (values(t, x["tau"])[1:] + values(t, x["tau"])[:-1]) / 2
        )
        assert np.allclose(means, phase.tau, atol=1e-9)


def test_other_phases_follow_the_whole_motion():
    one = swing(1, (8,)).solve(progress=False)
    t = carried(swing(1, (2, 2)), one)
    assert sum(float(number(t, x.duration, t.program.start)[0]) for x in t.phases) == pytest.approx(one.duration)
    half = one.sample(one.duration / 2)[0]
    assert values(t, [t.phases[0]["q"][-1]])[0] == pytest.approx(half, abs=1e-9)
    assert values(t, [t.phases[1]["q"][-1]])[0] == pytest.approx(one.q[-1], abs=1e-9)


def test_another_model_shares_the_joints_of_one_name():
    one = swing(1).solve(progress=False)
    t = carried(swing(2), one)
    q = values(t, t.phases[0]["q"])
    assert np.allclose(q[:, 0], one.q[:, 0], atol=1e-12)
    assert np.allclose(q[:, 1], 0.0)


@pytest.mark.slow
def test_a_hopper_with_an_arm_begins_with_the_hop_of_the_one_without_on_another_grid(motions):
    hop, problem = motions["hop"], hopper.problem()
    arm = od.ModelBuilder("arm")
    arm.add_body("arm", od.Revolute("y"), mass=0.5, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.01))
    phases = [replace(phase, intervals=7) for phase in problem.phases]
    armed = replace(problem, model=problem.model.attach(arm.build(), "trunk"), phases=phases)
    t = carried(armed, hop)
    place = place_value(t, phases[0].footholds[0], t.program.start, hop.advance)
    assert place == pytest.approx(hop.phases[0].places["foot"], abs=1e-9)
    lam = values(t, t.phases[0]["lam"])
    assert lam.max() > 0.9 * hop.phases[0].lam.max()  # forces are carried over, too
    assert armed.solve(progress=False, guess=hop).converged


@pytest.mark.slow
def test_forces_on_a_rigid_foot_act_on_a_compliant_one():
    """The wrench about the origin of the frame; zero while the foot is in the air, not a share of the weight."""
    builder = od.ModelBuilder("ball")
    builder.add_body("ball", od.FloatingBase(), mass=2, inertia=(0.1, 0.1, 0.1), effort=100.0)
    model, point = builder.build(), (0.05, 0.02, -0.1)
    foot = ocp.Foothold(od.Contact("ball", point), x=0.05, y=0.02)
    effort = ocp.TorqueSquared(1e-3)
    phases = [ocp.Phase("stand", 3, 0.3, [foot], objective=effort), ocp.Phase("fly", 3, 0.3, objective=effort)]
    rigid = ocp.Problem(model, phases, unactuated=[]).solve(progress=False)
    soft = ocp.CompliantFoothold("ball", [od.HuntCrossleySphere("ball", (0, 0, -0.1), 0.05)])
    t = carried(ocp.Problem(model, [ocp.Phase("all", 6, 0.6, [soft])], unactuated=[]), rigid)
    found = values(t, t.phases[0]["lam"]).reshape(6, -1, 6)
    moment, force = np.split(rigid.phases[0].wrenches["ball"], 2, axis=1)
    R = np.array([od.pose(model, "ball", q)[0].full() for q in rigid.phases[0].q[:-1]])
    about_origin = moment + np.cross(R @ np.array(point), force)
    for stage in range(found.shape[1]):
        assert found[:3, stage] == pytest.approx(np.hstack([about_origin, force]), abs=1e-9)
        assert not found[3:, stage].any()
    assert np.abs(force).max() > 1.0
