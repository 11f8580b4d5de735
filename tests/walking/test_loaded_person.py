"""The body of an OpenSim model walks as a person: a small subject by our own text, planar or in space."""

from __future__ import annotations

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.cli import main

GRID = (1, 1, 3, 3)

BONES = {"femur": (8.0, 0.13, 0.42), "tibia": (3.6, 0.05, 0.41), "calcn": (1.3, 0.005, 0.0)}
"""Mass [kg], inertia about two axes [kg m^2] and length [m]."""


def _axes(coordinates: list[str], names: tuple[str, ...]) -> str:
    """A SpatialTransform: turns about z, x, y and moves along x, y, z by these coordinates; empty names are zero."""
    found = ""
    kinds = [*(f"rotation{k}" for k in (1, 2, 3)), *(f"translation{k}" for k in (1, 2, 3))]
    for kind, axis, name in zip(kinds, ("0 0 1", "1 0 0", "0 1 0", "1 0 0", "0 1 0", "0 0 1"), names, strict=True):
        rule = '<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>'
        rule = rule if name in coordinates else '<Constant name="function"><value>0</value></Constant>'
        shown = f"<coordinates>{name}</coordinates>" if name in coordinates else "<coordinates/>"
        found += f'<TransformAxis name="{kind}">{shown}<axis>{axis}</axis>{rule}</TransformAxis>'
    return f"<SpatialTransform>{found}</SpatialTransform>"


def subject(planar: bool = True, markers: bool = True) -> str:
    """A pelvis on a CustomJoint of three or six coordinates, a trunk, and two legs whose left is a little heavier; in
    space the hips have three axes and the knees move patellae."""
    bodies, joints, points = [], [], []

    def add(kind: str, name: str, parent: str, child: str, at: str, coordinates: list[str], rule: str = "") -> None:
        frame = f"<socket_parent>{parent}</socket_parent><translation>{at}</translation>"
        named = "".join(f'<Coordinate name="{one}"/>' for one in coordinates)
        joints.append(
            f'<{kind} name="{name}"><socket_parent_frame>at</socket_parent_frame><socket_child_frame>/bodyset/{child}'
            f"</socket_child_frame><coordinates>{named}</coordinates><frames>"
            f'<PhysicalOffsetFrame name="at">{frame}</PhysicalOffsetFrame></frames>{rule}</{kind}>'
        )

    def body(name: str, mass: float, inertia: float, y: float) -> None:
        bodies.append(
            f'<Body name="{name}"><mass>{mass}</mass><mass_center>0 {y} 0</mass_center>'
            f"<inertia>{inertia} {inertia / 4} {inertia} 0 0 0</inertia></Body>"
        )

    root = ("tilt", "list", "turn", "tx", "ty", "tz")
    free = ["tilt", "tx", "ty"] if planar else list(root)
    body("pelvis", 12.0, 0.08, 0.0)
    body("torso", 32.0, 1.4, 0.3)
    add("CustomJoint", "ground_pelvis", "/ground", "pelvis", "0 0 0", free, _axes(free, root))
    add("PinJoint", "back", "/bodyset/pelvis", "torso", "-0.05 0.1 0", ["lumbar_extension"])
    for side, z in (("r", 0.08), ("l", -0.08)):
        parent, at = "pelvis", f"0 -0.05 {z}"
        for kind, bone in (("hip", "femur"), ("knee", "tibia"), ("ankle", "calcn")):
            mass, inertia, length = BONES[bone]
            body(f"{bone}_{side}", mass * (1.01 if side == "l" else 1.0), inertia, -0.4 * length)
            names = [f"{kind}_angle_{side}"]
            spatial = kind == "hip" and not planar
            names += [f"hip_adduction_{side}", f"hip_rotation_{side}"] if spatial else []
            rule = _axes(names, (*names, "", "", "")) if spatial else ""
            add("CustomJoint" if spatial else "PinJoint", f"{kind}_{side}", f"/bodyset/{parent}", f"{bone}_{side}", at,
                names, rule)  # fmt: skip
            parent, at = f"{bone}_{side}", f"0 {-length} 0"
        for name, place in (("Heel", "-0.06 -0.06 0"), ("Toe", "0.2 -0.05 0"), ("Instep", "0.05 0 0.02")):
            frame = f"<socket_parent_frame>/bodyset/calcn_{side}</socket_parent_frame>"
            points.append(f'<Marker name="{side}.{name}">{frame}<location>{place}</location></Marker>')
    couplers = ""
    for side in "" if planar else "rl":
        body(f"patella_{side}", 0.1, 1e-4, 0.0)
        thigh = f"/bodyset/femur_{side}"
        add("PinJoint", f"patellofemoral_{side}", thigh, f"patella_{side}", "0.04 -0.4 0", [f"beta_{side}"])
        couplers += (
            f'<CoordinateCouplerConstraint name="follow_{side}"><coupled_coordinates_function>'
            '<LinearFunction name="f"><coefficients>0.7 0</coefficients></LinearFunction>'
            f"</coupled_coordinates_function><independent_coordinate_names>knee_angle_{side}"
            f"</independent_coordinate_names><dependent_coordinate_name>beta_{side}</dependent_coordinate_name>"
            "</CoordinateCouplerConstraint>"
        )
    couplers = f"<ConstraintSet><objects>{couplers}</objects></ConstraintSet>"
    sets = f"<BodySet><objects>{''.join(bodies)}</objects></BodySet><JointSet><objects>{''.join(joints)}"
    sets += f"</objects></JointSet>{couplers}"
    sets += f"<MarkerSet><objects>{''.join(points)}</objects></MarkerSet>" if markers else ""
    return f'<OpenSimDocument Version="40000"><Model name="subject">{sets}</Model></OpenSimDocument>'


