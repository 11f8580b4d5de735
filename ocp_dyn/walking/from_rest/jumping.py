"""Jumps of people: the height of a flight, what is uneven between left and right, the figures of a report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from casadi import DM

from ...dynamics.kinematics import point_position
from ...dynamics.momentum import center_of_mass, center_of_mass_velocity
from ...mechanism import Model
from ...ocp import Instant, Solution
from ...symmetry.mirror import mirror_map
from ..report_figures import peak_torques


def ballistic_height(instant: Instant) -> Any:
    """Height that the center of mass reaches in flight [m], `c_z + c_z'^2 / (2 g)`.

    As a bound on the height of the apex at all nodes of the flight, it prevents the solver from exploiting errors of
    the grid.

    >>> model = od.models.human(root=od.FloatingBase())
    >>> rising = ocp.Instant(model, ca.DM(model.neutral()), ca.DM([0, 0, 3, *np.zeros(model.nv - 3)]))
    >>> round(float(od.walking.ballistic_height(rising)), 2)  # 9 m^2/s^2 / (2 g) above where it is
    0.53
    """
    speed = center_of_mass_velocity(instant.model, instant.q, instant.qd)[2]
    return center_of_mass(instant.model, instant.q)[2] + speed**2 / (2 * float(np.linalg.norm(instant.model.gravity)))


def unevenness(model: Model) -> Callable[[Any], Any]:
    """A function of q: coordinates of the left joints minus those of the mirrored right ones.

    >>> model = od.models.human()
    >>> uneven = od.walking.unevenness(model)
    >>> float(ca.norm_2(uneven(ca.DM(model.neutral()))))
    0.0
    """
    mirror, joints = mirror_map(model), [name for name in model.joint_names if name.endswith("_l")]
    left = [k for name in joints for k in range(*model.q_slice(name).indices(model.nq))]
    return lambda q: (q - mirror.q(q))[left]


def jump_figures(solution: Solution) -> dict[str, Any]:
    """Numbers of a jump beside its summary: heights above that of standing upright, times, peak force and power, joint
    torques. Phases: on flat feet, on the toes, in flight."""
    model, (flat, toes, flight) = solution.model, solution.phases
    q = DM(model.neutral())
    upright = float(center_of_mass(model, q)[2] - point_position(model, "heel_l", q)[2])
    heights = [float(center_of_mass(model, DM(q))[2]) for q in solution.q]
    vertical = np.concatenate([sum(w[:, 5] for w in phase.wrenches.values()) for phase in (flat, toes)])
    power = (toes.tau * (toes.qd[:-1] + toes.qd[1:]) / 2).sum(axis=1).max()
    return {
        "jump_height_m": heights[-1] - upright,
        "take_off_speed_m_per_s": float(center_of_mass_velocity(model, DM(flight.q[0]), DM(flight.qd[0]))[2]),
        "rise_before_take_off_m": float(center_of_mass(model, DM(flight.q[0]))[2]) - upright,
        "countermovement_m": upright - min(heights),
        "push_off_s": flat.duration + toes.duration,
        "on_toes_s": toes.duration,
        "peak_vertical_force_of_both_feet_body_weights": float(vertical.max()) / model.weight,
        "peak_power_W_per_kg": float(power) / model.mass,
        **peak_torques(solution),
    }
