"""bioMod, the models of biorbd and bioptim: `load_biomod` and `parse_biomod`.

| module | contents |
|---|---|
| `tokens` | the words of a file with their lines, without comments |
| `placements` | places, as angles or matrices |
| `muscles` | groups, muscles, points and half cylinders on their paths |
| `reader` | the two functions |
"""

from .reader import load_biomod as load_biomod
from .reader import parse_biomod as parse_biomod
