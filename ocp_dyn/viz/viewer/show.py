"""`show`: from a model, a closed chain, a motion or several of them to a running viewer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from ..._base.convergence import mark_of
from ..._base.display import viewer_of
from ..._base.files import file_to_read
from ..._base.types import Array, finite_vector, numbers, repr_in_message, truth
from ...gait.unrolled import check_finite, check_motion, check_quaternions
from ...mechanism import Model, ShapeFile
from ...models import ClosedChain
from ..pictures.mechanism import with_cuts
from . import track as tracks
from .drawn_bodies import pieces
from .handle import Viewer
from .scenery import SceneRobot, Scenery
from .stage import viser_module


def show(
    what: Any,
    q: Any = None,
    *,
    t: Any = None,
    urdf: str | PathLike[str] | None = None,
    overlaid: bool = False,
    speed: float = 1.0,
    play: bool = True,
    dark: bool = False,
    host: str = "127.0.0.1",
    port: int | None = None,
) -> Viewer:
    """Shows a model or a motion in the browser, and returns the running `Viewer`; a notebook shows it by itself.

        viewer = od.viz.show(model)                      # with a slider for every joint
        viewer = od.viz.show(model, q, t=t)              # a trajectory: q (N, nq) at the times t (N) [s]
        viewer = od.viz.show(solution)                   # with contact forces, center of mass and footholds
        viewer = od.viz.show({"slow": a, "fast": b})     # several, side by side or, with overlaid=True, over each other
        viewer.block()                                   # in a script: until Ctrl-C

    what: a `Model`, a `ClosedChain`, whose loops stay closed when a joint is moved, a solved motion, or a list or a
    dict by name of these. q (nq): configuration of a model (default: neutral, or assembled). Bodies have the meshes and
    shapes of the URDF that the model was loaded from, or of the file `urdf`, which has links of the same names; else
    rounded shapes as in `plot_model`. The picture is turned so that gravity points down.

    speed: 1 is real time; play: whether a motion starts by itself. dark: dark page. The server listens on `host`, this
    machine only by default, at a free port or at `port`.

    ImportError without the package viser (the extra `viewer`); OSError if the port is taken; TypeError or ValueError
    for q or t of another size, or not finite; a `ModelWarning` names meshes that are missing.
    """
    viser_module()
    scenery = _scenery(what, q, t, urdf)
    scenery.overlaid, scenery.dark = truth(overlaid, "overlaid"), truth(dark, "dark")
    viewer = Viewer(scenery, host, port)
    if scenery.moves and truth(play, "play"):
        viewer.play(speed)
    return viewer


def _scenery(what: Any, q: Any, t: Any, urdf: Any) -> Scenery:
    files = None if urdf is None else (ShapeFile(str(file_to_read(urdf, "urdf").resolve())),)
    if isinstance(what, (Mapping, list, tuple)):
        if not what:
            raise ValueError("show: there is nothing to show, got an empty list")
        if q is not None or t is not None:
            raise TypeError("show: q and t belong to one model; give a list of motions without them")
        named = what if isinstance(what, Mapping) else _numbered(list(what))
        robots = [_robot(str(name), one, None, None, files)[0] for name, one in named.items()]
        return Scenery(robots, ", ".join(robot.name for robot in robots))
    robot, at, settle = _robot(_name_of(what), what, q, t, files)
    return Scenery([robot], robot.name.replace("_", " "), q=at, settle=settle)


def _numbered(several: list[Any]) -> dict[str, Any]:
    """Objects by name; the same names are told apart by numbers."""
    names = [_name_of(one) for one in several]
    return {
        name if names.count(name) == 1 else f"{name} {names[: k + 1].count(name)}": one
        for k, (name, one) in enumerate(zip(names, several, strict=True))
    }


def _name_of(what: Any) -> str:
    model = what if isinstance(what, Model) else getattr(what, "model", None)
    return str(getattr(model, "name", "")) or "model"


def _robot(
    name: str, what: Any, q: Any, t: Any, files: tuple[ShapeFile, ...] | None
) -> tuple[SceneRobot, Array | None, Any]:
    """A robot; its configuration, if its joints are to have sliders; and the function that closes its loops."""
    if isinstance(what, ClosedChain):
        chain = what
        robot, at = _of_model(name, chain.model, chain.q if q is None else q, t, files, with_cuts(chain))
        return robot, at, lambda x: chain.assemble(x)[0]
    if isinstance(what, Model):
        return *_of_model(name, what, what.neutral() if q is None else q, t, files), None
    if not hasattr(what, "model"):
        raise TypeError(
            f"show: a model, a closed chain, a solved motion or a list of these is needed, got {repr_in_message(what)}"
        )
    check_motion(what)
    if q is not None or t is not None:
        raise TypeError("show: q and t are for a model; a motion has its own")
    check_finite(what, "show")
    shapes = pieces(what.model, files)
    track = tracks.of_motion(what, shapes)
    filed = bool(what.model.shape_files if files is None else files)
    mark = mark_of(what)
    return (
        SceneRobot(f"{mark}: {name}" if mark else name, track, shapes, lambda time: what.sample([time])[0], filed),
        None,
        None,
    )


def _of_model(
    name: str, model: Model, q: Any, t: Any, files: tuple[ShapeFile, ...] | None, drawn: Model | None = None
) -> tuple[SceneRobot, Array | None]:
    """drawn: the model whose shapes are shown, with the same bodies (default: the model)."""
    if model.has_symbols:
        raise ValueError("show needs numbers for the inertias and positions of the model, and some are symbols")
    rows = q.full() if hasattr(q, "full") else q
    try:
        shape = np.shape(rows)
    except ValueError:
        raise ValueError(
            f"show: the rows of q must have the same length, nq = {model.nq}, got {repr_in_message(q)}"
        ) from None
    if t is None:
        if len(shape) == 2 and shape[0] > 1 and shape != (model.nq, 1):
            raise ValueError(f"show: q has the shape {shape}, a trajectory: give its times too, show(model, q, t=t)")
        at = finite_vector(q, model.nq, f"show: q of {model!r}", names=model.q_names)
        check_quaternions(model, at, "show")
        return SceneRobot(name, tracks.still(model, at), pieces(drawn or model, files), lambda _: at), at
    times = numbers(t, "show: t")
    if not times.size or not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0):
        raise ValueError(f"show: t must be finite times [s] that do not fall, got {repr_in_message(t)}")
    if shape != (times.size, model.nq):
        raise ValueError(f"show: q must have the shape (len(t), nq) = ({times.size}, {model.nq}), got {shape}")
    table = finite_vector(rows, times.size * model.nq, f"show: q of {model!r}").reshape(times.size, model.nq)
    check_quaternions(model, table, "show")
    track = tracks.of_rows(model, times, table)
    at_time = partial(tracks.configuration, model, times, table)
    return SceneRobot(name, track, pieces(drawn or model, files), at_time), None


@viewer_of.register(Model)
@viewer_of.register(ClosedChain)
def _viewer(shown_object: Any, q: Any = None, **options: Any) -> Viewer:
    return show(shown_object, q, **options)
