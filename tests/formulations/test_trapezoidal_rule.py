"""The implicit trapezoidal rule in natural coordinates, and simulations with it."""

from __future__ import annotations

import pickle
from functools import cache

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import formulations as fm
from ocp_dyn.formulations.natural_equations import NaturalEquations, Scales
from ocp_dyn.formulations.simulation.trapezoidal_rule import MotionSample, Rule
from tests.helpers import State, close, flat, tree


def at(model, natural, q, qd):
    """x, xd at joint coordinates."""
    q, qd = ca.DM(q), ca.DM(qd)
    return fm.natural_from_q(model, natural, q), fm.natural_velocity(model, natural, q, qd)


@cache
def row(n, length=1.0, mass=1.0):
    """Four-bars in a row in the plane: two coordinates per point."""
    made = od.models.n_four_bar(n, length, mass)
    return made, fm.natural(made.model, made.loops)


def swing(**options):
    """A pendulum of 1 m, from horizontal, for half a second."""
    model = od.models.pendulum()
    return fm.trapezoidal_motion(model, fm.natural(model), [0.0], **{"h": 1e-3, "duration": 0.5} | options)


@cache
def tumbling(key="chain"):
    """A tree, its natural coordinates, a state, and the state after 0.2 s by the classical Runge-Kutta method."""
    model = tree(key)
    s = State.of(model, np.random.default_rng(3))
    Q, V = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    z, zero = ca.vertcat(Q, V), ca.SX(model.nv, 1)
    f = ca.Function("f", [z], [ca.vertcat(model.q_dot(Q, V), od.forward_dynamics(model, Q, V, zero))])
    h = 0.2 / 1000
    k1 = f(z)
    k2 = f(z + h / 2 * k1)
    k3 = f(z + h / 2 * k2)
    k4 = f(z + h * k3)
    end = flat(ca.Function("step", [z], [z + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)]).fold(1000)([*s.q, *s.qd]))
    natural = fm.natural(model)
    return model, natural, s, [flat(y) for y in at(model, natural, end[: model.nq], end[model.nq :])]


# Accuracy


@pytest.mark.parametrize("key", ["chain", "spherical"])
@pytest.mark.slow
def test_errors_fall_with_the_square_of_the_step(key):
    model, natural, s, (x, xd) = tumbling(key)

    def errors(h):
        motion = fm.trapezoidal_motion(model, natural, s.q, s.qd, h=h, duration=0.2, tolerance=1e-10)
        return np.array([np.abs(motion.x[-1] - x).max(), np.abs(motion.xd[-1] - xd).max()])

    coarse, fine = errors(2e-3), errors(1e-3)
    assert np.all(fine < 1e-2)
    assert coarse / fine == pytest.approx([4, 4], rel=0.05)


@pytest.mark.parametrize(
    ("options", "limit"),
    [({}, 3e-5), ({"method": "penalty", "alpha": 1e11}, 2e-4), ({"method": "penalty", "project": False}, 1e-2)],
    ids=["augmented", "penalty, projected", "penalty"],
)
@pytest.mark.slow
def test_a_row_of_four_bars_follows_its_exact_motion(options, limit):
    """It passes a singular position at 0.6 s, where all bars are in one line, and then two each turn."""
    made, natural = row(2)
    motion = fm.trapezoidal_motion(made.model, natural, made.q, made.qd, h=1e-3, duration=2.0, **options)
    theta = np.array([od.models.n_four_bar_motion(2, t) for t in motion.t])
    assert theta[-1, 0] > 2 * np.pi
    assert natural.degrees_of_freedom() == 1
    turn = np.unwrap(motion.q[:, 0])
    assert np.abs(turn - theta[:, 0]).max() < limit
    assert np.abs(motion.qd[:, 0] - theta[:, 1]).max() < 6 * limit


