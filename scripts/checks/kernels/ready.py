"""The ready problems that need no input, by name, on their own grids and on coarse ones."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import ocp_dyn as od
import problems
from ocp_dyn import ocp

NEED_ROBOTS = ("robot_trot", "robot_walk")
"""Problems whose robots come with the extra `robots`."""

ARGUMENTS: dict[str, dict[str, Any]] = {"validate": {"speed": 1.3}}
"""Arguments without a default."""

COARSE: dict[str, dict[str, Any]] = {
    "five_link": {"intervals": 12}, "five_link_diary": {"intervals": 20}, "robot_trot": {"intervals": 8},
    "robot_walk": {"intervals": (3, 8)}, "rabbit": {"intervals": 15}, "compliant_walk": {"intervals": 12},
}  # fmt: skip
"""Coarse grids of problems without a QUICK of the type of their intervals."""


def names() -> list[str]:
    """The modules of `problems/` and `problems/small/` with a function `problem` that needs no input."""
    found = []
    for prefix, package in (("", problems), ("small.", importlib.import_module("problems.small"))):
        for module in pkgutil.iter_modules(package.__path__):
            if module.ispkg or module.name.startswith("_"):
                continue
            function = getattr(importlib.import_module(f"{package.__name__}.{module.name}"), "problem", None)
            if function is not None and not _needed(function) - set(ARGUMENTS.get(module.name, {})):
                found.append(prefix + module.name)
    return [name for name in found if name not in NEED_ROBOTS or od.robots.installed()]


def ready(name: str, quick: bool) -> ocp.Problem:
    """A problem of `problems/` with its default arguments, or on its coarse grid."""
    module = importlib.import_module(f"problems.{name}")
    known = inspect.signature(module.problem).parameters
    given = dict(ARGUMENTS.get(name, {}))
    if quick and name in COARSE:
        given |= COARSE[name]
    elif quick and "quick" in known:
        given["quick"] = True
    elif quick and "intervals" in known and hasattr(module, "QUICK"):
        given["intervals"] = module.QUICK
    made: ocp.Problem = module.problem(**given)
    return made


def _needed(function: Callable[..., Any]) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return {p.name for p in parameters if p.default is inspect.Parameter.empty and p.kind not in variable}
