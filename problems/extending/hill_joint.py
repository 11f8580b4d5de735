"""Implicit equations of your own: a Hill muscle, the speed of whose fibers `rows` determine from the balance of the
forces of fibers and tendon.

    python -m problems.extending.hill_joint
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp


@dataclass(frozen=True)
class HillMuscle(ocp.Component):
    """F_tendon = F0 (a f_l(l) f_v(dl/dt) + f_p(l)) [De Groote et al., Ann. Biomed. Eng. 44, 2016], simpler curves."""

    joint: str
    arm: float = 0.04  # m
    fiber: float = 0.12  # m, optimal length; l is the length over it
    tendon: float = 0.2  # m, slack length

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        excitation = ocp.Channel("excitation", "control", bounds=(0.01, 1), neutral=0.1)
        return [excitation, ocp.Channel("activation", neutral=0.1), ocp.Channel("fiber", neutral=1.0, rate=10.0)]

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        return {"activation": (instant["excitation"] - instant["activation"]) / 0.05}

    def rows(self, instant: ocp.Instant) -> Any:
        a, l, speed = instant["activation"], instant["fiber"], instant.rates["fiber"] / 10
        by_length, by_speed = ca.exp(-(((l - 1) / 0.45) ** 2)), 1 + 0.8 * ca.tanh(3 * speed)
        return self._pull(instant) - (a * by_length * by_speed + 0.05 * (ca.exp(5 * (l - 1)) - ca.exp(-5)))

    def force(self, instant: ocp.Instant) -> Any:
        along = [name == self.joint for name in instant.model.joint_names]
        return self.arm * instant.values["strength"] * self._pull(instant) * ca.DM(along)

    def _pull(self, instant: ocp.Instant) -> Any:
        """Force of the tendon over the strength: 1 at a strain of 5 %."""
        whole = self.fiber + 1.03 * self.tendon - self.arm * instant.q[instant.model.q_slice(self.joint).start]
        strain = (whole - self.fiber * instant["fiber"]) / self.tendon - 1
        return (strain + ca.sqrt(strain**2 + 1e-4)) / 0.1


def problem(**options: Any) -> ocp.Problem:
    """A forearm of 1 kg is lifted by a right angle, from rest to rest; the strength [N] of the muscle is a
    parameter."""
    effort = ocp.Integral(lambda instant: instant["excitation"] ** 2, 100.0, "effort")
    lift = ocp.Phase("lift", 25, 1.0, objective=[effort])
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1.5, end.qd), 0, 0))
    parts: dict[str, Any] = {"components": [HillMuscle("joint1")], "parameters": [ocp.Parameter("strength", 800.0)]}
    return ocp.Problem(od.models.pendulum(1, 0.3), [lift], boundary=[ends], unactuated=["joint1"], **parts, **options)


if __name__ == "__main__":
    print(problem().solve().summary())
