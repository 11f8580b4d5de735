"""Dynamics under constraints: accelerations, constraint forces, impacts [RBDA, ch. 8; F16, sec. 2.2, 2.3].

    H qdd + C = tau + G' lam,   G qdd = gamma;      H (qd_plus - qd) = G' Lam,   G qd_plus = -e G qd.

If rows of a constraint set depend on others (a flat foot held at four points), qdd is still unique, but lam is not:
`constraint_rank` counts the independent rows, and `solver=` chooses how the forces are shared, see `solvers`.

| module | contents |
|---|---|
| `dynamics` | constrained forward dynamics, impacts, and the matrices H, C, G, gamma together |
| `solvers` | five solvers of the linear equations of constrained motion |
| `independent_rows`, `groups`, `row_units` | independent rows in place of rows that may depend on each other |
| `reflections` | orthogonal factors of small dense matrices |
| `inverse_dynamics` | constrained inverse dynamics; rank of G, and whether a system is fully actuated |
| `derivatives`, `second_derivatives` | derivatives of constrained dynamics, also second ones, and of impacts |
| `contact_frames`, `rows` | derivatives of the motion of frames, and of the rows of each kind of constraint |
| `assembly` | states q, qd that satisfy the constraints, in numbers |
"""

from .assembly import AssemblyError as AssemblyError
from .assembly import assemble_q as assemble_q
from .assembly import assemble_qd as assemble_qd
from .derivatives import constrained_dynamics_derivatives as constrained_dynamics_derivatives
from .derivatives import impact_derivatives as impact_derivatives
from .dynamics import constrained_dynamics as constrained_dynamics
from .dynamics import constrained_equations as constrained_equations
from .dynamics import impact as impact
from .inverse_dynamics import constrained_inverse_dynamics as constrained_inverse_dynamics
from .inverse_dynamics import constraint_rank as constraint_rank
from .inverse_dynamics import is_fully_actuated as is_fully_actuated
from .solvers import SOLVERS as SOLVERS