@pytest.mark.slow
def test_constraint_errors_of_penalties_fall_with_alpha():
    errors = [swing(method="penalty", project=False, alpha=alpha).position_errors.mean() for alpha in (1e5, 1e6, 1e7)]
    assert errors[0] / errors[1] == pytest.approx(10, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(10, rel=0.1)


@pytest.mark.slow
def test_augmented_iterations_reduce_constraint_errors():
    h = 8e-3
    penalty = swing(h=h, duration=0.4, method="penalty", project=False, alpha=1e6).position_errors.max()
    corrected = swing(h=h, duration=0.4, method="augmented", project=False, alpha=1e6).position_errors.max()
    projected = swing(h=h, duration=0.4).position_errors.max()
    assert corrected < penalty / 5
    assert projected < 1e-12


@pytest.mark.slow
def test_projections_bring_velocities_and_accelerations_to_the_constraints():
    model, natural, s, _ = tumbling()
    for method, alpha in (("augmented", None), ("penalty", 1e9)):
        motion = fm.trapezoidal_motion(
            model, natural, s.q, s.qd, h=5e-3, duration=0.1, method=method, alpha=alpha, tolerance=1e-10
        )
        assert motion.velocity_errors.max() < (1e-11 if method == "augmented" else 1e-7)
        x, xd, xdd = ca.DM(motion.x[-1]), ca.DM(motion.xd[-1]), ca.DM(motion.xdd[-1])
        J, c = fm.natural_jacobian(model, natural, x), fm.natural_jacobian_rate(model, natural, x, xd)
        close(J @ xdd, flat(c), 1e-8 if method == "augmented" else 1e-4)
    loose = fm.trapezoidal_motion(model, natural, s.q, s.qd, h=5e-3, duration=0.1, method="penalty", project=False)
    assert loose.velocity_errors.max() > 1e-4


@pytest.mark.slow
def test_accelerations_and_forces_are_those_of_the_equations_of_motion():
    model, natural, s, _ = tumbling("spherical")
    motion = fm.trapezoidal_motion(model, natural, s.q, s.qd, h=1e-3, duration=0.1, tolerance=1e-12)
    x, xd = ca.DM(motion.x[-1]), ca.DM(motion.xd[-1])
    xdd, lam = fm.natural_forward_dynamics(model, natural, x, xd, ca.DM(model.nv, 1))
    close(motion.xdd[-1], flat(xdd), 1e-8)
    close(motion.lam[-1], flat(lam), 1e-6)


@pytest.mark.slow
def test_energy_is_kept_and_is_that_of_joint_space():
    model, natural, s, _ = tumbling()
    motion = fm.trapezoidal_motion(model, natural, s.q, s.qd, h=1e-3, duration=0.5, every=10)
    q, qd = ca.DM(motion.q[-1]), ca.DM(motion.qd[-1])
    close(motion.energy[-1], flat(od.kinetic_energy(model, q, qd) + od.potential_energy(model, q)))
    assert np.ptp(motion.energy) < 1e-4 * np.abs(motion.energy).max()


@pytest.mark.slow
def test_long_runs_stay_on_the_constraints():
    """Twenty seconds of five bars, which tumble; without projections the velocity errors are 1e-2."""
    model = od.models.five_bar_pendulum()
    motion = fm.trapezoidal_motion(model, fm.natural(model), np.zeros(5), h=8e-3, duration=20.0, every=100)
    assert motion.position_errors.max() < 1e-10
    assert motion.velocity_errors.max() < 1e-10
    assert np.abs(motion.energy - motion.energy[0]).max() < 0.05 * abs(motion.energy[0])


@pytest.mark.slow
def test_five_bars_as_in_the_book():
    """Example 8.6: its energy error is 1.3 %, its constraint errors 1e-5 and, with alpha = 1e6, 1e-4."""
    model, h = od.models.five_bar_pendulum(), 8e-3
    natural = fm.natural(model)

    def run(alpha):
        return fm.trapezoidal_motion(
            model, natural, np.zeros(5), h=h, duration=20.0, method="penalty", project=False, alpha=alpha, mu=h / 80
        )

    motion = run(1e7)
    assert np.abs(motion.energy / motion.energy[0] - 1).max() < 0.013
    assert motion.position_errors.max() < 3e-5
    assert motion.iterations[1:].mean() < 2.1
    assert 150 < np.abs(motion.xdd).max() < 220
    assert run(1e6).position_errors.max() < 3e-4


@pytest.mark.slow
def test_bricards_mechanism_as_in_the_book():
    """Example 8.7: its energy error is 0.03 %, with two iterations a step."""
    made, h = od.models.bricard(), 0.03
    natural = fm.natural(made.model, made.loops)
    assert natural.redundant == 1
    for options in ({"method": "penalty", "project": False, "alpha": 1e7, "mu": h / 60}, {}):
        motion = fm.trapezoidal_motion(made.model, natural, made.q, h=h, duration=39.99, **options)
        assert np.abs(motion.energy / motion.energy[0] - 1).max() < 3e-4
        assert motion.iterations[1:].mean() < 2.6


# One step


def test_the_quasi_tangent_is_the_tangent_up_to_the_errors_of_the_constraints(rng):
    """The change of the residual with x is A h^-2 4, less terms with Phi_xx, which multiply lam, and Phi_x xd."""
    model = tree("chain").with_gravity((0, 0, 0))
    natural = fm.natural(model)
    h, alpha = 0.01, 1e7
    e, tau = ca.SX.sym("e", natural.n), ca.SX(rng.normal(size=model.nv))
    rule = Rule.of(NaturalEquations(model, natural, tau, None, od.Loads()), ca.DM(h), "penalty", alpha, 1e-4, False)
    start = MotionSample(ca.SX(natural.x), ca.SX(natural.n, 1), ca.SX(natural.n, 1))
    there = rule.corrected(start, e)
    Phi_x = rule.equations.Phi_x(there.x)
    residual = rule.equations.M @ there.xdd - rule.equations.Q(there.x, there.xd) + Phi_x.T @ rule.penalty_force(there)
    tangent = ca.Function("K", [e], [h**2 / 4 * ca.jacobian(residual, e)])
    change = ca.Function("A", [e], [rule.iterate(start, e, ca.SX(natural.m, 1)).change, residual])
    K = tangent(np.zeros(natural.n)).full()
    small = 1e-7 * rng.normal(size=natural.n)
    step, f = change(small)
    # tau turns its axis with the body, which the symmetric part leaves out
    full = np.linalg.solve(tangent(small).full(), -(h**2) / 4 * flat(f))
    assert float(step) == pytest.approx(np.linalg.norm(full / Scales.of(natural).coordinates), rel=1e-2)
    assert np.abs(K - K.T).max() < 1e-2 * np.abs(K).max()


@pytest.mark.slow
def test_steps_are_those_of_the_simulation_and_of_c():
    model, natural, s, _ = tumbling()
    h = 2e-3
    step = od.function(fm.trapezoidal_step, model, natural, iterations=3)
    assert str(step).startswith("NC_step:(x[21],xd[21],xdd[21],lam_x[17],tau[4],h)->(x_next[21],xd_next[21]")
    motion = fm.trapezoidal_motion(
        model, natural, s.q, s.qd, h=h, duration=0.1, tolerance=1e-13, iterations=3, tau=s.tau
    )
    z = [motion.x[0], motion.xd[0], motion.xdd[0], motion.lam[0]]
    for _ in range(50):
        *z, error = step(*z, s.tau, h)
    close(z[0], motion.x[-1])
    close(z[1], motion.xd[-1], 1e-9)
    assert float(error) < 1e-12
    again = fm.trapezoidal_motion(model, natural, s.q, s.qd, h=h, duration=0.1, step=step, tau=s.tau, every=5)
    close(again.x[-1], motion.x[-1])
    close(again.lam[-1], motion.lam[-1], 1e-6)
    assert again.iterations.max() == 0


@pytest.mark.slow
def test_motions_are_the_same_in_other_units():
    """Gravity is zero, because it would set another time."""
    length, mass = 1e-3, 1e-6

    def run(length, mass, **options):
        made, natural = row(2, length, mass)
        model = made.model.with_gravity((0, 0, 0))
        return natural, fm.trapezoidal_motion(model, natural, made.q, made.qd * length, h=0.01, duration=1.0, **options)

    for options in ({}, {"method": "penalty", "project": False, "alpha": 1e6}):
        natural, motion = run(1.0, 1.0, **options)
        other, scaled = run(length, mass, **options)
        unit = np.where(natural.lengths, length, 1.0)
        close(scaled.x / unit, motion.x, 1e-9)
        close(scaled.xd / unit, motion.xd, 1e-8)
        np.testing.assert_allclose(scaled.position_errors, motion.position_errors, rtol=1e-3, atol=1e-13)
        np.testing.assert_allclose(scaled.velocity_errors, motion.velocity_errors, rtol=1e-3, atol=1e-11)
        assert Scales.of(other).length == pytest.approx(length)


# Forces


def test_springs_count_in_the_energy():
    """Display of the motion, and of its trajectory, which takes one loop as well as several."""
    builder = od.ModelBuilder("spring")
    bar = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.01)}
    builder.add_body("bar", od.Revolute("y"), stiffness=20.0, rest=0.3, **bar)
    model = builder.build()
    motion = fm.trapezoidal_motion(
        model, fm.natural(model), [1.0], [0.0], h=0.005, duration=0.5, loads=od.Loads(passive=True)
    )
    np.testing.assert_allclose(motion.trajectory().energy - motion.energy,
                               motion.trajectory().energy[0] - motion.energy[0],
                               atol=1e-9)  # fmt: skip
    assert np.ptp(motion.energy) < 5e-3  # of the order h^2
    assert np.ptp(10 * (motion.q - 0.3) ** 2) > 1
    single = motion.trajectory(od.Loop("bar", "bar", "ball"))
    assert single.position_errors.shape == (len(motion.t), 3)


