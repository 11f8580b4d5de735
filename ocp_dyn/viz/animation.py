"""Animations of solved motions in real time, seen from the side and from the front."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._base.checks import choice, function, whole
from .._base.convergence import mark_of
from .._base.files import path_of
from .._base.types import Array, finite, is_whole, repr_in_message, sequence, suggestion
from ..gait.bodies import locate, side_words, size
from ..gait.unrolled import (
    MotionLike,
    Straight,
    Stretch,
    check_finite,
    check_motion,
    climb_words,
    stretch_at,
    unroll,
)
from .drawing import (
    INK,
    Arrows,
    Plane,
    Puppet,
    across,
    bare,
    figure,
    flat,
    force_arrows,
    ground,
    legend,
    picture_file,
    used_points,
)
from .muscles import MuscleShapes, activations_at
from .player import Scene, page
from .shown.path import AnimationPage, AnimationPath
from .skeleton import Segment, skeleton
from .terrain.side import FrontGround, Ground, SideGround
from .terrain.slabs import risers

Progress = Callable[[int, int], None]

VIEWS: dict[str, tuple[Plane, ...]] = {"side": ("side",), "front": ("front",), "side+front": ("side", "front")}
DPI = 100
LAST_FRAME_PAUSE = 0.8
"""Pause on the last frame of a motion that is not periodic, before the animation starts again [s]."""

MOST_STEPS, SLOWEST, LARGEST_PICTURE = 1000, 0.001, 8192
"""Largest number of steps, smallest speed, largest side [pixels]: limits against files that fill a disk."""

LONG = 4.0
"""Size of a model [m] from which on the ground has a tick per meter, and below a tick per half meter."""


def animate(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    steps: int | None = None,
    fps: float = 25.0,
    view: str | None = None,
    speed: float = 1.0,
    size: tuple[int, int] = (720, 420),
    progress: Progress | None = None,
) -> AnimationPath | AnimationPage:
    """Writes a motion as a looping .gif, as .html, or as .mp4 (needs the program ffmpeg); returns the path, which a
    notebook shows as the animation. Without a path nothing is written: a notebook shows the .html, which is returned.

    A .html file plays in any browser, without further files; the user can stop, slow down and turn the motion there.

    The camera follows a periodic motion at its mean speed and turns with it, and the ground shows the distance covered
    [m]. Arrows are ground reaction forces at the center of pressure (one body weight: 0.4 of the model's height). A
    motion that is not periodic is shown from a fixed camera, with a pause on its last frame.

    steps: number of periods of a periodic motion, by default 4 steps of a walk that repeats mirrored, else 2 periods;
        every second one is mirrored if the solution is mirrored, so an even number makes a smooth loop.
    fps: frames per second, at most 50. A .gif stores whole hundredths of a second per frame; the motion is sampled at
        these times, so that its speed is right.
    view: "side" (from the right), "front" (from ahead), "side+front"; None: both, unless the motion is planar.
    speed: 1 is real time, 0.5 half of it. size: (width, height) in pixels. progress: called with (frames done, frames
        in all).

    The file appears complete or not at all. `ValueError` for another suffix or view, or a number out of range;
    `RuntimeError` for .mp4 without ffmpeg.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(od.viz.animate(solution, f"{folder}/turn.html").stat().st_size > 1000)
    True
    """
    path = None if path is None else path_of(path)
    check_motion(solution)
    ffmpeg = None if path is None else _writer(path)
    steps = (4 if solution.mirror() is not None else 2) if steps is None else steps
    _check(steps, fps, view, speed, size)
    if progress is not None:
        function(progress, "animate: progress", ": it takes (frames done, frames in all)")
    check_finite(solution, "animate")
    if path is None:
        scene = _scene(_film(solution, steps, 1 / fps, speed, view))
        return AnimationPage(page(scene, size, speed), scene.title)
    if path.suffix.lower() == ".html":
        _write_html(path, _film(solution, steps, 1 / fps, speed, view), size, progress)
        return AnimationPath(path)
    ticks = max(2, round(100 / fps))  # hundredths of a second per frame
    film = _film(solution, steps, ticks / 100 * speed, speed, view)
    _write_pictures(path, film, size, ffmpeg, ticks, progress)
    return AnimationPath(path)


def _write_pictures(
    path: Path, film: _Film, size: tuple[int, int], ffmpeg: str | None, ticks: int, progress: Progress | None
) -> None:
    """Writes the frames of a film, each of `ticks` hundredths of a second, as .mp4 by the program ffmpeg, or as
    .gif."""
    canvas = _Canvas(film, size)

    def frames() -> Iterator[Array]:
        for k in range(len(film.times)):
            yield canvas.picture(k)
            if progress is not None:
                progress(k + 1, len(film.times))

    pause = 0.0 if film.repeats else LAST_FRAME_PAUSE
    with picture_file(path) as partial:
        if ffmpeg:
            _write_mp4(ffmpeg, partial, frames(), size, 100 / ticks, round(pause * 100 / ticks))
        else:
            few = [canvas.picture(k) for k in range(0, len(film.times), 1 + len(film.times) // 4)]
            _write_gif(partial, frames(), _palette(few), 10 * ticks, int(1000 * pause))


def _writer(path: Path) -> str | None:
    """Path of the program ffmpeg for .mp4; None for .gif and .html.

    ValueError for another suffix, RuntimeError if ffmpeg is not installed.
    """
    suffix = path.suffix.lower()
    if suffix in (".gif", ".html"):
        return None
    if suffix != ".mp4":
        got, near = repr_in_message(suffix) if suffix else "no suffix", suggestion(suffix, (".gif", ".html", ".mp4"))
        raise ValueError(
            f"{repr_in_message(path.name)}: an animation is written as .gif, .html or .mp4, got {got}{near}"
        )
    program = shutil.which("ffmpeg")
    if program is None:
        raise RuntimeError(
            f"{repr_in_message(path.name)}: .mp4 needs the program ffmpeg, which was not found: install it, or write a "
            ".gif or .html"
        )
    return program


def _check(steps: int, fps: float, view: str | None, speed: float, size: tuple[int, int]) -> None:
    whole(steps, "animate: steps", 1, MOST_STEPS)
    if not 0 < finite(fps, "animate: fps") <= 50:
        raise ValueError(
            f"animate: fps must be above 0 and at most 50 (no viewer shows a .gif faster), got {repr_in_message(fps)}"
        )
    if view is not None:
        choice(view, VIEWS, "animate: view, unless None,")
    if not finite(speed, "animate: speed") >= SLOWEST:
        raise ValueError(
            f"animate: speed must be a positive number of at least {SLOWEST:g} (1: real time), got "
            f"{repr_in_message(speed)}"
        )
    pixels = sequence(size, "animate: size must be (width, height) in pixels")
    if len(pixels) != 2 or not all(is_whole(n, 120) and n % 2 == 0 and n <= LARGEST_PICTURE for n in pixels):
        raise ValueError(
            f"animate: size must be two even numbers of pixels, at least 120 and at most {LARGEST_PICTURE}, got "
            f"{repr_in_message(size)}"
        )


@dataclass(frozen=True, eq=False)
class _Film:
    """Content of all frames: points (frames, n, 3) [m] relative to a camera at x = camera (frames) [m]."""

    segments: list[Segment]
    stretches: list[Stretch]
    times: Array
    points: Array
    camera: Array
    planes: tuple[Plane, ...]
    motion: MotionLike
    speed: float
    reach: float
    straight: Straight
    ground: Ground
    muscles: list[tuple[Array, Array]] | None
    """Colors and thickness of the muscles, which are the last segments, in every frame."""

    @property
    def repeats(self) -> bool:
        return self.motion.repeats

    @property
    def grounded(self) -> bool:
        """Whether all points stay above the ground z = 0, which is then drawn unless there is another one."""
        return not self.ground and bool(self.points[..., 2].min() > -0.05 * self.reach)

    def stretch(self, time: float) -> Stretch:
        """The phase that a time [s] lies in."""
        return stretch_at(self.stretches, time)

    def forces(self, time: float) -> list[tuple[Array, Array]]:
        """(center of pressure, arrow) [m] of every ground reaction force at a time [s]."""
        return force_arrows(self.motion.model, self.stretches, self.straight, time, self.reach)


def _film(motion: MotionLike, steps: int, pace: float, speed: float, view: str | None) -> _Film:
    model = motion.model
    repeats, straight = motion.repeats, Straight(motion)
    total = motion.duration * (steps if repeats else 1)
    count = max(2, round(total / pace))
    # the last frame of a loop comes one before its first; a single motion includes its end
    times = np.linspace(0.0, total, count + (not repeats), endpoint=not repeats)
    segments, muscles, q = skeleton(model), MuscleShapes(model), motion.sample(times)
    points = np.concatenate([locate(model, used_points(segments), q), muscles.places(q)], axis=1)
    segments = segments + muscles.segments
    points = np.array([straight(p, float(time)) for p, time in zip(points, times, strict=True)])
    camera = np.zeros(len(times))
    if repeats:
        camera = straight.length * times / motion.duration
        points = points - camera[:, None, None] * [1.0, 0.0, 0.0]
        camera = camera + points[..., 0].mean()
        points = points - points[..., 0].mean() * np.array([1.0, 0.0, 0.0])
    reach = size(model)
    if view is None:
        view = "side+front" if np.ptp(points[..., 1]) > 0.05 * reach else "side"
    stretches, ground = unroll(motion, steps), Ground(motion, steps)
    return _Film(segments, stretches, times, points, camera, VIEWS[view], motion, speed, reach, straight, ground,
                 muscles.looks(activations_at(motion, times)))  # fmt: skip


class _Canvas:
    """The figure and its moving parts; `picture` draws one frame."""

    def __init__(self, film: _Film, size: tuple[int, int]) -> None:
        self.film = film
        self.figure = figure(size[0] / DPI, size[1] / DPI, DPI)
        self.grounded = film.grounded
        forces = any(s.place is not None for stretch in film.stretches for s in stretch.supports)
        self.views: list[Any] = []
        self.under: list[SideGround | FrontGround] = []
        for plane, (rectangle, limits) in zip(film.planes, _layout(film, size, self.grounded), strict=True):
            axes = self.figure.add_axes(rectangle)
            bare(axes)
            if self.grounded:
                spacing = 0.5 if film.reach < LONG else 1.0
                ground(axes, 0.0, spacing if plane == "side" and film.reach > 0.3 else 0.0, " m")
            axes.set_xlim(*limits[0])
            axes.set_ylim(*limits[1])
            arrows = Arrows(axes, plane, 0.011 * film.reach)
            self.views.append((plane, axes, limits[0], Puppet(axes, film.segments, plane), arrows))
            if film.ground:
                self.under.append(
                    SideGround(axes, film.ground) if plane == "side" else FrontGround(axes, film.ground, film.reach)
                )
        top = 1 - 17 / size[1]
        fontsize = min(9.0, 9.0 * size[0] / 480)  # caption and legend share a line
        self.caption = self.figure.text(12 / size[0], top, "", fontsize=fontsize, color=INK, va="center")
        legend(self.figure, side_words(film.motion.model), 1 - 12 / size[0], top, fontsize, forces)
        across(self.figure, mark_of(film.motion))

    def picture(self, k: int) -> Array:
        """Frame k as (height, width, 3) bytes."""
        film, time = self.film, float(self.film.times[k])
        stretch = film.stretch(time)
        shift = np.array([film.camera[k], 0.0, 0.0])
        forces = film.forces(time)
        for plane, axes, (low, high), puppet, arrows in self.views:
            offset = shift[0] if plane == "side" else 0.0
            axes.set_xlim(low + offset, high + offset)
            puppet.draw(film.points[k] + shift, film.muscles[k] if film.muscles else None)
            arrows.draw(forces)
        faces = film.ground.seen(film.straight, time) if film.ground else []
        for under in self.under:
            under.follow(faces, film.points[k] + shift)
        self.caption.set_text(caption(film, time, stretch))
        canvas: Any = self.figure.canvas
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def caption(film: _Film, time: float, stretch: Stretch) -> str:
    """The caption of a frame: time, speed and phase."""
    motion = film.motion
    parts = [*filter(None, [mark_of(motion)]), f"{time:4.2f} s"]
    if motion.repeats:
        parts.append(f"{motion.distance / motion.duration:.2f} m/s")
        parts += [f"{words} a step" for words in climb_words(motion)]
    parts.append(stretch.name.replace("_", " "))
    if film.speed != 1:
        parts.append(f"(shown at {film.speed:g} of real time)")
    return "    ".join(parts)


def _layout(film: _Film, size: tuple[int, int], grounded: bool) -> list[tuple[Any, Any]]:
    """Rectangle in the figure and limits [m] of every view; all have one scale, and the first takes the spare width."""
    width, height = size
    margin, head, foot = 10.0, 32.0, 30.0 if grounded else 12.0
    pad = 0.02 * film.reach + max((max(s.radii) for s in film.segments), default=0.0)
    boxes = []
    for plane in film.planes:
        seen = flat(film.points, plane).reshape(-1, 2)
        boxes.append((seen.min(axis=0) - pad, seen.max(axis=0) + pad))
    low = min(float(box[0][1]) for box in boxes)
    high = max(float(box[1][1]) for box in boxes)
    if grounded:
        low = -0.02 * film.reach
    spans = [float(box[1][0] - box[0][0]) for box in boxes]
    room = width - (len(boxes) + 1) * margin
    scale = min(room / sum(spans), (height - head - foot) / (high - low))
    spare = room / scale - sum(spans)
    tall = (height - head - foot) / scale - (high - low)
    vertical = (low, high + tall) if grounded else (low - tall / 2, high + tall / 2)
    found, left = [], margin
    for k, ((a, b), span) in enumerate(zip(boxes, spans, strict=True)):
        extra = spare if k == 0 else 0.0
        pixels = (span + extra) * scale
        rectangle = (left / width, foot / height, pixels / width, 1 - (head + foot) / height)
        found.append((rectangle, ((float(a[0]) - extra / 2, float(b[0]) + extra / 2), vertical)))
        left += pixels + margin
    return found


def _write_html(path: Path, film: _Film, size: tuple[int, int], progress: Progress | None) -> None:
    """Writes the page that plays the motion; it opens with the side view unless only the front view is requested."""
    with picture_file(path) as partial:
        partial.write_text(page(_scene(film), size, film.speed), encoding="utf-8")
    if progress is not None:
        progress(len(film.times), len(film.times))


def _scene(film: _Film) -> Scene:
    """The content of the page of a film."""
    model = film.motion.model
    faces = film.ground.faces if film.straight.steady else []
    return Scene(
        title=": ".join([*filter(None, [mark_of(film.motion)]), (model.name or "motion").replace("_", " ")]),
        segments=film.segments,
        points=film.points,
        camera=film.camera,
        forces=[film.forces(float(t)) for t in film.times],
        captions=[caption(film, float(t), film.stretch(float(t))).partition("    (")[0] for t in film.times],
        dt=float(film.times[1] - film.times[0]),
        repeats=film.repeats,
        grounded=film.grounded,
        azimuth=0.0 if "side" in film.planes else 90.0,
        words=side_words(model),
        faces=[face.corners for face in faces],
        risers=risers(faces),
    )


def _palette(frames: list[Array]) -> Any:
    """One palette for all frames, as an image, from the colors of a few frames."""
    from PIL import Image

    mixed = Image.fromarray(np.concatenate(frames)).quantize(96, dither=Image.Dither.NONE)
    colors = np.array(mixed.getpalette()).reshape(-1, 3)
    colors[colors.min(axis=1) > 246] = 255  # makes the background pure white
    palette = Image.new("P", (1, 1))
    palette.putpalette(colors.ravel().tolist())
    return palette


def _write_gif(path: Path, frames: Iterator[Array], palette: Any, milliseconds: int, pause: int) -> None:
    """Writes a .gif without dithering, which would flicker; `pause` [ms] is added to the last frame."""
    from PIL import Image

    images = [Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [milliseconds] * len(images)
    durations[-1] += pause
    images[0].save(path, "GIF", save_all=True, append_images=images[1:], duration=durations, loop=0, optimize=False)


def _write_mp4(
    program: str, path: Path, frames: Iterator[Array], size: tuple[int, int], fps: float, pause: int
) -> None:
    """Writes raw frames to ffmpeg's standard input; the last one is repeated `pause` times."""
    command = [program, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.10g}", "-i", "-"]
    command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            for frame in frames:
                process.stdin.write(frame.tobytes())
            for _ in range(pause):
                process.stdin.write(frame.tobytes())
            process.stdin.close()
        except BrokenPipeError:  # the error message of ffmpeg, read below, gives the reason
            with suppress(BrokenPipeError):
                process.stdin.close()
        message = process.stderr.read().decode(errors="replace").strip()
    if process.returncode:
        raise RuntimeError(f"ffmpeg failed with status {process.returncode}: {message}")
