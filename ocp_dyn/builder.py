"""Building models: `ModelBuilder`, which checks everything, and `random_tree` for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from casadi import DM

from ._types import Array, ModelError, Vector, finite_vector, sparse
from .joints import Euler, Fixed, FloatingBase, Joint, Planar, Prismatic, Revolute, Spherical, Translation
from .model import DofData, Frame, Model
from .rotations import quaternion_matrix
from .spatial import Inertia, Transform

WORLD = "world"
"""Name of the ground in `ModelBuilder`; frames fixed to the ground belong to body 0."""


@dataclass
class _Body:
    name: str
    joint_name: str
    joint: Joint
    parent: int
    X_tree: Transform
    inertia: Inertia
    limits: dict[str, Array]


@dataclass
class ModelBuilder:
    """Collects bodies and frames, checks each as it comes, and builds the frozen `Model`.

        builder = ModelBuilder("pendulum")
        builder.add_body("rod", Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.0))
        model = builder.build()

    Every error is a `ModelError` that names the body.
    """

    name: str = ""
    gravity: Vector = (0.0, 0.0, -9.81)
    _bodies: list[_Body] = field(default_factory=list, repr=False)
    _frames: dict[str, Frame] = field(default_factory=dict, repr=False)
    _joint_names: set[str] = field(default_factory=set, repr=False)

    def add_body(
        self,
        name: str,
        joint: Joint,
        parent: str = WORLD,
        *,
        joint_name: str | None = None,
        origin: Vector = (0.0, 0.0, 0.0),
        rotation: object = None,
        mass: float = 0.0,
        com: Vector = (0.0, 0.0, 0.0),
        inertia: object = None,
        inertia_check: bool = True,
        lower: float | Vector | None = None,
        upper: float | Vector | None = None,
        velocity: float | Vector | None = None,
        effort: float | Vector | None = None,
        damping: float | Vector = 0.0,
        friction: float | Vector = 0.0,
    ) -> None:
        """Adds a body moved by `joint`, whose fixed frame lies in `parent` (a body, a frame, or "world").

        origin [m], rotation (3x3, active: columns are the joint frame's axes in the parent); mass [kg],
        com [m] in body axes, inertia [kg m^2] about the com in body axes (3x3, or 3 diagonal entries);
        inertia_check=False takes an inertia that no body can have.
        Limits per entry of q (lower, upper) and of qd (velocity, effort); None: no limit. A body on a
        `Fixed` joint is merged into its parent.
        """
        where = f"body {name!r}"
        self._check_name(name, where)
        if not isinstance(joint, Joint):
            raise ModelError(f"{where}: its joint must be one such as Revolute('z'), got {joint!r}")
        X = self._parent_frame(parent, where)
        placed = Transform(_rotation(rotation, where).T, sparse(_vector(origin, 3, f"{where}: origin"))) @ X.X
        body_inertia = _inertia(mass, com, inertia, where, inertia_check)
        if isinstance(joint, Fixed):
            self._merge(name, X.body, placed, body_inertia)
            return
        joint_name = joint_name or (joint.name if isinstance(joint, FloatingBase) and not X.body else f"{name}_joint")
        if joint_name in self._joint_names:
            raise ModelError(f"{where}: its joint {joint_name!r} has the name of another joint; names must be unique")
        limits = _limits(joint, lower, upper, velocity, effort, damping, friction, f"joint {joint_name!r}")
        self._joint_names.add(joint_name)
        self._bodies.append(_Body(name, joint_name, joint, X.body, placed, body_inertia, limits))
        self._frames[name] = Frame(name, len(self._bodies))

    def add_frame(self, name: str, body: str, origin: Vector = (0.0, 0.0, 0.0), rotation: object = None) -> None:
        """Adds a named frame fixed to a body (or to another frame, or to "world")."""
        where = f"frame {name!r}"
        self._check_name(name, where)
        parent = self._parent_frame(body, where)
        X = Transform(_rotation(rotation, where).T, sparse(_vector(origin, 3, f"{where}: origin"))) @ parent.X
        self._frames[name] = Frame(name, parent.body, X)

    def build(self) -> Model:
        """The frozen model. At least one moving body is needed."""
        if not self._bodies:
            raise ModelError(
                f"model {self.name!r} has no moving body: add one on a joint, or load it with a floating root"
            )
        gx, gy, gz = (float(g) for g in _vector(self.gravity, 3, "gravity"))
        bodies = self._bodies
        return Model(
            name=self.name,
            gravity=(gx, gy, gz),
            parent=(-1, *(b.parent for b in bodies)),
            joints=(Fixed(), *(b.joint for b in bodies)),
            X_tree=(Transform.identity(), *(_clean(b.X_tree) for b in bodies)),
            I=(
                Inertia.zero(),
                *(Inertia(sparse(b.inertia.m), sparse(b.inertia.h), sparse(b.inertia.I)) for b in bodies),
            ),
            joint_names=tuple(b.joint_name for b in bodies),
            body_names=tuple(b.name for b in bodies),
            frames={n: Frame(n, f.body, _clean(f.X)) for n, f in self._frames.items()},
            dofs=DofData(**{key: np.concatenate([b.limits[key] for b in bodies]) for key in bodies[0].limits}),
        )

    def _merge(self, name: str, body: int, X: Transform, inertia: Inertia) -> None:
        if body:  # what is fixed to the ground does not move and has no inertia to add
            self._bodies[body - 1].inertia = self._bodies[body - 1].inertia + inertia.to_parent(X)
        self._frames[name] = Frame(name, body, X)

    def _check_name(self, name: str, where: str) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a name must be a non-empty string, got {name!r}")
        if name in self._frames or (name == WORLD and self._frames):  # files may call their root so
            raise ModelError(f"{where}: the name is taken; bodies and frames need names of their own")

    def _parent_frame(self, parent: str, where: str) -> Frame:
        if parent == WORLD and WORLD not in self._frames:
            return Frame(WORLD, 0)
        if parent not in self._frames:
            known = ", ".join([WORLD, *self._frames])
            raise ModelError(f"{where}: no parent {parent!r} yet; known: {known}. Add parents before children")
        return self._frames[parent]


def _clean(X: Transform) -> Transform:
    return Transform(sparse(X.E), sparse(X.r))


def _vector(values: Any, size: int, what: str) -> Array:
    return finite_vector(values, size, what, ModelError)


def _rotation(rotation: object, where: str) -> DM:
    if rotation is None:
        return DM.eye(3)
    R = _vector(rotation, 9, f"{where}: rotation (3x3)").reshape(3, 3)
    if not np.allclose(R @ R.T, np.eye(3), atol=1e-8) or np.linalg.det(R) < 0:
        raise ModelError(f"{where}: rotation must be orthonormal with determinant +1, got {R.tolist()}")
    return sparse(R)


def _inertia(mass: float, com: Vector, inertia: object, where: str, check: bool) -> Inertia:
    m = float(_vector(mass, 1, f"{where}: mass")[0])
    if m < 0:
        raise ModelError(f"{where}: mass must not be negative, got {m:g} kg")
    c = _vector(com, 3, f"{where}: com")
    if inertia is None:
        I = np.zeros((3, 3))
    elif np.size(inertia) == 3:  # type: ignore[arg-type]
        I = np.diag(_vector(inertia, 3, f"{where}: inertia"))
    else:
        I = _vector(inertia, 9, f"{where}: inertia (3x3)").reshape(3, 3)
    if check:
        check_inertia(I, where)
    return Inertia.from_com(m, c, (I + I.T) / 2)


def check_inertia(I: Array, where: str, slack: float = 0.0) -> None:
    """Raises unless a body can have this 3x3 inertia about its com: symmetric, A, B, C >= 0, A + B >= C.

    Tolerated: a thousandth of C, what rounding to three digits does, and `slack` [kg m^2].
    """
    scale = float(np.abs(I).max())
    if not np.allclose(I, I.T, atol=1e-8 * scale, rtol=0):
        raise ModelError(f"{where}: inertia must be symmetric, got {I.tolist()}")
    A, B, C = np.linalg.eigvalsh(I)
    if A < -1e-6 * scale - 1e-12 - slack or A + B < C * (1 - 1e-3) - 1e-9 - slack:
        raise ModelError(
            f"{where}: no body has principal moments of inertia {A:.6g}, {B:.6g}, {C:.6g} kg m^2: each must be >= 0 "
            "and none larger than the sum of the other two. Check units and signs of the products of inertia"
        )


def _limits(
    joint: Joint,
    lower: float | Vector | None,
    upper: float | Vector | None,
    velocity: float | Vector | None,
    effort: float | Vector | None,
    damping: float | Vector,
    friction: float | Vector,
    where: str,
) -> dict[str, Array]:
    def spread(value: float | Vector | None, size: int, absent: float, what: str) -> Array:
        try:
            x = np.asarray(absent if value is None else value, dtype=float).reshape(-1)
        except (TypeError, ValueError):
            x = np.full(1, np.nan)
        if x.size not in (1, size) or np.any(np.isnan(x)):
            raise ModelError(f"{where}: {what} must be one number or {size}, got {value!r}")
        return np.array(np.broadcast_to(x, (size,)))

    limits = {
        "q_lower": spread(lower, joint.nq, -np.inf, "lower limit"),
        "q_upper": spread(upper, joint.nq, np.inf, "upper limit"),
        "qd_max": spread(velocity, joint.nv, np.inf, "velocity limit"),
        "tau_max": spread(effort, joint.nv, np.inf, "effort limit"),
        "damping": spread(damping, joint.nv, 0.0, "damping"),
        "friction": spread(friction, joint.nv, 0.0, "friction"),
    }
    if np.any(limits["q_lower"] > limits["q_upper"]):
        raise ModelError(f"{where}: lower limit {lower!r} lies above upper limit {upper!r}")
    for key in ("qd_max", "tau_max", "damping", "friction"):
        if np.any(limits[key] < 0):
            raise ModelError(f"{where}: {key} must not be negative, got {limits[key].tolist()}")
    return limits


def random_tree(
    n: int,
    branching: float = 1.5,
    joints: Sequence[Joint] | None = None,
    rng: np.random.Generator | None = None,
) -> Model:
    """A random tree of n bodies for tests: placements, axes and inertias random, parents by `branching`.

    branching 1 is a chain, 2 a binary tree, infinity a star [RBDA, autoTree]. `joints`: kinds to draw
    from (default: all of them, the revolute and prismatic ones about random axes).
    """
    if n < 1 or not branching >= 1:
        raise ValueError(f"random_tree needs n >= 1 and branching >= 1, got {n}, {branching}")
    rng = rng or np.random.default_rng(0)
    builder = ModelBuilder(f"random_tree_{n}")

    def axis() -> Array:
        return np.asarray(rng.normal(size=3))

    def rotation() -> Array:
        return np.array(quaternion_matrix(DM(Spherical().random_q(rng))).full())

    for i in range(1, n + 1):
        kinds: Sequence[Joint] = joints or (
            Revolute("z"), Revolute(axis()), Prismatic(axis()), Translation(), Planar(), Spherical(),
            *(Euler(order) for order in ("xyz", "zyx", "yxz", "zxy")),
            FloatingBase(), FloatingBase("euler_zyx"),
        )  # fmt: skip
        p = 0 if i == 1 or np.isinf(branching) else int((i - 2 + np.ceil(branching)) // branching)
        size = rng.uniform(0.05, 0.2, 3)
        mass, R = rng.uniform(0.5, 2.0), rotation()
        box = (
            mass / 3 * np.diag([size[1] ** 2 + size[2] ** 2, size[0] ** 2 + size[2] ** 2, size[0] ** 2 + size[1] ** 2])
        )
        builder.add_body(
            f"body{i}", kinds[int(rng.integers(len(kinds)))], f"body{p}" if p else WORLD, joint_name=f"joint{i}",
            origin=rng.uniform(-0.5, 0.5, 3), rotation=rotation(),
            mass=mass, com=rng.uniform(-0.2, 0.2, 3), inertia=R @ box @ R.T,
        )  # fmt: skip
    return builder.build()
