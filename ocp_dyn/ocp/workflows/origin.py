"""Origin of a solution: how its problem is made again, and the options of its solve, for `stats["provenance"]`.

A file holds no code. It names the problem instead, by one of these entries under "problem":

    {"file": "people.py", "name": "build", "arguments": {...}, "sha256": ...}     a function, or a Problem, of a file
    {"module": "ocp_dyn.problems.five_link", "name": "problem", ...}              the same, of a ready problem
    {"command": "human_walk", "options": {...}, "file": "walk.npz"}               a command, and the file that it writes
    {"file": "people.py", "sha256": ...}                                          only the program that ran is known

"digest" is that of the program, if one was built: two problems with the same functions, bounds and numbers have one.
"""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...native.provenance import plain, provenance
from ..nlp.program import Assembled
from ..solution import Solution
from ..statement.statement import Statement
from ..transcription.variables import Transcription

FIRST_GUESS = "the first guess"
"""Begin of a solve from the guess of the problem; all other solves begin where a file does not tell."""

_named: WeakKeyDictionary[Statement, dict[str, Any]] = WeakKeyDictionary()


def with_origin(
    solution: Solution, problem: Statement, begin: tuple[Solution | None, Solution | None], solve: Mapping[str, Any]
) -> Solution:
    """The solution with its provenance in `stats`. begin: guess and start of the solve; solve: its options."""
    guess, start = begin
    begun = "another solution, with its multipliers" if start else "another solution" if guess else FIRST_GUESS
    found = provenance() | {"solve": plain(solve), "begin": begun, "problem": origin_of(problem)}
    return replace(solution, stats=solution.stats | {"provenance": found})


def name_problem(
    problem: Statement, make: Callable[..., Any], variant: Sequence[Any], named: Mapping[str, Any]
) -> None:
    """Keeps the function and the arguments by which a problem was made."""
    _named[problem] = origin_of_call(make, variant, named)


def origin_of(problem: Statement) -> dict[str, Any]:
    """The way to make a problem again: the function that `name_problem` was told, or its name at the top of the
    program that runs, if that is a file; with the digest of its program, if one is built."""
    built = {} if problem._kept is None else {"digest": program_digest(*problem._kept[1:3])}
    if problem in _named:
        return _named[problem] | built
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file is None or not Path(file).is_file():
        return built
    names = [name for name, value in vars(main).items() if value is problem and not name.startswith("_")]
    return _of_file(file) | ({"name": names[0], "arguments": {}} if names else {}) | built


def origin_of_call(make: Callable[..., Any], variant: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
    """The entry for a call make(*variant, **named)."""
    while isinstance(make, functools.partial):
        variant, named, make = (*make.args, *variant), {**make.keywords, **named}, make.func
    code = getattr(make, "__code__", None)
    file, name = getattr(make, "path", code and code.co_filename), getattr(make, "name", getattr(make, "__name__", ""))
    module = getattr(make, "__module__", "")
    if file is None or not Path(file).is_file():
        return {}
    where = _of_file(file)
    if module.startswith(("ocp_dyn.problems.", "problems.")):
        where = {"module": f"ocp_dyn.problems.{module.partition('problems.')[2]}"}
    return where | {"name": name, "arguments": plain(dict(named)), "variant": plain(tuple(variant))}


def _of_file(file: str) -> dict[str, Any]:
    path = Path(file).resolve()
    return {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def program_digest(transcription: Transcription, program: Assembled) -> str:
    """A digest of a problem's program: its functions, bounds, first values and declared parameters. It differs if the
    function that makes the problem was changed, and does not depend on the values of parameters in a solve."""
    declared = transcription.program
    parts = [block.key.encode() for block in program.blocks]
    arrays = (program.constants, program.row_lower, program.row_upper, declared.x_lower, declared.x_upper)
    parts += [array.tobytes() for array in (*arrays, np.concatenate([np.zeros(0), *declared.declared]))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]
