"""Comparison of packed code, whose statements compute several isomorphic operations, with plain code, bit by bit.

    python -m scripts.checks.packing [--models human,talos] [--states 10000] [--compiler gcc] [--level 1]
    [--functions ID,FD]

Every algorithm of the registry, for models with mirrored, equal and unequal limbs, at random states; contractions are
off, because compilers choose them differently in the two forms. The table gives for every function the numbers of
operations, of statements after packing and of results that differ. Exit status 1 unless all are equal.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from scripts.checks.packing.comparison import Setting, compare
from scripts.checks.packing.models import MODELS, functions
from scripts.common import Table, command_line


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--models", default=",".join(MODELS), help=f"names with commas (default {', '.join(MODELS)})")
    parser.add_argument("--functions", default="", help="names with commas; default: all of the registry")
    parser.add_argument("--states", type=int, default=10_000, help="random states of every function (default 10,000)")
    parser.add_argument("--compiler", default="gcc", help="C compiler (default gcc)")
    parser.add_argument("--level", default="1", help="level of optimization, 0 to 3 (default 1)")
    parser.add_argument("--precision", choices=("double", "single"), default="double")
    parser.add_argument("--lanes", type=int, choices=(2, 4), default=4, help="largest number of lanes (default 4)")
    parser.add_argument("--largest", type=int, default=200_000, help="functions of more instructions are left out")
    options = parser.parse_args()
    setting = Setting(options.compiler, f"-O{options.level}", options.precision, options.lanes)
    wanted, models = options.functions.split(",") if options.functions else (), options.models.split(",")
    if unknown := [name for name in models if name not in MODELS]:
        parser.error(f"models are {', '.join(MODELS)}, got {', '.join(unknown)}")
    wrong = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in models:
            case = MODELS[name]()
            print(f"\n{name}: nq = {case.model.nq}, nv = {case.model.nv}")
            table = Table({"function": "<16s", "operations": "10,", "statements": "10,", "numbers": "12,",
                           "differ": "8,", "s": "6.1f"})  # fmt: skip
            for f in functions(case, wanted):
                if f.n_instructions() > options.largest:
                    continue
                start = time.perf_counter()
                found = compare(f, case.model, options.states, Path(folder), setting)
                packed = found.packing
                sizes = (packed.operations, packed.statements) if packed else (f.n_instructions(), None)
                table.row(f.name(), *sizes, found.numbers, found.different, time.perf_counter() - start)
                wrong, compared = wrong + found.different, compared + found.numbers
    print(f"\n{wrong:,} of {compared:,} numbers differ")
    return 0 if compared and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
