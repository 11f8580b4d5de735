"""Command lines of the ready problems: options, files, report, the line of JSON.

Every `main` takes the same steps: `parser`, options of the problem, `asked` to read them and make the problem, `solve`,
or `finish` after a solve of its own.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from inspect import signature
from pathlib import Path
from textwrap import indent
from typing import Any, NoReturn, TypeVar

from .._base.checks import choice, within
from .._base.convergence import NotConvergedWarning
from .._base.display import FAILURES, attempt
from .._base.files import whole_file
from ..gait.compare import ExpectedFigures
from ..native.provenance import plain, provenance
from ..ocp import DecidingBounds, LimitCycle, NoGait, Problem, Solution
from ..simulation import Simulation, System, simulate
from ..viz import animate_simulation, overview, plot_constraint_errors, plot_energy
from ..walking import passive_figures, plot_passive_gait
from . import reporting
from .options import add_walker
from .reporting import further, shown, write
from .streams import Parser, as_json, claim, run_command, tell_replaced

__all__ = [
    "FAILURES", "INTERRUPTED", "add_person", "add_picture", "add_robot", "add_walker", "as_json", "asked",
    "asked_robot", "attempt", "bounds_of", "choice", "factors_of", "finish", "finish_cycle",
    "finish_simulation", "function_named",
    "intervals_of", "keep", "motion_of", "number_or", "parser", "person_of", "print_numbers", "run_command",
    "save_figure", "show", "solve", "within", "write",
]  # fmt: skip
"""Names that the problems use."""

BEGIN = time.perf_counter()

PROGRAM: ContextVar[str] = ContextVar("PROGRAM", default="")
"""The command that runs a problem, if it is not `python -m` with the problem's module."""


