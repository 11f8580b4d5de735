"""Check that the equations of components are left-right symmetric, where a period is mirrored.

The equations of the components hold at an instant if the rates are the given derivatives and the rows lie within their
bounds. They are symmetric if they hold at the mirror image of every instant at which they hold. Such instants are
found from random ones by Gauss-Newton steps of least size; at each of some more instants one row is at a bound. A
violation at the mirror image proves that the equations are not symmetric. The force is compared at the same instants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ...._base.types import Array, names_in_message
from ....mechanism import Model
from ....symmetry.mirror import MirrorMap
from ..instant import Instant
from .components import ComponentEquations

TOLERANCE = 1e-6
"""Difference, relative to the terms of a row, up to which equations count as symmetric."""

HELD = 1e-9
"""Violation, relative to the terms of a row, up to which equations hold at an instant."""

SIZES = (0.1, 0.3, 1.0, 1.0)
"""Sizes of the random instants, relative to the scales of the channels."""

MOST_BOUNDS = 40
"""Largest number of bounds of rows at which an instant is searched for."""

MOST_STEPS = 30
"""Gauss-Newton steps after which an instant is left out."""


def check_mirrored(parts: ComponentEquations, model: Model, mirror: MirrorMap, values: Mapping[str, Any]) -> None:
    """ValueError if forces, derivatives or rows of the components at a mirrored instant are not the mirrored ones;
    values: of the parameters and of the step. Functions of contact forces or places are not compared."""
    samples = _Samples.of(parts, model, mirror, values)
    uneven = dict.fromkeys(name for q, s, z in samples.held() for name in samples.uneven(q, s, z))
    if uneven:
        raise ValueError(
            f"components are not left-right symmetric: {names_in_message(list(uneven))} of the mirrored state differ "
            "from the mirror image of those of the state. Give both sides equal numbers and channels their mirror "
            "images, or write Periodic(mirror=False)"
        )


@dataclass(frozen=True, eq=False)
class _Samples:
    """The equations as functions of (q, s, z), with the fraction s of the phase and all other quantities z.

    names: those of the rows; lower, upper: their bounds; the last rows are the channels. equations: rows and their
    derivatives by z; force: that of the components, if it is known; start, scale: of the random z; image: the matrix
    that mirrors z.
    """

    mirror: MirrorMap
    names: list[str]
    lower: Array
    upper: Array
    equations: ca.Function
    force: ca.Function | None
    start: Array
    scale: Array
    image: Array

    @staticmethod
    def of(parts: ComponentEquations, model: Model, mirror: MirrorMap, values: Mapping[str, Any]) -> _Samples:
        still, channels = np.zeros(model.nv), parts.channels
        slots = dict.fromkeys(("qd", "qdd", "tau", "tau_rate"), (still, still + 1.0, mirror.qd_matrix))
        for c in channels:
            slots[c.name] = np.array(c.neutral), np.array(c.scale), c.image(mirror.images)
            if c.at_nodes:
                slots[f"{c.name}'"] = np.zeros(c.size), np.array(c.scale), c.image(mirror.images)
        start, scale, images = zip(*slots.values(), strict=True)
        z, q, s = SX.sym("z", sum(x.size for x in start)), SX.sym("q", model.nq), SX.sym("s")
        found = dict(zip(slots, ca.vertsplit(z, np.cumsum([0, *(x.size for x in start)]).tolist()), strict=True))
        instant = Instant(
            model, q, found["qd"], s, found["qdd"], found["tau"], tau_rate=found["tau_rate"],
            channels={c.name: found[c.name] for c in channels},
            rates={c.name: found[f"{c.name}'"] for c in channels if c.at_nodes},
        )  # fmt: skip
        instant.values = {**values, **instant.channels}
        rows = [*_rows(parts, instant)]
        rows += [(c.name, found[c.name], *c.mirrored_bounds(mirror.images)) for c in channels]
        value = ca.densify(ca.vertcat(SX(0, 1), *(row for _, row, _, _ in rows)))
        force = next(_known(lambda: parts.force(instant)), None)
        low, high = (np.concatenate([np.broadcast_to(np.ravel(r[k]), r[1].numel()) for r in rows]) for k in (2, 3))
        return _Samples(
            mirror,
            [name for name, row, _, _ in rows for _ in range(row.numel())],
            low,
            high,
            ca.Function("equations", [q, s, z], [value, ca.densify(ca.jacobian(value, z))]),
            None if force is None else ca.Function("force", [q, s, z], [ca.densify(SX(model.nv, 1) + force)]),
            np.concatenate(start),
            np.concatenate(scale),
            np.array(ca.diagcat(*images).full()),
        )

    def held(self) -> Iterator[tuple[DM, float, Array]]:
        """Instants (q, s, z) at which the equations hold."""
        rng = np.random.default_rng(0)
        sides = np.stack([self.lower, self.upper])
        at = np.argwhere(np.isfinite(sides) & (self.lower < self.upper))
        bounds = [None] * len(SIZES) + [tuple(pair) for pair in rng.permutation(at)[:MOST_BOUNDS].tolist()]
        for k, bound in enumerate(bounds):
            low, high = self.lower.copy(), self.upper.copy()
            if bound is not None:
                low[bound[1]] = high[bound[1]] = sides[bound]
            q, s = DM(self.mirror.model.random_q(rng)), float(rng.uniform())
            z = self.start + SIZES[k % len(SIZES)] * self.scale * rng.normal(size=self.start.size)
            for _ in range(MOST_STEPS):
                gap, slope = self._violations(q, s, z, low, high)
                if not (np.all(np.isfinite(gap)) and np.all(np.isfinite(slope))):
                    break
                if np.all(np.abs(gap) <= HELD * (1 + np.abs(slope).sum(axis=1))):
                    yield q, s, z
                    break
                act = gap != 0
                z = z - self.scale * np.linalg.lstsq(slope[act], gap[act], rcond=1e-10)[0]

    def uneven(self, q: DM, s: float, z: Array) -> Iterator[str]:
        """Names of what is violated at the mirror image of an instant, though it holds there."""
        image, mirrored = self.mirror.q(q), self.image @ z
        gap, slope = self._violations(image, s, mirrored, self.lower, self.upper)
        yield from (self.names[k] for k in np.flatnonzero(np.abs(gap) > TOLERANCE * (1 + np.abs(slope).sum(axis=1))))
        if self.force is not None:
            one, other = self.mirror.qd(self.force(q, s, z)), self.force(image, s, mirrored)
            if float(ca.norm_inf(one - other)) > TOLERANCE * max(1.0, float(ca.norm_inf(one))):
                yield "the force"

    def _violations(self, q: DM, s: float, z: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Distances of the rows from their bounds, and their derivatives by z in its scale."""
        value, slope = (np.array(x.full()) for x in self.equations(q, s, z))
        return value[:, 0] - np.clip(value[:, 0], lower, upper), slope * self.scale


def _rows(parts: ComponentEquations, instant: Instant) -> Iterator[tuple[str, SX, Any, Any]]:
    """(name, expression, lower, upper) of the equations of all components that are known at the instant."""
    for component in parts.components:
        own = parts._replace(components=(component,))
        for given in _known(lambda own=own: own.derivatives(instant)):
            for name, value in given.items():
                yield f"the derivative of {name!r}", instant.rates[name] - value, 0.0, 0.0
        for rows in _known(lambda own=own: own.rows(instant)):
            yield from ((f"the rows of {name}", *row) for name, *row in rows)


def _known(function: Any) -> Iterator[Any]:
    """The result of a function of components; nothing if it depends on what is not known at the instant."""
    try:
        yield function()
    except (ValueError, KeyError):
        return
