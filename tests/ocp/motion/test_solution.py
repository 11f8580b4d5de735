"""Methods of solutions: active constraints, Floquet multipliers, sensitivities, tables and files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.mechanism.loads import JOINT_LOADS
from ocp_dyn.models import compass_walker, human, pendulum
from ocp_dyn.ocp import PhaseMotion, Solution
from ocp_dyn.ocp.analysis.defects import Flow, advance
from ocp_dyn.ocp.analysis.flow_derivatives import flow_derivatives
from ocp_dyn.ocp.analysis.touchdowns import _image, fixed_rows, touchdowns
from ocp_dyn.ocp.equations import Equations
from ocp_dyn.ocp.workflows.sensitivity import sensitivities
from ocp_dyn.symmetry.advance import Advance
from ocp_dyn.symmetry.mirror import mirror_map
from problems import compass_gait

SLOPE = np.radians(3.0)
PUBLISHED = 0.579952
"""Largest |multiplier| of the compass gait at 3 degrees, per step."""


@cache
def compass_cycle() -> ocp.LimitCycle:
    return compass_gait.gait(SLOPE, 200)


def compass_state(fraction: float) -> list[float]:
    """(theta, phi, theta', phi') of the known gait at a fraction of its step."""
    cycle = compass_cycle()
    return [float(np.interp(fraction, cycle.t / cycle.period, column)) for column in cycle.states.T]


def stride() -> ocp.Problem:
    """The compass walker, its stance leg the root: a period is two steps, one on each foot, not mirrored."""
    model = compass_walker(root="planar", slope=SLOPE)
    feet = [
        ocp.Foothold(od.Contact(f"{name}_foot", axes="xz"), x=x, y=0.0)
        for name, x in (("stance", 0.0), ("swing", (0.1, 1.0)))
    ]

    def guess(s: float) -> tuple[np.ndarray, np.ndarray]:
        theta, phi, dtheta, dphi = compass_state(2 * s - (s > 0.5))
        if s <= 0.5:
            return np.array([0.0, 0.0, theta, phi]), np.array([0.0, 0.0, dtheta, dphi])
        a, da = theta - phi, dtheta - dphi  # of the leg that is the root; it hangs from the hip
        q = [0.535 - np.sin(theta) + np.sin(a), np.cos(theta) - np.cos(a), a, -phi]
        qd = [-np.cos(theta) * dtheta + np.cos(a) * da, -np.sin(theta) * dtheta + np.sin(a) * da, da, -dphi]
        return np.array(q), np.array(qd)

    phases = [ocp.Phase(name, 20, (0.5, 1.0), (foot,)) for name, foot in zip("ab", feet, strict=True)]
    periodic = ocp.Periodic(mirror=False, transition=ocp.Impact(), step_length=(0.5, 2.0))
    return ocp.Problem(
        model, phases, [ocp.Impact()], periodic, unactuated=model.joint_names, guess=guess, integrator="gauss:2"
    )


def mirrored_step() -> ocp.Problem:
    """The same walker with a hip as its root, which slides in x and z, and legs beside one another: half the period."""
    builder = od.ModelBuilder("compass", gravity=(9.81 * np.sin(SLOPE), 0.0, -9.81 * np.cos(SLOPE)))
    point = (0.0, 0.0, 0.0)
    builder.add_body("slide", od.Prismatic("x"))
    builder.add_body("hip", od.Prismatic("z"), "slide", mass=10.0, inertia=point)
    for side, y in (("l", 0.1), ("r", -0.1)):
        builder.add_body(
            f"leg_{side}", od.Revolute("y"), "hip", origin=(0, y, 0), mass=5.0, com=(0, 0, -0.5), inertia=point
        )
        builder.add_frame(f"foot_{side}", f"leg_{side}", (0.0, 0.0, -1.0))
    model = builder.build()

    def guess(s: float) -> tuple[np.ndarray, np.ndarray]:
        theta, phi, dtheta, dphi = compass_state(s)
        q = [-np.sin(theta), np.cos(theta), phi - theta, -theta]
        qd = [-np.cos(theta) * dtheta, -np.sin(theta) * dtheta, dphi - dtheta, -dtheta]
        return np.array(q), np.array(qd)

    foot = ocp.Foothold(od.Contact("foot_r", axes="xz"), x=0.0, y=-0.1)
    phases = [ocp.Phase("step", 20, (0.5, 1.0), (foot,))]
    periodic = ocp.Periodic(transition=ocp.Impact(), step_length=(0.3, 1.0))
    return ocp.Problem(model, phases, (), periodic, unactuated=model.joint_names, guess=guess, integrator="gauss:2")


@pytest.fixture(scope="module")
def step() -> Solution:
    return mirrored_step().solve(progress=False)


# Floquet multipliers


@pytest.mark.slow
def test_a_stride_of_the_compass_gait_has_the_square_of_the_published_multiplier() -> None:
    solution = stride().solve(progress=False)
    assert solution.converged
    found = solution.floquet()
    # the published figure has six digits; the grid of 20 intervals of order 4 agrees to about as many
    assert abs(found.multipliers[0]) == pytest.approx(PUBLISHED**2, rel=1e-5)
    assert found.stable
    assert found.neutral == pytest.approx({"x": 1.0})
    assert found.leak < 1e-10


@pytest.mark.slow
def test_a_mirrored_step_has_the_published_multiplier(step: Solution) -> None:
    assert step.converged
    assert step.duration == pytest.approx(0.734346, rel=1e-5)
    multipliers = step.floquet_multipliers()
    assert abs(multipliers[0]) == pytest.approx(PUBLISHED, rel=1e-5)
    known = compass_cycle().multipliers
    np.testing.assert_allclose(np.abs(multipliers[:3]), np.abs(known[:3]), rtol=2e-5)


def test_multipliers_without_contacts_are_those_of_the_monodromy_matrix() -> None:
    """A pendulum hanging at rest for T: exp of its linear motion, determinant 1, angles sqrt(g / l) T."""
    model, duration = pendulum(1), 0.4
    still = ocp.Phase("hang", 4, duration)
    solution = ocp.Problem(
        model, [still], periodic=ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=0.0)
    ).solve(progress=False)
    assert np.abs(solution.q).max() < 1e-9
    multipliers = solution.floquet_multipliers()
    H = float(od.mass_matrix(model, DM(1, 1)))
    stiffness = float(od.gravity_force(model, DM([1e-6]))) / 1e-6
    angle = np.sqrt(stiffness / H) * duration
    assert sorted(multipliers.imag) == pytest.approx([-np.sin(angle), np.sin(angle)], rel=1e-7)
    assert np.prod(multipliers).real == pytest.approx(1.0, rel=1e-9)


FOOT = od.Contact("foot", axes="xyz")


@pytest.mark.slow
def test_derivatives_of_a_flow_are_those_of_differences(rng: np.random.Generator) -> None:
    """Quaternions, torques that change, springs: against the tight integrator, by central differences of step 1e-4."""
    contacts, joints = (FOOT,), {"stiffness": 20.0, "damping": 0.8, "friction": 0.3, "armature": 0.1}
    builder = od.ModelBuilder("two")
    builder.add_body("trunk", od.FloatingBase(), mass=2.0, com=(0.1, 0.02, 0.05), inertia=(0.1, 0.2, 0.25))
    builder.add_body("arm", od.Spherical(), "trunk", origin=(0.2, 0, 0.1), mass=1.0, com=(0, 0.1, -0.2),
        inertia=(0.1, 0.1, 0.05), **joints)  # fmt: skip
    builder.add_frame("foot", "arm", (0.0, 0.0, -0.4))
    model = builder.build()
    q, qd, nv, h = model.random_q(rng), rng.normal(size=model.nv), model.nv, 0.02
    tau, rate = rng.normal(size=(2, 1, nv))
    lam = np.zeros((1, sum(len(contact.rows) for contact in contacts)))
    phase = PhaseMotion("p", np.array([0, h]), np.array([q, q]), np.array([qd, qd]), tau, tau, lam, contacts, {}, rate)
    equations = Equations(model, replace(JOINT_LOADS, slip_speed=0.5))
    found = next(flow_derivatives(equations, phase, 0.0005))
    flow, torques = Flow(equations, contacts), np.concatenate([tau[0], rate[0], [h]])

    def end(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return advance(flow, np.array(model.integrate(q, x[:nv])).ravel(), qd + x[nv:], torques)

    expected = np.zeros_like(found)
    for k, d in enumerate(1e-4 * np.eye(2 * nv)):
        (q1, qd1), (q0, qd0) = end(d), end(-d)
        expected[:, k] = np.concatenate([np.array(model.difference(q0, q1)).ravel(), qd1 - qd0]) / 2e-4
    np.testing.assert_allclose(found, expected, atol=1e-5)  # the differences are no better near half a turn


@pytest.mark.parametrize("frames", ["", "stance_foot", "swing_foot", "stance_foot swing_foot", "head head"])
@pytest.mark.slow
def test_dynamics_from_shared_terms_are_those_of_every_set_of_contacts(frames: str, rng: np.random.Generator) -> None:
    model = od.models.five_link_biped(root="planar").with_limits(effort=9.0)
    every = tuple(od.Contact(frame, axes="xz") for frame in ("stance_foot", "swing_foot", "head"))
    contacts = tuple(one for frame in frames.split() for one in every if one.body == frame)
    equations = Equations(model.with_springs({"stance_knee": 5.0}))
    sizes = model.nq, model.nv, model.nv
    args = [ca.MX.sym("x", size) for size in sizes]
    made = [equations.shared_dynamics(contacts, every, *args), equations.forward_dynamics(contacts, *args)]
    shared, own = (ca.Function("dynamics", args, list(found)) for found in made)
    independent = bool(frames) and "head" not in frames
    assert ("EoMc" in str(shared.find_functions())) == independent, shared.find_functions()
    at = [rng.normal(size=size) for size in sizes]
    if terms := equations.shared_terms(contacts, every):
        q, qd, H = *at[:2], terms(*at[:2])[0]
        assert equations.fastest(q, contacts, qd, H) == pytest.approx(equations.fastest(q, contacts, qd))
        assert equations.fastest(q, contacts, qd, 4 * H) < equations.fastest(q, contacts, qd)
    for one, other in zip(shared(*at), own(*at), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def _struck(end: ocp.Instant, start: ocp.Instant) -> tuple[ca.SX, float, float]:
    """The impact of the right foot, by hand."""
    qd_plus, _ = od.impact(end.model, (od.Contact("foot_r", axes="xz"),), end.q, end.qd)
    return ca.vertcat(start.q - end.q, start.qd - qd_plus), 0.0, 0.0


def jumping(function: Callable[..., object]) -> ocp.Problem:
    """The mirrored step with a transition of the user's own."""
    problem = mirrored_step()
    assert problem.periodic is not None
    return replace(problem, periodic=replace(problem.periodic, transition=ocp.Jump(function)))


