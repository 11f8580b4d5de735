"""Parts common to the command lines of all problems: options, files, report, the line of JSON.

Every `main` takes the same steps: `parser`, options of the problem, `asked` to read them and make the problem, solve,
`finish`.
"""

from __future__ import annotations

import argparse
import numbers
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from textwrap import indent
from typing import Any, NoReturn, TypeVar

import numpy as np

from ocp_dyn.cli.report import as_json
from ocp_dyn.io import whole_file
from ocp_dyn.ocp import DecidingBounds, Solution
from ocp_dyn.viz import stick_figure

BEGIN = time.perf_counter()


PROGRAM: ContextVar[str] = ContextVar("PROGRAM", default="")
"""The command that runs a problem, if it is not `python -m` with the problem's module."""


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every problem has. doc: text of its help.

    Commands in the text, `python -m problems.NAME`, become those that run here: an installed package has the
    problems in `ocp_dyn.problems`.
    """
    text = re.sub(r"python -m problems\b", f"python -m {__package__}", (doc or "").strip())
    first = re.search(r"python -m [\w.]+", text)
    p = argparse.ArgumentParser(
        prog=PROGRAM.get() or (first and first.group()), description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("--out", type=Path, metavar="DIR", help="write the solution, pictures and a report to DIR")
    p.add_argument("--json", action="store_true", help="print the numbers as one JSON object, the last line")
    p.add_argument("--quiet", action="store_true", help="no progress on standard error")
    p.add_argument("--quick", action="store_true", help="a coarse grid, for a first look and for tests")
    return p


def within(value: Any, low: float, high: float, must: str) -> float:
    """The value as a number; TypeError if it is none, ValueError unless it lies from low to high. must: what it has to be,
    with which the message begins."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, np.number)):
        raise TypeError(f"{must}, got {value!r}: give one number")
    if not low <= float(value) <= high:
        raise ValueError(f"{must}, got {value}")
    return float(value)


INTERRUPTED = 130
"""Exit status after Ctrl-C, as of other programs."""

T = TypeVar("T")


def _refused(arguments: argparse.ArgumentParser, text: str) -> NoReturn:
    """Ends the program as a wrong option does, but without its list of options, which is no help with a value."""
    arguments.exit(2, f"{arguments.prog}: error: {text}\n")


def asked(
    arguments: argparse.ArgumentParser, argv: list[str] | None, make: Callable[[argparse.Namespace], T]
) -> tuple[argparse.Namespace, T]:
    """Options of the command line, and the result of `make(options)`, such as the problem to solve.

    If `make` raises an error, the program ends with its message in one line. The folder of --out is made here, so that
    a path that cannot be written to is reported before the solver runs.
    """
    options = arguments.parse_args(argv)
    try:
        made = make(options)
    except (ValueError, KeyError, OSError) as error:
        _refused(arguments, str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error))
    if options.out is not None:
        try:
            options.out.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=options.out):
                pass
        except OSError as error:
            _refused(arguments, f"--out {options.out}: no file can be written there: {error.strerror}")
    return options, made


BOUNDS = ("bound that decides", "side", "value", "phases", "% of the motion", "times", "cost per unit")
"""Head of the report's table of bounds; the last column is the decrease of the cost per unit of a wider bound."""

MOST = 10
"""Largest number of lines of this table."""

FAILURES = (ArithmeticError, AttributeError, ImportError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""Exceptions that the numbers or a picture of a solution may raise."""


def keep(options: argparse.Namespace, solution: Solution, name: str = "walk.npz") -> None:
    """Saves a solution to the folder of --out, so that errors in its figures and pictures cannot lose it."""
    if options.out is not None:
        solution.save(options.out / name)


def attempt(what: str, make: Callable[[], object]) -> bool:
    """Whether `make` succeeds; an error becomes a line on standard error, and the solution is kept."""
    try:
        make()
    except FAILURES as error:
        print(f"{what} could not be made: {type(error).__name__}: {error}", file=sys.stderr)
        return False
    return True


def finish(options: argparse.Namespace, solution: Solution, figures: Callable[[], dict[str, Any]], title: str) -> int:
    """Saves the solution, then prints and writes its summary and the numbers of `figures`; the exit status.

    0 if the solver converged, 1 if not; 130 if Ctrl-C stopped it: then only the best iterate is saved.
    """
    keep(options, solution)
    if solution.status == "Interrupted":
        kept = "" if options.out is None else f"; {options.out / 'walk.npz'} holds the best iterate"
        print(f"interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    numbers: dict[str, Any] = {"converged": solution.converged, "status": solution.status}
    bounds = DecidingBounds(())

    def make() -> None:
        nonlocal bounds
        summary = solution.summary()
        bounds = summary.bounds
        numbers.update(summary.numbers() | figures())

    attempt("the numbers of the report", make)
    if options.out is not None:
        write(options.out, solution, numbers, bounds, title, quiet=options.quiet)
    numbers["seconds"] = round(time.perf_counter() - BEGIN, 3)
    print(title)
    for key, value in numbers.items():
        print(f"  {key:28s} {_shown(value)}")
    if bounds:
        print("\nbounds that decide")
        print(indent(str(DecidingBounds(bounds.entries[:MOST])), "  "))
        print(_further(bounds), end="")
    if not solution.converged:
        worst = solution.stats["worst_row"]
        print(f"not converged: {solution.status}; the worst constraint is {worst!r}", file=sys.stderr)
    if options.json:
        print(as_json(numbers | {"deciding_bounds": bounds.as_dicts()}))
    return 0 if solution.converged else 1


def write(
    out: Path, solution: Solution, numbers: dict[str, Any], bounds: DecidingBounds, title: str, *, quiet: bool = False
) -> None:
    """walk.gif, strip.png, motion.png and report.md in `out`, beside walk.npz."""
    if not quiet:
        print(f"writing {out}/report.md and its pictures ...", file=sys.stderr, flush=True)
    attempt("walk.gif", lambda: solution.animate(out / "walk.gif"))
    attempt("motion.png", lambda: solution.plot(out / "motion.png"))
    attempt("strip.png", lambda: stick_figure(solution, out / "strip.png"))
    rows = "\n".join(f"| {key.replace('_', ' ')} | {_shown(value)} |" for key, value in numbers.items())
    cost = "\n".join(f"| {name} | {value:.6g} |" for name, value in solution.cost.items())
    decide = _table(bounds) if bounds else "No bound of a duration, joint, place or parameter decides this motion."
    text = f"""# {title}

![the motion in pictures](strip.png)

![animation](walk.gif)

| quantity | value |
|---|---|
{rows}

| cost term | value |
|---|---|
{cost}

{decide}

![joint angles, torques and forces](motion.png)

Solved on {platform.machine()}, Python {platform.python_version()}. `walk.npz` holds everything:
`ocp_dyn.ocp.Solution.load("walk.npz")`.
"""
    with whole_file(out / "report.md") as partial:
        partial.write_text(text, encoding="utf-8")


def _table(bounds: DecidingBounds) -> str:
    """The bounds as a table in Markdown."""
    rows = [BOUNDS, ("---",) * len(BOUNDS), *bounds.lines()[:MOST]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + f"\n\n{_further(bounds)}".rstrip()


def _further(bounds: DecidingBounds) -> str:
    """A line that counts the bounds that the table leaves out."""
    rest = len(bounds) - MOST
    return f"  and {rest} more that are worth less: solution.deciding() has all\n" if rest > 0 else ""


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
