"""Passive torques in edited copies of a model: locked, cut, attached, scaled, split and emulated joints; files."""

from __future__ import annotations

import json

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.io.faults import file_faults
from ocp_dyn.joints import Joint
from tests.helpers import close, flat


def bent(**names: str) -> od.Model:
    """A leg: a hip of three angles, a sliding knee, an ankle; elements that couple them."""
    builder = od.ModelBuilder("leg")
    body = {"mass": 1.0, "com": (0, 0.1, -0.2), "inertia": (0.1, 0.1, 0.05)}
    builder.add_body("thigh", od.Euler("yxz"), joint_name="hip", **body)
    builder.add_body("shank", od.Prismatic("z"), "thigh", joint_name="knee", **body)
    builder.add_body("foot", od.Revolute("y"), "shank", joint_name="ankle", **body)
    builder.add_passive(
        od.ExponentialTorque("hip.ry", 2.0, {"hip.ry": -1.0, "knee": 0.5}, 0.2),
        od.ExponentialTorque("knee", -3.0, {"hip.rx": 0.3, "ankle": 1.5}),
        od.ExponentialTorque("ankle", 1.5, {"hip.ry": 0.4, "ankle": 0.7, "knee": 2.0}, -0.1),
    )
    builder.add_passive(od.OneSidedSpring("ankle", 40.0, 0.1, 0.2, "below"), od.OneSidedSpring("knee", 50.0, 0.1, 0.3))
    return builder.build()


LEG = bent()


def torques(model: od.Model, q: object) -> dict[str, float]:
    tau = flat(od.passive_force(model, q, np.zeros(model.nv)))
    return dict(zip(model.qd_names, tau, strict=True))


def test_a_locked_coordinate_is_folded_in_and_its_own_torque_is_gone() -> None:
    q = np.array([0.3, -0.2, 0.5, 0.4, -0.6])
    before = torques(LEG, q)
    stiff = LEG.lock_joints({"hip": q[:3]})
    assert {e.dof for e in stiff.passive} == {"knee", "ankle"}
    after = torques(stiff, q[3:])
    close([after["knee"], after["ankle"]], [before["knee"], before["ankle"]])
    stiff = LEG.lock_joints({"knee": 0.4})
    after = torques(stiff, np.delete(q, 3))
    for name in stiff.qd_names:
        close(after[name], before[name])
    assert len(LEG.passive) == 5


def test_a_subtree_keeps_its_torques_at_the_neutral_position_of_what_is_gone() -> None:
    with pytest.warns(od.ModelWarning, match=r"passive torques of 'shank' depend on hip.rx, hip.ry, which are no more"):
        shank = LEG.subtree("shank")
    before, after = torques(LEG, [0, 0, 0, 0.4, -0.6]), torques(shank, [0.4, -0.6])
    close([after["knee"], after["ankle"]], [before["knee"], before["ankle"]])


def test_attached_models_keep_theirs_under_new_names() -> None:
    both = LEG.attach(LEG, "foot", prefix="next_")
    q = np.array([0.3, -0.2, 0.5, 0.4, -0.6])
    single, double = torques(LEG, q), torques(both, [*q, *q])
    for name, value in single.items():
        close([double[name], double["next_" + name]], [value, value])


def test_elements_are_added_or_replaced() -> None:
    spring = od.OneSidedSpring("ankle", 10.0, 0.0)
    assert LEG.with_passive([spring]).passive == (*LEG.passive, spring)
    assert LEG.with_passive([spring], replace_all=True).passive == (spring,)
    for same in (LEG.with_gravity((0, 0, 1)), LEG.with_limits(lower=-1.0), LEG.with_frame("f", "foot"),
                 LEG.with_inertia("foot", 2.0), od.with_parameters(LEG, {"mass:foot": 3.0}),
                 od.reduce(LEG)):  # fmt: skip
        assert same.passive == LEG.passive


def test_a_scaled_model_stretches_as_far_relative_to_its_size() -> None:
    """Slopes of lengths, starts of springs on them; torques of the tissue stay, forces of springs grow as linear
    ones."""
    large = LEG.scale(length=2.0)
    q, doubled = np.array([0.3, -0.2, 0.5, 0.4, -0.6]), np.array([0.3, -0.2, 0.5, 0.8, -0.6])
    before, after = torques(LEG, q), torques(large, doubled)
    close([after["hip.ry"], after["ankle"]], [before["hip.ry"], before["ankle"]])
    spring = torques(LEG.with_passive(LEG.passive[-1:], replace_all=True), q)["knee"]
    close(after["knee"], before["knee"] + spring)


def test_the_card_and_the_table_count_them() -> None:
    assert "passive torques: 3 ExponentialTorque on hip.ry, knee, ankle; 2 OneSidedSpring on ankle, knee" in str(LEG)
    assert "2 OneSidedSpring on ankle, knee" in LEG._card_html()


def test_files_hold_them(tmp_path) -> None:
    od.save_model(LEG, tmp_path / "leg.json")
    assert od.load_model(tmp_path / "leg.json").passive == LEG.passive
    assert od.model_from_dict(od.model_to_dict(LEG)).passive == LEG.passive
    assert "passive" not in od.model_to_dict(od.models.pendulum(1))
    data = od.model_to_dict(LEG)
    for message, key, value in (
        ("no kind of passive element 'OneSided'.*did you mean", "kind", "OneSided"),
        (r"passive\[3\]: 'dof' is missing", "dof", None),
        (r"passive\[3\]: OneSidedSpring smoothing", "smoothing", 0.0),
        ("no dof 'ankel'.*did you mean 'ankle'", "dof", "ankel"),
        (r"OneSidedSpring has no 'end'; it has: dof", "end", 1.0),
    ):
        wrong = json.loads(json.dumps(data))
        wrong["passive"][3][key] = value
        if value is None:
            del wrong["passive"][3][key]
        with pytest.raises(od.ModelError, match=message):
            od.model_from_dict(wrong)
    wrong = json.loads(json.dumps(data))
    wrong["passive"][0]["slopes"] = [["hip.ry", "steep"]]
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    assert any("passive[0]" in str(fault) for fault in file_faults(tmp_path / "wrong.json"))


class _Steered(Joint):
    """Two velocities that mix two coordinates, one that is the rate of a third, and half the rate of a fourth."""

    q_labels, qd_labels = ("a", "b", "c", "d"), ("u", "v", "c", "w")

    def jcalc(self, q, qd):
        raise NotImplementedError

    def q_dot(self, q, qd):
        return DM([[1, 1, 0, 0], [1, -1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 2]]) @ qd


def test_joints_tell_which_velocities_are_rates_of_one_coordinate() -> None:
    assert od.FloatingBase().coordinates() == (0, 1, 2, None, None, None)
    assert od.FloatingBase("euler_xyz").coordinates() == tuple(range(6))
    assert od.Spherical().coordinates() == (None,) * 3
    assert od.Universal("x", "y").coordinates() == (0, 1)
    assert _Steered().coordinates() == (None, None, 2, None)
