"""The mirror map: derived from geometry, checked against reflection of every body and of the dynamics."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from ocp_dyn.ocp import asymmetry, facing_forward, mirror_map, symmetric_twin
from ocp_dyn.symmetry.mirror import PSEUDO, REFLECTION
from tests.helpers import close, mostly_slow

BASES = ("quaternion", "euler_zyx", "euler_xyz")
bases = pytest.mark.parametrize("base", BASES)


@mostly_slow("base", BASES, ("quaternion",))
@pytest.mark.slow
def test_every_body_is_reflected(rng, base):
    model = human(root=od.FloatingBase(base))
    mirror = mirror_map(model)
    q, qd = ca.DM(model.random_q(rng)), ca.DM(rng.normal(size=model.nv))
    image, image_rate = mirror.q(q), mirror.qd(qd)
    for name in model.body_names:
        partner = model.body_names[mirror.partners[model.body(name).body] - 1]
        R, p = od.pose(model, name, q)
        R_image, p_image = od.pose(model, partner, image)
        assert np.allclose(np.array(p_image), REFLECTION @ np.array(p), atol=1e-12)
        assert np.allclose(np.array(R_image), REFLECTION @ np.array(R) @ REFLECTION, atol=1e-12)
        v = np.array(od.point_velocity_6d(model, name, q, qd)).ravel()
        v_image = np.array(od.point_velocity_6d(model, partner, image, image_rate)).ravel()
        assert np.allclose(v_image, np.concatenate([PSEUDO @ v[:3], REFLECTION @ v[3:]]), atol=1e-12)


@bases
@pytest.mark.slow
def test_mirroring_twice_changes_nothing(rng, base):
    model = human(root=od.FloatingBase(base))
    mirror = mirror_map(model)
    q, qd = ca.DM(model.random_q(rng)), ca.DM(rng.normal(size=model.nv))
    assert np.allclose(np.array(mirror.q(mirror.q(q)) - q), 0)
    assert np.allclose(np.array(mirror.qd(mirror.qd(qd)) - qd), 0)


@pytest.mark.slow
def test_frames_have_partners():
    mirror = mirror_map(human())
    for left in ("heel_l", "toe_l", "sole_l", "hand_l", "thigh_l", "foot_l"):
        right = left[:-1] + "r"
        assert mirror.frame(left).name == right
        assert mirror.frame(right).name == left
    assert mirror.frame("head").name == "head"


def lopsided(mass=1.0, y=-0.1, axis="y"):
    builder = od.ModelBuilder("robot")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    inertia = {"inertia": (0.1, 0.1, 0.1), "com": (0, 0, -0.2)}
    builder.add_body("leg_l", od.Revolute("y"), "trunk", origin=(0, 0.1, 0), mass=1, **inertia)
    builder.add_body("leg_r", od.Revolute(axis), "trunk", origin=(0, y, 0), mass=mass, **inertia)
    return builder.build()


def test_models_that_are_not_symmetric_are_refused():
    mirror_map(lopsided())
    assert mirror_map(lopsided(axis="-y")).qd_matrix[7, 6] == -1
    with pytest.raises(od.ModelError, match="'leg_l' has no mirror image"):
        mirror_map(lopsided(mass=1.1))
    with pytest.raises(od.ModelError, match="'leg_l' has no mirror image"):
        mirror_map(lopsided(y=-0.2))
    with pytest.raises(od.ModelError, match="do not mirror each other"):
        mirror_map(lopsided(axis="x"))


def test_a_difference_that_geometry_does_not_show_is_found_by_the_dynamics():
    builder = od.ModelBuilder("robot")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    builder.add_body("leg_l", od.Revolute("y"), "trunk", origin=(0, 0.1, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("leg_r", od.Revolute("y"), "trunk", origin=(0, -0.1, 0), mass=1, inertia=(0.1, 0.1, 0.15))
    with pytest.raises(od.ModelError, match="not left-right symmetric: inverse dynamics of a mirrored motion"):
        mirror_map(builder.build())


def test_a_single_chain_is_its_own_image():
    mirror = mirror_map(pendulum(3))
    assert mirror.partners == (0, 1, 2, 3)
    assert np.allclose(np.array(mirror.qd_matrix), np.eye(3))


def legs(left: dict[str, float], right: dict[str, float]) -> od.Model:
    builder = od.ModelBuilder("robot")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    for side, y, axis, data in (("l", 0.1, "y", left), ("r", -0.1, "-y", right)):
        leg = {"mass": 1, "inertia": (0.1, 0.1, 0.1), "com": (0, 0, -0.2)}
        builder.add_body(f"leg_{side}", od.Revolute(axis), "trunk", origin=(0, y, 0), **leg, **data)
    return builder.build()


@pytest.mark.parametrize("key", ["stiffness", "damping", "friction", "armature"])
@pytest.mark.slow
def test_what_joints_do_must_be_mirrored(key: str) -> None:
    model, switch = legs({key: 2.0}, {key: 3.0}), "armature" if key == "armature" else "passive"
    with pytest.raises(
        od.ModelError, match=rf"'leg_l_joint' has {key} 2, its mirror image 3.*leave them out by loads="
    ):
        mirror_map(model)
    without = replace(od.Loads(passive=True, armature=True), **{switch: False})
    mirror_map(model, loads=without)
    mirror_map(legs({key: 2.0}, {key: 2.0}))
    walk = {"phases": [ocp.Phase("step", 2, 1.0)], "periodic": ocp.Periodic(1.0)}
    with pytest.raises(od.ModelError, match=key):
        ocp.Problem(model, **walk).mirror()
    assert ocp.Problem(model, **walk, loads=without).mirror() is not None
    twin = ocp.symmetric_twin(model)
    mirror_map(twin)
    close(getattr(twin.dofs, key)[6:], [2.5, 2.5])


def test_springs_rest_at_mirrored_places() -> None:
    """The right leg turns about -y: its image rests at the other sign."""
    spring = {"stiffness": 2.0}
    mirror_map(legs({**spring, "rest": 0.3}, {**spring, "rest": -0.3}))
    apart = legs({**spring, "rest": 0.3}, {**spring, "rest": 0.1})
    with pytest.raises(od.ModelError, match=r"rest position of the spring of dof .* is 0\.4 away"):
        mirror_map(apart)
    close(ocp.symmetric_twin(apart).dofs.rest[7:], [0.1, -0.1])
    mirror_map(ocp.symmetric_twin(apart))


def limbs(*elements: od.ExponentialTorque | od.OneSidedSpring) -> od.Model:
    """Legs whose knees turn about y, and about -y on the right, and whose hips turn about x and y."""
    builder = od.ModelBuilder("robot")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    for side, y, axis in (("l", 0.1, "y"), ("r", -0.1, "-y")):
        leg = {"mass": 1, "inertia": (0.1, 0.1, 0.1), "com": (0, 0, -0.2)}
        builder.add_body(
            f"thigh_{side}", od.Universal("y", "x"), "trunk", joint_name=f"hip_{side}", origin=(0, y, 0), **leg
        )
        builder.add_body(f"shank_{side}", od.Revolute(axis), f"thigh_{side}", joint_name=f"knee_{side}", **leg)
    return builder.build().with_passive(elements)


@pytest.mark.slow
def test_passive_torques_must_be_mirrored() -> None:
    """Abduction is about x on the left and about -x on the right; this right knee has the other sign too."""
    first, second = limbs().joints[2].qd_labels
    y, x = (f"hip_l.{first}", f"hip_r.{first}"), (f"hip_l.{second}", f"hip_r.{second}")
    left = (
        od.ExponentialTorque("knee_l", 2.0, {"knee_l": 0.5, x[0]: 0.3, y[0]: -0.4}),
        od.ExponentialTorque(y[0], -1.0, {"knee_l": 0.7}, 0.2),
        od.OneSidedSpring(x[0], 5.0, 0.2, 0.1),
    )
    right = (
        od.ExponentialTorque("knee_r", -2.0, {"knee_r": -0.5, x[1]: -0.3, y[1]: -0.4}),
        od.ExponentialTorque(y[1], -1.0, {"knee_r": -0.7}, 0.2),
        od.OneSidedSpring(x[1], 5.0, -0.2, 0.1, "below"),
    )
    mirror = mirror_map(limbs(*left, *right))
    assert tuple(element.mirrored(mirror.images) for element in left) == right
    for k in range(3):
        uneven = limbs(*left, *right[:k], *right[k + 1 :])
        with pytest.raises(
            od.ModelError, match=r"passive torques .* on dof .* are not the mirror image .*mirror.images"
        ):
            mirror_map(uneven)
        mirror_map(uneven, loads=od.Loads(armature=True))
        twin = ocp.symmetric_twin(uneven)
        mirror_map(twin)
        halves = [e for e in twin.passive if e.dof in (left[k].dof, right[k].dof)]
        assert len(twin.passive) == 6
        assert len(halves) == 2
        angles = dict.fromkeys(uneven.qd_names, ca.DM(0.1))
        close(halves[0].torque(angles), left[k].torque(angles) / 2)
    assert ocp.symmetric_twin(limbs(*left, *right)).passive == (*left, *right)


@pytest.mark.parametrize(
    ("left", "place"),
    [
        (od.OneSidedSpring("knee_l", 500.0, 2.95), 3.0),
        (od.OneSidedSpring("knee_l", 500.0, -2.95, side="below"), -3.0),
        (od.ExponentialTorque("knee_l", -10.0, {"knee_l": 100.0}, -310.0), 3.1),
    ],
)
@pytest.mark.slow
def test_a_stop_at_one_end_of_one_side_is_found(left, place) -> None:
    """Random positions of joints rarely reach their ends."""
    uneven = limbs(
        left, od.OneSidedSpring("hip_l.second", 5.0, 0.2), od.OneSidedSpring("hip_r.second", 5.0, -0.2, side="below")
    )
    with pytest.raises(od.ModelError, match=r"passive torques .* on dof"):
        mirror_map(uneven)
    twin = ocp.symmetric_twin(uneven)
    mirror, q = mirror_map(twin), np.array(twin.neutral()).ravel()
    q[twin.q_names.index("knee_l")] = place
    still = np.zeros(twin.nv)
    bent = np.array(od.passive_force(twin, q, still)).ravel()
    assert np.abs(bent).max() > 1
    close(od.passive_force(twin, mirror.q(q), still), mirror.qd(bent))


@pytest.mark.slow
def test_bushings_of_both_sides_become_one_pair_of_their_mean() -> None:
    place = (np.eye(3), (0.02, 0.03, -0.2))
    right = (np.eye(3), (0.02, -0.03, -0.2))
    left = od.Bushing("pelvis", "thigh_l", (1, 2, 3, 40, 50, 60), (0, 0, 0, 1, 1, 1), second_pose=place)
    other = od.Bushing("pelvis", "thigh_r", (3, 2, 1, 80, 50, 20), (0, 0, 0, 3, 1, 1), second_pose=right)
    lonely = od.Bushing("pelvis", "shank_l", (0, 0, 0, 8, 8, 8))
    twin = ocp.symmetric_twin(od.models.human(tissue=False).with_bushings([left, other, lonely]))
    pairs = {(b.second, b.stiffness, b.damping) for b in twin.bushings}
    mean = ((2.0, 2.0, 2.0, 60.0, 50.0, 40.0), (0.0, 0.0, 0.0, 2.0, 1.0, 1.0))
    half = ((0.0, 0.0, 0.0, 4.0, 4.0, 4.0), (0.0,) * 6)
    wanted = {("thigh_l", *mean), ("thigh_r", *mean), ("shank_l", *half), ("shank_r", *half)}
    assert len(twin.bushings) == 4
    assert pairs == wanted
    mirror_map(twin)
    assert ocp.symmetric_twin(twin).bushings == twin.bushings


@pytest.mark.slow
def test_equal_torques_written_in_other_ways_are_mirrored() -> None:
    """Two halves are the image of a whole, also where both pull endlessly."""
    whole = od.ExponentialTorque("knee_l", 2.0, {"knee_l": 300.0})
    half = od.ExponentialTorque("knee_r", -1.0, {"knee_r": -300.0})
    mirror_map(limbs(whole, half, half))
    with pytest.raises(od.ModelError, match="passive torques"):
        mirror_map(limbs(whole, half))


def crowded():
    """Pairs that only one thing tells from others: the mass center, the place, the joint, the parent."""
    builder = od.ModelBuilder("crowd")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    inertia = {"mass": 1, "inertia": (0.1, 0.1, 0.1)}
    for side, y in (("l", 1), ("r", -1)):
        builder.add_body(f"arm_{side}", od.Revolute("y"), "trunk", com=(0, 0.1 * y, 0), **inertia)
        builder.add_body(f"leg_{side}", od.Revolute("y"), "trunk", origin=(0, y, 0), com=(0, -y, -0.3), **inertia)
    for side, y, first in (("l", 2, ("turn", "slide")), ("r", -2, ("slide", "turn"))):
        for kind in first:
            joint = {"turn": od.Revolute("y"), "slide": od.Prismatic("x")}[kind]
            builder.add_body(f"{kind}_{side}", joint, "trunk", origin=(0, y, 0), **inertia)
    for side, y, first in (("l", 2, ("turn", "trunk")), ("r", -2, ("trunk", "turn"))):
        for parent in first:
            below, at = (f"turn_{side}", (0, 0, -0.5)) if parent == "turn" else ("trunk", (0, y, -0.5))
            builder.add_body(f"tip_{parent}_{side}", od.Revolute("y"), below, origin=at, **inertia)
    builder.add_frame("knee_l", "leg_l", (0, 0, 0))
    builder.add_frame("knee_r", "leg_r", (0, 0, 0))
    builder.add_frame("near_l", "leg_l", (0, 0.1, 0.2))
    builder.add_frame("close_r", "leg_r", (0, -0.1, 0.2005))
    builder.add_frame("near_r", "leg_r", (0, -0.1, 0.2))
    builder.add_frame("alone_l", "leg_l", (0, 0.3, 0.2))
    builder.add_frame("beside_r", "leg_r", (0, -0.3, 0.2005))
    return builder.build()


def test_partners_are_told_apart_by_one_thing():
    model = crowded()
    mirror = mirror_map(model)
    for name in model.body_names[1:]:
        partner = model.body_names[mirror.partners[model.body(name).body] - 1]
        assert partner == name[:-1] + {"l": "r", "r": "l"}[name[-1]]
    for name in ("leg_l", "knee_l", "near_l"):
        assert mirror.frame(name).name == name[:-1] + "r"
    with pytest.raises(od.ModelError, match="'alone_l' has no mirror image"):
        mirror.frame("alone_l")


def test_legs_that_lie_on_each_other_are_images_of_each_other():
    builder = od.ModelBuilder("planar")
    builder.add_body("trunk", od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)]), mass=5)
    for side in ("l", "r"):
        rounding = 1e-15 * (side == "r")
        builder.add_body(f"thigh_{side}", od.Revolute("y"), "trunk", mass=1, com=(0, 0, -0.2 - rounding))
        builder.add_body(f"shank_{side}", od.Revolute("y"), f"thigh_{side}", origin=(0, 0, -0.4), mass=1)
        builder.add_frame(f"foot_{side}", f"shank_{side}", (0, 0, -0.4))
    for name in ("arm_l", "arm_r"):
        builder.add_body(name, od.Revolute("y"), "trunk", mass=1, com=(0, 0, -0.2))
    builder.add_body("tail", od.Revolute("y"), "trunk", mass=1, com=(-0.3, 0, 0))
    mirror = mirror_map(builder.build())
    assert np.array_equal(mirror.q(ca.DM(range(9))).full().ravel(), [0, 1, 4, 5, 2, 3, 7, 6, 8])
    assert mirror.frame("foot_l").name == "foot_r"
    assert mirror.frame("tail").name == "tail"


def test_limbs_at_one_place_are_told_apart_by_their_masses():
    builder = od.ModelBuilder("planar")
    builder.add_body("trunk", od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)]), mass=5)
    for name, mass in (("arm_l", 1), ("leg_l", 2), ("leg_r", 2), ("arm_r", 1)):
        builder.add_body(name, od.Revolute("y"), "trunk", mass=mass, com=(0, 0, -0.2))
    assert mirror_map(builder.build()).partners == (0, 1, 5, 4, 3, 2)


@pytest.mark.parametrize("length", [1e-7, 1.0])
def test_legs_beside_each_other_are_told_apart_in_a_small_model_too(length):
    builder = od.ModelBuilder("robot")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=[length**2] * 3)
    for side, y in (("l", 0.1), ("r", -0.1)):
        for front, x in (("front", 0.4), ("hind", -0.4)):
            at, inertia = (x * length, y * length, 0), [0.1 * length**2] * 3
            builder.add_body(f"{front}_{side}", od.Revolute("y"), "trunk", origin=at, mass=1, inertia=inertia)
    model = builder.build()
    images = [model.body_names[j - 1] for j in mirror_map(model).partners[2:]]
    assert images == ["front_r", "hind_r", "front_l", "hind_l"]


def test_a_small_difference_is_found_where_it_is():
    with pytest.raises(od.ModelError, match="'leg_l' has no mirror image"):
        mirror_map(lopsided(y=-0.10005))


@pytest.mark.slow
def test_points_have_images():
    model = human()
    mirror, q = mirror_map(model), ca.DM(model.neutral())
    for name in ("foot_l", "thigh_r", "foot_r"):
        body, place = mirror.point(model.body(name).body, np.array([0.1, 0.2, 0.3]))
        seen = REFLECTION @ np.array(od.point_position(model, name, q, (0.1, 0.2, 0.3))).ravel()
        made = od.point_position(model, model.body_names[body - 1], q, place)
        assert np.allclose(np.array(made).ravel(), seen, atol=1e-12)
        assert body == mirror.partners[model.body(name).body]


# Symmetric twins


def battery(left=1.2, off=0.02, raised=0.01, turned=0.02):
    """A robot with a battery on one side, legs that differ, and an angle rounded in CAD."""
    builder = od.ModelBuilder("built")
    builder.add_body("trunk", od.FloatingBase(), mass=5, com=(0.1, off, 0.3), inertia=(1, 1.1, 1.2))
    for side, y, mass, z in (("l", 0.1, left, raised), ("r", -0.1, 1.0, 0.0)):
        turn = ca.DM([[np.cos(turned), 0, np.sin(turned)], [0, 1, 0], [-np.sin(turned), 0, np.cos(turned)]])
        turn = turn if side == "l" else ca.DM.eye(3)
        builder.add_body(f"leg_{side}", od.Revolute("y"), "trunk", origin=(0.01, y, z), rotation=np.array(turn),
                         mass=mass,
                         com=(0.03 * mass, y, -0.2 * mass), inertia=(0.1, 0.12 * mass, 0.05))  # fmt: skip
        builder.add_body(f"shank_{side}", od.Revolute("y"), f"leg_{side}", origin=(0, y / 5, -0.4), mass=0.5,
                         com=(0, 0, -0.1), inertia=(0.02, 0.03, 0.01 * mass))  # fmt: skip
        builder.add_frame(f"sole_{side}", f"shank_{side}", (0.05, 0, -0.3))
    return builder.build()


def in_world(model):
    """Mass, mass center, inertia about the world's origin and pose of every body, in the neutral posture."""
    found = {}
    for name, body in zip(model.body_names, model.I[1:], strict=True):
        R, p = (np.array(ca.DM(x).full()) for x in od.pose(model, name, ca.DM(model.neutral())))
        m, c = float(body.m), R @ np.array(ca.DM(body.h)) / float(body.m) + p
        h = np.array(ca.DM(body.h))
        skew = lambda x: np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
        about_com = np.array(ca.DM(body.I).full()) + skew(h.ravel()) @ skew(h.ravel()) / m
        inertia = R @ about_com @ R.T - m * skew(c.ravel()) @ skew(c.ravel())
        found[name] = m, m * c.ravel(), inertia, R, p.ravel()
    return found


