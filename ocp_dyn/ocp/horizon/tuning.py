"""Weights, prices and gains of a horizon: numbers that may change at any step, without a new build."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..._base.checks import not_negative, numbers, positive
from ..._base.types import Array, repr_in_message
from .feet import FLAT, Body

TRIPLES = ("position", "orientation", "velocity", "spin")


@dataclass(frozen=True)
class Tuning:
    """Weights of the costs of a horizon, each the inverse square of an error that matters, integrated over time.

    | field | weight of |
    |---|---|
    | position, orientation | error of the base [m], [rad]: x, y, z each |
    | velocity, spin | error of its velocity [m/s], [rad/s]: x, y, z each |
    | joints, joint_speeds | distance of joints from the posture [rad], their speed [rad/s]: one number, or one each |
    | acceleration | accelerations [rad/s^2, m/s^2] |
    | force | difference of the forces from equal shares of the weight, in weights |
    | torque | torques, in torque limits |
    | foot_xy, foot_z, foot_turn | v - v_ref + foot_gain (p - p_ref) of swinging feet [m/s], [rad/s] |
    | terminal [s] | time for which the error of the last node counts |

    damping [1/s], stiffness [1/s^2]: of the contacts, J qdd + ... = -damping v - stiffness height. mu, mu_yaw: as in
    `ocp.FrictionCone`. joint_price, speed_price, torque_price, cone_price: prices of violated limits, per rad, rad/s,
    N m and N: the plan violates a limit only if the window would be infeasible otherwise. torque_share, speed_share:
    shares of the model's limits that the plan may use.

    >>> ocp.Tuning(torque=0.1).torque_share
    1.0
    """

    position: Any = (200.0, 200.0, 2500.0)
    orientation: Any = (400.0, 400.0, 100.0)
    velocity: Any = (100.0, 100.0, 20.0)
    spin: Any = (4.0, 4.0, 4.0)
    joints: Any = 10.0
    joint_speeds: Any = 0.04
    acceleration: float = 1e-4
    force: float = 2.0
    torque: float = 0.5
    foot_xy: float = 100.0
    foot_z: float = 400.0
    foot_turn: float = 25.0
    foot_gain: float = 10.0
    terminal: float = 0.2
    damping: float = 30.0
    stiffness: float = 100.0
    mu: float = 0.6
    mu_yaw: float = 0.03
    joint_price: float = 1e3
    speed_price: float = 10.0
    torque_price: float = 1e20
    cone_price: float = 1e20
    torque_share: float = 1.0
    speed_share: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value, what = getattr(self, field.name), f"Tuning {field.name}"
            if field.name in TRIPLES:
                found = numbers(value, what)
                if found.size not in (1, 3) or not np.all((found >= 0) & np.isfinite(found)):
                    raise ValueError(f"{what}: one or three finite numbers, 0 or more, got {repr_in_message(value)}")
            elif field.name in ("joints", "joint_speeds"):
                if not np.all((numbers(value, what) >= 0) & np.isfinite(numbers(value, what))):
                    raise ValueError(f"{what}: finite numbers, 0 or more, got {repr_in_message(value)}")
            else:
                not_negative(value, what)
        for name in ("mu", "torque_share", "speed_share"):
            positive(getattr(self, name), f"Tuning {name}")

    def vector(self, body: Body) -> Array:
        """The numbers that the functions of a horizon take."""
        nv, weight = body.nv, body.weight
        strength = body.model.dofs.strength(unlimited=weight)[6:]
        q, qd = np.zeros(nv), np.zeros(nv)
        q[:3], q[3:6], qd[:3], qd[3:6] = self.position, self.orientation, self.velocity, self.spin
        for target, name in ((q, "joints"), (qd, "joint_speeds")):
            value = np.asarray(getattr(self, name), dtype=float)
            if value.shape not in ((), (body.nj,)):
                raise ValueError(f"Tuning {name}: one number, or {body.nj}, one per joint, got {value.shape}")
            target[6:] = value
        force = np.zeros(body.nf)
        for begin, foot in zip(body.begins, body.feet, strict=True):
            arm = (foot.half_length, foot.half_width, foot.half_length) if foot.size == FLAT else ()
            scale = weight * np.array([*arm, 1.0, 1.0, 1.0])
            force[begin : begin + foot.size] = self.force / scale**2
        vectors = {"q": q, "qd": qd, "qdd": np.full(nv, self.acceleration), "force": force}
        names = set(body.settings.shapes) - set(vectors) - {"tau"}
        rest = {name: getattr(self, name) for name in names}
        return body.settings.pack(vectors | rest | {"tau": self.torque / strength**2})


def as_tuning(tuning: Any) -> Tuning:
    """The tuning; TypeError for anything else."""
    if not isinstance(tuning, Tuning):
        raise TypeError(f"tuning must be an ocp.Tuning, got {repr_in_message(tuning)}")
    return tuning
