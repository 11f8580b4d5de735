"""Signatures: all that `od.function` needs to know about an algorithm, in one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MethodType
from typing import Any, NamedTuple, TypeVar

import casadi as ca

from .._base.types import names_in_message, repr_in_message, suggestion, truth
from ..mechanism import Model
from .attached_derivatives import AttachedDerivatives
from .quantities import QUANTITIES, Quantity, by_name

Algorithm = Callable[..., Any]
F = TypeVar("F", bound=Algorithm)
Options = Mapping[str, Any]

_ATTRIBUTE = "ocp_dyn_signature"
_WORD = re.compile(r"([A-Za-z]\w*)(?:\[(\d+)\])?([?*]?)")
_EXPECTED = 'a signature reads "inputs -> outputs" or "name: inputs -> outputs", such as "q qd -> E"'


class Alternative(NamedTuple):
    """Another algorithm with the same arguments and an equal result; it is tried on models where `may_be_shorter`."""

    algorithm: Algorithm
    may_be_shorter: Callable[[Model], bool]


def never(options: Options) -> bool:
    """False: the algorithm divides by no inertia."""
    return False


def always(options: Options) -> bool:
    """True: the algorithm needs H^-1, whatever its options are."""
    return True


@dataclass(frozen=True)
class Signature:
    """Name, inputs, outputs and traits of an algorithm; `Signature.parse("ID: q qd qdd f_ext? -> tau")` makes one.

    inputs, outputs: in the algorithm's order. optional_inputs: options that become inputs, the last, if they are
    "input"; f_ext if loads.external names frames. optional_outputs: outputs, the last, each added by an option of
    its name.
    several: names of inputs with as many columns as the option `columns` says.
    joint_space: True if the result depends on the model only through joint-space dynamics and frame poses; an
    equivalent, cheaper model may then be used. joint_names: it also depends on which joints there are: none is split.
    needs_inverse: from the options, whether H^-1 is needed. alternatives: other algorithms with an equal result; the
    one with the fewest operations is used. derivatives: the analytic derivatives, if there are any; jacobian: else
    an algorithm with the same arguments whose results are the blocks of the Jacobian, those of the first output first,
    with columns along tangent directions of q; jacobian_of_adjoint: for their second derivatives.

    >>> od.Signature.parse("E: q qd -> E").input_names()
    ('q', 'qd')
    """

    name: str
    inputs: tuple[Quantity, ...]
    outputs: tuple[Quantity, ...]
    optional_inputs: tuple[Quantity, ...] = ()
    optional_outputs: tuple[Quantity, ...] = ()
    several: tuple[str, ...] = ()
    joint_space: bool = False
    joint_names: bool = False
    needs_inverse: Callable[[Options], bool] = never
    alternatives: tuple[Alternative, ...] = ()
    derivatives: AttachedDerivatives | None = None
    jacobian: Algorithm | None = None
    jacobian_of_adjoint: Callable[..., ca.Function] | None = None

    def __post_init__(self) -> None:
        for trait in ("joint_space", "joint_names"):
            truth(getattr(self, trait), f"signature {repr_in_message(self.name)}: {trait}")
        if not callable(self.needs_inverse):
            raise TypeError(
                f"signature {repr_in_message(self.name)}: needs_inverse must be a function of the options, got "
                f"{repr_in_message(self.needs_inverse)}: write lambda options: {bool(self.needs_inverse)}"
            )

    @staticmethod
    def parse(text: str, *quantities: Quantity, **traits: Any) -> Signature:
        """The signature that a text describes: "EoM: q qd f_ext? -> H C".

        Words are names of quantities: those given, for inputs also those of `od.quantities.QUANTITIES`. "p[3]" has
        3 rows, "e?" is given on request, "tau*" may have several columns. traits: the other fields, by name. The name
        may be left out: then it is the algorithm's.
        """
        if not isinstance(text, str):
            raise TypeError(f"{_EXPECTED}; got {repr_in_message(text)}")
        name, colon, rest = text.rpartition(":")
        left, arrow, right = rest.partition("->")
        if not arrow or "->" in right or not right.split() or (colon and not name.strip()):
            raise ValueError(f"{_EXPECTED}; got {repr_in_message(text)}")
        own = by_name(quantities)
        inputs = [_input(word, own) for word in left.split()]
        outputs = [_output(word, own) for word in right.split()]
        named = {quantity.name for quantity, _ in (*inputs, *outputs)}
        unused = own.keys() - named
        if unused:
            raise ValueError(
                f"{repr_in_message(text)} names no {', '.join(sorted(unused))}{suggestion(min(unused), sorted(named))}"
            )
        return Signature(
            name.strip(),
            tuple(quantity for quantity, mark in inputs if mark != "?"),
            tuple(quantity for quantity, mark in outputs if mark != "?"),
            tuple(quantity for quantity, mark in inputs if mark == "?"),
            tuple(quantity for quantity, mark in outputs if mark == "?"),
            tuple(quantity.name for quantity, mark in inputs if mark == "*"),
            **traits,
        )

    def input_names(self) -> tuple[str, ...]:
        """Names of the inputs that are not optional."""
        return tuple(quantity.name for quantity in self.inputs)

    def outputs_with(self, options: Options) -> tuple[Quantity, ...]:
        """The outputs, with the optional ones that the options request."""
        return (*self.outputs, *(quantity for quantity in self.optional_outputs if options.get(quantity.name)))

    def called(self, name: str) -> Signature:
        """The same signature under another name."""
        return self if name == self.name else replace(self, name=name)


def algorithm(text: str, *quantities: Quantity, **traits: Any) -> Callable[[F], F]:
    """A decorator that gives an algorithm its signature, for `od.function(algorithm, model)`:

        @od.algorithm("E: q qd -> E", od.Quantity("E", "J"))
        def energy(model, q, qd): ...

    Arguments as those of `Signature.parse`.

    >>> @od.algorithm("E: q qd -> E", od.Quantity("E", "J"))
    ... def energy(model, q, qd):
    ...     return od.kinetic_energy(model, q, qd) + od.potential_energy(model, q)
    >>> od.function(energy, rod)([0.0], [6.0])
    DM(1.095)
    """
    signature = Signature.parse(text, *quantities, **traits)

    def decorate(function: F) -> F:
        if not callable(function) or not hasattr(function, "__dict__") or isinstance(function, MethodType):
            raise TypeError(f"od.algorithm decorates a function(model, q, ...), got {repr_in_message(function)}")
        setattr(function, _ATTRIBUTE, signature)
        return function

    return decorate


def signature_of(function: Algorithm) -> Signature | None:
    """The signature that the decorator `algorithm` gave a function; None for other functions."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, Signature) else None


