"""Every feature of MJCF in a small model of its own, against MuJoCo: mass matrix, bias force, passive forces, inverse
dynamics, places of bodies and sites, limits, keyframes, residuals and Jacobians of equalities, at random states."""

import warnings

import numpy as np
import pytest

import ocp_dyn as od
from scripts.checks.formats import mjcf

mujoco = pytest.importorskip("mujoco")

BOX = '<geom type="box" size="0.1 0.2 0.3"/>'
TURNED = '<inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25" {}/>'


def text(world: str, head: str = "", tail: str = "") -> str:
    return f"<mujoco>{head}<worldbody>{world}</worldbody>{tail}</mujoco>"


def body(inside: str, attributes: str = "", geom: str = BOX) -> str:
    """A hinged body on a hinged one, both in general position, with `inside` in the outer one."""
    inner = f'<body name="b" pos="0.1 0.2 0.3" {attributes}>{inside}{geom}</body>'
    return f'<body name="a" pos="1 2 3" euler="10 20 30"><joint name="j" axis="1 2 3"/>{BOX}{inner}</body>'


HINGE = '<joint name="h" axis="1 1 0"/>'
TWO = body('<joint name="h" axis="1 1 0" ref="20"/><site name="s" pos="0.1 0 0.2" euler="5 6 7"/>') + (
    '<body name="c" pos="0 1 0" euler="0 20 10"><joint name="k" axis="0 1 1" ref="-10"/><site name="t" pos="0 0.1 0"/>'
    f"{BOX}</body>"
)
THREE = '<joint name="x" type="slide" axis="1 1 0" ref="0.2"/><joint name="y" pos="0.1 0.2 0.3" ref="15"/>'


def equality(element: str) -> str:
    return text(TWO, tail=f"<equality>{element}</equality>")


PATH = '<site site="w"/><site site="s"/><site site="t"/></spatial>'
SUM = '<joint joint="h" coef="2"/><joint joint="k" coef="-3"/></fixed>'
TENDONS = {
    "on a path": f'<spatial stiffness="100 20 30" damping="3 2 1">{PATH}',
    "slack": f'<spatial name="r" stiffness="50" springlength="0.1 1.4">{PATH}',
    "with a damper": f'<spatial damping="2">{PATH}',
    "of a sum": f'<fixed stiffness="5 1 2" damping="1 2 3">{SUM}',
    "slack of a sum": f'<fixed stiffness="5" springlength="-0.3 0.2">{SUM}<fixed><joint joint="k" coef="2"/></fixed>',
}


def shaped(geom: str, compiler: str = "") -> str:
    return text(body(HINGE, geom=geom), head=f"<compiler {compiler}/>")


