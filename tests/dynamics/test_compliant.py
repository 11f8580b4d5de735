"""Compliant contact: the law against plain NumPy, its generalized force against virtual work, a ball that is
dropped."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.dynamics.compliant import SLIP_CORNER


def numpy_force(sphere, depth, rate, slip):
    """The law as the sources print it, but for two rounded corners."""
    k = 0.5 * sphere.stiffness ** (2 / 3)
    hertz = 4 / 3 * k * np.sqrt(sphere.radius * k) * np.sqrt(depth**2 + sphere.smoothing) ** 1.5
    hertz *= 0.5 + 0.5 * np.tanh(sphere.depth_smoothing * depth)
    c = sphere.dissipation
    sharpness = 2 * sphere.rate_smoothing
    normal = hertz * 1.5 * c * np.logaddexp(0, sharpness * (rate + 2 / (3 * c))) / sharpness
    v = np.sqrt(slip @ slip + sphere.smoothing)
    s = v / sphere.transition_velocity
    least = 2 / (1 / s + 1 + np.sqrt((1 / s - 1) ** 2 + (SLIP_CORNER / s) ** 2))  # min(s, 1), rounded
    mu = least * (sphere.dynamic_friction + 2 * (sphere.static_friction - sphere.dynamic_friction) / (1 + s**2))
    return normal, -normal * (mu + sphere.viscous_friction * v) * slip / v


MATERIAL = {"static_friction": 0.9, "dynamic_friction": 0.6, "viscous_friction": 0.4, "dissipation": 1.3}


@pytest.mark.parametrize("depth", [-0.02, -0.001, 0.0, 0.004, 0.02])
@pytest.mark.parametrize("rate", [-0.8, -0.1, 0.0, 0.5])
def test_the_law_is_that_of_the_sources(depth, rate):
    sphere = od.HuntCrossleySphere("ball", radius=0.03, **MATERIAL)
    for slip in ([0.0, 0.0, 0.0], [0.05, 0.0, 0.0], [0.1, -0.3, 0.0], [2.0, 1.0, 0.0]):
        normal, friction = sphere.force(depth, rate, ca.DM(slip))
        expected, along = numpy_force(sphere, depth, rate, np.array(slip))
        assert float(normal) == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert np.allclose(np.array(ca.DM(friction).full()).ravel(), along, rtol=1e-12, atol=1e-15)


RATES = (-1e3, -3.0, -0.5, -0.37, -1 / 3, -0.3, -0.1, 0.0, 0.4, 3.0, 1e3)


@pytest.mark.parametrize("depth", [0.01, 0.0, -0.05])
def test_a_sphere_that_leaves_is_never_pulled(depth):
    """Between all rates the force does not fall, and its derivatives are those of a smooth function."""
    sphere = od.HuntCrossleySphere("ball")
    d, v = ca.SX.sym("d"), ca.SX.sym("v")
    force = sphere.normal_force(d, v)
    slope = ca.gradient(force, v)
    f = ca.Function("f", [d, v], [force, slope, ca.gradient(slope, v)])
    found = [[float(x) for x in f(depth, rate)] for rate in RATES]
    assert np.isfinite(found).all()
    assert all(force >= 0 and slope >= 0 and bend >= 0 for force, slope, bend in found)
    assert all(np.diff([force for force, _, _ in found]) >= 0)
    assert found[0][0] == 0 < found[3][0]
    h = 1e-4
    for rate in (-0.5, -1 / 3, -0.3, 0.02, 0.1):
        below, here, above = (f(depth, rate + k * h) for k in (-1, 0, 1))
        scale = float(f(depth, 1.0)[1])
        assert float(above[0] - below[0]) / (2 * h) == pytest.approx(float(here[1]), abs=1e-5 * scale)
        assert float(above[1] - below[1]) / (2 * h) == pytest.approx(float(here[2]), abs=1e-3 * scale)


@pytest.mark.parametrize("rate", [-0.15, -0.05, 0.0, 0.3, 2.0])
def test_usual_contact_is_that_of_opensim(rate):
    sphere = od.HuntCrossleySphere("ball")
    published = float(sphere.normal_force(0.01, 0.0)) * (1 + 3 * rate) * (1 + np.tanh(50 * (rate + 1 / 3))) / 2
    assert float(sphere.normal_force(0.01, rate)) == pytest.approx(published, rel=1e-6)


def test_friction_is_that_of_the_sharp_law_away_from_its_corner():
    sphere = od.HuntCrossleySphere("ball", static_friction=0.8, dynamic_friction=0.8, viscous_friction=0.0)
    creeping, sliding = (float(sphere.friction_coefficient(v**2)) * v for v in (0.02, 2.0))
    assert creeping == pytest.approx(0.08, rel=0.01)
    assert sliding == pytest.approx(0.8, rel=0.01)
    assert float(sphere.friction_coefficient(0.2**2)) * 0.2 == pytest.approx(0.8 / 1.05, rel=1e-3)


def test_without_dissipation_the_force_depends_on_the_depth_alone():
    sphere = od.HuntCrossleySphere("ball", dissipation=0.0)
    assert sphere.normal_force(0.01, -3.0) == sphere.normal_force(0.01, 3.0) > 0


def foot():
    """A body with spheres in two frames that are turned against it, on a leg of three joints that moves in space."""
    builder = od.ModelBuilder("leg")
    builder.add_body("thigh", od.FloatingBase("euler_zyx"), mass=2, inertia=(0.1, 0.1, 0.1))
    builder.add_body("foot", od.Revolute("y"), "thigh", origin=(0, 0, -0.4), mass=1, inertia=(0.01, 0.01, 0.01))
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    builder.add_frame("heel", "foot", (-0.05, 0.0, -0.06))
    builder.add_frame("toe", "foot", (0.15, 0.01, -0.06), turned)
    return builder.build()


PLANE = {"point": (0.1, 0.0, -0.5), "normal": (0.1, -0.05, 1.0)}


def test_force_and_wrenches_are_those_of_the_contact_points():
    """tau_c = sum of J' f at the points halfway between plane and spheres; plain NumPy, with velocities by steps."""
    model, rng = foot(), np.random.default_rng(3)
    spheres = [
        od.HuntCrossleySphere("heel", (0, 0, 0.03), 0.03, **MATERIAL),
        od.HuntCrossleySphere("toe", (0.01, 0.02, 0.03), 0.025, **MATERIAL),
        od.HuntCrossleySphere("thigh", (0.1, 0, -0.43), 0.06, **MATERIAL),
    ]
    q = np.array([0.0, 0.0, -0.08, 0.1, 0.02, -0.03, 0.03])
    qd = 0.1 * rng.normal(size=model.nv)
    n = np.array(PLANE["normal"]) / np.linalg.norm(PLANE["normal"])
    tau, wrench = np.zeros(model.nv), {"heel": np.zeros(6), "thigh": np.zeros(6)}
    for sphere in spheres:
        R, p = (x.full() for x in od.pose(model, sphere.name, q))
        center = p.ravel() + R @ sphere.center
        depth = sphere.radius - n @ (center - PLANE["point"])
        point = center - (sphere.radius - depth / 2) * n
        local = R.T @ (point - p.ravel())
        velocity = od.point_velocity(model, sphere.name, q, qd, local).full().ravel()
        rate = -n @ velocity
        f_n, f_t = numpy_force(sphere, depth, rate, velocity + rate * n)
        f = f_n * n + f_t
        tau += od.point_jacobian(model, sphere.name, q, local).full().T @ f
        wrench["thigh" if sphere.name == "thigh" else "heel"] += np.concatenate([np.cross(point, f), f])
        assert f_n > 1
    assert np.allclose(od.compliant_force(model, spheres, q, qd, **PLANE).full().ravel(), tau, rtol=1e-10, atol=1e-9)
    found = od.compliant_wrenches(model, spheres, q, qd, **PLANE)
    assert list(found) == ["heel", "thigh"]
    for frame, w in wrench.items():
        assert np.allclose(found[frame].full().ravel(), w, rtol=1e-10, atol=1e-9)


