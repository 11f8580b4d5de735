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

from . import (
    constrained,
    constraints,
    coriolis,
    derivatives,
    dynamics,
    joint_space,
    momentum,
    regressor,
    second_derivatives,
)
from .call_derivatives import Call, derivative_options
from .joints import Joint
from .lightest import lightest
from .model import Model
from .parameters import of_constraint, parameter, parameter_size, with_parameters

Algorithm = Callable[..., Any]


class Signature(NamedTuple):
    """A Function's name and the names of its inputs and outputs."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    joint_space: bool = False

    @staticmethod
    def parse(name: str, text: str, joint_space: bool = False) -> Signature:
        """From "q qd -> H C"; an input of a size of its own is written "p[3]"."""
        match text.split("->"):
            case [left, right] if right.split():
                return Signature(name, tuple(left.split()), tuple(right.split()), joint_space)
        raise ValueError(f'a signature reads "inputs -> outputs", such as "q qd -> E"; got {text!r}')


JOINT_SPACE, BODIES = True, False
"""Whether an algorithm tells apart only what q, qd, tau and poses of frames do: then a lighter model may stand in."""

REGISTRY: dict[Algorithm, Signature] = {
    algorithm: Signature.parse(name, text, joint_space)
    for algorithm, name, text, joint_space in (
        (dynamics.inverse_dynamics, "ID", "q qd qdd -> tau", JOINT_SPACE),
        (dynamics.forward_dynamics, "FD", "q qd tau -> qdd", JOINT_SPACE),
        (dynamics.mass_matrix, "H", "q -> H", JOINT_SPACE),
        (dynamics.bias_force, "C", "q qd -> C", JOINT_SPACE),
        (dynamics.gravity_force, "tau_g", "q -> tau_g", JOINT_SPACE),
        (dynamics.forward_dynamics_crba, "FD_HC", "q qd tau -> qdd", JOINT_SPACE),
        (constraints.constraint_position, "phi", "q -> phi", BODIES),
        (constraints.constraint_velocity, "phi_dot", "q qd -> phi_dot", BODIES),
        (constraints.constraint_jacobian, "G", "q -> G", JOINT_SPACE),
        (constraints.constraint_hessian, "gamma", "q qd -> gamma", JOINT_SPACE),
        (constrained.constrained_dynamics, "FDc", "q qd tau -> qdd lam", JOINT_SPACE),
        (constrained.impact, "impact", "q qd -> qd_plus Lam", JOINT_SPACE),
        (
            constrained.constrained_dynamics_derivatives,
            "dFDc",
            "q qd tau -> dqdd_dq dqdd_dqd dqdd_dtau dlam_dq dlam_dqd dlam_dtau",
            BODIES,
        ),
        (constrained.impact_derivatives, "dimpact", "q qd -> dqd_plus_dq dqd_plus_dqd dLam_dq dLam_dqd", BODIES),
        (constrained.constrained_equations, "EoMc", "q qd -> H C G gamma", JOINT_SPACE),
        (constrained.constrained_inverse_dynamics, "IDc", "q qd qdd -> tau lam qdd_c", JOINT_SPACE),
        (joint_space.equations_of_motion, "EoM", "q qd -> H C", JOINT_SPACE),
        (joint_space.mass_matrix_inverse_product, "Minv", "q tau -> qdd", JOINT_SPACE),
        (joint_space.mass_matrix_inverse, "H_inv", "q -> H_inv", JOINT_SPACE),
        (coriolis.coriolis_matrix, "C_mat", "q qd -> C_mat", JOINT_SPACE),
        (regressor.inverse_dynamics_regressor, "Y", "q qd qdd -> Y", BODIES),
        (derivatives.inverse_dynamics_derivatives, "dID", "q qd qdd -> dtau_dq dtau_dqd H", JOINT_SPACE),
        (derivatives.forward_dynamics_derivatives, "dFD", "q qd tau -> dqdd_dq dqdd_dqd Minv", JOINT_SPACE),
        (
            second_derivatives.inverse_dynamics_second_derivatives,
            "ddID",
            "q qd qdd mu -> L_qq L_q_qd L_qd_qd L_q_qdd",
            JOINT_SPACE,
        ),
        (
            second_derivatives.forward_dynamics_second_derivatives,
            "ddFD",
            "q qd tau mu -> L_qq L_q_qd L_qd_qd L_q_tau",
            JOINT_SPACE,
        ),
        (momentum.center_of_mass, "com", "q -> com", BODIES),
        (momentum.center_of_mass_jacobian, "J_com", "q -> J_com", BODIES),
        (momentum.kinetic_energy, "T", "q qd -> T", JOINT_SPACE),
        (momentum.potential_energy, "V", "q -> V", BODIES),
        (momentum.centroidal_momentum, "h_com", "q qd -> h_com", BODIES),
        (momentum.centroidal_momentum_matrix, "A_G", "q -> A_G", BODIES),
        (momentum.centroidal_momentum_bias, "h_bias", "q qd -> h_bias", BODIES),
        (momentum.zero_moment_point, "zmp", "q qd qdd -> zmp", BODIES),
        (momentum.joint_power, "P", "qd tau -> P", BODIES),
    )
}

SIZES: dict[str, Callable[[Model], int]] = {
    "q": lambda model: model.nq,
    "qd": lambda model: model.nv,
    "qdd": lambda model: model.nv,
    "tau": lambda model: model.nv,
    "v": lambda model: model.nv,
    "mu": lambda model: model.nv,
    "e": lambda model: 1,
}

UNITS = {
    "q": "rad, m; quaternions (x, y, z, w)",
    "qd": "rad/s, m/s",
    "qdd": "rad/s^2, m/s^2",
    "qdd_c": "rad/s^2, m/s^2; keeps the constraints",
    "tau": "N m, N",
    "tau_g": "N m, N",
    "C": "N m, N",
    "H": "kg m^2, kg m, kg",
    "G": "d(phi)/dt = G qd",
    "gamma": "rad/s^2, m/s^2",
    "phi": "m; sine of an angle",
    "phi_dot": "m/s, rad/s; velocity error",
    "lam": "N, N m; acts on the robot",
    "Lam": "N s, N m s; acts on the robot",
    "qd_plus": "rad/s, m/s",
    "residual": "rad/s^2, m/s^2",
    "com": "m, world axes",
    "T": "J",
    "V": "J",
    "h_com": "N m s, N s; [angular about the CoM; linear], world axes",
    "A_G": "h_com = A_G qd",
    "h_bias": "N m, N; d(h_com)/dt at qdd = 0",
    "J_com": "d(com)/dt = J_com qd",
    "zmp": "m, world axes",
    "P": "W, by dof",
    "H_inv": "inverse of H",
    "Minv": "inverse of H",
    "C_mat": "C_mat qd = C - tau_g; dH/dt - 2 C_mat skew",
    "Y": "tau = Y pi, ten inertial parameters a body",
    "dtau_dq": "columns: tangent directions of q",
    "dtau_dqd": "N m s/rad, N s/m",
    "dqdd_dq": "columns: tangent directions of q",
    "dqdd_dqd": "1/s",
    "dqdd_dtau": "inverse of H, along the constraints; symmetric",
    "dlam_dq": "columns: tangent directions of q",
    "dlam_dqd": "N s/m, N m s/rad",
    "dlam_dtau": "forces per joint force",
    "dqd_plus_dq": "columns: tangent directions of q",
    "dqd_plus_dqd": "qd_plus = dqd_plus_dqd qd",
    "dLam_dq": "columns: tangent directions of q",
    "dLam_dqd": "kg, kg m, kg m^2",
    "mu": "weights of tau or qdd in the scalar L",
    "L_qq": "Hessian of L; rows and columns: tangent directions of q",
    "L_q_qd": "rows: tangent directions of q",
    "L_qd_qd": "Hessian of L by qd",
    "L_q_qdd": "rows: tangent directions of q",
    "L_q_tau": "rows: tangent directions of q",
    "e": "restitution, 0 to 1",
    "t": "s",
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
    built with common subexpressions merged, once per (algorithm, model, static, options), and kept.
    """
    if not isinstance(model, Model):
        raise TypeError(f"od.function needs a Model as its second argument, got {type(model).__name__}")
    if isinstance(external, str):
        raise TypeError(f"external must be a tuple of frame names, got the string {external!r}: write ({external!r},)")
    if isinstance(parameters, str):
        raise TypeError(f"parameters must be a tuple of names, got the string {parameters!r}: write ({parameters!r},)")
    static = tuple(tuple(s) if isinstance(s, list) else s for s in static)
    if derivatives and (static or external or parameters or signature or options.keys() - {"armature"}):
        raise ValueError("derivatives= goes with name= and armature= alone: leave out the other options")
    wrenches, chosen = tuple(external), tuple(sorted(options.items()))
    key = (algorithm, static, name, signature, wrenches, tuple(parameters), derivatives, reduce, chosen)
    kept = _cache.setdefault(model, {})
    try:
        if key in kept:
            return kept[key]
    except (TypeError, NotImplementedError):  # the latter from symbols
        raise TypeError(
            "static arguments and options must be hashable (tuples, not arrays) and hold no symbols (what stays an "
            f"input is named by parameters=), got {static!r}"
        ) from None
    f = kept[key] = _build(
        algorithm, model, static, name, signature, tuple(external), tuple(parameters), options, derivatives, reduce
    )
    registered = signature is None
    _descriptions[f] = Description(
        model.name, model.joints, _labels(f, model, static, tuple(external), tuple(parameters), registered)
    )
    return f


