"""The boundary of the algorithms: arguments are checked once per call, before any recursion starts.

An algorithm is a plain function of `(model, ..., q, qd, ...)` without checks. The decorator `checks_arguments` adds the
checks, the same for all algorithms, by the names of their parameters: none runs in a loop, and none enters a graph.

Numbers in, numbers out: a DM, a NumPy array, a list or a tuple may stand for any matrix, and the results are DM, of
which `.full()` makes an array. Expressions in, expressions of the same kind (SX or MX) out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from casadi import DM, MX, SX

from .._base.rooms import refuse_unknown
from .._base.types import Expr, check_kind, matrix, names_in_message, numbers, repr_in_message, truth
from . import Model
from .loads import check_loads, refuse_parts
from .near import near

F = TypeVar("F", bound=Callable[..., Any])

ROW_COUNTS: dict[str, Callable[[Model], int]] = {
    "q": lambda model: model.nq,
    **dict.fromkeys(("qd", "qdd", "tau", "v", "mu"), lambda model: model.nv),
    "F_mt": lambda model: len(model.muscles),
}
"""Number of rows of the matrices that algorithms take, by name."""
OTHER_EXPRESSIONS = ("e", "t", "point", "normal")
"""Arguments, besides the matrices, that may be expressions."""
FLAG_NAMES = ("residual", "relaxed", "limits", "classical")
"""Arguments that are True or False."""


def checks_arguments(
    *, several: Collection[str] = (), own: Collection[str] = (), frames: bool = True
) -> Callable[[F], F]:
    """A decorator for functions of a model: TypeError, ValueError or KeyError for arguments that they cannot take.

    Checked by name: `model`; matrices (`ROW_COUNTS`, f_ext): numbers, which the function gets as a DM, or expressions
    of one kind, one column each; loads and their frames; flags; t, where there are constraints. None passes where it is
    the default. several: matrices that may have several columns. own: arguments that the function checks itself.
    frames: False where the result does not depend on the frames of the bodies, so that these may be brought near their
    bodies (`near`). Cost: some microseconds per call, no operation of a graph.
    """

    def decorate(function: F) -> F:
        parameters = inspect.signature(function).parameters
        names = tuple(parameters)
        optional = {name for name, parameter in parameters.items() if parameter.default is None}
        matrices = [name for name in (*ROW_COUNTS, "f_ext") if name in parameters and name not in own]
        flags = [name for name in FLAG_NAMES if name in parameters]
        further = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        timed = "t" in parameters and "constraints" in parameters

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if kwargs and "loads" in parameters:
                refuse_parts(kwargs, parameters, function.__name__)
            if kwargs and not further:
                refuse_unknown(kwargs, names, function.__name__)
            # missing and surplus arguments are reported by the call itself
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            given = {name: value for name, value in given.items() if value is not None or name not in optional}
            made: dict[str, Expr] = {}
            if "model" in given:
                _check_model(given["model"])
                if not frames and near(given["model"]) is not given["model"]:
                    made["model"] = near(given["model"])
                made |= _matrices({name: given[name] for name in matrices if name in given}, given, several)
            for name in flags:
                if name in given:
                    truth(given[name], name)
            if "loads" in given and "model" in given:
                for frame in check_loads(given["loads"]).external:
                    given["model"].frame(frame)
            if timed and "t" in given:
                _check_time(given["t"])
            if made:
                args = *(made.get(name, value) for name, value in zip(names, args, strict=False)), *args[len(names) :]
                kwargs = {name: made.get(name, value) for name, value in kwargs.items()}
            return function(*args, **kwargs)

        return cast(F, checked)

    return decorate


def column_of_numbers(x: Any, size: int, what: str, names: Sequence[str] = ()) -> DM:
    """`x` as a column of `size` finite numbers; TypeError for expressions. names: of the entries."""
    column = Model.column(x, size, what, names)
    if not isinstance(column, DM):
        raise TypeError(f"{what} must be {size} numbers, got the expression {repr_in_message(x)}")
    if not np.all(np.isfinite(column.full())):
        raise ValueError(f"{what} must be finite, got {repr_in_message(x)}")
    return column


def _check_model(model: Any) -> None:
    if not isinstance(model, Model):
        raise TypeError(f"model must be a Model, such as od.load_urdf(...) returns, got {repr_in_message(model)}")


def _matrices(given: dict[str, Any], others: dict[str, Any], several: Collection[str]) -> dict[str, Expr]:
    """The matrices that were given as numbers, as DM; checks that all have the model's sizes and are of one kind."""
    found = {name: matrix(value, name, _row_names(name, others["model"])) for name, value in given.items()}
    for name, value in found.items():
        rows = ROW_COUNTS[name](others["model"]) if name in ROW_COUNTS else 6
        if value.shape[0] != rows:
            expected = f"{rows} rows{_named(name, others['model'])}"
            raise ValueError(f"{name} must have {expected} in this model, got {_got(given[name], value)}")
        if name in ROW_COUNTS and name not in several and value.shape[1] != 1:
            raise ValueError(f"{name} must be one column of {rows} entries, got shape {value.shape}")
    check_kind(*found.values(), *(others[name] for name in OTHER_EXPRESSIONS if name in others))
    return {name: value for name, value in found.items() if value is not given[name]}


def _row_names(name: str, model: Model) -> tuple[str, ...]:
    """Names of the rows of a matrix that an algorithm takes; none for forces on frames."""
    if name not in ROW_COUNTS:
        return ()
    return model.q_names if name == "q" else model.qd_names


def _named(name: str, model: Model) -> str:
    """Names of the rows of a matrix, for a message: " (nq: hip, knee)"."""
    names = _row_names(name, model)
    return f" ({'nq' if name == 'q' else 'nv'}: {names_in_message(names, 6)})" if names else ""


def _got(given: Any, value: Expr) -> str:
    """Shape of a matrix, for a message; one number by itself, because it does not stand for all entries."""
    return (
        f"the number {repr_in_message(given)}" if isinstance(given, (int, float, np.number)) else f"shape {value.shape}"
    )


def _check_time(t: Any) -> None:
    if isinstance(t, (SX, MX)) and t.shape == (1, 1):
        return
    found = numbers(t, "t")
    if found.size != 1 or not np.isfinite(found[0]):
        raise ValueError(f"t must be one finite time [s] or an expression of it, got {repr_in_message(t)}")
