"""A small periodic problem: a trunk that does not turn hops on a leg that swings and stretches."""

import ocp_dyn as od
from ocp_dyn import ocp


def monopod() -> od.Model:
    """A trunk that does not turn on a leg that swings and stretches."""
    builder = od.ModelBuilder("monopod")
    builder.add_body("trunk", od.Translation(), joint_name="root", mass=8)
    builder.add_body("hip", od.Revolute("y"), "trunk", mass=1, inertia=(0.1, 0.1, 0.1), lower=-0.8, upper=0.8)
    builder.add_body("leg", od.Prismatic("-z"), "hip", mass=1, com=(0, 0, -0.3), lower=0.0, upper=0.5)
    builder.add_frame("foot", "leg", (0, 0, -0.5))
    return builder.build()


def problem(free: bool = True, quick: bool = True) -> ocp.Problem:
    """Stance and flight at a speed and on a slope that are parameters; the step length too unless it is free."""
    foot = ocp.Foothold(od.Contact("foot", axes="xyz"), x=(-1, 1), y=(-1, 1))
    effort = (ocp.TorqueSquared(1e-4), ocp.AccelerationSquared(1e-4))
    clear = ocp.Clearance([("foot", (0, 0, 0))], 0.02)
    phases = [
        ocp.Phase("stance", 5, (0.1, 0.5), foot, (ocp.Unilateral(), ocp.FrictionCone(0.8)), effort),
        ocp.Phase("flight", 5, (0.1, 0.6), (), clear, effort),
    ]
    periodic = ocp.Periodic(0.8, mirror=False, step_length=(0.05, 3.0) if free else 0.4)
    return ocp.Problem(
        monopod(),
        phases,
        periodic=periodic,
        unactuated=["root"],
        per_distance=True,
        parameters=ocp.Parameter("slope", 0.0),
    )
