#!/usr/bin/env python3
"""Compares the library with recorded reference values: `python scripts/check_reference.py FILE...`.

Each FILE (JSON, schema rbdl-ref-1) holds a model and, for some states, every quantity of its dynamics. The
model is rebuilt from the file alone, every recorded quantity is evaluated and compared, and per file and
quantity the worst relative error |a - b| / (1 + |b|) and the number of compared values are printed.

Exit code 0 means that all of it agrees to 1e-9. Other than that: a larger error, a value that is not finite
or not of the recorded shape, a key this script does not know, a file that cannot be read, nothing compared.
What the library cannot do yet is named ("not built yet: ...") and is no failure.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.dynamics import factor
from ocp_dyn.joints import one_dof

TOLERANCE = 1e-9
SCHEMA = "rbdl-ref-1"

JOINTS = {
    "fixed": od.Fixed(),
    "revolute_x": od.Revolute("x"),
    "revolute_y": od.Revolute("y"),
    "revolute_z": od.Revolute("z"),
    "translation_xyz": od.Translation(),
    "spherical": od.Spherical(),
    "floating_base": od.FloatingBase(),
    **{f"euler_{order}": od.Euler(order) for order in ("zyx", "xyz", "yxz", "zxy")},
}

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


class BadFile(Exception):
    """The file cannot be read as a reference file."""


class NotBuilt(Exception):
    """The library lacks what the file asks for."""


@dataclass
class Report:
    """What was compared of one file, and how it went."""

    errors: dict[str, float] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    not_built: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def ok(self) -> bool:
        return not self.failures

    def compare(self, key: str, where: str, value: Any, recorded: Any) -> None:
        """Counts |value - recorded| / (1 + |recorded|) under `key`; `where` says where in the file it stands."""
        try:
            b = np.asarray(recorded, dtype=float)
        except (TypeError, ValueError):
            raise BadFile(f"{where}.{key}: numbers expected, got {str(recorded)[:60]!r}") from None
        a = value.full() if isinstance(value, ca.DM) else np.asarray(value, dtype=float)
        if a.size != b.size or (b.ndim == 2 and a.shape != b.shape):
            self.failures.append(f"{where}.{key}: shape {a.shape} computed, {b.shape} recorded")
            return
        error = np.abs(a.reshape(b.shape) - b) / (1 + np.abs(b))
        # nan and inf compare false with everything, so they are made the largest error there is
        worst = float(np.max(np.where(np.isfinite(error), error, np.inf), initial=0.0))
        self.errors[key] = max(worst, self.errors.get(key, 0.0))
        self.counts[key] = self.counts.get(key, 0) + b.size
        if not worst <= TOLERANCE:
            self.failures.append(f"{where}.{key}: relative error {worst:.3g}")

    def unknown(self, keys: Iterable[str], known: Iterable[str], where: str) -> None:
        for key in keys:
            if key not in known:
                self.failures.append(f"{where}: unknown key {key!r}")


# The model


class Case:
    """The model of a file, and the file's layout: entry k of our q is entry q_at[k] of the file's."""

    def __init__(self, data: dict[str, Any]) -> None:
        builder = od.ModelBuilder(data["name"], gravity=data["gravity"])
        self.q_at: list[int] = []
        self.v_at: list[int] = []
        for body in data["bodies"]:
            self._add(builder, body)
        if all(body["name"] != "ROOT" for body in data["bodies"]):
            builder.add_frame("ROOT", "world")  # loops may end at the ground
        self.model = builder.build()
        for what, at, size in (("q", self.q_at, data["nq"]), ("qdot", self.v_at, data["nv"])):
            if sorted(at) != list(range(size)):
                raise BadFile(f"the joints' indices into {what} do not make up 0 to {size - 1}: {sorted(at)}")
        states = data["states"]
        self.pushed = tuple(n for n in self.model.frame_names if any(n in state["f_ext"] for state in states))
        self.sets = {s["name"]: tuple(_contact(row) for row in s["rows"]) for s in data.get("contact_sets", [])}
        self.loops = {s["name"]: tuple(_loop(row) for row in s["rows"]) for s in data.get("loop_sets", [])}

    def _add(self, builder: od.ModelBuilder, body: dict[str, Any]) -> None:
        joint = _joint(body["joint"]["type"], body["joint"]["axes"])
        builder.add_body(
            body["name"], joint, "world" if body["parent"] == "ROOT" else body["parent"],
            origin=body["joint_frame"]["r"], rotation=np.transpose(body["joint_frame"]["E"]),
            mass=body["mass"], com=body["com"], inertia=body["inertia_com"], inertia_check=False,
        )  # fmt: skip
        dofs = list(range(body["q_index"], body["q_index"] + body["ndof"]))
        if len(dofs) != joint.nv:
            raise BadFile(f"body {body['name']!r}: ndof {len(dofs)} does not fit joint {body['joint']['type']!r}")
        self.v_at += dofs
        self.q_at += dofs
        if joint.nq > joint.nv:
            self.q_at.append(body["quat_w_index"])

    def q(self, values: Any) -> ca.DM:
        return _column(values, self.q_at, "q")

    def v(self, values: Any, what: str) -> ca.DM:
        return _column(values, self.v_at, what)

    def f_ext(self, state: dict[str, Any]) -> ca.DM:
        unknown = set(state["f_ext"]) - set(self.pushed)
        if unknown:
            raise BadFile(f"f_ext names no body: {', '.join(sorted(unknown))}")
        return ca.DM(np.array([state["f_ext"].get(name, [0.0] * 6) for name in self.pushed]).reshape(-1, 6).T)

    def back(self, values: Any, at: list[int], axes: Iterable[int] = (0,)) -> Any:
        """Our layout to the file's along the given axes."""
        result = np.array(values.full() if isinstance(values, ca.DM) else values)
        for axis in axes:
            result = np.take(result, np.argsort(at), axis)
        return result

    def __call__(self, algorithm: Callable[..., Any], *static: Any, args: Iterable[Any], **options: Any) -> Any:
        """The algorithm's Function, evaluated."""
        return od.function(algorithm, self.model, *static, **options)(*args)


