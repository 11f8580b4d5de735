"""Compliant contact: spheres of a body on a plane, with the smoothed law of Hunt and Crossley and smoothed friction.

    f_H = 4/3 k sqrt(R k) (d^2 + eps)^(3/4) (1 + tanh(b_d d)) / 2,    k = stiffness^(2/3) / 2,
    f_n = f_H (3/2 c) log(1 + exp(z)) / (2 b_v),    z = 2 b_v (v + 2/(3 c)),
    f_t = -f_n u (mu_d + 2 (mu_s - mu_d) / (1 + s^2)) / (v_t max(s, 1)) - f_n mu_v u,    s = sqrt(|u|^2 + eps) / v_t,

with the radius R, the depth d and its rate v, the dissipation c, the slip u of the contact point, and the transition
velocity v_t. The point of contact lies between the plane and the lowest point of the undeformed sphere, halfway
unless said otherwise.

Sources. The law: Hunt & Crossley, Coefficient of restitution interpreted as damping in vibroimpact, J. Appl. Mech. 42,
1975, with the force of Hertz. Friction: Sherman, Seth & Delp, Simbody, Procedia IUTAM 2, 2011. The smoothed form, in
which forces have continuous derivatives and never quite vanish, so that a solver feels a foot before it touches the
ground: Serrancoli et al., IEEE Trans. Neural Syst. Rehabil. Eng. 27, 2019; Falisse et al., J. R. Soc. Interface 16,
2019; OpenSim calls it SmoothSphereHalfSpaceForce. It equals this one but for two corners.

* max(s, 1) is rounded here (`SLIP_CORNER`), because second derivatives are needed.
* f_n = f_H max(1 + 3/2 c v, 0) of Hunt and Crossley vanishes for spheres that leave faster than 2/(3 c). The published
  rounding of this corner, f_H (1 + 3/2 c v) (1 + tanh(z/2)) / 2, pulls there. This one is never below zero, and grows
  with v. Both differ from the law by less than 1e-6 of f_H for |z| > 15, as they do for all
  approaching spheres of the default material; there they agree to the last digits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from .._base.checks import not_negative, positive
from .._base.checks import point as checked_point
from .._base.types import Expr, M, Numbers, Vector, as_type, repr_in_message, sequence, sparse, sparse_beside
from ..mechanism import Frame, Model
from ..mechanism.boundary import checks_arguments
from ..spatial_algebra.rotations import unit_axis
from .kinematics import point_jacobian_6d, point_velocity_6d, pose, resolve

SLIP_CORNER = 0.1
"""Width of the rounded corner of max(s, 1): at the transition velocity friction is 5 % below the sharp law."""

LINEAR = 35.0
"""The z above which log(1 + exp(z)) is z to the last digit; exp would overflow far beyond it."""

UP = (0.0, 0.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class HuntCrossleySphere:
    """A sphere of a body that is pressed against a plane: its place, and the material of the contact.

    frame: a frame of the body, or its name. center [m], in coordinates of the frame; radius [m]. stiffness: the modulus
    of plane strain of both surfaces [N/m^2]. dissipation c [s/m]: the force grows by 1.5 c per velocity.
    static_friction, dynamic_friction: coefficients; viscous_friction [s/m], per slip velocity. transition_velocity
    [m/s]: the slip at which friction reaches its static value; a smaller one creeps less and is stiffer.

    depth_smoothing b_d [1/m], rate_smoothing b_v [s/m], smoothing eps [m^2, (m/s)^2]: the smaller the first two and the
    larger the third, the smoother the law. At depth 0 a smooth sphere bears 2/3 k sqrt(R k) eps^(3/4), and 10 mm above
    the plane 1 % of the force 10 mm below it.

    flattening: the share of the depth by which the sphere is flattened, the rest is the ground's: 1/2 for equal
    stiffness, 1 on rigid ground. The point of contact lies flattening times the depth above the lowest point of the
    undeformed sphere.

    The default material is that of published models of walking: OpenSim's example of a walk in two dimensions (Moco,
    after Falisse et al. 2019) has this stiffness, dissipation 2 s/m, friction 0.8, 0.8, 0.5 s/m, and 0.2 m/s.

    >>> ball = od.HuntCrossleySphere("tip", radius=0.03)
    >>> round(ball.normal_force(depth=0.01, rate=0.0)), round(ball.normal_force(-0.05, 0.0), 6)  # N
    (268, 0.0)
    """

    frame: Frame | str
    center: Any = ORIGIN
    radius: float = 0.035
    stiffness: float = 3067776.0
    dissipation: float = 2.0
    static_friction: float = 0.8
    dynamic_friction: float = 0.8
    viscous_friction: float = 0.5
    transition_velocity: float = 0.2
    depth_smoothing: float = 300.0
    rate_smoothing: float = 50.0
    smoothing: float = 1e-5
    flattening: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.frame, (Frame, str)):
            raise TypeError(
                f"HuntCrossleySphere needs a frame (model.frame(name)) or a name, got {repr_in_message(self.frame)}"
            )
        x, y, z = (float(c) for c in checked_point(self.center, "HuntCrossleySphere center [m]"))
        object.__setattr__(self, "center", (x, y, z))
        for key in ("radius", "stiffness", "transition_velocity", "depth_smoothing", "rate_smoothing", "smoothing"):
            object.__setattr__(self, key, positive(getattr(self, key), f"HuntCrossleySphere {key}"))
        object.__setattr__(self, "flattening", not_negative(self.flattening, "HuntCrossleySphere flattening"))
        if self.flattening > 1:
            raise ValueError(f"HuntCrossleySphere flattening must be at most 1, got {self.flattening:g}")
        for key in ("dissipation", "static_friction", "dynamic_friction", "viscous_friction"):
            object.__setattr__(self, key, not_negative(getattr(self, key), f"HuntCrossleySphere {key}"))

    @property
    def name(self) -> str:
        """The name of the sphere's frame."""
        return self.frame if isinstance(self.frame, str) else self.frame.name

    def normal_force(self, depth: Any, rate: Any) -> Any:
        """f_n [N] at a depth [m] below the plane (negative above it) that grows at a rate [m/s]; never negative."""
        k = self.stiffness ** (2 / 3) / 2
        hertz = 4 / 3 * k * (self.radius * k) ** 0.5 * (depth * depth + self.smoothing) ** 0.75
        hertz = hertz * (1 + ca.tanh(self.depth_smoothing * depth)) / 2
        if not self.dissipation:
            return hertz
        z = 2 * self.rate_smoothing * (rate + 2 / (3 * self.dissipation))
        rounded = ca.log(1 + ca.exp(ca.fmin(z, LINEAR))) + ca.fmax(z - LINEAR, 0)  # max(z, 0), without its corner
        return hertz * (0.75 * self.dissipation / self.rate_smoothing) * rounded

    def friction_coefficient(self, slip_squared: Any) -> Any:
        """Friction force per normal force and slip [s/m], at the square of the slip [m^2/s^2]."""
        s = ca.sqrt(slip_squared + self.smoothing) / self.transition_velocity
        larger = (s + 1 + ca.sqrt((s - 1) ** 2 + SLIP_CORNER**2)) / 2
        mu = self.dynamic_friction + 2 * (self.static_friction - self.dynamic_friction) / (1 + s * s)
        return mu / (self.transition_velocity * larger) + self.viscous_friction

    def force(self, depth: Any, rate: Any, slip: Any) -> tuple[Any, Any]:
        """(f_n, f_t): normal force [N], and friction along the slip (a column) [m/s] of the contact point."""
        normal = self.normal_force(depth, rate)
        return normal, -normal * self.friction_coefficient(ca.sumsqr(slip)) * slip


