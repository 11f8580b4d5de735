"""Inverse dynamics of recorded motions: forces of the ground, powers, residuals, curves over the gait cycle."""

from __future__ import annotations

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.recordings import Events, FittedMotion, Recording, net_moments
from tests.recordings.test_fit_motion import body, motion_of


def fitted(model: od.Model, t: np.ndarray, q: np.ndarray) -> FittedMotion:
    n = len(t)
    return FittedMotion(model, t, q, (), (), np.zeros((n, 0)), np.zeros((n, 0)), np.ones(n, bool), 0)


def moving() -> tuple[FittedMotion, Recording]:
    model, rng = body(), np.random.default_rng(2)
    t, q = motion_of(model, 1, 24)
    at = np.arange(-2, 40) / 100
    wrenches = rng.normal(size=(2, 3, 6)) * 20
    values = sum(wrenches[:, k] * (at**k)[:, None, None] for k in range(3))
    return fitted(model, t, q).derived(), Recording(["leg", "hand"], at, values, "N m, N")


@pytest.mark.slow
def test_moments_are_those_of_inverse_dynamics() -> None:
    motion, forces = moving()
    found = net_moments(motion, forces)
    inside = motion.times <= forces.times[-1]
    assert np.array_equal(np.isnan(found.tau).all(axis=1), ~inside)
    loads = od.Loads(external=("leg", "hand"))
    for k in (0, 7, 15):
        assert motion.qd is not None
        assert motion.qdd is not None
        at = np.stack([np.interp(motion.times[k], forces.times, f) for f in forces.values.reshape(42, 12).T]).reshape(
            2, 6
        )
        wanted = od.inverse_dynamics(motion.model, motion.q[k], motion.qd[k], motion.qdd[k], f_ext=at.T, loads=loads)
        np.testing.assert_allclose(found.tau[k], wanted.full().ravel(), rtol=1e-2, atol=0.1)
    compiled = net_moments(motion, forces, compiled=True)
    np.testing.assert_allclose(compiled.tau, found.tau, atol=1e-9)


def test_forces_at_the_frames_are_exact() -> None:
    motion, forces = moving()
    at = forces.resample(times=motion.times[:10])
    short = fitted(motion.model, motion.times[:10], motion.q[:10]).derived()
    found = net_moments(short, Recording(at.names, at.times, at.values))
    assert short.qd is not None
    assert short.qdd is not None
    wanted = od.inverse_dynamics(
        motion.model, short.q[4], short.qd[4], short.qdd[4], f_ext=at.values[4].T, loads=od.Loads(external=at.names)
    )
    np.testing.assert_allclose(found.tau[4], wanted.full().ravel(), atol=1e-9)


def test_power_is_the_rate_of_energy() -> None:
    """Without forces of the ground the moments do all work on the body."""
    model = body()
    t = np.arange(200) / 400
    _, q = motion_of(model, 1, 3)
    q = q[:1] + 0.3 * np.sin(5 * t[:, None] + np.arange(model.nq))
    motion = fitted(model, t, q).derived()
    assert motion.qd is not None
    found = net_moments(motion)
    T, V = od.function(od.kinetic_energy, model), od.function(od.potential_energy, model)
    energy = [float(T(x, v)) + float(V(x)) for x, v in zip(motion.q, motion.qd, strict=True)]
    power = found.powers.values.sum(axis=1)
    np.testing.assert_allclose(power[20:-20], np.gradient(energy, t)[20:-20], atol=2e-3 * np.abs(power).max())
    assert found.residuals.names == model.qd_names[:6]
    assert found.residuals.units == ("N",) * 3 + ("N m",) * 3
    assert found.moments["elbow"].tolist() == found.tau[:, model.qd_names.index("elbow")].tolist()


