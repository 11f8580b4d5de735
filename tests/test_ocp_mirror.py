"""The mirror map: derived from geometry, checked against reflection of every body and of the dynamics."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from ocp_dyn.ocp import mirror_map
from ocp_dyn.ocp.mirror import PSEUDO, REFLECTION
from tests.helpers import close

bases = pytest.mark.parametrize("base", ["quaternion", "euler_zyx", "euler_xyz"])


@bases
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
def test_mirroring_twice_changes_nothing(rng, base):
    model = human(root=od.FloatingBase(base))
    mirror = mirror_map(model)
    q, qd = ca.DM(model.random_q(rng)), ca.DM(rng.normal(size=model.nv))
    assert np.allclose(np.array(mirror.q(mirror.q(q)) - q), 0)
    assert np.allclose(np.array(mirror.qd(mirror.qd(qd)) - qd), 0)


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
    assert mirror_map(lopsided(axis="-y")).v_matrix[7, 6] == -1
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
    with pytest.raises(od.ModelError, match="not left-right symmetric: its inverse dynamics"):
        mirror_map(builder.build())


def test_a_single_chain_is_its_own_image():
    mirror = mirror_map(pendulum(3))
    assert mirror.partners == (0, 1, 2, 3)
    assert np.allclose(np.array(mirror.v_matrix), np.eye(3))


def legs(left: dict[str, float], right: dict[str, float]) -> od.Model:
    builder = od.ModelBuilder("robot")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    for side, y, axis, data in (("l", 0.1, "y", left), ("r", -0.1, "-y", right)):
        leg = {"mass": 1, "inertia": (0.1, 0.1, 0.1), "com": (0, 0, -0.2)}
        builder.add_body(f"leg_{side}", od.Revolute(axis), "trunk", origin=(0, y, 0), **leg, **data)
    return builder.build()


@pytest.mark.parametrize("key", ["stiffness", "damping", "friction", "armature"])
def test_what_joints_do_must_be_mirrored(key: str) -> None:
    model, switch = legs({key: 2.0}, {key: 3.0}), "armature" if key == "armature" else "passive"
    with pytest.raises(od.ModelError, match=rf"'leg_l_joint' has {key} 2, its mirror image 3.*{switch}=False"):
        mirror_map(model)
    mirror_map(model, **{switch: False})
    mirror_map(legs({key: 2.0}, {key: 2.0}))
    walk = {"phases": [ocp.Phase("step", 2, 1.0)], "periodic": ocp.Periodic(1.0)}
    with pytest.raises(od.ModelError, match=key):
        ocp.Problem(model, **walk).mirror()
    assert ocp.Problem(model, **walk, **{switch: False}).mirror() is not None
    twin = ocp.symmetric_twin(model)
    mirror_map(twin)
    close(getattr(twin.dofs, key)[6:], [2.5, 2.5])


def test_springs_rest_at_mirrored_places() -> None:
    """The right leg turns about -y: its image rests at the other sign."""
    spring = {"stiffness": 2.0}
    mirror_map(legs({**spring, "rest": 0.3}, {**spring, "rest": -0.3}))
    apart = legs({**spring, "rest": 0.3}, {**spring, "rest": 0.1})
    with pytest.raises(od.ModelError, match=r"rests 0\.4 away"):
        mirror_map(apart)
    close(ocp.symmetric_twin(apart).dofs.rest[7:], [0.1, -0.1])
    mirror_map(ocp.symmetric_twin(apart))
