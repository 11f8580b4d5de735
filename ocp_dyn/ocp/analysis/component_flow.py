"""Equations of motion with components, as a Function, to integrate the states of components beside q and qd.

The unknowns w are the rates of the states whose derivatives rows determine, and the algebraic channels. Equality rows
determine them, together with the accelerations, on which they act by the forces: w is a root of these rows, which
Newton's method finds from the values of the solution.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from ..._base.types import Array, names_in_message, split
from ...mechanism import Model
from ..motion.motion import Motion, PhaseMotion
from ..statement.ground.wrench_footholds import LoadedFoothold
from ..statement.instant import Instant
from ..statement.state.channels import Channel
from ..statement.state.components import ComponentEquations
from .active_set import variables

KNOWN = ("q", "qd", "tau", "y", "u", "slope", "s", "tau_rate")
"""Known quantities of an instant: states y of components, controls u with slopes, the fraction s of the phase."""

ROOT = {"abstol": 1e-11, "max_iter": 50, "line_search": True, "error_on_fail": False, "show_eval_warnings": False}
"""Options of Newton's method."""

SOLVED = 1e-7
"""Residual of the rows up to which they determine w; else the accelerations are nan, and the flow ends."""


@dataclass(frozen=True, eq=False)
class ComponentFlow:
    """The channels of a motion, and its equations in one phase.

    unknown: the channels of w, first the states among them. dynamics: (*KNOWN, first values of w) -> (qdd, dy/dt).
    """

    states: tuple[Channel, ...]
    controls: tuple[Channel, ...]
    unknown: tuple[Channel, ...]
    dynamics: ca.Function

    @staticmethod
    def of(solution: Motion, phase: PhaseMotion) -> ComponentFlow:
        """The components of a motion in one of its phases."""
        e = _Expressions.of(solution, phase.lam.shape[1])
        known = {name: MX.sym(name, x.numel()) for name, x in e.known.items()}
        w, w0 = MX.sym("w", e.w.numel()), MX.sym("w0", e.w.numel())
        force = ca.Function("force", [*e.known.values(), e.w], [ca.densify(e.force)])
        rest = ca.Function("rest", [*e.known.values(), e.w, e.qdd, e.lam], [ca.densify(e.rates), ca.densify(e.rows)])

        def closed(w: MX) -> tuple[MX, Any]:
            tau = known["tau"] + force(*known.values(), w)
            qdd, lam = solution.equations.forward_dynamics(phase.contacts, known["q"], known["qd"], tau)
            return qdd, rest(*known.values(), w, qdd, lam)

        found = w0
        if w.numel():
            rows = {"x": w, "p": ca.vertcat(*known.values()), "g": closed(w)[1][1]}
            found = ca.rootfinder("unknowns", "newton", rows, ROOT)(x0=w0, p=rows["p"])["x"]
        qdd, (rates, residual) = closed(found)
        ends = ca.if_else(ca.norm_inf(residual) < SOLVED, 0, np.nan) if w.numel() else 0
        dynamics = ca.Function("dynamics", [*known.values(), w0], [qdd + ends, rates])
        return ComponentFlow(_of_kind(solution, "state"), _of_kind(solution, "control"), e.unknown, dynamics)

    def linearized(self, model: Model) -> ca.Function:
        """(*KNOWN, first values of w) -> (qdd, dy/dt, their derivatives by the tangents of q, by qd and by y)."""
        z = [MX.sym(name, n) for name, n in zip((*KNOWN, "w0"), map(self.dynamics.size1_in, range(9)), strict=True)]
        (q, qd, _, y), found = z[:4], self.dynamics(*z)
        along, v = SX.sym("q", model.nq), SX.sym("v", model.nv)
        tangent = ca.Function("tangent", [along], [ca.jacobian(model.q_dot(along, v), v)])(q)
        rates = ca.vertcat(*found)
        slopes = ca.horzcat(ca.jacobian(rates, q) @ tangent, ca.jacobian(rates, qd), ca.jacobian(rates, y))
        return ca.Function("linearized", z, [*found, slopes])

    def start(self, phase: PhaseMotion, k: int) -> Array:
        """The states y at node k."""
        return np.concatenate([np.zeros(0), *(phase[c.name][k] for c in self.states)])

    def inputs(self, phase: PhaseMotion, k: int) -> tuple[Array, Array]:
        """[u; s] in the middle of interval k, and their slopes."""
        h = float(phase.t[k + 1] - phase.t[k])
        ends = [(phase[c.name][k], phase[c.name][k + 1 if c.at_nodes else k]) for c in self.controls]
        ends.append((np.array([phase.grid.at(k)]), np.array([phase.grid.at(k + 1)])))
        return np.concatenate([(a + b) / 2 for a, b in ends]), np.concatenate([(b - a) / h for a, b in ends])

    def guess(self, phase: PhaseMotion, k: int) -> Array:
        """First values of w in interval k."""
        h = float(phase.t[k + 1] - phase.t[k])
        values = [phase[c.name][k : k + 2] for c in self.unknown]
        return np.concatenate([np.zeros(0), *(
            (x[1] - x[0]) / h if c.kind == "state" else x[0] for c, x in zip(self.unknown, values, strict=True)
        )])  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Expressions:
    """The equations of components at an instant of symbols: known, w, qdd and lam.

    rates: dy/dt; rows: those that determine w.
    """

    known: dict[str, SX]
    unknown: tuple[Channel, ...]
    w: SX
    qdd: SX
    lam: SX
    force: SX
    rates: SX
    rows: SX

    @staticmethod
    def of(solution: Motion, rows: int) -> _Expressions:
        model, states, controls = solution.model, _of_kind(solution, "state"), _of_kind(solution, "control")
        parts = ComponentEquations(solution.components, solution.channels, frozenset())
        sizes = {"q": model.nq, "y": _size(states), "u": _size(controls), "slope": _size(controls), "s": 1}
        z = {name: SX.sym(name, sizes.get(name, model.nv)) for name in KNOWN}
        slopes, algebraic = _by_name(controls, z["slope"]), _of_kind(solution, "algebraic")
        channels = _by_name(states, z["y"]) | _by_name(controls, z["u"])
        channels |= {c.name: SX.sym(c.name, c.size) for c in algebraic}
        rates = {c.name: SX.sym(f"rate of {c.name}", c.size) for c in states}
        linear = solution.stats.get("torque") == "linear"
        instant = Instant(
            model, z["q"], z["qd"], s=z["s"], tau=z["tau"], tau_rate=z["tau_rate"] if linear else None,
            values={name: DM(x) for name, x in parameters(solution).items()} | channels, channels=channels,
            rates={c.name: slopes[c.name] for c in controls if c.at_nodes},
        )  # fmt: skip
        force = SX(model.nv, 1) + parts.force(instant)
        instant.qdd, instant.lam = SX.sym("qdd", model.nv), SX.sym("lam", rows)
        given = parts.derivatives(instant)
        instant.rates |= rates | given
        unknown = (*(c for c in states if c.name not in given), *algebraic)
        w = ca.vertcat(SX(0, 1), *(rates[c.name] if c.kind == "state" else channels[c.name] for c in unknown))
        acts = ca.vertcat(instant.qdd, instant.lam) if w.numel() and ca.depends_on(force, w) else SX(0, 1)
        equal = [row for row in _equalities(parts, instant) if ca.depends_on(row, ca.vertcat(w, acts))]
        dy = ca.vertcat(SX(0, 1), *(instant.rates[c.name] for c in states))
        return _Expressions(z, unknown, w, instant.qdd, instant.lam, force, dy, ca.vertcat(SX(0, 1), *equal))


