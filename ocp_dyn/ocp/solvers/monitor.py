"""Monitor of a running solver: shows its iterates, keeps the best iterate, and stops the solver on demand."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca
import numpy as np

from ..._base.display import Progress
from ..._base.types import Array
from ..nlp.assembled import Assembled

ITERATIONS_PER_LINE = 10
"""Iterations between two lines of progress, unless SECONDS_PER_LINE have passed."""

SECONDS_PER_LINE = 2.0
"""Time [s] after which a line of progress is shown at the next iteration."""


def violation(program: Assembled, g: Array) -> float:
    """The largest violation of a row's bounds by the values g; 0 if all bounds hold."""
    return float(np.max(np.maximum(program.row_lower - g, g - program.row_upper), initial=0.0))


class Monitor(ca.Callback):
    """Called with every iterate: shows progress, keeps the best iterate, stops on demand.

    best: of all iterates that violate no row by more than `tolerance`, the one of least cost; if there is none, the
    iterate of least violation. stop: set to True, ends the run after the current iteration. watch: sees x and the rows
    g of every iterate, and returns True to end the run. follow: sees x, g, lam_x, lam_g of every iterate, and returns
    True to end the present attempt of a solver that may make others.
    """

    def __init__(self, program: Assembled, tolerance: float, say: Progress) -> None:
        ca.Callback.__init__(self)
        self._program, self._tolerance, self._say = program, tolerance, say
        self._begin = self._said = time.perf_counter()
        self._last: Array | None = None
        self._merit = (np.inf, np.inf)
        self.iteration, self.stop = 0, False
        self.best: dict[str, Array] = {}
        self.watch: Callable[[Array, Array], bool] | None = None
        self.follow: Callable[[Array, Array, Array, Array], bool] | None = None
        m = program.row_lower.size
        self._shapes = [program.n, 1, m, program.n, m, program.parameters]
        self.construct("progress", {})

    def get_n_in(self) -> int:
        return int(ca.nlpsol_n_out())

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._shapes[i], 1)

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Any, results: Any) -> int:
        """Sees an iterate in the solver's memory; without a copy to CasADi's matrices, which would take a
        millisecond."""
        x, f, g, lam_x, lam_g = (
            np.zeros(size) if view is None or not len(view) else np.frombuffer(view).copy()
            for view, size in zip(arguments, self._shapes[:5], strict=False)
        )
        stop = self.see(x, float(f[0]), g, lam_x, lam_g)
        if results[0] is not None and len(results[0]):
            np.frombuffer(results[0])[:] = stop
        return 0

    def see(self, x: Array, f: float, g: Array, lam_x: Array, lam_g: Array) -> bool:
        """Records an iterate; True if the solver is to stop."""
        infeasibility = violation(self._program, g)
        step = 0.0 if self._last is None else float(np.max(np.abs(x - self._last), initial=0.0))
        merit = (max(0.0, infeasibility - self._tolerance), f)
        if merit < self._merit:
            self._merit, self.best = merit, {"x": x, "lam_x": lam_x, "lam_g": lam_g}
        now = time.perf_counter()
        if self._say.on and (self.iteration % ITERATIONS_PER_LINE == 0 or now - self._said > SECONDS_PER_LINE):
            self._said = now
            self._show(f, infeasibility, step)
        self._last = x
        self.iteration += 1
        if self.watch is not None and not self.stop and self.watch(x, g):
            self.stop = True
        ends = self.follow is not None and self.follow(x, g, lam_x, lam_g)
        return self.stop or ends

    def say(self, line: str) -> None:
        """Shows a line."""
        self._say(f"  {line}")

    def _show(self, f: float, infeasibility: float, step: float) -> None:
        seconds = time.perf_counter() - self._begin
        self.say(
            f"iteration {self.iteration:4d}   cost {f:12.6g}   infeasibility {infeasibility:8.1e}   step {step:8.1e}   "
            f"{seconds:6.1f} s"
        )


@contextlib.contextmanager
def interruptible(monitor: Monitor) -> Iterator[None]:
    """Within this context Ctrl-C stops the solver after the current iteration; a second Ctrl-C stops Python as
    usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def request_stop(number: int, frame: Any) -> None:
        monitor.stop = True
        signal.signal(signal.SIGINT, before)
        Progress()("stopping after this iteration; the best iterate is kept")

    before = signal.signal(signal.SIGINT, request_stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