@pytest.mark.slow
def test_a_twin_is_the_mean_of_the_robot_and_its_image():
    model = battery()
    twin = symmetric_twin(model)
    mirror_map(twin)
    was, now = in_world(model), in_world(twin)
    for name, (m, h, I, R, p) in now.items():
        partner = name.replace("_l", "_x").replace("_r", "_l").replace("_x", "_r")
        own, image = was[name], was[partner]
        assert m == pytest.approx((own[0] + image[0]) / 2)
        assert np.allclose(h, (own[1] + REFLECTION @ image[1]) / 2, atol=1e-10)
        assert np.allclose(I, (own[2] + REFLECTION @ image[2] @ REFLECTION) / 2, atol=1e-10)
        assert np.allclose(p, (own[4] + REFLECTION @ image[4]) / 2, atol=1e-12)
        half = 0.01 if name != "trunk" else 0.0  # each turned by half of the angle between the two
        assert np.allclose(
            R, [[np.cos(half), 0, np.sin(half)], [0, 1, 0], [-np.sin(half), 0, np.cos(half)]], atol=1e-12
        )
    again = in_world(symmetric_twin(twin))
    for name, parts in now.items():
        assert all(np.allclose(x, y, atol=1e-12) for x, y in zip(parts, again[name], strict=True))


