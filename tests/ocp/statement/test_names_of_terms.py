"""Names of terms in costs, rows and faults; errors where Python, NumPy or a wrong name meet the library."""

import dataclasses
import inspect
import math
import pickle

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.statement.objectives import Term, TermName
from tests.ocp.workflows.test_convergence import turn

TERMS = [
    kind
    for kind in vars(ocp).values()
    if inspect.isclass(kind) and issubclass(kind, Term) and dataclasses.is_dataclass(kind)
]


@pytest.mark.parametrize("kind", TERMS, ids=[kind.__name__ for kind in TERMS])
def test_every_term_takes_a_name(kind):
    (field,) = [field for field in dataclasses.fields(kind) if field.name == "name"]
    assert field.init
    assert isinstance(inspect.getattr_static(kind, "name"), TermName) or isinstance(field.default, str)


def test_a_name_stays_with_its_term():
    term = ocp.TorqueSquared(2.0, name="effort")
    assert (term.name, ocp.TorqueSquared(2.0).name) == ("effort", "TorqueSquared")
    assert dataclasses.replace(term, weight=3.0).name == "effort"
    assert pickle.loads(pickle.dumps(term)).name == "effort"
    assert term != ocp.TorqueSquared(2.0)
    assert ocp.Soft(ocp.Path(lambda instant: instant.q, name="gate"), 1.0).name == "Soft gate"
    with pytest.raises(TypeError, match="Path: name must be a text, got 3"):
        ocp.Path(lambda instant: instant.q, name=3)
    with pytest.raises(TypeError):
        ocp.TorqueSquared(2.0, 1.0, "effort")  # by keyword alone


def test_names_are_those_of_costs_rows_and_faults():
    slow = ocp.Path(lambda instant: instant.qd, -0.1, 0.1, name="slow")
    problem = turn(0.3, path=[slow])
    costs = [ocp.TorqueSquared(name="effort"), ocp.TorqueSquared(name="more")]
    named = dataclasses.replace(problem, phases=[dataclasses.replace(problem.phases[0], objective=costs)])
    found = named.solve(progress=False)
    assert list(found.cost) == ["effort", "more"]
    assert "turn slow: slow" in found.stats["verdict"]
    wrong = turn(0.3, path=[ocp.Path(lambda instant: 1 / 0, name="gate")])
    with pytest.raises(ValueError, match="phase 'turn': Path 'gate': the function raised ZeroDivisionError"):
        wrong.solve(progress=False)


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda i: i.q if i.q > 0 else 1, "a symbol has no value yet: write casadi.if_else"),
        (lambda i: math.sin(i.q), "functions of NumPy and math, and float.., take numbers"),
        (lambda i: np.zeros(2) @ np.array([i.q, i.qd], dtype=float), "functions of NumPy and math"),
    ],
    ids=["if", "math", "numpy"],
)
def test_python_and_numpy_that_meet_a_symbol_are_told(function, told):
    with pytest.raises(ValueError, match=told):
        turn(0.3, path=[ocp.Path(function, -1, 1)]).solve(progress=False)


def test_an_array_of_symbols_is_told():
    q = np.array([ca.SX.sym("q")])
    with pytest.raises(TypeError, match=r"a NumPy array cannot hold CasADi's symbols; write casadi\.vertcat"):
        od.inverse_dynamics(od.models.pendulum(), q, [0.0], [0.0])


def test_names_of_functions_lead_to_their_algorithms():
    with pytest.raises(AttributeError, match=r"od\.constraint_hessian computes it"):
        _ = od.gamma
    with pytest.raises(AttributeError, match=r"od\.function\(od\.constrained_dynamics, model, \.\.\.\)"):
        _ = od.FDc


def test_what_dir_shows_has_reprs_of_one_line():
    solution = turn(0.3).solve(progress=False)
    for shown in (solution.record, solution.summary(), solution, solution.phases[0]):
        assert "\n" not in repr(shown)
        assert len(repr(shown)) < 160


def test_a_model_is_not_written_as_json_under_the_name_of_another_format(tmp_path):
    with pytest.raises(
        ValueError, match=r"save_model writes JSON, and .*x\.urdf' has the ending .*: use od\.io\.write_urdf"
    ):
        od.save_model(od.models.pendulum(), tmp_path / "x.urdf")
    assert not list(tmp_path.iterdir())


def test_torques_of_muscles_take_numbers_beside_symbols():
    elbow, F = od.models.elbow(), ca.SX.sym("F", 2)
    tau = od.muscle_torques(elbow, ca.DM([0.3]), F)
    value = ca.Function("tau", [F], [tau])([100.0, 50.0])
    np.testing.assert_allclose(value, od.muscle_torques(elbow, [0.3], [100.0, 50.0]))
    assert isinstance(od.muscle_torques(elbow, ca.SX.sym("q"), [1.0, 2.0]), ca.SX)
