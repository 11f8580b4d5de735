"""Muscles in pictures and films: lines with arcs, colors and thickness of activations, mirrored steps."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from PIL import Image

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.viz.muscles import VERTICES, MuscleShapes, activations_at, colors_of, thickness_of
from ocp_dyn.viz.panels import Chart
from ocp_dyn.viz.viewer.track import rotation

ELBOW = od.models.elbow()


@cache
def lifted() -> ocp.Solution:
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - 0.3, start.qd, end.q - 1.4, end.qd), 0, 0))
    phase = ocp.Phase("lift", 8, 0.5, objective=[ocp.ChannelPower("activation")])
    muscles = ocp.Muscles(activation="limits")
    return ocp.Problem(ELBOW, [phase], boundary=[ends], unactuated=["elbow"], components=[muscles]).solve(
        progress=False
    )


def test_colors_and_thickness_grow_with_activation() -> None:
    colors = colors_of(np.array([0.0, 0.5, 1.0]))
    assert np.all(np.diff(colors[:, 0]) > 0)
    assert np.all(np.diff(colors[:, 2]) < 0)
    forces = [muscle.max_isometric_force for muscle in ELBOW.muscles]
    half = thickness_of(ELBOW, np.array([0.5, 0.5]))
    assert np.argmax(half) == np.argmax(forces)
    assert np.all(thickness_of(ELBOW, np.array([1.0, 1.0])) > half)


def test_a_film_has_the_activations_of_its_times() -> None:
    solution = lifted()
    shapes, times = MuscleShapes(ELBOW), solution.t
    found = activations_at(solution, times)
    assert found is not None
    assert np.allclose(found, solution["activation"])
    looks = shapes.looks(found[:3])
    assert looks is not None
    assert len(looks) == 3
    assert looks[0][0].shape == (len(shapes.segments), 3)
    places = shapes.places(solution.q[:3])
    assert places.shape == (3, 2 * len(shapes.segments), 3)
    line = od.muscles.path_lines(ELBOW, solution.q[1])[ELBOW.muscle_names[0]]
    assert np.allclose(places[1, 0], line[0])


@pytest.mark.slow
def test_mirrored_steps_have_the_other_side() -> None:
    """A standing body whose left soleus is active in the first step."""
    human = od.models.human(muscles=True)
    chosen = [muscle for muscle in human.muscles if muscle.name[:-2] in ("soleus", "gasmed")]
    used = {wrap.wrap for muscle in chosen for wrap in muscle.wraps}
    model = human.with_muscles(chosen, [w for w in human.wraps if w.name in used], replace_all=True)
    component, t = ocp.Muscles(activation="limits"), np.linspace(0.0, 0.4, 5)
    q = np.tile(np.array(model.neutral(), dtype=float).ravel(), (5, 1))
    activation = np.zeros((5, 4))
    activation[:, model.muscle_names.index("soleus_l")] = np.linspace(0.2, 0.8, 5)
    phase = ocp.PhaseMotion("step", t, q, np.zeros((5, model.nv)), np.zeros((4, model.nv)), np.zeros((4, model.nv)),
                            np.zeros((4, 0)), (), {}, channels={"activation": activation})  # fmt: skip
    walk = ocp.Solution(model, (phase,), {}, (), 0.5, True, {"converged": True, "status": "hand-made"},
                        channels=tuple(component.channels(model)))  # fmt: skip
    found = activations_at(walk, np.array([0.2, 0.6]))
    assert found is not None
    names = model.muscle_names
    assert found[0, names.index("soleus_l")] == pytest.approx(0.5)
    assert found[1, names.index("soleus_r")] == pytest.approx(0.5)
    assert not found[1, names.index("soleus_l")]
    shapes = MuscleShapes(model)
    assert sum(segment.name == "gasmed_l" for segment in shapes.segments) == VERTICES - 1


@pytest.mark.slow
def test_the_viewer_has_cylinders_along_the_lines() -> None:
    """Each goes from one point of a line to the next, as wide and of the color of the picture, also between frames."""
    pytest.importorskip("viser")
    solution = lifted()
    with od.viz.show(solution, play=False) as viewer:
        at = solution.t[5]
        viewer.time = at
        node = viewer.actors[0].muscles
        half = np.array([[0, 0, 0.5]] * len(node.batched_positions)) * node.batched_scales
        ends = [
            [p + s * rotation(w) @ h for s in (-1, 1)]
            for p, w, h in zip(node.batched_positions, node.batched_wxyzs, half, strict=True)
        ]
        shapes, active = MuscleShapes(ELBOW), activations_at(solution, solution.t)[5]
        lines = shapes.places(solution.sample([at]))[0].reshape(-1, 2, 3)
        assert np.abs(np.array(ends) - lines).max() < 5e-4  # straight between two samples
        assert np.allclose(node.batched_scales[:, 0], thickness_of(ELBOW, active)[shapes.pieces], rtol=0.03)
        assert np.abs(node.batched_colors / 255 - colors_of(active)[shapes.pieces]).max() < 0.02
        viewer.layer("muscles", False)
        assert not node.visible
    with od.viz.show(ELBOW) as viewer:
        viewer.update([1.0])
        moved = np.array(viewer.actors[0].muscles.batched_positions)
        viewer.update([0.5])
        assert np.abs(viewer.actors[0].muscles.batched_positions - moved).max() > 0.005


def test_pictures_take_activations(tmp_path: Path) -> None:
    picture = od.viz.plot_model(ELBOW, [0.8], view="side", activations={"biceps": 0.9})
    widths = {tuple(np.round(line.get_color(), 3)): line.get_linewidth() for line in picture.axes[0].lines
              if not isinstance(line.get_color(), str)}  # fmt: skip
    assert len(widths) == 2
    with pytest.raises(ValueError, match="must lie between 0 and 1"):
        od.viz.plot_model(ELBOW, [0.8], activations=[0.5, 1.5])
    with pytest.raises(KeyError, match="biceps"):
        od.viz.plot_model(ELBOW, [0.8], activations={"bicep": 0.5})
    path = od.viz.animate(lifted(), tmp_path / "lift.gif", fps=10, size=(240, 240))
    with Image.open(path) as film:
        assert getattr(film, "n_frames", 1) > 3
    assert od.viz.animate(lifted(), tmp_path / "lift.html", fps=10).stat().st_size > 1000
    assert od.viz.stick_figure(lifted(), poses=3)


def test_panels_of_torque_show_what_muscles_do() -> None:
    """Net torques accelerate the forearm, which has no motor."""
    solution = lifted()
    assert not solution.tau.any()
    _, torque = Chart(solution).torques(0)
    assert torque == pytest.approx(solution.with_net_torques().tau[:, 0])
    assert abs(torque).max() > 1.0


def test_numbers_for_files_say_whose_work_they_tell() -> None:
    assert lifted().summary(defects=False).numbers()["work_and_torque"].startswith("of tau alone, without")
