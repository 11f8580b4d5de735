"""The linear solver of IPOPT: which one is chosen, what is told of it, and how MUMPS goes on where the block LDL solver
fails."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.native.libraries import BLOCK_LDL, WATCH
from ocp_dyn.native.library import MAKING, NO_COMPILER, LibrarySearch
from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.ocp.solvers import ipopt, monitor
from ocp_dyn.ocp.solvers.block_ldl import choice, library
from ocp_dyn.ocp.solvers.block_ldl.plan import ldl_plan
from ocp_dyn.ocp.solvers.interface import SolverSettings
from ocp_dyn.ocp.workflows.attempt import prepare, starting_point

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


@pytest.fixture(scope="module", autouse=True)
def made():
    """The library, compiled if the cache has it not."""
    found, reason = library.obtain(wait=True)
    assert found is not None, reason
    return found


def swing(goal=0.4, links=2, **options):
    """A pendulum from rest to rest."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - e.values["to"], e.qd), 0, 0))
    phase = ocp.Phase("swing", 6, 0.6, objective=ocp.TorqueSquared())
    to = ocp.Parameter("to", np.full(links, goal))
    return ocp.Problem(pendulum(links), phase, boundary=ends, parameters=to, **options)


@pytest.mark.slow
def test_the_solution_tells_its_linear_solver(capsys):
    problem = swing()
    chain, mumps = problem.solve(), problem.solve(linear_solver="mumps")
    assert (chain.stats["linear_solver"], chain.stats["linear_solver_reason"]) == ("block_ldl", "")
    assert (mumps.stats["linear_solver"], mumps.stats["linear_solver_figures"]) == ("mumps", {})
    assert mumps.stats["linear_solver_reason"] == "linear_solver='mumps' asks for it"
    lines = capsys.readouterr().err
    assert f"evaluating by {chain.stats['evaluation']}\n" in lines
    assert "linear solver: block_ldl\n" in lines
    assert "linear solver: mumps (linear_solver='mumps' asks for it)\n" in lines
    assert chain.objective == pytest.approx(mumps.objective, rel=1e-10)
    assert abs(chain.stats["iterations"] - mumps.stats["iterations"]) <= 2
    figures = chain.stats["linear_solver_figures"]
    assert figures["factorizations"] >= chain.stats["iterations"]
    assert 0 < figures["worst_residual"] < 1e-8
    assert figures["threads"] == 1
    assert problem.solve(progress=False, threads=1).stats["linear_solver_figures"]["threads"] == 1
    assert problem.solve(progress=False, solver="sqp").stats["linear_solver"] == ""
    asked = problem.solve(progress=False, linear_solver="block_ldl", min_refinement_steps=1, values={"to": [0.3, 0.2]})
    assert asked.stats["linear_solver"] == "block_ldl"
    assert asked.converged
    stated = swing(options={"linear_solver": "mumps", "mu_init": 0.5})
    for start in (None, chain):
        assert stated.solve(progress=False, start=start).stats["linear_solver"] == "mumps"
        assert stated.solve(progress=False, start=start, linear_solver="auto").stats["linear_solver"] == "block_ldl"
    assert stated.solve(progress=False, start=chain).stats["iterations"] < 4  # mu_init is of a start from the guess
    assert stated.solve(progress=False, solver="sqp").converged  # which has no such options


def test_names_and_options_that_do_not_fit():
    problem = swing()
    with pytest.raises(
        ValueError, match="no linear solver 'blok_ldl': use 'mumps' or 'block_ldl': did you mean 'block_ldl'"
    ):
        problem.solve(linear_solver="blok_ldl", progress=False)
    with pytest.raises(ValueError, match=r"no linear solver 'chain': .*: 'chain' has this name now"):
        problem.solve(linear_solver="chain", progress=False)
    with pytest.raises(
        TypeError, match="linear_solver must be the name of a linear solver, such as 'block_ldl', got 3"
    ):
        problem.solve(linear_solver=3, progress=False)
    with pytest.raises(ValueError, match="linear_solver='ma57' may need a library"):
        problem.solve(linear_solver="ma57", progress=False)
    with pytest.raises(ValueError, match="No such IPOPT option: tolerence: did you mean 'tolerance'"):
        problem.solve(linear_solver="auto", tolerence=1.0, progress=False)
    for options, reason in (
        ({"fixed_variable_treatment": "relax_bounds"}, "='relax_bounds' changes IPOPT's matrix"),
        ({"hsllib": "libhsl.so"}, "='libhsl.so' names another library"),
        ({"mumps_pivtol": 1e-4}, " is one of MUMPS"),
    ):
        (name,) = options
        found = problem.solve(progress=False, **options)
        assert found.converged
        assert found.stats["linear_solver"] == "mumps"
        assert found.stats["linear_solver_reason"] == f"the option {name}{reason}"
        with pytest.raises(ValueError, match=f"linear_solver='block_ldl' does not fit: the option {name}"):
            problem.solve(progress=False, linear_solver="block_ldl", **options)
    scaled = problem.solve(progress=False, linear_system_scaling="slack-based", linear_solver="block_ldl")
    assert scaled.converged


