"""Static optimization: KKT conditions, reserves, coordinates that follow others, limits, wrong arguments."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.muscles.least_effort import least_effort
from ocp_dyn.recordings import FittedMotion, NetMoments, net_moments, read, static_optimization, write
from tests.recordings.test_moments import fitted

RNG = np.random.default_rng(8)


def muscle(
    name: str, first: str, start: tuple[float, ...], last: str, end: tuple[float, ...], **more: float
) -> od.Muscle:
    numbers = {"max_isometric_force": 900.0, "optimal_fiber_length": 0.2, "tendon_slack_length": 0.15} | more
    path = (od.PathPoint(f"{name}-P1", first, start), od.PathPoint(f"{name}-P2", last, end))
    return od.Muscle(name, "DeGrooteFregly2016Muscle", path, pennation_angle=0.1, **numbers)


@cache
def two_links() -> od.Model:
    """Two links with six muscles, two of which cross both joints; a third joint that no muscle crosses."""
    builder = od.ModelBuilder("links")
    across = {"mass": 2.0, "com": (0, 0, -0.15), "inertia": (0.02, 0.02, 0.002)}
    builder.add_frame("wall", "world")
    builder.add_body("upper", od.Revolute("y"), joint_name="shoulder", **across)
    builder.add_body("lower", od.Revolute("y"), "upper", joint_name="elbow", origin=(0, 0, -0.3), **across)
    builder.add_body("hand", od.Revolute("z"), "lower", joint_name="wrist", origin=(0, 0, -0.3), mass=0.4,
                     inertia=(1e-3, 1e-3, 1e-3))  # fmt: skip
    return builder.build().with_muscles([
        muscle("front", "wall", (0.04, 0, 0.1), "upper", (0.03, 0, -0.22)),
        muscle("back", "wall", (-0.05, 0, 0.1), "upper", (-0.03, 0, -0.2), max_isometric_force=700.0),
        muscle("flexor", "upper", (0.03, 0, -0.05), "lower", (0.03, 0, -0.1)),
        muscle("extensor", "upper", (-0.02, 0, -0.05), "lower", (-0.03, 0, -0.08), max_isometric_force=500.0),
        muscle("long_front", "wall", (0.05, 0, 0.02), "lower", (0.02, 0, -0.05), tendon_slack_length=0.2),
        muscle("long_back", "wall", (-0.04, 0, 0.03), "lower", (-0.03, 0, -0.06), tendon_slack_length=0.18),
    ])  # fmt: skip


def swing(model: od.Model, frames: int = 12) -> FittedMotion:
    t = np.arange(frames) / 50
    phase = np.arange(model.nv)
    q = 0.3 * np.sin(9 * t[:, None] + phase) + 0.2 * phase / model.nv
    return fitted(model, t, q).derived()


@cache
def swung() -> NetMoments:
    return net_moments(swing(two_links()))


def forces(net: NetMoments, k: int, a: np.ndarray) -> np.ndarray:
    """Tendon forces of a frame, by the algorithms of the muscles themselves."""
    model, q, qd = net.motion.model, net.motion.q[k], net.motion.qd[k]
    hill = od.muscles.HillMuscles.of(model)
    found = od.muscles.rigid_tendon(hill, od.muscle_lengths(model, q), od.muscle_speeds(model, q, qd), ca.DM(a))
    return found.tendon_force.full().ravel()


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.slow
def test_the_optimum_satisfies_its_conditions(power: float) -> None:
    net, weights = swung(), np.array([0.7, 1.6])
    strong = replace(net, tau=net.tau * 6)
    found = static_optimization(strong, power=power, reserves={"shoulder": 0.7, "elbow": 1.6}, activations=(0.02, 0.9))
    assert found.coordinates == ("shoulder", "elbow")
    assert found.residual.max() < 1e-9
    limits = set()
    for k in (0, 5, 11):
        r = od.moment_arms(net.motion.model, net.motion.q[k]).full()[:, :2]
        a, F0, F1 = found.activations[k], forces(net, k, np.zeros(6)), forces(net, k, np.ones(6))
        np.testing.assert_allclose(found.forces[k], np.maximum(F0, 0) + a * (F1 - np.maximum(F0, 0)), atol=1e-8)
        np.testing.assert_allclose(r.T @ found.forces[k] + found.reserves[k], 6 * net.tau[k, :2], atol=1e-9)
        value = (r * (F1 - np.maximum(F0, 0))[:, None]) @ (2 * found.reserves[k] / weights**2)
        slope = power * a ** (power - 1) - value
        np.testing.assert_allclose(a, np.clip(a - slope, 0.02, 0.9), atol=1e-8 * (1 + np.abs(value).max()))
        limits |= {0.02} & set(a.round(6)) | ({1} if np.any((a > 0.03) & (a < 0.89)) else set())
    assert limits == {0.02, 1}, "muscles at the limit and between the limits were looked at"


def test_dense_random_problems_are_solved() -> None:
    M = RNG.normal(size=(20, 5, 30)) * 40
    b = RNG.normal(size=(20, 5)) * np.logspace(0, 4, 20)[:, None]
    for power in (1.0, 1.1, 2.0, 3.0):
        found = least_effort(M, b, 0.0, 1.0, power, 1.0)
        assert found.residual.max() < 1e-9
        value = np.einsum("kmn,km->kn", M, 2 * (b - np.einsum("kmn,kn->km", M, found.x)))
        slope = power * found.x ** (power - 1) - value
        wrong = np.abs(found.x - np.clip(found.x - slope, 0, 1)).max(axis=1)
        assert np.all(wrong < 1e-8 * (1 + np.abs(value).max(axis=1)))
        assert found.iterations < 60


def test_the_order_of_muscles_does_not_matter() -> None:
    names = two_links().muscle_names
    one, other = static_optimization(swung()), static_optimization(swung(), muscles=names[::-1])
    assert other.names == names[::-1]
    np.testing.assert_allclose(other.activations[:, ::-1], one.activations, atol=1e-6)
    fewer = static_optimization(swung(), muscles=["flexor", "extensor"])
    assert fewer.coordinates == ("elbow",)


def test_reserves_help_only_where_muscles_are_too_weak() -> None:
    net = swung()
    easy = static_optimization(net, reserves=0.01)
    assert not easy.too_weak
    assert np.abs(easy.reserves).max() < 1e-3
    one, all_of_them = static_optimization(net, reserves={"elbow": 0.5}), {"elbow": 0.5, "shoulder": 1.0}
    np.testing.assert_array_equal(one.reserves, static_optimization(net, reserves=all_of_them).reserves)
    tau = net.tau.copy()
    tau[3, 0] = 500.0
    hard = static_optimization(replace(net, tau=tau), reserves=1e-3)
    assert hard.too_weak == dict.fromkeys(("shoulder", "elbow"), pytest.approx(1 / 12))  # two cross both
    assert hard.at_limit
    assert [*hard.at_limit.values()] == [pytest.approx(1 / 12)] * len(hard.at_limit)
    np.testing.assert_allclose(hard.reserves[3], hard.shortfall[3], rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(hard.activations[4:], static_optimization(net, reserves=1e-3).activations[4:], atol=1e-6)
    assert "muscles too weak about:\n  shoulder" in str(hard)


def test_coordinates_that_follow_others_add_their_moments() -> None:
    follows = od.CoordinateCoupling("elbow", ("shoulder",), od.LinearFunction(2.5, 0.1))
    model = two_links().with_constraints([follows])
    t = np.arange(8) / 40
    angle = 0.2 + 0.1 * np.sin(5 * t)
    motion = fitted(model, t, np.column_stack([angle, 2.5 * angle + 0.1, 0 * t])).derived()
    net = net_moments(motion)
    found = static_optimization(net)
    assert found.coordinates == ("shoulder",)
    for k in (1, 6):
        r = od.moment_arms(model, motion.q[k]).full() @ [1, 2.5, 0]
        assert r @ found.forces[k] + found.reserves[k, 0] == pytest.approx(net.tau[k] @ [1, 2.5, 0], abs=1e-9)
    by_elbow = static_optimization(net, coordinates=["elbow"], reserves=1 / 2.5)
    np.testing.assert_allclose(by_elbow.tau * 2.5, found.tau, rtol=1e-12)
    np.testing.assert_allclose(by_elbow.activations, found.activations, atol=1e-6)
    with pytest.raises(ValueError, match="follows others"):
        static_optimization(net, coordinates=["elbow", "shoulder"])


def test_forces_without_lengths_and_passive_parts() -> None:
    plain = static_optimization(swung(), curves=None)
    F0 = np.array([one.max_isometric_force for one in two_links().muscles])
    np.testing.assert_allclose(plain.forces, plain.activations * F0, rtol=1e-12)
    smooth, exact = (static_optimization(swung(), paths=paths) for paths in ("smooth", "exact"))
    np.testing.assert_allclose(smooth.activations, exact.activations, atol=1e-6)
    active = static_optimization(swung(), passive=False)
    for k in (2, 9):
        F = forces(swung(), k, np.ones(6)) - np.maximum(forces(swung(), k, np.zeros(6)), 0)
        np.testing.assert_allclose(active.forces[k], active.activations[k] * F, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_frames_without_moments_are_missing_in_files_too(tmp_path: Path) -> None:
    tau = swung().tau.copy()
    tau[4] = np.nan
    found = static_optimization(replace(swung(), tau=tau))
    whole = static_optimization(swung())
    assert np.isnan(found.activations).all(axis=1).tolist() == [k == 4 for k in range(12)]
    np.testing.assert_allclose(found.forces[5:], whole.forces[5:], rtol=1e-6, atol=1e-6)
    write(whole.recording("forces"), tmp_path / "forces.sto")
    np.testing.assert_allclose(read(tmp_path / "forces.sto")["flexor"], whole.forces[:, 2], atol=1e-6)
    assert whole.recording("reserves").units == ("N m", "N m")
    found.plot(tmp_path / "muscles.png")
    assert (tmp_path / "muscles.png").stat().st_size > 10_000


def test_wrong_arguments_are_refused() -> None:
    net = swung()
    bare = net_moments(swing(od.models.pendulum(2)))
    locked = net_moments(swing(two_links().lock_joints({"elbow": 0.3})))
    nothing = replace(net, tau=np.full_like(net.tau, np.nan))
    for call, error, text in [
        (lambda: static_optimization(net.motion), TypeError, "needs NetMoments"),
        (lambda: static_optimization(bare), od.ModelError, "has no muscles.*with_muscles"),
        (lambda: static_optimization(nothing), ValueError, "all are NaN"),
        (lambda: static_optimization(locked, coordinates=["elbow"]), KeyError, "not locked 'elbow'"),
        (lambda: static_optimization(locked, muscles=["flexor"]), ValueError, "cross no coordinate that moves"),
        (lambda: static_optimization(net, coordinates=["wrist"]), ValueError, "no muscle crosses .*'wrist'"),
        (lambda: static_optimization(net, coordinates=[]), ValueError, "some names that differ"),
        (lambda: static_optimization(net, coordinates=["elbow"] * 2), ValueError, "some names that differ"),
        (lambda: static_optimization(net, muscles=["flexer"]), KeyError, "did you mean 'flexor'"),
        (lambda: static_optimization(net, muscles=[]), ValueError, "some names that differ"),
        (lambda: static_optimization(net, power=4), ValueError, "power must be from 1 to 3"),
        (lambda: static_optimization(net, activations=(0.5, 0.5)), ValueError, "0 <= lower < upper <= 1"),
        (lambda: static_optimization(net, activations=(0, 1.5)), ValueError, "0 <= lower < upper <= 1"),
        (lambda: static_optimization(net, reserves=0), ValueError, "must be positive"),
        (lambda: static_optimization(net, reserves={"elbo": 1}), KeyError, "did you mean 'elbow'"),
        (lambda: static_optimization(net, curves="hill"), KeyError, "no family of curves 'hill'"),
        (lambda: static_optimization(net, paths="straight"), ValueError, "paths must be one of"),
        (lambda: static_optimization(net, passive=2), (TypeError, ValueError), "passive"),
        (lambda: static_optimization(net).recording("torques"), ValueError, "quantity must be one of"),
    ]:
        with pytest.raises(error, match=text):
            call()


@cache
def tied() -> tuple[od.recordings.MuscleEstimate, od.recordings.MuscleEstimate]:
    """A strong and sudden moment with and without activation dynamics."""
    motion = swing(two_links(), 30)
    net = net_moments(motion)
    sudden = net.tau.copy()
    sudden[14:] += np.array([30.0, -12.0, 0.0])
    strong = replace(net, tau=sudden)
    return static_optimization(strong, dynamics=True), static_optimization(strong)


def test_activations_follow_excitations() -> None:
    """Excitations between the limits make the activations of all frames together."""
    found, alone = tied()
    assert found.residual.max() < 1e-9
    hill = od.muscles.HillMuscles.of(two_links())
    h = np.diff(found.times)[:, None]
    rise, fall = (np.exp(-h / float(t)) for t in (hill.activation_time[0], hill.deactivation_time[0]))

    def excitations(a: np.ndarray) -> np.ndarray:
        change = [(a[1:] - left * a[:-1]) / (1 - left) for left in (rise, fall)]
        return np.where(a[1:] > a[:-1], *change)

    made, wanted = excitations(found.activations), excitations(alone.activations)
    assert -1e-7 < made.min() < 1e-6
    assert made.max() < 1 + 1e-7
    assert wanted.min() < -0.2, "the activations of frames alone fall faster than muscles can"
    effort = [np.sum(x.activations**2) + np.sum(x.reserves**2) for x in (found, alone)]
    assert effort[0] > 1.01 * effort[1]
    model, k = two_links(), 20
    r = od.moment_arms(model, found.moments.motion.q[k]).full()[:, :2]
    np.testing.assert_allclose(r.T @ found.forces[k] + found.reserves[k], found.tau[k], atol=1e-9)


def test_frames_that_nothing_ties_are_the_static_ones() -> None:
    """With times that are short beside the frames, both programs have one solution; a heavier effort has none lower."""
    quick = [replace(m, parameters=(("activation_time_constant", 1e-3), ("deactivation_time_constant", 1e-3)))
             for m in two_links().muscles]  # fmt: skip
    model = two_links().with_muscles(quick, replace_all=True)
    net = net_moments(swing(model))
    for power in (2.0, 3.0):
        both = [static_optimization(net, power=power, dynamics=dynamics) for dynamics in (True, False)]
        np.testing.assert_allclose(both[0].activations, both[1].activations, atol=2e-6)
    with pytest.raises(TypeError, match="dynamics"):
        static_optimization(net, dynamics="yes")
