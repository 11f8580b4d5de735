"""What every joint model offers, and the joint that does not move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from casadi import DM

from .._types import Array, Expr, shown
from ..spatial import Transform


class JointState(NamedTuple):
    """What `Joint.jcalc` returns."""

    XJ: Transform
    S: Expr
    vJ: Expr
    cJ: Expr


class Joint(ABC):
    """One joint model. `q_labels`, `v_labels` name its entries; sizes follow from them."""

    q_labels: tuple[str, ...]
    v_labels: tuple[str, ...]

    @property
    def nq(self) -> int:
        return len(self.q_labels)

    @property
    def nv(self) -> int:
        return len(self.v_labels)

    @abstractmethod
    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        """XJ, S, vJ, cJ at positions q (nq) and velocities qd (nv; structurally empty when at rest)."""

    def chain(self) -> tuple[Joint, ...]:
        """The 1-dof joints that, one after the other, move as this one does, with the same q and qd."""
        if self.nq == self.nv == 1:
            return (self,)
        raise ValueError(f"{shown(self)} is no chain of 1-dof joints: give its axes as MultiDof(axes)")

    def scaled(self, length: float) -> Joint:
        """The joint of a mechanism `length` times as large; entries of q that are lengths grow with it."""
        return self

    # What follows is right for a joint whose configuration space is R^n; others override it.

    def q_dot(self, q: Expr, qd: Expr) -> Expr:
        """dq/dt (nq)."""
        return qd

    def integrate(self, q: Expr, v: Expr) -> Expr:
        """The position reached from q with constant velocity v over unit time (exact)."""
        return q + v

    def difference(self, q0: Expr, q1: Expr) -> Expr:
        """The v (nv) with `integrate(q0, v) = q1`."""
        return q1 - q0

    def tangent_rate(self, theta: Expr, v: Expr) -> Expr:
        """d(theta)/dt (nv) along `q = integrate(q0, theta)`, q0 fixed, where the velocity is v."""
        return v

    def neutral(self) -> Array:
        """The position in which the moved frame coincides with the fixed one."""
        return np.zeros(self.nq)

    def random_q(self, rng: np.random.Generator) -> Array:
        """A random valid position, angles and lengths within (-1, 1)."""
        return rng.uniform(-1.0, 1.0, self.nq)


@dataclass(frozen=True)
class Fixed(Joint):
    """No motion. A body on it is merged into the body it is fixed to and stays a named frame."""

    q_labels = v_labels = ()

    def jcalc(self, q: Expr, qd: Expr) -> JointState:
        return JointState(Transform.identity(), DM(6, 0), DM(6, 1), DM(6, 1))
