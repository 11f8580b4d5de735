"""The frozen model of an articulated mechanism, and copies of it with something changed."""

from .model import Model as Model
from .parts import DofData as DofData
from .parts import FileJoint as FileJoint
from .parts import Frame as Frame
from .parts import Mimic as Mimic
