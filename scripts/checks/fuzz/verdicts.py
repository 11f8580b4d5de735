"""Verdicts on inputs: accepted, refused in words of the library, or a finding."""

from __future__ import annotations

import linecache
import warnings
from types import TracebackType

import numpy as np

from ocp_dyn.functions.quantities import QUANTITIES
from scripts.common import ROOT

from . import inputs, wrong

LONGEST = 3000
"""Largest number of characters of a message."""
OWN = (ValueError, TypeError, KeyError, IndexError)
PYTHON = ("unexpected keyword argument", "missing 1 required")
"""The message of Python itself about a misspelled name."""
STATES = {*QUANTITIES, "wrench", "qd0", "theta", "quat", "twist", "lam"}
"""Arguments that may be nan: numbers of a motion."""


def case(seed: int, kind: str, number: int) -> inputs.Case:
    """The input of that kind and number."""
    kinds = inputs.KINDS | inputs.FORMATS | inputs.PLANTED
    return kinds[kind](np.random.default_rng([seed, *kind.encode(), number]))


def judged(seed: int, kind: str, number: int) -> tuple[str, str]:
    """Verdict "accepted", "refused" or "finding", and a description."""
    made = case(seed, kind, number)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = made.run()
    except OWN as error:
        message = str(error.args[0]) if error.args else ""
        if made.misspelled and any(said in message for said in PYTHON):
            return "refused", ""
        own = _raised_by_us(error.__traceback__)
        if own and " " in message and len(message) <= LONGEST:
            return "refused", ""
        told = f"{type(error).__name__}: {message[:200]} ({len(message)} characters)"
        return "finding", f"{'' if own else 'not raised by ocp_dyn: '}{told} | {made.text[:400]}"
    except Exception as error:  # noqa: BLE001, to find any other is what this is for
        if _raised_in(wrong.__file__, error.__traceback__):
            return "refused", ""  # by the broken object itself, in its own words
        return "finding", f"{type(error).__name__}: {str(error)[:200]} | {made.text[:400]}"
    if isinstance(result, OSError):  # of the system, where a path is wrong
        return "refused", ""
    silent = _silent(made)
    return ("finding", f"{silent} | {made.text[:400]}") if silent else ("accepted", "")


def _silent(made: inputs.Case) -> str:
    """Faults of an accepted call, which it should have refused: a name that it does not have, a number that is none.
    nan in a state of a mechanism is no mistake of the call: it comes out as nan."""
    if made.misspelled:
        return f"took {', '.join(made.wrong)}, which is misspelled"
    lost = [name for name, value in made.wrong.items() if wrong.has_nan(value) and name not in STATES]
    return f"took nan for {', '.join(lost)}" if lost else ""


def _raised_by_us(traceback: TracebackType | None) -> bool:
    """Whether the innermost line is a `raise` in the library."""
    inner = _innermost(traceback)
    path = inner.tb_frame.f_code.co_filename if inner else ""
    return str(ROOT / "ocp_dyn") in path and "raise" in linecache.getline(path, inner.tb_lineno)


def _raised_in(path: str, traceback: TracebackType | None) -> bool:
    """Whether the innermost line is in that file."""
    inner = _innermost(traceback)
    return inner is not None and inner.tb_frame.f_code.co_filename == path


def _innermost(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback
