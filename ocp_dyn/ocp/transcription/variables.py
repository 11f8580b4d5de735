"""The variables of a transcribed problem, and values and expressions that follow from them: model, places, wrenches."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array, Expr, sparse, split
from ...constraints import Constraint
from ...mechanism import Model
from ...mechanism.parameters import MODEL_PARAMETERS, with_columns
from ...symmetry.advance import Advance
from ...symmetry.mirror import REFLECTION, MirrorMap
from ..equations import Equations, equations_of
from ..nlp.program import Program, Slot, Variable
from ..statement.footholds import Foothold, Held, PhaseConstraint, rigid, yaw_rotation
from ..statement.ground.planes import SAME_PLANE
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.objectives import Weighed
from ..statement.periodic import ENTRIES, height_range
from ..statement.phases import Impact, Phase
from ..statement.state.components import Component
from ..statement.statement import Statement
from .tracks import FORCE_SCALE, PhaseVariables, Track, slacks_of, tracks_of

LEAST_SPEED = 0.1
"""Weights that follow the speed stay as they are below this share of the speed that they refer to."""

ROUNDED_DISTANCE = 1e-6
"""Distance [m] within which the horizontal distance of a step is rounded: the root has no slope at zero."""


@dataclass(repr=False)
class Transcription:
    """The program of a problem, and the program's variables and parameters by their meaning."""

    problem: Statement
    program: Program
    mirror: MirrorMap | None
    phases: list[PhaseVariables] = field(default_factory=list)
    places: dict[Foothold, Variable] = field(default_factory=dict)
    """Places (x, y, yaw) of the footholds from which the places of all other footholds follow."""
    images: dict[Foothold, Foothold] = field(default_factory=dict)
    """Maps each foothold of the first phase that already stood to the foothold of the last phase whose (shifted,
    mirrored) place it repeats."""
    standing: dict[Foothold | PhaseConstraint, Foothold | PhaseConstraint] = field(default_factory=dict)
    """Maps each foothold and constraint of the first phase that was held before the start to its image in the last
    phase."""
    impulses: list[Variable | None] = field(default_factory=list)
    """Impulse of every transition, None without an impact; the transition that closes the period is last."""
    step: dict[str, Slot] = field(default_factory=dict)
    """Entries of the step of a periodic motion, "step_length", "sideways", "rise" and "turn": those that can be other
    than 0 and are not in `fixed`; "step_length" always."""
    fixed: dict[str, float] = field(default_factory=dict)
    """Entries of the step that planes of footholds determine."""
    speed: Slot | None = None
    slots: dict[str, Slot] = field(default_factory=dict)
    """The problem's parameters, by name."""
    weights: dict[str, Slot] = field(default_factory=dict)
    """The weights of costs, of all but those that are zero by a number, by the names of their parameters."""
    split: tuple[Component, ...] = ()
    """The components whose forces are in blocks of their own (`local_blocks`)."""
    bodies_apart: bool = False
    """Whether inverse dynamics are too."""
    means: dict[int, Any] = field(default_factory=dict)
    """With dependent joints: functions for accelerations and forces of a solution, by phase, made when first needed."""

    def __repr__(self) -> str:
        return (
            f"Transcription of a problem with {self.program.size} variables, {len(self.program.blocks)} kinds of blocks"
        )

    @property
    def step_length(self) -> Slot | None:
        """The step length, None if the motion is not periodic."""
        return self.step.get("step_length")


