"""Hybrid zero dynamics of a planar biped on a point foot: virtual constraints determine all angles but one.

E. Westervelt, J. Grizzle & D. Koditschek, "Hybrid zero dynamics of planar biped walkers", IEEE Trans. Automatic Control
48 (2003); Westervelt et al., "Feedback Control of Dynamic Bipedal Robot Locomotion" (2007), ch. 5 and 6. The motors
keep q_a = h_d(theta), polynomials of degree M in Bezier form over s = (theta - theta_plus) / (theta_minus -
theta_plus), theta the angle of the line from hip to stance foot, which grows along the step: q = Phi(theta). The
remaining state is theta and the angular momentum about the stance foot, sigma = I(theta) theta':

    sigma = H_0 Phi' theta',   sigma' = -G_0,   so   sigma^2 / 2 + V_zero(theta) = const,   V_zero' = I G_0,

where H_0 and G_0 are the rows of the mass matrix and of gravity of the foot's angle. The strike maps sigma to
delta_zero sigma. With zeta = sigma^2 / 2 before a strike, it is delta_zero^2 zeta - V_zero(theta_minus) before the next
one. The fixed point zeta* = -V_zero(theta_minus) / (1 - delta_zero^2) is a gait if its energy suffices to pass the
highest point,

    delta_zero^2 / (1 - delta_zero^2) V_zero(theta_minus) + max V_zero < 0,

and the gait is stable if delta_zero^2 < 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, MX, SX
from numpy.polynomial import Chebyshev

from ...dynamics.kinematics import point_position
from ...dynamics.momentum import center_of_mass_acceleration
from ...dynamics.rnea_crba_aba import gravity_force, inverse_dynamics, mass_matrix
from ...mechanism import Model

DEGREE = 80
"""Degree of the interpolation that integrates V_zero, the time of a step and the cost; exact to rounding."""

Strike = Callable[[Any, Any], tuple[Any, Any, Any]]
"""Map from (q, qd) before the strike to (q, qd, impulse) after it, where the legs have changed roles."""


class VirtualConstraints(NamedTuple):
    """Polynomials h_d: Bezier coefficients alpha (motors, M + 1), in the order of q[1:]; theta at both ends of a step.

    >>> od.walking.VirtualConstraints(np.zeros((4, 7)), -0.2, 0.2).theta_minus
    0.2
    """

    alpha: Any
    theta_plus: Any
    theta_minus: Any


def phase_angle(q: Any) -> Any:
    """theta of the pinned five-link biped, tibia and femur equally long: minus the absolute angle of foot to hip [rad].

    >>> round(float(od.walking.phase_angle([0.3, -0.2, 0.0, 0.0, 0.0])), 9)
    -0.2
    """
    return -q[0] - q[1] / 2


def bezier(alpha: Any, s: Any) -> Any:
    """The polynomials (motors) with coefficients alpha at s."""
    M = alpha.shape[1] - 1
    return sum(math.comb(M, k) * s**k * (1 - s) ** (M - k) * alpha[:, k] for k in range(M + 1))


def lift(constraints: VirtualConstraints, theta: Any) -> Any:
    """Configuration Phi(theta) (5)."""
    alpha, begin, end = constraints
    h = bezier(alpha, (theta - begin) / (end - begin))
    return ca.vertcat(-theta - h[0] / 2, h)


@cache
def state_function(model: Model, degree: int) -> ca.Function:
    """Function of (theta, sigma, alpha, [theta_plus, theta_minus]) with the quantities of `STATE`, in this order."""
    theta, sigma = SX.sym("theta"), SX.sym("sigma")
    alpha, ends = SX.sym("alpha", model.nv - 1, degree + 1), SX.sym("ends", 2)
    q = lift(VirtualConstraints(alpha, ends[0], ends[1]), theta)
    by_theta = ca.jacobian(q, theta)
    G0 = gravity_force(model, q)[0]
    inertia = mass_matrix(model, q)[0, :] @ by_theta
    rate = sigma / inertia
    # sigma' = I' theta'^2 + I theta'' = -G_0
    acceleration = -(G0 + ca.jacobian(inertia, theta) * rate**2) / inertia
    qd, qdd = by_theta * rate, ca.jacobian(by_theta, theta) * rate**2 + by_theta * acceleration
    tau = inverse_dynamics(model, q, qd, qdd)[1:]
    force = model.mass * (center_of_mass_acceleration(model, q, qd, qdd) - DM(model.gravity))
    found = [inertia, G0, rate, q, qd, tau, force, point_position(model, "swing_foot", q)]
    return ca.Function("state", [theta, sigma, alpha, ends], found, {"cse": True})


STATE = ("inertia", "gravity", "rate", "q", "qd", "tau", "force", "foot")
"""Names of I, G_0, theta', q, qd, motors' torques [N m], force on the stance foot [N], swing foot [m]."""


@cache
def strike_function(model: Model, strike: Strike) -> ca.Function:
    """Function of (q, qd) before the strike: q, qd after it, impulse [N s] (x, z), momentum about the new foot."""
    q, qd = SX.sym("q", model.nq), SX.sym("qd", model.nv)
    q_plus, qd_plus, impulse = strike(q, qd)
    momentum = mass_matrix(model, q_plus)[0, :] @ qd_plus
    return ca.Function("strike", [q, qd], [q_plus, qd_plus, impulse, momentum], {"cse": True})


def fitted_constraints(q: Any, qd: Any, degree: int) -> VirtualConstraints:
    """The constraints that follow a step, given by its nodes (n, 5).

    Angles and slopes at both ends are those of the step, so that the strike maps the end of the constraints to their
    start, too; the other coefficients fit the nodes by least squares.

    >>> zero = od.walking.rabbit_example()
    >>> theta = np.linspace(*zero.constraints[1:], 30)
    >>> nodes = zero.at(theta, zero.along(theta))
    >>> found = od.walking.fitted_constraints(nodes["q"], nodes["qd"], 6)
    >>> bool(np.abs(found.alpha - zero.constraints.alpha).max() < 1e-6)
    True
    """
    theta = np.array([phase_angle(x) for x in q])
    span = theta[-1] - theta[0]
    alpha = np.zeros((q.shape[1] - 1, degree + 1))
    for first, second, node in ((0, 1, 0), (-1, -2, -1)):
        slope = qd[node, 1:] / phase_angle(qd[node])
        alpha[:, first] = q[node, 1:]
        alpha[:, second] = q[node, 1:] + (slope if node == 0 else -slope) * span / degree
    s = (theta - theta[0]) / span
    basis = np.array([math.comb(degree, k) * s**k * (1 - s) ** (degree - k) for k in range(degree + 1)])
    rest = q[:, 1:].T - alpha @ basis
    alpha[:, 2:-2] = np.linalg.lstsq(basis[2:-2].T, rest.T, rcond=None)[0].T
    return VirtualConstraints(alpha, float(theta[0]), float(theta[-1]))


@dataclass(frozen=True, eq=False)
class ZeroDynamics:
    """The zero dynamics of a pinned model under virtual constraints, and the map from strike to strike.

    strike: map from (q, qd) before it to (q, qd, impulse) after it, where the legs have changed roles.

    >>> bent = np.outer([0.1, -0.2, 0.2, -0.1], np.ones(7))
    >>> zero = od.walking.ZeroDynamics(
    ...     od.models.five_link_biped(), od.walking.VirtualConstraints(bent, -0.2, 0.2), od.models.five_link_leg_change
    ... )
    >>> zero.at(0.1, -1.0)["q"].round(3)
    array([-0.15,  0.1 , -0.2 ,  0.2 , -0.1 ])
    """

    model: Model
    constraints: VirtualConstraints
    strike: Strike

    def at(self, theta: Any, sigma: Any) -> dict[str, Any]:
        """Quantities of the biped by the names of `STATE`, a row for each of n states of the zero dynamics."""
        alpha, *ends = self.constraints
        n = int(np.size(theta))
        states = state_function(self.model, alpha.shape[1] - 1).map("states", "serial", n, [2, 3], [])
        values = states(np.reshape(theta, (1, n)), np.reshape(sigma, (1, n)), alpha, ends)
        return {name: np.array(value.full()).T.squeeze() for name, value in zip(STATE, values, strict=True)}

    def _integral(self, integrand: Callable[[Any], Any]) -> Chebyshev:
        """Integral over theta, from theta_plus."""
        _, begin, end = self.constraints
        return Chebyshev.interpolate(integrand, DEGREE, domain=[begin, end]).integ(lbnd=begin)

    @cached_property
    def potential(self) -> Chebyshev:
        """Potential V_zero(theta)."""

        def slope(theta: Any) -> Any:
            here = self.at(theta, np.ones_like(theta))
            return here["inertia"] * here["gravity"]

        return self._integral(slope)

    @cached_property
    def after(self) -> tuple[Any, Any, Any, Any]:
        """q, qd, impulse and angular momentum after the strike, for sigma = -1 before it."""
        end = self.at(self.constraints.theta_minus, -1.0)
        found = strike_function(self.model, self.strike)(end["q"], end["qd"])
        q, qd, impulse, sigma = (np.array(x.full()).ravel() for x in found)
        return q, qd, impulse, sigma

    @cached_property
    def delta_squared(self) -> float:
        """Ratio delta_zero^2 of sigma^2 after to before a strike; also the Floquet multiplier of the gait."""
        return float(self.after[3].item() ** 2)

    @cached_property
    def invariance(self) -> float:
        """Largest deviation from the constraints just after the strike, of angles and of their slopes by theta."""
        q, qd, *_ = self.after
        start = self.at(self.constraints.theta_plus, -1.0)
        slopes = [x / phase_angle(x) for x in (qd, start["qd"])]
        return float(max(np.abs(q - start["q"]).max(), np.abs(slopes[0] - slopes[1]).max()))

    @cached_property
    def drop(self) -> float:
        """Potential V_zero(theta_minus), negative if gravity accelerates the step."""
        return float(self.potential(self.constraints.theta_minus))

    @cached_property
    def top(self) -> float:
        """Maximum of V_zero."""
        _, begin, end = self.constraints
        return float(self.potential(np.linspace(begin, end, 2001)).max())

    @cached_property
    def existence(self) -> float:
        """Condition of existence, delta_zero^2 / (1 - delta_zero^2) V_zero(theta_minus) + max V_zero < 0."""
        return self.delta_squared / (1 - self.delta_squared) * self.drop + self.top

    @property
    def exists(self) -> bool:
        return bool(0 < self.delta_squared < 1 and self.existence < 0)

    @cached_property
    def sigma(self) -> float:
        """Angular momentum [N m s] of the gait before the strike, -sqrt(2 zeta*); ValueError if no gait exists."""
        if not self.exists:
            raise ValueError(
                f"there is no gait on this zero dynamics: delta_zero^2 = {self.delta_squared:.4g} must lie between 0 "
                f"and 1, and the condition of existence, {self.existence:.4g}, must be negative"
            )
        return -math.sqrt(-2 * self.drop / (1 - self.delta_squared))

    def along(self, theta: Any) -> Any:
        """Angular momentum sigma of the gait at theta."""
        return -np.sqrt(2 * (self.delta_squared * self.sigma**2 / 2 - self.potential(theta)))

    def per_step(self, integrand: Callable[[dict[str, Any]], Any]) -> float:
        """Integral over the time of a step of the gait; the integrand 1 gives its period [s]."""

        def by_theta(theta: Any) -> Any:
            here = self.at(theta, self.along(theta))
            return integrand(here) / here["rate"]

        return float(self._integral(by_theta)(self.constraints.theta_minus))

    def figures(self, prefix: str) -> dict[str, Any]:
        """Numbers of the gait, their names begin with `prefix`; the conditions of stability alone without a gait."""
        conditions = {
            f"{prefix}_delta_zero_squared": self.delta_squared,
            f"{prefix}_existence": self.existence,
            f"{prefix}_stable": self.exists,
            f"{prefix}_invariance": self.invariance,
        }
        if not self.exists:
            return conditions
        _, begin, end = self.constraints
        length = float(self.at(end, self.sigma)["foot"][0])
        period = self.per_step(lambda here: np.ones_like(here["rate"]))
        theta = np.linspace(begin, end, 300)
        along = self.at(theta, self.along(theta))
        found = {
            "sigma": self.sigma,
            "period_s": period,
            "step_length_m": length,
            "speed_m_per_s": length / period,
            "cost_N2_m_s": self.per_step(lambda here: (here["tau"] ** 2).sum(axis=-1)) / length,
            "peak_torque_Nm": float(np.abs(along["tau"]).max()),
            "friction_needed": float(np.max(np.abs(along["force"][:, 0]) / along["force"][:, 2])),
        }
        return conditions | {f"{prefix}_{name}": value for name, value in found.items()}


PIECES, POINTS = 4, 8
"""Quadrature over theta in `optimal_constraints`: number of pieces, and of Gauss points in each."""

OPTIONS: Any = {"print_time": False, "show_eval_warnings": False, "ipopt": {"print_level": 0, "sb": "yes"}}
"""Options of the solver. Warnings are off: an iterate that does not pass the highest point has no finite cost, and the
solver then shortens its step."""


def _quadrature() -> tuple[Any, Any, Any]:
    """Points in [0, 1] with both ends, weights of the integral, and of integrals up to every point."""
    x, w = np.polynomial.legendre.leggauss(POINTS)
    c = (x + 1) / 2
    inside = np.array([np.polynomial.Polynomial.fit(c, row, POINTS - 1).integ(lbnd=0)(c) for row in np.eye(POINTS)]).T
    points = np.concatenate([[0.0], *((k + c) / PIECES for k in range(PIECES)), [1.0]])
    weights = np.concatenate([[0.0], np.tile(w / 2, PIECES) / PIECES, [0.0]])
    up_to = np.zeros((points.size, points.size))
    below = np.kron(np.tri(PIECES, k=-1), np.tile(w / 2, (POINTS, 1)))
    up_to[1:-1, 1:-1] = (below + np.kron(np.eye(PIECES), inside)) / PIECES
    up_to[-1] = weights
    return points, weights, up_to


Rows = Callable[[dict[str, Any], Any, Any], Any]
"""Function of (states by name, a column each; fractions of the step in theta; impulse): rows that must be >= 0."""


def optimal_constraints(start: ZeroDynamics, speed: float, rows: Rows) -> ZeroDynamics:
    """The constraints whose gait at `speed` [m/s] costs the least torque squared per step length; first guess: `start`.

    As published, the coefficients are the variables, and the strike maps their end to their start, positions and
    slopes; the gait is the fixed point. ValueError if the solver finds none.
    """
    model, (alpha0, *ends0) = start.model, start.constraints
    degree = alpha0.shape[1] - 1
    alpha, ends = MX.sym("alpha", *alpha0.shape), MX.sym("ends", 2)
    state, struck = state_function(model, degree), strike_function(model, start.strike)
    points, weights, up_to = _quadrature()
    states = state.map("states", "serial", points.size, [2, 3], [])
    span = ends[1] - ends[0]
    theta = ends[0] + span * DM(points).T
    here = dict(zip(STATE, states(theta, -DM.ones(theta.shape), alpha, ends), strict=True))
    slope = span * here["inertia"] * here["gravity"]
    first, last = (dict(zip(STATE, state(ends[k], -1, alpha, ends), strict=True)) for k in (0, 1))
    q, qd, impulse, momentum = struck(last["q"], last["qd"])
    zeta = -slope @ DM(weights) / (1 - momentum**2)
    sigma = -ca.sqrt(2 * (momentum**2 * zeta - slope @ DM(up_to).T))
    here = dict(zip(STATE, states(theta, sigma, alpha, ends), strict=True))
    time = span * DM(weights).T / here["rate"]
    length = last["foot"][0]
    cost = ca.sum2(time * ca.sum1(here["tau"] ** 2)) / length
    slopes = qd / phase_angle(qd) - first["qd"] / phase_angle(first["qd"])
    equal = ca.vertcat(q - first["q"], slopes[1:], last["foot"][2], length / ca.sum2(time) - speed)
    above = ca.vertcat(0.99 - momentum**2, rows(here, points, impulse))
    variables = ca.veccat(alpha, ends)
    program: Any = {"x": variables, "f": cost / 100, "g": ca.vertcat(equal, above)}
    solver = ca.nlpsol("gait", "ipopt", program, OPTIONS)
    upper = np.append(np.zeros(equal.numel()), np.full(above.numel(), np.inf))
    found = solver(x0=np.append(alpha0.ravel(order="F"), ends0), lbg=0, ubg=upper)
    if not solver.stats()["success"]:
        raise ValueError(f"no gait of least torque was found on the zero dynamics: {solver.stats()['return_status']}")
    x = np.array(found["x"].full()).ravel()
    best = VirtualConstraints(x[:-2].reshape(alpha0.shape, order="F"), float(x[-2]), float(x[-1]))
    return replace(start, constraints=best)
