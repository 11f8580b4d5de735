"""The registry of algorithms: one line of text each, its signature, gives a Function's name, inputs and outputs.

The result of a joint-space algorithm depends on the model only through joint-space dynamics and frame poses: it may run
on an equivalent, cheaper model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import constrained_motion as constrained
from .. import constraints
from .._types import shown
from ..derivatives import first as derivatives
from ..derivatives import second as second_derivatives
from ..dynamics import coriolis, joint_space, kinematics, momentum, regressor
from ..dynamics import recursions as dynamics
from ..mechanism import Model, boundary

Algorithm = Callable[..., Any]


class Signature(NamedTuple):
    """A Function's name and the names of its inputs and outputs."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    joint_space: bool = False

    @staticmethod
    def parse(name: str, text: str, joint_space: bool = False) -> Signature:
        """From "q qd -> H C"; an input of a size of its own is written "p[3]"."""
        match text.split("->"):
            case [left, right] if right.split():
                return Signature(name, tuple(left.split()), tuple(right.split()), joint_space)
        raise ValueError(f'a signature reads "inputs -> outputs", such as "q qd -> E"; got {shown(text)}')


JOINT_SPACE, BODIES = True, False
"""True if the result depends on the model only through joint-space dynamics and frame poses; an equivalent, cheaper
model may then be used."""

REGISTRY: dict[Algorithm, Signature] = {
    algorithm: Signature.parse(name, text, joint_space)
    for algorithm, name, text, joint_space in (
        (dynamics.inverse_dynamics, "ID", "q qd qdd -> tau", JOINT_SPACE),
        (dynamics.forward_dynamics, "FD", "q qd tau -> qdd", JOINT_SPACE),
        (dynamics.mass_matrix, "H", "q -> H", JOINT_SPACE),
        (dynamics.bias_force, "C", "q qd -> C", JOINT_SPACE),
        (dynamics.gravity_force, "tau_g", "q -> tau_g", JOINT_SPACE),
        (dynamics.forward_dynamics_crba, "FD_HC", "q qd tau -> qdd", JOINT_SPACE),
        (kinematics.pose, "pose", "q -> R p", BODIES),
        (kinematics.point_position, "pos", "q -> pos", BODIES),
        (kinematics.point_velocity, "vel", "q qd -> vel", BODIES),
        (kinematics.point_acceleration, "acc", "q qd qdd -> acc", BODIES),
        (kinematics.point_jacobian, "J", "q -> J", BODIES),
        (kinematics.point_jacobian_6d, "J6", "q -> J6", BODIES),
        (kinematics.point_jacobian_dot, "J_dot", "q qd -> J_dot", BODIES),
        (constraints.constraint_position, "phi", "q -> phi", BODIES),
        (constraints.constraint_velocity, "phi_dot", "q qd -> phi_dot", BODIES),
        (constraints.constraint_jacobian, "G", "q -> G", JOINT_SPACE),
        (constraints.constraint_hessian, "gamma", "q qd -> gamma", JOINT_SPACE),
        (constrained.constrained_dynamics, "FDc", "q qd tau -> qdd lam", JOINT_SPACE),
        (constrained.impact, "impact", "q qd -> qd_plus Lam", JOINT_SPACE),
        (
            constrained.constrained_dynamics_derivatives,
            "dFDc",
            "q qd tau -> dqdd_dq dqdd_dqd dqdd_dtau dlam_dq dlam_dqd dlam_dtau",
            BODIES,
        ),
        (constrained.impact_derivatives, "dimpact", "q qd -> dqd_plus_dq dqd_plus_dqd dLam_dq dLam_dqd", BODIES),
        (constrained.constrained_equations, "EoMc", "q qd -> H C G gamma", JOINT_SPACE),
        (constrained.constrained_inverse_dynamics, "IDc", "q qd qdd -> tau lam qdd_c", JOINT_SPACE),
        (joint_space.equations_of_motion, "EoM", "q qd -> H C", JOINT_SPACE),
        (joint_space.mass_matrix_inverse_product, "Minv", "q tau -> qdd", JOINT_SPACE),
        (joint_space.mass_matrix_inverse, "H_inv", "q -> H_inv", JOINT_SPACE),
        (coriolis.coriolis_matrix, "C_mat", "q qd -> C_mat", JOINT_SPACE),
        (regressor.inverse_dynamics_regressor, "Y", "q qd qdd -> Y", BODIES),
        (derivatives.inverse_dynamics_derivatives, "dID", "q qd qdd -> dtau_dq dtau_dqd H", JOINT_SPACE),
        (derivatives.forward_dynamics_derivatives, "dFD", "q qd tau -> dqdd_dq dqdd_dqd Minv", JOINT_SPACE),
        (
            second_derivatives.inverse_dynamics_second_derivatives,
            "ddID",
            "q qd qdd mu -> L_qq L_q_qd L_qd_qd L_q_qdd",
            JOINT_SPACE,
        ),
        (
            second_derivatives.forward_dynamics_second_derivatives,
            "ddFD",
            "q qd tau mu -> L_qq L_q_qd L_qd_qd L_q_tau",
            JOINT_SPACE,
        ),
        (momentum.center_of_mass, "com", "q -> com", BODIES),
        (momentum.center_of_mass_velocity, "com_vel", "q qd -> com_vel", BODIES),
        (momentum.center_of_mass_jacobian, "J_com", "q -> J_com", BODIES),
        (momentum.kinetic_energy, "T", "q qd -> T", JOINT_SPACE),
        (momentum.potential_energy, "V", "q -> V", BODIES),
        (momentum.centroidal_momentum, "h_com", "q qd -> h_com", BODIES),
        (momentum.centroidal_momentum_matrix, "A_G", "q -> A_G", BODIES),
        (momentum.centroidal_momentum_bias, "h_bias", "q qd -> h_bias", BODIES),
        (momentum.zero_moment_point, "zmp", "q qd qdd -> zmp", BODIES),
        (momentum.joint_power, "P", "qd tau -> P", BODIES),
    )
}