def add_variables(transcription: Transcription) -> None:
    """Allocates all variables: places, durations, the tracks of the phases, impulses."""
    problem, program = transcription.problem, transcription.program
    _find_images(transcription)
    _add_parameters(transcription)
    for foothold in dict.fromkeys(f.root for f in problem.footholds if isinstance(f, Foothold)):
        if foothold not in transcription.images:
            low, high = foothold.bounds.T
            transcription.places[foothold] = program.variable(
                f"place of {foothold.name}", 3, low, high, (low + high) / 2
            )
    for p, phase in enumerate(problem.phases):
        low, high = phase.duration_bounds
        shared = phase.shared_duration and transcription.slots[phase.shared_duration.name]
        duration = shared or program.variable(f"duration of {phase.name}", 1, low, high, (low + high) / 2)
        transcription.phases.append(PhaseVariables(duration))
        _add_tracks(transcription, p, phase, tracks_of(problem, phase, transcription.mirror))
    closing = [problem.periodic.transition] if problem.periodic else []
    for p, transition in enumerate([*problem.resolved.transitions, *closing]):
        size = sum(held.size for held in rigid(problem.phases[(p + 1) % len(problem.phases)].held))
        impact = isinstance(transition, Impact) and size > 0
        transcription.impulses.append(
            program.variable(f"impulse {p}", size, -np.inf, np.inf, 0.0, FORCE_SCALE) if impact else None
        )
    for p, phase in enumerate(problem.phases):
        _add_tracks(transcription, p, phase, slacks_of(problem, phase))


def _add_tracks(transcription: Transcription, p: int, phase: Phase, tracks: Iterable[Track]) -> None:
    """Adds the variables of some tracks of phase p; its first node shares those of the last node of the phase before
    that the transition leaves as they are."""
    problem, program, found = transcription.problem, transcription.program, transcription.phases[p]
    tracks = list(tracks)
    for track in tracks:
        found.tracks[track.name], found.variables[track.name] = track, []
    transition = problem.resolved.transitions[p - 1] if p else None
    for k in range(phase.grid.count + 1):
        for track in tracks:
            if p and k == 0 and isinstance(transition, track.shared):
                found[track.name].append(transcription.phases[p - 1][track.name][-1])
            elif k < phase.grid.count or track.nodes:
                name = f"{track.title} {phase.name}[{k}]"
                bounds = track.lower, track.upper, track.start, track.scale
                found[track.name].append(program.variable(name, track.size, *bounds))


def _add_parameters(transcription: Transcription) -> None:
    """Adds the problem's parameters, step length and speed of its period, and weights; free parameters become
    variables."""
    program, periodic = transcription.program, transcription.problem.periodic
    for p in transcription.problem.resolved.parameters:
        if p.free:
            low, high = p.bounds
            transcription.slots[p.name] = program.variable(p.name, p.size, low, high, np.clip(p.value, low, high))
        else:
            transcription.slots[p.name] = program.parameter(p.name, p.size, p.value)
    if periodic is not None:
        _add_step(transcription)
    for weight in transcription.problem.weights.entries:
        if weight.parameter:
            known = transcription.slots.get(weight.parameter)
            transcription.weights[weight.parameter] = known or program.parameter(weight.parameter, 1, weight.value)


def _add_step(transcription: Transcription) -> None:
    """Adds step length and speed of the period."""
    program, periodic = transcription.program, transcription.problem.periodic
    assert periodic is not None
    for name in ENTRIES:
        low, high = periodic.advance.bounds(name)
        if name == "rise" and low == high and transcription.standing:
            transcription.fixed[name] = low  # the planes of the feet that stand would not follow another value
        elif low == high and (low or name == "step_length"):
            transcription.step[name] = program.parameter(name, 1, low)
        elif low < high:
            usual = 0.5 if name == "step_length" else (low + high) / 2
            transcription.step[name] = program.variable(name, 1, low, high, np.clip(usual, low, high))
    if periodic.speed is not None:
        transcription.speed = program.parameter("speed", 1, periodic.speed)


def number(transcription: Transcription, slot: Slot, x: Array) -> Array:
    """The value of a variable at a point x of the program, or the current value of a parameter."""
    if isinstance(slot, Variable):
        return np.asarray(x[slot.index] * slot.scale)
    return np.asarray(transcription.program.values[slot.index])


