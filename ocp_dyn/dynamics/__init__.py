"""Kinematics and dynamics of a tree of bodies: plain functions of (model, q, qd, ...) on SX, MX and DM."""
