"""Functions as C: `export` writes source files with a header a person can read."""

from .export import export as export
from .export import generate as generate
