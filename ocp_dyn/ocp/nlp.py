"""Nonlinear programs put together from blocks: one SX function per kind of block, mapped over its instances.

A kind of block sees a short vector z of local variables and gives cost terms and constraint rows. Its Jacobian
and its Lagrangian Hessian are made once, in SX; the Jacobian and Hessian of the whole program are their nonzeros,
put in place. So the size of every graph is that of one interval, whatever the horizon.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from .._types import Array, Expr, Indices


@dataclass(frozen=True, eq=False)
class Variable:
    """Some entries of the program's x: `x[index] = value / scale`."""

    name: str
    index: Indices
    scale: Array

    @property
    def size(self) -> int:
        return int(self.index.size)


@dataclass
class Rows:
    """What a block's body writes into: weighted cost terms and bounded constraint rows."""

    costs: list[tuple[str, SX]] = field(default_factory=list)
    rows: list[tuple[str, SX, Array, Array]] = field(default_factory=list)

    def cost(self, name: str, value: Expr) -> None:
        """Adds a scalar cost term."""
        value = SX(value)
        if value.shape != (1, 1):
            raise ValueError(f"cost {name!r} must be one number, got shape {value.shape}: sum it (casadi.sumsqr, say)")
        self.costs.append((name, value))

    def constrain(self, name: str, value: Expr, lower: Any = 0.0, upper: Any = 0.0, scale: Any = 1.0) -> None:
        """Adds `lower <= value <= upper` (equality to zero by default); value, bounds are divided by scale."""
        value = SX(value)
        size, columns = value.shape
        if columns != 1:
            raise ValueError(f"constraint {name!r} must be a column, got shape {value.shape}: casadi.vec makes it one")
        if size:
            s = np.broadcast_to(np.asarray(scale, dtype=float), (size,))
            lo, up = (_bound(name, b, size) / s for b in (lower, upper))
            if not np.all(lo <= up):
                raise ValueError(f"constraint {name!r}: needs lower <= upper, got {lower} and {upper}")
            self.rows.append((name, value / DM(s), lo, up))


def _bound(name: str, bound: Any, size: int) -> Array:
    numbers = np.asarray(DM(bound) if isinstance(bound, DM) else bound, dtype=float).ravel()
    if numbers.size not in (1, size):
        raise ValueError(f"constraint {name!r} has {size} rows but {numbers.size} bounds: give one number, or {size}")
    return np.broadcast_to(numbers, (size,))


Body = Callable[[dict[str, SX], Rows], None]


@dataclass
class Block:
    """One kind of block and its instances.

    slots: the variables of one instance, by name, as representatives that give size and scale. parameters:
    sizes of the numbers that differ between instances.
    """

    name: str
    slots: dict[str, Variable]
    body: Body
    parameters: dict[str, int] = field(default_factory=dict)
    instances: list[list[Variable]] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)

    def add(self, variables: dict[str, Variable], **parameters: Any) -> None:
        """Adds an instance: a variable for every slot, numbers for every parameter."""
        self.instances.append([variables[slot] for slot in self.slots])
        numbers = [np.atleast_1d(np.asarray(parameters[name], dtype=float)) for name in self.parameters]
        self.values.append(np.concatenate([np.zeros(0), *numbers]))

    def build(self) -> None:
        """Makes the SX functions of this kind."""
        z = {name: SX.sym(name, v.size) for name, v in self.slots.items()}
        p = {name: SX.sym(name, size) for name, size in self.parameters.items()}
        rows = Rows()
        self.body({name: z[name] * DM(v.scale) for name, v in self.slots.items()} | p, rows)
        self.cost_names = [name for name, _ in rows.costs]
        self.row_names = [name for name, value, _, _ in rows.rows for _ in range(value.shape[0])]
        self.lower = np.concatenate([np.zeros(0), *(lo for _, _, lo, _ in rows.rows)])
        self.upper = np.concatenate([np.zeros(0), *(up for _, _, _, up in rows.rows)])
        zs, ps = ca.vertcat(*z.values()), ca.vertcat(SX(0, 1), *p.values())
        terms = ca.densify(ca.vertcat(SX(0, 1), *(value for _, value in rows.costs)))
        g = ca.densify(ca.vertcat(SX(0, 1), *(value for _, value, _, _ in rows.rows)))
        # Merging common subexpressions pays before differentiation; on the derivatives it only costs time.
        name = "block_" + "".join(c for c in self.name if c.isalnum())
        self.values_function = ca.Function(name, [zs, ps], [terms, g], {"cse": True})
        terms, g = self.values_function(zs, ps)
        f = ca.sum1(terms) if rows.costs else SX(0)
        lam_f, lam_g = SX.sym("lam_f"), SX.sym("lam_g", g.shape[0])
        gradient = ca.densify(ca.gradient(f, zs))
        jacobian = ca.jacobian(g, zs)
        hessian = ca.triu(ca.hessian(lam_f * f + ca.dot(lam_g, g), zs)[0])
        self.jacobian_pattern = jacobian.sparsity()
        self.hessian_pattern = hessian.sparsity()
        self.gradient_function = ca.Function(f"grad_{name}", [zs, ps], [f, gradient])
        self.jacobian_function = ca.Function(f"jac_{name}", [zs, ps], [g, _nonzeros(jacobian)])
        self.hessian_function = ca.Function(f"hess_{name}", [zs, ps, lam_f, lam_g], [_nonzeros(hessian)])

    @property
    def gather(self) -> Indices:
        """Indices into x of every instance's z: one column per instance."""
        return np.array([np.concatenate([v.index for v in inst]) for inst in self.instances], dtype=int).T

    @property
    def parameter_values(self) -> DM:
        return DM(np.array(self.values).T.reshape(-1, len(self.instances)))


