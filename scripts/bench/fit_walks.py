"""Ten weights of the human walk from ten walks: planted, perturbed, found back, with processor time.

python -m scripts.bench.fit_walks [--walks 10] [--jobs 2] [--noise] [--curves]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from ocp_dyn import ocp
from problems import human_walk

CURVES = ("hip flexion", "knee flexion", "ankle dorsiflexion", "hip extension moment", "knee extension moment",
          "ankle plantar flexion moment", "pelvis obliquity", "vertical force")  # fmt: skip
SPREAD = {"moment": 0.1, "force": 0.05, "flexion": 3.0}
MORE = (
    ocp.AngularMomentumSquared(2e-2),
    ocp.HeadStabilization(weight=2e-3),
    ocp.ForceRateSquared(2e-7),
    ocp.JerkSquared(2e-8),
)
"""Costs beside the usual six, so that there are ten weights."""


def spread_of(curve: str) -> float:
    return next((x for word, x in SPREAD.items() if word in curve), 2.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--walks", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--noise", action="store_true", help="spreads of the curves as noise on them")
    parser.add_argument(
        "--curves", action="store_true", help="curves of gait analysis instead of joint angles and torques"
    )
    o = parser.parse_args()
    problems = {f"{v:.2f} m/s": replace(human_walk.problem(v), components=MORE) for v in np.linspace(0.8, 1.7, o.walks)}
    rng, first = np.random.default_rng(3), next(iter(problems.values()))
    names = list(first.weights)
    planted = {name: w * np.exp(rng.normal() * 0.5) for name, w in first.weights.items()}
    data = {}
    for name, problem in problems.items():
        walk = problem.with_weights(planted).solve(progress=False, tolerance=1e-8)
        assert walk.converged, (name, walk.status)
        if o.curves:
            gait = walk.gait()
            data[name] = [
                ocp.Measured.curve(curve, gait.percent[::2], gait[curve][::2] + o.noise * noisy(rng, spread_of(curve)),
                                   spread_of(curve))
                for curve in CURVES
            ]  # fmt: skip
        else:
            middle, at = walk.tau, (walk.t[1:] + walk.t[:-1])[np.diff(walk.t) > 0] / 2 / walk.duration
            data[name] = [
                ocp.Measured.motion("q", walk.q, 0.02, fractions=walk.t / walk.duration),
                ocp.Measured.motion("tau", middle, 5.0, fractions=at),
            ]
    begin, used = time.perf_counter(), time.process_time()
    found = ocp.fit(problems, data, names, jobs=o.jobs)
    seconds, here = time.perf_counter() - begin, time.process_time() - used
    ratio = np.log([found[name] / planted[name] for name in names])
    ratio -= np.mean(ratio)
    print(f"largest error of a weight {np.max(np.abs(ratio)):.1e}; in standard errors "
          f"{np.max(np.abs(ratio) / np.array(list(found.errors.values()))):.2g}")  # fmt: skip
    print(f"{seconds:.0f} s, processor time {found.work['seconds']:.0f} s in all motions and {here:.0f} s in this "
          f"process, {found.work}")  # fmt: skip


def noisy(rng: np.random.Generator, spread: float) -> np.ndarray:
    """Six harmonics over the stride with this standard deviation, at 51 samples."""
    s, found = np.linspace(0, 2 * np.pi, 51), np.zeros(51)
    for k in range(1, 7):
        a, b = rng.normal(size=2)
        found += a * np.cos(k * s) + b * np.sin(k * s)
    return found * spread / np.sqrt(6)


if __name__ == "__main__":
    main()
