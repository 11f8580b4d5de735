"""`Viewer`: robots in the browser, with the clock that plays them."""

from __future__ import annotations

import threading
import time as clock
from html import escape
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..._base.checks import choice, positive
from ..._base.convergence import MARK
from ..._base.files import path_of
from ..._base.types import Array, finite, finite_vector, repr_in_message, truth
from ...gait.unrolled import check_quaternions
from ..drawing import picture_file
from ..pictures.mechanism import plot_model
from ..shown.path import AnimationPath
from . import track as tracks
from .actor import LAYERS
from .channel import frame, proxied_url
from .panel import JointPanel, MotionPanel, ViewPanel
from .scenery import Scenery
from .stage import ViewerScene

FRAMES_PER_SECOND = 60.0
HEIGHT = 520
"""Height of the viewer in a notebook [pixels]."""

PAUSE = 0.8
"""Pause at the end of a motion before it starts again [s]."""


class Viewer:
    """A running viewer, as `show` returns it.

        viewer = solution.show()
        print(viewer.url)                 # open it in a browser; a notebook shows it by itself
        viewer.time = 0.3                 # stops there; viewer.play(0.5) goes on at half speed
        viewer.save("walk.html")          # a page that plays without Python and without a network
        viewer.block()                    # at the end of a script: until Ctrl-C or viewer.close()

    The server runs in threads of this process and ends with it, with `close()`, or at the end of a `with` block. It
    listens on this machine only, unless `show(host=...)` says otherwise. A closed viewer can still be saved; what would
    change its page raises RuntimeError.
    """

    def __init__(self, scenery: Scenery, host: str, port: int | None, panel: bool = True) -> None:
        self.scenery = scenery
        self._stage = ViewerScene(host, port, *scenery.space(), scenery.dark)
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._time, self._speed, self._playing, self._follows, self._loops = scenery.start, 1.0, False, True, True
        self.frames = 0  # number of frames sent
        self._motion: MotionPanel | None = None
        self._joints: JointPanel | None = None
        self._view: ViewPanel | None = None
        self.actors = scenery.actors(self._stage.server, self._stage.floor)
        if panel:
            self._panel()
        self._draw()
        self._thread = threading.Thread(target=self._run, name="viewer", daemon=True)
        self._thread.start()

    def _panel(self) -> None:
        server, scenery = self._stage.server, self.scenery
        server.gui.configure_theme(
            control_width="medium", dark_mode=scenery.dark, show_logo=False, show_share_button=False,
            brand_color=(0, 114, 178),
        )  # fmt: skip
        server.gui.set_panel_label(scenery.title)
        if scenery.moves:
            self._motion = MotionPanel(server.gui, self, scenery)
        self._view = ViewPanel(server.gui, self, scenery)
        if scenery.joints:
            self._joints = JointPanel(server.gui, self, scenery)

    # State

    @property
    def url(self) -> str:
        """The address of the viewer, for a browser on this machine; see `proxied_url`."""
        return self._stage.url

    @property
    def proxied_url(self) -> str | None:
        """The address by way of the proxy of a hub or an editor, for a browser on another machine; None without
        one."""
        return proxied_url(self._stage.server.get_port())

    @property
    def running(self) -> bool:
        """Whether the viewer has not been closed."""
        return not self._ended.is_set()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the robots that are shown."""
        return tuple(actor.name for actor in self.actors)

    @property
    def duration(self) -> float:
        """The longest time of a motion [s], of one cycle if it repeats; 0 for a model without a motion."""
        return max(actor.track.duration for actor in self.actors)

    @property
    def time(self) -> float:
        """The time that is shown [s]; a value that is assigned stops the motion there."""
        return self._time

    @time.setter
    def time(self, value: float) -> None:
        self._check_running("time")
        with self._lock:
            self._time = finite(value, "time [s]")
            self._playing = False
            self._draw()
        self._tell()

    @property
    def playing(self) -> bool:
        """Whether time goes on."""
        return self._playing

    @property
    def speed(self) -> float:
        """Seconds of the motion per second; 1 is real time."""
        return self._speed

    def play(self, speed: float | None = None) -> None:
        """Lets time go on, at `speed` (1: real time, 0.5 half of it) if given; from the start at the end of a
        motion."""
        self._check_running("play")
        with self._lock:
            if speed is not None:
                self._speed = positive(speed, "speed")
            if not self._repeats and self._time >= self._end:
                self._time = self.scenery.start
            self._playing = True
        self._tell()

    def pause(self) -> None:
        """Stops time."""
        self._check_running("pause")
        self._playing = False
        self._tell()

    def step(self, frames: int = 1) -> None:
        """Moves the time by sixtieths of a second of the motion, forwards or backwards, and stops it there."""
        self.time = self._time + frames / FRAMES_PER_SECOND

    def loop(self, on: bool) -> None:
        """Whether a motion that has ended starts again."""
        self._check_running("loop")
        self._loops = truth(on, "loop")

    def follow(self, on: bool) -> None:
        """Whether the camera follows the robot that was given first."""
        self._check_running("follow")
        with self._lock:
            self._follows = truth(on, "follow")
            self._draw()

    def layer(self, name: str, on: bool) -> None:
        """Shows or hides a layer: "bodies", "muscles", "forces", "center of mass", "footholds", "frames", "names" or
        "ground"."""
        self._check_running("layer")
        choice(name, (*LAYERS, "ground"), "layer")
        if self._view is not None:
            self._view.show(name, truth(on, "on"))
        with self._lock, self._stage.server.atomic():
            if name == "ground":
                self._stage.ground.visible = truth(on, "on")
                return
            for actor in self.actors:
                actor.show(name, truth(on, "on"))

    def opacity(self, value: float) -> None:
        """Makes the bodies of all robots transparent: 1 opaque, 0 invisible."""
        self._check_running("opacity")
        with self._lock, self._stage.server.atomic():
            for actor in self.actors:
                actor.set_opacity(float(np.clip(finite(value, "opacity"), 0.0, 1.0)))

    def arrange(self, overlaid: bool) -> None:
        """Places several robots over each other, or side by side."""
        self._check_running("arrange")
        self.scenery.overlaid = truth(overlaid, "overlaid")
        with self._lock, self._stage.server.atomic():
            for actor, offset, opacity in zip(self.actors, self.scenery.offsets, self.scenery.opacities, strict=True):
                actor.place(offset)
                actor.set_opacity(opacity)
                if actor.label is not None:
                    actor.label.visible = not overlaid or actor.name.startswith(MARK)

    # A model without a motion

    @property
    def q(self) -> Array:
        """The configuration (nq) of the model that is shown; of a motion the one given first, at this time."""
        return np.array(self.scenery.configuration(self._time))

    def update(self, q: Any) -> None:
        """Shows the first model at another configuration q (nq); of a motion, until time goes on.

        ValueError for another size, or for entries that are not finite.
        """
        self._check_running("update")
        model = self.actors[0].track.model
        at = finite_vector(q, model.nq, f"update: q of {model!r}", names=model.q_names)
        check_quaternions(model, at, "update")
        with self._lock:
            self._playing = False
            if self.scenery.moves:
                self._pose(at)
                return
            if self.scenery.q is None or not np.array_equal(at, self.scenery.q):  # sliders may send one several times
                self.scenery.q = at
                self.actors[0].track = tracks.still(model, at)
                self._draw()
        if self._joints is not None:
            self._joints.show(at)

    def _pose(self, q: Array) -> None:
        """Poses the first robot of a motion, which keeps its track."""
        actor = self.actors[0]
        kept, actor.track = actor.track, tracks.still(actor.track.model, q)
        self._draw()
        actor.track, actor.last_cycle = kept, None

    # Ends

    def save(
        self, path: str | Path, *, fps: float = 30.0, cycles: int | None = None, dark: bool | None = None
    ) -> AnimationPath:
        """Writes a page that plays the motion in any browser, without Python and without a network; returns its path,
        which a notebook shows as the page, also after the viewer has ended.

        fps: frames per second of the page. cycles: number of cycles of a motion that repeats (default: enough for some
        seconds, after which the page starts again). dark: dark page; None:
        as the viewer. The page has a bar to stop, to scrub and to change the speed. The file appears complete or not
        at all. A page has about 0.8 MB, and the meshes beside it.
        """
        from .page import page

        file = path_of(path)
        if file.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"{repr_in_message(file.name)}: a page is written as .html")
        text = page(self.scenery, positive(fps, "fps"), cycles, self.scenery.dark if dark is None else dark)
        with picture_file(file) as partial:
            partial.write_text(text, encoding="utf-8")
        return AnimationPath(file)

    def _check_running(self, what: str) -> None:
        """RuntimeError if the viewer was closed: nobody would see the change."""
        if not self.running:
            raise RuntimeError(
                f"{what}: this viewer was closed, and nobody sees it any more: od.viz.show(...) opens another"
            )

    def block(self) -> None:
        """Waits until Ctrl-C is pressed or the viewer is closed elsewhere; prints the address first."""
        print(f"{self.scenery.title}: {self.proxied_url or self.url} (Ctrl-C ends)", flush=True)
        try:
            while not self._ended.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Ends the viewer; a second call does nothing."""
        if self._ended.is_set():
            return
        self._ended.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=2.0)
        self._stage.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        where = self.url if self.running else "closed"
        return f"Viewer of {', '.join(self.names)}: {where}"

    def _repr_html_(self) -> str:
        if not self.running:
            return f"<div>{escape(repr(self))}</div>"
        picture: Any = plot_model(self.actors[0].track.model, self.q)
        return frame(self.url, self._stage.server.get_port(), HEIGHT, picture._repr_png_()[0])

    # Time

    @property
    def _repeats(self) -> bool:
        return any(actor.track.repeats for actor in self.actors)

    @property
    def _end(self) -> float:
        return max(float(actor.track.t[-1]) for actor in self.actors)

    def _run(self) -> None:
        """Draws a frame every sixtieth of a second while time goes on; a frame that is late is left out."""
        last = due = clock.perf_counter()
        while not self._ended.is_set():
            now = clock.perf_counter()
            if self._playing and self._stage.server.get_clients():  # time waits for the first visitor
                with self._lock:
                    self._advance((now - last) * self._speed)
            last = now
            due = max(due + 1 / FRAMES_PER_SECOND, now)
            self._ended.wait(max(0.0, due - clock.perf_counter()) if self._playing else 0.03)

    def _advance(self, step: float) -> None:
        if not self._playing or not self.duration:
            return
        self._time += step
        if not self._repeats and self._time > self._end + PAUSE * self._speed * self._loops:
            if self._loops:
                self._time = self.scenery.start
            else:
                self._time, self._playing = self._end, False
        self._draw()
        self._tell(sparing=self._playing)

    def _draw(self) -> None:
        """Sends what has changed, as one message."""
        server = self._stage.server
        with self._lock:
            with server.atomic():
                for actor in self.actors:
                    actor.draw(self._time)
                first = self.actors[0]
                self._stage.follow(first.track.way(self._time) if self._follows else np.zeros(3))
            server.flush()
            self.frames += 1

    def _tell(self, sparing: bool = False) -> None:
        if self._motion is not None:
            self._motion.tell(self._time, sparing)
