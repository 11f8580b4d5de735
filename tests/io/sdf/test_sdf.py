"""SDF in small files of the tests' own: beside the same robots by `ModelBuilder` and by URDF, loops, errors."""

import random
import re
import warnings
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od


def sdf(inside: str, version: str = "1.7", name: str = "m") -> str:
    return f'<sdf version="{version}">\n<model name="{name}">\n{inside}\n</model>\n</sdf>'


def link(name: str, pose: str = "", more: str = "") -> str:
    inertia = (
        "<inertial><mass>2</mass><pose>0.1 0.2 0.3 0.3 0.2 0.1</pose><inertia><ixx>0.2</ixx><iyy>0.3</iyy>"
        "<izz>0.4</izz><ixy>0.01</ixy><ixz>0.02</ixz><iyz>-0.03</iyz></inertia></inertial>"
    )
    return f'<link name="{name}">{pose}{inertia}{more}</link>'


def joint(name: str, kind: str, parent: str, child: str, more: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{more}</joint>'


AXIS = "<axis><xyz>1 2 3</xyz>{}</axis>"
LIMITS = AXIS.format(
    "<limit><lower>-1</lower><upper>1e16</upper><effort>5</effort><velocity>-1</velocity></limit><dynamics><damping>0.1"
    "</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness><spring_reference>0.4</spring_reference>"
    "</dynamics>"
)
MACHINE = sdf(
    link("base", "<pose>1 2 3 0.1 0.2 0.3</pose>")
    + link("a", '<pose relative_to="base">0.5 0 0.1 0.3 0 0.2</pose>')
    + link("b", '<pose relative_to="j2">0.1 0.2 0 0 0.5 0</pose>')
    + link("c", "<pose>0 1 0 0 0 1</pose>")
    + link("d", '<pose degrees="true">0 1 2 10 20 30</pose>')
    + link("e", '<pose rotation_format="quat_xyzw">1 0 0 1 2 3 4</pose>')
    + joint("j1", "revolute", "base", "a", "<pose>0.1 0 0.2 0.4 0 0</pose>" + LIMITS)
    + joint("j2", "prismatic", "a", "b", '<pose relative_to="a">0 0.3 0 0 0.2 0</pose>' + AXIS.format(""))
    + joint("j3", "ball", "tool", "c", "<pose>0 0 0.4 0 0 0</pose>")
    + joint("j4", "universal", "c", "d",
            '<axis><xyz expressed_in="base">1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>')
    + joint("j5", "fixed", "d", "e")
    + '<frame name="tool" attached_to="b"><pose>0 0 0.2 0.1 0 0</pose></frame>'
)  # fmt: skip


def pose6(x, y, z, r, p, yaw):
    R = np.eye(4)
    R[:3, :3], R[:3, 3] = od.rpy_matrix((r, p, yaw)), (x, y, z)
    return R


def test_links_are_where_the_file_has_them():
    model = od.io.parse_sdf(MACHINE)
    assert model.joint_names == ("root", "j1", "j2", "j3", "j4")
    base, j2_in_a = pose6(1, 2, 3, 0.1, 0.2, 0.3), pose6(0, 0.3, 0, 0, 0.2, 0)
    a = base @ pose6(0.5, 0, 0.1, 0.3, 0, 0.2)
    b = a @ j2_in_a @ pose6(0.1, 0.2, 0, 0, 0.5, 0)
    turned = np.array(od.quaternion_matrix(ca.DM([1, 2, 3, 4]) / np.sqrt(30)).full())
    expected = {
        "base": base, "a": a, "b": b, "c": pose6(0, 1, 0, 0, 0, 1), "tool": b @ pose6(0, 0, 0.2, 0.1, 0, 0),
        "d": pose6(0, 1, 2, *np.radians([10, 20, 30])),
        "e": np.block([[turned, np.array([[1], [0], [0]])], [0, 0, 0, 1]]),
    }  # fmt: skip
    for name, X in expected.items():
        R, p = od.pose(model, name, model.neutral())
        assert R.full() == pytest.approx(X[:3, :3], abs=1e-12), name
        assert p.full().ravel() == pytest.approx(X[:3, 3], abs=1e-12), name


def test_joints_turn_about_their_axes():
    """The places of the axes stay, and the velocities are along the axes that the file gives."""
    model = od.io.parse_sdf(MACHINE)
    q, unit = model.neutral(), np.eye(model.nv)
    base, axis = pose6(1, 2, 3, 0.1, 0.2, 0.3), np.array([1, 2, 3]) / np.sqrt(14)
    at = base @ pose6(0.5, 0, 0.1, 0.3, 0, 0.2) @ pose6(0.1, 0, 0.2, 0.4, 0, 0)
    velocity = od.frame_velocity(model, "a", q, unit[6]).full().ravel()
    assert velocity[:3] == pytest.approx(at[:3, :3] @ axis, abs=1e-12)
    shift = np.array(od.pose(model, "a", q)[1].full()).ravel() - at[:3, 3]
    assert velocity[3:] == pytest.approx(np.cross(velocity[:3], shift), abs=1e-12)
    along = base @ pose6(0.5, 0, 0.1, 0.3, 0, 0.2) @ pose6(0, 0.3, 0, 0, 0.2, 0)
    velocity = od.frame_velocity(model, "b", q, unit[7]).full().ravel()
    assert velocity == pytest.approx([0, 0, 0, *(along[:3, :3] @ axis)], abs=1e-12)
    first = od.frame_velocity(model, "d", q, unit[model.qd_names.index("j4.first")]).full().ravel()
    assert first[:3] == pytest.approx(base[:3, 0], abs=1e-12)


def test_limits_springs_and_losses():
    model = od.io.parse_sdf(MACHINE)
    found = {key: float(x[0]) for key, x in model.dofs.rows(model.q_slice("j1"), model.qd_slice("j1")).items()}
    assert found == {"q_lower": -1, "q_upper": np.inf, "qd_max": np.inf, "tau_min": -5, "tau_max": 5, "damping": 0.1,
                     "friction": 0.2, "stiffness": 3, "armature": 0, "rest": 0.4}  # fmt: skip


URDF = """<robot name="m"><link name="w"/>{links}
<joint name="j" type="revolute"><parent link="w"/><child link="a"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>
<axis xyz="1 2 3"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
<joint name="k" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0 0 0.5" rpy="0.4 0 0"/>
<axis xyz="0 1 1"/><limit effort="3" velocity="4"/></joint></robot>"""
INERTIAL = """<inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 0.2 0.1"/><mass value="2"/><inertia ixx="0.2" iyy="0.3"
izz="0.4" ixy="0.01" ixz="0.02" iyz="-0.03"/></inertial>"""


def test_the_same_dynamics_as_the_urdf():
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in "ab")
    other = od.parse_urdf(URDF.format(links=links))
    text = (
        link("a", "<pose>1 2 3 0.1 0.2 0.3</pose>")
        + link("b", '<pose relative_to="a">0 0 0.5 0.4 0 0</pose>')
        + joint("j", "revolute", "world", "a", AXIS.format(""))
        + joint("k", "prismatic", "a", "b", "<axis><xyz>0 1 1</xyz></axis>")
    )
    model = od.io.parse_sdf(sdf(text))
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 2))
    expected = od.inverse_dynamics(other, q, qd, qdd).full()
    assert od.inverse_dynamics(model, q, qd, qdd).full() == pytest.approx(expected, abs=1e-12)
    old = text.replace(
        "<axis><xyz>0 1 1</xyz>", "<axis><use_parent_model_frame>1</use_parent_model_frame><xyz>0 1 1</xyz>"
    )
    turned = od.io.parse_sdf(sdf(old, "1.6"))
    velocity = od.frame_velocity(turned, "b", [0, 0], [0, 1]).full().ravel()
    assert velocity[3:] == pytest.approx(np.array([0, 1, 1]) / np.sqrt(2), abs=1e-12)
    new = od.io.parse_sdf(sdf(old, "1.7"))  # which has no such switch: the axis stays in the joint's frame
    assert np.abs(od.frame_velocity(new, "b", [0, 0], [0, 1]).full().ravel()[3:] - velocity[3:]).max() > 0.1


