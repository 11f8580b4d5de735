"""The names of the library: `ocp_dyn.NAME` is what this module imports, and nothing else."""

from . import codegen as codegen
from . import formulations as formulations
from . import io as io
from . import models as models
from . import ocp as ocp
from . import viz as viz
from ._types import ModelError as ModelError
from ._types import ModelWarning as ModelWarning
from .casadi_functions.function import function as function
from .casadi_functions.quantities import Quantity as Quantity
from .casadi_functions.signature import Signature as Signature
from .casadi_functions.signature import algorithm as algorithm
from .constrained_motion import AssemblyError as AssemblyError
from .constrained_motion import assemble_q as assemble_q
from .constrained_motion import assemble_qd as assemble_qd
from .constrained_motion import constrained_dynamics as constrained_dynamics
from .constrained_motion import constrained_dynamics_derivatives as constrained_dynamics_derivatives
from .constrained_motion import constrained_equations as constrained_equations
from .constrained_motion import constrained_inverse_dynamics as constrained_inverse_dynamics
from .constrained_motion import constraint_rank as constraint_rank
from .constrained_motion import impact as impact
from .constrained_motion import impact_derivatives as impact_derivatives
from .constrained_motion import is_fully_actuated as is_fully_actuated
from .constraints import Baumgarte as Baumgarte
from .constraints import Constraint as Constraint
from .constraints import ConstraintSet as ConstraintSet
from .constraints import Contact as Contact
from .constraints import CustomConstraint as CustomConstraint
from .constraints import JointCoupling as JointCoupling
from .constraints import LockedJoint as LockedJoint
from .constraints import Loop as Loop
from .constraints import RollingContact as RollingContact
from .constraints import constraint_hessian as constraint_hessian
from .constraints import constraint_jacobian as constraint_jacobian
from .constraints import constraint_magnitudes as constraint_magnitudes
from .constraints import constraint_names as constraint_names
from .constraints import constraint_position as constraint_position
from .constraints import constraint_rows as constraint_rows
from .constraints import constraint_velocity as constraint_velocity
from .constraints import constraint_wrenches as constraint_wrenches
from .constraints import edge_contacts as edge_contacts
from .constraints import mimic_constraints as mimic_constraints
from .constraints import mimic_map as mimic_map
from .constraints import plane_contacts as plane_contacts
from .constraints import point_contacts as point_contacts
from .constraints import split_forces as split_forces
from .constraints import with_constraint_parameters as with_constraint_parameters
from .derivatives.first import forward_dynamics_derivatives as forward_dynamics_derivatives
from .derivatives.first import inverse_dynamics_derivatives as inverse_dynamics_derivatives
from .derivatives.second import forward_dynamics_second_derivatives as forward_dynamics_second_derivatives
from .derivatives.second import inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives
from .dynamics.compliant import HuntCrossleySphere as HuntCrossleySphere
from .dynamics.compliant import compliant_force as compliant_force
from .dynamics.compliant import compliant_wrenches as compliant_wrenches
from .dynamics.coriolis import coriolis_matrix as coriolis_matrix
from .dynamics.frames import body_poses as body_poses
from .dynamics.frames import frame_acceleration as frame_acceleration
from .dynamics.frames import frame_jacobian as frame_jacobian
from .dynamics.frames import frame_jacobian_dot as frame_jacobian_dot
from .dynamics.frames import frame_velocity as frame_velocity
from .dynamics.inverse_kinematics import CenterOfMassTarget as CenterOfMassTarget
from .dynamics.inverse_kinematics import InverseKinematics as InverseKinematics
from .dynamics.inverse_kinematics import OrientationTarget as OrientationTarget
from .dynamics.inverse_kinematics import PointTarget as PointTarget
from .dynamics.inverse_kinematics import inverse_kinematics as inverse_kinematics
from .dynamics.joint_space import equations_of_motion as equations_of_motion
from .dynamics.joint_space import mass_matrix_inverse as mass_matrix_inverse
from .dynamics.joint_space import mass_matrix_inverse_product as mass_matrix_inverse_product
from .dynamics.kinematics import point_acceleration as point_acceleration
from .dynamics.kinematics import point_acceleration_6d as point_acceleration_6d
from .dynamics.kinematics import point_jacobian as point_jacobian
from .dynamics.kinematics import point_jacobian_6d as point_jacobian_6d
from .dynamics.kinematics import point_jacobian_dot as point_jacobian_dot
from .dynamics.kinematics import point_jacobian_dot_6d as point_jacobian_dot_6d
from .dynamics.kinematics import point_position as point_position
from .dynamics.kinematics import point_velocity as point_velocity
from .dynamics.kinematics import point_velocity_6d as point_velocity_6d
from .dynamics.kinematics import pose as pose
from .dynamics.manifold import d_difference as d_difference
from .dynamics.manifold import d_integrate as d_integrate
from .dynamics.manifold import difference as difference
from .dynamics.manifold import integrate as integrate
from .dynamics.manifold import interpolate as interpolate
from .dynamics.momentum import angular_momentum as angular_momentum
from .dynamics.momentum import center_of_mass as center_of_mass
from .dynamics.momentum import center_of_mass_acceleration as center_of_mass_acceleration
from .dynamics.momentum import center_of_mass_jacobian as center_of_mass_jacobian
from .dynamics.momentum import center_of_mass_velocity as center_of_mass_velocity
from .dynamics.momentum import center_of_pressure as center_of_pressure
from .dynamics.momentum import centroidal_momentum as centroidal_momentum
from .dynamics.momentum import centroidal_momentum_bias as centroidal_momentum_bias
from .dynamics.momentum import centroidal_momentum_matrix as centroidal_momentum_matrix
from .dynamics.momentum import centroidal_momentum_matrix_dot as centroidal_momentum_matrix_dot
from .dynamics.momentum import centroidal_momentum_rate as centroidal_momentum_rate
from .dynamics.momentum import joint_power as joint_power
from .dynamics.momentum import joint_work as joint_work
from .dynamics.momentum import kinetic_energy as kinetic_energy
from .dynamics.momentum import linear_momentum as linear_momentum
from .dynamics.momentum import momentum as momentum
from .dynamics.momentum import momentum_matrix as momentum_matrix
from .dynamics.momentum import momentum_matrix_dot as momentum_matrix_dot
from .dynamics.momentum import potential_energy as potential_energy
from .dynamics.momentum import zero_moment_point as zero_moment_point
from .dynamics.passive import passive_force as passive_force
from .dynamics.passive import spring_energy as spring_energy
from .dynamics.regressor import inertial_parameters as inertial_parameters
from .dynamics.regressor import inverse_dynamics_regressor as inverse_dynamics_regressor
from .dynamics.regressor import kinetic_energy_regressor as kinetic_energy_regressor
from .dynamics.regressor import parameter_names as parameter_names
from .dynamics.regressor import potential_energy_regressor as potential_energy_regressor
from .dynamics.rnea_crba_aba import bias_force as bias_force
from .dynamics.rnea_crba_aba import forward_dynamics as forward_dynamics
from .dynamics.rnea_crba_aba import forward_dynamics_crba as forward_dynamics_crba
from .dynamics.rnea_crba_aba import gravity_force as gravity_force
from .dynamics.rnea_crba_aba import inverse_dynamics as inverse_dynamics
from .dynamics.rnea_crba_aba import mass_matrix as mass_matrix
from .dynamics.rnea_crba_aba import static_torque as static_torque
from .io import layouts as layouts
from .io import load_model as load_model
from .io import load_urdf as load_urdf
from .io import model_from_dict as model_from_dict
from .io import model_to_dict as model_to_dict
from .io import parse_urdf as parse_urdf
from .io import save_model as save_model
from .io.layouts import Layout as Layout
from .joints import CustomJoint as CustomJoint
from .joints import Cylindrical as Cylindrical
from .joints import Euler as Euler
from .joints import Fixed as Fixed
from .joints import FloatingBase as FloatingBase
from .joints import Helical as Helical
from .joints import Joint as Joint
from .joints import JointState as JointState
from .joints import MultiDof as MultiDof
from .joints import Planar as Planar
from .joints import Prismatic as Prismatic
from .joints import Revolute as Revolute
from .joints import Spherical as Spherical
from .joints import Translation as Translation
from .joints import Universal as Universal
from .mechanism import ExponentialTorque as ExponentialTorque
from .mechanism import Frame as Frame
from .mechanism import Model as Model
from .mechanism import OneSidedSpring as OneSidedSpring
from .mechanism.builder import ModelBuilder as ModelBuilder
from .mechanism.builder import random_tree as random_tree
from .mechanism.loads import Loads as Loads
from .mechanism.parameters import with_parameters as with_parameters
from .mechanism.reduction import reduce as reduce
from .models import robots as robots
from .models.strength_curves import StrengthCurve as StrengthCurve
from .spatial_algebra.rotations import exp3 as exp3
from .spatial_algebra.rotations import exp6 as exp6
from .spatial_algebra.rotations import log3 as log3
from .spatial_algebra.rotations import log6 as log6
from .spatial_algebra.rotations import matrix_quaternion as matrix_quaternion
from .spatial_algebra.rotations import quaternion_matrix as quaternion_matrix
from .spatial_algebra.rotations import rpy_matrix as rpy_matrix
from .spatial_algebra.spatial import Inertia as Inertia
from .spatial_algebra.spatial import Transform as Transform