def weight_slots(transcription: Transcription, terms: Iterable[Any]) -> dict[str, Slot]:
    """The slots that the blocks of these costs have for their weights, their own parameters, and the speed that weights
    follow."""
    terms = list(terms)
    names = (transcription.problem.weights.parameter_of(term) for term in terms)
    own = (p.name for term in terms if isinstance(term, Weighed) for p in term.parameters.values())
    found = {name: transcription.weights[name] for name in names if name}
    if transcription.speed is not None and any(getattr(term, "by_speed", None) for term in terms):
        found["speed"] = transcription.speed
    return found | {name: transcription.slots[name] for name in own}


def weight_of(transcription: Transcription, term: Any, z: Mapping[str, Expr]) -> Any:
    """The weight of a cost: a symbol of the block, or the number of a cost that is switched off."""
    name, by_speed = transcription.problem.weights.parameter_of(term), getattr(term, "by_speed", None)
    weight = z[name] if name else term.weight
    if by_speed is None or transcription.speed is None:
        return weight
    reference, exponent = by_speed
    return weight * ca.fmax(ca.fabs(z["speed"]) / reference, LEAST_SPEED) ** exponent


STATES = {"q": ("qd", "qd:plus"), "q+": ("qd+",), "q:end": ("qd:end",), "q:before": ("qd:before",)}
"""Names of configurations in blocks, each with the names of the velocities that belong to it. A colon is in no name of
a channel or a parameter."""


def completed(transcription: Transcription, z: dict[str, SX]) -> dict[str, SX]:
    """The expressions of a block's slots, with all entries of the states: dependent ones follow from independent
    ones."""
    coordinates = transcription.problem.coordinates
    if not coordinates.members:
        return z
    found = dict(z)
    for q, rates in STATES.items():
        if q in z:
            found[q] = coordinates.full_q(z[q])
            for rate in rates:
                if rate in z:
                    found[rate] = coordinates.complete(found[q], coordinates.spread(z[rate]))[1]
    return found


def state_of(transcription: Transcription, phase: PhaseVariables, k: int, x: Array) -> tuple[Array, Array]:
    """(q, qd) of node k of a phase, all entries, at a point x of the program."""
    independent = number(transcription, phase["q"][k], x), number(transcription, phase["qd"][k], x)
    if not transcription.problem.dependent:
        return independent
    full, rate = transcription.problem.coordinates.states(*independent)
    return np.array(full.full()).ravel(), np.array(rate.full()).ravel()


def model_of(transcription: Transcription, z: Mapping[str, Expr]) -> Model:
    """The problem's model, with the values of the problem's parameters that are model parameters, or the slope.

    z: values or expressions of the parameters, by name.
    """
    model = transcription.problem.model
    values = {name: z[name] for name in transcription.slots if name.partition(":")[0] in MODEL_PARAMETERS}
    if "slope" in transcription.slots:
        g = float(np.linalg.norm(model.gravity))
        values["gravity"] = ca.vertcat(-g * ca.sin(z["slope"]), 0, -g * ca.cos(z["slope"]))
    return with_columns(model, values) if values else model


def equations_at(transcription: Transcription, z: Mapping[str, Expr]) -> Equations:
    """The problem's equations of motion, for the model with the values z of its parameters."""
    return equations_of(transcription.problem).of(model_of(transcription, z))


def _find_images(transcription: Transcription) -> None:
    """Finds the footholds of the first phase that are images of footholds of the last phase: these feet already stood
    before the start."""
    if transcription.problem.periodic is None:
        return
    first, last = transcription.problem.phases[0], transcription.problem.phases[-1]
    transcription.standing |= {
        held: held for held in first.held if isinstance(held, PhaseConstraint) and held in last.held
    }
    placed = [[f for f in phase.footholds if isinstance(f, Foothold)] for phase in (first, last)]
    feet = {f: g for f in placed[0] for g in placed[1] if _is_image(transcription, f, g)}
    for f, g in feet.items():
        transcription.standing[f] = g
        if f.of is not None and g.of is None:
            raise ValueError(
                f"Foothold {f.name!r} of the first phase is the image of {g.name!r} and derived from {f.of.name!r}: "
                f"{g.name!r} must be derived from a foothold too (of=...)"
            )
        if f.root is not g.root:
            _check_image(transcription, f, g)
        transcription.images[f if f.of is None else f.root] = g if f.of is None else g.root
    for g in transcription.images.values():
        if g.root in transcription.images:
            raise ValueError(
                f"Foothold {g.name!r} stands in the first and in the last phase, but a periodic motion moves it "
                "on by the step length: give the last phase another Foothold, after a phase in which the foot is lifted"
            )


