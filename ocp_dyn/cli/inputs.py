"""FILE becomes a model: a file of any format, a ready model or a robot by its name; FRAMES become contacts."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any, Literal

from .. import _names as od
from .._base.types import suggestion
from ..io.formats import format_of
from ..joints import Fixed, Joint
from .streams import UsageError

MODELS = (
    "bricard", "car", "compass_walker", "five_bar_pendulum", "five_link_biped", "heavy_truck", "heel_spring_biped",
    "human",
    "human_body", "n_four_bar", "pendulum", "spatial_slider_crank", "squeezer",
)  # fmt: skip
"""Ready models that are made without arguments."""


def note(text: str) -> None:
    """A line for the reader, on standard error."""
    print(f"note: {text}", file=sys.stderr)


def model_of(options: argparse.Namespace, mimic: Literal["free", "couple"] = "free") -> od.Model:
    """The model that FILE and --root name; UsageError if there is no such file and no such name.

    mimic: of a URDF's joints that follow others, whether the model notes that they do.
    """
    name = str(options.file)
    path = Path(name)
    if options.root != "auto" and (name in MODELS or path.suffix.lower() == ".json"):
        raise UsageError(f"--root is for URDFs and robots by name; the root of {name} is a joint of the model")
    if name in MODELS:
        made = getattr(od.models, name)()
        return made if isinstance(made, od.Model) else made.model
    if name in od.robots.names():
        try:
            return od.robots.load(name, None if options.root == "auto" else _root(options.root), mimic=mimic)
        except ImportError as error:
            raise UsageError(str(error)) from None
    if not path.exists():
        near = suggestion(name, (*(one.name for one in Path().iterdir()), *MODELS, *od.robots.names()))
        raise UsageError(f"no file {name!r}, and no model or robot of this name{near}; `ocp-dyn info` lists the names")
    if path.is_dir():
        raise UsageError(f"{name!r} is a folder; expected a file of a model")
    if path.suffix.lower() == ".npz":
        raise UsageError(f"{name} is a solution; expected a model: `ocp-dyn show` and `ocp-dyn plot` take solutions")
    kind = format_of(path, default="URDF")
    if kind.name == "URDF":
        return _from_urdf(path, options.root, mimic)
    given: dict[str, Any] = {} if options.root == "auto" else {"root": _root(options.root)}
    if given and "root" not in signature(kind.read).parameters:
        raise UsageError(f"--root is for URDFs and robots by name; the root of {name} is a joint of the model")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = kind.read(path, **given)
    for one in told:
        note(str(one.message))
    return model


def chain_of(options: argparse.Namespace) -> od.models.ClosedChain | None:
    """The mechanism with closed loops that FILE names; None if it is none."""
    made = getattr(od.models, str(options.file))() if str(options.file) in MODELS else None
    return made if isinstance(made, od.models.ClosedChain) else None


def _root(kind: str) -> Joint:
    return {"fixed": Fixed(), "floating": od.FloatingBase(), "planar": od.Planar()}[kind]


def _from_urdf(path: Path, root: str, mimic: Literal["free", "couple"]) -> od.Model:
    """The model of a URDF; odd inertias are kept, as `check` reports."""
    if root != "auto":
        return od.load_urdf(path, _root(root), mimic=mimic, inertia="keep")
    with warnings.catch_warnings():
        warnings.simplefilter("error", od.ModelWarning)
        try:
            return od.load_urdf(path, mimic=mimic, inertia="keep")
        except od.ModelWarning:
            note(f"{path} has limbs: its root link floats (--root fixed fixes it to the ground)")
            return od.load_urdf(path, od.FloatingBase(), mimic=mimic, inertia="keep")
        except od.ModelError as error:
            if "no moving body" not in str(error):
                raise
            note(f"{path} is one rigid body: it floats")
            return od.load_urdf(path, od.FloatingBase(), mimic=mimic, inertia="keep")


def words(text: str) -> tuple[str, ...]:
    """The names in a text with commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def contacts_of(options: argparse.Namespace, model: od.Model) -> tuple[od.Contact, ...]:
    """Contacts of the feet that --feet names; else those that are known of a robot by name; none for other models."""
    names = words(options.feet)
    for name in names:
        if name not in model.frames:
            raise UsageError(f"--feet: {model.name} has no frame {name!r}{suggestion(name, model.frame_names)}")
    if names:
        return tuple(od.Contact(name, axes="xyz" if options.points else None) for name in names)
    known = str(options.file) in od.robots.names() and od.robots.describe(str(options.file)).feet
    return od.robots.contacts(str(options.file)) if known else ()


def functions_of(options: argparse.Namespace, model: od.Model) -> list[Any]:
    """The Functions that --functions names, with the contacts of the feet where they need constraints."""
    from ..functions.registry import REGISTRY

    algorithms = {signature.name: algorithm for algorithm, signature in REGISTRY.items()}
    feet: Sequence[Any] | None = None
    made = []
    names = words(options.functions)
    if not names:
        raise UsageError("--functions: at least one name is needed, such as ID,FD")
    for name in names:
        if name not in algorithms:
            raise UsageError(f"--functions: no function {name!r}{suggestion(name, algorithms)}")
        if name not in CONSTRAINED | PLAIN:
            raise UsageError(
                f"--functions: {name} needs arguments that a command line cannot give, such as a frame; "
                f"here are {', '.join(sorted(PLAIN | CONSTRAINED))}"
            )
        if name in CONSTRAINED:
            feet = feet or contacts_of(options, model)
            if not feet:
                raise UsageError(
                    f"--functions: {name} needs contacts: --feet FRAME,FRAME (`ocp-dyn info` lists frames)"
                )
        made.append(od.function(algorithms[name], model, *([feet] if name in CONSTRAINED else [])))
    return made


CONSTRAINED = {"G", "gamma", "FDc", "impact", "EoMc", "IDc", "dFDc", "dimpact"}
"""Functions that take constraints after the model."""

PLAIN = {
    "ID", "FD", "FD_HC", "H", "C", "tau_g", "tau_static", "EoM", "Minv", "H_inv", "C_mat", "Y", "Y_T", "Y_V", "dID",
    "dFD", "ddID", "ddFD", "poses", "integrate", "difference", "interpolate", "d_integrate", "d_difference", "com",
    "com_vel", "J_com", "T", "V", "h_com", "A_G", "A_G_dot", "h_bias", "zmp", "P",
}  # fmt: skip
"""Functions of the model alone."""
