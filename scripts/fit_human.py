"""Fit of the weights of human effort: optimal walks beside measured gaits, by Gauss-Newton on their sensitivities.

Walks of a man at 0.8, 1.29 and 1.9 m/s and of a woman at 1.22 m/s, beside the curves of Schwartz et al. (2008) at the
same dimensionless speed, and of Winter's adults (1991), are held beside the measured curves and figures; each
difference is divided by the accuracy that is wanted. Steps of Levenberg and Marquardt in the logarithms of the weights,
of which effort is kept, and in exponents of the speed, between bounds, with the derivatives of the optimal walks by the
weights (`ocp.sensitivities`). A weak prior about the weights chosen by hand and exponents of zero, the same for every
start, holds what the data do not tell. Kept out: 0.87 and 1.69 m/s, and the adult of Rajagopal et al. (2016).

    python -m scripts.fit_human [--steps 30] [--start hand|FILE.json] [--grid full] [--out FILE.json]

It prints the sum of squares of every step, the weights, how near the end is to an optimum, how well the data tell each
weight, and what is left of each quantity, in wanted accuracies. --out: written at every step; a second call goes on
from there.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.recorded.fitting.gauss_newton import Search, damped_step
from ocp_dyn.problems import human_walk
from ocp_dyn.walking.effort.effort_costs import BY_HAND, EXPONENTS, REFERENCE_LEG, REFERENCE_SPEED, WEIGHTS

BOUNDS = {"work": (0.03, 0.12), "acceleration": (1e-4, 1e-3), "torque rate": (0.4, 3.0)}
"""Bounds of weights that decide how many iterations a walk takes: beyond them twice as many."""

KEPT = ("effort", "subtalar", "elbow", "knee", "hip flexion", "lumbar flexion", "ground force rate")
"""Weights that are not fitted: a common factor means nothing, and no data tell of the others. That of the shoulder is
fitted, for it decides how far the pelvis turns at 2 m/s."""

OF_SPEED = " by speed"
"""End of the names of the exponents of the speed."""

SPREAD_OF_EXPONENTS, LARGEST_EXPONENT = 2.0, 4.0
"""Standard deviation of the exponents about zero in the prior, and the largest one."""

PRIOR = dict(BY_HAND) | {"ground force rate": 0.015}
"""Weights that are expected before any data are seen: those chosen by hand."""

LEAST, MOST, REACH = 0.003, 100.0, 2.0
"""Bounds of the other weights, as factors of the prior, and standard deviation of their logarithms in the prior."""

ENOUGH = 2e-3
"""Relative decrease of the sum of squares in two steps at which a search ends."""

CHILD = 1.27
"""Length of an adult's leg over that of the children of Schwartz et al., with which moments per mass grow. Assumed, for
no length is told: 0.92 m and, at the mean age of 10.5 years, about 0.72 m."""

ROUGH = 1e-3
"""Residual of derivatives of a walk up to which a step of the search uses them; above it, walks are solved again."""

TOLERANCE = 1e-8
"""Tolerance of the solves: at the solver's own, the derivatives of fast walks are not determined."""

