"""Results on standard output: tables, or one JSON object."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table of texts. right: numbers of the columns that are aligned to the right."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(head))]

    def cell(text: str, k: int) -> str:
        return text.rjust(widths[k]) if k in right else text.ljust(widths[k])

    return "\n".join("  ".join(cell(text, k) for k, text in enumerate(line)).rstrip() for line in lines)


def number(x: float, digits: int = 4) -> str:
    """A number for a table: "inf" and "-inf" as "-"; no trailing zeros."""
    return f"{x:.{digits}g}" if math.isfinite(x) else "-"


def as_json(value: Any) -> str:
    """One JSON object in ASCII, which every terminal and pipe can carry; numbers that are not finite are null."""
    return json.dumps(_finite(value))


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
