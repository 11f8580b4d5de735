"""Footholds as shapes of a simulator: sizes, places and mirror images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.io import Ball, Box, Cylinder

HUMAN = od.models.human()
LONG = 0.1
WIDE = 0.04


def sole(side="r", **options):
    contact = od.Contact(HUMAN.frame(f"heel_{side}"), point=(0.12, 0, 0))
    return ocp.Foothold(contact, half_length=LONG, half_width=WIDE, **options)


def edge(x, radius, half_width=WIDE, side="r"):
    rolling = od.RollingContact(HUMAN.frame(f"heel_{side}"), radius, center=(x, 0, radius), axis=(0, 1, 0))
    return ocp.Foothold(rolling, half_width=half_width)


def shapes_of(*footholds, mirror=False):
    periodic = ocp.Periodic(1.0, mirror=mirror) if mirror else None
    phases = [ocp.Phase(f"stand {k}", 2, 1.0, [foothold]) for k, foothold in enumerate(footholds)]
    return ocp.contact_shapes(ocp.Problem(HUMAN, phases, periodic=periodic))


def test_a_flat_foothold_is_a_box_whose_lower_face_is_the_sole():
    (box,) = shapes_of(sole())
    assert isinstance(box, Box)
    assert box.frame == "heel_r"
    assert box.half_sizes == (LONG, WIDE, 0.01)
    assert box.center == (0.12, 0.0, 0.01)


def test_a_rounded_edge_is_a_cylinder_along_its_axis():
    (heel,) = shapes_of(edge(0.03, 0.05))
    assert isinstance(heel, Cylinder)
    assert (heel.radius, heel.half_length, heel.center) == (0.05, WIDE, (0.03, 0.0, 0.05))
    assert heel.R[:, 2] == pytest.approx([0, 1, 0])
    assert np.linalg.det(heel.R) == pytest.approx(1)
    (ball,) = shapes_of(edge(0.03, 0.05, half_width=0.0))
    assert isinstance(ball, Ball)
    assert (ball.radius, ball.center) == (0.05, (0.03, 0.0, 0.05))


@pytest.mark.parametrize(
    ("x", "half_width", "count"), [(0.22, WIDE, 1), (0.22, 0.02, 1), (0.2, WIDE, 2), (0.22, 0.05, 2)]
)
def test_a_sharp_edge_has_a_shape_unless_a_sole_ends_there(x, half_width, count):
    found = shapes_of(sole(), edge(x, 0.0, half_width))
    assert len(found) == count
    if count == 2:
        assert found[1].center == pytest.approx((x, 0, found[1].radius))  # its lowest line is the edge


def test_the_other_side_has_the_mirror_images_once():
    found = shapes_of(sole("r"), edge(0.22, 0.0, side="l"), edge(0.03, 0.05, side="l"), mirror=True)
    assert sorted((type(s).__name__, s.frame) for s in found) == [
        ("Box", "heel_l"), ("Box", "heel_r"), ("Cylinder", "heel_l"), ("Cylinder", "heel_r"),
    ]  # fmt: skip
    for s in found:
        assert s.center == pytest.approx((0.12, 0, 0.01) if isinstance(s, Box) else (0.03, 0, 0.05))
        assert np.linalg.det(s.R) == pytest.approx(1)


def test_points_and_compliant_feet_are_balls():
    point = ocp.Foothold(od.Contact("toe_r", point=(0.01, 0, 0.02), axes="xyz"))
    spheres = [od.HuntCrossleySphere("sole_l", (0.01, 0.02, 0.03), 0.03)]
    small, soft = shapes_of(point, ocp.CompliantFoothold("sole_l", spheres))
    assert (small.frame, small.center) == ("toe_r", pytest.approx((0.01, 0, 0.02 + small.radius)))
    assert (soft.frame, soft.radius, soft.center) == ("sole_l", 0.03, (0.01, 0.02, 0.03))


def test_what_has_no_size_or_is_no_motion_is_an_error():
    with pytest.raises(ValueError, match="the sole of the foothold 'heel_r' has no size"):
        shapes_of(replace(sole(), half_width=0.0))
    with pytest.raises(TypeError, match="needs a Problem or a Solution"):
        ocp.contact_shapes(HUMAN)


@pytest.mark.slow
def test_a_solution_and_its_file_have_the_sizes(tmp_path):
    builder = od.ModelBuilder("block")
    builder.add_body("block", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    foot = ocp.Foothold(od.Contact("block"), x=0, y=0, half_length=0.2, half_width=0.1, plane=ocp.Plane((0, 0, 0.5)))
    solution = ocp.Problem(builder.build(), [ocp.Phase("stand", 2, 1.0, [foot])]).solve(progress=False)
    (box,) = ocp.contact_shapes(ocp.Solution.load(solution.save(tmp_path / "block.npz")))
    assert box.half_sizes == (0.2, 0.1, 0.01)
    earlier = replace(solution, phases=(replace(solution.phases[0], soles={}),))
    with pytest.raises(ValueError, match="does not hold the size of the foothold 'block'"):
        ocp.contact_shapes(earlier)
