"""Joint models behind one protocol, `jcalc`: the only polymorphism of the library [RBDA, 4.4].

A joint of `nv` degrees of freedom turns its positions q (nq) and velocity variables qd (nv) into

    XJ   transform from the joint's fixed frame to its moved frame,
    S    motion subspace, 6 x nv, in moved coordinates,
    vJ   S qd, the velocity across the joint,
    cJ   (apparent dS/dt) qd, the velocity-product acceleration,

so that `v = X v_p + vJ` and `a = X a_p + S qdd + cJ + v x vJ`. A new kind of joint is a new class
derived from `Joint`, or a function for `CustomJoint`; the algorithms need no change.

| module | contents |
|---|---|
| `protocol` | `Joint`, the interface of every joint model, and `Fixed` |
| `one_dof` | `Revolute`, `Prismatic`, `Helical` |
| `multiple` | `Translation`, `Cylindrical`, `Universal`, `Euler`, `MultiDof`: qd is dq/dt |
| `free` | `Spherical`, `Planar`, `FloatingBase`: quaternions |
| `functions`, `splines` | functions of coordinates as data: polynomials and the like; those given by points |
| `function_joint` | `FunctionJoint`, which moves by such functions |
| `custom_joint` | `CustomJoint`, a joint given as a function of q |
| `subspace_derivatives` | derivatives of S, vJ and cJ for joints whose S depends on q |
"""

from .custom_joint import CustomJoint as CustomJoint
from .free import FloatingBase as FloatingBase
from .free import Planar as Planar
from .free import Spherical as Spherical
from .function_joint import FunctionJoint as FunctionJoint
from .function_joint import JointAxis as JointAxis
from .functions import ConstantFunction as ConstantFunction
from .functions import LinearFunction as LinearFunction
from .functions import PolynomialFunction as PolynomialFunction
from .functions import ScalarFunction as ScalarFunction
from .functions import ScaledFunction as ScaledFunction
from .functions import SineFunction as SineFunction
from .multiple import EULER_ORDERS as EULER_ORDERS
from .multiple import Cylindrical as Cylindrical
from .multiple import Euler as Euler
from .multiple import MultiDof as MultiDof
from .multiple import Translation as Translation
from .multiple import Universal as Universal
from .one_dof import Helical as Helical
from .one_dof import Prismatic as Prismatic
from .one_dof import Revolute as Revolute
from .one_dof import one_dof as one_dof
from .protocol import Fixed as Fixed
from .protocol import Joint as Joint
from .protocol import JointState as JointState
from .splines import NaturalSpline as NaturalSpline
from .splines import PiecewiseLinearFunction as PiecewiseLinearFunction
from .splines import SimmSpline as SimmSpline
