"""Feet with toes: places across the joint of the toes, rows at their touchdown, the guess by feet."""

import math

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.guess.foot_tracks import pose_at, toes_at, tracks_of
from ocp_dyn.ocp.transcription.transcribe import transcribe

ACROSS = (0.0, 1.0, 0.0)
BALL, THICK, TIP = 0.13, 0.015, 0.07


def foot(joint=None):
    """A foot at whose ball toes turn; the joint lies at half of the toes' thickness."""
    builder = od.ModelBuilder("foot")
    builder.add_body(
        "foot", od.FloatingBase(), joint_name="root", mass=2.0, com=(0.05, 0.0, 0.1), inertia=(0.1, 0.2, 0.1)
    )
    builder.add_frame("sole", "foot", (0.0, 0.0, 0.0))
    builder.add_body("toes", joint or od.Revolute("y"), "foot", origin=(BALL, 0.01, THICK), mass=0.1, com=(0.03, 0, 0),
                     inertia=(1e-4, 1e-4, 1e-4))  # fmt: skip
    builder.add_frame("toe", "toes", (TIP, -0.01, -THICK))
    builder.add_body("nail", od.Revolute("z"), "toes", mass=0.01, inertia=(1e-5, 1e-5, 1e-5))
    builder.add_frame("tip", "nail", (TIP, -0.01, -THICK))
    return builder.build()


def footholds(radius=0.08):
    flat = ocp.Foothold(
        od.Contact("sole", point=(0.06, 0, 0)), half_length=0.06, half_width=0.04, x=0.3, y=-0.2, yaw=0.4
    )
    level = ocp.Foothold(od.Contact("toe", point=(-0.02, 0, 0)), half_length=0.02, half_width=0.04, of=flat)
    round_toes = od.RollingContact("toe", radius, (-TIP, 0, radius), axis=ACROSS)
    return flat, level, ocp.Foothold(round_toes, half_width=0.04, of=flat)


def standing(yaw, bend):
    """q of the foot flat at footholds()[0], with bent toes."""
    place = np.array([0.3, -0.2]) - 0.06 * np.array([math.cos(yaw), math.sin(yaw)])
    return np.array([*place, 0, 0, 0, math.sin(yaw / 2), math.cos(yaw / 2), bend, 0.0])


def test_places_of_toes_follow_from_the_flat_foot():
    model, (flat, level, round_toes) = foot(), footholds()
    assert level.offset(model) == pytest.approx((BALL + TIP - 0.02 - 0.06, 0.0, 0.0))
    assert round_toes.offset(model) == pytest.approx((BALL - 0.06, 0.0, 0.0))
    place = ca.DM([0.3, -0.2, 0.4])
    for foothold in (level, round_toes):
        x, y, _ = foothold.offset(model)
        c, s = math.cos(0.4), math.sin(0.4)
        there = place + ca.DM([c * x - s * y, s * x + c * y, 0])
        assert np.abs(foothold.position(model, ca.DM(standing(0.4, 0.0)), there).full()).max() < 1e-12
    for joint in (od.Prismatic("y"), od.Universal("y", "x")):
        with pytest.raises(ValueError, match="two bodies that a revolute joint joins"):
            level.offset(foot(joint))
    far = ocp.Foothold(od.Contact("tip"), of=flat)  # two joints away
    with pytest.raises(ValueError, match="two bodies that a revolute joint joins"):
        far.offset(model)


