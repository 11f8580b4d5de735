"""Checks of motions and their phases when they are made: kinds of all fields, shapes of all arrays.

Numbers that are not finite pass, because failed runs may end with some; files tell them (`files`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._base.checks import label
from ..._base.display import Several
from ..._base.types import repr_in_message, sequence, truth
from ...constraints import Constraint
from ...mechanism import Model
from ...mechanism.loads import check_loads
from ..statement.ground.planes import Plane
from ..statement.ground.terrain import Terrain
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.state.channels import Channel, distinct
from ..statement.state.components import Component
from .program_table import ProgramTable
from .schema import ITERATE, PHASE, Field, all_checked, channel_field, checked, entries_of

PLACES = {"places": 3, "soles": 2}
"""Fields of a phase with numbers for every foothold, and how many."""

ADVANCE = ("step_length", "sideways", "rise", "turn")


def rows_of(contacts: Any) -> int:
    """Number of rows of contacts."""
    return sum(len(contact.rows) for contact in contacts)


def check_phase(phase: Any) -> None:
    """Puts arrays and tuples into a `PhaseMotion`; TypeError or ValueError for fields of another kind or shape."""
    here = f"PhaseMotion {repr_in_message(label(phase.name, 'PhaseMotion name'))}"
    contacts = Several(sequence(phase.contacts, f"{here}: contacts must be a list of contacts"))
    if not all(isinstance(contact, (Constraint, WrenchFoothold)) for contact in contacts):
        raise TypeError(
            f"{here}: contacts must be constraints and compliant or loaded footholds, got "
            f"{repr_in_message(phase.contacts)}"
        )
    _put(phase, "contacts", contacts)
    for key, size in PLACES.items():
        values = _named(getattr(phase, key), f"{here}: {key}")
        found = {
            name: checked(f"{key} of {name}", x, Field(("numbers",)), {"numbers": size}) for name, x in values.items()
        }
        _put(phase, key, found if key == "places" else {name: tuple(x.tolist()) for name, x in found.items()})
    planes = _named(phase.planes, f"{here}: planes")
    if not all(isinstance(plane, Plane) for plane in planes.values()):
        raise TypeError(f"{here}: planes must hold ocp.Planes by names of contacts, got {repr_in_message(planes)}")
    channels = _named(phase.channels, f"{here}: channels")
    own = Field(("rows", "entries"))
    _put(phase, "channels", {name: checked(f"channel {name}", x, own, {}) for name, x in channels.items()})
    if np.ndim(phase.tau_rate) == 0:
        _put(phase, "tau_rate", np.full(np.shape(phase.tau), _real(phase.tau_rate, f"{here}: tau_rate")))
    put_arrays(phase, {"rows": rows_of(contacts)})


def put_arrays(phase: Any, sizes: dict[str, int], where: str = "") -> None:
    """Makes all arrays of a phase arrays of numbers; ValueError for shapes that do not fit each other and the sizes."""
    for key, array in all_checked(vars(phase), PHASE, sizes, where).items():
        _put(phase, key, array)


def check_motion(motion: Any, phase_kind: type) -> None:
    """Puts arrays and tuples into a `Motion`; TypeError or ValueError for fields of another kind or shape."""
    if not isinstance(motion.model, Model):
        raise TypeError(f"the model of a motion must be an od.Model, got {repr_in_message(motion.model)}")
    phases = sequence(motion.phases, "phases of a motion must be a list of PhaseMotion")
    if not phases or not all(isinstance(phase, phase_kind) for phase in phases):
        raise TypeError(f"phases of a motion must be PhaseMotions, at least one, got {repr_in_message(motion.phases)}")
    _put(motion, "phases", tuple(phases))
    for k, phase in enumerate(phases):
        sizes = {"nq": motion.model.nq, "nv": motion.model.nv, "rows": rows_of(phase.contacts)}
        put_arrays(phase, sizes, str(k))
        _put_channels(phase, _channels(motion), sizes, str(k))
    _named(motion.stats, "stats of a motion")
    cost = _named(motion.cost, "cost of a motion").items()
    _put(motion, "cost", {name: _real(value, f"cost of {name}") for name, value in cost})
    for key in ADVANCE:
        _put(motion, key, _real(getattr(motion, key), f"{key} of a motion"))
    truth(motion.mirrored, "mirrored of a motion")
    check_loads(motion.loads)
    for key, kind in (("record", ProgramTable), ("terrain", Terrain)):
        if not isinstance(getattr(motion, key), kind | None):
            raise TypeError(
                f"{key} of a motion must be a {kind.__name__} or None, got {repr_in_message(getattr(motion, key))}"
            )
    _put_impulses(motion)
    _put_iterates(motion)


def _channels(motion: Any) -> tuple[Channel, ...]:
    """The channels of the components of a motion, as a tuple."""
    channels = tuple(sequence(motion.channels, "channels of a motion must be a list of ocp.Channels"))
    if not all(isinstance(channel, Channel) for channel in channels):
        raise TypeError(f"channels of a motion must be ocp.Channels, got {repr_in_message(motion.channels)}")
    _put(motion, "channels", distinct(channels))
    components = tuple(sequence(motion.components, "components of a motion must be a list of ocp.Components"))
    if not all(isinstance(component, Component) for component in components):
        raise TypeError(f"components of a motion must be ocp.Components, got {repr_in_message(motion.components)}")
    _put(motion, "components", components)
    return channels


def _put_channels(phase: Any, channels: tuple[Channel, ...], sizes: dict[str, int], where: str) -> None:
    """Makes the values of all channels of a phase arrays of numbers, whose shapes fit the time grid."""
    named, expected = _named(phase.channels, f"channels of phase {phase.name!r}"), [c.name for c in channels]
    if sorted(named) != sorted(expected):
        raise ValueError(
            f"phase {phase.name!r} has values of the channels {', '.join(named) or 'none'}, and the motion has "
            f"{', '.join(expected) or 'none'}"
        )
    sizes = sizes | {"nodes": len(phase.t), "intervals": len(phase.t) - 1}
    found = {}
    for c in channels:
        found[c.name] = checked(f"channel {c.name}{where}", named[c.name], channel_field(c), sizes | entries_of(c))
    _put(phase, "channels", found)


def _put_impulses(motion: Any) -> None:
    count, impulses = len(motion.phases), []
    given = sequence(motion.impulses, "impulses of a motion must be a list of arrays")
    if len(given) > count:
        raise ValueError(f"it holds {len(given)} impulses, expected at most one for each of {count} phases")
    for k, impulse in enumerate(given):
        impulses.append(checked(f"impulse{k}", impulse, Field(("rows",)), {}))
        rows = rows_of(motion.phases[(k + 1) % count].contacts)
        if impulses[k].size not in (0, rows):
            raise ValueError(f"'impulse{k}' has {impulses[k].size} numbers, expected {rows} or none")
    _put(motion, "impulses", tuple(impulses))


def _put_iterates(motion: Any) -> None:
    for kind in ("iterate", "central"):
        iterate, sizes = _named(getattr(motion, kind), f"{kind} of a motion"), {}
        if not iterate:
            continue
        if iterate.keys() != ITERATE.keys():
            raise ValueError(
                f"the {kind} of a motion consists of {', '.join(iterate)}, expected {', '.join(ITERATE)}: all or none"
            )
        if motion.record is not None:
            sizes = {"entries of x": motion.record.variable.size, "rows of g": motion.record.row.size}
        _put(motion, kind, all_checked(iterate, ITERATE, sizes, f" of the {kind}"))


def _named(values: Any, what: str) -> Mapping[str, Any]:
    """Values by name."""
    if not isinstance(values, Mapping) or not all(isinstance(name, str) for name in values):
        raise TypeError(f"{what} must be a dict by names, got {repr_in_message(values)}")
    return values


def _real(value: Any, what: str) -> float:
    """One number, perhaps not finite."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.ndim:
        raise TypeError(f"{what} must be a number, got {repr_in_message(value)}")
    return float(array)


def _put(made: Any, key: str, value: Any) -> None:
    object.__setattr__(made, key, value)
