"""The human in the sagittal plane: the mass, sizes, gravity and muscles of the body in space."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.models.musculature.planar_human import GROUPS
from tests.helpers import close


@pytest.fixture(scope="module")
def flat():
    return od.models.planar_human(64.0, 1.69, "female")


POSTURE = {"lumbar": 0.2, "hip_l": -0.6, "knee_l": 0.9, "ankle_l": -0.1, "hip_r": 0.3, "knee_r": 0.2, "ankle_r": 0.15}


def in_space(muscles=False):
    """The body in space, and its configuration in the posture."""
    model = od.models.human(64.0, 1.69, "female", muscles=muscles)
    q = np.array(model.neutral(), dtype=float)
    for joint, angle in POSTURE.items():
        q[model.q_slice(joint).start] = angle
    return model, q


def in_plane(model):
    q = np.zeros(model.nq)
    for joint, angle in POSTURE.items():
        q[model.q_slice(joint)] = angle
    return q


@pytest.mark.slow
def test_it_is_the_body_in_space_seen_from_the_side(flat):
    space, q = in_space()
    z = in_plane(flat)
    assert flat.mass == pytest.approx(64.0)
    for frame in ("heel_l", "toe_r", "head", "thigh_r", "hand_l"):
        close(od.point_position(flat, frame, DM(z)), od.point_position(space, frame, DM(q)))
    close(od.center_of_mass(flat, DM(z)), od.center_of_mass(space, DM(q)))
    gravity, other = od.gravity_force(flat, DM(z)), od.gravity_force(space, DM(q))
    tissue, its = od.passive_force(flat, DM(z), DM(flat.nv, 1)), od.passive_force(space, DM(q), DM(space.nv, 1))
    plain = od.models.planar_human(64.0, 1.69, "female", muscles=False)
    relaxed = od.passive_force(plain, DM(z), DM(plain.nv, 1))
    for joint in POSTURE:
        at, there = flat.qd_slice(joint).start, space.qd_slice(joint).start
        close(gravity[at], other[there])
        close(relaxed[at], its[there])
    assert float(tissue[flat.qd_names.index("hip_l")]) != pytest.approx(float(relaxed[flat.qd_names.index("hip_l")]))


@pytest.mark.slow
def test_a_muscle_stands_for_its_group(flat):
    space, q = in_space(muscles=True)
    lengths = dict(zip(space.muscle_names, np.ravel(od.muscles.path_geometry(space, q).lengths), strict=True))
    arms = dict(zip(space.muscle_names, od.muscles.path_geometry(space, space.neutral()).moment_arms, strict=True))
    forces = {muscle.name: muscle.max_isometric_force for muscle in space.muscles}
    own = dict(zip(flat.muscle_names, np.ravel(od.muscles.path_geometry(flat, in_plane(flat)).lengths), strict=True))
    assert len(own) == 2 * len(GROUPS)
    for muscle in flat.muscles:
        name, side = muscle.name.rsplit("_", 1)
        joint, *group = GROUPS[name]
        members, dof = [f"{member}_{side}" for member in group], space.qd_slice(f"{joint}_{side}").start
        torque = sum(forces[member] * arms[member][dof] for member in members)
        assert muscle.max_isometric_force * arms[members[0]][dof] == pytest.approx(torque)
        assert own[muscle.name] == pytest.approx(lengths[members[0]], rel=1e-9)
    assert {w.wrap for m in flat.muscles for w in m.wraps} == {w.name for w in flat.wraps}


def test_without_muscles_it_has_motors_alone():
    plain = od.models.planar_human(muscles=False)
    assert not plain.muscles
    assert not plain.wraps
    assert len(plain.passive) > 14  # torques of muscles at rest in place of stops
    with pytest.raises(ValueError, match="mass"):
        od.models.planar_human(5.0)
