"""Solutions played in MuJoCo: its inverse dynamics gives their torques, and forward they walk."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from importlib.util import find_spec

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.replay.motors import Motors, strengths
from ocp_dyn.replay.planned_torques import plan as plan_of
from ocp_dyn.replay.simulator import SOLIMP, SOLREF, load
from problems import replay

needs_mujoco = pytest.mark.skipif(find_spec("mujoco") is None, reason="needs the package mujoco")


def squat(**options):
    """A body on two legs without feet, of six dofs, that rises on one flat sole; with a passive joint torque."""
    builder = od.ModelBuilder("squat")
    builder.add_body("foot", od.FloatingBase(), mass=1, com=(0, 0, 0.03), inertia=(0.01, 0.01, 0.01))
    for name, parent, height in (("shank", "foot", 0.05), ("thigh", "shank", 0.4)):
        builder.add_body(
            name, od.Revolute("y"), parent=parent, origin=(0, 0, height), mass=4, com=(0, 0, 0.2),
            inertia=(0.05, 0.05, 0.01), effort=200.0, damping=0.5, armature=0.1,
        )  # fmt: skip
    builder.add_passive(od.ExponentialTorque("thigh_joint", -3.0, {"thigh_joint": 2.0}))
    model = builder.build()
    foot = ocp.Foothold(od.Contact("foot"), x=0, y=0, half_length=0.12, half_width=0.06)
    ends = ocp.Boundary(lambda a, b: (_rows(a, b), 0, 0))
    phase = ocp.Phase("rise", 6, 0.6, [foot], [ocp.CenterOfPressure()], [ocp.TorqueSquared()])
    settings = {"integrator": "gauss:2", "torque": "linear"} | options
    return ocp.Problem(model, [phase], boundary=[ends], **settings).solve(progress=False)


def _rows(a, b):
    return ca.vertcat(a.q[7:] - [-0.4, 0.7], a.qd[6:], b.q[7:] - [-0.2, 0.3], b.qd[6:])


@pytest.fixture(scope="module")
def motion():
    solution = squat()
    assert solution.converged
    return solution


@needs_mujoco
@pytest.mark.slow
def test_inverse_dynamics_at_all_stages_agrees(motion):
    found = od.replay.inverse(motion)
    assert found.stages == 12
    assert found.torque < 1e-8
    assert found.root < 1e-8
    wrong = replace(motion, loads=od.Loads())  # without passive torques and rotors
    assert od.replay.inverse(wrong).torque > 1e-3


@needs_mujoco
@pytest.mark.slow
def test_inverse_dynamics_of_the_explicit_form_agrees():
    solution = squat(form="explicit", integrator="rk4", torque="constant")
    found = od.replay.inverse(solution)
    assert found.stages == 6
    assert max(found.torque, found.root) < 1e-8


@needs_mujoco
def test_a_motion_without_motors_has_no_largest_torque(motion):
    phase = motion.phases[0]
    limp = replace(phase, tau=0 * phase.tau, tau_rate=0 * phase.tau_rate)
    found = od.replay.inverse(replace(motion, phases=(limp,)))
    assert found.torque == 0
    assert found.root > 1e-3


@needs_mujoco
def test_the_plan_passes_through_the_nodes_and_has_its_torques(motion):
    plan = plan_of(motion, 1e-3)
    assert plan.steps == 600
    assert plan.q[0][100] == pytest.approx(motion.q[1], abs=1e-9)
    assert plan.qd[0][100] == pytest.approx(motion.qd[1], abs=1e-9)
    phase = motion.phases[0]
    assert plan.tau[0][:100].mean(axis=0) == pytest.approx(phase.tau[0])
    assert plan.tau[0][99] - plan.tau[0][0] == pytest.approx(phase.tau_rate[0] * 0.099)
    assert np.abs(np.gradient(plan.q[0][:, -1], plan.h) - plan.qd[0][:, -1])[1:-1].max() < 1e-2


@needs_mujoco
@pytest.mark.slow
def test_a_motion_played_forward_follows_the_plan(motion):
    run = od.replay.forward(motion, od.replay.Settings(timestep=5e-4))
    assert not run.fallen
    assert run.time == pytest.approx(motion.duration)
    assert run.q[-1][7:] == pytest.approx(motion.sample([run.t[-1]])[0][7:], abs=5e-3)
    weight = motion.model.weight
    (wrench,) = run.wrenches.values()
    assert wrench[len(wrench) // 4 :, 5].mean() == pytest.approx(weight, rel=0.1)
    assert np.abs(wrench[:, [0, 2]]).max() < 0.05 * weight  # a motion in the plane y = 0
    simulated = run.motion()
    assert simulated.q == pytest.approx(run.q)
    assert simulated.phases[0].wrenches["foot"][-1] == pytest.approx(wrench[-2])
    found = od.replay.replay_figures(run, od.replay.Agreement(0.0, 0.0, 0))
    assert found["steps_asked"] == 1  # a motion that is not periodic has no second one
    assert found["planned_distance_m"] == pytest.approx(motion.q[-1, 0] - motion.q[0, 0], abs=1e-3)
    assert found["distance_m"] == pytest.approx(found["planned_distance_m"], abs=5e-3)


@needs_mujoco
@pytest.mark.slow
def test_without_torques_it_falls(motion):
    phase = motion.phases[0]
    still = replace(phase, t=2 * phase.t, q=np.tile(phase.q[0], (7, 1)), qd=np.zeros_like(phase.qd))
    limp = od.replay.Settings(gain=0.0, damping=0.0, feed_forward=0.0, timestep=5e-4)
    run = od.replay.forward(replace(motion, phases=(still,)), limp)
    assert np.abs(run.tau).max() == 0
    assert run.fallen
    assert 0.1 < run.time < 1.0


@needs_mujoco
def test_motors_stay_within_their_strength_and_lose_their_damping_there(motion):
    motors = Motors(motion, gain=30.0, damping=1.0, feed_forward=1.0)
    q, zero = motion.q[0], np.zeros(motion.model.nv)
    away = q.copy()
    away[-1] += 0.01
    tau, _, damping = motors(q, zero, away, zero, zero)
    assert tau[-1] == pytest.approx(30 * 200 * 0.01)
    assert damping[-1] == pytest.approx(200 + 0.5)  # that of the motor, and that of the joint
    assert np.all(tau[:6] == 0)
    away[-1] += 1.0
    tau, _, damping = motors(q, zero, away, zero, zero)
    assert tau[-1] == 200
    assert damping[-1] == pytest.approx(0.5)
    assert motors.saturated


@needs_mujoco
def test_loops_are_as_stiff_as_the_ground(motion):
    """With MuJoCo's soft defaults a biped with springs in loops falls in its second step, with these it walks on."""
    phase = motion.phases[0]
    lam = np.hstack([phase.lam, np.zeros((len(phase.lam), 1))])
    held = replace(phase, contacts=(*phase.contacts, od.LockedJoint("thigh_joint", 0.3)), lam=lam)
    spec = load(replace(motion, phases=(held,))).spec
    assert spec.eq_solref.tolist() == [list(SOLREF)]
    assert spec.eq_solimp.tolist() == [list(SOLIMP)]


