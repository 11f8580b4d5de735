"""`ocp-dyn show`: a model in the viewer, or its picture."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from .. import _names as od
from .inputs import UsageError, model_of, note

SUFFIXES = (".png", ".pdf", ".svg", ".jpg")


def run(options: argparse.Namespace) -> int:
    picture = options.out
    if picture is not None and picture.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--out {picture}: the name of a picture ends in one of {', '.join(SUFFIXES)}")
    model = model_of(options)
    drawn = picture is not None or options.view or options.labels
    if not drawn and importlib.util.find_spec("viser"):
        return _view(model)
    if not drawn:
        note('the viewer is not installed (pip install "ocp_dyn[viewer]"): a picture is drawn instead')
    picture = picture or Path(f"{model.name or 'model'}.png")
    od.viz.plot_model(model, path=picture, view=options.view, labels=options.labels or "")
    print(picture)
    return 0


def _view(model: Any) -> int:
    """Shows the model in the browser until Ctrl-C."""
    import time

    shown = model.show()
    print(getattr(shown, "url", "") or "the viewer is open in the browser")
    print("Ctrl-C ends it", file=sys.stderr, flush=True)
    while True:
        time.sleep(1.0)