def four_bar(closing: str) -> str:
    places = {"crank": "0 0 0", "coupler": "0 0 1", "rocker": "2 0 0"}
    links = "".join(link(name, f"<pose>{p} 0 0 0</pose>") for name, p in places.items())
    y = "<axis><xyz>0 1 0</xyz></axis>"
    return sdf(
        links + joint("A", "revolute", "world", "crank", y) + joint("B", "revolute", "crank", "coupler", y)
        + joint("D", "revolute", "world", "rocker", y)
        + joint("C", closing, "coupler", "rocker", "<pose>0 0 1.5 0 0 0</pose>" + y)
    )  # fmt: skip


@pytest.mark.parametrize(("closing", "rows"), [("revolute", 5), ("ball", 3), ("prismatic", 5), ("fixed", 6)])
@pytest.mark.slow
def test_a_joint_that_closes_a_loop(closing, rows, tmp_path):
    path = tmp_path / "four_bar.sdf"
    path.write_text(four_bar(closing))
    model = od.load(path)
    q = model.neutral()
    assert model.q_names == ("A", "B", "D")
    assert [len(loop.rows) for loop in model.constraints] == [rows]
    assert od.constraint_position(model, model.constraints, q).full() == pytest.approx(0, abs=1e-12)
    od.save_model(model, tmp_path / "m.json")
    assert od.load(tmp_path / "m.json") == replace(model, shape_files=())
    if closing == "revolute":  # one dof: the point of C moves as the crank turns, in both bodies alike
        G = od.constraint_jacobian(model, model.constraints, q).full()
        assert np.linalg.matrix_rank(G, tol=1e-9) == 2
        qd = np.linalg.svd(G)[2][-1]
        coupler = od.point_velocity(model, "coupler", q, qd, (2, 0, 0.5)).full()
        assert coupler == pytest.approx(od.point_velocity(model, "rocker", q, qd, (0, 0, 1.5)).full(), abs=1e-12)
        assert np.linalg.norm(coupler) > 0.1