MODELS = {
    "hinge": text(body('<joint axis="1 2 3" pos="0.1 -0.2 0.3" range="-10 50"/>')),
    "slide": text(body('<joint type="slide" axis="1 2 3" pos="0.1 -0.2 0.3" range="-1 inf"/>')),
    "ball": text(body('<joint type="ball" pos="0.1 -0.2 0.3" stiffness="2" damping="0.3"/>')),
    "free": text(f'<body pos="1 2 3" euler="9 8 7"><freejoint/>{BOX}<body pos="1 0 1">{HINGE}{BOX}</body></body>'),
    "free with spring": text(
        f'<body pos="1 2 3" euler="10 20 30"><joint type="free" stiffness="3" damping="0.2" armature="1"/>{BOX}</body>'
    ),
    "chain": text(body(THREE + '<joint axis="1 0 1" pos="-0.1 0 0.2"/>')),
    "chain that ends with a slide": text(body(THREE + '<joint type="slide" axis="0 1 1"/>')),
    "slides and a ball": text(body('<joint type="slide" axis="0 1 1" ref="1"/><joint type="ball" pos="0 0.3 0"/>')),
    "radian": text(body('<joint ref="0.3" range="-1 2" springref="0.2" stiffness="3"/>'),
                   head='<compiler angle="radian"/>'),
    "degree": text(body('<joint ref="30" range="-10 20" springref="20" stiffness="3"/>')),
    "losses": text(body('<joint stiffness="3" springref="20" damping="0.4" frictionloss="0.2" armature="0.05"/>')),
    "polynomial springs": text(body('<joint stiffness="2 3 4" damping="1 2 3" springref="20" ref="10"/>')),
    "negative powers": text(body('<joint type="slide" stiffness="1 -2 3" damping="0 -0.1"/>')),
    "weight held up": text(body(HINGE, 'gravcomp="0.7"'), head='<option gravity="1 2 -5"/>'),
    **{f"tendon {kind}": text(
        TWO.replace('ref="20"', 'ref="20" springref="5"') + '<site name="w" pos="0.3 0.2 1.5"/>',
        tail=f"<tendon>{t}</tendon>") for kind, t in TENDONS.items()},
    "springdamper": text(body('<joint type="ball" springdamper="0.2 0.7"/>') + f"<body>{HINGE}{BOX}</body>"),
    **{f"springdamper with a motor, {flag}": text(
        body('<joint name="h" springdamper="0.2 0.7"/>'), head=f'<option><flag {flag}="disable"/></option>',
        tail='<actuator><motor joint="h" gear="3" armature="0.5" damping="0.2"/></actuator>')
       for flag in ("contact", "spring", "damper")},
    "a hinge before a ball": text(body(HINGE + '<joint type="ball" pos="0 0.3 0"/>')),
    "a least mass": text('<frame pos="1 0 2">' + body(HINGE + '<body pos="3 2 1"/>') + "</frame>",
                         head='<compiler inertiafromgeom="false" boundmass="0.1" boundinertia="0.1"/>'),
    "no springs": text(body('<joint stiffness="3" damping="0.4"/>'), head='<option><flag spring="disable"/></option>'),
    "no damping": text(body('<joint stiffness="3" damping="0.4"/>'), head='<option><flag damper="disable"/></option>'),
    "gravity": text(body(HINGE), head='<option gravity="1 2 3"/>'),
    "no gravity": text(body(HINGE), head='<option gravity="1 2 3"><flag gravity="disable"/></option>'),
    "unlimited": text(body('<joint range="-10 20" limited="false"/>')),
    "not automatic": text(body('<joint range="-10 20" limited="true"/>'), head='<compiler autolimits="false"/>'),
    "without bodies of their own": text(body(f'{HINGE}<body pos="1 0 0" euler="3 4 5">{BOX}<site name="s"/></body>')),
    **{f"orientation by {x}": text(body(HINGE, x)) for x in (
        'quat="1 2 3 4"', 'axisangle="1 2 3 40"', 'xyaxes="1 2 3 0 1 1"', 'zaxis="1 2 -3"', 'zaxis="0 0 -1"',
        'euler="10 20 30"')},
    **{f"eulerseq {x}": text(body(HINGE, 'euler="10 20 30"'), head=f'<compiler eulerseq="{x}"/>')
       for x in ("xyz", "XYZ", "zYx", "yXy")},
    **{f"{kind} {shell}": shaped(f'<geom type="{kind}" size="{size}" euler="10 20 30" pos="1 2 3" {shell}/>')
       for kind, size in (("sphere", "0.2"), ("capsule", "0.2 0.3"), ("cylinder", "0.2 0.3"),
                          ("ellipsoid", "0.2 0.3 0.5"), ("box", "0.2 0.3 0.5"))
       for shell in ("", 'shellinertia="true" mass="3"')},
    "density": shaped('<geom size="0.2" density="300"/>'),
    "mass": shaped('<geom size="0.2" mass="3"/>'),
    "shell": shaped('<geom type="box" size="0.2 0.3 0.5" shellinertia="true"/>'),
    **{f"fromto {kind}": shaped(f'<geom type="{kind}" size="0.2" fromto="0 0.1 0.2 1 0.4 -0.3"/>')
       for kind in ("capsule", "cylinder", "ellipsoid", "box")},
    "fromto down": text(body(f'{HINGE}<site name="s" type="box" size="0.1" fromto="0 0 0 0 0 -1"/>')),
    "several shapes": shaped(BOX + '<geom size="0.1" pos="0 1 0"/><geom size="0.1" mass="0" pos="0 0 9"/>'),
    "shapes by group": shaped(BOX + '<geom size="0.1" pos="0 1 0" group="3"/>', 'inertiagrouprange="0 2"'),
    "shapes before inertial": shaped(BOX + TURNED.format(""), 'inertiafromgeom="true"'),
    "inertial before shapes": shaped(BOX + TURNED.format('euler="10 20 30"')),
    "inertial alone": shaped(TURNED.format('quat="1 2 3 4"'), 'inertiafromgeom="true"'),
    "fullinertia": shaped('<inertial pos="0 1 0" mass="2" fullinertia="1 1.1 1.2 0.1 0.05 -0.2"/>'),
    "bounds": shaped('<inertial pos="0 1 0" mass="0.2" fullinertia="0.1 0.3 0.3 0.01 0.05 -0.02"/>',
                     'boundmass="0.5" boundinertia="0.2"'),
    "balanced": shaped('<inertial pos="0 1 0" mass="2" diaginertia="1 1 3" euler="10 20 30"/>',
                       'balanceinertia="true"'),
    "total mass": text(body(HINGE), head='<compiler settotalmass="7"/>'),
    "frames": text(body(f'<frame pos="1 2 3" euler="10 20 30">{HINGE}<frame pos="0 1 0" quat="1 2 3 4">'
                        f'<site name="s"/>{TURNED.format("")}</frame></frame>')),
    "frame of bodies": text(f'<frame pos="1 2 3" euler="9 8 7">{body(HINGE)}<body><freejoint/>{BOX}</body></frame>'),
    "replicate": text('<replicate count="3" sep="-" offset="0 1 0" euler="10 20 0"><replicate count="2" offset="1 0 0">'
                      f'<body name="r" pos="0.1 0 0"><joint name="q"/>{BOX}<site name="s"/></body></replicate>'
                      "</replicate>"),
    **{f"{n} replicas": text(f'<replicate count="{n}" offset="1 0 0"><body name="r"><joint/>{BOX}</body></replicate>')
       for n in (1, 10)},
    "classes": text(
        f'<body name="a" childclass="one"><joint/>{BOX}<body><joint class="two"/>{BOX}<frame childclass="two"><body>'
        f'<joint/><geom/></body></frame></body></body><body><joint/><geom class="two"/></body>',
        head='<default><joint axis="1 0 0" damping="1"/><default class="one"><joint damping="2"/><default class="two">'
        '<joint axis="0 1 0" stiffness="3"/><geom type="capsule" size="0.1 0.2" euler="10 20 30"/></default></default>'
        '<geom size="0.3" quat="1 2 3 4"/></default>'),
    "site of a body's name": text(body(HINGE + '<site name="b" pos="1 2 3"/><site name="a"/>')),
    "keyframes": text(body('<joint type="ball"/>'),
                      tail='<keyframe><key qpos="0.3 1 2 3 4"/><key name="n"/></keyframe>'),
    "rotors": text(body(HINGE), tail='<actuator><motor joint="h" gear="3" armature="0.5" damping="0.2"/>'
                                     '<position joint="h" kp="3" armature="0.1"/></actuator>'),
    "connect": equality('<connect body1="b" body2="c" anchor="0.1 0.2 0.3"/>'),
    "connect to the world": equality('<connect body1="b" anchor="0.1 0.2 0.3"/>'),
    "connect sites": equality('<connect site1="s" site2="t"/>'),
    "weld": equality('<weld body1="b" body2="c"/>'),
    "weld at a point": equality('<weld body1="b" body2="c" anchor="0.1 0.2 0.3"/>'),
    "weld by a pose": equality('<weld body1="b" body2="c" anchor="0.1 0.2 0.3" relpose="1 2 3 1 2 3 4"/>'),
    "weld sites": equality('<weld site1="s" site2="t"/>'),
    "joint": equality('<joint joint1="h" polycoef="0.3"/>'),
    "joints": equality('<joint joint1="h" joint2="k" polycoef="0.3 2 0 0 0"/>'),
    "joints by default": equality('<joint joint1="h" joint2="k"/>'),
    "joints by a polynomial": equality('<joint joint1="h" joint2="k" polycoef="0.3 2 -1 0.5 0.2"/>'),
    "off": equality('<joint joint1="h" active="false"/><joint joint1="k"/>'),
    "tendons": text(TWO, tail='<tendon><fixed name="T"><joint joint="h" coef="2"/><joint joint="k" coef="-3"/></fixed>'
                    '<fixed name="U"><joint joint="j" coef="1"/></fixed></tendon><equality><tendon tendon1="T" '
                    'tendon2="U" polycoef="0.1 2 0 0 0"/><tendon tendon1="U" polycoef="0.5"/></equality>'),
}  # fmt: skip


