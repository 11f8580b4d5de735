"""Options of the human walk: other bodies, loads, locked and prosthetic joints, backward, slopes, steps; many steps."""

import dataclasses

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli.examples import bounds_of
from ocp_dyn.ocp.guess.foot_tracks import tracks_of
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.walking import alterations
from ocp_dyn.walking.effort.effort_costs import CALF
from ocp_dyn.walking.human_feet import TOE_OUT
from ocp_dyn.walking.person import STILL
from ocp_dyn.walking.steps import BACKWARD
from problems import human_walk, many_steps, push_recovery, stairs, turn

QUICK = {"intervals": human_walk.QUICK, "still": True}
COARSE = {"intervals": (1, 1, 3, 3), "still": True}


@pytest.fixture(scope="module")
def body():
    return od.models.human()


@pytest.mark.slow
def test_a_locked_joint_makes_a_stride_of_two_steps():
    walk = human_walk.problem(locked="ankle_r", **QUICK)
    assert "ankle_r" not in walk.model.joint_names
    assert [phase.name for phase in walk.phases[:5]] == ["loading_r", "push_off_r", "flat_r", "heel_off_r", "loading_l"]
    assert not walk.periodic.mirror
    assert [[f.kind for f in phase.footholds] for phase in walk.phases[4:]] == [
        ["edge", "edge"],
        ["flat", "edge"],
        ["flat"],
        ["edge"],
    ]
    both = human_walk.problem(locked={"ankle_r": 0.1, "ankle_l": 0.1}, **QUICK)
    assert both.periodic.mirror
    assert len(both.phases) == 4


def test_a_locked_joint_keeps_its_angle(body):
    bent = alterations.locked_at(body, {"knee_r": 0.3})
    thigh, shank = (od.pose(bent, name, ca.DM(bent.neutral()))[0] for name in ("thigh_r", "shank_r"))
    assert float(ca.acos((thigh.T @ shank)[0, 0])) == pytest.approx(0.3)


@pytest.mark.slow
def test_a_prosthetic_joint_has_a_spring_and_no_muscles(body):
    walk = human_walk.problem(prosthesis={"ankle_r": 350.0}, **QUICK)
    k = walk.model.qd_names.index("ankle_r")
    assert walk.model.dofs.stiffness[k] == 350.0
    assert walk.resolved.unactuated == ("root", "ankle_r")
    assert not any("ankle_r" in element.coordinates for element in walk.model.passive)
    assert not walk.periodic.mirror
    usual = alterations.with_prosthesis(body, "ankle_l").dofs
    assert usual.stiffness[body.qd_names.index("ankle_l")] == pytest.approx(5.5 * 73)
    assert [tendon.dof for tendon in od.walking.achilles_tendons(walk.model)] == ["ankle_l"]
    assert od.walking.tissue_strength(walk.model)[k] == 1e3


@pytest.mark.slow
def test_a_load_sits_on_the_back(body):
    loaded = alterations.with_backpack(body, 15.0, 1.741)
    before, after = (np.array(od.center_of_mass(m, ca.DM(m.neutral()))).ravel() * m.mass for m in (body, loaded))
    lumbar = np.array(od.point_position(body, "torso", ca.DM(body.neutral()))).ravel()
    assert loaded.mass == pytest.approx(88.0)
    assert (after - before) / 15.0 - lumbar == pytest.approx(1.741 * np.array([-0.12, 0.0, 0.14]))
    turned = ca.DM(loaded.neutral())
    H, H0 = (np.array(od.mass_matrix(m, turned).full())[3:6, 3:6] for m in (loaded, body))
    x, y, z = (
        1.741 * np.array([-0.12, 0.0, 0.14]) + lumbar - np.array(od.point_position(body, "pelvis", turned)).ravel()
    )
    a, b, c = alterations.BACKPACK_SIZE
    added = 15.0 * np.array([y * y + z * z + (b * b + c * c) / 12, x * x + z * z + (a * a + c * c) / 12])
    assert np.diag(H - H0)[:2] == pytest.approx(added)
    walk = human_walk.problem(load=15.0, **QUICK)
    assert walk.model.dofs.strength() == pytest.approx(human_walk.problem(**QUICK).model.dofs.strength())


