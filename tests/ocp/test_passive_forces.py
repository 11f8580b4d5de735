"""Passive forces of joints in optimal control: springs, losses and rotors in the equations, wherever these are used."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.mechanism.loads import JOINT_LOADS
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.equations import Equations, equations_of
from ocp_dyn.ocp.workflows.attempt import prepare
from tests.dynamics.test_passive import MODEL as LINEAR
from tests.dynamics.test_passive_elements import with_elements
from tests.helpers import close, mostly_slow

MODEL = with_elements(LINEAR)
"""Every kind of joint, every dof with a spring, damping, friction and a rotor, and with tissue where it has an
angle."""

FORMS = (
    {"form": "implicit"},
    {"form": "implicit", "integrator": "lobatto:3", "steps": 2},
    {"form": "explicit"},
    {"form": "explicit", "integrator": "gauss:2", "torque": "linear"},
)
OFF: dict[str, Any] = {"loads": od.Loads()}
SMOOTH = replace(JOINT_LOADS, slip_speed=0.1)
NO_PASSIVE, NO_ROTORS = (replace(SMOOTH, **{switch: False}) for switch in ("passive", "armature"))
LOADED = {"damping": 0.5, "stiffness": 1.0, "friction": 0.3, "armature": 1.0, "rest": 0.2}
PUSH = 2.0


def rotor(**data: float) -> od.Model:
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    inertia = {"mass": 1, "com": (0.5, 0, 0), "inertia": (0.75, 0.75, 0.75)}  # 1 kg m^2 about the axis
    builder.add_body("disc", od.Revolute("z"), effort=PUSH, **inertia, **data)
    return builder.build()


def fastest(model: od.Model, **options: Any) -> ocp.Problem:
    """From rest to rest over one radian in the least time."""

    def ends(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        return ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0.0, 0.0

    swing = ocp.Phase("swing", 40, (0.3, 8.0), objective=(ocp.Integral(lambda instant: 1.0, name="time"),))
    return ocp.Problem(model, [swing], boundary=(ocp.Boundary(ends),), **options)


def bang_bang(rate: Callable[[float, float, float], float]) -> float:
    """Time of the one switched motion from rest to rest over one radian: Newton on the two times, Runge-Kutta
    between."""

    def f(x: np.ndarray, tau: float) -> np.ndarray:
        return np.array([x[1], rate(x[0], x[1], tau)])

    def end(times: np.ndarray) -> np.ndarray:
        x = np.zeros(2)
        for h, tau in zip(times / 200, (PUSH, -PUSH), strict=True):
            for _ in range(200):
                a = f(x, tau)
                b = f(x + h / 2 * a, tau)
                c = f(x + h / 2 * b, tau)
                x = x + h / 6 * (a + 2 * b + 2 * c + f(x + h * c, tau))
        return x - np.array([1.0, 0.0])

    times = np.array([1.0, 0.5])
    for _ in range(8):
        slope = np.array([(end(times + d) - end(times - d)) / 2e-5 for d in 1e-5 * np.eye(2)]).T
        times = times - np.linalg.solve(slope, end(times))
    return float(times.sum())


def rotor_rate(q: float, qd: float, tau: float) -> float:
    """The rotor's acceleration with LOADED, at the slip speed 0.1."""
    d = LOADED
    force = -d["stiffness"] * (q - d["rest"]) - d["damping"] * qd - d["friction"] * np.tanh(qd / 0.1)
    return float((tau + force) / (1 + d["armature"]))


@pytest.fixture(scope="module")
def loaded_time() -> float:
    return bang_bang(rotor_rate)


@mostly_slow("options", FORMS, (FORMS[0],))
@pytest.mark.slow
def test_the_fastest_swing_of_a_loaded_rotor(options: dict[str, Any], loaded_time: float) -> None:
    """Minimum time against a dense integration with one switch; the equations hold between the nodes too."""
    solution = fastest(rotor(**LOADED), loads=SMOOTH, **options).solve(progress=False)
    assert solution.converged
    assert solution.duration == pytest.approx(loaded_time, rel=2e-3)
    assert solution.defects().angle < 1e-4
    for loads in (NO_PASSIVE, NO_ROTORS):
        wrong = replace(solution, loads=loads).defects()
        assert wrong.angle > 5e-4
        assert wrong.open_loop_angle > 0.3


