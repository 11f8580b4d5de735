"""Frames far from their bodies: the digits of a body's own inertia are kept, and dynamics are those of a near frame."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.dynamics.joint_space import articulated_answers
from ocp_dyn.mechanism.near import near
from ocp_dyn.spatial_algebra.spatial import FarInertia
from tests.helpers import flat

DIRECTION = np.array([0.6, -0.64, 0.48])
INERTIA = np.array([[0.1, 0.01, 0.02], [0.01, 0.12, -0.01], [0.02, -0.01, 0.15]])
DISTANCES = (0.0, 1e3, 1e4, 1e6)


def robot(offset, rotation="quaternion"):
    """A floating body whose frame is at `offset` from its center of mass, with two links beside this center."""
    builder = od.ModelBuilder("robot")
    builder.add_body("base", od.FloatingBase(rotation), mass=2.0, com=-offset, inertia=INERTIA)
    for name, y in (("left", 0.1), ("right", -0.1)):
        builder.add_body(
            name, od.Revolute((0.1, 1.0, 0.2)), "base", origin=-offset + (0.0, y, -0.1), mass=0.5,
            com=(0.0, 0.01, -0.2), inertia=(0.01, 0.01, 0.002), armature=0.01,
        )  # fmt: skip
    builder.add_frame("tool", "base", -offset)
    return builder.build()


class Both:
    """The same motion of the robot with a near frame and with a far one: qd of the far one is `to_far @ qd`."""

    def __init__(self, distance, rotation="quaternion"):
        offset = distance * DIRECTION
        self.near, self.far = robot(np.zeros(3), rotation), robot(offset, rotation)
        rng = np.random.default_rng(3)
        self.q_near, n = self.near.random_q(rng), self.near.nv
        self.q_near[:3] = 0.0
        R = od.pose(self.near, "base", self.q_near)[0].full()
        self.q_far = np.concatenate([R @ offset, self.q_near[3:]])
        # the velocity of the near origin is that of the far one less w x R offset
        turns = od.point_jacobian_6d(self.near, "base", self.q_near).full()[:3, 3:6]
        self.to_far = np.eye(n)
        self.to_far[:3, 3:6] = np.cross(turns.T, R @ offset).T
        self.qd, self.tau = rng.normal(size=n), rng.normal(size=n)


@pytest.mark.parametrize("rotation", ["quaternion", "euler_zyx"])
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.slow
def test_forward_dynamics_do_not_depend_on_the_frame(distance, rotation):
    """Accelerations that a joint's torque gives to the angles, from rest: in numbers and as a Function."""
    both, push = Both(distance, rotation), np.zeros(8)
    push[-2:] = 1.0, -0.3
    expected = flat(od.forward_dynamics(both.near, both.q_near, 0 * both.qd, push))[3:]
    minv = flat(od.mass_matrix_inverse_product(both.near, both.q_near, push))[3:]
    for algorithm in (od.forward_dynamics, od.function(od.forward_dynamics, both.far)):
        arguments = (both.q_far, 0 * both.qd, push)
        found = flat(algorithm(*arguments) if algorithm is not od.forward_dynamics else algorithm(both.far, *arguments))
        assert np.allclose(found[3:], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    found = flat(od.mass_matrix_inverse_product(both.far, both.q_far, push))
    assert np.allclose(found[3:], minv, rtol=0, atol=1e-9 * np.abs(minv).max())


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.slow
def test_energy_and_momentum_do_not_depend_on_the_frame(distance):
    both = Both(distance)
    v_far = both.to_far @ both.qd
    v_near = both.qd
    assert float(od.kinetic_energy(both.far, both.q_far, v_far)) == pytest.approx(
        float(od.kinetic_energy(both.near, both.q_near, v_near)), rel=1e-8
    )
    far, near_ = (od.centroidal_momentum(*x) for x in ((both.far, both.q_far, v_far), (both.near, both.q_near, v_near)))
    assert np.allclose(flat(far), flat(near_), rtol=0, atol=1e-8)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.slow
def test_inverse_dynamics_do_not_depend_on_the_frame(distance):
    """At rest, for accelerations of the near frame: torques of the joints and the wrench on the body about its
    center."""
    both = Both(distance)
    expected = flat(od.inverse_dynamics(both.near, both.q_near, 0 * both.qd, both.tau))
    found = flat(od.inverse_dynamics(both.far, both.q_far, 0 * both.qd, both.to_far @ both.tau))
    assert np.allclose(found[6:], expected[6:], rtol=0, atol=1e-8)
    assert np.allclose((both.to_far.T @ found)[:6], expected[:6], rtol=0, atol=1e-8)


def door(along):
    """A door on a floating body, with a handle; the frame of its hinge lies somewhere on the axis."""
    builder = od.ModelBuilder("door")
    builder.add_body("base", od.FloatingBase(), mass=2.0, inertia=INERTIA)
    builder.add_body(
        "door", od.Revolute("y"), "base", origin=(0.1, along, 0), mass=1.0, com=(0, -along, -0.3), inertia=INERTIA / 10
    )
    builder.add_body("handle", od.Revolute("x"), "door", origin=(0, -along, -0.5), mass=0.2, inertia=INERTIA / 100)
    return builder.build()


@pytest.mark.slow
def test_a_hinge_far_along_its_axis():
    """The place on the axis where the frame of a hinge lies changes nothing."""
    here, there, rng = door(0.0), door(1e4), np.random.default_rng(1)
    assert near(here) is here
    assert near(there) is not there
    q = here.random_q(rng)
    qd, tau = rng.normal(size=(2, here.nv))
    expected = od.forward_dynamics(here, q, qd, tau)
    assert np.allclose(flat(od.forward_dynamics(there, q, qd, tau)), flat(expected), rtol=1e-8, atol=1e-8)
    assert np.allclose(flat(od.inverse_dynamics(there, q, qd, expected)), tau, atol=1e-8)
    for algorithm in (od.mass_matrix, od.mass_matrix_inverse):
        assert np.allclose(algorithm(there, q).full(), algorithm(here, q).full(), rtol=1e-8, atol=1e-8)
    for algorithm in (od.inverse_dynamics_derivatives, od.forward_dynamics_derivatives):
        for a, b in zip(algorithm(there, q, qd, tau), algorithm(here, q, qd, tau), strict=True):
            assert np.allclose(a.full(), b.full(), rtol=0, atol=1e-8 * np.abs(b.full()).max())


def test_poses_and_wrenches_at_far_frames():
    """f_ext acts on named frames, and poses are those of the user's frames."""
    both = Both(1e4)
    wrench, loads = np.arange(1.0, 7.0)[:, None], od.Loads(external=("tool",))
    expected, found = (
        od.forward_dynamics(model, q, np.zeros(8), np.zeros(8), wrench, loads=loads)
        for model, q in ((both.near, both.q_near), (both.far, both.q_far))
    )
    assert np.allclose(flat(found)[3:], flat(expected)[3:], rtol=1e-8, atol=1e-8)
    assert np.allclose(flat(od.pose(both.far, "base", both.q_far)[1]), both.q_far[:3], rtol=1e-14)


def test_near_models_are_as_they_were():
    model = od.models.human()
    assert near(model) is model
    assert not any(isinstance(body, FarInertia) for body in model.I)
    far = robot(1e4 * DIRECTION)
    assert near(far) is near(far) is not far
    assert near(near(far)) is near(far)


def test_the_inertia_about_the_center_keeps_its_digits(tmp_path):
    """Through edits, files, fixed joints and a change of units."""

    def central(model, body="base"):
        _, c, I = od.mechanism.editing.central(model.I[model.body_names.index(body) + 1], body)
        return c, I

    far = robot(1e4 * DIRECTION)
    heavier = far.with_inertia("base", mass=3.0).with_inertia("base", mass=2.0)
    path = tmp_path / "far.json"
    od.save_model(far, path)
    for model in (far, heavier, od.load_model(path)):
        c, I = central(model)
        assert np.allclose(I, INERTIA, rtol=1e-14, atol=0)
        assert np.allclose(c, -1e4 * DIRECTION, rtol=1e-14)
    assert np.allclose(central(far.scale(length=2.0, mass=3.0))[1], 12 * INERTIA, rtol=1e-13, atol=0)
    builder = od.ModelBuilder()
    builder.add_body("empty", od.FloatingBase())
    builder.add_body("half", od.Fixed(), "empty", origin=1e4 * DIRECTION, mass=1.0, com=(0, 0, 0.1), inertia=INERTIA)
    builder.add_body("other", od.Fixed(), "empty", origin=1e4 * DIRECTION, mass=1.0, com=(0, 0, -0.1), inertia=INERTIA)
    expected = 2 * INERTIA + np.diag([0.02, 0.02, 0.0])
    assert np.allclose(central(builder.build(), "empty")[1], expected, rtol=1e-9, atol=1e-11)


def test_armatures_and_articulated_inertias_of_a_far_root():
    """Rotors of the root's own dofs, and the inertias along these: as by the whole matrix, in the user's velocities."""
    both = Both(400.0)
    n, q = both.far.nv, both.q_far
    model = replace(both.far, dofs=replace(both.far.dofs, armature=np.linspace(1.0, 2.0, n)))
    assert near(model) is not model
    loads, zero = od.Loads(armature=True), np.zeros(n)
    found = flat(od.forward_dynamics(model, q, zero, both.tau, loads=loads))
    H = od.mass_matrix(model, q, loads=loads).full()
    C = flat(od.bias_force(model, q, zero))
    assert np.allclose(H @ found, both.tau - C, rtol=0, atol=1e-9 * np.abs(C).max())
    assert np.allclose(found[3:], np.linalg.solve(H, both.tau - C)[3:], rtol=1e-6, atol=1e-9)
    _, D = articulated_answers(model, ca.DM(q), ca.DM(both.tau), loads=loads)
    root = H[:6, :6] - H[:6, 6:] @ np.linalg.solve(H[6:, 6:], H[6:, :6])
    assert np.allclose(flat(D)[:6], np.diag(root), rtol=1e-9)


def test_numbers_and_symbols_agree_on_far_frames():
    far = Both(1e4)
    f = od.function(od.inverse_dynamics, far.far)
    direct = od.inverse_dynamics(far.far, far.q_far, far.qd, far.tau)
    assert np.allclose(flat(f(far.q_far, far.qd, far.tau)), flat(direct), rtol=1e-10)
    x = ca.MX.sym("x", far.far.nq)
    assert ca.Function("f", [x], [f(x, far.qd, far.tau)])(far.q_far).shape == (8, 1)
