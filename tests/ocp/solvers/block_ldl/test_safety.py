"""Safety of the block LDL solver: every matrix of several solves, and matrices that no solve has, beside dense
algebra."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.ocp.solvers.block_ldl.library import FAILURES, obtain
from ocp_dyn.ocp.solvers.block_ldl.plan import LdlPlan, ldl_plan
from ocp_dyn.ocp.workflows.attempt import prepare, starting_point
from ocp_dyn.problems import five_link
from ocp_dyn.problems.small import hopper, slider_crank
from tests.helpers import mostly_slow
from tests.ocp.solvers.block_ldl.kkt import SINGULAR, backward_error, dense, inertia, solver

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
EFFORT = ocp.TorqueSquared()
ENOUGH = 1e-8
"""Relative residual that the library demands of a solution."""


@pytest.fixture(scope="module")
def library():
    made, reason = obtain(wait=True)
    assert made is not None, reason
    return made


def swing(**options):
    """A pendulum of two links from rest to rest."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 0.4, e.qd), 0, 0))
    phase = ocp.Phase("swing", 6, options.pop("duration", 0.6), objective=options.pop("objective", EFFORT))
    return ocp.Problem(pendulum(2), phase, boundary=(ends, *options.pop("more", ())), **options)


def twice():
    """Rows that repeat others: IPOPT has to regularize."""
    same = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, 2 * s.qd, e.q - 0.4), 0, 0), name="same")
    return swing(more=[same])


def plate():
    """A plate on two corners that hold it with more forces than it needs, for a time that nothing determines."""
    builder = od.ModelBuilder("plate")
    builder.add_body("plate", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    feet = []
    for k, x in enumerate((-0.1, 0.1)):
        builder.add_frame(f"corner{k}", "plate", (x, 0, 0))
        feet.append(ocp.Foothold(od.Contact(f"corner{k}", axes="xyz"), x=x, y=0.0))
    rest = ocp.Boundary(lambda s, e: (ca.vertcat(s.qd[5] - e.qd[5]), 0, 0))
    stand = ocp.Phase("stand", 3, (0.1, 0.3), feet, objective=ocp.AccelerationSquared(1.0))
    return ocp.Problem(builder.build(), stand, boundary=rest)


def two_phases():
    """Free durations that enter rows and costs of two phases, and a parameter that is free."""
    pull = ocp.Parameter("pull", 1.0, bounds=(0.1, 5.0))
    phases = [ocp.Phase(f"p{k}", 4, (0.2, 0.8), objective=(EFFORT, ocp.Duration(30.0))) for k in range(2)]
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 0.2 * e.values["pull"], e.qd), 0, 0))
    far = ocp.Terminal(lambda s, e: (e.values["pull"] - 2) ** 2)
    return ocp.Problem(pendulum(2), phases, boundary=ends, terminal=[far], parameters=[pull])


PROBLEMS = {
    "implicit": swing,
    "rk4, two steps": lambda: swing(form="explicit", integrator="rk4", steps=2, duration=(0.4, 0.8)),
    "dependent rows": twice,
    "redundant contacts": plate,
    "two phases": two_phases,
    "hopper": lambda: hopper.problem(2),
    "slider crank": lambda: slider_crank.problem(5),
    "five link": lambda: five_link.problem("implicit", 2, "gauss:2", "linear"),
}
QUICK = ("implicit", "dependent rows", "two phases")


@mostly_slow("name", PROBLEMS, QUICK)
@pytest.mark.slow
def test_every_matrix_of_a_solve(library, name):
    """Inertia and solutions beside dense algebra, and the run beside one by MUMPS."""
    problem, seen = PROBLEMS[name](), []
    by_mumps = problem.solve(progress=False, linear_solver="mumps", max_iterations=200)
    with library.watched(seen.append):
        found = problem.solve(progress=False, linear_solver="block_ldl", max_iterations=200)
    assert found.stats["linear_solver"] == "block_ldl", found.stats["linear_solver_reason"]
    assert found.status == by_mumps.status
    assert found.objective == pytest.approx(by_mumps.objective, rel=1e-8, abs=1e-9)
    assert abs(found.stats["iterations"] - by_mumps.stats["iterations"]) <= 0.1 * by_mumps.stats["iterations"] + 1
    factors = [each for each in seen if each.right is None]
    assert len(factors) == found.stats["linear_solver_figures"]["factorizations"]
    for each in factors:
        exact = inertia(dense(each))
        if each.negative == SINGULAR:
            assert exact.rank_deficient
        else:
            assert exact.least <= each.negative <= exact.most
    for each in seen:
        if each.right is not None:
            assert backward_error(dense(each), each.x, each.right) < 1e-9


