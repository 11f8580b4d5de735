"""An exported controller beside the controller in Python, under hostile inputs, in torn memory, in Simulink."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.codegen.c_export.stage_qp_size import numbers_of
from ocp_dyn.native.libraries import STAGE_QP

CC = shutil.which("cc") or shutil.which("gcc")
HERE = Path(__file__).parent
STRICT = ("-std=c99", "-O0", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-psabi", "-fPIC")
HEIGHT = 0.4
GAIT = ocp.GaitPattern(period=0.4, duty=(0.85, 0.85, 0.85), offsets=(0.0, 1 / 3, 2 / 3), swing_height=0.02)
NOT_FINITE, NO_MEMORY, NO_CONTACT, TIME, ORDER, COMMAND_FAULT, SCHEDULE_FAULT = range(4, 11)

pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler")


def stool() -> od.Model:
    """A trunk on three legs that swing and slide: a small robot that stands."""
    builder = od.ModelBuilder("stool")
    builder.add_body("trunk", od.FloatingBase(), mass=6, inertia=(0.06, 0.08, 0.1))
    for k, (x, y) in enumerate(((0.2, 0.0), (-0.1, 0.15), (-0.1, -0.15))):
        builder.add_body(
            f"leg{k}", od.Revolute("y" if k else "x"), "trunk", origin=(x, y, 0), mass=0.6, com=(0, 0, -0.1),
            inertia=(0.004, 0.004, 0.001), effort=20.0, lower=-1, upper=1, velocity=20,
        )  # fmt: skip
        builder.add_body(
            f"slide{k}", od.Prismatic("z"), f"leg{k}", origin=(0, 0, -0.3), mass=0.3,
            inertia=(0.002, 0.002, 0.0005), effort=200.0, lower=-0.1, upper=0.1,
        )  # fmt: skip
        builder.add_frame(f"foot{k}", f"slide{k}", origin=(0, 0, -0.1))
    return builder.build()


def posture() -> np.ndarray:
    q = np.zeros(stool().nq)
    q[2], q[6] = HEIGHT, 1.0
    return q


@pytest.fixture(scope="module")
def horizon() -> ocp.Horizon:
    return ocp.Horizon(
        stool(), ["foot0", "foot1", "foot2"], posture=posture(), gait=GAIT, duration=0.15, intervals=5
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(horizon, tmp_path_factory) -> Path:
    return od.codegen.export_controller(horizon, tmp_path_factory.mktemp("export") / "ctrl")


def run(*command: object) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def objects(folder) -> list[Path]:
    return compiled(folder, *STRICT)


def compiled(folder: Path, *flags: str, files: str = "ctrl*.c") -> list[Path]:
    """Object files of the library, or of some of its files."""
    place = folder.parent / f"objects{len(flags)}"
    place.mkdir()
    jobs = [
        (place / f"{source.stem}.o", subprocess.Popen([CC, *flags, "-c", source, "-o", place / f"{source.stem}.o"]))
        for source in sorted(folder.glob(files))
    ]
    assert all(job.wait() == 0 for _, job in jobs)
    return [path for path, _ in jobs]


class Library:
    """An exported controller with memory between guards."""

    def __init__(self, path: Path, header: str) -> None:
        self.c = ctypes.CDLL(str(path))
        pointer, number = ctypes.c_void_p, ctypes.c_double
        self.c.ctrl_reset.argtypes = [pointer, number, pointer, pointer]
        self.c.ctrl_prepare.argtypes = [pointer, number, *(5 * [pointer])]
        self.c.ctrl_planned.argtypes = [pointer, number, pointer, pointer]
        sizes = {name: int(n) for name, n in re.findall(r"#define CTRL_(\w+) (\d+)$", header, re.MULTILINE)}
        self.sizes, self.count = sizes, sizes["NUMBERS"]
        self._room = np.full(self.count + 128, 7.25)
        self.memory = self._room[64 : 64 + self.count]
        self.tau, self.gains = np.zeros(sizes["JOINTS"]), np.zeros((sizes["JOINTS"], 2 * sizes["NV"]))

    def call(self, name, *values):
        """Status of a function; arrays are passed as addresses."""
        every = self.memory, *values
        given = [ctypes.c_void_p(v.ctypes.data) if isinstance(v, np.ndarray) else v for v in every]
        status = getattr(self.c, f"ctrl_{name}")(*given)
        assert np.all(self._room[:64] == 7.25)
        assert np.all(self._room[-64:] == 7.25)
        return status

    def begin(self, q, qd):
        assert self.call("init") == 0
        assert self.call("reset", 0.0, q, qd) == 0

    def feedback(self, q, qd):
        self.tau[:], self.gains[:] = np.nan, np.nan
        status = self.call("feedback", q, qd, self.tau, self.gains)
        assert np.all(np.isfinite(self.tau))
        assert np.all(np.isfinite(self.gains))
        return status


@pytest.fixture(scope="module")
def library(folder, objects) -> Library:
    made = folder.parent / "libctrl.so"
    run(CC, "-shared", *objects, "-o", made, "-lm", "-Wl,-z,defs")
    return Library(made, (folder / "ctrl_controller.h").read_text())


def command(horizon, **values):
    return ocp.Command(**values).vector(horizon.body.height)


@pytest.mark.slow
def test_the_library_computes_what_the_controller_in_python_does(horizon, library):
    rng, control = np.random.default_rng(0), horizon.controller()
    q, qd, nv = posture(), np.zeros(stool().nv), stool().nv
    control.reset(0.0, q, qd)
    library.begin(q, qd)
    asked, tolerance = ocp.Command(forward=0.1), 1e-4  # rounding moves the end of an iteration by this share at first
    for step in range(12):
        time = 0.02 * step
        action = control.update(time, q, qd, asked)
        assert library.call("prepare", time, command(horizon, forward=0.1), None, None, q, qd) == 0
        status = library.feedback(q, qd)
        assert ("solved", "iterations", "relaxed", "contradiction")[status] == action.status
        inside = np.abs(action.tau[6:]) < stool().dofs.tau_max[6:]
        size = np.max(np.abs(action.tau))
        assert np.allclose(library.tau[inside], action.tau[6:][inside], rtol=0, atol=tolerance * size)
        assert np.allclose(library.gains, action.K, rtol=0, atol=10 * tolerance * np.max(np.abs(action.K)))
        planned = np.zeros(stool().nq), np.zeros(nv)
        assert library.call("planned", time + 0.02, *planned) == 0
        q, qd = planned[0], planned[1] + 0.01 * rng.normal(size=nv)


@pytest.mark.slow
def test_a_plan_that_is_looked_at_stays_the_same(horizon, library):
    """The work that a feedback leaves for later is done once, by the next call that needs it."""
    found = []
    for looks in (0, 1, 2):
        library.begin(posture(), np.zeros(stool().nv))
        for step in range(3):
            library.call("prepare", 0.02 * step, command(horizon, forward=0.1), None, None, None, None)
            library.feedback(posture(), np.full(stool().nv, 0.05 * step))
            for _ in range(looks):
                assert library.call("planned", 0.0, np.zeros(stool().nq), np.zeros(stool().nv)) == 0
        found.append(library.tau.copy())
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[1], found[2])


@pytest.mark.slow
def test_the_example_runs(folder, objects):
    program = folder.parent / "example"
    run(CC, *STRICT, folder / "example.c", *objects, "-o", program, "-lm")
    lines = [[float(x) for x in line.split()] for line in run(program).splitlines()]
    assert len(lines) == 10
    assert max(line[1] for line in lines) <= 3
    assert run(program) == run(program)  # to the last bit


@pytest.mark.slow
def test_the_library_needs_the_mathematical_library_only(folder, objects):
    needed = set()
    for path in objects:
        needed |= set(re.findall(r" U (\w+)", run("nm", path))) - set(re.findall(r" [Trd] (\w+)", run("nm", path)))
    foreign = {name for name in needed if not name.startswith("ctrl_")}
    mathematical = ("fmax", "fmin", "fabs", "sqrt", "sin", "cos", "sincos", "tan", "asin", "acos", "atan", "atan2")
    mathematical += ("floor", "fmod", "pow", "copysign")
    assert foreign <= {*mathematical, "memcpy", "memset", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}


@pytest.mark.slow
def test_states_that_cannot_be_used(horizon, library):
    q, qd, walk = posture(), np.zeros(stool().nv), command(horizon)
    library.memory[:] = np.nan
    assert library.feedback(q, qd) == NO_MEMORY
    assert np.all(library.tau == 0)
    library.begin(q, qd)
    assert library.feedback(q, qd) == ORDER
    assert library.call("prepare", 0.0, walk, None, None, None, None) == 0
    assert library.feedback(q, qd) <= 3
    good = library.tau.copy()
    assert np.max(np.abs(good)) > 0.01
    assert np.max(np.abs(library.gains)) > 0
    for k in range(1, 3):  # the last torques, which fade
        assert library.call("prepare", 0.01, walk, None, None, q, np.full_like(qd, np.nan)) == NOT_FINITE
        assert library.feedback(q, qd) == ORDER
        assert np.allclose(library.tau, 0.95**k * good, rtol=1e-14)
        assert not library.gains.any()
    assert library.feedback(2 * q, qd) == NOT_FINITE  # no unit quaternion
    assert library.call("prepare", -1.0, walk, None, None, q, qd) == TIME
    assert library.call("prepare", 0.02, np.full_like(walk, np.inf), None, None, q, qd) == NOT_FINITE
    assert library.call("prepare", 0.02, walk, None, None, q, qd) == 0
    assert library.feedback(q, qd) <= 3


@pytest.mark.slow
def test_commands_and_schedules_that_cannot_be_used(horizon, library):
    q, qd, fields = posture(), np.zeros(stool().nv), horizon.body.schedule
    library.begin(q, qd)

    def status(schedule=None, time=0.0, **asked):
        found = library.call("prepare", time, command(horizon, **asked), schedule, None, q, qd)
        assert library.feedback(q, qd) == ORDER
        return found

    assert status(forward=50.0) == status(turning=-90.0) == status(height=5.0) == status(roll=-1.2) == COMMAND_FAULT
    assert status(time=1e9) == NOT_FINITE
    swings = {name: np.zeros(shape) for name, shape in fields.shapes.items()}
    swings |= {"liftoff": np.tile([-1.0, 1e9, 1e9], (3, 1)), "touchdown": np.tile([9.0, 1e9, 1e9], (3, 1))}
    swings["normal"][:, 2] = 1.0
    assert status(fields.pack(swings)) == NO_CONTACT
    for part in ({"touchdown": -2.0}, {"liftoff": 0.1}, {"normal": 1.0}, {"x": 50.0}):
        assert status(fields.pack(swings | part)) == SCHEDULE_FAULT


def fuzz(folder, objects, rounds, *flags):
    program = folder.parent / f"fuzz{len(flags)}"
    values = ", ".join(map(repr, posture().tolist()))
    defines = f"-DPOSTURE={values}", "-DLIMIT=200.0", f"-DHEIGHT={HEIGHT}", f"-DROUNDS={rounds}"
    run(CC, "-std=c99", *flags, *defines, f"-I{folder}", HERE / "controller_fuzz.c", *objects, "-o", program, "-lm")
    counts = [int(n) for n in run(program).split()]
    assert sum(n > 0 for n in counts) >= 5  # it met as many statuses


@pytest.mark.slow
def test_hostile_inputs_and_torn_memory_give_finite_torques_within_limits(folder, objects):
    fuzz(folder, objects, 150)


@pytest.mark.slow
def test_sanitizers_find_nothing(folder):
    checks = "address,bounds,shift,signed-integer-overflow,integer-divide-by-zero,float-cast-overflow,vla-bound"
    flags = ("-std=c99", "-O0", f"-fsanitize={checks}", "-fno-sanitize-recover=all", "-w")  # others take gcc long
    fuzz(folder, compiled(folder, *flags), 60, *flags[1:])


@pytest.mark.parametrize("flags", ["-O2", "-O2 -mavx"])
@pytest.mark.slow
def test_references_compile_with_and_without_avx(folder, flags):
    """GCC 12 fails on packed selections without AVX."""
    if "mavx" in flags and not os.uname().machine.startswith("x86"):
        pytest.skip("not an x86 processor")
    run(CC, *STRICT, *flags.split(), "-c", folder / "ctrl_node.c", "-o", folder.parent / "node.o")


@pytest.mark.slow
def test_plain_code_without_vectors(folder, objects):
    """The code for compilers without extensions of GCC computes the same."""
    plain = compiled(folder, *STRICT, "-DCTRL_PLAIN", files="ctrl_qp*.c")
    rest = [path for path in objects if not path.name.startswith("ctrl_qp")]
    printed = []
    for kind, made in (("wide", objects), ("plain", [*rest, *plain])):
        program = folder.parent / kind
        run(CC, *STRICT, folder / "example.c", *made, "-o", program, "-lm")
        printed.append([[float(x) for x in line.split()] for line in run(program).splitlines()])
    assert np.allclose(*printed, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_the_block_of_simulink_compiles(folder):
    standin = HERE.parent / "interoperation" / "simulink"
    source = folder / "simulink" / "sfun_ctrl_controller.c"
    include = f"-I{folder}", f"-I{standin}", "-DMATLAB_MEX_FILE"
    run(CC, *STRICT, "-Wno-unused-function", *include, "-c", source, "-o", folder.parent / "block.o")


def test_memory_is_counted_as_in_c():
    loaded = STAGE_QP.obtain(wait=True)[0]
    assert loaded is not None
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(1, 40))
        sizes = (
            int(rng.integers(1, 50)),
            2 * n,
            n + int(rng.integers(0, 30)),
            *(int(x) for x in rng.integers(0, 90, 2)),
            n,
        )
        assert numbers_of(sizes) == loaded.functions.stage_qp_stacked_begin((ctypes.c_int * 6)(*sizes), None)


def test_what_is_no_horizon(tmp_path):
    with pytest.raises(TypeError, match=r"expects an ocp\.Horizon, got .*for Functions there is export"):
        od.codegen.export_controller(stool(), tmp_path / "ctrl")
    assert not (tmp_path / "ctrl").exists()
