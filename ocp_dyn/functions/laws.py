"""Laws: how quantities change with the units and axes in which a mechanism is described.

A law such as "E/dof, 1/dof" says it for the rows and for the columns of a quantity: powers of mass M, length L, time T
and energy E = M L^2/T^2, and one index, which the entries run over. Behind the slash an index is that of the dual: tau,
"E/dof", does work on steps along the dofs, "dof".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from .._base.types import names_in_message, repr_in_message, suggestion

INDICES = {
    "q": "coordinates",
    "dof": "dofs",
    "each_dof": "dofs",
    "row": "constraints",
    "inertia": "parameters",
    "body": "bodies",
    "frame": "frames",
    "x": "natural coordinates",
    "condition": "natural constraints",
    "closing": "closing conditions",
    "independent": "independent dofs",
    "muscle": "muscles",
    **dict.fromkeys(("vector", "point", "motion", "twist", "axes", "body_axes", "body_motion", "potential")),
}
"""Indices of laws, with the kind of rows that each runs over (one of `quantities.AXES`) if they have names.

dof: a step along every dof, rad or m; each_dof: one value per dof, which is no vector. row: phi, m or rad. inertia: ten
parameters per body. x, condition, closing: natural coordinates, their conditions, those of an opened chain
[units of their entries]. muscle: one value per muscle, which is no vector. vector: world axes; point: a place in the
world, which moves with its origin. motion:
[rotation; translation] of a point, world axes; twist: the same of the body's point at the world's origin. axes,
body_axes: of a frame, of the bodies one after the other. body_motion: [translation of the center of gravity; rotation]
body by body, world
axes. potential: energy that depends on the height of the origin."""

DIMENSIONS = {"M": (1, 0, 0), "L": (0, 1, 0), "T": (0, 0, 1), "E": (1, 2, -2)}
"""Powers of (mass, length, time) of the letters of laws."""

_WORD = re.compile(r"([A-Za-z_]+|1)(?:\^(\d+))?")


@dataclass(frozen=True)
class Factor:
    """Dimension and index of the rows or columns of a quantity.

    dimension: powers of (mass, length, time), beside those of the index. index: one of INDICES, None for a scalar.
    dual: whether the index stands behind the slash.
    """

    dimension: tuple[int, int, int]
    index: str | None = None
    dual: bool = False

    @staticmethod
    def parse(text: str) -> Factor:
        """The factor that a text such as "E T/dof" describes. ValueError for words that no law has."""
        powers, indices = [0, 0, 0], []
        for dual, part in enumerate(text.split("/", 1)):
            for word in part.split():
                match = _WORD.fullmatch(word)
                if match is None or (match[1] not in DIMENSIONS and match[1] not in INDICES and match[1] != "1"):
                    known = (*DIMENSIONS, *INDICES)
                    raise ValueError(
                        f'a law has words such as "E", "T^2" or "dof", got {repr_in_message(word)}; known are: '
                        f"{names_in_message(known)}{suggestion(word, known)}"
                    )
                count = int(match[2] or 1) * (-1 if dual else 1)
                if match[1] in INDICES:
                    indices += [(match[1], bool(dual))] * abs(count)
                for k, power in enumerate(DIMENSIONS.get(match[1], ())):
                    powers[k] += count * power
        if len(indices) > 1:
            raise ValueError(
                f"rows, and columns, have one index, got {repr_in_message(text)}: write a comma between them"
            )
        return Factor((powers[0], powers[1], powers[2]), *indices[0] if indices else ())


class Law(NamedTuple):
    """Factors of the rows and of the columns of a quantity."""

    rows: Factor
    columns: Factor

    @staticmethod
    def parse(text: str) -> Law:
        """The law that a text describes: "E/dof" for a column, "E T^2/dof, 1/dof" for a matrix."""
        if not isinstance(text, str):
            raise TypeError(f'a law is a text such as "E/dof, 1/dof", got {repr_in_message(text)}')
        if not text:
            raise ValueError('a quantity needs a law: a text such as "E/dof, 1/dof", got none')
        parts = [Factor.parse(part) for part in text.split(",")]
        if not 1 <= len(parts) <= 2:
            raise ValueError(f'a law is one of rows, or of "rows, columns", got {repr_in_message(text)}')
        return Law(parts[0], parts[1] if len(parts) == 2 else Factor((0, 0, 0)))

    @property
    def axes(self) -> tuple[str | None, str | None]:
        """The kinds of rows and columns, one of `quantities.AXES` each, None where entries have no names."""
        rows, columns = (factor.index and INDICES[factor.index] for factor in self)
        return rows, columns
