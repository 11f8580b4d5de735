"""All faults of MJCF, SDF and bioMod files in one list, each with its line, and none that only follow from others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ocp_dyn.io import file_faults

MJCF = """<mujoco>
<worldbody>
<body name="a" pos="1 2">
<joint name="j" axis="0 0 0" range="x"/>
<geom size="0.1"/>
<body name="b"><joint type="hing"/>
<geom type="sphere" size="-1"/>
<site name="s" pos="1 2 3 4"/></body></body>
<body name="c"><composite/>
<joint name="j"/><geom size="1"/></body>
</worldbody>
<equality><connect body1="zz" anchor="0 0 0"/></equality>
<actuator><motor joint="qq"/></actuator>
<keyframe><key qpos="1 2 3 4 5 6"/></keyframe>
</mujoco>
"""
SDF = """<sdf version="1.7"><model name="m">
<link name="a"><inertial><mass>-1</mass></inertial></link>
<link name="b"><pose>1 2</pose></link>
<joint name="j" type="gearbox"><parent>a</parent><child>b</child></joint>
<joint name="k" type="revolute"><parent>a</parent>
<child>zz</child><axis><xyz>0 0 x</xyz></axis></joint>
<link name="c"/><joint name="l" type="revolute"><parent>a</parent><child>c</child>
<axis><xyz>0 0 0</xyz></axis></joint>
</model></sdf>
"""
BIOMOD = """version 4
segment a
rotations xq
endsegment
segment b parent a translations x mass two endsegment
segment c parent zz endsegment
marker m parent q endmarker
marker n parent b position 1 2 endmarker
imu i endimu
loopconstraint x endloopconstraint
segment d parent b rotations x endsegment
"""
FILES = {
    "a.xml": (MJCF, {3: "pos='1 2'", 4: "axis='0 0 0'", 6: "'hing'", 7: "size='-1'", 8: "4 values", 9: "<composite>",
                     10: "'j' is taken", 12: "body1='zz'", 13: "joint='qq'", 14: "qpos has 6 numbers"}),
    "a.sdf": (SDF, {2: "mass must not be negative", 3: "'1 2' has 2 values", 4: "gearbox", 6: "no link 'zz'",
                    8: "an axis of length zero"}),
    "a.bioMod": (BIOMOD, {3: "rotations", 5: "'two'", 6: "no parent 'zz'", 7: "no segment 'q'", 8: "position",
                          10: "loopconstraint 'x'"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_all_faults_are_listed(name: str, tmp_path: Path) -> None:
    text, expected = FILES[name]
    (tmp_path / name).write_text(text)
    found = [(fault.line, fault.text) for fault in file_faults(tmp_path / name) if fault.severe]
    told = {line: message for line, message in found if line in expected}
    assert set(told) == set(expected)
    for line, word in expected.items():
        assert word in told[line]
    assert len(found) == len(expected)


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.bioMod").write_text("version 4\nsegment a rotations x mass 1 endsegment\nimu i endimu\n")
    (fault,) = file_faults(tmp_path / "a.bioMod")
    assert (fault.line, fault.severe, fault.text) == (3, False, "imu is left out")
    (tmp_path / "a.lua").write_text(
        'return {\nconfiguration = {},\nframes = {{name = "a", parent = "ROOT", joint = {{0, 0, 1, 0, 0, 0}}}}}'
    )
    (fault,) = file_faults(tmp_path / "a.lua")
    assert (fault.line, fault.severe, fault.text) == (2, False, "configuration is left out")


@pytest.mark.slow
def test_a_file_of_very_many_faults_ends(tmp_path: Path) -> None:
    joints = "".join('<body>\n<joint axis="0 0 0"/><geom size="1"/></body>' for _ in range(150))
    (tmp_path / "a.xml").write_text(f"<mujoco><worldbody>{joints}</worldbody></mujoco>")
    assert len(file_faults(tmp_path / "a.xml")) == 100
