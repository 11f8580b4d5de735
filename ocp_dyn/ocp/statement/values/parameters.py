"""Parameters of a problem: numbers that may change without a rebuild, and numbers that are free between bounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...._base.checks import bounds, given_name, is_pair, numbers
from ...._base.types import repr_in_message
from ....mechanism.parameters import check_bounds, check_value

RESERVED_NAMES = frozenset(
    [
        "q",
        "qd",
        "q1",
        "qd1",
        "qdd",
        "tau",
        "tau1",
        "lam",
        "Lam",
        "inner",
        "T",
        "k",
        "s",
        "time",
        "step_length",
        "speed",
        "qd_plus",
        "q_end",
        "qd_end",
        "q_before",
        "qd_before",
    ]
)
"""Names of variables in the blocks of a program; parameters cannot have them."""


@dataclass(frozen=True, eq=False)
class Parameter:
    """A number, or several, that terms read from `instant.values[name]`; its value may change without a rebuild.

    Problem(parameters=...) declares it and `problem.solve(values={name: ...})` gives it another value. With bounds
    (lower, upper) it is a decision variable, and `value` is its first guess. If several phases have the same Parameter
    as their duration [s], their durations are equal.

    Names of `ocp_dyn.mechanism.parameters` ("gravity", "mass:torso", ...) are parameters of the model. "slope" [rad]
    tilts the ground, upwards along x for positive values: gravity turns in the axes of the ground.

    >>> def ends(start, end):
    ...     return ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0
    >>> aim = ocp.Boundary(ends)
    >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
    >>> problem = ocp.Problem(wheel, [push], boundary=[aim], parameters=[ocp.Parameter("angle", 1.0)])
    >>> [round(problem.solve(values={"angle": x}, progress=False).objective, 1) for x in (1.0, 2.0)]
    [12.0, 48.1]
    """

    name: str
    value: Any = None
    bounds: Any = None
    size: int = field(init=False, default=1)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or self.name in RESERVED_NAMES:
            raise ValueError(
                f"Parameter needs a name other than {', '.join(sorted(RESERVED_NAMES))}, got "
                f"{repr_in_message(self.name)}"
            )
        if self.value is None and self.bounds is None:
            raise ValueError(
                f"Parameter {repr_in_message(self.name)} needs a value, or bounds (lower, upper) between which it is "
                "free"
            )
        here = f"Parameter {repr_in_message(given_name(self.name, 'Parameter name'))}"
        if self.free and not is_pair(self.bounds):
            raise ValueError(f"{here}: bounds must be (lower, upper), got {repr_in_message(self.bounds)}")
        if self.free:
            low, high = self.bounds
            limits = bounds(low, high, here)
        else:
            limits = (numbers(self.value, f"{here}: value"),) * 2
        size = max(n.size for n in limits)
        if any(n.size not in (1, size) for n in limits) or not size:
            raise ValueError(f"{here}: lower and upper must be of one size, got {repr_in_message(self.bounds)}")
        object.__setattr__(self, "size", size)
        if self.free:
            object.__setattr__(self, "bounds", limits)
            low, high = (np.broadcast_to(n, (size,)) for n in limits)
            check_bounds(self.name, low, high, here)
        if self.value is None:
            low, high = (np.clip(n, -1e3, 1e3) for n in limits)
            object.__setattr__(self, "value", (low + high) / 2)
        elif not np.all(np.isfinite(found := numbers(self.value, f"{here}: value"))) or found.size not in (1, size):
            raise ValueError(f"{here}: value must be one finite number or {size}, got {repr_in_message(self.value)}")
        check_value(self.name, np.broadcast_to(numbers(self.value, here), (size,)), here, ValueError)
        if self.free and np.any((numbers(self.value, here) < limits[0]) | (numbers(self.value, here) > limits[1])):
            raise ValueError(
                f"{here}: the first guess {repr_in_message(self.value)} lies outside its bounds "
                f"{repr_in_message(self.bounds)}"
            )

    @property
    def free(self) -> bool:
        """Whether the parameter is a decision variable."""
        return self.bounds is not None


def number_in(value: Any) -> Any:
    """The number, or numbers, of an attribute that may be a Parameter."""
    return value.value if isinstance(value, Parameter) else value


def number_of_weight(weight: Any, what: str) -> Any:
    """The number of a weight that may be a Parameter, as it was given; what: its name in messages.

    ValueError for a Parameter that is free, because the solver would choose a weight of zero, and for one of several
    numbers.
    """
    if not isinstance(weight, Parameter):
        return weight
    here = f"{what}: Parameter {repr_in_message(weight.name)}"
    if weight.free:
        raise ValueError(
            f"{here} is free between its bounds, and the solver would make a free weight as small as it can: give it "
            "a value without bounds; ocp.fit finds weights from measured motions"
        )
    if weight.size != 1:
        raise ValueError(f"{here} must be one number, got {weight.size}")
    return float(np.ravel(weight.value)[0])