@pytest.mark.slow
def test_springs_and_dampers_are_implicit():
    """A stiff spring with a damper on a pendulum: h is ten times the spring's time, and the motion comes to rest."""
    builder = od.ModelBuilder("stiff")
    builder.add_body(
        "bar", od.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01),
        stiffness=1e6, damping=1e4, rest=0.3,
    )  # fmt: skip
    model = builder.build()
    loads = od.Loads(passive=True)
    motion = fm.trapezoidal_motion(model, fm.natural(model), [0.3], [0.5], h=0.01, duration=8.0, loads=loads)
    assert motion.energy[-1] == pytest.approx(motion.trajectory().energy[-1])
    rest = 0.3 - 9.81 * 0.5 * np.sin(0.3) / 1e6
    assert motion.q[-1, 0] == pytest.approx(rest, abs=1e-8)
    assert motion.iterations.max() <= 6


def test_torques_that_are_functions_are_implicit():
    """A stiff spring with a damper as a function, and a wrench beside: few iterations, as with the joint's own."""
    springs = {"stiffness": 1e6, "damping": 1e4, "rest": 0.3}
    ends = []
    for own, tau in ((springs, None), ({}, lambda t, q, qd: -1e6 * (q - 0.3) - 1e4 * qd)):
        builder = od.ModelBuilder("stiff")
        builder.add_body("bar", od.Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01), **own)
        model = builder.build()
        loads = od.Loads(passive=bool(own), external=("bar",))
        motion = fm.trapezoidal_motion(
            model, fm.natural(model), [0.3], [0.5], h=0.01, duration=8.0, loads=loads, tau=tau,
            f_ext=[0, 100.0, 0, 0, 0, 0],
        )  # fmt: skip
        assert motion.iterations.max() <= 6
        ends.append(motion.q[-1, 0])
    assert ends == pytest.approx([0.3 + (100 - 9.81 * 0.5 * np.sin(0.3)) / 1e6] * 2, abs=1e-7)


