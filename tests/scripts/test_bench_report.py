"""The tables of the performance page: written from kept numbers, with losses, and up to date."""

import copy
import json

import pytest

from scripts.bench import report

TABLE = {
    "title": "times",
    "command": "python run",
    "unit": "microseconds",
    "axis": "us",
    "machine": "a computer",
    "notes": ["A note."],
    "measured": {"one": "2026-01-02", "machine": "2026-01-02", "casadi C": "2026-01-02", "adam": "2025-12-01"},
    "rows": {"ID": {"one": 2.0, "machine": 9.0, "casadi C": 1.0, "adam": 30.0}, "C": {"one": 2.0, "casadi C": 1.95}},
}


@pytest.mark.parametrize("part", list(report.RUNS))
@pytest.mark.slow
def test_the_page_and_the_pictures_are_up_to_date(part, tmp_path):
    table = json.loads((report.FOLDER / f"{part}.json").read_text(encoding="utf-8"))
    page = report.PAGE.read_text(encoding="utf-8")
    assert report.inserted(page, part, report.markdown(part, table)) == page, "run scripts/bench/report.py"
    assert (report.FOLDER / f"{part}.svg").stat().st_size < 60_000
    assert set(table["rows"]) == set(report.QUANTITIES)
    report.draw(part, table, tmp_path / "picture.svg")
    assert "ours" in (tmp_path / "picture.svg").read_text(encoding="utf-8")


def test_a_table_tells_ratios_dates_and_losses():
    lines = report.markdown("dynamics", TABLE).splitlines()
    assert "| times | interpreted | C | CasADi's C | adam | best peer / ours |" in lines
    assert "| inverse dynamics, ID | 9.00 | 2.00 | 1.00 | 30.0 | 0.50 |" in lines
    assert "| bias force, C |  | 2.00 | 1.95 |  | 0.97 |" in lines
    assert any("“adam” on 2025-12-01" in line and "a computer" in line and "`python run`" in line for line in lines)
    assert lines[-1] == "- inverse dynamics, ID: CasADi's C takes 1.00, ours 2.00."  # 1.95 beside 2 is no loss


def test_a_table_without_losses_says_so():
    table = copy.deepcopy(TABLE)
    table["rows"]["ID"]["casadi C"] = 3.0
    assert report.losses("dynamics", table) == ["No peer has a better number here."]
    assert report.best_peer("dynamics", {"one": 1.0, "lanes": 0.1}) is None


def test_columns_that_are_not_measured_again_keep_numbers_and_dates():
    new = report.updated(TABLE, {"ID": {"one": 1.5}, "H": {"one": 3.0}}, "2026-02-03", "another")
    assert new["rows"]["ID"] == {"one": 1.5, "machine": 9.0, "casadi C": 1.0, "adam": 30.0}
    assert new["rows"]["C"] == {"casadi C": 1.95}
    assert new["rows"]["H"] == {"one": 3.0}
    assert new["measured"] == TABLE["measured"] | {"one": "2026-02-03"}
    assert new["machine"] == "another"
    assert TABLE["rows"]["ID"]["one"] == 2.0


def test_a_page_without_marks_is_refused():
    page = "a <!-- dynamics -->\nold\n<!-- end of dynamics --> b"
    assert report.inserted(page, "dynamics", "new") == "a <!-- dynamics -->\n\nnew\n\n<!-- end of dynamics --> b"
    for wrong in ("nothing", "<!-- end of dynamics --><!-- dynamics -->", page + page):
        with pytest.raises(ValueError, match="once each"):
            report.inserted(wrong, "dynamics", "new")


def test_numbers_have_three_digits():
    assert [report._number(x) for x in (12345, 0.2, 3.14159, 45.67, 234.4)] == ["12,345", "0.20", "3.14", "45.7", "234"]
