"""Examples 8.6 and 8.7 of [GJB94] rerun: five bars in natural coordinates by the implicit trapezoidal rule."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import ocp_dyn as od
from ocp_dyn import formulations
from scripts.common import Table

from ..dynamics.robots import Array
from . import book_rule
from .book_rule import Terms

TOLERANCE = 5e-7
"""Largest change of a coordinate in the last iteration of a step, that of the book [m]."""
START_ENERGY = 2 * 9.81
"""Energy of both examples at the start [J]: five bars of 1 kg at three edges of a cube of 1 m and half of two others,
heights from its lower side. The book gives no value; with this one its errors are met to the printed digits."""


class Published(NamedTuple):
    """Numbers that the book gives: errors, iterations per step, milliseconds per iteration on a DECstation 3100, peak
    acceleration [m/s^2]."""

    energy_error: float
    constraint_error: float | None
    iterations: int
    milliseconds: float
    peak: float | None = None


class Example(NamedTuple):
    """A mechanism, the step and duration [s], the ratio h / mu, the body whose vertical acceleration is told, and what
    the book gives."""

    model: od.Model
    loops: tuple[Any, ...]
    q: Array
    h: float
    duration: float
    damping: float
    body: str
    published: Published


class Variant(NamedTuple):
    """A form of the equations.

    alpha: the penalty factor. augmentations: corrections of lam* in a step; -1 for the library's augmented form, which
    corrects it in every iteration, with projections. damping: h / mu, None for that of the example. tolerance: largest
    change in the last iteration; after some 10 s the motion of the pendulum depends on it, as a chaotic one does.
    printed: whether the iteration is that of the book, with dense matrices, in place of the library's.
    """

    alpha: float
    augmentations: int = 0
    damping: float | None = None
    tolerance: float = TOLERANCE
    printed: bool = False


VARIANTS = {
    "alpha 1e7": Variant(1e7),
    "  dense, as printed": Variant(1e7, printed=True),
    "  tolerance 1e-8": Variant(1e7, tolerance=1e-8),
    "alpha 1e6": Variant(1e6),
    "alpha 1e6, augmented": Variant(1e6, 1, printed=True),
    "  the same, mu = h/20": Variant(1e6, 1, 20.0, printed=True),
    "with projections": Variant(1e7, -1),
}


class Result(NamedTuple):
    """Numbers of a run.

    seconds: until an iteration did not converge, or the whole duration. energy_error: largest change of the total
    energy relative to its value at the start, with heights from the lowest joint there. kinetic_error: relative to the
    largest kinetic energy, whatever the origin of heights. position_error: of the constraints. microseconds: per
    iteration; None for the dense reference. peak: of the vertical acceleration [m/s^2].
    """

    seconds: float
    energy_error: float
    kinetic_error: float
    position_error: float
    mean_iterations: float
    most_iterations: int
    microseconds: float | None
    peak: float


def five_bars() -> Example:
    """Example 8.6: the open chain."""
    model = od.models.five_bar_pendulum()
    return Example(model, (), np.zeros(model.nq), 0.008, 20.0, 80.0, "bar5",
                   Published(0.013, 1e-5, 2, 6.5, 180.0))  # fmt: skip


def bricard() -> Example:
    """Example 8.7: Bricard's mechanism."""
    chain = od.models.bricard()
    return Example(chain.model, chain.loops, np.array(chain.q), 0.03, 40.0, 60.0, "bar3",
                   Published(0.0003, None, 2, 5.0))  # fmt: skip


