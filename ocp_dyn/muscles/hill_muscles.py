"""Muscles of Hill's type as columns of numbers: what the algorithms of contraction and energetics take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import name_among
from .._base.types import ModelError, names_in_message, repr_in_message, suggestion
from ..mechanism import Model
from ..mechanism.annotations import Muscle
from .curves import (
    DeGrooteFreglyCurves,
    MillardCurves,
    MixedCurves,
    MuscleCurves,
    RigidTendonCurves,
    SchutteCurves,
    ThelenCurves,
)
from .curves.family import parameter

FAMILIES: dict[str, type[MuscleCurves]] = {
    "de_groote_fregly": DeGrooteFreglyCurves,
    "thelen": ThelenCurves,
    "millard": MillardCurves,
    "schutte": SchutteCurves,
    "rigid_tendon": RigidTendonCurves,
}
"""Families of curves by their names."""

FAMILY_OF_KIND = {
    "DeGrooteFregly2016": "de_groote_fregly",
    "Thelen2003": "thelen",
    "Millard2012": "millard",
    "Schutte1993": "schutte",
    "RigidTendon": "rigid_tendon",
}
"""The family of a class of muscles, by the beginning of its name; all others have the default one."""

ACTIVATION_TIMES = {"Millard2012": (0.010, 0.040), "DeGrooteFregly2016": (0.015, 0.060)}
"""Times of activation and deactivation [s] of classes, where the file has none; (0.015, 0.050) of all others."""

NEEDED = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length")


@dataclass(frozen=True, eq=False)
class HillMuscles:
    """The numbers of n muscles, each a column (n), and their curves: `HillMuscles.of(model)` makes them of a model.

    | field | meaning |
    |---|---|
    | names | of the muscles, the order of all columns |
    | max_isometric_force | F0 [N] |
    | optimal_fiber_length, tendon_slack_length | l0, ls [m] |
    | pennation_angle | between fibers and tendon at the optimal length [rad] |
    | max_contraction_velocity | largest speed of shortening [1/s], in optimal lengths |
    | activation_time, deactivation_time | time constants of activation [s] |
    | fiber_damping | force over F0 per speed over the largest speed [1] |
    | least_activation | below which activations do not fall [1] |
    | curves | a `MuscleCurves` |

    Numbers may be expressions: parameters of a problem, or what a sensitivity is taken by.

    >>> path = (od.PathPoint("P1", "link1", (0, 0, 0)), od.PathPoint("P2", "tip", (0, 0, 0)))
    >>> numbers = {"max_isometric_force": 800.0, "optimal_fiber_length": 0.1, "tendon_slack_length": 0.2}
    >>> od.muscles.HillMuscles.of([od.Muscle("biceps", "Thelen2003Muscle", path, **numbers)]).activation_time
    DM(0.015)
    """

    names: tuple[str, ...]
    max_isometric_force: Any
    optimal_fiber_length: Any
    tendon_slack_length: Any
    pennation_angle: Any
    max_contraction_velocity: Any
    activation_time: Any
    deactivation_time: Any
    fiber_damping: Any
    least_activation: Any
    curves: MuscleCurves

    @staticmethod
    def of(
        source: Model | Sequence[Muscle], names: Sequence[str] | None = None, curves: str = "de_groote_fregly"
    ) -> HillMuscles:
        """The muscles of a model, or of a list of `Muscle`.

        names: which ones, in this order; None: all that are active and have the three numbers of Hill's type, so that
        ligaments are left out. curves: one family for all muscles, "de_groote_fregly", "thelen", "millard", "schutte"
        or "rigid_tendon", or "own": that of each muscle's class. Numbers that a file leaves out have the defaults of
        the muscle's class.

        KeyError for names that there are not, ModelError for muscles whose numbers are missing or not positive.
        """
        muscles = _chosen(source, names)
        family = name_among(curves, [*FAMILIES, "own"], "HillMuscles curves", "family of curves")
        for muscle in muscles:
            _check(muscle)
        times = [_times(muscle) for muscle in muscles]
        return HillMuscles(
            names=tuple(muscle.name for muscle in muscles),
            **{name: _column(getattr(muscle, name) for muscle in muscles) for name in NEEDED},
            pennation_angle=_column(muscle.pennation_angle or 0.0 for muscle in muscles),
            max_contraction_velocity=parameter(muscles, "max_contraction_velocity", 10.0),
            activation_time=_column(rise for rise, _ in times),
            deactivation_time=_column(fall for _, fall in times),
            fiber_damping=_column(_damping(muscle) for muscle in muscles),
            least_activation=parameter(muscles, "minimum_activation", 0.01),
            curves=_curves(muscles, family),
        )

    @property
    def size(self) -> int:
        """Number of muscles."""
        return len(self.names)

    @property
    def width(self) -> Any:
        """l0 sin(pennation angle) [m] (n): the distance of origin and insertion of the fibers across the tendon, which
        stays as it is."""
        return self.optimal_fiber_length * ca.sin(self.pennation_angle)


def _chosen(source: Any, names: Any) -> list[Muscle]:
    known = list(source.muscles if isinstance(source, Model) else source)
    if names is None:
        found = [one for one in known if one.active and all(getattr(one, name) is not None for name in NEEDED)]
        if not found:
            raise ModelError("HillMuscles: there are no muscles with a force and lengths of fibers and tendons")
        return found
    by_name = {muscle.name: muscle for muscle in known}
    for name in names:
        if name not in by_name:
            raise KeyError(f"HillMuscles: there is no muscle {repr_in_message(name)}{suggestion(name, by_name)}")
    return [by_name[name] for name in names]


def _check(muscle: Muscle) -> None:
    here = f"muscle {repr_in_message(muscle.name)}"
    missing = [name for name in NEEDED if getattr(muscle, name) is None]
    if missing:
        raise ModelError(f"{here} ({muscle.kind}) has no {names_in_message(missing)}: give its numbers")
    for name in NEEDED:
        if not getattr(muscle, name) > 0:
            raise ModelError(
                f"{here}: {name} must be positive, got {getattr(muscle, name):g}: correct its file, or edit the model"
            )
    angle = muscle.pennation_angle or 0.0
    if not 0 <= angle < 1.5:
        raise ModelError(f"{here}: pennation_angle must be at least 0 and below 1.5 rad, got {angle:g}")


def _times(muscle: Muscle) -> tuple[float, float]:
    rise, fall = next((x for kind, x in ACTIVATION_TIMES.items() if muscle.kind.startswith(kind)), (0.015, 0.050))
    given = dict(muscle.parameters)
    return given.get("activation_time_constant", rise), given.get("deactivation_time_constant", fall)


def _column(values: Iterable[float]) -> DM:
    return DM(np.array(list(values)))


def _damping(muscle: Muscle) -> float:
    given: dict[str, float] = dict(muscle.parameters)
    if muscle.kind.startswith("Schutte1993"):
        return given.get("damping", 0.1)
    return given.get("fiber_damping", 0.1 if muscle.kind.startswith("Millard2012") else 0.0)


def _curves(muscles: Sequence[Muscle], family: str) -> MuscleCurves:
    if family != "own":
        return FAMILIES[family].of(muscles)
    groups: dict[str, list[int]] = {}
    for k, muscle in enumerate(muscles):
        own = next((x for kind, x in FAMILY_OF_KIND.items() if muscle.kind.startswith(kind)), "de_groote_fregly")
        groups.setdefault(own, []).append(k)
    if len(groups) == 1:
        return FAMILIES[next(iter(groups))].of(muscles)
    return MixedCurves(tuple((k, FAMILIES[name].of([muscles[i] for i in k])) for name, k in groups.items()))