def test_given_steps_take_torques_at_their_start():
    model = od.models.pendulum()
    natural = fm.natural(model)
    step = od.function(fm.trapezoidal_step, model, natural)
    motion = swing(step=step, h=0.01, duration=0.03, tau=lambda t, q, qd: 1 + 100 * t + q)
    for k in range(3):
        columns = [y[k] for y in (motion.x, motion.xd, motion.xdd, motion.lam)]
        close(step(*columns, 1 + motion.t[k] * 100 + motion.q[k], 0.01)[0], motion.x[k + 1])


@pytest.mark.slow
def test_torques_may_depend_on_time_and_state():
    """The squeezer's spring is a function of q; against the published solution at 0.03 s, at 2e-5 s a step."""
    made = od.models.squeezer()
    natural = fm.natural(made.model, made.loops, q=made.q)
    motion = fm.trapezoidal_motion(
        made.model, natural, made.q, h=1e-5, duration=0.03, tau=lambda t, q, qd: od.models.squeezer_torque(q), every=30
    )
    theta = np.unwrap(motion.q, axis=0)[-1][list(od.models.squeezer_order())]
    published = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
                 0.5347301163226948, 1.048080741042263)  # fmt: skip
    np.testing.assert_allclose(theta, published, atol=4e-4)
    model = od.models.pendulum()
    held = fm.trapezoidal_motion(
        model, fm.natural(model), [0.4], h=1e-2, duration=1.0,
        tau=lambda t, q, qd: od.gravity_force(model, q) + 0.1 * ca.cos(t) + 0 * qd,
    )  # fmt: skip
    H = float(od.mass_matrix(model, ca.DM([0.4])))
    assert held.q[-1, 0] == pytest.approx(0.4 + 0.1 / H * (1 - np.cos(1.0)), abs=1e-5)