TISSUE = (
    od.ExponentialTorque("disc_joint", -0.4, {"disc_joint": 1.2}, -0.1),
    od.ExponentialTorque("disc_joint", 0.3),
    od.OneSidedSpring("disc_joint", 4.0, 0.6, 0.05),
)


@mostly_slow("options", FORMS[::3], FORMS[:1])
@pytest.mark.slow
def test_the_fastest_swing_against_tissue(options: dict[str, Any], tmp_path: Any) -> None:
    """An exponential, a constant torque and a spring from 0.6 rad on, against a dense integration; a file keeps
    them."""

    def rate(q: float, qd: float, tau: float) -> float:
        z = (q - 0.6) / 0.05
        beyond = 0.05 * (z * (1 + math.erf(z / 2**0.5)) / 2 + math.exp(-z * z / 2) / (2 * math.pi) ** 0.5)
        return tau + 0.3 - 0.4 * math.exp(1.2 * q - 0.1) - 4.0 * beyond

    solution = fastest(rotor().with_passive(TISSUE), **options).solve(progress=False)
    assert solution.duration == pytest.approx(bang_bang(rate), rel=2e-3)
    again = ocp.Solution.load(solution.save(tmp_path / "motion.npz"))
    assert again.model.passive == TISSUE
    assert again.defects().angle == pytest.approx(solution.defects().angle, rel=1e-6)
    assert solution.defects().angle < 1e-4
    assert replace(solution, loads=NO_PASSIVE).defects().angle > 5e-4


@pytest.mark.parametrize("options", FORMS[:1])
@pytest.mark.slow
def test_a_switch_by_name_leaves_them_out(options: dict[str, Any]) -> None:
    """sqrt(2) s without; armature 3 makes the inertia four times as large, and the time twice."""
    plain = 2**0.5
    switched = {"armature": 3.0}, {"damping": 1.5, "stiffness": 2.0, "friction": 0.5}, {**LOADED}
    for data in switched:
        solution = fastest(rotor(**data), **OFF, **options).solve(progress=False)
        assert solution.duration == pytest.approx(plain, rel=1e-3)
        assert solution.defects().angle < 1e-4
    for data in (switched[0], {**switched[1], "armature": 3.0}):
        solution = fastest(rotor(**data), loads=NO_PASSIVE, **options).solve(progress=False)
        assert solution.duration == pytest.approx(2 * plain, rel=1e-3)


@pytest.mark.slow
def test_switches_are_checked_and_a_change_is_built() -> None:
    with pytest.raises(TypeError, match=r"loads must be od\.Loads"):
        fastest(rotor(), loads=True)
    with pytest.raises(ValueError, match=r"a problem has no external wrenches, .*leave external out"):
        fastest(rotor(), loads=od.Loads(external=("disc",)))
    problem = fastest(rotor(armature=3.0))
    assert problem.solve(progress=False).duration == pytest.approx(2 * 2**0.5, rel=1e-4)
    assert replace(problem, **OFF).solve(progress=False).duration == pytest.approx(2**0.5, rel=1e-4)


def sizes(problem: ocp.Problem) -> list[tuple[Any, ...]]:
    """Instructions and patterns of every block."""
    _, program = prepare(problem)
    return [
        (
            *(b.derivatives.function(level).n_instructions() for level in ("values", "first", "second", "gauss")),
            b.jacobian_pattern.nnz(),
            b.hessian_pattern.nnz(),
        )
        for b in program.blocks
    ]


@pytest.mark.parametrize("options", FORMS[1:4:2])
@pytest.mark.slow
def test_nothing_grows_without_data(options: dict[str, Any]) -> None:
    """The blocks of a model without data are those that the switches give; damping adds a few operations a dof."""
    phase = ocp.Phase("swing", 3, 1.0, objective=(ocp.TorqueSquared(),))
    plain, without = (sizes(ocp.Problem(pendulum(3), [phase], **options, **o)) for o in ({}, OFF))
    assert plain == without
    model = pendulum(3)
    damped = replace(model, dofs=replace(model.dofs, damping=np.array([0.0, 0.7, 0.0])))
    (values, *_, jacobian, hessian), *_ = sizes(ocp.Problem(damped, [phase], **options))
    stages = 9 * options.get("steps", 1)
    assert plain[0][0] < values <= plain[0][0] + stages * 3
    assert (jacobian, hessian) == plain[0][-2:]