_ELSEWHERE = {
    "rnea": "inverse_dynamics",
    "aba": "forward_dynamics",
    "crba": "mass_matrix",
    "nonLinearEffects": "bias_force",
    "computeGeneralizedGravity": "gravity_force",
    "computeStaticTorque": "static_torque",
    "computeMinverse": "mass_matrix_inverse",
    "computeCoriolisMatrix": "coriolis_matrix",
    "computeRNEADerivatives": "inverse_dynamics_derivatives",
    "computeABADerivatives": "forward_dynamics_derivatives",
    "computeFrameJacobian": "frame_jacobian",
    "getFrameJacobian": "frame_jacobian",
    "getFrameVelocity": "frame_velocity",
    "getFrameAcceleration": "frame_acceleration",
    "centerOfMass": "center_of_mass",
    "jacobianCenterOfMass": "center_of_mass_jacobian",
    "ccrba": "centroidal_momentum_matrix",
    "computeCentroidalMap": "centroidal_momentum_matrix",
    "constraintDynamics": "constrained_dynamics",
    "impulseDynamics": "impact",
    "JointModelFreeFlyer": "FloatingBase",
    "buildModelFromUrdf": "load_urdf",
    "buildModelFromXML": "parse_urdf",
    "ID": "inverse_dynamics",
    "FDab": "forward_dynamics",
    "FDcrb": "forward_dynamics_crba",
    "HandC": "equations_of_motion",
    "InverseDynamics": "inverse_dynamics",
    "ForwardDynamics": "forward_dynamics",
    "CompositeRigidBodyAlgorithm": "mass_matrix",
    "NonlinearEffects": "bias_force",
    "CalcBodyToBaseCoordinates": "point_position",
    "CalcBodyWorldOrientation": "pose",
    "CalcPointJacobian": "point_jacobian",
    "CalcPointVelocity": "point_velocity",
    "CalcPointAcceleration": "point_acceleration",
    "URDFReadFromFile": "load_urdf",
    "mj_inverse": "inverse_dynamics",
    "mj_forward": "forward_dynamics",
    "mj_fullM": "mass_matrix",
    "mj_jac": "point_jacobian",
}
"""Names of Pinocchio, spatial_v2, RBDL and MuJoCo, and ours, for the message about a name that is not here."""
