"""The report of a motion, report.md and report.html: figures in sections, with units and the values of people."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..._base.display import attempt, page, table
from ..._base.files import whole_file
from ...gait.compare import GROWING, ExpectedFigures
from ...native.provenance import sentences
from ...ocp import DecidingBounds, Solution
from ...ocp.analysis.measured_bands import beside_people
from ...viz import stick_figure

UNITS = {
    "_steps_per_min": "1/min", "_Nm_per_kg": "N m/kg", "_W_per_kg": "W/kg", "_J_per_kg_m": "J/(kg m)",
    "_per_body_weight": "1/body weight", "_body_weights": "body weights", "_leg_lengths": "leg lengths",
    "_percent_of_stride": "% of the stride", "_percent": "%", "_seconds": "s", "_m_per_s": "m/s",
    "_rad_per_s": "rad/s", "_deg": "deg", "_rad": "rad", "_Nm": "N m", "_Hz": "Hz", "_N": "N", "_J": "J",
    "_W": "W", "_kg": "kg", "_m": "m", "_s": "s",
}  # fmt: skip
"""Units by the ends of the names of figures; the first that fits."""

RESULT, STEPS, TIMES, BODY, FORCES, EFFORT, SOLVER = (
    "Result", "Steps", "Times", "Joints and body", "Ground forces", "Torques, work and energy", "Solver",
)  # fmt: skip

SECTIONS = {
    SOLVER: "converged status iterations infeasibility defect open_loop build_seconds solve_seconds seconds refinement "
    "ladder evaluation",
    STEPS: "speed step stride sideways rise turn slope cadence dimensionless leg_length distance",
    FORCES: "peak_vertical vertical_ first_vertical second_vertical braking propelling friction",
    EFFORT: "peak_torque torque positive_work negative_work cost_of largest_use push_off_moment push_off_power net_ "
    "gross_ rest_ metabolic objective energy",
    BODY: "knee stance_knee swing_knee swing_clearance hip pelvis trunk center_of_mass arm_ ankle",
    TIMES: "duration stance double_support heel_off heel_strike opposite_ toe_off foot_flat contact_time",
}
"""Sections with the words with which the names of their figures begin; the first section that has one. Those of time
that no section has, as durations of phases, belong to `TIMES`, all others to `RESULT`."""

SAME = {"heel_off_percent_of_stride": "heel_off_percent", "knee_flexion_in_swing_deg": "swing_knee_peak_deg"}
"""Figures of walks that people's figures have under another name."""

ORDER = (RESULT, STEPS, TIMES, BODY, FORCES, EFFORT, SOLVER)

NAMES = {"double_support_percent_of_stride": "double support, each of the two"}
"""Names that are longer than those of the numbers in JSON."""

FEW, ALL = {"strip.png": "the motion in pictures"}, {
    "strip.png": "the motion in pictures", "walk.gif": "animation", "motion.png": "joint angles, torques and forces",
}  # fmt: skip
"""Pictures of a quick report, and of every other, and what they show."""

HEAD = ("figure", "value", "unit", "people", "source")
BOUNDS = ("bound that decides", "side", "value", "phases", "% of the motion", "times", "cost per unit")
"""Head of the report's table of bounds; the last column is the decrease of the cost per unit of a wider bound."""

MOST = 10
"""Largest number of lines of this table."""

BAND = (
    "People: mean ± standard deviation, where it is known, of people who were measured at this speed, from the "
    "publication beside it. Values in bold are more than two standard deviations from the mean."
)


KEPT = (
    'walk.npz holds everything: ocp_dyn.ocp.Solution.load("walk.npz") reads it, and the command "ocp-dyn rerun '
    'walk.npz" solves it again and says how far the two are apart.'
)