def test_without_its_library(tmp_path, monkeypatch):
    """MUMPS, with the reason; an error where it is asked for."""
    problem = swing()
    monkeypatch.setattr(BLOCK_LDL, "loaded", {})
    monkeypatch.setattr(LibrarySearch, "_prebuilt", lambda self: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiles = threading.Event()

    def never(self, compiler, place, key):
        compiles.wait(60)
        raise RuntimeError("out of paper")

    monkeypatch.setattr(LibrarySearch, "_compiled", never)
    found = problem.solve(progress=False)
    assert found.converged
    assert found.stats["linear_solver"] == "mumps"
    assert found.stats["linear_solver_reason"] == f"the native library block_ldl {MAKING}"
    compiles.set()
    with pytest.raises(
        RuntimeError, match=r"linear_solver='block_ldl' cannot be used: the native .* made: out of paper"
    ):
        problem.solve(progress=False, linear_solver="block_ldl")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    reason = f"the native library block_ldl {NO_COMPILER}"
    assert problem.solve(progress=False).stats["linear_solver_reason"] == reason
    with pytest.raises(RuntimeError, match="cannot be used: the native library block_ldl is missing"):
        problem.solve(progress=False, linear_solver="block_ldl")


def test_the_search_begins_before_the_program_is_built(monkeypatch):
    begun = []
    monkeypatch.setattr(BLOCK_LDL, "request", lambda wait: begun.append(wait))
    for options in ({}, {"linear_solver": "block_ldl"}, {"linear_solver": "mumps"}, {"solver": "sqp"}):
        with pytest.raises(ValueError, match="ZeroDivisionError"):
            swing(guess=lambda s: 1 / 0).solve(progress=False, **options)
    assert begun == [False, True]  # "block_ldl" waits for it


def test_programs_that_no_plan_fits(monkeypatch):
    def refuse(*arguments):
        raise ValueError("no rows lead from one state to the next")

    problem = swing()
    monkeypatch.setattr(choice, "ldl_plan", refuse)
    found = problem.solve(progress=False)
    assert found.converged
    assert found.stats["linear_solver_reason"] == "no rows lead from one state to the next"
    with pytest.raises(ValueError, match="linear_solver='block_ldl' does not fit: no rows lead"):
        problem.solve(progress=False, linear_solver="block_ldl")
    monkeypatch.setattr(choice, "ldl_plan", lambda *a: [].pop())
    reason = swing().solve(progress=False).stats["linear_solver_reason"]
    assert reason == "its structure could not be read: IndexError: pop from empty list"
    fixed = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, s.q, s.qd, e.q, e.qd, e.q + e.qd), 0, 0), name="fixed")
    few = ocp.Problem(pendulum(1), ocp.Phase("rest", 2, 0.6), boundary=fixed)
    reason = few.solve(progress=False, max_iterations=20).stats["linear_solver_reason"]
    assert reason.endswith("free variables, so IPOPT relaxes bounds")


