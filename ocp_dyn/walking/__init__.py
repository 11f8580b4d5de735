"""Walking: bodies with feet, their steps, and what they cost; from any model to a `Problem`.

| body | made by | walks by |
|---|---|---|
| `Person`: a human body | `person`, `loaded_person` | `human_walk`, `Stand`, `step_phases` |
| `Biped`: a robot on two feet, flat or points | `biped` | `biped_walk` |
| `Quadruped`: a robot on four points | `quadruped` | `trot` |

Each body is data: its model, and methods that give footholds, path constraints and costs for problems of your own.
"""

from .._base.rooms import only_names as _only_names
from .biped import Biped as Biped
from .biped import biped as biped
from .biped_walk import biped_figures as biped_figures
from .biped_walk import biped_walk as biped_walk
from .by_muscles.activation_curves import activation_curves as activation_curves
from .by_muscles.activation_curves import plot_activations as plot_activations
from .by_muscles.falisse_effort import falisse_effort as falisse_effort
from .by_muscles.measured_guess import measured_guess as measured_guess
from .by_muscles.muscle_body import muscle_body as muscle_body
from .by_muscles.muscle_body import muscle_person as muscle_person
from .by_muscles.muscle_driven import muscle_driven as muscle_driven
from .by_muscles.muscle_driven import muscle_effort as muscle_effort
from .by_muscles.muscle_figures import muscle_figures as muscle_figures
from .by_muscles.muscle_timing import ELECTROMYOGRAMS as ELECTROMYOGRAMS
from .by_muscles.muscle_timing import MuscleGroup as MuscleGroup
from .by_muscles.muscle_timing import MuscleTiming as MuscleTiming
from .by_muscles.muscle_timing import muscle_timing as muscle_timing
from .by_muscles.muscle_tracking import muscle_tracking as muscle_tracking
from .by_muscles.muscle_walk import motorized as motorized
from .by_muscles.muscle_walk import muscle_walk as muscle_walk
from .by_muscles.weakening import is_even as is_even
from .by_muscles.weakening import weakened as weakened
from .compliant_feet import compliant_feet as compliant_feet
from .compliant_feet import compliant_walk_figures as compliant_walk_figures
from .effort.effort_costs import achilles_tendons as achilles_tendons
from .effort.effort_costs import human_effort as human_effort
from .effort.effort_costs import joint_groups as joint_groups
from .effort.effort_costs import motion_effort as motion_effort
from .effort.effort_costs import tissue_strength as tissue_strength
from .effort.effort_costs import with_calves as with_calves
from .effort.running import running_effort as running_effort
from .effort.running import running_tendons as running_tendons
from .found_feet import find_feet as find_feet
from .from_rest.jumping import ballistic_height as ballistic_height
from .from_rest.jumping import jump_figures as jump_figures
from .from_rest.jumping import unevenness as unevenness
from .from_rest.sitting import Chair as Chair
from .from_rest.sitting import both_arms as both_arms
from .from_rest.standing import standing_posture as standing_posture
from .from_rest.starting import phases_from_rest as phases_from_rest
from .from_rest.stepping import recovery_phases as recovery_phases
from .gaits.gait_table import plot_gait_table as plot_gait_table
from .gaits.gait_table import write_gait_table as write_gait_table
from .gaits.grid import GaitPoint as GaitPoint
from .gaits.grid import gait_grid as gait_grid
from .gaits.markers import SimulatedRecording as SimulatedRecording
from .gaits.markers import estimate_errors as estimate_errors
from .gaits.markers import human_markers as human_markers
from .gaits.markers import simulated_recording as simulated_recording
from .gaits.objections import Objection as Objection
from .gaits.objections import objections as objections
from .gaits.passive_walkers import KnownGait as KnownGait
from .gaits.passive_walkers import follow_slopes as follow_slopes
from .gaits.passive_walkers import passive_figures as passive_figures
from .gaits.passive_walkers import plot_passive_gait as plot_passive_gait
from .gaits.rabbit import ground_force as ground_force
from .gaits.rabbit import point_foot_figures as point_foot_figures
from .gaits.rabbit import rabbit as rabbit
from .gaits.rabbit import rabbit_example as rabbit_example
from .gaits.rabbit import rabbit_leg_change as rabbit_leg_change
from .gaits.rabbit import zero_dynamics_of_rabbit as zero_dynamics_of_rabbit
from .gaits.validation import ValidatedWalk as ValidatedWalk
from .gaits.validation import WalkCase as WalkCase
from .gaits.validation import bodies_of as bodies_of
from .gaits.validation import fitting_references as fitting_references
from .gaits.validation import preferred_speed as preferred_speed
from .gaits.validation import validated_walks as validated_walks
from .gaits.validation import validation_numbers as validation_numbers
from .gaits.validation import walk_cases as walk_cases
from .gaits.validation_report import plot_validation as plot_validation
from .gaits.validation_report import write_bodies as write_bodies
from .gaits.validation_report import write_validation as write_validation
from .gaits.zero_dynamics import VirtualConstraints as VirtualConstraints
from .gaits.zero_dynamics import ZeroDynamics as ZeroDynamics
from .gaits.zero_dynamics import fitted_constraints as fitted_constraints
from .gaits.zero_dynamics import optimal_constraints as optimal_constraints
from .gaits.zero_dynamics import phase_angle as phase_angle
from .gaits.zero_dynamics_pictures import plot_zero_dynamics as plot_zero_dynamics
from .human_feet import Feet as Feet
from .human_walk import human_walk as human_walk
from .margins import Margins as Margins
from .pace import Pace as Pace
from .pace import pace as pace
from .person import Person as Person
from .person import person as person
from .quadruped import Quadruped as Quadruped
from .quadruped import quadruped as quadruped
from .quadruped import trot as trot
from .report_figures import metabolism as metabolism
from .report_figures import peak_torques as peak_torques
from .report_figures import walk_figures as walk_figures
from .robots import as_built as as_built
from .robots import leg_length as leg_length
from .robots import light_joints as light_joints
from .robots import robot_figures as robot_figures
from .steps import Stand as Stand
from .steps import human_contact as human_contact
from .steps import stand_phase as stand_phase
from .steps import step_backward as step_backward
from .steps import step_forward as step_forward
from .steps import step_phases as step_phases
from .subjects.load_subject import load_subject as load_subject
from .subjects.loaded_person import loaded_person as loaded_person

_only_names(globals())
