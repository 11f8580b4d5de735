"""OpenSim models: joints of every class against their formulas, what belongs to a model, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.io import parse_osim
from tests.helpers import close
from tests.io import osim_models as made

Array = np.ndarray


def rotation(axis: int, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    R = np.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i] = R[j, j] = c
    R[i, j], R[j, i] = -s, s
    return R


def xyz(angles: tuple[float, ...]) -> Array:
    return rotation(0, angles[0]) @ rotation(1, angles[1]) @ rotation(2, angles[2])


def about(axis: tuple[float, ...], angle: float) -> Array:
    a = np.array(axis) / np.linalg.norm(axis)
    K = np.cross(np.eye(3), a)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def placed(R: Array, p: Array | tuple[float, ...]) -> Array:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def spline(x: list[float], y: list[float], at: float) -> float:
    """The spline as a piecewise cubic with the third derivatives at the ends of the cubics through four points."""
    n = len(x)
    A, b = np.zeros((n, n)), np.zeros(n)
    h = np.diff(x)
    for k in range(1, n - 1):
        A[k, k - 1 : k + 2] = h[k - 1], 2 * (h[k - 1] + h[k]), h[k]
        b[k] = 6 * ((y[k + 1] - y[k]) / h[k] - (y[k] - y[k - 1]) / h[k - 1])
    for row, end, at_four in ((0, 0, slice(0, 4)), (n - 1, n - 2, slice(n - 4, n))):
        third = 6 * np.polyfit(x[at_four], y[at_four], 3)[0]
        A[row, end : end + 2], b[row] = (-1.0, 1.0), third * h[end]
    M = np.linalg.solve(A, b)
    k = min(max(int(np.searchsorted(x, at)) - 1, 0), n - 2)
    inside = min(max(at, x[0]), x[-1])
    t, u = inside - x[k], x[k + 1] - inside
    value = (M[k] * u**3 + M[k + 1] * t**3) / (6 * h[k]) + (y[k] / h[k] - M[k] * h[k] / 6) * u
    value += (y[k + 1] / h[k] - M[k + 1] * h[k] / 6) * t
    slope = (M[k + 1] * t**2 - M[k] * u**2) / (2 * h[k]) + (y[k + 1] - y[k]) / h[k] - (M[k + 1] - M[k]) * h[k] / 6
    return float(value + slope * (at - inside))


def moved(kind: str, q: Array) -> Array:
    """The moved frame of the tested joint in its fixed one."""
    if kind == "WeldJoint":
        return np.eye(4)
    if kind in ("PinJoint", "PlanarJoint"):
        return placed(rotation(2, q[0]), (q[1], q[2], 0) if kind == "PlanarJoint" else (0, 0, 0))
    if kind == "SliderJoint":
        return placed(np.eye(3), (q[0], 0, 0))
    if kind == "UniversalJoint":
        return placed(rotation(0, q[0]) @ rotation(1, q[1]), (0, 0, 0))
    if kind == "CustomJoint":
        b, a = q
        knots = [-1, -0.4, 0.1, 0.6, 1.2], [0.1, -0.05, 0.02, 0.1, 0.3]
        R = about((0, 0.2, 1), spline(*knots, b)) @ rotation(0, 0.5 * a - 0.7 * b + 0.1) @ rotation(1, 0.3)
        slide = 0.3 * np.sin(1.5 * b + 0.2) + 0.1
        across = slide / np.sqrt(2)
        return placed(R, (1.5 * spline(*knots, a), across, across + (0.3 * a if a > 0 else -0.2 * a)))
    if kind == "ScapulothoracicJoint":
        turn = placed(rotation(2, np.pi / 2), (0, 0, 0))
        R = xyz(tuple(q[:3]))
        ellipsoid = placed(R, np.array([0.2, 0.1, 0.3]) * R[:, 2])
        o = placed(np.eye(3), (0.02, -0.03, 0))
        wing = placed(about((-np.sin(0.4), np.cos(0.4), 0), q[3]), (0, 0, 0))
        return turn @ ellipsoid @ np.linalg.inv(turn) @ o @ wing @ np.linalg.inv(o)
    R = xyz(tuple(q[:3]))
    shift = {"FreeJoint": q[3:6], "EllipsoidJoint": np.array([0.1, 0.2, 0.3]) * R[:, 2]}
    return placed(R, shift.get(kind, np.zeros(3)))


@pytest.mark.parametrize("kind", made.JOINTS)
@pytest.mark.slow
def test_joints_move_by_their_formulas(kind: str) -> None:
    model = parse_osim(made.one_joint(kind), up="y")
    names = made.JOINTS[kind][0].split()
    assert model.qd_names[0] == "base_angle"
    assert set(model.qd_names[1:]) == set(names)
    assert model.qd_names[1:] == (("b", "a") if kind == "CustomJoint" else tuple(names))
    (t0, r0), (t1, r1) = made.OFFSETS
    F, M = placed(xyz(r0), t0), placed(xyz(r1), t1)
    rng = np.random.default_rng(3)
    for span in (0.9, 2.5):
        q = rng.uniform(-span, span, model.nq)
        root = F @ placed(rotation(2, q[0]), (0, 0, 0)) @ np.linalg.inv(M)
        tip = root @ F @ moved(kind, q[1:]) @ np.linalg.inv(M)
        for name, X in (("root", root), ("tip", tip)):
            R, p = od.pose(model, name, q)
            close(R, X[:3, :3])
            close(p, X[:3, 3])


@pytest.mark.parametrize("kind", made.JOINTS)
@pytest.mark.slow
def test_dynamics_of_every_joint(kind: str) -> None:
    """H qdd + C = ID, and power: the rate of kinetic energy is that of the forces. Massless bodies take part."""
    model = parse_osim(made.one_joint(kind))
    rng = np.random.default_rng(5)
    q, qd, qdd = (DM(rng.uniform(-1, 1, model.nv)) for _ in range(3))
    tau = od.inverse_dynamics(model, q, qd, qdd)
    close(od.mass_matrix(model, q) @ qdd + od.bias_force(model, q, qd), tau)
    close(od.forward_dynamics(model, q, qd, tau), qdd, 1e-8)
    h = 1e-5
    ahead, back = (
        od.kinetic_energy(model, q + s * h * qd, qd + s * h * qdd) + od.potential_energy(model, q + s * h * qd)
        for s in (1, -1)
    )
    close((ahead - back) / (2 * h), ca.dot(qd, tau), 1e-7)


def test_the_ground_is_turned_so_that_z_is_up() -> None:
    text = made.one_joint("PinJoint")
    z, y = parse_osim(text), parse_osim(text, up="y")
    q = DM([0.3, -0.8])
    close(od.point_position(z, "tip", q), DM([[1, 0, 0], [0, 0, -1], [0, 1, 0]]) @ od.point_position(y, "tip", q))
    close(DM(z.gravity), DM([0, 0, -9.80665]))
    close(DM(y.gravity), DM([0, -9.80665, 0]))
    close(od.bias_force(z, q, q), od.bias_force(y, q, q))
    close(od.pose(z, "ground", q)[0], DM([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))


@pytest.mark.parametrize("version", [20302, 30000])
@pytest.mark.slow
def test_old_documents(version: int) -> None:
    """The joints stand in their bodies; they move as those of new documents do."""
    old = parse_osim(made.old_leg(version))
    new = parse_osim(made.one_joint("CustomJoint"))
    q = DM([0.3, -0.8, 0.4])
    close(od.mass_matrix(old, q), od.mass_matrix(new, q), 1e-6)
    close(od.point_position(old, "tip", q), od.point_position(new, "tip", q))
    assert old.dofs.q_lower.tolist() == [-1, -1, -1]


def test_reversed_joints_move_the_body_on_their_other_side() -> None:
    """In old documents `reverse` swaps the frames, so that the ground is the child of the first joint."""
    plain, back = (parse_osim(made.old_leg(reverse=word), up="y") for word in ("false", "true"))
    q = np.array([0.3, -0.8, 0.4])
    (t0, r0), (t1, r1) = made.OFFSETS
    F, M = placed(xyz(r0), t0), placed(xyz(r1), t1)
    root = F @ np.linalg.inv(placed(rotation(2, q[0]), (0, 0, 0))) @ np.linalg.inv(M)
    tip = root @ F @ np.linalg.inv(moved("CustomJoint", q[1:])) @ np.linalg.inv(M)
    for name, X in (("root", root), ("tip", tip)):
        R, p = od.pose(back, name, q)
        close(R, X[:3, :3])
        close(p, X[:3, 3])
    assert plain.qd_names == back.qd_names


def test_frames_that_name_their_owner_or_a_frame_beside_them() -> None:
    at, on = ((0.1, -0.2, 0.3), (0.3, -0.1, 0.2)), ((0.4, 0.5, -0.6), (-0.2, 0.4, 0.1))
    frames = made.offset("a", "..", at) + made.offset("b", "../a", on)
    mark = "<socket_parent_frame>/bodyset/tip/b</socket_parent_frame><location>1 2 3</location>"
    marks = f'<MarkerSet><objects><Marker name="m">{mark}</Marker></objects></MarkerSet>'
    ends = "<socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/tip/b</socket_body_2>"
    point = f'<PointConstraint name="p">{ends}<location_body_2>1 2 3</location_body_2></PointConstraint>'
    text = made.one_joint("PinJoint", f"{marks}<ConstraintSet><objects>{point}</objects></ConstraintSet>")
    inside = made.body("tip", f"<components>{frames}</components>")
    model = parse_osim(text.replace(made.body("tip"), inside))
    expected = placed(xyz(at[1]), at[0]) @ placed(xyz(on[1]), on[0]) @ (1, 2, 3, 1)
    close(DM(model.markers[0].point), DM(expected[:3]))
    loop = model.constraints[0]
    assert isinstance(loop, od.Loop)
    assert (loop.successor, loop.successor_pose[1]) == ("tip", (1, 2, 3))  # points of constraints are in the body


def test_torques_at_angles_whose_speeds_are_angular_velocities_are_told() -> None:
    numbers = "<coordinate>b</coordinate><stiffness>3</stiffness>"
    spring = f'<SpringGeneralizedForce name="s">{numbers}</SpringGeneralizedForce>'
    force = f"<ForceSet><objects>{spring}</objects></ForceSet>"
    for kind, told in (("BallJoint", True), ("GimbalJoint", False)):
        notes = " ".join(parse_osim(made.one_joint(kind, force)).notes)
        assert ("s: torques along rates of angles" in notes) is told


def test_places_of_old_documents_have_six_digits() -> None:
    """OpenSim 4 makes texts of six digits of them, when it turns them into offset frames."""
    text = made.old_leg().replace("0.1 -0.2 0.05", "0.1234567891 -0.2 0.05")
    p = od.point_position(parse_osim(text, up="y"), "root", [0, 0, 0])
    same = parse_osim(made.old_leg().replace("0.1 -0.2 0.05", "0.123457 -0.2 0.05"), up="y")
    close(p, od.point_position(same, "root", [0, 0, 0]), 1e-15)


@pytest.mark.slow
def test_locked_coordinates() -> None:
    text = made.one_joint("CustomJoint").replace(
        '<Coordinate name="b"></Coordinate>',
        '<Coordinate name="b"><default_value>0.4</default_value><locked>true</locked></Coordinate>',
    )
    held, free = parse_osim(text), parse_osim(text, keep_locked=True)
    assert held.qd_names == ("base_angle", "a")
    assert free.qd_names == ("base_angle", "b", "a")
    close(od.mass_matrix(held, [0.3, 0.7]), od.mass_matrix(free, [0.3, 0.4, 0.7])[[0, 2], [0, 2]])
    close(od.point_position(held, "tip", [0.3, 0.7]), od.point_position(free, "tip", [0.3, 0.4, 0.7]))
    own = '<Coordinate name="a">'
    whole = text.replace(own, own + "<locked>true</locked>")
    assert parse_osim(whole).qd_names == ("base_angle",)
    close(od.point_position(parse_osim(whole), "tip", [0.3]), od.point_position(free, "tip", [0.3, 0.4, 0.0]))
    constant = text.replace("<locked>true</locked>", "<prescribed>true</prescribed><prescribed_function>"
        "<Constant><value>0.2</value></Constant></prescribed_function>")  # fmt: skip
    close(od.point_position(parse_osim(constant), "tip", [0.3, 0.7]), od.point_position(free, "tip", [0.3, 0.2, 0.7]))


EXTRAS = """<ForceSet><objects>
<Millard2012EquilibriumMuscle name="calf"><appliesForce>true</appliesForce><min_control>0.01</min_control>
<GeometryPath><PathPointSet><objects>
<PathPoint name="P1"><socket_parent_frame>/bodyset/root</socket_parent_frame><location>0 0.1 0</location></PathPoint>
<ConditionalPathPoint name="P2"><socket_parent_frame>/bodyset/root</socket_parent_frame><location>0 0.2 0</location>
<socket_coordinate>/jointset/tested/a</socket_coordinate><range>-1 0</range></ConditionalPathPoint>
<MovingPathPoint name="P3"><socket_parent_frame>/bodyset/tip</socket_parent_frame>
<x_location><Constant><value>0.1</value></Constant></x_location></MovingPathPoint>
<MovingPathPoint name="P4"><socket_parent_frame>/bodyset/tip</socket_parent_frame><socket_x_coordinate>
/jointset/tested/a</socket_x_coordinate><x_location>SPLINE</x_location><y_location><Constant><value>0.1</value>
</Constant></y_location></MovingPathPoint></objects></PathPointSet>
<PathWrapSet><objects><PathWrap name="w"><wrap_object>roll</wrap_object><method>hybrid</method><range>2 -1</range>
</PathWrap></objects></PathWrapSet></GeometryPath>
<max_isometric_force>3549</max_isometric_force><optimal_fiber_length>0.05</optimal_fiber_length>
<tendon_slack_length>0.25</tendon_slack_length><pennation_angle_at_optimal>0.4</pennation_angle_at_optimal>
<ForceVelocityCurve name="curve"><max_eccentric_velocity_force_multiplier>1.4</max_eccentric_velocity_force_multiplier>
</ForceVelocityCurve></Millard2012EquilibriumMuscle>
<SpringGeneralizedForce name="spring"><coordinate>a</coordinate><stiffness>30</stiffness><rest_length>0.1</rest_length>
<viscosity>2</viscosity></SpringGeneralizedForce>
<CoordinateActuator name="motor"><coordinate>base_angle</coordinate><optimal_force>150</optimal_force>
<min_control>-0.5</min_control><max_control>1</max_control></CoordinateActuator>
</objects></ForceSet>
<MarkerSet><objects><Marker name="toe"><socket_parent_frame>/bodyset/tip</socket_parent_frame>
<location>0.1 0.2 0.3</location><fixed>true</fixed></Marker>
<Marker name="lab"><socket_parent_frame>/ground</socket_parent_frame><location>1 2 3</location></Marker>
</objects></MarkerSet>
<ConstraintSet><objects>
<CoordinateCouplerConstraint name="coupler"><coupled_coordinates_function>POLYNOMIAL</coupled_coordinates_function>
<independent_coordinate_names>base_angle</independent_coordinate_names>
<dependent_coordinate_name>a</dependent_coordinate_name><scale_factor>2</scale_factor></CoordinateCouplerConstraint>
<ConstantDistanceConstraint name="rod"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/tip</socket_body_2>
<location_body_1>0.1 0.2 0.3</location_body_1><location_body_2>0 0.1 0</location_body_2>
<constant_distance>0.5</constant_distance></ConstantDistanceConstraint>
<PointConstraint name="point"><isEnforced>false</isEnforced></PointConstraint>
</objects></ConstraintSet>""".replace("SPLINE", made.SPLINE).replace("POLYNOMIAL", made.POLYNOMIAL)
WRAP = (
    '<WrapObjectSet><objects><WrapCylinder name="roll"><radius>0.04</radius><length>0.1</length><quadrant>-x</quadrant>'
    "<xyz_body_rotation>0.1 0.2 0.3</xyz_body_rotation><translation>0.01 0 0</translation></WrapCylinder>"
    "</objects></WrapObjectSet>"
)


@pytest.fixture(scope="module")
def whole() -> od.Model:
    text = made.one_joint("PinJoint", EXTRAS).replace("</inertia></Body>", f"</inertia>{WRAP}</Body>", 1)
    return parse_osim(text)


def test_what_belongs_to_a_model(whole: od.Model) -> None:
    toe, lab = whole.markers
    assert (toe.body, toe.point, toe.fixed) == ("tip", (0.1, 0.2, 0.3), True)
    close(od.point_position(whole, lab.body, [0, 0], lab.point), DM([1, -3, 2]))
    (calf,) = whole.muscles
    assert [type(point).__name__ for point in calf.path] == [
        "PathPoint", "ConditionalPathPoint", "MovingPathPoint", "MovingPathPoint",
    ]  # fmt: skip
    assert (calf.kind, calf.max_isometric_force, calf.pennation_angle) == ("Millard2012EquilibriumMuscle", 3549, 0.4)
    assert dict(calf.parameters) == {
        "appliesForce": 1.0, "min_control": 0.01,
        "ForceVelocityCurve.max_eccentric_velocity_force_multiplier": 1.4,
    }  # fmt: skip
    assert (calf.wraps[0].first, calf.wraps[0].last) == (2, 0)
    (roll,) = whole.wraps
    assert (roll.kind, roll.body, roll.sizes, roll.quadrant) == ("cylinder", "root", (0.04, 0.1), "-x")
    close(np.reshape(roll.rotation, (3, 3)), xyz((0.1, 0.2, 0.3)))
    assert whole.dofs.stiffness.tolist() == [0, 30]
    assert whole.dofs.rest.tolist() == [0, 0.1]
    assert whole.dofs.damping.tolist() == [0, 2]
    assert whole.dofs.effort[0].tolist() == [-75, 150]
    assert whole.configurations["default"].tolist() == [0, 0]


def test_constraints_of_a_model(whole: od.Model) -> None:
    coupler, rod = whole.constraints
    q, qd = DM([0.3, -0.2]), DM([1.0, 0.7])
    close(coupler.position(whole, q), 2 * np.polyval([0.2, -0.4, 0.5, 0.1], 0.3) + 0.2)
    d = od.point_position(whole, "tip", q, (0, 0.1, 0)) - DM([0.1, -0.3, 0.2])
    close(rod.position(whole, q), (ca.dot(d, d) - 0.25) / 1.0)
    for one in (coupler, rod):
        found = od.CustomConstraint(lambda q, one=one: one.position(whole, q))
        close(one.jacobian(whole, q), found.jacobian(whole, q))
        close(one.hessian(whole, q, qd), found.hessian(whole, q, qd))
    assert od.constraint_names(whole.constraints) == ("coupler", "rod")


def test_the_data_follow_edits(whole: od.Model, tmp_path: Path) -> None:
    od.save_model(whole, tmp_path / "m.json")
    assert od.load(tmp_path / "m.json") == whole
    big = whole.scale(2.0)
    assert big.markers[0].point == (0.2, 0.4, 0.6)
    assert big.wraps[0].sizes == (0.08, 0.2)
    assert big.muscles[0].tendon_slack_length == 0.5
    assert big.constraints[1].distance == 1.0
    close(big.muscles[0].path[3].functions[0].at(0.3), 2 * whole.muscles[0].path[3].functions[0].at(0.3))
    twice = whole.attach(whole, "tip", prefix="other_")
    assert twice.qd_names == ("base_angle", "a", "other_base_angle", "other_a")
    assert twice.markers[2] == od.Marker("other_toe", "other_tip", (0.1, 0.2, 0.3), True)
    assert twice.muscles[1].path[1].coordinate == "other_a"
    assert twice.constraints[2].others == ("other_base_angle",)
    assert twice.configurations["other_default"].tolist() == [0, 0, 0, 0]
    held = whole.lock_joints({"tested": -0.5})
    assert [type(point).__name__ for point in held.muscles[0].path][1:2] == ["PathPoint"]
    assert held.muscles[0].wraps[0].first == 2
    assert [one.name for one in held.constraints] == ["rod"]
    away = whole.lock_joints({"tested": 0.5})
    assert [point.name for point in away.muscles[0].path] == ["P1", "P3", "P4"]
    root = whole.lock_joints({"base": 0.3})
    close(root.constraints[0].position(root, DM([0.1])), 2 * np.polyval([0.2, -0.4, 0.5, 0.1], 0.3) - 0.1)
    assert od.reduce(whole).qd_names == whole.qd_names
    assert whole.subtree("tip").muscles == ()


GOOD = made.one_joint("PinJoint")
FAULTS = {
    ("<PinJoint", "<PinkJoint"): r"<PinkJoint 'base'>: joints of the class PinkJoint are not read.*'PinJoint'",
    ('Version="40000"', 'Version="10905"'): "its Version is '10905'",
    ("/bodyset/root</socket_parent>", "/bodyset/roof</socket_parent>"): "no body or frame: did you mean 'root'",
    ("<mass>2.0</mass>", "<mass>two</mass>"): "<mass>: 'two' is not a number",
    ("<mass>2.0</mass>", "<mass>2,5</mass>"): "write a point, not a comma",
    ("<mass>2.0</mass>", "<mass>-1</mass>"): "its mass must not be negative",
    ("0.3 0.4 0.5 0.01 0.02 0.03", "0.3 0.4"): "it has 2 numbers, expected 6",
    ('<Coordinate name="a">', '<Coordinate name="base_angle">'): "the coordinate 'base_angle' stands in line",
    ('<Coordinate name="a"></Coordinate>', '<Coordinate name="a"/><Coordinate name="z"/>'): "2 coordinates, expected 1",
    ('<Body name="tip">', '<Body name="root">'): "a body of this name stands in line",
    ("<socket_child_frame>inner", "<socket_child_frame>outer"): "is the child of another joint",
    ("</Coordinate>", "<range>2 1</range></Coordinate>"): "its <range> must rise",
    ("</Coordinate>", "<locked>maybe</locked></Coordinate>"): "must be true or false",
    ("</Coordinate>", "<prescribed>true</prescribed></Coordinate>"): "prescribed without a <prescribed_function>",
    ("</JointSet>", "</JointSet><ForceSet><objects><ExpressionBasedPointToPointForce name='b'/></objects></ForceSet>"):
        r'class ExpressionBasedPointToPointForce are not read.*drop=\("ExpressionBasedPointToPointForce",\)',
    ("</JointSet>", "</JointSet><ConstraintSet><objects><RollingConstraint name='b'/></objects></ConstraintSet>"):
        "constraints of this class are not read",
}  # fmt: skip


@pytest.mark.parametrize("change", FAULTS)
def test_what_is_refused(change: tuple[str, str]) -> None:
    text = GOOD.replace(*change, 1) if change[0] != "<PinJoint" else GOOD.replace("PinJoint", "PinkJoint")
    assert text != GOOD
    with pytest.raises(od.ModelError, match=FAULTS[change]) as error:
        parse_osim(text, source="leg.osim")
    assert re.match(r"leg\.osim, line \d+: ", str(error.value))


def test_dropped_forces_and_wrong_arguments(tmp_path: Path) -> None:
    extra = "<ForceSet><objects><BushingForce name='b'/></objects></ForceSet>"
    (tmp_path / "leg.osim").write_text(made.one_joint("PinJoint", extra))
    assert od.load(tmp_path / "leg.osim", drop="BushingForce").nv == 2
    with pytest.raises(ValueError, match="up must be"):
        od.load_osim(tmp_path / "leg.osim", up="x")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="keep_locked must be True or False"):
        od.load_osim(tmp_path / "leg.osim", keep_locked=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="drop must be a tuple"):
        od.load_osim(tmp_path / "leg.osim", drop=(3,))  # type: ignore[arg-type]


def test_bodies_without_mass_and_inertias_that_no_body_has() -> None:
    none = parse_osim(GOOD.replace("<mass>2.0</mass>", "<mass>0</mass>", 1))
    assert float(none.I[1].m) == 0
    assert not np.any(none.I[1].I.full())
    odd = parse_osim(GOOD.replace("0.3 0.4 0.5 0.01 0.02 0.03", "0.3 0.4 5 0.01 0.02 0.03", 1))
    close(DM(odd.I[1].central()[1]), DM([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 5]]))


def test_reports_list_every_fault_and_note(tmp_path: Path) -> None:
    text = made.one_joint("PinJoint", EXTRAS).replace("<mass>2.0</mass>", "<mass>two</mass>", 1)
    (tmp_path / "leg.osim").write_text(text.replace("<location>1 2 3", "<location>1 2"))
    found = [fault for fault in od.io.file_faults(tmp_path / "leg.osim") if fault.severe]
    assert [bool(re.search("'two' is not a number|has 2 numbers", fault.text)) for fault in found] == [True] * 2
    assert all(fault.line for fault in found)
    whole = made.one_joint("PinJoint", EXTRAS).replace("</inertia></Body>", f"</inertia>{WRAP}</Body>", 1)
    control = '<ControllerSet><objects><PrescribedController name="p"/></objects></ControllerSet>'
    (tmp_path / "leg.osim").write_text(whole.replace("</JointSet>", f"</JointSet>{control}"))
    notes = od.io.file_faults(tmp_path / "leg.osim")
    assert not any(note.severe for note in notes)
    assert [note.text.partition(" ")[0] for note in notes] == ["the", "<PrescribedController", "1"]
    (tmp_path / "other.osim").write_text("<Model>")
    assert "not well-formed" in od.io.file_faults(tmp_path / "other.osim")[0].text


@pytest.mark.slow
def test_the_command_takes_every_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ocp_dyn.cli.main import main

    text = made.one_joint("CustomJoint", EXTRAS).replace("</inertia></Body>", f"</inertia>{WRAP}</Body>", 1)
    (tmp_path / "leg.osim").write_text(text)
    assert main(["info", str(tmp_path / "leg.osim")]) == 0
    out = capsys.readouterr().out
    assert "notes\n  the ground of the file has y up" in out
    assert "FunctionJoint" in out
    assert "2 markers\n  toe, lab" in out
    assert "2 constraints\n  coupler, rod" in out
    assert main(["convert", str(tmp_path / "leg.osim"), "--out", str(tmp_path / "leg.json")]) == 0
    assert od.load(tmp_path / "leg.json") == od.load(tmp_path / "leg.osim")
    assert main(["check", str(tmp_path / "leg.osim")]) == 0
    assert main(["info", str(tmp_path / "leg.osim"), "--root", "floating"]) == 2


CONTACT = """<ForceSet><objects><SmoothSphereHalfSpaceForce name="heel_force"><socket_sphere>/contactgeometryset/heel
</socket_sphere><socket_half_space>floor</socket_half_space><stiffness>1e6</stiffness><dissipation>1.5</dissipation>
</SmoothSphereHalfSpaceForce></objects></ForceSet><ContactGeometrySet><objects>
<ContactSphere name="heel"><socket_frame>/jointset/tested/inner</socket_frame><location>0.1 0 0</location>
<radius>0.04</radius></ContactSphere><ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame>
<orientation>0 0 -1.5707963267948966</orientation></ContactHalfSpace></objects></ContactGeometrySet>"""


def test_spheres_on_the_ground(tmp_path: Path) -> None:
    file = tmp_path / "leg.osim"
    file.write_text(made.one_joint("PinJoint", CONTACT))
    (ball,) = od.io.osim_spheres(file)
    _, (t1, r1) = made.OFFSETS
    close(DM(ball.center), xyz(r1) @ [0.1, 0, 0] + np.array(t1))
    assert (ball.frame, ball.radius, ball.stiffness, ball.dissipation) == ("tip", 0.04, 1e6, 1.5)
    assert (ball.transition_velocity, ball.static_friction) == (0.01, 0.0)
    assert od.load(file).nv == 2
    for old, new, message in (
        ("<orientation>0 0 -1.57", "<orientation>0 0 -1.47", "only the half space below the ground"),
        ("<socket_half_space>floor", "<socket_half_space>heel", "its half_space 'heel' is no ContactHalfSpace"),
        ("<radius>0.04", "<radius>-1", "radius"),
    ):
        file.write_text(made.one_joint("PinJoint", CONTACT).replace(old, new))
        with pytest.raises(od.ModelError, match=message):
            od.io.osim_spheres(file)
