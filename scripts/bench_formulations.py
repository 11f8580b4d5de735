#!/usr/bin/env python3
"""The formulations of [GJB94], chapter 8, measured: its tables, its examples, and published benchmarks.

    python scripts/bench_formulations.py [tables|times|examples|benchmarks ...] [--quick] [--json] [--out DIR]

tables: operations by stage of Formulations A and B, of the human body beside table 8.3 and of the heavy truck beside
table 8.4, and those of the recursive algorithms on the same models. times: microseconds per evaluation of
accelerations, beside table 8.5. examples: 8.6 and 8.7, with --out figures like 8.24 to 8.28. benchmarks: Andrews'
squeezer, N four-bars, Bricard's mechanism, the spatial slider-crank. All of them without a choice.

Operations are counted in CasADi's SX functions: products with zeros and ones are left out and common terms are computed
once, where the book counts formulas by hand. Times are medians in processor time of one thread, interpreted by CasADi's
virtual machine and as compiled C. --quick: half a minute, without a compiler. The whole takes some ten minutes.

[GJB94] J. Garcia de Jalon, E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer, 1994.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.bench import book_examples, evaluation_times, formulation_benchmarks, operation_tables

PARTS = ("tables", "times", "examples", "benchmarks")


def progress(text: str) -> None:
    print(f"  {text} ...", file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    arguments.add_argument("--quick", action="store_true", help="short motions, two mechanisms, no compiler")
    arguments.add_argument("--json", action="store_true", help="print all numbers as one JSON object, the last line")
    arguments.add_argument("--out", type=Path, metavar="DIR", help="write the figures of the examples to DIR")
    options = arguments.parse_args(argv)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        arguments.error(f"unknown part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    if options.out is not None:
        try:
            options.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            arguments.error(f"--out {options.out}: no folder can be made there: {error.strerror}")
    makers: dict[str, Any] = {
        "tables": lambda: operation_tables.run(options.quick, progress),
        "times": lambda: evaluation_times.run(options.quick, progress),
        "examples": lambda: book_examples.run(options.quick, options.out, progress),
        "benchmarks": lambda: formulation_benchmarks.run(options.quick, progress),
    }
    found = {part: makers[part]() for part in options.parts or PARTS}
    if options.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