@pytest.mark.slow
def test_a_model_of_the_user_keeps_its_own_strength(body):
    weak = body.with_limits(effort={"ankle_r": (-20.0, 50.0)})
    walk = human_walk.problem(model=weak, intervals=human_walk.QUICK)
    whole = human_walk.problem(intervals=human_walk.QUICK)
    left, right = (walk.model.dofs.tau_max[body.qd_names.index(f"ankle_{side}")] for side in "lr")
    assert left == pytest.approx(CALF * 73)
    assert right / left == pytest.approx(50.0 / body.dofs.tau_max[body.qd_names.index("ankle_l")])
    assert not walk.periodic.mirror  # its ankles differ in nothing but strength
    same = human_walk.problem(model=body, intervals=human_walk.QUICK)
    assert same.model.dofs.tau_max == pytest.approx(whole.model.dofs.tau_max)


@pytest.mark.slow
def test_a_step_has_the_length_width_and_time_that_are_asked_for():
    walk = human_walk.problem(1.0, step_length=0.5, step_width=(0.1, 0.2), **QUICK)
    assert walk.periodic.step_length == (0.5, 0.5)
    spread = od.walking.person().spread
    flat = walk.phases[2].footholds[0]
    assert [-2 * y - spread for y in flat.y] == pytest.approx([0.2, 0.1])
    timed = human_walk.problem(1.0, step_time=(0.5, 0.6), step_length=(0.55, 0.9), **QUICK)
    assert timed.periodic.step_length == pytest.approx((0.55, 0.6))
    both = human_walk.problem(1.0, steps=2, step_length=(0.5, 0.6), **QUICK)
    assert both.periodic.step_length == pytest.approx((1.0, 1.2))
    rows = [p for p in both.phases[1].path if isinstance(p, ocp.Path)]
    assert (rows[0].lower, rows[0].upper) == (0.5, 0.6)
    stride = human_walk.problem(1.0, steps=2, step_width=(0.1, 0.2), **QUICK)
    first, second = (stride.phases[k].footholds[0].root for k in (2, 6))
    assert first.y == pytest.approx((-(spread + 0.15) / 2,) * 2)
    assert np.array(second.y) - first.y[0] == pytest.approx([0.1 + spread, 0.2 + spread])
    (slope,) = human_walk.problem(slope=0.25, **QUICK).parameters
    assert slope.value == pytest.approx(np.arctan(0.25))
    fixed = human_walk.problem(1.0, steps=2, step_length=0.5, **QUICK)
    assert fixed.phases[4].footholds[0].root.x == (0.5, 0.5)


@pytest.mark.slow
def test_every_step_of_several_takes_the_time_that_is_asked_for():
    assert not human_walk.problem(1.0, step_time=0.6, **QUICK).boundary  # the time follows from length and speed
    stride = human_walk.problem(1.0, steps=2, step_time=(0.5, 0.6), **QUICK)
    (times,) = stride.boundary
    end = ocp.Instant(stride.model, None, None, values={f"T{p}": float(p + 1) for p in range(8)})
    total, low, high = times.function(end, end)
    assert np.array(ca.DM(total)).ravel() == pytest.approx([1 + 2 + 3 + 4, 5 + 6 + 7 + 8])
    assert (low, high) == (0.5, 0.6)
    assert not [p for phase in stride.phases for p in phase.path if isinstance(p, ocp.Path)]  # no bounds on lengths
    (left,) = {phase.footholds[0].root.x for phase in stride.phases[4:]}
    assert left[0] < left[1]
    fixed = human_walk.problem(1.0, steps=2, step_time=0.6, **QUICK).boundary[0]
    total, low, high = fixed.function(end, end)
    assert (float(total), low, high) == (10.0, 0.6, 0.6)  # that of the last step follows from the speed
    assert stride.periodic.step_length == pytest.approx((1.0, 1.2))


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.slow
def test_steps_far_from_the_first_keep_length_and_width(backward):
    walk = human_walk.problem(1.0, steps=4, step_width=(0.1, 0.2), step_length=(0.5, 0.6), backward=backward, **QUICK)
    spread, rows = od.walking.person().spread, []
    for phase in walk.phases:
        if not any(isinstance(p, ocp.Path) for p in phase.path):
            continue
        on, off = phase.footholds
        side = 1.0 if on.name.endswith("_l") else -1.0
        yaws = {on: side * TOE_OUT, off: -side * TOE_OUT}
        middles = {on: (-1.0 if backward else 1.0, side * 0.3), off: (0.0, 0.0)}  # a step of 1 m, 0.3 m wide
        places = {}
        for f, (x, y) in middles.items():
            ahead = f.offset(walk.model)[0] if f.of else 0.0
            places[f] = [x + ahead * np.cos(yaws[f]), y + ahead * np.sin(yaws[f]), yaws[f]]
        instant = ocp.Instant(walk.model, None, None, places=places)
        rows.append([(float(p.function(instant)), p.lower, p.upper) for p in phase.path if isinstance(p, ocp.Path)])
    assert [len(found) for found in rows] == [1, 1, 2, 2]  # the places bound the width of the first two steps
    for length, *widths in rows:
        assert length == pytest.approx((1.0, 0.5, 0.6))
        assert all(width == pytest.approx((0.3, 0.1 + spread, 0.2 + spread)) for width in widths)


