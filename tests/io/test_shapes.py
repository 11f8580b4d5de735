"""Shapes of bodies in URDF, MJCF and SDF: which are read, where they lie, and as triangles on the bodies of a model."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io.shapes.placed import placed, read_shapes

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])


def write_stl(path: Path) -> None:
    """A binary STL file of one triangle."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b" " * 80 + struct.pack("<I", 1) + struct.pack("<12fH", 0, 0, 1, *TRIANGLE.ravel(), 0))


MJCF = """<mujoco>
<compiler angle="degree" meshdir="parts"/>
<default><default class="seen"><geom type="mesh" contype="0" conaffinity="0" group="2"/></default>
<default class="hit"><geom type="capsule" group="3"/></default></default>
<asset><material name="red" rgba="1 0 0 1"/><mesh name="tip" file="tip.stl" scale="2 2 3"/><mesh file="lost.stl"/>
<mesh name="moved" file="tip.stl" refpos="1 0 0"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><body name="b"><joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
<geom class="seen" mesh="tip" material="red" pos="1 2 3" euler="0 0 90"/><geom class="seen" mesh="lost"/>
<geom class="seen" mesh="moved"/><geom class="hit" size="1 2"/><geom type="box" size="1 2 3" rgba="0 1 0 1"/>
<geom type="cylinder" size="1 4" contype="0"/><geom type="sphere" size="2" contype="0" conaffinity="0" group="4"/>
<geom type="ellipsoid" size="1 1 2"/><geom type="capsule" mesh="tip"/></body></worldbody></mujoco>"""

SDF = """<sdf version="1.7"><model name="m"><frame name="f" attached_to="b"><pose>0 0 1 0 0 0</pose></frame>
<link name="b"><pose>5 0 0 0 0 1.5</pose>
<visual name="v"><pose relative_to="f">1 0 0 0 0 0.5</pose><geometry><box><size>1 2 3</size></box></geometry>
<material><diffuse>0 0 1 1</diffuse></material></visual>
<visual name="w"><geometry><mesh><uri>model://pkg/tip.stl</uri><scale>1 1 2</scale></mesh></geometry></visual>
<visual name="p"><geometry><plane/></geometry></visual>
<collision name="c"><pose>0 0 2 0 0 0</pose><geometry><capsule><radius>0.1</radius><length>3</length>
</capsule></geometry></collision>
<collision name="s"><geometry><sphere><radius>0.2</radius></sphere></geometry></collision></link>
</model></sdf>"""


@pytest.fixture
def mjcf(tmp_path):
    (tmp_path / "parts").mkdir()
    write_stl(tmp_path / "parts" / "tip.stl")
    (tmp_path / "m.xml").write_text(MJCF)
    return tmp_path / "m.xml"


def test_geoms_are_seen_by_their_group_and_collide_by_their_types(mjcf):
    seen = [(s.kind, s.size, s.color) for s in read_shapes(mjcf)]
    assert seen == [
        ("mesh", (2, 2, 3), (1, 0, 0, 1)), ("mesh", (1, 1, 1), None), ("box", (2, 4, 6), (0, 1, 0, 1)),
        ("cylinder", (1, 8), None),
    ]  # fmt: skip
    hit = [(s.kind, s.size) for s in read_shapes(mjcf, "collision")]
    assert hit == [("capsule", (1, 4)), ("box", (2, 4, 6)), ("cylinder", (1, 8))]
    tip, lost = read_shapes(mjcf)[:2]
    assert (tip.link, tip.mesh, tip.path) == ("b", "tip.stl", mjcf.parent / "parts" / "tip.stl")
    assert tip.p == pytest.approx([1, 2, 3])
    assert tip.R @ [1, 0, 0] == pytest.approx([0, 1, 0])
    assert (lost.mesh, lost.path) == ("lost.stl", None)


def test_meshes_of_a_model_lie_on_its_bodies(mjcf):
    pytest.importorskip("trimesh", reason="meshes are read by trimesh")
    model = od.load(mjcf)
    found, missing = placed(model, model.shape_files[0])
    assert [name for name, _ in missing] == ["lost.stl"]
    assert {one.body for one in found} == {1}
    raw = placed(model, model.shape_files[0]._replace(scale=2.0))[0]
    assert raw[1].mesh.vertices == pytest.approx(2 * found[1].mesh.vertices)
    assert np.ptp(found[1].mesh.vertices, axis=0) == pytest.approx([2, 4, 6])
    assert placed(model, model.shape_files[0], bodies=[2]) == ([], [])


def test_shapes_of_sdf(tmp_path):
    (tmp_path / "pkg").mkdir()
    write_stl(tmp_path / "pkg" / "tip.stl")
    (tmp_path / "m.sdf").write_text(SDF)
    box, mesh = read_shapes(tmp_path / "m.sdf")
    assert (box.link, box.kind, box.size, box.color) == ("b", "box", (1, 2, 3), (0, 0, 1, 1))
    assert box.p == pytest.approx([1, 0, 1])
    assert box.R @ [1, 0, 0] == pytest.approx([np.cos(0.5), np.sin(0.5), 0])
    assert (mesh.size, mesh.path) == ((1, 1, 2), tmp_path / "pkg" / "tip.stl")
    capsule, ball = read_shapes(tmp_path / "m.sdf", "collision")
    assert (capsule.kind, capsule.size, ball.size) == ("capsule", (0.1, 3), (0.2,))
    assert capsule.p == pytest.approx([0, 0, 2])
    model = od.load(tmp_path / "m.sdf")
    assert [one.body for one in placed(model, model.shape_files[0], "collision")[0]] == [1, 1]


def test_included_files_are_found_again(tmp_path):
    """The folder that was given at loading counts for the shapes as well."""
    (tmp_path / "robot").mkdir()
    body = '<mujocoinclude><body name="b"><freejoint/><geom size="0.1"/></body></mujocoinclude>'
    (tmp_path / "body.xml").write_text(body)
    main = tmp_path / "robot" / "m.xml"
    main.write_text('<mujoco><worldbody><include file="../body.xml"/></worldbody></mujoco>')
    model = od.io.load_mjcf(main, folder=tmp_path)
    assert len(placed(model, model.shape_files[0])[0]) == 1
    with pytest.raises(od.ModelError, match="does not lie in the folder"):
        read_shapes(main)


def test_other_formats_have_no_shapes(tmp_path):
    od.save_model(od.models.human(), tmp_path / "human.json")
    assert read_shapes(tmp_path / "human.json") == []
    with pytest.raises(FileNotFoundError):
        read_shapes(tmp_path / "nothing.urdf")
