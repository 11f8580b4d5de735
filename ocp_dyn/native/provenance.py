"""Provenance of results: the versions, the machine and the compiler behind a number; the one place that collects them.

Solutions carry it in `stats["provenance"]`, and so their files, those of sweeps and their records do; reports end with
its sentences, exports name the `generator`, and `ocp-dyn --versions` prints it all.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

import casadi as ca
import numpy as np

from . import variants
from .toolchain import find_compiler

PACKAGE = Path(__file__).parents[1]

VERSION: str = sys.modules[PACKAGE.name].__version__
"""Version of this library, which the package itself states."""

KINDS = (".py", ".c", ".h", ".csv", ".in", ".toml")
"""Endings of the files of the package on which numbers can depend."""

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_CORETYPE", "CC")
"""Variables of the environment that change threads, kernels of linear algebra, or the compiler."""


def generator() -> str:
    """This library and CasADi with their versions, in one line.

    >>> from ocp_dyn.native.provenance import generator
    >>> generator()
    'ocp_dyn ..., CasADi ...'
    """
    return f"ocp_dyn {VERSION}, CasADi {ca.CasadiMeta.version()}"


def made_with() -> str:
    """The `generator`, with the state of this library."""
    return f"{generator()}, source {source()}"


@functools.cache
def source() -> str:
    """Twelve digits that tell two states of this library apart, such as two commits of one version: a digest of the
    files of the package, wherever it is installed."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*"), key=lambda path: path.relative_to(PACKAGE).parts):
        if path.suffix in KINDS and "__pycache__" not in path.parts:
            found.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def provenance() -> dict[str, Any]:
    """Versions of this library, CasADi, NumPy and Python, system and processor, compiler, and native libraries, as
    plain data for JSON.

    source: see `source`. native: the libraries that came with the package, or were made by this compiler. environment:
    those of `VARIABLES` that are set.

    >>> from ocp_dyn.native.provenance import provenance
    >>> list(provenance())[:5]
    ['ocp_dyn', 'source', 'casadi', 'numpy', 'python']
    """
    return {**_machine(), "environment": {name: os.environ[name] for name in VARIABLES if name in os.environ}}


@functools.cache
def _machine() -> dict[str, Any]:
    """All that stays as it is in a process."""
    path = variants.prebuilt("tables")
    compiler = _compiler()
    native = path.stem.partition("-")[2] if path else "made here" if compiler else "none"
    return {
        "ocp_dyn": VERSION,
        "source": source(),
        "casadi": ca.CasadiMeta.version(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "compiler": compiler or "none",
        "native": native,
    }


def _compiler() -> str:
    """The first line that the compiler says about its version; "" without a compiler."""
    found = find_compiler()
    if found is None:
        return ""
    try:
        done = subprocess.run([*found.command, "--version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return found.name
    return (done.stdout.splitlines() or [found.name])[0].strip()


def _processor() -> str:
    """The name of the processor, as far as the system tells it."""
    try:
        lines = variants.CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def sentences(found: Mapping[str, Any]) -> list[str]:
    """A provenance in three lines for a report: versions; system and compiler; the run, if it is one of a solve."""
    if not found:
        return ["Made by an earlier version of ocp_dyn, which does not tell with what."]
    get = {"source": "unknown"} | dict(found)
    versions = (
        f"ocp_dyn {get.get('ocp_dyn')} (source {get['source']}), CasADi {get.get('casadi')}, NumPy {get.get('numpy')}, "
        f"Python {get.get('python')}."
    )
    machine = (
        f"{get.get('system')}, {get.get('processor')}, {get.get('cores')} cores; compiler: {get.get('compiler')}; "
        f"native libraries: {get.get('native')}."
    )
    lines = [versions, machine]
    if get.get("environment"):
        lines[-1] += " " + ", ".join(f"{name}={value}" for name, value in get["environment"].items()) + "."
    solve = get.get("solve")
    if isinstance(solve, Mapping):
        told = ", ".join(f"{name} {_told(value)}" for name, value in solve.items() if value not in (None, {}, []))
        lines.append(f"Solved with {told}, from {get.get('begin')}.")
    return lines


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{name}={_told(x)}" for name, x in value.items()) + ")"
    return f"{value:g}" if isinstance(value, float) else str(value)


def plain(value: Any) -> Any:
    """A value as plain data for JSON: arrays as lists, and the repr of what is no data."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, ca.DM):
        return np.array(value).tolist()
    return repr(value)
