"""`GaitReference`: measured curves over the stride, of a group of people or of one subject, from a table with a header.

A table is a .csv file. Lines that begin with `#` come first; those of the form `# key: value` describe the subjects,
the others are remarks. Then come the names of the columns, and a line for every point of the stride:

    # name: subject 7
    # source: our laboratory, 2024
    # speed: 1.25 m/s
    # mass: 68 kg
    percent,knee flexion mean,knee flexion sd,vertical force
    0,4.0,4.2,0.06
    2,7.0,4.6,0.30

`percent` counts from 0, the heel strike, to at most 100. A column is a curve of `Gait`, in the unit and with the sign
that `Gait` tells: its mean, with a column `sd` beside it, or a curve without a standard deviation.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._base.checks import name_among, optional_package
from .._base.convergence import MARK
from .._base.files import file_to_read, path_of, whole_file
from .._base.types import Array, repr_in_message, suggestion
from .data import PERCENT, UNITS, GaitData

FOLDER = Path(__file__).parent / "measured"

NUMBERS = {
    "speed": "m/s", "dimensionless_speed": "", "slope": "", "mass": "kg", "stature": "m", "leg_length": "m",
    "stride_time": "s", "cadence": "steps/min", "step_length": "m", "step_width": "m",
    "double_support": "%",
}  # fmt: skip
"""Keys of a header whose values are positive numbers (a slope may have any sign), with their units."""

TEXTS = ("name", "source", "subjects", "sex", "kind")
"""Keys of a header whose values are texts."""

FIGURES = {
    "stride_time": "stride_time_s", "cadence": "cadence_steps_per_min", "step_length": "step_length_m",
    "step_width": "step_width_m", "double_support": "double_support_percent",
}  # fmt: skip
"""Figures of `Gait` that keys of a header give."""

ON_GROUND = tuple(name for name in UNITS if name.endswith("force") or name.startswith("center of pressure"))
"""Curves of the foot on the ground."""

MOST_MISSING = 10.0
"""Largest gap [%] between the points of a table."""


LARGEST = {"degrees": 360.0, "N m/kg": 20.0, "W/kg": 200.0, "body weights": 20.0, "foot lengths": 10.0, "m": 1.0}
"""Values that no curve of a person reaches, by unit: beyond them a table has another unit, such as N or N mm/kg."""

SYNONYMS = {"height": "stature", "weight": "mass", "body_mass": "mass", "walking_speed": "speed", "gender": "sex"}
"""Names for keys of a header that laboratories use."""

MOST_FAULTS = 20
"""Faults of a table that its error tells."""


class Curve(NamedTuple):
    """A measured curve at `Gait.percent`: mean and standard deviation (101), which is nan where it is not known."""

    mean: Array
    sd: Array


class TableFault(NamedTuple):
    """A fault of a table: its line, 0 for the whole file, and what is wrong, with the remedy."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}" if self.line else self.text


@dataclass(frozen=True, eq=False)
class GaitReference:
    """Measured curves over the stride to hold a walk against, by the names of `Gait`.

    curves: mean and standard deviation, see `Curve`. numbers: values of the header, such as "speed" [m/s], "mass" [kg],
    "stature" [m]. source: the publication; subjects: the people, for the caption of a picture; sex: "male" or "female",
    or "" if it is not told. kind: "measured" or "simulated", for the caption; "" if it is not told.

    >>> reference = ocp.gait_reference("winter")
    >>> reference.name, reference.numbers["speed"], round(float(reference.curves["knee flexion"].mean.max()), 1)
    ('Winter 1991', 1.325, 64.9)
    """

    name: str
    curves: Mapping[str, Curve]
    source: str = ""
    subjects: str = ""
    sex: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    kind: str = ""

    @property
    def caption(self) -> str:
        """Name, and the people and the source as far as they are told, for a picture."""
        what = self.subjects or self.source
        return self.name if not what or what in self.name else f"{self.name}, {what}"

    def to_csv(self, path: str | Path) -> Path:
        """Writes the curves as a table that `gait_reference` reads, and returns its path."""
        return write_table(self, path)

    def to_dataframe(self) -> Any:
        """The curves as a DataFrame of pandas over percent, "knee flexion mean" and "knee flexion sd", with units in
        its attrs; a curve without a deviation has one column. ImportError without pandas.

        >>> ocp.gait_reference("winter").to_dataframe()["knee flexion mean"].idxmax()  # percent
        np.float64(72.0)
        """
        return dataframe_of(self, "to_dataframe")

    def __repr__(self) -> str:
        return f"GaitReference {self.name!r}: {', '.join(self.curves)}"


