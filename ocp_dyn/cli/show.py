"""`ocp-dyn show`: a model or a motion in the browser, a page of it, or a picture of a model."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import webbrowser
from pathlib import Path
from typing import Any

from .. import _names as od
from .._base.files import no_file
from .inputs import model_of, note
from .streams import UsageError, tell_replaced

PICTURES, PAGE = (".png", ".pdf", ".svg", ".jpg"), ".html"
INSTALL = 'pip install "ocp_dyn[viewer]"'


def run(options: argparse.Namespace) -> int:
    suffix = None if options.out is None else options.out.suffix.lower()
    motion = str(options.file).endswith(".npz")
    if suffix not in (None, PAGE, *PICTURES):
        raise UsageError(
            f"--out {options.out}: the name of a picture ends in one of {', '.join(PICTURES)}, of a page in {PAGE}"
        )
    if motion and suffix in PICTURES:
        raise UsageError(f"a motion has no single picture: `ocp-dyn plot {options.file}` draws it")
    if motion and not Path(options.file).is_file():
        raise UsageError(f"{no_file(Path(options.file))}; expected a solution that Solution.save wrote")
    if motion and options.root != "auto":
        raise UsageError("--root is for URDFs and robots by name; a solution holds its model")
    if (options.view or options.labels) and (motion or suffix == PAGE):
        raise UsageError("--view and --labels are for pictures of a model, not for pages and motions in the viewer")
    viewer = importlib.util.find_spec("viser") is not None
    if not viewer and (motion or suffix == PAGE):
        raise UsageError(f"this needs the viewer: {INSTALL}")
    shown: Any = od.ocp.Solution.load(options.file) if motion else model_of(options)
    if viewer and suffix in (None, PAGE) and not (options.view or options.labels):
        return _view(shown, options)
    if suffix is None and not viewer:
        note(f"the viewer is not installed ({INSTALL}): a picture is drawn instead")
    picture = options.out or Path(f"{shown.name or 'model'}.png")
    tell_replaced(picture)
    od.viz.plot_model(shown, path=picture, view=options.view, labels=options.labels or "")
    print(picture)
    return 0


def _view(shown: Any, options: argparse.Namespace) -> int:
    """Shows a model or a motion in the browser until Ctrl-C, or writes the page."""
    with od.viz.show(shown) as viewer:
        if options.out is not None:
            tell_replaced(options.out)
            viewer.save(options.out)
            print(options.out)
            return 0
        print(viewer.url, flush=True)
        print("Ctrl-C ends the viewer", file=sys.stderr, flush=True)
        if not options.no_browser:
            webbrowser.open(viewer.url)
        viewer.block()
    return 0
