"""`<equality>` of MJCF as constraints: connected points, welded bodies, joints and tendons that depend on each other.

MuJoCo's residuals are in world axes or half-angle sines and have the other sign; they vanish where phi does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from casadi import DM

from ..._base.types import Array, Expr, repr_in_message
from ...constraints import Constraint, CustomConstraint, JointCoupling, LockedJoint, Loop
from ...dynamics.kinematics import pose
from ...mechanism import Model
from ...mechanism.builder import WORLD
from ..xml import XmlElement
from .actuators import FixedTendon
from .document import sections
from .elements import JointData
from .poses import Pose, from_quaternion
from .settings import Classes, Settings
from .values import Values
from .vocabulary import check_attributes


@dataclass(frozen=True)
class Polynomial:
    """f(x) = sum_k coefficients[k] (x - reference)^k."""

    coefficients: tuple[float, ...]
    reference: float = 0.0

    def __call__(self, x: Any) -> Any:
        total: Any = 0.0
        for coefficient in reversed(self.coefficients):  # Horner
            total = total * (x - self.reference) + coefficient
        return total


@dataclass(frozen=True)
class TendonLengths:
    """phi(q) of two fixed tendons: the length of the first, less a polynomial of that of the second.

    Lengths are rows (1 x nq) times q, less those of the reference configuration.
    """

    first: tuple[float, ...]
    second: tuple[float, ...]
    at_reference: tuple[float, float]
    polynomial: Polynomial

    def __call__(self, q: Expr) -> Expr:
        lengths = [DM(row).T @ q - x for row, x in zip((self.first, self.second), self.at_reference, strict=True)]
        return lengths[0] - self.polynomial(lengths[1])


class EqualityReader:
    """The constraints of a file. frames: names of our frames by those of sites; q0: the reference configuration."""

    def __init__(
        self, model: Model, q0: Array, joints: Mapping[str, JointData], tendons: Mapping[str, FixedTendon],
        frames: Mapping[str, str], bodies: Mapping[str, str],
    ) -> None:  # fmt: skip
        self.model, self.q0, self.joints, self.tendons = model, q0, joints, tendons
        self.frames, self.bodies = frames, bodies
        self.names: list[str] = []

    def read(self, root: XmlElement, classes: Classes, settings: Settings) -> tuple[Constraint, ...]:
        found: list[Constraint] = []
        for number, element in enumerate(sections(root, "equality")):
            read = getattr(self, f"_{element.tag}", None)
            if read is None:
                raise element.fault("it is not read; known are connect, weld, joint and tendon")
            own = element.tag in ("joint", "tendon")
            check_attributes(element, f"equality {element.tag}" if own else "")
            values = classes.of(element, kind="equality")
            constraint = read(values, element.get("name") or f"{element.tag}{number}")
            if values.switch("active", True) and not settings.off & {"constraint", "equality"}:
                found.append(constraint)
        return tuple(found)

    def _ends(self, values: Values) -> list[str]:
        """The two frames: of sites, or of bodies, the second of which is the world if it is not named."""
        sites = [key for key in ("site1", "site2") if key in values]
        if sites and (len(sites) < 2 or "body1" in values or "body2" in values):
            raise values.element.fault("it names two sites, or one or two bodies")
        if sites:
            return [self.frames[values.reference(key, self.frames, "site")] for key in sites]
        keys = ["body1", *(["body2"] if "body2" in values else [])]
        names = [self.bodies[values.reference(key, self.bodies, "body")] for key in keys]
        return [*names, WORLD][:2]

    def _pose(self, frame: str) -> Pose:
        if frame == WORLD:
            return Pose()
        R, p = pose(self.model, frame, DM(self.q0))
        return Pose(np.array(DM(R).full()), np.array(DM(p).full()).ravel())

    def _connect(self, values: Values, name: str) -> Loop:
        """Two points that coincide: sites, or a point of the first body and where it is in the second at q0."""
        first, second = self._ends(values)
        if "site1" in values:
            return Loop(first, second, "ball", label=name)
        if "anchor" not in values:
            raise values.element.fault('it connects bodies and has no anchor="..."; it needs one')
        anchor = values.vector("anchor")
        a, b = self._pose(first), self._pose(second)
        own = b.R.T @ (a.R @ anchor + a.p - b.p)
        eye = np.eye(3)
        return Loop(first, second, "ball", (tuple(eye.ravel()), tuple(anchor)), (tuple(eye.ravel()), tuple(own)),
                    label=name)  # fmt: skip

    def _weld(self, values: Values, name: str) -> Loop:
        """Two frames that coincide: sites, or the second body and where it is in the first, as relpose says or q0."""
        first, second = self._ends(values)
        if "site1" in values:
            return Loop(first, second, "fixed", label=name)
        anchor = values.vector("anchor")
        given = values.numbers("relpose", 7, default=(0.0,) * 7)
        if np.any(given[3:]):
            at = Pose(from_quaternion(given[3:]), given[:3])
        else:
            a, b = self._pose(first), self._pose(second)
            at = Pose(a.R.T @ b.R, a.R.T @ (b.p + b.R @ anchor - a.p))
        here = (tuple(np.eye(3).ravel()), tuple(anchor))
        return Loop(first, second, "fixed", (tuple(at.R.ravel()), tuple(at.p)), here, label=name)

    def _coefficients(self, values: Values) -> tuple[float, ...]:
        given = values.numbers("polycoef", 1, 5, default=(0.0, 1.0, 0.0, 0.0, 0.0))
        return (*given.tolist(), *np.array([0.0, 1.0, 0.0, 0.0, 0.0])[given.size :].tolist())

    def _joint(self, values: Values, name: str) -> Constraint:
        """q1 - ref1 = polynomial of (q2 - ref2); without a second joint q1 - ref1 = its first coefficient."""
        keys = [key for key in ("joint1", "joint2") if key in values]
        own = [self.joints[values.reference(key, self.joints, "joint")] for key in keys]
        if keys[:1] != ["joint1"] or any(joint.kind not in ("hinge", "slide") for joint in own):
            raise values.element.fault("it names one or two joints, joint1 and joint2, which are hinges or slides")
        a = self._coefficients(values)
        if len(own) == 1:
            return LockedJoint(own[0].name, (own[0].reference + a[0],))
        first, second = own
        if first.name == second.name:
            raise values.element.fault(f"joint1 and joint2 are both {repr_in_message(first.name)}: it needs two joints")
        if not any(a[2:]):
            offset = first.reference + a[0] - a[1] * second.reference
            return JointCoupling(first.name, second.name, a[1], offset)
        curve = Polynomial((first.reference + a[0], *a[1:]), second.reference)
        return JointCoupling(first.name, second.name, function=curve)

    def _tendon(self, values: Values, name: str) -> Constraint:
        keys = [key for key in ("tendon1", "tendon2") if key in values]
        if keys[:1] != ["tendon1"]:
            raise values.element.fault("it names one or two tendons, tendon1 and tendon2")
        known = [values.text(key) in self.tendons for key in keys]
        if not all(known):
            missing = values.text(keys[known.index(False)])
            raise values.element.fault(
                f"{repr_in_message(missing)} is no fixed tendon; an equality of others is not read"
            )
        rows = [self._row(self.tendons[values.text(key)]) for key in keys]
        second = rows[1] if len(rows) > 1 else np.zeros(self.model.nq)
        a = self._coefficients(values)
        curve = Polynomial(a if len(rows) > 1 else a[:1])
        lengths = TendonLengths(
            tuple(rows[0]), tuple(second), (float(rows[0] @ self.q0), float(second @ self.q0)), curve
        )
        return CustomConstraint(lengths, 1, name)

    def _row(self, tendon: FixedTendon) -> Array:
        row = np.zeros(self.model.nq)
        for joint, factor in zip(tendon.joints, tendon.factors, strict=True):
            row[self.model.q_slice(joint)] += factor
        return row
