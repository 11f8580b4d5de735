"""Warm starts: the central iterate, its path, the fall back to a fresh start, files."""

from dataclasses import replace

import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.ocp.solvers import warm_start
from ocp_dyn.ocp.solvers.interface import Iterate
from ocp_dyn.ocp.workflows.attempt import prepare, starting_point
from ocp_dyn.problems.small import hopper
from tests.helpers import close

QUIET = {"progress": False, "linear_solver": "mumps"}


@pytest.fixture(scope="module")
def problem():
    return hopper.problem()


@pytest.fixture(scope="module")
def first(problem):
    return problem.solve(**QUIET)


def start_of(problem, solution, **values):
    t, program = prepare(problem)
    return program, starting_point(t, None, solution, values)


def test_a_solution_keeps_an_iterate_near_the_central_path(problem, first):
    """Products of distances and multipliers are near LEVEL, rows and the gradient of the Lagrangian nearly zero."""
    program, start = start_of(problem, first)
    g = program.evaluator.constraints(start.central.x, start.p).copy()
    products = warm_start.products(program, start, start.central, g)
    assert warm_start.BAND[0] < products.mean() < warm_start.BAND[1]
    assert np.mean(np.abs(np.log2(products / products.mean()))) < 2
    assert np.abs(first.central["x"] - first.iterate["x"]).max() > 1e-4
    assert warm_start.violation(program, g) < 1e-2


@pytest.mark.slow
def test_a_neighbor_takes_few_iterations(problem, first):
    """From the central iterate, also through a chain of neighbors; the optimum is that of a cold run."""
    near = problem.solve(start=first, values={"speed": 1.1}, **QUIET)
    assert near.converged
    assert near.stats["iterations"] <= 8 < first.stats["iterations"] / 2
    assert near.stats["warm_start"] == f"from the barrier 2e-03: {near.stats['iterations']} iterations"
    assert first.stats["warm_start"] == ""
    far = problem.solve(start=near, values={"speed": 1.2}, **QUIET)
    assert far.stats["iterations"] <= 8
    cold = problem.solve(values={"speed": 1.2}, **QUIET)
    assert far.objective == pytest.approx(cold.objective, rel=1e-6)  # of IPOPT's tolerance
    assert far.stats["warm_start"].startswith("from the barrier 2e-03")  # LEVEL: the central iterate was carried on
    same = problem.solve(start=first, **QUIET)
    assert same.stats["warm_start"] == "from the barrier 1e-06: 0 iterations"


def test_the_path_and_files_hold_the_central_iterate(problem, first, tmp_path):
    path = first.save(tmp_path / "hop.npz")
    loaded = ocp.Solution.load(path)
    for key, value in first.central.items():
        close(loaded.central[key], value, 0)
    arrays = dict(np.load(path))
    np.savez(tmp_path / "old.npz", **{key: x for key, x in arrays.items() if not key.startswith("central_")})
    old = ocp.Solution.load(tmp_path / "old.npz", verify=False)
    assert old.central == {}
    found = problem.solve(start=old, values={"speed": 1.02}, **QUIET)  # from the solution itself
    assert found.converged
    np.savez(tmp_path / "bad.npz", **arrays | {"central_lam_x": np.zeros(3)})
    with pytest.raises(ValueError, match="'central_lam_x' has the shape"):
        ocp.Solution.load(tmp_path / "bad.npz", verify=False)
    del arrays["central_x"]
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(ValueError, match="central"):
        ocp.Solution.load(tmp_path / "bad.npz", verify=False)