def test_wrenches_as_external_loads_are_the_generalized_force():
    model = foot()
    sphere = od.HuntCrossleySphere("heel", (0, 0, 0.03), 0.03)
    q, qd = [0, 0, 0.45, 0.1, 0.05, 0.02, 0.1], np.linspace(-0.5, 0.5, model.nv)
    tau_c = od.compliant_force(model, sphere, q, qd)
    wrench = od.compliant_wrenches(model, sphere, q, qd)["heel"]
    by_wrench = od.forward_dynamics(model, q, qd, np.zeros(7), wrench, loads=od.Loads(external=("heel",)))
    assert np.linalg.norm(tau_c.full()) > 1
    assert np.allclose(by_wrench.full(), od.forward_dynamics(model, q, qd, tau_c).full(), atol=1e-9)


def test_numbers_and_symbols_agree_and_derivatives_are_right():
    model = foot()
    spheres = (od.HuntCrossleySphere("heel", (0, 0, 0.03), 0.03), od.HuntCrossleySphere("toe", (0, 0, 0.03), 0.03))
    force = od.function(od.compliant_force, model, spheres, signature="q qd -> tau_c")
    q, qd = np.array([0, 0, 0.45, 0.1, 0.05, 0.02, 0.1]), np.linspace(-0.4, 0.6, model.nv)
    value = od.compliant_force(model, spheres, q, qd).full()
    assert np.allclose(force(q, qd).full(), value, rtol=1e-12)
    x, v = ca.MX.sym("q", 7), ca.MX.sym("qd", 7)
    exact = ca.Function("J", [x, v], [ca.jacobian(force(x, v), ca.vertcat(x, v))])(q, qd).full()
    z, h = np.concatenate([q, qd]), 1e-6
    steps = [
        (force(*np.split(z + h * e, 2)).full() - force(*np.split(z - h * e, 2)).full()) / (2 * h) for e in np.eye(14)
    ]
    assert np.allclose(exact, np.hstack(steps), rtol=1e-5, atol=1e-3)


