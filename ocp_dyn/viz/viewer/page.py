"""A motion as one page that plays in a browser without Python and without a network."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from ..._base.checks import whole
from .scenery import Scenery
from .stage import ViewerScene

LONG = 6.0
"""Least length of a motion that repeats [s]: at every new start viser's client builds the scene anew, which one
sees."""

MOST_FRAMES = 20_000
"""Largest number of frames of a page."""


def page(scenery: Scenery, fps: float, cycles: int | None, dark: bool) -> str:
    """The text of the page: viser's client, and the messages of all frames.

    A server of its own, without a visitor, records them, so that a running viewer is not disturbed.
    """
    if cycles is not None:
        cycles = whole(cycles, "cycles", 1)
    longest = max((robot.track for robot in scenery.robots), key=lambda track: track.duration)
    if cycles is None:
        cycles = int(np.ceil(LONG / longest.duration)) if longest.duration else 1
    frames = round(longest.duration * (cycles if longest.repeats else 1) * fps)
    if frames > MOST_FRAMES:
        raise ValueError(f"save: {frames} frames are more than {MOST_FRAMES}: take a smaller fps or fewer cycles")
    before, scenery.dark = scenery.dark, dark
    try:
        stage = ViewerScene("127.0.0.1", None, *scenery.space(), dark, aside=False)
    finally:
        scenery.dark = before
    try:
        actors = scenery.actors(stage.server, stage.floor)
        _draw(stage, actors, scenery.start)
        recorder = stage.server.get_scene_serializer()
        for k in range(1, frames + 1):
            recorder.insert_sleep(1 / fps)
            _draw(stage, actors, scenery.start + k / fps)
        text: str = recorder.as_html(dark_mode=dark)
    finally:
        stage.stop()
    return text.replace("<title>Viser</title>", f"<title>{escape(scenery.title)}</title>")


def _draw(stage: ViewerScene, actors: list[Any], time: float) -> None:
    for actor in actors:
        actor.draw(time)
    stage.follow(actors[0].track.way(time) if actors else np.zeros(3))