def test_a_warm_start_that_goes_badly_begins_anew(problem, first, monkeypatch, capsys):
    """Without multipliers and with the barrier of a cold start; iterations count in all, and the maximum holds."""
    for name in ("LONGEST", "LAST"):
        monkeypatch.setattr(warm_start, name, 3)
    found = problem.solve(start=first, values={"speed": 1.4}, **QUIET | {"progress": True})
    assert found.converged
    told = "from the barrier 2e-03: given up after 3 iterations, then begun anew without multipliers"
    assert found.stats["warm_start"] == told
    assert told in capsys.readouterr().err
    assert found.stats["iterations"] > 10
    assert found.central
    short = problem.solve(start=first, values={"speed": 1.4}, max_iterations=5, **QUIET)
    assert short.stats["iterations"] == 5
    assert not short.converged
    short = problem.solve(start=first, values={"speed": 1.4}, max_iterations=3, **QUIET)
    assert short.status == "Maximum_Iterations_Exceeded"
    assert short.stats["warm_start"] == "from the barrier 2e-03: given up after 3 iterations"


@pytest.mark.slow
def test_options_of_the_user_come_first(problem, first, capfd):
    """IPOPT's own table shows the barrier from which it begins; words and iterations agree with it."""

    def barriers(**options):
        found = problem.solve(start=first, values={"speed": 1.1}, print_level=5, **QUIET, **options)
        lines = [line.split() for line in capfd.readouterr().out.splitlines()]
        shown = [float(words[4]) for words in lines if len(words) == 10 and words[0].isdigit()]
        assert found.converged
        assert len(shown) == found.stats["iterations"] + 1
        return shown, found.stats["warm_start"].rpartition(": ")[0]

    table, told = barriers(mu_init=0.1)
    assert (table[:3], told) == ([-1.0] * 3, "from the barrier 0.1 of the option mu_init")
    assert table == sorted(table, reverse=True)
    table, told = barriers(mu_strategy="monotone", mu_init=1e-5, warm_start_bound_push=1e-3)
    assert (table[0], told) == (-5.0, "from the barrier 1e-05 of the option mu_init")
    table, told = barriers(mu_strategy="monotone")
    assert (table[0], told) == (-2.7, "from the barrier 2e-03, lowered monotonically")
    free, told = barriers()
    assert told == "from the barrier 2e-03"
    adaptive, told = barriers(mu_strategy="adaptive", mu_init=0.1)
    assert (adaptive, told) == (free, "from the barrier 2e-03 (IPOPT ignores mu_init with mu_strategy='adaptive')")
    table, told = barriers(warm_start_init_point="no")
    assert table[0] == -1.9  # of a cold start: a share of the cost over the number of bounds
    assert told == ""  # and no count of iterations


@pytest.mark.slow
def test_only_steps_without_line_search_are_watched(problem, first, monkeypatch):
    for name in ("LONGEST", "LAST"):
        monkeypatch.setattr(warm_start, name, 3)
    asked = {"start": first, "values": {"speed": 1.4}} | QUIET
    for options in ({"mu_init": 1e-2}, {"accept_every_trial_step": "no"}):
        found = problem.solve(**asked, **options)
        assert found.stats["warm_start"].endswith(f": {found.stats['iterations']} iterations")
    refused = problem.solve(**asked, warm_start_init_point="no")
    assert refused.stats["warm_start"] == "without multipliers, as warm_start_init_point='no' asks for"
    assert refused.converged
    short = problem.solve(**asked, max_iter=5)  # of both runs together
    assert (short.stats["iterations"], short.converged) == (5, False)


def violations(path, values):
    """The violation that ends a run."""
    path._violations = []
    for k, value in enumerate(values):
        path._violations.append(value)
        if path._goes_badly():
            return k
    return None


def test_signs_that_a_warm_start_goes_badly(problem, first):
    program, start = start_of(problem, first)
    path = warm_start.CentralPath(program, start)
    assert violations(path, [0.1 * 0.5**k for k in range(20)]) is None
    assert violations(path, [1e-6] * 20) is None  # feasible all the time
    assert violations(path, [1e-6] * 60) == warm_start.LAST
    assert violations(path, [2e-4] * 60) == warm_start.LONGEST
    assert violations(path, [0.1] * 20) == warm_start.PATIENCE
    assert violations(path, [0.1, 0.2, 101.0]) == 2
    assert violations(path, [1e-6, 0.9, 1.1]) == 2
    assert violations(path, [0.1, np.nan]) == 1
    cold = warm_start.CentralPath(program, start.without_multipliers())
    assert not any(cold.see(start.x, program.row_lower * 0 + 1e3, start.lam_x, start.lam_g) for _ in range(40))


