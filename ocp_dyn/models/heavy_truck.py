"""A heavy truck with leaf springs and steering in closed loops [GJB94, section 8.4.2]."""

from __future__ import annotations

import numpy as np

from ..joints import FloatingBase, Prismatic, Revolute, Spherical, Universal
from ..mechanism.builder import WORLD, DofOptions
from .closed_chain import ClosedChain
from .placed_bodies import PlacedBodies, box_inertia, rod_inertia, wheel_inertia

AXLES = {"front": 2.2, "rear": -1.9}
"""Places of the axles ahead of the chassis' center of mass [m]."""

FRAME_HEIGHT, WHEEL_RADIUS, TRACK = 1.0, 0.5, 2.0
"""Height of the chassis' center of mass and origin, which is also the drawing's, radius of the wheels, and track
[m]."""

SEAT = 0.45
"""Distance of the leaf springs from the middle plane [m]."""

LEAF_RATE = {"front": 2.5e5, "rear": 4.5e5}
LEAF_DAMPING = {"front": 1.0e4, "rear": 1.5e4}
"""Vertical stiffness [N/m] and damping [N s/m] of one leaf spring with level parts; the slanted shackle adds 14 %."""

MASSES = {
    "chassis": 11500.0, "axle_front": 350.0, "axle_rear": 750.0, "wheel_front": 110.0, "wheel_rear": 220.0,
    "leaf": 25.0, "clamp": 20.0, "shackle": 5.0, "knuckle": 60.0, "tie_rod": 18.0, "bar": 28.0, "link": 4.0,
    "gear": 15.0,
}  # fmt: skip
"""Masses of the parts [kg]; the chassis with cab, engine and load, wheels of the rear are pairs."""

BAR_STIFFNESS = 4.0e4
"""Stiffness of a stabilizer bar against twist [N m/rad], as roll of the stiff bar in its bearing."""


def heavy_truck() -> ClosedChain:
    """A truck of two axles on leaf springs: 33 bodies, 48 coordinates of the open tree, 18 degrees of freedom.

    The book counts 33 bodies, 23 R, 15 S and 6 U joints and one G, 18 degrees of freedom, and 48 open-chain coordinates
    ([GJB94], figure 8.20). So the floating chassis is not among the joints, 13 of the S joints are cut, and G has one
    freedom: 6 + 23 + 2 x 3 + 6 x 2 + 1 = 48. These counts are kept; the 39 rows of the cut joints have rank 30. The
    book's drawing does not tell all of the topology, and no sizes: the following is assumed, and so are all numbers.

    | bodies | joints | cut |
    |---|---|---|
    | `chassis` | floating, not counted | |
    | `spring1` .. `spring4_front_l`, `_rear_l`: front part, clamp, rear part, shackle | 4 R along y each | S |
    | `spring1` .. `spring4_front_r`, `_rear_r` | S, 3 R each: it swings about the line through its eyes | S |
    | `axle_front`, `axle_rear` | R along x on the left clamp | S on the right clamp |
    | `bar_front`, `bar_rear`: stabilizer bars | U on the axle: turn and elastic twist | |
    | `link_front_l` .. `link_rear_r`: links of the bars | 4 U | 4 S on the chassis |
    | `knuckle_l`, `knuckle_r` | 2 R on the axle, upper bearings of the kingpins | 2 S, lower bearings |
    | `tie_rod` | R on the left knuckle | S on the right one |
    | `wheel_front_l` .. `wheel_rear_r` | 4 R | |
    | `steering_gear` | G: it slides in a guide of the chassis; a servo, no joint, couples it to the kingpins | |

    The nine dependent rows: one each of the four springs and the tie rod, which move in planes, and the three of each
    lower bearing. The degrees of freedom: six of the chassis, heave, roll and pitch of each axle, four wheels, the
    steering of the wheels, and the steering gear.

    x forward, y to the left, z up; q is assembled, with all wheels on the plane z = 0. Springs and dampers are joint
    data, used with `od.Loads(passive=True)`: of the leaf springs at the clamps, slack at q = 0, and of the twist of the
    stabilizer bars. Tires have no forces. All masses in `MASSES`.

    >>> truck = od.models.heavy_truck()
    >>> truck.model.nv, len(truck.loops)
    (48, 13)
    """
    truck = PlacedBodies("heavy_truck")
    truck.body("chassis", FloatingBase(), WORLD, (0, 0, 0), MASSES["chassis"],
               box_inertia(7.0, 2.2, 1.6, MASSES["chassis"]), joint_name="root")  # fmt: skip
    for place, x, z in (("bumper", 3.2, 0.1), ("cab", 2.9, 1.2), ("load", -3.2, 1.2), ("tail", -3.2, 0.0)):
        for side, y in (("l", SEAT), ("r", -SEAT)):
            truck.point(f"{place}_{side}", "chassis", (x, y, z))
    for axle, x in AXLES.items():
        for side, y in (("l", SEAT), ("r", -SEAT)):
            _leaf_spring(truck, axle, side, x, y)
        _axle(truck, axle, x)
        _stabilizer(truck, axle, x)
    _front_wheels(truck, AXLES["front"])
    hub = WHEEL_RADIUS - FRAME_HEIGHT
    for side, y in (("l", TRACK / 2), ("r", -TRACK / 2)):
        wheel = wheel_inertia(WHEEL_RADIUS, 0.5, MASSES["wheel_rear"])
        truck.body(
            f"wheel_rear_{side}", Revolute("y"), "axle_rear", (AXLES["rear"], y, hub), MASSES["wheel_rear"], wheel
        )
    gear = (AXLES["front"] + 0.4, 0.4, -0.1)
    truck.body("steering_gear", Prismatic("x"), "chassis", gear, MASSES["gear"],
               box_inertia(0.3, 0.12, 0.12, MASSES["gear"]))  # fmt: skip
    return truck.chain(FRAME_HEIGHT)


