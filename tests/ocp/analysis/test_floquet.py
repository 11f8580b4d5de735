"""Terms of the map of one period, each against differences of the motion that it linearizes."""

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base import display
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.analysis import floquet, flow_derivatives
from ocp_dyn.ocp.analysis.defects import Flow, advance
from ocp_dyn.ocp.analysis.touchdowns import Touchdown
from ocp_dyn.ocp.equations import Equations
from ocp_dyn.spatial_algebra.rotations import quaternion_multiply
from tests.helpers import close

STEP = 1e-5


def numbers(x):
    return np.array(DM(x).full())


def biped():
    """A trunk on two legs that can put their feet flat anywhere near."""
    builder = od.ModelBuilder("biped")
    builder.add_body("trunk", od.FloatingBase(), mass=6.0, com=(0.05, 0, 0.2), inertia=(0.3, 0.25, 0.2))
    for side, y in (("l", 0.1), ("r", -0.1)):
        box = {"inertia": (0.05, 0.06, 0.03)}
        builder.add_body(f"thigh_{side}", od.Spherical(), "trunk", origin=(0, y, 0), mass=2.0, com=(0, 0.01, -0.2),
            **box)  # fmt: skip
        builder.add_body(f"shank_{side}", od.Revolute("y"), f"thigh_{side}", origin=(0, 0, -0.4), mass=1.5,
            com=(0.02, 0, -0.2), **box)  # fmt: skip
        builder.add_body(f"foot_{side}", od.Spherical(), f"shank_{side}", origin=(0, 0, -0.4), mass=0.8,
            com=(0.05, 0, 0), **box)  # fmt: skip
    return builder.build()


def integration(model):
    q, qd = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    return [q, qd], [model.integrate(q, qd)]


def touching(model, rng):
    """(q, v): the left foot just flat on the ground, coming down on the right one, which stands."""
    q = np.array(model.neutral())
    q[2] = 0.75
    feet = [("foot_l", (0.1, 0.12, 0.0)), ("foot_r", (-0.1, -0.1, 0.0))]
    targets = [od.PointTarget(name, place) for name, place in feet]
    targets += [od.OrientationTarget(name, np.eye(3)) for name, _ in feet]
    q = np.array(od.inverse_kinematics(model, targets, q).q).ravel()
    qd = 0.4 * rng.normal(size=model.nv)
    G = numbers(od.constraint_jacobian(model, (od.Contact("foot_r"),), DM(q)))
    qd -= np.linalg.pinv(G) @ G @ qd
    return q, qd


def landing(model):
    """q, v -> height and tilt of the left foot, zero where it lies on the ground; their derivative; rate of the
    height."""
    q, qd, delta = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv), ca.SX.sym("delta", model.nv)
    near = model.integrate(q, delta)
    R, p = od.pose(model, "foot_l", near)
    rows = ca.vertcat(p[2], R[0, 2], R[1, 2])
    still = ca.DM.zeros(model.nv)
    here = [ca.substitute(x, delta, still) for x in (rows, ca.jacobian(rows, delta))]
    return ca.Function("landing", [q, qd], [*here, (here[1] @ qd)[0]])


