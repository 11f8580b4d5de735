"""`track`: the optimal control problem of a recorded motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..._base import checks
from ..._base.types import repr_in_message
from ...mechanism import Model
from ...recordings import FittedMotion, Recording
from ..problem import Problem
from ..statement.custom_costs import ChannelPower
from ..statement.phases import Phase
from ..torque_sources.model_muscles import Muscles
from .coordinates import free_root, held_couplings
from .curves import Configurations
from .measured import checked_forces, fitted, inside, without_fast_changes
from .stances import support_of, whole_stride
from .terms import MeasurementErrors, Objective, Standing, footholds_of


def track(
    model: Model,
    recording: Recording | FittedMotion,
    forces: Recording,
    *,
    places: Mapping[str, tuple[str, Any]] | None = None,
    weights: Mapping[str, float] | None = None,
    between: tuple[float, float] | None = None,
    feet: Mapping[str, Any] | None = None,
    rate: float = 50.0,
    cutoff: float = 6.0,
    errors: MeasurementErrors | None = None,
    unactuated: Sequence[str] | None = None,
    limits: bool = True,
    muscles: Muscles | bool = False,
) -> Problem:
    """The problem whose solution follows a recording and obeys the equations of motion, without residuals at the root:

        min integral |p - p_m|^2 / e_p^2 + |q - q_m|^2 / e_q^2 + |f - f_m|^2 / e_f^2 + |n - n_m|^2 / e_n^2 + c |qdd|^2

    over motions, torques and wrenches of the ground: places p of markers, forces f on the feet, moments n about the
    measured centers of pressure. Residual reduction changes masses too, and leaves residuals.

    recording: markers [m], z up; or angles by names of `model.q_names`; or a motion of `fit_motion`. forces: wrenches
    by names of frames of the feet, as of `ground_forces` and `on_feet`. places, weights: see `fit_motion`. between:
    (begin, end) [s]; default: the stride of which the plates saw most. rate: intervals per second. cutoff [Hz]: of the
    motion; forces are filtered at 0.4 rate. errors: sizes of all e and c. unactuated: joints without a motor; default:
    those from the ground to the first body with mass. limits: of the model hold, efforts too. feet: see `Standing`.
    muscles: as of `ocp.Problem`; activations are then costs; `ocp.Muscles(activation="limits")` takes the
    fewest iterations.

    A foot beside the plates gets the wrench that the equations of motion need. Couplings and mimic joints hold, see
    `held_couplings`. The first guess is the fitted motion. ModelError, TypeError or ValueError for recordings of
    another body, too short, without a stride or forces. Cost: `fit_motion`, and 10 to 30 iterations of the solve.

    >>> t = np.linspace(0, 1, 101)
    >>> heights = od.recordings.Recording("top", t, np.stack([0 * t, 0 * t, 1 + 0.02 * t], axis=1)[:, None], "m")
    >>> load = od.recordings.Recording("block", t, [[[0, 0, 0, 0, 0, 21.0]]] * 101, "N m, N")
    >>> sure = ocp.MeasurementErrors(marker=1e-6, smoothing=0)
    >>> top = {"top": ("block", (0, 0, 0))}
    >>> follow = ocp.track(block, heights, load, places=top, between=(0.2, 0.6), rate=20, errors=sure)
    >>> float(follow.solve(progress=False).phases[0].wrenches["block"][:, 5].mean().round())  # m g, not 21 N
    20.0
    """
    window = _window(between)
    motion, markers = fitted(model, recording, places, weights, cutoff, window)
    forces = without_fast_changes(checked_forces(model, forces), rate)
    root = free_root(model) if unactuated is None else checks.listed_names(unactuated, "track: unactuated")
    checks.all_known(root, model.joint_names, "track: unactuated", "joint")
    if not root:
        raise ValueError(_NO_ROOT.format(repr_in_message(model.name)))
    begin, end = window or whole_stride(motion, forces, root)
    motion = inside(motion, forces, begin, end)
    standing = Standing(motion, support_of(motion, forces, root, begin, end), footholds_of(forces, feet))
    objective = Objective.of(standing, markers, errors)
    statement = _problem(standing, objective, begin, end, checks.positive(rate, "track: rate"), root, limits)
    return _by_muscles(statement, muscles, objective.errors) if muscles else statement


_NO_ROOT = (
    "track: the root of {} is not free, so that its forces are not known from those of the ground: name the joints "
    "without a motor, unactuated=..."
)


def _problem(
    standing: Standing, objective: Objective, begin: float, end: float, rate: float, root: tuple[str, ...], limits: bool
) -> Problem:
    """The problem of a motion whose stances and costs are known."""
    model = standing.motion.model
    dependent, constraints = held_couplings(model)
    phases = [
        Phase(
            part.name, max(1, round(rate * (part.end - part.begin))), part.end - part.begin, part.footholds,
            standing.limits, objective.costs(part), constraints,
        )
        for part in standing.parts(begin, end, 1 / rate)
    ]  # fmt: skip
    curve = Configurations.of(standing.motion)
    q, qd = curve.between(begin, end), curve.qd.between(begin, end)
    return Problem(
        model, phases, guess=lambda s: (q(s), qd(s)), posture=curve.at(begin), dependent=dependent,
        unactuated=[*root, *(joint for member in dependent for joint in member.joints)], limits=limits,
    )  # fmt: skip


def _by_muscles(problem: Problem, muscles: Muscles | bool, errors: MeasurementErrors) -> Problem:
    """The problem whose motors are muscles, which cost their activations. Two stages per interval: the midpoint rule
    would not see activations that alternate from node to node."""
    effort = ChannelPower("activation", 2.0, weight=errors.activation**-2)
    phases = [replace(phase, objective=(*phase.objective, effort)) for phase in problem.phases]
    return replace(problem, phases=phases, muscles=muscles, integrator="gauss:2")


def _window(between: Any) -> tuple[float, float] | None:
    if between is None:
        return None
    if not checks.is_pair(between):
        raise TypeError(f"track: between must be (begin, end) in seconds, got {repr_in_message(between)}")
    begin, end = (checks.finite(t, "track: between") for t in between)
    if begin >= end:
        raise ValueError(f"track: between must be (begin, end) with begin before end, got ({begin:g}, {end:g})")
    return begin, end
