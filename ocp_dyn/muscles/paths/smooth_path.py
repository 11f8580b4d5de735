"""The smooth form of the path of one muscle, its polynomials and its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ...joints import ScalarFunction
from .fits import Polynomial
from .polynomials import Box


@dataclass(frozen=True)
class Coupled:
    """A coordinate that follows another one: q[entry] = scale f(q[other]) on the couplings of the model."""

    entry: int
    other: int
    function: ScalarFunction
    scale: float


@dataclass(frozen=True)
class SmoothPath:
    """The smooth form of the path of one muscle, and how good it is.

    coordinates: names of those on which the length depends. straight: whether it is exact, a path without wraps,
    moving and conditional points; then there is nothing more. degree, terms: of the polynomial. length_rms, arm_rms,
    arm_worst: errors at samples that were not fitted [m]; of a moment arm about a coordinate that is a length in units
    of 0.1 m. jump: the largest jump of the exact length that was found [m], where a conditional point comes or goes,
    or, for a fit that misses its tolerance, where a line changes the side of its wrap object or a point enters it.
    coupled: coordinates that follow others by a coupling of the model, on which the fit holds; off it, the length is
    linear in them.

    >>> od.muscles.path_report(od.models.elbow())[0].coordinates
    ('elbow',)
    """

    name: str
    coordinates: tuple[str, ...]
    straight: bool = True
    degree: int = 0
    terms: int = 0
    length_rms: float = 0.0
    arm_rms: float = 0.0
    arm_worst: float = 0.0
    jump: float = 0.0
    coupled: tuple[str, ...] = ()


class Pieces(NamedTuple):
    """The polynomials of a fitted path: of the length on the couplings, and of dl/dq of every coordinate that is
    coupled, by its place in `couplings`."""

    box: Box
    couplings: tuple[Coupled, ...]
    length: Polynomial
    coupled: tuple[Polynomial, ...]
