"""One interval of the motion, in the implicit and in the explicit form.

Each writes its gaps into `rows` and returns the stage that path constraints and objectives look at.
"""

from __future__ import annotations

from collections.abc import Callable

from casadi import SX

from .._types import Expr
from ..constrained import constrained_dynamics
from ..constraints import constraint_jacobian
from ..dynamics import forward_dynamics, inverse_dynamics
from ..functions import function
from ..model import Model
from .nlp import Rows
from .problem import Phase
from .stage import Stage
from .variables import FORCE_SCALE, Transcription, contacts, full_tau, places, wrenches


def implicit_step(t: Transcription, phase: Phase, z: dict[str, SX], h: SX, rows: Rows) -> Stage:
    """Implicit midpoint: a, tau, lam are variables; every foot's pose is kept at the end of the interval."""
    model, feet = t.problem.model, phase.footholds
    vm = z["v"] + h / 2 * z["a"]
    qm = model.integrate(z["q"], h / 2 * vm)
    tau = full_tau(t.problem, z["tau"])
    force = function(inverse_dynamics, model)(qm, vm, z["a"]) - tau
    lam = z.get("lam", SX(0, 1))
    here = places(t, feet, z)
    if feet:
        force = force - constraint_jacobian(model, contacts(feet), qm).T @ lam
    rows.constrain("velocity step", z["v1"] - z["v"] - h * z["a"])
    rows.constrain("position step", z["q1"] - model.integrate(z["q"], h * vm))
    rows.constrain("dynamics", force, scale=FORCE_SCALE)
    for f in feet:
        rows.constrain(f"pose of {f.name}", f.position(model, z["q1"], here[f]))
    return Stage(model, qm, vm, a=z["a"], tau=tau, wrenches=wrenches(feet, lam), places=here, values=z)


def explicit_step(t: Transcription, phase: Phase, z: dict[str, SX], h: SX, rows: Rows) -> Stage:
    """RK4 or semi-implicit Euler: qdd and lam follow from tau by (constrained) forward dynamics."""
    model, feet = t.problem.model, phase.footholds
    tau = full_tau(t.problem, z["tau"])

    def rate(q: Expr, v: Expr) -> tuple[Expr, Expr]:
        if not feet:
            return function(forward_dynamics, model)(q, v, tau), SX(0, 1)
        a, lam = function(constrained_dynamics, model, contacts(feet))(q, v, tau)
        return a, lam

    q, v = z["q"], z["v"]
    a, lam = rate(q, v)
    if t.problem.integrator == "euler":
        v1 = v + h * a
        q1 = model.integrate(q, h * v1)
    else:
        q1, v1 = rk4(model, lambda q, v: rate(q, v)[0], q, v, a, h)
    rows.constrain("velocity step", z["v1"] - v1)
    rows.constrain("position step", z["q1"] - q1)
    here = places(t, feet, z)
    return Stage(model, q, v, a=a, tau=tau, wrenches=wrenches(feet, lam), places=here, values=z)


def rk4(model: Model, rate: Callable[[Expr, Expr], Expr], q: Expr, v: Expr, a1: Expr, h: Expr) -> tuple[Expr, Expr]:
    """One classical Runge-Kutta step of (dq/dt, dv/dt) = (q_dot(q, v), rate(q, v)); a1 = rate(q, v)."""
    k1, v2 = model.q_dot(q, v), v + h / 2 * a1
    q2 = q + h / 2 * k1
    a2, k2 = rate(q2, v2), model.q_dot(q2, v2)
    q3, v3 = q + h / 2 * k2, v + h / 2 * a2
    a3, k3 = rate(q3, v3), model.q_dot(q3, v3)
    q4, v4 = q + h * k3, v + h * a3
    a4, k4 = rate(q4, v4), model.q_dot(q4, v4)
    return q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
