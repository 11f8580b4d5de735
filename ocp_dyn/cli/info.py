"""`ocp-dyn info`: joints, sizes, masses, limits and frames of a model; without FILE the names of models and robots."""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import asdict
from typing import Any

import numpy as np

from .. import _names as od
from ..constraints import Constraint
from .inputs import MODELS, model_of
from .streams import as_json, number, table


def run(options: argparse.Namespace) -> int:
    if options.file is None:
        print(_names(options.json))
        return 0
    model = model_of(options)
    print(as_json(data(model)) if options.json else text(model))
    return 0


def _names(as_data: bool) -> str:
    robots = {name: od.robots.describe(name).kind for name in od.robots.names()}
    if as_data:
        return as_json({"models": list(MODELS), "robots": robots, "robots_installed": od.robots.installed()})
    kinds = {kind: [name for name in robots if robots[name] == kind] for kind in sorted(set(robots.values()))}
    lines = ["ready models:", *_wrapped(MODELS), "", "robots of example-robot-data"
             + ("" if od.robots.installed() else ' (pip install "ocp_dyn[robots]")') + ":"]  # fmt: skip
    for kind, names in kinds.items():
        lines += [f"  {kind}:", *_wrapped(names, "    ")]
    return "\n".join(lines)


def _wrapped(names: Any, indent: str = "  ") -> list[str]:
    return textwrap.wrap(", ".join(names), 100, initial_indent=indent, subsequent_indent=indent)


def data(model: od.Model) -> dict[str, Any]:
    """Everything that `info` tells, as plain data; a limit that is not there is infinite."""
    dofs = model.dofs
    joints = []
    for i, parent in model.edges:
        q, qd = (slice(*index[i : i + 2]) for index in (model.q_index, model.v_index))
        fields = {
            "velocity": dofs.qd_max, "effort_lower": dofs.tau_min, "effort": dofs.tau_max,
            "damping": dofs.damping, "friction": dofs.friction,
        }  # fmt: skip
        joints.append({
            "body": model.body_names[i - 1], "parent": model.body_names[parent - 1] if parent else "world",
            "joint": model.joint_names[i - 1], "kind": type(model.joints[i]).__name__,
            "q": [q.start, q.stop], "qd": [qd.start, qd.stop], "mass": float(model.I[i].m),
            "lower": dofs.q_lower[q].tolist(), "upper": dofs.q_upper[q].tolist(),
        } | {name: values[qd].tolist() for name, values in fields.items()})  # fmt: skip
    frames = {
        name: model.body_names[frame.body - 1] if frame.body else "world"
        for name, frame in model.frames.items()
        if name not in model.body_names
    }
    return {
        "name": model.name, "bodies": model.nb, "nq": model.nq, "nv": model.nv, "mass": float(model.mass),
        "gravity": [float(g) for g in model.gravity], "joints": joints, "frames": frames,
        "mimics": [mimic._asdict() for mimic in model.mimics], "q_names": list(model.q_names),
        "qd_names": list(model.qd_names),
        "markers": {marker.name: marker.body for marker in model.markers},
        "muscles": {muscle.name: muscle.kind for muscle in model.muscles},
        "constraints": [str(one.name) for one in model.constraints if isinstance(one, Constraint)],
        "passive": [{"kind": type(element).__name__} | asdict(element) for element in model.passive],  # type: ignore[call-overload]
        "notes": list(model.notes),
        "bushings": [asdict(one) for one in model.bushings],  # type: ignore[call-overload]
    }  # fmt: skip


def text(model: od.Model) -> str:
    """The tree with masses, then limits and frames."""
    parts = [str(model).split("\nother frames:")[0]]
    rows = [line for joint in data(model)["joints"] for line in _limits(model, joint)]
    if rows:
        head = ("coordinate", "lower", "upper", "velocity", "effort", "damping", "friction")
        parts.append("limits [rad, m, s, N m, N]; - is none\n" + table(head, rows, right=range(1, 7)))
    if model.passive:
        found = [(e.pop("dof"), e.pop("kind"), ", ".join(f"{k} {_value(x)}" for k, x in e.items()))
                 for e in data(model)["passive"]]  # fmt: skip
        parts.append("passive torques [rad, m, N m, N]\n" + table(("acts on", "kind", "data"), found))
    frames = data(model)["frames"]
    for what in ("markers", "muscles", "constraints"):
        names = list(data(model)[what])
        if names:
            parts.append(f"{len(names)} {what}\n" + "\n".join(_wrapped(names)))
    if frames:
        by_body: dict[str, list[str]] = {}
        for name, body in frames.items():
            by_body.setdefault(body, []).append(name)
        parts.append("frames, by body\n" + table(("body", "frames"), [(b, ", ".join(f)) for b, f in by_body.items()]))
    if model.notes:
        parts.append("notes\n" + "\n".join(f"  {note}" for note in model.notes))
    return "\n\n".join(parts)


def _value(x: Any) -> str:
    """A field of a passive element: a number, a word, or the slopes by dofs."""
    if isinstance(x, str):
        return x
    return number(x) if isinstance(x, float) else " ".join(f"{name}: {number(slope)}" for name, slope in x) or "none"


def _limits(model: od.Model, joint: dict[str, Any]) -> list[tuple[str, ...]]:
    """Lines of the coordinates of a joint that have any limit or loss; an effort that differs in size between both
    directions is written lower..upper."""
    keys = ("lower", "upper", "velocity", "effort_lower", "effort", "damping", "friction")
    dofs = joint["qd"][1] - joint["qd"][0]
    has_quaternion = joint["q"][1] - joint["q"][0] > dofs
    rows = []
    for k in range(dofs):
        values = [joint[key][k] for key in keys]
        if has_quaternion and k >= dofs - 3:  # its entries, the last ones of q, have no limits of single dofs
            values[:2] = -np.inf, np.inf
        if np.any(np.isfinite(values[:5])) or any(values[5:]):
            low, high = values[3:5]
            effort = number(high) if low == -high else f"{number(low)}..{number(high)}"
            shown = (*map(number, values[:3]), effort, *map(number, values[5:]))
            rows.append((model.qd_names[joint["qd"][0] + k], *shown))
    return rows
