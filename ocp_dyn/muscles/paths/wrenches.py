"""Wrenches of a unit tension on what lies beyond a joint: exact in numbers, and as expressions.

The pieces of a path between bodies beyond the joint cancel. What remains is the pull along the pieces that lead from
these bodies to the others: [moment about the joint's center; force], in the axes of the body that the joint moves, at
whose origin its center lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Array, Expr
from ...mechanism import Model, Muscle
from ...mechanism.equal_models import kept_per_model
from .bodies import placed
from .fits import Polynomial, Sampled
from .geometry import Path, path_values, pulls_on
from .polynomials import Basis, Box
from .smooth import SharedSamples, box_of, couplings_of, is_straight

DIRECTION = 0.01
"""Error of the direction of a pull that its polynomial may have, RMS, for a tolerance of 1 mm of its moment arms."""


def beyond(model: Model, body: int) -> frozenset[int]:
    """The moving bodies that the joint of a body carries."""
    found = {body}
    for i, p in model.edges:
        if p in found:
            found.add(i)
    return frozenset(found)


def crosses(model: Model, muscle: Muscle, moved: frozenset[int]) -> bool:
    """Whether a path leads from some bodies to others."""
    path = Path(model, muscle)
    frames = {point.body for point in muscle.path} | {wrap.body for wrap, _ in path.wraps}
    inside = {model.frames[name].body in moved for name in frames}
    return len(inside) == 2


def exact_wrench(path: Path, body: int, q: Array) -> Array:
    """Wrenches (n x 6) of a unit tension at configurations q (n x nq)."""
    values = path_values(path, q)
    moment, force = pulls_on(path, values, beyond(path.model, body))
    R, p = values.poses.R[body], values.poses.p[body]
    about = moment - np.cross(p, force)
    return np.concatenate([np.einsum("nji,nj->ni", R, part) for part in (about, force)], axis=1)


class FittedWrench(NamedTuple):
    """Polynomials of the six entries."""

    box: Box
    entries: tuple[Polynomial, ...]

    def at(self, q: Expr) -> Expr:
        """Their values."""
        basis = Basis(self.box, [q[k] for k in self.box.entries])
        rows = [sum((c * basis.value(e) for e, c in zip(*one, strict=True)), type(q)(1, 1)) for one in self.entries]
        return ca.vertcat(*rows)


def straight_wrench(model: Model, muscle: Muscle, body: int, q: Expr) -> Expr:
    """The wrench of a unit tension in a path that is a chain of straight lines."""
    bodies, moved = Path(model, muscle).bodies, beyond(model, body)
    values = bodies.function.call([q])
    poses = {i: (values[2 * k], values[2 * k + 1]) for k, i in enumerate(bodies.joints)}
    R, p = poses[body]
    moment, force = type(q)(3, 1), type(q)(3, 1)
    points = [placed(model, one.body, one.point) for one in muscle.path]  # type: ignore[union-attr, arg-type]
    for (a, start), (b, end) in pairwise(points):
        if (a in moved) == (b in moved):
            continue
        from_, to = (
            (turn @ DM(at) + place) for (turn, place), at in ((poses.get(a, _HERE), start), (poses.get(b, _HERE), end))
        )
        here, there = (from_, to) if a in moved else (to, from_)
        e = (there - here) / ca.norm_2(there - here)
        force, moment = force + e, moment + ca.cross(here - p, e)
    return ca.vertcat(R.T @ moment, R.T @ force)


_HERE = (DM.eye(3), DM(3, 1))


@kept_per_model
def fitted_wrenches(model: Model, body: int, names: Sequence[str], tolerance: float) -> dict[str, FittedWrench]:
    """Polynomials of the wrenches of paths that bend, over the ranges of the joints that they cross."""
    shared: dict[tuple[object, ...], SharedSamples] = {}
    found = {}
    for muscle in model.muscles:
        if muscle.name not in names or is_straight(model, muscle):
            continue
        path = Path(model, muscle, fine=False)
        couplings = couplings_of(model, path.coordinates)
        box = box_of(model, muscle, path.coordinates, couplings)
        samples = shared.setdefault((box, couplings), SharedSamples(model, box, couplings))
        wrench = exact_wrench(path, body, samples.q)
        limits = [tolerance] * 3 + [DIRECTION * tolerance / 1e-3] * 3
        fits = (
            samples.fitter.fit(Sampled(wrench[:, k], None), np.array([limit])).polynomial
            for k, limit in enumerate(limits)
        )
        found[muscle.name] = FittedWrench(box, tuple(fits))
    return found
