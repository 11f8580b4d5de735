"""Helpers of both writers: numbers and names in XML, losses of a format, inertias that MuJoCo accepts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
from casadi import DM

from ..._base.types import Array, ModelError, is_one_of, names_in_message, repr_in_message, sequence, suggestion
from ...mechanism import Model
from ...native.provenance import generator
from ...spatial_algebra.rotations import matrix_quaternion

Element = ElementTree.Element
CONTROLS = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML file may hold."""


def text_of(values: Iterable[float]) -> str:
    """Numbers with the digits that give the same doubles again."""
    return " ".join(number_text(x) for x in values)


def number_text(x: float) -> str:
    text = repr(float(x))
    return "0" if x == 0 else text.removesuffix(".0")


def child(parent: Element, tag: str, **attributes: Any) -> Element:
    """An element inside another. Values that are None are left out; numbers are written with all their digits."""
    written = {}
    for key, value in attributes.items():
        if value is None:
            continue
        if isinstance(value, bool):
            value = str(value).lower()
        elif isinstance(value, (int, float, np.number)):
            value = number_text(float(value))
        elif not isinstance(value, str):
            value = text_of(np.ravel(value))
        written[key.rstrip("_")] = value
    return ElementTree.SubElement(parent, tag, written)


def first_comment(parent: Element, sentences: Iterable[str]) -> None:
    """A comment at the beginning of an element, with the writer and the units first; two hyphens in a row would end
    it."""
    text = CONTROLS.sub("?", " ".join([f"Written by {generator()}, in SI units and radians.", *sentences]))
    while "--" in text:
        text = text.replace("--", "- -")
    parent.insert(0, ElementTree.Comment(f" {text} "))


def xml_text(root: Element) -> str:
    """The whole file. Elements may be nested to any depth, as the bodies of a long chain; the functions of Python's own
    module call themselves for every level, and give up at a thousand."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>']
    ahead: list[tuple[Element | str, int]] = [(root, 0)]
    while ahead:
        part, depth = ahead.pop()
        text = part if isinstance(part, str) else ElementTree.tostring(_alone(part), "unicode")
        if not isinstance(part, str) and len(part):
            text = text.removesuffix(" />") + ">"
            ahead.append((f"</{part.tag}>", depth))
            ahead += [(inner, depth + 1) for inner in reversed(part)]
        lines.append("  " * depth + text)
    return "\n".join(lines) + "\n"


def _alone(element: Element) -> Element:
    """The element without those inside it and without white space behind it."""
    made = ElementTree.Element(element.tag, element.attrib)
    made.text = None if len(element) else element.text
    return made


class Names:
    """Names of one kind of element: each is given once, and holds only characters that XML has."""

    def __init__(self, *taken: str) -> None:
        self.taken = set(taken)

    def new(self, wanted: str) -> str:
        """The name that is wanted, or this name with a number behind it if it is taken."""
        base = CONTROLS.sub("_", re.sub(r"[\t\r\n]", "_", wanted)) or "unnamed"
        name, k = base, 1
        while name in self.taken:
            k += 1
            name = f"{base}_{k}"
        self.taken.add(name)
        return name


def pose_attributes(R: Array, p: Array) -> dict[str, Any]:
    """pos and quat (w first) of an element of MJCF; None for those that are zero."""
    x, y, z, w = matrix_quaternion(R)
    return {"pos": p if np.any(p) else None, "quat": (w, x, y, z) if np.any((x, y, z)) else None}


def check_model(model: Any, what: str) -> None:
    if not isinstance(model, Model):
        inner = isinstance(getattr(model, "model", None), Model)
        parts = (
            "; write its .model" + (", with constraints=[*chain.loops]" if what == "write_mjcf" else "")
            if inner
            else ""
        )
        raise TypeError(f"{what} needs a Model as its first argument, got {repr_in_message(model)}{parts}")
    if model.has_symbols:
        symbols = names_in_message(model.symbolic_bodies) or "gravity"
        raise ModelError(f"{what}: the model holds symbols ({symbols}); write the "
                         "model whose values are numbers")  # fmt: skip


def check_dropped(drop: Any, losses: dict[str, str], what: str) -> tuple[str, ...]:
    """The words of `drop`; ModelError for losses, texts by word, that it does not name."""
    words = tuple(sequence((drop,) if isinstance(drop, str) else drop, f"{what}: drop must be a tuple of words"))
    for word in words:
        if not is_one_of(word, DROPS):
            raise ValueError(
                f"{what}: drop must hold some of {', '.join(DROPS)}, got "
                f"{repr_in_message(word)}{suggestion(word, DROPS)}"
            )
    missing = [word for word in losses if word not in words]
    if missing:
        parts = "; ".join(losses[word] for word in missing)
        asked = ", ".join(map(repr, dict.fromkeys((*words, *missing))))
        raise ModelError(f"{what}: the file cannot hold {parts}. To write it without them: drop=({asked},)")
    return words


DROPS = ("passive", "springs", "armature", "effort", "limits")
"""Words of the option `drop`, for parts of a model that a format lacks: nonlinear passive torques; springs; inertias of
rotors; different torque limits of both directions; limits and losses of joints for which the format has none."""


def passive_loss(model: Model) -> dict[str, str]:
    """The loss of the model's nonlinear passive torques, if it has any."""
    if not model.passive and not model.bushings:
        return {}
    if not model.passive:
        return {"passive": f"{len(model.bushings)} springs between bodies"}
    dofs = tuple(dict.fromkeys(element.dof for element in model.passive))
    return {"passive": f"{len(model.passive)} nonlinear passive torques on "
                       f"{names_in_message(dofs, 6)}"}  # fmt: skip


