"""The five libraries, with the functions that Python calls."""

from __future__ import annotations

import ctypes

from .library import NativeLibrary

_number, _whole, _real, _address = ctypes.c_int, ctypes.c_longlong, ctypes.c_double, ctypes.c_void_p

INTEGERS = ctypes.POINTER(ctypes.c_int)
DOUBLES = ctypes.POINTER(ctypes.c_double)

WATCH = ctypes.CFUNCTYPE(None, *(3 * [_number]), INTEGERS, INTEGERS, DOUBLES, _number, DOUBLES, DOUBLES)
"""Type of a function that is called after every factorization and solve of block_ldl."""

BLOCK_LDL = NativeLibrary(
    "block_ldl",
    {
        "block_ldl_begin": (_number, (_number, _number, _number, *(5 * (INTEGERS,)), _number)),
        "block_ldl_use": (_number, (_number,)),
        "block_ldl_end": (None, (_number,)),
        "block_ldl_stats": (None, (_number, DOUBLES)),
        "block_ldl_watch": (None, (WATCH,)),
        **dict.fromkeys(("ma27id_", "ma27ad_", "ma27bd_", "ma27cd_"), (None, ())),  # IPOPT calls them
    },
)
"""The factorization of IPOPT's matrix along a sequence of stages: plans, and the interface of MA27 that IPOPT calls."""

_STAGES = (_whole, _address, _address, _address, _address)
"""Number of stages; their table, data, factors and orders."""

RICCATI = NativeLibrary(
    "riccati",
    {
        "write_entries": (None, (_whole, _whole, _address, _address, _real, _address, _address)),
        "add_prices": (None, (_whole, *(4 * (_address,)))),
        "factor": (_whole, (*_STAGES, _address, _address)),
        "solve": (_real, (*_STAGES, *(8 * (_address,)))),
    },
)
"""The Riccati recursion of linear-quadratic problems in stages."""

STAGE_QP = NativeLibrary(
    "stage_qp",
    {
        "stage_qp_stacked_begin": (ctypes.c_long, (_address, _address)),
        "stage_qp_stacked": (_number, (*(7 * (_address,)),)),
        "stage_qp_stacked_feedback": (_number, (*(6 * (_address,)),)),
        "stage_qp_stacked_get": (None, (_address, _address, _number, _number, _address)),
        "stage_qp_stacked_shift": (None, (_address, _address, _number)),
    },
)
"""Convex quadratic programs with inequality rows along a sequence of stages."""

TABLES = NativeLibrary(
    "tables",
    {
        "tape_make": (_address, (_whole, _address, *(3 * (_number,)), _address, *(3 * (_number,)))),
        "tape_instructions": (None, (_address, _address, _whole, _number, _number, _address)),
        "tape_free": (None, (_address,)),
        "tape_run": (None, (_whole, *(3 * (_address,)))),
        "tape_place": (None, (_whole, *(3 * (_address,)), _whole, _address)),
    },
)
"""Functions as tables of their operations: making of the tables, and their evaluation for many instances."""

FITTING = NativeLibrary(
    "fitting",
    {
        "fitting_steps": (None, (_whole, *(16 * (_address,)))),
        "fitting_matrices": (None, (_whole, *(9 * (_address,)))),
    },
)
"""Least squares of markers on the bodies of a model, and damped Newton steps, frame by frame."""
