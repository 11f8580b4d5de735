"""Rigid-body dynamics on CasADi, and optimal control of walking."""

from ._types import ModelError as ModelError
from .builder import ModelBuilder as ModelBuilder
from .builder import random_tree as random_tree
from .joints import Euler as Euler
from .joints import Fixed as Fixed
from .joints import FloatingBase as FloatingBase
from .joints import Joint as Joint
from .joints import Planar as Planar
from .joints import Prismatic as Prismatic
from .joints import Revolute as Revolute
from .joints import Spherical as Spherical
from .joints import Translation as Translation
from .model import Frame as Frame
from .model import Model as Model
from .spatial import Inertia as Inertia
from .spatial import Transform as Transform
