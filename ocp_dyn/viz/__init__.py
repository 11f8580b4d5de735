"""Pictures of models and of solved motions: a viewer in the browser, animations, plots over the gait cycle, strips of
stick figures; patterns of matrices.

The functions do not change matplotlib's global state, and matplotlib is loaded only when something is drawn. Notebooks
show the figures and animations that they return.
"""

from .._base.rooms import only_names as _only_names
from ..gait.bodies import Point as Point
from ..gait.bodies import locate as locate
from . import gait_curves as _gait_curves  # noqa: F401, registers the figure of a gait
from .animation import animate as animate
from .cycle import plot_gait_cycle as plot_gait_cycle
from .gait_comparison import plot_differences as plot_differences
from .gait_comparison import plot_gaits as plot_gaits
from .overview import overview as overview
from .panels import Band as Band
from .pictures.mechanism import plot_model as plot_model
from .pictures.refinement import plot_refinement as plot_refinement
from .pictures.simulations import animate_simulation as animate_simulation
from .pictures.simulations import plot_constraint_errors as plot_constraint_errors
from .pictures.simulations import plot_energy as plot_energy
from .pictures.spy import spy as spy
from .pictures.strength import plot_strength as plot_strength
from .plots import plot as plot
from .plots import plot_angles as plot_angles
from .plots import plot_forces as plot_forces
from .plots import plot_motion as plot_motion
from .plots import plot_powers as plot_powers
from .plots import plot_torques as plot_torques
from .portrait import plot_multipliers as plot_multipliers
from .portrait import plot_phase_portrait as plot_phase_portrait
from .skeleton import Segment as Segment
from .skeleton import skeleton as skeleton
from .strip import stick_figure as stick_figure
from .viewer.handle import Viewer as Viewer
from .viewer.show import show as show

_only_names(globals())
