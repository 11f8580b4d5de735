"""Path constraints and objectives against numbers worked out by hand, and the messages for wrong ones."""

import math

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from tests.helpers import close, flat


@pytest.fixture(scope="module")
def crate():
    """A body that only moves along, with an arm on it."""
    builder = od.ModelBuilder("crate")
    builder.add_body("box", od.Planar(), mass=2, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("z"), "box", origin=(0.5, 0, 0), mass=1, inertia=(1, 1, 1))
    builder.add_body("slide", od.Prismatic("y"), "arm", mass=1, inertia=(1, 1, 1))
    return builder.build()


def hopper():
    """A point mass that moves freely, unit by unit of force."""
    builder = od.ModelBuilder("hopper")
    builder.add_body("ball", od.Translation(), mass=3)
    return builder.build()


def instant(model, foot=None, wrench=(), place=(0, 0, 0), **values):
    feet = {} if foot is None else {foot: ca.DM(list(wrench))}
    places = {} if foot is None else {foot: ca.DM(list(place))}
    return ocp.Instant(model, values.pop("q", None), values.pop("qd", None), wrenches=feet, places=places, **values)


def rows(term, *args, **values):
    value, lower, upper = term.rows(instant(*args, **values))
    return flat(ca.evalf(ca.SX(value))), lower, upper


SOLE = ocp.Foothold(od.Contact("ball"), half_length=0.12, half_width=0.04)
POINT = ocp.Foothold(od.Contact("ball", axes="xyz"))


def test_unilateral_takes_the_vertical_force():
    value, lower, upper = rows(ocp.Unilateral(5.0), hopper(), SOLE, (1, 2, 3, 4, 5, 6))
    assert (value.tolist(), lower, upper) == ([6.0], 5.0, np.inf)


def test_the_friction_pyramid_lies_inside_its_cone():
    term = ocp.FrictionCone(mu=0.5, mu_yaw=0.02)
    value, lower, upper = rows(term, hopper(), SOLE, (0, 0, 0.7, 10, -20, 100))
    side = 0.5 / math.sqrt(2) * 100
    close(value, [side - 10, side + 10, side + 20, side - 20, 2 - 0.7, 2 + 0.7])
    assert (lower, upper) == (0.0, np.inf)
    assert len(rows(term, hopper(), POINT, (0, 0, 0, 10, -20, 100))[0]) == 4  # a point carries no moment
    corner = rows(term, hopper(), POINT, (0, 0, 0, side, side, 100))[0]
    close(corner[[0, 2]], [0, 0])
    assert math.hypot(side, side) == pytest.approx(0.5 * 100)


@pytest.mark.parametrize("wrong", [{"mu": 0.0}, {"mu": -0.5}, {"mu_yaw": -0.1}, {"mu": math.nan}])
def test_a_friction_cone_needs_friction(wrong):
    with pytest.raises(ValueError, match="FrictionCone needs mu > 0"):
        ocp.FrictionCone(**wrong)


@pytest.mark.parametrize("yaw", [0.0, 0.4, math.pi / 2])
def test_the_center_of_pressure_is_measured_in_the_sole(yaw):
    """A force F at (x, y) of the sole leaves (half - margin -+ x) F to the toe and the heel, and so across."""
    force, x, y = 200.0, 0.05, -0.03
    at = np.array([math.cos(yaw) * x - math.sin(yaw) * y, math.sin(yaw) * x + math.cos(yaw) * y, 0.0])
    wrench = [*np.cross(at, [0, 0, force]), 0, 0, force]
    value, lower, upper = rows(ocp.CenterOfPressure(0.01), hopper(), SOLE, wrench, (3, 2, yaw))
    expected = [(0.11 - x), (0.11 + x), (0.03 - y), (0.03 + y)]
    close(sorted(value), sorted(force * np.array(expected)))
    assert (lower, upper) == (0.0, np.inf)
    assert rows(ocp.CenterOfPressure(), hopper(), POINT, wrench)[0].size == 0