def tree(**options: Any) -> ocp.Problem:
    """Every kind of joint, every dof with a spring, damping, friction and a rotor, on a foot."""
    swing = ocp.Phase("swing", 1, 0.1, ocp.Foothold(od.Contact("b6", axes="xz")), objective=(ocp.TorqueSquared(),))
    return ocp.Problem(
        MODEL,
        [swing],
        loads=replace(JOINT_LOADS, slip_speed=0.5),
        contact_level="acceleration",
        unactuated=(),
        **options,
    )


@pytest.mark.slow
def test_derivatives_hold_what_joints_do(rng: np.random.Generator) -> None:
    """Jacobian and Hessian by differences of step 1e-5, in random directions."""
    t, program = prepare(tree())
    e, p, n, m = program.evaluator, t.program.values, program.n, program.row_lower.size
    x, lam, d = t.program.start + 0.1 * rng.normal(size=n), rng.normal(size=m), rng.normal(size=n)

    def gradient(x: np.ndarray) -> np.ndarray:
        J = DM(e.jacobian_pattern, e.jacobian(x, p))
        return np.array(e.gradient(x, p)) + np.array(J.T @ lam).ravel()

    h = 1e-5
    J = DM(e.jacobian_pattern, e.jacobian(x, p).copy())
    rows = (e.constraints(x + h * d, p).copy() - e.constraints(x - h * d, p)) / (2 * h)
    close(np.array(J @ d).ravel(), rows, 1e-6)
    half = np.array(DM(e.hessian_pattern, e.hessian(x, p, 1.0, lam).copy()).full())
    W = half + half.T - np.diag(np.diag(half))
    close(W @ d, (gradient(x + h * d) - gradient(x - h * d)) / (2 * h), 1e-5)


@pytest.mark.slow
def test_equations_are_those_of_the_library(rng: np.random.Generator) -> None:
    """Every method against the algorithms with `JOINT_LOADS`, with a mass as a symbol."""
    both, foot = {"loads": JOINT_LOADS}, (od.Contact("b6", axes="xz"),)
    q, qd, x = DM(MODEL.random_q(rng)), DM(rng.normal(size=MODEL.nv)), DM(rng.normal(size=MODEL.nv))
    mass = ca.SX.sym("mass")
    equations = Equations(od.with_parameters(MODEL, {"mass:b6": mass}))
    Q, QD, X = (ca.SX(column) for column in (q, qd, x))

    def equal(found: Any, known: Any) -> None:
        value = ca.Function("f", [mass], [ca.densify(ca.SX(found))])(MODEL.I[MODEL.frame("b6").body].m)
        close(value, known, 1e-8)

    equal(equations.inverse_dynamics(Q, QD, X), od.inverse_dynamics(MODEL, q, qd, x, **both))
    known_mass = od.mass_matrix(MODEL, q, loads=od.Loads(armature=True))
    equal(equations.mass_matrix(Q), known_mass)
    known = od.constrained_dynamics(MODEL, foot, q, qd, x, **both)
    for found in (
        equations.forward_dynamics(foot, Q, QD, X),
        equations.corrected_dynamics(foot, Q, QD, X, ca.SX(2, 1)),
    ):
        equal(found[0], known[0])
        equal(found[1], known[1])
    equal(equations.forward_dynamics((), Q, QD, X)[0], od.forward_dynamics(MODEL, q, qd, x, **both))
    equal(equations.impact(foot, Q, QD)[0], od.impact(MODEL, foot, q, qd, loads=od.Loads(armature=True))[0])
    known = od.impact_derivatives(MODEL, foot, q, qd, loads=od.Loads(armature=True))
    for by, exact in zip(equations.impact_derivatives(foot, Q, QD), known, strict=False):
        equal(by, exact)
    H, G = (np.array(x.full()) for x in (known_mass, od.constraint_jacobian(MODEL, foot, q)))
    change = np.array([0.3, -0.2])
    step = np.linalg.solve(H, G.T) @ np.linalg.solve(G @ np.linalg.solve(H, G.T), change)
    equal(equations.least_step(foot, Q, ca.SX(DM(change))), step)


