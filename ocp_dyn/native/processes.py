"""Groups of programs, such as compilers, that end when this process ends, even if it is killed.

On POSIX systems the programs share a process group with a shell that reads from a pipe. This process holds the other
end of the pipe and never writes to it. When it closes the pipe, or when it is killed and the system does, the shell
ends the whole group, including the children of the programs. On other systems the programs run independently.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

WATCH = "read _; kill -TERM 0"
"""Command of the watching shell: waits until the pipe closes, then ends its process group.

SIGTERM lets compilers remove their temporary files.
"""


NICENESS = 10
"""Niceness, beyond that of this process, of programs that run beside its other work."""


_starting = threading.Lock()
"""Held while a program starts, the watching shell too: a process that is forked meanwhile would hold its pipes, and
nobody would see their ends."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_starting.acquire, after_in_parent=_starting.release, after_in_child=_starting.release)


class Group:
    """Programs that were started together and end together; aside: they leave the processors to other programs."""

    def __init__(self, aside: bool = False) -> None:
        self._lock, self._ended, self._aside = threading.Lock(), False, aside
        self._watch = _watch()

    def run(self, command: Sequence[str]) -> tuple[int, str]:
        """Exit status and error output of a command. RuntimeError after `end`."""
        with self._lock, _starting:  # a program must not start while the group ends
            if self._ended:
                raise RuntimeError("the build was interrupted")
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,  # a group in the background must not read from a terminal
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                process_group=None if self._watch is None else self._watch.pid,
            )
            if self._aside and self._watch is not None:
                with contextlib.suppress(OSError):  # it may have ended
                    niceness = os.getpriority(os.PRIO_PROCESS, 0) + NICENESS
                    os.setpriority(os.PRIO_PGRP, self._watch.pid, min(niceness, 19))
        with process:
            _, said = process.communicate()
        return process.returncode, said

    def end(self) -> None:
        """Ends all running programs; afterwards `run` raises RuntimeError."""
        with self._lock:
            self._ended = True
            if self._watch is not None:
                with contextlib.suppress(OSError):  # it may have ended
                    # a process forked meanwhile holds the pipe, too: closing it here is not enough
                    os.killpg(self._watch.pid, signal.SIGTERM)
                self._watch.communicate()  # closes the pipe and waits


@contextmanager
def group(aside: bool = False) -> Iterator[Group]:
    """A group whose programs end at the end of the block."""
    made = Group(aside)
    try:
        yield made
    finally:
        made.end()


def _watch() -> subprocess.Popen[bytes] | None:
    if os.name != "posix":
        return None
    try:
        with _starting:
            return subprocess.Popen(
                ["/bin/sh", "-c", WATCH],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
    except OSError:  # no shell
        return None