def _joint(kind: str, axes: list[list[float]]) -> od.Joint:
    if kind in ("revolute", "prismatic", "helical", "multi_dof") and axes:
        for axis in axes:
            _check_unit(axis)
        return od.MultiDof(axes) if kind == "multi_dof" else one_dof(axes[0])
    if kind not in JOINTS:
        raise NotBuilt(f"joint {kind!r}")
    return JOINTS[kind]


def _check_unit(axis: list[float]) -> None:
    """A file's axis must be of unit length: what a longer one means is not agreed upon."""
    turn = np.array(axis[:3])
    if abs(np.linalg.norm(turn if turn.any() else axis) - 1) > TOLERANCE:
        raise BadFile(f"joint axis {axis} is not of unit length")


def _contact(row: dict[str, Any]) -> od.Contact:
    return od.Contact(row["body"], point=tuple(row["point"]), axes=(tuple(row["normal"]),))


def _loop(row: dict[str, Any]) -> od.Loop:
    poses = ((tuple(map(tuple, row[f"R_{end}"])), tuple(row[f"r_{end}"])) for end in ("pred", "succ"))
    return od.Loop(row["predecessor"], row["successor"], (tuple(row["axis"]),), *poses, sliding=False)


def _column(values: Any, at: list[int], what: str) -> ca.DM:
    if len(values) != len(at):
        raise BadFile(f"{what} has {len(values)} entries, the model {len(at)}")
    return ca.DM(np.array(values, dtype=float)[at])


# Algorithms that put library calls together, one Function each


def q_dot(model: od.Model, q: Any, qd: Any) -> Any:
    return model.q_dot(q, qd)


def minv_tau(model: od.Model, q: Any, tau: Any) -> Any:
    return factor(model, od.mass_matrix(model, q)).solve(tau)