@pytest.mark.slow
def test_an_impact_by_hand_has_the_multipliers_of_the_impact() -> None:
    problem = jumping(_struck)
    solution = problem.solve(progress=False, tolerance=1e-10)
    step = mirrored_step().solve(progress=False, tolerance=1e-10)
    assert solution.duration == pytest.approx(step.duration, rel=1e-9)
    found, expected = solution.floquet(problem=problem), step.floquet()
    np.testing.assert_allclose(found.multipliers, expected.multipliers, atol=1e-7)
    assert found.neutral == pytest.approx(expected.neutral, abs=1e-9)
    assert found.leak < 1e-7

    def with_bounds(end: ocp.Instant, start: ocp.Instant) -> tuple[ca.SX, np.ndarray, np.ndarray]:
        rows, nothing = _struck(end, start)[0], np.zeros(2 * end.model.nv)
        return ca.vertcat(rows, end.q[1]), np.append(nothing, 0.0), np.append(nothing, np.inf)

    again = replace(problem, periodic=jumping(with_bounds).periodic)
    np.testing.assert_allclose(solution.floquet(problem=again).multipliers, found.multipliers, rtol=1e-12)

    def seen_from_the_start(end: ocp.Instant, start: ocp.Instant) -> tuple[ca.SX, float, float]:
        """The same conditions, one of them times a number that differs from place to place."""
        rows = _struck(end, start)[0]
        return ca.vertcat((2 + end.q[0]) * rows[0], rows[1:]), 0.0, 0.0

    seen = solution.floquet(problem=replace(problem, periodic=jumping(seen_from_the_start).periodic))
    np.testing.assert_allclose(seen.multipliers, found.multipliers, rtol=1e-7)
    assert seen.neutral == pytest.approx(expected.neutral, abs=1e-7)


