"""Pictures of models: projection, views, ground, labels, mechanisms with loops, errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from casadi import DM, SX
from matplotlib.collections import PolyCollection
from PIL import Image

import ocp_dyn as od
from ocp_dyn.models import bricard, five_link_biped, human, n_four_bar, pendulum, squeezer
from ocp_dyn.viz import locate, plot, plot_model, skeleton
from ocp_dyn.viz.drawing import hull_of_discs, used_points
from ocp_dyn.viz.pictures.mechanism import CORNER, HEAD, HEIGHT, _apart, _Pose, camera, with_cuts


def panels(figure) -> list:
    """The axes of the views: every other one shows the directions of the world."""
    return [axes for axes in figure.axes if any(isinstance(c, PolyCollection) for c in axes.collections)]


def shapes(axes) -> list[np.ndarray]:
    """Outlines of the bodies, which are drawn last."""
    collection = [c for c in axes.collections if isinstance(c, PolyCollection)][-1]
    return [path.vertices[:-1] for path in collection.get_paths()]


@pytest.mark.parametrize("view", [(0, 0), (90, 0), (0, 90), (52, 16), (-200, 71)])
def test_a_camera_is_a_rotation_that_looks_where_it_should(view):
    turn = camera(*view)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(turn) == pytest.approx(1.0)
    a, e = np.radians(view)
    viewer = np.array([np.sin(a) * np.cos(e), -np.cos(a) * np.cos(e), np.sin(e)])
    np.testing.assert_allclose(turn @ viewer, [0.0, -1.0, 0.0], atol=1e-15)  # y points away from the viewer
    assert turn[0, 2] == 0.0  # the world's vertical stays upright


def test_named_views_show_the_axes_that_they_should():
    np.testing.assert_allclose(camera(0, 0)[[0, 2]], [[1, 0, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(camera(90, 0)[[0, 2]], [[0, 1, 0], [0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(camera(0, 90)[[0, 2]], [[1, 0, 0], [0, 1, 0]], atol=1e-15)


@pytest.mark.parametrize("name", ["front", "3d"])
@pytest.mark.slow
def test_bodies_are_drawn_at_q(name):
    model, q = human(), human().random_q(np.random.default_rng(4))
    segments = skeleton(model)
    places = locate(model, used_points(segments), q[None])[0]
    turn = camera(*{"side": (0, 0), "front": (90, 0), "top": (0, 90), "3d": (52, 16)}[name])
    expected, start = [], 0
    for segment in segments:
        seen = (places[start : start + len(segment.points)] @ turn.T)[:, [0, 2]]
        expected.append(hull_of_discs(seen, np.array(segment.radii)))
        start += len(segment.points)
    (axes,) = panels(plot(model, q, view=name))
    drawn = shapes(axes)
    assert len(drawn) == len(expected)
    for outline in expected:  # drawn in the order of depth
        assert min(np.abs(outline - other).max() for other in drawn) < 1e-12
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    corners = np.vstack(drawn)
    assert left < corners[:, 0].min()
    assert corners[:, 0].max() < right
    assert low < corners[:, 1].min()
    assert corners[:, 1].max() < high


@pytest.mark.slow
def test_the_best_view_shows_the_plane_of_a_planar_mechanism():
    def best(model, q):
        return _Pose.of(model, np.array(q)).best_view()

    assert best(human(), human().neutral()) == "3d"
    assert best(five_link_biped(), [0.2, -0.1, 0.0, 0.5, -0.2]) == "side"
    assert best(squeezer().model, squeezer().q) == "top"


@pytest.mark.slow
def test_the_ground_is_zero_or_under_a_floating_model():
    def floor(model, q):
        return _Pose.of(model, np.array(q)).floor

    person = human()
    q = person.neutral()
    assert floor(person, q) == pytest.approx(od.point_position(person, "sole_l", DM(q))[2])
    q[2] += 2.0
    assert floor(person, q) == 0.0
    assert floor(pendulum(2), [0.1, 0.2]) is None  # it hangs through the height of its pivot
    lines = [line for line in panels(plot(pendulum(2), view="side"))[0].lines if line.get_linewidth() == 1.2]
    assert not lines


@pytest.mark.slow
def test_several_views_have_one_scale_and_one_ground():
    side, front = panels(plot(human(), view="side+front"))
    heights = [axes.get_ylim() for axes in (side, front)]
    assert heights[0] == heights[1]
    scales = [axes.bbox.width / np.ptp(axes.get_xlim()) for axes in (side, front)]
    assert scales[0] == pytest.approx(scales[1])
    assert scales[0] == pytest.approx(side.bbox.height / np.ptp(side.get_ylim()))


@pytest.mark.parametrize(
    ("labels", "names"),
    [("joints", "joint_names"), ("bodies", "body_names"), ("frames", "frame_names")],
)
@pytest.mark.slow
def test_labels_name_everything_once_and_do_not_overlap(labels, names):
    model = human()
    made = plot(model, view="front", labels=labels)
    (axes,) = panels(made)
    texts = [t for t in axes.texts if t.get_text()]
    assert sorted(t.get_text() for t in texts) == sorted(getattr(model, names))
    renderer = made.canvas.get_renderer()
    boxes = [t.get_window_extent(renderer) for t in texts]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])
    assert all(made.bbox.x0 <= b.x0 and b.x1 <= made.bbox.x1 for b in boxes)


@pytest.mark.slow
def test_a_picture_grows_with_its_labels():
    model = od.models.chain(50)
    made = plot(model, view="side", labels="joints")
    boxes = sorted(t.get_window_extent(made.canvas.get_renderer()).y0 for t in panels(made)[0].texts)
    assert len(boxes) == 50
    assert np.diff(boxes[::2]).min() > 8.0  # pixels; two columns side by side
    assert made.bbox.y0 < boxes[0]
    assert made.get_size_inches()[1] > plot(model, view="side").get_size_inches()[1]
    assert len(panels(plot(od.models.chain(80), labels="joints"))[0].texts) == 60  # and no more


def test_labels_are_kept_apart_near_their_places():
    found = _apart(np.array([0.0, 0.0, 0.1, 3.0, 9.99]), 0.5, 0.0, 10.0)
    assert np.all(np.diff(found) >= 0.5 - 1e-12)
    assert found[3] == 3.0
    assert found[-1] == 9.75
    np.testing.assert_allclose(_apart(np.full(4, 10.0), 0.5, 0.0, 10.0), [8.25, 8.75, 9.25, 9.75])


@pytest.mark.slow
def test_the_picture_does_not_depend_on_the_unit_of_length():
    model = human()
    large = model.scale(length=1000.0, mass=1e9)  # the radii of the limbs follow from masses and lengths
    (one,), (other,) = (panels(plot(m, view="3d")) for m in (model, large))
    for a, b in zip(shapes(one), shapes(other), strict=True):
        np.testing.assert_allclose(b, 1000.0 * a, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("chain", [bricard(), squeezer(), n_four_bar(2)], ids=lambda chain: chain.name)
@pytest.mark.slow
def test_bodies_of_a_closed_chain_reach_to_its_cuts(chain):
    model = with_cuts(chain)
    cuts = [name for name in model.frame_names if name.startswith("cut ")]
    assert len(cuts) == 2 * len(chain.loops)
    places = {n: od.point_position(model, n, DM(chain.q)).full().ravel() for n in cuts}
    reach = np.ptp(np.array(list(places.values())), axis=0).max() + 1.0
    for k in range(len(chain.loops)):
        np.testing.assert_allclose(places[f"cut {k + 1}.1"], places[f"cut {k + 1}.2"], atol=1e-7 * reach)
    drawn = np.vstack(shapes(panels(plot(chain, view="side"))[0]))
    for place in places.values():  # every cut lies inside what is drawn
        assert np.min(np.linalg.norm(drawn - place[[0, 2]], axis=1)) < 0.2 * reach
    title = plot(chain, chain.q + 0.1).texts[0].get_text()
    assert title.endswith(f", {chain.degrees_of_freedom()} degree of freedom")


def test_a_picture_is_written(tmp_path: Path):
    made = plot(pendulum(2), [0.3, 0.4], tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == tuple(np.round(150 * made.get_size_inches()).astype(int))
    assert made.texts[0].get_text() == "pendulum 2: 2 bodies, 2 dofs, 2 kg"
    assert made.get_size_inches()[1] == pytest.approx(HEIGHT + HEAD + CORNER)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([1.0],), {}, ValueError, r"plot: q of <Model 'pendulum_2'.*must be 2 finite numbers, got \[1.0\]"),
        (([np.nan, 0.0],), {}, ValueError, "must be 2 finite numbers"),
        ((), {"view": "below"}, ValueError, "must be some of side, front, top, 3d, got 'below'"),
        ((), {"view": 3}, ValueError, "view, such as .* must be some of .*, got 3"),
        ((), {"labels": "links"}, ValueError, "labels must be one of '', bodies, joints, frames, got 'links'"),
        ((None, "a.gif"), {}, ValueError, "a figure is written as one of .png, .pdf, .svg, got '.gif'"),
        ((), {"side": "left"}, TypeError, "plot_model has no argument 'side'"),
    ],
)
def test_plot_of_a_model_refuses(arguments, options, error, message):
    with pytest.raises(error, match=message):
        plot(pendulum(2), *arguments, **options)


def test_plot_says_what_it_draws():
    with pytest.raises(
        TypeError, match=r"plot: a motion is needed, such as .* a model, or a mechanism with closed loops, got 3"
    ):
        plot(3)
    with pytest.raises(TypeError, match="model"):
        plot_model(3)
    model = od.with_parameters(pendulum(1), {"mass:link1": SX.sym("m")})
    with pytest.raises(
        ValueError, match="plot needs numbers for the inertias and positions of the model, and some are"
    ):
        plot(model)
