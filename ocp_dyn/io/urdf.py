"""URDF -> Model."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from .._base.checks import choice, warn_user
from .._base.files import file_to_read
from .._base.types import (
    LARGEST_MAGNITUDE,
    ROUNDING,
    Array,
    ModelError,
    ModelWarning,
    Vector,
    repr_in_message,
    suggestion,
)
from ..joints import Fixed, FloatingBase, Joint, Planar, Prismatic, Revolute
from ..mechanism import FileJoint, Model
from ..mechanism.annotations import Annotations, counted_out
from ..mechanism.builder import WORLD, ModelBuilder, check_inertia
from ..spatial_algebra.rotations import quarter_turns, rpy_matrix, unit_axis
from ._urdf_xml import UrdfTree, read_urdf_xml
from .shapes.body_shape import shape_file

EARTH: Vector = (0.0, 0.0, -9.81)
BOLTED_LIMBS, LIMB_DOFS = 3, 3
"""Least number of limbs, and of their dofs, by which a robot on legs is told from an arm."""
MIMIC, INERTIA = ("refuse", "free", "couple"), ("refuse", "keep")
"""Choices of `load_urdf`."""
DEFAULT_AXIS = (1.0, 0.0, 0.0)
"""The axis of a URDF joint that gives none."""


def load_urdf(
    path: str | PathLike[str],
    root: Joint | None = None,
    *,
    gravity: Vector = EARTH,
    mimic: Literal["refuse", "free", "couple"] = "refuse",
    inertia: Literal["refuse", "keep"] = "refuse",
) -> Model:
    """The model of a URDF file: joints depth-first in the file's order, fixed joints merged, links as frames.

    root: None fixes the root link to the ground, with a `ModelWarning` if three or more limbs of three or more dofs
    hang on it: a humanoid or a quadruped that is bolted to the ground is rarely meant. `Fixed()` fixes it without a
    warning; `FloatingBase()`, `Planar()` or any other joint moves it. That joint is called `root.name` for a
    FloatingBase, "root" otherwise; its body is called as the root link. gravity [m/s^2] in ground axes. SI units
    throughout, as URDF has them.

    mimic: URDF's <mimic> couples a joint to another one. A `Model` is a tree of independent joints, so
    "refuse" (default) raises; "free" loads a mimic joint as an independent one; "couple" does so too and keeps the
    coupling in `model.mimics`, for `mimic_constraints(model)`, couplings for any constraint set, and
    `mimic_map(model)`, the coordinates without the joints that follow.
    inertia: a link whose inertia no body can have (see `check_inertias`) is refused; "keep" takes it as it is,
    and the mass matrix may then not be positive definite.

    A file may leave out: <inertial> (a massless link), <inertia> (a point mass), <origin> (zero),
    <axis> (x), <limit> or its parts (no limit; if only one of lower and upper is given, the other is 0, as
    URDF defines). A revolute joint without <limit>, which URDF forbids and files have, is unlimited; a
    continuous joint has no lower or upper limit whatever is written, and numbers beyond 1e100 are none. Limits and
    dynamics of floating and planar joints, one number for meters and radians alike, are not kept. A planar joint moves
    in the plane normal to its axis; see `_add_planar`. Angles within 5e-11 of a multiple of pi/2 are that multiple.

    Raises ModelError (file, line, element, what, remedy) for everything wrong in the file, OSError if it
    cannot be read. Nothing is printed, and no file is opened but this one. Shapes are not read; the model keeps the
    path, from which `model.show()` reads them. `model.notes` counts what else is left out, such as transmissions.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = pathlib.Path(folder, "drone.urdf").write_text('<robot name="drone"><link name="base"/></robot>')
    ...     od.load_urdf(f"{folder}/drone.urdf", root=od.FloatingBase())
    <Model 'drone': nb=1, nq=7, nv=6>
    """
    file = file_to_read(path)
    name = str(file)
    if name.lstrip().startswith("<"):
        raise ModelError(
            f"a path was expected, got what looks like URDF text ({repr_in_message(name[:30])}...): use parse_urdf"
        )
    model = parse_urdf(file.read_bytes(), root, gravity=gravity, mimic=mimic, inertia=inertia, source=name)
    return replace(model, shape_files=(shape_file(file),))


def parse_urdf(
    text: str | bytes,
    root: Joint | None = None,
    *,
    gravity: Vector = EARTH,
    mimic: Literal["refuse", "free", "couple"] = "refuse",
    inertia: Literal["refuse", "keep"] = "refuse",
    source: str = "URDF text",
) -> Model:
    """The model of a URDF given as text; `source` is the name that opens error messages. See `load_urdf`.

    >>> links = '<link name="frame"/><link name="leaf"><inertial><mass value="20"/></inertial></link>'
    >>> ends = '<parent link="frame"/><child link="leaf"/><axis xyz="0 0 1"/>'
    >>> od.parse_urdf(f'<robot name="door">{links}<joint name="hinge" type="continuous">{ends}</joint></robot>').q_names
    ('hinge',)
    """
    _check_root(root)
    choice(mimic, MIMIC, "mimic")
    choice(inertia, INERTIA, "inertia")
    if not isinstance(source, str) or len(source) > 4096:
        raise TypeError(
            f"source must be the name of the text, a string of 4096 characters at most, got {repr_in_message(source)}"
        )
    tree = read_urdf_xml(text, source)
    robot = tree.robot()
    root_link, joints = depth_first(robot, tree)
    links = {link.name: link for link in robot.links}
    builder = ModelBuilder(robot.name, gravity)
    add_root(builder, links[root_link], root, tree)
    for joint in joints:
        if is_mimic(joint) and mimic == "refuse":
            raise ModelError(
                f"{tree.where('joint', joint.name)} mimics joint {repr_in_message(joint.mimic.joint)}: a model does "
                'not couple joints; load with mimic="couple" to have the coupling in od.mimic_constraints(model), with '
                'mimic="free" to make this joint independent, or give it type="fixed" in the file'
            )
        if joint.child == WORLD:
            where = tree.where("link", joint.child)
            raise ModelError(f"{where}: only a root link may have this name, which is the ground's; rename the link")
        with at_place(tree.where("joint", joint.name)):
            add_joint(builder, joint, links[joint.child])
    for joint in filter(is_mimic, joints) if mimic == "couple" else ():
        m = joint.mimic
        with at_place(f"{source}, line {tree.lines['joint', joint.name]}"):
            builder.add_mimic(joint.name, m.joint, m.multiplier, m.offset)
    with at_place(source):
        model = builder.build()
    if inertia == "refuse":
        check_inertias(model, robot.links, tree)
    if root is None:
        _warn_if_bolted(model, root_link, source)
    annotations = Annotations(notes=counted_out(+tree.left))
    noted = _noted(model, {j.name for j in joints if j.type == "continuous"})
    return replace(model, file_joints=noted, annotations=annotations)


def _check_root(root: Any) -> None:
    """TypeError unless the root is a joint or None."""
    if root is not None and not isinstance(root, Joint):
        given = f"{root.__name__}()" if isinstance(root, type) and issubclass(root, Joint) else "od.FloatingBase()"
        raise TypeError(
            f"root must be None or a joint such as FloatingBase(), got {repr_in_message(root)}: write root={given}"
        )


def _warn_if_bolted(model: Model, root_link: str, source: str) -> None:
    """A warning if the ground carries at least three limbs, subtrees of at least three dofs; not for a root link that
    is called "world"."""
    dofs = {i: 0 for i, p in model.edges if not p}  # of the joint of a body on the ground, and of all that it carries
    for i, _ in model.edges:
        dofs[model.path(i)[0]] += model.joints[i].nv
    limbs = [i for i, nv in dofs.items() if nv >= LIMB_DOFS]
    if root_link != WORLD and len(limbs) >= BOLTED_LIMBS:
        warn_user(
            f"{source}: the root link {repr_in_message(root_link)}, on which {len(limbs)} limbs hang, is fixed to the "
            "ground: root=FloatingBase() lets the robot move, root=Fixed() fixes it without this warning",
            ModelWarning,
        )


def _noted(model: Model, continuous: set[str]) -> tuple[FileJoint, ...]:
    """The notes on the model's joints, including which ones the file calls continuous."""
    mounts = {f.joint: f.mounts for f in model.file_joints}
    noted = (FileJoint(name, mounts.get(name, ()), name in continuous) for name in model.joint_names)
    return tuple(f for f in noted if f.mounts or f.continuous)


