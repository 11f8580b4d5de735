"""Pictures of motions: what is drawn, where, in which color; files, errors, and no trace left behind."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import casadi as ca
import matplotlib
import numpy as np
import pytest
from matplotlib._pylab_helpers import Gcf
from matplotlib.colors import to_rgb
from PIL import Image

import ocp_dyn as od
from ocp_dyn.gait.bodies import Point, sides, size
from ocp_dyn.gait.joint_angles import gait_coordinates
from ocp_dyn.gait.unrolled import ground_forces, unroll, weight
from ocp_dyn.models import five_link_biped, human, pendulum
from ocp_dyn.ocp import Phase, Problem, Solution
from ocp_dyn.viz import (
    animate,
    locate,
    plot,
    plot_angles,
    plot_forces,
    plot_gait_cycle,
    plot_multipliers,
    plot_phase_portrait,
    plot_torques,
    skeleton,
    stick_figure,
)
from ocp_dyn.viz.cycle import from_strike
from ocp_dyn.viz.drawing import COLORS, FORCE, hull_of_discs
from ocp_dyn.viz.plots import Chart
from tests.helpers import mostly_slow
from tests.viz.motions import SOLE, STEP, TIME, motion, once, phase

SMALL = {"size": (240, 160)}


def test_the_abscissa_is_the_gait_cycle_of_those_that_walk(walk: Solution) -> None:
    """On legs, or in mirror images; another periodic motion has a cycle, the others have times."""
    assert Chart(walk).label == "gait cycle [%]"
    builder = od.ModelBuilder("hopper")
    builder.add_body("trunk", od.Translation(), mass=1)
    builder.add_body("leg", od.Prismatic("z"), "trunk", mass=1, com=(0, 0, -1))
    hop = once(builder.build(), [0, 0, 1, 0], [0.5, 0, 1, 0])
    assert Chart(hop).label == "time [s]"
    assert Chart(replace(hop, step_length=0.5)).label == "cycle [%]"


def frames(path: Path) -> tuple[list[np.ndarray], list[int]]:
    """Pictures (height, width, 3) and durations [ms] of a .gif."""
    pictures, durations = [], []
    with Image.open(path) as image:
        for k in range(image.n_frames):
            image.seek(k)
            pictures.append(np.asarray(image.convert("RGB")))
            durations.append(image.info["duration"])
    return pictures, durations


def columns(picture: np.ndarray, color: str) -> np.ndarray:
    """Column indices of all pixels of that color."""
    distance = np.abs(picture.astype(int) - np.round(255 * np.array(to_rgb(color)))).max(axis=-1)
    return np.nonzero(distance < 20)[1]


# The skeleton


def test_skeleton_of_a_human_has_trunk_head_feet_and_sides() -> None:
    model = human()
    shapes = skeleton(model)
    kinds = {kind: [s.name for s in shapes if s.kind == kind] for kind in ("trunk", "head", "foot", "rail", "pivot")}
    assert kinds == {
        "trunk": ["pelvis", "torso"], "head": ["torso"], "foot": ["foot_l", "foot_r"], "rail": [], "pivot": [],
    }  # fmt: skip
    assert {s.side for s in shapes if s.name.endswith("_l")} == {"left"}
    assert {s.side for s in shapes if s.name.endswith("_r")} == {"right"}
    assert {s.side for s in shapes if s.name in ("pelvis", "torso")} == {"middle"}


@pytest.mark.slow
def test_a_human_is_drawn_from_the_soles_to_the_vertex() -> None:
    model = human(height=1.8)
    q = model.neutral()
    q[2] = -float(od.point_position(model, "sole_l", ca.DM(q))[2])
    low, high = [], []
    for shape in skeleton(model):
        places = locate(model, shape.points, q[None])[0]
        low.append((places[:, 2] - shape.radii).min())
        high.append((places[:, 2] + shape.radii).max())
    assert min(low) == pytest.approx(0.0, abs=1e-9)
    assert max(high) == pytest.approx(1.8, abs=1e-9)


def test_locate_agrees_with_point_position() -> None:
    model, rng = human(), np.random.default_rng(1)
    q = np.array([model.random_q(rng) for _ in range(3)])
    points = (Point(0, 1.0, 2.0, 3.0), Point(4, 0.1, -0.2, 0.3), Point(9))
    found = locate(model, points, q)
    assert found.shape == (3, 3, 3)
    for k in range(3):
        expected = od.point_position(model, model.body_names[3], ca.DM(q[k]), (0.1, -0.2, 0.3)).full().ravel()
        np.testing.assert_allclose(found[k, 1], expected, atol=1e-12)
        np.testing.assert_allclose(found[k, 0], [1.0, 2.0, 3.0], atol=0)


@pytest.mark.parametrize("root", ["pinned", "planar"])
def test_the_legs_of_a_planar_biped_have_different_sides(root: str) -> None:
    model = five_link_biped(root=root)
    side = dict(zip(model.body_names, sides(model)[1:], strict=True))
    assert side["swing_tibia"] == side["swing_femur"] == "left"
    assert side["stance_tibia"] == side["stance_femur"] == "right"
    assert side["torso" if root == "pinned" else "base"] == "middle"


def test_sides_without_names_come_from_place() -> None:
    builder = od.ModelBuilder("twins")
    builder.add_body("trunk", od.FloatingBase(), mass=1.0, inertia=(1, 1, 1))
    for name, y in (("one", 0.2), ("two", -0.2), ("lonely", 0.3)):
        builder.add_body(
            name, od.Revolute("y"), "trunk", origin=(0.0, y, 0.0), mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1)
        )
    assert sides(builder.build())[1:] == ("middle", "left", "right", "middle")


def test_rails_and_pivots() -> None:
    builder = od.ModelBuilder("cart")
    builder.add_body("cart", od.Prismatic("x"), mass=1.0, inertia=(1, 1, 1))
    builder.add_body("pole", od.Revolute("y"), "cart", mass=0.2, com=(0, 0, 0.5), inertia=(0.1, 0.1, 0.1))
    assert [(s.name, s.kind) for s in skeleton(builder.build())] == [
        ("cart", "rail"),
        ("cart", "ball"),
        ("pole", "limb"),
    ]
    assert [s.kind for s in skeleton(pendulum(2))] == ["pivot", "limb", "limb"]


def test_hull_of_discs_is_the_outline() -> None:
    outline = hull_of_discs(np.array([[0.0, 0.0], [2.0, 0.0]]), np.array([1.0, 0.5]))
    assert outline[:, 0].min() == pytest.approx(-1.0)
    assert outline[:, 0].max() == pytest.approx(2.5)
    assert np.abs(outline[:, 1]).max() == pytest.approx(1.0)


# Time and forces


def test_odd_steps_are_mirrored(walk: Solution) -> None:
    first, second = unroll(walk, 2)[1], unroll(walk, 2)[3]
    assert [[s.name for s in stretch.supports] for stretch in (first, second)] == [["sole_r"], ["sole_l"]]
    assert (first.supports[0].side, second.supports[0].side) == ("right", "left")
    np.testing.assert_allclose(second.t, first.t + TIME)
    hip_l, hip_r = (walk.model.q_slice(f"hip_{side}").start for side in "lr")
    np.testing.assert_allclose(second.q[:, hip_l], first.q[:, hip_r])
    np.testing.assert_allclose(second.q[:, 0], first.q[:, 0] + STEP)
    np.testing.assert_allclose(second.q, walk.sample(second.t), atol=1e-9)


def test_forces_stand_at_the_center_of_pressure_of_both_feet_in_turn(walk: Solution) -> None:
    body, (right, left) = weight(walk.model), (unroll(walk, 2)[k] for k in (1, 3))
    [(_, place, force)] = ground_forces(right, 0.2, 1.0)
    np.testing.assert_allclose(place, [0.1 + SOLE[0], -0.06 + SOLE[1], 0.0])
    np.testing.assert_allclose(force, body * np.array([0.1, 0.05, 1.0]))
    [(_, place, force)] = ground_forces(left, 0.2 + TIME, 1.0)
    np.testing.assert_allclose(place, [0.1 + STEP + SOLE[0], 0.06 - SOLE[1], 0.0])
    np.testing.assert_allclose(force, body * np.array([0.1, -0.05, 1.0]))


# Animations


@pytest.mark.slow
def test_the_feet_swap_sides_from_step_to_step(walk: Solution, tmp_path: Path) -> None:
    path = animate(walk, tmp_path / "walk.gif", steps=2, view="side")
    pictures, durations = frames(path)
    assert len(pictures) == 20  # two steps of 0.4 s at 0.04 s a frame
    assert pictures[0].shape == (420, 720, 3)
    assert set(durations) == {40}
    ahead = []
    for picture in (pictures[0], pictures[10]):
        feet = picture[320:380]
        ahead.append(columns(feet, COLORS["right"]).mean() - columns(feet, COLORS["left"]).mean())
    assert ahead[0] > 50
    assert ahead[1] == pytest.approx(-ahead[0], abs=15)
    assert columns(pictures[5], FORCE).size > 100


@pytest.mark.slow
def test_the_front_view_shows_the_left_on_the_right(walk: Solution, tmp_path: Path) -> None:
    picture = frames(animate(walk, tmp_path / "walk.gif", steps=1, view="front"))[0][3][40:]
    assert columns(picture, COLORS["left"]).mean() > columns(picture, COLORS["right"]).mean() + 30


@pytest.mark.slow
def test_pace_and_frame_rate(walk: Solution, tmp_path: Path) -> None:
    pictures, durations = frames(animate(walk, tmp_path / "a.gif", steps=2, fps=30, **SMALL))
    assert sum(durations) == pytest.approx(1000 * 2 * TIME, rel=0.02)  # though a .gif cannot have 30 frames per second
    slow, durations = frames(animate(walk, tmp_path / "b.gif", steps=1, fps=30, speed=0.5, **SMALL))
    assert len(slow) == pytest.approx(len(pictures), abs=1)
    assert sum(durations) == pytest.approx(1000 * 2 * TIME, rel=0.02)


@pytest.mark.slow
def test_progress_counts_all_frames(walk: Solution, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    animate(walk, tmp_path / "a.gif", steps=1, progress=lambda k, n: seen.append((k, n)), **SMALL)
    assert seen == [(k, 10) for k in range(1, 11)]


@pytest.mark.parametrize(
    ("model", "q0", "q1"),
    [
        (five_link_biped(), [0.2, -0.1, 0.0, 0.5, -0.2], [-0.2, 0.1, 0.0, 0.5, 0.0]),
        (pendulum(2), [1.0, 0.3], [-1.0, 0.0]),
    ],
)
@pytest.mark.slow
def test_a_motion_that_does_not_repeat_is_shown_once_and_held(
    model: od.Model, q0: list[float], q1: list[float], tmp_path: Path
) -> None:
    solution = once(model, q0, q1)
    pictures, durations = frames(animate(solution, tmp_path / "a.gif", steps=3))
    assert len(pictures) == 9
    assert durations[-1] == 840
    assert not np.array_equal(pictures[0], pictures[-1])
    assert plot(solution).axes
    stick_figure(solution, tmp_path / "a.png")


@pytest.mark.slow
def test_mp4_goes_through_ffmpeg(walk: Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"ffmpeg, which was not found: install it, or write a \.gif"):
        animate(walk, tmp_path / "a.mp4")
    _program(tmp_path, 'for last in "$@"; do :; done; /bin/cat > "$last"')
    path = animate(walk, tmp_path / "a.mp4", steps=1, **SMALL)
    assert path.stat().st_size == 10 * 240 * 160 * 3
    _program(tmp_path, 'for last in "$@"; do :; done; echo half > "$last"; echo no such codec >&2; exit 3')
    with pytest.raises(RuntimeError, match="status 3: no such codec"):
        animate(walk, tmp_path / "b.mp4", steps=1, **SMALL)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mp4", "ffmpeg"]


def _program(folder: Path, script: str) -> None:
    program = folder / "ffmpeg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "a.webm"}, r"'a.webm': an animation is written as .gif, .html or .mp4, got '.webm'"),
        ({"path": "a"}, "got no suffix"),
        ({"steps": 0}, "steps must be at least 1, a whole number, got 0"),
        ({"steps": 1.5}, "steps"),
        ({"fps": 60}, "fps must be above 0 and at most 50"),
        ({"view": "top"}, "view, unless None, must be one of side, front, side\\+front, got 'top'"),
        ({"speed": 0.0}, "speed must be a positive number"),
        ({"size": (301, 200)}, "two even numbers of pixels"),
    ],
)
def test_animate_refuses(walk: Solution, tmp_path: Path, options: dict, message: str) -> None:
    path = tmp_path / options.pop("path", "a.gif")
    with pytest.raises(ValueError, match=message):
        animate(walk, path, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_broken_animation_leaves_the_old_file(walk: Solution, tmp_path: Path) -> None:
    path = tmp_path / "a.gif"
    path.write_text("old")

    def stop(k: int, n: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        animate(walk, path, steps=1, progress=stop, **SMALL)
    assert [p.name for p in tmp_path.iterdir()] == ["a.gif"]
    assert path.read_text() == "old"


# Plots


@pytest.mark.slow
def test_flexion_has_clinical_signs_whatever_the_axes(walk: Solution) -> None:
    found = gait_coordinates(walk.model)
    assert {name: [c.sign for c in entries] for name, entries in found.items()} == {
        "hip": [-1, -1], "knee": [1, 1], "ankle": [-1, -1], "shoulder": [-1, -1], "elbow": [-1, -1],
        "lumbar": [1, 1, 1],
    }  # fmt: skip
    assert gait_coordinates(five_link_biped()) == {}
    joints = tuple(od.Revolute("-y") if joint == od.Revolute("y") else joint for joint in walk.model.joints)
    turned = gait_coordinates(replace(walk.model, joints=joints))
    assert [c.sign for c in turned["knee"]] == [-1, -1]


@pytest.mark.slow
def test_legs_that_do_the_same_both_show(walk: Solution) -> None:
    """The left one beneath the right, broader; in a walk no line is."""
    upright = np.array(walk.model.neutral())
    phases = tuple(replace(p, q=np.tile(upright, (len(p.q), 1)), tau=0 * p.tau) for p in walk.phases)
    for shown, broad in ((replace(walk, phases=phases), True), (walk, False)):
        axes = {a.get_title(loc="left"): a for a in plot(shown).axes}
        left, right = axes["hip flexion"].lines[:2]
        assert (left.get_linewidth() > 2 * right.get_linewidth()) == broad


@pytest.mark.slow
def test_plot_shows_a_whole_stride_of_both_legs(walk: Solution, tmp_path: Path) -> None:
    made = plot(walk, tmp_path / "a.png")
    axes = {a.get_title(loc="left"): a for a in made.axes}
    assert len(axes) == 12
    hip = axes["hip flexion"]
    left, right = (hip.lines[k].get_xydata() for k in (0, 1))
    assert [hip.lines[k].get_color() for k in (0, 1)] == [COLORS["left"], COLORS["right"]]
    assert left[-1, 0] == pytest.approx(100)
    assert right[0, 1] == pytest.approx(np.degrees(0.4))  # the right leg starts ahead
    n = len(left) // 2
    np.testing.assert_allclose(left[:n, 1], right[n:, 1], atol=1e-9)
    force = axes["vertical ground force"]
    peaks = [np.nanmax(line.get_ydata()) for line in force.lines if len(line.get_xdata()) > 2]
    assert peaks == pytest.approx([100.0, 100.0])
    pressure = axes["center of pressure along the foot"].lines[0].get_ydata()
    heel = float(walk.model.frame("heel_l").X.r[0] - walk.model.frame("sole_l").X.r[0])
    np.testing.assert_allclose(pressure[np.isfinite(pressure)], 100 * (SOLE[0] - heel))
    assert axes["center of pressure along the foot"].get_ylabel() == "cm from the heel"
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == tuple(np.round(150 * made.get_size_inches()).astype(int))


@pytest.mark.slow
def test_torque_of_extension_is_positive(walk: Solution) -> None:
    hip = plot_torques(walk).axes[0]
    k = walk.model.qd_slice("hip_l").start
    assert hip.get_title(loc="left") == "hip extension torque"
    np.testing.assert_allclose(hip.lines[0].get_ydata()[:8], np.concatenate([p.tau[:, k] for p in walk.phases]))


@pytest.mark.slow
def test_any_model_has_small_multiples() -> None:
    solution = once(pendulum(2), [1.0, 0.0], [0.0, 1.0])
    titles = [a.get_title(loc="left") for a in plot(solution).axes]
    assert titles == [f"joint{i}{what}" for i in (1, 2) for what in ("", " rate", " torque")]
    assert [a.get_title(loc="left") for a in plot_angles(solution).axes] == ["joint1", "joint2"]
    assert [a.get_title(loc="left") for a in plot_torques(solution).axes] == ["joint1 torque", "joint2 torque"]
    with pytest.raises(ValueError, match="no contacts with the ground"):
        plot_forces(solution)


def test_what_is_zero_but_for_rounding_is_drawn_as_zero() -> None:
    solution = once(pendulum(1), [0.0], [1e-14])
    assert [a.get_ylim() for a in plot(solution).axes[:2]] == [(-1.0, 1.0)] * 2


@mostly_slow("suffix", (".png", ".pdf", ".svg"), (".svg",))
@pytest.mark.slow
def test_figures_are_written_in_their_format(walk: Solution, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"forces{suffix}"
    plot_forces(walk, path)
    stick_figure(walk, tmp_path / f"strip{suffix}", poses=3)
    start = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}[suffix]
    assert path.read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("draw", [plot, plot_angles, plot_torques, plot_forces, stick_figure])
@pytest.mark.slow
def test_figures_refuse_other_suffixes(walk: Solution, tmp_path: Path, draw: object) -> None:
    with pytest.raises(ValueError, match=r"'a.gif': a figure is written as one of .png, .pdf, .svg, got '.gif'"):
        draw(walk, tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_strip_has_a_caption_below_every_pose(walk: Solution) -> None:
    texts = [text.get_text() for text in stick_figure(walk, poses=5).axes[0].texts]
    assert texts == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    for wrong in ({"poses": 1}, {"ghosts": -1}):
        with pytest.raises(ValueError, match="stick_figure"):
            stick_figure(walk, **wrong)


@pytest.mark.slow
def test_gait_cycle_begins_with_each_legs_own_touch_down(walk: Solution, tmp_path: Path) -> None:
    made = plot_gait_cycle(walk, tmp_path / "a.png")
    assert [a.get_title(loc="left") for a in made.axes] == ["hip flexion", "knee flexion", "ankle dorsiflexion"]
    hip = made.axes[0]
    bars = [line for line in hip.lines if line.get_linewidth() == 5]
    assert [(line.get_xdata()[0], line.get_ydata().mean()) for line in bars] == [(0, 30), (50, -10), (60, 0), (85, 30)]
    left, right = (line.get_xydata() for line in hip.lines if len(line.get_xdata()) > 2)
    np.testing.assert_allclose(left, right, atol=1e-9)  # a mirrored motion: both legs do the same
    assert right[0] == pytest.approx([0.0, np.degrees(0.4)])
    assert right[-1] == pytest.approx([100.0, np.degrees(0.4)])
    (lift,) = [line for line in hip.lines if line.get_linestyle() == ":" or len(set(line.get_xdata())) == 1][-1:]
    assert lift.get_xdata()[0] == pytest.approx(50 + 100 * 0.1 / (2 * TIME))  # the other leg's double support later
    assert not [line for line in plot_gait_cycle(walk, landmarks=False).axes[0].lines if line.get_linewidth() == 5]
    with pytest.raises(ValueError, match="needs a periodic motion"):
        plot_gait_cycle(once(pendulum(2), [1.0, 0.0], [0.0, 1.0]))


def test_a_curve_is_begun_at_its_strike() -> None:
    x, y = from_strike(np.array([0.0, 30.0, 60.0, 90.0]), np.arange(4.0), 40.0)
    np.testing.assert_allclose(x, [20, 50, 60, 90, 100])
    np.testing.assert_allclose(y, [2, 3, 0, 1, 2])


def test_a_phase_portrait_is_smooth_and_fits_a_page() -> None:
    swing = once(pendulum(2), [1.0, 0.0], [0.0, 1.0], duration=0.5)
    swing = replace(swing, phases=(replace(swing.phases[0], qd=np.cumsum(np.ones((6, 2)), axis=0)),))
    made = plot_phase_portrait(swing, width=3.4, style="latex")
    assert made.get_size_inches()[0] == pytest.approx(3.4)
    q, qd = np.radians(max((line.get_xydata() for line in made.axes[0].lines), key=len)).T
    np.testing.assert_allclose([q[::8], qd[::8]], [swing.q[:, 0], swing.qd[:, 0]])
    before, after = np.array([swing.q[:-1, 0], swing.qd[:-1, 0]]), np.array([swing.q[1:, 0], swing.qd[1:, 0]])
    h = 0.1  # in the middle of an interval the cubic has these values
    np.testing.assert_allclose(q[4::8], (before[0] + after[0]) / 2 + h / 8 * (before[1] - after[1]))
    np.testing.assert_allclose(qd[4::8], 1.5 * (after[0] - before[0]) / h - (before[1] + after[1]) / 4)


def test_white_edges_do_not_hide_thin_rods() -> None:
    heavy = pendulum(2).with_load("link1", 60.0)
    drawn = stick_figure(once(heavy, [1.0, 0.0], [1.0, 0.0]), poses=2).axes[0].collections
    poses = [[tuple(color[:3]) for color in shapes.get_edgecolor()] for shapes in drawn if shapes.get_paths()]
    assert [len(edges) - edges.count((1.0, 1.0, 1.0)) for edges in poses] == [1, 1, 1]  # the light rod of each


@pytest.mark.slow
def test_phase_portraits_close_with_dotted_impacts(walk: Solution) -> None:
    made = plot_phase_portrait(walk, joints=["hip_l", "knee_r"])
    titles = [a.get_title(loc="left") for a in made.axes]
    assert titles == ["hip l ry", "hip l rx", "hip l rz", "knee r"]
    curves = [line for line in made.axes[0].lines if len(line.get_xdata()) > 2]
    assert len(curves) == 4  # two phases, and their mirror images
    assert len(plot_phase_portrait(once(pendulum(2), [1.0, 0.0], [0.0, 1.0])).axes) == 2
    with pytest.raises(KeyError, match="no joint 'tail'"):
        plot_phase_portrait(walk, joints=["tail"])
    with pytest.raises(ValueError, match="joints with as many positions as velocities"):
        plot_phase_portrait(walk, joints=["root"])


def test_multipliers_are_drawn_to_scale(tmp_path: Path) -> None:
    axes = plot_multipliers([2.0, 0.5 + 0.5j, 0.5 - 0.5j], tmp_path / "a.svg").axes[0]
    assert axes.get_title(loc="left") == "largest magnitude 2"
    inside, outside = (line.get_xydata() for line in axes.lines[1:3])
    np.testing.assert_allclose(inside, [[0.5, 0.5], [0.5, -0.5]])
    np.testing.assert_allclose(outside, [[2.0, 0.0]])
    assert axes.get_xlim() == axes.get_ylim() == pytest.approx((-2.24, 2.24))


@pytest.mark.slow
def test_a_page_plays_alone(walk: Solution, tmp_path: Path) -> None:
    said: list[tuple[int, int]] = []
    path = animate(walk, tmp_path / "a.html", steps=2, fps=20, speed=0.3, progress=lambda *k: said.append(k))
    text = path.read_text()
    assert said == [(16, 16)]
    assert "http" not in text
    assert "@" not in text.replace("@media", "")
    data = json.loads(text.partition("const data = ")[2].partition(";\nconst canvas")[0])
    assert len(data["points"]) == len(data["captions"]) == len(data["forces"]) == 16
    assert data["dt"] == pytest.approx(TIME / 8)
    assert sum(3 * shape["n"] for shape in data["shapes"]) == len(data["points"][0])
    assert data["captions"][0] == "0.00 s    1.25 m/s    double support"
    assert len(data["forces"][0]) == 2
    x, y, z, fx, _, fz = data["forces"][5][0]
    assert (x, y, z) == (round(1000 * (0.1 + SOLE[0])), round(1000 * (SOLE[1] - 0.06)), 0)
    assert fx == pytest.approx(0.1 * fz, abs=1)
    assert fz == pytest.approx(400 * size(walk.model), abs=1)
    lost = motion(walk.model, (phase(walk.model, "a", np.arange(2.0), np.full((2, walk.model.nq), np.nan)),))
    for show, name in ((animate, "b.html"), (animate, "b.gif"), (stick_figure, "b.png")):
        with pytest.raises(ValueError, match="not finite"):
            show(lost, tmp_path / name)
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


# Manners


@pytest.mark.slow
def test_nothing_global_is_touched(walk: Solution, tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    animate(walk, tmp_path / "a.gif", steps=1, **SMALL)
    plot(walk)
    stick_figure(walk, poses=3)
    assert dict(matplotlib.rcParams) == before
    assert not Gcf.get_all_fig_managers()


def test_a_motion_in_natural_coordinates_is_told_how_to_be_drawn():
    pendulum = od.models.pendulum(1)
    natural = od.formulations.natural(pendulum)
    motion = od.formulations.trapezoidal_motion(pendulum, natural, [0.3], h=0.1, duration=0.1)
    with pytest.raises(TypeError, match=r"draw its \.trajectory\(loops\)"):
        od.viz.stick_figure(motion)
    assert od.viz.stick_figure(motion.trajectory()).axes


def test_an_overview_names_what_it_cannot_draw():
    problem = Problem(od.models.pendulum(1), [Phase("swing", 1, 0.5)])
    with pytest.raises(TypeError, match="a motion is needed"):
        od.viz.overview(problem)
    solution = problem.solve(progress=False)
    for obstacles in (3, [3]):
        with pytest.raises(TypeError, match="obstacles must be a list of shapes"):
            od.viz.overview(solution, obstacles=obstacles)
    with pytest.raises(TypeError, match="title must be a string, got 3"):
        od.viz.overview(solution, title=3)
    solution.phases[0].q[:] = np.nan
    with pytest.raises(ValueError, match="the positions of this motion are not finite"):
        od.viz.overview(solution)


@pytest.mark.slow
def test_a_name_with_dollar_signs_is_no_formula(tmp_path):
    builder = od.ModelBuilder("a$b^$")
    builder.add_body("l$k^$", od.Revolute("y"), mass=1, com=(0, 0, -1))
    solution = Problem(builder.build(), [Phase("p$^$", 1, 0.5)]).solve(progress=False)
    od.viz.overview(solution, tmp_path / "overview.png")
    assert (tmp_path / "overview.png").stat().st_size > 1000


@pytest.mark.parametrize("links", [4, 5])
@pytest.mark.slow
def test_names_of_curves_do_not_cover_the_title(links: int) -> None:
    made = od.viz.overview(once(pendulum(links), [0.0] * links, [0.5] * links))
    made.canvas.draw()
    panel = made.axes[1]
    names, title = panel.get_legend().get_window_extent(), panel._left_title.get_window_extent()
    assert (title.x1 < names.x0) if links == 4 else (title.y0 > names.y1 - 2)


@pytest.mark.slow
def test_captions_of_a_strip_leave_room():
    """Poses at one place, such as those of a wheel, have few captions, none over another."""
    model = od.models.pendulum()
    strip = stick_figure(once(model, [0.0], [1.0], 1.0), poses=12, spacing=0.2)
    renderer = strip.canvas.get_renderer()
    captions = [x for x in strip.axes[0].texts if x.get_text().endswith(" s")]
    boxes = sorted((x.get_window_extent(renderer) for x in captions), key=lambda box: box.x0)
    assert 1 < len(boxes) < 12
    assert all(b.x0 > a.x1 for a, b in itertools.pairwise(boxes))