def named_references() -> list[str]:
    """Names of the references that come with the library."""
    return sorted(path.stem for path in FOLDER.glob("*.csv") if path.stem != "speeds")


def gait_reference(reference: Any) -> GaitReference:
    """A gait to hold others against: measured, by its name or from the path of a table (.csv); of a `GaitReference`, a
    `Gait`, a solved walk or `NetMoments` of a recorded one, whose right leg it is. A list of them is a group: mean and
    standard deviation of the curves that all have.

    Names: "winter", adults at their natural cadence (Winter 1991); "rajagopal", one adult with the curves of all three
    planes (Rajagopal et al. 2016), without a deviation; "schwartz_very_slow", "schwartz_slow",
    "schwartz_free", "schwartz_fast", "schwartz_very_fast", children and adolescents at five speeds with moments and
    powers (Schwartz et al. 2008). Format of a table: docstring of `ocp_dyn.ocp.analysis.gait.reference`.

    KeyError for an unknown name, OSError for a file that cannot be read, ValueError that tells all faults of a table
    with their lines and remedies.

    >>> ocp.gait_reference("schwartz_free").subjects
    '82 children and adolescents'
    >>> two = [ocp.Gait("right", "a walk", {"knee flexion": np.full(101, x)}, {}, {}) for x in (4.0, 6.0)]
    >>> ocp.gait_reference(two).curves["knee flexion"].mean[0]
    np.float64(5.0)
    """
    if isinstance(reference, (list, tuple)):
        return _group([gait_reference(one) for one in reference])
    if isinstance(reference, GaitReference):
        return reference
    if hasattr(reference, "gait"):
        reference = reference.gait()
    if hasattr(reference, "curves") and hasattr(reference, "events"):
        return reference_of(reference)
    if isinstance(reference, str) and not reference.lower().endswith(".csv") and not Path(reference).is_file():
        return _read(FOLDER / f"{name_among(reference, named_references(), 'reference', 'measured gait')}.csv")
    return _read(file_to_read(reference, "a gait that is not solved or recorded"))


def reference_of(gait: GaitData) -> GaitReference:
    """The curves of a walk as a reference, without standard deviations."""
    unknown = np.full(PERCENT.size, np.nan)
    given = {"speed": "speed_m_per_s", "slope": "slope", **FIGURES}
    numbers = {key: gait.figures[figure] for key, figure in given.items() if figure in gait.figures}
    found = {name: Curve(np.asarray(curve, dtype=float), unknown) for name, curve in gait.curves.items()}
    return GaitReference(gait.title, found, numbers=numbers, kind=str(getattr(gait, "kind", "")))


def _group(members: list[GaitReference]) -> GaitReference:
    """Mean and standard deviation (of a sample) of several gaits; nan where a member's curve is nan."""
    if not members:
        raise ValueError("a group of gaits must have one or more, got an empty list")
    shared = [name for name in members[0].curves if all(name in one.curves for one in members)]
    if not shared:
        raise ValueError(f"no curve is known of all gaits of a group: {'; '.join(map(repr, members))}")
    curves = {}
    for name in shared:
        means = np.array([one.curves[name].mean for one in members])
        alone = np.full(PERCENT.size, np.nan)
        curves[name] = Curve(means.mean(axis=0), means.std(axis=0, ddof=1) if len(members) > 1 else alone)
    known = [key for key in NUMBERS if all(key in one.numbers for one in members)]
    numbers = {key: float(np.mean([one.numbers[key] for one in members])) for key in known}
    kinds = {one.kind for one in members}
    mark = f"{MARK}: " if any(MARK in one.name for one in members) else ""
    name = f"{mark}mean of {len(members)} gaits" if len(members) > 1 else members[0].name
    return GaitReference(name, curves, numbers=numbers, kind=kinds.pop() if len(kinds) == 1 else "")


