"""Contacts of a phase as plain data, for the files of solutions: constraints, and compliant footholds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..._types import ModelError
from ...constraints import Constraint
from ...dynamics.compliant import HuntCrossleySphere
from ...io._classes import as_data, from_data
from ...io.constraints import constraint_from_dict, constraint_to_dict, finite
from ...mechanism import Model
from ..statement.footholds import CompliantFoothold
from ..statement.ground.planes import Plane

KIND = CompliantFoothold.__name__

Contact = Constraint | CompliantFoothold


def contact_to_dict(contact: Contact) -> dict[str, Any]:
    """The kind and the fields of a contact, with frames by name; ValueError for a constraint that holds a function."""
    if not isinstance(contact, CompliantFoothold):
        return constraint_to_dict(contact)
    spheres = [
        {f.name: as_data(getattr(sphere, f.name)) for f in fields(sphere) if f.name != "frame"} | {"frame": sphere.name}
        for sphere in contact.spheres
    ]
    plane = [as_data(contact.plane.point), as_data(contact.plane.normal)]
    return {"kind": KIND, "frame": contact.name, "spheres": spheres, "plane": plane}


def contact_from_dict(saved: Any, model: Model, kinds: Mapping[str, Any]) -> Contact:
    """The contact of `contact_to_dict`. Raises ModelError for one that is malformed or does not fit the model.

    kinds: the classes of constraints that it may name, see `ocp_dyn.io.constraints.known_constraints`.
    """
    if not isinstance(saved, Mapping) or saved.get("kind") != KIND:
        return constraint_from_dict(saved, model, kinds)
    if not finite(saved):
        raise ModelError(f"the {KIND} holds numbers that are not finite")
    try:
        spheres = [HuntCrossleySphere(**{key: from_data(x) for key, x in s.items()}) for s in saved["spheres"]]
        foot = CompliantFoothold(saved["frame"], spheres, Plane(*map(from_data, saved["plane"])))
        foot.check(model)
    except Exception as error:  # noqa: BLE001, whatever a constructor says to values of any kind
        raise ModelError(f"the {KIND} cannot be made or does not fit the model: {str(error)[:200]}") from None
    return foot
