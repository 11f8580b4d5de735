"""Quantities that algorithms take and return: units or meaning, names of rows and columns, sizes.

Signatures name them, so that an exported header, a checked call and a user's algorithm describe one quantity
in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._types import is_whole, listed, meant, shown, truth
from ..dynamics.regressor import parameter_names
from ..mechanism import Model
from .static_arguments import Static, independent_of, natural_of, opened_of, rows_of_constraints

Frames = tuple[str, ...]
"""Names of the frames that external wrenches act on."""
Names = tuple[str, ...]

AXES: dict[str, Callable[[Model, Static, Frames], Names]] = {
    "coordinates": lambda model, static, frames: model.q_names,
    "dofs": lambda model, static, frames: model.qd_names,
    "constraints": lambda model, static, frames: rows_of_constraints(static),
    "parameters": lambda model, static, frames: parameter_names(model),
    "bodies": lambda model, static, frames: model.body_names,
    "frames": lambda model, static, frames: frames,
    "natural coordinates": lambda model, static, frames: natural_of(static).names,
    "natural constraints": lambda model, static, frames: natural_of(static).constraint_names,
    "closing conditions": lambda model, static, frames: opened_of(static).conditions,
    "independent dofs": lambda model, static, frames: independent_of(static).names,
}
"""Kinds of rows and columns, each with their names: entries of q, dofs, rows of the constraints, inertial parameters of
the bodies, moving bodies, frames that external wrenches act on, entries of natural coordinates x, their conditions,
conditions that close an opened chain, independent dofs of closed chains."""

SYMBOLS = {"coordinates": "nq", "dofs": "nv"}
"""Symbols of the numbers of rows or columns, by kind."""

LARGEST_SIZE = 1_000_000
"""Largest number of rows or columns; more are taken for a mistake."""

Axis = str | int | tuple[str, ...] | None
"""Rows or columns of a quantity: one of AXES, a number of them, or a name for each; None if nothing is known."""


class Rows(NamedTuple):
    """Rows of an input: the symbol of their number, such as "nq" ("" if it has none), and their names."""

    symbol: str
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        """Number and names at the end of a message: ": nq = 2, hip, knee"; "" without names."""
        count = f"{self.symbol} = {len(self.names)}, " if self.symbol else ""
        return f": {count}{listed(self.names, 6)}" if self.names else ""


class Label(NamedTuple):
    """Units of an input or output, and the names of its rows and columns; empty if they have no names."""

    units: str
    rows: Names = ()
    columns: Names = ()


@dataclass(frozen=True)
class Quantity:
    """An input or output of algorithms.

    name: as in signatures. units: units or meaning, for headers and reports. rows, columns: their kind, one of
    "coordinates", "dofs", "constraints", "parameters", "bodies", "frames", "natural coordinates", "natural
    constraints", "closing conditions", "independent dofs"; or a name for each; or their number. An input needs rows; None leaves an output's size to the
    algorithm.
    per_row: as an option it may also be "rows", one entry per row of the constraints.

    >>> od.Quantity("E", "J").units
    'J'
    """

    name: str
    units: str = ""
    rows: Axis = None
    columns: Axis = None
    per_row: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ValueError(f'the name of a quantity is a word such as "q", got {shown(self.name)}')
        if not isinstance(self.units, str):
            raise TypeError(f"quantity {self.name}: units must be a string, got {shown(self.units)}")
        truth(self.per_row, f"quantity {self.name}: per_row")
        for what in ("rows", "columns"):
            object.__setattr__(self, what, _axis(getattr(self, what), f"quantity {self.name}: {what}"))

    @property
    def sized(self) -> bool:
        """Whether the quantity has a size, so that it may be an input."""
        return self.rows is not None

    def size(self, model: Model, static: Static, frames: Frames) -> tuple[int, int]:
        """(rows, columns) of an input."""
        rows, columns = (
            len(_names(axis, model, static, frames)) if isinstance(axis, (str, tuple)) else axis
            for axis in (self.rows, self.columns)
        )
        return 1 if rows is None else rows, 1 if columns is None else columns

    def label(self, model: Model, static: Static, frames: Frames) -> Label:
        """Units, and the names of rows and columns in a model with the constraints of an algorithm."""
        return Label(self.units, *(_names(axis, model, static, frames) for axis in (self.rows, self.columns)))


def _axis(axis: Axis, what: str) -> Axis:
    """The rows or columns of a quantity, checked."""
    if isinstance(axis, str):
        if axis not in AXES:
            raise ValueError(
                f"{what} must be one of {listed(tuple(AXES))}, a number or names, got {shown(axis)}{meant(axis, AXES)}"
            )
        return axis
    if axis is None or is_whole(axis):
        if isinstance(axis, (int, np.integer)) and axis > LARGEST_SIZE:
            raise ValueError(f"{what} must be at most {LARGEST_SIZE}, got {shown(axis)}")
        return axis
    names = tuple(axis) if isinstance(axis, (tuple, list)) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{what} must be one of {listed(tuple(AXES))}, a number or names, got {shown(axis)}")
    return names


def _names(axis: Axis, model: Model, static: Static, frames: Frames) -> Names:
    """Names of rows or columns; empty if they have none."""
    if isinstance(axis, str):
        return AXES[axis](model, static, frames)
    return axis if isinstance(axis, tuple) else ()


def rows_of(quantities: Iterable[Quantity], labels: Mapping[str, Label | None]) -> dict[str, Rows]:
    """Rows of labeled inputs by name; the symbol of their number is known for configurations and for dofs."""
    kinds = {quantity.name: quantity.rows for quantity in quantities}
    symbols = {name: SYMBOLS.get(kind, "") for name, kind in kinds.items() if isinstance(kind, str)}
    return {name: Rows(symbols.get(name, ""), label.rows) for name, label in labels.items() if label}


def by_name(quantities: Iterable[Quantity]) -> dict[str, Quantity]:
    """Quantities by their names. ValueError if two have one name."""
    found: dict[str, Quantity] = {}
    for quantity in quantities:
        if not isinstance(quantity, Quantity):
            raise TypeError(f'quantities are od.Quantity("E", "J"), got {shown(quantity)}')
        if quantity.name in found:
            raise ValueError(f"two quantities are called {quantity.name}")
        found[quantity.name] = quantity
    return found


_Q, _DOFS, _CONSTRAINTS = "coordinates", "dofs", "constraints"
_X, _CONDITIONS = "natural coordinates", "natural constraints"

# fmt: off
QUANTITIES: dict[str, Quantity] = by_name(Quantity(*row) for row in (
    ("q", "rad, m; quaternions (x, y, z, w)", _Q),
    ("qd", "rad/s, m/s", _DOFS),
    ("qdd", "rad/s^2, m/s^2", _DOFS),
    ("qdd_c", "rad/s^2, m/s^2; keeps the constraints", _DOFS),
    ("v", "rad, m; a tangent direction of q, or its rate", _DOFS),
    ("q0", "rad, m; quaternions (x, y, z, w)", _Q),
    ("q1", "rad, m; quaternions (x, y, z, w)", _Q),
    ("q_next", "rad, m; q moved by the tangent step v", _Q),
    ("q_s", "rad, m; between q0 and q1", _Q),
    ("s", "fraction of the way from q0 to q1", 1),
    ("tau", "N m, N", _DOFS),
    ("tau_g", "N m, N", _DOFS),
    ("tau_static", "N m, N", _DOFS),
    ("C", "N m, N", _DOFS),
    ("H", "kg m^2, kg m, kg", _DOFS, _DOFS),
    ("H_inv", "inverse of H", _DOFS, _DOFS),
    ("Minv", "inverse of H", _DOFS, _DOFS),
    ("C_mat", "C_mat qd = C - tau_g; dH/dt - 2 C_mat skew", _DOFS, _DOFS),
    ("Y", "tau = Y pi, ten inertial parameters a body", _DOFS, "parameters"),
    ("Y_T", "T = Y_T pi, ten inertial parameters a body", None, "parameters"),
    ("Y_V", "V = Y_V pi, ten inertial parameters a body", None, "parameters"),
    ("P", "W, by dof", _DOFS),
    ("phi", "m; sine of an angle", _CONSTRAINTS),
    ("phi_dot", "m/s, rad/s; velocity error", _CONSTRAINTS),
    ("G", "d(phi)/dt = G qd", _CONSTRAINTS, _DOFS),
    ("gamma", "rad/s^2, m/s^2", _CONSTRAINTS),
    ("lam", "N, N m; acts on the robot", _CONSTRAINTS),
    ("Lam", "N s, N m s; acts on the robot", _CONSTRAINTS),
    ("qd_plus", "rad/s, m/s", _DOFS),
    ("residual", "rad/s^2, m/s^2; of an impact rad/s, m/s", _CONSTRAINTS),
    ("R", "columns: the frame's axes in the world"),
    ("p", "m, world axes"),
    ("R_all", "body by body, columns: the body's axes in the world"),
    ("p_all", "m, world axes; a column per body", None, "bodies"),
    ("pos", "m, world axes"),
    ("vel", "m/s, world axes"),
    ("acc", "m/s^2, world axes"),
    ("J", "vel = J qd", None, _DOFS),
    ("J6", "[angular; linear], world axes", None, _DOFS),
    ("J_dot", "time derivative of J", None, _DOFS),
    ("vel_frame", "rad/s, m/s; [angular; linear] in the chosen reference"),
    ("acc_frame", "rad/s^2, m/s^2; [angular; linear] in the chosen reference"),
    ("J_frame", "vel_frame = J_frame qd", None, _DOFS),
    ("J_frame_dot", "time derivative of J_frame", None, _DOFS),
    ("com", "m, world axes"),
    ("com_vel", "m/s, world axes"),
    ("J_com", "d(com)/dt = J_com qd", None, _DOFS),
    ("R_B", "by body [velocity of the center of gravity; angular velocity] = R_B qd, world axes", None, _DOFS),
    ("v_B", "m/s, rad/s; by body [velocity of the center of gravity; angular velocity], world axes"),
    ("Phi2_q", "Phi2_q R_B = G; columns by body as rows of R_B", _CONSTRAINTS),
    ("R2", "qd = R2 qd_i", _DOFS, "independent dofs"),
    ("S2", "qdd = S2 gamma + R2 qdd_i", _DOFS, _CONSTRAINTS),
    ("qd_i", "rad/s, m/s; of the independent dofs", "independent dofs"),
    ("lam_o", "work per change of Phi2; acts on the mechanism", "closing conditions"),
    ("Sc_B", "m/s^2, rad/s^2; by body accelerations at qdd = 0, world axes"),
    ("R_A", "xd = R_A qd", _X, _DOFS),
    ("Sc_A", "m/s^2, 1/s^2; xdd at qdd = 0", _X),
    ("T", "J"),
    ("V", "J"),
    ("h_com", "N m s, N s; [angular about the CoM; linear], world axes"),
    ("A_G", "h_com = A_G qd", None, _DOFS),
    ("A_G_dot", "time derivative of A_G", None, _DOFS),
    ("h_bias", "N m, N; d(h_com)/dt at qdd = 0"),
    ("zmp", "m, world axes"),
    ("dq_next_dq", "rows and columns: tangent directions", _DOFS, _DOFS),
    ("dq_next_dv", "rows and columns: tangent directions", _DOFS, _DOFS),
    ("dv_dq0", "columns: tangent directions of q0", _DOFS, _DOFS),
    ("dv_dq1", "columns: tangent directions of q1", _DOFS, _DOFS),
    ("dtau_dq", "columns: tangent directions of q", _DOFS, _DOFS),
    ("dtau_dqd", "N m s/rad, N s/m", _DOFS, _DOFS),
    ("dqdd_dq", "columns: tangent directions of q", _DOFS, _DOFS),
    ("dqdd_dqd", "1/s", _DOFS, _DOFS),
    ("dqdd_dtau", "inverse of H, along the constraints; symmetric", _DOFS, _DOFS),
    ("dlam_dq", "columns: tangent directions of q", _CONSTRAINTS, _DOFS),
    ("dlam_dqd", "N s/m, N m s/rad", _CONSTRAINTS, _DOFS),
    ("dlam_dtau", "forces per joint force", _CONSTRAINTS, _DOFS),
    ("dqd_plus_dq", "columns: tangent directions of q", _DOFS, _DOFS),
    ("dqd_plus_dqd", "qd_plus = dqd_plus_dqd qd", _DOFS, _DOFS),
    ("dLam_dq", "columns: tangent directions of q", _CONSTRAINTS, _DOFS),
    ("dLam_dqd", "kg, kg m, kg m^2", _CONSTRAINTS, _DOFS),
    ("mu", "weights of tau or qdd in the scalar L", _DOFS),
    ("L_qq", "Hessian of L; rows and columns: tangent directions of q", _DOFS, _DOFS),
    ("L_q_qd", "rows: tangent directions of q", _DOFS, _DOFS),
    ("L_qd_qd", "Hessian of L by qd", _DOFS, _DOFS),
    ("L_q_qdd", "rows: tangent directions of q", _DOFS, _DOFS),
    ("L_q_tau", "rows: tangent directions of q", _DOFS, _DOFS),
    ("e", "restitution, 0 to 1", 1, None, True),
    ("t", "s", 1),
    ("x", "m; unit vectors; natural coordinates", _X),
    ("xd", "m/s, 1/s; rates of natural coordinates", _X),
    ("xdd", "m/s^2, 1/s^2", _X),
    ("M", "kg, kg m, kg m^2; constant", _X, _X),
    ("Q", "N, N m; generalized forces, work per change of x", _X),
    ("Phi", "m^2, m, 1; conditions of natural coordinates", _CONDITIONS),
    ("Phi_x", "d(Phi)/dt = Phi_x xd", _CONDITIONS, _X),
    ("c", "Phi_x xdd = c", _CONDITIONS),
    ("lam_x", "work per change of Phi; acts on the mechanism", _CONDITIONS),
    ("h", "s; step", 1),
    ("x_next", "m; unit vectors; natural coordinates after the step", _X),
    ("xd_next", "m/s, 1/s", _X),
    ("xdd_next", "m/s^2, 1/s^2", _X),
    ("lam_x_next", "work per change of Phi; acts on the mechanism", _CONDITIONS),
    ("error", "length of the change of x in the last iteration, relative to the size of the mechanism", 1),
    ("f_ext", "N m, N; a column per frame, [moment about the world origin; force], world axes", 6, "frames"),
))
# fmt: on
"""The quantities of the registry: name, units or meaning, rows, columns."""
