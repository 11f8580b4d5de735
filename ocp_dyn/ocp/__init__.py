"""Optimal control of motions in phases: `Problem`, `Phase`, footholds, terms, `Solution`."""

from .mirror import MirrorMap as MirrorMap
from .mirror import mirror_map as mirror_map
from .problem import Boundary as Boundary
from .problem import Continuous as Continuous
from .problem import Impact as Impact
from .problem import Periodic as Periodic
from .problem import Phase as Phase
from .problem import Problem as Problem
from .solution import Defects as Defects
from .solution import PhaseSolution as PhaseSolution
from .solution import Solution as Solution
from .solver import solve as solve
from .stage import Foothold as Foothold
from .stage import Stage as Stage
from .terms import AccelerationSquared as AccelerationSquared
from .terms import CentreOfPressure as CentreOfPressure
from .terms import Clearance as Clearance
from .terms import ForceSquared as ForceSquared
from .terms import FrictionCone as FrictionCone
from .terms import Integral as Integral
from .terms import JointAngleSquared as JointAngleSquared
from .terms import Path as Path
from .terms import Separation as Separation
from .terms import TorqueRateSquared as TorqueRateSquared
from .terms import TorqueSquared as TorqueSquared
from .terms import Unilateral as Unilateral
