"""The report of a recorded walk: numbers, figures in measured bands, text."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ... import _names as od
from ...native.provenance import provenance, sentences
from ..inputs import note


def drawn(found: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Curves of each side that has a whole stride; their pictures are written."""
    gaits = {}
    for side in ("right", "left"):
        try:
            gait = found.gait(side)
        except ValueError as error:
            note(f"{side} side: {error}")
            continue
        gaits[side] = gait
        quantities = ["angles", "moments", "powers", "forces"]
        gait.plot(options.out / f"gait_{side}.png", reference=options.reference, quantities=quantities)
    return gaits


def _means(squares: Any) -> Any:
    """Means of columns over the frames that have numbers; nan without any."""
    there = ~np.isnan(squares).any(axis=1)
    return squares[there].mean(axis=0) if there.any() else np.full(squares.shape[1], np.nan)


def numbers_of(raw: Any, found: Any, forces: Any) -> dict[str, Any]:
    """Figures of the report: errors of markers [m], residuals of the root [N, N m], events [s]."""
    events = od.recordings.events_from_forces(forces)
    far = {name: float(np.sqrt(np.nanmean(d**2))) for name, d in zip(raw.markers, raw.distances.T, strict=True)}
    rest, on = found.residuals, found.carried
    names, squares = rest.names, rest.values**2
    all_of, carried = (dict(zip(names, np.sqrt(_means(x)).tolist(), strict=True)) for x in (squares, squares[on]))
    return {
        "frames": int(raw.times.size),
        "marker_rms_m": float(np.nanmean(raw.rms)),
        "worst_frame_rms_m": float(np.nanmax(raw.rms)),
        "marker_rms_by_name_m": far,
        "residual_rms": all_of,
        "residual_rms_on_plates": carried,
        "frames_on_plates": int(on.sum()),
        "strikes_s": {foot: t.tolist() for foot, t in events.strikes.items()},
        "toe_offs_s": {foot: t.tolist() for foot, t in events.offs.items()},
    }


def text_of(
    options: argparse.Namespace, model: Any, numbers: dict[str, Any], gaits: dict[str, Any], subject: list[str]
) -> str:
    """The report: the subject, errors of markers, residuals, figures of each side."""
    forces = (options.forces or options.markers).name
    files = f"Markers: {options.markers.name}; forces: {forces}; low-pass filter at {options.cutoff:g} Hz."
    mean, worst = 1000 * numbers["marker_rms_m"], 1000 * numbers["worst_frame_rms_m"]
    error = f"Root mean square of the markers: {mean:.1f} mm on average, {worst:.1f} mm in the worst frame."
    lines = [f"# {model.name or 'Gait'}, recorded walk", "", files, "", *subject, error, ""]
    lines += ["| marker | root mean square [mm] |", "|---|---|"]
    by_size = sorted(numbers["marker_rms_by_name_m"].items(), key=lambda item: -item[1])
    lines += [f"| {name} | {1000 * x:.1f} |" for name, x in by_size]
    lines += ["", "Forces and moments of the first joint, which nothing exerts on a free body (root mean square):", ""]
    on = f"{numbers['frames_on_plates']} of {numbers['frames']} frames"
    lines += [f"| dof | residual [N, N m] in {on} with the weight on the plates | in all frames |", "|---|---|---|"]
    carried = numbers["residual_rms_on_plates"]
    lines += [f"| {name} | {carried[name]:.1f} | {x:.1f} |" for name, x in numbers["residual_rms"].items()]
    lines += [
        "",
        "Where the plates carry less than half of the weight, a foot stands beside them: its force is missing.",
    ]
    for side, gait in gaits.items():
        lines += ["", f"## {side.capitalize()} side", "", f"![{side} side](gait_{side}.png)", ""]
        lines += ["| figure | value |", "|---|---|", *(f"| {name} | {value} |" for name, value in gait.rows())]
    lines += ["", *sentences(provenance())]
    return "\n".join(lines) + "\n"