def test_turns_of_partners_are_averaged_with_their_images():
    """Legs turned about the vertical by 0.03 and 0.05: seen in the mirror the right one turns by -0.05."""
    builder = od.ModelBuilder("splayed")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    turn = lambda a: np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])
    for side, y, angle in (("l", 0.1, 0.03), ("r", -0.1, 0.05)):
        builder.add_body(f"leg_{side}", od.Revolute("y"), "trunk", origin=(0, y, 0), rotation=turn(angle), mass=1,
                         com=(0, 0, -0.2), inertia=(0.1, 0.12, 0.05))  # fmt: skip
    now = in_world(symmetric_twin(builder.build()))
    assert np.allclose(now["leg_l"][3], turn(-0.01), atol=1e-12)
    assert np.allclose(now["leg_r"][3], turn(0.01), atol=1e-12)


@pytest.mark.slow
def test_asymmetry_is_the_distance_to_the_twin():
    assert asymmetry(battery(1.0, 0.0, 0.0, 0.0)) == pytest.approx(
        {"mass": 0, "center_of_mass": 0, "place": 0, "limits": 0}, abs=1e-12
    )
    apart = asymmetry(battery(1.2, 0.0, 0.0, 0.0))
    assert apart["mass"] == pytest.approx(0.1)
    assert apart["place"] == pytest.approx(0.0, abs=1e-12)
    assert asymmetry(battery(1.0, 0.02, 0.0, 0.0))["center_of_mass"] == pytest.approx(0.02)
    assert asymmetry(battery(1.0, 0.0, 0.01, 0.0))["place"] == pytest.approx(0.005)


