"""`Fit`: the parameters that were found, how certain they are, and how near the motions come to the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...._base.checks import name_among
from ...._base.display import Displayed, aligned, table
from ...._base.types import Array
from ...solution import Solution
from ...statement.objectives import Weighed
from ...statement.values.parameters import Parameter
from ...statement.values.weights import replaced_terms
from .measured import Measured
from .parameters import Scaled

INDISTINCT = 1.0
"""Standard error of a combination of parameters from which on the data do not tell it: on the logarithmic scale a
factor of 2.7 up or down."""

TAKES_PART = 0.3
"""Least share of a parameter in the unit vector of a combination that is named with it."""

UNEXPLAINED = 3.0
"""Root mean square difference, in spreads, from which on a measurement counts as not explained."""


@dataclass(frozen=True)
class DataAgreement:
    """Distance of a motion from one measurement: root mean square difference in its own unit, and in spreads.

    >>> found = ocp.DataAgreement("walk", "hip flexion", 4.0, 0.8, 51)
    >>> found.spreads
    0.8
    """

    motion: str
    measured: str
    rms: float
    spreads: float
    count: int


@dataclass(frozen=True)
class Fold:
    """One round of cross-validation: a group that was left out, the values that the others give, and the agreement of
    the group's motions with them.

    >>> ocp.Fold("fast", {"TorqueSquared": 2.0}, (ocp.DataAgreement("run", "q", 0.1, 1.2, 40),)).spreads
    1.2
    """

    group: str
    values: Mapping[str, float]
    agreement: tuple[DataAgreement, ...]

    @property
    def spreads(self) -> float:
        """Root mean square difference of the group from its data, in spreads."""
        return _mean_spreads(self.agreement)


@dataclass(frozen=True, eq=False)
class Fit(Displayed):
    """Parameters whose optimal motions come closest to what was measured, as `fit` finds them.

    values: by the names of the parameters in the programs, as `problem.solve(values=found.values)` takes them. names:
    short names, of weights those of their costs. covariance: of the parameters on their scales, by the spreads of the
    data and the priors, to first order; log tells whose scale is logarithmic. reference: the weight that has its first
    value, where all weights could be multiplied by one number without a change of any motion.

    status: "Converged"; "Stopped_At_A_Kink" where a bound of a motion becomes active and no step finds a better point;
    "Maximum_Iterations_Exceeded". agreement: of every motion with every measurement. folds: of the cross-validation.
    costs: sum of squares after each iteration; optima: at the end of every start, the best first. work: solves,
    iterations of the solver, linear systems, seconds of processor time. sentences: what the data do not tell, and what
    no parameters explain.

    >>> problem = turn(ocp.TorqueSquared(), ocp.Rate(lambda instant: instant.tau, name="jerk", weight=0.2))
    >>> seen = ocp.Measured.motion("q", problem.with_weights(jerk=1.0).solve(progress=False).q, 0.001)
    >>> ocp.fit(problem, [seen], ["jerk"], progress=False).names
    ('jerk',)
    """

    values: Mapping[str, float]
    names: tuple[str, ...]
    covariance: Array
    log: Array
    status: str
    solutions: Mapping[str, Solution]
    agreement: tuple[DataAgreement, ...]
    sentences: tuple[str, ...]
    costs: tuple[float, ...]
    optima: tuple[float, ...]
    work: Mapping[str, float]
    scaled: Scaled = field(repr=False)
    folds: tuple[Fold, ...] = ()
    reference: str = ""

    @property
    def converged(self) -> bool:
        return self.status == "Converged"

    @property
    def distance(self) -> float:
        """Root mean square difference from the data, in spreads: near 1 if the spreads are honest."""
        return _mean_spreads(self.agreement)

    @property
    def errors(self) -> dict[str, float]:
        """Standard error of every parameter, by its short name: relative for those on the logarithmic scale; inf for
        what the data do not tell at all."""
        return dict(zip(self.names, np.sqrt(np.diag(self.covariance)).tolist(), strict=True))

    @property
    def correlation(self) -> Array:
        """Correlations of the errors."""
        size = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nan_to_num(self.covariance / np.outer(size, size)))

    def __getitem__(self, name: str) -> float:
        """The value of a parameter by its short name."""
        names = dict(zip(self.names, self.values, strict=False))
        return self.values[names[name_among(name, names, "fit", "parameter")]]

    def applied(self, problem: Any) -> Any:
        """A problem that declares the values that were found: weights and other parameters, as far as it has them."""
        own = [entry.parameter for entry in problem.weights.entries]
        found = problem.with_weights({name: x for name, x in self.values.items() if name in own})
        from dataclasses import replace

        known = {p.name: p for p in found.resolved.parameters}
        new = {
            name: Parameter(name, self.values[name])
            for name, p in known.items()
            if name in self.values and p.size == 1 and not p.free
        }
        if not new:
            return found
        costs = [term for phase in found.phases for term in phase.objective if isinstance(term, Weighed)]
        terms = {id(term): term.with_values(known | new) for term in costs if term.parameters}
        parameters = tuple(new.get(p.name, p) for p in found.parameters)
        return replace(found, **replaced_terms(found, terms), parameters=parameters)

    def rows(self) -> list[list[str]]:
        """The table of the parameters."""
        rows = [["parameter", "value", "standard error"]]
        for name, value, error, log in zip(
            self.names, self.values.values(), self.errors.values(), self.log, strict=True
        ):
            told = (
                "not told by the data" if not np.isfinite(error) else f"{100 * error:.2g} %" if log else f"{error:.2g}"
            )
            told = "held: all weights have a common factor" if name == self.reference else told
            rows.append([name, f"{value:.6g}", told])
        return rows

    def __str__(self) -> str:
        head = (
            f"Fit of {len(self.names)} parameters to {len(self.solutions)} motions: {self.status} after "
            f"{len(self.costs) - 1} iterations, {self.distance:.3g} spreads from the data"
        )
        parts = [head, aligned(self.rows()), aligned(self._agreement())]
        if self.folds:
            left = [
                ["left out", "spreads from its data"],
                *([fold.group, f"{fold.spreads:.3g}"] for fold in self.folds),
            ]
            parts.append(aligned(left))
        return "\n".join([*parts, *self.sentences])

    def _agreement(self) -> list[list[str]]:
        rows = [["motion", "measured", "rms", "spreads"]]
        return rows + [[a.motion, a.measured, f"{a.rms:.3g}", f"{a.spreads:.3g}"] for a in self.agreement]

    def _card_html(self) -> str:
        told = "".join(f"<p>{line}</p>" for line in self.sentences)
        rows, near = self.rows(), self._agreement()
        return table(rows[0], rows[1:]) + table(near[0], near[1:]) + told


def _mean_spreads(agreement: tuple[DataAgreement, ...]) -> float:
    count = sum(a.count for a in agreement)
    return float(np.sqrt(sum(a.count * a.spreads**2 for a in agreement) / count)) if count else 0.0


def agreement_of(name: str, solution: Solution, data: Any) -> list[DataAgreement]:
    """The agreement of a motion with each of its measurements."""
    found = []
    for measured in data:
        assert isinstance(measured, Measured)
        gap = (measured.of(solution) - measured.values)[measured.known]
        spreads = float(np.sqrt(np.mean((gap / measured.spread[measured.known]) ** 2)))
        found.append(DataAgreement(name, measured.name, float(np.sqrt(np.mean(gap**2))), spreads, gap.size))
    return found


def covariance_of(J: Array, scaled: Scaled, z: Array) -> Array:
    """Covariance of z by the residuals' Jacobian and the priors: zero in the direction of the common factor of weights
    and for parameters at their bounds, inf where nothing tells a parameter."""
    information = J.T @ J + np.diag(1 / scaled.spread**2)
    free = np.flatnonzero((z > scaled.lower) & (z < scaled.upper))
    basis = np.eye(z.size)[:, free]
    if np.any(scaled.gauge[free]):
        e = scaled.gauge[free].astype(float)
        e /= np.linalg.norm(e)
        basis = basis @ np.linalg.svd(np.eye(free.size) - np.outer(e, e))[0][:, : free.size - 1]
    inner = basis.T @ information @ basis
    values, vectors = np.linalg.eigh(inner)
    certain = values > 1e-14 * max(float(values.max(initial=0.0)), 1e-300)
    found = basis @ (vectors[:, certain] / values[certain]) @ vectors[:, certain].T @ basis.T
    unknown = basis @ vectors[:, ~certain]
    lost = np.flatnonzero(np.sum(unknown**2, axis=1) > 1e-6)
    found[lost, lost] = np.inf
    return np.asarray(found)


def on_reference(z: Array, covariance: Array, scaled: Scaled) -> tuple[Array, Array, str]:
    """The weights with another common factor, their covariance, and the name of the weight that then has its first
    value: the one that the data tell best beside the others, so that the errors of all others are smallest."""
    mask = np.flatnonzero(scaled.gauge)
    if not mask.size:
        return z, covariance, ""
    choices = []
    for k in map(int, mask):
        T = np.eye(z.size)
        T[mask, k] -= 1.0
        with np.errstate(invalid="ignore"):
            turned = np.nan_to_num(T @ np.nan_to_num(covariance, posinf=LARGE) @ T.T)
        choices.append((float(np.trace(turned)), k, turned))
    _, best, turned = min(choices, key=lambda choice: choice[0])
    moved = z.copy()
    moved[mask] -= z[best] - scaled.start[best]
    if np.any((moved < scaled.lower) | (moved > scaled.upper)):
        return z, covariance, ""
    turned[turned >= LARGE / 2] = np.inf
    return moved, turned, scaled.labels[best]


LARGE = 1e12
"""Stands for an infinite variance in sums."""


def sentences_of(
    J: Array, scaled: Scaled, z: Array, agreement: tuple[DataAgreement, ...], residual: float
) -> tuple[str, ...]:
    """Sentences about parameters that the data do not tell, and about data that no parameters explain."""
    found = []
    information = J.T @ J + np.diag(1 / scaled.spread**2)
    if np.any(scaled.gauge):
        e = scaled.gauge.astype(float) / np.sqrt(np.sum(scaled.gauge))
        information = information + (1.0 + np.trace(information)) * np.outer(e, e)
    values, vectors = np.linalg.eigh(information)
    for value, vector in zip(values, vectors.T, strict=True):
        error = np.inf if value <= 0 else 1 / np.sqrt(value)
        if error > INDISTINCT:
            vector = vector * np.sign(vector[np.argmax(np.abs(vector))])
            parts = [(x, scaled.labels[k]) for k, x in enumerate(vector) if abs(x) > TAKES_PART]
            up, down = ([label for x, label in parts if x > 0], [label for x, label in parts if x < 0])
            what = f"{' and '.join(up)} up" + (f" with {' and '.join(down)} down" if down else "")
            found.append(f"the data hardly tell {what}: standard error {error:.2g} on their scales")
    at = [label for k, label in enumerate(scaled.labels) if z[k] in (scaled.lower[k], scaled.upper[k])]
    if at:
        found.append(f"at a bound: {', '.join(at)}")
    found += [
        f"no values of the parameters explain {a.measured!r} of {a.motion!r}: at the best ones it is {a.spreads:.3g} "
        "spreads away"
        for a in agreement
        if a.spreads > UNEXPLAINED
    ]
    if residual > 1e-6:
        found.append(
            f"the derivatives of a motion are determined to {residual:.1e} only: give every variable a cost or a "
            "constraint"
        )
    return tuple(found)