def _build(
    algorithm: Algorithm,
    model: Model,
    static: tuple[Any, ...],
    name: str | None,
    signature: str | None,
    external: tuple[str, ...],
    parameters: tuple[str, ...],
    options: dict[str, Any],
    order: int,
    reduce: bool,
) -> ca.Function:
    spec = _specification(algorithm, name, signature)
    sizes = [_size(text, model) for text in spec.inputs]
    _check_names(spec.name, [*(label for label, _ in sizes), *spec.outputs])
    columns = options.get("columns") or 1
    symbols = {label: ca.SX.sym(label, size, columns if label == "tau" else 1) for label, size in sizes}
    outputs = spec.outputs
    positional = list(symbols.values())
    if options.get("residual"):
        outputs = (*outputs, "residual")
    if isinstance(options.get("e"), str):
        if options["e"] not in ("input", "rows"):
            raise ValueError(f"e is a number in [0, 1] or 'input', or by row a tuple or 'rows', got {options['e']!r}")
        rows = 1 if options["e"] == "input" else len(constraints.constraint_rows(static[0]))
        options = options | {"e": ca.SX.sym("e", rows)}
        symbols["e"] = options["e"]
    if isinstance(options.get("t"), str):
        if options["t"] != "input":
            raise ValueError(f"t is a time [s] or 'input', got {options['t']!r}")
        options = options | {"t": ca.SX.sym("t")}
        symbols["t"] = options["t"]
    if external:
        symbols["f_ext"] = ca.SX.sym("f_ext", 6, len(external))
        options = options | {"f_ext": symbols["f_ext"], "external": external}
    if parameters:
        labels = [_parameter_label(name) for name in parameters]
        _check_names(spec.name, [*symbols, *labels, *outputs])
        made = {n: ca.SX.sym(label, parameter_size(n)) for n, label in zip(parameters, labels, strict=True)}
        symbols |= dict(zip(labels, made.values(), strict=True))
        model, static = _with_values(model, static, made)
    if reduce and spec.joint_space and not external and not parameters:
        by_joints = algorithm is constrained.constrained_inverse_dynamics  # names the actuated ones
        model = lightest(model, static, velocities="qd" in spec.inputs, unfold=not by_joints)
    found: dict[str, Any] = {"cse": True}
    if order:
        call = Call(spec.name, symbols, outputs[0], ca.SX.sym(f"adj_{outputs[0]}", model.nv))
        found |= derivative_options(algorithm, model, call, order, **options)
    candidates = []
    for route in _routes(algorithm, model) if reduce else (algorithm,):
        result = route(model, *static, *positional, **options)
        values = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(values) != len(outputs):
            raise ValueError(f"{spec.name}: signature names outputs {outputs}, the algorithm returned {len(values)}")
        values = [value if isinstance(value, ca.SX) else ca.SX(value) for value in values]
        candidates.append(ca.Function(spec.name, list(symbols.values()), values, list(symbols), list(outputs), found))
    return min(candidates, key=ca.Function.n_instructions)


