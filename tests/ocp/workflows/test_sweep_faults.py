"""Sweeps in a rough world: processes that are killed, full disks, torn files, other sweeps, changed problems."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import casadi as ca
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.workflows.sweeps import sweep as sweep_module
from ocp_dyn.ocp.workflows.sweeps.crews import Outcome
from ocp_dyn.ocp.workflows.sweeps.leases import Leases
from ocp_dyn.ocp.workflows.sweeps.processes import ProcessCrew
from ocp_dyn.ocp.workflows.sweeps.store import LocalStore
from ocp_dyn.ocp.workflows.sweeps.tasks import find
from tests.helpers import REPOSITORY, Inline

POINTS = ocp.latin_hypercube({"length": (0.6, 1.4), "kind": ["light", "heavy"], "angle": (0.1, 0.9)}, 5, seed=0)


def swing(length: float, kind: str = "light", weight: float = 1.0) -> ocp.Problem:
    """A pendulum of a length turns by an angle, which is a parameter, from rest to rest."""
    builder = od.ModelBuilder("pendulum")
    builder.add_body("bob", od.Revolute("y"), mass=2.0 if kind == "heavy" else 1.0, com=(0, 0, -length))
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0))
    phase = ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared(weight)])
    return ocp.Problem(builder.build(), [phase], boundary=[ends], parameters=[ocp.Parameter("angle", 0.5)])


def deadly(folder: str, most: int, length: float, kind: str) -> ocp.Problem:
    """As `swing`; processes that are to make a heavy one are killed `most` times."""
    if kind == "heavy" and len(list(Path(folder).iterdir())) < most:
        Path(folder, str(os.getpid())).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return swing(length, kind)


def brittle(length: float, kind: str) -> ocp.Problem:
    """As `swing`, but no problem of a heavy one can be made."""
    if kind == "heavy":
        raise ValueError("too heavy")
    return swing(length, kind)


def table(folder):
    return ocp.Library(folder).rows(POINTS)


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """The folder of a sweep that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("solved")
    ocp.Sweep(swing, POINTS, folder, executor=Inline()).run(progress=False)
    return folder


@pytest.mark.slow
def test_arguments_make_the_problem_and_the_rest_are_parameters(solved):
    task = ocp.Sweep(swing, POINTS, solved / "new").next()
    assert task.arguments == tuple((name, POINTS[0].values[name]) for name in ("length", "kind"))
    assert task.values == {"angle": POINTS[0].values["angle"]}
    for point in POINTS:
        solution = ocp.Library(solved).load(point)
        assert solution.converged
        assert solution.q[-1] == pytest.approx(point.values["angle"])
        mass = 2.0 if point.values["kind"] == "heavy" else 1.0
        assert od.mass_matrix(solution.model, [0.0])[0, 0] == pytest.approx(mass * point.values["length"] ** 2)
    assert all(row["converged"] and row["error"] is None for row in table(solved))


class Shaky(ProcessCrew):
    """A crew that loses every second task at first."""

    def __init__(self, count):
        super().__init__(count)
        self.tasks, self.lost, self.solved = [], set(), []

    def __enter__(self):
        return self

    def submit(self, task):
        self.tasks.append(task)

    def busy(self):
        return len(self.tasks)

    def wait(self, longest):
        task = self.tasks.pop()
        if task.point not in self.lost and POINTS.index(task.point) % 2:
            self.lost.add(task.point)
            return [Outcome(task, lost="its process ended")]
        self.solved.append(task.point)
        return [Outcome(task, find(task))]


@pytest.mark.slow
def test_lost_tasks_are_solved_anew_and_the_table_is_the_same(solved, tmp_path, monkeypatch):
    crew = Shaky(3)
    monkeypatch.setattr(sweep_module, "ProcessCrew", lambda count: crew)
    ocp.Sweep(swing, POINTS, tmp_path).run(progress=False)
    assert len(crew.lost) == 2
    assert sorted(p.name for p in crew.solved) == sorted(p.name for p in POINTS)  # each once
    assert table(tmp_path) == table(solved)


@pytest.mark.slow
def test_killed_processes_cost_their_own_tasks_alone(solved, tmp_path):
    (tmp_path / "killed").mkdir()
    make = partial(deadly, str(tmp_path / "killed"), 2)
    ocp.Sweep(make, POINTS, tmp_path / "gaits", jobs=2).run(progress=False)
    assert len(list((tmp_path / "killed").iterdir())) == 2
    assert table(tmp_path / "gaits") == table(solved)
    assert not list((tmp_path / "gaits" / "leases").iterdir())


