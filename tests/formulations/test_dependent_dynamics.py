"""Accelerations in natural coordinates, against the recursive algorithms."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import formulations as fm
from ocp_dyn.formulations.natural_equations import Scales
from tests.helpers import State, close, flat, tree

pytestmark = pytest.mark.slow

KINDS = ("forest", "mixed", "bases")
METHODS = (
    {}, {"method": "penalty", "iterations": 3}, {"method": "penalty", "alpha": 1e5, "iterations": 5},
    {"method": "matrix_r"},
)  # fmt: skip


@cache
def coordinates(key):
    return fm.natural(tree(key))


def start(model, natural, q, qd):
    """x, xd at joint coordinates."""
    q, qd = ca.DM(q), ca.DM(qd)
    return fm.natural_from_q(model, natural, q), fm.natural_velocity(model, natural, q, qd)


def natural_acceleration(model, natural, q, qd, qdd):
    """xdd by automatic differentiation of xd(q, qd)."""
    Q, V = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    xd = fm.natural_velocity(model, natural, Q, V)
    rate = ca.jtimes(xd, Q, model.q_dot(Q, V)) + ca.jacobian(xd, V) @ ca.DM(qdd)
    return flat(ca.Function("xdd", [Q, V], [rate])(q, qd))


def chosen(options, x):
    """The options, with independent coordinates chosen at x."""
    return {**options, "at": tuple(flat(x))} if options.get("method") == "matrix_r" else options


def check_balance(model, natural, x, xd, tau, xdd, lam, tolerance):
    M, Q = fm.natural_mass_matrix(model, natural, x), fm.natural_force(model, natural, x, xd, tau)
    close(M @ xdd - fm.natural_jacobian(model, natural, x).T @ lam, flat(Q), tolerance)


def paired(names, everywhere):
    """Every name with one method in turn, and one of them with every method."""
    rows = [(name, METHODS[k % len(METHODS)]) for k, name in enumerate(names)]
    rows += [(everywhere, options) for options in METHODS if (everywhere, options) not in rows]
    ids = [f"{name} {' '.join(map(str, options.values())) or 'multipliers'}" for name, options in rows]
    return pytest.mark.parametrize(("name", "options"), rows, ids=ids)


@paired(KINDS, KINDS[0])
def test_trees_accelerate_as_the_recursive_algorithms_say(name, options, rng):
    model, natural = tree(name), coordinates(name)
    s = State.of(model, rng)
    x, xd = start(model, natural, s.q, s.qd)
    tau = ca.DM(s.tau)
    xdd, lam = fm.natural_forward_dynamics(model, natural, x, xd, tau, **chosen(options, x))
    qdd = od.forward_dynamics(model, ca.DM(s.q), ca.DM(s.qd), tau)
    close(xdd, natural_acceleration(model, natural, s.q, s.qd, qdd))
    # lam of penalties is a difference of accelerations times alpha
    check_balance(model, natural, x, xd, tau, xdd, lam, 1e-5 if "penalty" in options.values() else 1e-10)


@paired(["squeezer", "spatial_slider_crank", "n_four_bar", "bricard"], "bricard")
def test_loops_accelerate_as_constrained_dynamics_says(name, options, rng):
    """Bricard's mechanism has a redundant row."""
    made = getattr(od.models, name)()
    model = made.model
    q, qd = made.assemble(made.q, made.qd + rng.normal(size=model.nv))
    natural = fm.natural(model, made.loops, q=q)
    x, xd = start(model, natural, q, qd)
    tau = ca.DM(rng.normal(size=model.nv))
    xdd, lam = fm.natural_forward_dynamics(model, natural, x, xd, tau, **chosen(options, x))
    qdd, _ = od.constrained_dynamics(model, made.loops, ca.DM(q), ca.DM(qd), tau)
    wanted = natural_acceleration(model, natural, q, qd, qdd)
    close(flat(xdd) / np.abs(wanted).max(), wanted / np.abs(wanted).max(), 1e-9)  # loops are closed to 1e-12
    check_balance(model, natural, x, xd, tau, xdd, lam, 1e-5 if "penalty" in options.values() else 1e-9)


