"""Comparison of every quantity in a reference file with what the library computes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od

from .case import Case
from .quantities import CENTROIDAL_OUTPUTS, POINT_OUTPUTS, body_pose, centroidal, energy, minv_tau, point, q_dot, rate
from .report import BadFile, NotBuilt, Report

SCHEMA = "rbdl-ref-1"

# Keys that are no quantity of ours: descriptions, copies of other keys, and the other program's own output.
FILE_KEYS = {
    "schema", "name", "description", "generator", "gravity", "nq", "nv", "bodies", "dofs", "quaternions", "points",
    "contact_sets", "loop_sets", "trajectories", "checks_max_error", "rbdl_nonlinear_effects_wrong", "states", "urdf",
}  # fmt: skip
BODY_KEYS = {
    "name", "parent", "joint", "joint_frame", "mass", "com", "inertia_com", "q_index", "ndof", "quat_w_index",
}  # fmt: skip
STATE_INPUTS = {"kind", "q", "qdot", "qddot", "tau", "f_ext"}
RBDL_OUTPUT = {"rbdl_nonlinear_effects", "rbdl_nonlinear_effects_rel_error", "rbdl_raw"}


def check(data: dict[str, Any], case: Case | None = None) -> Report:
    """Compares everything in a reference file; a `case` of the same model is used if given."""
    report = Report()
    if data["schema"] != SCHEMA:
        raise BadFile(f"schema {data['schema']!r}, this script reads {SCHEMA!r}")
    report.unknown(data, FILE_KEYS, "file")
    for body in data["bodies"]:
        report.unknown(body, BODY_KEYS, f"body {body['name']!r}")
    try:
        case = case or Case(data)
    except NotBuilt as missing:
        report.not_built.add(str(missing))
        return report
    for k, state in enumerate(data["states"]):
        _check_state(report, case, state, f"states[{k}]")
    for trajectory in data.get("trajectories", []):
        _check_trajectory(report, case, trajectory, f"trajectories[{trajectory['name']}]")
    if report.count == 0:
        report.failures.append("nothing was compared")
    return report


FREE: dict[str, tuple[Callable[..., Any], str]] = {
    "q_rate": (q_dot, "q qd -> q_dot"),
    "id_tau": (od.inverse_dynamics, "q qd qdd"),
    "C": (od.bias_force, "q qd"),
    "gravity_tau": (od.gravity_force, "q"),
    "H": (od.mass_matrix, "q"),
    "fd_qddot": (od.forward_dynamics, "q qd tau"),
    "fd_qddot by CRBA": (od.forward_dynamics_crba, "q qd tau"),
    "minv_tau": (minv_tau, "q tau -> qdd"),
}
"""Quantities of free motion, by keys of the file: algorithms, and inputs or signatures."""
PUSHED = ("id_tau", "C", "fd_qddot")
"""Those that are recorded with external forces too, as KEY_fext."""


def _check_state(report: Report, case: Case, state: dict[str, Any], where: str) -> None:
    x = {"q": case.q(state["q"]), "f_ext": case.f_ext(state)}
    x |= {name: case.v(state[key], key) for name, key in (("qd", "qdot"), ("qdd", "qddot"), ("tau", "tau"))}
    q, qd, qdd = x["q"], x["qd"], x["qdd"]
    sections = {"body_pose", "points", "centroidal", "contacts", "loops"}
    free = {label.split()[0] for label in FREE} | {f"{key}_fext" for key in PUSHED}
    report.unknown(state, {*STATE_INPUTS, *RBDL_OUTPUT, *sections, *free}, where)
    _check_free(report, case, state, x, where)
    for name, recorded in state.get("body_pose", {}).items():
        _compare_all(report, f"{where}.body_pose[{name}]", "body_pose", ("E", "r"), recorded,
                     case(body_pose, name, args=(q,), signature="q -> E r"))  # fmt: skip
    for recorded in state.get("points", []):
        values = case(point, recorded["body"], args=(q, qd, qdd, recorded["point"]),
                      signature=f"q qd qdd p[3] -> {' '.join(POINT_OUTPUTS)}")  # fmt: skip
        values = [case.back(value, case.v_at, (1,)) if key.startswith("J") else value
                  for key, value in zip(POINT_OUTPUTS, values, strict=True)]  # fmt: skip
        here = f"{where}.points[{recorded['body']}]"
        _compare_all(report, here, "points", POINT_OUTPUTS, recorded, values, {"body", "point"})
    if "centroidal" in state:
        values = case(centroidal, args=(q, qd, qdd), signature=f"q qd qdd -> {' '.join(CENTROIDAL_OUTPUTS)}")
        values = [case.model.mass, *values]
        _compare_all(report, where, "centroidal", ("mass", *CENTROIDAL_OUTPUTS), state["centroidal"], values)
    for check_set, section in ((_check_contact, "contacts"), (_check_loop, "loops")):
        for recorded in state.get(section, []):
            check_set(report, case, recorded, (q, qd, x["tau"], x["f_ext"]), where)


def _check_free(report: Report, case: Case, state: dict[str, Any], x: dict[str, ca.DM], where: str) -> None:
    """Quantities of free motion, in the file's layout."""
    for label, (algorithm, text) in FREE.items():
        key, _, by = label.partition(" ")
        names, _, outputs = text.partition(" -> ")
        at, axes = case.q_at if key == "q_rate" else case.v_at, (0, 1) if key == "H" else (0,)
        for name in {key, f"{key}_fext"} & state.keys():
            external = case.pushed if name != key else ()
            args = [x[one] for one in names.split()] + ([x["f_ext"]] if external else [])
            options = {"signature": text} if outputs else {"loads": od.Loads(external=external)}
            value = case.back(case(algorithm, args=args, **options), at, axes)
            report.compare(f"{name} {by}".strip(), where, value, state[name])


