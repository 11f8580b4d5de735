"""Derivatives of contact forces and contact velocities, by formulas on the motion of a frame: against AD."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import SX

import ocp_dyn as od
from ocp_dyn.functions.differentiated_dynamics import contact_derivatives, contact_product
from tests.helpers import close, tree

AXIS, ACROSS = (0.6, 0.8, 0.0), ((1.0, 2.0, 0.5), (0.0, 0.3, -1.0))
CONTACTS = {
    "flat": ("forest", od.Contact("b2", point=(0.1, -0.2, 0.3))),
    "directions": ("forest", od.Contact("b3", point=(0.1, -0.2, 0.3), axes=ACROSS)),
    "planar": ("bases", od.Contact("b5", planar=True)),
    "sphere": ("forest", od.RollingContact("b6", 0.2, center=(0.3, 0.0, 0.1), normal=(0.1, 0.2, 0.9))),
    "cylinder": ("bases", od.RollingContact("b3", 0.2, center=(0.3, 0.1, 0.1), normal=(0.1, 0.2, 0.9), axis=AXIS)),
}


@pytest.mark.parametrize("product", ["force", "velocity"])
@pytest.mark.parametrize("key", CONTACTS)
@pytest.mark.slow
def test_derivatives_of_contacts(rng, key, product):
    name, contact = CONTACTS[key]
    model = tree(name)
    f = contact_product(model, contact, product)
    q, y, mu = (SX.sym(x, n) for x, n in zip("qym", (f.size1_in(0), f.size1_in(1), f.size1_out(0)), strict=True))
    z = ca.vertcat(q, y)
    H, gradient = ca.hessian(ca.dot(mu, f(q, y)), z)
    expected = ca.Function("expected", [q, y, mu], [ca.jacobian(f(q, y), z), gradient, H])
    values = model.random_q(rng), rng.normal(size=y.shape[0]), rng.normal(size=mu.shape[0])
    for found, wanted in zip(contact_derivatives(model, contact, product)(*values), expected(*values), strict=True):
        assert np.abs(wanted.full()).max() > 0.1
        close(found, wanted, 1e-12)


@pytest.mark.slow
def test_derivatives_of_a_foot_take_less_than_half_the_operations():
    human = od.models.human()
    f, foot = contact_product(human, od.Contact("foot_l"), "force"), od.Contact("foot_l")
    q, lam, mu = SX.sym("q", human.nq), SX.sym("lam", 6), SX.sym("mu", human.nv)
    H = ca.hessian(ca.dot(mu, f(q, lam)), ca.vertcat(q, lam))[0]
    by_ad = ca.Function("by_ad", [q, lam, mu], [ca.jacobian(f(q, lam), ca.vertcat(q, lam)), H], {"cse": True})
    assert 2 * contact_derivatives(human, foot, "force").n_instructions() < by_ad.n_instructions()


def test_axes_that_turn_with_their_own_joint_are_refused():
    foot = od.Contact("b6")
    with pytest.raises(ValueError, match="'b6': derivatives of its motion need joints whose S does not depend on q"):
        contact_derivatives(tree("screws"), foot, "force")
