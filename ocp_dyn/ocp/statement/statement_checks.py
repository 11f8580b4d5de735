"""Checks of a whole statement: names of frames and joints, looked up in its model; costs of rates that cost nothing.

A statement moves to another model by `dataclasses.replace(problem, model=other)`: it needs only that the other model
has frames and joints of the same names. One error lists every name that is missing, with its places in the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import casadi as ca
from casadi import SX

from ..._base.checks import all_known, name_among
from ..._base.types import Expr, names_in_message, repr_in_message, split
from ...constraints import Baumgarte, Contact, JointCoupling, LockedJoint, Loop, RollingContact
from ...dynamics.kinematics import resolve
from ...mechanism import Model
from ...mechanism.parameters import MODEL_PARAMETERS
from .footholds import Foothold
from .ground.wrench_footholds import WrenchFoothold
from .instant import Instant
from .objectives import RateCost
from .phases import Phase
from .state.components import Component
from .values.parameters import Parameter

PLACES_SHOWN = 3
"""Largest number of places that a message lists for one missing name."""

PER_DOF = "(one per dof)"
"""Part of the messages about values of which there must be one per dof."""

FRAMES_OF: tuple[tuple[type, tuple[str, ...]], ...] = (
    (Contact, ("body",)),
    (RollingContact, ("body",)),
    (Loop, ("predecessor", "successor")),
)
"""Attributes of constraints that hold a frame or the name of one."""

JOINTS_OF: tuple[tuple[type, tuple[str, ...]], ...] = ((JointCoupling, ("joint", "other")), (LockedJoint, ("joint",)))
"""Attributes of constraints that hold the name of a joint."""


def check_names(
    model: Model, phases: Sequence[Phase], unactuated: Sequence[str], parameters: Sequence[Parameter]
) -> None:
    """Looks up the names that footholds, constraints, terms, `unactuated` and parameters give.

    KeyError for names that the model does not have, all of them at once. ValueError if all names are there, but a
    foothold or a constraint holds a frame of another model, or sizes do not fit the model.
    """
    missing: dict[str, list[str]] = {}
    wrong: dict[str, list[str]] = {}
    for place, check in _checks(model, phases, unactuated, parameters):
        try:
            check()
        except KeyError as error:
            for text in error.args or (repr(error),):
                what, found, fault = f": {text}".partition(": no ")
                where = ": ".join(part for part in (place, what.removeprefix(": ")) if part)
                missing.setdefault(f"no {fault}", []).append(where) if found else missing.setdefault(what, [place])
        except ValueError as error:
            wrong.setdefault(str(error), []).append(place)
    if missing:
        raise KeyError(_message(model, missing))
    if wrong:
        raise ValueError(
            "; ".join(f"{_listed(places)}: {fault}" for fault, places in wrong.items()) + _sizes(model, wrong)
        )


def _sizes(model: Model, faults: Iterable[str]) -> str:
    """Advice for terms that hold one number per dof of another model."""
    if not any(PER_DOF in fault for fault in faults):
        return ""
    return (
        f". The model {repr_in_message(model.name)} has nv = {model.nv}, and numbers per dof fit the model for which "
        "they were made: make these terms anew from this model, or give each one number"
    )


def _message(model: Model, missing: dict[str, list[str]]) -> str:
    """The error about missing names: {"no frame 'x': did you mean 'y'?": places}."""
    if len(missing) == 1:
        (fault, places), *_ = missing.items()
        return f"{_listed(places)}: {fault}"
    faults = [f"{fault.partition('; there are')[0]} ({_listed(places)})" for fault, places in missing.items()]
    return (
        f"{len(faults)} names in this problem do not fit the model {repr_in_message(model.name)}: {'; '.join(faults)}. "
        f"Its frames are: {names_in_message(model.frame_names)}. Its joints are: "
        f"{names_in_message(model.joint_names)}. Use these names in the problem, or build the model with the missing "
        "ones (ModelBuilder.add_frame)"
    )


def _listed(places: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(places))
    rest = f" and {len(distinct) - PLACES_SHOWN} more" if len(distinct) > PLACES_SHOWN else ""
    return ", ".join(distinct[:PLACES_SHOWN]) + rest


def _checks(
    model: Model, phases: Sequence[Phase], unactuated: Sequence[str], parameters: Iterable[Parameter]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Pairs of a place in the statement and a check that raises KeyError or ValueError."""
    feet = tuple(dict.fromkeys(foothold.name for phase in phases for foothold in phase.footholds))
    for phase in phases:
        here = f"phase {repr_in_message(phase.name)}"
        for foothold in phase.footholds:
            if isinstance(foothold, WrenchFoothold):
                for frame in foothold.frames:
                    yield here, partial(_check_frame, model, frame, type(foothold).__name__)
                yield here, partial(foothold.check, model)
            else:
                yield here, partial(_check_frame, model, foothold.contact.body, "Foothold")
        for constraint in phase.constraints:
            yield from ((here, check) for check in _constraint_checks(model, constraint))
        for term in (*phase.path, *phase.objective):
            if term.needs_places:
                yield here, partial(_check_places, phase, term)
            yield here, partial(term.check, model, feet)
    yield "", partial(all_known, unactuated, model.joint_names, "unactuated", "joint")
    for parameter in parameters:
        yield "", partial(_check_target, model, parameter.name)