def test_a_plan_is_made_once_for_every_set_of_fixed_variables(monkeypatch):
    made = []
    monkeypatch.setattr(choice, "ldl_plan", lambda *a: made.append(a) or ldl_plan(*a))
    problem = swing()
    for goal in (0.3, 0.4):
        problem.solve(progress=False, values={"to": [goal, goal]})
    assert len(made) == 1
    t, program = prepare(problem)
    start, settings = starting_point(t, None, None, {}), SolverSettings(1e-6, 100, {})
    free = choice.choose(program, start, settings).plan
    assert len(made) == 1
    last = np.arange(program.n) == np.flatnonzero(start.lower < start.upper)[-1]
    held = replace(start, lower=np.where(last, 0.0, start.lower), upper=np.where(last, 0.0, start.upper))
    assert choice.choose(program, held, settings).plan.nx_free == free.nx_free - 1
    assert len(made) == 2

    class Forgetful(dict[bytes, object]):
        """State that is kept while other threads solve the same program from other starts."""

        def __setitem__(self, key, value):
            pass

    choice._plans[program] = Forgetful()
    assert choice.choose(program, held, settings).plan.nx_free == free.nx_free - 1


def test_mumps_solves_what_the_plan_does_not_fit(monkeypatch, capsys):
    other = []
    monkeypatch.setattr(choice, "ldl_plan", lambda *a: other.append(ldl_plan(*a)) or other[0])
    swing(links=1).solve(progress=False)
    problem = swing()
    first = problem.solve(progress=False, linear_solver="mumps")
    runs, once = [], ipopt._run_once
    monkeypatch.setattr(ipopt, "_run_once", lambda *a: runs.append(a) or once(*a))
    found = problem.solve(start=first, values={"to": [0.45, 0.4]})
    assert found.converged
    assert runs[1][2].options["mu_strategy"] == "monotone"  # whose line search guards the steps
    told = "the block LDL solver was given up: the matrix is not of the planned structure"
    assert (found.stats["linear_solver"], found.stats["linear_solver_reason"]) == ("mumps", told)
    assert f"{told} after 0 iterations: goes on from the start" in capsys.readouterr().err
    asked = {"linear_solver": "mumps", "mu_strategy": "monotone", "progress": False}  # with line search
    warm = problem.solve(start=first, values={"to": [0.45, 0.4]}, **asked)
    assert found.stats["iterations"] == warm.stats["iterations"]  # with its multipliers
    assert found.stats["warm_start"].endswith(": 0 iterations, then gone on by mumps")
    assert (found.stats["retries"], warm.stats["retries"]) == (1, 0)


@pytest.fixture
def poison(made):
    """Puts these numbers in place of all solutions of linear equations but the first few."""
    kept = []

    def begin(value, after=4):
        def spoil(what, n, nz, irn, icn, a, negative, right, x):
            kept.append(what)
            if what == 1 and kept.count(1) > after:
                np.ctypeslib.as_array(x, (n,))[:] = value

        kept.append(WATCH(spoil))
        made._c.block_ldl_watch(kept[-1])

    yield begin
    made._c.block_ldl_watch(WATCH())


def test_mumps_goes_on_after_wrong_solutions(poison, monkeypatch, capfd):
    problem, started = swing(), []
    expected = problem.solve(progress=False, linear_solver="mumps")
    once = ipopt._run_once
    monkeypatch.setattr(ipopt, "_run_once", lambda *a: started.append(a) or once(*a))
    poison(np.nan)
    found = problem.solve()
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    assert found.stats["linear_solver"] == "mumps"
    assert found.stats["linear_solver_reason"] == "the block LDL solver ended with Restoration_Failed"
    assert found.stats["retries"] == 1
    assert found.stats["linear_solver_figures"]["factorizations"] > 0
    (_, first, _, _), (_, start, settings, seen) = started
    assert np.any(start.x != first.x)
    assert settings.options["linear_solver"] == "mumps"
    assert settings.max_iterations < 500
    assert found.stats["iterations"] == seen.iteration - 2  # both runs begin at their iterate 0
    assert "goes on from the best iterate with a fresh barrier" in capfd.readouterr().err


