"""The loader of native libraries: how they are compiled, kept and loaded, and what is told where that fails.

The C files here do nothing, so that they are compiled at once.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ocp_dyn._base import cache
from ocp_dyn.native import library as loader
from ocp_dyn.native import processes, variants
from ocp_dyn.native.library import MAKING, NO_COMPILER, NativeLibrary
from ocp_dyn.native.processes import NICENESS
from ocp_dyn.native.toolchain import _words, find_compiler
from tests.helpers import REPOSITORY

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(find_compiler() is None or COMPILER is None, reason="no C compiler")

ONE = '#include "api.h"\nAPI double twice(double x) { return 2 * x; }\n'
TWO = '#include "api.h"\nAPI void nothing(void) {}\n'
HEADER = '#define API __attribute__((visibility("default")))\n'

SIGNATURES = {"twice": (ctypes.c_double, (ctypes.c_double,)), "nothing": (None, ())}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ocp_dyn"


@pytest.fixture
def small(tmp_path) -> NativeLibrary:
    """A library of two files."""
    folder = tmp_path / "sources"
    folder.mkdir()
    for name, text in (("one.c", ONE), ("two.c", TWO), ("api.h", HEADER)):
        (folder / name).write_text(text)
    return NativeLibrary("small", SIGNATURES, folder)


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


def as_in_another_process(library: NativeLibrary) -> NativeLibrary:
    return NativeLibrary(library.name, library.signatures, library.folder)


def test_it_is_compiled_once_and_then_found(small, place, tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, "true")
    made, reason = small.obtain(wait=True)
    assert (reason, calls(log)) == ("", 3)  # two files and a link
    assert made.functions.twice(1.5) == 3.0
    assert [path.name for path in place.iterdir()] == [made.path.name]
    assert small.obtain()[0] is made
    found, _ = as_in_another_process(small).obtain()
    assert found.path == made.path
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert small.obtain()[0] is made  # it is loaded
    assert calls(log) == 3
    before = small.version
    (small.folder / "api.h").write_text(HEADER + "/* new */")
    changed = as_in_another_process(small)
    assert changed.key(find_compiler()) not in made.path.name
    assert changed.version != before


def test_nobody_waits_for_the_compiler_unasked(small, tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, f"until [ -e {tmp_path / 'go'} ]; do sleep 0.01; done")
    assert small.obtain() == (None, f"the native library small {MAKING}")
    assert small.request() is small.request(wait=True)  # no second one is started
    (tmp_path / "go").touch()
    assert small.obtain(wait=True)[0] is not None
    assert calls(log) == 3


@pytest.mark.skipif(not hasattr(os, "setpriority"), reason="no priorities")
@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.slow
def test_compilers_that_nobody_waits_for_leave_the_processors_to_others(small, tmp_path, monkeypatch, wait):
    own = os.getpriority(os.PRIO_PROCESS, 0)
    log = by_script(tmp_path, monkeypatch, f"sleep 0.05; nice > {tmp_path / 'nice'}")
    small.request(wait)
    assert small.obtain(wait=True)[0] is not None
    niceness = own if wait else min(own + NICENESS, 19)
    assert (calls(log), int((tmp_path / "nice").read_text())) == (3, niceness)


def test_a_process_that_stands_still_with_the_lock_is_not_waited_for(small, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(loader, "LONGEST_WAIT", 0.2)
    descriptor = os.open(cache.directory(), os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert small.obtain(wait=True)[0] is not None
    finally:
        os.close(descriptor)


def test_of_two_that_compile_at_once_one_waits(small, tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, "sleep 0.1")
    both = [small, as_in_another_process(small)]
    for library in both:
        library.request()
    assert len({library.obtain(wait=True)[0].path for library in both}) == 1
    assert calls(log) == 3


def test_a_compiler_that_fails_is_quoted(small, place, tmp_path, monkeypatch):
    fails = """case "$*" in *two.c*) echo 'out of paper' >&2; exit 1;; esac"""
    log = by_script(tmp_path, monkeypatch, fails)
    small.obtain(wait=True)
    count = calls(log)
    made, reason = small.obtain()
    assert made is None
    assert reason.startswith("the native library small cannot be made: ")
    assert "out of paper" in reason
    assert calls(log) == count  # it is not tried again until somebody waits for it
    small.obtain(wait=True)
    assert calls(log) > count
    assert list(place.iterdir()) == []


def test_without_a_compiler(small, tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert small.obtain(wait=True) == (None, f"the native library small {NO_COMPILER}")


@pytest.mark.parametrize("trouble", ["a cache of others", "no size"])
def test_a_cache_that_cannot_be_used_is_told(small, place, monkeypatch, trouble):
    if trouble == "a cache of others":
        place.mkdir(mode=0o755)
    else:
        monkeypatch.setenv("OCP_DYN_CACHE_MB", "much")
    made, reason = small.obtain(wait=True)
    assert made is None
    assert ("has the mode 0755" if trouble == "a cache of others" else "got 'much'") in reason


def test_a_damaged_library_is_made_again(small):
    path = small.obtain(wait=True)[0].path
    content = path.read_bytes()
    path.unlink()  # the library in use keeps its file
    path.write_bytes(content[: len(content) // 2])
    other = as_in_another_process(small)
    assert other.obtain(wait=True)[0].path.read_bytes() == content
    next(iter(other.loaded.values())).path.unlink()  # by another process, say
    assert other.obtain(wait=True)[0].path.is_file()


@pytest.mark.parametrize("fault", ["no library", "other functions"])
def test_a_library_that_cannot_be_used_is_told(small, fault):
    if fault == "other functions":
        (small.folder / "two.c").write_text(TWO.replace("nothing", "something"))
    else:
        cache.directory()
        with cache.stage(cache.directory()) as stage:
            (stage / "small.so").write_text("no library")
            cache.store(cache.directory(), small.key(find_compiler()), stage / "small.so")
    made, reason = small.obtain(wait=True)
    assert made is None
    assert reason.startswith("the native library small cannot be loaded: ")
    assert ("is not the library small" in reason) == (fault == "other functions")


@pytest.fixture
def package(small, tmp_path, monkeypatch) -> Path:
    """The folder of a package that brings libraries along; there is no compiler now."""
    path = tmp_path / "prebuilt"
    path.mkdir()
    made = small.obtain(wait=True)[0].path
    (own, *_) = variants.supported(platform.machine(), variants.processor_features())
    shutil.copy(made, path / variants.file_name("small", own))
    monkeypatch.setattr(variants, "PREBUILT", path)
    monkeypatch.setattr(variants, "FOLDER", small.folder.parent)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    return path


def test_a_library_of_the_package_needs_no_compiler(small, package):
    made, reason = as_in_another_process(small).obtain()
    assert (made.path.parent, reason) == (package, "")
    assert made.functions.twice(2.0) == 4.0


def test_a_library_of_the_package_that_this_system_does_not_load_is_made_again(small, package, monkeypatch):
    next(package.iterdir()).write_text("no library")
    made, reason = as_in_another_process(small).obtain()
    assert (made, reason) == (None, f"the native library small {NO_COMPILER}")
    monkeypatch.setenv("PATH", os.path.dirname(COMPILER))
    assert as_in_another_process(small).obtain(wait=True)[0].path.parent != package


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_searches_anew(small, tmp_path, monkeypatch):
    by_script(tmp_path, monkeypatch, f"until [ -e {tmp_path / 'go'} ]; do sleep 0.01; done")
    small.obtain()
    child = os.fork()
    if child == 0:
        (tmp_path / "go").touch()
        os._exit(0 if not small.searches and small.obtain(wait=True)[0] is not None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert small.obtain(wait=True)[0] is not None


@pytest.mark.slow
def test_the_end_of_a_process_ends_its_compilers(small, place, tmp_path, monkeypatch):
    log = by_script(tmp_path, monkeypatch, "sleep 60")
    code = (
        "from pathlib import Path; from ocp_dyn.native.library import NativeLibrary; import time; "
        f"print(NativeLibrary('small', {{}}, Path({str(small.folder)!r})).obtain()[1])\n"
        f"while not Path({str(log)!r}).exists(): time.sleep(0.02)"
    )
    begin = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, cwd=REPOSITORY, check=True
    )
    assert ran.stdout.strip() == f"the native library small {MAKING}"
    assert ran.stderr == ""
    assert time.monotonic() - begin < 30
    assert list(place.iterdir()) == []


def test_no_process_is_forked_while_a_program_starts(monkeypatch):
    """Its pipes would be held twice: the start waits for the other process, which waits for the lock of this one."""
    held, start = [], subprocess.Popen
    monkeypatch.setattr(
        subprocess,
        "Popen",
        lambda *words, **options: held.append(processes._starting.locked()) or start(*words, **options),
    )
    with processes.group() as programs:
        assert programs.run(["true"]) == (0, "")
    assert held == [True, True]


# Other systems, by what their names would be


@pytest.mark.slow
def test_names_of_other_systems():
    """Endings of libraries, and the compiler that is named: read from the tables, since the tests run on one system."""
    code = """
import sys
sys.platform = {platform!r}
from ocp_dyn.native import toolchain
from ocp_dyn._base import cache
print(cache.LIBRARY, toolchain.STANDING_ALONE, "MinGW" in toolchain.REMEDY)
"""
    systems = {"win32": ".dll ('-static',) True", "darwin": ".dylib () False", "linux": ".so () False"}
    for system, told in systems.items():
        run = [sys.executable, "-c", f"import casadi, numpy, subprocess, asyncio\n{code.format(platform=system)}"]
        assert subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip() == told


def test_paths_of_windows_keep_their_backslashes(monkeypatch):
    assert _words("gcc -m32 'a b'") == ("gcc", "-m32", "a b")
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        words = _words(r'"C:\Program Files\mingw\gcc.exe" -m64')
    assert words == (r"C:\Program Files\mingw\gcc.exe", "-m64")
    assert _words("gcc 'open") == ()
