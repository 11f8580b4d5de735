"""Inputs of `fuzz.py` by kind."""

from __future__ import annotations

from collections.abc import Callable

from scripts.fuzz_arguments import api
from scripts.fuzz_files import Case, Rng, json_model, npz, urdf
from scripts.fuzz_rooms import rooms

KINDS: dict[str, Callable[[Rng], Case]] = {"urdf": urdf, "json": json_model, "npz": npz, "api": api, "rooms": rooms}
