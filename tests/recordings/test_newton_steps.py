"""Steps of markers in C: their matrices against NumPy and differences, their minima against the steps in NumPy."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.native.libraries import FITTING
from ocp_dyn.recordings import Recording, fit_motion
from ocp_dyn.recordings.fitting.least_squares import Limits, Prior, Steps
from ocp_dyn.recordings.fitting.newton_steps import NativeMarkers, native_steps
from ocp_dyn.recordings.fitting.placed import Measured, Placed

LIBRARY, REASON = FITTING.obtain(wait=True)
pytestmark = pytest.mark.skipif(LIBRARY is None, reason=REASON)
module = importlib.import_module("ocp_dyn.recordings.fit_motion")


@cache
def body() -> od.Model:
    """A floating trunk with two arms of several joints, one of which slides, and a head."""
    builder = od.ModelBuilder("body")
    builder.add_body("trunk", od.FloatingBase(rotation="euler_zyx"), mass=5, inertia=(0.3, 0.2, 0.1))
    for side, y in (("l", 0.2), ("r", -0.2)):
        add: Any = {"mass": 1, "inertia": (0.01, 0.02, 0.02)}
        builder.add_body(f"arm_{side}", od.Euler("yxz"), "trunk", origin=(0, y, 0.4), **add)
        builder.add_body(f"hand_{side}", od.Revolute((0.6, 0.8, 0)), f"arm_{side}", origin=(0, 0, -0.3), lower=-0.5,
                         upper=0.9, joint_name=f"elbow_{side}", **add)  # fmt: skip
    builder.add_body("head", od.Prismatic((0, 0.6, 0.8)), "trunk", origin=(0, 0, 0.5), **add)
    builder.add_frame("floor", "world")
    builder.add_mimic("elbow_l", "elbow_r", ratio=-0.5, offset=0.1)
    return builder.build()


def measured(model: od.Model, q: np.ndarray, seed: int, errors: float = 0.05) -> Measured:
    """Three markers on every body and one on the ground, at the places of q with errors; some are missing."""
    rng = np.random.default_rng(seed)
    bodies = np.array([*(i for i, _ in model.edges for _ in range(3)), 0])
    points = rng.normal(size=(bodies.size, 3)) * 0.1
    R, p, _, _ = Placed(model).bodies(q)
    m = Measured(bodies, points, np.zeros(0), np.zeros(0), np.zeros(0, int), np.zeros((0, 3, 3)),
                 np.zeros((len(q), 0, 3, 3)), np.zeros((len(q), 0)))  # fmt: skip
    y = Placed.markers(R, p, m) + errors * rng.normal(size=(len(q), bodies.size, 3))
    weights = rng.uniform(0.5, 3, y.shape[:2]) * (rng.uniform(size=y.shape[:2]) > 0.15)
    y = np.where(weights[..., None] > 0, y, 0.0)
    return Measured(bodies, points, y, weights, m.turned, m.sensors, m.R, m.turn_weights)


def triangle(A: np.ndarray) -> np.ndarray:
    return np.tril(A) + np.swapaxes(np.tril(A, -1), 1, 2)


def test_matrices_are_those_of_numpy_and_of_differences() -> None:
    """Gradient and H as in NumPy; H + B is the derivative of the gradient, apart from joints that are functions."""
    model = body()
    placed = Placed(model)
    rng = np.random.default_rng(0)
    q = rng.uniform(-0.6, 0.6, (3, model.nq))
    data = measured(model, q + 0.1 * rng.normal(size=q.shape), 1)
    native = NativeMarkers(placed, data, 0, LIBRARY.functions)  # type: ignore[union-attr]
    cost, g, H, B = native.matrices(placed.flat(q), data)
    there = placed.normal(q, data)
    np.testing.assert_allclose(cost, there.cost, rtol=1e-12)
    np.testing.assert_allclose(g, there.gradient, atol=1e-12)
    np.testing.assert_allclose(triangle(H), there.matrix, atol=1e-12)
    step = 1e-5
    for k in range(model.nv):
        e = step * np.eye(model.nv)[k]
        slope = (placed.normal(q + e, data).gradient - placed.normal(q - e, data).gradient) / (2 * step)
        np.testing.assert_allclose(triangle(H + B)[:, k], slope, atol=1e-8)
    assert np.abs(B).max() > 0.5


def test_a_step_solves_the_damped_equations_with_constraints_limits_and_measured_coordinates() -> None:
    model = body()
    placed = Placed(model, od.mimic_constraints(model))
    rng = np.random.default_rng(2)
    q = rng.uniform(-0.3, 0.3, (4, model.nq))
    data = measured(model, q, 3, errors=0.002)
    elbow, head = model.qd_names.index("elbow_r"), model.nv - 1
    q[:, elbow] = model.dofs.q_upper[elbow]
    fixed = np.arange(model.nv) == head
    low, high = np.zeros(q.shape, bool), q >= model.dofs.q_upper
    phi, G = placed.rows(q)
    slope, stiffness, mu = rng.normal(size=q.shape), rng.uniform(1, 2, q.shape), rng.uniform(0.1, 1, 4)
    native = NativeMarkers(placed, data, 1, LIBRARY.functions)  # type: ignore[union-attr]
    cost, v, definite = native.steps(placed.flat(q), data, (slope, stiffness), phi, G, (fixed, low, high), mu)
    assert definite.all()
    there, bare = placed.normal(q, data), native.matrices(placed.flat(q), data)
    np.testing.assert_allclose(cost, there.cost, rtol=1e-12)
    for n in range(4):
        g = there.gradient[n] + slope[n]
        D = np.diag(there.matrix[n]) + stiffness[n]
        A = triangle(bare[2] + bare[3])[n] + np.diag(stiffness[n] + mu[n] * D + 1e-12 * D.max())
        free = [k for k in range(model.nv) if k != head and not (k == elbow and g[k] < 0)]
        held = [k for k in range(model.nv) if k not in free]
        assert not v[n, held].any()
        J = G[n][:, free]
        K = np.block([[A[np.ix_(free, free)], J.T], [J, np.zeros((1, 1))]])
        expected = np.linalg.solve(K, [*-g[free], *-phi[n]])[:-1]
        np.testing.assert_allclose(v[n, free], expected, rtol=1e-6, atol=1e-8)
    # without a definite matrix of Newton the step is that of Gauss and Newton: large errors
    far = measured(model, q, 3, errors=3.0)
    _, v, definite = native.steps(placed.flat(q), far, None, 0 * phi, 0 * G, (fixed, low, low), 1e-3 * np.ones(4))
    assert definite.all()
    assert (np.einsum("ni,ni->n", v, placed.normal(q, far).gradient) < 0).all()


def path_of(model: od.Model, n: int, seed: int) -> np.ndarray:
    """A motion with the coupling of the elbows, which turns round once and stays at a limit for a while."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)[:, None] / 50
    q = 0.4 * np.sin(rng.uniform(2, 4, model.nq) * t + rng.uniform(0, 6, model.nq))
    q[:, 3] = 4 * t[:, 0]
    right, left = (model.q_names.index(f"elbow_{side}") for side in "rl")
    q[:, right] = np.clip(1.5 * q[:, right], -0.5, 0.9)
    q[:, left] = -0.5 * q[:, right] + 0.1
    return q


