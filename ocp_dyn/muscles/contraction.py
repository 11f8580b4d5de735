"""Contraction of muscles of Hill's type: forces of fibers and tendons, and rates of the state of a compliant tendon.

    F = F0 (a f_l(l) f_v(v) + f_p(l) + beta v),    F cos(alpha) = F_T = F0 f_T(l_T),    l_MT = l_M cos(alpha) + l_T,

with the fiber length l over the optimal one, its speed v over the largest speed of shortening, and the pennation
angle alpha, at constant width: l_M sin(alpha) = l0 sin(alpha0). Lengthening is positive, and so is tension.

| tendon | state | explicit | implicit |
|---|---|---|---|
| rigid | none | `rigid_tendon` | |
| compliant | fiber length l | `fiber_state(...)` | `fiber_state(..., fiber_rate=)` |
| compliant | tendon force z = f_T | `tendon_state(...)` | `tendon_state(..., force_rate=)` |

Explicit forms give the rate of the state: the fiber speed follows from the balance of the forces, with the damping of
the fibers. In implicit forms the rate is given, and `residual`, the force of the tendon less that of the fibers along
it, over F0, must vanish; they need no inverse and suit optimization better. The force of the tendon is a state only for
curves in which every force has one length (De Groote & Fregly). Source: De Groote et al., Ann. Biomed. Eng. 44, 2016.

OpenSim 4.6 leaves the damping out of the explicit form of DeGrooteFregly2016Muscle, not out of the implicit one. Here
both have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import casadi as ca
import numpy as np
from casadi import DM

from .._base.types import Array, Expr
from .activation import columns
from .hill_muscles import HillMuscles

STEEPEST = 0.1
"""Least cosine of the pennation angle: 84.3 degrees, as in OpenSim's classes with a compliant tendon."""

MOST_STEPS, CLOSED = 120, 1e-13
"""Steps of the search for an equilibrium, and the residual at which it ends."""

SHORTEST = 0.01
"""Shortest fiber without pennation, over the optimal length."""


class MuscleForces(NamedTuple):
    """Lengths, speeds and forces of muscles, columns (n).

    | field | meaning |
    |---|---|
    | fiber_length [m], fiber_speed [m/s] | of the fibers, along themselves |
    | cos_pennation | of the angle between fibers and tendon |
    | tendon_length [m] | |
    | active_multiplier, speed_multiplier, passive_multiplier | f_l, f_v, f_p |
    | active_force, passive_force, fiber_force [N] | of the fibers; the passive one with the damping |
    | tendon_force [N] | what pulls at the bones |
    | rate [1/s] | of the state, the fiber length over the optimal one or the tendon force over F0; else 0 |
    | residual | of implicit forms: tendon force less fiber force along the tendon, over F0 |

    >>> od.muscles.rigid_tendon(hill, path_length, ca.DM([0.0, 0.0]), ca.DM([0.5, 0.1])).cos_pennation.full().round(3)
    array([[1.   ],
           [0.979]])
    """

    fiber_length: Expr
    fiber_speed: Expr
    cos_pennation: Expr
    tendon_length: Expr
    active_multiplier: Expr
    speed_multiplier: Expr
    passive_multiplier: Expr
    active_force: Expr
    passive_force: Expr
    fiber_force: Expr
    tendon_force: Expr
    rate: Expr
    residual: Expr


def rigid_tendon(muscles: HillMuscles, length: Expr, speed: Expr, activation: Expr) -> MuscleForces:
    """Forces of muscles with rigid tendons, from lengths [m], speeds [m/s] of their paths and activations, (n) each.

    l_M cos(alpha) = length - ls, and the fiber speed is speed cos(alpha). Muscles with Millard's curves do not push: a
    negative fiber force becomes zero, and a path that is shorter than its tendon bears no force from fibers that
    shorten, as in OpenSim; other curves stay smooth.

    >>> found = od.muscles.rigid_tendon(hill, path_length, ca.DM([0.0, 0.0]), ca.DM([0.5, 0.1]))
    >>> found.tendon_force.full().round().ravel()
    array([415., 119.])
    """
    length, speed, a = columns(muscles.size, length=length, speed=speed, activation=activation)
    along = length - muscles.tendon_slack_length
    held = _held(muscles)
    if held is not None:
        along = ca.if_else(held > 0, ca.fmax(along, 0), along)
    whole = ca.sqrt(along**2 + muscles.width**2)
    cosine, tendon = along / whole, muscles.tendon_slack_length + 0 * whole
    alive = None
    if held is not None:
        alive = whole > held
        whole = ca.fmax(whole, held)
        cosine = ca.if_else(alive, cosine, ca.sqrt(1 - (muscles.width / whole) ** 2))
        tendon = ca.if_else(alive, tendon, length - whole * cosine)
    v = speed * cosine / (muscles.max_contraction_velocity * muscles.optimal_fiber_length)
    found = _fibers(muscles, whole, v if alive is None else alive * v, a, cosine)._replace(tendon_length=tendon)
    return found if held is None or alive is None else _without_pushing(found, alive, held > 0)


