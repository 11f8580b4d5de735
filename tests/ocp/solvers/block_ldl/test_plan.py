"""Plans of a factorization: right for every kind of problem, small fronts, and rows that find variables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.solvers.block_ldl import plan as plans
from ocp_dyn.ocp.solvers.block_ldl.plan import DUAL, PRIMAL, LdlPlan, ldl_plan
from ocp_dyn.ocp.solvers.block_ldl.planning import pivots, tiles
from ocp_dyn.ocp.solvers.block_ldl.planning.elimination import couplings, own_and_boundary
from ocp_dyn.ocp.solvers.block_ldl.planning.fronts import fronts_of
from ocp_dyn.ocp.solvers.block_ldl.planning.matching import unmatched
from ocp_dyn.ocp.solvers.block_ldl.planning.pattern import ProgramPattern
from ocp_dyn.ocp.solvers.block_ldl.planning.tree import cuts_of, tree_of
from ocp_dyn.ocp.workflows.attempt import prepare
from problems import five_link, four_bar_leg, human_walk, rabbit
from problems.small import hopper, juggling, slider_crank
from tests import hopper as monopod
from tests.ocp.solvers.block_ldl.plan_checks import check_plan, eliminate
from tests.ocp.solvers.block_ldl.sharing import EFFORT, SHARING, reach, rest_to_rest
from tests.ocp.transcription.test_dependent_joints import problem as linkage

FEW = {"intervals": 6}
SMALL = {
    **SHARING,
    "explicit Euler": lambda: reach(rest_to_rest, integrator="euler"),
    "Runge-Kutta": lambda: reach(rest_to_rest, integrator="rk4", form="explicit", steps=2),
    "three stages": lambda: reach(rest_to_rest, integrator="gauss:3", form="implicit"),
    "stages between nodes": lambda: reach(rest_to_rest, integrator="gauss:2", form="implicit", steps=2),
    "rates of accelerations": lambda: reach(
        rest_to_rest, form="implicit", objective=(EFFORT, ocp.JerkSquared(0.1), ocp.Peak(lambda i: i.q))
    ),
    "monopod": monopod.problem,
    "five links": lambda: five_link.problem(**FEW),
    "five links, implicit": lambda: five_link.problem("implicit", integrator="gauss:2", torque="linear", **FEW),
    "hop": lambda: hopper.problem(6),
    "balls": lambda: juggling.problem(6),
    "closed loop": lambda: slider_crank.problem(6),
}
LARGE = {
    "linkage": linkage,
    "two loops": lambda: four_bar_leg.problem(intervals=(2, 3, 2)),
    "rabbit": lambda: rabbit.problem(intervals=6),
}


def planned(problem: ocp.Problem, threads: int = 2) -> tuple[LdlPlan, object]:
    """The plan of a problem, checked."""
    transcription, program = prepare(problem)
    bounds = transcription.program.x_lower, transcription.program.x_upper
    plan = ldl_plan(program, *bounds, threads)
    check_plan(plan, program, *bounds)
    return plan, program


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.slow
def test_plans_of_all_kinds_of_problems(name):
    plan, _program = planned(SMALL[name]())
    assert plan.own.sum() >= plan.nx_free + plan.nc - np.sum(plan.role >= PRIMAL)
    assert f"{plan.parent.size} fronts" in plan.describe()
    assert np.all(plan.own + np.bincount(plan.front[plan.role >= PRIMAL], minlength=plan.own.size) > 0)


NEEDS_ROBOTS = pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=NEEDS_ROBOTS if name == "quadruped" else ()) for name in LARGE]
)
def test_plans_of_larger_problems(name):
    planned(LARGE[name](), threads=4)


EXACT = ("free duration", "periodic", "linear torques and rates", "stages between nodes", "three stages", "hopper")


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.slow
def test_fronts_have_the_sizes_that_elimination_finds_and_eliminate_their_rows(name):
    problem = SMALL[name]()
    transcription, program = prepare(problem)
    bounds = transcription.program.x_lower, transcription.program.x_upper
    plan = ldl_plan(program, *bounds)
    free = np.bincount(plan.tile[plan.role == PRIMAL]) - np.bincount(plan.tile[plan.role == DUAL])
    if np.any(free):
        plan = _untiled(plan)
    for f, (own, boundary, rank) in enumerate(eliminate(plan, program, *bounds)):
        assert (own, boundary) == (plan.own[f], plan.boundary[f])
        assert rank == own


def _untiled(plan: LdlPlan) -> LdlPlan:
    """The plan with the members of tiles as ordinary rows of their fronts."""
    ordinary = np.where(plan.role == 1, plan.role, 0).astype(np.int32)
    own = np.bincount(plan.front[plan.front >= 0], minlength=plan.parent.size)
    return replace(plan, role=ordinary, tile=np.full_like(plan.tile, -1), own=own)


@pytest.mark.slow
def test_the_human_and_its_tiles_and_leaves(monkeypatch):
    """Two subtrees meet in the middle; a quaternion keeps all its rows; forces may leave in leaves below the states."""
    walk = human_walk.problem(intervals=human_walk.QUICK)
    phases = [  # rates of forces couple the forces of intervals, which then leave in no leaf
        replace(phase, objective=[term for term in phase.objective if not isinstance(term, ocp.ForceRateSquared)])
        for phase in walk.phases
    ]
    problem = replace(walk, phases=phases)
    transcription, program = prepare(problem)
    bounds = transcription.program.x_lower, transcription.program.x_upper
    plan = ldl_plan(program, *bounds)
    check_plan(plan, program, *bounds)
    intervals = sum(phase.intervals for phase in problem.phases)
    assert plan.parent.size == intervals + 1
    assert plan.work < 11.5e6 * intervals
    pairs = np.stack([np.bincount(plan.tile[plan.role == kind]) for kind in (PRIMAL, DUAL)], axis=1).tolist()
    assert pairs.count([2, 2]) == 26 * intervals  # dof by dof
    assert pairs.count([6, 7]) == intervals  # rotation of the base: three rates, four rows
    assert pairs.count([1, 1]) == 3 * 23  # torques that phases share
    monkeypatch.setattr(pivots, "GAIN", 0.95)
    leafy = ldl_plan(program, *bounds)
    check_plan(leafy, program, *bounds)
    leaves = np.setdiff1d(np.arange(leafy.parent.size), leafy.parent)
    assert leaves.size == intervals  # and two subtrees begin without one
    assert np.median(leafy.own[leafy.parent[leaves]]) < 160
    assert np.median(leafy.own[leaves]) < 60
    assert leafy.work < 0.92 * plan.work


@pytest.mark.parametrize("name", ["periodic", "five links", "free duration"])
@pytest.mark.slow
def test_leaves_leave_nothing_out(monkeypatch, name):
    monkeypatch.setattr(pivots, "GAIN", 100.0)
    transcription, program = prepare(SMALL[name]())
    bounds = transcription.program.x_lower, transcription.program.x_upper
    plan = ldl_plan(program, *bounds)
    check_plan(plan, program, *bounds)
    leaves = np.setdiff1d(np.arange(plan.parent.size), plan.parent)
    assert leaves.size > 4
    untiled = _untiled(plan)
    for f, (own, boundary, rank) in enumerate(eliminate(untiled, program, *bounds)):
        assert (own, boundary) == (untiled.own[f], plan.boundary[f])
        assert rank == own


@pytest.mark.slow
def test_a_tile_of_one_variable_takes_the_row_that_determines_it_directly():
    problem = five_link.problem("implicit", integrator="midpoint", **FEW)
    plan, program = planned(problem)
    pairs = np.stack([np.bincount(plan.tile[plan.role == kind]) for kind in (PRIMAL, DUAL)], axis=1)
    assert np.array_equal(pairs[: 5 * 6], np.ones((5 * 6, 2)))
    rows = np.flatnonzero(program.row_lower == program.row_upper)[
        plan.role[plan.nx_free + plan.ns :][: plan.nc] == DUAL
    ]
    names = [program.row_names[k] for k in rows]
    assert sum("velocity step" in name for name in names) == 5 * 6
    assert not any("position step" in name for name in names)


def test_tiles_stay_small(monkeypatch):
    monkeypatch.setattr(tiles, "LARGEST", 1)
    plan, _ = planned(SMALL["stages between nodes"]())
    assert np.bincount(plan.tile[plan.role == PRIMAL], minlength=1).max() <= 1


@pytest.mark.slow
def test_rows_wait_where_a_piece_begins_and_no_longer():
    """A piece between two others begins without the state that its rows determine: these wait for one front."""
    transcription, program = prepare(five_link.problem(intervals=20))
    bounds = transcription.program.x_lower, transcription.program.x_upper
    plan = ldl_plan(program, *bounds, threads=4)
    check_plan(plan, program, *bounds)
    assert plan.own.max() <= 28
    assert plan.own[-1] == 20  # no row has waited to the end
    for own, _, rank in eliminate(_untiled(plan), program, *bounds):
        assert rank == own


def test_empty_fronts_are_left_out():
    tree = tree_of([0, 2, 4])
    front, tile, parent, thread = plans._without_empty(np.array([0, 2, -1, 4]), np.full(4, -1), tree)
    assert front.tolist() == [0, 1, -1, 2]
    assert tile.tolist() == [-1] * 4
    assert parent.tolist() == [2, 2, -1]
    assert thread.tolist() == [0, 1, -1]
    tops = plans._without_empty(np.array([0, 3]), np.full(2, -1), tree_of([0, 2, 4]))
    assert tops[2].tolist() == [-1, -1]


@pytest.mark.slow
def test_more_threads_have_more_subtrees():
    two, _ = planned(reach(rest_to_rest), 2)
    problem = five_link.problem(intervals=40)
    eight, _ = planned(problem, 8)
    assert two.thread.max() + 1 == 2
    assert eight.thread.max() + 1 == 8
    load = np.bincount(
        eight.thread[eight.thread >= 0], (eight.own**3.0 / 3 + eight.own * eight.boundary**2.0)[eight.thread >= 0]
    )
    assert load.max() < 2 * load.min()


def test_pieces_of_equal_work():
    equal = np.ones(32)
    assert cuts_of(equal, 1, True) == cuts_of(equal, 2, True) == cuts_of(equal, 3, True) == [0, 16, 32]
    assert cuts_of(equal, 4, True) == [0, 8, 16, 24, 32]
    assert cuts_of(equal, 4, False) == [0, 11, 16, 21, 32]  # pieces between two others carry two borders
    assert cuts_of(np.r_[np.full(4, 3.0), np.ones(8)], 2, False) == [0, 3, 12]
    assert cuts_of(np.r_[9.0, np.ones(3)], 2, False) == [0, 1, 4]
    assert cuts_of(np.ones(1), 2, False) == [0, 1]
    assert cuts_of(np.ones(2), 8, False) == [0, 1, 2]
    assert cuts_of(np.ones(15), 8, True) == [0, 7, 15]  # no piece of fewer than four intervals


def test_a_tree_joins_its_pieces_two_by_two():
    tree = tree_of([0, 2, 4, 6, 8])
    assert tree.front.tolist() == [0, 1, 3, 2, 6, 5, 8, 7]
    f = np.arange(tree.size)
    assert tree.meet(np.array([0]), np.array([3])).tolist() == [4]
    assert tree.meet(np.array([1]), np.array([6])).tolist() == [tree.size - 1]
    assert tree.above(f, np.full(tree.size, tree.size - 1)).all()
    assert tree.above(np.array([0, 1, 0]), np.array([1, 0, 2])).tolist() == [True, False, False]
    assert sorted(tree.mirrored.tolist()) == f.tolist()
    assert tree_of([0, 2, 4]).mirrored.tolist() == [2, 3, 0, 1, 4]


def test_leaves_come_just_before_their_fronts():
    tree = tree_of([0, 2, 4]).with_leaves(np.array([False, True, True, False, False]))
    assert tree.parent.tolist() == [2, 2, 6, 4, 5, 6, -1]
    assert tree.first.tolist() == [0, 1, 0, 3, 3, 3, 0]
    assert tree.thread.tolist() == [0, 0, 0, 1, 1, 1, -1]
    assert tree.front.tolist() == [0, 2, 5, 4]


@pytest.mark.parametrize(
    ("meets", "left"),
    [
        (np.zeros((0, 3), dtype=bool), []),
        (np.zeros((2, 0), dtype=bool), [0, 1]),
        (np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=bool), []),
        (np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=bool), [2]),
        (np.array([[1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0]], dtype=bool), [3, 4]),
        (np.array([[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 1, 0, 0]], dtype=bool), []),
    ],
)
def test_rows_find_variables(meets, left):
    assert unmatched(meets) == left


def pattern(nx: int, uses, equalities=(), inequalities=(), squares=()) -> ProgramPattern:
    """A pattern of nx entries and of rows, each given by its entries; uses: pairs of an interval and an entry."""
    rows = [(row, True) for row in equalities] + [(row, False) for row in inequalities]
    pairs = [(nx + k, x, equal) for k, (row, equal) in enumerate(rows) for x in row]
    one, other = zip(*[(row, x) for row, x, equal in pairs if equal], *squares, strict=True)
    row, member = zip(*[(row, x) for row, x, equal in pairs if not equal], strict=True)
    lists = (np.array(values) for values in (one, other, row, member, *zip(*uses, strict=True)))
    return ProgramPattern(nx, np.array([equal for _, equal in rows]), *lists, np.zeros(nx, dtype=bool))


def test_entries_that_no_interval_uses_and_inequality_rows():
    """Two branches, 0 -> 1 -> 4 and 2 <- 3: the intervals 0 to 3 belong to the fronts 0, 1, 3 and 2."""
    tree = tree_of([0, 2, 4])
    found = pattern(
        *(9, [(k, k) for k in range(4)]),
        equalities=[(0, 4), (1, 2, 5)],
        inequalities=[(3, 8), (1, 0)],
        squares=[(4, 7)],
    )
    assert tree.front.tolist() == [0, 1, 3, 2]
    front = fronts_of(found, tree)
    assert front.tolist() == [0, 1, 3, 2, 0, 4, 4, 0, 2, 0, 4, -1, -1]
    table = couplings(found, front, tree.size)
    assert np.argwhere(table).tolist() == [[0, 1], [1, 10], [3, 10]]
    own, boundary = own_and_boundary(found, front, np.full(front.size, -1), tree.parent)
    assert (own.tolist(), boundary.tolist()) == ([4, 1, 2, 1, 3], [1, 1, 0, 1, 0])


def test_a_program_that_is_no_chain(monkeypatch):
    problem = reach(rest_to_rest)
    transcription, program = prepare(problem)
    bounds = transcription.program.x_lower, transcription.program.x_upper
    for block in program.blocks:
        block.row_names = ["other"] * len(block.row_names)
    plan = ldl_plan(program, *bounds)
    check_plan(plan, program, *bounds)
    assert plan.parent.tolist() == [-1]
    assert plan.own.tolist() == [plan.nx_free + plan.nc]
    monkeypatch.setattr(plans, "SMALL", 10)
    with pytest.raises(ValueError, match="rows lead from one state to the next, so it is no sequence"):
        ldl_plan(program, *bounds)


def test_fronts_that_are_too_wide_are_refused(monkeypatch):
    transcription, program = prepare(reach(rest_to_rest))
    monkeypatch.setattr(plans, "DENSE_RATE", 1e4)
    with pytest.raises(ValueError, match=r"fronts are too wide, up to \d+ rows"):
        ldl_plan(program, transcription.program.x_lower, transcription.program.x_upper)