def is_mimic(joint: Any) -> bool:
    return joint.mimic is not None and joint.type != "fixed"


@contextmanager
def at_place(where: str) -> Iterator[None]:
    """Puts the place in the file before the message of an error; a joint or link that both name is named once."""
    try:
        yield
    except ValueError as error:
        named = where.rpartition(": ")[2]
        raise ModelError(f"{where}: {str(error).removeprefix(f'{named}: ')}") from None


# The tree of links


def _refuse(message: str) -> None:
    raise ModelError(message)


def depth_first(robot: Any, tree: UrdfTree, fault: Callable[[str], None] = _refuse) -> tuple[str, list[Any]]:
    """The root link and all joints, parents before children, siblings in the file's order.

    fault: gets the message of every fault; the joint is then left out. By default the first raises.
    """
    names = [link.name for link in robot.links]
    if not names:
        raise ModelError(f"{tree.source}: no <link> in <robot>; a robot needs at least one")
    known = set(names)
    children: dict[str, list[Any]] = {name: [] for name in names}
    moved_by: dict[str, Any] = {}
    for joint in robot.joints:
        message = _misplaced(joint, known, moved_by, tree)
        if message:
            fault(message)
            tree.incomplete = True
            continue
        moved_by[joint.child] = joint
        children[joint.parent].append(joint)
    roots = [name for name in names if name not in moved_by]
    if len(roots) > 1 and not tree.incomplete:
        names_shown = ", ".join(map(repr, roots[:8])) + (", ..." if roots[8:] else "")
        fault(
            f"{tree.source}: {len(roots)} root links ({names_shown}), expected one; join them with joints. "
            f"{repr_in_message(roots[1])} is defined on line {tree.lines['link', roots[1]]}"
        )
    order: list[Any] = []
    ahead = children[roots[0]][::-1] if roots else []
    while ahead:
        joint = ahead.pop()
        order.append(joint)
        ahead.extend(reversed(children[joint.child]))
    reached = {joint.child for joint in order}
    if len(roots) <= 1 and len(reached) < len(moved_by):
        fault(_cycle(moved_by, reached, tree))
    return (roots or names)[0], order


