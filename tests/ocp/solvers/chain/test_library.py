"""The library of the chain solver: how it is compiled, kept and loaded, and what is told where that fails.

The C file here has the functions of the library and does nothing, so that it is compiled at once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ocp_dyn.codegen.machine_code import cache
from ocp_dyn.codegen.machine_code.processes import NICENESS
from ocp_dyn.codegen.machine_code.toolchain import find_compiler
from ocp_dyn.ocp.solvers.chain import build, choice, library
from ocp_dyn.ocp.solvers.interface import Settings
from tests.helpers import REPOSITORY

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(find_compiler() is None or COMPILER is None, reason="no C compiler")

EMPTY = """#include "empty.h"
API int chain_begin(int n, int fronts, const int *f, const int *r, const int *t, const int *p, const int *h, int k)
{ return n + 10 * fronts + 100 * f[0] + 1000 * r[1] + 10000 * t[1] + 100000 * p[0] + 1000000 * h[0] - k; }
API int chain_use(int id) { int before = current; current = id; return before; }
API void chain_end(int id) { ended = id; }
API void chain_stats(int id, double *out) { for (int k = 0; k < 16; k++) out[k] = id + k + ended + 0.25; }
API void chain_watch(void *f) {}
API void ma27id_(void) {}
API void ma27ad_(void) {}
API void ma27bd_(void) {}
"""
HEADER = '#define API __attribute__((visibility("default")))\nstatic int ended, current;\n'


class Plan:
    front, role, tile = np.array([3, 0]), np.array([0, 2]), np.array([-1, 1])
    parent, thread, threads = np.array([2]), np.array([1]), 7


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    """A cache and sources of the test's own."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "empty.c").write_text(EMPTY)
    (folder / "more.c").write_text('#include "empty.h"\nAPI void ma27cd_(void) {}\n')
    (folder / "empty.h").write_text(HEADER)
    monkeypatch.setattr(build, "FOLDER", folder)
    monkeypatch.setattr(build, "_found", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ocp_dyn"


def by_script(tmp_path: Path, monkeypatch, text: str) -> Path:
    """A compiler that runs this before every compilation; returns its log, with a line for every call."""
    script, log = tmp_path / "compiler", tmp_path / "log"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in *-dM*) ;; *) echo "$*" >> {log}; {text} ;; esac\nexec {COMPILER} "$@"\n'
    )
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    return log


def calls(log: Path) -> int:
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_it_is_compiled_once_and_then_found(place, tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, "true")
    assert library.obtain(compile=False) == (None, build.NOT_KEPT)
    assert calls(log) == 0
    made, reason = library.obtain(compile=True)
    assert made is not None
    assert (reason, calls(log)) == ("", 3)  # two files and a link
    assert [path.name for path in place.iterdir()] == [made.path.name]
    for again in (False, "auto", True):
        assert library.obtain(again)[0] is made
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert library.obtain(compile=True)[0] is made  # it is loaded
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert build.Search(build=True).serves(True, again=False) is False
    (build.FOLDER / "empty.h").write_text(HEADER + "/* new */")
    assert build.key_of(find_compiler()) not in made.path.name
    assert calls(log) == 3


def test_plans_and_figures_pass_unchanged():
    made, _ = library.obtain(compile=True)
    number = 2 + 10 + 300 + 2000 + 10000 + 200000 + 1000000 - 7
    with made.planned(Plan()) as figures:
        assert figures() == library.Figures(
            *(type(zero)(number + k + 0.25) for k, zero in enumerate(library.Figures()))
        )
    assert figures().factorizations == 2 * number  # chain_end has had it
    assert made._c.chain_use(4) == 0
    with made.planned(Plan()):
        assert made._c.chain_use(5) == 0
    assert made._c.chain_use(0) == 4  # that of the run around it
    summary = library.Figures(4, 2.0, 8, 1.0, threads=3).summary()
    assert (summary["factorization_ms"], summary["solve_ms"], summary["threads"]) == (500.0, 125.0, 3)
    wrong = Plan()
    wrong.tile = np.zeros(3)
    with pytest.raises(ValueError, match="front, role and tile of one size"), made.planned(wrong):
        pass
    wrong = Plan()
    wrong.threads = 10**8
    with pytest.raises(RuntimeError, match="refuses the plan"), made.planned(wrong):
        pass


