"""Whether H can be inverted: joints that move no inertia have an inverse dynamics, but no forward dynamics."""

from __future__ import annotations

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Array, ModelError, repr_in_message
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from ..mechanism.loads import NO_LOADS, Loads
from ..mechanism.near import near
from .recursions import articulated_bodies, composite, joint_states

SINGULAR = 1e-12
"""Threshold of a joint's articulated inertia, relative to the inertia with all joints beyond it locked.

At or below this threshold H counts as singular.
"""


def check_invertible(model: Model, *, loads: Loads = NO_LOADS) -> None:
    """ModelError, with the body's name, where H (with loads.armature plus diag(armature)) is singular everywhere.

    Tested at one random configuration, by the articulated inertias that forward dynamics divides by [RBDA, 7.3];
    singular configurations of an otherwise invertible H are not searched for. A model with symbols passes. Cost: once
    per model.
    """
    armature = loads.armature
    i = _without_inertia(model, armature)
    if not i:
        return
    remedy = " an armature," if armature else " an armature (and take it with loads=od.Loads(armature=True)),"
    if armature or not model.dofs.armature[model.dofs_of(i)].all():
        remedy = f" give the joint{remedy}"
    else:
        remedy = " take the joint's armature with loads=od.Loads(armature=True),"
    raise ModelError(
        f"no inertia resists joint {repr_in_message(model.joint_names[i - 1])}, which moves body "
        f"{repr_in_message(model.body_names[i - 1])} and the bodies that it carries: H has no inverse, so there is no "
        f"forward dynamics (inverse dynamics exists). Give the body mass and inertia,{remedy} or lock the joint"
    )


@kept_per_model
def _without_inertia(model: Model, armature: bool) -> int:
    """The outermost joint whose articulated inertia is singular; 0 if there is none."""
    if model.symbolic_bodies:
        return 0
    free, locked = articulated_and_composite(model, _random_configuration(model), Loads(armature=armature))
    for i, _ in reversed(list(model.edges)):
        if not np.all(locked[i] > 0):
            return i
        unit = np.sqrt(locked[i])  # so that meters and radians are not compared
        if not np.linalg.eigvalsh(free[i] / np.outer(unit, unit))[0] > SINGULAR:
            return i  # not the bodies that carry it: the D^-1 of this joint has turned their inertias into nan
    return 0


def articulated_and_composite(model: Model, q: DM, loads: Loads) -> tuple[dict[int, Array], dict[int, Array]]:
    """By body, D (n x n): the inertia of its joint's dofs while the joints beyond move freely; and its diagonal (n)
    while they hold still; both in `Joint.basis`, where there is one."""
    model = near(model)
    states = joint_states(model, q)
    none = [DM(6, 1)] * (model.nb + 1)
    free = articulated_bodies(model, states, DM(model.nv, 1), none, none, loads=loads).D
    Ic, _ = composite(model, states, model.I)
    rotors = model.dofs.armature if loads.armature else np.zeros(model.nv)
    locked = {}
    for i, state in states.items():
        basis = model.joints[i].basis(state.S)
        S = state.S if basis is None else state.S @ basis
        locked[i] = np.array(ca.diag(DM(S.T @ Ic[i].apply(S))).full()).ravel() + rotors[model.dofs_of(i)]
    return {i: np.array(DM(D).full()) for i, D in free.items()}, locked


def _random_configuration(model: Model) -> DM:
    """A random configuration whose lengths are of the size of the model's own, in whatever units those are."""
    q = model.random_q(np.random.default_rng(0))
    sizes = [float(ca.norm_2(X.r)) for X in model.X_tree]
    sizes += [float(ca.norm_2(body.h) / body.m) for body in model.I if float(body.m) > 0]
    lengths, _ = model.lengths
    return DM(np.where(lengths, q * (max(sizes) or 1.0), q))
