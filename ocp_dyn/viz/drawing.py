"""Colors, figures and picture files, and the `Puppet` that draws a skeleton."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._base.files import path_of, whole_file
from .._base.types import Array, repr_in_message, suggestion
from ..gait.bodies import Point, Side
from ..gait.unrolled import Straight, Stretch, ground_forces, stretch_at, weight
from ..mechanism import Model
from .skeleton import Segment

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Plane = Literal["side", "front"]

COLORS: dict[Side, str] = {"left": "#0072B2", "right": "#D55E00", "middle": "#7C8692"}
"""Blue and vermilion of Okabe and Ito's palette, which color-blind people can distinguish."""

FORCE, INK, FAINT, SHADE, MUSCLE = "#00896B", "#30363D", "#9AA3AD", "#ECEEF1", "#B5304A"
WARNING = "#C1121F"
"""Color of the mark on pictures of solutions that did not converge."""

PICTURES = (".png", ".pdf", ".svg")

FORCE_HEIGHT = 0.4
"""Length of the arrow of one body weight, in heights of the model."""

_ROUND = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
_DIRECTIONS = np.column_stack([np.cos(_ROUND), np.sin(_ROUND)])


def figure(width: float, height: float, dpi: float = 100.0) -> Figure:
    """A new figure of this size [inches], outside matplotlib's global list of figures; a notebook shows it."""
    from .shown.figure import ShownFigure

    return ShownFigure(figsize=(width, height), dpi=dpi, facecolor="white")


def picture_format(path: str | Path | None) -> str:
    """The format that the suffix of a path names, "" without a path; `ValueError` for an unknown suffix."""
    if path is None:
        return ""
    named = path_of(path)
    suffix = named.suffix.lower()
    if suffix not in PICTURES:
        got = repr_in_message(suffix) if suffix else "no suffix"
        raise ValueError(
            f"{repr_in_message(named.name)}: a figure is written as one of {', '.join(PICTURES)}, got "
            f"{got}{suggestion(suffix, PICTURES)}"
        )
    return suffix[1:]


def save(made: Figure, path: str | Path | None, dpi: float = 150.0, math: bool = False) -> None:
    """Writes the figure to `path`, completely or not at all; None writes nothing. All texts are plain, a name with
    dollar signs is not a formula, unless there is `math`. Type is embedded as TrueType (Type 42), as journals ask."""
    from matplotlib.text import Text

    for text in made.findobj(Text):
        if isinstance(text, Text):
            text.set_parse_math(math and "$" in text.get_text())
    kind = picture_format(path)
    if path is not None:
        from matplotlib import rc_context

        with picture_file(Path(path)) as partial, rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}), _quiet_fonts():
            made.savefig(partial, format=kind, dpi=dpi, facecolor="white")


@contextmanager
def _quiet_fonts() -> Iterator[None]:
    """Without the remarks of fontTools on dates inside of fonts, which no reader of a figure can mend."""
    logger = logging.getLogger("fontTools")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def across(made: Figure, mark: str) -> None:
    """Writes the mark of a solution that did not converge over the whole picture; "" writes nothing."""
    if mark:
        width, height = (float(x) for x in made.get_size_inches())
        points = 72 * min(1.4 * width / len(mark), 0.28 * height)
        made.text(0.5, 0.5, mark, fontsize=points, color=WARNING, alpha=0.45, ha="center", va="center", weight="bold",
                  rotation=min(20.0, float(np.degrees(np.arctan2(0.6 * height, width)))), zorder=1000)  # fmt: skip


