"""Inverse dynamics and products of contacts with first and second derivatives, as Functions for nonlinear programs."""

from __future__ import annotations

from typing import Literal

import casadi as ca
from casadi import SX

from ..constraints import Contact, RollingContact
from ..derivatives.frames import frame_power
from ..derivatives.second import inverse_dynamics_both_orders
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from ..mechanism.reduction import split_joints
from .cheapest_equivalent import cheapest_equivalent
from .raw_coordinates import by_entries, hessian_by_entries, tangent_map


@kept_per_model
def dynamics_derivatives(model: Model) -> ca.Function:
    """(q, qd, qdd, mu) -> (d tau, gradient and Hessian of mu' tau) by (q, qd, qdd) side by side, made once per model.

    Common subexpressions are not merged: that takes longer than everything else, and saves 2 % of a block's operations.
    """
    sizes = model.nq, *[model.nv] * 3
    symbols = [SX.sym(name, size) for name, size in zip(("q", "qd", "qdd", "mu"), sizes, strict=True)]
    return ca.Function("ID_differentiated", symbols, inverse_dynamics_differentiated(model, *symbols))


def inverse_dynamics_differentiated(model: Model, q: SX, qd: SX, qdd: SX, mu: SX) -> tuple[SX, SX, SX]:
    """dtau (nv x n), and gradient (n) and Hessian (n x n) of mu' tau, by the n entries of (q, qd, qdd) side by side.

    The same derivatives that a Function with derivatives=2 finds, here as expressions. They are computed on the
    dynamically equivalent model with the fewest operations.
    """
    model = split_joints(cheapest_equivalent(model))
    T = tangent_map(model, q)
    first, second = inverse_dynamics_both_orders(model, q, qd, qdd, mu)
    gradient, H = by_entries(model, q, second, T)
    return SX(ca.horzcat(first[0] @ T, *first[1:])), SX(ca.vertcat(*gradient)), SX(ca.blockcat(H))


# Contacts


Product = Literal["force", "velocity"]
"""The product of a contact's G that is differentiated: G' lam or G qd."""


@kept_per_model
def contact_product(model: Model, contact: Contact | RollingContact, product: Product) -> ca.Function:
    """(q, lam) -> G' lam, or (q, qd) -> G qd, made once per model."""
    q, lam, qd = _symbols(model, contact)
    G = contact.jacobian(model, q)
    force = product == "force"
    return ca.Function(product, [q, lam if force else qd], [G.T @ lam if force else G @ qd], {"cse": True})


@kept_per_model
def contact_derivatives(model: Model, contact: Contact | RollingContact, product: Product) -> ca.Function:
    """(q, y, mu) -> (de, gradient and Hessian of mu' e) by (q, y) side by side, made once per model; y = lam of
    e = G' lam, y = qd of e = G qd. ValueError where `frame_power` has none."""
    return _both_derivatives(model, contact)[product]


@kept_per_model
def _both_derivatives(model: Model, contact: Contact | RollingContact) -> dict[Product, ca.Function]:
    """The derivatives of both products, which are those of one power."""
    q, lam, qd = _symbols(model, contact)
    rows, split = contact.motion_rows, split_joints(model)
    power = frame_power(split, rows.frame, q, qd, rows.R.T @ lam, rows.point, rows.arm)
    T = tangent_map(split, q)
    G, force_q, velocity_q = rows.R @ power.J, power.JW_q @ T, rows.R @ power.Jx_q @ T
    by_q, q_q = T.T @ power.L_q, hessian_by_entries(split, q, power.L_q, power.L_qq, T)

    def function(product: Product, y: SX, mu: SX, e_q: SX, e_y: SX, y_q: SX) -> ca.Function:
        hessian = ca.blockcat([[q_q, y_q.T], [y_q, SX(*[y.shape[0]] * 2)]])
        outputs = [ca.horzcat(e_q, e_y), ca.vertcat(by_q, e_y.T @ mu), hessian]
        return ca.Function(f"{product}_differentiated", [q, y, mu], outputs)

    return {
        "force": function("force", lam, qd, force_q, G.T, velocity_q),
        "velocity": function("velocity", qd, lam, velocity_q, G, force_q),
    }


def _symbols(model: Model, contact: Contact | RollingContact) -> tuple[SX, SX, SX]:
    """q, lam and qd."""
    return SX.sym("q", model.nq), SX.sym("lam", len(contact.rows)), SX.sym("qd", model.nv)
