"""Named parts of the parameter vectors of a horizon: where each lies in the vector."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.types import Array


class Fields:
    """Names and shapes of the parts of a vector, one after the other; matrices lie row by row.

    >>> from ocp_dyn.ocp.horizon.fields import Fields
    >>> fields = Fields({"time": (), "places": (2, 3)})
    >>> fields.size, fields.slices["places"]
    (7, slice(1, 7, None))
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        self.slices: dict[str, slice] = {}
        begin = 0
        for name, shape in self.shapes.items():
            end = begin + int(np.prod(shape, dtype=int))
            self.slices[name], begin = slice(begin, end), end
        self.size = begin

    def split(self, vector: SX) -> dict[str, SX]:
        """Parts of a symbolic vector: columns, and matrices (rows, columns)."""
        parts = {}
        for name, shape in self.shapes.items():
            part = vector[self.slices[name]]
            parts[name] = ca.reshape(part, shape[1], shape[0]).T if len(shape) == 2 else part
        return parts

    def join(self, parts: Mapping[str, Any]) -> SX:
        """The symbolic vector of its parts."""
        found = []
        for name, shape in self.shapes.items():
            part = ca.densify(SX(parts[name]))
            found.append(ca.vec(part.T) if len(shape) == 2 else ca.vec(part))
            assert found[-1].numel() == int(np.prod(shape, dtype=int)), name
        return ca.vertcat(*found)

    def pack(self, parts: Mapping[str, Any]) -> Array:
        """The vector of numbers in its parts."""
        vector = np.zeros(self.size)
        for name, where in self.slices.items():
            vector[where] = np.broadcast_to(parts[name], self.shapes[name]).ravel()
        return vector

    def unpack(self, vector: Array) -> dict[str, Array]:
        """Copies of the parts of a vector of numbers, in their shapes."""
        return {name: np.array(vector[where]).reshape(self.shapes[name]) for name, where in self.slices.items()}
