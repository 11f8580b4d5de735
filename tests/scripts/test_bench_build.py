"""The benchmark of building problems."""

import subprocess
import sys

import pytest

from tests.helpers import REPOSITORY

SCRIPT = REPOSITORY / "scripts" / "bench_build.py"


def run(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=True).stdout


def test_help_tells_how_to_measure_a_robot():
    assert "--urdf" in run("--help")


@pytest.mark.slow
def test_every_case_has_times_and_memory():
    _, _, *rows = run("--repeats", "1", "--intervals", "12").splitlines()
    assert [row.split()[1] for row in rows] == ["18", "29"]
    for row in rows:
        *seconds, megabytes = (float(x) for x in row.split()[-5:])
        assert all(0 < x < 600 for x in seconds)
        assert 50 < megabytes < 10_000
