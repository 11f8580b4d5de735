"""One rule for "this dof is a length", one for "a root without motors": by how a joint moves, whatever it is called."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.constrained_motion.inverse_dynamics import actuated_dofs
from ocp_dyn.joints import EULER_ORDERS
from ocp_dyn.ocp.statement.objectives import base_size
from ocp_dyn.spatial_algebra.rotations import rotation_about
from ocp_dyn.symmetry.advance import Advance
from tests.helpers import close, knee


def free(q: Any) -> od.Transform:
    """Six dofs of a user's own, called as nothing is: turned, then moved along the axes that turned."""
    E = rotation_about((0, 0, 1.0), q[0]).T @ rotation_about((0, 1.0, 0), q[1]).T @ rotation_about((1.0, 0, 0), q[2]).T
    return od.Transform(E, E.T @ q[3:])


def sledge(q: Any) -> od.Transform:
    """In the plane of y and z: (y, angle, z)."""
    return od.Transform(rotation_about((1.0, 0, 0), q[1]).T, ca.vertcat(0, q[0], q[2]))


X, Y, Z, RX, RY, RZ = [tuple(float(k == j) for k in (3, 4, 5, 0, 1, 2)) for j in range(6)]
T, F = True, False

# joint, which of its dofs are lengths, whether it floats
KINDS: dict[str, tuple[od.Joint, tuple[bool, ...], bool]] = {
    "multi_six": (od.MultiDof([X, Y, Z, RZ, RY, RX]), (T, T, T, F, F, F), True),
    "multi_six_mixed": (od.MultiDof([RZ, X, RY, Z, RX, Y]), (F, T, F, T, F, T), True),
    "multi_six_twice": (od.MultiDof([X, Y, Z, RZ, RY, X]), (T, T, T, F, F, T), False),
    "multi_plane": (od.MultiDof([X, Z, RY]), (T, T, F), True),
    "multi_plane_turned": (od.MultiDof([RY, X, Z]), (F, T, T), True),
    "multi_screw": (od.MultiDof([X, Z, (0, 1, 0, 0, 0.1, 0)]), (T, T, F), False),
    "multi_three": (od.MultiDof([X, RX, RY]), (T, F, F), False),
    "planar": (od.Planar(), (T, T, F), True),
    "floating": (od.FloatingBase(), (T, T, T, F, F, F), True),
    **{f"floating_{o}": (od.FloatingBase(f"euler_{o}"), (T, T, T, F, F, F), True) for o in EULER_ORDERS},
    "custom_six": (od.CustomJoint(free, ("a", "b", "c", "d", "e", "f")), (F, F, F, T, T, T), True),
    "custom_plane": (od.CustomJoint(sledge, ("x", "y", "z")), (T, F, T), True),
    "custom_knee": (od.CustomJoint(knee, ("x", "y")), (F, F), False),
    "revolute": (od.Revolute("x"), (F,), False),
    "prismatic": (od.Prismatic((1, 2, 3)), (T,), False),
    "helical": (od.Helical("x", pitch=0.3), (F,), False),
    "cylindrical": (od.Cylindrical("y"), (F, T), False),
    "universal": (od.Universal(), (F, F), False),
    "spherical": (od.Spherical(), (F, F, F), False),
    "translation": (od.Translation(), (T, T, T), False),
    "euler": (od.Euler("xyz"), (F, F, F), False),
}


def walker(root: od.Joint, rotation: Any = None) -> od.Model:
    builder = od.ModelBuilder("walker")
    builder.add_body("trunk", root, joint_name="base", mass=5, inertia=(1, 1, 1), rotation=rotation)
    builder.add_body("leg", od.Revolute("y"), "trunk", mass=1, com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.1))
    return builder.build()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_every_room_has_the_same_rules(kind: str) -> None:
    joint, lengths, floats = KINDS[kind]
    model = walker(joint)
    base = joint.nv if floats else 0
    assert tuple(joint.lengths()[1]) == lengths
    assert joint.floats() is floats
    assert model.floating_joints == (("base",) if floats else ())
    assert list(model.lengths[1]) == [*lengths, False]
    problem = ocp.Problem(model, [ocp.Phase("p", 1, 1.0)])
    assert problem.resolved.unactuated == model.floating_joints
    assert problem.actuated == actuated_dofs(model)[0] == list(range(base, model.nv))
    assert base_size(model) == base
    if not isinstance(joint, od.CustomJoint):
        grown = model.with_limits(velocity=1.0).scale(2.0).dofs.qd_max
        close(grown, np.where(model.lengths[1], 2.0, 1.0))


