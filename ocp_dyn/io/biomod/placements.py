"""Places of segments and wrapping objects in a bioMod file: RT, as angles or as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import repr_in_message
from ...spatial_algebra.rotations import AXES, rotation_about
from .tokens import Words


def letters_of(words: Words, what: str, more: tuple[str, ...] = ()) -> str:
    """One to three of the letters x, y, z; or one of the words in `more`."""
    letters = words.word(what).lower()
    if letters not in more and (not letters or set(letters) - set("xyz") or len(letters) > 3):
        raise words.fault(f"{what} must be one to three of the letters x, y, z, got {repr_in_message(letters)}")
    return letters


def read_placement(owner: Any, words: Words) -> None:
    """Reads RT into owner.R and owner.p: three angles [rad], their sequence of axes, three lengths [m]; a matrix, 4 x
    4, where owner.as_matrix."""
    if owner.as_matrix:
        matrix = words.numbers(16, "RT as a matrix").reshape(4, 4)
        owner.R, owner.p = matrix[:3, :3], matrix[:3, 3]
        return
    angles = words.numbers(3, "RT: an angle")
    sequence = letters_of(words, "RT: the sequence of axes")
    if len(sequence) != 3:
        raise words.fault(f"RT: the sequence must have three letters, got {repr_in_message(sequence)}")
    owner.R = np.eye(3)
    for angle, letter in zip(angles, sequence, strict=True):
        owner.R = owner.R @ np.array(DM(rotation_about(AXES[letter], DM(float(angle)))).full())
    owner.p = words.numbers(3, "RT: a length")
