"""Transitions from phase to phase, and to the next period: impacts, jumps, and the feet that are set down.

The law of the impact has two halves. The momentum balance, H (qd+ - qd) = G' Lam, is in `_impact_rows`; the feet of the
next phase are at rest after it, G qd+ = 0, in `add_start`, which also holds the poses of feet that are set down.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
from casadi import SX

from ..._base.checks import call_user, rows_and_bounds
from ..._base.types import Expr
from ...constraints import constraint_jacobian
from ..nlp.program import BlockRows, Slot, Variable
from ..statement.footholds import Foothold, Rigid, rigid
from ..statement.instant import Instant
from ..statement.phases import Continuous, Impact, JumpCondition, Phase, Transition
from .evolution import at_node
from .terms import constrain_path, node_instant
from .variables import (
    Transcription,
    advance_of,
    completed,
    contacts,
    equations_at,
    model_of,
    place_slots,
    places,
    weight_of,
    weight_slots,
    wrenches,
)


def add_start(transcription: Transcription, p: int) -> None:
    """Adds the conditions at the start of a phase that the interval before does not imply: poses of new contacts, and
    zero velocity at them."""
    problem, phase, x = transcription.problem, transcription.problem.phases[p], transcription.phases[p]
    closing = problem.periodic.transition if problem.periodic is not None else None
    transition = problem.resolved.transitions[p - 1] if p else closing
    standing = rigid(phase.held)
    before = {held: _held_before(transcription, p, held) for held in standing}
    stood = tuple(f for f in before.values() if f is not None and f not in phase.held)
    if not standing:
        return

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        model, z = model_of(transcription, z), completed(transcription, z)
        where: dict[Any, Expr] = dict(places(transcription, (*phase.held, *stood), z))
        for held, was in before.items():
            here, there = where.get(held), where.get(was)
            rows.constrain(f"pose of {held.name}", held.touchdown(model, z["q"], here, was, there))
            if isinstance(transition, Continuous | None):
                rate = held.touchdown_rate(model, z["q"], z["qd"], was, there)
                rows.constrain(f"rest of {held.name}", rate)
        if isinstance(transition, Impact):
            rows.constrain("feet at rest", constraint_jacobian(model, contacts(phase.held), z["q"]) @ z["qd"])

    slots = x.state(0) | place_slots(transcription, (*phase.held, *stood)) | transcription.slots
    transcription.program.block(f"start of {phase.name}", slots, body).add(slots)


def _held_before(transcription: Transcription, p: int, held: Rigid) -> Any:
    """The foothold of the same foot, or the same constraint, that was held just before phase p; None if there is
    none."""
    if p == 0:
        return held if held in transcription.standing else None

    def same(other: Rigid) -> bool:
        if isinstance(held, Foothold) and isinstance(other, Foothold):
            return other.root is held.root
        return other == held

    return next(filter(same, rigid(transcription.problem.phases[p - 1].held)), None)


def _impact_rows(
    transcription: Transcription,
    rows: BlockRows,
    phase: Phase,
    transition: Impact,
    q: Expr,
    qd: Expr,
    qd_plus: Expr,
    z: dict[str, SX],
) -> None:
    """Adds the rows and the cost of an impact at q from the velocity qd to qd_plus, at the start of a phase."""
    equations = equations_at(transcription, z)
    model = equations.model
    G = constraint_jacobian(model, contacts(phase.held), q)
    gap = equations.momentum_rows(rows, q, qd_plus - qd) - G.T @ z["Lam"]
    rows.constrain("impact", transcription.problem.coordinates.project(q, gap), scale=10.0)
    here = places(transcription, phase.held, z)
    forces = wrenches(rigid(phase.held), z["Lam"], here)
    channels = at_node(transcription.problem, z)
    instant = Instant(model, q, qd_plus, wrenches=forces, places=here, values=z, impulse=True, channels=channels)
    constrain_path(rows, phase, [term for term in phase.path if term.where == "wrench"], instant)
    if transition.weight:
        rows.cost("Impact", weight_of(transcription, transition, z) * ca.sumsqr(z["Lam"]))


def add_impact(transcription: Transcription, p: int, transition: Impact) -> None:
    """Adds the impact between phase p and the next: both have the same positions, velocities jump."""
    before, after, phase = transcription.phases[p], transcription.phases[p + 1], transcription.problem.phases[p + 1]
    impulse = transcription.impulses[p]
    slots: dict[str, Slot] = {**after.state(0), "qd": before["qd"][-1], "qd:plus": after["qd"][0]}
    slots |= place_slots(transcription, phase.held)
    if impulse is not None:
        slots |= transcription.slots | {"Lam": impulse} | weight_slots(transcription, [transition])

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        if impulse is None:
            rows.constrain("velocity", z["qd:plus"] - z["qd"])
        else:
            z = completed(transcription, z)
            _impact_rows(transcription, rows, phase, transition, z["q"], z["qd"], z["qd:plus"], z)

    transcription.program.block(f"impact to {phase.name}", slots, body).add(slots)


def add_jump(transcription: Transcription, p: int, transition: JumpCondition) -> None:
    """Adds a user-defined transition between phase p and the next."""
    before, after = transcription.phases[p], transcription.phases[p + 1]
    slots: dict[str, Slot] = {f"{name}:before": slot for name, slot in before.state(-1).items()}
    slots |= after.state(0) | transcription.slots

    def body(z: dict[str, SX], rows: BlockRows) -> None:
        z = completed(transcription, z)
        end = node_instant(transcription, z, 1.0, ":before")
        _jump_rows(rows, transition, end, node_instant(transcription, z, 0.0))

    name = f"{transition.name} to {transcription.problem.phases[p + 1].name}"
    transcription.program.block(name, slots, body).add(slots)


def _jump_rows(rows: BlockRows, transition: JumpCondition, end: Instant, start: Instant) -> None:
    what = f"Jump {transition.name!r}"
    condition = call_user(what, transition.rows, end, start, values=start.values)
    rows.constrain(transition.name, *rows_and_bounds(condition, what))


def close_period(transcription: Transcription, rows: BlockRows, transition: Transition, z: dict[str, SX]) -> None:
    """Constrains the first state to the image of the last: mirrored if the motion is, moved back by the step, and after
    the transition that closes the period."""
    model = transcription.problem.model
    q, qd = z["q:end"], z["qd:end"]
    if transcription.mirror is not None:
        q, qd = transcription.mirror.q(q), transcription.mirror.qd(qd)
    q, qd = advance_of(transcription, z).inverse().state(model, q, qd)
    channels = at_node(transcription.problem, z, ":end")
    if transcription.mirror is not None:
        images = {c.name: c.image(transcription.mirror.images) for c in transcription.problem.parts.channels}
        channels = {name: images[name] @ value for name, value in channels.items()}
    if isinstance(transition, JumpCondition):
        here = model_of(transcription, z)
        end = Instant(here, q, qd, s=1.0, values=z | channels, channels=channels)
        _jump_rows(rows, transition, end, node_instant(transcription, z, 0.0))
        return
    for c in transcription.problem.parts.channels:
        if c.at_nodes and c.periodic:
            rows.constrain(f"periodic {c.name}", z[c.name] - channels[c.name], scale=c.scale)
    chosen = transcription.problem.coordinates
    rows.constrain("periodic position", model.difference(q, z["q"])[chosen.qd])
    if isinstance(transition, Continuous) or "Lam" not in z:
        rows.constrain("periodic velocity", (z["qd"] - qd)[chosen.qd])
    else:
        qd = chosen.complete(z["q"], qd)[1]
        _impact_rows(transcription, rows, transcription.problem.phases[0], transition, z["q"], qd, z["qd"], z)


def stay_on_planes(transcription: Transcription, rows: BlockRows, z: dict[str, SX]) -> None:
    """Constrains a free step to bring the planes of the last feet to those of the first ones, their images."""
    back, seen = advance_of(transcription, z).inverse(), []
    for f, g in transcription.standing.items():
        if not isinstance(f, Foothold) or not isinstance(g, Foothold) or (f.plane, g.plane) in seen:
            continue
        seen.append((f.plane, g.plane))
        height = g.plane.above(f.plane, transcription.mirror is not None, back)
        free = [z[name] for name, slot in transcription.step.items() if isinstance(slot, Variable)]
        if any(ca.depends_on(height, x) for x in free):
            rows.constrain("step from plane to plane", height)
