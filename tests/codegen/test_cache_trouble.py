"""Caches of compiled code and of tapes in trouble: no home, disks that are read-only or full, compilers that fail."""

from __future__ import annotations

import os
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from ocp_dyn.codegen.machine_code import cache, toolchain
from ocp_dyn.codegen.tapes import library as libraries
from ocp_dyn.ocp.nlp import machine_code
from ocp_dyn.ocp.nlp.program import Program
from tests.helpers import close

needs_compiler = pytest.mark.skipif(toolchain.find_compiler() is None, reason="no C compiler")


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """An empty cache, in a process that has not loaded the library of tapes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(libraries, "_loaded", {})
    monkeypatch.setattr(libraries, "_faults", {})
    return tmp_path / "ocp_dyn"


@pytest.fixture
def built(monkeypatch):
    """A program that is worth machine code."""
    for name in ("LEAST_INSTRUCTIONS", "KEPT_ON_DISK"):
        monkeypatch.setattr(machine_code, name, 0)
    monkeypatch.setattr(machine_code, "_kept", machine_code.OrderedDict())
    program = Program(1)
    x = program.variable("x", 3, -0.5, 0.5, 0.1)
    block = program.block("cost", {"x": x}, lambda z, rows: rows.cost("bent", ca.sumsqr(ca.sin(z["x"]))))
    block.add({"x": x})
    return program.assemble()


def use(built, compile):
    return machine_code.use_machine_code(built, compile, lambda line: None, machine_code.SOLVED_WITH["exact"])


def right(built):
    x = np.array([0.1, 0.2, 0.3])
    close(built.evaluator.gradient(x, np.zeros(0)), np.sin(2 * x), 1e-14)


def test_a_user_without_a_home_has_a_cache_of_the_process(monkeypatch):
    def no_home(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "expanduser", no_home)
    place = cache.directory()
    assert place == cache._of_this_process()
    assert cache.find(place, "none") is None


def test_a_read_only_cache_is_read(home, monkeypatch):
    place = cache.directory()
    with cache.stage(place) as stage:
        (stage / "made.so").write_text("content")
        stored = cache.store(place, "key", stage / "made.so")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(os, "utime", lambda path: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    other = cache.directory()
    assert other != place
    assert cache.find(other, "key") == stored
    assert cache.find(other, "none") is None
    home.chmod(0o755)  # others could have written it before
    assert cache._readable(other) == []
    home.chmod(0o700)
    monkeypatch.setenv("XDG_CACHE_HOME", "/nonexistent")
    assert cache.find(other, "key") is None


@needs_compiler
def test_a_cc_without_an_end_is_no_compiler(monkeypatch):
    expected = toolchain._find("", os.environ["PATH"])
    monkeypatch.setenv("CC", '"gcc -O2')
    assert toolchain.find_compiler() == expected


@needs_compiler
def test_without_the_library_words_tell_why(home, built, monkeypatch):
    begun = []
    monkeypatch.setattr(machine_code, "build_aside", lambda: begun.append(True))
    assert use(built, "auto") == "virtual machine; the library for machine code is being built for later runs"

    def fails(*_):
        raise RuntimeError("out of paper")

    working = libraries._built
    monkeypatch.setattr(libraries, "_built", fails)
    libraries._try()
    assert use(built, "auto") == "virtual machine; no machine code: out of paper"
    assert len(begun) == 1  # it is not tried again
    with pytest.raises(RuntimeError, match="out of paper"):
        use(built, True)
    right(built)
    monkeypatch.setattr(libraries, "_built", working)
    assert use(built, True) == "machine code"
    right(built)


@needs_compiler
def test_a_library_that_this_machine_does_not_load_is_told(home, built, monkeypatch):
    def junk(compiler, name, aside):
        place = cache.directory()
        with cache.stage(place) as stage:
            (stage / "tape.so").write_text("no library")
            return cache.store(place, name, stage / "tape.so")

    monkeypatch.setattr(libraries, "_built", junk)
    with pytest.raises(RuntimeError, match=r"the library for machine code cannot be loaded: .*set the environment"):
        use(built, True)
    assert "no machine code: the library for machine code cannot be loaded" in use(built, "auto")
    right(built)


@needs_compiler
@pytest.mark.parametrize("trouble", ["full", "bound", "gone"])
def test_tapes_that_cannot_be_kept_are_used(home, built, monkeypatch, trouble):
    libraries.library()
    if trouble == "bound":
        monkeypatch.setenv("OCP_DYN_CACHE_MB", "much")
    if trouble == "full":
        monkeypatch.setattr(cache, "store", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    if trouble == "gone":  # found, and removed by another process before it is read
        monkeypatch.setattr(cache, "find", lambda *_: home / "key.digest.tape")
    assert use(built, True) == "machine code"
    right(built)
    if trouble != "gone":
        assert not list(home.glob("*.tape"))
    assert not list(home.glob("build-*"))
