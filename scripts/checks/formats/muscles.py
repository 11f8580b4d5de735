"""Muscles of the OpenSim models of a folder, beside OpenSim's numbers in MODEL.npz: forces of fibers and tendons, rates
of activations and of tendon forces, metabolic rates, from recorded lengths and speeds of the paths.

A file has the arrays that `VARIANTS` and `check` name, one row for every state: the muscles of the file's own class
with rigid and compliant tendons, and as DeGrooteFregly2016Muscle ("dgf"). What differs by intent is taken out: the
explicit rates of OpenSim's DeGrooteFregly2016Muscle leave out the damping, and its activation takes the time constants
of the first muscle and a steepness of 0.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from casadi import DM

import ocp_dyn as od

from .osim import TOLERANCE, files_in  # noqa: F401, the command calls it

M = od.muscles
Numbers = Mapping[str, Any]

FIELDS = {
    "fiber_length": "fiber_length", "fiber_velocity": "fiber_speed", "cos_pennation": "cos_pennation",
    "tendon_length": "tendon_length", "active_force_length": "active_multiplier", "force_velocity": "speed_multiplier",
    "passive_multiplier": "passive_multiplier", "active_fiber_force": "active_force",
    "passive_fiber_force": "passive_force", "fiber_force": "fiber_force", "tendon_force": "tendon_force",
}  # fmt: skip
"""Names of OpenSim's quantities, and of ours."""

VARIANTS = {"rigid": "own", "elastic": "own", "dgf_rigid": "de_groote_fregly", "dgf_elastic": "de_groote_fregly"}
"""Names of the recorded variants, and their curves."""

FASTEST = 1e3
"""Fiber speed [m/s] above which numbers are left out: the active force has all but vanished there."""


def check(path: Path, folder: Path | None = None) -> tuple[str, str]:
    """("not a model" | "agree" | "differ", what): one file."""
    beside = path.with_suffix(".npz")
    if not beside.is_file() or "dgf_rigid_tendon_force" not in np.load(beside):
        return "not a model", "no recorded muscles"
    found = dict(np.load(beside))
    model = od.load_osim(path, up="y", keep_locked=True)
    names = [str(name) for name in found["muscles"]]
    worst: dict[str, float] = {}
    for variant, curves in VARIANTS.items():
        if f"{variant}_tendon_force" in found:
            _forces(M.HillMuscles.of(model, names, curves), variant, found, worst)
    _activation(model, names, found, worst)
    _metabolic(M.HillMuscles.of(model, names), found, worst)
    wrong = {what: error for what, error in worst.items() if not error <= TOLERANCE}
    if wrong:
        return "differ", ", ".join(f"{what} {error:.1e}" for what, error in wrong.items())
    return "agree", f"{max(worst.values()):.1e}"


def _note(worst: dict[str, float], what: str, ours: Any, theirs: Any, size: Any = 1.0) -> None:
    """Keeps the largest error of the numbers that OpenSim has; size: of what they are measured by."""
    x, y = np.ravel(DM(ours).full()) / size, np.ravel(theirs) / size
    there = np.isfinite(y)
    error = np.abs(x - y)[there] / (1 + np.abs(y[there]))
    worst[what] = max(worst.get(what, 0.0), float(error.max(initial=0.0)))


def _forces(muscles: M.HillMuscles, variant: str, found: Numbers, worst: dict[str, float]) -> None:
    kinds = [str(kind) for kind in found["muscle_class"]]
    groote = variant.startswith("dgf") or kinds[0].startswith("DeGroote")
    rows = [t for t, row in enumerate(found[f"{variant}_tendon_force"]) if np.isfinite(row).any()]
    given = found.get(f"{variant}_given")
    if given is not None and len(given) < len(found["q"]):  # recorders leave out states without any number
        given = dict(zip(rows, given, strict=True))
    undamped = replace(muscles, fiber_damping=DM.zeros(muscles.size)) if groote and given is not None else muscles
    F0 = np.ravel(muscles.max_isometric_force.full())
    for t in rows:
        state = [DM(found[key][t]) for key in ("length", "lengthening_speed", "activation")]
        if given is None:
            ours = M.rigid_tendon(muscles, *state)
        elif groote:
            ours = M.tendon_state(undamped, *state, DM(given[t]))
            _rates(muscles, undamped, state, found, t, worst)
        else:
            ours = M.fiber_state(muscles, *state, DM(given[t]) / muscles.optimal_fiber_length)
        if groote and given is not None:  # OpenSim's fiber force has the damping that its explicit speed leaves out
            reach = muscles.max_contraction_velocity * muscles.optimal_fiber_length
            damped = muscles.max_isometric_force * muscles.fiber_damping * ours.fiber_speed / reach
            ours = ours._replace(passive_force=ours.passive_force + damped, fiber_force=ours.fiber_force + damped)
        slow = np.abs(found[f"{variant}_fiber_velocity"][t]) < FASTEST
        for key, field in FIELDS.items():
            theirs = np.where(slow, found[f"{variant}_{key}"][t], np.nan)
            _note(worst, f"{variant}_{key}", getattr(ours, field), theirs, F0 if key.endswith("force") else 1.0)


def _rates(
    muscles: M.HillMuscles, undamped: M.HillMuscles, state: list[DM], found: Numbers, t: int, worst: dict[str, float]
) -> None:
    """Explicit rate and implicit residual of the tendon force."""
    if "dgf_elastic_zeta" not in found:
        return
    z, zeta = DM(found["dgf_elastic_given"][t]), DM(found["dgf_elastic_zeta"][t])
    theirs = found["dgf_elastic_z_rate_explicit"][t]
    explicit = M.tendon_state(undamped, *state, z).rate
    _note(worst, "z_rate", explicit, np.where(np.abs(theirs) < FASTEST, theirs, np.nan))
    residual = M.tendon_state(muscles, *state, z, zeta).residual
    _note(worst, "residual", residual, found["dgf_elastic_implicit_residual"][t])


def _activation(model: od.Model, names: list[str], found: Numbers, worst: dict[str, float]) -> None:
    own, n = M.HillMuscles.of(model, names, "own"), len(names)
    first = replace(
        own,
        activation_time=DM.ones(n) * float(own.activation_time[0]),
        deactivation_time=DM.ones(n) * float(own.deactivation_time[0]),
    )
    groote = str(found["muscle_class"][0]).startswith("DeGroote")
    for t in range(len(found["q"])):
        e, a = DM(found["excitation"][t]), DM(found["activation"][t])
        _note(worst, "dgf rate of activation", M.activation_rate(first, e, a, steepness=0.1),
              found["dgf_rigid_activation_rate"][t])  # fmt: skip
        if not groote and "elastic_activation_rate" in found:
            theirs = found["elastic_activation_rate"][t]
            _note(worst, "rate of activation", M.activation_rate(own, e, a, form="pieces"), theirs)


def _metabolic(muscles: M.HillMuscles, found: Numbers, worst: dict[str, float]) -> None:
    for t in range(len(found["q"])):
        L, V, e, a = (DM(found[key][t]) for key in ("length", "lengthening_speed", "excitation", "activation"))
        forces = M.rigid_tendon(muscles, L, V, a)
        for name, steepness in (("bhargava", None), ("bhargava_smooth", 10.0)):
            rates = M.Bhargava2004(steepness=steepness).rates(muscles, e, a, forces)
            _note(worst, name, rates, found[f"{name}_muscle"][t])
            total = float(np.sum(rates.full())) + 1.2 * float(found["total_mass"])
            _note(worst, f"{name} of the body", total, found[f"{name}_total"][t])
