"""The library of gaits: grid, table, a free step beside held ones, resumption of a killed run, command line."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.walking import GaitPoint, gait_grid
from problems import gait_library
from problems.gait_library import FREE
from tests.helpers import Inline

HOPPER = "tests.hopper:problem"
GRID = gait_grid([0.8, 0.9], [0.05], [FREE, 0.4])


def test_the_grid_begins_in_the_middle():
    grid = gait_grid([1.0, 1.2, 1.4], [-0.1, 0.0, 0.1], [FREE, 0.6])
    assert len(grid) == 18
    assert (grid[0].speed, grid[0].slope, grid[0].free) == (1.2, 0.0, True)
    assert grid[0].name == "speed_1.200_slope_+0.000_step_free"
    assert grid[0].values == {"speed": 1.2, "slope": 0.0}
    assert GaitPoint(1.0, 0.1, 0.6).values == {"speed": 1.0, "slope": np.arctan(0.1), "step_length": 0.6}
    assert len({gait.name for gait in grid}) == 18


@pytest.mark.slow
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
    assert len({task.point for task in rest.tasks}) == 2  # a free step may be tried again from a held one
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert {task.point for task in rest.tasks} == set(GRID) - {task.point for task in stopped.tasks}
    assert all(task.start for task in rest.tasks)
    assert len(rows) == 4
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


def test_a_free_step_relaxes_the_held_ones_of_its_gait():
    free, held = GaitPoint(0.8, 0.0), GaitPoint(0.8, 0.0, 0.4)
    assert free.relaxes(held)
    assert not held.relaxes(free)
    assert not free.relaxes(GaitPoint(0.9, 0.0, 0.4))
    assert not free.relaxes(GaitPoint(0.8, 0.1, 0.4))
    assert (free.variant, held.variant) == ((True,), (False,))
    assert free.distance(held) == 1.0
    assert held.distance(GaitPoint(1.0, 0.1, 0.45)) == pytest.approx(2.5)


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


@pytest.mark.slow
def test_a_killed_sweep_loses_nothing(tmp_path, capsys):
    """Killed without a chance to clean up; the second run does only what is missing."""
    asked = ["--model", HOPPER, "--out", str(tmp_path), "--speeds", "0.7", "0.8", "0.9", "--slopes", "0", "0.1"]
    asked += ["--steps", "free", "0.4", "--json"]
    command = [sys.executable, "-m", "problems.gait_library", *asked, "--jobs", "2"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(list(tmp_path.glob("*.npz"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    assert 3 <= len(before) < 12
    for path in before:
        assert ocp.Solution.load(path).converged is not None
    gait_library.main([*asked, "--jobs", "1"])
    out, err = capsys.readouterr()
    assert json.loads(out.splitlines()[-1])["gaits"] == 12
    assert f"{len(before)} of 12 gaits are in the folder already" in err
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(tmp_path.glob("*.npz"))) == 12
