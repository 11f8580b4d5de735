"""MJCF for the fuzz: mutated texts, and files that include mutated files."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from xml.etree import ElementTree

import ocp_dyn as od

from .files import Case, Rng, _damaged, _mutate_element

MJCF = Path(__file__).with_name("arm.mjcf").read_text(encoding="utf-8")
INCLUDE = '<mujoco><include file="part.xml"/></mujoco>'


def mjcf(rng: Rng) -> Case:
    """A mutated MJCF text; one in ten is a file that another one includes."""
    if rng.random() < 0.3:
        raw = _damaged(MJCF.encode(), rng)
    else:
        root = ElementTree.fromstring(MJCF)
        for _ in range(int(rng.integers(1, 4))):
            _mutate_element(root, rng)
        raw = ElementTree.tostring(root, "utf-8")
    if rng.random() < 0.1:
        return Case(f"included: {raw[:600]!r}", lambda: _included(raw))
    return Case(repr(raw[:600]), lambda: od.io.parse_mjcf(raw).model.q_names)


def _included(raw: bytes) -> object:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", od.ModelWarning)
        Path(folder, "main.xml").write_text(INCLUDE)
        Path(folder, "part.xml").write_bytes(raw)
        return od.load(f"{folder}/main.xml").q_names