@pytest.mark.slow
def test_equations_without_what_joints_do(rng: np.random.Generator) -> None:
    foot = (od.Contact("b6", axes="xz"),)
    q, qd, x = DM(MODEL.random_q(rng)), DM(rng.normal(size=MODEL.nv)), DM(rng.normal(size=MODEL.nv))
    plain = Equations(MODEL, **OFF)
    close(plain.inverse_dynamics(q, qd, x), od.inverse_dynamics(MODEL, q, qd, x))
    close(plain.forward_dynamics(foot, q, qd, x)[1], od.constrained_dynamics(MODEL, foot, q, qd, x)[1], 1e-8)
    close(plain.impact(foot, q, qd)[0], od.impact(MODEL, foot, q, qd)[0], 1e-8)


@pytest.mark.slow
def test_derivatives_are_those_of_the_accelerations(rng: np.random.Generator) -> None:
    """By differences of `forward_dynamics` along tangents of q and along qd, with a slip speed of their own."""
    nv, h, held = MODEL.nv, 1e-6, (od.Contact("b6", axes="xz"),)
    equations = Equations(MODEL, replace(JOINT_LOADS, slip_speed=0.5))
    q, qd, tau = DM(MODEL.random_q(rng)), DM(rng.normal(size=nv)), DM(rng.normal(size=nv))
    found = equations.forward_derivatives(held, q, qd, tau)
    for d in rng.normal(size=(1, nv)):
        for k, by in enumerate(found):
            sides = []
            for step in (h * d, -h * d):
                near = (MODEL.integrate(q, DM(step)), qd) if k == 0 else (q, qd + step)
                sides.append(np.array(equations.forward_dynamics(held, *near, tau)[0].full()).ravel())
            close(np.array((by @ DM(d)).full()).ravel(), (sides[0] - sides[1]) / (2 * h), 1e-5)


# Impacts, contacts, costs


def lander(**data: float) -> od.Model:
    """A trunk on a leg that stretches; its rotor is heavier than the leg."""
    builder = od.ModelBuilder("lander")
    builder.add_body("trunk", od.Prismatic("z"), mass=5, inertia=(1, 1, 1))
    builder.add_body("leg", od.Prismatic("-z"), "trunk", mass=1, lower=-1, upper=1, **data)
    builder.add_frame("foot", "leg", (0, 0, -0.5))
    return builder.build()


def landing(model: od.Model, **options: Any) -> ocp.Problem:
    foot = ocp.Foothold(od.Contact("foot", axes="z"), x=0, y=0)
    effort = (ocp.TorqueSquared(1e-3),)
    phases = [
        ocp.Phase("flight", 5, (0.05, 0.5), objective=effort),
        ocp.Phase("stance", 5, 0.2, foot, objective=effort),
    ]

    def begin(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, Any, Any]:
        return ca.vertcat(start.q - DM([0.7, 0]), start.qd - DM([-1.0, 0.3])), 0.0, 0.0

    return ocp.Problem(
        model, phases, [ocp.Impact()], boundary=[ocp.Boundary(begin)], unactuated=["trunk_joint"], **options
    )


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_rotors_take_part_in_impacts(form: str) -> None:
    model = lander(armature=4.0, damping=2.0, stiffness=50.0)
    solution = landing(model, form=form).solve(progress=False)
    assert solution.converged
    flight, stance = solution.phases
    q, qd = DM(flight.q[-1]), DM(flight.qd[-1])
    after, impulse = od.impact(model, stance.contacts, q, qd, loads=od.Loads(armature=True))
    close(stance.qd[0], np.array(after.full()).ravel(), 1e-6)
    close(solution.impulses[0], np.array(impulse.full()).ravel(), 1e-6)
    light = np.array(od.impact(model, stance.contacts, q, qd)[0].full()).ravel()
    assert np.abs(stance.qd[0] - light).max() > 0.1


