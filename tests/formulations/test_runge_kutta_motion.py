"""Motions by explicit Runge-Kutta schemes: order, energy, drift from loops, errors, pictures."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.formulations import IntegrationError, Trajectory, runge_kutta_motion

RNG = np.random.default_rng(7)


def tumbling() -> tuple[od.Model, Any, Any]:
    """A tree with quaternions, and a state."""
    model = od.random_tree(5, 2.0, [od.FloatingBase(), od.Spherical(), od.Revolute((0.3, 0.5, -0.8))], RNG)
    return model, model.random_q(RNG), RNG.uniform(-1, 1, model.nv)


TREE, Q, QD = tumbling()


def motion(h: float, **options: Any) -> Trajectory:
    FD = od.function(od.forward_dynamics, TREE)
    return runge_kutta_motion(TREE, FD, Q, QD, **{"h": h, "duration": 0.1, **options})


@cache
def finest() -> np.ndarray:
    return motion(1e-4).qd[-1]


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("heun", 2), ("rk4", 4)])
@pytest.mark.slow
def test_the_error_falls_with_the_order_of_the_scheme(method: str, order: int) -> None:
    exact = finest()
    errors = [np.abs(motion(h, method=method).qd[-1] - exact).max() for h in (5e-3, 2.5e-3)]
    assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.35)


@pytest.mark.slow
def test_quaternions_stay_of_unit_length_and_energy_is_kept() -> None:
    found = motion(1e-3, duration=0.5)
    assert found.t[-1] == pytest.approx(0.5)
    assert found.energy_error < 1e-6
    joints = [i for i, _ in TREE.edges if TREE.joints[i].has_quaternion]
    assert joints
    for i in joints:
        end = TREE.q_index[i] + TREE.joints[i].nq
        assert np.allclose(np.linalg.norm(found.q[:, end - 4 : end], axis=1), 1.0, atol=1e-13)


@pytest.mark.slow
def test_every_keeps_some_of_the_same_states() -> None:
    all_states, some = motion(1e-3, duration=1.2), motion(1e-3, duration=1.2, every=7)
    assert len(some.t) == 172
    assert len(all_states.t) == 1201
    assert np.allclose(some.q, all_states.q[: 7 * 171 + 1 : 7], rtol=0, atol=1e-13)
    assert np.allclose(some.t, all_states.t[: 7 * 171 + 1 : 7])


@pytest.mark.slow
def test_torques_may_be_numbers_or_a_function_of_the_state() -> None:
    damping = RNG.uniform(0.1, 1.0, TREE.nv)
    held = motion(1e-3, tau=lambda q, qd: -ca.DM(damping) * qd)
    tau = RNG.uniform(-1, 1, TREE.nv)
    FD = od.function(od.forward_dynamics, TREE)
    pushed = runge_kutta_motion(TREE, FD, Q, QD, h=1e-5, duration=1e-5, tau=tau)
    assert np.allclose((pushed.qd[1] - QD) / 1e-5, FD(Q, QD, tau).full().ravel(), rtol=1e-2, atol=1e-1)
    assert not np.allclose(held.qd[-1], motion(1e-3).qd[-1])
    assert held.energy[-1] < held.energy[0]


def test_springs_and_rotors_count_in_the_energy() -> None:
    builder = od.ModelBuilder("spring", gravity=(0, 0, -9.81))
    builder.add_body(
        "bob",
        od.Revolute("y"),
        mass=1.0,
        com=(0, 0, -1),
        inertia=np.diag([0.1, 0.1, 0.1]),
        stiffness=30.0,
        armature=2.0,
    )
    model, loads = builder.build(), od.Loads(passive=True, armature=True)
    FD = od.function(od.forward_dynamics, model, loads=loads)
    found = runge_kutta_motion(model, FD, [1.0], [0.5], h=1e-3, duration=3.0, loads=loads)
    assert found.energy_error < 1e-8
    without = Trajectory(model, found.t, found.q, found.qd)
    assert without.energy_error > 0.1
    rotor, spring = 2.0 / 2 * found.qd[:, 0] ** 2, 30.0 / 2 * found.q[:, 0] ** 2
    assert np.allclose(found.energy - without.energy, rotor + spring, rtol=1e-12)


@pytest.mark.slow
def test_a_motion_ends_at_the_nearest_step() -> None:
    assert motion(0.1, duration=0.29).t[-1] == pytest.approx(0.3)
    assert motion(0.1, duration=0.34).t[-1] == pytest.approx(0.3)


def slider_crank() -> tuple[od.Model, od.Loop]:
    builder = od.ModelBuilder("slider_crank")
    builder.add_body("crank", od.Revolute("y"), mass=1.0, com=(-0.15, 0, 0))
    builder.add_body("rod", od.Revolute("y"), "crank", origin=(-0.3, 0, 0), mass=1.0, com=(0.5, 0, 0))
    builder.add_frame("pin", "rod", (1.0, 0, 0))
    builder.add_body("piston", od.Prismatic("x"), origin=(0.7, 0, 0), mass=2.0)
    return builder.build(), od.Loop("piston", "pin", axes=[(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)])


@pytest.mark.slow
def test_drift_from_loops_falls_with_the_step() -> None:
    model, loop = slider_crank()
    q = od.assemble_q(model, [loop], np.array([0.4, 0.1, 0.0]))
    qd = od.assemble_qd(model, [loop], q, np.array([2.0, 0.0, 0.0]))
    FDc = od.function(od.constrained_dynamics, model, (loop,))
    drifts = []
    for h in (4e-3, 2e-3):
        found = runge_kutta_motion(model, FDc, q, qd, h=h, duration=2.0, constraints=(loop,))
        assert found.position_errors.shape == found.velocity_errors.shape == (len(found.t), 2)
        drifts.append(np.abs(found.position_errors).max())
    assert 1e-12 < drifts[1] < drifts[0] / 8
    phi_dot = od.function(od.constraint_velocity, model, (loop,))
    assert np.allclose(found.velocity_errors[-1], phi_dot(found.q[-1], found.qd[-1]).full().ravel(), atol=1e-14)


def test_a_state_that_is_not_finite_carries_the_motion_until_then() -> None:
    def exploding(q: Any, qd: Any, tau: Any) -> Any:
        return q**3 + 3.0

    model = od.models.pendulum()
    with pytest.raises(IntegrationError, match=r"not finite after t = 1\.\d+ s: take a smaller step") as caught:
        runge_kutta_motion(model, exploding, [0.0], [0.0], h=1e-2, duration=5.0)
    assert 2 <= len(caught.value.motion.t) < 300
    assert np.all(np.isfinite(caught.value.motion.q))


@pytest.mark.slow
def test_samples_between_nodes_follow_the_shortest_step() -> None:
    found = motion(1e-2, duration=0.2)
    assert np.allclose(found.sample(found.t[3:6]), found.q[3:6], atol=1e-13)
    middle = found.sample(np.array([(found.t[3] + found.t[4]) / 2]))[0]
    step = TREE.difference(ca.DM(found.q[3]), ca.DM(middle)) * 2 - TREE.difference(ca.DM(found.q[3]), ca.DM(found.q[4]))
    assert np.abs(step.full()).max() < 1e-12


def test_times_and_energies_of_a_trajectory() -> None:
    model = od.models.pendulum(2)
    t, q, qd = np.array([0.5, 0.7, 1.5]), RNG.uniform(-1, 1, (3, 2)), RNG.uniform(1, 2, (3, 2))
    found = Trajectory(model, t, q, qd)
    kinetic, potential = (
        np.array([float(f(model, *x)) for x in zip(*([ca.DM(row) for row in part] for part in parts), strict=True)])
        for f, parts in ((od.kinetic_energy, (q, qd)), (od.potential_energy, (q,)))
    )
    total = kinetic + potential
    assert found.duration == 1.0
    assert np.allclose(found.energy, total, rtol=1e-13)
    change = max(abs(total[1] - total[0]), abs(total[2] - total[0]))
    assert found.energy_error == pytest.approx(change / (kinetic.max() - kinetic.min()), rel=1e-12)


@pytest.mark.slow
def test_a_motion_ends_at_the_nearest_node() -> None:
    assert [len(motion(1e-3, duration=T, every=5).t) for T in (0.0128, 0.0122, 1e-4)] == [4, 3, 2]


@pytest.mark.slow
def test_samples_before_and_after_the_motion_rest_at_its_ends() -> None:
    found = motion(1e-2, duration=0.1)
    assert np.allclose(found.sample([-1.0, 2.0]), found.q[[0, -1]], rtol=0, atol=1e-14)
    assert found.sample(0.05).shape == (1, TREE.nq)
    assert found.sample([]).shape == (0, TREE.nq)
    start = Trajectory(TREE, found.t[:1], found.q[:1], found.qd[:1])
    assert np.array_equal(start.sample([0.0, 1.0]), found.q[[0, 0]])


def test_an_open_chain_has_no_errors_of_constraints() -> None:
    found = motion(1e-2)
    assert found.position_errors.shape == found.velocity_errors.shape == (len(found.t), 0)


def test_a_trajectory_has_a_row_per_time() -> None:
    lists = Trajectory(od.models.pendulum(), [0, 1], [[0.0], [1.0]], [[0.0], [0.0]])  # type: ignore[arg-type]
    assert lists.energy.shape == (2,)
    with pytest.raises(ValueError, match=r"Trajectory q must be of shape \(2, 1\), a row per time, got \(1, 2\)"):
        Trajectory(lists.model, lists.t, lists.q.T, lists.qd)
    with pytest.raises(TypeError, match="constraints must be a tuple of constraints"):
        Trajectory(lists.model, lists.t, lists.q, lists.qd, constraints="loop")  # type: ignore[arg-type]


@pytest.mark.slow
def test_progress_and_pictures(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    found = motion(1e-3, duration=2.5, progress=lambda done, total: told.append((done, total)))
    assert told == [(1000, 2500), (2000, 2500), (2500, 2500)]
    assert od.viz.animate(found, tmp_path / "motion.html").stat().st_size > 1000
    od.viz.overview(found, tmp_path / "motion.png", poses=3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"h": 0.0}, r"the step h \[s\]"),
        ({"h": np.nan}, r"the step h \[s\]"),
        ({"duration": -1.0}, r"the duration \[s\]"),
        ({"h": 1e-12}, "at most 100000000 steps"),
        ({"every": 0}, "every"),
        ({"method": "gauss:2"}, "explicit scheme"),
        ({"method": "rk5"}, "integrator must be one of"),
        ({"tau": [1.0]}, "tau must have"),
        ({"tau": lambda q, qd: qd[:2]}, r"tau must return a casadi column of \d+ entries, got shape \(2, 1\)"),
        ({"tau": lambda q, qd: None}, r"tau must return a casadi column of \d+ entries, got None"),
        ({"tau": lambda q: q}, "tau: the function raised TypeError"),
        ({"constraints": 3}, "constraints must be a tuple of constraints"),
        ({"progress": 3}, "progress must be a function"),
    ],
)
def test_wrong_arguments_meet_a_clear_error(change: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        motion(**{"h": 1e-2, **change})


def test_accelerations_of_another_size_meet_a_clear_error() -> None:
    for wrong, got in (
        (lambda q, qd, tau: q, "shape"),
        (lambda q, qd, tau: (), r"\(\)"),
        (lambda q, qd, tau: 1.0, "1.0"),
    ):
        with pytest.raises(
            ValueError, match=rf"accelerations must return a casadi column of \d+ entries first, got {got}"
        ):
            runge_kutta_motion(TREE, wrong, Q, QD, h=1e-2, duration=0.1)
    with pytest.raises(ValueError, match=r"accelerations: FD: q has the shape \(\d+, 1\), expected \(1, 1\)"):
        runge_kutta_motion(TREE, od.function(od.forward_dynamics, od.models.pendulum()), Q, QD, h=1e-2, duration=0.1)
    with pytest.raises(TypeError, match="accelerations"):
        runge_kutta_motion(TREE, None, Q, QD, h=1e-2, duration=0.1)  # type: ignore[arg-type]
