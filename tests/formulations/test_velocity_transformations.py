"""Formulation B of open chains: R, Sc, H, C and accelerations equal those of the recursive algorithms."""

from __future__ import annotations

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.dynamics.kinematics import point_acceleration_6d, point_velocity_6d
from ocp_dyn.formulations import stages
from ocp_dyn.formulations.velocity_transformations import supporting_dofs
from tests.formulations.mechanisms import MECHANISMS
from tests.helpers import (
    QUICK_TREES,
    TREES,
    State,
    add_random,
    close,
    evaluate,
    flat,
    mostly_slow,
    rate_of,
    symbols,
    tree,
)

b = od.formulations
ALGORITHMS = (
    b.velocity_transformation, b.velocity_products, b.projected_equations, b.forward_dynamics_formulation_b,
)  # fmt: skip
MODELS = {
    "human": od.models.human(),
    "compass": od.models.compass_walker(),
    "random": od.random_tree(9, 2.0, rng=np.random.default_rng(2)),
}
ALL = od.Loads(passive=True, armature=True)


def motions(model: od.Model, s: State) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of all bodies and accelerations at qdd = 0, each [center of gravity; angular], by the kinematics of
    points."""
    v, a = [], []
    for name, inertia in zip(model.body_names, model.I[1:], strict=True):
        center = flat(inertia.h / inertia.m) if float(inertia.m) else np.zeros(3)
        at = flat(point_velocity_6d(model, name, DM(s.q), DM(s.qd), center))
        products = flat(point_acceleration_6d(model, name, DM(s.q), DM(s.qd), point=center))
        v.append([*at[3:], *at[:3]])
        a.append([*products[3:], *products[:3]])
    return np.ravel(v), np.ravel(a)


def check(model: od.Model, s: State, scale: float = 1.0, **options) -> None:
    """All results against the kinematics of points, CRBA, RNEA and ABA; scale: of the largest numbers."""
    v, a = motions(model, s)
    close(evaluate(b.velocity_transformation, model, args=[s.q]) @ s.qd / scale, v / scale)
    close(flat(b.dependent_velocity(model, DM(s.q), DM(s.qd))) / scale, v / scale)
    close(evaluate(b.velocity_products, model, args=[s.q, s.qd]) / scale, a / scale)
    for got, expected in zip(
        evaluate(b.projected_equations, model, args=[s.q, s.qd], **options),
        evaluate(od.equations_of_motion, model, args=[s.q, s.qd], **options), strict=True,
    ):  # fmt: skip
        close(got / np.abs(expected).max(), expected / np.abs(expected).max())
    qdd = evaluate(od.forward_dynamics, model, args=[s.q, s.qd, s.tau], **options)
    close(evaluate(b.forward_dynamics_formulation_b, model, args=[s.q, s.qd, s.tau], **options), qdd)


@mostly_slow("key", TREES, QUICK_TREES)
@pytest.mark.slow
def test_every_joint(rng, key):
    model = tree(key)
    check(model, State.of(model, rng))


@pytest.mark.parametrize("key", MODELS)
@pytest.mark.slow
def test_ready_models(rng, key):
    model = MODELS[key]
    check(model, State.of(model, rng), loads=ALL)


@pytest.mark.slow
@pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
def test_a_robot_from_a_file(rng):
    model = od.robots.load("solo12")
    check(model, State.of(model, rng), loads=ALL)


def test_accelerations_are_rates_of_velocities(rng):
    """d/dt (R qd) = R qdd + Sc, and the recursion of velocities is the product."""
    model = tree("multi_dof", rng)
    q, qd, qdd = symbols(model)
    R = b.velocity_transformation(model, q)
    rate = rate_of(R @ qd, model, q, qd, qdd) - R @ qdd - b.velocity_products(model, q, qd)
    s = State.of(model, rng)
    close(ca.Function("rate", [q, qd, qdd], [rate])(s.q, s.qd, s.qdd), np.zeros(6 * model.nb))


@pytest.mark.slow
def test_external_wrenches_and_loads(rng):
    model = MODELS["human"]
    s = State.of(model, rng)
    loads = od.Loads(passive=True, armature=True, external=("foot_l", "hand_r", "foot_l"))
    f_ext = 100 * rng.normal(size=(6, 3))
    for algorithm, reference, given in (
        (b.projected_equations, od.equations_of_motion, [s.q, s.qd, f_ext]),
        (b.forward_dynamics_formulation_b, od.forward_dynamics, [s.q, s.qd, s.tau, f_ext]),
    ):
        results = (evaluate(a, model, args=given, loads=loads) for a in (algorithm, reference))
        got, expected = (np.concatenate([np.ravel(x) for x in r]) for r in results)
        close(got, expected, 1e-9)  # the human's H has a condition of 1e5


def test_springs_dampers_and_rotors(rng):
    model = MECHANISMS["four_bar"](rng).model
    assert any(model.dofs.damping)
    assert any(model.dofs.stiffness)
    check(model, State.of(model, rng), loads=ALL)


@pytest.mark.slow
def test_scales(rng):
    length, mass = 2e3, 3e-5
    model = tree("forest").scale(length, mass).with_gravity((0.3 * length, 0, -9.8 * length))
    s = State.of(model, rng)
    by_q, by_v = model.lengths
    s.q[by_q] *= length
    for x in (s.qd, s.qdd):
        x[by_v] *= length
    s.tau = flat(od.inverse_dynamics(model, DM(s.q), DM(s.qd), DM(s.qdd)))
    check(model, s, length)


def test_a_mechanism_far_from_the_origin_keeps_its_levers(rng):
    model = MODELS["human"]
    s = State.of(model, rng)
    near, far = s.q.copy(), s.q.copy()
    far[:3] += (1e8, -3e8, 2e8)
    for one, other in zip(*(evaluate(b.projected_equations, model, args=[q, s.qd]) for q in (near, far)), strict=True):
        close(other, one, 1e-13)


@pytest.mark.slow
def test_a_fast_mechanism_keeps_its_accelerations(rng):
    """A velocity that the whole tree has does not enter C, and not Sc."""
    model = MODELS["human"]
    s = State.of(model, rng)
    slow, fast = s.qd.copy(), s.qd.copy()
    fast[:3] += (1e8, -3e8, 2e8)
    H_C = (evaluate(b.projected_equations, model, args=[s.q, qd]) for qd in (slow, fast))
    Sc = (evaluate(b.velocity_products, model, args=[s.q, qd]) for qd in (slow, fast))
    close(*(C for _, C in H_C), 1e-13)
    close(*Sc, 1e-13)


# The pattern of R


@mostly_slow("key", TREES, ("forest", "star"))
def test_R_is_zero_where_a_dof_does_not_move_a_body(rng, key):
    """Nonzeros stand in the supporting columns only, and rows of translations hold no angular half."""
    model = tree(key)
    pattern = np.array(DM(od.function(b.velocity_transformation, model).sparsity_out(0), 1).full()).reshape(
        model.nb, 6, model.nv
    )
    for i, _ in model.edges:
        moving = set(np.flatnonzero(pattern[i - 1].any(axis=0)))
        assert moving == set(supporting_dofs(model, i))
    lengths = model.lengths[1]
    assert not pattern[:, 3:, lengths].any()


def test_a_floating_base_translates_by_constants():
    """Columns of (8.105) hold no symbols: the velocities are along the world's axes."""
    model = tree("floating")
    R = b.velocity_transformation(model, SX.sym("q", model.nq))
    assert not ca.symvar(R[:, :3])
    assert not ca.symvar(b.velocity_transformation(od.models.five_link_biped(), SX.sym("q", 5))[4, :])


