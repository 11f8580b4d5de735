"""OpenSim models of a folder, read by the library and by OpenSim: the same mass matrix, forces, places and speeds.

OpenSim's numbers are those of a file beside the model, MODEL.npz, or made by the package `opensim` in a process of its
own, OPENSIM_PYTHON if this environment variable names the Python that has it: `opensim` and `casadi` do not load into
one process on every machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od

TOLERANCE = 1e-8
RECORDER = Path(__file__).with_name("opensim_recorder.py")
Array = np.ndarray


def files_in(folder: Path) -> list[Path]:
    """Files whose names end in .osim."""
    return sorted(folder.rglob("*.osim"))


def check(path: Path, folder: Path | None = None) -> tuple[str, str]:
    """("not a model" | "no joints" | "agree" | "refused" | "differ", what): one file."""
    found = recorded(path)
    if isinstance(found, str):
        return "not a model", found
    try:
        model = od.load_osim(path, up="y", keep_locked=True)
    except od.ModelError as error:
        return ("no joints" if "no moving body" in str(error) else "refused"), str(error)
    worst = compare(model, found, free_joints(path))
    wrong = {what: error for what, error in worst.items() if not error <= TOLERANCE}
    if wrong:
        return "differ", ", ".join(f"{what} {error:.1e}" for what, error in wrong.items())
    return "agree", f"{max(worst.values()):.1e}"


def recorded(path: Path) -> Mapping[str, Any] | str:
    """OpenSim's numbers for a model, or what it says against it."""
    beside = path.with_suffix(".npz")
    if beside.is_file():
        return dict(np.load(beside))
    with tempfile.TemporaryDirectory() as out:
        made = Path(out) / "model.npz"
        command = [os.environ.get("OPENSIM_PYTHON", sys.executable), str(RECORDER), str(path), str(made)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=_environment())
        if not made.is_file():
            return (run.stderr.strip() or "OpenSim does not load it").splitlines()[-1][:160]
        return dict(np.load(made))


def _environment() -> dict[str, str]:
    """That of this process, without its own paths of modules: another Python runs the recorder."""
    return {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


def compare(model: od.Model, theirs: Mapping[str, Any], free: set[str]) -> dict[str, float]:
    """The largest error of every quantity, relative to 1 plus its largest entry. free: see `free_joints`."""
    names = [str(name) for name in theirs["coordinates"]]
    order = [names.index(name) for name in model.q_names]
    worst: dict[str, float] = {}

    def note(what: str, ours: Any, expected: Any) -> None:
        error = np.abs(np.ravel(ours) - np.ravel(expected)).max(initial=0.0)
        worst[what] = max(worst.get(what, 0.0), float(error / (1 + np.abs(expected).max(initial=0.0))))

    H, ID = od.function(od.mass_matrix, model), od.function(od.inverse_dynamics, model)
    for t in range(len(theirs["q"])):
        q, u, ud = (theirs[key][t][order] for key in ("q", "u", "udot"))
        N, Nd = speeds(model, q, u, free)
        qd = N @ u
        note("mass matrix", N.T @ H(q).full() @ N, theirs["mass_matrix"][t][np.ix_(order, order)])
        note("gravity", N.T @ ID(q, 0 * u, 0 * u).full(), theirs["gravity_term"][t][order])
        note("bias", N.T @ ID(q, qd, Nd @ u).full(), theirs["bias_term"][t][order])
        note("inverse dynamics", N.T @ ID(q, qd, N @ ud + Nd @ u).full(), theirs["inverse_dynamics"][t][order])
        for k, body in enumerate(map(str, theirs["bodies"])):
            if body == "ground":
                continue
            R, p = od.pose(model, body, q)
            v = od.point_velocity_6d(model, body, q, qd).full().ravel()
            note("body position", p.full(), theirs["body_position"][t][k])
            note("body rotation", R.full(), theirs["body_rotation"][t][k])
            note("body velocity", v[3:], theirs["body_velocity"][t][k])
            note("angular velocity", v[:3], theirs["body_angular_velocity"][t][k])
        markers = {marker.name: marker for marker in model.markers}
        for k, name in enumerate(map(str, theirs["markers"])):
            marker = markers[name]
            place = od.point_position(model, marker.body, q, marker.point)
            note("marker position", place.full(), theirs["marker_position"][t][k])
    return worst


def speeds(model: od.Model, q: Array, u: Array, free: set[str]) -> tuple[Array, Array]:
    """(N, dN/dt) of qd = N u, OpenSim's speeds u: those of ball, free and ellipsoid joints are angular velocities in
    the fixed frame, and here they are the rates of the angles x, y, z."""
    N, Nd = np.eye(len(u)), np.zeros((len(u), len(u)))
    for i, _ in model.edges:
        if model.joint_names[i - 1] not in free:
            continue
        at = slice(model.v_index[i], model.v_index[i] + 3)
        (sa, sb), (ca, cb) = np.sin(q[at][:2]), np.cos(q[at][:2])
        inverse = np.linalg.inv([[1, 0, sb], [0, ca, -sa * cb], [0, sa, ca * cb]])
        da, db, _ = inverse @ u[at]
        rate = np.array([
            [0, 0, cb * db], [0, -sa * da, -ca * da * cb + sa * sb * db], [0, ca * da, -sa * da * cb - ca * sb * db],
        ])  # fmt: skip
        N[at, at], Nd[at, at] = inverse, -inverse @ rate @ inverse
    return N, Nd


FREE = {"BallJoint": "", "FreeJoint": "", "EllipsoidJoint": "", "ScapulothoracicJoint": "_ellipsoid"}
"""Joints whose speeds are angular velocities, and the ending of the names of ours."""


def free_joints(path: Path) -> set[str]:
    """Names of our joints whose speeds are angular velocities in OpenSim."""
    root = od.io.xml_tree(path.read_bytes(), str(path))
    named = [(element.get("name"), element.tag) for element in root.walk()]
    for body in root.walk():
        if body.tag == "Body":  # an old document has joints without names in their bodies
            named += [(f"{body.get('name')}_joint", one.tag) for holder in body.all("Joint") for one in holder]
    return {name + FREE[tag] for name, tag in named if tag in FREE and name}
