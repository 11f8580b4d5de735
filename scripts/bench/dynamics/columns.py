"""Columns of the tables of times: this library and all others, for one robot."""

from __future__ import annotations

from collections.abc import Iterable

from . import others, ours, pinocchio_cpp
from .peers import measured
from .robots import Robot, states

Rows = dict[str, dict[str, float]]
"""Numbers by quantity and column."""

COLUMNS = ("instructions", "machine", "one", "lanes", "casadi C", "Pinocchio", "Pinocchio, Python", "MuJoCo", "adam")
RATIOS = (("one", "Pinocchio"), ("Pinocchio", "lanes"), ("one", "casadi C"))
"""Columns whose ratios stand behind the others."""


def rows(robot: Robot, quantities: Iterable[str], peers: bool = True) -> Rows:
    """All columns of a robot; without peers those of this library."""
    drawn = states(robot.model)
    found = ours.measure(robot, drawn, tuple(quantities), peers)
    every = {"Pinocchio": pinocchio_cpp.measure, **others.PEERS} if peers else {}
    for column, values in measured(every, robot, drawn).items():
        for name in found.keys() & values.keys():
            found[name][column] = values[name]
    for row in found.values():
        row |= {f"{a}/{b}": row[a] / row[b] for a, b in RATIOS if a in row and b in row}
    return found
