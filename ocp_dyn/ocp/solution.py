"""`Solution`: a solved motion, and the questions, pictures and files that belong to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._types import Array, truth
from .analysis import active_set, defects, summary
from .analysis.active_set import ActiveSet
from .analysis.defects import Defects, Drift
from .analysis.floquet import Floquet, floquet
from .analysis.summary import Summary
from .motion import notebook, tables
from .motion.files import load_motion, save_motion
from .motion.motion import Motion


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Motion):
    def summary(self, defects: bool = True) -> Summary:
        """Outcome, gait, cost, work, loads and defects: `print` shows them as a table, `numbers()` gives a dict; see
        `Summary`.

        defects: False leaves out the defects, which take a second for a large model.
        """
        return summary.summary(self, truth(defects, "defects"))

    def defects(self) -> Defects:
        """Re-integrates every interval, and every phase as a whole; see `Defects`."""
        return defects.defects(self)

    def drift(self) -> Drift:
        """Errors of the contacts at all nodes, zero without contacts; `Problem.contact_level` and `baumgarte` keep them
        small."""
        return defects.drift(self)

    def active(self, equalities: bool = False, tolerance: float = 1e-6) -> ActiveSet:
        """The bounds and rows that are active, with their multipliers, as a table; see `ocp_dyn.ocp.analysis.active_set`."""
        return active_set.active_set(self, equalities, tolerance)

    def variables(self) -> dict[str, Array]:
        """The program's variables by name, in physical units: "duration of swing", "q swing[3]"."""
        return active_set.variables(self)

    def multipliers(self) -> dict[str, Array]:
        """Multipliers of the rows by name, "swing: dynamics": (intervals, rows); see `active_set.row_multipliers`."""
        return active_set.row_multipliers(self)

    def bound_multipliers(self) -> dict[str, Array]:
        """Multipliers of the variables' bounds by the variables' names, in physical units, negative at lower ones."""
        return active_set.bound_multipliers(self)

    def floquet(self, **options: Any) -> Floquet:
        """Derivative of the map of one period, its multipliers and neutral directions; see `ocp_dyn.ocp.analysis.floquet`."""
        return floquet(self, **options)

    def floquet_multipliers(self, **options: Any) -> Any:
        """Floquet multipliers, the growth of disturbances per period: complex numbers, largest first; see
        `ocp_dyn.ocp.analysis.floquet`.

        A mirrored motion's period is one step, half a stride. The motion is stable if all lie inside the unit circle.
        """
        return floquet(self, **options).multipliers

    def animate(self, path: str | Path, **options: Any) -> Path:
        """Writes an animation (.gif, .html, .mp4); see `ocp_dyn.viz.animate`."""
        from ..viz import animate

        return animate(self, path, **options)

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """Joint angles, torques and contact forces over time; see `ocp_dyn.viz.plot`."""
        from ..viz import plot

        return plot(self, path, **options)

    def _repr_html_(self) -> str:
        return notebook.card(self, self.summary(defects=False).rows())

    def _repr_png_(self) -> bytes | None:
        return notebook.picture(self)

    def to_csv(self, path: str | Path, **options: Any) -> Path:
        """Writes a table with a line per node, as .csv; see `ocp_dyn.ocp.motion.tables.to_csv`."""
        return tables.to_csv(self, path, **options)

    def table(self, layout: str = "") -> dict[str, Array]:
        """The columns of `to_csv` as arrays, by name."""
        return tables.table(self, layout)

    def save(self, path: str | Path) -> Path:
        """Writes everything to one .npz file, the model included; `Solution.load` reads it back.

        The folder is made if it is missing; the file appears complete or not at all.
        """
        return save_motion(self, path)

    @staticmethod
    def load(path: str | Path, *, joints: Any = (), constraints: Any = ()) -> Solution:
        """Reads a file that `save` wrote; ValueError for another kind of file or a damaged one, OSError if it is
        unreadable.

        joints, constraints: classes of the user's own joints and constraints in the file, such as `joints=(Screw,)`.
        """
        return load_motion(path, Solution, joints=joints, constraints=constraints)
