"""From the kinematic tree of an MJCF file to a `Model`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import Array, ModelError
from ...dynamics.rnea_crba_aba import mass_matrix
from ...joints import Fixed, FloatingBase, Joint, Prismatic, Revolute, Spherical
from ...mechanism import FormulaTorque, Model, WeightSupport
from ...mechanism.builder import WORLD, ModelBuilder
from ...mechanism.loads import Loads
from ...mechanism.parts import DofData
from ...spatial_algebra.poses import Pose, about
from ...spatial_algebra.rotations import matrix_quaternion
from ..xml import XmlElement
from .elements import InertiaData, JointData
from .inertia import SMALLEST
from .settings import Settings
from .tree import BodyData


@contextmanager
def at(element: XmlElement) -> Iterator[None]:
    """Puts the place of an element before the message of an error."""
    try:
        yield
    except ModelError as error:
        if str(error).startswith(f"{element.source}, line "):
            raise
        raise element.fault(str(error)) from None


def built(
    name: str, bodies: list[BodyData], inertias: list[InertiaData], settings: Settings, motors: dict[str, Array],
    ground: bool = False,
) -> Model:  # fmt: skip
    """The model: a chain of joints per body, and a frame for every body and every site with a name.

    motors: lowest and largest torque per dof (n x 2) by the names of joints. ground: with a frame "world", for
    constraints that hold bodies to it.
    """
    builder, frames = ModelBuilder(name, settings.gravity), frames_of_sites(bodies)
    if ground:
        builder.add_frame(WORLD, WORLD)
    for number, body in enumerate(bodies):
        if number:
            with at(body.element):
                add_body(builder, body, bodies[body.parent].name if body.parent else WORLD, inertias[number], motors)
        for site in body.sites:
            with at(site.element):
                carrier = body.name if number else WORLD
                builder.add_frame(frames[site.name], carrier, site.pose.p, site.pose.R)
        builder.add_passive(*(FormulaTorque(joint.name, joint.powers) for joint in body.joints if joint.powers))
    return supported(with_timed_springs(builder.build(), bodies, settings.off), bodies, inertias)


def supported(model: Model, bodies: list[BodyData], inertias: list[InertiaData]) -> Model:
    """The model with the shares of weights that its file has held up."""
    found = [
        WeightSupport(body.name, body.support * inertia.mass, tuple(inertia.com))
        for body, inertia in zip(bodies, inertias, strict=True)
        if body.support and inertia.mass
    ]
    return model.with_bushings(found) if found else model


def add_body(
    builder: ModelBuilder, body: BodyData, parent: str, inertia: InertiaData, motors: dict[str, Array]
) -> None:
    """A body on its joints, one after the other, each a massless body of its own but the last.

    The frame of a moving body of ours lies on its joint. Where that is not the frame of MuJoCo's body, a further
    frame, fixed to the last one, carries the name and the inertia.
    """
    own: dict[str, Any] = {"mass": inertia.mass, "com": inertia.com, "inertia": inertia.I}
    if not body.joints:
        builder.add_body(body.name, Fixed(), parent, origin=body.pose.p, rotation=body.pose.R, **own)
        return
    before, anchor, last = body.pose, np.zeros(3), body.joints[-1]
    aside = np.any(anchor_of(body.joints))
    for k, joint in enumerate(body.joints):
        ends = joint is last and not aside
        name = body.name if ends else f"{body.name}#{k}"
        frame, anchor = joint_frame(joint, before, anchor)
        with at(joint.element):
            builder.add_body(
                name, joint_of(joint), parent, joint_name=joint.name, origin=frame.p, rotation=frame.R,
                **(own if ends else {}), **dofs_of(joint, body.pose, motors),
            )  # fmt: skip
        parent, before = name, Pose()
    if aside:
        builder.add_body(body.name, Fixed(), parent, origin=-anchor, **own)


def anchor_of(joints: list[JointData]) -> Array:
    """The place in the body on which the frame of its last joint lies."""
    anchor = np.zeros(3)
    for joint in joints:
        anchor = joint.p if joint.kind in ("hinge", "ball") else anchor
    return anchor


def joint_frame(joint: JointData, before: Pose, anchor: Array) -> tuple[Pose, Array]:
    """The fixed frame of a joint in what comes before, and the place in the body on which it lies.

    before: the frame of the body; anchor: its place in the body where joints before have moved it. A joint whose
    position is `reference` where the file has the body is turned, or shifted, back by it.
    """
    if joint.kind == "free":  # its position is that of the world, whatever pose the body has
        return Pose(), anchor
    if joint.kind == "slide":
        return before @ Pose(np.eye(3), -joint.reference * joint.axis), anchor
    back = about(joint.axis, -joint.reference) if joint.reference else np.eye(3)
    return before @ Pose(back, joint.p - anchor), joint.p


def joint_of(joint: JointData) -> Joint:
    if joint.kind == "free":
        return FloatingBase()
    if joint.kind == "ball":
        return Spherical()
    return (Revolute if joint.kind == "hinge" else Prismatic)(joint.axis)


def dofs_of(joint: JointData, pose: Pose, motors: dict[str, Array]) -> dict[str, Any]:
    """Options of `ModelBuilder.add_body` for the dofs of a joint."""
    found: dict[str, Any] = {
        "damping": joint.damping + joint.motor_damping, "friction": joint.friction, "stiffness": joint.stiffness,
        "armature": joint.armature,
    }  # fmt: skip
    if joint.kind in ("hinge", "slide"):
        found["rest"] = joint.rest
        if joint.limits is not None:
            found["lower"], found["upper"] = (float(x) for x in joint.limits)
    if joint.kind == "free":
        found["rest"] = (*pose.p, *xyzw(pose.R))
    if joint.name in motors:
        found["effort"] = motors[joint.name]
    return found


def xyzw(R: Array) -> tuple[float, ...]:
    """The quaternion (x, y, z, w) of a rotation."""
    return tuple(float(x) for x in np.ravel(matrix_quaternion(R)))


def frames_of_sites(bodies: list[BodyData]) -> dict[str, str]:
    """The name of the frame of every site: its own, or "NAME_site" if a body is called so."""
    taken = {body.name for body in bodies} | {f"{body.name}#{k}" for body in bodies for k in range(len(body.joints))}
    names = [site.name for body in bodies for site in body.sites]
    kept = taken | set(names)
    found: dict[str, str] = {}
    for name in names:
        own = name
        while own in taken or (own != name and own in kept):
            own += "_site"
        found[name] = own
        kept.add(own)
    return found


def reference(bodies: list[BodyData]) -> Array:
    """The configuration in which the file has the bodies, MuJoCo's qpos0, in our layout."""
    parts: list[tuple[float, ...]] = [()]
    for body in bodies:
        for joint in body.joints:
            if joint.kind == "free":
                parts.append((*body.pose.p, *xyzw(body.pose.R)))
            else:
                parts.append((0.0, 0.0, 0.0, 1.0) if joint.kind == "ball" else (joint.reference,))
    return np.concatenate([np.array(part) for part in parts])


