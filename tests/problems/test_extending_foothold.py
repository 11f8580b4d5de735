"""Footholds on any plane: their rows and wrenches, friction and pressure on the plane, landings, files."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.guess.standing_guess import initial_guess
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.transcription.variables import place_value
from ocp_dyn.spatial_algebra.rotations import rotation_about
from ocp_dyn.symmetry.advance import Advance
from problems.extending.foothold import RAMP, STEP, hop
from tests.hopper import problem as hopper

TILTED = ocp.Plane((0.3, -0.2, 0.4), (0.3, -0.4, 0.8))
WALL = ocp.Plane((1.0, 0.0, 0.5), (-1.0, 0.0, 0.0))
CEILING = ocp.Plane((0.0, 0.0, 2.0), (0.0, 0.0, -1.0))
PLANES = (STEP, TILTED, WALL, CEILING)


def test_axes_of_a_ramp() -> None:
    """Up the ramp, and across it."""
    np.testing.assert_allclose(np.array(RAMP.R)[:, 1], [0, 1, 0], atol=1e-15)
    assert np.array(RAMP.R)[2, 0] > 0.4


def plate() -> od.Model:
    """A body with frames under its sole and at its edges."""
    builder = od.ModelBuilder("plate")
    builder.add_body("body", od.FloatingBase(), joint_name="root", mass=2.0, com=(0, 0, 0.5), inertia=(0.1, 0.2, 0.1))
    for name, x in (("sole", 0.0), ("toe", 0.2)):
        builder.add_frame(name, "body", (x, 0.0, 0.0))
    return builder.build()


MODEL = plate()
PLACE = (0.3, -0.2, 0.4)


def edge(radius: float) -> od.RollingContact:
    return od.RollingContact("toe", radius, (0, 0, radius), axis=(0.0, 1.0, 0.0))


CONTACTS = {
    "flat": od.Contact("sole"),
    "point": od.Contact("toe", axes="xyz"),
    "sharp edge": edge(0.0),
    "round edge": edge(0.03),
}


def standing(foothold: ocp.Foothold, pitch: float) -> np.ndarray:
    """q of the plate at PLACE on the plane; on an edge, rolled by a pitch."""
    yaw, c, s = PLACE[2], math.cos(PLACE[2]), math.sin(PLACE[2])
    radius = getattr(foothold.contact, "radius", 0.0)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    tilt = np.array(rotation_about((0, 1, 0), DM(pitch)))
    R = turn @ tilt
    center = np.array([*PLACE[:2], radius]) + radius * pitch * np.array([math.cos(yaw), math.sin(yaw), 0])
    p = center - R @ np.array([0.0 if foothold.kind == "flat" else 0.2, 0, radius])
    Q = np.array(foothold.plane.R)
    return np.concatenate([Q @ p + foothold.plane.point, od.matrix_quaternion(Q @ R)])


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("kind", CONTACTS)
@pytest.mark.slow
def test_rows_vanish_on_the_plane_and_change_as_the_contact_says(
    kind: str, plane: ocp.Plane, rng: np.random.Generator
) -> None:
    foothold = ocp.Foothold(CONTACTS[kind], plane=plane)
    q, qd, place = (
        DM(x) for x in (standing(foothold, 0.3 if foothold.kind == "edge" else 0.0), rng.normal(size=6), PLACE)
    )
    assert float(ca.norm_inf(foothold.position(MODEL, q, place))) < 1e-14
    if foothold.kind == "edge":  # it stays level
        fixed = foothold.contact.jacobian(MODEL, q).full()[4:]
        qd = qd - DM(np.linalg.pinv(fixed) @ fixed) @ qd
    eps = 1e-6
    ahead, behind = (foothold.position(MODEL, MODEL.integrate(q, h * qd), place) for h in (eps, -eps))
    G = foothold.contact.jacobian(MODEL, q)
    np.testing.assert_allclose((ahead - behind).full() / (2 * eps), (G @ qd).full(), atol=1e-8)
    height = [foothold.height(MODEL, MODEL.integrate(q, h * qd), place) for h in (eps, -eps)]
    point = foothold.point if foothold.kind != "edge" else (0, 0, 0)
    touch = od.point_velocity(MODEL, foothold.name, q, qd, point)
    if kind != "round edge":  # its contact point moves in the body
        assert float(height[0] - height[1]) / (2 * eps) == pytest.approx(
            float(ca.dot(DM(plane.normal), touch)), abs=1e-8
        )


@pytest.mark.parametrize("plane", [TILTED, WALL])
@pytest.mark.parametrize("kind", CONTACTS)
def test_wrenches_do_the_work_of_the_rows(kind: str, plane: ocp.Plane, rng: np.random.Generator) -> None:
    foothold = ocp.Foothold(CONTACTS[kind], plane=plane)
    q, qd = DM(standing(foothold, 0.0)), DM(rng.normal(size=6))
    lam = DM(rng.normal(size=foothold.size))
    twist = od.point_velocity_6d(MODEL, foothold.name, q, qd, foothold.point)
    work = ca.dot(foothold.wrench(lam, DM(PLACE)), twist)
    assert float(work) == pytest.approx(float(ca.dot(lam, foothold.contact.jacobian(MODEL, q) @ qd)), abs=1e-12)


@pytest.mark.parametrize("plane", [STEP, RAMP])
@pytest.mark.slow
def test_a_hopper_lands_on_a_plane(plane: ocp.Plane, tmp_path: Any) -> None:
    mu = 0.1
    solution = hop(plane, mu).solve(progress=False)
    assert solution.converged
    landing = solution.phases[2]
    for q in landing.q:
        foot = np.array(od.point_position(solution.model, "foot", DM(q))).ravel()
        np.testing.assert_allclose(foot, plane.point, atol=1e-6)
    force = landing.wrenches["foot"][:, 3:] @ np.array(plane.R)
    sliding = np.abs(force[:, 0]) / force[:, 2]
    assert force[:, 2].min() > 0
    assert sliding.max() < mu / math.sqrt(2) + 1e-6
    if plane is RAMP:  # in the axes of the plane the limit is reached, in those of the world it is passed
        assert sliding.max() == pytest.approx(mu / math.sqrt(2), rel=1e-3)
        assert np.abs(landing.wrenches["foot"][:, 3] / landing.wrenches["foot"][:, 5]).max() > 3 * mu
        with pytest.raises(ValueError, match="feet on level planes, and 'foot' stands on a tilted one"):
            replace(solution, impulses=(np.zeros(0),) * 3).floquet()
    again = ocp.Solution.load(solution.save(tmp_path / "hop.npz"))
    assert again.phases[2].planes == {"foot": plane}
    assert again.phases[0].planes == {}
    assert again.drift() == solution.drift()
    assert solution.drift().position < 1e-6
    np.testing.assert_array_equal(again.phases[2].wrenches["foot"], landing.wrenches["foot"])


def test_the_guess_by_feet_climbs() -> None:
    """The base rises with the ground under the feet."""
    problem = replace(hop(STEP), guess=ocp.FootPlan())
    t = transcribe(problem)
    initial_guess(t)
    base = [t.program.start[t.phases[p]["q"][k].index][1] for p, k in ((0, 0), (2, -1))]
    assert base[1] - base[0] == pytest.approx(0.2, abs=0.02)


def test_footholds_of_one_foot_share_the_plane() -> None:
    flat = ocp.Foothold(CONTACTS["flat"], plane=TILTED)
    toe = ocp.Foothold(edge(0.0), of=flat)
    assert toe.plane == TILTED
    assert toe.contact.normal == TILTED.normal
    with pytest.raises(ValueError, match=r"Foothold 'toe' lies on the plane of the foothold 'sole' .* leave out plane"):
        ocp.Foothold(edge(0.0), of=flat, plane=WALL)
    with pytest.raises(TypeError, match=r"Foothold plane must be an ocp.Plane\(point, normal\), got 0.2"):
        ocp.Foothold(CONTACTS["flat"], plane=0.2)
    with pytest.raises(
        ValueError, match=r"along toe.tx, toe.tz does not hold a point on a plane .* give the contact all"
    ):
        ocp.Foothold(od.Contact("toe", axes="xz"), plane=TILTED)
    with pytest.raises(ValueError, match="Plane normal must not be zero"):
        ocp.Plane(normal=(0, 0, 0))
    with pytest.raises(ValueError, match=r"Plane point \[m\] must be 3 finite numbers"):
        ocp.Plane((0, 0))


def stepping(first: ocp.Plane, last: ocp.Plane) -> ocp.Problem:
    """The hopper's stance in two parts around its flight, so that the last foothold's image is the first one."""
    given = hopper()
    feet = [ocp.Foothold(od.Contact("foot", axes="xyz"), (-1, 1), (-1, 1), plane=plane) for plane in (first, last)]
    stance, flight = given.phases
    phases = [replace(stance, name=n, footholds=(f,)) for n, f in zip(("late", "early"), feet, strict=True)]
    return replace(
        given,
        phases=[phases[0], flight, phases[1]],
        transitions=(),
        periodic=ocp.Periodic(mirror=False, step_length=0.4, transition=ocp.Continuous()),
    )


def test_a_period_carries_level_planes_of_one_height() -> None:
    problem = stepping(ocp.Plane((0.1, 0.2, 0.3)), ocp.Plane((0.6, 0.3, 0.3)))
    t = transcribe(problem)
    first, last = problem.phases[0].footholds[0], problem.phases[2].footholds[0]
    place, image = (place_value(t, f, t.program.start, Advance.of(0.4)) for f in (last, first))
    world = [np.array(f.origin(DM(p))).ravel() for f, p in ((first, image), (last, place))]
    np.testing.assert_allclose(world[0], world[1] - [0.4, 0, 0], atol=1e-12)
    for wrong, why in ((ocp.Plane((0, 0, 0.1)), r"is then \+0.1 m above the plane"), (RAMP, "are not parallel")):
        with pytest.raises(ValueError, match=why):
            transcribe(stepping(ocp.Plane(), wrong))
