"""Numbers that parameters of a model can have, at every door that takes them."""

from typing import Any

import numpy as np
import pytest
from casadi import SX

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.mechanism.parameters import check_value, inertia_parameters
from tests.helpers import flat


def leg() -> od.Model:
    builder = od.ModelBuilder("leg")
    builder.add_body("thigh", od.Revolute("y"), joint_name="hip", mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
    builder.add_body("shank", od.Revolute("y"), "thigh", origin=(0, 0, -1), joint_name="knee", mass=2, com=(0, 0, -0.5))
    return builder.build()


MODEL = leg()
POINT_MASS = (2.0, 0.2, 0.0, 0.0, 0.0, 0.0, 0.02, 0.0, 0.0, 0.02)

IMPOSSIBLE = [
    ("mass:shank", -1.0, "a mass must not be negative, got -1 kg"),
    ("mass:shank", np.inf, "finite"),
    ("com:shank", (0, np.nan, 0), "finite|NaN"),
    ("gravity", (0, 0, -np.inf), "finite"),
    ("inertia_com:shank", (1, 0, 1, 0, 0, 2.1), r"no body has principal moments of inertia 1, 1, 2\.1 kg m\^2"),
    ("inertia_com:shank", (1, 2, 1, 0, 0, 2), "no body has principal moments of inertia -1, 2, 3"),
    ("inertia:shank", (2, 1, 0, 0, 0.4, 0, 0.4, 0, 0, 0.4), "no body has principal moments of inertia -0.1, -0.1, 0.4"),
    ("inertia:shank", (0, 1, 0, 0, 1, 0, 1, 0, 0, 1), "without mass there is no first moment"),
    ("payload:shank", (-0.1, *[0] * 9), "got -0.1 kg; to take mass away change the body itself, by inertia:BODY"),
]
POSSIBLE = [
    ("mass:shank", 0.0),
    ("com:shank", (0, -3, 1)),
    ("gravity", (0, 0, 0)),
    ("inertia_com:shank", (1, 0, 1, 0, 0, 2)),
    ("inertia:shank", POINT_MASS),
    ("payload:shank", POINT_MASS),
    ("payload:shank", 10 * [0]),
    ("origin:knee", (0, 0, 1)),
]


@pytest.mark.parametrize(("name", "value", "fault"), IMPOSSIBLE)
@pytest.mark.slow
def test_numbers_that_no_body_can_have_are_refused_at_every_door(name: str, value: Any, fault: str) -> None:
    f = od.function(od.gravity_force, MODEL, parameters=(name,))
    column = np.array(value, dtype=float).reshape(-1)
    fine = next(x for n, x in POSSIBLE if n == name)
    problem = ocp.Problem(MODEL, [ocp.Phase("hang", 1, 1.0)], parameters=[ocp.Parameter(name, fine)])
    doors = {
        "model": lambda: od.with_parameters(MODEL, {name: value}),
        "constant": lambda: od.with_parameters(MODEL, {name: SX(column)}),
        "function": lambda: f([0.0, 0.0], value),
        "columns": lambda: f(np.zeros((2, 2)), np.stack([np.ravel(fine), column], axis=1)),
        "stated": lambda: ocp.Parameter(name, value),
        "solve": lambda: problem.solve(values={name: value}, progress=False),
        "check": lambda: problem.check(values={name: value}),
        "along": lambda: ocp.solve_along(problem, **{name: [fine, value]}, solve={"progress": False}),
    }
    for way, door in doors.items():
        with pytest.raises((ValueError, TypeError), match=fault):
            pytest.fail(f"{way} took {door()}")


@pytest.mark.slow
def test_compiled_functions_check_every_state() -> None:
    compiled = od.codegen.compile([od.function(od.gravity_force, MODEL, parameters=("mass:shank",))]).tau_g
    q, masses = np.zeros((3, 2)), np.array([[1.0], [2.0], [-3.0]])
    doors = {
        "state": lambda: compiled(q[0], masses[2]),
        "batch": lambda: compiled(q, masses),
        "lanes": lambda: compiled(q, od.codegen.Lanes.of(masses)),
        "buffer": lambda: compiled.buffer()(q[0], masses[2]),
    }
    for way, door in doors.items():
        with pytest.raises(ValueError, match="tau_g: mass_shank: a mass must not be negative, got -3 kg"):
            pytest.fail(f"{way} took {door()}")
    assert compiled(q, abs(masses)).shape == (3, 2)


@pytest.mark.parametrize(("name", "value"), POSSIBLE)
def test_numbers_that_a_body_can_have_pass(name: str, value: Any) -> None:
    f = od.function(od.gravity_force, MODEL, parameters=(name,))
    expected = od.gravity_force(od.with_parameters(MODEL, {name: value}), [0.3, 0.2])
    np.testing.assert_allclose(flat(f([0.3, 0.2], value)), flat(expected), rtol=1e-12, atol=1e-12)
    assert ocp.Parameter(name, value).size == np.size(value)


def test_bodies_of_every_shape_pass(rng: np.random.Generator) -> None:
    """Inertias of random clouds of points, about any origin, with the rounding of files; far away, too."""
    for far in (0.0, 1.0, 1e3):
        points, masses = rng.normal(size=(5, 3)) + far * rng.normal(size=3), rng.uniform(0.1, 1, 5)
        I = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
        ten = [masses.sum(), *(masses @ points), *I[np.tril_indices(3)]]
        check_value("inertia:shank", ten)
        check_value("inertia:shank", [float(f"{x:.9g}") for x in ten])
    for body in MODEL.I[1:]:
        check_value("inertia:shank", flat(inertia_parameters(body)))


def test_bounds_of_inertias_are_checked_at_their_corners() -> None:
    low, high = np.array([0.1, 0, 0.1, 0, 0, 0.1]), np.array([0.2, 0, 0.2, 0, 0, 0.2])
    ocp.Parameter("inertia_com:shank", bounds=(low, high))
    with pytest.raises(ValueError, match=r"moments of inertia 0.1, 0.1, 0.3.*the bounds allow it: narrow them"):
        ocp.Parameter("inertia_com:shank", bounds=(low, high + 0.1 * np.eye(6)[5]))
    with pytest.raises(ValueError, match=r"Parameter 'mass:shank': a mass must not be negative.*the bounds allow it"):
        ocp.Parameter("mass:shank", 1.0, bounds=(-1.0, 2.0))
    ocp.Parameter("mass:shank", bounds=(0, np.inf))


def test_a_radius_below_zero_and_a_slope_beyond_the_vertical_are_refused() -> None:
    with pytest.raises(ValueError, match=r"parameter 'radius:shank': a radius must not be negative, got -0.1 m"):
        od.with_constraint_parameters(od.RollingContact("shank", 0.1), {"radius:shank": -0.1})
    with pytest.raises(ValueError, match=r"'slope' is an angle in rad, below pi / 2.*write math.radians"):
        ocp.Parameter("slope", 5.0)
