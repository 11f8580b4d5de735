"""Standing up, turning, recovery from a push: arguments, and runs on coarse grids with trunk and arms at rest."""

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from problems import push_recovery, sit_to_stand, turn


@pytest.mark.parametrize(
    ("problem", "arguments", "message"),
    [
        (sit_to_stand, ["--seat-height", "0.9"], "seat_height must lie between"),
        (turn, ["--turn", "120"], "turn must lie between"),
        (turn, ["--speed", "3"], "speed must lie between"),
        (push_recovery, ["--steps", "3"], "invalid choice"),
        (push_recovery, ["--impulse", "-1"], "impulse must lie between"),
        (push_recovery, ["--impulse", "much"], "or the word largest"),
    ],
)
def test_wrong_arguments(problem, arguments, message, capsys):
    with pytest.raises(SystemExit):
        problem.main(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_sitting_down():
    solution = sit_to_stand.problem(still=True, down=True, intervals=sit_to_stand.QUICK).solve(progress=False)
    assert solution.converged
    assert solution.stats["iterations"] < 100
    found = sit_to_stand.numbers(solution)
    assert 1.0 < solution.duration < 2.5
    assert 20 < found["trunk_lean_peak_deg"] < 60
    first, last = solution.q[-1][2], solution.q[0][2]
    assert first == pytest.approx(0.45 + 0.05 * 1.741, abs=1e-6)
    assert last - first > 0.3
    assert np.abs(solution.qd[[0, -1]]).max() < 1e-6


@pytest.mark.slow
def test_a_turn():
    """Twelve strides of 30 degrees close the circle; both feet step on their own side of it, and the body leans
    inwards."""
    problem = turn.problem(still=True, intervals=(1, 1, 3, 3))
    assert problem.phases[2].path[-1].facing == "pelvis"
    solution = problem.solve(progress=False)
    assert solution.converged
    assert solution.stats["iterations"] < 100
    found = turn.numbers(solution)
    assert found["turn_deg"] == pytest.approx(30.0)
    start = np.array([0.3, -0.2, 1.0])
    np.testing.assert_allclose(solution.repetition(12).points(start), start, atol=1e-9)
    assert found["radius_m"] == pytest.approx(solution.distance / 2 / np.sin(np.radians(15.0)))
    assert 0.5 < found["lean_inwards_deg"] < 6
    assert 0.5 < min(turn.step_lengths(solution)) < max(turn.step_lengths(solution)) < 0.8


@pytest.mark.slow
def test_a_push_and_a_step():
    recovery = push_recovery.problem(40.0, steps=1, still=True, quick=True)
    solution = recovery.solve(progress=False)
    assert solution.converged
    assert solution.stats["iterations"] < 120
    found = push_recovery.numbers(solution, push_recovery.impulse_of(recovery, solution))
    assert 0.3 < found["step_1_length_m"] < 0.9
    assert np.abs(solution.qd[-1]).max() < 1e-6
    heels = [float(od.point_position(solution.model, f"heel_{s}", DM(solution.q[0]))[2]) for s in "lr"]
    np.testing.assert_allclose(heels, 0.0, atol=1e-7)  # the push finds both feet flat


@pytest.mark.slow
def test_velocity_after_a_push():
    """The feet stay, and the work of the impulse, its product with the mean velocity of the pushed point, is the
    kinetic energy: `2 T = p' v` for a body at rest before."""
    problem = push_recovery.problem(20.0, "left", still=True)
    model, q = problem.model, DM(problem.posture)
    qd = push_recovery.velocity_after(model, q, "left")
    for foot in ("heel_l", "heel_r"):
        np.testing.assert_allclose(np.array(od.Contact(foot).jacobian(model, q) @ qd), 0.0, atol=1e-12)
    chest = od.point_velocity(model, "upper_trunk", q, qd)
    assert 2 * float(od.kinetic_energy(model, q, qd)) == pytest.approx(float(chest[1]))
    assert float(od.center_of_mass_velocity(model, q, qd)[1]) > 0


def test_separation_of_a_body_that_turns():
    """Left and right turn with the frame that the body faces along; the world's axes do not matter."""
    model = od.models.human(root=od.FloatingBase())
    pairs = [(("heel_l", (0, 0, 0)), ("heel_r", (0.1, 0, 0)))]
    q = np.array(model.neutral())
    straight = float(ocp.Separation(pairs, 0.1).rows(ocp.Instant(model, DM(q), DM(model.nv, 1)))[0])
    q[3:7] = [0, 0, np.sin(0.6), np.cos(0.6)]
    turned = ocp.Instant(model, DM(q), DM(model.nv, 1))
    assert float(ocp.Separation(pairs, 0.1, facing="pelvis").rows(turned)[0]) == pytest.approx(straight)
    assert float(ocp.Separation(pairs, 0.1).rows(turned)[0]) < straight - 0.05
    with pytest.raises(KeyError, match="facing"):
        ocp.Separation(pairs, 0.1, facing="pelvus").check(model, ())
