"""Small mechanisms for examples, tests and benchmarks: planar pendulums, kinematic trees, a forearm with muscles."""

from __future__ import annotations

import math

from .._base.checks import whole
from .._base.types import LARGEST_MAGNITUDE, numbers, repr_in_message
from ..joints import Revolute
from ..mechanism import Model
from ..mechanism.annotations import Muscle, PathPoint
from ..mechanism.builder import WORLD, ModelBuilder

LIMB_LENGTH, LIMB_RADIUS, LIMB_MASS = 0.35, 0.05, 4.0
"""Size [m] and mass [kg] of a link of `chain`: rounded from the mean of a man's thigh, shank, upper arm and forearm."""

FOREARM_LENGTH = 0.26
"""From the elbow to the wrist [m]."""


def pendulum(n: int = 1, length: float = 1.0, mass: float = 1.0) -> Model:
    """An n-link planar pendulum of equal uniform thin rods, hanging along -z at q = 0.

    Bodies `link1` ... on joints `joint1` ..., all about +y, so a positive angle swings a rod towards -x; each
    angle is relative to the previous rod. The frame `tip` is the free end of the last rod.

    n: number of rods; length [m] and mass [kg] of each. The moment of inertia about a rod's center is
    m l^2 / 12 across the rod and 0 along it. `ValueError` for n < 1, or length or mass not positive.

    >>> print(od.models.pendulum(2))
    pendulum_2: 2 bodies, nq = 2, nv = 2, mass = 2 kg
    body     joint   kind      q  qd  mass [kg]
    link1    joint1  Revolute  0  0   1
      link2  joint2  Revolute  1  1   1
    other frames: tip
    """
    check_count("pendulum", n, "rods")
    check_rod("pendulum", length, mass)
    across = mass * length**2 / 12
    builder = ModelBuilder(f"pendulum_{n}")
    for i in range(1, n + 1):
        builder.add_body(
            f"link{i}", Revolute("y"), f"link{i - 1}" if i > 1 else WORLD, joint_name=f"joint{i}",
            origin=(0.0, 0.0, -length if i > 1 else 0.0),
            mass=mass, com=(0.0, 0.0, -length / 2), inertia=(across, across, 0.0),
        )  # fmt: skip
    builder.add_frame("tip", f"link{n}", (0.0, 0.0, -length))
    return builder.build()


def chain(n: int, branching: float = 1.0) -> Model:
    """A kinematic tree of n equal links on revolute joints, the same at every call: for benchmarks.

    Body i hangs on body floor((i - 2 + ceil(b)) / b) for branching b ([RBDA] Featherstone 2008, autoTree): 1 is a
    chain, 2 a binary tree, infinity a star. Bodies `body1` ..., joints `joint1` ..., about y and x in
    turns; a link is a uniform cylinder the size of a human limb (`LIMB_LENGTH`, `LIMB_RADIUS`,
    `LIMB_MASS`) along -z, its children at its end, side by side along y.

    `ValueError` for n < 1 or branching < 1.

    >>> od.models.chain(7, branching=2).parent[1:]  # a binary tree: parents of bodies 1 to 7
    (0, 1, 1, 2, 2, 3, 3)
    """
    check_count("chain", n, "links")
    if isinstance(branching, bool) or not isinstance(branching, (int, float)) or not 1 <= branching:
        raise ValueError(
            f"chain: branching must be at least 1 (a chain; 2: a binary tree), got {repr_in_message(branching)}"
        )
    along = LIMB_MASS * LIMB_RADIUS**2 / 2
    across = LIMB_MASS * (LIMB_LENGTH**2 / 12 + LIMB_RADIUS**2 / 4)
    builder = ModelBuilder(f"chain_{n}")
    children = [0] * (n + 1)
    for i in range(1, n + 1):
        p = 0 if i == 1 or branching > n else int((i - 2 + math.ceil(branching)) // branching)
        builder.add_body(
            f"body{i}", Revolute("yx"[(i + 1) % 2]), f"body{p}" if p else WORLD, joint_name=f"joint{i}",
            origin=(0.0, 2 * LIMB_RADIUS * children[p], -LIMB_LENGTH if p else 0.0),
            mass=LIMB_MASS, com=(0.0, 0.0, -LIMB_LENGTH / 2), inertia=(across, across, along),
        )  # fmt: skip
        children[p] += 1
    return builder.build()


def elbow(mass: float = 1.5) -> Model:
    """A forearm on a fixed upper arm, which hangs down, with a biceps and a triceps along straight lines.

    Joint `elbow` turns about -y: 0 is a straight arm, a positive angle, up to 2.2 rad, bends it forward, towards +x.
    The frame `wrist` is the end of the forearm, whose mass [kg] is that of a forearm with its hand, a uniform rod. The
    muscles have plausible numbers of their own: they are an example, not a measured arm.

    >>> od.models.elbow().q_names, [muscle.name for muscle in od.models.elbow().muscles]
    (('elbow',), ['biceps', 'triceps'])
    """
    check_rod("elbow", FOREARM_LENGTH, mass)
    across = mass * FOREARM_LENGTH**2 / 12
    builder = ModelBuilder("elbow")
    builder.add_frame("upper_arm", WORLD, (0.0, 0.0, 0.0))
    builder.add_body(
        "forearm", Revolute((0, -1, 0)), WORLD, joint_name="elbow", mass=mass, com=(0.0, 0.0, -FOREARM_LENGTH / 2),
        inertia=(across, across, 0.0), lower=0.0, upper=2.2,
    )  # fmt: skip
    builder.add_frame("wrist", "forearm", (0.0, 0.0, -FOREARM_LENGTH))
    return builder.build().with_muscles([
        _muscle("biceps", (0.02, 0.0, 0.28), (0.012, 0.0, -0.045), 800.0, 0.14, 0.17, 0.0),
        _muscle("triceps", (-0.025, 0.0, 0.16), (-0.02, 0.0, 0.015), 1000.0, 0.10, 0.06, 0.21),
    ])  # fmt: skip


def _muscle(
    name: str, origin: tuple[float, ...], insertion: tuple[float, ...], force: float, fiber: float, tendon: float,
    pennation: float,
) -> Muscle:  # fmt: skip
    path = (PathPoint(f"{name}-P1", "upper_arm", origin), PathPoint(f"{name}-P2", "forearm", insertion))
    return Muscle(
        name, "DeGrooteFregly2016Muscle", path, max_isometric_force=force, optimal_fiber_length=fiber,
        tendon_slack_length=tendon, pennation_angle=pennation, parameters={"fiber_damping": 0.01},
    )  # fmt: skip


def check_count(model: str, n: int, what: str) -> None:
    """ValueError unless n is a number of parts that a model can have."""
    whole(n, f"{model}: the number of {what}", 1, 100_000)


def check_rod(model: str, length: float, mass: float = 1.0) -> None:
    """ValueError unless a rod can have this length [m] and this mass [kg]."""
    for what, value, unit in (("length", length, "m"), ("mass", mass, "kg")):
        size = numbers(value)
        if size.size != 1 or not 0 < size[0] <= LARGEST_MAGNITUDE:
            raise ValueError(
                f"{model}: {what} of a rod must be a positive number of {unit}, got {repr_in_message(value)}"
            )
