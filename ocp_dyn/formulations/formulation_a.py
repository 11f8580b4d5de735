"""Velocity transformations of open chains, Formulation A [GJB94, 8.2]: natural coordinates.

Dependent velocities are the rates xd of natural coordinates, those of basic points and unit vectors. A point with the
lever l from the origin of its body, and a vector u of the body, have per unit velocity of a dof k that moves the body

    v_k + w_k x (r + l - r_i)   and   w_k x u,                                                     (8.60-8.64)

and at qdd = 0 the accelerations a + U l and U u, U = dw x + w x w x (8.65-8.69). The mass matrix M is constant, so

    R' M R qdd = R' (Q - M Sc)                                                                           (8.38)

holds no velocity-dependent inertia forces. Torques of joints act on qdd directly, R' B' tau = tau.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
from casadi import DM

from .._base.types import Expr, M, Numbers, as_type, cast_to_matrix, exact, repr_in_message
from ..dynamics.invertible import check_invertible
from ..dynamics.passive_torques import passive_force, with_armature
from ..dynamics.rnea_crba_aba import factor
from ..mechanism import Model
from ..mechanism.loads import NO_LOADS, Loads
from ..spatial_algebra.linalg import symmetric
from .joint_coordinates import checks_natural_arguments
from .natural_coordinates import ChosenElement, NaturalCoordinates
from .natural_dynamics import natural_force, natural_mass_matrix
from .velocity_transformations import OpenChain, columns_at, open_chain, supporting_dofs


@checks_natural_arguments
def velocity_transformation_a(model: Model, natural: NaturalCoordinates, q: M | Numbers) -> M:
    """R(q) (n x nv) of Formulation A: xd = R qd for the natural coordinates of an open chain [GJB94, 8.34].

    Element by element, zero wherever a dof does not move the body of a point or vector. ValueError for natural
    coordinates of closed loops. O(n depth).

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.velocity_transformation_a(rod, natural, [0.0])
    DM([00, -1])
    """
    tree = open_tree(model, natural)
    return as_type(transformation(natural, tree, open_chain(tree, q, tree.rest(q))), q)


@checks_natural_arguments
def velocity_products_a(model: Model, natural: NaturalCoordinates, q: M | Numbers, qd: M | Numbers) -> M:
    """Sc(q, qd) (n) of Formulation A: accelerations of points [m/s^2] and unit vectors [1/s^2] at qdd = 0
    [GJB94, 8.35].

    O(n).

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.velocity_products_a(rod, natural, [0.0], [2.0])
    DM([-4, 0])
    """
    tree = open_tree(model, natural)
    return as_type(products(natural, open_chain(tree, q, qd)), q)


@checks_natural_arguments
def projected_equations_a(
    model: Model,
    natural: NaturalCoordinates,
    q: M | Numbers,
    qd: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> tuple[M, M]:
    """(H, C) of `H qdd + C = tau` as H = R' M R, C = R' (M Sc - Q), Formulation A [GJB94, 8.38].

    H (nv x nv) and C (nv) equal those of `equations_of_motion`; f_ext and loads as in `inverse_dynamics`. Massless
    bodies are allowed. O(n depth^2).

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.projected_equations_a(rod, natural, [np.pi / 6], [0.0])  # H and C
    (DM(0.333333), DM(2.4525))
    """
    tree = open_tree(model, natural)
    open = open_chain(tree, q, qd)
    R, Sc, x = transformation(natural, tree, open), products(natural, open), natural.positions(tree, q)
    mass = natural_mass_matrix(model, natural, x)
    none, external = type(cast_to_matrix(q))(natural.n, 1), Loads(external=loads.external)
    Q = natural_force(model, natural, x, none, model.rest(q), f_ext, loads=external)
    H, C = symmetric(R.T @ (mass @ R)), R.T @ (mass @ Sc - Q)
    if loads.passive:
        C = C - passive_force(model, q, qd, slip_speed=loads.slip_speed)
    return as_type(with_armature(model, H) if loads.armature else H, q), as_type(C, q)


@checks_natural_arguments
def forward_dynamics_formulation_a(
    model: Model,
    natural: NaturalCoordinates,
    q: M | Numbers,
    qd: M | Numbers,
    tau: M | Numbers,
    f_ext: M | Numbers | None = None,
    *,
    loads: Loads = NO_LOADS,
) -> M:
    """qdd of (8.38), R' M R qdd = tau + R' (Q - M Sc), Formulation A [GJB94, 8.2].

    By the branch-sparse factor L'DL. qdd (nv) [rad/s^2, m/s^2]; loads as in `inverse_dynamics`. ModelError for a joint
    that moves no inertia, ValueError for natural coordinates of closed loops. O(n depth^2).

    >>> natural = od.formulations.natural(rod)
    >>> od.formulations.forward_dynamics_formulation_a(rod, natural, [np.pi / 2], [0.0], [0.0])  # -3/2 g/l
    DM(-14.715)
    """
    check_invertible(model, loads=loads)
    H, C = projected_equations_a(model, natural, q, qd, f_ext, loads=loads)
    return as_type(factor(model, H).solve(tau - C), q)


def transformation(natural: NaturalCoordinates, tree: Model, open: OpenChain) -> Expr:
    """R (n x nv), the rows of one coordinate element after the other."""
    rows = []
    for is_point, b, r in natural.chosen:
        arm = open.at.A[b] @ exact(r)
        full: list[Expr] = [DM(3, 1)] * tree.nv
        for k, (v, w) in zip(supporting_dofs(tree, b), columns_at(tree, open.at, open.by, b, arm), strict=True):
            full[k] = v if is_point else ca.cross(w, arm)
        rows.append(ca.horzcat(*full))
    return in_plane(natural, rows)


def products(natural: NaturalCoordinates, open: OpenChain) -> Expr:
    """Sc (n)."""
    a, U = open.products.a, open.products.U
    found = []
    for is_point, b, r in natural.chosen:
        turned = U[b] @ (open.at.A[b] @ exact(r))
        found.append(a[b] + turned if is_point else turned)
    return in_plane(natural, found)


def elements_at(natural: NaturalCoordinates, homes: Sequence[ChosenElement], open: OpenChain) -> tuple[Expr, Expr]:
    """(x, xd) of elements in bodies that carry them, at the position and velocity of an open chain (8.60-8.64)."""
    x, xd = [], []
    for is_point, b, r in homes:
        arm = open.at.A[b] @ exact(r)
        turned = ca.cross(open.moving.w[b], arm)
        x.append(open.at.r[b] + arm if is_point else arm)
        xd.append(open.moving.v[b] + turned if is_point else turned)
    return in_plane(natural, x), in_plane(natural, xd)


def in_plane(natural: NaturalCoordinates, rows: Sequence[Expr]) -> Expr:
    """World vectors (3 x k each) along the axes of the coordinates, one below the other."""
    return ca.vertcat(*(exact(natural.plane.T) @ row if natural.dimension == 2 else row for row in rows))


def open_tree(model: Model, natural: NaturalCoordinates) -> Model:
    """The tree of the natural coordinates. ValueError if they share points or vectors across closed loops."""
    tree = natural.split(model)
    if natural.n - natural.m != model.nv:
        raise ValueError(
            f"these natural coordinates of {repr_in_message(model)} belong to a closed chain: {natural.n} coordinates "
            f"and {natural.m} conditions leave {natural.n - natural.m} of {model.nv} dofs. Make those of the open "
            "chain, od.formulations.natural(model), or open the loops by od.formulations.open_by_removing"
        )
    return tree
