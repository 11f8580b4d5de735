"""Published numbers of [GJB94], chapter 8, and of the IVP test set: those of published.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .operations import Operations

_READ: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))

TITLES: dict[str, str] = _READ["titles"]
"""Rows of tables 8.3 and 8.4 by the fields of `formulations.Stages`: z is the library's q, qd; q there are the
dependent coordinates."""
TABLE_8_5: dict[str, list[float]] = _READ["table_8_5"]
SQUEEZER: dict[str, list[float]] = _READ["squeezer"]


def table(name: str) -> tuple[str, dict[str, list[Operations | None]], list[Operations]]:
    """Title of a table of operations, its rows by field, and the printed totals; each of Formulations A and B."""
    read = _READ[name]
    rows = {field: [pair and Operations(*pair) for pair in pairs] for field, pairs in read["rows"].items()}
    return read["title"], rows, [Operations(*pair) for pair in read["total"]]
