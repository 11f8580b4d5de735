"""Units do not matter: robots of a millimeter and of a kilometer, structural zeros, files, checks, machine code.

That every algorithm gives the same numbers in other units is a law: `tests/test_laws.py`.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.io.json import model_from_dict, model_to_dict
from ocp_dyn.mechanism.builder import check_inertia
from ocp_dyn.mechanism.reduction import variants
from tests.helpers import flat, mostly_slow
from tests.laws.worlds import Change, World


def qdd_of(model: od.Model, **options: Any) -> np.ndarray:
    n = model.nv
    return flat(od.function(od.forward_dynamics, model, **options)(0.3 + np.arange(n), np.ones(n), np.zeros(n)))


def test_a_rod_of_a_millimeter_and_a_milligram():
    """I qdd = m g l sin q, of any size and mass."""
    for length, mass in ((1e-3, 1e-6), (1e-6, 1e-12), (1e3, 1e6)):
        builder = od.ModelBuilder("rod")
        inertia = np.array([1, 1, 0]) * mass * length**2 / 12
        builder.add_body("rod", od.Revolute("y"), mass=mass, com=(0, 0, -length / 2), inertia=inertia)
        for reduce in (True, False):
            expected = -1.5 * 9.81 / length * np.sin(0.3)
            np.testing.assert_allclose(qdd_of(builder.build(), reduce=reduce), [expected], rtol=1e-14)


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-9), (1e-6, 1e-6), (1e6, 1e6), (2e5, 3e-5)])
@pytest.mark.slow
def test_scaled_and_reduced_models(length, mass):
    """`Model.scale` and `od.reduce` of one another, and the Function of either."""
    model = od.models.pendulum(2).scale(length, mass)
    expected = qdd_of(od.models.pendulum(2).with_gravity((0, 0, -9.81 / length)))
    for made in (model, od.reduce(model), od.reduce(od.models.pendulum(2)).scale(length, mass)):
        for reduce in (True, False):
            np.testing.assert_allclose(qdd_of(made, reduce=reduce), expected, rtol=1e-12)


UNITS = [
    (1.0, 1.0, 1.0),
    (2.0**-20, 2.0**-20, 2.0**-20),
    (1e-3, 1e-6, 1.0),
    (1e6, 1e6, 1e-6),
    (3e-6, 7e5, 1.7e-3),
    (7e5, 3e-6, 1.7e3),
]
"""New units of length, mass and time per old one."""


def zeros(model: od.Model) -> list[Any]:
    """Places at which the numbers of a model are structurally zero."""
    bodies = [DM(x).sparsity() for body in model.I for x in (body.h, body.I)]
    return [*bodies, *(x.sparsity() for X in model.X_tree for x in (X.E, X.r))]


@mostly_slow(
    "make", (od.models.human, od.models.five_link_biped, od.models.chain), (od.models.five_link_biped, od.models.chain)
)
@pytest.mark.slow
def test_as_many_structural_zeros_in_all_units(make):
    old = make(6) if make is od.models.chain else make()
    model, *others = (World.of(old, Change(*units), np.random.default_rng(0)).model for units in UNITS)
    for other in others:
        assert zeros(other) == zeros(model)
        for one, two in zip(variants(model), variants(other), strict=True):
            assert zeros(one) == zeros(two)


URDF = """
<robot name="finger">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="{l} {n} 0" rpy="0 1.5707963267948966 0"/><mass value="{m}"/>
    <inertia ixx="{I}" iyy="{I}" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><origin xyz="0 0 {l}"/><mass value="{m}"/>
    <inertia ixx="{I}" iyy="{I}" izz="{I}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <origin xyz="0 -{n} {l}"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint>
  <joint name="b" type="prismatic"><parent link="upper"/><child link="tip"/><axis xyz="1 0 0"/>
    <origin xyz="{l} 0 0"/><limit effort="1" velocity="1" lower="-{l}" upper="{l}"/></joint>
</robot>
"""


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-6), (1e-6, 1e-9), (1e3, 1e6), (1.0, 1.0)])
@pytest.mark.slow
def test_urdf_and_json(length, mass, tmp_path):
    """The same structure, the same numbers in units of the robot, and files that give back every bit."""

    def load(l: float, m: float) -> od.Model:
        path = tmp_path / f"{l}.urdf"
        path.write_text(URDF.format(l=repr(l), m=repr(m), n=repr(1.7e-17 * l), I=repr(m * l * l / 10)))
        return od.load_urdf(path)

    model, whole = load(length, mass), load(1.0, 1.0)
    assert [x.nnz() for x in zeros(model)] == [x.nnz() for x in zeros(whole)]
    q, qd, tau = np.array([0.4, 0.3]), np.array([1.1, -0.7]), np.array([0.2, 0.9])
    d = np.array([1.0, length])  # an angle and a length
    f = mass * length**2 / d
    whole = whole.with_gravity((0, 0, -9.81 / length))
    for reduce in (True, False):
        expected = flat(od.function(od.forward_dynamics, whole, reduce=reduce)(q, qd, tau))
        got = flat(od.function(od.forward_dynamics, model, reduce=reduce)(q * d, qd * d, tau * f)) / d
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    od.save_model(model, tmp_path / "robot.json")
    assert model_to_dict(od.load_model(tmp_path / "robot.json")) == model_to_dict(model)


def test_json_of_a_long_screw():
    """A screw's advance in a file is compared beside itself, and comes back as it is written."""
    builder = od.ModelBuilder("screw")
    builder.add_body("nut", od.Helical((0, 0, 1, 0, 0, 1e6)), mass=1, inertia=(1, 1, 1))
    data = model_to_dict(builder.build())
    data["bodies"][0]["joint"]["axis"][3] = 1e-9
    assert model_to_dict(model_from_dict(data)) == data


