"""Calls for the fuzz: the public interface, with one or two wrong arguments."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import ocp_dyn as od

from .files import URDF, Case, Rng, model_data, pick
from .wrong import MISTAKEN, WRONG, misspelled


@cache
def valid() -> dict[str, Any]:
    """A good value for parameters of the interface by their names."""
    builder = od.ModelBuilder("v")
    rod = {"mass": 1, "com": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.1)}
    builder.add_body("rod", od.FloatingBase(), **rod)
    builder.add_body("tip", od.Revolute("x"), "rod", origin=(0, 0, -1), **rod)
    ends = od.PathPoint("P1", "rod", (0.1, 0, -0.9)), od.PathPoint("P2", "tip", (0.1, 0, -0.1))
    model = builder.build().with_muscles([od.Muscle("string", "PathSpring", ends)])
    q, v = ca.DM(model.neutral()), ca.DM.ones(model.nv)
    contact = od.Contact("tip", axes="xyz").at(model, q)
    return {
        **dict.fromkeys(("body", "frame", "successor"), "tip"), **dict.fromkeys(("predecessor", "to"), "rod"),
        "joint": "tip_joint", "dof": "tip_joint", "positions": {"tip_joint": 0.1}, "first": "x", "second": "y",
        **dict.fromkeys(("point", "position", "rpy", "origin"), (0, 0, 1)), "start": (0, 0, 0), "end": (1, 0, 0),
        **{key: [(0, 0, 0), (1, 0, 0)] for key in ("points", "corners")}, "p": (1, 2, 3), "gravity": (0, 0, -1),
        "model": model, "other": model, "constraints": (contact,), "constraint": contact,
        **dict.fromkeys(("q", "q0", "q1"), q), **dict.fromkeys(("qd", "qdd", "tau", "mu", "qd0", "v", "theta"), v),
        "radius": 0.1, "axis": "y", "axes": [(0, 0, 1, 0, 0, 0)], "kind": "pinocchio", "phi": lambda q: q[0],
        "F_mt": ca.DM.ones(1),
        "wrench": ca.DM.ones(6), "lam": ca.DM.ones(3), "twist": [0.1] * 6, "quat": ca.DM([0, 0, 0, 1]),
        "R": np.eye(3), "rotation": np.eye(3), "targets": [od.PointTarget("tip", (0, 0, -1.5))],
        "spheres": (od.HuntCrossleySphere("tip"),), "elements": [od.OneSidedSpring("tip_joint", 2.0, 0.1)],
        "function": lambda q: od.Transform(ca.DM.eye(3), ca.vertcat(q, 0, 0)), "algorithm": od.mass_matrix,
        "text": URDF, "data": json.loads(model_data()), "name": "new", "values": {}, "side": "l", "sex": "male",
        "n": 3, "T": 0.1, "t": [0.0, 1.0], "s": 0.5, "gain": 1.0, "stiffness": 2.0, "mass": 70.0, "height": 1.7,
        "pitch": 0.1, "peak": 100.0, "reference": "winter", "angle": 0.3, "width": 1.2, "speed_75": 1.5,
        "speed_50": 4.0,
    }  # fmt: skip


SKIPPED: dict[str, set[str]] = {
    room: {name for names in reasons.values() for name in names}
    for room, reasons in json.loads(Path(__file__).with_name("skipped.json").read_text(encoding="utf-8")).items()
}
"""Public names that are not called, room by room; the file tells why."""
REFINED = od.ocp.Round("gauss:2", ((0.0, 0.5, 1.0),), (1e-5, 1e-6), (0.0, 0.0), "swing", "hip", 0.0, 9, 0.1, 1.0)
OWN = {"JointCoupling": {"other": "root"}, "RollingContact": {"axis": None},
       "joint_work": {"qd": ca.DM.ones(7, 2), "tau": ca.DM.ones(7, 2)},
       "Contact": {"axes": "xyz"}, "OneSidedSpring": {"start": 0.1}, "Loop": {"axes": "ball"},
       "CoordinateLimit": {"upper": 0.2, "lower": -0.1, "upper_stiffness": 30.0, "lower_stiffness": 20.0},
       "FormulaTorque": {"formula": "-3*q - qdot"}, "Bushing": {"first": "rod", "second": "tip", "laws": ()},
       "PathSpring": {"points": [("world", (0, 0, 0)), ("tip", (0, 0, 0.1))], "along": ()},
       "WeightSupport": {"frame": "tip"},
       "Model.with_bushings": {"bushings": [od.Bushing("rod", "tip")]},
       "Helical": {"axis": "x", "pitch": 0.1},
       "exp3": {"phi": ca.DM([0.1, 0.2, 0.3])}, "parse_urdf": {"mimic": "free"},
       "viz.plot_refinement": {"refinement": od.ocp.Refinement(1e-4, "reached", (REFINED,))},
       "formulations.trapezoidal_motion": {"q": np.zeros(3)}, "viz.animate": {"path": "x.gif"},
       "viz.animate_simulation": {"path": "x.gif"},
       "io.parse_urdf": {"mimic": "free"}, "Model.attach": {"prefix": "v_"}, "Model.frame": {"name": "tip"},
       "gait_reference": {"reference": "winter"}, "models.absolute_angles": {"model": od.models.five_link_biped()},
       "At": {"q": [0.0]}, "Rest": {"q": [0.0]},
       "muscle_speed": {"dof": "hip_joint"}, "solve_along": {"along": None}, "Parameter": {"value": 0.1}}  # fmt: skip


OF_BODIES = """name joint parent joint_name origin rotation mass com inertia lower upper velocity effort damping
    friction stiffness rest armature rotor_inertia gear_ratio"""
OF_FUNCTIONS = """name signature parameters derivatives columns solver residual loads t e actuated relaxed reduce"""
"""Arguments of `ModelBuilder.add_body`, and options of `od.function`, that are made wrong."""


class Call(NamedTuple):
    """A callable, good arguments, and the names of those that are made wrong."""

    name: str
    run: Callable[..., Any]
    good: dict[str, Any]
    changed: tuple[str, ...]


def call_of(name: str, run: Callable[..., Any], known: dict[str, Any]) -> Call:
    """A call with its arguments from the good values `known`; all parameters but texts for messages are made wrong."""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = [p for p in inspect.signature(run).parameters.values() if p.kind not in several and p.name != "what"]
    needed = [p.name for p in parameters if p.default is p.empty]
    missing = [key for key in needed if key not in known and key not in OWN.get(name, {})]
    if missing:
        raise KeyError(f"{name} needs a good value of {', '.join(missing)}: give one where its calls are made")
    good = {key: known[key] for key in needed if key in known}
    own = {p.name: OWN[name][p.name] for p in parameters if p.name in OWN.get(name, {})}
    return Call(name, run, good | own, tuple(p.name for p in parameters))


@cache
def calls() -> tuple[Call, ...]:
    """The public interface outside optimal control, code generation and pictures."""
    good = valid()
    named = {n: getattr(od, n) for n in dir(od) if n[0] != "_" and n not in SKIPPED["od"] and callable(getattr(od, n))}
    found = [call_of(name, run, good | OWN.get(name, {})) for name, run in named.items()]
    found = [call for call in found if call.changed]
    wrench = {"f_ext": ca.DM.ones(6, 1), "loads": od.Loads(external=("tip",))}
    found += [call._replace(good=call.good | wrench) for call in found if "f_ext" in call.changed]
    return (*found, *_builder_calls(), *_function_calls(good))


def _builder_calls() -> list[Call]:
    kind = {"name": "n", "joint": od.Revolute("x")}
    body = Call("add_body", lambda **a: od.ModelBuilder().add_body(**a), kind, tuple(OF_BODIES.split()))
    return [body] * 4 + [Call("ModelBuilder", _built, {"gravity": (0, 0, -1)}, ("gravity",))]


def _function_calls(good: dict[str, Any]) -> list[Call]:
    """`od.function`, and a Function that it made."""
    model = good["model"]
    static = tuple(OF_FUNCTIONS.split())
    found = []
    for algorithm in (od.mass_matrix, od.inverse_dynamics, od.mass_matrix_inverse_product):
        chosen = {"algorithm": algorithm, "model": model}
        found.append(Call("function", _function, chosen, ("algorithm", "model", *static)))
    for algorithm in (od.constrained_dynamics, od.impact, od.constrained_inverse_dynamics):
        chosen = {"algorithm": algorithm, "model": model, "static": good["constraints"]}
        found.append(Call("function", _function, chosen, ("algorithm", "model", "static", *static)))
    f = od.function(od.inverse_dynamics, model)
    return found + [Call("ID", f, {key: good[key] for key in ("q", "qd", "qdd")}, ("q", "qd", "qdd"))] * 4


def _function(static: Any = None, **options: Any) -> object:
    if static is None:
        return od.function(**options)
    return od.function(options.pop("algorithm", None), options.pop("model", None), static, **options)


def _built(gravity: Any) -> od.Model:
    builder = od.ModelBuilder("g", gravity)
    builder.add_body("b", od.Revolute("x"), mass=1)
    return builder.build()


def near(value: ca.DM) -> list[Any]:
    """Values of nearly the right kind: other types, shapes and numbers."""
    shape = value.shape
    return [
        ca.SX.sym("x", *shape), ca.MX.sym("x", *shape), ca.SX(value), ca.MX(value), value.full(),
        value.full().ravel().tolist(), value.T,
        ca.horzcat(value, value), value[1:, :], ca.DM.nan(*shape), ca.DM.inf(*shape), ca.DM.ones(*shape) * 1e308,
        ca.DM(*shape),
    ]  # fmt: skip


def _text(value: Any) -> str:
    """The beginning of a value's text; the class of one without."""
    try:
        return f"{value!r:.60}"
    except Exception:  # noqa: BLE001, broken objects raise what they like
        return f"a {type(value).__name__}"


def wrong_call(choices: tuple[Call, ...], rng: Rng) -> Case:
    """One of the calls, with one or two wrong arguments, or with a misspelled one."""
    name, call, good, changed = pick(choices, rng)
    given, wrong = dict(good), dict[str, Any]()
    for _ in range(int(rng.integers(1, 3))):
        key = pick(changed, rng)
        close = isinstance(good.get(key), ca.DM) and rng.random() < 0.5
        given[key] = wrong[key] = pick(near(good[key]) if close else WRONG + MISTAKEN, rng)
    if rng.random() < 0.05:
        given, wrong, key = dict(good), {}, pick(changed, rng)
        other = misspelled(key, rng)
        if other not in changed:
            wrong[other] = given[other] = given.pop(key, None)
    text = ", ".join(f"{k}={_text(v)}" for k, v in given.items())
    return Case(f"{name}({text})", lambda: call(**given), wrong, not {*wrong} <= {*changed})
