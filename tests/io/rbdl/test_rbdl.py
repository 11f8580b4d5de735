"""RBDL's Lua models: tables read as data, joints by their formulas, constraint sets, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io import file_faults, parse_rbdl, rbdl_constraint_sets
from ocp_dyn.io.rbdl.lua import LuaTable, lua_value
from tests.helpers import close

LEG = """-- a leg, with numbers that follow from others
m1 = 2.0  l1 = 0.4
--[==[ tables that
several frames use ]==]
local joints = {
  turn = {{0, 0.6, 0.8, 0, 0, 0}}, slide = {{0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 1}, {0, 1, 0, 0, 0, 0}},
  ball = {"JointTypeSpherical"},
}
bodies = { rod = {mass = m1, com = {0, 0, -l1/2}, inertia = {{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, m1*l1^2/3}}} }
model = {
  gravity = {0, 0.5, -9.81},
  configuration = {axis_up = {0, 0, 1}},
  frames = {
    {name = "pelvis", parent = "ROOT", joint = joints.slide, body = bodies.rod, markers = {sacrum = {-0.1, 0, 0.05}}},
    {name = 'thigh', parent = 'pelvis', joint = joints.ball, body = bodies["rod"],
     joint_frame = {r = {0, 0.1, -0.05}, E = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}, visuals = {{src = "x.obj"}}},
    {name = "shank", parent = "thigh", joint = joints.turn, body = bodies.rod; joint_frame = {r = {0, 0, -l1}}},
    {name = "foot", parent = "shank", body = {mass = 0.5, com = {0.1, 0, 0}}, joint_frame = {r = {0, 0, -l1}}},
  },
  points = {{name = "heel", body = "foot", point = {-0.05, 0, 0}}},
  local_frames = {{name = "hook", body = "thigh", r = {0, 0, 0.1}, E = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}},
  constraint_sets = {
    stand = {
      {constraint_type = "contact", point_name = "heel", normal_sets = {{1, 0, 0}, {0, 0, 1}}},
      {constraint_type = "contact", body = "foot", point = {0.1, 0, 0}, normal = {0, 0, 1}},
    },
    hang = {
      {constraint_type = "loop", predecessor_local_frame = "hook", successor_body = "pelvis", name = "chain",
       successor_transform = {r = {0.2, 0, 0}, E = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}, axis = {0, 0, 0, 1, 0, 0}},
      {constraintType = "loop", predecessorLocalFrame = "hook", successorBody = "pelvis",
       successorTransform = {r = {0.2, 0, 0}, E = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}, axis = {0, 0, 0, 0, 1, 0}},
    },
  },
}
return model
"""


def by_hand() -> od.Model:
    """The same leg by the builder."""
    builder = od.ModelBuilder("leg", (0, 0.5, -9.81))
    rod = {"mass": 2.0, "com": (0, 0, -0.2), "inertia": (0.1, 0.1, 2 * 0.16 / 3)}
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])
    slide = od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1), (0, 1, 0, 0, 0, 0)])
    builder.add_body("pelvis", slide, **rod)
    builder.add_body("thigh", od.Spherical(), "pelvis", origin=(0, 0.1, -0.05), rotation=turn, **rod)
    builder.add_body("shank", od.Revolute((0, 0.6, 0.8)), "thigh", origin=(0, 0, -0.4), **rod)
    builder.add_body("foot", od.Fixed(), "shank", origin=(0, 0, -0.4), mass=0.5, com=(0.1, 0, 0), inertia=(1, 1, 1))
    builder.add_frame("heel", "foot", (-0.05, 0, 0))
    return builder.build()


def test_a_model_is_that_of_the_builder(tmp_path: Path) -> None:
    (tmp_path / "leg.lua").write_text(LEG)
    model, ours = od.load(tmp_path / "leg.lua"), by_hand()
    rng = np.random.default_rng(1)
    q, qd, qdd = model.random_q(rng), rng.normal(size=7), rng.normal(size=7)
    close(od.inverse_dynamics(model, q, qd, qdd), od.inverse_dynamics(ours, q, qd, qdd))
    close(od.point_position(model, "heel", q), od.point_position(ours, "heel", q))
    assert (model.name, model.qd_names[:3]) == ("leg", ("pelvis_joint.q0", "pelvis_joint.q1", "pelvis_joint.q2"))
    assert model.markers == (od.Marker("sacrum", "pelvis", (-0.1, 0, 0.05)),)


def test_constraint_sets(tmp_path: Path) -> None:
    (tmp_path / "leg.lua").write_text(LEG)
    model, sets = od.load(tmp_path / "leg.lua"), rbdl_constraint_sets(tmp_path / "leg.lua")
    assert [one.rows for one in sets["stand"]] == [("foot.tx", "foot.tz"), ("foot.tz",)]
    (loop,) = sets["hang"]
    assert len(loop.axes) == 2
    q = model.random_q(np.random.default_rng(2))
    R, p = (np.array(x) for x in od.pose(model, "hook", q))
    place = od.point_position(model, "pelvis", q, (0.2, 0, 0))
    close(loop.position(model, q), (R.T @ (np.array(place) - p))[:2])
    G = od.constraint_jacobian(model, sets["stand"], q)
    close(G[1, :], od.constraint_jacobian(model, [od.Contact("foot", (-0.05, 0, 0), "z")], q))


def test_what_rbdl_takes_where_a_file_is_silent() -> None:
    body = "{mass = 1, inertia = {{2, 9, 9}, {0.1, 1.5, 9}, {0.2, 0.3, 0.1}}}"
    model = parse_rbdl(
        f"return {{frames = {{{{name = 'a', parent = 'ROOT', joint = 'JointTypeSpherical', body = {body}}}}}}}"
    )
    assert od.mass_matrix(model, model.neutral()).full().tolist() == [[2, 0.1, 0.2], [0.1, 1.5, 0.3], [0.2, 0.3, 0.1]]
    assert (list(model.gravity), model.notes[0][:13]) == ([0, -9.81, 0], "gravity: 9.81")


WORDS = {
    "Spherical": od.Spherical(), "EulerZYX": od.Euler("zyx"), "EulerXYZ": od.Euler("xyz"), "EulerYXZ": od.Euler("yxz"),
    "TranslationXYZ": od.Translation(), "FloatingBase": od.FloatingBase(), "RevoluteX": od.Revolute("x"),
}  # fmt: skip


@pytest.mark.parametrize("word", WORDS)
def test_joints_by_their_words(word: str) -> None:
    for written in (f'{{"JointType{word}"}}', f'"JointType{word}"'):
        model = parse_rbdl(f'return {{frames = {{{{name = "a", parent = "ROOT", joint = {written}}}}}}}')
        assert model.joints[1] == WORDS[word]
    screw = parse_rbdl('return {frames = {{name = "a", parent = "ROOT", joint = {{0, 0, 1, 0.1, 0, 0.2}}}}}')
    assert screw.joints[1] == od.Helical((0, 0, 1, 0.1, 0, 0.2))


VALUES = {
    "-2^2": -4.0, "2^-1": 0.5, "2^3^2": 512.0, "1 - 2 - 3": -4.0, "2*3 + 4/8 % 3": 6.5, "(1 + 2) * 3": 9.0,
    "- -1": 1.0, "0x1F": 31.0, ".5e1": 5.0, "math.pi": np.pi, "math.sqrt(4) * 2": 4.0, "true": True, "nil": None,
    "'it\\'s'": "it's", '"a\\nb"': "a\nb", "[[\nlong]]": "long", "({1, {2}})[2][1]": "nothing may follow",
    "({a = 3}).b": "nothing may follow",
    "t.a.b": 7.0, "t['a'].b": 7.0, "t[1]": 5.0, "t.c": "the table has no 'c'", "u": "no variable 'u' is set",
    "1 .. 2": "'..' is not read", "1 == 2": "'==' is not read", "#t": "expected a name, got '#'",
    "f(1)": "no variable 'f'", "t(1)": "the call of 't' is not read", "t:x()": "the call of 't'",
    "math.random()": "math.random is not read", "1/0": "'/' of 1, 0 is no number", "1e999": "no number",
    "(-8)^0.5": "no number", "{1, [4] = 2}": "neither a name nor the next number", "2 * {}": "'*' needs numbers",
    "{1": "expected '}', got the end of the file", "'open": "is no Lua, or is not closed", "@": "is no Lua",
    "{" * 100: "more than 60 deep", "- " * 100 + "1": "more than 60 deep", "(" * 100: "more than 60 deep",
    "function() end": "'function' is not read: no Lua is run here", "1 and 2": "'and' is not read",
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    chunk = f"t = {{5, a = {{b = 7}}}}\nreturn {text}"
    expected = VALUES[text]
    if isinstance(expected, str) and " " in expected:
        with pytest.raises(od.ModelError, match=r"a\.lua, line \d+: .*") as error:
            lua_value(chunk, "a.lua", "model")
        assert expected in str(error.value)
        return
    assert lua_value(chunk, "a.lua", "model") == expected


STATEMENTS = {
    "print('a', 1 + 1) model = {1}; print() model[2] = 3 model.x = {} model.x.y = 4": None,
    "for k = 1, 2 do end": "'for' is not read", "require 'x'": "the call of 'require'",
    "if true then x = 1 end": "'if' is not read", "x = 1": "has no table 'model'", "x.y = 1": "no variable 'x'",
    "x = 1 x.y = 2": "no table, or the key", "x = {} x[3] = 2": "no table, or the key", "return 1 x = 2": "nothing may",
    "local function f() end": "'function' is not read", "model = {} model.a.b = 1": "the table has no 'a'",
}  # fmt: skip


@pytest.mark.parametrize("text", STATEMENTS)
def test_statements(text: str) -> None:
    message = STATEMENTS[text]
    if message is None:
        found = lua_value(text, "a.lua", "model")
        assert isinstance(found, LuaTable)
        assert (found.items, found.fields["x"].fields) == ([1.0, 3.0], {"y": 4.0})
        return
    with pytest.raises(od.ModelError, match=message):
        lua_value(text, "a.lua", "model")


FAULTS = {
    ("gravity = {0, 0.5, -9.81}", "gravity = {0, 1}"): "line 11: gravity must be 3 numbers, got a table of 2",
    ("joints.ball, body", '{"JointTypeBall"}, body'): "line 15: no joint 'JointTypeBall'",
    ("parent = 'pelvis'", "parent = 'pelvi'"): "no frame 'pelvi' stands before it; .*'pelvis'",
    ("name = 'thigh'", "name = 'pelvis'"): "'pelvis'",
    ("mass = 0.5", "mass = '0.5'"): "line 18: mass must be a number, got '0.5'",
    ("mass = 0.5", "mas = 0.5"): "unknown field 'mas': did you mean 'mass'",
    ("mass = 0.5", "mass = -0.5"): "mass must not be negative",
    ("{{0, 0.6, 0.8, 0, 0, 0}}", "{{0, 0.6, 0.8}}"): "joint must be one to six axes",
    ("{-1, 0, 0}, {0, 0, 1}}}, visuals", "{-1, 0, 0}, {0, 0, 2}}}, visuals"): "rotation",
    ('body = "foot", point = {-0', 'body = "fot", point = {-0'): "fot",
    ("sacrum = {-0.1, 0, 0.05}", "sacrum = {-0.1, 0}"): "marker 'sacrum' must be 3 numbers",
}


@pytest.mark.parametrize("change", FAULTS)
@pytest.mark.slow
def test_faults(change: tuple[str, str]) -> None:
    text = LEG.replace(*change, 1)
    assert text != LEG
    with pytest.raises(od.ModelError, match=FAULTS[change]) as error:
        parse_rbdl(text, source="leg.lua")
    assert str(error.value).startswith("leg.lua")


SET_FAULTS = {
    ('point_name = "heel"', 'point_name = "heal"'): "no point 'heal' in points: did you mean 'heel'",
    ("normal_sets = {{1, 0, 0}, {0, 0, 1}}", "normal_sets = {{1, 0}}"): "normal must be 3 numbers",
    ('successor_body = "pelvis"', 'successor_body = "hip"'): "successorbody: no frame 'hip'",
    ('constraint_type = "loop"', 'constraint_type = "belt"'): "'belt' are not read",
    ("axis = {0, 0, 0, 1, 0, 0}", "axs = {0, 0, 0, 1, 0, 0}"): "unknown field 'axs'",
}


@pytest.mark.parametrize("change", SET_FAULTS)
def test_faults_of_sets(change: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "leg.lua").write_text(LEG.replace(*change, 1))
    with pytest.raises(od.ModelError, match=SET_FAULTS[change]):
        rbdl_constraint_sets(tmp_path / "leg.lua")


def test_texts_that_are_none() -> None:
    with pytest.raises(od.ModelError, match="cannot be decoded"):
        parse_rbdl(b"return \xff")
    with pytest.raises(TypeError, match="Lua text must be a str or bytes"):
        parse_rbdl(3)  # type: ignore[arg-type]
    with pytest.raises(od.ModelError, match="returns no table"):
        parse_rbdl("return 3")
    with pytest.raises(od.ModelError, match="frames is empty"):
        parse_rbdl("return {}")


def test_every_fault_is_listed(tmp_path: Path) -> None:
    text = LEG
    for change in (
        ("{mass = 0.5", "{mas = 0.5"),
        ("joints.ball, body", "3, body"),
        ('body = "thigh", r', 'body = "hand", r'),
    ):
        text = text.replace(*change, 1)
    (tmp_path / "leg.lua").write_text(text)
    found = [(fault.line, fault.text) for fault in file_faults(tmp_path / "leg.lua") if fault.severe]
    assert [line for line, _ in found] == [15, 18, 21]
    assert all(word in text for word, (_, text) in zip(("joint must be", "'mas'", "'hand'"), found, strict=True))
