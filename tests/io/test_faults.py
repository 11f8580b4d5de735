"""All faults of a file: as many as there are, with their lines, and none in sound files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ocp_dyn as od
from ocp_dyn.io import Fault, file_faults
from tests.helpers import mostly_slow

FAULTY = """<robot name="faulty">
  <link name="base">
    <inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="5"/></inertial>
  </link>
  <link name="thigh"><inertial><mass value="-3"/></inertial></link>
  <link name="shank">
    <inertial><origin xyz="0 0"/><mass value="x"/></inertial>
  </link>
  <link name="shank"/>
  <link name="foot"><inertial><inertia ixx="1"/></inertial></link>
  <link/>
  <joint name="hip" type="revolut"><parent link="base"/><child link="thigh"/></joint>
  <joint name="knee" type="revolute">
    <parent link="thigh"/><child link="shank"/>
    <axis xyz="0 0 0"/>
    <limit lower="1" upper="-1" effort="-5" velocity="nan"/>
    <dynamics damping="-1" friction="-2"/>
  </joint>
  <joint name="ankle" type="revolute">
    <parent link="shank"/><child link="fot"/>
    <origin xyz="0 0 a" rpy="1 2" quat="1"/><limit lower="3" upper="2"/>
  </joint>
  <joint name="toe" type="continuous">
    <parent link="shank"/><child link="foot"/>
    <axis xyz="0 1 0"/><axis xyz="0 one 0"/>
    <mimic joint="nee"/>
  </joint>
  <joint name="tail" type="fixed"><child link="foot"/></joint>
