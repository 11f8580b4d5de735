"""Findings of `check`: a list of sentences that is shown with a line for each, by foot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape


class Findings(list[str]):
    """Sentences on a problem; a list that `print` shows with one finding per line, grouped by the foot they name."""

    def __init__(self, found: Iterable[str] = (), feet: Sequence[str] = ()) -> None:
        super().__init__(found)
        self.feet = tuple(feet)

    def groups(self) -> dict[str, list[str]]:
        """The findings by the foot that each names first; those that name none, or several, by ""."""
        found: dict[str, list[str]] = {}
        for text in self:
            named = [foot for foot in self.feet if re.search(rf"(?<!\w){re.escape(foot)}(?!\w)", text)]
            found.setdefault(named[0] if len(named) == 1 else "", []).append(text)
        return dict(sorted(found.items(), key=lambda group: (group[0] != "", group[0])))

    def __repr__(self) -> str:
        if not self:
            return "[]"
        lines: list[str] = []
        for foot, texts in self.groups().items():
            lines += [f"{foot}:"] if foot else []
            lines += [f"{'  ' if foot else ''}- {text}" for text in texts]
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        if not self:
            return "nothing was found"
        parts = []
        for foot, texts in self.groups().items():
            items = "".join(f"<li>{escape(text)}</li>" for text in texts)
            parts.append(f"{f'<b>{escape(foot)}</b>' if foot else ''}<ul>{items}</ul>")
        return "".join(parts)
