"""Leases: several sweeps may work on one folder at a time, and no point is solved by two of them.

Before a sweep solves a point it writes a lease that names the sweep. While it runs, it touches a file of its own every
`BEAT` seconds; the leases of a sweep whose file was not touched for `STALE` seconds, or whose process has ended on this
machine, are free. Leases save work and are not needed for right results: a point that two sweeps solve after all, on a
store without locks, is written twice with the same content.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from types import TracebackType
from typing import Self

from ...._base.files import left_behind, owner
from .store import Store

FOLDER = "leases"

BEAT, STALE = 20.0, 120.0
"""Time between two touches of a sweep's own file, and age after which the sweep counts as ended [s]."""


class Leases:
    """The leases of one sweep on the points of its folder, within a `with` block."""

    def __init__(self, store: Store, beat: float = BEAT, stale: float = STALE) -> None:
        self.store, self.beat, self.stale = store, beat, stale
        self.me = f"{owner()}-{secrets.token_hex(4)}"
        self._held: set[str] = set()
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        self._touch()
        self._thread = threading.Thread(target=self._keep_alive, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        with contextlib.suppress(OSError):  # what stays behind is stale
            for point in list(self._held):
                self.free(point)
            self.store.remove(_alive(self.me))

    def take(self, point: str) -> bool:
        """Whether this sweep now has the lease of a point; a lease of a sweep that has ended is taken over."""
        name, content = f"{FOLDER}/{point}.lease", self.me.encode()
        for _ in range(2):
            if self.store.create(name, content):
                self._held.add(point)
                return True
            holder = self.holder(point)
            if holder == self.me:
                return True
            if holder is not None and not self._has_ended(holder):
                return False
            self.store.remove(name)
        return False

    def free(self, point: str) -> None:
        """Gives the lease of a point back."""
        if point in self._held:
            self._held.discard(point)
            self.store.remove(f"{FOLDER}/{point}.lease")

    def holder(self, point: str) -> str | None:
        """The sweep that has the lease of a point; None if none has."""
        try:
            return self.store.read(f"{FOLDER}/{point}.lease").decode(errors="replace")
        except FileNotFoundError:
            return None

    def _has_ended(self, holder: str) -> bool:
        try:
            age = self.store.age(_alive(holder))
        except FileNotFoundError:
            return True
        return age > self.stale or left_behind(holder, age)

    def _touch(self) -> None:
        self.store.write(_alive(self.me), b"")

    def _keep_alive(self) -> None:
        while not self._ended.wait(self.beat):
            with contextlib.suppress(OSError):  # a full disk: the next beat tries again
                self._touch()


def _alive(sweep: str) -> str:
    return f"{FOLDER}/{sweep}.alive"
