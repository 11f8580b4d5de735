"""From a recording to a problem whose solution follows it and obeys the equations of motion.

| module | holds |
|---|---|
| `track` | `track`: the problem of a recorded motion |
| `stances` | which foot is on the ground when, with and without a force plate; the stride; the phases |
| `curves` | curves of time as references of phases and as first guess |
| `coordinates` | joints that follow others, constraints, and joints without a motor |
| `errors` | `tracking_errors`: how near a solution is to what it follows |
"""

from .errors import TrackingErrors as TrackingErrors
from .errors import tracking_errors as tracking_errors
from .terms import MeasurementErrors as MeasurementErrors
from .track import track as track
