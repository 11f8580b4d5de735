"""The equations of motion of a problem; the only module of optimal control that calls the dynamics.

    (H + diag(armature)) qdd + C = tau + tau_p + G' lam,    G qdd = gamma,

with tau the torques of the motors, tau_p the passive forces of the joints and armature the inertia of their rotors
(`ocp_dyn.dynamics.passive_torques`). loads.passive=False leaves out tau_p: springs, tissue, damping and friction;
loads.armature=False leaves out the rotors. For a model without such data only the equations of its bodies remain, and
graphs are no larger. Contacts are constraints, with G qdd = gamma, or compliant footholds, whose wrench lam is a
function of (q, qd).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from .._base.autodiff import derivatives
from .._base.types import Expr, ModelError, split
from ..constrained_motion import (
    constrained_dynamics,
    constrained_dynamics_derivatives,
    constrained_equations,
    impact,
    impact_derivatives,
)
from ..constrained_motion.independent_rows import ConstraintRows, surely_independent
from ..constrained_motion.solvers import range_space
from ..constraints import Constraint, Contact, RollingContact
from ..derivatives.first import forward_dynamics_derivatives
from ..dynamics.passive_torques import armature_force, passive_derivatives, passive_force
from ..dynamics.rnea_crba_aba import forward_dynamics, inverse_dynamics, mass_matrix
from ..functions.differentiated_dynamics import (
    Product,
    contact_derivatives,
    contact_product,
    dynamics_derivatives,
)
from ..functions.function import function
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from ..mechanism.loads import JOINT_LOADS, Loads
from ..mechanism.reduction import reduce
from .nlp.block_rows import BlockRows
from .statement.ground.wrench_footholds import CompliantFoothold, LoadedFoothold, WrenchFoothold
from .statement.statement import Statement

Constraints = tuple[Constraint, ...]

Contacts = tuple[Constraint | WrenchFoothold, ...]
"""The contacts of a phase: constraints and compliant footholds."""


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of motion of a model, with or without the passive forces and the rotor inertia of its joints.

    The model may hold symbols. The methods take numbers, MX or SX; for a model with symbols, SX only.
    """

    model: Model
    loads: Loads = JOINT_LOADS

    def of(self, model: Model) -> Equations:
        """The same equations for another model, such as this model with other parameters."""
        return replace(self, model=model)

    @property
    def acts(self) -> bool:
        """Whether springs, tissue, damping or friction are in the equations."""
        dofs = self.model.dofs
        linear = any(x.any() for x in (dofs.stiffness, dofs.damping, dofs.friction))
        return self.loads.passive and (linear or bool(self.model.passive or self.model.bushings))

    @property
    def rotors(self) -> Loads:
        """The loads with which algorithms include the armature; none if the model has no armature."""
        return Loads(armature=self.loads.armature and bool(self.model.dofs.armature.any()))

    def inverse_dynamics(self, q: Expr, qd: Expr, qdd: Expr) -> Expr:
        """The generalized forces of motors and contacts, tau + G' lam, for the acceleration qdd."""
        force = self._call(inverse_dynamics, loads=self.rotors)(q, qd, qdd)
        return force - self._joints(q, qd) if self.acts else force

    def force_rows(self, rows: BlockRows, q: Expr, qd: Expr, qdd: Expr) -> Expr:
        """`inverse_dynamics` for the rows of a block; for a numeric model the derivatives of its bodies' part come from
        a recursion.

        The passive forces and the rotor inertia of the joints are a few terms that are differentiated with the block.
        """
        force = self._tree(rows, q, qd, qdd)
        force = force + armature_force(self.model, qdd) if self.rotors.armature else force
        return force - self._joints(q, qd) if self.acts else force

    def contact_rows(
        self, rows: BlockRows, contact: Constraint | WrenchFoothold, product: Product, q: Expr, y: Expr
    ) -> Expr:
        """G' lam for y = lam, or G qd for y = qd, for the rows of a block; of a foot on a numeric model the derivatives
        are written by formulas."""
        if isinstance(contact, WrenchFoothold):
            contact = Contact(contact.frame)
        if self.model.has_symbols or not isinstance(contact, (Contact, RollingContact)):
            G = contact.jacobian(self.model, q)
            return G.T @ y if product == "force" else G @ y
        value = contact_product(self.model, contact, product)
        made = partial(contact_derivatives, self.model, contact, product)
        return rows.call(value, made, q, y, maker=contact_derivatives.__module__)

    def momentum_rows(self, rows: BlockRows, q: Expr, change: Expr) -> Expr:
        """(H + diag(armature)) change, for a change of velocities: ID at zero velocity for the acceleration `change`,
        minus ID for zero acceleration.

        The product with H gives the same, but the derivatives of ID come from a recursion.
        """
        zero = SX(self.model.nv, 1)
        momentum = self._tree(rows, q, zero, change) - self._tree(rows, q, zero, zero)
        return momentum + armature_force(self.model, change) if self.rotors.armature else momentum

    def forward_dynamics(self, contacts: Contacts, q: Expr, qd: Expr, tau: Expr) -> tuple[Expr, Expr]:
        """(qdd, lam) under the torques tau of the motors."""
        held, feet = constraints_of(contacts), compliant_of(contacts)
        force, laws = self._pressed(feet, q, qd, self._driven(q, qd, tau))
        if held:
            qdd, lam = self._call(constrained_dynamics, held, loads=self.rotors)(q, qd, force)
            return qdd, _in_order(contacts, lam, laws)
        free = self.of(reduced(self.model)) if self.model.has_symbols else self
        qdd = free._call(forward_dynamics, loads=self.rotors)(q, qd, force)
        return qdd, _in_order(contacts, type(tau)(0, 1), laws)

    def shared_terms(self, contacts: Contacts, among: Contacts) -> ca.Function | None:
        """(q, qd) -> (H, C, G, gamma), with the rows of all constraints of `among`: other sets of these contacts need
        no other Function, which takes longest. None without constraints, and where rows may depend on each other."""
        held = constraints_of(contacts)
        if not held or self.model.has_symbols or not _surely_independent(self.model, held):
            return None
        return function(constrained_equations, self.model, constraints_of(among), loads=self.rotors)

    def shared_dynamics(self, contacts: Contacts, among: Contacts, q: MX, qd: MX, tau: MX) -> tuple[Expr, Expr]:
        """(qdd, lam) as `forward_dynamics`, from `shared_terms`. One factor of the whole matrix [H G'; G 0] solves for
        both; where there are no such terms, `forward_dynamics` does."""
        terms = self.shared_terms(contacts, among)
        if terms is None:
            return self.forward_dynamics(contacts, q, qd, tau)
        held, every = constraints_of(contacts), constraints_of(among)
        force, laws = self._pressed(compliant_of(contacts), q, qd, self._driven(q, qd, tau))
        H, C, G, gamma = terms(q, qd)
        ends = np.cumsum([0, *(len(constraint.rows) for constraint in every)])
        rows = [row for each in held for row in range(ends[every.index(each)], ends[every.index(each) + 1])]
        zero = DM(len(rows), len(rows))
        found = ca.solve(ca.blockcat([[H, G[rows, :].T], [G[rows, :], zero]]), ca.vertcat(force - C, gamma[rows]), "qr")
        qdd, lam = split(found, self.model.nv, len(rows))
        return qdd, _in_order(contacts, -lam, laws)

    def corrected_dynamics(
        self, contacts: Contacts, q: Expr, qd: Expr, tau: Expr, correction: Expr
    ) -> tuple[Expr, Expr]:
        """(qdd, lam) with `G qdd = gamma - correction` for the constraints among the contacts."""
        held = constraints_of(contacts)
        _, C, G, gamma = self._call(constrained_equations, held)(q, qd)
        force, laws = self._pressed(compliant_of(contacts), q, qd, self._driven(q, qd, tau) - C)
        rows = ConstraintRows.of(self.model, held, q, G=G)
        qdd, lam = range_space(self.model, q, rows, force, gamma - correction, self.rotors)
        return qdd, _in_order(contacts, lam, laws)

    def forward_derivatives(self, contacts: Contacts, q: Expr, qd: Expr, tau: Expr) -> tuple[Expr, Expr]:
        """Derivatives of qdd by tangents of q and by qd."""
        held, feet = constraints_of(contacts), compliant_of(contacts)
        algorithm = constrained_dynamics_derivatives if held else forward_dynamics_derivatives
        static = (held,) if held else ()
        force = self._pressed(feet, q, qd, self._driven(q, qd, tau))[0]
        by_q, by_qd, by_tau = self._call(algorithm, *static, loads=self.rotors)(q, qd, force)[:3]
        if self.acts or feet:
            slopes = self._slopes(feet, q, qd)
            by_q, by_qd = by_q + by_tau @ slopes[0], by_qd + by_tau @ slopes[1]
        return by_q, by_qd

    def impact(self, contacts: Constraints, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
        """(velocity after, impulses) of an impact that closes all these constraints at once."""
        qd_plus, Lam = self._call(impact, contacts, loads=self.rotors)(q, qd)
        return qd_plus, Lam

    def impact_derivatives(self, contacts: Constraints, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
        """Derivatives of the velocity after an impact by tangents of q and by qd."""
        derivatives = self._call(impact_derivatives, contacts, loads=self.rotors)(q, qd)
        return derivatives[0], derivatives[1]

    def mass_matrix(self, q: Expr) -> Expr:
        """The mass matrix with rotors, H + diag(armature)."""
        return self._call(mass_matrix, loads=self.rotors)(q)

    def least_step(self, contacts: Constraints, q: Expr, change: Expr) -> Expr:
        """The step d (nv) with G d = change and the least norm d' (H + diag(armature)) d."""
        rows = ConstraintRows.of(self.model, contacts, q)
        return range_space(self.model, q, rows, self.model.rest(q), change, self.rotors)[0]

    def fastest(self, q: Expr, contacts: Contacts = (), qd: Expr = None, H: Expr = None) -> float:
        """The fastest rate [1/s] at which springs and losses of joints and compliant footholds act: the spectral radius
        of the linearized motion under these forces alone, at the velocity qd, by default zero.

        Computed for the model without its constraints, at numeric q; 0 without springs and losses. Explicit schemes
        need steps below about 2.7 times its inverse. H: the mass matrix with rotors, if it is known.
        """
        feet = compliant_of(contacts)
        if not (self.acts or feet):
            return 0.0
        nv = self.model.nv
        slopes = ca.horzcat(*self._slopes(feet, DM(q), DM.zeros(nv, 1) if qd is None else DM(qd)))
        H = np.array(DM(self.mass_matrix(q) if H is None else H).full())
        rows = np.linalg.lstsq(H, np.array(DM(slopes).full()), rcond=None)[0]
        return float(np.abs(np.linalg.eigvals(np.vstack([np.eye(2 * nv)[nv:], rows]))).max())

    def _joints(self, q: Expr, qd: Expr) -> Expr:
        """The passive forces tau_p."""
        return self._call(passive_force, signature="q qd -> tau_p", slip_speed=self.loads.slip_speed)(q, qd)

    def _slopes(self, feet: Feet, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
        """Derivatives by tangents of q and by qd of tau_p and of the forces of compliant footholds."""
        by_q: Expr = DM(self.model.nv, self.model.nv)
        by_qd: Expr = DM(self.model.nv, self.model.nv)
        if self.acts:
            options = {"signature": SLOPES, "slip_speed": self.loads.slip_speed}
            by_q, by_qd = self._call(passive_derivatives, **options)(q, qd)
        if feet:
            slopes = self._call(feet_derivatives, feet, signature=SLOPES)(q, qd)
            by_q, by_qd = by_q + slopes[0], by_qd + slopes[1]
        return by_q, by_qd

    def _pressed(self, feet: Feet, q: Expr, qd: Expr, force: Expr) -> tuple[Expr, Expr]:
        """(force + sum of G' lam, lam) with the laws lam of compliant footholds."""
        if not feet:
            return force, type(force)(0, 1)
        tau_c, laws = self._call(feet_force, feet, signature="q qd -> tau_c lam_c")(q, qd)
        return force + tau_c, laws

    def _driven(self, q: Expr, qd: Expr, tau: Expr) -> Expr:
        """The sum tau + tau_p."""
        return tau + self._joints(q, qd) if self.acts else tau

    def _tree(self, rows: BlockRows, q: Expr, qd: Expr, qdd: Expr) -> Expr:
        """ID(q, qd, qdd) of the tree of bodies alone; for a numeric model its derivatives come from a recursion."""
        if self.model.has_symbols:
            return inverse_dynamics(reduced(self.model), q, qd, qdd)
        force = function(inverse_dynamics, self.model)
        return rows.call(
            force, partial(dynamics_derivatives, self.model), q, qd, qdd, maker=dynamics_derivatives.__module__
        )

    def _call(self, algorithm: Callable[..., Any], *static: Any, **options: Any) -> Callable[..., Any]:
        """The algorithm's Function; for a model with symbols, which no Function may contain, the algorithm itself."""
        if self.model.has_symbols:
            options.pop("signature", None)
            return lambda *arguments: algorithm(self.model, *static, *arguments, **options)
        return function(algorithm, self.model, *static, **options)


Feet = tuple[CompliantFoothold, ...]

SLOPES = "q qd -> dtau_dq dtau_dqd"


def constraints_of(contacts: Contacts) -> Constraints:
    """The constraints among the contacts."""
    return tuple(c for c in contacts if not isinstance(c, WrenchFoothold))


def compliant_of(contacts: Contacts) -> Feet:
    """The compliant footholds among the contacts; ValueError for one whose wrench no law determines."""
    loaded = [c.name for c in contacts if isinstance(c, LoadedFoothold)]
    if loaded:
        raise ValueError(
            "forward dynamics, and all that integrates them, need forces that follow from the state, and the wrench of "
            f"the loaded foothold {loaded[0]!r} is a variable: take accelerations and forces from the solution, or "
            "solve on ocp.Foothold or ocp.CompliantFoothold"
        )
    return tuple(c for c in contacts if isinstance(c, CompliantFoothold))


def feet_force(model: Model, feet: Feet, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
    """(sum of G' lam (nv), lam of all feet) of compliant footholds."""
    laws = [foot.law(model, q, qd) for foot in feet]
    forces = [foot.jacobian(model, q).T @ law for foot, law in zip(feet, laws, strict=True)]
    return sum(forces[1:], start=forces[0]), ca.vertcat(*laws)


def feet_derivatives(model: Model, feet: Feet, q: Expr, qd: Expr) -> tuple[Expr, Expr]:
    """Derivatives of the force of `feet_force` by tangents of q and by qd (nv x nv each)."""
    still = DM(model.nv, 1)
    by_q = derivatives(lambda q: feet_force(model, feet, q, qd)[0], q, still, model.q_dot).jacobian
    return by_q, derivatives(lambda qd: feet_force(model, feet, q, qd)[0], qd, still).jacobian


def _in_order(contacts: Contacts, lam: Expr, laws: Expr) -> Expr:
    """Forces of all rows in the order of the contacts, from those of constraints and those of compliant footholds."""
    if not laws.shape[0]:
        return lam
    soft = [isinstance(c, CompliantFoothold) for c in contacts]
    sizes = [len(c.rows) for c in contacts]
    parts = {True: iter(split(laws, *(n for n, s in zip(sizes, soft, strict=True) if s)))}
    parts[False] = iter(split(lam, *(n for n, s in zip(sizes, soft, strict=True) if not s)) if lam.shape[0] else ())
    return ca.vertcat(*(next(parts[s]) for s in soft))


def equations_of(problem: Statement) -> Equations:
    """The equations of motion of a problem; passive forces and rotor inertia of the joints are included unless the
    problem leaves them out."""
    return Equations(_recent(problem.model), problem.loads)


@lru_cache(maxsize=8)
def _recent(model: Model) -> Model:
    """The model, or an equal one of the last problems: these are kept alive, with what was found for them, for later
    problems."""
    return model


def reduced(model: Model) -> Model:
    """A model with the same joint-space dynamics in fewer operations, or the model itself if `reduce` refuses it."""
    try:
        return _reduced(model)
    except ModelError:
        return model


_reduced = kept_per_model(reduce)


@kept_per_model
def _surely_independent(model: Model, contacts: Constraints) -> bool:
    return surely_independent(model, contacts, SX.sym("q", model.nq))
