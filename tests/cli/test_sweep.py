"""`ocp-dyn sweep`: points from the command line or the file, resumption, the page, mistakes."""

from __future__ import annotations

import json
import pickle
import re
from base64 import b64encode

import numpy as np
import pytest

from ocp_dyn.cli import main
from ocp_dyn.cli.sweeping import command
from ocp_dyn.cli.sweeping.page import html_page, page
from ocp_dyn.cli.sweeping.picture import cells_of, picture
from ocp_dyn.ocp.workflows.sweeps import sweep
from tests.helpers import InlineCrew

FILE = """
from tests.ocp.workflows.test_sweep_faults import swing
from ocp_dyn import ocp

points = ocp.grid(length=[0.8, 1.0], angle=[0.3])
solve = {"tolerance": 1e-7}


def build(length, kind="light"):
    if length > 5:
        raise ValueError("too long")
    return swing(length, kind)
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """A file, and a crew that works in this process."""
    monkeypatch.setattr(sweep, "ProcessCrew", InlineCrew)
    path = tmp_path / "pendulums.py"
    path.write_text(FILE)
    return path


def status(*arguments):
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as end:
        return int(end.code or 0)


@pytest.mark.slow
def test_a_sample_is_solved_and_continued(file, tmp_path, capsys):
    given = [
        "--points",
        "length=0.7:1.3",
        "kind=light,heavy",
        "angle=0.1:0.5",
        "--sample",
        4,
        "--out",
        tmp_path / "out",
    ]
    assert status("sweep", file, *given) == 0
    shown = capsys.readouterr()
    assert shown.out == f"4 of 4 points found; {tmp_path / 'out'}/report.md\n"
    lines = shown.err.splitlines()
    assert len(lines) == 4
    assert re.fullmatch(r"  4/4  length_.*: \d+ iterations, cost [\d.]+; 0 s left", lines[-1])
    text = (tmp_path / "out" / "report.md").read_text()
    assert re.search(r"4 of 4 points were found; their files take 0\.\d MB. One point takes \d", text)
    assert text.startswith(f"# Sweep of {file} at 4 points of a Latin hypercube, seed 0\n")
    assert "| objective |" in text
    assert "| step_length |" not in text
    assert (tmp_path / "out" / "sweep.png").stat().st_size > 3000
    assert len((tmp_path / "out" / "table.csv").read_text().splitlines()) == 5
    shown_page = (tmp_path / "out" / "report.html").read_text()
    drawn = (tmp_path / "out" / "sweep.png").read_bytes()
    assert f'src="data:image/png;base64,{b64encode(drawn).decode()}"' in shown_page
    assert shown_page.count("<tr>") == text.count("\n| ") + 4 + 1  # the same quantiles, and the table of all points
    assert status("sweep", file, *given, "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["found"] == 4
    assert shown.err.startswith("4 of 4 points are in")


@pytest.mark.slow
def test_points_of_the_file_and_of_a_grid(file, tmp_path, capsys):
    assert status("sweep", file, "--out", tmp_path / "file", "--quiet") == 0
    assert len(list((tmp_path / "file").glob("length_*.npz"))) == 2
    for part in (1, 2):
        given = ["--points", "length=0.8:1.2:2", "angle=0.2,0.4", "--part", f"{part}/2", "--out", tmp_path / "part"]
        assert status("sweep", file, *given, "--quiet") == 0
        assert len(list((tmp_path / "part").glob("*.npz"))) == 2 * part
    names = {path.stem for path in (tmp_path / "part").glob("*.npz")}
    assert names == {f"length_{length}_angle_{angle}" for length in (0.8, 1.2) for angle in (0.2, 0.4)}


@pytest.mark.slow
def test_errors_of_points_are_on_the_page(file, tmp_path, capsys):
    given = ["--points", "length=1,9", "angle=0.3", "--out", tmp_path / "out"]
    assert status("sweep", file, *given) == 1
    assert "length_9.0_angle_0.3: ValueError: too long, 1 not found" in capsys.readouterr().err
    text = (tmp_path / "out" / "report.md").read_text()
    assert "| length_9.0_angle_0.3 | ValueError: too long |" in text
    assert status("sweep", file, *given, "--stop") == 1
    assert capsys.readouterr().err.endswith("ocp-dyn sweep: too long\n")


def test_a_page_lists_some_of_many_that_failed():
    rows = [{"point": f"p{k}", "converged": None, "status": None, "error": None} for k in range(25)]
    text = page(rows, {}, "x.py")
    assert text.count("not solved") == 20
    assert "| 5 more | see table.csv |" in text


def test_the_page_of_a_browser_escapes_and_lists_what_failed():
    rows = [
        {"point": "<b>", "kind": "x", "converged": False, "status": None, "error": "ValueError: 1 < 2"},
        {"point": "q", "kind": "y", "converged": True, "status": "Solve_Succeeded", "error": "", "objective": 1 / 3},
    ]
    text = html_page(rows, {}, "a & b.py", b"")
    assert "<h1>Sweep of a &amp; b.py</h1>" in text
    assert "1 of 2 points were found" in text
    assert text.count("ValueError: 1 &lt; 2") == 2
    assert "0.333333" in text
    assert "<img" not in text
    assert "more points" not in text
    many = html_page([rows[1]] * 2001, {}, "x", b"")
    assert "<p>1 more points are in table.csv.</p>" in many
    assert many.count("Solve_Succeeded") == 2000


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], []])
@pytest.mark.slow
def test_pictures_of_sweeps_are_drawn_with_what_failed(names, rng):
    rows = [{"converged": k % 4 > 0, "objective": float(k), "duration": 1.0} for k in range(12)]
    for k, row in enumerate(rows):
        row |= {"a": k // 3, "b": k % 3, "c": float(rng.normal())}
    assert picture(rows, names).startswith(b"\x89PNG")


def test_a_grid_is_told_from_a_sample(rng):
    x, y = (part.ravel() for part in np.meshgrid([1.0, 2.0, 4.0], [0.0, 0.5]))
    columns, lines, cells = cells_of(x[:-1], y[:-1], np.arange(5.0))
    assert columns.tolist() == [1, 2, 4]
    assert lines.tolist() == [0, 0.5]
    assert np.array_equal(cells, [[0, 1, 2], [3, 4, np.nan]], equal_nan=True)
    assert cells_of(np.append(x, 1.0), np.append(y, 0.0), np.append(np.arange(6.0) + 1, 0.5))[2][0, 0] == 0.5
    assert cells_of(*rng.normal(size=(3, 9))) is None
    assert cells_of(np.ones(4), np.arange(4.0), np.ones(4)) is None


def test_a_function_of_a_file_goes_to_other_processes_as_text(file):
    make, _ = command._file_function(file, "build")
    copy = pickle.loads(pickle.dumps(make))
    file.unlink()
    assert copy(1.0).phases[0].name == "swing"
    assert repr(copy) == f"build of {file}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.py"], "no Python file 'no.py'; expected one with a function build"),
        (["FILE", "--function", "buld"], "has no function 'buld': did you mean 'build'"),
        (["FILE", "--jobs", "-1"], "--jobs must be at least 0, got -1"),
        (["FILE", "--jobs", "1", "--scheduler", "tcp://x:1"], "--jobs counts processes of this machine"),
        (["FILE", "--points", "length"], "NAME=VALUES, such as speed=0.8:1.6:5 or sex=female,male, got 'length'"),
        (["FILE", "--points", "length=1:2"], "low:high:count or a list with commas, got '1:2'; ranges low:high need"),
        (["FILE", "--points", "length=2:1", "--sample", "3"], "length must be (low, high)"),
        (["FILE", "--points", "length=a:b", "--sample", "3"], "low:high or words with commas, got 'a:b'"),
        (["FILE", "--sample", "3"], "--sample needs ranges"),
        (["FILE", "--part", "3/2"], "--part: I/N, the part I of 1 to N of at most 2 points, got '3/2'"),
        (["FILE", "--part", "x"], "--part: I/N"),
        (["FILE", "--points", "length=1:2:6", "--part", "1/4"], "6 points make 3 parts of equal size: write I/3"),
    ],
)
def test_mistakes(file, tmp_path, capsys, arguments, message):
    given = [file if argument == "FILE" else argument for argument in arguments]
    assert status("sweep", *given, "--out", tmp_path / "out") == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
