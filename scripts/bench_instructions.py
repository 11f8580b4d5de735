#!/usr/bin/env python3
"""Instruction counts of the registry's functions, and the time to build them.

    python scripts/bench_instructions.py [--json]

Models: the human, chains, and simple_humanoid of example-robot-data where that is installed (extra `robots`). Feet:
two flat ones, 6-D contacts. Counts are `casadi.Function.n_instructions()`: the same on every machine.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

import ocp_dyn as od

PLAIN = (
    od.inverse_dynamics,
    od.bias_force,
    od.mass_matrix,
    od.forward_dynamics,
    od.forward_dynamics_crba,
    od.center_of_mass,
    od.centroidal_momentum,
)
CONTACT = (od.constraint_jacobian, od.constraint_hessian, od.constrained_dynamics, od.impact)


def models() -> dict[str, tuple[Any, tuple[str, ...]]]:
    """A maker and the feet of every model, by name."""
    found: dict[str, tuple[Any, tuple[str, ...]]] = {
        "human": (od.models.human, ("sole_l", "sole_r")),
        "chain_20": (lambda: od.models.chain(20), ("body20",)),
    }
    robots = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    for path in robots.glob("*/**/simple_humanoid.urdf"):
        found["simple_humanoid"] = (
            lambda path=path: od.load_urdf(path, od.FloatingBase()),
            ("l_ankle", "r_ankle"),
        )
    if "simple_humanoid" not in found:
        print("simple_humanoid is left out: pip install example-robot-data", file=sys.stderr)
    return found


def measure(make: Any, feet: tuple[str, ...]) -> dict[str, Any]:
    """Counts by function name, and seconds to make the model and ID, C, H, FD."""
    begin = time.perf_counter()
    model = make()
    counts = {}
    for algorithm in PLAIN[:4]:
        f = od.function(algorithm, model)
        counts[f.name()] = f.n_instructions()
    seconds = time.perf_counter() - begin
    contacts = tuple(od.Contact(model.frame(foot)) for foot in feet)
    for algorithm in PLAIN[4:]:
        f = od.function(algorithm, model)
        counts[f.name()] = f.n_instructions()
    for algorithm in CONTACT:
        f = od.function(algorithm, model, contacts)
        counts[f.name()] = f.n_instructions()
    return {"nv": model.nv, **counts, "build_seconds": round(seconds, 3)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object, the last line")
    options = parser.parse_args()
    table = {name: measure(*entry) for name, entry in models().items()}
    rows = list(next(iter(table.values())))
    print(f"{'':16s}" + "".join(f"{name:>18s}" for name in table))
    for row in rows:
        print(f"{row:16s}" + "".join(f"{column[row]!s:>18s}" for column in table.values()))
    print(f"build_seconds: model, ID, C, H, FD together, on {platform.machine()}, Python {platform.python_version()}")
    if options.json:
        print(json.dumps(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