@pytest.mark.slow
def test_a_jump_may_hold_the_event_that_ends_the_phase() -> None:
    """The compass walker pinned at its foot: the strike is a row of the jump, there are no contacts."""
    model, planar = (compass_walker(root=root, slope=SLOPE) for root in ("pinned", "planar"))
    still = ca.SX(2, 1)

    def strike(end: ocp.Instant, start: ocp.Instant) -> tuple[ca.SX, float, float]:
        q, qd = ca.vertcat(still, end.q), ca.vertcat(still, end.qd)
        qd_plus, _ = od.impact(planar, (od.Contact("swing_foot", axes="xz"),), q, qd)
        after = ca.vertcat(start.q - compass_gait.SWAP @ end.q, start.qd - compass_gait.SWAP @ qd_plus[2:])
        return ca.vertcat(after, end.q[1] - 2 * end.q[0]), 0.0, 0.0

    problem = ocp.Problem(
        model,
        [ocp.Phase("step", 20, (0.5, 1.0))],
        periodic=ocp.Periodic(mirror=False, transition=ocp.Jump(strike), step_length=0.0),
        unactuated=model.joint_names,
        guess=lambda s: (np.array(compass_state(s)[:2]), np.array(compass_state(s)[2:])),
        integrator="gauss:3",
    )
    found = problem.solve(progress=False, tolerance=1e-10).floquet_multipliers(problem=problem)
    # the grid of 20 intervals of order 6 agrees with the integration in 200 steps to about as many digits
    np.testing.assert_allclose(np.abs(found[:3]), np.abs(compass_cycle().multipliers[:3]), rtol=1e-6)


