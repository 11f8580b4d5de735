"""Footholds on planes in general position: the whole world turned, with its gravity, is the same world."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.spatial_algebra import rotations
from ocp_dyn.symmetry.advance import Advance


def turn(rng):
    """A random rotation (3x3), and its quaternion."""
    quaternion = rng.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    return np.array(rotations.quaternion_matrix(ca.DM(quaternion)).full()), quaternion


def turned_state(Q, quaternion, q, qd):
    """State of a model on a floating base after a turn of the world."""
    spun = np.array(rotations.quaternion_multiply(ca.DM(quaternion), ca.DM(q[3:7]))).ravel()
    return np.concatenate([Q @ q[:3], spun, q[7:]]), np.concatenate([Q @ qd[:3], qd[3:]])


def turned_plane(Q, plane):
    return ocp.Plane(tuple(Q @ plane.point), tuple(Q @ plane.normal))


def twist(Q, plane):
    """Angle from the axes of a plane, turned with the world, to the axes of the turned plane [rad]."""
    R = np.array(turned_plane(Q, plane).R.full()).T @ Q @ np.array(plane.R.full())
    return np.arctan2(R[1, 0], R[0, 0])


def turned_place(Q, plane, place):
    angle = twist(Q, plane)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * place[0] - s * place[1], s * place[0] + c * place[1], place[2] + angle])


def foot():
    builder = od.ModelBuilder("foot")
    builder.add_body("shank", od.FloatingBase(), joint_name="root", mass=3, com=(0, 0, 0.2), inertia=(0.1, 0.15, 0.08))
    builder.add_body("foot", od.Universal("y", "x"), parent="shank", mass=1, com=(0.05, 0, -0.05), inertia=(0.01,) * 3)
    builder.add_frame("sole", "foot", (0.05, 0.0, -0.08))
    return builder.build()


KINDS = {
    "flat": lambda plane: ocp.Foothold(od.Contact("sole"), half_length=0.1, half_width=0.04, plane=plane),
    "point": lambda plane: ocp.Foothold(od.Contact("sole", axes="xyz"), plane=plane),
    "toes": lambda plane: ocp.Foothold(
        od.RollingContact("sole", 0.0, (0.1, 0, 0), axis=(0, 1, 0)), half_width=0.04, plane=plane
    ),
    "heel": lambda plane: ocp.Foothold(
        od.RollingContact("sole", 0.03, (-0.1, 0, 0.03), axis=(0.1, 1, 0)), half_width=0.04, plane=plane
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_rows_forces_and_cones_turn_with_the_world(kind):
    rng, model = np.random.default_rng(4), foot()
    for _ in range(2):
        plane = ocp.Plane(tuple(rng.normal(size=3)), tuple(rng.normal(size=3)))
        (Q, quaternion), place = turn(rng), rng.normal(size=3)
        q, qd = model.random_q(rng), rng.normal(size=model.nv)
        here = KINDS[kind](plane), model, q, qd, place
        q2, qd2 = turned_state(Q, quaternion, q, qd)
        there = KINDS[kind](turned_plane(Q, plane)), model, q2, qd2, turned_place(Q, plane, place)
        f, g = here[0], there[0]
        assert float(f.height(model, ca.DM(q), ca.DM(place))) == pytest.approx(
            float(g.height(model, ca.DM(q2), ca.DM(there[4])))
        )
        for rows in (gap, rate):
            np.testing.assert_allclose(np.linalg.norm(rows(*here)), np.linalg.norm(rows(*there)), rtol=1e-9)
        lam = rng.normal(size=f.size)
        wrench = np.array(f.wrench(ca.DM(lam), ca.DM(place))).ravel()
        turned = np.concatenate([Q @ wrench[:3], Q @ wrench[3:]])
        for limit in (ocp.FrictionCone(second_order=True), ocp.CenterOfPressure(), ocp.Unilateral()):
            ours, theirs = (
                np.array(ca.DM(limit.rows(instant_of(fixed, wrench))[0])).ravel()
                for fixed, wrench in ((here, wrench), (there, turned))
            )
            np.testing.assert_allclose(theirs, ours, atol=1e-9, err_msg=type(limit).__name__)


def gap(f, model, q, qd, place):
    return np.array(f.position(model, ca.DM(q), ca.DM(place)))


def rate(f, model, q, qd, place):
    return np.array(f.touchdown_rate(model, ca.DM(q), ca.DM(qd), None, None))


def instant_of(fixed, wrench):
    f, model, q, qd, place = fixed
    instant = ocp.Instant(model, ca.DM(q), ca.DM(qd))
    instant.wrenches[f], instant.places[f] = ca.DM(wrench), ca.DM(place)
    return instant


def leaner(gravity):
    """A trunk on one foot, with an arm."""
    builder = od.ModelBuilder("leaner", gravity=gravity)
    builder.add_body("trunk", od.FloatingBase(), joint_name="root", mass=8, com=(0, 0, 0.1), inertia=(0.2, 0.2, 0.1))
    builder.add_body(
        "foot", od.Universal("y", "x"), parent="trunk", origin=(0, 0, -0.5), mass=0.5, inertia=(0.002,) * 3, effort=200
    )
    builder.add_body(
        "arm", od.Universal("y", "z"), parent="trunk", origin=(0, 0, 0.3), mass=1, com=(0.15, 0, 0),
        inertia=(0.003, 0.01, 0.01), effort=100,
    )  # fmt: skip
    builder.add_body(
        "hand", od.Revolute("y"), parent="arm", origin=(0.3, 0, 0), mass=0.6, com=(0.12, 0, 0),
        inertia=(0.002, 0.005, 0.005), effort=100,
    )  # fmt: skip
    builder.add_frame("sole", "foot", (0, 0, -0.05))
    builder.add_frame("palm", "hand", (0.25, 0, 0))
    return builder.build()


def leaning(Q, quaternion, transition):
    """A robot on a tilted stone reaches for a wall that hangs over, and holds itself there, in a world turned by Q."""
    model = leaner(tuple(Q @ [0, 0, -9.81]))

    def held(contact, plane, **size):
        place = dict(zip(("x", "y", "yaw"), turned_place(Q, plane, np.zeros(3)), strict=True))
        return ocp.Foothold(contact, plane=turned_plane(Q, plane), **place, **size)

    sole = held(od.Contact("sole"), ocp.Plane((0, 0, 0), (0.1, -0.05, 1)), half_length=0.03, half_width=0.05)
    palm = held(od.Contact("palm", axes="xyz"), ocp.Plane((0.45, 0.0, 0.9), (-1, 0.3, 0.35)))
    cones = () if isinstance(transition, ocp.Impact) else (ocp.FrictionCone(mu=0.5, second_order=True),)
    path = (ocp.Unilateral(minimum=5.0), ocp.CenterOfPressure(), *cones)
    cost = (ocp.TorqueSquared(1e-3), ocp.AccelerationSquared(1e-2))
    q = np.concatenate([Q @ [0, 0, 0.55], quaternion, [0, 0, 0.5, 0, -0.8]])

    def rest(start, end):
        posture = start.q[7:] - ca.DM([0, 0, 0.9, 0, -1.2])
        return ca.vertcat(start.qd[6:], posture, end.qd[6:8]), 0, 0

    reach = ocp.Phase("reach", 4, 0.4, [sole], path, cost)
    hold = ocp.Phase("hold", 4, 0.4, [sole, palm], path, cost)
    return ocp.Problem(model, [reach, hold], [transition], boundary=[ocp.Boundary(rest)], posture=q)


@pytest.mark.parametrize("transition", [ocp.Continuous(), ocp.Impact()], ids=["rest", "impact"])
@pytest.mark.slow
def test_a_turned_world_has_the_same_solution_and_multipliers(transition):
    """A foot on a tilted stone, a hand at a wall that hangs over: joints, torques and multipliers do not change."""
    Q, quaternion = turn(np.random.default_rng(1))
    level, turned = (
        leaning(*world, transition).solve(progress=False, tolerance=1e-9)
        for world in ((np.eye(3), [0, 0, 0, 1]), (Q, quaternion))
    )
    assert level.converged
    assert turned.converged
    assert turned.objective == pytest.approx(level.objective, rel=1e-6)
    np.testing.assert_allclose(turned.q[:, 7:], level.q[:, 7:], atol=1e-4)
    np.testing.assert_allclose(turned.tau, level.tau, atol=1e-3)
    ours, theirs = ({(e.name, round(e.time, 6)): e for e in s.active()} for s in (level, turned))
    assert ours
    assert set(ours) == set(theirs)
    for key, row in ours.items():
        assert theirs[key].multiplier == pytest.approx(row.multiplier, rel=1e-3, abs=1e-5), key


@pytest.mark.parametrize("normal", [(0, 0, -1), (1e-9, -2e-9, -1), (1e-4, 0, -1), (1, 0, 0), (0.1, 0.2, 1)])
def test_axes_of_a_plane_end_in_its_normal(normal):
    plane = ocp.Plane((0, 0, 0), normal)
    R = np.array(plane.R.full())
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R[:, 2], plane.normal, atol=1e-15)
    shifted, p = ocp.Plane((0.3, -0.2, 0.4), normal), np.array([0.1, 0.2, 0.3])
    world = np.array(shifted.to_world(ca.DM(p))).ravel()
    np.testing.assert_allclose(world, R @ p + shifted.point, atol=1e-15)
    np.testing.assert_allclose(np.array(shifted.pose(ca.DM.eye(3), ca.DM(world))[1]).ravel(), p, atol=1e-15)


@pytest.mark.parametrize("normal", [(0, 0, 1), (-0.3, 0.2, 1)])
@pytest.mark.parametrize("mirrored", [False, True])
def test_the_image_of_a_place_is_where_its_ground_goes(normal, mirrored):
    """The pose of a foot on the image is that of the foot before, reflected, turned and shifted."""
    plane, place = ocp.Plane((0.3, 0.2, 0.1), normal), np.array([0.4, -0.5, 0.6])
    advance = Advance.of(0.7, 0.2, 0.15, 0.8)
    moved, there = plane.image(place, mirrored, advance)
    side = np.diag([1.0, -1.0, 1.0]) if mirrored else np.eye(3)

    def ground(on, at):
        yaw = np.array(rotations.rotation_about((0.0, 0.0, 1.0), ca.DM(at[2])).full())
        p = np.array(on.to_world(ca.DM([at[0], at[1], 0.0])).full()).ravel()
        return np.array(on.R.full()) @ yaw, p

    (R, p), (R_there, p_there) = ground(plane, place), ground(moved, there)
    np.testing.assert_allclose(p_there, np.array(advance.point(ca.DM(side @ p)).full()).ravel(), atol=1e-12)
    np.testing.assert_allclose(R_there, np.array(advance.R.full()) @ side @ R @ side, atol=1e-12)
