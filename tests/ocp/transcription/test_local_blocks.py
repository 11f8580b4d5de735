"""Forces of components as blocks of their own: the same program as with the forces among the rows of the intervals."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.solvers.block_ldl.planning.pattern import pattern_of
from ocp_dyn.ocp.transcription import transcribe as transcribing
from ocp_dyn.ocp.workflows.attempt import prepare

ELBOW = od.models.elbow()
LIMITS, STRONG = ocp.Muscles(activation="limits"), ocp.Muscles(strengths={"biceps": "strength"})


def flyer(joint, right=500.0):
    """A trunk that flies, with two arms that one muscle each moves."""
    builder = od.ModelBuilder("flyer")
    builder.add_body("trunk", od.FloatingBase(), mass=3, com=(0.1, 0, 0.2), inertia=(1, 2, 3))
    numbers = {"mass": 1, "com": (0, 0, -0.4), "inertia": (0.2, 0.2, 0.1)}
    muscles, about = [], {"optimal_fiber_length": 0.1, "tendon_slack_length": 0.12}
    for side, y, force in (("l", 0.2, 500.0), ("r", -0.2, right)):
        shoulder = {"joint_name": f"shoulder_{side}", "origin": (0.3, y, 0)}
        builder.add_body(f"arm_{side}", joint, "trunk", **shoulder, **numbers)
        path = od.PathPoint("P1", "trunk", (0.35, 1.1 * y, 0.1)), od.PathPoint("P2", f"arm_{side}", (0.04, 0, -0.1))
        muscles.append(
            od.Muscle(f"flexor_{side}", "DeGrooteFregly2016Muscle", path, max_isometric_force=force, **about)
        )
    return builder.build().with_muscles(muscles)


FLYER = flyer(od.Euler("zyx"))


def lift(muscles=LIMITS, duration=(0.3, 0.6), intervals=2, model=ELBOW, **options):
    phases = [ocp.Phase(name, intervals, duration, objective=[ocp.ChannelPower("activation")]) for name in ("up", "on")]
    unactuated = model.joint_names
    return ocp.Problem(model, phases, unactuated=unactuated, components=[muscles], **options)


def numbers(problem, rng):
    """f, g, Jacobian and Hessian at a point, by the evaluator and by CasADi's derivatives of the whole."""
    transcription, program = prepare(problem)
    p = transcription.program.values
    x, lam = rng.uniform(0.1, 0.9, program.n), rng.normal(size=program.row_lower.size)
    at = ca.DM(x), ca.DM(p)
    one = program.constraints(*at), program.jacobian(*at)[1], program.hessian(*at, 0.7, lam)
    whole = program.expression()
    X, P, g = whole["x"], whole["p"], whole["g"]
    J, H = ca.jacobian(g, X), ca.triu(ca.hessian(0.7 * whole["f"] + ca.dot(lam, g), X)[0])
    other = ca.Function("whole", [X, P], [g, J, H])(*at)
    return transcription, one, other


CASES = {
    "an explicit scheme, shares": {"integrator": "rk4", "duration": 0.4, "intervals": ocp.Intervals([0.2, 0.8])},
    "a step by its end": {"integrator": "euler"},
    "stages at nodes": {"integrator": "radau:2", "muscles": ocp.Muscles(excitations="linear")},
    "both ends": {"integrator": "hermite_simpson", "muscles": STRONG, "parameters": [ocp.Parameter("strength", 0.8)]},
    "a free strength": {"muscles": STRONG, "parameters": [ocp.Parameter("strength", 0.8, bounds=(0.5, 1.5))]},
    "a body that flies": {"model": FLYER},
    "length of fibers": {"muscles": ocp.Muscles(tendon="length"), "integrator": "radau:3"},
}


@pytest.mark.slow
def test_solvers_see_one_structure(monkeypatch):
    """The plan of a factorization has the same data: entries that meet, and those that one interval alone uses."""

    def structure():
        transcription, program = prepare(lift(integrator="gauss:2"))
        found = pattern_of(program, transcription.program.x_lower, transcription.program.x_upper)
        pairs = np.sort(np.stack([found.one, found.other]), axis=0)
        return found.only, np.unique(pairs, axis=1), np.unique(np.stack([found.row, found.member]), axis=1)

    apart = structure()
    monkeypatch.setattr(transcribing, "with_local_forces", lambda t: ())
    for one, other in zip(apart, structure(), strict=True):
        assert np.array_equal(one, other)


def test_mirror_images_share_a_function():
    """The muscles of both arms are equal but for the signs of turns to the side; a weaker one is not."""
    one, other = LIMITS.local_forces(FLYER)
    assert (other.f, other.signs) == (one.f, (-1.0, 1.0, -1.0))
    one, other = LIMITS.local_forces(flyer(od.Euler("zyx"), 499.0))
    assert one.f is not other.f
    assert other.signs == ()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.slow
