"""A limit of your own on a state: muscles tire while they pull, and tired muscles are weaker. `rows` are path
constraints of a component; an inequality is (expression, lower, upper).

    python -m problems.extending.fatigue
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp


@dataclass(frozen=True)
class Fatigue(ocp.Component):
    """Tired parts m of the muscles of some dofs: dm/dt = tiring |tau| / strength - recovery m, |tau| <= strength (1 -
    m).

    The model of Xia and Frey Law (J. Biomech. 41, 2008) with muscles that are active as much as the torque needs.
    """

    dofs: tuple[str, ...]
    strength: float = 20.0  # N m
    recovery: float = 0.02  # 1/s

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        return [ocp.Channel("tired", labels=self.dofs, bounds=(-0.1, 1.0), mirror="unsigned")]

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        active = ca.sqrt((self._tau(instant) / self.strength) ** 2 + 1e-4)
        return {"tired": instant.values["tiring"] * active - self.recovery * instant["tired"]}

    def rows(self, instant: ocp.Instant) -> tuple[Any, Any, Any]:
        left, used = 1 - instant["tired"], self._tau(instant) / self.strength
        return ca.vertcat(left - used, left + used), 0.0, np.inf

    def _tau(self, instant: ocp.Instant) -> Any:
        return instant.tau[[instant.model.qd_names.index(dof) for dof in self.dofs]]


def problem(**options: Any) -> ocp.Problem:
    """A rod of 1 kg and 1 m is lifted by two radians, as fast as muscles can; tiring [1/s] is a parameter."""
    arm = od.models.pendulum()
    swing = ocp.Phase("swing", 20, (0.2, 2.0), objective=[ocp.Duration(), ocp.TorqueSquared(1e-4)])
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 2, end.qd), 0, 0))
    fresh = ocp.Boundary(lambda start, end: (start["tired"], 0, 0), "fresh")
    return ocp.Problem(
        arm, [swing], boundary=[ends, fresh], components=[Fatigue(arm.qd_names, strength=14.0)],
        parameters=[ocp.Parameter("tiring", 0.5)], **options,
    )  # fmt: skip


if __name__ == "__main__":
    print(problem().solve().summary())
