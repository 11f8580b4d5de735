"""Derivatives of a Function by recursions, for exports: far smaller than those by automatic differentiation.

They have the names, inputs and outputs that CasADi looks for beside a Function f in a library: jac_f, and where second
derivatives are known adj1_f and jac_adj1_f. Derivatives by q are by its entries, see `raw_coordinates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.types import Expr
from ..constraints import Baumgarte, Constraint, Contact, Loop, RollingContact, as_set, is_set
from ..mechanism import Model
from ..mechanism.loads import Loads
from ..mechanism.reduction import split_joints
from .attached_derivatives import SymbolicCall, derivative_options
from .cheapest_equivalent import cheapest_equivalent
from .raw_coordinates import tangent_map
from .signature import Signature

OPTIONS = ("e", "t")
"""Options of algorithms that their derivatives take too."""


@dataclass(frozen=True, eq=False)
class AnalyticDerivatives:
    """The derivatives of a Function that `od.function` made from an algorithm with known derivatives.

    static, loads, options: as in `od.function`.
    """

    spec: Signature
    model: Model
    static: tuple[Any, ...]
    loads: Loads
    options: Mapping[str, Any]

    def knows(self, kind: str) -> bool:
        """Whether recursions give the derivative `kind`, "jac", "fwd1", "adj1" or "jac_adj1"."""
        if self.spec.derivatives is not None:
            return kind != "fwd1" and self._by_entries
        second = self.spec.jacobian_of_adjoint is not None and not self.loads.passive
        return (kind == "jac" or (kind == "jac_adj1" and second)) and self._by_entries

    @cached_property
    def _by_entries(self) -> bool:
        """Whether derivatives by the entries of q are known: not if a joint's velocities are no rates of its q, or if
        constraints depend on the length of its quaternion."""
        try:
            tangent_map(split_joints(self.model), SX.sym("q", self.model.nq))
        except ValueError:
            return False
        sets = (as_set(argument, self.options.get("t")) for argument in self.static if is_set(argument))
        return not any(_sees_length(self.model, constraint) for members in sets for constraint in members)

    def of(self, f: ca.Function, kind: str) -> ca.Function | None:
        """The derivative `kind` of f; None where only CasADi can find it."""
        if not self.knows(kind):
            return None
        if self.spec.derivatives is not None:
            call = SymbolicCall(f.name(), _symbols(f), f.name_out(0), SX.sym("weights", self.model.nv))
            model = cheapest_equivalent(self.model)
            order = 1 if kind == "jac" else 2
            found = derivative_options(self.spec.derivatives, model, call, order, loads=self.loads)["cache"]
            return found[f"jac_{f.name()}"] if kind == "jac" else _adjoint(found[f"adj1_{f.name()}"], kind)
        return self._jacobian(f) if kind == "jac" else self._jacobian_of_adjoint(f)

    def _jacobian(self, f: ca.Function) -> ca.Function | None:
        """The Jacobian from blocks with columns along tangent directions of q."""
        if self.spec.jacobian is None:
            return None
        symbols = _symbols(f)
        q = symbols["q"]
        T = tangent_map(split_joints(self.model), q)
        options: dict[str, Any] = {**self.options, "loads": self.loads}
        blocks = list(self.spec.jacobian(self.model, *self.static, *symbols.values(), **options))
        at = [k for k in range(len(blocks)) if k % f.n_in() == f.index_in("q")]
        results: list[Expr] = [block @ T if k in at else block for k, block in enumerate(blocks)]
        empty = [SX(*f.size_out(j)) for j in range(f.n_out())]
        names = [*symbols, *(f"out_{y}" for y in f.name_out())]
        outputs = [f"jac_{y}_{x}" for y in f.name_out() for x in symbols]
        inputs = [*symbols.values(), *empty]
        return ca.Function(f"jac_{f.name()}", inputs, [SX(r) for r in results], names, outputs, {"cse": True})

    def _jacobian_of_adjoint(self, f: ca.Function) -> ca.Function | None:
        """Derivatives of the adjoint of constrained dynamics."""
        if self.spec.jacobian_of_adjoint is None:
            return None
        (constraints,) = self.static
        return self.spec.jacobian_of_adjoint(f.name(), _symbols(f), self.model, constraints, self.loads, self.options)


def _sees_length(model: Model, constraint: Constraint) -> bool:
    """Whether rows of a constraint change with the length of a quaternion, at a configuration that has no pattern.

    A function phi(q) of the user may take the entries of a quaternion as they are.
    """
    inner = constraint.constraint if isinstance(constraint, Baumgarte) else constraint
    parts = split_joints(model).joints  # a free joint's quaternion stands alone here
    lengths = np.concatenate([np.full(joint.nq, 1.25 if joint.nq > joint.nv else 1.0) for joint in parts])
    if isinstance(inner, (Contact, Loop, RollingContact)) or np.all(lengths == 1):
        return False
    rng = np.random.default_rng(0)
    q, qd = model.random_q(rng), rng.normal(size=model.nv)
    one, other = (
        DM(ca.vertcat(ca.vec(constraint.jacobian(model, at)), constraint.hessian(model, at, DM(qd)))).full()
        for at in (DM(q), DM(lengths * q))
    )
    return not np.allclose(one, other, rtol=1e-7, atol=1e-9 * np.abs(one).max(initial=0.0), equal_nan=True)


def _symbols(f: ca.Function) -> dict[str, SX]:
    return {name: SX.sym(name, f.sparsity_in(name)) for name in f.name_in()}


def _adjoint(adjoint: ca.Function, kind: str) -> ca.Function:
    return adjoint if kind == "adj1" else adjoint.jacobian()


def analytic_derivatives(
    spec: Signature, model: Model, static: tuple[Any, ...], loads: Loads, options: Mapping[str, Any]
) -> AnalyticDerivatives | None:
    """The known derivatives of an algorithm with these arguments and without parameters; None if there are none.

    Inputs and outputs on request, and wrenches, are left to CasADi.
    """
    chosen = {name: value for name, value in options.items() if name != "solver"}
    plain = all(name in OPTIONS and not isinstance(value, str) for name, value in chosen.items())
    if not plain or loads.external or options.get("solver", "range") != "range":
        return None
    if spec.jacobian is None and (spec.derivatives is None or loads.passive or static or chosen):
        return None
    return AnalyticDerivatives(spec, model, static, loads, chosen)
