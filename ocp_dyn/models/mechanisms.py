"""Mechanisms of textbooks and benchmark collections: five bars, Bricard's linkage, rows of four-bars, a slider-crank.

Sources:

[GJB94] J. Garcia de Jalon, E. Bayo, Kinematic and Dynamic Simulation of Multibody Systems, Springer, 1994, ch. 8.
[GDLC06] M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, A benchmarking system for MBS simulation software, Multibody
        System Dynamics 16, 2006; IFToMM library of benchmarks, problems A02 (rows of four-bars) and A04 (Bricard).
"""

from __future__ import annotations

import math

import numpy as np

from .._base.types import finite, truth
from ..constraints import Loop
from ..joints import Prismatic, Revolute, Universal
from ..mechanism import Model
from ..mechanism.builder import WORLD, ModelBuilder
from .closed_chain import ClosedChain
from .simple import check_count, check_rod

BRICARD_AXES = "zyxzy"
"""Axes of the joints of the five bars at q = 0, in order; a sixth joint about x closes Bricard's mechanism."""

BRICARD_BARS = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
"""Directions of the five bars at q = 0: edges of a cube, each at right angles to both of its joints."""

BAR_WIDTH = 0.1
"""Width of a uniform bar with square cross section, of its length [GDLC06]."""

X_FROM_Z = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
"""Axes (columns) of a frame whose z is the x of the frame around it."""

X_Z_ROWS = ((0.0, 0.0, 0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 1.0))
"""Rows of a loop in the x-z plane: two points coincide."""

STANDARD_GRAVITY = 9.81
"""Magnitude of gravity in all models of this file [m/s^2]."""


def five_bar_pendulum(length: float = 1.0, mass: float = 1.0, lumped: bool = True) -> Model:
    """Five equal bars in a chain on revolute joints, in three dimensions: Bricard's mechanism, opened at its last joint
    ([GJB94], figure 8.22).

    Bodies `bar1` ... on joints `joint1` ..., about z, y, x, z, y at q = 0. There the bars are five edges of a cube and
    every body frame, whose origin is in the body's joint, has the world's axes. Each axis is at right angles to the two
    bars that it joins. Frame `tip`: the free end of the last bar, its z along x at q = 0, where a sixth axis would be.

    length [m] and mass [kg] of a bar. lumped=True: half of the mass at each end, as in example 8.6; a bar has
    m l^2 / 4 across and no moment of inertia along itself. H is still positive definite and the articulated-body
    algorithm is not singular, because no joint turns about its own bar. lumped=False: uniform bars with a square cross
    section of width l / 10, the bars of the IFToMM benchmark A04. `ValueError` for length or mass not positive.

    >>> od.models.five_bar_pendulum()
    <Model 'five_bar_pendulum': nb=5, nq=5, nv=5>
    """
    return _five_bars("five_bar_pendulum", length, mass, lumped).build()


def bricard(length: float = 1.0, mass: float = 1.0, lumped: bool = True) -> ClosedChain:
    """Bricard's mechanism: `five_bar_pendulum`, its tip on a revolute joint about x that is fixed to the ground at
    (0, -l, 0) ([GJB94], figure 8.21; IFToMM benchmark A04).

    Six revolute joints in one loop leave no freedom by Gruebler's count, 5 - 5; because of the directions of their
    axes one row of the loop repeats the others everywhere, and the mechanism moves with one degree of freedom. The
    assembled position is the cube of `five_bar_pendulum` at q = 0, whose sixth edge is the ground. The loop joins the
    frame `tip` to the frame `anchor` of the ground. The benchmark has gravity along -y; here it is turned about x to
    -z. For its uniform bars, give lumped=False.

    >>> bricard = od.models.bricard()
    >>> od.constraint_rank(bricard.model, bricard.loops, bricard.q), bricard.model.nv  # one degree of freedom
    (4, 5)
    """
    builder = _five_bars("bricard", length, mass, lumped)
    builder.add_frame("anchor", WORLD, (0.0, -length, 0.0), X_FROM_Z)
    return ClosedChain(builder.build(), (Loop("anchor", "tip", "revolute", label="joint6"),), np.zeros(5))


