#!/usr/bin/env python3
"""Instruction counts of the registry's functions, and the time to build them.

    python scripts/bench_instructions.py [--all] [--json] [MODEL ...]

Models: robots of example-robot-data where that is installed (extra `robots`), the human, chains. Columns: ours on
the model as it is ("plain") and as `od.function` has it by default ("ours"); from the same URDF and in the same run
adam-robotics and Pinocchio's CasADi interface, where they are installed. Feet: flat, 6-D contacts. Counts are
`casadi.Function.n_instructions()` of SX functions: the same on every machine. --all: every algorithm, solver and AD.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import casadi as ca

sys.path.insert(0, str(Path(__file__).parents[1]))

import ocp_dyn as od
from ocp_dyn.constrained_motion import SOLVERS
from scripts.bench.robots import urdf

BASIC = (od.inverse_dynamics, od.bias_force, od.mass_matrix, od.forward_dynamics)
CONTACT = (od.constraint_jacobian, od.constraint_hessian, od.constrained_dynamics)
DERIVED = {"dID": od.inverse_dynamics, "dFD": od.forward_dynamics}
"""Algorithms of which the analytic derivatives are derivatives."""
FURTHER = (
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
FURTHER_CONTACT = (od.constrained_equations, od.constrained_inverse_dynamics, od.impact)

ROBOTS = {
    "simple_humanoid": ("l_ankle", "r_ankle"),
    "talos_reduced": ("left_sole_link", "right_sole_link"),
    "g1_29dof_rev_1_0": ("left_ankle_roll_link", "right_ankle_roll_link"),
    "solo12": ("FL_FOOT", "HR_FOOT"),
}
"""Robots of example-robot-data, and two of their feet."""


class Entry(NamedTuple):
    """A model to measure: its maker, its feet, and the URDF that others can read too."""

    make: Callable[[], od.Model]
    feet: tuple[str, ...]
    urdf: Path | None = None


def models() -> dict[str, Entry]:
    """All models by name; a robot that is not installed is left out, with a line that says so."""
    found: dict[str, Entry] = {}
    for name, feet in ROBOTS.items():
        path = urdf(name)
        if path is not None:
            found[name] = Entry(lambda path=path: od.load_urdf(path, od.FloatingBase()), feet, path)
    found["human"] = Entry(od.models.human, ("sole_l", "sole_r"))
    for n in (5, 20, 50, 100):
        found[f"chain_{n}"] = Entry(lambda n=n: od.models.chain(n), (f"body{n}",))
    return found


def measure(entry: Entry, reduce: bool = True, everything: bool = True) -> dict[str, Any]:
    """Counts by function name, and seconds to make the model and ID, C, H, FD; reduce as in `od.function`."""
    begin = time.perf_counter()
    model = entry.make()
    feet = tuple(od.Contact(model.frame(foot)) for foot in entry.feet)
    counts: dict[str, Any] = {"nv": model.nv}

    def count(algorithm: Any, *static: Any) -> None:
        f = od.function(algorithm, model, *static, reduce=reduce)
        counts[f.name()] = f.n_instructions()

    for algorithm in BASIC:
        count(algorithm)
    seconds = time.perf_counter() - begin
    for algorithm in CONTACT + (FURTHER_CONTACT if everything else ()):
        count(algorithm, feet)
    for algorithm in FURTHER if everything else FURTHER[-2:] if model.nv <= 40 else ():
        count(algorithm)
    if everything:
        for name, algorithm in DERIVED.items():
            counts[f"{name} by AD"] = by_ad(algorithm, model)
            counts[f"{name} ratio"] = round(counts[f"{name} by AD"] / counts[name], 2)
        counts |= solver_counts(model, feet, reduce)
    return counts | {"build_seconds": round(seconds, 3)}


def solver_counts(model: od.Model, contacts: tuple[od.Contact, ...], reduce: bool = True) -> dict[str, int]:
    """Counts of FDc and impact by every solver but the default, whose counts bear the plain names."""
    counts = {}
    for algorithm, name in ((od.constrained_dynamics, "FDc"), (od.impact, "impact")):
        for solver in list(SOLVERS)[1:]:
            f = od.function(algorithm, model, contacts, solver=solver, reduce=reduce)
            counts[f"{name} {solver}"] = f.n_instructions()
    return counts


def by_ad(algorithm: Any, model: od.Model) -> int:
    """Instructions of the same derivatives by `ca.jacobian`: along integrate(q, delta), by qd, by qdd or tau."""
    q, qd, x, delta = (ca.SX.sym(name, n) for name, n in zip("qvxd", (model.nq, *[model.nv] * 3), strict=True))
    moved = algorithm(model, model.integrate(q, delta), qd, x)
    by_q = ca.substitute(ca.jacobian(moved, delta), delta, ca.DM.zeros(model.nv))
    y = algorithm(model, q, qd, x)
    outputs = [by_q, ca.jacobian(y, qd), ca.jacobian(y, x)]
    return int(ca.Function("ad", [q, qd, x], outputs, {"cse": True}).n_instructions())


# Peers


def adam(entry: Entry) -> dict[str, int]:
    """adam-robotics' SX functions by our names; it has no inverse dynamics. G: the Jacobians of both feet."""
    from adam.casadi import KinDynComputations

    joints = ElementTree.parse(entry.urdf).getroot().iter("joint")
    moving = [joint.get("name") for joint in joints if joint.get("type") not in (None, "fixed")]
    robot = KinDynComputations(str(entry.urdf), moving)
    made = {"C": robot.bias_force_fun(), "H": robot.mass_matrix_fun()}
    if hasattr(robot, "aba_fun"):
        made["FD"] = robot.aba_fun()
    counts = {name: int(f.n_instructions()) for name, f in made.items()}
    return counts | {"G": sum(int(robot.jacobian_fun(foot).n_instructions()) for foot in entry.feet)}


