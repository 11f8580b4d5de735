"""Published benchmarks of multibody dynamics by every formulation: Andrews' squeezer, N four-bars, two mechanisms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from scripts.common import Table

from ..dynamics.robots import Array
from .published import SQUEEZER
from .simulation import EXPLICIT, microseconds, simulate, system_of

Row = dict[str, Any]

ALL = (*EXPLICIT, "trapezoidal")
GROWING = ("trapezoidal", "recursive", "multipliers", "penalty")
"""Formulations whose times are measured as N grows."""
FAILED = 0.01
"""Error of a place [m] from which on a motion counts as lost."""


def _moved(result: tuple[Any, str]) -> od.formulations.Trajectory:
    """The motion of a simulation that must not fail."""
    run, failure = result
    if failure:
        raise RuntimeError(failure)
    return run.motion


# Andrews' squeezer


def squeezer(quick: bool) -> list[Row]:
    """Errors of q, q' and multipliers at t = 0.03 s beside the published ones and beside a tight motion.

    Relative to the published value of every component, the largest; "of norm": to the norm of all components.
    """
    system = system_of(od.models.squeezer(), torque=lambda q, qd: od.models.squeezer_torque(q), penalty=(1e6, 1e3),
                       tolerance=1e-11)  # fmt: skip
    end = {name: np.zeros(7) for name in ("q", "qd")}
    order = list(od.models.squeezer_order())
    end["q"][order], end["qd"][order] = SQUEEZER["q"], SQUEEZER["qd"]
    h = 2e-6 if quick else 2.5e-7
    tight = _moved(simulate(system, "recursive", h, 0.03, "squeezer"))
    beside = _squeezer_state(system, tight.q[-1], tight.qd[-1])
    rows: list[Row] = [
        {"form": "published q, q'"} | _squeezer_errors(_squeezer_state(system, end["q"], end["qd"]), beside),
        {"form": "tight motion", "h": h} | _squeezer_errors(beside, beside),
    ]
    for form in ALL:
        ends: list[dict[str, Array]] = []
        sizes = (1e-5, 1e-6) + ((5e-7, 2.5e-7) if form == "trapezoidal" else ())
        for h in sizes[:1] if quick else sizes:
            run, failure = simulate(system, form, h, 0.03, "squeezer")
            if run is None or failure:
                rows.append({"form": form, "h": h, "failure": failure})
                continue
            ends.append(_squeezer_state(system, run.motion.q[-1], run.motion.qd[-1]))
            rows.append({"form": form, "h": h} | _squeezer_errors(ends[-1], beside))
        if len(ends) > 2:
            both = {name: (4 * ends[-1][name] - ends[-2][name]) / 3 for name in ends[-1]}
            rows.append({"form": "last two, extrapolated"} | _squeezer_errors(both, beside))
    return rows


def _squeezer_state(system: od.simulation.System, q: Array, qd: Array) -> dict[str, Array]:
    """q, q' and multipliers in the order of the test set; multipliers are those of the constrained dynamics."""
    f = od.function(od.constrained_dynamics, system.model, system.loops)
    lam = od.models.squeezer_multipliers(ca.DM(q), f(q, qd, od.models.squeezer_torque(ca.DM(q)))[1])
    order = list(od.models.squeezer_order())
    return {"q": q[order], "qd": qd[order], "lam": np.array(lam).ravel()}


def _squeezer_errors(found: Mapping[str, Array], beside: Mapping[str, Array]) -> Row:
    row: Row = {}
    for name, values in SQUEEZER.items():
        exact = np.array(values)
        row[name] = float(np.max(np.abs(found[name] / exact - 1)))
        row[f"{name} of norm"] = float(np.linalg.norm(found[name] - exact) / np.linalg.norm(exact))
    row["beside tight"] = max(float(np.max(np.abs(found[name] / beside[name] - 1))) for name in SQUEEZER)
    return row


# N four-bars


def four_bars(n: int, h: float) -> od.simulation.System:
    """N four-bars at their start; the tolerance is relative to the length of the row."""
    return system_of(od.models.n_four_bar(n), tolerance=max(1e-9, 1e-2 * h**2))  # at singular positions it gains little


def four_bar_motions(quick: bool) -> list[Row]:
    """Errors at the end of the published motions, by the augmented Lagrangian form."""
    published = [(2, 10.0, 1e-3), (2, 10.0, 1e-4), (40, 20.0, 1e-3), (40, 20.0, 1e-4), (40, 20.0, 5e-5)]
    rows: list[Row] = []
    for n, duration, h in [(2, 1.0, 1e-3)] if quick else published:
        run = simulate(four_bars(n, h), "trapezoidal", h, duration, f"{n} four-bars, {duration:g} s")
        rows.append({"n": n, "form": "trapezoidal", "h": h} | _four_bar_errors(n, *run))
    return rows


def singular_positions(quick: bool) -> list[Row]:
    """The other forms on two four-bars, which pass singular positions twice a turn."""
    rows: list[Row] = []
    cases = [(name, name, (1e7, 10.0)) for name in EXPLICIT] + [("penalty, omega 100", "penalty", (1e7, 100.0))]
    for label, formulation, penalty in cases:
        for h in (1e-3,) if quick else (1e-3, 1e-4):
            system = four_bars(2, h)._replace(penalty=penalty)
            run = simulate(system, formulation, h, 2.0 if quick else 10.0, "2 four-bars")
            rows.append({"n": 2, "form": label, "h": h} | _four_bar_errors(2, *run))
    return rows


