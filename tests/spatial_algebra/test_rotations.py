"""Rotations: axes, roll-pitch-yaw, quaternions, the exponential map and its inverse, at the awkward angles too."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

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
@pytest.mark.slow
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


# The exponential maps of SO(3) and SE(3)


def screw(twist):
    """The pose of a twist by the matrix exponential of [phi x, rho; 0, 0], sixty terms after halving three times."""
    x, y, z = np.asarray(twist[:3], dtype=float) / 8
    A = np.zeros((4, 4))
    A[:3, :3], A[:3, 3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]], np.asarray(twist[3:]) / 8
    E, term = np.eye(4), np.eye(4)
    for k in range(1, 60):
        term = term @ A / k
        E = E + term
    for _ in range(3):
        E = E @ E
    return E[:3, :3], E[:3, 3]


@pytest.mark.parametrize("angle", [*ANGLES, 0.5 - 1e-12, 0.5 + 1e-12, 5.0])
@pytest.mark.slow
def test_exponential_and_logarithm_of_rotations_and_poses(rng, angle):
    """exp against the matrix exponential at every angle; log gives the rotation vector back up to half a turn."""
    for axis in directions(rng):
        phi = angle * axis
        for scale in (1e-6, 1e6):
            twist = np.concatenate([phi, scale * rng.normal(size=3)])
            R, p = ro.exp6(twist)
            R_ref, p_ref = screw(twist)
            close(ro.exp3(phi), R_ref)
            close(R, R_ref)
            close(p / scale, p_ref / scale)
            if angle <= np.pi:
                back, turned = flat(ro.log6(R, p)), flat(ro.log3(R))
                close(back[:3], turned, 0)
                if angle < np.pi:
                    close(turned, phi)
                    close(back[3:] / scale, twist[3:] / scale)
                else:  # phi and -phi are the same half turn
                    close(np.abs(turned @ axis), np.pi)
                R_again, p_again = ro.exp6(back)
                close(R_again, R)
                close(p_again / scale, p / scale)


def test_logarithms_of_small_and_of_nearly_half_turns_keep_their_digits():
    """Relative to the angle, and to what is left of half a turn."""
    for angle in (1e-300, 1e-150, 1e-12, 1e-3):
        phi = angle * np.array([0.6, 0.0, -0.8])
        assert np.allclose(flat(ro.log3(ro.exp3(phi))), phi, rtol=1e-13, atol=0)
    for left in (1e-3, 1e-6, 1e-9):
        phi = (np.pi - left) * np.array([0.36, 0.48, -0.8])
        assert abs(np.linalg.norm(flat(ro.log3(ro.exp3(phi)))) - (np.pi - left)) < 1e-15 * 8


@pytest.mark.slow
def test_right_jacobian(rng):
    """omega = Jr d(phi)/dt against dR/dt = R omega x; its inverse is `rotation_vector_rate`."""
    phi = SX.sym("phi", 3)
    for angle in (0.0, 1e-8, 0.4, 0.5 - 1e-12, 0.5 + 1e-12, 2.0, 6.0):
        for axis in directions(rng):
            x, rate = angle * axis, rng.normal(size=3)
            R = ro.exp3(phi)
            dR = ca.reshape(ca.jacobian(ca.vec(R), phi) @ rate, 3, 3)
            W = ca.Function("W", [phi], [R.T @ dR])(x).full()
            omega = ro.rotation_vector_jacobian(DM(x)) @ rate
            close(omega, [W[2, 1], W[0, 2], W[1, 0]])
            close(ro.rotation_vector_rate(DM(x), omega), rate, 1e-9)  # divides by 2 - 2 cos, 0.08 at 6 rad


@pytest.mark.parametrize("kind", [SX, MX])
def test_exponential_maps_of_symbols(rng, kind):
    """The values of DM; first and second derivatives finite, at zero and at half a turn too."""
    x = kind.sym("x", 6)
    R, p = ro.exp6(x)
    back = ro.log6(R, p)
    assert all(isinstance(y, kind) for y in (R, p, back))
    f = ca.Function("f", [x], [R, p, back])
    half = ca.Function("J", [x], [ca.jacobian(back, x)])
    H = ca.Function("H", [x], [ca.hessian(ca.sumsqr(back) + ca.sum1(p), x)[0]])
    for twist in (np.zeros(6), np.concatenate([np.zeros(3), [1, 2, 3]]), rng.normal(size=6)):
        numbers = ro.exp6(twist)
        for a, b in zip(f(twist), (*numbers, twist), strict=True):
            close(a, b)
        close(half(twist), np.eye(6))
        assert np.all(np.isfinite(H(twist).full()))
    assert np.all(np.isfinite(half(np.array([np.pi, 0, 0, 1, 2, 3])).full()))
    at_zero, near = (H(np.concatenate([angle * np.array([0.6, 0.0, -0.8]), [1, 2, 3]])) for angle in (0.0, 1e-6))
    close(near, at_zero, 1e-5)  # ten times the angle


def test_exponential_maps_take_lists_and_refuse_in_words():
    assert isinstance(ro.exp3([0.1, 0.2, 0.3]), DM)
    assert isinstance(ro.log6(np.eye(3), (1, 2, 3)), DM)
    for call, message in (
        (lambda: ro.exp3([1, 2]), "phi must be a column of 3 entries, got shape"),
        (lambda: ro.exp6([1, 2, 3]), "twist must be a column of 6 entries"),
        (lambda: ro.log3(2 * np.eye(3)), "a rotation matrix .* is needed, got"),
        (lambda: ro.log3(np.eye(4)), r"a rotation matrix \(3x3\) is needed, got shape \(4, 4\)"),
        (lambda: ro.log6(np.eye(3), [1, 2]), "p must be a column of 3 entries"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="phi must be numbers, or a casadi SX, MX or DM, got 'x'"):
        ro.exp3("x")
    with pytest.raises(TypeError, match="one kind, got SX and MX"):
        ro.log6(SX.sym("R", 3, 3), MX.sym("p", 3))


@pytest.mark.parametrize("size", [1e150, 1.0, 1e-150])
def test_quaternions_of_every_size_are_their_direction(size):
    q = np.array([0.1, -0.2, 0.3, 0.4])
    close(ro.quaternion_matrix(DM(size * q)), np.array(ro.quaternion_matrix(DM(q)).full()))
    close(ro.quaternion_log(DM(size * q)), np.array(ro.quaternion_log(DM(q)).full()).ravel())


@pytest.mark.parametrize("size", [1e155, 1e300, 1e-165, 5e-324])
@pytest.mark.parametrize("direction", [(0.1, -0.2, 0.3, 0.4), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.01, 1.0)])
def test_quaternions_whose_squares_overflow_or_vanish_are_no_rotation(size, direction):
    """In numbers and in functions: no identity, which a factor of 2/infinity would give."""
    q, x = size * np.array(direction), SX.sym("x", 4)
    right = flat(ro.quaternion_log(DM(direction)))
    for R in (ro.quaternion_matrix(DM(q)), ca.Function("R", [x], [ro.quaternion_matrix(x)])(q)):
        assert not np.isfinite(R.full()).all()
    for phi in (ro.quaternion_log(DM(q)), ca.Function("phi", [x], [ro.quaternion_log(x)])(q)):
        assert not np.isfinite(phi.full()).any() or np.allclose(flat(phi), right, rtol=1e-12)
