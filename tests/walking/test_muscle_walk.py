"""Walks by muscles on compliant feet: their statement, their first guess from measured angles, refused input."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.recordings import Recording
from problems import muscle_human, muscle_walk

SIDES = {"l": 0.1, "r": -0.1}


@cache
def legs() -> od.Model:
    """Two legs and a trunk in a plane; hips and knees have muscles, ankles and the back have motors."""
    builder = od.ModelBuilder("legs")
    builder.add_body("pelvis", od.Planar(), rotation=[[1, 0, 0], [0, 0, -1], [0, 1, 0]], joint_name="root", mass=10.0,
                     inertia=(0.1, 0.1, 0.1))  # fmt: skip
    builder.add_body("trunk", od.Revolute("z"), "pelvis", origin=(0, 0.1, 0), joint_name="back", mass=30.0,
                     com=(0, 0.2, 0), inertia=(1.0, 1.0, 1.0))  # fmt: skip
    muscles = []
    for side, y in SIDES.items():
        parts = {"mass": 7.0, "com": (0, -0.2, 0), "inertia": (0.1, 0.1, 0.1)}
        thigh, shank, foot = (f"{part}_{side}" for part in ("thigh", "shank", "foot"))
        builder.add_body(thigh, od.Revolute("z"), "pelvis", origin=(0, 0, -y), joint_name=f"hip_{side}", **parts)
        builder.add_body(shank, od.Revolute("z"), thigh, origin=(0, -0.42, 0), joint_name=f"knee_{side}", **parts)
        builder.add_body(foot, od.Revolute("z"), shank, origin=(0, -0.42, 0), joint_name=f"ankle_{side}", mass=1.0,
                         com=(0.06, -0.04, 0), inertia=(5e-3, 5e-3, 5e-3))  # fmt: skip
        for name, x in (("front", 0.05), ("back", -0.05)):
            for kind, first, last in (("hip", "pelvis", thigh), ("knee", thigh, shank)):
                path = (od.PathPoint("P1", first, (x, 0.1 if kind == "hip" else -0.2, 0 if kind == "knee" else -y)),
                        od.PathPoint("P2", last, (0.8 * x, -0.1, 0)))  # fmt: skip
                muscles.append(od.Muscle(f"{kind}_{name}_{side}", "DeGrooteFregly2016Muscle", path,
                                         max_isometric_force=3000.0, optimal_fiber_length=0.15,
                                         tendon_slack_length=0.1))  # fmt: skip
    return builder.build().with_muscles(muscles)


@cache
def spheres() -> tuple[od.HuntCrossleySphere, ...]:
    ends = (-0.04, 0.16)
    return tuple(od.HuntCrossleySphere(f"foot_{side}", (x, -0.05, 0), 0.03) for side in SIDES for x in ends)


@pytest.mark.slow
def test_the_walk_is_stated() -> None:
    walk = od.walking.muscle_walk(legs(), 1.1, spheres(), intervals=8)
    assert od.walking.motorized(legs()) == ["back", "ankle_l", "ankle_r"]
    assert [walk.model.qd_names[k] for k in walk.actuated] == ["back", "ankle_l", "ankle_r"]
    assert (walk.periodic.speed, walk.periodic.mirror) == (1.1, True)
    assert [foot.name for foot in walk.footholds] == ["foot_l", "foot_r"]
    assert all(len(foot.spheres) == 2 for foot in walk.footholds)
    assert [c.name for c in walk.parts.channels] == ["activation"]
    assert [term.name for term in walk.phases[0].objective] == [
        "ChannelPower activation", "ChannelRateSquared activation", "TorqueSquared", "AccelerationSquared"
    ]  # fmt: skip
    excited = od.walking.muscle_walk(legs(), 1.1, spheres(), muscles=ocp.Muscles(excitations="linear"))
    assert [c.name for c in excited.parts.channels] == ["activation", "excitation"]
    assert [term.name for term in excited.phases[0].objective] == ["ChannelPower excitation", "TorqueSquared"]
    assert walk.phases[0].grid.count == 8
    own = od.walking.muscle_walk(legs(), 1.1, spheres(), costs=[ocp.TorqueSquared()], step_time=0.6)
    assert (own.phases[0].duration, [type(x) for x in own.phases[0].objective]) == ((0.6, 0.6), [ocp.TorqueSquared])


@pytest.mark.slow
def test_a_file_without_spheres_gets_some(tmp_path, capsys) -> None:
    """They lie under the feet of the person that the file was written from, and scale with its sole."""
    person, file = od.models.planar_human(80.0, 1.8), tmp_path / "person.osim"
    od.io.write_osim(person, file, drop=("speed",))
    model, found = od.walking.muscle_body(file)
    own = [ball for foot in od.walking.compliant_feet(person, 1.8) for ball in foot.spheres]
    assert len(model.muscles) == 18
    assert [ball.frame for ball in found] == [ball.frame for ball in own]
    np.testing.assert_allclose([ball.center for ball in found], [ball.center for ball in own], atol=2e-3)
    assert od.models.human_spheres("l", length=0.4)[0].center[0] == pytest.approx(0.048)
    with pytest.raises(od.ModelError, match=r"muscle_body\(file\)"):
        od.walking.muscle_walk(model)
    weak = od.walking.muscle_person(file, {"soleus_r": 0.4})
    forces = {muscle.name: muscle.max_isometric_force for muscle in weak.model.muscles}
    assert forces["soleus_r"] == pytest.approx(0.4 * forces["soleus_l"])
    assert (od.walking.muscle_person(file).mirrored, weak.mirrored) == (True, False)
    walk = muscle_human.problem(1.1, subject=str(file), intervals=(1, 1, 2, 2))
    assert [walk.model.qd_names[k] for k in walk.actuated] == ["lumbar"]
    with pytest.raises(ValueError, match="bodies of files walk on rigid feet"):
        muscle_human.problem(subject=str(file), feet="compliant")
    with pytest.raises(SystemExit):
        muscle_human.main(["--subject", str(file), "--mass", "60"])
    assert "the body of" in capsys.readouterr().err


@pytest.mark.slow
def test_uneven_sides_walk_a_stride() -> None:
    weak = od.walking.muscle_walk(legs(), 1.1, spheres(), weaken={"knee_front_r": 0.4}, intervals=8)
    assert (weak.periodic.mirror, weak.phases[0].grid.count, weak.phases[0].duration) == (False, 16, (0.6, 1.8))
    forces = {m.name: m.max_isometric_force for m in weak.model.muscles}
    assert (forces["knee_front_r"], forces["knee_front_l"]) == (1200.0, 3000.0)
    assert weak.guess(1.0)[0][0] == pytest.approx(1.1 * 2 * 0.55)
    both = {"knee_front_r": 0.4, "knee_front_l": 0.4}
    assert od.walking.muscle_walk(legs(), 1.1, spheres(), weaken=both).periodic.mirror


@pytest.mark.slow
def test_the_guess_has_the_angles_of_people() -> None:
    model, feet = legs(), od.walking.muscle_walk(legs(), 1.0, spheres()).footholds
    guess = od.walking.measured_guess(model, feet, 1.0, 0.5)
    names = list(model.q_names)
    start, end = guess(0.0)[0], guess(1.0)[0]
    assert end[0] - start[0] == pytest.approx(0.5)
    for part in ("hip", "knee", "ankle"):  # half a stride later the legs have changed their places
        for one, other in (("l", "r"), ("r", "l")):
            a, b = end[names.index(f"{part}_{one}")], start[names.index(f"{part}_{other}")]
            assert a == pytest.approx(b, abs=1e-9)
    knee = np.degrees([guess(s)[0][names.index("knee_l")] for s in np.linspace(0, 1, 21)])
    assert 45 < np.abs(knee).max() < 70  # in swing
    hip = np.degrees(start[names.index("hip_r")])
    assert 15 < hip < 35  # the axis points to the right: flexion is positive
    q, rate = (guess(s)[0] for s in (0.40, 0.42)), guess(0.41)[1]
    first, last = q
    assert np.abs((last - first) / (0.02 * 0.5) - rate)[1:].max() < 1.0
    for s in (0.5, 0.6, 0.7):
        depths = [float(np.max(foot.depth(model, DM(guess(s)[0])).full())) for foot in feet]
        assert depths[1] == pytest.approx(0.01, abs=2e-3)  # the right foot stands
        assert depths[0] < 0  # the left one swings
    standing = {"l": [], "r": []}
    for s in np.linspace(0, 1, 25):
        q = DM(guess(s)[0])
        for side, foot in zip("lr", feet, strict=True):
            depth = foot.depth(model, q).full()
            assert depth.max() < 0.02, (s, side)  # the trailing foot as well, until its toes are off
            lowest = foot.spheres[int(depth.argmax())]
            standing[side].append(
                (float(depth.max()), float(od.point_position(model, lowest.frame, q, lowest.center)[0]))
            )
    flat = [x for depth, x in standing["r"][6:18]]
    assert np.ptp(flat) < 0.06  # the right foot rests, while the body moves by a quarter of a meter


@pytest.mark.slow
def test_a_recorded_step_is_stated() -> None:
    model = legs()
    times = np.linspace(0, 0.5, 26)
    feet = od.walking.muscle_walk(model, 1.0, spheres()).footholds
    step = od.walking.measured_guess(model, feet, 1.0, 0.5)
    q = np.array([step(s)[0] for s in 2 * times])
    paths = [f"/jointset/x/{name}/value" for name in model.q_names] + ["/jointset/x/other/speed"]
    table = Recording(paths, times, np.column_stack([q, 0 * times]), "")
    load = Recording(["foot_r"], times, np.tile([0, 0, 0, 0, 0, 500.0], (26, 1, 1)), "N")
    track = od.walking.muscle_tracking(model, table, load, spheres(), intervals=6)
    assert track.phases[0].duration == (0.5, 0.5)
    kinds = [type(term).__name__ for term in track.phases[0].objective]
    assert kinds == ["TrackJoints", "TrackVelocities", "ChannelPower", "TorqueSquared", "TrackForces"]
    followed = track.phases[0].objective[-1]
    assert followed.weight == pytest.approx(1 / model.weight)
    np.testing.assert_allclose(followed.reference(0.3), [0, 0, 500.0], atol=1e-9)
    assert np.abs(track.guess(0.5)[0] - q[13]).max() < 0.1
    with pytest.raises(KeyError, match="forces must be wrenches"):
        od.walking.muscle_tracking(model, table, replace(load, names=("hand",)), spheres())


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"spheres": ()}, od.ModelError, "no spheres"),
        ({"speed": 9.0}, ValueError, "speed"),
        ({"weaken": {"knee_fronts_r": 0.4}}, KeyError, "did you mean 'knee_front_r'"),
        ({"weaken": {"knee_front_r": -1.0}}, ValueError, "must not be negative"),
        ({"intervals": 1}, ValueError, "intervals"),
        ({"model": od.models.pendulum()}, od.ModelError, "has no muscles"),
    ],
)
def test_refused_input(change: dict[str, object], error: type[Exception], words: str) -> None:
    given = {"model": legs(), "speed": 1.0, "spheres": spheres()} | change
    with pytest.raises(error, match=words):
        od.walking.muscle_walk(**given)


def test_a_body_without_legs_has_no_guess() -> None:
    model = legs().lock_joints({"knee_l": 0.1, "knee_r": 0.1})
    feet = [ocp.CompliantFoothold(f"foot_{side}", [od.HuntCrossleySphere(f"foot_{side}")]) for side in SIDES]
    with pytest.raises(od.ModelError, match="no two legs"):
        od.walking.measured_guess(model, feet, 1.0, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--weaken", "soleus_r"], "--weaken 'soleus_r': write MUSCLE=FACTOR, as in soleus_r=0.4"),
        (["--weaken", "soleus_right=0.4"], "did you mean 'soleus_r'"),
        (["--model", "body.osim", "--mass", "80"], "--mass: the body is that of body.osim"),
        (["--model", "nowhere.osim"], "nowhere.osim"),
        (["--track", "angles.sto"], "give --model FILE.osim"),
        (["--loads", "loads.xml"], "--loads: forces are followed beside coordinates: give --track COORDINATES"),
        (["--range", "elbows", "0", "90"], "elbows"),
    ],
)
@pytest.mark.slow
def test_mistakes_on_the_command_line(options, message, capsys):
    with pytest.raises(SystemExit) as end:
        muscle_walk.main(options)
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_ranges_are_in_degrees_or_meters():
    model = muscle_walk.limited(legs(), [("knee_l", "-60", "3"), (legs().q_names[0], 0, 2)])
    k = model.q_names.index("knee_l")
    np.testing.assert_allclose([model.dofs.q_lower[k], model.dofs.q_upper[k]], np.radians([-60.0, 3.0]))
    assert (model.dofs.q_lower[0], model.dofs.q_upper[0]) == (0.0, 2.0)


@pytest.mark.slow
def test_the_command_walks(tmp_path, capsys):
    """A coarse grid: a step as people take it."""
    out = tmp_path / "walk"
    assert muscle_walk.main(["--quick", "--quiet", "--no-pictures", "--json", "--out", str(out)]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert numbers["converged"]
    assert {"seconds", "iterations", "cost"} <= set(numbers)
    assert numbers["body"] == "planar_human_male"
    assert numbers["muscles_at_their_limit"] == "none"
    assert 90 < numbers["cadence_steps_per_min"] < 135
    assert 0.5 < numbers["step_length_m"] < 0.85
    assert 2.5 < numbers["gross_power_W_per_kg"] < 6.0
    walk = ocp.Solution.load(out / "walk.npz", problem=muscle_walk.problem(intervals=muscle_walk.QUICK))
    assert 0.05 < walk["activation"].max() < 1.0