def test_wrenches_act_as_in_joint_space():
    model = od.models.pendulum()
    loads = od.Loads(external=(model.body_names[0],))
    f_ext = np.array([[0, 0.2, 0, 0, 0, 0.0]]).T
    motion = swing(loads=loads, f_ext=f_ext, h=1e-2)
    qdd = od.forward_dynamics(model, ca.DM([0.0]), ca.DM([0.0]), ca.DM([0.0]), ca.DM(f_ext), loads=loads)
    assert motion.q[1, 0] == pytest.approx(float(qdd) * 1e-4 / 2, rel=1e-2)
    assert abs(swing(h=1e-2).q[1, 0] - motion.q[1, 0]) > 1e-6


# Records, progress, errors


def test_fewer_instants_are_kept_and_progress_is_told():
    told = []
    motion = swing(every=50, progress=lambda done, steps: told.append((done, steps)))
    whole = swing()
    assert motion.t.shape == (11,)
    assert motion.lam.shape == (11, whole.lam.shape[1])
    close(motion.x, whole.x[::50])
    assert told[-1] == (500, 500)
    assert "11 instants from 0 to 0.5 s" in str(motion)
    assert motion.trajectory().duration == pytest.approx(0.5)


@pytest.mark.slow
def test_a_step_that_does_not_converge_tells_time_row_and_remedy():
    """Half a second in one step of a fast tree; the motion so far is not lost."""
    model, natural, s, _ = tumbling()
    with pytest.raises(fm.StepError, match=r"the step to t = .* does not converge: .* smaller h, more iter") as raised:
        fm.trapezoidal_motion(model, natural, s.q, 10 * s.qd, h=0.25, duration=10.0, every=2)
    error = raised.value
    assert isinstance(error, fm.IntegrationError)
    assert error.row in natural.constraint_names
    assert error.row in str(error)
    assert error.time > error.motion.t[-1]
    assert not error.residual <= 5e-7
    assert np.isfinite(error.motion.x).all()
    again = pickle.loads(pickle.dumps(error))  # as processes send it
    assert (str(again), again.time, again.row) == (str(error), error.time, error.row)
    close(again.motion.q, error.motion.q)
    with pytest.raises(fm.StepError, match="does not converge") as raised:
        fm.trapezoidal_motion(model, natural, s.q, s.qd, h=1e-2, duration=1.0, iterations=1)
    assert raised.value.time == pytest.approx(1e-2)
    assert len(raised.value.motion.t) == 1
    close(raised.value.motion.trajectory().sample([0.0, 1.0]), [s.q, s.q], 1e-9)  # the start alone


@pytest.mark.slow
def test_nan_is_an_error_at_the_step_where_it_appears():
    with pytest.raises(fm.StepError, match=r"the step to t = 0\.301 s") as raised:
        swing(tau=lambda t, q, qd: ca.sqrt(0.3005 - t), every=20)
    assert raised.value.motion.t[-1] == pytest.approx(0.3)
    with pytest.raises(fm.StepError, match=r"the step to t = 1\.003 s") as raised:
        swing(tau=lambda t, q, qd: ca.sqrt(1.0025 - t), every=20, duration=2.0)
    assert raised.value.motion.t[-1] == pytest.approx(1.0)


