"""Files of solutions: one .npz with everything, the model included."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._types import Array
from ..io.json import model_from_dict, model_to_dict
from ..passive import SLIP_SPEED
from .constraint_files import constraint_from_dict, constraint_to_dict
from .record import Record

if TYPE_CHECKING:
    from .solution import Solution

FILE_FORMAT = "ocp_dyn solution 1"
PHASE_ARRAYS = ("t", "q", "v", "a", "tau", "lam", "tau_rate")


def save_solution(solution: Solution, path: str | Path) -> Path:
    """Writes everything to one .npz file; the folder is made if it is missing; the file appears whole or not at all."""
    path = Path(path)
    arrays: dict[str, Array] = {f"impulse{k}": impulse for k, impulse in enumerate(solution.impulses)}
    arrays |= {f"iterate_{key}": value for key, value in solution.iterate.items()}
    phases = []
    for k, phase in enumerate(solution.phases):
        arrays |= {f"{key}{k}": getattr(phase, key) for key in PHASE_ARRAYS}
        phases.append(
            {
                "name": phase.name,
                "contacts": [constraint_to_dict(c) for c in phase.contacts],
                "places": {name: [float(x) for x in place] for name, place in phase.places.items()},
            }
        )
    about: dict[str, Any] = {
        "format": FILE_FORMAT,
        "model": model_to_dict(solution.model),
        "phases": phases,
        "cost": solution.cost,
        "step_length": solution.step_length,
        "mirrored": solution.mirrored,
        "stats": solution.stats,
        "passive": solution.passive,
        "armature": solution.armature,
        "slip_speed": solution.slip_speed,
    }
    if solution.record is not None:
        arrays |= {f"record_{key}": value for key, value in solution.record.arrays().items()}
        about["record"] = solution.record.names()
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as file:
        np.savez_compressed(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
    partial.replace(path)
    return path


def load_solution(path: str | Path) -> Solution:
    """Reads a file that `save_solution` wrote; ValueError if it is another kind of file, or damaged."""
    from .solution import PhaseSolution, Solution

    arrays = _read(Path(path))
    about = json.loads(str(arrays["about"])) if "about" in arrays else {}
    if about.get("format") != FILE_FORMAT:
        raise ValueError(f"{path} is not a solution file of this version: save it again with Solution.save")
    missing = {f"{key}{k}" for k in range(len(about["phases"])) for key in PHASE_ARRAYS} - set(arrays)
    if missing:
        raise ValueError(f"{path} is damaged, it lacks {', '.join(sorted(missing))}: save the solution again")
    phases = tuple(
        PhaseSolution(
            name=phase["name"],
            **{key: arrays[f"{key}{k}"] for key in PHASE_ARRAYS},
            contacts=tuple(constraint_from_dict(c) for c in phase["contacts"]),
            places={name: np.array(place) for name, place in phase["places"].items()},
        )
        for k, phase in enumerate(about["phases"])
    )
    return Solution(
        model=model_from_dict(about["model"]),
        phases=phases,
        cost=about["cost"],
        impulses=tuple(arrays[f"impulse{k}"] for k in range(sum(name.startswith("impulse") for name in arrays))),
        step_length=about["step_length"],
        mirrored=about["mirrored"],
        stats=about["stats"],
        iterate=_prefixed(arrays, "iterate_"),
        record=Record.of_file(about["record"], _prefixed(arrays, "record_")) if "record" in about else None,
        # files of earlier versions do not say: then joints did nothing by themselves
        passive=about.get("passive", False),
        armature=about.get("armature", False),
        slip_speed=about.get("slip_speed", SLIP_SPEED),
    )


def _prefixed(arrays: dict[str, Array], prefix: str) -> dict[str, Array]:
    return {key.removeprefix(prefix): x for key, x in arrays.items() if key.startswith(prefix)}


def _read(path: Path) -> dict[str, Array]:
    """All arrays of an .npz file, each with its checksum checked."""
    damaged = f"{path} is not a solution file, or it is damaged: save the solution again with Solution.save"
    try:
        with path.open("rb") as stream:
            file = np.load(stream, allow_pickle=False)
            if isinstance(file, np.lib.npyio.NpzFile):
                return {name: file[name] for name in file}
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(damaged) from error
    raise ValueError(damaged)
