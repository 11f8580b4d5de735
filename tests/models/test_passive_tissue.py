"""Passive torques of people: the published formulas, their signs on the human model, symmetry, size."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models.anthropometry import MASS, STATURE
from tests.helpers import close, flat

TISSUE = od.models.human()


def torque(**degrees: float) -> dict[str, float]:
    """Torques by dof at a posture; hip_l means hip_l.ry."""
    q = TISSUE.neutral()
    for name, angle in degrees.items():
        q[TISSUE.q_names.index(name.replace("__", "."))] = math.radians(angle)
    return dict(zip(TISSUE.qd_names, flat(od.passive_force(TISSUE, q, np.zeros(TISSUE.nv))), strict=True))


@pytest.mark.parametrize("side", "lr")
@pytest.mark.parametrize(("hip", "knee", "ankle"), [(0, 0, 0), (-10, 20, -15), (70, 90, 30), (20, 5, 10)])
def test_hip_knee_and_ankle_are_the_published_formulas(side: str, hip: float, knee: float, ankle: float) -> None:
    """Riener & Edrich 1999, in degrees: hip flexion, knee flexion, plantar flexion."""
    exp = math.exp
    moment_hip = exp(1.4655 - 0.0034 * knee - 0.0750 * hip) - exp(1.3403 - 0.0226 * knee + 0.0305 * hip) + 8.072
    moment_knee = (
        exp(1.800 - 0.0460 * ankle - 0.0352 * knee + 0.0217 * hip)
        - exp(-3.971 - 0.0004 * ankle + 0.0495 * knee - 0.0128 * hip)
        + exp(2.220 - 0.150 * knee)
        - 4.820
    )
    moment_ankle = exp(2.1016 - 0.0843 * ankle - 0.0176 * knee) - exp(-7.9763 + 0.1949 * ankle + 0.0008 * knee) - 1.792
    found = torque(**{f"hip_{side}__ry": -hip, f"knee_{side}": knee, f"ankle_{side}": ankle})
    close([found[f"hip_{side}.ry"], found[f"knee_{side}"], found[f"ankle_{side}"]],
          [-moment_hip, moment_knee, moment_ankle])  # fmt: skip


def test_muscles_over_two_joints_slacken_where_they_should() -> None:
    assert torque(ankle_l=-15)["ankle_l"] > 2 * torque(ankle_l=-15, knee_l=60)["ankle_l"] > 0  # gastrocnemius
    assert torque(hip_l__ry=-80)["hip_l.ry"] > 2 * torque(hip_l__ry=-80, knee_l=60)["hip_l.ry"] > 0  # hamstrings
    assert (
        torque(knee_l=110, hip_l__ry=15)["knee_l"] < torque(knee_l=110, hip_l__ry=-60)["knee_l"] < 0
    )  # rectus femoris


@pytest.mark.parametrize(("dof", "gain", "slope", "start"), [
    ("hip_r.rx", 0.03, 14.94, 0.5), ("hip_l.rz", 0.03, 14.94, 0.92), ("subtalar_l", 60.21, 16.32, 0.65)])  # fmt: skip
def test_stops_push_back_on_both_sides(dof: str, gain: float, slope: float, start: float) -> None:
    """Anderson & Pandy 1999: gain exp(slope (angle - start))."""
    name, wanted = dof.replace(".", "__"), gain * math.exp(0.2 * slope)
    for sign in (1, -1):
        close(torque(**{name: sign * math.degrees(start + 0.2)})[dof], -sign * wanted, 1e-9)
    assert abs(torque()[dof]) < 1e-2


def test_lumbar_stops_are_the_published_ones_where_the_ranges_are() -> None:
    """Bending by 20 degrees: 0.25 N m, each 2.8 degrees more double it; extension by 10 degrees: 0.35 N m."""
    close(torque(lumbar__rx=20)["lumbar.rx"], -0.25, 1e-5)
    close(torque(lumbar__rx=-22)["lumbar.rx"], 0.25 * math.exp(20.36 * math.radians(2)), 1e-5)
    close(torque(lumbar__ry=-10)["lumbar.ry"], 0.35, 1e-5)
    close(torque(lumbar__ry=65)["lumbar.ry"], -0.25, 1e-5)


@pytest.mark.slow
def test_both_sides_mirror_each_other_and_size_scales_all() -> None:
    ocp.mirror_map(TISSUE)
    small = od.models.passive_tissue(50, 1.6, "female")
    ratio = 50 * 1.6 / (MASS["male"] * STATURE["male"])
    for one, other in zip(TISSUE.passive, small, strict=True):
        close(other.gain, ratio * one.gain)
        assert (one.dof, one.slopes, one.offset) == (other.dof, other.slopes, other.offset)


def test_a_toe_joint_has_its_stop_in_extension() -> None:
    stops = [e for e in od.models.passive_tissue(73, 1.741, "male", toe="toes") if e.dof.startswith("toes")]
    assert [e.dof for e in stops] == ["toes_l", "toes_r"]
    size = 73 * 1.741 / (MASS["male"] * STATURE["male"])
    close(stops[0].torque({"toes_l": -math.radians(65)}), 0.9 * size, 1e-12)
    close(stops[0].torque({"toes_l": -math.radians(65) - 0.1}), 0.9 * size * math.exp(1.487), 1e-12)


def test_impossible_people_are_refused() -> None:
    for values, message in (((10, 1.7, "male"), "mass"), ((70, 3, "male"), "height"), ((70, 1.7, "man"), "sex")):
        with pytest.raises(ValueError, match=message):
            od.models.passive_tissue(*values)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="toe must be the name"):
        od.models.passive_tissue(73, 1.741, "male", toe=3)  # type: ignore[arg-type]


@pytest.mark.slow
def test_people_have_tissue_unless_it_is_left_out() -> None:
    bare = od.models.human(tissue=False)
    assert bare.passive == ()
    assert not bare.dofs.damping.any()
    assert TISSUE.passive == od.models.passive_tissue(MASS["male"], STATURE["male"], "male")
    close(TISSUE.dofs.damping, [0.0] * 6 + [0.1] * 23)  # the root turns freely
    rng = np.random.default_rng(2)
    q, qd, qdd = TISSUE.random_q(rng), *rng.standard_normal((2, TISSUE.nv))
    close(flat(od.inverse_dynamics(bare, q, qd, qdd)), flat(od.inverse_dynamics(TISSUE, q, qd, qdd)))
    loads = od.Loads(passive=True)
    lighter = flat(od.inverse_dynamics(bare, q, qd, qdd)) - flat(od.inverse_dynamics(TISSUE, q, qd, qdd, loads=loads))
    close(lighter, flat(od.passive_force(TISSUE, q, qd)), 1e-9)
    small = od.models.human(60, 1.65, "female")
    assert small.passive == od.models.passive_tissue(60, 1.65, "female")
    with pytest.raises(TypeError, match="tissue"):
        od.models.human(tissue="none")  # type: ignore[arg-type]
