"""The data of an articulated mechanism: a tree of bodies, each moved by one joint [RBDA, ch. 4].

Body 0 is the ground; joint i moves body i; `parent[i] < i`. Bodies on fixed joints are merged into the
body they are fixed to and stay addressable by name as frames. A tree is data: nothing in it changes
after `ModelBuilder.build`. What algorithms find for it is kept beside it, for all trees with equal data, see
`equal_models`. `Model` is the tree that users see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

import casadi as ca
import numpy as np
from casadi import DM, MX, SX
from numpy.typing import NDArray

from .._base.display import ByName, Several
from .._base.types import (
    Array,
    Expr,
    M,
    MatrixLike,
    Numbers,
    as_type,
    check_kind,
    matrix,
    names_in_message,
    repr_in_message,
    sparse_beside,
    split,
    suggestion,
)
from ..joints import Joint
from ..spatial_algebra.spatial import Inertia, Transform
from .annotations import Annotations
from .equal_models import EqualByData
from .parts import WORLD, CoordinateNames, DofData, FileJoint, Frame, KeptConstraint, Mimic, ShapeFile, entries
from .passive import BodySpring, PassiveElement, checked_bushings, checked_elements, element_entries, entry_names
from .validity.consistency import check_consistency

NO_ANNOTATIONS = Annotations()


@dataclass(frozen=True, eq=False)
class Tree(EqualByData):
    """The data of a `Model`, and properties computed from them: sizes, indices, names, the configuration manifold.

    `parent, joints, X_tree, I` are indexed by body, entry 0 the ground; `joint_names, body_names` have one entry per
    moving body. SI units; gravity [m/s^2] in ground axes. `mimics`: joints that follow others, as a file says; see
    `mimic_constraints`. `file_joints`: notes that `Layout` needs. `shape_files`: files from which a viewer reads shapes
    of links; they are not saved with the model. `passive`: nonlinear passive torques; `bushings`: springs between
    two bodies. `coordinate_names`: names of
    entries of q that are not made of their joint's. `constraints`: those that belong to the model, such as loops and
    couplings of a file; an algorithm of constrained motion takes them as `model.constraints`. `annotations`: markers,
    muscles, wrap objects and named configurations, which `Model` has under these names.
    """

    name: str
    gravity: tuple[float, float, float]
    parent: tuple[int, ...]
    joints: tuple[Joint, ...]
    X_tree: tuple[Transform, ...]
    I: tuple[Inertia, ...]
    joint_names: tuple[str, ...]
    body_names: tuple[str, ...]
    frames: Mapping[str, Frame]
    dofs: DofData
    mimics: tuple[Mimic, ...] = ()
    file_joints: tuple[FileJoint, ...] = ()
    shape_files: tuple[ShapeFile, ...] = ()
    passive: tuple[PassiveElement, ...] = ()
    coordinate_names: tuple[CoordinateNames, ...] = ()
    constraints: tuple[KeptConstraint, ...] = ()
    annotations: Annotations = NO_ANNOTATIONS
    bushings: tuple[BodySpring, ...] = ()

    def __post_init__(self) -> None:
        check_consistency(self)
        object.__setattr__(self, "frames", MappingProxyType(ByName(self.frames)))
        for name in ("joints", "X_tree", "I"):
            object.__setattr__(self, name, Several(getattr(self, name)))
        object.__setattr__(self, "passive", Several(self._checked_passive()))
        object.__setattr__(self, "bushings", checked_bushings(self.bushings, self.frames, WORLD, self._rates))
        if self.annotations:
            self.annotations.check(self.frames, self.q_names, self.nq, f"model {repr_in_message(self.name)}")

    def _checked_passive(self) -> tuple[PassiveElement, ...]:
        return checked_elements(self.passive, self.joint_names, self.joints[1:], self.named_entries)

    def _rates(self) -> Mapping[str, int]:
        return self.coordinate_entries

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()

    # Sizes and indices

    @property
    def nb(self) -> int:
        """Number of moving bodies."""
        return len(self.parent) - 1

    @cached_property
    def nq(self) -> int:
        """Length of q."""
        return sum(joint.nq for joint in self.joints)

    @cached_property
    def nv(self) -> int:
        """Length of qd, qdd and tau."""
        return sum(joint.nv for joint in self.joints)

    @property
    def edges(self) -> Iterator[tuple[int, int]]:
        """(i, parent of i) for every moving body, from the ground outwards."""
        return ((i, self.parent[i]) for i in range(1, self.nb + 1))

    @cached_property
    def q_index(self) -> tuple[int, ...]:
        """Index into q of the first entry of each body; a last entry, nq, marks the end."""
        return tuple(int(k) for k in np.cumsum([0] + [joint.nq for joint in self.joints]))

    @cached_property
    def v_index(self) -> tuple[int, ...]:
        """Index into qd of the first entry of each body; a last entry, nv, marks the end."""
        return tuple(int(k) for k in np.cumsum([0] + [joint.nv for joint in self.joints]))

    def dofs_of(self, i: int) -> range:
        """Indices into qd of joint i."""
        return range(self.v_index[i], self.v_index[i + 1])

    @cached_property
    def dof_parent(self) -> tuple[int, ...]:
        """Parent of every dof when each joint is a chain of 1-dof joints; -1 at the root [RBDA, 6.5]."""
        last: list[int] = [-1]
        lam: list[int] = []
        for i, p in self.edges:
            previous = last[p]
            for k in self.dofs_of(i):
                lam.append(previous)
                previous = k
            last.append(previous)
        return tuple(lam)

    def path(self, i: int) -> list[int]:
        """Bodies that support body i, from the root to i itself."""
        bodies = []
        while i > 0:
            bodies.append(i)
            i = self.parent[i]
        return bodies[::-1]

    def q_slice(self, joint: str) -> slice:
        """Entries of q that belong to the joint of that name.

        >>> arm.q_slice("joint2")
        slice(1, 2, None)
        """
        i = self._joint_index(joint)
        return slice(self.q_index[i], self.q_index[i + 1])

    def qd_slice(self, joint: str) -> slice:
        """Entries of qd, qdd and tau that belong to the joint of that name."""
        i = self._joint_index(joint)
        return slice(self.v_index[i], self.v_index[i + 1])

    def _joint_index(self, joint: str) -> int:
        if not isinstance(joint, str) or joint not in self.joint_names:
            raise KeyError(
                f"no joint {repr_in_message(joint)}; joints are: "
                f"{names_in_message(self.joint_names)}{suggestion(joint, self.joint_names)}"
            )
        return self.joint_names.index(joint) + 1

    # Kinds of coordinates

    @cached_property
    def lengths(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Truth values for entries of q (nq) and of qd (nv): True for lengths [m, m/s], else angle or quaternion."""
        by_q, by_v = zip(*(joint.lengths() for joint in self.joints), strict=True)
        return np.concatenate(by_q), np.concatenate(by_v)

    @cached_property
    def floating_joints(self) -> tuple[str, ...]:
        """Names of the joints that let a body float in space or in a plane of the ground: roots without motors."""
        names = zip(self.joint_names, self.joints[1:], self.parent[1:], strict=True)
        return tuple(name for name, joint, parent in names if not parent and joint.floats())

    @cached_property
    def symbolic_bodies(self) -> tuple[str, ...]:
        """Names of the moving bodies whose inertia or position is an expression, see `with_parameters`."""
        bodies = zip(self.body_names, self.I[1:], self.X_tree[1:], strict=True)
        return tuple(name for name, I, X in bodies if not all(isinstance(x, DM) for x in (I.m, I.h, I.I, X.E, X.r)))

    @cached_property
    def has_symbols(self) -> bool:
        """Whether gravity, or the inertia or position of a body, is an expression, see `with_parameters`."""
        return bool(self.symbolic_bodies) or not self._numeric_gravity

    @property
    def _numeric_gravity(self) -> bool:
        return all(isinstance(g, (int, float)) for g in self.gravity)

    @cached_property
    def root_shifts(self) -> Array:
        """World directions (3, nq) along which entries of q translate the first body, 1 m per 1 m in every posture.

        Zero for all other entries: for angles, and for translations along axes that depend on other entries of q.
        """
        found = np.zeros((3, self.nq))
        if not self.nb:
            return found
        joint, E = self.joints[1], np.array(DM(self.X_tree[1].E).full())
        rng = np.random.default_rng(0)

        def place(q: Array) -> Array:
            return np.asarray(E.T @ np.array(DM(joint.jcalc(DM(q), DM(joint.nv, 1)).XJ.r).full()).ravel())

        at = [joint.random_q(rng) for _ in range(2)]
        for k in np.flatnonzero(self.lengths[0][: joint.nq]):
            step = np.eye(joint.nq)[k]
            one, other = (place(q + step) - place(q) for q in at)
            if np.allclose(one, other, rtol=0, atol=1e-9):
                found[:, k] = one
        return found

    # Names

    @cached_property
    def frame_names(self) -> tuple[str, ...]:
        """Every name `frame` accepts: moving bodies, merged bodies, added frames."""
        return tuple(self.frames)

    @cached_property
    def named_entries(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the entries of the joints that have names of their own, by joint."""
        return {noted.joint: noted.names for noted in self.coordinate_names}

    @cached_property
    def q_names(self) -> tuple[str, ...]:
        """A name for every entry of q: the joint's, with the entry's own label where it has several."""
        return entry_names(self.joint_names, [joint.q_labels for joint in self.joints[1:]], self.named_entries)

    @cached_property
    def qd_names(self) -> tuple[str, ...]:
        """A name for every entry of qd, qdd and tau."""
        return entry_names(self.joint_names, [joint.qd_labels for joint in self.joints[1:]], self.named_entries)

    @cached_property
    def coordinate_entries(self) -> Mapping[str, int]:
        """Index into q of every dof that is the rate of one entry of q, by its name."""
        found: dict[str, int] = {}
        for i, joint in enumerate(self.joints[1:], 1):
            names = self.qd_names[self.v_index[i] : self.v_index[i + 1]]
            found |= {n: self.q_index[i] + k for n, k in zip(names, joint.coordinates(), strict=True) if k is not None}
        return found

    @cached_property
    def passive_entries(self) -> Mapping[str, tuple[int, int]]:
        """Indices into q and into qd of every dof that elements of `passive` act on or depend on, by its name."""
        return element_entries(self.passive, self.joint_names, self.joints[1:], self.named_entries)

    def frame(self, name: str) -> Frame:
        """The frame of that name: a moving body's own, a merged body's, or an added one.

        >>> rod.frame("tip")
        Frame('tip', body=1)
        """
        if not isinstance(name, str) or name not in self.frames:
            names = self.frame_names
            raise KeyError(
                f"no frame {repr_in_message(name)}; frames are: {names_in_message(names)}{suggestion(name, names)}"
            )
        return self.frames[name]

    def body(self, name: str) -> Frame:
        """The frame of a body, moving or merged, for contacts and points."""
        return self.frame(name)

    # The configuration manifold. Numbers (DM, arrays, lists) give a DM, expressions an expression of their kind.

    def split_q(self, q: Expr) -> list[Expr]:
        """q joint by joint, indexed by body."""
        return split(_sized(q, self.nq, "q"), *(joint.nq for joint in self.joints))

    def split_qd(self, qd: Expr, what: str = "qd") -> list[Expr]:
        """qd (or qdd, tau: `what`) joint by joint, indexed by body. It may have several columns."""
        return split(_sized(qd, self.nv, what), *(joint.nv for joint in self.joints))

    def rest(self, q: M | Numbers) -> M:
        """Structurally zero velocities (nv) of the type of q: expressions that they enter vanish from the graph."""
        return cast(M, type(_sized(q, self.nq, "q"))(self.nv, 1))

    def q_dot(self, q: MatrixLike, qd: MatrixLike) -> Expr:
        """dq/dt (nq) at q with velocity variables qd (nv); equal to qd but for quaternions.

        >>> arm.q_dot([0.0, 0.0], [1.0, 2.0])
        DM([1, 2])
        """
        return self._joint_wise("q_dot", self._q_by_joint(q, "q"), self._v_by_joint(qd, "qd"))

    def integrate(self, q: MatrixLike, v: MatrixLike) -> Expr:
        """The configuration (nq) reached from q by the tangent step v (nv), exact on the manifold.

        >>> arm.integrate([0.1, 0.2], [1.0, -1.0])
        DM([1.1, -0.8])
        """
        return self._joint_wise("integrate", self._q_by_joint(q, "q"), self._v_by_joint(v, "v"))

    def difference(self, q0: MatrixLike, q1: MatrixLike) -> Expr:
        """The tangent step v (nv) with `integrate(q0, v) = q1`, rotations by the shorter way.

        >>> arm.difference([0.1, 0.2], [0.3, 0.1])
        DM([0.2, -0.1])
        """
        return self._joint_wise("difference", self._q_by_joint(q0, "q0"), self._q_by_joint(q1, "q1"))

    def interpolate(self, q0: MatrixLike, q1: MatrixLike, s: MatrixLike) -> Expr:
        """The configuration (nq) at the fraction s of the way from q0 to q1: `integrate(q0, s difference(q0, q1))`.

        Every joint moves at constant velocity in s; rotations go the shorter way. s = 0 gives q0, s = 1 gives q1, other
        numbers extrapolate.
        """
        fraction = matrix(s, "s")
        if fraction.shape != (1, 1):
            raise ValueError(f"s must be one fraction of the way from q0 to q1, got {repr_in_message(s)}")
        check_kind(fraction, q0, q1)
        return self.integrate(q0, fraction * self.difference(q0, q1))

    def tangent_rate(self, theta: MatrixLike, v: MatrixLike) -> Expr:
        """d(theta)/dt (nv) along `q = integrate(q0, theta)` with velocity variables v; v itself but for quaternions."""
        return self._joint_wise("tangent_rate", self._v_by_joint(theta, "theta"), self._v_by_joint(v, "v"))

    def d_integrate(self, q: MatrixLike, v: MatrixLike) -> tuple[Expr, Expr]:
        """(dq'/dq, dq'/dv) (nv x nv each), the Jacobians of `q' = integrate(q, v)` by tangent steps of q and by v.

        Rows and columns are tangent directions: a small step delta of q, or a change of v, moves q' by the tangent step
        D delta. Both are the identity but for joints with a quaternion: there dq'/dq = R(v)' and dq'/dv = Jr(v), the
        right Jacobian of the exponential map, see `ocp_dyn.spatial_algebra.rotations`. Block diagonal.
        """
        return self._jacobians("d_integrate", self._q_by_joint(q, "q"), self._v_by_joint(v, "v"))

    def d_difference(self, q0: MatrixLike, q1: MatrixLike) -> tuple[Expr, Expr]:
        """(dv/dq0, dv/dq1) (nv x nv each), the Jacobians of `v = difference(q0, q1)` by tangent steps of q0 and of q1.

        Minus the identity and the identity but for joints with a quaternion: there -Jr(-v)^-1 and Jr(v)^-1, singular
        where the rotations differ by a full turn. Block diagonal.
        """
        return self._jacobians("d_difference", self._q_by_joint(q0, "q0"), self._q_by_joint(q1, "q1"))

    def _q_by_joint(self, q: Any, what: str) -> list[Expr]:
        """One configuration, numbers too, joint by joint, indexed by body."""
        return self.split_q(self.column(q, self.nq, what, self.q_names))

    def _v_by_joint(self, v: Any, what: str) -> list[Expr]:
        """One velocity or tangent step, numbers too, joint by joint, indexed by body."""
        return self.split_qd(self.column(v, self.nv, what, self.qd_names))

    def _joint_wise(self, operation: str, a: list[Expr], b: list[Expr]) -> Expr:
        check_kind(*a[-1:], *b[-1:])
        parts = [getattr(self.joints[i], operation)(a[i], b[i]) for i, _ in self.edges]
        return ca.vertcat(*parts) if parts else DM(0, 1)

    def _jacobians(self, operation: str, a: list[Expr], b: list[Expr]) -> tuple[Expr, Expr]:
        """Two Jacobians (nv x nv) of an operation on two tangent or configuration vectors, block diagonal."""
        check_kind(*a[-1:], *b[-1:])
        pairs = [getattr(self.joints[i], operation)(a[i], b[i]) for i, _ in self.edges]
        by_a, by_b = (ca.diagcat(DM(0, 0), *blocks) for blocks in zip(*pairs, strict=True)) if pairs else [DM(0, 0)] * 2
        like = b[-1] if isinstance(a[-1], DM) else a[-1]
        return as_type(by_a, like), as_type(by_b, like)

    @staticmethod
    def column(x: Any, size: int, what: str, names: Sequence[str] = ()) -> Expr:
        """`x` as a column of `size` entries: CasADi types pass, numbers become a DM, those with labels in the order of
        the names of the entries. names: also for the message about another size."""
        value = x if isinstance(x, (SX, MX, DM)) else DM(entries(x, size, what, names))
        if value.shape != (size, 1):
            named = f" ({names_in_message(names, 6)})" if names else ""
            raise ValueError(f"{what} must have {size} entries{named} in one column, got shape {value.shape}")
        return value

    def neutral(self) -> Array:
        """The configuration (nq) in which every moved frame coincides with its fixed one.

        >>> od.models.human().neutral()[:7].tolist()  # position, then the quaternion x y z w
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]
        """
        return np.concatenate([np.zeros(0), *(joint.neutral() for joint in self.joints)])

    def random_q(self, rng: np.random.Generator) -> Array:
        """A random configuration (nq), inside the position limits where there are any.

        >>> od.models.human().random_q(np.random.default_rng(0)).shape
        (30,)
        """
        if not isinstance(rng, np.random.Generator):
            raise TypeError(
                f"random_q needs rng, a generator such as np.random.default_rng(0), got {repr_in_message(rng)}"
            )
        q = np.concatenate([np.zeros(0), *(joint.random_q(rng) for joint in self.joints)])
        lower, upper = self.dofs.q_lower, self.dofs.q_upper
        span = np.where(np.isfinite(upper - lower), upper - lower, 1.0)
        base = np.where(np.isfinite(lower), lower, upper - span)
        return np.where((q < lower) | (q > upper), base + span * rng.uniform(size=self.nq), q)

    # Mass, gravity, and the table of the model

    @cached_property
    def mass(self) -> float:
        """Mass of all moving bodies [kg]; an expression where masses are symbols."""
        total: Any = sum((body.m for body in self.I[1:]), start=DM(0))
        return float(total) if isinstance(total, DM) else total

    @cached_property
    def weight(self) -> float:
        """Weight of all moving bodies [N], their mass times |gravity|; an expression where one of these is symbolic."""
        gravity = float(np.linalg.norm(self.gravity)) if self._numeric_gravity else ca.norm_2(self.gravity_vector)
        weight: Any = self.mass * gravity
        return float(weight) if isinstance(weight, (float, DM)) else weight

    @cached_property
    def gravity_vector(self) -> Expr:
        """Gravity [m/s^2] in ground axes as a structurally sparse column (3)."""
        return sparse_beside(self.gravity) if self._numeric_gravity else ca.vertcat(*self.gravity)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: nb={self.nb}, nq={self.nq}, nv={self.nv}>"


def _sized(x: Any, rows: int, what: str) -> Any:
    found = matrix(x, what)
    if found.shape[0] != rows:
        raise ValueError(f"{what} must have {rows} rows in this model, got shape {found.shape}")
    return found
