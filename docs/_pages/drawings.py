"""Pictures of frames, joints and contacts for the pages of the documentation.

Every position, axis and motion in them is computed by the library; a page draws them while it is built, so pictures
and conventions agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from casadi import DM
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

import ocp_dyn as od
from ocp_dyn.viz.drawing import figure as new_figure
from ocp_dyn.viz.pictures.mechanism import VIEWS, camera

AXES_COLORS = ("#C0392B", "#2E8B57", "#1B6CA8")
INK, FAINT, BODY, MOTION, FORCE = "#30363D", "#9AA3AD", "#C9D1DA", "#8E44AD", "#D35400"
HALO = [withStroke(linewidth=3, foreground="white")]


class Scene:
    """A drawing of points of the world, seen from one direction, without perspective."""

    def __init__(self, axes: Axes, azimuth: float = 35.0, elevation: float = 20.0) -> None:
        self.axes, self.turn = axes, camera(azimuth, elevation)
        axes.set_aspect("equal")
        axes.axis("off")

    def at(self, points: Any) -> np.ndarray:
        """Places (n, 2), or (2,) for one point, on the paper."""
        return np.asarray(points, float) @ self.turn[[0, 2]].T

    def line(self, points: Any, color: str = INK, width: float = 1.2, **options: Any) -> None:
        self.axes.plot(*self.at(points).T, color=color, lw=width, solid_capstyle="round", **options)

    def face(self, points: Any, color: str, **options: Any) -> None:
        self.axes.fill(*self.at(points).T, color=color, lw=0, **options)

    def dot(self, point: Any, color: str = INK, size: float = 5.0, **options: Any) -> None:
        self.axes.plot(*self.at(point), "o", color=color, ms=size, **({"zorder": 6} | options))

    def arrow(self, begin: Any, end: Any, color: str = INK, width: float = 1.8, **options: Any) -> None:
        shape = {"arrowstyle": "-|>", "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
        self.axes.annotate("", self.at(end), self.at(begin), arrowprops=shape | options, zorder=5)
        self.axes.update_datalim(self.at([begin, end]))

    def text(self, point: Any, words: str, shift: tuple[float, float] = (0, 0), **options: Any) -> None:
        """Words at a point; shift: in points on the paper."""
        style = {"color": INK, "fontsize": 10, "ha": "center", "va": "center", "zorder": 8, "path_effects": HALO}
        self.axes.annotate(words, self.at(point), shift, textcoords="offset points", **(style | options))

    def frame(self, R: Any, p: Any, length: float, names: str = "xyz", alpha: float = 1.0, width: float = 1.9) -> None:
        """The axes of a frame, columns of R, at p."""
        for axis, name, color in zip(np.asarray(R).T, names, AXES_COLORS, strict=True):
            self.arrow(p, p + length * axis, color, width, alpha=alpha)
            if name != " ":
                self.text(p + 1.2 * length * axis, name, color=color, fontsize=9.5, alpha=alpha)

    def turn_arrow(self, p: Any, axis: Any, radius: float, color: str = MOTION, span: float = 260.0) -> None:
        """An arc about an axis through p, with the head in the positive direction."""
        axis = np.asarray(axis, float) / np.linalg.norm(axis)
        u = np.cross(axis, self.turn[0] if abs(axis @ self.turn[0]) < 0.9 else self.turn[2])
        u /= np.linalg.norm(u)
        angles = np.radians(np.linspace(200, 200 + span, 60))
        arc = p + radius * (np.outer(np.cos(angles), u) + np.outer(np.sin(angles), np.cross(axis, u)))
        self.line(arc[:-3], color, 1.7, zorder=5)
        self.arrow(arc[-6], arc[-1], color, 1.7)

    def box(self, R: Any, p: Any, size: Sequence[float], color: str = BODY, alpha: float = 0.55) -> None:
        """A box of a body: center p, axes R, lengths of its edges."""
        half = np.asarray(size) / 2
        normals = np.vstack([np.eye(3), -np.eye(3)])
        towards = -self.turn[1]
        for n in sorted(normals, key=lambda n: float((R @ n) @ towards)):
            k = int(np.argmax(np.abs(n)))
            i, j = (k + 1) % 3, (k + 2) % 3
            corners = []
            for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                c = n * half
                c[i], c[j] = s * half[i], t * half[j]
                corners.append(p + R @ c)
            seen = float((R @ n) @ towards) > 0
            shade = 0.80 + 0.20 * abs(float((R @ n)[2]))
            tint = tuple(shade * np.array(to_rgb(color)))
            self.axes.fill(*self.at(corners).T, facecolor=tint, edgecolor="white" if seen else "none", lw=0.8,
                           alpha=alpha if seen else 0.2 * alpha, zorder=2)  # fmt: skip

    def ground(self, low: float, high: float, step: float = 0.25, y: tuple[float, float] | None = None) -> None:
        """A grid on the plane z = 0."""
        y0, y1 = y or (low, high)
        for x in np.arange(low, high + 1e-9, step):
            self.line([(x, y0, 0), (x, y1, 0)], "#DDE1E5", 0.8, zorder=0)
        for v in np.arange(y0, y1 + 1e-9, step):
            self.line([(low, v, 0), (high, v, 0)], "#DDE1E5", 0.8, zorder=0)


def panels(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, Any]:
    """A figure of this size [inches] that shows itself in a notebook, and its axes."""
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained")
    return figure, figure.subplots(rows, columns)


def pose(model: od.Model, frame: str, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """(R, p) of a frame in the world, as arrays."""
    R, p = od.pose(model, frame, DM(q))
    return R.full(), p.full().ravel()


def link_frames() -> Figure:
    """Two bodies and the joint between them: the frames of X_tree, XJ and X0, and a point of the body."""
    builder = od.ModelBuilder("arm")
    builder.add_body("parent", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    tilt = np.radians(-18.0)
    fixed = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
    builder.add_body(
        "child", od.Revolute("y"), "parent", origin=(0.62, 0, 0.06), rotation=fixed, mass=1, inertia=(1, 1, 1)
    )
    builder.add_frame("joint frame", "parent", (0.62, 0, 0.06), fixed)
    model = builder.build()
    half = np.radians(-8.0) / 2
    q = [0.62, 0.3, 0.72, 0, np.sin(half), 0, np.cos(half), np.radians(55.0)]
    (R1, p1), (R2, p2), (Rj, pj) = (pose(model, name, q) for name in ("parent", "child", "joint frame"))
    figure, axes = panels(8.2, 4.4)
    s = Scene(axes, 22, 16)
    s.ground(0, 2.25, 0.25, (0, 0.75))
    s.box(R1, p1 + R1 @ (0.31, 0, 0.03), (0.66, 0.2, 0.16))
    s.box(R2, p2 + R2 @ (0.33, 0, 0), (0.66, 0.16, 0.12), "#B7CCE0")
    s.frame(np.eye(3), np.zeros(3), 0.32)
    s.text((0, 0, 0), "ground 0", (-4, -14), ha="center")
    s.frame(R1, p1, 0.27)
    s.text(p1, "body $\\lambda(i)$\nparent", (-30, 6), fontsize=9.5)
    s.frame(Rj, pj, 0.30, "   ", 0.45, 1.4)
    s.frame(R2, p2, 0.27)
    s.turn_arrow(p2, R2[:, 1], 0.12)
    s.text(p2, "$q_i$", (-22, -8), color=MOTION, fontsize=12)
    s.text(p2 + 0.5 * R2[:, 0], "body $i$", (-34, -16), fontsize=9.5)
    point = np.array([0.55, -0.08, 0.06])
    at = p2 + R2 @ point
    s.dot(at)
    s.arrow(p2, at, INK, 1.0, linestyle="dashed")
    s.text(at, "point $p$ in body $i$:\n$r + E^{T} p$ in body $\\lambda(i)$", (74, 4), fontsize=9.5)
    s.arrow(np.zeros(3), p1, INK, 1.0, linestyle="dashed")
    s.text(p1 / 2, "$r$ of ${}^{\\lambda}X_0$", (-26, 4), fontsize=10)
    s.text(p1 + 0.5 * (pj - p1), "$X_{tree}$: fixed, from the\nparent to the joint", (16, -38), fontsize=9.5)
    s.text(pj + 0.3 * Rj[:, 0], "$X_J(q_i)$: from the joint's fixed\nframe (pale) to body $i$", (84, 22), fontsize=9.5,
           color=MOTION)  # fmt: skip
    axes.margins(0.06)
    return figure


JOINTS: tuple[tuple[str, Any, Any, Sequence[Any]], ...] = (
    ("Revolute('z')", od.Revolute("z"), [0.6], ("r", 2)),
    ("Prismatic('z')", od.Prismatic("z"), [0.35], ("t", 2)),
    ("Helical('z', pitch)", od.Helical("z", pitch=0.3), [1.1], ("rt", 2)),
    ("Cylindrical('z')", od.Cylindrical("z"), [0.6, 0.3], ("rt", 2)),
    ("Universal('x', 'y')", od.Universal("x", "y"), [0.45, 0.5], ("u", 0)),
    ("Planar()", od.Planar(), [0.45, 0.25, 0.6], ("p", 2)),
    ("Spherical()", od.Spherical(), [0.12, -0.2, 0.28, 0.93], ("s", 0)),
    ("FloatingBase()", od.FloatingBase(), [0.5, 0.2, 0.45, 0.1, -0.15, 0.25, 0.95], ("f", 0)),
)
"""Title, joint, position q, and the kind of its motion, of the pictures of joints."""


def joint_motions() -> Figure:
    """The moved frame of each joint model beside its fixed frame, and the directions of qd."""
    figure, grid = panels(9.6, 5.3, 2, 4)
    for axes, (title, joint, q, (kind, k)) in zip(grid.flat, JOINTS, strict=True):
        X = joint.jcalc(DM(q), DM.zeros(joint.nv, 1)).XJ
        R, p = DM(X.E).full().T, DM(X.r).full().ravel()
        s = Scene(axes, 32, 20)
        s.frame(np.eye(3), np.zeros(3), 0.62, alpha=0.35, width=1.3)
        s.box(R, p, (0.44, 0.34, 0.24))
        s.frame(R, p, 0.5, "   ")
        axis = np.eye(3)[:, k]
        if kind in ("r", "rt"):
            s.line([p - 0.4 * axis, p + 0.8 * axis], MOTION, 0.9, ls=":")
            s.turn_arrow(p + 0.62 * axis, axis, 0.17)
        if kind in ("t", "rt"):
            s.arrow(p + 0.3 * axis - (0.42, 0, 0.35), p + 0.3 * axis - (0.42, 0, -0.15), MOTION)
        if kind == "u":
            s.turn_arrow(0.66 * np.eye(3)[:, 0], np.eye(3)[:, 0], 0.13)
            s.turn_arrow(p + 0.66 * R[:, 1], R[:, 1], 0.13)
        if kind in ("s", "f"):
            for axis in R.T:
                s.turn_arrow(p + 0.6 * axis, axis, 0.1)
        if kind in ("p", "f"):
            s.arrow((0, 0, 0), p, MOTION, 1.2, linestyle="dashed")
        if kind == "p":
            s.face([(-0.3, -0.3, 0), (0.9, -0.3, 0), (0.9, 0.75, 0), (-0.3, 0.75, 0)], "#F1F3F5", zorder=0)
            s.turn_arrow(p + np.array((0, 0, 0.55)), (0, 0, 1), 0.14)
        axes.set_title(f"od.{title}", family="monospace", fontsize=9.5, color=INK)
        axes.set(xlim=(-0.62, 1.3 if kind == "f" else 1.08), ylim=(-0.55, 1.37 if kind == "f" else 1.15))
    return figure


def base_velocity() -> Figure:
    """The six velocities of a floating base: linear in world axes, angular in body axes."""
    builder = od.ModelBuilder("trunk")
    builder.add_body("trunk", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    model = builder.build()
    q = np.array(model.integrate(DM([0.9, 0.25, 0.75, 0, 0, 0, 1]), DM([0, 0, 0, 0.35, -0.4, 0.55]))).ravel()
    R, p = pose(model, "trunk", q)
    linear = np.array([0.55, 0.12, 0.2])
    figure, axes = panels(8.2, 4.3)
    s = Scene(axes, 25, 18)
    s.ground(-0.25, 1.75, 0.25, (-0.25, 0.75))
    s.frame(np.eye(3), np.zeros(3), 0.35)
    s.text((0, 0, 0), "world", (-6, -13))
    s.arrow(np.zeros(3), p, INK, 1.0, linestyle="dashed")
    s.text(p / 2, "position\nq[0:3]", (-34, 4), fontsize=9.5)
    s.box(R, p, (0.5, 0.3, 0.42))
    s.frame(R, p, 0.46)
    s.text(
        p + 0.46 * R[:, 2], "orientation q[3:7] = [x y z w]:\ncolumns of R are the body axes", (-64, 22), fontsize=9.5
    )
    s.arrow(p, p + linear, FORCE, 2.4)
    corners = [p, p + np.array((linear[0], 0, 0)), p + np.array((linear[0], linear[1], 0)), p + linear]
    s.line(corners, FORCE, 0.9, ls=":")
    s.text(p + linear, "velocity of the origin\nqd[0:3], world axes", (64, 4), fontsize=9.5, color=FORCE)
    for axis in R.T:
        s.turn_arrow(p + 0.37 * axis, axis, 0.055)
    s.text(p + 0.37 * R[:, 1], "angular velocity\nqd[3:6], body axes", (44, 44), fontsize=9.5, color=MOTION)
    axes.margins(0.03)
    return figure


def contact_axes() -> Figure:
    """A foot, tilted, and the six rows of its contact: directions of the world, at the contact point."""
    builder = od.ModelBuilder("foot")
    builder.add_body("foot", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    builder.add_frame("sole", "foot", (0.02, 0, -0.07))
    model = builder.build()
    turn = DM([0, 0, 0, 0, -0.32, 0.25])
    q = np.array(model.integrate(DM([0.25, 0.12, 0.16, 0, 0, 0, 1]), turn)).ravel()
    R, p = pose(model, "foot", q)
    _, sole = pose(model, "sole", q)
    figure, axes = panels(8.2, 4.1)
    s = Scene(axes, 25, 18)
    s.ground(-0.2, 0.8, 0.1, (-0.1, 0.4))
    s.box(R, p - R @ (0, 0, 0.035), (0.28, 0.1, 0.07), alpha=0.8)
    s.frame(R, p, 0.13, "   ")
    s.text(p, "axes of the foot", (-76, 40), fontsize=9.5)
    s.dot(sole, FORCE, 6)
    s.text(sole, "contact point", (-52, -12), color=FORCE, fontsize=9.5)
    names = (("rx", "tx"), ("ry", "ty"), ("rz", "tz"))
    for axis, color, (r, t) in zip(np.eye(3), AXES_COLORS, names, strict=True):
        s.arrow(sole, sole + 0.2 * axis, color, 2.0)
        s.turn_arrow(sole + 0.14 * axis, axis, 0.025, color)
        s.text(sole + 0.225 * axis, f"{r}, {t}", (10 if t == "tz" else 0, 4), color=color, fontsize=10)
    tip = sole + np.array([0.05, -0.02, 0.3])
    s.text((0.83, 0.05, 0.19), "od.Contact(frame)\n  rows: rx ry rz tx ty tz\nod.Contact(frame, axes='xyz')\n"
           "  rows: tx ty tz\naxes along the world,\nhowever the foot is turned", ha="left", family="monospace",
           fontsize=9, linespacing=1.5)  # fmt: skip
    s.arrow(sole, tip, FORCE, 2.6)
    s.text(tip, "lam[3:6]: force of the\nground on the robot", (66, 4), color=FORCE, fontsize=9.5)
    axes.set_xlim(s.at((-0.2, 0.4, 0))[0] - 0.05, s.at((0.83, 0.05, 0))[0] + 0.42)
    axes.margins(y=0.04)
    return figure


def foothold() -> Figure:
    """Two foot prints from above: place (x, y, yaw), size of the sole, center of pressure."""
    from ocp_dyn import ocp

    feet = [
        ocp.Foothold(od.Contact("sole_l"), x=0.27, y=0.11, yaw=0.12, half_length=0.11, half_width=0.045),
        ocp.Foothold(od.Contact("sole_r"), x=0.72, y=-0.11, yaw=-0.3, half_length=0.11, half_width=0.045),
    ]
    figure, axes = panels(8.2, 3.5)
    s = Scene(axes, 0, 90)
    for foot, color, side in zip(feet, ("#0072B2", "#D55E00"), ("left", "right"), strict=True):
        x, y, yaw = foot.x[0], foot.y[0], foot.yaw[0]
        p = np.array([x, y, 0])
        ahead = np.append(np.array(foot.heading(DM([x, y, yaw]))).ravel()[:2], 0)
        aside = np.array([-ahead[1], ahead[0], 0])
        a, b = foot.half_length * ahead, foot.half_width * aside
        s.line([p + a + b, p + a - b, p - a - b, p - a + b, p + a + b], color, 1.6)
        s.face([p + a + b, p + a - b, p - a - b, p - a + b], color, alpha=0.13)
        s.arrow(p, p + 1.9 * a, color, 1.6)
        s.line([p, p + np.array((0.22, 0, 0))], FAINT, 1.0, ls=":")
        s.dot(p, color)
        s.text(p, f"{side} foot", (0, 42 if side == "left" else -42), color=color)
    right = np.array([0.72, -0.11, 0.0])
    arc = np.linspace(0, -0.3, 20)
    s.line(right + 0.19 * np.column_stack([np.cos(arc), np.sin(arc), 0 * arc]), INK, 1.2)
    s.text(right + np.array((0.24, -0.03, 0)), "yaw", fontsize=10)
    s.line([(0, -0.11, 0), right], FAINT, 0.9, ls="--")
    s.line([(0.72, 0, 0), right], FAINT, 0.9, ls="--")
    s.text((0.4, -0.125, 0), "x", fontsize=10)
    s.text((0.705, -0.04, 0), "y", fontsize=10)
    left = np.array([0.27, 0.11, 0.0])
    s.dot(left + np.array((0.05, 0.015, 0)), FORCE, 7)
    s.text(
        left + np.array((0.05, 0.015, 0)), "center of pressure: inside the sole", (126, 12), color=FORCE, fontsize=9.5
    )
    foot = feet[0]
    ahead = np.array([np.cos(0.12), np.sin(0.12), 0])
    edge = left - (foot.half_width + 0.02) * np.array([-ahead[1], ahead[0], 0])
    s.arrow(edge, edge + foot.half_length * ahead, INK, 1.0, arrowstyle="<|-|>")
    s.text(edge + foot.half_length / 2 * ahead, "half_length", (4, -11), fontsize=9.5)
    behind = left - (foot.half_length + 0.02) * ahead
    s.arrow(behind, behind + foot.half_width * np.array([-ahead[1], ahead[0], 0]), INK, 1.0, arrowstyle="<|-|>")
    s.text(behind, "half_width", (-36, 10), fontsize=9.5)
    s.frame(np.eye(3), np.zeros(3), 0.13, "xy ")
    axes.set(xlim=(-0.06, 1.06), ylim=(-0.24, 0.24))
    return figure


def human_frames() -> Figure:
    """The human model, its body frames and the frames of its soles."""
    human = od.models.human(mass=73, height=1.741, sex="male")
    q = np.array(human.neutral())
    step = {"hip_l.ry": -0.5, "knee_l": 0.3, "ankle_l": 0.2, "hip_r.ry": 0.25, "knee_r": 0.3, "shoulder_l.ry": 0.45,
            "elbow_l": -0.3, "shoulder_r.ry": -0.45, "elbow_r": -0.4}  # fmt: skip
    for name, angle in step.items():
        q[human.q_names.index(name)] = angle
    q[0:3] = 0, 0, q[2] - min(pose(human, f"{part}_{side}", q)[1][2] for part in ("heel", "toe") for side in "lr")
    figure = od.viz.plot(human, q, view="3d")
    axes = figure.axes[0]
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    s = Scene(axes, *VIEWS["3d"])
    for name in human.body_names:
        R, p = pose(human, name, q)
        s.frame(R, p, 0.13, "   ", width=1.5)
    for name in ("sole_l", "sole_r"):
        R, p = pose(human, name, q)
        s.frame(R, p, 0.16, "   ", width=1.5)
    s.frame(np.eye(3), np.zeros(3), 0.3)
    axes.set(xlim=(x0, x1), ylim=(y0, y1))
    return figure
