"""C code of Functions: `export` writes files with a readable interface, `compile` runs machine code in this process."""

from .._types import only_names as _only_names
from ..casadi_functions.conventions import model_digest as model_digest
from .c_export.effort import EffortWarning as EffortWarning
from .c_export.export import export as export
from .c_export.export import generate as generate
from .kernels.emit import emit as emit
from .machine_code.arrays import Lanes as Lanes
from .machine_code.arrays import Pattern as Pattern
from .machine_code.batch import Buffer as Buffer
from .machine_code.batch import CompiledFunction as CompiledFunction
from .machine_code.compile import Compiled as Compiled
from .machine_code.compile import compile as compile

_only_names(globals())
