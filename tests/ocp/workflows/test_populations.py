"""Samples and trees of points, folders on other machines, results as tables and data sets."""

from __future__ import annotations

import sys
from concurrent.futures import CancelledError, Future

import numpy as np
import pytest

from ocp_dyn import ocp
from ocp_dyn.ocp.workflows.sweeps.cluster import ClusterCrew
from ocp_dyn.ocp.workflows.sweeps.points import distances
from ocp_dyn.ocp.workflows.sweeps.starts import Starts, tree
from ocp_dyn.ocp.workflows.sweeps.store import RemoteStore, store_of
from ocp_dyn.ocp.workflows.sweeps.tasks import Task, find
from tests.helpers import Inline
from tests.ocp.workflows.test_sweep_faults import POINTS, swing

RANGES = {"mass": (50, 100), "height": (1.5, 1.9), "sex": ["female", "male", "x"], "slope": (-0.1, 0.1)}


def test_each_part_of_every_range_holds_one_sample():
    n = 40
    points = ocp.latin_hypercube(RANGES, n, seed=5)
    assert points == ocp.latin_hypercube(RANGES, n, seed=5)
    assert points != ocp.latin_hypercube(RANGES, n, seed=6)
    for name in ("mass", "height", "slope"):
        low, high = RANGES[name]
        values = np.array([point.values[name] for point in points])
        assert sorted(np.floor((values - low) / (high - low) * n).astype(int)) == list(range(n))
    counts = [sum(p.values["sex"] == word for p in points) for word in RANGES["sex"]]
    assert sorted(counts) == [13, 13, 14]
    assert len({point.name for point in points}) == n
    center = [(75 - p.values["mass"]) / 50 for p in points]
    assert abs(center[0]) < 0.3  # the first is near the middle


@pytest.mark.parametrize(
    ("ranges", "n", "error", "message"),
    [
        ({}, 3, TypeError, "ranges must be a dict"),
        ({"mass": (100, 50)}, 3, ValueError, r"mass must be \(low, high\), two finite numbers in this order"),
        ({"mass": (1, 2, 3)}, 3, ValueError, "mass must be"),
        ({"mass": (1, np.inf)}, 3, ValueError, "mass must be"),
        ({"sex": ["fe male"]}, 3, ValueError, "words of letters, digits"),
        ({"sex": "male"}, 3, TypeError, r"write \['male'\]"),
        ({"mass": (1, 2)}, 0, ValueError, "n must be at least 1"),
    ],
)
def test_samples_that_cannot_be(ranges, n, error, message):
    with pytest.raises(error, match=message):
        ocp.latin_hypercube(ranges, n)


def test_distances_of_arrays_are_those_of_points():
    points = ocp.latin_hypercube(RANGES, 20)
    for k in (0, 7):
        np.testing.assert_allclose(distances(points)(k), [p.distance(points[k]) for p in points], atol=1e-12)


def test_the_tree_of_starts_spans_all_points_by_short_edges_and_ways():
    points = ocp.latin_hypercube(RANGES, 200)
    depth, edge = {}, {}
    for shortcut in (0.0, 0.2, 1.0):
        order, parents = tree(points, shortcut)
        assert sorted(order) == list(range(200))
        assert parents[order[0]] == -1
        generation = {order[0]: 0}
        for k in order[1:]:
            generation[k] = generation[parents[k]] + 1  # the parent comes first
        depth[shortcut] = max(generation.values())
        edge[shortcut] = np.mean([points[k].distance(points[parents[k]]) for k in order[1:]])
    assert depth[0.2] < 0.6 * depth[0.0]
    assert edge[0.0] <= edge[0.2] < 1.15 * edge[0.0]
    assert depth[1.0] < depth[0.2]
    # Prim: no edge is longer than another one that would join its two sides
    order, parents = tree(points, 0.0)
    inside = set(order[:100])
    least = min(points[i].distance(points[k]) for i in inside for k in set(range(200)) - inside)
    assert points[order[100]].distance(points[parents[order[100]]]) == pytest.approx(least)


def test_points_wait_for_their_parents():
    points = ocp.latin_hypercube(RANGES, 30)
    starts, waiting, seen = Starts(points, set(points)), set(points), []
    assert starts.pop() == points[0]
    assert starts.pop() is None
    queue = [points[0]]
    while queue:
        seen.append(queue.pop())
        waiting.discard(seen[-1])
        starts.release(seen[-1], waiting)
        while (point := starts.pop()) is not None:
            assert starts.parents[point] in seen
            queue.append(point)
    assert set(seen) == set(points)
    done = set(seen[:10])
    ready = Starts(points, set(points) - done)
    assert ready.parents[ready.pop()] in done


