"""What objectives have of their own in every interval: slack variables, and numbers of a recording."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import SX

from .._types import Array
from .nlp import Rows, Variable
from .phases import Phase
from .steps import Point
from .tracking import reference_numbers
from .variables import Transcription


class OwnNumbers:
    """The slacks and references of a phase's objectives: a slot and a parameter for each, by its place in the list."""

    def __init__(self, t: Transcription, phase: Phase) -> None:
        model = t.problem.model
        terms = list(enumerate(phase.objective))
        self._model, self._intervals = model, phase.intervals
        self._slack: dict[str, Any] = {f"slack{i}": term for i, term in terms if hasattr(term, "slack_size")}
        self._reference: dict[str, Any] = {
            f"reference{i}": term for i, term in terms if hasattr(term, "reference_size")
        }
        self._variables: dict[str, list[Variable]] = {
            key: [
                t.program.variable(f"{key} {phase.name}[{k}]", term.slack_size(model), 0.0, np.inf, 0.0, term.scale)
                for k in range(phase.intervals)
            ]
            for key, term in self._slack.items()
        }

    def slots(self, k: int) -> dict[str, Variable]:
        """The slack variables of interval k."""
        return {key: variables[k] for key, variables in self._variables.items()}

    @property
    def parameters(self) -> dict[str, int]:
        """Sizes of the references: at both ends of an interval."""
        return {key: 2 * term.reference_size(self._model) for key, term in self._reference.items()}

    def numbers(self, k: int) -> dict[str, Array]:
        """The references at both ends of interval k."""
        ends = (k / self._intervals, (k + 1) / self._intervals)
        return {
            key: np.concatenate([reference_numbers(term, self._model, s) for s in ends])
            for key, term in self._reference.items()
        }

    def give(self, z: dict[str, SX], point: Point) -> None:
        """Shows a stage what belongs to each objective there; references are linear within the interval."""
        for key, term in self._slack.items():
            point.stage.slacks[term] = z[key]
        for key, term in self._reference.items():
            before, after = ca.vertsplit(z[key], z[key].shape[0] // 2)
            point.stage.references[term] = (1 - point.fraction) * before + point.fraction * after

    def constrain(self, rows: Rows, points: list[Point]) -> None:
        """The rows that hold the slacks, at every stage."""
        for term in self._slack.values():
            for point in points:
                rows.constrain(f"slack of {type(term).__name__}", term.slack_rows(point.stage), 0.0, np.inf, term.scale)
