"""Plots of solved motions: joint angles, torques, powers and ground reaction forces over the gait cycle; `plot`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from .._base.checks import some_of
from .._base.types import Array, repr_in_message, truth
from ..gait.joint_angles import LEGS, Coordinate, coordinates, directed
from ..gait.limbs import Limb, Pair, chosen, limbs
from ..gait.unrolled import MotionLike, weight
from ..mechanism import Model
from ..models import ClosedChain
from .gait_comparison import plot_gaits
from .panels import Bands, Chart, Paint, Panel, Section, channel_sections, lines, page
from .pictures.mechanism import plot_chain, plot_model
from .print_layout import PrintLayout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUANTITIES = ("angles", "rates", "torques", "powers", "forces")
"""Quantities of `plot_motion`; the last are the ground reaction forces."""

FEW_COORDINATES = 6
"""Largest number of joint coordinates that are drawn with a row for each; those of more are drawn limb by limb."""

MOST_ABREAST = 6
"""Largest number of panels in a row of a limb."""

STILL_ANGLE, STILL_LENGTH = 2e-3, 2e-4
"""Ranges of motion [rad, m] below which a joint stands still, and is left out unless it is chosen."""

TITLES = {
    "hip": ("hip flexion", "hip extension", "hip"),
    "knee": ("knee flexion", "knee extension", "knee"),
    "ankle": ("ankle dorsiflexion", "ankle plantar flexion", "ankle"),
    "hip adduction": ("hip adduction", "hip abduction", "hip abduction"),
    "hip internal rotation": ("hip internal rotation", "hip external rotation", "hip rotation"),
}
"""Titles of the panels of a leg: of the angle, of the torque, of the power."""


def plot_motion(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    joints: Sequence[str] | None = None,
    quantities: Sequence[str] | None = None,
    per_mass: bool = False,
    bands: Bands | None = None,
    width: float | None = None,
    style: str = "screen",
) -> Figure:
    """Curves of a motion, written to `path` (.png, .pdf, .svg) if given.

    For a model with hips, knees and ankles on both sides: angles [degrees] and torques [N m] of both legs, ground
    reaction forces [% of body weight], center of pressure, trunk and arms; flexion and dorsiflexion are positive
    angles, extending and plantar flexing torques are positive. Robots are drawn limb by limb, the left and the right in
    one panel, in the coordinates of their joints: angles and torques of limbs with feet, angles of the others; joints
    that stand still are named below. Small models: angle, rate and torque of every joint. Torques are left out if all
    are zero. Channels of components have a panel each. The abscissa is the gait cycle of a periodic motion (of a
    mirrored one, two steps), otherwise the time. Double support is shaded.

    joints: names of joints or limbs ("legs", "arms", "trunk and head", as the headings say), drawn in the coordinates
    of the joints, but for the flexions named above; a joint of one side is drawn alone. Ordinates tell what is
    positive: "degrees (+ about z)" is a turn about this axis of the world in the neutral posture. quantities: some of
    "angles", "rates", "torques", "powers" [W] (torque times rate; positive if the motor gives energy), "forces", the
    ground reaction forces, and names of channels of components. per_mass: torques, forces and powers are divided by the
    body mass. bands: measured curves by the titles of panels, {"knee flexion": (percent, low, high)}, drawn behind both
    legs from their touch-downs on, see `Band`.

    width: of the figure [inches], by which its panels are arranged. style: "paper" has type of 7 points and no title,
    "latex" also units in LaTeX's fonts; files hold TrueType fonts (Type 42).

    `KeyError` for unknown joints or panels, `ValueError` for another suffix or unknown quantities.

    >>> figure = od.viz.plot_motion(solution)
    >>> [axis.get_ylabel() for axis in figure.axes]
    ['degrees (+ about z)', 'degrees/s (+ about z)', 'N m (+ about z)']
    """
    layout = PrintLayout.of(width, style)
    chart = _Chart(solution, truth(per_mass, "per_mass"))
    chart.layout = layout
    channels = getattr(solution, "channels", ())
    given = _quantities(quantities, [channel.name for channel in channels])
    wanted = tuple(name for name in given if name in QUANTITIES)
    more = channel_sections(chart, [c for c in channels if (joints is None and not given) or c.name in given])
    if given and not wanted:
        return page(chart, more, path, bands=bands)
    if chart.joints and joints is None:
        rows = _gait_rows(chart, wanted or ("angles", "torques", "forces", "upper"))
        return page(chart, [Section("", rows), *more], path, bands=bands)
    of_model = limbs(chart.model)
    few = sum(len(pair.members) for limb in of_model for pair in limb.pairs) <= FEW_COORDINATES
    if joints is None and few:
        return _everything(chart, path, wanted or ("angles", "rates", *chart.efforts), bands, more)
    return _limb_page(chart, of_model, path, joints, wanted, bands, more)


@overload
def plot(
    solution: MotionLike,
    /,
    path: str | Path | None = None,
    *,
    joints: Sequence[str] | None = None,
    quantities: Sequence[str] | None = None,
    per_mass: bool = False,
    bands: Bands | None = None,
    reference: Any = None,
    width: float | None = None,
    style: str = "screen",
) -> Figure: ...
@overload
def plot(
    gaits: Mapping[str, Any],
    /,
    path: str | Path | None = None,
    *,
    side: str = "right",
    reference: Any = None,
    quantities: Sequence[str] | None = None,
    width: float | None = None,
    style: str = "screen",
) -> Figure: ...
@overload
def plot(
    model: Model | ClosedChain,
    /,
    q: Any = None,
    path: str | Path | None = None,
    *,
    view: str | None = None,
    labels: str = "",
) -> Figure: ...
def plot(subject: Any, /, *arguments: Any, **options: Any) -> Figure:
    """Figure of a solved motion, or of a model in one configuration, written to a path (.png, .pdf, .svg) if given.

        plot(solution)                          # curves of a motion over time, see `plot_motion`
        plot(solution, "walk.png", joints=["legs"], quantities=["angles", "powers"])
        plot(walk, reference="winter")          # a walk over measured bands, see `ocp_dyn.ocp.Gait.plot`
        plot({"healthy": a, "weak": b})         # several walks over the stride, see `plot_gaits`
        plot(model)                             # a picture of a model, see `plot_model`
        plot(model, q, "model.png", view="side+front", labels="joints")

    A mechanism with closed loops (`od.models.ClosedChain`) is drawn with its loops, assembled unless q is given.
    `TypeError` for anything else.

    >>> len(od.viz.plot(solution).axes)  # angle, velocity, torque
    3
    >>> figure = od.viz.plot(arm, [0.3, 0.4])  # the picture of a model
    """
    if isinstance(subject, Model):
        return plot_model(subject, *arguments, **options)
    if isinstance(subject, ClosedChain):
        return plot_chain(subject, *arguments, **options)
    if isinstance(subject, Mapping):
        for name in ("joints", "per_mass", "bands"):
            if name in options:
                raise TypeError(
                    f"plot of several walks takes no {name}: it draws curves of gait analysis, moments per mass, as "
                    'quantities=["moments"] or ["knee extension moment"] tells; reference= draws bands'
                )
        return plot_gaits(subject, *arguments, **options)
    if not hasattr(subject, "phases") or not hasattr(subject, "step_length"):
        raise TypeError(
            "plot: a motion is needed, such as problem.solve() or ocp.Solution.load(file) gives, a model, or a "
            f"mechanism with closed loops, got {repr_in_message(subject)}"
        )
    if "reference" in options and hasattr(subject, "gait"):
        return cast("Figure", subject.plot(*arguments, **options))
    return plot_motion(subject, *arguments, **options)


def plot_angles(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    joints: Sequence[str] | None = None,
    bands: Bands | None = None,
) -> Figure:
    """Flexion angles of hip, knee and ankle of both legs [degrees], or positions of the joints of other models; options
    as for `plot_motion`.

    >>> [axis.get_ylabel() for axis in od.viz.plot_angles(solution).axes]
    ['degrees (+ about z)']
    """
    return plot_motion(solution, path, joints=joints, quantities=("angles",), bands=bands)


def plot_torques(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    joints: Sequence[str] | None = None,
    per_mass: bool = False,
    bands: Bands | None = None,
) -> Figure:
    """Torques of hip, knee and ankle of both legs [N m], or of the joints of other models; options as for
    `plot_motion`.

    >>> [axis.get_ylabel() for axis in od.viz.plot_torques(solution).axes]
    ['N m (+ about z)']
    """
    return plot_motion(solution, path, joints=joints, quantities=("torques",), per_mass=per_mass, bands=bands)


def plot_powers(
    solution: MotionLike,
    path: str | Path | None = None,
    *,
    joints: Sequence[str] | None = None,
    per_mass: bool = False,
    bands: Bands | None = None,
) -> Figure:
    """Powers of hip, knee and ankle of both legs [W], or of the joints of other models: mean torque times mean rate of
    every interval, positive if the motor gives energy; options as for `plot_motion`.

    >>> [axis.get_ylabel() for axis in od.viz.plot_powers(solution).axes]
    ['W (+ generation)']
    """
    return plot_motion(solution, path, joints=joints, quantities=("powers",), per_mass=per_mass, bands=bands)


def plot_forces(
    solution: MotionLike, path: str | Path | None = None, *, per_mass: bool = False, bands: Bands | None = None
) -> Figure:
    """Ground reaction forces [% of body weight, or N/kg] and center of pressure [cm]; options as for `plot_motion`.
    `ValueError` for a motion without contacts.

    >>> builder = od.ModelBuilder("block")
    >>> builder.add_body("block", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    >>> stand = ocp.Phase("stand", 2, 1.0, [ocp.Foothold(od.Contact("block"), x=0, y=0)])
    >>> block = ocp.Problem(builder.build(), [stand]).solve(progress=False)
    >>> [axis.get_ylabel() for axis in od.viz.plot_forces(block).axes]
    ['% of body weight (+ up)', '% of body weight (+ forward)', '% of body weight (+ left)']
    """
    chart = _Chart(solution, truth(per_mass, "per_mass"))
    if not chart.feet:
        raise ValueError("plot_forces needs contacts with the ground, and this motion has no contacts with the ground")
    return page(chart, [Section("", [_force_panels(chart)])], path, bands=bands)


class _Chart(Chart):
    """The curves of a motion; per_mass: whether torques, powers and forces are divided by the body mass."""

    def __init__(self, motion: MotionLike, per_mass: bool = False) -> None:
        super().__init__(motion)
        self.per_mass = per_mass
        self.divisor = (float(self.model.mass) or 1.0) if per_mass else 1.0

    @property
    def efforts(self) -> tuple[str, ...]:
        """The quantity of the torques, if any joint is driven."""
        return ("torques",) if any(np.any(stretch.tau) for stretch in self.stretches) else ()

    def curve(self, quantity: str, c: Coordinate) -> tuple[Array, Array]:
        """(abscissa, values) of a quantity of a coordinate, in the units of `unit`, positive as `ordinate` says."""
        if quantity in ("angles", "rates"):
            x, y = self.positions(c.q_index) if quantity == "angles" else self.velocities(c.qd_index)
            return x, c.sign * (np.degrees(y) if c.is_rotation else y)
        x, y = self.torques(c.qd_index) if quantity == "torques" else self.powers(c.qd_index)
        return x, (c.effort_sign if quantity == "torques" else 1.0) * y / self.divisor

    def ordinate(self, quantity: str, members: Sequence[Coordinate]) -> str:
        """The label of the ordinate of coordinates of one kind: the unit, and what is positive."""
        words = {"torques": [c.effort for c in members], "powers": ["generation"]}
        return directed(self.unit(quantity, members[0].is_rotation), words.get(quantity, [c.positive for c in members]))

    def unit(self, quantity: str, is_rotation: bool) -> str:
        if quantity in ("angles", "rates"):
            return ("degrees" if is_rotation else "m") + ("/s" if quantity == "rates" else "")
        unit = "W" if quantity == "powers" else "N m" if is_rotation else "N"
        return unit + ("/kg" if self.per_mass else "")


def _quantities(quantities: Any, channels: Sequence[str]) -> tuple[str, ...]:
    """The quantities that are chosen, () for None; channels: names of those of components."""
    return () if quantities is None else some_of(quantities, (*QUANTITIES, *channels), "quantities")


# Bodies with hips, knees and ankles


def _gait_rows(chart: _Chart, wanted: Sequence[str]) -> list[list[Panel]]:
    """A row of panels for every quantity, with clinical signs."""
    rows = []
    for quantity in wanted:
        if quantity == "forces":
            rows.append(_force_panels(chart) if chart.feet else [])
        elif quantity == "upper":
            rows.append(_upper_panels(chart))
        else:
            rows.append([_gait_panel(chart, quantity, joint) for joint in LEGS])
    found = [row for row in rows if row]
    if not found:
        raise ValueError("quantities: this motion has no contacts with the ground, so that no forces can be drawn")
    return found


def _gait_panel(chart: _Chart, quantity: str, joint: str) -> Panel:
    """One quantity of a joint of both legs; extending and plantar flexing torques are positive."""
    members = chart.joints[joint]
    curves = [(*chart.curve(quantity, c), c.side, "") for c in members]
    return Panel(_title(quantity, joint), chart.ordinate(quantity, members), lines(curves))


def _title(quantity: str, joint: str) -> str:
    """The title of a panel of a joint of the legs."""
    flexion, extension, name = TITLES[joint]
    title = {"angles": flexion, "rates": f"{flexion} rate", "torques": f"{extension} torque", "powers": f"{name} power"}
    return title[quantity]


def _upper_panels(chart: _Chart) -> list[Panel]:
    titles = (("lumbar", "lumbar joint"), ("shoulder", "shoulder flexion"), ("elbow", "elbow flexion"))
    return [
        Panel(
            t,
            "degrees" if joint == "lumbar" else chart.ordinate("angles", chart.joints[joint]),
            lines([(*chart.curve("angles", c), c.side, c.label) for c in chart.joints[joint]]),
        )
        for joint, t in titles
        if chart.joints.get(joint)
    ]


def _force_panels(chart: _Chart) -> list[Panel]:
    """Vertical and fore-aft force of every foot, and its center of pressure in the frame of the foot."""
    body_weight = weight(chart.model)
    scale, unit = (1 / chart.divisor, "N/kg") if chart.per_mass else (100 / body_weight, "% of body weight")
    several = len({foot.side for foot in chart.feet}) < len(chart.feet)

    def force(k: int, named: bool = False) -> Paint:
        """Lines of component k of the forces, a broken one where a foot is in the air."""
        return lines(
            [
                (chart.abscissa(foot.t), scale * foot.force[:, k], foot.side, foot.name if named else "")
                for foot in chart.feet
            ]
        )

    found = [
        Panel("vertical ground force", directed(unit, ["up"]), force(2, several)),
        Panel("fore-aft ground force", directed(unit, ["forward"]), force(0)),
    ]
    flat = any(np.abs(s.wrench[:, :3]).max(initial=0.0) > 1e-9 for st in chart.stretches for s in st.supports)
    if flat:  # the center of pressure of a point foot is always the contact point
        along = [(chart.abscissa(foot.t), 100 * foot.pressure[:, 0], foot.side, "") for foot in chart.feet]
        where = "cm from the heel" if all(foot.from_heel for foot in chart.feet) else directed("cm", ["forward"])
        found.append(Panel("center of pressure along the foot", where, lines(along)))
    else:
        found.append(Panel("lateral ground force", directed(unit, ["left"]), force(1)))
    return found


# Robots, limb by limb


def _limb_page(
    chart: _Chart,
    of_model: list[Limb],
    path: str | Path | None,
    joints: Sequence[str] | None,
    wanted: tuple[str, ...],
    bands: Bands | None,
    more: list[Section],
) -> Figure:
    """A page with a section for every limb, those with feet first, and one for the ground forces."""
    shown_limbs = of_model if joints is None else chosen(of_model, joints)
    standing = {body for foot in chart.feet for body in foot.bodies}
    still = [] if joints is not None else [p for limb in shown_limbs for p in limb.pairs if _is_still(chart, p)]
    first: list[Section] = []
    others: list[Section] = []
    for limb in shown_limbs:
        has_feet = bool(limb.bodies & standing) or not standing
        kinds = wanted or (("angles", *chart.efforts) if has_feet or joints is not None else ("angles",))
        pairs = [p for p in limb.pairs if p not in still]
        rows = [row for kind in kinds if kind != "forces" for row in _rows(chart, kind, pairs)]
        if rows:
            (first if has_feet else others).append(Section(limb.name, rows))
    forces = chart.feet and ("forces" in wanted if wanted else joints is None)
    ground = [Section("ground", [_force_panels(chart)])] if forces else []
    sections = [*first, *ground, *others, *more]
    if not sections:
        raise ValueError(f"{chart.model!r} has no joint coordinates that move (joints with quaternions have none)")
    note = f"standing still: {', '.join(p.label for p in still)}" if still else ""
    return page(chart, sections, path, height=1.62, width=2.5, bands=bands, note=note)


def _rows(chart: _Chart, quantity: str, pairs: Sequence[Pair]) -> list[list[Panel]]:
    """Panels of one quantity of all pairs, in as few rows as are needed, of equal length."""
    panels = [_pair_panel(chart, quantity, pair) for pair in pairs]
    rows = max(1, -(-len(panels) // MOST_ABREAST))
    abreast = max(1, -(-len(panels) // rows))
    return [panels[k : k + abreast] for k in range(0, len(panels), abreast)]


def _pair_panel(chart: _Chart, quantity: str, pair: Pair) -> Panel:
    first = pair.members[0]
    rotation = first.is_rotation
    what = {"angles": "", "rates": " rate", "torques": " torque" if rotation else " force", "powers": " power"}
    curves = [(*chart.curve(quantity, c), c.side, "") for c in pair.members]
    title = f"{pair.label}{what[quantity]}"
    if first.joint in TITLES:  # of a leg, with the signs and the name that the whole body has
        one = f", {first.side}" if len(pair.members) == 1 else ""
        title = f"{_title(quantity, first.joint)}{one}"
    return Panel(title, chart.ordinate(quantity, pair.members), lines(curves))


def _is_still(chart: _Chart, pair: Pair) -> bool:
    """Whether all joints of a pair stand still."""
    ranges = [(float(np.ptp(chart.positions(c.q_index)[1])), c.is_rotation) for c in pair.members]
    return all(extent < (STILL_ANGLE if rotation else STILL_LENGTH) for extent, rotation in ranges)


# Small models


def _everything(
    chart: _Chart, path: str | Path | None, wanted: Sequence[str], bands: Bands | None, more: list[Section]
) -> Figure:
    """A page with the quantities of every joint coordinate, a row for each; three abreast for a single quantity."""
    kinds = [kind for kind in wanted if kind != "forces"]
    found = coordinates(chart.model) if kinds else []
    rows = [[_pair_panel(chart, kind, Pair(c.label, (c,))) for kind in kinds] for c in found]
    if len(kinds) == 1:
        panels = [panel for row in rows for panel in row]
        rows = [panels[k : k + 3] for k in range(0, len(panels), 3)]
    if "forces" in wanted and chart.feet:
        rows.append(_force_panels(chart))
    if not rows:
        raise ValueError(f"{chart.model!r} has no joint coordinates to plot (joints with quaternions have none)")
    return page(chart, [Section("", rows), *more], path, height=1.45, bands=bands)
