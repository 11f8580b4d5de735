"""A hopper on one leg travels at 1 m/s: at most 0.25 s on the ground, at least 0.25 s in the air.

Shows: phases with and without a contact, the impact that joins them, and a periodic motion of free step length. In a
period T the force of the ground and the impulse of the landing together give the momentum m g T that gravity takes.
"""

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import show


def hopper() -> od.Model:
    builder = od.ModelBuilder("hopper")
    slide = od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)])  # along x and z
    builder.add_body("trunk", slide, mass=8, joint_name="root")
    builder.add_body(
        "hip", od.Revolute("y"), "trunk", mass=1, inertia=(0.1, 0.1, 0.1), lower=-0.8, upper=0.8, effort=10
    )
    builder.add_body("leg", od.Prismatic("-z"), "hip", mass=1, com=(0, 0, -0.3), lower=0.0, upper=0.3)
    builder.add_frame("foot", "leg", (0, 0, -0.5))
    return builder.build()


def problem(intervals: int = 15) -> ocp.Problem:
    foot = ocp.Foothold(od.Contact("foot", axes="xz"), y=0)
    effort = (ocp.TorqueSquared(1e-3), ocp.AccelerationSquared(1e-4))
    clear = ocp.Clearance([("foot", (0, 0, 0))], height=0.05)
    phases = [
        ocp.Phase("stance", intervals, (0.1, 0.25), [foot], [ocp.FrictionCone(0.8)], effort),
        ocp.Phase("flight", intervals, (0.25, 0.6), path=[clear], objective=effort),
    ]
    hop = ocp.Periodic(speed=1.0, mirror=False, transition=ocp.Impact())
    return ocp.Problem(hopper(), phases, periodic=hop, unactuated=["root"], per_distance=True)


if __name__ == "__main__":
    show(problem().solve(progress=False), __file__, trace=["foot", "trunk"])
