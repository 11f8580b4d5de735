"""The compass gait: two straight legs with mass, walking passively down a slope.

A. Goswami, B. Thuilot & B. Espiau, "Compass-like biped robot, part I: stability and bifurcation of passive gaits",
INRIA RR-2996 (1996): leg masses 5 kg at half of their 1 m, hip 10 kg. Published at 3 degrees: period 0.734346 s, step
0.535445 m, largest |multiplier| 0.579952. The period doubles at about 4.4 degrees, where the gait loses its stability.

    python -m ocp_dyn.problems.compass_gait [--slope 3] [--json] [--out DIR] [--quick]
"""

from __future__ import annotations

import math
import sys

import casadi as ca
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn.cli.examples import asked, finish_cycle, parser, run_command
from ocp_dyn.models import compass_walker
from ocp_dyn.ocp import LimitCycle, StepMap
from ocp_dyn.walking import KnownGait, follow_slopes

KNOWN = KnownGait(math.radians(3.0), (0.271029, 0.542057, -1.092384, -0.715010), 0.734346)
PUBLISHED = {"published_period": 0.734346, "published_step_length": 0.535445, "published_magnitude": 0.579952}
SWAP = DM([[1, -1], [0, -1]])
"""(theta, phi) before -> (theta, phi) of the same posture after stance and swing leg have changed roles."""


def step_map(slope: float, steps: int = 500) -> StepMap:
    """Map from the start of a step to the start of the next, x = (theta, phi, theta', phi'); slope [rad]."""
    pinned, planar = (compass_walker(root=root, slope=slope) for root in ("pinned", "planar"))
    FD = od.function(od.forward_dynamics, pinned)

    def rate(x: SX) -> SX:
        return ca.vertcat(x[2:], FD(x[:2], x[2:], DM(2, 1)))

    def strike(x: SX) -> SX:
        still = DM(2, 1)  # the stance foot does not move before the strike
        q, qd = ca.vertcat(still, x[:2]), ca.vertcat(still, x[2:])
        qd_plus, _ = od.impact(planar, (od.Contact("swing_foot", axes="xz"),), q, qd)
        return ca.vertcat(SWAP @ x[:2], SWAP @ qd_plus[2:])

    return StepMap(rate, lambda x: x[1] - 2 * x[0], strike, 4, steps)


def gait(slope: float, steps: int = 500) -> LimitCycle:
    """The long-period gait at `slope` [rad]; NoGait where there is none."""
    return follow_slopes(lambda value: step_map(value, steps), KNOWN, slope)


def main(argv: list[str] | None = None) -> int:
    arguments = parser(__doc__)
    arguments.add_argument("--slope", type=float, default=3.0, help="slope [degrees], 0.25 to 5")
    options, slope = asked(arguments, argv, lambda o: math.radians(o.slope))
    published = PUBLISHED if options.slope == 3.0 else {}
    steps = 100 if options.quick else 500
    return finish_cycle(options, lambda: gait(slope, steps), slope, published, "The compass gait")


if __name__ == "__main__":
    sys.exit(run_command(main))
