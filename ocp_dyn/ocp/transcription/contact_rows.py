"""Rows of contacts along an interval: the level at which contacts are constrained, and the prevention of drift; laws of
compliant footholds.

The contact rows phi(q) = 0 imply G qd = 0 and G qdd = gamma. A step of s stages has s contact forces, so it can satisfy
s of these conditions. In the implicit form, `contact_level` selects them:

| level | at the end of the step | at the stages |
|---|---|---|
| position | phi = 0, and G qd = 0 if s > 1 | G qdd = gamma, except for the first and the last |
| velocity | G qd = 0 | G qdd = gamma, except for the last |
| acceleration | - | G qdd = gamma |

With "position" nothing drifts; with "velocity" phi drifts by the error of the scheme, with "acceleration" G qd too. In
the explicit form the forces always follow from G qdd = gamma, and the end of a step is projected: qd along H^-1 G' on
G qd = 0 (level "velocity"), q by one Newton step along H^-1 G' on phi = 0 too ("position"), which
squares the drift of a step. Baumgarte (Comp. Meth. Appl. Mech. Eng. 1, 1972): G qdd = gamma is replaced everywhere by
G qdd = gamma - 2 alpha d(phi)/dt - alpha^2 phi, a critically damped return.

The wrench of a compliant foothold is a variable in the implicit form, too, and at every stage rows set it equal to the
law: lam - law(q, qd) = 0. So the stiff law does not enter the other rows, and the program is sparser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
from casadi import SX

from ..._base.types import Expr, split
from ...constraints import constraint_hessian, constraint_jacobian
from ...integrators import Scheme
from ...mechanism import Model
from ..equations import Equations
from ..nlp.program import BlockRows
from ..statement.footholds import Held, Rigid, rigid
from ..statement.ground.wrench_footholds import CompliantFoothold
from ..statement.state.dependent import Coordinates
from ..statement.statement import free_stages
from .tracks import FORCE_SCALE
from .variables import contacts


@dataclass(frozen=True)
class StandingFeet:
    """The feet that stand in a phase, with their places and the equations of motion.

    baumgarte: the rate alpha [1/s] at which drift decays.
    """

    equations: Equations
    held: tuple[Held, ...]
    places: dict[Any, Expr]
    baumgarte: float

    @property
    def model(self) -> Model:
        return self.equations.model

    @property
    def size(self) -> int:
        """Number of force variables at a stage."""
        return sum(foothold.size for foothold in self.held)

    @property
    def footholds(self) -> tuple[Rigid, ...]:
        """Those that are held by constraint rows."""
        return rigid(self.held)

    def force_rows(self, rows: BlockRows, q: Expr, lam: Expr) -> Expr:
        """G' lam (nv) over all force variables, for the rows of a block."""
        parts = zip(self.held, split(lam, *(f.size for f in self.held)), strict=True)
        return sum((self.equations.contact_rows(rows, f.contact, "force", q, own) for f, own in parts), start=SX(0))

    def position(self, q: Expr) -> Expr:
        """phi of all rows."""
        return ca.vertcat(*(f.position(self.model, q, self.places.get(f)) for f in self.footholds))

    def velocity(self, q: Expr, qd: Expr) -> Expr:
        """G qd of all rows."""
        return constraint_jacobian(self.model, contacts(self.footholds), q) @ qd

    def correction(self, q: Expr, qd: Expr) -> Expr:
        """2 alpha d(phi)/dt + alpha^2 phi."""
        alpha = self.baumgarte
        return 2 * alpha * self.velocity(q, qd) + alpha**2 * self.position(q) if alpha else 0


def hold_stage(
    rows: BlockRows, feet: StandingFeet, method: Scheme, k: int, level: str, q: Expr, qd: Expr, qdd: Expr
) -> None:
    """Constrains G qdd = gamma at stage k, if the level requires it."""
    if not feet.footholds or k in free_stages(level, method.stages):
        return
    G = constraint_jacobian(feet.model, contacts(feet.footholds), q)
    gamma = constraint_hessian(feet.model, contacts(feet.footholds), q, qd)
    rows.constrain("contact acceleration", G @ qdd - gamma + feet.correction(q, qd))


def hold_laws(rows: BlockRows, feet: StandingFeet, q: Expr, qd: Expr, lam: Expr) -> None:
    """Constrains the wrenches of compliant footholds among lam to their laws."""
    first = 0
    for f in feet.held:
        if isinstance(f, CompliantFoothold):
            gap = lam[first : first + f.size] - f.law(feet.model, q, qd)
            rows.constrain(f"force of {f.name}", gap, scale=FORCE_SCALE)
        first += f.size


def hold_end(rows: BlockRows, feet: StandingFeet, method: Scheme, level: str, q: Expr, qd: Expr) -> None:
    """Constrains the contacts at the end of a step as the level requires: phi = 0, G qd = 0, both or neither."""
    if level == "position":
        for f in feet.footholds:
            rows.constrain(f"pose of {f.name}", f.position(feet.model, q, feet.places.get(f)))
    if feet.footholds and (level == "velocity" or (level == "position" and method.stages > 1)):
        rates = (feet.equations.contact_rows(rows, f.contact, "velocity", q, qd) for f in feet.footholds)
        rows.constrain("contact velocity", ca.vertcat(*rates))


def project(feet: StandingFeet, chosen: Coordinates, q: Expr, qd: Expr, level: str) -> tuple[Expr, ...]:
    """(q, qd) projected onto the contact rows by the least step in the metric of the mass matrix, with dependent
    entries that follow from the independent ones.

    feet: the contacts, and the constraints of dependent joints, which the step obeys.
    """
    q, qd = chosen.complete(q, qd)
    if len(feet.footholds) == len(chosen.members) or level == "acceleration":
        return q, qd
    if level == "position":
        step = feet.equations.least_step(contacts(feet.footholds), q, -feet.position(q))
        q, qd = chosen.complete(feet.model.integrate(q, step), qd)
    qd, _ = feet.equations.impact(contacts(feet.footholds), q, qd)
    return chosen.complete(q, qd)
