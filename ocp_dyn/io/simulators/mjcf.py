"""`Model` -> MJCF, the format of MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict, Unpack
from xml.etree import ElementTree

import numpy as np

from ..._base.checks import choice, given_name, numbers, positive
from ..._base.files import path_of, whole_file
from ..._base.types import Vector, repr_in_message, suggestion, truth
from ...mechanism import Model
from ..layouts import Layout
from ._common import (
    Element,
    Names,
    check_dropped,
    check_model,
    child,
    first_comment,
    number_text,
    passive_loss,
    pose_attributes,
    xml_text,
)
from ._mjcf_bodies import Written, add_actuators, add_bodies
from ._mjcf_equality import add_equalities
from ._mjcf_visuals import add_file_shapes, add_sticks
from .shapes import Shape, check_names, checked_shapes, shape_pose

INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast")
CONES = ("elliptic", "pyramidal")
VISUALS = ("sticks", "meshes", "none")


class MjcfOptions(TypedDict, total=False):
    """Options of `write_mjcf` and `mjcf_text`.

    constraints: loops, couplings and locked joints that become equalities: `od.Loop` ("ball", "fixed", "revolute"),
    `od.JointCoupling`, `od.LockedJoint`. keyframes: {name: q}. drop: what may be left out, ("passive",). balance:
    whether inertias that no body can have are changed to the nearest that one can have, instead of refused. visuals:
    "sticks" between joints (default), "meshes", the shapes of the model's URDF, or "none".

    ground: whether there is a plane z = 0; default: if there are shapes on bodies that move. friction: sliding
    coefficient, or MuJoCo's three (sliding, torsional [m], rolling [m]); default 1. solref (2), solimp (5): MuJoCo's
    numbers of the contacts' softness, by default its own. cone: "elliptic" (default) or "pyramidal". timestep [s],
    default 0.002; integrator: "implicitfast" (default), "implicit", "Euler", "RK4".

    >>> stiff: od.io.MjcfOptions = {"timestep": 0.0005, "solref": (0.002, 1.0)}
    >>> 'timestep="0.0005"' in od.io.mjcf_text(rod, [od.io.Ball("tip", 0.05)], **stiff)
    True
    """

    constraints: Sequence[Any]
    keyframes: Mapping[str, Any]
    drop: str | Sequence[str]
    balance: bool
    visuals: str
    ground: bool | None
    friction: float | Vector
    solref: Vector | None
    solimp: Vector | None
    cone: str
    timestep: float
    integrator: str


def write_mjcf(
    model: Model, path: str | PathLike[str], shapes: Sequence[Shape] = (), **options: Unpack[MjcfOptions]
) -> None:
    """Writes a model as MJCF, the format of MuJoCo: the same mass matrix and bias force, to rounding.

    shapes: with these bodies touch the ground, `od.io.Box`, `Ball`, `Cylinder`; shapes on "world" are parts
    of the ground. They collide with the ground alone, not with each other. options: see `MjcfOptions`.

    q, qd and tau of the file are those of `od.Layout(model, "mujoco")`. Joints of several dofs become several hinges
    and slides, one for each entry of qd and called like it; a quaternion becomes a ball or a free joint. Frames become
    sites, or bodies where they are those of moving bodies. Motors, one per dof and called like its entry of qd, take
    the torque as control, with the limits of both directions; a floating base has none. Limits, springs, damping, dry
    friction, armature and mimicking joints are MuJoCo's own. It has no limits of velocity: the file notes them as
    numeric fields called "velocity_limit NAME".

    ModelError for what MJCF does not have: helical and custom joints, moving bodies on which nothing has inertia,
    inertias that no body can have, and nonlinear passive torques unless drop=("passive",). Zero masses and moments of
    inertia are written as 1e-14, which MuJoCo accepts. The file appears complete or not at all; OSError if it cannot be
    written.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     od.io.write_mjcf(rod, f"{folder}/rod.xml", [od.io.Ball("tip", 0.05)], timestep=0.001)
    ...     '<joint name="joint1" type="hinge" axis="0 1 0" />' in pathlib.Path(folder, "rod.xml").read_text()
    True
    """
    target = path_of(path)
    text = mjcf_text(model, shapes, **options)
    with whole_file(target) as file:
        file.write_text(text, encoding="utf-8")


def mjcf_text(model: Model, shapes: Sequence[Shape] = (), **options: Unpack[MjcfOptions]) -> str:
    """The text that `write_mjcf` writes, for `mujoco.MjModel.from_xml_string`.

    >>> "hinge" in od.io.mjcf_text(rod)
    True
    """
    check_model(model, "write_mjcf")
    settings = checked_options(options)
    drop = check_dropped(settings["drop"], passive_loss(model), "write_mjcf")
    bodies_shapes = checked_shapes(shapes, model)
    check_names(bodies_shapes)
    root = ElementTree.Element("mujoco", model=Names().new(model.name or "model"))
    add_options(root, model, settings, bodies_shapes)
    world = child(root, "worldbody")
    on_ground = add_ground(root, world, model, settings, bodies_shapes)
    done = add_bodies(world, model, settings["balance"])
    if settings["visuals"] == "sticks":
        add_sticks(model, done)
    elif settings["visuals"] == "meshes":
        add_file_shapes(root, model, done)
    add_shapes(model, bodies_shapes, done, on_ground)
    add_equalities(root, model, settings["constraints"], done)
    add_actuators(root, done)
    add_keyframes(root, model, settings["keyframes"])
    add_velocity_limits(root, model)
    if "passive" in drop and (model.passive or model.bushings):
        done.notes.append(f"Left out: {passive_loss(model)['passive']}.")
    about = "q, qd and tau are those of ocp_dyn.Layout(model, 'mujoco')."
    first_comment(root, [about, *done.notes])
    return xml_text(root)


DEFAULTS: dict[str, Any] = {
    "constraints": (), "keyframes": {}, "drop": (), "balance": False, "visuals": "sticks", "ground": None,
    "friction": 1.0, "solref": None, "solimp": None, "cone": "elliptic", "timestep": 0.002,
    "integrator": "implicitfast",
}  # fmt: skip


def checked_options(options: MjcfOptions) -> dict[str, Any]:
    """The options with their defaults; ValueError or TypeError that names the option."""
    for key in options:
        if key not in DEFAULTS:
            raise TypeError(f"write_mjcf has no option {repr_in_message(key)}; options are: {', '.join(DEFAULTS)}"
                            f"{suggestion(key, DEFAULTS)}")  # fmt: skip
    found = DEFAULTS | dict(options)
    choice(found["visuals"], VISUALS, "write_mjcf visuals")
    choice(found["cone"], CONES, "write_mjcf cone")
    choice(found["integrator"], INTEGRATORS, "write_mjcf integrator")
    found["timestep"] = positive(found["timestep"], "write_mjcf timestep [s]")
    found["balance"] = truth(found["balance"], "write_mjcf balance")
    if found["ground"] is not None:
        found["ground"] = truth(found["ground"], "write_mjcf ground")
    for key, sizes in {"friction": (1, 3), "solref": (2,), "solimp": (5,)}.items():
        if found[key] is None and key != "friction":
            continue
        values = numbers(found[key], f"write_mjcf {key}")
        if values.size not in sizes or not np.all(np.isfinite(values)):
            count = " or ".join(map(str, sizes))
            raise ValueError(f"write_mjcf {key} must be {count} finite numbers, got {repr_in_message(found[key])}")
        if key != "solref" and np.any(values < 0):
            raise ValueError(f"write_mjcf {key} must not be negative, got {repr_in_message(found[key])}")
        if key == "solref" and not (np.all(values > 0) or np.all(values <= 0)):  # MuJoCo would take its default
            raise ValueError(
                "write_mjcf solref must be (time constant [s], damping ratio), both positive, or (-stiffness, "
                f"-damping), got {repr_in_message(found[key])}"
            )
        found[key] = values
    if not isinstance(found["keyframes"], Mapping):
        raise TypeError(f"write_mjcf keyframes must be {{name: q}}, got {repr_in_message(found['keyframes'])}")
    return found


def add_options(root: Element, model: Model, settings: dict[str, Any], shapes: Sequence[Shape]) -> None:
    child(root, "compiler", angle="radian", autolimits=True, inertiafromgeom=False)
    child(
        root, "option", timestep=settings["timestep"], integrator=settings["integrator"], cone=settings["cone"],
        gravity=model.gravity,
    )  # fmt: skip
    default = child(root, "default")
    child(default, "site", size=0.01, group="4")
    visual = child(default, "default", class_="visual")
    child(visual, "geom", contype="0", conaffinity="0", group="2", mass="0", rgba=(0.55, 0.62, 0.7, 1))
    for name, collides in (("shape", ("1", "0")), ("ground", ("0", "1"))):
        touching = child(default, "default", class_=name)
        child(
            touching, "geom", contype=collides[0], conaffinity=collides[1], condim="3",
            group="3" if name == "shape" else "0",
            friction=settings["friction"], solref=settings["solref"], solimp=settings["solimp"], mass="0",
            rgba=(0.9, 0.55, 0.2, 0.6) if name == "shape" else (0.85, 0.85, 0.85, 1),
        )  # fmt: skip


def add_ground(root: Element, world: Element, model: Model, settings: dict[str, Any], shapes: Sequence[Shape]) -> bool:
    """A plane z = 0 with a light above it; whether there is one."""
    touching = any(shape_pose(model, shape)[0] for shape in shapes)
    wanted = touching if settings["ground"] is None else bool(settings["ground"])
    child(world, "light", pos=(0, 0, 5), dir=(0, 0, -1), directional=True)
    if wanted:
        assets, gray = child(root, "asset"), {"rgb1": (0.72, 0.74, 0.76), "rgb2": (0.8, 0.82, 0.84)}
        sky = {"rgb1": (0.85, 0.9, 0.95), "rgb2": (1, 1, 1)}
        child(assets, "texture", type="skybox", builtin="gradient", width=64, height=64, **sky)
        child(assets, "texture", name="tiles", type="2d", builtin="checker", width=256, height=256, **gray)
        child(assets, "material", name="tiles", texture="tiles", texrepeat=(1, 1), texuniform=True)
        child(world, "geom", name="ground", class_="ground", type="plane", size=(0, 0, 0.1), material="tiles")
    return wanted


def add_shapes(model: Model, shapes: Sequence[Shape], done: Written, plane: bool) -> None:
    """The shapes that touch: those of moving bodies against those of the ground."""
    if plane:
        done.geom_names.new("ground")
    for shape in shapes:
        body, R, p = shape_pose(model, shape)
        name = done.geom_names.new(shape.name or shape.frame)
        child(
            done.bodies[body], "geom", name=name, class_="shape" if body else "ground", type=shape.kind,
            size=shape.size,
            **pose_attributes(R, p),
        )  # fmt: skip


def add_keyframes(root: Element, model: Model, keyframes: Mapping[str, Any]) -> None:
    if not keyframes:
        return
    frames, layout, names = child(root, "keyframe"), Layout(model, "mujoco"), Names()
    for name, q in keyframes.items():
        if not isinstance(name, str):
            raise TypeError(f"write_mjcf keyframes must be {{name: q}}, got the name {repr_in_message(name)}")
        given_name(name, "write_mjcf keyframe")
        qpos = np.array(layout.to_q(q).full()).ravel()
        if not np.all(np.isfinite(qpos)):
            raise ValueError(
                f"write_mjcf keyframe {repr_in_message(name)}: q must hold finite numbers, got {repr_in_message(q)}"
            )
        child(frames, "key", name=names.new(name), qpos=qpos)


def add_velocity_limits(root: Element, model: Model) -> None:
    """The limits of velocity, which MuJoCo does not have, as numbers that a program may read."""
    limited = np.flatnonzero(np.isfinite(model.dofs.qd_max))
    if not limited.size:
        return
    custom, names = child(root, "custom"), Names()
    for k in limited:
        name = names.new(f"velocity_limit_{model.qd_names[k]}")
        child(custom, "numeric", name=name, data=number_text(model.dofs.qd_max[k]))
