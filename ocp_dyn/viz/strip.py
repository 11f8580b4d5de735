"""A film strip of a solved motion: its poses side by side, as chronophotography shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .animation import FORCE_HEIGHT
from .drawing import INK, Arrows, Puppet, bare, figure, legend, save, used_points
from .gait import Motion, ground_forces, unroll, weight
from .skeleton import locate, side_words, size, skeleton

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE = 1.25
"""Inches of the figure per 1/2 of the model's height."""


def stick_figure(
    solution: Motion,
    path: str | Path | None = None,
    *,
    poses: int = 9,
    ghosts: int = 2,
    spacing: float | None = None,
    forces: bool = True,
) -> Figure:
    """Poses of a motion side by side, seen from the walker's right; written to `path` (.png, .pdf, .svg) if given.

    A motion that repeats is shown over a whole stride (two steps), another one from start to end. Time runs
    to the right: below every pose stands the fraction of the stride that has passed, or the time. Arrows are ground
    reaction forces (one body weight: 0.4 of the model's height).

    poses: how many. ghosts: pale poses between one and the next. spacing: from one pose to the next [m]; None puts
    them clear of one another, 0 superposes a motion on the spot. forces: whether to draw them.
    """
    if isinstance(poses, bool) or poses != int(poses) or poses < 2:
        raise ValueError(f"stick_figure: poses must be a whole number of at least 2, got {poses!r}")
    if isinstance(ghosts, bool) or ghosts != int(ghosts) or ghosts < 0:
        raise ValueError(f"stick_figure: ghosts must be a whole number of at least 0, got {ghosts!r}")
    model, steps = solution.model, 2 if solution.step_length else 1
    total, reach, segments = solution.duration * steps, size(model), skeleton(model)
    count = (poses - 1) * (ghosts + 1) + 1
    times = np.linspace(0.0, total, count)
    points = locate(model, used_points(segments), solution.sample(times))
    drift = solution.step_length * times / solution.duration
    points[..., 0] -= drift[:, None] + (points[..., 0] - drift[:, None]).mean()
    middle = (locate(model, used_points(segments), solution.sample(times))[..., 0] - points[..., 0])[:, 0]
    radius = max((max(s.radii) for s in segments), default=0.0)
    if spacing is None:
        spacing = 0.72 * float(np.ptp(points[..., 0], axis=1).max()) + 2 * radius
    along = spacing * np.linspace(0.0, poses - 1, count)
    made = _canvas(solution, points + along[:, None, None] * [1.0, 0.0, 0.0], radius, reach)
    axes = made.axes[0]
    stretches, body = unroll(solution, steps), weight(model)
    shown = range(0, count, ghosts + 1)
    for k in [k for k in range(count) if k not in shown] + list(shown):
        sharp = k in shown
        Puppet(axes, segments, "side", 1.0 if sharp else 0.16, 3.0 if sharp else 1.0).draw(
            points[k] + [along[k], 0.0, 0.0]
        )
        if not sharp:
            continue
        _caption(axes, along[k], times[k], total, bool(solution.step_length), points[..., 2].min())
        if forces:
            stretch = next(s for s in stretches if times[k] < s.t[-1] or s is stretches[-1])
            shift = np.array([along[k] - middle[k], 0.0, 0.0])
            arrows = [
                (p + shift, FORCE_HEIGHT * reach / body * f)
                for _, p, f in ground_forces(stretch, float(times[k]), 0.01 * body)
            ]
            Arrows(axes, "side", 0.011 * reach).draw(arrows)
    save(made, path, dpi=170)
    return made