def simulate(example: Example, variant: Variant, duration: float) -> Result:
    """One run, by the library or as the book prints it."""
    natural = formulations.natural(example.model, example.loops)
    terms, mu = Terms(example.model, natural), example.h / (variant.damping or example.damping)
    duration = example.h * round(duration / example.h)
    seconds = None
    if variant.printed:
        x0 = np.array(od.function(formulations.natural_from_q, example.model, natural)(example.q).full()).ravel()
        motion: Any = book_rule.integrate(
            terms, x0, h=example.h, duration=duration, alpha=variant.alpha, mu=mu, augmentations=variant.augmentations,
            tolerance=variant.tolerance,
        )  # fmt: skip
    else:
        projected = variant.augmentations < 0
        options = {"method": "augmented"} if projected else {
            "method": "penalty", "project": False, "alpha": np.full(natural.m, variant.alpha), "mu": mu,
        }  # fmt: skip
        given = {"q": example.q, "h": example.h, "tolerance": variant.tolerance} | options
        times = []
        for length in (example.h, duration):  # the first run is the time of making the functions
            begin = time.thread_time()
            motion = formulations.trapezoidal_motion(example.model, natural, duration=length, **given)
            times.append(time.thread_time() - begin)
        seconds = max(0.0, times[1] - times[0])
    kinetic = 0.5 * np.sum(motion.xd @ terms.M * motion.xd, axis=1)
    change = float(np.abs(kinetic - (motion.x - motion.x[0]) @ terms.Q).max())  # it starts at rest
    return Result(
        float(motion.t[-1]), change / START_ENERGY, change / float(kinetic.max()),
        max(float(np.abs(terms.Phi(x)).max()) for x in motion.x),
        float(motion.iterations[1:].mean()), int(motion.iterations.max()),
        None if seconds is None else seconds / float(motion.iterations.sum()) * 1e6,
        float(np.abs(vertical_acceleration(example, natural, motion.xdd)).max()),
    )  # fmt: skip


def vertical_acceleration(example: Example, natural: Any, xdd: Array) -> Array:
    """That of the free end of a bar, or of its middle if it carries others, at all nodes [m/s^2]."""
    model = example.model
    i = model.body_names.index(example.body) + 1
    com = np.array(model.I[i].h / model.I[i].m).ravel()
    return (xdd @ np.array(natural.bodies[i].point(2 * com if i == model.nb else com).A.full()).T)[:, 2]


COLUMNS = {"": "<24s", "until s": "8.2f", "energy error %": "14.3g", "of kinetic %": "12.3g", "constraints": "13.2g",
           "iterations": "12.2f", "most": "6d", "us/iteration": "14.1f", "peak m/s2": "11.0f"}  # fmt: skip


def show(title: str, published: Published, results: Mapping[str, Result]) -> None:
    """A row for every variant, and the book's for alpha = 1e7."""
    print(f"\n{title}")
    table = Table(COLUMNS)
    table.row("book, alpha 1e7", None, 100 * published.energy_error, None, published.constraint_error,
              published.iterations, "", 1e3 * published.milliseconds, published.peak)  # fmt: skip
    for name, r in results.items():
        table.row(name, r.seconds, 100 * r.energy_error, 100 * r.kinetic_error, *r[3:])


def run(quick: bool) -> dict[str, Any]:
    """Runs and prints both examples; quick: their first seconds."""
    print("\nenergy error: largest change of the total energy, relative to its 19.62 J at the start, heights from the"
          "\nlowest joint there; of kinetic: relative to the largest kinetic energy")  # fmt: skip
    found: dict[str, dict[str, Any]] = {}
    for name, title, make in (
        ("five_bar_pendulum", "Example 8.6: five-bar pendulum, h = 0.008 s, mu = h/80", five_bars),
        ("bricard", "Example 8.7: Bricard's mechanism, h = 0.03 s, mu = h/60", bricard),
    ):
        example = make()
        duration = example.duration / 10 if quick else example.duration
        results: dict[str, Result] = {}
        for label, variant in VARIANTS.items():
            print(f"  {name}, {label.strip()}: {duration:g} s ...", file=sys.stderr, flush=True)
            results[label] = simulate(example, variant, duration)
        show(f"{title}, {duration:g} s", example.published, results)
        found[name] = {label: r._asdict() for label, r in results.items()}
    return found
