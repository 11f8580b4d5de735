"""Terrain: patches, the height function, and the room for a sole."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp

STONES = ocp.stepping_stones(
    [(0.0, 0.1, 0.0), (0.45, -0.1, 0.08), (0.9, 0.12, -0.05)],
    [(0.2, 0.1, 1.0), (-0.3, 0.2, 1.0), (0.1, -0.35, 1.0)],
    length=0.3,
)
GROUNDS = {
    "up": ocp.stairs(0.17, 0.29, 3, landing=0.5),
    "down": ocp.stairs(-0.17, 0.29, 3, landing=0.5, z=0.4),
    "ramp": ocp.ramp(np.radians(30), 0.8, landing=0.4),
    "ramp down": ocp.ramp(np.radians(-20), 0.8, landing=0.4),
    "stones": STONES,
}


def true_height(terrain, x, y):
    """The ground's height by its definition: the highest patch above or below (x, y), or the base ground."""
    found = [terrain.ground]
    for patch in terrain.patches:
        n, p = np.array(patch.normal), np.array(patch.point)
        z = p[2] - (n[0] * (x - p[0]) + n[1] * (y - p[1])) / n[2]
        u, v, _ = np.array(patch.R.full()).T @ (np.array([x, y, z]) - p)
        if abs(u) <= patch.length / 2 and abs(v) <= patch.width / 2:
            found.append(z)
    return max(found)


@pytest.mark.parametrize("name", GROUNDS)
@pytest.mark.slow
def test_height_is_never_below_the_ground_and_exact_away_from_edges(name):
    terrain, rng = GROUNDS[name], np.random.default_rng(0)
    points = np.column_stack([rng.uniform(-0.7, 1.6, 400), rng.uniform(-0.8, 0.8, 400)])
    heights = np.array(terrain.height(ca.DM(points[:, 0]), ca.DM(points[:, 1]))).ravel()
    above = heights - [true_height(terrain, *p) for p in points]
    assert above.min() > -1e-12
    far = np.array([not near_an_edge(terrain, *p) for p in points])
    assert far.sum() > 100
    assert above[far].max() < 1e-12


def near_an_edge(terrain, x, y):
    """Whether the edge of a patch, seen along z, is nearer than about the smoothing length."""
    for patch in terrain.patches:
        n, p = np.array(patch.normal), np.array(patch.point)
        z = p[2] - (n[0] * (x - p[0]) + n[1] * (y - p[1])) / n[2]
        u, v, _ = np.abs(np.array(patch.R.full()).T @ (np.array([x, y, z]) - p))
        u, v = (u - patch.length / 2) / terrain.smoothing, (v - patch.width / 2) / terrain.smoothing
        if max(u, v) < 1.5 and max(u, v) > -1.5:
            return True
    return False


@pytest.mark.slow
def test_height_is_smooth_in_every_kind_of_expression():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    for terrain in (*GROUNDS.values(), replace(STONES, ground=lambda x, y: 0.1 * ca.sin(3 * x) - 0.3)):
        f = ca.Function("f", [x, y], [terrain.height(x, y), ca.hessian(terrain(x, y), ca.vertcat(x, y))[0]])
        u, v = ca.MX.sym("u"), ca.MX.sym("v")
        g = ca.Function("g", [u, v], [terrain.height(u, v)])
        jump = 0.0
        for at in np.linspace(-0.2, 0.9, 23):
            assert float(g(at, 0.05)) == pytest.approx(float(f(at, 0.05)[0]), abs=1e-14)
            assert float(terrain.height(at, 0.05)) == pytest.approx(float(f(at, 0.05)[0]), abs=1e-14)
        for edge in (0.0, -terrain.smoothing, 0.15, 0.15 + terrain.smoothing):
            one, other = (np.array(f(edge + d, 0.05)[1]) for d in (-1e-9, 1e-9))
            jump = max(jump, float(np.abs(one - other).max()))
        assert jump < 1e-2  # of second derivatives of some 1e3


def test_a_tangent_plane_touches_the_ground():
    hills = ocp.Terrain(ground=lambda x, y: 0.1 * ca.sin(2 * x) * ca.cos(y))
    plane = hills.tangent(0.3, -0.4)
    for d in ((1e-4, 0), (0, 1e-4)):
        x, y = 0.3 + d[0], -0.4 + d[1]
        gap = np.dot(np.array([x, y, float(hills.height(x, y))]) - plane.point, plane.normal)
        assert abs(gap) < 1e-8
    assert plane.normal[2] > 0