def test_neighborhoods_are_all_points_in_parts_of_neighbors():
    points = ocp.latin_hypercube(RANGES, 100)
    parts = ocp.neighborhoods(points, 13)
    assert sorted(p.name for part in parts for p in part) == sorted(p.name for p in points)
    assert sorted(map(len, parts)) == [12, 12, 12, 12, 13, 13, 13, 13]
    assert parts == ocp.neighborhoods(points[::-1], 13)
    within = np.mean([a.distance(b) for part in parts for a in part for b in part])
    assert within < 0.7 * np.mean([a.distance(b) for a in points for b in points])
    assert ocp.neighborhoods([], 3) == []
    with pytest.raises(TypeError, match="points must have the same coordinates"):
        ocp.neighborhoods([*points, *ocp.grid(speed=[1.0])], 5)


def test_words_in_a_grid():
    points = ocp.grid(sex=["male", "female"], speed=[1.0, 1.2])
    assert {point.name for point in points} == {
        f"sex_{sex}_speed_{speed}" for sex in ("male", "female") for speed in (1.0, 1.2)
    }
    assert points[0].distance(next(p for p in points if p.values["sex"] == "female")) == pytest.approx(1.0)


# Folders on other machines


@pytest.fixture(params=["memory", "dir"])
def remote(request, tmp_path):
    """The address of a folder that fsspec opens: of an object store, and of a file system whose writes are seen."""
    pytest.importorskip("fsspec")
    return {"memory": f"memory://{tmp_path.name}/gaits", "dir": f"local://{tmp_path}/gaits"}[request.param]


@pytest.mark.slow
def test_a_folder_on_another_machine(remote):
    stopped = ocp.Sweep(swing, POINTS, remote, executor=Inline(most=3))
    with pytest.raises(KeyboardInterrupt):
        stopped.run(progress=False)
    executor = Inline()
    sweep = ocp.Sweep(swing, POINTS, remote, executor=executor)
    assert len(sweep.done) == 3
    rows = sweep.run(progress=False)
    assert len(executor.tasks) == len(POINTS) - 3
    assert all(row["converged"] for row in rows)
    assert sweep.library.load(POINTS[1]).converged
    assert sweep.library.store.sizes("leases") == {}
    with pytest.raises(ValueError, match=r"has no paths of this machine: library.load"):
        sweep.library.path(POINTS[0])
    torn = f"{POINTS[3].name}.npz"
    sweep.library.store.write(torn, sweep.library.store.read(torn)[:100])
    assert [p.name for p in ocp.Sweep(swing, POINTS, remote).waiting] == [POINTS[3].name]
    assert not [
        name for name in sweep.library.store.system.ls(sweep.library.store.root, detail=False) if "part" in name
    ]


def test_addresses_that_cannot_be_opened(monkeypatch):
    with pytest.raises(ValueError, match=r"the folder 'nowhere://x' cannot be opened"):
        store_of("nowhere://x")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(RuntimeError, match=r"ocp_dyn\[cluster\]"):
        RemoteStore("s3://bucket/gaits")


# Results


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    sweep = ocp.Sweep(swing, POINTS, tmp_path_factory.mktemp("swept"), executor=Inline())
    sweep.run(progress=False)
    return sweep


@pytest.mark.slow
def test_tables_of_all_points(swept, tmp_path, monkeypatch):
    path = swept.library.to_table(POINTS, tmp_path / "table.csv")
    lines = path.read_text().splitlines()
    assert lines[0].startswith("point,length,kind,angle,converged,status,objective")
    assert len(lines) == len(POINTS) + 1
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(swept.library.to_table(POINTS, tmp_path / "table.parquet")).to_pylist()
    assert rows == swept.library.rows(POINTS)
    with pytest.raises(ValueError, match=r"a table is a file .csv or .parquet, got 'table.xls'"):
        swept.library.to_table(POINTS, tmp_path / "table.xls")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(RuntimeError, match=r"ocp_dyn\[data\]"):
        swept.library.to_table(POINTS, tmp_path / "other.parquet")


@pytest.mark.slow
def test_motions_as_a_data_set(swept, monkeypatch):
    pytest.importorskip("xarray")
    data = swept.library.to_dataset(POINTS, nodes=9)
    assert dict(data.sizes) == {"point": len(POINTS), "node": 9, "position": 1, "dof": 1}
    for point in POINTS:
        one, solution = data.sel(point=point.name), swept.library.load(point)
        np.testing.assert_allclose(one.q[::2, 0], solution.q[:, 0])  # 4 intervals: every second of the 9 is a node
        np.testing.assert_allclose(one.tau[[0, 2, 7], 0], solution.tau[[0, 1, 3], 0])
        assert float(one.t[-1]) == solution.duration
        assert float(one.length) == point.values["length"]
        assert str(one.kind.values) == point.values["kind"]
        assert float(one.objective) == solution.objective
    assert data.q.attrs["units"] == "rad, m"
    with pytest.raises(ValueError, match="no solution that converged at any of the 1 points"):
        swept.library.to_dataset(ocp.grid(length=[3.0]))
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(RuntimeError, match=r"ocp_dyn\[data\]"):
        swept.library.to_dataset(POINTS)


