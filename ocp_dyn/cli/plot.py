"""`ocp-dyn plot`: pictures of a saved solution."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import _names as od
from .._base.files import no_file
from .streams import UsageError, tell_replaced

PICTURES = (".png", ".pdf", ".svg")
ENDINGS = {"motion": PICTURES, "strip": PICTURES, "overview": PICTURES, "animation": (".gif", ".html", ".mp4"),
           "summary": ()}  # fmt: skip
"""Endings of the files that each choice of --what is written to."""


def run(options: argparse.Namespace) -> int:
    if not options.result.is_file():
        raise UsageError(f"{no_file(options.result)}; expected a solution that Solution.save wrote")
    endings = ENDINGS[options.what]
    if options.out is not None and options.out.suffix.lower() not in endings:
        raise UsageError(
            f"--out {options.out}: --what {options.what} is written as one of {', '.join(endings)}"
            if endings
            else f"--out {options.out}: --what {options.what} is printed, not written to a file"
        )
    if options.reference and options.what != "motion":
        raise UsageError(f"--reference is drawn behind the curves of --what motion, not of {options.what}")
    solution = od.ocp.Solution.load(options.result)
    if options.what == "summary":
        print(solution.summary())
        return 0
    path: Path = options.out or options.result.with_suffix(".gif" if options.what == "animation" else ".png")
    tell_replaced(path)
    if options.what == "motion":
        solution.plot(path, reference=options.reference)
    elif options.what == "animation":
        solution.animate(path)
    elif options.what == "strip":
        od.viz.stick_figure(solution, path)
    else:
        od.viz.overview(solution, path)
    print(path)
    return 0