@dataclass
class Section:
    """A part of a report: its title, a table with a head, a text below it, pictures by file with their words."""

    title: str
    head: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = field(default_factory=list)
    text: str = ""
    pictures: Mapping[str, str] = field(default_factory=dict)

    def markdown(self) -> list[str]:
        """The lines of the section in Markdown."""
        lines = [f"## {self.title}", ""] if self.title else []
        if self.rows:
            table_lines = [self.head, ("---",) * len(self.head), *self.rows]
            lines += [*(f"| {' | '.join(row)} |" for row in table_lines), ""]
        lines += [self.text, ""] if self.text else []
        return lines + [line for name, words in self.pictures.items() for line in (f"![{words}]({name})", "")]

    def html(self) -> str:
        """The section for a browser."""
        parts = [f"<h2>{escape(self.title)}</h2>"] if self.title else []
        parts += [re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", table(self.head, self.rows))] if self.rows else []
        parts += [f"<p>{escape(self.text)}</p>"] if self.text else []
        parts += [f'<img alt="{escape(words)}" src="{escape(name)}">' for name, words in self.pictures.items()]
        return "\n".join(parts)


def named(key: str) -> tuple[str, str]:
    """Name and unit of a figure, from its name in JSON: ("step length", "m") from "step_length_m"."""
    end = next((end for end in UNITS if key.endswith(end)), "")
    return NAMES.get(key, key.removesuffix(end).replace("_", " ")), UNITS.get(end, "")


def section_of(key: str) -> str:
    """The section that holds a figure."""
    for title, words in SECTIONS.items():
        if key.startswith(tuple(words.split())):
            return title
    return TIMES if key.endswith("_s") else RESULT


def sections_of(numbers: Mapping[str, Any], people: ExpectedFigures, digits: int = 5) -> list[Section]:
    """Figures by section, each with its unit; where people were measured, with what was found.

    people: figures beside measured ones; those that are not among the numbers are added.
    """
    known: dict[str, list[Any]] = {}
    for e in people:
        known.setdefault(e.figure, []).append(e)
    values = {key: value for key, value in numbers.items() if key != "outside_measured_bands"}
    there = values.keys() | {SAME.get(key) for key in values}
    values |= {key: found[0].value for key, found in known.items() if key not in there}
    made = {title: Section(title, HEAD) for title in ORDER}
    for key, value in values.items():
        name, unit = named(key)
        beside = known.get(SAME.get(key, key), [])
        told = shown(value, digits)
        outside = beside and all(e.outside for e in beside) and not key.endswith(GROWING)
        row = (name, f"**{told}**" if outside else told, unit, *_band(beside))
        made[section_of(key)].rows.append(row)
    for section in made.values():
        if not any(row[3] for row in section.rows):
            section.head, section.rows = HEAD[:3], [row[:3] for row in section.rows]
    if people:
        made[STEPS].text = BAND
    return [section for section in made.values() if section.rows]


def _band(beside: list[Any]) -> tuple[str, str]:
    """Values of people, and who tells them: the source with a standard deviation that is nearest, else the first."""
    if not beside:
        return "", ""
    told = [e for e in beside if np.isfinite(e.sd)]
    e = min(told, key=lambda e: abs(e.value - e.mean) / e.sd) if told else beside[0]
    spread = f" ± {e.sd:.2g}" if np.isfinite(e.sd) else ""
    return f"{e.mean:.3g}{spread}", e.source.split(",")[0] + (", children" if "children" in e.source else "")


def write(
    out: Path, solution: Solution, numbers: Mapping[str, Any], bounds: DecidingBounds, title: str, *,
    quiet: bool = False, pictures: Mapping[str, str] = ALL,
) -> None:  # fmt: skip
    """The pictures, report.md and report.html in `out`, beside walk.npz."""
    drawn: dict[str, Callable[[Path], Any]] = {
        "motion.png": solution.plot,
        "strip.png": lambda path: stick_figure(solution, path),
        "walk.gif": solution.animate,
    }
    for name in pictures:
        if not quiet:
            print(f"drawing {out / name} ...", file=sys.stderr, flush=True)
        attempt(name, partial(drawn[name], out / name))
    there = {name: words for name, words in pictures.items() if (out / name).is_file()}
    cost: list[tuple[str, ...]] = [(name, f"{value:.6g}") for name, value in solution.cost.items()]
    sections = [
        Section("", pictures={name: words for name, words in there.items() if name != "motion.png"}),
        *sections_of(numbers, beside_people(solution)),
        Section("Cost", ("term", "value"), cost),
        _deciding(bounds),
        Section("", pictures={name: words for name, words in there.items() if name == "motion.png"}),
        Section("Origin", text=KEPT),
    ]
    save_report(out, title, sections, solution.stats.get("provenance", {}))


def save_report(out: Path, title: str, sections: list[Section], origin: Mapping[str, Any]) -> None:
    """report.md and report.html of these sections, and of the programs that made the results."""
    sections = [*sections, Section("", text=" ".join(sentences(origin)))]
    markdown = [f"# {title}", "", *(line for section in sections for line in section.markdown())]
    html = page(title, "\n".join([f"<h1>{escape(title)}</h1>", *(section.html() for section in sections)]))
    for name, text in (("report.md", "\n".join(markdown)), ("report.html", html)):
        with whole_file(out / name) as file:
            file.write_text(text, encoding="utf-8")


def append_picture(out: Path, name: str) -> None:
    """Adds a picture to the end of both reports."""
    words = Path(name).stem
    for file, end, line in (
        ("report.md", "", f"\n![{words}]({name})\n"),
        ("report.html", "</body>", f'<img alt="{escape(words)}" src="{escape(name)}">\n'),
    ):
        text = (out / file).read_text(encoding="utf-8")
        before, after = text.rsplit(end, 1) if end else (text, "")
        with whole_file(out / file) as partial:
            partial.write_text(f"{before}{line}{end}{after}", encoding="utf-8")


def _deciding(bounds: DecidingBounds) -> Section:
    """The bounds that decide, those that are worth most."""
    if not bounds:
        words = "No bound of a duration, joint, place or parameter decides this motion."
        return Section("Bounds that decide", text=words)
    return Section("Bounds that decide", BOUNDS, bounds.lines()[:MOST], further(bounds))


def further(bounds: DecidingBounds) -> str:
    """A sentence that counts the bounds that the table leaves out; "" if there are none."""
    rest = len(bounds) - MOST
    return f"and {rest} more that are worth less: solution.deciding() has all" if rest > 0 else ""


def shown(value: Any, digits: int = 5) -> str:
    """A value as text, numbers with so many digits."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
