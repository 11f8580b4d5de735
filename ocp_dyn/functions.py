"""Algorithms as `casadi.Function`s: named inputs and outputs, built in SX when first asked for, then kept.

One line of text per algorithm, its signature, is the registry: it gives the Function's name, its inputs
and outputs, and their sizes. A user's own algorithm plugs in with a signature of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca

from . import constrained, constraints, dynamics, momentum
from .joints import Joint
from .model import Model

Algorithm = Callable[..., Any]


class Signature(NamedTuple):
    """A Function's name and the names of its inputs and outputs."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @staticmethod
    def parse(name: str, text: str) -> Signature:
        """From "q qd -> H C"; an input of a size of its own is written "p[3]"."""
        match text.split("->"):
            case [left, right] if right.split():
                return Signature(name, tuple(left.split()), tuple(right.split()))
        raise ValueError(f'a signature reads "inputs -> outputs", such as "q qd -> E"; got {text!r}')


REGISTRY: dict[Algorithm, Signature] = {
    algorithm: Signature.parse(name, text)
    for algorithm, name, text in (
        (dynamics.inverse_dynamics, "ID", "q qd qdd -> tau"),
        (dynamics.forward_dynamics, "FD", "q qd tau -> qdd"),
        (dynamics.mass_matrix, "H", "q -> H"),
        (dynamics.bias_force, "C", "q qd -> C"),
        (dynamics.gravity_force, "tau_g", "q -> tau_g"),
        (dynamics.forward_dynamics_crba, "FD_HC", "q qd tau -> qdd"),
        (constraints.constraint_position, "phi", "q -> phi"),
        (constraints.constraint_jacobian, "G", "q -> G"),
        (constraints.constraint_hessian, "gamma", "q qd -> gamma"),
        (constrained.constrained_dynamics, "FDc", "q qd tau -> qdd lam"),
        (constrained.impact, "impact", "q qd -> qd_plus Lam"),
        (momentum.center_of_mass, "com", "q -> com"),
        (momentum.kinetic_energy, "T", "q qd -> T"),
        (momentum.potential_energy, "V", "q -> V"),
        (momentum.centroidal_momentum, "h_com", "q qd -> h_com"),
    )
}

SIZES: dict[str, Callable[[Model], int]] = {
    "q": lambda model: model.nq,
    "qd": lambda model: model.nv,
    "qdd": lambda model: model.nv,
    "tau": lambda model: model.nv,
    "v": lambda model: model.nv,
    "e": lambda model: 1,
}

UNITS = {
    "q": "rad, m; quaternions (x, y, z, w)",
    "qd": "rad/s, m/s",
    "qdd": "rad/s^2, m/s^2",
    "tau": "N m, N",
    "tau_g": "N m, N",
    "C": "N m, N",
    "H": "kg m^2, kg m, kg",
    "G": "d(phi)/dt = G qd",
    "gamma": "rad/s^2, m/s^2",
    "phi": "m; sine of an angle",
    "lam": "N, N m; acts on the robot",
    "Lam": "N s, N m s; acts on the robot",
    "qd_plus": "rad/s, m/s",
    "residual": "rad/s^2, m/s^2",
    "com": "m, world axes",
    "T": "J",
    "V": "J",
    "h_com": "N m s, N s; [angular about the CoM; linear], world axes",
    "e": "restitution, 0 to 1",
    "f_ext": "N m, N; a column per body, [moment about the world origin; force], world axes",
}
"""What every input and output of the registry holds, for headers and reports."""


class Label(NamedTuple):
    """What an input or output holds: its units, and the names of its rows and columns where they have any."""

    units: str
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


class Description(NamedTuple):
    """What a Function tells of its model. It holds no Model, so that a model can go before its Functions."""

    model: str
    joints: tuple[Joint, ...]
    labels: Mapping[str, Label]


_cache: WeakKeyDictionary[Model, dict[Hashable, ca.Function]] = WeakKeyDictionary()
_descriptions: WeakKeyDictionary[ca.Function, Description] = WeakKeyDictionary()


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
    **options: Any,
) -> ca.Function:
    """`algorithm(model, *static, ...)` as a casadi.Function with named inputs and outputs.

    static: what the algorithm takes between the model and q, such as a constraint set. name: instead of
    the registry's. signature: for an algorithm of the user's own, e.g. "q qd -> E" or "q p[3] -> d".
    external: names of frames that wrenches act on; adds the input f_ext (6 x k), the last. Other options go to
    the algorithm; `impact` takes e as a number or, with e="input", as a last input.

    Called with numbers it returns DM; with SX it expands; with MX it is one call node. The Function is
    built with common subexpressions merged, once per (algorithm, model, static, options), and kept.
    """
    if not isinstance(model, Model):
        raise TypeError(f"od.function needs a Model as its second argument, got {type(model).__name__}")
    if isinstance(external, str):
        raise TypeError(f"external must be a tuple of frame names, got the string {external!r}: write ({external!r},)")
    static = tuple(tuple(s) if isinstance(s, list) else s for s in static)
    key = (algorithm, static, name, signature, tuple(external), tuple(sorted(options.items())))
    kept = _cache.setdefault(model, {})
    try:
        if key in kept:
            return kept[key]
    except TypeError:
        raise TypeError(f"static arguments and options must be hashable (tuples, not arrays), got {static!r}") from None
    f = kept[key] = _build(algorithm, model, static, name, signature, tuple(external), options)
    registered = signature is None
    _descriptions[f] = Description(model.name, model.joints, _labels(f, model, static, tuple(external), registered))
    return f


