"""The command line of the benchmark of the dynamics."""

import json
import subprocess
import sys

import pytest

from tests.helpers import REPOSITORY

SCRIPT = REPOSITORY / "scripts" / "bench_dynamics.py"


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=True, **options
    ).stdout


@pytest.mark.slow
def test_help_tells_what_is_measured():
    text = run("--help")
    assert "--quick" in text
    assert "Pinocchio" in text


@pytest.mark.slow
def test_quick_run_gives_tables_and_a_figure(tmp_path):
    picture = tmp_path / "bench.png"
    printed = run("--quick", "--json", "--plot", str(picture))
    found = json.loads(printed.splitlines()[-1])
    (robot,) = [name for name in found if not name.startswith("figure")]
    assert set(found[robot]) == {"ID", "C", "G"}
    assert all(row["machine"] > 0 and row["instructions"] > 0 for row in found[robot].values())
    assert set(found["figure 2"]["5"]) == {"FD", "Minv", "H_inv"}
    assert picture.read_bytes().startswith(b"\x89PNG")
