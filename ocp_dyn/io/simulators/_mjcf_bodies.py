"""Bodies, joints, motors and sites of an MJCF file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import Array, ModelError, repr_in_message
from ...dynamics.invertible import articulated_and_composite
from ...dynamics.rnea_crba_aba import mass_matrix
from ...dynamics.subtrees import depth_first
from ...joints import FloatingBase, Prismatic, Revolute, Spherical
from ...mechanism import Model
from ...mechanism.loads import Loads
from ...spatial_algebra.spatial import Transform
from .._hinges_and_slides import hinges_and_slides
from ._common import (
    DIGITS,
    ROUNDED,
    TINY,
    Element,
    Names,
    balance_moments,
    child,
    defect,
    mass_and_com,
    names_shown,
    pose_attributes,
    principal,
    zero_pivots,
)

HINGES = {Revolute: "hinge", Prismatic: "slide"}


@dataclass
class Written:
    """Contents of the file so far: elements of bodies, names, motors, sentences for the comment at its beginning."""

    bodies: dict[int, Element] = field(default_factory=dict)
    body_names: dict[int, str] = field(default_factory=dict)
    joint_of_dof: dict[int, str] = field(default_factory=dict)
    """Names of hinges and slides by their index into qd."""
    motors: list[dict[str, Any]] = field(default_factory=list)
    site_names: Names = field(default_factory=Names)
    geom_names: Names = field(default_factory=Names)
    notes: list[str] = field(default_factory=list)


def add_bodies(world: Element, model: Model, balance: bool) -> Written:
    """All bodies with their inertias, joints and sites, depth first, siblings in the model's order."""
    done = Written({0: world}, {0: "world"})
    names, joint_names = Names("world"), Names()
    check_inertias(model, balance, done.notes)
    for i in depth_first(model):
        name = done.body_names[i] = names.new(model.body_names[i - 1])
        body = child(done.bodies[model.parent[i]], "body", name=name, **pose_of_frame(model.X_tree[i]))
        done.bodies[i] = body
        add_inertial(body, model, i)
        add_joints(body, model, i, joint_names, done)
    add_sites(model, done)
    return done


def pose_of_frame(X: Transform) -> dict[str, Any]:
    """pos and quat of a frame at X."""
    return pose_attributes(np.array(X.E.full()).T, np.array(X.r.full()).ravel())


# Inertias


def add_inertial(body: Element, model: Model, i: int) -> None:
    """The inertia of a body by principal moments: MuJoCo's own decomposition of a full matrix rounds more."""
    m, c, I = mass_and_com(model, i)
    moments, axes = principal(I)
    attributes = pose_attributes(axes, c)
    attributes["pos"] = c
    child(body, "inertial", mass=max(m, TINY), diaginertia=balance_moments(moments), **attributes)


def check_inertias(model: Model, balance: bool, notes: list[str]) -> None:
    """Raises for inertias that MuJoCo refuses, or that let a dof move nothing; notes those that are changed."""
    light, changed, wrong = [], [], []
    for i in range(1, model.nb + 1):
        m, _, I = mass_and_com(model, i)
        moments, axes = principal(I)
        name, off = model.body_names[i - 1], defect(moments, np.abs(model.I[i].I.full()).max())
        if m < TINY or np.any(moments < TINY):
            light.append(name)
        if off > DIGITS and not balance:
            wrong.append(f"{name} ({', '.join(f'{x:.4g}' for x in np.sort(moments))} kg m^2)")
        elif off > ROUNDED:
            changed.append(name)
            model = model.with_inertia(name, inertia=axes @ np.diag(balance_moments(moments)) @ axes.T)
    if wrong:
        raise ModelError(
            f"write_mjcf: MuJoCo refuses principal moments of inertia of which one is below zero or larger than the "
            f"sum of the others: {names_shown(wrong)}; correct them by model.with_inertia(...), or change them to the "
            "nearest that a body can have by balance=True"
        )
    idle = idle_dofs(model)
    if idle:
        raise ModelError(
            f"write_mjcf: nothing that has inertia is moved by {names_shown(idle)}, and MuJoCo cannot divide by zero: "
            "give its body a mass and an inertia by model.with_inertia(body, mass, com, inertia), or the joint an "
            "armature, or lock the joint by model.lock_joints({joint: position})"
        )
    if light:
        notes.append(
            f"A mass or a moment of inertia of zero is written as {TINY:g} kg or kg m^2, because MuJoCo refuses zero: "
            f"{names_shown(light)}."
        )
    if changed:
        notes.append(
            "Moments of inertia that no body has, as files with few digits contain them, are written as the nearest "
            f"that a body has: {names_shown(changed)}."
        )


