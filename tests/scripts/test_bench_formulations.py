"""The benchmark of the formulations: counts of operations, published numbers, the command line."""

import subprocess
import sys

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from scripts.bench import operation_tables, published
from scripts.bench.operations import Operations, by_stage, count
from tests.helpers import REPOSITORY, close

SCRIPT = REPOSITORY / "scripts" / "bench_formulations.py"


def run(*arguments):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=True, cwd=REPOSITORY
    ).stdout


def test_operations_of_a_function():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("f", [x, y], [x * y + x**2 - 3, ca.sin(x) / ca.sqrt(y), -(y + y), ca.fmax(x, y), 1 / x])
    assert count(f) == Operations(multiplications=2, additions=3, divisions=2, roots=1, functions=1, others=1)
    assert str(count(f)) == "2m + 3a"
    array = ca.MX.sym("x", 3)
    with pytest.raises(ValueError, match="counted in SX functions, got g, a MXFunction: expand it first"):
        count(ca.Function("g", [array], [2 * array]))


def test_stages_add_up_and_share():
    x = ca.SX.sym("x", 2)
    square = x[0] * x[1]
    stages = by_stage([x], {"first": [square], "again": [x[0] * x[1]], "second": [square + x[0]]})
    assert stages == {"first": Operations(1), "again": Operations(), "second": Operations(0, 1)}


@pytest.mark.parametrize(("table", "printed", "wrong"), [
    (published.TABLE_8_3, published.TOTAL_8_3, {}),
    (published.TABLE_8_4, published.TOTAL_8_4, {"A": Operations(55057, 49129), "B": Operations(24124, 22803)}),
])  # fmt: skip
def test_rows_of_the_tables_add_up_to_the_printed_totals(table, printed, wrong):
    for column, letter in ((1, "A"), (2, "B")):
        rows = {row[0]: row[column] for row in table if row[column] is not None}
        assert operation_tables.total(rows) == wrong.get(letter, printed[column - 1])


def test_the_pendulum_of_n_four_bars_gives_the_published_places():
    for n, (duration, place, velocity) in published.FOUR_BARS.items():
        theta, rate = od.models.n_four_bar_motion(n, duration)
        close(np.array([np.sin(theta), np.cos(theta)]), place, 1e-9)
        close(rate * np.array([np.cos(theta), -np.sin(theta)]), velocity, 1e-9)


def test_stages_of_formulation_b_are_at_least_its_function():
    """The table shows more than accelerations need, so that its sum is larger, but not by much."""
    model = od.models.five_bar_pendulum()
    stages = operation_tables.total(operation_tables.formulation_b(model))
    (alone,) = operation_tables.whole(model).values()
    assert alone.multiplications < stages.multiplications < 1.3 * alone.multiplications


def test_help_and_wrong_parts():
    assert "tables|times|examples|benchmarks" in run("--help")
    wrong = subprocess.run(
        [sys.executable, str(SCRIPT), "tables", "speed"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "unknown part 'speed'; parts are tables, times, examples, benchmarks" in wrong.stderr
