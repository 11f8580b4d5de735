"""SDF, bioMod and Lua models for the fuzz: mutated texts, read as models, or for the list of their faults."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import ocp_dyn as od
from ocp_dyn.io.biomod.reader import biomod_faults
from ocp_dyn.io.rbdl.reader import rbdl_faults
from ocp_dyn.io.sdf.reader import sdf_faults

from .files import NUMBERS, TEXTS, Case, Rng, _damaged, _mutate_element, pick
from .osim import _mutate_text

SDF, BIOMOD, LUA = (
    Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("arm.sdf", "leg.bioMod", "leg.lua")
)
WORD = re.compile(r"\s+|\w+|[^\w\s]")
SIGNS = ("{", "}", "(", ")", "[", "]", "=", ",", ";", "-", "^", "..", "--", "--[[", "'", '"', "return", "function")


def sdf(rng: Rng) -> Case:
    """A mutated SDF text."""
    if rng.random() < 0.3:
        return _case(_damaged(SDF.encode(), rng), od.io.parse_sdf, sdf_faults, rng)
    root = ElementTree.fromstring(SDF)
    for _ in range(int(rng.integers(1, 4))):
        _mutate_element(root, rng)
        _mutate_text(root, rng)
    return _case(ElementTree.tostring(root, "utf-8"), od.io.parse_sdf, sdf_faults, rng)


def biomod(rng: Rng) -> Case:
    """A mutated bioMod text."""
    return _case(_mutated(BIOMOD, rng), od.io.parse_biomod, biomod_faults, rng)


def lua(rng: Rng) -> Case:
    """A mutated Lua text."""
    return _case(_mutated(LUA, rng), od.io.parse_rbdl, rbdl_faults, rng)


def _case(raw: bytes, parse: Callable[[bytes], od.Model], faults: Callable[[bytes, str], object], rng: Rng) -> Case:
    listed = rng.random() < 0.3

    def run() -> object:
        if listed:
            return faults(raw, "a text")
        model = parse(raw)
        return od.model_from_dict(od.model_to_dict(model)).q_names

    return Case(f"{'faults' if listed else 'model'} of {raw[:600]!r}", run)


def _mutated(text: str, rng: Rng) -> bytes:
    """The text with some of its words changed, doubled, exchanged or gone, or with damaged bytes."""
    if rng.random() < 0.3:
        return _damaged(text.encode(), rng)
    words = WORD.findall(text)
    for _ in range(int(rng.integers(1, 5))):
        k, j = (int(x) for x in rng.integers(len(words), size=2))
        match int(rng.integers(6)):
            case 0:
                words[k] = pick(NUMBERS, rng)
            case 1:
                words[k] = pick(TEXTS, rng)
            case 2:
                words[k] = words[j]
            case 3:
                words[k] = ""
            case 4:
                words[k] += words[k]
            case _:
                words[k] = pick(list(SIGNS), rng)
    return "".join(words).encode()
