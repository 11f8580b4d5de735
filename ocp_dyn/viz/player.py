"""A motion as one self-contained .html page, which plays it in a browser and lets the user stop, slow and turn it."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._base.templates import text_of
from .._base.types import Array
from .drawing import COLORS, FORCE, INK, SHADE, color_of, rank_of
from .skeleton import Segment

TEMPLATE = Path(__file__).parent / "templates" / "player.html.in"

MILLIMETERS = 1000.0
"""Millimeters per meter: positions are written as whole millimeters, a tenth of a pixel for a human."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Content of a page.

    points (frames, n, 3) [m]: positions relative to the camera, in the order of the points of the segments. camera
    (frames): its x [m]. forces: for every frame, pairs (center of pressure (3), arrow (3)) [m]. captions: a text for
    every frame. dt: time between frames [s]. repeats: whether the motion is a loop. grounded: whether to draw the
    ground. azimuth: direction of the first view [degrees], 0 from the right, 90 from ahead. words: names of the sides.
    faces, risers: corners (4, 3) of the faces of the ground, and of the upright faces below their edges [m].
    """

    title: str
    segments: list[Segment]
    points: Array
    camera: Array
    forces: list[list[tuple[Array, Array]]]
    captions: list[str]
    dt: float
    repeats: bool
    grounded: bool
    azimuth: float
    words: dict[Any, str]
    faces: Sequence[Array] = ()
    risers: Sequence[Array] = ()


def page(scene: Scene, size: tuple[int, int], speed: float) -> str:
    """The text of the page. size: of the picture [pixels]; speed: the initial one (1: real time)."""
    data = json.dumps(_data(scene), separators=(",", ":"), allow_nan=False)
    legend = "".join(
        f'<span style="color:{color}">&#9679; {html.escape(word)}</span>' for color, word in _legend(scene)
    )
    return text_of(
        TEMPLATE,
        title=html.escape(scene.title),
        legend=legend,
        width=size[0],
        height=size[1],
        speed=f"{speed:g}",
        azimuth=f"{scene.azimuth:g}",
        ink=INK,
        data=data.replace("</", "<\\/"),
    )


def _legend(scene: Scene) -> list[tuple[str, str]]:
    found = [(COLORS[side], word) for side, word in scene.words.items()]
    return found + ([(FORCE, "ground force")] if any(scene.forces) else [])


def _data(scene: Scene) -> dict[str, Any]:
    """The data that the page's script reads, with lengths in whole millimeters."""
    shapes = [
        {
            "n": len(segment.points),
            "r": [round(MILLIMETERS * r) for r in segment.radii],
            "c": color_of(segment),
            "k": rank_of(segment),
        }
        for segment in scene.segments
    ]
    forces = [[_whole(np.concatenate(pair)) for pair in frame] for frame in scene.forces]
    return {
        "dt": scene.dt,
        "repeats": scene.repeats,
        "grounded": scene.grounded,
        "shapes": shapes,
        "points": [_whole(frame.ravel()) for frame in scene.points],
        "camera": _whole(scene.camera),
        "faces": [_whole(face.ravel()) for face in scene.faces],
        "risers": [_whole(riser.ravel()) for riser in scene.risers],
        "shade": SHADE,
        "forces": forces,
        "captions": scene.captions,
        "ink": INK,
        "force": FORCE,
    }


def _whole(x: Array) -> list[int]:
    found: list[int] = np.round(MILLIMETERS * x).astype(int).tolist()
    return found
