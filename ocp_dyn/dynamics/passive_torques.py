"""Passive joint forces (springs, tissue, damping, friction), and the inertia of the motors' rotors.

The data belong to the model: `Model.dofs` (`ModelBuilder.add_body(..., stiffness=, rest=, damping=, friction=,
armature=)`), `Model.passive`, elements with nonlinear torques (`ModelBuilder.add_passive`), and `Model.bushings`,
springs between bodies (`Model.with_bushings`). They enter an algorithm's equation of motion only with
`loads=od.Loads(passive=True, armature=True)`, and that of an optimal control problem unless
`ocp.Problem(loads=od.Loads())` leaves them out:

    (H + diag(armature)) qdd + C = tau + passive_force.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import casadi as ca
from casadi import DM

from .._base.autodiff import derivatives
from .._base.checks import positive
from .._base.types import Expr, M, Numbers, as_type, cast_to_matrix, exact
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import SLIP_SPEED
from ..mechanism.passive import Angles, PassiveElement
from .bushing_forces import bushing_energy, bushing_force


@checks_arguments()
def passive_force(model: Model, q: M | Numbers, qd: M | Numbers, *, slip_speed: float = SLIP_SPEED) -> M:
    """tau_p = -stiffness difference(rest, q) + elements(q, qd) - damping qd - friction tanh(qd / slip_speed) (nv)
    [N m, N].

    elements: the sum of `model.passive`, see `ExponentialTorque`, `OneSidedSpring`, `CoordinateLimit` and
    `FormulaTorque`, and of `model.bushings`, see `Bushing`. Springs act along the tangent
    step from `rest` to q: for quaternions on the rotation vector, about body axes. Friction is Coulomb's, smoothed: 96
    % of it at twice the slip speed [rad/s, m/s], so that a joint under a load smaller than its friction creeps instead
    of sticking. O(nv) and the number of elements; O(depth) for a bushing.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("door", od.Revolute("z"), mass=1, inertia=(1, 1, 1), stiffness=10, damping=2)
    >>> od.passive_force(builder.build(), [0.1], [0.5])  # -10 * 0.1 - 2 * 0.5
    DM(-2)
    """
    slip_speed = positive(slip_speed, "slip_speed [rad/s, m/s]")
    damping, friction = exact(model.dofs.damping), exact(model.dofs.friction)
    springs = exact(model.dofs.stiffness) * _stretch(model, q)
    rates = cast_to_matrix(qd)
    elements = _of_elements(model, q, rates) + bushing_force(model, cast_to_matrix(q), rates)
    return as_type(elements - springs - damping * rates - friction * ca.tanh(rates / slip_speed), q)


def passive_derivatives(model: Model, q: M, qd: M, *, slip_speed: float = SLIP_SPEED) -> tuple[M, M]:
    """(d tau_p/dq, d tau_p/d qd) of `passive_force` (nv x nv each); columns of q are tangent directions.

    By qd diagonal, -damping - friction/slip_speed (1 - tanh^2) and the slopes of elements; by q a block per joint with
    springs, diagonal but for
    rotations of three dofs, and an entry where an element on one dof depends on the coordinate of another. O(nv) and
    the number of elements. Bushings are differentiated automatically, and fill both.
    """
    damping, friction = exact(model.dofs.damping), exact(model.dofs.friction)
    slope = -damping - friction / slip_speed * (1 - ca.tanh(qd / slip_speed) ** 2)
    stretches = []
    rests = model.split_q(DM(model.dofs.rest))
    for i, position in enumerate(model.split_q(q)):
        joint = model.joints[i]
        stretch: Expr = DM(joint.nv, joint.nv)
        if any(model.dofs.stiffness[k] for k in model.dofs_of(i)):
            difference = partial(joint.difference, rests[i])
            stretch = derivatives(difference, position, DM(joint.nv, 1), joint.q_dot).jacobian
        stretches.append(stretch)
    springs = ca.diag(exact(model.dofs.stiffness)) @ ca.diagcat(*stretches)
    by_q, by_qd = _slopes_of_elements(model, q, qd)
    by_q, by_qd = by_q - springs, by_qd + ca.diag(slope)
    if model.bushings:
        of_bushings = _slopes_of_bushings(model, q, qd)
        by_q, by_qd = by_q + of_bushings[0], by_qd + of_bushings[1]
    return as_type(by_q, q), as_type(by_qd, q)


def _slopes_of_bushings(model: Model, q: M, qd: M) -> tuple[Expr, Expr]:
    """Derivatives of the forces of bushings by tangents of q, and by qd (nv x nv each)."""
    nq, nv = model.nq, model.nv
    both = derivatives(
        lambda x: bushing_force(model, x[:nq], x[nq:]), ca.vertcat(q, qd), type(q)(2 * nv, 1),
        lambda x, v: ca.vertcat(model.q_dot(x[:nq], v[:nv]), v[nv:]),
    ).jacobian  # fmt: skip
    return both[:, :nv], both[:, nv:]


@checks_arguments()
def spring_energy(model: Model, q: M | Numbers) -> M:
    """V_s = 1/2 difference(rest, q)' diag(stiffness) difference(rest, q) + potentials of `model.passive` [J] and of
    `model.bushings`.

    `-dV_s/dq` is the part of `passive_force` that springs and elements have; for a spherical joint so where its three
    stiffnesses are equal. An element that depends on the coordinate of another dof has no potential and is left out, as
    losses are: its work changes the total energy, `element.potential` tells which. The potential of a constant torque
    is zero at q = 0.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("door", od.Revolute("z"), mass=1, inertia=(1, 1, 1), stiffness=10)
    >>> od.spring_energy(builder.build(), [0.1])  # 10 * 0.1^2 / 2
    DM(0.05)
    """
    k = exact(model.dofs.stiffness)
    stretch = _stretch(model, q)
    energy = ca.dot(k * stretch, stretch) / 2
    for element, angles in _acting(model, q):
        potential = element.potential(angles)
        energy = energy if potential is None else energy + potential
    return as_type(energy + bushing_energy(model, cast_to_matrix(q)), q)


def with_armature(model: Model, H: M) -> M:
    """H + diag(armature): the joint-space inertia including the motors' rotors."""
    return as_type(H + ca.diag(exact(model.dofs.armature)), H)