def _compare_all(report: Report, where: str, section: str, keys: Iterable[str], recorded: dict[str, Any],
                 values: Iterable[Any], other: Iterable[str] = ()) -> None:  # fmt: skip
    """Compares those of `keys` that are recorded; only keys from `other` may stand beside them."""
    computed = dict(zip(keys, values, strict=True))
    report.unknown(recorded, {*computed, *other}, where)
    for key, value in computed.items():
        if key in recorded:
            report.compare(f"{section}.{key}", where, value, recorded[key])


def _check_contact(report: Report, case: Case, recorded: dict[str, Any], inputs: Any, where: str) -> None:
    name = recorded["name"]
    if name not in case.sets:
        raise BadFile(f"{where}: no contact set {name!r}")
    here = f"{where}.contacts[{name}]"
    values = _constrained(case, case.sets[name], inputs, recorded)
    other = {"name", "cond_G", "impact_restitution", "inverse_dynamics_constrained"}
    _compare_all(report, here, "contacts", values, recorded, values.values(), other)
    if "inverse_dynamics_constrained" in recorded:
        _check_inverse(report, case, case.sets[name], recorded["inverse_dynamics_constrained"], inputs, here)


def _check_loop(report: Report, case: Case, recorded: dict[str, Any], inputs: Any, where: str) -> None:
    name = recorded["name"]
    if name not in case.loops:
        raise BadFile(f"{where}: no loop set {name!r}")
    q, qd = inputs[:2]
    here, loops = f"{where}.loops[{name}]", case.loops[name]
    errors = {
        "position_error": case(od.constraint_position, loops, args=(q,)),
        "velocity_error": case(od.constraint_velocity, loops, args=(q, qd)),
    }
    values = _constrained(case, loops, inputs, recorded) | errors
    other = {"name", "cond_G", "impact_restitution", "baumgarte", *RBDL_OUTPUT}
    _compare_all(report, here, "loops", values, recorded, values.values(), other)
    if "baumgarte" in recorded:
        stable = tuple(od.Baumgarte(loop, recorded["baumgarte"]["T_stab"]) for loop in loops)
        values = _constrained(case, stable, inputs, recorded["baumgarte"])
        keys = ("gamma", "fd_qddot", "force", "fd_qddot_fext", "force_fext")
        _compare_all(report, f"{here}.baumgarte", "loops.baumgarte", keys, recorded["baumgarte"],
                     (values[key] for key in keys), {"T_stab"})  # fmt: skip


