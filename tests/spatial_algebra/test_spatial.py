"""The compact spatial algebra against the 6x6 matrices it stands for [RBDA, ch. 2 and app. A]."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn._base.types import sparse
from ocp_dyn.spatial_algebra import spatial
from ocp_dyn.spatial_algebra.rotations import rotation_about, unit_axis
from ocp_dyn.spatial_algebra.spatial import ArticulatedInertia
from tests.helpers import close, random_inertia, random_rotation


def cross_matrix(u: np.ndarray) -> np.ndarray:
    return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])


def crm_matrix(v: np.ndarray) -> np.ndarray:
    w, u = cross_matrix(v[:3]), cross_matrix(v[3:])
    return np.block([[w, np.zeros((3, 3))], [u, w]])


def transform(rng: np.random.Generator) -> od.Transform:
    return od.Transform(DM(random_rotation(rng)), DM(rng.normal(size=3)))


def matrix_of(X: od.Transform) -> np.ndarray:
    """[E, 0; -E r x, E], written out here so that `Transform.matrix` itself is tested."""
    E, r = X.E.full(), X.r.full().ravel()
    return np.block([[E, np.zeros((3, 3))], [-E @ cross_matrix(r), E]])


def inertia(rng: np.random.Generator) -> od.Inertia:
    mass = rng.uniform(0.5, 2.0)
    return od.Inertia.from_com(mass, rng.normal(size=3), random_inertia(rng, mass))


def articulated(rng: np.random.Generator) -> ArticulatedInertia:
    A = rng.normal(size=(6, 6))
    A = A @ A.T
    return ArticulatedInertia(DM(A[:3, :3]), DM(A[:3, 3:]), DM(A[3:, 3:]))


def test_skew_and_vee(rng):
    a, b = rng.normal(size=3), rng.normal(size=3)
    close(spatial.skew(DM(a)) @ b, np.cross(a, b))
    close(spatial.vee(spatial.skew(DM(a))), a)
    symmetric = DM(np.outer(a, a))
    close(spatial.vee(symmetric + spatial.skew(DM(a))), a)


@pytest.mark.parametrize("kind", [SX, ca.MX])
def test_skew_has_a_structurally_zero_diagonal(kind):
    assert spatial.skew(kind.sym("r", 3)).nnz() == 6
    assert spatial.skew(SX(ca.sparsify(DM([0, 0, 1])))).nnz() == 2


def test_cross_products(rng):
    v, m, f = (rng.normal(size=6) for _ in range(3))
    close(spatial.crm(DM(v), DM(m)), crm_matrix(v) @ m)
    close(spatial.crf(DM(v), DM(f)), -crm_matrix(v).T @ f)


def test_transform_is_its_matrix(rng):
    X, Y = transform(rng), transform(rng)
    M = matrix_of(X)
    close(X.matrix(), M)
    close((X @ Y).matrix(), M @ matrix_of(Y))
    close(X.inverse().matrix(), np.linalg.inv(M))
    v = rng.normal(size=6)
    close(X.apply(DM(v)), M @ v)
    close(X.apply_inverse(DM(v)), np.linalg.solve(M, v))
    close(X.apply_force(DM(v)), np.linalg.inv(M).T @ v)
    close(X.apply_transpose(DM(v)), M.T @ v)


def test_transform_moves_points(rng):
    R, p, point = random_rotation(rng), rng.normal(size=3), rng.normal(size=3)
    X = od.Transform.pose(R, p)
    close(X.point(DM(point)), p + R @ point)
    close(X.inverse().point(X.point(DM(point))), point)
    close(od.Transform.identity().matrix(), np.eye(6))


def test_rigid_inertia_is_its_matrix(rng):
    body, X = inertia(rng), transform(rng)
    M, T = body.matrix().full(), matrix_of(X)
    v, a = rng.normal(size=6), rng.normal(size=6)
    close(body.apply(DM(v)), M @ v)
    close(body.force(DM(v), DM(a)), M @ a - crm_matrix(v).T @ (M @ v))
    close(body.to_parent(X).matrix(), T.T @ M @ T)


def test_inertia_from_com_is_the_parallel_axis_theorem(rng):
    mass, c = 1.7, rng.normal(size=3)
    Ic = random_inertia(rng, mass)
    cx = cross_matrix(c)
    expected = np.block([[Ic + mass * cx @ cx.T, mass * cx], [mass * cx.T, mass * np.eye(3)]])
    close(od.Inertia.from_com(mass, c, Ic).matrix(), expected)
    close(od.Inertia.zero().matrix(), np.zeros((6, 6)))


def test_inertias_add(rng):
    a, b = inertia(rng), inertia(rng)
    close((a + b).matrix(), a.matrix() + b.matrix())
    c, d = articulated(rng), articulated(rng)
    close((c + d).matrix(), c.matrix() + d.matrix())


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_articulated_inertia_is_its_matrix(rng, n):
    A, X, U = articulated(rng), transform(rng), rng.normal(size=(6, n))
    M, T = A.matrix().full(), matrix_of(X)
    assert np.allclose(M, M.T)
    close(A.apply(DM(U)), M @ U)
    D = U.T @ U + np.eye(n)
    close(A.downdate(DM(U), DM(U @ np.linalg.inv(D))).matrix(), M - U @ np.linalg.inv(D) @ U.T)
    close(A.to_parent(X).matrix(), T.T @ M @ T)


def test_articulated_inertia_of_a_rigid_body(rng):
    body = inertia(rng)
    close(ArticulatedInertia.of(body).matrix(), body.matrix())


@pytest.mark.parametrize("axis", ["x", "y", "z", "-y", (0.3, -0.5, 0.8)])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 1, 0)], ids=str)
def test_congruence(rng, axis, order):
    """E' A E of any A, where E turns about a coordinate axis, exchanges axes on the way, or is general."""
    P = np.eye(3)[list(order)]
    P[0] *= np.linalg.det(P)
    angle, A = SX.sym("angle"), SX.sym("A", 3, 3)
    E = rotation_about(unit_axis(axis), angle).T @ ca.sparsify(DM(P))
    f = ca.Function("f", [angle, A], [ca.densify(spatial.congruence(E, A)), ca.densify(E)])
    numbers = rng.normal(size=(3, 3))
    B, E = (x.full() for x in f(0.7, numbers))
    close(B, E.T @ numbers @ E)


