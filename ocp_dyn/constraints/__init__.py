"""Constraints on the motion: phi(q) = 0, G qd = 0, G qdd = gamma [F16, sec. 2.2].

    G = dphi/dq (along qd),   gamma = -(dG/dt) qd,   H qdd + C = tau + G' lam,

`lam` acts on the robot. A constraint set is a tuple of constraints; its rows are stacked in that order.
One protocol, `Constraint`, serves every algorithm; a new kind of constraint is a new class.

| module | contents |
|---|---|
| `sets` | `Constraint`, the interface; phi, G, gamma, names and forces of a constraint set |
| `contact` | `Contact`; sets of contacts at points, edges and plane soles |
| `rolling` | `RollingContact`: a sphere or cylinder that rolls on a plane |
| `loop` | `Loop`: closure of a kinematic loop |
| `custom_constraint` | `CustomConstraint` from a function, `JointCoupling`, `LockedJoint`; `Baumgarte` stabilization |
| `couplings` | `CoordinateCoupling` by a function given as data, `PointDistance` |
| `mimic` | joints that follow others: as constraints, or eliminated from the coordinates |
| `constraint_parameters` | points and radii of constraints as inputs |

[F16] M. Felis, RBDL: an efficient rigid-body dynamics library, Autonomous Robots 2016.
"""

from .constraint_parameters import in_every_set as in_every_set
from .constraint_parameters import is_set as is_set
from .constraint_parameters import with_constraint_parameters as with_constraint_parameters
from .contact import Contact as Contact
from .contact import edge_contacts as edge_contacts
from .contact import plane_contacts as plane_contacts
from .contact import point_contacts as point_contacts
from .couplings import CoordinateCoupling as CoordinateCoupling
from .couplings import PointDistance as PointDistance
from .custom_constraint import Baumgarte as Baumgarte
from .custom_constraint import CustomConstraint as CustomConstraint
from .custom_constraint import JointCoupling as JointCoupling
from .custom_constraint import LockedJoint as LockedJoint
from .loop import Loop as Loop
from .mimic import MimicMap as MimicMap
from .mimic import mimic_constraints as mimic_constraints
from .mimic import mimic_map as mimic_map
from .rolling import RollingContact as RollingContact
from .sets import Constraint as Constraint
from .sets import Constraints as Constraints
from .sets import ConstraintSet as ConstraintSet
from .sets import as_set as as_set
from .sets import constraint_hessian as constraint_hessian
from .sets import constraint_jacobian as constraint_jacobian
from .sets import constraint_magnitudes as constraint_magnitudes
from .sets import constraint_names as constraint_names
from .sets import constraint_position as constraint_position
from .sets import constraint_rows as constraint_rows
from .sets import constraint_velocity as constraint_velocity
from .sets import constraint_wrenches as constraint_wrenches
from .sets import split_forces as split_forces
