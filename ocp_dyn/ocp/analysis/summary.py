"""Main figures of a solved motion: status of the solver, cost, speed, work, peak torque and force, defects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..._base.convergence import MARK
from ..._base.display import Displayed, aligned, table
from ..motion.motion import Motion
from ..motion.strength_use import StrengthUse, strength_use
from ..statement.state.channels import Channel
from .component_flow import unknown_equations
from .deciding import DecidingBounds, deciding
from .defects import Defects, defects
from .refinement import refinement as refinement_of

SUFFIXES = {"m/s": "m_per_s", "N m": "Nm", "body weights": "body_weights"}
"""Units that the keys of `Summary.numbers` write in another form."""

DECIDE = "bounds that decide"

LARGE_DEFECT = 0.05
"""Defect [rad] from which on the table advises a finer grid."""


class Figure(NamedTuple):
    """A named number or text of a summary, with its unit."""

    name: str
    value: Any
    unit: str = ""

    @property
    def key(self) -> str:
        """Name and unit in one word: "step_length_m"."""
        return "_".join([*self.name.split(), *([SUFFIXES.get(self.unit, self.unit)] if self.unit else [])])

    @property
    def text(self) -> str:
        """The value with its unit."""
        shown = f"{self.value:.5g}" if isinstance(self.value, float) else str(self.value)
        return f"{shown} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Displayed):
    """The main figures of a solution; `print` and notebooks show them as a table, `numbers` gives a flat dict for a
    report in JSON.

    status: the solver's, in a word; converged: whether it reached its tolerance. objective, and `cost` by term;
    duration of the motion, and of the `phases` by name [s]; step_length, sideways and rise of the step [m], turn [deg],
    speed [m/s], horizontally; cost_of_transport [1]; positive_work and negative_work of all joints [J]; peak_torque
    [N m], the largest mean over an interval, None if sliding joints do all work; peak_vertical_force [N], the largest
    on one foot, and peak_vertical_force_in_body_weights, as a multiple of the model's weight. defects: see `Defects`.
    iterations of the solver, on the last grid; ladder: all grids, if there were several, see `ocp.solve`.
    infeasibility: the largest violation of a row, in its scale. build_seconds, solve_seconds: time taken to make the
    program and to solve it. worst_fault: the constraint that is violated most, "" if none is.
    bounds: those that decide the result, see `DecidingBounds`; none if the solver did not converge, or without a record
    of the program. channels: least and largest value of each channel of the components. driving:
    the components with a force of their own: work, cost of transport and peak torque are those of tau alone.
    refinement: the grids on which the motion was solved and the errors that are left; "" without an accuracy.
    strength: the largest use of strength of every joint, see `StrengthUse`.

    Figures that do not apply are None: step length, sideways, rise and turn that are 0, speed and cost of transport
    without a step length, vertical forces without a foot on the ground, body weights without gravity, torques without a
    rotational dof, defects if they were not requested or if numbers are not finite.

    >>> for name, text in solution.summary(defects=False).rows()[:4]:
    ...     print(f"{name}: {text}")
    status: Solve_Succeeded
    objective: 12.03
    duration: 1 s
    positive work: 1.1306 J
    """

    status: str
    converged: bool
    objective: float
    cost: Mapping[str, float]
    phases: Mapping[str, float]
    step_length: float | None
    speed: float | None
    cost_of_transport: float | None
    positive_work: float
    negative_work: float
    peak_torque: float | None
    peak_vertical_force: float | None
    peak_vertical_force_in_body_weights: float | None
    defects: Defects | None = field(repr=False)
    iterations: int | None
    infeasibility: float | None
    build_seconds: float | None
    solve_seconds: float | None
    worst_fault: str
    bounds: DecidingBounds = field(default_factory=lambda: DecidingBounds(()), repr=False)
    sideways: float | None = None
    rise: float | None = None
    turn: float | None = None
    channels: Mapping[Channel, tuple[float, float]] = field(default_factory=dict, repr=False)
    driving: tuple[str, ...] = field(default=(), repr=False)
    ladder: str | None = field(default=None, repr=False)
    strength: StrengthUse = field(default_factory=lambda: StrengthUse(()), repr=False)
    refinement: str = field(default="", repr=False)

    def __repr__(self) -> str:
        told = self.status if self.converged else f"{MARK} ({self.status})"
        return f"Summary: {told}, objective {self.objective:.6g}, {self.duration:.4g} s; print shows all figures"

    @property
    def duration(self) -> float:
        """Time of the whole motion [s]."""
        return float(sum(self.phases.values()))

    def figures(self) -> list[Figure]:
        """All figures that apply, in the order of the table, except the status and the costs."""
        return [figure for figure in self._all(self.phases) if figure.value is not None]

    def _all(self, phases: Iterable[str]) -> Iterator[Figure]:
        """The figures, also those that do not apply; with the durations of these phases."""
        yield Figure("duration", self.duration, "s")
        for name in phases:
            yield Figure(name, self.phases[name], "s")
        yield Figure("step length", self.step_length, "m")
        yield Figure("sideways", self.sideways, "m")
        yield Figure("rise", self.rise, "m")
        yield Figure("turn", self.turn, "deg")
        yield Figure("speed", self.speed, "m/s")
        yield Figure("cost of transport", self.cost_of_transport)
        yield Figure("positive work", self.positive_work, "J")
        yield Figure("negative work", self.negative_work, "J")
        yield Figure("peak torque", self.peak_torque, "N m")
        yield Figure("largest use of strength", self.strength[0].share if self.strength else None)
        yield Figure("peak vertical force", self.peak_vertical_force, "N")
        yield Figure("peak vertical force", self.peak_vertical_force_in_body_weights, "body weights")
        for channel, (low, high) in self.channels.items():
            yield Figure(f"least {channel.name}", low, channel.unit)
            yield Figure(f"largest {channel.name}", high, channel.unit)
        if self.defects is not None:
            yield Figure("defect", self.defects.angle, "rad")
            yield Figure("defect", self.defects.length, "m")
            yield Figure("open loop defect", self.defects.open_loop_angle, "rad")
            yield Figure("open loop defect", self.defects.open_loop_length, "m")
        yield Figure("refinement", self.refinement or None)
        yield Figure("iterations", self.iterations)
        yield Figure("ladder", self.ladder)
        yield Figure("infeasibility", self.infeasibility)
        yield Figure("build seconds", self.build_seconds)
        yield Figure("solve seconds", self.solve_seconds)

    def numbers(self) -> dict[str, Any]:
        """Status and figures by name and unit, such as "speed_m_per_s" and "stance_s"; all values fit into JSON.

        A phase whose name is that of another figure has "phase" in front: "phase_duration_s".
        """
        found: dict[str, Any] = {"converged": self.converged, "status": self.status, "objective": self.objective}
        if self.driving:
            found["work_and_torque"] = self._of_tau
        for figure in self.figures():
            key = figure.key
            while key in found:
                key = f"phase_{key}"
            found[key] = figure.value
        return found

    def rows(self) -> list[tuple[str, str]]:
        """Names, and values with units, in the order of the table; the duration of an only phase is left out."""
        found = [Figure("status", self.status if self.converged else f"{MARK} ({self.status})")]
        found += [Figure("worst fault", self.worst_fault)] if self.worst_fault else []
        found += [Figure("objective", self.objective)]
        found += [Figure(f"cost: {name}", value) for name, value in self.cost.items()] if len(self.cost) > 1 else []
        figures = self._all(list(self.phases) if len(self.phases) > 1 else ())  # an only phase lasts as long as all
        found += [Figure("work and torque", self._of_tau)] if self.driving else []
        shown = [figure for figure in (*found, *figures) if figure.value is not None]
        rows = [(figure.name, figure.text) for figure in shown if figure.name != "largest use of strength"]
        rows += [("use of strength", self.strength.line)] if self.strength else []
        if self.defects is not None and self.defects.angle > LARGE_DEFECT:
            rows += [("remark", "the defect is large: solve(accuracy=1e-3) refines the grid")]
        return rows + ([(DECIDE, self.bounds.line)] if self.bounds else [])

    @property
    def _of_tau(self) -> str:
        return f"of tau alone, without the force of {', '.join(self.driving)}"

    def _card_html(self) -> str:
        return table((), self.rows())

    def __str__(self) -> str:
        return aligned(self.rows())


def summary(solution: Motion, with_defects: bool = True) -> Summary:
    """The main figures of a solution. with_defects: also the defects, which re-integrate the motion and take longer."""
    model, stats = solution.model, solution.stats
    positive, negative = solution.mechanical_work()
    moves = bool(solution.distance and solution.duration)
    force = _largest([wrench[:, 5] for phase in solution.phases for wrench in phase.wrenches.values()])
    slides = model.lengths[1]
    torque, pull = (_largest([np.abs(phase.tau[:, k]) for phase in solution.phases]) for k in (~slides, slides))
    return Summary(
        status=str(stats.get("status", "not solved")),
        converged=bool(stats.get("converged")),
        objective=float(solution.objective),
        cost=dict(solution.cost),
        phases={phase.name: phase.duration for phase in solution.phases},
        step_length=(solution.step_length or None) if moves else None,
        speed=solution.distance / solution.duration if moves else None,
        cost_of_transport=solution.cost_of_transport() if moves and model.weight else None,
        positive_work=positive,
        negative_work=negative,
        peak_torque=None if pull and not torque else torque,
        peak_vertical_force=force,
        peak_vertical_force_in_body_weights=force / model.weight if force is not None and model.weight else None,
        defects=defects(solution) if with_defects and _finite(solution) and not unknown_equations(solution) else None,
        iterations=stats.get("iterations"),
        infeasibility=stats.get("infeasibility"),
        build_seconds=stats.get("build_seconds"),
        solve_seconds=stats.get("solve_seconds"),
        worst_fault=str(next(iter(stats.get("faults") or ()), "")),
        bounds=bounds_of(solution),
        sideways=solution.sideways or None,
        rise=solution.rise or None,
        turn=float(np.degrees(solution.turn)) or None,
        channels={c: (float(solution[c.name].min()), float(solution[c.name].max())) for c in solution.channels},
        driving=solution.driving,
        ladder=_told(stats["ladder"]) if stats.get("ladder") else None,
        refinement=refinement_of(solution).line if "refinement" in stats else "",
        strength=strength_use(solution) if _finite(solution) else StrengthUse(()),
    )


def _told(ladder: Iterable[Mapping[str, Any]]) -> str:
    """The grids of a ladder, in words."""
    grids = (f"{sum(one['intervals'])} intervals in {one['iterations']} iterations" for one in ladder)
    return ", then ".join(grids)


def bounds_of(solution: Motion) -> DecidingBounds:
    """The bounds that decide a solution; none if its multipliers mean nothing, or are not known."""
    known = solution.record is not None and solution.iterate and solution.stats.get("converged")
    return deciding(solution) if known else DecidingBounds(())


def _largest(parts: list[Any]) -> float | None:
    """The largest entry of all parts; None if there are no entries."""
    found = np.concatenate([np.zeros(0), *(part.ravel() for part in parts)])
    return float(found.max()) if found.size else None


def _finite(solution: Motion) -> bool:
    found = (solution.t, solution.q, solution.qd, solution.tau, *(solution[c.name] for c in solution.channels))
    return all(np.all(np.isfinite(x)) for x in found)
