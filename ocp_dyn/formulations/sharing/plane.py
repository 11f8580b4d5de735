"""Whether a mechanism moves along a plane, and its axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._base.types import Array, is_one_of, repr_in_message, suggestion
from ...constraints import Loop
from ...joints import Planar, Prismatic, Revolute
from ...mechanism import Model
from .choice import PARALLEL
from .joints import Link, link_of_joint
from .loops import Poses, ends_of, free_axis, in_plane, kind_of_rows, numbers_of


def joint_links(tree: Model) -> list[Link]:
    """The links of all joints."""
    return [
        link_of_joint(tree.joint_names[i - 1], tree.joints[i], p, i, *numbers_of(tree.X_tree[i])) for i, p in tree.edges
    ]


def plane_of_motion(tree: Model, loops: Sequence[Loop], X0: Poses, plane: bool | str) -> Array | None:
    """The normal of the plane in which the mechanism moves, world axes; None for coordinates in space.

    X0: poses at which all loops are closed. ValueError for plane=True and a mechanism that leaves every plane.
    """
    if not isinstance(plane, bool) and not is_one_of(plane, ["auto"]):
        raise ValueError(
            f"plane must be True, False or 'auto', got {repr_in_message(plane)}{suggestion(plane, ['auto'])}"
        )
    if plane is False:
        return None
    links = joint_links(tree)
    axes = [(link, X0[link.p][0].T @ link.before(link.axes[0]).r) for link in links if link.axes]
    turning = [a for link, a in axes if link.kind in ("revolute", "planar")]
    sliding = [a for link, a in axes if link.kind == "prismatic"]
    normal = turning[0] if turning else _common_normal(sliding)
    fault = "it has no revolute joint" if normal is None else _leaves(tree, axes, normal)
    if fault is None and normal is not None:
        fault = next((text for loop in loops if (text := _turns_out(tree, loop, X0, normal))), None)
    if fault is None:
        return normal
    if plane is True:
        raise ValueError(f"plane=True: the mechanism does not move in a plane: {fault}. Use plane='auto' or False")
    return None


def plane_axes(normal: Array) -> Array:
    """Two axes (3x2) of the plane, along axes of the world where it is a coordinate plane."""
    k = int(np.argmax(np.abs(normal)))
    first = np.cross(normal, np.eye(3)[k])
    if np.linalg.norm(first) < PARALLEL:
        return np.delete(np.eye(3), k, axis=1)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(normal, first)])


def _common_normal(axes: Sequence[Array]) -> Array | None:
    """The unit vector across the first axis and the one that is most independent of it."""
    normals = [np.cross(axes[0], a) for a in axes]
    longest = max(normals, key=lambda n: float(np.linalg.norm(n)), default=None)
    if longest is None or np.linalg.norm(longest) < PARALLEL:
        return None
    return np.asarray(longest / np.linalg.norm(longest))


def _leaves(tree: Model, axes: Sequence[tuple[Link, Array]], normal: Array) -> str | None:
    """A joint that moves a body out of the plane; None if there is none."""
    for name, joint in zip(tree.joint_names, tree.joints[1:], strict=True):
        if not isinstance(joint, (Revolute, Prismatic, Planar)):
            return f"joint {name} ({type(joint).__name__}) leaves it"
    for link, a in axes:
        if link.kind == "prismatic" and abs(a @ normal) > PARALLEL:
            return f"joint {link.name} does not slide in it"
        if link.kind != "prismatic" and np.linalg.norm(np.cross(a, normal)) > PARALLEL:
            return f"the axis of joint {link.name} is not along its normal"
    return None


def _turns_out(tree: Model, loop: Loop, X0: Poses, normal: Array) -> str | None:
    """A loop whose rows are no joint in the plane, and hold a rotation of frames that are not turned along the plane;
    None otherwise."""
    (p, _, Rp), (s, _, Rs) = ends_of(tree, loop)
    n = Rp.T @ X0[p][0] @ normal
    rows = in_plane(np.array(loop.axes), n)
    kind, _ = kind_of_rows(rows, planar=True)
    free = free_axis(loop)
    oblique = free is not None and abs(float(free @ n)) > PARALLEL
    turned = oblique or float(np.linalg.norm(n - Rs.T @ X0[s][0] @ normal)) > PARALLEL
    return (
        f"rows of loop {loop.name} turn frames out of it" if kind == "rows" and rows[:, :3].any() and turned else None
    )
