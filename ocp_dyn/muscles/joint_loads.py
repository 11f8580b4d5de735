"""Loads of joints: the wrench between the bones of a joint when the muscles pull as forces at their places.

What the equations of motion call the force across a joint, f[i] of the recursive Newton-Euler algorithm, is the sum of
what bones press on each other and of what the muscles that cross the joint pull. The load of cartilage and ligaments is

    R[i] = f[i] - sum of F w[i],

with the tensions F and the wrenches w[i] of a unit tension on all that lies beyond the joint (K. Steele et al., Gait &
Posture 35(4), 2012; OpenSim's JointReaction). Muscles with large tensions add to it much more than the weight does.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

from .._base.checks import choice, name_among, positive
from .._base.types import Array, Expr, M, Numbers, Vector, as_type, cast_to_matrix, finite_vector
from ..dynamics.recursions import classical_accelerations, composite_forces, joint_states, without_drift
from ..dynamics.rnea_crba_aba import body_wrenches
from ..mechanism import Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.loads import NO_LOADS, Loads
from .path_algorithms import moment_arms
from .paths.geometry import LINES, Path
from .paths.smooth import TOLERANCE, is_straight
from .paths.wrenches import beyond, crosses, exact_wrench, fitted_wrenches, straight_wrench

AXES = ("child", "parent", "world")
"""Axes in which a load is given: of the body that the joint moves, of the one that carries it, of the world."""


@checks_arguments()
def joint_reaction(
    model: Model,
    q: M | Numbers,
    qd: M | Numbers,
    qdd: M | Numbers,
    joint: str,
    F_mt: M | Numbers | None = None,
    f_ext: M | Numbers | None = None,
    *,
    axes: str = "child",
    tolerance: float = TOLERANCE,
    loads: Loads = NO_LOADS,
) -> M:
    """R = f[joint] - sum of F w: the load of a joint (6), [moment; force] on the body that it moves, about the joint's
    center, the origin of this body [N m; N].

    F_mt (muscles) [N]: tensions, which pull at the ends of their paths and where these bend; none by default, R then is
    the whole force across the joint. f_ext (6 x k): external forces on the frames of `loads.external`, such as those of
    the ground, [moment about the world's origin; force], world axes. axes: "child", "parent" (of the body that carries
    the joint) or "world". A pressed knee has a negative force along z of the shank, whose z points up.

    Moments about the axes of the joint are those of motors, springs and stops: tau less `muscle_torques`. A point of a
    path that moves with the joint, such as one of a patella, adds a couple about them. Straight paths are exact; those
    over surfaces have polynomials of their pulls, right to `tolerance` [m] in the moment and to 1 % in the direction
    for 1 mm, of which the first call takes some seconds.

    KeyError for a joint that the model does not have; ModelError where a path has no polynomial.

    >>> od.muscles.joint_reaction(rod, [0.0], [0.0], [0.0], "joint1").T  # it carries m g = 9.81 N
    DM([[00, 00, 00, 00, 00, 9.81]])
    """
    choice(axes, AXES, "axes")
    q, qd, qdd = (cast_to_matrix(x) for x in (q, qd, qdd))
    body = _moved_by(model, joint)
    states = joint_states(model, q, without_drift(model, qd))
    a = classical_accelerations(model, states, qdd, ground=-model.gravity_vector)
    wrenches = body_wrenches(model, states, None if f_ext is None else cast_to_matrix(f_ext), loads.external)
    f = [one.newton_euler(a[i].a, a[i].U) - wrenches[i] for i, one in enumerate(model.I)]
    R = composite_forces(model, states, f)[body]
    if F_mt is not None and model.muscles:
        w = _wrenches(model, q, body, states[body].S, positive(tolerance, "tolerance [m]"))
        for k, one in w.items():
            R = R - one * cast_to_matrix(F_mt)[k]
    return as_type(_turned(model, states, body, R, axes), q)


def _moved_by(model: Model, joint: str) -> int:
    """The body that a joint moves."""
    return model.joint_names.index(name_among(joint, model.joint_names, "joint", "joint")) + 1


def _turned(model: Model, states: Any, body: int, R: Expr, axes: str) -> Expr:
    """A wrench in the axes of a body, in others."""
    if axes == "child":
        return R
    E = states[body].XJ.E
    if axes == "world":
        at = model.parent[body]
        while at:
            E, at = E @ states[at].XJ.E, model.parent[at]
    return ca.vertcat(E.T @ R[:3], E.T @ R[3:])


def _wrenches(model: Model, q: Expr, body: int, S: Expr, tolerance: float) -> dict[int, Expr]:
    """w of the muscles that cross a joint, by their places in the model; about its axes w has their moment arms."""
    moved = beyond(model, body)
    crossing = [k for k, muscle in enumerate(model.muscles) if crosses(model, muscle, moved)]
    names = tuple(model.muscles[k].name for k in crossing)
    fitted = fitted_wrenches(model, body, names, tolerance)
    arms = moment_arms(model, q, tolerance=tolerance)
    dofs, found = list(model.dofs_of(body)), {}
    inverse = ca.solve(S.T @ S, S.T).T if dofs else None
    for k in crossing:
        muscle = model.muscles[k]
        w = straight_wrench(model, muscle, body, q) if is_straight(model, muscle) else fitted[muscle.name].at(q)
        found[k] = w if inverse is None else w + inverse @ (arms[k, dofs].T - S.T @ w)
    return found


@checks_arguments(own=("q",))
def muscle_wrenches(model: Model, q: Any, joint: str, *, lines: str = "shortest") -> Array:
    """w (muscles x 6), or (n x muscles x 6): wrenches of unit tensions on all that lies beyond a joint [m; 1], exact.

    q: a configuration (nq), or n of them (n x nq). [moment about the joint's center; force], in the axes of the body
    that it moves; zero for muscles that do not cross it. lines: as in `path_geometry`. In numbers what `joint_reaction`
    has as expressions, without the couples of points that move with the joint.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> bent = arm.with_muscles([od.Muscle("flexor", "PathSpring", path)])
    >>> od.muscles.muscle_wrenches(bent, [0.0, 0.0], "joint2").round(3)  # 0.03 m ahead, straight up
    array([[ 0.  , -0.03,  0.  ,  0.  ,  0.  ,  1.  ]])
    """
    choice(lines, LINES, "lines")
    table = np.atleast_2d(np.array(q.full().ravel() if isinstance(q, DM) else q, dtype=float))
    if table.ndim != 2 or table.shape[1] != model.nq or not np.all(np.isfinite(table)):
        raise ValueError(f"q must be {model.nq} finite numbers, or rows of so many, got shape {np.shape(q)}")
    body = _moved_by(model, joint)
    moved, found = beyond(model, body), np.zeros((len(table), len(model.muscles), 6))
    for k, muscle in enumerate(model.muscles):
        if crosses(model, muscle, moved):
            found[:, k] = exact_wrench(Path(model, muscle, lines), body, table)
    return found if np.ndim(q) == 2 and not isinstance(q, DM) else found[0]


def compartment_forces(R: M | Numbers, medial: Vector, lateral: Vector, along: Vector = (0.0, 0.0, 1.0)) -> M:
    """(2): forces of two places of contact that share the load R of a joint, along a direction [N]: medial, lateral.

    The load's moments about the lines through each place, at right angles to the direction and to the line between both
    places, are borne by the force on the other one (A. Lerner et al., J. Biomechanics 48(4), 2015). medial, lateral:
    the places [m] in the axes of R, about whose point R is given: for a knee about 0.02 m beside its center. Their sum
    is the force along the direction; a negative force presses where the direction points away from the joint.

    ValueError where the places lie on a line along the direction.

    >>> R = [10.0, 0, 0, 0, 0, -1000.0]  # pressed, and 10 N m about x
    >>> od.muscles.compartment_forces(R, medial=(0, -0.02, 0), lateral=(0, 0.02, 0))
    DM([-750, -250])
    """
    R = cast_to_matrix(R)
    inner, outer, direction = (
        np.array(finite_vector(x, 3, f"compartment_forces {name}"))
        for x, name in ((medial, "medial"), (lateral, "lateral"), (along, "along"))
    )
    size = float(np.linalg.norm(direction))
    across = np.cross(outer - inner, direction / size if size else direction)
    width = float(np.linalg.norm(across))
    if not width > 1e-9:
        raise ValueError(
            "compartment_forces: the places must lie beside each other across the direction, got "
            f"medial={tuple(inner)}, lateral={tuple(outer)}, along={tuple(direction)}"
        )
    line, force = DM(across / width), R[3:]
    moments = [ca.dot(R[:3] - ca.cross(DM(at), force), line) for at in (inner, outer)]
    return ca.vertcat(-moments[1], moments[0]) / width