@cache
def structure_of(library, name):
    """The structure of a problem, for all tests that fill it with numbers."""
    return Structure(library, name)


class Structure:
    """The first matrix of a solve with its plan, and the kinds of its entries: W, slacks, links, Jacobian, corners."""

    def __init__(self, library, name):
        problem, seen = PROBLEMS[name](), []
        with library.watched(seen.append):
            problem.solve(progress=False, linear_solver="block_ldl", max_iterations=1)
        t, program = prepare(problem)
        start = starting_point(t, None, None, {})
        self.seen, self.plan = seen[0], ldl_plan(program, start.lower, start.upper, 2)
        ends = np.cumsum([self.plan.nx_free, self.plan.ns, self.plan.nc, self.plan.nd])
        low, high = (
            np.searchsorted(ends, f(self.seen.rows, self.seen.columns), "right") for f in (np.minimum, np.maximum)
        )
        self.W, self.S, self.J = (low == 0) & (high == 0), high == 1, (low == 0) & (high > 1)
        self.corner = low > 1
        self.duals = np.arange(ends[1], ends[3])
        self.equalities = np.arange(ends[1], ends[2])

    def random(self, rng, spread):
        """Values of an indefinite matrix, whose sizes are spread over as many decades on both sides of 1."""
        size = self.seen.values.size
        values = rng.normal(size=size) * 10.0 ** rng.uniform(-spread, spread, size)
        fixed = ~(self.W | self.S | self.J)
        values[fixed] = self.seen.values[fixed]
        values[self.S] = np.abs(values[self.S])
        values[self.corner] = -rng.choice([0.0, 1e-8])
        return values

    def of(self, values):
        return dense(self.seen._replace(values=values))


def agrees(K, negative):
    """Whether a result of the library is right for this matrix."""
    exact = inertia(K)
    return exact.rank_deficient if negative == SINGULAR else exact.least <= negative <= exact.most


@mostly_slow("name", PROBLEMS, ("two phases", "dependent rows"))
@pytest.mark.slow
def test_matrices_of_any_values(library, name, rng):
    structure = structure_of(library, name)
    with solver(library, structure.plan, structure.seen) as (direct, figures):
        singular = 0
        for k in range(12):
            values = structure.random(rng, spread=k % 4)
            K, b = structure.of(values), rng.normal(size=direct.n)
            negative = direct.factor(values)
            assert agrees(K, negative), k
            singular += negative == SINGULAR
            if negative >= 0:
                assert backward_error(K, direct.solve(b), b) < ENOUGH
        assert figures().failure == 0
        assert singular < 12


@mostly_slow("name", PROBLEMS, ("two phases", "implicit"))
def test_singular_matrices_are_told(library, name, rng):
    structure = structure_of(library, name)
    seen, duals = structure.seen, structure.equalities
    with solver(library, structure.plan, seen) as (direct, _):
        assert direct.factor(np.zeros_like(seen.values)) == SINGULAR
        for row in rng.choice(duals, 5):
            values = structure.random(rng, spread=1)
            values[(seen.rows == row) | (seen.columns == row)] = 0.0
            assert direct.factor(values) == SINGULAR
        values = structure.random(rng, spread=1)
        values[structure.W] = 0.0  # too few rows determine x
        assert agrees(structure.of(values), direct.factor(values))
        for _ in range(5):  # two rows that are the same on the entries that both have
            values = structure.random(rng, spread=1)
            K = structure.of(values)
            one = rng.choice(duals)
            common = np.abs(K[duals][:, : structure.plan.nx_free]) > 0
            alike = [r for r in np.flatnonzero(common @ common[one - duals[0]]) if duals[r] != one]
            other = duals[rng.choice(alike)] if alike else one
            for row in (one, other):
                mine = structure.J & ((seen.rows == row) | (seen.columns == row))
                x = np.minimum(seen.rows, seen.columns)[mine]
                both = common[one - duals[0]] & common[other - duals[0]]
                values[mine] = np.where(both[x], np.sin(1.0 + x), 0.0)
            values[structure.corner] = 0.0
            assert agrees(structure.of(values), direct.factor(values))
        values = structure.random(rng, spread=1)
        b = rng.normal(size=direct.n)
        if direct.factor(values) >= 0:  # nothing of the failures is left
            assert backward_error(structure.of(values), direct.solve(b), b) < ENOUGH