def _is_image(transcription: Transcription, f: Foothold, g: Foothold) -> bool:
    """Whether f and g are the same contact of the model (in a mirrored motion: mirror images of each other).

    Contacts are compared by kind, body and point, because names of frames may differ.
    """
    body, _, place = f.level(transcription.problem.model)
    other, _, image = g.level(transcription.problem.model)
    if transcription.mirror is not None:
        other, image = transcription.mirror.point(other, image)
    return f.kind == g.kind and body == other and np.allclose(place, image, atol=1e-6)


def _check_image(transcription: Transcription, f: Foothold, g: Foothold) -> None:
    """Checks that the plane of g, moved back by a step, can be the plane of f."""
    periodic = transcription.problem.periodic
    assert periodic is not None
    low, high = height_range(periodic.advance, transcription.mirror is not None, f.plane, g.plane)
    if np.isnan(low):
        reason = f"their planes are not parallel then: {g.plane} and {f.plane}"
    elif low > SAME_PLANE or high < -SAME_PLANE:
        reason = f"its plane {g.plane} is then {min(low, high, key=abs):+.4g} m above the plane {f.plane}"
    else:
        return
    raise ValueError(
        f"Foothold {g.name!r} of the last phase is, one step back, foothold {f.name!r} of the first, and {reason}: "
        "give the step the rise from one plane to the next, Periodic(step=ocp.Step(rise=...)), or change the planes"
    )


def _owner(transcription: Transcription, f: Foothold) -> Variable:
    """The variable from which the place of a foothold follows."""
    if f in transcription.images:
        return _owner(transcription, transcription.images[f])
    return transcription.places[f] if f.of is None else _owner(transcription, f.of)


def place_of(transcription: Transcription, f: Foothold, place: Expr, advance: Advance) -> Expr:
    """(x, y, yaw) of a foothold, from the `place` of the variable that owns it (see `_owner`).

    It is the place itself, the place plus an offset on the same foot, or the image of a place at the end, moved back.
    """
    if f in transcription.images:
        g, back = transcription.images[f], advance.inverse()
        x, y, yaw = split(place_of(transcription, g, place, advance))
        p, side = g.plane.to_world(ca.vertcat(x, y, type(x)(1, 1))), 1.0
        if transcription.mirror is not None:
            p, side = DM(REFLECTION) @ p, -1.0
        x, y, _ = split(f.plane.pose(DM.eye(3), back.point(p))[1])
        return ca.vertcat(x, y, side * yaw if back.turn is None else side * yaw + back.turn)
    if f.of is None:
        return place
    x, y, yaw = f.offset(transcription.problem.model)
    base = place_of(transcription, f.of, place, advance)
    return base + ca.vertcat((yaw_rotation(base) @ sparse((x, y, 0.0)))[:2], yaw)


def place_value(transcription: Transcription, f: Foothold, x: Array, advance: Advance) -> Array:
    """(x, y, yaw) of a foothold at a point x of the program."""
    owner = _owner(transcription, f)
    return np.array(place_of(transcription, f, DM(x[owner.index] * owner.scale), advance).full()).ravel()


def place_corners(transcription: Transcription, f: Foothold) -> list[Array]:
    """Places (x, y, yaw) of a foothold at the corners of the bounds of the variables on which it depends."""
    owners = [_owner(transcription, f), *(slot for slot in transcription.step.values() if isinstance(slot, Variable))]
    program, x, found = transcription.program, transcription.program.start.copy(), []
    entries = np.concatenate([np.arange(x.size)[owner.index] for owner in owners])
    for corner in itertools.product(*({program.x_lower[k], program.x_upper[k]} for k in entries)):
        x[entries] = corner
        found.append(place_value(transcription, f, x, Advance.of(*advance_value(transcription, x).values())))
    return found


