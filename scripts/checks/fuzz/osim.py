"""OpenSim models for the fuzz: mutated texts of old and new documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import ocp_dyn as od

from .files import NUMBERS, TEXTS, Case, Rng, _damaged, _mutate_element, pick

OSIM = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("leg.osim", "old_leg.osim")]


def osim(rng: Rng) -> Case:
    """A mutated text; numbers and names of this format stand in elements, not in attributes."""
    text = pick(OSIM, rng)
    if rng.random() < 0.3:
        raw = _damaged(text.encode(), rng)
    else:
        root = ElementTree.fromstring(text)
        for _ in range(int(rng.integers(1, 4))):
            _mutate_element(root, rng)
            _mutate_text(root, rng)
        raw = ElementTree.tostring(root, "utf-8")
    up: Any = pick(["z", "y"], rng)
    keep = bool(rng.random() < 0.5)

    def run() -> object:
        model = od.io.parse_osim(raw, up=up, keep_locked=keep)
        return od.model_from_dict(od.model_to_dict(model)).q_names

    return Case(f"up={up!r}, keep_locked={keep}, {raw[:600]!r}", run)


def _mutate_text(root: ElementTree.Element, rng: Rng) -> None:
    elements = [element for element in root.iter() if (element.text or "").strip()]
    if not elements:
        return
    one, other = (elements[int(k)] for k in rng.integers(len(elements), size=2))
    match int(rng.integers(4)):
        case 0:
            one.text = pick(NUMBERS, rng)
        case 1:
            one.text = pick(TEXTS, rng).replace("\0", "")
        case 2:
            one.text = other.text
        case _:
            words = (one.text or "").split()
            words[:1] = [pick(NUMBERS, rng)]
            one.text = " ".join(words)