def test_planar_mechanisms_stay_planar():
    """Out of the plane nothing is stored; of the angular half one row is."""
    model = od.models.pendulum(3)
    R = b.velocity_transformation(model, SX.sym("q", 3))
    assert all(R[k + 1, :].nnz() == R[k + 3, :].nnz() == R[k + 5, :].nnz() == 0 for k in range(0, 18, 6))


# Kinds of numbers, parameters


@pytest.mark.slow
def test_inertias_gravity_and_lengths_as_inputs(rng):
    model = MODELS["random"]
    body, joint = model.body_names[4], model.joint_names[3]
    names = ("gravity", f"inertia:{body}", f"origin:{joint}", f"mass:{model.body_names[2]}")
    s = State.of(model, rng)
    given = [s.q, s.qd, s.tau, (1, 2, 3), (2, 0.1, 0.2, 0.3, 3, 0.1, 4, 0.2, 0.3, 5), (0.3, 0.2, 0.1), 3.0]
    f, g = (od.function(a, model, parameters=names) for a in (b.forward_dynamics_formulation_b, od.forward_dynamics))
    close(f(*given), g(*given))


# Stages


def test_stages_add_up(rng):
    """Each stage has its numbers, and the last ones are those of the algorithms."""
    model = tree("forest")
    q, qd, tau = symbols(model)
    found = stages(model, q, qd, tau)
    s = State.of(model, rng)
    f = ca.Function("f", [q, qd, tau], list(found), ["q", "qd", "tau"], list(found._fields))
    values = dict(zip(found._fields, f.call([DM(s.q), DM(s.qd), DM(s.tau)]), strict=True))
    H, C = evaluate(b.projected_equations, model, args=[s.q, s.qd])
    close(values["assembly"], np.concatenate([H[np.tril_indices(model.nv)[::-1]], C]))
    close(values["linear_equations"], evaluate(od.forward_dynamics, model, args=[s.q, s.qd, s.tau]))
    names = ("positions", "velocities", "Sc", "M", "C", "R")
    assert [values[name].numel() for name in names] == [
        (9 + 3 + 3) * model.nb, 6 * model.nb, 6 * model.nb, 6 * model.nb, 6 * model.nb,
        sum(6 * len(supporting_dofs(model, i)) for i, _ in model.edges),
    ]  # fmt: skip
    assert not any(closing.numel() for closing in (values["closing_jacobian"], values["closing_products"]))