def test_worlds_of_several_models():
    one = '<model name="{}"><pose>0 0 {} 0 0 0</pose><link name="b"/></model>'
    world = f'<sdf version="1.9"><world name="w">{one.format("p", 1)}{one.format("q", 2)}</world></sdf>'
    model = od.io.parse_sdf(world)
    assert model.body_names == ("p::b", "q::b")
    assert model.gravity == (0, 0, -9.8)
    assert od.point_position(model, "q::b", model.neutral()).full().ravel().tolist() == [0, 0, 2]
    heavy = world.replace('name="w">', 'name="w"><gravity>0 0 -1.62</gravity>')
    assert od.io.parse_sdf(heavy, root=od.Planar()).gravity == (0, 0, -1.62)


HAND = (
    link("palm", "<pose>0.1 0 0.2 0.3 0 0</pose>") + link("tip", '<pose relative_to="palm">0 0 0.1 0 0.2 0</pose>')
    + joint("curl", "revolute", "palm", "tip", AXIS.format(""))
    + '<frame name="grip" attached_to="palm"><pose>0 0.1 0 0 0 0.4</pose></frame>'
)  # fmt: skip
INNER = '<model name="hand"{}><pose relative_to="arm">0 0 0.5 0 0 0.7</pose>{}</model>'


def around(hand: str, first: str = "hand::") -> str:
    """An arm with a hand, whose links are called with `first`."""
    wrist = joint(
        "wrist", "revolute", "arm", f"{first}palm", f'<axis><xyz expressed_in="{first}grip">0 1 0</xyz></axis>'
    )
    tool = f'<frame name="tool" attached_to="{first}tip"><pose>0 0 0.1 0 0 0</pose></frame>'
    return sdf(link("arm", "<pose>1 0 0 0 0.2 0</pose>") + hand + wrist + tool)


