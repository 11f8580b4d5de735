"""Graph of the costs and rows of one kind of block, its key, and its derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import casadi as ca
import numpy as np
from casadi import SX

from ..._base.identity import digest, source_digest
from .block_rows import BlockRows
from .chain_rule import Level, derivatives, gauss_newton, gauss_newton_pattern, inner_values
from .derivative_cache import BlockDerivatives, kept_patterns

DERIVATIVE_MAKERS = (__name__,)
"""Modules whose source, with all that they import, determines the derivatives of a block's functions; the modules that
make the derivatives of calls (`Call.maker`) are added."""

TAG = 16
"""Number of letters of a block's key that the names of its functions have."""

LARGE = 1000
"""Number of instructions of costs and rows from which on patterns of derivatives are looked for on disk."""


class BlockGraph:
    """Costs f and rows g of a block as functions of its variables z, inner variables, results e of called functions,
    and parameters p: see `chain_rule`."""

    def __init__(self, name: str, rows: BlockRows, z: SX, p: SX) -> None:
        self._name, self._rows = name, rows
        self._levels = _levels(rows.inners)
        w = ca.vertcat(z, *(y for y, _ in self._levels))
        self._z, self._inputs = z, [w, _column(call.e for call in rows.calls), p]
        pairs = [pair for squares in rows.squares for pair in squares]
        self._results = [
            ca.densify(_column(value for _, value in rows.costs)),
            ca.densify(_column(value for _, value, _, _ in rows.rows)),
            _column(residual for _, residual in pairs),
            _column(ca.repmat(factor, residual.shape[0], 1) for factor, residual in pairs),
        ]
        self._plain = self._outer()

    def _outer(self, **options: bool) -> ca.Function:
        """(w, e, p) -> terms of f, g, residuals and their factors; w: z and the inner variables."""
        try:
            return ca.Function("outer", self._inputs, self._results, options)
        except RuntimeError:
            self._refuse_strangers()
            raise

    @cached_property
    def key(self) -> str:
        """A digest of the graph, and of the modules that make its derivatives."""
        rows = self._rows
        arguments = [x for call in rows.calls for x in call.arguments]
        wiring = ca.Function("wiring", self._inputs, [*(values for _, values in self._levels), *arguments])
        makers = source_digest(*DERIVATIVE_MAKERS, *sorted({call.maker for call in rows.calls if call.maker}))
        graphs = self._plain.serialize(), wiring.serialize(), *(_digest_of(call.f) for call in rows.calls)
        return digest(*graphs, repr([bool(squares) for squares in rows.squares]), makers)

    def derivatives(self) -> BlockDerivatives:
        """The derivatives; of a large graph the patterns from the disk, if they are there."""
        large = self._plain.n_instructions() > LARGE
        return (kept_patterns(self.key, self._derive) if large else None) or self._derive()

    def _derive(self) -> BlockDerivatives:
        # merging common subexpressions pays before differentiation; on the derivatives it only costs time
        outer = self._outer(cse=True)
        z, (w, e, p) = self._z, self._inputs
        terms, g, _, _ = outer(w, e, p)
        f = ca.sum1(terms) if self._rows.costs else SX(0)
        lam_f, lam_g = SX.sym("lam_f"), SX.sym("lam_g", g.shape[0])
        gradient, jacobian, hessian, calls = derivatives(f, g, lam_f, lam_g, z, p, self._levels, self._rows.calls)
        at = inner_values(z, p, self._levels)
        called = ca.Function("called", [w, p], [_column(call.value() for call in self._rows.calls)])
        terms, g, residuals, factors = outer(at, called(at, p), p)
        rest = sum((terms[k] for k, squares in enumerate(self._rows.squares) if not squares), start=SX(0))
        pattern = hessian.sparsity() + gauss_newton_pattern(rest, residuals, z)
        first = [ca.densify(gradient) if self._rows.costs else SX(0, 1), _nonzeros(jacobian)]
        second = [_nonzeros(SX(ca.project(hessian, pattern)))]
        tag = self.key[:TAG]  # equal names of functions mean equal functions, in whatever problem
        made = {
            "values": ca.Function(f"values_{tag}", [z, p], [terms, g]),
            "first": ca.Function(f"first_{tag}", [z, p], first),
            "second": ca.Function(f"second_{tag}", [z, p, lam_f, lam_g], second),
        }

        def make(level: str) -> ca.Function:
            if level in made:
                return made[level]
            gauss = SX(ca.project(gauss_newton(rest, residuals, factors, lam_f, z), pattern))
            return ca.Function(f"gauss_{tag}", [z, p, lam_f], [_nonzeros(gauss)])

        sizes = {level: made[level].n_instructions() + n for level, n in zip(("first", "second"), calls, strict=True)}
        return BlockDerivatives(jacobian.sparsity(), pattern, make, sizes)

    def _refuse_strangers(self) -> None:
        """Raises ValueError if a cost or a row contains symbols that are not inputs of the block."""
        known = {x.element_hash() for x in ca.vertsplit(ca.vertcat(*self._inputs))}
        costs, rows = self._rows.costs, self._rows.rows
        for name, value in (*costs, *((name, value) for name, value, _, _ in rows)):
            strange = [str(x) for x in ca.symvar(value) if x.element_hash() not in known]
            if strange:
                raise ValueError(
                    f"{self._name}: {name!r} contains symbols that are no variables of the motion, "
                    f"{', '.join(strange[:6])}: use the variables of the instant, and a Parameter, "
                    "instant.values[name], for other numbers"
                )


@lru_cache(maxsize=256)
def _digest_of(f: ca.Function) -> str:
    return digest(f.serialize())


def _column(parts: Iterable[SX]) -> SX:
    return ca.vertcat(SX(0, 1), *parts)


def _levels(inners: Sequence[tuple[SX, SX]]) -> list[Level]:
    """Inner variables by levels: those of the last one are in no value, those before in values of later levels only."""
    levels: list[Level] = []
    while inners:
        y, values = (_column(pair[k] for pair in inners) for k in (0, 1))
        used = np.isin(np.arange(y.shape[0]), ca.jacobian_sparsity(values, y).T.row())
        ends = np.cumsum([0, *(symbol.shape[0] for symbol, _ in inners)])
        inside = [bool(np.any(used[begin:end])) for begin, end in pairwise(ends.tolist())]
        last = [pair for pair, is_used in zip(inners, inside, strict=True) if not is_used]
        levels.insert(0, (_column(y for y, _ in last), _column(value for _, value in last)))
        inners = [pair for pair, is_used in zip(inners, inside, strict=True) if is_used]
    return levels


def _nonzeros(x: SX) -> SX:
    return SX(x.nz[:]) if x.nnz() else SX(0, 1)
