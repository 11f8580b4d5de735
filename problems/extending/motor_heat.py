"""A state of your own is a channel of a component. The current that a motor needs for its torque heats its winding, and
the winding may not become hotter than a limit: a bound of the channel. `derivatives` gives the rate of the state.

    python -m problems.extending.motor_heat
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp


@dataclass(frozen=True)
class MotorHeat(ocp.Component):
    """Temperature of the windings above that of the room: capacity dT/dt = loss tau^2 - cooling T."""

    dofs: tuple[str, ...]
    limit: float = 60.0  # K
    loss: float = 2.0  # W/(N m)^2
    capacity: float = 5.0  # J/K

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        return [
            ocp.Channel("heat", labels=self.dofs, unit="K", scale=10.0, bounds=(-1.0, self.limit), mirror="unsigned")
        ]

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        tau = instant.tau[[instant.model.qd_names.index(dof) for dof in self.dofs]]
        return {"heat": (self.loss * tau**2 - instant.values["cooling"] * instant["heat"]) / self.capacity}


def problem(limit: float = 20.0, **options: Any) -> ocp.Problem:
    """A rod of 1 kg and 1 m is lifted by two radians, as fast as the heat allows; cooling [W/K] is a parameter."""
    arm = od.models.pendulum()
    swing = ocp.Phase("swing", 20, (0.2, 2.0), objective=[ocp.Duration(), ocp.TorqueSquared(1e-4)])
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 2, end.qd), 0, 0))
    cold = ocp.Boundary(lambda start, end: (start["heat"], 0, 0), "cold")
    return ocp.Problem(
        arm, [swing], boundary=[ends, cold], components=[MotorHeat(arm.qd_names, limit)],
        parameters=[ocp.Parameter("cooling", 0.5)], **options,
    )  # fmt: skip


if __name__ == "__main__":
    print(problem().solve().summary())
