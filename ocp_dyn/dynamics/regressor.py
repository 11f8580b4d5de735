"""The regressor Y of inverse dynamics, linear in inertial parameters: `ID(q, qd, qdd) = Y(q, qd, qdd) pi` [RBDA, 9.7;
Atkeson et al. 1986], and those of the energies.

Ten parameters a body, body after body, about the origin of the body's frame and along its axes:

    pi_i = (m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz),     h = m c,  [kg, kg m, kg m^2].
"""

from __future__ import annotations

import casadi as ca
from casadi import DM

from .._base.types import Expr, M, Numbers, as_type
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.parameters import MODEL_PARAMETERS, inertia_parameters
from ..spatial_algebra.spatial import halves, skew
from .recursions import accelerations, joint_states, minus_gravity, poses, velocities
from .subtrees import matrix_by_bodies

PARAMETERS = MODEL_PARAMETERS["inertia"].entries
"""Names of a body's parameters, in their order."""


@checks_arguments()
def inertial_parameters(model: Model) -> Expr:
    """pi (10 nb) of a model, a DM unless its inertias hold symbols. Moving bodies, with what is merged into them.

    >>> od.inertial_parameters(rod)
    DM([1, 0, 0, -0.5, 0.333333, 0, 0.333333, 0, 0, 0])
    """
    parts: list[Expr] = [DM(0, 1)]
    for body in model.I[1:]:
        parts.append(inertia_parameters(body))
    return ca.densify(ca.vertcat(*parts))


@checks_arguments()
def parameter_names(model: Model) -> tuple[str, ...]:
    """A name for every entry of pi: "thigh.m", "thigh.hx" and so on.

    >>> od.parameter_names(rod)[:4]
    ('link1.m', 'link1.hx', 'link1.hy', 'link1.hz')
    """
    return tuple(f"{body}.{name}" for body in model.body_names for name in PARAMETERS)


@checks_arguments()
def inverse_dynamics_regressor(model: Model, q: M | Numbers, qd: M | Numbers, qdd: M | Numbers) -> M:
    """Y (nv x 10 nb) with `ID(q, qd, qdd) = Y pi`, gravity included.

    A body's parameters act on the joints that support it: the other blocks are structurally zero. Y does not depend
    on the model's inertias. Units: of tau by those of pi. O(nb depth).

    >>> Y = od.inverse_dynamics_regressor(rod, [np.pi / 6], [0.0], [0.0])
    >>> Y @ od.inertial_parameters(rod)  # the torque of `inverse_dynamics`
    DM(2.4525)
    """
    states = joint_states(model, q, qd)
    v, _ = velocities(model, states)
    a, _ = accelerations(model, states, v, qdd, ground=minus_gravity(model))
    beyond: list[Expr] = [DM(6, 0)] * (model.nb + 1)  # forces across the joints behind body i, per parameter
    rows: dict[int, Expr] = {}
    for i, p in reversed(list(model.edges)):
        F = ca.horzcat(_body_regressor(v[i], a[i]), beyond[i])
        rows[i] = states[i].S.T @ F
        if p:
            beyond[p] = ca.horzcat(states[i].XJ.apply_transpose(F), beyond[p])
    return as_type(matrix_by_bodies(model, rows, len(PARAMETERS)), q)


@checks_arguments()
def kinetic_energy_regressor(model: Model, q: M | Numbers, qd: M | Numbers) -> M:
    """Y_T (1 x 10 nb) with `kinetic_energy = Y_T pi` [J]; body by body, with w and v of its origin in body axes,

        T = 1/2 m v.v + h . (v x w) + 1/2 w' I w.

    Y_T does not depend on the model's inertias. O(nb).

    >>> od.kinetic_energy_regressor(rod, [0.0], [6.0]) @ od.inertial_parameters(rod)  # m l^2 / 6 qd^2
    DM(6)
    """
    states = joint_states(model, q, qd)
    motions, _ = velocities(model, states)
    rows: list[Expr] = [DM(1, 0)]
    for i, _ in model.edges:
        w, v = halves(motions[i])
        rows.append(ca.horzcat(ca.dot(v, v) / 2, ca.cross(v, w).T, w.T @ _by_inertia(w) / 2))
    return as_type(ca.horzcat(*rows), q)


@checks_arguments()
def potential_energy_regressor(model: Model, q: M | Numbers) -> M:
    """Y_V (1 x 10 nb) with `potential_energy = Y_V pi` [J]; body by body, with R, p its pose in the world,

        V = -g . (m p + R h).

    Y_V does not depend on the model's inertias. O(nb).

    >>> od.potential_energy_regressor(rod, [0.0]) @ od.inertial_parameters(rod)  # -m g l/2
    DM(-4.905)
    """
    X0 = poses(model, joint_states(model, q))
    g = model.gravity_vector
    rows: list[Expr] = [DM(1, 0)]
    for i, _ in model.edges:
        rows.append(-ca.horzcat(ca.dot(g, X0[i].r), (X0[i].E @ g).T, DM(1, 6)))
    return as_type(ca.horzcat(*rows), q)


def _body_regressor(v: Expr, a: Expr) -> Expr:
    """A (6 x 10) with `A pi_i = I a + v x* I v`, column by column, from the equations of Newton and Euler."""
    (w, vo), (dw, ao) = halves(v), halves(a)
    ac = ao + ca.cross(w, vo)
    W, A = skew(w), skew(ac)
    moment = ca.horzcat(DM(3, 1), -A, _by_inertia(dw) + W @ _by_inertia(w))
    force = ca.horzcat(ac, skew(dw) + W @ W, DM(3, 6))
    return ca.vertcat(moment, force)


def _by_inertia(w: Expr) -> Expr:
    """L(w) (3 x 6) with `I w = L(w) (Ixx, Ixy, Iyy, Ixz, Iyz, Izz)`."""
    x, y, z = ca.vertsplit(w)
    o = type(w)(1, 1)
    return ca.blockcat([[x, y, o, z, o, o], [o, x, y, o, z, o], [o, o, o, x, y, z]])
