"""`ocp-dyn check`: every fault of a file, with its line and the remedy."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

from .._base.files import no_file
from ..gait.bodies import excessive_efforts
from ..io import Fault, file_faults, load, load_urdf
from ..joints import FloatingBase
from ..muscles import muscle_faults
from .streams import UsageError, as_json

TRIAL_ROOT = FloatingBase(name="root of the trial")
"""The root on which a URDF carries its own weight."""


def run(options: argparse.Namespace) -> int:
    if options.file.is_dir():
        raise UsageError(f"{str(options.file)!r} is a folder; expected a file of a model")
    if not options.file.exists():
        raise UsageError(f"{no_file(options.file)}; expected a file of a model, not a name")
    found = file_faults(options.file)
    faults = [fault for fault in found if fault.severe]
    if not faults:
        found += _of_model(options.file)
    if options.json:
        entries = [{"line": f.line, "text": f.text, "kind": "fault" if f.severe else "note"} for f in found]
        print(as_json({"file": str(options.file), "faults": len(faults), "found": entries}))
        return 1 if faults else 0
    for fault in found:
        print(_line(str(options.file), fault))
    notes = len(found) - len(faults)
    print(f"{options.file}: {_count(len(faults), 'fault')}" + (f", {_count(notes, 'note')}" if notes else ""))
    return 1 if faults else 0


def _of_model(file: Path) -> list[Fault]:
    """Notes on a model that loads: muscles, and efforts that cannot be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        urdf = file.suffix.lower() == ".urdf"
        model = load_urdf(file, root=TRIAL_ROOT, mimic="free") if urdf else load(file)
    told = [str(fault) for fault in muscle_faults(model)] if model.muscles else []
    return [Fault(None, text, severe=False) for text in (*told, *excessive_efforts(model))]


def _line(name: str, fault: Fault) -> str:
    """FILE:LINE: text, the form that editors understand."""
    place = name if fault.line is None else f"{name}:{fault.line}"
    return f"{place}: {'' if fault.severe else 'note: '}{fault.text}"


def _count(n: int, what: str) -> str:
    return f"{n or 'no'} {what}{'s' * (n != 1)}"
