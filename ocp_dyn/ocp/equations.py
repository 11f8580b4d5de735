"""The equations of motion of a problem: the one place where optimal control calls the dynamics.

    (H + diag(armature)) qdd + C = tau + tau_p + G' lam,    G qdd = gamma,

tau the motors' torques, tau_p and armature what the joints do by themselves (`ocp_dyn.passive`). passive=False leaves
out tau_p: springs, damping and friction; armature=False the rotors' inertia. A model without such data has the
equations of its bodies alone, and none of their graphs grows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from casadi import SX

from .._types import Expr, ModelError
from ..constrained import (
    constrained_dynamics,
    constrained_dynamics_derivatives,
    constrained_equations,
    impact,
    impact_derivatives,
)
from ..constrained.solvers import range_space
from ..constraints import Constraint
from ..derivatives import forward_dynamics_derivatives
from ..dynamics import forward_dynamics, inverse_dynamics, mass_matrix
from ..functions import function
from ..model import Model
from ..passive import armature_force, passive_force
from ..reduction import reduce
from .differentiated_dynamics import differentiated
from .nlp import Rows

Constraints = tuple[Constraint, ...]


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of motion of a model, with what its joints do by themselves or, by name, without.

    The model may hold symbols. Its methods take numbers, MX or SX; a model with symbols takes SX alone.
    """

    model: Model
    passive: bool = True
    armature: bool = True

    def of(self, model: Model) -> Equations:
        """The same equations of another model, such as this one with other parameters."""
        return replace(self, model=model)

    @property
    def rotors(self) -> dict[str, bool]:
        """Options of algorithms that know inertia alone: empty where there is no armature."""
        return {"armature": True} if self.armature and self.model.dofs.armature.any() else {}

    @property
    def loads(self) -> dict[str, bool]:
        """Options of algorithms that know forces and inertia: empty where joints do nothing by themselves."""
        dofs = self.model.dofs
        acts = any(x.any() for x in (dofs.stiffness, dofs.damping, dofs.friction))
        return self.rotors | ({"passive": True} if self.passive and acts else {})

    def inverse_dynamics(self, q: Expr, v: Expr, a: Expr) -> Expr:
        """The generalised forces of motors and contacts, tau + G' lam, that give the acceleration a."""
        return self._call(inverse_dynamics, **self.loads)(q, v, a)

    def force_rows(self, rows: Rows, q: Expr, v: Expr, a: Expr) -> Expr:
        """`inverse_dynamics` in the body of a block: by recursion for the tree, where it consists of numbers.

        What the joints do by themselves stands beside it, a few terms that are differentiated with the block.
        """
        force = self._tree(rows, q, v, a)
        if "armature" in self.loads:
            force = force + armature_force(self.model, a)
        return force - passive_force(self.model, q, v) if "passive" in self.loads else force

    def momentum_rows(self, rows: Rows, q: Expr, change: Expr) -> Expr:
        """(H + diag(armature)) change, for a change of velocities: ID at rest with these accelerations less that with none.

        H would do, but ID has derivatives by recursion.
        """
        none = SX(self.model.nv, 1)
        momentum = self._tree(rows, q, none, change) - self._tree(rows, q, none, none)
        return momentum + armature_force(self.model, change) if self.rotors else momentum

    def forward_dynamics(self, contacts: Constraints, q: Expr, v: Expr, tau: Expr) -> tuple[Expr, Expr]:
        """(qdd, lam) under the motors' torques tau."""
        if contacts:
            qdd, lam = self._call(constrained_dynamics, contacts, **self.loads)(q, v, tau)
            return qdd, lam
        free = self.of(lean(self.model)) if has_symbols(self.model) else self
        return free._call(forward_dynamics, **self.loads)(q, v, tau), type(tau)(0, 1)

    def corrected_dynamics(
        self, contacts: Constraints, q: Expr, v: Expr, tau: Expr, correction: Expr
    ) -> tuple[Expr, Expr]:
        """(qdd, lam) with `G qdd = gamma - correction`."""
        _, C, G, gamma = self._call(constrained_equations, contacts, **self.loads)(q, v)
        qdd, lam = range_space(self.model, q, G, tau - C, gamma - correction, bool(self.rotors))
        return qdd, lam

    def forward_derivatives(self, contacts: Constraints, q: Expr, v: Expr, tau: Expr) -> tuple[Expr, Expr]:
        """Derivatives of qdd by tangents of q and by v."""
        if contacts:
            found = self._call(constrained_dynamics_derivatives, contacts, **self.loads)(q, v, tau)
        else:
            found = self._call(forward_dynamics_derivatives, **self.loads)(q, v, tau)
        return found[0], found[1]

    def impact(self, contacts: Constraints, q: Expr, v: Expr) -> tuple[Expr, Expr]:
        """(velocity after, impulses) where the contacts are closed at once."""
        v_plus, Lam = self._call(impact, contacts, **self.rotors)(q, v)
        return v_plus, Lam

    def impact_derivatives(self, contacts: Constraints, q: Expr, v: Expr) -> tuple[Expr, Expr]:
        """Derivatives of the velocity after an impact by tangents of q and by v."""
        found = self._call(impact_derivatives, contacts, **self.rotors)(q, v)
        return found[0], found[1]

    def mass_matrix(self, q: Expr) -> Expr:
        """H + diag(armature)."""
        return self._call(mass_matrix, **self.rotors)(q)

    def least_step(self, q: Expr, G: Expr, change: Expr) -> Expr:
        """The step d (nv) with G d = change that is least in the metric of the mass matrix."""
        return range_space(self.model, q, G, self.model.rest(q), change, bool(self.rotors))[0]

    def _tree(self, rows: Rows, q: Expr, v: Expr, a: Expr) -> Expr:
        """ID(q, v, a) of the bodies alone, its derivatives by recursion where the model consists of numbers."""
        if has_symbols(self.model):
            return inverse_dynamics(lean(self.model), q, v, a)
        return rows.call(function(inverse_dynamics, self.model), lambda: differentiated(self.model), q, v, a)

    def _call(self, algorithm: Callable[..., Any], *static: Any, **options: Any) -> Callable[..., Any]:
        """The algorithm's Function; the algorithm itself for a model with symbols in it, which no Function may hold."""
        if has_symbols(self.model):
            return lambda *arguments: algorithm(self.model, *static, *arguments, **options)
        return function(algorithm, self.model, *static, **options)


def has_symbols(model: Model) -> bool:
    """Whether parameters of the model are expressions."""
    numbers = [*model.gravity, *(x for body in model.I for x in (body.m, body.h, body.I)), *(X.r for X in model.X_tree)]
    return any(isinstance(x, SX) for x in numbers)


_lean: WeakKeyDictionary[Model, Model] = WeakKeyDictionary()


def lean(model: Model) -> Model:
    """The model with the same joint-space dynamics from fewer operations, or itself where it holds symbols."""
    if model not in _lean:
        try:
            _lean[model] = reduce(model)
        except ModelError:
            return model
    return _lean[model]
