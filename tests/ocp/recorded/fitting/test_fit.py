"""Inverse optimal control: planted parameters are found back, with the errors that are reported; files, groups, bad
input."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.recorded.fitting.motions import Motion

ARM = od.models.pendulum(2)
STRONG = ARM.with_limits(effort=dict.fromkeys(ARM.qd_names, 6.0))
PLANTED = {"TorqueSquared": 0.7, "AccelerationSquared": 0.02, "MechanicalWork": 1.6}
SOLVE = {"progress": False, "tolerance": 1e-10}


def reach(start, end):
    return ca.vertcat(start.q + 1, start.qd, end.q - ca.DM([1.0, 0.3]), end.qd), 0, 0


def swing(duration=1.1, model=STRONG, intervals=12, more=(), **options):
    costs = (ocp.TorqueSquared(), ocp.AccelerationSquared(0.1), ocp.MechanicalWork(0.5, smoothing=1.0), *more)
    phase = ocp.Phase("swing", intervals, duration, objective=costs)
    return ocp.Problem(model, [phase], boundary=[ocp.Boundary(reach)], **options)


def seen(problem, spread=1e-3, noise=None, weights=PLANTED):
    """Angles of the motion that is optimal for the planted weights, with noise of the spread from a generator."""
    q = problem.with_weights(weights).solve(**SOLVE).q
    return ocp.Measured.motion("q", q + (0 if noise is None else spread * noise.normal(size=q.shape)), spread)


def away(found, planted=PLANTED):
    """Errors of the weights on the logarithmic scale, relative to the one that was held."""
    at = np.array([np.log(found[name] / planted[name]) for name in found.names])
    return at - at[found.names.index(found.reference)]


@pytest.fixture(scope="module")
def two():
    problems = {"fast": swing(1.05), "slow": swing(1.4)}
    data = {name: [seen(problem)] for name, problem in problems.items()}
    return problems, data, ocp.fit(problems, data, list(PLANTED), progress=False)


@pytest.mark.slow
def test_planted_weights_are_found_although_torques_reach_their_limits(two):
    _, _, found = two
    assert found.converged
    assert abs(found.solutions["fast"].tau).max() > 5.999  # limits are active in one motion
    assert abs(found.solutions["slow"].tau).max() < 5.9
    assert abs(away(found)).max() < 1e-4
    assert found.distance < 1e-3
    assert found.costs[0] > 1e4 * found.costs[-1]
    assert found.errors[found.reference] == pytest.approx(0, abs=1e-9)
    assert found[found.reference] == pytest.approx(swing().weights[found.reference])
    assert all(0 < error < 0.2 for name, error in found.errors.items() if name != found.reference)
    assert found.sentences == ()
    assert "Converged" in str(found)
    assert "held" in str(found)


def test_values_and_copies_give_the_motions_that_were_found(two):
    problems, _, found = two
    q = found.solutions["slow"].q
    np.testing.assert_allclose(problems["slow"].solve(values=found.values, **SOLVE).q, q, atol=1e-6)
    np.testing.assert_allclose(found.applied(problems["slow"]).solve(**SOLVE).q, q, atol=1e-6)


@pytest.mark.parametrize("duration", [1.05, 1.4])
@pytest.mark.slow
def test_derivatives_are_those_of_motions_that_are_solved_again(duration):
    problem = swing(duration)
    names = [f"weight of {name}" for name in PLANTED]
    data = [ocp.Measured.motion("q", np.zeros((13, 2)), 0.1), ocp.Measured.motion("tau", np.zeros((12, 2)))]
    motion = Motion(problem, data, [*names, "elsewhere"], [0] * 4, {"tolerance": 1e-10})
    z = np.array([0.8, 0.03, 1.2, 5.0])
    motion.attempt(z)
    motion.keep()
    J, residual = motion.jacobian()
    assert residual < 1e-8
    assert not J[:, 3].any()  # a parameter that this problem does not have
    for k in range(3):
        sides = []
        for sign in (1, -1):
            step = np.zeros(4)
            step[k] = sign * 1e-3 * z[k]
            sides.append(motion.attempt(z + step)[0])
        expected = (sides[0] - sides[1]) / (2e-3 * z[k])
        np.testing.assert_allclose(J[:, k], expected, atol=2e-3 * abs(expected).max())


@pytest.mark.slow
def test_errors_under_noise_are_those_of_the_covariance():
    """The squared errors in their covariance, over several draws, follow the chi-square distribution."""
    problem, names = swing(1.2, ARM, 8), ["AccelerationSquared", "MechanicalWork"]
    true = problem.with_weights(PLANTED | {"TorqueSquared": 1.0})
    rng, total, draws = np.random.default_rng(5), 0.0, 6
    planted = np.log([PLANTED[name] for name in names])
    for _ in range(draws):
        found = ocp.fit(true, [seen(true, 0.01, rng, {})], names, progress=False)
        error = np.log([found[name] for name in names]) - planted
        total += error @ np.linalg.solve(found.covariance, error)
        assert 0.5 < found.distance < 1.5
    assert 4.4 < total < 23.3  # chi-square of 12: 2.5 % and 97.5 %


@pytest.mark.slow
def test_a_parameter_that_is_no_weight():
    aim = ocp.Parameter("mass:link2", 1.4)
    problem = swing(1.2, ARM, parameters=[aim])
    tau, middle = problem.solve(values={"mass:link2": 1.1}, **SOLVE).tau, (np.arange(12) + 0.5) / 12
    data = ocp.Measured.motion("tau", tau, 0.1, fractions=middle)
    found = ocp.fit(problem, data, [ocp.Fitted("mass:link2", bounds=(0.5, 3.0))], progress=False)
    assert found["mass:link2"] == pytest.approx(1.1, rel=1e-6)
    assert found.applied(problem).parameters[0].value == pytest.approx(1.1, rel=1e-6)
    held = ocp.fit(problem, data, [ocp.Fitted("mass:link2", bounds=(1.2, 3.0), scale="linear")], progress=False)
    assert held["mass:link2"] == pytest.approx(1.2)
    assert held.sentences[0] == "at a bound: mass:link2"
    prior = ocp.Fitted("mass:link2", prior=(1.4, 1.0 + 1e-6))
    assert ocp.fit(problem, data, prior, progress=False)["mass:link2"] == pytest.approx(1.4, rel=1e-4)


@pytest.mark.slow
def test_weights_that_the_data_cannot_tell_apart_are_named():
    again = ocp.Integral(lambda instant: ca.sumsqr(instant.tau), 0.5, "effort")
    problem = swing(1.3, ARM, 8, more=[again])
    data = seen(problem, 1e-3, weights={"MechanicalWork": 1.0})
    found = ocp.fit(problem, [data], ["TorqueSquared", "effort", "MechanicalWork"], progress=False)
    assert found.converged
    (sentence,) = [line for line in found.sentences if "hardly tell" in line]
    assert "TorqueSquared" in sentence
    assert "effort" in sentence


def test_a_motion_that_no_weights_explain_is_told():
    problem = swing(1.3, ARM, 8)
    q = problem.solve(**SOLVE).q + 0.5 * np.sin(np.linspace(0, 30, 9))[:, None]
    found = ocp.fit(problem, ocp.Measured.motion("q", q, 0.01, name="angles"), ["AccelerationSquared"], progress=False)
    assert found.sentences[-1].startswith("no values of the parameters explain 'angles' of 'motion'")


def test_groups_that_are_left_out_are_predicted(two):
    problems, data, _ = two
    start = [ocp.Fitted(name, start=value) for name, value in PLANTED.items()]
    found = ocp.fit(problems, data, start, groups={"fast": "one", "slow": "other"}, progress=False)
    assert [fold.group for fold in found.folds] == ["one", "other"]
    assert all(fold.spreads < 0.01 for fold in found.folds)
    assert [a.motion for a in found.folds[0].agreement] == ["fast"]


@pytest.mark.slow
def test_a_search_goes_on_from_its_file(two, tmp_path):
    problems, data, _whole = two
    file = tmp_path / "fit"
    first = ocp.fit(problems, data, list(PLANTED), file=file, max_iterations=4, progress=False)
    assert first.status == "Maximum_Iterations_Exceeded"
    second = ocp.fit(problems, data, list(PLANTED), file=file, progress=False)
    assert second.costs[: len(first.costs)] == pytest.approx(first.costs, rel=1e-4)
    assert abs(away(second)).max() < 1e-4
    done = ocp.fit(problems, data, list(PLANTED), file=file, progress=False)
    assert done.work["solves"] <= 6
    with pytest.raises(ValueError, match="belongs to a fit of other parameters or data"):
        ocp.fit(problems, data, list(PLANTED)[:2], file=file, progress=False)
    (tmp_path / "fit.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="is no file of a fit"):
        ocp.fit(problems, data, list(PLANTED), file=file, progress=False)


@pytest.mark.slow
def test_several_starts_find_one_optimum():
    problem = swing(1.2, ARM, 8)
    data = seen(problem, weights={"AccelerationSquared": 0.3})
    found = ocp.fit(problem, data, ["AccelerationSquared"], starts=3, seed=2, progress=False)
    assert len(found.optima) == 3
    assert found.optima[-1] < 1e-6
    assert found["AccelerationSquared"] == pytest.approx(0.3, rel=1e-5)


@pytest.mark.slow  # processes import the library
def test_processes_find_the_same(two):
    problems, data, one = two
    both = ocp.fit(problems, data, list(PLANTED), jobs=2, progress=False)
    assert both.costs == pytest.approx(one.costs, rel=1e-6, abs=1e-9)


def test_functions_that_no_other_process_has_are_refused(two):
    problems, data, _ = two
    inside = [ocp.Measured("own", lambda solution: solution.q[-1], [1.0, 0.3])]
    with pytest.raises(TypeError, match=r"fast cannot be sent there .* or give jobs=1"):
        ocp.fit(problems, data | {"fast": inside}, ["TorqueSquared"], jobs=2, progress=False)


OTHER = ocp.Measured.motion("q", np.zeros((4, 3)), 0.1)


@pytest.mark.parametrize(
    ("data", "parameters", "options", "kind", "message"),
    [
        (OTHER, ["MechanicalWork"], {}, ValueError, "12 values .* has 8: are they data of another body"),
        (
            ocp.Measured.motion("q", [[0.0]], names=["knee"]),
            ["MechanicalWork"], {}, ValueError, "has no q named 'knee'.* data of another body",
        ),
        (ocp.Measured.figure("cadence", 110, 5), ["MechanicalWork"], {}, ValueError, "periodic motion"),
        (ocp.Measured("one", len, [1.0]), ["TorqueSquared", "MechanicalWork"], {}, ValueError, "1 measured"),
        (
            ocp.Measured("time", lambda solution: [solution.duration] * 3, [1.0] * 3),
            ["MechanicalWork"], {}, ValueError, "'MechanicalWork' has no effect on the data: leave it out",
        ),
        ([], ["MechanicalWork"], {}, ValueError, "there are no data of the problem 'motion'"),
        ([1.0], ["MechanicalWork"], {}, TypeError, "must be a list of ocp.Measured, got"),
        (None, [], {}, TypeError, "parameters must be a list of names"),
        (None, [3], {}, TypeError, "parameters must hold names"),
        (None, ["MechanicWork"], {}, KeyError, "no parameter .*did you mean 'MechanicalWork'"),
        (None, ["MechanicalWork"] * 2, {}, ValueError, "stands twice in parameters"),
        (None, ["JerkSquared"], {}, ValueError, "is zero in the problem 'motion'"),
        (None, [ocp.Fitted("MechanicalWork", entry=1)], {}, ValueError, "has 1 numbers, and no entry 1"),
        (None, [ocp.Fitted("MechanicalWork", start=-1)], {}, ValueError, "must be above zero, got start -1"),
        (None, [ocp.Fitted("MechanicalWork", bounds=(1, 2))], {}, ValueError, "start 0.5 lies outside its bounds"),
        (None, [ocp.Fitted("MechanicalWork", prior=(1, 0.5))], {}, ValueError, "is a factor above 1, got 0.5"),
        (None, ["MechanicalWork"], {"groups": {"motion": "a"}}, ValueError, "needs two groups or more"),
        (None, ["MechanicalWork"], {"groups": {"x": "a"}}, KeyError, "groups: no problem 'x'"),
        (None, ["MechanicalWork"], {"starts": 0}, ValueError, "starts"),
        (None, ["MechanicalWork"], {"max_iter": 1}, ValueError, "no solution for the first .*Maximum_Iterations"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_bad_input(data, parameters, options, kind, message):
    problem = swing(1.3, ARM, 3, more=[ocp.JerkSquared(0.0)])
    data = ocp.Measured.motion("q", np.zeros((4, 2)), 0.1) if data is None else data
    with pytest.raises(kind, match=message):
        ocp.fit(problem, data, parameters, progress=False, **options)


def test_problems_and_data_must_fit_each_other():
    problem, data = swing(1.3, ARM, 3), ocp.Measured.motion("q", np.zeros((4, 2)), 0.1)
    for problems, given, kind, message in (
        ([problem], data, TypeError, "problems must be a Problem, or a dict"),
        ({"a": 3}, {}, TypeError, "problems must hold Problems by name"),
        ({"a": problem}, data, TypeError, "data must be a dict"),
        ({"walk": problem}, {"wlak": data}, KeyError, "data of 'wlak', which is no problem: did you mean 'walk'"),
        ({"a": problem, "b": problem}, {"a": data}, ValueError, "no data of the problem 'b'"),
    ):
        with pytest.raises(kind, match=message):
            ocp.fit(problems, given, ["MechanicalWork"], progress=False)


@pytest.mark.slow
def test_the_common_factor_is_free_only_if_all_weights_are_fitted():
    problem = swing(1.2, ARM, 8)
    data = seen(problem)
    assert ocp.fit(problem, data, ["AccelerationSquared", "MechanicalWork"], progress=False).reference == ""
    known = [ocp.Fitted("TorqueSquared", prior=(2.0, 1.05)), "AccelerationSquared", "MechanicalWork"]
    found = ocp.fit(problem, data, known, progress=False)
    assert found.reference == ""
    assert found["TorqueSquared"] == pytest.approx(2.0, rel=1e-3)
    assert found["AccelerationSquared"] == pytest.approx(2.0 / 0.7 * 0.02, rel=1e-3)


@pytest.mark.slow
def test_an_unknown_duration_is_part_of_the_motion():
    free = replace(swing(more=[ocp.Duration(3.0)]), phases=[replace(swing().phases[0], duration=(0.8, 3.0))])
    free = replace(free, phases=[replace(free.phases[0], objective=(*free.phases[0].objective, ocp.Duration(3.0)))])
    true = free.with_weights(Duration=5.0).solve(**SOLVE)
    time = ocp.Measured("duration", duration_of, [true.duration], 1e-3)
    found = ocp.fit(free, [time], ["Duration"], progress=False)
    assert found["Duration"] == pytest.approx(5.0, rel=1e-4)


def duration_of(solution):
    return [solution.duration]
