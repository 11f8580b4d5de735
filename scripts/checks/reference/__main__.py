"""Compares the library with recorded reference values: `python -m scripts.checks.reference FILE...`.

Each FILE (JSON, schema rbdl-ref-1) holds a model and, for some states, every quantity of its dynamics. The
model is rebuilt from the file alone, every recorded quantity is evaluated and compared, and per file and
quantity the worst relative error |a - b| / (1 + |b|) and the number of compared values are printed.

Exit status 0: everything agrees to 1e-9. Exit status 1: a larger error, a value that is not finite or does not have the
recorded shape, a key that this script does not know, a file that cannot be read, or nothing to compare. Quantities that
the library cannot compute yet are listed ("not built yet: ...") and are no failure.
"""

from __future__ import annotations

import sys

from scripts.checks.reference.comparison import check_file
from scripts.checks.reference.report import BadFile, Report
from scripts.common import command_line


def show(path: str, report: Report) -> None:
    """Prints the results of one file."""
    print(f"{path}: {report.count} values compared, worst {max(report.errors.values(), default=0.0):.1e}")
    for key in sorted(report.errors):
        print(f"  {key:36} {report.counts[key]:7d}   {report.errors[key]:.1e}")
    for missing in sorted(report.not_built):
        print(f"  not built yet: {missing}")
    for failure in report.failures:
        print(f"  FAILED {failure}")


def main(arguments: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE", help="JSON, schema rbdl-ref-1")
    compared, failed = 0, []
    paths = parser.parse_args(arguments).files
    for path in paths:
        try:
            report = check_file(path)
        except BadFile as error:
            print(f"{path}: error: {error}")
            failed.append(path)
            continue
        show(path, report)
        compared += report.count
        if not report.ok:
            failed.append(path)
    print(
        f"{len(paths)} file{'s' * (len(paths) != 1)}, {compared} values compared"
        + (f", FAILED: {', '.join(failed)}" if failed else "")
    )
    if not compared and not failed:
        print("nothing was compared")
    return 1 if failed or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
