"""Names of markers and coordinates that differ from others only by case, prefix or marks between words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from .._base.types import names_in_message, repr_in_message, suggestion


def bare(name: str) -> str:
    """A name without the prefix of its subject, its case, and marks between words: "S01:R.ASIS" becomes "rasis"."""
    return re.sub(r"[\W_]+", "", name.rsplit(":", 1)[-1].rsplit("|", 1)[-1]).lower()


def no_such_name(name: Any, names: Iterable[str]) -> str:
    """The rest of a message about a name that is not there, with the names that may be meant, and those there are."""
    known = list(names)
    same = [other for other in known if isinstance(name, str) and bare(name) and bare(other) == bare(name)]
    if same:
        return f"{repr_in_message(name)}: did you mean {' or '.join(map(repr, same[:3]))}?"
    return f"{repr_in_message(name)}{suggestion(name, known)}; it has {names_in_message(known)}"