def registered(text: str, laws: Mapping[str, str], **traits: Any) -> Signature:
    """A signature whose outputs, too, are quantities of the table; laws: of quantities that have other ones here."""
    words = {match[1] for match in map(_WORD.fullmatch, text.rpartition(":")[2].split()) if match}
    named = (QUANTITIES[word] for word in words)
    return Signature.parse(text, *(replace(one, law=laws.get(one.name, one.law)) for one in named), **traits)


def _input(text: str, own: Mapping[str, Quantity]) -> tuple[Quantity, str]:
    """The quantity of an input, and its mark."""
    name, size, mark = _word(text)
    known = {**QUANTITIES, **own}
    if size is not None:
        if name in own and own[name].sized:
            raise ValueError(f"{text}: the quantity {name} has rows already; leave out [{size}]")
        return replace(own.get(name, Quantity(name)), rows=int(size)), mark
    if name not in known or not known[name].sized:
        sized = [other for other in known if known[other].sized]
        raise KeyError(
            f"input {repr_in_message(name)} has no known size; known: {names_in_message(sized)}. Give one, e.g. "
            f"{name}[3]{suggestion(name, sized)}"
        )
    return known[name], mark


def _output(text: str, own: Mapping[str, Quantity]) -> tuple[Quantity, str]:
    """The quantity of an output, and its mark."""
    name, size, mark = _word(text)
    if size is not None or mark == "*":
        raise ValueError(f"output {text}: the size of an output follows from the algorithm; write {name}")
    return own.get(name, Quantity(name)), mark


def _word(text: str) -> tuple[str, str | None, str]:
    """Name, rows and mark of a word of a signature: ("p", "3", "") of "p[3]"."""
    match = _WORD.fullmatch(text)
    if match is None:
        raise ValueError(f'{repr_in_message(text)} in a signature is no name such as "q", "p[3]", "e?" or "tau*"')
    return match[1], match[2], match[3]
