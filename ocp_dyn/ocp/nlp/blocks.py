"""Blocks: an SX function with its derivatives for every kind of stage, evaluated for many instances.

A kind of block depends on a short vector z of local variables and p of local parameters, and defines cost terms and
constraint rows. Its Jacobian and its Lagrangian Hessian are made once, in SX: the size of every graph is that of
one interval, whatever the horizon.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM, SX

from ..._arguments import numbers
from ..._types import Array, Expr, Indices, shown
from ...codegen.machine_code.identity import digest, made_by
from .chain_rule import Call, derivatives, gauss_newton, gauss_newton_pattern
from .derivative_cache import BlockDerivatives, derived, kept_patterns

DERIVATIVE_MAKERS = (__name__,)
"""Modules whose source, with all that they import, determines the derivatives of a block's functions; the modules that
make the derivatives of calls (`Call.maker`) are added."""


@dataclass(frozen=True, eq=False)
class Variable:
    """A group of entries of the program's x: `x[index] = value / scale`."""

    name: str
    index: Indices
    scale: Array

    @property
    def size(self) -> int:
        return int(self.index.size)


@dataclass(frozen=True, eq=False)
class Parameter:
    """A group of entries of the program's p: numbers that may change from one solve to the next, without a rebuild.

    `parameter[2:5]` is a part of it, which can fill a slot of a block like any other parameter.
    """

    name: str
    index: Indices

    @property
    def size(self) -> int:
        return int(self.index.size)

    def __getitem__(self, part: slice) -> Parameter:
        return Parameter(self.name, self.index[part])


Slot = Variable | Parameter