def n_four_bar(n: int = 2, length: float = 1.0, mass: float = 1.0, speed: float = 1.0) -> ClosedChain:
    """A row of n four-bar mechanisms in the x-z plane: n + 1 upright cranks of equal length, hinged to the ground one
    length apart, and n couplers of that length between their tips (IFToMM benchmark A02 [GDLC06], with n = 2 and 40).

    Bodies `crank0`, `coupler1`, `crank1`, `coupler2` ... about +y: coupler i is carried by crank i - 1, and a loop
    joins its end to the tip of crank i. Frames `B0` ... `Bn`: the tips; `coupler1_end` ... Thin uniform rods. A loop
    has the two rows in the plane. length [m], mass [kg] of each rod; speed [m/s] of the tips along x at the start.

    One degree of freedom: the couplers stay level, and crank angles are equal, q = (theta, -theta, theta, ...). Where
    all rods are in one line (theta = +-pi/2), each four-bar could also fold as an antiparallelogram: G loses n ranks
    of its rows, so that the mechanism has n + 1 degrees of freedom there. `n_four_bar_motion` is the exact motion.

    >>> chain = od.models.n_four_bar(2)
    >>> chain.model.nv - od.constraint_rank(chain.model, chain.loops, chain.q)  # one degree of freedom
    1
    """
    check_count("n_four_bar", n, "four-bars")
    check_rod("n_four_bar", length, mass)
    rate = finite(speed, "n_four_bar: speed [m/s]") / length
    across = mass * length**2 / 12
    builder, loops = ModelBuilder(f"n_four_bar_{n}"), []
    for i in range(n + 1):
        if i:
            builder.add_body(
                f"coupler{i}", Revolute("y"), f"crank{i - 1}", joint_name=f"B{i - 1}_hinge", origin=(0.0, 0.0, length),
                mass=mass, com=(length / 2, 0.0, 0.0), inertia=(0.0, across, across),
            )  # fmt: skip
            builder.add_frame(f"coupler{i}_end", f"coupler{i}", (length, 0.0, 0.0))
            loops.append(Loop(f"B{i}", f"coupler{i}_end", X_Z_ROWS, label=f"B{i}_hinge"))
        builder.add_body(
            f"crank{i}", Revolute("y"), WORLD, joint_name=f"A{i}_hinge", origin=(i * length, 0.0, 0.0),
            mass=mass, com=(0.0, 0.0, length / 2), inertia=(across, across, 0.0),
        )  # fmt: skip
        builder.add_frame(f"B{i}", f"crank{i}", (0.0, 0.0, length))
    model = builder.build()
    turning = np.array([1.0 if name.startswith("crank") else -1.0 for name in model.body_names])
    return ClosedChain(model, tuple(loops), np.zeros(model.nq), rate * turning)


def n_four_bar_motion(n: int, t: float, length: float = 1.0, speed: float = 1.0) -> tuple[float, float]:
    """(theta, d(theta)/dt) of the cranks of `n_four_bar` at time t [s], exactly; theta [rad] from the upright to +x.

    All cranks turn alike and the couplers only translate, so that theta'' = k sin(theta) with
    k = (g / l) ((n + 1) / 2 + n) / ((n + 1) / 3 + n): a pendulum that turns over, whatever the mass. With the amplitude
    am(u | m) and the quarter period K(m) of Jacobi's elliptic functions and w = |speed| / l,

        theta = pi - 2 am(K - sqrt(w^2 + 4 k) t / 2 | m),   m = 4 k / (w^2 + 4 k),   times the sign of speed.

    The tip of crank i is at (i l + l sin(theta), 0, l cos(theta)). `ValueError` for speed 0: upright cranks at rest.

    >>> theta, speed = od.models.n_four_bar_motion(2, t=0.5)
    >>> round(theta, 4), round(speed, 4)
    (0.7688, 2.7273)
    """
    check_count("n_four_bar_motion", n, "four-bars")
    check_rod("n_four_bar_motion", length)
    t = finite(t, "n_four_bar_motion: t [s]")
    k = STANDARD_GRAVITY / length * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    w = abs(finite(speed, "n_four_bar_motion: speed [m/s]")) / length
    if w == 0:
        raise ValueError("n_four_bar_motion: speed must not be zero: the upright cranks would stay at rest")
    fastest = math.sqrt(w**2 + 4 * k)
    m = 4 * k / fastest**2
    if m == 1:
        raise ValueError(f"n_four_bar_motion: speed {speed:g} m/s is too small for cranks of {length:g} m")
    quarter = math.pi / (2 * _means(m)[-1][0])  # K(m), the complete elliptic integral of the first kind
    theta = math.pi - 2 * _amplitude(quarter - fastest * t / 2, m)
    rate = math.sqrt(w**2 + 4 * k * math.sin(theta / 2) ** 2)
    return math.copysign(theta, theta * speed), math.copysign(rate, speed)


