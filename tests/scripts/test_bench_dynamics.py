"""The command line of the benchmark of the dynamics."""

import json
import sys

import numpy as np
import pytest

from scripts.bench.dynamics import __main__ as command
from scripts.bench.dynamics import peers, robots


@pytest.mark.slow
def test_pinocchio_gets_the_same_model_and_states():
    pin = pytest.importorskip("pinocchio")
    talos = robots.robot("talos_reduced")  # its joints are not in the order of the alphabet
    if talos is None:
        pytest.skip("example-robot-data is not installed")
    drawn = robots.states(talos.model, 2)
    theirs, layout = peers.pinocchio_model(talos)
    q, qd, qdd = (drawn[name][0] for name in ("q", "qd", "qdd"))
    given = [np.array(x, float).ravel() for x in (layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd))]

    def check() -> None:
        peers.check_same(talos.model, drawn, layout, "Pinocchio", lambda: pin.rnea(theirs, theirs.createData(), *given))

    check()
    theirs.gravity.linear[2] *= 1.001
    with pytest.raises(RuntimeError, match="differ"):
        check()


def test_a_peer_that_is_not_installed_is_named_once(monkeypatch, capsys):
    monkeypatch.setattr(peers, "_MISSING", set())

    def missing(robot):
        raise ImportError("No module named 'mujoco'")

    chain = robots.robot("chain_2")
    for _ in range(2):
        assert peers.measured({"MuJoCo": missing, "adam": lambda robot: {"H": 1.0}}, chain) == {"adam": {"H": 1.0}}
    assert capsys.readouterr().err.count("pip install mujoco") == 1


@pytest.mark.slow
def test_quick_run_gives_a_table(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["dynamics", "--quick", "--json"])
    assert command.main() == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    (rows,) = found.values()
    assert set(rows) == {"ID", "C", "G"}
    assert all(row["machine"] > 0 and row["instructions"] > 0 for row in rows.values())
