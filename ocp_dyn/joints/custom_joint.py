"""A joint given as a function of its positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from casadi import DM

from .._base.autodiff import derivatives
from .._base.checks import given_name
from .._base.types import Expr, repr_in_message, sequence
from ..spatial_algebra.spatial import Transform, vee
from .protocol import Joint, JointState


@dataclass(frozen=True)
class CustomJoint(Joint):
    """A joint given by its transform, `function(q) -> Transform(E, r)`; S and cJ follow by automatic differentiation.

    E (3x3) turns coordinates of the fixed frame into those of the moved one, r (3) is the moved origin in the fixed
    frame. labels: a name per entry of q; qd is dq/dt. With ' for d/dq_k and a dot for d/dt,

        S_k = [-vee(E' E^T); E r'],   cJ = [-vee(E_dd E^T); E r_dd + E_d r_d],

    the second derivatives taken at qdd = 0. The function must be written with CasADi's operations; it is called with
    numbers once, at construction, and with SX. It cannot be written to JSON: a file holds no functions.

    >>> def spiral(q):  # turns about z and climbs 0.1 m per rad
    ...     c, s = ca.cos(q), ca.sin(q)
    ...     E = ca.vertcat(ca.horzcat(c, s, 0), ca.horzcat(-s, c, 0), ca.DM([[0, 0, 1]]))
    ...     return od.Transform(E, ca.vertcat(0, 0, 0.1 * q))
    >>> builder = od.ModelBuilder()
    >>> builder.add_body("nut", od.CustomJoint(spiral), mass=1, inertia=(1, 1, 1))
    >>> od.point_velocity_6d(builder.build(), "nut", [0.0], [2.0])
    DM([0, 0, 2, 0, 0, 0.2])
    """

    function: Callable[[Expr], Transform]
    labels: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        given = (self.labels,) if isinstance(self.labels, str) else self.labels
        labels = tuple(sequence(given, "CustomJoint labels must be a tuple of names"))
        if not all(isinstance(label, str) for label in labels):
            raise TypeError(f"CustomJoint labels must be a tuple of names, got {repr_in_message(self.labels)}")
        if not callable(self.function):
            raise TypeError(f"CustomJoint needs a function q -> Transform, got {repr_in_message(self.function)}")
        if not 1 <= len(labels) <= 6 or len(set(labels)) < len(labels):
            raise ValueError(f"CustomJoint needs 1 to 6 labels, all different, got {repr_in_message(self.labels)}")
        for label in filter(None, labels):
            given_name(label, "CustomJoint label")
        object.__setattr__(self, "labels", labels)
        object.__setattr__(self, "q_labels", labels)
        object.__setattr__(self, "qd_labels", labels)
        X = self.function(DM.zeros(len(labels), 1))
        if not isinstance(X, Transform) or tuple(X.E.shape) != (3, 3) or tuple(X.r.shape) != (3, 1):
            raise TypeError(
                f"a CustomJoint's function must give a Transform(E (3x3), r (3x1)), got {repr_in_message(X)}"
            )
        E = np.array(DM(X.E).full())
        if not np.allclose(E @ E.T, np.eye(3), atol=1e-9) or np.linalg.det(E) < 0:
            raise ValueError(f"a CustomJoint's E must be a rotation, got {E.tolist()} at q = 0")

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        y, J, bias = derivatives(self._placement, q, qd)
        E, r = _parts(y)

        def motion(rates: Expr) -> Expr:
            """The motion vector of first (or second) derivatives of (E, r)."""
            dE, dr = _parts(rates)
            return ca.vertcat(-vee(dE @ E.T), E @ dr)

        S = ca.horzcat(*(motion(column) for column in ca.horzsplit(J)))
        Ed, rd = _parts(J @ qd)
        cJ = motion(bias) + ca.vertcat(DM(3, 1), Ed @ rd)
        return JointState(Transform(E, r), S, S @ qd, cJ)

    def scaled(self, length: float) -> Joint:
        raise ValueError(
            f"{repr_in_message(self)} cannot be scaled: the lengths in its function are not known; make a joint with "
            "another function"
        )

    def _placement(self, q: Expr) -> Expr:
        X = self.function(q)
        return ca.vertcat(ca.vec(X.E), X.r)


def _parts(y: Expr) -> tuple[Expr, Expr]:
    """E and r from the twelve entries of a placement."""
    return ca.reshape(y[:9], 3, 3), y[9:]
