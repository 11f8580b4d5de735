"""SDFormat, the files of Gazebo: `load_sdf` and `parse_sdf`.

| module | contents |
|---|---|
| `reader` | the two functions |
| `included` | models of other files in the places of their includes |
| `frames` | poses of models, links, joints and frames in the world |
| `joints` | joints, their limits and springs, and the loops that they close |
| `texts` | checked numbers and words in elements |
"""

from .reader import load_sdf as load_sdf
from .reader import parse_sdf as parse_sdf
