"""Steps on the configuration manifold and their Jacobians, as algorithms; the methods of `Model` have the same names.

Configurations q (nq) do not form a vector space where a joint has a quaternion. Steps are tangent vectors v (nv):
`integrate(q, v)` is q moved by v, `difference(q0, q1)` the step from q0 to q1. Both work joint by joint, so their
Jacobians are block diagonal.
"""

from __future__ import annotations

from .._base.types import Expr, M, Numbers
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments


@checks_arguments()
def integrate(model: Model, q: M | Numbers, v: M | Numbers) -> M:
    """q' (nq), reached from q by the tangent step v (nv) [rad, m]: every joint moves at constant velocity v for unit
    time.

    >>> body = od.models.human()
    >>> q = od.integrate(body, body.neutral(), 0.1 * np.ones(29))  # 29 numbers move 30
    >>> q.shape
    (30, 1)
    """
    moved: M = model.integrate(q, v)
    return moved


@checks_arguments()
def difference(model: Model, q0: M | Numbers, q1: M | Numbers) -> M:
    """v (nv) [rad, m], the tangent step with `integrate(q0, v) = q1`; rotations by the shorter way.

    >>> od.difference(arm, [0.1, 0.2], [0.3, 0.1])
    DM([0.2, -0.1])
    """
    step: M = model.difference(q0, q1)
    return step


@checks_arguments()
def interpolate(model: Model, q0: M | Numbers, q1: M | Numbers, s: Expr) -> M:
    """The configuration (nq) at the fraction s of the way from q0 to q1, `integrate(q0, s difference(q0, q1))`.

    Rotations turn at constant velocity by the shorter way. s = 0 gives q0, s = 1 gives q1.

    >>> od.interpolate(arm, [0.0, 0.0], [1.0, 2.0], 0.25)
    DM([0.25, 0.5])
    """
    between: M = model.interpolate(q0, q1, s)
    return between


@checks_arguments()
def d_integrate(model: Model, q: M | Numbers, v: M | Numbers) -> tuple[M, M]:
    """(dq'/dq, dq'/dv) (nv x nv each), the Jacobians of `q' = integrate(q, v)` by tangent steps of q and by v.

        integrate(integrate(q, e), v + w) = integrate(q', dq'/dq e + dq'/dv w)   to first order in e and w.

    The identity but for rotations by quaternions: there R(v)' and Jr(v), the right Jacobian of the exponential map,
    see `rotation_vector_jacobian`. Block diagonal. O(nb).

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("ball", od.Spherical(), mass=1, inertia=(1, 1, 1))
    >>> od.d_integrate(builder.build(), [0, 0, 0, 1], [0, 0, np.pi / 2])[1]  # Jr(v): 2/pi, and 1 along v
    DM(
    [[0.63662, 0.63662, 0],
     [-0.63662, 0.63662, 0],
     [0, 0, 1]])
    """
    by_q, by_v = model.d_integrate(q, v)
    return by_q, by_v


@checks_arguments()
def d_difference(model: Model, q0: M | Numbers, q1: M | Numbers) -> tuple[M, M]:
    """(dv/dq0, dv/dq1) (nv x nv each), the Jacobians of `v = difference(q0, q1)` by tangent steps of q0 and of q1.

        difference(integrate(q0, e), integrate(q1, w)) = v + dv/dq0 e + dv/dq1 w   to first order in e and w.

    Minus the identity and the identity but for rotations by quaternions: there -Jr(-v)^-1 and Jr(v)^-1. Block diagonal.
    O(nb).

    >>> od.d_difference(arm, [0.0, 0.0], [0.1, 0.2])[0]
    DM(
    [[-1, 00],
     [00, -1]])
    """
    by_0, by_1 = model.d_difference(q0, q1)
    return by_0, by_1
