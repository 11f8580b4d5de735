"""Contacts along an interval: at which level they are held, and what keeps them from drifting.

The contact rows phi(q) = 0 imply G v = 0 and G a = gamma. An interval of s stages has s contact forces, so s of these
may be asked for. By `contact_level`, in the implicit form:

| level | at the end of the step | at the stages |
|---|---|---|
| position | phi = 0, and G v = 0 if s > 1 | G a = gamma but for the first and the last |
| velocity | G v = 0 | G a = gamma but for the last |
| acceleration | - | G a = gamma |

With "position" nothing drifts; with "velocity" phi drifts by the error of the scheme, with "acceleration" G v too. In
the explicit form the forces always follow from G a = gamma, and the end of a step is projected: v along H^-1 G' on
G v = 0 (level "velocity"), q by one Newton step along H^-1 G' on phi = 0 too ("position"), which
squares the drift of a step. Baumgarte (Comp. Meth. Appl. Mech. Eng. 1, 1972): wherever it stands, G a = gamma becomes
G a = gamma - 2 alpha d(phi)/dt - alpha^2 phi, a critically damped return.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import casadi as ca
from casadi import SX

from .._types import Expr, ModelError
from ..constrained import constrained_equations, impact
from ..constrained.solvers import range_space
from ..constraints import constraint_hessian, constraint_jacobian
from ..functions import function
from ..model import Model
from ..reduction import reduce
from .integrators import Scheme
from .nlp import Rows
from .stage import Foothold, Held
from .variables import contacts


@dataclass(frozen=True)
class Feet:
    """The feet that stand in a phase, where each stands, and the rate alpha [1/s] at which drift is to die out."""

    model: Model
    footholds: tuple[Foothold | Held, ...]
    places: dict[Any, Expr]
    baumgarte: float

    @property
    def size(self) -> int:
        return sum(foothold.size for foothold in self.footholds)

    def position(self, q: Expr) -> Expr:
        """phi of all rows."""
        return ca.vertcat(*(f.position(self.model, q, self.places.get(f)) for f in self.footholds))

    def velocity(self, q: Expr, v: Expr) -> Expr:
        """G v of all rows."""
        return constraint_jacobian(self.model, contacts(self.footholds), q) @ v

    def correction(self, q: Expr, v: Expr) -> Expr:
        """2 alpha d(phi)/dt + alpha^2 phi."""
        alpha = self.baumgarte
        return 2 * alpha * self.velocity(q, v) + alpha**2 * self.position(q) if alpha else 0


def call(algorithm: Callable[..., Any], model: Model, *static: Any) -> Callable[..., Any]:
    """The algorithm's Function; the algorithm itself for a model with symbols in it, which no Function may hold."""
    if has_symbols(model):
        return lambda *arguments: algorithm(model, *static, *arguments)
    return function(algorithm, model, *static)


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


def hold_stage(rows: Rows, feet: Feet, method: Scheme, k: int, level: str, q: Expr, v: Expr, a: Expr) -> None:
    """G a = gamma at stage k, where the level asks for it."""
    free = {"position": (0, method.stages - 1), "velocity": (method.stages - 1,), "acceleration": ()}[level]
    if not feet.footholds or k in free:
        return
    G = constraint_jacobian(feet.model, contacts(feet.footholds), q)
    gamma = constraint_hessian(feet.model, contacts(feet.footholds), q, v)
    rows.constrain("contact acceleration", G @ a - gamma + feet.correction(q, v))


def hold_end(rows: Rows, feet: Feet, method: Scheme, level: str, q: Expr, v: Expr) -> None:
    """What the level asks for at the end of a step."""
    if level == "position":
        for f in feet.footholds:
            rows.constrain(f"pose of {f.name}", f.position(feet.model, q, feet.places.get(f)))
    if feet.footholds and (level == "velocity" or (level == "position" and method.stages > 1)):
        rows.constrain("contact velocity", feet.velocity(q, v))


def project(feet: Feet, q: Expr, v: Expr, level: str) -> tuple[Expr, Expr]:
    """(q, v) on the contact rows, the least step in the metric of the mass matrix."""
    if not feet.footholds or level == "acceleration":
        return q, v
    if level == "position":
        G = constraint_jacobian(feet.model, contacts(feet.footholds), q)
        step, _ = range_space(feet.model, q, G, feet.model.rest(q), -feet.position(q))
        q = feet.model.integrate(q, step)
    v, _ = call(impact, feet.model, contacts(feet.footholds))(q, v)
    return q, v


def held_dynamics(feet: Feet, q: Expr, v: Expr, tau: Expr) -> tuple[Expr, Expr]:
    """(qdd, lam) with `H qdd + C = tau + G' lam`, `G qdd = gamma - 2 alpha d(phi)/dt - alpha^2 phi`."""
    _, C, G, gamma = call(constrained_equations, feet.model, contacts(feet.footholds))(q, v)
    qdd, lam = range_space(feet.model, q, G, tau - C, gamma - feet.correction(q, v))
    return qdd, lam