def _read(path: Path) -> GaitReference:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text in UTF-8 (byte {error.start}): save the table as .csv in UTF-8") from None
    found, faults = parse(text, path.stem)
    if faults:
        shown_faults = [str(fault) for fault in faults[:MOST_FAULTS]]
        rest = [f"... and {len(faults) - MOST_FAULTS} more"] * (len(faults) > MOST_FAULTS)
        told = "\n".join(f"  {fault}" for fault in (*shown_faults, *rest))
        raise ValueError(f"{path}: {len(faults)} fault{'s' * (len(faults) > 1)} in the table:\n{told}")
    return found


def parse(text: str, name: str = "") -> tuple[GaitReference, list[TableFault]]:
    """The reference that a table describes, and all faults of the table; name: if the header tells none."""
    faults: list[TableFault] = []
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    numbers, texts = _header([(k, line) for k, line in lines if line.lstrip().startswith("#")], faults)
    rows = [
        (k, [c.strip() for c in next(csv.reader([line]))]) for k, line in lines if not line.lstrip().startswith("#")
    ]
    curves: dict[str, Curve] = {}
    if not rows:
        faults.append(TableFault(0, "there is no table: a line with the names of columns, percent first, then numbers"))
    else:
        columns = _columns(*rows[0], faults)
        table = _cells(rows[1:], len(rows[0][1]), faults)
        if columns and table is not None and _percent(rows, table[:, 0], faults):
            _doubtful(columns, table, [line for line, _ in rows], faults)
            curves = {curve: _curve(table, *at, curve not in ON_GROUND) for curve, at in columns.items()}
            faults += [
                TableFault(rows[0][0], f"the column '{curve}' has fewer than two numbers: fill it or leave it out")
                for curve, found in curves.items() if not np.isfinite(found.mean).all()
            ]  # fmt: skip
    if "slope" in numbers and abs(numbers["slope"]) > 1:
        faults.append(TableFault(0, f"slope is the rise per distance, such as 0.08 for 8 %, got {numbers['slope']:g}"))
    if texts.get("sex", "male") not in ("male", "female"):
        faults.append(TableFault(0, f"sex must be male or female, got {repr_in_message(texts['sex'])}"))
    made = GaitReference(texts.get("name", name), curves, texts.get("source", ""), texts.get("subjects", ""),
                         texts.get("sex", ""), numbers, texts.get("kind", ""))  # fmt: skip
    return made, sorted(faults)


def _header(lines: Iterable[tuple[int, str]], faults: list[TableFault]) -> tuple[dict[str, float], dict[str, str]]:
    """Numbers and texts of the lines `# key: value`; a key that is only similar to a known one is a fault."""
    numbers: dict[str, float] = {}
    texts: dict[str, str] = {}
    for k, line in lines:
        key, colon, value = (part.strip() for part in line.lstrip("# \t").partition(":"))
        if not colon or not value:
            continue
        if key in (*texts, *numbers):
            faults.append(TableFault(k, f"{key} stands there twice: remove one"))
        elif key in TEXTS:
            texts[key] = value
        elif key in NUMBERS:
            number, _, unit = value.partition(" ")
            try:
                numbers[key] = float(number)
            except ValueError:
                faults.append(TableFault(k, f"{key} must be a number{_of(NUMBERS[key])}, got {repr_in_message(value)}"))
                continue
            if unit.strip() not in ("", NUMBERS[key]):
                wanted = _of(NUMBERS[key], "in") or " without a unit"
                faults.append(TableFault(k, f"{key} is given{wanted}, got {repr_in_message(value)}: convert it"))
            elif not np.isfinite(numbers[key]) or (key != "slope" and numbers[key] <= 0):
                faults.append(TableFault(k, f"{key} must be positive and finite, got {repr_in_message(value)}"))
        elif near := _similar(key):
            faults.append(
                TableFault(k, f"no key {repr_in_message(key)} is known{near} A remark must not look like a key")
            )
    return numbers, texts


