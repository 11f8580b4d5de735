"""Examples 8.6 and 8.7 of [GJB94] rerun: five bars in natural coordinates by the implicit trapezoidal rule."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ocp_dyn as od
from ocp_dyn import formulations

from . import book_rule
from .book_rule import Terms
from .published import EXAMPLE_8_6, EXAMPLE_8_7, FIGURE_8_26, Motion
from .robots import Array

TOLERANCE = 5e-7
"""Largest change of a coordinate in the last iteration of a step, that of the book [m]."""
START_ENERGY = 2 * 9.81
"""Energy of both examples at the start [J]: five bars of 1 kg at three edges of a cube of 1 m and half of two others,
heights from its lower side. The book gives no value; with this one its errors are met to the printed digits."""
BLACK, BLUE, RED, GREEN = "#30363D", "#0072B2", "#D55E00", "#00896B"


class Example(NamedTuple):
    """A mechanism, the step and duration [s], the ratio h / mu, the place whose vertical acceleration is plotted (body
    and point in it), and what the book gives."""

    model: od.Model
    loops: tuple[Any, ...]
    q: Array
    h: float
    duration: float
    damping: float
    body: str
    published: Motion


class Variant(NamedTuple):
    """A form of the equations.

    alpha: the penalty factor. augmentations: corrections of lam* in a step; -1 for the library's augmented form, which
    corrects it in every iteration, with projections. damping: h / mu, None for that of the example. tolerance: largest
    change in the last iteration; after some 10 s the motion of the pendulum depends on it, as a chaotic one does.
    """

    alpha: float
    augmentations: int = 0
    damping: float | None = None
    tolerance: float = TOLERANCE


VARIANTS = {
    "alpha 1e7": Variant(1e7),
    "  tolerance 1e-8": Variant(1e7, tolerance=1e-8),
    "alpha 1e6": Variant(1e6),
    "alpha 1e6, augmented": Variant(1e6, 1),
    "  the same, mu = h/20": Variant(1e6, 1, 20.0),
    "with projections": Variant(1e7, -1),
}


class Result(NamedTuple):
    """Numbers of a run, and its curves: t (N+1), energy [J], largest errors of constraints, vertical acceleration.

    energy_error: largest change of the total energy relative to its value at the start, with heights from the lowest
    joint there. kinetic_error: relative to the largest kinetic energy, whatever the origin of heights. seconds: until an iteration did not converge, or the whole duration. microseconds: per iteration; 0 for the dense
    reference.
    """

    seconds: float
    energy_error: float
    kinetic_error: float
    position_error: float
    mean_iterations: float
    most_iterations: int
    microseconds: float
    peak: float
    t: Array
    energy: Array
    errors: Array
    acceleration: Array

    @property
    def numbers(self) -> dict[str, float]:
        """All but the curves."""
        return {name: value for name, value in self._asdict().items() if np.ndim(value) == 0}


def five_bars() -> Example:
    """Example 8.6: the open chain."""
    model = od.models.five_bar_pendulum()
    return Example(model, (), np.zeros(model.nq), 0.008, 20.0, 80.0, "bar5", EXAMPLE_8_6)


def bricard() -> Example:
    """Example 8.7: Bricard's mechanism."""
    chain = od.models.bricard()
    return Example(chain.model, chain.loops, np.array(chain.q), 0.03, 40.0, 60.0, "bar3", EXAMPLE_8_7)