def dropped(dissipation, height=0.02):
    """Velocities at which a ball of 1 kg hits the ground after a fall from this height [m], and leaves it."""
    builder = od.ModelBuilder("ball")
    builder.add_body("ball", od.Prismatic("z"), mass=1)
    model = builder.build()
    sphere = od.HuntCrossleySphere("ball", radius=0.05, dissipation=dissipation, smoothing=1e-9, depth_smoothing=3e4)
    q, qd = ca.MX.sym("q"), ca.MX.sym("qd")
    fall = od.function(od.forward_dynamics, model)
    push = od.function(od.compliant_force, model, (sphere,), signature="q qd -> tau_c")
    ode = {"x": ca.vertcat(q, qd), "ode": ca.vertcat(qd, fall(q, qd, push(q, qd)))}
    flow = ca.integrator("flow", "cvodes", ode, 0.0, np.linspace(0.001, 0.2, 400), {"abstol": 1e-10, "reltol": 1e-10})
    speed = flow(x0=[0.05 + height, 0.0])["xf"].full()[1]
    return float(speed.min()), float(speed[np.argmin(speed) :].max())


def test_a_dropped_ball_keeps_its_energy_without_dissipation_and_loses_it_with():
    """The restitution of Hunt and Crossley is nearly 1 - c v for slow impacts."""
    down, up = dropped(0.0)
    assert up == pytest.approx(-down, rel=2e-2)
    down, up = dropped(0.2)
    assert up / -down == pytest.approx(1 - 0.2 * -down, abs=0.02)
    assert dropped(2.0)[1] < 0.6 * up


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: od.HuntCrossleySphere(3), TypeError, "frame"),
        (lambda: od.HuntCrossleySphere("a", radius=0.0), ValueError, "radius"),
        (lambda: od.HuntCrossleySphere("a", dissipation=-1.0), ValueError, "dissipation"),
        (lambda: od.HuntCrossleySphere("a", center=(1, 2)), (TypeError, ValueError), "center"),
        (lambda: od.compliant_force(foot(), [], np.zeros(7), np.zeros(7)), ValueError, "none"),
        (lambda: od.compliant_force(foot(), ["heel"], np.zeros(7), np.zeros(7)), TypeError, "HuntCrossleySphere"),
        (lambda: od.compliant_force(foot(), od.HuntCrossleySphere("hel"), np.zeros(7), np.zeros(7)), KeyError, "heel"),
    ],
)
def test_wrong_arguments_are_told(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_spheres_of_a_human_lie_under_its_soles():
    model, size = od.models.human(60, 1.6, "female"), od.models.human_dimensions(1.6, "female")
    q = model.neutral()
    q[2] = size.leg_length
    left, right = (od.models.human_spheres(side, 1.6, "female") for side in "lr")
    for sphere, other in zip(left, right, strict=True):
        p = od.point_position(model, sphere.name, q, sphere.center).full().ravel()
        mirrored = od.point_position(model, other.name, q, other.center).full().ravel()
        assert p[2] == pytest.approx(sphere.radius)
        assert np.allclose(mirrored, p * [1, -1, 1])
    toes = od.models.human_spheres("l", 1.6, "female", part="toes")
    ahead = [od.point_position(model, s.name, q, s.center).full()[0, 0] for s in (*left, *toes)]
    assert max(ahead) == pytest.approx(0.93 * size.foot_length - size.heel)
    assert left[1].center[1] < 0 < left[2].center[1]  # inner and outer ball
    assert od.models.human_spheres("l", stiffness=1e6)[0].stiffness == 1e6
    with pytest.raises(KeyError, match="stiffness"):
        od.models.human_spheres("l", stifness=1e6)
