"""Calls for the fuzz: the rooms `od.formulations`, `od.io`, `od.models`, `od.viz`, `od.codegen`, with wrong arguments.

Every public name of a room is called, but for those that `skipped.json` lists with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od

from .arguments import SKIPPED, Call, call_of, valid
from .files import model_data, rotor_solution
from .folders import in_a_folder, quietly
from .mjcf import MJCF

ROOMS: dict[str, ModuleType] = {
    "formulations": od.formulations, "io": od.io, "models": od.models, "viz": od.viz, "codegen": od.codegen,
}  # fmt: skip


def public(room: ModuleType) -> dict[str, Callable[..., Any]]:
    """The names of a room that users may call."""
    return {name: getattr(room, name) for name in dir(room) if name[0] != "_" and callable(getattr(room, name))}


def _tree() -> od.Model:
    """A branched tree without loops and screws, which natural coordinates take."""
    builder = od.ModelBuilder("tree")
    for name, parent in (("a", "world"), ("b", "a"), ("c", "a")):
        builder.add_body(name, od.Revolute("x" if name == "b" else "y"), parent, origin=(0, 0.1, -0.3), mass=1,
                         com=(0, 0, -0.2), inertia=(0.1, 0.1, 0.1))  # fmt: skip
    return builder.build()


def _good() -> dict[str, dict[str, Any]]:
    """Good values by the names of parameters, room by room."""
    f, model, bar = od.formulations, _tree(), od.models.n_four_bar(1)
    natural = f.natural(model)
    ones, x = ca.DM.ones(model.nv), ca.DM(natural.x)
    rates = {name: ca.DM.zeros(natural.n) for name in ("xd", "xdd")}
    solution = rotor_solution()
    moved = od.simulation.System(bar.model, bar.loops, bar.q, bar.qd, "recursive", 0.01, 1e-3)
    pictures = {"solution": solution, "motion": solution, "model": solution.model, "matrix": np.eye(3),
                "multipliers": [0.5], "run": od.simulation.simulate(moved)[0], "title": "a motion"}  # fmt: skip
    return {
        "formulations": {
            "model": model, "natural": natural, "q": ca.DM(model.neutral()), "qd": ones, "tau": ones, "x": x, **rates,
            "lam": ca.DM.zeros(natural.m), "h": 0.01, "duration": 0.02, "constraints": bar.loops, "bodies": "coupler1",
            "opened": f.open_by_removing(bar.model, bar.loops, "coupler1"), "loops": bar.loops,
            "independent": f.independent_coordinates(bar.model, bar.loops, bar.q), "accelerations": _falling(model),
        },
        "io": {"model": model, "path": "x.xml", "data": json.loads(model_data()), "frame": "c",
               "half_sizes": (0.1, 0.2, 0.3), "radius": 0.1, "half_length": 0.2,
               "source": "x.xml", "text": MJCF},
        "models": {"model": model, "n": 2, "t": 0.1, "sex": "male", "duration": 0.8},
        "viz": {**pictures, "path": "x.png", "foot": "foot", "shapes": (),
                "gaits": {"people": "winter", "slow": "schwartz_slow"}},
        "codegen": {"functions": [od.function(od.mass_matrix, model)], "directory": "robot", "model": model,
                    "prefix": "robot",
                    "f": od.function(od.mass_matrix, model)},
    }  # fmt: skip


def _falling(model: od.Model) -> Callable[..., Any]:
    return lambda q, qd, tau: od.forward_dynamics(model, q, qd, tau)


OF_CLOSED_CHAINS = ("closed_chain_dynamics", "closed_chain_dynamics_a", "closing_jacobian", "dependent_q",
                    "dependent_qd",
                    "independent_coordinates", "independent_transformation", "open_by_removing")  # fmt: skip


@cache
def calls() -> tuple[Call, ...]:
    """Every public name of the rooms that is not skipped, in a temporary folder and without a compiler."""
    good, found = _good(), []
    for room, module in ROOMS.items():
        for name, run in public(module).items():
            if name in SKIPPED[room]:
                continue
            known = valid() | good[room] | (_of_closed_chains(name) if name in OF_CLOSED_CHAINS else {})
            call = call_of(f"{room}.{name}", in_a_folder(quietly(run)), known)
            found += [call] if call.changed else []
    return tuple(found)


def _of_closed_chains(name: str) -> dict[str, Any]:
    """Good values for the four-bar mechanism."""
    bar = od.models.n_four_bar(1)
    model = bar.model
    return {"model": model, "q": ca.DM(bar.q), "qd": ca.DM.ones(1 if name == "dependent_qd" else model.nv),
            "tau": ca.DM.ones(model.nv)}  # fmt: skip
