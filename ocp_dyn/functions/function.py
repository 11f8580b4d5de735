"""`od.function`: an algorithm as a `casadi.Function` with named inputs and outputs, built in SX once, then kept.

All that it knows about an algorithm is the algorithm's signature, from the registry or given by the user.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import casadi as ca

from .._base.types import is_whole, names_in_message, repr_in_message, suggestion, truth
from ..dynamics.invertible import check_invertible
from ..mechanism import Model
from ..mechanism.equal_models import kept_per_model
from ..mechanism.loads import NO_LOADS, Loads, check_loads, refuse_parts
from ..mechanism.parameters import parameter, parameter_size
from .attached_derivatives import SymbolicCall, derivative_options
from .cheapest_equivalent import cheapest_equivalent
from .checked import CheckedFunction
from .description import Description
from .quantities import Label, Quantity, rows_of
from .registry import REGISTRY
from .signature import Algorithm, Signature, signature_of
from .static_arguments import rows_of_constraints, with_values

LARGEST_COLUMN_COUNT = 10_000
"""Largest number of columns of tau in one Function: every column adds the same number of operations."""

LARGEST_MERGED = 500_000
"""Most operations of a Function whose equal subexpressions are merged. CasADi takes 10 us an operation for it; of H
of a chain of 400 links it would merge 6 % in 11 s, after 3 s for the rest, and less of derivatives of FD."""


def function(
    algorithm: Algorithm,
    model: Model,
    *static: Any,
    name: str | None = None,
    signature: str | Signature | None = None,
    loads: Loads = NO_LOADS,
    parameters: tuple[str, ...] = (),
    derivatives: int = 0,
    reduce: bool = True,
    **options: Any,
) -> ca.Function:
    """`algorithm(model, *static, ...)` as a casadi.Function with named inputs and outputs.

    static: arguments of the algorithm between the model and q, such as a constraint set. name: name of the Function, in
    place of the registry's. signature: for a user's algorithm without the decorator `od.algorithm`, e.g. "q qd -> E" or
    "q p[3] -> d", or an `od.Signature` with units, labels and traits.

    loads: springs, losses and rotors of joints, and external wrenches, see `od.Loads`; with frames in loads.external
    the last input is f_ext (6 x k), a column for each. Other options go to the algorithm; those that its signature
    marks become inputs on request: t="input" adds time, for constraints on time, e="input" the restitution of an
    impact, e="rows" one for each row of the constraints. columns=k: number of columns of an input that the signature
    marks so, such as tau of `mass_matrix_inverse_product`.

    parameters: names of parameters of the model that become inputs, such as ("gravity", "inertia:foot"), see
    `ocp_dyn.mechanism.parameters`. They are the last inputs, called "gravity", "inertia_foot". ("point:foot",) is the
    point of the contact on the frame foot, in every constraint set among the static arguments that holds one.

    derivatives: 1 or 2, where the signature has derivatives (`inverse_dynamics`, `forward_dynamics`), with no option
    but name and loads=od.Loads(armature=True). The analytic derivatives up to that order go with the Function: CasADi
    finds them when an MX expression that calls it is differentiated (not its `map`). By the entries of q, quaternions
    included. Off by default: they take longer to build than the Function itself.

    reduce: joint-space algorithms run on a dynamically equivalent model of fewer operations, see
    `ocp_dyn.mechanism.reduction`, and the shortest of several algorithms with an equal result is taken; equal up to
    rounding. With reduce=False, external wrenches or parameters, the given model is used.

    Called with numbers (DM, arrays, lists) it returns DM; with SX it expands; with MX it is one call node. It is built
    with common subexpressions merged, once per (algorithm, model, static, options), and kept for all threads,
    as long as the model lives, also for models that equal it.

    >>> ID = od.function(od.inverse_dynamics, rod)
    >>> ID
    Function(ID:(q,qd,qdd)->(tau) SXFunction)
    >>> ID([np.pi / 2], [0.0], [0.0])
    DM(4.905)
    """
    if not isinstance(model, Model):
        raise TypeError(f"od.function needs a Model as its second argument, got {type(model).__name__}")
    _check_options(algorithm, name, signature, parameters, derivatives)
    _check_loads(algorithm, model, loads, options)
    truth(reduce, "reduce")
    static = tuple(tuple(s) if isinstance(s, list) else s for s in static)
    if derivatives and (static or loads.external or loads.passive or parameters or options):
        raise ValueError(
            "derivatives= goes with name= and loads=od.Loads(armature=True) alone: leave out the other options"
        )
    spec = _specification(algorithm, name, signature)
    _check_options_of(spec, options)
    return _build(model, _Request(algorithm, static, spec, loads, tuple(parameters), derivatives, reduce, options))


def _check_options(algorithm: Any, name: Any, signature: Any, parameters: Any, derivatives: Any) -> None:
    """Raises errors about arguments of `function` that can be found before anything is built."""
    if not callable(algorithm):
        raise TypeError(
            f"od.function needs an algorithm, such as od.inverse_dynamics, first; got {repr_in_message(algorithm)}"
        )
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a string or None, got {repr_in_message(name)}")
    if signature is not None and not isinstance(signature, (str, Signature)):
        raise TypeError(f"signature must be a string or None, or an od.Signature, got {repr_in_message(signature)}")
    if isinstance(parameters, str):
        raise TypeError(
            f"parameters must be a tuple of names, got the string {repr_in_message(parameters)}: write "
            f"({repr_in_message(parameters)},)"
        )
    if not isinstance(parameters, (tuple, list)) or not all(isinstance(one, str) for one in parameters):
        raise TypeError(f"parameters must be a tuple of names, got {repr_in_message(parameters)}")
    if isinstance(derivatives, bool) or not isinstance(derivatives, int) or derivatives not in (0, 1, 2):
        raise ValueError(f"derivatives must be 0, 1 or 2, got {repr_in_message(derivatives)}")


def _check_loads(algorithm: Algorithm, model: Model, loads: Any, options: dict[str, Any]) -> None:
    """Raises errors about loads, and about parts of them that are given as options."""
    for frame in () if loads is NO_LOADS else check_loads(loads).external:
        model.frame(frame)
    name = getattr(algorithm, "__name__", "the algorithm")
    if any(part.name in options for part in fields(Loads)):
        refuse_parts(options, inspect.signature(algorithm).parameters, name)


def _check_options_of(spec: Signature, options: dict[str, Any]) -> None:
    """Raises errors about options of an algorithm that determine its inputs and outputs."""
    for output in spec.optional_outputs:
        truth(options.get(output.name, False), output.name)
    columns = options.get("columns")
    if columns is not None and not (is_whole(columns, 1) and columns <= LARGEST_COLUMN_COUNT):
        raise ValueError(
            f"columns must be a whole number of columns of {names_in_message(spec.several)}, from 1 to "
            f"{LARGEST_COLUMN_COUNT}, got {repr_in_message(columns)}: call the Function several times for more"
        )


@dataclass(frozen=True)
class _Request:
    """A request for a Function: the algorithm, and all choices that its graph depends on."""

    algorithm: Algorithm
    static: tuple[Any, ...]
    spec: Signature
    loads: Loads
    parameters: tuple[str, ...]
    order: int
    reduce: bool
    options: dict[str, Any]

    def __post_init__(self) -> None:
        try:
            hash(self)
        except (TypeError, NotImplementedError):  # the latter from symbols
            raise TypeError(
                "static arguments and options must be hashable (tuples, not arrays) and hold no symbols (inputs for "
                f"parameters are named by parameters=), got {repr_in_message(self.static)} and "
                f"{repr_in_message(self.options)}"
            ) from None

    def __hash__(self) -> int:
        chosen = frozenset(self.options.items())
        return hash((self.algorithm, self.static, self.spec, self.loads, self.parameters, self.order, chosen))

    def setting(self, model: Model) -> tuple[Model, tuple[Any, ...], tuple[str, ...]]:
        """All that sizes and labels of quantities depend on: the model, static arguments and options, and frames."""
        return model, (*self.static, *self.options.values()), tuple(self.loads.external)


@dataclass
class _Inputs:
    """The symbols of a Function by name, how many of them the algorithm takes in order, and its options with
    symbols."""

    symbols: dict[str, ca.SX]
    positional: list[ca.SX]
    options: dict[str, Any]
    parameters: dict[str, ca.SX] = field(default_factory=dict)


@kept_per_model
def _build(model: Model, request: _Request) -> CheckedFunction:
    """The Function, made of whichever algorithm with this result takes the fewest operations, and its description."""
    spec, static, given = request.spec, request.static, model
    outputs = spec.outputs_with(request.options)
    inputs = _inputs(request, model, outputs)
    if spec.needs_inverse(request.options):
        check_invertible(model, loads=request.loads)
    if request.parameters:
        model, static = with_values(model, static, inputs.parameters)
    if request.reduce and spec.joint_space and not request.loads.external and not request.parameters:
        model = cheapest_equivalent(model, static, velocities="qd" in spec.input_names(), split=not spec.joint_names)
    options = _derivatives(request, model, inputs) if request.order else {}
    names, symbols = list(inputs.symbols), list(inputs.symbols.values())
    _check_arguments(request.algorithm, (model, *static, *inputs.positional), inputs)
    labels = _labels(request, outputs, [*names, *(output.name for output in outputs)], given)
    candidates = []
    for route in _candidates(request, model):
        result = route(model, *static, *inputs.positional, **inputs.options)
        values = _results(spec, outputs, labels, result)
        _check_symbols(spec, symbols, values)
        candidates.append(_merged(spec.name, symbols, values, names, [output.name for output in outputs], options))
    shortest, inputs_named = min(candidates, key=ca.Function.n_instructions), {name: labels.get(name) for name in names}
    own = {_parameter_label(name): name for name in request.parameters}
    f = CheckedFunction(shortest, rows=rows_of((*spec.inputs, *spec.optional_inputs), inputs_named, own))
    described = request.static, request.loads, request.parameters, request.options
    f.description = Description(replace(given), spec, labels, *described)
    return f


def _merged(name: str, symbols: list[ca.SX], values: list[ca.SX], inputs: list[str], outputs: list[str],
            options: dict[str, Any]) -> ca.Function:  # fmt: skip
    """The Function, its equal subexpressions merged unless it is larger than `LARGEST_MERGED`."""
    merging = ca.Function(name, symbols, values).n_instructions() <= LARGEST_MERGED
    return ca.Function(name, symbols, values, inputs, outputs, {**options, "cse": merging})


def _results(spec: Signature, outputs: tuple[Quantity, ...], labels: dict[str, Label], result: Any) -> list[ca.SX]:
    """The values that an algorithm returned, checked against the outputs and the names of rows in its signature."""
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(values) != len(outputs):
        named = tuple(output.name for output in outputs)
        raise ValueError(f"{spec.name}: signature names outputs {named}, the algorithm returned {len(values)}")
    values = [_as_sx(value, f"{spec.name}: {output.name}") for output, value in zip(outputs, values, strict=True)]
    for output, value in zip(outputs, values, strict=True):
        label = labels.get(output.name, Label(""))
        for what, size, got in (("rows", output.rows, value.shape[0]), ("columns", output.columns, value.shape[1])):
            if is_whole(size) and size != got:
                raise ValueError(f"{spec.name}: {output.name} has {got} {what}, its quantity has {size}")
        for what, names, got in (("rows", label.rows, value.shape[0]), ("columns", label.columns, value.shape[1])):
            if names and len(names) != got:
                raise ValueError(
                    f"{spec.name}: {output.name} has {got} {what}, its quantity names {len(names)}: "
                    f"{names_in_message(names)}"
                )
    return values


def _as_sx(value: Any, what: str) -> ca.SX:
    """The result of an algorithm as an SX."""
    try:
        return value if isinstance(value, ca.SX) else ca.SX(value)
    except (TypeError, ValueError, NotImplementedError, RuntimeError):
        raise TypeError(
            f"{what}: the algorithm must return an expression of its inputs (SX) or numbers, got "
            f"{repr_in_message(value)}"
        ) from None


def _check_symbols(spec: Signature, symbols: list[ca.SX], values: list[ca.SX]) -> None:
    """ValueError for results that contain symbols other than the inputs."""
    known = {s.element_hash() for symbol in symbols for s in ca.vertsplit(ca.vec(symbol)) if symbol.numel()}
    used = [s for value in values for s in ca.symvar(value)]
    unknown = tuple(dict.fromkeys(str(s) for s in used if s.element_hash() not in known))
    if unknown:
        raise ValueError(
            f"{spec.name}: the result contains the symbols {names_in_message(unknown)}, which are no inputs: make them "
            "inputs, "
            f'such as "p[{len(unknown)}]" in the signature'
        )


def _derivatives(request: _Request, model: Model, inputs: _Inputs) -> dict[str, Any]:
    """Options of CasADi that give the Function its analytic derivatives."""
    spec = request.spec
    if spec.derivatives is None:
        known = sorted(algorithm.__name__ for algorithm, other in REGISTRY.items() if other.derivatives)
        name = getattr(request.algorithm, "__name__", spec.name)
        raise ValueError(
            f"derivatives={request.order} is for {', '.join(known)}, got {repr_in_message(name)}: leave it out, CasADi "
            "differentiates the graph"
        )
    y = spec.outputs[0].name
    call = SymbolicCall(spec.name, inputs.symbols, y, ca.SX.sym(f"adj_{y}", model.nv))
    return derivative_options(spec.derivatives, model, call, request.order, loads=request.loads)


def _inputs(request: _Request, model: Model, outputs: tuple[Quantity, ...]) -> _Inputs:
    """Symbols for the inputs that the signature names, then for those that the options request."""
    spec, options, setting = request.spec, dict(request.options), request.setting(model)
    names = [output.name for output in outputs]
    _check_names(spec.name, [*spec.input_names(), *names])
    several = options.get("columns") or 1
    symbols = {}
    for quantity in spec.inputs:
        rows, columns = quantity.size(*setting)
        symbols[quantity.name] = ca.SX.sym(quantity.name, rows, several if quantity.name in spec.several else columns)
    positional = list(symbols.values())
    for quantity in spec.optional_inputs:
        size = _asked_size(quantity, options.get(quantity.name), request, model)
        if size is not None:
            symbols[quantity.name] = options[quantity.name] = ca.SX.sym(quantity.name, *size)
    if request.loads.external and "f_ext" not in symbols:
        raise ValueError(
            f"{spec.name} has no input f_ext: external wrenches do not enter it; leave external out of its loads"
        )
    if request.loads != NO_LOADS:
        options["loads"] = request.loads
    labels = [_parameter_label(name) for name in request.parameters]
    _check_names(spec.name, [*symbols, *labels, *names])
    made = {n: ca.SX.sym(label, parameter_size(n)) for n, label in zip(request.parameters, labels, strict=True)}
    return _Inputs(symbols | dict(zip(labels, made.values(), strict=True)), positional, options, made)


def _asked_size(quantity: Quantity, value: Any, request: _Request, model: Model) -> tuple[int, int] | None:
    """The size of an optional input, from the value of its option; None if it is not to be an input."""
    if quantity.name == "f_ext":
        return quantity.size(*request.setting(model)) if request.loads.external else None
    if not isinstance(value, str):
        return None
    if value == "input":
        return quantity.size(*request.setting(model))
    if value == "rows" and quantity.per_row:
        return len(rows_of_constraints(request.static)), 1
    words = "'input', or by row a tuple or 'rows'" if quantity.per_row else "'input'"
    raise ValueError(f"{quantity.name} is a value ({quantity.units}) or {words}, got {repr_in_message(value)}")


def _check_arguments(algorithm: Algorithm, positional: tuple[Any, ...], inputs: _Inputs) -> None:
    """Checks that the algorithm's signature accepts the arguments that it will be called with."""
    try:
        inspect.signature(algorithm).bind(*positional, **inputs.options)
    except TypeError as error:
        known = inspect.signature(algorithm).parameters
        hint = "".join(suggestion(name, known) for name in inputs.options if name not in known)
        raise TypeError(
            f"{algorithm.__name__}({', '.join(known)}): {error}{hint}; inputs of the Function are "
            f"{', '.join(inputs.symbols)}; other arguments of the algorithm, such as a constraint set, follow the "
            "model: od.function(algorithm, model, constraints)"
        ) from error