def advance_of(transcription: Transcription, z: Mapping[str, Any]) -> Advance:
    """The rigid motion from one period to the next; z: expressions of the slots `transcription.step`."""
    return Advance.of(*(z.get(name, transcription.fixed.get(name, 0.0)) for name in ENTRIES))


def distance_of(z: Mapping[str, Expr]) -> Expr:
    """The horizontal distance of the step [m]: its length, or with a shift sideways sqrt(length^2 + sideways^2)."""
    if "sideways" not in z:
        return z["step_length"]
    return ca.sqrt(z["step_length"] ** 2 + z["sideways"] ** 2 + ROUNDED_DISTANCE**2)


def moved_by(transcription: Transcription, q: SX, qd: SX) -> list[SX]:
    """The entries of the state that the step from one period to the next changes."""
    step = {name: SX.sym(name) for name in (*transcription.step, *transcription.fixed)}
    moved = advance_of(transcription, step).state(transcription.problem.model, q, qd)
    pairs = [
        (x, y) for old, new in zip((q, qd), moved, strict=True) for x, y in zip(split(old), split(new), strict=True)
    ]
    return [x for x, y in pairs if not ca.is_equal(x, y)]


def advance_value(transcription: Transcription, x: Array) -> dict[str, float]:
    """The entries of the step at a point x of the program, by name: 0 for those that it does not have."""
    found = {name: float(number(transcription, slot, x)[0]) for name, slot in transcription.step.items()}
    return {name: found.get(name, transcription.fixed.get(name, 0.0)) for name in ENTRIES}


def place_slots(transcription: Transcription, feet: tuple[Held, ...]) -> dict[str, Slot]:
    """Slots for the places of the feet, and for the step, on which places of images depend."""
    owners = {f"place:{k}": _owner(transcription, f) for k, f in enumerate(feet) if isinstance(f, Foothold)}
    unique = {owner: key for key, owner in reversed(owners.items())}  # a variable fills one slot of a block only
    slots = {key: owner for owner, key in reversed(unique.items())}
    return slots | transcription.step


def places(transcription: Transcription, feet: tuple[Held, ...], z: dict[str, SX]) -> dict[Foothold, Expr]:
    """Place (x, y, yaw) of every foot; z: expressions of the slots that `place_slots` returns for the same feet."""
    keys = {owner: key for key, owner in place_slots(transcription, feet).items()}
    advance = advance_of(transcription, z)
    return {
        f: place_of(transcription, f, z[keys[_owner(transcription, f)]], advance)
        for f in feet
        if isinstance(f, Foothold)
    }


def wrenches(feet: tuple[Held, ...], lam: Expr, where: dict[Foothold, Expr]) -> dict[Foothold | WrenchFoothold, Expr]:
    """The contact forces lam of a phase as a wrench [moment; force] on every foot; where: the places of the feet.

    The rows of the feet are the first ones of lam.
    """
    standing = [f for f in feet if isinstance(f, (Foothold, WrenchFoothold))]
    sizes = [f.size for f in standing]
    parts = split(lam[: sum(sizes)], *sizes) if standing else []
    pairs = zip(standing, parts, strict=True)
    return {f: f.wrench(part, where[f] if isinstance(f, Foothold) else None) for f, part in pairs}


def full_tau(problem: Statement, tau: Expr) -> Expr:
    """The torques (nv) of all dofs from the torques of the motors; zero for dofs without a motor."""
    full = SX(problem.model.nv, 1)
    full[problem.actuated] = tau
    return full


def contacts(feet: tuple[Held, ...]) -> tuple[Constraint, ...]:
    """The constraint set of a phase: that of all that constraint rows hold."""
    return tuple(f.contact for f in rigid(feet))
