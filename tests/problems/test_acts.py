"""Standing up, turning, recovery from a push: arguments, and runs on coarse grids with trunk and arms at rest."""

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from problems import push_recovery, sit_to_stand, turn


@pytest.mark.parametrize(
    ("problem", "arguments", "message"),
    [
        (sit_to_stand, ["--seat-height", "0.9"], "seat_height must lie between"),
        (turn, ["--turn", "120"], "turn must lie between"),
        (turn, ["--speed", "3"], "speed must lie between"),
        (push_recovery, ["--steps", "3"], "steps must be 0, 1 or 2"),
        (push_recovery, ["--impulse", "-1"], "impulse must lie between"),
    ],
)
def test_wrong_arguments(problem, arguments, message, capsys):
    with pytest.raises(SystemExit):
        problem.main(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("down", [False, True])
def test_standing_up_and_sitting_down(down):
    solution = sit_to_stand.problem(still=True, down=down, intervals=sit_to_stand.QUICK).solve(progress=False)
    assert solution.converged
    assert solution.summary(defects=False).iterations < 100
    found = sit_to_stand.numbers(solution)
    assert 1.0 < solution.duration < 2.5
    assert 20 < found["trunk_lean_peak_deg"] < 60
    first, last = (solution.q[k][2] for k in ((-1, 0) if down else (0, -1)))
    assert first == pytest.approx(0.45 + 0.05 * 1.741, abs=1e-6)
    assert last - first > 0.3
    assert np.abs(solution.qd[[0, -1]]).max() < 1e-6


@pytest.mark.slow
def test_a_turn():
    solution = turn.problem(still=True, intervals=turn.QUICK).solve(progress=False)
    assert solution.converged
    assert solution.summary(defects=False).iterations < 100
    assert turn.numbers(solution)["turn_deg"] == pytest.approx(30.0)


@pytest.mark.slow
def test_a_push_and_a_step():
    solution = push_recovery.problem(40.0, steps=1, intervals=push_recovery.QUICK).solve(progress=False)
    assert solution.converged
    assert solution.summary(defects=False).iterations < 100
    assert push_recovery.numbers(solution)["swing_1_m"] > 0.2
    assert np.abs(solution.qd[-1]).max() < 1e-6


def test_velocities_after_a_push():
    """The impulses on trunk and feet add up to the change of momentum, and the feet stay."""
    problem = push_recovery.problem(20.0, "left")
    model, q0, feet = problem.model, DM(problem.posture), problem.phases[0].footholds
    qd = DM(push_recovery.velocities(model, feet, problem.posture, "left"))
    G = od.constraint_jacobian(model, [f.contact for f in feet], q0)
    assert float(abs(G @ qd).T @ abs(G @ qd)) < 1e-20
    assert float(od.center_of_mass_velocity(model, q0, qd)[1]) > 0
    push = 2 * od.kinetic_energy(model, q0, qd)  # the work of the impulse: p' v of the pushed point
    chest = od.point_velocity(model, "upper_trunk", q0, qd, push_recovery._chest(model, problem.posture, "upper_trunk"))
    assert float(push) == pytest.approx(float(chest[1]))
