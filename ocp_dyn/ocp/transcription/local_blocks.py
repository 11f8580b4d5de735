"""Forces of components that depend on few coordinates each, as blocks of their own.

The equations of motion at a stage are a sum, ID(q, qd, qdd) - tau - G' lam - sum F_j. A term F_j that depends on few
coordinates, such as the pull of a muscle, is a block whose rows are added to those of its interval: its derivatives are
small functions, one for all stages and phases, where those of the sum would be found anew for every kind of interval.
ID is such a block then, too, one for each stage of the scheme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.types import Expr
from ...integrators import stage_states
from ...mechanism.parameters import MODEL_PARAMETERS
from ..equations import equations_of
from ..nlp.program import Block, BlockRows, Place, Slot, Span, Variable
from ..statement.instant import Instant
from ..statement.phases import Phase
from ..statement.state.channels import Channel
from ..statement.state.components import Component, LocalForce
from .grid_numbers import PER_PHASE, numbers
from .tracks import FORCE_SCALE, after, rate_of
from .variables import Transcription


def with_local_forces(transcription: Transcription) -> tuple[Component, ...]:
    """The components whose forces become blocks: those with local forces, where the equations of motion are rows of a
    model of numbers at stages of whole intervals."""
    problem = transcription.problem
    kinds = {name.partition(":")[0] for name in transcription.slots}
    varies = kinds & set(MODEL_PARAMETERS) - {"gravity"}
    if not problem.collocated or problem.form != "implicit" or problem.steps > 1 or problem.dependent or varies:
        return ()
    return tuple(c for c in problem.parts.components if c.local_forces(problem.model))


def add_local_forces(transcription: Transcription, intervals: Sequence[Block]) -> None:
    """Adds the blocks of local forces; intervals: the block of every phase, to whose rows they are added."""
    problem, kinds = transcription.problem, dict[Any, Block]()
    parts = [part for c in transcription.split for part in c.local_forces(problem.model)]
    for part in parts:
        for p, phase in enumerate(problem.phases):
            stages = [_Stage(transcription, part, p, stage) for stage in range(problem.scheme.stages)]
            for k in range(phase.grid.count):
                inside: dict[str, Slot] = {}
                for stage in stages:
                    slots = inside if stage.inside and inside else stage.slots(k)
                    inside = slots if stage.inside else inside
                    key = id(part.f), *_shape(slots)
                    block = kinds.get(key) or kinds.setdefault(key, stage.block(slots))
                    block.add(slots, Span.interval(p, k), **stage.numbers(k))
                    block.onto.append(Place(intervals[p], k, "dynamics", stage.rows))
    transcription.program.blocks += kinds.values()
    if transcription.bodies_apart:
        _add_bodies(transcription, intervals)


def _add_bodies(transcription: Transcription, intervals: Sequence[Block]) -> None:
    """Adds ID(q, qd, qdd) at the stages."""
    problem, kinds = transcription.problem, dict[Any, Block]()
    nv = problem.model.nv
    whole = LocalForce(tuple(range(problem.model.nq)), tuple(range(nv)), (), (), ca.Function("bodies", [], []))
    for p, phase in enumerate(problem.phases):
        for number in range(problem.scheme.stages):
            stage = _Stage(transcription, whole, p, number)
            for k in range(phase.grid.count):
                slots = stage.slots(k)
                if not stage.inside:
                    qdd = transcription.phases[p].interval(k)["qdd"]
                    slots["qdd"] = _entries(qdd, [nv * number + dof for dof in range(nv)])
                constants = {name: x for name, x in stage.numbers(k).items() if name in ("n", "h")}
                key = number, *_shape(slots)
                if key not in kinds:
                    body = partial(_write_bodies, transcription, number if stage.inside else None)
                    kinds[key] = Block("bodies", slots, body, dict.fromkeys(constants, 1))
                kinds[key].add(slots, Span.interval(p, k), **constants)
                kinds[key].onto.append(Place(intervals[p], k, "dynamics", stage.rows))
    transcription.program.blocks += kinds.values()


def _write_bodies(transcription: Transcription, stage: int | None, z: dict[str, SX], rows: BlockRows) -> None:
    """The body of a block: ID at a stage, None for one at a node, as the rows to which it is added."""
    problem, q, qd, qdd = transcription.problem, z["q"], z["qd"], z["qdd"]
    if stage is not None:
        h, columns = z["h"] if "h" in z else z["T"] / z["n"], ca.horzsplit(ca.reshape(qdd, problem.model.nv, -1))
        states, _ = stage_states(problem.model, problem.scheme, q, qd, columns, h)
        (q, qd), qdd = states[stage], columns[stage]
    inertial = equations_of(problem).force_rows(rows, rows.inner(q), rows.inner(qd), qdd)
    rows.constrain("dynamics", inertial, scale=FORCE_SCALE)


def _shape(slots: dict[str, Slot]) -> Iterator[Any]:
    """Names, sizes and scales of slots."""
    return ((name, s.size, getattr(s, "scale", s.index[:0]).tobytes()) for name, s in slots.items())


class _Stage:
    """One local force at one stage of the intervals of a phase: at a node, or inside the interval."""

    def __init__(self, transcription: Transcription, part: LocalForce, p: int, stage: int) -> None:
        self.transcription, self.part, self.stage = transcription, part, stage
        problem = self.problem = transcription.problem
        self.phase: Phase = problem.phases[p]
        self.variables, method = transcription.phases[p], problem.scheme
        self.last = method.ends_at_stage and stage == method.stages - 1
        self.inside = bool(np.any(method.A[stage])) and not self.last and not method.semi_implicit
        self.channels = {c.name: c for c in problem.parts.channels}
        self.rows = stage * problem.model.nv + np.array(part.dofs, dtype=int)
        self.signs = np.array(part.signs or [1.0] * len(part.dofs))
        duration, longest = self.phase.duration_bounds
        self.duration = duration if duration == longest and self.phase.shared_duration is None else None

    def slots(self, k: int) -> dict[str, Slot]:
        """The variables and parameters of interval k that the force depends on."""
        part, known = self.part, self.variables.interval(k)
        stages, nv = self.problem.scheme.stages, self.problem.model.nv
        q, qd = (after(name) if self.last else name for name in ("q", "qd"))
        found: dict[str, Slot] = {"q": _entries(known[q], part.entries), "qd": _entries(known[qd], part.dofs)}
        if self.inside:
            found["qdd"] = _entries(known["qdd"], [nv * i + dof for i in range(stages) for dof in part.dofs])
            found |= {} if self.duration is not None else {"T": known["T"]}
        for number, (name, entry) in enumerate(part.channels):
            for title, slot, entries in self._parts(self.channels[name], entry):
                found[f"{title}:{number}"] = _entries(known[slot], entries)
        return found | {f"value:{name}": self.transcription.slots[name] for name in part.values}

    def _parts(self, c: Channel, entry: int) -> Iterator[tuple[str, str, list[int]]]:
        """Title, slot and entries of what the value of a channel depends on."""
        stages = self.problem.scheme.stages
        if c.kind == "algebraic":
            yield "one", c.name, [self.stage * c.size + entry]
        elif self.inside and c.kind == "state":
            yield "one", c.name, [entry]
            yield "rates", rate_of(c.name), [i * c.size + entry for i in range(stages)]
        elif self.inside and c.at_nodes:
            yield "one", c.name, [entry]
            yield "other", after(c.name), [entry]
        else:
            yield "one", after(c.name) if self.last and c.at_nodes else c.name, [entry]

    def numbers(self, k: int) -> dict[str, Any]:
        """The constants of an instance: the length of interval k, or its inverse by the duration, and the scheme."""
        if not self.inside:
            return {"signs": self.signs}
        method, n = self.problem.scheme, numbers(self.phase, k)[PER_PHASE]
        row = method.A[self.stage]
        found = {"signs": self.signs, "c": method.c[self.stage], "row": row, "rows": row @ method.A}
        return found | ({"n": n} if self.duration is None else {"h": self.duration / n})

    def block(self, slots: dict[str, Slot]) -> Block:
        """A block of these slots without instances."""
        part = self.part
        sizes = {name: np.size(value) for name, value in self.numbers(0).items()}
        return Block(part.f.name(), slots, partial(_write, part), sizes)


def _write(part: LocalForce, z: dict[str, SX], rows: BlockRows) -> None:
    """The body of a block: less the force at a stage, as the rows to which it is added."""
    q, qd, h = z["q"], z["qd"], SX(0)
    if "qdd" in z:
        h = z["h"] if "h" in z else z["T"] / z["n"]
        qdd = SX(z["qdd"]).reshape((len(part.dofs), -1))
        q = q + h * (z["c"] * qd + h * (qdd @ z["rows"]))
        qd = qd + h * (qdd @ z["row"])
    channels = [_value(z, k, h) for k in range(len(part.channels))]
    values = (z[f"value:{name}"] for name in part.values)
    e = _call(rows, part)(z["signs"] * q, z["signs"] * qd, *channels, *values)
    rows.constrain("dynamics", -z["signs"] * e, scale=FORCE_SCALE)


def called(rows: BlockRows, part: LocalForce, instant: Instant) -> Expr:
    """A local force at an instant of a block with these rows, whose derivatives are those of its Function."""
    return part.by(_call(rows, part), instant)


def _call(rows: BlockRows, part: LocalForce) -> Callable[..., Expr]:
    """(arguments...) -> the symbol of a call of the Function of a local force."""
    maker = "" if part.derivatives is None else part.derivatives.__module__
    return partial(rows.call, part.f, part.derivatives, maker=maker)


def _value(z: dict[str, SX], k: int, h: Expr) -> Expr:
    """The value of channel number k at the stage."""
    one = z[f"one:{k}"]
    if f"rates:{k}" in z:
        return one + h * (z[f"rates:{k}"].T @ z["row"])
    if f"other:{k}" in z:
        return (1 - z["c"]) * one + z["c"] * z[f"other:{k}"]
    return one


def _entries(slot: Slot, chosen: Sequence[int]) -> Variable:
    """Some entries of a variable."""
    assert isinstance(slot, Variable)
    return Variable(slot.name, slot.index[list(chosen)], slot.scale[list(chosen)])