@pytest.mark.slow
def test_both_partners_get_the_tighter_limits():
    uneven = human().with_limits(
        upper={"knee_l": 2.0, "hip_r.rx": 0.4}, velocity={"knee_r": 6.0}, effort={"ankle_l": (-20.0, 90.0)}
    )
    twin = symmetric_twin(uneven)
    q, qd = (dict(zip(names, range(40), strict=False)) for names in (twin.q_names, twin.qd_names))
    for side in "lr":
        assert twin.dofs.q_upper[q[f"knee_{side}"]] == 2.0
        assert twin.dofs.qd_max[qd[f"knee_{side}"]] == 6.0
        assert (twin.dofs.tau_min[qd[f"ankle_{side}"]], twin.dofs.tau_max[qd[f"ankle_{side}"]]) == (-20.0, 90.0)
    assert twin.dofs.q_upper[q["hip_r.rx"]] == 0.4
    assert twin.dofs.q_lower[q["hip_l.rx"]] == -0.4  # abduction turns the other way on the other side
    assert asymmetry(uneven)["limits"] == pytest.approx(human().dofs.q_upper[q["knee_l"]] - 2.0)


@pytest.mark.slow
def test_partners_may_differ_in_mass_by_kilograms():
    """A leg is paired with the other leg, not with itself, also if its mass differs by more than its place in
    meters."""
    model = human()
    uneven = model.with_inertia("thigh_l", mass=12.0)
    thighs = [model.body(f"thigh_{side}").body for side in "lr"]
    twin = symmetric_twin(uneven)
    masses = [float(twin.I[i].m) for i in thighs]
    assert masses == pytest.approx([(12.0 + float(model.I[thighs[1]].m)) / 2] * 2)
    assert asymmetry(uneven)["mass"] == pytest.approx(12.0 - masses[0])
    mirror_map(twin)


