"""The human of the ready problems: feet with their footholds, strengths, costs of effort, distances between the legs.

Problems with a human (`human_walk`, `run`, `jump`, ...) have these parts in common. `human_walk` explains the costs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import HumanDimensions

PIVOT = 0.83
"""Distance from the heel of the edge over which the foot rolls onto its toes, as a fraction of the foot's length.

The center of pressure comes to about this point before the other heel strikes (Hansen et al., Effective foot length
ratio, J. Prosthet. Orthot. 16, 2004: 0.83 in able-bodied people).
"""

HEEL, HEEL_RADIUS = 0.12, 0.2
"""Distance from the rear of the heel to the point that first touches the ground, and radius of the heel's curve, as
fractions of the foot's length. The heel bone carries the load some 3 cm ahead of the rear of the heel. On a sharp edge
at the rear, the torque that lifts the toes would have to be almost twice as large, and the force would dip when the
foot gets flat."""

TOE_RADIUS = 0.3
"""Radius of the round sole of the toes, as a fraction of the foot's length; it touches the ground at the ball when the
toes are level. Assumed: so the toes, 0.28 of the foot's length, have rolled to their ends at 53 degrees, and that is about
the angle at which they leave the ground. Between 0.3 and 0.8 the gait hardly changes."""

CLEARANCE = 0.04
"""Height of the lowest point of the swinging foot, HEEL to PIVOT, in the middle of its swing [m]."""

TOE_OUT = math.radians(6.0)
"""Angle of the feet outwards; 5 to 7 degrees are normal in adults."""

CALF = 2.8
"""Strength of plantar flexion [N m/kg]. Dynamometers measure half of it at best (`ocp_dyn.models.joint_limits`), but the
ankle's moment reaches 3 N m/kg when people run at 3.5 m/s (Schache et al., Med. Sci. Sports Exerc. 43, 2011)."""

ACHILLES = 470.0
"""Stiffness of the Achilles tendon about the ankle [N m/rad] of a man of 73 kg and 1.741 m: 188 N/mm (Lichtwark & Wilson,
J. Exp. Biol. 208, 2005) at a lever arm of 50 mm. It scales with the mass."""

STIFFNESS = {
    "lumbar": 10.0, "hip": 3.0, "hip_l.rz": 12.0, "hip_r.rz": 12.0, "ankle": 3.0, "subtalar": 3.0, "shoulder": 3.0
}  # fmt: skip
"""Stiffness by which joints return to the neutral posture, relative to the knees'."""

ROUNDED_POWER = 60.0
"""Power [W] within which the cost of muscle work is rounded, so that the solver sees no corner."""

UPPER = {"lumbar": np.zeros(3)} | {
    f"{joint}_{side}": x for side in "lr" for joint, x in (("shoulder", np.zeros(3)), ("elbow", 0.0))
}
"""Joints of trunk and arms at rest."""

SHARES = {"loading": (0.04, 0.25), "push_off": (0.02, 0.3), "flat": (0.15, 0.8), "heel_off": (0.15, 0.75)}
"""Bounds on the durations of the phases, as fractions of the time that people take for a step at this speed: wide, so
that effort decides and not they. Normal in percent of a stride: foot flat after 7 to 8, the other foot leaves after 10
to 12, the heel rises at 31 to 40 (Perry & Burnfield, Gait Analysis, 2010)."""


class Feet(NamedTuple):
    """The footholds of one foot: the flat sole, and the edges at heel and toes."""

    flat: ocp.Foothold
    heel: ocp.Foothold
    toes: ocp.Foothold


def feet(model: od.Model, size: HumanDimensions, side: str, **place: Any) -> Feet:
    """A foot flat on the ground from heel to pivot, its round heel, and the edge at the pivot; one place for the three.

    If the foot has toes it is flat up to their joint, and the round sole of the toes takes the place of the edge.
    """
    with_toes = f"toes_{side}" in model.joint_names
    rear, width = HEEL * size.foot_length, size.sole_half_breadth
    front = size.heel + size.ball if with_toes else PIVOT * size.foot_length
    radius = HEEL_RADIUS * size.foot_length
    heel = f"heel_{side}"  # names, so that the problem fits another model that has these frames
    sole = od.Contact(heel, point=((rear + front) / 2, 0, 0))
    flat = ocp.Foothold(sole, half_length=(front - rear) / 2, half_width=width, **place)
    round_heel = od.RollingContact(heel, radius, center=(rear, 0, radius), axis=(0, 1, 0))
    toes = od.RollingContact(heel, radius=0.0, center=(front, 0, 0), axis=(0, 1, 0))
    if with_toes:
        radius = TOE_RADIUS * size.foot_length
        center = (size.ball - size.toe, 0, radius)
        toes = od.RollingContact(f"toe_{side}", radius, center=center, axis=(0, 1, 0))
    return Feet(flat, *(ocp.Foothold(edge, half_width=width, of=flat) for edge in (round_heel, toes)))


