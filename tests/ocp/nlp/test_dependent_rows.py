"""Equalities that repeat others: found in a matrix, in a problem before it is solved, and after a run that fails."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.nlp import dependent_rows
from tests import hopper
from tests.helpers import close


def test_vanishing_combinations_are_found_apart(rng):
    """Rows that are sums of others, for two reasons, in a sparse matrix with rows of any size; none in what is left."""
    A = np.diag(np.arange(1.0, 31.0))[:20]
    A[:, 20:] += rng.standard_normal((20, 10))
    repeated = np.vstack([A, 1e3 * (A[2] + A[5]), A[11] - 2 * A[12] + A[13]])
    found = dependent_rows.vanishing(ca.sparsify(ca.DM(repeated)))
    assert found.shape == (22, 2)
    norm = np.linalg.norm(repeated, axis=1)
    close(found.T @ (repeated / norm[:, None]), np.zeros((2, 30)), 1e-12)
    assert {tuple(rows) for rows in dependent_rows.supports(found)} == {(2, 5, 20), (11, 12, 13, 21)}
    assert dependent_rows.vanishing(ca.sparsify(ca.DM(A))).shape == (20, 0)
    many = np.vstack([A, A])  # more than are looked for at once
    assert dependent_rows.vanishing(ca.sparsify(ca.DM(many))).shape == (40, 20)
    A[3] = 0.0  # nothing to combine
    assert dependent_rows.vanishing(ca.sparsify(ca.DM(A))).shape == (20, 0)
    assert dependent_rows.vanishing(ca.DM(0, 5)).shape == (0, 0)


def test_every_basis_gives_the_same_combinations(rng):
    """Two pairs of equal rows, a sum of three rows, and two rows in one combination with five others."""
    combinations = np.zeros((16, 4))
    combinations[[0, 5], 0] = 1, -1
    combinations[[3, 8], 1] = 1, -1
    combinations[[1, 2, 9], 2] = 1, 1, -np.sqrt(2)
    combinations[[0, 3, 10, 11, 12, 13, 14], 3] = 1.0
    found = []
    for _ in range(20):
        turned = combinations @ rng.standard_normal((4, 4))
        found.append(dependent_rows._reduced(np.linalg.qr(turned)[0]))
    assert [rows.tolist() for rows in dependent_rows.supports(found[0])] == [
        [0, 5],
        [3, 8],
        [1, 2, 9],
        [0, 3, *range(10, 15)],
    ]
    for other in found:
        close(other, found[0], 1e-12)


def test_rows_that_nearly_repeat_others_take_no_part(rng):
    """One combination that vanishes, beside more weak ones than are sought: pairs of rows that are equal to 1e-6."""
    A = rng.standard_normal((62, 100))
    A[30:60] = A[:30] + 2e-6 * rng.standard_normal((30, 100))
    A[61] = 2 * A[60]
    found = dependent_rows.vanishing(ca.DM(A))
    assert [rows.tolist() for rows in dependent_rows.supports(found)] == [[60, 61]]


def test_check_finds_a_condition_that_is_stated_twice():
    """A sum of angles, asked for twice, with rates that are zero anyhow: the pattern alone shows nothing."""
    once = ocp.Boundary(lambda s, e: (ca.vertcat(s.qd[0] + s.qd[1], s.qd[0] - s.qd[1]), 0, 0), name="rest")
    again = ocp.Boundary(lambda s, e: (s.q[0] + s.q[1] + 3 * s.qd[0] + s.qd[1], 0, 0), name="start")
    other = ocp.Boundary(lambda s, e: (s.q[0] + s.q[1] + s.qd[0], 0, 0), name="start again")
    phase = ocp.Phase("swing", 4, 0.5)
    assert ocp.Problem(pendulum(2), phase, boundary=(once, again)).check() == []
    (line,) = ocp.Problem(pendulum(2), phase, boundary=(once, again, other)).check()
    assert line.startswith(
        "at the first guess 1 of these equalities depends on the others: ends: rest; ends: start; ends: start again: "
        "mult"
    )


@pytest.mark.slow
def test_check_finds_what_periodicity_implies():
    """Rows on the place of a foot a step later, beside periodicity; and a hopper that nothing but its foot moves
    sideways."""

    def a_step_on(start, end):
        before, after = (od.point_position(s.model, "foot", s.q) for s in (start, end))
        return after - before - ca.vertcat(start.values["step_length"], 0, 0), 0, 0

    problem = hopper.problem()
    first = problem.check()
    sideways = "at the first guess 1 of these equalities depends on the others: start of stance: pose of foot at "
    sideways += "t = 0.000 s of stance;"
    assert len(first) == 1
    assert first[0].startswith(sideways)
    assert "; stance: position step at 5 times; " in first[0]
    repeated, *rest = replace(problem, boundary=ocp.Boundary(a_step_on, "a step on")).check()
    assert repeated.startswith(
        "at the first guess 3 of these equalities depend on the others: ends: periodic position; ends: a step on:"
    )
    assert rest == first


def test_what_repeats_is_told_of_a_run_that_fails(capsys):
    """A sound problem has nothing to tell; nor does a run that converges."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q, e.qd), 0, 0), name="rest")
    again = ocp.Boundary(lambda s, e: (s.q[0] - s.q[1], 0, 0), name="straight")
    phase = ocp.Phase("swing", 4, 0.5, objective=ocp.TorqueSquared())
    problem = ocp.Problem(pendulum(2), phase, boundary=(ends, again), guess=lambda s: (np.full(2, s), np.ones(2)))
    found = problem.solve(max_iterations=1)
    assert not found.converged
    (line,) = found.stats["repetitions"]
    assert "ends: straight" in line
    assert line in capsys.readouterr().err
    problem = replace(problem, boundary=ends)
    assert problem.solve(max_iterations=1, progress=False).stats["repetitions"] == []
