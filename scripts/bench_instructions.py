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

import casadi as ca

import ocp_dyn as od
from ocp_dyn.constrained import SOLVERS

PLAIN = (
    od.inverse_dynamics,
    od.bias_force,
    od.mass_matrix,
    od.forward_dynamics,
    od.forward_dynamics_crba,
    od.center_of_mass,
    od.centroidal_momentum,
    od.equations_of_motion,
    od.mass_matrix_inverse_product,
    od.mass_matrix_inverse,
    od.coriolis_matrix,
    od.inverse_dynamics_regressor,
    od.centroidal_momentum_matrix,
    od.inverse_dynamics_derivatives,
    od.forward_dynamics_derivatives,
)
DERIVED = {"dID": od.inverse_dynamics, "dFD": od.forward_dynamics}
"""What the analytic derivatives are derivatives of."""
CONTACT = (
    od.constraint_jacobian,
    od.constraint_hessian,
    od.constrained_equations,
    od.constrained_inverse_dynamics,
    od.constrained_dynamics,
    od.impact,
)


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
    for name, algorithm in DERIVED.items():
        counts[f"{name} by AD"] = by_ad(algorithm, model)
        counts[f"{name} ratio"] = round(counts[f"{name} by AD"] / counts[name], 2)
    return {"nv": model.nv, **counts, **solver_counts(model, contacts), "build_seconds": round(seconds, 3)}


def solver_counts(model: od.Model, contacts: tuple[od.Contact, ...]) -> dict[str, int]:
    """Counts of FDc and impact by every solver but the default, whose counts bear the plain names."""
    counts = {}
    for algorithm, name in ((od.constrained_dynamics, "FDc"), (od.impact, "impact")):
        for solver in list(SOLVERS)[1:]:
            counts[f"{name} {solver}"] = od.function(algorithm, model, contacts, solver=solver).n_instructions()
    return counts


def by_ad(algorithm: Any, model: od.Model) -> int:
    """Instructions of the same derivatives by `ca.jacobian`: along integrate(q, delta), by qd, by qdd or tau."""
    q, qd, x, delta = (ca.SX.sym(name, n) for name, n in zip("qvxd", (model.nq, *[model.nv] * 3), strict=True))
    moved = algorithm(model, model.integrate(q, delta), qd, x)
    by_q = ca.substitute(ca.jacobian(moved, delta), delta, ca.DM.zeros(model.nv))
    y = algorithm(model, q, qd, x)
    outputs = [by_q, ca.jacobian(y, qd), ca.jacobian(y, x)]
    return int(ca.Function("ad", [q, qd, x], outputs, {"cse": True}).n_instructions())


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
