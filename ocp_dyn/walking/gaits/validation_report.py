"""The report of walks beside their measurements: tables of all walks, a picture of figures against speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.files import whole_file
from ...native.provenance import provenance, sentences
from ...ocp import Gait, GaitComparison, GaitReference
from .objections import body_rows, objection_rows
from .validation import ValidatedWalk, preferred_speed

FIGURES = {
    "stride_frequency_Hz": "stride frequency [Hz]",
    "step_width_leg_lengths": "step width [leg lengths]",
    "metabolic_cost_J_per_kg_m": "metabolic cost, gross [J/(kg m)]",
    "double_support_percent": "double support [% of the stride]",
    "swing_knee_peak_deg": "knee flexion in swing [degrees]",
    "center_of_mass_rise_m": "rise of the center of mass [m]",
    "push_off_moment_Nm_per_kg": "ankle moment at push-off [N m/kg]",
    "first_vertical_peak_body_weights": "first peak of vertical force [body weights]",
    "vertical_valley_body_weights": "valley between its peaks [body weights]",
}
"""Figures of the picture against speed, and their titles."""

CURVES = """## Curves

RMSE, correlation, and percent of the points within two standard deviations of the mean; forces while the foot is on the
ground."""

BESIDE = """## Figures

Of each walk the figure, the measured mean ± standard deviation at the same speed and slope, and the deviation of the
walk from this mean."""

ACTIVITY = """## Activity of muscles

Percents of the stride of the right leg, from its heel strike on, in which each muscle is active, above a fifth of its
range, and the share of the stride in which it is active if and only if the electromyogram of one adult is (Rajagopal et
al. 2016). One muscle of the model may stand for several."""

OBJECTIONS = """## What a gait laboratory may object to

Of each level walk the value, and what people are measured in: of a curve the root mean square of its difference from
their mean and its correlation with it, beside the root mean square of their standard deviation; of a figure the mean ±
two standard deviations. **Bold**: outside."""

BODIES = """# Walks of several bodies beside measurements

Of every walk on level ground the number of curves and figures whose band is known, and those outside it: curves that
differ from the mean of the people by more than the people's standard deviation (root mean squares), figures beyond two
standard deviations."""

COLORS = ("#6B747D", "#0072B2", "#CC79A7", "#C9A227", "#444444", "#56B4E9", "#5B8E7D")
"""Colors of the sources in the picture against speed."""

RANGE = (0.5, 2.2)
"""Speeds of the picture [m/s]."""


def plot_validation(found: Sequence[ValidatedWalk], path: Path) -> None:
    """Draws figures of all level walks against speed, over the measured means and standard deviations of all
    publications, and writes the picture."""
    from matplotlib.figure import Figure

    level = sorted((w for w in found if w.gait is not None and not w.case.slope), key=lambda w: w.case.speed)
    figure = Figure(figsize=(10.5, 8.6), layout="constrained")
    gaits = [w.gait for w in found if w.gait is not None]
    measured = _measured(gaits[0]) if gaits else {}
    colors = dict(
        zip(dict.fromkeys(source for lines in measured.values() for source in lines), COLORS * 3, strict=False)
    )
    for axes, (name, title) in zip(figure.subplots(3, 3).ravel(), FIGURES.items(), strict=True):
        for source, points in measured.get(name, {}).items():
            x, y, sd = np.array(points).T
            known = np.isfinite(sd).all()
            axes.fill_between(x, y - sd, y + sd, color=colors[source], alpha=0.22, linewidth=0)
            axes.plot(x, y, "--", color=colors[source], linewidth=1.3, label=source + ", mean ± sd" * bool(known))
        own = [(w.case.speed, w.gait.figures[name]) for w in level if w.gait is not None and name in w.gait.figures]
        if own:
            axes.plot(*np.array(own).T, "o-", color="#D55E00", markersize=4, label="model")
        axes.set_title(title, fontsize=9, loc="left")
        axes.set_xlim(*RANGE)
        if name == "step_width_leg_lengths":
            axes.set_ylim(0, 1.15 * axes.get_ylim()[1])  # nearly constant: its changes would look large
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in figure.axes[-3:]:
        axes.set_xlabel("speed [m/s]", fontsize=9)
    shown = [axes.get_legend_handles_labels() for axes in figure.axes]
    handles = {label: handle for pair in shown for handle, label in zip(*pair, strict=True)}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=2, fontsize=7.5, frameon=False)
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=130)


def _measured(gait: Gait) -> dict[str, dict[str, list[tuple[float, float, float]]]]:
    """(speed, mean, standard deviation) by figure and source, for people with legs of this walker's length."""
    found: dict[str, dict[str, list[tuple[float, float, float]]]] = {}
    by_size = gait.figures["dimensionless_speed"] / gait.figures["speed_m_per_s"]
    for speed in np.linspace(*RANGE, 35):
        at = {"speed_m_per_s": speed, "dimensionless_speed": by_size * speed, "slope": 0.0}
        walk = replace(gait, figures=dict.fromkeys(FIGURES, np.nan) | dict(gait.figures) | at)
        for e in walk.expected():
            found.setdefault(e.figure, {}).setdefault(e.source, []).append((float(speed), e.mean, e.sd))
    return found