</robot>
"""
EXPECTED = [
    (2, "link 'base': no body has principal moments of inertia 1, 1, 5"),
    (5, "link 'thigh': mass must not be negative, got -3 kg"),
    (7, "link 'shank' <inertial> <origin>: xyz='0 0' has 2 values"),
    (7, "link 'shank' <inertial> <mass>: value='x' is not one number"),
    (9, "link 'shank' is already defined on line 6"),
    (10, "link 'foot' <inertial> <inertia> has no ixy=\"...\""),
    (10, "link 'foot' <inertial> <inertia> has no ixz=\"...\""),
    (10, "link 'foot' <inertial> <inertia> has no iyy=\"...\""),
    (10, "link 'foot' <inertial> <inertia> has no iyz=\"...\""),
    (10, "link 'foot' <inertial> <inertia> has no izz=\"...\""),
    (10, "link 'foot' <inertial> has no <mass>"),
    (11, "a <link> without a name"),
    (12, "joint 'hip': unknown type 'revolut'"),
    (13, "joint 'knee': axis must not be zero"),
    (13, "joint 'knee': lower limit 1.0 lies above upper limit -1.0"),
    (13, "joint 'knee': effort limit must not be negative"),
    (13, "joint 'knee': damping must not be negative"),
    (13, "joint 'knee': friction must not be negative"),
    (16, "joint 'knee' <limit>: velocity='nan' is not one number"),
    (19, "joint 'ankle': its child link 'fot' is not defined; define it or correct the name: did you mean 'foot'?"),
    (19, "joint 'ankle': lower limit 3.0 lies above upper limit 2.0"),
    (21, "joint 'ankle' <origin>: unknown quat="),
    (21, "joint 'ankle' <origin>: xyz='0 0 a' is not 3 numbers"),
    (21, "joint 'ankle' <origin>: rpy='1 2' has 2 values, expected 3 numbers"),
    (23, "joint 'toe' mimics 'nee': no joint 'nee' moves in this model"),
    (25, "joint 'toe': a second <axis>; keep one"),
    (28, "joint 'tail' has no <parent>; add one"),
]


def faults(tmp_path: Path, text: str, name: str = "robot.urdf") -> list[Fault]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return file_faults(tmp_path / name)


def test_every_fault_of_a_urdf_is_found_with_its_line(tmp_path):
    found = faults(tmp_path, FAULTY)
    assert all(fault.severe for fault in found)
    assert sorted(fault.line for fault in found) == [line for line, _ in EXPECTED]
    assert [fault.line for fault in found] == sorted(fault.line for fault in found)
    for line, text in EXPECTED:
        assert len([fault for fault in found if fault.line == line and fault.text.startswith(text)]) == 1, text
    with pytest.raises(od.ModelError):
        od.load_urdf(tmp_path / "robot.urdf")


LINKS = '<link name="a"/><link name="b"/><link name="c"/>'


def joint(name: str, parent: str, child: str, more: str = "") -> str:
    return f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>{more}</joint>'


@pytest.mark.parametrize(
    ("body", "line", "text"),
    [
        (LINKS + joint("j", "a", "b"), None, "2 root links"),
        (LINKS + joint("j", "a", "b") + joint("k", "b", "a"), 1, "joint 'j': links form a cycle"),
        (LINKS + joint("j", "a", "c") + joint("k", "b", "c"), 1, "joint 'k': link 'c' is already the child of"),
        (LINKS + "\n<link name='d'>", 2, "not well-formed XML: mismatched tag"),
        (
            '<link name="a"/><link name="b"/>\n<joint name="j" type="fixed"><child link="b"/></joint>',
            2,
            "joint 'j' has no",
        ),
        ("<!-- nothing -->", None, "no <link> in <robot>"),
        ('\n<xacro:include filename="x"/>', 2, "<xacro:include> is xacro"),
        ('<link name="a"/>\n<link name="world"/>' + joint("j", "a", "world"), 2, "link 'world': only a root link"),
    ],
)
def test_faults_of_the_whole_file(tmp_path, body, line, text):
    assert [(f.line, f.text[: len(text)]) for f in faults(tmp_path, f"<robot name='r'>{body}</robot>")] == [
        (line, text)
    ]


COUPLED = (
    "joint 'k' mimics joint 'j': load with mimic=\"couple\" to have the coupling in od.mimic_constraints(model), or "
    'with mimic="free"'
)


def test_notes_are_no_faults(tmp_path):
    limits = '<limit lower="0" upper="1" effort="0" velocity="0"/>'
    mimic = '<mimic joint="j"/>'
    found = faults(
        tmp_path, f"<robot name='r'>{LINKS}{joint('j', 'a', 'b', limits)}\n{joint('k', 'b', 'c', mimic)}</robot>"
    )
    assert not any(fault.severe for fault in found)
    assert [(fault.line, fault.text.split(";")[0]) for fault in found] == [
        (1, "joint 'j' moves no mass, so that forward dynamics is impossible"),
        (1, "joint 'j' <limit>: effort=\"0\" admits no torque"),
        (1, "joint 'j' <limit>: velocity=\"0\" admits no motion"),
        (2, COUPLED),
        (2, "joint 'k' moves no mass, so that forward dynamics is impossible"),
    ]  # fmt: skip
    od.load_urdf(tmp_path / "robot.urdf", mimic="free")


MASSIVE = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def test_masses_farther_out_count(tmp_path):
    """The joint j carries the link d, beside the link c, which has no mass."""
    links = f'<link name="a"/><link name="b"/><link name="c"/><link name="d">{MASSIVE}</link>'
    joints = f"{joint('j', 'a', 'b')}\n{joint('k', 'b', 'c')}\n{joint('l', 'b', 'd')}"
    found = faults(tmp_path, f"<robot name='r'>{links}{joints}</robot>")
    assert [(fault.line, fault.text.split(",")[0], fault.severe) for fault in found] == [
        (2, "joint 'k' moves no mass", False)
    ]


def test_faults_and_notes_in_the_order_of_lines(tmp_path):
    first, then = (joint(*names, f'<limit lower="0" upper="{upper}" effort="{effort}" velocity="1"/>')
                   for names, upper, effort in ((("j", "a", "b"), 1, 0), (("k", "b", "c"), -1, 1)))  # fmt: skip
    found = faults(tmp_path, f"<robot name='r'>{LINKS}{first}\n{then}</robot>")
    assert [(fault.line, fault.severe) for fault in found] == [(1, False), (2, True)]


def test_joints_that_mimic_each_other(tmp_path):
    first, second = (joint(*names, f"<mimic joint='{other}'/>") for *names, other in ("jabk", "kbcj"))
    ring = f"{first}\n{second}"
    severe = [fault for fault in faults(tmp_path, f"<robot name='r'>{LINKS}{ring}</robot>") if fault.severe]
    assert [fault.line for fault in severe] == [2]
    assert "joints mimic each other in a ring, j -> k -> j" in severe[0].text


def test_missing_meshes_are_noted(tmp_path):
    shape = '<visual><geometry><mesh filename="{}"/></geometry></visual>'
    (tmp_path / "there.stl").touch()
    first = f'<link name="a">{shape.format("there.stl")}{shape.format("package://gone/a.stl")}</link>'
    text = f"<robot name='r'>\n{first}</robot>"
    assert [(f.line, f.text.split(",")[0], f.severe) for f in faults(tmp_path, text)] == [
        (2, "link 'a': no file 'package://gone/a.stl'", False)
    ]


ROBOTS = ("solo12", "panda", "talos_arm", "romeo_full", "anymal_c")


@pytest.mark.skipif(not od.robots.installed(), reason="example-robot-data is not installed")
@mostly_slow("name", ROBOTS, ROBOTS[:3])
@pytest.mark.slow
def test_files_without_faults_load_and_others_do_not(name):
    found = [fault for fault in file_faults(od.robots.path(name)) if fault.severe]
    if not found:
        od.load_urdf(od.robots.path(name), od.FloatingBase(name="free root"), mimic="couple")
        return
    with pytest.raises(od.ModelError) as error:
        od.load_urdf(od.robots.path(name), od.FloatingBase(name="free root"), mimic="couple")
    assert any(fault.text in str(error.value) for fault in found)


@pytest.fixture
def good(tmp_path) -> dict:
    od.save_model(od.models.five_link_biped(), tmp_path / "good.json")
    return json.loads((tmp_path / "good.json").read_text())


@pytest.mark.slow
def test_every_fault_of_a_json_model_is_found_with_its_line(tmp_path, good):
    assert file_faults(tmp_path / "good.json") == []
    bodies = good["bodies"]
    bodies[0] |= {"parent": 1, "qd_max": ["x"]}
    del bodies[0]["inertia"]
    bodies[1] |= {"joint": {"kind": "Revolut"}}
    bodies[2] |= {"name": bodies[1]["name"], "q_lower": [2.0], "q_upper": [1.0], "damping": [-1.0]}
    bodies[3] = 7
    good["frames"][0]["X"]["E"][0][0] = 3.0
    good["frames"][1]["body"] = len(bodies) + 1
    good["gravity"] = [0, 0]
    good["mimics"] = [{"joint": "a"}]
    found = faults(tmp_path, json.dumps(good, indent=1), "bad.json")
    wheres = [text.split(":")[0] for _, text, _ in found]
    for where, count in {
        "bodies[0]": 3,
        "bodies[1]": 1,
        "bodies[2]": 3,
        "bodies[3]": 1,
        "mimics[0]": 1,
        "frames[1]": 1,
    }.items():
        assert len([w for w in wheres if w.startswith(where)]) == count, where
    assert len([w for w in wheres if w.startswith("frames[0]")]) == 1
    assert any("gravity" in text for _, text, _ in found)
    assert any(f"body {bodies[2]['name']!r} stands in bodies[1] already" in text for _, text, _ in found)
    lines = (tmp_path / "bad.json").read_text().splitlines()
    for line, text, _ in found:
        if text.startswith("bodies[1]"):  # the line on which the object of the body opens
            assert lines[line - 1].strip() == "{"
            assert '"name"' in lines[line]
    assert [fault.line or 0 for fault in found] == sorted(fault.line or 0 for fault in found)
    with pytest.raises(od.ModelError):
        od.load_model(tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{\n "format" "x"}', 2, "not JSON: Expecting ':' delimiter (column 11); write it with save_model"),
        ("[]", None, "model must be an object, got []"),
        ('{"format": 1}', None, "format is 1, expected 'ocp_dyn model'; write the file with save_model"),
        ('{"a": 1, "a": 2}', None, "not a model file: the key 'a' stands twice in one object"),
    ],
)
def test_json_that_is_no_model(tmp_path, text, line, message):
    found = faults(tmp_path, text, "robot.json")[0]
    assert (found.line, found.text[: len(message)]) == (line, message)
