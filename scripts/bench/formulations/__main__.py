"""The formulations of [GJB94], chapter 8, measured: its tables, its examples, and published benchmarks.

    python -m scripts.bench.formulations [tables|times|examples|benchmarks ...] [--quick] [--json]

tables: operations by stage of Formulations A and B, of the human body beside table 8.3 and of the heavy truck beside
table 8.4, and those of the recursive algorithms on the same models. times: microseconds per evaluation of
accelerations, beside table 8.5. examples: 8.6 and 8.7. benchmarks: Andrews' squeezer, N four-bars, Bricard's
mechanism, the spatial slider-crank. All of them without a choice.

Operations are counted in CasADi's SX functions: products with zeros and ones are left out and common terms are computed
once, where the book counts formulas by hand. Times are medians in processor time of one thread, interpreted by CasADi's
virtual machine and as compiled C. --quick: half a minute, without a compiler. The whole takes some ten minutes.

[GJB94] J. Garcia de Jalon, E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer, 1994.
"""

from __future__ import annotations

import json
import sys

from scripts.common import command_line

from . import benchmarks, book_examples, evaluation_times, operation_tables

PARTS = {"tables": operation_tables.run, "times": evaluation_times.run, "examples": book_examples.run,
         "benchmarks": benchmarks.run}  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    arguments = command_line(__doc__)
    arguments.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; all by default")
    arguments.add_argument("--quick", action="store_true", help="short motions, two mechanisms, no compiler")
    arguments.add_argument("--json", action="store_true", help="print all numbers as one JSON object, the last line")
    options = arguments.parse_args(argv)
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        arguments.error(f"unknown part {unknown[0]!r}; parts are {', '.join(PARTS)}")
    found = {part: PARTS[part](options.quick) for part in options.parts or PARTS}
    if options.json:
        print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
