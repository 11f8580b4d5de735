"""Infeasible problems are told early, with the constraints and the bounds at fault; feasible ones never are."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.solvers.feasibility import watch
from ocp_dyn.ocp.solvers.feasibility.least_violation import (
    MET,
    LeastViolation,
    _ViolationSearch,
    certified,
    least_violation,
)
from ocp_dyn.ocp.solvers.feasibility.linear_rows import contradiction
from ocp_dyn.ocp.workflows import attempt
from tests.hopper import problem as hop

EFFORT = [ocp.TorqueSquared()]


def pendulum(effort=3.0, time=1.0, intervals=20):
    """A rod of 1 kg that shall swing up from rest to rest; gravity asks for 4.9 N m when it is level."""
    builder = od.ModelBuilder("pendulum")
    builder.add_body("rod", od.Revolute("y"), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1), effort=effort)
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - np.pi, e.qd), 0, 0), name="up")
    return ocp.Problem(builder.build(), ocp.Phase("swing", intervals, time, objective=EFFORT), boundary=ends)


def wheel(time, effort=2.0, **options):
    """A wheel from rest to rest over 1 rad, which takes sqrt(2) s at full torque."""
    builder = od.ModelBuilder("wheel")
    builder.add_body("wheel", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=effort)
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1, e.qd), 0, 0), name="rest to rest")
    return ocp.Problem(
        builder.build(), ocp.Phase("turn", 20, time, objective=EFFORT), boundary=[ends, *options.pop("more", ())],
        **options
    )  # fmt: skip


def test_linear_rows_and_bounds_that_contradict_each_other_are_told_without_a_run(capsys):
    found = wheel(0.5).solve()
    assert (found.status, found.converged) == ("Infeasible", False)
    assert (found.stats["iterations"], found.stats["proof"]) == (0, "bounds")
    verdict = found.stats["verdict"]
    for part in ("rest to rest", "torque of wheel", "2 N m) in turn", "turn: dynamics"):
        assert part in verdict
    assert verdict in capsys.readouterr().err
    assert found.stats["faults"]


def test_a_contradiction_names_only_what_takes_part():
    twice = ocp.Boundary(lambda s, e: (e.q - 2, 0, 0), name="another end")
    verdict = wheel(2.0, more=[twice]).solve(progress=False).stats["verdict"]
    assert "rest to rest" in verdict
    assert "another end" in verdict
    assert "torque" not in verdict
    assert "miss each other by 1 in all" in verdict


def test_check_tells_contradictions_too():
    (sentence,) = wheel(0.5).check()
    assert sentence.startswith("no motion satisfies the bounds of torque of wheel")
    assert wheel(2.0).check() == []


def test_bounds_that_just_hold_are_no_contradiction():
    """The least time is sqrt(2) = 1.4142 s, and bang-bang control is exact on a grid of 20 intervals."""
    assert wheel(1.415).solve(progress=False).converged
    assert wheel(1.413).solve(progress=False).stats["proof"] == "bounds"


def program_of(problem):
    t, program = attempt.prepare(problem)
    return program, attempt.starting_point(t, None, None, None)


def test_the_rows_of_a_contradiction_are_those_that_make_it():
    """Speed is at most 1: one rad in 0.9 s is too far, by 0.1 rad, and by what starting and stopping takes."""
    model = wheel(0.9, effort=np.inf).model.with_limits(velocity=1.0)
    program, start = program_of(ocp.Problem(model, wheel(0.9).phases, boundary=wheel(0.9).boundary))
    found = contradiction(program, start)
    names = {program.row_names[k] for k in found.rows}
    assert names == {"turn: position step", "turn: velocity step", "ends: rest to rest"}  # no torque limit, no dynamics
    assert found.gap == pytest.approx(0.1 + 0.9 / 20, abs=1e-6)
    assert not found.lower
    assert len(found.upper) == 19  # speeds at the inner nodes
    program, start = program_of(ocp.Problem(model, wheel(1.2).phases, boundary=wheel(1.2).boundary))
    assert contradiction(program, start) is None


@pytest.mark.slow
def test_a_pendulum_that_is_too_weak_is_told_early():
    found = pendulum().solve(progress=False)
    assert found.status == "Infeasible"
    assert found.stats["proof"] == "search"
    assert found.stats["iterations"] < 150
    assert "torque of rod" in found.stats["verdict"]
    assert "up: short by" in found.stats["verdict"]
    assert pendulum(effort=12.0).solve(progress=False).converged


def test_the_solver_runs_to_its_own_end_if_asked():
    found = wheel(0.5).solve(progress=False, early_verdict=False)
    assert found.status != "Infeasible"
    assert found.stats["iterations"] > 10
    assert found.stats["verdict"] == found.stats["proof"] == ""
    with pytest.raises(TypeError, match="early_verdict"):
        wheel(0.5).solve(early_verdict="no")


def test_the_least_violation_is_stationary():
    """phi = |r|^2 / 2 of the wheel: no bounded step lessens it, and multipliers are its slopes by the torque limit."""
    program, start = program_of(wheel(0.5))
    found = least_violation(program, start, start.x, 200)
    assert found.finding == "stationary"
    J = ca.DM(program.evaluator.jacobian_pattern, program.evaluator.jacobian(found.x, start.p))
    slope = -np.array(J.T @ found.residual).ravel()  # of phi by x
    inside = (found.x > start.lower + 1e-4) & (found.x < start.upper - 1e-4)
    assert np.abs(slope[inside]).max(initial=0.0) < 0.1 * np.abs(slope).max()
    assert np.allclose(slope, -found.lam_x, atol=0.1 * np.abs(slope).max())
    wider, begin = program_of(wheel(0.5, effort=2.2))
    again = least_violation(wider, begin, found.x, 200)
    press = np.abs(found.lam_x).sum() * 0.2 / 100  # torques are scaled by 100
    assert found.violation - again.violation == pytest.approx(press, rel=0.1)


@pytest.mark.slow
def test_a_feasible_point_is_found_and_the_run_goes_on(monkeypatch, capsys):
    """Under suspicion early: a hopper that converges is never told to be infeasible, and no iterate changes."""
    problem = hop()
    before = problem.solve(progress=False)
    monkeypatch.setattr(watch, "FIRST", 8)
    monkeypatch.setattr(watch, "WINDOW", 0)
    found = problem.solve()
    assert found.converged
    assert found.stats["iterations"] == before.stats["iterations"]
    assert np.array_equal(found.q, before.q)
    assert "searches for any feasible point" in capsys.readouterr().err


def test_a_point_that_meets_all_rows_counts_as_feasible():
    program, start = program_of(wheel(2.0))
    found = least_violation(program, start, start.x, 100)
    assert found.finding == "feasible"
    assert np.abs(found.residual).max() <= MET
    assert least_violation(program, start, start.x, 1).finding == "open"


def test_what_is_certified_is_a_lower_bound_and_nearly_the_least_violation():
    """At the wheel's least violation the certificate is phi itself; no pull, or one the wrong way round, proves
    nothing."""
    program, start = program_of(wheel(0.5))
    found = least_violation(program, start, start.x, 200)
    pull = found.residual
    assert 0.9 * found.violation < certified(program, start, found.x, pull) <= 1.001 * found.violation
    assert certified(program, start, found.x, 3 * pull) == pytest.approx(certified(program, start, found.x, pull))
    assert certified(program, start, found.x, -pull) == certified(program, start, found.x, 0 * pull) == 0.0
    feasible, begin = program_of(wheel(2.0))
    point = least_violation(feasible, begin, begin.x, 1)
    assert certified(feasible, begin, begin.x, point.residual) == 0.0


def ball():
    """A block in the air that shall fall: the law of its contact is nearly flat there, so its violation has a long
    valley."""
    builder = od.ModelBuilder("block")
    builder.add_body("block", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    foot = ocp.CompliantFoothold("block", [od.HuntCrossleySphere("block", radius=0.1)])
    above = ocp.Boundary(lambda s, e: (ca.vertcat(s.q[2] - 0.2, s.qd), 0, 0))
    return ocp.Problem(builder.build(), ocp.Phase("fall", 30, 0.3, [foot]), boundary=above)


@pytest.mark.slow
def test_the_search_leaves_a_long_and_nearly_flat_valley():
    program, start = program_of(ball())
    rough = least_violation(program, start, start.x, 30)
    assert rough.finding == "open"
    assert rough.violation > 1e-4
    assert least_violation(program, start, start.x, 200).finding == "feasible"


@pytest.fixture
def watched(monkeypatch):
    """A watch over a stagnating run, whose searches end as `ends` say: (finding, violation); and where they began."""

    def make(ends):
        program, start = program_of(wheel(2.0))
        begun = []

        def search(program, start, x, most):
            begun.append((x, most))
            finding, violation = ends[len(begun) - 1]
            return LeastViolation(finding, x, violation, x, x, 1)

        monkeypatch.setattr(watch, "least_violation", search)
        return watch.Watch(program, start, lambda line: None), begun, start

    return make


def run_of(seen, start, iterations):
    """The iteration after which a run is stopped whose iterates all violate rows alike; None: it goes on."""
    for k in range(1, iterations):
        if seen(start.x + k, np.full(seen._program.row_lower.size, 5.0)):
            return k
    return None


def test_three_searches_that_agree_end_a_run(watched):
    seen, begun, start = watched([("stationary", 1.0), ("stationary", 1.05), ("stationary", 0.98)])
    assert run_of(seen, start, 400) == watch.FIRST + watch.PATIENCE
    assert seen.found is seen.lowest
    assert seen.found.violation == 0.98
    first, second, third = (x for x, _ in begun)
    assert np.array_equal(first, start.x + 1)  # the first of the best iterates
    assert 0 < np.abs(second - start.x).max() < 0.2
    assert np.array_equal(third, start.x + watch.FIRST + watch.PATIENCE)
    assert begun[0][1] == watch.EFFORT * watch.FIRST


ODD = [("open", 1.0), ("feasible", 1e-9), ("stationary", 0.5), ("stationary", 2.0)]


@pytest.mark.parametrize(
    ("place", "odd"), [(k, odd) for k in range(3) for odd in ODD if k > 0 or odd[0] != "stationary"]
)
@pytest.mark.slow
def test_one_search_that_ends_elsewhere_lets_the_run_go_on(watched, odd, place):
    ends = [("stationary", 1.0)] * 3
    ends[place] = odd
    seen, begun, start = watched(ends + [("open", 1.0)] * 9)
    assert run_of(seen, start, 200) is None
    assert seen.found is None
    if odd[0] == "feasible":
        assert len(begun) == place + 1  # nothing is left to prove


@pytest.mark.slow
def test_a_run_that_fails_after_a_search_without_proof_ends_with_a_suspicion(monkeypatch):
    monkeypatch.setattr("ocp_dyn.ocp.solvers.feasibility.least_violation.CERTIFIED", 2.0)
    monkeypatch.setattr(watch, "SHARE", 0.0)
    found = pendulum().solve(progress=False, max_iterations=70)
    assert found.status not in ("Infeasible", "Solve_Succeeded")
    assert found.stats["proof"] == "suspicion"
    assert found.stats["verdict"].startswith("no feasible point was found nearby, which proves nothing")
    assert "up: short by" in found.stats["verdict"]


@pytest.mark.slow
def test_a_suspicion_ends_the_run_if_asked(monkeypatch):
    monkeypatch.setattr("ocp_dyn.ocp.solvers.feasibility.least_violation.CERTIFIED", 2.0)  # nothing is certified
    found = pendulum().solve(progress=False, early_verdict="suspicion")
    assert (found.status, found.stats["proof"]) == ("Infeasible", "suspicion")
    assert found.stats["iterations"] < 90  # to its proof, 99
    assert "which proves nothing" in found.stats["verdict"]
    assert pendulum(effort=12.0).solve(progress=False, early_verdict="suspicion").converged


def test_gradient_and_exact_hessian_of_the_search_are_those_of_its_program():
    program, start = program_of(pendulum(intervals=3))
    search, rng = _ViolationSearch(program, start), np.random.default_rng(1)
    n, m = program.n, program.row_lower.size
    z, lam, step = rng.normal(size=n + m), rng.normal(size=m), 1e-6
    search._center, search._damping = rng.normal(size=n), 0.3
    _, gradient, jacobian, _, exact = search._functions

    def slope(z):
        return np.array(2.0 * gradient(z, [])[1] + jacobian(z, [])[1].T @ ca.DM(lam)).ravel()

    def along(f):
        return np.array([(f(z + d) - f(z - d)) / (2 * step) for d in step * np.eye(n + m)])

    cost = along(lambda z: float(gradient(z, [])[0]))
    assert np.allclose(np.array(gradient(z, [])[1]).ravel(), cost, atol=1e-6)
    upper = exact(z, [], 2.0, lam)
    assert np.allclose(np.array(ca.triu2symm(upper)), along(slope), atol=1e-6)