WANTED = {
    "thigh flexion": 4.5, "hip flexion from trunk": 4.5, "knee flexion": 4.5, "ankle dorsiflexion": 4.5,
    "hip adduction": 4.0, "pelvis obliquity": 1.3, "pelvis rotation": 2.5, "hip extension moment": 0.15,
    "knee extension moment": 0.15, "ankle plantar flexion moment": 0.15, "hip abduction moment": 0.15,
    "vertical force": 0.07, "forward force": 0.04,
}  # fmt: skip
"""Accuracy that is wanted of every curve, in its unit: about half of the spread of people."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A walk beside a measured gait: body, speed [m/s], and the reference, None for the speeds of Schwartz et al."""

    title: str
    body: dict[str, Any]
    speed: float
    reference: str | None = None
    full: bool = False

    @cached_property
    def problem(self) -> ocp.Problem:
        grid = human_walk.INTERVALS if self.full else human_walk.QUICK
        return od.walking.human_walk(od.walking.person(**self.body), self.speed, intervals=grid)

    @cached_property
    def factors(self) -> dict[str, tuple[str, float]]:
        """Name of the program's parameter, and its value for a weight of 1, by weight."""
        weights = dict(self.problem.weights)
        return {
            name: (f"weight of {key}", weights[key] / WEIGHTS[name]) for name, key in zip(WEIGHTS, weights, strict=True)
        }

    @cached_property
    def pace(self) -> float:
        """Logarithm of the dimensionless speed over that of the reference."""
        leg = od.models.human_dimensions(self.body["height"], self.body["sex"]).leg_length
        return float(np.log(self.speed / (REFERENCE_SPEED * np.sqrt(leg / REFERENCE_LEG))))

    def values(self, weights: dict[str, float]) -> dict[str, float]:
        of_speed = {
            name: np.exp(self.pace * (weights[name + OF_SPEED] - EXPONENTS[name])) if name in EXPONENTS else 1.0
            for name in self.factors
        }
        return {key: weights[name] * factor * of_speed[name] for name, (key, factor) in self.factors.items()}

    def solve(self, weights: dict[str, float], start: Any = None) -> ocp.Solution:
        found = self.problem.solve(values=self.values(weights), start=start, progress=False, tolerance=TOLERANCE)
        return found if found.converged or start is None else self.solve(weights)

    def parts(self, solution: ocp.Solution) -> dict[str, np.ndarray]:
        """Differences from the measured gait by name, in wanted accuracies; their sum of squares is the mean over the
        stride."""
        gait = solution.gait()
        measured = by_speed(gait) if self.reference is None else ocp.gait_reference(self.reference).curves
        found = {}
        for name, wanted in WANTED.items():
            if name in measured and name in gait.curves:
                factor = CHILD if self.reference is None and "moment" in name else 1.0
                x = (gait[name] - factor * measured[name].mean) / wanted
                x = x - x.mean() if name == "hip adduction" else x  # its zero depends on the markers of the pelvis
                x = x[:61] if name.endswith("force") else x
                found[name] = x / np.sqrt(x.size)
        return found | ({} if self.reference is not None else _figures(gait.numbers(), solution, self))

    def residual(self, solution: ocp.Solution) -> np.ndarray:
        return np.concatenate([np.atleast_1d(x) for x in self.parts(solution).values()])

    def jacobian(self, weights: dict[str, float], solution: ocp.Solution, h: float = 0.02) -> np.ndarray:
        """Derivatives of the residual by the logarithms of the fitted weights, and by the exponents."""
        names = [name for name in WEIGHTS if name not in KEPT]
        keys = [self.factors[name][0] for name in names]
        slopes, values = ocp.sensitivities(self.problem, solution, *keys), self.values(weights)
        r = self.residual(solution)
        if slopes.residual <= ROUGH:
            rough = replace(slopes, residual=0.0)
            near = [rough.predict(**{key: values[key] * np.exp(h)}) for key in keys]
        else:
            near = [self.solve(weights | {name: weights[name] * np.exp(h)}, solution) for name in names]
        J = np.array([(self.residual(one) - r) / h for one in near]).T
        return np.hstack([J, self.pace * J[:, [names.index(name) for name in EXPONENTS]]])


GROUPS = [ocp.gait_reference(f"schwartz_{name}") for name in ("very_slow", "slow", "free", "fast", "very_fast")]
SPEEDS = [group.numbers["dimensionless_speed"] for group in GROUPS]


def by_speed(gait: ocp.Gait) -> dict[str, Any]:
    """Means of Schwartz et al. between the two groups next to the dimensionless speed of the walk."""
    at = gait.figures["dimensionless_speed"]
    k = int(np.clip(np.searchsorted(SPEEDS, at) - 1, 0, 3))
    s = np.clip((at - SPEEDS[k]) / (SPEEDS[k + 1] - SPEEDS[k]), 0.0, 1.0)
    a, b = GROUPS[k].curves, GROUPS[k + 1].curves
    return {name: a[name]._replace(mean=(1 - s) * a[name].mean + s * b[name].mean) for name in a}


