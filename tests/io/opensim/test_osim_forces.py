"""Forces of OpenSim models, against the numbers of OpenSim 4.6 for the same texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io import osim_spheres, parse_osim
from tests.helpers import close
from tests.io import osim_models as made


def place(name: str, parent: str, origin: str, angles: str) -> str:
    return (
        f'<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent><translation>{origin}</translation>'
        f"<orientation>{angles}</orientation></PhysicalOffsetFrame>"
    )


def joint(kind: str, parent: str, child: str, names: str, frames: str = "") -> str:
    return (
        f'<{kind} name="to_{child}"><socket_parent_frame>{parent}</socket_parent_frame><socket_child_frame>/bodyset/'
        f"{child}</socket_child_frame>{made.coordinates(names)}<frames>{frames}</frames></{kind}>"
    )


STIFF = """<rotational_stiffness>1 2 3</rotational_stiffness><translational_stiffness>40 50 60</translational_stiffness>
<rotational_damping>.1 .2 .3</rotational_damping><translational_damping>4 5 6</translational_damping>"""
FORCES = f"""<ForceSet><objects>
<CoordinateLimitForce name="turn"><coordinate>x</coordinate><upper_stiffness>2</upper_stiffness>
<upper_limit>20</upper_limit><lower_stiffness>3</lower_stiffness><lower_limit>-10</lower_limit><damping>0.3</damping>
<transition>15</transition></CoordinateLimitForce>
<CoordinateLimitForce name="slide"><coordinate>s</coordinate><upper_stiffness>20</upper_stiffness>
<upper_limit>0.2</upper_limit><lower_stiffness>30</lower_stiffness><lower_limit>-0.1</lower_limit><damping>3</damping>
<transition>0.2</transition></CoordinateLimitForce>
<ExpressionBasedCoordinateForce name="formula"><coordinate>y</coordinate>
<expression>-2*q^3 + sin(q)*qdot -2^-q^2*3 + a; a = exp(-q)</expression></ExpressionBasedCoordinateForce>
<SpringGeneralizedForce name="spring"><coordinate>z</coordinate><stiffness>12</stiffness><rest_length>.3</rest_length>
<viscosity>.7</viscosity></SpringGeneralizedForce>
<SpringGeneralizedForce name="second"><coordinate>z</coordinate><stiffness>5</stiffness><rest_length>-.1</rest_length>
<viscosity>.2</viscosity></SpringGeneralizedForce>
<BushingForce name="rubber"><socket_frame1>f1</socket_frame1><socket_frame2>f2</socket_frame2><frames>
{place("f1", "/bodyset/a", ".1 0 .2", ".3 -.2 .1")}{place("f2", "/bodyset/c", "0 .3 .2", "-.1 .4 .1")}</frames>{STIFF}
</BushingForce>
<BushingForce name="tie"><socket_frame1>/ground</socket_frame1><socket_frame2>/bodyset/b</socket_frame2>{STIFF}
</BushingForce></objects></ForceSet>"""


ENDS = f"""<socket_frame1>f1</socket_frame1><socket_frame2>f2</socket_frame2><frames>
{place("f1", "/bodyset/a", ".1 0 .2", ".3 -.2 .1")}{place("f2", "/bodyset/c", "0 .3 .2", "-.1 .4 .1")}</frames>"""
CURVE = "<{0}><SimmSpline><x>-2 -1 0 1 2</x><y>{1}</y></SimmSpline></{0}>"
LAWS = "".join(
    CURVE.format(f"{kind}_{letter}_{what}_{letter}_function", f"-3 {k} 0 2 {k}")
    for k, (kind, what, letter) in enumerate((*(("m", "theta", x) for x in "xyz"), *(("f", "delta", x) for x in "xyz")))
)
KINDS = f"""<ForceSet><objects>
<ExpressionBasedBushingForce name="formulas">{ENDS}<Mx_expression>3*theta_x+2*delta_y</Mx_expression>
<My_expression>theta_y^3-0.5*theta_z</My_expression><Mz_expression>2*a;a=theta_z^2</Mz_expression>
<Fx_expression>10*delta_x^3</Fx_expression><Fy_expression>-1*delta_y*theta_x</Fy_expression>
<rotational_damping>.1 .2 .3</rotational_damping><translational_damping>4 5 6</translational_damping>
</ExpressionBasedBushingForce>
<FunctionBasedBushingForce name="curves">{ENDS}{LAWS}<translational_damping>4 5 6</translational_damping>
</FunctionBasedBushingForce>
<PointToPointSpring name="rope"><socket_body1>/ground</socket_body1><socket_body2>/bodyset/c</socket_body2>
<point1>1 2 .5</point1><point2>.1 .2 .3</point2><stiffness>30</stiffness><rest_length>.4</rest_length>
</PointToPointSpring></objects></ForceSet>"""


def model_of(forces: str) -> str:
    joints = joint("PinJoint", "/ground", "a", "qa")
    joints += joint("GimbalJoint", "pa", "b", "x y z", place("pa", "/bodyset/a", ".1 .2 .3", ".1 .2 .3"))
    joints += joint("SliderJoint", "/bodyset/b", "c", "s")
    bodies = "".join(map(made.body, "abc"))
    return made.document(
        f"<BodySet><objects>{bodies}</objects></BodySet><JointSet><objects>{joints}</objects></JointSet>{forces}"
    )


OPENSIM = (
    ((0.273923374642909, -0.460426572472259, -0.918052952127611, -0.966944728942942, 0.626540478400545),
     (1.651022309110887, 0.426543103068719, 0.917986243935994, 0.174499965861691, 1.740289695151073),
     (-0.650957257953884, 46.08844747157958, 5.740293305016318, 17.111144877243376, -51.83575213553796)),
    ((0.574196614977367, -0.521261114014096, 0.752968461621408, -0.882863930389611, -0.327765878908679),
     (-1.398882132420644, -0.198642533402852, 1.185297081149177, -1.07743116402501, -1.791914795742362),
     (1.150804790106784, 61.45469536315968, -6.499535202562585, 16.190628166972672, 42.466234963730244)),
)  # fmt: skip
"""q, u, and the generalized force of all forces at them."""


OF_KINDS = (
    (15.564241772887113, -27.589003391701276, 20.2479458152972, 34.89707327507735, -28.812942627205636),
    (-22.237916697862186, 4.375810182292279, -2.2396947429777825, -12.922443662770776, 32.03106178661001),
)
"""The generalized force of bushings by formulas and functions, and of a spring between points, there."""


@pytest.mark.parametrize("up", ["y", "z"])
@pytest.mark.slow
def test_passive_forces_are_those_of_opensim(up: str) -> None:
    model, other = (parse_osim(model_of(forces), up=up) for forces in (FORCES, KINDS))  # type: ignore[arg-type]
    assert model.q_names == ("qa", "x", "y", "z", "s")
    for (q, u, force), of_kinds in zip(OPENSIM, OF_KINDS, strict=True):
        close(od.passive_force(model, q, u), np.array(force), 1e-13)
        close(od.passive_force(other, q, u), np.array(of_kinds), 1e-13)


def test_forces_at_held_coordinates_do_nothing(tmp_path: Path) -> None:
    own = '<Coordinate name="s">'
    text = model_of(FORCES).replace(own, own + "<locked>true</locked>")
    model = parse_osim(text)
    assert [type(one).__name__ for one in model.passive] == ["CoordinateLimit", "FormulaTorque"]
    assert len(parse_osim(text, drop=("BushingForce",)).bushings) == 0
    od.save_model(model, tmp_path / "m.json")
    assert od.load(tmp_path / "m.json") == model


def test_prescribed_motions_stay_dofs() -> None:
    own = '<Coordinate name="s">'
    motion = f"<prescribed>true</prescribed><prescribed_function>{made.SINE}</prescribed_function>"
    model = parse_osim(model_of("").replace(own, own + motion))
    assert [one.name for one in model.prescribed] == ["s"]
    close(model.prescribed[0].function.at(0.4), 0.3 * np.sin(1.5 * 0.4 + 0.2) + 0.1)
    assert model.lock_joints({"to_c": 0.1}).prescribed == ()
    assert model.subtree("a").prescribed == model.prescribed
    close(model.scale(2.0, 1.0).prescribed[0].function.at(0.4), 2 * model.prescribed[0].function.at(0.4))
    cart = od.ModelBuilder("cart")
    cart.add_body("cart", od.Prismatic("x"), mass=1)
    assert cart.build().attach(model, "cart", "m_").prescribed[0].name == "m_s"


def parameters(geometry: str, *numbers: float) -> str:
    tags = ("stiffness", "dissipation", "static_friction", "dynamic_friction", "viscous_friction")
    inner = "".join(f"<{tag}>{x}</{tag}>" for tag, x in zip(tags, numbers, strict=True))
    kind = "HuntCrossleyForce::ContactParameters"
    return f"<{kind}><geometry>{geometry}</geometry>{inner}</{kind}>"


SETS = "HuntCrossleyForce::ContactParametersSet"
CONTACT = f"""<ContactGeometrySet><objects>
<ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><orientation>0 0 -1.5707963267948966</orientation>
</ContactHalfSpace><ContactSphere name="ball"><socket_frame>/bodyset/a</socket_frame><location>0.1 0.2 0.3</location>
<radius>0.9</radius></ContactSphere></objects></ContactGeometrySet><ForceSet><objects><HuntCrossleyForce name="hc">
<{SETS} name="contact_parameters"><objects>{parameters("ball", 20000, 0.1, 0.8, 0.6, 0.3)}
{parameters("floor", 50000, 0.2, 0.5, 0.4, 0.2)}</objects></{SETS}><transition_velocity>0.1</transition_velocity>
</HuntCrossleyForce></objects></ForceSet>"""
BALL = """<CustomJoint name="j"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/a
</socket_child_frame><coordinates><Coordinate name="x"/><Coordinate name="y"/><Coordinate name="r"/></coordinates>
<SpatialTransform>AXES</SpatialTransform></CustomJoint>"""


def test_hunt_crossley_contact_is_that_of_opensim_but_for_its_smoothing(tmp_path: Path) -> None:
    """At 15 cm depth; the axes that the joint leaves out stand still."""
    axes = made.axis(0, "r", "1 0 0", made.LINEAR) + made.axis(3, "x", "1 0 0", made.LINEAR)
    axes += made.axis(4, "y", "0 1 0", made.LINEAR)
    body = f"<BodySet><objects>{made.body('a')}</objects></BodySet>"
    text = made.document(f"{body}<JointSet><objects>{BALL.replace('AXES', axes)}</objects></JointSet>{CONTACT}")
    (tmp_path / "ball.osim").write_text(text)
    model, spheres = od.load_osim(tmp_path / "ball.osim", up="y"), osim_spheres(tmp_path / "ball.osim")
    assert model.q_names == ("r", "x", "y")
    q, u = (-0.29654475932385, -0.23768665955815, 0.250364672630053), (-0.87836496805584, -0.05923610227346,
        1.922948799204955)  # fmt: skip
    found = od.compliant_force(model, spheres, q, u, normal=(0, 1, 0))
    expected = np.array([-16.64555694685083, 172.4989755260828, 1696.370042903049])
    close(found / expected[2], expected / expected[2], 1e-4)
    for change, message in {
        ("<geometry>ball", "<geometry>bal"): "there is no geometry 'bal': did you mean 'ball'",
        ("<stiffness>20000", "<stiffness>0"): "the stiffness of both surfaces must be positive",
        ("<geometry>floor", "<geometry>ball"): "spheres against one half space are read, got <ContactSphere 'ball'>",
    }.items():
        (tmp_path / "ball.osim").write_text(text.replace(*change))
        with pytest.raises(od.ModelError, match=message):
            osim_spheres(tmp_path / "ball.osim")


FAULTS = {
    ("2*q^3", "2*p^3"): r"line \d+: <ExpressionBasedCoordinateForce 'formula'>: FormulaTorque on y: .* no variable 'p'",
    ("<coordinate>z", "<coordinate>zz"): "there is no coordinate 'zz'",
    ("<transition>15", "<transition>-15"): "transition .* must be positive",
    ("1 2 3</rot", "1 -2 3</rot"): "<BushingForce 'rubber'>: Bushing stiffness must not be negative",
    ("SpringGeneralizedForce", "SpringGeneralForce"): "SpringGeneralForce are not read: did you mean",
    ("<socket_frame2>f2", "<socket_frame2>f3"): "its frame 2 'f3' is no body or frame",
}


@pytest.mark.parametrize("change", FAULTS)
def test_faults_of_forces(change: tuple[str, str]) -> None:
    text = model_of(FORCES).replace(*change, -1 if change[0].startswith("Spring") else 1)
    with pytest.raises(od.ModelError, match=FAULTS[change]):
        parse_osim(text, source="m.osim")