def parser(doc: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every problem has. doc: text of its help, which names the command."""
    text = (doc or "").strip()
    first = re.search(r"python -m [\w.]+", text)
    p = Parser(
        prog=PROGRAM.get() or (first and first.group()), description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    p.add_argument("--out", type=Path, metavar="DIR", help="write the solution, pictures and a report to DIR")
    p.add_argument("--json", action="store_true", help="print the numbers as one JSON object, the last line")
    p.add_argument("--quiet", action="store_true", help="no progress on standard error")
    p.add_argument("--quick", action="store_true", help="a coarse grid, for a first look and for tests")
    pictures = p.add_mutually_exclusive_group()
    pictures.add_argument("--no-pictures", action="store_true", help="only the solution and the report")
    pictures.add_argument("--pictures", action="store_true", help="with --quick too: all pictures and the animation")
    p.add_argument("--force", action="store_true", help="replace the results of an earlier run in DIR")
    return p


PERSON = {"mass": 73.0, "height": 1.741, "sex": "male"}
"""The person of a problem, if no other is asked for: mass [kg], stature [m] and sex."""


def add_person(arguments: argparse.ArgumentParser, still: bool = True) -> None:
    """The options of a person: mass, height and sex. still: also the choice of a rigid trunk."""
    add = arguments.add_argument
    add("--mass", type=float, help="body mass [kg]")
    add("--height", type=float, help="stature [m]")
    add("--sex", choices=("male", "female"))
    arguments.set_defaults(**PERSON)
    if still:
        add("--model", choices=("legs", "human"), default="human", help="legs: trunk and arms do not move")


def refuse_person(options: argparse.Namespace) -> None:
    """ValueError for options of `add_person` beside a file with the body, `--subject`."""
    for name, usual in PERSON.items():
        if options.subject is not None and getattr(options, name) != usual:
            raise ValueError(f"--{name}: the body of {options.subject} is that of the file; change it in its model")


def person_of(options: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_person` as `od.walking.person` takes them."""
    told = {name: getattr(options, name) for name in ("mass", "height", "sex")}
    return told | ({"still": options.model == "legs"} if hasattr(options, "model") else {})


def add_robot(arguments: argparse.ArgumentParser) -> None:
    """The argument ROBOT and the option --urdf, one of which says which robot moves."""
    kinds = "a name of od.robots, such as talos, or a file: URDF, MJCF, SDF or JSON"
    arguments.add_argument("robot", nargs="?", metavar="ROBOT", help=kinds)
    arguments.add_argument("--urdf", metavar="FILE", help="the file of the robot, another way to give it")


def asked_robot(options: argparse.Namespace) -> str:
    """The robot that the command line asks for: its name, or the path of its file."""
    given = [name for name in (options.robot, options.urdf) if name]
    if len(given) != 1:
        raise ValueError(f"one robot is needed, its name or its file, got {' and '.join(given) or 'none'}")
    return str(given[0])


MOST_INTERVALS = 2000
"""Largest number of intervals of a phase on the command line; more are taken for a mistake."""


def bounds_of(values: list[float] | None, most: int = 2) -> Any:
    """A number, or (lower, upper), of an option with one or two values; most: how many it may have."""
    if values is None or len(values) == 1:
        return values[0] if values else None
    if len(values) > most:
        wanted = "one number" if most == 1 else "one number, or of two as bounds"
        raise ValueError(f"an option of {wanted}, got {len(values)}: {values}")
    return tuple(values)


def factors_of(texts: Sequence[str]) -> dict[str, float]:
    """Factors by muscle, from texts such as "soleus_r=0.4" of --weaken."""
    found = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            raise ValueError(f"--weaken {text!r}: write MUSCLE=FACTOR, as in soleus_r=0.4") from None
    return found


def intervals_of(options: argparse.Namespace, usual: Any, quick: Any) -> Any:
    """Number of intervals, or several: those of --intervals, else the usual one, with --quick the quick one."""
    given = options.intervals
    if given is None:
        return quick if options.quick else usual
    for count in given if isinstance(given, list) else [given]:
        within(count, 1, MOST_INTERVALS, f"--intervals: intervals must be at least 1 and at most {MOST_INTERVALS}")
    return tuple(given) if isinstance(given, list) else given


def margins_of(options: argparse.Namespace, gait: Callable[..., Problem]) -> Any:
    """The margins of --margins: those that the gait has by default but for those that are named; None for the word
    none."""
    given, usual = options.margins or (), signature(gait).parameters["margins"].default
    return None if "none" in given else replace(usual, **dict(given))


def number_or(word: str) -> Callable[[str], float | None]:
    """The type of an option that is a number, or a word that stands for None."""

    def read(text: str) -> float | None:
        try:
            return None if text == word else float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a number or the word {word}, got {text!r}") from None

    return read


INTERRUPTED = 130
"""Exit status after Ctrl-C, as of other programs."""

T = TypeVar("T")

Words = list[str] | argparse.Namespace | None
"""Arguments of `main` of a problem."""


def _refused(arguments: argparse.ArgumentParser, text: str) -> NoReturn:
    """Ends the program as a wrong option does, but without its list of options, which is no help with a value."""
    arguments.exit(2, f"{arguments.prog}: error: {text}\n")


def asked(
    arguments: argparse.ArgumentParser, argv: Words, make: Callable[[argparse.Namespace], T], resumes: bool = False
) -> tuple[argparse.Namespace, T]:
    """Options of the command line, and the result of `make(options)`, such as the problem to solve. argv: words, by
    default those of the process, or options that another command has read.

    If `make` raises an error, the program ends with its message in one line. The folder of --out is made here, so that
    a path that cannot be written to, or holds the results of an earlier run, is reported before the solver runs.
    resumes: whether a run goes on with what an earlier one has left there.
    """
    options = argv if isinstance(argv, argparse.Namespace) else arguments.parse_args(argv)
    for action in arguments._actions:  # a solution's file of an earlier version may lack options
        if action.default is not argparse.SUPPRESS and not hasattr(options, action.dest):
            setattr(options, action.dest, action.default)
    options.ready_problem = _name_of(make)
    try:
        made = make(options)
        if options.out is not None and not resumes:
            claim(options.out, options.force)
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


def _name_of(make: Callable[..., Any]) -> str:
    """The ready problem in whose module a function stands, as `ocp-dyn problems` names it."""
    module = make.__module__
    if module == "__main__":
        module = getattr(sys.modules[module].__spec__, "name", "")
    return module.partition("problems.")[2]


def finish_cycle(
    options: argparse.Namespace,
    make: Callable[[], LimitCycle],
    slope: float,
    published: Mapping[str, float],
    title: str,
) -> int:
    """Finds the gait of a passive walker on legs of length 1, prints its numbers, draws and writes them; 0 if it was
    found, 1 if there is none."""
    try:
        cycle = make()
    except NoGait as error:
        print(error, file=sys.stderr)
        if options.json:
            print(as_json({"converged": False, "status": str(error)}))
        return 1
    numbers = {"converged": True, "slope_rad": slope, **passive_figures(cycle, 1.0), **published}
    numbers["seconds"] = round(time.perf_counter() - BEGIN, 3)
    if not cycle.stable:
        print("the gait exists but is unstable: disturbances grow from step to step", file=sys.stderr)
    print(title)
    if options.out is not None:
        plot_passive_gait(cycle, 1.0, slope, options.out / "gait.png", title)
        gait = reporting.Section("", pictures={"gait.png": "one step, limit cycle, multipliers"})
        _write_numbers(options.out, title, numbers, 12, gait)
    print_numbers(options, numbers, digits=12)
    return 0


def finish_simulation(
    arguments: argparse.ArgumentParser, options: argparse.Namespace, system: System,
    report: Callable[[Simulation], dict[str, Any]],
) -> int:  # fmt: skip
    """Simulates a mechanism, prints and writes its numbers, an animation and curves; 0, or 1 if the integration failed,
    after which the motion until then is reported."""
    try:
        run, failure = simulate(system, None if options.quiet else _progress)
    except (TypeError, ValueError) as error:
        arguments.error(str(error))
    title = f"{system.model.name.replace('_', ' ')}: {system.formulation}"
    numbers: dict[str, Any] = {"system": options.system, "formulation": system.formulation, "status": failure or "done"}
    if run is not None:
        numbers |= report(run)
    if options.out is not None and run is not None:
        attempt("motion.gif", lambda: animate_simulation(run, options.out / "motion.gif"))
        attempt("energy.png", lambda: plot_energy(run, options.out / "energy.png", title))
        attempt("constraints.png", lambda: plot_constraint_errors(run, options.out / "constraints.png", title))
        _write_numbers(options.out, title, numbers, 6, MOVES, ERRORS)
    print(title)
    if failure:
        print(failure, file=sys.stderr)
    print_numbers(options, numbers)
    return 1 if failure else 0


MOVES = reporting.Section("", pictures={"motion.gif": "animation"})
ERRORS = reporting.Section(
    "Errors",
    text="Times are in seconds, energies in joules. The energy error is the largest change of the total energy that no "
    "torque explains, relative to the largest change of the kinetic energy.",
    pictures={"energy.png": "energies", "constraints.png": "errors of the constraints"},
)


def _progress(done: int, steps: int) -> None:
    print(f"\r{done} of {steps} steps", end="\n" if done == steps else "", file=sys.stderr, flush=True)


def _write_numbers(
    out: Path, title: str, numbers: Mapping[str, Any], digits: int, *pictures: reporting.Section
) -> None:
    """The report of a motion that no solver found: its first picture, the numbers, further pictures."""
    sections = reporting.sections_of(numbers, ExpectedFigures(), digits)
    reporting.save_report(out, title, [pictures[0], *sections, *pictures[1:]], provenance())


def show(solution: Solution, file: str, **options: Any) -> None:
    """The end of a small problem: prints cost and time, and writes NAME.png to the folder of `--out` (default: the
    working directory).

    file: `__file__` of the problem, which gives its name. options: those of `ocp_dyn.viz.overview`.
    """
    name, stats = Path(file).stem, solution.stats
    arguments = Parser(prog=f"python -m ocp_dyn.problems.small.{name}")
    arguments.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="folder of the picture")
    path = arguments.parse_args().out / f"{name}.png"
    print(f"{name}: {solution.status}, {stats['iterations']} iterations, {stats['solve_seconds']:.2f} s")
    cost = ", ".join(f"{term} {value:.6g}" for term, value in solution.cost.items())
    print(f"motion of {solution.duration:.4f} s, cost {cost}")
    tell_replaced(path)
    overview(solution, path, title=f"{name.replace('_', ' ')}: {solution.duration:.2f} s", **options)
    print(f"picture: {path}")