@pytest.fixture
def load(tmp_path):
    """The model of a text."""

    def model(text: str) -> od.Model:
        (tmp_path / "subject.osim").write_text(text)
        return od.load(tmp_path / "subject.osim")

    return model


def test_a_new_root_moves_the_same_body(load, rng):
    """Poses, kinetic and potential energy are those of the old root in the same pose, at rest."""
    old = load(subject(planar=False))
    new = old.with_root(od.FloatingBase())
    assert (new.body_names, new.joint_names) == (old.body_names, ("root", *old.joint_names[1:]))
    q = rng.uniform(-0.4, 0.4, old.nq)
    R, p = od.pose(old, "pelvis", q)
    x, y, z, w = _quaternion(R)
    moved = np.array([*p.full().ravel(), x, y, z, w, *q[6:]])
    rates = rng.normal(size=old.nv - 6)
    at_rest = np.concatenate([np.zeros(6), rates])
    for frame in ("torso", "calcn_l", "patella_r"):
        for one, other in zip(od.pose(new, frame, moved), od.pose(old, frame, q), strict=True):
            assert one.full() == pytest.approx(other.full(), abs=1e-12)
    assert float(od.kinetic_energy(new, moved, at_rest)) == pytest.approx(float(od.kinetic_energy(old, q, at_rest)))
    assert float(od.potential_energy(new, moved)) == pytest.approx(float(od.potential_energy(old, q)))
    assert new.constraints == old.constraints
    assert new.markers == old.markers
    assert np.isinf(new.dofs.tau_max[:6]).all()
    assert new.dofs.q_upper[7:] == pytest.approx(old.dofs.q_upper[6:])
    assert new.with_root(od.Planar()).joint_names[0] == "root"


def _quaternion(R: DM) -> np.ndarray:
    return np.ravel(od.matrix_quaternion(R.full()))


def test_roots_that_cannot_be_exchanged(load):
    model = load(subject())
    with pytest.raises(TypeError, match="needs a joint that moves"):
        model.with_root("floating")
    with pytest.raises(od.ModelError, match="a joint 'hip_r' already"):
        model.with_root(od.FloatingBase(name="hip_r"))
    two = od.ModelBuilder()
    for name in "ab":
        two.add_body(name, od.Revolute("y"), mass=1, com=(0, 0, 1), inertia=(1, 1, 1))
    with pytest.raises(od.ModelError, match="2 bodies of model"):
        two.build().with_root(od.FloatingBase())


