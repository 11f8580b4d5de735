"""Refinement of grids: errors of intervals, splits, joins and orders, iterates that are carried over, records."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.analysis.defects import Flow
from ocp_dyn.ocp.analysis.many_flows import flows
from ocp_dyn.ocp.workflows.attempt import Attempt, prepare, starting_point
from ocp_dyn.ocp.workflows.refinement import refine
from ocp_dyn.ocp.workflows.refinement.other_grid import Side, start_on
from ocp_dyn.ocp.workflows.sweeps.tasks import _solved_from
from problems.extending import fatigue, motor_heat
from tests import hopper

UNEVEN = ocp.Intervals([1.0, 2.0, 1.5, 0.7, 1.3])


def arm(loss: float = 0.3) -> od.Model:
    """Two links in a vertical plane."""
    builder = od.ModelBuilder("arm")
    builder.add_body("upper", od.Revolute("y"), mass=1.3, com=(0.02, 0, -0.3), inertia=(0.1, 0.12, 0.02), damping=loss)
    builder.add_body("fore", od.Revolute("y"), parent="upper", origin=(0, 0, -0.6), mass=0.8, com=(0, 0, -0.25),
                     inertia=(0.05, 0.06, 0.01), damping=loss, effort=4.0)  # fmt: skip
    return builder.build()


ARM = arm()
REACH = ocp.Boundary(lambda a, b: (ca.vertcat(a.q, a.qd, b.q - ca.DM([1.1, -0.4]), b.qd), 0, 0), name="reach")


def reach(first=4, second=3, work=False, **options):
    """A reach in two phases, of which one is of free duration, with rates, paths and, as work, slacks."""
    options = {"integrator": "gauss:2", "torque": "linear"} | options
    speed = ocp.Path(lambda instant: instant.qd, -2.1, 2.1)
    costs = [ocp.TorqueSquared(1e-2), ocp.TorqueRateSquared(1e-4), *([ocp.JointWork(weight=0.1)] if work else [])]
    phases = [
        ocp.Phase("out", first, (0.3, 0.9), path=[speed], objective=[*costs, ocp.Duration(4.0)]),
        ocp.Phase("on", second, 0.5, path=[speed], objective=costs),
    ]
    return ocp.Problem(ARM, phases, boundary=[REACH], **options)


def carried(problem, other, solution):
    """The start of `other` from a solution of `problem`, and the program of `other`."""
    old, new = Side(*prepare(problem)), Side(*prepare(other))
    starting_point(new.transcription, None, None, {}, lambda t: None)
    return start_on(old, new, solution), new.program


@pytest.fixture(scope="module")
def coarse():
    problem = reach(ocp.Intervals.even(4), ocp.Intervals.even(3))
    return problem, problem.solve(progress=False)


def test_errors_are_those_of_the_defects(coarse):
    _, solution = coarse
    errors, defects = solution.interval_errors(), solution.defects()
    assert np.allclose(np.c_[errors.angle, errors.length], defects.by_interval, rtol=1e-3, atol=2e-8)
    assert errors.largest > 1e-5
    assert set(errors.worst) <= set(ARM.qd_names)
    assert errors.start[4] == pytest.approx(solution.phases[1].t[0])
    assert list(errors.phase) == [0] * 4 + [1] * 3
    assert "out" in str(errors)
    assert errors._repr_html_()


def test_flows_halve_intervals_that_are_too_long_and_end_at_fractions(coarse):
    _, solution = coarse
    phase = solution.phases[0]
    flow = Flow(solution.equations, phase.contacts)
    x, p = flow.state(phase, 1), flow.inputs(phase, 1)
    long = np.concatenate([p[:-1], [2.0]])
    (found,) = flows(flow, x[None], long[None], np.ones(1), 1e-9)
    assert np.abs(found - flow(x, long)).max() < 1e-7
    (part,) = flows(flow, x[None], p[None], np.array([0.4]), 1e-9)
    half = p.copy()
    half[:2], half[-1] = p[:2] + p[2:4] * p[-1] * (0.4 - 1) / 2, 0.4 * p[-1]
    assert np.abs(part - flow(x, half)).max() < 1e-8


@pytest.mark.parametrize(
    "options",
    [
        {"integrator": "midpoint", "steps": 2},
        {"form": "explicit", "integrator": "radau:2", "torque": "constant"},
        {"integrator": "lobatto:3"},
    ],
    ids=str,
)
@pytest.mark.slow
def test_uneven_and_even_grids_agree_in_the_limit(options):
    """A problem on an uneven grid is the same problem: fine grids of both kinds have one optimum."""
    even = reach(12, 10, **options).solve(progress=False)
    lengths = 1 + 0.5 * np.sin(np.arange(24))
    uneven = reach(ocp.Intervals(lengths[:13]), ocp.Intervals(lengths[13:]), **options).solve(progress=False)
    assert even.converged
    assert uneven.converged
    assert uneven.objective == pytest.approx(even.objective, rel=1e-2)
    assert np.ptp(np.diff(uneven.phases[0].t)) > 0.5 * np.diff(uneven.phases[0].t).mean()
    assert uneven.interval_errors().largest < 2e-3
    assert np.abs(uneven.sample([0.2, 0.5]) - even.sample([0.2, 0.5])).max() < 2e-2


def test_a_number_of_intervals_and_an_even_grid_are_one_problem(coarse):
    number, (_, grid) = reach(4, ocp.Intervals([2, 2, 2])).solve(progress=False), coarse
    assert number.stats["iterations"] == grid.stats["iterations"]
    assert number.objective == pytest.approx(grid.objective, rel=1e-12)


def test_all_grids_share_their_functions():
    keys = []
    for grid in (ocp.Intervals.even(5), UNEVEN, ocp.Intervals([1, 2, 3, 4, 5, 6])):
        _, program = prepare(reach(grid, ocp.Intervals.even(3)))
        keys.append([block.key for block in program.blocks])
    assert keys[0] == keys[1] == keys[2]


def test_iterate_on_the_same_grid_is_the_iterate(coarse):
    problem, solution = coarse
    start, _ = carried(problem, reach(ocp.Intervals.even(4), ocp.Intervals.even(3)), solution)
    assert np.abs(start.lam_x - solution.iterate["lam_x"]).max() < 1e-12
    assert np.abs(start.lam_g - solution.iterate["lam_g"]).max() < 1e-9
    assert np.abs(start.x - solution.iterate["x"]).max() < 1e-12


@pytest.mark.parametrize("integrator", ["gauss:2", "radau:2"])
@pytest.mark.slow
def test_carried_multipliers_are_near_those_of_the_next_grid(integrator):
    """In general position: uneven grids, linear torques, rates, paths and slacks; every kind of row by itself."""
    lengths = 1 + 0.3 * np.sin(np.arange(28))
    one = reach(ocp.Intervals(lengths[:16]), ocp.Intervals(lengths[16:]), integrator=integrator)
    parts = 1 + np.arange(28) % 2
    finer = [np.repeat((lengths / parts)[k], parts[k]) for k in (slice(16), slice(16, None))]
    other = reach(*(ocp.Intervals(part) for part in finer), integrator=integrator)
    solution, wanted = (problem.solve(progress=False, tolerance=1e-8) for problem in (one, other))
    start, program = carried(one, other, solution)
    names, lam = np.array(program.row_names), wanted.iterate["lam_g"]
    for name in dict.fromkeys(program.row_names):
        here = names == name
        size = np.abs(lam[here]).max()
        if name.endswith("Path"):  # active at a node or two, so that only the integral is near
            assert start.lam_g[here].sum() == pytest.approx(lam[here].sum(), rel=0.3, abs=1e-6), name
        elif size > 1e-3:
            assert np.abs(start.lam_g[here] - lam[here]).max() < 0.35 * size, name
            assert np.linalg.norm(start.lam_g[here] - lam[here]) < 0.2 * np.linalg.norm(lam[here]), name
    free = start.lower < start.upper
    assert np.linalg.norm((start.lam_x - wanted.iterate["lam_x"])[free]) < 0.3 * np.linalg.norm(
        wanted.iterate["lam_x"][free]
    )


@pytest.mark.slow
def test_refined_to_the_accuracy_with_few_iterations(capsys):
    problem = reach(work=True)
    solution = problem.solve(accuracy=1e-6)
    told = solution.refinement
    assert told.reached
    assert solution.interval_errors().largest <= 1e-6
    assert solution.converged
    assert sum(told.rounds[-1].intervals) > sum(told.rounds[0].intervals) == 7
    assert [len(one.error) for one in told.rounds] == [sum(one.intervals) for one in told.rounds]
    assert all(one.iterations < told.rounds[0].iterations for one in told.rounds[1:])
    assert "within the accuracy 1e-06" in told.verdict
    assert "split to" in told.rounds[0].change
    printed = "".join(capsys.readouterr())
    assert "grid 1: 7 intervals (4 + 3), gauss:2" in printed
    assert "largest error" in printed
    own = problem.on_grid_of(solution)
    again = own.solve(start=solution, progress=False)
    assert again.stats["iterations"] <= 3
    assert again.objective == pytest.approx(solution.objective, rel=1e-6)


@pytest.mark.slow
def test_record_survives_a_file_and_is_drawn(tmp_path, coarse):
    problem, solution = coarse
    found = solution.refined(problem, 1e-5, progress=False)
    read = ocp.Solution.load(found.save(tmp_path / "reach.npz"))
    assert read.refinement == found.refinement
    assert str(read.refinement) == str(found.refinement)
    counts = ", ".join(str(sum(one.intervals)) for one in found.refinement.rounds)
    in_words = dict(read.summary(defects=False).rows())["refinement"]
    assert in_words.startswith(f"{len(found.refinement.rounds)} grids, {counts} intervals, which err by up to ")
    assert in_words.endswith(", within 1e-05")
    assert read.summary(defects=False).numbers()["refinement"] == in_words
    assert "refinement" not in dict(solution.summary(defects=False).rows())
    figure = read.refinement.plot(tmp_path / "errors.png")
    assert figure.axes[0].get_yscale() == "log"
    assert (tmp_path / "errors.png").stat().st_size > 5000
    assert read.refinement._repr_html_()
    further = read.refined(problem, 1e-6, progress=False)
    assert further.refinement.rounds[0].intervals == found.refinement.rounds[-1].intervals
    with pytest.raises(ValueError, match="was solved on one grid: solve"):
        solution.refinement  # noqa: B018
    broken = replace(solution, stats=solution.stats | {"refinement": {"accuracy": 1.0, "verdict": "", "rounds": [{}]}})
    with pytest.raises(ValueError, match="refinement"):
        ocp.Solution.load(broken.save(tmp_path / "broken.npz"))


@pytest.mark.slow
def test_joined_where_a_grid_is_too_fine_but_never_below_that_of_the_problem():
    problem = reach()
    fine = problem.solve(accuracy=1e-6, refine="split", progress=False)
    coarser = fine.refined(problem, 1e-4, progress=False)
    assert coarser.refinement.reached
    assert len(coarser.tau) < 0.8 * len(fine.tau)
    assert "joined" in coarser.refinement.rounds[0].change
    loose = fine.refined(problem, 0.5, progress=False)
    assert len(loose.tau) >= 7
    assert {0.0, 0.25, 0.5, 0.75, 1.0} <= set(loose.phases[0].grid.nodes.round(9))


@pytest.mark.slow
def test_order_is_raised_where_it_pays():
    problem = reach()
    raised = problem.solve(accuracy=1e-8, progress=False, tolerance=1e-9)
    assert raised.refinement.reached
    assert raised.stats["integrator"] in ("gauss:3", "gauss:4", "gauss:5")
    only = problem.solve(accuracy=1e-6, refine="order", progress=False)
    assert only.refinement.reached
    assert only.stats["integrator"] != "gauss:2"
    assert problem.on_grid_of(only).scheme.stages == int(only.stats["integrator"][-1])
    stages = [sum(one.intervals) * int(one.integrator[-1]) for one in raised.refinement.rounds]
    split = problem.solve(accuracy=1e-8, refine="split", progress=False, tolerance=1e-9)
    assert stages[-1] < 2 * len(split.tau)


@pytest.mark.parametrize("options", [{"form": "explicit", "integrator": "rk4"}, {"integrator": "midpoint", "steps": 2}])
@pytest.mark.slow
def test_other_schemes_are_refined_too(options):
    solution = reach(**options).solve(accuracy=2e-5, progress=False)
    assert solution.refinement.reached, solution.refinement.verdict
    if options.get("form") == "explicit":
        assert solution.stats["integrator"] == "rk4"


@pytest.mark.parametrize(
    ("problem", "accuracy"),
    [(hopper.problem(), 1e-4), (motor_heat.problem(), 1e-5)],
    ids=["impact, contact, period", "component, free duration"],
)
@pytest.mark.slow
def test_phases_keep_contacts_impacts_periods_and_components(problem, accuracy):
    solution = problem.solve(accuracy=accuracy, progress=False)
    told = solution.refinement
    assert told.reached, told.verdict
    assert len(told.rounds) > 1
    assert [phase.name for phase in solution.phases] == [phase.name for phase in problem.phases]
    assert solution.drift().position < 1e-6
    assert problem.on_grid_of(solution).solve(start=solution, progress=False).stats["iterations"] <= 5


@pytest.mark.slow
def test_a_grid_on_which_no_carried_motion_converges_is_solved_from_the_first_guess(monkeypatch):
    """Every solve that begins with the motion on the first grid is taken for a failure."""
    solved, begun = Attempt.solved, []

    def failing(self, guess=None, start=None, **carry):
        begun.append("carried" if carry else "none" if guess is None else "motion")
        found = solved(self, guess, start, **carry)
        failure = {"converged": False, "status": "Maximum_Iterations_Exceeded"}
        return found if begun[-1] == "none" else replace(found, stats=found.stats | failure)

    monkeypatch.setattr(Attempt, "solved", failing)
    assert reach().solve(accuracy=1e-4, refine="split", progress=False).refinement.reached
    assert begun[:1] + begun[-2:] == ["none", "motion", "none"]


@pytest.mark.slow
def test_muscles_that_tire_are_refined():
    """From the motion on the coarse grid, which lies on its bounds, the next one is not found in 500 iterations."""
    assert fatigue.problem().solve(accuracy=1e-5, progress=False, max_iterations=150).refinement.reached


def test_what_cannot_be_refined_is_told():
    explicit = reach(form="explicit", integrator="rk4")
    with pytest.raises(ValueError, match=r"refine='order' needs an integrator of a family.*got 'rk4'.*refine='split'"):
        explicit.solve(accuracy=1e-4, refine="order", progress=False)
    for wrong, error in ((0.0, ValueError), (-1e-4, ValueError), (np.nan, ValueError), ("fine", TypeError)):
        with pytest.raises(error, match="accuracy"):
            explicit.solve(accuracy=wrong, progress=False)
    with pytest.raises(ValueError, match="refine"):
        explicit.solve(accuracy=1e-4, refine="join", progress=False)
    other = ocp.Problem(ARM, [ocp.Phase("one", 3, 0.5)], boundary=[REACH])
    with pytest.raises(ValueError, match="with the phases out, on; got one with one"):
        explicit.on_grid_of(other.solve(progress=False, max_iterations=0))


@pytest.mark.slow
def test_verdict_names_phase_interval_and_joint(monkeypatch):
    monkeypatch.setattr(refine, "MOST_ROUNDS", 0)
    told = reach().solve(accuracy=1e-7, progress=False).refinement
    assert not told.reached
    assert "the accuracy 1e-07 is not reached after 1 grids with 7 intervals: the interval from" in told.verdict
    assert "in phase 'o" in told.verdict
    assert any(name in told.verdict for name in ARM.qd_names)
    assert "above 1e-07" in told.line
    failed = reach().solve(accuracy=1e-7, progress=False, max_iterations=2)
    assert not failed.converged
    assert "grid 1 was not found" in failed.refinement.verdict
    assert failed.refinement.line.startswith("no grid: the motion on grid 1 was not found")
    with pytest.raises(ValueError, match="no grid"):
        failed.refinement.plot()


@pytest.mark.slow
def test_continuation_goes_on_refined_grids():
    problem = to_angle()
    first = problem.solve(accuracy=1e-5, progress=False)
    own = problem.on_grid_of(first)
    along = ocp.solve_along(own, angle=[1.0, 1.05, 1.1], start=first, solve={"progress": False})
    assert all(one.converged and len(one.tau) == len(first.tau) for one in along)
    moved = ocp.solve_along(problem, angle=[1.0, 1.3], solve={"progress": False, "accuracy": 1e-5})
    assert all(one.refinement.reached for one in moved)
    guessed = reach(6, 5).solve(guess=first, progress=False)
    assert guessed.converged
    assert problem.on_grid_of(first).check() == []
    assert len(first.table()["time"]) == len(first.t)


def to_angle():
    """A reach to an angle that is a parameter."""
    aim = ocp.Boundary(
        lambda a, b: (ca.vertcat(a.q, a.qd, b.q - ca.vertcat(b.values["angle"], -0.4), b.qd), 0, 0), name="reach"
    )
    return replace(reach(), boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])


@pytest.mark.slow
def test_points_of_a_sweep_begin_on_the_grid_of_their_neighbor(tmp_path):
    points = ocp.grid(angle=[1.0, 1.05])
    with ThreadPoolExecutor(1) as executor:
        sweep = ocp.Sweep(to_angle, points, tmp_path, executor=executor, solve={"accuracy": 1e-5})
        found = {point.values["angle"]: solution.refinement for point, solution in sweep}
    assert all(one.reached for one in found.values())
    assert found[1.05].rounds[0].intervals == found[1.0].rounds[-1].intervals != (4, 3)
    assert found[1.05].rounds[0].iterations < found[1.0].rounds[0].iterations


def test_a_neighbor_with_other_phases_gives_its_motion(coarse, tmp_path):
    """A solve with an accuracy from a solution whose phases have other names: a guess without multipliers."""
    near = replace(coarse[1], phases=[replace(phase, name=f"{phase.name}2") for phase in coarse[1].phases])
    found = _solved_from(reach(), near, {"accuracy": 1e-4, "threads": 1, "progress": False})
    assert found.converged
    assert found.refinement.rounds[0].intervals == (4, 3)


def test_several_starts_are_compared_on_one_grid():
    for option in ({"accuracy": 1e-4}, {"refine": "split"}):
        with pytest.raises(TypeError, match=r"compared on one grid.*found\.best\.refined\(problem, accuracy\)"):
            ocp.multistart(reach(), 2, progress=False, **option)


def test_an_interval_that_no_integrator_ends_is_told_and_not_split_forever(monkeypatch):
    monkeypatch.setattr(Flow, "__call__", lambda self, x, p: np.full(x.size, np.nan))
    monkeypatch.setattr("ocp_dyn.ocp.analysis.many_flows._reached", lambda flow, x, *_: np.full(x.shape, np.nan))
    monkeypatch.setattr(refine, "SHORTEST", 0.2)
    solution = reach().solve(accuracy=1e-3, refine="split", progress=False)
    assert len(solution.tau) == 7
    assert len(solution.refinement.rounds) == 1
    assert (
        "cannot be judged: no integrator reaches the end of the interval from 0.0000 s" in solution.refinement.verdict
    )


def test_multipliers_of_bounds_are_integrals_over_the_intervals_beside_a_node(coarse):
    """A multiplier of constant density 3 on all node values of torques keeps its density on an uneven grid."""
    problem, solution = coarse
    other = reach(UNEVEN, ocp.Intervals([1, 2]))

    def shares(grid):
        return (np.append(grid.shares, 0) + np.append(0, grid.shares)) / 2

    old, new = (prepare(each)[0] for each in (problem, other))
    lam = np.zeros(solution.iterate["x"].size)
    for share, variable in zip(shares(problem.phases[0].grid), old.phases[0]["tau"], strict=True):
        lam[variable.index] = 3 * share * variable.scale
    start, _ = carried(problem, other, replace(solution, iterate=solution.iterate | {"lam_x": lam}))
    for share, variable in zip(shares(UNEVEN), new.phases[0]["tau"], strict=True):
        assert start.lam_x[variable.index] == pytest.approx(3 * share * variable.scale, rel=1e-12)
    assert not np.any(start.lam_x[new.phases[1]["tau"][1].index])
