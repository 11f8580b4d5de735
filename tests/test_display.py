"""Objects of numbers show themselves as tables, in print and in notebooks; long works count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base import display
from ocp_dyn._base.display import Columns, Count, Listing, Table
from ocp_dyn.limit_cycles import Multipliers


def cells(shown: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines()]


def test_columns_show_their_ends():
    made = Columns({f"q{k}": np.arange(30.0) + 0.5 * k for k in range(12)})
    head, *lines = cells(str(made))
    assert head == ["q0", "q1", "q2", "q3", "...", "q9", "q10", "q11"]
    assert lines[0] == ["0", "0.5", "1", "1.5", "...", "4.5", "5", "5.5"]
    assert lines[5] == ["..."] * 8
    assert lines[10] == ["29", "29.5", "30", "30.5", "...", "33.5", "34", "34.5"]
    assert lines[11] == ["30", "rows,", "12", "columns"]
    assert made["q3"].shape == (30,)
    assert "<td" in made._repr_html_()
    short = Columns({"time": np.array([0.0, np.nan])})
    assert cells(str(short)) == [["time"], ["0"], ["nan"], ["2", "rows,", "1", "columns"]]
    assert str(Columns()) == "0 rows, 0 columns"


def test_listings_show_values_in_a_line():
    made = Listing({"x": np.arange(6.0).reshape(2, 3), "status": "Solved", "seconds": 1.23456789, "faults": []})
    assert cells(repr(made)) == [
        ["name", "value"], ["x", "2", "x", "3", "numbers", "from", "0", "to", "5"], ["status", "Solved"],
        ["seconds", "1.23457"],
        ["faults", "[]"],
    ]  # fmt: skip
    assert made | {"a": 1} == {**made, "a": 1}
    long = Listing({f"row {k}": k for k in range(1000)})
    assert len(str(long).splitlines()) == display.MOST_NAMES + 2


def test_multipliers_show_magnitude_and_angle():
    turn = Multipliers.of(0.5 * np.array([[0.0, -1.0], [1.0, 0.0]]))
    assert cells(str(turn))[1:] in (
        [["0+0.5j", "0.5", "90"], ["0-0.5j", "0.5", "-90"]], [["-0+0.5j", "0.5", "90"], ["-0-0.5j", "0.5", "-90"]],
    )  # fmt: skip
    assert np.abs(turn).max() == pytest.approx(0.5)
    assert repr(np.abs(turn)).startswith("array(")
    assert "<table" in turn._repr_html_()
    assert Multipliers.of(np.diag([0.1, -3.0, 0.2]))[0] == -3.0


@pytest.mark.slow
def test_weights_and_expected_figures_are_tables(solution):
    weights = od.ocp.Problem(od.models.pendulum(), [ocp.Phase("a", 3, 1.0, objective=[ocp.TorqueSquared()])]).weights
    assert "<table" in weights._repr_html_()
    assert str(weights) == repr(weights) == "weight         number\nTorqueSquared  1"
    walk = ocp.Gait("right", "a walk", {}, {}, {"speed_m_per_s": 1.3, "center_of_mass_rise_m": 0.01})
    assert "0.0413 ± 0.0079" in walk.expected()._repr_html_()
    assert str(walk.outside()).splitlines()[1].startswith("center of mass rise m  0.01  0.0413 ± 0.0079  -76 %")
    assert Table(("a",), [("b",)])._repr_html_().count("<td") == 1


def test_a_solution_shows_tables(solution):
    assert str(solution.table()).startswith("time")
    assert str(solution.multipliers()).startswith("name")
    assert "<table" in solution.variables()._repr_html_()
    assert "Solve_Succeeded" in repr(solution.stats)
    assert "numbers from" in repr(solution.iterate)


@pytest.fixture(scope="module")
def solution() -> ocp.Solution:
    ends = [ocp.Rest([0.0]), ocp.Rest([1.0], where="end")]
    phase = ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared()])
    return ocp.Problem(od.models.pendulum(), [phase], boundary=ends).solve(progress=False)


def test_long_works_count():
    said: list[str] = []
    count = Count(said.append, 12)
    count.tell("a short part")
    assert said == []
    count.done = 3
    count.tell("writing ID", ahead=60.0)
    assert said[0].startswith("writing ID; 3 of 12 functions, 0 s")
    count._said -= 1.1 * display.REPORT_INTERVAL
    count.total = 0
    count.tell("writing FD")
    assert said[1:] == ["writing FD"]


def test_what_objects_hold_is_shown_in_a_line_however_large(solution):
    human = od.models.human()
    costs = [ocp.TorqueRateSquared(scale=np.ones(29)), *[ocp.JointAngleSquared(k, np.arange(29.0)) for k in range(9)]]
    phase = ocp.Phase("stand", 2, 1.0, objective=costs)
    problem = ocp.Problem(human, [phase])
    shown = [human.I, human.X_tree, human.joints, human.frames, phase.objective, problem.phases]
    for each in (
        *shown,
        *shown[0],
        problem.weights.entries,
        *costs,
        human.dofs,
        problem.coordinates,
        solution.phases[0].wrenches,
    ):
        assert "\n" not in repr(each)
        assert len(repr(each)) < 400
    assert repr(human.I).endswith(f"...: {human.nb + 1} in all)")
    assert repr(costs[0]) == "TorqueRateSquared(scale=29 numbers from 1 to 1)"
    assert repr(od.Transform(np.eye(3), [0, 0, 1])) == (
        "Transform(E=DM([[1, 00, 00], [00, 1, 00], [00, 00, 1]]), r=DM([00, 00, 1]))"
    )
    assert human.I == tuple(human.I)
    found = od.inverse_kinematics(od.models.pendulum(), [od.PointTarget("tip", (0.6, 0.0, -0.8))], [0.3])
    assert "\n" not in repr(found)
    assert repr(replace(found, q=np.arange(40.0))).startswith("InverseKinematics(q=40 numbers from 0 to 39, ")
    assert repr(display.Several(["a"])) == "('a',)"
    assert repr(display.ByName(a=1.5)) == "{'a': 1.5}"
