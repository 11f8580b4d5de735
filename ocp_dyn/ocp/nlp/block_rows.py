"""Costs and rows of a block, as its body writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._base.checks import numbers
from ..._base.types import Array, Expr, repr_in_message
from .chain_rule import Call


@dataclass
class BlockRows:
    """Collects the weighted cost terms and the bounded constraint rows that the body of a block defines."""

    costs: list[tuple[str, SX]] = field(default_factory=list)
    squares: list[list[tuple[SX, SX]]] = field(default_factory=list)
    rows: list[tuple[str, SX, Array, Array]] = field(default_factory=list)
    inners: list[tuple[SX, SX]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def inner(self, value: Expr) -> SX:
        """A symbol that stands for this value, an expression of the block's variables, in costs and rows.

        Derivatives are then taken with respect to the symbol first: see `chain_rule`. The value may contain other such
        symbols.
        """
        self.inners.append((SX.sym("y", value.shape[0]), value))
        return self.inners[-1][0]

    def call(
        self, f: ca.Function, differentiable: Callable[[], ca.Function] | None, *arguments: Expr, maker: str = ""
    ) -> SX:
        """A symbol that stands for f(arguments); `differentiable` makes the Function with the derivatives of f.

        `differentiable` is called only when derivatives are needed. It may be None, or raise ValueError, if there are
        none for f: CasADi then differentiates f. maker: name of the module that makes them; its source is part of the
        key of kept tables (see `chain_rule`).
        """
        direct = tuple(x if _is_affine(SX(x)) else self.inner(x) for x in arguments)
        self.calls.append(Call(f, direct, SX.sym("e", f.size1_out(0)), differentiable, maker))
        return self.calls[-1].e

    def cost(self, name: str, value: Expr, squares: Iterable[tuple[Expr, Expr]] = ()) -> None:
        """Adds a scalar cost term; squares: (factor, residual) pairs with value = sum of factor |residual|^2, if
        known."""
        value = SX(value)
        if value.shape != (1, 1):
            raise ValueError(f"cost {name!r} must be one number, got shape {value.shape}: sum it (casadi.sumsqr, say)")
        self.costs.append((name, value))
        self.squares.append([(SX(factor), ca.vec(ca.densify(SX(r)))) for factor, r in squares])

    def constrain(self, name: str, value: Expr, lower: Any = 0.0, upper: Any = 0.0, scale: Any = 1.0) -> None:
        """Adds `lower <= value <= upper` (equality to zero by default); value and bounds are divided by scale."""
        value = SX(value)
        size, columns = value.shape
        if columns != 1:
            raise ValueError(f"constraint {name!r} must be a column, got shape {value.shape}: casadi.vec makes it one")
        if size:
            s = np.broadcast_to(np.asarray(scale, dtype=float), (size,))
            lo, up = (_bound(name, b, size) / s for b in (lower, upper))
            if not np.all(lo <= up) or np.any(lo == np.inf) or np.any(up == -np.inf):
                raise ValueError(
                    f"constraint {name!r}: needs lower <= upper, got {repr_in_message(lower)} and "
                    f"{repr_in_message(upper)}"
                )
            self.rows.append((name, value / DM(s), lo, up))


def _is_affine(x: SX) -> bool:
    """Whether an expression is linear in its symbols, but for a constant."""
    return bool(x.is_valid_input() or ca.jacobian(x, ca.vertcat(SX(0, 1), *ca.symvar(x))).is_constant())


def _bound(name: str, bound: Any, size: int) -> Array:
    array = numbers(bound, f"constraint {name!r}: a bound")
    if array.size not in (1, size):
        raise ValueError(f"constraint {name!r} has {size} rows but {array.size} bounds: give one number, or {size}")
    return np.broadcast_to(array, (size,))
