"""The command line of the benchmark of the dynamics."""

import json
import subprocess
import sys

import pytest

import ocp_dyn as od
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
def test_pinocchio_gets_the_same_model_and_states():
    pytest.importorskip("pinocchio")
    from scripts.bench import pinocchio_cpp, robots

    path = robots.urdf("talos_reduced")
    if path is None:
        pytest.skip("example-robot-data is not installed")
    model = od.load_urdf(path, od.FloatingBase())  # its joints are not in the order of the alphabet
    drawn = robots.states(model, 2)
    theirs = pinocchio_cpp.translated(model)
    pinocchio_cpp.compare(model, theirs, drawn, pinocchio_cpp.their_states(model, drawn, 2))
    theirs.gravity.linear[2] *= 1.001
    with pytest.raises(RuntimeError, match="differ"):
        pinocchio_cpp.compare(model, theirs, drawn, pinocchio_cpp.their_states(model, drawn, 2))


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
