"""A car with McPherson struts in front and five-point suspensions in the rear [GJB94, section 8.4.3]."""

from __future__ import annotations

import numpy as np

from .._base.types import Array
from ..joints import FloatingBase, Prismatic, Revolute, Spherical, Universal
from ..mechanism.builder import WORLD, DofOptions
from .closed_chain import ClosedChain
from .placed_bodies import PlacedBodies, box_inertia, rod_inertia, wheel_inertia

HEIGHT, WHEEL_RADIUS, HALF_TRACK = 0.55, 0.30, 0.74
"""Height of the chassis' center of mass and origin, which is also the drawing's; radius of the wheels and half track
[m]."""

FRONT, REAR = 1.25, -1.40
"""Places of the axles ahead of the chassis' center of mass [m]."""

MASSES = {"chassis": 1050.0, "arm": 6.0, "knuckle": 14.0, "tie_rod": 1.2, "wheel": 18.0, "rack": 4.0, "column": 5.0,
          "rod": 2.0, "carrier": 15.0}  # fmt: skip
"""Masses of the parts [kg]."""

RODS = {
    "lower_rear": ((-1.52, 0.38, -0.33), (-1.44, 0.70, -0.37)),
    "lower_front": ((-1.05, 0.40, -0.33), (-1.33, 0.68, -0.36)),
    "upper_front": ((-1.15, 0.45, -0.05), (-1.36, 0.65, -0.10)),
    "upper_rear": ((-1.55, 0.42, -0.04), (-1.45, 0.66, -0.09)),
    "toe": ((-1.64, 0.36, -0.24), (-1.60, 0.69, -0.26)),
}
"""Inner and outer ends of the five rods of a rear suspension, on the left [m]; the first carries the wheel's
carrier."""

ARM, BALL, STRUT, TOP = (1.25, 0.35, -0.34), (1.25, 0.68, -0.37), (1.24, 0.63, -0.12), (1.20, 0.55, 0.28)
"""Front suspension, left: hinge and ball joint of the lower arm, and two points of the strut's axis: the lower one is
on the knuckle, the upper one is the mount on the chassis [m]."""

INNER, OUTER = (1.08, 0.30, -0.22), (1.09, 0.66, -0.24)
"""Ends of the left tie rod, on the rack and on the knuckle [m]."""

PIN, LEVER = (1.08, 0.0, -0.22), (0.0447, 0.0, 0.0894)
"""Pin of the steering column in a slot of the rack, and from the pin to the column's axis, 0.1 m away [m]."""

COLUMN_AXIS = (-0.8944271909999159, 0.0, 0.4472135954999579)
"""Direction of the steering column, at right angles to the lever: backwards and up to the steering wheel."""

SPRING_RATE, DAMPING = {"front": 2.2e4, "rear": 2.4e4}, {"front": 1.6e3, "rear": 1.6e3}
"""Vertical stiffness [N/m] and damping [N s/m] at the outer ends of the arms and rods that the springs act on."""


def car() -> ClosedChain:
    """A car: 25 bodies and 15 degrees of freedom, as in [GJB94], figure 8.23 and table 8.5, with closed loops at all
    four wheels and in the steering.

    Degrees of freedom: six of the chassis, the travel of four wheels, the spin of four wheels, the steering. The book
    gives the counts, the McPherson front and the five-point rear; the rest is assumed, and so are all sizes and masses,
    those of a middle-sized car of 1220 kg:

    | bodies | joints of the tree | loops |
    |---|---|---|
    | `chassis` | floating | |
    | `arm_l`, `arm_r`: lower arms | R along x on the chassis | |
    | `knuckle_l`, `knuckle_r` | S on the arm | `strut`: the upper mount of the chassis is on the axis of the strut |
    | `rack` | P along y on the chassis | |
    | `tie_rod_l`, `tie_rod_r` | U on the rack | S on the knuckle |
    | `steering_column` | R on the chassis | `yoke`: its pin is in a slot across the rack |
    | `lower_rear_l` and four more rods on each side | U on the chassis | S on the carrier, for the other four |
    | `carrier_l`, `carrier_r` | S on the lower rear rod | |
    | `wheel_front_l` .. `wheel_rear_r` | R along y | |

    The strut itself, a piston in a tube, has its mass in the knuckle: the loop has two rows. The yoke has one row: the
    rack moves by 0.1 m times the sine of the column's angle. The open tree has 50 coordinates, the loops 35 rows, all
    independent.

    x forward, y to the left, z up; q is assembled, with all wheels on the plane z = 0. Springs and dampers act at the
    hinges of the lower arms and of the lower rear rods, slack at q = 0: joint data, used with `od.Loads(passive=True)`.
    Tires have no forces.

    >>> car = od.models.car()
    >>> car.model.nv, len(car.loops)
    (50, 13)
    """
    car = PlacedBodies("car")
    car.body("chassis", FloatingBase(), WORLD, (0, 0, 0), MASSES["chassis"],
             box_inertia(3.6, 1.5, 1.1, MASSES["chassis"]), joint_name="root")  # fmt: skip
    for place, x, z in (("front", 1.9, 0.0), ("hood", 0.9, 0.3), ("roof", -0.3, 0.85), ("rear", -1.9, 0.25)):
        for side, y in (("l", 0.6), ("r", -0.6)):
            car.point(f"{place}_{side}", "chassis", (x, y, z))
    _steering(car)
    for side, sign in (("l", 1.0), ("r", -1.0)):
        _front(car, side, np.array([1.0, sign, 1.0]))
    for side, sign in (("l", 1.0), ("r", -1.0)):
        _rear(car, side, np.array([1.0, sign, 1.0]))
    return car.chain(HEIGHT)


