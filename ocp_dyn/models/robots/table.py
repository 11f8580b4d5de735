"""The robots of example-robot-data: files, kinds, and the frames that touch the ground."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple, cast

from ..._base.files import csv_rows

Kind = Literal["arm", "biped", "flying", "hand", "humanoid", "mechanism", "mobile", "quadruped"]
"""Kinds of robots. A biped stands on points, a humanoid on flat feet; a mobile robot has arms on a base with wheels."""

FREE: tuple[Kind, ...] = ("biped", "flying", "humanoid", "quadruped")
"""Kinds whose base moves freely; the base of the others is fixed to the ground."""


class Robot(NamedTuple):
    """A robot of example-robot-data.

    file: path of the URDF in the package's folder of robots. feet: links or frames under the feet, left before right
    and front before hind; empty where the file has none that is known to touch the ground. sole_height [m]: height of
    these frames above the ground when the robot stands; radius of the ball for feet that are points. sole [m]: half
    length and half width of a flat rectangle inside the sole; None for feet that are points. sole_ahead [m]: of the
    middle of this rectangle in front of the frame. up: the axis of the base link, and of the feet's frames, that points
    up when the robot stands. limits: whether the file's limits of joints are right; those of the simple humanoids stand
    at the wrong joints, so that their knees cannot bend.
    """

    name: str
    kind: Kind
    file: str
    feet: tuple[str, ...] = ()
    sole_height: float = 0.0
    sole: tuple[float, float] | None = None
    sole_ahead: float = 0.0
    up: Literal["x", "y", "z"] = "z"
    limits: bool = True

    @property
    def free(self) -> bool:
        """Whether the robot's base moves freely."""
        return self.kind in FREE


def _robot(row: dict[str, str]) -> Robot:
    """A row of the table, in which only what is not usual is filled in."""
    sole = (float(row["half_length"]), float(row["half_width"])) if row["half_length"] else None
    height, ahead = (float(row[key] or 0) for key in ("sole_height", "sole_ahead"))
    kind, up = cast(Kind, row["kind"]), cast(Literal["x", "y", "z"], row["up"] or "z")
    feet, limits = tuple(row["feet"].split()), row["limits"] != "wrong"
    return Robot(row["name"], kind, row["file"], feet, height, sole, ahead, up, limits)


# Radii of feet and sizes of soles are those of the shapes in the files, boxes, balls or meshes; those of the simple
# humanoids, which have no shapes, stand in the SRDF beside their URDF. Most frames do not lie in the middle of the
# soles, so that a rectangle around a frame is smaller than the sole. The three named alex_... end at the pelvis: they
# have no legs.
ROBOTS = tuple(map(_robot, csv_rows(Path(__file__).with_name("robots.csv"))))
"""All robots that the library knows, by name."""
