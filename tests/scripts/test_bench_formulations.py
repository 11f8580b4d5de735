"""The benchmark of the formulations: counts of operations and published numbers."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from scripts.bench.formulations import __main__ as command
from scripts.bench.formulations import (
    benchmarks,
    book_examples,
    book_rule,
    evaluation_times,
    operation_tables,
    published,
)
from scripts.bench.formulations.operations import Operations, by_stage, count
from tests.helpers import close


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


@pytest.mark.parametrize(("name", "wrong"), [
    ("table_8_3", {}), ("table_8_4", {0: Operations(55057, 49129), 1: Operations(24124, 22803)}),
])  # fmt: skip
def test_rows_of_the_tables_add_up_to_the_printed_totals(name, wrong):
    _, rows, printed = published.table(name)
    for k in (0, 1):
        counts = {field: pair[k] for field, pair in rows.items() if pair[k] is not None}
        assert operation_tables.total(counts) == wrong.get(k, printed[k])


@pytest.mark.slow
def test_stages_of_a_formulation_are_about_its_function():
    """The table shows more than accelerations need, and takes products apart that one function takes together."""
    model = od.models.five_bar_pendulum()
    functions = operation_tables.others(model)
    for letter, stages in (("A", operation_tables.formulation_a), ("B", operation_tables.formulation_b)):
        alone = functions[f"Formulation {letter}, one function"]
        assert (
            alone.multiplications < operation_tables.total(stages(model)).multiplications < 1.5 * alone.multiplications
        )


@pytest.mark.slow
def test_the_library_integrates_as_the_book_prints_it():
    """Example 8.6 for 0.1 s by penalties: the library's sparse corrections of the predictor, and dense matrices."""
    example = book_examples.five_bars()
    natural = od.formulations.natural(example.model)
    terms = book_rule.Terms(example.model, natural)
    x0 = np.array(od.function(od.formulations.natural_from_q, example.model, natural)(example.q).full()).ravel()
    options = {"h": example.h, "duration": 0.1, "tolerance": 1e-12}
    printed = book_rule.integrate(terms, x0, **options, alpha=1e7, mu=example.h / 80)
    found = od.formulations.trapezoidal_motion(
        example.model, natural, q=example.q, **options, method="penalty", alpha=np.full(natural.m, 1e7),
        mu=example.h / 80, project=False,
    )  # fmt: skip
    close(found.x, printed.x, 1e-9)  # divided by h^2 / 4, the book's differences round to 1e-11
    at = example.q, np.zeros(5), od.function(od.forward_dynamics, example.model)(example.q, np.zeros(5), np.zeros(5))
    tip = np.array(od.point_acceleration(example.model, "tip", *map(ca.DM, at)).full()).ravel()
    close(book_examples.vertical_acceleration(example, natural, found.xdd)[0], tip[2], 1e-9)


@pytest.mark.slow
def test_an_example_of_the_book_loses_little_energy():
    result = book_examples.simulate(book_examples.five_bars(), book_examples.VARIANTS["alpha 1e7"], 0.1)
    assert result.position_error < 1e-5
    assert result.energy_error < 1e-2


def test_wrong_parts(capsys):
    with pytest.raises(SystemExit):
        command.main(["tables", "speed"])
    assert "unknown part 'speed'; parts are tables, times, examples, benchmarks" in capsys.readouterr().err


@pytest.mark.slow
def test_two_four_bars_keep_their_place(capsys):
    (row,) = benchmarks.four_bar_motions(quick=True)
    assert row["place"] <= row["largest"] < 1e-4
    assert row["lost"] is None
    benchmarks.show("four-bars", [row | {"failure": "a reason"}], benchmarks.FOUR_BARS)
    assert capsys.readouterr().out.rstrip().endswith("a reason")


@pytest.mark.slow
def test_microseconds_of_one_evaluation():
    made = evaluation_times.Mechanism.of(od.models.bricard())
    times = evaluation_times.measure(made, compiled=False)
    formulation_b = {"Formulation B", "Formulation B, penalty", "Formulation B, indep."}
    assert set(times) == {"penalty", "matrix R", "RNEA+CRBA", "ABA", "od.function"} | formulation_b
    assert all(row.interpreted > 0 and row.multiplications > 0 for row in times.values())
