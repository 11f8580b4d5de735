"""One problem, many transcriptions: the same optimum, orders, contacts that do not drift, torques that are linear."""

import json
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.transcription.transcribe import transcribe
from problems import five_link, five_link_diary
from tests import hopper
from tests.helpers import mostly_slow

FAST = {"progress": False, "threads": 1, "mumps_pivot_order": 0}


def step(form, integrator, intervals=12, steps=1, torque="constant"):
    problem = replace(five_link.problem(form, intervals, integrator, torque), steps=steps)
    solution = problem.solve(**FAST)
    assert solution.converged
    return solution


@pytest.mark.parametrize(("integrator", "steps"), [("rk4", 2), ("gauss:2", 1)])
@pytest.mark.slow
def test_forward_and_inverse_dynamics_give_one_program_s_optimum(integrator, steps):
    explicit, implicit = (step(form, integrator, 8, steps) for form in ("explicit", "implicit"))
    assert implicit.objective == pytest.approx(explicit.objective, rel=1e-7)
    assert np.allclose(implicit.q, explicit.q, atol=1e-5)


BEST = 474.7835132
"""The optimum for 12 constant torques, by gauss:4."""


@pytest.mark.parametrize(
    ("integrator", "steps", "error"),
    [
        ("gauss:3", 1, 0.1), ("radau:3", 1, 3), ("hermite_simpson", 1, 100), ("heun", 4, 1500),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_transcriptions_agree(integrator, steps, error):
    """The better the higher the order; relative errors [1e-6]."""
    assert step("implicit", integrator, 12, steps).objective == pytest.approx(BEST, rel=1e-6 * error)


@pytest.mark.slow
def test_first_order_schemes_approach_the_optimum():
    errors = [abs(step("implicit", "euler", 12, steps).objective - BEST) for steps in (3, 6)]
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.35)


@pytest.mark.slow
def test_linear_torques_give_the_published_figure():
    solution = step("implicit", "gauss:2", 30, torque="linear")
    assert solution.objective == pytest.approx(469.650, abs=0.005)
    assert solution.defects().angle < 1e-5  # with the torques' slopes


@pytest.mark.slow
def test_lifted_rk4_gives_the_published_figure():
    assert step("implicit", "rk4", 50).objective == pytest.approx(469.943901, abs=1e-5)


@pytest.mark.slow
def test_the_tutorial_s_variant_gives_the_published_figure():
    solution = five_link_diary.problem().solve(mu_init=1e-2, **FAST)
    assert solution.objective == pytest.approx(255.41740784, abs=1e-5)
    problem = replace(five_link_diary.problem(), limits=False)  # no knees
    assert problem.solve(**FAST).objective == pytest.approx(211.136, abs=1e-3)


def rotor():
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 2.0))
    return builder.build()


@pytest.mark.parametrize("integrator", ["rk4", "hermite_simpson"])
@pytest.mark.slow
def test_linear_torque_of_least_effort(integrator):
    """A unit turn from rest to rest in time T: tau = 6 I / T^2 (1 - 2 t/T), at a cost of 12 I^2 / T^3, on any grid."""

    def ends(start, end):
        return ca.vertcat(start.q, start.qd, end.q - 1.0, end.qd), 0.0, 0.0

    T, inertia = 0.7, 2.0
    for form, steps in (("implicit", 1), ("explicit", 2)):
        phase = ocp.Phase("turn", 3, T, objective=(ocp.TorqueSquared(),))
        solution = ocp.Problem(
            rotor(), [phase], boundary=(ocp.Boundary(ends),), form=form, integrator=integrator, torque="linear",
            steps=steps,
        ).solve(**FAST)  # fmt: skip
        assert solution.objective == pytest.approx(12 * inertia**2 / T**3, rel=1e-8)
        turn = solution.phases[0]
        assert np.allclose(turn.tau_rate, -12 * inertia / T**3, rtol=1e-6)
        assert np.allclose(turn.tau[:, 0], 6 * inertia / T**2 * np.array([2, 0, -2]) / 3, atol=1e-6)
        at = turn.tau - (turn.tau_rate * T / 6 if form == "explicit" else 0)  # at the start of an interval, or means
        assert np.allclose(turn.qdd, at / inertia, atol=1e-6)
        assert solution.defects().angle < 1e-8


