"""Inputs of the fuzz by kind."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from . import arguments, methods, rooms, submodules
from .files import Case, Rng, json_model, npz, urdf
from .mjcf import mjcf
from .osim import osim
from .recordings import recordings
from .words import biomod, lua, sdf

CALLS = {"api": arguments, "submodules": submodules, "methods": methods, "rooms": rooms}
"""Modules whose calls get one or two wrong arguments."""

KINDS: dict[str, Callable[[Rng], Case]] = {
    "urdf": urdf, "mjcf": mjcf, "osim": osim, "sdf": sdf, "biomod": biomod, "lua": lua, "json": json_model, "npz": npz,
    "recordings": recordings,
    **{kind: (lambda rng, module=module: arguments.wrong_call(module.calls(), rng)) for kind, module in CALLS.items()},
}  # fmt: skip

FORMATS: dict[str, Callable[[Rng], Case]] = {
    ending: partial(recordings, ending=f".{ending}") for ending in ("trc", "sto", "mot", "csv", "c3d", "xml")
}
"""Recordings of one format, "xml" the setups of scaling; only --only runs them, as all are among the recordings."""


def _hog() -> object:
    """Reserves 64 GiB, piece by piece, and writes to none of it."""
    return [np.zeros(2**27) for _ in range(64)]


PLANTED: dict[str, Callable[[Rng], Case]] = {
    "crash": lambda rng: Case("ends its process", lambda: os._exit(3)),
    "fault": lambda rng: Case("reads at address 0", lambda: (faulthandler.disable(), ctypes.string_at(0))),
    "hang": lambda rng: Case("waits", lambda: time.sleep(3600)),
    "hog": lambda rng: Case("takes memory", _hog),
}
"""Mistakes that the script must find; only --only runs them."""