@pytest.mark.parametrize(
    "options", [*FORMS[:3], {"form": "explicit", "contact_level": "acceleration", "baumgarte": 5.0}]
)
@pytest.mark.slow
def test_contact_forces_hold_the_springs(options: dict[str, Any]) -> None:
    """Standing still: the motor carries what the spring does not, the ground the weight; costs are of the motor."""
    model = lander(stiffness=50.0, rest=-0.4, damping=3.0)
    foot = ocp.Foothold(od.Contact("foot", axes="z"), x=0, y=0)

    def still(start: ocp.Instant, end: ocp.Instant) -> tuple[Any, float, float]:
        return ca.vertcat(start.q - DM([0.5, 0.0]), start.qd), 0.0, 0.0

    calm = ocp.Integral(lambda instant: 1e6 * ca.sumsqr(instant.qd), name="calm")
    phase = ocp.Phase("stand", 3, 0.3, foot, objective=(ocp.TorqueSquared(1e-6), calm))
    problem = ocp.Problem(model, [phase], boundary=[ocp.Boundary(still)], unactuated=["trunk_joint"], **options)
    if options.get("integrator") == "lobatto:3":
        problem = replace(problem, contact_level="velocity")
    solution = problem.solve(progress=False)
    motor = 5 * 9.81 + 50.0 * 0.4  # holds the trunk up against gravity and pulls against the spring
    assert solution.converged
    close(solution.phases[0].lam, np.full((3, 1), 6 * 9.81), 1e-6)
    close(solution.phases[0].tau[:, 1], np.full(3, motor), 1e-6)
    assert solution.cost["TorqueSquared"] == pytest.approx(0.3e-6 * motor**2, rel=1e-6)


# Sensitivities, multipliers, feedback


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_sensitivities_hold_what_joints_do(form: str) -> None:
    """By the mass, a symbol of the model: against solutions to either side."""
    problem = fastest(rotor(**LOADED), form=form, loads=SMOOTH, parameters=ocp.Parameter("mass:disc", 1.0))
    at = {m: problem.solve(values={"mass:disc": m}, progress=False, tolerance=1e-9) for m in (0.99, 1.0, 1.01)}
    found = ocp.sensitivities(problem, at[1.0])
    assert found.residual < 1e-6
    assert found["mass:disc"].duration == pytest.approx((at[1.01].duration - at[0.99].duration) / 0.02, rel=1e-2)
    predicted = found.predict(**{"mass:disc": 1.01})
    assert predicted.duration == pytest.approx(at[1.01].duration, rel=1e-4)
    assert predicted.loads == SMOOTH


def hanging(**options: Any) -> ocp.Problem:
    model = pendulum(1)
    data = {"stiffness": np.array([3.0]), "damping": np.array([0.8]), "armature": np.array([0.5])}
    model = replace(model, dofs=replace(model.dofs, **data))
    still = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=0.0)
    return ocp.Problem(model, ocp.Phase("hang", 4, 0.4), periodic=still, **options)


@pytest.mark.slow
def test_multipliers_of_a_damped_pendulum() -> None:
    """(H + armature) q'' + damping q' + (weight + stiffness) q = 0: exp(lambda T); without, those of the plain one."""
    for options in ({}, OFF):
        problem = hanging(**options)
        model, solution = problem.model, problem.solve(progress=False)
        data = (
            np.zeros(3)
            if options
            else [float(x[0]) for x in (model.dofs.armature, model.dofs.damping, model.dofs.stiffness)]
        )
        inertia = float(od.mass_matrix(model, DM(1, 1))) + data[0]
        weight = float(od.gravity_force(model, DM([1e-6]))) / 1e-6 + data[2]
        known = np.exp(0.4 * np.roots([inertia, data[1], weight]))
        found = solution.floquet_multipliers()
        np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(known), rtol=1e-6)


@pytest.mark.slow
def test_multipliers_under_stiff_friction_are_finite() -> None:
    """Friction of a light joint acts within 1e-5 s of rest: the steps follow it, and the speed dies out."""
    model = hanging().model
    model = replace(model, dofs=replace(model.dofs, friction=np.array([50.0]), armature=np.zeros(1)))
    problem = replace(hanging(), model=model)
    assert equations_of(problem).fastest(DM(1, 1)) > 2000
    found = problem.solve(progress=False).floquet_multipliers()
    assert np.abs(found[1]) < 1e-6
    assert 0.99 < np.abs(found[0]) < 1.0  # it creeps back


