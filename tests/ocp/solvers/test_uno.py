"""Uno: the optimum of IPOPT with our derivatives, its options, stops, and ends without a solution."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.nlp.assembled import Stopped
from ocp_dyn.ocp.solvers.monitor import Monitor
from ocp_dyn.ocp.solvers.nlpsol import Failed
from ocp_dyn.ocp.solvers.plugins import uno, uno_options
from ocp_dyn.ocp.solvers.plugins.free_program import FreeProgram
from ocp_dyn.ocp.workflows.solve import prepare, starting_point
from tests.helpers import close

pytestmark = pytest.mark.skipif(not ca.has_nlpsol("uno"), reason="this installation of CasADi has no Uno")
INTERIOR_POINT, ACTIVE_SET = "ipopt", "filtersqp"


def swing(goal=2.0, effort=3.0, *more, objective=None):
    """A pendulum from rest to rest, in a given time; the torque's limit is active, the duration a fixed variable."""
    builder = od.ModelBuilder("pendulum")
    builder.add_body("rod", od.Revolute("y"), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1), effort=effort)
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - goal, e.qd, *(rows(e) for rows in more)), 0, 0))
    phase = ocp.Phase("swing", 8, 1.5, objective=objective or ocp.TorqueSquared())
    return ocp.Problem(builder.build(), phase, boundary=ends)


@pytest.fixture(scope="module")
def exact():
    problem = swing()
    return problem, problem.solve(progress=False, tolerance=1e-9)


@pytest.mark.parametrize("preset", uno_options.PRESETS)
def test_every_preset_finds_the_optimum_and_its_multipliers(exact, preset):
    problem, other = exact
    tolerance = 1e-6 if preset == "filterslp" else 1e-9  # linear programs give it no second derivatives
    found = problem.solve(solver="uno", preset=preset, progress=False, tolerance=tolerance)
    assert found.status == "Solve_Succeeded"
    assert found.stats["solver"] == "uno"
    assert 0 < found.stats["iterations"] < 100
    assert np.max(np.abs(other.iterate["lam_x"])) > 0.1  # a bound is active
    for name in ("x", "lam_x", "lam_g"):
        close(found.iterate[name], other.iterate[name], 1e-4)
    again = problem.solve(solver="uno", preset=preset, start=found, progress=False)
    assert again.converged
    assert again.stats["iterations"] <= (15 if preset == "filterslp" else 5)


def test_the_interior_point_is_the_default_and_keeps_few_iterations(exact):
    problem, _ = exact
    plain = problem.solve(solver="uno", progress=False)
    named = problem.solve(solver="uno", preset=INTERIOR_POINT, progress=False)
    assert plain.stats["iterations"] == named.stats["iterations"]
    loose = problem.solve(solver="uno", progress=False, tolerance=1e-2)
    assert loose.stats["iterations"] < plain.stats["iterations"]  # the tolerance is handed on


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "filtrsqp"}, "preset of the solver 'uno' is one of 'ipopt', .* got 'filtrsqp': did you mean 'filt"),
        ({"preset": 3}, "got 3"),
        ({"max_iter": 3}, "the solver 'uno' has no option 'max_iter': did you mean 'max_iterations'"),
        ({"TR_radius": "wide"}, "needs a number for its option TR_radius, got 'wide'"),
        ({"filter_capacity": 2.5}, "needs a whole number for its option filter_capacity, got 2.5"),
        ({"print_solution": 1}, "needs True or False for its option print_solution, got 1"),
        ({"logger": "LOUD"}, "logger of the solver 'uno' is one of 'SILENT', .* got 'LOUD'"),
        ({"linear_solver": "MA99"}, "cannot run with the options .*'MUMPS' is always available"),
    ],
)
def test_options_are_checked_before_anything_is_built(options, message):
    with pytest.raises(ValueError, match=message):
        uno_options.check_uno_options(options)


def test_options_reach_uno(exact):
    problem, _ = exact
    radius = {"preset": ACTIVE_SET, "TR_radius": 1}  # a whole number for a float
    short = problem.solve(solver="uno", progress=False, **radius)
    assert (
        short.stats["iterations"] > problem.solve(solver="uno", progress=False, preset=ACTIVE_SET).stats["iterations"]
    )
    assert uno_options.typed({"TR_radius": 1, "filter_capacity": 3}) == {"TR_radius": 1.0, "filter_capacity": 3}
    few = problem.solve(solver="uno", progress=False, max_iterations=2)
    assert (few.status, few.stats["iterations"]) == ("Maximum_Iterations_Exceeded", 2)
    late = problem.solve(solver="uno", progress=False, time_limit=1e-9)
    assert late.status == "Maximum_CpuTime_Exceeded"


def test_without_its_library_options_are_not_refused(monkeypatch):
    monkeypatch.setattr(uno_options, "_library", lambda: None)
    uno_options.check_uno_options({"preset": ACTIVE_SET, "TR_radius": 2.0})