def simulate(example: Example, variant: Variant, duration: float) -> Result:
    """One run, by the library, or as the book prints it where lam* is corrected between converged iterations."""
    natural = formulations.natural(example.model, example.loops)
    terms, mu = Terms(example.model, natural), example.h / (variant.damping or example.damping)
    duration = example.h * round(duration / example.h)
    if variant.augmentations > 0:
        x0 = np.array(od.function(formulations.natural_from_q, example.model, natural)(example.q).full()).ravel()
        motion: Any = book_rule.integrate(
            terms, x0, h=example.h, duration=duration, alpha=variant.alpha, mu=mu, augmentations=variant.augmentations,
            tolerance=variant.tolerance,
        )  # fmt: skip
        seconds = 0.0
    else:
        projected = variant.augmentations < 0
        options = {"method": "augmented"} if projected else {
            "method": "penalty", "project": False, "alpha": np.full(natural.m, variant.alpha), "mu": mu,
        }  # fmt: skip

        def timed(length: float) -> tuple[Any, float]:
            begin = time.thread_time()
            found = formulations.trapezoidal_motion(
                example.model,
                natural,
                q=example.q,
                h=example.h,
                duration=length,
                tolerance=variant.tolerance,
                **options,
            )
            return found, time.thread_time() - begin

        _, building = timed(example.h)
        motion, seconds = timed(duration)
        seconds -= building
    kinetic = 0.5 * np.sum(motion.xd @ terms.M * motion.xd, axis=1)
    energy = START_ENERGY + kinetic - (motion.x - motion.x[0]) @ terms.Q
    errors = np.array([np.abs(terms.Phi(x)).max() for x in motion.x])
    acceleration = (motion.xdd @ middle_or_tip(example, natural).T)[:, 2]
    change = float(np.abs(energy - energy[0]).max())
    return Result(
        float(motion.t[-1]), change / START_ENERGY, change / float(kinetic.max()), float(errors.max()),
        float(motion.iterations[1:].mean()), int(motion.iterations.max()),
        max(0.0, seconds) / float(motion.iterations.sum()) * 1e6,
        float(np.abs(acceleration).max()), motion.t, energy, errors, acceleration,
    )  # fmt: skip


def middle_or_tip(example: Example, natural: Any) -> Array:
    """A (3 x n) of the point A x + a that is plotted: the free end of a bar, or its middle if it carries others."""
    model = example.model
    i = model.body_names.index(example.body) + 1
    com = np.array(model.I[i].h / model.I[i].m).ravel()
    return np.array(natural.bodies[i].point(2 * com if i == model.nb else com).A.full())


# Figures


def figures(out: Path, pendulum: Mapping[str, Result], mechanism: Mapping[str, Result]) -> None:
    """Figures 8.24 to 8.28 as PNG files in `out`, with the book's axes."""
    a, b = pendulum.get("alpha 1e7"), mechanism.get("alpha 1e7")
    if a is not None:
        _curve(out / "figure_8_24.png", "Figure 8.24: vertical acceleration of the tip, five-bar pendulum",
               "acceleration [m/s2]", a.t, a.acceleration)  # fmt: skip
        _curve(out / "figure_8_25.png", f"Figure 8.25: total energy, five-bar pendulum, {_percent(a)}",
               "energy [J]", a.t, a.energy, margin=1.0)  # fmt: skip
        _errors(out / "figure_8_26.png", pendulum)
    if b is not None:
        _curve(out / "figure_8_27.png", "Figure 8.27: vertical acceleration of the middle bar, Bricard's mechanism",
               "acceleration [m/s2]", b.t, b.acceleration)  # fmt: skip
        _curve(out / "figure_8_28.png", f"Figure 8.28: total energy, Bricard's mechanism, {_percent(b)}",
               "energy [J]", b.t, b.energy, margin=1.0)  # fmt: skip


def _percent(result: Result) -> str:
    return f"largest error {100 * result.energy_error:.2g} %"


