"""Poses of the bodies along paths of muscles, and the motions of their dofs, at many configurations at once."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..._base.autodiff import as_function
from ..._base.types import Array, Expr, ModelError, repr_in_message
from ...dynamics.recursions import joint_states
from ...mechanism import Model
from ...mechanism.equal_models import kept_per_model
from ...spatial_algebra.spatial import Transform, halves


@dataclass(frozen=True)
class Poses:
    """Bodies at n configurations, in the axes and about the origin of the body that carries all of them.

    R (n x 3 x 3), p (n x 3) by body: axes, as columns, and origin. twists (n x dofs x 6): [w; velocity at the origin]
    of what lies behind a dof, per unit rate.
    """

    R: dict[int, Array]
    p: dict[int, Array]
    twists: Array


@dataclass(frozen=True)
class PathBodies:
    """The bodies that a path touches, and the joints that it crosses.

    base: the body that carries all of them. joints: the bodies of the joints, from the base outwards. dofs, entries:
    their entries of qd and of q. behind: for every dof the bodies that it moves.
    """

    base: int
    joints: tuple[int, ...]
    dofs: tuple[int, ...]
    entries: tuple[int, ...]
    behind: tuple[frozenset[int], ...]
    function: ca.Function

    def at(self, q: Array) -> Poses:
        """The poses at configurations q (n x nq)."""
        n = len(q)
        R, p = {self.base: np.tile(np.eye(3), (n, 1, 1))}, {self.base: np.zeros((n, 3))}
        if not n or not self.joints:
            return Poses(R, p, np.zeros((n, len(self.dofs), 6)))
        values = [np.asarray(x.full()).reshape(x.shape[0], n, -1) for x in self.function.map(n).call([q.T])]
        for k, body in enumerate(self.joints):
            R[body] = np.transpose(values[2 * k], (1, 0, 2))
            p[body] = values[2 * k + 1][:, :, 0].T
        return Poses(R, p, np.stack([x[:, :, 0].T for x in values[2 * len(self.joints) :]], axis=1))


@kept_per_model
def path_bodies(model: Model, bodies: tuple[int, ...]) -> PathBodies:
    """The joints between some bodies of a model, and what `PathBodies` knows of them."""
    ways = {body: [0, *model.path(body)] for body in bodies}
    base = 0
    for level in zip(*ways.values(), strict=False):
        if len(set(level)) > 1:
            break
        base = level[0]
    joints = tuple(sorted({one for way in ways.values() for one in way[way.index(base) + 1 :]}))
    dofs = tuple(k for i in joints for k in model.dofs_of(i))
    entries = tuple(k for i in joints for k in range(model.q_index[i], model.q_index[i + 1]))
    behind = tuple(frozenset(body for body in bodies if i in ways[body]) for i in joints for _ in model.dofs_of(i))
    function = as_function(lambda q: _poses_and_twists(model, base, joints, q), model.nq)
    return PathBodies(base, joints, dofs, entries, behind, function)


def _poses_and_twists(model: Model, base: int, joints: tuple[int, ...], q: Expr) -> list[Expr]:
    """R and p of every body, then the twist of every dof."""
    X = {base: Transform.identity()}
    found: list[Expr] = []
    twists: list[Expr] = []
    for i, state in joint_states(model, q, bodies=joints).items():
        X[i] = state.XJ @ X[model.parent[i]]
        R = X[i].E.T
        found += [ca.densify(R), ca.densify(X[i].r)]
        for column in ca.horzsplit(state.S):
            w, v = (R @ half for half in halves(column))
            twists.append(ca.densify(ca.vertcat(w, v + ca.cross(X[i].r, w))))
    return found + twists


def placed(model: Model, frame: str, point: Array) -> tuple[int, Array]:
    """(body, place): the body that carries a frame, and a point of the frame in the axes of this body."""
    found = model.frames[frame]
    E, r = (np.asarray(ca.DM(part).full()) for part in (found.X.E, found.X.r))
    return found.body, r.ravel() + E.T @ np.asarray(point, dtype=float)


def entry_of(model: Model, coordinate: str) -> tuple[int, int]:
    """(index into q, index into qd) of a coordinate whose rate is an entry of qd; ModelError for others."""
    k = model.q_names.index(coordinate)
    i = int(np.searchsorted(model.q_index, k, side="right")) - 1
    while model.q_index[i + 1] <= k:
        i += 1
    if model.joints[i].nq != model.joints[i].nv:
        raise ModelError(
            f"a path depends on the coordinate {repr_in_message(coordinate)}, an entry of a joint with a quaternion; "
            "give the joint angles instead"
        )
    return k, model.v_index[i] + k - model.q_index[i]
