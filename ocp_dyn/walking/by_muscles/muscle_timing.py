"""When muscles are active over the stride of a walk, beside measured electromyograms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._base.checks import choice
from ..._base.types import Array, ModelError, repr_in_message
from ...gait.data import PERCENT
from ...ocp import Muscles, Solution, muscle_images

THRESHOLD = 0.2
"""Share of the range of an activation over the stride above which a muscle counts as active."""


class MuscleGroup(NamedTuple):
    """Muscles that one electrode sees, by their names without the side; the percent of the stride, from heel strike,
    between which it was active, and of the peak.

    >>> od.walking.ELECTROMYOGRAMS["soleus"]
    MuscleGroup(muscles=('soleus',), active=((30, 60),), peak=51)
    """

    muscles: tuple[str, ...]
    active: tuple[tuple[float, float], ...]
    peak: float


ELECTROMYOGRAMS: Mapping[str, MuscleGroup] = {
    "soleus": MuscleGroup(("soleus",), ((30, 60),), 51),
    "gastrocnemius": MuscleGroup(("gasmed", "gaslat", "gastroc"), ((26, 55),), 45),
    "tibialis anterior": MuscleGroup(("tibant", "tib_ant"), ((65, 117),), 3),
    "vastus lateralis": MuscleGroup(("vaslat", "vasti"), ((97, 126), (43, 60)), 14),
    "vastus medialis": MuscleGroup(("vasmed", "vasti"), ((92, 122), (58, 61)), 12),
    "rectus femoris": MuscleGroup(("recfem", "rect_fem"), ((1, 48), (56, 75)), 67),
    "medial hamstrings": MuscleGroup(("semimem", "semiten", "hamstrings"), ((90, 112),), 0),
    "biceps femoris": MuscleGroup(("bflh", "hamstrings"), ((89, 111), (41, 57)), 46),
    "gluteus maximus": MuscleGroup(("glmax1", "glmax2", "glmax3", "glut_max"), ((2, 16), (32, 43), (69, 79)), 9),
    "gluteus medius": MuscleGroup(("glmed1", "glmed2", "glmed3"), ((3, 19),), 11),
}
"""Activity of one healthy adult who walks: envelopes above a fifth of their range over a stride of the right leg. The
recording of Rajagopal et al. 2016 (IEEE Trans. Biomed. Eng. 63:2068), as OpenSim's example of 3-D walking has it. Names
of muscles are those of that body, and of OpenSim's planar models, where one muscle stands for several."""


class MuscleTiming(NamedTuple):
    """Activity of a group of muscles over the stride (101 percents), and how it meets the measured one.

    activation: the largest of the group at every percent; active: whether it is above a fifth of its range; agreement:
    share of the stride in which the muscle is active if and only if the electromyogram is; peak: percent of the
    largest activation; measured: the group that is compared.

    >>> od.walking.MuscleTiming(np.zeros(101), np.zeros(101) > 0, 0.9, 50.0, od.walking.ELECTROMYOGRAMS["soleus"]).peak
    50.0
    """

    activation: Array
    active: NDArray[np.bool_]
    agreement: float
    peak: float
    measured: MuscleGroup

    @property
    def bursts(self) -> tuple[tuple[int, int], ...]:
        """Percents of the stride between which the muscle is active, as those of `MuscleGroup`: a burst over the end
        of the stride has an end above 100.

        >>> on = np.isin(np.arange(101), [0, 1, 2, 40, 41, 99, 100])
        >>> od.walking.MuscleTiming(1.0 * on, on, 1.0, 0.0, od.walking.ELECTROMYOGRAMS["soleus"]).bursts
        ((40, 41), (99, 102))
        """
        on = self.active[:-1]
        begins, ends = (np.flatnonzero(on & ~np.roll(on, shift)) for shift in (1, -1))
        if not begins.size:
            return ((0, on.size),) if on.all() else ()
        after = [int(ends[ends >= begin][0] if np.any(ends >= begin) else ends[0] + on.size) for begin in begins]
        return tuple(zip(map(int, begins), after, strict=True))

    def numbers(self) -> dict[str, Any]:
        """Agreement, bursts and measured bursts as JSON holds them.

        >>> on = np.arange(101) < 10
        >>> od.walking.MuscleTiming(1.0 * on, on, 1.0, 0.0, od.walking.ELECTROMYOGRAMS["soleus"]).numbers()
        {'agreement': 1.0, 'active_percent': [(0, 9)], 'measured_percent': [(30, 60)]}
        """
        return {
            "agreement": self.agreement, "active_percent": list(self.bursts),
            "measured_percent": list(self.measured.active),
        }  # fmt: skip


