"""The command line of the benchmark of real-time iterations."""

import importlib.util
import json
import subprocess
import sys

import pytest

import ocp_dyn as od
from tests.helpers import REPOSITORY


def run(*arguments):
    command = [sys.executable, "-m", "scripts.bench.rti", *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)


@pytest.mark.slow
def test_help_tells_what_is_measured():
    text = run("--help").stdout
    assert "--no-inequalities" in text
    assert "Crocoddyl" in text


@pytest.mark.slow
@pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
def test_quick_run_gives_times_and_says_who_is_missing():
    done = run("--quick", "--json", "--repetitions", "2")
    found = json.loads(done.stdout.splitlines()[-1])
    own = found["rows"]["riccati, in C"]
    assert 0 < own["feedback min"] < own["total min"] <= own["total median"]
    assert "18 dofs" in done.stdout
    if importlib.util.find_spec("crocoddyl") is None:
        assert "Crocoddyl is left out" in done.stderr
        assert set(found) == {"rows"}
    else:
        assert found["ratio min"] > 0