def test_bodies_that_are_far_apart_have_no_twin():
    with pytest.raises(od.ModelError, match="has no mirror image"):
        symmetric_twin(battery(raised=0.3), tolerance=0.02)


@pytest.mark.parametrize("turn", [0.0, 0.7, -2.0])
@pytest.mark.slow
def test_facing_forward_turns_the_base_alone(turn):
    """A robot whose left is the way it is drawn; every frame of it, and what it weighs, is seen turned as one."""
    c, s = np.cos(turn), np.sin(turn)
    builder = od.ModelBuilder("turned")
    builder.add_body("trunk", od.FloatingBase(), mass=5, com=(0.1, 0.02, 0.3), inertia=(1, 1.1, 1.4))
    for side, y in (("l", 0.2), ("r", -0.2)):
        at = (-s * y, c * y, 0.1)
        builder.add_body(f"leg_{side}", od.Revolute("y"), "trunk", origin=at, mass=1, com=(0, 0, -0.2),
            inertia=(0.1, 0.1, 0.1))  # fmt: skip
    builder.add_frame("eye", "trunk", (0.3, 0.1, 0.6))
    builder.add_frame("toe", "leg_l", (0.1, 0.05, -0.5))
    for side, y in (("l", 0.02), ("r", -0.02)):
        builder.add_frame(f"ear_{side}", "trunk", (-s * y, c * y, 0.6))
    model = builder.build()
    turned = facing_forward(model, "leg_l", "leg_r")
    q, R = ca.DM(model.neutral()), np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    for name in ("leg_l", "leg_r", "eye", "toe"):
        p, p_turned = (np.array(od.point_position(m, name, q)).ravel() for m in (model, turned))
        assert np.allclose(p_turned, R @ p, atol=1e-11)
    assert np.allclose(np.array(od.point_position(turned, "leg_l", q)).ravel(), [0, 0.2, 0.1], atol=1e-11)
    H, H_turned = (np.array(od.mass_matrix(m, q).full()) for m in (model, turned))
    both = np.kron(np.eye(2), R)
    assert np.allclose(H_turned[:6, :6], both @ H[:6, :6] @ both.T, atol=1e-11)
    assert np.allclose(H_turned[:6, 6:], both @ H[:6, 6:], atol=1e-11)
    assert turned.frame("trunk").X is model.frame("trunk").X
    assert turned.frame_names == model.frame_names
    ear = od.point_position(facing_forward(model, "ear_l", "ear_r"), "ear_l", q)  # close to one another is apart
    assert np.allclose(np.array(ear).ravel(), [0, 0.02, 0.6], atol=1e-11)
    with pytest.raises(ValueError, match="must lie apart"):
        facing_forward(model, "leg_l", "leg_l")


