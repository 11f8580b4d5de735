"""Numbers that say more than their position: labels of pandas and xarray, masks, units."""

from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp


class Series:
    """The members of a pandas Series that the library reads."""

    def __init__(self, values: Any, index: Any) -> None:
        self.values, self.index = np.asarray(values), index
        self.shape = self.values.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values.astype(dtype or self.values.dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values)


class Table(Series):
    """The members of a pandas DataFrame that the library reads."""

    def __init__(self, values: Any, index: Any, columns: Any) -> None:
        super().__init__(values, index)
        self.columns = columns


class Labeled(Series):
    """The members of an xarray DataArray that the library reads."""

    def __init__(self, values: Any, names: Any) -> None:
        super().__init__(values, None)
        del self.index
        self.dims, self.coords = ("joint",), {"joint": np.array(names)}


@pytest.fixture(scope="module")
def leg() -> od.Model:
    builder = od.ModelBuilder("leg")
    builder.add_body("thigh", od.Revolute("y"), joint_name="hip", mass=1, com=(0, 0, -0.5))
    builder.add_body("shank", od.Revolute("y"), "thigh", origin=(0, 0, -1), joint_name="knee", mass=2, com=(0, 0, -0.5))
    return builder.build()


Q = (0.1, 0.7)
NAMED = Series([0.7, 0.1], ["knee", "hip"])


def doors(model: od.Model) -> dict[str, Any]:
    """Ways in which a configuration reaches the library, where it knows the names of the entries."""
    f = od.function(od.gravity_force, model)
    compiled = od.codegen.compile([f]).tau_g
    buffer = compiled.buffer()
    return {
        "algorithm": lambda q: od.gravity_force(model, q),
        "by name": lambda q: od.gravity_force(model=model, q=q),
        "function": f,
        "function by name": lambda q: f(q=q)["tau_g"],
        "call": lambda q: f.call([q])[0],
        "compiled": compiled,
        "buffer": lambda q: buffer(q).copy(),
        "manifold": lambda q: od.gravity_force(model, model.integrate(q, [0.0, 0.0])),
        "assembly": lambda q: od.gravity_force(model, od.assemble_q(model, [od.LockedJoint("hip", value=0.1)], q)),
        "posture": lambda q: od.gravity_force(
            model, ocp.Problem(model, [ocp.Phase("hang", 1, 1.0)], posture=q).posture
        ),
    }


@pytest.mark.parametrize("labeled", [NAMED, Labeled([0.7, 0.1], ["knee", "hip"])], ids=["pandas", "xarray"])
def test_numbers_with_names_are_taken_by_name(leg: od.Model, labeled: Any) -> None:
    expected = od.gravity_force(leg, Q).full().ravel()
    for way, call in doors(leg).items():
        np.testing.assert_allclose(np.array(ca.DM(call(labeled)).full()).ravel(), expected, rtol=1e-14, err_msg=way)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (Series([0.7, 0.1], ["knee", "hipp"]), "the labels must be hip, knee.*got the labels knee, hipp.*mean 'hip'"),
        (Series([0.7, 0.1], ["knee", "knee"]), "each once, in any order, got the labels knee, knee"),
        (Series([0.7, 0.1, 0.2], ["knee", "hip", "knee"]), "each once, in any order, got the labels knee, hip, knee"),
        (Series([0.7, 0.1], [1, 0]), "the labels must be hip, knee"),
        (
            Table([[0.7, 0.1]], [0], ["knee", "hip"]),
            r"a table with the labels knee, hip: .* order hip, knee and .*to_numpy",
        ),
        (Table([[0.7], [0.1]], ["knee", "hip"], [0]), "a table with the labels knee, hip"),
        (np.ma.array(Q, mask=[False, True]), "1 of 2 numbers are masked"),
        ([0.1, np.ma.masked], "1 of 1 numbers are masked"),
        (SimpleNamespace(magnitude=np.array(Q), units="degree"), "plain numbers in SI units"),
    ],
    ids=["misspelled", "twice", "too many", "other positions", "table", "column", "masked", "masked entry", "units"],
)
def test_what_numbers_say_is_not_ignored(leg: od.Model, value: Any, fault: str) -> None:
    for way, call in doors(leg).items():
        with pytest.raises((TypeError, ValueError), match=fault):
            pytest.fail(f"{way} took {call(value)}")


def test_labels_that_are_positions_and_masks_of_nothing_are_fine(leg: od.Model) -> None:
    expected = od.gravity_force(leg, Q)
    for value in (
        Series(Q, range(2)),
        Table([[0.1], [0.7]], range(2), range(1)),
        np.ma.array(Q),
        np.ma.array(Q, mask=0),
    ):
        assert np.array_equal(od.gravity_force(leg, value).full(), expected.full())


PLACES = {
    "gravity": lambda leg, x: leg.with_gravity(x(3)),
    "limits": lambda leg, x: leg.with_limits(upper=x(2)),
    "effort": lambda leg, x: leg.with_limits(effort=x(2)),
    "inertia": lambda leg, x: leg.with_inertia("thigh", inertia=x(3)),
    "parameter": lambda leg, x: od.with_parameters(leg, {"com:thigh": x(3)}),
    "contact": lambda leg, x: od.Contact("thigh", x(3)),
    "scale": lambda leg, x: ocp.TorqueSquared(scale=x(2)),
    "declared": lambda leg, x: ocp.Parameter("aim", x(2)),
    "duration": lambda leg, x: ocp.Phase("hang", 1, x(2)),
    "recording": lambda leg, x: ocp.recording([0, 1], x(2)),
    "grid": lambda leg, x: ocp.grid(speed=x(2)),
    "along": lambda leg, x: ocp.solve_along(problem_of(leg), aim=x(2), solve={"progress": False}),
    "value": lambda leg, x: problem_of(leg).solve(values={"aim": x(2)}, progress=False),
    "lanes": lambda leg, x: od.codegen.Lanes.of(x(2)),
}


def problem_of(leg: od.Model) -> ocp.Problem:
    return ocp.Problem(leg, [ocp.Phase("hang", 1, 1.0)], parameters=[ocp.Parameter("aim", (1.0, 2.0))])


@pytest.mark.parametrize("place", PLACES)
def test_where_names_mean_nothing_labels_and_masks_are_refused(leg: od.Model, place: str) -> None:
    with pytest.raises(TypeError, match=r"count by their position here, got numbers with the labels c, b"):
        PLACES[place](leg, lambda n: Series(np.arange(1.0, n + 1), list("cba"[:n])))
    with pytest.raises(ValueError, match=r"1 of \d numbers are masked"):
        PLACES[place](leg, lambda n: np.ma.array(np.arange(1.0, n + 1), mask=[1, *[0] * (n - 1)]))
