"""Compiling under load: processes that are killed, pickles, other processes, threads, a cache shared by all."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn._base import cache
from ocp_dyn.native.processes import Group, group
from ocp_dyn.native.toolchain import find_compiler
from tests.helpers import REPOSITORY

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
pytestmark = pytest.mark.filterwarnings("ignore:compile found no C compiler:RuntimeWarning")
needs_posix = pytest.mark.skipif(os.name != "posix", reason="process groups are those of POSIX")

MODEL = od.models.pendulum(2)
H, C = od.function(od.mass_matrix, MODEL), od.function(od.bias_force, MODEL)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A cache of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ocp_dyn"


# Processes that are killed

SLOW = """#!/bin/sh
case "$*" in
*-dM*) echo "#define FAKE";;
*) (echo $$ > "$PIDS/driver"; exec sleep 60) & echo $! > "$PIDS/pass"; wait;;
esac
"""
"""A compiler with a process of its own, as GCC has: who kills the driver alone leaves the other one."""

INTERRUPTIBLE = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""Undoes that programs in the background may ignore interrupts."""
BUILD = "import ocp_dyn as od; od.codegen.compile([od.function(od.mass_matrix, od.models.pendulum(1))], lanes=1)"


def alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@needs_posix
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.slow
def test_compilers_end_with_the_process_that_asked(home, tmp_path, number):
    compiler = tmp_path / "slow"
    compiler.write_text(SLOW)
    compiler.chmod(0o755)
    environment = os.environ | {"CC": str(compiler), "PIDS": str(tmp_path)}
    code = f"{INTERRUPTIBLE}; {BUILD}"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=REPOSITORY, env=environment, stderr=subprocess.PIPE)
    files = [tmp_path / "driver", tmp_path / "pass"]
    while not all(path.exists() and path.read_text().strip() for path in files):
        assert process.poll() is None
        time.sleep(0.01)
    pids = [int(path.read_text()) for path in files]
    assert all(map(alive, pids))
    process.send_signal(number)
    process.communicate(timeout=10)  # none waits for the compiler to finish
    for _ in range(3000):
        if not any(map(alive, pids)):
            break
        time.sleep(0.01)
    assert not any(map(alive, pids))
    if number == signal.SIGINT:
        assert list(home.iterdir()) == []


@needs_posix
def test_a_group_ends_what_it_started_and_starts_nothing_after():
    with group() as started:
        assert started.run(["/bin/sh", "-c", "echo words >&2; exit 3"]) == (3, "words\n")
        process = subprocess.Popen(["sleep", "60"], process_group=started._watch.pid)
    assert process.wait() == -signal.SIGTERM
    with pytest.raises(RuntimeError, match="interrupted"):
        started.run(["true"])


def test_without_a_shell_programs_run_as_they_are(monkeypatch):
    monkeypatch.setattr("ocp_dyn.native.processes._watch", lambda: None)
    started = Group()
    assert started.run([sys.executable, "-c", ""]) == (0, "")
    started.end()


# Pickles, processes, threads


@needs_compiler
@pytest.mark.parametrize("compiler", [True, False])
@pytest.mark.slow
def test_compiled_functions_pickle(home, monkeypatch, compiler):
    if not compiler:
        monkeypatch.setattr(sys.modules["ocp_dyn.codegen.compiled.compile"], "find_compiler", lambda: None)
    fast = od.codegen.compile([H, C], lanes=2, precision="single", threads=1)
    q = np.ones((3, 2), dtype=np.float32)
    files = sorted(home.iterdir()) if compiler else []
    for again in (pickle.loads(pickle.dumps(fast)), copy.deepcopy(fast)):
        assert repr(again) == repr(fast)
        np.testing.assert_array_equal(again.H(q), fast.H(q))
    one = pickle.loads(pickle.dumps(fast.C))
    assert repr(one) == repr(fast.C)
    assert one.dtype == np.float32
    np.testing.assert_array_equal(one(q, q), fast.C(q, q))
    assert (sorted(home.iterdir()) if compiler else []) == files, "what is in the cache is not built again"
    content = pickle.dumps(fast.H)
    for path in files:
        path.unlink()
    np.testing.assert_array_equal(pickle.loads(content)(q), fast.H(q))


@needs_compiler
def test_keys_of_ones_own_go_along(home):
    fast = od.codegen.compile([H], lanes=1, keys=["mine"])
    (path,) = home.iterdir()
    for again in (pickle.loads(pickle.dumps(fast)).H, pickle.loads(pickle.dumps(fast.H))):
        assert again(np.zeros(2)).shape == (2, 2)
    assert list(home.iterdir()) == [path]


@needs_compiler
@pytest.mark.slow
def test_a_process_that_is_spawned_takes_compiled_functions(home):
    fast = od.codegen.compile([H], lanes=2)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(fast.H, [np.zeros(2), np.ones((4, 2))])
    for mine, q in zip(found, (np.zeros(2), np.ones((4, 2))), strict=True):
        np.testing.assert_array_equal(mine, fast.H(q))
    assert len(list(home.iterdir())) == 1


@needs_compiler
@pytest.mark.slow
def test_threads_compile_at_once(home):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        found = [f.result() for f in [pool.submit(od.codegen.compile, [H], lanes=1) for _ in range(4)]]
    assert len({f.H(np.ones(2)).tobytes() for f in found}) == 1
    assert all(path.suffix == ".so" for path in home.iterdir())


# Who may look into the cache


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are those of POSIX")
@pytest.mark.parametrize("mode", [0o070, 0o007, 0o040, 0o020, 0o010, 0o004, 0o002, 0o001])
def test_every_right_of_others_is_too_much(home, mode):
    assert cache.directory() == home
    home.chmod(0o700 | mode)
    with pytest.raises(PermissionError, match=f"mode {0o700 | mode:04o}, expected 0700"):
        cache.directory()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="permissions are those of POSIX")
def test_the_cache_is_made_private_under_any_umask(home):
    before = os.umask(0)
    try:
        assert stat.S_IMODE(cache.directory().stat().st_mode) == 0o700
    finally:
        os.umask(before)