@pytest.mark.parametrize("options", [{"form": "implicit"}, {"form": "explicit", "integrator": "gauss:2"}])
def test_iterations_come_to_the_solution(options: dict[str, Any]) -> None:
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["from"], s.qd, e.q - 0.3, e.qd), 0, 0))
    phase = ocp.Phase("swing", 8, 0.6, objective=(ocp.TorqueSquared(),))
    problem = ocp.Problem(
        rotor(**LOADED), phase, boundary=ends, parameters=ocp.Parameter("from", 0.0), limits=False, loads=SMOOTH,
        **options,
    )  # fmt: skip
    control = problem.rti(problem.solve(progress=False), qp="riccati")
    for _ in range(25):
        control.feedback(**{"from": 0.1})
    exact = problem.solve(values={"from": 0.1}, progress=False, tolerance=1e-10)
    plan = control.solution()
    close(plan.tau, exact.tau, 1e-6)
    assert plan.defects().angle < 1e-3


def test_stiff_joints_are_integrated_again() -> None:
    """A light body under heavy damping: an explicit method takes a million steps, and raised."""
    builder = od.ModelBuilder("light", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1e-4,) * 3, effort=200.0, damping=100.0)
    solution = replace(fastest(builder.build()), phases=[ocp.Phase("swing", 8, 0.6)]).solve(progress=False)
    defects = solution.defects()
    assert defects.angle < 1e-2


@pytest.mark.slow
def test_steps_that_run_away_are_told() -> None:
    problem = hanging(form="explicit")
    (dof,) = problem.model.qd_names
    stop = problem.model.with_passive([od.OneSidedSpring(dof, 1e6, -5.0)])
    assert any("is unstable" in line for line in replace(problem, model=stop).check())
    assert not any("is unstable" in line for line in problem.check())
    light = replace(problem.model, dofs=replace(problem.model.dofs, friction=np.array([5.0])))
    stiff = replace(problem, model=light)
    assert any("friction of joints act within" in line and "'rk4' is unstable" in line for line in stiff.check())
    for calm in (
        {"loads": replace(JOINT_LOADS, slip_speed=1.0)},
        {"loads": NO_PASSIVE},
        {"integrator": "gauss:2"},
        {"steps": 50},
    ):
        assert not any("is unstable" in line for line in replace(stiff, **calm).check())


@pytest.mark.slow
def test_a_spring_on_the_root_holds_the_motion_to_its_place() -> None:
    """A block on a spring along x is shifted by nothing; on one along y it is."""
    for axis, neutral in (("x", {}), ("y", {"x": 1.0})):
        builder = od.ModelBuilder("block", gravity=(0, 0, 0))
        builder.add_body("cart", od.Translation(), mass=1, stiffness=[3.0 * (k == axis) for k in "xyz"])
        still = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=0.0)
        motion = ocp.Problem(builder.build(), ocp.Phase("rest", 2, 0.5), periodic=still).solve(progress=False)
        found = motion.floquet().neutral
        assert ("x" in found) == ("x" in neutral)
        assert found["y" if axis == "x" else "x"] == pytest.approx(1.0)


# Files


@pytest.mark.slow
def test_solutions_remember(tmp_path: Any) -> None:
    problem = fastest(rotor(**LOADED))
    for loads in (SMOOTH, NO_PASSIVE, NO_ROTORS):
        solution = replace(problem, loads=loads).solve(progress=False, max_iterations=1)
        again = ocp.Solution.load(solution.save(tmp_path / "motion.npz"))
        assert again.loads == solution.loads == loads
        assert again.defects().angle == pytest.approx(solution.defects().angle, rel=1e-6)
    with np.load(tmp_path / "motion.npz") as file:
        arrays = dict(file)
    about = json.loads(str(arrays["about"]))
    for key in ("passive", "armature", "slip_speed"):  # without them the equations of motion are not known
        lacking = {name: value for name, value in about.items() if name != key}
        np.savez(tmp_path / "lacking.npz", **arrays | {"about": np.array(json.dumps(lacking))})
        with pytest.raises(od.ModelError, match=f"the entry '{key}' is missing"):
            ocp.Solution.load(tmp_path / "lacking.npz", verify=False)
