"""Display of a problem: a line of text, and for notebooks a strip of its phases and a table of its settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...._base.display import heading, table
from ....gait.bodies import sides
from ....integrators import Scheme
from ....viz.pictures.phase_strip import PhaseColumn, phase_strip
from ...nlp.program import Program
from ...statement.phases import JumpCondition, Phase, Transition
from ...statement.statement import Statement
from ...statement.values.weights import PREFIX
from ...transcription.transcribe import transcribe


def strip(problem: Statement) -> Any:
    """The phases of a problem as a figure; see `viz.pictures.phases.phase_strip`."""
    model = problem.model
    side = sides(model)
    feet = {f.name: side[model.frame(f.name).body] for f in problem.footholds}
    stages = [PhaseColumn(p.name, _notes(p), float(np.mean(p.duration_bounds)), _held(p)) for p in problem.phases]
    transitions = [_word(t) for t in problem.resolved.transitions]
    if problem.periodic is not None:
        mirrored = "mirrored, " if problem.periodic.mirror else ""
        transitions.append(f"↻ {mirrored}{_word(problem.periodic.transition)}")
    return phase_strip(stages, transitions, feet)


def card_html(problem: Statement) -> str:
    """Sizes of the program, and settings of the problem, as HTML."""
    rows = [(what, value) for what, value in {**_program(problem), **_settings(problem)}.items() if value]
    return heading("Problem", f" of {problem.model.name or 'a model'}") + table((), rows)


def _program(problem: Statement) -> dict[str, str]:
    """Numbers of variables, and of constraint rows if the program has been built."""
    kept = problem._kept
    try:
        program: Program = kept[1].program if kept is not None else transcribe(problem).program
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return {"variables": f"not counted, the problem cannot be built: {error}"}
    rows = f"{kept[2].row_lower.size}" if kept is not None else "counted when the problem is solved"
    parameters = ", ".join(p.name for p in program.parameters if not p.name.startswith(PREFIX))
    free = int(np.sum(program.x_lower < program.x_upper))
    fixed = f", {program.size - free} of them fixed" if free < program.size else ""
    return {"variables": f"{program.size}{fixed}", "constraint rows": rows, "parameters": parameters}


def _settings(problem: Statement) -> dict[str, str]:
    scheme, periodic = problem.resolved.integrator, problem.periodic
    name = scheme.name if isinstance(scheme, Scheme) else scheme
    costs = dict.fromkeys(type(c).__name__ for p in problem.phases for c in p.objective)
    costs |= dict.fromkeys(c.name for c in problem.terminal)
    parts = dict.fromkeys(type(part).__name__ for part in (*problem.components, *problem.parts.components))
    paths = dict.fromkeys(type(c).__name__ for p in problem.phases for c in p.path)
    speed = "" if periodic is None or periodic.speed is None else f"{periodic.speed:g} m/s"
    return {
        "form": f"{problem.form}, {name}" + (f", {problem.steps} steps per interval" if problem.steps > 1 else ""),
        "intervals": " + ".join(str(p.grid.count) for p in problem.phases),
        "speed": speed,
        "costs": ", ".join(costs),
        "path constraints": ", ".join(paths),
        "components": ", ".join(parts),
        "boundary conditions": ", ".join(b.name for b in problem.boundary),
        "without motors": ", ".join(problem.resolved.unactuated),
    }


def _notes(phase: Phase) -> tuple[str, ...]:
    low, high = phase.duration_bounds
    span = f"{low:.3g} s" if low == high else f"{low:.3g} to {high:.3g} s"
    n = phase.grid.count
    return span, f"{n} {'' if phase.grid.is_even else 'unequal '}interval{'s' if n > 1 else ''}"


def _held(phase: Phase) -> dict[str, str]:
    """Names of the contacts and constraints of a phase, with the numbers of their rows."""
    constraints = [f.contact for f in phase.footholds] + list(phase.constraints)
    return {c.name: f"{len(c.rows)} rows" for c in constraints}


def _word(transition: Transition) -> str:
    return transition.name if isinstance(transition, JumpCondition) else type(transition).__name__.lower()