@pytest.mark.slow
def test_a_standing_human_carries_its_weight() -> None:
    model = od.models.human(70, 1.75, "male")
    feet = [name for name in model.frame_names if name in ("foot_l", "foot_r")]
    assert len(feet) == 2
    t = np.arange(0, 2.0, 0.05)
    q = np.tile(np.array(model.neutral(), dtype=float).ravel(), (t.size, 1))
    knee = next(k for k, name in enumerate(model.q_names) if "knee_r" in name)
    q[:, knee] += 0.2 * np.sign(model.dofs.q_upper[knee] + model.dofs.q_lower[knee])
    for name, angle in (
        ("hip_r.rx", 0.1),
        ("hip_r.rz", -0.05),
        ("lumbar.rx", 0.08),
    ):  # adducted, turned out, to the right
        q[:, model.q_names.index(name)] = angle
    motion = fitted(model, t, q).derived()
    weight = float(model.mass) * 9.81
    com = od.center_of_mass(model, q[0]).full().ravel()
    push = np.concatenate([np.cross(com, (0, 0, weight)), (0, 0, weight)])
    on = ((t % 1.0) > 0.3)[:, None]
    forces = Recording(("foot_r", "foot_l"), t, np.stack([on * push, ~on * push], axis=1), "N m, N")
    found = net_moments(motion, forces)
    root = np.abs(found.tau[:, :6])
    assert root.max() < 1e-6 * weight
    assert "root mean squares of the first joint" in repr(found)
    assert found.carried.all()
    lacking = net_moments(
        motion, Recording(forces.names, t, forces.values * np.where(on, 1.0, 0.49)[..., None], "N m, N")
    )
    np.testing.assert_array_equal(lacking.carried, on.ravel())
    assert f"in the {on.sum()} with the weight on the plates" in repr(lacking)
    gait = found.gait("right", events=Events({"foot_r": [0.3, 1.3]}, {"foot_r": [1.0]}), title="trial 1")
    assert gait.title == "trial 1"
    figure = od.viz.plot({"trial 1": found, "trial 2": found}, quantities=["angles"])
    assert [axes.lines[0].get_label() for axes in figure.axes] == ["trial 1"] * 3
    assert ocp.gait_reference(found).curves["knee flexion"].mean[50] == pytest.approx(np.degrees(0.2))
    np.testing.assert_allclose(gait["knee flexion"], np.degrees(0.2), atol=1e-6)
    assert np.median(gait["vertical force"]) == pytest.approx(1.0, abs=0.01)
    for name, angle in (("hip adduction", 0.1), ("hip internal rotation", -0.05), ("trunk lean", 0.08)):
        np.testing.assert_allclose(gait[name], np.degrees(angle), atol=1e-6, err_msg=name)
    for name in ("pelvis obliquity", "pelvis rotation", "trunk rotation", "center of mass height"):
        np.testing.assert_allclose(gait[name], 0.0, atol=1e-9, err_msg=name)
    stance = -found.tau[10, model.qd_names.index("hip_r.rx")] / 70  # abduction of a right leg is negative about x
    assert np.abs(stance) > 0.2
    assert gait["hip abduction moment"][20] == pytest.approx(stance)
    assert gait.events["toe-off"] == pytest.approx(70)
    assert gait.figures["stride_time_s"] == pytest.approx(1.0)
    assert not np.abs(gait["knee power"]).max() > 1e-9


def test_wrong_arguments_are_refused() -> None:
    motion, _ = moving()
    still = fitted(motion.model, motion.times, motion.q)
    for call, error, text in [
        (lambda: net_moments(3), TypeError, "needs a FittedMotion"),
        (lambda: net_moments(still), ValueError, r"needs velocities.*motion.filtered\(6.0\)"),
        (lambda: net_moments(motion, motion.coordinates()), TypeError, "Recording of wrenches"),
        (lambda: net_moments(motion, Recording("lag", [0, 1], np.zeros((2, 1, 6)))), KeyError, "did you mean 'leg'"),
        (lambda: net_moments(motion).gait("up"), ValueError, "side"),
        (lambda: net_moments(motion).gait("left"), ValueError, "needs hips, knees and ankles"),
    ]:
        with pytest.raises(error, match=text):
            call()
