"""Caches of compiled code and of tables in trouble: no home, disks that are read-only or full."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import stat
import warnings
from pathlib import Path
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from ocp_dyn._base import cache
from ocp_dyn.native import toolchain
from ocp_dyn.native.libraries import TABLES
from ocp_dyn.native.library import LibrarySearch
from ocp_dyn.ocp.nlp import function_tables
from ocp_dyn.ocp.nlp.program import Program
from tests.helpers import close, mostly_slow

needs_compiler = pytest.mark.skipif(toolchain.find_compiler() is None, reason="no C compiler")
needs_tables = pytest.mark.skipif(TABLES.obtain(wait=True)[0] is None, reason="no native library")


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ocp_dyn"


@pytest.fixture
def built(monkeypatch):
    """A program that is worth tables."""
    for name in ("LEAST_INSTRUCTIONS", "KEPT_ON_DISK"):
        monkeypatch.setattr(function_tables, name, 0)
    monkeypatch.setattr(function_tables, "_kept", function_tables.OrderedDict())
    program = Program(1)
    x = program.variable("x", 3, -0.5, 0.5, 0.1)
    block = program.block("cost", {"x": x}, lambda z, rows: rows.cost("bent", ca.sumsqr(ca.sin(z["x"]))))
    block.add({"x": x})
    return program.assemble()


def use(built, complete=True):
    return function_tables.use_tables(built, lambda line: None, function_tables.SOLVED_WITH["exact"], complete)


def right(built):
    x = np.array([0.1, 0.2, 0.3])
    close(built.evaluator.gradient(x, np.zeros(0)), np.sin(2 * x), 1e-14)


@pytest.fixture
def untold(monkeypatch):
    """A process that has no directory of its own yet."""
    monkeypatch.setattr(cache, "_temporary", {})


KEEPS_NOTHING = "ocp_dyn keeps no compiled code for later processes: "


@pytest.mark.usefixtures("untold")
@pytest.mark.parametrize("home", ["", "relative"])
@pytest.mark.parametrize("named", ["", "relative"])
def test_relative_paths_count_as_missing(tmp_path, monkeypatch, home, named):
    """As the XDG specification asks; then the list of users tells the home, and nothing is made in this folder."""
    pwd = pytest.importorskip("pwd")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", home)
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    for listed in (tmp_path / "user", "", "beside"):
        user = SimpleNamespace(pw_dir=str(listed))
        monkeypatch.setattr(pwd, "getpwuid", lambda _, user=user: user)
        if listed:
            expected = Path(listed, ".cache", "ocp_dyn") if Path(listed).is_absolute() else None
            assert cache._of_this_user() == expected
    assert cache._of_this_user() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("untold")
def test_a_user_without_a_home_has_a_cache_of_the_process_and_is_told_once(monkeypatch):
    pwd = pytest.importorskip("pwd")

    def in_no_list(number):
        raise KeyError(number)

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "")
    monkeypatch.setattr(pwd, "getpwuid", in_no_list)
    with pytest.warns(RuntimeWarning, match=f"{KEEPS_NOTHING}neither XDG_CACHE_HOME nor HOME is an absolute path"):
        place = cache.directory()
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert cache.directory() == place
    assert cache.find(place, "none") is None
    if hasattr(os, "fork"):  # a child has one of its own, and leaves this one as it is
        number = in_a_child(lambda: cache.directory() != place and not cache._remove_own(os.getppid(), place))
        assert number == 0
        assert place.is_dir()
    place.rmdir()  # by a service that tidies temporary files
    assert cache.directory().is_dir()


def in_a_child(check) -> int:
    """Exit status of a forked process: 0 if the check holds there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: this process has threads
        child = os.fork()
    if child == 0:
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def in_the_way(path: Path, kind: str) -> None:
    """Puts something that is no file, or no file for this user, in the place of a file of the cache."""
    if kind == "pipe":
        os.mkfifo(path)
    if kind == "socket":
        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):  # paths of sockets are short
            made.bind(path.name)
    if kind == "folder":
        (path / "deeper").mkdir(parents=True)
    if kind == "link":
        path.symlink_to("nowhere")
    if kind == "pipe behind a link":
        os.mkfifo(path.parent / "pipe")
        path.symlink_to("pipe")
    if kind == "unreadable":
        path.write_text("content")
        path.chmod(0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="kinds of files of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "socket", "folder", "link", "pipe behind a link", "unreadable"])
def test_what_is_no_file_is_removed_and_never_waited_for(home, kind, monkeypatch):
    place = cache.directory()
    digest = hashlib.sha256(b"content").hexdigest()[:32]
    path = place / f"key.{digest}.so"
    in_the_way(path, kind)
    if kind == "unreadable":  # also where root runs the tests
        read = cache.regular_content
        refused = lambda asked: (_ for _ in ()).throw(PermissionError(13, "no")) if asked == path else read(asked)
        monkeypatch.setattr(cache, "regular_content", refused)
    assert cache.find(place, "key") is None
    assert not os.path.lexists(path)
    monkeypatch.undo()
    in_the_way(path, kind.removesuffix(" behind a link"))  # another process has put it there since
    with cache.stage(place) as stage:
        (stage / "made.so").write_text("content")
        assert cache.store(place, "key", stage / "made.so") == path
    assert path.read_text() == "content"


@needs_tables
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="kinds of files of POSIX")
@pytest.mark.slow
def test_pipes_in_the_place_of_all_files_do_not_stop_a_run(home, built, monkeypatch):
    assert use(built) == "tables"
    paths = [path for path in home.iterdir() if path.is_file()]
    assert {path.suffix for path in paths} == {".tape", ".pattern"}
    for path in paths:
        path.unlink()
        os.mkfifo(path)
    monkeypatch.setattr(function_tables, "_kept", function_tables.OrderedDict())
    built.use(None)
    assert use(built) == "tables"
    right(built)
    assert [path.name for path in home.iterdir() if not path.is_file()] == []