@contextmanager
def picture_file(path: Path) -> Iterator[Path]:
    """A temporary file that replaces `path` when the block ends (see `whole_file`); missing directories are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial:
        yield partial


WHITE = (1.0, 1.0, 1.0)


def mix_with_white(color: str, strength: float) -> tuple[float, float, float]:
    """The color mixed with white: strength 1 is the color, 0 is white. Unlike transparency it hides overlaps."""
    from matplotlib.colors import to_rgb

    r, g, b = (1 - strength * (1 - c) for c in to_rgb(color))
    return r, g, b


def color_of(segment: Segment) -> str:
    """The color of a shape: of its side, pale for parts of joints, red for muscles."""
    if segment.kind == "muscle":
        return MUSCLE
    return FAINT if segment.of_joint else COLORS[segment.side]


def rank_of(segment: Segment) -> int:
    """The place of a shape among those of the same depth: parts of joints are drawn first, the right side last."""
    return {"left": 0, "middle": 1, "right": 2}[segment.side] - 3 * segment.of_joint + 3 * (segment.kind == "muscle")


def flat(points: Array, plane: Plane) -> Array:
    """Projection (..., 2) of points (..., 3): (x, z) as seen from the walker's right, or (y, z) as seen from ahead."""
    return points[..., [0, 2]] if plane == "side" else points[..., [1, 2]]