def test_products_and_centered_values():
    """Gap times multiplier is the level; far from the path the larger of both stays."""
    scales = warm_start.LEVEL, warm_start.STIFFNESS
    lower, upper = np.array([0.0, 0.0, -np.inf, 1.0, -np.inf]), np.array([1.0, np.inf, 2.0, 1.0, np.inf])
    value, lam = np.array([0.3, 1e-9, 2.1, 1.0, 5.0]), np.array([0.0, -4.0, 0.0, 7.0, 0.5])
    x, m = warm_start._centered(value, lower, upper, lam, *scales)
    close(x[0], 0.3, 2e-3)
    close(m[1], -4.0, 2e-2)
    assert x[2] < 2.0 < 2.0 + m[2]
    close([x[3], m[3], x[4], m[4]], [1.0, 7.0, 5.0, 0.5], 0)
    gap = np.array([x[0], x[1], 2.0 - x[2]])
    close(gap * np.abs(m[:3]), [warm_start.LEVEL] * 3, 1e-12)
    narrow, _ = warm_start._centered(np.array([0.5]), np.zeros(1), np.array([1e-3]), np.zeros(1), *scales)
    close(narrow, 5e-4, 1e-12)


def test_a_start_near_a_solution_is_kept(problem, first):
    """A small change begins at the solution, a larger one at the central iterate; nothing is chosen without one."""
    program, start = start_of(problem, first)
    assert warm_start.begin(program, start) is start
    _, moved = start_of(problem, first, speed=1.5)
    assert warm_start.begin(program, moved).x is moved.central.x
    alone = replace(moved, central=None)
    assert warm_start.begin(program, alone) is alone
    steep = replace(start, lam_x=start.lam_x + 2.0)
    assert warm_start.begin(program, steep).x is start.central.x
    found = Iterate(start.x + 0.01, start.lam_x, start.lam_g)
    assert warm_start.carried(program, alone, found) is None
    x, _, _ = warm_start.carried(program, start, found)
    far = np.minimum(x - start.lower, start.upper - x) > 0.5  # of bounds
    assert np.count_nonzero(far) > 20
    close(x[far], start.central.x[far] + 0.01, 2e-3)
    options = warm_start.warm_start(program, start, {"mu_init": 2e-3}).options
    assert options["mu_init"] == 2e-3
    assert options["warm_start_bound_push"] == options["warm_start_slack_bound_frac"] == 8e-5
    options = warm_start.warm_start(program, start, {"mu_init": 1e-6}).options
    assert options["warm_start_bound_push"] == 1e-8
    assert warm_start.warm_start(program, start, {"mu_init": 100.0}).options["warm_start_bound_frac"] == 0.5


def test_multipliers_of_any_size_are_a_start(problem, first):
    """IPOPT refuses pushes above 0.5: the first barrier has an upper bound."""
    huge = {"x": first.iterate["x"]} | {key: 1e12 * first.iterate[key] for key in ("lam_x", "lam_g")}
    _, start = start_of(problem, replace(first, iterate=huge, central={}))
    barrier = warm_start.first_barrier(start_of(problem, first)[0], start)
    assert barrier == warm_start.GREATEST_BARRIER
    options = warm_start.warm_start(start_of(problem, first)[0], start, {}).options
    assert max(options[name] for name in warm_start.PUSHES) <= 0.5
    near = problem.solve(start=replace(first, iterate=huge, central={}), **QUIET)
    assert near.converged
    assert near.objective == pytest.approx(first.objective, rel=1e-6)
