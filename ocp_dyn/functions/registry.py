"""The registry: for every algorithm one line, its signature, with all that `od.function` needs to know about it.

"ID: q qd qdd f_ext? -> tau" gives the Function's name, inputs and outputs, whose units, sizes and labels are those of
`ocp_dyn.functions.quantities`. "e?" is an input on request, "residual?" an output on request, "tau*" may have
several columns. An algorithm from outside the library needs no entry: `od.algorithm` and `od.function(..., signature=)`
give it one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .. import constrained_motion as constrained
from .. import constraints, formulations
from ..constrained_motion.solvers import BY_INVERSE
from ..derivatives import first as derivatives
from ..derivatives import second as second_derivatives
from ..dynamics import coriolis, frames, joint_space, kinematics, manifold, momentum, regressor
from ..dynamics import rnea_crba_aba as dynamics
from ..mechanism import Model
from ..mechanism.near import near
from ..muscles import path_algorithms
from .attached_derivatives import AttachedDerivatives
from .constrained_second_order import jacobian_of_adjoint
from .signature import Algorithm, Alternative, Options, Signature, always, registered

Trait = Mapping[str, Any]

BODIES: Trait = {"joint_space": False}
"""The result depends on the bodies themselves: masses, positions, momenta."""
JOINT_SPACE: Trait = {"joint_space": True}
"""The result depends on the model only through joint-space dynamics and frame poses; an equivalent, cheaper model may
then be used."""
JOINT_NAMES: Trait = {"joint_space": True, "joint_names": True}
"""JOINT_SPACE whose equivalent model must have the same joints: options name them."""
INVERSE: Trait = {"needs_inverse": always}
"""The algorithm needs H^-1."""


def by_solver(options: Options) -> bool:
    """Whether the chosen solver of constrained dynamics needs H^-1."""
    return options.get("solver", "range") in BY_INVERSE


def shallow(model: Model) -> bool:
    """Whether few dofs support one another, so that H may be factored in fewer operations than ABA takes.

    ABA is always shorter if dofs are supported by more than about eight others. Where frames are far from their bodies,
    H is so badly scaled that its factor would lose digits that ABA keeps.
    """
    if near(model) is not model:
        return False
    depths: list[int] = []
    for parent in model.dof_parent:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return sum(depths) <= 8 * model.nv


def by_multipliers(options: Options) -> bool:
    """Whether the chosen method for closed chains needs H^-1."""
    return bool(options.get("method", "multipliers") == "multipliers")


MULTIPLIED: Trait = {"needs_inverse": by_multipliers}
SOLVED: Trait = {"needs_inverse": by_solver}
OR_CRBA: Trait = {"alternatives": (Alternative(dynamics.forward_dynamics_crba, shallow),)}
DERIVED_ID: Trait = {"derivatives": AttachedDerivatives(
    derivatives.inverse_dynamics_derivatives, second_derivatives.inverse_dynamics_both_orders)}  # fmt: skip
DERIVED_FD: Trait = {"derivatives": AttachedDerivatives(
    derivatives.forward_dynamics_derivatives, second_derivatives.forward_dynamics_both_orders)}  # fmt: skip


WEIGHED_QDD = {
    "mu": "E/dof", "L_qq": "E/T^2 dof, 1/dof", "L_q_qd": "E/T dof, 1/dof", "L_qd_qd": "E/dof, 1/dof",
    "L_q_tau": "1/T^2 dof, dof"}  # fmt: skip
"""Laws of the derivatives of L = mu' qdd; those of the table are of L = mu' tau."""


def _entry(text: str, *traits: Trait, laws: Mapping[str, str] = MappingProxyType({})) -> Signature:
    """A line of the registry: the signature that a text describes, with traits and with laws that differ here."""
    return registered(text, laws, **{name: value for trait in traits for name, value in trait.items()})


# fmt: off
REGISTRY: dict[Algorithm, Signature] = {
    dynamics.inverse_dynamics: _entry("ID: q qd qdd f_ext? -> tau", JOINT_SPACE, DERIVED_ID),
    dynamics.forward_dynamics: _entry("FD: q qd tau f_ext? -> qdd", JOINT_SPACE, INVERSE, OR_CRBA, DERIVED_FD),
    dynamics.forward_dynamics_crba: _entry("FD_HC: q qd tau f_ext? -> qdd", JOINT_SPACE, INVERSE),
    dynamics.mass_matrix: _entry("H: q -> H", JOINT_SPACE),
    dynamics.bias_force: _entry("C: q qd f_ext? -> C", JOINT_SPACE),
    dynamics.gravity_force: _entry("tau_g: q -> tau_g", JOINT_SPACE),
    dynamics.static_torque: _entry("tau_static: q f_ext? -> tau_static", JOINT_SPACE),
    joint_space.equations_of_motion: _entry("EoM: q qd f_ext? -> H C", JOINT_SPACE),
    joint_space.mass_matrix_inverse_product: _entry("Minv: q tau* -> qdd", JOINT_SPACE, INVERSE),
    joint_space.mass_matrix_inverse: _entry("H_inv: q -> H_inv", JOINT_SPACE, INVERSE),
    coriolis.coriolis_matrix: _entry("C_mat: q qd -> C_mat", JOINT_SPACE),
    regressor.inverse_dynamics_regressor: _entry("Y: q qd qdd -> Y", BODIES),
    regressor.kinetic_energy_regressor: _entry("Y_T: q qd -> Y_T", BODIES),
    regressor.potential_energy_regressor: _entry("Y_V: q -> Y_V", BODIES),

    derivatives.inverse_dynamics_derivatives: _entry("dID: q qd qdd f_ext? -> dtau_dq dtau_dqd H", JOINT_SPACE),
    derivatives.forward_dynamics_derivatives: _entry(
        "dFD: q qd tau f_ext? -> dqdd_dq dqdd_dqd Minv", JOINT_SPACE, INVERSE),
    second_derivatives.inverse_dynamics_second_derivatives: _entry(
        "ddID: q qd qdd mu -> L_qq L_q_qd L_qd_qd L_q_qdd", JOINT_SPACE),
    second_derivatives.forward_dynamics_second_derivatives: _entry(
        "ddFD: q qd tau mu -> L_qq L_q_qd L_qd_qd L_q_tau", JOINT_SPACE, INVERSE, laws=WEIGHED_QDD),

    constraints.constraint_position: _entry("phi: q t? -> phi", BODIES),
    constraints.constraint_velocity: _entry("phi_dot: q qd t? -> phi_dot", BODIES),
    constraints.constraint_jacobian: _entry("G: q t? -> G", JOINT_SPACE),
    constraints.constraint_hessian: _entry("gamma: q qd t? -> gamma", JOINT_SPACE),

    constrained.constrained_dynamics: _entry(
        "FDc: q qd tau t? f_ext? -> qdd lam residual?", JOINT_SPACE, SOLVED,
        {"jacobian": constrained.constrained_dynamics_derivatives, "jacobian_of_adjoint": jacobian_of_adjoint}),
    constrained.impact: _entry(
        "impact: q qd e? t? -> qd_plus Lam residual?", JOINT_SPACE, SOLVED,
        {"jacobian": constrained.impact_derivatives},
        laws={"residual": "row/T"}),
    constrained.constrained_equations: _entry("EoMc: q qd t? f_ext? -> H C G gamma", JOINT_SPACE),
    constrained.constrained_inverse_dynamics: _entry("IDc: q qd qdd t? f_ext? -> tau lam qdd_c", JOINT_NAMES),
    constrained.constrained_dynamics_derivatives: _entry(
        "dFDc: q qd tau t? f_ext? -> dqdd_dq dqdd_dqd dqdd_dtau dlam_dq dlam_dqd dlam_dtau", BODIES, INVERSE),
    constrained.impact_derivatives: _entry(
        "dimpact: q qd e? t? -> dqd_plus_dq dqd_plus_dqd dLam_dq dLam_dqd", BODIES, INVERSE),

    formulations.velocity_transformation: _entry("R_B: q -> R_B", BODIES),
    formulations.dependent_velocity: _entry("v_B: q qd -> v_B", BODIES),
    formulations.velocity_products: _entry("Sc_B: q qd -> Sc_B", BODIES),
    formulations.projected_equations: _entry("EoM_B: q qd f_ext? -> H C", BODIES),
    formulations.forward_dynamics_formulation_b: _entry("FD_B: q qd tau f_ext? -> qdd", BODIES, INVERSE),
    formulations.velocity_transformation_a: _entry("R_A: q -> R_A", BODIES),
    formulations.velocity_products_a: _entry("Sc_A: q qd -> Sc_A", BODIES),
    formulations.projected_equations_a: _entry("EoM_A: q qd f_ext? -> H C", BODIES),
    formulations.forward_dynamics_formulation_a: _entry("FD_A: q qd tau f_ext? -> qdd", BODIES, INVERSE),
    formulations.closed_chain_dynamics: _entry("FDc_B: q qd tau f_ext? -> qdd lam", BODIES, MULTIPLIED),
    formulations.closed_chain_dynamics_a: _entry("FDc_A: q qd tau f_ext? -> qdd lam_o xdd", BODIES, MULTIPLIED),
    formulations.closing_jacobian: _entry("Phi2_q: q -> Phi2_q", BODIES),
    formulations.independent_transformation: _entry("R2: q -> R2 S2", BODIES),
    formulations.dependent_qd: _entry("qd_R2: q qd_i -> qd", BODIES),

    kinematics.pose: _entry("pose: q -> R p", BODIES),
    kinematics.point_position: _entry("pos: q -> pos", BODIES),
    kinematics.point_velocity: _entry("vel: q qd -> vel", BODIES),
    kinematics.point_acceleration: _entry("acc: q qd qdd -> acc", BODIES),
    kinematics.point_jacobian: _entry("J: q -> J", BODIES),
    kinematics.point_jacobian_6d: _entry("J6: q -> J6", BODIES),
    kinematics.point_jacobian_dot: _entry("J_dot: q qd -> J_dot", BODIES),
    frames.frame_velocity: _entry("vel_frame: q qd -> vel_frame", BODIES),
    frames.frame_acceleration: _entry("acc_frame: q qd qdd -> acc_frame", BODIES),
    frames.frame_jacobian: _entry("J_frame: q -> J_frame", BODIES),
    frames.frame_jacobian_dot: _entry("J_frame_dot: q qd -> J_frame_dot", BODIES),
    frames.body_poses: _entry("poses: q -> R_all p_all", BODIES),

    manifold.integrate: _entry("integrate: q v -> q_next", BODIES),
    manifold.difference: _entry("difference: q0 q1 -> v", BODIES),
    manifold.interpolate: _entry("interpolate: q0 q1 s -> q_s", BODIES),
    manifold.d_integrate: _entry("d_integrate: q v -> dq_next_dq dq_next_dv", BODIES),
    manifold.d_difference: _entry("d_difference: q0 q1 -> dv_dq0 dv_dq1", BODIES),

    momentum.center_of_mass: _entry("com: q -> com", BODIES),
    momentum.center_of_mass_velocity: _entry("com_vel: q qd -> com_vel", BODIES),
    momentum.center_of_mass_jacobian: _entry("J_com: q -> J_com", BODIES),
    momentum.kinetic_energy: _entry("T: q qd -> T", JOINT_SPACE),
    momentum.potential_energy: _entry("V: q -> V", BODIES),
    momentum.centroidal_momentum: _entry("h_com: q qd -> h_com", BODIES),
    momentum.centroidal_momentum_matrix: _entry("A_G: q -> A_G", BODIES),
    momentum.centroidal_momentum_matrix_dot: _entry("A_G_dot: q qd -> A_G_dot", BODIES),
    momentum.centroidal_momentum_bias: _entry("h_bias: q qd -> h_bias", BODIES),
    momentum.zero_moment_point: _entry("zmp: q qd qdd -> zmp", BODIES),
    momentum.joint_power: _entry("P: qd tau -> P", BODIES),

    path_algorithms.muscle_lengths: _entry("l_mt: q -> l_mt", BODIES),
    path_algorithms.moment_arms: _entry("r_mt: q -> r_mt", BODIES),
    path_algorithms.muscle_speeds: _entry("l_mt_dot: q qd -> l_mt_dot", BODIES),
    path_algorithms.muscle_torques: _entry("tau_mt: q F_mt -> tau_mt", BODIES),

    formulations.natural_mass_matrix: _entry("NC_M: x -> M", BODIES),
    formulations.natural_constraints: _entry("NC_Phi: x -> Phi", BODIES),
    formulations.natural_jacobian: _entry("NC_Phi_x: x -> Phi_x", BODIES),
    formulations.natural_jacobian_rate: _entry("NC_c: x xd -> c", BODIES),
    formulations.natural_force: _entry("NC_Q: x xd tau f_ext? -> Q", BODIES),
    formulations.natural_forward_dynamics: _entry("NC_FD: x xd tau f_ext? -> xdd lam_x", BODIES),
    formulations.trapezoidal_step: _entry(
        "NC_step: x xd xdd lam_x tau h f_ext? -> x_next xd_next xdd_next lam_x_next error", BODIES),
    formulations.natural_from_q: _entry("x_q: q -> x", BODIES),
    formulations.natural_velocity: _entry("xd_q: q qd -> xd", BODIES),
    formulations.q_from_natural: _entry("q_x: x -> q", BODIES),
    formulations.qd_from_natural: _entry("qd_x: x xd -> qd", BODIES),
}
# fmt: on
