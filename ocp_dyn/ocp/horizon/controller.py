"""`HorizonController`: one real-time iteration of a horizon per step, which gives torques and gains.

M. Diehl, H. G. Bock & J. P. Schloeder, A real-time iteration scheme for nonlinear optimization in optimal feedback
control, SIAM J. Control Optim. 43, 2005.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..._base.checks import within
from ..._base.convergence import warn
from ..._base.types import Array
from ..solvers.stage_qp.solver import StageSolver
from ..solvers.stage_qp.statement import STATUSES, StageQP, StageSolution
from .evaluation import Batch, row_major
from .feet import Body
from .gait_patterns import Command, GaitPattern
from .inputs import LATEST, as_command, as_gait, as_state, as_touching, changed, check_faults
from .plan import Plan
from .stage import OUTPUTS
from .tuning import Tuning, as_tuning

FIRST_ITERATIONS = 8
"""Iterations of the first step, which begins at a robot that stands still."""

ITERATIONS, TOLERANCE, START = 30, 1e-4, 1e-3
"""Most factorizations of a step, tolerance of its residuals, and complementarity at its start; relative to the cost."""

FEEDBACK_ITERATIONS = 10
"""Most factorizations of the first interval in a feedback."""

LARGEST = 0.3
"""Largest step of the plan [rad, m]; longer ones are shortened, because the program is linear."""

DEPENDENT = 1e-9
"""Share of its mobility below which the row of a contact follows from those before."""


@dataclass(frozen=True, eq=False)
class Action:
    """Result of a step of a controller.

    tau (nv) [N m, N]: torques, zero at the root. K (joints, 2 nv): gains, tau_joints + K dx for a state that differs by
    dx = (difference(q, q'), qd' - qd) from the measured one. qdd (nv), forces (nf): planned for now. plan: the whole
    plan. solved: whether the program was solved; status: the solver's word; seconds: of prepare and feedback.

    >>> action = horizon.controller().update(0.0, posture, np.zeros(18))  # doctest: +SKIP
    >>> action.status  # doctest: +SKIP
    'solved'
    """

    tau: Array
    K: Array
    qdd: Array
    forces: Array
    plan: Plan
    solved: bool
    status: str
    seconds: tuple[float, float]

    def __repr__(self) -> str:
        largest, (before, after) = np.abs(self.tau).max(), self.seconds
        return f"Action({self.status}, torques up to {largest:.3g} N m, {1e3 * before:.3g} + {1e3 * after:.3g} ms)"


class HorizonController:
    """Predictive control with a `Horizon`: `update(time, q, qd, command)` at every step, or in two parts, `prepare`
    before the state is measured and `feedback` after.

    gait, tuning: may be set anew at any time. times (N + 1) [s]: of the nodes. schedule: the next swings of each foot
    as `prepare` made them; `prepare` also takes a changed one. last: the solution of the last program. failures: number
    of programs that were not solved; the first warns. how: the way in which stages are evaluated and programs solved.

    >>> horizon = ocp.Horizon(model, feet, posture=posture, gait="trot")  # doctest: +SKIP
    >>> control = horizon.controller()  # doctest: +SKIP
    >>> control.update(0.0, q, qd, ocp.Command(forward=0.5)).tau.shape  # doctest: +SKIP
    (18,)
    """

    def __init__(self, body: Body, functions: Mapping[str, ca.Function], gait: GaitPattern, tuning: Tuning) -> None:
        self.body = body
        self.gait, self.tuning = gait, tuning
        N = self.N = len(body.grid) - 1
        self._batch = {name: Batch(functions[name], N + 1) for name in ("node", "stage", "move", "error")}
        self._batch |= {name: Batch(functions[name], 1) for name in ("advance", "begin", "touching", "faults")}
        self._batch["defect"] = Batch(functions["defect"], N)
        f = functions["stage"]
        self._places = {name: row_major(f.sparsity_out(name)) for name in "CE"}
        self.nx, nz = 2 * body.nv, 3 * body.nv + body.nf
        m, ne = f.size2_out("C"), f.size2_out("E")
        self._matrices = {"C": np.zeros((N + 1, m, nz)), "E": np.zeros((N + 1, ne, nz))}
        self.solver = StageSolver(N, self.nx, nz - self.nx, m, ne)
        self.how = f"{self._batch['stage'].how}; programs {self.solver.how}"
        self.time: float | None = None
        self.last: StageSolution | None = None
        self.failures = 0
        self._program: dict[str, Array] | None = None

    @property
    def gait(self) -> GaitPattern:
        """The gait, from the next step on; set by name or as a pattern."""
        return self._gait

    @gait.setter
    def gait(self, gait: str | GaitPattern) -> None:
        self._gait = as_gait(gait, self.body.n)

    @property
    def tuning(self) -> Tuning:
        """The weights, from the next step on."""
        return self._tuning

    @tuning.setter
    def tuning(self, tuning: Tuning) -> None:
        self._tuning = as_tuning(tuning)

    def reset(self, time: float, q: Any, qd: Any) -> None:
        """Forgets the plan, and begins at a robot that stands at (q, qd)."""
        q, qd = as_state(self.body, q, qd)
        body, n = self.body, self.N
        self.time = _time(time)
        self.times = self.time + body.grid
        self.q, self.qd = np.tile(q, (n + 1, 1)), np.tile(qd, (n + 1, 1))
        self.qdd, self.forces = np.zeros((n, body.nv)), np.zeros((n, body.nf))
        self.memory = self._one("begin", self.time, q)[0]
        self._program, self._fresh = None, True

    def update(
        self,
        time: float,
        q: Any,
        qd: Any,
        command: Command | None = None,
        schedule: Mapping[str, Any] | None = None,
        touching: Any = None,
    ) -> Action:
        """The action for a measured state: `prepare` and `feedback` in one; arguments as there."""
        q, qd = as_state(self.body, q, qd)
        if self.time is None:
            self.reset(time, q, qd)
        self.prepare(time, command, schedule, measured=(q, qd), touching=touching)
        return self.feedback(q, qd)

    def prepare(
        self,
        time: float,
        command: Command | None = None,
        schedule: Mapping[str, Any] | None = None,
        measured: tuple[Any, Any] | None = None,
        touching: Any = None,
    ) -> None:
        """Moves the window to a time [s], and solves its program from the measured state, the plan's by default.

        command: a `Command`; by default the robot walks in place. schedule: parts of the schedule that replace those of
        the gait. measured: the state (q, qd) from which places of feet and base are taken, the plan's by default.
        touching (feet): which feet feel the ground, by default those that should: a foot that feels it early stands,
        and the plan waits for one that is late. ValueError if time goes backward, for a schedule in which no foot
        touches the ground within the window, and for commands out of reach.
        """
        begin, time = clock.perf_counter(), _time(time)
        if self.time is None:
            raise ValueError("prepare: the controller has no state yet: call reset(time, q, qd) or update(...) first")
        if time < self.time:
            raise ValueError(
                f"time goes backward: got {time:g} s after {self.time:g} s; call reset(time, q, qd) to begin anew"
            )
        state = self._predicted(time) if measured is None else as_state(self.body, *measured)
        asked, gait = self.asked(command), self.gait.vector(self.body)
        scheduled = touching is None
        feet = self._one("touching", time, gait, self.memory)[0] if scheduled else as_touching(self.body, touching)
        now = np.array([time]), *state, asked, gait, self.memory, feet
        memory, of_gait, times = self._one("advance", *now)
        planned = of_gait if schedule is None else changed(self.body, of_gait, schedule)
        check_faults(self.body, self._one("faults", asked, gait, planned, of_gait)[0])
        p = self._references(now, (memory, planned, times))
        self.memory, self._schedule, self.time = memory, planned, time
        self._move_window(times)
        self._follow(p)
        for _ in range(FIRST_ITERATIONS if self._fresh else 0):
            self._take(self._solve(*state))
        self._solve(*state)
        self._fresh = False
        self._prepared = clock.perf_counter() - begin

    @property
    def schedule(self) -> dict[str, Array]:
        """The next swings of each foot: liftoff, touchdown [s], x, y, z [m], yaw [rad] of their footholds, each (feet,
        swings), and the normals of the ground (feet, 3)."""
        return self.body.schedule.unpack(self._schedule)

    def asked(self, command: Command | None) -> Array:
        """A command as numbers; ValueError where the legs cannot reach."""
        asked, none = as_command(command, self.gait.height or self.body.height), np.zeros(self.body.schedule.size)
        check_faults(self.body, self._one("faults", asked, self.gait.vector(self.body), none, none)[0][:3])
        return asked

    def _one(self, name: str, *values: Any) -> list[Array]:
        """Results of a function for one state."""
        return [x[0].copy() for x in self._batch[name]([np.asarray(value, dtype=float) for value in values])]

    def _references(self, now: tuple[Array, ...], planned: tuple[Array, Array, Array]) -> Array:
        """Parameters of all nodes."""
        memory, schedule, times = planned
        last, h = np.zeros(self.N + 1), np.append(np.diff(times), 0.0)
        last[-1] = 1.0
        same = now[0], now[3], now[4], memory, schedule, self.tuning.vector(self.body)
        shared = [np.tile(x, (self.N + 1, 1)) for x in same]
        p = self._batch["node"]([times[:, None], h[:, None], last[:, None], *shared])[0].copy()
        if not np.any(p[:-1, self.body.node.slices["contact"]] > 0.5):
            raise ValueError(
                f"no foot touches the ground between {times[0]:g} s and {times[-1]:g} s: give a schedule with a "
                "touchdown within the window, or a longer window"
            )
        return p

    def _follow(self, p: Array) -> None:
        """Forces of open contacts vanish, those of new contacts begin at their references."""
        where, feet = self.body.node.slices, self.body.feet
        self._p, self.contacts = p, p[:-1, where["contact"]] > 0.5
        sizes = [foot.size for foot in feet]
        ends = [begin + size - 1 for begin, size in zip(self.body.begins, sizes, strict=True)]
        on, pushing = (np.repeat(x, sizes, axis=1) for x in (self.contacts, self.forces[:, ends] > 0))
        self.forces = np.where(on, np.where(pushing, self.forces, p[:-1, where["force_ref"]]), 0.0)

    def _at(self, t: Array) -> tuple[Array, Array, Array]:
        """Configurations, velocities and integrals of forces of the plan at times; after its end it goes on at constant
        velocity."""
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, self.N - 1)
        begin, h = self.times[k][:, None], np.diff(self.times)[:, None]
        inside = np.minimum(t, self.times[-1])[:, None] - begin
        ended = self.qd[k] + inside * self.qdd[k]
        step = inside * self.qd[k] + inside**2 / 2 * self.qdd[k] + (t[:, None] - begin - inside) * ended
        sums = np.vstack([np.zeros((1, self.body.nf)), np.cumsum(h * self.forces, axis=0)])
        q, _ = self._batch["move"]([self.q[k], self.qd[k], np.hstack([step, 0 * step])])
        return q.copy(), ended, sums[k] + (t[:, None] - begin) * self.forces[k]

    def _predicted(self, time: float) -> tuple[Array, Array]:
        """The state that the plan has at a time."""
        q, qd, _ = self._at(np.full(self.N + 1, time))
        return q[0], qd[0]

    def _move_window(self, times: Array) -> None:
        """The plan at new times of the nodes. Accelerations and forces are means over the new intervals, so that
        velocities have no gaps."""
        if not np.array_equal(times, self.times):
            self.solver.shift(int(np.argmin(np.abs(self.times[1:] - times[1]))))
            self.q, self.qd, sums = self._at(times)
            h = np.diff(times)[:, None]
            self.qdd, self.forces, self.times = np.diff(self.qd, axis=0) / h, np.diff(sums, axis=0) / h, times

    def _linearize(self) -> dict[str, Array]:
        """The program about the plan, without its first state."""
        qdd, forces = (np.vstack([x, np.zeros((1, x.shape[1]))]) for x in (self.qdd, self.forces))
        found = self._batch["stage"]([self.q, self.qd, qdd, forces, self._p])
        values = dict(zip(OUTPUTS, found, strict=True))
        for name, matrix in self._matrices.items():
            matrix.reshape(self.N + 1, -1)[:, self._places[name]] = values[name]
        h = np.diff(self.times)
        b = self._batch["defect"]([self.q[:-1], self.qd[:-1], self.qdd, h[:, None], self.q[1:], self.qd[1:]])[0]
        values |= {"C": self._matrices["C"], "E": self._matrices["E"][:-1], "e": values["e"][:-1], "b": b, "h": h}
        self._program = values
        return values

    def feedback(self, q: Any, qd: Any) -> Action:
        """The action for a measured state, in the time of one node: the program of the first interval, with the cost to
        go of the plan, within all its limits; the rest of the plan answers by its gains. A program that is not solved
        is told by `solved`; if its numbers are not finite, the plan stays as it was."""
        begin = clock.perf_counter()
        q, qd = as_state(self.body, q, qd)
        if self.time is None or self._program is None or self.last is None:
            raise ValueError("feedback: call prepare(time, command) first, once per feedback")
        program, prepared = self._program, STATUSES.index(self.last.status)
        x0 = self._away(q, qd)
        if self.last.status != "not finite" and not np.array_equal(x0, self.last.z[0, : self.nx]):
            self.last = self.solver.feedback(x0, FEEDBACK_ITERATIONS, TOLERANCE, START)
        found, self._program = self.last, None
        self._take(found)
        nj, C = self.body.nj, program["C"][:-1, : self.body.nj]
        joints = program["c"][:-1, :nj] + np.einsum("kij,kj->ki", C, found.z[:-1])
        tau = np.hstack([np.zeros((self.N, 6)), joints])
        K = (C[0][:, : self.nx] + C[0][:, self.nx :] @ found.K) @ np.kron(np.eye(2), self._held(program))
        plan = Plan(
            self.body.model, self.times, self.q, self.qd, self.qdd, self.forces, tau, self.contacts, self.schedule
        )
        status = STATUSES[max(prepared, STATUSES.index(found.status))]
        seconds = self._prepared, clock.perf_counter() - begin
        self._action = Action(
            tau[0], K, self.qdd[0], self.forces[0], plan, status in ("solved", "relaxed"), status, seconds
        )  # fmt: skip
        self._tell(self._action)
        return self._action

    def _tell(self, action: Action) -> None:
        """Counts programs that were not solved, and warns at the first."""
        if not action.solved:
            self.failures += 1
            if self.failures == 1:
                warn(
                    f"horizon: not converged: the program at {self.time:g} s ends by {action.status!r}; its torques "
                    "may break limits. Later failures are counted in `failures`, without a warning"
                )

    def torques(self, time: float, q: Any, qd: Any) -> Array:
        """Torques (nv) for a state measured between two feedbacks: tau + K dx of the last action, with the difference
        dx from the state that it has planned for this time."""
        q, qd = as_state(self.body, q, qd)
        action, plan = self._action, self._action.plan
        h, begin = time - plan.times[0], (plan.q[0], plan.qd[0])
        step = np.concatenate([h * begin[1] + h * h / 2 * action.qdd, h * action.qdd])
        at = [x[0].copy() for x in self._batch["move"]([np.tile(x, (self.N + 1, 1)) for x in (*begin, step)])]
        ahead = self._batch["error"]([np.tile(x, (self.N + 1, 1)) for x in (*at, q, qd)])[0][0]
        return np.concatenate([np.zeros(6), action.tau[6:] + action.K @ ahead])

    def _away(self, q: Array, qd: Array) -> Array:
        """Difference of a state from the plan's."""
        measured = [np.tile(x, (self.N + 1, 1)) for x in (q, qd)]
        return np.array(self._batch["error"]([self.q, self.qd, *measured])[0][0])

    def _held(self, program: Mapping[str, Array]) -> Array:
        """Map of velocities to those after the feet on the ground hit it without rebound, I - H^-1 J' (J H^-1 J')^-1 J.

        Soles are light: without it the gains would answer the rocking of a sole as if it were the robot's.
        """
        nv, nj = self.body.nv, self.body.nj
        E, C = program["E"][0][:, 2 * nv : 3 * nv], program["C"][0][:, 2 * nv : 3 * nv]
        H = np.vstack([E[:6], C[:nj]])
        found: Array = np.eye(nv)
        for contact in E[6:]:
            row = contact @ found
            change = np.linalg.solve(H, row)
            if row @ change > DEPENDENT * np.sum(contact**2 / np.diag(H)):
                found = found - np.outer(change, row) / (row @ change)
        return found

    def _solve(self, q: Array, qd: Array) -> StageSolution:
        """The solution of the program about the plan, from a state."""
        program = self._linearize()
        qp = StageQP(**program, x0=self._away(q, qd))
        self.last = self.solver.solve(qp, warm=not self._fresh, iterations=ITERATIONS, tolerance=TOLERANCE, start=START)
        return self.last

    def _take(self, found: StageSolution) -> None:
        """Moves the plan by a step of bounded length."""
        if found.status != "not finite":
            nv = self.body.nv
            z = found.z * min(1.0, LARGEST / max(float(np.abs(found.z[:, :nv]).max()), LARGEST))
            self.q, self.qd = (x.copy() for x in self._batch["move"]([self.q, self.qd, z[:, : self.nx]]))
            self.qdd = self.qdd + z[:-1, self.nx : self.nx + nv]
            self.forces = self.forces + z[:-1, self.nx + nv :]


def _time(time: Any) -> float:
    return within(time, -LATEST, LATEST, f"time [s] must lie between -{LATEST:g} and {LATEST:g}")
