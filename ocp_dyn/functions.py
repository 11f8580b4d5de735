"""Algorithms as `casadi.Function`s: named inputs and outputs, built in SX when first asked for, then kept.

A signature, from the registry or the user's own, says what the inputs and outputs are called and how large they are.
"""

from __future__ import annotations

import inspect
import os
import re
import threading
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca

from . import constrained, constraints, dynamics, joint_space, regressor, second_derivatives
from . import derivatives as derivatives_of
from ._types import is_whole, shown, truth
from .call_derivatives import Call, derivative_options
from .checked import CheckedFunction
from .invertible import check_invertible
from .joints import Joint
from .lightest import cheapest_equivalent
from .model import Model
from .parameters import of_constraint, parameter, parameter_size, with_parameters
from .registry import REGISTRY, SIZES, UNITS, Algorithm, Signature


class Label(NamedTuple):
    """Units of an input or output, and the names of its rows and columns; empty if they have no names."""

    units: str
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


class Description(NamedTuple):
    """Description of a Function's model and arguments. It holds no Model, so that the model's memory can be freed while
    the Function lives on."""

    model: str
    joints: tuple[Joint, ...]
    labels: Mapping[str, Label]


MOST_COLUMNS = 10_000
"""Columns of tau in one Function: each adds as many operations."""

_BY_INVERSE = (
    dynamics.forward_dynamics,
    dynamics.forward_dynamics_crba,
    joint_space.mass_matrix_inverse,
    joint_space.mass_matrix_inverse_product,
    derivatives_of.forward_dynamics_derivatives,
    second_derivatives.forward_dynamics_second_derivatives,
    constrained.constrained_dynamics,
    constrained.constrained_dynamics_derivatives,
    constrained.impact,
    constrained.impact_derivatives,
)
"""Algorithms that need H^-1; those of constraints with most of their solvers."""

_cache: WeakKeyDictionary[Model, dict[Hashable, ca.Function]] = WeakKeyDictionary()
_building = threading.RLock()
"""Held while a Function is looked up and built: CasADi's graphs are for one thread at a time. Algorithms may ask for others."""
_descriptions: WeakKeyDictionary[ca.Function, Description] = WeakKeyDictionary()


if hasattr(os, "register_at_fork"):  # a process forked while another thread builds would wait for it forever
    os.register_at_fork(before=_building.acquire, after_in_parent=_building.release, after_in_child=_building.release)


def describe(f: ca.Function) -> Description | None:
    """Model name, joints and labels of the inputs and outputs of a Function made by `function`; None for others."""
    return _descriptions.get(f)


def function(
    algorithm: Algorithm,
    model: Model,
    *static: Any,
    name: str | None = None,
    signature: str | None = None,
    external: tuple[str, ...] = (),
    parameters: tuple[str, ...] = (),
    derivatives: int = 0,
    reduce: bool = True,
    **options: Any,
) -> ca.Function:
    """`algorithm(model, *static, ...)` as a casadi.Function with named inputs and outputs.

    static: what the algorithm takes between the model and q, such as a constraint set. name: instead of
    the registry's. signature: for an algorithm of the user's own, e.g. "q qd -> E" or "q p[3] -> d".
    external: names of frames that wrenches act on; adds the input f_ext (6 x k), the last. Other options go to
    the algorithm; `impact` takes e as a number or a tuple with one per row or, with e="input" (one for all rows) or
    e="rows", as a last input. `mass_matrix_inverse_product` takes columns=k, so many columns of tau. t="input" adds time to the inputs, for constraints on time.

    parameters: names of what stays an input, such as ("gravity", "inertia:foot"), see `ocp_dyn.parameters`; the last
    inputs, called "gravity", "inertia_foot". ("point:foot",) is the point of the contact on the frame foot, in every
    constraint set among the static arguments that holds one.

    derivatives: 1 or 2, for `inverse_dynamics` and `forward_dynamics` with no option but armature: the analytic
    derivatives up to that order go with the Function, so that CasADi finds them when an MX expression that calls it
    is differentiated, as an optimiser's constraints are (not those of its `map`). By the entries of q, quaternions
    included. Off by default: they take longer to build than the Function itself.

    reduce: joint-space algorithms of the registry run on a dynamically equivalent model of fewer operations, see
    `ocp_dyn.reduction`, and the shorter of two algorithms stands for `forward_dynamics`; equal to rounding. False: on
    the model as it is. With external, parameters or signature the model is always as it is.

    Called with numbers it returns DM; with SX it expands; with MX it is one call node. The Function is
    built with common subexpressions merged, once per (algorithm, model, static, options), and kept; all threads get
    the same one.
    """
    if not isinstance(model, Model):
        raise TypeError(f"od.function needs a Model as its second argument, got {type(model).__name__}")
    _check_options(algorithm, name, signature, external, parameters, derivatives, options | {"reduce": reduce})
    static = tuple(tuple(s) if isinstance(s, list) else s for s in static)
    if derivatives and (static or external or parameters or signature or options.keys() - {"armature"}):
        raise ValueError("derivatives= goes with name= and armature= alone: leave out the other options")
    spec = _specification(algorithm, name, signature)
    request = _Request(algorithm, static, spec, tuple(external), tuple(parameters), derivatives, reduce, options)
    with _building:
        kept = _cache.setdefault(model, {})
        try:
            if request.key in kept:
                return kept[request.key]
        except (TypeError, NotImplementedError):  # the latter from symbols
            raise TypeError(
                "static arguments and options must be hashable (tuples, not arrays) and hold no symbols (what stays an "
                f"input is named by parameters=), got {shown(static)} and {shown(options)}"
            ) from None
        f = _build(request, model)
        labels = _labels(f, request, model, registered=signature is None)
        _descriptions[f] = Description(model.name, model.joints, labels)
        kept[request.key] = f
        return f