def test_the_integrand_is_integrated_to_the_order_of_the_scheme():
    """A disc spun up from rest by a constant torque: the integral of (angle)^2 is (alpha/2)^2 T^5 / 5."""

    def ends(start, end):
        return ca.vertcat(start.q, start.qd, end.q - 1.0), 0.0, 0.0

    phase = ocp.Phase("spin", 1, 2.0, objective=(ocp.Integral(lambda instant: instant.q[0] ** 2),))
    for integrator, tolerance in (("radau:3", 1e-10), ("gauss:2", 0.03)):
        problem = ocp.Problem(rotor(), [phase], boundary=(ocp.Boundary(ends),), integrator=integrator)
        assert problem.solve(**FAST).objective == pytest.approx(2.0 / 5, rel=tolerance)


@pytest.mark.slow
def test_rates_are_those_of_the_means_over_the_stages():
    """A disc whose acceleration falls from 1 to -1 over four intervals: d(qdd)/dt = -2/T at the three nodes inside."""
    T = 2.0

    def ends(start, end):
        return ca.vertcat(start.q, start.qd, end.q - T**2 / 6, end.qd), 0.0, 0.0

    small = 1e-9  # least effort decides
    terms = (ocp.JerkSquared(small), ocp.TorqueSquared())
    for integrator, steps in (("gauss:3", 1), ("gauss:2", 2)):
        problem = ocp.Problem(
            rotor(), [ocp.Phase("turn", 4, T, objective=terms)], boundary=(ocp.Boundary(ends),), integrator=integrator,
            torque="linear", steps=steps,
        )  # fmt: skip
        solution = problem.solve(**FAST)
        assert solution.cost["JerkSquared"] == pytest.approx(small * 3 * T / 4 * (2 / T) ** 2, rel=1e-6)


def test_rows_on_held_torques_are_asked_for_once():
    limit = ocp.Path(lambda instant: instant.tau, -3.0, 3.0, where="interval")
    rate = ocp.Path(lambda instant: instant.qd, -3.0, 3.0, where="interval")
    counts = {}
    for torque in ("constant", "linear"):
        phase = ocp.Phase("turn", 2, 1.0, path=(limit, rate), objective=(ocp.TorqueSquared(),))
        problem = ocp.Problem(rotor(), [phase], integrator="gauss:3", torque=torque)
        counts[torque] = problem.solve(**FAST).stats["constraints"]
    assert counts["linear"] - counts["constant"] == 2 * 2  # two intervals, at the two further stages


# Contacts: a top that turns about its tip, free in space but for the contact, against one on a spherical joint.

TIP = (0.0, 0.0, -0.3)


def top(free):
    builder = od.ModelBuilder("top")
    body = {"mass": 2.0, "com": (0.02, 0.0, 0.1), "inertia": (0.05, 0.06, 0.03)}
    if free:
        builder.add_body("top", od.FloatingBase(), **body)
    else:
        below = tuple(c - t for c, t in zip(body["com"], TIP, strict=True))
        builder.add_body("top", od.Spherical(), joint_name="tip", **(body | {"com": below}))
    return builder.build()


START = np.array([0.1, 0.2, 0.05, 0.97])
SPIN = np.array([0.5, -0.3, 6.0])


def spin(integrator, level, form="implicit", intervals=8, baumgarte=0.0, time=0.4):
    """The solution of the top's motion for a given start."""

    def begin(start, _):
        return (
            ca.vertcat(start.model.joints[1].difference(ca.DM([0, 0, 0, *START]), start.q)[3:], start.qd[3:] - SPIN),
            0,
            0,
        )

    foot = ocp.Foothold(od.Contact("top", point=TIP, axes="xyz"), x=0.0, y=0.0)
    problem = ocp.Problem(
        top(True), [ocp.Phase("spin", intervals, time, foot)], boundary=(ocp.Boundary(begin),), unactuated=("root",),
        form=form, integrator=integrator, contact_level=level, baumgarte=baumgarte,
    )  # fmt: skip
    solution = problem.solve(tolerance=1e-10, **FAST)
    assert solution.converged
    return solution


@pytest.fixture(scope="module")
def reference():
    """Attitude of the top on its spherical joint after 0.4 s, by small steps of a scheme of high order."""
    model = top(False)
    begin = ocp.Boundary(
        lambda start, _: (ca.vertcat(start.model.difference(ca.DM(START), start.q), start.qd - SPIN), 0, 0)
    )
    phase = ocp.Phase("spin", 30, 0.4)
    problem = ocp.Problem(model, [phase], boundary=(begin,), unactuated=("tip",), integrator="gauss:3")
    return problem.solve(tolerance=1e-12, **FAST).q[-1]


def error(solution, reference):
    gap = top(False).difference(solution.q[-1][3:], reference)
    return float(ca.norm_inf(gap))


