"""All faults of a model in JSON, with the lines of bodies and frames."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from .._base.types import ModelError, repr_in_message
from ..joints import Joint, Revolute
from ..mechanism.builder import ModelBuilder
from ._json_entry import JsonEntry
from ._json_parts import passive_from_list
from .json import (
    DOF_FIELDS,
    JOINT_CLASSES,
    frames_from_list,
    joint_from_dict,
    mimics_from_list,
    model_from_dict,
    model_to_dict,
    no_constant,
    unique_keys,
)  # fmt: skip

Found = list[tuple[int | None, str]]
"""Lines and messages."""


def json_faults(raw: bytes) -> Found:
    """Lines and messages of all faults of a model in JSON."""
    try:
        text = raw.decode("utf-8")
        data = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique_keys)
    except json.JSONDecodeError as error:
        return [(error.lineno, f"not JSON: {error.msg} (column {error.colno}); write it with save_model")]
    except (ModelError, RecursionError, ValueError) as error:
        return [(None, f"not a model file: {error}; write it with save_model")]
    found = _Checks(text, data)
    found.run()
    if not found.faults:  # the loader has the last word
        found.check("", lambda: model_from_dict(data))
    return sorted(found.faults, key=lambda fault: fault[0] or 0)


class _Checks:
    """Trials of the parts of a file, each beside sound other parts."""

    def __init__(self, text: str, data: Any) -> None:
        self.data, self.faults = data, Found()
        self.lines = _lines(text) if isinstance(data, Mapping) else {}

    def check(self, where: str, trial: Callable[[], object], *, rename: tuple[str, str] | None = None) -> bool:
        """Whether a trial raises nothing. where: the entry whose line the fault gets; rename: in its message."""
        try:
            trial()
        except ModelError as error:
            message = str(error) if rename is None else str(error).replace(*rename, 1)
            if where and where not in message:
                message = f"{where}: {message}"
            self.faults.append((self.lines.get(where), message))
            return False
        return True

    def run(self) -> None:
        if not self.check("", lambda: JsonEntry(self.data, "model")):
            return
        empty = model_to_dict(_sound(Revolute("z")))
        for key in ("format", "version", "name", "gravity"):
            part = {key: self.data[key]} if key in self.data else {}
            rest = {k: v for k, v in empty.items() if k != key}
            if not self.check("", lambda p=part, r=rest: model_from_dict(r | p)) and key == "format":  # type: ignore[misc]
                return
        bodies = self._rows("bodies")
        for i, body in enumerate(bodies):
            self._body(i, body)
        for i, frame in enumerate(self._rows("frames")):
            where = f"frames[{i}]"
            self.check(where, lambda f=frame: frames_from_list([f], len(bodies)), rename=("frames[0]", where))  # type: ignore[misc]
        for i, mimic in enumerate(self._rows("mimics") if "mimics" in self.data else []):
            where = f"mimics[{i}]"
            self.check(where, lambda m=mimic: mimics_from_list([m]), rename=("mimics[0]", where))  # type: ignore[misc]
        for i, element in enumerate(self._rows("passive") if "passive" in self.data else []):
            where = f"passive[{i}]"
            self.check(where, lambda e=element: passive_from_list([e]), rename=("passive[0]", where))  # type: ignore[misc]
        for key, what in (("name", "body"), ("joint_name", "joint")):
            self._unique([body.get(key) for body in bodies if isinstance(body, Mapping)], what)

    def _rows(self, key: str) -> list[Any]:
        return (
            JsonEntry(self.data, "model").items(key)
            if self.check("", lambda: JsonEntry(self.data, "model").items(key))
            else []
        )

    def _body(self, i: int, body: Any) -> None:
        """Each part of a body, alone."""
        where = f"bodies[{i}]"
        if not self.check(where, lambda: JsonEntry(body, where)):
            return
        entry = JsonEntry(body, where)
        self.check(where, lambda: entry.index("parent", i + 1))
        joint: Joint = Revolute("z")
        known = self.check(where, lambda: joint_from_dict(entry.entry("joint"), JOINT_CLASSES))
        if known:
            joint = joint_from_dict(entry.entry("joint"), JOINT_CLASSES)
        sound = model_to_dict(_sound(joint))
        parts: list[tuple[str, ...]] = [("name",), ("joint_name",), ("X_tree",), ("inertia",)]
        if known:
            parts += [("q_lower", "q_upper"), *((key,) for key in DOF_FIELDS if key not in ("q_lower", "q_upper"))]
        for keys in parts:
            trial = {k: v for k, v in sound["bodies"][0].items() if k not in keys}
            trial |= {key: body[key] for key in keys if key in body}
            frame = sound["frames"][0] | {"name": trial.get("name")}
            made = sound | {"bodies": [trial], "frames": [frame]}
            self.check(where, lambda made=made: model_from_dict(made), rename=("bodies[0]", where))  # type: ignore[misc]

    def _unique(self, names: list[Any], what: str) -> None:
        first: dict[str, int] = {}
        for i, name in enumerate(names):
            if not isinstance(name, str) or name not in first:
                first.setdefault(str(name), i)
                continue
            where = f"bodies[{i}]"
            taken = f"{where}: {what} {repr_in_message(name)} stands in bodies[{first[name]}] already"
            self.faults.append((self.lines.get(where), f"{taken}; names must be unique, rename one"))


def _sound(joint: Joint) -> Any:
    """A model of one body on a joint."""
    builder = ModelBuilder("trial")
    builder.add_body("body", joint, mass=1.0, inertia=(1.0, 1.0, 1.0))
    return builder.build()


def _lines(text: str) -> dict[str, int]:
    """Lines of the rows of the lists in the outermost object, by names such as "bodies[3]"."""
    decoder, lines = json.JSONDecoder(), {}
    at = _past(text, text.index("{") + 1)
    while text[at] == '"':
        key, at = decoder.raw_decode(text, at)
        at = _past(text, at)
        if text[at] != "[":
            at = _past(text, decoder.raw_decode(text, at)[1])
            continue
        at, row = _past(text, at + 1), 0
        while text[at] != "]":
            lines[f"{key}[{row}]"] = text.count("\n", 0, at) + 1
            at, row = _past(text, decoder.raw_decode(text, at)[1]), row + 1
        at = _past(text, at + 1)
    return lines


def _past(text: str, at: int) -> int:
    """The place of the next character that is neither white space nor a comma or colon between values."""
    while at < len(text) and text[at] in " \t\r\n,:":
        at += 1
    return at