@mostly_slow("name", PROBLEMS, ("two phases",))
def test_flat_directions_count_as_negative_eigenvalues(library, name, rng):
    """A matrix without curvature along a direction of variables is one that is to be made convex, whatever the sign of
    the pivot that rounding leaves; the direction is one variable, or the difference of two with the same entries."""
    structure = structure_of(library, name)
    seen, duals, checked = structure.seen, structure.plan.primal, 0
    with solver(library, structure.plan, seen) as (direct, _):
        for k in range(8):
            values = structure.random(rng, spread=1)
            K = structure.of(values)
            x = int(rng.integers(structure.plan.nx_free))
            alike = [z for z in range(structure.plan.nx_free) if z != x and np.array_equal(K[z] != 0, K[x] != 0)]
            y = alike[0] if k % 2 and alike else x
            for i, (a, b) in enumerate(zip(seen.rows, seen.columns, strict=True)):
                if a in (x, y) or b in (x, y):
                    other = b if a in (x, y) else a
                    values[i] = 0.0 if x == y else 0.7 if other in (x, y) else np.sin(1.0 + other)
            exact = inertia(structure.of(values))
            if exact.most == exact.least + 1 and exact.least >= direct.n - duals:  # else rows depend on each other, too
                assert direct.factor(values) == exact.most
                checked += 1
    assert checked


def test_numbers_that_are_not_finite_are_told(library, rng):
    structure = structure_of(library, "hopper")
    for kind in ("W", "S", "J", "corner"):
        with solver(library, structure.plan, structure.seen) as (direct, figures):
            values = structure.random(rng, spread=0)
            assert direct.factor(values) >= 0
            for bad in (np.nan, np.inf, -np.inf):
                wrong = values.copy()
                wrong[rng.choice(np.flatnonzero(getattr(structure, kind)))] = bad
                assert direct.factor(wrong) < 0
            assert FAILURES[figures().failure] == "numbers of the matrix are not finite"


def test_another_structure_is_told(library):
    structure = structure_of(library, "hopper")
    seen, plan = structure.seen, structure.plan
    branch = plan.thread[plan.front[: plan.nx_free]]
    ends = [int(np.flatnonzero(branch == side)[0]) for side in (0, 1)]  # entries that no row couples
    far = seen._replace(rows=np.append(seen.rows, max(ends)), columns=np.append(seen.columns, min(ends)))
    for wrong in (far, seen._replace(n=seen.n + 1), seen._replace(rows=seen.rows + 1)):
        with solver(library, plan, wrong) as (direct, figures):
            assert direct.analysis < 0
            assert FAILURES[figures().failure] == "the matrix is not of the planned structure"
    with solver(library, plan, seen) as (direct, figures):
        assert (direct.analysis, figures().failure) == (0, 0)


def test_plans_that_make_no_sense_are_refused(library):
    """Beyond these checks the library would write outside its memory, or one thread would wait for no other."""
    plan = LdlPlan(*(np.array(a, np.int32) for a in ([0, 0, 1, 2], [2, 3, 0, 0], [0, 0, -1, -1], [1, 2, -1],
                     [0, 0, -1])),
                     2, 0, 2, 0, 1, np.zeros(3), np.zeros(3))  # fmt: skip
    wrong = {
        "front": [{"parent": [0, 2, -1]}, {"parent": [3, 2, -1]}],
        "thread": [{"thread": thread} for thread in ([-2, 0, -1], [3, 0, -1], [-1, 0, -1], [0, 1, -1])],
        "role": [{"role": [role, 3, 0, 0]} for role in (-1, 4)],
        "tile": [{"role": [0, role, 0, 0], "tile": [-1, tile, -1, -1]} for role, tile in ((2, -1), (3, -1), (2, 4))],
    }
    with library.planned(plan):
        pass
    for kind, changes in wrong.items():
        for change in changes:
            bad = replace(plan, **{name: np.array(value, np.int32) for name, value in change.items()})
            with pytest.raises(RuntimeError, match="refuses the plan"), library.planned(bad):
                pytest.fail(kind)
