"""Names of bodies, joints and frames: those that our files bring back are taken everywhere, others nowhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base.types import name_fault, text_fault
from ocp_dyn.io.simulators import mjcf_text, urdf_text

REFUSED = {
    " ": "must not begin or end with a blank",
    " a": "must not begin or end with a blank",
    "a\u00a0": "must not begin or end with a blank",
    "a\u3000": "must not begin or end with a blank",
    "a\tb": r"without '\\t', a control character",
    "a\nb": r"without '\\n', a control character",
    "a\n": r"without '\\n', a control character",
    "\x00": r"without '\\x00', a control character",
    "a\x1fb": r"without '\\x1f', a control character",
    "a\x7fb": r"without '\\x7f', a control character",
    "a\x85b": r"without '\\x85', a control character",
    "a\u2028b": r"without '\\u2028', a line separator",
    "a\u2029b": r"without '\\u2029', a paragraph separator",
    "a\ud800": r"without '\\ud800', half of a character",
    "a\uffff": r"without '\\uffff', no character",
    "a\ufffe": r"without '\\ufffe', no character",
}
"""Names, and what is said about them."""

TAKEN = (
    "left foot", "a  b", "a\u00a0b", 'a"b', "a'b", "a&b", "a<b>", "a&amp;b", "a]]>b", "<!--", "100%", "a/b", "a\\b",
    "\\n",
    "#", "{a}", "$x$",
    "Fuß", "足", "\U0001f9b6", "e\u0301", "é", "a\u200db", "\u202ea", "\ufeffa", "a,b", "a;b", "=1+1",
    "None", "nan", "1", "-", ".", "..", "a" * 300,
)  # fmt: skip
"""Names that are strange, and come back."""


def model(*names: str) -> od.Model:
    """A model in which everything has a name that begins with one of those given."""
    builder = od.ModelBuilder(names[0])
    for name in names:
        builder.add_body(name, od.Revolute("y"), joint_name=f"{name}1", mass=1, com=(0.1, 0, 0), inertia=(1, 1, 1))
        builder.add_body(f"{name}|2", od.Fixed(), name, joint_name=f"{name}|3", mass=1, inertia=(1, 1, 1))
        builder.add_frame(f"{name}|4", name, (0, 0, 1))
    return builder.build()


@pytest.mark.slow
def test_names_come_back(tmp_path: Path) -> None:
    made = model(*TAKEN)
    od.save_model(made, tmp_path / "model.json")
    for again in (od.load_model(tmp_path / "model.json"), od.parse_urdf(urdf_text(made))):
        assert (again.body_names, again.joint_names) == (made.body_names, made.joint_names)
        assert set(made.frames) <= set(again.frames)
    found = {element.get("name") for element in ElementTree.fromstring(mjcf_text(made)).iter() if element.get("name")}
    assert {*made.body_names, *made.joint_names, *(f"{name}|4" for name in TAKEN)} <= found
    small = model("a")
    for name in TAKEN:
        assert (name_fault(name), text_fault(name)) == ("", "")
        for again in (
            od.parse_urdf(urdf_text(replace(small, name=name))),
            od.model_from_dict(od.model_to_dict(replace(small, name=name))),
        ):
            assert again.name == name


@pytest.mark.parametrize(("name", "fault"), REFUSED.items(), ids=map(ascii, REFUSED))
@pytest.mark.slow
def test_names_that_would_not_come_back_are_refused_by_every_way_in(tmp_path: Path, name: str, fault: str) -> None:
    made = model("a")
    data = od.model_to_dict(made)

    def add(name: str = "b", joint: od.Joint = od.Revolute("x"), **options: str) -> None:  # noqa: B008
        od.ModelBuilder().add_body(name, joint, mass=1, inertia=(1, 1, 1), **options)

    def read(key: str, part: str) -> None:
        changed = json.loads(json.dumps(data))
        changed[part][-1][key] = name
        (tmp_path / "model.json").write_text(json.dumps(changed))
        od.load_model(tmp_path / "model.json")

    ways = {
        "add_body": lambda: add(name),
        "a merged body": lambda: add(name, od.Fixed()),
        "joint_name": lambda: add(joint_name=name),
        "joint_name of a merged body": lambda: add(joint=od.Fixed(), joint_name=name),
        "add_frame": lambda: od.ModelBuilder().add_frame(name, "world"),
        "root": lambda: add(joint=od.FloatingBase(name=name)),
        "with_frame": lambda: made.with_frame(name, "a"),
        "replace of bodies": lambda: replace(made, body_names=(name,)),
        "replace of joints": lambda: replace(made, joint_names=(name,)),
        "replace of frames": lambda: replace(made, frames=made.frames | {name: od.Frame(name, 1)}),
        "body in JSON": lambda: read("name", "bodies"),
        "joint in JSON": lambda: read("joint_name", "bodies"),
        "frame in JSON": lambda: read("name", "frames"),
        "phase": lambda: ocp.Phase(name, 2, 1.0),
        "parameter": lambda: ocp.Parameter(name, 1.0),
        "shape": lambda: od.io.Ball("a", 0.1, name=name),
    }
    for way, call in ways.items():
        try:
            call()
        except ValueError as error:
            said = str(error)
        else:
            pytest.fail(f"{way} takes it")
        assert re.search(rf"a name must (be a text|not).*{fault.removeprefix('must not')}", said), (way, said)
        assert "write '" in said, way
        assert "\n" not in said, way
        assert "\t" not in said, way
        assert ascii(name)[1:-1] in said or repr(name)[1:-1] in said, (way, said)
        if "JSON" in way:
            assert said.startswith(f"{tmp_path / 'model.json'}"), said
    if text_fault(name):  # names of models may begin and end with blanks: nothing is found by them
        with pytest.raises(od.ModelError, match=f"the name of a model must be a text {fault}"):
            replace(made, name=name)


@pytest.mark.parametrize("element", ["link", "joint"])
@pytest.mark.parametrize("name", ["&#9;a", " a", "a&#10;b", "a&#x85;b", "a&#x2028;b"])
def test_names_in_a_urdf_are_refused_with_their_line(element: str, name: str) -> None:
    text = """<robot name="r">
 <link name="base"/>
 <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="c" type="continuous"><parent link="base"/><child link="b"/><axis xyz="0 0 1"/></joint>
</robot>"""
    assert od.parse_urdf(text).joint_names == ("c",)
    old, line = ('"base"', 2) if element == "link" else ('"c"', 4)
    with pytest.raises(od.ModelError, match=rf"line {line}: {element} .*: a name must "):
        od.parse_urdf(text.replace(old, f'"{name}"'))


def test_names_of_exports_are_identifiers_whatever_the_model_is_called(tmp_path: Path) -> None:
    """Names of models, bodies and joints stand in comments alone, which they cannot end."""
    made = model("*/ int x; /*\\")
    folder = od.codegen.export([od.function(od.inverse_dynamics, made)], tmp_path / "robot")
    for path in folder.glob("*.[ch]"):
        assert "*/ int x" not in path.read_text()
