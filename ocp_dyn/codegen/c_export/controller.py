"""`export_controller`: a predictive controller as a C library, without memory allocation."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import casadi as ca
import numpy as np

from ..._base.files import path_of
from ..._base.templates import text_of
from ..._base.types import Array, repr_in_message
from ...native.libraries import STAGE_QP
from ...native.provenance import made_with
from ..text.names import check_prefix, prefix_of, printable, wrap_items
from . import text, writing
from .library import More, texts
from .options import ExportOptions
from .stage_qp_size import numbers_of, operations_of

FUNCTIONS = ("advance", "node", "stage", "defect", "move", "error", "begin", "touching", "faults")
"""Names of the Functions of a controller."""

SOURCES = ("memory.c", "eliminate.c", "product.c", "recursion.c", "interior.c", "lanes.h", "memory.h", "stage_qp.h")
"""The files of the solver in `native/stage_qp`."""


@dataclass(frozen=True, eq=False)
class ControllerParts:
    """Parts of an exported controller: functions of a moving window, and its numbers.

    name: of the robot. functions: by the names of FUNCTIONS,
        begin(time, q) -> memory, touching(time, gait, memory) -> feet that stand as scheduled,
        faults(command, gait, schedule, that of the gait) -> 3 sizes of the command, 3 of the schedule: faults above 1,
        advance(time, q, qd, command, gait, memory, touching) -> (memory, schedule, times of the nodes),
        node(t, h, last, time, command, gait, memory, schedule, settings) -> p,
        stage(q, qd, qdd, force, p) -> (d, g, C', c, w, lower, upper, price, E', e, zlower, zupper, zprice),
        defect(q, qd, qdd, h, q_next, qd_next) -> b, move(q, qd, dx) -> (q, qd), error(q0, qd0, q1, qd1) -> dx.
    grid (N+1): times of the nodes from now [s]. posture (nq), height [m] of its base. forces: where the forces of each
    foot begin, and their number. contact, force_reference: where these lie in p. gait, settings: numbers. strongest
    (joints): limits of torques. joints, feet: names. steps: iterations of the first step; iterations, tolerance, start:
    of the program; answers: iterations of a feedback; largest: step of the plan; unit: tolerance of the length of a
    quaternion; dependent: share of its mobility below which the row of a contact follows from others; latest: time [s].

    >>> horizon.controller_parts().sizes["nf"]  # doctest: +SKIP
    12
    """

    name: str
    functions: Mapping[str, ca.Function]
    grid: Array
    posture: Array
    height: float
    forces: Sequence[int]
    contact: int
    force_reference: int
    gait: Array
    settings: Array
    strongest: Array
    joints: Sequence[str]
    feet: Sequence[str]
    steps: int
    iterations: int
    answers: int
    tolerance: float
    start: float
    largest: float
    unit: float
    dependent: float
    latest: float

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes of the window, by the names of the template."""
        f = self.functions
        nv, nf = f["defect"].size1_in("qd"), self.forces[-1]
        return {
            "N": len(self.grid) - 1, "nq": len(self.posture), "nv": nv, "nf": nf, "nj": len(self.joints),
            "n": len(self.feet), "m": f["stage"].size2_out("C"), "ne": f["stage"].size2_out("E"),
            "node": f["node"].size1_out(0), "memory": f["begin"].size1_out(0), "gait": len(self.gait),
            "settings": len(self.settings), "schedule": f["advance"].size1_out(1),
            "command": f["advance"].size1_in("command"),
        }  # fmt: skip


class Exportable(Protocol):
    """Argument of `export_controller`: an `ocp.Horizon`."""

    def controller_parts(self) -> ControllerParts: ...


def export_controller(
    horizon: Exportable, directory: str | os.PathLike[str], *, prefix: str | None = None, version: str = "1.0.0"
) -> Path:
    """Writes the controller of a horizon as a C99 library into `directory`, and returns its path.

    PREFIX_controller.h declares `PREFIX_init`, `PREFIX_reset`, `PREFIX_prepare`, `PREFIX_feedback`, and tells units,
    the order of joints, memory, stack, and the most operations of a step. The code has no allocation, no recursion, no
    library but libm, and loops of fixed bounds; the caller provides the memory. Inputs that are not finite, and memory
    that was overwritten, give a status and the last torques, which fade. example.c is a control loop; CMakeLists.txt,
    the file for pkg-config and a Simulink S-function are as for `export`; `simulink/sfun_PREFIX_controller.c` is the
    controller as a block.

    horizon: an `ocp.Horizon`; gait, tuning, and the numbers of iterations are its own. prefix: first part of file names
    and C names; default: made from the directory's name. version: of the library.

    A failed export changes nothing. Raises TypeError for anything but a horizon, ValueError for an unsafe prefix or
    files that `export` did not write.

    >>> od.codegen.export_controller(horizon, "build/ctrl")  # doctest: +SKIP
    PosixPath('build/ctrl')
    """
    parts = getattr(horizon, "controller_parts", None)
    if parts is None:
        raise TypeError(
            f"export_controller expects an ocp.Horizon, got {repr_in_message(horizon)}; for Functions there is export"
        )
    folder = path_of(directory, "directory")
    target = folder.resolve()
    name = prefix_of(target) if prefix is None else prefix
    files = controller_texts(parts(), name, version)
    writing.check_target(target, files)
    writing.write(target, files, f"{name}.h")
    return folder