@pytest.mark.slow
def test_a_point_that_kills_every_process_is_told_and_the_others_are_solved(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_module, "MOST_TRIES", 2)
    (tmp_path / "killed").mkdir()
    light, heavy = ([p for p in POINTS if p.values["kind"] == kind] for kind in ("light", "heavy"))
    make = partial(deadly, str(tmp_path / "killed"), 99)
    sweep = ocp.Sweep(make, [light[0], heavy[0], light[1]], tmp_path / "gaits", jobs=1, keep_going=True)
    rows = sweep.run(progress=False)
    assert [row["point"] for row in rows if row["error"]] == [heavy[0].name]
    assert sweep.errors[heavy[0]] == "RuntimeError: 2 processes ended: its process ended with signal SIGKILL"
    assert set(sweep.done) == {light[0], light[1]}


@pytest.mark.slow
def test_errors_are_named_by_point_and_others_go_on(tmp_path):
    sweep = ocp.Sweep(brittle, POINTS, tmp_path, executor=Inline(), keep_going=True)
    rows = sweep.run(progress=False)
    heavy = {p.name for p in POINTS if p.values["kind"] == "heavy"}
    assert {row["point"] for row in rows if row["error"] == "ValueError: too heavy"} == heavy
    assert {row["point"] for row in rows if row["converged"]} == {p.name for p in POINTS} - heavy
    assert {p.name for p in ocp.Sweep(swing, POINTS, tmp_path).waiting} == heavy  # a second run tries them again
    with pytest.raises(ValueError, match="too heavy") as raised:
        ocp.Sweep(brittle, POINTS, tmp_path, executor=Inline()).run(progress=False)
    assert raised.value.__notes__[0].startswith("This was raised at the point length_")


@pytest.mark.slow
def test_a_sweep_whose_points_all_fail_stops(tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_module, "HOPELESS", 3)
    executor = Inline()
    heavy = ocp.latin_hypercube({"length": (0.6, 1.4), "kind": ["heavy"]}, 9)
    with pytest.raises(ValueError, match="too heavy"):
        ocp.Sweep(brittle, heavy, tmp_path, executor=executor, keep_going=True).run(progress=False)
    assert len(executor.tasks) == 3


class Full(LocalStore):
    """A disk that is full for the next `times` solutions."""

    times = 0

    def write(self, name, content):
        if name.endswith(".npz") and Full.times:
            Full.times -= 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), name)
        super().write(name, content)


def full(folder, times, patience, executor=None):
    sweep = ocp.Sweep(swing, POINTS, folder, executor=executor or Inline(), patience=patience)
    object.__setattr__(sweep.library, "store", Full(folder))
    Full.times = times
    return sweep


@pytest.mark.slow
def test_a_full_disk_is_waited_for(solved, tmp_path):
    executor = Inline()
    full(tmp_path, 2, 30.0, executor).run(progress=False)
    assert len(executor.tasks) == len(POINTS)
    assert table(tmp_path) == table(solved)


@pytest.mark.slow
def test_what_was_found_while_the_disk_was_full_is_written_at_the_end(solved, tmp_path):
    executor = Inline()
    full(tmp_path, 1, 0.0, executor).run(progress=False)
    assert len(executor.tasks) == len(POINTS)  # none is solved twice
    assert table(tmp_path) == table(solved)


@pytest.mark.slow
def test_a_disk_that_stays_full_is_told_and_a_second_run_continues(solved, tmp_path):
    first, second = Inline(), Inline()
    sweep = full(tmp_path, 0, 0.0, first)
    found = iter(sweep)
    next(found)
    Full.times = 99
    with pytest.raises(OSError, match=r"no room for 1 solutions that were found .*4 others|3 others; 1 are kept"):
        list(found)
    assert not list(tmp_path.glob("*.part"))
    Full.times = 0
    ocp.Sweep(swing, POINTS, tmp_path, executor=second).run(progress=False)
    assert len(second.tasks) == len(POINTS) - 1
    assert table(tmp_path) == table(solved)


@pytest.mark.slow
def test_a_result_that_is_written_twice_changes_nothing(solved, tmp_path):
    sweep = ocp.Sweep(swing, POINTS, tmp_path)
    found = find(sweep.next())
    sweep.keep(POINTS[0], found.content, found.figures)
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    sweep.keep(POINTS[0], found.content, found.figures | {"iterations": 99})
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")} == files
    cost = sweep.library.record(POINTS[0])["objective"]
    sweep.keep(POINTS[0], found.content, found.figures | {"objective": cost * (1 - 1e-12)})  # by rounding
    assert sweep.library.record(POINTS[0])["objective"] == cost
    sweep.keep(POINTS[0], found.content, found.figures | {"objective": 0.0})  # a better one takes the place
    assert sweep.library.record(POINTS[0])["objective"] == 0.0


