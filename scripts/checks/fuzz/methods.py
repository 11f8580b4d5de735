"""Calls for the fuzz: methods of what users hold, with wrong arguments.

Every public method of the classes in `held` is called, but for those that `skipped.json` lists with a reason.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, wraps
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp

from .arguments import SKIPPED, Call, call_of, valid
from .files import rotor, rotor_solution
from .folders import in_a_folder, quietly


@cache
def held() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Objects by the names of their classes, with good values of parameters by name."""
    good, bar = valid(), od.models.n_four_bar(1)
    model, solution = good["model"], rotor_solution()
    natural = od.formulations.natural(bar.model, bar.loops)
    known = good | {"other": bar.model, "data": np.zeros(3), "positions": {"tip_joint": 0.1},
                    "rng": np.random.default_rng(0), "prefix": "v_", "name": "tip", "dofs": None,
                    "stiffness": {"tip_joint": 2.0}, "joint": "tip_joint", "to": "tip", "wraps": (),
                    "markers": (od.Marker("heel", "tip", (0, 0, 0)),),
                    "muscles": (od.Muscle("calf", "PathSpring", (od.PathPoint("P1", "rod", (0, 0, 0)),
                        od.PathPoint("P2", "tip", (0, 0, 0.1)))),)}  # fmt: skip
    small = {"times": [0.0], "path": "x.npz", "side": "right"}
    built = {"name": "n", "joint": od.Revolute("x"), "body": "tip", "elements": ()}
    return {
        "Model": (model, known),
        "ModelBuilder": (_builder(), known | built | {"other": "tip_joint"}),
        "Contact": (od.Contact("tip"), known | {"kind": "point", "value": (0, 0, 1), "length": 2.0,
            "coordinates": {}, "frames": ("tip",), "held": {}, "left": ("tip",)}),
        "Layout": (od.Layout(model, "rbdl"), known),
        "ClosedChain": (bar, {"q0": ca.DM(bar.q)}),
        "NaturalCoordinates": (natural, {"name": natural.points[0].name}),
        "Problem": (rotor(), {"guess": None, "start": solution, "values": {}, "solution": solution, "maximum": 1}),
        "Solution": (solution, known | small | {"problem": rotor(), "accuracy": 1e-3,
            "load": ocp.JointLoad("disc_joint")}),
        "ActiveSet": (solution.active(), {}),
        "Gait": (_walk(), {"path": "x.csv", "name": "speed"}),
        "Quantity": (od.Quantity("E", "J"), known | {"static": (), "frames": ()}),
        "Signature": (od.Signature.parse("E: q -> E"), {"text": "E: q -> E", "name": "E", "options": {}}),
        "Terrain": (ocp.stairs(rise=0.17, tread=0.29, count=3), {"x": 0.1, "y": 0.1, "which": 0}),
    }  # fmt: skip


def _builder() -> od.ModelBuilder:
    builder = od.ModelBuilder("v")
    builder.add_body("rod", od.FloatingBase(), mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("tip", od.Revolute("x"), "rod", mass=1, inertia=(0.1, 0.1, 0.1))
    builder.add_body("end", od.Revolute("x"), "tip", mass=1, inertia=(0.1, 0.1, 0.1))
    return builder


def _of_new_builder(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of a new builder at every call: it changes the builder."""

    @wraps(method)
    def called(**given: Any) -> Any:
        return getattr(_builder(), method.__name__)(**given)

    return called


def _walk() -> ocp.Gait:
    """A gait of one curve."""
    return ocp.Gait("right", "a walk", {"knee": np.linspace(0, 1, 101)}, {"toe off": 60.0}, {"speed": 1.2})


def methods_of(thing: Any) -> dict[str, Callable[..., Any]]:
    """Public methods of an object, and what its class makes of arguments."""
    inherited = {*dir(tuple), *dir(dict)}
    names = [name for name in dir(type(thing)) if name[0] != "_" and name not in inherited]
    return {
        name: getattr(thing, name) for name in names
        if callable(inspect.getattr_static(type(thing), name, None)) or isinstance(
            inspect.getattr_static(type(thing), name), (staticmethod, classmethod))
    }  # fmt: skip


@cache
def calls() -> tuple[Call, ...]:
    """Every public method of `held` that is not skipped and takes arguments, in a temporary folder."""
    found = []
    for kind, (thing, good) in held().items():
        for name, run in methods_of(thing).items():
            run = _of_new_builder(run) if kind == "ModelBuilder" else run
            if f"{kind}.{name}" in SKIPPED["methods"]:
                continue
            call = call_of(f"{kind}.{name}", in_a_folder(quietly(run)), good)
            found += [call] if call.changed else []
    added = Call("ModelBuilder.add_passive", lambda elements: _builder().add_passive(elements), {"elements": ()},
                 ("elements",))  # fmt: skip
    return (*found, added)
