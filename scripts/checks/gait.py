"""Inverse kinematics and dynamics of a recording, beside the results of OpenSim.

    python -m scripts.checks.gait MODEL.osim WALK.trc LOADS.xml --weights TASKS.xml [--ik IK.mot] [--id ID.sto]
        [--cutoff 6] [--muscles MUSCLES.sto] [--isometric]

Prints the errors of markers, the time of a frame, interpreted and compiled, and root mean squares of the differences of
angles [degrees] from IK.mot, and of moments [N m, N] from ID.sto, which are compared along the coordinates of IK.mot.
--muscles: activations of OpenSim's static optimization, which are compared with ours along the same motion, without
passive forces and with activations from 0.01 to 1; --isometric: with forces that do not depend on lengths and speeds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn.recordings import (
    FittedMotion,
    Recording,
    fit_motion,
    net_moments,
    read,
    read_external_loads,
    read_weights,
    static_optimization,
)
from scripts.common import command_line

LIMITS = (0.01, 1.0)
"""Limits of activations of OpenSim's muscles."""


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """Result and processor time of the second call [s]; the first one makes what is kept."""
    call()
    begin = time.process_time()
    return call(), time.process_time() - begin


def apart(ours: Recording, theirs: Recording, renamed: Callable[[str], str] = str) -> dict[str, float]:
    """Root mean squares of differences by their names, over their times."""
    at = ours.resample(times=theirs.times)
    known = [name for name in theirs.names if renamed(name) in ours.names]
    return {name: float(np.sqrt(np.nanmean((at[renamed(name)] - theirs[name]) ** 2))) for name in known}


def listed(title: str, found: dict[str, float]) -> None:
    print(title, ", ".join(f"{name} {x:.3g}" for name, x in sorted(found.items(), key=lambda item: -item[1])))


def shared(motion: FittedMotion, forces: Recording, theirs: str | None, isometric: bool) -> None:
    """Prints the time of static optimization, its residual and reserves, and differences from another's activations."""
    moments = net_moments(motion, forces)
    curves = None if isometric else "own"
    statement: Any = {"curves": curves, "passive": False, "activations": LIMITS}
    for paths in ("smooth", "exact"):
        found, seconds = timed(partial(static_optimization, moments, paths=paths, **statement))
        print(f"muscle forces, {paths} paths: {1000 * seconds / motion.times.size:.2f} ms a frame, KKT residual "
              f"{np.nanmax(found.residual):.1e}, reserves {np.nanmax(np.abs(found.reserves)):.2g} N m")  # fmt: skip
        tied, seconds = timed(partial(static_optimization, moments, paths=paths, dynamics=True, **statement))
        print(f"with activation dynamics: {1000 * seconds / motion.times.size:.2f} ms a frame, KKT residual "
              f"{np.nanmax(tied.residual):.1e}, reserves {np.nanmax(np.abs(tied.reserves)):.2g} N m")  # fmt: skip
        if theirs:
            differences = apart(found.recording(), read(theirs))
            print(f"activations: root mean square {np.sqrt(np.mean(np.square([*differences.values()]))):.2g}")
            listed("largest:", dict(sorted(differences.items(), key=lambda item: -item[1])[:6]))


def main(arguments: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    for name in ("model", "markers", "loads"):
        parser.add_argument(name)
    parser.add_argument("--isometric", action="store_true")
    for name in ("--weights", "--ik", "--id", "--muscles"):
        parser.add_argument(name)
    parser.add_argument("--cutoff", type=float, default=6.0)
    options = parser.parse_args(arguments)
    model, markers = od.load(options.model), read(options.markers, up="y")
    known = {marker.name for marker in model.markers} & {*markers.names}
    weights = {k: w for k, w in read_weights(options.weights).items() if k in known} if options.weights else None
    forces = read_external_loads(options.loads)
    for compiled in (False, True):
        motion, seconds = timed(lambda c=compiled: fit_motion(model, markers, weights=weights, compiled=c))
        smooth = motion.filtered(options.cutoff)
        at = forces.resample(times=motion.times)
        _, dynamics = timed(lambda c=compiled, m=smooth, f=at: net_moments(m, f, compiled=c))
        per = 1000 / motion.times.size
        how = "compiled" if compiled else "interpreted"
        print(f"{how}: kinematics {seconds:.2f} s, {per * seconds:.2f} ms a frame; "
              f"dynamics {per * dynamics:.3f} ms a frame")  # fmt: skip
    worst = 1000 * float(np.nanmax(motion.distances))
    print(f"markers: root mean square {1000 * np.nanmean(motion.rms):.2f} mm in the mean, "
          f"{1000 * np.nanmax(motion.rms):.1f} mm at worst, largest {worst:.0f} mm")  # fmt: skip
    if options.ik:
        theirs = read(options.ik)
        listed("angles [degrees]:", apart(motion.coordinates(degrees=True), theirs))
        smooth = fit_motion(model, coordinates=theirs).filtered(options.cutoff)
    if options.id:
        found = net_moments(smooth, forces).moments
        listed(
            "moments [N m, N]:",
            apart(found, read(options.id), lambda n: n.replace("_moment", "").replace("_force", "")),
        )
    if model.muscles:
        shared(smooth, forces, options.muscles, options.isometric)
    return 0


if __name__ == "__main__":
    sys.exit(main())
