"""Exact paths: lengths against independent minimization, moment arms against differences, the rules of wrapping."""

from __future__ import annotations

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.muscles.paths.ellipsoids import section
from ocp_dyn.muscles.paths.geodesics import geodesic
from ocp_dyn.muscles.paths.routes import routes
from ocp_dyn.muscles.paths.wrapping import (
    INSIDE,
    MANDATORY,
    STRAIGHT,
    WRAPPED,
    Wrapping,
    cylinder,
    side_of,
    sphere,
    torus,
)
from ocp_dyn.viz.drawing import MUSCLE
from tests.muscles import bodies

ALL = side_of("all")


def row(*x):
    return np.array([x], dtype=float)


def differences(model, q, step=1e-6):
    """-dl/dq by central differences (n x muscles x nv)."""
    steps = step * np.vstack([np.eye(model.nq), -np.eye(model.nq)])
    lengths = od.muscles.path_geometry(model, (q[:, None] + steps).reshape(-1, model.nq)).lengths
    lengths = lengths.reshape(len(q), 2, model.nq, -1)
    return np.swapaxes(lengths[:, 1] - lengths[:, 0], 1, 2) / (2 * step)


MODELS = {**dict.fromkeys(bodies.WRAPS, bodies.extensor), "two joints": bodies.two_joints,
          "points": bodies.all_points}  # fmt: skip


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.slow
def test_moment_arms_are_slopes_of_lengths(kind):
    """Also that lines have no corners: a corner's sliding would change the length."""
    model = MODELS[kind](kind) if kind in bodies.WRAPS else MODELS[kind]()
    q = bodies.states(model, 8)
    found = od.muscles.path_geometry(model, q)
    assert found.moment_arms.shape == (8, 1, 4)
    np.testing.assert_allclose(found.moment_arms, differences(model, q), atol=1e-7)
    straight = np.linalg.norm(ends(model, q), axis=1)
    assert np.sum(found.lengths[:, 0] > straight + 1e-4) >= 2  # some of them bend


def ends(model, q):
    """From the first to the last point of the first muscle."""
    path = model.muscles[0].path
    lines = []
    for one in q:
        a, b = (od.point_position(model, p.body, one, p.point).full().ravel() for p in (path[0], path[-1]))
        lines.append(b - a)
    return np.array(lines)


def test_points_that_move_and_come_and_go():
    model = bodies.all_points()
    without = ("P0", "P1", "P3", "P4")
    for knee, parts in ((0.5, without), (1.2, (*without, "P2")), (1.7, without)):
        q = np.array([0.1, 0.2, -0.1, knee])
        places = []
        for one in model.muscles[0].path:
            at = [f.at(knee) if c else f.at() for f, c in zip(one.functions, one.coordinates, strict=True)] if (
                one.name == "P3") else one.point  # fmt: skip
            if one.name in parts:
                places.append(od.point_position(model, one.body, q, at).full().ravel())
        expected = np.sum(np.linalg.norm(np.diff(places, axis=0), axis=1))
        assert od.muscles.path_geometry(model, q).lengths[0] == pytest.approx(expected, abs=1e-14)


def test_helix_is_the_shortest_line():
    """Against a minimization over the heights at which the line meets and leaves the cylinder; in the plane the two
    points are those of the tangents."""
    from scipy.optimize import minimize  # takes half a second to import

    p1, p2, R = np.array([-0.06, 0.02, -0.05]), np.array([0.05, 0.025, 0.08]), 0.04
    on = [np.arctan2(p[1], p[0]) + s * np.arccos(R / np.hypot(*p[:2])) for p, s in ((p1, -1), (p2, 1))]

    def length(z):
        a, b = (np.array([R * np.cos(t), R * np.sin(t), h]) for t, h in zip(on, z, strict=True))
        return np.linalg.norm(a - p1) + np.hypot(R * (on[0] - on[1]), z[0] - z[1]) + np.linalg.norm(p2 - b)

    best = minimize(length, [0.0, 0.0], tol=1e-14)
    found = cylinder(p1[None], p2[None], R, 1.0, ALL)
    total = np.linalg.norm(found.first[0] - p1) + found.arc[0] + np.linalg.norm(p2 - found.last[0])
    assert found.action == [MANDATORY]
    assert total == pytest.approx(best.fun, abs=1e-11)
    flat = cylinder(p1[None], p2[None], R, 1.0, ALL, apex=True)
    assert total < np.linalg.norm(flat.first[0] - p1) + flat.arc[0] + np.linalg.norm(p2 - flat.last[0])


