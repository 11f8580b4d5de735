"""Calls for `fuzz.py`: the public interface, with one or two wrong arguments."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import ocp_dyn as od

from .files import URDF, Case, Rng, model_data, pick

# Arguments of the public interface

WRONG: list[Any] = [
    None, True, 0, -1, 1, 3.5, float("nan"), float("inf"), -float("inf"), 10**400, -(10**400), 1e308, 1e-320, 10**9, "", "x",
    "a" * 100_000, b"x", (), [], {}, {"x": 1}, (1, 2), [None], ["x"], [float("nan")] * 3, [10**400] * 3, (0, 0, 0), (1e308,) * 3,
    object(), 1j, np.zeros((2, 2)), np.zeros(0), np.zeros((3, 3)), np.full((3, 3), np.nan), np.array(["a", "b"]), np.zeros(1000),
    ca.DM(), ca.DM(3, 1), ca.DM([1, 2, np.nan]), ca.SX.sym("x"), ca.SX.sym("x", 3), ca.MX.sym("x", 3), {1: 2}, set(), int,
    np.eye(3), np.random.default_rng(0), ((0, 0, 1, 0, 0, 0),), "xyz", "xx", ("tip",), slice(3), range(3),
]  # fmt: skip


@cache
def valid() -> dict[str, Any]:
    """A good value for parameters of the interface by their names."""
    builder = od.ModelBuilder("v")
    builder.add_body("rod", od.FloatingBase(), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    builder.add_body(
        "tip", od.Revolute("x"), "rod", origin=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1)
    )
    model = builder.build()
    q, v = ca.DM(model.neutral()), ca.DM.ones(model.nv)
    contact = od.Contact("tip", axes="xyz").at(model, q)
    bodies = {
        "body": "tip",
        "frame": "tip",
        "predecessor": "rod",
        "successor": "tip",
        "to": "rod",
        "joint": "tip_joint",
    }
    points = {
        "point": (0, 0, 1),
        "points": [(0, 0, 0), (1, 0, 0)],
        "corners": [(0, 0, 0), (1, 0, 0)],
        "start": (0, 0, 0),
    }
    points |= {
        "end": (1, 0, 0),
        "position": (0, 0, 1),
        "rpy": (0, 0, 1),
        "origin": (0, 0, 1),
        "first": "x",
        "second": "y",
    }
    return bodies | points | {
        "model": model, "constraints": (contact,), "constraint": contact, "T": 0.1, "q": q, "qd": v, "qdd": v, "tau": v, "mu": v,
        "q0": q, "qd0": v, "other": model, "radius": 0.1, "axis": "y", "axes": [(0, 0, 1, 0, 0, 0)], "kind": "pinocchio",
        "phi": lambda q: q[0], "wrench": ca.DM.ones(6), "lam": ca.DM.ones(3), "t": [0.0, 1.0], "R": np.eye(3), "rotation": np.eye(3),
        "targets": [od.PointTarget("tip", (0, 0, -1.5))], "spheres": (od.HuntCrossleySphere("tip"),), "side": "l", "n": 3, "quat": ca.DM([0, 0, 0, 1]), "values": {}, "text": URDF,
        "function": lambda q: od.Transform(ca.DM.eye(3), ca.vertcat(q, 0, 0)), "data": json.loads(model_data()), "name": "new",
        "algorithm": od.mass_matrix, "positions": {"tip_joint": 0.1}, "v": v, "twist": [0.1] * 6, "p": (1, 2, 3), "s": 0.5, "gravity": (0, 0, -1), "dof": "tip_joint", "gain": 1.0, "stiffness": 2.0,
        "elements": [od.OneSidedSpring("tip_joint", 2.0, 0.1)], "mass": 70.0, "height": 1.7, "sex": "male", "q1": q, "pitch": 0.1, "theta": v,
        "peak": 100.0, "reference": "winter", "angle": 0.3, "width": 1.2, "speed_75": 1.5, "speed_50": 4.0,
    }  # fmt: skip


SKIPPED = {"AssemblyError", "ModelError", "ModelWarning", "Constraint", "Joint", "JointState", "Frame", "Inertia", "InverseKinematics", "Model", "ModelBuilder",
           "Transform", "save_model", "load_model", "load_urdf", "model_from_dict", "Fixed", "function", "Signature",
           "algorithm"}  # fmt: skip
"""Names that are left out: classes that users do not make, functions that write files or that other inputs cover."""
METHODS = ("with_gravity", "with_inertia", "with_load", "with_passive", "with_frame", "with_limits", "attach", "lock_joints", "subtree", "scale", "q_slice",
           "qd_slice", "frame", "q_dot", "integrate", "difference", "split_q", "split_qd", "rest", "tangent_rate")  # fmt: skip
READY = ("pendulum", "chain", "human", "five_link_biped", "compass_walker", "human_dimensions", "human_spheres", "human_strength_curves",
         "passive_tissue")  # fmt: skip
OWN = {"JointCoupling": {"other": "root"}, "RollingContact": {"axis": None}, "joint_work": {"qd": ca.DM.ones(7, 2), "tau": ca.DM.ones(7, 2)},
       "Contact": {"axes": "xyz"}, "OneSidedSpring": {"start": 0.1}, "Loop": {"axes": "ball"}, "Helical": {"axis": "x", "pitch": 0.1}}  # fmt: skip


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
    good = {p.name: known[p.name] for p in parameters if p.default is p.empty}
    own = {p.name: OWN[name][p.name] for p in parameters if p.name in OWN.get(name, {})}
    return Call(name, run, good | own, tuple(p.name for p in parameters))


@cache
def calls() -> tuple[Call, ...]:
    """The public interface outside optimal control, code generation and pictures."""
    good = valid()
    model = good["model"]
    named = {n: getattr(od, n) for n in dir(od) if n[0] != "_" and n not in SKIPPED and callable(getattr(od, n))}
    named |= {f"models.{name}": getattr(od.models, name) for name in READY}
    named |= {f"Model.{name}": getattr(model, name) for name in METHODS}
    found = [call_of(name, run, good | OWN.get(name, {})) for name, run in named.items()]
    found = [call for call in found if call.changed]
    wrench = {"f_ext": ca.DM.ones(6, 1), "loads": od.Loads(external=("tip",))}
    found += [call._replace(good=call.good | wrench) for call in found if "f_ext" in call.changed]
    return (*found, *_builder_calls(), *_function_calls(good), *_closed_chain_calls(), *_simulator_calls(model))


def _simulator_calls(model: od.Model) -> list[Call]:
    """Texts of files for simulators, and shapes."""
    options = tuple(od.io.MjcfOptions.__annotations__)
    known = {"frame": "tip", "half_sizes": (0.1, 0.2, 0.3), "radius": 0.1, "half_length": 0.2, "model": model}
    made = (od.io.Box, od.io.Ball, od.io.Cylinder, od.io.urdf_text)
    shapes = [call_of(f"io.{make.__name__}", make, known) for make in made]
    return [*shapes, Call("io.mjcf_text", od.io.mjcf_text, {"model": model}, ("model", "shapes", *options))]


def _closed_chain_calls() -> list[Call]:
    """Formulations of closed chains, on a four-bar mechanism."""
    f, bar = od.formulations, od.models.n_four_bar(1)
    model, loops, q = bar.model, bar.loops, ca.DM(bar.q)
    known = {
        "model": model, "constraints": loops, "q": q, "qd": ca.DM(bar.qd), "tau": ca.DM.ones(model.nv), "bodies": "coupler1",
        "independent": f.independent_coordinates(model, loops, q), "opened": f.open_by_removing(model, loops, "coupler1"),
    }  # fmt: skip
    algorithms = (
        f.dependent_velocity, f.closing_jacobian, f.independent_coordinates, f.independent_transformation, f.dependent_q,
        f.dependent_qd, f.open_by_removing, f.closed_chain_dynamics, f.closed_chain_dynamics_a,
    )  # fmt: skip
    found = [call_of(algorithm.__name__, algorithm, known) for algorithm in algorithms]
    return [
        call._replace(good=call.good | {"qd": ca.DM.ones(1)}) if call.name == "dependent_qd" else call for call in found
    ]


def _builder_calls() -> list[Call]:
    dofs = (
        "lower",
        "upper",
        "velocity",
        "effort",
        "damping",
        "friction",
        "stiffness",
        "rest",
        "armature",
        "rotor_inertia",
    )
    given = (
        "name",
        "joint",
        "parent",
        "joint_name",
        "origin",
        "rotation",
        "mass",
        "com",
        "inertia",
        *dofs,
        "gear_ratio",
    )
    kind = {"name": "n", "joint": od.Revolute("x")}
    body = Call("add_body", lambda **a: od.ModelBuilder().add_body(**a), kind, given)
    return [body] * 4 + [Call("ModelBuilder", _built, {}, ("gravity",))]


def _function_calls(good: dict[str, Any]) -> list[Call]:
    """`od.function`, and a Function that it made."""
    model, options = (
        good["model"],
        ("solver", "residual", "loads", "t", "e", "actuated", "relaxed", "reduce"),
    )
    static = ("name", "signature", "parameters", "derivatives", "columns", *options)
    found = []
    for algorithm in (od.mass_matrix, od.inverse_dynamics, od.mass_matrix_inverse_product):
        chosen = {"algorithm": algorithm, "model": model}
        found.append(Call("function", _function, chosen, ("algorithm", "model", *static)))
    for algorithm in (od.constrained_dynamics, od.impact, od.constrained_inverse_dynamics):
        chosen = {"algorithm": algorithm, "model": model, "static": good["constraints"]}
        found.append(Call("function", _function, chosen, ("algorithm", "model", "static", *static)))
    f = od.function(od.inverse_dynamics, model)
    return found + [Call("ID", f, {key: good[key] for key in ("q", "qd", "qdd")}, ("q", "qd", "qdd"))] * 4


def _function(algorithm: Any, model: Any, static: Any = None, **options: Any) -> object:
    return od.function(algorithm, model, *(() if static is None else (static,)), **options)


def _built(gravity: Any) -> od.Model:
    builder = od.ModelBuilder("g", gravity)
    builder.add_body("b", od.Revolute("x"), mass=1)
    return builder.build()


def near(value: ca.DM) -> list[Any]:
    """Values of nearly the right kind: other types, shapes and numbers."""
    shape = value.shape
    return [
        ca.SX.sym("x", *shape), ca.MX.sym("x", *shape), ca.SX(value), ca.MX(value), value.full(), value.full().ravel().tolist(), value.T,
        ca.horzcat(value, value), value[1:, :], ca.DM.nan(*shape), ca.DM.inf(*shape), ca.DM.ones(*shape) * 1e308, ca.DM(*shape),
    ]  # fmt: skip


def api(rng: Rng) -> Case:
    """A call of the public interface with one or two wrong arguments."""
    return wrong_call(calls(), rng)


def wrong_call(choices: tuple[Call, ...], rng: Rng) -> Case:
    """One of the calls, with one or two wrong arguments."""
    name, call, good, changed = pick(choices, rng)
    given = dict(good)
    for _ in range(int(rng.integers(1, 3))):
        key = pick(changed, rng)
        close = isinstance(good.get(key), ca.DM) and rng.random() < 0.5
        given[key] = pick(near(good[key]) if close else WRONG, rng)
    text = ", ".join(f"{k}={v!r:.60}" if not isinstance(v, int) else f"{k}=int" for k, v in given.items())
    return Case(f"{name}({text})", lambda: call(**given))