def test_models_in_models():
    """The same equations as those of a file in which the links of the inner model stand in the outer one."""
    model = od.io.parse_sdf(around(INNER.format("", HAND)))
    assert model.body_names == ("arm", "hand::palm", "hand::tip")
    assert model.joint_names == ("root", "wrist", "hand::curl")
    at = '<frame name="at"><pose relative_to="arm">0 0 0.5 0 0 0.7</pose></frame>'
    flat = od.io.parse_sdf(around(at + HAND.replace("<pose>0.1 0 0.2", '<pose relative_to="at">0.1 0 0.2'), ""))
    rng = np.random.default_rng(2)
    q, qd, qdd = model.random_q(rng), *rng.normal(size=(2, model.nv))
    tau = od.inverse_dynamics(model, q, qd, qdd).full()
    assert tau == pytest.approx(od.inverse_dynamics(flat, q, qd, qdd).full(), abs=1e-11)
    for name, other in (("tool", "tool"), ("hand::grip", "grip")):
        assert od.pose(model, name, q)[1].full() == pytest.approx(od.pose(flat, other, q)[1].full(), abs=1e-12)


def test_a_model_may_be_placed_by_one_of_its_frames():
    placed = od.io.parse_sdf(around(INNER.format(' placement_frame="grip"', HAND)))
    q = placed.neutral()
    arm = pose6(1, 0, 0, 0, 0.2, 0)
    R, p = od.pose(placed, "hand::grip", q)
    expected = arm @ pose6(0, 0, 0.5, 0, 0, 0.7)
    assert R.full() == pytest.approx(expected[:3, :3], abs=1e-12)
    assert p.full().ravel() == pytest.approx(expected[:3, 3], abs=1e-12)


def test_frames_of_a_model_move_with_its_canonical_link():
    text = sdf(link("a") + link("b", "<pose>0 0 1 0 0 0</pose>") + joint("j", "revolute", "a", "b", AXIS.format(""))
               + '<frame name="f"><pose>1 2 3 0 0 0</pose></frame>')  # fmt: skip
    assert od.io.parse_sdf(text).frame("f").body == 1
    assert od.io.parse_sdf(text.replace('name="m"', 'name="m" canonical_link="b"')).frame("f").body == 2


@pytest.mark.slow
def test_included_models_lie_in_the_folder(tmp_path):
    (tmp_path / "gripper").mkdir()
    hand = f'<sdf version="1.7"><model name="gripper"><pose>9 9 9 0 0 0</pose>{HAND}</model></sdf>'
    (tmp_path / "gripper" / "model.sdf").write_text(hand)
    place = '<pose relative_to="arm">0 0 0.5 0 0 0.7</pose>'
    include = f"<include><uri>model://gripper</uri><name>hand</name>{place}</include>"
    (tmp_path / "arm.sdf").write_text(around(include))
    made = replace(od.load(tmp_path / "arm.sdf"), shape_files=())
    assert made == od.io.parse_sdf(around(INNER.format("", HAND)))
    (tmp_path / "arm.sdf").write_text(around(include.replace("model://", "../")))
    with pytest.raises(od.ModelError, match=r"arm.sdf, line 3: <uri>: the file .* does not lie in the folder"):
        od.load(tmp_path / "arm.sdf")
    (tmp_path / "gripper" / "model.sdf").write_text(around(include))
    (tmp_path / "arm.sdf").write_text(around(include))
    with pytest.raises(od.ModelError, match="include each other more than 20 deep"):
        od.load(tmp_path / "arm.sdf")
    part = '<sdf version="1.7"><model name="part"><link name="a"/></model></sdf>'
    (tmp_path / "part.sdf").write_text(part)
    many = "".join(f"<include><uri>part.sdf</uri><name>n{k}</name></include>" for k in range(1001))
    (tmp_path / "arm.sdf").write_text(f'<sdf version="1.7"><world name="w">{many}</world></sdf>')
    with pytest.raises(od.ModelError, match="more than 1000 included files"):
        od.load(tmp_path / "arm.sdf")


def test_joints_of_a_world_join_models():
    one = '<model name="{}"><pose>0 0 {} 0 0 0</pose><link name="b"/></model>'
    tie = joint("tie", "revolute", "p::b", "q::b", AXIS.format(""))
    hold = joint("hold", "fixed", "world", "p", "")
    world = f'<sdf version="1.11"><world name="w">{one.format("p", 1)}{one.format("q", 2)}{tie}{hold}</world></sdf>'
    model = od.io.parse_sdf(world)
    assert model.q_names == ("tie",)
    assert od.point_position(model, "q::b", [0.0]).full().ravel() == pytest.approx([0, 0, 2])


