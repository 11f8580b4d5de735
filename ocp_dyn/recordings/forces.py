"""Ground forces: tables of forces, centers of pressure and free moments; force plates; which foot stands on which.

A wrench is [moment about the origin; force], in the axes of the recording. It is linear in what the plates measure, so
it can be filtered and resampled; centers of pressure are quotients, and are taken from it at the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._base import checks
from .._base.types import Array, repr_in_message
from .recording import Y_UP, Recording
from .signals import complete_runs

LOADED = 20.0
"""Vertical force above which a foot is on the ground [N]; plates are read with thresholds of 10 to 20 N."""


def ground_forces(table: Recording, feet: Mapping[str, str], *, up: str = "y") -> Recording:
    """Wrenches on feet from columns as ground_force_r_vx, ground_force_r_px, ground_torque_r_x of a .mot file.

    feet: names of frames by beginnings of columns, {"ground_force_r_": "calcn_r"}: the columns of the force begin so
    and end with vx, vy, vz, those of the point at which it acts [m] with px, py, pz, and those of the free moment
    [N m] have "torque" in the place of "force". Where a force is exactly zero its point counts for nothing. A point
    that is always zero while there is a force stands for wrenches about the origin. up: the vertical axis of the table;
    the wrenches are in axes with z up.

    KeyError for columns that are not there, with the nearest.

    >>> names = [f"ground_force_r_{p}{x}" for p in "vp" for x in "xyz"] + [f"ground_torque_r_{x}" for x in "xyz"]
    >>> table = od.recordings.Recording(names, [0.0], [[0, 700, 0, 0.5, 0, 0.1, 0, 2, 0]])
    >>> od.recordings.ground_forces(table, {"ground_force_r_": "calcn_r"})["calcn_r"].tolist()
    [[-70.0, -350.0, 2.0, 0.0, 0.0, 700.0]]
    """
    if not isinstance(feet, Mapping) or not feet or not all(isinstance(x, str) for pair in feet.items() for x in pair):
        raise TypeError(
            "ground_forces: feet must give names of frames by beginnings of columns, such as "
            f"{{'ground_force_r_': 'calcn_r'}}, got {repr_in_message(feet)}"
        )
    return wrenches_of(
        table, {frame: (f"{b}v", f"{b}p", b.replace("force", "torque", 1)) for b, frame in feet.items()}, up
    )


def wrenches_of(table: Recording, columns: Mapping[str, tuple[str, str, str]], up: str) -> Recording:
    """Wrenches by frame from the beginnings of the columns of force, point and torque; "" where there are none."""
    _check(table, "numbers", "ground_forces")
    checks.choice(up, ("y", "z"), "ground_forces: up")
    wrenches = []
    for names in columns.values():
        none = np.zeros((table.times.size, 3))
        force, point, torque = (table.select([b + x for x in "xyz"]).values if b else none for b in names)
        point = np.where((force == 0).all(axis=1, keepdims=True), 0.0, point)
        wrenches.append(np.concatenate([torque + np.cross(point, force), force], axis=1))
    found = Recording(tuple(columns), table.times, np.stack(wrenches, axis=1), ("N m, N",), table.title)
    return found.turned(Y_UP) if up == "y" else found


def pressure_centers(forces: Recording, *, height: float = 0.0, least: float = LOADED) -> tuple[Recording, Recording]:
    """(centers of pressure [m] as points on the plane z = height, free moments about the vertical there [N m]).

    A center is the point of the plane at which the moment is vertical: with f and n about (0, 0, height), x = -n_y /
    f_z, y = n_x / f_z. Both are NaN where the vertical force is below `least` [N].

    >>> forces = od.recordings.Recording("foot", [0.0], [[[-70.0, -350.0, 2.0, 0.0, 0.0, 700.0]]], "N m, N")
    >>> center, free = od.recordings.pressure_centers(forces)
    >>> center["foot"].round(6).tolist(), free["foot"].tolist()
    ([[0.5, -0.1, 0.0]], [2.0])
    """
    _check(forces, "wrenches", "pressure_centers")
    height, least = checks.finite(height, "pressure_centers: height"), checks.positive(least, "pressure_centers: least")
    f = forces.values[..., 3:]
    n = forces.values[..., :3] - np.cross([0.0, 0.0, height], f)
    up = np.where(f[..., 2] >= least, f[..., 2], np.nan)
    center = np.stack([-n[..., 1] / up, n[..., 0] / up, np.where(np.isnan(up), np.nan, height)], axis=-1)
    free = n[..., 2] - (center[..., 0] * f[..., 1] - center[..., 1] * f[..., 0])
    return replace(forces, values=center, units=("m",)), replace(forces, values=free, units=("N m",))


def force_table(forces: Recording, *, up: str = "y", least: float = LOADED) -> Recording:
    """The table of a .mot file of ground forces, which OpenSim applies at points: NAME_vx, NAME_px, NAME_torque_x, ...

    Where the vertical force is below `least` [N], force, point and free moment are zero.

    >>> forces = od.recordings.Recording("foot", [0.0], [[[-70.0, -350.0, 2.0, 0.0, 0.0, 700.0]]], "N m, N")
    >>> table = od.recordings.force_table(forces)
    >>> table["foot_force_px"].tolist(), table["foot_force_pz"].round(6).tolist()
    ([0.5], [0.1])
    """
    checks.choice(up, ("y", "z"), "force_table: up")
    center, free = pressure_centers(forces, least=least)
    torque = np.zeros(center.values.shape)
    torque[..., 2] = free.values
    R = Y_UP.T if up == "y" else np.eye(3)
    names, columns = [], []
    for k, name in enumerate(forces.names):
        for middle, values in (("force_v", forces.values[:, k, 3:]), ("force_p", center.values[:, k]),
                               ("torque_", torque[:, k])):  # fmt: skip
            names += [f"{name}_{middle}{axis}" for axis in "xyz"]
            columns.append(np.where(np.isnan(center.values[:, k]), 0.0, values) @ R.T)
    units = (*["N"] * 3, *["m"] * 3, *["N m"] * 3) * len(forces.names)
    return Recording(tuple(names), forces.times, np.concatenate(columns, axis=1), units, forces.title)


def on_feet(
    plates: Recording, markers: Recording, feet: Mapping[str, str | Sequence[str]], *, least: float = LOADED
) -> Recording:
    """Wrenches of feet from those of plates: each time that a plate is loaded belongs to the foot nearest to its center
    of pressure.

    feet: markers of each foot by the name of its frame, {"calcn_r": ["R.Heel", "R.Toe"]}; the distance is that from the
    line through the middle of these markers, straight down, on average over the time of loading. Forces below `least`
    [N] are left out. ValueError if a foot's markers are missing during a load.

    >>> plates = od.recordings.Recording("plate1", [0.0, 0.1], [[[0, -70, 0, 0, 0, 700.0]]] * 2, "N m, N")
    >>> spots = [[[0.1, 0.1, 0.1], [0.9, -0.1, 0.1]]] * 2
    >>> markers = od.recordings.Recording(["R.Heel", "L.Heel"], [0.0, 0.1], spots, "m")
    >>> od.recordings.on_feet(plates, markers, {"calcn_r": "R.Heel", "calcn_l": "L.Heel"})["calcn_r"][0].tolist()
    [0.0, -70.0, 0.0, 0.0, 0.0, 700.0]
    """
    _check(plates, "wrenches", "on_feet")
    _check(markers, "points", "on_feet: markers")
    if not isinstance(feet, Mapping) or not feet:
        raise TypeError(f"on_feet: feet must give markers by frames, got {repr_in_message(feet)}")
    at = markers.resample(times=plates.times)
    middles = {foot: at.select([m] if isinstance(m, str) else m).values.mean(axis=1) for foot, m in feet.items()}
    centers, _ = pressure_centers(plates, least=least)
    found = np.zeros((plates.times.size, len(feet), 6))
    for k, plate in enumerate(plates.names):
        place = centers.values[:, k, :2]
        for a, b in complete_runs(np.isnan(place).any(axis=1)):
            gaps = np.array([_distance(middle[a:b], place[a:b]) for middle in middles.values()])
            if np.isnan(gaps).all():
                raise ValueError(
                    f"on_feet: {plate} is loaded from {plates.times[a]:.4g} to {plates.times[b - 1]:.4g} s, and the "
                    "markers of all feet are missing then: fill_gaps first, or name other markers"
                )
            found[a:b, int(np.nanargmin(gaps))] += plates.values[a:b, k]
    return Recording(tuple(feet), plates.times, found, ("N m, N",), plates.title)


def _distance(middle: Array, place: Array) -> float:
    far = np.linalg.norm(middle[:, :2] - place, axis=1)
    return float(np.mean(far[np.isfinite(far)])) if np.isfinite(far).any() else np.nan


def _check(recording: Any, kind: str, what: str) -> None:
    if not isinstance(recording, Recording) or recording.kind != kind:
        raise TypeError(f"{what} needs a Recording of {kind}, got {repr_in_message(recording)}")
