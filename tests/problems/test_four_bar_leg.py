"""A leg with a four-bar knee: its geometry, and one optimum in both formulations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models.closed_legs import four_bar_knee
from problems import four_bar_leg as jump


@pytest.mark.slow
def test_bars_keep_their_lengths_and_the_knee_flexes_as_far_as_it_should() -> None:
    chain, rng = od.models.four_bar_leg(), np.random.default_rng(0)
    model, loop = chain.model, chain.loops[0]
    for front in rng.uniform(0, 1.35, 8):
        q = DM(rng.uniform(-1, 1, model.nq))
        q[jump.entries(model, ("knee",))] = front
        q[jump.entries(model, ("pin", "rear"))] = od.models.four_bar_knee(DM(front))
        assert float(od.constraint_position(model, loop, q).T @ od.constraint_position(model, loop, q)) < 1e-28
        ends = [od.point_position(model, frame, q) for frame in ("front_bar", "shank", "rear_bar", "rear_end")]
        for (one, other), pins in zip((ends[:2], ends[2:]), (four_bar_knee.FRONT, four_bar_knee.REAR), strict=True):
            length = float((one - other).T @ (one - other)) ** 0.5
            assert length == pytest.approx(np.hypot(*np.subtract(*pins)), rel=1e-12)
    straight = np.array(od.models.four_bar_knee(DM(0)).full()).ravel()
    assert np.abs(straight).max() < 1e-12
    assert 1.35 + float(od.models.four_bar_knee(DM(1.35))[0]) == pytest.approx(np.radians(116), abs=0.01)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_both_formulations_find_one_jump(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The command solves and prints both. The costs approach each other as the grid is refined: 6e-5 of the cost
    here, 9e-7 on the full grid."""
    assert jump.main(["--quick", "--quiet", "--json", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    numbers = json.loads(text.splitlines()[-1])
    assert numbers["relative_difference_of_costs"] < 1e-4
    assert numbers["independent_variables"] < numbers["multipliers_variables"]
    for name in ("multipliers.npz", "independent.npz", "report.md"):
        assert (tmp_path / name).stat().st_size > 100
    one, other = (ocp.Solution.load(tmp_path / f"{name}.npz") for name in jump.FORMULATIONS)
    assert other.objective == pytest.approx(one.objective, rel=1e-4)
    assert jump.difference(one, other) < 2e-3
    assert other.stats["variables"] < 0.75 * one.stats["variables"]
    for solution in (one, other):
        assert [type(held) for held in solution.phases[2].contacts] == [od.Loop]
        found, drift = solution.defects(), solution.drift()
        assert found.angle < 2e-3  # integrated again with all angles, the loop held by forces
        assert found.length < 1e-4
        assert max(drift.position, drift.velocity) < 1e-8
    for phases in zip(one.phases, other.phases, strict=True):
        forces = [phase.lam[:, -2:] for phase in phases]  # of the rear bar's lower pin
        assert np.abs(forces[0] - forces[1]).max() < 0.05 * np.abs(forces[0]).max()
    rise = float(od.center_of_mass(one.model, DM(other.q[-1]))[2] - od.center_of_mass(one.model, DM(other.q[0]))[2])
    assert rise == pytest.approx(0.25, abs=1e-8)
    gain = 9.81 * one.model.mass * rise
    spent = sum(other.mechanical_work())
    kinetic = float(od.kinetic_energy(one.model, DM(other.q[-1]), DM(other.qd[-1])))
    assert spent == pytest.approx(gain + kinetic, rel=0.05)  # mean torques times mean velocities


def test_what_the_jump_cannot_do_is_refused(capsys) -> None:
    with pytest.raises(ValueError, match=r"height must lie between 0.1 and 0.4 m, got 0.9"):
        jump.problem(height=0.9)
    with pytest.raises(ValueError, match="formulation must be one of multipliers, independent, got 'penalty'"):
        jump.problem("penalty")
    with pytest.raises(SystemExit):
        jump.main(["--height", "2"])
    assert "height must lie between" in capsys.readouterr().err
