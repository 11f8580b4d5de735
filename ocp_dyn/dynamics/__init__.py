"""Kinematics and dynamics of a tree of bodies: plain functions of (model, q, qd, ...) on SX, MX and DM.

| module | contents |
|---|---|
| `rnea_crba_aba` | inverse dynamics, mass matrix, forward dynamics [RBDA, tables 5.1, 6.2, 7.1] |
| `recursions` | the outward and inward passes of which these and all other algorithms are made |
| `joint_space` | H and C together; products with H^-1, and H^-1 |
| `kinematics` | poses, velocities, accelerations and Jacobians of frames and points |
| `momentum` | mass center, momentum, centroidal momentum matrix, energy, zero-moment point |
| `coriolis` | the matrix C(q, qd) with dH/dt - 2 C skew-symmetric |
| `regressor` | inverse dynamics as a linear function of inertial parameters |
| `passive_torques` | springs, tissue, damping, friction of joints; inertia of the motors' rotors |
| `invertible` | check that H has an inverse |
| `inverse_kinematics` | a configuration that reaches given positions and orientations, in numbers |
"""