def _check_options(
    algorithm: Any, name: Any, signature: Any, external: Any, parameters: Any, derivatives: Any, options: dict[str, Any]
) -> None:
    """Raises errors about arguments of `function` that can be found before anything is built."""
    if not callable(algorithm):
        raise TypeError(f"od.function needs an algorithm, such as od.inverse_dynamics, first; got {shown(algorithm)}")
    for what, text in (("name", name), ("signature", signature)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{what} must be a string or None, got {shown(text)}")
    for what, kind, names in (("external", "frame names", external), ("parameters", "names", parameters)):
        if isinstance(names, str):
            raise TypeError(f"{what} must be a tuple of {kind}, got the string {shown(names)}: write ({shown(names)},)")
        if not isinstance(names, (tuple, list)) or not all(isinstance(one, str) for one in names):
            raise TypeError(f"{what} must be a tuple of {kind}, got {shown(names)}")
    if isinstance(derivatives, bool) or not isinstance(derivatives, int) or derivatives not in (0, 1, 2):
        raise ValueError(f"derivatives must be 0, 1 or 2, got {shown(derivatives)}")
    for flag in ("residual", "armature", "reduce"):
        truth(options.get(flag, False), flag)
    columns = options.get("columns")
    if columns is not None and not (is_whole(columns, 1) and columns <= MOST_COLUMNS):
        raise ValueError(
            f"columns must be a whole number of columns of tau, from 1 to {MOST_COLUMNS}, got {shown(columns)}: call the "
            "Function several times for more"
        )


@dataclass(frozen=True)
class _Request:
    """A request for a Function: the algorithm, and all choices that its graph depends on."""

    algorithm: Algorithm
    static: tuple[Any, ...]
    spec: Signature
    external: tuple[str, ...]
    parameters: tuple[str, ...]
    order: int
    reduce: bool
    options: dict[str, Any]

    @property
    def key(self) -> Hashable:
        """Key that identifies the request among those for the same model."""
        chosen = tuple(sorted(self.options.items()))
        return (
            self.algorithm, self.static, self.spec, self.external, self.parameters, self.order, self.reduce, chosen
        )  # fmt: skip


@dataclass
class _Inputs:
    """The symbols of a Function by name, how many of them the algorithm takes in order, and its options with symbols."""

    symbols: dict[str, ca.SX]
    positional: list[ca.SX]
    options: dict[str, Any]
    parameters: dict[str, ca.SX] = field(default_factory=dict)


def _build(request: _Request, model: Model) -> ca.Function:
    """The Function, made of whichever algorithm with this result takes the fewest operations."""
    spec, static = request.spec, request.static
    outputs = (*spec.outputs, "residual") if request.options.get("residual") else spec.outputs
    inputs = _inputs(request, model, outputs)
    if request.algorithm in _BY_INVERSE and request.options.get("solver", "range") in ("range", "proximal", "aba"):
        check_invertible(model, armature=bool(request.options.get("armature")))
    if request.parameters:
        model, static = _with_values(model, static, inputs.parameters)
    if request.reduce and spec.joint_space and not request.external and not request.parameters:
        by_joints = request.algorithm is constrained.constrained_inverse_dynamics  # names the actuated ones
        model = cheapest_equivalent(model, static, velocities="qd" in spec.inputs, split=not by_joints)
    found: dict[str, Any] = {"cse": True}
    if request.order:
        call = Call(spec.name, inputs.symbols, outputs[0], ca.SX.sym(f"adj_{outputs[0]}", model.nv))
        found |= derivative_options(request.algorithm, model, call, request.order, **request.options)
    names, symbols = list(inputs.symbols), list(inputs.symbols.values())
    candidates = []
    for route in _routes(request.algorithm, model) if request.reduce else (request.algorithm,):
        _check_arguments(route, (model, *static, *inputs.positional), inputs)
        result = route(model, *static, *inputs.positional, **inputs.options)
        values = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(values) != len(outputs):
            raise ValueError(f"{spec.name}: signature names outputs {outputs}, the algorithm returned {len(values)}")
        values = [value if isinstance(value, ca.SX) else ca.SX(value) for value in values]
        candidates.append(ca.Function(spec.name, symbols, values, names, list(outputs), found))
    return CheckedFunction(min(candidates, key=ca.Function.n_instructions))


def _inputs(request: _Request, model: Model, outputs: tuple[str, ...]) -> _Inputs:
    """Symbols for what the signature names, then for what the options ask to be an input."""
    spec, options = request.spec, dict(request.options)
    sizes = [_size(text, model) for text in spec.inputs]
    _check_names(spec.name, [*(label for label, _ in sizes), *outputs])
    columns = options.get("columns") or 1
    symbols = {label: ca.SX.sym(label, size, columns if label == "tau" else 1) for label, size in sizes}
    positional = list(symbols.values())
    if isinstance(options.get("e"), str):
        if options["e"] not in ("input", "rows"):
            raise ValueError(
                f"e is a number in [0, 1] or 'input', or by row a tuple or 'rows', got {shown(options['e'])}"
            )
        rows = 1 if options["e"] == "input" else len(constraints.constraint_rows(request.static[0]))
        symbols["e"] = options["e"] = ca.SX.sym("e", rows)
    if isinstance(options.get("t"), str):
        if options["t"] != "input":
            raise ValueError(f"t is a time [s] or 'input', got {shown(options['t'])}")
        symbols["t"] = options["t"] = ca.SX.sym("t")
    if request.external:
        symbols["f_ext"] = ca.SX.sym("f_ext", 6, len(request.external))
        options |= {"f_ext": symbols["f_ext"], "external": request.external}
    labels = [_parameter_label(name) for name in request.parameters]
    _check_names(spec.name, [*symbols, *labels, *outputs])
    made = {n: ca.SX.sym(label, parameter_size(n)) for n, label in zip(request.parameters, labels, strict=True)}
    return _Inputs(symbols | dict(zip(labels, made.values(), strict=True)), positional, options, made)


def _check_arguments(algorithm: Algorithm, positional: tuple[Any, ...], inputs: _Inputs) -> None:
    """Checks that the algorithm's signature accepts the arguments that it will be called with."""
    try:
        inspect.signature(algorithm).bind(*positional, **inputs.options)
    except TypeError as error:
        raise TypeError(
            f"{algorithm.__name__}({', '.join(inspect.signature(algorithm).parameters)}): {error}; inputs of the Function "
            f"are {', '.join(inputs.symbols)}, and what the algorithm takes between the model and these, a constraint set "
            "say, follows the model: od.function(algorithm, model, constraints)"
        ) from error


def _routes(algorithm: Algorithm, model: Model) -> tuple[Algorithm, ...]:
    """Algorithms with the same result, whose operations are to be counted.

    ABA is always shorter if dofs are supported by more than about eight others.
    """
    if algorithm is not dynamics.forward_dynamics:
        return (algorithm,)
    depths: list[int] = []
    for parent in model.dof_parent:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return (algorithm, dynamics.forward_dynamics_crba) if sum(depths) <= 8 * model.nv else (algorithm,)


def _with_values(model: Model, static: tuple[Any, ...], values: Mapping[str, Any]) -> tuple[Model, tuple[Any, ...]]:
    """The model, and the constraint sets among the static arguments, with their parameters replaced by `values`."""
    points = {name: value for name, value in values.items() if of_constraint(name)}
    model = with_parameters(model, {name: value for name, value in values.items() if name not in points})
    return model, constraints.in_every_set(static, points) if points else static


def _labels(f: ca.Function, request: _Request, model: Model, *, registered: bool) -> dict[str, Label]:
    """Labels of all inputs, and of the outputs whose meaning the registry knows."""
    names = [name for name in f.name_in() if name in (*SIZES, "f_ext", "t")] + (f.name_out() if registered else [])
    rows: tuple[str, ...] = ()
    if not {"phi", "phi_dot", "G", "gamma", "lam", "Lam", "residual", "dlam_dq", "dLam_dq"}.isdisjoint(names):
        rows = constraints.constraint_rows(request.static[0])
    dofs = model.qd_names
    entries: dict[str, tuple[tuple[str, ...], ...]] = {
        "q": (model.q_names,),
        **dict.fromkeys(("qd", "qdd", "qdd_c", "tau", "v", "mu", "C", "tau_g", "qd_plus"), (dofs,)),
        **dict.fromkeys(("phi", "phi_dot", "gamma", "lam", "Lam", "residual"), (rows,)),
        **dict.fromkeys(("H", "H_inv", "Minv", "C_mat", "dtau_dq", "dtau_dqd", "dqdd_dq", "dqdd_dqd"), (dofs, dofs)),
        **dict.fromkeys(("L_qq", "L_q_qd", "L_qd_qd", "L_q_qdd", "L_q_tau"), (dofs, dofs)),
        **dict.fromkeys(("dqdd_dtau", "dqd_plus_dq", "dqd_plus_dqd"), (dofs, dofs)),
        **dict.fromkeys(("dlam_dq", "dlam_dqd", "dlam_dtau", "dLam_dq", "dLam_dqd"), (rows, dofs)),
        **dict.fromkeys(("A_G", "J_com", "J", "J6", "J_dot"), ((), dofs)),
        "P": (dofs,),
        "Y": (dofs, regressor.parameter_names(model)),
        "G": (rows, dofs),
        "f_ext": ((), request.external),
    }
    known = {name: Label(UNITS[name], *entries.get(name, ())) for name in names if name in UNITS}
    return known | {_parameter_label(name): Label(*parameter(name)) for name in request.parameters}


def _specification(algorithm: Algorithm, name: str | None, signature: str | None) -> Signature:
    if signature is not None:
        return Signature.parse(name or _identifier(getattr(algorithm, "__name__", "")), signature)
    if algorithm not in REGISTRY:
        known = ", ".join(sorted(a.__name__ for a in REGISTRY))
        raise KeyError(
            f"{shown(getattr(algorithm, '__name__', algorithm))} is not in the registry ({known}); "
            'pass its signature, e.g. signature="q qd -> E"'
        )
    return REGISTRY[algorithm]._replace(name=name or REGISTRY[algorithm].name)


def _size(text: str, model: Model) -> tuple[str, int]:
    match = re.fullmatch(r"([A-Za-z]\w*)\[(\d+)\]", text)
    if match:
        return match[1], int(match[2])
    if text not in SIZES:
        raise KeyError(f"input {shown(text)} has no known size; known: {', '.join(SIZES)}. Give one, e.g. {text}[3]")
    return text, SIZES[text](model)


def _check_names(name: str, labels: list[str]) -> None:
    if not ca.Function.check_name(name):
        raise ValueError(
            f"{shown(name)} cannot name a Function: letters, digits and single underscores, a letter first"
        )
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ValueError(f"{name}: every input and output needs a name of its own, got {', '.join(twice)} twice")


def _parameter_label(name: str) -> str:
    """The input's name for a parameter: "inertia_foot" for "inertia:foot"."""
    return _identifier(name.replace(":", "_"))


def _identifier(text: str) -> str:
    return re.sub(r"\W", "", text) or "function"
