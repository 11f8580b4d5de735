"""Models of the benchmarks, their feet, and the states at which all libraries compute."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import ocp_dyn as od

Array = NDArray[np.float64]

STATES = 512
"""States of a batch; libraries without batches take the first of them in turn."""

FEET = {
    "simple_humanoid": ("l_ankle", "r_ankle"),
    "talos_reduced": ("left_sole_link", "right_sole_link"),
    "g1_29dof_rev_1_0": ("left_ankle_roll_link", "right_ankle_roll_link"),
    "solo12": ("FL_FOOT", "HR_FOOT"),
}
"""Robots of example-robot-data, and two of their feet."""


class Robot(NamedTuple):
    """A model, its feet, and the URDF it came from, for libraries that read only that."""

    model: od.Model
    feet: tuple[str, ...] = ()
    urdf: Path | None = None

    @property
    def contacts(self) -> tuple[od.Contact, ...]:
        """Flat feet: all six directions of each."""
        return tuple(od.Contact(self.model.frame(foot)) for foot in self.feet)


def urdf(name: str) -> Path | None:
    """The file of a robot of example-robot-data; None, with a line that says so, if that is not installed."""
    found = next(iter(sorted(od.robots.folder().glob(f"*/**/{name}.urdf"))), None) if od.robots.installed() else None
    if found is None:
        print(f"{name} is left out: pip install example-robot-data", file=sys.stderr)
    return found


def robot(name: str) -> Robot | None:
    """A robot of `FEET` on a floating base, or another model by its name, "human" or "chain_N"; None if it is not
    installed."""
    if name in FEET:
        path = urdf(name)
        return Robot(od.load_urdf(path, od.FloatingBase()), FEET[name], path) if path else None
    if name == "human":
        return Robot(od.models.human(), ("sole_l", "sole_r"))
    count = int(name.removeprefix("chain_"))
    return Robot(od.models.chain(count), (f"body{count}",))


def states(model: od.Model, count: int = STATES) -> dict[str, Array]:
    """Inputs by name, a state in every row: the same for all functions of a model."""
    rng = np.random.default_rng(1)
    drawn = {"q": np.array([model.random_q(rng) for _ in range(count)])}
    return drawn | {name: rng.normal(size=(count, model.nv)) for name in ("qd", "qdd", "tau")}
