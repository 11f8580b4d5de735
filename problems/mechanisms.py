"""Simulations of textbook mechanisms, with and without closed loops, by a formulation of your choice.

    python -m problems.mechanisms [--system SYSTEM] [--formulation FORMULATION] [--duration S] [--step S]
                                  [--out DIR] [--json] [--quick] [--quiet]

Systems of [GJB94] chapter 8: five_bar, bricard, human_body (a somersault), truck and car (dropped on their tires); of
benchmark collections: squeezer (Andrews' seven bodies), n_four_bar (two four-bars in a row), slider_crank.
Formulations:

    recursive     accelerations by recursive algorithms, loops by their constraint forces
    velocity      Formulation B, velocity transformations (8.38), open chains only
    multipliers   Formulation B, loops by Lagrange multipliers (8.114)
    penalty       Formulation B, loops by penalties (8.115)
    independent   Formulation B, loops by independent coordinates (8.119, 8.120)
    trapezoidal   natural coordinates, augmented Lagrangian form, implicit trapezoidal rule (8.121-8.135)

All but the last are integrated by RK4. --out leaves motion.gif, energy.png, constraints.png and report.md in DIR. The
exit status is 1 if the integration fails; what was computed until then is written.

[GJB94] J. Garcia de Jalon, E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer, 1994.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.io import whole_file

from ._command import asked, attempt, parser
from ._mechanism_pictures import animate, plot_constraints, plot_energy
from ._simulations import FORMULATIONS, Run, System, simulate

X_Y_UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
"""Rotation of the x-y plane into the x-z plane, in which pictures look."""


def _system(made: Any, formulation: str, duration: float, step: float, **options: Any) -> System:
    """The system of a model that hangs at q = 0, or of a closed chain at its start."""
    if isinstance(made, od.Model):
        return System(made, (), made.neutral(), np.zeros(made.nv), formulation, duration, step, **options)
    return System(made.model, made.loops, made.q, made.qd, formulation, duration, step, **options)


def squeezer() -> System:
    """Andrews' squeezer until t = 0.03 s, at a two-hundredth of its speed in pictures."""
    return _system(
        od.models.squeezer(), "multipliers", 0.03, 1e-5, penalty=(1e6, 1e3), tolerance=1e-11,
        torque=lambda q, qd: od.models.squeezer_torque(q), speed=0.005, turn=X_Y_UPRIGHT,
    )  # fmt: skip


def human_body() -> System:
    """A human who flies up at 4 m/s and turns forwards, hips and knees bending, arms and head moving freely."""
    model = od.models.human_body()
    qd = np.zeros(model.nv)
    for name, rate in SOMERSAULT.items():
        qd[model.qd_names.index(name)] = rate
    return _system(model, "velocity", 0.8, 1e-3, speed=0.25, slim=False)._replace(qd=qd)


SOMERSAULT = {
    "root.x": 0.5, "root.z": 4.0, "root.wy": 4.0, "hip_y_l": -1.5, "hip_y_r": -1.5, "knee_y_l": 1.5, "knee_y_r": 1.5,
    "shoulder_y_l": -1.0, "shoulder_y_r": -1.0,
}  # fmt: skip
"""Velocities at the start [m/s, rad/s]."""


def vehicle(chain: Any, radius: float, stiffness: float, damping: float, drop: float, step: float) -> System:
    """A vehicle dropped on the left wheels first. radius [m], stiffness [N/m] and damping [N s/m] of a tire; drop [m]."""
    model, loops = chain.model, chain.loops
    q = np.array(chain.q)
    q[model.q_names.index("root.z")] += drop
    angle = 0.04
    q[model.q_names.index("root.qx")], q[model.q_names.index("root.qw")] = -np.sin(angle / 2), np.cos(angle / 2)
    wheels = [name for name in model.body_names if name.startswith("wheel_")]

    def tires(q: Any, qd: Any) -> Any:
        """Torques of vertical springs and dampers under the wheels, which push and do not pull."""
        tau = 0
        for wheel in wheels:
            height, rate = od.point_position(model, wheel, q)[2], od.point_velocity(model, wheel, q, qd)[2]
            push = ca.fmax(0, stiffness * (radius - height) - damping * rate) * (height < radius)
            tau = tau + od.point_jacobian(model, wheel, q)[2, :].T * push
        return tau

    return System(
        model, loops, q, np.zeros(model.nv), "multipliers", 2.0, step, torque=tires,
        loads=od.Loads(passive=True), slim=False, wheels=radius,
    )  # fmt: skip


OBLIQUE = np.array([[1, 0, 0], [0, np.cos(0.35), -np.sin(0.35)], [0, np.sin(0.35), np.cos(0.35)]]) @ np.array(
    [[np.cos(0.5), -np.sin(0.5), 0], [np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]]
)
"""A turn by 0.5 rad about z, then by 0.35 rad about x: mechanisms along the edges of a cube are seen in space."""


