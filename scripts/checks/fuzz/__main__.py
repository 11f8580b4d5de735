"""Hands mutated files and wrong arguments to the library, and lists inputs that fail without an error of the library.

    python -m scripts.checks.fuzz [--seconds 300] [--count 100000] [--seed 0] [--repeat KIND NUMBER]
    [--only urdf mjcf osim sdf biomod lua json npz recordings api]

Recordings of one format: --only trc sto mot csv c3d xml. Planted mistakes test this script: --only crash fault hang
hog.

The library may accept an input, or refuse it by a ModelError, ValueError, TypeError, KeyError or IndexError that a
`raise` of ocp_dyn raises with a message of several words. Anything else is a finding: another exception or a warning, a
crash, a misspelled name or nan that is taken, more than --limit seconds, more memory than --memory megabytes. The exit
status is 1 if there is a finding. An input depends only on its seed, kind and number: --repeat runs it again and does
not catch its exception.
"""

from __future__ import annotations

import collections
import sys

from scripts.common import Table, command_line

from . import inputs
from .verdicts import case
from .workers import run


def main(arguments: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, default=300.0, help="time limit of the whole run (default 300)")
    parser.add_argument("--count", type=int, default=100_000, help="largest number of inputs (default 100000)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all inputs (default 0)")
    kinds = (*inputs.KINDS, *inputs.FORMATS, *inputs.PLANTED)
    parser.add_argument("--only", nargs="+", choices=kinds, default=list(inputs.KINDS),
                        help="kinds of inputs; default: all but planted mistakes")  # fmt: skip
    parser.add_argument("--workers", type=int, default=2, help="number of processes (default 2)")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds that one input may take")
    parser.add_argument("--memory", type=int, default=4096, help="megabytes that a worker may use")
    parser.add_argument("--start", choices=("spawn", "fork"), default="spawn", help="how workers are started")
    parser.add_argument("--repeat", nargs=2, metavar=("KIND", "NUMBER"), help="run one input again")
    options = parser.parse_args(arguments)
    if options.repeat:
        made = case(options.seed, options.repeat[0], int(options.repeat[1]))
        print(made.text)
        print(made.run())
        return 0
    counts, findings = run(options)
    report(counts, findings, options.seed)
    return 1 if findings else 0


def report(counts: dict[str, collections.Counter[str]], findings: list[tuple[str, int, str]], seed: int) -> None:
    """Prints the counts, and each group of findings of one kind, fault and call with the first of it."""
    table = Table({"kind": "<12s"} | dict.fromkeys(("tried", "refused", "accepted", "findings"), "10d"))
    for kind, tally in counts.items():
        table.row(kind, tally.total(), tally["refused"], tally["accepted"], tally["finding"])
    groups = collections.defaultdict(list)
    for kind, number, text in findings:
        groups[kind, text.split(" | ")[0][:60], text.split(" | ")[-1].split("(")[0][:30]].append((number, text))
    for (kind, *_), members in sorted(groups.items(), key=lambda item: -len(item[1])):
        number, text = members[0]
        print(f"\n{len(members)} x {kind}, e.g. --seed {seed} --repeat {kind} {number}\n    {text}")


if __name__ == "__main__":
    sys.exit(main())