def _routes(algorithm: Algorithm, model: Model) -> tuple[Algorithm, ...]:
    """Algorithms of the same result, to be counted. Where dofs stand on more than some eight others ABA is shorter."""
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


def _labels(
    f: ca.Function,
    model: Model,
    static: tuple[Any, ...],
    external: tuple[str, ...],
    parameters: tuple[str, ...],
    registered: bool,
) -> dict[str, Label]:
    """Labels of all inputs, and of the outputs whose meaning the registry knows."""
    names = [name for name in f.name_in() if name in (*SIZES, "f_ext", "t")] + (f.name_out() if registered else [])
    rows: tuple[str, ...] = ()
    if not {"phi", "phi_dot", "G", "gamma", "lam", "Lam", "residual", "dlam_dq", "dLam_dq"}.isdisjoint(names):
        rows = constraints.constraint_rows(static[0])
    dofs = model.qd_names
    entries: dict[str, tuple[tuple[str, ...], ...]] = {
        "q": (model.q_names,),
        **dict.fromkeys(("qd", "qdd", "qdd_c", "tau", "v", "mu", "C", "tau_g", "qd_plus"), (dofs,)),
        **dict.fromkeys(("phi", "phi_dot", "gamma", "lam", "Lam", "residual"), (rows,)),
        **dict.fromkeys(("H", "H_inv", "Minv", "C_mat", "dtau_dq", "dtau_dqd", "dqdd_dq", "dqdd_dqd"), (dofs, dofs)),
        **dict.fromkeys(("L_qq", "L_q_qd", "L_qd_qd", "L_q_qdd", "L_q_tau"), (dofs, dofs)),
        **dict.fromkeys(("dqdd_dtau", "dqd_plus_dq", "dqd_plus_dqd"), (dofs, dofs)),
        **dict.fromkeys(("dlam_dq", "dlam_dqd", "dlam_dtau", "dLam_dq", "dLam_dqd"), (rows, dofs)),
        **dict.fromkeys(("A_G", "J_com"), ((), dofs)),
        "P": (dofs,),
        "Y": (dofs, regressor.parameter_names(model)),
        "G": (rows, dofs),
        "f_ext": ((), external),
    }
    known = {name: Label(UNITS[name], *entries.get(name, ())) for name in names if name in UNITS}
    return known | {_parameter_label(name): Label(*parameter(name)) for name in parameters}


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


def _parameter_label(name: str) -> str:
    """The input's name for a parameter: "inertia_foot" for "inertia:foot"."""
    return _identifier(name.replace(":", "_"))


def _identifier(text: str) -> str:
    return re.sub(r"\W", "", text) or "function"
