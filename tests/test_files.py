"""Files under load: several writers and readers at once, a full disk, an interrupt; permissions and links."""

from __future__ import annotations

import errno
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn._base import files as _files
from ocp_dyn._base.files import alone_in
from ocp_dyn.io import load_model, save_model, whole_file
from ocp_dyn.ocp import Solution
from ocp_dyn.ocp.motion.motion import PhaseMotion
from tests.helpers import REPOSITORY

needs_posix = pytest.mark.skipif(os.name != "posix", reason="permissions, signals and limits are those of POSIX")


def motion(amplitude: float = 1.0, nodes: int = 200) -> Solution:
    """A motion without a solver: numbers that do not compress, so that writing takes a while."""
    model = od.models.pendulum(2)
    t, rng = np.linspace(0.0, 1.0, nodes), np.random.default_rng(0)
    q, v = amplitude * rng.normal(size=(2, nodes, 2))
    a, tau, lam = np.diff(v, axis=0), np.diff(q, axis=0), np.zeros((nodes - 1, 0))
    phase = PhaseMotion("swing", t, q, v, a, tau, lam, (), {})
    stats = {"converged": True, "status": "made by hand"}
    return Solution(model, (phase,), {"cost": amplitude}, (), 0.0, False, stats)


def test_a_file_appears_at_the_end(tmp_path):
    path = tmp_path / "a.txt"
    with whole_file(path) as partial:
        partial.write_text("new")
        assert not path.exists()
        assert partial.parent == tmp_path
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def write_half(path: Path, error: BaseException) -> None:
    with whole_file(path) as partial:
        partial.write_text("half")
        raise error


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt(), ValueError("x")])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "a.txt"
    for before in (None, "old"):
        if before is not None:
            path.write_text(before)
        with pytest.raises(type(error)):
            write_half(path, error)
        assert [p.read_text() for p in tmp_path.iterdir()] == ([before] if before else [])


