"""Tables and pictures of docs/performance.md, from measured numbers.

    python -m scripts.bench.report [--run instructions dynamics ...]

Without --run it reads docs/performance/PART.json, draws docs/performance/PART.svg and writes the tables of the page,
each between the lines `<!-- PART -->` and `<!-- end of PART -->`. With --run it measures these parts first and writes
their JSON files: instructions takes a minute, dynamics about ten (it compiles). Other libraries are measured if they
are installed; the column of a library that is not installed keeps its numbers, with the date of their measurement.

The page's other tables are those of scripts/MEASUREMENTS.md, which the page includes.
"""

from __future__ import annotations

import datetime
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.common import ROOT, command_line, machine

from . import instructions
from .dynamics.columns import rows
from .dynamics.peers import measured
from .dynamics.robots import Robot, robot

PAGE = ROOT / "docs" / "performance.md"
FOLDER = ROOT / "docs" / "performance"
ROBOT = "simple_humanoid"
QUANTITIES = {
    "ID": "inverse dynamics, ID",
    "C": "bias force, C",
    "H": "mass matrix, H",
    "FD": "forward dynamics, FD",
    "G": "Jacobians of two feet, G",
    "FDc": "constrained dynamics, FDc",
    "dID": "derivatives of ID",
    "dFD": "derivatives of FD",
}
COLUMNS: dict[str, dict[str, str]] = {
    "instructions": {"plain": "plain", "ours": "ours", "pinocchio": "Pinocchio", "adam": "adam"},
    "dynamics": {
        "machine": "interpreted", "one": "C", "lanes": "C, 8 states", "casadi C": "CasADi's C",
        "Pinocchio": "Pinocchio, C++",
        "Pinocchio, Python": "Pinocchio, Python", "MuJoCo": "MuJoCo", "adam": "adam",
    },
}  # fmt: skip
"""Columns of the tables: names in the measurements, and titles."""
OURS = {"instructions": ("plain", "ours"), "dynamics": ("machine", "one", "lanes")}
BEST = {"instructions": "ours", "dynamics": "one"}
"""The column of ours that ratios and losses refer to."""
LEADS = {"instructions": 0.0, "dynamics": 0.05}
"""Smallest lead of a peer that counts as a loss; times within 5 % count as equal."""
COLORS = {
    "plain": "#A9C7DF", "ours": "#0072B2", "machine": "#A9C7DF", "one": "#0072B2", "lanes": "#00507F",
    "casadi C": "#E69F00",
    "Pinocchio": "#B03A2E", "Pinocchio, Python": "#D55E00", "pinocchio": "#D55E00", "MuJoCo": "#009E73",
    "adam": "#7C8692",
}  # fmt: skip

Table = dict[str, Any]
"""One part: title, command, unit, axis (the unit in short), notes, machine, measured (a date by column), and rows
{quantity: {column: number}}."""


# Measuring


def run_instructions() -> dict[str, dict[str, float]]:
    """Instruction counts by quantity and column."""
    made = _robot()
    columns = {
        "plain": instructions.measure(made, reduce=False, everything=False),
        "ours": instructions.measure(made, everything=False),
        **measured(instructions.PEERS, made),
    }
    return {q: {name: column[q] for name, column in columns.items() if q in column} for q in QUANTITIES}


def run_dynamics() -> dict[str, dict[str, float]]:
    """Microseconds per state by quantity and column."""
    found, known = rows(_robot(), QUANTITIES), COLUMNS["dynamics"]
    return {q: {c: float(f"{x:.3g}") for c, x in found[q].items() if c in known} for q in QUANTITIES}


def _robot() -> Robot:
    made = robot(ROBOT)
    if made is None:
        raise SystemExit(f"{ROBOT} is not installed")
    return made


RUNS: dict[str, Callable[[], dict[str, dict[str, float]]]] = {
    "instructions": run_instructions,
    "dynamics": run_dynamics,
}


def updated(table: Mapping[str, Any], new: Mapping[str, Mapping[str, float]], today: str, machine: str) -> Table:
    """The table with new rows; a column that was not measured again keeps its numbers and its date."""
    columns = {column for row in new.values() for column in row}
    kept = {q: {c: x for c, x in row.items() if c not in columns} for q, row in table["rows"].items()}
    merged = {q: kept.get(q, {}) | dict(new.get(q, {})) for q in dict.fromkeys((*kept, *new))}
    dates = table["measured"] | dict.fromkeys(sorted(columns), today)
    return dict(table) | {"machine": machine, "rows": merged, "measured": dates}


# Writing