def _misplaced(joint: Any, known: set[str], moved_by: dict[str, Any], tree: UrdfTree) -> str:
    """The message about a joint whose parent or child is not defined or hangs on another joint; empty if all is
    well."""
    where = tree.where("joint", joint.name)
    for role, link in (("parent", joint.parent), ("child", joint.child)):
        if link not in known:
            return (
                f"{where}: its {role} link {repr_in_message(link)} is not defined; define it or correct the name"
                f"{suggestion(link, known)}"
            )
    if joint.child in moved_by:
        other = moved_by[joint.child].name
        return (
            f"{where}: link {repr_in_message(joint.child)} is already the child of joint {repr_in_message(other)}; "
            "URDF describes trees, so open the loop at one joint and close it with a constraint"
        )
    return ""


def _cycle(moved_by: dict[str, Any], reached: set[str], tree: UrdfTree) -> str:
    """The message about one cycle, with the names of its links."""
    link = next(name for name in moved_by if name not in reached)
    seen: dict[str, None] = {}
    while link not in seen:
        seen[link] = None
        link = moved_by[link].parent
    upwards = list(seen)
    cycle = [*upwards[upwards.index(link) :], link][::-1]
    names_shown = " -> ".join(map(repr, cycle if len(cycle) < 12 else [*cycle[:10], "...", cycle[-1]]))
    return (
        f"{tree.where('joint', moved_by[link].name)}: links form a cycle that hangs on no root: {names_shown}; URDF "
        "describes trees, so open the loop at one joint and close it with a constraint"
    )


# Bodies


def add_root(builder: ModelBuilder, link: Any, root: Joint | None, tree: UrdfTree) -> None:
    joint = root or Fixed()
    name = joint.name if isinstance(joint, FloatingBase) else "root"
    if not isinstance(joint, Fixed) and ("joint", name) in tree.lines:
        remedy = "name the floating base otherwise, FloatingBase(name=...), or rename the joint"
        if not isinstance(joint, FloatingBase):
            remedy = "rename the joint"
        raise ModelError(f"{tree.where('joint', name)} has the name of the root joint; {remedy}")
    with at_place(tree.where("link", link.name)):
        builder.add_body(link.name, joint, joint_name=name, **inertial_of(link))


def add_joint(builder: ModelBuilder, joint: Any, link: Any) -> None:
    """Adds the child link of a joint."""
    xyz, rpy = _pose(joint.origin)
    rotation = rpy_matrix(rpy)
    if joint.type == "planar":
        _add_planar(builder, joint, link, xyz, rotation)
        return
    if joint.type in ("fixed", "floating"):  # no axis; files write 0 0 0 there
        kind: Joint = Fixed() if joint.type == "fixed" else FloatingBase()
    else:
        kind = (Prismatic if joint.type == "prismatic" else Revolute)(_axis(joint.axis))
    builder.add_body(
        link.name, kind, joint.parent, joint_name=joint.name, origin=xyz, rotation=rotation,
        **inertial_of(link), **_dof_data(joint),
    )  # fmt: skip


