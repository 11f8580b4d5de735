"""Pictures of a controlled run: the body as it moves, command and motion, forces in their cones, times of updates."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

from .._base.display import attempt
from .._base.files import whole_file
from .._base.types import Array
from ..viz import locate, skeleton
from ..viz.drawing import INK, Plane, Puppet, bare, picture_file, used_points
from .run import ControlledRun
from .whole_body import FRICTION
from .world import PERIOD

COLORS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7")
PLANNED = "0.55"
PLANES: tuple[Plane, ...] = ("side", "front")
FRAMES = 25.0
"""Pictures per second of the animation."""


def draw_run(run: ControlledRun, out: Path) -> list[str]:
    """Writes run.gif, motion.png, cones.png and times.png to a folder; the names of those that could be drawn.

    >>> od.control.draw_run(run, Path("out"))  # doctest: +SKIP
    ['motion.png', 'cones.png', 'times.png', 'run.gif']
    """
    made = {"motion.png": draw_motion, "cones.png": draw_cones, "times.png": draw_times, "run.gif": draw_animation}
    return [name for name, draw in made.items() if attempt(name, partial(draw, run, out / name))]


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, path: Path) -> None:
    with whole_file(path) as file:
        figure.savefig(file, format=path.suffix[1:], dpi=100)


def draw_motion(run: ControlledRun, path: Path) -> None:
    """Command and motion: speeds over a stride, height of the center of mass, torques over their limits."""
    figure = _figure(9, 9)
    axes = figure.subplots(5, 1, sharex=True)
    h = run.t[1] - run.t[0]
    window = max(1, round(run.stride / h))
    words = ("forward [m/s]", "to the left [m/s]", "turn [rad/s]")
    for k, word in enumerate(words):
        mean = np.convolve(run.velocity[:, k], np.ones(window) / window, mode="same")
        axes[k].plot(run.t, run.velocity[:, k], color=COLORS[0], alpha=0.25, linewidth=0.7)
        axes[k].plot(run.t, mean, color=COLORS[0], label="mean of a stride")
        axes[k].plot(run.t, run.command[:, k], color=PLANNED, linewidth=2, label="command")
        axes[k].set_ylabel(word)
    axes[3].plot(run.t, run.com[:, 2], color=COLORS[1])
    axes[3].set_ylabel("center of mass [m]")
    share = np.abs(run.tau[:, 6:]) / run.body.strength[6:]
    axes[4].plot(run.t, share.max(axis=1), color=COLORS[2], linewidth=0.7)
    axes[4].set_ylabel("largest torque / limit")
    axes[4].set_xlabel("time [s]")
    for one in axes:
        for at, _ in run.pushes:
            one.axvspan(at, at + 0.1, color="0.85")
        one.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, ncols=2, loc="upper right")
    end = f"falls after {run.seconds:.2f} s" if run.fell else f"{run.seconds:.3g} s without a fall"
    figure.suptitle(f"{run.body.name} in MuJoCo: {end}" + (", pushes shaded" if run.pushes else ""), fontsize=10)
    _save(figure, path)


def draw_cones(run: ControlledRun, path: Path) -> None:
    """Vertical forces of the feet in the last two strides; tangential over vertical force of all contacts."""
    figure = _figure(9, 5)
    force, ratio = figure.subplots(2, 1)
    moving = np.flatnonzero(np.abs(run.command).max(axis=1) > 0)
    last = run.t[moving[-1]] if moving.size else run.t[-1]
    late = (run.t > last - max(2 * run.stride, 1.0)) & (run.t <= last)
    for k, foot in enumerate(run.body.feet):
        color = COLORS[k % len(COLORS)]
        force.plot(run.t[late], run.forces[late, k, 2], color=color, linewidth=1, label=foot.frame)
        ratio.plot(run.t, run.steepest[:, k], ".", color=color, markersize=1.5)
    force.set_ylabel("vertical force [N]")
    force.margins(y=0.2)  # room for the legend
    ratio.axhline(run.world.friction, color=INK, linewidth=1, label="friction of the ground")
    ratio.axhline(np.sqrt(2) * FRICTION, color=PLANNED, linewidth=1, label="corner of the controller's pyramid")
    ratio.set_ylim(0, 1.25 * max(run.world.friction, 0.1))
    ratio.set_ylabel("tangential / vertical force")
    ratio.set_xlabel("time [s]")
    for axes in (force, ratio):
        axes.legend(frameon=False, ncols=4, loc="upper right")
        axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def draw_times(run: ControlledRun, path: Path) -> None:
    """Histogram of the processor times of updates, with those that take longer than a period."""
    figure = _figure(6, 3.2)
    axes = figure.subplots()
    most = float(np.percentile(run.solve_ms, 99.8))
    axes.hist(np.minimum(run.solve_ms, most), bins=80, color=COLORS[1])
    missed = 100 * float(np.mean(run.solve_ms > 1e3 * PERIOD))
    axes.axvline(1e3 * PERIOD, color=COLORS[0], label=f"deadline, missed by {missed:.2g} %")
    axes.set_xlabel("processor time of an update [ms]")
    axes.set_ylabel("updates")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, path)


def draw_animation(run: ControlledRun, path: Path, seconds: float = 6.0) -> None:
    """The last seconds of a run from the side and from the front, with the forces of the ground."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    h = run.t[1] - run.t[0]
    first = int(np.searchsorted(run.t, run.t[-1] - seconds))
    shown = range(first, len(run.t), max(1, round(1 / FRAMES / h)))
    segments = skeleton(run.body.model)
    points = used_points(segments)
    figure = Figure(figsize=(7.2, 4.2), dpi=90)
    canvas: Any = FigureCanvasAgg(figure)
    views = [_View(figure, k, plane, run, segments) for k, plane in enumerate(PLANES)]
    title = figure.text(0.5, 0.95, "", ha="center", color=INK)
    places = locate(run.body.model, points, run.q[shown.start : shown.stop : shown.step])
    frames = []
    for k, where in zip(shown, places, strict=True):
        for view in views:
            view.draw(where, k, -run.heading[k])  # seen along the heading
        title.set_text(f"{run.body.name}, {run.t[k]:.1f} s, command {run.command[k, 0]:.2f} m/s")
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("P", palette=Image.Palette.ADAPTIVE))
    with picture_file(path) as file:
        frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=round(1e3 / FRAMES), loop=0)