def test_one_step_between_instants_that_does_not_converge_is_an_error():
    """A pulse in the step to 0.031 s alone; the steps to the next instant, at 0.04 s, converge."""
    pulse = {"tau": lambda t, q, qd: 1e4 * ca.fmax(0, 1 - ca.fabs(t - 0.031) / 1e-3), "iterations": 1}
    with pytest.raises(fm.StepError, match=r"the step to t = 0\.031 s") as raised:
        swing(every=20, tolerance=1e-5, **pulse)
    assert raised.value.motion.t[-1] == pytest.approx(0.02)


@pytest.mark.slow
def test_starts_must_keep_the_constraints(rng):
    made, natural = row(2)
    options = {"h": 0.01, "duration": 0.1}
    with pytest.raises(ValueError, match=r"x at the start violates coupler\d: .* assemble it first, q = od.assemble_q"):
        fm.trapezoidal_motion(made.model, natural, made.q + 0.1 * rng.normal(size=5), **options)
    with pytest.raises(ValueError, match=r"xd at the start violates .*od.assemble_qd"):
        fm.trapezoidal_motion(made.model, natural, made.q, rng.normal(size=5), **options)
    x, xd = at(made.model, natural, made.q, made.qd)
    motion = fm.trapezoidal_motion(made.model, natural, x=x, xd=xd, **options)
    close(motion.x[-1], fm.trapezoidal_motion(made.model, natural, made.q, made.qd, **options).x[-1])


@pytest.mark.slow
def test_small_velocities_must_keep_the_constraints_too():
    """An error of 1e-5 of the largest velocity, which is a micrometer per second."""
    made, natural = row(2)
    x, xd = (flat(y) for y in at(made.model, natural, made.q, 1e-6 * np.array(made.qd)))
    options = {"x": x, "h": 0.01, "duration": 0.01}
    assert np.abs(xd).max() < 1.1e-6
    fm.trapezoidal_motion(made.model, natural, xd=xd, **options)
    for k in range(natural.n):
        if xd[k] == 0:
            with pytest.raises(ValueError, match="xd at the start violates"):
                fm.trapezoidal_motion(made.model, natural, xd=xd + 1e-11 * np.eye(natural.n)[k], **options)


@pytest.mark.slow
def test_velocities_of_no_branch_are_told():
    """A row of four-bars lies flat, where bars may leave the line up or down; coupler rates that differ have no
    acceleration."""
    made, natural = row(2)
    upright = [name.endswith(".z") for name in natural.names]
    x = np.where(upright, 0.0, natural.x + 1)
    start = {"h": 1e-3, "duration": 1e-3, "x": x}
    fm.trapezoidal_motion(made.model, natural, xd=np.where(upright, 1.0, 0.0), **start)
    with pytest.raises(ValueError, match=r"no acceleration at the start satisfies .* at a singular position"):
        fm.trapezoidal_motion(made.model, natural, xd=np.where(upright, np.arange(6.0), 0.0), **start)


