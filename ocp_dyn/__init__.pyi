from ._names import *

__version__: str
