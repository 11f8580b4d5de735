"""Pinocchio in C++ at its best: `pinocchio.cpp` by clang++ (else by g++), of two conventions the better.

Clang's code is up to twice as fast; g++ takes tens of minutes and 5 GB for it, so it is asked only where there is no
clang. PyPI's `pin` has its headers and libraries, `cmeel-eigen` those of Eigen. The program is compiled once, which
takes minutes, and kept in the private cache of compiled functions. It gets the model and the states as files.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from .casadi_c import kept, run
from .peers import check_same, pinocchio_model
from .robots import Array, Robot

SOURCE = Path(__file__).parent / "pinocchio.cpp"
COMPILERS = ("clang++", "g++")
"""The best first."""
FLAGS = (
    *("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w"),
    # Pinocchio's variants have more members than Boost's ready-made lists
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
)
STATES = 64


def measure(robot: Robot, drawn: Mapping[str, Array]) -> dict[str, float]:
    """Microseconds by quantity: the best of both conventions, after a look that both libraries compute the same; it
    reads a URDF. ImportError without the library or its headers."""
    import pinocchio as pin

    if robot.urdf is None:
        return {}
    program = _program(pin.__version__)
    model, layout = pinocchio_model(robot)
    rows = []
    for q, qd, qdd in zip(*(drawn[name][:STATES] for name in ("q", "qd", "qdd")), strict=True):
        parts = layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd)
        rows.append(np.concatenate([np.array(part, float).ravel() for part in parts]))
    state = np.split(rows[0], [model.nq, model.nq + model.nv])
    check_same(robot.model, drawn, layout, "Pinocchio", lambda: np.array(pin.rnea(model, model.createData(), *state)))
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        text, numbers = Path(place) / "model.txt", Path(place) / "states.txt"
        model.saveToText(str(text))
        lines = "\n".join(" ".join(repr(float(x)) for x in row) for row in rows)
        numbers.write_text(f"{len(rows)}\n{lines}\n", encoding="ascii")
        for line in run([str(program), str(text), str(numbers), *robot.feet]).splitlines():
            name, value = line.split()
            best[name] = min(best.get(name, np.inf), float(value))
    return best


def _program(version: str) -> Path:
    """The program, compiled once and kept."""
    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
    if not (prefix / "include/eigen3").is_dir() or not (prefix / "include/pinocchio").is_dir():
        raise ImportError("its headers are not there")
    compiler = next(filter(None, map(shutil.which, COMPILERS)), None)
    if compiler is None:
        raise ImportError("neither clang++ nor g++ was found")
    identity = run([compiler, "--version"]) + run([compiler, "-march=native", "-dM", "-E", "-x", "c++", "/dev/null"])

    def make(made: Path) -> None:
        print(f"compiling Pinocchio's side with {compiler}, once: some minutes", file=sys.stderr)
        paths = (f"-I{prefix}/include", f"-I{prefix}/include/eigen3", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib")
        run([compiler, *FLAGS, *paths[:2], str(SOURCE), "-o", str(made), *paths[2:], "-lboost_serialization"])

    try:
        return kept((SOURCE.read_text(), identity, version, *FLAGS), make)
    except RuntimeError as error:
        raise ImportError(str(error)) from None
