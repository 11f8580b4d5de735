"""MJCF files of a folder, read by the library and by MuJoCo: the same equations of motion, places, limits and
constraints."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od

STATES = 3
TOLERANCE = 1e-9
LOADS = od.Loads(armature=True, passive=True)


def files_in(folder: Path) -> list[Path]:
    """Files whose outermost element is <mujoco>."""
    return [path for path in sorted(folder.rglob("*.xml")) if b"<mujoco" in path.read_bytes() and _is_model(path)]


def _is_model(path: Path) -> bool:
    try:
        return od.io.xml_tree(path.read_bytes(), str(path)).tag == "mujoco"
    except od.ModelError:
        return False


def check(path: Path, folder: Path | None = None) -> tuple[str, str]:
    """("not a model" | "no joints" | "agree" | "refused" | "differ", what): one file."""
    import mujoco

    try:
        theirs = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, mujoco.FatalError) as error:
        return "not a model", " ".join(str(error).split())[:120]
    if not theirs.nv:
        return "no joints", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", od.ModelWarning)
            ours = od.io.read_mjcf(path, folder=folder)
    except od.ModelError as error:
        return "refused", str(error)
    worst = compare(ours, theirs)
    wrong = {what: error for what, error in worst.items() if not error <= TOLERANCE}
    if wrong:
        return "differ", ", ".join(f"{what} {error:.1e}" for what, error in wrong.items())
    return "agree", f"{max(worst.values()):.1e}"


def compare(ours: od.io.MjcfFile, theirs: Any, seed: int = 0) -> dict[str, float]:
    """The largest error of every quantity at random states, relative to the largest entry of the quantity."""
    import mujoco

    data = mujoco.MjData(theirs)
    worst: dict[str, float] = {"sizes": float((ours.model.nq, ours.model.nv) != (theirs.nq, theirs.nv))}
    if worst["sizes"]:
        return worst
    for what, a, b in _constants(ours, theirs):
        worst[what] = _error(a, b)
    evaluate = _functions(ours)
    rng, layout = np.random.default_rng(seed), od.Layout(ours.model, "mujoco")
    for _ in range(STATES):
        q = _random_q(ours, rng)
        qd, qdd = rng.normal(size=(2, ours.model.nv))
        data.qpos[:], data.qvel[:] = _row(layout.to_q(q)), qd
        mujoco.mj_forward(theirs, data)
        values = dict(zip(NAMES, (np.array(DM(x).full()) for x in evaluate(q, qd, qdd)), strict=True))
        for what, a, b in [*_dynamics(values, theirs, data, qdd), *_places(ours, theirs, data, q),
                           *_equalities(ours, theirs, data, q)]:  # fmt: skip
            worst[what] = max(worst.get(what, 0.0), _error(a, b))
    return worst


SIGNS = np.array([1, 1, 1, -1, -1, -1])
NAMES = ("H", "C", "passive", "tau")


def _functions(ours: od.io.MjcfFile) -> Callable[..., Any]:
    """H with rotors, C, passive forces without dry friction, and the torques of inverse dynamics, as one Function."""
    model = ours.model
    smooth = replace(model, dofs=type(model.dofs)(**(vars(model.dofs) | {"friction": np.zeros(model.nv)})))
    q, qd, qdd = (ca.SX.sym(name, size) for name, size in (("q", model.nq), ("qd", model.nv), ("qdd", model.nv)))
    H = od.mass_matrix(smooth, q, loads=LOADS)
    tau = od.inverse_dynamics(smooth, q, qd, qdd, loads=LOADS)
    outputs = [H, od.bias_force(smooth, q, qd), od.passive_force(smooth, q, qd), tau]
    return ca.Function("compared", [q, qd, qdd], outputs, {"cse": True})


def _random_q(ours: od.io.MjcfFile, rng: np.random.Generator) -> Any:
    """A state near the reference, so that lengths have the size of the model's own."""
    return _row(ours.model.integrate(ours.reference, rng.normal(size=ours.model.nv)))


def _row(x: Any) -> Any:
    return np.array(DM(x).full()).ravel()


def _error(a: Any, b: Any) -> float:
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return np.inf
    same = a == b  # infinite limits too
    difference = np.where(same, 0.0, np.abs(np.where(same, 0, a) - np.where(same, 0, b)))
    finite = np.abs(b[np.isfinite(b)])
    return float(difference.max(initial=0.0) / max(1.0, finite.max(initial=0.0)))


def _constants(ours: od.io.MjcfFile, theirs: Any) -> Iterator[tuple[str, Any, Any]]:
    """Limits of hinges and slides, reference configuration, keyframes, total mass, gravity."""
    model, layout = ours.model, od.Layout(ours.model, "mujoco")
    scalar = np.flatnonzero(theirs.jnt_type >= 2)
    at = [int(theirs.jnt_qposadr[j]) for j in scalar]
    limited = theirs.jnt_limited[scalar].astype(bool)
    low = np.where(limited, theirs.jnt_range[scalar, 0], -np.inf)
    high = np.where(limited, theirs.jnt_range[scalar, 1], np.inf)
    yield "lower", model.dofs.q_lower[at], low
    yield "upper", model.dofs.q_upper[at], high
    yield "friction", model.dofs.friction, theirs.dof_frictionloss
    back = np.array(DM(layout.from_q(theirs.qpos0)).full()).ravel()  # quaternions of either sign are one rotation
    yield "reference", _row(model.difference(ours.reference, back)), np.zeros(model.nv)
    yield "mass", _moving_mass(theirs), model.mass
    if ours.model.configurations:
        keys = [_row(layout.to_q(q)) for q in ours.model.configurations.values()]
        yield "keyframes", keys, theirs.key_qpos[: len(keys)]  # <size nkey> may leave room for more
    gravity = np.zeros(3) if theirs.opt.disableflags & 128 else theirs.opt.gravity
    yield "gravity", model.gravity, gravity


