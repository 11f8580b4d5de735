"""Muscles and moments of the frames of a motion as the numbers that balance: forces that are linear in activations,
moment arms and moments of coordinates that move independently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.types import Array
from ...constraints import constraint_jacobian, mimic_constraints
from ...functions.function import function
from ...mechanism import Model
from ...mechanism.equal_models import kept_per_model
from ...muscles import HillMuscles, moment_arms, muscle_lengths, path_geometry, rigid_tendon
from ..fitting.placed import interpreted

SAME = 1e-9
"""Part of the largest entry of the rows of constraints below which what is left of a row counts as dependent."""


class Gains(NamedTuple):
    """Tendon forces F = passive + activation * active (N, n) [N], and moment arms about all dofs (N, n, nv) [m]."""

    active: Array
    passive: Array
    arms: Array


def muscle_gains(
    model: Model, names: Sequence[str], q: Array, qd: Array, curves: str | None, passive: bool, paths: str
) -> Gains:
    """Forces of muscles with rigid tendons at the lengths and speeds of frames, as lines over the activation from its
    forces at 0 and at 1, none below zero: tendons do not push. curves None: activation times F0."""
    if paths == "exact":
        geometry = path_geometry(model, q, names)
        lengths, arms = geometry.lengths, geometry.moment_arms
    else:
        at = [model.muscle_names.index(name) for name in names]
        lengths = np.asarray(interpreted(_dense(model, muscle_lengths), q)).reshape(len(q), -1)[:, at]
        flat = interpreted(_dense(model, moment_arms), q)
        arms = np.asarray(flat).reshape(len(q), len(model.muscles), model.nv)[:, at]
    n = len(names)
    if curves is None:
        hill = HillMuscles.of(model, names)
        F0 = np.array(ca.DM(hill.max_isometric_force).full()).ravel()
        return Gains(np.tile(F0, (len(q), 1)), np.zeros((len(q), n)), arms)
    both = np.maximum(interpreted(_ends(model, tuple(names), curves), lengths, -np.einsum("kmn,kn->km", arms, qd)), 0.0)
    rest, full = both[:, :n], both[:, n:]
    return Gains(np.maximum(full - rest, 0.0), rest if passive else 0 * rest, arms)


@kept_per_model
def _ends(model: Model, names: tuple[str, ...], curves: str) -> ca.Function:
    """(lengths, speeds) -> tendon forces at the activation 0, then those at 1."""
    hill, n = HillMuscles.of(model, names, curves), len(names)
    length, speed = SX.sym("l", n), SX.sym("v", n)
    ends = [rigid_tendon(hill, length, speed, a * SX.ones(n, 1)).tendon_force for a in (0.0, 1.0)]
    return ca.Function("F", [length, speed], [ca.densify(ca.vertcat(*ends))], {"cse": True})


@kept_per_model
def _dense(model: Model, algorithm: Any, *static: Any) -> ca.Function:
    """The Function of an algorithm of q, with a dense result."""
    q = SX.sym("q", model.nq)
    return ca.Function("dense", [q], [ca.densify(function(algorithm, model, *static).call([q])[0])])


def independent_motion(model: Model, q: Array, kept: Sequence[int]) -> tuple[Any, Array]:
    """Dofs that move independently under the constraints of the model, and qd by their rates (N, nv, independent).

    kept: dofs that are independent if they can be; coordinates that couplings let follow others are dependent if they
    can be.
    """
    constraints = (*mimic_constraints(model), *model.constraints)
    if not constraints:
        return np.arange(model.nv), np.tile(np.eye(model.nv), (len(q), 1, 1))
    G = interpreted(_dense(model, constraint_jacobian, constraints), q).reshape(len(q), -1, model.nv)
    followers = {getattr(one, "coordinate", None) or getattr(one, "joint", None) for one in constraints}
    names = [{model.qd_names[k], model.joint_names[i - 1]} for i, _ in model.edges for k in model.dofs_of(i)]
    taste = np.array([1e3 if own & followers else 1.0 for own in names])
    taste[list(kept)] = 1e-3
    dependent = _pivots(np.asarray(G[0]), taste)
    free = np.setdiff1d(np.arange(model.nv), dependent)
    A = np.zeros((len(q), model.nv, free.size))
    A[:, free, np.arange(free.size)] = 1.0
    A[:, dependent] = -np.linalg.pinv(G[:, :, dependent]) @ G[:, :, free]
    return free, A


def _pivots(G: Array, taste: Array) -> list[int]:
    """Columns of the pivots of an elimination of the rows, those with much taste first."""
    rows, found = G.copy(), list[int]()
    least = SAME * np.abs(G).max(initial=0.0)
    for _ in range(len(G)):
        i, k = np.unravel_index(int(np.argmax(np.abs(rows) * taste * (np.abs(rows) > least))), rows.shape)
        if abs(rows[i, k]) <= least:
            break
        found.append(int(k))
        rows = rows - np.outer(rows[:, k] / rows[i, k], rows[i])
    return sorted(found)
