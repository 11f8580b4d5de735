"""Closed mechanisms in random poses, for tests: models with their loops and an assembled state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from casadi import DM

import ocp_dyn as od
from tests.helpers import random_inertia, random_rotation

I3 = np.eye(3)
XY = ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 1, 0))
"""Axes of a loop that holds two points together in a plane."""


ASSEMBLED = {}


@dataclass
class Closed:
    """A mechanism, its loops, and the number of its degrees of freedom."""

    model: od.Model
    loops: tuple[od.Loop, ...]
    freedom: int
    start: tuple[float, ...]

    def assembled(self) -> tuple[np.ndarray, od.formulations.IndependentCoordinates]:
        """A closed position and a choice of coordinates there; neither depends on pose and inertias, so they are
        kept."""
        key = (self.model.name, od.constraints.constraint_rows(self.loops))
        if key not in ASSEMBLED:
            q = od.assemble_q(self.model, self.loops, self.start)
            ASSEMBLED[key] = q, od.formulations.independent_coordinates(self.model, self.loops, q)
        return ASSEMBLED[key]

    def state(self, rng: np.random.Generator) -> tuple[DM, DM, DM]:
        """(q, qd, tau) with closed loops, some steps away from the start."""
        model, loops = self.model, self.loops
        q, choice = self.assembled()
        step = np.zeros(model.nv)
        step[list(choice.independent)] = 0.2 * rng.uniform(-1, 1, self.freedom)
        q = od.formulations.dependent_q(model, loops, model.integrate(q, DM(step)), choice)
        return DM(q), DM(od.assemble_qd(model, loops, q, rng.normal(size=model.nv))), DM(rng.normal(size=model.nv))


def base(name: str, rng: np.random.Generator, posed: bool = True) -> od.ModelBuilder:
    """A builder with a frame "base" in a random pose of the world."""
    builder = od.ModelBuilder(name, gravity=(1.1, -2.3, -9.81))
    builder.add_frame("base", "world", *((rng.uniform(-1, 1, 3), random_rotation(rng)) if posed else ()))
    return builder


def add(builder: od.ModelBuilder, name: str, joint: od.Joint, parent: str, origin, rng, **options) -> None:
    mass = rng.uniform(0.5, 2)
    builder.add_body(
        name, joint, parent, origin=origin, mass=mass, com=rng.uniform(-0.3, 0.5, 3), inertia=random_inertia(rng, mass),
        **options,
    )  # fmt: skip


def four_bar(rng: np.random.Generator, axes="ball", posed: bool = True) -> Closed:
    """A plane four-bar in space; axes "ball" and "revolute" are redundant, XY is not."""
    builder = base("four-bar", rng, posed)
    add(builder, "crank", od.Revolute("z"), "base", (0, 0, 0), rng, damping=0.3, armature=0.2)
    add(builder, "coupler", od.Revolute("z"), "crank", (0.4, 0, 0), rng, stiffness=2.0)
    add(builder, "rocker", od.Revolute("z"), "base", (1.0, 0, 0), rng)
    loop = od.Loop("coupler", "rocker", axes, (I3, (1.1, 0, 0)), (I3, (0.8, 0, 0)))
    return Closed(builder.build(), (loop,), 1, (1.0, -0.5, 1.5))


def spatial_four_bar(rng: np.random.Generator) -> Closed:
    """RSSR: a coupler between two ball joints, which may spin about its own axis."""
    builder = base("RSSR", rng)
    add(builder, "crank", od.Revolute("z"), "base", (0, 0, 0), rng)
    add(builder, "coupler", od.Spherical(), "crank", (0.3, 0, 0.1), rng)
    add(builder, "follower", od.Revolute((0.2, 1, -0.1)), "base", (1, 0.2, 0.1), rng)
    loop = od.Loop("coupler", "follower", "ball", (I3, (0.9, 0, 0)), (I3, (0.1, 0, 0.8)))
    return Closed(builder.build(), (loop,), 2, (0.4, 0, 0, 0, 1, 0.1))


def six_bar(rng: np.random.Generator, axes="revolute") -> Closed:
    """Two plane loops that share crank and coupler."""
    builder = base("six-bar", rng)
    add(builder, "crank", od.Revolute("z"), "base", (0, 0, 0), rng)
    add(builder, "coupler", od.Revolute("z"), "crank", (0.4, 0, 0), rng)
    add(builder, "rocker", od.Revolute("z"), "base", (1.0, 0, 0), rng)
    add(builder, "link", od.Revolute("z"), "coupler", (0.5, 0.4, 0), rng)
    add(builder, "lever", od.Revolute("z"), "base", (1.6, 0.3, 0), rng)
    loops = (
        od.Loop("coupler", "rocker", axes, (I3, (1.1, 0, 0)), (I3, (0.8, 0, 0)), label="first"),
        od.Loop("link", "lever", axes, (I3, (0.9, 0, 0)), (I3, (0.7, 0, 0)), label="second"),
    )
    return Closed(builder.build(), loops, 1, (1.0, -0.5, 1.5, -0.6, 1.5))


def bricard(rng: np.random.Generator) -> Closed:
    """Five links and the ground along edges of a cube, six orthogonal hinges: Kutzbach counts none, there is one."""
    builder = base("Bricard", rng)
    links = ((1, 0, 0), (0, -1, 0), (0, 0, 1), (-1, 0, 0), (0, 1, 0))
    for k, axis in enumerate("yzxyz"):
        parent, origin = (f"link{k}", links[k - 1]) if k else ("base", (0, 0, 0))
        add(builder, f"link{k + 1}", od.Revolute(axis), parent, origin, rng)
    turned = np.column_stack([I3[1], I3[2], I3[0]])  # its z lies along the hinge
    loop = od.Loop("link5", "base", "revolute", (turned, links[4]), (turned, (0, 0, 1)))
    return Closed(builder.build(), (loop,), 1, (0,) * 5)


def slider_crank(rng: np.random.Generator, by_line: bool = False) -> Closed:
    """A crank drives a slider; by_line: the slider is no body, the end of the coupler slides along a fixed line."""
    builder = base("slider-crank", rng)
    add(builder, "crank", od.Revolute("z"), "base", (0, 0, 0), rng)
    add(builder, "coupler", od.Revolute("z"), "crank", (0.4, 0, 0), rng)
    if by_line:
        along = np.column_stack([I3[1], I3[2], I3[0]])
        loop = od.Loop("base", "coupler", ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 1, 0)), (along, (0, 0.1, 0)),
                       (I3, (1, 0, 0)),
                       sliding=True)  # fmt: skip
        return Closed(builder.build(), (loop,), 1, (0.8, -1.2))
    add(builder, "slider", od.Prismatic("x"), "base", (0, 0.1, 0), rng)
    loop = od.Loop("slider", "coupler", "revolute", (I3, (0, 0, 0)), (I3, (1, 0, 0)))
    return Closed(builder.build(), (loop,), 1, (0.8, -1.2, 1.2))


def pin_in_slot(rng: np.random.Generator, slot: str = "rocker") -> Closed:
    """A pin that slides in a slot, between two bodies that both turn in space."""
    builder = base(f"pin in a slot of the {slot}", rng)
    add(builder, "crank", od.Revolute("z"), "base", (0, 0, 0), rng)
    add(builder, "link", od.Spherical(), "crank", (0.4, 0, 0.1), rng)
    add(builder, "rocker", od.Revolute((0.2, -0.1, 1)), "base", (1, 0.2, 0), rng)
    ends = {"link": (0.9, 0.1, 0), "rocker": (0.3, 0, 0.2)}
    pin = next(body for body in ends if body != slot)
    axes = ((0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 0, 1))
    loop = od.Loop(slot, pin, axes, (I3, ends[slot]), (I3, ends[pin]), sliding=True)
    return Closed(builder.build(), (loop,), 3, (0.8, 0, 0, 0, 1, 1.5))


def floating_legs(rng: np.random.Generator) -> Closed:
    """Two legs of a trunk that floats, joined at their feet by a ball joint off their plane."""
    builder = base("legs", rng)
    add(builder, "trunk", od.FloatingBase(), "world", (0, 0, 0), rng)
    for side, y in (("l", 0.2), ("r", -0.2)):
        add(builder, f"thigh_{side}", od.Universal("x", "y"), "trunk", (0, y, 0), rng)
        add(builder, f"shank_{side}", od.Revolute("y"), f"thigh_{side}", (0, 0, -0.5), rng)
    loop = od.Loop("shank_l", "shank_r", "ball", (I3, (0, -0.1, -0.5)), (I3, (0, 0.1, -0.5)))
    return Closed(builder.build(), (loop,), 9, (0.3, 0.2, 1, 0.1, 0.2, 0.3, 0.9, -0.2, 0.3, -0.5, 0.2, 0.3, -0.5))


MECHANISMS = {
    "four_bar": four_bar,
    "four_bar_revolute": lambda rng: four_bar(rng, "revolute"),
    "four_bar_xy": lambda rng: four_bar(rng, XY),
    "spatial_four_bar": spatial_four_bar,
    "six_bar": six_bar,
    "bricard": bricard,
    "slider_crank": slider_crank,
    "sliding_line": lambda rng: slider_crank(rng, by_line=True),
    "pin_in_slot": pin_in_slot,
    "slot_in_link": lambda rng: pin_in_slot(rng, "link"),
    "floating_legs": floating_legs,
}
