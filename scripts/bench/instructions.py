"""Instruction counts of the registry's functions.

    python -m scripts.bench.instructions [--all] [--json] [MODEL ...]

Models: robots of example-robot-data where that is installed (extra `robots`), the human, chains. Columns: ours on
the model as it is ("plain") and as `od.function` has it by default ("ours"); from the same URDF and in the same run
adam-robotics and Pinocchio's CasADi interface, where they are installed. Feet: flat, 6-D contacts. Counts are
`casadi.Function.n_instructions()` of SX functions: the same on every machine. --all: every algorithm and solver.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import casadi as ca

import ocp_dyn as od
from ocp_dyn.constrained_motion import SOLVERS
from ocp_dyn.functions.registry import REGISTRY
from scripts.common import Table, command_line

from .dynamics.peers import adam_functions, measured, pinocchio_model
from .dynamics.robots import FEET, Robot, robot

BASIC, CONTACT, DERIVED = ("ID", "C", "H", "FD"), ("G", "gamma", "FDc"), ("dID", "dFD")
FURTHER = ("FD_HC", "com", "h_com", "EoM", "Minv", "H_inv", "C_mat", "Y", "A_G", *DERIVED)
FURTHER_CONTACT = ("EoMc", "IDc", "impact")
ALGORITHMS = {signature.name: algorithm for algorithm, signature in REGISTRY.items()}

MODELS = (*FEET, "human", "chain_5", "chain_20", "chain_50", "chain_100")


def measure(robot: Robot, reduce: bool = True, everything: bool = True) -> dict[str, Any]:
    """Counts by function name; reduce as in `od.function`."""
    model, feet = robot.model, robot.contacts
    counts: dict[str, Any] = {"nv": model.nv}

    def count(name: str, *static: Any) -> None:
        counts[name] = od.function(ALGORITHMS[name], model, *static, reduce=reduce).n_instructions()

    for name in BASIC:
        count(name)
    for name in CONTACT + (FURTHER_CONTACT if everything else ()):
        count(name, feet)
    for name in FURTHER if everything else DERIVED if model.nv <= 40 else ():
        count(name)
    if everything:
        counts |= solver_counts(model, feet, reduce=reduce)
    return counts


def solver_counts(
    model: od.Model,
    contacts: tuple[od.Contact, ...],
    algorithms: tuple[Any, ...] = (od.constrained_dynamics, od.impact),
    reduce: bool = True,
) -> dict[str, int]:
    """Counts of the algorithms by every solver but the default, whose counts bear the plain names."""
    return {f"{REGISTRY[algorithm].name} {solver}": od.function(algorithm, model, contacts, solver=solver,
                                                                reduce=reduce).n_instructions()
            for algorithm in algorithms for solver in list(SOLVERS)[1:]}  # fmt: skip


# Other libraries


def adam(robot: Robot) -> dict[str, int]:
    """Counts of adam-robotics' functions."""
    return {name: sum(f.n_instructions() for f in functions) for name, functions in adam_functions(robot).items()}


def pinocchio(robot: Robot) -> dict[str, int]:
    """Pinocchio's algorithms on SX, by our names; G: the Jacobians of both feet, world axes at the foot."""
    from pinocchio import casadi as cpin

    if robot.urdf is None:
        return {}
    numbers, _ = pinocchio_model(robot)
    model = cpin.Model(numbers)
    data = model.createData()
    q, v, a, tau = (ca.SX.sym(k, model.nq if k == "q" else model.nv) for k in ("q", "v", "a", "tau"))
    axes = cpin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    feet = [cpin.computeFrameJacobian(model, data, q, numbers.getFrameId(foot), axes) for foot in robot.feet]
    outputs = {
        "ID": ([q, v, a], cpin.rnea(model, data, q, v, a)),
        "C": ([q, v], cpin.nonLinearEffects(model, data, q, v)),
        "H": ([q], ca.triu2symm(ca.triu(cpin.crba(model, data, q)))),
        "FD": ([q, v, tau], cpin.aba(model, data, q, v, tau)),
        "G": ([q], ca.vertcat(*feet)),
    }
    return {n: int(ca.Function(n, x, [y], {"cse": True}).n_instructions()) for n, (x, y) in outputs.items()}


PEERS = {"adam": adam, "pinocchio": pinocchio}


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of models; all by default")
    parser.add_argument("--all", action="store_true", help="every algorithm and solver")
    parser.add_argument("--json", action="store_true", help="one JSON object, the last line")
    options = parser.parse_args()
    if unknown := set(options.models) - set(MODELS):
        parser.error(f"no model {', '.join(sorted(unknown))}; there are: {', '.join(MODELS)}")
    tables: dict[str, dict[str, Any]] = {}
    for name, made in ((name, robot(name)) for name in options.models or MODELS):
        if made is None:
            continue
        tables[name] = columns = {
            "plain": measure(made, reduce=False, everything=options.all),
            "ours": measure(made, everything=options.all),
            **measured(PEERS, made),
        }
        print()
        table = Table({name: "<22s"} | dict.fromkeys(columns, "10,"))
        for row in columns["ours"]:
            table.row(row, *(column.get(row) for column in columns.values()))
    if options.json:
        print(json.dumps(tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
