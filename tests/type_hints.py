"""Type hints of the algorithms as a user's type checker sees them: numbers give a DM, expressions their own type.

mypy checks this file with the library; nothing here runs.
"""

from __future__ import annotations

from typing import assert_type

import casadi as ca
import numpy as np

import ocp_dyn as od


def hints(model: od.Model, q: ca.SX, x: ca.MX) -> None:
    """Calls with arrays, lists, DM, SX and MX."""
    assert_type(od.center_of_mass(model, model.neutral()), ca.DM)
    assert_type(od.inverse_dynamics(model, [0.0], np.zeros(1), ca.DM(1)), ca.DM)
    assert_type(od.inverse_dynamics(model, q, np.zeros(1), [0.0]), ca.SX)
    assert_type(od.mass_matrix(model, x), ca.MX)
    assert_type(od.formulations.velocity_transformation(model, [0.0]), ca.DM)
    model.integrate([0.0], np.zeros(1))
    od.center_of_mass(model, "x")  # type: ignore[type-var]
