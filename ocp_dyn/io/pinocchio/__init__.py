"""`pinocchio.Model` objects in memory: `from_pinocchio`. Nothing here imports Pinocchio."""

from .reader import from_pinocchio as from_pinocchio
from .reader import is_pinocchio as is_pinocchio
