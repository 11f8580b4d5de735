"""A model becomes that of a subject, as in OpenSim's Scale Tool.

| module | holds |
|---|---|
| `measurements` | factors of bodies from distances between markers |
| `segments`, `stretches`, `parts`, `inertias`, `posture` | the scaled model |
| `placing` | markers, moved to where a static trial has them |
| `subject` | all of it in one call |
| `setup_files` | setup files of the Scale Tool |
"""

from .measurements import Measurement as Measurement
from .measurements import segment_factors as segment_factors
from .measurements import whole_body_measurement as whole_body_measurement
from .placing import place_markers as place_markers
from .segments import scale_segments as scale_segments
from .setup_files import read_marker_set as read_marker_set
from .setup_files import read_scale_setup as read_scale_setup
from .subject import ScaledSubject as ScaledSubject
from .subject import ScaleSetup as ScaleSetup
from .subject import scaled_to as scaled_to
