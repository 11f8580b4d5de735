"""Variables and data of single objectives, per interval: slacks, and reference values to track."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from ..._arguments import called, expression
from ..._types import Array
from ..nlp.program import Rows, Variable
from ..statement.phases import Phase
from ..statement.tracking import reference_numbers
from .intervals import Point
from .variables import Transcription


class TermVariables:
    """The slacks and references of a phase's objectives: a slot of the block for every slack and a constant for every
    reference, numbered by the position of the objective in the list."""

    def __init__(self, transcription: Transcription, phase: Phase) -> None:
        model = transcription.problem.model
        terms = list(enumerate(phase.objective))
        self._model, self._intervals = model, phase.intervals
        steps = transcription.problem.steps
        self._fractions = [float(step + c) / steps for step in range(steps) for c in transcription.problem.scheme.c]
        self._slack: dict[str, Any] = {f"slack{i}": term for i, term in terms if hasattr(term, "slack_size")}
        self._reference: dict[str, Any] = {
            f"reference{i}": term for i, term in terms if hasattr(term, "reference_size")
        }
        self._variables: dict[str, list[Variable]] = {
            key: [
                transcription.program.variable(
                    f"{key} {phase.name}[{k}]", term.slack_size(model), 0.0, np.inf, 0.0, term.scale
                )
                for k in range(phase.intervals)
            ]
            for key, term in self._slack.items()
        }

    def slots(self, k: int) -> dict[str, Variable]:
        """The slack variables of interval k."""
        return {key: variables[k] for key, variables in self._variables.items()}

    @property
    def parameters(self) -> dict[str, int]:
        """Sizes of the references, over all stages of an interval."""
        return {key: len(self._fractions) * term.reference_size(self._model) for key, term in self._reference.items()}

    def numbers(self, k: int) -> dict[str, Array]:
        """The references at the stages of interval k."""
        stages = [(k + fraction) / self._intervals for fraction in self._fractions]
        return {
            key: np.concatenate([reference_numbers(term, self._model, s) for s in stages])
            for key, term in self._reference.items()
        }

    def attach(self, z: dict[str, SX], point: Point) -> None:
        """Attaches the slacks and references of every objective to the instant of a point."""
        for key, term in self._slack.items():
            point.instant.slacks[term] = z[key]
        for key, term in self._reference.items():
            stages = ca.vertsplit(z[key], term.reference_size(self._model))
            point.instant.references[term] = stages[self._fractions.index(point.fraction)]

    def constrain(self, rows: Rows, points: list[Point]) -> None:
        """Adds the rows that constrain the slacks, at every stage."""
        for term in self._slack.values():
            for point in points:
                name = f"slack of {type(term).__name__}"
                value = expression(called(name, term.slack_rows, point.instant), name)
                rows.constrain(name, value, 0.0, np.inf, term.scale)
