"""The choice of IPOPT's linear solver: the block LDL solver of this library where it fits, else MUMPS, with the reason.

The option linear_solver of `ocp.solve` is

- "auto", the default: the block LDL solver if its library is there and a plan fits the program, else MUMPS;
- "block_ldl": waits for the library if it is still being made; an error if it cannot be had or no plan fits;
- "mumps", or another name that IPOPT knows: IPOPT's solver; those of HSL need the option hsllib=PATH.

`solution.stats["linear_solver"]` is the name of the one that was used last, `stats["linear_solver_reason"]` tells why
it is not the block LDL solver, and `stats["linear_solver_figures"]` has the counts and times of the block LDL solver.

The library comes with the package; where it does not, it is made once for the machine, see `ocp_dyn.native.library`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ....native.libraries import BLOCK_LDL
from ...nlp.assembled import Assembled
from ..interface import SolverSettings, Start
from .library import BlockLDL, obtain
from .plan import LdlPlan, ldl_plan

AUTO, OWN, MUMPS = "auto", "block_ldl", "mumps"
"""Values of the option linear_solver: the default, the solver of this library, and IPOPT's of CasADi's wheel."""

FOREIGN = ("mumps", "spral", "ma27", "ma57", "ma77", "ma86", "ma97", "pardiso", "pardisomkl", "wsmp", "custom")
"""Names of linear solvers that IPOPT knows."""

PLANNED_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "fixed_variable_treatment": ("make_parameter", "make_parameter_nodual"),
    "linear_system_scaling": ("none", "slack-based"),
    "hsllib": (),
}
"""Options of IPOPT that change its matrix or its library, and the values that a plan allows."""

OF_MUMPS = "mumps_"
"""First letters of the options of MUMPS: who sets one wants MUMPS."""

OWN_OPTIONS: Mapping[str, Any] = {"linear_system_scaling": "none", "min_refinement_steps": 0}
"""Options of IPOPT with the block LDL solver, before those of the user: the library checks and refines its solutions
itself, and IPOPT still refines those whose residual is too large."""

INTERFACE = "ma27"
"""The linear solver of IPOPT whose interface the library has."""

Planned = LdlPlan | str


class Chosen(NamedTuple):
    """The linear solver of a run: its name, and why it is not the block LDL solver; with it, library and plan."""

    name: str
    reason: str = ""
    library: BlockLDL | None = None
    plan: LdlPlan | None = None


_plans: WeakKeyDictionary[Assembled, dict[bytes, Planned]] = WeakKeyDictionary()


def choose(program: Assembled, start: Start, settings: SolverSettings) -> Chosen:
    """The linear solver for a run of IPOPT.

    The option linear_solver "auto", the default, takes the block LDL solver if its library is there and a plan fits the
    program; "block_ldl" asks for it: RuntimeError if the library cannot be had, ValueError if no plan fits. Any other
    name is IPOPT's.
    """
    asked = settings.options.get("linear_solver", AUTO)
    if asked not in (AUTO, OWN):
        return Chosen(str(asked), f"linear_solver={asked!r} asks for it")
    planned = _fitting(program, start, settings.options)
    if isinstance(planned, str):
        if asked == OWN:
            raise ValueError(
                f"linear_solver='block_ldl' does not fit: {planned}. Leave linear_solver out, or use "
                "linear_solver='mumps'"
            )
        return Chosen(MUMPS, planned)
    library, reason = obtain(wait=asked == OWN)
    if library is None:
        if asked == OWN:
            raise RuntimeError(
                f"linear_solver='block_ldl' cannot be used: {reason}. Leave linear_solver out, or use "
                "linear_solver='mumps'"
            )
        return Chosen(MUMPS, reason)
    return Chosen(OWN, "", library, planned)


def request(settings: SolverSettings) -> None:
    """Starts the search for the library beside other work."""
    asked = settings.options.get("linear_solver", AUTO)
    if asked in (AUTO, OWN):
        BLOCK_LDL.request(wait=asked == OWN)


def options_of(chosen: Chosen, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of IPOPT for a linear solver; those of the user come before them."""
    rest = {key: value for key, value in options.items() if key != "linear_solver"}
    if chosen.library is None:
        return {"linear_solver": chosen.name, **rest}
    return {**OWN_OPTIONS, **rest, "linear_solver": INTERFACE, "hsllib": str(chosen.library.path)}


def _fitting(program: Assembled, start: Start, options: Mapping[str, Any]) -> Planned:
    """The plan for a program and a start, or the reason why there is none."""
    for name, value in options.items():
        if name.startswith(OF_MUMPS):
            return f"the option {name} is one of MUMPS"
        if value not in PLANNED_OPTIONS.get(name, (value,)):
            what = "names another library" if name == "hsllib" else "changes IPOPT's matrix"
            return f"the option {name}={value!r} {what}"
    kept = _plans.setdefault(program, {})
    key = np.packbits(start.lower == start.upper).tobytes()
    planned = kept.get(key)
    if planned is None:
        planned = _planned(program, start)
        kept.clear()  # one plan for every program: other fixed variables are rare
        kept[key] = planned
    return planned  # of this start, whatever another thread keeps meanwhile


def _planned(program: Assembled, start: Start) -> Planned:
    free, equalities = (
        int(np.sum(flags)) for flags in (start.lower < start.upper, program.row_lower == program.row_upper)
    )
    if free < equalities:
        return f"there are {equalities} equalities for {free} free variables, so IPOPT relaxes bounds"
    try:
        return ldl_plan(program, start.lower, start.upper, program.threads)
    except ValueError as error:
        return str(error)
    except (ArithmeticError, AttributeError, LookupError, MemoryError, RuntimeError, TypeError) as error:
        return f"its structure could not be read: {type(error).__name__}: {error}"
