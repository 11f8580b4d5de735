"""Parts of a model other than its tree: frames, data of the dofs, checked inertias and placements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from casadi import DM, MX, SX
from numpy.typing import NDArray

from .._base.display import Brief
from .._base.types import (
    LARGEST_MAGNITUDE,
    Array,
    ModelError,
    Vector,
    finite_vector,
    is_whole,
    names_in_message,
    numbers,
    positional,
    repr_in_message,
    sparse,
    sparse_beside,
    suggestion,
)
from ..spatial_algebra.spatial import Inertia, Summed, Transform, largest, skew
from .equal_models import EqualByData

WORLD = "world"
"""Name of the ground; frames fixed to the ground belong to body 0."""


@dataclass(frozen=True, eq=False)
class Frame(EqualByData):
    """A named frame fixed to a body: `X` leads from body coordinates to the frame's. Frames with equal data are equal.

    >>> rod.frame("tip")
    Frame('tip', body=1)
    """

    name: str
    body: int
    X: Transform = field(default_factory=Transform.identity)
    stands_for: Frame | None = None
    """The frame of the original model that this frame replaces: constraints on the original hold on this one."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ModelError(f"the name of a frame must be a string, got {repr_in_message(self.name)}")
        if not is_whole(self.body):
            raise ModelError(
                f"frame {repr_in_message(self.name)}: its body must be the number of one, got "
                f"{repr_in_message(self.body)}"
            )
        if not isinstance(self.X, Transform):
            raise ModelError(
                f"frame {repr_in_message(self.name)}: X must be an od.Transform, got {repr_in_message(self.X)}"
            )
        if not isinstance(self.stands_for, Frame | None):
            raise ModelError(
                f"frame {repr_in_message(self.name)}: stands_for must be a Frame, got "
                f"{repr_in_message(self.stands_for)}"
            )

    def __repr__(self) -> str:
        return f"Frame({self.name!r}, body={self.body})"


class Mimic(NamedTuple):
    """A joint that follows another one, as a file states it: q_joint = ratio q_other + offset.

    Both are joints of one dof; offset [rad or m]. This is a note only: both coordinates stay in q, and no equation uses
    the relation except through `mimic_constraints` or `mimic_map`.
    """

    joint: str
    other: str
    ratio: float = 1.0
    offset: float = 0.0


class FileJoint(NamedTuple):
    """Facts about a joint in a file that do not affect the motion, but on which layouts of other libraries depend.

    mounts: names of the fixed joints between the moving body and this joint, outwards: siblings are sorted by these
    first. continuous: whether the file gives the joint this type; some libraries then write its angle as (cos, sin).
    """

    joint: str
    mounts: tuple[str, ...] = ()
    continuous: bool = False


class CoordinateNames(NamedTuple):
    """Names of the entries of a joint's q and qd that take the place of those made of the joint's name and labels.

    A file may name coordinates and joints apart from each other: the coordinate `knee_angle_r` of the joint `knee_r`.
    """

    joint: str
    names: tuple[str, ...]


UNTURNED = "_unturned"
"""End of the name of a frame with the axes that the base has in its file, where those of the base were turned."""


class ShapeFile(NamedTuple):
    """A note on a file that holds shapes of the model's links, for pictures and for soles.

    path: of the URDF, MJCF or SDF. prefix: of the names that its links have in the model. scale: of its lengths.
    folder: of the files that it includes, where it is not that of the path.
    """

    path: str
    prefix: str = ""
    scale: float = 1.0
    folder: str = ""


class KeptConstraint:
    """Base of the constraints in `model.constraints`, which follow the edits of a model: `od.Constraint` has it."""

    def renamed(self, name: Callable[[str], str]) -> Any:
        """The constraint on frames, joints and coordinates of other names."""
        raise ValueError(self._cannot("renamed"))

    def scaled(self, length: float, coordinates: Mapping[str, float]) -> Any:
        """The constraint of a mechanism `length` times as large; coordinates: factors of entries of q and of joints of
        one dof that are lengths, 1 for angles."""
        raise ValueError(self._cannot("scaled"))

    def within(self, frames: Collection[str], held: Mapping[str, float], left: Collection[str]) -> Any:
        """The constraint of a model with these frames only, where some coordinates, and joints of one dof, are held,
        and `left` are those that remain; None if nothing is left to constrain."""
        raise ValueError(self._cannot("kept in a part of the model"))

    def _cannot(self, what: str) -> str:
        return f"a constraint of the class {type(self).__name__} cannot be {what}; its class must say how"