@pytest.mark.slow
def test_iterations_are_counted():
    """One for a falling body; a block of steps has the most of them."""
    builder = od.ModelBuilder("stone")
    builder.add_body("stone", od.Translation(), mass=1.0)
    stone = builder.build()
    falling = fm.trapezoidal_motion(stone, fm.natural(stone), np.zeros(3), h=0.01, duration=0.05)
    assert falling.iterations.tolist() == [0, 1, 1, 1, 1, 1]
    pulse = {"tau": lambda t, q, qd: 1e4 * ca.fmax(0, 1 - ca.fabs(t - 0.031) / 1e-3), "duration": 0.1}
    each, blocks = swing(**pulse).iterations, swing(every=20, **pulse).iterations
    assert blocks[1:].tolist() == each[1:].reshape(-1, 20).max(axis=1).tolist()
    assert len(set(blocks[1:])) > 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"h": 0.0}, ValueError, "h .* must be positive"),
        ({"alpha": ca.SX.sym("a")}, TypeError, "trapezoidal_motion: alpha must be numbers, got the expression"),
        ({"mu": ca.MX.sym("mu")}, TypeError, "trapezoidal_motion: mu must be numbers, got the expression"),
        (
            {"tau": lambda t, q, qd: ca.SX.sym("k") * q},
            ValueError,
            "trapezoidal_motion: tau returns the symbols k, which are not",
        ),
        ({"duration": np.inf}, ValueError, "the duration .* must be finite"),
        ({"every": 0}, ValueError, "every must be at least 1"),
        ({"method": "newton"}, ValueError, "method must be one of penalty, augmented"),
        ({"mu": -1.0}, ValueError, "mu .* must not be negative"),
        ({"project": 1}, TypeError, "project must be True or False"),
        ({"tau": [1.0, 2.0]}, ValueError, "tau"),
        ({"tau": lambda t, q, qd: ca.vertcat(q, q)}, ValueError, r"tau must return 1 entries, got shape \(2, 1\)"),
        ({"tau": lambda t, q, qd: 1 / 0}, ValueError, "trapezoidal_motion: tau: the function raised ZeroDivisionError"),
        ({"f_ext": np.zeros((6, 1))}, ValueError, "f_ext must be finite numbers, 6 x 0"),
        (
            {"f_ext": [np.nan] * 6, "loads": od.Loads(external=("link1",))},
            ValueError,
            "f_ext must be finite numbers, 6 x 1",
        ),
        ({"x": [0.0]}, ValueError, "give the start as q"),
        (
            {"step": ca.Function("f", [], [])},
            TypeError,
            "step must be a Function with the inputs and outputs of trapezoidal_step",
        ),
        ({"tolerance": 0}, ValueError, "tolerance must be positive"),
        ({"iterations": 0}, ValueError, "iterations must be at least 1"),
    ],
)
@pytest.mark.slow
def test_arguments_that_it_cannot_take(options, error, message):
    with pytest.raises(error, match=message):
        swing(**options)


@pytest.mark.parametrize("given", [{"mass:{}": ca.SX.sym("m")}, {"gravity": ca.SX.sym("g", 3)}])
def test_symbols_need_numbers_first(given):
    model = od.models.pendulum()
    symbolic = od.with_parameters(model, {key.format(model.body_names[0]): value for key, value in given.items()})
    for natural in (fm.natural(model), fm.natural(symbolic)):
        with pytest.raises(
            ValueError, match="trapezoidal_motion needs numbers for all masses and inertias and for gravity"
        ):
            fm.trapezoidal_motion(symbolic, natural, [0.0], h=0.1, duration=0.1)


def test_units_of_a_model_with_symbols_are_those_of_its_numbers():
    """Masses that are expressions do not count; a scale needs some numbers only."""
    model = od.models.five_bar_pendulum()
    symbolic = od.with_parameters(model, {"mass:" + model.body_names[0]: ca.SX.sym("m")})
    ours, theirs = (Scales.of(fm.natural(m)) for m in (symbolic, model))
    assert ours.mass == pytest.approx(theirs.mass)  # five equal masses
    close(ours.rows, theirs.rows)


@pytest.mark.parametrize("natural", [None, 3, "x"])
def test_natural_coordinates_are_asked_for(natural):
    model = od.models.pendulum()
    with pytest.raises(TypeError, match=r"natural must be natural coordinates, od\.formulations\.natural"):
        fm.trapezoidal_motion(model, natural, [0.0], h=0.1, duration=0.1)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("lam", ca.DM(2, 1), ValueError, r"lam must be one column of 1 entries, got shape \(2, 1\)"),
        ("xdd", None, TypeError, "xdd must be .*got None"),
        ("h", ca.DM(0), ValueError, "the step h .* must be positive, got DM"),
        ("h", ca.DM(2, 1), ValueError, r"h must be one column of 1 entries, got shape \(2, 1\)"),
    ],
)
def test_columns_of_a_step_that_it_cannot_take(name, value, error, message):
    model = od.models.pendulum()
    natural = fm.natural(model)
    columns = {"x": ca.DM(natural.x), "xd": ca.DM(2, 1), "xdd": ca.DM(2, 1), "lam": ca.DM(1, 1), "tau": ca.DM(1, 1)}
    with pytest.raises(error, match=message):
        fm.trapezoidal_step(model, natural, **({**columns, "h": ca.DM(0.01)} | {name: value}))


