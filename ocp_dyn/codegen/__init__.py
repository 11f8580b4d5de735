"""C code of Functions: `export` writes files with a readable interface, `compile` runs machine code in this process."""

from .._base.rooms import only_names as _only_names
from ..functions.conventions import model_digest as model_digest
from .c_export.controller import ControllerParts as ControllerParts
from .c_export.controller import export_controller as export_controller
from .c_export.estimates import EffortWarning as EffortWarning
from .c_export.export import export as export
from .c_export.export import generate as generate
from .compiled.arrays import Lanes as Lanes
from .compiled.arrays import Pattern as Pattern
from .compiled.batch import Buffer as Buffer
from .compiled.batch import CompiledFunction as CompiledFunction
from .compiled.compile import Compiled as Compiled
from .compiled.compile import compile as compile
from .text.emit import emit as emit

_only_names(globals())
