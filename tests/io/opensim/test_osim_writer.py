"""Models written for OpenSim and read again: dynamics, markers, muscles, forces, constraints; and what is refused."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.io import osim_text, parse_osim
from tests.helpers import close
from tests.io import osim_models as made

C, S = np.cos(0.4), np.sin(0.4)
TURNED = ((C, -S, 0.0), (S, C, 0.0), (0.0, 0.0, 1.0))


def near(one: Any, other: Any) -> None:
    """Equal data, numbers to rounding."""
    if is_dataclass(one):
        assert type(one) is type(other)
        for field in fields(one):
            near(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            near(a, b)
    elif isinstance(one, float):
        assert one == other or abs(one - other) <= 1e-14 * max(1, abs(one))
    else:
        assert one == other


def same_dynamics(again: od.Model, model: od.Model, loads: od.Loads | None = None) -> None:
    order = [model.q_names.index(name) for name in again.q_names]
    rng = np.random.default_rng(1)
    for _ in range(2):
        q, qd, qdd = rng.uniform(-0.5, 0.5, (3, model.nv))
        expected = od.inverse_dynamics(model, q, qd, qdd, loads=loads or od.Loads())
        close(od.inverse_dynamics(again, q[order], qd[order], qdd[order], loads=loads or od.Loads()), expected[order])


MARKERS = """<MarkerSet><objects><Marker name="toe"><socket_parent_frame>/bodyset/tip</socket_parent_frame>
<location>0.1 0.2 0.3</location></Marker><Marker name="lab"><socket_parent_frame>/ground</socket_parent_frame>
<location>1 2 3</location><fixed>true</fixed></Marker></MarkerSet>""".replace("</MarkerSet>", "</objects></MarkerSet>")


@pytest.mark.parametrize("kind", made.JOINTS)
@pytest.mark.slow
def test_joints_come_back(kind: str) -> None:
    model = parse_osim(made.one_joint(kind, MARKERS))
    again = parse_osim(osim_text(model))
    assert (again.q_names, again.body_names, again.joint_names) == (model.q_names, model.body_names, model.joint_names)
    assert sorted(again.frame_names) == sorted(model.frame_names)
    same_dynamics(again, model)
    near(again.markers, model.markers)
    assert again.configurations["default"].tolist() == model.configurations["default"].tolist()


def test_joints_of_the_library_become_custom_joints(tmp_path: Path) -> None:
    builder = od.ModelBuilder("robot")
    builder.add_body("base", od.FloatingBase("euler_yxz"), mass=3, com=(0, 0.1, 0.2), inertia=(0.3, 0.4, 0.5))
    builder.add_body("hip", od.Euler("zxy"), "base", origin=(0, 0.1, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("slide", od.Prismatic((1, 2, 3)), "hip", mass=1, inertia=(0.1, 0.1, 0.1), lower=-1, upper=2)
    builder.add_body("screw", od.Helical((0, 1, 1, 0.1, 0, 0.2)), "hip", mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("piston", od.Cylindrical("y"), "hip", mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    model = builder.build()
    od.io.write_osim(model, tmp_path / "robot.osim")
    again = od.load(tmp_path / "robot.osim")
    same_dynamics(again, model)
    assert again.dofs.q_upper[again.q_names.index("slide_joint")] == 2
    for joint in od.io.xml_tree(osim_text(model), "robot").walk():
        if joint.tag == "SpatialTransform":
            axes = np.array([row.child("axis").text.split() for row in joint], dtype=float)
            for three in (axes[:3], axes[3:]):  # OpenSim wants axes that span space
                assert abs(np.linalg.det(three)) > 0.1


def free(damping: float) -> od.Model:
    """A trunk that floats and is dragged sideways, and an arm on a ball joint with some damping."""
    builder = od.ModelBuilder("free")
    numbers = {"mass": 3, "com": (0, 0.1, 0.2), "inertia": (0.3, 0.4, 0.5)}
    builder.add_body("trunk", od.FloatingBase(), damping=(0, 2, 0, 0, 0, 0), **numbers)
    builder.add_body("arm", od.Spherical(), "trunk", origin=(0, 0.2, 0.1), damping=(damping, 0, 0), **numbers)
    model = builder.build()
    q = model.random_q(np.random.default_rng(1))
    return replace(model, annotations=replace(model.annotations, configurations=(("default", q),)))


def test_quaternions_become_ball_and_free_joints() -> None:
    model = free(0.0)
    again = parse_osim(osim_text(model))
    assert again.q_names[:6] == ("root.rx", "root.ry", "root.rz", "root.x", "root.y", "root.z")
    assert again.q_names[6:] == ("arm_joint.rx", "arm_joint.ry", "arm_joint.rz")
    assert again.dofs.damping.tolist() == [0, 0, 0, 0, 2, 0, 0, 0, 0]
    q, angles = model.configurations["default"], again.configurations["default"]
    for body in ("trunk", "arm"):
        close(od.point_position(again, body, angles, (1, 2, 3)), od.point_position(model, body, q, (1, 2, 3)))
    close(od.center_of_mass(again, angles), od.center_of_mass(model, q))
    with pytest.raises(od.ModelError, match=r"springs .* by quaternions cannot be written.*drop=\('springs',\)"):
        osim_text(free(1.0))


def muscular() -> od.Model:
    """Two links, a frame on one of them, with paths of every kind of points and wraps of every kind."""
    builder = od.ModelBuilder("leg")
    builder.add_frame("world", "world")
    builder.add_frame("lab", "world", origin=(0.1, 0, 0), rotation=np.array(TURNED))
    for name, parent in (("thigh", "world"), ("shank", "thigh")):
        builder.add_body(name, od.Revolute("y"), parent, origin=(0.1, 0, -0.4), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_frame("heel", "shank", origin=(0, 0.1, -0.3), rotation=np.array(TURNED))
    model = builder.build()
    functions = (od.LinearFunction(0.1), od.SimmSpline((-1, 0, 1), (0, 0.1, 0.3)), od.ConstantFunction(0.2))
    path = (
        od.PathPoint("P1", "lab", (0.1, 0.2, 0.3)),
        od.ConditionalPathPoint("P2", "thigh", (0.1, 0, 0.3), "shank_joint", -1.0, 0.3),
        od.MovingPathPoint("P3", "heel", functions, ("shank_joint", "thigh_joint", None)),
    )
    numbers = {
        "max_control": 1.0, "TendonForceLengthCurve.strain_at_one_norm_force": 0.049, "min_control": 0.0,
        "ignore_tendon_compliance": 1.0,
    }  # fmt: skip
    muscle = od.Muscle(
        "calf", "Millard2012EquilibriumMuscle", path, (od.PathWrap("roll", "axial", 2), od.PathWrap("egg")),
        3549.0, 0.05, 0.25, 0.4, numbers,
    )  # fmt: skip
    band = od.Muscle(
        "band", "Ligament", path[1:], parameters={"resting_length": 0.2}, active=False,
        functions={"force_length_curve": od.SimmSpline((0, 1, 1.1), (0, 0, 5))},
    )  # fmt: skip
    wraps = (
        od.WrapObject("roll", "cylinder", "thigh", (0.04, 0.1), (0.1, 0, 0.2), np.ravel(TURNED), "-x"),
        od.WrapObject("egg", "ellipsoid", "heel", (0.1, 0.2, 0.3), active=False),
        od.WrapObject("ball", "sphere", "world", (0.1,), (0.1, 0.2, 0.3)),
        od.WrapObject("ring", "torus", "heel", (0.01, 0.1)),
    )
    motion = (
        od.PrescribedMotion("thigh_joint", od.SineFunction(0.2, 3.0)),
        od.PrescribedMotion("shank_joint", od.ConstantFunction(0.3)),
    )
    data = replace(model.annotations, muscles=(muscle, band), wraps=wraps, prescribed=motion)
    return replace(model, annotations=data)


def test_muscles_come_back() -> None:
    model = muscular()
    again = parse_osim(osim_text(model))
    calf, band = again.muscles
    expected = dict(model.muscles[0].parameters) | {"appliesForce": 1.0, "min_control": 0.01}
    near(calf, replace(model.muscles[0], parameters=expected))  # OpenSim refuses a control below the least activation
    near(band, replace(model.muscles[1], parameters={**dict(model.muscles[1].parameters), "appliesForce": 0.0}))
    wraps = {wrap.name: wrap for wrap in again.wraps}
    for wrap in model.wraps:
        if wrap.body != "world":
            near(wraps[wrap.name], wrap)
    close(DM(wraps["ball"].origin), DM([0.1, 0.3, -0.2]))  # y up
    assert wraps["ball"].body == "ground"
    assert again.prescribed[0] == model.prescribed[0]
    assert again.prescribed[1].function == od.PolynomialFunction((0.3,))  # a dof still: a Constant would lock it
    assert parse_osim(osim_text(model, drop="muscles")).muscles == ()
    near(parse_osim(osim_text(again)).annotations, again.annotations)


@pytest.mark.slow
def test_forces_come_back() -> None:
    builder = od.ModelBuilder("mixed", gravity=(0.3, 0, -9.81))
    builder.add_body("a", od.Revolute("y"), mass=2, com=(0.1, 0, -0.2), inertia=(0.1, 0.2, 0.15))
    builder.add_body("b", od.Cylindrical("x"), "a", origin=(0, 0.1, -0.4), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("c", od.Prismatic((1, 0, 2)), "a", origin=(0.3, 0, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_frame("spot", "b", origin=(0.1, 0.2, 0.1), rotation=np.array(TURNED))
    model = builder.build()
    model = model.with_springs({"a_joint": 30.0}, rest={"a_joint": 0.2}, damping={"a_joint": 0.5, "c_joint": 2.0})
    model = model.with_passive(
        [
            od.CoordinateLimit("a_joint", 0.1, -0.2, 100, 80, 3, 0.2),
            od.CoordinateLimit("c_joint", 0.1, -0.05, 1000, 800, 30, 0.1),
            od.FormulaTorque("b_joint.r", "-2*a*q^3 - qdot; a=3*q", 1.5, 2.0),
            od.ExponentialTorque("b_joint.t", -1.5, {"b_joint.t": 2.0}, 0.3),
        ]
    )
    stiff, soft = (10, 20, 30, 100, 200, 300), (1, 2, 3, 4, 5, 6)
    rubber = od.Bushing("world", "spot", stiff, soft, (TURNED, (0.1, 0.2, -0.3)), (TURNED, (0, 0, 0.1)), "my rubber")
    formulas = replace(rubber, name="formulas", laws=("a*theta_x^2; a = 3", "0", "delta_x", "1", "0", "theta_z"))
    curve = od.SimmSpline((-2, -1, 0, 1, 2), (1, 0.5, 0, 0.2, 0.9))
    curves = replace(formulas, name="curves", stiffness=(0,) * 6, laws=[curve.times(k) for k in range(1, 7)])
    rope = od.PathSpring([("world", (1, 2, 3)), ("spot", (0.1, 0, 0))], 20.0, 0.5, name="rope")
    springs = [rubber, formulas, curves, rope]
    model = model.with_bushings(springs).with_limits(effort={"a_joint": (-5.0, 7.0)})
    again = parse_osim(osim_text(model))
    for one in (replace(curves, stiffness=(1,) * 6), replace(rope, damping=1.0), od.WeightSupport("spot", 1.0)):
        with pytest.raises(od.ModelError, match="passive"):
            osim_text(model.with_bushings([one]))
    same_dynamics(again, model, od.Loads(passive=True))
    near(again.passive[:2], model.passive[:2])
    assert again.dofs.effort[again.qd_names.index("a_joint")].tolist() == [-5, 7]
    assert [one.name for one in again.bushings] == ["myrubber", "formulas", "curves", "rope"]


def row(*numbers: float) -> tuple[float, ...]:
    return (0.0, 0.0, 0.0, *numbers)


@pytest.mark.slow
def test_constraints_come_back() -> None:
    builder = od.ModelBuilder("loops")
    builder.add_frame("lab", "world", origin=(0.1, 0, 0.3), rotation=np.array(TURNED))
    for k, name in enumerate("abc"):
        builder.add_body(name, od.Euler("xyz"), origin=(0, 0.1 * k, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("nut", od.Revolute("x"), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("bolt", od.Revolute("x"), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_mimic("nut_joint", "bolt_joint", ratio=2.0, offset=0.1)
    model = builder.build()
    flat, pose = (np.eye(3), (0, 0.05, -0.3)), (TURNED, (0, 0.1, -0.3))
    given = (
        od.Loop("a", "b", "ball", pose, flat, label="point"),
        od.Loop("b", "c", [row(1, 0, 0), row(0, 0.6, 0.8)], pose, flat, sliding=True, label="line"),
        od.PointDistance("a", "lab", 0.3, (0, 0, -0.1), (0.1, 0, -0.2), "rod"),
        od.Loop("a", "c", "fixed", pose, pose),
        od.CoordinateCoupling(
            "a_joint.rx", ("b_joint.rx", "c_joint.ry"), od.LinearFunction((0.5, -0.3), 0.1), 2.0, "gear"
        ),
    )
    model = replace(model, constraints=given)
    again = parse_osim(osim_text(model))
    assert [one.name for one in again.constraints] == ["point", "line", "rod", "a-c", "gear", "nut_joint(bolt_joint)"]
    q, qd = np.random.default_rng(2).uniform(-0.5, 0.5, (2, model.nv))
    for one, theirs in zip((*given, *od.mimic_constraints(model)), again.constraints, strict=True):
        ours, found = (
            np.hstack([np.array(od.constraint_jacobian(m, [c], q)), np.array(od.constraint_hessian(m, [c], q, qd))])
            for m, c in ((model, one), (again, theirs))
        )
        assert ours.shape == found.shape
        assert np.linalg.matrix_rank(np.vstack([ours, found]), 1e-12) == len(ours)  # the same rows, or turned ones
    for loop in (
        od.Loop("a", "b", "revolute"), od.Loop("a", "b", [row(1, 0, 0), row(0, 1, 0)]),
        od.Loop("a", "b", "ball", sliding=True), od.Contact("a"),
    ):  # fmt: skip
        with pytest.raises(od.ModelError, match=r"constraints other than.*drop=\('constraints',\)"):
            osim_text(replace(model, constraints=(loop,)))
    left = parse_osim(osim_text(replace(model, constraints=(loop, given[2])), drop="constraints"))
    assert [one.name for one in left.constraints] == ["rod", "nut_joint(bolt_joint)"]


def test_the_ground_of_a_file_is_kept() -> None:
    model = parse_osim(made.one_joint("PinJoint", MARKERS), up="y")
    text = osim_text(model)
    assert "<gravity>0 -9.80665 0</gravity>" in text
    near(parse_osim(text, up="y").markers, model.markers)


def test_notes_tell_what_is_turned_and_left_out(tmp_path: Path) -> None:
    forces = "".join(f'<TorqueActuator name="t{k}"/>' for k in range(2)) + '<HuntCrossleyForce name="heel"/>'
    text = made.one_joint("PinJoint", f"<ForceSet><objects>{forces}</objects></ForceSet>")
    model = parse_osim(text)
    turned, left, contacts = model.notes
    assert "y up" in turned
    assert left == "left out: 2 TorqueActuator"
    assert contacts == "left out, but for od.io.osim_spheres: 1 HuntCrossleyForce"
    assert parse_osim(text, up="y").notes == model.notes[1:]
    od.save_model(model, tmp_path / "m.json")
    again = od.load(tmp_path / "m.json")
    assert again == model
    assert again.notes == model.notes
    assert model.scale(2.0).notes == model.lock_joints({"base": 0.1}).notes == model.notes
    assert model.attach(model, "tip", prefix="other_").notes == model.notes
    with pytest.raises(od.ModelError, match="notes must be a list of texts"):
        od.io.model_from_dict(od.io.model_to_dict(model) | {"notes": [3]})


def test_what_is_refused() -> None:
    builder = od.ModelBuilder()
    builder.add_body("a", od.Revolute("y"), mass=1, inertia=(0.1, 0.1, 0.1))
    model = builder.build()
    for wrong, message in (
        (od.models.human(), r"drop=\("),
        (model.with_limits(velocity={"a_joint": 3.0}), r"limits of speeds cannot be written.*drop=\('speed',\)"),
        (model.with_limits(effort={"a_joint": (-np.inf, 3.0)}), r"in one direction.*drop=\('effort',\)"),
        (model.with_passive([od.OneSidedSpring("a_joint", 1.0, 0.1)]), r"passive torques .*drop=\('passive',\)"),
        (_called("ground"), "is called 'ground'"),
        (_called("two words"), "takes no blanks"),
    ):
        with pytest.raises(od.ModelError, match=message):
            osim_text(wrong)
    with pytest.raises(ValueError, match="did you mean 'muscles'"):
        osim_text(model, drop="muscle")
    strange = replace(muscular().muscles[0], parameters={"a<b": 1.0})
    data = replace(muscular().annotations, muscles=(strange,))
    with pytest.raises(od.ModelError, match="'a<b' cannot be the name of an element"):
        osim_text(replace(muscular(), annotations=data))


def _called(name: str) -> od.Model:
    builder = od.ModelBuilder()
    builder.add_body(name, od.Revolute("y"), joint_name="hinge", mass=1, inertia=(0.1, 0.1, 0.1))
    return builder.build()