OF_OUTPUT = ("out", "json", "quiet", "force", "no_pictures", "pictures", "alone", "ready_problem")
"""Options of a command that change no solution."""


def keep(options: argparse.Namespace, solution: Solution, name: str = "walk.npz") -> None:
    """Saves a solution to the folder of --out, so that errors in its figures and pictures cannot lose it; with the
    command and its options, by which `ocp-dyn rerun` makes it again."""
    if options.out is None:
        return
    known = solution.stats.get("provenance", {})
    problem = known.get("problem", {})
    if not {"command", "name"} & problem.keys():  # else it was read from a file, which names its problem
        told = {key: value for key, value in vars(options).items() if key not in OF_OUTPUT}
        made = {"command": getattr(options, "ready_problem", ""), "options": plain(told), "file": name}
        solution = replace(solution, stats=solution.stats | {"provenance": known | {"problem": problem | made}})
    solution.save(options.out / name)


def print_numbers(options: argparse.Namespace, numbers: Mapping[str, Any], digits: int = 6) -> None:
    """Prints numbers, one a line, and with --json as one JSON object, the last line."""
    for key, value in numbers.items():
        print(f"  {key:28s} {shown(value, digits)}")
    if options.json:
        print(as_json(numbers))


def function_named(text: str, known: Mapping[str, T]) -> T | Any:
    """The entry of a table, or the function of "module:function"; ValueError if there is none."""
    if text in known:
        return known[text]
    module, _, name = text.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        words = ", ".join(known)
        raise ValueError(f"model must be one of {words}, or module:function, got {text!r}: {error}") from error