def checked_mimics(mimics: Iterable[Mimic], dofs: Mapping[str, int]) -> tuple[Mimic, ...]:
    """The mimics; ModelError unless both joints of each are known and have one dof (`dofs`: number by joint), no joint
    follows two others, and joints do not follow each other in a ring."""
    followed: dict[str, str] = {}
    for mimic in mimics:
        for name in mimic[:2]:
            if not isinstance(name, str) or name not in dofs:
                raise ModelError(
                    f"joint {repr_in_message(mimic.joint)} mimics {repr_in_message(mimic.other)}: no joint "
                    f"{repr_in_message(name)} moves in this model; correct the name, or fix a joint that follows one "
                    f"that does not move{suggestion(name, dofs)}"
                )
            if dofs[name] != 1:
                raise ModelError(
                    f"joint {repr_in_message(mimic.joint)} mimics {repr_in_message(mimic.other)}: both need one dof, "
                    f"{repr_in_message(name)} has {dofs[name]}"
                )
        if mimic.joint in followed:
            raise ModelError(
                f"joint {repr_in_message(mimic.joint)} mimics two, {repr_in_message(followed[mimic.joint])} and "
                f"{repr_in_message(mimic.other)}; keep one"
            )
        followed[mimic.joint] = mimic.other
    for start in followed:
        way = [start]
        while way[-1] in followed:
            way.append(followed[way[-1]])
            if way[-1] in way[:-1]:
                raise ModelError(f"joints mimic each other in a ring, {' -> '.join(way)}; set one of them free")
    return tuple(mimics)


@dataclass(frozen=True, eq=False, repr=False)
class DofData(Brief):
    """Data of a model's dofs that the equations of the tree do not contain.

    Limits (inf: none): q_lower, q_upper (nq) [rad or m]; qd_max (nv) [rad/s or m/s], which holds in both directions;
    tau_min, tau_max (nv) [N m or N], lowest and largest torque or force of the motors, tau_min <= 0 <= tau_max. Without
    tau_min a motor is as strong in both directions: tau_min = -tau_max.
    The following enter an algorithm only with `od.Loads(passive=True, armature=True)`, see `ocp_dyn.mechanism.loads`;
    in optimal control they enter by default: damping (nv) [N m s/rad or N s/m], friction (nv) [N m or N], stiffness
    (nv) [N m/rad or N/m] of springs that rest at `rest` (nq), armature (nv) [kg m^2 or kg].
    """

    q_lower: Array
    q_upper: Array
    qd_max: Array
    tau_max: Array
    damping: Array
    friction: Array
    stiffness: Array
    armature: Array
    rest: Array
    tau_min: Array = None  # type: ignore[assignment]  # an array after __post_init__

    def __post_init__(self) -> None:
        """Checks that all are rows of numbers, of two lengths; a copy of each is kept, which cannot be written to."""
        if self.tau_min is None:
            object.__setattr__(self, "tau_min", 0.0 - np.asarray(self.tau_max))
        sizes: dict[bool, int] = {}
        for key, values in vars(self).items():
            array = np.array(numbers(values))
            if np.ndim(values) != 1 or np.any(np.isnan(array)):
                raise ModelError(f"{key} of the dofs must be a row of numbers, got {repr_in_message(values)}")
            if array.size != sizes.setdefault(key in SIZE_NQ, array.size):
                raise ModelError(
                    f"{key} of the dofs has {array.size} numbers, expected {sizes[key in SIZE_NQ]}, as many as the "
                    "others"
                )
            array.setflags(write=False)
            object.__setattr__(self, key, array)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # numpy unpickles and copies arrays as writable ones
        self.__post_init__()

    @property
    def effort(self) -> Array:
        """Torque limits as pairs (lower, upper), one per dof (nv x 2) [N m or N]: the form that `with_limits` takes.

        `model.with_limits(effort=1.5 * model.dofs.effort)` makes every motor stronger in both directions.
        """
        return np.column_stack([self.tau_min, self.tau_max])

    def strength(self, unlimited: float = 1.0, directed: bool = False) -> Array:
        """Largest torque or force of every dof (nv) [N m or N], in the direction in which the dof is stronger.

        directed: pairs (lower, upper) of both directions (nv x 2), negative and positive. `unlimited` stands for a
        limit that is infinite or zero (a dof without a motor): the result is a scale of torques without zeros, as for
        `ocp.TorqueSquared(scale=model.dofs.strength())`. That cost with `scale="strength"` takes the pairs.
        """
        known = np.isfinite(self.effort) & (self.effort != 0)
        pairs = np.where(known, self.effort, unlimited * np.array([-1.0, 1.0]))
        if directed:
            return pairs
        largest = np.where(known, np.abs(self.effort), 0.0).max(axis=1)
        endless = np.any(np.isinf(self.effort), axis=1) | (largest == 0)
        return np.where(endless, unlimited, largest)

    def rows(self, q: Any, v: Any) -> dict[str, Array]:
        """All fields at some dofs: entries at indices (or slices) q of fields with nq entries, v of fields with nv."""
        return {key: np.array(x[q if key in SIZE_NQ else v]) for key, x in vars(self).items()}