@pytest.mark.parametrize("kind", [k for k, (_, lengths, floats) in KINDS.items() if floats])
@pytest.mark.slow
def test_a_defect_in_meters_is_one(kind: str) -> None:
    """A free fall in one step of 0.2 s of the semi-implicit Euler rule: g h^2 / 2 too low, and nothing turned."""
    model = walker(KINDS[kind][0])
    down = (0.0, 0.0, -9.81) if kind not in ("planar",) else (0.0, -9.81, 0.0)
    model = model.with_gravity(down)

    def begin(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        return ca.vertcat(start.q - DM(model.neutral()), start.qd), 0.0, 0.0

    fall = ocp.Problem(
        model, [ocp.Phase("fall", 1, 0.2)], boundary=[ocp.Boundary(begin)], form="explicit", integrator="euler",
        limits=False, unactuated=model.joint_names,
    ).solve(progress=False)  # fmt: skip
    defects = fall.defects()
    assert defects.length == pytest.approx(9.81 * 0.2**2 / 2, rel=1e-5)
    assert defects.angle < 1e-6


UP = ((1, 0, 0), (0, 0, -1), (0, 1, 0))
FORWARD = {
    "floating": (od.FloatingBase(), None),
    "euler": (od.FloatingBase("euler_zyx"), None),
    "multi": (od.MultiDof([X, Y, Z, RZ, RY, RX]), None),
    "planar": (od.Planar(), UP),
    "prismatic": (od.Prismatic("x"), None),
}
NOT_FORWARD = {
    "up": (od.Prismatic("z"), None),
    "turned first": (od.MultiDof([RZ, X, Y, Z, RY, RX]), None),
    "hinge": (od.Revolute("y"), None),
    "called x": (od.CustomJoint(sledge, ("x", "y", "z")), None),
}


@pytest.mark.parametrize("kind", FORWARD)
def test_a_root_that_moves_along_x_may_walk(kind: str) -> None:
    model = walker(*FORWARD[kind])
    close(model.root_shifts[:, 0], [1, 0, 0])
    ocp.Problem(model, [ocp.Phase("p", 1, 1.0)], periodic=ocp.Periodic(1.0, mirror=False))


def test_a_root_with_turned_axes_may_walk() -> None:
    """The entry of q that moves the model along the world's x is another one than the first."""
    model = walker(od.FloatingBase(), ((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    ocp.Problem(model, [ocp.Phase("p", 1, 1.0)], periodic=ocp.Periodic(1.0, mirror=False))
    q, qd = DM(model.random_q(np.random.default_rng(1))), DM.ones(model.nv)
    moved, rates = Advance.of(0.7).state(model, q, qd)
    close(od.point_position(model, "leg", moved) - od.point_position(model, "leg", q), [0.7, 0, 0])
    close(rates, qd)


@pytest.mark.parametrize("kind", NOT_FORWARD)
def test_a_root_that_does_not_may_not(kind: str) -> None:
    with pytest.raises(ValueError, match="its root joint 'base' cannot move along x"):
        ocp.Problem(walker(*NOT_FORWARD[kind]), [ocp.Phase("p", 1, 1.0)], periodic=ocp.Periodic(1.0, mirror=False))


def test_every_root_that_floats_is_left_to_itself() -> None:
    """A robot and a ball on the ground: neither root has motors."""
    builder = od.ModelBuilder("juggler")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("y"), "trunk", mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("ball", od.FloatingBase(name="ball"), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("lid", od.Planar(), "ball", mass=1, inertia=(0.1, 0.1, 0.1))
    model = builder.build()
    assert model.floating_joints == ("root", "ball")
    problem = ocp.Problem(model, [ocp.Phase("p", 1, 1.0)])
    assert problem.actuated == actuated_dofs(model)[0] == [6, 13, 14, 15]
