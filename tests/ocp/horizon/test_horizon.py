"""Horizons: stages against differences, gaits as data, a controller that follows its own plan, and bad input."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.unrolled import stretch_at, unroll
from ocp_dyn.ocp.horizon.stage import OUTPUTS

FEET = ("front_left", "front_right", "hind_left", "hind_right")
BENT = 0.6


def dog() -> od.Model:
    """A trunk of 10 kg on four legs of three joints, with points at their ends."""
    builder = od.ModelBuilder("dog")
    builder.add_body("trunk", od.FloatingBase(), mass=10, inertia=(0.1, 0.4, 0.4))
    for name in FEET:
        x, y = (0.2 if "front" in name else -0.2), (0.1 if "left" in name else -0.1)
        limits = {"effort": 40.0, "velocity": 30.0}
        builder.add_body(
            f"{name}_hip", od.Revolute("x"), parent="trunk", origin=(x, y, 0), mass=0.5, inertia=(1e-3,) * 3,
            lower=-0.8, upper=0.8, **limits,
        )  # fmt: skip
        builder.add_body(
            f"{name}_thigh", od.Revolute("y"), parent=f"{name}_hip", mass=0.8, com=(0, 0, -0.1),
            inertia=(4e-3, 4e-3, 1e-3), lower=-2.0, upper=2.0, **limits,
        )  # fmt: skip
        builder.add_body(
            f"{name}_shank", od.Revolute("y"), parent=f"{name}_thigh", origin=(0, 0, -0.2), mass=0.2,
            com=(0, 0, -0.1), inertia=(1e-3, 1e-3, 1e-4), lower=-2.5, upper=-0.2, **limits,
        )  # fmt: skip
    model = builder.build()
    for name in FEET:
        model = model.with_frame(name, f"{name}_shank", origin=(0, 0, -0.2))
    return model


def posture() -> np.ndarray:
    q = np.array(dog_model().neutral())
    q[2] = 0.4 * np.cos(BENT)
    q[7:] = np.tile([0.0, BENT, -2 * BENT], 4)
    return q


@cache
def dog_model() -> od.Model:
    return dog()


@cache
def horizon() -> ocp.Horizon:
    return ocp.Horizon(dog_model(), FEET, posture=posture(), gait="trot", duration=0.4, intervals=16)


@pytest.fixture(scope="module")
def controller() -> ocp.HorizonController:
    return horizon().controller()


def stage_values(function, model, nv, at, z, p):
    q, qd, qdd, force = at
    moved = np.array(model.integrate(q, z[:nv])).ravel()
    found = function(moved, qd + z[nv : 2 * nv], qdd + z[2 * nv : 3 * nv], force + z[3 * nv :], p)
    return {name: np.array(DM(x).full()) for name, x in zip(OUTPUTS, found, strict=True)}


def check_stage(horizon: ocp.Horizon) -> None:
    """Derivatives of all rows by differences, in general position."""
    body, model, rng = horizon.body, horizon.model, np.random.default_rng(3)
    nv = body.nv
    at = model.random_q(rng), *(rng.normal(size=nv) for _ in range(2)), 30 * rng.normal(size=body.nf)
    p, where = rng.normal(size=body.node.size), body.node.slices
    p[where["last"]] = 0.0
    normals = rng.normal(size=(body.n, 3))
    normals[:, 2] += 3
    p[where["normal"]] = (normals / np.linalg.norm(normals, axis=1)[:, None]).ravel()
    f = horizon.functions()["stage"]
    for contacts in (np.arange(body.n) % 2,) if body.n > 1 else (np.ones(1),):
        p[where["contact"]] = contacts
        here = stage_values(f, model, nv, at, np.zeros(3 * nv + body.nf), p)
        steps = 1e-6 * np.eye(3 * nv + body.nf)
        sides = [[stage_values(f, model, nv, at, sign * z, p) for sign in (1, -1)] for z in steps]
        for matrix, value in (("C", "c"), ("E", "e")):
            differences = np.hstack([(up[value] - down[value]) / 2e-6 for up, down in sides])
            assert here[matrix].T == pytest.approx(differences, abs=2e-6 * np.abs(differences).max())


@pytest.mark.slow
def test_rows_of_a_stage_are_linear_about_the_plan():
    check_stage(horizon())


@pytest.mark.slow
def test_rows_of_flat_feet_are_linear_about_the_plan():
    builder = od.ModelBuilder("man")
    builder.add_body("trunk", od.FloatingBase(), mass=20, inertia=(1, 1, 1))
    builder.add_body("leg", od.Revolute("y"), parent="trunk", origin=(0, 0.1, 0), mass=3, inertia=(0.1, 0.1, 0.1))
    builder.add_body("sole", od.Revolute("x"), parent="leg", origin=(0, 0, -0.8), mass=1, inertia=(1e-2,) * 3)
    model = builder.build()
    stand = np.array(model.neutral())
    stand[2] = 0.8
    foot = ocp.Foothold(od.Contact("sole"), half_length=0.1, half_width=0.05)
    check_stage(ocp.Horizon(model, [foot], posture=stand, gait=ocp.GaitPattern(1.0, 1.0, [0.0]), intervals=3))


def test_torques_of_a_stage_are_those_of_inverse_dynamics():
    body, rng = horizon().body, np.random.default_rng(5)
    model, nv = body.model, body.nv
    at = model.random_q(rng), *(rng.normal(size=nv) for _ in range(2)), rng.normal(size=12)
    p = body.node.pack(dict.fromkeys(body.node.shapes, 0.0) | {"normal": (0.0, 0.0, 1.0)})
    found = stage_values(horizon().functions()["stage"], model, nv, at, np.zeros(3 * nv + 12), p)
    tau = np.array(od.inverse_dynamics(model, *at[:3]).full()).ravel()
    for i, name in enumerate(FEET):
        tau -= np.array(od.point_jacobian(model, name, at[0]).full()).T @ at[3][3 * i : 3 * i + 3]
    assert found["c"].ravel()[: body.nj] == pytest.approx(tau[6:], abs=1e-10)
    assert found["e"].ravel()[:6] == pytest.approx(tau[:6], abs=1e-10)


def follow(control: ocp.HorizonController, command: ocp.Command, begin: float, seconds: float, state=None):
    """States of a robot that moves exactly as planned; actions; factorizations of the programs."""
    q, qd = state or (posture(), np.zeros(18))
    states, actions, taken = [], [], []
    for k in range(round(seconds / 0.02)):
        t = begin + 0.02 * k
        actions.append(control.update(t, q, qd, command))
        taken.append(control.last.iterations)
        q, qd = actions[-1].plan.at(t + 0.02)[:2]
        states.append((q, qd))
    return states, actions, taken


@pytest.mark.slow
def test_programs_that_are_not_solved_warn_once(controller, monkeypatch):
    monkeypatch.setattr("ocp_dyn.ocp.horizon.controller.ITERATIONS", 1)
    monkeypatch.setattr(controller, "failures", 0)
    controller.reset(0.0, posture(), np.zeros(18))
    with pytest.warns(ocp.NotConvergedWarning, match="the program at 0 s ends by 'iterations'") as told:
        actions = [controller.update(t, posture(), np.zeros(18)) for t in (0.0, 0.02)]
    assert len(told) == 1
    assert repr(actions[0]).startswith("Action(iterations, torques up to")
    assert repr(actions[0].plan).startswith("Plan(")
    assert controller.failures == 2


@pytest.mark.slow
def test_a_trot_follows_its_command_and_stops(controller):
    controller.reset(0.0, posture(), np.zeros(18))
    states, actions, taken = follow(controller, ocp.Command(forward=0.4), 0.0, 1.4)
    assert all(action.solved for action in actions[1:])
    assert max(taken) < 18  # sides that block a step do not block the next
    assert np.median(taken) < 4  # programs that change little begin near their solution
    speed = (states[-1][0][0] - states[-26][0][0]) / 0.5
    assert speed == pytest.approx(0.4, rel=0.1)
    assert {tuple(a.plan.contacts[0]) for a in actions} >= {(True, False, False, True), (False, True, True, False)}
    friction, push = 0.6 / np.sqrt(2), []
    for action in actions:
        forces = action.plan.forces.reshape(-1, 4, 3)
        push.append(forces[..., 2].min())
        assert np.all(np.abs(forces[..., :2]) <= friction * forces[..., 2:] + 1e-2)
        assert np.all(forces[~action.plan.contacts] == pytest.approx(0.0, abs=1e-6))
        assert np.all(np.abs(action.plan.tau) <= 40.0 + 1e-3)
    assert min(push) > -1e-3
    states, actions, _ = follow(controller, ocp.Command(walk=False), 1.4, 1.2, states[-1])
    assert np.all(actions[-1].plan.contacts)
    assert np.abs(states[-1][1][:2]).max() < 0.03


@pytest.mark.slow
def test_gains_tell_how_torques_change_with_the_state(controller):
    """By differences, for velocities that leave the feet at rest; others count as after an impact of the feet."""
    controller.reset(0.0, posture(), np.zeros(18))
    first = controller.update(0.0, posture(), np.zeros(18), ocp.Command(walk=False))
    measured = 1e-3 * np.random.default_rng(1).normal(size=18)
    feet = [od.Contact(name, axes="xyz") for name in FEET]
    moved = np.array(DM(od.impact(dog_model(), feet, posture(), measured)[0])).ravel()
    controller.prepare(0.0, ocp.Command(walk=False), measured=(posture(), np.zeros(18)))
    base = controller.feedback(posture(), np.zeros(18))
    controller.prepare(0.0, ocp.Command(walk=False), measured=(posture(), np.zeros(18)))
    other = controller.feedback(posture(), moved)
    expected = base.K[:, 18:] @ moved
    assert first.K.shape == (12, 36)
    assert (other.tau - base.tau)[6:] == pytest.approx(expected, rel=0.05, abs=0.02 * np.abs(expected).max())
    assert base.K[:, 18:] @ measured == pytest.approx(expected, rel=1e-6, abs=1e-9)
    controller.prepare(0.02, ocp.Command(walk=False))  # torques are those of the last action until the next
    later = other.plan.at(0.004)
    assert controller.torques(0.004, later.q, later.qd) == pytest.approx(other.tau, abs=1e-6)
    between = controller.torques(0.004, later.q, later.qd + measured) - other.tau
    assert between[6:] == pytest.approx(other.K[:, 18:] @ measured, abs=1e-6)


def test_a_schedule_replaces_that_of_the_gait(controller):
    controller.reset(0.0, posture(), np.zeros(18))
    controller.update(0.0, posture(), np.zeros(18), ocp.Command(walk=False))
    planned = controller.schedule
    swings = planned["liftoff"].copy(), planned["touchdown"].copy()
    swings[0][2, 0], swings[1][2, 0] = 0.1, 0.25
    controller.prepare(0.0, ocp.Command(walk=False), {"liftoff": swings[0], "touchdown": swings[1]})
    action = controller.feedback(posture(), np.zeros(18))
    times = action.plan.times
    middle = (times[:-1] + times[1:]) / 2
    assert action.plan.contacts[:, 2].tolist() == [not 0.1 <= t < 0.25 for t in middle]
    assert np.all(action.plan.contacts[:, [0, 1, 3]])


@pytest.mark.parametrize(("touching", "stands"), [(0, False), (1, True)])
def test_feet_that_are_late_or_early(controller, touching, stands):
    """0.21 s after its liftoff a foot of this trot should stand; 0.2 s after it, it should swing."""
    controller.reset(0.0, posture(), np.zeros(18))
    begin = ocp.GaitPattern.named("trot", 4).lead
    control, state = controller, (posture(), np.zeros(18))
    times = [*np.arange(0.0, begin + 0.2, 0.05), begin + (0.23 if not stands else 0.2)]
    for t in times:
        touch = np.array([1, 1, 1, 1]) if t < times[-1] else np.full(4, touching)
        action = control.update(t, *state, ocp.Command(), touching=touch if t == times[-1] else None)
    assert bool(action.plan.contacts[0, 0]) is stands


def test_named_gaits():
    trot = ocp.GaitPattern.named("trot", 4, period=0.4)
    assert trot.period == 0.4
    for t in np.linspace(0, 0.4, 9):
        assert trot.contacts(t)[0] == trot.contacts(t)[3] == trot.contacts(t + 0.2)[1]
    run = ocp.GaitPattern.named("run", 2)
    assert any(not run.contacts(t).any() for t in np.linspace(0, run.period, 41))
    with pytest.raises(ValueError, match="gait of 4 feet, got 2"):
        ocp.GaitPattern.named("trot", 2)
    with pytest.raises(ValueError, match="did you mean"):
        ocp.GaitPattern.named("trott", 4)
    with pytest.raises(ValueError, match="duty must lie in"):
        ocp.GaitPattern(1.0, 1.2, [0, 0.5])


def test_bad_input_of_a_controller(controller):
    q, qd = posture(), np.zeros(18)
    controller.reset(1.0, q, qd)
    wrong = q.copy()
    wrong[6] = 2.0
    with pytest.raises(ValueError, match="unit quaternion"):
        controller.update(1.0, wrong, qd)
    with pytest.raises(ValueError, match="must not hold NaN"):
        controller.update(1.0, np.full(19, np.nan), qd)
    with pytest.raises(ValueError, match="time goes backward"):
        controller.update(0.5, q, qd)
    with pytest.raises(ValueError, match="legs are"):
        controller.update(1.0, q, qd, ocp.Command(forward=5.0))
    with pytest.raises(ValueError, match="legs are"):
        controller.update(1.0, q, qd, ocp.Command(turning=50.0))
    with pytest.raises(ValueError, match="legs reach"):
        controller.update(1.0, q, qd, ocp.Command(height=0.9))
    with pytest.raises(ValueError, match="at most 1 rad"):
        controller.update(1.0, q, qd, ocp.Command(roll=-1.1))
    with pytest.raises(ValueError, match="must lie between"):
        controller.update(1e9, q, qd)
    with pytest.raises(ValueError, match=r"touching, .*must be 4 finite"):
        controller.update(1.0, q, qd, touching=[1, 1])
    for part, value, told in (
        ("touchdown", np.full((4, 3), 0.2), "must end after its liftoff"),
        ("liftoff", np.tile([0.5, 0.6, 1e9], (4, 1)), "before the next liftoff"),
        ("normal", np.tile([0.0, 0.0, 2.0], (4, 1)), "vectors of length 1"),
        ("normal", np.tile([1.0, 0.0, 0.0], (4, 1)), "that point up"),
        ("y", np.full((4, 3), 3.0), "a foothold is farther"),
    ):
        with pytest.raises(ValueError, match=told):
            controller.update(1.0, q, qd, ocp.Command(), {part: value})
    never = {"liftoff": np.tile([0.5, 1e9, 1e9], (4, 1)), "touchdown": np.tile([9.0, 1e9, 1e9], (4, 1))}
    with pytest.raises(ValueError, match="no foot touches the ground"):
        controller.update(1.0, q, qd, ocp.Command(), never)
    with pytest.raises(ValueError, match="has no part 'liftof'"):
        controller.update(1.0, q, qd, ocp.Command(), {"liftof": 1})
    with pytest.raises(ValueError, match="call prepare"):
        controller.feedback(q, qd)
    assert controller.update(1.0, q, qd, ocp.Command()).solved  # nothing of the above left a trace


def test_bad_input_of_a_horizon():
    model = dog_model()
    with pytest.raises(od.ModelError, match="no frame 'front_lef'"):
        ocp.Horizon(model, ["front_lef"], posture=posture())
    with pytest.raises(TypeError, match="needs posture="):
        ocp.Horizon(model, FEET)
    turned = posture()
    turned[3:7] = [0.0, 0.0, 0.0, 2.0]
    with pytest.raises(ValueError, match="unit quaternion"):
        ocp.Horizon(model, FEET, posture=turned)
    lifted = posture()
    lifted[8] = lifted[9] / 4
    with pytest.raises(ValueError, match=r"level ground, got heights front_left"):
        ocp.Horizon(model, FEET, posture=lifted)
    with pytest.raises(TypeError, match=r"must be an ocp\.Tuning"):
        ocp.Horizon(model, FEET, posture=posture(), tuning={})
    bent = posture()
    bent[9] = 0.5
    with pytest.raises(ValueError, match="outside the limits"):
        ocp.Horizon(model, FEET, posture=bent)
    with pytest.raises(ValueError, match="must increase from 0"):
        ocp.Horizon(model, FEET, posture=posture(), times=[0, 0.1, 0.1])
    planar = od.ModelBuilder("planar")
    planar.add_body("trunk", od.Planar(), mass=1, inertia=(1, 1, 1))
    with pytest.raises(od.ModelError, match="FloatingBase"):
        ocp.Horizon(planar.build(), FEET, posture=posture())
    with pytest.raises(ValueError, match="one finite number per foot"):
        ocp.GaitPattern(1.0, 0.5, [])
    with pytest.raises(ValueError, match="Tuning mu"):
        ocp.Tuning(mu=0.0)


@pytest.mark.slow
def test_the_gait_of_a_solved_walk(motions):
    walk = motions["human walk"]
    gait = ocp.GaitPattern.from_motion(walk, ["heel_l", "heel_r"])
    assert gait.period == pytest.approx(2 * walk.duration)
    assert gait.duty[0] == pytest.approx(gait.duty[1])
    assert abs(gait.offsets[0] - gait.offsets[1]) == pytest.approx(0.5)
    for t in (0.1, 0.3, 0.7):
        stands = [any(s.name == name for s in stretch_of(walk, t).supports) for name in ("heel_l", "heel_r")]
        assert gait.contacts(t).tolist() == stands
        turn = 2 * np.pi * t / gait.period * np.arange(1, 5)
        basis = np.concatenate([[1.0], np.column_stack([np.cos(turn), np.sin(turn)]).ravel()])
        assert gait.joints @ basis == pytest.approx(walk.sample([t])[0][7:], abs=0.06)
    with pytest.raises(ValueError, match="must stand once in a stride"):
        ocp.GaitPattern.from_motion(walk, ["heel_l", "toe_r"])


def stretch_of(walk, t):
    return stretch_at(unroll(walk, 2), t)


def test_a_gait_brings_its_joint_angles():
    """References of nodes follow the angles of the gait, at their rates, while the robot walks."""
    body, f = horizon().body, horizon().functions()["node"]
    joints = np.zeros((12, 9))
    joints[:, 0], joints[4, 3], joints[4, 4] = body.posture[7:], 0.1, 0.2
    gait = ocp.GaitPattern(0.5, 0.6, [0.0, 0.5, 0.5, 0.0], joints=joints)
    zero = dict.fromkeys(body.memory.shapes, 0.0)
    memory = body.memory.pack(zero | {"time": 1.0, "phase": 0.3, "begin": 0.5, "end": 1e9, "halt": 1e9})
    schedule = body.schedule.pack(dict.fromkeys(body.schedule.shapes, 1e9) | {"normal": (0.0, 0.0, 1.0)})
    command = ocp.Command().vector(body.height)
    settings = ocp.Tuning().vector(body)

    def reference(t):
        p = f(t, 0.02, 0.0, 1.0, command, gait.vector(body), memory, schedule, settings)
        return body.node.unpack(np.array(p.full()).ravel())

    at, later = reference(1.1), reference(1.1 + 1e-6)
    angle = 2 * 2 * np.pi * (0.3 + 0.1 / 0.5)
    assert at["q_ref"][7 + 4] == pytest.approx(body.posture[11] + 0.1 * np.cos(angle) + 0.2 * np.sin(angle))
    assert at["qd_ref"][6:] == pytest.approx((later["q_ref"] - at["q_ref"])[7:] * 1e6, abs=1e-4)
    assert np.abs(at["qd_ref"][10]) > 1.0