Limits = float | Vector | Mapping[str, float | Vector] | None
"""Limits of a model's dofs: by names of joints or of their entries, or for all entries; None: no change."""
EffortLimits = Limits | Sequence[Sequence[float]] | Mapping[str, float | Vector | Sequence[Sequence[float]]]
"""Limits of torques: also pairs (lower, upper)."""
LIMIT_FIELDS = {"lower": "q_lower", "upper": "q_upper", "velocity": "qd_max", "effort": "tau_max"}
"""Fields of DofData that are limits, by the names that `ModelBuilder.add_body` and `Model.with_limits` have for
them. `effort` also sets tau_min, see `efforts`."""
NONNEGATIVE_FIELDS = ("qd_max", "tau_max", "damping", "friction", "stiffness", "armature")
FINITE_FIELDS = ("damping", "friction", "stiffness", "armature", "rest")
"""Fields of DofData by what their entries must be; limits may be infinite."""
SIZE_NQ = ("q_lower", "q_upper", "rest")
"""Fields of DofData with nq entries; the others have nv."""


def efforts(values: Any, size: int, what: str) -> tuple[Array, Array]:
    """Lowest and largest torques (size) that `values` states.

    values: one number, or one per dof, not negative, for both directions; or a pair (lower, upper) per dof with
    lower <= 0 <= upper, as rows of a table (size x 2); the pair of a single dof may stand alone.
    """
    values = positional(values, what)
    if isinstance(values, (SX, MX)):
        raise ModelError(f"{what} must be {_effort_forms(size)}, got {repr_in_message(values)}")
    try:
        shape = np.shape(values.full() if isinstance(values, DM) else values)
    except ValueError:  # rows of different lengths
        shape = ()
    x = numbers(values.full() if isinstance(values, DM) else values)
    known = np.abs(x[np.isfinite(x)])
    paired = x.size == 2 * size and (size == 1 or shape == (size, 2))
    if np.any(np.isnan(x)) or np.any(known > LARGEST_MAGNITUDE) or not (paired or x.size in (1, size)):
        raise ModelError(f"{what} must be {_effort_forms(size)}, got {repr_in_message(values)}")
    if not paired:
        if np.any(x < 0):
            raise ModelError(
                f"{what} must not be negative, got {repr_in_message(values)}: it limits both directions; for different "
                "limits write pairs (lower, upper)"
            )
        upper = np.array(np.broadcast_to(x, (size,)))
        return 0.0 - upper, upper
    lower, upper = x.reshape(size, 2).T
    if np.any(lower > 0) or np.any(upper < 0):
        raise ModelError(
            f"{what}: a pair (lower, upper) needs lower <= 0 <= upper, because a motor can always give no torque, got "
            f"{repr_in_message(values)}"
        )
    return lower.copy(), upper.copy()


def check_turning(names: Sequence[str], turning: NDArray[np.bool_], x: Array, before: Array, what: str) -> None:
    """Raises ModelError for limits x of the entries of quaternions, `turning`, that are meant for angles, or have no
    effect; those that do not change pass. before: the limits now.

    A component of a unit quaternion lies between -1 and 1: single ones may have limits in between, but not all four.
    """
    at = np.flatnonzero(turning)
    x, before = (np.broadcast_to(values, turning.shape)[at] for values in (x, before))
    limited = np.isfinite(x) & (x != before)
    if at.size % 4 == 0:
        limited &= (np.abs(x) >= 1) | np.repeat(np.isfinite(x).reshape(-1, 4).all(axis=1), 4)
    else:
        limited &= np.abs(x) >= 1
    if np.any(limited):
        raise ModelError(
            f"{what} would limit {names_in_message([names[int(k)] for k in at[limited]])}, which are components of a "
            "unit quaternion and no angles: use inf or -inf for them, Euler angles (od.Euler, "
            "FloatingBase('euler_zyx')) for limits of angles; single components may have limits between -1 and 1"
        )


def _effort_forms(size: int) -> str:
    """Values that `efforts` takes, in words."""
    if size == 1:
        return "one number, or a pair (lower, upper)"
    return f"one number or {size}, or {size} pairs (lower, upper)"


def vector(values: Any, size: int, what: str) -> Array:
    """`values` as `size` finite numbers, or a ModelError."""
    return finite_vector(values, size, what, ModelError)