def test_one_program_in_two_forms(case, monkeypatch):
    """Rows, Jacobian and Hessian are those of forces that are expressions of the intervals."""
    split, found, whole = numbers(lift(**case), np.random.default_rng(1))
    assert len(split.split) == 1
    monkeypatch.setattr(transcribing, "with_local_forces", lambda t: ())
    joined, expected, _ = numbers(lift(**case), np.random.default_rng(1))
    assert joined.split == ()
    for one, also, other in zip(found, whole, expected, strict=True):
        for given in (one, also):
            assert float(ca.norm_inf(ca.vec(given - other))) < 1e-11 * max(1, float(ca.norm_inf(ca.vec(other))))


BODY = ELBOW.body_names[-1]


@pytest.mark.parametrize(
    "options", [{"form": "explicit"}, {"steps": 2}, {"parameters": [ocp.Parameter(f"mass:{BODY}", 1.2)]}]
)
def test_forces_stay_among_the_rows_where_they_must(options):
    """Forward dynamics, steps within an interval and bodies with parameters take the forces as expressions."""
    assert transcribing.transcribe(lift(**options)).split == ()


def test_forces_among_rows_have_derivatives_of_their_own():
    """Steps within an interval: second derivatives of 34,476 instructions, 39,972 if CasADi differentiates the sum.
    Durations that are numbers are no part of the functions, so that both phases have the same."""
    problem = lift(steps=2, model=FLYER)
    phases = [replace(phase, duration=duration) for phase, duration in zip(problem.phases, (0.3, 0.4), strict=True)]
    up, on, _ = prepare(replace(problem, phases=phases))[0].program.blocks
    assert (up.name, on.name, up.key) == ("up", "on", on.key)
    assert up.derivatives.size("second") < 37_000


def test_muscles_over_quaternions_are_forces_as_a_whole(rng):
    """A muscle over a spherical joint pulls with its tension times its moment arms."""
    model, muscles = flyer(od.Spherical()), ocp.Muscles(activation="limits")
    problem = ocp.Problem(model, [ocp.Phase("fly", 2, 0.1)], muscles=muscles)
    assert transcribing.transcribe(problem).split == ()
    q, qd, a = ca.DM(model.random_q(rng)), ca.DM(rng.normal(size=model.nv)), ca.DM([0.4, 0.7])
    force = muscles.force(ocp.Instant(model, q, qd, channels={"activation": a}))
    hill = od.muscles.HillMuscles.of(model)
    tension = od.muscles.rigid_tendon(hill, od.muscle_lengths(model, q), od.muscle_speeds(model, q, qd), a).tendon_force
    expected = od.moment_arms(model, q).T @ tension
    assert float(ca.norm_inf(ca.DM(force) - expected)) < 1e-9 * float(ca.norm_inf(expected))


def test_components_of_ones_own():
    """A spring with a local force, whose force is its sum, lets a wheel swing as one with a force of its own."""

    class Spring(ocp.Component):
        def channels(self, model):
            return []

    class Local(Spring):
        def local_forces(self, model):
            q, qd = ca.SX.sym("q"), ca.SX.sym("qd")
            return [ocp.LocalForce((0,), (0,), (), (), ca.Function("spring", [q, qd], [-4 * q - 0.1 * qd**3]))]

    class Whole(Spring):
        def force(self, instant):
            return -4 * instant.q - 0.1 * instant.qd**3

    def swings(component):
        model = od.models.pendulum(1)
        start = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - 0.5, start.qd), 0, 0))
        phase = ocp.Phase("swing", 10, 1.0, objective=[ocp.TorqueSquared()])
        return ocp.Problem(model, [phase], boundary=[start], components=[component]).solve(progress=False)

    local, whole = swings(Local()), swings(Whole())
    assert np.abs(local.q - whole.q).max() < 1e-9
    assert np.abs(local.q[-1] - 0.5).max() > 0.1


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"entries": (3,)}, ValueError, "local_forces: entries must be 1 whole numbers from 0 to 0"),
        ({"dofs": (0, 0)}, ValueError, "local_forces: entries must be 2 whole numbers"),
        ({"channels": (("hot", 0),)}, KeyError, "no channel 'hot'"),
        ({"channels": (("heat", 1),)}, ValueError, "the channel 'heat' has 1 entries, and none of number 1"),
        ({"f": abs}, TypeError, "f must be a casadi.Function, got <built-in function abs>"),
        ({"values": ("stiffness",)}, ValueError, r"f must take .* of \[1, 1, 1\] entries and give a force of 1"),
    ],
)
def test_terms_that_do_not_fit(change, error, message):
    q, qd = ca.SX.sym("q"), ca.SX.sym("qd")
    good = ocp.LocalForce((0,), (0,), (), (), ca.Function("spring", [q, qd], [-4 * q]))

    class Spring(ocp.Component):
        def channels(self, model):
            return [ocp.Channel("heat", "control")]

        def local_forces(self, model):
            return [good._replace(**change)]

    with pytest.raises(error, match=message):
        ocp.Problem(od.models.pendulum(1), [ocp.Phase("swing", 2, 1.0)], components=[Spring()])
