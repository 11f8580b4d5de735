"""Published numbers of [GJB94], chapter 8, of the IVP test set, and of the N-four-bar benchmark."""

from __future__ import annotations

from typing import NamedTuple

from .operations import Operations

Row = tuple[str, Operations | None, Operations | None]
"""A row of table 8.3 or 8.4: the function, the operations of Formulation A, and of Formulation B."""


def _row(name: str, a: tuple[int, int] | None, b: tuple[int, int] | None) -> Row:
    return name, *(None if pair is None else Operations(*pair) for pair in (a, b))


# The book's rows: z is the library's q, qd; q there are the dependent coordinates.
POSITIONS, VELOCITIES, BIAS, MASSES, FORCES = "positions", "velocities", "Sc", "M", "c"
TRANSFORMATION, REDUCED_MASS, REDUCED_BIAS, REDUCED_FORCE = "R", "R'MR", "R'M Sc", "R'(Q - c)"
LOOP_JACOBIAN, LOOP_BIAS, ASSEMBLY, SOLUTION = "Phi2_q R", "c2 - Phi2_q Sc", "assembly", "linear equations"

TABLE_8_3: tuple[Row, ...] = (
    _row(POSITIONS, (1820, 859), (1560, 960)),
    _row(VELOCITIES, (615, 441), (360, 360)),
    _row(BIAS, (1089, 915), (840, 840)),
    _row(MASSES, None, (1080, 480)),
    _row(FORCES, None, (600, 360)),
    _row(TRANSFORMATION, (4716, 3537), (1050, 525)),
    _row(REDUCED_MASS, (25824, 22142), (7482, 5285)),
    _row(REDUCED_BIAS, (3060, 2885), (1050, 875)),
    _row(REDUCED_FORCE, (3060, 2885), (1050, 995)),
    _row(LOOP_JACOBIAN, None, None),
    _row(LOOP_BIAS, None, None),
    _row(ASSEMBLY, (0, 3918), (0, 700)),
    _row(SOLUTION, (16710, 16170), (16710, 16170)),
)
"""Human body: 40 bodies, 45 degrees of freedom."""
TOTAL_8_3 = (Operations(56894, 53752), Operations(31782, 27550))

TABLE_8_4: tuple[Row, ...] = (
    _row(POSITIONS, (1500, 1222), (1170, 720)),
    _row(VELOCITIES, (507, 627), (585, 360)),
    _row(BIAS, (561, 492), (870, 540)),
    _row(MASSES, None, (837, 372)),
    _row(FORCES, None, (465, 279)),
    _row(TRANSFORMATION, (960, 726), (306, 153)),
    _row(REDUCED_MASS, (25890, 20893), (1947, 1394)),
    _row(REDUCED_BIAS, (4947, 4120), (306, 255)),
    _row(REDUCED_FORCE, (2040, 1870), (306, 348)),
    _row(LOOP_JACOBIAN, (2220, 1850), (1224, 1374)),
    _row(LOOP_BIAS, (432, 432), (108, 108)),
    _row(ASSEMBLY, (0, 897), (0, 900)),
    _row(SOLUTION, (16000, 16000), (16000, 16000)),
)
"""Heavy truck: 33 bodies, 18 degrees of freedom; 39 open-chain coordinates in Formulation A, 48 in Formulation B."""
TOTAL_8_4 = (Operations(55084, 49129), Operations(24124, 23406))
"""As printed. Two of the sums differ: the rows of Formulation A make 55057 multiplications, those of B 22803 additions."""

TABLE_8_5: dict[str, tuple[float, float, float]] = {
    "bricard": (8.01, 8.73, 1.33),
    "five_bar_pendulum": (12.00, 18.65, 1.29),
    "car": (87.79, 224.54, 12.21),
    "human_body": (91.30, 942.64, 23.39),
}
"""Milliseconds per evaluation of accelerations on a MIPS R3000 at 25 MHz: penalty method, matrix R, Formulation B."""


class Motion(NamedTuple):
    """Numbers that examples 8.6 and 8.7 give: errors, iterations per step, milliseconds per iteration on a DECstation
    3100, peak acceleration [m/s^2]."""

    energy_error: float
    constraint_error: float | None
    iterations: int
    milliseconds: float
    peak: float | None = None


EXAMPLE_8_6 = Motion(0.013, 1e-5, 2, 6.5, 180.0)
EXAMPLE_8_7 = Motion(0.0003, None, 2, 5.0)
FIGURE_8_26 = {"alpha 1e7": 1e-5, "alpha 1e6": 1e-4, "alpha 1e6, augmented": 1e-5}
"""Largest errors of constraints in example 8.6, as its text says them: "about", "an order of magnitude"."""

ANDREWS_START = (
    -0.0617138900142764496358948458001, 0.0, 0.455279819163070380255912382449, 0.222668390165885884674473185609,
    0.487364979543842550225598953530, -0.222668390165885884674473185609, 1.23054744454982119249735015568,
)  # fmt: skip
ANDREWS_Q = (
    15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
    0.5347301163226948, 1.048080741042263,
)  # fmt: skip
ANDREWS_QD = (
    1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
    -19.29337464421385, 0.3231791658026955,
)  # fmt: skip
ANDREWS_LAM = (
    199.1753333731910, -29.75531228015052, 23.06654119098399, 31.45271365475927, 22.64249232082739, 11.61740700019673,
)  # fmt: skip
"""Andrews' squeezer at t = 0.03 s, from the IVP test set of Bari: angles [rad] beta, Theta, gamma, Phi, delta, Omega,
epsilon; rates; multipliers [N]."""

FOUR_BARS = {
    2: (10.0, (0.3284581115, 0.9445185382), (1.4230514702, -0.4948688455)),
    40: (20.0, (0.4109011537, 0.9116799010), (1.5667853719, -0.7061622356)),
}
"""N-four-bar (IFToMM A02): duration [s], place of B0 [m] and its velocity [m/s], by N."""
