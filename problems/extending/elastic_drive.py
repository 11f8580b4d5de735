"""A force of your own: springs between motors and joints. The torque tau turns the rotor of the motor, whose angle and
speed are states of the component, and the spring turns the joint: `force` is added to tau in the equations of motion.

    python -m problems.extending.elastic_drive
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp


@dataclass(frozen=True)
class ElasticDrive(ocp.Component):
    """Rotors behind springs: inertia d2(theta)/dt2 = tau - k (theta - q), and the joint feels k (theta - q)."""

    joints: tuple[str, ...]
    inertia: float = 0.2  # kg m^2

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        angle = ocp.Channel("theta", labels=self.joints, unit="rad", mirror="signed")
        return [angle, ocp.Channel("omega", labels=self.joints, unit="rad/s", mirror="signed")]

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        tau = instant.tau[self._dofs(instant.model)]
        return {"theta": instant["omega"], "omega": (tau - self._spring(instant)) / self.inertia}

    def force(self, instant: ocp.Instant) -> Any:
        dofs, found = self._dofs(instant.model), ca.SX(instant.model.nv, 1)
        found[dofs] = self._spring(instant) - instant.tau[dofs]
        return found

    def guess(self, instant: ocp.Instant) -> dict[str, Any]:
        return {"theta": instant.q[self._dofs(instant.model)]}

    def _spring(self, instant: ocp.Instant) -> Any:
        return instant.values["stiffness"] * (instant["theta"] - instant.q[self._dofs(instant.model)])

    def _dofs(self, model: od.Model) -> list[int]:
        return [model.qd_slice(joint).start for joint in self.joints]


def problem(**options: Any) -> ocp.Problem:
    """A rod on an elastic drive is lifted from rest to rest in a second; the stiffness [N m/rad] is a parameter."""
    arm = od.models.pendulum()
    swing = ocp.Phase("swing", 30, 1.0, objective=[ocp.TorqueSquared(1e-2)])
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 2, end.qd), 0, 0))
    still = ocp.Boundary(lambda start, end: (ca.vertcat(start["omega"], end["omega"]), 0, 0), "still rotors")
    drive, stiffness = ElasticDrive(arm.joint_names), ocp.Parameter("stiffness", 50.0)
    return ocp.Problem(arm, [swing], boundary=[rest, still], components=[drive], parameters=[stiffness], **options)


if __name__ == "__main__":
    print(problem().solve().summary())
