"""Files of solutions: one .npz with everything, the model included.

A file holds arrays, and the text "about", a JSON object with the model, the phases' names and contacts, and the plain
data listed in `ENTRIES` and `LOADS`. Reading checks that the shapes of the arrays fit the model and the time grid, and
that numbers are finite. Arrays and entries that were not finite when they were saved are listed in "not_finite"; they
are read unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..._files import path_of, whole_file
from ..._types import Array, ModelError, is_one_of, shown
from ...integrators import Scheme
from ...io._classes import UnknownClass
from ...io.constraints import finite, known_constraints
from ...io.json import known_joints, model_from_dict, model_to_dict
from ...io.npz import read_arrays
from ...mechanism import Model
from ...mechanism.loads import SLIP_SPEED, Loads
from .contacts import contact_from_dict, contact_to_dict
from .earlier_files import FORMAT_1, from_format_1
from .grounds import plane_from_list, plane_to_list, terrain_from_dict, terrain_to_dict
from .motion import Motion, PhaseMotion
from .program_table import ProgramTable

M = TypeVar("M", bound=Motion)

FILE_FORMAT = "ocp_dyn solution 2"
FORMATS = (FILE_FORMAT, FORMAT_1)
"""Formats that `load_motion` reads; `save_motion` writes the first."""

READABLE = " or ".join(map(repr, FORMATS))
LATER_FORMAT = r"ocp_dyn solution [0-9]{1,6}"

PHASE_ARRAYS = ("t", "q", "qd", "qdd", "tau", "lam", "tau_rate")
ITERATES = ("iterate", "central")
ITERATE_ARRAYS = ("x", "lam_x", "lam_g")


class Entry(NamedTuple):
    """Rules for reading a field of plain data, such as the cost by term.

    check: returns the field's value for an entry of the file, or raises ValueError. finite: whether its numbers must be
    finite. before: the field's value for files written before the field existed (`...`: every file must have it).
    """

    check: Callable[[Any], Any]
    finite: bool = True
    before: Any = ...


def save_motion(solution: Motion, path: str | Path) -> Path:
    """Writes everything to one .npz file, which appears complete or not at all; the folder is made if it is missing."""
    path = path_of(path)
    arrays: dict[str, Array] = {f"impulse{k}": impulse for k, impulse in enumerate(solution.impulses)}
    for kind in ITERATES:
        arrays |= {f"{kind}_{key}": value for key, value in getattr(solution, kind).items()}
    phases = []
    for k, phase in enumerate(solution.phases):
        arrays |= {f"{key}{k}": getattr(phase, key) for key in PHASE_ARRAYS}
        phases.append(
            {
                "name": phase.name,
                "contacts": [contact_to_dict(c) for c in phase.contacts],
                "places": {name: [float(x) for x in place] for name, place in phase.places.items()},
                "planes": {name: plane_to_list(plane) for name, plane in phase.planes.items()},
                "soles": {name: [float(x) for x in half] for name, half in phase.soles.items()},
            }
        )
    about: dict[str, Any] = {"format": FILE_FORMAT, "model": model_to_dict(solution.model), "phases": phases}
    about |= {key: getattr(solution, key) for key in ENTRIES}
    about |= {key: getattr(solution.loads, key) for key in LOADS}
    if solution.terrain is not None:
        about["terrain"] = terrain_to_dict(solution.terrain, np.vstack([phase.q[:, :2] for phase in solution.phases]))
    if isinstance(integrator := solution.stats.get("integrator"), Scheme):
        about["stats"] = solution.stats | {"integrator": integrator.to_dict()}
    if solution.record is not None:
        arrays |= {f"record_{key}": value for key, value in solution.record.arrays().items()}
        about["record"] = solution.record.names()
    about["not_finite"] = [name for name, value in arrays.items() if not np.all(np.isfinite(value))]
    about["not_finite"] += [key for key in ("phases", *ENTRIES, *LOADS) if not finite(about[key])]
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as partial, partial.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    return path


def load_motion(path: str | Path, kind: type[M], *, joints: Any = (), constraints: Any = ()) -> M:
    """Reads a file that `save_motion` wrote; returns an object of the class `kind`, a `Motion`.

    joints, constraints: classes of the user's own joints and constraints in the file; a file never imports code.
    Raises ModelError, a ValueError, for another kind of file, a damaged file, or a class missing in `joints` or
    `constraints`: the message names the file, the fault and the remedy. OSError if the file cannot be read.
    """
    known_joints(joints), known_constraints(constraints)  # first, so that their errors do not blame the file
    path = path_of(path)
    try:
        return _motion(_Content.of(read_arrays(path)), kind, joints, constraints)
    except (UnknownClass, _LaterFormat) as error:
        raise ModelError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:  # RecursionError: JSON nested too deeply
        raise ModelError(
            f"{path} is not a solution file, or it is damaged: {error}; save the solution again with Solution.save"
        ) from error


class _LaterFormat(ValueError):
    """An error for a file of a later version, which is not damaged."""


class _Content(NamedTuple):
    """Content of a file. not_finite: names of the arrays and entries that may hold numbers that are not finite; None:
    all."""

    about: dict[str, Any]
    arrays: dict[str, Array]
    not_finite: frozenset[str] | None

    @staticmethod
    def of(arrays: dict[str, Array]) -> _Content:
        text = arrays.pop("about", np.zeros(0))
        if text.dtype.kind != "U" or text.shape:
            raise ValueError("the text 'about', which every solution file holds, is missing")
        about = json.loads(str(text), parse_int=_integer)
        written = about.get("format") if isinstance(about, dict) else None
        if not is_one_of(written, FORMATS):
            if isinstance(written, str) and re.fullmatch(LATER_FORMAT, written):
                raise _LaterFormat(
                    f"a later version of ocp_dyn wrote this file in the format {written!r}; this version reads "
                    f"{READABLE}: update ocp_dyn"
                )
            raise ValueError(f"its format is {shown(written)}, expected {READABLE}")
        if about["format"] == FORMAT_1:
            about, arrays = from_format_1(about, arrays)
        if "not_finite" in about:
            not_finite: frozenset[str] | None = frozenset(_texts(about["not_finite"]))
        else:  # a file older than this entry: solutions that converged are finite
            stats = about.get("stats")
            converged = isinstance(stats, dict) and stats.get("converged") is True
            not_finite = frozenset() if converged else None
        return _Content(about, arrays, not_finite)

    def entry(self, key: str) -> Any:
        if key not in self.about:
            raise ValueError(f"the entry {key!r} is missing")
        return self.about[key]

    def array(self, name: str, shape: tuple[int | None, ...]) -> Array:
        """An array of real numbers of this shape, where None stands for any size."""
        if name not in self.arrays:
            raise ValueError(f"the array {name!r} is missing")
        array = self.arrays[name]
        if array.dtype.kind not in "fiu":
            raise ValueError(f"{name!r} holds {array.dtype}, expected real numbers")
        if len(array.shape) != len(shape) or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
            raise ValueError(f"{name!r} has the shape {array.shape}, expected {_shape(shape)}")
        values = array.astype(float)
        self.check_finite(name, bool(np.all(np.isfinite(values))))
        return values

    def check_finite(self, name: str, is_finite: bool) -> None:
        if not is_finite and self.not_finite is not None and name not in self.not_finite:
            raise ValueError(f"{name!r} holds numbers that are not finite")


def _motion(content: _Content, kind: type[M], joints: Any, constraints: Any) -> M:
    saved = content.entry("phases")
    if not isinstance(saved, list) or not saved:
        raise _wrong("a list of phases", saved)
    content.check_finite("phases", finite(saved))
    model = model_from_dict(content.entry("model"), joints=joints)
    kinds = known_constraints(constraints)
    phases = tuple(_phase(content, model, kinds, k, phase) for k, phase in enumerate(saved))
    record = _record(content)
    return kind(
        model=model,
        phases=phases,
        impulses=_impulses(content, phases),
        iterate=_iterate(content, record, "iterate"),
        central=_iterate(content, record, "central"),
        record=record,
        terrain=terrain_from_dict(content.about.get("terrain")),
        loads=Loads(**{key: _plain(content, key, entry) for key, entry in LOADS.items()}),
        **{key: _plain(content, key, entry) for key, entry in ENTRIES.items()},
    )


def _phase(content: _Content, model: Model, kinds: Mapping[str, Any], k: int, saved: Any) -> PhaseMotion:
    where = f"phases[{k}]"
    if not isinstance(saved, dict) or not {"name", "contacts", "places"} <= saved.keys():
        raise _wrong(f"an object with 'name', 'contacts' and 'places' as {where}", saved)
    if not isinstance(saved["name"], str) or not isinstance(saved["contacts"], list):
        raise _wrong(f"a text as 'name' of {where} and a list as its 'contacts'", saved)
    contacts = tuple(contact_from_dict(c, model, kinds) for c in saved["contacts"])
    places = {name: np.array(_numbers(place, 3)) for name, place in _mapping(saved["places"]).items()}
    planes = {
        name: plane_from_list(plane) for name, plane in _mapping(saved.get("planes", {})).items()
    }  # older files have none
    soles = {name: _sole(half) for name, half in _mapping(saved.get("soles", {})).items()}  # nor these
    t = content.array(f"t{k}", (None,))
    if t.size < 2 or np.any(np.diff(t) < 0):
        raise ValueError(f"'t{k}' must hold at least two times, in ascending order")
    n, m, nq, nv = t.size - 1, sum(len(c.rows) for c in contacts), model.nq, model.nv
    shapes = {"q": (n + 1, nq), "qd": (n + 1, nv), "qdd": (n, nv), "tau": (n, nv), "lam": (n, m), "tau_rate": (n, nv)}
    arrays = {key: content.array(f"{key}{k}", shape) for key, shape in shapes.items()}
    return PhaseMotion(name=saved["name"], t=t, contacts=contacts, places=places, planes=planes, soles=soles, **arrays)


def _sole(saved: Any) -> tuple[float, float]:
    """Half length and half width of a foothold."""
    length, width = _numbers(saved, 2)
    if length < 0 or width < 0:
        raise _wrong("half length and half width of a sole, which are not negative,", saved)
    return length, width


def _impulses(content: _Content, phases: tuple[PhaseMotion, ...]) -> tuple[Array, ...]:
    """Impulses of every transition; the transition that closes the period comes last."""
    names = [name for name in content.arrays if name.startswith("impulse")]
    found = []
    for k in range(len(names)):
        impulse = content.array(f"impulse{k}", (None,))
        rows = sum(len(c.rows) for c in phases[(k + 1) % len(phases)].contacts)
        if impulse.size not in (0, rows):
            raise ValueError(f"'impulse{k}' has {impulse.size} numbers, expected {rows} or none")
        found.append(impulse)
    if len(found) > len(phases):
        raise ValueError(f"it holds {len(found)} impulses, expected at most one for each of {len(phases)} phases")
    return tuple(found)


def _record(content: _Content) -> ProgramTable | None:
    if "record" not in content.about:
        return None
    names = {key: tuple(_texts(value)) for key, value in _mapping(content.about["record"]).items()}
    record = ProgramTable.of_file(names, _prefixed(content.arrays, "record_"))
    for key in ("scale", "value", "values"):  # times and bounds need not be finite
        content.array(f"record_{key}", (None,))
    return record


def _iterate(content: _Content, record: ProgramTable | None, kind: str) -> dict[str, Array]:
    """One of the ITERATES, variables and multipliers; their sizes must fit each other and the record of the program.
    Older files have no central iterate."""
    what = "the solver's iterate" if kind == "iterate" else "the central iterate"
    names = _prefixed(content.arrays, f"{kind}_")
    if not names:
        return {}
    found = {key: content.array(f"{kind}_{key}", (None,)) for key in names}
    if tuple(sorted(found)) != tuple(sorted(ITERATE_ARRAYS)):
        raise ValueError(f"{what} consists of {', '.join(found)}, expected {', '.join(ITERATE_ARRAYS)}: all or none")
    if found["lam_x"].size != found["x"].size:
        raise ValueError(f"{what} has {found['lam_x'].size} multipliers of bounds for {found['x'].size} variables")
    if record is not None and (record.variable.size, record.row.size) != (found["x"].size, found["lam_g"].size):
        raise ValueError(
            f"the record of its program has {record.variable.size} variables and {record.row.size} rows, and "
            f"{what} {found['x'].size} and {found['lam_g'].size}: expected the same numbers"
        )
    return found


def _prefixed(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {key.removeprefix(prefix): x for key, x in arrays.items() if key.startswith(prefix)}


# Plain data


def _plain(content: _Content, key: str, entry: Entry) -> Any:
    if key not in content.about and entry.before is not ...:
        return entry.before
    value = content.entry(key)
    if entry.finite:
        content.check_finite(key, finite(value))
    try:
        return entry.check(value)
    except ValueError as error:
        raise ValueError(f"{key!r}: {error}") from None


def _integer(text: str) -> int | float:
    """An integer of JSON; beyond 64 bits it becomes a floating-point number, as in other languages."""
    return int(text) if len(text) < 19 else float(text)


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong("an object", value)
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong("a number", value)
    return float(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _wrong("true or false", value)
    return value


def _numbers(value: Any, size: int) -> list[float]:
    if not isinstance(value, list) or len(value) != size:
        raise _wrong(f"a list of {size} numbers", value)
    return [_number(x) for x in value]


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
        raise _wrong("a list of names", value)
    return value


def _cost(value: Any) -> dict[str, float]:
    return {name: _number(x) for name, x in _mapping(value).items()}


def _stats(value: Any) -> dict[str, Any]:
    """Checks the types of the entries that this library reads."""
    found = _mapping(value)
    if "converged" in found:
        _boolean(found["converged"])
    if not isinstance(found.get("status", ""), str):
        raise _wrong("a text as 'status'", found["status"])
    _texts(found.get("transitions", []))
    if isinstance(tableau := found.get("integrator", ""), dict):
        return found | {"integrator": _integrator(tableau)}
    return found


def _integrator(tableau: dict[str, Any]) -> Scheme:
    """The scheme that `Scheme.to_dict` wrote."""
    try:
        return Scheme(**tableau)
    except TypeError as error:
        raise ValueError(f"'integrator' is not a Butcher tableau: {error}") from None


def _shape(shape: tuple[int | None, ...]) -> str:
    return f"({', '.join('any' if n is None else str(n) for n in shape)})"


def _wrong(expected: str, value: Any) -> ValueError:
    text = repr(value)
    return ValueError(f"expected {expected}, got {text if len(text) <= 80 else text[:77] + '...'}")


ENTRIES = {
    "cost": Entry(_cost),
    "step_length": Entry(_number),
    "mirrored": Entry(_boolean),
    # earlier motions went straight ahead on level ground
    "sideways": Entry(_number, before=0.0),
    "rise": Entry(_number, before=0.0),
    "turn": Entry(_number, before=0.0),
    "stats": Entry(_stats, finite=False),
}
"""Fields of a solution that a file holds as plain data. A new field needs its value for older files (`before`)."""

LOADS = {
    # files of earlier versions lack these entries: their models had no passive joint forces and no rotor inertia
    "passive": Entry(_boolean, before=False),
    "armature": Entry(_boolean, before=False),
    "slip_speed": Entry(_number, before=SLIP_SPEED),
}
"""Fields of a solution's `Loads`, which a file holds as plain data, too."""
