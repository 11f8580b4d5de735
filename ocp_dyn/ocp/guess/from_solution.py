"""A first guess from another solution, which may have another grid, other phases or another model.

If both motions have the same number of phases, moments at the same fraction of a phase correspond, otherwise moments at
the same fraction of the whole motion. Dofs are matched by the names of their joints, contact forces and places by the
names of the contacts. Variables without a counterpart in the other solution keep the default first guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from casadi import DM

from ..._base.types import Array, Indices, names_in_message
from ...constraints import Contact, RollingContact
from ...dynamics.kinematics import pose, resolve
from ...mechanism import Model
from ..motion.motion import PhaseMotion
from ..nlp.program import Slot, Variable
from ..solution import Solution
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.statement import Statement
from ..transcription.collect import rows_with_impulse
from ..transcription.variables import Transcription, number, state_of
from .channel_guesses import Moment, carry_channels

Find = Callable[[float], Moment]
"""A function from a fraction of a phase to the corresponding moment of the other solution."""


class Shared(NamedTuple):
    """Entries of q and of qd, in the problem's and in the guess's model, of joints with equal names and kinds."""

    q: tuple[Indices, Indices]
    qd: tuple[Indices, Indices]


def carry_over(transcription: Transcription, guess: Solution) -> None:
    """Sets first values from a solution; ValueError if its model shares no joint with the problem's model."""
    shared = _shared(transcription.problem.model, guess.model)
    same = len(guess.phases) == len(transcription.phases)
    lengths = [float(_first(transcription, x.duration)[0]) for x in transcription.phases]
    begins = np.concatenate([[0.0], np.cumsum(lengths)]) / sum(lengths)
    for p, x in enumerate(transcription.phases):
        if isinstance(x.duration, Variable):
            share = guess.phases[p].duration if same else guess.duration * (begins[p + 1] - begins[p])
            transcription.program.set_start(x.duration, share)

        def moment(s: float, p: int = p) -> Moment:
            if same:
                return _inside(guess.phases[p], s)
            return _at(guess, begins[p] + s * (begins[p + 1] - begins[p]))

        _carry_states(transcription, p, shared, guess.model, moment)
        _carry_controls(transcription, p, shared, guess, moment)
        carry_channels(transcription, p, guess.channels, moment, partial(_freed, transcription.problem, shared, moment))
    _carry_places(transcription, guess)
    for name, slot in transcription.step.items():
        if isinstance(slot, Variable) and getattr(guess, name):
            transcription.program.set_start(slot, getattr(guess, name))
    for p, (impulse, padded) in enumerate(zip(transcription.impulses, guess.impulses, strict=False)):
        found = padded[rows_with_impulse(guess.phases[(p + 1) % len(guess.phases)].contacts)] if len(padded) else padded
        size = len(found) - sum(held.size for held in transcription.problem.coordinates.held)
        if same and impulse is not None and impulse.size in (size, len(found)):
            transcription.program.set_start(impulse, found[: impulse.size])


def _shared(ours: Model, theirs: Model) -> Shared:
    names = [n for n in ours.joint_names if n in theirs.joint_names and _labels(ours, n) == _labels(theirs, n)]
    if not names:
        raise ValueError(
            f"guess must be a motion of a model that shares joints with {ours!r}, got a motion of {theirs!r}: joints "
            f"are matched by name and kind; joints of the problem: {names_in_message(ours.joint_names, 5)}; of the "
            f"guess: {names_in_message(theirs.joint_names, 5)}"
        )
    q, qd = (
        tuple(np.concatenate([np.arange(s.start, s.stop) for s in map(slices, names)]) for slices in pair)
        for pair in ((ours.q_slice, theirs.q_slice), (ours.qd_slice, theirs.qd_slice))
    )
    return Shared((q[0], q[1]), (qd[0], qd[1]))


def _labels(model: Model, joint: str) -> tuple[str, ...]:
    found = model.joints[model.joint_names.index(joint) + 1]
    return (*found.q_labels, *found.qd_labels)


def _inside(phase: PhaseMotion, s: float) -> Moment:
    """The moment at which the fraction s of a phase has passed."""
    return Moment(phase, *phase.grid.find(s))


def _at(guess: Solution, s: float) -> Moment:
    """The moment at which the fraction s of the whole motion has passed."""
    time = guess.phases[0].t[0] + s * guess.duration
    ends = [phase.t[-1] for phase in guess.phases]
    phase = guess.phases[min(int(np.searchsorted(ends, time)), len(ends) - 1)]
    return _inside(phase, float(np.clip((time - phase.t[0]) / phase.duration, 0.0, 1.0)))


def _carry_states(transcription: Transcription, p: int, shared: Shared, model: Model, moment: Find) -> None:
    x, steps = transcription.phases[p], transcription.problem.steps
    grid = transcription.problem.phases[p].grid

    def state(s: float, q: Array, qd: Array) -> tuple[Array, Array]:
        phase, k, u = moment(s)
        step = model.difference(DM(phase.q[k]), DM(phase.q[k + 1])) * u
        q[shared.q[0]] = np.array(model.integrate(DM(phase.q[k]), step).full()).ravel()[shared.q[1]]
        qd[shared.qd[0]] = ((1 - u) * phase.qd[k] + u * phase.qd[k + 1])[shared.qd[1]]
        return q, qd

    independent = transcription.problem.coordinates.q, transcription.problem.coordinates.qd
    for k in range(grid.count + 1):
        found = state(grid.at(k), *state_of(transcription, x, k, transcription.program.start))
        for name, value, chosen in zip(("q", "qd"), found, independent, strict=True):
            transcription.program.set_start(x[name][k], value[chosen])
    for k, inner in enumerate(x["inner"]):
        node = state_of(transcription, x, k, transcription.program.start)
        parts = [state(grid.at(k, j / steps), *(part.copy() for part in node)) for j in range(1, steps)]
        values = [part[chosen] for pair in parts for part, chosen in zip(pair, independent, strict=True)]
        transcription.program.set_start(inner, np.concatenate(values))


