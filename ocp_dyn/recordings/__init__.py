"""Recordings: markers, forces, angles and orientations over time, from files and to files.

Its page is README.md beside this file.
"""

from .._base.rooms import only_names as _only_names
from .events import Events as Events
from .events import cycles as cycles
from .events import events_from_forces as events_from_forces
from .events import events_from_markers as events_from_markers
from .files import read as read
from .files import read_c3d as read_c3d
from .files import write as write
from .fit_motion import fit_motion as fit_motion
from .forces import force_table as force_table
from .forces import ground_forces as ground_forces
from .forces import on_feet as on_feet
from .forces import pressure_centers as pressure_centers
from .formats.c3d import Capture as Capture
from .moments import NetMoments as NetMoments
from .moments import net_moments as net_moments
from .motion import FittedMotion as FittedMotion
from .recording import Recording as Recording
from .scaling import Measurement as Measurement
from .scaling import ScaledSubject as ScaledSubject
from .scaling import ScaleSetup as ScaleSetup
from .scaling import place_markers as place_markers
from .scaling import read_marker_set as read_marker_set
from .scaling import read_scale_setup as read_scale_setup
from .scaling import scale_segments as scale_segments
from .scaling import scaled_to as scaled_to
from .scaling import segment_factors as segment_factors
from .scaling import whole_body_measurement as whole_body_measurement
from .setups import read_external_loads as read_external_loads
from .setups import read_weights as read_weights
from .static import picture as _picture  # noqa: F401 - registers the figure
from .static.estimate import MuscleEstimate as MuscleEstimate
from .static.optimization import static_optimization as static_optimization

_only_names(globals())
