"""The table of robots that walk: a failing robot is a line of it and no more."""

from __future__ import annotations

import json
import sys

import pytest

import ocp_dyn as od
from scripts.bench import robots as bench_robots

GAIT = {
    "robot": "bolt", "gait": "walk", "converged": True, "status": "Solve_Succeeded", "dofs": 12, "mass_kg": 1.25,
    "leg_m": 0.45, "speed_m_per_s": 0.36, "step_m": 0.09, "time_s": 0.26, "double_support": 0.0, "iterations": 23,
    "cpu_seconds": 0.94, "faults": [], "bounds": ["a", "b", "c", "d", "e"],
}  # fmt: skip


def test_all_robots_with_legs_are_in_the_table():
    names = bench_robots.robots()
    assert {"talos", "bolt", "centauro", "human", "heel_spring_biped"} <= set(names)
    assert not {"alex_nub_hands", "panda"} & set(names)
    assert [name for name in names if bench_robots.trots(name)] == list(od.robots.names("quadruped"))


@pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
def test_a_failing_robot_is_a_line(monkeypatch, capsys, tmp_path):
    results = {"bolt": GAIT, "talos": {"robot": "talos", "gait": "walk", "converged": False, "error": "it fell"}}
    monkeypatch.setattr(bench_robots, "numbers_of", lambda name, options: results[name])
    monkeypatch.setattr(sys, "argv", ["bench_robots.py", "--only", "talos", "bolt", "--json", str(tmp_path / "r.json")])
    assert bench_robots.main() == 1
    out = capsys.readouterr().out
    assert "none: it fell" in out
    assert "a, b, c and 2 more" in out
    assert "1 of 2 robots go; at most 23 iterations (bolt), 0.9 s (bolt)" in out
    assert len(json.loads((tmp_path / "r.json").read_text())) == 2


def test_names_without_legs_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench_robots.py", "--only", "panda"])
    with pytest.raises(SystemExit):
        bench_robots.main()
    assert "panda" in capsys.readouterr().err or not od.robots.installed()
