"""Inverse kinematics: targets taken from a configuration are met, limits hold, misses are minima."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from tests.helpers import QUICK_TREES, TREES, add_random, close, flat, mostly_slow, random_rotation, tree

POINT = (0.1, -0.2, 0.3)


def targets_at(model: od.Model, q: np.ndarray, names: tuple[str, ...]) -> list:
    q = DM(q)
    found = [od.CenterOfMassTarget(od.center_of_mass(model, q))]
    for name in names:
        found.append(od.PointTarget(name, od.point_position(model, name, q, POINT), POINT))
        found.append(od.OrientationTarget(name, od.pose(model, name, q)[0].full(), weight=0.3))
    return found


@mostly_slow("key", TREES, QUICK_TREES)
@pytest.mark.slow
def test_targets_of_a_configuration_nearby_are_met(rng, key):
    model = tree(key)
    q = model.random_q(rng)
    targets = targets_at(model, q, (model.body_names[0], model.body_names[-1]))
    start = flat(model.integrate(DM(q), DM(0.05 * rng.normal(size=model.nv))))
    result = od.inverse_kinematics(model, targets, start)
    assert result.reached
    assert result.converged
    assert result.error <= 1e-9
    assert set(result.residuals) == {t.name for t in targets}
    for again in targets_at(model, result.q, (model.body_names[0], model.body_names[-1])):
        old = next(t for t in targets if t.name == again.name)
        wanted = "rotation" if isinstance(old, od.OrientationTarget) else "position"
        close(getattr(again, wanted), getattr(old, wanted), 1e-8)  # the tolerance of the solve is 1e-9


def arm(lower: float = -np.inf, upper: float = np.inf) -> od.Model:
    """Two links of 1 m and 0.5 m in the xy-plane."""
    builder = od.ModelBuilder()
    builder.add_body("upper", od.Revolute("z"), mass=1, com=(0.5, 0, 0))
    builder.add_body("lower", od.Revolute("z"), "upper", origin=(1, 0, 0), mass=1, com=(0.25, 0, 0),
                     lower=lower, upper=upper)  # fmt: skip
    return builder.build()


def test_the_two_link_arm_in_closed_form():
    model, at = arm(), np.array([0.6, 0.9, 0.0])
    result = od.inverse_kinematics(model, od.PointTarget("lower", at, (0.5, 0, 0)), [0.1, 0.4])
    elbow = np.arccos((at @ at - 1 - 0.25) / (2 * 0.5))
    shoulder = np.arctan2(at[1], at[0]) - np.arctan2(0.5 * np.sin(elbow), 1 + 0.5 * np.cos(elbow))
    close(result.q, [shoulder, elbow], 1e-8)


def test_a_target_out_of_reach_is_missed_least():
    """The stretched arm points at the target; what is missing is the distance."""
    model, far = arm(), np.array([3.0, 4.0, 0.0])
    result = od.inverse_kinematics(model, od.PointTarget("lower", far, (0.5, 0, 0)), [0.3, 0.5], iterations=2000)
    assert result.converged
    assert not result.reached
    close(np.linalg.norm(result.residuals["lower position"]), 3.5, 1e-9)
    close(result.q, [np.arctan2(4, 3), 0.0], 1e-6)  # the minimum is flat: an error of 1e-12 in it is one of 1e-6 in q


def test_limits_hold_and_the_rest_does_what_it_can():
    model = arm(lower=0.2, upper=0.9)
    target = od.PointTarget("lower", (0.6, 0.9, 0.0), (0.5, 0, 0))
    free = od.inverse_kinematics(model, target, [0.1, 0.4], limits=False)
    assert free.reached
    assert free.q[1] > 0.9
    held = od.inverse_kinematics(model, target, [0.1, 5.0])
    assert held.converged
    assert not held.reached
    close(held.q[1], 0.9)
    a = np.linspace(-np.pi, np.pi, 200001)
    hand = np.array([np.cos(a) + 0.5 * np.cos(a + 0.9), np.sin(a) + 0.5 * np.sin(a + 0.9)])
    best = np.min(np.linalg.norm(hand - target.position[:2, None], axis=0))
    assert np.linalg.norm(held.residuals["lower position"]) < best + 1e-7


def test_a_dof_leaves_its_limit_when_that_helps():
    """Held at the lower limit it would pass, the lower limit too; free again where the way leads inwards."""
    target = od.PointTarget("lower", (1.5, 0.0, 0.0), (0.5, 0, 0))  # the stretched arm
    result = od.inverse_kinematics(arm(lower=0.3, upper=2.0), target, [0.1, 1.0])
    assert result.converged
    assert not result.reached
    close(result.q[1], 0.3)
    inwards = od.PointTarget("lower", (0.6, 0.9, 0.0), (0.5, 0, 0))
    for start in (0.3, 2.0):
        assert od.inverse_kinematics(arm(lower=0.3, upper=2.0), inwards, [0.1, start]).reached


def test_limits_of_a_base_with_a_quaternion_bound_its_translation(rng):
    builder = od.ModelBuilder()
    add_random(builder, "a", od.FloatingBase(), "world", rng)
    model = builder.build()
    target = od.PointTarget("a", (2.0, 0.0, 0.0))
    result = od.inverse_kinematics(model, (target, od.OrientationTarget("a", random_rotation(rng))), model.neutral())
    assert result.reached
    close(np.linalg.norm(result.q[3:]), 1.0)


def test_half_a_turn_is_no_trouble(rng):
    """A ball joint from 179.99 degrees off."""
    builder = od.ModelBuilder()
    add_random(builder, "a", od.Spherical(), "world", rng)
    model = builder.build()
    q = model.random_q(rng)
    R = od.pose(model, "a", DM(q))[0].full()
    start = flat(model.integrate(DM(q), DM(np.radians(179.99) * np.array([0.6, 0.0, -0.8]))))
    result = od.inverse_kinematics(model, od.OrientationTarget("a", R), start)
    assert result.reached
    close(od.pose(model, "a", DM(result.q))[0], R, 1e-8)  # the tolerance of the solve is 1e-9


def test_two_targets_of_one_frame_keep_their_names_apart():
    model = arm()
    targets = (od.PointTarget("lower", (1, 1, 0)), od.PointTarget("lower", (1, 1, 0), (0.5, 0, 0)))
    result = od.inverse_kinematics(model, targets, [0.1, 0.2])
    assert list(result.residuals) == ["lower position", "lower position 2"]


def slider(**limits):
    builder = od.ModelBuilder()
    builder.add_body("slide", od.Prismatic("x"), mass=1.0, inertia=(1, 1, 1), **limits)
    return builder.build()


def test_weights_settle_targets_that_contradict_each_other():
    """At x, w_1^2 x^2 + w_2^2 (x - 1)^2 is least; residuals and error are those of the targets, without weights."""
    targets = (od.PointTarget("slide", (0, 0, 0), weight=3.0), od.PointTarget("slide", (1, 0, 0), weight=1.0))
    result = od.inverse_kinematics(slider(), targets, [0.7])
    close(result.q, [0.1], 1e-9)
    close(result.residuals["slide position"], [0.1, 0, 0], 1e-9)
    close(result.error, 0.9, 1e-9)
    assert result.converged
    assert not result.reached


def test_a_start_outside_the_limits_is_moved_to_the_nearest():
    target = od.PointTarget("slide", (2.0, 0, 0))
    result = od.inverse_kinematics(slider(lower=-1.0, upper=1.0), target, [2.0])
    close(result.q, [1.0])
    assert not result.reached
    assert od.inverse_kinematics(slider(lower=-1.0, upper=1.0), target, [2.0], limits=False).reached


def test_steps_are_limited():
    result = od.inverse_kinematics(arm(), od.PointTarget("lower", (0.6, 0.9, 0)), [0.1, 0.4], iterations=1)
    assert result.iterations == 1
    assert not result.converged


MODEL = arm()
REFUSED = [
    (ValueError, "there are no targets", lambda: od.inverse_kinematics(MODEL, (), [0, 0])),
    (TypeError, "targets must be targets such as PointTarget, got 'lower'",
     lambda: od.inverse_kinematics(MODEL, ("lower",), [0, 0])),
    (TypeError, "targets must be a sequence", lambda: od.inverse_kinematics(MODEL, 3, [0, 0])),
    (KeyError, "no frame 'hand'", lambda: od.inverse_kinematics(MODEL, od.PointTarget("hand", (1, 2, 3)), [0, 0])),
    (ValueError, "q0 must have 2 entries",
     lambda: od.inverse_kinematics(MODEL, od.PointTarget("lower", (1, 2, 3)), [0])),
    (ValueError, "PointTarget position must be 3", lambda: od.PointTarget("lower", (1, 2))),
    (ValueError, "a rotation matrix", lambda: od.OrientationTarget("lower", np.ones((3, 3)))),
    (ValueError, "weight of a target must be a positive", lambda: od.CenterOfMassTarget((0, 0, 0), weight=-1)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call()
