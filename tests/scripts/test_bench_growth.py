"""The benchmark of growth: slopes, tables, figures, and one row of finer grids."""

import argparse
import json

import casadi as ca
import pytest

import ocp_dyn as od
from ocp_dyn.ocp.workflows import attempt
from ocp_dyn.ocp.workflows.sweeps import sweep
from problems import many_steps
from scripts.bench.growth import __main__ as command
from scripts.bench.growth import crowd, gaits, grid, size
from scripts.bench.growth.section import Row, Section, header, line, slope, slopes
from tests.helpers import InlineCrew, calls


def _section(rows):
    return Section("A title", "intervals", {"s": ".1f", "pivots": ".0f"}, ("s",), lambda options: rows)


ROWS = [Row("a", 10, {"s": 2.0, "pivots": 3}), Row("a", 40, {"s": 8.0}), Row("b", 10, {"s": 1.0}),
        Row("b", 20, {"s": 99.0}, "Restoration_Failed")]  # fmt: skip


def test_the_slope_is_the_exponent():
    sizes = [31, 62, 124, 248]
    assert slope(sizes, [5 * x**1.5 for x in sizes]) == pytest.approx(1.5)
    assert slope([31, 31], [1, 2]) is None
    assert slope([31, 62], [0, 2]) is None


def test_a_table_has_all_rows_and_slopes_of_solved_ones():
    section = _section(ROWS)
    assert header(section) == "| case | intervals | s | pivots |\n|---|---|---|---|"
    assert line(section, ROWS[0]) == "| a | 10 | 2.0 | 3 |"
    assert line(section, ROWS[3]) == "| b | 20 | 99.0 | - | Restoration_Failed"
    assert slopes(section, ROWS) == ["| slope over intervals | s |", "|---|---|", "| a | 1.00 |"]


@pytest.mark.slow
def test_the_command_writes_tables_figures_and_data(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "SECTIONS", {"made": _section(ROWS)})
    assert command.main(["made", "--figures", str(tmp_path / "new"), "--json", str(tmp_path / "rows.json")]) == 0
    assert "### A title (`made`)" in capsys.readouterr().out
    assert "slope 1.00" in (tmp_path / "new" / "made.svg").read_text()
    assert json.loads((tmp_path / "rows.json").read_text())["made"][3]["note"] == "Restoration_Failed"
    with pytest.raises(SystemExit):
        command.main(["maed"])
    assert "no section 'maed'; there are made" in capsys.readouterr().err


@pytest.mark.slow
def test_a_row_of_a_grid_tells_what_the_solve_took(monkeypatch):
    from problems.small import hopper

    monkeypatch.setitem(grid.CASES, "hopper", lambda k: hopper.problem(5 * k))
    row = grid.measure("hopper", 2)
    assert row.note == ""
    assert row.size == sum(phase.intervals for phase in hopper.problem(10).phases)
    assert min(row.figures[name] for name in ("iterations", "s", "cost")) > 0
    assert grid.measure("hopper", 1, limit=1).note == "Maximum_Iterations_Exceeded"


@pytest.mark.slow
def test_a_row_of_a_mechanism_tells_what_it_takes():
    row = size.measure("H, tree", 7)
    assert row.size == 7
    assert row.figures["operations"] == od.function(od.mass_matrix, od.models.chain(7, 2.0)).n_instructions()


@pytest.mark.slow
def test_a_fleet_has_the_loops_of_all_its_trucks():
    one = od.models.heavy_truck()
    model, held = size.truck_fleet(2)
    assert (model.nv, len(od.constraint_rows(held))) == (2 * one.model.nv, 2 * len(od.constraint_rows(one.loops)))


@pytest.mark.slow
def test_people_stand_with_their_hands_on_the_beam():
    model, held, q = crowd.carriers(2)
    assert model.nv == 64
    assert abs(float(ca.norm_inf(od.constraint_position(model, held, q)))) < 1e-12


@pytest.mark.slow
def test_building_more_steps_takes_calls_in_proportion():
    """Calls of compiled code while a walk of 2 and of 4 steps is built: equal phases share what they are made of."""
    attempt.prepare(many_steps.problem(2, still=True))  # what is made once in a process is not counted
    two, four = (calls(lambda n=n: attempt.prepare(many_steps.problem(n, still=True))) for n in (2, 4))
    assert four < 2 * two


@pytest.mark.slow
def test_a_population_is_solved_on_each_number_of_processes(monkeypatch):
    monkeypatch.setattr(sweep, "ProcessCrew", InlineCrew)
    monkeypatch.setitem(gaits.CASES, "pendulum", (*gaits.CASES["pendulum"][:2], 2))
    options = argparse.Namespace(populations=["pendulum"], processes=[1, 2], gaits=1)
    one, two = gaits.rows(options)
    assert (one.case, one.size, two.size) == ("pendulum", 1, 2)
    assert (one.figures["converged"], one.figures["efficiency"]) == (1.0, 1.0)
    assert two.figures["efficiency"] == pytest.approx(two.figures["gaits per hour"] / one.figures["gaits per hour"] / 2)