@pytest.mark.parametrize("damage", ["torn", "changed", "record"])
@pytest.mark.slow
def test_damaged_files_go_to_quarantine_and_are_solved_again(solved, tmp_path, damage):
    sweep = ocp.Sweep(swing, POINTS, tmp_path, executor=Inline())
    sweep.run(progress=False)
    path = sweep.library.path(POINTS[2])
    content = path.read_bytes()
    if damage == "torn":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "changed":  # of the same size
        path.write_bytes(content[:-200] + bytes(200))
    else:
        (tmp_path / "records" / f"{POINTS[2].name}.json").write_text("{")
    again = ocp.Sweep(swing, POINTS, tmp_path, executor=(executor := Inline()))
    again.run(progress=False)
    assert len(executor.tasks) == (damage != "record")
    assert len(list(tmp_path.glob("quarantine/*"))) == (damage != "record")
    assert table(tmp_path) == table(solved)
    assert json.loads((tmp_path / "records" / f"{POINTS[2].name}.json").read_text())["converged"]


def test_a_sweep_knows_solutions_without_records(solved, tmp_path):
    for path in solved.glob("*.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert ocp.Sweep(swing, POINTS, tmp_path, executor=Inline(most=0)).run(progress=False) == table(solved)


@pytest.mark.slow
def test_two_sweeps_share_a_folder(solved, tmp_path, monkeypatch):
    """Each point is solved by one of them, and both have the whole table at the end."""
    monkeypatch.setattr(sweep_module, "LOOK", 0.05)
    executors, rows = (Inline(), Inline()), {}
    sweeps = [ocp.Sweep(swing, POINTS, tmp_path, executor=executor) for executor in executors]
    threads = [
        threading.Thread(target=lambda k=k: rows.__setitem__(k, sweeps[k].run(progress=False))) for k in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    points = [task.point.name for executor in executors for task in executor.tasks]
    assert sorted(points) == sorted(point.name for point in POINTS)
    assert rows[0] == rows[1] == table(solved)


def test_leases_of_sweeps_that_have_ended_are_free(tmp_path):
    store = LocalStore(tmp_path)
    with Leases(store) as one, Leases(store, stale=0.2) as other:
        assert one.take("a")
        assert one.take("a")
        assert not other.take("a")
        time.sleep(0.25)
        assert other.take("a")  # it was not touched for 0.2 s
        assert other.holder("a") == other.me
        one.free("a")  # too late
        store.write("leases/b.lease", b"gone")  # of a sweep without a sign of life
        assert one.take("b")
        assert one.holder("c") is None
    assert store.sizes("leases") == {}


@pytest.mark.slow
def test_another_problem_or_point_of_the_same_name_is_refused(solved, tmp_path):
    half = ocp.Sweep(swing, ocp.grid(length=[1.0], angle=[0.2]), tmp_path, executor=Inline())
    half.run(progress=False)
    other = ocp.Sweep(partial(swing, weight=2.0), ocp.grid(length=[1.0], angle=[0.2, 0.4]), tmp_path, executor=Inline())
    with pytest.raises(ValueError, match="holds solutions of another problem than the one that"):
        other.run(progress=False)
    record = tmp_path / "records" / "length_1.0_angle_0.2.json"
    record.write_text(record.read_text().replace('"identity": "', '"identity": "f'))
    with pytest.raises(ValueError, match=r"a solution of another point that is named 'length_1\.0_angle_0\.2'"):
        ocp.Sweep(swing, ocp.grid(length=[1.0], angle=[0.2]), tmp_path)


@pytest.mark.slow
def test_a_script_without_a_guard_is_told(tmp_path):
    """Every process imports it, and cannot start processes then."""
    script = tmp_path / "script.py"
    script.write_text(
        "from ocp_dyn import ocp\nfrom tests.ocp.workflows.test_sweep_faults import POINTS, swing\n"
        f"ocp.Sweep(swing, POINTS, {str(tmp_path / 'out')!r}, jobs=1).run()\n"
    )
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY)}
    run = subprocess.run(
        [sys.executable, script],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "BrokenProcessPool: a process of the sweep ended before its solution was found." in run.stderr
    assert "if __name__ == '__main__':" in run.stderr
