"""The model of a motion in MuJoCo, with the shapes of its feet on level ground."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from casadi import DM
from numpy.typing import NDArray

from .._base.types import names_in_message
from ..constraints import JointCoupling, LockedJoint, Loop
from ..io import mjcf_text
from ..io.layouts import Layout
from ..mechanism.equal_models import content_of
from ..ocp import CompliantFoothold, Component, LoadedFoothold, Solution, contact_shapes

INSTALL = "replay needs MuJoCo, which is not installed: pip install mujoco, or pip install '.[robots]' in a checkout"

SOLREF = (0.002, 1.0)
"""Time constant [s] and damping ratio of the contacts, see `load`."""
SOLIMP = (0.95, 0.99, 0.0005, 0.5, 2.0)
"""Impedance of the contacts: under the weight of a body they give way by some micrometers, as the plan's rigid
footholds do not at all."""
IMPRATIO = 10.0
"""Stiffness of friction relative to that of the normal force; 1, MuJoCo's default, lets feet creep."""

EQUALITIES = (Loop, JointCoupling, LockedJoint)
"""Constraints of a phase that MuJoCo has, too."""


def mujoco() -> Any:
    """The package MuJoCo; ValueError with the command that installs it."""
    try:
        import mujoco as package
    except ImportError:
        raise ValueError(INSTALL) from None
    return package


@dataclass(frozen=True, eq=False)
class SimulatedBody:
    """A model in MuJoCo, without its springs, losses and stops: `Motors` has those as they are in the plan.

    spec: MuJoCo's model. shapes: those of its feet. of_q, of_qd: the indices of our coordinates in MuJoCo's order.
    back_q, back_qd: the other way.
    """

    spec: Any
    shapes: tuple[Any, ...]
    of_q: NDArray[np.int64]
    of_qd: NDArray[np.int64]

    @cached_property
    def back_q(self) -> NDArray[np.int64]:
        return np.argsort(self.of_q)

    @cached_property
    def back_qd(self) -> NDArray[np.int64]:
        return np.argsort(self.of_qd)


def load(solution: Solution, friction: float = 0.8, timestep: float = 1e-4) -> SimulatedBody:
    """The model of a solution with the shapes of its footholds, above the ground z = 0."""
    check_torques(solution)
    check_ground(solution)
    model, shapes = solution.model, contact_shapes(solution)
    held = {content_of(c) or id(c): c for phase in solution.phases for c in phase.contacts if isinstance(c, EQUALITIES)}
    text = mjcf_text(
        model, shapes, constraints=tuple(held.values()), drop=("passive",), balance=True, friction=friction,
        solref=SOLREF,
        solimp=SOLIMP, timestep=timestep, visuals="none", ground=True,
    )  # fmt: skip
    spec = mujoco().MjModel.from_xml_string(text)
    spec.opt.impratio, spec.opt.iterations, spec.opt.tolerance = IMPRATIO, 50, 1e-12
    spec.dof_damping[:] = spec.dof_frictionloss[:] = spec.jnt_stiffness[:] = spec.jnt_limited[:] = 0
    spec.eq_solref[:], spec.eq_solimp[:] = SOLREF, SOLIMP  # loops as stiff as the ground
    if not solution.loads.armature:
        spec.dof_armature[:] = 0
    layout = Layout(model, "mujoco")
    rest = model.neutral()
    numbers = (layout.to_q(np.arange(model.nq)), layout.to_qd(rest, np.arange(model.nv)))
    return SimulatedBody(spec, shapes, *(np.array(DM(x).full()).ravel().round().astype(int) for x in numbers))


def check_installed() -> None:
    """`ValueError` with the command that installs MuJoCo, if it is not there.

    >>> od.replay.check_installed()  # doctest: +SKIP
    None
    """
    mujoco()


def check_ground(solution: Solution) -> Solution:
    """The solution; `ValueError` for one that the simulated ground, hard and level, cannot carry.

    >>> od.replay.check_ground(solution) is solution
    True
    """
    for phase in solution.phases:
        if phase.planes:
            raise ValueError(
                f"replay has the ground z = 0, and the foothold {next(iter(phase.planes))!r} of phase {phase.name!r} "
                "lies on another plane: replay a walk on level ground"
            )
        soft = [c.name for c in phase.contacts if isinstance(c, (CompliantFoothold, LoadedFoothold))]
        if soft:
            raise ValueError(
                f"replay has hard ground, and the foothold {soft[0]!r} is compliant or loaded: replay a "
                "motion with Foothold"
            )
    contact_shapes(solution)  # raises an error if sizes are missing
    return solution


def check_torques(solution: Solution) -> None:
    """ValueError for a motion that components drive, too: their forces are no part of its torques tau."""
    if solution.channels and not solution.components:
        raise ValueError(
            f"replay has the torques tau alone, and this motion has the channels "
            f"{names_in_message([channel.name for channel in solution.channels])} of components that are not known, as "
            "files do not hold them: give Solution.load(path, components=problem.components)"
        )
    driving = [type(c).__name__ for c in solution.components if type(c).force is not Component.force]
    if driving:
        raise ValueError(
            f"replay has the torques tau alone, and in this motion the forces of {names_in_message(driving)} are added "
            "to them: replay a motion without components that have a force"
        )
