"""RBDL's Lua models: `load_rbdl`, `parse_rbdl`, `rbdl_constraint_sets`.

| module | contents |
|---|---|
| `lua` | tables of a Lua file, read as data |
| `fields` | fields of tables with their checks |
| `reader` | the model |
| `constraint_sets` | contacts and loops |
"""

from .reader import load_rbdl as load_rbdl
from .reader import parse_rbdl as parse_rbdl
from .reader import rbdl_constraint_sets as rbdl_constraint_sets
