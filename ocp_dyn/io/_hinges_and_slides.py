"""Joints as chains of hinges and slides, for formats and libraries that have no others."""

from __future__ import annotations

from .._base.types import ModelError, repr_in_message
from ..joints import Helical, Joint, Prismatic, Revolute

REMEDIES = {
    "Helical": "use Revolute on a massless body and Prismatic on the next, and couple them by "
    "builder.add_mimic(slide, hinge, ratio=pitch)",
    "FunctionJoint": "approximate it by several joints, or write the model as .osim or .json",
    "CustomJoint": "approximate it by several joints",
    "Spherical": 'use Euler("yxz"), a chain of three hinges',
    "FloatingBase": 'use FloatingBase("euler_yxz"), a chain of three slides and three hinges',
}
"""Advice in messages, by the class of a joint."""


def hinges_and_slides(joint: Joint, name: str, what: str) -> tuple[Revolute | Prismatic, ...]:
    """The chain of hinges and slides that moves as a joint does, with the same q and qd; ModelError if there is none.

    what: the format or library that has no other joints, for the message.
    """
    try:
        links = joint.chain()
    except ValueError:
        links = ()
    found = tuple(link for link in links if isinstance(link, (Revolute, Prismatic)))
    if found and len(found) == len(links):
        return found
    kind = "Helical" if any(isinstance(link, Helical) for link in links) else type(joint).__name__
    remedy = REMEDIES.get(kind, "replace it by joints that are such a chain")
    raise ModelError(
        f"joint {repr_in_message(name)}: {what} has no joint that moves as {repr_in_message(joint)} does; {remedy}"
    )
