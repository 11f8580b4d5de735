"""Different families of curves of different muscles, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM

from ..._base.types import Expr
from .family import MuscleCurves


@dataclass(frozen=True, eq=False)
class MixedCurves(MuscleCurves):
    """Families, each of the muscles with these numbers: `parts` are pairs (numbers, curves).

    >>> thelen, millard = od.muscles.ThelenCurves(), od.muscles.MillardCurves.default()
    >>> curves = od.muscles.MixedCurves((([1], thelen), ([0], millard)))
    >>> curves.tendon_force(ca.DM([1.049, 1.04])).full().round(12).ravel()
    array([1., 1.])
    """

    parts: Sequence[tuple[Sequence[int], MuscleCurves]]

    def active_force_length(self, length: Expr) -> Expr:
        return self._joined([curves.active_force_length(length[list(k)]) for k, curves in self.parts])

    def passive_force_length(self, length: Expr) -> Expr:
        return self._joined([curves.passive_force_length(length[list(k)]) for k, curves in self.parts])

    def force_velocity(self, speed: Expr, activation: Expr) -> Expr:
        return self._joined([curves.force_velocity(speed[list(k)], activation[list(k)]) for k, curves in self.parts])

    def fiber_speed(self, force: Expr, active: Expr, damping: Expr, activation: Expr) -> Expr:
        arguments = (force, active, damping, activation)
        return self._joined([curves.fiber_speed(*(x[list(k)] for x in arguments)) for k, curves in self.parts])

    def tendon_force(self, length: Expr) -> Expr:
        return self._joined([curves.tendon_force(length[list(k)]) for k, curves in self.parts])

    def tendon_length(self, force: Expr) -> Expr:
        return self._joined([curves.tendon_length(force[list(k)]) for k, curves in self.parts])

    def tendon_stiffness(self, force: Expr) -> Expr:
        return self._joined([curves.tendon_stiffness(force[list(k)]) for k, curves in self.parts])

    def least_length(self, size: int) -> Expr | None:
        found = [curves.least_length(len(k)) for k, curves in self.parts]
        if all(one is None for one in found):
            return None
        return self._joined([
            DM.zeros(len(k)) if one is None else one for one, (k, _) in zip(found, self.parts, strict=True)
        ])  # fmt: skip

    def _joined(self, values: Sequence[Expr]) -> Expr:
        """The values of all muscles in their order."""
        order = np.argsort(np.concatenate([list(k) for k, _ in self.parts]))
        joined: Expr = ca.vertcat(*values)
        return joined[order.tolist()]