def test_records_tell_starts_and_times(swept):
    records = swept.library.records(POINTS)
    first = POINTS[0].name
    assert [name for name, record in records.items() if not record["start"]] == [first]
    parents = swept._starts.parents
    assert all(record["start"] == parents[p].name for p in POINTS[1:] if (record := records[p.name]))
    assert len({record["problem"] for record in records.values()}) == len(POINTS)
    assert all(record["processor_seconds"] > 0 for record in records.values())


@pytest.mark.slow
def test_a_neighbor_with_the_same_program_gives_its_multipliers(monkeypatch, tmp_path):
    """One of another program gives its motion alone."""
    from ocp_dyn.ocp.workflows.sweeps import tasks

    asked, plain = [], tasks.solution_of
    monkeypatch.setattr(tasks, "solution_of", lambda problem, **o: asked.append(o) or plain(problem, **o))
    near = find(task := ocp.Sweep(swing, POINTS, tmp_path).next()).content
    assert {"start", "guess"} & asked.pop().keys() == set()
    find(Task(task.point, task.make, arguments=(("length", 1.1),), values={"angle": 0.3}, start=near))
    assert "start" in asked.pop()
    find(Task(task.point, __import__("pickle").dumps(longer), start=near))
    assert (asked[-1]["mu_init"], "guess" in asked.pop()) == (tasks.FIRST_BARRIER, True)


def longer() -> ocp.Problem:
    """A swing with more intervals."""
    from dataclasses import replace

    problem = swing(1.0)
    return replace(problem, phases=[replace(problem.phases[0], intervals=6)])


# A cluster, without one


class Answer(Future):
    """A future with the status of Dask's; `failing` is raised in place of its result."""

    status, failing = "finished", None

    def result(self, timeout=None):
        if self.failing is not None:
            raise self.failing
        return super().result(timeout)


class Client:
    """As Dask's, but its tasks are done when `work` is called, and a scheduler can be killed."""

    made: list[Client] = []

    def __init__(self, address, timeout):
        if Client.down:
            Client.down -= 1
            raise OSError("no scheduler")
        self.status, self.tasks = "running", []
        Client.made.append(self)

    down = 0

    def nthreads(self):
        return {"one": 1, "two": 2}

    def submit(self, function, task, key, pure):
        future = Answer()
        self.tasks.append((future, function, task))
        return future

    def work(self):
        for future, function, task in self.tasks:
            future.set_result(function(task))

    def close(self, timeout):
        self.status = "closed"

    cancel = close


@pytest.mark.slow
def test_tasks_of_a_scheduler_that_is_gone_are_lost_and_not_deadly(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", type(sys)("distributed"))
    sys.modules["distributed"].Client = Client
    task, said = ocp.Sweep(swing, POINTS, tmp_path).next(), []
    with ClusterCrew("tcp://head:8786", 60.0, said.append) as crew:
        assert crew.room() == 6
        crew.submit(task)
        assert (crew.room(), crew.busy()) == (5, 1)
        Client.made[-1].work()
        (outcome,) = crew.wait(1.0)
        assert outcome.found.figures["converged"]
        for status, failing in (("lost", None), ("finished", TimeoutError()), ("finished", CancelledError())):
            Client.made[-1].tasks.clear()
            crew.submit(task)
            future = Client.made[-1].tasks[0][0]
            future.status, future.failing = status, failing
            Client.made[-1].work()
            (outcome,) = crew.wait(1.0)
            assert outcome.lost
            assert not outcome.deadly
        Client.made[-1].nthreads = lambda: (_ for _ in ()).throw(OSError("gone"))
        assert crew.room() == 0
        crew.submit(task)
        Client.made[-1].status, Client.down = "connecting", 1
        assert crew.room() == 0
        (outcome,) = crew.wait(0.01)
        assert (outcome.lost, outcome.deadly) == ("the scheduler is gone", False)
        assert (crew.busy(), crew.room(), len(said)) == (0, 6, 2)
        Client.made[-1].status, Client.down, crew.patience = "closed", 9, 0.0
        with pytest.raises(OSError, match="no scheduler"):
            crew.wait(0.01)
    Client.down = 0
