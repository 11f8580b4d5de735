"""From a point to its problem: the arguments of the function that makes it, and digests that tell two of them apart."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...._base.identity import digest
from ...._base.types import repr_in_message
from .points import GridPoint


class Recipe:
    """The function that makes problems, pickled for other processes, and the problems that a folder knows."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self.make, self.pickled, self.named = make, pickled(make), named_arguments(make)
        self._problems: dict[str, str] = {}

    def split(self, point: Any) -> tuple[tuple[tuple[str, Any], ...], dict[str, Any]]:
        """The coordinates of a point that are arguments of the function, and the values of parameters."""
        values = dict(point.values)
        if not isinstance(point, GridPoint):
            return (), values
        arguments = tuple((name, value) for name, value in values.items() if name in self.named)
        return arguments, {name: value for name, value in values.items() if name not in self.named}

    def build(self, point: Any) -> str:
        """A digest of the arguments from which a point's problem is made."""
        return digest(repr((self.split(point)[0], point.variant)))

    def content(self, point: Any) -> str:
        """A digest of all that a point says."""
        return digest(self.build(point), json.dumps(dict(point.values), sort_keys=True, default=repr))

    def check_contents(self, points: Sequence[Any], known: Mapping[str, Mapping[str, Any]], folder: Any) -> None:
        """Raises ValueError if a solution of the folder belongs to a point of the same name with other values; learns
        from which problems the solutions come."""
        for point in points:
            record = known.get(point.name, {})
            if record.get("identity", content := self.content(point)) != content:
                raise ValueError(
                    f"{folder} holds a solution of another point that is named {point.name!r}, too: give points "
                    "names that differ with their values, or choose another folder"
                )
            if "problem" in record:
                self._problems.setdefault(self.build(point), record["problem"])

    def check_problem(self, point: Any, problem: str | None, folder: Any) -> None:
        """Raises ValueError if the problem of a point, by its digest, is another one than the folder knows."""
        if problem is not None and self._problems.setdefault(self.build(point), problem) != problem:
            raise ValueError(
                f"{folder} holds solutions of another problem than the one that {repr_in_message(self.make)} makes "
                f"now for the point {point.name}: choose another folder, or undo the change"
            )


def named_arguments(make: Callable[..., Any]) -> frozenset[str]:
    """Names of the arguments of a function that can be given by name, without those that a partial has bound."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return frozenset()
    bound = getattr(make, "keywords", {})
    by_key = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return frozenset(p.name for p in parameters if p.kind in by_key and p.name not in bound)


def pickled(make: Any) -> bytes:
    """The function that makes the problem, pickled for other processes."""
    if not callable(make):
        raise TypeError(f"Sweep: make must be a function that returns a Problem, got {repr_in_message(make)}")
    try:
        return pickle.dumps(make)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            "Sweep: make must be a function of a module, which other processes can import, got "
            f"{repr_in_message(make)}: {error}"
        ) from None
