"""The center of pressure in one frame of a foot: heel, sole and toes, two bodies, rounded edges, slopes, mirror
images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.unrolled import FootForce, foot_forces, unroll
from ocp_dyn.ocp.motion.motion import PhaseMotion
from ocp_dyn.viz.panels import Chart
from ocp_dyn.viz.viewer import track as tracks
from tests.viz.motions import SOLE, motion

FORCE, YAW = 50.0, 0.3
ACROSS = (0.0, 1.0, 0.0)


def shoe(heel: str = "heel", toes: bool = False) -> od.Model:
    """A foot 0.25 m long, whose joint is 0.05 m in front of its heel; with toes of 0.06 m on a joint."""
    builder = od.ModelBuilder("shoe")
    builder.add_body("foot", od.FloatingBase(), mass=5.0, inertia=(1, 1, 1))
    builder.add_frame(heel, "foot", (-0.05, 0.0, -0.1))
    last, at = "foot", (0.2, 0.0, -0.1)
    if toes:
        builder.add_body("toes", od.Revolute("y"), "foot", origin=(0.14, 0.0, -0.08), mass=1.0, inertia=(1, 1, 1))
        last, at = "toes", (0.06, 0.0, -0.02)
    builder.add_frame("toe", last, at)
    return builder.build()


def held(contact: od.Contact | od.RollingContact, rows: list[float], place: tuple[float, float, float],
         plane: ocp.Plane | None = None, q: np.ndarray | None = None,
         model: od.Model | None = None) -> PhaseMotion:  # fmt: skip
    """A phase of two intervals that holds a contact with constant forces; `together` gives it more of them."""
    model = model or shoe()
    q = np.tile(model.neutral(), (3, 1)) if q is None else q
    planes = {} if plane is None else {contact.name: plane}
    zero = np.zeros((2, model.nv))
    return PhaseMotion("stand", np.array([0.0, 0.1, 0.2]), q, np.zeros((3, model.nv)), zero, zero,
                       np.tile(rows, (2, 1)),
                       (contact,), {contact.name: np.array(place)}, planes=planes)  # fmt: skip


def together(one: PhaseMotion, other: PhaseMotion) -> PhaseMotion:
    contacts, places = one.contacts + other.contacts, one.places | other.places
    return replace(one, lam=np.hstack([one.lam, other.lam]), contacts=contacts, places=places)


def feet(model: od.Model, *phases: PhaseMotion) -> list[FootForce]:
    solution = motion(model, tuple(replace(p, t=p.t + 0.2 * k) for k, p in enumerate(phases)))
    return foot_forces(solution, unroll(solution))


def sole(x: float, y: float, place: tuple[float, float, float], point: float = 0.1) -> PhaseMotion:
    """The flat sole, its contact point `point` before the heel; a force at (x, y) from this point, along the foot."""
    c, s = np.cos(YAW), np.sin(YAW)
    arm = np.array([c * x - s * y, s * x + c * y, 0.0])
    force = np.array([0.0, 0.0, FORCE])
    return held(od.Contact("heel", (point, 0, 0)), [*np.cross(arm, force), *force], place)


def edge(x: float, couple: float, place: tuple[float, float, float], model: od.Model | None = None) -> PhaseMotion:
    """An edge `x` before the heel; the couple tilts about the foot's axis."""
    return held(od.RollingContact("heel", 0.0, (x, 0, 0), axis=ACROSS), [FORCE, 0, 0, 0, couple], place, model=model)


def test_heel_sole_and_toes_share_one_frame() -> None:
    """Three contact points on the ground, one origin: the heel."""

    def place(x: float) -> tuple[float, float, float]:
        return 1.0 + x * np.cos(YAW), 2.0 + x * np.sin(YAW), YAW

    [foot] = feet(shoe(), edge(0.0, 0.5, place(0.0)), sole(-0.03, 0.02, place(0.1)), edge(0.2, -1.0, place(0.2)))
    np.testing.assert_allclose(foot.pressure[::2], [[0.0, 0.01], [0.07, 0.02], [0.2, -0.02]], atol=1e-12)
    np.testing.assert_allclose(foot.force, np.tile([0, 0, FORCE], (6, 1)))
    np.testing.assert_allclose(foot.t, 0.05 + 0.1 * np.arange(6))
    assert (foot.from_heel, foot.length, foot.bodies) == (True, pytest.approx(0.25), (1,))


def test_without_a_heel_the_hindmost_contact_is_the_origin() -> None:
    phases = [replace(p, contacts=(replace(p.contacts[0], body="hind"),), places={"hind": np.array([1, 2, YAW])})
              for p in (edge(0.2, 0.0, (0, 0, 0)), edge(0.05, 0.0, (0, 0, 0)))]  # fmt: skip
    [foot] = feet(shoe("hind"), *phases)
    np.testing.assert_allclose(foot.pressure[::2], [[0.15, 0], [0, 0]], atol=1e-12)
    assert not foot.from_heel
    assert np.isnan(foot.length)


def test_a_foot_and_its_toes_are_one_foot() -> None:
    """The center of pressure of both lies between theirs, and they are no double support."""
    model = shoe(toes=True)
    toes = held(od.Contact("toe"), [0, 0, 0, 0, 0, 3 * FORCE], (1.25, 0, 0), model=model)
    both = together(edge(0.0, 0.0, (1, 0, 0), model), toes)
    [foot] = feet(model, both)
    np.testing.assert_allclose(foot.pressure, [[0.75 * 0.25, 0]] * 2, atol=1e-12)
    np.testing.assert_allclose(foot.force[:, 2], 4 * FORCE)
    assert (foot.bodies, foot.length) == ((1, 2), pytest.approx(0.25))
    assert Chart(motion(model, (both,))).double_support == []


