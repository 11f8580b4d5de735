"""The controls of a viewer: time and speed, what is shown, and the joints of a model."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from html import escape
from typing import Any, Protocol

import numpy as np

from ..._base.types import Array
from ...constrained_motion import AssemblyError
from ...gait.bodies import side_words
from ...gait.limbs import limbs
from ..drawing import COLORS, FORCE, MUSCLE
from ..muscles import RELAXED
from .actor import COM_COLOR, COM_ON_DARK, HIDDEN, LAYERS
from .scenery import PALETTE, Scenery

SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5")
TELL = 0.1
"""Least time between two messages about the time to the panel [s]: a browser takes longer for them than for a frame."""

STRIP = ("#0072B2", "#56B4E9", "#7C8692", "#B8C0C8")
"""Colors of the phases on the time line, in turn."""


class Controlled(Protocol):
    """The methods of a viewer that controls call."""

    time: float

    @property
    def playing(self) -> bool: ...
    @property
    def q(self) -> Array: ...
    def play(self, speed: float | None = None) -> None: ...
    def pause(self) -> None: ...
    def step(self, frames: int = 1) -> None: ...
    def loop(self, on: bool) -> None: ...
    def follow(self, on: bool) -> None: ...
    def layer(self, name: str, on: bool) -> None: ...
    def opacity(self, value: float) -> None: ...
    def arrange(self, overlaid: bool) -> None: ...
    def update(self, q: Any) -> None: ...


def _on(control: Any, action: Callable[[Any], None]) -> Any:
    """Calls `action` with the value of a control that a visitor changes, not with one that the program assigns."""

    @control.on_update  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        if event.client is not None:
            action(event.target.value)

    return control


class MotionPanel:
    """Buttons and bars for the time of a motion."""

    def __init__(self, gui: Any, viewer: Controlled, scenery: Scenery) -> None:
        self.viewer, self.scenery = viewer, scenery
        longest = max(scenery.robots, key=lambda robot: robot.track.duration)
        self.track, self.told = longest.track, 0.0
        self.start, end = scenery.start, float(self.track.t[-1])
        with gui.add_folder("Motion"):
            self.button = gui.add_button("Play", icon="player-play", color="blue")
            steps = gui.add_button_group("Step", ("« back", "forth »"))
            if self.track.phases:
                gui.add_html(_strip(self.track.phases, self.start, end))
            grain = max(1e-4, (end - self.start) / 2000)
            self.bar = gui.add_slider("Time [s]", self.start, end, grain, self.start)
            self.text = gui.add_markdown(self._text(self.start))
            _on(gui.add_dropdown("Speed", SPEEDS, initial_value="1"), self._set_speed)
            if not self.track.repeats:
                _on(gui.add_checkbox("Repeat", True), viewer.loop)
        _on(self.bar, self._scrub)

        @self.button.on_click  # type: ignore[untyped-decorator]
        def _(_: Any) -> None:
            (viewer.pause if viewer.playing else viewer.play)()

        @steps.on_click  # type: ignore[untyped-decorator]
        def _(event: Any) -> None:
            viewer.step(1 if "forth" in event.target.value else -1)

    def _scrub(self, value: float) -> None:
        self.viewer.time = value

    def _set_speed(self, value: str) -> None:
        self.viewer.play(float(value))

    def _text(self, time: float) -> str:
        cycle, local = self.track.local(time)
        parts = [f"**{time:.2f} s**", self.track.phase(local).replace("_", " ")]
        if self.track.repeats:
            parts.append(f"cycle {cycle + 1}")
        return " &nbsp; ".join(filter(None, parts))

    def tell(self, time: float, sparing: bool) -> None:
        """Shows the time; sparing: not more often than a browser takes it easily."""
        now = clock.perf_counter()
        if sparing and now - self.told < TELL:
            return
        self.told = now
        self.bar.value = self.track.local(time)[1]
        self.text.content = self._text(time)
        playing = self.viewer.playing
        self.button.label = "Pause" if playing else "Play"
        self.button.icon = "player-pause" if playing else "player-play"


def _strip(phases: tuple[tuple[str, float, float], ...], start: float, end: float) -> str:
    """The phases as a strip above the bar of the time, as wide as they are long; a name that has no room is cut."""
    cells = []
    for k, (name, a, b) in enumerate(phases):
        width = 100 * (b - a) / max(end - start, 1e-9)
        style = (
            f"width:{width:.3f}%;background:{STRIP[k % len(STRIP)]};color:white;overflow:hidden;white-space:nowrap;"
            "text-overflow:ellipsis;font-size:10px;line-height:16px;text-align:center;box-sizing:border-box;"
            "border-right:1px solid white"
        )
        text = escape(name.replace("_", " "))
        cells.append(f'<div style="{style}" title="{text}: {a:.2f} to {b:.2f} s">{text if width > 12 else ""}</div>')
    return f'<div style="display:flex;margin:0 0.75em 0.3em 0.75em">{"".join(cells)}</div>'


class ViewPanel:
    """Switches of what is shown, and a legend."""

    def __init__(self, gui: Any, viewer: Controlled, scenery: Scenery) -> None:
        tracks = [robot.track for robot in scenery.robots]
        has = {
            "muscles": any(track.model.muscles for track in tracks),
            "forces": any(track.holds for track in tracks),
            "footholds": any(len(hold.outline) for track in tracks for hold in track.holds),
        }
        self.layers: dict[str, Any] = {}
        with gui.add_folder("Show"):
            gui.add_markdown(_legend(scenery, has["forces"]))
            for layer in (*LAYERS, "ground"):
                if has.get(layer, True):
                    box = gui.add_checkbox(layer.capitalize(), layer not in HIDDEN)
                    self.layers[layer] = _on(box, _switch(viewer, layer))
            if scenery.moves:
                _on(gui.add_checkbox("Follow", True), viewer.follow)
            if len(tracks) > 1:
                _on(gui.add_checkbox("Over each other", scenery.overlaid), viewer.arrange)
            _on(gui.add_slider("Opacity", 0.1, 1.0, 0.05, scenery.opacities[0]), viewer.opacity)

    def show(self, layer: str, on: bool) -> None:
        """Sets the switch of a layer that the program shows or hides."""
        if layer in self.layers:
            self.layers[layer].value = on


def _switch(viewer: Controlled, layer: str) -> Callable[[bool], None]:
    return lambda on: viewer.layer(layer, on)


def _legend(scenery: Scenery, forces: bool) -> str:
    """Names of the robots in their colors, or of the sides of one."""
    if len(scenery.robots) > 1:
        entries = [(robot.name, PALETTE[k % len(PALETTE)]) for k, robot in enumerate(scenery.robots)]
    else:
        words = side_words(scenery.model) if not scenery.model.shape_files else {}
        entries = [(words[side], COLORS[side]) for side in ("left", "right") if side in words]
    if any(robot.track.model.muscles for robot in scenery.robots):
        entries += [("muscle at rest", RELAXED), ("active", MUSCLE)]
    entries += [("contact force", FORCE)] if forces else []
    entries += [("center of mass", COM_ON_DARK if scenery.dark else COM_COLOR)]
    return " &nbsp; ".join(
        f'<span style="color:{color}">●</span>&nbsp;{escape(name)}' for name, color in entries
    )  # fmt: skip


class JointPanel:
    """A slider for every degree of freedom, limb by limb.

    Angles and lengths are entries of q. A joint with a quaternion has sliders of the step from its first position, as
    `model.integrate` takes it.
    """

    def __init__(self, gui: Any, viewer: Controlled, scenery: Scenery) -> None:
        assert scenery.q is not None
        self.viewer, self.scenery, self.model = viewer, scenery, scenery.model
        self.reference = np.array(scenery.q)
        self.by_q: dict[int, Any] = {}
        self.by_step: dict[int, Any] = {}
        with gui.add_folder("Joints"):
            reset = gui.add_button("Back to the start", icon="refresh")
            self.note = gui.add_markdown("")
            for k, (name, dofs) in enumerate(self._groups()):
                with gui.add_folder(name, expand_by_default=k == 0 and len(dofs) < 10):
                    for dof in dofs:
                        self._slider(gui, dof)
            self.text = gui.add_text("q", self._written(self.reference), hint="the configuration, to copy")

        @reset.on_click  # type: ignore[untyped-decorator]
        def _(_: Any) -> None:
            viewer.update(self.reference)

    def _groups(self) -> list[tuple[str, list[int]]]:
        """Degrees of freedom by limb; those of a free root and of quaternions come last."""
        groups = [(limb.name, [c.qd_index for pair in limb.pairs for c in pair.members]) for limb in limbs(self.model)]
        rest = sorted(set(range(self.model.nv)) - {dof for _, dofs in groups for dof in dofs})
        return [group for group in groups if group[1]] + ([("other joints", rest)] if rest else [])

    def _slider(self, gui: Any, dof: int) -> None:
        model = self.model
        i = next(i for i, _ in model.edges if dof in model.dofs_of(i))
        joint, name = model.joints[i], model.qd_names[dof].replace("_", " ")
        is_length = bool(model.lengths[1][dof])
        reach = 2 * self.scenery.reach if is_length else np.pi
        if joint.nq != joint.nv:
            self.by_step[dof] = _on(gui.add_slider(name, -reach, reach, reach / 500, 0.0), self._moved)
            return
        k = model.q_index[i] + dof - model.v_index[i]
        low, high = (float(x[k]) for x in (model.dofs.q_lower, model.dofs.q_upper))
        value = float(self.reference[k])
        low = min(value, low if np.isfinite(low) else -reach)
        high = max(value, high if np.isfinite(high) else reach)
        high = high if high > low else low + 1e-3
        self.by_q[k] = _on(gui.add_slider(name, low, high, (high - low) / 1000, value), self._moved)

    def _moved(self, _: float) -> None:
        """Shows the configuration of the sliders, with the loops closed."""
        q = np.array(self.reference)
        for k, slider in self.by_q.items():
            q[k] = slider.value
        if self.by_step:
            step = np.zeros(self.model.nv)
            for dof, slider in self.by_step.items():
                step[dof] = slider.value
            q = np.array(self.model.integrate(q, step).full()).ravel()
        if self.scenery.settle is not None:
            try:
                q = self.scenery.settle(q)
            except AssemblyError:
                self.note.content = "The loops cannot be closed there."
                return
            self.note.content = ""
        self.viewer.update(q)

    def show(self, q: Array) -> None:
        """Moves the sliders to a configuration."""
        for k, slider in self.by_q.items():
            slider.value = float(np.clip(q[k], slider.min, slider.max))
        if self.by_step:
            step = np.array(self.model.difference(self.reference, q).full()).ravel()
            for dof, slider in self.by_step.items():
                slider.value = float(np.clip(step[dof], slider.min, slider.max))
        self.text.value = self._written(q)

    @staticmethod
    def _written(q: Array) -> str:
        return "[" + ", ".join(f"{x:.4g}" for x in q) + "]"