Spheres = Sequence[HuntCrossleySphere]


@checks_arguments()
def compliant_force(
    model: Model, spheres: Spheres, q: M | Numbers, qd: M | Numbers, *, point: Vector = ORIGIN, normal: Vector = UP
) -> M:
    """tau_c = sum of J' f over the spheres (nv) [N m, N]: the generalized force of compliant contact with a plane.

    It stands beside the motors' torques: `H qdd + C = tau + tau_c`. point [m], normal: the plane, in world axes, with
    the spheres on the normal's side. The law: `ocp_dyn.dynamics.compliant`. O(depth) per body with spheres.

    >>> builder = od.ModelBuilder("ball")
    >>> builder.add_body("ball", od.Prismatic("z"), mass=1)
    >>> ball = builder.build()
    >>> tau_c = od.compliant_force(ball, [od.HuntCrossleySphere("ball", radius=0.1)], [0.09], [0.0])  # 1 cm deep
    >>> od.forward_dynamics(ball, [0.09], [0.0], tau_c).full().round()  # 490 N on 1 kg
    array([[480.]])
    """
    total: Expr = model.rest(q)
    for frame, wrench in _wrenches(model, as_spheres(spheres), q, qd, point, normal).items():
        total = total + point_jacobian_6d(model, frame, q).T @ wrench
    return as_type(total, q)


