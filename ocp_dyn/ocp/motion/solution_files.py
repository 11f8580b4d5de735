"""Files of solutions: one .npz with everything, the model included.

A file holds arrays, and the text "about", a JSON object with the model, the phases' names and contacts, and the plain
data listed in `schema`. Saving and reading check both by the schema: shapes fit the model and the time grid, numbers
are finite, times ascend. Arrays and entries that broke these rules when they were saved, as those of failed runs may,
are listed in "irregular"; they are read unchanged. The text "digests" holds a SHA-256 of each part: a file that lacks a
part, or has another content, is not read as the solution that was saved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..._base.checks import warn_user
from ..._base.files import file_to_read, path_of, whole_file
from ..._base.types import Array, ModelError, ModelWarning, repr_in_message, truth
from ...constraints import Constraint
from ...integrators import Scheme
from ...io.constraints import known_constraints
from ...io.json import known_joints, model_from_dict
from ...io.npz import read_arrays
from ...io.plain_classes import UnknownClass
from ...mechanism import Model
from ...mechanism.loads import Loads
from ..statement.ground.wrench_footholds import WrenchFoothold
from ..statement.state.channels import Channel
from ..statement.statement import Statement
from . import digests, schema
from .motion import Motion, PhaseMotion
from .plain_data import (
    CHANNEL,
    UNSAVED,
    array_name,
    channels_of,
    components_of,
    contact_from_dict,
    plane_from_list,
    plane_to_list,
    saved_contact,
    saved_model,
    terrain_from_dict,
    terrain_to_dict,
    unsaved,
)
from .program_table import FIELDS, ProgramTable
from .schema import ENTRIES, LOADS, EntryRules, wrong

M = TypeVar("M", bound=Motion)

FILE_FORMAT = "ocp_dyn solution 3"
WITH_CHANNELS = "ocp_dyn solution 4"
"""The format of motions with channels of components, which earlier versions cannot read."""

WITH_GAPS = "ocp_dyn solution 5"
"""The format of motions of a model, or under constraints, that a file cannot hold: the problem has them."""

WITHOUT_DIGESTS = "ocp_dyn solution 2"
"""The format of development versions before: the same entries, but no digests."""

FIRST_FORMAT = "ocp_dyn solution 1"
LATER_FORMAT = r"ocp_dyn solution [0-9]{1,6}"

ITERATES = ("iterate", "central")
PHASE_ENTRIES = ("name", "contacts", "places", "planes", "soles")


def save_motion(solution: Motion, path: str | Path) -> Path:
    """Writes everything to one .npz file, which appears complete or not at all; the folder is made if it is missing. A
    ModelWarning tells what a file cannot hold.

    ValueError if an array has another shape than the model, or a figure is missing: the file could not be read.
    """
    path = path_of(path)
    arrays = _arrays(solution)
    about = _about(solution)
    for key, entry in ENTRIES.items():
        _check(key, about[key], entry)
    _check_transitions(solution)
    irregular = [name for name, value in arrays.items() if schema.fault(value, _field(name))]
    irregular += [key for key in _plain_entries() if not schema.bounded(about[key])]
    text = json.dumps(about | {"irregular": irregular})
    found = digests.digests(json.loads(text, parse_int=_integer), arrays)
    if about.get("gaps"):
        reasons = "; ".join(about["gaps"])
        warn_user(
            f"{path} holds all numbers of the motion, but not all of its problem: {reasons}. Read it by "
            "Solution.load(path, problem=problem)",
            ModelWarning,
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial, partial.open("wb") as file:
        members = {"about": np.array(text), digests.MEMBER: np.array(digests.as_text(found)), **arrays}
        np.savez_compressed(file, **members)  # type: ignore[arg-type]
    return path


def _plain_entries() -> tuple[str, ...]:
    """Entries whose numbers must be finite."""
    return ("phases", *(key for key, entry in (ENTRIES | LOADS).items() if entry.finite))


def _arrays(solution: Motion) -> dict[str, Array]:
    """All arrays of a motion by name, checked by the schema."""
    solution = replace(solution)  # checks it again: arrays may have been changed since it was made
    arrays = {f"impulse{k}": impulse for k, impulse in enumerate(solution.impulses)}
    for kind in ITERATES:
        arrays |= {f"{kind}_{key}": value for key, value in getattr(solution, kind).items()}
    for k, phase in enumerate(solution.phases):
        arrays |= {f"{key}{k}": getattr(phase, key) for key in schema.PHASE}
        arrays |= {array_name(j, k): phase[c.name] for j, c in enumerate(solution.channels)}
    if solution.record is not None:
        arrays |= {f"record_{key}": value for key, value in solution.record.arrays().items()}
    return arrays


def _field(name: str) -> schema.Field:
    """The rules of an array of a file."""
    if name.startswith("impulse"):
        return IMPULSE
    if name.startswith(CHANNEL):
        return schema.Field(("rows", "entries"))
    head, _, key = name.partition("_")
    if head == "record":
        return FIELDS[key]
    return schema.ITERATE[key] if head in ITERATES else schema.PHASE[name.rstrip("0123456789")]


IMPULSE = schema.Field(("rows",))


def _about(solution: Motion) -> dict[str, Any]:
    """The plain data of a motion."""
    phases = [
        {
            "name": phase.name,
            "contacts": [saved_contact(c) for c in phase.contacts],
            "places": {name: [float(x) for x in place] for name, place in phase.places.items()},
            "planes": {name: plane_to_list(plane) for name, plane in phase.planes.items()},
            "soles": {name: [float(x) for x in half] for name, half in phase.soles.items()},
        }
        for phase in solution.phases
    ]
    model, _ = saved_model(solution.model)
    gaps = unsaved(solution.model, (c for phase in solution.phases for c in phase.contacts))
    written = WITH_GAPS if gaps else WITH_CHANNELS if solution.channels else FILE_FORMAT
    about: dict[str, Any] = {"format": written, "model": model, "phases": phases}
    about |= {"gaps": gaps} if gaps else {}
    about |= {"channels": [channel.to_dict() for channel in solution.channels]} if solution.channels else {}
    about |= {key: getattr(solution, key) for key in ENTRIES}
    about |= {key: getattr(solution.loads, key) for key in LOADS}
    if solution.terrain is not None:
        about["terrain"] = terrain_to_dict(solution.terrain, np.vstack([phase.q[:, :2] for phase in solution.phases]))
    if isinstance(integrator := solution.stats.get("integrator"), Scheme):
        about["stats"] = solution.stats | {"integrator": integrator.to_dict()}
    if solution.record is not None:
        about["record"] = solution.record.names()
    return dict(json.loads(json.dumps(about)))  # tuples become lists, as in a file


def load_motion(
    path: str | Path,
    kind: type[M],
    *,
    joints: Any = (),
    constraints: Any = (),
    components: Any = (),
    verify: bool = True,
    problem: Any = None,
) -> M:
    """Reads a file that `save_motion` wrote; returns an object of the class `kind`, a `Motion`.

    joints, constraints: classes of the user's own joints and constraints in the file; a file never imports code.
    components: those of the problem, whose channels are in the file. problem: a Statement, which has them all.
    verify: False reads files that another program has written or changed, if they fit the schema.
    Raises ModelError, a ValueError, for another kind of file, a damaged file, or a class missing in `joints` or
    `constraints`: the message names the file, the fault and the remedy. OSError if the file cannot be read.
    """
    known_joints(joints), known_constraints(constraints)  # first, so that their errors do not blame the file
    path, verify = file_to_read(path), truth(verify, "verify")
    changes = ""
    try:
        content = _Content.of(read_arrays(path), verify)
        changes = content.changes()
        motion = _motion(content, kind, joints, constraints, problem)
        _check_transitions(motion)
    except (UnknownClass, _OtherFormat) as error:
        raise ModelError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:  # RecursionError: JSON nested too deeply
        raise _damaged(path, str(error), changes) from error
    if changes:
        raise _damaged(path, changes)
    try:
        own = components if problem is None else problem.parts.components
        return replace(motion, components=components_of(own, motion))
    except ValueError as error:  # the file is as it should be
        raise ModelError(f"{path}: {error}") from None


def _damaged(path: Path, *reasons: str) -> ModelError:
    why = "; ".join(filter(None, reasons))
    return ModelError(
        f"{path} is not a solution file, or it is damaged: {why}; save the solution again with Solution.save"
    )


class _OtherFormat(ValueError):
    """An error for a file of another version, which is not damaged."""


class _Content(NamedTuple):
    """Content of a file. irregular: names of the arrays and entries that may break the rules of their numbers; digests:
    their text, None if they are not looked at."""

    about: dict[str, Any]
    arrays: dict[str, Array]
    irregular: frozenset[str]
    digests: str | None

    @staticmethod
    def of(arrays: dict[str, Array], verify: bool) -> _Content:
        about = json.loads(_text(arrays, "about"), parse_int=_integer)
        written = about.get("format") if isinstance(about, dict) else None
        _check_format(written, verify)
        kept = _text(arrays, digests.MEMBER) if verify else None
        arrays.pop(digests.MEMBER, None)
        listed = "not_finite" if written == WITHOUT_DIGESTS else "irregular"
        if listed not in about:
            raise ValueError(f"the entry {listed!r} is missing")
        return _Content(about, arrays, frozenset(schema.texts(about[listed])), kept)

    def changes(self) -> str:
        """A sentence on the changes since the file was written; "" without any, or if nobody looks."""
        return "" if self.digests is None else digests.changes(self.digests, self.about, self.arrays)

    def entry(self, key: str) -> Any:
        if key not in self.about:
            raise ValueError(f"the entry {key!r} is missing")
        return self.about[key]

    def array(self, name: str, field: schema.Field, sizes: dict[str, int]) -> Array:
        """An array that keeps to its field; ValueError if it does not."""
        if name not in self.arrays:
            raise ValueError(f"the array {name!r} is missing")
        values = schema.checked(name, self.arrays[name], field, sizes)
        if name not in self.irregular and (fault := schema.fault(values, field)):
            raise ValueError(f"{name!r} holds {fault}")
        return values

    def check_bounded(self, key: str) -> None:
        if key not in self.irregular and not schema.bounded(self.entry(key)):
            raise ValueError(f"{key!r} holds {schema.RULES['finite'][1]}")


def _text(arrays: dict[str, Array], name: str) -> str:
    """A text of the file, taken out of its arrays."""
    found = arrays.pop(name, np.zeros(0))
    if found.dtype.kind != "U" or found.shape:
        raise ValueError(f"the text {name!r}, which every solution file holds, is missing")
    return str(found)


def _check_format(written: Any, verify: bool) -> None:
    """ValueError for a format that this version does not read."""
    if written in (FILE_FORMAT, WITH_CHANNELS, WITH_GAPS) or (written == WITHOUT_DIGESTS and not verify):
        return
    if written == WITHOUT_DIGESTS:
        raise _OtherFormat(
            f"a development version of ocp_dyn before 0.2 wrote this file in the format {written!r}, which does not "
            "tell whether it is whole: give verify=False to read it as it is, and save it again"
        )
    if written == FIRST_FORMAT:
        raise _OtherFormat(
            f"ocp_dyn 0.1.0 wrote this file in the format {written!r}; this version reads {FILE_FORMAT!r}: solve the "
            "problem again, or read the file with ocp_dyn 0.1.0"
        )
    if isinstance(written, str) and re.fullmatch(LATER_FORMAT, written):
        raise _OtherFormat(
            f"a later version of ocp_dyn wrote this file in the format {written!r}; this version reads "
            f"{FILE_FORMAT!r}: update ocp_dyn"
        )
    raise ValueError(f"its format is {repr_in_message(written)}, expected {FILE_FORMAT!r}")


def _motion(content: _Content, kind: type[M], joints: Any, constraints: Any, problem: Any) -> M:
    saved = content.entry("phases")
    if not isinstance(saved, list) or not saved:
        raise wrong("a list of phases", saved)
    content.check_bounded("phases")
    if content.entry("format") == WITH_GAPS:
        saved, model = _completed(content, saved, problem)
    else:
        model = model_from_dict(content.entry("model"), joints=joints)
    kinds = known_constraints(constraints)
    channels = channels_of(content.entry("channels")) if "channels" in content.about else ()
    phases = tuple(_phase(content, model, kinds, channels, k, phase) for k, phase in enumerate(saved))
    record = _record(content)
    return kind(
        model=model,
        phases=phases,
        impulses=_impulses(content),
        iterate=_iterate(content, "iterate"),
        central=_iterate(content, "central"),
        record=record,
        channels=channels,
        terrain=terrain_from_dict(content.about.get("terrain")),
        loads=Loads(**{key: _plain(content, key, entry) for key, entry in LOADS.items()}),
        **{key: _plain(content, key, entry) for key, entry in ENTRIES.items()},
    )


def _completed(content: _Content, saved: list[Any], problem: Any) -> tuple[list[Any], Model]:
    """The phases with the contacts that the file could not hold, and the model, both of the problem."""
    gaps = "; ".join(schema.texts(content.entry("gaps")))
    if not isinstance(problem, Statement):
        raise _OtherFormat(
            f"the file holds all numbers, but not all of the problem: {gaps}. Give Solution.load(path, "
            "problem=problem) the problem that was solved; numpy.load(path) reads the arrays alone"
        )
    outline = schema.mapping(content.entry("model"))
    found = {key: getattr(problem.model, key) for key in ("q_names", "qd_names")}
    told = outline if "q_names" in outline else vars(model_from_dict(outline))
    if any(list(told[key]) != list(names) for key, names in found.items() if key in told):
        raise _OtherFormat(f"problem has the model {problem.model!r}, with other joints than that of the file")
    known = {held.contact.name: held.contact for phase in problem.phases for held in phase.held}
    known |= {held.contact.name: held.contact for held in problem.coordinates.held}
    return [_whole_phase(phase, known) for phase in saved], problem.model


def _whole_phase(saved: Any, known: Mapping[str, Any]) -> Any:
    """A phase of the file, with contacts of the problem in place of those that the file could not hold."""
    phase, contacts = schema.mapping(saved), []
    for contact in phase.get("contacts", []):
        name = contact.get("name") if contact.get("kind") == UNSAVED else None
        if name is not None and name not in known:
            raise _OtherFormat(f"the problem has no constraint {name!r}, which the file names")
        contacts.append(contact if name is None else known[name])
    return {**phase, "contacts": contacts}


def _phase(
    content: _Content, model: Model, kinds: Mapping[str, Any], channels: Sequence[Channel], k: int, saved: Any
) -> PhaseMotion:
    where = f"phases[{k}]"
    if not isinstance(saved, dict) or saved.keys() != set(PHASE_ENTRIES):
        raise wrong(f"an object with {', '.join(map(repr, PHASE_ENTRIES))} as {where}", saved)
    if not isinstance(saved["name"], str) or not isinstance(saved["contacts"], list):
        raise wrong(f"a text as 'name' of {where} and a list as its 'contacts'", saved)
    contacts = tuple(
        c if isinstance(c, (Constraint, WrenchFoothold)) else contact_from_dict(c, model, kinds)
        for c in saved["contacts"]
    )
    places = {name: np.array(schema.numbers(place, 3)) for name, place in schema.mapping(saved["places"]).items()}
    planes = {name: plane_from_list(plane) for name, plane in schema.mapping(saved["planes"]).items()}
    soles = {name: _sole(half) for name, half in schema.mapping(saved["soles"]).items()}
    sizes = {"nq": model.nq, "nv": model.nv, "rows": sum(len(c.rows) for c in contacts)}
    arrays: dict[str, Any] = {key: content.array(f"{key}{k}", field, sizes) for key, field in schema.PHASE.items()}
    values = {
        c.name: content.array(array_name(j, k), schema.channel_field(c), sizes | schema.entries_of(c))
        for j, c in enumerate(channels)
    }
    shapes: dict[str, Any] = {"places": places, "planes": planes, "soles": soles, "channels": values}
    return PhaseMotion(name=saved["name"], contacts=contacts, **shapes, **arrays)


def _sole(saved: Any) -> tuple[float, float]:
    """Half length and half width of a foothold."""
    length, width = schema.numbers(saved, 2)
    if length < 0 or width < 0:
        raise wrong("half length and half width of a sole, which are not negative,", saved)
    return length, width


def _impulses(content: _Content) -> tuple[Array, ...]:
    """Impulses of every transition, as many as the file has; `Motion` checks their sizes."""
    count = sum(name.startswith("impulse") for name in content.arrays)
    return tuple(content.array(f"impulse{k}", IMPULSE, {}) for k in range(count))


def _check_transitions(motion: Motion) -> None:
    """ValueError unless there is an impulse for every transition, with numbers for every impact."""
    names, given = motion.stats.get("transitions", []), len(motion.impulses)
    if names and given != len(names):
        which = f"'impulse{given}' is missing" if given < len(names) else f"'impulse{given - 1}' is too much"
        raise ValueError(f"{which}: it holds {given} impulses for {len(names)} transitions")
    for k, (name, impulse) in enumerate(zip(names, motion.impulses, strict=False)):
        rows = sum(len(c.rows) for c in motion.phases[(k + 1) % len(motion.phases)].contacts)
        if name == "Impact" and impulse.size != rows:
            raise ValueError(f"'impulse{k}' has {impulse.size} numbers, expected {rows}, those of an impact")


def _record(content: _Content) -> ProgramTable | None:
    if "record" not in content.about:
        return None
    names = {key: tuple(schema.texts(value)) for key, value in schema.mapping(content.about["record"]).items()}
    arrays = _prefixed(content.arrays, "record_")
    record = ProgramTable.of_file(names, arrays)
    for key in arrays:
        content.array(f"record_{key}", FIELDS[key], {})
    return record


def _iterate(content: _Content, kind: str) -> dict[str, Array]:
    """One of the ITERATES, variables and multipliers."""
    if not _prefixed(content.arrays, f"{kind}_"):
        return {}
    sizes: dict[str, int] = {}
    return {key: content.array(f"{kind}_{key}", field, sizes) for key, field in schema.ITERATE.items()}


def _prefixed(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {key.removeprefix(prefix): x for key, x in arrays.items() if key.startswith(prefix)}


# Plain data


def _plain(content: _Content, key: str, entry: EntryRules) -> Any:
    value = content.entry(key)
    if entry.finite:
        content.check_bounded(key)
    return _check(key, value, entry)


def _check(key: str, value: Any, entry: EntryRules) -> Any:
    """The value of an entry; the error for a malformed one names it."""
    try:
        return entry.check(value)
    except ValueError as error:
        raise ValueError(f"{key!r}: {error}") from None


def _integer(text: str) -> int | float:
    """An integer of JSON; beyond 64 bits it becomes a floating-point number, as in other languages."""
    return int(text) if len(text) < 19 else float(text)
