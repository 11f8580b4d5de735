"""Faults of a file that are collected where a reader would raise the first: for reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .types import ModelError


@dataclass
class Collected:
    """Messages of faults, in the order in which they are met; with `raising`, the first one is raised instead.

    >>> from ocp_dyn._base.collected import Collected
    >>> faults = Collected()
    >>> for word in ("1", "one", "two"):
    ...     with faults.each():
    ...         if not word.isdigit():
    ...             raise od.ModelError(f"{word} is not a number")
    >>> faults.messages
    ['one is not a number', 'two is not a number']
    """

    raising: bool = False
    messages: list[str] = field(default_factory=list)

    @contextmanager
    def each(self) -> Iterator[None]:
        """A part that is read alone: its fault is noted, and what comes after the part goes on."""
        try:
            yield
        except ModelError as error:
            if self.raising:
                raise
            self.messages.append(str(error))