def _constrained(case: Case, members: tuple[Any, ...], inputs: Any, recorded: dict[str, Any]) -> dict[str, Any]:
    """By key of the file: G, gamma, accelerations and forces, impacts."""
    q, qd, tau, f_ext = inputs
    values: dict[str, Any] = {
        "G": case.back(case(od.constraint_jacobian, members, args=(q,)), case.v_at, (1,)),
        "gamma": case(od.constraint_hessian, members, args=(q, qd)),
    }
    for suffix, external in (("", ()), ("_fext", case.pushed)):
        extra = (f_ext,) if external else ()
        qdd, lam = case(od.constrained_dynamics, members, args=(q, qd, tau, *extra), loads=od.Loads(external=external))
        values |= {f"fd_qddot{suffix}": case.back(qdd, case.v_at), f"force{suffix}": lam}
    restitution = recorded.get("impact_restitution", 0.0)
    rows = len(od.constraint_rows(members))
    if np.ndim(restitution) and len(restitution) != rows:
        raise BadFile(f"impact_restitution has {len(restitution)} entries, the set {rows} rows")
    for key, e in {"impact": 0.0, "impact_e": restitution}.items():
        qd_plus, Lam = case(od.impact, members, args=(q, qd, np.broadcast_to(e, rows)), e="rows")
        values |= {f"{key}_qdot_plus": case.back(qd_plus, case.v_at), f"{key}_impulse": Lam}
    return values


def _check_inverse(
    report: Report, case: Case, members: tuple[Any, ...], recorded: dict[str, Any], inputs: Any, where: str
) -> None:
    """Constrained inverse dynamics, and whether the set actuates the whole model."""
    q, qd = inputs[:2]
    actuated = tuple(np.array(recorded["actuated"], dtype=bool)[case.v_at].tolist())
    wanted = case.v(recorded["qddot_desired"], "qddot_desired")
    tau, lam, qdd = case(od.constrained_inverse_dynamics, members, args=(q, qd, wanted), actuated=actuated)
    full = od.is_fully_actuated(case.model, members, q, actuated)
    values = {"tau": case.back(tau, case.v_at), "force": lam, "qddot": case.back(qdd, case.v_at),
              "fully_actuated": float(full)}  # fmt: skip
    _compare_all(report, f"{where}.inverse_dynamics_constrained", "contacts.inverse_dynamics_constrained", values,
                 recorded, values.values(), {"actuated", "qddot_desired"})  # fmt: skip


def _check_trajectory(report: Report, case: Case, recorded: dict[str, Any], where: str) -> None:
    known = {"name", "contact_set", "integrator", "step", "tau", "t", "q", "qdot", "energy"}
    report.unknown(recorded, known, where)
    name = recorded["contact_set"]
    if name is not None and name not in case.sets:
        raise BadFile(f"{where}: no contact set {name!r}")
    contacts = case.sets[name] if name is not None else ()
    for k, (q, qd) in enumerate(_rk4(case, contacts, recorded)):
        E = case(energy, args=(q, qd), signature="q qd -> E")
        computed = {"q": case.back(q, case.q_at), "qdot": case.back(qd, case.v_at), "energy": E}
        for key in recorded.keys() & computed.keys():
            report.compare(f"trajectories.{key}", f"{where}[{k}]", computed[key], recorded[key][k])


def _rk4(case: Case, contacts: tuple[od.Contact, ...], recorded: dict[str, Any]) -> Iterator[tuple[ca.DM, ca.DM]]:
    """(q, qd) at the recorded times, by classical RK4 from the first of them."""
    f = od.function(rate, case.model, contacts, signature="q qd tau -> q_dot qdd")
    tau, h, t = case.v(recorded["tau"], "tau"), recorded["step"], recorded["t"]
    q, qd = case.q(recorded["q"][0]), case.v(recorded["qdot"][0], "qdot")
    yield q, qd
    for t0, t1 in pairwise(t):
        for _ in range(round((t1 - t0) / h)):
            k1 = f(q, qd, tau)
            k2 = f(q + h / 2 * k1[0], qd + h / 2 * k1[1], tau)
            k3 = f(q + h / 2 * k2[0], qd + h / 2 * k2[1], tau)
            k4 = f(q + h * k3[0], qd + h * k3[1], tau)
            q, qd = (x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, qd), k1, k2, k3, k4, strict=True))
        yield q, qd


def check_file(path: str) -> Report:
    """`check` of a file. Whatever is wrong with the file becomes one BadFile."""
    try:
        data = json.loads(Path(path).read_text())
        return check(data)
    except BadFile:
        raise
    except KeyError as error:
        raise BadFile(f"a key is missing or a name unknown: {error}") from None
    except (OSError, ValueError, TypeError, IndexError, AttributeError, RuntimeError) as error:
        raise BadFile(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from None