def test_force_by_the_acceleration_of_points(rng):
    """Newton and Euler by `a + U p`, against `I a + v x* I v` of matrices; J from point masses."""
    body, v, a = inertia(rng), rng.normal(size=6), rng.normal(size=6)
    M = body.matrix().full()
    close(body.force(DM(v), DM(a)), M @ a - crm_matrix(v).T @ (M @ v))
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.5, 1.5, 5)
    total = od.Inertia.zero()
    for p, m in zip(points, masses, strict=True):
        total = total + od.Inertia.from_com(m, p, np.zeros((3, 3)))
    close(total.second_moments, points.T @ np.diag(masses) @ points)
    w, dw, ac = rng.normal(size=(3, 3))
    U = spatial.acceleration_field(DM(w), DM(dw)).full()
    close(U, cross_matrix(dw) + cross_matrix(w) @ cross_matrix(w))
    forces = [m * (ac + U @ p) for p, m in zip(points, masses, strict=True)]
    moments = [np.cross(p, f) for p, f in zip(points, forces, strict=True)]
    close(total.newton_euler(DM(ac), DM(U)), np.concatenate([np.sum(moments, axis=0), np.sum(forces, axis=0)]))


def test_rotations_have_their_zeros_and_ones_exactly():
    """Rounding errors of 0, 1 and -1 in unit vectors are removed, and no others."""
    found = sparse([1e-16, 1 - 1e-15, 1e-15 - 1, 0.5, 1e-9, 1 - 1e-9])
    assert found.nonzeros() == [1.0, -1.0, 0.5, 1e-9, 1 - 1e-9]