@pytest.mark.slow
def test_a_body_that_nothing_holds_is_told():
    """A floating rod without thickness spins freely about its axis; a spring may take the place of inertia."""
    builder = od.ModelBuilder("rod")
    builder.add_body("rod", od.FloatingBase(), mass=1.0, com=(0.1, 0.2, 0.3))
    model = builder.build()
    natural = fm.natural(model)
    with pytest.raises(
        ValueError, match=r"trapezoidal_motion: no inertia resists a motion of u\d\.[xyz], which belongs to rod"
    ):
        fm.trapezoidal_motion(model, natural, model.neutral(), h=0.01, duration=0.1)
    builder = od.ModelBuilder("springs")
    builder.add_body("light", od.Prismatic("z"), stiffness=100.0, damping=10.0)
    builder.add_body("heavy", od.Prismatic("z"), "light", mass=1.0, stiffness=200.0)
    model, loads = builder.build(), od.Loads(passive=True)
    motion = fm.trapezoidal_motion(model, fm.natural(model), [0.1, 0.05], h=0.01, duration=8.0, loads=loads)
    assert motion.q[-1] == pytest.approx([-0.0981, -0.04905], abs=1e-4)  # at rest under its weight


def test_springs_act_by_the_angle_from_their_rest():
    """A spring that rests at 2.5 rad is stretched beyond pi, where atan2 jumps."""
    builder = od.ModelBuilder("spring", gravity=(0, 0, 0))
    builder.add_body(
        "bar", od.Revolute("y"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1), stiffness=1.0, rest=2.5
    )
    model, loads = builder.build(), od.Loads(passive=True)
    options = {"h": 2e-3, "duration": 1.0, "loads": loads}
    motion = fm.trapezoidal_motion(model, fm.natural(model), [3.0], [2.0], **options)
    f = od.function(od.forward_dynamics, model, loads=loads)
    reference = fm.runge_kutta_motion(model, f, [3.0], [2.0], **options)
    path = motion.trajectory()
    close(path.q, reference.q, 1e-5)
    close(motion.energy, reference.energy, 1e-5)
    assert motion.q.min() < -2.0  # q itself is in (-pi, pi]


@pytest.mark.parametrize(
    ("joint", "qd"),
    [
        (od.Revolute("y"), [2.0]),
        (od.Cylindrical("z"), [2.0, 10.0]),
        (od.Planar(), [10.0, -7.0, 2.0]),
        (od.FloatingBase("euler_zyx"), [10.0, -7.0, 5.0, 2.0, 0.0, 0.0]),
        (od.Universal("x", "y"), [2.0, 0.0]),
        (od.Euler("xyz"), [0.0, 0.0, 2.0]),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.slow
def test_trajectories_count_turns_but_leave_lengths(joint, qd):
    """Bodies that turn three times; sliders move by 10 m from one instant to the next."""
    builder = od.ModelBuilder("top", gravity=(0, 0, 0))
    builder.add_body("top", joint, mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = builder.build()
    motion = fm.trapezoidal_motion(model, fm.natural(model), np.zeros(model.nq), qd, h=0.02, duration=10.0, every=50)
    path = motion.trajectory()
    close(path.q, np.outer(path.t, qd), 1e-2)
    assert path.position_errors.shape == path.velocity_errors.shape == (11, 0)
    assert repr(motion) == "<NaturalMotion of 'top': 11 instants, t = 0 to 10 s>"


@pytest.mark.slow
def test_trajectories_take_one_loop_or_several():
    made, natural = row(2)
    motion = fm.trapezoidal_motion(made.model, natural, made.q, made.qd, h=0.01, duration=0.05)
    several = motion.trajectory(made.loops)
    assert np.abs(several.position_errors).max() < 1e-10
    close(motion.trajectory(made.loops[0]).position_errors, several.position_errors[:, :2], 1e-12)
    with pytest.raises(TypeError, match="constraints must be"):
        motion.trajectory(3)


def test_the_error_of_a_step_that_is_not_finite_says_so():
    with pytest.raises(fm.StepError, match="its results are not finite; the largest error before it is"):
        swing(tau=lambda t, q, qd: ca.sqrt(0.3005 - t))
