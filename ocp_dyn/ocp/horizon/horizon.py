"""`Horizon`: the optimal control problem of a moving window, whose contact schedule is data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import function, numbers, positive, whole
from ..._base.types import Array, repr_in_message, sequence
from ...codegen import ControllerParts
from ...dynamics.kinematics import point_position
from ...mechanism import Model
from ...mechanism.loads import NO_LOADS, Loads, check_loads
from ..statement.path_constraints import PathConstraint
from .controller import HorizonController
from .exported import controller_parts
from .feet import Body, Foot, as_feet, check_model
from .gait_patterns import GaitPattern
from .inputs import as_gait, begin, faults, touching, unit_configuration
from .references import advance, node
from .stage import motion, stage
from .tuning import Tuning, as_tuning

WITHIN = 1e-6
"""Rounding of joint limits [rad, m]."""

LEVEL = 0.1
"""Largest difference of the heights of the feet in the posture, in heights of the base."""


class Horizon:
    """The optimal control problem of a moving window, from a model and a gait.

        minimize   the integral of the squares of the errors of base, joints, swinging feet, of accelerations, forces
                   and torques (see `Tuning`)
        subject to inverse dynamics, contacts, friction cones, centers of pressure, limits of torques, joints and speeds

    Whole-body motion by inverse dynamics; see `ocp_dyn.ocp.horizon.stage`. Which foot is on the ground at which node,
    where it is put down, the command and all weights are numbers: they change at any step without a new build.

    | argument | meaning |
    |---|---|
    | model | on `od.FloatingBase()`, all other joints with one coordinate and a motor |
    | feet | footholds or frames (points): left, right; or front left, front right, hind left, hind right |
    | posture | (nq) standing on its feet, on level ground |
    | gait | a name, such as "trot", or a `GaitPattern` |
    | duration, intervals | [s], and number of intervals, of equal length unless `times` are given |
    | times | (intervals + 1) times of the nodes from now [s], such as fine near and coarse far |
    | tuning | `Tuning`, its weights |
    | constraints | path constraints of `ocp`, such as `ocp.NoCollision`, at all nodes |
    | costs | functions of an `ocp.Instant`; the squares of what they return are costs |
    | loads | springs, losses and rotors that the plan knows, `od.Loads` |

    >>> robot = od.walking.quadruped("go2")  # doctest: +SKIP
    >>> horizon = ocp.Horizon(robot.model, robot.footholds(), posture=robot.posture, gait="trot")  # doctest: +SKIP
    >>> control = horizon.controller()  # doctest: +SKIP
    >>> control.update(0.0, robot.posture, np.zeros(18), ocp.Command(forward=0.5)).status  # doctest: +SKIP
    'solved'
    """

    def __init__(
        self,
        model: Model,
        feet: Any,
        *,
        posture: Any = None,
        gait: str | GaitPattern = "stand",
        duration: float = 0.5,
        intervals: int = 25,
        times: Any = None,
        tuning: Tuning | None = None,
        constraints: Sequence[Any] = (),
        costs: Sequence[Callable[[Any], Any]] = (),
        loads: Loads = NO_LOADS,
    ) -> None:
        check_model(model)
        found = as_feet(model, feet)
        self.times = _node_times(duration, intervals, times)
        self.body = Body(model, found, _posture(model, found, posture), self.times)
        self.gait = as_gait(gait, len(found))
        self.tuning = as_tuning(Tuning() if tuning is None else tuning)
        self.constraints, self.costs = _terms(constraints, costs)
        self.loads = check_loads(loads)
        self._functions: dict[str, ca.Function] = {}

    @property
    def model(self) -> Model:
        """The model."""
        return self.body.model

    @property
    def intervals(self) -> int:
        """Number of intervals."""
        return len(self.times) - 1

    def functions(self) -> dict[str, ca.Function]:
        """The symbolic functions of the window by their names; built at the first call."""
        if not self._functions:
            body = self.body
            window = stage(body, self.loads, self.constraints, self.costs)
            own = begin(body), touching(body), faults(body), advance(body), node(body)
            self._functions = {f.name(): f for f in (*own, window, *motion(body))}
        return self._functions

    def controller(self) -> HorizonController:
        """A controller with a plan of its own."""
        return HorizonController(self.body, self.functions(), self.gait, self.tuning)

    def controller_parts(self) -> ControllerParts:
        """Functions and numbers of its controller, for `od.codegen.export_controller`."""
        return controller_parts(self.body, self.functions(), self.gait, self.tuning)

    def __repr__(self) -> str:
        what = f"{len(self.body.feet)} feet, {self.times[-1]:g} s in {self.intervals} intervals"
        return f"Horizon({self.model.name!r}, {what})"


def _node_times(duration: float, intervals: int, times: Any) -> Array:
    """Times of the nodes from now [s]."""
    if times is None:
        return np.linspace(
            0.0, positive(duration, "Horizon duration [s]"), whole(intervals, "Horizon intervals", 2) + 1
        )
    found = numbers(times, "Horizon times [s]")
    if found.size < 3 or found[0] != 0 or not np.all(np.diff(found) > 0) or found[-1] > 1e3:
        raise ValueError(
            f"Horizon times [s] must increase from 0, for two intervals or more, got {repr_in_message(times)}"
        )
    return found


def _posture(model: Model, feet: Sequence[Foot], posture: Any) -> Array:
    """The posture, if it is one: within the limits of the joints, the feet side by side on level ground."""
    if posture is None:
        raise TypeError(
            f"Horizon needs posture=, {model.nq} numbers: a configuration in which the robot stands on its feet, such "
            'as that of od.walking.quadruped("go2"), or what od.inverse_kinematics finds for its feet'
        )
    q = unit_configuration(model.nq, posture, "Horizon posture")
    outside = (q < model.dofs.q_lower - WITHIN) | (q > model.dofs.q_upper + WITHIN)
    if np.any(outside):
        raise ValueError(
            f"Horizon posture is outside the limits of {', '.join(np.array(model.q_names)[outside])}: choose one "
            "within them, or give a model whose limits it keeps, model.with_limits(...)"
        )
    heights = [float(point_position(model, foot.frame, ca.DM(q), foot.point)[2]) for foot in feet]
    if max(heights) - min(heights) > LEVEL * max(q[2] - min(heights), 0.0):
        told = ", ".join(f"{foot.frame} {height:.3g} m" for foot, height in zip(feet, heights, strict=True))
        raise ValueError(f"Horizon posture must have its feet below the base, on level ground, got heights {told}")
    return q


def _terms(constraints: Any, costs: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Constraints and costs, checked."""
    constraints = tuple(sequence(constraints, "Horizon constraints"))
    for constraint in constraints:
        if not isinstance(constraint, PathConstraint) or constraint.where != "node":
            raise TypeError(
                "Horizon constraints: path constraints at nodes, such as ocp.NoCollision, got "
                f"{repr_in_message(constraint)}"
            )
    costs = tuple(
        function(cost, "Horizon costs: functions of an ocp.Instant") for cost in sequence(costs, "Horizon costs")
    )
    return constraints, costs
