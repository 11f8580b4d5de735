"""Inverse kinematics of recordings: costs and their derivatives, motions that are found again, limits, smoothness."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.recordings import FittedMotion, Recording, fit_motion
from ocp_dyn.recordings.fitting.placed import Measured, Placed, rotation_vectors
from ocp_dyn.recordings.motion import velocities
from ocp_dyn.recordings.signals import butterworth

RATE = 50.0


@cache
def body(euler: bool = True) -> od.Model:
    """A floating trunk with an arm of three joints, the last of which mimics the one before, and a leg."""
    builder = od.ModelBuilder("body")
    root = od.FloatingBase(rotation="euler_zyx") if euler else od.FloatingBase()
    builder.add_body("trunk", root, mass=5, com=(0.01, 0.02, 0.1), inertia=(0.3, 0.2, 0.1))
    builder.add_body("arm", od.Universal("y", "x"), "trunk", origin=(0, 0.2, 0.4), mass=1, inertia=(0.01, 0.02, 0.03),
                     com=(0, 0, -0.1))  # fmt: skip
    builder.add_body("hand", od.Revolute("x"), "arm", joint_name="elbow", origin=(0, 0, -0.3), mass=0.5,
                     inertia=(0.01, 0.02, 0.03), lower=-0.1, upper=1.4)  # fmt: skip
    builder.add_body("tip", od.Revolute("z"), "hand", joint_name="wrist", origin=(0, 0, -0.2), mass=0.1,
                     inertia=(0.01, 0.01, 0.01))  # fmt: skip
    builder.add_body("leg", od.Revolute("y"), "trunk", origin=(0, -0.1, 0), mass=3, inertia=(0.1, 0.1, 0.1))
    builder.add_mimic("wrist", "elbow", ratio=0.5, offset=0.1)
    return builder.build()


def motion_of(model: od.Model, seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Times, and configurations of a motion in general position, within limits and with the mimicking joint."""
    rng = np.random.default_rng(seed)
    t = np.arange(n) / RATE
    v = rng.uniform(-0.4, 0.4, (model.nv, 3))
    q = np.empty((n, model.nq))
    begin = np.array(model.neutral(), dtype=float).ravel()
    for k in range(n):
        step = v[:, 0] + v[:, 1] * np.sin(2 * t[k]) + v[:, 2] * np.cos(5 * t[k])
        step[:3] += (1.2 * t[k] + 3, -2, 0.9)
        step[5 if model.nq > model.nv else 3] += 2.8  # it looks backward
        elbow = model.qd_names.index("elbow")
        step[elbow] = 0.6 + 0.5 * np.sin(3 * t[k])
        step[elbow + 1] = 0.5 * step[elbow] + 0.1
        q[k] = np.array(model.integrate(begin, step).full()).ravel()
    return t, q