@pytest.mark.slow
def test_a_jump_that_does_not_determine_the_next_state_is_refused(step: Solution) -> None:
    solution = replace(step, stats=step.stats | {"transitions": ["Jump"]})
    with pytest.raises(ValueError, match=r"a solution does not contain them: give floquet\(problem"):
        solution.floquet()
    with pytest.raises(ValueError, match="transition 0 is a Jump in the solution, but not in this problem"):
        solution.floquet(problem=mirrored_step())
    with pytest.raises(ValueError, match="its 4 equality rows and the 3 of its feet determine 6 of the 8 numbers"):
        solution.floquet(problem=jumping(lambda end, start: (start.q - end.q, 0.0, 0.0)))

    def too_much(end: ocp.Instant, start: ocp.Instant) -> tuple[ca.SX, float, float]:
        return ca.vertcat(_struck(end, start)[0], end.q[2] - float(step.q[-1, 3])), 0.0, 0.0

    with pytest.raises(ValueError, match="its equality rows fix 2 numbers of the last state"):
        solution.floquet(problem=jumping(too_much))


def test_floquet_says_what_it_cannot_do(step: Solution) -> None:
    with pytest.raises(ValueError, match="need a periodic motion"):
        replace(step, impulses=()).floquet()
    with pytest.raises(ValueError, match=r"step \[s\] must be positive"):
        step.floquet(step=0.0)
    lost = replace(step.phases[0], q=step.phases[0].q * np.nan)
    with pytest.raises(ValueError, match="not finite"):
        replace(step, phases=(lost,)).floquet()
    with pytest.raises(ValueError, match="not finite"):
        replace(step, phases=(lost,)).defects()