def test_a_disk_that_is_found_full_at_the_end_leaves_the_old_file(tmp_path, monkeypatch):
    """A write that the system puts off may not fit on the disk: this is told before the old file goes."""
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), whole_file(path) as partial:
        partial.write_text("new")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_writers_at_once_do_not_see_each_other(tmp_path):
    path = tmp_path / "a.txt"
    with whole_file(path) as one, whole_file(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert path.read_text() == "one", "the last to finish wins"
    assert list(tmp_path.iterdir()) == [path]


@needs_posix
def test_permissions_are_those_of_any_file(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        with whole_file(path) as partial:
            partial.write_text("")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    with whole_file(path) as partial:
        partial.write_text("")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@needs_posix
def test_a_file_that_may_not_be_written_stays(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda *_: False)  # also where root runs the tests
    with pytest.raises(PermissionError, match=r"a\.txt"), whole_file(path):
        pytest.fail("nothing is to be written")
    assert path.read_text() == "old"


@needs_posix
def test_errors_name_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / "none" / "a.txt"
    with pytest.raises(FileNotFoundError) as raised, whole_file(path) as partial:
        partial.write_text("")
    assert raised.value.filename == str(path)


@needs_posix
def test_links_pipes_and_directories(tmp_path):
    (tmp_path / "store").mkdir()
    real, link = tmp_path / "store" / "real.txt", tmp_path / "link.txt"
    link.symlink_to(real)
    for text in ("first", "second"):
        with whole_file(link) as partial:
            partial.write_text(text)
        assert real.read_text() == text
        assert link.is_symlink()
    pipe = tmp_path / "pipe"  # one of our own: whoever replaced a device by a file would harm the whole machine
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with whole_file(pipe) as partial:
            partial.write_text("through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(IsADirectoryError, match="store"), whole_file(tmp_path / "store"):
        pytest.fail("nothing is to be written")


@needs_posix
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "nothing"])
def test_only_regular_files_are_read_and_nothing_is_waited_for(tmp_path, kind):
    (tmp_path / "file").write_bytes(b"content")
    assert _files.regular_content(tmp_path / "file") == b"content"
    other = tmp_path / "other"
    if kind == "pipe":
        os.mkfifo(other)
    if kind == "link":
        other.symlink_to("file")
    if kind == "folder":
        other.mkdir()
    found = []
    reading = threading.Thread(target=lambda: found.append(refusal(other)), daemon=True)
    reading.start()
    reading.join(10)
    assert found == [True]


def refusal(path: Path) -> bool:
    try:
        _files.regular_content(path)
    except OSError:
        return True
    return False


@needs_posix
def test_one_at_a_time_in_a_directory(tmp_path):
    """The second process waits for the first to leave, and no longer."""
    entered = threading.Event()

    def second():
        with alone_in(tmp_path):
            entered.set()

    with alone_in(tmp_path):
        waiting = threading.Thread(target=second)
        waiting.start()
        assert not entered.wait(0.3)
    assert entered.wait(10)
    waiting.join()


@needs_posix
def test_a_lock_is_waited_for_only_so_long(tmp_path):
    """Also if a process that was forked meanwhile holds it, as it holds every open file."""
    with alone_in(tmp_path):
        begin = time.monotonic()
        with alone_in(tmp_path, longest=0.2):
            assert time.monotonic() - begin >= 0.2
        with alone_in(tmp_path, ended=lambda: True):
            pass
        reader, writer = os.pipe()
        context = multiprocessing.get_context("fork")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = context.Process(target=os.read, args=(reader, 1))
            child.start()
    asked = []
    with alone_in(tmp_path, ended=lambda: asked.append(1) is not None):
        assert len(asked) == 1  # it did not wait
    os.write(writer, b"x")
    child.join()
    os.close(reader)
    os.close(writer)


# What killed processes leave


KILLED = """
import os, signal, sys
from pathlib import Path
from ocp_dyn._base.files import temporary_folder, whole_file
with temporary_folder(Path(sys.argv[1]), "build-") as folder, whole_file(Path(sys.argv[1], "a.txt")) as partial:
    (folder / "main.c").write_text("int")
    partial.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.startswith((".ocp_dyn-", "build-")))


@needs_posix
@pytest.mark.skipif(_files._machine() == _files.UNKNOWN, reason="this system does not tell who has written a file")
@pytest.mark.slow
def test_what_a_killed_process_leaves_goes_with_the_next_write(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=REPOSITORY, check=False)
    assert [name.split("-")[0] for name in hidden(tmp_path)] == [".ocp_dyn", "build"]
    with whole_file(tmp_path / "b.txt") as partial:
        partial.write_text("whole")
    assert [name.split("-")[0] for name in hidden(tmp_path)] == ["build"]
    with _files.temporary_folder(tmp_path, "build-") as mine:
        assert hidden(tmp_path) == [mine.name]
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


def ended_process() -> int:
    """The number of a process that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


@needs_posix
def test_what_may_still_be_written_stays(tmp_path, monkeypatch):
    """Files of other machines and of processes that run, until a day has passed without a change."""
    monkeypatch.setattr(_files, "_machine", lambda: "abc")
    dead = ended_process()
    names = {
        "mine": f".ocp_dyn-abc-{os.getpid()}-1.part",
        "of another user": ".ocp_dyn-abc-1-1.part",
        "of another machine": f".ocp_dyn-abd-{dead}-1.part",
        "of an unknown machine": f".ocp_dyn-unknown-{dead}-1.part",
        "of an earlier version": ".ocp_dyn-0123456789abcdef.part",
        "of no number": ".ocp_dyn-abc-x-1.part",
        "left": f".ocp_dyn-abc-{dead}-1.part",
        "left by a number without end": f".ocp_dyn-abc-{10**30}-1.part",
    }
    for days, stay in ((0.9, True), (1.1, False)):
        for name in names.values():
            (tmp_path / name).write_text("half")
            os.utime(tmp_path / name, (time.time() - 86400 * days,) * 2)
        with whole_file(tmp_path / "a.txt") as partial:
            partial.write_text("whole")
        expected = [name for key, name in names.items() if stay and not key.startswith("left")]
        assert hidden(tmp_path) == sorted(expected)
    (tmp_path / names["left"]).write_text("half")
    monkeypatch.setattr(_files, "_machine", lambda: _files.UNKNOWN)
    (tmp_path / names["of an unknown machine"]).write_text("half")
    with whole_file(tmp_path / "a.txt") as partial:
        partial.write_text("whole")
    assert len(hidden(tmp_path)) == 2


@needs_posix
@pytest.mark.parametrize("owned", [True, False])
def test_files_that_cannot_be_removed_and_files_of_other_users_stay(tmp_path, monkeypatch, owned):
    left, status = tmp_path / f".ocp_dyn-abc-{ended_process()}-1.part", Path.lstat

    def refused(path):
        if not owned:
            pytest.fail("it is another user's")
        raise PermissionError(errno.EACCES, "no")

    def of_user(path):
        found = status(path)
        return os.stat_result((*found[:4], 4321, *found[5:])) if path == left and not owned else found

    monkeypatch.setattr(_files, "_machine", lambda: "abc")
    monkeypatch.setattr(_files, "remove", refused)
    monkeypatch.setattr(Path, "lstat", of_user)
    left.write_text("half")
    with whole_file(tmp_path / "a.txt") as partial:
        partial.write_text("whole")
    assert left.exists()


# Errors


def test_errors_name_the_file_of_the_user(tmp_path):
    """Whatever raises them, and wherever they carry the name."""
    path, full = tmp_path / "mine.npz", OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fails(make):
        with pytest.raises(Exception, match=r"mine\.npz") as raised, whole_file(path) as partial:
            raise make(partial)
        said = str(raised.value)
        assert ".part" not in said
        assert "ocp_dyn-" not in said
        return raised.value

    assert fails(lambda partial: full).filename == str(path)
    fails(lambda partial: ValueError(f"unknown file extension: {partial}"))
    fails(lambda partial: RuntimeError(3, f"ffmpeg: {partial.name}: no space"))
    fails(lambda partial: PermissionError(errno.EACCES, "no", partial))
    moved = fails(lambda partial: OSError(errno.EXDEV, "no", str(partial), None, str(path)))
    assert (moved.filename, moved.filename2) == (str(path), None)
    fails(lambda partial: OSError(f"{partial} is no picture"))


@needs_posix
@pytest.mark.parametrize("writer", range(4))
@pytest.mark.slow
def test_writers_name_the_file_of_the_user(tmp_path, writer):
    """A disk that is found full while they write leaves the old file and nothing else."""
    resource = pytest.importorskip("resource")
    write = WRITERS[writer]
    path = write(tmp_path)
    path.unlink()
    made = write(tmp_path)
    content = made.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limit[1]))
    try:
        with pytest.raises(OSError, match=str(path)) as raised:
            write(tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    assert raised.value.filename == str(path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [content]


def test_names_as_long_as_the_file_system_allows(tmp_path):
    path = tmp_path / ("n" * 250 + ".json")
    save_model(od.models.pendulum(1), path)
    assert load_model(path).joint_names == od.models.pendulum(1).joint_names


# Writers of the library


def write_solution(folder: Path) -> Path:
    return motion().save(folder / "a.npz")


def write_table(folder: Path) -> Path:
    return motion().to_csv(folder / "a.csv")


def write_model(folder: Path) -> Path:
    save_model(od.models.pendulum(40), folder / "a.json")
    return folder / "a.json"


def write_picture(folder: Path) -> Path:
    motion(nodes=20).plot(folder / "a.png")
    return folder / "a.png"


WRITERS = [write_solution, write_table, write_model, write_picture]


def save_many(folder: str, amplitude: float, count: int) -> None:
    solution, model = motion(amplitude), od.models.pendulum(3).scale(amplitude)
    for _ in range(count):
        solution.save(Path(folder) / "a.npz")
        save_model(model, Path(folder) / "m.json")


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12 and later
@needs_posix
@pytest.mark.slow
def test_several_processes_write_and_read(tmp_path):
    """No save is lost, and every load finds one of the motions."""
    save_many(str(tmp_path), 1.0, 1)
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=save_many, args=(str(tmp_path), k, 15)) for k in (1.0, 2.0, 3.0)]
    for process in writers:
        process.start()
    loads = 0
    while any(process.is_alive() for process in writers):
        found = Solution.load(tmp_path / "a.npz")
        np.testing.assert_array_equal(found.q, motion(found.cost["cost"]).q)
        assert load_model(tmp_path / "m.json").nv == 3
        loads += 1
    for process in writers:
        process.join()
    assert [process.exitcode for process in writers] == [0, 0, 0]
    assert loads > 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npz", "m.json"]


# Exports


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_exporters_of_one_new_directory(tmp_path, monkeypatch):
    """Each finds no directory, and all but the first find one at the end."""
    functions = [od.function(od.mass_matrix, od.models.pendulum(2))]
    od.codegen.export(functions, tmp_path / "alone" / "robot")
    module, errors = sys.modules["ocp_dyn.codegen.c_export.writing"], []
    appears, barrier = module._appears, threading.Barrier(4)

    def together(complete, target):
        barrier.wait(10)
        return appears(complete, target)

    def export():
        try:
            od.codegen.export(functions, tmp_path / "robot")
        except Exception as error:  # noqa: BLE001, any is a failure
            errors.append(error)

    monkeypatch.setattr(module, "_appears", together)
    threads = [threading.Thread(target=export) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    expected = contents(tmp_path / "alone" / "robot")
    assert "simulink/sfun_robot.c" in expected
    assert contents(tmp_path / "robot") == expected
    assert sorted(p.name for p in tmp_path.iterdir()) == ["alone", "robot"]