def muscle_timing(motion: Solution, side: str = "right") -> dict[str, MuscleTiming]:
    """When the muscles of a leg are active over its stride, beside electromyograms of a healthy adult.

    motion: a periodic walk with activations that begins as the right heel strikes: one mirrored step, or a stride.
    The measured groups and their source: `ELECTROMYOGRAMS`. Amplitudes are not compared: those of electromyograms
    differ between people and electrodes.

        timing = od.walking.muscle_timing(walk)
        timing["soleus"].agreement  # with the electromyogram, over the stride

    ModelError if the motion has no activations of these muscles, ValueError if it
    does not repeat.
    """
    letter = {"left": "l", "right": "r"}[choice(side, ("left", "right"), "muscle_timing: side")]
    if not motion.repeats:
        raise ValueError("muscle_timing needs a periodic motion: give the problem periodic=ocp.Periodic(...)")
    curves = _curves(motion, letter)
    found = {}
    for name, group in ELECTROMYOGRAMS.items():
        known = [curves[f"{muscle}_{letter}"] for muscle in group.muscles if f"{muscle}_{letter}" in curves]
        if known:
            found[name] = _timing(np.max(known, axis=0), group)
    if not found:
        raise ModelError(
            f"muscle_timing: the motion of {repr_in_message(motion.model.name)} has no activations of muscles such as "
            f"soleus_{letter}: it needs the names of od.models.human(muscles=True) or of od.models.planar_human"
        )
    return found


def timing_if_known(motion: Solution) -> dict[str, MuscleTiming]:
    """The `muscle_timing` of the right leg; nothing for a motion without such muscles."""
    if not any(isinstance(part, Muscles) for part in motion.components):
        return {}
    try:
        return muscle_timing(motion)
    except ModelError:
        return {}


def _curves(motion: Solution, letter: str) -> dict[str, Array]:
    """Activations of all muscles over the stride of a leg (101)."""
    channel = next((c for c in motion.channels if c.name == "activation"), None)
    if channel is None:
        return {}
    t = motion.t
    values = np.concatenate([phase.channels["activation"] for phase in motion.phases])
    rows = dict(zip(channel.labels, values.T, strict=True))
    if motion.mirrored:
        images = muscle_images(motion.model)
        rows = {name: np.concatenate([row, rows[images.get(name, name)]]) for name, row in rows.items()}
        t = np.concatenate([t, t + motion.duration])
    percent = 100 * t / t[-1]
    begin = 0.0 if letter == "r" else 50.0
    return {name: np.interp((PERCENT + begin) % 100, percent, row) for name, row in rows.items()}


def _timing(activation: Array, group: MuscleGroup) -> MuscleTiming:
    """The activity of a curve beside that of a group."""
    least, most = float(activation.min()), float(activation.max())
    active = activation > least + THRESHOLD * (most - least)
    measured = np.zeros(len(PERCENT), dtype=bool)
    for begin, end in group.active:
        measured |= ((PERCENT - begin) % 100) <= end - begin
    same = (active == measured)[:-1]  # the stride ends as it begins
    return MuscleTiming(activation, active, float(np.mean(same)), float(PERCENT[int(np.argmax(activation))]), group)
