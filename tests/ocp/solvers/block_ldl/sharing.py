"""Small problems whose stages share variables: durations, parameters, places, torques, their first state."""

import casadi as ca

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum

EFFORT = ocp.TorqueSquared()


def reach(*conditions, duration=1.0, objective=EFFORT, **options):
    """A pendulum, ten intervals, one condition on its ends."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(*(rows(s, e) for rows in conditions)), 0, 0))
    phase = ocp.Phase("swing", 10, duration, objective=objective)
    return ocp.Problem(pendulum(1), phase, boundary=ends, **options)


def between():
    """From anywhere to anywhere, but a cost of the two places keeps them together: no stage sees both."""
    places = [ocp.Parameter("goal", bounds=(0.5, 1.5)), ocp.Parameter("begin", bounds=(-0.5, 0.5))]
    near = ocp.Terminal(lambda s, e: (s.values["goal"] - s.values["begin"] - 0.7) ** 2, 5.0)
    return reach(
        lambda s, e: ca.vertcat(s.q - s.values["begin"], s.qd, e.q - s.values["goal"], e.qd),
        parameters=places,
        terminal=near,
    )


def rest_to_rest(start, end):
    return ca.vertcat(start.q, start.qd, end.q - 1.0, end.qd)


def hop():
    """A hopper in its plane: an impact, a foothold, two durations and the step length free, periodic."""
    builder = od.ModelBuilder("hopper")
    builder.add_body("cart", od.Prismatic("x"), joint_name="root", mass=1, inertia=(1, 1, 1))
    builder.add_body("trunk", od.Prismatic("z"), "cart", joint_name="up", mass=7, inertia=(1, 1, 1))
    builder.add_body("hip", od.Revolute("y"), "trunk", mass=1, inertia=(0.1, 0.1, 0.1), lower=-0.8, upper=0.8)
    builder.add_body("leg", od.Prismatic("-z"), "hip", mass=1, com=(0, 0, -0.3), lower=0.0, upper=0.5)
    builder.add_frame("foot", "leg", (0, 0, -0.5))
    foot = ocp.Foothold(od.Contact("foot", axes="xz"), x=(-1, 1), y=0.0)
    effort = (ocp.TorqueSquared(1e-4), ocp.AccelerationSquared(1e-4))
    clear = ocp.Clearance([("foot", (0, 0, 0))], 0.02)
    phases = [
        ocp.Phase("stance", 5, (0.1, 0.5), foot, (ocp.Unilateral(), ocp.FrictionCone(0.8)), effort),
        ocp.Phase("flight", 5, (0.1, 0.6), (), clear, effort),
    ]
    periodic = ocp.Periodic(0.8, mirror=False)
    return ocp.Problem(builder.build(), phases, periodic=periodic, unactuated=["root", "up"], per_distance=True)


HURRY = (EFFORT, ocp.Duration(weight=3.0))
RATE = (EFFORT, ocp.TorqueRateSquared(0.1))
AGAIN = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=0)
SHARING = {
    "free duration": lambda: reach(rest_to_rest, duration=(0.3, 2.0), objective=HURRY),
    "free parameter": lambda: reach(
        lambda s, e: ca.vertcat(s.q, s.qd, e.q - e.values["goal"], e.qd),
        parameters=ocp.Parameter("goal", bounds=(0.5, 1.5)),
    ),
    "parameters of both ends": lambda: between(),
    "closed by a condition": lambda: reach(
        lambda s, e: ca.vertcat(s.q - e.q, s.qd - e.qd, s.q - 0.3), duration=(0.3, 2.0), objective=HURRY
    ),
    "periodic": lambda: reach(lambda s, e: s.q - 0.3, duration=(0.3, 2.0), objective=HURRY, periodic=AGAIN),
    "linear torques": lambda: reach(rest_to_rest, torque="linear", integrator="gauss:2"),
    "torque rates": lambda: reach(rest_to_rest, objective=RATE),
    "linear torques and rates": lambda: reach(rest_to_rest, objective=RATE, torque="linear"),
    "steps between nodes": lambda: reach(rest_to_rest, form="implicit", steps=2),
    "hopper": hop,
}
