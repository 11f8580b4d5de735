"""Options of Uno: the library in CasADi's package is asked for their types, because its plugin ignores unknown ones."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import casadi as ca

from ...._types import is_one_of, is_whole, meant, shown

PRESETS = ("ipopt", "filtersqp", "funnelsqp", "filterslp")
"""Combinations of parts: a primal-dual interior point with a filter line search; SQP with a trust region and a filter,
or a funnel; sequential linear programs."""

DEFAULT_PRESET = "ipopt"
"""The preset of a run that names none; Uno's own is "filtersqp", whose QPs are dense in the active set."""

EXACT_INERTIA = {"linear_solver": "SSIDS"}
"""Linear solver of the interior-point preset. Uno's own choice, MUMPS with its settings, counts too few negative
eigenvalues on our programs (892 where there are 922, in the first step of `problems.five_link`), so that Uno adds a
large multiple of the identity to every Hessian: it creeps, or ends with an exception."""

KINDS = (int, float, bool, str)
"""Types of options by Uno's number of the type."""

EXPECTED = {int: "a whole number", float: "a number", bool: "True or False", str: "a text"}

NAMES = (
    *("preset", "hessian_model", "linear_solver", "QP_solver", "logger", "time_limit", "max_iterations"),
    *("primal_tolerance", "dual_tolerance", "loose_primal_tolerance", "loose_dual_tolerance", "residual_norm"),
    *("loose_tolerance_iteration_threshold", "progress_norm", "filter_type", "TR_radius", "TR_min_radius"),
    *("constraint_relaxation_strategy", "inequality_handling_method", "globalization_mechanism"),
    *("globalization_strategy", "inertia_correction_strategy", "barrier_initial_parameter", "barrier_tau_min"),
    *("regularization_failure_threshold", "l1_constraint_violation_coefficient", "unbounded_objective_threshold"),
)
"""Options that are often set: suggestions for misspelled ones."""

SILENT = {"logger": "SILENT"}
LOGGERS = ("SILENT", "DISCRETE", "WARNING", "INFO", "DEBUG", "DEBUG2", "DEBUG3")


def check_uno_options(options: Mapping[str, Any]) -> None:
    """Raises ValueError for options that Uno does not know, of the wrong type, or with which it cannot run."""
    preset = options.get("preset", DEFAULT_PRESET)
    if not is_one_of(preset, PRESETS):
        known = ", ".join(map(repr, PRESETS))
        raise ValueError(f"preset of the solver 'uno' is one of {known}, got {shown(preset)}{meant(preset, PRESETS)}")
    if not is_one_of(options.get("logger", "SILENT"), LOGGERS):
        known, got = ", ".join(map(repr, LOGGERS)), options["logger"]
        raise ValueError(f"logger of the solver 'uno' is one of {known}, got {shown(got)}{meant(got, LOGGERS)}")
    for name, value in options.items():
        kind = option_type(name)
        if kind is None:
            raise ValueError(f"the solver 'uno' has no option {shown(name)}{meant(name, NAMES)}")
        fits = {bool: isinstance(value, bool), str: isinstance(value, str), int: is_whole(value)}
        fits[float] = isinstance(value, (int, float)) and not isinstance(value, bool)
        if kind in fits and not fits[kind]:
            raise ValueError(f"the solver 'uno' needs {EXPECTED[kind]} for its option {name}, got {shown(value)}")
    if set(options) - {"preset", "logger"} and not runs_with(options):
        raise ValueError(
            f"the solver 'uno' cannot run with the options {shown(dict(options))}: one of the texts is none that it "
            "knows, or the linear solver is not installed ('MUMPS' is always available)"
        )


def typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with whole numbers as floats where Uno needs floats; CasADi would pass them as another type."""
    return {name: float(value) if option_type(name) is float else value for name, value in options.items()}


def default_options(preset: str) -> dict[str, Any]:
    """Options of every run with this preset; options of the user come before them."""
    exact = EXACT_INERTIA if preset == "ipopt" and _spral_runs() else {}
    return {"preset": preset} | SILENT | exact


def option_type(name: str) -> type | None:
    """Type of an option, None for an unknown one; `object` if the installed library cannot be asked."""
    library = _library()
    if library is None:
        return object
    if not isinstance(name, str):
        return None
    solver = ctypes.c_void_p(library.uno_create_solver())
    try:
        number = library.uno_get_solver_option_type(solver, name.encode())
    finally:
        library.uno_destroy_solver(solver)
    return KINDS[number] if 0 <= number < len(KINDS) else None


def runs_with(options: Mapping[str, Any]) -> bool:
    """Whether Uno solves a program of one variable with these options; it looks at texts and libraries only when it
    runs."""
    x = ca.MX.sym("x")
    asked = typed({key: value for key, value in options.items() if not key.startswith(("print_", "time_limit"))})
    settings: dict[str, Any] = {"print_time": False, "error_on_fail": False}
    settings["uno"] = {"preset": DEFAULT_PRESET} | asked | SILENT | {"max_iterations": 100}
    try:
        probe = ca.nlpsol("probe", "uno", {"x": x, "f": (x - 1) ** 2, "g": x}, settings)
        probe(x0=0.0, lbg=0.0, ubg=2.0)
    except (RuntimeError, TypeError, NotImplementedError):
        return False
    return int(probe.stats()["iter_count"]) > 0


@lru_cache(maxsize=1)
def _spral_runs() -> bool:
    return runs_with(EXACT_INERTIA)


@lru_cache(maxsize=1)
def _library() -> Any:
    """Uno's shared library in CasADi's package; None if there is none of a known name."""
    folder = Path(ca.__file__).parent
    for name in ("libuno.so", "libuno.dylib", "libuno.dll", "uno.dll"):
        if (folder / name).is_file():
            try:
                library: Any = ctypes.CDLL(str(folder / name))
                library.uno_create_solver.restype = ctypes.c_void_p
                return library
            except (OSError, AttributeError):
                return None
    return None