def _first(transcription: Transcription, slot: Slot) -> Array:
    """The current first value of a variable or parameter."""
    return number(transcription, slot, transcription.program.start).copy()


def _carry_controls(transcription: Transcription, p: int, shared: Shared, guess: Solution, moment: Find) -> None:
    """Sets torques, accelerations and contact forces from the corresponding interval of the other solution."""
    x, problem = transcription.phases[p], transcription.problem
    grid = problem.phases[p].grid
    for k, variable in enumerate(x["tau"]):
        full = np.zeros(problem.model.nv)
        full[problem.actuated] = _first(transcription, variable)
        found = _torques(*moment(grid.at(k, 0.5) if len(x["tau"]) == grid.count else grid.at(k)))
        full[shared.qd[0]] = found[shared.qd[1]]
        transcription.program.set_start(variable, full[problem.actuated])
    for k, variable in enumerate(x["qdd"]):
        phase, j, _ = moment(grid.at(k, 0.5))
        chosen = problem.coordinates.qd
        stages = np.zeros((variable.size // len(chosen), problem.model.nv))
        stages[:, chosen] = _first(transcription, variable).reshape(-1, len(chosen))
        stages[:, shared.qd[0]] = phase.qdd[j][shared.qd[1]]
        transcription.program.set_start(variable, stages[:, chosen].ravel())
    held = problem.phases[p].held
    rows, loads = (
        sum(f.size for f in held),
        _FootLoads(guess, [f.name for f in held if isinstance(f, WrenchFoothold)]),
    )
    for k, variable in enumerate(x["lam"]):
        phase, j, _ = moment(grid.at(k, 0.5))
        stages = _first(transcription, variable).reshape(-1, rows)
        guess_rows = dict(_rows_by_name(phase))
        first = 0
        for f in held:
            same_rows = guess_rows.get(f.name)
            if f.name in loads.names:
                stages[:, first : first + f.size] = loads.wrench(phase, f.name, j)
            elif same_rows is not None and same_rows.stop - same_rows.start == f.size:
                stages[:, first : first + f.size] = phase.lam[j, same_rows]
            first += f.size
        transcription.program.set_start(variable, stages.ravel())


def _freed(problem: Statement, shared: Shared, moment: Find, s: float) -> Array:
    """Torques (nv) of the other solution at dofs that have no motor any more."""
    found = np.zeros(problem.model.nv)
    found[shared.qd[0]] = _torques(*moment(s))[shared.qd[1]]
    found[problem.actuated] = 0.0
    return found


def _torques(phase: PhaseMotion, k: int, u: float) -> Array:
    """Torques at the fraction u of an interval."""
    return np.asarray(phase.tau[k] + (u - 0.5) * (phase.t[k + 1] - phase.t[k]) * phase.tau_rate[k])


class _FootLoads:
    """The forces of another solution on feet that are compliant here: of those names that are contacts there."""

    def __init__(self, guess: Solution, compliant: list[str]) -> None:
        self._model = guess.model
        self._wrenches = {id(phase): phase.wrenches for phase in guess.phases} if compliant else {}
        self.names = {name for found in self._wrenches.values() for name in found if name in compliant}

    def wrench(self, phase: PhaseMotion, name: str, k: int) -> Array:
        """[moment about the origin of the frame; force] (6) in interval k, world axes; zero in a phase without the
        contact: there the foot is in the air."""
        if name not in self._wrenches[id(phase)]:
            return np.zeros(6)
        contact = next(contact for contact in phase.contacts if getattr(contact, "name", "") == name)
        found = self._wrenches[id(phase)][name][k]
        if not isinstance(contact, (Contact, RollingContact)):
            return np.asarray(found)
        point = contact.center if isinstance(contact, RollingContact) else contact.point
        R = np.array(pose(self._model, resolve(self._model, name), DM(phase.q[k]))[0].full())
        moment, force = np.split(found, 2)
        return np.concatenate([moment + np.cross(R @ np.array(point), force), force])


def _rows_by_name(phase: PhaseMotion) -> Iterator[tuple[str, slice]]:
    first = 0
    for contact in phase.contacts:
        size = len(contact.rows)
        yield contact.name, slice(first, first + size)
        first += size


def _carry_places(transcription: Transcription, guess: Solution) -> None:
    """Sets places of footholds: from the corresponding phase if it has the place, else from any phase that has it."""
    known = {name: place for phase in guess.phases for name, place in phase.places.items()}
    for p, phase in enumerate(transcription.problem.phases):
        same_phase = guess.phases[p].places if len(guess.phases) == len(transcription.phases) else {}
        for f in phase.footholds:
            if f in transcription.places and f.name in (known | same_phase):
                transcription.program.set_start(transcription.places[f], (known | same_phase)[f.name])
