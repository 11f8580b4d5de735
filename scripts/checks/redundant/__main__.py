"""Comparison of random constraint sets, most of them with dependent rows, with a dense reference.

    python -m scripts.checks.redundant [--count 2000] [--seed 0] [--jobs 2] [--nearly]

Sets: closed planar and spherical chains about random axes, with every kind of closure, four-point feet with bent and
straight legs, random contacts, rows along joint axes, each in a random pose of the world. The table gives, for every
kind of set, the number of sets that agree and the worst error of every solver. The reference solves the rows in the
metric of H by singular values; sets whose rank it cannot determine count as skipped. Exit status 1 unless all others
agree.

--nearly: sets with rows that depend on others but for a remainder between 1 and 1e-16. For every kind of set the table
gives the worst errors of the rows after impacts and of accelerations, and of motions in other orders of the rows.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

from scripts.checks.redundant.comparison import SOLVERS, TOLERANCE, compare
from scripts.checks.redundant.nearly import LIMIT, obey
from scripts.common import Table, command_line

Result = tuple[str, dict[str, float] | None]
"""Kind of a set, and its errors by solver or by law; None if it is skipped."""


def table(results: Iterator[Result], columns: Iterable[str], limit: float) -> bool:
    """Prints a line per kind of set with its worst errors; True if none is larger than the limit."""
    found = defaultdict(list)
    for family, errors in results:
        found[family].append(errors)
    printed = Table({"sets": "<34s", "skipped": "7d", "good": "12s"} | dict.fromkeys(columns, "9.1e"))
    good = total = 0
    for family, rows in found.items():
        compared = [row for row in rows if row is not None]
        agree = sum(all(error <= limit for error in row.values()) for row in compared)
        worst = (max((row[column] for row in compared), default=0.0) for column in columns)
        printed.row(family, len(rows) - len(compared), f"{agree} of {len(compared)}", *worst)
        good, total = good + agree, total + len(compared)
    print(f"{good} of {total} are good to {limit:g}; errors are the worst of each kind")
    return good == total > 0


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--count", type=int, default=2000, help="number of sets (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first set; each has the next (default 0)")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (default 2)")
    parser.add_argument("--nearly", action="store_true", help="sets with nearly dependent rows")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.count)
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.nearly:
            laws = ((kind, errors) for kind, _, errors in pool.map(obey, seeds, chunksize=7))
            good = table(laws, ("G qd+", "G qdd", "order"), LIMIT)
        else:
            good = table(pool.map(compare, seeds, chunksize=8), SOLVERS, TOLERANCE)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
