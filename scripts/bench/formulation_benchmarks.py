"""Published benchmarks of multibody dynamics by every formulation: Andrews' squeezer, N four-bars, two mechanisms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from problems._simulations import Run, System, simulate
from problems.mechanisms import SYSTEMS

from . import published
from .robots import Array

Row = dict[str, Any]
Report = Callable[[str], None]

EXPLICIT = ("recursive", "multipliers", "penalty", "independent")
"""Formulations that RK4 integrates."""
FAILED = 0.01
"""Error of a place [m] from which on a motion counts as lost."""


def run_of(system: System, progress: Report, what: str) -> tuple[Run | None, str]:
    """The motion of a system, and why it ended early ("" if it did not)."""
    begin = last = time.monotonic()

    def report(done: int, steps: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 10.0:
            last = now
            progress(f"{what}: {done} of {steps} steps in {now - begin:.0f} s")

    progress(what)
    try:
        return simulate(system, report)
    except (TypeError, ValueError) as error:
        return None, str(error)


# Andrews' squeezer


def squeezer(quick: bool, progress: Report) -> list[Row]:
    """Errors of q, q' and multipliers at t = 0.03 s beside the published ones and beside a tight motion.

    Relative to the published value of every component, the largest; "of norm": to the norm of all components.
    """
    steps = dict.fromkeys(EXPLICIT, (1e-05, 1e-06)) | {"trapezoidal": (1e-5, 1e-6, 5e-7, 2.5e-7)}
    end = {name: np.zeros(7) for name in ("q", "qd")}
    order = list(od.models.squeezer_order())
    end["q"][order], end["qd"][order] = published.ANDREWS_Q, published.ANDREWS_QD
    tight, _ = run_of(_squeezer("recursive", 2e-6 if quick else 2.5e-7), progress, "squeezer, tight motion")
    if tight is None:
        return []
    beside = _squeezer_state(tight.motion.q[-1], tight.motion.qd[-1])
    rows: list[Row] = [
        {"form": "published q, q'"} | _squeezer_errors(_squeezer_state(end["q"], end["qd"]), beside),
        {"form": "tight motion", "h": tight.system.step} | _squeezer_errors(beside, beside),
    ]
    for formulation, sizes in steps.items():
        ends: list[dict[str, Array]] = []
        for h in sizes[:1] if quick else sizes:
            run, failure = run_of(_squeezer(formulation, h), progress, f"squeezer, {formulation}, h = {h:g} s")
            row: Row = {"form": formulation, "h": h}
            if run is None or failure:
                rows.append(row | {"failure": failure})
                continue
            ends.append(_squeezer_state(run.motion.q[-1], run.motion.qd[-1]))
            rows.append(row | _squeezer_errors(ends[-1], beside) | {"seconds": run.seconds})
        if formulation == "trapezoidal" and len(ends) > 2:
            both = {name: (4 * ends[-1][name] - ends[-2][name]) / 3 for name in ends[-1]}
            rows.append({"form": "last two, extrapolated"} | _squeezer_errors(both, beside))
    return rows


def _squeezer(formulation: str, h: float) -> System:
    return SYSTEMS["squeezer"]()._replace(formulation=formulation, step=h)


def _squeezer_state(q: Array, qd: Array) -> dict[str, Array]:
    """q, q' and multipliers in the order of the test set; multipliers are those of the constrained dynamics."""
    chain = od.models.squeezer()
    tau = od.models.squeezer_torque(ca.DM(q))
    _, lam = od.function(od.constrained_dynamics, chain.model, chain.loops)(q, qd, tau)
    order = list(od.models.squeezer_order())
    lam = np.array(od.models.squeezer_multipliers(ca.DM(q), lam)).ravel()
    return {"q": q[order], "qd": qd[order], "lam": lam}


def _squeezer_errors(found: Mapping[str, Array], beside: Mapping[str, Array]) -> Row:
    known = {"q": published.ANDREWS_Q, "qd": published.ANDREWS_QD, "lam": published.ANDREWS_LAM}
    row: Row = {}
    for name, values in known.items():
        exact = np.array(values)
        row[name] = float(np.max(np.abs(found[name] / exact - 1)))
        row[f"{name} of norm"] = float(np.linalg.norm(found[name] - exact) / np.linalg.norm(exact))
    row["beside tight"] = max(float(np.max(np.abs(found[name] / beside[name] - 1))) for name in known)
    return row


# N four-bars


def four_bars(n: int, duration: float, h: float, formulation: str = "trapezoidal") -> System:
    """N four-bars at their start."""
    chain = od.models.n_four_bar(n)
    tolerance = max(
        1e-9, 1e-2 * h**2
    )  # relative to the length of the row; at singular positions iterations gain little
    return System(chain.model, chain.loops, chain.q, chain.qd, formulation, duration, h, tolerance=tolerance)


