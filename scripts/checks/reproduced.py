"""Distance of the same problem, solved again under other conditions, from its first solution.

    python -m scripts.checks.reproduced [--intervals N]

Solves the step of the five-link biped (`problems.five_link`) in processes of their own: as it is, again, with one to
three threads, with another seed, with native libraries without vectors of four, without any and without a compiler,
and with other kernels of the linear algebra. Prints iterations, the relative difference of the cost, the largest
difference of q [rad], and whether all numbers agree to the last bit. Takes a minute or so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from scripts.common import ROOT, Table

SOLVE = """
import sys
from ocp_dyn.native.libraries import BLOCK_LDL, TABLES
if {wait}:
    TABLES.obtain(wait=True), BLOCK_LDL.obtain(wait=True)
from ocp_dyn.problems import five_link
problem = five_link.problem("implicit", {intervals}, "gauss:2", "linear")
for path in sys.argv[1:]:
    problem.solve(progress=False, {options}).save(path)
"""

WAYS: dict[str, tuple[str, dict[str, str]]] = {
    "again, in a new process": ("threads=1", {}),
    "2 threads": ("threads=2", {}),
    "3 threads": ("threads=3", {}),
    "another seed": ("threads=1, seed=7", {}),
    "native libraries without AVX": ("threads=1", {"CC": "cc -mno-avx -mno-fma"}),
    "no compiler": ("threads=1", {"CC": "none", "PATH": "", "XDG_CACHE_HOME": ""}),
    "kernels of Haswell": ("threads=1", {"OPENBLAS_CORETYPE": "Haswell"}),
    "kernels of Prescott": ("threads=1", {"OPENBLAS_CORETYPE": "Prescott"}),
}
"""Conditions: options of the solve, and variables of the environment; an empty cache where XDG_CACHE_HOME is empty."""


def solved(folder: Path, options: str, changes: dict[str, str], intervals: int, runs: int = 1) -> list[Path]:
    """The files of one or several solves in one process."""
    paths = [Path(tempfile.mkdtemp(dir=folder), "step.npz") for _ in range(runs)]
    if changes.get("XDG_CACHE_HOME") == "":
        changes = changes | {"XDG_CACHE_HOME": str(paths[0].parent)}
    code = SOLVE.format(wait="PATH" not in changes, intervals=intervals, options=options)
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | changes
    subprocess.run([sys.executable, "-c", code, *map(str, paths)], env=environment, cwd=ROOT, check=True)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intervals", type=int, default=20, help="intervals of the step (default 20)")
    count = parser.parse_args().intervals
    from ocp_dyn.ocp import Solution

    columns = {"condition": "<28s", "iterations": "6d", "cost": "10.1e", "q [rad]": "10.1e", "last bit": "8s"}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        first, second = solved(folder, "threads=1", {}, count, runs=2)
        runs = {"first": first, "again, in one process": second}
        runs |= {name: solved(folder, *way, count)[0] for name, way in WAYS.items()}
        table, reference = Table(columns), Solution.load(first)
        for name, path in runs.items():
            one = Solution.load(path)
            arrays = [(getattr(one, key), getattr(reference, key)) for key in ("t", "q", "qd", "tau")]
            table.row(
                name, one.stats["iterations"], abs(one.objective / reference.objective - 1),
                float(np.abs(one.q - reference.q).max()), "yes" if all(np.array_equal(*x) for x in arrays) else "no",
                after=f"{one.stats['evaluation'].partition(';')[0]}, {one.stats['linear_solver']}",
            )  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
