"""URDF loading: what a file says, what it leaves out, every error, and Pinocchio on real robots."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.dynamics.kinematics import body_transforms
from ocp_dyn.dynamics.rnea_crba_aba import gravity_force, mass_matrix
from ocp_dyn.io import load_urdf, parse_urdf
from ocp_dyn.spatial_algebra.rotations import rpy_matrix

BOX = '<inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.003" izz="0.04"/>'
INERTIAL = f'<inertial><origin xyz="0.1 0 0"/><mass value="1.5"/>{BOX}</inertial>'


def link(name: str, inside: str = "") -> str:
    return f'<link name="{name}">{inside}</link>\n'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = '<axis xyz="0 1 0"/>') -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>\n'


def robot(*parts: str) -> str:
    return '<robot name="test">\n' + "".join(parts) + "</robot>"


def one_joint(kind: str = "revolute", inside: str = "", inertial: str = INERTIAL) -> str:
    return robot(link("a"), link("b", inertial), joint("j", "a", "b", kind, inside))


def frame_pose(model: od.Model, name: str, q: object) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and origin of a frame in the world."""
    frame = model.frame(name)
    X = frame.X @ body_transforms(model, DM(q))[frame.body]
    return X.E.T.full(), X.r.full().ravel()


def com_inertia(body: od.Inertia) -> tuple[float, np.ndarray, np.ndarray]:
    m, h = float(body.m), body.h.full().ravel()
    c = h / m
    return m, c, body.I.full() - m * (c @ c * np.eye(3) - np.outer(c, c))


# What a file says


def test_tree_in_depth_first_file_order():
    text = robot(
        joint("j_c", "a", "c"), joint("j_e", "c", "e"), joint("j_b", "a", "b"), joint("j_d", "c", "d"),
        *(link(name) for name in "edcba"),
    )  # fmt: skip
    model = parse_urdf(text)
    assert model.name == "test"
    assert model.joint_names == ("j_c", "j_e", "j_d", "j_b")
    assert model.body_names == ("c", "e", "d", "b")
    assert model.parent == (-1, 0, 1, 1, 0)
    assert model.frame("a").body == 0


def test_rotated_inertial_origin_on_a_link_and_on_the_root():
    rpy, xyz = (0.3, -0.7, 1.1), (0.1, 0.2, -0.3)
    origin = f'<origin rpy="{" ".join(map(str, rpy))}" xyz="{" ".join(map(str, xyz))}"/>'
    inertial = f'<inertial>{origin}<mass value="2"/>{BOX}</inertial>'
    model = parse_urdf(robot(link("a", inertial), link("b", inertial), joint("j", "a", "b")), od.FloatingBase())
    cr, sr, cp, sp, cy, sy = (f(angle) for angle in rpy for f in (np.cos, np.sin))
    R = (
        np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    )
    expected = R @ np.array([[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.04]]) @ R.T
    for body in model.I[1:]:
        m, c, I = com_inertia(body)
        assert m == 2.0
        np.testing.assert_allclose(c, xyz, atol=1e-15)
        np.testing.assert_allclose(I, expected, atol=1e-15)


def test_joint_origin_places_the_link():
    model = parse_urdf(one_joint(inside='<origin xyz="1 2 3" rpy="0.4 -0.2 0.9"/><axis xyz="0 3 4"/>'))
    R, p = frame_pose(model, "b", [0.0])
    np.testing.assert_allclose(p, [1, 2, 3], atol=1e-15)
    np.testing.assert_allclose(R, rpy_matrix((0.4, -0.2, 0.9)), atol=1e-15)
    assert model.joints[1] == od.Revolute((0, 0.6, 0.8))


@pytest.mark.parametrize(
    ("kind", "joint_class"),
    [
        ("revolute", od.Revolute),
        ("continuous", od.Revolute),
        ("prismatic", od.Prismatic),
        ("floating", od.FloatingBase),
    ],
)
def test_joint_types(kind, joint_class):
    model = parse_urdf(one_joint(kind))
    assert type(model.joints[1]) is joint_class
    assert model.joint_names == ("j",)
    if hasattr(model.joints[1], "axis"):
        assert model.joints[1].axis == (1.0, 0.0, 0.0), "URDF's default axis"


