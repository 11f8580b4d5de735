"""Muscles of a model: paths and their lengths, dynamics of activation and contraction, energetics.

They are algorithms for the data `model.muscles`: plain functions on SX, MX and DM, vectorized over the muscles.
`ocp.torque_sources` has muscles without paths, as torques of joints.

Its page is README.md beside this file.
"""

from .._base.rooms import only_names as _only_names
from .activation import activation_rate as activation_rate
from .activation import activation_rate_limits as activation_rate_limits
from .contraction import MuscleForces as MuscleForces
from .contraction import equilibrium as equilibrium
from .contraction import fiber_state as fiber_state
from .contraction import rigid_tendon as rigid_tendon
from .contraction import shortest_fiber as shortest_fiber
from .contraction import tendon_state as tendon_state
from .curves import DeGrooteFreglyCurves as DeGrooteFreglyCurves
from .curves import MillardCurves as MillardCurves
from .curves import MixedCurves as MixedCurves
from .curves import MuscleCurves as MuscleCurves
from .curves import RigidTendonCurves as RigidTendonCurves
from .curves import SchutteCurves as SchutteCurves
from .curves import ThelenCurves as ThelenCurves
from .energetics import Bhargava2004 as Bhargava2004
from .energetics import Margaria1968 as Margaria1968
from .energetics import MuscleEnergetics as MuscleEnergetics
from .energetics import Uchida2016 as Uchida2016
from .energetics import Umberger2003 as Umberger2003
from .energetics import Umberger2010 as Umberger2010
from .energetics import body_rate as body_rate
from .energetics import muscle_mass as muscle_mass
from .fault_report import muscle_faults as muscle_faults
from .hill_muscles import HillMuscles as HillMuscles
from .joint_loads import compartment_forces as compartment_forces
from .joint_loads import joint_reaction as joint_reaction
from .joint_loads import muscle_wrenches as muscle_wrenches
from .path_algorithms import moment_arms as moment_arms
from .path_algorithms import muscle_lengths as muscle_lengths
from .path_algorithms import muscle_speeds as muscle_speeds
from .path_algorithms import muscle_torques as muscle_torques
from .path_geometry import PathGeometry as PathGeometry
from .path_geometry import path_geometry as path_geometry
from .path_geometry import path_lines as path_lines
from .path_report import PathFault as PathFault
from .path_report import coupled_coordinates as coupled_coordinates
from .path_report import path_faults as path_faults
from .path_report import path_report as path_report
from .paths.smooth_path import SmoothPath as SmoothPath

_only_names(globals())
