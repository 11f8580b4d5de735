"""The entry point: runs a command, turns errors of users into one line and an exit status."""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import sys
import traceback
from collections.abc import Sequence

from . import streams
from .options import make_parser
from .streams import CLOSED_PIPE, FAULTY, UsageError

FINE, USAGE, INTERRUPTED = 0, 2, 130
"""Exit statuses: a fault in a file or a problem, or a solver that failed, is 1; a wrong command line 2; Ctrl-C 130; a
reader of a pipe that stopped 141."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `ocp-dyn` with arguments, by default those of the process; the exit status.

    >>> from ocp_dyn.cli import main
    >>> main(["info", "pendulum"])
    pendulum_1: 1 bodies, nq = 1, nv = 1, mass = 1 kg
    body   joint   kind      q  qd  mass [kg]
    link1  joint1  Revolute  0  0   1
    <BLANKLINE>
    frames, by body
    body   frames
    link1  tip
    0
    """
    options = argparse.Namespace(debug=False, parser=argparse.ArgumentParser("ocp-dyn"))
    if argv is None and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a robot may have letters that this terminal has not
    try:
        try:
            parser = make_parser()
            _suggest(parser, sys.argv[1:] if argv is None else argv)
            options, rest = parser.parse_known_args(argv)
            if rest:
                options.parser.error(f"unrecognized arguments: {' '.join(rest)}")
            status: int = importlib.import_module(f".{options.module}", __package__).run(options)
        finally:  # --help ends by SystemExit
            streams.flush()
        return status
    except KeyboardInterrupt:
        print(f"\n{options.parser.prog}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has seen enough, as `head` does
        streams.abandon()
        return CLOSED_PIPE
    except Exception as error:  # noqa: BLE001, a user of a terminal gets one line, not a traceback
        try:
            streams.flush()
        except OSError:  # a full disk, for instance
            streams.abandon()
        return _failed(options, error)


def _suggest(parser: argparse.ArgumentParser, argv: Sequence[str]) -> None:
    """Ends with the nearest command if the first word is nearly one; argparse lists them all."""
    (commands,) = (action.choices or () for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    if argv and argv[0] not in commands and (near := difflib.get_close_matches(argv[0], commands, 1)):
        parser.error(f"no command {argv[0]!r}: did you mean {near[0]!r}?")


def _failed(options: argparse.Namespace, error: Exception) -> int:
    """One line about an error on standard error; the exit status."""
    if options.debug:
        traceback.print_exception(error)
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if isinstance(error, OSError):
        text = streams.said(error)
    known = isinstance(error, (UsageError, OSError, ImportError, ValueError, KeyError, TypeError))
    if not known:
        text = f"unexpected {type(error).__name__}: {text}"
    hint = "" if known or options.debug else "; --debug shows where it was raised"
    print(f"{options.parser.prog}: {text}{hint}", file=sys.stderr)
    return USAGE if isinstance(error, UsageError) else FAULTY
