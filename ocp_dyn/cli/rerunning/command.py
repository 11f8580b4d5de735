"""`ocp-dyn rerun`: the problem that a file names, by a command, function or variable, is made and solved again."""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ... import _names as od
from ..._base.convergence import NotConvergedWarning
from ..._base.files import no_file
from ..._base.types import ModelError, suggestion
from ...io.npz import read_arrays
from ...ocp.workflows.origin import FIRST_GUESS
from ..examples import OF_OUTPUT
from ..inputs import note
from ..ready import problems, run_problem
from ..streams import UsageError, as_json, table
from ..sweeping.command import python_file
from .comparison import Apart, apart, changes, figures

REMEDY = "name the problem: ocp-dyn rerun FILE --problem my_walk.py:NAME, where NAME is a Problem or a function"


def run(options: argparse.Namespace) -> int:
    if not options.result.is_file():
        raise UsageError(f"{no_file(options.result)}; expected a solution that Solution.save wrote")
    if options.arguments and not options.problem:
        raise UsageError("--arguments are those of the function of --problem FILE.py:NAME, which is missing")
    told = provenance_of(options.result)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # the table tells it
        saved, again = _both(options, told)
    if options.out is not None:
        again.save(options.out)
    distance = apart(saved, again)
    made = again.stats["provenance"]
    differ = changes(told, made)
    if options.json:
        numbers = {name: {"saved": a, "again": b} for name, (a, b) in (figures(saved, again) | differ).items()}
        print(as_json(distance._asdict() | numbers))
    else:
        print(_text(saved, again, distance, differ))
    if told.get("begin", FIRST_GUESS) != FIRST_GUESS:
        note(f"the saved solve began from {told['begin']}, this one from {FIRST_GUESS}")
    digests = {(each.get("problem") or {}).get("digest") for each in (told, made)} - {None}
    if len(digests) > 1:
        note("the two programs differ: the code that makes the problem, its numbers, or the library has changed")
    return 0 if saved.converged and again.converged and distance.q <= options.within else 1


def provenance_of(path: Path) -> dict[str, Any]:
    """The provenance in a file of a solution; {} in one of an earlier version. ModelError for another kind of file."""
    try:
        about = json.loads(str(read_arrays(path)["about"]))
        found = about["stats"].get("provenance", {})
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise ModelError(f"{path} is not a solution file: {error}; expected one that Solution.save wrote") from None
    if not isinstance(found, dict) or not all(isinstance(found.get(key, {}), dict) for key in ("problem", "solve")):
        raise ModelError(f"{path} holds a provenance that ocp_dyn does not write: {str(found)[:80]}; {REMEDY}")
    return found


def _both(options: argparse.Namespace, told: Mapping[str, Any]) -> tuple[od.ocp.Solution, od.ocp.Solution]:
    """The saved solution, and that of the problem solved again."""
    origin = told.get("problem", {})
    if not options.problem and origin.get("command"):
        return od.ocp.Solution.load(options.result), _of_command(options, origin)
    problem = _problem(options, origin)
    classes = {type(joint) for joint in problem.model.joints if not type(joint).__module__.startswith("ocp_dyn.")}
    saved = od.ocp.Solution.load(options.result, problem=problem, joints=tuple(classes))
    given = dict(told.get("solve", {}))
    own = given.pop("options", {})
    return saved, problem.solve(progress=not options.quiet, interrupt="return", **given, **own)


def _of_command(options: argparse.Namespace, origin: Mapping[str, Any]) -> od.ocp.Solution:
    """The solution of a ready problem whose command runs again, into a folder that is removed."""
    name, known = str(origin["command"]), problems()
    if name not in known:
        raise ModelError(
            f"{options.result} was made by the ready problem {name!r}, which this version has not"
            f"{suggestion(name, known)}; {REMEDY}"
        )
    if not options.quiet:
        note(f"{options.result} was made by the ready problem {name}, which is run again with its options")
    with tempfile.TemporaryDirectory() as folder:
        given = {str(key): value for key, value in dict(origin.get("options", {})).items() if key not in OF_OUTPUT}
        asked = argparse.Namespace(**given, json=False, quiet=options.quiet, force=True, no_pictures=True, alone=True)
        asked.out = Path(folder)
        run_problem(name, asked, f"{options.parser.prog} {options.result}")
        made = Path(folder, str(origin.get("file", "walk.npz")))
        if not made.is_file():
            raise ModelError(f"the ready problem {name!r} wrote no file {made.name!r} this time; {REMEDY}")
        return od.ocp.Solution.load(made)


