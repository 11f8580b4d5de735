"""Sweeps over parameters: grids, the order of work, files, resumption, better solutions, errors."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.workflows.sweeps import tasks
from ocp_dyn.ocp.workflows.sweeps.cluster import ClusterCrew
from ocp_dyn.ocp.workflows.sweeps.processes import one_thread_each
from ocp_dyn.ocp.workflows.sweeps.tasks import find
from problems.extending.constraint import Rod
from tests import hopper
from tests.helpers import Inline


@dataclass(frozen=True)
class Hop:
    """A hop at a speed, its step length free or held."""

    speed: float
    step: float | None = None

    @property
    def name(self):
        return f"{self.speed}_{self.step}"

    @property
    def values(self):
        return {"speed": self.speed} | ({} if self.step is None else {"step_length": self.step})

    @property
    def variant(self):
        return (self.step is None,)

    def distance(self, other):
        return abs(self.speed - other.speed) + (self.step != other.step)

    def relaxes(self, other):
        return self.speed == other.speed and self.step is None and other.step is not None


HOPS = (Hop(0.8), Hop(0.9), Hop(0.8, 0.4))


def names(work):
    return [point.name for point, _ in work]


def test_a_grid_begins_in_the_middle_and_counts_its_own_steps():
    points = ocp.grid(speed=[1.4, 1.0, 1.2], slope=(-0.05, 0.0, 0.05, 0.1, 0.15), load=[3])
    assert len(set(points)) == 15
    assert points[0].values == {"speed": 1.2, "slope": 0.05, "load": 3.0}
    assert points[0].name == "speed_1.2_slope_0.05_load_3.0"
    one, other = (
        next(p for p in points if p.values == {"speed": v, "slope": s, "load": 3})
        for v, s in ((1.0, 0.1), (1.4, -0.05))
    )
    assert one.distance(other) == pytest.approx(2 + 3)
    assert not one.relaxes(other)
    distances = [points[0].distance(point) for point in points]
    assert distances == sorted(distances)


def test_a_point_starts_from_the_nearest_before_it_that_converged(tmp_path):
    """The tree: 1.2 is the parent of 1.35 and 0.8, 1.35 that of 1.4, 0.8 that of the hop with a held step."""
    points = [near := Hop(1.2), far := Hop(0.8), failed := Hop(1.35), wanted := Hop(1.4), held := Hop(0.8, 0.5)]
    work = ocp.Sweep(hopper.problem, points, tmp_path)
    task = work.next()
    assert (task.point, task.start) == (near, None)  # the first of all
    assert work.next() is None  # the others begin at it

    def finished(point, converged):
        work.library.write(f"{point.name}.npz", point.name.encode())
        work._finish(point, {"converged": converged})

    finished(near, True)
    assert {(task.point, task.start) for task in (work.next(), work.next())} == {
        (far, near.name.encode()),
        (failed, near.name.encode()),
    }
    assert work.next() is None
    finished(failed, False)
    task = work.next()
    assert (task.point, task.start) == (wanted, near.name.encode())  # its parent did not converge
    finished(far, True)
    task = work.next()
    assert (task.point, task.start, task.variant) == (held, far.name.encode(), (False,))
    assert work.next() is None


@pytest.mark.slow
def test_a_sweep_that_was_stopped_goes_on_and_repeats_nothing(tmp_path):
    stopped = ocp.Sweep(hopper.problem, HOPS, tmp_path / "new", executor=Inline(most=1))
    assert len(stopped) == 3
    with pytest.raises(KeyboardInterrupt):
        names(stopped)
    (file,) = (tmp_path / "new").glob("*.npz")
    written = file.stat().st_mtime_ns
    stopped.library.path(HOPS[2]).write_bytes(b"half a file")  # as another program may leave one
    rest = ocp.Sweep(hopper.problem, HOPS, tmp_path / "new", executor=Inline(), solve={"tolerance": 1e-7})
    assert list(rest.done) == [HOPS[0]]
    found = dict(rest)
    assert set(found) == {*HOPS[1:]}
    assert all(task.start for task in rest.executor.tasks)
    assert all(task.options == {"tolerance": 1e-7} for task in rest.executor.tasks)
    assert file.stat().st_mtime_ns == written
    for point in HOPS:
        solution = rest.library.load(point)
        assert solution.converged
        assert solution.step_length / solution.duration == pytest.approx(point.speed)
    assert found[HOPS[2]].step_length == pytest.approx(0.4)
    idle = ocp.Sweep(hopper.problem, HOPS, tmp_path / "new", executor=Inline(most=0))
    assert names(idle) == []
    assert idle.done == dict.fromkeys(HOPS, True)


def test_a_relaxed_point_costs_no_more_than_those_it_relaxes(tmp_path):
    """It is tried once more from the cheaper one, and the better of the two is kept."""
    free, held, other = Hop(0.8), Hop(0.8, 0.4), Hop(0.9, 0.4)
    work = ocp.Sweep(hopper.problem, [free, held, other], tmp_path)

    def keep(point, cost):
        work.keep(point, f"{point.name} {cost}".encode(), {"converged": True, "objective": cost})
        return work.library.record(point)["objective"]

    assert keep(free, 3.0) == 3.0
    assert work.another_try(free) is None  # the held step is not solved yet
    keep(other, 1.0)
    assert work.another_try(other) is None
    keep(held, 2.0)
    task = work.another_try(held)
    assert (task.point, task.start) == (free, b"0.8_0.4 2.0")
    assert keep(free, 4.0) == 3.0
    assert work.another_try(free) is None
    assert keep(free, 1.0) == 1.0
    assert work.library.path(free).read_bytes() == b"0.8_None 1.0"
    assert sorted(path.suffix for path in tmp_path.iterdir()) == ["", ".json", ".npz", ".npz", ".npz"]


@pytest.mark.slow
def test_what_was_not_found_is_tried_again_when_asked(tmp_path):
    sweep = partial(ocp.Sweep, hopper.problem, HOPS[:1], tmp_path)
    assert [s.converged for _, s in sweep(executor=Inline(), solve={"max_iterations": 1})] == [False]
    assert names(sweep(executor=Inline(most=0))) == []
    assert [s.converged for _, s in sweep(executor=Inline(), again=True)] == [True]


@pytest.mark.slow
def test_a_start_that_leads_nowhere_is_given_up(tmp_path, monkeypatch):
    asked, plain = [], tasks.solution_of

    def solve(problem, **options):
        """Fails wherever it does not begin at its own guess."""
        near = {"start", "guess"} & options.keys()
        asked.append((*sorted(near), options.get("mu_init")))
        return plain(problem, **options | ({"max_iterations": 1} if near else {}))

    monkeypatch.setattr(tasks, "solution_of", solve)
    work = ocp.Sweep(hopper.problem, HOPS[:2], tmp_path, executor=Inline())
    assert all(solution.converged for _, solution in work)
    assert asked == [(None,), ("start", None), (None,)]


def test_a_task_that_raises_loses_no_other(tmp_path):
    wrong, good = Hop(float("nan")), Hop(0.8)
    work = ocp.Sweep(hopper.problem, [good, wrong], tmp_path, executor=Inline())
    found = iter(work)
    assert next(found)[0] == good
    with pytest.raises(ValueError, match="speed"):
        next(found)
    assert work.library.converged(good)
    assert work.library.converged(wrong) is None


def made_of_words():
    return "a problem"


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"make": lambda: None}, TypeError, "make must be a function of a module, which other processes can import"),
        ({"make": "walk"}, TypeError, "make must be a function that returns a Problem, got 'walk'"),
        ({"points": [Hop(0.8), Hop(0.80, None), Hop("0.8")]}, ValueError, "2 points have the name '0.8_None'"),
        ({"points": 3}, TypeError, r"points must be a list of points, such as grid\(.*\), got 3"),
        ({"points": [{"speed": 1}]}, TypeError, "got {'speed': 1}, which lacks name, variant, distance, relaxes"),
        ({"executor": print}, TypeError, "executor must have the method submit"),
        ({"settings": {"model": hopper}}, TypeError, "settings must be values that JSON can hold"),
        ({"scheduler": 8786}, TypeError, "scheduler must be an address"),
        ({"jobs": -1}, ValueError, "jobs must be at least 0"),
        ({"jobs": 2, "scheduler": "tcp://one:8786"}, ValueError, "jobs has no effect: leave it out"),
        ({"executor": ThreadPoolExecutor(1), "scheduler": "tcp://one:8786"}, ValueError, "executor has no effect"),
        ({"solve": 3}, TypeError, "solve must be a dict by name, got 3"),
        ({"again": "yes"}, TypeError, "again must be True or False"),
        ({"folder": 3}, TypeError, "folder must be a string or a pathlib.Path"),
        (
            {"settings": {"model": "dog"}},
            ValueError,
            "holds solutions of {'model': 'cat'}, not {'model': 'dog'}: choose another",
        ),
    ],
)
def test_wrong_sweeps_are_refused(tmp_path, wrong, error, message):
    good = {"make": hopper.problem, "points": HOPS, "folder": tmp_path, "settings": {"model": "cat"}}
    ocp.Sweep(**good)
    with pytest.raises(error, match=message):
        ocp.Sweep(**good | wrong)


def test_other_errors(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="grid: speed must be finite numbers, one or more, got"):
        ocp.grid(speed=[1.0, float("inf")])
    with pytest.raises(ValueError, match="grid needs values"):
        ocp.grid()
    with pytest.raises(ValueError, match="grid: speed must be numbers or words of letters"):
        ocp.grid(speed=["fast", 1.0])
    with pytest.raises(TypeError, match=r"grid: sex must be a list, got 'male': write \['male'\]"):
        ocp.grid(sex="male")
    (tmp_path / "library.json").write_text("{")
    with pytest.raises(ValueError, match=r"library.json is damaged .*: remove it"):
        ocp.Sweep(hopper.problem, HOPS, tmp_path)
    words = ocp.Sweep(made_of_words, ocp.grid(speed=[1.0]), tmp_path / "words", executor=Inline())
    with pytest.raises(TypeError, match="make must return a Problem, got str"):
        find(words.next())
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RuntimeError, match=r"ocp_dyn\[cluster\]"):
        ClusterCrew("tcp://127.0.0.1:1", 1.0)


def test_processes_getone_thread_each(monkeypatch):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with one_thread_each():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    assert "OPENBLAS_NUM_THREADS" not in os.environ
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    with one_thread_each():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"


@pytest.mark.slow
def test_processes_of_this_machine(tmp_path):
    work = ocp.Sweep(hopper.problem, ocp.grid(speed=[0.75, 0.8], slope=[0.0, 0.05]), tmp_path, jobs=1)
    found = dict(work)
    assert found.keys() == set(work.points)
    for point, solution in found.items():
        assert solution.converged
        values = dict(zip(solution.record.parameters, solution.record.values, strict=True))
        assert {name: values[name] for name in point.values} == pytest.approx(point.values)


def held_by_a_rod():
    ends = ocp.Boundary(lambda start, end: (start.q[1] - end.values["angle"], 0, 0))
    rod = Rod("link2", (0.5, 0.0, 0.0), float(np.hypot(0.5, 1.0)))
    phase = ocp.Phase("hang", 2, 0.5, constraints=rod, objective=[ocp.TorqueSquared()])
    return ocp.Problem(od.models.pendulum(2), [phase], boundary=[ends], parameters=[ocp.Parameter("angle", 0.0)])


@pytest.mark.slow
def test_sweeps_know_the_users_constraints(tmp_path):
    points = ocp.grid(angle=[0.0, 0.01])
    with pytest.raises(ValueError, match=r"constraints=\(Rod,\)"):
        list(ocp.Sweep(held_by_a_rod, points, tmp_path, executor=Inline()))
    options = {"executor": Inline(), "constraints": Rod}
    assert len(list(ocp.Sweep(held_by_a_rod, points, tmp_path, **options))) == 1  # the first was written before
    again = ocp.Sweep(held_by_a_rod, points, tmp_path, **options)
    assert not again.waiting
    assert again.library.load(points[0]).phases[0].contacts


def test_a_library_needs_points_with_a_name(tmp_path):
    with pytest.raises(TypeError, match=r"points that have a name, such as grid\(...\)\[0\], got 'x'"):
        ocp.Library(tmp_path).load("x")


def test_the_points_alone_give_values(tmp_path):
    with pytest.raises(ValueError, match=r"solve must not hold values, got .*: the points give the parameters"):
        ocp.Sweep(hopper.problem, HOPS, tmp_path, solve={"values": {"speed": 1.0}})


@pytest.mark.slow
def test_options_of_solves_hold_at_every_point(tmp_path, monkeypatch):
    asked, plain = [], tasks.solution_of
    monkeypatch.setattr(
        tasks, "solution_of", lambda problem, **options: asked.append(options) or plain(problem, **options)
    )
    guess = hopper.problem(0.8).solve(progress=False)
    solve = {"guess": guess, "linear_solver": "mumps"}
    found = [solution for _, solution in ocp.Sweep(hopper.problem, HOPS[:2], tmp_path, executor=Inline(), solve=solve)]
    assert [options.get("guess") for options in asked] == [guess, None]  # the second starts from the first
    assert [solution.stats["linear_solver"] for solution in found] == ["mumps"] * 2
    with pytest.raises(ValueError, match="solve must not hold start: every point starts from the nearest"):
        ocp.Sweep(hopper.problem, HOPS, tmp_path, solve={"start": guess})


def test_a_process_that_ends_tells_of_scripts_and_memory(tmp_path):
    class Broken:
        def submit(self, *_):
            future = Future()
            future.set_exception(BrokenProcessPool("terminated abruptly"))
            return future

    sweep = ocp.Sweep(hopper.problem, HOPS[:1], tmp_path, executor=Broken())
    with pytest.raises(BrokenProcessPool, match=r"if __name__ == '__main__'.*memory") as raised:
        list(sweep)
    assert str(raised.value.__cause__) == "terminated abruptly"
