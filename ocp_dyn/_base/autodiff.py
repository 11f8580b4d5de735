"""Python functions called once with symbols: users' functions, to differentiate them; steps of recursions, to copy
their graph.

The recursions of the library use no automatic differentiation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import casadi as ca
from casadi import DM, SX

from .rounding import running_error
from .types import Expr, repr_in_message

R = TypeVar("R")


class FunctionDerivatives(NamedTuple):
    """y = f(x) and its derivatives along dx/dt = rate(x, v)."""

    value: Expr
    """y (m); matrices column by column."""
    jacobian: Expr
    """J (m x n): dy/dt = J v."""
    bias: Expr
    """(dJ/dt) v (m): d2y/dt2 = J dv/dt + bias."""


def derivatives(
    function: Callable[[Expr], Expr], x: Expr, v: Expr, rate: Callable[[Expr, Expr], Expr] | None = None
) -> FunctionDerivatives:
    """y = function(x), J and (dJ/dt) v at positions x and velocities v; x and v may be SX, MX or DM.

    rate(x, v): dx/dt, by default v. It must be linear in v; `Model.q_dot` is one. The function is called once, with
    SX symbols; with MX the result is one call node. A structurally zero v leaves a structurally zero bias. Other
    symbols in y (a time, parameters of a model) stay as they are.
    """
    f, free = _differentiated(function, x.shape[0], v.shape[0], rate)
    value, jacobian, product = f(x, v, *free)
    return FunctionDerivatives(value, jacobian, product if v.nnz() else DM(value.shape[0], 1))


def jacobian_error(
    function: Callable[[Expr], Expr], x: Expr, size: int, rate: Callable[[Expr, Expr], Expr] | None = None
) -> Expr:
    """The rounding errors of J of `derivatives` (m x size), in units of the machine's precision: see
    `_base/rounding`."""

    def jacobian(x: Expr) -> Expr:
        f, free = _differentiated(function, x.shape[0], size, rate)
        return f(x, SX(size, 1), *free)[1]

    return rounding_error(jacobian, x)


def rounding_error(function: Callable[[Expr], Expr], x: Expr) -> Expr:
    """The rounding errors of `function(x)`, of its shape, in units of the machine's precision: see `_base/rounding`.

    The function is called once, with SX symbols; other symbols in it stay as they are.
    """
    xs = SX.sym("x", x.shape[0])
    y = SX(function(xs))
    free = ca.Function("free", [xs], [y], {"allow_free": True}).free_sx()
    found: Expr = running_error(ca.Function("values", [xs, *free], [y], {"cse": True}))(x, *free)
    return found


def _differentiated(
    function: Callable[[Expr], Expr], size: int, rates: int, rate: Callable[[Expr, Expr], Expr] | None
) -> tuple[ca.Function, list[SX]]:
    """(x, v, free symbols) -> (y, J, (dJ/dt) v) as a Function, and the free symbols of y."""
    xs, vs = SX.sym("x", size), SX.sym("v", rates)
    y = function(xs)
    if not isinstance(y, (SX, DM)):
        raise TypeError(
            f"{repr_in_message(getattr(function, '__name__', function))} must return a casadi expression of its "
            f"argument (an SX column), got {type(y).__name__}: write it with casadi's functions"
        )
    y = ca.vec(SX(y))
    xd: Expr = vs if rate is None else rate(xs, vs)
    yd = ca.jtimes(y, xs, xd)
    J, bias = ca.jacobian(yd, vs), ca.jtimes(yd, xs, xd)
    free = ca.Function("free", [xs, vs], [y, J, bias], {"allow_free": True}).free_sx()
    return ca.Function("derivatives", [xs, vs, *free], [y, J, bias], {"cse": True}), free


def on_symbols(function: Callable[..., Sequence[Expr]], *arguments: Expr) -> list[Expr]:
    """`function(*arguments)`, called with SX symbols of the arguments' sparsity, then evaluated at the arguments.

    The function may differentiate by its arguments; these may be SX, MX or DM. Other symbols in its results stay as
    they are.
    """
    symbols = [SX.sym(f"a{k}", argument.sparsity()) for k, argument in enumerate(arguments)]
    values = [SX(value) for value in function(*symbols)]
    free = ca.Function("free", symbols, values, {"allow_free": True}).free_sx()
    f = ca.Function("values", [*symbols, *free], values, {"cse": True})
    found: list[Expr] = f.call([*arguments, *free])
    return found


def as_function(function: Callable[[Expr], Sequence[Expr]], size: int) -> ca.Function:
    """`function(x)` of a column x of that size, called once with SX symbols, as a Function.

    Other symbols in it stay free: `has_free()` is then true, and a call with numbers is an error.
    """
    x = SX.sym("x", size)
    return ca.Function("values", [x], [SX(y) for y in function(x)], {"cse": True, "allow_free": True})


def is_constant(function: Callable[[Expr], Expr], size: int) -> bool:
    """Whether no entry of `function(x)` depends on the column x of that size, or on other symbols: called once."""
    return bool(SX(function(SX.sym("x", size))).is_constant())


# Steps of recursions


def apply_template(algebra: Callable[..., R], *arguments: Any) -> R:
    """`algebra(*arguments)`, for a step that a recursion takes many times.

    Arguments and results are expressions, or lists, tuples, NamedTuples and dataclasses of them, to any depth. With SX,
    the algebra runs in Python once for each combination of types and patterns. Later calls copy its operations: a call
    of CasADi takes 50 to 150 us, most of which finds out the types of its arguments, and a copy about two of them.
    """
    leaves = list(_leaves(arguments))
    if any(isinstance(x, ca.MX) for x in leaves) or not any(isinstance(x, SX) for x in leaves):
        return algebra(*arguments)
    template = _template(algebra, _structure(arguments))
    values = iter(template.function.call(leaves))
    result: R = _rebuilt(template.results, lambda _: next(values))
    return result


class _Template(NamedTuple):
    function: ca.Function
    results: Any
    """The structure of the results."""


@functools.cache
def _template(algebra: Callable[..., Any], arguments: Any) -> _Template:
    symbols: list[SX] = []

    def symbol(pattern: tuple[int, ...]) -> SX:
        symbols.append(SX.sym("x", ca.Sparsity.compressed(pattern)))
        return symbols[-1]

    result = algebra(*_rebuilt(arguments, symbol))
    results = [y if isinstance(y, SX) else SX(y) for y in _leaves(result)]
    return _Template(ca.Function("template", symbols, results), _structure(result))


def _parts(value: Any) -> Sequence[Any] | None:
    """The parts of a list, a tuple, a NamedTuple or a dataclass; None for an expression."""
    if isinstance(value, (tuple, list)):
        return value
    names = getattr(value, "__dataclass_fields__", None)
    return None if names is None else [getattr(value, name) for name in names]


def _leaves(value: Any) -> Iterator[Expr]:
    """All expressions in a value, in order."""
    parts = _parts(value)
    if parts is None:
        yield value
    else:
        for part in parts:
            yield from _leaves(part)


def _structure(value: Any) -> tuple[Any, ...]:
    """(type, structures of its parts), for an expression its pattern: what distinguishes two templates."""
    parts = _parts(value)
    return tuple(value.sparsity().compress()) if parts is None else (type(value), tuple(map(_structure, parts)))


def _rebuilt(structure: tuple[Any, ...], make: Callable[[Any], Expr]) -> Any:
    """The value of that structure; make: gives the next of its expressions, by its pattern."""
    if not isinstance(structure[0], type):
        return make(structure)
    kind, parts = structure
    made = [_rebuilt(part, make) for part in parts]
    return kind(made) if kind in (tuple, list) else kind(*made)
