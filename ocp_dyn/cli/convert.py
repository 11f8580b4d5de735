"""`ocp-dyn convert`: a model as a file for a simulator, or as JSON."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .. import _names as od
from .._types import meant
from ..io.simulators.shapes import Shape
from .inputs import UsageError, model_of, note, words
from .report import as_json

MJCF, URDF, JSON = (".xml", ".mjcf"), ".urdf", ".json"


def run(options: argparse.Namespace) -> int:
    suffix = options.out.suffix.lower()
    if suffix not in (*MJCF, URDF, JSON):
        raise UsageError(f"--out {options.out}: the name of an MJCF file ends in .xml, of a URDF in {URDF}, of a model as "
                         f"JSON in {JSON}")  # fmt: skip
    if suffix == JSON and (options.box or options.ball or options.drop):
        raise UsageError(
            "--box, --ball and --drop are for MJCF and URDF; a model as JSON holds no shapes and loses nothing"
        )
    model = model_of(options, mimic="couple")
    shapes = [] if suffix == JSON else shapes_of(options, model)
    drop = words(options.drop)
    if suffix == JSON:
        od.save_model(model, options.out)
    elif suffix == URDF:
        _refuse(options, ("visuals", "balance"), "MJCF", suffix)
        od.io.write_urdf(model, options.out, shapes, drop=drop, world=options.world)
    else:
        _refuse(options, ("world",), "URDF", suffix)
        visuals = options.visuals or "sticks"
        od.io.write_mjcf(model, options.out, shapes, drop=drop, visuals=visuals, balance=options.balance)
    if options.json:
        print(
            as_json(
                {"file": str(options.out), "shapes": [shape.frame for shape in shapes], "dofs": list(model.qd_names)}
            )
        )
        return 0
    print(options.out)
    if suffix != JSON and not shapes:
        note("nothing in this file touches the ground: --ball FRAME=RADIUS or --box FRAME=X,Y,Z adds shapes")
    return 0


def _refuse(options: argparse.Namespace, names: Sequence[str], format_: str, suffix: str) -> None:
    """Options of another format."""
    for name in names:
        if getattr(options, name):
            raise UsageError(f"--{name} is for {format_}, not for {suffix}")


def shapes_of(options: argparse.Namespace, model: od.Model) -> list[Shape]:
    """The shapes that --ball and --box name; else those under the feet of a robot by name."""
    found: list[Shape] = []
    for kind, count in (("ball", 1), ("box", 3)):
        for text in getattr(options, kind) or ():
            frame, _, sizes = text.rpartition("=")
            form = f"--{kind} FRAME={'RADIUS' if kind == 'ball' else 'X,Y,Z (half sizes)'}, lengths in meters"
            try:
                numbers = [float(x) for x in sizes.split(",")]
            except ValueError:
                numbers = []
            if not frame or len(numbers) != count:
                raise UsageError(f"{form}; got {text!r}")
            if frame not in model.frames:
                raise UsageError(f"--{kind}: {model.name} has no frame {frame!r}{meant(frame, model.frame_names)}")
            try:
                found.append(od.io.Ball(frame, numbers[0]) if kind == "ball" else od.io.Box(frame, numbers))
            except ValueError as error:
                raise UsageError(str(error)) from None
    name = str(options.file)
    if not found and name in od.robots.names() and od.robots.describe(name).feet:
        return list(od.robots.shapes(name))
    return found
