"""Natural coordinates: which points and vectors are chosen, their conditions, and the same mechanics as in q."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from tests.helpers import TIGHT, TREES, State, close, flat, tree

fm = od.formulations

TAKEN = [key for key in TREES if not key.startswith(("helical", "custom", "multi_dof"))]
BRICARD = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
BRICARD_AXES = "yzxyzx"


def five_bars() -> od.Model:
    """The spatial pendulum of five bars whose end closes to Bricard's mechanism [GJB94, figures 8.21 and 8.22]."""
    builder = od.ModelBuilder("five_bars")
    for k in range(5):
        bar = BRICARD[k + 1] - BRICARD[k]
        builder.add_body(
            f"bar{k + 1}", od.Revolute(BRICARD_AXES[k]), f"bar{k}" if k else "world", mass=1.0, com=bar / 2,
            origin=BRICARD[k] - BRICARD[k - 1] if k else (0, 0, 0), inertia=np.eye(3) / 12 - np.diag(bar**2) / 13,
        )  # fmt: skip
    builder.add_frame("base", "world")
    return builder.build()


def bricard_loop() -> od.Loop:
    along_x = ((0, 0, 1), (1, 0, 0), (0, 1, 0))
    return od.Loop("base", "bar5", "revolute", (along_x, BRICARD[5]), (along_x, BRICARD[5] - BRICARD[4]))


def state(model: od.Model, natural, rng) -> tuple[State, ca.DM, ca.DM]:
    s = State.of(model, rng)
    x = fm.natural_from_q(model, natural, ca.DM(s.q))
    return s, x, fm.natural_velocity(model, natural, ca.DM(s.q), ca.DM(s.qd))


def transformation(model: od.Model, natural, s: State) -> tuple[np.ndarray, np.ndarray]:
    """R_A = d(xd)/d(qd) and Sc = d(xd)/dt at qdd = 0."""
    q, qd = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    xd = fm.natural_velocity(model, natural, q, qd)
    f = ca.Function("R", [q, qd], [ca.jacobian(xd, qd), ca.jtimes(xd, q, model.q_dot(q, qd))])
    R, Sc = f(s.q, s.qd)
    return R.full(), Sc.full().ravel()


@pytest.mark.parametrize("key", TAKEN)
def test_the_mechanics_of_a_tree_is_that_in_joint_coordinates(rng, key):
    model = tree(key)
    natural = fm.natural(model)
    s, x, xd = state(model, natural, rng)
    R, Sc = transformation(model, natural, s)
    J = fm.natural_jacobian(model, natural, x)
    M = fm.natural_mass_matrix(model, natural, x).full()
    Q = flat(fm.natural_force(model, natural, x, xd, ca.DM(s.tau)))
    q, qd = ca.DM(s.q), ca.DM(s.qd)
    assert natural.rank(x) == natural.m == natural.n - model.nv
    close(fm.natural_constraints(model, natural, x), np.zeros(natural.m))
    close(J @ xd, np.zeros(natural.m))
    close(R @ s.qd, flat(xd))
    close(fm.natural_jacobian_rate(model, natural, x, xd), flat(J @ Sc))
    close(R.T @ M @ R, od.mass_matrix(model, q).full())
    close(R.T @ (M @ Sc - Q), flat(od.bias_force(model, q, qd)) - s.tau)
    close(xd.T @ M @ xd / 2, flat(od.kinetic_energy(model, q, qd)))


def test_five_bars_have_the_coordinates_of_the_book():
    model = five_bars()
    natural = fm.natural(
        model, points={"tip": ("bar5", BRICARD[5] - BRICARD[4])}, vectors={"tip axis": ("bar5", (1, 0, 0))}
    )
    assert (natural.n, natural.m, natural.degrees_of_freedom()) == (30, 25, 5)
    closed = fm.natural(model, bricard_loop())
    assert (closed.n, closed.m, closed.degrees_of_freedom(), closed.redundant) == (24, 24, 1, 1)


def test_numbers_and_expressions_agree(rng):
    model = tree("forest")
    natural = fm.natural(model)
    s, x, xd = state(model, natural, rng)
    tau = ca.DM(s.tau)
    values = {"x": x, "xd": xd, "tau": tau, "q": ca.DM(s.q), "qd": ca.DM(s.qd)}
    for algorithm in (
        fm.natural_mass_matrix, fm.natural_constraints, fm.natural_jacobian, fm.natural_jacobian_rate,
        fm.natural_force, fm.natural_from_q, fm.natural_velocity, fm.q_from_natural, fm.qd_from_natural,
    ):  # fmt: skip
        function = od.function(algorithm, model, natural)
        given = [values[name] for name in function.name_in()]
        direct = algorithm(model, natural, *given)
        assert isinstance(direct, ca.DM)
        close(function(*given), flat(direct), TIGHT)
        symbols = [ca.MX.sym(name, *value.shape) for name, value in zip(function.name_in(), given, strict=True)]
        close(ca.Function("f", symbols, [algorithm(model, natural, *symbols)])(*given), flat(direct), TIGHT)


def test_the_jacobian_is_the_derivative_of_the_conditions():
    model = tree("forest")
    natural = fm.natural(model)
    x, xd = ca.SX.sym("x", natural.n), ca.SX.sym("xd", natural.n)
    J = ca.jacobian(fm.natural_constraints(model, natural, x), x)
    rng = np.random.default_rng(5)
    at = rng.normal(size=natural.n), rng.normal(size=natural.n)
    close(ca.Function("J", [x], [fm.natural_jacobian(model, natural, x)])(at[0]), ca.Function("J", [x], [J])(at[0]))
    rate = -ca.jtimes(J @ xd, x, xd)
    ours = fm.natural_jacobian_rate(model, natural, x, xd)
    close(ca.Function("c", [x, xd], [ours])(*at), ca.Function("c", [x, xd], [rate])(*at))
