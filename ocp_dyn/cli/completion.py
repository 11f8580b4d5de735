"""`ocp-dyn completion SHELL`: a script for bash, zsh or fish, which shtab makes from the parser.

The scripts need no Python while a user types: they hold the commands, options and choices of the parser, and the names
of models, robots and problems.
"""

from __future__ import annotations

import argparse

from .inputs import MODELS
from .options import make_parser
from .ready import problems
from .streams import UsageError

FILES_ALONE = ("check", "plot", "sweep")
"""Commands whose files have no names to choose from."""


def run(options: argparse.Namespace) -> int:
    print(script(options.shell))
    return 0


def script(shell: str) -> str:
    """The script for a shell; UsageError if shtab is not installed."""
    try:
        import shtab
    except ImportError:
        raise UsageError('completion needs shtab: pip install "ocp_dyn[completion]"') from None
    parser, choices, before = make_parser(), names(), []
    (group,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for command, of_command in group.choices.items():
        for action in of_command._actions:
            if action.dest == "out" or (action.dest in ("file", "result") and command in FILES_ALONE):
                action.complete = shtab.FILE
            elif command in choices and action.dest in ("file", "name"):
                completer = f"_ocp_dyn_{action.dest}_of_{command}"  # with "_file", bash quotes blanks in what it gives
                action.complete = dict.fromkeys(("bash", "zsh"), completer) | {"fish": f"({completer})"}
                before.append(_completer(shell, completer, choices[command], files=action.dest == "file"))
    return str(shtab.complete(parser, shell, preamble="\n".join(before)))


def names() -> dict[str, tuple[str, ...]]:
    """Names that commands take in place of files, or beside their options."""
    from .. import _names as od

    robots = od.robots.names()
    walkers = tuple(name for name in robots if len(od.robots.describe(name).feet) > 1)
    models = dict.fromkeys(("info", "show", "export", "convert", "bench"), tuple(dict.fromkeys((*MODELS, *robots))))
    return {**models, "walk": ("human", *walkers), "problems": tuple(problems())}


def _completer(shell: str, name: str, words: tuple[str, ...], files: bool) -> str:
    """A function of the shell that gives words, and files too if they are asked for."""
    listed = " ".join(words)
    if shell == "bash":
        lines = [f'compgen -W "{listed}" -- "$1"', *['compgen -f -- "$1"'] * files]
    elif shell == "zsh":
        lines = [f"compadd -- {listed}", *["_files"] * files]
    else:
        lines = [f"printf '%s\\n' {listed}", *["__fish_complete_path (commandline -ct)"] * files]
    return "\n  ".join([f"function {name}" if shell == "fish" else f"{name}() {{", *lines]) + (
        "\nend" if shell == "fish" else "\n}"
    )
