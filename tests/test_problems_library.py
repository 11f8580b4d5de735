"""The library of gaits: grid, order of work, files, resumption, table, command line."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import types
from concurrent.futures import Executor, Future

import numpy as np
import pytest

from ocp_dyn import ocp
from problems import gait_library
from problems.gait_library import FREE, Gait, Library, Sweep

HOPPER = "tests.hopper:problem"
GRID = gait_library.grid([0.7, 0.8, 0.9], [0.05], [FREE, 0.4])


class Inline(Executor):
    """Does at once what it is given; stops after so many."""

    def __init__(self, most=100):
        self.tasks, self.most = [], most

    def submit(self, function, task):
        if len(self.tasks) == self.most:
            raise KeyboardInterrupt
        self.tasks.append(task)
        future = Future()
        future.set_result(function(task))
        return future


def test_the_grid_begins_in_the_middle():
    grid = gait_library.grid([1.0, 1.2, 1.4], [-0.1, 0.0, 0.1], [FREE, 0.6])
    assert len(grid) == 18
    assert (grid[0].speed, grid[0].slope, grid[0].free) == (1.2, 0.0, True)
    assert grid[0].name == "speed_1.200_slope_+0.000_step_free"
    assert grid[0].values == {"speed": 1.2, "slope": 0.0}
    assert Gait(1.0, 0.1, 0.6).values == {"speed": 1.0, "slope": np.arctan(0.1), "step_length": 0.6}
    assert len({gait.name for gait in grid}) == 18


def test_a_gait_begins_at_the_nearest_that_was_found(tmp_path):
    library = Library(tmp_path)
    near, far, failed, wanted = Gait(1.2, 0.0), Gait(0.8, 0.0), Gait(1.35, 0.0), Gait(1.4, 0.0)
    for gait in (near, far):
        library.write(library.path(gait), gait.name.encode())
    work = Sweep(library, "legs", True, "auto", [wanted], {near: True, far: True, failed: False})
    task = work.next(busy=1)
    assert (task.gait, task.start, task.same) == (wanted, near.name.encode(), True)
    assert work.next(busy=0) is None
    first = Sweep(library, "legs", True, "auto", [wanted, near], {})
    assert first.next(busy=0).start is None
    assert first.next(busy=1) is None  # the first gait goes alone: others begin at it


def test_an_interrupted_library_goes_on_and_repeats_nothing(tmp_path):
    stopped = Inline(most=2)
    with pytest.raises(KeyboardInterrupt):
        gait_library.run(tmp_path, GRID, model=HOPPER, executor=stopped, progress=False)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    assert len(files) == 2
    assert not list(tmp_path.glob("*.part"))
    (tmp_path / f"{GRID[-1].name}.npz").write_bytes(b"half a file")  # as another program may leave one
    rest = Inline()
    rows = gait_library.run(tmp_path, GRID, model=HOPPER, executor=rest, progress=False)
    assert len({task.gait for task in rest.tasks}) == 4  # a free step may be tried again from a held one
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert {task.gait for task in rest.tasks} == set(GRID) - {task.gait for task in stopped.tasks}
    assert all(task.start for task in rest.tasks)
    assert len(rows) == 6
    for row in rows:
        assert row["converged"]
        solution = ocp.Solution.load(tmp_path / row["file"])
        assert solution.step_length / solution.duration == pytest.approx(row["speed_m_per_s"])
        if row["step_length_asked_m"] != "free":
            assert solution.step_length == pytest.approx(row["step_length_asked_m"])
    with (tmp_path / "table.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [line["file"] for line in table] == [row["file"] for row in rows]
    assert (tmp_path / "library.png").stat().st_size > 10_000
    idle = Inline(most=0)
    assert gait_library.run(tmp_path, GRID, model=HOPPER, executor=idle, progress=False) == rows


def test_a_free_step_costs_no_more_than_a_held_one(tmp_path, monkeypatch):
    """It is tried once more from the held one, and the better of the two is kept."""
    free, held = Gait(0.8, 0.0), Gait(0.8, 0.0, 0.4)
    library = Library(tmp_path)
    work = Sweep(library, "legs", True, "auto", [], {})
    costs = {b"dear": 3.0, b"held": 2.0, b"dearer": 4.0, b"cheap": 1.0}
    found = {key: types.SimpleNamespace(objective=cost, converged=True) for key, cost in costs.items()}
    monkeypatch.setattr(ocp.Solution, "load", staticmethod(lambda path: found[path.read_bytes()]))
    work.keep(free, b"dear")
    assert work.another_try(free) is None
    work.keep(held, b"held")
    task = work.another_try(held)
    assert (task.gait, task.start, task.same) == (free, b"held", False)
    assert work.keep(free, b"dearer").objective == 3.0
    assert work.another_try(free) is None
    assert work.keep(free, b"cheap").objective == 1.0
    assert library.path(free).read_bytes() == b"cheap"
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".npz", ".npz"]


def test_what_was_not_found_is_tried_again_when_asked(tmp_path, monkeypatch):
    plain = ocp.Problem.solve
    monkeypatch.setattr(ocp.Problem, "solve", lambda self, **options: plain(self, **options, max_iterations=1))
    rows = gait_library.run(tmp_path, GRID[:1], model=HOPPER, executor=Inline(), progress=False)
    assert [row["converged"] for row in rows] == [False]
    monkeypatch.setattr(ocp.Problem, "solve", plain)
    assert not gait_library.run(tmp_path, GRID[:1], model=HOPPER, executor=Inline(0), progress=False)[0]["converged"]
    again = gait_library.run(tmp_path, GRID[:1], model=HOPPER, executor=Inline(), again=True, progress=False)
    assert again[0]["converged"]


def test_errors(tmp_path, capsys):
    with pytest.raises(ValueError, match="model must be one of legs, human"):
        gait_library.run(tmp_path, GRID, model="dog")
    gait_library.run(tmp_path, [], model=HOPPER, executor=Inline(), progress=False)
    with pytest.raises(ValueError, match="another folder"):
        gait_library.run(tmp_path, [], model="legs", executor=Inline(), progress=False)
    for arguments in (["--quick"], ["--out", str(tmp_path), "--speeds", "9"], ["--out", str(tmp_path), "--jobs", "-1"]):
        with pytest.raises(SystemExit):
            gait_library.main(arguments)
    assert "--out DIR is needed" in capsys.readouterr().err


def test_a_cluster_needs_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RuntimeError, match=r"ocp_dyn\[cluster\]"):
        gait_library.cluster("tcp://127.0.0.1:1")


@pytest.mark.slow
def test_a_killed_sweep_loses_nothing(tmp_path):
    """Killed without a chance to clean up; the second run does only what is missing."""
    command = [sys.executable, "-m", "problems.gait_library", "--model", HOPPER, "--out", str(tmp_path), "--jobs", "2"]
    command += [
        "--speeds",
        "0.7",
        "0.8",
        "0.9",
        "1.0",
        "--slopes",
        "0",
        "0.05",
        "0.1",
        "--steps",
        "free",
        "0.4",
        "--json",
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(list(tmp_path.glob("*.npz"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    assert 4 <= len(before) < 24
    for path in before:
        assert ocp.Solution.load(path).converged is not None
    second = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    numbers = json.loads(second.stdout.splitlines()[-1])
    assert numbers["gaits"] == 24
    assert f"{len(before)} of 24 gaits are there already" in second.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(tmp_path.glob("*.npz"))) == 24