def test_a_sole_without_size_is_refused():
    foot = ocp.Foothold(od.Contact("ball"))
    with pytest.raises(ValueError, match="sole of 'ball' is no larger than the margin"):
        ocp.CenterOfPressure().rows(instant(hopper(), foot, (0, 0, 0, 0, 0, 1)))


def test_clearance_is_a_sine_squared_over_the_phase():
    points = [("ball", (0, 0, 0)), ("ball", (0, 0, 0.1))]
    for s, need in ((0.0, 0.0), (0.25, 0.02), (0.5, 0.04), (1.0, 0.0)):
        value, lower, _ = rows(ocp.Clearance(points, 0.04), hopper(), q=ca.DM([1, 2, 0.5]), s=s)
        close(value, [0.5 - need, 0.6 - need])
        assert lower == 0.0


def test_clearance_of_a_part_of_the_swing():
    for part, s, need in (((0, 0.5), 0.5, 0.02), ((0, 0.5), 1.0, 0.04), ((0.5, 1), 0.0, 0.04), ((0.5, 1), 1.0, 0.0)):
        value, _, _ = rows(ocp.Clearance([("ball", (0, 0, 0))], 0.04, part=part), hopper(), q=ca.DM([1, 2, 0.5]), s=s)
        close(value, [0.5 - need])


def test_edges_carry_moments_across_the_ground_only():
    """On an edge f_z keeps the moment about the heading within its half width, the yaw within mu_yaw."""
    across = od.RollingContact("ball", 0.0, axis=(0, 1, 0))
    edge = ocp.Foothold(across, half_width=0.05)
    place, lam = ca.DM([0, 0, math.pi / 2]), ca.DM([100.0, 0, 0, 2.0, 3.0])
    wrench = flat(edge.wrench(lam, place))
    close(wrench, [0, 3, 2, 0, 0, 100])  # heading along y
    value, lower, upper = rows(ocp.CenterOfPressure(0.01), hopper(), edge, wrench, flat(place))
    close(value, [4 - 3, 4 + 3])
    assert (lower, upper) == (0.0, np.inf)
    value, _, _ = rows(ocp.FrictionCone(0.7, 0.03), hopper(), edge, wrench, flat(place))
    close(value[4:], [3 - 2, 3 + 2])


def test_separation_is_left_minus_right():
    pair = (("ball", (0, 0.3, 0)), ("ball", (1, 0.1, 0)))
    value, lower, upper = rows(ocp.Separation([pair], 0.15), hopper(), q=ca.DM([1, 2, 3]))
    close(value, [0.2])
    assert (lower, upper) == (0.15, np.inf)


def integrand(term, *args, **values):
    return float(ca.evalf(ca.SX(term.integrand(instant(*args, **values)))))


def test_torques_are_squared_by_their_scale():
    tau = ca.DM([1, 2, 3, 4, 5])
    assert integrand(ocp.TorqueSquared(), pendulum(5), tau=tau) == pytest.approx(55)
    scale = [1, 2, 3, 2, 1]
    assert integrand(ocp.TorqueSquared(scale=scale), pendulum(5), tau=tau) == pytest.approx(1 + 1 + 1 + 4 + 25)
    assert float(ocp.TorqueRateSquared(scale=2).rate_integrand(tau)) == pytest.approx(55 / 4)
    with pytest.raises(ValueError, match=r"TorqueSquared scale: give one number, or nv = 2 .one per dof., got 3"):
        ocp.TorqueSquared(scale=[1, 2, 3]).integrand(instant(pendulum(2), tau=ca.DM([1, 2])))


def test_accelerations_and_angles_leave_out_a_free_root_only(crate):
    a = ca.DM([1, 2, 3, 4, 5])
    assert integrand(ocp.AccelerationSquared(), crate, qdd=a) == pytest.approx(16 + 25)
    assert integrand(ocp.AccelerationSquared(base=True), crate, qdd=a) == pytest.approx(55)
    assert integrand(ocp.AccelerationSquared(), pendulum(2), qdd=ca.DM([1, 2])) == pytest.approx(5)
    assert integrand(ocp.JointAngleSquared(stiffness=[9, 9, 9, 2, 3]), crate, q=a) == pytest.approx(64 + 225)
    assert integrand(ocp.JointAngleSquared(stiffness=2), pendulum(2), q=ca.DM([1, 2])) == pytest.approx(20)


