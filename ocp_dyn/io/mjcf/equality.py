"""`<equality>` of MJCF as constraints: connected points, welded bodies, joints and tendons that depend on each other.

MuJoCo's residuals are in world axes or half-angle sines and have the other sign; they vanish where phi does.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from casadi import DM

from ..._base.types import Array, repr_in_message
from ...constraints import Constraint, CoordinateCoupling, JointCoupling, LockedJoint, Loop
from ...dynamics.kinematics import pose
from ...joints import ConstantFunction, LinearFunction, PolynomialFunction
from ...mechanism import Model
from ...mechanism.builder import WORLD
from ...spatial_algebra.poses import Pose, from_quaternion
from ..xml import XmlElement
from .document import sections
from .elements import JointData
from .settings import Classes, Settings
from .tendons import FixedTendon
from .values import Values
from .vocabulary import check_attributes

MOST_JOINTS = 6
"""Number of coordinates that one coordinate may follow, the most that `od.LinearFunction` takes."""


def shifted(coefficients: tuple[float, ...], at: float) -> tuple[float, ...]:
    """Coefficients, highest power first, of the polynomial sum_k coefficients[k] (x - at)^k."""
    found = np.poly1d([0.0])
    for coefficient in reversed(coefficients):  # Horner
        found = found * np.poly1d([1.0, -at]) + coefficient
    return tuple(float(x) for x in found.coeffs)


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
        curve = PolynomialFunction(shifted((first.reference + a[0], *a[1:]), second.reference))
        return CoordinateCoupling(first.name, (second.name,), curve, label=name)

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
        a = self._coefficients(values)
        if len(keys) > 1 and any(a[2:]):
            raise values.element.fault(
                "two tendons that depend on each other by a polynomial of second degree or more are not read"
            )
        rows = [self._row(self.tendons[values.text(key)]) for key in keys]
        slope = a[1] if len(rows) > 1 else 0.0
        row = rows[0] - slope * rows[-1]
        solved = int(np.argmax(np.abs(row)))  # row @ (q - q0) = a[0], solved for the coordinate of the largest factor
        if not row[solved]:
            raise values.element.fault("both tendons have the same length everywhere, which constrains nothing")
        others = [k for k in np.flatnonzero(row) if k != solved]
        if len(others) > MOST_JOINTS:
            raise values.element.fault(f"an equality of tendons over more than {MOST_JOINTS + 1} joints is not read")
        offset = float(row @ self.q0 + a[0]) / row[solved]
        names = self.model.q_names
        line = LinearFunction(tuple(float(-row[k] / row[solved]) for k in others), offset) if others else None
        return CoordinateCoupling(
            names[solved], tuple(names[k] for k in others), line or ConstantFunction(offset), label=name
        )

    def _row(self, tendon: FixedTendon) -> Array:
        row = np.zeros(self.model.nq)
        for joint, factor in zip(tendon.joints, tendon.factors, strict=True):
            row[self.model.q_slice(joint)] += factor
        return row
