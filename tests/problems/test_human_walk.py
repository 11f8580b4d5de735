"""Human walking on rolling feet: contacts, swing, periodicity, equations of motion, human measures."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.figures import maxima
from ocp_dyn.walking.human_feet import BALL, CLEARANCE, HEEL, TOE_OUT
from problems import human_walk

SLACK = 1e-3  # N, N m: the solver's tolerance times the scale of forces
HALF = (BALL - HEEL) / 2  # half of the flat sole, per length of the foot


@pytest.fixture
def walk(motions):
    return motions["human walk"]


@pytest.fixture
def natural(motions):
    """The walk on the full grid, near the speed of Winter's tables."""
    return motions["fine human walk"]


def friction_and_pressure(foothold, place, n, f, size):
    """The wrench pushes, stays in the cone, and its center of pressure lies in the sole or on its line."""
    assert f[2] > -SLACK
    assert np.hypot(f[0], f[1]) <= 0.7 * f[2] + SLACK
    ahead = np.array([np.cos(place[2]), np.sin(place[2])])
    side = np.array([-ahead[1], ahead[0]])
    assert abs(ahead @ n[:2]) <= size.sole_half_breadth * f[2] + SLACK
    half = HALF * size.foot_length if foothold.kind == "flat" else 0.0
    assert abs(side @ n[:2]) <= half * f[2] + SLACK


@pytest.mark.slow
def test_feet_push_and_never_pull(walk):
    assert walk.converged
    size = od.models.human_dimensions(1.741, "male")
    for phase in walk.phases:
        k = 0
        for contact in phase.contacts:
            foothold, place = ocp.Foothold(contact), phase.places[contact.name]
            for lam in phase.lam[:, k : k + foothold.size]:
                w = np.array(foothold.wrench(ca.DM(lam), ca.DM(place))).ravel()
                friction_and_pressure(foothold, place, w[:3], w[3:], size)
            k += foothold.size


@pytest.mark.slow
def test_feet_stand_and_roll_where_they_were_put(walk):
    model = walk.model
    kinds = [[ocp.Foothold(c).kind for c in phase.contacts] for phase in walk.phases]
    assert kinds == [["edge", "edge"], ["flat", "edge"], ["flat"], ["edge"]]
    for phase in walk.phases:
        for contact in phase.contacts:
            place = ca.DM(phase.places[contact.name])
            for q in phase.q:
                assert np.abs(np.array(ocp.Foothold(contact).position(model, ca.DM(q), place))).max() < 1e-6
    flat, toes = walk.phases[2].places["heel_r"], walk.phases[3].places["heel_r"]
    half = HALF * od.models.human_dimensions(1.741, "male").foot_length
    assert toes - flat == pytest.approx([half * np.cos(flat[2]), half * np.sin(flat[2]), 0.0])


@pytest.mark.slow
def test_the_swinging_foot_clears_the_ground_and_the_other_leg(walk):
    model, size = walk.model, od.models.human_dimensions(1.741, "male")
    swing = [q for phase in walk.phases[2:] for q in phase.q]
    points = od.walking.person().sole_points("l")
    heights = [min(float(od.point_position(model, f, ca.DM(q), p)[2]) for f, p in points) for q in swing]
    assert min(heights) > -1e-6
    assert heights[len(walk.phases[2].q)] > 0.9 * CLEARANCE  # rows stand at nodes inside phases, not here
    knees = walk.q[:, [model.q_slice("knee_l").start, model.q_slice("knee_r").start]]
    assert knees.min() > -1e-6
    assert np.all(walk.tau <= model.dofs.tau_max * (1 + 1e-6))
    assert np.all(walk.tau >= model.dofs.tau_min * (1 + 1e-6))
    gaps = [float((od.pose(model, "heel_l", ca.DM(q))[1] - od.pose(model, "heel_r", ca.DM(q))[1])[1]) for q in swing]
    assert min(gaps) > 0.8 * size.foot_breadth


@pytest.mark.slow
def test_walking_is_periodic(walk):
    model, mirror = walk.model, walk.mirror()
    last, first = walk.phases[-1], walk.phases[0]
    image = np.array(mirror.q(ca.DM(last.q[-1]))).ravel()
    image[0] -= walk.step_length
    assert np.abs(np.array(model.difference(image, first.q[0]))).max() < 1e-6
    G = od.function(od.constraint_jacobian, model, first.contacts)(image)
    qd = np.array(mirror.qd(ca.DM(last.qd[-1]))).ravel()
    assert np.abs(first.qd[0] - qd).max() < 1e-5
    assert np.abs(np.array(G @ first.qd[0])).max() < 1e-6
    later = walk.sample([0.1, 0.1 + 2 * walk.duration])
    assert later[1][0] - later[0][0] == pytest.approx(2 * walk.step_length)
    assert np.allclose(later[1][1:], later[0][1:], atol=1e-6)