def _figures(figures: dict[str, float], solution: ocp.Solution, walk: Walk) -> dict[str, np.ndarray]:
    """Differences of figures in wanted accuracies: double support of 1 % a side, rise of the center of mass one
    measured deviation, cadence 4 steps/min (8 for the woman: the formula is that of both sexes together), metabolic
    cost 1 J/(kg m), heel rise 3 % outside 31 to 41 %."""
    v = figures["speed_m_per_s"]
    double = min(np.interp(figures["dimensionless_speed"], SPEEDS, (18.0, 12.0, 9.5, 8.0, 7.0)), 15.0)
    rise = np.clip(0.0274 + 0.0209 * (v - 0.7) / 0.9, 0.023, 0.0483)  # Orendurff et al. 2004
    cadence = 60 * v / (0.66 * walk.body["height"] / 1.741 * (v / 1.2) ** 0.42)  # Grieve & Gear 1966
    cost = od.walking.metabolism(solution).gross / v - (2.02 / v + 1.33 * v)  # Ralston 1958
    heel = max(0.0, abs(figures.get("heel_off_percent", 36.0) - 36.0) - 5.0)
    return {
        "double support": np.array([figures["double_support_percent"] / 2 - double]),
        "rise": np.array([(figures["center_of_mass_rise_m"] - rise) / np.interp(v, (0.7, 1.6), (0.0052, 0.0092))]),
        "cadence": np.array([(figures["cadence_steps_per_min"] - cadence) / (4 if walk.body["sex"] == "male" else 8)]),
        "cost": np.array([cost]),
        "heel rise": np.array([heel / 3]),
    }


def walks(full: bool) -> tuple[list[Walk], list[Walk]]:
    """Walks that are fitted, and those that are kept out."""

    def one(title: str, speed: float, mass: float, height: float, sex: Any, reference: Any = None) -> Walk:
        leg = od.models.human_dimensions(height, sex).leg_length
        v = speed if reference else speed * np.sqrt(9.81 * leg)
        return Walk(title, {"mass": mass, "height": height, "sex": sex}, float(v), reference, full)

    man, woman = (73.0, 1.741, "male"), (60.0, 1.65, "female")
    low, slow, free, fast, high = 0.266, *SPEEDS[1:4], 0.631
    adult = ocp.gait_reference("rajagopal").numbers
    fitted = [
        one("man, 0.8", low, *man), one("man, 1.29", free, *man), one("man, 1.9", high, *man),
        one("woman", free, *woman), one("Winter", 1.325, 56.7, 1.62, "female", "winter"),
    ]  # fmt: skip
    subject = one("one adult", adult["speed"], adult["mass"], 1.79, "male", "rajagopal")
    kept = [one("slow", slow, *man), one("fast", fast, *man), subject]
    return fitted, kept


