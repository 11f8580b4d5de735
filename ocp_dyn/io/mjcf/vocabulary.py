"""The attributes that elements of MJCF may have: those of MuJoCo 4, so that a misspelled one is found."""

from __future__ import annotations

from ..._base.types import repr_in_message, suggestion
from ..xml import XmlElement

ATTRIBUTES = {
    "body": ("name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mocap", "gravcomp",
             "sleep", "simple", "fuse", "user"),
    "frame": ("name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"),
    "replicate": ("count", "sep", "offset", "euler"),
    "inertial": ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mass", "diaginertia", "fullinertia"),
    "freejoint": ("name", "group", "align"),
    "joint": ("name", "class", "type", "group", "pos", "axis", "springdamper", "solreflimit", "solimplimit",
              "solreffriction", "solimpfriction", "stiffness", "range", "limited", "actuatorfrcrange",
              "actuatorfrclimited", "actuatorgravcomp", "margin", "ref", "springref", "springyield", "armature",
              "damping", "frictionloss", "user"),
    "site": ("name", "class", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "fromto", "type", "size", "mesh",
             "group", "material", "rgba", "user"),
    "geom": ("name", "class", "type", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "fromto", "size", "mass",
             "density", "shellinertia", "mesh", "hfield", "fitscale", "contype", "conaffinity", "condim", "group",
             "priority", "friction", "solmix", "solref", "solimp", "margin", "gap", "adhesion", "surfacevel",
             "castshadow", "fluidshape", "fluidcoef", "material", "rgba", "user"),
    "connect": ("name", "class", "active", "body1", "body2", "site1", "site2", "anchor", "solref", "solimp"),
    "weld": ("name", "class", "active", "body1", "body2", "site1", "site2", "anchor", "relpose", "torquescale",
             "solref", "solimp"),
    "equality joint": ("name", "class", "active", "joint1", "joint2", "polycoef", "solref", "solimp"),
    "equality tendon": ("name", "class", "active", "tendon1", "tendon2", "polycoef", "solref", "solimp"),
    "default equality": ("active", "solref", "solimp"),
    "key": ("name", "time", "qpos", "qvel", "act", "ctrl", "mpos", "mquat", "plastic"),
}  # fmt: skip
TENDON = (
    "name", "class", "group", "limited", "range", "springlength", "stiffness", "damping", "frictionloss", "armature",
    "springyield", "margin", "actuatorfrcrange", "actuatorfrclimited", "solreflimit", "solimplimit", "solreffriction",
    "solimpfriction", "width", "material", "rgba", "user",
)  # fmt: skip
ACTUATOR = (
    "name", "class", "group", "joint", "jointinparent", "tendon", "site", "refsite", "slidersite", "cranksite", "body",
    "cranklength", "gear", "ctrllimited", "ctrlrange", "forcelimited", "forcerange", "actlimited", "actrange",
    "lengthrange", "inheritrange", "actdim", "actearly", "armature", "damping", "dyntype", "gaintype", "biastype",
    "dynprm", "gainprm", "biasprm", "kp", "kv", "ki", "dampratio", "timeconst", "imax", "slewmax", "posrange",
    "velrange", "ffrange", "input", "area", "bias", "diameter", "force", "fpmax", "fvmax", "lmax", "lmin", "range",
    "scale", "tausmooth", "vmax", "gain", "cogging", "controller", "inductance", "lugre", "motorconst", "nominal",
    "resistance", "saturation", "thermal", "delay", "interp", "nsample", "plugin", "instance", "user",
)  # fmt: skip
"""Attributes of all kinds of actuators together: a default class mixes them."""


def check_attributes(element: XmlElement, kind: str = "") -> None:
    """ModelError for an attribute that the element does not have, such as a misspelled one.

    kind: under which the attributes are listed, where it is not the tag.
    """
    known = {"tendon": TENDON, "actuator": ACTUATOR}.get(kind) or ATTRIBUTES.get(kind or element.tag)
    if known is None:
        return
    for key in element.attributes:
        if key not in known:
            raise element.fault(f"it has no attribute {repr_in_message(key)}{suggestion(key, known)}")