def four_bar_motions(quick: bool, progress: Report) -> list[Row]:
    """Errors at the end of the published motions, by the augmented Lagrangian form."""
    cases: Iterable[tuple[int, float, float]] = (
        ((2, 1.0, 1e-3),)
        if quick
        else ((2, 10.0, 1e-3), (2, 10.0, 1e-4), (40, 20.0, 1e-3), (40, 20.0, 1e-4), (40, 20.0, 5e-5))
    )
    rows: list[Row] = []
    for n, duration, h in cases:
        run, failure = run_of(four_bars(n, duration, h), progress, f"{n} four-bars, {duration:g} s, h = {h:g} s")
        rows.append({"n": n, "duration": duration, "h": h, "form": "trapezoidal"} | _four_bar_errors(n, run, failure))
    return rows


def _four_bar_errors(n: int, run: Run | None, failure: str) -> Row:
    """Errors of the place [m] and velocity [m/s] of B0 at the end, largest error of the place, when it passed 1 cm."""
    if run is None:
        return {"failure": failure}
    motion = run.motion
    kept = np.all(np.isfinite(motion.qd) & (np.abs(motion.qd) < 1e6), axis=1)
    kept = np.logical_and.accumulate(kept)
    motion = replace(motion, t=motion.t[kept], q=motion.q[kept], qd=motion.qd[kept])
    theta, rate = motion.q[:, 0], motion.qd[:, 0]
    exact = np.array([od.models.n_four_bar_motion(n, t) for t in motion.t])
    places, velocities = _tip(theta, rate)
    known_places, known_velocities = _tip(exact[:, 0], exact[:, 1])
    errors = np.linalg.norm(places - known_places, axis=1)
    lost = np.flatnonzero(~(errors < FAILED))
    found: Row = {
        "place": float(errors[-1]), "velocity": float(np.linalg.norm(velocities[-1] - known_velocities[-1])),
        "largest": float(np.nanmax(errors)), "loops": float(run.position_errors[kept].max()), "seconds": run.seconds,
        "microseconds": run.seconds / run.steps * 1e6,
    }  # fmt: skip
    if run.iterations is not None:
        found["iterations"] = float(run.iterations[1:].mean())
    return found | ({"lost": float(motion.t[lost[0]])} if lost.size else {}) | ({"failure": failure} if failure else {})


def _tip(theta: Array, rate: Array) -> tuple[Array, Array]:
    """Place and velocity of B0 (N, 2) in x and z."""
    along = np.stack([np.sin(theta), np.cos(theta)], axis=1)
    return along, rate[:, None] * np.stack([np.cos(theta), -np.sin(theta)], axis=1)


def singular_positions(quick: bool, progress: Report) -> list[Row]:
    """The other forms on two four-bars, which pass singular positions twice a turn."""
    rows: list[Row] = []
    cases = [(name, name, (1e7, 10.0)) for name in EXPLICIT] + [("penalty, omega 100", "penalty", (1e7, 100.0))]
    for label, formulation, penalty in cases:
        for h in (1e-3,) if quick else (1e-3, 1e-4):
            system = four_bars(2, 2.0 if quick else 10.0, h, formulation)._replace(penalty=penalty)
            run, failure = run_of(system, progress, f"2 four-bars, {label}, h = {h:g} s")
            rows.append({"n": 2, "form": label, "h": h} | _four_bar_errors(2, run, failure))
    return rows


def growth(quick: bool, progress: Report) -> list[Row]:
    """Microseconds per step as N grows, h = 10 us, by the augmented Lagrangian form and by RK4 on two others."""
    rows: list[Row] = []
    for n in (1, 2, 5) if quick else (1, 2, 5, 10, 20, 40):
        row: Row = {"n": n}
        for formulation in GROWING:
            counts = (100, 400) if quick else (1000, 11_000)
            seconds = []
            for steps in counts:  # the difference leaves out what is done once: building the functions
                system = four_bars(n, 1e-5 * steps, 1e-5, formulation)
                run, failure = run_of(system, progress, f"{n} four-bars, {formulation}, {steps} steps")
                if run is not None and not failure:
                    seconds.append(run.seconds)
            if len(seconds) == 2:
                row[formulation] = max(1e-2, (seconds[1] - seconds[0]) / (counts[1] - counts[0]) * 1e6)
        rows.append(row)
    return rows


GROWING = ("trapezoidal", "recursive", "multipliers", "penalty")
"""Formulations whose times are measured as N grows."""