def test_backward_everything_comes_the_other_way_round():
    walk = human_walk.problem(1.0, backward=True, **QUICK)
    assert [phase.name for phase in walk.phases] == list(BACKWARD)
    assert [phase.intervals for phase in walk.phases] == [2, 2, 6, 6]
    assert walk.periodic.speed == -1.0
    assert walk.periodic.step_length == (-3.0, -0.05)
    assert [[f.kind for f in phase.footholds] for phase in walk.phases] == [
        ["edge", "flat"],
        ["edge", "edge"],
        ["edge"],
        ["flat"],
    ]


@pytest.mark.slow
def test_a_guess_backward_lifts_the_heel_over_the_toes_and_the_toes_over_the_heel():
    walk = human_walk.problem(1.0, backward=True, **QUICK)
    tracks = tracks_of(walk.guess, transcribe(walk), [0.03, 0.06, 0.2, 0.3])
    (foot,) = (body for body in tracks if walk.model.body_names[body - 1] == "foot_r")
    angles = {(span.side, span.first, span.last) for span in tracks[foot] if span.axis is not None}
    assert (1.0, walk.guess.strike, 0.0) in angles  # comes down on the toes, heel up
    assert (-1.0, 0.0, -walk.guess.leave) in angles  # leaves over the heel, toes up


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"locked": "ankel_r"}, KeyError, "locked: no joint 'ankel_r'"),
        ({"locked": "root"}, ValueError, "has to move"),
        ({"locked": "ankle_r", "prosthesis": ["ankle_r"]}, ValueError, "'ankle_r' is both locked and prosthetic"),
        ({"locked": 3}, TypeError, "locked must be names of joints"),
        ({"backward": "no"}, TypeError, "backward must be True or False, got 'no'"),
        ({"intervals": (1, 2)}, ValueError, "intervals must be 4 whole numbers"),
        ({"speed": "fast"}, TypeError, "speed must lie between .* got 'fast': give one number"),
        ({"load": True}, TypeError, "load must lie between .* got True"),
        ({"slope": None}, TypeError, "slope must lie between .* got None"),
        ({"step_length": float("nan")}, ValueError, "step_length must .* got nan"),
        ({"step_length": True}, TypeError, "step_length must .* got True"),
        ({"prosthesis": "hip_r"}, ValueError, "must have one dof"),
        ({"locked": "ankle_r", "steps": 1}, ValueError, "give an even number of steps"),
        ({"steps": 2.5}, ValueError, "whole number from 1 to 40"),
        ({"load": -1.0}, ValueError, "between 0 and 80 kg"),
        ({"slope": 0.5}, ValueError, r"between -0\.3 and 0\.3"),
        ({"backward": True, "toes": True}, ValueError, "walk forward only"),
        ({"step_length": 0.9, "step_time": 0.5}, ValueError, "contradict the speed of 1.2 m/s"),
        ({"step_width": (0.3, 0.1)}, ValueError, "lower <= upper"),
        ({"step_length": "long"}, TypeError, r"a number or \(lower, upper\)"),
        ({"model": "human"}, TypeError, "must be a Model"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        human_walk.problem(**options)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (stairs.problem, {"rise": "high"}, "rise must lie between"),
        (stairs.problem, {"tread": None}, "tread must lie between"),
        (stairs.problem, {"speed": "x"}, "speed must lie between"),
        (stairs.problem, {"down": "no"}, "down must be True or False"),
        (turn.problem, {"turn": "left"}, "turn must be an angle in rad"),
        (turn.problem, {"speed": "x"}, "speed must lie between"),
        (many_steps.problem, {"speed": "x"}, "speed must lie between"),
        (many_steps.problem, {"distance": "far"}, "distance .* must lie between"),
        (push_recovery.problem, {"impulse": "hard"}, "impulse must lie between"),
    ],
)
@pytest.mark.slow
def test_what_is_no_number_is_told_so(make, options, message):
    with pytest.raises(TypeError, match=f"{message}.*, got "):
        make(**options)


def test_a_push_has_a_direction():
    with pytest.raises(ValueError, match="direction must be one of"):
        push_recovery.problem(direction=[])


