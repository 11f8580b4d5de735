"""Wrong and hostile MJCF: an error that names line and element, never another exception; what is refused and why."""

import builtins
import random
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

import ocp_dyn as od

HINGE = '<joint name="h"/><geom size="0.1"/>'
BODY = f'<body name="b">{HINGE}</body>'


def text(world: str = BODY, head: str = "", tail: str = "") -> str:
    return f"<mujoco>\n{head}\n<worldbody>\n{world}\n</worldbody>\n{tail}\n</mujoco>"


def inside(part: str) -> str:
    return text(f'<body name="b">\n{part}\n<geom size="0.1"/></body>')


WRONG = {
    "nan": (inside('<joint pos="nan 0 0"/>'), "line 5: <joint>: pos='nan 0 0': expected finite decimal numbers"),
    "comma": (inside('<joint pos="0,1 0 0"/>'), "write a point, not a comma"),
    "count": (inside('<joint pos="1 0"/>'), "line 5: <joint>: pos='1 0' has 2 values, expected 3 numbers"),
    "too large": (inside('<joint pos="1e300 0 0"/>'), "no physical value"),
    "word": (inside('<joint type="hing"/>'), "did you mean 'hinge'"),
    "switch": (inside('<joint limited="yes"/>'), "limited='yes', expected one of true, false, auto"),
    "attribute": (inside('<joint dampng="1"/>'), "it has no attribute 'dampng': did you mean 'damping'?"),
    "element": (inside("<joints/>"), "did you mean 'joint'"),
    "section": ("<mujoco><worldbdy/></mujoco>", "did you mean 'worldbody'"),
    "axis": (inside('<joint axis="0 0 0"/>'), "axis='0 0 0' has no direction"),
    "two orientations": (text('<body quat="1 0 0 0" euler="1 2 3"><joint/></body>'), "keep one of them"),
    "parallel axes": (text('<body xyaxes="1 0 0 2 0 0"><joint/></body>'), "two axes of a frame are not parallel"),
    "zero quaternion": (text('<body quat="0 0 0 0"><joint/></body>'), "quat='0 0 0 0' has no direction"),
    "range": (inside('<joint range="1 0" limited="true"/>'), "the first number must be below the second"),
    "range without limited": (text('<body><joint range="0 1"/></body>', '<compiler autolimits="false"/>'),
                              "range without limited is refused"),
    "attribute of a class": (text(head='<default><joint dampng="1"/></default>'), "did you mean 'damping'"),
    "attribute of a motor": (text(tail='<actuator><motor joint="h" ctrlrang="1 2"/></actuator>'), "'ctrlrange'"),
    "attribute of a tendon": (text(tail='<tendon><fixed stifness="1"/></tendon>'), "did you mean 'stiffness'"),
    "attribute of an equality": (text(tail='<equality><joint joint3="h"/></equality>'), "no attribute 'joint3'"),
    "attribute of a key": (text(tail='<keyframe><key qps="1"/></keyframe>'), "no attribute 'qps'"),
    "same names": (text(BODY + '\n<body name="b"/>'), "the name 'b' is taken by the one of line 4"),
    "name of the world": (text('<body name="world"/>'), "taken by the ground"),
    "joint of the world": (text("<joint/>"), "the world has no joints"),
    "no joints": (text('<geom size="1"/>'), "no body has a joint"),
    "free joint inside": (text(f"<body>{HINGE}<body><freejoint/></body></body>"), "which hangs on the world"),
    "free joint and another": (inside('<freejoint/><joint/>'), "the only one of its body"),
    "ball and hinge": (inside('<joint type="ball"/><joint/>'), "the last joint of its body that turns it"),
    "two inertials": (inside('<joint/><inertial pos="0 0 0" mass="1"/>\n<inertial pos="0 0 0" mass="1"/>'),
                      "line 6: <inertial>: a second <inertial>"),
    "inertial without mass": (inside('<joint/><inertial pos="0 0 0"/>'), 'it has no mass="..."'),
    "two matrices": (inside('<joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'),
                     "fullinertia excludes diaginertia"),
    "impossible inertia": (inside('<joint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'), "no body has"),
    "negative mass": (inside('<joint/><inertial pos="0 0 0" mass="-1" diaginertia="1 1 1"/>'), "must not be negative"),
    "size": (inside('<joint/><geom type="box" size="1 1"/>'), "a box needs 3 numbers in size, got 2"),
    "size beside an empty mesh": (
        inside('<joint/><geom type="capsule" mesh=""/>'), "a capsule needs 2 numbers in size, got 0"
    ),
    "zero size": (inside('<joint/><geom size="0"/>'), "has positive sizes"),
    "fromto of a sphere": (inside('<joint/><geom size="1" fromto="0 0 0 1 1 1"/>'), "a sphere has pos"),
    "fromto without size": (inside('<joint/><geom type="box" fromto="0 0 0 1 1 1"/>'), "size must give the radius"),
    "empty fromto": (inside('<joint/><geom type="box" size="1" fromto="1 1 1 1 1 1"/>'), "has no direction"),
    "class": (inside('<joint class="a"/>'), "no such default class"),
    "childclass": (text('<body childclass="a"/>'), "childclass='a'"),
    "class twice": (text(head='<default><default class="a"/><default class="a"/></default>'), "defined already"),
    "class without a name": (text(head="<default><default/></default>"), 'needs class="..."'),
    "outermost class": (text(head='<default class="a"/>'), 'the class of the outermost <default> is "main"'),
    "compiler": (text(head='<compiler angel="radian"/>'), "did you mean 'angle'"),
    "eulerseq": (text(head='<compiler eulerseq="xyw"/>'), "eulerseq='xyw'"),
    "global": (text(head='<compiler coordinate="global"/>'), 'coordinate="global" is not read'),
    "alignfree": (text(head='<compiler alignfree="true"/>'), 'alignfree="true" moves'),
    "align": (inside('<freejoint align="true"/>'), 'align="true" moves'),
    "negative bound": (text(head='<compiler boundmass="-1"/>'), "must not be negative"),
    "density": (text(head='<option density="1.2"/>'), "line 2: <option>: density='1.2': the forces of a fluid"),
    "viscosity": (text(head='<option viscosity="1.2"/>'), "viscosity='1.2'"),
    "gravcomp": (inside('<joint actuatorgravcomp="true"/>'), "weight that motors hold up is not read"),
    "polynomial": (inside('<joint type="ball" stiffness="1 2"/>'), "are read of hinges and slides"),
    "negative stiffness": (inside('<joint stiffness="-1 2"/>'), "stiffness must not be negative"),
    "yielding spring": (inside('<joint stiffness="1" springyield="2"/>'), "a spring that yields"),
    "negative damping": (inside('<joint damping="-1"/>'), "damping must not be negative"),
    "scaled frame": (text(f'<frame scale="2">{BODY}</frame>'), "it has no attribute 'scale'"),
    **{tag: (text(f"{BODY}\n<{tag}/>"), f"line 5: <{tag}>: it is not read")
       for tag in ("attach", "composite", "flexcomp", "plugin")},
    "plugin of a body": (inside("<joint/><plugin/>"), "it is not read"),
    "flex": (text(tail="<deformable><flex/></deformable>"), "deformable bodies have no counterpart"),
    "mocap": (inside('<joint/><body mocap="true"/>'), "a mocap body hangs on the world"),
    "replicate": (text(f"<replicate>{BODY}</replicate>"), 'it has no count="..."'),
    "replicas": (text(f'<replicate count="1000000000">{BODY}</replicate>'), "a whole number from 1 to"),
    "replicas of replicas": (text('<replicate count="90000"><replicate count="90000"/></replicate>'), "copies in all"),
    "replicated joint": (text('<replicate count="2"><joint/></replicate>'), "a <replicate> holds no joints"),
    "tendon inertia": (text(tail='<tendon><fixed armature="1"><joint joint="h" coef="1"/></fixed></tendon>'),
                      "a tendon with inertia, dry friction or a state of its own is not read"),
    "round tendon": (text(tail='<tendon><spatial stiffness="1"><geom geom="g"/></spatial></tendon>'),
                     "if its path has sites alone, no pulleys and no geoms"),
    "short tendon": (text(tail='<tendon><spatial stiffness="1"></spatial></tendon>'), "two sites at least"),
    "site of a tendon": (text(tail='<tendon><spatial damping="1"><site site="x"/></spatial></tendon>'),
                         "the file has no site of this name"),
    "rest of a tendon": (
        text(tail='<tendon><fixed stiffness="1" springlength="2 1"><joint joint="h" coef="1"/></fixed></tendon>'),
        "PathSpring rest must be one length, or two that rise"),
    "tendon of nothing": (text(tail="<tendon><fixed/></tendon>"), "a fixed tendon is a sum"),
    "tendon of a ball": (text('<body><joint name="h" type="ball"/><geom size="1"/></body>',
                              tail='<tendon><fixed><joint joint="h" coef="1"/></fixed></tendon>'), "hinges and slides"),
    "joint of a tendon": (text(tail='<tendon><fixed><joint joint="g" coef="1"/></fixed></tendon>'), "joint='g'"),
    "actuator": (text(tail='<actuator><motr joint="h"/></actuator>'), "<actuator> holds"),
    "joint of an actuator": (text(tail='<actuator><motor joint="g"/></actuator>'), "no joint of this name"),
    "rotor of a tendon": (text(tail='<tendon><fixed name="T"><joint joint="h" coef="1"/></fixed></tendon><actuator>'
                               '<motor tendon="T" armature="1"/></actuator>'), "give them to the joints"),
    "equality": (text(tail="<equality><flexvert/></equality>"), "known are connect, weld, joint and tendon"),
    "connect without anchor": (text(tail='<equality><connect body1="b"/></equality>'), 'no anchor="..."'),
    "one site": (text(tail='<equality><weld site1="b"/></equality>'), "two sites, or one or two bodies"),
    "joints of an equality": (text(tail='<equality><joint joint2="h"/></equality>'), "joint1 and joint2"),
    "a joint with itself": (text(tail='<equality><joint joint1="h" joint2="h"/></equality>'), "needs two joints"),
    "tendons by a polynomial": (text(tail='<tendon><fixed name="S"><joint joint="h" coef="1"/></fixed></tendon>'
                                '<equality><tendon tendon1="S" tendon2="S" polycoef="0 1 1"/></equality>'),
                                "second degree"),
    "a tendon with itself": (text(tail='<tendon><fixed name="S"><joint joint="h" coef="1"/></fixed></tendon><equality>'
                             '<tendon tendon1="S" tendon2="S"/></equality>'), "constrains nothing"),
    "tendons of an equality": (text(tail='<tendon><spatial name="S"/></tendon><equality><tendon tendon1="S"/>'
                                    "</equality>"), "'S' is no fixed tendon"),
    "key": (text(tail='<keyframe><key qpos="1 2"/></keyframe>'), "qpos has 2 numbers, expected 1"),
    "key of no rotation": (text('<body><freejoint/><geom size="1"/></body>',
                                tail='<keyframe><key qpos="0 0 0 0 0 0 0"/></keyframe>'), "is no rotation"),
    "keys of one name": (text(tail='<keyframe><key name="a"/><key name="a"/></keyframe>'), "'a' is taken"),
    "springdamper of nothing": (text('<body><joint springdamper="1 1"/></body>'), "some joint of the model moves none"),
    "part": ("<mujocoinclude/>", "load the file that includes it"),
    "entities": ('<!DOCTYPE m [<!ENTITY a "b">]><mujoco/>', "document type"),
    "include in a text": ('<mujoco><include file="a.xml"/></mujoco>', "a text includes no files"),
    "mesh in a text": (inside('<joint/><geom type="mesh" mesh="m"/>'), "load the file, not its text"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.slow
def test_an_error_names_line_and_element(name):
    given, words = WRONG[name]
    with pytest.raises(od.ModelError) as error:
        od.io.parse_mjcf(given, "robot.xml")
    assert words in str(error.value)
    assert re.match(r"robot\.xml, line \d+: ", str(error.value)) or name == "impossible inertia"


def write(folder, name, content):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_files_include_files(tmp_path):
    """Files in the folder of the main one or below; beside the file that includes them or beside the main one."""
    main = write(tmp_path, "m.xml", text('<include file="parts/arm.xml"/>', head='<include file="head.xml"/>'))
    write(tmp_path, "head.xml", '<any><compiler angle="radian"/></any>')
    write(tmp_path, "parts/arm.xml", '<a><body name="arm"><include file="joints.xml"/><geom size="1"/></body></a>')
    write(tmp_path, "parts/joints.xml", '<a><joint name="j" ref="0.25"/><include file="more.xml"/></a>')
    write(tmp_path, "more.xml", '<a><joint name="k" axis="1 0 0"/></a>')
    found = od.io.read_mjcf(main)
    assert found.model.q_names == ("j", "k")
    assert found.reference.tolist() == [0.25, 0]
    assert od.load(main) == found.model
    write(tmp_path, "parts/arm.xml", '<a><body><joint name="j" ref="x"/></body></a>')
    with pytest.raises(od.ModelError, match=r"arm.xml, line 1: <joint 'j'>: ref"):
        od.load(main)


def test_includes_that_are_refused(tmp_path):
    inner = tmp_path / "in"
    main = write(inner, "m.xml", text('<include file="../out.xml"/>'))
    write(tmp_path, "out.xml", f"<a>{BODY}</a>")
    with pytest.raises(od.ModelError, match=r"line 4: <include>: .*does not lie in the folder.*folder="):
        od.io.read_mjcf(main)
    assert od.io.read_mjcf(main, folder=tmp_path).model.q_names == ("h",)
    write(inner, "m.xml", text('<include file="m.xml"/>'))
    with pytest.raises(od.ModelError, match="included already"):
        od.io.read_mjcf(main)
    write(inner, "m.xml", text('<include file="loop.xml"/>'))
    write(inner, "loop.xml", '<a><include file="loop.xml"/></a>')
    with pytest.raises(od.ModelError, match="included already"):
        od.io.read_mjcf(main)
    for k in range(30):
        write(inner, f"d{k}.xml", f'<a><include file="d{k + 1}.xml"/></a>')
    write(inner, "m.xml", text('<include file="d0.xml"/>'))
    with pytest.raises(od.ModelError, match="more than 20 deep"):
        od.io.read_mjcf(main)
    for name in ("", "absent.xml", "/etc/hostname", "\\\\a"):
        write(inner, "m.xml", text(f'<include file="{name}"/>'))
        with pytest.raises(od.ModelError, match="line 4: <include>"):
            od.io.read_mjcf(main)
    write(inner, "empty.xml", "<a/>")
    write(inner, "m.xml", text('<include file="empty.xml"/>'))
    with pytest.raises(od.ModelError, match="holds no elements"):
        od.io.read_mjcf(main)
    with pytest.raises(od.ModelError, match="use parse_mjcf"):
        od.io.read_mjcf("<mujoco/>")


CORNERS = "0 0 0 1 0 0 0 2 0 0 0 3"
MESHED = text('<body name="b" pos="1 2 3"><joint/><geom type="mesh" mesh="m"/></body>' + f"<body>{HINGE}</body>",
              head=f'<asset><mesh name="m" vertex="{CORNERS}"/></asset>')  # fmt: skip


def test_inertias_of_meshes_are_mujocos(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    main = write(tmp_path, "m.xml", MESHED)
    found = od.io.read_mjcf(main)
    from scripts.checks.formats import mjcf

    errors = mjcf.compare(found, mujoco.MjModel.from_xml_path(str(main)))
    assert max(errors.values()) < 1e-10
    assert found.model.mass == pytest.approx(1000 + 4 / 3 * np.pi)  # a pyramid of 1 m^3 of water, and a ball
    write(tmp_path, "m.xml", MESHED.replace(CORNERS, "0 0 0 1 0 0"))
    with pytest.raises(od.ModelError, match=r"m.xml, line 4: <geom>: the mass of the body follows.*it says"):
        od.io.read_mjcf(main)


def without_mujoco(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] == "mujoco":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_files_load_without_mujoco(tmp_path, monkeypatch):
    """All but bodies whose mass follows from a mesh."""
    main = write(tmp_path, "m.xml", MESHED.replace('type="mesh"', 'type="mesh" mass="0"').replace("<joint/>", HINGE, 1)
                 .replace(f"<body>{HINGE}</body>", ""))  # fmt: skip
    without_mujoco(monkeypatch)
    assert od.io.read_mjcf(main).model.nv == 1
    write(tmp_path, "m.xml", MESHED)
    with pytest.raises(od.ModelError, match=r"line 4: <geom>: .*mujoco is not installed: pip install mujoco, or give"):
        od.io.read_mjcf(main)


def test_equalities_belong_to_the_model_and_couplings_are_mimics(tmp_path):
    tail = '<equality><joint name="e" joint1="h" joint2="k" polycoef="0.5 2 0 0 0"/></equality>'
    world = BODY + '<body><joint name="k"/><geom size="1"/></body>'
    main = write(tmp_path, "m.xml", text(world, tail=tail))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = od.load(main)
    assert model.mimics == (("h", "k", 2.0, 0.5),)
    assert [c.name for c in model.constraints] == ["h=k"]
    path = tmp_path / "m.json"
    od.save_model(model, path)
    assert od.load(path) == replace(model, shape_files=())


MOTORS = """<actuator>
<motor joint="a" gear="3" ctrlrange="-1 2" forcerange="-5 1.5"/>
<position joint="b" kp="9" gear="-2" forcerange="-1 4"/>
<general joint="c" gainprm="5" ctrlrange="0 1"/> <motor joint="c" ctrlrange="-1 1"/>
<motor tendon="T" gear="2" ctrlrange="-1 1"/>
<motor joint="w" gear="0 2 0" ctrlrange="-1 3"/>
</actuator><tendon><fixed name="T"><joint joint="d" coef="0.5"/><joint joint="e" coef="-3"/></fixed></tendon>"""


def test_motors_limit_torques():
    joints = "".join(f'<body><joint name="{name}" {more}/><geom size="1"/></body>' for name, more in (
        ("a", ""), ("b", ""), ("c", ""), ("d", ""), ("e", 'actuatorfrcrange="-4 5"'), ("f", ""), ("w", 'type="ball"'),
    ))  # fmt: skip
    found = od.io.parse_mjcf(text(joints, tail=MOTORS))
    assert found.model.dofs.effort.tolist() == [
        [-3, 4.5], [-8, 2], [-1, 6], [-1, 1], [-4, 5], [0, 0], [0, 0], [-2, 6], [0, 0]]  # fmt: skip
    assert [a.kind for a in found.actuators] == ["motor", "position", "general", "motor", "motor", "motor"]
    assert found.tendons == (("T", ("d", "e"), (0.5, -3.0), -np.inf, np.inf),)
    free = od.io.parse_mjcf(text(joints)).model.dofs.effort
    assert np.isinf(np.delete(free, 4, 0)).all()
    assert free[4].tolist() == [-4, 5]
    sites = MOTORS.replace("</actuator>", '<motor site="s"/></actuator>')
    told = od.io.parse_mjcf(text(joints + '<site name="s"/>', tail=sites))
    assert np.isinf(told.model.dofs.effort[5]).all()
    assert "kinds motor" in told.skipped[0]


def test_what_is_skipped_is_told():
    world = '<body mocap="true" name="m"/><body><joint name="w" type="ball" range="0 1"/><geom size="1"/></body>'
    found = od.io.parse_mjcf(text(world, tail='<tendon><spatial name="S"><site site="a"/></spatial></tendon>'))
    told = " ".join(found.skipped)
    assert all(word in told for word in ("spatial tendons", "S", "ball joints: w", "mocap bodies do not move: m"))


@pytest.mark.slow
def test_mutated_files_meet_model_errors_only():
    """Seeded mutations of a file with everything; `scripts/checks/fuzz` runs more."""
    from tests.io.mjcf.test_mjcf_features import MODELS

    rng, loaded = random.Random(5), 0
    words = ["nan", "1e999", "-1", "", "0 0 0", "true", "b", "h", "\x00", "é", "<", '"', "1 2 3 4 5 6 7", "../a.xml"]
    for original in list(MODELS.values()) * 3:
        parts = re.split(r'(="[^"]*"|<[^ />]+|[ />]+)', original)
        for _ in range(rng.randint(1, 3)):
            k = rng.randrange(len(parts))
            old = parts[k]
            parts[k] = f'="{rng.choice(words)}"' if old.startswith('="') else rng.choice(["", rng.choice(parts), old])
        try:
            od.io.parse_mjcf("".join(parts))
            loaded += 1
        except od.ModelError:
            pass
    assert loaded  # mutations that change nothing of importance
