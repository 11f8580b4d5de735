"""Other libraries at hand: models that they read, a check that these are ours, a line for those that are missing."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Mapping
from typing import Any
from xml.etree import ElementTree

import numpy as np

import ocp_dyn as od

from .robots import Array, Robot

SAME = 1e-8
"""Largest relative difference of a peer's inverse dynamics from ours."""

REMEDIES = {
    "adam": "pip install 'adam-robotics[casadi]'",
    "MuJoCo": "pip install mujoco",
    "Pinocchio": "pip install pin cmeel-eigen",
    "Pinocchio, Python": "pip install pin",
    "pinocchio": "conda install -c conda-forge pinocchio (the PyPI package `pin` may lack its casadi part)",
}
"""Commands that install the libraries."""

_MISSING: set[str] = set()


def measured(peers: Mapping[str, Callable[..., Any]], robot: Robot, *given: Any) -> dict[str, Any]:
    """Measurements of a robot by every installed peer; for the others a line, once, that says how to get them."""
    found = {}
    for name, run in peers.items():
        if name in _MISSING:
            continue
        try:
            found[name] = run(robot, *given)
        except ImportError as error:
            _MISSING.add(name)
            print(f"{name} is left out ({error}): {REMEDIES[name]}", file=sys.stderr)
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # it cannot read this model
            print(f"{name} is left out for {robot.model.name}: it fails with {error!r}", file=sys.stderr)
    return {name: numbers for name, numbers in found.items() if numbers}


def check_same(
    model: od.Model, drawn: Mapping[str, Array], layout: od.Layout, name: str, inverse: Callable[[], Array]
) -> None:
    """RuntimeError if the inverse dynamics of a peer differ from ours: then it has another model."""
    ours = od.function(od.inverse_dynamics, model)(*(drawn[name][0] for name in ("q", "qd", "qdd")))
    tau = np.array(layout.to_tau(drawn["q"][0], ours), float).ravel()
    error = np.abs(tau - inverse()).max() / np.abs(tau).max()
    if not error < SAME:
        raise RuntimeError(f"{name}'s inverse dynamics of {model.name} differ from ours by {error:.1e}")


def pinocchio_model(robot: Robot) -> tuple[Any, od.Layout]:
    """Pinocchio's model of the robot's URDF on a floating base, and its layout."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(robot.urdf), pin.JointModelFreeFlyer())
    return model, od.Layout(robot.model, "pinocchio", joints=["root", *list(model.names)[2:]])


def adam_functions(robot: Robot) -> dict[str, list[Any]]:
    """adam-robotics' SX functions by our names; it has no inverse dynamics. G: the Jacobians of both feet."""
    from adam.casadi import KinDynComputations

    if robot.urdf is None:
        return {}
    joints = ElementTree.parse(robot.urdf).getroot().iter("joint")
    moving = [joint.get("name") for joint in joints if joint.get("type") not in (None, "fixed")]
    with contextlib.redirect_stderr(io.StringIO()):  # the parser of URDF prints a line for every tag it does not know
        made = KinDynComputations(str(robot.urdf), moving)
    functions = {"C": [made.bias_force_fun()], "H": [made.mass_matrix_fun()]}
    functions["G"] = [made.jacobian_fun(foot) for foot in robot.feet]
    return functions | ({"FD": [made.aba_fun()]} if hasattr(made, "aba_fun") else {})