def _problem(options: argparse.Namespace, origin: Mapping[str, Any]) -> od.ocp.Problem:
    """The problem of --problem, else of the file or module that the solution names."""
    if options.problem:
        file, colon, name = options.problem.rpartition(":")
        if not (colon and file and name):
            raise UsageError(f"--problem: FILE.py:NAME, such as my_walk.py:walk, got {options.problem!r}")
        named = dict(_argument(text) for text in options.arguments)
        return _made(python_file(Path(file))[1], file, name, (), named)
    where = origin.get("module") or origin.get("file")
    if not where or not origin.get("name"):
        source = f"{where} solved it, but its name there is not known" if where else "it says not which program made it"
        raise ModelError(f"{options.result} holds a solution but not its problem: {source}; {REMEDY}")
    if origin.get("module"):
        module = str(origin["module"]).removeprefix("ocp_dyn.problems.")
        if module not in problems():
            raise ModelError(f"{options.result} was made by {where}, which this version has not; {REMEDY}")
        found: Any = importlib.import_module(f"ocp_dyn.problems.{module}")
    else:
        file = _unchanged(options.result, Path(where), origin)
        _allow(options, file)
        found = python_file(file)[1]
    return _made(found, where, str(origin["name"]), origin.get("variant", ()), origin.get("arguments", {}))


def _allow(options: argparse.Namespace, file: Path) -> None:
    """Says which code is run, which is not this library's; asks for it at a terminal. ModelError unless it may run."""
    if not (options.quiet and options.yes):
        note(f"{options.result} was made by {file.resolve()}, which is run to make the problem again")
    if options.yes:
        return
    if not (sys.stdin and sys.stdin.isatty()):
        raise ModelError(
            f"{file} is no part of this library, and is not run without a yes: read it, then add --yes, or name it: "
            f"--problem {file}:NAME"
        )
    print("run it? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise ModelError(f"{file} was not run")


def _unchanged(result: Path, file: Path, origin: Mapping[str, Any]) -> Path:
    """The Python file of a solution, where it was or beside the solution; ModelError if it is not the one that was
    run."""
    found = [path for path in (file, result.resolve().parent / file.name) if path.is_file()]
    if not found:
        raise ModelError(f"{result} was made by {file}, which is not there any more; {REMEDY}")
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in found]
    if origin.get("sha256") not in digests:
        raise ModelError(
            f"{result} was made by {found[0]}, which has changed since, so its code is not run; to solve what it says "
            f"now: --problem {found[0]}:{origin['name']}"
        )
    return found[digests.index(origin["sha256"])]


def _made(module: Any, where: Any, name: str, variant: Any, named: Mapping[str, Any]) -> od.ocp.Problem:
    """The Problem of this name in a module, or the one that a function of this name returns."""
    found = getattr(module, name, None)
    if found is None:
        raise UsageError(f"{where} has no {name!r}{suggestion(name, vars(module))}; expected a Problem or a function")
    if not isinstance(found, od.ocp.Problem) and callable(found):
        found = found(*variant, **named)
    if not isinstance(found, od.ocp.Problem):
        raise UsageError(f"{name} of {where} is no Problem and returns none, but {type(found).__name__}")
    return found


def _argument(text: str) -> tuple[str, Any]:
    """Name and value of NAME=VALUE: a number, a list or another value of JSON, else a text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UsageError(f"--arguments: NAME=VALUE, such as speed=1.2, got {text!r}")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _text(saved: od.ocp.Solution, again: od.ocp.Solution, distance: Apart, differ: dict[str, Any]) -> str:
    """The result as text."""
    rows = [(name, *map(_shown, pair)) for name, pair in (figures(saved, again) | differ).items()]
    lines = [table(("", "saved", "again"), rows), ""]
    if distance.same_bits:
        return "\n".join([*lines, "the two motions are the same to the last bit"])
    cost = abs(again.objective - saved.objective) / max(abs(saved.objective), 1e-300)
    tau = "" if distance.tau != distance.tau else f"; torques differ by at most {distance.tau:.2g}"
    lines += [f"q differs by at most {distance.q:.2g} ({distance.dof}){tau}; the cost by {cost:.1g} of itself"]
    return "\n".join(lines)


def _shown(value: Any) -> str:
    return f"{value:.10g}" if isinstance(value, float) else str(value)
