"""The passes over a tree: motions outwards, inertias and forces inwards."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od
from ocp_dyn._autodiff import templated
from ocp_dyn.dynamics.joint_space import articulated_answers
from ocp_dyn.dynamics.kinematics import body_motion
from ocp_dyn.dynamics.recursions import (
    accelerations,
    articulated_bodies,
    classical_accelerations,
    composite,
    composite_forces,
    joint_states,
    poses,
    velocities,
)
from ocp_dyn.spatial_algebra.spatial import Inertia, Transform
from tests.helpers import State, close, random_rotation, tree


@pytest.fixture
def forest(rng):
    model = tree("forest", rng)
    state = State.of(model, rng)
    return model, state, joint_states(model, DM(state.q), DM(state.qd))


def test_motions_outwards(forest):
    """Along one path or over all bodies; before and behind the joint; spatial and classical accelerations."""
    model, state, states = forest
    X0, (v, vp) = poses(model, states), velocities(model, states)
    a, ap = accelerations(model, states, v, DM(state.qdd))
    classical = classical_accelerations(model, states, DM(state.qdd))
    for i, p in model.edges:
        along = {j: states[j] for j in model.path(i)}
        close(velocities(model, along)[0][i], np.array(v[i].full()).ravel())
        close(body_motion(model, i, DM(state.q), DM(state.qd), DM(state.qdd)).a, np.array(a[i].full()).ravel())
        X = states[i].XJ
        close(X.apply(v[p]), np.array(vp[i].full()).ravel())
        close(X.apply(a[p]), np.array(ap[i].full()).ravel())
        close((X @ X0[p]).r, np.array(X0[i].r.full()).ravel())
        close(classical[i].dw, np.array(a[i][:3].full()).ravel())
        close(classical[i].a, np.array((a[i][3:] + ca.cross(v[i][:3], v[i][3:])).full()).ravel())


def test_velocities_of_other_rates(forest, rng):
    """Virtual velocities: linear in the rates, and no velocity of the states enters."""
    model, state, states = forest
    mu = DM(rng.normal(size=model.nv))
    parts = model.split_qd(mu)
    u, _ = velocities(model, states, {i: s.S @ parts[i] for i, s in states.items()})
    expected, _ = velocities(model, joint_states(model, DM(state.q), mu))
    for i, _ in model.edges:
        close(u[i], np.array(expected[i].full()).ravel())


def test_sums_inwards(forest, rng):
    """The ground's sums are those of the whole mechanism about the world's origin; a tip's are its own."""
    model, state, states = forest
    X0 = poses(model, states)
    Ic, Ip = composite(model, states, model.I)
    close(Ic[0].m, [model.mass])
    close(Ic[0].h / model.mass, np.array(od.center_of_mass(model, DM(state.q)).full()).ravel())
    whole = sum((I.to_parent(X0[i]).matrix() for i, I in enumerate(model.I[1:], 1)), start=DM(6, 6))
    close(Ic[0].matrix(), np.array(whole.full()))
    close(Ip[model.nb].matrix(), np.array(model.I[-1].to_parent(states[model.nb].XJ).matrix().full()))
    f = [DM(6, 1), *(DM(rng.normal(size=6)) for _ in range(model.nb))]
    F = composite_forces(model, states, f)
    close(F[0], np.array(sum(X0[i].apply_transpose(f[i]) for i in range(1, model.nb + 1)).full()).ravel())
    close(F[model.nb], np.array(f[-1].full()).ravel())


def test_articulated_inertias(forest, rng):
    """D of a joint at the tips is S' I S; D^-1 of a joint at the ground is its block of H^-1; several right-hand sides."""
    model, state, states = forest
    none, tau = [DM(6, 2)] * (model.nb + 1), DM(rng.normal(size=(model.nv, 2)))
    bodies = articulated_bodies(model, states, tau, none, none)
    H = np.array(od.mass_matrix(model, DM(state.q)).full())
    close(bodies.accelerations(model, states, none, ground=none[0]), np.linalg.solve(H, np.array(tau.full())))
    for i, p in model.edges:
        at = list(model.dofs_of(i))
        if i not in model.parent:
            close(bodies.D[i], H[np.ix_(at, at)])
        if not p:
            close(bodies.D[i], np.linalg.inv(np.linalg.inv(H)[np.ix_(at, at)]))
    _, D = articulated_answers(model, DM(state.q), tau)
    close(D, np.concatenate([np.diag(np.array(bodies.D[i].full())) for i, _ in model.edges]))


class Pair(NamedTuple):
    first: Any
    second: Any


def test_a_step_of_a_recursion_is_traced_once_for_each_structure(rng):
    """Dataclasses, NamedTuples and tuples of symbols go in and come out; numbers and MX take the algebra itself."""
    calls = []

    def step(X: Transform, both: Pair, body: Inertia) -> tuple[Pair, Inertia]:
        calls.append(body)
        return Pair(X.apply(both.first), (both.second, both.second.T)), body.to_parent(X)

    def arguments(kind: Any, columns: int) -> tuple[Any, ...]:
        X = Transform(kind(DM(random_rotation(rng))), kind(DM(rng.normal(size=3))))
        both = Pair(kind(DM(rng.normal(size=6))), kind(DM(rng.normal(size=(2, columns)))))
        return X, both, Inertia(kind(DM(2.0)), kind(DM(rng.normal(size=3))), kind(DM.eye(3)))

    for columns, traced in ((2, 1), (2, 1), (3, 2)):
        given = arguments(SX, columns)
        pair, body = templated(step, *given)
        assert len(calls) == traced
        expected_pair, expected_body = step(*given)
        calls.pop()
        assert isinstance(pair, Pair)
        assert isinstance(body, Inertia)
        close(DM(pair.first), np.array(DM(expected_pair.first).full()).ravel())
        close(DM(pair.second[1]), np.array(DM(expected_pair.second[1]).full()))
        close(DM(body.I), np.array(DM(expected_body.I).full()))
    for kind in (DM, MX):
        before = len(calls)
        for _ in range(2):
            templated(step, *arguments(kind, 2))
        assert len(calls) == before + 2
