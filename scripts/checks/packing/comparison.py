"""Results of packed and plain code of one Function, compared bit by bit."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import ocp_dyn as od
from ocp_dyn.codegen.text import driver
from ocp_dyn.codegen.text.emit import emit
from ocp_dyn.codegen.text.writer import Packing

STATES_AT_ONCE = 1000
FLAGS = ("-std=gnu11", "-ffp-contract=off", "-fno-math-errno", "-w", "-Wno-psabi", "-shared", "-fPIC")
"""Without contractions: these are the compiler's choice, and differ between the two forms."""

NUMBERS = itertools.count()

TYPES = {"double": (np.float64, np.int64), "single": (np.float32, np.int32)}


class Setting(NamedTuple):
    """Form and compiler of the code; widest: largest number of lanes."""

    compiler: str = "gcc"
    level: str = "-O1"
    precision: str = "double"
    widest: int = 4


class Found(NamedTuple):
    """Result of a comparison: numbers that were compared, how many differ, and what is packed (None: nothing)."""

    numbers: int
    different: int
    packing: Packing | None


def compare(f: ca.Function, model: od.Model, count: int, folder: Path, setting: Setting, seed: int = 0) -> Found:
    """Compares packed and plain code of f at `count` random states."""
    packed, plain = emit(f, "k", pack=True, widest=setting.widest), emit(f, "k")
    both = [_library(driver.batch_source(kernel, 1, setting.precision), folder, setting)
            for kernel in (packed, plain)]  # fmt: skip
    real, whole = TYPES[setting.precision]
    rng = np.random.default_rng(seed)
    numbers = different = 0
    for start in range(0, count, STATES_AT_ONCE):
        states = min(STATES_AT_ONCE, count - start)
        inputs = [random_input(f, i, model, states, rng).astype(real) for i in range(f.n_in())]
        first, second = (_run(library, f, inputs, states, real) for library in both)
        for a, b in zip(first, second, strict=True):
            same = (a.view(whole) == b.view(whole)) | (np.isnan(a) & np.isnan(b))
            numbers, different = numbers + a.size, different + int((~same).sum())
    return Found(numbers, different, packed.packing)


def random_input(f: ca.Function, i: int, model: od.Model, states: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Random values of an input, a state in every row: configurations, and other numbers of about one.

    One of eight rows holds numbers with many equal ones and zeros of both signs, another one large angles.
    """
    size = f.numel_in(i)
    values = rng.normal(size=(states, size))
    if f.name_in(i) in ("q", "q0", "q1") and size == model.nq:
        values = np.array([model.random_q(rng) for _ in range(states)]).reshape(states, size)
    elif f.name_in(i) == "h":
        values = rng.uniform(0.005, 0.02, (states, size))
    values[1::8] = rng.choice([0.0, -0.0, 1.0, -1.0, 0.5], size=values[1::8].shape)
    values[2::8] *= 1e5
    return values


def _library(source: str, folder: Path, setting: Setting) -> ctypes.CDLL:
    # a new name every time: the loader takes a library for one that it has loaded if their files are the same
    text, made = (folder / f"{next(NUMBERS)}{suffix}" for suffix in (".c", ".so"))
    text.write_text(source, encoding="ascii")
    subprocess.run([setting.compiler, setting.level, *FLAGS, str(text), "-o", str(made), "-lm"], check=True)
    library = ctypes.CDLL(str(made))
    text.unlink()
    return library


def _run(
    library: ctypes.CDLL, f: ca.Function, inputs: list[NDArray[np.floating]], states: int, real: type[np.floating]
) -> list[NDArray[np.floating]]:
    outputs = [np.zeros((states, f.numel_out(j)), real) for j in range(f.n_out())]
    steps = (ctypes.c_longlong * max(1, len(inputs)))(*(x.shape[1] for x in inputs))
    pointers = [(ctypes.c_void_p * max(1, len(side)))(*(x.ctypes.data for x in side)) for side in (inputs, outputs)]
    assert library.ocp_dyn_many(ctypes.c_longlong(states), pointers[0], steps, pointers[1]) == 0
    return outputs
