"""Translation of solution files of earlier versions into the current format.

Format 1 called velocities v and accelerations a, in the names of arrays ("v0") and of the program's variables
("v swing[3]"), and spelled a field of `RollingContact` "centre".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..._types import Array

FORMAT_1 = "ocp_dyn solution 1"

_RENAMED = {"v": "qd", "a": "qdd"}


def from_format_1(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> tuple[dict[str, Any], dict[str, Array]]:
    """The JSON object and the arrays of a file of format 1, renamed as in format 2. Malformed entries stay
    unchanged."""
    renamed = dict(about)
    if isinstance(names := about.get("not_finite"), list):
        renamed["not_finite"] = [_array_name(name) for name in names]
    if isinstance(record := about.get("record"), dict) and isinstance(record.get("variables"), list):
        renamed["record"] = record | {"variables": [_variable_name(name) for name in record["variables"]]}
    if isinstance(phases := about.get("phases"), list):
        renamed["phases"] = [_phase(phase) for phase in phases]
    return renamed, {_array_name(name): value for name, value in arrays.items()}


def _array_name(name: Any) -> Any:
    """ "qd0" for "v0", "qdd12" for "a12"."""
    return re.sub(r"^[va](?=\d+$)", lambda head: _RENAMED[head[0]], name) if isinstance(name, str) else name


def _variable_name(name: Any) -> Any:
    """ "qd swing[3]" for "v swing[3]"."""
    return re.sub(r"^[va](?= .*\[\d+\]$)", lambda head: _RENAMED[head[0]], name) if isinstance(name, str) else name


def _phase(phase: Any) -> Any:
    if not isinstance(phase, dict) or not isinstance(phase.get("contacts"), list):
        return phase
    return phase | {"contacts": [_contact(contact) for contact in phase["contacts"]]}


def _contact(contact: Any) -> Any:
    if not isinstance(contact, dict) or contact.get("kind") != "RollingContact":
        return contact
    return {"center" if key == "centre" else key: value for key, value in contact.items()}
