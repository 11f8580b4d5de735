"""Rotations: axes, roll-pitch-yaw, quaternions, the exponential map and its inverse, at the awkward angles too."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

from ocp_dyn.spatial_algebra import rotations as ro
from tests.helpers import close, flat, turn, turn_of_quaternion, turns

ANGLES = (0.0, 1e-300, 1e-160, 1e-12, 1e-8, 1e-4, 0.05, 0.2, 0.3 - 1e-12, 0.3 + 1e-12, 1.0, 3.0, np.pi - 1e-9, np.pi)


def directions(rng: np.random.Generator) -> list[np.ndarray]:
    axes = [*np.eye(3), *-np.eye(3), *rng.normal(size=(6, 3))]
    return [a / np.linalg.norm(a) for a in axes]


def unit_quaternion(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def test_rotation_about_an_axis(rng):
    for axis in directions(rng):
        close(ro.rotation_about(axis, DM(0.7)), turn(0.7 * axis))
    R = ro.rotation_about((0, 0, 1), SX.sym("q"))
    assert R.nnz() == 5  # cos, sin, -sin, cos, 1: nothing else


def test_rpy_is_fixed_axis_roll_pitch_yaw():
    close(ro.rpy_matrix((0.1, -0.7, 2.0)), turns("zyx", (2.0, -0.7, 0.1)))


def test_unit_axis():
    assert ro.unit_axis("-y") == (0, -1, 0)
    assert ro.unit_axis("+x") == ro.unit_axis("x") == (1, 0, 0)
    assert ro.unit_axis((0, 0, -3)) == (0, 0, -1)
    assert str(ro.unit_axis("-y")) == "(0.0, -1.0, 0.0)"  # no minus zeros


@pytest.mark.parametrize("axis", ["w", "--x", "", "xy", "-", (0, 0, 0), (1, 2), (1, 2, np.nan), None, 3.0])
def test_unit_axis_refuses(axis):
    with pytest.raises(ValueError, match="axis must"):
        ro.unit_axis(axis)


def test_quaternion_matrix_and_products(rng):
    a, b = unit_quaternion(rng), unit_quaternion(rng)
    A, B = turn_of_quaternion(a), turn_of_quaternion(b)
    close(ro.quaternion_matrix(DM(a)), A)
    close(ro.quaternion_matrix(ro.quaternion_multiply(DM(a), DM(b))), A @ B)
    close(ro.quaternion_matrix(ro.quaternion_conjugate(DM(a))), A.T)
    close(ro.quaternion_multiply(DM(a), ro.quaternion_conjugate(DM(a))), [0, 0, 0, 1])


def test_off_unit_quaternions_give_the_rotation_of_their_direction(rng):
    q = unit_quaternion(rng)
    for scale in (-3.0, 0.2, 1.7):
        close(ro.quaternion_matrix(DM(scale * q)), turn_of_quaternion(q))
        close(ro.quaternion_log(DM(scale * q)), ro.quaternion_log(DM(q)))
    x = SX.sym("x", 4)
    along = ca.Function("f", [x], [ca.jtimes(ca.vec(ro.quaternion_matrix(x)), x, x)])
    close(along(1.3 * q), np.zeros(9))


def test_quaternion_rate_is_the_derivative_of_a_turning_body(rng):
    q, w, h = unit_quaternion(rng), rng.normal(size=3), 1e-5
    ahead, behind = (ro.quaternion_multiply(DM(q), ro.quaternion_exp(DM(s * h * w))) for s in (1, -1))
    close((ahead - behind) / (2 * h), flat(ro.quaternion_rate(DM(q), DM(w))), 1e-9)  # finite differences
    close(ca.dot(DM(q), ro.quaternion_rate(DM(q), DM(w))), 0)


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_and_log_are_inverse(rng, angle):
    for axis in directions(rng):
        quat = ro.quaternion_exp(DM(angle * axis))
        close(quat, [*(np.sin(angle / 2) * axis), np.cos(angle / 2)], 1e-15)
        back = flat(ro.quaternion_log(quat))
        if angle == np.pi:  # both senses of a half turn are one rotation
            back *= np.sign(back @ axis)
        close(back, angle * axis, 1e-14)
        close(flat(ro.quaternion_log(-quat)) @ axis, back @ axis if angle < 3.1 else np.sign(axis @ flat(
            ro.quaternion_log(-quat))) * angle, 1e-14)  # fmt: skip


def test_log_takes_the_shorter_way(rng):
    axis = directions(rng)[-1]
    close(ro.quaternion_log(ro.quaternion_exp(DM(4.0 * axis))), (4.0 - 2 * np.pi) * axis)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-9, 0.1, 0.29, 0.31, 2.0])
def test_derivatives_of_exp_to_second_order(angle):
    """Finite at zero and equal to the limits of the closed form, whose own derivatives are 0/0 there."""
    p = SX.sym("p", 3)
    jacobian = ca.jacobian(ro.quaternion_exp(p), p)
    hessian = ca.jacobian(ca.vec(jacobian), p)
    f = ca.Function("f", [p], [jacobian, hessian])
    axis = np.array([2.0, -1.0, 2.0]) / 3
    J, HH = (x.full() for x in f(angle * axis))
    assert np.all(np.isfinite(J))
    assert np.all(np.isfinite(HH))
    h = 1e-4
    for k, e in enumerate(np.eye(3)):
        ahead, behind = (flat(ro.quaternion_exp(DM(angle * axis + s * h * e))) for s in (1, -1))
        close(J[:, k], (ahead - behind) / (2 * h), 1e-8)  # central differences, h^2 / 24
        Ja, Jb = (f(angle * axis + s * h * e)[0].full() for s in (1, -1))
        close(HH[:, k], ((Ja - Jb) / (2 * h)).T.ravel(), 1e-8)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-9, 0.1, 0.19, 0.21, 2.0, 3.0])
def test_derivatives_of_log_to_second_order(angle):
    x = SX.sym("x", 4)
    jacobian = ca.jacobian(ro.quaternion_log(x), x)
    f = ca.Function("f", [x], [jacobian, ca.jacobian(ca.vec(jacobian), x)])
    axis = np.array([2.0, -1.0, 2.0]) / 3
    quat = flat(ro.quaternion_exp(DM(angle * axis)))
    J, HH = (y.full() for y in f(quat))
    assert np.all(np.isfinite(J))
    assert np.all(np.isfinite(HH))
    h = 1e-5
    for k, e in enumerate(np.eye(4)):
        ahead, behind = (flat(ro.quaternion_log(DM(quat + s * h * e))) for s in (1, -1))
        close(J[:, k], (ahead - behind) / (2 * h), 1e-7)  # central differences


def test_matrix_quaternion_at_every_angle(rng):
    for axis in directions(rng):
        for angle in (0.0, 1e-9, 1.0, 2.0, np.pi - 1e-7, np.pi):
            R = turn(angle * axis)
            q = ro.matrix_quaternion(R)
            assert q[3] >= 0
            close(np.linalg.norm(q), 1.0)
            close(ro.quaternion_matrix(DM(q)), R, 1e-14)


@pytest.mark.parametrize("signs", [(1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
def test_matrix_quaternion_of_exact_half_turns(signs):
    close(np.abs(ro.matrix_quaternion(np.diag(signs))), [*(np.array(signs) == 1), 0])


@pytest.mark.parametrize(
    "R", [np.eye(4), np.diag([1, 1, -1]), 2 * np.eye(3), np.full((3, 3), np.nan), np.eye(3)[0], np.zeros((3, 3))]
)
def test_matrix_quaternion_refuses_what_is_no_rotation(R):
    with pytest.raises(ValueError, match="rotation matrix"):
        ro.matrix_quaternion(R)


def test_rpy_refuses_wrong_sizes():
    with pytest.raises(ValueError, match="roll, pitch, yaw must be 3"):
        ro.rpy_matrix((1.0, 2.0))
