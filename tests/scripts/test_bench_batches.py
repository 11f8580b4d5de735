"""The benchmark of batches: one figure for every layout and form."""

from __future__ import annotations

import sys

import pytest

import ocp_dyn as od
from ocp_dyn.native.toolchain import find_compiler
from scripts.bench import batches as bench_batches
from scripts.bench.dynamics import ours
from scripts.bench.dynamics.robots import Robot


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.slow
def test_every_layout_is_measured(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(bench_batches, "robots", lambda: {"chain": Robot(od.models.chain(2))})

    def timed(run, states):
        run()
        return 1.25 / states

    monkeypatch.setattr(ours, "microseconds", timed)
    monkeypatch.setattr(
        sys, "argv", ["bench_batches.py", "--states", "5", "--quantities", "H", "--precision", "single"]
    )
    assert bench_batches.main() == 0
    title, head, row = capsys.readouterr().out.strip().splitlines()
    assert title == "chain, 2 dofs, 5 states, single precision, microseconds per state"
    assert head.split("  ")[0] != "Pinocchio"
    assert head.endswith("lanes, distinct")
    assert row.split() == ["H", *["0.2500"] * 6]