def places_of(model: od.Model, seed: int, each: int = 4) -> dict[str, tuple[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return {f"{name}{k}": (name, rng.normal(size=3) * 0.1) for name in model.body_names for k in range(each)}


@cache
def poses_of(model: od.Model) -> ca.Function:
    q = ca.SX.sym("q", model.nq)
    return ca.Function("poses", [q], [ca.horzcat(*(part for f in model.body_names for part in od.pose(model, f, q)))])


def markers_of(model: od.Model, t: np.ndarray, q: np.ndarray, places: dict[str, Any]) -> Recording:
    points = np.zeros((len(q), len(places), 3))
    for k, x in enumerate(q):
        poses = poses_of(model)(x).full().reshape(3, -1, 4)
        for i, (f, r) in enumerate(places.values()):
            at = poses[:, model.body_names.index(f)]
            points[k, i] = at[:, :3] @ r + at[:, 3]
    return Recording(list(places), t, points, "m")


def apart(model: od.Model, q: np.ndarray, other: np.ndarray) -> float:
    """Largest step between configurations."""
    return max(float(np.abs(model.difference(a, b).full()).max()) for a, b in zip(q, other, strict=True))


@pytest.mark.slow
def test_gradient_and_matrix_are_those_of_the_jacobians() -> None:
    model, rng = body(), np.random.default_rng(0)
    _, q = motion_of(model, 1, 3)
    places = list(places_of(model, 2, 2).values())
    index = np.array([model.body_names.index(f) + 1 for f, _ in places])
    points = np.array([r for _, r in places])
    R = np.array([[od.rpy_matrix(rng.normal(size=3)) for _ in range(2)] for _ in q])
    sensors = np.array([od.rpy_matrix(rng.normal(size=3)) for _ in range(2)])
    weights = rng.uniform(0.5, 2, (3, len(points))) * (rng.uniform(size=(3, len(points))) > 0.2)
    turned, turn_weights = np.array([2, 5]), np.array([[0.7, 0.0], [1.1, 0.4], [2.0, 1.0]])
    measured = Measured(index, points, rng.normal(size=(3, len(points), 3)), weights, turned, sensors, R, turn_weights)
    placed = Placed(model)
    found = placed.normal(q, measured)
    for k in range(3):
        rows = [
            np.sqrt(w) * od.point_jacobian(model, f, q[k], r).full()
            for w, (f, r) in zip(weights[k], places, strict=True)
        ]
        rows += [np.sqrt(w) * od.point_jacobian_6d(model, model.body_names[b - 1], q[k]).full()[:3]
                 for w, b in zip(turn_weights[k], turned, strict=True)]  # fmt: skip
        J = np.vstack(rows)
        np.testing.assert_allclose(found.matrix[k], J.T @ J, atol=1e-12)
    for d in range(model.nv):
        v = np.zeros((3, model.nv))
        v[:, d] = 1e-6
        ahead, behind = (placed.normal(placed.moved(q, s * v), measured).cost for s in (1, -1))
        np.testing.assert_allclose(found.gradient[:, d], (ahead - behind) / 2e-6, atol=1e-7)


def test_rotation_vectors_at_all_angles() -> None:
    rng = np.random.default_rng(5)
    for angle in (0.0, 1e-9, 0.3, 2.0, np.pi - 1e-5, np.pi):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        found = rotation_vectors(np.array(od.exp3(angle * axis).full())[None])[0]
        np.testing.assert_allclose(np.array(od.exp3(found).full()), np.array(od.exp3(angle * axis).full()), atol=1e-8)
        assert np.linalg.norm(found) == pytest.approx(angle, abs=1e-7)


@pytest.mark.parametrize("euler", [True, False])
@pytest.mark.slow
def test_motions_are_found_again_with_gaps(euler: bool) -> None:
    model = body(euler)
    t, q = motion_of(model, 3)
    places = places_of(model, 4)
    values = np.array(markers_of(model, t, q, places).values)
    values[np.random.default_rng(6).uniform(size=values.shape[:2]) < 0.1] = np.nan
    motion = fit_motion(model, Recording(list(places), t, values, "m"), places=places)
    assert motion.converged.all()
    assert apart(model, q, motion.q) < 1e-7
    assert np.nanmax(motion.distances) < 1e-8
    assert np.array_equal(np.isnan(motion.distances), np.isnan(values[..., 0]))


@pytest.mark.slow
def test_compiled_is_the_same() -> None:
    model = body()
    t, q = motion_of(model, 3, 9)
    places = places_of(model, 4)
    recording = markers_of(model, t, q, places)
    one, other = (fit_motion(model, recording, places=places, compiled=c) for c in (False, True))
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)


@pytest.mark.slow
def test_sensors_of_orientation_give_the_joints() -> None:
    model = body(False)
    t, q = motion_of(model, 7, 12)
    frames = ["trunk", "arm", "hand", "leg"]
    turns = [[od.matrix_quaternion(np.array(od.pose(model, f, x)[0].full())) for f in frames] for x in q]
    values = np.array(turns)
    values[3, 1] = np.nan
    values[5:] *= -1
    motion = fit_motion(model, orientations=Recording(frames, t, values), places={})
    for f in range(3, model.nq):
        there = np.arange(12) != 3
        np.testing.assert_allclose(np.abs(motion.q[there, f]), np.abs(q[there, f]), atol=1e-6)
    assert np.isnan(motion.angles[3, 1])
    assert np.nanmax(motion.angles) < 1e-6
    assert np.isnan(motion.rms).all()
    assert "4 sensors" in repr(motion)


@pytest.mark.slow
def test_noise_leaves_the_least_squares() -> None:
    """At the result the gradient vanishes along the constraints, with the weights of the user."""
    model, rng = body(), np.random.default_rng(8)
    t, q = motion_of(model, 9, 3)
    places = places_of(model, 10)
    exact = markers_of(model, t, q, places)
    noisy = Recording(exact.names, t, exact.values + rng.normal(size=exact.values.shape) * 0.01, "m")
    weights = {name: rng.uniform(0.5, 3) for name in list(places)[:-1]}
    beside = {"of the model alone": 1.0, "elbow": 2.0}  # as files of weights have them
    more = places | {"of the model alone": ("trunk", (0, 0, 0))}
    motion = fit_motion(model, noisy, places=more, weights=weights | beside)
    assert motion.markers == tuple(weights)
    coupling = od.mimic_constraints(model)
    G = np.array(od.constraint_jacobian(model, coupling, q[0]).full())
    for k in range(3):
        assert abs(float(od.constraint_position(model, coupling, motion.q[k]))) < 1e-9
        g = np.zeros(model.nv)
        for name, w in weights.items():
            f, r = places[name]
            error = od.point_position(model, f, motion.q[k], r).full().ravel() - noisy[name][k]
            g += w * od.point_jacobian(model, f, motion.q[k], r).full().T @ error
        rest = g - G.T @ np.linalg.lstsq(G.T, g, rcond=None)[0]
        assert np.abs(rest).max() < 1e-5


def test_limits_hold_and_can_be_left_out() -> None:
    model = body()
    t, q = motion_of(model, 11, 6)
    k = model.q_names.index("elbow")
    q[:, k] = 1.7
    q[:, k + 1] = 0.5 * 1.7 + 0.1
    places = places_of(model, 12)
    recording = markers_of(model, t, q, places)
    held = fit_motion(model, recording, places=places)
    assert held.q[:, k].max() == pytest.approx(1.4)
    assert held.converged.all()
    free = fit_motion(model, recording, places=places, limits=False)
    assert apart(model, q, free.q) < 1e-7


def test_fixed_dofs_and_constraints() -> None:
    model = body()
    t, q = motion_of(model, 13, 6)
    places = places_of(model, 14)
    recording = markers_of(model, t, q, places)
    k = model.qd_names.index("leg_joint")
    start = np.array(model.neutral(), dtype=float).ravel()
    start[k] = 0.33
    assert np.allclose(fit_motion(model, recording, places=places, fixed=["leg_joint"], start=start).q[:, k], 0.33)
    foot = od.LockedJoint("leg_joint", value=-0.2)
    np.testing.assert_allclose(fit_motion(model, recording, places=places, constraints=foot).q[:, k], -0.2, atol=1e-8)


def test_coordinates_are_weighed_against_markers() -> None:
    """A slider: the minimum of w (x - y)^2 + c (x - a)^2."""
    builder = od.ModelBuilder("slider")
    builder.add_body("block", od.Prismatic("x"), mass=1)
    model = builder.build()
    t = np.arange(5) / 10
    y = Recording("spot", t, np.stack([np.stack([t**2, 0 * t, 0 * t], axis=1)], axis=1), "m")
    told = Recording("block_joint", t, 1 + 0 * t, "m")
    motion = fit_motion(model, y, places={"spot": ("block", (0, 0, 0))}, coordinates=told,
                        weights={"spot": 3.0, "block_joint": 2.0})  # fmt: skip
    np.testing.assert_allclose(motion.q[:, 0], (3 * t**2 + 2) / 5, atol=1e-9)


def test_coordinates_alone_come_back_in_degrees() -> None:
    model = body()
    t, q = motion_of(model, 15, 5)
    made = FittedMotion(model, t, q, (), (), np.zeros((5, 0)), np.zeros((5, 0)), np.ones(5, bool), 0)
    table = made.coordinates(degrees=True)
    assert table.units[:6] == ("m", "m", "m", "deg", "deg", "deg")
    np.testing.assert_allclose(table["elbow"], np.degrees(q[:, model.q_names.index("elbow")]))
    motion = fit_motion(model, coordinates=Recording(table.names, t, table.values, "deg"))
    np.testing.assert_allclose(motion.q, q, atol=1e-9)
    assert motion.converged.all()


def test_smooth_motions_are_those_of_the_butterworth_filter() -> None:
    """One dof: the penalty has the gain of a zero-phase filter of order 3."""
    builder = od.ModelBuilder("slider")
    builder.add_body("block", od.Prismatic("x"), mass=1)
    model = builder.build()
    t = np.arange(400) / 100
    x = np.sin(2 * np.pi * t) + 0.3 * np.sin(2 * np.pi * 7 * t) + 0.1 * np.random.default_rng(1).normal(size=t.size)
    y = Recording("spot", t, np.stack([np.stack([x, 0 * x, 0 * x], axis=1)], axis=1), "m")
    motion = fit_motion(model, y, places={"spot": ("block", (0, 0, 0))}, smooth=6.0)
    filtered = butterworth(x[:, None], 100.0, 6.0, 3)[:, 0]
    inside = slice(60, 340)
    assert np.abs(motion.q[inside, 0] - filtered[inside]).max() < 0.01
    assert motion.qd is not None
    assert motion.qdd is not None
    np.testing.assert_allclose(motion.qd[inside, 0], np.gradient(motion.q[:, 0], t)[inside], atol=0.2)
    np.testing.assert_allclose(motion.qdd[inside, 0], np.gradient(motion.qd[:, 0], t)[inside], atol=10)


def test_smooth_motions_bridge_gaps_and_keep_constraints() -> None:
    model, rng = body(), np.random.default_rng(16)
    t, q = motion_of(model, 17, 60)
    places = places_of(model, 18)
    values = markers_of(model, t, q, places).values + rng.normal(size=(60, len(places), 3)) * 0.002
    values[25:31] = np.nan
    recording = Recording(list(places), t, values, "m")
    plain = fit_motion(model, recording, places=places)
    assert np.isnan(plain.q).any(axis=1).nonzero()[0].tolist() == list(range(25, 31))
    assert "6 frames without measurements" in repr(plain)
    smooth = fit_motion(model, recording, places=places, smooth=5.0)
    assert apart(model, q, smooth.q) < 0.05
    elbow = model.q_names.index("elbow")
    np.testing.assert_allclose(smooth.q[:, elbow + 1], 0.5 * smooth.q[:, elbow] + 0.1, atol=1e-4)
    rough = apart(model, q[5:20], plain.q[5:20])
    assert apart(model, q[5:20], smooth.q[5:20]) < rough


def test_rates_of_quaternions() -> None:
    model = body(False)
    t, q = motion_of(model, 19, 60)
    q[20:] *= np.where(np.arange(model.nq) // 4 == 0, 1, 1)
    q[30:, 3:7] *= -1
    made = FittedMotion(model, t, q, (), (), np.zeros((60, 0)), np.zeros((60, 0)), np.ones(60, bool), 0).derived()
    assert made.qd is not None
    assert made.qdd is not None
    for k in (15, 30, 45):
        step = model.difference(made.q[k - 1], made.q[k + 1]).full().ravel() * RATE / 2
        np.testing.assert_allclose(made.qd[k], step, atol=2e-2)
        np.testing.assert_allclose(made.qdd[k], (made.qd[k + 1] - made.qd[k - 1]) * RATE / 2, atol=0.2)
    qd, _ = velocities(model, made.q, np.zeros_like(q), np.zeros_like(q))
    assert not qd.any()


def lost(recording: Recording) -> Recording:
    return Recording(recording.names, recording.times, np.nan * recording.values)


REFUSED = [
    (lambda m, r: fit_motion(None, r), TypeError, "needs a Model"),
    (lambda m, r: fit_motion(m), TypeError, "needs markers=, orientations= or coordinates="),
    (lambda m, r: fit_motion(m, r), od.ModelError, "none of the recorded markers trunk0.*give places="),
    (lambda m, r: fit_motion(m, r, places={"TRUNK0": ("trunk", (0, 0, 0))}), od.ModelError, "did you mean 'TRUNK0'"),
    (lambda m, r: fit_motion(m, r, places={"trunk0": ("trunc", (0, 0, 0))}), KeyError, "trunc.*did you mean 'trunk'"),
    (lambda m, r: fit_motion(m, r, places={"trunk0": (0, 0, 0)}), TypeError, r"must be \(frame, point\)"),
    (lambda m, r: fit_motion(m, r, places={"trunk0": ("trunk", (0, 0))}), ValueError, "must be 3 numbers"),
    (lambda m, r: fit_motion(m, r, weights={"Trunk0": 1}, places=P), KeyError, "'Trunk0': did you mean 'trunk0'"),
    (lambda m, r: fit_motion(m, r, weights={"trunk0": -1}, places=P), ValueError, "must not be negative"),
    (lambda m, r: fit_motion(m, r, fixed=["elbo"], places=P), KeyError, "did you mean 'elbow'"),
    (lambda m, r: fit_motion(m, r.derivative(), places=P, orientations=r), TypeError, "Recording of orientations"),
    (lambda m, r: fit_motion(m, r, places=P, coordinates=Recording("elbow", [0], [1.0])), ValueError, "the times of"),
    (lambda m, r: fit_motion(m, r, places=P, coordinates=Recording("elbo", r.times, 0 * r.times)), KeyError, "'elbow'"),
    (lambda m, r: fit_motion(m, r, places=P, start=[0.0]), ValueError, "start"),
    (lambda m, r: fit_motion(m, r, places=P, tolerance=0), ValueError, "tolerance must be positive"),
    (lambda m, r: fit_motion(m, r, places=P, smooth=5.0), ValueError, "smooth needs 6 frames"),
    (lambda m, r: fit_motion(body(False), r, places=P, smooth=5.0), od.ModelError, "has quaternions.*euler_zyx"),
    (lambda m, r: fit_motion(m, lost(r), places=P), ValueError, "all samples are missing"),
]  # fmt: skip
P = places_of(body(), 4)


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_wrong_arguments_are_refused(case: int) -> None:
    call, error, text = REFUSED[case]
    model = body()
    t, q = motion_of(model, 3, 2)
    with pytest.raises(error, match=text):
        call(model, markers_of(model, t, q, P))