def test_fixed_joints_are_merged_and_stay_frames():
    text = robot(
        link("base", INERTIAL), link("arm", INERTIAL), link("tool", INERTIAL),
        joint("j", "base", "arm"),
        joint("f", "arm", "tool", "fixed", '<origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/><axis xyz="0 0 0"/>'),
    )  # fmt: skip
    model = parse_urdf(text)
    assert model.body_names == ("arm",)
    assert model.frame_names == ("base", "arm", "tool")
    m, c, _ = com_inertia(model.I[1])
    assert m == 3.0
    np.testing.assert_allclose(c, [0.05, 0.05, 0.25], atol=1e-15)
    np.testing.assert_allclose(frame_pose(model, "tool", [0.0])[1], [0, 0, 0.5], atol=1e-15)


@pytest.mark.parametrize("axis", ["1 0 0", "0 1 0", "0 0 1", "0 0 -2", "1 -2 0.5"])
def test_planar_moves_in_the_plane_normal_to_its_axis(axis):
    pose = '<origin xyz="0.1 0.2 0.3" rpy="0.5 -0.4 0.3"/>'
    model = parse_urdf(one_joint("planar", f'{pose}<axis xyz="{axis}"/>'))
    R0, p0 = frame_pose(model, "b", np.zeros(3))
    np.testing.assert_allclose(R0, rpy_matrix((0.5, -0.4, 0.3)), atol=1e-15)
    np.testing.assert_allclose(p0, [0.1, 0.2, 0.3], atol=1e-15)
    normal = R0 @ (np.array(axis.split(), dtype=float) / np.linalg.norm(np.array(axis.split(), dtype=float)))
    R, p = frame_pose(model, "b", [0.3, -0.8, 0.7])
    assert abs(normal @ (p - p0)) < 1e-15
    assert abs(np.linalg.norm(p - p0) - np.hypot(0.3, 0.8)) < 1e-15
    turn = R @ R0.T
    np.testing.assert_allclose(turn @ normal, normal, atol=1e-15)
    vee = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
    np.testing.assert_allclose(vee, np.sin(0.7) * normal, atol=1e-15)


def test_decimal_figures_of_quarter_turns():
    """pi/2 of ten or more decimals turns axes into axes; fewer decimals are an angle like any other."""
    for text, exact in (("1.57079632679", True), ("-3.14159265358", True), ("4.71238898038", True),
                        ("0.00000000004", True),
                        ("1.570796327", False), ("1.5708", False), ("0.785398163397", False)):  # fmt: skip
        model = parse_urdf(one_joint(inside=f'<origin rpy="0 {text} 0"/>'))
        E = np.abs(model.X_tree[1].E.full())
        assert np.array_equal(E, E.round()) is exact
        turned = rpy_matrix((0, float(text), 0)).T
        np.testing.assert_allclose(model.X_tree[1].E.full(), turned, rtol=0, atol=6e-11 if exact else 1e-15)


@pytest.mark.parametrize(("axis", "moves"), [("1 0 0", (1, 2)), ("0 1 0", (2, 0)), ("0 0 1", (0, 1))])
def test_planar_coordinates_follow_the_axis(axis, moves):
    model = parse_urdf(one_joint("planar", f'<axis xyz="{axis}"/>'))
    assert model.body_names == (("b",) if axis == "0 0 1" else ("b_plane",))
    expected = np.zeros(3)
    expected[list(moves)] = 0.3, -0.8
    np.testing.assert_allclose(frame_pose(model, "b", [0.3, -0.8, 0.0])[1], expected, atol=1e-15)


def test_planar_keeps_mass_and_children_for_every_axis():
    def energy_matrix(axis: str, q: list[float]) -> np.ndarray:
        text = robot(
            link("a"), link("b", INERTIAL), link("c", INERTIAL),
            joint("p", "a", "b", "planar", f'<axis xyz="{axis}"/>'),
            joint("j", "b", "c", inside='<origin xyz="0 0.4 0.2"/><axis xyz="0 0 1"/>'),
        )  # fmt: skip
        return mass_matrix(parse_urdf(text), DM(q)).full()

    # the z axis needs no turned frame, -z does: the same motion, y and theta reversed
    flip = np.diag([1.0, -1.0, -1.0, 1.0])
    H = energy_matrix("0 0 1", [0.3, -0.8, 0.7, 0.2])
    np.testing.assert_allclose(flip @ energy_matrix("0 0 -1", [0.3, 0.8, -0.7, 0.2]) @ flip, H, atol=1e-14)