@pytest.mark.slow
def test_the_way_to_the_next_phase_is_that_of_differences(rng):
    """The end of a phase comes when the foot is down, under torques that change; the foot is put flat by the least step
    in the metric of H, the other does not move; then the impact."""
    model = biped()
    nv, h = model.nv, 0.02
    q, qd = touching(model, rng)
    tau, rate = rng.normal(size=(2, nv)) * np.array([[3.0], [400.0]])
    stands, both = (od.Contact("foot_r"),), (od.Contact("foot_r"), od.Contact("foot_l"))
    place = lambda name: np.append(numbers(od.point_position(model, name, DM(q))).ravel()[:2], 0.0)
    places = {name: place(name) for name in ("foot_r", "foot_l")}
    before = ocp.PhaseMotion(
        "one", np.array([0, h]), np.array([q, q]), np.array([qd, qd]), np.zeros((1, nv)), tau[None], np.zeros((1, 6)),
        stands, {"foot_r": places["foot_r"]}, rate[None],
    )  # fmt: skip
    after = ocp.PhaseMotion(
        "two", np.array([h, 2 * h]), np.array([q, q]), np.array([qd, qd]), np.zeros((1, nv)), tau[None],
        np.zeros((1, 12)), both, places,
    )  # fmt: skip
    solution = ocp.Solution(model, (before, after), {}, (np.zeros(12), np.zeros(0)), 0.0, False, {"status": "made"})
    found = floquet._Seam(solution, 0, None).derivative(None)
    flow, end, foot = Flow(Equations(model), stands), tau + rate * h / 2, landing(model)
    G, H = od.function(od.constraint_jacobian, model, stands), od.function(od.mass_matrix, model)
    impact, integrate = od.function(od.impact, model, both), ca.Function("integrate", *integration(model))

    def moved(q, qd, s):
        return advance(flow, q, qd, np.concatenate([end + rate * s / 2, rate, [s]]))

    def landed(d):
        """The state after the impact, from the disturbed state at the solved end of the phase."""
        q0, qd0 = numbers(integrate(q, d[:nv])).ravel(), qd + d[nv:]
        s = 0.0
        q1, qd1 = q0, qd0
        for _ in range(3):  # Newton's method on the height of the foot
            rows, _, falls = foot(q1, qd1)
            s -= float(rows[0]) / float(falls)
            q1, qd1 = moved(q0, qd0, s)
        for _ in range(2):
            rows, J, _ = (numbers(x) for x in foot(q1, qd1))
            A = np.vstack([J, numbers(G(q1))])
            system = np.block([[numbers(H(q1)), A.T], [A, np.zeros((len(A), len(A)))]])
            right = np.concatenate([np.zeros(nv), -rows.ravel(), np.zeros(6)])
            q1 = numbers(integrate(q1, np.linalg.solve(system, right)[:nv])).ravel()
        return q1, numbers(impact(q1, qd1)[0]).ravel()

    columns = range(0, 2 * nv, 3)
    expected = np.zeros((2 * nv, len(columns)))
    for k, d in enumerate(STEP * np.eye(2 * nv)[columns]):
        (q1, qd1), (q0, qd0) = landed(d), landed(-d)
        expected[:, k] = np.concatenate([numbers(model.difference(q0, q1)).ravel(), qd1 - qd0]) / (2 * STEP)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found[:, columns], expected, atol=2e-6 * scale)


@pytest.mark.parametrize("slopes", [(0.2, -3.0), (-3.0, 0.2), (3.0, 0.2), (0.2, 3.0)])
def test_the_row_that_falls_fastest_ends_the_phase(slopes, rng):
    """Several rows are new at once; the reference is the difference along the motion to the zero of the fastest one."""
    model = pendulum(2)
    q, rate = rng.normal(size=2), np.array([1.0, 1.0, 0.3, -0.7])
    rows = lambda x: slopes[0] * (x[0] - q[0]) + (x[0] - q[0]) ** 2, lambda x: slopes[1] * (x[1] - q[1])
    touchdown = Touchdown(od.JointCoupling("joint1", "joint2"), lambda x: DM.ones(0, 1))
    touchdown = Touchdown(touchdown.contact, lambda x: ca.vertcat(*(row(x) for row in rows)))
    found = floquet._saltation(model, [Touchdown(touchdown.contact, None), touchdown], q, rate)
    g = rows[int(np.argmax(np.abs(slopes)))]

    def ended(d):
        x, s = np.concatenate([q, [0.0, 0.0]]) + d, 0.0
        for _ in range(8):
            ahead = (float(g(x + (s + 1e-6) * rate)) - float(g(x + (s - 1e-6) * rate))) / 2e-6
            s -= float(g(x + s * rate)) / ahead
        return x + s * rate

    expected = np.column_stack([(ended(d) - ended(-d)) / (2 * STEP) for d in STEP * np.eye(4)])
    close(found, expected, 1e-8)


def test_a_turn_of_the_whole_motion_is_a_neutral_direction(rng):
    """Shifts and turns of a floating base and its velocities, by differences: what the joints have is left alone."""
    model = biped()
    nv, h = model.nv, 1e-6
    q, qd = model.random_q(rng), rng.normal(size=nv)
    found = floquet._neutral_directions(model, q, qd)
    c, s = np.cos(h), np.sin(h)
    R, half = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), DM([0, 0, np.sin(h / 2), np.cos(h / 2)])
    turned, spun = q.copy(), qd.copy()
    turned[:3], spun[:3] = R @ q[:3], R @ qd[:3]
    turned[3:7] = numbers(quaternion_multiply(half, DM(q[3:7]))).ravel()
    for name, (q1, qd1) in {
        "x": (q + h * np.eye(model.nq)[0], qd),
        "y": (q + h * np.eye(model.nq)[1], qd),
        "yaw": (turned, spun),
    }.items():
        d = np.concatenate([numbers(model.difference(DM(q), DM(q1))).ravel(), qd1 - qd]) / h
        np.testing.assert_allclose(found[name], d, atol=1e-5)


