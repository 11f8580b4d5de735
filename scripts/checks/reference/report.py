"""Errors of what was compared, file by file, and the exceptions of a file that cannot be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

TOLERANCE = 1e-9


class BadFile(Exception):
    """The file cannot be read as a reference file."""


class NotBuilt(Exception):
    """Raised for quantities of a file that the library cannot compute."""


@dataclass
class Report:
    """Comparisons of one file: errors, counts and failures by quantity."""

    errors: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    not_built: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def ok(self) -> bool:
        return not self.failures

    def compare(self, key: str, where: str, value: Any, recorded: Any) -> None:
        """Counts |value - recorded| / (1 + |recorded|) under `key`; where: place in the file."""
        try:
            b = np.asarray(recorded, dtype=float)
        except (TypeError, ValueError):
            raise BadFile(f"{where}.{key}: numbers expected, got {str(recorded)[:60]!r}") from None
        a = value.full() if isinstance(value, ca.DM) else np.asarray(value, dtype=float)
        if a.size != b.size or (b.ndim == 2 and a.shape != b.shape):
            self.failures.append(f"{where}.{key}: shape {a.shape} computed, {b.shape} recorded")
            return
        error = np.abs(a.reshape(b.shape) - b) / (1 + np.abs(b))
        # nan and inf compare false with everything, so they are made the largest error there is
        worst = float(np.max(np.where(np.isfinite(error), error, np.inf), initial=0.0))
        self.errors[key] = max(worst, self.errors.get(key, 0.0))
        self.counts[key] = self.counts.get(key, 0) + b.size
        if not worst <= TOLERANCE:
            self.failures.append(f"{where}.{key}: relative error {worst:.3g}")

    def unknown(self, keys: Iterable[str], known: Iterable[str], where: str) -> None:
        for key in keys:
            if key not in known:
                self.failures.append(f"{where}: unknown key {key!r}")