@pytest.mark.parametrize("preset", [INTERIOR_POINT, ACTIVE_SET])
def test_a_stop_keeps_the_best_iterate(exact, preset, monkeypatch):
    problem, _ = exact
    see = Monitor.see

    def stopping(self, *iterate):
        self.stop = self.iteration == 2
        return see(self, *iterate)

    monkeypatch.setattr(Monitor, "see", stopping)
    found = problem.solve(solver="uno", preset=preset, progress=False)
    assert found.status == "Interrupted"
    assert found.stats["iterations"] == 3
    assert np.all(np.isfinite(found.tau))


def test_a_stop_ends_evaluations_also_between_iterates(exact):
    problem, _ = exact
    t, program = prepare(problem)
    start, stopped = starting_point(t, None, None, {}), []
    over = FreeProgram(program, start, lambda: bool(stopped))
    z = [start.x[over.free], start.p, np.ones(1), np.ones(program.row_lower.size), None, np.ones(over.free.size)]
    along, slope = over._along(z), over._slope(z[:4])
    stopped.append(True)
    for compute in (over._f, over._g, over._gradient, over._slopes, over._curvature, over._along):
        with pytest.raises(Stopped):
            compute(z[:2] if compute in (over._f, over._g) else z)
    close(over._slope(z[:4]), slope, 1e-12)  # the result is evaluated after the stop
    assert along.shape == slope.shape


def test_derivatives_by_free_variables_are_those_of_the_program(exact):
    problem, _ = exact
    t, program = prepare(problem)
    start, rng = starting_point(t, None, None, {}), np.random.default_rng(0)
    over = FreeProgram(program, start, lambda: False)
    assert over.free.size < program.n
    z, lam = rng.normal(size=over.free.size), rng.normal(size=program.row_lower.size)
    x, e = over.entries(z), program.evaluator
    close(x[over.free], z, 0.0)
    jacobian = np.array(ca.DM(e.jacobian_pattern, e.jacobian(x, start.p)))[:, over.free]
    half = np.array(ca.DM(e.hessian_pattern, e.hessian(x, start.p, 0.7, lam)))
    hessian = (half + half.T - np.diag(np.diag(half)))[np.ix_(over.free, over.free)]
    point, weights = [z, start.p], [np.array([0.7]), lam]
    close(np.array(over.functions["nlp_jac_g"](*point)), jacobian, 1e-12)
    close(np.array(over.functions["nlp_grad_l"](*point, *weights)).ravel(),
          0.7 * e.gradient(x, start.p)[over.free] + jacobian.T @ lam, 1e-12)  # fmt: skip
    close(np.array(ca.triu2symm(over.functions["nlp_hess_l"](*point, *weights))), hessian, 1e-12)
    for _ in range(2):  # the second direction uses the Hessian of the first
        direction = rng.normal(size=z.size)
        close(over._along([*point, *weights, None, direction]), hessian @ direction, 1e-10)
    close(over._along([*point, weights[0], 2 * lam, None, direction]), over._along(
        [*point, weights[0], 2 * lam, None, direction]), 0.0)  # fmt: skip
    assert not np.allclose(over._along([*point, weights[0], 2 * lam, None, direction]), hessian @ direction)


def test_ends_without_a_solution_have_a_name():
    twice = swing(2.0, 3.0, lambda end: end.q - 1.0)
    for preset in (INTERIOR_POINT, ACTIVE_SET):
        found = twice.solve(solver="uno", preset=preset, progress=False, early_verdict=False)
        assert not found.converged
        assert found.status in {"Infeasible_Problem_Detected", "Error_In_Step_Computation"}
        assert found.stats["infeasibility"] > 1e-3
        assert np.all(np.isfinite(found.q))
    root = ocp.Integral(lambda instant: ca.sqrt(-1.0 - instant.q[0] ** 2))
    found = swing(objective=root).solve(solver="uno", progress=False, early_verdict=False)
    assert (found.status, found.stats["iterations"]) == ("Invalid_Number_Detected", 0)
    for stats, status in {("Terminated with feasible small step", "SOLVER_RET_LIMITED"): "Search_Direction_Becomes_Too_Small",
                          ("Terminated with not optimal point", "SOLVER_RET_UNKNOWN"): "Terminated with not optimal point",
                          ("Terminated with not optimal point", "SOLVER_RET_EXCEPTION"): "Error_In_Step_Computation"}.items():  # fmt: skip
        assert uno._status(9, dict(zip(("return_status", "unified_return_status"), stats, strict=True))) == status


def test_an_exception_before_the_first_iterate_leaves_the_start(exact, monkeypatch):
    problem, other = exact

    def fail(*arguments):
        raise Failed("an exception was raised in the solver")

    monkeypatch.setattr(uno, "run_nlpsol", fail)
    found = problem.solve(solver="uno", guess=other, progress=False, early_verdict=False)
    assert (found.status, found.stats["iterations"]) == ("Error_In_Step_Computation", 0)
    close(found.q, other.q, 1e-6)


def test_the_interior_point_counts_eigenvalues_by_spral_where_it_runs(monkeypatch):
    assert "linear_solver" not in uno_options.default_options(ACTIVE_SET)
    for runs in (True, False):
        monkeypatch.setattr(uno_options, "_spral_runs", lambda found=runs: found)
        assert ("linear_solver" in uno_options.default_options(INTERIOR_POINT)) == runs
    assert uno_options.runs_with({"linear_solver": "MUMPS"})
