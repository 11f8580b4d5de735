"""The command line of the benchmark of real-time iterations."""

import importlib.util
import json
import sys

import pytest

import ocp_dyn as od
from scripts.bench import rti


@pytest.mark.slow
@pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
def test_quick_run_gives_times_and_says_who_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rti", "--quick", "--json", "--repetitions", "2"])
    assert rti.main() == 0
    told = capsys.readouterr()
    found = json.loads(told.out.splitlines()[-1])
    own = found["rows"]["riccati, in C"]
    assert 0 < own["feedback min"] < own["total min"] <= own["total median"]
    assert "18 dofs" in told.out
    if importlib.util.find_spec("crocoddyl") is None:
        assert "Crocoddyl is left out" in told.err
        assert set(found) == {"rows"}
    else:
        assert found["ratio min"] > 0
