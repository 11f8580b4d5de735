"""A tumbling satellite with a turning arm, simulated by SciPy: its attitude is a quaternion in q."""

from __future__ import annotations

from typing import Any

import numpy as np

import ocp_dyn as od


def satellite() -> od.Model:
    """A free body with an arm on a hinge, without gravity."""
    builder = od.ModelBuilder("satellite", gravity=(0, 0, 0))
    builder.add_body("bus", od.FloatingBase(), mass=10, inertia=(1, 2, 3))
    builder.add_body(
        "arm", od.Revolute("y"), "bus", origin=(0.5, 0, 0), mass=2, com=(0, 0, -0.4), inertia=(0.1, 0.1, 0.02)
    )
    return builder.build()


def simulated(model: od.Model, q: np.ndarray, qd: np.ndarray, duration: float) -> Any:
    """SciPy's solution of the free motion from (q, qd); rows of y are the entries of q, then those of qd."""
    from scipy.integrate import solve_ivp

    FD, rate = od.function(od.forward_dynamics, model), od.function(q_rate, model, signature="q qd -> q_dot")

    def right_hand_side(t: float, x: np.ndarray) -> np.ndarray:
        q, qd = x[: model.nq], x[model.nq :]
        rates = rate(q, qd), FD(q, qd, np.zeros(model.nv))
        return np.concatenate([x.full().ravel() for x in rates])

    return solve_ivp(right_hand_side, (0, duration), np.concatenate([q, qd]), rtol=1e-9, atol=1e-9)


def q_rate(model: od.Model, q: Any, qd: Any) -> Any:
    """dq/dt: not qd itself, as q holds a quaternion and qd an angular velocity."""
    return model.q_dot(q, qd)
