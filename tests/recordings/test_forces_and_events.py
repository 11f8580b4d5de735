"""Ground forces, centers of pressure, feet on plates, events and strides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ocp_dyn import recordings
from ocp_dyn.recordings import Events, Recording

T = np.arange(0, 3, 0.005)


def load_of(t: np.ndarray, begin: float, end: float) -> np.ndarray:
    """Vertical force of a stance: zero outside, 800 N in the middle."""
    s = np.clip((t - begin) / (end - begin), 0, 1)
    return 800 * np.sin(np.pi * s) ** 2


def table(seed: int = 0) -> tuple[Recording, dict[str, np.ndarray]]:
    """A table with y up, and the force, point and free moment in axes with z up."""
    rng = np.random.default_rng(seed)
    up = load_of(T, 0.4, 1.1) + load_of(T, 1.5, 2.2)
    force = np.stack([0.1 * up, 0.05 * up, up], axis=1)
    point = np.stack([0.5 + 0.2 * T, 0.1 + 0 * T, 0 * T], axis=1)
    free = np.stack([0 * T, 0 * T, 0.004 * up * rng.uniform(0.9, 1.1)], axis=1)
    back = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    names = [f"ground_force_1_{p}{x}" for p in "vp" for x in "xyz"] + [f"ground_torque_1_{x}" for x in "xyz"]
    values = np.concatenate([force @ back.T, np.where(up[:, None] > 0, point, 99.0) @ back.T, free @ back.T], axis=1)
    return Recording(names, T, values), {"force": force, "point": point, "free": free}


def test_tables_become_wrenches_and_centers_of_pressure() -> None:
    given, truth = table()
    forces = recordings.ground_forces(given, {"ground_force_1_": "foot"})
    np.testing.assert_allclose(forces["foot"][:, 3:], truth["force"], atol=1e-12)
    wanted = truth["free"] + np.cross(truth["point"], truth["force"])
    np.testing.assert_allclose(forces["foot"][:, :3], wanted, atol=1e-9)
    center, free = recordings.pressure_centers(forces)
    loaded = truth["force"][:, 2] >= 20
    np.testing.assert_array_equal(np.isnan(center["foot"]).any(axis=1), ~loaded)
    np.testing.assert_allclose(center["foot"][loaded], truth["point"][loaded], atol=1e-9)
    np.testing.assert_allclose(free["foot"][loaded], truth["free"][loaded, 2], atol=1e-9)


def test_centers_of_pressure_lie_on_a_plane_at_a_height() -> None:
    f, p = np.array([30.0, -20.0, 400.0]), np.array([0.3, 0.7, 0.25])
    forces = Recording("foot", [0.0], [[[*np.add(np.cross(p, f), (0, 0, 3.0)), *f]]])
    center, free = recordings.pressure_centers(forces, height=0.25)
    np.testing.assert_allclose(center["foot"][0], p, atol=1e-12)
    assert free["foot"][0] == pytest.approx(3.0)


def test_forces_are_written_as_opensim_reads_them(tmp_path: Path) -> None:
    given, _ = table()
    forces = recordings.ground_forces(given, {"ground_force_1_": "foot"})
    recordings.write(forces, tmp_path / "grf.mot", up="y")
    again = recordings.read(tmp_path / "grf.mot")
    assert again.names[:4] == ("foot_force_vx", "foot_force_vy", "foot_force_vz", "foot_force_px")
    found = recordings.ground_forces(again, {"foot_force_": "foot"})
    loaded = forces["foot"][:, 5] >= 20
    np.testing.assert_allclose(found["foot"][loaded], forces["foot"][loaded], atol=1e-9)
    assert not found["foot"][~loaded].any()


def test_columns_that_are_missing_are_named() -> None:
    given, _ = table()
    with pytest.raises(KeyError, match="no 'ground_force_r_vx': did you mean 'ground_force_1_v"):
        recordings.ground_forces(given, {"ground_force_r_": "foot"})
    with pytest.raises(TypeError, match="feet must give names of frames by beginnings"):
        recordings.ground_forces(given, ["foot"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="pressure_centers needs a Recording of wrenches"):
        recordings.pressure_centers(given)


def test_each_load_of_a_plate_goes_to_the_nearest_foot() -> None:
    up = load_of(T, 0.4, 1.0) + load_of(T, 1.5, 2.1)
    point = np.where(T[:, None] < 1.2, [0.3, 0.1, 0.0], [0.9, -0.1, 0.0])
    force = np.stack([0 * up, 0 * up, up], axis=1)
    plates = Recording("plate1", T, np.concatenate([np.cross(point, force), force], axis=1)[:, None])
    spots = np.stack(
        [np.stack([0 * T + x, 0 * T + y, 0 * T + 0.1], axis=1) for x, y in [(0.25, 0.1), (0.35, 0.1), (1, -0.1)]],
        axis=1,
    )
    markers = Recording(["R.Heel", "R.Toe", "L.Heel"], T, spots, "m")
    found = recordings.on_feet(plates, markers, {"r": ["R.Heel", "R.Toe"], "l": "L.Heel"})
    kept = np.where(up >= 20, up, 0)
    np.testing.assert_allclose(found["r"][:, 5], np.where(T < 1.2, kept, 0))
    np.testing.assert_allclose(found["l"][:, 5], np.where(T > 1.2, kept, 0))
    lost = Recording(markers.names, T, np.full(spots.shape, np.nan))
    with pytest.raises(ValueError, match=r"plate1 is loaded from 0.4.* the markers of all feet are missing"):
        recordings.on_feet(plates, lost, {"r": "R.Heel"})


def test_events_of_forces() -> None:
    up = load_of(T, 0.4, 1.1) + load_of(T, 1.5, 2.2)
    up[T.searchsorted(1.3)] = 300  # a blow shorter than a stance
    up[T.searchsorted(0.7)] = 0.0  # a sample that was lost in the middle of one
    forces = Recording("r", T, np.stack([0 * up] * 5 + [up], axis=1)[:, None])
    events = recordings.events_from_forces(forces, threshold=40.0)
    # 800 sin^2(pi s) = 40 at s = asin(sqrt(0.05)) / pi
    s = 0.7 * np.arcsin(np.sqrt(0.05)) / np.pi
    np.testing.assert_allclose(events.strikes["r"], [0.4 + s, 1.5 + s], atol=2e-4)
    np.testing.assert_allclose(events.offs["r"], [1.1 - s, 2.2 - s], atol=2e-4)


def test_events_of_markers_along_any_way() -> None:
    phase = 2 * np.pi * (T - 0.17)
    way = np.array([np.cos(0.7), np.sin(0.7), 0.0])
    pelvis = 1.3 * T[:, None] * way + (0, 0, 1)
    heel = pelvis + 0.3 * np.sin(phase)[:, None] * way - (0, 0, 0.9)
    heel[100:104] = np.nan
    markers = Recording(["heel", "pelvis"], T, np.stack([heel, pelvis], axis=1), "m")
    events = recordings.events_from_markers(markers, {"r": "heel"}, {"r": "heel"}, pelvis="pelvis")
    np.testing.assert_allclose(events.strikes["r"], [0.42, 1.42, 2.42], atol=1e-5)
    np.testing.assert_allclose(events.offs["r"], [0.92, 1.92, 2.92][: len(events.offs["r"])], atol=1e-5)
    still = Recording(markers.names, T, markers.values - pelvis[:, None])
    with pytest.raises(ValueError, match="moves by 0 m only; on a treadmill"):
        recordings.events_from_markers(still, {"r": "heel"}, {}, pelvis="pelvis")


def test_strides_are_cut() -> None:
    record = Recording(["a", "b"], T, np.stack([T, np.cos(2 * np.pi * T)], axis=1))
    events = Events({"r": [-0.2, 0.8, 1.8, 3.4]}, {})
    found = recordings.cycles(record, events, "r")
    assert found.shape == (1, 101, 2)
    np.testing.assert_allclose(found[0, :, 0], np.linspace(0.8, 1.8, 101), atol=1e-12)
    with pytest.raises(ValueError, match=r"no stride of l lies within the recording, from 0 to 2.995 s"):
        recordings.cycles(record, Events({"l": [1.0]}, {}), "l")
    with pytest.raises(KeyError, match="no strikes of 'R': did you mean 'r'"):
        recordings.cycles(record, events, "R")