def _nonzeros(x: SX) -> SX:
    return SX(x.nz[:]) if x.nnz() else SX(0, 1)


@dataclass
class Program:
    """A nonlinear program under construction: variables with bounds and first values, and blocks."""

    threads: int = 2
    variables: list[Variable] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    _lower: list[Array] = field(default_factory=list)
    _upper: list[Array] = field(default_factory=list)
    _start: list[Array] = field(default_factory=list)
    size: int = 0

    def variable(self, name: str, size: int, lower: Any, upper: Any, start: Any, scale: Any = 1.0) -> Variable:
        """Adds a variable of `size` entries (physical units; `scale` is its typical magnitude)."""
        lo, up, x0, s = (np.array(np.broadcast_to(np.asarray(a, float), (size,))) for a in (lower, upper, start, scale))
        if np.any(lo > up) or np.any(np.isnan(lo) | np.isnan(up)) or not np.all(np.isfinite(x0)):
            raise ValueError(f"variable {name!r}: bounds must be ordered and the start finite: {lo}, {x0}, {up}")
        variable = Variable(name, np.arange(self.size, self.size + size), s)
        self.size += size
        self.variables.append(variable)
        for kept, value in ((self._lower, lo), (self._upper, up), (self._start, x0)):
            kept.append(value / s)
        return variable

    def block(self, name: str, slots: dict[str, Variable], body: Body, **parameters: int) -> Block:
        """Adds a kind of block; give it instances with `Block.add`."""
        self.blocks.append(Block(name, slots, body, parameters))
        return self.blocks[-1]

    @property
    def lower(self) -> Array:
        return np.concatenate(self._lower)

    @property
    def upper(self) -> Array:
        return np.concatenate(self._upper)

    @property
    def start(self) -> Array:
        return np.concatenate(self._start)

    def set_start(self, variable: Variable, value: Any) -> None:
        """Changes a variable's first value (physical units)."""
        k = self.variables.index(variable)
        self._start[k] = np.array(np.broadcast_to(np.asarray(value, float), (variable.size,))) / variable.scale

    def set_bounds(self, variable: Variable, lower: Any, upper: Any) -> None:
        """Changes a variable's bounds (physical units)."""
        k = self.variables.index(variable)
        self._lower[k], self._upper[k] = (
            np.array(np.broadcast_to(np.asarray(b, float), (variable.size,))) / variable.scale for b in (lower, upper)
        )

    def assemble(self) -> Assembled:
        """Builds the blocks and puts the functions of the whole program together."""
        self.blocks = [block for block in self.blocks if block.instances]
        for block in self.blocks:
            block.build()
        return Assembled(self)