def test_limits_and_dynamics_are_kept():
    limit = '<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5" friction="0.25"/>'
    dofs = parse_urdf(one_joint("prismatic", limit)).dofs
    assert [float(x[0]) for x in vars(dofs).values()][:6] == [-1, 2, 3, 4, 0.5, 0.25]


@pytest.mark.parametrize("kind", ["floating", "planar"])
def test_limits_of_mixed_units_are_not_kept(kind):
    limit = '<limit lower="-1" upper="2" velocity="3" effort="4"/><dynamics damping="0.5"/>'
    dofs = parse_urdf(one_joint(kind, limit)).dofs
    assert np.isinf(np.concatenate([dofs.q_lower, dofs.q_upper, dofs.qd_max, dofs.tau_max])).all()
    assert not dofs.damping.any()


@pytest.mark.parametrize(
    ("kind", "limit", "lower", "upper"),
    [
        ("revolute", "", -np.inf, np.inf),
        ("revolute", '<limit effort="1" velocity="1"/>', -np.inf, np.inf),
        ("revolute", '<limit lower="-0.5"/>', -0.5, 0.0),
        ("revolute", '<limit upper="0.5"/>', 0.0, 0.5),
        ("revolute", '<limit lower="-inf" upper="Infinity"/>', -np.inf, np.inf),
        ("continuous", '<limit lower="-1" upper="1" effort="1" velocity="1"/>', -np.inf, np.inf),
    ],
)
def test_limits_that_are_left_out(kind, limit, lower, upper):
    dofs = parse_urdf(one_joint(kind, limit)).dofs
    assert (dofs.q_lower[0], dofs.q_upper[0]) == (lower, upper)
    assert dofs.qd_max[0] == (1 if "velocity" in limit else np.inf)
    assert dofs.damping[0] == dofs.friction[0] == 0


def test_what_may_be_left_out():
    model = parse_urdf('<robot><link name="a"/><link name="b"><inertial><mass value="2"/></inertial></link>'
                       + joint("j", "a", "b") + "</robot>", source="arm.urdf")  # fmt: skip
    assert model.name == "arm"
    m, c, I = com_inertia(model.I[1])
    assert (m, c.tolist(), I.any()) == (2.0, [0, 0, 0], False)


@pytest.mark.slow
def test_roots():
    text = one_joint()
    fixed, floating = parse_urdf(text), parse_urdf(text, od.FloatingBase())
    planar, named = parse_urdf(text, od.Planar()), parse_urdf(text, od.FloatingBase("euler_zyx", name="base"))
    assert (fixed.nq, fixed.body_names) == (1, ("b",))
    assert (floating.nq, floating.nv, floating.joint_names, floating.body_names) == (8, 7, ("root", "j"), ("a", "b"))
    assert (planar.nq, planar.joint_names) == (4, ("root", "j"))
    assert (named.nq, named.joint_names) == (7, ("base", "j"))
    assert parse_urdf(text, od.Fixed()).nq == 1
    assert parse_urdf(text, gravity=(0, 0, -1.62)).gravity == (0, 0, -1.62)


def legged(limbs: int, dofs: int, root: str = "pelvis") -> str:
    """A root link that carries so many limbs of so many joints."""
    parts = [link(root, INERTIAL)]
    for limb in range(limbs):
        names = [root, *(f"link_{limb}_{k}" for k in range(dofs))]
        for parent, child in pairwise(names):
            parts += [link(child, INERTIAL), joint(f"j_{child}", parent, child)]
    return robot(*parts)


@pytest.mark.slow
def test_a_robot_on_legs_that_is_bolted_to_the_ground_is_told(tmp_path):
    """A warning at the caller's line and a line of the table; none if a root is given, for arms, or for "world"."""
    path = tmp_path / "walker.urdf"
    path.write_text(legged(3, 3))
    for load, place in (
        (lambda **o: parse_urdf(legged(3, 3), **o), "URDF text"),
        (lambda **o: load_urdf(path, **o), "walker"),
    ):
        with pytest.warns(
            od.ModelWarning, match=rf"{place}.*: the root link 'pelvis', on which 3 limbs .* root=Fixed\(\)"
        ) as told:
            model = load()
        assert [Path(warning.filename).name for warning in told] == ["test_urdf.py"]
        assert "\nfixed to the ground: pelvis" in str(model)
        assert "fixed to the ground: pelvis" in str(load(root=od.Fixed()))
        assert "fixed to the ground" not in str(load(root=od.FloatingBase()))
    for arms in (legged(2, 7), legged(5, 2), legged(1, 20), legged(4, 3, "world")):
        parse_urdf(arms)