def files(name: str) -> od.io.MjcfFile:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return od.io.parse_mjcf(MODELS[name])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.slow
def test_a_feature_agrees_with_mujoco(name):
    errors = mjcf.compare(files(name), mujoco.MjModel.from_xml_string(MODELS[name]))
    assert {what: error for what, error in errors.items() if not error < 1e-10} == {}
    assert {"H", "C", "passive", "inverse dynamics", "bodies"} <= errors.keys()


def test_the_comparison_sees_errors():
    """It is of no use if it agrees with everything."""
    changed = MODELS["losses"].replace('damping="0.4"', 'damping="0.41"')
    errors = mjcf.compare(files("losses"), mujoco.MjModel.from_xml_string(changed))
    assert errors["passive"] > 1e-3
    assert errors["inverse dynamics"] > 1e-3 > errors["H"]
    moved = MODELS["connect"].replace('anchor="0.1', 'anchor="0.11')
    errors = mjcf.compare(files("connect"), mujoco.MjModel.from_xml_string(moved))
    assert errors["equalities"] > 1e-3
    assert errors["Jacobians of equalities"] > 1e-3


@pytest.mark.slow
def test_the_file_that_is_written_is_read():
    """Round trip by `write_mjcf`: the same equations of motion, springs and limits."""
    rng = np.random.default_rng(3)
    kinds = [od.Revolute("y"), od.Prismatic((1, 2, 3)), od.Spherical(), od.FloatingBase(), od.Universal("x", "y")]
    model = od.random_tree(8, 2, kinds, rng)
    read = od.io.parse_mjcf(od.io.mjcf_text(model)).model
    assert read.nv == model.nv
    layout, other = od.Layout(model, "mujoco"), od.Layout(read, "mujoco")
    q, qd, qdd = model.random_q(rng), *rng.normal(size=(2, model.nv))
    q2 = other.from_q(layout.to_q(q))
    back = [other.from_qd(q2, layout.to_qd(q, x)) for x in (qd, qdd)]
    tau = od.inverse_dynamics(model, q, qd, qdd)
    tau2 = od.inverse_dynamics(read, q2, *back)
    assert layout.to_tau(q, tau).full() == pytest.approx(other.to_tau(q2, tau2).full(), rel=1e-9, abs=1e-9)