def test_errors_of_penalties_shrink_with_alpha_and_with_every_iteration(rng):
    model = tree("chain")
    natural = fm.natural(model)
    s = State.of(model, rng)
    x, xd = start(model, natural, s.q, s.qd)
    exact, _ = fm.natural_forward_dynamics(model, natural, x, xd, ca.DM(s.tau))

    def error(alpha, iterations=1):
        options = {"method": "penalty", "alpha": alpha, "iterations": iterations}
        xdd, _ = fm.natural_forward_dynamics(model, natural, x, xd, ca.DM(s.tau), **options)
        return float(ca.norm_inf(xdd - exact))

    assert error(1e5) == pytest.approx(10 * error(1e6), rel=0.01)
    assert error(1e5, 2) < 1e-3 * error(1e5)
    scaled = fm.natural_forward_dynamics(
        model, natural, x, xd, ca.DM(s.tau), method="penalty", alpha=(1e6,) * natural.m, iterations=3
    )[0]
    close(scaled, exact)


def test_redundant_rows_share_forces_of_least_norm():
    """In the mechanism of Bricard lam is orthogonal, in the units of the rows, to the forces that do nothing."""
    made = od.models.bricard(length=2.0, mass=3.0)
    natural = fm.natural(made.model, made.loops)
    x, xd = start(made.model, natural, made.q, made.qd)
    _, lam = fm.natural_forward_dynamics(made.model, natural, x, xd, ca.DM(5, 1))
    J = fm.natural_jacobian(made.model, natural, x).full()
    U, sizes, _ = np.linalg.svd(J)
    assert sizes[-1] < 1e-10 * sizes[0]
    assert sizes[-2] > 1e-3 * sizes[0]
    units = flat(Scales.of(natural).penalties(1.0))
    idle = U[:, -1]
    assert abs(idle @ (flat(lam) / units)) < 1e-9 * np.linalg.norm(flat(lam))


def test_stabilization_pulls_back_to_the_constraints(rng):
    """Phi_xdd + 2 Omega mu Phi_dot + Omega^2 Phi = 0, by every method."""
    model = tree("chain")
    natural = fm.natural(model)
    s = State.of(model, rng)
    x, xd = start(model, natural, s.q, s.qd)
    x, xd = x + 1e-3 * rng.normal(size=natural.n), xd + 1e-3 * rng.normal(size=natural.n)
    J, c = fm.natural_jacobian(model, natural, x), fm.natural_jacobian_rate(model, natural, x, xd)
    wanted = c - 2 * 10 * 0.7 * (J @ xd) - 100 * fm.natural_constraints(model, natural, x)
    for options in METHODS:
        xdd, _ = fm.natural_forward_dynamics(
            model, natural, x, xd, ca.DM(s.tau), omega=10.0, mu=0.7, **chosen(options, x)
        )
        close(J @ xdd, flat(wanted))


def test_masses_may_be_inputs_and_bodies_massless(rng):
    model = tree("chain")
    natural = fm.natural(model)
    s = State.of(model, rng)
    x, xd = start(model, natural, s.q, s.qd)
    f = od.function(fm.natural_forward_dynamics, model, natural, parameters=("gravity", "inertia:b4"))
    heavy = model.with_inertia("b4", mass=3.0).with_gravity((0.0, 1.0, 2.0))
    xdd, lam = f(x, xd, s.tau, (0.0, 1.0, 2.0), flat(od.inertial_parameters(heavy))[-10:])
    direct = fm.natural_forward_dynamics(heavy, natural, x, xd, ca.DM(s.tau))
    close(xdd, flat(direct[0]))
    close(lam, flat(direct[1]))
    light = model.with_inertia("b2", mass=0.0, com=(0, 0, 0), inertia=(0, 0, 0))
    for method, options in (("multipliers", {}), ("penalty", {"iterations": 3}), ("matrix_r", {"at": tuple(flat(x))})):
        xdd, _ = fm.natural_forward_dynamics(light, natural, x, xd, ca.DM(s.tau), method=method, **options)
        qdd = od.forward_dynamics(light, ca.DM(s.q), ca.DM(s.qd), ca.DM(s.tau))
        close(xdd, natural_acceleration(light, natural, s.q, s.qd, qdd), 1e-9)  # lighter, so faster


def test_loads_act_as_in_joint_space(rng):
    model = tree("chain")
    natural = fm.natural(model)
    s = State.of(model, rng)
    x, xd = start(model, natural, s.q, s.qd)
    loads = od.Loads(external=("b2", "b4"))
    f_ext = ca.DM(rng.normal(size=(6, 2)))
    xdd, _ = fm.natural_forward_dynamics(model, natural, x, xd, ca.DM(s.tau), f_ext, loads=loads)
    qdd = od.forward_dynamics(model, ca.DM(s.q), ca.DM(s.qd), ca.DM(s.tau), f_ext, loads=loads)
    close(xdd, natural_acceleration(model, natural, s.q, s.qd, qdd))
    f = od.function(fm.natural_forward_dynamics, model, natural, loads=loads)
    assert str(f).startswith("NC_FD:(x[21],xd[21],tau[4],f_ext[6x2])->(xdd[21],lam_x[17])")
    close(f(x, xd, s.tau, f_ext)[0], flat(xdd))