def test_root_link_called_world():
    text = robot(link("world"), link("arm", INERTIAL), joint("j", "world", "arm"))
    model = parse_urdf(text)
    assert model.frame("world").body == 0
    assert model.frame_names == ("world", "arm")
    assert parse_urdf(text, od.FloatingBase()).body_names == ("world", "arm")
    with pytest.raises(od.ModelError, match=r"line 3: link 'world': only a root link may have this name.*rename"):
        parse_urdf(robot(link("a"), link("world"), joint("j", "a", "world")))


def test_extensions_are_noted_and_nothing_is_printed(capfd, tmp_path):
    text = robot(
        "<!-- comment --><?note x?>",
        '<material name="m"/><gazebo reference="b"><joint name="x" type="weird"/></gazebo>',
        '<transmission name="t"><joint name="j"/><actuator name="j"/></transmission>',
        link("a", '<visual><geometry><mesh filename="package://none/a.stl"/></geometry></visual><sensor/>'),
        link("b", INERTIAL + "<self_collide>true</self_collide>"),
        joint("j", "a", "b", inside='<limit effort="1" jerk="2"/><safety_controller k_velocity="1"/><calibration/>'),
    )
    assert parse_urdf(text).nb == 1
    left = "left out: 1 gazebo, 1 transmission, 1 sensor, 1 self_collide, 1 safety_controller, 1 calibration"
    assert parse_urdf(text).notes == (left,)
    assert parse_urdf(one_joint()).notes == ()
    (tmp_path / "robot.urdf").write_text(text)
    assert left in [fault.text for fault in od.io.file_faults(tmp_path / "robot.urdf") if not fault.severe]
    assert capfd.readouterr() == ("", "")


def test_encodings():
    text = one_joint().replace('name="b"', 'name="bras_é"').replace('link="b"', 'link="bras_é"')
    assert parse_urdf("\ufeff" + text).body_names == ("bras_é",)
    assert parse_urdf("<?xml version='1.0' encoding='utf-8'?>" + text).body_names == ("bras_é",)
    assert parse_urdf(("<?xml version='1.0' encoding='latin-1'?>" + text).encode("latin-1")).body_names == ("bras_é",)
    assert parse_urdf(text.encode("utf-16")).body_names == ("bras_é",)