def test_a_knee_on_the_ground_is_no_part_of_the_foot() -> None:
    builder = od.ModelBuilder("leg")
    builder.add_body("shank", od.FloatingBase(), mass=1.0, inertia=(1, 1, 1))
    builder.add_body("foot", od.Revolute("y"), "shank", origin=(0, 0, -0.4), mass=1.0, inertia=(1, 1, 1))
    model = builder.build()
    one, other = (held(od.Contact(name), [0, 0, 0, 0, 0, FORCE], (x, 0, 0), model=model)
                  for name, x in (("shank", 0.0), ("foot", 0.4)))  # fmt: skip
    assert [foot.name for foot in feet(model, together(one, other))] == ["shank", "foot"]


def test_below_three_percent_of_the_weight_there_is_no_center_of_pressure() -> None:
    place, weight = (0.0, 0.0, 0.0), shoe().weight
    [foot] = feet(shoe(), *(held(od.Contact("heel"), [0, 0, 0, 0, 0, share * weight], place) for share in (0.02, 0.04)))
    assert np.isnan(foot.pressure[:2]).all()
    assert np.isfinite(foot.pressure[2:]).all()


def test_an_edge_across_the_corner_of_a_foot() -> None:
    """Its frame is turned in the foot: the couple about its axis moves the center of pressure along the edge."""
    corner = shoe().with_frame("corner", "foot", origin=(0.15, 0.05, -0.1), rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    rolls = od.RollingContact("corner", 0.0, axis=ACROSS)
    flat = held(od.Contact("heel"), [0, 0, 0, 0, 0, FORCE], (0, 0, 0.1))
    [foot] = feet(corner, flat, held(rolls, [FORCE, 0, 0, 0, 0.02 * FORCE], (0.2, 0.05, 0.1 + np.pi / 2)))
    np.testing.assert_allclose(foot.pressure[2], [0.2 - 0.02, 0.05], atol=1e-12)


def test_a_rounded_edge_carries_its_contact_point_along() -> None:
    """A wheel of radius 0.1 m that rolls from -1 to 1 rad: its contact point moves by the radius times the angle."""
    model, radius = shoe(), 0.1
    q = np.tile(model.neutral(), (3, 1))
    for k, angle in enumerate((-1.0, 0.0, 1.0)):
        q[k, 0] = radius * angle
        q[k, 3:] = 0, np.sin(angle / 2), 0, np.cos(angle / 2)
    wheel = od.RollingContact("foot", radius, (0, 0, 0), axis=ACROSS)
    rolls = held(wheel, [FORCE, 0, 0, 0, 0], (0, 0, 0), q=q)
    [foot] = feet(model, rolls)
    middle = 0.05 + np.array([-0.05, 0.05])  # the axle is 0.05 m before the heel
    np.testing.assert_allclose(foot.pressure[:, 0], middle, atol=1e-12)
    ((start, _),) = tracks.of_motion(motion(model, (rolls,)), []).arrows(0.15)
    np.testing.assert_allclose(start, [0.05, 0, 0], atol=1e-12)


def test_pressure_on_a_slope_is_measured_along_it() -> None:
    plane = ocp.Plane(point=(1.0, 0.0, 0.5), normal=(-0.6, 0.0, 0.8))
    arm, force = np.array([0.08, 0.02, 0.06]), np.array([3.0, 4.0, 50.0])  # 0.1 m up the slope, 0.02 m to the left
    [foot] = feet(shoe(), held(od.Contact("heel"), [*np.cross(arm, force), *force], (0, 0, 0), plane))
    np.testing.assert_allclose(foot.pressure[0], [0.1, 0.02], atol=1e-12)
    np.testing.assert_allclose(np.array(DM(plane.R)) @ [0.1, 0.02, 0], arm, atol=1e-12)


@pytest.mark.slow
def test_both_feet_of_a_mirrored_walk_have_mirrored_curves(walk: ocp.Solution) -> None:
    """A toed-out foot, whose contact point is beside the axis of the foot."""
    c, s, outwards = np.cos(0.2), np.sin(0.2), np.array([0.01, -0.02])

    def turned(phase: PhaseMotion) -> PhaseMotion:
        contacts = tuple(replace(c, point=(0.01, -0.02 if c.name == "sole_r" else 0.02, 0)) for c in phase.contacts)
        return replace(phase, contacts=contacts, places=phase.places | {"sole_r": np.array([0.1, -0.06, -0.2])})

    walk = replace(walk, phases=tuple(map(turned, walk.phases)))
    right, left = foot_forces(walk, unroll(walk, 2))
    heel = float(walk.model.frame("heel_r").X.r[0] - walk.model.frame("sole_r").X.r[0])
    assert (right.side, left.side) == ("right", "left")
    aside = np.array([[c, -s], [s, c]]) @ SOLE
    np.testing.assert_allclose(right.pressure[0], aside + outwards - [heel, 0], atol=1e-9)
    second = len(left.t) // 2 + 1  # the left foot is in the air for one entry of the first step
    np.testing.assert_allclose(left.pressure[second], right.pressure[2] * [1, -1], atol=1e-9)
    assert np.isnan(left.force).any(axis=1).sum() == 1
