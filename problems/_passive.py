"""Parts common to the passive walkers: continuation of a gait along slopes, the report, the picture."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np

from ocp_dyn.io import whole_file
from ocp_dyn.ocp import LimitCycle, NoGait, StepMap, follow_limit_cycles

from ._command import asked, parser


class Known(NamedTuple):
    """A published gait, the start of a continuation: slope, state (theta, phi, theta', phi') and period."""

    slope: float
    state: tuple[float, ...]
    period: float


def follow(step_map: Callable[[float], StepMap], known: Known, slope: float, stride: float = 0.25) -> LimitCycle:
    """The gait at `slope`, found from the known one by steps of the slope's logarithm; NoGait where the gaits end."""
    if not slope > 0:
        raise NoGait(f"a passive walker needs a slope downhill, which drives it: slope must be positive, got {slope:g}")
    count = max(1, int(np.ceil(abs(np.log(slope / known.slope)) / stride)))
    slopes = [known.slope, *(float(value) for value in np.geomspace(known.slope, slope, count + 1)[1:])]
    followed = follow_limit_cycles(map(step_map, slopes), np.array(known.state), known.period)
    for here in slopes:
        try:
            cycle = next(followed)
        except NoGait as error:
            raise NoGait(f"the long-period gait was not found at a slope of {here:.4g}: {error}") from error
    return cycle


def report(cycle: LimitCycle, leg: float) -> dict[str, Any]:
    """Numbers of a gait; its state is that at the start of a step, just after the strike."""
    theta, phi, theta_rate, phi_rate = (float(x) for x in cycle.x)
    step_length = 2 * leg * float(np.sin(theta))
    return {
        "theta": theta,
        "phi": phi,
        "theta_rate": theta_rate,
        "phi_rate": phi_rate,
        "period": cycle.period,
        "step_length": step_length,
        "speed": step_length / cycle.period,
        "multipliers": [[float(m.real), float(m.imag)] for m in cycle.multipliers],
        "multiplier_magnitude": float(np.abs(cycle.multipliers[0])),
        "stable": cycle.stable,
        "residual": cycle.residual,
    }


def draw(cycle: LimitCycle, leg: float, slope: float, path: Path, title: str) -> None:
    """One step on the slope, the limit cycle of both legs, and the multipliers in the unit circle."""
    figure, (walk, phase, circle) = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    turn = np.array([[np.cos(slope), np.sin(slope)], [-np.sin(slope), np.cos(slope)]])
    for k in np.linspace(0, len(cycle.t) - 1, 9).astype(int):
        theta, phi = cycle.states[k, :2]
        hip = leg * np.array([-np.sin(theta), np.cos(theta)])
        foot = hip + leg * np.array([np.sin(theta - phi), -np.cos(theta - phi)])
        shade = 0.25 + 0.75 * k / (len(cycle.t) - 1)
        for end, color in ((np.zeros(2), "tab:blue"), (foot, "tab:orange")):
            walk.plot(*(turn @ np.array([end, hip]).T), color=color, alpha=shade)
        walk.plot(*(turn @ hip), "o", color="0.2", alpha=shade)
    ground = turn @ np.array([[-1.0, 1.0], [0.0, 0.0]]) * 0.8 * leg
    walk.plot(*ground, color="0.4", lw=1)
    walk.set(aspect="equal", title="one step", xlabel="x", ylabel="z")
    theta, phi, theta_rate, phi_rate = cycle.states.T
    phase.plot(theta, theta_rate, label="stance leg")
    phase.plot(theta - phi, theta_rate - phi_rate, label="swing leg")
    # at the strike the legs change their names and their rates jump
    phase.plot((theta[-1], -theta[0]), (theta_rate[-1], theta_rate[0] - phi_rate[0]), "k:", lw=1, label="strike")
    phase.plot((theta[-1] - phi[-1], theta[0]), (theta_rate[-1] - phi_rate[-1], theta_rate[0]), "k:", lw=1)
    phase.set(title="limit cycle", xlabel="angle from the slope's normal [rad]", ylabel="rate")
    phase.legend(frameon=False)
    around = np.linspace(0, 2 * np.pi, 200)
    circle.plot(np.cos(around), np.sin(around), color="0.6", lw=1)
    circle.plot(cycle.multipliers.real, cycle.multipliers.imag, "x", ms=8)
    circle.set(aspect="equal", title="Floquet multipliers", xlabel="real", ylabel="imaginary")
    figure.suptitle(title)
    with whole_file(path) as partial:
        figure.savefig(partial, format=path.suffix[1:], dpi=120)
    plt.close(figure)


def run(
    doc: str | None,
    title: str,
    solve: Callable[[argparse.Namespace], tuple[LimitCycle, dict[str, Any], float]],
    options: Callable[[argparse.ArgumentParser], None],
    leg: float,
    argv: list[str] | None,
) -> int:
    """The command line of a passive walker; 0 if the gait was found, 1 if there is none."""
    begin = time.perf_counter()
    arguments = parser(doc)
    options(arguments)
    chosen, _ = asked(arguments, argv, lambda options: None)
    try:
        cycle, published, slope = solve(chosen)
    except NoGait as error:
        print(error, file=sys.stderr)
        if chosen.json:
            print(json.dumps({"converged": False, "status": str(error)}))
        return 1
    numbers = {"converged": True, "slope_rad": slope, **report(cycle, leg), **published}
    numbers["seconds"] = round(time.perf_counter() - begin, 3)
    if not cycle.stable:
        print("the gait exists but is unstable: disturbances grow from step to step", file=sys.stderr)
    print(title)
    for key, value in numbers.items():
        print(f"  {key:24s} {f'{value:.12g}' if isinstance(value, float) else value}")
    if chosen.out is not None:
        draw(cycle, leg, slope, chosen.out / "gait.png", title)
        rows = "\n".join(f"| {key.replace('_', ' ')} | {value} |" for key, value in numbers.items())
        text = (
            f"# {title}\n\n![one step, limit cycle, multipliers](gait.png)\n\n| quantity | value |\n|---|---|\n{rows}\n"
        )
        with whole_file(chosen.out / "report.md") as partial:
            partial.write_text(text, encoding="utf-8")
    if chosen.json:
        print(json.dumps(numbers))
    return 0