@dataclass
class Fitting:
    """A search for the weights: Gauss-Newton steps between bounds. file: it goes on from there, and writes there."""

    cases: list[Walk]
    weights: dict[str, float]
    file: Path | None

    def __post_init__(self) -> None:
        self.names = [name for name in WEIGHTS if name not in KEPT]
        count, more = len(self.names), len(EXPONENTS)
        self.prior = np.append(np.log([PRIOR[name] for name in self.names]), np.zeros(more))
        self.spread = np.append(np.full(count, REACH), np.full(more, SPREAD_OF_EXPONENTS))
        self.low = self.prior + np.append(np.full(count, np.log(LEAST)), np.full(more, -LARGEST_EXPONENT))
        self.high = self.prior + np.append(np.full(count, np.log(MOST)), np.full(more, LARGEST_EXPONENT))
        for name, bounds in BOUNDS.items():
            k = self.names.index(name)
            self.low[k], self.high[k] = np.log(bounds)
        self.kept: list[Any] = [None] * len(self.cases)

    def named(self, z: np.ndarray) -> dict[str, float]:
        count = len(self.names)
        exponents = {name + OF_SPEED: float(x) for name, x in zip(EXPONENTS, z[count:], strict=True)}
        return self.weights | dict(zip(self.names, map(float, np.exp(z[:count])), strict=True)) | exponents

    def attempt(self, z: np.ndarray) -> np.ndarray | None:
        self.tried, self.trials = z, []
        for case, near in zip(self.cases, self.kept, strict=True):
            self.trials.append(case.solve(self.named(z), near))
            if not self.trials[-1].converged:
                return None
        rows = [case.residual(trial) for case, trial in zip(self.cases, self.trials, strict=True)]
        return np.concatenate([*rows, (z - self.prior) / self.spread])

    def accept(self) -> None:
        self.z, self.kept = self.tried, self.trials

    def jacobian(self) -> np.ndarray:
        rows = [case.jacobian(self.named(self.z), near) for case, near in zip(self.cases, self.kept, strict=True)]
        return np.vstack([*rows, np.diag(1 / self.spread)])

    def told(self, search: Search) -> None:
        costs = search.costs
        print(f"step {search.iteration}: {costs[-1]:.2f}, {search.trials} trials, damping {search.damping:.1e}")
        print("  " + ", ".join(f"{name} {value:.3g}" for name, value in self.named(self.z).items()), flush=True)
        if len(costs) > 2 and costs[-3] - costs[-1] < ENOUGH * costs[-1]:
            search.status = "Converged"
        if self.file is not None:
            state = {"damping": search.damping, "status": search.status, "weights": self.named(self.z)}
            self.file.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")

    def run(self, steps: int) -> dict[str, float]:
        """The weights after so many steps at most."""
        damping = 1e-2
        if self.file is not None and self.file.exists():
            state = json.loads(self.file.read_text(encoding="utf-8"))
            self.weights, damping = state["weights"], state["damping"]
        z = [
            *np.log([self.weights[name] for name in self.names]),
            *(self.weights[name + OF_SPEED] for name in EXPONENTS),
        ]
        start = np.clip(z, self.low, self.high)
        search = Search(self.attempt, self.accept, self.jacobian, self.low, self.high, None, self.told, damping=damping)
        point, J = search.run(start, steps)
        step = damped_step(J, point.r, 1e-9, np.sum(J**2, axis=0), self.low - point.z, self.high - point.z, None)
        gain = 1 - float(np.sum((point.r + J @ step) ** 2)) / point.cost
        print(f"{search.status}: {point.cost:.2f}; an undamped step would gain {100 * gain:.2f} %")
        deviations = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
        bound = np.minimum(point.z - self.low, self.high - point.z) < 1e-6
        names = [*self.names, *(name + OF_SPEED for name in EXPONENTS)]
        for name, deviation, at in zip(names, deviations, bound, strict=True):
            within = (
                f"within {deviation:.2f}" if name.endswith(OF_SPEED) else f"within a factor of {np.exp(deviation):.2f}"
            )
            print(f"  {name:24} {self.named(point.z)[name]:8.3g}, {within}{', at a bound' if at else ''}")
        return self.named(point.z)


def show(cases: list[Walk], weights: dict[str, float]) -> None:
    """Prints what is left of each quantity, in wanted accuracies, and the iterations of walks from their own guess."""
    for case in cases:
        solution = case.solve(weights)
        left = {name: float(np.sqrt(np.sum(x**2))) for name, x in case.parts(solution).items()}
        told = ", ".join(f"{name} {x:.2f}" for name, x in left.items())
        total = sum(x**2 for x in left.values())
        print(f"{case.title}, {case.speed:.2f} m/s, {solution.stats['iterations']} iterations, {total:.1f}: {told}")


def main() -> None:
    arguments = argparse.ArgumentParser(prog="python -m scripts.fit_human", description=__doc__)
    arguments.add_argument("--steps", type=int, default=30, help="most steps; 0 evaluates the start")
    arguments.add_argument("--start", help="weights from which it starts: hand, those chosen by hand, or a file; "
                           "none: the usual ones")  # fmt: skip
    arguments.add_argument("--grid", choices=("quick", "full"), default="quick", help="intervals of the walks")
    arguments.add_argument("--out", type=Path, help="file for the weights, written at every step")
    options = arguments.parse_args()
    fitted, kept = walks(options.grid == "full")
    found = Fitting(fitted, start_of(options.start), options.out).run(options.steps)
    print("\nfitted")
    show(fitted, found)
    print("\nkept out")
    show(kept, found)


def start_of(text: str | None) -> dict[str, float]:
    """The weights of --start."""
    usual = dict(WEIGHTS) | {name + OF_SPEED: exponent for name, exponent in EXPONENTS.items()}
    if text is None:
        return usual
    given = PRIOR if text == "hand" else json.loads(Path(text).read_text(encoding="utf-8"))["weights"]
    return usual | given


if __name__ == "__main__":
    main()