def test_forces_are_squared_over_all_contacts():
    value = integrand(ocp.ForceSquared(scale=10), hopper(), POINT, (0, 0, 0, 1, 2, 3))
    assert value == pytest.approx(0.14)
    assert integrand(ocp.ForceSquared(), hopper()) == 0


def test_the_torque_rate_of_a_solution_is_its_cost():
    model = pendulum(2)
    goal = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 0.3, end.qd), 0, 0))
    term = ocp.TorqueRateSquared(weight=0.5, scale=2.0)
    phases = [ocp.Phase("first", 4, 0.4, objective=term), ocp.Phase("second", 3, 0.6, objective=term)]
    solution = ocp.Problem(model, phases, boundary=goal).solve(progress=False)
    assert solution.converged
    first, second = (phase.tau for phase in solution.phases)
    steps = [(0.1, np.diff(first, axis=0)), (0.2, np.diff(second, axis=0)), (0.15, [second[0] - first[-1]])]
    expected = sum(0.5 * np.sum((np.array(jump) / h / 2.0) ** 2) * h for h, jump in steps)
    assert solution.cost["TorqueRateSquared"] == pytest.approx(expected, rel=1e-9)


def test_terms_of_the_wrong_kind_are_refused():
    with pytest.raises(TypeError, match=r"write Unilateral\(\)"):
        ocp.Phase("stand", 5, 1.0, path=[ocp.Unilateral])
    with pytest.raises(TypeError, match="wrap a function in Path"):
        ocp.Phase("stand", 5, 1.0, path=[lambda instant: instant.q])
    with pytest.raises(TypeError, match="objective must hold Cost or RateCost or Peak"):
        ocp.Phase("stand", 5, 1.0, objective=[3.0])
    with pytest.raises(ValueError, match="where must be one of node, interval, wrench, got 'nodes'"):
        ocp.Path(lambda instant: instant.q, where="nodes")


@pytest.mark.parametrize(
    ("phase", "boundary", "message"),
    [
        ({"path": ocp.Path(lambda s: s.tau)}, (), 'where="interval" only'),
        ({"path": ocp.Path(lambda s: s.q.T)}, (), "must be a column"),
        ({"path": ocp.Path(lambda s: s.q, [0, 0, 0], 1)}, (), "2 rows but 3 bounds"),
        ({"objective": ocp.Integral(lambda s: s.tau)}, (), "cost 'integral' must be one number"),
        ({}, ocp.Boundary(lambda start, end: start.q), r"must return \(expression, lower, upper\)"),
    ],
)
def test_user_functions_of_the_wrong_shape_are_refused(phase, boundary, message):
    problem = ocp.Problem(pendulum(2), ocp.Phase("swing", 3, 1.0, **phase), boundary=boundary)
    with pytest.raises(ValueError, match=message):
        problem.solve(progress=False)


def test_wrong_terms_are_refused():
    with pytest.raises(TypeError, match=r"Soft needs a path constraint, such as .* got 3"):
        ocp.Soft(3)
    with pytest.raises(TypeError, match="Soft needs a path constraint"):
        ocp.Soft(ocp.Unilateral)
    with pytest.raises(ValueError, match="Soft weight must be finite and not negative, got -1"):
        ocp.Soft(ocp.Unilateral(), weight=-1)
    with pytest.raises(ValueError, match="JointMargin must not be negative"):
        ocp.JointMargin(-0.1)
    with pytest.raises(ValueError, match=r"PowerLimit maximum .* must be positive"):
        ocp.PowerLimit(-5.0)
    with pytest.raises(ValueError, match="Path: needs lower <= upper, got 1 and 0"):
        ocp.Path(lambda s: s.q, 1, 0)
    path = ocp.Path(lambda instant: instant.tau[0])
    with pytest.raises(ValueError, match=r'fails at a .node. .* where="interval" only'):
        ocp.Problem(pendulum(1), ocp.Phase("swing", 3, 1.0, (), path)).check()