def test_what_is_given_in_the_base_stays_where_it_is_when_its_frame_is_turned():
    human, place = od.models.human(tissue=False), (0.1, 0.2, 0.3)
    loop = od.Loop("pelvis", "thigh_l", "ball", predecessor_pose=(np.eye(3), place))
    path = (od.PathPoint("P1", "pelvis", place), od.PathPoint("P2", "thigh_l", place))
    human = human.with_markers([od.Marker("hip", "pelvis", place)]).with_constraints([loop])
    human = human.with_muscles(
        [od.Muscle("cord", "PathSpring", path)], [od.WrapObject("ball", "sphere", "pelvis", 0.1)]
    )
    human = human.with_bushings([od.Bushing("pelvis", "thigh_l", range(1, 7), first_pose=(np.eye(3), place))])
    turned, q = facing_forward(human, "thigh_r", "thigh_l"), human.neutral()
    for algorithm in (od.muscle_lengths, od.spring_energy):
        assert np.allclose(*(np.array(algorithm(model, q)) for model in (human, turned)), atol=1e-12)
    gaps = [np.array(model.constraints[0].position(model, ca.DM(q)).full()) for model in (human, turned)]
    assert np.allclose(*gaps, atol=1e-12)
    assert turned.markers[0].body == turned.wraps[0].body == "pelvis_unturned"
    seen, before = (od.point_position(model, model.markers[0].body, q, place) for model in (turned, human))
    assert np.allclose((seen * ca.DM([-1, -1, 1])).full(), before.full(), atol=1e-12)


