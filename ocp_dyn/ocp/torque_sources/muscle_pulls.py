"""The pull of one muscle at the joints that its path crosses, and its derivatives.

    tau = -T(l, v, s) g,   with the length l(q), its slopes g = dl/dq, the speed v = g' qd and the state s,

is a function of few coordinates. With mu' tau = -T w, w = g' mu, first and second derivatives by (q, qd, s) need the
slopes of l and v, the Hessian of l, and the one contraction of the third derivatives of l that all terms share,

    T_v w d2v/dq2 + T d2w/dq2 = d3l/dq3 . (w T_v qd + T mu):

half the operations of automatic differentiation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.types import Expr
from ...muscles.path_algorithms import PathFunction
from ..statement.state.components import LocalForce

Tension = Callable[[Expr, Expr, Expr], Expr]
"""Length, speed and states -> force of a tendon."""


SAME = 1e-11
"""Relative difference up to which the pulls of mirror images count as equal."""


def muscle_pull(path: PathFunction, tension: Tension, channel: tuple[str, int], values: tuple[str, ...]) -> LocalForce:
    """The pull of a muscle. channel: the state of its tension, or its activation; values: names of the parameters of
    the problem that its tension has as further states."""
    n, count = len(path.dofs), 1 + len(values)
    q, qd, states = SX.sym("q", n), SX.sym("qd", n), [SX.sym("s") for _ in range(count)]
    length, slopes = path.function(q)
    tau = -tension(length, ca.dot(slopes, qd), ca.vertcat(*states)) * slopes
    f = ca.Function(path.function.name(), [q, qd, *states], [ca.densify(tau)], {"cse": True})

    @cache
    def derivatives() -> ca.Function:
        return pull_derivatives(path, tension, count)

    return LocalForce(path.entries, path.dofs, (channel,), values, f, derivatives)


def pull_derivatives(path: PathFunction, tension: Tension, count: int) -> ca.Function:
    """(q, qd, states..., mu) -> derivative of the pull, gradient and Hessian of mu' times it, by (q, qd, states)."""
    n = len(path.dofs)
    q, qd, mu, states = SX.sym("q", n), SX.sym("qd", n), SX.sym("mu", n), [SX.sym("s") for _ in range(count)]
    l, g = path.function(q)
    H, at = ca.jacobian(g, q), SX.sym("at", 2 + count)
    T = tension(at[0], at[1], at[2:])
    T_uu, T_u = ca.hessian(T, at)
    T, T_u, T_uu = ca.substitute([T, T_u, T_uu], [at], [ca.vertcat(l, ca.dot(g, qd), *states)])
    w, none = ca.dot(g, mu), SX(n, count)
    du = ca.blockcat([[g.T, SX(1, n), SX(1, count)], [(H @ qd).T, g.T, SX(1, count)], [none.T, none.T, SX.eye(count)]])
    dT, dw = du.T @ T_u, ca.vertcat(H @ mu, SX(n + count, 1))
    by_q = T_u[0] * w * H + _third(g, q, w * T_u[1] * qd + T * mu)
    by_both = T_u[1] * w * H
    bent = ca.blockcat([[by_q, by_both, none], [by_both, SX(n, n), none], [none.T, none.T, SX(count, count)]])
    slope = -(g @ dT.T + T * ca.horzcat(H, SX(n, n + count)))
    hessian = -(w * (du.T @ T_uu @ du) + bent + dw @ dT.T + dT @ dw.T)
    results = [ca.densify(slope), ca.densify(-(w * dT + T * dw)), ca.densify(hessian)]
    return ca.Function("pull", [q, qd, *states, mu], results, {"cse": True})


def with_images(pulls: Sequence[LocalForce], images: Mapping[int, int]) -> tuple[LocalForce, ...]:
    """The pulls, of which those of mirror images share the function of the first of the two, if they are equal but for
    signs of coordinates. images: the place of the image of each."""
    found, rng = list(pulls), np.random.default_rng(0)
    for k, other in images.items():
        one, image = pulls[other], pulls[k]
        n, more = len(image.dofs), len(image.values)
        if other >= k or (n, more) != (len(one.dofs), len(one.values)):
            continue
        states = [(*rng.uniform(-0.5, 0.5, (2, n)), rng.uniform(), *rng.uniform(size=more)) for _ in range(3)]
        expected = [np.array(image.f(*state).full()).ravel() for state in states]
        for signs in itertools.product((1.0, -1.0), repeat=n):
            given = [(signs * np.array(one.f(signs * q, signs * qd, *s).full()).ravel()) for q, qd, *s in states]
            if np.allclose(given, expected, rtol=SAME, atol=SAME * np.abs(expected).max()):
                found[k] = image._replace(f=one.f, derivatives=one.derivatives, signs=signs)
                break
    return tuple(found)


def _third(g: Expr, q: Expr, along: Expr) -> Expr:
    """Hessian of g' along at constant `along`."""
    c = SX.sym("c", q.shape[0])
    return ca.substitute(ca.hessian(ca.dot(g, c), q)[0], c, along)
