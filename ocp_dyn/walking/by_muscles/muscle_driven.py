"""Motions of motors as motions of muscles: the same phases, feet and costs, and what muscles cost besides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..._base.types import repr_in_message
from ...ocp import ChannelPower, Cost, Muscles, Problem, RateCost

ACTIVATION, EXCITATION = 10.0, 1.0
"""Weights of the squares of activations and excitations beside the usual costs of effort."""


def muscle_effort() -> tuple[Cost, ...]:
    """Costs of muscles beside those of `human_effort`: squares of activations, and of excitations, which decide where
    activations alone leave them free.

    >>> [cost.name for cost in od.walking.muscle_effort()]
    ['ChannelPower activation', 'ChannelPower excitation']
    """
    return ChannelPower("activation", 2.0, weight=ACTIVATION), ChannelPower("excitation", 2.0, weight=EXCITATION)


def muscle_driven(
    problem: Problem,
    *,
    muscles: Muscles | bool = True,
    costs: Sequence[Cost | RateCost] | None = None,
) -> Problem:
    """A motion of a body with muscles that its muscles make, from the statement of the same motion by motors.

    Phases, feet, period and first guess stay. The costs stay too: terms of torques count the motors that remain, those
    of the arms for instance, and the reserves. costs: added in every phase, by default `muscle_effort()`. muscles:
    as of `ocp.Problem`.

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
    added = muscle_effort() if costs is None else tuple(costs)
    phases = [replace(phase, objective=(*phase.objective, *added)) for phase in problem.phases]
    return replace(problem, phases=phases, muscles=muscles)
