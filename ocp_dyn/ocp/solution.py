"""`Solution`: a solved motion with the methods that evaluate, draw and save it."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from .._base.convergence import failure, mark_of, warn
from .._base.display import Picture, image, table
from .._base.types import Array, truth
from ..gait.gait import Gait
from ..gait.stances import Stance, stances
from .analysis import active_set, deciding, defects, summary
from .analysis.active_set import ActiveSet
from .analysis.deciding import DecidingBounds
from .analysis.defects import Defects, Drift
from .analysis.floquet import Floquet, floquet
from .analysis.interval_errors import IntervalErrors, interval_errors
from .analysis.joint_loads import joint_load
from .analysis.measured_bands import OUTSIDE, outside_bands
from .analysis.metabolic_cost import Metabolism, metabolic_rate
from .analysis.refinement import Refinement, refinement
from .analysis.summary import Summary
from .motion import sampled_tables, tables
from .motion.motion import Motion
from .motion.solution_files import load_motion, save_motion
from .motion.strength_use import StrengthUse, strength_use
from .torque_sources.effort import JointWork, RestingRate
from .torque_sources.joint_loads import JointLoad
from .torque_sources.metabolic import MetabolicRate
from .torque_sources.muscle_costs import MuscleMetabolicRate

POSES = 7
"""Number of poses in the picture of a motion."""


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Motion):
    """A solved motion, as `Problem.solve` returns it and `Solution.load` reads it.

    The motion, of P phases with K nodes in all:
        t (K): times of the nodes [s]
        q (K, nq), qd (K, nv): configurations [rad, m] and velocities [rad/s, m/s] at the nodes, in the order of
            `model.q_names` and `model.qd_names`
        tau (K - P, nv): joint torques [N m] and forces [N] on the intervals between the nodes: their means
        phases (P): the same phase by phase, with accelerations, contact forces and foot placements, see `PhaseMotion`
        impulses: impulses on the robot [N s, N m s] between the phases and at the end of a period, see `Motion`
        duration [s]; step_length, sideways, rise [m], turn [rad]: the rigid motion to the next period, see `Step`, 0 if
            the motion is not periodic; mirrored: whether every second repetition is mirrored left to right;
            `repetition(n)` maps points and states to the n-th one
        model, loads: the mechanism, and the passive joint forces and rotor inertias in its equations of motion
    The result of the solver:
        converged, status: whether the solver reached its tolerance (check this first), and its status in a word
        objective, cost: the minimized cost, and its terms by name
        stats: figures of the run and settings of the transcription; the violated constraints if it did not converge
        iterate, record: variables and multipliers of the nonlinear program, and their names; `variables`, `multipliers`
            and `active` give them in readable form

    The time between two phases appears twice in t: the last node of a phase and the first node of the next one differ
    in their velocities if the transition is an impact. A solution cannot be changed; `dataclasses.replace` makes a
    changed copy.

        solution = problem.solve()
        print(solution.summary())                      # the main figures
        torque = solution.phases[0].tau[:, 2]          # of dof 2 during the first phase
        force = solution.phases[0].wrenches["foot"]    # [moment; force] on the foot, world axes
        solution.save("walk.npz")

    >>> solution.q[-1].round(3), solution.t.shape, solution.tau.shape
    (array([1.]), (21,), (20, 1))
    """

    def __str__(self) -> str:
        line, beyond = summary.bounds_of(self).line, outside_bands(self) if self.converged else []
        found = repr(self) + (f"\n{summary.DECIDE}: {line}" if line else "")
        return found + (f"\n{OUTSIDE}: {', '.join(e.line for e in beyond)}" if beyond else "")

    def summary(self, defects: bool = True) -> Summary:
        """Status, cost, duration, speed, work, peak torque and defects: `print` shows a table, `numbers()` gives a
        dict; see `Summary`.

        defects: False leaves out the defects, which take a second for a large model.

        >>> numbers = solution.summary(defects=False).numbers()
        >>> round(numbers["peak_torque_Nm"], 3), numbers["duration_s"]
        (5.714, 1.0)
        """
        return summary.summary(self, truth(defects, "defects"))

    def metabolic_rate(
        self, rate: JointWork | MetabolicRate | MuscleMetabolicRate | None = None, rest: RestingRate | None = None
    ) -> Metabolism:
        """Metabolic power and cost of transport, per mass, net of the rest and gross, and net by dof; see `Metabolism`.

        rate: how the motion is priced, `JointWork()` by default, of muscles `MuscleMetabolicRate(...)`; rest: the rate
        at rest, by default `RestingRate()`. Both may be the terms of the problem or others; their weights do not count.
        ValueError if `rate` has tendons and the torques of the motion are constant along intervals.

        >>> price = solution.metabolic_rate(rest=ocp.RestingRate(1.5))
        >>> [round(x, 2) for x in (price.net, price.rest, price.gross)]  # [W/kg]; 1.13 J done, 1.13 J taken up
        [5.46, 1.5, 6.96]
        """
        return metabolic_rate(self, JointWork() if rate is None else rate, RestingRate() if rest is None else rest)

    def joint_load(self, load: JointLoad) -> Array:
        """The load of a joint in the middle of every interval (intervals x 6) [N m; N], [moment; force] on the body
        that it moves; the forces of both places (intervals x 2) [N], if the load has compartments.

        TypeError for what is no `JointLoad`, KeyError for a joint that the model does not have.

        >>> solution.joint_load(ocp.JointLoad("rim_joint")).shape
        (20, 6)
        """
        return joint_load(self, load)

    def strength_use(self) -> StrengthUse:
        """Largest torque over the limit of every joint, the largest share first, as a table; see `StrengthUse`.

        `od.viz.plot_strength(solution)` draws it.

        >>> strong = ocp.Problem(wheel.with_limits(effort=6.0), turn(ocp.TorqueSquared()).phases, boundary=[rest])
        >>> strong.solve(progress=False).strength_use().line
        'rim_joint 95 %'
        """
        return strength_use(self)

    def defects(self) -> Defects:
        """Errors of the discretization: re-integrates every interval, and every phase as a whole; see `Defects`.

        >>> round(solution.defects().angle, 9)  # [rad]: torques of a wheel are integrated exactly
        0.0
        """
        return defects.defects(self)

    def interval_errors(self) -> IntervalErrors:
        """Error of every interval in radians and meters, by a finer integration; see `IntervalErrors`.

        >>> solution.interval_errors().worst[:2]
        ('rim_joint', 'rim_joint')
        """
        return interval_errors(self)

    @property
    def refinement(self) -> Refinement:
        """The grids on which the motion was solved until its intervals were accurate enough; see `Refinement`.

        ValueError for a motion that was solved without an accuracy.

        >>> print(turn(ocp.TorqueSquared()).solve(accuracy=1e-4, progress=False).refinement.verdict)
        all intervals err by at most ... rad, within the accuracy 0.0001
        """
        return refinement(self)

    def refined(self, problem: Any, accuracy: float, **options: Any) -> Solution:
        """The motion on a finer or coarser grid, all of whose intervals err by no more than the accuracy [rad, m]; the
        solve begins with this motion and its multipliers.

        problem: of which this is a solution, a file does not hold it. options: of `Problem.solve`.

        >>> problem = turn(ocp.TorqueSquared())
        >>> problem.solve(progress=False).refined(problem, 1e-6, progress=False).refinement.reached
        True
        """
        if not callable(getattr(problem, "solve", None)):
            raise TypeError(f"refined: problem must be the Problem of this solution, got {type(problem).__name__}")
        found: Solution = problem.solve(start=self, accuracy=accuracy, **options)
        return found

    def drift(self) -> Drift:
        """Largest position and velocity errors of the contacts at the nodes; zero without contacts, see `Drift`.

        The settings `contact_level` and `baumgarte` of `Problem` keep them small.

        >>> solution.drift()  # no contacts
        Drift(position=0.0, velocity=0.0)
        """
        return defects.drift(self)

    def stances(self, least: float | None = None) -> tuple[Stance, ...]:
        """Times of each foot on the ground, by touch-down, in one cycle: two steps of a mirrored motion; see `Stance`.

        least: force [N] above which a compliant foot is on the ground, by default 20 N, or 3 % of the weight of a light
        body. Other feet are in the phases that hold them.

        >>> solution.stances()  # no contacts
        ()
        """
        return stances(self, least)

    def active(self, equalities: bool = False, tolerance: float = 1e-6) -> ActiveSet:
        """Active bounds and constraint rows with their multipliers, as a table; see `ocp_dyn.ocp.analysis.active_set`.

        equalities: whether to list equality rows, which are always active. tolerance: distance to a bound, in the scale
        of the program, within which it counts as active.

        >>> gentle = ocp.Path(lambda instant: instant.tau, -np.inf, 4.5, where="interval")
        >>> weak = turn(ocp.TorqueSquared(), path=[gentle]).solve(progress=False)
        >>> print(weak.active())
        kind  name        entry  side   phase  from [s]  to [s]  count  multiplier
        row   turn: Path         upper  turn   0.000     0.100   3      0.185
        """
        return active_set.active_set(self, equalities, tolerance)

    def deciding(self, least: float = deciding.LEAST) -> DecidingBounds:
        """The bounds that decide the result: active ones of durations, joint angles and speeds, torques, places and
        parameters, one line for each; see `ocp_dyn.ocp.analysis.deciding`.

        least: share of the objective that a bound must be worth over its range. Rows, such as friction cones, are in
        `active`.

        >>> push = ocp.Phase("push", 20, (0.5, 0.9), objective=[ocp.TorqueSquared()])
        >>> print(ocp.Problem(wheel, [push], boundary=[rest]).solve(progress=False).deciding())
        bound             side   value  phases  % of the motion  times  multiplier
        duration of push  upper  0.9 s                           1      55 per s
        """
        return deciding.deciding(self, least)

    def variables(self) -> dict[str, Array]:
        """Variables of the nonlinear program by name, in physical units: "duration of swing", "q swing[3]".

        >>> list(solution.variables())[:3]
        ['duration of turn', 'q turn[0]', 'qd turn[0]']
        """
        return active_set.variables(self)

    def multipliers(self) -> dict[str, Array]:
        """Multipliers of the constraint rows by name, such as "swing: dynamics", each (intervals, rows); see
        `active_set.row_multipliers`.

        >>> list(solution.multipliers())
        ['turn: dynamics', 'turn: velocity step', 'turn: position step', 'ends: boundary']
        >>> solution.multipliers()["ends: boundary"].shape
        (1, 4)
        """
        return active_set.row_multipliers(self)

    def bound_multipliers(self) -> dict[str, Array]:
        """Multipliers of the bounds by the names of the variables, in physical units; negative at a lower bound.

        >>> push = ocp.Phase("push", 20, 1.0, objective=[ocp.TorqueSquared()])
        >>> weak = ocp.Problem(wheel.with_limits(effort=4.5), [push], boundary=[rest]).solve(progress=False)
        >>> round(float(weak.bound_multipliers()["tau push[0]"][0]), 3)  # at the upper bound
        0.294
        """
        return active_set.bound_multipliers(self)

    def floquet(self, **options: Any) -> Floquet:
        """Derivative of the map of one period, its eigenvalues and neutral directions; see
        `ocp_dyn.ocp.analysis.floquet`.

        Options: step [s] of the integration; problem: the solved problem, needed if it has a `Jump`.

        >>> still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
        >>> hang = ocp.Problem(rod, [ocp.Phase("hang", 10, 1.0, objective=[ocp.TorqueSquared()])], periodic=still)
        >>> hang.solve(progress=False).floquet().stable  # without friction it swings on
        True
        """
        return floquet(self, **options)

    def floquet_multipliers(self, **options: Any) -> Any:
        """Floquet multipliers, the growth of disturbances per period: complex numbers, largest first; see
        `ocp_dyn.ocp.analysis.floquet`.

        The motion is stable if all of them lie inside the unit circle. The period of a mirrored motion is one step,
        half a stride.

        >>> still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
        >>> hang = ocp.Problem(rod, [ocp.Phase("hang", 10, 1.0, objective=[ocp.TorqueSquared()])], periodic=still)
        >>> np.abs(hang.solve(progress=False).floquet_multipliers()).round(4)  # it swings on: exp(+-i omega T)
        array([1., 1.])
        """
        return floquet(self, **options).multipliers

    def animate(self, path: str | Path | None = None, **options: Any) -> Any:
        """Writes an animation (.gif, .html, .mp4) and returns its path, which a notebook shows as the animation;
        without a path a notebook shows it at once. See `ocp_dyn.viz.animate` for the options.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(solution.animate(f"{folder}/turn.html").name)
        turn.html
        """
        from ..viz import animate

        return animate(self, path, **options)

    def show(self, **options: Any) -> Any:
        """Plays the motion in the browser, with contact forces, center of mass and footholds, and returns the running
        viewer; see `ocp_dyn.viz.show` for the options."""
        from ..viz import show

        return show(self, **options)

    def plot(self, path: str | Path | None = None, *, reference: Any = None, **options: Any) -> Any:
        """Figure of joint angles, torques and contact forces over time, written to `path` if given; see
        `ocp_dyn.viz.plot`.

        reference: a gait to hold a walk against: measured, by a name such as "winter", the path of a table, a
        `GaitReference`; another solved walk or its `gait()`; or a list of them: the figure then shows both legs over
        their strides with its bands behind the curves, see `Gait.plot`; the only other option is `quantities`.

        >>> [axis.get_ylabel() for axis in solution.plot().axes]
        ['degrees (+ about z)', 'degrees/s (+ about z)', 'N m (+ about z)']
        """
        if reference is not None:
            from ..viz.gait_curves import plot_beside

            return plot_beside(self, reference, path, **options)
        from ..viz import plot

        return plot(self, path, **options)

    def gait(self, side: str = "right") -> Gait:
        """Curves of a walk over the stride of a leg in the terms of gait analysis, and figures such as cadence and step
        width; see `Gait`.

        side: "left" or "right". ValueError for a motion that is not periodic, a model without hips, knees and ankles on
        both sides, or feet that do not leave the ground once per stride.

            gait = walk.gait()
            gait["knee flexion"]                  # (101) [degrees], from heel strike to heel strike
            gait.figures["step_width_m"]

        >>> solution.gait()
        Traceback (most recent call last):
            ...
        ValueError: gait() needs a periodic motion that moves forward: give the problem periodic=ocp.Periodic(...)
        """
        from ..gait.curves import gait

        return gait(self, side)

    def _repr_html_(self) -> str:
        drawn, mark = self._repr_png_(), mark_of(self)
        head = f'<div style="color: #C1121F"><b>{escape(mark)}</b>: no motion of the model</div>' if mark else ""
        return head + ("" if drawn is None else image(drawn)) + table((), self.summary(defects=False).rows())

    def _repr_png_(self) -> Picture | None:
        from ..viz import stick_figure

        try:
            drawn: Picture = stick_figure(self, poses=POSES)._repr_png_()  # type: ignore[attr-defined]
        except ValueError:  # no shapes in the model, or positions that are not finite
            return None
        return drawn

    def to_csv(self, path: str | Path, **options: Any) -> Path:
        """Writes a table as .csv, and returns its path; see `ocp_dyn.ocp.motion.tables.table`.

        A line per node; with samples=101 at even times, with stride=True over a whole stride of a walk, both with
        ground forces and centers of pressure in world axes. layout, delimiter: for other programs.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(solution.to_csv(f"{folder}/turn.csv").read_text().splitlines()[0])
        time,phase,q rim_joint,qd rim_joint,tau rim_joint
        """
        return tables.to_csv(self, path, **options)

    def table(self, layout: str = "", **options: Any) -> dict[str, Array]:
        """The columns of `to_csv` as arrays, by name; see `ocp_dyn.ocp.motion.tables.table`.

        >>> list(solution.table())
        ['time', 'phase', 'q rim_joint', 'qd rim_joint', 'tau rim_joint']
        """
        return tables.table(self, layout, **options)

    def to_dataframe(self, **options: Any) -> Any:
        """The columns of `table` as a DataFrame of pandas; options: stride, samples. ImportError without pandas.

        >>> solution.to_dataframe(samples=3)["q rim_joint"].round(3).tolist()
        [0.0, 0.5, 1.0]
        """
        return sampled_tables.to_dataframe(self, tables.table(self, **options))

    def to_xarray(self, **options: Any) -> Any:
        """The columns of `table` as a Dataset of xarray: q, qd and tau by entry, forces and centers of pressure by foot
        and axis; options: stride, samples. ImportError without xarray (the extra `data`).

        >>> dict(solution.to_xarray(samples=3)["q"].sizes)
        {'sample': 3, 'q_entry': 1}
        """
        return sampled_tables.to_xarray(self, tables.table(self, **options))

    def save(self, path: str | Path) -> Path:
        """Writes everything to one .npz file, the model included, and returns its path; `Solution.load` reads it.

        The folder is made if it is missing; the file appears complete or not at all. It holds a digest of every part,
        by which `load` knows a file that is not whole. Numbers are always saved; of functions in a model, as in a
        `CustomJoint`, or in a constraint the names are, with a `ModelWarning`: `load(path, problem=problem)` reads it.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(ocp.Solution.load(solution.save(f"{folder}/turn.npz")))
        Solution of 'wheel': Solve_Succeeded, objective 12.0301 (TorqueSquared 12.0301), 1 s, phases turn
        """
        return save_motion(self, path)

    @staticmethod
    def load(
        path: str | Path, *, joints: Any = (), constraints: Any = (), components: Any = (), verify: bool = True,
        problem: Any = None,
    ) -> Solution:  # fmt: skip
        """Reads a file that `save` wrote.

        joints, constraints: classes of the user's own joints and constraints in the file, such as `joints=(Screw,)`.
        components: those of the problem, such as `problem.components`, which a file does not hold; `defects` needs
        them. problem: the problem that was solved, which has all that a file cannot hold: components, a `CustomJoint`,
        a constraint with a function. verify: False reads a file that another program has written or changed, if all its
        parts fit each other. ModelError, a ValueError, for a damaged or changed file or another kind of file; OSError
        if the file cannot be read. A `NotConvergedWarning` tells that the solver did not converge.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ocp.Solution.load(solution.save(f"{folder}/turn.npz")).converged
        True
        """
        own = {"joints": joints, "constraints": constraints, "components": components, "problem": problem}
        solution = load_motion(path, Solution, **own, verify=verify)
        if not solution.converged:
            warn(f"{path}: {failure(solution)}")
        return solution
