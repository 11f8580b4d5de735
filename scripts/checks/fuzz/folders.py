"""Surroundings of calls for the fuzz: temporary folders, no compiler."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from functools import wraps
from typing import Any
from unittest import mock


def quietly(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same function in an environment without a compiler."""

    @wraps(run)
    def without_compiler(**given: Any) -> Any:
        with mock.patch.dict(os.environ, {"PATH": "", "CC": ""}):
            return run(**given)

    return without_compiler


def in_a_folder(run: Callable[..., Any]) -> Callable[..., Any]:
    """The same function in a new, temporary working folder."""

    @wraps(run)
    def inside(**given: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            try:
                return run(**given)
            except (OSError, UnicodeEncodeError) as error:  # of the system, in its words, as the functions promise
                if not any(isinstance(given.get(name), str) for name in ("path", "directory", "reference")):
                    raise
                return OSError(str(error))

    return inside
