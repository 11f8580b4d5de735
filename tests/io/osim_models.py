"""Small OpenSim documents, written by hand for the tests: joints of every class, old and new."""

from __future__ import annotations

OFFSETS = ((0.1, -0.2, 0.05), (0.3, -0.1, 0.2)), ((-0.02, 0.1, 0.03), (-0.2, 0.4, 0.1))
"""Places (translation, orientation) of a joint in its parent and in its child."""
SPLINE = "<SimmSpline><x>-1 -0.4 0.1 0.6 1.2</x><y>0.1 -0.05 0.02 0.1 0.3</y></SimmSpline>"
SINE = "<Sine><amplitude>0.3</amplitude><omega>1.5</omega><phase>0.2</phase><offset>0.1</offset></Sine>"
LINES = "<PiecewiseLinearFunction><x>-1 0 1</x><y>0.2 0 0.3</y></PiecewiseLinearFunction>"
SCALED = f"<MultiplierFunction><function>{SPLINE}</function><scale>1.5</scale></MultiplierFunction>"


def triple(numbers: tuple[float, ...]) -> str:
    return " ".join(map(str, numbers))


def document(model: str, version: int = 40000, gravity: str = "0 -9.80665 0") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<OpenSimDocument Version="{version}">\n<Model name="small">\n'
        f"<gravity>{gravity}</gravity>\n{model}\n</Model>\n</OpenSimDocument>\n"
    )


def body(name: str, inner: str = "", mass: float = 2.0) -> str:
    return (
        f'<Body name="{name}"><mass>{mass}</mass><mass_center>0.1 -0.2 0.3</mass_center>'
        f"<inertia>0.3 0.4 0.5 0.01 0.02 0.03</inertia>{inner}</Body>\n"
    )


def coordinates(names: str, extra: str = "") -> str:
    inner = "".join(f'<Coordinate name="{name}">{extra}</Coordinate>\n' for name in names.split())
    return f"<coordinates>{inner}</coordinates>"


def offset(name: str, parent: str, place: tuple[tuple[float, ...], tuple[float, ...]]) -> str:
    return (
        f'<PhysicalOffsetFrame name="{name}"><socket_parent>{parent}</socket_parent>'
        f"<translation>{triple(place[0])}</translation><orientation>{triple(place[1])}</orientation>"
        "</PhysicalOffsetFrame>\n"
    )


def joint(kind: str, name: str, parent: str, child: str, inner: str, places: object = OFFSETS) -> str:
    outer, moved = places  # type: ignore[misc]
    frames = offset("outer", parent, outer) + offset("inner", child, moved)
    return (
        f'<{kind} name="{name}"><socket_parent_frame>outer</socket_parent_frame>'
        f"<socket_child_frame>inner</socket_child_frame>{inner}<frames>{frames}</frames></{kind}>\n"
    )


def axis(number: int, names: str, direction: str, function: str) -> str:
    kind = "rotation" if number < 3 else "translation"
    return (
        f'<TransformAxis name="{kind}{number % 3 + 1}"><coordinates>{names}</coordinates><axis>{direction}</axis>'
        f"<function>{function}</function></TransformAxis>\n"
    )


LINEAR = "<LinearFunction><coefficients>1 0</coefficients></LinearFunction>"
TWO = "<LinearFunction><coefficients>0.5 -0.7 0.1</coefficients></LinearFunction>"
NONE = "<Constant><value>0</value></Constant>"
STILL = "<Constant><value>0.3</value></Constant>"
POLYNOMIAL = "<PolynomialFunction><coefficients>0.2 -0.4 0.5 0.1</coefficients></PolynomialFunction>"


def spatial_transform() -> str:
    """Two coordinates, b before a, one function of each class."""
    rows = [
        ("b", "0 0.2 1", SPLINE), ("a b", "1 0 0", TWO), ("", "0 1 0", STILL),
        ("a", "1 0 0", SCALED), ("b", "0 1 1", SINE), ("a", "0 0 1", LINES),
    ]  # fmt: skip
    return "<SpatialTransform>" + "".join(axis(k, *row) for k, row in enumerate(rows)) + "</SpatialTransform>"


SCAPULA = """<thoracic_ellipsoid_radii_x_y_z>0.1 0.2 0.3</thoracic_ellipsoid_radii_x_y_z>
<scapula_winging_axis_origin>0.02 -0.03</scapula_winging_axis_origin>
<scapula_winging_axis_direction>0.4</scapula_winging_axis_direction>"""

JOINTS: dict[str, tuple[str, str]] = {
    "WeldJoint": ("", ""),
    "PinJoint": ("a", ""),
    "SliderJoint": ("a", ""),
    "UniversalJoint": ("a b", ""),
    "BallJoint": ("a b c", ""),
    "GimbalJoint": ("a b c", ""),
    "EllipsoidJoint": ("a b c", "<radii_x_y_z>0.1 0.2 0.3</radii_x_y_z>"),
    "PlanarJoint": ("a b c", ""),
    "FreeJoint": ("a b c d e f", ""),
    "ScapulothoracicJoint": ("a b c d", SCAPULA),
    "CustomJoint": ("a b", spatial_transform()),
}
"""Coordinates and further properties of a joint of every class."""


def one_joint(kind: str, extra: str = "") -> str:
    """A pin `base` on the ground, and a joint of a class between two bodies, all in general position."""
    names, inner = JOINTS[kind]
    joints = joint("PinJoint", "base", "/ground", "/bodyset/root", coordinates("base_angle"))
    joints += joint(kind, "tested", "/bodyset/root", "/bodyset/tip", coordinates(names) + inner)
    return document(
        f"<BodySet><objects>{body('root')}{body('tip')}</objects></BodySet>"
        f"<JointSet><objects>{joints}</objects></JointSet>{extra}"
    )


def old_leg(version: int = 30000, reverse: str = "false") -> str:
    """A knee in a document of OpenSim 3: joints stand in their bodies."""
    values = zip(("xx", "yy", "zz", "xy", "xz", "yz"), (0.3, 0.4, 0.5, 0.01, 0.02, 0.03), strict=True)
    inertia = "".join(f"<inertia_{name}>{value}</inertia_{name}>" for name, value in values)

    def old(name: str, parent: str, kind: str, names: str, inner: str = "") -> str:
        (t0, r0), (t1, r1) = OFFSETS
        own = "".join(f'<Coordinate name="{n}"><range>-1 2</range></Coordinate>' for n in names.split())
        return (
            f'<Body name="{name}"><mass> 2.0 </mass><mass_center> 0.1 -0.2 0.3 </mass_center>{inertia}<Joint>'
            f'<{kind} name="{name}_j"><parent_body> {parent} </parent_body>'
            f"<location_in_parent>{triple(t0)}</location_in_parent>"
            f"<orientation_in_parent>{triple(r0)}</orientation_in_parent>"
            f"<location>{triple(t1)}</location><orientation>{triple(r1)}</orientation>"
            f"<CoordinateSet><objects>{own}</objects></CoordinateSet><reverse>{reverse}</reverse>{inner}"
            f"</{kind}></Joint></Body>\n"
        )

    ground = '<Body name="ground"><mass>0</mass><Joint/></Body>'
    bodies = old("root", "ground", "PinJoint", "base_angle") + old(
        "tip", "root", "CustomJoint", "a b", spatial_transform()
    )
    return document(f"<BodySet><objects>{ground}{bodies}</objects></BodySet>", version)
