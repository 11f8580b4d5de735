"""Initial states that keep the constraints: assembly of q and qd, in numbers [F16, eqs. 8, 9]."""

from __future__ import annotations

from typing import Any

import numpy as np
from casadi import DM

from .._base.checks import whole
from .._base.types import Array, finite, finite_vector
from ..constraints import Constraints, constraint_jacobian, constraint_position, constraint_rows, constraint_velocity
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments, column_of_numbers

LEAST_SINGULAR_VALUE = 1e-10
"""Singular values of G below this fraction of the largest are taken as zero."""


class AssemblyError(ValueError):
    """No state that keeps the constraints was found; `best` is the nearest, `error` its largest violation.

    >>> loop = od.Loop("link1", "tip", "ball", predecessor_pose=(np.eye(3), (3.0, 0.0, 0.0)))  # out of reach: 3 m
    >>> try:
    ...     od.assemble_q(arm, [loop], [0.1, 0.1])
    ... except od.AssemblyError as error:
    ...     print(error.error > 1.0)
    True
    """

    def __init__(self, message: str, best: Array, error: float) -> None:
        super().__init__(message)
        self.best = best
        self.error = error


@checks_arguments()
def assemble_q(
    model: Model,
    constraints: Constraints,
    q0: Any,
    weights: Any = None,
    *,
    tolerance: float = 1e-12,
    iterations: int = 100,
    t: Any = None,
) -> Array:
    """The q (nq) near q0 with phi(q) = 0: the least step v = difference(q0, q), by v' diag(weights) v.

    weights (nv, positive; default ones): a heavy dof moves little. tolerance: on the largest |phi| [m, sine]. Newton
    steps on the manifold, halved while they do not help, first to the constraints, then along them to the nearest
    point. Redundant rows are allowed. AssemblyError where no such q is found.

    >>> pin = od.Contact("tip", axes="xz", reference=(np.eye(3), (-1.0, 0.0, -1.0)))
    >>> np.degrees(od.assemble_q(arm, [pin], [1.5, -1.0])).round(6).tolist()
    [90.0, -90.0]
    """
    whole(iterations, "assemble_q: iterations")
    tolerance = finite(tolerance, "assemble_q: tolerance")
    start = column_of_numbers(q0, model.nq, "q0", model.q_names)
    W = _weights(model, weights)
    q, error = _reach(model, constraints, start, W, tolerance, iterations, t)
    if not error <= tolerance:
        row = constraint_rows(constraints)[int(np.argmax(np.abs(_phi(model, constraints, q, t))))]
        raise AssemblyError(
            f"no configuration near q0 keeps the constraints: after {iterations} steps the largest error is "
            f"{error:.3g}, that of {row}, tolerance {tolerance:g}. Start nearer, or check that the mechanism can close",
            np.array(q.full()).ravel(),
            error,
        )
    for _ in range(iterations):
        v = np.array(model.difference(start, q).full()).ravel()
        along = v - _least(_G(model, constraints, q, t) / W, _G(model, constraints, q, t) @ v) / W
        if np.max(np.abs(along), initial=0.0) < 1e-10:
            break
        closer, error = _reach(model, constraints, model.integrate(q, DM(-along)), W, tolerance, iterations, t)
        v_closer = np.array(model.difference(start, closer).full()).ravel()
        if not error <= tolerance or np.linalg.norm(W * v_closer) >= np.linalg.norm(W * v):
            break
        q = closer
    return np.array(q.full()).ravel()


