"""Formulations for real-time dynamics in dependent coordinates [GJB94]: Garcia de Jalon and Bayo, Kinematic and Dynamic
Simulation of Multibody Systems, 1994, chapter 8.

Independent velocities of an open chain, the book's z, are the library's qd. Dependent velocities follow from them by
the velocity transformation R:

    xd = R qd,   xdd = R qdd + Sc,      R' M R qdd = R' (Q - M Sc).                                       (8.34-8.38)
"""

from .._base.rooms import only_names as _only_names
from .closed.branches import OpenedChain as OpenedChain
from .closed.by_cut_joints import closed_chain_dynamics as closed_chain_dynamics
from .closed.by_removed_bodies import closed_chain_dynamics_a as closed_chain_dynamics_a
from .closed.independent_coordinates import IndependentCoordinates as IndependentCoordinates
from .closed.independent_coordinates import SingularPositionError as SingularPositionError
from .closed.independent_coordinates import dependent_q as dependent_q
from .closed.independent_coordinates import dependent_qd as dependent_qd
from .closed.independent_coordinates import independent_coordinates as independent_coordinates
from .closed.independent_coordinates import independent_transformation as independent_transformation
from .closed.opening import open_by_removing as open_by_removing
from .cut_joints import closing_jacobian as closing_jacobian
from .dependent_dynamics import natural_forward_dynamics as natural_forward_dynamics
from .formulation_a import forward_dynamics_formulation_a as forward_dynamics_formulation_a
from .formulation_a import projected_equations_a as projected_equations_a
from .formulation_a import velocity_products_a as velocity_products_a
from .formulation_a import velocity_transformation_a as velocity_transformation_a
from .joint_coordinates import natural_from_q as natural_from_q
from .joint_coordinates import natural_velocity as natural_velocity
from .joint_coordinates import q_from_natural as q_from_natural
from .joint_coordinates import qd_from_natural as qd_from_natural
from .natural_coordinates import NaturalCoordinates as NaturalCoordinates
from .natural_coordinates import NaturalElement as NaturalElement
from .natural_dynamics import natural_constraints as natural_constraints
from .natural_dynamics import natural_force as natural_force
from .natural_dynamics import natural_jacobian as natural_jacobian
from .natural_dynamics import natural_jacobian_rate as natural_jacobian_rate
from .natural_dynamics import natural_mass_matrix as natural_mass_matrix
from .natural_from_model import natural as natural
from .operation_stages import Stages as Stages
from .operation_stages import stages as stages
from .operation_stages import stages_a as stages_a
from .runge_kutta_motion import runge_kutta_motion as runge_kutta_motion
from .simulation.motion import NaturalMotion as NaturalMotion
from .simulation.motion import StepError as StepError
from .simulation.run import trapezoidal_motion as trapezoidal_motion
from .simulation.trapezoidal_rule import trapezoidal_step as trapezoidal_step
from .trajectory import IntegrationError as IntegrationError
from .trajectory import Trajectory as Trajectory
from .velocity_transformations import dependent_velocity as dependent_velocity
from .velocity_transformations import forward_dynamics_formulation_b as forward_dynamics_formulation_b
from .velocity_transformations import projected_equations as projected_equations
from .velocity_transformations import velocity_products as velocity_products
from .velocity_transformations import velocity_transformation as velocity_transformation

_only_names(globals())
