"""`python -m scripts.checks.formats DIR [--part osim|muscles|paths]`: every model file of a folder, read by the library
and by the program to which its format belongs; a table of counts per folder, and every refusal."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from . import mjcf, muscles, osim, paths

PARTS = {"mjcf": mjcf, "osim": osim, "muscles": muscles, "paths": paths}
COLUMNS = ("agree", "refused", "differ", "no joints", "not a model")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--part", choices=PARTS, default="mjcf")
    parser.add_argument("--folder", type=Path, help="where included files may lie; default: the folder of each file")
    options = parser.parse_args(argv)
    part = PARTS[options.part]
    counts: dict[str, Counter[str]] = {}
    worst = 0.0
    for path in part.files_in(options.directory):
        inside = path.relative_to(options.directory)
        try:
            verdict, what = part.check(path, options.folder)
        except Exception as error:  # noqa: BLE001, a foreign exception is a finding
            verdict, what = "differ", f"{type(error).__name__}: {error}"
        worst = max(worst, float(what)) if verdict == "agree" else worst
        counts.setdefault(inside.parts[0], Counter())[verdict] += 1
        if verdict in ("refused", "differ", "not a model"):
            print(f"{verdict}: {inside}: {what.replace(str(options.directory), '')}", flush=True)
    print(f"\n| folder | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    for name, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        print(f"| {name} | {' | '.join(str(count[column]) for column in COLUMNS)} |")
    print(f"\nlargest error of the files that agree: {worst:.1e}")
    return int(any(count["differ"] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
