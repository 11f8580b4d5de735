"""Tables at even times: over a stride, with ground forces and centers of pressure in the world; pandas and xarray."""

import csv

import numpy as np
import pytest

from ocp_dyn.gait.unrolled import weight
from tests.ocp.workflows.test_convergence import turn
from tests.viz.motions import SOLE, walk


@pytest.fixture(scope="module")
def steps():
    return walk()


@pytest.mark.slow
def test_a_stride_has_the_forces_of_both_feet_in_the_world(steps):
    table = steps.table(stride=True)
    assert len(table["time"]) == 101
    np.testing.assert_allclose(table["percent"], np.arange(101.0))
    assert table["time"][-1] == pytest.approx(2 * steps.duration)  # a mirrored step, twice
    forces = [name for name in table if name.startswith("force ") and name.endswith(" z")]
    assert len(forces) == 2
    body = weight(steps.model)
    total = sum(table[name] for name in forces)
    assert total.max() <= 1.001 * body
    right = sorted(forces)[1]
    assert {round(float(x) / body, 6) for x in table[right]} >= {0.0, 1.0}  # in the air, and alone on the ground
    foot = right.split()[1]
    x = table[f"pressure {foot} x"]
    assert np.isnan(x[table[right] == 0]).all()
    assert np.isfinite(x[table[right] > 0.05 * body]).all()
    np.testing.assert_allclose(table[f"pressure {foot} z"][table[right] > 0.05 * body], 0.0, atol=1e-9)
    place = steps.phases[0].places
    name = next(name for name in place if name.endswith("_r"))
    np.testing.assert_allclose(x[0] - place[name][0], SOLE[0], atol=1e-9)


def test_positions_and_means_are_those_of_the_motion(steps):
    table = steps.table(samples=5)
    assert len(table["time"]) == 5
    np.testing.assert_allclose(table["time"], np.linspace(0, steps.duration, 5))
    names = [f"q {name}" for name in steps.model.q_names]
    np.testing.assert_allclose(np.array([table[name] for name in names]).T[:4], steps.sample(table["time"][:4]))
    wheel = turn(0.3).solve(progress=False)
    even = wheel.table(samples=7)  # the nodes of 6 intervals
    np.testing.assert_allclose(even["q rim_joint"], wheel.q[:, 0], atol=1e-9)
    np.testing.assert_allclose(even["qd rim_joint"], wheel.qd[:, 0], atol=1e-9)
    assert even["tau rim_joint"][0] == pytest.approx(wheel.tau[0, 0])
    assert even["tau rim_joint"][1] == pytest.approx(wheel.tau[:2, 0].mean())
    assert "percent" not in even


def test_a_csv_of_a_stride(steps, tmp_path):
    path = steps.to_csv(tmp_path / "a.csv", stride=True, samples=11)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 11
    assert rows[0]["phase"] == steps.phases[0].name
    assert float(rows[-1]["percent"]) == 100.0
    assert any(row[name] == "" for row in rows for name in row if name.startswith("pressure"))


@pytest.mark.slow
def test_tables_of_pandas_and_xarray(steps):
    frame = steps.to_dataframe(stride=True)
    assert len(frame) == 101
    assert frame.attrs["converged"] == 1
    assert set(frame.phase.unique()) <= {phase.name for phase in steps.phases}
    data = steps.to_xarray(stride=True)
    assert data["force"].dims == ("sample", "foot", "axis")
    assert data["q"].sizes["q_entry"] == steps.model.nq
    assert data["q"].attrs["units"] == "rad or m"
    foot = str(data.foot.values[0])
    np.testing.assert_array_equal(data["force"].sel(foot=foot, axis="z"), frame[f"force {foot} z"])
    failed = turn().solve(progress=False)
    assert failed.to_xarray(samples=3).attrs["mark"] == "NOT CONVERGED (Infeasible)"
    assert failed.to_dataframe().attrs["converged"] == 0


def test_errors(steps, monkeypatch):
    with pytest.raises(ValueError, match="needs a periodic motion"):
        turn(0.3).solve(progress=False).table(stride=True)
    with pytest.raises(ValueError, match="samples must be at least 2"):
        steps.table(samples=1)
    with pytest.raises(ValueError, match="layout='mujoco'"):
        steps.table("mujoco", samples=5)
    with pytest.raises(TypeError, match="stride must be True or False"):
        steps.table(stride="yes")
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match="to_dataframe needs the package pandas"):
        steps.to_dataframe()