def _four_bar_errors(n: int, run: od.simulation.Simulation | None, failure: str) -> Row:
    """Errors of the place of B0 [m] at the end and at most, the time at which it passed 1 cm, microseconds per step."""
    if run is None:
        return {"failure": failure}
    t, q, qd = run.motion.t, run.motion.q, run.motion.qd
    kept = np.logical_and.accumulate(np.all(np.isfinite(qd) & (np.abs(qd) < 1e6), axis=1))
    exact = np.array([od.models.n_four_bar_motion(n, time)[0] for time in t[kept]])
    errors = 2 * np.abs(np.sin((q[kept, 0] - exact) / 2))
    lost = np.flatnonzero(~(errors < FAILED))
    return {"place": float(errors[-1]), "largest": float(np.nanmax(errors)),
            "lost": float(t[lost[0]]) if lost.size else None, "us per step": microseconds(run),
            "failure": failure}  # fmt: skip


def growth(quick: bool) -> list[Row]:
    """Microseconds per step as N grows, h = 10 us, by the augmented Lagrangian form and by RK4 on two others."""
    rows: list[Row] = []
    counts = (100, 400) if quick else (1000, 11_000)
    for n in (1, 2, 5) if quick else (1, 2, 5, 10, 20, 40):
        rows.append({"n": n})
        for form in GROWING:
            runs = [simulate(four_bars(n, 1e-5), form, 1e-5, 1e-5 * k, f"{n} four-bars, {k} steps") for k in counts]
            if not any(failure for _, failure in runs):  # the difference leaves out what is done once
                seconds = runs[1][0].seconds - runs[0][0].seconds
                rows[-1][form] = max(1e-2, seconds / (counts[1] - counts[0]) * 1e6)
    return rows


def line(rows: list[Row], form: str) -> str:
    """The straight line a + b N nearest to the times, by relative errors, and its largest relative error, in words."""
    points = [(row["n"], row[form]) for row in rows if form in row]
    n, times = np.array(points, dtype=float).T
    b, a = np.polyfit(n, times, 1, w=1 / times)
    return f"{a:.1f} + {b:.2f} N, off by at most {np.max(np.abs(a + b * n - times) / times):.0%}"


# Bricard's mechanism and the spatial slider-crank


def mechanisms(quick: bool) -> list[Row]:
    """Largest difference of the joint coordinates [rad or m] from a tight motion by the recursive algorithms, and
    energy errors."""
    rows: list[Row] = []
    chains = {"bricard": (od.models.bricard(), 10.0), "slider_crank": (od.models.spatial_slider_crank(), 5.0)}
    for name, (chain, whole) in chains.items():
        system, duration = system_of(chain), whole / 10 if quick else whole
        tight = _moved(simulate(system, "recursive", 1e-4, duration, name))
        for form in ALL:
            run, failure = simulate(system, form, 1e-3, duration, name)
            row: Row = {"system": name, "form": form, "h": 1e-3}
            if run is None or failure:
                rows.append(row | {"failure": failure})
                continue
            difference = np.abs(run.motion.q - tight.sample(run.motion.t)).max()
            rows.append(row | {"difference": float(difference), "energy": run.energy_error,
                               "us per step": microseconds(run)})  # fmt: skip
    return rows


# Tables

ERRORS = {"form": "<24s", "h": "9.2g"} | dict.fromkeys(
    ("q", "qd", "lam", "q of norm", "qd of norm", "lam of norm", "beside tight"), "9.1e")  # fmt: skip
FOUR_BARS = {"n": "4d", "form": "20s", "h": "9.2g", "place": "11.2g", "largest": "11.2g", "lost": "8.3g",
             "us per step": "10.1f"}  # fmt: skip
MECHANISMS = {"system": "<14s", "form": "<14s", "h": "9.2g", "difference": "12.2g", "energy": "11.2g",
              "us per step": "10.1f"}  # fmt: skip


def show(title: str, rows: Iterable[Row], columns: dict[str, str]) -> None:
    """A table of rows, with their failures."""
    print(f"\n{title}")
    table = Table(columns)
    for row in rows:
        table.row(*(row.get(key) for key in columns), after=row.get("failure", "")[:110])


def run(quick: bool) -> dict[str, Any]:
    """Runs and prints all benchmarks; returns their rows."""
    found = {"squeezer": squeezer(quick)}
    show("Andrews' squeezer at t = 0.03 s: largest relative errors of q, qd, lam, and relative to norms; beside tight:"
         "\nthe largest relative error of all, beside the tight motion instead of the published numbers",
         found["squeezer"], ERRORS)  # fmt: skip
    found["four_bars"] = four_bar_motions(quick)
    show("N four-bars: error of the place of B0 at the end, and the largest [m]", found["four_bars"], FOUR_BARS)
    found["singular"] = singular_positions(quick)
    show("Other forms on two four-bars; lost: time at which B0 is 1 cm off", found["singular"], FOUR_BARS)
    found["growth"] = growth(quick)
    show("Microseconds per step of N four-bars", found["growth"], {"n": "4d"} | dict.fromkeys(GROWING, "12.1f"))
    for form in GROWING:
        if sum(form in row for row in found["growth"]) > 2:
            print(f"{form}: {line(found['growth'], form)}")
    found["mechanisms"] = mechanisms(quick)
    lengths = "1 s, and the spatial slider-crank, 0.5 s" if quick else "10 s, and the spatial slider-crank, 5 s"
    show(f"Bricard's mechanism, {lengths}, beside a tight motion", found["mechanisms"], MECHANISMS)
    return found