def idle_dofs(model: Model) -> list[str]:
    """Names of dofs that move nothing with inertia, for which MuJoCo would divide by zero.

    These are pivots of H = L' D L that are zero. The articulated inertias of the joints have the same pivots, in O(nb),
    as long as none is zero.
    """
    q = DM(model.random_q(np.random.default_rng(0)))
    free, locked = articulated_and_composite(model, q, Loads(armature=True))
    if not any(zero_pivots(free[i], locked[i]) for i, _ in model.edges):
        return []
    H = np.array(DM(mass_matrix(model, q, loads=Loads(armature=True))).full())
    return [model.qd_names[k] for k in zero_pivots(H, np.diag(H))]


# Joints and motors


def add_joints(body: Element, model: Model, i: int, names: Names, done: Written) -> None:
    joint, name = model.joints[i], model.joint_names[i - 1]
    first_q, first = model.q_index[i], model.v_index[i]
    if isinstance(joint, (Spherical, FloatingBase)) and joint.has_quaternion:
        add_free(body, model, i, names, done)
        return
    for k, link in enumerate(hinges_and_slides(joint, name, "MuJoCo")):
        own = names.new(model.qd_names[first + k])
        done.joint_of_dof[first + k] = own
        add_hinge(body, own, link, dof_values(model, first_q + k, first + k))
        add_motor(model, i, first + k, own, None, done)


def dof_values(model: Model, at_q: int, at_v: int) -> dict[str, float]:
    """The fields of DofData of one dof, by their names."""
    return {key: float(x[0]) for key, x in model.dofs.rows(slice(at_q, at_q + 1), slice(at_v, at_v + 1)).items()}


def add_hinge(body: Element, name: str, link: Revolute | Prismatic, dof: dict[str, float]) -> None:
    """A hinge or a slide with its limits, spring, losses and rotor. A range whose ends are equal is no limit in MuJoCo:
    such a joint is held by an equality, see `_mjcf_equality`."""
    low, high = dof["q_lower"], dof["q_upper"]
    limited = low < high and (np.isfinite(low) or np.isfinite(high))
    least, most = dof["tau_min"], dof["tau_max"]
    held = np.isfinite(least) or np.isfinite(most)
    child(
        body, "joint", name=name, type=HINGES[type(link)], axis=link.axis, range=(low, high) if limited else None,
        actuatorfrcrange=(least, most) if held and least < most else None, **losses(dof),
    )  # fmt: skip


def losses(dof: dict[str, float]) -> dict[str, float | None]:
    """Attributes of a joint for spring, damping, dry friction and rotor; None for those that are zero."""
    found = {
        "stiffness": dof["stiffness"], "springref": dof["rest"] if dof["stiffness"] else 0.0,
        "damping": dof["damping"], "frictionloss": dof["friction"], "armature": dof["armature"],
    }  # fmt: skip
    return {key: value or None for key, value in found.items()}


