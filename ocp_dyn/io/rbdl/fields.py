"""Fields of the tables of a Lua model, with their checks."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..._base.types import LARGEST_MAGNITUDE, Array, ModelError, repr_in_message, suggestion
from .lua import LuaTable


class Fields:
    """Checked access to fields; messages open with the source and the line of the field."""

    source: str

    def fail(self, table: LuaTable, message: str, key: str = "") -> NoReturn:
        raise ModelError(f"{self.source}, line {table.lines.get(key, table.line)}: {message}")

    def rows(self, table: LuaTable, key: str) -> list[LuaTable]:
        """A list of tables; empty if it is left out."""
        value = table.fields.get(key)
        if value is None:
            return []
        if not isinstance(value, LuaTable) or not all(isinstance(one, LuaTable) for one in value.items):
            self.fail(table, f"{key} must be a list of tables", key)
        return value.items

    def table(self, table: LuaTable, key: str) -> LuaTable:
        """A table of named fields; an empty one if it is left out."""
        value = table.fields.get(key)
        if value is None:
            return LuaTable(table.lines.get(key, table.line))
        if not isinstance(value, LuaTable):
            self.fail(table, f"{key} must be a table, got {repr_in_message(value)}", key)
        return value

    def text(self, table: LuaTable, key: str, default: str | None = None) -> str:
        value = table.fields.get(key, default)
        if not isinstance(value, str) or (default is None and not value):
            got = f"got {repr_in_message(value)}" if key in table.fields else "and is left out; add it"
            self.fail(table, f"{key} must be a text, {got}", key)
        return value

    def numbers(self, table: LuaTable, key: str, shape: tuple[int, ...], default: Array | None = None) -> Array:
        """The numbers of a field: one, a list, or a list of lists."""
        value = table.fields.get(key)
        if value is None and default is not None:
            return default
        found = self.array(value)
        if found is None or found.shape != shape:
            expected = "a number" if not shape else f"{' x '.join(map(str, shape))} numbers"
            self.fail(table, f"{key} must be {expected}, got {self.shown(value)}", key)
        return found

    @staticmethod
    def shown(value: Any) -> str:
        """A value for a message."""
        return f"a table of {len(value.items)}" if isinstance(value, LuaTable) else repr_in_message(value)

    def array(self, value: Any) -> Array | None:
        """Numbers of a value as an array; None if it holds anything else, or lists of different lengths."""
        if isinstance(value, float) and abs(value) <= LARGEST_MAGNITUDE:
            return np.array(value)
        if not isinstance(value, LuaTable) or value.fields:
            return None
        parts = [self.array(one) for one in value.items]
        if any(part is None or part.shape != parts[0].shape for part in parts):  # type: ignore[union-attr]
            return None
        return np.array(parts, dtype=float)

    def known(self, table: LuaTable, keys: tuple[str, ...], what: str) -> None:
        """ModelError for a field that is not read, which may be one with a slip of the pen."""
        for key in table.fields:
            if key not in keys:
                self.fail(table, f"{what} has an unknown field {repr_in_message(key)}{suggestion(key, keys)}", key)

    def pose(self, table: LuaTable, key: str) -> tuple[Array, Array]:
        """(R, p) of a transform {r, E}: E turns coordinates of the parent into those of the frame."""
        own = self.table(table, key)
        self.known(own, ("r", "E"), key)
        E = self.numbers(own, "E", (3, 3), np.eye(3))
        return E.T, self.numbers(own, "r", (3,), np.zeros(3))