@pytest.mark.slow
def test_errors_of_ipopt_are_tried_by_mumps(monkeypatch):
    """Errors, and failures that the library counts; not the model's own numbers, and no verdict of IPOPT."""
    once = ipopt._run_once
    ended = {}

    def end(program, start, settings, seen):
        found = once(program, start, settings, seen)
        by_chain = settings.options["linear_solver"] == "ma27"
        return replace(found, converged=False, status=ended["status"]) if by_chain else found

    monkeypatch.setattr(ipopt, "_run_once", end)
    for status, by in {"Internal_Error": "mumps", "Search_Direction_Becomes_Too_Small": "mumps",
                       "Infeasible_Problem_Detected": "block_ldl",
                       "Maximum_Iterations_Exceeded": "block_ldl"}.items():  # fmt: skip
        ended["status"] = status
        found = swing().solve(progress=False, early_verdict=False)
        assert found.stats["linear_solver"] == by, status
        assert found.converged == (by == "mumps")
        told = f"the block LDL solver was given up: IPOPT ended with {status}"
        assert found.stats["linear_solver_reason"] == (told if by == "mumps" else "")
    figures = library.BlockLDL._figures
    monkeypatch.setattr(library.BlockLDL, "_figures", lambda self, n: figures(self, n)._replace(failure=3))
    found = swing().solve(progress=False, early_verdict=False)
    assert found.converged
    assert found.stats["linear_solver_reason"].endswith("a solution of the linear equations was too inaccurate")
    assert found.stats["retries"] == 1
    monkeypatch.undo()
    norm = ocp.Integral(lambda instant: ca.sqrt(instant.q[0] ** 2 + instant.qd[0] ** 2))
    found = ocp.Problem(pendulum(1), ocp.Phase("swing", 3, 1.0, objective=norm)).solve(progress=False)
    assert (found.status, found.stats["linear_solver"]) == ("Invalid_Number_Detected", "block_ldl")


@pytest.mark.slow
def test_solves_in_each_other_and_side_by_side(monkeypatch):
    see, deep, inner = monitor.Monitor.see, threading.local(), []

    def solve_another(self, *arguments):
        stop = see(self, *arguments)
        if not getattr(deep, "busy", False) and self.iteration in (2, 4):
            deep.busy = True
            inner.append(small.solve(progress=False, linear_solver="block_ldl"))
            deep.busy = False
        return stop

    small, problem = swing(links=1), swing()
    alone = problem.solve(progress=False)
    monkeypatch.setattr(monitor.Monitor, "see", solve_another)
    found = problem.solve(progress=False)
    monkeypatch.undo()
    assert len(inner) == 2
    keys = "factorizations", "solves"
    figures = lambda solution: [solution.stats["linear_solver_figures"][key] for key in keys]
    assert figures(found) == figures(alone)
    assert found.objective == alone.objective
    problems, solved = [swing(0.3 + 0.05 * k) for k in range(3)], {}
    alone = [each.solve(progress=False) for each in problems]
    jobs = [
        threading.Thread(target=lambda k=k: solved.update({k: problems[k].solve(progress=False)})) for k in range(3)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    for k, before in enumerate(alone):
        assert (figures(solved[k]), solved[k].objective) == (figures(before), before.objective)


def test_an_interrupt_keeps_what_is_told(monkeypatch):
    see = monitor.Monitor.see

    def interrupted(self, *arguments):
        see(self, *arguments)
        if self.iteration == 3:
            signal.raise_signal(signal.SIGINT)
        return self.stop

    monkeypatch.setattr(monitor.Monitor, "see", interrupted)
    found = swing().solve(progress=False, interrupt="return")
    assert found.status == "Interrupted"
    assert found.stats["linear_solver"] == "block_ldl"
    assert found.stats["retries"] == 0
    assert found.stats["linear_solver_figures"]["factorizations"] > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 and later
@pytest.mark.slow
def test_processes_forked_while_another_thread_holds_the_lock(made):
    """Another thread searches a long list under the lock; a child that would wait for the lock ends by an alarm."""
    ended, zero, none = threading.Event(), np.zeros(1, np.int32), np.full(1, -1, np.int32)
    parts = [library._integers(part) for part in (zero, zero, zero, none, none)]
    outer = made._c.block_ldl_use(0)
    plans = [made._c.block_ldl_begin(1, 1, 1, *parts, 1) for _ in range(20_000)]
    assert min(plans) > 0

    def look():
        while not ended.is_set():
            made._figures(0)  # a plan that is not in the list

    other = threading.Thread(target=look)
    other.start()
    states = []
    while len(states) < 20 and not any(states):
        child = os.fork()
        if child == 0:
            signal.alarm(1)
            made._figures(0)
            os._exit(0)
        states.append(os.waitpid(child, 0)[1])
    ended.set()
    other.join()
    for plan in reversed(plans):
        made._c.block_ldl_end(plan)
    made._c.block_ldl_use(outer)
    assert not any(states)