def body_pose(model: od.Model, name: str, q: Any) -> Any:
    R, p = od.pose(model, name, q)
    return R.T, p


POINT_OUTPUTS = ("pos", "vel", "acc", "acc_qddot0", "vel6", "acc6", "acc6_qddot0", "J", "J6", "J_body_spatial")


def point(model: od.Model, name: str, q: Any, qd: Any, qdd: Any, p: Any) -> Any:
    E, _ = body_pose(model, name, q)
    return (
        od.point_position(model, name, q, p),
        od.point_velocity(model, name, q, qd, p),
        od.point_acceleration(model, name, q, qd, qdd, p),
        od.point_acceleration(model, name, q, qd, point=p),
        od.point_velocity_6d(model, name, q, qd, p),
        od.point_acceleration_6d(model, name, q, qd, qdd, p),
        od.point_acceleration_6d(model, name, q, qd, point=p),
        od.point_jacobian(model, name, q, p),
        od.point_jacobian_6d(model, name, q, p),
        ca.diagcat(E, E) @ od.point_jacobian_6d(model, name, q),
    )


CENTROIDAL_OUTPUTS = (
    "com", "com_vel", "com_acc", "angular_momentum_com", "angular_momentum_rate_com", "kinetic_energy",
    "potential_energy", "zmp_plane_z0",
)  # fmt: skip


def centroidal(model: od.Model, q: Any, qd: Any, qdd: Any) -> Any:
    return (
        od.center_of_mass(model, q),
        od.center_of_mass_velocity(model, q, qd),
        od.center_of_mass_acceleration(model, q, qd, qdd),
        od.centroidal_momentum(model, q, qd)[:3],
        od.centroidal_momentum_rate(model, q, qd, qdd)[:3],
        od.kinetic_energy(model, q, qd),
        od.potential_energy(model, q),
        od.zero_moment_point(model, q, qd, qdd),
    )


def rate(model: od.Model, contacts: tuple[od.Contact, ...], q: Any, qd: Any, tau: Any) -> Any:
    """(dq/dt, qdd), free or in contact."""
    free = not contacts
    qdd = od.forward_dynamics(model, q, qd, tau) if free else od.constrained_dynamics(model, contacts, q, qd, tau)[0]
    return model.q_dot(q, qd), qdd


def energy(model: od.Model, q: Any, qd: Any) -> Any:
    return od.kinetic_energy(model, q, qd) + od.potential_energy(model, q)


# Comparing


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


def _check_state(report: Report, case: Case, state: dict[str, Any], where: str) -> None:
    q = case.q(state["q"])
    qd, qdd, tau = (case.v(state[key], key) for key in ("qdot", "qddot", "tau"))
    known = _joint_space(case, q, qd, qdd, tau, case.f_ext(state))
    sections = {"body_pose", "points", "centroidal", "contacts", "loops"}
    report.unknown(state, {*STATE_INPUTS, *RBDL_OUTPUT, *sections, *known}, where)
    for key, values in known.items():
        for label, value in values().items() if key in state else ():
            report.compare(label, where, value, state[key])
    for name, recorded in state.get("body_pose", {}).items():
        _compare_all(report, f"{where}.body_pose[{name}]", "body_pose", ("E", "r"), recorded,
                     case(body_pose, name, args=(q,), signature="q -> E r"))  # fmt: skip
    for recorded in state.get("points", []):
        values = case(point, recorded["body"], args=(q, qd, qdd, recorded["point"]),
                      signature=f"q qd qdd p[3] -> {' '.join(POINT_OUTPUTS)}")  # fmt: skip
        jacobians = {"J", "J6", "J_body_spatial"}
        values = [
            case.back(value, case.v_at, (1,)) if key in jacobians else value
            for key, value in zip(POINT_OUTPUTS, values, strict=True)
        ]
        here = f"{where}.points[{recorded['body']}]"
        _compare_all(report, here, "points", POINT_OUTPUTS, recorded, values, {"body", "point"})
    if "centroidal" in state:
        values = case(centroidal, args=(q, qd, qdd), signature=f"q qd qdd -> {' '.join(CENTROIDAL_OUTPUTS)}")
        values = [case.model.mass, *values]
        _compare_all(report, where, "centroidal", ("mass", *CENTROIDAL_OUTPUTS), state["centroidal"], values)
    for recorded in state.get("contacts", []):
        _check_contact(report, case, recorded, (q, qd, tau, case.f_ext(state)), where)
    for recorded in state.get("loops", []):
        _check_loop(report, case, recorded, (q, qd, tau, case.f_ext(state)), where)