def _leaf_spring(truck: PlacedBodies, axle: str, side: str, x: float, y: float) -> None:
    """Front part, clamp, rear part and shackle; the eye and the shackle's upper end are on the chassis."""
    end, reach, half = f"{axle}_{side}", 0.65, 0.15
    eye, front, back = (x + half + reach, y, -0.28), (x + half, y, -0.40), (x - half, y, -0.40)
    lower, upper = (x - half - reach, y, -0.30), (x - half - reach - 0.06, y, -0.14)
    stiffness = LEAF_RATE[axle] * reach**2 / 2
    bending: DofOptions = {"stiffness": stiffness, "damping": LEAF_DAMPING[axle] * reach**2 / 2}
    first = Revolute("y") if side == "l" else Spherical()
    truck.rod(f"spring1_{end}", first, "chassis", eye, front, MASSES["leaf"])
    clamp, seat = f"spring2_{end}", (x, y, WHEEL_RADIUS - FRAME_HEIGHT)
    truck.body(clamp, Revolute("y"), f"spring1_{end}", front, MASSES["clamp"],
               box_inertia(2 * half, 0.1, 0.15, MASSES["clamp"]), (x, y, -0.42), dofs=bending)  # fmt: skip
    truck.point(f"seat_{end}", clamp, seat)
    truck.rod(f"spring3_{end}", Revolute("y"), clamp, back, lower, MASSES["leaf"], bending)
    truck.rod(f"spring4_{end}", Revolute("y"), f"spring3_{end}", lower, upper, MASSES["shackle"])
    truck.ball(f"shackle_{end}", "chassis", f"spring4_{end}", upper)


def _axle(truck: PlacedBodies, axle: str, x: float) -> None:
    hub = WHEEL_RADIUS - FRAME_HEIGHT
    mass, width = MASSES[f"axle_{axle}"], 1.6
    across = mass * width**2 / 12
    truck.body(f"axle_{axle}", Revolute("x"), f"spring2_{axle}_l", (x, SEAT, hub), mass,
               (across, 0.02 * mass, across), (x, 0, hub))  # fmt: skip
    truck.ball(f"seat_{axle}", f"axle_{axle}", f"spring2_{axle}_r", (x, -SEAT, hub))


def _stabilizer(truck: PlacedBodies, axle: str, x: float) -> None:
    """A bar across the axle, whose arms point backwards, and its links to the chassis."""
    hub, arm, half, mass = WHEEL_RADIUS - FRAME_HEIGHT, 0.4, 0.55, MASSES["bar"]
    middle = (x - 0.12, 0.0, hub)
    across = rod_inertia((0, -half, 0), (0, half, 0), mass)
    truck.body(f"bar_{axle}", Universal("y", "x"), f"axle_{axle}", middle, mass,
               across + np.diag([0.0, 0.04 * mass, 0.04 * mass]), (x - 0.2, 0.0, hub),
               dofs={"stiffness": (0.0, BAR_STIFFNESS)})  # fmt: skip
    for side, y in (("l", half), ("r", -half)):
        lower, upper = (middle[0] - arm, y, hub), (middle[0] - arm, y, -0.1)
        truck.rod(f"link_{axle}_{side}", Universal("x", "y"), f"bar_{axle}", lower, upper, MASSES["link"])
        truck.ball(f"hanger_{axle}_{side}", "chassis", f"link_{axle}_{side}", upper)


def _front_wheels(truck: PlacedBodies, x: float) -> None:
    """Knuckles on vertical kingpins, wheels, and the tie rod, which moves in a plane across the kingpins."""
    hub, pin = WHEEL_RADIUS - FRAME_HEIGHT, 0.85
    arms = {side: np.array([x - 0.25, sign * (pin - 0.08), hub]) for side, sign in (("l", 1.0), ("r", -1.0))}
    for side, sign in (("l", 1.0), ("r", -1.0)):
        knuckle, mass = f"knuckle_{side}", MASSES["knuckle"]
        truck.body(knuckle, Revolute("z"), "axle_front", (x, sign * pin, hub + 0.12), mass,
                   box_inertia(0.2, 0.15, 0.3, mass), (x - 0.02, sign * (pin + 0.02), hub))  # fmt: skip
        truck.ball(f"kingpin_{side}", "axle_front", knuckle, (x, sign * pin, hub - 0.12))
        wheel = wheel_inertia(WHEEL_RADIUS, 0.3, MASSES["wheel_front"])
        center = (x, sign * TRACK / 2, hub)
        truck.body(f"wheel_front_{side}", Revolute("y"), knuckle, center, MASSES["wheel_front"], wheel)
        truck.point(f"steering_arm_{side}", knuckle, arms[side])
    truck.rod("tie_rod", Revolute("z"), "knuckle_l", arms["l"], arms["r"], MASSES["tie_rod"])
    truck.ball("tie_rod_end", "knuckle_r", "tie_rod", arms["r"])
