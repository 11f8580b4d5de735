"""The table of mutations fits the library as it is, and the script that tries them out tells what a test notices."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.mutate import ROOT, Copy, Mutation, TableError, read, stale

SCRIPT = ROOT / "scripts" / "mutate.py"
TABLE = read()
ROOMS = {path.stem for path in (ROOT / "ocp_dyn").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}


def test_every_mutation_finds_its_place():
    assert stale(TABLE) == []


def test_there_are_many_over_all_rooms():
    assert len(TABLE) >= 600
    assert len({(m.file, m.old, m.new, m.nth) for m in TABLE}) == len(TABLE)
    rooms = {Path(m.file).parts[1].removesuffix(".py") for m in TABLE}
    assert rooms == ROOMS


def test_the_tests_that_should_notice_exist():
    for name in {name for m in TABLE for name in m.tests}:
        path, _, test = name.partition("::")
        assert (ROOT / path).is_file(), name
        assert re.search(rf"^def {re.escape(test)}\(", (ROOT / path).read_text(), re.MULTILINE) or not test, name


def test_what_is_accepted_is_few_and_explained():
    accepted = [m for m in TABLE if m.accepted]
    assert len(accepted) <= 5
    assert all(len(m.accepted.split()) >= 8 for m in accepted)


@pytest.mark.parametrize(
    ("text", "nth", "result"),
    [("a + b", 0, "a - b"), ("a + b + c", 1, "a - b + c"), ("a + b + c", 2, "a + b - c")],
)
def test_a_mutation_is_made_at_one_place(text, nth, result):
    assert Mutation("x.py", "+", "-", ("t",), nth).apply(text) == result


@pytest.mark.parametrize(
    ("text", "nth", "message"),
    [
        ("a - b", 0, r"x\.py: \+ -> -: the text occurs 0 times, expected once"),
        ("a + b + c", 0, "the text occurs 2 times, expected once: correct it, or give nth = 1"),
        ("a + b + c", 3, "the text occurs 2 times, so there is no occurrence 3"),
    ],
)
def test_a_mutation_that_no_longer_fits_is_named(text, nth, message):
    with pytest.raises(TableError, match=message):
        Mutation("x.py", "+", "-", ("t",), nth).apply(text)


def test_a_table_with_unknown_keys_is_refused(tmp_path):
    table = tmp_path / "mutations.toml"
    table.write_text('[[file]]\npath = "x.py"\ntests = ["t"]\nmutations = [{ old = "a", now = "b" }]\n')
    with pytest.raises(TableError, match=r"x\.py: .*'now'"):
        read(table)
    assert stale([Mutation("no/such.py", "a", "b", ("t",))]) == ["no/such.py: a -> b: there is no such file"]


@pytest.mark.slow
def test_a_mutation_is_tried_out_on_a_copy(tmp_path):
    """One that a test notices, and one in a text that no test reads; the copy and the checkout stay as they are."""
    copy = Copy(tmp_path)
    tests = ("tests/spatial_algebra/test_spatial.py",)
    file = "ocp_dyn/spatial_algebra/spatial.py"
    before = (ROOT / file).read_text()
    noticed = copy.try_out(Mutation(file, "return axial(A) / 2", "return axial(A) / 3", tests), 100)
    assert noticed.killer.startswith("tests/spatial_algebra/test_spatial.py::test_")
    unnoticed = copy.try_out(Mutation(file, "app. A]", "app. B]", tests), 100)
    assert unnoticed.alive
    slow = copy.root / "tests" / "test_all_slow.py"  # without a quick test the slow ones run
    text = "import pytest\n@pytest.mark.slow\ndef test_slow():\n    assert {}\n"
    for holds in (True, False):
        slow.write_text(text.format(holds))
        failed = copy.first_failure(("tests/test_all_slow.py",), 100)
        assert failed == ("" if holds else "tests/test_all_slow.py::test_slow")
    endless = copy.try_out(Mutation(file, "return axial(A) / 2", "while True: pass", tests), 5)
    assert endless.killer == "no end within 5 s"
    assert (ROOT / file).read_text() == before == (copy.root / file).read_text()


def test_the_table_is_printed():
    printed = subprocess.run(
        [sys.executable, str(SCRIPT), "--list", "--only", r"spatial\.py"], capture_output=True, text=True, check=True
    ).stdout
    assert "ocp_dyn/spatial_algebra/spatial.py: " in printed
    assert "by tests/spatial_algebra/test_spatial.py" in printed
    assert "kinematics" not in printed
