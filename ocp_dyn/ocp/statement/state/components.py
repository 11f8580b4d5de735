"""Components: parts of a problem with channels and equations of their own, such as drives, muscles, heat or fatigue."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from ...._base.checks import call_user, expression, name_among, rows_and_bounds
from ...._base.extensible import Extensible, check_members, derive
from ...._base.types import Expr, names_in_message, repr_in_message, sequence
from ....mechanism import Model
from ..instant import Instant
from ..path_constraints import Bounded
from .channels import MECHANICS, Channel, distinct


class LocalForce(NamedTuple):
    """A term of the force of a component that depends on few coordinates and acts on these alone, such as that of one
    muscle.

    entries, dofs: of q and of qd, one for one; rates of these entries of q are these of qd. channels: pairs of the name
    of a channel and an entry of it; values: names of parameters of the problem. f: (q, qd, channels..., values...) ->
    force, with the chosen entries alone, columns. derivatives: makes the Function of its derivatives; None: CasADi
    differentiates f. signs: 1 or -1 by dof, () for ones: q, qd and the force are those of f times these signs, so that
    mirror images share one f.

    A component returns such terms from `local_forces(model)`, in place of a `force`: the derivatives of each are then
    as small as the term, one Function serves all stages, and equal Functions are differentiated once.

    >>> q, qd = ca.SX.sym("q"), ca.SX.sym("qd")
    >>> spring = ocp.LocalForce((0,), (0,), (), (), ca.Function("spring", [q, qd], [-40 * q - qd]))
    >>> spring.at(ocp.Instant(wheel, ca.DM(0.5), ca.DM(2.0)))
    SX(-22)
    """

    entries: tuple[int, ...]
    dofs: tuple[int, ...]
    channels: tuple[tuple[str, int], ...]
    values: tuple[str, ...]
    f: ca.Function
    derivatives: Callable[[], ca.Function] | None = None
    signs: tuple[float, ...] = ()

    def at(self, instant: Instant) -> Expr:
        """The force on its dofs at an instant."""
        return self.by(self.f, instant)

    def by(self, call: Callable[..., Expr], instant: Instant) -> Expr:
        """The force on its dofs at an instant; call: (q, qd, channels..., values...) -> the value of f."""
        channels = (instant[name][k] for name, k in self.channels)
        signs = DM(self.signs or [1.0] * len(self.dofs))
        state = signs * SX(instant.q)[list(self.entries)], signs * SX(instant.qd)[list(self.dofs)]
        return signs * call(*state, *channels, *(instant.values[name] for name in self.values))

    def check(self, model: Model, channels: Sequence[Channel], what: str) -> None:
        """Raises TypeError, KeyError or ValueError for a term that does not fit a model and the channels."""
        n, sizes = len(self.dofs), {channel.name: channel.size for channel in channels}
        for name, numbers, size in (("entries", self.entries, model.nq), ("dofs", self.dofs, model.nv)):
            if len(numbers) != n or not all(isinstance(k, (int, np.integer)) and 0 <= k < size for k in numbers):
                raise ValueError(
                    f"{what}: {name} must be {n} whole numbers from 0 to {size - 1}, one for each of dofs, got "
                    f"{repr_in_message(numbers)}"
                )
        for name, k in self.channels:
            name_among(name, sizes, what, "channel")
            if not 0 <= k < sizes[name]:
                raise ValueError(f"{what}: the channel {name!r} has {sizes[name]} entries, and none of number {k}")
        if not isinstance(self.f, ca.Function):
            raise TypeError(f"{what}: f must be a casadi.Function, got {repr_in_message(self.f)}")
        wanted = [n, n, *[1] * (len(self.channels) + len(self.values))], [n]
        found = [self.f.numel_in(k) for k in range(self.f.n_in())], [self.f.numel_out(k) for k in range(self.f.n_out())]
        if found != wanted:
            raise ValueError(
                f"{what}: f must take (q, qd, channels..., values...) of {wanted[0]} entries and give a force of {n}, "
                f"got {self.f}"
            )


LocalValue = Callable[[LocalForce, Instant], Expr]
"""(part, instant) -> its force on its dofs."""


class Component(Extensible):
    """A part of a problem with channels of its own: `Problem(components=[...])`. It holds in all phases.

    A component declares its `channels`. The derivatives of its states are given by `derivatives`, or determined by
    `rows` that contain them, `instant.rates["fiber"]`. `rows` also determine algebraic channels, and limit quantities
    of the instant. `force` is added to the torques in the equations of motion.

    The instant holds q, qd, tau and the channels, `instant["heat"]`, and the rates of controls with a rate,
    `instant.rates["u"]`; in `derivatives` and `rows` also qdd, lam and wrenches, which follow from `force`; in `rows`
    the rates of states too. `instant.values` holds the parameters of the problem, and `step_length` and the other
    entries of the step of a periodic motion.

    A component is data, as costs and path constraints are: a frozen dataclass. All methods but `channels` are optional.

    >>> class Heat(ocp.Component):
    ...     def channels(self, model):
    ...         return [ocp.Channel("heat", labels=model.qd_names, unit="K")]
    ...     def derivatives(self, instant):
    ...         return {"heat": 0.1 * instant.tau**2 - 0.2 * instant["heat"]}
    >>> cold = ocp.Boundary(lambda start, end: (start["heat"], 0, 0), "cold")
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> warm = ocp.Problem(wheel, [push], boundary=[rest, cold], components=[Heat()]).solve(progress=False)
    >>> round(float(warm["heat"][-1, 0]), 2)
    1.09
    """

    @abstractmethod
    def channels(self, model: Model) -> Sequence[Channel]:
        """The channels that the component adds to a problem with this model."""

    def derivatives(self, instant: Instant) -> Mapping[str, Expr]:
        """Derivatives by time of states, by name. A state that is missing is determined by `rows`."""
        return {}

    def rows(self, instant: Instant) -> Expr | Bounded:
        """Rows that hold at the stages of all intervals: an expression that is zero, or (expression, lower, upper)."""
        return SX(0, 1)

    def force(self, instant: Instant) -> Expr:
        """Generalized force (nv) [N m, N], which is added to the torques tau in the equations of motion; by default the
        sum of `local_forces`."""
        return _sum(((part, part.at(instant)) for part in self.local_forces(instant.model)), instant.model.nv)

    def local_forces(self, model: Model) -> Sequence[LocalForce]:
        """Terms of the force that depend on few coordinates each. Their derivatives are taken one by one, which is
        faster for many muscles; a component that has some does not override `force`."""
        return ()

    def guess(self, instant: Instant) -> Mapping[str, Any]:
        """First values of states and controls by name, from q and qd of the first guess; others are neutral. From
        another solution also tau, and the channels that it has: these keep their values."""
        return {}

    def driven(self, model: Model) -> Sequence[str]:
        """Names of the joints that need no motor beside the component, for `Problem(muscles=...)`."""
        return ()

    def check(self, model: Model) -> None:
        """Raises KeyError for names, ValueError for sizes that do not fit the model."""

    def findings(self, model: Model) -> Sequence[str]:
        """Sentences for `problem.check()` on what may make a solve difficult, each with a remedy."""
        return ()


class ComponentEquations(NamedTuple):
    """The equations of all components of a problem. explicit: the states whose derivatives are given."""

    components: tuple[Component, ...]
    channels: tuple[Channel, ...]
    explicit: frozenset[str]

    @property
    def driving(self) -> tuple[str, ...]:
        """Names of the components with a force of their own."""
        own = Component.force, Component.local_forces
        return tuple(type(c).__name__ for c in self.components if (type(c).force, type(c).local_forces) != own)

    def force(
        self, instant: Instant, left_out: Sequence[Component] = (), local: LocalValue | None = None
    ) -> Expr:  # fmt: skip
        """Sum of the generalized forces (nv) of all components but those left out, 0 without any; local: makes the
        values of local forces, in place of `LocalForce.at`."""
        chosen = (c for c in self.components if not any(c is one for one in left_out))
        return sum((_force(component, instant, local) for component in chosen), start=0)

    def derivatives(self, instant: Instant) -> dict[str, Expr]:
        """Derivatives of the explicit states."""
        found: dict[str, Expr] = {}
        for component in self.components:
            found |= _derivatives(component, instant, self.channels)
        return found

    def rows(self, instant: Instant) -> list[tuple[str, SX, Any, Any]]:
        """(name, expression, lower, upper) of the rows of every component that has some."""
        found = []
        for component in self.components:
            what, result = _result(component, "rows", instant)
            value, lower, upper = rows_and_bounds(result if _bounded(result) else (result, 0.0, 0.0), what)
            _check_numbers(value, what, [f"row {k}" for k in range(value.numel())])
            if value.numel():
                found.append((type(component).__name__, value, lower, upper))
        return found

    def guess(self, instant: Instant) -> dict[str, Any]:
        """First values at a node, by channel: those of the components, or neutral ones."""
        found: dict[str, Any] = {channel.name: channel.neutral for channel in self.channels}
        for component in self.components:
            what, given = _result(component, "guess", instant)
            for name, value in _mapping(given, what).items():
                channel = _channel(name, self.channels, what)
                column = _sized(expression(value, f"{what}: {name!r}"), channel, what)
                found[name] = DM(column).full().ravel() if column.is_constant() else channel.neutral
        return found


def equations_of(components: Any, model: Model, free: Sequence[Instant]) -> ComponentEquations:
    """The checked components of a problem. free: instants of symbols in all phases, at which their functions are tried.

    TypeError, ValueError and KeyError, with the name of the component, for what does not fit.
    """
    given = tuple(sequence(components, "components must be a list of Components"))
    channels: list[Channel] = []
    for component in given:
        if not isinstance(component, Component):
            advice = (
                f": write {component.__name__}()" if isinstance(component, type) else derive(component, (Component,))
            )
            raise TypeError(f"components must be ocp.Components, got {repr_in_message(component)}{advice}")
        here = type(component).__name__
        check_members(component, f"component {here}")
        component.check(model)
        declared = sequence(component.channels(model), f"component {here}: channels must return a list of ocp.Channel")
        if wrong := [x for x in declared if not isinstance(x, Channel)]:
            raise TypeError(
                f"component {here}: channels must return a list of ocp.Channel, got {repr_in_message(wrong[0])}"
            )
        channels += declared
    for component in given:
        _check_local_forces(component, model, channels)
    made = ComponentEquations(given, distinct(channels), frozenset())
    return _tried(made, [with_symbols(instant, made.channels) for instant in free]) if given else made


def _check_local_forces(component: Component, model: Model, channels: Sequence[Channel]) -> None:
    """Raises TypeError, KeyError or ValueError for terms of a component that do not fit."""
    what = f"component {type(component).__name__}: local_forces"
    for part in sequence(component.local_forces(model), f"{what} must return a list of ocp.LocalForce"):
        if not isinstance(part, LocalForce):
            raise TypeError(f"{what} must return a list of ocp.LocalForce, got {repr_in_message(part)}")
        part.check(model, channels, what)


def _tried(made: ComponentEquations, trials: Sequence[Instant]) -> ComponentEquations:
    """The components, whose functions are tried at an instant of every phase, with their explicit states."""
    found = [made.derivatives(trial) for trial in trials]
    explicit = frozenset(found[0])
    for k, given in enumerate(found):
        if uneven := sorted(explicit.symmetric_difference(given)):
            one, other = ("phase 0", f"phase {k}") if uneven[0] in explicit else (f"phase {k}", "phase 0")
            raise ValueError(
                f"components: derivatives gives that of {uneven[0]!r} in {one} and not in "
                f"{other}: give it in all phases, or determine it by rows in all"
            )
    rows = [ca.vertcat(SX(0, 1), *(row[1] for row in made.rows(trial))) for trial in trials]
    forces = [made.force(replace(trial, qdd=None, lam=None, wrenches={})) for trial in trials]
    used = [ca.vertcat(SX(0, 1), *given.values(), force) for given, force in zip(found, forces, strict=True)]
    for c in made.channels:
        if c.kind == "state" and c.name not in explicit:
            known = any(ca.depends_on(row, trial.rates[c.name]) for row, trial in zip(rows, trials, strict=True))
            remedy = f"return it from derivatives, or use instant.rates[{c.name!r}] in rows"
        elif c.kind == "algebraic":  # forces may act on the accelerations that rows contain
            known = any(
                row.numel() and ca.depends_on(ca.vertcat(row, more), trial.channels[c.name])
                for row, more, trial in zip(rows, used, trials, strict=True)
            )
            remedy = f"use instant[{c.name!r}] in rows, or make it a control"
        else:
            continue
        if not known:
            what = "the derivative of the state" if c.kind == "state" else "the algebraic channel"
            raise ValueError(f"components: no row determines {what} {c.name!r}: {remedy}")
    return made._replace(explicit=explicit)


def _bounded(result: Any) -> bool:
    """Whether a result of `rows` is (expression, lower, upper); a list of three expressions is three rows."""
    if isinstance(result, list) and len(result) == 3:
        return isinstance(result[0], SX) and not any(isinstance(limit, SX) for limit in result[1:])
    return isinstance(result, tuple)


def with_symbols(free: Instant, channels: Iterable[Channel]) -> Instant:
    """The instant with a symbol for every channel and every rate."""
    values = {channel.name: SX.sym(channel.name, channel.size) for channel in channels}
    rates = {c.name: SX.sym(f"rate of {c.name}", c.size) for c in channels if c.at_nodes}
    return replace(free, channels=values, rates=rates, values=free.values | values)


def _result(component: Component, method: str, instant: Instant) -> tuple[str, Any]:
    """Name and result of a method of a component."""
    what = f"component {type(component).__name__}: {method}"
    try:
        return what, call_user(what, getattr(component, method), instant, values=instant.values)
    except ValueError as error:
        if "NoneType" not in str(error):
            raise
        unknown = [name for name in (*MECHANICS, "tau_rate") if getattr(instant, name) is None]
        raise ValueError(f"{error}. Here instant.{' and instant.'.join(unknown)} is None: see ocp.Component") from error


def _check_numbers(column: SX, what: str, names: Sequence[str]) -> None:
    """ValueError for NaN inside the expressions of a column; names: those of its entries."""
    if not _has_nan(column):  # all entries at once: muscles have large graphs
        return
    if wrong := [name for name, entry in zip(names, ca.vertsplit(column), strict=True) if _has_nan(entry)]:
        raise ValueError(f"{what}: {names_in_message(wrong)} contains NaN: look for a number that is not known there")


def _has_nan(entry: SX) -> bool:
    f = ca.Function("f", ca.symvar(entry), [entry])
    constants = [f.instruction_constant(k) for k in range(f.n_instructions()) if f.instruction_id(k) == ca.OP_CONST]
    return bool(np.any(np.isnan(constants)))


def _mapping(given: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} must return a dict by names of channels, got {repr_in_message(given)}")
    return given


def _channel(name: Any, channels: Sequence[Channel], what: str) -> Channel:
    name_among(name, [channel.name for channel in channels], what, "channel")
    return next(channel for channel in channels if channel.name == name)


def _sized(column: SX, channel: Channel, what: str) -> SX:
    if column.numel() == 1 and channel.size > 1:
        column = ca.repmat(column, channel.size)
    if column.shape != (channel.size, 1):
        raise ValueError(f"{what}: {channel.name!r} has {channel.size} entries, got the shape {column.shape}")
    return column


def _derivatives(component: Component, instant: Instant, channels: Sequence[Channel]) -> dict[str, Expr]:
    own, found = [c for c in component.channels(instant.model) if c.kind == "state"], {}
    what, given = _result(component, "derivatives", instant)
    for name, value in _mapping(given, what).items():
        channel = _channel(name, own, what)
        found[name] = _sized(expression(value, f"{what}: {name!r}"), channel, what)
        _check_numbers(found[name], what, channel.names())
    return found


def _sum(parts: Iterable[tuple[LocalForce, Expr]], nv: int) -> SX:
    """Sum (nv) of local forces and their values."""
    total = SX(nv, 1)
    for part, value in parts:
        total[list(part.dofs)] += value
    return total


def _force(component: Component, instant: Instant, local: LocalValue | None) -> SX:
    nv = instant.model.nv
    if local is not None and (parts := component.local_forces(instant.model)):
        return _sum(((part, local(part, instant)) for part in parts), nv)
    what, result = _result(component, "force", instant)
    found = expression(result, what)
    if found.numel() == 1 and found.is_zero():
        return SX(nv, 1)
    if found.shape != (nv, 1):
        raise ValueError(f"{what} must return one number per dof, nv = {nv}, got the shape {found.shape}")
    _check_numbers(found, what, instant.model.qd_names)
    return ca.sparsify(found)


def check_names(equations: ComponentEquations, taken: Iterable[str]) -> None:
    """ValueError for a channel with the name of a parameter of the problem."""
    names = {*taken, *MECHANICS}
    for channel in equations.channels:
        if channel.name in names:
            raise ValueError(
                f"Channel {channel.name!r} has the name of a parameter of the problem: give one of them another name"
            )