def test_screws_and_joints_of_two_axes():
    turns = "<pose>0 0.1 0 0.3 0 0</pose><screw_thread_pitch>0.2</screw_thread_pitch>" + AXIS.format("")
    screw = od.io.parse_sdf(sdf(link("a") + joint("j", "screw", "world", "a", turns)))
    twist = od.frame_velocity(screw, "a", [0.4], [1.0]).full().ravel()
    assert twist[:3] @ twist[3:] == pytest.approx(0.2 / (2 * np.pi), abs=1e-12)  # the way per angle, along the axis
    old = turns.replace("screw_thread_pitch>0.2", f"thread_pitch>{-2 * np.pi / 0.2}").replace("/screw_", "/")
    assert od.io.parse_sdf(sdf(link("a") + joint("j", "screw", "world", "a", old))).joints[1].axis == pytest.approx(
        screw.joints[1].axis
    )
    both = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>1 0 1</xyz></axis2>"
    pair = [
        od.io.parse_sdf(sdf(link("a") + joint("j", kind, "world", "a", both))) for kind in ("revolute2", "universal")
    ]
    assert pair[0] == pair[1]


def test_joints_that_follow_others():
    mimic = '<mimic joint="j"><multiplier>-2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic>'
    text = sdf(link("a") + link("b") + joint("j", "revolute", "world", "a", AXIS.format(""))
               + joint("k", "revolute", "a", "b", AXIS.format(mimic)), "1.11")  # fmt: skip
    model = od.io.parse_sdf(text)
    assert od.constraint_position(model, model.constraints, [0.4, -2 * 0.3 + 0.3]).full() == pytest.approx(0, abs=1e-12)
    assert [(each.joint, each.other, each.ratio) for each in model.mimics] == [("k", "j", -2.0)]


def test_notes_tell_what_is_left_out():
    plugin = "<plugin name='p' filename='p.so'/>"
    model = od.io.parse_sdf(sdf(link("a", more="<sensor name='s' type='imu'/><visual name='v'/>") + plugin + plugin))
    assert model.notes == ("left out: 2 plugin, 1 sensor",)