def _candidates(request: _Request, model: Model) -> tuple[Algorithm, ...]:
    """Algorithms with the same result, whose operations are to be counted."""
    others = request.spec.alternatives if request.reduce else ()
    return (request.algorithm, *(other.algorithm for other in others if other.may_be_shorter(model)))


def _labels(request: _Request, outputs: tuple[Quantity, ...], names: list[str], model: Model) -> dict[str, Label]:
    """Labels of those among the named inputs and outputs that have units, or names of rows or columns."""
    spec = request.spec
    quantities = {quantity.name: quantity for quantity in (*spec.inputs, *spec.optional_inputs, *outputs)}
    found = {name: quantities[name].label(*request.setting(model)) for name in names if name in quantities}
    known = {name: label for name, label in found.items() if any(label)}
    return known | {_parameter_label(name): Label(*parameter(name)) for name in request.parameters}


def _specification(algorithm: Algorithm, name: str | None, signature: str | Signature | None) -> Signature:
    """The signature given as an argument, else by the decorator, else by the registry."""
    spec = _parsed(signature) if isinstance(signature, str) else signature or signature_of(algorithm)
    own_name = getattr(algorithm, "__name__", "")
    if spec is None and algorithm not in REGISTRY:
        known = sorted(a.__name__ for a in REGISTRY)
        raise KeyError(
            f"{repr_in_message(own_name or algorithm)} is not in the registry ({names_in_message(known)}); "
            'pass its signature, e.g. signature="q qd -> E", or give it one by @od.algorithm("E: q qd -> E")'
            f"{suggestion(own_name, known)}"
        )
    spec = spec or REGISTRY[algorithm]
    return spec.called(name or spec.name or _identifier(own_name))


@lru_cache(maxsize=64)
def _parsed(text: str) -> Signature:
    """The signature of a text, of which many calls with one text need one."""
    return Signature.parse(text)


def _check_names(name: str, labels: list[str]) -> None:
    if not ca.Function.check_name(name):
        raise ValueError(
            f"{repr_in_message(name)} cannot name a Function: letters, digits and single underscores, a letter first"
        )
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ValueError(f"{name}: every input and output needs a different name, got {', '.join(twice)} twice")


def _parameter_label(name: str) -> str:
    """The input's name for a parameter: "inertia_foot" for "inertia:foot"."""
    return _identifier(name.replace(":", "_"))


def _identifier(text: str) -> str:
    return re.sub(r"\W", "", text) or "function"
