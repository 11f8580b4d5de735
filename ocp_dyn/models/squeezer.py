"""Andrews' squeezer: seven planar bodies, a motor and a spring; a benchmark of integrators of constrained motion.

Sources: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer, 1996, sec. VII.7; F.
Mazzia, F. Iavernaro, Test Set for Initial Value Problem Solvers, Bari, problem "Andrews' squeezing mechanism".
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from .._base.types import Expr
from ..constraints import Loop
from ..joints import Revolute
from ..mechanism.builder import WORLD, ModelBuilder
from .closed_chain import ClosedChain

A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)
"""Points of the ground [m]: bodies 5 and 7 turn about A, body 3 about B, the spring is hung at C. Body 1 turns about
the origin."""

MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIA = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
"""Masses [kg] and moments of inertia about the centers of mass [kg m^2] of the bodies 1 to 7."""

COM = ((0.00092, 0.0), (-0.0115, 0.0), (0.01043, -0.01874), (0.0, 0.01421 - 0.02), (0.02308, 0.00916),
       (0.02 - 0.01421, 0.0), (-0.00449, -0.01228))  # fmt: skip
"""Centers of mass of the bodies 1 to 7, from their joints in their own axes [m]."""

TIPS = {2: (-0.028, 0.0), 3: (0.0, -0.035), 4: (0.0, -0.02), 6: (0.02, 0.0)}
"""Points of the bodies 2, 3, 4 and 6 that one pin joins, in their own axes [m]."""

HOOK = (0.02, -0.018)
"""Point D of body 3, to which the spring is fixed, in the body's axes [m]."""

SPRING_STIFFNESS, SPRING_LENGTH, MOTOR_TORQUE = 4530.0, 0.07785, 0.033
"""Stiffness [N/m] and slack length [m] of the spring between C and D, and the torque that drives body 1 [N m]."""

TREE = ((1, "beta", WORLD, (0.0, 0.0)), (2, "theta", "K1", (0.007, 0.0)), (3, "gamma", WORLD, B),
        (5, "delta", WORLD, A), (4, "phi", "K5", (0.04, 0.0)),
        (7, "epsilon", WORLD, A), (6, "omega", "K7", (0.0, -0.04)))  # fmt: skip
"""Body, its joint, its parent, and the place of the joint in the parent [m]."""

START = {
    "beta": -0.0617138900142764496358948458001, "theta": 0.0, "gamma": 0.455279819163070380255912382449,
    "phi": 0.222668390165885884674473185609, "delta": 0.487364979543842550225598953530,
    "omega": -0.222668390165885884674473185609, "epsilon": 1.23054744454982119249735015568,
}  # fmt: skip
"""Angles at the start [rad], in the order of the test set."""

X_Y_ROWS = ((0.0, 0.0, 0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 1.0, 0.0))
"""Rows of a loop in the x-y plane: two points coincide."""


def squeezer() -> ClosedChain:
    """Andrews' squeezer in the x-y plane, without gravity, at the start of the test set, at rest: one degree of
    freedom.

    Bodies `K1` to `K7` on revolute joints about z with the names of the test set's angles, which are the joint
    coordinates: (beta, theta, gamma, phi, delta, omega, epsilon) there, and here in the order of the tree, (beta,
    theta, gamma, delta, phi, epsilon, omega). `squeezer_order` holds the permutation. Three loops, `K3`, `K4`, `K6`,
    join these bodies to the tip of K2 by two rows each, in the axes of K2. `squeezer_torque` are motor and spring.

    >>> squeezer = od.models.squeezer()
    >>> squeezer.model.nv - od.constraint_rank(squeezer.model, squeezer.loops, squeezer.q)
    1
    """
    builder = ModelBuilder("squeezer", gravity=(0.0, 0.0, 0.0))
    for k, joint, parent, (x, y) in TREE:
        builder.add_body(
            f"K{k}", Revolute("z"), parent, joint_name=joint, origin=(x, y, 0.0),
            mass=MASS[k - 1], com=(*COM[k - 1], 0.0), inertia=(0.0, INERTIA[k - 1], INERTIA[k - 1]),
        )  # fmt: skip
    for k, (x, y) in TIPS.items():
        builder.add_frame(f"tip{k}", f"K{k}", (x, y, 0.0))
    builder.add_frame("D", "K3", (*HOOK, 0.0))
    builder.add_frame("C", WORLD, (*C, 0.0))
    loops = tuple(Loop("tip2", f"tip{k}", X_Y_ROWS, label=f"K{k}") for k in (3, 4, 6))
    return ClosedChain(builder.build(), loops, np.array([START[joint] for _, joint, _, _ in TREE]))


def squeezer_order() -> tuple[int, ...]:
    """Places of the test set's seven angles in q: `q[list(squeezer_order())]` is in the order of the test set.

    >>> q = od.models.squeezer().q
    >>> q[list(od.models.squeezer_order())].round(4).tolist()
    [-0.0617, 0.0, 0.4553, 0.2227, 0.4874, -0.2227, 1.2305]
    """
    joints = [joint for _, joint, _, _ in TREE]
    return tuple(joints.index(name) for name in START)


def squeezer_torque(q: Expr) -> Expr:
    """tau (7) [N m] of the motor on body 1 and of the spring from C to D, which turns body 3; DM, SX or MX.

    The spring's force on body 3 is f = -k (1 - l0 / |D - C|) (D - C), its torque about B the moment (D - B) x f.

    >>> od.models.squeezer_torque(ca.DM(od.models.squeezer().q)).T  # the motor's 0.033 N m, and the spring's
    DM([[0.033, 0, -3.0042, 0, 0, 0, 0]])
    """
    gamma, (x, y) = q[2], HOOK
    arm = ca.vertcat(x * ca.cos(gamma) - y * ca.sin(gamma), x * ca.sin(gamma) + y * ca.cos(gamma))
    stretch = arm + ca.DM(B) - ca.DM(C)
    f = -SPRING_STIFFNESS * (1 - SPRING_LENGTH / ca.norm_2(stretch)) * stretch
    return ca.vertcat(MOTOR_TORQUE, 0, arm[0] * f[1] - arm[1] * f[0], 0, 0, 0, 0)


def squeezer_multipliers(q: Expr, lam: Expr) -> Expr:
    """The six multipliers of the test set from lam (6) of the loops [N]: components along the world's x and y.

    lam has the axes of K2, which are turned by beta + theta. The test set writes M q'' = f - G' lambda for the
    distances from the tips of K3, K4 and K6 to the tip of K2, so that both are the forces on K3, K4 and K6.

    >>> squeezer = od.models.squeezer()
    >>> od.models.squeezer_multipliers(ca.DM(squeezer.q), ca.DM.zeros(6)).shape
    (6, 1)
    """
    c, s = ca.cos(q[0] + q[1]), ca.sin(q[0] + q[1])
    pairs = [(lam[i], lam[i + 1]) for i in (0, 2, 4)]
    return ca.vertcat(*(part for x, y in pairs for part in (c * x - s * y, s * x + c * y)))
