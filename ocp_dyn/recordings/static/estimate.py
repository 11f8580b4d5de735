"""Muscle forces estimated from a recorded motion, as data, tables and figures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..._base import checks
from ..._base.display import plot
from ..._base.types import Array
from ..moments import NetMoments
from ..recording import Recording

AT_LIMIT = 1e-6
"""Distance from the upper limit below which an activation is at it."""
QUANTITIES = ("activations", "forces", "reserves", "shortfall")


@dataclass(frozen=True, eq=False)
class MuscleEstimate:
    """Activations and forces of muscles along a recorded motion of N frames, as `static_optimization` finds them.

    names (n): of the muscles; coordinates (m): those that are balanced, with the net moments tau (N, m) [N m, N].
    activations (N, n); forces (N, n): of the tendons [N]; reserves (N, m) [N m, N]: what balances beside the muscles;
    shortfall (N, m): what muscles could not give even if reserves cost everything and activations nothing, zero where
    muscles alone are enough. residual (N): of the KKT conditions, over the largest term of the gradient. limits: of the
    activations. Frames without moments are NaN.

    >>> still = od.recordings.Recording(["elbow"], np.arange(5) / 10, [[1.0]] * 5, "rad")
    >>> held = od.recordings.net_moments(od.recordings.fit_motion(elbow, coordinates=still).derived())
    >>> od.recordings.static_optimization(held)
    MuscleEstimate(5 frames, 2 muscles, 1 coordinate, largest activation 0.0674, largest reserve 0.0021)
    """

    moments: NetMoments
    names: tuple[str, ...]
    coordinates: tuple[str, ...]
    activations: Array
    forces: Array
    reserves: Array
    tau: Array
    shortfall: Array
    residual: Array
    limits: tuple[float, float]

    @property
    def times(self) -> Array:
        """Times of the frames (N) [s]."""
        return self.moments.motion.times

    @property
    def at_limit(self) -> dict[str, float]:
        """Muscles whose activation reaches its upper limit, and at which share of the frames, most often first."""
        return self._shares(self.names, self.activations >= self.limits[1] - AT_LIMIT)

    @property
    def too_weak(self) -> dict[str, float]:
        """Coordinates that muscles alone cannot balance, and at which share of the frames, most often first."""
        return self._shares(self.coordinates, np.nan_to_num(self.shortfall) != 0)

    def _shares(self, names: tuple[str, ...], where: Any) -> dict[str, float]:
        count = max(1, int(np.sum(~np.isnan(self.residual))))
        found = {name: float(x) / count for name, x in zip(names, where.sum(axis=0), strict=True) if x}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def recording(self, quantity: str = "activations") -> Recording:
        """One of "activations", "forces" [N], "reserves" and "shortfall" [N m, N] as a recording, which
        `od.recordings.write` brings into a .sto or .csv file."""
        checks.choice(quantity, QUANTITIES, "recording: quantity")
        names = self.names if quantity in QUANTITIES[:2] else self.coordinates
        all_units = dict(zip(self.moments.moments.names, self.moments.moments.units, strict=True))
        units = {"activations": ("",), "forces": ("N",)}.get(quantity, tuple(all_units.get(c, "") for c in names))
        return Recording(names, self.times, getattr(self, quantity), units, f"Muscles: {quantity}")

    def plot(self, path: str | Path | None = None) -> Any:
        """Figure of all activations, and of the net moments beside what the muscles give, written to `path` (.png,
        .pdf, .svg) if given. Times at which an activation is at its limit, or muscles are too weak, are shaded."""
        return plot(self, path=path)

    def __str__(self) -> str:
        lines = [repr(self)]
        for title, shares in (("at their limit", self.at_limit), ("muscles too weak about", self.too_weak)):
            if shares:
                lines += [f"{title}:", *(f"  {name:24} {100 * x:5.1f} % of the frames" for name, x in shares.items())]
        return "\n".join(lines)

    def __repr__(self) -> str:
        n, m = len(self.names), len(self.coordinates)
        return (
            f"MuscleEstimate({self.times.size} frames, {n} muscle{'s' * (n != 1)}, {m} coordinate{'s' * (m != 1)}, "
            f"largest activation {np.nanmax(self.activations):.3g}, largest reserve "
            f"{np.nanmax(np.abs(self.reserves)):.3g})"
        )
