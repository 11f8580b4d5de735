#!/usr/bin/env python3
"""Draws the pictures of the documentation's gallery: solves every ready problem, and leaves NAME.png in docs/gallery/.

    python docs/_pages/draw_gallery.py [NAME ...] [--results DIR]

Each picture is one that the problem's own command writes, made smaller. The problems of robots need the packages of
`pip install ".[robots]"`. --results keeps the results of the commands, and uses those that are there.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageSequence

ROOT = Path(__file__).parents[2]
LARGEST = 60_000
"""Bytes of a picture."""


class Drawing(NamedTuple):
    """The options of a problem's command, and the picture that it writes; problem: if it has another name."""

    options: tuple[str, ...] = ()
    picture: str = "strip.png"
    quick: bool = True
    problem: str = ""


LARGE = {
    "human_walk": Drawing(quick=False),
    "walk_with_load": Drawing(("--load", "15"), problem="human_walk", quick=False),
    "walk_backward": Drawing(("--speed", "1", "--backward"), problem="human_walk", quick=False),
    "walk_on_locked_ankle": Drawing(("--lock", "ankle_r"), problem="human_walk", quick=False),
    "walk_on_prosthesis": Drawing(("--prosthesis", "ankle_r"), problem="human_walk", quick=False),
    "many_steps": Drawing(quick=False),
    "compliant_walk": Drawing(quick=False),
    "muscle_human": Drawing(),
    "muscle_walk": Drawing(quick=False),
    "run": Drawing(),
    "jump": Drawing(),
    "stairs": Drawing(quick=False),
    "sit_to_stand": Drawing(quick=False),
    "turn": Drawing(quick=False),
    "push_recovery": Drawing(("--impulse", "40", "--steps", "1"), quick=False),
    "slope": Drawing(picture="slope.png"),
    "track_gait": Drawing(),
    "validate": Drawing(("--slopes", "0", "--speeds", "0.7", "0.9", "1.1", "1.3", "1.6", "2.0"), "speeds.png"),
    "gait_library": Drawing(("--model", "legs", "--steps", "free"), "library.png"),
    "robot_walk": Drawing(("talos",)),
    "robot_trot": Drawing(("solo12",)),
    "replay": Drawing(("human",), "replay.png", quick=False),
    "control": Drawing(("human", "--seconds", "10"), "motion.png", quick=False),
    "five_link": Drawing(),
    "five_link_diary": Drawing(),
    "rabbit": Drawing(picture="rabbit.png"),
    "simplest_walker": Drawing(picture="gait.png"),
    "compass_gait": Drawing(picture="gait.png"),
    "mechanisms": Drawing(("--system", "human_body"), "motion.gif", quick=False),
    "four_bar_leg": Drawing(),
}
SMALL = (
    "rotor",
    "pendulum",
    "cart_pole",
    "reach",
    "lift",
    "throw",
    "slider_crank",
    "juggling",
    "hopper",
    "brachiation",
)


def solved(name: str, results: Path) -> Path:
    """Path of the picture that the command of a problem writes; the command runs if the picture is not there."""
    if name in SMALL:
        path, command = results / f"{name}.png", [f"problems.small.{name}", "--out", str(results)]
    else:
        path = results / name / LARGE[name].picture
        command = [
            f"problems.{LARGE[name].problem or name}",
            *LARGE[name].options,
            "--quiet",
            "--out",
            str(path.parent),
        ]
        command += ["--quick"] if LARGE[name].quick else []
    if not path.exists():
        print("python -m", *command, flush=True)
        results.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return path


def four_frames(path: Path) -> Image.Image:
    """Four frames of an animation, from its start to its end, in two rows."""
    frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(Image.open(path))]
    width, height = frames[0].size
    table = Image.new("RGB", (2 * width, 2 * height), "white")
    for k in range(4):
        table.paste(frames[k * (len(frames) - 1) // 3], (k % 2 * width, k // 2 * height))
    return table


def fewer_colors(image: Image.Image, count: int) -> Image.Image:
    """The picture in so many colors: half of them those that most of its points have, as drawn, and the others spread
    over the whole range, for the blends at edges. A spread alone would turn the green of thin arrows into teal."""
    drawn = sorted(image.getcolors(image.width * image.height), reverse=True)[: count // 2]
    spread = image.quantize(count - len(drawn), Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    chosen = [*(color for _, color in drawn), *zip(*[iter(spread.getpalette())] * 3, strict=True)][:count]
    colors, places = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_inverse=True)
    nearest = ((colors[:, None].astype(int) - np.array(chosen)) ** 2).sum(axis=2).argmin(axis=1).astype(np.uint8)
    made = Image.fromarray(nearest[places].reshape(image.height, image.width), "P")
    made.putpalette([level for color in chosen for level in color])
    return made


def shrink(path: Path, target: Path) -> None:
    """Writes the picture with at most 1100 points across, and with as many colors as its size in bytes allows."""
    image = four_frames(path) if path.suffix == ".gif" else Image.open(path).convert("RGB")
    for width, colors in ((1100, 128), (1000, 64), (900, 48), (800, 32), (700, 24), (600, 16)):
        small = image
        if image.width > width:
            small = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
        fewer_colors(small, colors).save(target, optimize=True)
        if target.stat().st_size < LARGEST:
            break
    print(target, small.size, target.stat().st_size)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="problems; all by default")
    parser.add_argument("--results", type=Path, metavar="DIR", help="keep the results of the commands here")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - {*LARGE, *SMALL})
    if unknown:
        parser.error(f"no such problems: {', '.join(unknown)}; known: {', '.join((*LARGE, *SMALL))}")
    with tempfile.TemporaryDirectory() as folder:
        results = options.results or Path(folder)
        for name in options.names or (*LARGE, *SMALL):
            shrink(solved(name, results), ROOT / "docs" / "gallery" / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