# Inertias

TINY = 1e-14
"""Mass [kg] and principal moments [kg m^2] that stand for zero: MuJoCo refuses less than 1e-15."""
ROUNDED = 1e-12
"""Error of A + B >= C, relative to C, that is a rounding error."""
DIGITS = 2e-3
"""Error of A + B >= C, relative to C, that a file whose numbers have few digits makes; see `check_inertia`."""


def mass_and_com(model: Model, i: int) -> tuple[float, Array, Array]:
    """Mass, center of mass and inertia about it (3x3) of body i, in body axes."""
    body = model.I[i]
    c, I = body.central()
    return float(body.m), np.array(c.full()).ravel(), np.array(DM(I).full())


def principal(I: Array) -> tuple[Array, Array]:
    """Principal moments of a symmetric 3x3 matrix and axes as columns, a rotation; exact for a diagonal matrix."""
    I = (I + I.T) / 2
    if not np.any(I - np.diag(np.diag(I))):
        return np.diag(I).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(I)
    return moments, axes * np.sign(np.linalg.det(axes))


def balance_moments(moments: Array) -> Array:
    """Principal moments that a body can have: the lower two raised by half of what is missing in A + B >= C."""
    found = np.maximum(moments, TINY)
    order = np.argsort(found)
    low, middle, high = found[order]
    missing = high - low - middle
    if missing > 0:
        low, middle = low + missing / 2, middle + missing / 2
        while low + middle < high:
            low = np.nextafter(low, np.inf)
            middle = np.nextafter(middle, np.inf)
    out = np.empty(3)
    out[order] = low, middle, high
    return out


def defect(moments: Array, terms: float) -> float:
    """The shortfall of A + B >= C, relative to C, of principal moments; negative ones fall short, too.

    terms: size of the numbers whose differences they are; rounding errors of these do not count.
    """
    low, middle, high = np.sort(moments)
    missing = high - low - middle
    return float(missing / max(high, TINY)) if missing > max(TINY, 1e-14 * terms) else 0.0


def zero_pivots(H: Array, locked: Array) -> list[int]:
    """Indices of the pivots of H = L' D L that are zero beside the inertias with all joints beyond locked."""
    H, found = H.copy(), []
    least = np.maximum(10 * TINY, ROUNDED * locked)
    for k in reversed(range(len(H))):
        if not H[k, k] > least[k]:
            found.append(k)
            continue
        row = H[k, :k] / H[k, k]
        H[:k, :k] -= np.outer(H[k, :k], row)
    return found[::-1]


def names_shown(names: Sequence[str]) -> str:
    return names_in_message(tuple(dict.fromkeys(names)), 8)