def test_arrivals_tell_landing_feet_from_standing_ones(rng: np.random.Generator) -> None:
    builder = od.ModelBuilder("foot")
    builder.add_body("foot", od.FloatingBase(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    builder.add_frame("toe", "foot", (0.1, 0.0, 0.0))
    model = builder.build()
    q, place = np.array([0.0, 0, 0.02, 0, 0, 0, 1]), {"foot": np.zeros(3), "toe": np.array([0.1, 0, 0])}
    flat, edge = od.Contact("foot"), od.RollingContact("toe", 0.0, (0, 0, 0), axis=(0, 1, 0))

    def phase(*contacts: object) -> PhaseMotion:
        still, rows = np.zeros((2, model.nv)), sum(len(c.rows) for c in contacts)  # type: ignore[attr-defined]
        return PhaseMotion(
            "p", np.arange(2.0), np.array([q, q]), still, still[1:], still[1:], np.zeros((1, rows)), contacts, place
        )  # type: ignore[arg-type]

    def rows(before: tuple, after: object) -> np.ndarray | None:
        (found,) = touchdowns(model, phase(*before), phase(after), None, Advance.of())
        return None if found.rows is None else found.slopes(model, q)

    np.testing.assert_allclose(rows((), flat), [[0, 0, 1, 0, 0, 0]], atol=1e-12)  # from the air: its height
    np.testing.assert_allclose(rows((), edge), [[0, 0, 1, 0, -0.1, 0]], atol=1e-12)
    np.testing.assert_allclose(np.abs(rows((edge,), flat)), [[0, 0, 0, 0, 1, 0]], atol=1e-12)  # rolled: its pitch
    assert rows((flat,), flat) is None
    assert rows((flat,), edge) is None
    assert rows((edge,), edge) is None
    assert fixed_rows(od.Contact("foot", axes="xz")).tolist() == [1]


def test_a_standing_foot_is_seen_from_the_next_mirrored_step() -> None:
    """At (1, 0.2) turned by 0.3 rad, after a step of 0.7 m: the other foot at (0.3, -0.2), turned back."""
    model = human()
    places = {"sole_l": np.array([1.0, 0.2, 0.3])}
    still, q = np.zeros((2, model.nv)), np.tile(model.neutral(), (2, 1))
    contact = od.Contact("sole_l")
    phase = PhaseMotion("p", np.arange(2.0), q, still, still[1:], still[1:], np.zeros((1, 6)), (contact,), places)
    image = _image(model, contact, phase, mirror_map(model), Advance.of(-0.7))
    assert image is not None
    assert image[0].name == "sole_r"
    np.testing.assert_allclose(np.array(image[1]).ravel(), [0.3, -0.2, -0.3])


# Sensitivities


def swing(form: str) -> ocp.Problem:
    """Two links from rest to rest under weak motors, with parameters of a boundary, a duration and the model."""
    model = pendulum(2)
    model = model.with_limits(effort=[24.0, 9.0])

    def ends(start: ocp.Instant, end: ocp.Instant) -> tuple:
        goal = ca.vertcat(end.values["goal"], 0.3)
        return ca.vertcat(start.q - ca.vertcat(0.2, 0.0), start.qd, end.q - goal, end.qd), 0, 0

    phase = ocp.Phase("swing", 8, ocp.Parameter("period", 0.8), objective=(ocp.TorqueSquared(),))
    parameters = (ocp.Parameter("goal", 1.1), ocp.Parameter("gravity", [0.0, 0.0, -9.81]))
    return ocp.Problem(model, [phase], boundary=(ocp.Boundary(ends),), parameters=parameters, form=form)


@pytest.mark.slow
def test_sensitivities_are_what_solving_again_shows() -> None:
    problem = swing("implicit")
    solution = problem.solve(progress=False, tolerance=1e-10)
    assert len(solution.active()) >= 3  # torque limits
    found = sensitivities(problem, solution)
    assert found.residual < 1e-10
    gravity = np.array([0.0, 0.0, 1.0])
    cases = {"goal": (1.1, 1e-4, found["goal"]), "period": (0.8, 1e-4, found["period"])}
    cases["gravity"] = (np.array([0, 0, -9.81]), 1e-3 * gravity, found["gravity"][2])
    for name, (value, h, slope) in cases.items():
        up, down = (problem.solve(progress=False, tolerance=1e-10, values={name: value + s * h}) for s in (1, -1))
        width = 2 * np.max(h)
        assert slope.objective == pytest.approx((up.objective - down.objective) / width, rel=1e-6)
        assert sum(slope.cost.values()) == pytest.approx(slope.objective, rel=1e-7)
        for key in ("q", "tau", "qdd"):  # differences of the third order are left
            expected = (getattr(up.phases[0], key) - getattr(down.phases[0], key)) / width
            np.testing.assert_allclose(slope.phases[0][key], expected, atol=1e-5 * np.abs(expected).max())
        expected = (up.iterate["lam_g"] - down.iterate["lam_g"]) / width
        np.testing.assert_allclose(slope.lam_g, expected, atol=1e-5 * np.abs(expected).max())
    assert found["period"].duration == pytest.approx(1.0)


def test_a_predicted_solution_is_right_to_first_order() -> None:
    problem = swing("implicit")
    solution = problem.solve(progress=False, tolerance=1e-10)
    found = sensitivities(problem, solution, "goal")
    assert list(found) == ["goal"]
    errors = []
    for change in (0.02, 0.01):
        exact = problem.solve(progress=False, tolerance=1e-10, values={"goal": 1.1 + change})
        predicted = found.predict(goal=1.1 + change)
        assert predicted.q[-1] == pytest.approx([1.1 + change, 0.3], abs=1e-9)
        errors.append(np.abs(predicted.q - exact.q).max())
    assert errors[0] / errors[1] > 3.0
    assert not predicted.converged
    again = problem.solve(progress=False, start=predicted, values={"goal": 1.11})
    assert again.converged
    assert again.stats["iterations"] < solution.stats["iterations"]


@pytest.mark.slow
def test_rows_that_repeat_others_leave_sensitivities_alone() -> None:
    """Multipliers are not unique then, motion and objective are."""
    problem = swing("explicit")
    plain = sensitivities(problem, problem.solve(progress=False, tolerance=1e-10), "goal")
    problem = replace(problem, boundary=(*problem.boundary, *problem.boundary))
    solution = problem.solve(progress=False, tolerance=1e-10)
    assert solution.converged
    found = sensitivities(problem, solution, "goal")
    assert found.residual < 1e-10
    assert found["goal"].objective == pytest.approx(plain["goal"].objective, rel=1e-7)
    np.testing.assert_allclose(found["goal"].phases[0]["q"], plain["goal"].phases[0]["q"], atol=1e-6)


@pytest.mark.slow
def test_a_variable_that_is_in_no_row_leaves_sensitivities_alone() -> None:
    """Such as the place y of a point foot that is held along x and z only."""
    problem = swing("explicit")
    plain = sensitivities(problem, problem.solve(progress=False, tolerance=1e-10), "goal")
    problem = replace(problem, parameters=(*problem.parameters, ocp.Parameter("idle", 0.5, bounds=(0, 1))))
    found = sensitivities(problem, problem.solve(progress=False, tolerance=1e-10), "goal")
    assert found.residual < 1e-10
    assert found["goal"].objective == pytest.approx(plain["goal"].objective, rel=1e-7)


def test_a_variable_that_is_in_the_cost_alone_has_its_derivative() -> None:
    """A gain that is free, and costs least where it is twice the goal."""
    problem = swing("explicit")
    (phase,) = problem.phases
    dear = ocp.Integral(lambda instant: (instant.values["gain"] - 2 * instant.values["goal"]) ** 2)
    problem = replace(
        problem, phases=(replace(phase, objective=(*phase.objective, dear)),),
        parameters=(*problem.parameters, ocp.Parameter("gain", 0.5, bounds=(0, 9))),
    )  # fmt: skip
    found = sensitivities(problem, problem.solve(progress=False, tolerance=1e-10), "goal")
    assert found.predict(goal=1.2).variables()["gain"] == pytest.approx(2.4)


def test_derivatives_that_are_not_determined_are_told() -> None:
    """Torques after the first cost nothing, and with any price on them there would be no least one."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 0.3), 0, 0))

    def cost(instant: ocp.Instant) -> ca.SX:
        return ca.if_else(instant.s < 0.2, instant.tau[0] ** 2, instant.values["price"] * instant.tau[0])

    phase = ocp.Phase("swing", 6, 1.0, objective=ocp.Integral(cost))
    problem = ocp.Problem(pendulum(1), phase, boundary=ends, parameters=ocp.Parameter("price", 0.0))
    found = sensitivities(problem, problem.solve(progress=False))
    assert 1e-6 < found.residual <= 1.0
    with pytest.raises(ValueError, match="not determined: the residual is"):
        found.predict(price=0.1)


@pytest.mark.slow
def test_sensitivities_say_what_they_need() -> None:
    problem = swing("explicit")
    unfinished = problem.solve(progress=False, max_iterations=1)
    with pytest.raises(ValueError, match="ended with Maximum_Iterations_Exceeded"):
        sensitivities(problem, unfinished)
    solution = problem.solve(progress=False)
    with pytest.raises(KeyError, match="no parameter 'mass'; there are"):
        sensitivities(problem, solution, "mass")
    with pytest.raises(KeyError, match="no parameter 'period'; there are goal"):
        sensitivities(problem, solution, "goal")["period"]
    with pytest.raises(ValueError, match="give the problem that was solved"):
        sensitivities(ocp.Problem(pendulum(1), [ocp.Phase("hang", 1, 1.0)]), solution)


# Active constraints


def rest_to_rest(**options: int) -> Solution:
    """A unit inertia from 0 to 1 in the least time under |tau| <= 2: bang, bang."""
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), joint_name="hub", mass=1, inertia=(1, 1, 1), effort=2.0)
    rests = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1.0, end.qd), 0.0, 0.0), "rests")
    time = ocp.Integral(lambda instant: 1.0, name="time")
    phase = ocp.Phase("swing", 10, (0.5, 4.0), objective=(time,))
    return ocp.Problem(builder.build(), [phase], boundary=(rests,), form="explicit").solve(progress=False, **options)


def test_active_torques_are_told_with_side_time_and_multiplier() -> None:
    solution = rest_to_rest()
    found = solution.active()
    assert len(found) == 10
    first = found.where("tau swing[0]")[0]
    assert (first.kind, first.entry, first.phase, first.side) == ("bound", "hub", "swing", "upper")
    assert first.time == 0.0
    assert first.value == pytest.approx(2.0, rel=1e-6)
    assert first.bound == 2.0
    # T = 2 sqrt(d / a): all bounds give way by one together, and dT/da = -T / (2 a)
    assert sum(e.multiplier for e in found) == pytest.approx(solution.duration / 4, rel=1e-4)
    assert [e.side for e in found.where(kind="bound", phase="swing")].count("lower") == 5
    assert len(solution.active(equalities=True)) == 10 + 24
    lines = str(found).splitlines()
    assert lines[0].split()[:4] == ["kind", "name", "entry", "side"]
    assert len(lines) == 3
    assert "<table>" in found._repr_html_()


def test_variables_and_multipliers_have_names() -> None:
    solution = rest_to_rest()
    values = solution.variables()
    assert values["duration of swing"] == pytest.approx([solution.duration])
    np.testing.assert_allclose(values["q swing[10]"], solution.q[-1])
    np.testing.assert_allclose(values["tau swing[3]"], solution.tau[3])
    rows = solution.multipliers()
    assert rows["swing: velocity step"].shape == (10, 1)
    assert rows["ends: rests"].shape == (1, 4)
    # the adjoint of a double integrator's position is constant, that of its velocity linear in time
    costate = rows["swing: position step"].ravel()
    np.testing.assert_allclose(costate, costate[0], rtol=1e-6)
    np.testing.assert_allclose(np.diff(rows["swing: velocity step"].ravel(), 2), 0.0, atol=1e-6)
    assert solution.bound_multipliers()["tau swing[0]"][0] > 0 > solution.bound_multipliers()["tau swing[9]"][0]
    with pytest.raises(ValueError, match="no record of its program"):
        replace(solution, record=None).active()


@pytest.mark.slow
def test_a_solution_holds_the_model_at_its_parameters() -> None:
    problem = swing("explicit")
    solution = problem.solve(progress=False, max_iterations=0, values={"gravity": [0.0, 0.0, -1.62]})
    assert solution.model.gravity == (0.0, 0.0, -1.62)


# Tables and files


@pytest.mark.slow
def test_what_is_printed_is_short(step: Solution) -> None:
    text = repr(step)
    assert text.startswith(f"Solution of {step.model.name!r}: Solve_Succeeded, objective {step.objective:.6g}")
    assert f"{step.duration:.4g} s, phases {step.phases[0].name}" in text
    assert repr(replace(step, stats={})).startswith(f"Solution of {step.model.name!r}: not solved")
    assert repr(step.phases[0]).startswith(f"PhaseMotion {step.phases[0].name!r}: {len(step.phases[0].tau)} intervals")
    assert "by_interval" not in repr(step.defects())
    problem = swing("explicit")
    assert repr(sensitivities(problem, problem.solve(progress=False))).startswith(
        "Sensitivities by goal, gravity, period; residual "
    )


def test_samples_are_taken_at_times_of_the_motion_and_after() -> None:
    motion = rest_to_rest()
    assert motion.sample(0.0).shape == (1, 1)
    np.testing.assert_allclose(motion.sample([motion.duration, 9.0]), motion.q[[-1, -1]], rtol=0, atol=1e-12)
    for times in (-0.1, [0.0, np.nan], [np.inf]):
        with pytest.raises(ValueError, match=r"times \[s\] must be finite and not negative"):
            motion.sample(times)


def test_a_table_has_a_line_per_node(step: Solution, tmp_path: Path) -> None:
    path = step.to_csv(tmp_path / "new" / "step.csv")
    with path.open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 21
    assert lines[0]["phase"] == "step"
    assert float(lines[-1]["time"]) == step.duration
    name = step.model.q_names[2]
    assert [float(line[f"q {name}"]) for line in lines] == step.q[:, 2].tolist()
    assert [float(line["lam foot_r.tz"]) for line in lines[:-1]] == step.phases[0].lam[:, 1].tolist()
    assert lines[-1]["lam foot_r.tz"] == ""
    assert [p.name for p in path.parent.iterdir()] == ["step.csv"]


def test_tables_in_other_layouts() -> None:
    builder = od.ModelBuilder("ball")
    builder.add_body("ball", od.FloatingBase(), mass=1.0, inertia=(1, 1, 1))
    model = builder.build()
    solution = ocp.Problem(model, [ocp.Phase("fall", 2, 0.1)], unactuated=()).solve(progress=False, max_iterations=0)
    table = solution.table("mujoco")
    np.testing.assert_allclose(table["qpos3"], solution.q[:, 6])  # w first
    np.testing.assert_allclose(table["qpos4"], solution.q[:, 3])
    assert list(table)[:3] == ["time", "phase", "qpos0"]
    assert {"qvel5", "qfrc5"} <= set(table)
    assert {"q6", "qdot5"} <= set(solution.table("rbdl"))
    with pytest.raises(ValueError, match="layout must be '' or one of mujoco, pinocchio, rbdl"):
        solution.table("drake")


def test_a_table_refuses_a_delimiter_in_a_name(step: Solution, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="contains the delimiter ' '"):
        step.to_csv(tmp_path / "a.csv", delimiter=" ")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_file_holds_everything(step: Solution, tmp_path: Path) -> None:
    again = Solution.load(step.save(tmp_path / "step.npz"))
    assert str(again.active()) == str(step.active())
    for key, value in step.multipliers().items():
        np.testing.assert_array_equal(again.multipliers()[key], value)
    assert again.record is not None
    assert again.record.parameters == step.record.parameters  # type: ignore[union-attr]
    np.testing.assert_allclose(again.floquet_multipliers(), step.floquet_multipliers(), rtol=1e-12)
    assert again.stats == step.stats


@pytest.mark.slow
def test_what_is_unfinished_can_be_looked_at_and_kept(tmp_path: Path) -> None:
    solution = rest_to_rest(max_iterations=2)
    assert not solution.converged
    again = Solution.load(solution.save(tmp_path / "a.npz"))
    again.plot(tmp_path / "a.png")
    again.animate(tmp_path / "a.html")
    again.to_csv(tmp_path / "a.csv")
    assert len(list(tmp_path.iterdir())) == 4
    assert "NOT CONVERGED" in again._repr_html_()
    assert "worst fault" in again._repr_html_()
    assert str(again.active()) == str(solution.active())


@pytest.mark.slow
def test_what_is_not_finite_can_be_kept_and_says_so(tmp_path: Path) -> None:
    solution = rest_to_rest()
    lost = replace(solution, phases=tuple(replace(p, q=p.q * np.nan, qd=p.qd * np.nan) for p in solution.phases))
    again = Solution.load(lost.save(tmp_path / "a.npz"))
    assert np.all(np.isnan(again.q))
    again.plot(tmp_path / "a.png")
    again.to_csv(tmp_path / "a.csv")
    assert again._repr_png_() is None
    assert "<img" not in again._repr_html_()
    with pytest.raises(ValueError, match="not finite"):
        again.animate(tmp_path / "a.gif")


@pytest.mark.slow
def test_a_notebook_shows_poses_and_numbers(step: Solution) -> None:
    text = step._repr_html_()
    assert "data:image/png;base64," in text
    assert "Solve_Succeeded" in text
    assert "step length" in text
    data, size = step._repr_png_()
    assert data[:4] == b"\x89PNG"
    assert 2 * size["width"] == pytest.approx(int.from_bytes(data[16:20]), abs=1)
    assert json.dumps(step.stats)
