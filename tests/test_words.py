"""Docstrings, and the strings that document constants and fields, open with the thing they describe."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RIDDLE = re.compile(r"\s*(What|Of|Where|How|By how|That which)\b")
"""Openings by a relative clause: a reader meets the question before the noun."""


def documentation(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string that is a statement of its own: docstrings, and texts below constants and fields."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


@pytest.mark.parametrize("package", ["ocp_dyn", "problems"])
def test_documentation_opens_with_the_thing_it_describes(package: str) -> None:
    riddles = [
        f"{path.relative_to(ROOT)}:{line}: {text.strip().splitlines()[0]}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line, text in documentation(path.read_text(encoding="utf-8"))
        if RIDDLE.match(text)
    ]
    message = "open these texts with a noun or a verb (a predicate may open with 'Whether'):"
    assert not riddles, "\n".join([message, *riddles])


def test_every_kind_of_documentation_is_read() -> None:
    source = '"""What a."""\nclass B:\n    """Of b."""\n    c: int\n    """How c."""\n    def d(self):\n        """Where d."""\n'
    assert [line for line, text in sorted(documentation(source)) if RIDDLE.match(text)] == [1, 3, 5, 7]
    assert not any(RIDDLE.match(text) for text in ("Whether a.", "However b.", "Whatever c.", "Offsets d."))