def with_timed_springs(model: Model, bodies: list[BodyData], off: frozenset[str]) -> Model:
    """The model with stiffness and damping from the time constant T and the damping ratio d of `springdamper`:

    inertia = n / trace of the joint's part of H^-1, n its dofs, stiffness = inertia / (T d)^2, damping = 2 inertia / T.
    off: flags of the file that are off, among them those of springs and dampers.
    """
    joints = [joint for body in bodies for joint in body.joints]
    timed = [joint for joint in joints if joint.spring_damper is not None]
    if not timed:
        return model
    H = np.array(DM(mass_matrix(model, DM(reference(bodies)), loads=Loads(armature=True))).full())
    try:
        inverse = np.diag(np.linalg.inv(H))
    except np.linalg.LinAlgError:
        raise timed[0].element.fault(
            "springdamper takes the inertia that the joints move, and some joint of the model moves none: give its "
            "body a mass, or the joint an armature"
        ) from None
    dofs = {key: np.array(values) for key, values in vars(model.dofs).items()}
    for joint in timed:
        T, ratio = joint.spring_damper or (0.0, 0.0)
        at_v = model.qd_slice(joint.name)
        inertia = (at_v.stop - at_v.start) / max(SMALLEST, float(inverse[at_v].sum()))
        if not off & {"spring", "passive"}:
            dofs["stiffness"][at_v] = inertia / max(SMALLEST, T * T * ratio * ratio)
        if not off & {"damper", "passive"}:
            dofs["damping"][at_v] = 2 * inertia / max(SMALLEST, T) + joint.motor_damping
    return replace(model, dofs=DofData(**dofs))
