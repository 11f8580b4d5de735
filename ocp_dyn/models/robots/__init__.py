"""Robots from files: the URDFs of the package example-robot-data, by name. `pip install "ocp_dyn[robots]"` installs it.

od.robots.names("humanoid")             # alphabetical
talos = od.robots.load("talos")         # on a floating base
feet = od.robots.contacts("talos")      # flat feet for a humanoid, points for a quadruped
od.robots.path("talos")                 # the URDF, for other libraries
"""

from ..._base.rooms import only_names as _only_names
from .load import contacts as contacts
from .load import describe as describe
from .load import folder as folder
from .load import installed as installed
from .load import load as load
from .load import names as names
from .load import path as path
from .load import shapes as shapes
from .table import Kind as Kind
from .table import Robot as Robot

_only_names(globals())