def _check_frame(model: Model, frame: Any, what: str) -> None:
    """Checks a frame of a contact or loop: a name, or a Frame object of this model."""
    name = frame if isinstance(frame, str) else frame.name
    name_among(name, model.frame_names, what, "frame")
    try:
        resolve(model, frame)
    except ValueError as error:
        raise ValueError(
            f"{what}: {error}; with the name {name!r} in its place the problem fits any model that has it"
        ) from None


def _check_places(phase: Phase, term: Any) -> None:
    """Refuses a term that needs the places of the feet, in a phase with a foothold that has none."""
    soft = [f.name for f in phase.footholds if isinstance(f, WrenchFoothold)]
    if soft:
        raise ValueError(
            f"{type(term).__name__} is about the middle of the places on which feet stand, and the foothold "
            f"{repr_in_message(soft[0])} has no place: use ocp.Foothold, or a term about instant.wrenches"
        )


def _constraint_checks(model: Model, constraint: Any) -> Iterator[Callable[[], Any]]:
    """Checks of the frames and joints of one of the library's constraints; others fail when they are evaluated."""
    while isinstance(constraint, Baumgarte):
        constraint = constraint.constraint
    what = type(constraint).__name__
    for kind, keys in FRAMES_OF:
        for key in keys if isinstance(constraint, kind) else ():
            yield partial(_check_frame, model, getattr(constraint, key), what)
    for kind, keys in JOINTS_OF:
        for key in keys if isinstance(constraint, kind) else ():
            yield partial(name_among, getattr(constraint, key), model.joint_names, what, "joint")


def _check_target(model: Model, parameter: str) -> None:
    """Checks the body, frame or joint after the colon in the name of a model parameter."""
    kind, _, target = parameter.partition(":")
    if kind not in MODEL_PARAMETERS or kind == "gravity":
        return
    names, what = model.body_names, "body"
    if kind in ("payload", "position"):
        names, what = model.frame_names, "frame"
    elif kind == "origin":
        names, what = model.joint_names, "joint"
    name_among(target, names, f"Parameter {repr_in_message(parameter)}", what)


def check_rates(
    model: Model, phases: Sequence[Phase], parameters: Sequence[Parameter], *, linear: bool, periodic: bool
) -> None:
    """ValueError for the cost of a rate in a phase in which it cannot count, whatever the motion: the phase has one
    interval, the quantity one value per interval, and the cost does not count a change into or out of the phase.

    linear: whether torques are linear along the intervals, and so have values at the nodes.
    """
    for p, phase in enumerate(phases):
        if phase.grid.count > 1:
            continue
        into = _continuing(phases[p - 1]) if periodic or p else ()
        leaves = periodic or p < len(phases) - 1
        for term in phase.objective:
            if not isinstance(term, RateCost) or (leaves and term.continues):
                continue
            name = term.name
            if name not in into and _per_interval(term, model, phase, parameters, linear):
                raise ValueError(
                    f"phase {phase.name!r} has one interval, and the quantity of {name!r} one value in it, so its rate "
                    "would cost nothing: give the phase two intervals or more, or leave the term out of this phase"
                )