def unknown_equations(solution: Motion) -> str:
    """The reason for which the feet or components of a motion cannot be integrated; "" if they can."""
    loaded = (c.name for phase in solution.phases for c in phase.contacts if isinstance(c, LoadedFoothold))
    if name := next(loaded, ""):
        return f"the wrench of the loaded foothold {name!r} is a variable, and does not follow from the state"
    if not solution.channels and not solution.components:
        return ""
    if not solution.components:
        return (
            "its components are not known, as files do not hold them: give Solution.load(path, "
            "components=problem.components)"
        )
    try:
        found = _Expressions.of(solution, solution.phases[0].lam.shape[1])
    except (KeyError, ValueError, TypeError, RuntimeError) as error:
        return f"its components need what is not known here, such as rates of states or wrenches ({error})"
    if found.rows.numel() == found.w.numel():
        return ""
    return (
        f"{found.rows.numel()} equality rows determine the {found.w.numel()} unknown rates of states and algebraic "
        f"channels of {names_in_message([c.name for c in found.unknown])}, and there must be as many of both"
    )


def check_can_follow(what: str, solution: Motion) -> None:
    """ValueError for a motion that is not finite, or whose components cannot be integrated; what: results, in the
    plural."""
    if not all(np.all(np.isfinite(x)) for phase in solution.phases for x in (phase.t, phase.q, phase.qd, phase.tau)):
        raise ValueError(
            f"{what} need a motion of finite numbers, and this one is not finite ({solution.status}): solve it again"
        )
    if reason := unknown_equations(solution):
        raise ValueError(f"{what} need all states of a motion integrated, and of this one they cannot be: {reason}")


def parameters(solution: Motion) -> dict[str, Array]:
    """Values of the parameters of the problem, free ones too."""
    r = solution.record
    if r is None:
        return {}
    fixed = dict(zip(r.parameters, np.split(r.values, np.cumsum(r.sizes)[:-1]), strict=False))
    free = variables(solution) if solution.iterate else {}
    return fixed | {name: x for name, x in free.items() if "[" not in name}


def _equalities(parts: ComponentEquations, instant: Instant) -> Iterable[SX]:
    """The equality rows of components, one by one, minus their bounds."""
    for _, value, lower, upper in parts.rows(instant):
        low, high = (np.broadcast_to(np.ravel(limit), value.shape[0]) for limit in (lower, upper))
        yield from (value[int(k)] - low[k] for k in np.flatnonzero(low == high))


def _of_kind(solution: Motion, kind: str) -> tuple[Channel, ...]:
    return tuple(c for c in solution.channels if c.kind == kind)


def _size(channels: tuple[Channel, ...]) -> int:
    return sum(channel.size for channel in channels)


def _by_name(channels: tuple[Channel, ...], whole: SX) -> dict[str, SX]:
    parts = split(whole, *(c.size for c in channels)) if channels else []
    return {c.name: part for c, part in zip(channels, parts, strict=True)}
