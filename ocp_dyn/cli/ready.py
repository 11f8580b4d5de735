"""`ocp-dyn problems`: the list of the ready problems, and a run of one."""

from __future__ import annotations

import argparse
import ast
import importlib
import runpy
import sys
from pathlib import Path
from typing import Any

from .._base.types import suggestion
from .streams import UsageError, table

GROUPS = {"": "problems", "small.": "small problems, to copy", "extending.": "extensions of the library, to copy"}


def run(options: argparse.Namespace) -> int:
    known = problems()
    if options.name is None:
        print(_listed(known))
        return 0
    name = options.name.removesuffix(".py").replace("/", ".")
    if name not in known:
        short = {full.rpartition(".")[2]: full for full in known}
        if name not in short:
            raise UsageError(
                f"no problem {options.name!r}{suggestion(name, list(dict.fromkeys([*known, *short])))}; `ocp-dyn "
                "problems` lists all"
            )
        name = short[name]
    if options.path or "--path" in options.arguments:
        print(known[name])
        return 0
    if "." not in name:
        return run_problem(name, options.arguments, f"{options.parser.prog} {name}")
    if name.startswith("extending.") and options.arguments:
        if not {"-h", "--help"} & set(options.arguments):
            raise UsageError(f"{name} has no options, got {' '.join(options.arguments)}")
        print(ast.get_docstring(ast.parse(known[name].read_text(encoding="utf-8"))))
        return 0
    return _run_script(name, options.arguments)


def problems() -> dict[str, Path]:
    """The files of all problems by name: `human_walk`, `small.rotor`, `extending.cost`."""
    package = importlib.import_module("ocp_dyn.problems")
    found = [(prefix, folder) for folder in package.__path__ for prefix in GROUPS]
    return {
        prefix + path.stem: path
        for prefix, folder in found
        for path in sorted((Path(folder) / prefix.rstrip(".")).glob("[a-z]*.py"))
    }


def run_problem(name: str, arguments: list[str] | argparse.Namespace, program: str) -> int:
    """Runs the main function of a problem, whose help and errors name `program`; its exit status. arguments: words of a
    command line, or options that were read."""
    command = importlib.import_module("ocp_dyn.cli.examples")
    before = command.PROGRAM.set(program)
    try:
        status: int = importlib.import_module(f"ocp_dyn.problems.{name}").main(arguments)
        return status
    finally:
        command.PROGRAM.reset(before)


def _run_script(name: str, arguments: list[str]) -> int:
    """Runs a small problem or an example, which read the arguments of the process."""
    before = sys.argv
    sys.argv = [name, *arguments]
    try:
        runpy.run_module(f"ocp_dyn.problems.{name}", run_name="__main__", alter_sys=True)
    finally:
        sys.argv = before
    return 0


def _listed(known: dict[str, Path]) -> str:
    """The names by group, each with the first sentence of its file."""
    parts = []
    for prefix, title in GROUPS.items():
        names = [name for name in known if name.rpartition(".")[0] == prefix.rstrip(".")]
        parts.append(f"{title}\n" + "\n".join(f"  {line}" for line in _rows(known, names)))
    return "\n\n".join(parts) + "\n\n`ocp-dyn problems NAME --help` tells the options of a problem."


def _rows(known: dict[str, Path], names: list[str]) -> list[str]:
    rows: Any = [(name, _summary(known[name])) for name in names]
    return table(rows[0], rows[1:]).splitlines()


def _summary(path: Path) -> str:
    """The first sentence of a file's docstring, without its period."""
    doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(doc.split("\n\n")[0].split())
    end = next((k for k in range(len(first)) if first[k] == "." and first[k + 1 : k + 2] in ("", " ")), len(first))
    return first[:end]