def entries(x: Any, size: int, what: str, names: Sequence[str] = ()) -> Array:
    """Numbers, NaN and infinite ones too, as a flat array. names: of the entries, see `positional`."""
    values = numbers(positional(x, what, names), what)
    if values.size == 1 and np.isnan(values[0]) and not isinstance(x, (float, np.floating, np.ndarray, list, tuple)):
        raise TypeError(f"{what} must be {size} numbers or a casadi SX, MX or DM, got {repr_in_message(x)}")
    return values


def rotation_matrix(rotation: object, where: str) -> DM:
    """A checked active rotation (3x3), the identity for None."""
    if rotation is None:
        return DM.eye(3)
    R = vector(rotation, 9, f"{where}: rotation (3x3)").reshape(3, 3)
    if np.abs(R).max() > 2 or not np.allclose(R @ R.T, np.eye(3), atol=1e-8) or np.linalg.det(R) < 0:
        raise ModelError(f"{where}: rotation must be orthonormal with determinant +1, got {R.tolist()}")
    return sparse(R)


def placement(origin: Vector, rotation: object, where: str) -> Transform:
    """The transform to a frame at `origin` whose axes are the columns of `rotation`."""
    return Transform(rotation_matrix(rotation, where).T, sparse_beside(vector(origin, 3, f"{where}: origin")))


def clean(X: Transform, length: float) -> Transform:
    """X with structural zeros where it is zero, r where it is a rounding error beside `length`; symbols pass."""
    return Transform(
        sparse(X.E) if isinstance(X.E, DM) else X.E,
        sparse_beside(X.r, max(length, largest(X.r))) if isinstance(X.r, DM) else X.r,
    )


def product(A: Transform, B: Transform) -> Transform:
    """A @ B with structural zeros where it is zero."""
    return clean(A @ B, sum(largest(X.r) for X in (A, B) if isinstance(X.r, DM)))


def merge_inertias(body: Inertia, other: Inertia, X: Transform) -> Inertia:
    """The inertia of a body and of another one that is fixed to it, with structural zeros; X leads to the other's
    axes."""
    if not all(isinstance(x, DM) for x in (body.m, body.h, body.I, other.m, other.h, other.I, X.E, X.r)):
        return body + other.to_parent(X)
    (c, I), (c_other, I_other) = body.central(), other.central()
    d = skew(X.point(c_other) - c)
    m, total = float(other.m), float(body.m + other.m)
    I_com = I + X.E.T @ I_other @ X.E - (float(body.m) * m / total if total else 0.0) * (d @ d)
    return (Summed.of(body) + Summed.of(other).to_parent(X)).clean().with_central(I_com)


def body_inertia(mass: Any, com: Any, inertia: Any, where: str, check: bool = True) -> Inertia:
    """A checked inertia of mass [kg], com [m] and inertia about it [kg m^2] (3x3, three diagonal entries, or None)."""
    m = float(vector(mass, 1, f"{where}: mass")[0])
    if m < 0:
        raise ModelError(f"{where}: mass must not be negative, got {m:g} kg")
    c = vector(com, 3, f"{where}: com")
    if inertia is None:
        I = np.zeros((3, 3))
    elif numbers(inertia, f"{where}: inertia").size == 3:
        I = np.diag(vector(inertia, 3, f"{where}: inertia"))
    else:
        I = vector(inertia, 9, f"{where}: inertia (three moments, or 3x3)").reshape(3, 3)
    if check:
        check_inertia(I, where)
    return Inertia.from_com(m, c, (I + I.T) / 2)


def impossible_moments(I: Array, slack: Array | float = 0.0) -> NDArray[np.bool_]:
    """Whether no body can have the inertia about its mass center, for each of several (N x 3 x 3): A, B, C >= 0, A + B
    >= C.

    Tolerated: a thousandth of C, what rounding to three digits does, and `slack` [kg m^2].
    """
    scale = np.abs(I).max(axis=(1, 2), initial=0.0)
    A, B, C = np.linalg.eigvalsh(I).T
    return np.asarray((A < -1e-6 * scale - slack) | (A + B < C * (1 - 1e-3) - slack))


def check_inertia(I: Array, where: str, slack: float = 0.0) -> None:
    """Raises unless a body can have this 3x3 inertia about its com: symmetric, and see `impossible_moments`."""
    scale = float(np.abs(I).max())
    if not np.allclose(I, I.T, atol=1e-8 * scale, rtol=0):
        raise ModelError(f"{where}: inertia must be symmetric, got {I.tolist()}")
    A, B, C = np.linalg.eigvalsh(I)
    if np.any(impossible_moments(I[None], slack)):
        raise ModelError(
            f"{where}: no body has principal moments of inertia {A:.6g}, {B:.6g}, {C:.6g} kg m^2: each must be >= 0 "
            "and none larger than the sum of the other two. Check units and signs of the products of inertia"
        )