def fiber_state(
    muscles: HillMuscles,
    length: Expr,
    speed: Expr,
    activation: Expr,
    fiber_length: Expr,
    fiber_rate: Expr | None = None,
) -> MuscleForces:
    """Forces of muscles with compliant tendons whose state is the fiber length over the optimal one (n).

    length [m], speed [m/s]: of the paths; the speed enters no result, as fibers and tendon share it. fiber_rate [1/s]:
    the rate of the state in the implicit form, in which `residual` must vanish; None: explicit, `rate` is the rate.
    Pennation ends at a cosine of 0.1.

    >>> found = od.muscles.fiber_state(hill, path_length, ca.DM([0.0, 0.0]), ca.DM([0.5, 0.1]), ca.DM([0.95, 1.0]))
    >>> bool(ca.norm_inf(found.residual) < 1e-12)
    True
    """
    length, speed, a, l = columns(
        muscles.size, length=length, speed=speed, activation=activation, fiber_length=fiber_length
    )
    held, whole = _held(muscles), l * muscles.optimal_fiber_length
    longer = None if held is None else whole > held
    if held is not None:
        whole = ca.fmax(whole, held)
        l = whole / muscles.optimal_fiber_length
    cosine = ca.sqrt(ca.fmax(1 - (muscles.width / whole) ** 2, STEEPEST**2))
    tendon = length - whole * cosine
    pull = muscles.curves.tendon_force(tendon / muscles.tendon_slack_length)
    if fiber_rate is None:
        v = _balanced_speed(muscles, pull, l, a, cosine)
    else:
        (rate,) = columns(muscles.size, fiber_rate=fiber_rate)
        v = rate / muscles.max_contraction_velocity
    if longer is None:
        found = _fibers(muscles, whole, v, a, cosine)
    else:
        alive = ca.fmax(longer, v > 0)
        v, pull = alive * v, alive * pull
        found = _without_pushing(_fibers(muscles, whole, v, a, cosine), alive, 0)
    force = muscles.max_isometric_force * pull
    return found._replace(
        tendon_length=tendon,
        tendon_force=force,
        rate=v * muscles.max_contraction_velocity,
        residual=(force - found.fiber_force * cosine) / muscles.max_isometric_force,
    )


def tendon_state(
    muscles: HillMuscles,
    length: Expr,
    speed: Expr,
    activation: Expr,
    tendon_force: Expr,
    force_rate: Expr | None = None,
) -> MuscleForces:
    """Forces of muscles with compliant tendons whose state is the tendon force over F0 (n).

    length [m], speed [m/s]: of the paths. force_rate [1/s]: the rate of the state in the implicit form, in which
    `residual` must vanish; None: explicit, `rate` is the rate. NotImplementedError for curves whose tendon goes slack.

    >>> state = path_length, ca.DM([0.1, -0.1]), ca.DM([0.5, 0.1]), ca.DM([0.3, 0.2])
    >>> found = od.muscles.tendon_state(hill, *state)
    >>> again = od.muscles.tendon_state(hill, *state, found.rate)
    >>> bool(ca.norm_inf(again.residual) < 1e-12)
    True
    """
    length, speed, a, z = columns(
        muscles.size, length=length, speed=speed, activation=activation, tendon_force=tendon_force
    )
    curves, vmax = muscles.curves, muscles.max_contraction_velocity
    tendon = muscles.tendon_slack_length * curves.tendon_length(z)
    stiffness = curves.tendon_stiffness(z) / muscles.tendon_slack_length
    along = length - tendon
    whole = ca.sqrt(along**2 + muscles.width**2)
    cosine = along / whole
    if force_rate is None:
        v = _balanced_speed(muscles, z, whole / muscles.optimal_fiber_length, a, cosine)
        rate = stiffness * (speed - v * vmax * muscles.optimal_fiber_length / cosine)
    else:
        (rate,) = columns(muscles.size, force_rate=force_rate)
        v = (speed - rate / stiffness) * cosine / (vmax * muscles.optimal_fiber_length)
    found = _fibers(muscles, whole, v, a, cosine)
    force = muscles.max_isometric_force * z
    return found._replace(
        tendon_length=tendon,
        tendon_force=force,
        rate=rate,
        residual=(force - found.fiber_force * cosine) / muscles.max_isometric_force,
    )


