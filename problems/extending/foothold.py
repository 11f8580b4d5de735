"""A foothold lies on any plane: `ocp.Foothold(contact, x, y, yaw, plane=ocp.Plane(point, normal))`, a stair, ramp or
wall. x, y and yaw are coordinates in the plane, x = y = 0 at its point; friction cones and centers of pressure refer to
the plane. Without `plane` the foothold lies on the ground z = 0.

    python -m problems.extending.foothold
"""

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp

STEP = ocp.Plane((0.4, 0.0, 0.2))
RAMP = ocp.Plane((0.4, 0.0, 0.1), (-0.5, 0.0, 1.0))


def monopod() -> od.Model:
    """A trunk that moves in the x-z plane and does not turn, on a leg that swings and stretches."""
    builder = od.ModelBuilder("monopod")
    builder.add_body("trunk", od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)]), joint_name="root", mass=8)
    builder.add_body("hip", od.Revolute("y"), "trunk", mass=1, inertia=(0.1, 0.1, 0.1), lower=-1, upper=1)
    builder.add_body("leg", od.Prismatic("-z"), "hip", mass=1, com=(0, 0, -0.3), lower=0.0, upper=0.5)
    builder.add_frame("foot", "leg", (0, 0, -0.5))
    return builder.build()


def hop(plane: ocp.Plane, mu: float = 0.6) -> ocp.Problem:
    """A hop from rest on the ground to rest at the point of a plane."""
    first, second = (ocp.Foothold(od.Contact("foot", axes="xz"), 0.0, 0.0, plane=p) for p in (ocp.Plane(), plane))
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.qd[2:], end.qd[2:]), 0.0, 0.0), "rest")
    hold, cost = (ocp.Unilateral(), ocp.FrictionCone(mu)), (ocp.TorqueSquared(1e-4), ocp.AccelerationSquared(1e-4))
    stands = {"push": (first,), "flight": (), "land": (second,)}
    phases = [ocp.Phase(name, 8, (0.1, 0.6), feet, hold, cost) for name, feet in stands.items()]
    links, bent = (ocp.Continuous(), ocp.Impact()), np.array([0, 0.7, 0, 0.2])
    return ocp.Problem(monopod(), phases, links, boundary=[rest], posture=bent, unactuated=["root"])


if __name__ == "__main__":
    print(hop(RAMP).solve())