@dataclass
class Rows:
    """Collects the weighted cost terms and the bounded constraint rows that the body of a block defines."""

    costs: list[tuple[str, SX]] = field(default_factory=list)
    squares: list[list[tuple[SX, SX]]] = field(default_factory=list)
    rows: list[tuple[str, SX, Array, Array]] = field(default_factory=list)
    inners: list[tuple[SX, SX]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def inner(self, value: Expr) -> SX:
        """A symbol that stands for this value, an expression of the block's variables, in costs and rows.

        Derivatives are then taken with respect to the symbol first: see `chain_rule`.
        """
        self.inners.append((SX.sym("y", value.shape[0]), value))
        return self.inners[-1][0]

    def call(self, f: ca.Function, differentiable: Callable[[], ca.Function], *arguments: Expr, maker: str) -> SX:
        """A symbol that stands for f(arguments); `differentiable` makes the Function with the derivatives of f.

        `differentiable` is called only when derivatives are needed. It may raise ValueError if it has none for f:
        CasADi then differentiates f. maker: name of the module that makes them; its source is part of the key of kept
        machine code (see `chain_rule`).
        """
        symbols = tuple(x if SX(x).is_valid_input() else self.inner(x) for x in arguments)
        self.calls.append(Call(f, symbols, SX.sym("e", f.size1_out(0)), differentiable, maker))
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
                raise ValueError(f"constraint {name!r}: needs lower <= upper, got {shown(lower)} and {shown(upper)}")
            self.rows.append((name, value / DM(s), lo, up))


def _bound(name: str, bound: Any, size: int) -> Array:
    array = numbers(bound, f"constraint {name!r}: a bound")
    if array.size not in (1, size):
        raise ValueError(f"constraint {name!r} has {size} rows but {array.size} bounds: give one number, or {size}")
    return np.broadcast_to(array, (size,))


def numbers_of(what: str, value: Any, size: int) -> Array:
    """An array of `size` finite numbers, from as many or from one that is repeated; what: its name in messages."""
    try:
        array = numbers(value, what)
    except TypeError:
        raise TypeError(f"{what} takes one finite number or {size}, got {shown(value)}") from None
    if array.size not in (1, size) or not np.all(np.isfinite(array)):
        raise ValueError(f"{what} takes one finite number or {size}, got {shown(value)}")
    return np.array(np.broadcast_to(array, (size,)))


TAG = 16
"""Number of letters of a block's key that the names of its functions have."""

LARGE = 1000
"""Number of instructions of costs and rows from which on patterns of derivatives are looked for on disk."""

FUNCTIONS_KEPT = 8
"""Number of called functions whose digests are kept."""

Body = Callable[[dict[str, SX], Rows], None]
"""Writes the costs and rows of a block, from the expressions of its slots by name."""


@dataclass
class Block:
    """One kind of block and its instances.

    slots: the variables and parameters of one instance, by name; all instances have variables and parameters of these
    sizes and scales. constants: sizes of the numbers that differ between instances and never change.
    """

    name: str
    slots: dict[str, Slot]
    body: Body
    constants: dict[str, int] = field(default_factory=dict)
    instances: list[list[Variable]] = field(default_factory=list)
    parameters: list[list[Parameter]] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)

    def add(self, filled: Mapping[str, Slot], **constants: Any) -> None:
        """Adds an instance: a variable or a parameter for every slot, of the same kind and size as in `slots`, and
        numbers for every constant."""
        variables, parameters = [], []
        for name, representative in self.slots.items():
            slot = filled[name]
            if type(slot) is not type(representative) or slot.size != representative.size:
                raise ValueError(
                    f"block {self.name!r}: slot {name!r} takes a {type(representative).__name__} of size "
                    f"{representative.size}, got a {type(slot).__name__} of size {slot.size}"
                )
            variables += [slot] if isinstance(slot, Variable) else []
            parameters += [slot] if isinstance(slot, Parameter) else []
        self.instances.append(variables)
        self.parameters.append(parameters)
        numbers = [np.atleast_1d(np.asarray(constants[name], dtype=float)) for name in self.constants]
        self.values.append(np.concatenate([np.zeros(0), *numbers]))

    def build(self, kinds: dict[str, BlockDerivatives]) -> None:
        """Makes the functions of this kind of block, or takes those of an equal one; kinds: the program's, by key."""
        z = {name: SX.sym(name, v.size) for name, v in self.slots.items() if isinstance(v, Variable)}
        p = {name: SX.sym(name, v.size) for name, v in self.slots.items() if isinstance(v, Parameter)}
        p |= {name: SX.sym(name, size) for name, size in self.constants.items()}
        scaled = {name: z[name] * DM(v.scale) for name, v in self.slots.items() if isinstance(v, Variable)}
        rows = Rows()
        self.body(scaled | p, rows)
        self.cost_names = [name for name, _ in rows.costs]
        self.row_names = [name for name, value, _, _ in rows.rows for _ in range(value.shape[0])]
        self.lower = np.concatenate([np.zeros(0), *(lo for _, _, lo, _ in rows.rows)])
        self.upper = np.concatenate([np.zeros(0), *(up for _, _, _, up in rows.rows)])
        zs, ps = ca.vertcat(*z.values()), ca.vertcat(SX(0, 1), *p.values())
        self._differentiate(kinds, rows, zs, ps)

    def _differentiate(self, kinds: dict[str, BlockDerivatives], rows: Rows, zs: SX, ps: SX) -> None:
        terms = ca.densify(ca.vertcat(SX(0, 1), *(value for _, value in rows.costs)))
        g = ca.densify(ca.vertcat(SX(0, 1), *(value for _, value, _, _ in rows.rows)))
        pairs = [pair for squares in rows.squares for pair in squares]
        residuals = ca.vertcat(SX(0, 1), *(r for _, r in pairs))
        factors = ca.vertcat(SX(0, 1), *(ca.repmat(factor, r.shape[0], 1) for factor, r in pairs))
        ys, of_z = (ca.vertcat(SX(0, 1), *(pair[k] for pair in rows.inners)) for k in (0, 1))
        es = ca.vertcat(SX(0, 1), *(call.e for call in rows.calls))
        results = [terms, g, residuals, factors]
        try:
            graph = ca.Function("outer", [zs, ys, es, ps], results)
        except RuntimeError:
            self._refuse_strangers(rows, ca.vertcat(zs, ys, es, ps))
            raise
        wiring = ca.Function("wiring", [zs, ys, es, ps], [of_z, *(x for call in rows.calls for x in call.arguments)])
        makers = made_by(*DERIVATIVE_MAKERS, *sorted({call.maker for call in rows.calls}))
        graphs = graph.serialize(), wiring.serialize(), *(_digest_of(call.f) for call in rows.calls)
        self.key = digest(*graphs, repr([bool(squares) for squares in rows.squares]), makers)
        tag = self.key[:TAG]  # equal names of functions mean equal functions, in whatever problem

        def derive() -> BlockDerivatives:
            # merging common subexpressions pays before differentiation; on the derivatives it only costs time
            outer = ca.Function("outer", [zs, ys, es, ps], results, {"cse": True})
            values = ca.vertcat(SX(0, 1), *(call.value() for call in rows.calls))
            called = ca.Function("called", [zs, ys, ps], [values])
            whole = outer(zs, of_z, called(zs, of_z, ps), ps)
            rest = sum((whole[0][k] for k, squares in enumerate(rows.squares) if not squares), start=SX(0))
            terms, g, _, _ = outer(zs, ys, es, ps)
            f = ca.sum1(terms) if rows.costs else SX(0)
            lam_f, lam_g = SX.sym("lam_f"), SX.sym("lam_g", g.shape[0])
            gradient, jacobian, hessian = derivatives(f, g, lam_f, lam_g, zs, ys, of_z, rows.calls)
            pattern = hessian.sparsity() + gauss_newton_pattern(rest, whole[2], zs)
            first = [ca.densify(gradient) if rows.costs else SX(0, 1), _nonzeros(jacobian)]
            half = SX(ca.project(hessian, pattern))
            made = {
                "values": ca.Function(f"values_{tag}", [zs, ps], [*whole[:2]]),
                "first": ca.Function(f"first_{tag}", [zs, ps], first),
                "second": ca.Function(f"second_{tag}", [zs, ps, lam_f, lam_g], [_nonzeros(half)]),
            }

            def make(level: str) -> ca.Function:
                if level in made:
                    return made[level]
                gauss = SX(ca.project(gauss_newton(rest, whole[2], whole[3], lam_f, zs), pattern))
                return ca.Function(f"gauss_{tag}", [zs, ps, lam_f], [_nonzeros(gauss)])

            return BlockDerivatives(jacobian.sparsity(), pattern, make)

        def found() -> BlockDerivatives:
            large = graph.n_instructions() > LARGE
            return (kept_patterns(self.key, derive) if large else None) or derive()

        self.derivatives = kinds[self.key] = kinds.get(self.key) or derived(self.key, found)
        self.jacobian_pattern = self.derivatives.jacobian_pattern
        self.hessian_pattern = self.derivatives.hessian_pattern

    @property
    def values_function(self) -> ca.Function:
        return self.derivatives.function("values")

    @property
    def first_function(self) -> ca.Function:
        return self.derivatives.function("first")

    @property
    def second_function(self) -> ca.Function:
        return self.derivatives.function("second")

    @property
    def gauss_function(self) -> ca.Function:
        return self.derivatives.function("gauss")

    def _refuse_strangers(self, rows: Rows, inputs: SX) -> None:
        """Raises ValueError if a cost or a row contains symbols that are not inputs of the block."""
        known = {x.element_hash() for x in ca.vertsplit(inputs)}
        for name, value in (*rows.costs, *((name, value) for name, value, _, _ in rows.rows)):
            strange = [str(x) for x in ca.symvar(value) if x.element_hash() not in known]
            if strange:
                raise ValueError(
                    f"{self.name}: {name!r} contains symbols that are no variables of the motion, "
                    f"{', '.join(strange[:6])}: use the variables of the instant, and a Parameter, "
                    "instant.values[name], for other numbers"
                )

    @property
    def gather(self) -> Indices:
        """Indices into x of every instance's z: one row per instance."""
        return np.array([np.concatenate([v.index for v in instance]) for instance in self.instances], dtype=int)

    @property
    def constant_count(self) -> int:
        """Number of constants of all instances together."""
        return sum(value.size for value in self.values)

    def gather_parameters(self, first: int) -> Indices:
        """Indices into [p; constants] of the parameters and constants of every instance: one row per instance.

        first: index at which the constants of this kind of block begin.
        """
        size = self.values[0].size
        constants = first + np.arange(len(self.values) * size).reshape(len(self.values), size)
        pairs = zip(self.parameters, constants, strict=True)
        return np.array([np.concatenate([*(p.index for p in parameters), c]) for parameters, c in pairs], dtype=int)


_digests: OrderedDict[int, tuple[ca.Function, str]] = OrderedDict()
"""Functions that blocks have called last and digests of their graphs, by hash; Functions that exist have different
hashes."""


def _digest_of(f: ca.Function) -> str:
    found = _digests.pop(hash(f), None) or (f, digest(f.serialize()))
    _digests[hash(f)] = found
    while len(_digests) > FUNCTIONS_KEPT:
        _digests.popitem(last=False)
    return found[1]


def _nonzeros(x: SX) -> SX:
    return SX(x.nz[:]) if x.nnz() else SX(0, 1)
