"""Pictures of a model in one configuration, seen from one or several sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..._base.checks import choice, some_of
from ..._base.display import picture_of
from ..._base.types import Array, finite_vector
from ...constraints import Loop
from ...gait.bodies import Point, locate, side_words, size
from ...gait.unrolled import check_quaternions
from ...mechanism import Model
from ...mechanism.boundary import checks_arguments
from ...models import ClosedChain
from ...muscles import path_lines
from ..drawing import (
    FAINT,
    INK,
    MUSCLE,
    SHADE,
    Puppet,
    arrow,
    bare,
    figure,
    flat,
    hull_of_discs,
    legend,
    picture_format,
    round_number,
    save,
    used_points,
)
from ..muscles import THICK, activations_of, colors_of, thickness_of
from ..skeleton import Segment, skeleton

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VIEWS: dict[str, tuple[float, float]] = {"side": (0, 0), "front": (90, 0), "top": (0, 90), "3d": (52, 16)}
"""Directions from which a model is seen: azimuth from its right side towards its front, and elevation [degrees]."""

LABELS = ("", "bodies", "joints", "frames")

HEIGHT, MARGIN, HEAD = 4.0, 0.25, 0.42
"""Height of the picture of a model, the margin around it, and the height of the title [inches]."""

NARROWEST, WIDEST = 1.6, 9.0
"""Least and largest width of the picture of one view [inches]."""

CORNER = 0.62
"""Side of the square in which the directions of the world are drawn [inches]."""

LINE = 0.17
"""Height of a line of labels [inches]."""

LETTER = 0.082
"""Width of a letter of a label [inches]."""

CUT = "cut "
"""Beginning of the names of the frames at which a loop is cut."""

MOST_LABELS = 60
"""Largest number of labels in a picture; of more only the first are written."""


@checks_arguments(own=("q",))
def plot_model(
    model: Model,
    q: Any = None,
    path: str | Path | None = None,
    *,
    view: str | None = None,
    labels: str = "",
    activations: Any = None,
) -> Figure:
    """A model at q (nq numbers; default: neutral) as rounded shapes, see `skeleton`; written to `path` if given.

    view: "side" (from the right: x to the right, z up), "front" (from ahead), "top", "3d", or several of them, such as
    "side+front"; None: the side or the top for a mechanism that lies in that plane, else "3d". In 3-D pictures the
    ground is z = 0, or lies under a floating model that reaches below it. labels: "joints", "bodies" or "frames" writes
    their names. activations: of its muscles, from 0 to 1, by names or in their order: blue and thin lines bear nothing,
    red ones are active, thick ones strong. ValueError for q of another size, an unknown view, or a model whose
    positions are symbols.

    >>> figure = od.viz.plot_model(arm, [0.3, 0.4], labels="frames")
    >>> [text.get_text() for text in figure.texts]
    ['pendulum 2: 2 bodies, 2 dofs, 2 kg']
    """
    return _drawn(model, q, path, view, labels, activations=activations)


def plot_chain(
    chain: ClosedChain,
    q: Any = None,
    path: str | Path | None = None,
    *,
    view: str | None = None,
    labels: str = "",
) -> Figure:
    """A mechanism with closed loops at q (default: assembled, as the chain has it); options as for `plot_model`.

    Bodies reach to the points at which the loops are cut.
    """
    return _drawn(with_cuts(chain), chain.q if q is None else q, path, view, labels, f", {chain.mobility()}")


def _drawn(
    model: Model,
    q: Any,
    path: str | Path | None,
    view: str | None,
    labels: str,
    note: str = "",
    activations: Any = None,
) -> Figure:
    """The picture of `plot_model`; note: the end of its title."""
    picture_format(path)
    views = _views(view)
    choice(labels, LABELS, "plot: labels")
    if model.has_symbols:
        raise ValueError("plot needs numbers for the inertias and positions of the model, and some are symbols")
    at = (
        np.array(model.neutral())
        if q is None
        else finite_vector(q, model.nq, f"plot: q of {model!r}", names=model.q_names)
    )
    check_quaternions(model, at, "plot")
    pose, title = _Pose.of(model, at, activations_of(model, activations)), _title(model) + note
    places = _named_places(model, labels, at)
    made, panels = _canvas(pose, views or (pose.best_view(),), places, title)
    for axes, name in panels:
        pose.draw(axes, name)
        if places:
            _write_labels(axes, places, pose.camera(name))
    width, height = (float(x) for x in made.get_size_inches())
    top = 1 - 0.22 / height
    made.text(0.15 / width, top, title, fontsize=9.5, color=INK, va="center", weight="bold")
    words = side_words(model)
    if words and width > 5.0:
        legend(made, words, 1 - 0.15 / width, top, force=False)
    save(made, path)
    return made


def with_cuts(chain: ClosedChain) -> Model:
    """The model with a frame at both ends of every cut."""
    model = chain.model
    for k, loop in enumerate(loop for loop in chain.loops if isinstance(loop, Loop)):
        ends = ((loop.predecessor, loop.predecessor_pose), (loop.successor, loop.successor_pose))
        for j, (frame, (R, r)) in enumerate(ends):
            to = frame if isinstance(frame, str) else frame.name
            model = model.with_frame(f"{CUT}{k + 1}.{j + 1}", to, r, np.reshape(R, (3, 3)))
    return model


@picture_of.register(Model)
def _picture_of_model(model: Model) -> Any:
    return plot_model(model)


@picture_of.register(ClosedChain)
def _picture_of_chain(chain: ClosedChain) -> Any:
    return plot_chain(chain)


def _views(view: Any) -> tuple[str, ...]:
    """The views that a text such as "side+front" names, () for None."""
    if view is None:
        return ()
    return some_of(view.split("+") if isinstance(view, str) else [view], VIEWS, 'plot: view, such as "side+front",')


def _title(model: Model) -> str:
    name = (model.name or "model").replace("_", " ")
    mass = f"{model.mass:.4g}" if model.mass < 1e4 else f"{model.mass:.0f}"
    return f"{name}: {model.nb} bodies, {model.nv} dofs, {mass} kg"


def camera(azimuth: float, elevation: float) -> Array:
    """Rotation from world axes to those of a view [degrees]: x to the right, y away from the viewer, z up."""
    a, e = np.radians(azimuth), np.radians(elevation)
    right = np.array([np.cos(a), np.sin(a), 0.0])
    towards = np.array([np.sin(a) * np.cos(e), -np.cos(a) * np.cos(e), np.sin(e)])
    return np.array([right, -towards, np.cross(towards, right)])


@dataclass(frozen=True, eq=False)
class _Pose:
    """The shapes of a model and the positions (n, 3) of their points [m]; reach: size of the model [m]."""

    model: Model
    segments: Sequence[Segment]
    points: Array
    reach: float
    muscles: Sequence[Array] = ()
    """Lines (n, 3) of the muscles [m]."""
    activations: Array | None = None

    @staticmethod
    def of(model: Model, q: Array, activations: Array | None = None) -> _Pose:
        segments = skeleton(model)
        grounded = [f for f in model.frames.values() if not f.body and f.name.startswith(CUT)]
        pins = [Point(0, *np.array(f.X.r.full()).ravel().tolist()) for f in grounded]
        segments += [Segment("world", "pivot", "middle", (p,), (0.018 * size(model),)) for p in pins]
        muscles = tuple(path_lines(model, q).values())
        return _Pose(model, segments, locate(model, used_points(segments), q[None])[0], size(model), muscles,
                     activations)  # fmt: skip

    @property
    def radii(self) -> Array:
        return np.concatenate([np.array(s.radii) for s in self.segments])

    @property
    def floor(self) -> float | None:
        """Height of the ground [m]: 0, or below a floating model that reaches through it; None for a model that hangs
        through it."""
        lowest = float((self.points[:, 2] - self.radii).min())
        if lowest > -0.03 * self.reach:
            return 0.0
        return lowest if self.model.floating_joints else None

    def best_view(self) -> str:
        """The side or the top for a mechanism that lies in that plane, "3d" for others."""
        _, y, z = np.ptp(self.points, axis=0)
        thin = 0.05 * self.reach
        return "side" if y < thin else "top" if z < thin else "3d"

    def camera(self, view: str) -> Array:
        return camera(*VIEWS[view])

    def grid(self) -> tuple[Array, float]:
        """Corners [[x0, y0], [x1, y1]] and spacing [m] of the grid on the ground around the model."""
        low, high = self.points[:, :2].min(axis=0), self.points[:, :2].max(axis=0)
        spacing = round_number(0.25 * max(self.reach, 1e-9))
        low, high = (np.round((x + s * 0.22 * self.reach) / spacing) for x, s in ((low, -1), (high, 1)))
        return np.array([low, high]) * spacing, spacing

    def extent(self, view: str) -> Array:
        """Limits [[left, low], [right, high]] of the picture of a view [m]."""
        turned = self.points @ self.camera(view).T
        seen, r = flat(turned, "side"), self.radii[:, None]
        low, high = (seen - r).min(axis=0), (seen + r).max(axis=0)
        if view == "3d" and self.floor is not None:
            (x0, y0), (x1, y1) = self.grid()[0]
            corners = np.array([[x, y, self.floor] for x in (x0, x1) for y in (y0, y1)])
            ground = flat(corners @ self.camera(view).T, "side")
            low, high = np.minimum(low, ground.min(axis=0)), np.maximum(high, ground.max(axis=0))
        pad = 0.02 * self.reach
        return np.array([low - pad, high + pad])

    def draw(self, axes: Axes, view: str) -> None:
        turn, floor = self.camera(view), self.floor
        if view == "3d" and floor is not None:
            self._ground(axes, turn, floor)
        elif view in ("side", "front") and floor is not None:
            axes.axhline(floor, color=INK, linewidth=1.2, zorder=2)
        Puppet(axes, self.segments, "side").draw(self.points @ turn.T)
        self._muscles(axes, turn)
        _directions(axes, turn)

    def _muscles(self, axes: Axes, turn: Array) -> None:
        """Draws the lines of the muscles, with the colors and the thickness of their activations if these are known."""
        colors: Any = [MUSCLE] * len(self.muscles)
        widths = np.full(len(self.muscles), 1.3)
        if self.activations is not None:
            colors = [tuple(color) for color in colors_of(self.activations)]
            widths = 0.6 + 2.4 * thickness_of(self.model, self.activations) / (THICK * self.reach)
        for line, color, width in zip(self.muscles, colors, widths, strict=True):
            axes.plot(*flat(line @ turn.T, "side").T, color=color, linewidth=width, solid_capstyle="round", zorder=4)

    def _ground(self, axes: Axes, turn: Array, floor: float) -> None:
        """Draws a grid on the ground, and the shadows of the shapes under a light straight above."""
        from matplotlib.collections import LineCollection, PolyCollection

        ((x0, y0), (x1, y1)), spacing = self.grid()
        lines = [[(x, y0), (x, y1)] for x in np.arange(x0, x1 + spacing / 2, spacing)]
        lines += [[(x0, y), (x1, y)] for y in np.arange(y0, y1 + spacing / 2, spacing)]

        def on_ground(plan: Any) -> Array:
            plan = np.asarray(plan, dtype=float)
            return flat(np.column_stack([plan, np.full(len(plan), floor)]) @ turn.T, "side")

        axes.add_collection(LineCollection([on_ground(line) for line in lines], colors="#D9DDE1", linewidths=0.7,
                                           zorder=1), autolim=False)  # fmt: skip
        shadows, start = [], 0
        for segment in self.segments:
            end = start + len(segment.points)
            shadows.append(on_ground(hull_of_discs(self.points[start:end, :2], np.array(segment.radii))))
            start = end
        axes.add_collection(PolyCollection(shadows, facecolors=SHADE, edgecolors=SHADE, zorder=1.5), autolim=False)


def _directions(axes: Axes, turn: Array) -> None:
    """Draws the directions x, y, z of the world below the lower left corner of a view."""
    made: Any = axes.figure
    wide, high = made.get_size_inches()
    box = axes.get_position()
    inset = made.add_axes((box.x0, box.y0 - CORNER / high, CORNER / wide, CORNER / high))
    bare(inset)
    for name, (x, _, z) in zip("xyz", turn.T, strict=True):
        length = float(np.hypot(x, z))
        if length < 0.1:
            continue
        shaft = arrow(np.zeros(2), np.array([x, z]), 0.09)
        inset.fill(*shaft.T, color=FAINT, linewidth=0)
        inset.text(x + 0.34 * x / length, z + 0.34 * z / length, name, fontsize=7, color=INK, ha="center", va="center")
    inset.set_xlim(-0.9, 1.6)
    inset.set_ylim(-0.9, 1.6)


def _canvas(
    pose: _Pose, views: tuple[str, ...], places: dict[str, Array], title: str
) -> tuple[Figure, list[tuple[Axes, str]]]:
    """A figure with axes for every view, all of one scale."""
    extents = [pose.extent(view) for view in views]
    spans = [high - low for low, high in extents]
    tallest = max(span[1] for span in spans)
    lines = min(len(places), MOST_LABELS) / 2
    tall = max(HEIGHT, LINE * (lines + 2)) if places else HEIGHT
    scale = min(tall / tallest, WIDEST / max(span[0] for span in spans))  # inches per meter
    tall = max(scale * tallest, LINE * (lines + 2) if places else 1.2)
    column = LETTER * max((len(name) for name in places), default=0) + 0.35 if places else 0.0
    widths = [max(NARROWEST, scale * span[0]) + 2 * column for span in spans]
    least = 0.3 + 0.085 * len(title)
    widths[-1] += max(0.0, least - sum(widths) - MARGIN * (len(views) + 1))
    wide, high = sum(widths) + MARGIN * (len(views) + 1), tall + HEAD + CORNER
    made = figure(wide, high)
    panels, left = [], MARGIN
    standing = [extent for extent, view in zip(extents, views, strict=True) if view in ("side", "front")]
    floor_of_all = min((float(low[1]) for low, _ in standing), default=0.0)  # one line of ground in all views
    for view, extent, width in zip(views, extents, widths, strict=True):
        axes = made.add_axes((left / wide, CORNER / high, width / wide, tall / high))
        bare(axes)
        middle, half = extent.mean(axis=0), np.array([width, tall]) / scale / 2
        low = floor_of_all if view in ("side", "front") else middle[1] - half[1]
        axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        axes.set_ylim(low, low + 2 * half[1])
        panels.append((axes, view))
        left += width + MARGIN
    return made, panels


def _named_places(model: Model, labels: str, q: Array) -> dict[str, Array]:
    """World positions (3) of what the labels name, by name, at most MOST_LABELS of them."""
    if not labels:
        return {}
    if labels == "frames":
        frames = {f.name: f for f in model.frames.values() if f.body}
        points = {name: Point(f.body, *np.array(f.X.r.full()).ravel().tolist()) for name, f in frames.items()}
    else:
        names = model.joint_names if labels == "joints" else model.body_names
        points = {name: Point(i) for i, name in enumerate(names, start=1)}
    chosen = dict(list(points.items())[:MOST_LABELS])
    places = locate(model, tuple(chosen.values()), q[None])[0]
    return dict(zip(chosen, cast(Sequence[Array], places), strict=True))


def _write_labels(axes: Axes, places: dict[str, Array], turn: Array) -> None:
    """Writes names in a column on the left and one on the right, each in the order of height, with lines to their
    points."""
    made: Any = axes.figure
    names, renderer = list(places), made.canvas.get_renderer()
    seen = flat(np.array(list(places.values())) @ turn.T, "side")
    order = np.argsort(seen[:, 0], kind="stable")
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    for side, chosen in (("left", order[: len(order) // 2]), ("right", order[len(order) // 2 :])):
        chosen = chosen[np.argsort(seen[chosen, 1], kind="stable")]
        heights = _apart(seen[chosen, 1], LINE * (high - low) / float(axes.bbox.height / made.dpi), low, high)
        x = left if side == "left" else right
        elbow = x + (right - left) * 0.012 * (1 if side == "left" else -1)
        for k, height in zip(chosen, heights, strict=True):
            text = axes.text(x, height, names[k], fontsize=7.5, color=INK, ha=side, va="center", zorder=6)
            box = text.get_window_extent(renderer)
            inner = axes.transData.inverted().transform((box.x1 if side == "left" else box.x0, 0.0))[0]
            ends = [inner + (elbow - x), float(seen[k, 0])], [height, float(seen[k, 1])]
            axes.plot(*ends, color=FAINT, linewidth=0.6, zorder=5.5)
        axes.plot(seen[chosen, 0], seen[chosen, 1], "o", color="white", markeredgecolor=INK, markeredgewidth=0.7,
                  markersize=3.4, zorder=6)  # fmt: skip
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)


def _apart(wanted: Array, gap: float, low: float, high: float) -> Array:
    """Heights in increasing order, near the wanted ones, at least `gap` apart, inside the limits if they fit."""
    found = np.array(wanted, dtype=float)
    for k in range(1, len(found)):
        found[k] = max(found[k], found[k - 1] + gap)
    if len(found) and found[-1] > high - gap / 2:
        found[-1] = high - gap / 2
        for k in range(len(found) - 2, -1, -1):
            found[k] = min(found[k], found[k + 1] - gap)
    return found
