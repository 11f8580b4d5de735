"""Optimal control of motions in phases: `Problem`, `Phase`, footholds, terms, `Solution`.

The examples in docstrings use the names of `ocp_dyn`, and these. A wheel of 1 kg m^2 turns by 1 rad from rest to rest
in 1 s, at the costs that are given; the least integral of tau^2 is 12 (N m)^2 s, and of 20 intervals 12.03:

>>> builder = od.ModelBuilder("wheel")
>>> builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1))
>>> wheel = builder.build()
>>> rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0))
>>> def turn(*costs, **options):
...     return ocp.Problem(wheel, [ocp.Phase("turn", 20, 1.0, objective=costs, **options)], boundary=[rest])
>>> solution = turn(ocp.TorqueSquared()).solve(progress=False)

A block of 2 kg lies on the ground; and an instant in the middle of a phase, in which the rod stands upright and tilts
at 1 rad/s, with a foot at its upper end on which 30 N act along x, 100 N upwards and 2 N m about y:

>>> builder = od.ModelBuilder("block")
>>> builder.add_body("block", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
>>> block = builder.build()
>>> foot = ocp.Foothold(od.Contact("tip"), half_length=0.1, half_width=0.05)
>>> instant = ocp.Instant(rod, ca.DM([np.pi]), ca.DM([1.0]), s=0.5, qdd=ca.DM([0.0]), tau=ca.DM([3.0]))
>>> instant.wrenches[foot], instant.places[foot] = ca.DM([0, 2, 0, 30, 0, 100]), ca.DM([0, 0, 0])
"""

