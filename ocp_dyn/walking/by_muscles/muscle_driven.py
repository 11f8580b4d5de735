"""Motions of motors as motions of muscles: the same phases, feet and costs, and what muscles cost besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..._base.checks import truth
from ..._base.types import repr_in_message
from ...mechanism import Model
from ...ocp import ChannelPower, ChannelRateSquared, Cost, Muscles, Problem, RateCost

LINEAR = Muscles(activation="limits")
"""Muscles of motions that are predicted: all their rows but those of forces are linear."""

ACTIVATION, RATE, EXCITATION = 10.0, 0.1, 1.0
"""Weights of the squares of activations, of their rates [1/s] and of excitations beside the usual costs of effort."""


BARRIER = 1e-2
"""First barrier of IPOPT: the motion by motors is near that by muscles."""


def muscle_effort(muscles: Muscles = LINEAR) -> tuple[Cost, ...]:
    """Costs of muscles beside those of `human_effort`: squares of activations, and of their rates, or of excitations
    where the component has them.

    >>> [cost.name for cost in od.walking.muscle_effort(ocp.Muscles())]
    ['ChannelPower activation', 'ChannelPower excitation']
    """
    effort = ChannelPower("activation", 2.0, weight=ACTIVATION)
    if muscles.activation == "limits":
        return effort, ChannelRateSquared("activation", weight=RATE)
    return effort, ChannelPower("excitation", 2.0, weight=EXCITATION)


def muscle_driven(
    problem: Problem,
    *,
    model: Model | None = None,
    muscles: Muscles = LINEAR,
    costs: Sequence[Cost | RateCost] | None = None,
    replace_costs: bool = False,
) -> Problem:
    """A motion of a body with muscles that its muscles make, from the statement of the same motion by motors.

    Phases, feet, period and first guess stay. The costs stay too: terms of torques count the motors that remain, those
    of the arms for instance, and the reserves. model: the same body with muscles, where that of the problem has none;
    its frames and joints have the same names. costs: added in every phase, by default `muscle_effort(muscles)`;
    with replace_costs=True they are the only ones, as with `falisse_effort`. muscles: by default with rigid tendons,
    and activations whose rates have linear limits: a walk takes a third of the iterations that it takes with
    excitations.

    The solution by motors is a good first guess, as its torques are shared out to the muscles:
    `muscle_driven(walk).solve(guess=walk.solve())`. TypeError for what is no problem, ModelError for a model without
    muscles.

    >>> body = od.models.human(muscles=True, root=od.FloatingBase())
    >>> walk = od.walking.human_walk(od.walking.person(model=body), 1.2)
    >>> len(walk.actuated), len(od.walking.muscle_driven(walk).actuated)  # the arms keep their motors
    (23, 8)
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"muscle_driven needs an ocp.Problem, got {repr_in_message(problem)}")
    if not isinstance(muscles, Muscles):
        raise TypeError(f"muscle_driven: muscles must be an ocp.Muscles, got {repr_in_message(muscles)}")
    added = muscle_effort(muscles) if costs is None else tuple(costs)
    kept = not truth(replace_costs, "muscle_driven: replace_costs")
    phases = [replace(phase, objective=(*(phase.objective if kept else ()), *added)) for phase in problem.phases]
    body, options = problem.model if model is None else model, {"mu_init": BARRIER} | problem.options
    return replace(problem, model=body, phases=phases, muscles=muscles, options=options)
