"""Gait analysis on motions that are written down by hand: curves, signs, events and figures of a walk."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.figures import maxima
from ocp_dyn.ocp.motion.motion import PhaseMotion
from ocp_dyn.ocp.solution import Solution

N = 10
STEP, TIME = 0.6, 0.5
DOUBLE = 0.1
"""Time of double support at the beginning of the step [s], of the whole step TIME."""


@cache
def biped(stiffness=0.0, toes=True, hip="y"):
    """A pelvis with two legs of thigh, shank and foot; hips 0.8 m above the soles, which turn about these axes."""
    builder = od.ModelBuilder("walker")
    builder.add_body("pelvis", od.FloatingBase(), mass=30, inertia=(1, 1, 1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        link = {"mass": 5, "inertia": (0.1, 0.1, 0.1)}
        builder.add_body(
            f"thigh_{side}",
            od.Revolute("y") if hip == "y" else od.Euler(hip),
            "pelvis",
            joint_name=f"hip_{side}",
            origin=(0, y, 0),
            **link,
        )
        builder.add_body(f"shank_{side}", od.Revolute("y"), f"thigh_{side}", joint_name=f"knee_{side}",
                         origin=(0, 0, -0.4), stiffness=stiffness, **link)  # fmt: skip
        builder.add_body(f"foot_{side}", od.Revolute("y"), f"shank_{side}", joint_name=f"ankle_{side}",
                         origin=(0, 0, -0.35), **link)  # fmt: skip
        builder.add_frame(f"heel_{side}", f"foot_{side}", (-0.05, 0, -0.05))
        if toes:
            builder.add_frame(f"toe_{side}", f"foot_{side}", (0.2, 0, -0.05))
    return builder.build()


def walk(
    model,
    angles=lambda t, side: (0.0, 0.0, 0.0),
    tau=(0, 0, 0),
    load=lambda t: 400.0,
    moment=0.0,
    roll=0.0,
    turn=None,
    planes=None,
):
    """One mirrored step that begins with the strike of the right foot; the left leaves the ground after DOUBLE.

    angles(t, side): hip, knee and ankle as functions of the time since this leg's strike, over the stride. tau:
    constant torques of the right hip, knee and ankle. load(t): vertical force on each foot at the time since its
    strike. moment: about y at the contact point of the right foot, roll: about x. turn: quaternion of the pelvis.
    planes: (angle, speed, torque) of other dofs by name, constant along the step.
    """
    feet = {side: od.Contact(f"heel_{side}", point=(0.1, 0, 0)) for side in "rl"}
    # flat feet, with the middle of the sole 0.1 m ahead of the heel; the left one stands a step behind
    places = {"heel_r": np.array([0.3, -0.06, 0.0]), "heel_l": np.array([0.3 - STEP, 0.06, 0.0])}
    names = [str(name) for name in model.qd_names]

    def phase(name, begin, end, sides):
        t = np.linspace(begin, end, N + 1)
        q = np.tile(model.neutral(), (N + 1, 1))
        q[:, 0], q[:, 2] = STEP * t / TIME, 0.8
        if turn is not None:
            q[:, 3:7] = turn
        qd = np.zeros((N + 1, model.nv))
        for k, time in enumerate(t):
            for side, since in (("r", time), ("l", time + TIME)):
                for joint, angle in zip(("hip", "knee", "ankle"), angles(since, side), strict=True):
                    at = names.index(f"{joint}_{side}" + (".ry" if f"{joint}_{side}.ry" in names else ""))
                    q[k, at + 1] = angle
        torques = np.zeros((N, model.nv))
        for joint, value in zip(("hip_r", "knee_r", "ankle_r"), tau, strict=True):
            torques[:, names.index(joint if joint in names else f"{joint}.ry")] = value
        for dof, (angle, speed, torque) in (planes or {}).items():
            at = names.index(dof)
            q[:, at + 1], qd[:, at], torques[:, at] = angle, speed, torque
        middle = (t[:-1] + t[1:]) / 2
        rows = []
        for side, since in (("r", middle), ("l", middle + TIME)):
            if side in sides:
                force = np.array([load(s) for s in since])
                rows.append(np.column_stack([np.full(N, roll if side == "r" else 0.0),
                                             np.full(N, moment if side == "r" else 0.0), np.zeros(N),
                                             0.1 * force, np.zeros(N), force]))  # fmt: skip
        contacts = tuple(feet[s] for s in sides)
        held = {f"heel_{s}": places[f"heel_{s}"] for s in sides}
        return PhaseMotion(name, t, q, qd, np.zeros((N, model.nv)), torques, np.hstack(rows), contacts, held)

    phases = (phase("double", 0.0, DOUBLE, "rl"), phase("single", DOUBLE, TIME, "r"))
    return Solution(model, phases, {}, (), STEP, True, {"converged": True, "status": "by hand"})


@pytest.mark.slow
def test_times_of_contact_and_of_the_stride():
    gait = walk(biped()).gait()
    assert gait.events["opposite toe-off"] == pytest.approx(10)
    assert gait.events["opposite heel strike"] == pytest.approx(50)
    assert gait.events["toe-off"] == pytest.approx(60)
    expected = {
        "speed_m_per_s": 1.2, "stride_time_s": 1.0, "cadence_steps_per_min": 120, "stride_frequency_Hz": 1.0,
        "stride_length_m": 1.2, "step_length_m": 0.6, "double_support_percent": 20, "stance_percent": 60,
        "contact_time_s": 0.6, "leg_length_m": 0.8, "step_width_m": 0.2, "step_width_leg_lengths": 0.25,
        "dimensionless_speed": 1.2 / np.sqrt(9.81 * 0.8), "dimensionless_cadence": 2 * np.sqrt(0.8 / 9.81),
        "dimensionless_step_length": 0.75, "slope": 0.0,
    }  # fmt: skip
    assert {name: gait.figures[name] for name in expected} == pytest.approx(expected)
    assert gait.numbers()["toe_off_percent"] == pytest.approx(60)


def test_angles_have_the_signs_of_the_clinic_and_begin_at_the_strike_of_the_leg():
    """The joints turn about +y: hip and ankle with the other sign."""
    gait = walk(biped(), lambda t, side: (-0.3 + 0.2 * t, 0.4 * t, -0.1)).gait()
    assert gait["hip flexion"][[0, 50, 99]] == pytest.approx(np.degrees([0.3, 0.2, 0.102]), abs=1e-6)
    assert gait["knee flexion"][[0, 30, 80]] == pytest.approx(np.degrees([0.0, 0.12, 0.32]), abs=1e-6)
    assert gait["ankle dorsiflexion"] == pytest.approx(np.degrees(0.1))
    # the thigh hangs from an upright pelvis, which is the trunk here
    assert gait["thigh flexion"][50] == pytest.approx(np.degrees(0.2), abs=1e-6)
    assert gait["hip flexion from trunk"][50] == pytest.approx(np.degrees(0.2), abs=1e-6)
    assert gait["foot pitch"][50] == pytest.approx(np.degrees(0.2 - 0.2 + 0.1), abs=1e-6)


@pytest.mark.slow
def test_the_foot_is_flat_at_the_pitch_of_single_support():
    """The ankle pitches the foot by 0.2 rad in the first tenth of the stride, and from 0.4 of the stride on."""

    def ankle(t, side):
        return 0.0, 0.0, -0.1 - max(0.0, 2 * (0.1 - t)) + max(0.0, t - 0.4)

    gait = walk(biped(), ankle).gait()
    assert gait["foot pitch"][20] == pytest.approx(np.degrees(0.1))
    two = np.radians(2.0)
    assert gait.events["foot flat"] == pytest.approx(100 * (0.1 - two / 2), abs=0.3)
    assert gait.events["heel-off"] == pytest.approx(100 * (0.4 + two), abs=0.3)


def test_legs_of_a_mirrored_walk_have_equal_curves():
    solution = walk(
        biped(), lambda t, side: (0.2 * np.sin(2 * np.pi * t), 0.3, 0.0), (3, 4, 5), lambda t: 300 + 100 * t
    )
    right, left = solution.gait("right"), solution.gait("left")
    for name in right.curves:
        assert left[name] == pytest.approx(right[name], abs=1e-6, nan_ok=True), name
    assert left.figures == pytest.approx(right.figures)


@pytest.mark.slow
def test_moments_are_those_of_motors_and_passive_tissue_and_extend():
    """Torques about +y extend the hip and flex the knee; a spring of 20 N m/rad bends the knee back."""
    model = biped(stiffness=20.0)
    solution = walk(model, lambda t, side: (0.0, 0.5, 0.0), tau=(6, 10, 12))
    gait = solution.gait()
    mass = 60.0
    assert gait["hip extension moment"][30] == pytest.approx(6 / mass)
    assert gait["knee extension moment"][30] == pytest.approx((-10 + 20 * 0.5) / mass)
    assert gait["ankle plantar flexion moment"][30] == pytest.approx(12 / mass)
    without = replace(solution, loads=od.Loads()).gait()
    assert without["knee extension moment"][30] == pytest.approx(-10 / mass)
    # the right leg has no torque while the left one stands on the mirror image of its torques
    assert gait["hip extension moment"][80] == pytest.approx(0.0, abs=1e-12)


def test_slopes_of_the_torques_and_powers():
    solution = walk(biped(), tau=(0, 0, 12))
    first, second = solution.phases
    names = list(solution.model.qd_names)
    rate = np.zeros_like(second.tau)
    rate[:, names.index("ankle_r")] = 100.0
    qd = second.qd.copy()
    qd[:, names.index("ankle_r")] = 2.0
    gait = replace(solution, phases=(first, replace(second, tau_rate=rate, qd=qd))).gait()
    h = (TIME - DOUBLE) / N
    # within an interval the torque rises by 100 N m/s about its mean, and jumps back at its end
    assert gait["ankle plantar flexion moment"][10] == pytest.approx((12 - 100 * h / 2) / 60, abs=1e-3)
    assert gait["ankle power"][12] == pytest.approx(12 * 2 / 60, abs=1e-3)


def test_forces_and_center_of_pressure():
    model = biped()
    gait = walk(model, load=lambda t: 200 + 500 * t, moment=-10.0, roll=-2.0).gait()
    weight = 60 * 9.81
    # by lines through the midpoints of the intervals, and on to the ends of the stance
    assert gait["vertical force"][[0, 25, 59]] == pytest.approx(np.array([200, 325, 495]) / weight, rel=1e-6)
    assert gait["vertical force"][61:] == pytest.approx(0.0)
    assert gait["forward force"][25] == pytest.approx(32.5 / weight)
    assert gait["lateral force"] == pytest.approx(0.0)
    # -My / Fz ahead of the contact point, which is 0.1 m ahead of the heel of a sole of 0.25 m
    assert gait["center of pressure along"][25] == pytest.approx((0.1 + 10 / 325) / 0.25, rel=1e-3)
    assert np.isnan(gait["center of pressure along"][80])
    # Mx / Fz to the left, so -Mx / Fz outward of the right foot
    assert gait["center of pressure lateral"][25] == pytest.approx(2 / 325 / 0.25, rel=1e-3)


def ramps(t):
    """Force on a foot at a time since its strike: 20 N at the strike and 0.55 s after it."""
    since = (t + 0.3) % 1.0 - 0.3
    return max(0.0, 400 * (since + 0.05)) if since < 0.2 else max(0.0, 400 * (0.6 - since))


def compliant_walk(loads):
    """The walk with all feet compliant in both phases; loads: force at a time since the strike, by frame of a foot."""
    motion = walk(biped())
    names = [
        (f"{frame}_{side}", load, since) for frame, load in loads.items() for side, since in (("r", 0), ("l", TIME))
    ]
    feet = tuple(ocp.CompliantFoothold(name, [od.HuntCrossleySphere(name)]) for name, *_ in names)
    phases = []
    for phase in motion.phases:
        lam, middle = np.zeros((N, 6 * len(feet))), (phase.t[:-1] + phase.t[1:]) / 2
        for k, (_, load, since) in enumerate(names):
            lam[:, 6 * k + 5] = [load(t + since) for t in middle]
            lam[:, 6 * k + 3] = 0.1 * lam[:, 6 * k + 5]
        phases.append(replace(phase, lam=lam, contacts=feet, places={}))
    return replace(motion, phases=tuple(phases))


@pytest.mark.slow
def test_compliant_feet_stand_while_they_carry_20_newtons():
    """Events lie between the middles of intervals, as in `stances()`, and the forces begin and end with 20 N."""
    motion = compliant_walk({"heel": ramps})
    gait = motion.gait()
    assert gait.events["toe-off"] == pytest.approx(55)
    assert gait.events["opposite heel strike"] == pytest.approx(50)
    assert gait.figures["double_support_percent"] == pytest.approx(10)
    right = next(stance for stance in motion.stances() if stance.foot == "heel_r")
    assert right.lift_off - right.touch_down == pytest.approx(gait.figures["contact_time_s"])
    weight = 60 * 9.81
    assert gait["vertical force"][[0, 10, 55, 56]] == pytest.approx([20 / weight, 60 / weight, 20 / weight, 0])
    assert gait["forward force"][[0, 55]] == pytest.approx([0, 0])


@pytest.mark.slow
def test_heel_and_toes_of_a_compliant_foot_carry_together():
    """Each carries less than 20 N at the strike and at toe-off, at which both together carry 20 N."""
    gait = compliant_walk({"heel": lambda t: 0.5 * ramps(t), "toe": lambda t: 0.5 * ramps(t)}).gait()
    assert gait.events["toe-off"] == pytest.approx(55)
    assert gait.events["opposite heel strike"] == pytest.approx(50)


@pytest.mark.slow
def test_a_run_has_no_double_support():
    gait = compliant_walk({"heel": lambda t: ramps(t + 0.2 * (0 <= t % 1 < 0.6))}).gait()  # the foot leaves at 0.35 s
    assert gait.events["toe-off"] == pytest.approx(35, abs=2)
    assert gait.figures["double_support_percent"] == 0
    assert gait.expected() == []


def test_peaks_of_the_knee_belong_to_early_stance_and_to_the_swing():
    at, knee = (0, 0.1, 0.3, 0.55, 0.6, 0.8, 1.0), (0, 0.3, 0.1, 0.5, 0.4, 0.2, 0)
    gait = walk(biped(), lambda t, side: (0.0, np.interp(t % 1, at, knee), 0.0)).gait()
    assert gait.figures["stance_knee_peak_deg"] == pytest.approx(np.degrees(0.3), rel=0.02)
    assert gait.figures["swing_knee_peak_deg"] == pytest.approx(np.degrees(0.4), rel=0.02)


def test_forces_brake_and_propel_and_point_outward():
    motion = walk(biped())
    phases = [replace(phase, lam=phase.lam.copy()) for phase in motion.phases]
    for phase, forward in zip(phases, (-60.0, 90.0), strict=True):
        phase.lam[:, 3], phase.lam[:, 4] = forward, -12.0  # of the right foot: to the right
    phases[0].lam[:, 9], phases[0].lam[:, 10] = 90.0, 12.0
    gait = replace(motion, phases=tuple(phases)).gait()
    weight = 60 * 9.81
    assert gait.figures["braking_force_body_weights"] == pytest.approx(60 / weight)
    assert gait.figures["propelling_force_body_weights"] == pytest.approx(90 / weight)
    assert gait["lateral force"][[5, 30, 55]] == pytest.approx(12 / weight)


def test_the_hip_angle_from_the_trunk_counts_the_lean_of_the_trunk():
    lean = 0.1  # forward; the leg hangs from the pelvis, so its thigh points backward
    gait = walk(biped(), turn=(0, np.sin(lean / 2), 0, np.cos(lean / 2))).gait()
    assert gait["thigh flexion"][30] == pytest.approx(-np.degrees(lean))
    assert gait["hip flexion from trunk"][30] == pytest.approx(0, abs=1e-9)


def test_feet_whose_contacts_are_never_switched_stand_while_they_carry_20_newtons():
    """Contacts that are present in every phase: strike and toe-off are where the force passes 20 N."""
    model = biped()
    switched = walk(model)
    feet = tuple(od.Contact(f"heel_{side}", point=(0.1, 0, 0)) for side in "rl")
    places = {"heel_r": np.array([0.3, -0.1, 0.0]), "heel_l": np.array([-0.3, 0.1, 0.0])}

    phases = []
    for phase in switched.phases:
        middle = (phase.t[:-1] + phase.t[1:]) / 2
        lam = np.zeros((N, 12))
        lam[:, 5], lam[:, 11] = [ramps(t) for t in middle], [ramps(t + TIME) for t in middle]
        phases.append(replace(phase, lam=lam, contacts=feet, places=places))
    gait = replace(switched, phases=tuple(phases)).gait()
    assert gait.events["toe-off"] == pytest.approx(55, abs=1.5)
    assert gait.events["opposite heel strike"] == pytest.approx(50, abs=1e-6)
    assert gait.figures["double_support_percent"] == pytest.approx(10, abs=3)


@pytest.mark.parametrize(
    ("axis", "name", "sign"),
    [
        ((0, 0, 1), "pelvis rotation", 1.0),
        ((1, 0, 0), "pelvis obliquity", -1.0),
        ((0, 1, 0), "pelvis tilt", 1.0),
    ],
)
@pytest.mark.slow
def test_pelvis_angles(axis, name, sign):
    """Positive: this side forward, this side up, forward lean. Turned to the left, the right side is forward."""
    turn = np.append(np.sin(0.05) * np.array(axis), np.cos(0.05))
    solution = walk(biped(), turn=turn)
    assert solution.gait("right")[name][20] == pytest.approx(sign * np.degrees(0.1))
    others = {"pelvis rotation", "pelvis obliquity", "pelvis tilt"} - {name}
    assert all(abs(solution.gait("right")[other][20]) < 1e-9 for other in others)
    side = 1.0 if name == "pelvis tilt" else -1.0  # the mirror image turns the other way in the second step
    assert solution.gait("left")[name][70] == pytest.approx(side * sign * np.degrees(0.1))


@pytest.mark.slow
def test_hips_in_the_other_planes_have_the_signs_of_the_clinic_on_both_sides():
    """Abduction and external rotation are positive rotations about x and z on the left, negative ones on the right."""
    planes = {"hip_r.rx": (0.1, 2.0, 12.0), "hip_r.rz": (0.2, 1.0, -6.0),
              "hip_l.rx": (-0.3, 1.0, 30.0), "hip_l.rz": (0.05, 3.0, 18.0)}  # fmt: skip
    motion = walk(biped(hip="yxz"), planes=planes)
    mass = 60.0
    right, left = motion.gait("right"), motion.gait("left")  # at 20 % of the stride the right foot stands
    assert right["hip adduction"][20] == pytest.approx(np.degrees(0.1))
    assert right["hip internal rotation"][20] == pytest.approx(np.degrees(0.2))
    assert right["hip abduction moment"][20] == pytest.approx(-12 / mass)
    assert right["hip external rotation moment"][20] == pytest.approx(6 / mass)
    assert right["hip abduction power"][20] == pytest.approx(24 / mass)
    assert right["hip rotation power"][20] == pytest.approx(-6 / mass)
    assert left["hip adduction"][70] == pytest.approx(np.degrees(0.3))  # the left leg, 20 % into the right one's stride
    assert left["hip internal rotation"][70] == pytest.approx(-np.degrees(0.05))
    assert left["hip abduction moment"][70] == pytest.approx(30 / mass)
    assert left["hip external rotation moment"][70] == pytest.approx(18 / mass)
    # the left leg of this half stride is the mirror image of the right one of the other half
    assert right["hip adduction"][70] == pytest.approx(np.degrees(0.3))
    figures = right.figures
    assert figures["hip_adduction_peak_deg"] == pytest.approx(np.degrees(0.3))
    assert figures["hip_abduction_moment_Nm_per_kg"] == pytest.approx(-12 / mass)
    assert not [name for name in walk(biped()).gait().curves if "duction" in name or "rotation moment" in name]


def test_trunk_leans_to_the_side_of_the_leg_and_turns_with_it_forward():
    turn = np.append(np.sin(0.05) * np.array([1, 0, 0]), np.cos(0.05))  # to the right
    gait = walk(biped(), turn=turn).gait()
    assert gait["trunk lean"][[20, 70]] == pytest.approx(np.degrees([0.1, -0.1]))
    assert gait.figures["trunk_lean_range_deg"] == pytest.approx(np.degrees(0.2))
    turned = walk(biped(), turn=np.append(np.sin(0.05) * np.array([0, 0, 1]), np.cos(0.05))).gait()
    assert turned["trunk rotation"][20] == pytest.approx(np.degrees(0.1))


def test_the_center_of_mass_rises_and_sways_about_its_mean():
    motion = walk(biped())
    phases = [replace(phase, q=phase.q.copy()) for phase in motion.phases]
    for phase in phases:
        phase.q[:, 1] = -0.02 * np.sin(np.pi * phase.t / TIME)  # to the right over the right foot
        phase.q[:, 2] += 0.015 * np.sin(np.pi * phase.t / TIME) ** 2
    gait = replace(motion, phases=tuple(phases)).gait()
    assert gait["center of mass lateral"][[25, 75]] == pytest.approx([0.02, -0.02], rel=0.02)
    assert gait["center of mass height"][25] == pytest.approx(0.0075, rel=0.03)
    assert gait.figures["center_of_mass_rise_m"] == pytest.approx(0.015, rel=0.03)
    assert gait.figures["center_of_mass_sway_m"] == pytest.approx(0.04, rel=0.02)


@pytest.mark.slow
def test_tilts_on_a_slope_refer_to_gravity():
    up = 0.08
    g = 9.81 * np.array([-np.sin(np.arctan(up)), 0, -np.cos(np.arctan(up))])
    gait = walk(biped().with_gravity(g)).gait()
    assert gait.figures["slope"] == pytest.approx(up)
    # at a right angle to the ground, the pelvis leans backwards
    assert gait["pelvis tilt"] == pytest.approx(-np.degrees(np.arctan(up)))
    assert gait["trunk tilt"] == pytest.approx(-np.degrees(np.arctan(up)))
    assert gait["thigh flexion"] == pytest.approx(np.degrees(np.arctan(up)))
    assert gait["hip flexion from trunk"] == pytest.approx(0.0, abs=1e-9)


def test_maxima_count_from_a_prominence_on():
    x = np.arange(101)
    two = 1 + np.exp(-(((x - 15) / 6) ** 2)) + 0.8 * np.exp(-(((x - 45) / 6) ** 2))
    assert [round(at) for at, _ in maxima(two, 0.02)] == [15, 45]
    assert maxima(two, 0.02)[1][1] == pytest.approx(1.8, abs=1e-6)
    ripple = two.copy()
    ripple[30] += 0.015
    assert len(maxima(ripple, 0.02)) == 2
    assert len(maxima(ripple, 0.005)) == 3
    assert maxima(np.zeros(101), 0.02) == []


def test_peaks_of_the_vertical_force():
    figures = walk(biped(), load=lambda t: 588.6 * (0.8 + 0.3 * np.cos(2 * np.pi * (t - 0.15) / 0.3))).gait().figures
    assert figures["vertical_force_maxima"] == 2
    assert figures["first_vertical_peak_body_weights"] == pytest.approx(1.1, abs=0.02)
    assert figures["vertical_valley_body_weights"] == pytest.approx(0.5, abs=0.03)
    assert walk(biped()).gait().figures["vertical_force_maxima"] == 0


@pytest.mark.slow
def test_a_model_without_toes_has_no_center_of_pressure():
    gait = walk(biped(toes=False)).gait()
    assert "center of pressure along" not in gait.curves
    assert "step_width_m" in gait.figures
    with pytest.raises(KeyError, match=r"no curve 'knee flexon'; do you mean|did you mean|knee flexion"):
        gait["knee flexon"]


def of_one_dof(phase):
    """A phase with the first coordinate alone."""
    return replace(phase, **{key: getattr(phase, key)[:, :1] for key in ("q", "qd", "qdd", "tau", "tau_rate")})


def test_motions_that_are_no_walk():
    solution = walk(biped())
    with pytest.raises(ValueError, match="side must be one of left, right, got 'rigth'"):
        solution.gait("rigth")
    with pytest.raises(ValueError, match=r"periodic=ocp.Periodic"):
        replace(solution, step_length=0.0).gait()
    first, second = solution.phases
    always = replace(second, lam=first.lam, contacts=first.contacts, places=first.places)
    with pytest.raises(ValueError, match="the right one leaves it 0 times"):
        replace(solution, phases=(first, always)).gait()
    builder = od.ModelBuilder("arm")
    builder.add_body("upper", od.Revolute("y"), joint_name="shoulder", mass=1, inertia=(1, 1, 1))
    with pytest.raises(ValueError, match=r"hip_l, knee_l, ankle_l.*has the joints shoulder"):
        replace(solution, model=builder.build(), phases=tuple(map(of_one_dof, solution.phases))).gait()
    broken = replace(first, q=np.full_like(first.q, np.nan))
    with pytest.raises(ValueError, match="needs finite"):
        replace(solution, phases=(broken, second)).gait()


@pytest.mark.slow
def test_a_gait_shows_its_figures():
    gait = walk(biped()).gait()
    assert "step width m" in str(gait)
    assert repr(gait) == f"Gait of 'walker at 1.20 m/s', right leg: {len(gait.curves)} curves"
    assert "cadence steps per min" in gait._card_html()
    assert gait._repr_png_() is not None
    assert gait.units("ankle power") == "W/kg"