def test_load_urdf_reads_one_file(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(one_joint())
    assert load_urdf(path).joint_names == load_urdf(str(path)).joint_names == ("j",)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.urdf"):
        load_urdf(tmp_path / "nowhere.urdf")
    with pytest.raises(od.ModelError, match="use parse_urdf"):
        load_urdf(one_joint())
    path.write_text("")
    with pytest.raises(od.ModelError, match=r"arm\.urdf is empty"):
        load_urdf(path)


@pytest.mark.slow
def test_a_long_chain_is_read():
    n = 500
    joints = (joint(f"j{i}", f"l{i - 1}", f"l{i}") for i in range(1, n))
    text = robot(*(link(f"l{i}", INERTIAL) for i in range(n)), *joints)
    model = parse_urdf(text)
    assert model.nb == n - 1
    assert model.parent[-1] == n - 2


def test_mimic_is_refused_or_freed():
    text = robot(
        link("a"), link("b"), link("c"), joint("j", "a", "b"),
        joint("k", "a", "c", inside='<mimic joint="j" multiplier="-1"/>'),
    )  # fmt: skip
    with pytest.raises(od.ModelError, match=r"line 6: joint 'k' mimics joint 'j'.*mimic=\"free\""):
        parse_urdf(text)
    assert parse_urdf(text, mimic="free").joint_names == ("j", "k")
    fixed = text.replace('name="k" type="revolute"', 'name="k" type="fixed"')
    assert parse_urdf(fixed).joint_names == ("j",)


def inertial(ixx: float, iyy: float, izz: float, mass: str = "1") -> str:
    return (
        f'<inertial><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>'
    )


def test_inertia_is_judged_by_the_moving_body():
    def fixed_to_trunk(izz: float) -> str:
        return robot(
            link("a"), link("trunk", inertial(1, 1, 1)), link("dummy", inertial(0, 0, izz, "1e-6")),
            joint("j", "a", "trunk"), joint("f", "trunk", "dummy", "fixed", ""),
        )  # fmt: skip

    assert parse_urdf(fixed_to_trunk(9e-4)).nb == 1
    with pytest.raises(od.ModelError, match=r"line 4: link 'dummy': no body has .* 0, 0, 0\.002 .*inertia=\"keep\""):
        parse_urdf(fixed_to_trunk(2e-3))
    assert parse_urdf(fixed_to_trunk(2e-3), inertia="keep").nb == 1


def test_an_impossible_inertia_fixed_to_the_ground_is_refused():
    text = robot(link("a", inertial(1, 1, 3)), link("b", inertial(1, 1, 1)), joint("j", "a", "b"))
    with pytest.raises(od.ModelError, match=r"line 2: link 'a': no body has"):
        parse_urdf(text)
    assert parse_urdf(text.replace('izz="3"', 'izz="2.0005"')).nb == 1
    small = robot(link("a", inertial(0, 0, 1e-6)), link("b", inertial(1, 1, 1)), joint("j", "a", "b"))
    assert parse_urdf(small).nb == 1, "a dummy, small beside what moves"


# Errors

TWO = link("a") + link("b")
J = joint("j", "a", "b")
LAUGHS = "".join(f"<!ENTITY {y} '{f'&{x};' * 10}'>" for x, y in zip("abcdefghi", "bcdefghij", strict=True))
ERRORS = {
    "empty": ("", r"^robot\.urdf is empty"),
    "white space": (b" \n\t ", "is empty"),
    "not XML": ("solver: ipopt", "line 1: not well-formed XML"),
    "a PNG": (b"\x89PNG\r\n\x1a\n\x00\x00", "not well-formed XML"),
    "cut off": (robot(TWO, J)[:-20], r"robot\.urdf, line 4: not well-formed XML"),
    "mismatched tag": ("<robot name='r'>\n<link name='a'>\n</robot>", r"line 3: not well-formed XML: mismatched tag"),
    "unknown encoding": (b"<?xml version='1.0' encoding='klingon'?><robot/>", "(decoded|encoding)"),
    "lone surrogate": ("<robot name='\udc80'/>", "cannot be decoded.*UTF-8"),
    "other root": ("<sdf version='1.6'/>", r"line 1: the outermost element is <sdf>, expected <robot>.*convert"),
    "DTD": (
        "<!DOCTYPE robot><robot name='r'/>",
        r"line 1: a document type declaration \(<!DOCTYPE robot>\) is refused",
    ),
    "external DTD": ("<!DOCTYPE robot SYSTEM 'http://none/x.dtd'><robot name='r'/>", "document type declaration"),
    "external entity": (
        "<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><robot name='&x;'/>",
        "document type.*delete it",
    ),
    "billion laughs": (f"<!DOCTYPE r [<!ENTITY a 'ha'>{LAUGHS}]><robot name='&j;'/>", "document type declaration"),
    "undefined entity": ("<robot name='&x;'/>", "undefined entity"),
    "xacro element": (
        "<robot xmlns:xacro='http://none'>\n<xacro:property name='m' value='1'/></robot>",
        r"line 2: <xacro:property> is xacro.*expand",
    ),
    "xacro in a visual": (robot(link("a", "<visual><xacro:x/></visual>")), "<xacro:x> is xacro"),
    "xacro value": (
        one_joint(inertial='<inertial><mass value="${m}"/></inertial>'),
        r"link 'b' <inertial> <mass>: value='\$\{m\}'.*xacro",
    ),
    "no link": ("<robot name='r'/>", "no <link>.*at least one"),
    "nothing moves": (robot(link("a")), r"^robot\.urdf: .*no moving body.*floating root"),
    "link without name": (robot("<link/>"), "line 2: a <link> without a name"),
    "joint with empty name": (robot(TWO, joint(" ", "a", "b")), "line 4: a <joint> without a name"),
    "two links": (robot(TWO, link("a"), J), r"line 4: link 'a' is already defined on line 2.*rename"),
    "two joints": (robot(TWO, link("c"), J, joint("j", "a", "c")), r"line 6: joint 'j' is already defined on line 5"),
    "undefined child": (robot(link("a"), J), r"line 3: joint 'j': its child link 'b' is not defined"),
    "undefined parent": (robot(link("b"), J), r"line 3: joint 'j': its parent link 'a' is not defined"),
    "two parents": (
        robot(TWO, link("c"), J, joint("k", "c", "b")),
        r"line 6: joint 'k': link 'b' is already the child of joint 'j'.*constraint",
    ),
    "two roots": (robot(TWO, link("c"), J), r"2 root links \('a', 'c'\), expected one.*'c' is defined on line 4"),
    "no root": (
        robot(TWO, J, joint("k", "b", "a")),
        r"line \d: joint '[jk]': .* cycle .* root: '(a' -> 'b' -> 'a|b' -> 'a' -> 'b)'",
    ),
    "own parent": (robot(link("a"), joint("j", "a", "a")), r"line 3: joint 'j': .*cycle.*'a' -> 'a'"),
    "root and cycle": (
        robot(link("r"), TWO, link("c"), joint("j", "a", "b"), joint("k", "b", "c"), joint("l", "c", "a")),
        r"cycle that hangs on no root: '(\w)' -> '\w' -> '\w' -> '\1'; .*open the loop",
    ),
    "no parent": (
        robot(TWO, '<joint name="j" type="fixed"><child link="b"/></joint>'),
        r"line 4: joint 'j' has no <parent>",
    ),
    "no child": (
        robot(TWO, '<joint name="j" type="fixed">\n<parent link="a"/></joint>'),
        r"line 4: joint 'j' has no <child>",
    ),
    "parent without link": (
        robot(TWO, J.replace('<parent link="a"/>', "<parent/>")),
        r"joint 'j' <parent> has no link=",
    ),
    "no type": (robot(TWO, J.replace(' type="revolute"', "")), r"line 4: joint 'j' has no type="),
    "unknown type": (
        robot(TWO, J.replace("revolute", "hinge")),
        r"joint 'j': unknown type 'hinge', expected .*revolute.*planar",
    ),
    "two inertials": (robot(link("a"), link("b", INERTIAL * 2), J), r"line 3: link 'b': a second <inertial>; keep one"),
    "two origins": (one_joint(inside="<origin/><origin/>"), r"joint 'j': a second <origin>"),
    "zero axis": (one_joint(inside='<axis xyz="0 0 0"/>'), r"line 4: joint 'j': axis must not be zero.*direction"),
    "zero planar axis": (one_joint("planar", '<axis xyz="0 0 0"/>'), r"joint 'j': axis must not be zero"),
    "axis without xyz": (one_joint(inside="<axis/>"), r"joint 'j' <axis> has no xyz="),
    "two values": (
        one_joint(inside='<axis xyz="0 1"/>'),
        r"joint 'j' <axis>: xyz='0 1' has 2 values, expected 3 numbers",
    ),
    "no value": (
        one_joint(inertial='<inertial><mass value=" "/></inertial>'),
        "value=' ' has 0 values, expected one number",
    ),
    "nan": (one_joint(inside='<origin xyz="0 nan 0"/>'), r"joint 'j' <origin>: xyz='0 nan 0'.*got 'nan', expected"),
    "inf": (one_joint(inside='<origin rpy="0 0 inf"/>'), "got 'inf', expected a finite"),
    "overflow": (one_joint(inside='<origin xyz="0 0 1e999"/>'), r"'1e999' is larger than 1e\+50.*correct it"),
    "text": (one_joint(inside='<limit effort="much"/>'), "joint 'j' <limit>: effort='much' is not one number"),
    "nan limit": (one_joint(inside='<limit lower="nan"/>'), "lower='nan'"),
    "decimal comma": (one_joint(inside='<dynamics damping="0,5"/>'), "damping='0,5'"),
    "underscore": (one_joint(inside='<dynamics damping="1_0"/>'), "damping='1_0'"),
    "Arabic digits": (one_joint(inside='<dynamics damping="٣"/>'), "damping='٣'"),
    "misspelt": (one_joint(inside='<origin xzy="1 0 0"/>'), 'unknown xzy="...", expected xyz, rpy; correct'),
    "quaternion": (one_joint(inside='<origin quat_xyzw="0 0 0 1"/>'), "joint 'j' <origin>: unknown quat_xyzw"),
    "no mass": (one_joint(inertial=f"<inertial>{BOX}</inertial>"), r"line 3: link 'b' <inertial> has no <mass>"),
    "mass without value": (
        one_joint(inertial="<inertial><mass/></inertial>"),
        r"link 'b' <inertial> <mass> has no value=",
    ),
    "no product": (
        one_joint(inertial=INERTIAL.replace('iyz="0.003"', "")),
        r"<inertia> has no iyz=.*write 0 for a product",
    ),
    "negative mass": (
        one_joint(inertial=INERTIAL.replace("1.5", "-1.5")),
        r"line 4: joint 'j': body 'b': mass must not be negative, got -1.5 kg",
    ),
    "impossible inertia": (
        one_joint(inertial=inertial(1, 1, 2.1)),
        r"line 3: link 'b': no body has .* 1, 1, 2.1 kg m\^2",
    ),
    "negative moment": (one_joint(inertial=inertial(1, -0.1, 1)), r"link 'b': no body has .* -0.1, 1, 1 kg m\^2"),
    "lower above upper": (
        one_joint(inside='<limit lower="1" upper="-1"/>'),
        r"line 4: joint 'j'.*lower limit 1.0 lies above",
    ),
    "negative damping": (one_joint(inside='<dynamics damping="-1"/>'), "joint 'j'.*damping must not be negative"),
    "negative effort": (one_joint(inside='<limit effort="-1"/>'), "joint 'j': effort limit must not be negative"),
}


@pytest.mark.parametrize("case", ERRORS)
@pytest.mark.slow
def test_errors(case, capfd):
    text, message = ERRORS[case]
    with pytest.raises(od.ModelError, match=message) as caught:
        parse_urdf(text, source="robot.urdf")
    assert str(caught.value).startswith("robot.urdf")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("root", [od.FloatingBase(), od.Planar(), od.FloatingBase(name="j")])
def test_root_joint_clash(root):
    name = getattr(root, "name", "root")
    text = robot(TWO, joint(name, "a", "b", "fixed"))
    with pytest.raises(od.ModelError, match=f"line 4: joint '{name}' has the name of the root joint; .*rename"):
        parse_urdf(text, root)
    with pytest.raises(od.ModelError, match="no moving body"):
        parse_urdf(text)


@pytest.mark.parametrize(
    ("root", "remedy"),
    [
        (True, "od.FloatingBase()"),
        ("floating", "od.FloatingBase()"),
        (od.Planar, "Planar()"),
        (od.FloatingBase, "FloatingBase()"),
    ],
)
def test_a_root_that_is_no_joint_is_told_what_to_write(root, remedy):
    with pytest.raises(TypeError, match=re.escape(f"write root={remedy}")):
        od.parse_urdf('<robot name="r"><link name="a"/></robot>', root=root)


def test_wrong_arguments():
    with pytest.raises(TypeError, match=r"joint such as FloatingBase\(\)"):
        parse_urdf(one_joint(), od.FloatingBase)
    with pytest.raises(ValueError, match="mimic must be"):
        parse_urdf(one_joint(), mimic="yes")
    with pytest.raises(ValueError, match="inertia must be"):
        parse_urdf(one_joint(), inertia="yes")
    with pytest.raises(od.ModelError, match="gravity must be 3 finite numbers"):
        parse_urdf(one_joint(), gravity=(0, 0))
    with pytest.raises(TypeError, match="str or bytes"):
        parse_urdf(Path("robot.urdf"))


def test_deeply_nested_extensions():
    deep = robot(TWO, J, "<gazebo>" + "<a>" * 100_000 + "</a>" * 100_000 + "</gazebo>")
    with pytest.raises(od.ModelError, match="nested more than 200 deep"):
        parse_urdf(deep)


# Real robots


def robot_files() -> list[Path]:
    return sorted(od.robots.folder().rglob("*.urdf")) if od.robots.installed() else []


FILES = robot_files()
needs_robots = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
REFUSED = {
    # what the messages say is true of these files, in the releases this was written for
    "ur3.urdf": "no <link>",
    "quadrotor_base.urdf": "no moving body",
    "iris_simple.urdf": "no moving body",
}
CHOSEN = (
    "talos_reduced", "tiago", "solo12", "panda", "g1_29dof_rev_1_0", "romeo", "icub", "ur5_robot", "pr2", "anymal",
    "talos_full_v2", "tiago_pro",  # these two have rotated inertial frames
)  # fmt: skip
MIMIC_OR_INERTIA = r"mimics joint|no body has principal moments"


@pytest.mark.slow
@needs_robots
@pytest.mark.filterwarnings("ignore:.*is fixed to the ground:ocp_dyn.ModelWarning")
def test_real_robots_load_or_are_refused_for_a_reason(capfd):
    """Those that are refused, and some of the others: tests of the table of robots load the rest."""
    chosen = [file for k, file in enumerate(FILES) if k % 10 == 0 or file.name in REFUSED]
    loaded = 0
    for file in chosen:
        try:
            model = load_urdf(file)
        except od.ModelError as error:
            reason = REFUSED.get(file.name, MIMIC_OR_INERTIA)
            with pytest.raises(od.ModelError, match=reason):
                raise od.ModelError(str(error)) from None
            if file.name == "ur3.urdf":
                continue
            model = load_urdf(file, od.FloatingBase(), mimic="free", inertia="keep")
        else:
            loaded += 1
        assert model.mass > 0
    assert loaded
    assert capfd.readouterr() == ("", "")


@needs_robots
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*is fixed to the ground:ocp_dyn.ModelWarning")
def test_real_robots_against_pinocchio(floating):
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(5)
    compared = 0
    for file in FILES:
        if file.stem not in CHOSEN:
            continue
        root = od.FloatingBase() if floating else None
        model = load_urdf(file, root, mimic="free", inertia="keep")
        args = (str(file), pin.JointModelFreeFlyer(), "root") if floating else (str(file),)
        compare(pin, pin.buildModelFromUrdf(*args), model, rng)
        compared += 1
    assert compared >= len(CHOSEN)


def compare(pin, other, model, rng):
    """Mass, limits, poses of all links, mass matrix and gravity forces at a random q, against Pinocchio.

    `turn` leads from Pinocchio's velocity (order of joints its own; base velocity in body axes) to ours.
    """
    q, theirs, turn = model.random_q(rng), pin.neutral(other), np.zeros((model.nv, other.nv))
    for name in other.names[1:]:
        j, qj, v = other.joints[other.getJointId(name)], q[model.q_slice(name)], model.qd_slice(name).start
        if j.nq == 7:
            theirs[j.idx_q : j.idx_q + 7] = qj
            turn[v : v + 3, j.idx_v : j.idx_v + 3] = pin.Quaternion(qj[6], *qj[3:6]).matrix()
            turn[v + 3 : v + 6, j.idx_v + 3 : j.idx_v + 6] = np.eye(3)
            continue
        theirs[j.idx_q : j.idx_q + j.nq] = qj if j.nq == 1 else (np.cos(qj[0]), np.sin(qj[0]))
        turn[v, j.idx_v] = 1
        assert model.dofs.tau_max[v] == other.effortLimit[j.idx_v]
        assert model.dofs.qd_max[v] == other.velocityLimit[j.idx_v]
        if j.nq == 1:
            ours = model.dofs.q_lower[model.q_slice(name)][0], model.dofs.q_upper[model.q_slice(name)][0]
            assert ours == (other.lowerPositionLimit[j.idx_q], other.upperPositionLimit[j.idx_q])
    data = other.createData()
    assert model.mass == pytest.approx(pin.computeTotalMass(other), rel=1e-12)
    H = np.triu(pin.crba(other, data, theirs))
    H = H + np.triu(H, 1).T
    tau_g = pin.computeGeneralizedGravity(other, data, theirs)
    ours = turn.T @ mass_matrix(model, DM(q)).full() @ turn
    np.testing.assert_allclose(ours, H, rtol=0, atol=1e-10 * np.abs(H).max())
    ours = turn.T @ gravity_force(model, DM(q)).full().ravel()
    np.testing.assert_allclose(ours, tau_g, rtol=0, atol=1e-10 * np.abs(tau_g).max())
    pin.framesForwardKinematics(other, data, theirs)
    X0 = body_transforms(model, DM(q))
    for frame in model.frames.values():
        placement = data.oMf[other.getFrameId(frame.name, pin.FrameType.BODY)]
        X = frame.X @ X0[frame.body]
        np.testing.assert_allclose(X.r.full().ravel(), placement.translation, rtol=0, atol=1e-10)
        np.testing.assert_allclose(X.E.T.full(), placement.rotation, rtol=0, atol=1e-10)