class Assembled:
    """The functions of a whole program over x: f, g, their first and second derivatives, cost by term."""

    def __init__(self, program: Program) -> None:
        self.blocks = program.blocks
        self._threads = program.threads
        self.n = program.size
        self.lower = np.concatenate([np.tile(b.lower, len(b.instances)) for b in self.blocks])
        self.upper = np.concatenate([np.tile(b.upper, len(b.instances)) for b in self.blocks])
        self.row_names = [n for b in self.blocks for _ in b.instances for n in (f"{b.name}: {r}" for r in b.row_names)]
        x, p = MX.sym("x", self.n), MX.sym("p", 0)
        lam_f, lam_g = MX.sym("lam_f"), MX.sym("lam_g", self.lower.size)
        f, g, grad = self._first_order(x)
        terms = [ca.sum2(t) for t in self._mapped("values_function", x, 0)]
        self.cost_names = [name for b in self.blocks for name in b.cost_names]
        self.cost_terms = ca.Function("cost_terms", [x], [ca.vertcat(*terms)])
        self.objective = ca.Function("nlp_f", [x, p], [f], ["x", "p"], ["f"])
        self.constraints = ca.Function("nlp_g", [x, p], [g], ["x", "p"], ["g"])
        self.gradient = ca.Function("nlp_grad_f", [x, p], [f, grad], ["x", "p"], ["f", "grad_f_x"])
        self.jacobian = ca.Function("nlp_jac_g", [x, p], [g, self._jacobian(x)], ["x", "p"], ["g", "jac_g_x"])
        hessian = self._hessian(x, lam_f, lam_g)
        self.hessian = ca.Function(
            "nlp_hess_l", [x, p, lam_f, lam_g], [hessian], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
        )
        self.problem = {"x": x, "p": p, "f": f, "g": g}

    def _local(self, block: Block, x: MX) -> MX:
        gather = block.gather
        return ca.reshape(x[gather.T.ravel()], *gather.shape)

    def _map(self, function: ca.Function, count: int) -> ca.Function:
        if count == 1 or self._threads < 2 or count < 2 * self._threads:
            return function if count == 1 else function.map(count)
        return function.map(count, "thread", self._threads)

    def _mapped(self, which: str, x: MX, output: int) -> list[MX]:
        found = []
        for b in self.blocks:
            function = self._map(getattr(b, which), len(b.instances))
            found.append(function.call([self._local(b, x), MX(b.parameter_values)])[output])
        return found

    def _first_order(self, x: MX) -> tuple[MX, MX, MX]:
        """f, g and the gradient of f."""
        f, grad = MX(0), MX(self.n, 1)
        for b, value, local in zip(
            self.blocks, self._mapped("gradient_function", x, 0), self._mapped("gradient_function", x, 1), strict=True
        ):
            if b.cost_names:
                f = f + ca.sum2(value)
                grad = grad + _scatter(b.gather.T.ravel(), self.n) @ ca.vec(local)
        g = ca.vertcat(*(ca.vec(value) for value in self._mapped("values_function", x, 1)))
        return f, g, ca.densify(grad)

    def _jacobian(self, x: MX) -> MX:
        """The Jacobian of g: every block's nonzeros, put in place (no two blocks share a row)."""
        rows, columns = [], []
        first = 0
        for b in self.blocks:
            r, c = (np.array(k, dtype=int) for k in b.jacobian_pattern.get_triplet())
            gather = b.gather
            for k in range(len(b.instances)):
                rows.append(first + k * b.lower.size + r)
                columns.append(gather[c, k])
            first += len(b.instances) * b.lower.size
        values = ca.vertcat(*(ca.vec(v) for v in self._mapped("jacobian_function", x, 1)))
        return _assembled(rows, columns, values, (self.lower.size, self.n))

    def _hessian(self, x: MX, lam_f: MX, lam_g: MX) -> MX:
        """Upper triangle of the Hessian of `lam_f f + lam_g' g`: every block's nonzeros, summed."""
        rows, columns, values, weights = [], [], [], []
        first = 0
        for b in self.blocks:
            count, m = len(b.instances), b.lower.size
            r, c = (np.array(k, dtype=int) for k in b.hessian_pattern.get_triplet())
            gather = b.gather
            for k in range(count):
                i, j = gather[r, k], gather[c, k]
                rows.append(np.minimum(i, j))
                columns.append(np.maximum(i, j))
                # one variable in two slots: what lay beside the diagonal, twice by symmetry, falls on it
                weights.append(np.where((i == j) & (r != c), 2.0, 1.0))
            multipliers = ca.reshape(lam_g[first : first + count * m], m, count)
            function = self._map(b.hessian_function, count)
            arguments = [self._local(b, x), MX(b.parameter_values), ca.repmat(lam_f, 1, count), multipliers]
            values.append(ca.vec(function.call(arguments)[0]))
            first += count * m
        return _assembled(rows, columns, ca.vertcat(*values), (self.n, self.n), np.concatenate(weights))


def _scatter(rows: Indices, size: int, weights: Array | float = 1.0) -> DM:
    """The matrix that adds entry k of a vector, times its weight, to entry rows[k] of a longer one."""
    count = len(rows)
    return DM.triplet(rows.tolist(), list(range(count)), DM(np.broadcast_to(weights, (count,))), size, count)


def _assembled(
    rows: Sequence[Indices],
    columns: Sequence[Indices],
    values: MX,
    shape: tuple[int, int],
    weights: Array | float = 1.0,
) -> MX:
    """The sparse matrix with these entries times their weights; entries in one place are summed."""
    keys = np.concatenate(columns) * shape[0] + np.concatenate(rows)  # CasADi's column-major order
    unique, place = np.unique(keys, return_inverse=True)
    pattern = ca.Sparsity.triplet(*shape, (unique % shape[0]).tolist(), (unique // shape[0]).tolist())
    return ca.MX(pattern, _scatter(place, unique.size, weights) @ values)