def test_a_singular_position_has_no_independent_coordinates():
    made = od.models.n_four_bar(1)
    natural = fm.natural(made.model, made.loops)
    flat_q = np.array([np.pi / 2, -np.pi / 2, np.pi / 2])
    x, xd = start(made.model, natural, flat_q, np.zeros(3))
    with pytest.raises(ValueError, match="at: a singular position: Phi_x has the rank"):
        fm.natural_forward_dynamics(made.model, natural, x, xd, ca.DM(3, 1), method="matrix_r", at=tuple(flat(x)))
    for method in ("multipliers", "penalty"):
        xdd, _ = fm.natural_forward_dynamics(made.model, natural, x, xd, ca.DM(3, 1), method=method)
        assert np.isfinite(flat(xdd)).all()


@pytest.mark.parametrize("method", ["multipliers", "penalty", "matrix_r"])
def test_a_locked_mechanism_rests(method):
    """Two bars on one ground, joined at their tips: a triangle."""
    builder = od.ModelBuilder("triangle")
    for name, place in (("left", 0.0), ("right", 1.0)):
        builder.add_body(
            name, od.Revolute("y"), origin=(place, 0, 0), mass=1.0, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1)
        )
    model = builder.build()
    end = (np.eye(3), (0, 0, 1))
    loop = od.Loop("left", "right", [(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)], end, end, label="tip")
    q = np.array([np.pi / 6, -np.pi / 6])
    natural = fm.natural(model, loop, q=q)
    assert natural.degrees_of_freedom() == 0
    x, xd = start(model, natural, q, np.zeros(2))
    options = {"iterations": 3} if method == "penalty" else {}
    xdd, lam = fm.natural_forward_dynamics(model, natural, x, xd, ca.DM(2, 1), method=method, **options)
    close(xdd, np.zeros(natural.n))
    check_balance(model, natural, x, xd, ca.DM(2, 1), xdd, lam, 1e-6 if method == "penalty" else 1e-10)
    motion = fm.trapezoidal_motion(model, natural, q, h=0.01, duration=0.1)
    close(motion.x[-1], flat(x))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "newton"}, "method must be one of multipliers, penalty, matrix_r, got 'newton'"),
        ({"method": "penalty", "alpha": (1.0, 2.0)}, "alpha must be one number or 17, one per row"),
        ({"method": "penalty", "alpha": -1.0}, "alpha must be positive"),
        ({"method": "penalty", "iterations": 0}, "iterations must be at least 1"),
        ({"omega": -1.0}, "omega .* must not be negative"),
        ({"method": "matrix_r", "at": (1.0,)}, "at must be 21 finite numbers"),
    ],
)
def test_options_that_it_cannot_take(options, message):
    model = tree("chain")
    natural = fm.natural(model)
    x = ca.DM(natural.x)
    with pytest.raises(ValueError, match=message):
        fm.natural_forward_dynamics(model, natural, x, x, ca.DM(4, 1), **options)


@pytest.mark.parametrize("method", ["multipliers", "penalty", "matrix_r"])
def test_a_body_without_inertia_is_told(method):
    builder = od.ModelBuilder("rod")
    builder.add_body("rod", od.Spherical(), mass=1.0, com=(0.1, 0.2, 0.3))
    model = builder.build()
    natural = fm.natural(model)
    x, xd, tau = ca.DM(natural.x), ca.DM(natural.n, 1), ca.DM(3, 1)
    with pytest.raises(ValueError, match=r"no inertia resists a motion of u\d\.[xyz], which belongs to rod: give"):
        fm.natural_forward_dynamics(model, natural, x, xd, tau, method=method)


def test_a_mechanism_without_coordinates_is_told():
    """A bar that a loop fastens to the ground: all its points are constants."""
    builder = od.ModelBuilder("bar")
    builder.add_frame("base", "world")
    builder.add_body("bar", od.Revolute("y"), "base", mass=1.0, inertia=(0.1, 0.1, 0.1), joint_name="hinge")
    model = builder.build()
    natural = fm.natural(model, od.Loop("base", "bar", "fixed"))
    with pytest.raises(
        ValueError, match=r"the mechanism cannot move, its loops .* lock the joints hinge: .* leave out"
    ):
        fm.trapezoidal_motion(model, natural, [0.0], h=0.01, duration=0.1)
    with pytest.raises(ValueError, match="the mechanism cannot move"):
        od.function(fm.natural_forward_dynamics, model, natural)
