"""Comparison of a walk with measured ones: curves with a `GaitReference`, figures with a table of measured figures."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from .._base.display import Displayed, Tabular, aligned, table
from .data import PERCENT, UNITS, GaitData
from .reference import FIGURES, FOLDER, ON_GROUND, GaitReference

REACH = 0.12
"""Largest distance from the range of measured speeds [m/s] at which their figures still count."""

ADULT_LEG = 0.75
"""Least leg length of an adult [m]: a child at the same speed takes quicker steps."""

GROWING = "Nm_per_kg"
"""End of the names of figures that grow with the size of the body."""

HEAD = ("curve", "RMSE", "offset", "correlation", "% within 2 SD")
FIGURE_HEAD = ("figure", "walk", "reference", "deviation", "source")


class CurveAgreement(NamedTuple):
    """Agreement of a curve with a measured one.

    rmse: root mean square of the difference, in the unit of the curve; offset: its mean. correlation: of Pearson, nan
    for a constant curve. within: percent of the points within two standard deviations of the mean, nan if these are not
    known. spread: root mean square of the standard deviation of the people, nan if it is not known. Forces and centers
    of pressure are compared while the foot is on the ground, others over the stride.
    """

    curve: str
    unit: str
    rmse: float
    offset: float
    correlation: float
    within: float
    spread: float = np.nan


class Expected(NamedTuple):
    """A figure of a walk beside a measured one: name, value, mean and standard deviation (nan if not known) of the
    people, and the source."""

    figure: str
    value: float
    mean: float
    sd: float
    source: str

    @property
    def deviation(self) -> float:
        """Deviation from the mean [%]."""
        return 100 * (self.value / self.mean - 1)

    @property
    def outside(self) -> bool:
        """Whether the value is more than two standard deviations from the mean; False if these are not known."""
        return bool(abs(self.value - self.mean) > 2 * self.sd)

    @property
    def line(self) -> str:
        """Name and value, and the band of the people: "double support percent 12.6 (people 18.9 ± 2)"."""
        spread = f" ± {self.sd:.2g}" if np.isfinite(self.sd) else ""
        return f"{self.figure.replace('_', ' ')} {self.value:.3g} (people {self.mean:.3g}{spread})"


class ExpectedFigures(list[Expected], Tabular):
    """Figures of a walk beside measured ones; a list that `print` and notebooks show as a table."""

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        return FIGURE_HEAD, [
            (e.figure.replace("_", " "), f"{e.value:.3g}",
             f"{e.mean:.3g}" + (f" ± {e.sd:.2g}" if np.isfinite(e.sd) else ""),
             f"{e.deviation:+.0f} %", e.source)
            for e in self
        ]  # fmt: skip

    __str__ = __repr__ = Tabular.__str__


@dataclass(frozen=True, eq=False)
class GaitComparison(Displayed):
    """A walk beside measurements, from `Gait.compare`; `print` shows it as a table.

    curves: an `CurveAgreement` for every curve that both have: rmse, offset, correlation, percent within two standard
    deviations; forces and centers of pressure while the foot is on the ground, others over the stride. figures: those
    of the header of the measured gait, and those of people at this speed and slope from several publications, each with
    value, mean, sd and source. caption, source: of the measured gait.

    >>> bent = ocp.Gait("right", "bent", {"knee flexion": np.full(101, 20.0)}, {}, {})
    >>> found = bent.compare("winter")["knee flexion"]
    >>> round(found.offset, 2), round(found.within)
    (-4.57, 46)
    """

    title: str
    caption: str
    source: str
    curves: tuple[CurveAgreement, ...]
    figures: ExpectedFigures

    def __getitem__(self, curve: str) -> CurveAgreement:
        found = {agreement.curve: agreement for agreement in self.curves}
        if curve not in found:
            raise KeyError(f"no curve {curve!r} is in both; there are {', '.join(found) or 'none'}")
        return found[curve]

    def numbers(self) -> dict[str, float]:
        """All numbers by name, such as "knee_flexion_rmse", for a report in JSON; those that are not known left out."""
        found: dict[str, float] = {}
        for agreement in self.curves:
            key = agreement.curve.replace(" ", "_")
            values = {"rmse": agreement.rmse, "offset": agreement.offset, "correlation": agreement.correlation,
                      "within_2_sd_percent": agreement.within}  # fmt: skip
            found |= {f"{key}_{name}": value for name, value in values.items() if np.isfinite(value)}
        return found

    def rows(self) -> list[tuple[str, ...]]:
        """A line for every curve: name, RMSE with its unit, offset, correlation, percent within two deviations."""
        return [
            (
                a.curve,
                f"{a.rmse:.3g} {a.unit}",
                f"{a.offset:+.2g}",
                _shown(a.correlation, ".2f"),
                _shown(a.within, ".0f"),
            )
            for a in self.curves
        ]

    def __str__(self) -> str:
        parts = [f"{self.title}, beside {self.caption}", aligned([HEAD, *self.rows()])]
        if self.figures:
            parts.append(str(self.figures))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return f"GaitComparison of {self.title!r} with {self.caption!r}: {len(self.curves)} curves"

    def _card_html(self) -> str:
        curves = table(HEAD, self.rows())
        return curves + self.figures._repr_html_() if self.figures else curves

    def _repr_png_(self) -> None:
        """No picture: `Gait.plot` draws one."""


def _shown(value: float, form: str) -> str:
    return format(value, form) if np.isfinite(value) else "-"


def compare(gait: GaitData, reference: GaitReference) -> GaitComparison:
    """Agreement of all curves that a walk and a reference have, and figures beside those of the reference and the
    tables."""
    names = [name for name in UNITS if name in gait.curves and name in reference.curves]
    agreements = tuple(_agreement(gait, reference, name) for name in names)
    own = [
        Expected(figure, gait.figures[figure], reference.numbers[key], np.nan, reference.name)
        for key, figure in FIGURES.items() if key in reference.numbers and figure in gait.figures
    ]  # fmt: skip
    figures = ExpectedFigures([*own, *expected(gait.figures)])
    return GaitComparison(gait.title, reference.caption, reference.source, agreements, figures)


def _agreement(gait: GaitData, reference: GaitReference, name: str) -> CurveAgreement:
    measured = reference.curves[name]
    there = np.isfinite(gait.curves[name]) & np.isfinite(measured.mean)
    if name in ON_GROUND:
        there &= PERCENT <= max(gait.events.get("toe-off", 100.0), _stance_end(reference))
    walk, mean, sd = gait.curves[name][there], measured.mean[there], measured.sd[there]
    if not there.any():
        return CurveAgreement(name, UNITS[name], *[np.nan] * 4)
    difference = walk - mean
    constant = np.ptp(walk) < 1e-12 or np.ptp(mean) < 1e-12
    return CurveAgreement(
        name,
        UNITS[name],
        float(np.sqrt(np.mean(difference**2))),
        float(difference.mean()),
        np.nan if constant else float(np.corrcoef(walk, mean)[0, 1]),
        float(100 * np.mean(np.abs(difference) <= 2 * sd)) if np.isfinite(sd).all() else np.nan,
        float(np.sqrt(np.mean(sd**2))),
    )


def _stance_end(reference: GaitReference) -> float:
    """Percent of the stride until which a measured foot carries more than 2 % of body weight; 0 without this force."""
    if "vertical force" not in reference.curves:
        return 0.0
    on = reference.curves["vertical force"].mean > 0.02
    return float(PERCENT[on].max(initial=0.0))


# Figures of people by speed


class Measured(NamedTuple):
    """A line of the table of figures: its source, speed [m/s], dimensionless speed, slope, mean, standard deviation."""

    quantity: str
    source: str
    speed: float
    dimensionless: float
    slope: float
    mean: float
    sd: float


@cache
def measured_figures() -> tuple[Measured, ...]:
    """Figures of people at several speeds and slopes, from publications; nan for what is not told."""
    with (FOLDER / "speeds.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    keys = ("speed_m_per_s", "dimensionless_speed", "slope", "mean", "sd")
    return tuple(Measured(r["quantity"], r["source"], *[float(r[k] or "nan") for k in keys]) for r in lines)


def expected(figures: Mapping[str, float]) -> ExpectedFigures:
    """Measured figures for a walk with these figures: interpolated between the speeds of each source.

    Sources on another slope (by more than 0.01) are left out, and those whose speeds end more than `REACH` away. All
    are of people who walk, and those at a speed in m/s of adults: nothing is expected of a run, whose feet are never on
    the ground together, and nothing at speeds in m/s of legs shorter than `ADULT_LEG`.
    """
    if figures.get("double_support_percent", 1.0) <= 0:
        return ExpectedFigures()
    adult = figures.get("leg_length_m", ADULT_LEG) >= ADULT_LEG
    groups: dict[tuple[str, str], list[Measured]] = {}
    for line in measured_figures():
        if line.quantity in figures and abs(line.slope - figures.get("slope", 0.0)) <= 0.01:
            groups.setdefault((line.quantity, line.source), []).append(line)
    found = []
    for (quantity, source), lines in groups.items():
        at = _at(lines, figures)
        by_size = not np.isfinite(lines[0].speed)
        if at is not None and (adult or by_size):
            found.append(Expected(quantity, figures[quantity], *at, source))
    return ExpectedFigures(found)


def outside(figures: Mapping[str, float]) -> ExpectedFigures:
    """Figures that lie outside the measured bands, two standard deviations to both sides of the mean, of all sources
    that tell one at this speed and slope; each beside the source that comes nearest. Moments per mass are not judged:
    they grow with the length of the legs, and those that are known by speed are of children."""
    known: dict[str, list[Expected]] = {}
    for e in expected(figures):
        if np.isfinite(e.sd) and e.sd > 0 and not e.figure.endswith(GROWING):
            known.setdefault(e.figure, []).append(e)
    return ExpectedFigures(
        min(beside, key=lambda e: abs(e.value - e.mean) / e.sd)
        for beside in known.values()
        if all(e.outside for e in beside)
    )


def _at(lines: list[Measured], figures: Mapping[str, float]) -> tuple[float, float] | None:
    """(mean, standard deviation) at the speed of the walk; None if it is not in the range of the lines."""
    by_size = np.isfinite(lines[0].dimensionless)
    speed = figures.get("dimensionless_speed" if by_size else "speed_m_per_s", np.nan)
    speeds = np.array([line.dimensionless if by_size else line.speed for line in lines])
    if not np.isfinite(speeds).all():  # for any speed
        return lines[0].mean, lines[0].sd
    # a dimensionless speed of 1 is about 3 m/s
    reach = REACH / 3 if by_size else REACH
    if not speeds.min() - reach <= speed <= speeds.max() + reach:
        return None
    order = np.argsort(speeds)

    def value(column: list[float]) -> float:
        return float(np.interp(speed, speeds[order], np.array(column)[order]))

    return value([line.mean for line in lines]), value([line.sd for line in lines])