@pytest.mark.slow
def test_a_subject_in_space(load):
    """Root, feet, couplings, strengths and the symmetric twin of a body whose left leg is heavier."""
    model = load(subject(planar=False))
    walker = od.walking.loaded_person(model)
    found = walker.model
    assert found.floating_joints == ("root",)
    assert float(found.mass) == pytest.approx(float(model.mass))
    assert walker.passive == ("patellofemoral_r", "patellofemoral_l")
    assert len(walker.loops) == 2
    assert walker.size.leg_length == pytest.approx(0.42 + 0.41 + 0.06)
    assert (walker.size.heel, walker.size.toe) == pytest.approx((0.06, 0.2))
    q = found.neutral()
    R, heel = od.pose(found, "heel_l", q)
    assert R.full() == pytest.approx(np.eye(3))
    assert heel.full().ravel() == pytest.approx([-0.06, 0.08, -0.94])
    assert od.pose(found, "shank_r", q)[1].full().ravel() == pytest.approx([0, -0.08, -0.47])
    effort = dict(zip(found.qd_names, found.dofs.effort.tolist(), strict=True))
    assert effort["ankle_angle_r"][0] == pytest.approx(-2.8 * found.mass)  # it turns about z, to the right
    assert effort["knee_angle_r"][1] > effort["ankle_angle_r"][1] > 0
    assert effort["beta_r"] == [0.0, 0.0]
    flexion = dict(zip(found.q_names, zip(found.dofs.q_lower, found.dofs.q_upper, strict=True), strict=True))
    assert flexion["hip_angle_l"] == pytest.approx((-np.radians(30), np.radians(120)))
    assert walker.mirrored
    stiff = od.walking.loaded_person(model, locked={"knee_r": -0.2})
    assert not stiff.mirrored
    assert stiff.model.nv == found.nv - 1
    assert len(stiff.loops) == 2  # its patella holds still at 0.7 times that angle


@pytest.mark.slow
def test_a_subject_walks(load):
    """The walk of a coarse grid has steps of a person, and its patellae follow the knees."""
    walker = od.walking.loaded_person(load(subject(planar=False)))
    walk = od.walking.human_walk(walker, 1.2, intervals=GRID).solve(progress=False)
    assert walk.converged
    assert walk.step_length / walk.duration == pytest.approx(1.2)
    assert 0.4 < walk.step_length < 0.95
    assert float(walk.q[:, 2].min()) > 0.75  # [m] it does not crouch
    knee, patella = (walk.q[:, walk.model.q_names.index(name)] for name in ("knee_angle_l", "beta_l"))
    assert patella == pytest.approx(0.7 * knee, abs=1e-6)
    assert np.ptp(knee) > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mass", "80"], "--mass: the body of"),
        (["--load", "8"], "--load: the body of"),
        (["--feet", "calcn_l"], "feet must be two names"),
        (["--lock", "knee"], "no joint"),
        (["--sole", "0.1", "0.05"], "--sole is an option of a robot on two feet; here walks a human"),
    ],
)
@pytest.mark.slow
def test_the_command_takes_the_file(load, tmp_path, capsys, options, message):
    load(subject(planar=False))
    file = str(tmp_path / "subject.osim")
    try:
        code = main(["walk", file, "--out", str(tmp_path / "walk"), *options])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "walk").exists()


@pytest.mark.slow
def test_a_planar_body_walks_by_torques(load):
    """A coarse grid: in the plane, on three rows of a flat foot and two of an edge; the report's angles are those of
    the plane, though the trunk's own axes are not forward, left and up."""
    walker = od.walking.loaded_person(load(subject()))
    assert walker.planar
    problem = od.walking.human_walk(walker, 1.2, intervals=GRID)
    assert [len(contact.rows) for contact in (held.contact for held in problem.phases[1].footholds)] == [3, 2]
    assert not problem.check()
    walk = problem.solve(progress=False)
    assert walk.converged
    numbers = walk.gait().numbers()
    assert 0.4 < walk.step_length < 0.95
    assert 30.0 < walk.gait()["knee flexion"].max() < 90.0
    for still in ("pelvis_obliquity_range_deg", "pelvis_rotation_range_deg", "trunk_lean_range_deg"):
        assert numbers[still] == pytest.approx(0.0, abs=1e-9)
    wrench = walk.phases[2].wrenches["heel_r"]
    assert wrench[:, [0, 2, 4]] == pytest.approx(0.0)  # nothing out of the plane
    assert (np.abs(wrench[:, 1]) < wrench[:, 5] * problem.phases[2].footholds[0].half_length).all()
    with pytest.raises(ValueError, match="step_width: 'subject' moves in a plane"):
        od.walking.human_walk(walker, step_width=0.1)