from .._base.convergence import Interrupted as Interrupted
from .._base.convergence import NotConverged as NotConverged
from .._base.convergence import NotConvergedWarning as NotConvergedWarning
from .._base.rooms import Retired as _Retired
from .._base.rooms import only_names as _only_names
from ..gait.compare import GaitComparison as GaitComparison
from ..gait.gait import Gait as Gait
from ..gait.reference import GaitReference as GaitReference
from ..gait.reference import gait_reference as gait_reference
from ..gait.stances import Stance as Stance
from ..integrators import Scheme as Scheme
from ..limit_cycles import LimitCycle as LimitCycle
from ..limit_cycles import NoGait as NoGait
from ..limit_cycles import StepMap as StepMap
from ..limit_cycles import follow_limit_cycles as follow_limit_cycles
from ..symmetry.mirror import MirrorMap as MirrorMap
from ..symmetry.mirror import mirror_map as mirror_map
from ..symmetry.muscles import muscle_images as muscle_images
from ..symmetry.twin import asymmetry as asymmetry
from ..symmetry.twin import facing_forward as facing_forward
from ..symmetry.twin import symmetric_twin as symmetric_twin
from .analysis.active_set import Active as Active
from .analysis.active_set import ActiveSet as ActiveSet
from .analysis.deciding import DecidingBound as DecidingBound
from .analysis.deciding import DecidingBounds as DecidingBounds
from .analysis.defects import Defects as Defects
from .analysis.defects import Drift as Drift
from .analysis.floquet import Floquet as Floquet
from .analysis.interval_errors import IntervalErrors as IntervalErrors
from .analysis.metabolic_cost import Metabolism as Metabolism
from .analysis.refinement import Refinement as Refinement
from .analysis.refinement import Round as Round
from .analysis.summary import Summary as Summary
from .horizon.controller import Action as Action
from .horizon.controller import HorizonController as HorizonController
from .horizon.gait_patterns import Command as Command
from .horizon.gait_patterns import GaitPattern as GaitPattern
from .horizon.horizon import Horizon as Horizon
from .horizon.plan import Plan as Plan
from .horizon.plan import PlannedInstant as PlannedInstant
from .horizon.tuning import Tuning as Tuning
from .motion.contact_shapes import contact_shapes as contact_shapes
from .motion.motion import PhaseMotion as PhaseMotion
from .motion.strength_use import JointStrength as JointStrength
from .motion.strength_use import StrengthUse as StrengthUse
from .problem import Problem as Problem
from .recorded import MeasurementErrors as MeasurementErrors
from .recorded import TrackingErrors as TrackingErrors
from .recorded import track as track
from .recorded import tracking_errors as tracking_errors
from .recorded.fitting.fit import fit as fit
from .recorded.fitting.measured import Measured as Measured
from .recorded.fitting.measured import measured_gait as measured_gait
from .recorded.fitting.parameters import Fitted as Fitted
from .recorded.fitting.report import DataAgreement as DataAgreement
from .recorded.fitting.report import Fit as Fit
from .recorded.fitting.report import Fold as Fold
from .solution import Solution as Solution
from .solvers.by_name import add_solver as add_solver
from .solvers.interface import SolverResult as SolverResult
from .statement.collisions import Capsule as Capsule
from .statement.collisions import NoCollision as NoCollision
from .statement.collisions import Obstacle as Obstacle
from .statement.costs import AccelerationSquared as AccelerationSquared
from .statement.costs import AngularMomentumSquared as AngularMomentumSquared
from .statement.costs import CapturePointSquared as CapturePointSquared
from .statement.costs import Duration as Duration
from .statement.costs import ForceRateSquared as ForceRateSquared
from .statement.costs import ForceSquared as ForceSquared
from .statement.costs import HeadStabilization as HeadStabilization
from .statement.costs import JerkSquared as JerkSquared
from .statement.costs import JointAngleSquared as JointAngleSquared
from .statement.costs import MechanicalWork as MechanicalWork
from .statement.costs import SlackWork as SlackWork
from .statement.costs import TorqueRateSquared as TorqueRateSquared
from .statement.costs import TorqueSquared as TorqueSquared
from .statement.costs import ZeroMomentPointSquared as ZeroMomentPointSquared
from .statement.custom_costs import ChannelPower as ChannelPower
from .statement.custom_costs import ChannelRateSquared as ChannelRateSquared
from .statement.custom_costs import Integral as Integral
from .statement.custom_costs import Peak as Peak
from .statement.custom_costs import Rate as Rate
from .statement.custom_costs import Soft as Soft
from .statement.custom_costs import Terminal as Terminal
from .statement.custom_costs import TerminalCost as TerminalCost
from .statement.footholds import Foothold as Foothold
from .statement.grids import Intervals as Intervals
from .statement.ground.planes import Plane as Plane
from .statement.ground.room import Patch as Patch
from .statement.ground.terrain import Terrain as Terrain
from .statement.ground.terrain import ramp as ramp
from .statement.ground.terrain import stairs as stairs
from .statement.ground.terrain import stepping_stones as stepping_stones
from .statement.ground.wrench_footholds import CompliantFoothold as CompliantFoothold
from .statement.ground.wrench_footholds import LoadedFoothold as LoadedFoothold
from .statement.guesses import FootPlan as FootPlan
from .statement.guesses import Postures as Postures
from .statement.instant import Instant as Instant
from .statement.limits import CaptureMargin as CaptureMargin
from .statement.limits import JointMargin as JointMargin
from .statement.limits import PowerLimit as PowerLimit
from .statement.limits import TorqueSpeedCurve as TorqueSpeedCurve
from .statement.limits import ZeroMomentPointMargin as ZeroMomentPointMargin
from .statement.objectives import Cost as Cost
from .statement.objectives import LeastSquares as LeastSquares
from .statement.objectives import RateCost as RateCost
from .statement.objectives import SlackCost as SlackCost
from .statement.objectives import TrackingCost as TrackingCost
from .statement.objectives import name_terms as _name_terms
from .statement.path_constraints import CenterOfPressure as CenterOfPressure
from .statement.path_constraints import Clearance as Clearance
from .statement.path_constraints import FrictionCone as FrictionCone
from .statement.path_constraints import Path as Path
from .statement.path_constraints import PathConstraint as PathConstraint
from .statement.path_constraints import Separation as Separation
from .statement.path_constraints import Unilateral as Unilateral
from .statement.periodic import Periodic as Periodic
from .statement.periodic import Step as Step
from .statement.phases import Boundary as Boundary
from .statement.phases import BoundaryCondition as BoundaryCondition
from .statement.phases import Continuous as Continuous
from .statement.phases import Impact as Impact
from .statement.phases import Jump as Jump
from .statement.phases import JumpCondition as JumpCondition
from .statement.phases import Phase as Phase
from .statement.state.channels import Channel as Channel
from .statement.state.components import Component as Component
from .statement.state.components import LocalForce as LocalForce
from .statement.state.dependent import DependentJoints as DependentJoints
from .statement.state.given_states import At as At
from .statement.state.given_states import Rest as Rest
from .statement.tracking import TrackForces as TrackForces
from .statement.tracking import TrackJoints as TrackJoints
from .statement.tracking import TrackMarkers as TrackMarkers
from .statement.tracking import TrackVelocities as TrackVelocities
from .statement.tracking import TrackWrenches as TrackWrenches
from .statement.tracking import recording as recording
from .statement.values.parameters import Parameter as Parameter
from .statement.values.weights import Weights as Weights
from .torque_sources.activation import Activation as Activation
from .torque_sources.activation import ExcitationSquared as ExcitationSquared
from .torque_sources.capacity import TorqueCapacity as TorqueCapacity
from .torque_sources.effort import JointWork as JointWork
from .torque_sources.effort import RestingRate as RestingRate
from .torque_sources.effort import TorquePower as TorquePower
from .torque_sources.joint_loads import JointLoad as JointLoad
from .torque_sources.joint_loads import JointLoadLimit as JointLoadLimit
from .torque_sources.joint_loads import JointLoadSquared as JointLoadSquared
from .torque_sources.metabolic import MetabolicRate as MetabolicRate
from .torque_sources.model_muscles import Muscles as Muscles
from .torque_sources.muscle_costs import MuscleMetabolicRate as MuscleMetabolicRate
from .torque_sources.muscle_costs import TrackActivations as TrackActivations
from .torque_sources.tendons import Tendon as Tendon
from .torque_sources.tendons import muscle_speed as muscle_speed
from .torque_sources.tissue import PassiveTorqueSquared as PassiveTorqueSquared
from .workflows.continuation import solve_along as solve_along
from .workflows.multistart import Multistart as Multistart
from .workflows.multistart import Optimum as Optimum
from .workflows.multistart import multistart as multistart
from .workflows.real_time import RealTimeIteration as RealTimeIteration
from .workflows.real_time import rti as rti
from .workflows.sensitivity import Sensitivities as Sensitivities
from .workflows.sensitivity import Slope as Slope
from .workflows.sensitivity import sensitivities as sensitivities
from .workflows.solve import check as check
from .workflows.solve import solve as solve
from .workflows.sweeps.library import Library as Library
from .workflows.sweeps.points import GridPoint as GridPoint
from .workflows.sweeps.points import SweepPoint as SweepPoint
from .workflows.sweeps.points import grid as grid
from .workflows.sweeps.points import latin_hypercube as latin_hypercube
from .workflows.sweeps.points import neighborhoods as neighborhoods
from .workflows.sweeps.sweep import Sweep as Sweep

_name_terms(globals())
_only_names(
    globals(),
    {
        "Stage": _Retired("Instant", since="0.2", works=False),
        "PhaseSolution": _Retired("PhaseMotion", since="0.2", works=False),
    },
)