def _curve(path: Path, title: str, label: str, t: Array, values: Array, margin: float = 0.0) -> None:
    """A curve over time; margin: added to the ordinate on both sides."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(8.5, 3.8), layout="constrained")
    axes.plot(t, values, color=BLACK, lw=0.8)
    if margin:
        axes.set_ylim(values.min() - margin, values.max() + margin)
    axes.set(xlabel="time [s]", ylabel=label, title=title)
    _save(figure, axes, path)


def _errors(path: Path, results: Mapping[str, Result]) -> None:
    """The largest errors of the constraints; the book's levels as thin lines."""
    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    styles = {"alpha 1e7": (BLACK, "-"), "alpha 1e6": (BLUE, "--"), "alpha 1e6, augmented": (RED, (0, (7, 2))),
              "  the same, mu = h/20": (GREEN, "-.")}  # fmt: skip
    for name, (color, style) in styles.items():
        if name in results:
            values = results[name].errors
            axes.semilogy(
                results[name].t, np.where(values > 0, values, np.nan), color=color, ls=style, lw=0.9, label=name.strip()
            )
    for level in sorted(set(FIGURE_8_26.values())):
        axes.axhline(level, color="0.6", lw=0.8, ls=":")
    axes.text(0.995, 5e-4, "dotted, largest in the book: 1e-4 for 1e6, 1e-5 for the others", color="0.4",
              fontsize="small", ha="right", transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set_ylim(5e-7, 1e-3)
    axes.set(xlabel="time [s]", ylabel="largest error [m or 1]", title="Figure 8.26: errors of the constraints")
    axes.legend(frameon=False, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.08), fontsize="small")
    _save(figure, axes, path)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def _save(figure: Any, axes: Any, path: Path) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.margins(x=0.01)
    figure.savefig(path, dpi=130)
    _pyplot().close(figure)


# Tables


def show(title: str, published: Motion, results: Mapping[str, Result]) -> None:
    """A row for every variant, and the book's for alpha = 1e7."""
    print(f"\n{title}")
    print(f"{'':24s}{'until':>8s}{'energy error':>14s}{'of kinetic':>12s}{'constraints':>13s}{'iterations':>12s}{'most':>6s}"
          f"{'us/iteration':>14s}{'peak m/s2':>11s}")  # fmt: skip
    constraint = "-" if published.constraint_error is None else f"{published.constraint_error:.0e}"
    print(f"{'book, alpha 1e7':24s}{'':8s}{100 * published.energy_error:12.3g} %{'-':>12s}{constraint:>13s}"
          f"{published.iterations:12d}{'':6s}{1e3 * published.milliseconds:14.0f}"
          f"{'-' if published.peak is None else format(published.peak, '.0f'):>11s}")  # fmt: skip
    for name, r in results.items():
        print(f"{name:24s}{r.seconds:6.2f} s{100 * r.energy_error:12.3g} %{100 * r.kinetic_error:10.3g} %{r.position_error:13.2g}"
              f"{r.mean_iterations:12.2f}{r.most_iterations:6d}"
              f"{'-' if not r.microseconds else format(r.microseconds, '.1f'):>14s}{r.peak:11.0f}")  # fmt: skip


def run(quick: bool, out: Path | None, progress: Callable[[str], None]) -> dict[str, Any]:
    """Runs and prints both examples, and draws their figures; quick: their first seconds."""
    print("\nenergy error: largest change of the total energy, relative to its 19.62 J at the start, heights from the lowest"
          "\njoint there; of kinetic: relative to the largest kinetic energy")  # fmt: skip
    found: dict[str, dict[str, Result]] = {}
    for name, title, make in (
        ("five_bar_pendulum", "Example 8.6: five-bar pendulum, h = 0.008 s, mu = h/80", five_bars),
        ("bricard", "Example 8.7: Bricard's mechanism, h = 0.03 s, mu = h/60", bricard),
    ):
        example = make()
        duration = example.duration / 10 if quick else example.duration
        found[name] = {}
        for label, variant in VARIANTS.items():
            progress(f"{name}, {label}: {duration:g} s")
            found[name][label] = simulate(example, variant, duration)
        show(f"{title}, {duration:g} s", example.published, found[name])
    if out is not None:
        figures(out, found["five_bar_pendulum"], found["bricard"])
    return {name: {label: r.numbers for label, r in results.items()} for name, results in found.items()}