def _moving_mass(theirs: Any) -> float:
    """The mass of bodies that joints move."""
    return float(theirs.body_mass[theirs.body_treeid >= 0].sum())


def _dynamics(values: dict[str, Any], theirs: Any, data: Any, qdd: Any) -> Iterator[tuple[str, Any, Any]]:
    import mujoco

    H = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, H)
    yield "H", values["H"], H
    yield "C", values["C"].ravel(), data.qfrc_bias
    yield "passive", values["passive"].ravel(), data.qfrc_passive
    data.qacc[:] = qdd
    flags = int(theirs.opt.disableflags)
    theirs.opt.disableflags = flags | 1 | 16  # neither contacts nor limits nor dry friction, which are soft there
    mujoco.mj_inverse(theirs, data)
    theirs.opt.disableflags = flags
    yield "inverse dynamics", values["tau"].ravel(), data.qfrc_inverse.copy()


def _places(ours: od.io.MjcfFile, theirs: Any, data: Any, q: Any) -> Iterator[tuple[str, Any, Any]]:
    """Positions and orientations of bodies and of named sites."""
    model = ours.model
    for number in range(1, theirs.nbody):
        name = theirs.body(number).name or f"body{number}"
        R, p = od.pose(model, name, q)
        yield "bodies", _row(p), data.xpos[number]
        yield "axes of bodies", np.array(R.full()), data.xmat[number].reshape(3, 3)
    for number in range(theirs.nsite):
        name = theirs.site(number).name
        if name:
            frame = f"{name}_site" if f"{name}_site" in model.frames else name
            R, p = od.pose(model, frame, q)
            yield "sites", _row(p), data.site_xpos[number]
            yield "axes of sites", np.array(R.full()), data.site_xmat[number].reshape(3, 3)


def _equalities(ours: od.io.MjcfFile, theirs: Any, data: Any, q: Any) -> Iterator[tuple[str, Any, Any]]:
    """Residuals and Jacobians of the active equalities, ours turned into MuJoCo's rows.

    Rows of points: -R_p phi, in world axes. Rows of a weld's rotation: the vector part of the quaternion of R_s' R_p,
    whose rate is W / 2 times the relative angular velocity in the successor's axes.
    """
    import mujoco

    mujoco.mj_forward(theirs, data)
    mine = [k for k in range(data.nefc) if data.efc_type[k] == 0]
    rows: list[tuple[Any, Any]] = []
    J = _jacobian(theirs, data)[mine]
    for constraint in ours.model.constraints:
        phi, G = _in_their_rows(ours.model, constraint, q)
        if not G.any():  # MuJoCo leaves out an equality that no joint moves
            continue
        first = sum(len(done) for done, _ in rows) + 3
        if isinstance(constraint, od.CoordinateCoupling):  # solved for a coordinate: a multiple of their row
            factor = J[first - 3] @ G[0] / (G[0] @ G[0])
            phi, G = factor * phi, factor * G
        if len(phi) == 6 and phi[3:] @ data.efc_pos[mine][first : first + 3] < 0:  # a quaternion of the other sign
            phi, G = phi * SIGNS, G * SIGNS[:, None]
        rows.append((phi, G))
    if not rows and not mine:
        return
    yield "equalities", np.concatenate([phi for phi, _ in rows] or [[]]), data.efc_pos[mine]
    yield (
        "Jacobians of equalities",
        np.vstack([G for _, G in rows] or [np.zeros((0, theirs.nv))]),
        _jacobian(theirs, data)[mine],
    )


def _jacobian(theirs: Any, data: Any) -> Any:
    """The Jacobian of all of MuJoCo's constraints, which it keeps dense or by rows."""
    import mujoco

    if not mujoco.mj_isSparse(theirs):
        return data.efc_J.reshape(-1, theirs.nv)[: data.nefc]
    J = np.zeros((data.nefc, theirs.nv))
    for k in range(data.nefc):
        at = slice(data.efc_J_rowadr[k], data.efc_J_rowadr[k] + data.efc_J_rownnz[k])
        J[k, data.efc_J_colind[at]] = data.efc_J[at]
    return J


def _in_their_rows(model: od.Model, constraint: Any, q: Any) -> tuple[Any, Any]:
    phi = _row(od.constraint_position(model, [constraint], q))
    G = np.array(DM(od.constraint_jacobian(model, [constraint], q)).full())
    if isinstance(constraint, od.CoordinateCoupling):
        return -phi, -G
    if not isinstance(constraint, od.Loop):
        return phi, G
    (R_p, _), (R_s, _) = (
        (np.array(R.full()) @ np.reshape(pose[0], (3, 3)), p)
        for (R, p), pose in (
            (od.pose(model, constraint.predecessor, q), constraint.predecessor_pose),
            (od.pose(model, constraint.successor, q), constraint.successor_pose),
        )
    )
    if len(phi) == 3:
        return -R_p @ phi, -R_p @ G
    x, y, z, w = _row(od.matrix_quaternion(R_s.T @ R_p))
    v, cross = np.array([x, y, z]), np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    W = w * np.eye(3) - cross  # rate of the vector part for an angular velocity in the successor's axes
    turned = W @ (R_s.T @ -(R_p @ G[:3])) / 2
    return np.concatenate([-R_p @ phi[3:], v]), np.vstack([-R_p @ G[3:], turned])