def _add_planar(builder: ModelBuilder, joint: Any, link: Any, xyz: Vector, rotation: Array) -> None:
    """Adds the child link of a planar joint, which moves in the plane normal to its axis.

    Our `Planar` moves along x and y of its frame and turns about z. For another axis the joint frame is
    turned so that its z is the axis; the moving body, called "<link>_plane", has its axes along that
    frame, and the link is a frame of it turned back, so that points of the link keep their coordinates and at q = 0
    the link lies where the file puts it. For the axes x, y and z, q is (y, z, theta), (z, x, theta) and (x, y, theta).
    """
    turn = _plane_axes(_axis(joint.axis))
    if np.array_equal(turn, np.eye(3)):
        builder.add_body(
            link.name, Planar(), joint.parent, joint_name=joint.name, origin=xyz, rotation=rotation, **inertial_of(link)
        )
        return
    plane = f"{link.name}_plane"
    builder.add_body(plane, Planar(), joint.parent, joint_name=joint.name, origin=xyz, rotation=rotation @ turn)
    builder.add_body(link.name, Fixed(), plane, rotation=turn.T, **inertial_of(link))


def _plane_axes(axis: Vector) -> Array:
    """A rotation whose third column is the unit vector `axis`, the identity for z.

    The first column is the coordinate axis that follows the largest entry of `axis`, brought into the plane.
    """
    n = np.array(axis)
    a = np.roll(np.eye(3), 1, axis=0)[:, int(np.argmax(np.abs(n)))]
    a = a - (a @ n) * n
    a /= np.linalg.norm(a)
    return np.column_stack([a, np.cross(n, a), n])


def _pose(origin: Any) -> tuple[Vector, Vector]:
    """xyz and rpy of an <origin>, pi/2 of ten or more decimals as pi/2; zero for attributes that are not given."""
    zero = (0.0, 0.0, 0.0)
    return (zero, zero) if origin is None else (origin.xyz, quarter_turns(origin.rpy))


def _axis(axis: Any) -> tuple[float, float, float]:
    if axis is None:
        return DEFAULT_AXIS
    largest = max(map(abs, axis))
    return unit_axis([x / largest if largest > 1 else x for x in axis])  # the square of a huge entry would overflow


def inertial_of(link: Any) -> dict[str, Any]:
    """mass, com and inertia of a link for `ModelBuilder.add_body`, turned into link axes."""
    inertial = link.inertial
    if inertial is None:
        return {}
    xyz, rpy = _pose(inertial.origin)
    R = rpy_matrix(rpy)
    I = np.zeros((3, 3)) if inertial.inertia is None else _matrix(inertial.inertia)
    return {"mass": inertial.mass, "com": xyz, "inertia": R @ I @ R.T, "inertia_check": False}


def _matrix(I: Any) -> Array:
    return np.array([[I.ixx, I.ixy, I.ixz], [I.ixy, I.iyy, I.iyz], [I.ixz, I.iyz, I.izz]])


def check_inertias(model: Model, links: list[Any], tree: UrdfTree, fault: Callable[[str], None] = _refuse) -> None:
    """Raises for a link whose inertia no body can have, or gives the message of every such link to `fault`.

    Files contain links with dummy or rounded inertias that are fixed to bigger links; what matters is the moving body
    that they form together. Therefore a link's inertia may be wrong by a thousandth of its own largest moment of
    inertia, or of that of its moving body (for links on the ground: of the model's largest body), and by rounding
    beside the model's largest.
    """
    largest = [0.0]
    for body in model.I[1:]:
        m, h = float(body.m), np.array(body.h.full()).ravel()
        about_com = np.array(body.I.full())
        if m > 0:
            about_com -= (h @ h * np.eye(3) - np.outer(h, h)) / m
        largest.append(float(np.abs(np.linalg.eigvalsh(about_com)).max()))
    largest[0] = max(largest)
    for link in links:
        if link.inertial is None or link.inertial.inertia is None:
            continue
        I = _matrix(link.inertial.inertia)
        slack = max(1e-3 * largest[model.frame(link.name).body], ROUNDING * largest[0])
        try:
            check_inertia(I, tree.where("link", link.name), slack)
        except ModelError as error:
            fault(f'{error}, or load with inertia="keep"')


def _bound(x: float) -> float:
    """A limit; one beyond all lengths and angles, such as the largest double of other writers, is none."""
    return math.copysign(math.inf, x) if abs(x) > LARGEST_MAGNITUDE else x


def _dof_data(joint: Any) -> dict[str, Any]:
    """Limits and dynamics of a one-dof joint for `ModelBuilder.add_body`."""
    data: dict[str, Any] = {}
    if joint.type not in ("revolute", "continuous", "prismatic"):
        return data
    if joint.limit is not None:
        keys = ("velocity", "effort") if joint.type == "continuous" else ("velocity", "effort", "lower", "upper")
        data |= {key: _bound(getattr(joint.limit, key)) for key in keys}
    if joint.dynamics is not None:
        data |= vars(joint.dynamics)
    return data
