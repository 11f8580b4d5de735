"""Muscles of a model: paths and their lengths, dynamics of activation and contraction, energetics.

They are algorithms for the data `model.muscles`: plain functions on SX, MX and DM, vectorized over the muscles.
`ocp.torque_sources` has muscles without paths, as torques of joints.
"""