SIZES: dict[str, Callable[[Model], int]] = {**boundary.SIZES, "e": lambda model: 1}
"""Entries of an input of that name."""

UNITS = {
    "q": "rad, m; quaternions (x, y, z, w)",
    "qd": "rad/s, m/s",
    "qdd": "rad/s^2, m/s^2",
    "qdd_c": "rad/s^2, m/s^2; keeps the constraints",
    "tau": "N m, N",
    "tau_g": "N m, N",
    "C": "N m, N",
    "H": "kg m^2, kg m, kg",
    "G": "d(phi)/dt = G qd",
    "gamma": "rad/s^2, m/s^2",
    "phi": "m; sine of an angle",
    "phi_dot": "m/s, rad/s; velocity error",
    "lam": "N, N m; acts on the robot",
    "Lam": "N s, N m s; acts on the robot",
    "qd_plus": "rad/s, m/s",
    "residual": "rad/s^2, m/s^2; of an impact rad/s, m/s",
    "R": "columns: the frame's axes in the world",
    "p": "m, world axes",
    "pos": "m, world axes",
    "vel": "m/s, world axes",
    "acc": "m/s^2, world axes",
    "J": "vel = J qd",
    "J6": "[angular; linear], world axes",
    "J_dot": "time derivative of J",
    "com": "m, world axes",
    "com_vel": "m/s, world axes",
    "T": "J",
    "V": "J",
    "h_com": "N m s, N s; [angular about the CoM; linear], world axes",
    "A_G": "h_com = A_G qd",
    "h_bias": "N m, N; d(h_com)/dt at qdd = 0",
    "J_com": "d(com)/dt = J_com qd",
    "zmp": "m, world axes",
    "P": "W, by dof",
    "H_inv": "inverse of H",
    "Minv": "inverse of H",
    "C_mat": "C_mat qd = C - tau_g; dH/dt - 2 C_mat skew",
    "Y": "tau = Y pi, ten inertial parameters a body",
    "dtau_dq": "columns: tangent directions of q",
    "dtau_dqd": "N m s/rad, N s/m",
    "dqdd_dq": "columns: tangent directions of q",
    "dqdd_dqd": "1/s",
    "dqdd_dtau": "inverse of H, along the constraints; symmetric",
    "dlam_dq": "columns: tangent directions of q",
    "dlam_dqd": "N s/m, N m s/rad",
    "dlam_dtau": "forces per joint force",
    "dqd_plus_dq": "columns: tangent directions of q",
    "dqd_plus_dqd": "qd_plus = dqd_plus_dqd qd",
    "dLam_dq": "columns: tangent directions of q",
    "dLam_dqd": "kg, kg m, kg m^2",
    "mu": "weights of tau or qdd in the scalar L",
    "L_qq": "Hessian of L; rows and columns: tangent directions of q",
    "L_q_qd": "rows: tangent directions of q",
    "L_qd_qd": "Hessian of L by qd",
    "L_q_qdd": "rows: tangent directions of q",
    "L_q_tau": "rows: tangent directions of q",
    "e": "restitution, 0 to 1",
    "t": "s",
    "f_ext": "N m, N; a column per body, [moment about the world origin; force], world axes",
}
"""Units or meaning of every input and output of the registry, for headers and reports."""