@checks_arguments()
def compliant_wrenches(
    model: Model, spheres: Spheres, q: M | Numbers, qd: M | Numbers, *, point: Vector = ORIGIN, normal: Vector = UP
) -> dict[str, M]:
    """Wrenches of compliant contact on bodies: {frame: [moment about the world origin; force]} [N m; N], world axes.

    Each can be a column of `f_ext`, its frame in `Loads.external`. The spheres of a body act on the frame of its first
    sphere. point [m], normal: the plane, see `compliant_force`.

    >>> builder = od.ModelBuilder("ball")
    >>> builder.add_body("ball", od.Prismatic("z"), mass=1)
    >>> spheres = [od.HuntCrossleySphere("ball", radius=0.1)]
    >>> round(float(od.compliant_wrenches(builder.build(), spheres, [0.09], [0.0])["ball"][5]))  # N, upwards
    490
    """
    found: dict[str, M] = {}
    for frame, wrench in _wrenches(model, as_spheres(spheres), q, qd, point, normal).items():
        origin = pose(model, resolve(model, frame), q)[1]
        moment = wrench[:3] + ca.cross(origin, wrench[3:])
        found[frame] = as_type(ca.vertcat(moment, wrench[3:]), q)
    return found


def as_spheres(spheres: Any) -> tuple[HuntCrossleySphere, ...]:
    """Spheres as a tuple; one alone is a set too. TypeError for anything else, ValueError for none."""
    given = (spheres,) if isinstance(spheres, HuntCrossleySphere) else spheres
    members = tuple(sequence(given, "spheres must be a sequence of od.HuntCrossleySphere"))
    for member in members:
        if not isinstance(member, HuntCrossleySphere):
            raise TypeError(f"spheres must be a sequence of od.HuntCrossleySphere, got {repr_in_message(member)} in it")
    if not members:
        raise ValueError("spheres must hold one od.HuntCrossleySphere or more, got none")
    return members


def sphere_wrench(
    model: Model, spheres: Iterable[HuntCrossleySphere], frame: Frame | str, q: Expr, qd: Expr, point: Vector,
    normal: Vector,
) -> Expr:  # fmt: skip
    """[moment about the frame's origin; force] (6) of spheres of one body, world axes."""
    here = resolve(model, frame)
    n, p = (
        sparse(unit_axis(normal, "the normal of the plane")),
        sparse_beside(checked_point(point, "a point of the plane [m]")),
    )
    R, origin = pose(model, here, q)
    twist = point_velocity_6d(model, here, q, qd)
    w, v = twist[:3], twist[3:]
    height = ca.dot(n, origin - p)
    moment, force = type(R)(3, 1), type(R)(3, 1)
    for sphere in spheres:
        arm = R @ sparse(center_in(model, sphere, here))
        depth = sphere.radius - height - ca.dot(n, arm)
        arm = arm - (sphere.radius - sphere.flattening * depth) * n
        u = v + ca.cross(w, arm)
        rate = -ca.dot(n, u)
        f_n, f_t = sphere.force(depth, rate, u + rate * n)
        f = f_n * n + f_t
        moment, force = moment + ca.cross(arm, f), force + f
    return ca.vertcat(moment, force)


def center_in(model: Model, sphere: HuntCrossleySphere, frame: Frame) -> Any:
    """The center of a sphere (3) [m] in the coordinates of another frame of its body."""
    own = resolve(model, sphere.frame)
    if own.body != frame.body:
        raise ValueError(
            f"the sphere at {sphere.name!r} and the frame {frame.name!r} are on different bodies: give each body its "
            "own"
        )
    if own is frame:
        return sparse_beside(sphere.center)
    return frame.X.inverse().point(own.X.point(sparse_beside(sphere.center)))


def _wrenches(
    model: Model, spheres: Iterable[HuntCrossleySphere], q: Expr, qd: Expr, point: Vector, normal: Vector
) -> dict[str, Expr]:
    """Wrenches by the frame of the first sphere of each body, about that frame's origin."""
    by_body: dict[int, list[HuntCrossleySphere]] = {}
    for sphere in spheres:
        by_body.setdefault(resolve(model, sphere.frame).body, []).append(sphere)
    return {
        group[0].name: sphere_wrench(model, group, group[0].frame, q, qd, point, normal) for group in by_body.values()
    }
