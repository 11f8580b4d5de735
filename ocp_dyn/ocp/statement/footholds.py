"""Footholds: contacts that a phase holds, at places that may be free; and other constraints that it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import as_bounds, not_negative
from ..._base.extensible import Extensible
from ..._base.types import Expr, repr_in_message, sparse
from ...constraints import Constraint, Contact, RollingContact
from ...dynamics.kinematics import point_jacobian_6d, pose, resolve
from ...joints import Revolute
from ...mechanism import Model
from .ground.planes import GROUND, LATERAL, LEVEL, PLACED, Plane, check_edge, check_point
from .ground.room import narrowed


class Held(Extensible):
    """Base class of everything that a phase holds and that has force variables: one per row of `contact`."""

    contact: Any

    @property
    def name(self) -> str:
        """The name of the contact."""
        return str(self.contact.name)

    @property
    def planar(self) -> bool:
        """Whether the contact has no rows but those of the world's x-z plane."""
        return False

    @property
    def size(self) -> int:
        """Number of the rows of the contact, and of the force variables."""
        return len(self.contact.rows)


@dataclass(frozen=True, eq=False, repr=False)
class Foothold(Held):
    """A contact held on a plane, at a place that may be free in bounds.

    | field | meaning |
    |---|---|
    | contact | `od.Contact` or `od.RollingContact`, see below |
    | x, y | [m] a number or (lower, upper), in the plane: the contact point, of an edge when the foot is level |
    | yaw | [rad] a number or (lower, upper), about the normal of the plane |
    | half_length | [m] half the length of the sole, for the center of pressure |
    | half_width | [m] half the width of the sole, of an edge half its length |
    | of | another foothold of this foot, from which place and plane follow: leave out x, y, yaw and plane |
    | plane | the ground z = 0, or any `Plane`: a stair, a ramp, a wall |

    `od.Contact` without axes is a foot that lies flat (six rows), and with the axes "xyz" or "xz" a point.
    `od.RollingContact` with an axis is an edge that the foot rolls over (five rows): sharp if its radius is 0, else
    rounded. The axis lies in the frame's x-y plane, and the frame's z is up when the foot is flat. Bodies that move in
    the x-z plane stand on contacts with planar=True: a flat foot has three rows then, an edge two.

    A foot is level when it lies flat on its plane. Friction cones and centers of pressure refer to the plane. On a
    `Patch`, such as those of a `Terrain`, the whole sole stays (see `bounds`). An example of `of` is a toe edge that
    follows a flat sole without a new footstep.

    The same Foothold object in consecutive phases is one place on the ground; the foot is set down at the start of the
    first of these phases.

    `of` may lie on another body that one revolute joint joins to this one: a foot and its toes. The place follows as it
    is with straight toes. A foothold of the toes, flat or rounded, can follow a flat foothold of the foot: the heel
    rises, the toes bend, and the center of pressure moves on under them.

    >>> stand = ocp.Phase("stand", 2, 1.0, [ocp.Foothold(od.Contact("block"), x=0, y=0)])
    >>> still = ocp.Problem(block, [stand]).solve(progress=False)
    >>> still.phases[0].wrenches["block"].round(2)[0]  # the ground carries m g
    array([ 0.  ,  0.  ,  0.  ,  0.  ,  0.  , 19.62])
    """

    contact: Contact | RollingContact
    x: Any = (-10.0, 10.0)
    y: Any = (-10.0, 10.0)
    yaw: Any = 0.0
    half_length: float = 0.0
    half_width: float = 0.0
    of: Foothold | None = None
    plane: Plane = GROUND

    def __post_init__(self) -> None:
        if not isinstance(self.contact, (Contact, RollingContact)):
            raise TypeError(
                f"Foothold needs a Contact, such as od.Contact('foot'), got {repr_in_message(self.contact)}"
            )
        for key in ("x", "y", "yaw"):
            limits = as_bounds(getattr(self, key), f"Foothold {key}")
            if not np.all(np.isfinite(limits)):
                raise ValueError(f"Foothold {key} must be finite, a number or (lower, upper), got {limits}")
            object.__setattr__(self, key, limits)
        for key in ("half_length", "half_width"):
            not_negative(getattr(self, key), f"Foothold {key} [m]")
        if self.of is not None and not isinstance(self.of, Foothold):
            raise TypeError(f"Foothold of={repr_in_message(self.of)}: must be a Foothold of the same foot")
        given = [key for key in ("x", "y", "yaw") if getattr(self, key) != as_bounds(getattr(Foothold, key), key)]
        if self.of is not None and given:
            raise ValueError(
                f"Foothold {self.name!r} has its place from of={self.of.name!r}: leave out {', '.join(given)}"
            )
        self._set_plane()

    def _set_plane(self) -> None:
        """Checks the plane and takes it over from `of`; passes its normal to a rolling contact."""
        if not isinstance(self.plane, Plane):
            raise TypeError(f"Foothold plane must be an ocp.Plane(point, normal), got {repr_in_message(self.plane)}")
        if self.of is not None:
            if self.plane not in (GROUND, self.of.plane):
                raise ValueError(
                    f"Foothold {self.name!r} lies on the plane of the foothold {self.of.name!r} that it is derived "
                    "from (of=): leave out plane, or write plane=ocp.Plane() in dataclasses.replace"
                )
            object.__setattr__(self, "plane", self.of.plane)
        if isinstance(self.contact, Contact):
            check_point(self.contact, self.plane)
        if isinstance(self.contact, RollingContact):
            check_edge(self.contact, self.plane)
            placed = replace(self.contact, normal=self.plane.normal)
            object.__setattr__(placed, PLACED, True)
            object.__setattr__(self, "contact", placed)
        if self.of is None:
            _ = self.bounds

    @property
    def bounds(self) -> np.ndarray:
        """Bounds (3, 2) of the place: x, y, yaw, each (lower, upper); on a `Patch` the whole sole stays on it."""
        x, y, _ = self.contact.axis if isinstance(self.contact, RollingContact) else LATERAL
        along = np.arctan2(y, x)
        sole = ((self.half_length, along - np.pi / 2), (self.half_width, along))
        return narrowed(self.plane, np.array([self.x, self.y, self.yaw]), sole, self.name)

    @property
    def planar(self) -> bool:
        return self.contact.planar

    @property
    def kind(self) -> str:
        """ "flat", "edge" or "point"."""
        if isinstance(self.contact, RollingContact):
            return "edge"
        return "flat" if self.contact.axes is None else "point"

    @property
    def point(self) -> tuple[float, float, float]:
        """The contact point when the foot is level, in the coordinates of its frame."""
        if isinstance(self.contact, Contact):
            return self.contact.point
        x, y, z = self.contact.center
        return x, y, z - self.contact.radius

    @property
    def root(self) -> Foothold:
        """The foothold whose place determines this one's place: follows `of` to the end; itself if `of` is None."""
        return self if self.of is None else self.of.root

    def position(self, model: Model, q: Expr, place: Expr) -> Expr:
        """phi of the contact at place = (x, y, yaw): zero while the foot does not move, or rolls without slip."""
        if isinstance(self.contact, RollingContact):
            return self._edge_position(self.contact, model, q, place)
        R = yaw_rotation(place) if self.plane.level else self.plane.R @ yaw_rotation(place)
        return self.contact.position_from(model, q, R, self.origin(place))

    def origin(self, place: Expr) -> Expr:
        """The contact point's position in the world [m], for place = (x, y, yaw)."""
        return self.plane.to_world(ca.vertcat(place[0], place[1], type(place)(1, 1)))

    def _edge_position(self, edge: RollingContact, model: Model, q: Expr, place: Expr) -> Expr:
        """The rows of `RollingContact`: height, sideways, backwards [m], then turn and tilt of the edge [sine].

        Rolling by the angle theta moves the center forward by radius * theta along the heading; phi takes this into
        account.
        """
        R, p = self.plane.pose(*pose(model, resolve(model, edge.body), q))
        heading, axis = self.heading(place), R @ sparse(edge.axis)
        along = ca.atan2(ca.dot(R[:, 2], heading), R[2, 2]) * edge.radius if edge.radius else 0
        gap = p + R @ sparse(edge.center) - ca.vertcat(place[0], place[1], edge.radius) - along * heading
        sides = edge.sides if self.plane.level else edge.sides @ self.plane.R
        return ca.vertcat(sides @ gap, *([-ca.dot(axis, heading), axis[2]] if edge.turns else []))

    def heading(self, place: Expr) -> Expr:
        """Unit vector (3), plane axes: the direction in which the foot rolls over an edge, axis x normal.

        For other footholds, the x axis of the foot.
        """
        x, y, _ = self.contact.axis if isinstance(self.contact, RollingContact) else LATERAL
        return yaw_rotation(place) @ sparse((y, -x, 0.0))

    def offset(self, model: Model) -> tuple[float, float, float]:
        """(x, y, yaw) of this foothold's place relative to the place of the foothold that it is derived from (`of`)."""
        assert self.of is not None
        (body, R, p), (other, R_of, p_of) = self.level(model), self.of.level(model)
        if hinged := self.hinged(model, self.of):
            (R, p), (R_of, p_of) = self._standing(model), self.of._standing(model)
        turn, gap = R_of.T @ R, R_of.T @ (p - p_of)
        if (body != other and not hinged) or abs(gap[2]) > 1e-6 or turn[2, 2] < 1 - 1e-9:
            raise ValueError(
                f"Foothold {self.name!r} cannot be derived from {self.of.name!r}: both must lie on one body, or on "
                "two bodies that a revolute joint joins, and touch the ground at the same time, the z axes of their "
                f"frames up; the first is {gap[2]:.4g} m above the second"
            )
        return float(gap[0]), float(gap[1]), float(np.arctan2(turn[1, 0], turn[0, 0]))

    def level(self, model: Model) -> tuple[int, np.ndarray, np.ndarray]:
        """(body, R, p): rotation of the frame (3x3), contact point of the level foot (3) [m]; body coordinates."""
        frame = resolve(model, self.contact.body)
        R, r = np.array(DM(frame.X.E).full()).T, np.array(DM(frame.X.r).full()).ravel()
        return frame.body, R, r + R @ np.array(self.point)

    def _standing(self, model: Model) -> tuple[np.ndarray, np.ndarray]:
        """(R, p): axes of the frame (3x3), contact point of the level foot (3) [m]; neutral posture, world axes."""
        R, p = (np.array(x.full()) for x in pose(model, resolve(model, self.contact.body), DM(model.neutral())))
        return R, p.ravel() + R @ np.array(self.point)

    def touchdown(self, model: Model, q: Expr, place: Expr, before: Foothold | None, place_before: Expr) -> Expr:
        """Rows that vanish when the foot arrives here from the foothold `before`.

        before is None: the foot was in the air, and all rows of phi are needed. Otherwise only the rows that `before`
        does not imply. Toes that follow a flat foot, or a foot that follows flat toes, have to be level.
        """
        missing = self._missing(model, before)
        if before is None or missing == "none":
            return self.position(model, q, place) if before is None else SX(0, 1)
        if missing == "level":
            R = pose(model, resolve(model, self.contact.body), q)[0]
            return ca.dot(R[:, 2], before.to_world_axes(before.heading(place_before)))
        return self._direction_rows(before, self.position(model, q, place))

    def touchdown_rate(self, model: Model, q: Expr, qd: Expr, before: Foothold | None, place_before: Expr) -> Expr:
        """Rates of the rows of `touchdown`: zero if the foot comes to rest without an impact."""
        G = self.contact.jacobian(model, q)
        missing = self._missing(model, before)
        if before is None or missing == "none":
            return G @ qd if before is None else SX(0, 1)
        if missing == "level":
            across = before.to_world_axes(ca.cross(DM(LEVEL), before.heading(place_before)))
            return across.T @ point_jacobian_6d(model, resolve(model, self.contact.body), q)[:3, :] @ qd
        return self._direction_rows(before, G @ qd)

    def hinged(self, model: Model, other: Foothold) -> bool:
        """Whether this and the other stand on two bodies that one revolute joint joins: a foot and its toes."""
        low, high = sorted(resolve(model, f.contact.body).body for f in (self, other))
        return high > low and model.parent[high] == low and isinstance(model.joints[high], Revolute)

    def _missing(self, model: Model, before: Foothold | None) -> str:
        """The rows that the foothold before does not imply: "all", "none", "level" (a foot that rolls over an edge, or
        toes that turn against a flat foot, until they lie level) or "direction"."""
        if before is None:
            return "all"
        if resolve(model, self.contact.body).body != resolve(model, before.contact.body).body:
            if before.kind != "flat" or self.kind == "point":
                wanted = "only a flat foothold can pass the load to another body of the foot: add a phase on one"
                raise ValueError(f"Foothold {self.name!r} cannot follow {before.name!r}: {wanted}")
            return "level"
        if before is self or before.kind == "flat":
            return "none"
        return "level" if before.kind == "edge" else "direction"

    def to_world_axes(self, vector: Expr) -> Expr:
        """The vector (3) with these components along the plane's axes, in world axes."""
        return vector if self.plane.level else self.plane.R @ vector

    def height(self, model: Model, q: Expr, place: Expr) -> Expr:
        """Height of the contact point above the plane [m], as far as the contact holds it."""
        rows = self.position(model, q, place)
        if isinstance(self.contact, RollingContact):
            return rows[0]
        return ca.dot(sparse(self.plane.normal), self.contact.all_rows(rows)[3:])

    def _direction_rows(self, before: Foothold, rows: Expr) -> Expr:
        """The rows of directions, which a foot that stood on a point still has to meet."""
        if self.kind == "point":
            raise ValueError(
                f"Foothold {self.name!r}: a foot that stands on the point {before.name!r} cannot pivot to another "
                "point: an edge or a flat foothold can follow"
            )
        if isinstance(self.contact, RollingContact):
            return rows[self.contact.sides.shape[0] :]
        return rows[0] if self.contact.planar else rows[:3]

    def wrench(self, lam: Expr, place: Expr) -> Expr:
        """[moment; force] on the foot at the contact point, world axes, from the contact's rows."""
        if isinstance(self.contact, RollingContact):  # rows: up, sideways, backwards, turn, tilt
            sides, force = self.contact.sides, lam[: self.contact.sides.shape[0]]
            turns = self.contact.turns
            couple = self.heading(place) * lam[4] + DM([0, 0, 1]) * lam[3] if turns else type(lam)(3, 1)
            return ca.vertcat(self.to_world_axes(couple), sides.T @ force)
        return self.contact.all_rows(lam)