def test_strengths_are_limits_that_motors_can_have(motion):
    peak = np.abs(motion.tau).max(axis=0)
    assert strengths(motion)[6:].tolist() == [200, 200]
    for none in (1000.0, np.inf):  # ten moments of the weight are 450 N m
        model = motion.model.with_limits(effort={"thigh_joint": none})
        found = strengths(replace(motion, model=model))
        assert found[6:].tolist() == [200, max(peak[7], 0.1 * peak.max())]


@needs_mujoco
def test_motions_that_the_ground_cannot_carry_are_refused(motion):
    phase = motion.phases[0]
    raised = replace(motion, phases=(replace(phase, planes={"foot": ocp.Plane((0, 0, 0.3))}),))
    with pytest.raises(ValueError, match="'foot' of phase 'rise' lies on another plane"):
        od.replay.check_ground(raised)
    soft = ocp.CompliantFoothold("foot", [od.HuntCrossleySphere("foot", radius=0.03)])
    with pytest.raises(ValueError, match="'foot' is compliant"):
        od.replay.check_ground(replace(motion, phases=(replace(phase, contacts=(soft,), places={}),)))


@needs_mujoco
@pytest.mark.slow
def test_the_command_writes_a_report(motion, tmp_path, capsys):
    file = motion.save(tmp_path / "rise.npz")
    arguments = [str(file), "--timestep", "5e-4", "--quiet", "--json", "--out", str(tmp_path / "out")]
    assert replay.main(arguments) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found["inverse_torque_error"] < 1e-8
    assert found["steps_upright"] == pytest.approx(1.0)
    names = {"report.md", "walk.npz", "simulated.npz", "replay.png", "planned.png", "simulated.png", "replay.gif"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == names


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["human", "--gain", "-1"], "gain must be a finite number, not negative"),
        (["human", "--friction", "inf"], "friction must be a finite number, not negative, got inf"),
        (["human", "--damping", "nan"], "damping must be a finite number"),
        (["human", "--speed", "0"], "speed must"),
        (["human", "--timestep", "0.01"], "timestep must be positive and at most 0.001 s"),
        (["human", "--steps", "0"], "steps must be at least 1"),
        (["solo12"], "robot 'solo12' has no two feet"),
        (["tallos"], "talos"),
        (["missing.npz"], "missing.npz"),
    ],
)
@needs_mujoco
def test_a_wrong_command_line_is_an_error_in_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as stop:
        replay.main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_without_mujoco_the_error_tells_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(SystemExit):
        replay.main(["human"])
    assert "pip install mujoco" in capsys.readouterr().err


@needs_mujoco
@pytest.mark.slow
def test_the_human_walks_three_steps_on_its_coarse_grid(motions):
    solution = motions["human walk"]
    found = od.replay.inverse(solution)
    assert found.torque < 1e-6
    assert found.root < 1e-6
    run = od.replay.forward(solution, od.replay.Settings(steps=3, timestep=2e-4))
    assert not run.fallen
    assert run.q[-1][0] - run.q[0][0] == pytest.approx(3 * solution.step_length, abs=0.03)
