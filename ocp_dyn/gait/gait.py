"""`Gait`: curves of a walk over the stride of a leg, in the terms and signs of gait analysis, and its main figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._base.checks import name_among
from .._base.display import Displayed, Listing, plot, table
from .._base.types import Array
from .compare import ExpectedFigures, GaitComparison, compare, expected, outside
from .data import PERCENT, UNITS
from .reference import gait_reference, reference_of


@dataclass(frozen=True, eq=False)
class Gait(Displayed):
    """Curves over the stride of one leg, from its heel strike (0 %) to its next one (100 %), and figures of the walk.

    `Solution.gait` makes it. `gait["knee flexion"]` is a curve at `percent` (101):

    | curves | unit | definition, positive direction |
    |---|---|---|
    | `hip flexion` | degrees | thigh relative to the pelvis, the flexion of the hip joint, which is carried out first |
    | `hip flexion from trunk` | degrees | line from hip to knee relative to the trunk, in the plane of progression |
    | `thigh flexion` | degrees | line from hip to knee relative to the vertical, in the plane of progression |
    | `knee flexion`, `ankle dorsiflexion` | degrees | angles of the joints; 0 when standing upright |
    | `hip adduction`, `hip internal rotation` | degrees | angles of the joint about the axes after flexion |
    | `pelvis tilt`, `trunk tilt` | degrees | forward lean from the vertical; 0 when standing upright |
    | `pelvis obliquity` | degrees | the side of this leg up |
    | `trunk lean` | degrees | from the vertical to the side of this leg |
    | `pelvis rotation`, `trunk rotation` | degrees | the side of this leg forward |
    | `foot pitch` | degrees | sole against the ground, toes up |
    | `hip extension moment`, `knee extension moment` | N m/kg | internal net moment: motor and passive torque |
    | `ankle plantar flexion moment` | N m/kg | internal net moment: motor and passive torque |
    | `hip abduction moment`, `hip external rotation moment` | N m/kg | internal net moment: motor and passive torque |
    | `hip power`, `knee power`, `ankle power` | W/kg | net moment times rate of the joint, generation |
    | `hip abduction power`, `hip rotation power` | W/kg | the same about the other axes of the hip |
    | `forward force`, `lateral force`, `vertical force` | body weights | on the foot: forward, outward, up |
    | `center of pressure along` | foot lengths | from the heel forward; nan in the swing |
    | `center of pressure lateral` | foot lengths | from the foot's midline outward; nan in the swing |
    | `center of mass height`, `center of mass lateral` | m | from its mean over the stride: up, outward |

    Winter's tables (1991) have the hip angle of a thigh relative to the trunk, those of optical gait analysis relative
    to the pelvis. Here the pelvis has no tilt when the body stands upright; clinical markers of an upright pelvis show
    about 10 degrees of forward tilt, and by so much more hip flexion. Pelvis rotation, obliquity and tilt are carried
    out in this order (Baker, Human Movement Science 20, 2001). On a slope, forces and foot pitch refer to the ground,
    tilts to gravity. Curves that the model has no frames for (`heel_l`, `toe_l`) are left out.

    events: percent of the stride at which feet strike and leave the ground, "foot flat" and "heel-off": the foot's
    pitch comes within 2 degrees of that in single support, and leaves them again. figures: numbers of the walk by name
    and unit, among them cadence, step width (between the heels, in the middle of stance), double support (both of a
    stride together), and the largest hip abduction moment of the first half of stance with its time. The curves of the
    other planes are left out of models whose hips do not turn in them. mark: words on a solution that
    did not converge, "" for others. kind: "simulated" or "measured".

    >>> gait = ocp.Gait("right", "a walk", {"knee flexion": np.full(101, 5.0)}, {}, {"step_width_m": 0.1})
    >>> gait["knee flexion"][0], gait.units("knee flexion"), gait.numbers()
    (np.float64(5.0), 'degrees', {'step_width_m': 0.1})
    """

    side: str
    title: str
    curves: Mapping[str, Array]
    events: Mapping[str, float]
    figures: Mapping[str, float]
    percent: Array = field(default_factory=PERCENT.copy)
    mark: str = ""
    kind: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "curves", Listing(self.curves))  # which `print` shows with a line for each

    def __getitem__(self, name: str) -> Array:
        return self.curves[name_among(name, self.curves, "gait", "curve")]

    def units(self, name: str) -> str:
        """Unit of a curve."""
        return UNITS[name_among(name, UNITS, "gait", "curve")]

    def numbers(self) -> dict[str, float]:
        """Figures and events as a flat dict, for a report in JSON."""
        at = {f"{name.replace(' ', '_').replace('-', '_')}_percent": x for name, x in self.events.items()}
        return {**self.figures, **at}

    def compare(self, reference: Any = "winter") -> GaitComparison:
        """Agreement with a measured gait: RMSE, correlation, percent within two standard deviations of every curve, and
        figures such as cadence beside those of people at this speed; see `GaitComparison`.

        reference: a name, the path of a table, or a `GaitReference`; see `gait_reference`.
        """
        return compare(self, gait_reference(reference))

    def expected(self) -> ExpectedFigures:
        """Figures of this walk beside those of people at this speed and slope, from several publications.

        A list of (figure, value, mean, sd, source); sd is nan where it was not published.
        """
        return expected(self.numbers())

    def outside(self) -> ExpectedFigures:
        """Figures of this walk that lie outside the measured bands: more than two standard deviations from the mean of
        every source that tells them at this speed and slope. `print` names them.

        >>> gait = ocp.Gait("right", "a walk", {}, {}, {"speed_m_per_s": 1.3, "center_of_mass_rise_m": 0.01})
        >>> [e.line for e in gait.outside()]
        ['center of mass rise m 0.01 (people 0.0413 ± 0.0079)']
        """
        return outside(self.numbers())

    def plot(self, path: str | Path | None = None, *, reference: Any = None, quantities: Any = None) -> Any:
        """Figure of the curves, written to `path` (.png, .pdf, .svg) if given, with measured bands behind them.

        reference: a measured gait by name, path or `GaitReference`, or a list of several, see `gait_reference`; its
        mean is dashed, its band reaches two standard deviations to both sides. quantities: rows of panels, some of
        "angles", "moments", "powers", "forces", "pelvis", "hips", "hip rotation", "trunk", "foot" and "center of mass",
        and names of curves. The panel of the hip shows the angle that the reference defines.
        """
        return plot(self, reference=reference, path=path, quantities=quantities)

    def to_csv(self, path: str | Path) -> Path:
        """Writes the curves as a table that `gait_reference` reads, and returns its path."""
        return reference_of(self).to_csv(path)

    def to_dataframe(self) -> Any:
        """The curves as a DataFrame of pandas over percent, with units in its attrs. ImportError without pandas.

        >>> gait = ocp.Gait("right", "a walk", {"knee flexion": np.full(101, 5.0)}, {}, {})
        >>> frame = gait.to_dataframe()
        >>> frame["knee flexion"][40.0], frame.attrs["units"]
        (np.float64(5.0), {'knee flexion': 'degrees'})
        """
        return reference_of(self).to_dataframe()

    def rows(self) -> list[tuple[str, str]]:
        """Names and values of `numbers`, as text."""
        return [(name.replace("_", " "), f"{value:.4g}") for name, value in self.numbers().items()]

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows) + 2
        beyond = [f"outside the measured band: {e.line}" for e in self.outside()]
        return "\n".join([f"{self.title}, {self.side} leg", *(f"{name:{width}}{text}" for name, text in rows), *beyond])

    def __repr__(self) -> str:
        return f"Gait of {self.title!r}, {self.side} leg: {len(self.curves)} curves"

    def _card_html(self) -> str:
        return table((), self.rows())

    def _repr_png_(self) -> Any:
        return self.plot()._repr_png_() if "vertical force" in self.curves and "toe-off" in self.events else None
