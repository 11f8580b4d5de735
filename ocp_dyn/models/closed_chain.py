"""Mechanisms with closed loops: an open tree, the loops that close it, and a state in which they are closed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from casadi import DM

from .._base.display import Displayed, folded, show
from .._base.types import Array, finite_vector, repr_in_message
from ..constrained_motion import assemble_q, assemble_qd, constraint_rank
from ..constraints import (
    Constraints,
    ConstraintSet,
    as_set,
    constraint_names,
    constraint_position,
)
from ..constraints.sets import card_html
from ..mechanism import Model

CLOSED = 1e-6
"""Largest error at which a loop counts as closed [m, sine of an angle]."""


@dataclass(frozen=True, eq=False)
class ClosedChain(Displayed):
    """A mechanism with closed loops, cut into an open tree.

    model: the tree, joints where nothing is cut. loops: the constraints that close it, `od.Loop`s at the cut joints,
    one or a tuple. q (nq): an assembled configuration. qd (nv): a velocity there that keeps the loops closed, zero if
    left out; where a published problem has a start, q and qd are that start. The arrays are read-only. ValueError where
    a loop is open at q.

        chain = od.models.bricard()
        qdd, lam = od.function(od.constrained_dynamics, chain.model, chain.loops)(chain.q, chain.qd, tau)

    >>> chain = od.models.n_four_bar(2)
    >>> od.constraint_position(chain.model, chain.loops, chain.q)  # closed at the start
    DM([0, 0, 0, 0])
    """

    model: Model
    loops: Constraints
    q: Array
    qd: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise TypeError(f"ClosedChain model must be a Model, the open tree, got {repr_in_message(self.model)}")
        object.__setattr__(self, "loops", ConstraintSet(as_set(self.loops)))
        q = finite_vector(self.q, self.model.nq, "ClosedChain q", names=self.model.q_names).copy()
        rates = self.qd if np.size(self.qd) else np.zeros(self.model.nv)
        qd = finite_vector(rates, self.model.nv, "ClosedChain qd", names=self.model.qd_names)
        for name, value in (("q", q), ("qd", qd.copy())):
            value.setflags(write=False)
            object.__setattr__(self, name, value)
        self._check_closed()

    def _check_closed(self) -> None:
        """ValueError unless the loops are closed at q. Models with symbols pass."""
        if self.model.has_symbols:
            return
        for loop, name in zip(as_set(self.loops), constraint_names(self.loops), strict=True):
            phi = np.array(constraint_position(self.model, (loop,), DM(self.q)).full()).ravel()
            if not np.all(np.abs(phi) <= CLOSED):
                raise ValueError(
                    f"ClosedChain: loop {repr_in_message(name)} is open at q, by {np.abs(phi).max():.3g} [m, sine of "
                    "an angle]: close it first, q=od.assemble_q(model, loops, q)"
                )

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.model.name

    def _card_html(self) -> str:
        loops = folded("loops", card_html(self.loops), opened=True)
        return self.model._card_html() + f"<div>{self.mobility()}</div>" + loops

    def show(self, q: Any = None, **options: Any) -> Any:
        """Shows the mechanism in the browser, with a slider for every joint; its loops stay closed when one is moved.

        q: start (default: the assembled configuration). Returns the running viewer; see `ocp_dyn.viz.show`.
        """
        return show(self, q, **options)

    def mobility(self) -> str:
        """The degrees of freedom as a text."""
        count = self.degrees_of_freedom()
        return f"{count} degree{'s' if count > 1 else ''} of freedom"

    def degrees_of_freedom(self, q: Any = None) -> int:
        """nv - rank(G) at q (default: the chain's own): the number of independent velocities.

        Redundant rows do not count. At singular positions it is larger than in general position.
        """
        return self.model.nv - constraint_rank(self.model, self.loops, self.q if q is None else q)

    def assemble(self, q0: Any, qd0: Any = None) -> tuple[Array, Array]:
        """(q, qd) nearest to (q0, qd0) that keep the loops closed; `AssemblyError` if none is found."""
        q = assemble_q(self.model, self.loops, q0)
        return q, assemble_qd(self.model, self.loops, q, np.zeros(self.model.nv) if qd0 is None else qd0)
