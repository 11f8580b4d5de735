"""Bounds of stack memory in an export's manual, compared with the memory that calls change on a painted stack."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.codegen.c_export import stack
from ocp_dyn.codegen.text.differentiated import differentiated
from ocp_dyn.codegen.text.emit import emit
from ocp_dyn.codegen.text.interface import entries
from ocp_dyn.codegen.text.pressure import Pressure, pressure, pressure_of_text
from tests.codegen.test_codegen import plain_functions
from tests.helpers import tree

COMPILERS = [path for path in map(shutil.which, ("gcc", "clang")) if path]
SLACK = 1500
"""Bytes by which a bound may exceed twice the memory used: frames, and libm with large angles."""

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C compiler")

ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (\d+) \|$", re.MULTILINE)


def run(*command: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def painter(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("paint") / "painted_stack"
    run(COMPILERS[0], "-O1", Path(__file__).with_name("painted_stack.c"), "-o", program, "-lpthread", "-ldl")
    return program


def measured(
    painter: Path, directory: Path, functions: list[ca.Function], level: str, lanes: bool, packed: bool
) -> dict[str, int]:
    """Bytes that every function of an export changes, by name: the most of all compilers, of packed and plain code, and
    of batches with several instruction sets."""
    prefix = directory.name
    sources = [path for path in directory.glob("*.c") if path.name not in ("example.c", f"{prefix}_sfun.c")]
    flags = ("-std=gnu99", "-ffp-contract=fast", "-fno-math-errno", "-fno-tree-slp-vectorize", "-w")
    found: dict[str, int] = {}
    forms = ((), (f"-D{prefix.upper()}_{'ONE_SET' if lanes else 'PLAIN'}",))
    for compiler, kind in itertools.product(COMPILERS, forms if lanes or packed else forms[:1]):
        made = directory / f"lib{level}{len(kind)}{Path(compiler).name}.so"
        run(compiler, level, *flags, *kind, "-shared", "-fPIC", *sources, "-o", made, "-lm", "-Wl,-z,now")
        for f in functions:
            sizes = [f.numel_in(i) for i in range(f.n_in())] + [f.numel_out(j) for j in range(f.n_out())]
            names = [f"{prefix}_{f.name()}", *([f"{prefix}_{f.name()}_batch"] if lanes else [])]
            for many, name in enumerate(names):
                found[name] = max(found.get(name, 0), int(run(painter, made, name, many, *sizes)))
    return found


def compare(
    painter: Path, directory: Path, functions: list[ca.Function], levels: tuple[str, ...],
    lanes: bool = False, packed: bool = False,
) -> None:  # fmt: skip
    stated = {name: (int(o), int(p)) for name, o, p in ROW.findall((directory / "README.md").read_text())}
    found = {level: measured(painter, directory, functions, level, lanes, packed) for level in levels}
    assert set(stated) == set(found[levels[0]])
    for name, bounds in stated.items():
        for kinds, bound in ((("-O2", "-O3"), bounds[0]), (("-O0",), bounds[1])):
            used = [found[level][name] for level in kinds if level in found]
            assert max(used, default=0) <= bound, (name, kinds)
            assert not used or bound <= 2 * max(used) + SLACK, (name, kinds)


def library_calls() -> ca.Function:
    """Functions of libm, comparisons and selections."""
    x = ca.SX.sym("x", 3)
    one = (ca.exp, ca.log, ca.sqrt, ca.tan, ca.asin, ca.acos, ca.atan, ca.sinh, ca.tanh, ca.erf, ca.floor, ca.log1p)
    two = (ca.fmax, ca.atan2, ca.hypot, ca.power, ca.fmod)
    values = [f(x[k % 3] * (1 + k)) for k, f in enumerate(one)] + [f(x[0], x[1]) for f in two]
    return ca.Function("calls", [x], [ca.vertcat(*values, ca.if_else(x[0] > x[1], x[2], x[0]))])


@pytest.mark.slow
def test_one_state(painter, tmp_path):
    functions = [od.function(od.forward_dynamics, tree("chain")), library_calls()]
    compare(painter, od.codegen.export(functions, tmp_path / "robot"), functions, ("-O0", "-O3"), packed=True)


@pytest.mark.slow
def test_functions_of_casadis_generator(painter, tmp_path):
    functions = plain_functions()
    compare(painter, od.codegen.export(functions, tmp_path / "plain"), functions, ("-O0", "-O2"))


@pytest.mark.slow
def test_long_functions_and_derivatives(painter, tmp_path):
    f = od.function(od.inverse_dynamics, od.models.five_link_biped())
    directory = od.codegen.export([f], tmp_path / "derivatives", derivatives=("adj1",))
    compare(painter, directory, [f, differentiated(f, "adj1")], ("-O0", "-O2"))


@pytest.mark.slow
def test_batches(painter, tmp_path):
    """With every instruction set that this processor has."""
    functions = [od.function(od.inverse_dynamics, od.models.pendulum(2))]
    directory = od.codegen.export(functions, tmp_path / "robot", lanes=8)
    compare(painter, directory, functions, ("-O0", "-O2"), lanes=True)


def test_pressure():
    """Values 0, 1: inputs; 2 = sin 0, 3 = 0 + 1, 4 = 2 * 3 with an earlier 5, 6: a constant."""
    arguments = {2: (0,), 3: (0, 1), 4: (2, 3), 7: (4, 6), 8: (5, 7)}
    kinds = {2: "angle", 3: "call"}
    found = pressure([(2,), (3,), (4,), (7,), (8,)], lambda v: arguments.get(v, ()), lambda v: v == 6,
                     lambda v: kinds.get(v, ""))  # fmt: skip
    # named: five statements, one of them with two results, and the values 0, 1 and 5
    assert found == (9, 4, 1, 1, 1, 1, 0)


def test_pressure_of_vectors():
    """Vectors count by their lanes, and begin at multiples of them."""
    chunk = """CHUNK void k_1(const V *const *x, V *const *y, V *RESTRICT w)
{
    const V *RESTRICT x0 = x[0];
    angles_(LOAD4(x0 + 3), w + 0);
    const V t7 = w[3];
    const V2 v8 = LOAD2(w + 8);
    const V2 g2 = {x0[1], x0[0]};
    V2 v9, v10; sincos_2(g2, &v9, &v10);
    const V2 v12 = PICK2(v8 < v9, v9, TRUTH2(v10 < g2));
    w[9] = v12[1];
    const V t13 = v_exp(t7) * 0x1.4p+3;
}
"""
    # named: 1, then 2 to 10 for five vectors, then 1 for t13; alive at v12: t7 and five vectors
    assert pressure_of_text(chunk) == (1 + 1 + 5 * 2 + 1, 11, 2, 5, 0, 2, 1)


def test_bounds_count_values():
    """Alive values count where compilers optimize, named values and those of sincos_ where they do not."""
    f = ca.Function("f", [ca.SX.sym("x")], [ca.SX(1, 1)])
    (entry,) = entries([f], "robot")
    kernel = emit(f, "kernel")

    def bounds(**counts: int) -> np.ndarray:
        some = Pressure(0, 0, 1, 0, 0)._replace(**counts)
        made = replace(kernel, pressures=(Pressure(0, 0, 0, 0, 0), some), angles=True)
        return np.array([*stack.of_kernel(entry, made), *stack.of_batch(made, 8, "double")])

    least = bounds()
    assert list(bounds(alive=80) - least) == [80 * 8, 0, 80 * 64, 0]
    assert list(bounds(named=800) - least) == [0, 800 * 8, 0, 800 * 64]
    assert list(bounds(named=800, width=2) - least)[1] == 1000 * 8  # operands of vectors have places of their own
    assert list(bounds(angles=9) - least) == [0, 8 * 8 * stack.SINCOS, 8 * 64 * 8, 8 * 64 * 170]
    assert list(bounds(angles=2, width=2) - bounds(angles=2)) == [16 * 8, 0, 0, 0]
    angles = [4 * 8 * n + 2 * stack.FRAME for n in (16, stack.SINCOS)]
    assert np.abs((bounds(blocks=3) - least)[:2] - angles).max() < 64
    assert list(bounds(calls=8) - least) == [0, 0, 8 * 3 * 64, 8 * 8 * 64]
    assert list(bounds(constants=8) - least) == [0, 0, 0, 8 * 64]
    more = stack.of_kernel(entry, replace(kernel, work=80))
    assert more == tuple(x + 640 for x in stack.of_kernel(entry, kernel))


def test_frames_of_casadis_code():
    code = """
#define casadi_inner CASADI_PREFIX(inner)
static double casadi_inner(const casadi_real* x, casadi_int n) {
  casadi_real r[3], *s;
  return exp(x[0]);
}

int outer(const casadi_real** arg) {
  struct casadi_mem m;
  const struct casadi_mem* p;
  casadi_int i, j=3;
  return casadi_inner(arg[0], 1) + small(arg[1]);
}

static double small(const casadi_real* x) {
  return x[0];
}
"""
    inner = 8 * (2 + 4) + stack.FRAME + stack.LIBM
    outer = 8 * (1 + 64 + 1 + 2) + stack.FRAME + inner
    assert stack.frames_of(code) == {"casadi_inner": inner, "outer": outer, "small": 8 + stack.FRAME}
