"""Growth of the cost of a solve with the size of the work.

    python -m scripts.bench.growth [SECTION ...] [--cases human ...] [--factors 1 2 4 8] [--figures DIR] [--json FILE]

Sections: `grid` (finer grids), `accuracy` (grids refined to an accuracy), `steps` (longer motions), `size` (larger
bodies), `lift` (optimal control of larger bodies), `gaits` (a population on several processes). Without names: all.
Every section prints a Markdown table, and the slopes of its figures: the exponent p of size^p, fitted to the
logarithms. --figures draws them on logarithmic axes, one SECTION.svg each. Times are processor times of the process, so
that other programs count little; threads of the solver are one, unless --threads says more.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from scripts.common import command_line, machine

from . import accuracy, crowd, gaits, grid, size, steps
from .section import Row, Section, draw, header, line, plain, slopes

SECTIONS: dict[str, Section] = {
    "grid": grid.SECTION,
    "accuracy": accuracy.SECTION,
    "steps": steps.SECTION,
    "size": size.SECTION,
    "lift": crowd.SECTION,
    "gaits": gaits.SECTION,
}
"""Sections by their names in the command line."""


def main(argv: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--figures", type=Path, metavar="DIR", help="folder of the log-log figures")
    parser.add_argument("--json", type=Path, metavar="FILE", help="file of the rows as plain data")
    for section in SECTIONS.values():
        section.arguments(parser)
    options = parser.parse_args(argv)
    unknown = [name for name in options.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]!r}; there are {', '.join(SECTIONS)}")
    print(machine())
    found: dict[str, Any] = {}
    for name in options.sections or SECTIONS:
        section = SECTIONS[name]
        print(f"\n### {section.title} (`{name}`)\n\n{header(section)}", flush=True)
        rows: list[Row] = []
        for row in section.rows(options):
            rows.append(row)
            print(line(section, row), flush=True)
        print("\n" + "\n".join(slopes(section, rows)))
        found[name] = plain(rows)
        if options.figures:
            options.figures.mkdir(parents=True, exist_ok=True)
            draw(section, rows, options.figures / f"{name}.svg")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
