"""Files of motions whose model or constraints hold functions: all numbers are saved, and the problem has the rest."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp


def spiral(q):
    """A turn about z that climbs 0.1 m per radian."""
    c, s = ca.cos(q), ca.sin(q)
    E = ca.vertcat(ca.horzcat(c, s, 0), ca.horzcat(-s, c, 0), ca.DM([[0, 0, 1]]))
    return od.Transform(E, ca.vertcat(0, 0, 0.1 * q))


def nut(name="nut"):
    builder = od.ModelBuilder("screw")
    builder.add_body("base", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    builder.add_body(name, od.CustomJoint(spiral), "base", mass=1, inertia=(1, 1, 1))
    return builder.build()


def turn(model=None, constraints=()):
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 0.3, end.qd), 0, 0))
    phase = ocp.Phase("turn", 3, 1.0, constraints=constraints, objective=[ocp.TorqueSquared()])
    return ocp.Problem(nut() if model is None else model, [phase], boundary=[rest])


@pytest.fixture(scope="module")
def solution():
    return turn().solve(progress=False)


@pytest.mark.slow
def test_the_numbers_of_a_custom_joint_are_saved(solution, tmp_path):
    path = tmp_path / "turn.npz"
    with pytest.warns(od.ModelWarning, match=r"holds all numbers .* a file holds no functions"):
        solution.save(path)
    np.testing.assert_array_equal(np.load(path)["q0"], solution.q)
    with pytest.raises(od.ModelError, match=r"CustomJoint .* Give Solution\.load\(path, problem=problem\)"):
        ocp.Solution.load(path)
    problem = turn()
    again = ocp.Solution.load(path, problem=problem)
    np.testing.assert_array_equal(again.q, solution.q)
    assert again.model is problem.model
    assert problem.solve(start=again, progress=False).stats["iterations"] <= 2
    with pytest.raises(od.ModelError, match="with other joints than that of the file"):
        ocp.Solution.load(path, problem=turn(nut("other")))
    with pytest.raises(od.ModelError, match="problem=problem"):
        ocp.Solution.load(path, problem="turn")


def test_a_file_without_gaps_takes_the_components_of_the_problem_alone(tmp_path):
    plain = ocp.Problem(od.models.pendulum(), [ocp.Phase("swing", 2, 1.0)])
    found = plain.solve(progress=False)
    again = ocp.Solution.load(found.save(tmp_path / "a.npz"), problem=plain)
    assert again.model is not plain.model
    assert again.model.q_names == plain.model.q_names


def test_the_problem_says_it_beforehand(capsys):
    assert any("will hold its numbers, but not all of the problem: body 'nut'" in text for text in turn().check())
    turn().solve(max_iterations=0)
    assert "note: a file of the solution will hold its numbers" in capsys.readouterr().err


def test_a_constraint_with_a_function_is_read_from_the_problem(tmp_path):
    arm = od.models.pendulum(2)
    level = od.CustomConstraint(lambda q: q[0] - q[1], name="level")
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[0], end.q[0] - 0.1), 0, 0))
    problem = ocp.Problem(arm, [ocp.Phase("swing", 3, 1.0, constraints=[level])], boundary=[rest])
    found = problem.solve(progress=False, max_iterations=3)
    found = replace(found, stats=found.stats | {"converged": True})
    with pytest.warns(od.ModelWarning, match="level"):
        path = found.save(tmp_path / "a.npz")
    again = ocp.Solution.load(path, problem=problem)
    assert again.phases[0].contacts == found.phases[0].contacts
    np.testing.assert_array_equal(again.phases[0].lam, found.phases[0].lam)
    other = ocp.Problem(arm, [ocp.Phase("swing", 3, 1.0)], boundary=[rest])
    with pytest.raises(od.ModelError, match="no constraint 'level'"):
        ocp.Solution.load(path, problem=other)