def test_long_way_round_is_equal_in_both_directions():
    """OpenSim 4.6 gives 12.507 for one of them."""
    p, q = row(-2, 0.5, 0), row(-2, -0.5, 0)
    for a, b in ((p, q), (q, p)):
        found = cylinder(a, b, 1.0, 1.0, side_of("x"))
        tangent = np.sqrt(2**2 + 0.5**2 - 1)
        away = np.arctan2(0.5, -2)
        arc = 2 * (away - np.arccos(1 / np.hypot(2, 0.5)))
        assert found.action == [WRAPPED]
        assert 2 * tangent + found.arc[0] == pytest.approx(2 * tangent + arc, abs=1e-12)
        assert 2 * tangent + found.arc[0] == pytest.approx(7.270, abs=1e-3)


@pytest.mark.parametrize(("a", "b", "side", "action"), [
    ((-2, 0.5, 0), (2, 0.5, 0), "all", MANDATORY),  # cuts it
    ((-2, 1.5, 0), (2, 1.5, 0), "all", STRAIGHT),  # misses it
    ((-2, 1.5, 0), (2, 1.5, 0), "y", STRAIGHT),  # on the active side
    ((-2, -1.5, 0), (2, -1.5, 0), "y", WRAPPED),  # around it
    ((0.5, 0.2, 0), (2, 0.5, 0), "all", INSIDE),
    ((-2, 0.5, 3), (2, 0.5, 3), "all", STRAIGHT),  # beyond its end
])  # fmt: skip
def test_rules_of_cylinders(a, b, side, action):
    assert cylinder(row(*a), row(*b), 1.0, 4.0, side_of(side)).action == [action]


@pytest.mark.parametrize(("a", "b", "turn"), [
    ((0, 3), (1.2, -1.2), 135),  # both tangent points of the first end lie on the half: the other end decides
    ((0, 3), (0.5, -2), 360 - (90 + np.degrees(np.arctan2(2, 0.5)))),
    ((-0.5, -2), (0.6, -2.2), 360 - np.degrees(np.arctan2(2.2, -0.6) - np.arctan2(2, 0.5))),  # neither: the wider way
    ((-1.5, 0.2), (1.5, 0.3), 180 - np.degrees(np.arctan2(0.2, 1.5) + np.arctan2(0.3, 1.5))),
])  # fmt: skip
def test_the_way_over_an_active_half(a, b, turn):
    found = cylinder(row(*a, 0), row(*b, 0), 1.0, 4.0, side_of("y"))
    gaps = sum(np.arccos(1 / np.hypot(*p)) for p in (a, b))
    assert found.arc[0] == pytest.approx(np.radians(turn) % (2 * np.pi) - gaps, abs=1e-12)


@pytest.mark.parametrize("side", ["all", "y", "-y"])
def test_great_circles(side):
    """The short way, or that over the active half, at most the whole circle."""
    p1, p2 = row(-2, 0.3, 0.1), row(1.8, 0.2, -0.4)
    found = sphere(p1, p2, 1.0, side_of(side))
    tangents = [np.sqrt(np.sum(p**2) - 1) for p in (p1, p2)]
    angle = np.arccos(np.sum(p1 * p2) / np.linalg.norm(p1) / np.linalg.norm(p2))
    gaps = sum(np.arccos(1 / np.linalg.norm(p)) for p in (p1, p2))
    expected = (2 * np.pi - angle if side == "-y" else angle) - gaps
    assert found.arc[0] == pytest.approx(expected, abs=1e-12)
    for p, at, tangent in zip((p1, p2), (found.first, found.last), tangents, strict=True):
        assert np.linalg.norm(at) == pytest.approx(1.0, abs=1e-14)
        assert np.linalg.norm(at - p) == pytest.approx(tangent, abs=1e-12)