def test_losses_of_the_root_feel_a_turn_and_springs_a_shift():
    for data, felt in (
        ({}, ""),
        ({"damping": [0.1, 0, 0, 0, 0, 0]}, "yaw"),
        ({"friction": [0.1, 0, 0, 0, 0, 0]}, "yaw"),
        ({"stiffness": [0.1, 0, 0, 0, 0, 0]}, "x"),
    ):
        builder = od.ModelBuilder("box")
        builder.add_body("box", od.FloatingBase("euler_xyz") if data else od.FloatingBase(), mass=1, inertia=(1, 1, 1),
            **data)  # fmt: skip
        model = builder.build()
        for passive in (True, False):
            bound = floquet._bound_by_joints(Equations(model, od.Loads(passive=passive)))
            for k, name in enumerate(("x", "y", "yaw")):
                d = np.eye(12)[5 if name == "yaw" else k]
                assert bound(name, d) == (passive and name == felt)


@pytest.mark.parametrize(("element", "felt"), [
    (od.OneSidedSpring("root.y", 1.0, 0.0), {"y", "yaw"}),
    (od.ExponentialTorque("arm", 1.0, {"root.x": 0.1}), {"x", "yaw"}),
    (od.ExponentialTorque("root.x", 1.0, {"arm": 0.1}), {"yaw"}),
    (od.ExponentialTorque("arm", 1.0, {"arm": 0.1}), set()),
])  # fmt: skip
def test_tissue_at_the_root_feels_what_it_depends_on(element, felt):
    builder = od.ModelBuilder("box")
    builder.add_body("box", od.FloatingBase("euler_xyz"), mass=1, inertia=(1, 1, 1))
    builder.add_body("arm", od.Revolute("y"), "box", joint_name="arm", mass=1, inertia=(1, 1, 1))
    builder.add_passive(element)
    for passive in (True, False):
        bound = floquet._bound_by_joints(Equations(builder.build(), od.Loads(passive=passive)))
        directions = {name: np.eye(14)[k] for name, k in (("x", 0), ("y", 1), ("yaw", 5))}
        assert {name for name, d in directions.items() if bound(name, d)} == (felt if passive else set())


def test_an_exponential_of_any_size_is_that_of_its_eigenvalues(rng):
    V, w = rng.normal(size=(4, 4)), np.array([-1e6, -3.0, 0.1, 2.0])
    found = flow_derivatives.exponential(V @ np.diag(w) @ np.linalg.inv(V))
    close(found, V @ np.diag(np.exp(w)) @ np.linalg.inv(V), 1e-7)
    close(flow_derivatives.exponential(np.zeros((2, 2))), np.eye(2))


@pytest.mark.slow
def test_exponential_steps_agree_with_small_ones(monkeypatch, capsys):
    """A pendulum with a motor: both ways give the derivative of its flow; only one way exists for heavy losses."""
    model = pendulum().with_limits(effort=50.0)
    still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    way = ocp.Boundary(lambda start, end: (start.q - 0.5, 0, 0))
    phase = ocp.Phase("swing", 40, 1.0, objective=[ocp.TorqueSquared()])
    swung = ocp.Problem(
        model, [phase], periodic=still, boundary=[way], integrator="gauss:2", torque="linear"
    ).solve(progress=False)  # fmt: skip
    monkeypatch.setattr(display, "REPORT_INTERVAL", -1.0)
    exact = swung.floquet().derivative
    assert "following disturbances; 40 of 40 intervals" in capsys.readouterr().err
    swung.floquet(progress=False)
    assert not capsys.readouterr().err
    monkeypatch.setattr(flow_derivatives, "MOST_STEPS", 0)
    found = swung.floquet().derivative
    assert not np.array_equal(found, exact)
    close(found, exact, 1e-4)