def test_a_whole_sole_stays_on_its_patch():
    patch = ocp.Patch((0.3, 0.1, 0.2), (0.2, -0.3, 1.0), length=0.3, width=0.2, name="stone")
    sole = {"half_length": 0.1, "half_width": 0.04}
    for yaw in (0.0, 0.3, (-0.2, 0.5), np.pi / 2):
        foot = ocp.Foothold(od.Contact("foot"), plane=patch, yaw=yaw, **sole)
        low, high = foot.bounds[:2].T
        for angle in np.linspace(*foot.yaw, 7):
            c, s = np.cos(angle), np.sin(angle)
            corners = np.array([(c * x - s * y, s * x + c * y) for x in (-0.1, 0.1) for y in (-0.04, 0.04)])
            room = np.array([0.15, 0.1]) + 1e-5
            assert np.all(np.abs(corners + low) < room)
            assert np.all(np.abs(corners + high) < room)
        if yaw == 0.0:
            np.testing.assert_allclose(foot.bounds, [(-0.05, 0.05), (-0.06, 0.06), (0, 0)], atol=1e-12)
    edge = od.RollingContact("foot", 0.0, (0.1, 0, 0), axis=(0, 1, 0))
    np.testing.assert_allclose(
        ocp.Foothold(edge, plane=patch, half_width=0.04).bounds[:2], [(-0.15, 0.15), (-0.06, 0.06)], atol=1e-12
    )
    point = ocp.Foothold(od.Contact("foot", axes="xyz"), plane=patch, x=(0.1, 3.0))
    np.testing.assert_allclose(point.bounds[:2], [(0.1, 0.15), (-0.1, 0.1)])
    assert point.x == (0.1, 3.0)
    assert ocp.Foothold(od.Contact("foot"), plane=ocp.Plane(patch.point, patch.normal), **sole).bounds[0, 1] == 10.0


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda p: ocp.Foothold(od.Contact("sole_l"), plane=p, half_length=0.2), ValueError,
            "'sole_l': the sole reaches 0.4 m along x, and the patch 'seat' is 0.3 m"),
        (lambda p: ocp.Foothold(od.Contact("sole_l"), plane=p, y=0.3), ValueError,
            "'sole_l': y = 0.3 to 0.3 m is off the patch 'seat'"),
        (lambda p: ocp.Patch(length=0.0, width=1.0), ValueError, "Patch length"),
        (lambda p: ocp.Terrain([ocp.Plane()]), TypeError, "ocp.Patch"),
        (lambda p: ocp.Terrain([p, p]), ValueError, "'seat' twice"),
        (lambda p: ocp.Terrain(ground="flat"), TypeError, "Terrain ground"),
        (lambda p: ocp.Terrain(ground=lambda x, y: ca.vertcat(x, y)).height(0.0, 0.0), ValueError, "one height"),
        (lambda p: ocp.Terrain([p]).plane("sead"), KeyError, "seat"),
        (lambda p: ocp.Terrain([p]).plane(1), IndexError, "1 patches"),
        (lambda p: ocp.stairs(0.0, 0.3, 2), ValueError, "rise"),
        (lambda p: ocp.stairs(0.17, 0.3, 0), ValueError, "count"),
        (lambda p: ocp.ramp(30.0, 1.0), ValueError, "in rad"),
        (lambda p: ocp.stepping_stones([(0, 0)]), ValueError, "three finite numbers"),
        (lambda p: ocp.stepping_stones([(0, 0, 0)], [(0, 0, 1)] * 2), ValueError, "as many normals"),
    ],
)  # fmt: skip
def test_errors_name_the_foothold_and_the_patch(make, error, text):
    with pytest.raises(error, match=text):
        make(ocp.Patch((0, 0, 0.4), length=0.3, width=0.4, name="seat"))


@pytest.mark.parametrize(("x", "error"), [("here", TypeError), (None, TypeError), (float("nan"), ValueError)])
def test_a_height_needs_numbers(x, error):
    with pytest.raises(error, match=r"Terrain height: x \[m\] must .*, got"):
        ocp.Terrain().height(x, 0.0)


def test_heights_do_not_depend_on_the_order_of_patches_and_walls_have_none():
    low, high = ocp.Patch((0, 0, 0.2), length=1, width=1), ocp.Patch((0, 0, 0.5), length=0.4, width=1)
    for patches in ((low, high), (high, low)):
        ground = ocp.Terrain(patches)
        assert [float(ground.height(x, 0.0)) for x in (0.0, 0.4, 0.9)] == pytest.approx([0.5, 0.2, 0.0])
    tilted = ocp.Patch((0, 0, 0.4), (-0.3, 0, 1), length=0.4, width=1)  # 0.34 to 0.46 m high, next to one 0.5 m high
    beside = [float(ocp.Terrain(p).height(0.195, 0.0)) for p in ((tilted, high), (high, tilted))]
    assert beside == pytest.approx([0.5, 0.5])
    wall = ocp.Patch((0, 0, 0.5), (-1.0, 0, 0.01), length=1, width=1)
    assert float(ocp.Terrain([wall]).height(0.0, 0.0)) == 0.0


def test_makers_have_ground_below_all_of_their_patches():
    assert ocp.stairs(-0.2, 0.3, 2, z=1.0).ground == pytest.approx(0.6)
    assert ocp.stairs(0.2, 0.3, 2, z=1.0).ground == pytest.approx(1.0)
    assert ocp.ramp(-0.2, 2.0).ground == pytest.approx(-2 * np.sin(0.2))
    assert ocp.ramp(0.2, 2.0).ground == 0.0
    many = ocp.Terrain(ground=0.3).height(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert np.array(many).ravel() == pytest.approx([0.3, 0.3])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ocp.stepping_stones([(0, 0, 0)], normals=np.zeros((1, 3), dtype=complex)),
            "normals must be rows of three finite",
        ),
        (lambda: ocp.stepping_stones([(0, 0, np.nan)]), "points .m. must be rows of three finite"),
        (lambda: ocp.stepping_stones([]), "points .m. must be rows of three"),
        (
            lambda: ocp.stairs(0.17, 0.29, 3).height(np.zeros((2, 2, 2)), 0.0),
            "height: x .m. must be a number, or numbers in",
        ),
    ],
)
def test_numbers_that_are_no_places(call, message):
    with pytest.raises(ValueError, match=message):
        call()
