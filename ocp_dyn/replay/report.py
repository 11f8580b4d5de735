"""Report of a motion that was played in MuJoCo: pictures of the simulated motion beside the plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from .._base.display import attempt
from .._base.files import whole_file
from .._base.templates import text_of
from .._base.types import Array
from ..dynamics.kinematics import pose
from ..native.provenance import provenance, sentences
from ..ocp import Solution
from ..viz import stick_figure
from .forward import Run
from .inverse_check import Agreement

TEMPLATE = Path(__file__).parent / "templates" / "report.md.in"

SHOWN = 4
"""Steps of the animation, and of the curves of forces."""

PLANNED, SIMULATED = "0.55", ("#d55e00", "#0072b2", "#009e73")


def replay_figures(run: Run, agreement: Agreement) -> dict[str, Any]:
    """Numbers of the report of a simulated motion.

    >>> od.replay.replay_figures(run, od.replay.inverse(walk))["steps_upright"]  # doctest: +SKIP
    20.0
    """
    solution, settings = run.solution, run.settings
    return {
        "model": solution.model.name,
        "mass_kg": float(solution.model.mass),
        "step_s": solution.duration,
        "step_length_m": solution.step_length,
        "inverse_torque_error": agreement.torque,
        "inverse_root_error": agreement.root,
        "gain_strengths_per_rad": settings.gain,
        "damping_strengths_s_per_rad": settings.damping,
        "friction": settings.friction,
        "timestep_s": settings.timestep,
        "steps_asked": settings.steps if solution.repeats else 1,
        "steps_upright": run.steps,
        "fell": run.fallen,
        "distance_m": float(run.q[-1, 0] - run.q[0, 0]),
        "planned_distance_m": float(np.diff(solution.sample(run.t[[0, -1]])[:, 0])[0]),
        "saturated_percent": 100 * run.saturated,
    }


def write_report(run: Run, agreement: Agreement, out: Path) -> Path:
    """Writes report.md, simulated.npz, and pictures in the folder `out`; the path of the report.

    >>> od.replay.write_report(run, od.replay.inverse(walk), Path("out"))  # doctest: +SKIP
    PosixPath('out/report.md')
    """
    duration, numbers = run.solution.duration, replay_figures(run, agreement)
    first = run.motion(0.0, min(2 * duration, run.t[-1]))
    whole = run.motion()
    whole.save(out / "simulated.npz")
    attempt("replay.png", lambda: draw(run, out / "replay.png"))
    attempt("planned.png", lambda: stick_figure(planned(run, first), out / "planned.png"))
    attempt("simulated.png", lambda: stick_figure(first, out / "simulated.png"))
    begin = max(0.0, run.t[-1] - SHOWN * duration)
    attempt("replay.gif", lambda: run.motion(begin).animate(out / "replay.gif"))
    shown = {key: f"{value:.6g}" if isinstance(value, float) else value for key, value in numbers.items()}
    text = text_of(
        TEMPLATE,
        title=run.title,
        torque=f"{agreement.torque:.2g}",
        root=f"{agreement.root:.2g}",
        rows=[f"| {key.replace('_', ' ')} | {value} |" for key, value in shown.items()],
        provenance=sentences(provenance()),
        end="the fall" if run.fallen else "the end",
    )
    with whole_file(out / "report.md") as partial:
        partial.write_text(text, encoding="utf-8")
    return out / "report.md"


def planned(run: Run, shown: Solution) -> Solution:
    """The plan at the instants of a simulated motion that begins with it, in the same form, without forces."""
    phase = shown.phases[0]
    q = run.solution.sample(phase.t)
    none = np.zeros((len(phase.t) - 1, 0))
    return replace(shown, phases=(replace(phase, name="planned", q=q, contacts=(), lam=none),))


def base(run: Run, q: Array) -> Array:
    """Place of the base [m], and its roll and pitch [degrees] (N, 5)."""
    x = SX.sym("q", run.solution.model.nq)
    R, p = pose(run.solution.model, run.solution.model.body_names[0], x)
    pitch, roll = -ca.asin(R[2, 0]), ca.atan2(R[2, 1], R[2, 2])
    see = ca.Function("base", [x], [ca.vertcat(p, roll * 180 / np.pi, pitch * 180 / np.pi)])
    return np.array([see(row).full().ravel() for row in q])


def planned_forces(run: Run, until: float) -> dict[str, list[tuple[float, float]]]:
    """(time, vertical force) of every foot in the intervals of the plan, by the names of `Run.wrenches`."""
    solution, model = run.solution, run.solution.model
    image = solution.mirror() if solution.repeats else None
    name_of = {model.frame(name).body: name for name in run.wrenches}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in run.wrenches}
    for n in range(int(np.ceil(until / solution.duration)) if solution.repeats else 1):
        for phase in solution.phases:
            middles = (phase.t[1:] + phase.t[:-1]) / 2 + n * solution.duration
            forces = {name: np.zeros(len(middles)) for name in run.wrenches}
            for contact, wrench in phase.wrenches.items():
                frame = image.frame(contact) if image is not None and n % 2 else model.frame(contact)
                forces[name_of[frame.body]] += wrench[:, 5]
            for name, values in forces.items():
                found[name] += [(t, f) for t, f in zip(middles, values, strict=True) if t <= until]
    return found


def draw(run: Run, path: Path) -> None:
    """Base height, tilt and vertical forces against time, simulated and planned, and the way off the plan."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 9.5), layout="constrained")
    height, tilt, off, force = figure.subplots(4, 1)
    wanted = base(run, run.solution.sample(run.t))
    found = base(run, run.q)
    height.plot(run.t, wanted[:, 2], color=PLANNED, linewidth=3, alpha=0.6, label="planned")
    height.plot(run.t, found[:, 2], color=SIMULATED[0], label="simulated")
    height.set_ylabel("height of the base [m]")
    for k, (name, color) in enumerate(zip(("roll", "pitch"), SIMULATED, strict=False), start=3):
        tilt.plot(run.t, wanted[:, k], color=PLANNED, linewidth=3, alpha=0.6, label="planned" if k == 3 else None)
        tilt.plot(run.t, found[:, k], color=color, label=name)
    tilt.set_ylabel("tilt of the base [degrees]")
    for k, (name, color) in enumerate(zip(("forward", "to the left", "up"), SIMULATED, strict=True)):
        off.plot(run.t, 1e3 * (found - wanted)[:, k], color=color, linewidth=1, label=name)
    off.set_ylabel("base off the plan [mm]")
    until = min(run.t[-1], SHOWN * run.solution.duration)
    here = run.t <= until
    plan = planned_forces(run, until)
    for k, (name, wrench) in enumerate(run.wrenches.items()):
        times = np.array(plan[name]).reshape(-1, 2)
        force.plot(*times.T, color=PLANNED, linewidth=3, alpha=0.6, label="planned" if not k else None)
        force.plot(run.t[here], wrench[here, 5], color=SIMULATED[k % 3], linewidth=1, label=name.replace("_", " "))
    force.set_ylabel("vertical force [N]")
    force.set_xlabel("time [s]")
    for axes in (height, tilt, off, force):
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.0, 0.96), ncols=4)
        axes.set_xlim(0, until if axes is force else run.t[-1])
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=150)