def test_the_command_line_refuses_three_numbers_for_bounds(capsys):
    with pytest.raises(SystemExit):
        human_walk.main(["--step-length", "0.5", "0.6", "0.7"])
    assert "an option of one number, or of two as bounds, got 3" in capsys.readouterr().err


def test_a_model_without_the_frames_is_told_which():
    with pytest.raises(KeyError, match="no frame heel_l, heel_r, sole_l"):
        human_walk.problem(model=od.models.pendulum(2))
    with pytest.raises(ValueError, match="fixed to the ground"):
        human_walk.problem(model=od.models.human(root=od.Fixed()))


@pytest.mark.slow
def test_a_problem_moves_to_a_body_of_the_same_joints(body):
    walk = human_walk.problem(intervals=human_walk.QUICK)
    other = dataclasses.replace(walk, model=od.models.human(90, 1.8).with_load("torso", 10.0))
    assert other.model.mass == pytest.approx(100.0)
    with pytest.raises(KeyError, match=r"Tendon.*: no dof 'ankle_r'"):
        dataclasses.replace(walk, model=body.lock_joints({"ankle_r": 0.0}))
    with pytest.raises(
        ValueError, match=r"TorqueRateSquared scale.*JointAngleSquared.* The model 'human_male' has nv = 18"
    ):
        dataclasses.replace(walk, model=body.lock_joints(STILL))


def test_options_of_the_command():
    assert human_walk._values(["ankle_r", "knee_r=0.3"]) == {"ankle_r": None, "knee_r": 0.3}
    with pytest.raises(ValueError, match="after = stands a number"):
        human_walk._values(["knee_r=bent"])
    assert [bounds_of(x) for x in (None, [0.5], [0.4, 0.6])] == [None, 0.5, (0.4, 0.6)]
    with pytest.raises(ValueError, match="an option of one number, got 2"):
        bounds_of([0.4, 0.6], 1)


@pytest.mark.slow
def test_many_steps_go_from_standing_to_standing():
    walk = many_steps.problem(4, still=True)
    assert [phase.name for phase in walk.phases[:5]] == ["stand_1", "push_off_1", "flat_1", "heel_off_1", "loading_2"]
    assert [phase.name for phase in walk.phases[-3:]] == ["swing_4", "landing_4", "stop_4"]
    first, last = ({f.name: f.x[0] for f in walk.phases[k].footholds} for k in (0, -1))
    way = 3 * od.walking.person().step_length(1.0)
    assert first == {"heel_l": 0.0, "heel_r": 0.0}
    assert last == pytest.approx({"heel_l": way, "heel_r": way})
    for options, message in (((1,), "whole number from 2 to 200"), ((10, 3.0), "between 0.5 and 1.8")):
        with pytest.raises(ValueError, match=message):
            many_steps.problem(*options)
    with pytest.raises(ValueError, match=r"distance \[m\] of 10 steps must lie"):
        many_steps.problem(distance=50.0)


@pytest.mark.slow
def test_backward_walking_puts_the_toes_down_first():
    walk = human_walk.problem(1.0, backward=True, **COARSE).solve(progress=False)
    assert walk.converged
    heel, sole = (float(od.point_position(walk.model, name, ca.DM(walk.q[0]))[2]) for name in ("heel_r", "sole_r"))
    assert heel > sole + 0.01  # the heel is up as the right foot comes down
    assert walk.step_length < -0.3
    assert walk.cost_of_transport() > 0
    assert human_walk.numbers(walk)["stance_percent"] > 50


@pytest.mark.slow
def test_a_stride_on_a_locked_ankle_limps():
    walk = human_walk.problem(locked="ankle_r", **COARSE).solve(progress=False)
    assert walk.converged
    assert walk.stats["iterations"] < 100
    numbers = human_walk.numbers(walk)
    assert numbers["step_length_right_m"] + numbers["step_length_left_m"] == pytest.approx(walk.step_length, abs=1e-6)
    assert abs(numbers["step_length_right_m"] - numbers["step_length_left_m"]) > 0.005
    assert numbers["stance_left_percent"] > numbers["stance_right_percent"]
    assert "stance_percent" not in numbers  # gait analysis needs both ankles


@pytest.mark.slow
def test_two_steps_from_standing_end_at_rest():
    walk = many_steps.problem(2, intervals=many_steps.QUICK, still=True).solve(progress=False)
    assert walk.converged
    assert np.abs(walk.qd[[0, -1]]).max() < 1e-5
    numbers = many_steps.numbers(walk)
    assert numbers["distance_m"] == pytest.approx(od.walking.person().step_length(1.0), abs=1e-5)
    assert numbers["largest_speed_m_per_s"] > 0.5