def _build(
    algorithm: Algorithm,
    model: Model,
    static: tuple[Any, ...],
    name: str | None,
    signature: str | None,
    external: tuple[str, ...],
    options: dict[str, Any],
) -> ca.Function:
    spec = _specification(algorithm, name, signature)
    sizes = [_size(text, model) for text in spec.inputs]
    _check_names(spec.name, [*(label for label, _ in sizes), *spec.outputs])
    symbols = {label: ca.SX.sym(label, size) for label, size in sizes}
    outputs = spec.outputs
    positional = list(symbols.values())
    if options.get("residual"):
        outputs = (*outputs, "residual")
    if isinstance(options.get("e"), str):
        if options["e"] != "input":
            raise ValueError(f"e is a number in [0, 1] or 'input', got {options['e']!r}")
        options = options | {"e": ca.SX.sym("e")}
        symbols["e"] = options["e"]
    if external:
        symbols["f_ext"] = ca.SX.sym("f_ext", 6, len(external))
        options = options | {"f_ext": symbols["f_ext"], "external": external}
    result = algorithm(model, *static, *positional, **options)
    values = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(values) != len(outputs):
        raise ValueError(f"{spec.name}: signature names outputs {outputs}, the algorithm returned {len(values)}")
    values = [value if isinstance(value, ca.SX) else ca.SX(value) for value in values]
    return ca.Function(spec.name, list(symbols.values()), values, list(symbols), list(outputs), {"cse": True})


def _labels(
    f: ca.Function, model: Model, static: tuple[Any, ...], external: tuple[str, ...], registered: bool
) -> dict[str, Label]:
    """Labels of all inputs, and of the outputs whose meaning the registry knows."""
    names = [name for name in f.name_in() if name in (*SIZES, "f_ext")] + (f.name_out() if registered else [])
    rows: tuple[str, ...] = ()
    if not {"phi", "G", "gamma", "lam", "Lam", "residual"}.isdisjoint(names):
        rows = constraints.constraint_rows(static[0])
    dofs = model.qd_names
    entries: dict[str, tuple[tuple[str, ...], ...]] = {
        "q": (model.q_names,),
        **dict.fromkeys(("qd", "qdd", "tau", "v", "C", "tau_g", "qd_plus"), (dofs,)),
        **dict.fromkeys(("phi", "gamma", "lam", "Lam", "residual"), (rows,)),
        "H": (dofs, dofs),
        "G": (rows, dofs),
        "f_ext": ((), external),
    }
    return {name: Label(UNITS[name], *entries.get(name, ())) for name in names if name in UNITS}


def _specification(algorithm: Algorithm, name: str | None, signature: str | None) -> Signature:
    if signature is not None:
        return Signature.parse(name or _identifier(getattr(algorithm, "__name__", "")), signature)
    if algorithm not in REGISTRY:
        known = ", ".join(sorted(a.__name__ for a in REGISTRY))
        raise KeyError(
            f"{getattr(algorithm, '__name__', algorithm)!r} is not in the registry ({known}); "
            'pass its signature, e.g. signature="q qd -> E"'
        )
    return REGISTRY[algorithm]._replace(name=name or REGISTRY[algorithm].name)


def _size(text: str, model: Model) -> tuple[str, int]:
    match = re.fullmatch(r"([A-Za-z]\w*)\[(\d+)\]", text)
    if match:
        return match[1], int(match[2])
    if text not in SIZES:
        raise KeyError(f"input {text!r} has no known size; known: {', '.join(SIZES)}. Give one, e.g. {text}[3]")
    return text, SIZES[text](model)


def _check_names(name: str, labels: list[str]) -> None:
    if not ca.Function.check_name(name):
        raise ValueError(f"{name!r} cannot name a Function: letters, digits and single underscores, a letter first")
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise ValueError(f"{name}: every input and output needs a name of its own, got {', '.join(twice)} twice")


def _identifier(text: str) -> str:
    return re.sub(r"\W", "", text) or "function"
