#!/usr/bin/env python3
"""Comparison of random constraint sets, most of them with dependent rows, with a dense reference.

    python scripts/check_redundant.py [--count 2000] [--seed 0] [--jobs 2]

Sets: closed planar and spherical chains about random axes, with every kind of closure, four-point feet with bent and
straight legs, random contacts, rows along joint axes, each in a random pose of the world. The table gives, for every
kind of set, the number of sets that agree and the worst error of every solver. The reference solves the rows in the
metric of H by singular values; sets whose rank it cannot determine count as skipped. Exit status 1 unless all others
agree.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.redundant.comparison import SOLVERS, TOLERANCE, compare


def table(results: Iterator[tuple[str, dict[str, float] | None]]) -> bool:
    """Prints a line per kind of set; True if all agree."""
    found: dict[str, list[dict[str, float] | None]] = defaultdict(list)
    for family, errors in results:
        found[family].append(errors)
    print(f"{'sets':34}{'skipped':>8}{'agree':>12}   worst error: " + "".join(f"{s:>10}" for s in SOLVERS))
    good = total = 0
    for family, rows in found.items():
        compared = [row for row in rows if row is not None]
        agree = sum(all(e <= TOLERANCE for e in row.values()) for row in compared)
        worst = "".join(f"{max((row[s] for row in compared), default=0.0):>10.1e}" for s in SOLVERS)
        print(f"{family:34}{len(rows) - len(compared):>8}{f'{agree} of {len(compared)}':>12}{'':16}{worst}")
        good, total = good + agree, total + len(compared)
    print(f"{good} of {total} agree to {TOLERANCE:g}")
    return good == total > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="number of sets (default 2000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first set; each has the next (default 0)")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes (default 2)")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs) as pool:
        return 0 if table(pool.map(compare, range(options.seed, options.seed + options.count), chunksize=8)) else 1


if __name__ == "__main__":
    sys.exit(main())
