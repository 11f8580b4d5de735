#!/usr/bin/env python3
"""Comparison of packed code, whose statements compute several isomorphic operations, with plain code, bit by bit.

    python scripts/check_packing.py [--models human,talos] [--states 10000] [--compiler gcc] [--level 1] [--functions ID,FD]

Every algorithm of the registry, for models with mirrored, equal and unequal limbs, at random states; contractions are
off, because compilers choose them differently in the two forms. The table gives for every function the numbers of
operations, of statements after packing and of results that differ. Exit status 1 unless all are equal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from scripts.packing.comparison import Setting, compare
from scripts.packing.models import MODELS, functions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--models", default=",".join(MODELS), help=f"names with commas (default all: {', '.join(MODELS)})"
    )
    parser.add_argument("--functions", default="", help="names with commas; default: all of the registry")
    parser.add_argument("--states", type=int, default=10_000, help="random states of every function (default 10,000)")
    parser.add_argument("--compiler", default="gcc", help="C compiler (default gcc)")
    parser.add_argument("--level", default="1", help="level of optimization, 0 to 3 (default 1)")
    parser.add_argument("--precision", choices=("double", "single"), default="double")
    parser.add_argument("--lanes", type=int, choices=(2, 4), default=4, help="largest number of lanes (default 4)")
    parser.add_argument("--largest", type=int, default=200_000, help="functions of more instructions are left out")
    options = parser.parse_args()
    setting, wanted = (
        Setting(options.compiler, f"-O{options.level}", options.precision, options.lanes),
        options.functions.split(",") if options.functions else (),
    )
    unknown = [name for name in options.models.split(",") if name not in MODELS]
    if unknown:
        parser.error(f"models are {', '.join(MODELS)}, got {', '.join(unknown)}")
    wrong = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.models.split(","):
            case = MODELS[name]()
            print(f"{name}: nq = {case.model.nq}, nv = {case.model.nv}")
            for f in functions(case, wanted):
                if f.n_instructions() > options.largest:
                    continue
                start = time.perf_counter()
                found = compare(f, case.model, options.states, Path(folder), setting)
                p = found.packing
                sizes = f"{p.operations:8} -> {p.statements:7}" if p else f"{f.n_instructions():8}        "
                print(f"  {f.name():14} {sizes}  {found.different} of {found.numbers} differ, "
                      f"{time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip
                wrong, compared = wrong + found.different, compared + found.numbers
    print(f"{wrong} of {compared} numbers differ")
    return 0 if compared and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
