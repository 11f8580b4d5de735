"""Pinocchio in C++ at its best: `bench_pinocchio.cpp` by clang++ (else by g++), of two conventions the better.

Clang's code is up to twice as fast; g++ takes tens of minutes and 5 GB for it, so it is asked only where there is no
clang. PyPI's `pin` has its headers and libraries, `cmeel-eigen` those of Eigen. The program is compiled once, which
takes minutes, and kept in the private cache of compiled functions. It gets the model and the states as files.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn.codegen.machine_code import cache
from ocp_dyn.joints import FloatingBase, Prismatic, Revolute

from .casadi_c import run
from .robots import Array, Robot

SOURCE = Path(__file__).parent.parent / "bench_pinocchio.cpp"
COMPILERS = ("clang++", "g++")
"""The best first."""
FLAGS = (
    *("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w"),
    # Pinocchio's variants have more members than Boost's ready-made lists
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
)
STATES = 64
SAME = 1e-8
"""Largest relative difference of the two libraries' inverse dynamics."""


def programs() -> list[Path]:
    """The program by every compiler; none, with a line that says why, where something is missing."""
    try:
        import pinocchio
    except ImportError:
        print("pinocchio is left out: pip install pin cmeel-eigen", file=sys.stderr)
        return []
    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
    if not (prefix / "include/eigen3").is_dir() or not (prefix / "include/pinocchio").is_dir():
        print("pinocchio is left out: its headers are not there; pip install pin cmeel-eigen", file=sys.stderr)
        return []
    found = [path for name in COMPILERS if (path := shutil.which(name))]
    if not found:
        print("pinocchio is left out: neither g++ nor clang++ was found", file=sys.stderr)
        return []
    made = _program(found[0], prefix, pinocchio.__version__)
    return [made] if made else []


def _program(compiler: str, prefix: Path, version: str) -> Path | None:
    identity = run([compiler, "--version"]) + run([compiler, "-march=native", "-dM", "-E", "-x", "c++", "/dev/null"])
    key = hashlib.sha256("\0".join((SOURCE.read_text(), identity, version, *FLAGS)).encode()).hexdigest()[:32]
    place = cache.directory()
    found = cache.find(place, key, ".program")
    if found is None:
        print(f"compiling Pinocchio's side with {compiler}, once: some minutes", file=sys.stderr)
        with cache.stage(place) as stage:
            made = stage / "bench.program"
            paths = (f"-I{prefix}/include", f"-I{prefix}/include/eigen3", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib")
            try:
                run([compiler, *FLAGS, *paths[:2], str(SOURCE), "-o", str(made), *paths[2:], "-lboost_serialization"])
            except RuntimeError as error:
                print(f"pinocchio by {compiler} is left out: {error}", file=sys.stderr)
                return None
            found = cache.store(place, key, made)
    return found


def measure(robot: Robot, drawn: Mapping[str, Array], made: list[Path]) -> dict[str, float]:
    """Microseconds by quantity: the best of all programs and conventions, after a look that both compute the same."""
    model = translated(robot.model)
    theirs = their_states(robot.model, drawn, STATES)
    compare(robot.model, model, drawn, theirs)
    for foot in robot.feet:
        _add_frame(model, robot.model, foot)
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        text, numbers = Path(place) / "model.txt", Path(place) / "states.txt"
        model.saveToText(str(text))
        rows = "\n".join(" ".join(repr(float(x)) for x in row) for row in theirs)
        numbers.write_text(f"{len(theirs)}\n{rows}\n", encoding="ascii")
        for program in made:
            for line in run([str(program), str(text), str(numbers), *robot.feet]).splitlines():
                name, value = line.split()
                best[name] = min(best.get(name, np.inf), float(value))
    return best


def translated(model: od.Model) -> Any:
    """The same model of Pinocchio: joint by joint, with our frames and inertias."""
    import pinocchio as pin

    theirs = pin.Model()
    theirs.gravity.linear[:] = model.gravity
    for i, parent in model.edges:
        joint, X, inertia = model.joints[i], model.X_tree[i], model.I[i]
        placement = pin.SE3(np.array(X.E.T, float), np.array(X.r, float).ravel())
        k = theirs.addJoint(parent, _joint(joint), placement, model.joint_names[i - 1])
        mass = float(inertia.m)
        com = np.array(inertia.h, float).ravel() / mass if mass else np.zeros(3)
        own = np.array(inertia.I, float) + mass * pin.skew(com) @ pin.skew(com)
        theirs.appendBodyToJoint(k, pin.Inertia(mass, com, own), pin.SE3.Identity())
    return theirs


def _joint(joint: Any) -> Any:
    import pinocchio as pin

    if isinstance(joint, FloatingBase) and joint.rotation == "quaternion":
        return pin.JointModelFreeFlyer()
    if not isinstance(joint, (Revolute, Prismatic)):
        raise TypeError(f"the benchmark has no Pinocchio joint for {joint}")
    kind, letter = ("Revolute", "R") if isinstance(joint, Revolute) else ("Prismatic", "P")
    if sorted(joint.axis) == [0.0, 0.0, 1.0]:
        return getattr(pin, f"JointModel{letter}{'XYZ'[joint.axis.index(1.0)]}")()
    return getattr(pin, f"JointModel{kind}Unaligned")(np.array(joint.axis))


def _add_frame(theirs: Any, model: od.Model, name: str) -> None:
    import pinocchio as pin

    frame = model.frame(name)
    placement = pin.SE3(np.array(frame.X.E.T, float), np.array(frame.X.r, float).ravel())
    theirs.addFrame(pin.Frame(name, frame.body, 0, placement, pin.FrameType.OP_FRAME))


def their_states(model: od.Model, drawn: Mapping[str, Array], count: int) -> Array:
    """q, v and a (or tau, which are numbers of the same kind) in Pinocchio's layout, a state in every row."""
    layout = _layout(model)
    rows = []
    for q, qd, qdd in zip(*(drawn[name][:count] for name in ("q", "qd", "qdd")), strict=True):
        parts = layout.to_q(q), layout.to_qd(q, qd), layout.to_qdd(q, qd, qdd)
        rows.append(np.concatenate([np.array(part, float).ravel() for part in parts]))
    return np.array(rows)


def _layout(model: od.Model) -> od.Layout:
    """Pinocchio's layout with the joints in our order, which `translated` keeps."""
    return od.Layout(model, "pinocchio", joints=model.joint_names)


def compare(model: od.Model, theirs: Any, drawn: Mapping[str, Array], rows: Array) -> None:
    """RuntimeError unless both libraries have the same inverse dynamics at the first state."""
    import pinocchio as pin

    q, v, a = np.split(rows[0], [theirs.nq, theirs.nq + theirs.nv])
    ours = od.function(od.inverse_dynamics, model)(*(drawn[name][0] for name in ("q", "qd", "qdd")))
    tau = np.array(_layout(model).to_tau(drawn["q"][0], ours), float).ravel()
    error = np.abs(tau - pin.rnea(theirs, theirs.createData(), q, v, a)).max() / np.abs(tau).max()
    if not error < SAME:
        raise RuntimeError(f"Pinocchio's inverse dynamics of {model.name} differ from ours by {error:.1e}")
