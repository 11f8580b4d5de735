"""Comparison of runs of the ready problems from first guesses that differ by rounding, under several BLAS kernels.

    python -m scripts.checks.kernels [--problems run,jump] [--kernels Haswell,Prescott] [--guesses 5] [--full]

Last bits differ from processor to processor: the kernels of OpenBLAS add in other orders. Here its variable
OPENBLAS_CORETYPE takes their place, and noise of 1e-12 in the first guess. The table gives for every problem of
`problems/` the statuses, the costs that were found and the iterations. Exit status 1 unless every problem ended with
one status and one cost, to 1e-6. A kernel that this processor cannot run is none: name only older ones.
"""

from __future__ import annotations

import argparse
import json
import sys

from scripts.common import command_line, in_process

from .ready import names
from .runs import Run
from .table import alike, markdown, row

KERNELS = ("Haswell", "Sandybridge", "Prescott")
"""Kernels of every processor with AVX2: with FMA, with AVX, with SSE3."""


def runs_under(kernel: str, name: str, options: argparse.Namespace) -> list[Run]:
    """Runs of a problem in a process of its own, which are lost from the first that takes too long."""
    arguments = [name, "0", str(options.guesses), str(options.noise), "full" if options.full else "quick"]
    lines, fault = in_process("scripts.checks.kernels.runs", arguments, options.limit, OPENBLAS_CORETYPE=kernel)
    if fault:
        print(f"{name} under {kernel}: {fault}", file=sys.stderr)
    return [Run(**json.loads(line)) for line in lines if line.endswith("}")]


def main() -> int:
    parser, known = command_line(__doc__), names()
    parser.add_argument("--problems", default=",".join(known), help="names with commas (default: all)")
    parser.add_argument("--kernels", default=",".join(KERNELS), help=f"names with commas (default {','.join(KERNELS)})")
    parser.add_argument("--guesses", type=int, default=5, help="first guesses under every kernel (default 5)")
    parser.add_argument("--noise", type=float, default=1e-12, help="size of the noise (default 1e-12)")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds for a problem and kernel (default 1800)")
    parser.add_argument("--full", action="store_true", help="the problems' own grids instead of the coarse ones")
    options = parser.parse_args()
    chosen, kernels = options.problems.split(","), options.kernels.split(",")
    if unknown := [name for name in chosen if name not in known]:
        parser.error(f"problems are {', '.join(known)}, got {', '.join(unknown)}")
    rows, sound = [], True
    print(markdown(()))
    for name in chosen:
        found = [run for kernel in kernels for run in runs_under(kernel, name, options)]
        sound &= len(found) == options.guesses * len(kernels) and alike(found)
        if found:
            rows.append(row(name, found))
            print(markdown(rows).splitlines()[-1], flush=True)
    return 0 if sound else 1


if __name__ == "__main__":
    sys.exit(main())
