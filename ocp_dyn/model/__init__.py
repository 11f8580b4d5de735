"""The frozen model of an articulated mechanism, and copies of it with something changed."""

from .parts import DofData as DofData
from .parts import Frame as Frame
from .tree import Model as Model
