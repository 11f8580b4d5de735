"""Helpers of the theory pages: code of the library, read while a page is built, and checks of equations by numbers."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import numpy as np
from casadi import DM
from IPython.display import Markdown


def agree(what: str, one: Any, other: Any, tolerance: float = 1e-9) -> None:
    """Prints the largest difference of two results; AssertionError, which stops the build, if it is above the
    tolerance."""
    difference = float(np.abs(DM(one).full() - DM(other).full()).max())
    print(f"{what}: difference {difference:.0e}")
    assert difference <= tolerance, f"{what}: the results differ by {difference:.1e}, more than {tolerance:.0e}"


def code(*functions: Any) -> Markdown:
    """The source of functions, without decorators and docstrings."""
    return Markdown("\n\n".join(f"```python\n{_bare(function)}\n```" for function in functions))


def _bare(function: Any) -> str:
    """The source of one function, from `def` on, without its docstring."""
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    lines, definition = source.splitlines(), ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    first = definition.body[0]
    hidden = range(0)
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        hidden = range(first.lineno - 1, first.end_lineno or first.lineno)
    kept = [line for k, line in enumerate(lines) if k >= definition.lineno - 1 and k not in hidden]
    return "\n".join(kept)
