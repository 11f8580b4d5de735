"""Processor time of inverse kinematics of 500 frames of 50 markers on a body of 37 dofs.

python -m scripts.bench.motions [--frames 500] [--markers 50] [--noise 0.01]

Markers are at random places 0.1 m from the origins of all bodies, in a motion of sinusoids of about 1 Hz, with errors.
Times are medians of five calls, after one that compiles.
"""

from __future__ import annotations

import sys
import time
from statistics import median
from typing import Any

import casadi as ca
import numpy as np

import ocp_dyn as od
from ocp_dyn.recordings import Recording, fit_motion
from scripts.common import command_line


def person() -> od.Model:
    """A body of 37 dofs: a root, a trunk, a head, two legs with toes, two arms with wrists."""
    builder = od.ModelBuilder("person")

    def add(name: str, joint: od.Joint, parent: str, origin: Any) -> None:
        builder.add_body(name, joint, parent, origin=origin, mass=3, inertia=(0.05, 0.05, 0.02))

    builder.add_body("pelvis", od.FloatingBase(rotation="euler_zyx"), mass=10, inertia=(0.1, 0.1, 0.1))
    add("torso", od.Euler("xyz"), "pelvis", (0, 0, 0.15))
    add("head", od.Universal("x", "y"), "torso", (0, 0, 0.5))
    for side, y in (("r", -1), ("l", 1)):
        add(f"thigh_{side}", od.Euler("yxz"), "pelvis", (0, 0.1 * y, -0.05))
        add(f"shank_{side}", od.Revolute("y"), f"thigh_{side}", (0, 0, -0.42))
        add(f"foot_{side}", od.Universal("y", "x"), f"shank_{side}", (0, 0, -0.42))
        add(f"toes_{side}", od.Revolute("y"), f"foot_{side}", (0.15, 0, -0.05))
        add(f"arm_{side}", od.Euler("yxz"), "torso", (0, 0.2 * y, 0.45))
        add(f"forearm_{side}", od.Revolute("y"), f"arm_{side}", (0, 0, -0.3))
        add(f"hand_{side}", od.Universal("z", "y"), f"forearm_{side}", (0, 0, -0.25))
    return builder.build()


def recorded(model: od.Model, frames: int, markers: int, noise: float) -> tuple[Recording, dict[str, Any]]:
    """Markers in a motion of the model, and their places on it."""
    rng = np.random.default_rng(0)
    t = np.arange(frames) / 100
    phase = 2 * np.pi * rng.uniform(0.5, 1.5, model.nv) * t[:, None] + rng.uniform(0, 6, model.nv)
    q = rng.uniform(0.05, 0.4, model.nv) * np.sin(phase)
    q[:, 0] += 1.2 * t
    names = model.body_names
    places = {f"m{k}": (names[k % len(names)], rng.normal(size=3) * 0.1) for k in range(markers)}
    x = ca.SX.sym("q", model.nq)
    parts = [od.point_position(model, frame, x, point) for frame, point in places.values()]
    points = np.array(ca.Function("markers", [x], [ca.vertcat(*parts)])(q.T)).T.reshape(frames, markers, 3)
    return Recording(list(places), t, points + noise * rng.standard_normal(points.shape), "m"), places


def main(argv: list[str] | None = None) -> int:
    parser = command_line(__doc__)
    parser.add_argument("--frames", type=int, default=500)
    parser.add_argument("--markers", type=int, default=50)
    parser.add_argument("--noise", type=float, default=0.01, help="errors of the markers [m]")
    options = parser.parse_args(argv)
    model = person()
    markers, places = recorded(model, options.frames, options.markers, options.noise)
    print(f"{model.nv} dofs, {markers}")
    print("| | processor time [s] | iterations | frames that did not converge | root mean square [mm] |")
    print("|---|---|---|---|---|")
    for compiled in (False, True):
        motion, times = fit_motion(model, markers, places=places, compiled=compiled), []
        for _ in range(5):
            begin = time.process_time()
            motion = fit_motion(model, markers, places=places, compiled=compiled)
            times.append(time.process_time() - begin)
        lost, far = int(np.sum(~np.asarray(motion.converged))), 1000 * float(motion.rms.mean())
        name = "compiled" if compiled else "interpreted"
        print(f"| {name} | {median(times):.3f} | {motion.iterations} | {lost} | {far:.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
