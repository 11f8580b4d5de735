"""Contacts, planes, terrain and channels of a motion as plain data, for files; the components of a motion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..._base.types import Array, ModelError, names_in_message, repr_in_message, sequence
from ...constraints import Constraint
from ...dynamics.compliant import HuntCrossleySphere
from ...io.constraints import constraint_from_dict, constraint_to_dict, finite
from ...io.json import model_outline, model_to_dict
from ...io.plain_classes import as_data, from_data
from ...mechanism import Model
from ..statement.ground.planes import Plane
from ..statement.ground.room import Patch
from ..statement.ground.terrain import HeightTable, Terrain
from ..statement.ground.wrench_footholds import CompliantFoothold, LoadedFoothold, WrenchFoothold
from ..statement.phases import TERMS
from ..statement.state.channels import Channel, channel_of_dict
from ..statement.state.components import Component
from . import schema
from .motion import Motion

KIND, LOADED = CompliantFoothold.__name__, LoadedFoothold.__name__

Contact = Constraint | WrenchFoothold


def contact_to_dict(contact: Contact) -> dict[str, Any]:
    """The kind and the fields of a contact, with frames by name; ValueError for a constraint that holds a function."""
    if isinstance(contact, LoadedFoothold):
        return {"kind": LOADED, "frame": contact.name}
    if not isinstance(contact, CompliantFoothold):
        assert isinstance(contact, Constraint)
        return constraint_to_dict(contact)
    spheres = [
        {f.name: as_data(getattr(sphere, f.name)) for f in fields(sphere) if f.name != "frame"} | {"frame": sphere.name}
        for sphere in contact.spheres
    ]
    plane = [as_data(contact.plane.point), as_data(contact.plane.normal)]
    return {"kind": KIND, "frame": contact.name, "spheres": spheres, "plane": plane}


UNSAVED = "unsaved"
"""Kind of a contact that a file cannot hold: its names are there, and the problem has the contact."""


def saved_contact(contact: Contact) -> dict[str, Any]:
    """The contact as `contact_to_dict` gives it; one that a file cannot hold by its name and rows, with the reason."""
    try:
        return contact_to_dict(contact)
    except ValueError as error:
        return {"kind": UNSAVED, "name": contact.name, "rows": list(contact.rows), "why": str(error)}


def saved_model(model: Model) -> tuple[dict[str, Any], str]:
    """The model as JSON holds it, and ""; or what it can hold of it, and the reason why not all."""
    try:
        return model_to_dict(model), ""
    except ModelError as error:
        return model_outline(model), str(error)


def unsaved(model: Model, contacts: Iterable[Contact]) -> list[str]:
    """Sentences on what a file of a motion cannot hold: parts of the model, constraints."""
    told = [why] if (why := saved_model(model)[1]) else []
    return list(dict.fromkeys([*told, *(saved["why"] for c in contacts if "why" in (saved := saved_contact(c)))]))


def contact_from_dict(saved: Any, model: Model, kinds: Mapping[str, Any]) -> Contact:
    """The contact of `contact_to_dict`. Raises ModelError for one that is malformed or does not fit the model.

    kinds: the classes of constraints that it may name, see `ocp_dyn.io.constraints.known_constraints`.
    """
    kind = saved.get("kind") if isinstance(saved, Mapping) else None
    if kind not in (KIND, LOADED):
        return constraint_from_dict(saved, model, kinds)
    if not finite(saved):
        raise ModelError(f"the {kind} holds numbers that are not finite")
    try:
        if kind == LOADED:
            loaded = LoadedFoothold(saved["frame"])
            loaded.check(model)
            return loaded
        spheres = [HuntCrossleySphere(**{key: from_data(x) for key, x in s.items()}) for s in saved["spheres"]]
        foot = CompliantFoothold(saved["frame"], spheres, Plane(*map(from_data, saved["plane"])))
        foot.check(model)
    except Exception as error:  # noqa: BLE001, whatever a constructor says to values of any kind
        raise ModelError(f"the {kind} cannot be made or does not fit the model: {str(error)[:200]}") from None
    return foot


MARGIN = 2.0
"""Distance around a motion up to which a file keeps a ground that is a function [m]."""


def plane_to_list(plane: Plane) -> list[Any]:
    """Point and normal of a plane; of a patch also its length, width and name."""
    more = [plane.length, plane.width, plane.name] if isinstance(plane, Patch) else []
    return [list(plane.point), list(plane.normal), *more]


def plane_from_list(saved: Any) -> Plane:
    """The plane or patch of `plane_to_list`; ValueError if it is malformed."""
    try:
        if not isinstance(saved, list) or len(saved) not in (2, 5):
            raise ValueError(f"a point and a normal of a plane are expected, got {repr_in_message(saved)}")
        point, normal = (schema.numbers(part, 3) for part in saved[:2])
        if len(saved) == 2:
            return Plane((point[0], point[1], point[2]), normal)
        length, width = schema.numbers(saved[2:4], 2)
        return Patch((point[0], point[1], point[2]), normal, length=length, width=width, name=saved[4])
    except TypeError as error:
        raise ValueError(str(error)) from None


def terrain_to_dict(terrain: Terrain | None, near: Array) -> dict[str, Any] | None:
    """Patches, ground and smoothing of a terrain; a ground that is a function as a table of heights.

    near (n, 2) [m]: horizontal positions of the motion, around which the table is made.
    """
    if terrain is None:
        return None
    ground: Any = terrain.ground
    if callable(ground):
        base = Terrain(ground=ground)
        table = ground if isinstance(ground, HeightTable) else HeightTable.of(
            base.height, near.min(axis=0) - MARGIN, near.max(axis=0) + MARGIN
        )  # fmt: skip
        ground = {"x": table.x.tolist(), "y": table.y.tolist(), "z": table.z.tolist()}
    return {
        "patches": [plane_to_list(patch) for patch in terrain.patches],
        "ground": ground,
        "smoothing": terrain.smoothing,
    }


def terrain_from_dict(saved: Any) -> Terrain | None:
    """The terrain of `terrain_to_dict`; ValueError if it is malformed."""
    if saved is None:
        return None
    if not isinstance(saved, Mapping) or not {"patches", "ground", "smoothing"} <= saved.keys():
        raise ValueError(f"a terrain of 'patches', 'ground' and 'smoothing' is expected, got {repr_in_message(saved)}")
    planes = [plane_from_list(patch) for patch in saved["patches"]] if isinstance(saved["patches"], list) else [None]
    patches = [plane for plane in planes if isinstance(plane, Patch)]
    if len(patches) < len(planes):
        raise ValueError(f"a list of patches is expected, got {repr_in_message(saved['patches'])}")
    ground = saved["ground"]
    if isinstance(ground, Mapping):
        x, y, z = (np.array(ground.get(key, ()), dtype=float) for key in "xyz")
        grid = min(x.size, y.size) > 1 and z.shape == (x.size, y.size)
        if not grid or np.any(np.diff(x) <= 0) or np.any(np.diff(y) <= 0):
            raise ValueError("the table of the ground's heights must have ascending x and y, and a z for each pair")
        ground = HeightTable(x, y, z)
    try:
        return Terrain(patches, ground, saved["smoothing"])
    except TypeError as error:
        raise ValueError(str(error)) from None


CHANNEL = "channel"
"""First letters of the names of arrays with values of channels."""


def array_name(j: int, k: int) -> str:
    """Name of the array of channel j in phase k."""
    return f"{CHANNEL}{j}_{k}"


def channels_of(saved: Any) -> tuple[Channel, ...]:
    """The channels of a file; ValueError for other data."""
    if not isinstance(saved, list):
        raise schema.wrong("a list of channels", saved)
    return tuple(channel_of_dict(schema.mapping(channel)) for channel in saved)


def components_of(components: Any, motion: Motion) -> tuple[Component, ...]:
    """The components of a motion that was read, if they declare its channels; none are given in most calls."""
    listed = tuple(sequence(components, "components must be a list of ocp.Components"))
    if not all(isinstance(component, (Component, *TERMS)) for component in listed):
        raise TypeError(f"components must be ocp.Components, those of the problem, got {repr_in_message(components)}")
    given = tuple(component for component in listed if isinstance(component, Component))
    declared = [channel for component in given for channel in component.channels(motion.model)]
    remedy = "give the components of its problem"
    if given and [c.name for c in declared] != [c.name for c in motion.channels]:
        raise ValueError(
            f"components declare the channels {', '.join(c.name for c in declared)}, and the file has "
            f"{', '.join(c.name for c in motion.channels) or 'none'}: {remedy}"
        )
    for one, saved in zip(declared, motion.channels, strict=True) if given else ():
        if (one.kind, one.at_nodes, one.labels) != (saved.kind, saved.at_nodes, saved.labels):
            raise ValueError(
                f"components declare the channel {one.name!r} as {_described(one)}, and the file has {saved.name!r} as "
                f"{_described(saved)}: {remedy}"
            )
    return given


def _described(channel: Channel) -> str:
    rate = {True: " with a rate", False: " without a rate"}[channel.at_nodes] if channel.kind == "control" else ""
    entries = f"the labels {names_in_message(channel.labels)}" if any(channel.labels) else "no label"
    return f"{channel.kind}{rate} of size {channel.size} with {entries}"