def markdown(part: str, table: Table) -> str:
    """The table as Markdown: a row per quantity, the ratio of the best peer to ours, the command, and the losses."""
    columns = [c for c in COLUMNS[part] if any(c in row for row in table["rows"].values())]
    head = [table["title"], *(COLUMNS[part][c] for c in columns), "best peer / ours"]
    lines = [_row(head), _row(["---"] + ["---:"] * (len(head) - 1))]
    for quantity, row in table["rows"].items():
        ratio = best_peer(part, row)
        cells = [_number(row[c]) if c in row else "" for c in columns]
        lines.append(_row([QUANTITIES[quantity], *cells, f"{ratio:.2f}" if ratio else ""]))
    unit = table["unit"][0].upper() + table["unit"][1:]
    text = [
        f"![{table['title']}](performance/{part}.svg)", "", *lines, "",
        f"{unit}. {told(part, table, columns)}; {table['machine']}. Command: `{table['command']}`.", "",
        *table["notes"], "",
        *losses(part, table),
    ]  # fmt: skip
    return "\n".join(text)


def told(part: str, table: Table, columns: Sequence[str]) -> str:
    """The dates of the measurements, column by column if they differ."""
    dates: dict[str, list[str]] = {}
    for column in columns:
        dates.setdefault(table["measured"][column], []).append(f"“{COLUMNS[part][column]}”")
    if len(dates) == 1:
        return f"Measured on {next(iter(dates))}"
    return "Measured: " + "; ".join(
        f"{', '.join(names)} on {date}" for date, names in sorted(dates.items(), reverse=True)
    )


def best_peer(part: str, row: Mapping[str, float]) -> float | None:
    """The least number of all peers over ours; above 1 ours is better. None without a peer."""
    peers = [x for column, x in row.items() if column not in OURS[part]]
    return min(peers) / row[BEST[part]] if peers and BEST[part] in row else None


def losses(part: str, table: Table) -> list[str]:
    """A line for every number of a peer that is better than ours."""
    ours, titles = BEST[part], COLUMNS[part]
    found = [
        f"- {QUANTITIES[quantity]}: {titles[column]} takes {_number(x)}, ours {_number(row[ours])}."
        for quantity, row in table["rows"].items()
        for column, x in row.items()
        if column not in OURS[part] and ours in row and x < (1 - LEADS[part]) * row[ours]
    ]
    return [f"Losses of the column “{titles[ours]}”:", "", *found] if found else ["No peer has a better number here."]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(x: float) -> str:
    return f"{x:,}" if isinstance(x, int) else f"{x:.{2 if x < 10 else 1 if x < 100 else 0}f}"


def inserted(page: str, part: str, text: str) -> str:
    """The page with this text between the marks of the part; ValueError without the marks."""
    begin, end = f"<!-- {part} -->", f"<!-- end of {part} -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
        raise ValueError(f"the page needs the lines {begin!r} and {end!r}, once each and in this order")
    return page[: page.index(begin) + len(begin)] + f"\n\n{text}\n\n" + page[page.index(end) :]


def draw(part: str, table: Table, path: Path) -> None:
    """Bars by quantity on a logarithmic scale, a color per column."""
    import matplotlib
    from matplotlib.figure import Figure

    columns = [c for c in COLUMNS[part] if any(c in row for row in table["rows"].values())]
    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    axes = figure.subplots()
    width = 0.82 / len(columns)
    for k, column in enumerate(columns):
        at = [
            (i - 0.41 + (k + 0.5) * width, row[column]) for i, row in enumerate(table["rows"].values()) if column in row
        ]
        label = f"ours: {COLUMNS[part][column]}" if column in OURS[part] and column != "ours" else COLUMNS[part][column]
        axes.bar(*zip(*at, strict=True), 0.9 * width, color=COLORS[column], label=label)
    axes.set_xticks(range(len(table["rows"])), table["rows"])
    axes.set(yscale="log", ylabel=table["axis"])
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": part}):
        figure.savefig(path, metadata={"Date": None})


def write(page: Path = PAGE, folder: Path = FOLDER) -> None:
    """Writes the tables of the page and the pictures, from the JSON files of the folder."""
    text = page.read_text(encoding="utf-8")
    for part in RUNS:
        table = json.loads((folder / f"{part}.json").read_text(encoding="utf-8"))
        draw(part, table, folder / f"{part}.svg")
        text = inserted(text, part, markdown(part, table))
    page.write_text(text, encoding="utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--run", nargs="+", choices=list(RUNS), default=[], metavar="PART", help=", ".join(RUNS))
    options = parser.parse_args(argv)
    for part in options.run:
        path = FOLDER / f"{part}.json"
        table = json.loads(path.read_text(encoding="utf-8"))
        new = updated(table, RUNS[part](), datetime.date.today().isoformat(), machine())
        path.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write()
    print(f"wrote {PAGE.relative_to(ROOT)} and {', '.join(f'docs/performance/{part}.svg' for part in RUNS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