def _similar(key: str) -> str:
    """The question whether a known key was meant: one of another spelling, with spaces, or by another name."""
    plain = "_".join(key.lower().replace("-", " ").split())
    known_key = SYNONYMS.get(plain, plain)
    if known_key in (*TEXTS, *NUMBERS):
        return f": did you mean {known_key!r}?"
    return suggestion(key, (*TEXTS, *NUMBERS)) if key.replace("_", "").isalpha() else ""


def _of(unit: str, word: str = "of") -> str:
    return f" {word} {unit}" if unit else ""


def _columns(line: int, names: list[str], faults: list[TableFault]) -> dict[str, tuple[int, int | None]]:
    """Columns of mean and of standard deviation of every curve."""
    if names[0] != "percent":
        split = ": separate columns by commas" if any(mark in names[0] for mark in ";\t") else ""
        faults.append(TableFault(line, f"the first column must be 'percent', got {repr_in_message(names[0])}{split}"))
    means: dict[str, int] = {}
    deviations: dict[str, int] = {}
    for k, name in enumerate(names[1:], 1):
        curve, _, kind = name.rpartition(" ")
        curve = curve if kind in ("mean", "sd") else name
        into = deviations if kind == "sd" else means
        if not name:
            faults.append(TableFault(line, f"column {k + 1} has no name: remove it and its comma from all lines"))
        elif curve not in UNITS:
            near = suggestion(curve, UNITS) or f"; there are {', '.join(UNITS)}"
            faults.append(TableFault(line, f"column {k + 1}: no curve {repr_in_message(curve)}{near}"))
        elif curve in into:
            faults.append(TableFault(line, f"column {k + 1}: {repr_in_message(name)} stands there twice: remove one"))
        else:
            into[curve] = k
    for curve in deviations.keys() - means.keys():
        faults.append(TableFault(line, f"'{curve} sd' has no column '{curve} mean' beside it: add it"))
    if not means and not any(fault.line == line for fault in faults):
        faults.append(TableFault(line, f"there is no curve beside percent; there are {', '.join(UNITS)}"))
    return {curve: (k, deviations.get(curve)) for curve, k in means.items()}


def _cells(rows: list[tuple[int, list[str]]], width: int, faults: list[TableFault]) -> Array | None:
    """The numbers of the table, nan for empty cells; None if a line is not as long as the others or holds other
    text."""
    before = len(faults)
    table = np.full((len(rows), width), np.nan)
    for i, (line, cells) in enumerate(rows):
        if len(cells) != width:
            faults.append(
                TableFault(line, f"{len(cells)} cells in this line, {width} names of columns: make them equal")
            )
            continue
        for j, cell in enumerate(cells):
            try:
                table[i, j] = float(cell) if cell else np.nan
            except ValueError:
                remedy = ": write numbers with a point" if "," in cell or ";" in cell else ": leave unknown cells empty"
                faults.append(TableFault(line, f"column {j + 1}: not a number: {repr_in_message(cell)}{remedy}"))
    return table if len(faults) == before else None


def _percent(rows: list[tuple[int, list[str]]], percent: Array, faults: list[TableFault]) -> bool:
    """Whether the first column begins at 0, ascends to 100 at most, and has no wide gaps."""
    before, lines = len(faults), [line for line, _ in rows[1:]]
    if len(percent) < 5 or not np.isfinite(percent).all():
        faults.append(TableFault(rows[0][0], "at least 5 lines with a number of percent are needed"))
        return False
    for k in np.flatnonzero(np.diff(percent) <= 0):
        faults.append(TableFault(lines[k + 1], f"percent must ascend, got {percent[k + 1]:g} after {percent[k]:g}"))
    if percent[0] != 0:
        faults.append(TableFault(lines[0], f"percent must begin at 0, the heel strike, got {percent[0]:g}"))
    if percent.max() > 100 or percent.max() <= 1:
        faults.append(
            TableFault(lines[-1], f"percent must end near 100, got {percent[-1]:g}: give percent of the stride")
        )
    gaps = np.diff(np.append(percent, max(100.0, percent.max())))
    if len(faults) == before and gaps.max() > MOST_MISSING:
        wide = int(gaps.argmax())
        text = f"{gaps[wide]:g} % of the stride are missing after {percent[wide]:g} %: add points"
        faults.append(TableFault(lines[wide], text))
    return len(faults) == before