# What rounding leaves of inertias


def test_a_mass_center_on_the_axis_but_for_rounding_is_on_it():
    """A center of 1e-17 m is rounding beside a body of decimeters and a place in a body of that size."""
    assert spatial.Inertia.from_com(1.0, (1e-17, 0, 0), 0.01 * np.eye(3)).h.nnz() == 0
    assert spatial.Inertia.from_com(1.0, (1e-17, 0, 0), 1e-34 * np.eye(3)).h.nnz() == 1


def test_places_are_kept_whatever_their_unit():
    found = spatial.Transform.pose(np.eye(3), (3e-13, 0.0, -2e-13)).r
    assert found.nonzeros() == [3e-13, -2e-13]
    assert spatial.Transform.pose(np.eye(3), (1 - 1e-13, 0, 0)).r.nonzeros() == [1 - 1e-13]


def entries(body):
    return tuple(np.count_nonzero(np.array(DM(x))) for x in (body.h, body.I))


def test_sums_of_inertias_are_judged_by_all_that_was_summed():
    """0.1 + 0.2 - 0.3 is no number that anything depends on, in whatever order and with whatever signs."""
    rows = np.array([[2.0, -1, 1], [-1, -4, 2], [1, 2, 8]])
    part = lambda x: spatial.Summed.of(spatial.Inertia(DM(1), DM([x, -x, 2 * x]), DM(x * rows)))
    nothing = spatial.Summed.of(spatial.Inertia.zero())
    assert entries((part(0.1 + 0.2) + part(-0.3)).body) == (3, 9)
    for found in (
        part(0.1 + 0.2) + part(-0.3),
        nothing + part(0.1 + 0.2) + part(-0.3),
        nothing - part(0.1 + 0.2) - part(-0.3),
        nothing - part(-0.3) - part(0.1 + 0.2),
    ):
        assert entries(found.clean()) == (0, 0)
    assert entries((part(0.1 + 0.2) + part(-0.2)).clean()) == (3, 9)


def test_a_point_mass_there_and_back_is_a_point_mass(rng):
    """Moments that a move adds and the way back takes away leave nothing, however far it was."""
    body = spatial.Summed.of(spatial.Inertia(DM(2.0), DM(3, 1), DM(3, 3)))
    X = spatial.Transform(DM(random_rotation(rng)), DM(10.0 * rng.normal(size=3)))
    back = body.to_parent(X).to_parent(X.inverse())
    assert max(entries(back.body)) > 0
    assert entries(back.clean()) == (0, 0)
    assert float(back.clean().m) == 2.0


def test_second_moments_of_thin_bodies_are_kept():
    """A plate of thickness 1e-5 of its width has a moment across it; one of no thickness has none."""
    thin = 1e-10
    for x in (thin, 0.0):
        J = spatial.Inertia(DM(1), DM(3, 1), DM(np.diag([1 + x, 1 + x, 2.0]))).second_moments
        close(np.diag(J.full()), [1.0, 1.0, x], 1e-15)
        assert J.nnz() == (3 if x else 2)


def test_second_moments_of_arrays_are_those_of_the_inertia():
    body = spatial.Inertia.from_com(0.7, (0.1, 0.0, -0.3), np.diag([0.2, 0.2, 0.4]))  # a disk: thin along z
    expected = np.array(DM(body.second_moments))
    assert np.array_equal(spatial.InertiaNumbers.of(body).second_moments, expected)
    assert np.count_nonzero(expected) < 9
    thin = spatial.Inertia(DM(1), DM(3, 1), DM(np.diag([0.3, 0.1, 0.2])))  # (0.3 + 0.1 + 0.2) / 2 is more than 0.3
    assert np.count_nonzero(spatial.InertiaNumbers.of(thin).second_moments) == 2