def test_the_command_chooses_torques_or_muscles(load, tmp_path, capsys):
    load(subject())
    assert main(["walk", str(tmp_path / "subject.osim"), "--weaken", "soleus_r=0.4"]) == 2
    assert "here walks a human" in capsys.readouterr().err


@pytest.mark.slow
def test_what_does_not_walk_is_told(load, tmp_path):
    with pytest.raises(od.ModelError, match=r"root 'ground_pelvis' has the 3 coordinates tilt, tx, ty, which is"):
        od.walking.loaded_person(od.load(load(subject()) and tmp_path / "subject.osim", up="y"))
    person, model = od.walking.loaded_person, load(subject(planar=False))
    with pytest.raises(KeyError, match="calcn_r"):
        person(model, feet=("calcn_l", "calc_r"))
    with pytest.raises(ValueError, match="feet must be named left first"):
        person(model, feet=("calcn_r", "calcn_l"))
    with pytest.raises(ValueError, match="the joint between world and body"):
        person(model, locked="root")
    with pytest.raises(ValueError, match="feet must be two names"):
        person(model, feet=("calcn_l",))
    with pytest.raises(od.ModelError, match="hangs on 1 joints, and a leg"):
        person(model, feet=("femur_l", "femur_r"))
    with pytest.raises(od.ModelError, match="span 0 m from heel to toes"):
        person(load(subject(planar=False, markers=False)))
    with pytest.raises(ValueError, match="height, which follows from the length"):
        person(model.scale(length=3.0))
    with pytest.raises(TypeError, match="needs a Model"):
        person("subject.osim")
    with pytest.raises(od.ModelError, match="no root that floats"):
        person(od.models.pendulum())
    with pytest.raises(od.ModelError, match="no frames of a left and a right foot"):
        person(load(subject(planar=False).replace("calcn", "hoof")))


@pytest.mark.slow
def test_axes_of_inversion_that_a_file_locks_stay_free(tmp_path):
    text = subject(planar=False).replace('name="ankle_r"', 'name="subtalar_r"')
    for name in ("ankle_angle_r", "lumbar_extension"):
        text = text.replace(
            f'<Coordinate name="{name}"/>', f'<Coordinate name="{name}"><locked>true</locked></Coordinate>'
        )
    path = tmp_path / "subject.osim"
    path.write_text(text)
    names = od.walking.load_subject(path).q_names
    assert "ankle_angle_r" in names
    assert "lumbar_extension" not in names
    assert {*od.load(path).q_names} == {*names} - {"ankle_angle_r"}
    path.write_text(subject())
    assert od.walking.load_subject(path) == od.load(path)


@pytest.mark.parametrize(
    ("turn", "planar", "freed"), [("1 0.2 0", 0, True), ("0 0 0.3", 0, False), ("1 0.2 0", 1, False)]
)
@pytest.mark.slow
def test_axes_of_inversion_that_a_file_welds_are_free(tmp_path, turn, planar, freed):
    """Not in frames that turn as the ankle does, nor of a body in a plane."""
    text, path = subject(planar=bool(planar)), tmp_path / "subject.osim"
    mass = "<mass>0.1</mass><mass_center>0 0 0</mass_center><inertia>0.001 0.001 0.001 0 0 0</inertia>"
    frames = [
        f'<PhysicalOffsetFrame name="{name}"><socket_parent>/bodyset/{body}</socket_parent>'
        f"<translation>0 0 0</translation><orientation>{turn}</orientation></PhysicalOffsetFrame>"
        for name, body in (("a", "calcn_r"), ("b", "sole"))
    ]
    weld = (
        '<WeldJoint name="subtalar_r"><socket_parent_frame>a</socket_parent_frame><socket_child_frame>b'
        f"</socket_child_frame><frames>{''.join(frames)}</frames></WeldJoint>"
    )
    text = text.replace("<BodySet><objects>", f'<BodySet><objects><Body name="sole">{mass}</Body>')
    path.write_text(text.replace("<JointSet><objects>", f"<JointSet><objects>{weld}"))
    plain, found = od.load(path), od.walking.load_subject(path)
    assert found.mass == pytest.approx(plain.mass)
    assert [name for name in found.joint_names if name not in plain.joint_names] == ["subtalar_r"] * freed
    assert freed or found == plain
