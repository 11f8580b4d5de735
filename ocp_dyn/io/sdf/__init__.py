"""SDFormat, the files of Gazebo: `read_sdf` and `load_sdf`.

| module | contents |
|---|---|
| `reader` | the two functions, and `SdfFile`, what they find |
| `frames` | poses of links, joints and frames in their model |
| `joints` | joints, their limits and springs, and the loops that they close |
| `texts` | checked numbers and words in elements |
"""

from .reader import SdfFile as SdfFile
from .reader import load_sdf as load_sdf
from .reader import parse_sdf as parse_sdf
from .reader import read_sdf as read_sdf
