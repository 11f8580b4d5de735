"""Functions as C: `export` writes files with a header a person can read, `compile` runs them in this process."""

from .batch import Buffer as Buffer
from .batch import CompiledFunction as CompiledFunction
from .compile import Compiled as Compiled
from .compile import compile as compile
from .emit import emit as emit
from .export import export as export
from .export import generate as generate
