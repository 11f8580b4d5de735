"""Pictures of a planar step on point feet: sticks, torques beside those under virtual constraints, zero dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

from ...dynamics.kinematics import point_position
from ...dynamics.rnea_crba_aba import mass_matrix
from ...ocp import Solution
from ...viz.drawing import figure, save
from .zero_dynamics import ZeroDynamics, phase_angle


def plot_zero_dynamics(solution: Solution, zero: ZeroDynamics, path: str | Path | None = None) -> Any:
    """A step of the five-link biped in sticks, its torques beside those under virtual constraints, and orbits of its
    zero dynamics."""
    made = figure(14, 4.4)
    made.set_layout_engine("constrained")
    sticks, efforts, portrait = made.subplots(1, 3, width_ratios=(0.8, 1, 1))
    _sticks(sticks, solution)
    t, tau = _torques(solution)
    theta = np.linspace(*zero.constraints[1:], 300)
    here = zero.at(theta, zero.along(theta))
    time = np.concatenate([[0.0], np.cumsum(np.diff(theta) * (1 / here["rate"][1:] + 1 / here["rate"][:-1]) / 2)])
    for k, name in enumerate(solution.model.joint_names[1:]):
        efforts.plot(t, tau[:, k], color=f"C{k}", label=name.replace("_", " "))
        efforts.plot(time, here["tau"][:, k], color=f"C{k}", ls="--", lw=1)
    efforts.set(title="torques (dashed: under virtual constraints)", xlabel="time [s]", ylabel="torque [N m]")
    efforts.legend(frameon=False, fontsize="small")
    _portrait(portrait, solution, zero)
    save(made, path, dpi=120)
    return made


def _torques(solution: Solution) -> tuple[Any, Any]:
    """Times (2 n) and torques of the motors (2 n, 4) at both ends of every interval."""
    step = solution.phases[0]
    half = np.diff(step.t)[:, None] / 2 * step.tau_rate
    ends = np.stack([step.tau - half, step.tau + half], axis=1)
    return np.column_stack([step.t[:-1], step.t[1:]]).ravel(), ends.reshape(-1, ends.shape[-1])[:, 1:]


def _sticks(axes: Any, solution: Solution) -> None:
    model, step = solution.model, solution.phases[0]
    legs = {"stance": ("stance_foot", "stance_femur", "hip"), "swing": ("hip", "swing_tibia", "swing_foot")}
    chosen = np.linspace(0, len(step.q) - 1, 9).astype(int)
    for k in chosen:
        for name, color, frames in (("torso", "0.3", ("hip", "head")),
            *zip(legs, ("C0", "C1"), legs.values(), strict=True)):  # fmt: skip
            points = np.array([point_position(model, f, DM(step.q[k])).full().ravel() for f in frames])
            label = name if k == chosen[-1] else None
            axes.plot(points[:, 0], points[:, 2], color=color, alpha=0.2 + 0.8 * k / chosen[-1], label=label)
    axes.axhline(0.0, color="0.6", lw=1)
    axes.set(aspect="equal", title="one step", xlabel="x [m]", ylabel="z [m]", xlim=(-0.75, 0.6))
    axes.legend(frameon=False, fontsize="small", loc="upper left")


def _portrait(axes: Any, solution: Solution, zero: ZeroDynamics) -> None:
    """Plot of |sigma| over theta: orbits, the gait with its strike, and the orbit just past the highest point."""
    step, (_, begin, end) = solution.phases[0], zero.constraints
    theta = np.linspace(begin, end, 400)
    V = zero.potential(theta)
    fixed = zero.delta_squared * zero.sigma**2 / 2
    for level in (0.5, 0.75, 1.5, 2.0, 2.5):
        left = level * fixed - V
        axes.plot(theta, np.sqrt(np.where(left > 0, 2 * left, np.nan)), color="0.75", lw=1)
    axes.plot(theta, np.sqrt(2 * np.maximum(zero.top - V, 0.0)), "k--", lw=1, label="just past the highest point")
    gait = np.sqrt(2 * (fixed - V))
    axes.plot(theta, gait, "C0", lw=2, label="gait under virtual constraints")
    axes.plot([end, begin], gait[[-1, 0]], "C0:", label=f"strike, $\\delta_0^2$ = {zero.delta_squared:.3f}")
    sigma = [float((mass_matrix(solution.model, DM(q)) @ DM(qd))[0]) for q, qd in zip(step.q, step.qd, strict=True)]
    axes.plot([phase_angle(q) for q in step.q], np.abs(sigma), "C3.", ms=3, label="step of least torque")
    axes.set(
        title="zero dynamics", xlabel=r"$\theta$ [rad]", ylabel=r"$|\sigma|$ [N m s]", ylim=(-0.4 * gait.max(), None)
    )
    axes.legend(frameon=False, fontsize="small", loc="lower left", ncols=2)
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= axes.get_ylim()[1]])