def test_checks_of_inertias_know_no_units():
    for scale in (1e-30, 1e-12, 1.0, 1e12):
        check_inertia(scale * np.diag([1.0, 1.0, 2.0]), "body")
        for wrong in ((1, 1, 3), (-0.1, 1, 1)):
            with pytest.raises(od.ModelError, match="no body has principal moments"):
                check_inertia(scale * np.diag(np.array(wrong, dtype=float)), "body")


def test_rounding_beside_what_was_summed():
    """Numbers that cancel leave structural zeros in all units, and numbers that are only small stay."""
    for length in (1e-6, 1.0, 1e6):
        builder = od.ModelBuilder("there and back")
        builder.add_body(
            "a", od.Revolute("z"), mass=1, com=(length / 3, 1e-17 * length, 0), inertia=(1e-3 * length**2,) * 3
        )
        builder.add_body("out", od.Fixed(), "a", origin=(0.1 * length, 0.7 * length, 0), mass=0.1)
        builder.add_body(
            "b",
            od.Revolute("z"),
            "out",
            origin=(0.2 * length, -0.7 * length, 1e-20 * length),
            mass=1,
            com=(length, 0, 0),
        )
        model = builder.build()
        assert model.X_tree[2].r.nnz() == 1
        assert DM(model.I[1].h).nnz() == 2
        assert float(model.I[1].h[1]) == pytest.approx(0.07 * length)
    assert od.Inertia.from_com(1e-20, (1e-9, 0, 0), np.zeros((3, 3))).I[1, 1] == 1e-38


def test_a_joint_that_feels_a_small_entry_of_a_large_inertia():
    """Forces that a joint feels stay beside others that are 1e15 times as large: coaxial joints, far mass centers."""
    small = 1e-2
    builder = od.ModelBuilder("coaxial")
    builder.add_body("ring", od.Revolute("z"), mass=small, inertia=(small, small, small))
    builder.add_body("mast", od.Revolute("z"), "ring", mass=1e7, com=(0, 0, 1e3), inertia=(small, small, small))
    for reduce in (True, False):
        H = od.function(od.mass_matrix, builder.build(), reduce=reduce)(np.zeros(2)).full()
        np.testing.assert_allclose(H, small * np.array([[2, 1], [1, 1]]), rtol=1e-12)


@pytest.mark.slow
def test_axes_all_but_at_right_angles_keep_their_origins_near():
    """Files hold angles of 1.5708: where the axes meet, 3e5 m away, is no place for an inertia's origin."""
    builder = od.ModelBuilder("rounded")
    for k in range(4):
        R = od.rpy_matrix((1.5708, 1e-8, 0.3 * k))
        builder.add_body(
            f"b{k}", od.Revolute("z"), f"b{k - 1}" if k else "world", origin=(0.3, 0.2, 0.4), rotation=R, mass=1,
            com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.15),
        )  # fmt: skip
    model = builder.build()
    for reduced in (od.reduce(model), *variants(model)):
        assert max(np.abs(X.r.full()).max() for X in reduced.X_tree) < 10
        for f in (od.inverse_dynamics, od.forward_dynamics):
            state = (np.arange(4) + 0.3, np.ones(4), np.arange(4))
            one, two = (flat(od.function(f, m, reduce=False)(*state)) for m in (reduced, model))
            np.testing.assert_allclose(one, two, rtol=1e-11)


def test_machine_code_of_a_micro_robot(rng):
    """Its tiny constants are not taken for zeros, nor for one another."""
    model = od.models.chain(3).scale(3e-6, 7e-11)
    FD = od.function(od.forward_dynamics, model)
    x = ca.SX.sym("x")
    tiny = ca.Function("tiny", [x], [1e-20 * x, 1.1e-20 * x, 1e-20 + 0 * x, x + 1e-300, 0 * x])
    code = od.codegen.compile([FD, tiny], lanes=1, threads=1)
    state = model.random_q(rng), rng.normal(size=3), 1e-15 * rng.normal(size=3)
    expected = flat(FD(*state))
    assert np.abs(code.FD(*state) - expected).max() < 1e-12 * np.abs(expected).max()
    assert [float(np.squeeze(y)) for y in code["tiny"](np.array([[2.0]]))] == [2e-20, 2.2e-20, 1e-20, 2.0, 0.0]


@pytest.mark.parametrize("length", [1e-6, 1e-3, 1e4])
def test_inverse_kinematics_of_small_and_large_arms(length):
    """As many steps to the same angles, where the tolerance is in units of the arm."""
    start, target = (0.3, 0.5, -0.2), np.array((0.7, 0.0, -1.1))
    found, expected = (
        od.inverse_kinematics(model, od.PointTarget(model.frame_names[-1], l * target), start, tolerance=1e-10 * l)
        for model, l in ((od.models.pendulum(3).scale(length), length), (od.models.pendulum(3), 1.0))
    )
    assert (found.reached, found.iterations) == (expected.reached, expected.iterations) == (True, found.iterations)
    np.testing.assert_allclose(found.q, expected.q, atol=1e-9)