def line(rows: list[Row], form: str) -> str:
    """The straight line a + b N nearest to the times, by relative errors, and its largest relative error, in words."""
    points = [(row["n"], row[form]) for row in rows if form in row]
    n, times = np.array(points, dtype=float).T
    b, a = np.polyfit(n, times, 1, w=1 / times)
    return f"{a:.1f} + {b:.2f} N, off by at most {np.max(np.abs(a + b * n - times) / times):.0%}"


# Bricard's mechanism and the spatial slider-crank


def mechanisms(quick: bool, progress: Report) -> list[Row]:
    """Largest difference of the joint coordinates from a tight motion by the recursive algorithms, and energy errors."""
    rows: list[Row] = []
    for name, duration in (("bricard", 10.0), ("slider_crank", 5.0)):
        system = SYSTEMS[name]()._replace(duration=duration / 10 if quick else duration)
        reference, _ = run_of(system._replace(formulation="recursive", step=1e-4), progress, f"{name}, reference")
        for formulation in (*EXPLICIT, "trapezoidal"):
            run, failure = run_of(
                system._replace(formulation=formulation, step=1e-3), progress, f"{name}, {formulation}"
            )
            row: Row = {"system": name, "form": formulation, "h": 1e-3}
            if run is None or failure or reference is None:
                rows.append(row | {"failure": failure})
                continue
            rows.append(row | {
                "difference": _difference(run, reference), "energy": run.energy_error,
                "loops": float(run.position_errors.max()), "microseconds": run.seconds / run.steps * 1e6,
            })  # fmt: skip
    return rows


def _difference(run: Run, reference: Run) -> float:
    """Largest difference of the coordinates at the nodes of a run [rad or m]."""
    exact = reference.motion.sample(np.clip(run.motion.t, 0.0, reference.motion.t[-1]))
    return float(np.abs(run.motion.q - exact).max())


# Tables


def show(title: str, rows: Iterable[Row], columns: dict[str, str]) -> None:
    """A table of rows; columns: key -> format, such as "9.2g"."""
    print(f"\n{title}")
    widths = {key: max(int(form.split(".")[0]), len(key) + 2) for key, form in columns.items()}
    print("".join(f"{key:>{widths[key]}s}" for key in columns))
    for row in rows:
        cells = []
        for key, form in columns.items():
            value = row.get(key)
            text = "-" if value is None else value if isinstance(value, str) else f"{value:.{form.split('.')[1]}}"
            cells.append(f"{text:>{widths[key]}s}")
        print("".join(cells) + (f"  {row['failure'][:110]}" if row.get("failure") else ""))


def run(quick: bool, progress: Report) -> dict[str, Any]:
    """Runs and prints all benchmarks; returns their rows."""
    found = {"squeezer": squeezer(quick, progress)}
    show("Andrews' squeezer at t = 0.03 s: largest relative errors of q, qd, lam, and relative to norms; beside tight: the"
         "\nlargest relative error of all, beside the tight motion instead of the published numbers", found["squeezer"],
         {"form": "22.0", "h": "9.2g", "q": "9.1e", "qd": "9.1e", "lam": "9.1e", "q of norm": "11.1e",
          "qd of norm": "12.1e", "lam of norm": "13.1e", "beside tight": "14.1e", "seconds": "10.2f"})  # fmt: skip
    found["four_bars"] = four_bar_motions(quick, progress)
    columns = {"n": "4.0f", "form": "20.0", "h": "9.2g", "place": "11.2g", "velocity": "11.2g", "largest": "11.2g",
               "loops": "11.2g", "lost": "8.3g", "iterations": "6.2f", "microseconds": "10.1f"}  # fmt: skip
    show("N four-bars: errors of B0 at the end, largest error of its place, largest error of the loops",
         found["four_bars"], columns)  # fmt: skip
    found["singular"] = singular_positions(quick, progress)
    show("Other forms on two four-bars; lost: time at which B0 is 1 cm off", found["singular"], columns)
    found["growth"] = growth(quick, progress)
    show("Microseconds per step of N four-bars", found["growth"],
         {"n": "4.0f"} | dict.fromkeys(GROWING, "12.1f"))  # fmt: skip
    for form in GROWING:
        if sum(form in row for row in found["growth"]) > 2:
            print(f"{form}: {line(found['growth'], form)}")
    found["mechanisms"] = mechanisms(quick, progress)
    show("Bricard's mechanism, 10 s, and the spatial slider-crank, 5 s, beside a tight motion", found["mechanisms"],
         {"system": "14.0", "form": "14.0", "h": "9.2g", "difference": "12.2g", "energy": "11.2g", "loops": "11.2g",
          "microseconds": "10.1f"})  # fmt: skip
    return found