def test_stages_grow():
    """Operations of a stage are those that it adds to the stages before it: none is negative."""
    model = od.models.chain(4)
    q, qd, tau = x = [SX.sym(name, 4) for name in ("q", "qd", "tau")]
    found = stages(model, q, qd, tau)
    counts = [
        ca.Function("f", x, [ca.vertcat(*found[: k + 1])], {"cse": True}).n_instructions() for k in range(len(found))
    ]
    assert all(more >= less for less, more in pairwise(counts))


# Errors


def test_joints_without_inertia_are_told():
    builder = od.ModelBuilder("light")
    builder.add_body("a", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    builder.add_body("b", od.Revolute("x"), "a")
    model = builder.build()
    q = DM(2, 1)
    with pytest.raises(od.ModelError, match="no inertia resists joint 'b_joint'"):
        b.forward_dynamics_formulation_b(model, q, q, q)
    H, C = b.projected_equations(model, q, q)
    close(H, [[1, 0], [0, 0]])
    close(C, [0, 0])


def test_a_first_moment_without_mass_is_told():
    model = od.reduce(od.models.pendulum(3))
    q = DM(model.nq, 1)
    with pytest.raises(od.ModelError, match=r"body 'link1' has a first moment but no mass, .* before od.reduce"):
        b.velocity_transformation(model, q)


def test_missing_wrenches_are_told():
    model = od.models.pendulum(2)
    q = DM(2, 1)
    with pytest.raises(ValueError, match="names frames but no f_ext"):
        b.projected_equations(model, q, q, loads=od.Loads(external=("tip",)))
    with pytest.raises(ValueError, match="f_ext must be 6 x 1"):
        b.projected_equations(model, q, q, DM(6, 2), loads=od.Loads(external=("tip",)))


def test_massless_bodies_add_nothing():
    """A joint of two dofs as two joints with a body without mass between them."""
    whole, cut = (od.ModelBuilder(name) for name in ("whole", "cut"))
    rng = np.random.default_rng(1)
    for builder in (whole, cut):
        rng = np.random.default_rng(1)
        add_random(builder, "trunk", od.FloatingBase(), "world", rng)
        options = {"mass": 2, "com": (0.1, 0.2, 0.3), "inertia": (0.4, 0.5, 0.6)}
        builder.add_body("leg", od.Universal("z", "x"), "trunk", emulate=builder is cut, **options)
    one, other = whole.build(), cut.build()
    s = State.of(one, rng)
    for got, expected in zip(
        *(evaluate(b.projected_equations, m, args=[s.q, s.qd]) for m in (other, one)), strict=True
    ):
        close(got, expected)


@pytest.mark.slow
def test_stages_of_closed_chains(rng):
    """With loops the stages of table 8.4 end in the accelerations and forces of (8.114)."""
    closed = MECHANISMS["six_bar"](rng)
    at = closed.state(rng)
    x = [SX.sym(name, 5) for name in ("q", "qd", "tau")]
    found = b.stages(closed.model, *x, constraints=closed.loops)
    f = ca.Function("f", x, [found.linear_equations, found.closing_products, found.closing_jacobian])
    solution, products, jacobian = f(*at)
    close(solution, ca.vertcat(*b.closed_chain_dynamics(closed.model, closed.loops, *at)))
    close(products, od.constraint_hessian(closed.model, closed.loops, *at[:2]))
    G = od.constraint_jacobian(closed.model, closed.loops, at[0]).full()
    close(np.linalg.norm(flat(jacobian)), np.linalg.norm(G))
    open_chain, of_none = b.stages(closed.model, *at), b.stages(closed.model, *at, constraints=[])
    close(of_none.linear_equations, open_chain.linear_equations)