def add_picture(options: argparse.Namespace, name: str, draw: Callable[[Path], Any]) -> None:
    """Draws a picture to the folder of --out, and adds it to the report there."""
    if (
        options.out is not None
        and not getattr(options, "no_pictures", False)
        and attempt(name, lambda: draw(options.out / name))
    ):
        reporting.append_picture(options.out, name)


def save_figure(figure: Any, path: Path) -> None:
    """Writes a figure of matplotlib, complete or not at all."""
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=150)


def solve(
    options: argparse.Namespace, problem: Problem, figures: Callable[[Solution], dict[str, Any]], title: str
) -> int:
    """Solves a problem and reports it, see `finish`; the exit status."""
    solution = motion_of(options, problem)
    return finish(options, solution, lambda: figures(solution), title)


def motion_of(options: argparse.Namespace, problem: Problem, **more: Any) -> Solution:
    """The solution of a problem, also one that did not converge, which the report tells; Ctrl-C returns the best
    iterate. more: options of `Problem.solve`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        return problem.solve(progress=not options.quiet, interrupt="return", **more)


def finish(options: argparse.Namespace, solution: Solution, figures: Callable[[], dict[str, Any]], title: str) -> int:
    """Saves the solution, then prints and writes its summary and the numbers of `figures`; the exit status.

    0 if the solver converged, 1 if not; 130 if Ctrl-C stopped it: then only the best iterate is saved.
    """
    keep(options, solution)
    if solution.status == "Interrupted":
        kept = "" if options.out is None else f"; {options.out / 'walk.npz'} holds the best iterate"
        print(f"interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    numbers: dict[str, Any] = {"converged": solution.converged, "status": solution.status, "cost": solution.objective}
    bounds = DecidingBounds(())

    def make() -> None:
        nonlocal bounds
        summary = solution.summary()
        bounds = summary.bounds
        numbers.update(summary.numbers() | figures())

    attempt("the numbers of the report", make)
    if options.out is not None:
        write(
            options.out,
            solution,
            numbers,
            bounds,
            title,
            quiet=options.quiet,
            pictures=_pictures(options),
        )
    numbers["seconds"] = round(time.perf_counter() - BEGIN, 3)
    alone = getattr(options, "alone", False)  # `ocp-dyn walk --json` prints one object, which names the files
    if not alone:
        _print_table(title, numbers, bounds)
    if not solution.converged:
        worst = solution.stats["worst_row"]
        print(f"not converged: {solution.status}; the worst constraint is {worst!r}", file=sys.stderr)
    if options.json:
        files = {"files": sorted(str(path) for path in options.out.iterdir())} if alone else {}
        print(as_json(numbers | {"deciding_bounds": bounds.as_dicts()} | files))
    return 0 if solution.converged else 1


def _print_table(title: str, numbers: Mapping[str, Any], bounds: DecidingBounds) -> None:
    print(title)
    for key, value in numbers.items():
        print(f"  {key:28s} {shown(value, 6)}")
    if bounds:
        print("\nbounds that decide")
        print(indent(str(DecidingBounds(bounds.entries[: reporting.MOST])), "  "))
        print(f"  {further(bounds)}".rstrip(), end="\n" if further(bounds) else "")


def _pictures(options: argparse.Namespace) -> Mapping[str, str]:
    """Pictures of the report: all, with --quick the figures in motion alone, unless --pictures asks for all."""
    if getattr(options, "no_pictures", False):
        return {}
    return (
        reporting.FEW if getattr(options, "quick", False) and not getattr(options, "pictures", False) else reporting.ALL
    )
