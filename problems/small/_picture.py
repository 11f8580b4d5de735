"""Common end of all small problems: prints two lines about the solution and draws its picture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ocp_dyn import ocp, viz


def show(solution: ocp.Solution, file: str, **options: Any) -> None:
    """Prints cost and time, and writes NAME.png to the folder of `--out` (default: the working directory).

    file: `__file__` of the problem, which gives its name. options: those of `ocp_dyn.viz.overview`.
    """
    name = Path(file).stem
    arguments = argparse.ArgumentParser(prog=f"python -m {__package__}.{name}")
    arguments.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="folder of the picture")
    path = arguments.parse_args().out / f"{name}.png"
    stats = solution.stats
    print(f"{name}: {solution.status}, {stats['iterations']} iterations, {stats['solve_seconds']:.2f} s")
    cost = ", ".join(f"{term} {value:.6g}" for term, value in solution.cost.items())
    print(f"motion of {solution.duration:.4f} s, cost {cost}")
    viz.overview(solution, path, title=f"{name.replace('_', ' ')}: {solution.duration:.2f} s", **options)
    print(f"picture: {path}")