@needs_compiler
def test_no_temporary_folder_is_an_error_of_the_compiler_alone(built, monkeypatch):
    """A solve goes on in the virtual machine; `compile` has no place for its files."""

    def nowhere(**_):
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(cache, "_temporary", {})
    monkeypatch.setattr(cache.tempfile, "mkdtemp", nowhere)
    monkeypatch.setattr(TABLES, "loaded", {})
    monkeypatch.setattr(LibrarySearch, "_prebuilt", lambda self: None)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    with pytest.raises(FileNotFoundError):
        cache.directory()
    TABLES.obtain(wait=True)
    assert use(built).startswith("virtual machine; the native library tables cannot be made: ")
    right(built)


def test_a_read_only_cache_is_read(home, monkeypatch):
    place = cache.directory()
    with cache.stage(place) as stage:
        (stage / "made.so").write_text("content")
        stored = cache.store(place, "key", stage / "made.so")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr(os, "utime", lambda path: (_ for _ in ()).throw(OSError(30, "Read-only file system")))
    monkeypatch.setattr(cache, "_temporary", {})
    with pytest.warns(RuntimeWarning, match=f"{KEEPS_NOTHING}the directory '.*ocp_dyn' cannot be written to"):
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


@needs_tables
@mostly_slow("trouble", ("full", "bound", "gone"), ("gone",))
@pytest.mark.slow
def test_tapes_that_cannot_be_kept_are_used(home, built, monkeypatch, trouble):
    if trouble == "bound":
        monkeypatch.setenv("OCP_DYN_CACHE_MB", "much")
    if trouble == "full":
        monkeypatch.setattr(cache, "store", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    if trouble == "gone":  # found, and removed by another process before it is read
        monkeypatch.setattr(cache, "find", lambda *_: home / "key.digest.tape")
    assert use(built) == "tables"
    right(built)
    if trouble != "gone":
        assert not list(home.glob("*.tape"))
    assert not list(home.glob("build-*"))