def sole_points(side: str, size: HumanDimensions) -> list[tuple[str, tuple[float, float, float]]]:
    """The corners of a sole from the point where the round heel begins to the pivot.

    The rear of the foot is not among them: it is above the round heel, and a sharp corner there would hit the ground
    before the heel strikes.
    """
    width, ends = size.sole_half_breadth, (HEEL * size.foot_length, PIVOT * size.foot_length)
    return [(f"heel_{side}", (x, y, 0.0)) for x in ends for y in (-width, width)]


def separation(size: HumanDimensions, breadths: float = 0.8, facing: str | None = None) -> ocp.Separation:
    """Feet and knees pass each other side by side; breadths: distance of their middles, in breadths of a foot. facing:
    the frame that tells left from right, for walks that turn.

    0.8: heel and arch, which pass the other foot, are narrower than the ball of the foot, where its breadth is measured.
    """
    ends = (0.0, PIVOT * size.foot_length)
    soles = [(("heel_l", (x, 0, 0)), ("heel_r", (u, 0, 0))) for x in ends for u in ends]
    knees = (("shank_l", (0, 0, 0)), ("shank_r", (0, 0, 0)))
    # not at the ends of a swing: there both feet stand, and their footholds determine the distance
    return ocp.Separation([*soles, knees], breadths * size.foot_breadth, ends=False, facing=facing)


def step_length(speed: float, height: float) -> float:
    """Step length that people choose [m], in proportion to height and to the power 0.42 of the speed.

    0.66 m at 1.2 m/s and a height of 1.741 m (Grieve & Gear, 1966).
    """
    return 0.66 * height / 1.741 * math.pow(speed / 1.2, 0.42)


def with_calf(model: od.Model) -> od.Model:
    """The model with the strength of the calf muscles that running shows."""
    lower = dict(zip(model.qd_names, model.dofs.tau_min, strict=True))
    largest = dict(zip(model.qd_names, model.dofs.tau_max, strict=True))
    ankles = [f"ankle_{side}" for side in "lr" if largest.get(f"ankle_{side}", 0) > 0]  # not locked, not prosthetic
    return model.with_limits(effort={ankle: (float(lower[ankle]), CALF * model.mass) for ankle in ankles})


def effort(body: od.Model) -> tuple[Any, ...]:
    """The costs of effort; body: the model with the strengths that dynamometers measure."""
    model = with_calf(body)
    return (
        ocp.TorquePower(2.0, weight=100.0),
        ocp.TorqueRateSquared(weight=0.45, scale=model.dofs.strength()),
        ocp.JointWork(weight=0.05, smoothing=ROUNDED_POWER, tendons=tendons(model)),
        ocp.PassiveTorqueSquared(weight=270.0, scale=tissue(body)),
        ocp.AccelerationSquared(weight=7e-4),
        ocp.JointAngleSquared(weight=1.0, stiffness=stiffness(model)),
    )


def tendons(model: od.Model) -> list[ocp.Tendon]:
    """The Achilles tendons, in series with the muscles of the calves; none at an ankle that does not move, or has no
    muscles."""
    strong = dict(zip(model.qd_names, model.dofs.tau_max, strict=True))
    ankles = (f"ankle_{side}" for side in "lr")
    return [ocp.Tendon(ankle, ACHILLES * model.mass / 73.0) for ankle in ankles if strong.get(ankle, 0) > 0]


def tissue(body: od.Model) -> np.ndarray:
    """Torques with which loads of tissue are compared [N m]: the strength; the tendons of the sole and the springs of
    prosthetic joints are made to be loaded, and cost almost nothing."""
    toes = np.array([name.startswith("toes") for name in body.qd_names])
    prosthetic = (body.dofs.stiffness > 0) & (body.dofs.tau_max == 0)
    return np.where(toes | prosthetic, 1e3, body.dofs.strength())


def stiffness(model: od.Model) -> np.ndarray:
    """Stiffness of passive tissue per dof (nv), relative to the knees'."""
    found = np.ones(model.nv)
    for prefix, value in STIFFNESS.items():
        found[[name.startswith(prefix) for name in model.qd_names]] = value
    return found


def metabolism(solution: ocp.Solution) -> ocp.Metabolism:
    """Metabolic rate of a walk by the formula of Minetti and Alexander (`ocp.MetabolicRate`), which the walk does not
    minimize, and 1.2 W/kg at rest."""
    return solution.metabolic_rate(ocp.MetabolicRate(tendons=tendons(solution.model)))


def peak_torques(solution: ocp.Solution) -> dict[str, float]:
    """Largest torques [N m] of the right leg, the lower back and the right shoulder, in the sagittal plane."""
    shown = ("hip_r.ry", "knee_r", "ankle_r", "lumbar.ry", "shoulder_r.ry")
    return {
        f"peak_torque_{name.replace('.', '_')}_Nm": float(np.abs(solution.tau[:, k]).max())
        for k, name in enumerate(solution.model.qd_names)
        if name.startswith(shown)
    }
