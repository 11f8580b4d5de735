"""The benchmark of the formulations: counts of operations, published numbers, the command line."""

import json
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from scripts.bench import book_examples, book_rule, evaluation_times, operation_tables, published
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


def test_stages_of_a_formulation_are_about_its_function():
    """The table shows more than accelerations need, and takes products apart that one function takes together."""
    model = od.models.five_bar_pendulum()
    functions = operation_tables.whole(model)
    for letter, stages in (("A", operation_tables.formulation_a), ("B", operation_tables.formulation_b)):
        alone = functions[f"Formulation {letter}, one function"]
        assert (
            alone.multiplications < operation_tables.total(stages(model)).multiplications < 1.5 * alone.multiplications
        )


@pytest.mark.slow
def test_help_and_wrong_parts():
    assert "tables|times|examples|benchmarks" in run("--help")
    wrong = subprocess.run(
        [sys.executable, str(SCRIPT), "tables", "speed"], capture_output=True, text=True, check=False
    )
    assert wrong.returncode == 2
    assert "unknown part 'speed'; parts are tables, times, examples, benchmarks" in wrong.stderr


def test_the_library_integrates_as_the_book_prints_it():
    """Example 8.6 for 0.4 s by penalties: the library's sparse corrections of the predictor, and dense matrices."""
    example = book_examples.five_bars()
    natural = od.formulations.natural(example.model)
    terms = book_rule.Terms(example.model, natural)
    x0 = np.array(od.function(od.formulations.natural_from_q, example.model, natural)(example.q).full()).ravel()
    options = {"h": example.h, "duration": 0.4, "tolerance": 1e-12}
    printed = book_rule.integrate(terms, x0, **options, alpha=1e7, mu=example.h / 80)
    found = od.formulations.trapezoidal_motion(
        example.model, natural, q=example.q, **options, method="penalty", alpha=np.full(natural.m, 1e7),
        mu=example.h / 80, project=False,
    )  # fmt: skip
    close(found.x, printed.x, 1e-9)  # divided by h^2 / 4, the book's differences round to 1e-11
    result = book_examples.simulate(example, book_examples.VARIANTS["alpha 1e7"], 0.4)
    assert result.energy[0] == pytest.approx(19.62)
    assert result.position_error < 1e-5
    at = example.q, np.zeros(5), od.function(od.forward_dynamics, example.model)(example.q, np.zeros(5), np.zeros(5))
    tip = np.array(od.point_acceleration(example.model, "tip", *map(ca.DM, at)).full()).ravel()
    close(result.acceleration[0], tip[2], 1e-9)


def test_microseconds_of_one_evaluation():
    made = evaluation_times.mechanism(od.models.bricard())
    times = evaluation_times.measure(made, lambda text: None, compiled=False)
    formulation_b = {"Formulation B", "Formulation B, penalty", "Formulation B, indep."}
    assert set(times) == {"penalty", "matrix R", "RNEA+CRBA", "ABA", "od.function"} | formulation_b
    assert all(row.interpreted > 0 and row.multiplications > 0 for row in times.values())


@pytest.mark.slow
def test_quick_run_gives_all_parts_and_figures(tmp_path):
    printed = run("--quick", "--json", "--out", str(tmp_path))
    found = json.loads(printed.splitlines()[-1])
    assert set(found) == {"tables", "times", "examples", "benchmarks"}
    assert set(found["tables"]["human_body"]) == {"A", "B", "others"}
    assert {path.name for path in tmp_path.iterdir()} == {f"figure_8_2{k}.png" for k in (4, 5, 6, 7, 8)}
    squeezer = {row["form"]: row for row in found["benchmarks"]["squeezer"]}
    assert squeezer["independent"]["q"] < 1e-8
    assert found["examples"]["bricard"]["alpha 1e7"]["energy_error"] < 3.1e-4