def spatial_slider_crank(speed: float = 6.0) -> ClosedChain:
    """The spatial slider-crank of E. Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989, ch. 12,
    with the data of the IFToMM benchmark of the same name.

    A crank of 0.08 m turns about x at (0, 0.1, 0.12); a rod of 0.3 m leads from its end, a ball joint, to a slider on
    the x axis, a universal joint. One degree of freedom. Bodies `crank` (Revolute x), `slider` (Prismatic x) and `rod`
    (Universal, on the slider); the loop `B` is the ball joint. At the start the crank points up and turns with `speed`
    [rad/s]; the rod is on the side of positive x. Masses 0.12, 2 and 0.5 kg; the crank's center of mass is in its axis.
    The description is not complete in the universal joint's axes, which decide on the rod's spin: here they are y in
    the slider, and at right angles to it and to the rod in the rod. With z in the slider the crank is 0.005 rad away
    after 0.2 s, so that published curves are met to plotting accuracy only.

    >>> crank = od.models.spatial_slider_crank()
    >>> crank.model.joint_names
    ('A', 'rail', 'C')
    """
    speed = finite(speed, "spatial_slider_crank: speed [rad/s]")
    crank, rod, axle = 0.08, 0.3, (0.0, 0.1, 0.12)
    builder = ModelBuilder("spatial_slider_crank")
    builder.add_body("crank", Revolute("x"), joint_name="A", origin=axle, mass=0.12, inertia=(1e-4, 1e-5, 1e-4))
    builder.add_body("slider", Prismatic("x"), joint_name="rail", mass=2.0, inertia=(1e-4, 1e-4, 1e-4))
    builder.add_body(
        "rod", Universal("y", "z"), "slider", joint_name="C",
        mass=0.5, com=(-rod / 2, 0.0, 0.0), inertia=(4e-4, 4e-3, 4e-3),
    )  # fmt: skip
    builder.add_frame("B", "crank", (0.0, 0.0, crank))
    builder.add_frame("rod_end", "rod", (-rod, 0.0, 0.0))
    loop = Loop("B", "rod_end", "ball", label="B")
    height, side = axle[2] + crank, axle[1]
    x = math.sqrt(rod**2 - height**2 - side**2)
    # B is at (x, 0, 0) - rod (cos(a) cos(b), sin(b), -sin(a) cos(b)) after turns by a about y, then b about z
    a, b = math.atan2(height, x), -math.asin(side / rod)
    # its velocity is (0, -crank speed, 0), at right angles to the rod's change of direction
    slide = side * crank * speed / x
    rates = (speed, slide, -height * slide / (x**2 + height**2), crank * speed / (rod * math.cos(b)))
    return ClosedChain(builder.build(), (loop,), np.array([0.0, x, a, b]), np.array(rates))


def _five_bars(name: str, length: float, mass: float, lumped: bool) -> ModelBuilder:
    check_rod(name, length, mass)
    if truth(lumped, f"{name}: lumped"):
        across, along = mass * length**2 / 4, 0.0
    else:
        across, along = mass * length**2 / 12 * (1 + BAR_WIDTH**2), mass * (BAR_WIDTH * length) ** 2 / 6
    builder, origin, parent = ModelBuilder(name), np.zeros(3), WORLD
    for i, (axis, direction) in enumerate(zip(BRICARD_AXES, BRICARD_BARS, strict=True), 1):
        end = length * np.array(direction)
        inertia = np.where(np.array(direction) == 0.0, across, along)
        builder.add_body(
            f"bar{i}", Revolute(axis), parent, joint_name=f"joint{i}", origin=origin,
            mass=mass, com=end / 2, inertia=inertia,
        )  # fmt: skip
        parent, origin = f"bar{i}", end
    builder.add_frame("tip", parent, origin, X_FROM_Z)
    return builder


def _amplitude(u: float, m: float) -> float:
    """am(u | m), 0 <= m < 1, by descending Landen transformations [Abramowitz and Stegun, 16.4]."""
    means = _means(m)
    angle = float(2 ** (len(means) - 1)) * means[-1][0] * u
    for a, c in reversed(means[1:]):
        angle = (angle + math.asin(c / a * math.sin(angle))) / 2
    return angle


def _means(m: float) -> list[tuple[float, float]]:
    """(a_i, c_i) of the arithmetic-geometric mean from a = 1, b = sqrt(1 - m), c = sqrt(m), until the next c, c^2 / (4
    a), is none.

    Rounding may leave a - b at the last bit for ever.
    """
    a, b, c = 1.0, math.sqrt(1 - m), math.sqrt(m)
    means = [(a, c)]
    while c > 1e-9 * a:
        a, b, c = (a + b) / 2, math.sqrt(a * b), (a - b) / 2
        means.append((a, c))
    return means
