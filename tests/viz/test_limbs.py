"""Plots limb by limb: pairs of joints, choices, powers, values per mass, measured bands, feet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.gait.joint_angles import coordinates, directed, gait_coordinates
from ocp_dyn.gait.limbs import _words, chosen, limbs
from ocp_dyn.gait.unrolled import weight
from ocp_dyn.models import five_link_biped, human, pendulum
from ocp_dyn.ocp import Solution
from ocp_dyn.viz import plot, plot_angles, plot_forces, plot_gait_cycle, plot_powers, plot_torques
from ocp_dyn.viz.cycle import from_strike
from ocp_dyn.viz.drawing import COLORS
from tests.viz.motions import motion, once, phase


def robot(names: str = "{limb}_{side}_{k}_joint", sides: tuple[str, str] = ("left", "right")) -> od.Model:
    """A trunk with a head, two legs of three joints and two arms of two; all axes along y."""
    builder = od.ModelBuilder("robot")
    builder.add_body("trunk", od.FloatingBase(), mass=10.0, inertia=(1, 1, 1))
    builder.add_body("head", od.Revolute("z"), "trunk", joint_name="neck", origin=(0, 0, 0.5), mass=1.0)
    for limb, count, z, y in (("leg", 3, 0.0, 0.1), ("arm", 2, 0.4, 0.3)):
        for side, sign in zip(sides, (1, -1), strict=True):
            parent, origin = "trunk", (0.0, sign * y, z)
            for k in range(1, count + 1):
                name = names.format(limb=limb, side=side, k=k)
                body = name.replace("_joint", "_link")
                builder.add_body(body, od.Revolute("y"), parent, joint_name=name, origin=origin, mass=1.0,
                                 com=(0, 0, -0.15), inertia=(0.01, 0.01, 0.01))  # fmt: skip
                parent, origin = body, (0.0, 0.0, -0.3)
            builder.add_frame(f"{limb}_{side}_tip", parent, (0.0, 0.0, -0.3))
    return builder.build()


def stroll(model: od.Model, head: float = 0.0) -> Solution:
    """All joints swing, dof k by 0.01 (k + 1) rad; the head by `head`; on both feet, then on the right one."""

    def q(t: float) -> np.ndarray:
        x = np.array(model.neutral())
        x[7:] = 0.01 * np.arange(7, model.nq) * np.sin(np.pi * t / 0.4)
        x[model.q_slice("neck")] = head * t
        return x

    body = weight(model)
    up = np.array([0.0, 0.0, 0.0, 0.1 * body, 0.0, body])
    feet = {"leg_right_tip": (up / 2, (0.0, -0.1, 0.0)), "leg_left_tip": (up / 2, (0.0, 0.1, 0.0))}
    t0, t1 = np.linspace(0.0, 0.1, 3), np.linspace(0.1, 0.4, 5)
    phases = (
        phase(model, "double_support", t0, np.array([q(t) for t in t0]), **feet),
        phase(model, "single_support", t1, np.array([q(t) for t in t1]), leg_right_tip=(up, (0.0, -0.1, 0.0))),
    )
    moving = tuple(replace(p, qd=np.outer(1 + p.t, np.linspace(1.0, 2.0, model.nv))) for p in phases)
    return motion(model, moving)


def panels(figure) -> dict:
    return {axes.get_title(loc="left"): axes for axes in figure.axes}


def curves(axes) -> dict[str, np.ndarray]:
    """The curves of a panel by the sides that their colors tell."""
    side = {color: name for name, color in COLORS.items()}
    lines = [line for line in axes.lines if line.get_color() in side and len(line.get_xdata()) > 2]
    return {side[line.get_color()]: np.asarray(line.get_xydata()) for line in lines}


# Limbs


@pytest.mark.slow
def test_left_and_right_are_paired_by_name():
    found = {limb.name: [pair.label for pair in limb.pairs] for limb in limbs(robot())}
    assert found == {
        "legs": ["leg 1", "leg 2", "leg 3"],
        "arms": ["arm 1", "arm 2"],
        "trunk and head": ["neck"],
    }
    for limb in limbs(robot())[:2]:
        assert [[c.side for c in pair.members] for pair in limb.pairs] == [["left", "right"]] * len(limb.pairs)
    legs, arms, _ = limbs(robot())
    names = robot().body_names
    assert {names[i - 1] for i in legs.bodies} == {name for name in names if name.startswith("leg")}
    assert not legs.bodies & arms.bodies


@pytest.mark.slow
def test_left_and_right_are_paired_by_place():
    model = robot("{side}{limb}{k}", ("A", "B"))  # no word tells the side
    for limb in limbs(model)[:2]:
        for pair in limb.pairs:
            left, right = (model.qd_names[c.qd_index] for c in pair.members)
            assert (left[0], left[1:]) == ("A", right[1:])
            assert right[0] == "B"
    quadruped = robot("{side}{limb}_KFE{k}", ("L", "R"))
    assert [limb.name for limb in limbs(quadruped)[:2]] == ["Lleg and Rleg", "Larm and Rarm"]


@pytest.mark.slow
def test_limbs_of_people_and_of_models_without_limbs():
    assert [limb.name for limb in limbs(human())] == ["legs", "arms", "trunk and head"]
    assert [limb.name for limb in limbs(pendulum(3))] == ["joints"]
    paired = {c.qd_index for limb in limbs(human()) for pair in limb.pairs for c in pair.members}
    assert paired == set(range(6, human().nv))  # all but the root
    planar = five_link_biped(root="planar")
    of_joints = {c.name.partition(".")[0] for limb in limbs(planar) for pair in limb.pairs for c in pair.members}
    assert of_joints == set(planar.joint_names) - set(planar.floating_joints)
    tree = od.random_tree(9, 1.8, rng=np.random.default_rng(0))
    assert sum(len(pair.members) for limb in limbs(tree) for pair in limb.pairs) <= tree.nv
    assert _words("LHipYaw_left_1 kneePitch") == ["L", "Hip", "Yaw", "left", "1", "knee", "Pitch"]


def test_two_limbs_of_one_name_are_told_apart():
    builder = od.ModelBuilder("quadruped")
    builder.add_body("trunk", od.FloatingBase(), mass=10.0, inertia=(1, 1, 1))
    for name, x, y in (("FL", 0.3, 0.1), ("FR", 0.3, -0.1), ("RL", -0.3, 0.1), ("RR", -0.3, -0.1)):
        builder.add_body(f"{name}_thigh", od.Revolute("y"), "trunk", joint_name=f"{name}_hip_joint", origin=(x, y, 0),
                         mass=1.0, com=(0, 0, -0.1))  # fmt: skip
    found = limbs(builder.build())
    assert [limb.name for limb in found] == ["legs, FL and FR", "legs, RL and RR"]
    assert [pair.label for limb in found for pair in limb.pairs] == ["hip", "hip"]


def test_joints_are_chosen_by_limb_pair_joint_or_coordinate():
    model = human()
    of_model = limbs(model)

    def labels(*names: str) -> list[str]:
        return [pair.label for limb in chosen(of_model, names) for pair in limb.pairs]

    assert labels("knee") == labels("knee_l", "knee_r") == ["knee"]
    assert labels("knee_l") == ["knee, left"]
    assert labels("hip_r") == ["hip ry, right", "hip rx, right", "hip rz, right"]
    assert labels("hip_r.rx") == ["hip rx, right"]
    assert labels("arms") == [pair.label for pair in of_model[1].pairs]
    with pytest.raises(KeyError, match=r"no joint or limb 'kne'; there are .*did you mean 'knee'"):
        labels("kne")
    with pytest.raises(TypeError, match="joints must be a sequence of names"):
        chosen(of_model, "knee")


# Signs


def test_a_flexion_has_one_sign_and_one_name_everywhere():
    model = human()
    flexing = {c.name: c for c in coordinates(model) if c.joint in ("hip", "knee", "ankle")}
    known = gait_coordinates(model)
    for joint, words in {"hip": "flexion", "knee": "flexion", "ankle": "dorsiflexion"}.items():
        for c in known[joint]:
            same = flexing[model.qd_names[c.qd_index]]
            assert (same.sign, same.positive) == (c.sign, words)
            assert same.effort_sign == -same.sign  # torques: extension, plantar flexion
    ankle = flexing["ankle_l"]
    J = od.frame_jacobian(model, "toe_l", model.neutral())  # the toe rises where dorsiflexion grows
    assert float(J[5, ankle.qd_index]) * ankle.sign > 0


@pytest.mark.slow
def test_other_coordinates_name_the_axis():
    told = {c.name: (c.positive, c.effort, c.sign) for c in coordinates(robot())}
    hips = {c.name: (c.positive, c.effort, c.sign) for c in coordinates(human()) if c.joint.startswith("hip ")}
    assert hips["hip_l.rx"] == ("adduction", "abduction", -1.0)
    assert hips["hip_r.rx"] == ("adduction", "abduction", 1.0)
    assert hips["hip_r.rz"] == ("internal rotation", "external rotation", 1.0)
    assert told["leg_left_1_joint"] == ("about y", "about y", 1.0)
    assert told["neck"] == ("about z", "about z", 1.0)
    builder = od.ModelBuilder("cart")
    builder.add_body("cart", od.Prismatic((0, -1, 0)), mass=1.0)
    builder.add_body("rod", od.Revolute((1, 1, 1)), "cart", mass=1.0, inertia=(1, 1, 1))
    assert [c.positive for c in coordinates(builder.build())] == ["along -y", "about its axis"]
    assert directed("m", ["up", "up"]) == "m (+ up)"
    assert directed("m", ["about x", "about -x"]) == "m (+ about x or about -x)"


def test_one_joint_is_drawn_alone_with_the_signs_of_the_whole_body():
    model = human()
    q = np.tile(model.neutral(), (3, 1))
    ankle = {c.name: c for c in coordinates(model)}["ankle_l"]
    q[:, ankle.q_index] = ankle.sign * np.array([0.0, 0.1, 0.2])  # dorsiflexion
    steady = motion(model, (phase(model, "a", np.linspace(0.0, 0.4, 3), q),))
    found = panels(plot(steady, joints=["ankle_l"], quantities=["angles", "torques"]))
    assert list(found) == ["ankle dorsiflexion, left", "ankle plantar flexion torque, left"]
    axes = found["ankle dorsiflexion, left"]
    assert axes.get_ylabel() == "degrees (+ dorsiflexion)"
    assert list(curves(axes)) == ["left"]
    np.testing.assert_allclose(curves(axes)["left"][:, 1], np.degrees([0.0, 0.1, 0.2]))
    assert found["ankle plantar flexion torque, left"].get_ylabel() == "N m (+ plantar flexion)"


# Pages


@pytest.mark.slow
def test_a_robot_is_drawn_limb_by_limb():
    model = robot()
    made = plot(stroll(model))
    assert [t.get_text() for t in made.texts if t.get_weight() == "bold"][:4] == [
        "legs",
        "ground",
        "arms",
        "robot: 0.40 s",
    ]
    titles = list(panels(made))
    legs = [f"leg {k}" for k in (1, 2, 3)]
    assert titles[:6] == [*legs, *(f"{leg} torque" for leg in legs)]
    assert titles[6:9] == ["vertical ground force", "fore-aft ground force", "lateral ground force"]
    assert titles[9:] == ["arm 1", "arm 2"]
    assert made.texts[-1].get_text() == "standing still: neck"
    knee = curves(panels(made)["leg 2"])
    for side in ("left", "right"):
        k = model.q_slice(f"leg_{side}_2_joint").start
        expected = np.concatenate([p.q[:, k] for p in stroll(model).phases])
        np.testing.assert_allclose(knee[side][:, 1], np.degrees(expected))
    torque = curves(panels(made)["leg 2 torque"])
    for side in ("left", "right"):
        k = model.qd_slice(f"leg_{side}_2_joint").start
        expected = np.concatenate([p.tau[:, k] for p in stroll(model).phases])
        np.testing.assert_allclose(torque[side][:, 1], expected)


@pytest.mark.slow
def test_what_stands_still_is_left_out_unless_chosen():
    titles = list(panels(plot(stroll(robot(), head=0.5), quantities="angles")))
    assert titles[-1] == "neck"
    assert list(panels(plot(stroll(robot()), joints=["neck"]))) == ["neck", "neck torque"]
    assert list(panels(plot(stroll(robot()), joints=["trunk and head", "arm 2"], quantities="angles"))) == [
        "arm 2",
        "neck",
    ]


@pytest.mark.slow
def test_powers_and_values_per_mass():
    model = robot()
    solution = stroll(model)
    k = model.qd_slice("leg_left_1_joint").start
    rate = np.concatenate([(p.qd[:-1, k] + p.qd[1:, k]) / 2 for p in solution.phases])
    expected = rate * np.concatenate([p.tau[:, k] for p in solution.phases])
    axes = panels(plot_powers(solution, joints=["leg 1"]))["leg 1 power"]
    np.testing.assert_allclose(curves(axes)["left"][:, 1], expected)
    assert axes.get_ylabel() == "W (+ generation)"
    axes = panels(plot_powers(solution, joints=["leg 1"], per_mass=True))["leg 1 power"]
    np.testing.assert_allclose(curves(axes)["left"][:, 1], expected / model.mass)
    assert axes.get_ylabel() == "W/kg (+ generation)"
    axes = panels(plot_torques(solution, joints=["leg 1"], per_mass=True))["leg 1 torque"]
    assert axes.get_ylabel() == "N m/kg (+ about y)"
    np.testing.assert_allclose(curves(axes)["left"][:, 1], expected / rate / model.mass)
    axes = panels(plot_forces(solution, per_mass=True))["vertical ground force"]
    assert axes.get_ylabel() == "N/kg (+ up)"
    assert np.nanmax(curves(axes)["right"][:, 1]) == pytest.approx(9.81)
    rates = panels(plot(solution, joints=["leg 1"], quantities=["rates"]))["leg 1 rate"]
    assert (rates.get_ylabel(), curves(rates)["left"][0, 1]) == (
        "degrees/s (+ about y)",
        pytest.approx(np.degrees(solution.qd[0, k])),
    )


@pytest.mark.slow
def test_the_power_of_a_person_is_torque_times_rate(walk: Solution):
    k = walk.model.qd_slice("knee_l").start
    moving = replace(walk, phases=tuple(replace(p, qd=p.qd + 3.0) for p in walk.phases))
    made = panels(plot(moving, quantities=["torques", "powers"]))
    assert list(made)[3:] == ["hip power", "knee power", "ankle power"]
    expected = 3.0 * np.concatenate([p.tau[:, k] for p in walk.phases])
    np.testing.assert_allclose(curves(made["knee power"])["left"][: len(expected), 1], expected)
    torque = panels(plot(moving, quantities=["torques"], per_mass=True))["knee extension torque"]
    np.testing.assert_allclose(curves(torque)["left"][: len(expected), 1], -expected / 3.0 / walk.model.mass)


@pytest.mark.slow
def test_contacts_of_one_body_are_one_foot(walk: Solution):
    """After a mirrored step a foot may stand on a frame of another name."""
    model = walk.model.with_frame("left", "sole_l").with_frame("right", "sole_r")
    phases = tuple(
        replace(p, contacts=tuple(od.Contact(c.name.replace("sole_r", "right")) for c in p.contacts),
                places={name.replace("sole_r", "right"): x for name, x in p.places.items()})
        for p in walk.phases
    )  # fmt: skip
    axes = panels(plot_forces(replace(walk, model=model, phases=phases)))["vertical ground force"]
    lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
    assert [line.get_linestyle() for line in lines] == ["-", "-"]
    plain = panels(plot_forces(walk))["vertical ground force"]
    for side, curve in curves(axes).items():
        np.testing.assert_allclose(curve, curves(plain)[side])


# Bands

PERCENT = np.linspace(0.0, 100.0, 21)
BAND = (PERCENT, np.full(21, -5.0), np.linspace(5.0, 25.0, 21))


@pytest.mark.slow
def test_bands_begin_with_the_touch_down_of_each_leg(walk: Solution):
    made = panels(plot(walk, quantities="angles", bands={"knee flexion": BAND}))
    axes = made["knee flexion"]
    assert len(axes.collections) == 4
    starts = sorted(c.get_paths()[0].vertices[:, 0].min() for c in axes.collections)
    # the right leg is set down as the motion begins, the left one half a cycle later
    assert starts == pytest.approx([-100.0, -50.0, 0.0, 50.0])
    highest = {c.get_paths()[0].vertices[:, 1].max() for c in axes.collections}
    assert highest == {25.0}
    assert not made["hip flexion"].collections
    assert axes.get_xlim() == (0.0, 100.0)


@pytest.mark.slow
def test_a_gait_cycle_has_moments_powers_and_bands(walk: Solution):
    rows = ["angles", "moments", "powers"]
    made = plot_gait_cycle(walk, quantities=rows, bands={"knee flexion": BAND, "hip power": BAND})
    found = panels(made)
    assert list(found) == [
        "hip flexion", "knee flexion", "ankle dorsiflexion",
        "hip extension moment", "knee extension moment", "ankle plantar flexion moment",
        "hip power", "knee power", "ankle power",
    ]  # fmt: skip
    assert [len(axes.collections) for axes in made.axes] == [0, 1, 0, 0, 0, 0, 1, 0, 0]
    bars = [sum(line.get_linewidth() == 5 for line in axes.lines) for axes in made.axes]
    assert bars == [4, 0, 5, 0, 0, 0, 0, 0, 0]  # a band takes the place of the landmarks
    k = walk.model.qd_slice("knee_r").start
    moment = max((line for line in found["knee extension moment"].lines if len(line.get_xdata()) > 2),
                 key=lambda line: -line.get_linewidth())  # fmt: skip
    expected = -np.concatenate([p.tau[:, k] for p in walk.phases]) / walk.model.mass
    np.testing.assert_allclose(moment.get_ydata()[: len(expected)], expected)
    assert found["knee extension moment"].get_ylabel() == "N m/kg (+ extension)"
    x, y = from_strike(np.array([10.0, 60.0]), np.array([1.0, 2.0]), 50.0, closed=False)
    assert (x.tolist(), y.tolist()) == ([10.0, 60.0], [2.0, 1.0])


@pytest.mark.parametrize(
    ("bands", "error", "message"),
    [
        ({"knee": BAND}, KeyError, "no panel 'knee' for a band; there are hip flexion, knee flexion"),
        ([BAND], TypeError, "bands must be a dict of"),
        ({"knee flexion": BAND[:2]}, ValueError, "the band of 'knee flexion' must be"),
        ({"knee flexion": (PERCENT, PERCENT[1:], PERCENT)}, ValueError, "of one length"),
        ({"knee flexion": (PERCENT, np.full(21, np.nan), PERCENT)}, ValueError, "finite"),
        ({"knee flexion": 3}, ValueError, "three arrays"),
    ],
)
@pytest.mark.slow
def test_bands_are_checked(walk: Solution, bands, error, message):
    for draw in (plot_angles, plot_gait_cycle):
        with pytest.raises(error, match=message):
            draw(walk, bands=bands)


@pytest.mark.slow
def test_choices_are_checked(walk: Solution):
    for wrong in (["angle"], [], 3, [3]):
        with pytest.raises((ValueError, TypeError), match="quantities must be"):
            plot(walk, quantities=wrong)
    with pytest.raises(ValueError, match="quantities must be some of angles, moments, powers, got 'torques'"):
        plot_gait_cycle(walk, quantities="torques")
    with pytest.raises(TypeError, match="per_mass must be True or False, got 1"):
        plot(walk, per_mass=1)
    with pytest.raises(ValueError, match="bands are over the gait cycle, and this motion is not periodic"):
        plot(stroll(robot()), bands={"leg 1": BAND})
    with pytest.raises(ValueError, match="has no joint coordinates that move"):
        plot(stroll(robot()), joints=[])
    assert len(plot(stroll(robot()), quantities=["forces"]).axes) == 3
    airborne = replace(walk, phases=tuple(replace(p, contacts=(), places={}, lam=p.lam[:, :0]) for p in walk.phases))
    with pytest.raises(ValueError, match="no contacts with the ground, so that no forces can be drawn"):
        plot(airborne, quantities=["forces"])


@pytest.mark.slow
def test_small_models_keep_a_row_for_each_joint():
    solution = once(five_link_biped(), [0.2, -0.1, 0.0, 0.5, -0.2], [-0.2, 0.1, 0.0, 0.5, 0.0])
    titles = list(panels(plot(solution)))
    assert len(titles) == 15
    assert titles[1].endswith(" rate")
    free = replace(solution, phases=tuple(replace(p, tau=0 * p.tau) for p in solution.phases))
    assert len(plot(free).axes) == 10  # no torque to draw
    assert next(iter(panels(plot(solution, quantities=["powers"])))).endswith(" power")
