"""Digests of the content of a solution's file, by which a file that was changed is told from one that was written
whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..._base.types import Array, names_in_message

MEMBER = "digests"
"""Name of the text in a file that holds the digests."""


def digests(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> dict[str, str]:
    """SHA-256 of every array, and of every entry of the plain data."""
    found = {f"the entry {key!r}": _of_bytes(_canonical(value)) for key, value in about.items()}
    for name, array in arrays.items():
        little = array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)
        found[f"the array {name!r}"] = _of_bytes(f"{little.dtype.str} {little.shape} ".encode() + little.tobytes())
    return found


def as_text(found: Mapping[str, str]) -> str:
    """The digests as text for a file, with one of their own."""
    return json.dumps({"digests": found, "whole": _of_bytes(_canonical(found))})


def changes(text: str, about: Mapping[str, Any], arrays: Mapping[str, Array]) -> str:
    """A sentence that names the entries and arrays that are missing, new or changed; "" if these are the ones of which
    the digests were taken."""
    try:
        saved = json.loads(text)
        kept, whole = dict(saved["digests"]), saved["whole"]
    except (ValueError, KeyError, TypeError):
        kept, whole = {}, ""
    if whole != _of_bytes(_canonical(kept)):
        return f"the text {MEMBER!r}, which tells whether the file is whole, was changed itself"
    found = digests(about, arrays)
    parts = {
        "lacks": [name for name in kept if name not in found],
        "has gained": [name for name in found if name not in kept],
        "has other content in": [name for name in found if kept.get(name, found[name]) != found[name]],
    }
    faults = [f"{what} {names_in_message(names, 4)}" for what, names in parts.items() if names]
    return f"it was changed after it was saved: it {' and '.join(faults)}" if faults else ""


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode("ascii")


def _of_bytes(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