def _joint_space(
    case: Case, q: ca.DM, qd: ca.DM, qdd: ca.DM, tau: ca.DM, f_ext: ca.DM
) -> dict[str, Callable[[], dict[str, Any]]]:
    """By key of the file: our values by label (forward dynamics has two algorithms), in the file's layout."""

    def both(pushed: bool) -> dict[str, Any]:
        key = "fd_qddot_fext" if pushed else "fd_qddot"
        algorithms = {key: od.forward_dynamics, f"{key} by CRBA": od.forward_dynamics_crba}
        return {label: v(algorithm, q, qd, tau, pushed=pushed) for label, algorithm in algorithms.items()}

    def v(algorithm: Callable[..., Any], *args: ca.DM, pushed: bool = False, signature: str | None = None) -> Any:
        external = case.pushed if pushed else ()
        extra = (f_ext,) if external else ()
        value = case(algorithm, args=(*args, *extra), loads=od.Loads(external=external), signature=signature)
        return case.back(value, case.v_at)

    return {
        "q_rate": lambda: {"q_rate": case.back(case(q_dot, args=(q, qd), signature="q qd -> q_dot"), case.q_at)},
        "id_tau": lambda: {"id_tau": v(od.inverse_dynamics, q, qd, qdd)},
        "id_tau_fext": lambda: {"id_tau_fext": v(od.inverse_dynamics, q, qd, qdd, pushed=True)},
        "C": lambda: {"C": v(od.bias_force, q, qd)},
        "C_fext": lambda: {"C_fext": v(od.bias_force, q, qd, pushed=True)},
        "gravity_tau": lambda: {"gravity_tau": v(od.gravity_force, q)},
        "H": lambda: {"H": case.back(case(od.mass_matrix, args=(q,)), case.v_at, (0, 1))},
        "fd_qddot": lambda: both(False),
        "fd_qddot_fext": lambda: both(True),
        "minv_tau": lambda: {"minv_tau": v(minv_tau, q, tau, signature="q tau -> qdd")},
    }


def _compare_all(
    report: Report,
    where: str,
    section: str,
    keys: Iterable[str],
    recorded: dict[str, Any],
    values: Iterable[Any],
    other: Iterable[str] = (),
) -> None:
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


# The command line


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


def show(path: str, report: Report) -> None:
    """One file's lines of output."""
    print(f"{path}: {report.count} values compared, worst {max(report.errors.values(), default=0.0):.1e}")
    for key in sorted(report.errors):
        print(f"  {key:32} {report.counts[key]:7d}   {report.errors[key]:.1e}")
    for missing in sorted(report.not_built):
        print(f"  not built yet: {missing}")
    for failure in report.failures:
        print(f"  FAILED {failure}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Compare the library with files of reference values.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    compared, failed = 0, []
    paths = parser.parse_args(arguments).files
    for path in paths:
        try:
            report = check_file(path)
        except BadFile as error:
            print(f"{path}: error: {error}")
            failed.append(path)
            continue
        show(path, report)
        compared += report.count
        if not report.ok:
            failed.append(path)
    print(f"{len(paths)} files, {compared} values compared" + (f", FAILED: {', '.join(failed)}" if failed else ""))
    if not compared and not failed:
        print("nothing was compared")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