@dataclass(frozen=True)
class PhaseConstraint(Held):
    """A constraint that a phase holds in addition to its footholds; like a Foothold, but without a place."""

    contact: Constraint

    def position(self, model: Model, q: Expr, place: Expr = None) -> Expr:
        """phi of the constraint."""
        return self.contact.position(model, q)

    def touchdown(self, model: Model, q: Expr, place: Expr, before: PhaseConstraint | None, place_before: Expr) -> Expr:
        """phi if the constraint is new; no rows if it was held before."""
        return SX(0, 1) if before == self else self.contact.position(model, q)

    def touchdown_rate(
        self, model: Model, q: Expr, qd: Expr, before: PhaseConstraint | None, place_before: Expr
    ) -> Expr:
        """G qd if the constraint is new; no rows if it was held before."""
        return SX(0, 1) if before == self else self.contact.jacobian(model, q) @ qd


Rigid = Foothold | PhaseConstraint
"""Members of a phase that constraint rows hold."""


def rigid(held: Iterable[Held]) -> tuple[Rigid, ...]:
    """The members that are held by constraint rows: all but those with a wrench of their own, see
    `wrench_footholds`."""
    return tuple(h for h in held if isinstance(h, (Foothold, PhaseConstraint)))


def yaw_rotation(place: Expr) -> Expr:
    """Rotation (3x3) about the normal of the plane, its z axis, by the yaw of a place (x, y, yaw)."""
    c, s = ca.cos(place[2]), ca.sin(place[2])
    zero, one = type(c)(1, 1), type(c)(1)
    return ca.blockcat([[c, -s, zero], [s, c, zero], [zero, zero, one]])