@pytest.mark.slow
def test_people_walk_like_this(walk):
    """Bounds around what is measured at such speeds: see the sources in `ocp_dyn/walking`."""
    found = walk.summary(defects=False).numbers() | human_walk.numbers(walk)
    assert found["speed_m_per_s"] == pytest.approx(1.3, abs=1e-6)
    assert 0.6 < found["step_length_m"] < 0.75
    assert 95 < found["cadence_steps_per_min"] < 120
    assert 6 < found["double_support_percent_of_stride"] < 14
    assert 50 < found["peak_torque_ankle_r_Nm"] < 130
    assert 0.08 < found["step_width_m"] < 0.22


@pytest.mark.slow
def test_the_report_has_the_figures_of_gait_analysis(walk):
    """Figures that the phases determine are theirs: the report and the footholds do not tell two stories."""
    found = human_walk.numbers(walk)
    loading, push_off, flat, heel_off = walk.phases
    assert found["cadence_steps_per_min"] == pytest.approx(60 / walk.duration)
    assert found["double_support_s"] == pytest.approx(loading.duration + push_off.duration)
    share = 50 * found["double_support_s"] / walk.duration
    assert found["double_support_percent_of_stride"] == pytest.approx(share)
    ahead = (BALL + HEEL) / 2 * od.models.human_dimensions(1.741, "male").foot_length
    turned_out = 2 * ahead * np.sin(TOE_OUT)  # the middles of the soles are wider apart than the heels
    assert found["step_width_m"] == pytest.approx(2 * abs(flat.places["heel_r"][1]) - turned_out, abs=0.01)
    begin, end = (50 * (1 - t / walk.duration) for t in (heel_off.duration, 0))
    assert begin < found["heel_off_percent_of_stride"] < end  # the heel has left the ground, by a few degrees


@pytest.mark.slow
def test_the_walk_is_that_of_measured_people(natural):
    """Angles within 6 degrees of the means of Winter (1991), forces in their band; weights were fitted to others."""
    assert natural.converged
    gait = natural.gait()
    found = gait.compare("winter")
    for curve in ("hip flexion from trunk", "knee flexion", "ankle dorsiflexion"):
        assert found[curve].rmse < 6.0, curve
        assert found[curve].correlation > 0.9, curve
    assert found["vertical force"].within > 80
    assert found["forward force"].rmse < 0.05  # body weights
    figures = gait.figures
    humps = maxima(gait["vertical force"], 0.1)  # the small peak at heel strike is none
    assert [5 < at < 25 or 40 < at < 55 for at, _ in humps] == [True, True]
    assert all(1.0 < peak < 1.35 for _, peak in humps)
    assert 8 < figures["pelvis_rotation_range_deg"] < 16
    assert 50 < figures["swing_knee_peak_deg"] < 70
    assert 1.3 < figures["push_off_moment_Nm_per_kg"] < 1.9
    assert 0.08 < figures["step_width_m"] < 0.15
    assert 105 < figures["cadence_steps_per_min"] < 120


@pytest.mark.slow
def test_a_finer_grid_obeys_the_equations_and_costs_no_more(walk, natural):
    """A point of the foot that cleared the ground between nodes only made the cost rise with every refinement."""
    assert 0.98 < natural.objective / walk.objective < 1.0
    assert natural.defects().angle < 1e-3


@pytest.mark.slow
def test_effort_decides_and_no_bound(natural):
    """Durations, torques and the joints of the legs are free; bounds may only hold the elbows straight, and a knee at
    the worth of a hundredth of the cost."""
    deciding = [bound for bound in natural.deciding() if not bound.name.startswith("elbow")]
    assert all(abs(bound.worth) < 0.01 * natural.objective for bound in deciding)


@pytest.mark.slow
def test_check_is_silent():
    assert human_walk.problem(1.3, intervals=human_walk.QUICK).check() == []


def test_speeds_are_checked():
    with pytest.raises(ValueError, match=r"between 0\.5 and 2\.2 m/s"):
        human_walk.problem(5.0)
    assert od.walking.person().step_length(1.2) == pytest.approx(0.66)


@pytest.mark.slow
def test_toes_bend_when_the_heel_rises_and_carry_the_foot_to_the_end():
    walk = human_walk.problem(1.3, intervals=human_walk.QUICK, toes=True).solve(progress=False)
    assert walk.converged
    model = walk.model
    assert [list(phase.places) for phase in walk.phases] == [
        ["heel_r", "toe_l"],
        ["heel_r", "toe_l"],
        ["heel_r"],
        ["toe_r"],
    ]
    right, left = (np.degrees([phase.q[:, model.q_slice(f"toes_{side}")].ravel() for phase in walk.phases[k : k + 1]])
                   for side, k in (("r", 2), ("l", 1)))  # fmt: skip
    assert np.abs(right).max() < 5  # straight in the flat foot
    assert left.min() < -12  # bent by the time they leave
    size = od.models.human_dimensions(1.741, "male")
    heel, toes = walk.phases[2].places["heel_r"], walk.phases[3].places["toe_r"]
    half = (size.ball + size.heel - HEEL * size.foot_length) / 2
    assert toes - heel == pytest.approx(
        [half * np.cos(heel[2]), half * np.sin(heel[2]), 0.0]
    )  # from its middle to the ball
    gait = walk.gait()
    assert gait is not None