SYSTEMS: dict[str, Callable[[], System]] = {
    "five_bar": lambda: _system(od.models.five_bar_pendulum(), "trapezoidal", 20.0, 0.008)._replace(turn=OBLIQUE),
    "bricard": lambda: _system(od.models.bricard(), "trapezoidal", 40.0, 0.03)._replace(turn=OBLIQUE),
    "human_body": human_body,
    "truck": lambda: vehicle(od.models.heavy_truck(), 0.5, 1.2e6, 8e3, 0.1, 5e-4),
    "car": lambda: vehicle(od.models.car(), 0.3, 2e5, 1.5e3, 0.1, 5e-4),
    "squeezer": squeezer,
    "n_four_bar": lambda: _system(od.models.n_four_bar(2), "trapezoidal", 10.0, 1e-3),
    "slider_crank": lambda: _system(od.models.spatial_slider_crank(), "multipliers", 5.0, 1e-3),
}
"""Systems with the formulation, duration [s] and step [s] of their publications."""


def report(name: str, run: Run) -> dict[str, Any]:
    """Numbers of a simulation."""
    numbers: dict[str, Any] = {
        "bodies": run.system.model.nb,
        "coordinates": run.system.model.nv,
        "duration": run.motion.duration,
        "step": run.motion.duration / run.steps,
        "steps": run.steps,
        "energy_error": run.energy_error,
        "position_error": float(run.position_errors.max(initial=0.0)),
        "velocity_error": float(run.velocity_errors.max(initial=0.0)),
        "integration_seconds": round(run.seconds, 4),
        "microseconds_per_step": round(run.seconds / run.steps * 1e6, 2),
    }
    if run.iterations is not None:
        numbers["mean_iterations"] = float(np.mean(run.iterations[1:]))
        numbers["most_iterations"] = int(run.iterations.max())
    if name == "n_four_bar":
        numbers["place_error"] = _error_of_cranks(run)
    if name == "squeezer" and abs(run.motion.duration - 0.03) < 1e-9:
        numbers["published_beta"] = 15.81077119629904
        numbers["beta"] = float(run.motion.q[-1, 0])
    return numbers


def _error_of_cranks(run: Run) -> float:
    """Largest distance of the tip of the first crank from its exact place [m]."""
    exact = np.array([od.models.n_four_bar_motion(2, t)[0] for t in run.motion.t])
    return float(np.max(2 * np.abs(np.sin((run.motion.q[:, 0] - exact) / 2))))


def write(out: Path, run: Run, numbers: dict[str, Any], title: str, *, quiet: bool) -> None:
    """motion.gif, energy.png, constraints.png and report.md in `out`."""
    if not quiet:
        print(f"writing {out}/report.md and its pictures ...", file=sys.stderr, flush=True)
    attempt("motion.gif", lambda: animate(run, out / "motion.gif"))
    attempt("energy.png", lambda: plot_energy(run, out / "energy.png", title))
    attempt("constraints.png", lambda: plot_constraints(run, out / "constraints.png", title))
    rows = "\n".join(f"| {key.replace('_', ' ')} | {_shown(value)} |" for key, value in numbers.items())
    text = f"""# {title}

![animation](motion.gif)

| quantity | value |
|---|---|
{rows}

Times are in seconds, energies in joules. The energy error is the largest change of the total energy that no torque
explains, relative to the largest change of the kinetic energy.

![energies](energy.png)

![errors of the constraints](constraints.png)

Computed on {platform.machine()}, Python {platform.python_version()}.
"""
    with whole_file(out / "report.md") as partial:
        partial.write_text(text, encoding="utf-8")


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _options() -> argparse.ArgumentParser:
    arguments = parser(__doc__)
    arguments.add_argument("--system", choices=SYSTEMS, default="bricard", help="the mechanism, by default bricard")
    arguments.add_argument("--formulation", choices=FORMULATIONS, help="by default that of the publication")
    arguments.add_argument("--duration", type=float, metavar="S", help="duration of the motion [s]")
    arguments.add_argument("--step", type=float, metavar="S", help="step of the integration [s]")
    return arguments


def _progress(done: int, steps: int) -> None:
    print(f"\r{done} of {steps} steps", end="\n" if done == steps else "", file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    arguments = _options()

    def chosen(options: argparse.Namespace) -> System:
        system = SYSTEMS[options.system]()
        duration = system.duration if options.duration is None else options.duration
        return system._replace(
            formulation=options.formulation or system.formulation,
            duration=duration / 20 if options.quick and options.duration is None else duration,
            step=system.step if options.step is None else options.step,
        )

    options, system = asked(arguments, argv, chosen)
    try:
        run, failure = simulate(system, None if options.quiet else _progress)
    except (TypeError, ValueError) as error:
        arguments.error(str(error))
    title = f"{system.model.name.replace('_', ' ')}: {system.formulation}"
    numbers: dict[str, Any] = {"system": options.system, "formulation": system.formulation, "status": failure or "done"}
    numbers |= {} if run is None else report(options.system, run)
    if options.out is not None and run is not None:
        write(options.out, run, numbers, title, quiet=options.quiet)
    print(title)
    for key, value in numbers.items():
        print(f"  {key:28s} {_shown(value)}")
    if failure:
        print(failure, file=sys.stderr)
    if options.json:
        print(json.dumps(numbers))
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