def recording(model: od.Model, q: np.ndarray, seed: int) -> tuple[Recording, dict[str, Any]]:
    data = measured(model, q, seed, errors=0.003)
    names = [f"m{k}" for k in range(data.bodies.size)]
    values = np.where(data.weights[..., None] > 0, data.y, np.nan)
    places = {name: (model.body_names[i - 1] if i else "floor", x)
              for name, i, x in zip(names, data.bodies, data.points, strict=True)}  # fmt: skip
    return Recording(names, np.arange(len(q)) / 50, values, "m"), places


@pytest.mark.slow
def test_the_minima_are_those_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    model = body()
    markers, places = recording(model, path_of(model, 70, 4), 5)
    prior = Recording(["elbow_r", "head_joint"], markers.times, np.full((70, 2), 0.1), "rad")
    weights = dict.fromkeys(places, 2.0) | {"elbow_r": 0.01, "head_joint": 0.3}
    for given in (
        {},
        {"coordinates": prior, "weights": weights, "fixed": ("arm_l_joint.rz",), "start": 0.02 * np.ones(15)},
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, "native_steps", lambda wait: None)
            slow = fit_motion(model, markers, places=places, tolerance=1e-8, **given)  # type: ignore[arg-type]
        fast = fit_motion(model, markers, places=places, tolerance=1e-8, **given)  # type: ignore[arg-type]
        assert fast.converged.all()
        assert slow.converged.all()
        np.testing.assert_allclose(fast.q, slow.q, atol=1e-6)
        np.testing.assert_allclose(fast.rms, slow.rms, atol=1e-9)
        assert fast.iterations < slow.iterations


def test_errors_of_markers_near_an_axis_take_few_steps() -> None:
    """A lever of 2 cm and errors of 3 cm: steps of Gauss and Newton do not converge, those of Newton do."""
    builder = od.ModelBuilder()
    builder.add_body("wheel", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    model = builder.build()
    y = np.array([[[0.02, 0.03, 0.0], [0.05, -0.025, 0.0]]])
    data = Measured(np.array([1, 1]), np.array([[0.02, 0, 0], [0, 0.02, 0]]), y, np.ones((1, 2)), np.zeros(0, int),
                    np.zeros((0, 3, 3)), np.zeros((1, 0, 3, 3)), np.zeros((1, 0)))  # fmt: skip
    steps = Steps(Placed(model), Limits.of(model))
    make = native_steps(wait=True)
    assert make is not None
    found = make(steps).fitted(np.array([[0.3]]), data, None, 1e-9, 100)
    assert found.converged.all()
    assert found.iterations < 12
    q = np.linspace(-np.pi, np.pi, 20001)
    far = sum((0.02 * np.cos(q + a) - u) ** 2 + (0.02 * np.sin(q + a) - w) ** 2
              for a, (u, w) in ((0, y[0, 0, :2]), (np.pi / 2, y[0, 1, :2])))  # fmt: skip
    assert found.q[0, 0] == pytest.approx(q[np.argmin(far)], abs=1e-3)
    told = Prior(np.array([[0.1]]), np.array([[1e6]]))
    assert make(steps).fitted(np.array([[0.3]]), data, told, 1e-9, 100).q[0, 0] == pytest.approx(0.1, abs=1e-6)


def test_frames_are_solved_from_a_few_outward() -> None:
    for n in (1, 2, 3, 16, 17, 31, 100):
        groups = module._halves(n)
        assert sorted(np.concatenate(groups).tolist()) == list(range(n))
        for k, group in enumerate(groups[1:], 1):
            before = np.concatenate(groups[:k])
            assert all((before < x).any() and (before > x).any() for x in group)