def test_toes_that_follow_a_flat_foot_have_to_lie_level_and_rest():
    """One row: the others follow from the foot. With it all rows of the toes' foothold vanish."""
    model, (flat, level, round_toes) = foot(), footholds()
    q, qd = ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv)
    place, other = ca.DM([0.3, -0.2, 0.4]), ca.DM(3, 1)
    for foothold in (level, round_toes):
        rows = foothold.touchdown(model, q, other, flat, place)
        rate = foothold.touchdown_rate(model, q, qd, flat, place)
        assert rows.shape == rate.shape == (1, 1)
        at = ca.Function("at", [q], [rows])
        assert float(at(standing(0.4, 0.0))) == pytest.approx(0.0, abs=1e-12)
        assert float(at(standing(0.4, 0.3))) == pytest.approx(math.sin(0.3))
        # the rate of the row, where the foot is flat and at rest
        speed = ca.Function("speed", [q, qd], [rate])
        turning = ca.DM([*np.zeros(6), 0.7, 0.0])
        assert float(speed(standing(0.4, 0.0), turning)) == pytest.approx(0.7)
        step = model.integrate(ca.DM(standing(0.4, 0.0)), 1e-6 * turning)
        assert float(at(step)) / 1e-6 == pytest.approx(0.7, rel=1e-6)
        G = ca.vertcat(od.constraint_jacobian(model, [flat.contact], standing(0.4, 0.0)), ca.DM(speed.jacobian()(
            standing(0.4, 0.0), np.zeros(model.nv), 0)[1]))  # fmt: skip
        assert np.linalg.matrix_rank(G.full()) == 7  # flat foot and level toes: nothing is redundant
    assert level.touchdown(model, q, other, round_toes, place).shape == (1, 1)  # one body: as over an edge
    assert round_toes.touchdown(model, q, other, level, place).shape == (0, 1)
    back = flat.touchdown(model, q, other, level, place)  # the heel comes down again
    assert back.shape == (1, 1)
    heel = ocp.Foothold(od.RollingContact("sole", 0.0, (0, 0, 0), axis=ACROSS), of=flat)
    with pytest.raises(ValueError, match="only a flat foothold can pass the load"):
        level.touchdown(model, q, other, heel, place)
    with pytest.raises(ValueError, match="only a flat foothold can pass the load"):
        ocp.Foothold(od.Contact("toe", axes="xyz"), of=flat).touchdown_rate(model, q, qd, flat, place)


@pytest.mark.parametrize("radius", [0.0, 0.08])
def test_the_guess_by_feet_rolls_over_the_toes(radius):
    model, (flat, _, _) = foot(), footholds()
    toes = footholds(radius)[2]
    toes = ocp.Foothold(toes.contact, half_width=0.04, of=flat)
    phases = [ocp.Phase("stand", 4, 0.5, [flat]), ocp.Phase("rise", 4, 0.4, [toes]), ocp.Phase("fly", 4, 0.3)]
    again = ocp.Foothold(flat.contact, half_length=0.06, half_width=0.04, x=0.9, y=-0.2, yaw=0.4)
    plan = ocp.FootPlan()
    problem = ocp.Problem(model, [*phases, ocp.Phase("land", 4, 0.5, [again])], guess=plan)
    t = transcribe(problem)
    tracks = tracks_of(plan, t, [0.5, 0.4, 0.3, 0.5])
    body, parent = model.frame("toe").body, model.frame("sole").body
    assert sorted(tracks) == [parent, body]
    R, p = tracks[body][0].pose(0.9)  # the toes at the end of their stance: rolled by half of the angle, on the ground
    assert math.acos(R[2, 2]) == pytest.approx(plan.leave / 2)
    center = p + R @ [0.0, -0.01, radius - THICK]
    ahead = np.array([math.cos(0.4), math.sin(0.4)])
    begin = np.array([0.3, -0.2]) + (BALL - 0.06) * ahead
    assert center[:2] - begin == pytest.approx(radius * plan.leave / 2 * ahead, abs=1e-9)
    assert center[2] == pytest.approx(radius)
    for time in (0.5, 0.7, 0.9):  # the foot turns about their joint
        (R, p), (R_toes, p_toes) = tracks[parent][-2 if time > 0.5 else 0].pose(time), tracks[body][0].pose(time)
        assert p + R @ [BALL, 0.01, THICK] == pytest.approx(p_toes, abs=1e-9)
    R, _ = tracks[parent][1].pose(0.9)
    assert math.acos(R[2, 2]) == pytest.approx(plan.leave)
    bends = []
    for time in (0.91, 1.05, 1.19, 1.3):  # in the air they straighten, on their foot
        R, p = pose_at(tracks[parent], time, plan.lift)
        R_toes, p_toes = toes_at(model, body, tracks[body], tracks[parent], time, plan.lift)
        assert p_toes == pytest.approx(p + R @ [BALL, 0.01, THICK], abs=1e-9)
        bends.append(math.asin((R.T @ R_toes)[2, 0]))  # extension is negative rotation about y: positive here
    assert bends == pytest.approx(
        [plan.leave / 2 * (1.2 - t) / 0.3 if t < 1.2 else 0.0 for t in (0.91, 1.05, 1.19, 1.3)]
    )