def check_torque_rates(phases: Sequence[Phase], torque: str, limits: bool) -> None:
    """ValueError for terms that need the rate of the torques in a problem whose torques are constant along intervals,
    or the bounds of the torques in a problem that leaves them out."""
    for phase in phases:
        for term in (*phase.path, *phase.objective):
            if torque != "linear" and term.needs_tau_rate:
                raise ValueError(
                    f"phase {repr_in_message(phase.name)}: {term.name} needs the rate of the torques, and torques that "
                    f'are {torque} along an interval have none: give Problem(torque="linear")'
                )
            if not limits and term.needs_torque_bounds:
                raise ValueError(
                    f"phase {repr_in_message(phase.name)}: {term.name} without strength= needs the bounds of the "
                    "torques, which Problem(limits=False) leaves out: give strength=model.dofs.strength(np.inf, "
                    "directed=True)"
                )


def check_needed_components(phases: Sequence[Phase], components: Sequence[Component]) -> None:
    """ValueError for terms that read a component which the problem does not have, or has with other data."""
    for phase in phases:
        for term in (*phase.path, *phase.objective):
            needed = term.needs_component
            if needed is not None and needed not in components:
                raise ValueError(
                    f"phase {repr_in_message(phase.name)}: {term.name} reads {repr_in_message(needed)}, but the "
                    f"components of the problem are {repr_in_message(list(components))}: give one object to both"
                )


def _continuing(phase: Phase) -> tuple[str, ...]:
    """Names of the costs of rates that count a change from this phase to the next one."""
    terms = (term for term in phase.objective if isinstance(term, RateCost))
    return tuple(term.name for term in terms if term.continues)


class _Values(dict[str, Any]):
    """The values of an instant by name; of names that are not known yet, a symbol."""

    def __missing__(self, name: str) -> Expr:
        return SX.sym(name)


def _per_interval(term: RateCost, model: Model, phase: Phase, parameters: Sequence[Parameter], linear: bool) -> bool:
    """Whether the quantity of a term depends on accelerations, contact forces, rates of torques or constant torques."""
    instant = free_instant(model, phase, parameters)
    try:
        value = SX(term.quantity(instant))
    except Exception:  # noqa: BLE001, what is wrong with the user's function is told when it is used
        return False
    of_interval = ca.vertcat(instant.qdd, instant.lam, instant.tau_rate, *([] if linear else [instant.tau]))
    return bool(value.numel() and ca.depends_on(value, of_interval))


def free_instant(model: Model, phase: Phase, parameters: Sequence[Parameter]) -> Instant:
    """An instant of a phase whose quantities are symbols, to try the functions of a user."""
    q, qd, s = SX.sym("q", model.nq), SX.sym("qd", model.nv), SX.sym("s")
    qdd, tau, lam = SX.sym("qdd", model.nv), SX.sym("tau", model.nv), SX.sym("lam", sum(f.size for f in phase.held))
    feet = [f for f in phase.held if isinstance(f, (Foothold, WrenchFoothold))]
    places = {f: SX.sym("place", 3) for f in feet if isinstance(f, Foothold)}
    forces = dict(zip(phase.held, split(lam, *(f.size for f in phase.held)) if phase.held else (), strict=True))
    wrenches = {f: f.wrench(forces[f], places[f] if isinstance(f, Foothold) else None) for f in feet}
    values = _Values({p.name: SX.sym(p.name, p.size) for p in parameters})
    rate = SX.sym("tau_rate", model.nv)
    return Instant(model, q, qd, s, qdd, tau, wrenches, places, values, lam=lam, tau_rate=rate)