@checks_arguments(own=("q",))
def assemble_qd(
    model: Model,
    constraints: Constraints,
    q: Any,
    qd0: Any,
    weights: Any = None,
    *,
    tolerance: float = 1e-9,
    t: Any = None,
) -> Array:
    """The qd (nv) nearest to qd0, by diag(weights), whose velocity errors are zero at q.

    AssemblyError where the constraints contradict each other at q (a redundant set on moving ground).

    >>> gear = od.JointCoupling("joint2", "joint1", ratio=1.0)
    >>> od.assemble_qd(arm, [gear], [0.0, 0.0], [1.0, 3.0]).round(6).tolist()  # both joints at the mean speed
    [2.0, 2.0]
    """
    tolerance = finite(tolerance, "assemble_qd: tolerance")
    q, qd = column_of_numbers(q, model.nq, "q", model.q_names), column_of_numbers(qd0, model.nv, "qd0", model.qd_names)
    W = _weights(model, weights)
    velocity = np.array(constraint_velocity(model, constraints, q, qd, t=t).full()).ravel()
    result = np.array(qd.full()).ravel() - _least(_G(model, constraints, q, t) / W, velocity) / W
    left = np.array(constraint_velocity(model, constraints, q, DM(result), t=t).full())
    error = float(np.max(np.abs(left), initial=0.0))
    if not error <= tolerance * (1 + np.max(np.abs(velocity), initial=0.0)):
        raise AssemblyError(
            f"the constraints contradict each other at q: the least velocity error is {error:.3g}", result, error
        )
    return result


def _reach(
    model: Model, constraints: Constraints, q: DM, W: Array, tolerance: float, iterations: int, t: Any
) -> tuple[DM, float]:
    """Newton's method for phi = 0 from q, with steps of least norm in the weights W; returns (q, largest |phi|)."""
    phi = _phi(model, constraints, q, t)
    for _ in range(iterations):
        ahead = None if np.max(np.abs(phi), initial=0.0) <= tolerance else _step(model, constraints, q, phi, W, t)
        if ahead is None:
            break
        q, phi = ahead
    return q, float(np.max(np.abs(phi), initial=0.0))


def _step(model: Model, constraints: Constraints, q: DM, phi: Array, W: Array, t: Any) -> tuple[DM, Array] | None:
    """The position and phi after a step that makes phi smaller; None if there is none.

    In mechanisms with rows that depend on the others only where all are kept, such as Bricard's, G is of full rank
    beside the assembled positions, with a singular value as small as the distance to them. A full step would go far
    along it. So a step without small singular values comes first; it is taken if it halves the error.
    """
    G, size = _G(model, constraints, q, t) / W, np.linalg.norm(phi)
    small = np.sqrt(size / max(np.linalg.norm(G), size))
    for least, halvings, enough in ((small, 1, size / 2), (LEAST_SINGULAR_VALUE, 12, size)):
        step = -_least(G, phi, least) / W
        for halving in range(halvings):
            ahead = model.integrate(q, DM(step / 2**halving))
            phi_ahead = _phi(model, constraints, ahead, t)
            if np.linalg.norm(phi_ahead) < enough:
                return ahead, phi_ahead
    return None


def _least(A: Array, b: Array, least: float = LEAST_SINGULAR_VALUE) -> Array:
    """The least-norm x among those that minimize |A x - b|; least: singular values below this fraction of the largest
    are taken as zero."""
    if not (np.all(np.isfinite(A)) and np.all(np.isfinite(b))):
        raise ValueError("the constraints are not finite at this configuration: a quaternion must not be zero")
    return np.asarray(np.linalg.lstsq(A, b, rcond=least)[0])


def _phi(model: Model, constraints: Constraints, q: DM, t: Any) -> Array:
    return np.array(constraint_position(model, constraints, q, t=t).full()).ravel()


def _G(model: Model, constraints: Constraints, q: DM, t: Any) -> Array:
    return np.array(constraint_jacobian(model, constraints, q, t=t).full())


def _weights(model: Model, weights: Any) -> Array:
    """Square roots of the weights."""
    values = (
        np.ones(model.nv)
        if weights is None
        else finite_vector(weights, model.nv, "assembly weights", names=model.qd_names)
    )
    if np.any(values <= 0):
        raise ValueError("assembly weights must be positive, one per dof: a heavy dof moves little")
    return np.sqrt(values)
