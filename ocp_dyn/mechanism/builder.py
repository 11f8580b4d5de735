"""Building models: `ModelBuilder`, which checks everything, and `random_tree` for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Unpack

import numpy as np
from casadi import DM

from .._base.types import (
    LARGEST_MAGNITUDE,
    Array,
    ModelError,
    Vector,
    names_in_message,
    numbers,
    repr_in_message,
    sequence,
    suggestion,
    truth,
)
from ..joints import (
    Cylindrical,
    Euler,
    Fixed,
    FloatingBase,
    Helical,
    Joint,
    MultiDof,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from ..spatial_algebra.rotations import quaternion_matrix
from ..spatial_algebra.spatial import Inertia, Transform, largest
from . import DofData, FileJoint, Frame, Mimic, Model
from .parts import (
    FINITE_FIELDS,
    LIMIT_FIELDS,
    NONNEGATIVE_FIELDS,
    SIZE_NQ,
    WORLD,
    CoordinateNames,
    body_inertia,
    check_inertia,
    check_turning,
    checked_mimics,
    clean,
    efforts,
    merge_inertias,
    placement,
    product,
    vector,
)
from .passive import PassiveElement, checked_elements
from .validity.consistency import check_name

__all__ = ["WORLD", "DofOptions", "ModelBuilder", "check_inertia", "random_tree"]

Values = float | Vector | None
Efforts = float | Vector | Sequence[Sequence[float]] | None


class DofOptions(TypedDict, total=False):
    """Options of `ModelBuilder.add_body` for the dofs of a joint: one number for all dofs, or one number each.

    Per entry of q: lower, upper (limits), rest (position where the spring is slack; default: neutral). Per entry of
    qd: velocity, effort (limits), damping, friction, stiffness, and armature: the inertia of a motor's rotor
    reflected to the joint, `gear_ratio^2 rotor_inertia`, given as armature or as these two. None: no limit.
    effort holds in both directions; a joint that is stronger in one direction has pairs (lower, upper) with
    lower <= 0 <= upper, one per dof: `effort=(-40, 120)` for one dof, `effort=[(-40, 120), (-30, 30)]` for two.
    """

    lower: Values
    upper: Values
    velocity: Values
    effort: Efforts
    damping: Values
    friction: Values
    stiffness: Values
    rest: Values
    armature: Values
    rotor_inertia: Values
    gear_ratio: Values


@dataclass
class _BuiltBody:
    name: str
    joint_name: str
    joint: Joint
    parent: int
    X_tree: Transform
    inertia: Inertia
    dofs: dict[str, Array]
    mounts: tuple[str, ...]


@dataclass
class ModelBuilder:
    """Collects bodies and frames, checks each when it is added, and builds the frozen `Model`.

        builder = ModelBuilder("pendulum")
        builder.add_body("rod", Revolute("y"), mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.0))
        model = builder.build()

    Every error is a `ModelError` that names the body.

    >>> builder = od.ModelBuilder("door")
    >>> builder.add_body("door", od.Revolute("z"), mass=20, com=(0.4, 0, 0), inertia=(3.2, 1, 4.2), upper=1.6)
    >>> builder.add_frame("handle", "door", (0.7, 0, 1))
    >>> builder.build()
    <Model 'door': nb=1, nq=1, nv=1>
    """

    name: str = ""
    gravity: Vector = (0.0, 0.0, -9.81)
    _bodies: list[_BuiltBody] = field(default_factory=list, repr=False)
    _frames: dict[str, Frame] = field(default_factory=dict, repr=False)
    _joint_names: set[str] = field(default_factory=set, repr=False)
    _mimics: list[Mimic] = field(default_factory=list, repr=False)
    _mounts: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    _passive: list[PassiveElement] = field(default_factory=list, repr=False)
    _named: list[CoordinateNames] = field(default_factory=list, repr=False)

    def add_body(
        self,
        name: str,
        joint: Joint,
        parent: str = WORLD,
        *,
        joint_name: str | None = None,
        coordinates: Sequence[str] | None = None,
        origin: Vector = (0.0, 0.0, 0.0),
        rotation: object = None,
        mass: float = 0.0,
        com: Vector = (0.0, 0.0, 0.0),
        inertia: object = None,
        inertia_check: bool = True,
        emulate: bool = False,
        **dofs: Unpack[DofOptions],
    ) -> None:
        """Adds a body moved by `joint`, whose fixed frame lies in `parent` (a body, a frame, or "world").

        origin [m], rotation (3x3, active: columns are the joint frame's axes in the parent); mass [kg],
        com [m] in body axes, inertia [kg m^2] about the com in body axes (3x3, or 3 diagonal entries);
        inertia_check=False takes an inertia that no body can have. A body on a `Fixed` joint is merged into its parent.
        dofs: limits, springs, losses, armature; see `DofOptions`. coordinates: other names of the entries of q.
        emulate=True replaces a joint of several dofs by a chain of 1-dof joints: massless bodies "name#0", "name#1",
        ... on joints of the same ending, and the body itself at their end, on the joint called joint_name.
        """
        where = f"body {repr_in_message(name)}"
        self._check_name(name, where)
        _check_joint(joint, joint_name, where)
        X = self._parent_frame(parent, where)
        placed = product(placement(origin, rotation, where), X.X)
        inertia_of_body = body_inertia(mass, com, inertia, where, inertia_check)
        if isinstance(joint, Fixed):
            self._merge(name, X.body, placed, inertia_of_body)
            self._mounts[name] = (*self._mounts.get(parent, ()), joint_name or f"{name}_joint")
            return
        joint_name = joint_name or (joint.name if isinstance(joint, FloatingBase) and not X.body else f"{name}_joint")
        data = _dof_data(joint, dofs, f"joint {repr_in_message(joint_name)}")
        links = self._links(joint, where) if truth(emulate, f"{where}: emulate") else (joint,)
        names = [(f"{name}#{k}", f"{joint_name}#{k}") for k in range(len(links) - 1)] + [(name, joint_name)]
        for new, new_joint in names:
            self._check_name(new, where)
            if new_joint in self._joint_names:
                raise ModelError(
                    f"{where}: its joint {repr_in_message(new_joint)} has the name of another joint; names must be "
                    "unique"
                )
        parent_body = X.body
        for k, (link, (new, new_joint)) in enumerate(zip(links, names, strict=True)):
            last = k == len(links) - 1
            part = {key: x[k : k + 1] for key, x in data.items()} if emulate else data
            self._joint_names.add(new_joint)
            self._name_entries(new_joint, coordinates, slice(k, k + 1) if emulate else slice(None), where)
            body = inertia_of_body if last else Inertia.zero()
            mounts = () if k else self._mounts.get(parent, ())
            self._bodies.append(_BuiltBody(new, new_joint, link, parent_body, placed, body, part, mounts))
            parent_body, placed = len(self._bodies), Transform.identity()
            self._frames[new] = Frame(new, parent_body)

    def add_frame(self, name: str, body: str, origin: Vector = (0.0, 0.0, 0.0), rotation: object = None) -> None:
        """Adds a named frame fixed to a body (or to another frame, or to "world")."""
        where = f"frame {repr_in_message(name)}"
        self._check_name(name, where)
        parent = self._parent_frame(body, where)
        X = product(placement(origin, rotation, where), parent.X)
        self._frames[name] = Frame(name, parent.body, X)
        self._mounts[name] = self._mounts.get(body, ())

    def add_mimic(self, joint: str, other: str, ratio: float = 1.0, offset: float = 0.0) -> None:
        """Notes that q of `joint` shall be ratio times q of `other` plus offset [rad or m]; both joints have one dof.

        Both coordinates stay in q; only `mimic_constraints` and `mimic_map` use the note.
        """
        where = f"joint {repr_in_message(joint)} mimics {repr_in_message(other)}"
        ratio, offset = (
            float(vector(x, 1, f"{where}: {what}")[0]) for x, what in ((ratio, "ratio"), (offset, "offset"))
        )
        dofs = {b.joint_name: b.joint.nv for b in self._bodies}
        self._mimics = list(checked_mimics([*self._mimics, Mimic(joint, other, ratio, offset)], dofs))

    def add_passive(self, *elements: PassiveElement) -> None:
        """Adds passive torques of joints, `od.ExponentialTorque` or `od.OneSidedSpring`; their bodies come first."""
        names, joints = [b.joint_name for b in self._bodies], [b.joint for b in self._bodies]
        named: dict[str, tuple[str, ...]] = {noted.joint: noted.names for noted in self._named}
        self._passive += checked_elements(elements, names, joints, named)

    def build(self) -> Model:
        """The frozen model. At least one moving body is needed."""
        if not self._bodies:
            raise ModelError(
                f"model {repr_in_message(self.name)} has no moving body: add a body on a joint that moves; for a file "
                "with one link, give a floating root, such as root=FloatingBase()"
            )
        gx, gy, gz = (float(g) for g in vector(self.gravity, 3, "gravity"))
        bodies = self._bodies
        lengths = self._lengths()
        return Model(
            name=self.name,
            gravity=(gx, gy, gz),
            parent=(-1, *(b.parent for b in bodies)),
            joints=(Fixed(), *(b.joint for b in bodies)),
            X_tree=(
                Transform.identity(),
                *(clean(b.X_tree, max(lengths[i], lengths[b.parent])) for i, b in enumerate(bodies, 1)),
            ),
            I=(Inertia.zero(), *(b.inertia for b in bodies)),
            joint_names=tuple(b.joint_name for b in bodies),
            body_names=tuple(b.name for b in bodies),
            frames={n: Frame(n, f.body, clean(f.X, lengths[f.body])) for n, f in self._frames.items()},
            dofs=DofData(**{key: np.concatenate([b.dofs[key] for b in bodies]) for key in bodies[0].dofs}),
            mimics=tuple(self._mimics),
            file_joints=tuple(FileJoint(b.joint_name, b.mounts) for b in bodies if b.mounts),
            passive=tuple(self._passive),
            coordinate_names=tuple(self._named),
        )

    def _lengths(self) -> list[float]:
        """A length per body: the largest coordinate of its mass center and of the joints on it, in body coordinates.

        Offsets that are tiny relative to this length are rounding errors. The ground has length 0: the distances
        between bodies mounted on it say nothing about the size of the bodies.
        """
        reach = [largest(b.inertia.h) / (float(b.inertia.m) or 1.0) for b in self._bodies]
        for b in self._bodies:
            if b.parent:
                reach[b.parent - 1] = max(reach[b.parent - 1], largest(b.X_tree.r))
        return [0.0, *reach]

    def _merge(self, name: str, body: int, X: Transform, inertia: Inertia) -> None:
        if body:  # what is fixed to the ground does not move and has no inertia to add
            self._bodies[body - 1].inertia = merge_inertias(self._bodies[body - 1].inertia, inertia, X)
        self._frames[name] = Frame(name, body, X)

    def _name_entries(self, joint: str, coordinates: Sequence[str] | None, own: slice, where: str) -> None:
        """Notes the names that the entries of a joint have instead of those made of its own name."""
        if coordinates is not None:
            names = tuple(sequence(coordinates, f"{where}: coordinates must be a list of names"))
            self._named.append(CoordinateNames(joint, names[own]))

    def _links(self, joint: Joint, where: str) -> tuple[Joint, ...]:
        try:
            return joint.chain()
        except ValueError as error:
            raise ModelError(f"{where}: it cannot be emulated: {error}") from None

    def _check_name(self, name: str, where: str) -> None:
        check_name(name, where.partition(" ")[0])
        if name in self._frames or (name == WORLD and self._frames):  # the root link of a file may have this name
            raise ModelError(f"{where}: this name is taken already; every body and frame needs a different name")

    def _parent_frame(self, parent: str, where: str) -> Frame:
        if not isinstance(parent, str):
            raise ModelError(
                f"{where}: its parent must be the name of a body or a frame, got {repr_in_message(parent)}"
            )
        if parent == WORLD and WORLD not in self._frames:
            return Frame(WORLD, 0)
        if parent not in self._frames:
            known = names_in_message((WORLD, *self._frames))
            hint = suggestion(parent, (WORLD, *self._frames))
            raise ModelError(
                f"{where}: no parent {repr_in_message(parent)} yet; known: {known}. Add parents before children{hint}"
            )
        return self._frames[parent]


def _check_joint(joint: Any, name: Any, where: str) -> None:
    """ModelError unless it is a joint, and its name one, or None."""
    if not isinstance(joint, Joint):
        raise ModelError(f"{where}: its joint must be a joint such as Revolute('z'), got {repr_in_message(joint)}")
    if name is not None:
        check_name(name, f"{where}: joint_name")


_ABSENT = {"lower": -np.inf, "upper": np.inf, "velocity": np.inf, "gear_ratio": 1.0}
"""Values of options that are not given; 0 for options that are not listed here."""
_FIELDS = {field: option for option, field in LIMIT_FIELDS.items()}
"""Fields of DofData under another name than their option's."""
_POSITIONS = ("lower", "upper", "rest")
"""Options with a number for every entry of q."""
_WORDS = {"lower": "lower limit", "upper": "upper limit", "velocity": "velocity limit"}


def _word(key: str) -> str:
    """The name of a field of DofData in messages."""
    option = _FIELDS.get(key, key)
    return _WORDS.get(option, option)


def _dof_data(joint: Joint, options: DofOptions, where: str) -> dict[str, Array]:
    """The fields of DofData for one joint."""
    given: dict[str, Any] = dict(options)
    unknown = sorted(given.keys() - DofOptions.__annotations__.keys())
    if unknown:
        known = ", ".join(DofOptions.__annotations__)
        body = ("mass", "com", "inertia", "origin", "rotation", "joint_name")
        hint = suggestion(unknown[0], (*DofOptions.__annotations__, *body))
        raise TypeError(f"{where}: add_body has no option {', '.join(unknown)}; options of dofs are: {known}{hint}")

    def spread(option: str, size: int) -> Array:
        value = given.get(option)
        absent = joint.neutral() if option == "rest" else _ABSENT.get(option, 0.0)
        x = numbers(absent if value is None else value, f"{where}: {_WORDS.get(option, option)}")
        huge = np.any(np.abs(x[np.isfinite(x)]) > LARGEST_MAGNITUDE)
        if x.size not in (1, size) or np.any(np.isnan(x)) or huge:
            what = _WORDS.get(option, option)
            raise ModelError(f"{where}: {what} must be one number or {size}, got {repr_in_message(value)}")
        if option in _POSITIONS and joint.has_quaternion and x.size == 1 and np.isfinite(x[0]):
            none = f"; write {repr_in_message(_ABSENT[option])} for these, no limit" if option in _ABSENT else ""
            raise ModelError(
                f"{where}: {_WORDS.get(option, option)} must be {size} numbers ({', '.join(joint.q_labels)}), got "
                f"{repr_in_message(value)}: one number does not fit a quaternion, whose entries are neither angles nor "
                f"lengths{none}"
            )
        if option in ("lower", "upper") and joint.has_quaternion and size > 1:
            check_turning(
                joint.q_labels, np.arange(size) >= size - 4, x, np.array(absent), f"{where}: {_WORDS[option]}"
            )
        return np.array(np.broadcast_to(x, (size,)))

    fields = (*_FIELDS, "damping", "friction", "stiffness", "armature", "rest")
    data = {
        key: spread(_FIELDS.get(key, key), joint.nq if key in SIZE_NQ else joint.nv)
        for key in fields
        if key != "tau_max"
    }
    effort = given.get("effort")
    strongest = np.inf if effort is None else effort
    data["tau_min"], data["tau_max"] = efforts(strongest, joint.nv, f"{where}: effort limit")
    for option in ("gear_ratio", "rotor_inertia"):
        if not np.all(np.isfinite(spread(option, joint.nv))):
            raise ModelError(f"{where}: {option} must be finite, got {repr_in_message(given.get(option))}")
    rotor = spread("gear_ratio", joint.nv) ** 2 * spread("rotor_inertia", joint.nv)
    data["armature"] = data["armature"] + rotor
    if np.any(data["q_lower"] > data["q_upper"]):
        raise ModelError(
            f"{where}: lower limit {repr_in_message(given.get('lower'))} lies above upper limit "
            f"{repr_in_message(given.get('upper'))}"
        )
    for key in NONNEGATIVE_FIELDS:
        if np.any(data[key] < 0):
            raise ModelError(f"{where}: {_word(key)} must not be negative, got {data[key].tolist()}")
    for key in FINITE_FIELDS:
        if not np.all(np.isfinite(data[key])):
            raise ModelError(f"{where}: {_word(key)} must be finite, got {data[key].tolist()}")
    return data


def random_tree(
    n: int,
    branching: float = 1.5,
    joints: Sequence[Joint] | None = None,
    rng: np.random.Generator | None = None,
) -> Model:
    """A random tree of n bodies for tests: placements, axes and inertias random, parents by `branching`.

    branching 1 is a chain, 2 a binary tree, infinity a star [RBDA, autoTree]. `joints`: kinds to draw
    from (default: all of the library's, about random axes where they have some).

    >>> od.random_tree(5, 2, [od.Revolute("y"), od.Spherical()], np.random.default_rng(0))
    <Model 'random_tree_5': nb=5, nq=14, nv=11>
    """
    if isinstance(n, bool) or not isinstance(n, int) or not isinstance(branching, (int, float)):
        raise TypeError(
            f"random_tree needs a whole number n and a number branching, got {repr_in_message(n)}, "
            f"{repr_in_message(branching)}"
        )
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(f"random_tree: rng must be a numpy.random.Generator or None, got {repr_in_message(rng)}")
    kinds_given = None if joints is None else sequence(joints, "random_tree: joints must be a list of joints")
    if kinds_given is not None and not (kinds_given and all(isinstance(joint, Joint) for joint in kinds_given)):
        raise TypeError(f"random_tree: joints must be a list of joints, got {repr_in_message(joints)}")
    if not 1 <= n <= 100_000 or not branching >= 1:
        raise ValueError(f"random_tree needs n >= 1 and branching >= 1, got {repr_in_message(n)}, {branching}")
    branching = np.inf if branching > LARGEST_MAGNITUDE else branching
    rng = rng or np.random.default_rng(0)
    builder = ModelBuilder(f"random_tree_{n}")

    def axis() -> Array:
        return np.asarray(rng.normal(size=3))

    def rotation() -> Array:
        return np.array(quaternion_matrix(DM(Spherical().random_q(rng))).full())

    for i in range(1, n + 1):
        kinds: Sequence[Joint] = joints if joints is not None else (
            Revolute("z"), Revolute(axis()), Prismatic(axis()), Helical("x", pitch=0.2), Helical(rng.normal(size=6)),
            Cylindrical(axis()), Universal(axis(), axis()), Translation(), Planar(), Spherical(),
            MultiDof([(*axis(), 0, 0, 0), (0, 0, 0, *axis()), (*axis(), *axis()), (*axis(), 0, 0, 0)]),
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