def _steering(car: PlacedBodies) -> None:
    """The rack, and the column whose pin moves it."""
    pin, foot = np.array(PIN), np.array(PIN) + np.array(LEVER)
    car.body("rack", Prismatic("y"), "chassis", pin, MASSES["rack"], rod_inertia((0, -0.3, 0), (0, 0.3, 0), 4.0))
    wheel = foot + 0.9 * np.array(COLUMN_AXIS)
    shaft = rod_inertia(foot, wheel, MASSES["column"]) + np.diag([0.02, 0.02, 0.02])
    car.body("steering_column", Revolute(COLUMN_AXIS), "chassis", foot, MASSES["column"], shaft, (foot + wheel) / 2)
    car.point("steering_wheel", "steering_column", wheel)
    car.close("yoke", "rack", "steering_column", pin, pin, ((0, 0, 0, 0, 1, 0),), sliding=True)


def _front(car: PlacedBodies, side: str, mirror: Array) -> None:
    """Lower arm, knuckle on the strut, tie rod and wheel. mirror: (1, 1, 1) left, (1, -1, 1) right."""
    hinge, ball, low, top, inner, outer = (mirror * np.array(p) for p in (ARM, BALL, STRUT, TOP, INNER, OUTER))
    hub = mirror * np.array([FRONT, HALF_TRACK, WHEEL_RADIUS - HEIGHT])
    arm, knuckle = f"arm_{side}", f"knuckle_{side}"
    reach = float(ball[1] - hinge[1])
    spring: DofOptions = {"stiffness": SPRING_RATE["front"] * reach**2, "damping": DAMPING["front"] * reach**2}
    wide = np.diag([0.0, 0.02, 0.02]) * MASSES["arm"]  # its two legs spread along x
    car.body(arm, Revolute("x"), "chassis", hinge, MASSES["arm"], rod_inertia(hinge, ball, MASSES["arm"]) + wide,
             (hinge + ball) / 2, dofs=spring)  # fmt: skip
    car.body(knuckle, Spherical(), arm, ball, MASSES["knuckle"], box_inertia(0.15, 0.12, 0.4, MASSES["knuckle"]),
             (low + hub) / 2)  # fmt: skip
    car.point(f"strut_{side}", knuckle, low)
    z = (top - low) / np.linalg.norm(top - low)
    y = np.cross(z, [1.0, 0.0, 0.0]) / np.linalg.norm(np.cross(z, [1.0, 0.0, 0.0]))
    on_line = ((0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 1, 0))
    rotation = np.column_stack([np.cross(y, z), y, z])
    car.close(f"strut_{side}", knuckle, "chassis", low, top, on_line, rotation, sliding=True)
    car.rod(f"tie_rod_{side}", Universal("x", "z"), "rack", inner, outer, MASSES["tie_rod"])
    car.ball(f"tie_rod_end_{side}", knuckle, f"tie_rod_{side}", outer)
    _wheel(car, f"wheel_front_{side}", knuckle, hub)


def _rear(car: PlacedBodies, side: str, mirror: Array) -> None:
    """Five rods, carrier and wheel."""
    carrier, hub = f"carrier_{side}", mirror * np.array([REAR, HALF_TRACK, WHEEL_RADIUS - HEIGHT])
    for name, ends in RODS.items():
        inner, outer = (mirror * np.array(p) for p in ends)
        rod = f"{name}_{side}"
        if name == "lower_rear":
            reach = float(outer[1] - inner[1])
            rate = SPRING_RATE["rear"] * reach**2, DAMPING["rear"] * reach**2
            spring: DofOptions = {"stiffness": (rate[0], 0.0), "damping": (rate[1], 0.0)}
            car.rod(rod, Universal("x", "z"), "chassis", inner, outer, MASSES["rod"], spring)
            car.body(carrier, Spherical(), rod, outer, MASSES["carrier"],
                     box_inertia(0.25, 0.1, 0.3, MASSES["carrier"]), hub - mirror * np.array([0, 0.06, 0]))  # fmt: skip
        else:
            car.rod(rod, Universal("x", "z"), "chassis", inner, outer, MASSES["rod"])
            car.ball(f"{name}_end_{side}", carrier, rod, outer)
    _wheel(car, f"wheel_rear_{side}", carrier, hub)


def _wheel(car: PlacedBodies, name: str, parent: str, hub: Array) -> None:
    car.body(name, Revolute("y"), parent, hub, MASSES["wheel"], wheel_inertia(WHEEL_RADIUS, 0.2, MASSES["wheel"]))
