"""Dynamics under constraints: accelerations, constraint forces, impacts [RBDA, ch. 8; F16, sec. 2.4-2.6].

    H qdd + C = tau + G' lam,   G qdd = gamma;      H (qd_plus - qd) = G' Lam,   G qd_plus = -e G qd.

Redundant constraint sets (a flat foot held at four points) leave qdd unique and lam one of many
distributions; `constraint_rank` tells, and `solver=` chooses how they are shared: see `solvers`.
"""

from .assembly import AssemblyError as AssemblyError
from .assembly import assemble_q as assemble_q
from .assembly import assemble_qd as assemble_qd
from .derivatives import constrained_dynamics_derivatives as constrained_dynamics_derivatives
from .derivatives import impact_derivatives as impact_derivatives
from .dynamics import constrained_dynamics as constrained_dynamics
from .dynamics import constrained_equations as constrained_equations
from .dynamics import impact as impact
from .inverse import constrained_inverse_dynamics as constrained_inverse_dynamics
from .inverse import constraint_rank as constraint_rank
from .inverse import is_fully_actuated as is_fully_actuated
from .solvers import SOLVERS as SOLVERS