@pytest.mark.parametrize(
    ("integrator", "level", "order"),
    [
        ("radau:2", "velocity", 3), ("hermite_simpson", "position", 4), ("gauss:2", "acceleration", 4),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_contacts_keep_the_order_of_the_scheme(integrator, level, order, reference):
    errors = [error(spin(integrator, level, intervals=n), reference) for n in (6, 12)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)


@pytest.mark.slow
def test_the_level_says_what_drifts():
    drift = {level: spin("gauss:2", level).drift() for level in ("position", "velocity", "acceleration")}
    assert drift["position"].position < 1e-8
    assert drift["position"].velocity < 1e-8
    assert drift["velocity"].velocity < 1e-8
    assert drift["velocity"].position > 1e-7
    assert drift["acceleration"].velocity > 1e-7


@pytest.mark.slow
def test_explicit_contacts_are_projected_or_damped():
    free = spin("heun", "acceleration", "explicit").drift()
    velocity, position = (spin("heun", level, "explicit").drift() for level in ("velocity", "position"))
    damped = spin("heun", "acceleration", "explicit", baumgarte=20.0).drift()
    assert free.position > 1e-4
    assert velocity.velocity < 1e-9
    assert velocity.position > 1e-4  # not asked for
    assert position.velocity < 1e-9
    assert position.position < free.position / 100  # one Newton step squares it
    assert damped.position < free.position / 2
    assert spin("radau:2", "velocity", "explicit").drift().velocity < 1e-9


@pytest.mark.slow
def test_baumgarte_damps_in_the_implicit_form():
    free, damped = (spin("midpoint", "acceleration", baumgarte=rate).drift() for rate in (0.0, 20.0))
    assert damped.position < free.position / 2


@pytest.mark.slow
def test_a_hop_with_impact_by_collocation():
    """Stance and flight in a period: the foot stays where it stands, few intervals are as exact as many."""
    given = hopper.problem()
    stance, flight = (replace(phase, intervals=6) for phase in given.phases)
    phases = [replace(stance, path=ocp.Unilateral(5.0)), flight]
    solution = replace(given, phases=phases, integrator="radau:2", torque="linear").solve(**FAST)
    assert solution.converged
    assert max(solution.drift().position, solution.drift().velocity) < 1e-6  # IPOPT's tolerance
    assert max(solution.defects().angle, solution.defects().length) < 5e-3
    assert solution.phases[0].wrenches["foot"][:, 5].min() > 5 - 1e-6


def test_wrong_transcriptions_are_refused():
    model, phase = rotor(), ocp.Phase("turn", 2, 1.0)
    for options, message in (
        ({"integrator": "rk45"}, "integrator must be one of euler, heun"),
        ({"steps": 0}, "steps per interval must be at least 1, a whole number, got 0"),
        ({"steps": 1.5}, "whole number"),
        ({"torque": "cubic"}, "torque must be one of constant, linear, got 'cubic'"),
        ({"contact_level": "jerk"}, "contact_level must be one of position, velocity, acceleration"),
        ({"baumgarte": -1.0}, r"baumgarte \[1/s\] must not be negative"),
        ({"baumgarte": 5.0}, "baumgarte=5 has no effect: no phase has a contact or a constraint that could drift"),
    ):
        with pytest.raises(ValueError, match=message):
            ocp.Problem(model, [phase], **options)
    foot = ocp.Foothold(od.Contact("top", point=TIP, axes="xyz"))
    with pytest.raises(ValueError, match="cannot hold contacts at contact_level 'position'"):
        ocp.Problem(top(True), [ocp.Phase("spin", 2, 1.0, foot)], integrator="trapezoid")
    assert ocp.Problem(top(True), [ocp.Phase("s", 2, 1.0, foot)], integrator="trapezoid", contact_level="velocity")


STABILIZED = {
    ("implicit", "midpoint", "position"): False,
    ("implicit", "midpoint", "velocity"): False,
    ("implicit", "midpoint", "acceleration"): True,
    ("implicit", "radau:2", "position"): False,
    ("implicit", "lobatto:3", "position"): True,
    ("explicit", "midpoint", "position"): True,
}
"""Whether a rate of stabilization is in a row of an interval, by form, integrator and contact level."""


@mostly_slow("case", STABILIZED, list(STABILIZED)[:4])
def test_a_rate_of_stabilization_is_in_the_rows_or_refused(case):
    """Its value changes the rows of an interval, or there are none that it could change."""
    form, integrator, level = case
    foot = ocp.Foothold(od.Contact("top", point=TIP, axes="xyz"), x=0.0, y=0.0)

    def rows(rate):
        problem = ocp.Problem(
            top(True), [ocp.Phase("spin", 1, 0.1, foot)], unactuated=("root",), form=form, integrator=integrator,
            contact_level=level, baumgarte=rate,
        )  # fmt: skip
        t = transcribe(problem, 1)
        program = t.program.assemble()
        x = np.random.default_rng(0).uniform(0.1, 1, program.n)
        return program.evaluator.constraints(x, t.program.values).copy()

    if STABILIZED[case]:
        assert np.abs(rows(5.0) - rows(0.0)).max() > 1e-3
        return
    with pytest.raises(ValueError, match=f"baumgarte=5 has no effect: at contact_level '{level}'"):
        rows(5.0)


@mostly_slow(
    "scheme",
    (("implicit", "gauss:2"), ("implicit", "radau:2"), ("explicit", "midpoint")),
    (("implicit", "radau:2"), ("explicit", "midpoint")),
)
@pytest.mark.slow
def test_derivatives_by_the_chain_rule_are_those_of_the_values(scheme, rng):
    """Every kind of block of a problem with contacts, quaternions, a free duration and linear torques."""
    form, integrator = scheme
    foot = ocp.Foothold(od.Contact("top", point=TIP, axes="xyz"))
    phase = ocp.Phase("spin", 2, (0.1, 0.4), foot, objective=(ocp.AccelerationSquared(base=True), ocp.ForceSquared()))
    problem = ocp.Problem(top(True), [phase], unactuated=(), form=form, integrator=integrator, torque="linear")
    t = transcribe(problem, 1)
    t.program.assemble()
    for block in t.program.blocks:
        values = block.values_function
        z, p = ca.SX.sym("z", values.size_in(0)), ca.SX.sym("p", values.size_in(1))
        lam_f, lam_g = ca.SX.sym("lam_f"), ca.SX.sym("lam_g", values.size1_out(1))
        terms, g = values(z, p)
        f = ca.sum1(terms) if terms.shape[0] else ca.SX(0)
        hessian = ca.triu(ca.hessian(lam_f * f + ca.dot(lam_g, g), z)[0])
        inputs = [rng.normal(size=x.shape) for x in (z, p, lam_f, lam_g)]
        expected = ca.Function("whole", [z, p, lam_f, lam_g], [ca.jacobian(g, z), hessian])(*inputs)
        patterns = (block.jacobian_pattern, block.hessian_pattern)
        found = (block.derivatives.function("first")(*inputs[:2])[1], block.derivatives.function("second")(*inputs))
        for pattern, numbers, matrix in zip(patterns, found, expected, strict=True):
            scale = 1 + float(ca.norm_inf(matrix))
            assert float(ca.norm_inf(ca.DM(pattern, numbers) - matrix)) < 1e-10 * scale, block.name


@pytest.mark.slow
def test_a_solution_starts_a_problem_with_inner_states():
    problem = five_link.problem("implicit", 10, "gauss:2")
    first = problem.solve(**FAST)
    again = replace(problem, steps=2).solve(guess=first, **FAST)
    assert again.converged
    assert again.objective == pytest.approx(first.objective, rel=1e-3)


@pytest.mark.slow
def test_the_problems_run_quickly_and_draw(capsys, tmp_path):
    drawn = ["--out", str(tmp_path)]
    for module, published, more in ((five_link, 469.650, drawn), (five_link_diary, 255.41740784, [])):
        assert module.main(["--quick", "--quiet", "--json", *more]) == 0
        found = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
        assert found["published"] == published
        assert found["objective"] == pytest.approx(published, rel=0.1)
    for module in (five_link, five_link_diary):
        with pytest.raises(SystemExit):
            module.main(["--intervals", "0"])
        assert "at least 1" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"report.md", "report.html", "walk.npz", "strip.png"}


def test_a_body_without_mass_at_the_end_of_an_arm_takes_no_torque():
    """Its acceleration is free, so that only the implicit form can move it; it needs no torque and stays where costs
    want it."""
    builder = od.ModelBuilder("gripper")
    builder.add_body("arm", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    builder.add_body("finger", od.Revolute("z"), "arm", origin=(1, 0, 0))
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[0], start.qd, end.q[0] - 1, end.qd), 0, 0))
    costs = [ocp.TorqueSquared(), ocp.AccelerationSquared(1e-3)]
    phase = ocp.Phase("turn", 8, 1.0, objective=costs)
    solution = ocp.Problem(builder.build(), [phase], boundary=[ends], integrator="gauss:2", torque="linear").solve(
        progress=False
    )
    assert solution.converged
    assert np.abs(solution.tau[:, 1]).max() < 1e-6
    assert np.ptp(solution.q[:, 1]) < 1e-6
