"""Jump, run, slopes, a recorded gait: published formulae, errors of the command lines, whole runs on coarse grids."""

import json
from argparse import Namespace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import intervals_of
from ocp_dyn.models import human
from problems import five_link, gait_library, human_walk, jump, robot_walk, run, slope, stairs, track_gait
from tests import hopper
from tests.helpers import close


def command(problem, arguments, capsys, tmp_path):
    """Runs a problem's command line, which must succeed, and returns its numbers."""
    assert problem.main([*arguments, "--quick", "--quiet", "--json", "--out", str(tmp_path)]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert numbers["converged"]
    assert (tmp_path / "report.md").exists()
    return numbers


@pytest.mark.parametrize(
    ("problem", "arguments", "message"),
    [
        (jump, ["--strength", "9"], "strength must lie between"),
        (run, ["--speed", "0.5"], "speed must lie between 1.8 and 6"),
        (run, ["--strength", "0"], "strength must lie between"),
        (slope, ["--slopes", "0", "0.5"], "between -0.3 and 0.3"),
        (slope, ["--speed", "9"], "speed must lie between"),
        (stairs, ["--rise", "0.5"], "rise must lie between 0.05 and 0.25"),
        (stairs, ["--tread", "1"], "tread must lie between"),
        (stairs, ["--speed", "3"], "speed must lie between"),
        (track_gait, ["subject.osim", "walk.trc"], "three files are needed, MODEL MARKERS FORCES, got 2"),
        (track_gait, ["--muscles"], "the simulated recording has none: give MODEL MARKERS FORCES"),
        (track_gait, ["--muscles", "--emg", "emg.sto"], "give --muscles and --between"),
        (track_gait, ["--marker-noise", "-1"], "noise must not be negative"),
        (track_gait, ["--marker-noise", "nan"], "noise must not be negative, and at most 0.1 m, got nan"),
        (track_gait, ["--force-noise", "1e9"], "noise must not be negative, and at most 1000 N"),
        (
            human_walk,
            ["--lock", "ankle_l=5"],
            "'ankle_l' must lie between -0.5236 and 0.8727 rad (m), the limits of its",
        ),
        (human_walk, ["--lock", "ankle_l=nan"], "'ankle_l' must lie between"),
        (human_walk, ["--prosthesis", "ankle_l=-5"], "stiffness of 'ankle_l' must lie between 0 and 7300 N m/rad"),
        (human_walk, ["--prosthesis", "ankle_l=1e12"], "stiffness of 'ankle_l' must lie between 0 and 7300 N m/rad"),
        (gait_library, ["--steps", "50", "--out", "nowhere"], "steps must lie between 0.1 and 1.5, got"),
        (gait_library, ["--slopes", "nan", "--out", "nowhere"], "slopes must lie between -0.4 and 0.4"),
        (five_link, ["--quick", "--intervals", "100000000"], "intervals must be at least 1 and at most 2000"),
        (robot_walk, ["human", "--quick", "--load", "1e9"], "3 times the robot's mass, got 1000000000.0"),
    ],
)
@pytest.mark.slow
def test_wrong_arguments(problem, arguments, message, capsys):
    with pytest.raises(SystemExit):
        problem.main(arguments)
    assert message in capsys.readouterr().err


def test_the_measured_cost_of_slopes():
    """Minetti et al. 2002: least near -10 %; on steep slopes the work against, or with, gravity over 0.25 and -1.2."""
    slopes = np.linspace(-0.3, 0.3, 601)
    assert slopes[np.argmin(slope.measured(slopes))] == pytest.approx(-0.1, abs=0.06)
    assert slope.measured(0.0) == 2.5
    for i, efficiency in ((0.45, 0.25), (-0.45, -1.2)):
        weight = 9.81 * i / np.sqrt(1 + i**2)
        assert slope.measured(i) == pytest.approx(weight / efficiency, rel=0.2)


@pytest.mark.slow
def test_slopes_from_level_outwards():
    walk = hopper.problem()
    found = slope.gaits(walk, [0.05, -0.05, 0.0])
    assert list(found) == [-0.05, 0.0, 0.05]
    for tilt, solution in found.items():
        assert solution.converged
        values = dict(zip(solution.record.parameters, solution.record.values, strict=True))
        assert values["slope"] == pytest.approx(np.arctan(tilt))
        # over a period the joints raise the body against gravity
        weight = solution.model.mass * 9.81
        rise = weight * np.sin(np.arctan(tilt)) * solution.step_length
        assert sum(solution.mechanical_work()) > rise - 0.02 * weight * solution.step_length


@pytest.mark.slow
def test_a_ballistic_height():
    model = human(root=od.FloatingBase())
    q, qd = model.neutral(), np.zeros(model.nv)
    qd[2] = 3.0
    level = float(od.center_of_mass(model, ca.DM(q))[2])
    instant = ocp.Instant(model, ca.DM(q), ca.DM(qd))
    close(float(od.walking.ballistic_height(instant)), level + 9.0 / (2 * 9.81))


@pytest.mark.slow
def test_the_walker_with_a_still_trunk_is_the_same_body():
    whole, still = human_walk.problem(1.2), human_walk.problem(1.2, still=True)
    assert (whole.model.nv, still.model.nv) == (29, 18)
    assert still.model.mass == pytest.approx(whole.model.mass)
    assert len(od.walking.human_markers(whole.model)) > len(od.walking.human_markers(still.model)) > 10


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_jump(capsys, tmp_path):
    numbers = command(jump, ["--no-arms"], capsys, tmp_path)
    assert 0.3 < numbers["jump_height_m"] < 0.7
    v = numbers["take_off_speed_m_per_s"]
    assert numbers["jump_height_m"] == pytest.approx(numbers["rise_before_take_off_m"] + v**2 / 2 / 9.81, abs=0.02)


def test_published_figures_of_running():
    """Munro et al. 1987: 3 to 5 m/s; over a step the ground carries the weight, so step time = contact time x mean."""
    at_three, between, at_five = (run.published(speed) for speed in (3.0, 4.0, 5.0))
    assert at_three["contact_published_s"] == 0.27
    assert at_five["peak_force_published_body_weights"] == 2.83
    assert between["contact_published_s"] == pytest.approx(0.2345)
    assert at_three["steps_per_s_published"] == pytest.approx(1 / 0.378)
    assert run.published(2.5) == run.published(5.5) == {}


def test_tendons_of_running_scale_with_the_body():
    light, heavy = (od.walking.running_tendons(human(mass, root=od.FloatingBase())) for mass in (60.0, 90.0))
    assert [tendon.dof for tendon in light] == ["ankle_l", "ankle_r", "knee_l", "knee_r"]
    for small, large in zip(light, heavy, strict=True):
        assert large.stiffness == pytest.approx(1.5 * small.stiffness)
        assert large.stretch(ca.DM(150.0)) == pytest.approx(small.stretch(ca.DM(100.0)))


@pytest.mark.slow
def test_strength_of_the_runner():
    weak, strong = (run.problem(strength=strength).model.dofs for strength in (1.0, 2.0))
    knee = run.problem().model.qd_names.index("knee_r")
    assert strong.tau_min[knee] == pytest.approx(2 * weak.tau_min[knee])
    assert strong.tau_max[knee] == pytest.approx(2 * weak.tau_max[knee])


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_run(capsys, tmp_path):
    numbers = command(run, [], capsys, tmp_path)
    assert numbers["contact_s"] == pytest.approx(0.27, abs=0.04)
    assert numbers["contact_s"] + numbers["flight_s"] == pytest.approx(numbers["duration_s"])
    assert 0.05 < numbers["flight_s"] < 0.15
    assert 2.0 < numbers["peak_vertical_force_body_weights"] < 2.7
    assert numbers["steps_per_s"] == pytest.approx(numbers["steps_per_s_published"], rel=0.1)
    assert 0 < numbers["touch_down_impulse_Ns"] < 15  # of some 215 N s that a step needs against gravity
    assert not [bound for bound in numbers["deciding_bounds"] if "duration" in bound["name"]]
    assert numbers["speed_m_per_s"] == pytest.approx(3.0)
    solution = ocp.Solution.load(tmp_path / "walk.npz")
    flight = solution.phases[3]
    assert flight.lam.shape[1] == 0
    com = [float(od.center_of_mass(solution.model, ca.DM(q))[2]) for q in flight.q]
    fall = np.polyfit(flight.t, com, 2)[0] * 2
    assert fall == pytest.approx(-9.81, rel=0.05)  # a coarse grid


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_slopes(monkeypatch, capsys, tmp_path):
    """The command, with the hopper in the place of the human."""
    assert [p.name for p in slope.problem(1.2, quick=True).parameters] == ["slope"]
    monkeypatch.setattr(slope, "problem", lambda *_, **__: hopper.problem())
    numbers = command(slope, [], capsys, tmp_path)
    up, level, down = (numbers[f"cost_of_transport_at_{s}_percent"] for s in ("+10", "+0", "-10"))
    assert max(level, down) < up
    assert up > np.sin(np.arctan(0.1))  # the least work that lifts the body
    costs = {s: numbers[f"metabolic_at_{100 * s:+.0f}_percent_J_per_kg_m"] for s in (-0.1, 0.0, 0.1)}
    assert numbers["cheapest_slope"] == min(costs, key=costs.get)
    assert (tmp_path / "slope.png").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_a_recorded_gait(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(human_walk, "QUICK", (1, 1, 3, 3))
    numbers = command(track_gait, [], capsys, tmp_path)
    assert numbers["marker_error_rms_m"] < numbers["marker_noise_rms_m"]
    assert numbers["torque_error_rms_Nm"] < 0.4 * numbers["torque_rms_Nm"]
    walk = ocp.Solution.load(tmp_path / "truth.npz")
    exact, noisy = (od.walking.simulated_recording(walk, *noise) for noise in ((), (0.01, 5.0, 1)))
    stride = exact.markers.between(exact.begin, exact.end)
    assert exact.end - exact.begin == pytest.approx(2 * walk.duration)
    frame, point = exact.places[stride.names[0]]
    place = od.point_position(walk.model, frame, walk.q[0], point).full().ravel()
    close(stride.values[0, 0], place)
    forward = stride.values[-1, 0] - stride.values[0, 0]  # a stride later everything is as far ahead
    close(forward, [1.2 * 2 * walk.duration, 0.0, 0.0], 1e-6)
    mean = exact.forces.between(exact.begin, exact.end).values[:-1, :, 5].sum(axis=1).mean()
    assert mean == pytest.approx(9.81 * walk.model.mass, rel=0.05)
    assert np.std(noisy.markers.values - exact.markers.values) == pytest.approx(0.01, rel=0.1)
    again = od.walking.simulated_recording(walk, 0.01, 5.0, 1)
    assert np.array_equal(noisy.forces.values, again.forces.values)


@pytest.mark.slow
def test_stairs():
    """A stair per step; the swinging foot, toes included, stays above the true stairs at every node."""
    solution = stairs.problem(down=True, still=True, intervals=(2, 2, 4, 4)).solve(progress=False)
    numbers = stairs.numbers(solution)
    assert solution.converged
    assert solution.rise == pytest.approx(-0.17)
    assert 75 < numbers["knee_flexion_in_swing_deg"] < 110
    assert 10 < numbers["double_support_percent_of_stride"] * 2 < 60
    points = [("heel_l", (x, 0.0, 0.0)) for x in (0.04, 0.2)] + [("heel_l", (0.26, 0.0, stairs.TIP))]
    sharp = ocp.Terrain(solution.terrain.patches, solution.terrain.ground, smoothing=1e-6)
    for phase in solution.phases[-2:]:
        for q in phase.q[1:-1]:
            for frame, point in points:
                p = np.array(od.point_position(solution.model, frame, q, point)).ravel()
                assert p[2] > float(sharp.height(p[0], p[1])) - 1e-4


@pytest.mark.parametrize(
    ("given", "quick", "expected"), [(None, False, 50), (None, True, 15), (30, True, 30), ([4, 9], True, (4, 9))]
)
def test_intervals_that_are_named_count(given, quick, expected):
    """Also beside --quick, whose grid is for those who name none."""
    assert intervals_of(Namespace(intervals=given, quick=quick), 50, 15) == expected