def add_free(body: Element, model: Model, i: int, names: Names, done: Written) -> None:
    """A free joint, or slides and a ball joint where MuJoCo's free joint moves otherwise or has no such data: it hangs
    on the world alone, its position is counted from the world's origin, and it has no limits."""
    name, shifts = model.joint_names[i - 1], model.joints[i].leading_translations
    at_q, at_v = model.q_index[i], model.v_index[i]
    turn = [dof_values(model, at_q + shifts + k, at_v + shifts + k) for k in range(3)]
    slides = [dof_values(model, at_q + k, at_v + k) for k in range(shifts)]
    check_ball(model, i, turn)
    X = model.X_tree[i]
    moved = np.any(X.E.full() != np.eye(3)) or np.any(X.r.full())
    limits = np.isfinite([[s["q_lower"], s["q_upper"]] for s in slides])
    same = all(losses(s) == losses(turn[0]) for s in slides)
    if shifts and not model.parent[i] and not moved and not limits.any() and same:
        child(body, "joint", name=names.new(name), type="free", **losses(turn[0] | {"rest": 0.0}))
        gears: list[Array | None] = [np.eye(6)[k] for k in range(6)]
        own = [str(body.findall("joint")[-1].get("name"))] * 6
    else:
        own = [names.new(model.qd_names[at_v + k]) for k in range(shifts)]
        for k, axis in enumerate("xyz"[:shifts]):
            done.joint_of_dof[at_v + k] = own[k]
            add_hinge(body, own[k], Prismatic(axis), slides[k])
        ball = names.new(f"{name}.turn" if shifts else name)
        child(body, "joint", name=ball, type="ball", **losses(turn[0] | {"rest": 0.0}))
        gears = [None] * shifts + [np.eye(3)[k] for k in range(3)]
        own += [ball] * 3
    for k, gear in enumerate(gears):
        add_motor(model, i, at_v + k, own[k], gear, done)


def check_ball(model: Model, i: int, turn: list[dict[str, float]]) -> None:
    """Raises for a rotation by quaternion whose data MuJoCo has one number for, and which are three here."""
    name, joint = model.joint_names[i - 1], model.joints[i]
    keys = ("stiffness", "damping", "friction", "armature")
    uneven = [key for key in keys if len({dof[key] for dof in turn}) > 1]
    rest = model.dofs.rest[model.q_index[i] : model.q_index[i + 1]][-4:]
    if turn[0]["stiffness"] and not np.array_equal(rest, (0, 0, 0, 1)):
        uneven.append("rest away from zero")
    if uneven:
        raise ModelError(
            f"joint {repr_in_message(name)}: a ball joint of MJCF has one number for all three axes, and its spring "
            f"rests at zero; {', '.join(uneven)} of this {type(joint).__name__} cannot be written. Give equal numbers, "
            "or use Euler angles"
        )


def add_motor(model: Model, i: int, k: int, joint: str, gear: Array | None, done: Written) -> None:
    """The motor of dof k, of joint i; none for a dof without strength, or of a base that floats."""
    least, most = float(model.dofs.tau_min[k]), float(model.dofs.tau_max[k])
    if model.joint_names[i - 1] in model.floating_joints or least == most == 0:
        return
    bounds = (least, most) if np.isfinite(least) or np.isfinite(most) else None
    done.motors.append(
        {"name": model.qd_names[k], "joint": joint, "gear": gear, "ctrlrange": bounds, "forcerange": bounds}
    )


def add_actuators(root: Element, done: Written) -> None:
    """One motor per dof: its control is the torque [N m] or the force [N]."""
    if not done.motors:
        return
    actuator, names = child(root, "actuator"), Names()
    for motor in done.motors:
        child(actuator, "motor", **(motor | {"name": names.new(motor["name"])}))


def add_sites(model: Model, done: Written) -> None:
    """A site for every frame that is not that of a moving body, which MuJoCo has by the name of the body."""
    for name, frame in model.frames.items():
        if frame.body and name == model.body_names[frame.body - 1]:
            continue
        child(done.bodies[frame.body], "site", name=done.site_names.new(name), **pose_of_frame(frame.X))
