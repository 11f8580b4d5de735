"""Spheres of compliant contact under the foot of a human.

Sources:

[F22]  A. Falisse, M. Afschrift, F. De Groote, Modeling toes contributes to realistic stance knee mechanics in
       three-dimensional predictive simulations of walking, PLoS ONE 17(1), 2022: six spheres of radius 0.032 m, one at
       the heel, three at the outer edge and the heads of the metatarsals, two at the toes.
[M]    OpenSim Moco, example of a walk in two dimensions: the material, see `HuntCrossleySphere`.
[C08]  J. Challis, C. Murdoch, S. Winter, Mechanical properties of the human heel pad, J. Applied Biomechanics 24, 2008:
       a heel pad loses 61 % of the energy of an impact. With a dissipation of 2 s/m an impact at 0.19 m/s does.
[H04]  A. Hansen et al., Effective foot length ratio, J. Prosthet. Orthot. 16, 2004: the center of pressure comes to 0.8
       of the foot's length before the other heel strikes.
"""

from __future__ import annotations

from typing import Any

from ..._base.checks import choice, name_among, positive
from ..._base.types import truth
from ...dynamics.compliant import HuntCrossleySphere
from ..anthropometry import STATURE, Sex, human_dimensions

RADIUS = 0.032 / 1.80
"""Radius of the spheres, of stature: 0.032 m [F22], in a model of about 1.80 m."""

RIGID = {"heel": (0.12, 0.0), "inner ball": (0.78, -0.5), "outer ball": (0.70, 0.6)}
"""Middles of the spheres under a foot without a joint at the toes: distance from the rear of the heel, of the foot's
length, and distance outwards from the middle line, of half the breadth. The two in front lie ahead of the heads of the
metatarsals, because such a foot rolls over the point at 0.8 of its length [H04]."""

JOINTED = {"heel": (0.12, 0.0), "inner ball": (0.73, -0.5), "outer ball": (0.63, 0.6)}
"""The same for the rear part of a foot with a joint at the toes: under the heads of the first and the fifth
metatarsal."""

TOES = {"great toe": (0.93, -0.5), "other toes": (0.87, 0.35)}
"""The same for the toes of such a foot."""

MATERIAL = ("radius", "stiffness", "dissipation", "static_friction", "dynamic_friction", "viscous_friction",
            "transition_velocity", "depth_smoothing", "rate_smoothing", "smoothing")  # fmt: skip
"""Properties of the spheres that may be given."""


def human_spheres(
    side: str,
    height: float = STATURE["male"],
    sex: Sex = "male",
    part: str = "foot",
    jointed: bool = False,
    *,
    length: float | None = None,
    **material: Any,
) -> tuple[HuntCrossleySphere, ...]:
    """Spheres under a foot of `human(height=height, sex=sex)`: one at the heel and two under the ball of the foot.

    side: "l" or "r". part: "foot", or "toes", two spheres for the body of the toes of a model with joints there.
    jointed: whether the foot has such a joint, so that the ball lies under the heads of the metatarsals; a rigid foot
    rolls over a point ahead of them. length [m]: of the foot; None: that of this stature and sex. material: properties
    of `HuntCrossleySphere`, which has the defaults.

    Spheres touch the sole's plane from above, in the frames `heel_l` (foot) and `toe_l` (toes), x forward. Places scale
    with the length of the foot, radii with stature. The material is that of published models of walking [M], softer
    than a heel pad of 16 mm alone: shoe and arch yield, too. Sources of all numbers: `ocp_dyn.models.feet.spheres`.

    >>> [sphere.center[0].__round__(3) for sphere in od.models.human_spheres("l")]  # m from the rear of the heel
    [0.031, 0.201, 0.181]
    """
    choice(side, ("l", "r"), "human_spheres side")
    choice(part, ("foot", "toes"), "human_spheres part")
    truth(jointed, "human_spheres jointed")
    for name in material:
        name_among(name, MATERIAL, "human_spheres", "property of od.HuntCrossleySphere")
    size = human_dimensions(height, sex)
    length = size.foot_length if length is None else positive(length, "human_spheres length")
    material = {"radius": RADIUS * height} | material
    places = TOES if part == "toes" else JOINTED if jointed else RIGID
    frame, origin = (f"toe_{side}", length) if part == "toes" else (f"heel_{side}", 0.0)
    out = size.sole_half_breadth if side == "l" else -size.sole_half_breadth
    return tuple(
        HuntCrossleySphere(frame, (x * length - origin, y * out, material["radius"]), **material)
        for x, y in places.values()
    )
