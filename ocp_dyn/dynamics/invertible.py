"""Whether H can be inverted: joints that move no inertia have an inverse dynamics, but no forward dynamics."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from casadi import DM

from .._types import ModelError, shown
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..mechanism.twins import twin
from ..spatial_algebra.spatial import each
from .recursions import articulated_bodies, composite, joint_states

SINGULAR = 1e-12
"""Threshold of a joint's articulated inertia, relative to the inertia with all joints beyond it locked.

At or below this threshold H counts as singular.
"""

_found: WeakKeyDictionary[Model, dict[bool, int]] = WeakKeyDictionary()


def check_invertible(model: Model, *, loads: Loads = NO_LOADS) -> None:
    """ModelError, with the body's name, where H (with loads.armature plus diag(armature)) is singular everywhere.

    Tested at one random configuration, by the articulated inertias that forward dynamics divides by [RBDA, 7.3];
    singular configurations of an otherwise invertible H are not searched for. A model with symbols passes. Cost: once
    per model.
    """
    armature = loads.armature
    kept = _found.setdefault(twin(model), {})
    if armature not in kept:
        kept[armature] = _without_inertia(model, armature)
    i = kept[armature]
    if not i:
        return
    remedy = " an armature," if armature else " an armature (and take it with loads=od.Loads(armature=True)),"
    if armature or not model.dofs.armature[model.dofs_of(i)].all():
        remedy = f" give the joint{remedy}"
    else:
        remedy = " take the joint's armature with loads=od.Loads(armature=True),"
    raise ModelError(
        f"no inertia resists joint {shown(model.joint_names[i - 1])}, which moves body "
        f"{shown(model.body_names[i - 1])} and the bodies that it carries: H has no inverse, so there is no forward "
        "dynamics (inverse dynamics exists). "
        f"Give the body mass and inertia,{remedy} or lock the joint"
    )


def _without_inertia(model: Model, armature: bool) -> int:
    """The outermost joint whose articulated inertia is singular; 0 if there is none."""
    if model.symbolic_bodies:
        return 0
    states = joint_states(model, _random_configuration(model))
    none = [DM(6, 1)] * (model.nb + 1)
    free = articulated_bodies(model, states, DM(model.nv, 1), none, none, loads=Loads(armature=armature)).D
    Ic, _ = composite(model, states, model.I)
    for i, _ in reversed(list(model.edges)):
        S, rotors = states[i].S, model.dofs.armature[model.dofs_of(i)] if armature else 0.0
        locked = np.diag(DM(S.T @ each(Ic[i].apply, S)).full()) + rotors  # the joints beyond it hold still
        if not np.all(locked > 0):
            return i
        unit = np.sqrt(locked)  # so that meters and radians are not compared
        if not np.linalg.eigvalsh(DM(free[i]).full() / np.outer(unit, unit))[0] > SINGULAR:
            return i  # not the bodies that carry it: the D^-1 of this joint has turned their inertias into nan
    return 0


def _random_configuration(model: Model) -> DM:
    """A random configuration whose lengths are of the size of the model's own, in whatever units those are."""
    q = model.random_q(np.random.default_rng(0))
    sizes = [float(ca.norm_2(X.r)) for X in model.X_tree]
    sizes += [float(ca.norm_2(body.h) / body.m) for body in model.I if float(body.m) > 0]
    lengths, _ = model.lengths
    return DM(np.where(lengths, q * (max(sizes) or 1.0), q))