def equilibrium(muscles: HillMuscles, length: Expr, activation: Expr, speed: Expr | None = None) -> DM:
    """Fiber lengths over the optimal ones (n) at which the forces of fibers and compliant tendons are equal: numbers.

    speed [m/s]: of the paths, whose fibers move as with a rigid tendon; None: everything stands still. Found between
    the shortest fiber and one whose tendon is slack, by halving and the rule of Illinois in turns, to rounding. Of
    several equilibria one is found; of a path that is too short for its shortest fiber that fiber, with a slack tendon.

    >>> state = path_length, ca.DM([0.5, 0.1])
    >>> fibers = od.muscles.equilibrium(hill, *state)
    >>> found = od.muscles.fiber_state(hill, path_length, ca.DM.zeros(2), state[1], fibers)
    >>> bool(ca.norm_inf(found.rate) < 1e-9)
    True
    """
    length, a = columns(muscles.size, length=length, activation=activation)
    still = DM.zeros(muscles.size) if speed is None else columns(muscles.size, speed=speed)[0]
    slack = ca.fmax(length - muscles.tendon_slack_length, 0)

    def residual(fibers: Array) -> Array:
        l = DM(fibers)
        cosine = ca.sqrt(ca.fmax(1 - (muscles.width / (l * muscles.optimal_fiber_length)) ** 2, STEEPEST**2))
        rate = still * cosine / muscles.optimal_fiber_length
        value = np.clip(
            np.array(DM(fiber_state(muscles, length, still, a, l, rate).residual).full()).ravel(), -9e9, 9e9
        )
        squeezed: Array = value / (1 + np.abs(value))
        return squeezed  # overstretched tendons would make secants useless

    low = np.array(DM(shortest_fiber(muscles)).full()).ravel()
    high = np.array(DM(ca.sqrt(slack**2 + muscles.width**2) / muscles.optimal_fiber_length).full()).ravel()
    return DM(_bracketed(residual, low, np.maximum(high, low)))


def _bracketed(f: Callable[[Array], Array], low: Array, high: Array) -> Array:
    """Roots, entry by entry, of a function that falls from positive to negative values between low and high."""
    at_low, at_high = f(low), f(high)
    for step in range(MOST_STEPS):
        if step % 3 == 0:
            middle = (low + high) / 2
        else:
            part = at_low / np.where(at_low == at_high, 1.0, at_low - at_high)
            middle = low + np.clip(part, 0.0, 1.0) * (high - low)
        value = f(middle)
        above = value > 0
        at_high = np.where(above, at_high / 2, value)  # the side that stays weighs half: the rule of Illinois
        at_low = np.where(above, value, at_low / 2)
        low, high = np.where(above, middle, low), np.where(above, high, middle)
        if np.all((np.abs(value) < CLOSED) | (high - low <= 1e-15)):
            break
    return np.where(np.abs(at_low) < np.abs(at_high), low, high)


def shortest_fiber(muscles: HillMuscles) -> Expr:
    """The shortest fiber lengths over the optimal ones (n): where the cosine of the pennation is 0.1.

    >>> od.muscles.shortest_fiber(hill).full().round(4).ravel()
    array([0.01  , 0.2095])
    """
    return ca.fmax(muscles.width / muscles.optimal_fiber_length / math.sqrt(1 - STEEPEST**2), SHORTEST)


def _balanced_speed(muscles: HillMuscles, pull: Expr, l: Expr, a: Expr, cosine: Expr) -> Expr:
    """Speed of the fibers, over the largest one, at which they balance the tendon."""
    curves = muscles.curves
    force = pull / cosine - curves.passive_force_length(l)
    return curves.fiber_speed(force, a * curves.active_force_length(l), muscles.fiber_damping, a)


def _fibers(muscles: HillMuscles, whole: Expr, v: Expr, a: Expr, cosine: Expr) -> MuscleForces:
    """The forces of fibers with the length `whole` [m] and the speed v over the largest one."""
    curves, F0 = muscles.curves, muscles.max_isometric_force
    l = whole / muscles.optimal_fiber_length
    by_length, by_speed, passive = (
        curves.active_force_length(l), curves.force_velocity(v, a), curves.passive_force_length(l)
    )  # fmt: skip
    active_force, passive_force = F0 * a * by_length * by_speed, F0 * (passive + muscles.fiber_damping * v)
    force = active_force + passive_force
    return MuscleForces(
        whole, v * muscles.max_contraction_velocity * muscles.optimal_fiber_length, cosine, 0 * whole, by_length,
        by_speed, passive, active_force, passive_force, force, force * cosine, 0 * whole, 0 * whole,
    )  # fmt: skip


def _held(muscles: HillMuscles) -> Expr | None:
    """Fiber lengths [m] (n) below which fibers are held and bear no force; 0 for curves that do not hold them, None if
    none do."""
    least = muscles.curves.least_length(muscles.size)
    if least is None:
        return None
    return ca.if_else(least > 0, ca.fmax(least, shortest_fiber(muscles)), 0) * muscles.optimal_fiber_length


def _without_pushing(found: MuscleForces, alive: Expr, chosen: Expr) -> MuscleForces:
    """No forces of muscles that are not alive; where chosen, a negative fiber force becomes zero."""
    negative = ca.fmin(found.fiber_force, 0) * chosen
    force = alive * (found.fiber_force - negative)
    return found._replace(
        active_force=alive * found.active_force,
        passive_force=alive * (found.passive_force - negative),
        fiber_force=force,
        tendon_force=force * found.cos_pennation,
    )