def armature_force(model: Model, qdd: M | Numbers) -> M:
    """armature qdd (nv) [N m, N]: the forces that accelerate the motors' rotors."""
    return as_type(exact(model.dofs.armature) * cast_to_matrix(qdd), qdd)


def _acting(model: Model, q: M | Numbers) -> Iterator[tuple[PassiveElement, Angles]]:
    """The passive elements, each with the coordinates that it may need."""
    entries = ca.vertsplit(cast_to_matrix(q)) if model.passive else []
    angles = {name: entries[at_q] for name, (at_q, _) in model.passive_entries.items()}
    return ((element, angles) for element in model.passive)


def _of_elements(model: Model, q: M | Numbers, qd: Expr) -> Expr:
    """The torques of the passive elements (nv); structurally zero on dofs without any."""
    sums: list[Expr] = [DM(1, 1)] * model.nv
    for element, angles in _acting(model, q):
        _, at_v = model.passive_entries[element.dof]
        sums[at_v] = sums[at_v] + element.torque(angles) + element.loss(angles, qd[at_v])
    return ca.vertcat(DM(0, 1), *sums)


def _slopes_of_elements(model: Model, q: M, qd: M) -> tuple[Expr, Expr]:
    """Derivatives of the elements' torques by tangents of q, and by qd (nv x nv each), entries only where an element
    has one."""
    total, by_rates = type(q)(model.nv, model.nv), type(q)(model.nv, model.nv)
    for element, angles in _acting(model, q):
        _, row = model.passive_entries[element.dof]
        loss = element.loss_slopes(angles, qd[row])
        for part in (element.slopes_at(angles), loss[0]):
            for name, slope in part.items():
                column = model.passive_entries[name][1]
                total[row, column] = total[row, column] + slope
        if loss[1].nnz():
            by_rates[row, row] = by_rates[row, row] + loss[1]
    return total, by_rates


def _stretch(model: Model, q: Expr) -> Expr:
    """The tangent step from rest to q (nv) of the joints with springs; structurally zero for the others."""
    parts = []
    rests = model.split_q(DM(model.dofs.rest))
    for i, position in enumerate(model.split_q(q)):
        joint = model.joints[i]
        stiff = any(model.dofs.stiffness[k] for k in model.dofs_of(i))
        parts.append(joint.difference(rests[i], position) if stiff else DM(joint.nv, 1))
    return ca.vertcat(*parts)
