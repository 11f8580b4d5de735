"""Contacts that touch down between two phases of a solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.types import Array, Expr, Indices
from ...constraints import Constraint, Contact, RollingContact
from ...mechanism import Model
from ...symmetry.advance import Advance
from ...symmetry.mirror import MirrorMap
from ..equations import constraints_of
from ..motion.motion import PhaseMotion
from ..statement.footholds import Foothold, yaw_rotation

SAME_PLACE = 1e-6
"""Largest distance [m, rad] of two places that are one."""


@dataclass(frozen=True, eq=False)
class Touchdown:
    """A contact of the next phase. rows(q) are zero at touch-down; rows is None if the contact was already closed."""

    contact: Constraint
    rows: Callable[[Expr], Expr] | None

    def slopes(self, model: Model, q: Array) -> Array:
        """Derivative of the rows with respect to the tangent of q (rows, nv)."""
        delta = SX.sym("delta", model.nv)
        rows = self.rows(model.integrate(DM(q), delta)) if self.rows is not None else SX(0, 1)
        found = ca.Function("slopes", [delta], [ca.densify(ca.jacobian(rows, delta))])(DM(model.nv, 1))
        return np.array(found.full())


def touchdowns(
    model: Model, phase: PhaseMotion, following: PhaseMotion, mirror: MirrorMap | None, back: Advance
) -> list[Touchdown]:
    """Touchdowns of the contacts of the following phase, in order. Their rows take q in the coordinates of that phase:
    mirrored if `mirror` is given, and then moved by `back`."""
    standing = [_image(model, c, phase, mirror, back) for c in constraints_of(phase.contacts)]
    found = []
    for contact in constraints_of(following.contacts):
        if not isinstance(contact, (Contact, RollingContact)):
            closed = any(contact.rows == other.rows for other in constraints_of(phase.contacts))
            found.append(Touchdown(contact, None if closed else partial(contact.position, model)))
            continue
        body, place = model.frame(contact.name).body, DM(following.places[contact.name])
        foothold = following.foothold(contact)
        feet = [s for s in standing if s is not None]
        same = [s for s in feet if model.frame(s[0].name).body == body]
        same = same or [s for s in feet if _toes_of(model, foothold, place, *s)]
        if not same:
            found.append(Touchdown(contact, partial(foothold.height, model, place=place)))
        elif same[0][0].contact.rows == contact.rows:
            found.append(Touchdown(contact, None))
        else:
            found.append(Touchdown(contact, _missing(model, foothold, place, *same[0])))
    return found


def fixed_rows(contact: Constraint) -> Indices:
    """Indices of the rows of a contact that a shift along the ground does not change, height and tilt; for other
    constraints, of all rows."""
    if isinstance(contact, RollingContact):
        return np.array([0, 4]) if contact.turns else np.array([0])
    if not isinstance(contact, Contact):
        return np.arange(len(contact.rows))
    if contact.axes is None:
        return np.array([0, 2]) if contact.planar else np.array([0, 1, 5])
    return np.flatnonzero(np.abs(np.asarray(contact.axes)[:, 2]) > 1e-9)


def _image(
    model: Model, contact: Constraint, phase: PhaseMotion, mirror: MirrorMap | None, back: Advance
) -> tuple[Foothold, DM] | None:
    """The foothold of a standing foot and its place in the coordinates of the next phase; None for other
    constraints."""
    if not isinstance(contact, (Contact, RollingContact)):
        return None
    plane, place = phase.foothold(contact).plane.image(phase.places[contact.name], mirror is not None, back)
    if mirror is None:
        return Foothold(contact, plane=plane), DM(place)
    partner = replace(contact, body=mirror.frame(contact.name))
    if isinstance(partner, RollingContact):
        a, b, c = partner.axis
        partner = replace(partner, axis=(-a, b, c), normal=plane.normal)
    return Foothold(partner, plane=plane), DM(place)


def _toes_of(model: Model, foothold: Foothold, place: DM, before: Foothold, place_before: DM) -> bool:
    """Whether the foothold takes over from a flat one on the neighboring body of the same foot, as toes do: it lies
    where both would touch the ground at once. Two legs that meet in a hinge stand at different places."""
    if before.kind != "flat" or foothold.kind == "point" or not foothold.hinged(model, before):
        return False
    try:
        x, y, yaw = Foothold(foothold.contact, of=before).offset(model)
    except ValueError:
        return False
    expected = place_before + ca.vertcat((yaw_rotation(place_before) @ DM([x, y, 0]))[:2], yaw)
    return float(ca.norm_inf(place - expected)) < SAME_PLACE


def _missing(
    model: Model, foothold: Foothold, place: DM, before: Foothold, place_before: DM
) -> Callable[[Expr], Expr] | None:
    """Rows that a foot already on the ground must still fulfill: its tilt if it rolled over an edge; None if it stood
    flat."""
    if before.kind == "flat" and not foothold.hinged(model, before):
        return None
    return lambda q: foothold.touchdown(model, q, place, before, place_before)