def pinocchio(entry: Entry) -> dict[str, int]:
    """Pinocchio's algorithms on SX, by our names; G: the Jacobians of both feet, world axes at the foot."""
    import pinocchio as pin
    from pinocchio import casadi as cpin

    numbers = pin.buildModelFromUrdf(str(entry.urdf), pin.JointModelFreeFlyer())
    model = cpin.Model(numbers)
    data = model.createData()
    q, *vectors = (ca.SX.sym(name, n) for name, n in (("q", model.nq), *((k, model.nv) for k in ("v", "a", "tau"))))
    v, a, tau = vectors
    H = ca.triu2symm(ca.triu(cpin.crba(model, data, q)))
    axes = cpin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    feet = [cpin.computeFrameJacobian(model, data, q, numbers.getFrameId(foot), axes) for foot in entry.feet]
    outputs = {
        "ID": ([q, v, a], cpin.rnea(model, data, q, v, a)),
        "C": ([q, v], cpin.nonLinearEffects(model, data, q, v)),
        "H": ([q], H),
        "FD": ([q, v, tau], cpin.aba(model, data, q, v, tau)),
        "G": ([q], ca.vertcat(*feet)),
    }
    return {n: int(ca.Function(n, x, [y], {"cse": True}).n_instructions()) for n, (x, y) in outputs.items()}


PEERS = {
    "adam": (adam, "pip install 'adam-robotics[casadi]'"),
    "pinocchio": (
        pinocchio,
        "conda install -c conda-forge pinocchio (the PyPI package `pin` may lack its casadi part)",
    ),
}
"""Other libraries: the function that counts, and the command that installs the library."""


def peers(entry: Entry, missing: set[str]) -> dict[str, dict[str, int]]:
    """Counts of every installed library that can read the model; names of those not installed go to `missing`."""
    found = {}
    for name, (count, _) in PEERS.items():
        if entry.urdf is None or name in missing:
            continue
        try:
            with contextlib.redirect_stderr(
                io.StringIO()
            ):  # parsers of URDF print a line for every tag they do not know
                found[name] = count(entry)
        except ImportError:
            missing.add(name)
        except (
            AttributeError,
            KeyError,
            ValueError,
        ) as error:  # a library that cannot read a model has no column for it
            print(f"{name} is left out for {entry.urdf.stem}: it fails with {error!r}", file=sys.stderr)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of models; all by default")
    parser.add_argument("--all", action="store_true", help="every algorithm, solver and AD")
    parser.add_argument("--json", action="store_true", help="one JSON object, the last line")
    options = parser.parse_args()
    entries = models()
    unknown = set(options.models) - set(entries)
    if unknown:
        parser.error(f"no model {', '.join(sorted(unknown))}; there are: {', '.join(entries)}")
    table: dict[str, dict[str, Any]] = {}
    missing: set[str] = set()
    for name in options.models or entries:
        columns = {
            "plain": measure(entries[name], reduce=False, everything=options.all),
            "ours": measure(entries[name], everything=options.all),
            **peers(entries[name], missing),
        }
        table[name] = columns
        print(f"\n{name:16s}" + "".join(f"{column:>12s}" for column in columns))
        for row in columns["ours"]:
            print(f"{row:16s}" + "".join(f"{column.get(row, '-')!s:>12s}" for column in columns.values()))
    for name in sorted(missing):
        print(f"{name} is left out, it is not installed: {PEERS[name][1]}", file=sys.stderr)
    print(f"\nbuild_seconds: model, ID, C, H, FD together, on {platform.machine()}, Python {platform.python_version()}")
    if options.json:
        print(json.dumps(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
