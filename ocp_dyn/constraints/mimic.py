"""Joints that mimic others: as constraints, or left out of the coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from casadi import DM

from .._base.types import exact
from ..mechanism import Mimic, Model
from ..mechanism.boundary import checks_arguments
from .custom_constraint import JointCoupling
from .sets import ConstraintSet


@checks_arguments()
def mimic_constraints(model: Model) -> ConstraintSet[JointCoupling]:
    """A coupling q_joint = ratio q_other + offset for every entry of `model.mimics`, to add to any constraint set.

    Empty where no joint mimics another.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("finger", od.Revolute("y"), mass=1)
    >>> builder.add_body("thumb", od.Revolute("y"), mass=1)
    >>> builder.add_mimic("thumb_joint", "finger_joint", ratio=-1)
    >>> [coupling.ratio for coupling in od.mimic_constraints(builder.build())]
    [-1.0]
    """
    return ConstraintSet([JointCoupling(m.joint, m.other, m.ratio, m.offset) for m in model.mimics])


class MimicMap(NamedTuple):
    """Coordinates without the joints that mimic others: `q = A_q q_min + b`, `qd = A qd_min`."""

    A: DM
    """nv x nv_min."""
    b: DM
    """nq."""
    A_q: DM
    """nq x nq_min; A itself where nq = nv."""


@checks_arguments()
def mimic_map(model: Model) -> MimicMap:
    """The velocity transformation that eliminates `model.mimics` [GJB94, sec. 5.3]: with a constant A,

        H_min = A' H A,   C_min = A' C,   tau_min = A' tau,   H_min qdd_min + C_min = tau_min,

    exactly what the couplings as constraints give, without their forces. A joint that mimics one that mimics a
    third follows the third. q_min and qd_min hold the remaining entries in the model's order; quaternions stay whole.

    >>> builder = od.ModelBuilder()
    >>> builder.add_body("finger", od.Revolute("y"), mass=1)
    >>> builder.add_body("thumb", od.Revolute("y"), mass=1)
    >>> builder.add_mimic("thumb_joint", "finger_joint", ratio=-1)
    >>> od.mimic_map(builder.build()).A  # qd of both from that of the finger
    DM([1, -1])
    """
    follows = {m.joint: _composed(model, m) for m in model.mimics}

    def matrix(size: int, where: str) -> tuple[DM, list[int]]:
        """Identity without the columns of the joints that follow, and their rows by ratio; their rows' indices."""
        at = {name: getattr(model, where)(name).start for name in (*follows, *(m.other for m in follows.values()))}
        A, rows = np.eye(size), [at[name] for name in follows]
        for name, m in follows.items():
            A[at[name], at[m.other]] = m.ratio
        return exact(np.delete(A, rows, axis=1)), rows

    A, _ = matrix(model.nv, "qd_slice")
    A_q, rows = matrix(model.nq, "q_slice")
    b = np.zeros(model.nq)
    b[rows] = [m.offset for m in follows.values()]
    return MimicMap(A, exact(b), A_q)


def _composed(model: Model, mimic: Mimic) -> Mimic:
    """The mimic with chains resolved, so that its other joint follows none: q = r1 (r2 q_other + o2) + o1 and so on."""
    by_name = {m.joint: m for m in model.mimics}
    while mimic.other in by_name:
        step = by_name[mimic.other]
        mimic = Mimic(mimic.joint, step.other, mimic.ratio * step.ratio, mimic.ratio * step.offset + mimic.offset)
    return mimic
