"""Joint coordinates from natural coordinates: q(x), qd(x, xd) and back."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.formulations.joint_coordinates import dual_basis, euler_angles, matrix_to_quaternion
from ocp_dyn.joints import EULER_ORDERS
from ocp_dyn.spatial_algebra.rotations import matrix_quaternion
from tests.formulations.test_natural import MODEL, NATURAL, TAKEN, planar_tree
from tests.helpers import State, close, flat, random_rotation, tree, turn, turns

pytestmark = pytest.mark.slow

fm = od.formulations


def wide_q(model: od.Model, rng: np.random.Generator) -> np.ndarray:
    """A random q with angles up to +-3.1, the middle ones of Euler angles up to +-1.5."""
    q = model.random_q(rng)
    for joint, start in zip(model.joints, model.q_index, strict=False):
        if isinstance(joint, (od.Revolute, od.Universal, od.Euler)):
            q[start : start + joint.nq] = rng.uniform(-3.1, 3.1, joint.nq)
        if isinstance(joint, od.Cylindrical):
            q[start] = rng.uniform(-3.1, 3.1)
        if isinstance(joint, od.Planar):
            q[start + 2] = rng.uniform(-3.1, 3.1)
        if isinstance(joint, od.FloatingBase) and not joint.has_quaternion:
            q[start + 3 : start + 6] = rng.uniform(-3.1, 3.1, 3)
            q[start + 4] /= 2.1
        if isinstance(joint, od.Euler):
            q[start + 1] /= 2.1
    return q


def assert_round_trips(model: od.Model, natural: fm.NaturalCoordinates, rng: np.random.Generator) -> None:
    q, qd = wide_q(model, rng), rng.normal(size=model.nv)
    x = fm.natural_from_q(model, natural, ca.DM(q))
    xd = fm.natural_velocity(model, natural, ca.DM(q), ca.DM(qd))
    back = flat(fm.q_from_natural(model, natural, x))
    for joint, start in zip(model.joints, model.q_index, strict=False):
        if joint.has_quaternion:
            end = start + joint.nq
            assert back[end - 1] >= 0
            close(np.linalg.norm(back[end - 4 : end]), 1.0)
            q[end - 4 : end] *= np.sign(q[end - 1])
    close(back, q)
    close(fm.natural_from_q(model, natural, ca.DM(back)), flat(x))
    close(fm.qd_from_natural(model, natural, x, xd), qd)


@pytest.mark.parametrize("key", TAKEN)
def test_q_and_qd_come_back(rng, key):
    model = tree(key)
    natural = fm.natural(model)
    for _ in range(3):
        assert_round_trips(model, natural, rng)


@pytest.mark.parametrize("plane", ["auto", False])
def test_q_and_qd_come_back_in_the_plane(rng, plane):
    model = planar_tree(rng)
    assert_round_trips(model, fm.natural(model, plane=plane), rng)


@pytest.mark.parametrize("key", ["forest", "universal", "planar", "cylindrical_skew"])
def test_velocities_are_rates_of_positions(rng, key):
    """d/dt of q(x) along xd is q_dot(q, qd(x, xd)), for velocities that keep the conditions."""
    model = tree(key)
    natural, s = fm.natural(model), State.of(model, rng)
    x, xd = ca.SX.sym("x", natural.n), ca.SX.sym("xd", natural.n)
    q = fm.q_from_natural(model, natural, x)
    f = ca.Function("f", [x, xd], [ca.jtimes(q, x, xd), model.q_dot(q, fm.qd_from_natural(model, natural, x, xd))])
    found, expected = f(
        fm.natural_from_q(model, natural, ca.DM(s.q)),
        fm.natural_velocity(model, natural, ca.DM(s.q), ca.DM(s.qd)),
    )
    close(found, expected)


def test_angles_are_wrapped_and_loops_do_not_matter():
    x = fm.natural_from_q(MODEL, NATURAL, ca.DM([0.4 + 2 * np.pi, -0.4, 0.4 - 4 * np.pi]))
    close(fm.q_from_natural(MODEL, NATURAL, x), (0.4, -0.4, 0.4))
    x = fm.natural_from_q(MODEL, NATURAL, ca.DM([np.pi, 0, 0]))
    assert abs(abs(float(fm.q_from_natural(MODEL, NATURAL, x)[0])) - np.pi) < 1e-12


def test_near_the_conditions_q_changes_little(rng):
    """A small violation of Phi leaves a small change of q: no division by what vanishes."""
    model = tree("forest")
    natural, q = fm.natural(model), model.random_q(rng)
    x = fm.natural_from_q(model, natural, ca.DM(q))
    near = fm.q_from_natural(model, natural, x + 1e-7 * ca.DM(rng.normal(size=natural.n)))
    before = fm.q_from_natural(model, natural, x)
    assert float(ca.norm_inf(near - before)) < 1e-5


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_angles(rng, order):
    angles = rng.uniform((-3.1, -1.5, -3.1), (3.1, 1.5, 3.1))
    close(euler_angles(ca.DM(turns(order, angles)), order), angles)
    straight = turns(order, (0.3, np.pi / 2, -0.2))
    close(euler_angles(ca.DM(straight), order)[1], np.pi / 2, 1e-7)  # the root of a sum of squares near zero


def test_quaternions_of_all_rotations(rng):
    """Random ones, small ones, half turns about axes and others: as in numbers, w >= 0."""
    axes = [*np.eye(3), *-np.eye(3), (1, 1, 0), (1, 1, 1), (-1, 2, 3)]
    rotations = [random_rotation(rng) for _ in range(20)] + [np.eye(3)]
    rotations += [turn(angle * np.array(a) / np.linalg.norm(a)) for a in axes for angle in (1e-9, 2.0, np.pi, 3.1)]
    R = ca.SX.sym("R", 3, 3)
    f = ca.Function("f", [R], [matrix_to_quaternion(R), ca.jacobian(matrix_to_quaternion(R), ca.vec(R))])
    for rotation in rotations:
        found, slope = f(rotation)
        quaternion, expected = flat(found), matrix_quaternion(rotation)
        assert quaternion[3] >= 0
        assert np.all(np.isfinite(slope.full()))
        sign = np.sign(quaternion @ expected)  # of a half turn both signs have w = 0
        assert sign > 0 or abs(quaternion[3]) < 1e-12
        close(sign * quaternion, expected)


@pytest.mark.parametrize("k", [2, 3])
def test_the_dual_basis(rng, k):
    S = np.linalg.qr(rng.normal(size=(3, 3)))[0] @ np.triu(np.ones((3, 3)))[:, :k]
    S = S / np.linalg.norm(S, axis=0)
    close(dual_basis(ca.DM(S)) @ ca.DM(S), np.eye(k))
