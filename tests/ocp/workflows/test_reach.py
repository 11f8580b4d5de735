"""Findings on places of footholds: out of reach, crossed, overlapping, on walls."""

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.workflows.reach import misplaced_footholds

LEG = 0.9
WALL = ocp.Plane((0, 0, 0), (-1, 0, 0.2))


def walker(slide=None, hip=0.0):
    """A trunk on two straight legs, of the length LEG from hip to sole, hips 0.2 m apart, `hip` [m] above its
    origin."""
    builder = od.ModelBuilder("walker")
    builder.add_body("trunk", od.FloatingBase(), joint_name="root", mass=10, inertia=(1, 1, 1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        builder.add_body(
            f"thigh_{side}", od.Universal("y", "x"), parent="trunk", origin=(0, y, hip), mass=2, inertia=(1,) * 3
        )
        builder.add_body(
            f"shank_{side}", od.Revolute("y"), parent=f"thigh_{side}", origin=(0, 0, -0.5), mass=2, inertia=(1,) * 3
        )
        tip = f"shank_{side}"
        if slide is not None:
            limits = {} if slide == np.inf else {"lower": -slide, "upper": slide}
            builder.add_body(f"slide_{side}", od.Prismatic("z"), parent=tip, mass=1, inertia=(1,) * 3, **limits)
            tip = f"slide_{side}"
        builder.add_frame(f"sole_{side}", tip, (0, 0, -0.4))
        builder.add_frame(f"hand_{side}", "trunk", (0, 2 * y, 0.5))
    return builder.build()  # fmt: skip


def foot(side, x, y, kind="flat", **options):
    axes = None if kind == "flat" else "xyz"
    size = {"half_length": 0.1, "half_width": 0.04} if kind == "flat" else {}
    return ocp.Foothold(od.Contact(f"sole_{side}", axes=axes), x=x, y=y, **size, **options)


def found(*phases, model=None, mu=0.7, second_order=False, **options):
    path = (ocp.FrictionCone(mu=mu, second_order=second_order),)
    made = [ocp.Phase(f"phase {k}", 2, 0.5, feet, path) for k, feet in enumerate(phases)]
    return misplaced_footholds(transcribe(ocp.Problem(model or walker(), made, **options)))


@pytest.mark.parametrize(("x", "far"), [(1.98, False), (2.02, True), ((1.9, 2.5), False), ((2.1, 2.5), True)])
@pytest.mark.slow
def test_feet_farther_apart_than_both_legs_are_out_of_reach(x, far):
    """Two legs of 0.9 m and hips of 0.2 m reach 2 m, in one phase, or from one to the next."""
    left, right = foot("l", 0.0, 0.0), foot("r", x, 0.0)
    for phases in (([left, right],), ([left], [right])):
        texts = found(*phases)
        assert len(texts) == far
        for text in texts:
            assert "'sole_l'" in text
            assert "'sole_r'" in text
            assert "reach 2 m" in text
    assert not found([left], [], [right])  # a flight leads anywhere


def test_height_counts_and_sliding_joints_reach_farther():
    high = [foot("l", 0.0, 0.1), foot("r", 0.3, -0.1, plane=ocp.Plane((0, 0, 2.1)))]
    assert found(high)
    assert found(high, model=walker(slide=0.02))
    assert not found(high, model=walker(slide=0.15))
    assert not found(high, model=walker(slide=np.inf))


def test_the_reach_is_from_hip_to_hip_and_includes_round_feet():
    """Neither the place of the trunk's origin lengthens it, nor do feet on the trunk itself lead over a hip."""
    texts = found([foot("l", 0.0, 0.0), foot("r", 2.02, 0.0)], model=walker(hip=-0.5))
    assert "reach 2 m" in texts[0]
    seat = ocp.Foothold(od.Contact("trunk", axes="xyz"), x=0.0, y=0.0)
    assert "reach 1 m" in found([foot("l", 1.1, 0.0), seat])[0]  # 0.1 m to the hip, and a leg
    wheel = od.RollingContact("sole_r", 0.05, center=(0, 0, 0.05), axis=(0, 1, 0))
    for x, far in ((2.08, False), (2.12, True)):
        assert len(found([foot("l", 0.0, 0.0), ocp.Foothold(wheel, half_width=0.03, x=x, y=0.0)])) == far


@pytest.mark.slow
def test_only_feet_side_by_side_can_cross():
    def hand(side, y, **options):
        return ocp.Foothold(od.Contact(f"hand_{side}", axes="xyz"), x=0.3, y=y, **options)

    assert found([foot("l", 0.0, -0.1), foot("r", 0.0, 0.1)])
    assert not found([foot("l", 0.0, -0.1), foot("r", 0.0, 0.1, yaw=np.pi)])  # one looks back: which one is right?
    assert not found([hand("l", -0.1), foot("r", 0.0, 0.1)])  # a hand and a foot are not side by side
    held = [foot(side, 0.0, y, kind="point", plane=WALL) for side, y in (("l", -0.1), ("r", 0.1))]
    assert not found(held)  # feet on a wall may cross
    twisted = [foot("l", 0.0, -0.1, yaw=1.0), foot("r", 0.0, 0.1, yaw=-1.0)]
    assert "0.2 m to the right" in found(twisted)[0]  # right of the mean of both headings
    assert not found([foot("l", 0.0, -0.0015), foot("r", 0.3, 0.0015)])  # less than 2 % of the distance of the hips
    fore = ocp.Foothold(od.Contact("fore_l", axes="xyz"), x=0.3, y=-0.1)
    four = walker().with_frame("fore_l", "trunk", (0.3, 0.25, -0.9))
    assert not found([fore, foot("l", 0.0, 0.1)], model=four)  # two feet of one side
    assert not found([foot("l", 0.0, 0.03), foot("r", 0.0, -0.03, plane=ocp.Plane((0, 0, 0.02)))])  # two planes


def test_feet_that_cross_are_named():
    texts = found([foot("l", 0.0, -0.1), foot("r", 0.3, 0.1)])
    assert len(texts) == 1
    assert "'sole_l' of phase 'phase 0' and 'sole_r'" in texts[0]
    assert "0.2 m to the right" in texts[0]
    assert found([foot("l", 0.0, -0.1)], [foot("r", 0.3, 0.1)])
    assert not found([foot("l", 0.0, (-0.1, 0.2)), foot("r", 0.3, 0.1)])
    assert not found([foot("l", 0.0, 0.1), foot("r", 0.3, -0.1)])
    turned = [foot("l", 0.1, 0.0, yaw=-np.pi / 2), foot("r", -0.1, 0.2, yaw=-np.pi / 2)]
    assert not found(turned)  # both look to the right: x points to their left
    assert found([foot("l", -0.1, 0.0, yaw=-np.pi / 2), foot("r", 0.1, 0.2, yaw=-np.pi / 2)])


def test_soles_that_overlap_are_named():
    assert "overlap" in found([foot("l", 0.0, 0.03), foot("r", 0.0, -0.03)])[0]
    assert not found([foot("l", 0.0, 0.05), foot("r", 0.0, -0.05)])


@pytest.mark.slow
def test_a_wall_carries_only_with_help():
    left, right = foot("l", 0.0, 0.1, plane=WALL), foot("r", 0.0, -0.1)
    texts = found([left])
    assert len(texts) == 1
    assert "'sole_l' of phase 'phase 0' stands on a plane 79 degrees steep" in texts[0]
    assert not found([left, right])  # the other foot carries
    assert not found([left], mu=7.5)  # tan(79 degrees) is 5, and the pyramid ends at mu / sqrt(2)
    assert found([left], mu=6.0)
    assert not found([left], mu=6.0, second_order=True)
    assert not found([left, foot("r", 0.0, -0.1, plane=ocp.Plane((0.5, 0, 0), (1, 0, 0.2)))], mu=1.0)  # a chimney
    assert not found([foot("l", 0.0, 0.1, kind="point", plane=WALL)])  # a hand
    assert not found([])
    tilted = ocp.Parameter("slope", 0.1)  # gravity turns with it
    assert not found([left], parameters=(tilted,))
    flat = ocp.Plane((0, 0, 0), (-1, 0, 1.2))  # 40 degrees: inside the cone, outside the pyramid in it
    assert "40 degrees steep" in found([foot("l", 0.0, 0.1, plane=flat)], mu=0.9)[0]
    cones = (ocp.FrictionCone(mu=9.0), ocp.FrictionCone(mu=0.5))
    slippery = ocp.Phase("slippery", 2, 0.5, [foot("r", 0, -0.1, kind="point", plane=WALL), left], cones)
    (text,) = misplaced_footholds(transcribe(ocp.Problem(walker(), [slippery])))
    assert "'sole_l'" in text  # the flat foot, by the smaller friction
    assert "mu = 0.5" in text
    hung = ocp.Phase("hung", 2, 0.5, [left], (ocp.FrictionCone(),), constraints=[od.Contact("trunk")])
    assert not misplaced_footholds(transcribe(ocp.Problem(walker(), [hung])))  # something else carries


def test_images_of_a_periodic_walk_follow_its_step():
    """The place of the first left foot is that of the last right one, a step back."""
    left, right = foot("l", (-3.0, 3.0), (-3.0, 3.0)), foot("r", 0.0, -0.1)
    for length, far in ((1.5, False), (2.5, True)):
        step = ocp.Periodic(step_length=length, transition=ocp.Continuous())
        texts = found([right, left], [right], periodic=step)
        assert len(texts) == far


@pytest.mark.slow
def test_check_tells_them():
    problem = ocp.Problem(walker(), [ocp.Phase("stand", 2, 0.5, [foot("l", 0, 0.1), foot("r", 3, -0.1)])])
    assert any("at least 3" in text for text in problem.check())
    assert any("at least 3" in text for text in misplaced_footholds(transcribe(problem)))
