"""`ocp-dyn convert`: a model as a file for a simulator, or as JSON."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence

from .. import _names as od
from .._base.types import ModelError, suggestion
from ..io.simulators import Shape, idle_dofs
from .inputs import MODELS, chain_of, model_of, note, words
from .streams import UsageError, as_json, tell_replaced

MJCF, URDF, JSON, OSIM = (".xml", ".mjcf"), ".urdf", ".json", ".osim"


def run(options: argparse.Namespace) -> int:
    suffix = options.out.suffix.lower()
    if suffix not in (*MJCF, URDF, JSON, OSIM):
        raise UsageError(
            f"--out {options.out}: the name of an MJCF file ends in .xml, of a URDF in {URDF}, of a model as JSON in "
            f"{JSON}, of OpenSim in {OSIM}"
        )
    if suffix == JSON and (options.box or options.ball or options.drop):
        raise UsageError(
            "--box, --ball and --drop are for MJCF and URDF; a model as JSON holds no shapes and loses nothing"
        )
    if suffix not in MJCF:
        _refuse(options, ("visuals", "balance"), "MJCF", suffix)
    if suffix != URDF:
        _refuse(options, ("world",), "URDF", suffix)
    model = model_of(options, mimic="couple")
    chain = chain_of(options)
    if options.lock_massless:
        if chain:
            raise UsageError(f"--lock-massless is for models without closed loops, and {options.file} has some")
        model = without_massless(model)
    shapes = [] if suffix in (JSON, OSIM) else shapes_of(options, model)
    drop = words(options.drop)
    tell_replaced(options.out)
    try:
        if suffix == JSON:
            od.save_model(model, options.out)
        elif suffix == OSIM:
            od.io.write_osim(model, options.out, drop=drop)
        elif suffix == URDF:
            od.io.write_urdf(model, options.out, shapes, drop=drop, world=options.world)
        else:
            given: od.io.MjcfOptions = {
                "drop": drop, "visuals": options.visuals or "sticks", "balance": options.balance,
                "constraints": list(chain.loops) if chain else [], "keyframes": {"closed": chain.q} if chain else {},
            }  # fmt: skip
            od.io.write_mjcf(model, options.out, shapes, **given)
    except ModelError as error:
        raise ModelError(_as_options(str(error))) from None
    if options.json:
        print(
            as_json(
                {"file": str(options.out), "shapes": [shape.frame for shape in shapes], "dofs": list(model.qd_names)}
            )
        )
        return 0
    print(options.out)
    if chain and suffix not in MJCF:
        note(f"{options.file} has closed loops, which this file does not hold: it has the open tree")
    if suffix not in (JSON, OSIM) and not shapes:
        note("nothing in this file touches the ground: --ball FRAME=RADIUS or --box FRAME=X,Y,Z adds shapes")
    return 0


def without_massless(model: od.Model) -> od.Model:
    """The model whose joints that move nothing with inertia hold still at zero."""
    idle = set(idle_dofs(model))
    joints = [joint for joint in model.joint_names if idle.issuperset(model.qd_names[model.qd_slice(joint)])]
    return model.lock_joints({joint: model.neutral()[model.q_slice(joint)] for joint in joints})


def _as_options(text: str) -> str:
    """A message of the writers with the options of the command line instead of Python's."""
    text = re.sub(r"drop=\(([^)]*?),?\)", lambda m: "--drop " + m[1].replace("'", "").replace(", ", ","), text)
    text = text.replace("by balance=True", "by --balance")
    return text.replace(
        "or lock the joint by model.lock_joints({joint: position})", "or lock all of them by --lock-massless"
    )


def _refuse(options: argparse.Namespace, names: Sequence[str], format_: str, suffix: str) -> None:
    """Options of another format."""
    for name in names:
        if getattr(options, name):
            raise UsageError(f"--{name} is for {format_}, not for {suffix}")


FORMS = {"ball": (1, "RADIUS"), "box": (3, "X,Y,Z (half sizes)")}
"""Number of the sizes of a shape, and their place in the text of its option."""


def shapes_of(options: argparse.Namespace, model: od.Model) -> list[Shape]:
    """The shapes that --ball and --box name; else those under the feet of a robot by name."""
    found = [shape_of(kind, text, model) for kind in FORMS for text in getattr(options, kind) or ()]
    name = str(options.file)
    if not found and name not in MODELS and name in od.robots.names() and od.robots.describe(name).feet:
        return list(od.robots.shapes(name))
    return found


def shape_of(kind: str, text: str, model: od.Model) -> Shape:
    """The shape of one option, FRAME=SIZES or FRAME=SIZES,CX,CY,CZ with the place of its center in the frame."""
    count, sizes = FORMS[kind]
    frame, _, values = text.rpartition("=")
    try:
        numbers = [float(x) for x in values.split(",")]
    except ValueError:
        numbers = []
    if not frame or len(numbers) not in (count, count + 3):
        raise UsageError(
            f"--{kind} FRAME={sizes}, and its center in the frame if it lies elsewhere, ,CX,CY,CZ; lengths in meters; "
            f"got {text!r}"
        )
    if frame not in model.frames:
        raise UsageError(f"--{kind}: {model.name} has no frame {frame!r}{suggestion(frame, model.frame_names)}")
    center = tuple(numbers[count:]) or (0.0, 0.0, 0.0)
    try:
        if kind == "ball":
            return od.io.Ball(frame, numbers[0], center)
        return od.io.Box(frame, numbers[:count], center)
    except ValueError as error:
        raise UsageError(str(error)) from None