def test_joints_that_are_bent_in_the_neutral_posture_stay_bent():
    """A joint of the user's own turns and shifts by itself where q is zero; the twin of a symmetric robot is the
    robot."""

    def bent(q):
        c, s = ca.cos(q[0] + 0.3), ca.sin(q[0] + 0.3)
        E = ca.vertcat(ca.horzcat(c, 0, -s), ca.horzcat(0, 1, 0), ca.horzcat(s, 0, c))
        return od.Transform(E, ca.vertcat(0.05, 0, -0.1))

    builder = od.ModelBuilder("bent")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        builder.add_body(f"leg_{side}", od.CustomJoint(bent, labels=("a",)), "trunk", origin=(0.02, y, 0), mass=1,
                         com=(0.1, 0, -0.2), inertia=(0.1, 0.12, 0.05))  # fmt: skip
    model = builder.build()
    was, now = in_world(model), in_world(symmetric_twin(model))
    for name, parts in now.items():
        assert all(np.allclose(x, y, atol=1e-12) for x, y in zip(parts, was[name], strict=True))


@pytest.mark.parametrize("up", ["x", "y", "z"])
def test_a_base_with_another_axis_up_is_turned_upright(up):
    """The head is above the legs, the left leg on the left, and the nose in front, whatever axis the file has up."""
    axes = {
        "x": np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]]),
        "y": np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]),
        "z": np.eye(3),
    }
    seen = {"head": (0, 0, 0.5), "nose": (0.1, 0, 0.5), "leg_l": (0, 0.2, -0.4), "leg_r": (0, -0.2, -0.4)}
    builder = od.ModelBuilder("file")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    for name, place in seen.items():
        builder.add_frame(name, "trunk", axes[up] @ place)
    turned = facing_forward(builder.build(), "leg_l", "leg_r", up=up)
    for name, place in seen.items():
        found = np.array(od.point_position(turned, name, turned.neutral())).ravel()
        assert np.allclose(found, place, atol=1e-11), name
    with pytest.raises(ValueError, match="up must be one of x, y, z, got 'w'"):
        facing_forward(turned, "leg_l", "leg_r", up="w")


def test_bodies_without_an_image_name_the_nearest_one():
    heavy = od.models.human().with_inertia("thigh_l", mass=40.0)
    with pytest.raises(od.ModelError, match=r"the nearest, 'thigh_r', is 0 m and 29.7 kg away: use .*symmetric_twin"):
        mirror_map(heavy)
    with pytest.raises(od.ModelError, match=r"more than the tolerance of 0.2 .*Periodic\(mirror=False\)"):
        symmetric_twin(heavy)
