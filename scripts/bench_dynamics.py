#!/usr/bin/env python3
"""Times of the registry's functions: virtual machine, compiled for one state, compiled for lanes, and Pinocchio.

    python scripts/bench_dynamics.py [--json] [--lanes N] [--precision single]

Microseconds per state, medians of repeated runs in this process on one thread. `machine` and `one`: evaluated from a
buffer, without the call from Python (`call` is that: one state through `buffer()`). `lanes`: a batch of 512, transposes
included. `pinocchio`: its Python binding, call included, where it is installed; its C++ without the binding is faster.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od

STATES = 512
PLAIN = (od.inverse_dynamics, od.bias_force, od.mass_matrix, od.forward_dynamics)
CONTACT = (od.constraint_jacobian, od.constraint_hessian, od.constrained_dynamics)


def urdf() -> Path | None:
    robots = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots"
    return next(iter(sorted(robots.glob("*/**/simple_humanoid.urdf"))), None)


def models() -> dict[str, tuple[od.Model, tuple[str, ...]]]:
    found = {"human": (od.models.human(), ("sole_l", "sole_r"))}
    path = urdf()
    if path:
        found["simple_humanoid"] = (od.load_urdf(path, od.FloatingBase()), ("l_ankle", "r_ankle"))
    else:
        print("simple_humanoid is left out: pip install example-robot-data", file=sys.stderr)
    return found


def median(run: Callable[[], object], inner: int, repeats: int = 15) -> float:
    """Microseconds of one `run`, each of `repeats` times `inner` in a row."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        for _ in range(inner):
            run()
        times.append((time.perf_counter() - begin) / inner * 1e6)
    return statistics.median(times)


def peers(path: Path | None) -> dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], object]]:
    """Pinocchio's algorithms on simple_humanoid by our names; empty where it is not installed."""
    try:
        import pinocchio as pin
    except ImportError:
        print("pinocchio is left out: pip install pin", file=sys.stderr)
        return {}
    if path is None:
        return {}
    model: Any = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data: Any = model.createData()
    return {
        "ID": lambda q, v, a: pin.rnea(model, data, q, v, a),
        "C": lambda q, v, a: pin.nonLinearEffects(model, data, q, v),
        "H": lambda q, v, a: pin.crba(model, data, q),
        "FD": lambda q, v, a: pin.aba(model, data, q, v, a),
    }


def measure(
    f: ca.Function, model: od.Model, options: argparse.Namespace, peer: Callable[..., object] | None
) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    fast = od.codegen.compile([f], lanes=options.lanes, precision=options.precision, threads=1)[f.name()]
    drawn = {"q": np.array([model.random_q(rng) for _ in range(STATES)])}
    inputs = [
        np.ascontiguousarray(drawn.get(name, rng.normal(size=(STATES, f.numel_in(i)))), fast.dtype)
        for i, name in enumerate(f.name_in())
    ]
    row: dict[str, Any] = {"instructions": f.n_instructions()}
    # a batch of one lane runs the same code as one state, without Python in between
    single = od.codegen.compile([f], lanes=1, precision=options.precision, threads=1)[f.name()]
    mapped = f.map(STATES)
    columns: Any = [ca.DM(x.T.astype(float)) for x in inputs]
    row["machine"] = median(lambda: mapped.call(columns), 1) / STATES
    if single.backend == "compiled":
        out = tuple(np.empty((STATES, *shape), fast.dtype) for shape in fast.shape_out)
        row["one"] = median(lambda: single(*inputs, out=out), 2) / STATES
        row["lanes"] = median(lambda: fast(*inputs, out=out), 4) / STATES
        buffer = fast.buffer()
        for mine, given in zip(buffer.inputs, inputs, strict=True):
            mine[:] = given[0]
        row["call"] = median(buffer, 2000)
        row["one/lanes"] = row["one"] / row["lanes"]
    if peer:
        q, v, a = model.random_q(rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        row["pinocchio"] = median(lambda: peer(q, v, a), 1000)
        if "one" in row:
            row["one/pin"], row["pin/lanes"] = row["one"] / row["pinocchio"], row["pinocchio"] / row["lanes"]
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object, the last line")
    parser.add_argument("--lanes", type=int, help="states a batch computes at once; default: as many as fit")
    parser.add_argument("--precision", default="double", choices=("double", "single"))
    options = parser.parse_args()
    columns = ("instructions", "machine", "one", "lanes", "call", "one/lanes", "pinocchio", "one/pin", "pin/lanes")
    table: dict[str, dict[str, dict[str, Any]]] = {}
    compared = peers(urdf())
    for name, (model, feet) in models().items():
        contacts = tuple(od.Contact(model.frame(foot)) for foot in feet)
        functions = [od.function(algorithm, model) for algorithm in PLAIN]
        functions += [od.function(algorithm, model, contacts) for algorithm in CONTACT]
        print(f"{name + ', nv = ' + str(model.nv):24s}" + "".join(f"{column:>13s}" for column in columns))
        table[name] = {}
        for f in functions:
            peer = compared.get(f.name()) if name == "simple_humanoid" else None
            row = table[name][f.name()] = measure(f, model, options, peer)
            cells = (row.get(column, "") for column in columns)
            print(f"{f.name():24s}" + "".join(f"{c:13.3f}" if isinstance(c, float) else f"{c!s:>13s}" for c in cells))
    compiler = od.codegen.compile([functions[0]], lanes=options.lanes, precision=options.precision).compiler
    print(f"us per state, medians; {platform.machine()}, compiler {compiler}, {options.precision} precision")
    if options.json:
        print(json.dumps(table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