def write_validation(
    found: Sequence[ValidatedWalk], path: Path, who: str, subject: GaitReference | None = None
) -> None:
    """Writes a report, in Markdown, of walks beside their measurements: tables of all curves and figures.

    who: the walker, in words. subject: the person beside whose curves all walks are held. The report shows the pictures
    speeds.png (`plot_validation`) and NAME.png of every walk, which have to stand beside it.
    """
    preferred = preferred_speed(found)
    made = " ".join(sentences(provenance()))
    parts = [
        f"# Human walking beside measurements\n\nThe walker: {who}. {made} Seconds of building and solving a walk.",
        _table(("walk", "converged", "iterations", "seconds", "started from"), [_solved(walk) for walk in found]),
    ]
    if preferred is not None:
        parts.append(
            f"On level ground the metabolic cost per distance is least at **{preferred:.2f} m/s**; people walk "
            "at about 1.3 m/s when they choose their speed."
        )
    if subject is not None:
        parts.insert(1, f"Held beside the subject **{subject.name}**{': ' * bool(subject.source)}{subject.source}.")
    if rows := objection_rows(found):
        level = sorted((w for w in found if w.gait is not None and not w.case.slope), key=lambda w: w.case.speed)
        parts += [OBJECTIONS, _table(("curve or figure (source)", *(w.case.title for w in level)), rows)]
    if any(walk.comparisons for walk in found):
        parts += [CURVES, *_curve_tables(found)]
    if any(walk.gait is not None for walk in found):
        parts += [BESIDE, "![figures against speed](speeds.png)", *_figure_tables(found)]
    if active := [walk for walk in found if walk.activity]:
        parts += [ACTIVITY, _activity_table(active)]
    for walk in found:
        parts.append(f"## {walk.case.title}")
        if walk.gait is not None:
            parts += [
                f"![all curves over the stride]({walk.case.name}.png)",
                _table(("figure", "value"), walk.gait.rows()),
            ]
        else:
            worst = walk.solution.stats.get("worst_row", "")
            parts.append(f"Not found: {walk.solution.status}; the worst constraint is `{worst}`.")
    sources = dict.fromkeys(e.source for w in found if w.gait is not None for e in w.gait.expected())
    bands = dict.fromkeys(c.source for w in found for c in w.comparisons if c.source)
    parts += ["## Sources\n\n" + "\n".join(f"- {source}" for source in (*bands, *sources))] if bands or sources else []
    with whole_file(path) as partial:
        partial.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def write_bodies(found: Mapping[str, Sequence[ValidatedWalk]], path: Path) -> None:
    """Writes a table, in Markdown, of walks of several bodies: which figures of each lie outside the measured bands.

    found: the walks by body, in words.
    """
    head = ("body", "walk", "converged", "judged", "outside", "which")
    with whole_file(path) as partial:
        partial.write_text(f"{BODIES}\n\n{_table(head, body_rows(found))}\n", encoding="utf-8")


