#!/usr/bin/env python3
"""Draws the README's picture of the conventions: frames, coordinates, a joint's angle and torque, a contact force.

    python docs/_pages/draw_frames.py [FILE.png]

All positions and axes in the picture are computed by the library, from a model with a floating base and two joints.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from casadi import DM
from matplotlib.patches import Arc

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import ocp_dyn as od

DEPTH = np.array([0.42, 0.3])
"""Direction of the world's y axis on the paper; x points right, z up."""
COLORS = ("#c0392b", "#2e8b57", "#1b6ca8")
LINK, FORCE, NOTE = "0.45", "#d35400", "0.2"


def leg() -> od.Model:
    """A trunk on a floating base, a thigh and a shank that turn about y."""
    builder = od.ModelBuilder("leg")
    builder.add_body("trunk", od.FloatingBase(), mass=10, inertia=(1, 1, 1))
    builder.add_body("thigh", od.Revolute("y"), "trunk", mass=5, com=(0, 0, -0.25), inertia=(0.1, 0.1, 0.01))
    builder.add_body("shank", od.Revolute("y"), "thigh", origin=(0, 0, -0.5), mass=3, inertia=(0.1, 0.1, 0.01))
    builder.add_frame("foot", "shank", origin=(0, 0, -0.5))
    return builder.build()


def on_paper(point: Any) -> np.ndarray:
    """Oblique projection of a point of the world."""
    x, y, z = np.asarray(point, float).ravel()
    return np.array([x, z]) + y * DEPTH


def beside(point: Any, right: float, up: float) -> np.ndarray:
    """A place on the paper beside a point of the world."""
    return on_paper(point) + np.array((right, up))


def arrow(axes: Any, begin: Any, end: Any, color: str, width: float = 1.8, style: str = "-|>", **options: Any) -> None:
    shape = {"arrowstyle": style, "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
    axes.annotate("", on_paper(end), on_paper(begin), arrowprops=shape | options)


def frame(axes: Any, R: np.ndarray, p: np.ndarray, length: float) -> None:
    """The axes of a frame, columns of R, at p."""
    for axis, name, color in zip(R.T, "xyz", COLORS, strict=True):
        arrow(axes, p, p + length * axis, color)
        axes.text(*on_paper(p + 1.17 * length * axis), name, color=color, ha="center", va="center", fontsize=11)


def draw(path: Path) -> None:
    """The picture, as a file."""
    model = leg()
    tilt = np.radians(-12.0)
    q = DM([0.95, 0.1, 1.25, 0.0, np.sin(tilt / 2), 0.0, np.cos(tilt / 2), np.radians(-25.0), np.radians(55.0)])

    def place(name: str, point: Any = (0, 0, 0)) -> np.ndarray:
        return np.array(od.point_position(model, name, q, point)).ravel()

    figure, axes = plt.subplots(figsize=(9.6, 4.2), layout="constrained")
    hip, knee, foot = place("trunk"), place("shank"), place("foot")
    ground = [on_paper((x, y, foot[2])) for x, y in ((-0.25, -0.2), (1.55, -0.2), (1.55, 0.75), (-0.25, 0.75))]
    axes.fill(*np.array(ground).T, color="0.93", zorder=0)
    for begin, end in ((hip, place("trunk", (0, 0, 0.26))), (hip, knee), (knee, foot)):
        axes.plot(*np.array([on_paper(begin), on_paper(end)]).T, color=LINK, lw=9, alpha=0.55, solid_capstyle="round")
    origin = np.array([0.0, 0.0, foot[2]])
    frame(axes, np.eye(3), origin, 0.33)
    axes.text(*beside(origin, -0.03, -0.1), "world", color=NOTE, ha="right")
    frame(axes, np.array(od.pose(model, "trunk", q)[0]), hip, 0.33)
    arrow(axes, origin, hip, NOTE, 1.0, "->", linestyle="dashed")
    _notes(axes, hip, knee, foot)
    axes.set(aspect="equal", xlim=(-0.45, 4.0), ylim=(foot[2] - 0.22, 1.78))
    axes.axis("off")
    figure.savefig(path, dpi=100)
    plt.close(figure)
    print(path)


def _notes(axes: Any, hip: np.ndarray, knee: np.ndarray, foot: np.ndarray) -> None:
    """The names of coordinates, the joint's angle and the force."""
    note = {"fontsize": 10.5, "color": NOTE, "va": "center"}
    along = (knee - hip) / np.linalg.norm(knee - hip)
    ahead, center = on_paper(knee + 0.36 * along), on_paper(knee)
    axes.plot(*np.array([center, ahead]).T, color=NOTE, lw=1, ls=":")
    angles = [np.degrees(np.arctan2(*(on_paper(end) - center)[::-1])) for end in (foot, knee + along)]
    axes.add_patch(Arc(center, 0.5, 0.5, theta1=angles[0], theta2=angles[1], color=COLORS[1], lw=1.8))
    axes.plot(*center, "o", color=COLORS[1], ms=8)
    axes.text(
        *beside(knee + 0.36 * along, 0.04, 0.04),
        "joint: angle q, torque tau,\nboth about its axis y",
        color=COLORS[1],
        va="center",
    )
    force = np.array([-0.12, 0.0, 0.5])
    arrow(axes, foot, foot + force, FORCE, 2.4)
    axes.text(*beside(foot, -0.16, 0.18), "contact force lam\non the robot", color=FORCE, ha="right", va="center")
    axes.text(*beside(hip / 2, -0.35, 0.62), "position q[0:3]", **note)
    axes.text(*beside(hip, 0.05, 0.42), "body axes: quaternion q[3:7]", **note)
    lines = (
        "od.FloatingBase():",
        "  q   x y z   qx qy qz qw",
        "  qd  velocity (world axes),",
        "      angular velocity (body axes)",
        "6-vectors, angular part first:",
        "  motion  [omega; v]",
        "  force   [moment; f]",
        "equation of motion:",
        "  H qdd + C = tau + G' lam",
    )
    for k, line in enumerate(lines):
        axes.text(2.42, 1.5 - 0.17 * k, line, family="monospace", fontsize=9.5, color=NOTE, va="center")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("path", nargs="?", type=Path, default=ROOT / "problems" / "frames.png", metavar="FILE.png")
    draw(arguments.parse_args().path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
