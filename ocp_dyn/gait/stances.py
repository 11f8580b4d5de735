"""Stances: when which foot is on the ground, from the phases of a motion and from the forces of compliant feet."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from .._base.checks import positive
from .cuts import load_of, pressing
from .unrolled import MotionLike


class Stance(NamedTuple):
    """A foot on the ground: the name of its contact, touch-down and lift-off [s since the start of the motion].

    In a periodic motion the lift-off may lie beyond the end of the cycle; infinite for a foot that never leaves.

    >>> still = ocp.Problem(block, [ocp.Phase("stand", 2, 1.0, [ocp.Foothold(od.Contact("block"), x=0, y=0)])])
    >>> still.solve(progress=False).stances()
    (Stance(foot='block', touch_down=0.0, lift_off=1.0),)
    """

    foot: str
    touch_down: float
    lift_off: float


class Sample(NamedTuple):
    """A foot in one interval of the cycle. force: of a compliant foot [N]; None for a rigid one or one in the air."""

    begin: float
    end: float
    on_ground: bool
    force: float | None


def stances(solution: MotionLike, least: float | None = None) -> tuple[Stance, ...]:
    """The stances of all feet, by touch-down, in one cycle: of a mirrored motion two steps, else the whole motion.

    least [N]: force above which a compliant foot is on the ground, by default that of `load_of`; its times are
    interpolated between the middles of intervals. Other feet are on the ground in the phases that hold them.
    """
    least = load_of(solution.model) if least is None else positive(least, "least [N]")
    found = []
    for foot, samples in contact_samples(solution, least).items():
        found += [Stance(foot, *times) for times in _spans(samples, least, solution.repeats)]
    return tuple(sorted(found, key=lambda stance: stance.touch_down))


def contact_samples(solution: MotionLike, least: float) -> dict[str, list[Sample]]:
    """Every foot in every interval of the cycle."""
    mirror = solution.mirror() if solution.repeats else None
    names = list(dict.fromkeys(name for phase in solution.phases for name in phase.wrenches))
    names += [mirror.frame(name).name for name in names] if mirror is not None else []
    found: dict[str, list[Sample]] = {name: [] for name in names}
    for step in range(1 if mirror is None else 2):
        for phase in solution.phases:
            t, wrenches = phase.t + step * solution.duration, phase.wrenches
            here = {mirror.frame(n).name if mirror is not None and step else n: n for n in wrenches}
            for name, samples in found.items():
                own = here.get(name, "")
                force = pressing(phase, own, wrenches[own]) if own and own not in phase.places else None
                for k in range(len(t) - 1):
                    f = None if force is None else float(force[k])
                    on_ground = own != "" if f is None else f > least
                    samples.append(Sample(float(t[k]), float(t[k + 1]), on_ground, f))
    return found


def _spans(samples: list[Sample], least: float, cyclic: bool) -> Iterator[tuple[float, float]]:
    """(touch-down, lift-off) of one foot."""
    period = samples[-1].end - samples[0].begin
    changes = [(_change(a, b, least), b.on_ground) for a, b in pairwise(samples) if a.on_ground != b.on_ground]
    if cyclic and samples[-1].on_ground != samples[0].on_ground:
        first = samples[0]._replace(begin=samples[0].begin + period, end=samples[0].end + period)
        changes.append((_change(samples[-1], first, least), first.on_ground))
    downs, offs = ([time for time, down in changes if down is wanted] for wanted in (True, False))
    if not cyclic:
        downs = ([samples[0].begin] if samples[0].on_ground else []) + downs
        offs = offs + ([samples[-1].end] if samples[-1].on_ground else [])
    elif not changes and samples[0].on_ground:
        downs, offs = [samples[0].begin], [float("inf")]
    for down in downs:
        yield down, min(off if off > down else off + period for off in offs)


def _change(a: Sample, b: Sample, least: float) -> float:
    """The time between two consecutive intervals at which the foot touches down or lifts off."""
    if a.force is None or b.force is None:
        return a.end
    first, last = (a.begin + a.end) / 2, (b.begin + b.end) / 2
    return first + (last - first) * (least - a.force) / (b.force - a.force)
