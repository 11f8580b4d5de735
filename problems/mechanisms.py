"""Simulations of textbook mechanisms, with and without closed loops, by a formulation of your choice.

    python -m ocp_dyn.problems.mechanisms [--system SYSTEM] [--formulation FORMULATION] [--duration S] [--step S]
                                  [--out DIR] [--json] [--quick] [--quiet]

Systems of [GJB94] chapter 8: five_bar, bricard, human_body (a somersault), truck and car (dropped on their tires); of
benchmark collections: squeezer (Andrews' seven bodies), n_four_bar (two four-bars in a row), slider_crank. Formulations
are those of `ocp_dyn.simulation`: recursive, velocity, multipliers, penalty, independent, trapezoidal. --out leaves
motion.gif, energy.png, constraints.png and report.md in DIR. The exit status is 1 if the integration fails; what was
computed until then is written.

[GJB94] J. Garcia de Jalon, E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer, 1994.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.cli.examples import asked, finish_simulation, parser, run_command
from ocp_dyn.simulation import Simulation, System

FORMULATIONS = ("recursive", "velocity", "multipliers", "penalty", "independent", "trapezoidal")

X_Y_UPRIGHT = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))
"""Rotation of the x-y plane into the x-z plane, in which pictures look."""

OBLIQUE = np.array([[1, 0, 0], [0, np.cos(0.35), -np.sin(0.35)], [0, np.sin(0.35), np.cos(0.35)]]) @ np.array(
    [[np.cos(0.5), -np.sin(0.5), 0], [np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]]
)
"""A turn by 0.5 rad about z, then by 0.35 rad about x: mechanisms along the edges of a cube are seen in space."""

SOMERSAULT = {
    "root.x": 0.5, "root.z": 4.0, "root.wy": 4.0, "hip_y_l": -1.5, "hip_y_r": -1.5, "knee_y_l": 1.5, "knee_y_r": 1.5,
    "shoulder_y_l": -1.0, "shoulder_y_r": -1.0,
}  # fmt: skip
"""Velocities at the start [m/s, rad/s] of a human who flies up and turns forwards, arms and head moving freely."""


def system(made: Any, formulation: str, duration: float, step: float, **options: Any) -> System:
    """The system of a model that hangs at q = 0, or of a closed chain at its start."""
    if isinstance(made, od.Model):
        return System(made, (), made.neutral(), np.zeros(made.nv), formulation, duration, step, **options)
    return System(made.model, made.loops, made.q, made.qd, formulation, duration, step, **options)


def human_body() -> System:
    model = od.models.human_body()
    qd = np.array([SOMERSAULT.get(name, 0.0) for name in model.qd_names])
    return system(model, "velocity", 0.8, 1e-3, speed=0.25, slim=False)._replace(qd=qd)


def vehicle(chain: Any, radius: float, stiffness: float, damping: float, drop: float, step: float) -> System:
    """A vehicle dropped on the left wheels first. radius [m], stiffness [N/m] and damping [N s/m] of a tire; drop
    [m]."""
    model, q, angle = chain.model, np.array(chain.q), 0.04
    q[model.q_names.index("root.z")] += drop
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

    return system(chain, "multipliers", 2.0, step, torque=tires, loads=od.Loads(passive=True), slim=False,
                  wheels=radius)._replace(q=q, qd=np.zeros(model.nv))  # fmt: skip


SYSTEMS: dict[str, Callable[[], System]] = {
    "five_bar": lambda: system(od.models.five_bar_pendulum(), "trapezoidal", 20.0, 0.008, turn=OBLIQUE),
    "bricard": lambda: system(od.models.bricard(), "trapezoidal", 40.0, 0.03, turn=OBLIQUE),
    "human_body": human_body,
    "truck": lambda: vehicle(od.models.heavy_truck(), 0.5, 1.2e6, 8e3, 0.1, 5e-4),
    "car": lambda: vehicle(od.models.car(), 0.3, 2e5, 1.5e3, 0.1, 5e-4),
    "squeezer": lambda: system(
        od.models.squeezer(), "multipliers", 0.03, 1e-5, penalty=(1e6, 1e3), tolerance=1e-11,
        torque=lambda q, qd: od.models.squeezer_torque(q), speed=0.005, turn=X_Y_UPRIGHT),
    "n_four_bar": lambda: system(od.models.n_four_bar(2), "trapezoidal", 10.0, 1e-3),
    "slider_crank": lambda: system(od.models.spatial_slider_crank(), "multipliers", 5.0, 1e-3),
}  # fmt: skip
"""Systems with the formulation, duration [s] and step [s] of their publications."""


def report(name: str, run: Simulation) -> dict[str, Any]:
    """Numbers of a simulation; of two four-bars and of the squeezer also those that are known."""
    numbers = run.numbers()
    if name == "n_four_bar":  # distance of the tip of the first crank from its exact place [m]
        exact = np.array([od.models.n_four_bar_motion(2, t)[0] for t in run.motion.t])
        numbers["place_error"] = float(np.max(2 * np.abs(np.sin((run.motion.q[:, 0] - exact) / 2))))
    if name == "squeezer" and abs(run.motion.duration - 0.03) < 1e-9:
        numbers |= {"published_beta": 15.81077119629904, "beta": float(run.motion.q[-1, 0])}
    return numbers


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--system", choices=SYSTEMS, default="bricard", help="the mechanism, by default bricard")
    arguments.add_argument("--formulation", choices=FORMULATIONS, help="by default that of the publication")
    arguments.add_argument("--duration", type=float, metavar="S", help="duration of the motion [s]")
    arguments.add_argument("--step", type=float, metavar="S", help="step of the integration [s]")
    options, usual = asked(arguments, argv, lambda o: SYSTEMS[o.system]())
    duration = usual.duration / 20 if options.quick else usual.duration
    given = {name: getattr(options, name) for name in ("formulation", "duration", "step")}
    given = {"duration": duration} | {name: value for name, value in given.items() if value is not None}
    return finish_simulation(arguments, options, usual._replace(**given), lambda run: report(options.system, run))


if __name__ == "__main__":
    sys.exit(run_command(main))
