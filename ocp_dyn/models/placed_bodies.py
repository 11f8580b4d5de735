"""A builder of mechanisms whose parts are placed by points of one drawing, all axes parallel there."""

from __future__ import annotations

import math

import numpy as np

from .._base.types import Array, Vector
from ..constraints import Loop
from ..joints import Joint
from ..mechanism.builder import WORLD, DofOptions, ModelBuilder
from .closed_chain import ClosedChain

STEEL = 7850.0
"""Density of rods, from which their thickness follows [kg/m^3]."""


class PlacedBodies:
    """Bodies, joints and loops of a mechanism at q = 0, by points [m] of one drawing.

    At q = 0 every body frame is in the body's joint and has the axes of the drawing, and the mechanism is assembled.
    """

    def __init__(self, name: str) -> None:
        self.builder = ModelBuilder(name)
        self.loops: list[Loop] = []
        self._origins: dict[str, Array] = {WORLD: np.zeros(3)}

    def body(
        self,
        name: str,
        joint: Joint,
        parent: str,
        at: Vector,
        mass: float,
        inertia: Vector | Array,
        com: Vector | None = None,
        joint_name: str | None = None,
        dofs: DofOptions | None = None,
    ) -> None:
        """A body on a joint at the point `at`; com: its center of mass, default `at`; inertia about that [kg m^2]."""
        origin = np.array(at, dtype=float)
        center = origin if com is None else np.array(com, dtype=float)
        self.builder.add_body(
            name, joint, parent, joint_name=joint_name, origin=origin - self._origins[parent],
            mass=mass, com=center - origin, inertia=inertia, **(dofs or {}),
        )  # fmt: skip
        self._origins[name] = origin

    def rod(
        self, name: str, joint: Joint, parent: str, at: Vector, end: Vector, mass: float, dofs: DofOptions | None = None
    ) -> None:
        """A straight steel rod from its joint at `at` to `end`."""
        self.body(name, joint, parent, at, mass, rod_inertia(at, end, mass), (np.array(at) + np.array(end)) / 2,
                  dofs=dofs)  # fmt: skip

    def point(self, name: str, body: str, at: Vector) -> None:
        """A frame of a body at a point of the drawing."""
        self.builder.add_frame(name, body, np.array(at, dtype=float) - self._origins[body])

    def ball(self, name: str, predecessor: str, successor: str, at: Vector) -> None:
        """A ball joint between two bodies at a point, as a loop; a frame of the successor has the loop's name."""
        self.close(name, predecessor, successor, at, at, "ball")
        self.point(name, successor, at)

    def close(
        self,
        name: str,
        predecessor: str,
        successor: str,
        at: Vector,
        successor_at: Vector,
        axes: object,
        rotation: object = None,
        sliding: bool | None = None,
    ) -> None:
        """A loop between a point of each body, along axes of a frame turned by `rotation` in the drawing."""
        R = np.eye(3) if rotation is None else rotation
        first, second = np.array(at) - self._origins[predecessor], np.array(successor_at) - self._origins[successor]
        self.loops.append(Loop(predecessor, successor, axes, (R, first), (R, second), sliding=sliding, label=name))

    def chain(self, height: float) -> ClosedChain:
        """The mechanism; its root, a floating base, is `height` above the ground [m]."""
        model = self.builder.build()
        q = model.neutral()
        q[2] = height
        return ClosedChain(model, tuple(self.loops), q)


def rod_inertia(start: Vector, end: Vector, mass: float) -> Array:
    """The inertia of a solid steel rod about its center [kg m^2]."""
    along = np.array(end, dtype=float) - np.array(start, dtype=float)
    length = float(np.linalg.norm(along))
    direction, radius = along / length, math.sqrt(mass / (math.pi * STEEL * length))
    line = np.outer(direction, direction)
    across = mass * (length**2 / 12 + radius**2 / 4)
    return np.asarray(across * (np.eye(3) - line) + mass * radius**2 / 2 * line)


def box_inertia(x: float, y: float, z: float, mass: float) -> tuple[float, float, float]:
    """The moments of inertia of a uniform box of these edges about its center [kg m^2]."""
    return mass * (y**2 + z**2) / 12, mass * (x**2 + z**2) / 12, mass * (x**2 + y**2) / 12


def wheel_inertia(radius: float, width: float, mass: float) -> tuple[float, float, float]:
    """The moments of inertia of a wheel that turns about y: most of its mass is near its rim [kg m^2]."""
    spin = 0.75 * mass * radius**2
    across = spin / 2 + mass * width**2 / 12
    return across, spin, across