HINGE = joint("j", "revolute", "world", "a")
WRONG = {
    "root": ("<robot/>", "the outermost element of SDF is <sdf>"),
    "version": (sdf(link("a"), "2.0"), "version='2.0' is not read"),
    "no version": (sdf(link("a"), "x"), "expected one such as 1.7"),
    "no model": ('<sdf version="1.7"/>', "it holds no <model>"),
    "no link": (sdf(""), "line 2: <model 'm'>: it has no <link>"),
    "name": (sdf("<link/>"), 'it has no name="..."'),
    "same names": (sdf(link("a") + "\n" + link("a")), "the name 'a' is taken by line 3"),
    "reserved": (sdf(link("world")), "is reserved"),
    "include": ('<sdf version="1.7"><include/></sdf>', "a text includes no files"),
    "nested": (sdf(link("a") + '<model name="n"><link name="b"/></model>' + joint("j", "ball", "n::c", "a")),
               "the model has no link 'n::c': did you mean 'n::b'"),
    "placement": (sdf('<model name="n" placement_frame="x"><link name="b"/></model>'), "no frame 'x'"),
    "placed by itself": (sdf('<model name="n" placement_frame="b"><link name="b"><pose relative_to="f"/></link><frame '
                             'name="f" attached_to="b"/></model>'), "poses that refer to each other in a ring"),
    "mimic": (sdf(link("a") + joint("j", "revolute", "world", "a", '<axis><mimic joint="a"/></axis>')),
              "it names a joint of one axis"),
    "mimic of the world": (sdf(link("a") + joint("j", "revolute", "world", "a", '<axis><mimic joint="world"/></axis>')),
                           "it names a joint of one axis"),
    "thread": (sdf(link("a") + joint("j", "screw", "world", "a", "<thread_pitch>0</thread_pitch>")), "not be zero"),
    "gearbox": (sdf(link("a") + joint("j", "gearbox", "world", "a")), "od.JointCoupling"),
    "kind": (sdf(link("a") + joint("j", "revolut", "world", "a")), "did you mean 'revolute'"),
"no child": (sdf(link("a") + '<joint name="j" type="ball"><parent>a</parent></joint>'), "it has no <child>"),
    "child": (sdf(link("a") + joint("j", "ball", "a", "b")), "no link 'b'"),
    "to itself": (sdf(link("a") + joint("j", "ball", "a", "a")), "joins two links"),
    "axis": (sdf(link("a") + joint("j", "revolute", "world", "a", "<axis><xyz>0 0 0</xyz></axis>")), "no direction"),
    "count": (sdf(link("a", "<pose>1 2 3</pose>")), "has 3 values, expected 6"),
    "nan": (sdf(link("a", "<pose>nan 2 3 0 0 0</pose>")), "line 3: <pose>: expected finite decimal numbers, got 'nan'"),
    "comma": (sdf(link("a", "<pose>0,1 2 3 0 0 0</pose>")), "write a point, not a comma"),
    "large": (sdf(link("a", "<pose>1e200 2 3 0 0 0</pose>")), "no physical value"),
    "relative": (sdf(link("a", '<pose relative_to="x">0 0 0 0 0 0</pose>')), "no frame 'x'"),
    "ring": (sdf(link("a", '<pose relative_to="b">0 0 0 0 0 0</pose>') + link("b", '<pose relative_to="a"/>')),
             "poses that refer to each other in a ring"),
    "attached": (sdf(link("a") + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'), "in a ring"),
    "links in a ring": (sdf(link("a") + link("b") + joint("j", "ball", "a", "b") + joint("k", "ball", "b", "a")),
                        "a ring that hangs on no root"),
    "gravity": (sdf(link("a", more="<gravity>0</gravity>")), "a link without gravity"),
    "kinematic": (sdf(link("a", more="<kinematic>true</kinematic>")), "moves as it is told"),
    "switch": (sdf(link("a", more="<gravity>yes</gravity>")), "expected true or false"),
    "auto": (sdf('<link name="a"><inertial auto="true"/></link>'), "inertias from shapes are not read"),
    "water": (sdf('<link name="a"><inertial><fluid_added_mass/></inertial></link>'), "the added mass of a fluid"),
    "inertia": (sdf('<link name="a"><inertial><inertia><ixx>9</ixx></inertia></inertial></link>'), "no body has"),
    "quaternion": (sdf(link("a", '<pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose>')), "is no rotation"),
    "universal loop": (four_bar("universal"), "it closes a loop, and a loop is closed by"),
    "static": (sdf(link("a") + "<static>true</static>"), "has no moving body"),
    "doctype": ("<!DOCTYPE sdf><sdf/>", "document type"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_an_error_names_line_and_element(name):
    given, words = WRONG[name]
    with pytest.raises(od.ModelError) as error:
        od.io.parse_sdf(given, source="robot.sdf")
    assert words in str(error.value)
    assert re.match(r"robot\.sdf, line \d+: ", str(error.value)) or name == "static"


@pytest.mark.slow
def test_mutated_files_meet_model_errors_only():
    rng, loaded = random.Random(5), 0
    words = ["nan", "1e999", "-1", "", "0 0 0", "true", "a", "world", "\x00", "é", "<", "__model__", "1 2 3 4 5 6 7"]
    for original in [MACHINE, four_bar("revolute")] * 60:
        parts = re.split(r"(>[^<]*<|[ />]+)", original)
        for _ in range(rng.randint(1, 3)):
            k = rng.randrange(len(parts))
            parts[k] = f">{rng.choice(words)}<" if parts[k].startswith(">") else rng.choice(["", rng.choice(parts)])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                od.io.parse_sdf("".join(parts))
            loaded += 1
        except od.ModelError:
            pass
    assert loaded
    with pytest.raises(TypeError, match="root must be None or a joint"):
        od.io.parse_sdf(MACHINE, root=3)
    with pytest.raises(od.ModelError, match="use parse_sdf"):
        od.io.load_sdf("<sdf/>")