def controller_texts(parts: ControllerParts, prefix: str, version: str = "1.0.0") -> dict[str, str]:
    """The texts of an export of a controller, by file name."""
    check_prefix(prefix)
    solver = _solver(prefix)
    values = _values(parts, prefix)
    own = {
        f"{prefix}_controller.h": _filled("controller.h.in", values),
        f"{prefix}_controller.c": _filled("controller.c.in", values),
        f"simulink/sfun_{prefix}_controller.c": _filled("sfun_controller.c.in", values),
    }
    more = More(
        {**solver, **own},
        fast=tuple(name for name in (*solver, f"{prefix}_controller.c") if name.endswith(".c")),
        headers=(f"{prefix}_controller.h",),
    )
    functions = [parts.functions[name] for name in FUNCTIONS]
    options = ExportOptions(version=version, external=False, selections=False)
    files = texts(functions, prefix, options, progress=False, more=more)
    files["example.c"] = _filled("controller_example.c.in", values)
    files["README.md"] += "\n" + _filled("controller_readme.md.in", values)
    return files


def _filled(template: str, values: Mapping[str, Any]) -> str:
    return text_of(text.TEMPLATES / template, **values)


def _solver(prefix: str) -> dict[str, str]:
    """The files of the solver, with the names of this export."""
    found = {}
    for name in SOURCES:
        code = (STAGE_QP.folder / name).read_text(encoding="utf-8")
        code = code.replace("STAGE_QP_PLAIN", f"{prefix.upper()}_PLAIN")  # the macro of all files
        code = code.replace("STAGE_QP", f"{prefix.upper()}_QP").replace("stage_qp", f"{prefix}_qp")
        code = re.sub(r'#include "(memory|lanes)\.h"', rf'#include "{prefix}_qp_\1.h"', code)
        file = f"{prefix}_qp.h" if name == "stage_qp.h" else f"{prefix}_qp_{name}"
        found[file] = f"/* {text.MARK}: the solver of the quadratic program, see {prefix}.h. */\n{code}"
    return found


def _numbers(values: Sequence[float] | Array) -> list[str]:
    return wrap_items((repr(float(x)) for x in values), indent="    ", width=110)


def _places(pattern: ca.Sparsity, width: int) -> list[int]:
    """Places, in a matrix row by row, of the nonzeros of its transpose."""
    rows, columns = pattern.get_triplet()
    return [c * width + r for r, c in zip(rows, columns, strict=True)]


def _values(parts: ControllerParts, prefix: str) -> dict[str, Any]:
    """Values of the places of all templates."""
    s, stage = parts.sizes, parts.functions["stage"]
    nz, nx = 3 * s["nv"] + s["nf"], 2 * s["nv"]
    C, E = (_places(stage.sparsity_out(name), nz) for name in "CE")
    own = _own_numbers(s, len(C), len(E))
    qp = s["N"], nx, nz - nx, s["m"], s["ne"], s["nv"]
    each = sum(parts.functions[name].n_instructions() for name in ("node", "stage", "defect", "move"))
    operations = (s["N"] + 1) * each + operations_of(qp, parts.iterations)
    joints = wrap_items(f"{k}: {printable(name)}" for k, name in enumerate(parts.joints))
    return s | {
        "mark": text.MARK, "prefix": prefix, "PREFIX": prefix.upper(), "states": nx, "joints": joints,
        "overview": [
            f" * Generator: {made_with()}",
            f" * Robot: {printable(parts.name)}; {s['N']} intervals over {parts.grid[-1]:g} s.",
        ],
        "feet": ", ".join(printable(foot) for foot in parts.feet), "numbers": own + numbers_of(qp),
        "megabytes": f"{(own + numbers_of(qp)) * 8e-6:.1f}", "millions": f"{operations / 1e6:.0f}",
        "factorizations": parts.iterations, "answers": parts.answers, "first": parts.steps,
        "stack": STACK + 8 * (3 * nx + 2 * s["nq"] + s["memory"] + s["schedule"]),
        "contact": parts.contact, "force_reference": parts.force_reference, "c_entries": len(C), "e_entries": len(E),
        "tolerance": repr(parts.tolerance), "start": repr(parts.start), "largest": repr(parts.largest),
        "unit": repr(parts.unit), "dependent": repr(parts.dependent), "latest": repr(parts.latest),
        "c_place": _integers(C), "e_place": _integers(E),
        "force_of": ", ".join(map(str, parts.forces)), "gait_numbers": _numbers(parts.gait),
        "settings_numbers": _numbers(parts.settings), "strongest": _numbers(np.minimum(parts.strongest, 1e19)),
        "grid": _numbers(parts.grid), "posture": _numbers(parts.posture), "height": repr(float(parts.height)),
        "period": repr(float(parts.grid[1])), "nz": nz,
    }  # fmt: skip


def _integers(values: Sequence[int]) -> list[str]:
    return wrap_items(map(str, values), indent="    ", width=110) or ["    0"]


STACK = 8_192
"""Bound of the stack of the solver and of the loop without its arrays, in bytes: the frames that GCC states without
optimization are half of it."""


def _own_numbers(s: Mapping[str, int], c_entries: int, e_entries: int) -> int:
    """Numbers of `struct controller`, in whole blocks of eight."""
    N, nq, nv, nf, nj, m, ne = (s[name] for name in ("N", "nq", "nv", "nf", "nj", "m", "ne"))
    nx, nu = 2 * nv, nv + nf
    nz = nx + nu
    count = 10 + s["command"] + s["gait"] + s["settings"] + s["memory"] + s["schedule"]
    count += (N + 1) * (1 + nq + nv + s["node"]) + N * (nv + nf) + nj + nj * nz + nj + 2 * nv * nv + nv
    count += (N + 1) * (1 + nq + nv + 2 * nf) + 5 * nz + 6 * m + m * nz + ne + ne * nz + nx
    count += c_entries + e_entries + 2 + nz + nu * nx
    return -(-count // 8) * 8
