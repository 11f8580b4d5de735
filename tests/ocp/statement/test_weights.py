"""Weights of costs: names, parameters of the program, other numbers without a new build, bad input."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.nlp.blocks import Block
from tests.ocp.solvers.block_ldl.sharing import hop

builder = od.ModelBuilder("wheel")
builder.add_body("rim", od.Revolute("z"), mass=1.3, inertia=(0.5, 0.5, 0.9))
wheel = builder.build()
rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.qd), 0, 0))
near = ocp.Terminal(lambda start, end: (end.q - 1.2) ** 2, weight=40.0, name="near")


def turn(*costs, phases=1, **options):
    parts = [ocp.Phase(f"part {k}", 6, 0.4, objective=costs) for k in range(phases)]
    return ocp.Problem(wheel, parts, boundary=[rest], terminal=[near], **options)


EVERY = (
    ocp.TorqueSquared(0.3),
    ocp.JerkSquared(2e-4),
    ocp.TorqueRateSquared(1e-3),
    ocp.MechanicalWork(0.2, smoothing=0.5),
    ocp.Peak(lambda instant: instant.qd, 0.15, name="speed"),
)


@pytest.fixture(scope="module")
def every():
    problem = turn(*EVERY, phases=2)
    return problem, problem.solve(progress=False, tolerance=1e-9)


def doubled(costs):
    return tuple(replace(cost, weight=2.5 * cost.weight) for cost in costs)


@pytest.mark.slow
def test_values_and_copies_have_the_optimum_of_other_weights(every):
    problem, solution = every
    numbers = {name: 2.5 * value for name, value in problem.weights.items() if name != "near"}
    built = turn(*doubled(EVERY), phases=2).solve(progress=False, tolerance=1e-9)
    given = problem.solve(
        values={f"weight of {name}": value for name, value in numbers.items()}, progress=False, tolerance=1e-9
    )
    made = problem.with_weights(numbers).solve(progress=False, tolerance=1e-9)
    assert built.objective > 1.2 * solution.objective
    for other in (given, made):
        assert other.cost == pytest.approx(built.cost, rel=1e-7)
        np.testing.assert_allclose(other.q, built.q, atol=1e-8)
    again = problem.solve(progress=False, tolerance=1e-9)
    assert again.objective == pytest.approx(solution.objective, rel=1e-12)


def test_a_changed_weight_builds_nothing(every, monkeypatch):
    def build(*_):
        raise AssertionError("a block was built")

    monkeypatch.setattr(Block, "build", build)
    monkeypatch.setattr(Block, "take", build)
    every[0].with_weights(speed=0.4).solve(progress=False)
    with pytest.raises(AssertionError, match="a block was built"):  # a cost that was there is left out
        every[0].with_weights(speed=0).solve(progress=False)


def test_a_program_on_disk_serves_other_weights(tmp_path, monkeypatch):
    monkeypatch.setenv("OCP_DYN_CACHE", str(tmp_path))
    one, other = (
        ocp.Problem(wheel, [ocp.Phase("turn", 5, (0.5, 2), objective=[ocp.Duration(w), ocp.TorqueSquared()])])
        for w in (1.0, 3.0)
    )
    from ocp_dyn.ocp.transcription.transcribe import key_of

    assert key_of(one) == key_of(other) != ""
    off = ocp.Problem(wheel, [ocp.Phase("turn", 5, (0.5, 2), objective=[ocp.Duration(0), ocp.TorqueSquared()])])
    assert key_of(off) != key_of(one)


def test_derivatives_by_a_weight(every):
    problem, solution = every
    slope = ocp.sensitivities(problem, solution, "weight of near")["weight of near"]
    assert slope.objective == pytest.approx(solution.cost["near"] / 40.0, rel=1e-6)
    up, down = (
        problem.solve(values={"weight of near": 40.0 + h}, start=solution, progress=False, tolerance=1e-10)
        for h in (0.05, -0.05)
    )
    np.testing.assert_allclose(slope.phases[1]["q"], (up.phases[1].q - down.phases[1].q) / 0.1, atol=1e-6)
    assert list(ocp.sensitivities(problem, solution)) == []  # weights only if they are named


def test_names_and_shares(every):
    problem, solution = every
    assert list(problem.weights) == [
        "TorqueSquared",
        "JerkSquared",
        "TorqueRateSquared",
        "MechanicalWork",
        "speed",
        "near",
    ]
    shares = problem.weights.shares(solution)
    assert sum(shares.values()) == pytest.approx(1.0)
    assert shares["near"] == pytest.approx(solution.cost["near"] / solution.objective)
    line = str(problem.weights.table(solution)).splitlines()[1]
    assert line.split() == ["TorqueSquared", "0.3", f"{100 * shares['TorqueSquared']:.1f}", "%"]
    assert "share" not in repr(problem.weights)


@pytest.mark.slow
def test_costs_of_one_name():
    parts = [ocp.Phase(f"{k}", 4, 0.4, objective=[ocp.TorqueSquared(w)]) for k, w in enumerate((0.3, 0.3, 0.7))]
    problem = ocp.Problem(wheel, parts, boundary=[rest], terminal=[near])
    assert dict(problem.weights) == {"TorqueSquared": 0.3, "TorqueSquared#2": 0.7, "near": 40.0}
    equal = problem.with_weights({"TorqueSquared#2": 0.3})
    assert dict(equal.weights) == {"TorqueSquared": 0.3, "TorqueSquared#2": 0.3, "near": 40.0}
    cost = equal.with_weights({"TorqueSquared#2": 0.9}).solve(progress=False).cost["TorqueSquared"]
    parts = [replace(part, objective=[ocp.TorqueSquared(w)]) for part, w in zip(parts, (0.3, 0.3, 0.9), strict=True)]
    direct = ocp.Problem(wheel, parts, boundary=[rest], terminal=[near]).solve(progress=False)
    assert cost == pytest.approx(direct.cost["TorqueSquared"], rel=1e-6)


def test_equal_numbers_of_two_costs_of_one_class_are_two_weights():
    both = [ocp.TorqueSquared(0.3), ocp.TorqueSquared(0.3, scale=[(-2.0, 6.0)])]
    parts = [ocp.Phase(f"{k}", 4, 0.4, objective=both) for k in range(2)]
    problem = ocp.Problem(wheel, parts, boundary=[rest], terminal=[near])
    assert dict(problem.weights) == {"TorqueSquared": 0.3, "TorqueSquared#2": 0.3, "near": 40.0}
    alone = [replace(part, objective=both[:1]) for part in parts]
    alone = ocp.Problem(wheel, alone, boundary=[rest], terminal=[near]).solve(progress=False)
    without = problem.solve(values={"weight of TorqueSquared#2": 0.0}, progress=False)
    assert without.objective == pytest.approx(alone.objective, rel=1e-6)


def test_a_parameter_is_the_weight_of_several_costs():
    effort = ocp.Parameter("weight of effort", 0.5)
    problem = turn(ocp.TorqueSquared(effort), ocp.JerkSquared(effort))
    assert dict(problem.weights) == {"effort": 0.5, "near": 40.0}
    numbers = turn(ocp.TorqueSquared(0.2), ocp.JerkSquared(0.2)).solve(progress=False)
    assert problem.solve(values={"weight of effort": 0.2}, progress=False).cost == pytest.approx(numbers.cost, rel=1e-6)
    off = problem.solve(values={"weight of effort": 0.0}, progress=False)
    assert off.objective < 1e-4
    assert dict(problem.with_weights(effort=0.2).weights)["effort"] == 0.2
    declared = turn(ocp.TorqueSquared(effort), parameters=[effort])
    assert list(ocp.sensitivities(declared, declared.solve(progress=False))) == ["weight of effort"]


def test_impacts_and_costs_of_users():
    @dataclass(frozen=True, eq=False)
    class Fast(ocp.Cost):
        weight: float = 0.6

        def integrand(self, instant):
            return ca.sumsqr(instant.qd - 1)

    class Late(ocp.TerminalCost):
        weight = 3.0

        def value(self, start, end):
            return (end.q - 1) ** 2

    problem = ocp.Problem(wheel, [ocp.Phase("turn", 6, 0.5, objective=[Fast()])], boundary=[rest], terminal=[Late()])
    other = problem.with_weights(Late=9.0, Fast=0.1)
    assert (problem.terminal[0].weight, other.terminal[0].weight) == (3.0, 9.0)
    cost = {name: value / problem.weights[name] for name, value in problem.solve(progress=False).cost.items()}
    found = {name: value / other.weights[name] for name, value in other.solve(progress=False).cost.items()}
    assert found["Late"] < cost["Late"]
    assert found["Fast"] > cost["Fast"]
    both = [ocp.Phase("fall", 4, 0.2), ocp.Phase("land", 4, 0.2)]
    assert dict(ocp.Problem(wheel, both, transitions=[ocp.Impact(weight=0.2)]).weights) == {"Impact": 0.2}


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda p: p.solve(values={"TorqueSquared": 1}), KeyError, "is named 'weight of TorqueSquared'"),
        (lambda p: p.solve(values={"weight of TorqueSquared": -1}), ValueError, "must not be negative, got -1"),
        (lambda p: p.solve(values={"weight of TorqueSquare": 1}), KeyError, "did you mean 'weight of TorqueSquared'"),
        (lambda p: p.solve(values={"weight of Duration": 1}), KeyError, r"with_weights\({'Duration': ...}\)"),
        (lambda p: p.with_weights(Torque=1), KeyError, "no weight 'Torque'; there are TorqueSquared, Duration, near"),
        (lambda p: p.with_weights(near=-2), ValueError, "weight of near must not be negative, got -2"),
        (lambda p: p.with_weights(near=np.nan), ValueError, "weight of near must not hold NaN"),
        (lambda p: p.with_weights(3), TypeError, "with_weights takes a dict of numbers by name"),
        (lambda p: p.weights.shares(3), TypeError, "shares belong to a Solution"),
        (
            lambda p: ocp.TorqueSquared(ocp.Parameter("w", bounds=(0, 1))),
            ValueError,
            "TorqueSquared weight: Parameter 'w' is free between its bounds",
        ),
        (lambda p: ocp.TorqueSquared(ocp.Parameter("w", [1, 2])), ValueError, "'w' must be one number, got 2"),
        (lambda p: ocp.TorqueSquared(ocp.Parameter("w", -1)), ValueError, "must be finite and not negative, got -1"),
        (
            lambda p: turn(ocp.TorqueSquared(ocp.Parameter("w", 1)), parameters=[ocp.Parameter("w", 1)]),
            ValueError,
            "the weight of TorqueSquared and another parameter are both named 'w'",
        ),
        (
            lambda p: turn(ocp.TorqueSquared(), ocp.JerkSquared(ocp.Parameter("weight of TorqueSquared", 1))),
            ValueError,
            "two weights have the name 'TorqueSquared'",
        ),
    ],
)
def test_bad_input(call, kind, message):
    with pytest.raises(kind, match=message):
        call(turn(ocp.TorqueSquared(), ocp.Duration(0)))


def test_a_declared_parameter_keeps_its_name():
    own = ocp.Parameter("weight of TorqueSquared", 2.0)
    mine = ocp.Integral(lambda instant: instant.values["weight of TorqueSquared"] * ca.sumsqr(instant.qd))
    problem = turn(ocp.TorqueSquared(0.5), mine, parameters=[own])
    changed = problem.solve(values={"weight of TorqueSquared": 0.0}, progress=False)
    assert changed.cost["integral"] == pytest.approx(0, abs=1e-9)
    assert problem.with_weights(TorqueSquared=0.7).phases[0].objective[0].weight == 0.7


def paced(*costs, speed=0.8):
    """A hopper at a speed, with costs beside its own."""
    problem = hop()
    phases = [replace(phase, objective=(*phase.objective, *costs)) for phase in problem.phases]
    return replace(problem, phases=phases, periodic=ocp.Periodic(speed, mirror=False))


@pytest.mark.slow
def test_weights_that_follow_the_speed():
    """Weights times (speed / reference)^exponent, also at speeds that come later; the number in the table stays."""
    made = [
        lambda w, **x: (ocp.TorqueRateSquared(w * 1e-6, **x), ocp.JointAngleSquared(w * 2.0, **x)),
        lambda w, **x: (ocp.JerkSquared(1e-9), ocp.AccelerationSquared(w * 1e-4, **x)),
    ]
    for costs in made:
        problem = paced(*costs(1.0, by_speed=(0.4, 2.0)))
        assert list(problem.weights.values()) == list(paced(*costs(1.0)).weights.values())
        for speed in (0.8, 1.0):
            found = problem.solve(values={"speed": speed}, progress=False)
            direct = paced(*costs((speed / 0.4) ** 2), speed=speed).solve(progress=False)
            assert found.objective == pytest.approx(direct.objective, rel=1e-7)
            np.testing.assert_allclose(found.q, direct.q, atol=1e-5)


def test_a_motion_without_speed_has_the_weight_at_the_reference():
    one = turn(ocp.TorqueSquared(), ocp.AccelerationSquared(0.5)).solve(progress=False)
    other = turn(ocp.TorqueSquared(), ocp.AccelerationSquared(0.5, by_speed=(0.4, 2.0))).solve(progress=False)
    assert one.objective == other.objective


@pytest.mark.slow
def test_slow_steps_have_the_weight_of_a_tenth_of_the_reference():
    found, direct = (
        paced(ocp.AccelerationSquared(weight, by_speed=pair)).solve(max_iterations=0, progress=False)
        for weight, pair in ((1e-4, (40.0, -2.0)), (1e-2, None))
    )
    assert found.objective == pytest.approx(direct.objective, rel=1e-12)


@pytest.mark.parametrize("wrong", [(0.0, 1.0), (1.0, np.inf), (1.0,), 2.0])
def test_a_reference_and_an_exponent_of_the_speed(wrong):
    with pytest.raises(ValueError, match=r"TorqueRateSquared by_speed, .*reference .*exponent"):
        ocp.TorqueRateSquared(by_speed=wrong)