def _solved(walk: ValidatedWalk) -> tuple[str, ...]:
    start = "own guess" if walk.start is None else walk.start.title
    converged = "yes" if walk.solution.converged else f"no: {walk.solution.status}"
    return walk.case.title, converged, str(walk.iterations), f"{walk.seconds:.1f}", start


def _curve_tables(found: Sequence[ValidatedWalk]) -> list[str]:
    """A table for every reference: curves in lines, walks in columns."""
    beside: dict[str, list[tuple[ValidatedWalk, GaitComparison]]] = {}
    for walk in found:
        for comparison in walk.comparisons:
            beside.setdefault(comparison.caption, []).append((walk, comparison))
    tables = []
    for caption, pairs in beside.items():
        pairs = sorted(pairs, key=lambda pair: (pair[0].case.slope, pair[0].case.speed))
        names = [f"{a.curve} [{a.unit}]" for a in pairs[0][1].curves]
        rows = []
        for name, agreement in zip(names, pairs[0][1].curves, strict=True):
            cells = [comparison[agreement.curve] for _, comparison in pairs]
            rows.append(
                (name, *(f"{a.rmse:.2g}, {_known(a.correlation, '.2f')}, {_known(a.within, '.0f %')}" for a in cells))
            )
        head = ("RMSE, correlation, within 2 SD", *(walk.case.title for walk, _ in pairs))
        tables.append(f"### {caption}\n\n" + _table(head, rows))
    return tables


def _figure_tables(found: Sequence[ValidatedWalk]) -> list[str]:
    """A table for level ground and for every slope: figures of every source in lines, walks in columns."""
    slopes = sorted({walk.case.slope for walk in found}, key=abs)
    tables = []
    for slope in slopes:
        here = sorted((w for w in found if w.case.slope == slope and w.gait is not None), key=lambda w: w.case.speed)
        lines: dict[tuple[str, str], dict[str, Any]] = {}
        for walk in here:
            assert walk.gait is not None
            for e in walk.gait.expected():
                lines.setdefault((e.figure, e.source), {})[walk.case.title] = e
        rows = []
        for (figure, source), by_walk in sorted(lines.items()):
            cells = [by_walk.get(walk.case.title) for walk in here]
            rows.append((f"{figure.replace('_', ' ')} ({source})", *("" if e is None else _beside(e) for e in cells)))
        if rows:
            title = "Level ground" if not slope else f"Slope {100 * slope:+.3g} %"
            tables.append(f"### {title}\n\n" + _table(("figure (source)", *(w.case.title for w in here)), rows))
    return tables


def _activity_table(found: Sequence[ValidatedWalk]) -> str:
    """Muscles in lines, walks in columns: bursts, and agreement with the electromyogram."""
    rows = []
    for muscle, timing in found[0].activity.items():
        cells = [walk.activity[muscle] for walk in found]
        told = (f"{_bursts(one.bursts)}; {one.agreement:.0%}" for one in cells)
        rows.append((muscle, _bursts(timing.measured.active), *told))
    return _table(("muscle", "measured", *(walk.case.title for walk in found)), rows)


def _bursts(bursts: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{begin:g} to {end:g}" for begin, end in bursts) or "none"


def _beside(e: Any) -> str:
    sd = f" ± {e.sd:.2g}" if np.isfinite(e.sd) else ""
    return f"{e.value:.3g}; {e.mean:.3g}{sd}; {e.deviation:+.0f} %"


def _known(value: float, form: str) -> str:
    """A number in a format, which may end in " %"; "-" for nan."""
    number, _, unit = form.partition(" ")
    return f"{value:{number}} {unit}".rstrip() if np.isfinite(value) else "-"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