def test_a_solve_does_not_wait_for_the_compiler(tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, "sleep 0.2")
    begin = time.monotonic()
    assert library.obtain(compile="auto") == (None, build.COMPILING)
    assert build.search(build=True) is build.search(build=False)  # no second one is started
    assert time.monotonic() - begin < 0.2
    assert library.obtain(compile="auto", needed=True)[0] is not None
    assert calls(log) == 3


@pytest.mark.skipif(not hasattr(os, "setpriority"), reason="no priorities")
def test_compilers_that_nobody_waits_for_leave_the_processors_to_others(place, tmp_path, monkeypatch):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    for compile, niceness in (("auto", own + NICENESS), (True, own)):
        log = by_script(tmp_path, monkeypatch, f"sleep 0.05; nice > {tmp_path / 'nice'}")
        choice.request(Settings(1e-6, 1, {}, compile))
        assert library.obtain(True)[0] is not None
        assert (calls(log), int((tmp_path / "nice").read_text())) == (3, niceness)
        log.unlink()
        monkeypatch.setattr(build, "_found", {})
        for path in place.iterdir():
            path.unlink()


def test_a_process_that_stands_still_with_the_lock_is_not_waited_for(place, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(build, "LONGEST_WAIT", 0.2)
    with open(cache.directory() / f"{build.key_of(find_compiler())}.lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        begin = time.monotonic()
        assert library.obtain(True)[0] is not None
        assert time.monotonic() - begin < 10


def test_of_two_that_compile_at_once_one_waits(tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, "sleep 0.1")
    both = [build.Search(build=True) for _ in range(2)]
    for search in both:
        search.start()
    assert len({search.found(wait=True) for search in both}) == 1
    assert both[0].path is not None
    assert calls(log) == 3


def test_a_compiler_that_fails_is_quoted(place, tmp_path, monkeypatch):
    fails = """case "$*" in *more.c*) echo 'out of paper' >&2; exit 1;; esac"""
    log = by_script(tmp_path, monkeypatch, fails)
    assert library.obtain("auto", needed=True)[0] is None
    count = calls(log)
    made, reason = library.obtain("auto")
    assert made is None
    assert reason.startswith("its library cannot be made: ")
    assert "out of paper" in reason
    assert calls(log) == count  # it is not tried again until it is asked for
    library.obtain(True)
    assert calls(log) > count
    assert list(place.iterdir()) == []


def test_without_a_compiler(tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert library.obtain(True) == (None, build.NO_COMPILER)


def test_a_cache_of_others_is_not_used(place):
    place.mkdir(mode=0o755)
    made, reason = library.obtain(True)
    assert made is None
    assert "has the mode 0755" in reason


def test_a_damaged_library_is_made_again(place):
    path, _ = build.search(build=True).found(wait=True)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    build._found.clear()  # as in another process
    again = build.Search(build=True)
    again.start()
    path, _ = again.found(wait=True)
    assert path.read_bytes() == content
    path.unlink()  # by another process, say
    assert library.obtain(True)[0].path.is_file()


def test_a_library_that_cannot_be_loaded_is_told(place):
    cache.directory()
    key = build.key_of(find_compiler())
    with cache.stage(place) as stage:
        (stage / "chain.so").write_text("no library")
        cache.store(place, key, stage / "chain.so")
    made, reason = library.obtain(True)
    assert made is None
    assert reason.startswith("its library cannot be loaded: ")


def test_a_library_of_other_functions_is_refused():
    (build.FOLDER / "more.c").unlink()
    made, reason = library.obtain(True)
    assert made is None
    assert "is not the library of the chain solver" in reason
    assert "ma27cd_" in reason


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_searches_anew():
    build.search(build=False).found(wait=True)
    child = os.fork()
    if child == 0:
        os._exit(len(build._searches) + (0 if build.search(build=False).found(wait=True)[1] == build.NOT_KEPT else 100))
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.slow
def test_the_end_of_a_process_ends_its_compilers(place, tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, "sleep 60")
    code = (
        "from pathlib import Path; from ocp_dyn.ocp.solvers.chain import build, library; import time; "
        f"build.FOLDER = Path({str(build.FOLDER)!r}); print(library.obtain('auto')[1])\n"
        f"while not Path({str(log)!r}).exists(): time.sleep(0.02)"
    )
    begin = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, cwd=REPOSITORY, check=True
    )
    assert ran.stdout.strip() == build.COMPILING
    assert ran.stderr == ""
    assert time.monotonic() - begin < 30
    assert list(place.iterdir()) == []