def round_number(x: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(max(m for m in (1, 2, 5) if m * power <= x * (1 + 1e-9)) * power)


def hull_of_discs(centers: Array, radii: Array) -> Array:
    """The outline (48, 2) of the convex hull of discs: its farthest point in each of 48 directions."""
    reach = centers @ _DIRECTIONS.T + radii[:, None]
    furthest = np.argmax(reach, axis=0)
    outline: Array = centers[furthest] + radii[furthest, None] * _DIRECTIONS
    return outline


def arrow(start: Array, vector: Array, width: float) -> Array:
    """The outline (7, 2) of an arrow; short arrows have shorter heads."""
    length = float(np.hypot(*vector))
    if length < 1e-9:
        return np.repeat(start[None], 7, axis=0)
    along = vector / length
    across = np.array([-along[1], along[0]])
    head = min(4.5 * width, 0.6 * length)
    neck, tip = start + (length - head) * along, start + vector
    half, barb = 0.5 * width * across, 0.42 * head * across
    return np.array([start + half, neck + half, neck + barb, tip, neck - barb, neck - half, start - half])


THIN = 0.03
"""Radius of a limb per length below which a white edge would hide it."""


def _is_thin(segment: Segment) -> bool:
    """Whether a limb is a thin rod."""
    first, last = (np.array(point[1:]) for point in (segment.points[0], segment.points[-1]))
    return segment.kind == "limb" and max(segment.radii) < THIN * float(np.linalg.norm(last - first))


class Puppet:
    """A skeleton in one view; `draw` moves it. Nearer shapes hide farther ones.

    strength: of the colors, from 0 (white) to 1 (full). Lengths are in data units, so the axes need an equal aspect.
    """

    def __init__(
        self, axes: Axes, segments: Sequence[Segment], plane: Plane, strength: float = 1.0, zorder: float = 3.0
    ) -> None:
        from matplotlib.collections import PolyCollection

        self.plane, self.strength = plane, strength
        self.points = tuple(p for segment in segments for p in segment.points)
        ends = np.cumsum([0] + [len(segment.points) for segment in segments])
        self.slices = [slice(a, b) for a, b in pairwise(ends.tolist())]
        self.radii = [np.array(segment.radii) for segment in segments]
        self.rank = np.array([rank_of(segment) for segment in segments])
        self.colors = np.array([mix_with_white(color_of(segment), strength) for segment in segments]).reshape(-1, 3)
        self.thin = [segment.kind == "muscle" or _is_thin(segment) for segment in segments]
        self.shapes = PolyCollection([], edgecolors="white", linewidths=0.6, zorder=zorder)
        self.shapes.set_joinstyle("round")
        axes.add_collection(self.shapes, autolim=False)

    def draw(self, places: Array, muscles: tuple[Array, Array] | None = None) -> None:
        """Moves the skeleton to `places` (len(points), 3), the positions of its points [m]; muscles: colors (n x 3) and
        half the thickness (n) [m] of its last n shapes."""
        if muscles is not None:
            first = len(self.radii) - len(muscles[0])
            self.colors[first:] = 1 - self.strength * (1 - muscles[0])
            self.radii[first:] = [np.array([r, r]) for r in muscles[1]]
        seen, depth = flat(places, self.plane), (-places[:, 1] if self.plane == "side" else places[:, 0])
        outlines = [hull_of_discs(seen[k], r) for k, r in zip(self.slices, self.radii, strict=True)]
        depths = np.array([depth[k].mean() for k in self.slices])
        span = float(np.ptp(places, axis=0).max()) or 1.0
        order = np.lexsort((self.rank, np.round(depths / span, 3)))
        self.shapes.set_verts([outlines[k] for k in order], closed=True)
        self.shapes.set_facecolor([tuple(c) for c in self.colors[order]])
        self.shapes.set_edgecolor([tuple(self.colors[k]) if self.thin[k] else WHITE for k in order])


class Arrows:
    """Ground reaction forces as arrows; `draw` replaces them."""

    def __init__(self, axes: Axes, plane: Plane, width: float) -> None:
        from matplotlib.collections import PolyCollection

        self.plane, self.width = plane, width
        self.shapes = PolyCollection([], facecolors=[FORCE], edgecolors="white", linewidths=0.5, zorder=4)
        axes.add_collection(self.shapes, autolim=False)

    def draw(self, forces: Sequence[tuple[Array, Array]]) -> None:
        """Replaces the arrows; forces: pairs (start, vector) in the world [m]."""
        outlines = [arrow(flat(start, self.plane), flat(vector, self.plane), self.width) for start, vector in forces]
        self.shapes.set_verts(outlines, closed=True)


def force_arrows(
    model: Model, stretches: Sequence[Stretch], straight: Straight, time: float, reach: float
) -> list[tuple[Array, Array]]:
    """(center of pressure, arrow) [m] of every ground reaction force at a time [s], for `Arrows`; reach: size of the
    model [m]."""
    body_weight = weight(model)
    meters = FORCE_HEIGHT * reach / body_weight
    found = ground_forces(stretch_at(stretches, time), time, 0.01 * body_weight)
    return [(straight(p, time), meters * straight.turned(f, time)) for _, p, f in found]


def bare(axes: Axes) -> None:
    """Removes frame and ticks of the axes."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.patch.set_visible(False)


def ground(axes: Axes, height: float = 0.0, spacing: float = 0.5, label: str = "") -> None:
    """Draws the ground: a line at z = height, with ticks below it every `spacing` [m] along x."""
    from matplotlib.ticker import MultipleLocator

    axes.axhline(height, color=INK, linewidth=1.2, zorder=2)
    if spacing:
        axes.spines["bottom"].set_position(("data", height))
        axes.xaxis.set_major_locator(MultipleLocator(spacing))
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:.1f}{label}" if _inside(axes, x) else "")
        axes.tick_params(axis="x", length=4, width=0.9, color=INK, labelcolor=INK, labelsize=8, pad=3)


def _inside(axes: Axes, x: float) -> bool:
    """Whether x is far enough from the ends of the abscissa for its label to fit."""
    low, high = axes.get_xlim()
    return bool(abs(x - (low + high) / 2) < 0.46 * (high - low))


def legend(made: Any, words: dict[Side, str], x: float, y: float, size: float = 9.0, force: bool = True) -> None:
    """Writes the names of the sides and of the force in their colors, side by side, right-aligned at (x, y)."""
    entries = [(words[side], COLORS[side]) for side in ("left", "right") if side in words]
    entries += [("ground force", FORCE)] if force else []
    renderer, width = made.canvas.get_renderer(), made.bbox.width
    for word, color in reversed(entries):
        text = made.text(x, y, f"● {word}", color=color, fontsize=size, ha="right", va="center")
        x -= (text.get_window_extent(renderer).width + 1.6 * size * made.dpi / 72) / width


def used_points(segments: Sequence[Segment]) -> tuple[Point, ...]:
    """All points of the segments in the order in which `Puppet` takes them; `ValueError` if there are none."""
    if not segments:
        raise ValueError(
            "there is nothing to draw: all joints and frames of the model lie at one point; add a frame, such as the "
            "tip"
        )
    return tuple(p for segment in segments for p in segment.points)