def test_a_great_circle_leads_over_the_active_half_where_an_end_does_not_lie_on_it():
    p1, p2 = row(-2, 0.1, 0.1), row(1.8, -0.7, 0.2)
    ways = [sphere(p1, p2, 1.0, side_of(side)) for side in ("y", "-y", "all")]
    assert [np.sign((one.first + one.last)[0, 1]) for one in ways] == [1, -1, -1]
    assert ways[0].arc > ways[1].arc == ways[2].arc
    assert [one.action[0] for one in ways] == [MANDATORY, MANDATORY, WRAPPED]


def test_geodesic_of_a_round_ellipsoid_is_a_great_circle():
    p1, p2 = row(-2, 0.3, 0.1), row(1.8, 0.2, -0.4)
    radii = np.ones(3)
    found = geodesic(p1, p2, radii, section(p1, p2, radii, ALL, "hybrid", 20), ALL)
    expected = sphere(p1, p2, 1.0, ALL)
    np.testing.assert_allclose(found.arc, expected.arc, atol=1e-9)
    np.testing.assert_allclose(found.first, expected.first, atol=1e-7)


@pytest.mark.parametrize("side", ["all", "-y"])
@pytest.mark.slow
def test_geodesics_of_a_spheroid_keep_their_moment(side):
    """Clairaut's relation: (x cross t) along the axis of rotation is the same where a line meets and leaves it."""
    p1, p2, a = row(-0.07, 0.012, 0.015), row(0.06, 0.01, -0.03), np.array([0.04, 0.04, 0.025])
    flat = section(p1, p2, a, side_of(side), "hybrid")
    assert np.sign((flat.first + flat.last)[0, 1]) == (1 if side == "all" else -1)
    found = geodesic(p1, p2, a, flat, side_of(side))
    moments = [
        np.cross(at, (at - p) * s / np.linalg.norm(at - p))[0, 2]
        for at, p, s in ((found.first, p1, 1), (found.last, p2, -1))
    ]
    assert moments[0] == pytest.approx(moments[1], abs=1e-8)
    assert np.sign(moments[0]) == (-1 if side == "all" else 1)  # over y > 0, or around it
    for at, p in ((found.first, p1), (found.last, p2)):
        assert np.sum((at / a) ** 2) == pytest.approx(1, abs=1e-8)
        assert np.sum(at * (at - p) / a**2) == pytest.approx(0, abs=1e-8)


def test_geodesics_are_shorter_than_sections():
    p1, p2, a = row(-0.07, 0.02, 0.015), row(0.06, 0.012, -0.03), np.array([0.04, 0.025, 0.033])

    def total(one):
        return (np.linalg.norm(one.first - p1) + one.arc + np.linalg.norm(p2 - one.last))[0]

    best = total(geodesic(p1, p2, a, section(p1, p2, a, ALL, "hybrid"), ALL))
    for method in ("hybrid", "midpoint", "axial"):
        flat = section(p1, p2, a, ALL, method)
        assert best < total(flat) < best + 2e-3
        assert np.sum((flat.first / a) ** 2) == pytest.approx(1.0, abs=1e-12)


def test_torus_pulls_a_line_that_passes_outside_to_its_hole():
    outside = torus(row(1.0, 0.05, 1.0), row(1.6, 0.0, -0.8), 0.2, 1.0, ALL)
    assert outside.action == [WRAPPED]
    for at in (outside.first[0], outside.last[0]):
        assert np.hypot(np.hypot(at[0], at[1]) - 1.0, at[2]) == pytest.approx(0.2, abs=1e-3)
        assert np.hypot(at[0], at[1]) < 1.0
    assert torus(row(0.1, 0.05, 1.0), row(-0.1, 0.0, -0.8), 0.2, 1.0, ALL).action == [STRAIGHT]


def test_the_range_of_a_wrap_names_the_pieces_that_may_wrap():
    model = bodies.extensor("cylinder")
    muscle = model.muscles[0]
    point = od.PathPoint("P1b", "thigh", (0.034, 0.01, -0.3))
    q = [0.0, 0.0, 0.0, 0.3]
    for wrap, wraps in ((od.PathWrap("W", first=2, last=3), True), (od.PathWrap("W", first=1, last=2), False)):
        other = od.Muscle("other", "PathSpring", (muscle.path[0], point, muscle.path[1]), (wrap,))
        found = od.muscles.path_geometry(model.with_muscles([other]), q)
        apart = [od.point_position(model, p.body, q, p.point).full().ravel() for p in other.path]
        straight = np.sum(np.linalg.norm(np.diff(apart, axis=0), axis=1))
        assert (found.lengths[1] > straight + 1e-3) == wraps


