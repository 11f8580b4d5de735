"""`export`: writes Functions as C files with a readable interface; either all files appear or none."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import casadi as ca

from ..._base.files import path_of
from ..compiled.compile import check_lanes
from ..text.differentiated import kinds
from ..text.names import prefix_of
from . import writing
from .library import texts
from .options import ExportOptions


def export(
    functions: Iterable[ca.Function],
    directory: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    dense: bool = False,
    lanes: int = 1,
    precision: str = "double",
    derivatives: bool | Iterable[str] = False,
    pack: bool = True,
    version: str = "1.0.0",
    progress: bool = True,
) -> Path:
    """Writes `functions` as C99 into `directory` and returns its path.

    PREFIX.h declares, for the Function ID, `int PREFIX_ID(const double *q, ..., double *tau)` and describes every
    argument: size, order of entries, units, layout. PREFIX_ID.c holds the code, which keeps no state, allocates no
    memory and needs only libm; example.c is a program that calls each function; README.md shows calls from C, C++,
    Python, CasADi, Simulink and a real-time loop; CMakeLists.txt builds and installs the library; sfun_PREFIX.c is a
    Simulink S-function; with PREFIX_external.c the library loads as `casadi.external("ID", "libPREFIX.so")`.

    functions: from `od.function` or any other casadi.Function of expressions; duplicates count once. Functions that do
    not expand to scalar operations (linear solvers, interpolation) are written by CasADi's generator.
    prefix: first part of file names and C names; default: made from the directory's name.
    dense: arguments are dense and row-major; default: CasADi's layout, the structural nonzeros column by column.
    lanes: 2, 4, 8, or 16 in single precision: adds PREFIX_ID_batch for many states, PREFIX_ID_lanes for lane-major.
    precision: "single" for float in all code, without CasADi's convention; README.md states the errors.
    derivatives: any of ("jac", "fwd1", "adj1", "jac_adj1"), which CasADi looks for beside a function, or True for all:
        3 to 30 times the size of the function itself where recursions give them (up to the second order of `ID`, `FD`
        and `FDc`, the first of `impact`), hundreds of times where CasADi differentiates the graph: beyond a million
        instructions an `EffortWarning` tells size and time before it begins.
    pack: operations of one kind, such as those of a left and a right limb, share vector statements, in shorter and
        faster machine code with the same results. Compilers other than GCC and Clang, or all with the macro
        PREFIX_PLAIN, take plain code from the same files. False: plain code only.
    version: of the library, "1.2.3", for find_package and pkg-config.
    progress: exports of more than two seconds report their progress on stderr.

    A failed or interrupted export changes nothing. Files of an earlier export are replaced, those of functions that are
    gone are removed; others stay. Equal functions give equal bytes. Cost per instruction: 50 us, 100 bytes; of plain
    code, and of lanes in addition, 10 us, 50 bytes.

    Raises TypeError or ValueError if an export is impossible: an empty list, two different functions of one name,
    callbacks, solvers, externals, an unsafe prefix, a file of the same name that `export` did not write.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = od.codegen.export([od.function(od.inverse_dynamics, rod)], f"{folder}/rod")
    ...     print(sorted(file.name for file in written.iterdir()))
    ['CMakeLists.txt', 'README.md', 'example.c', 'rod.c', 'rod.h', 'rod.pc', 'rod_ID.c', 'rod_external.c', 'simulink']
    """
    folder = path_of(directory, "directory")
    target = folder.resolve()
    name = prefix_of(target) if prefix is None else prefix
    files = generate(
        functions, name, dense=dense, lanes=lanes, precision=precision,
        derivatives=derivatives, pack=pack, version=version, progress=progress,
    )  # fmt: skip
    writing.check_target(target, files)
    writing.write(target, files, f"{name}.h")
    return folder


def generate(
    functions: Iterable[ca.Function],
    prefix: str,
    *,
    dense: bool = False,
    lanes: int = 1,
    precision: str = "double",
    derivatives: bool | Iterable[str] = False,
    pack: bool = True,
    version: str = "1.0.0",
    progress: bool = True,
) -> dict[str, str]:
    """The texts of an export by file name, without writing them. Arguments as for `export`.

    >>> files = od.codegen.generate([od.function(od.inverse_dynamics, rod)], "rod")
    >>> "int rod_ID(const double *q, const double *qd, const double *qdd, double *tau)" in files["rod.h"]
    True
    """
    lanes = check_lanes(lanes, precision)
    options = ExportOptions(dense, lanes, precision, kinds(derivatives), pack, version)
    return texts(functions, prefix, options, progress=progress)
