"""The rigid motion from period to period: a group in general position, carried out by the root joint of a model."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import five_link_biped, human
from ocp_dyn.symmetry.advance import Advance, Repetition, obstacle
from tests.helpers import close

ROOTS = ("quaternion", "euler_zyx", "euler_xyz", "euler_yxz", "euler_zxy")
TILT = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""Axes of a root joint whose y points up."""


def turning() -> Advance:
    return Advance.of(0.4, -0.3, 0.2, 0.9)


def dense(x):
    return np.array(ca.DM(x).full())


def Rz(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def test_an_advance_turns_and_then_shifts(rng):
    p = rng.normal(size=3)
    wanted = Rz(0.9) @ p + [0.4, -0.3, 0.2]
    close(dense(turning().point(ca.DM(p))).ravel(), wanted)
    close(dense(turning().inverse().point(ca.DM(wanted))).ravel(), p)
    close(dense(turning().vector(ca.DM(p))).ravel(), Rz(0.9) @ p)
    many = ca.DM(rng.normal(size=(3, 4)))
    close(dense(turning().point(many))[:, 2], dense(turning().point(many[:, 2])).ravel())
    assert Advance.of(1.0).turn is None
    assert Advance.of(1.0).angle == 0.0


@pytest.mark.parametrize("advance", [turning(), Advance.of(0.4, 0.1, -0.2), Advance.of(0.3, 0.2, 0.1, 1e-12)])
def test_repetitions_and_shares_are_one_group(rng, advance):
    p = ca.DM(rng.normal(size=3))
    thrice = advance.point(advance.point(advance.point(p)))
    close(dense(advance.repeated(3).point(p)), dense(thrice), 1e-12)
    close(dense(advance.repeated(-3).point(thrice)), dense(p), 1e-12)
    close(dense(advance.repeated(0).point(p)), dense(p))
    close(dense(advance.share(1.0).point(p)), dense(advance.point(p)), 1e-9)
    close(dense(advance.share(3.0).point(p)), dense(thrice), 1e-9)
    close(dense(advance.share(0.3).point(advance.share(0.45).point(p))), dense(advance.share(0.75).point(p)), 1e-9)


def figure(root, rotation=None) -> od.Model:
    builder = od.ModelBuilder("figure")
    axes = {} if rotation is None else {"rotation": rotation, "origin": (0.3, -0.2, 0.1)}
    builder.add_body("trunk", root, mass=2, com=(0.1, 0, 0.2), inertia=(0.3, 0.2, 0.1), joint_name="root", **axes)
    builder.add_body("leg", od.Revolute("x"), "trunk", origin=(0, 0.1, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    return builder.build()


@pytest.mark.parametrize(("root", "rotation"), [*((r, None) for r in ROOTS), *((r, TILT) for r in ROOTS[:3:2])])
@pytest.mark.slow
def test_every_root_carries_the_whole_model(rng, root, rotation):
    """Poses and velocities of all bodies are those of the moved world; torques that a motion needs do not change."""
    model, advance = figure(od.FloatingBase(root), rotation), turning()
    assert obstacle(model, shifts=(True, True, True), turns=True) == ""
    q, qd = ca.DM(model.random_q(rng)), ca.DM(rng.normal(size=model.nv))
    moved, rate = advance.state(model, q, qd)
    for name in model.body_names:
        (R, p), (R1, p1) = od.pose(model, name, q), od.pose(model, name, moved)
        close(dense(R1), Rz(0.9) @ dense(R))
        close(dense(p1), dense(advance.point(p)))
        v, v1 = (dense(od.point_velocity_6d(model, name, *x)).ravel() for x in ((q, qd), (moved, rate)))
        close(v1, np.concatenate([Rz(0.9) @ v[:3], Rz(0.9) @ v[3:]]))
    close(dense(od.kinetic_energy(model, moved, rate)), dense(od.kinetic_energy(model, q, qd)))
    close(dense(advance.q(model, q)), dense(moved))
    symbols = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    f = ca.Function("f", symbols, advance.state(model, *symbols))
    close(dense(f(q, qd)[0]), dense(moved))


def test_roots_that_cannot_move_so_are_named():
    puck = figure(od.Planar())
    assert obstacle(puck, shifts=(True, True, False), turns=True) == ""
    assert obstacle(puck, shifts=(True, True, True), turns=True) == "move up (along z)"
    walker = five_link_biped(root="planar")
    assert obstacle(walker, shifts=(True, False, True), turns=False) == ""
    assert (
        obstacle(walker, shifts=(True, True, False), turns=True) == "move sideways (along y) or turn about the vertical"
    )
    slide = figure(od.MultiDof([(0, 0, 0, 0, 0.6, 0.8), (0, 0, 0, 0, 0.8, -0.6)]))  # both axes are oblique
    q = Advance.of(0.0, 0.3, 0.2).q(slide, ca.DM(slide.nq, 1))
    close(dense(od.point_position(slide, "trunk", q)).ravel(), [0, 0.3, 0.2])
    assert obstacle(slide, shifts=(True, True, True), turns=False) == "move along x"


def test_a_puck_turns_with_its_world(rng):
    puck, advance = figure(od.Planar()), Advance.of(0.4, -0.3, 0.0, 0.9)
    q, qd = ca.DM(puck.random_q(rng)), ca.DM(rng.normal(size=puck.nv))
    moved, rate = advance.state(puck, q, qd)
    close(dense(od.point_position(puck, "leg", moved)), dense(advance.point(od.point_position(puck, "leg", q))))
    close(dense(od.kinetic_energy(puck, moved, rate)), dense(od.kinetic_energy(puck, q, qd)))


@pytest.mark.slow
def test_a_repetition_maps_points_vectors_and_states(rng):
    model, once = human(), Advance.of(0.6, 0.0, 0.17)
    mirror = ocp.mirror_map(model)
    next_one, later = (Repetition.of(model, once, mirror, n) for n in (1, 2))
    assert later.mirror is None
    p = rng.normal(size=(5, 3))
    close(next_one.points(p), p * [1, -1, 1] + np.array([0.6, 0, 0.17]))
    close(later.points(p), p + np.array([1.2, 0, 0.34]))
    close(next_one.vectors(p), p * [1, -1, 1])
    close(next_one.moments(p), p * [-1, 1, -1])
    assert (next_one.yaw(0.1), later.yaw(0.1)) == (-0.1, 0.1)
    assert (next_one.frame("sole_l").name, later.frame("sole_l").name) == ("sole_r", "sole_l")
    q, qd = np.array([model.random_q(rng)]), rng.normal(size=(1, model.nv))
    moved, rate = next_one.rows(q, qd)
    close(moved[0], dense(mirror.q(ca.DM(q[0]))).ravel() + np.array([0.6, 0, 0.17, *np.zeros(model.nq - 3)]))
    close(rate[0], dense(mirror.qd(ca.DM(qd[0]))).ravel())
    close(next_one.forces(qd), rate)
    close(later.forces(qd), qd)
    turned = Repetition.of(model, turning(), None, 2)
    close(turned.moments(p), p @ Rz(1.8).T)
    close(turned.vectors(p), p @ Rz(1.8).T)
    assert turned.yaw(0.1) == pytest.approx(1.9)