def _doubtful(
    columns: dict[str, tuple[int, int | None]], table: Array, lines: list[int], faults: list[TableFault]
) -> None:
    """Faults of columns of numbers: infinite ones, negative deviations, another unit, and long stretches without any.

    A column of the foot on the ground may be empty in the swing, thus at its end. lines: of the names and of the rows.
    """
    percent = table[:, 0]
    for curve, (mean, sd) in columns.items():
        unit, values = UNITS[curve], table[:, mean]
        for k in np.flatnonzero(np.isinf(table[:, [mean] if sd is None else [mean, sd]]).any(axis=1)):
            faults.append(TableFault(lines[k + 1], f"'{curve}' must be finite: leave unknown cells empty"))
        if sd is not None:
            for k in np.flatnonzero(table[:, sd] < 0):
                text = f"'{curve} sd' must not be negative, got {table[k, sd]:g}"
                faults.append(TableFault(lines[k + 1], text))
        there = np.flatnonzero(np.isfinite(values))
        if len(there) < 2:
            continue
        largest = float(values[there][np.abs(values[there]).argmax()])
        if abs(largest) > LARGEST[unit]:
            faults.append(TableFault(lines[0], f"'{curve}' is in {unit}, got {largest:g}: convert the column"))
        at = percent[there]
        ends = [percent[0], *at] if curve in ON_GROUND else [percent[0], *at, percent[-1]]
        gaps = np.diff(ends)
        if gaps.max() > MOST_MISSING:
            wide = int(gaps.argmax())
            text = f"'{curve}' has no numbers between {ends[wide]:g} and {ends[wide + 1]:g} % of the stride: add some"
            faults.append(TableFault(lines[0], text))


def _curve(table: Array, mean: int, sd: int | None, closes: bool) -> Curve:
    """A curve at `PERCENT`, by straight lines. If the table ends before 100 %, a curve that closes returns to its first
    point; others keep the last value, since forces jump at the next heel strike."""
    percent = table[:, 0]

    def at(column: Array) -> Array:
        there = np.isfinite(column)
        if there.sum() < 2:
            return np.full(len(PERCENT), np.nan)
        period = 100.0 if closes and percent[-1] < 100 else None
        return np.asarray(np.interp(PERCENT, percent[there], column[there], period=period))

    return Curve(at(table[:, mean]), at(table[:, sd]) if sd is not None else np.full(len(PERCENT), np.nan))


def table_of(reference: GaitReference) -> dict[str, Array]:
    """The columns of a table of this format by name: percent and the curves, mean and deviation where one is known."""
    columns = {"percent": PERCENT}
    for name, (mean, sd) in reference.curves.items():
        columns |= {f"{name} mean": mean, f"{name} sd": sd} if np.isfinite(sd).any() else {name: mean}
    return columns


def write_table(reference: GaitReference, path: Any) -> Path:
    """Writes a gait as a table of this format; empty cells where a curve is nan."""
    target, columns = path_of(path), table_of(reference)
    head = [f"# {key}: {text}" for key in TEXTS if (text := getattr(reference, key))]
    for key, unit in NUMBERS.items():
        number = reference.numbers.get(key, np.nan)
        if np.isfinite(number) and (key == "slope" or number > 0):
            head.append(f"# {key}: {number:.6g} {unit}".rstrip())
    rows = zip(*columns.values(), strict=True)
    lines = [",".join("" if np.isnan(x) else f"{x:.6g}" for x in row) for row in rows]
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as partial:
        partial.write_text("\n".join([*head, ",".join(columns), *lines]) + "\n", encoding="utf-8")
    return target


def dataframe_of(reference: GaitReference, method: str) -> Any:
    """The columns of `table_of` as a DataFrame with percent as its index; attrs: name, units, and numbers."""
    columns = table_of(reference)
    frame = optional_package("pandas", method).DataFrame(columns).set_index("percent")
    units = {name: UNITS[name.removesuffix(" mean").removesuffix(" sd")] for name in frame.columns}
    frame.attrs.update(name=reference.name, units=units, **reference.numbers)
    return frame