class _View:
    """The body in one view, whose camera follows it."""

    def __init__(self, figure: Any, column: int, plane: Plane, run: ControlledRun, segments: Any) -> None:
        self.run, self.plane = run, plane
        self.axes = figure.add_axes((0.02 + 0.5 * column, 0.04, 0.46, 0.86))
        bare(self.axes)
        self.axes.set_aspect("equal")
        self.size = 0.6 * run.body.height + 0.7 * float(np.ptp(run.body.hips[:, 0])) + 0.3
        self.puppet = Puppet(self.axes, segments, plane)
        (self.floor,) = self.axes.plot([], [], color=INK, linewidth=1)
        (self.marks,) = self.axes.plot([], [], "|", color=INK, markersize=6)
        self.arrows = [self.axes.plot([], [], color=COLORS[0], linewidth=2)[0] for _ in run.body.feet]

    def draw(self, places: Array, k: int, turn: float) -> None:
        """Moves everything to record k, turned about the vertical so that the body faces along x."""
        run = self.run
        c, s = np.cos(turn), np.sin(turn)
        R, com = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]]), run.com[k] * (1, 1, 0)
        axis = 0 if self.plane == "side" else 1
        self.puppet.draw((places - com) @ R.T)
        self.axes.set_xlim(-self.size, self.size)
        self.axes.set_ylim(run.com[k, 2] - 1.35 * run.body.height, run.com[k, 2] + 1.0 * run.body.height)
        x = np.linspace(-self.size, self.size, 300)
        line = np.zeros((300, 3))
        line[:, axis] = x
        self.floor.set_data(x, heights(run, (line @ R + com)[:, :2]))
        way = run.com[k, :2] @ R[:2, :2].T
        ticks = 0.25 * np.arange(-20, 20) - way[axis] % 0.25
        line = np.zeros((len(ticks), 3))
        line[:, axis] = ticks
        self.marks.set_data(ticks, heights(run, (line @ R + com)[:, :2]) - 0.02 * self.size)
        for j, arrow in enumerate(self.arrows):
            force = R @ run.forces[k, j] / run.body.model.weight * 0.6 * run.body.height
            foot = (run.feet[k, j] - com) @ R.T
            arrow.set_data([foot[axis], foot[axis] + force[axis]], [foot[2], foot[2] + force[2]])


def heights(run: ControlledRun, places: Array) -> Array:
    """Height of the ground (N) [m] at places (N, 2)."""
    terrain = run.world.terrain
    return (
        np.array(DM(terrain.height(DM(places[:, 0]), DM(places[:, 1])))).ravel() if terrain else np.zeros(len(places))
    )
