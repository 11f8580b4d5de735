"""Pictures of simulated mechanisms: animation, energies, errors of the constraints."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from casadi import DM

from ..._base.types import repr_in_message
from ...constraints import Loop
from ...formulations import Trajectory
from ...gait.bodies import locate
from ...mechanism import Model
from ...simulation import Simulation
from ...spatial_algebra.spatial import Transform
from ..animation import animate
from ..drawing import figure, save
from ..skeleton import skeleton

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 0.008
"""Radius of a bar in animations, relative to the extent of the motion."""

DENSITY, SLIMNESS = 1000.0, 0.62
"""Relation of a bar's mass to its width in `ocp_dyn.viz`: a cylinder of this density [kg/m^3], this much thinner."""


def animate_simulation(run: Simulation, path: str | Path) -> Any:
    """Writes the animation of the first seconds: bars of one width, ends of loops joined, wheels of their radius."""
    _check_simulation("animate_simulation", run)
    system, motion = run.system, run.motion
    shown = motion.t <= max(system.shown * system.speed, 2 * motion.t[1])
    part = Trajectory(motion.model, motion.t[shown], motion.q[shown], motion.qd[shown])
    model = with_loop_ends(motion.model, system.loops)
    turn = np.eye(3) if system.turn is None else np.array(system.turn)
    # The model with all that stands on the ground turned about the origin
    places = [X @ Transform.pose(turn) if i and model.parent[i] == 0 else X for i, X in enumerate(model.X_tree)]
    model = replace(model, X_tree=tuple(places))
    if system.slim:
        model = _slim(model, part)
    for name in model.body_names if system.wheels else ():
        if name.startswith("wheel_"):
            model = model.with_inertia(name, mass=4 / 3 * math.pi * DENSITY * (system.wheels or 0.0) ** 3)
    part = replace(part, model=model)
    return animate(part, path, speed=system.speed)


def _check_simulation(what: str, run: Any) -> None:
    if not isinstance(run, Simulation):
        raise TypeError(f"{what} needs a Simulation, as od.simulation.simulate returns, got {repr_in_message(run)}")


def with_loop_ends(model: Model, loops: tuple[object, ...]) -> Model:
    """The model with frames at both ends of all loops, so that pictures draw its bars up to there."""
    for k, loop in enumerate(loops):
        if isinstance(loop, Loop):
            for end in ("predecessor", "successor"):
                frame, (R, r) = getattr(loop, end), getattr(loop, f"{end}_pose")
                name = frame if isinstance(frame, str) else frame.name
                model = model.with_frame(f"loop{k}_{end}", name, np.array(DM(r)).ravel(), np.reshape(R, (3, 3)))
    return model


def _slim(model: Model, motion: Trajectory) -> Model:
    """The model with masses for which `ocp_dyn.viz` draws all bars equally wide, in proportion to the whole motion."""
    segments = [s for s in skeleton(model) if s.kind in ("limb", "trunk")]
    points = tuple(point for segment in segments for point in segment.points)
    places = locate(model, points, motion.q)
    radius = WIDTH * float(np.ptp(places.reshape(-1, 3), axis=0).max())
    lengths: dict[str, float] = {}
    for segment in segments:
        a, b = segment.points[0], segment.points[-1]
        lengths[segment.name] = max(lengths.get(segment.name, 0.0), math.dist(a[1:], b[1:]))
    for name, length in lengths.items():
        model = model.with_inertia(name, mass=math.pi * DENSITY * length * (radius / SLIMNESS) ** 2)
    return model


def plot_energy(run: Simulation, path: str | Path | None = None, title: str = "") -> Any:
    """Energies over time, and the change of energy that no torque explains.

    >>> system = od.simulation.System(rod, (), [1.0], [0.0], "recursive", 0.1, 1e-3)
    >>> run, _ = od.simulation.simulate(system)
    >>> len(od.viz.plot_energy(run).axes)
    2
    """
    _check_simulation("plot_energy", run)
    t, energy = run.motion.t, run.motion.energy
    scale, unit = _prefix(float(np.ptp(run.kinetic)))
    made = figure(8, 5.6)
    made.set_layout_engine("constrained")
    above, below = made.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    for values, label, color in (
        (run.kinetic, "kinetic", "#0072B2"),
        (energy - run.kinetic, "potential", "#D55E00"),
        (energy, "total", "#30363D"),
    ):
        above.plot(t, values / scale, label=label, color=color, lw=1.1)
    if np.any(run.work):
        above.plot(t, run.work / scale, label="work of torques and losses", color="#00896B", lw=1.1, ls="--")
    above.set(ylabel=f"energy [{unit}J]", title=title)
    above.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.08), fontsize="small")
    change, unit = _prefix(float(np.abs(run.energy_change).max()))
    below.plot(t, run.energy_change / change, color="#30363D", lw=1.0)
    below.set(xlabel="time [s]", ylabel=f"error [{unit}J]")
    return _finished(made, (above, below), path)


def plot_constraint_errors(run: Simulation, path: str | Path | None = None, title: str = "") -> Any:
    """The largest errors of positions and velocities over time.

    >>> system = od.simulation.System(rod, (), [1.0], [0.0], "recursive", 0.1, 1e-3)
    >>> run, _ = od.simulation.simulate(system)
    >>> len(od.viz.plot_constraint_errors(run).axes)
    1
    """
    _check_simulation("plot_constraint_errors", run)
    made = figure(8, 3.8)
    made.set_layout_engine("constrained")
    axes = made.subplots()
    for values, label, color in (
        (run.position_errors, "positions", "#0072B2"),
        (run.velocity_errors, "velocities [1/s]", "#D55E00"),
    ):
        if np.any(values > 0):
            axes.semilogy(run.motion.t, np.where(values > 0, values, np.nan), label=label, color=color, lw=1.0)
    if axes.lines:
        axes.legend(frameon=False, ncols=2, loc="upper right")
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** 0.15)  # room for the legend
    else:
        axes.text(0.5, 0.5, "an open chain in joint coordinates: no constraints", ha="center", transform=axes.transAxes)
        axes.set_yticks([])
    axes.set(xlabel="time [s]", ylabel="largest error", title=title)
    return _finished(made, (axes,), path)


def _prefix(largest: float) -> tuple[float, str]:
    """The power of 1000 below a number, and its prefix."""
    prefixes = {1e6: "M", 1e3: "k", 1.0: "", 1e-3: "m", 1e-6: "u", 1e-9: "n"}
    return next(((scale, name) for scale, name in prefixes.items() if largest >= scale), (1e-12, "p"))


def _finished(made: Any, panels: tuple[Axes, ...], path: str | Path | None) -> Any:
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        axes.margins(x=0.01)
    save(made, path, dpi=130)
    return made
