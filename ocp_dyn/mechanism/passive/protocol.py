"""Nonlinear passive torques of joints: tissue and stops, as data of a model beside its linear springs.

An element acts on one dof, and its torque depends on coordinates of one or several joints. Elements on one dof add up.
They enter the equation of motion together with springs, damping and friction: with `od.Loads(passive=True)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from casadi import DM

from ..._base.types import Expr, ModelError, names_in_message, repr_in_message, sequence, suggestion
from ...joints import Joint

Angles = Mapping[str, Expr]
"""Coordinates [rad, m] by the names of their dofs; scalar expressions."""

NO_NAMES: Mapping[str, tuple[str, ...]] = {}
"""Joints whose entries have names of their own: none."""


class PassiveElement(ABC):
    """A passive torque on one dof: what every kind of element tells.

    The torque is `torque`, which depends on coordinates alone, and `loss`, which depends on the dof's rate too. `dof`
    and `coordinates` are entries of `model.qd_names`; each must be the rate of one entry of q.
    """

    dof: str

    @property
    @abstractmethod
    def coordinates(self) -> tuple[str, ...]:
        """Names of the dofs on whose coordinates the torque depends."""

    @abstractmethod
    def torque(self, angles: Angles) -> Expr:
        """The torque [N m], or force [N], on the dof."""

    @abstractmethod
    def slopes_at(self, angles: Angles) -> dict[str, Expr]:
        """Derivative of the torque by every one of `coordinates`."""

    def loss(self, angles: Angles, rate: Expr) -> Expr:
        """The part of the torque that vanishes without the rate [rad/s, m/s] of the element's own dof."""
        return DM(1, 1)

    def loss_slopes(self, angles: Angles, rate: Expr) -> tuple[dict[str, Expr], Expr]:
        """Derivatives of `loss` by every one of `coordinates`, and by the rate."""
        return {}, DM(1, 1)

    @abstractmethod
    def potential(self, angles: Angles) -> Expr | None:
        """The energy [J] whose negative slope is the torque; None if it depends on another coordinate than its dof's:
        such a torque has no potential."""

    @abstractmethod
    def times(self, factor: float) -> PassiveElement:
        """The element with its torque times a factor."""

    @abstractmethod
    def renamed(self, name: Callable[[str], str]) -> PassiveElement:
        """The element on the dofs that `name` gives for its own."""

    @abstractmethod
    def folded(self, held: Mapping[str, float]) -> PassiveElement:
        """The element where some of the coordinates, other than its dof's, are held at these positions."""

    @abstractmethod
    def scaled(self, factors: Mapping[str, float]) -> PassiveElement:
        """The element with the same torque where each coordinate is a multiple, by these factors, of what it was."""

    @abstractmethod
    def mirrored(self, image: Mapping[str, tuple[str, float]]) -> PassiveElement:
        """The element on the mirror image of the mechanism: image has the partner of each dof, and the sign (1 or -1)
        of the partner's coordinate."""

    @abstractmethod
    def acting(self, angles: Mapping[str, float]) -> dict[str, float]:
        """Coordinates near these at which the torque is not negligible beside its largest ones in use."""


def entry_names(
    joints: Sequence[str], labels: Sequence[tuple[str, ...]], named: Mapping[str, tuple[str, ...]] = NO_NAMES
) -> tuple[str, ...]:
    """Names of the entries of q or qd: the joint's, with the entry's own label where it has several. named: names
    that a joint's entries have instead."""
    found: list[str] = []
    for joint, own in zip(joints, labels, strict=True):
        found += named.get(joint) or [f"{joint}.{k}" if k else joint for k in own]
    return tuple(found)


def checked_elements(
    elements: Any, names: Sequence[str], joints: Sequence[Joint], named: Mapping[str, tuple[str, ...]] = NO_NAMES
) -> tuple[PassiveElement, ...]:
    """The elements as a tuple; ModelError unless every name in them is a dof whose coordinate is an entry of q.

    names, joints: of the moving bodies' joints.
    """
    found = tuple(sequence(elements, "passive elements must be a list such as [od.OneSidedSpring(...)]"))
    for element in found:
        if not isinstance(element, PassiveElement):
            raise TypeError(
                f"a passive element must be of a kind such as od.OneSidedSpring, got {repr_in_message(element)}"
            )
    element_entries(found, names, joints, named)
    return found


def element_entries(
    elements: Sequence[PassiveElement],
    names: Sequence[str],
    joints: Sequence[Joint],
    named: Mapping[str, tuple[str, ...]] = NO_NAMES,
) -> dict[str, tuple[int, int]]:
    """Indices into q and into qd of every dof that elements name."""
    if not elements:
        return {}
    places: dict[str, tuple[int | None, int]] = {}
    wanted = {name for element in elements for name in (element.dof, *element.coordinates)}
    at_q = at_v = 0
    for name, joint in zip(names, joints, strict=True):
        of_joint = entry_names([name], [joint.qd_labels], named)
        own = joint.coordinates() if wanted & set(of_joint) else (None,) * joint.nv
        for k, (dof, entry) in enumerate(zip(of_joint, own, strict=True)):
            places[dof] = (None if entry is None else at_q + entry, at_v + k)
        at_q, at_v = at_q + joint.nq, at_v + joint.nv
    return {name: _place(name, places, elements) for name in sorted(wanted)}


def _place(
    name: str, places: Mapping[str, tuple[int | None, int]], elements: Sequence[PassiveElement]
) -> tuple[int, int]:
    if name not in places:
        near = suggestion(name, places) or f"; dofs are: {names_in_message(tuple(places))}"
        raise ModelError(f"{_user(name, elements)}: no dof {repr_in_message(name)} in this model{near}")
    at_q, at_v = places[name]
    if at_q is None:
        raise ModelError(
            f"{_user(name, elements)}: {repr_in_message(name)} is no rate of one entry of q, as the angular velocities "
            "of a quaternion are not, so it has no angle; use a joint of axes, such as Euler('yxz')"
        )
    return at_q, at_v


def _user(name: str, elements: Iterable[PassiveElement]) -> str:
    """The first element that names this dof, for messages."""
    found = next(element for element in elements if name in (element.dof, *element.coordinates))
    return f"passive element {type(found).__name__} on {repr_in_message(found.dof)}"


def without_joints(
    elements: Iterable[PassiveElement], gone: Mapping[str, float]
) -> tuple[tuple[PassiveElement, ...], list[str]]:
    """The elements of a mechanism whose dofs `gone` are held at these positions, and the names of those of the held
    coordinates that other elements depend on."""
    kept = [element for element in elements if element.dof not in gone]
    used = sorted({name for element in kept for name in element.coordinates if name in gone})
    return tuple(element.folded(gone) for element in kept), used