def test_two_objects_change_their_turns_where_the_second_one_holds_a_point():
    """OpenSim's rule: in the first round the first one wraps nothing, and the second does not because of the point."""
    calls = []

    def wrap(name, code):
        def over(rows, p1, p2, before):
            calls.append(name)
            return Wrapping(np.full(len(rows), code), p1, p2, np.zeros(len(rows)))

        return over

    points = np.array([[[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]])
    for second, expected in ((INSIDE, "ABBA"), (STRAIGHT, "ABAB")):
        calls.clear()
        routes(points, np.ones((2, 1), dtype=bool), [(wrap("A", STRAIGHT), 0, 1), (wrap("B", second), 0, 1)])
        assert "".join(calls) == expected


def test_paths_follow_edits_of_the_model():
    model, q = bodies.two_joints(), np.array([0.1, 0.4, -0.1, 1.0])
    found = od.muscles.path_geometry(model, q)
    larger = od.muscles.path_geometry(model.scale(length=2.0), q)
    np.testing.assert_allclose(larger.lengths, 2 * found.lengths, rtol=1e-10)
    locked = od.muscles.path_geometry(model.lock_joints({"hip": q[:3]}), q[3:])
    np.testing.assert_allclose(locked.lengths, found.lengths, atol=1e-11)
    np.testing.assert_allclose(locked.moment_arms, found.moment_arms[:, 3:], atol=1e-9)
    base = od.random_tree(2, 1, (od.Revolute("y"),), np.random.default_rng(1))
    attached = base.attach(model, base.body_names[-1], prefix="l_")
    both = od.muscles.path_geometry(attached, np.concatenate([[0.3, -0.2], q]))
    np.testing.assert_allclose(both.lengths, found.lengths, atol=1e-11)
    np.testing.assert_allclose(both.moment_arms[:, :2], 0.0, atol=1e-14)


def test_wrong_arguments():
    model = bodies.extensor("sphere")
    with pytest.raises(KeyError, match=r"no muscle 'extensr'.*did you mean 'extensor'"):
        od.muscles.path_geometry(model, np.zeros(4), "extensr")
    with pytest.raises(ValueError, match="q must be 4 finite numbers, or rows of so many"):
        od.muscles.path_geometry(model, np.zeros(3))
    with pytest.raises(ValueError, match="lines must be"):
        od.muscles.path_geometry(model, np.zeros(4), lines="straight")
    with pytest.raises(od.ModelError, match="without symbols"):
        od.muscles.path_geometry(symbolic(model), np.zeros(4))


def symbolic(model):
    import casadi as ca

    return od.with_parameters(model, {"mass:shank": ca.SX.sym("m")})


@pytest.mark.parametrize("kind", ["cylinder", "sphere", "ellipsoid"])
@pytest.mark.slow
def test_lines_run_along_the_paths(kind):
    """Chords of the arcs are a little shorter than the path, and begin and end where it does."""
    model, q = bodies.extensor(kind), np.array([0.1, 0.2, -0.1, 0.4])
    line = od.muscles.path_lines(model, q)[model.muscle_names[0]]
    length = od.muscles.path_geometry(model, q).lengths[0]
    assert length - 1e-4 < np.sum(np.linalg.norm(np.diff(line, axis=0), axis=1)) <= length + 1e-6
    for end, point in ((line[0], model.muscles[0].path[0]), (line[-1], model.muscles[0].path[-1])):
        place = od.point_position(model, point.body, q, point.point).full().ravel()
        np.testing.assert_allclose(end, place, atol=1e-12)
    if kind == "cylinder":
        assert len(line) > 10
    both = od.muscles.path_lines(model, np.array([q, 1.1 * q]))[model.muscle_names[0]]
    assert [len(one) for one in both] == [len(line)] * 2
    np.testing.assert_allclose(both[0], line)


def test_pictures_show_muscles(tmp_path):
    model = bodies.extensor("one half")
    picture = od.viz.plot_model(model, np.array([0.1, 0.2, -0.1, 0.4]), path=tmp_path / "leg.png", view="side")
    assert any(line.get_color() == MUSCLE and len(line.get_xdata()) > 10 for line in picture.axes[0].lines)
