"""Times of a control step by an exported controller: the whole loop of a horizon in C, on one core.

    python -m scripts.bench.exported_controller [go2 g1 talos ...] [--steps 200] [--json]

The controller of `ocp.Horizon` is exported, compiled with -O3 for this processor, and walks with a robot that follows
its plan, but for noise of the velocities. prepare: references, footholds, linearization of all nodes and the quadratic
program, before the state is measured; feedback: the program of the first interval, torques and gains. Figures are
processor times, medians and 99th percentiles after the first ten steps, and the rate at which steps can follow one
another. The same loop in Python is timed beside it.

The robot "legs" are the legs of Talos over 53 intervals. Where Crocoddyl can be imported, an iteration of its own walk
of these legs over 53 intervals (FDDP, `scripts.bench.rti`) is timed in the same run, on the wall clock. It has no
limits of torques or joints, and penalties for friction cones.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.native.libraries import STAGE_QP
from ocp_dyn.native.toolchain import find_compiler
from scripts.common import Table, command_line

from .dynamics.robots import urdf
from .rti import crocoddyls
from .walk_of_legs import SOLES, legs, standing

WINDOWS: dict[str, tuple[str, float, int]] = {"go2": ("trot", 0.5, 25), "anymal_c": ("trot", 0.5, 25)}
LEGS = "legs"
BIPED = ("walk", 0.8, 20)
"""Gait, duration [s] and intervals of the window."""

FLAGS = ("-std=c99", "-O3", "-march=native", "-ffp-contract=fast", "-fno-math-errno", "-Wno-psabi", "-fPIC")
NOISE, PERIOD, FORWARD = 0.02, 0.01, 0.3
"""Standard deviation of the velocities, control period [s], speed [m/s]."""


def horizon_of(name: str, intervals: int | None) -> ocp.Horizon:
    """The horizon of a robot of `od.control.body`, or of the legs of Talos."""
    if name == LEGS:
        model = legs(urdf("talos_reduced") or Path())
        soles = [ocp.Foothold(od.Contact(sole), half_length=0.1, half_width=0.05) for sole in SOLES]
        return ocp.Horizon(model, soles, posture=standing(model), gait="walk", duration=1.06, intervals=intervals or 53)
    body = od.control.body(name)
    feet = [
        ocp.Foothold(od.Contact(f.frame), half_length=f.half_length, half_width=f.half_width)
        if f.flat
        else ocp.Foothold(od.Contact(f.frame, axes="xyz"))
        for f in body.feet
    ]
    gait, duration, count = WINDOWS.get(name, BIPED)
    return ocp.Horizon(
        body.model, feet, posture=body.posture, gait=gait, duration=duration, intervals=intervals or count
    )  # fmt: skip


def compiled(folder: Path) -> ctypes.CDLL:
    """The library of an export; functions of many operations by -O1, as CMake does it."""
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("there is no C compiler")
    for source in folder.glob("ctrl*.c"):
        level = ["-O1"] if source.stat().st_size > 1e6 else []
        subprocess.run([*compiler.command, *FLAGS, *level, "-c", source, "-o", source.with_suffix(".o")], check=True)
    made = folder / "libctrl.so"
    subprocess.run([*compiler.command, "-shared", *folder.glob("*.o"), "-o", made, "-lm"], check=True)
    return ctypes.CDLL(str(made))


def walked(horizon: ocp.Horizon, library: ctypes.CDLL, numbers: int, steps: int) -> dict[str, Any]:
    """Seconds of all steps in C and in Python, and what the programs took."""
    model, rng = horizon.model, np.random.default_rng(0)
    q, qd = np.array(horizon.body.posture), np.zeros(model.nv)
    tau, gains = np.zeros(model.nv - 6), np.zeros((model.nv - 6, 2 * model.nv))
    room = np.zeros(numbers + 7)
    memory = ctypes.c_void_p(room.ctypes.data + 8 * (-(room.ctypes.data // 8) % 8))
    command, asked = ocp.Command(forward=FORWARD), ocp.Command(forward=FORWARD).vector(horizon.body.height)

    def call(name: str, *values: Any) -> int:
        given = [ctypes.c_void_p(v.ctypes.data) if isinstance(v, np.ndarray) else v for v in values]
        return int(getattr(library, f"ctrl_{name}")(memory, *given))

    control = horizon.controller()
    control.reset(0.0, q, qd)
    if call("init") or call("reset", ctypes.c_double(0.0), q, qd):
        raise RuntimeError("the controller does not begin")
    found: dict[str, list[float]] = {"prepare": [], "feedback": [], "python": [], "factorizations": []}
    for step in range(steps):
        now, clock = step * PERIOD, time.process_time()
        status = call("prepare", ctypes.c_double(now), asked, None, None, None, None)
        middle = time.process_time()
        status = status or call("feedback", q, qd, tau, gains)
        found["prepare"].append(middle - clock)
        found["feedback"].append(time.process_time() - middle)
        found["factorizations"].append(call("residuals", np.zeros(4)))
        if status > 3:
            raise RuntimeError(f"step {step} has the status {status}")
        clock = time.process_time()
        control.prepare(now, command)
        control.feedback(q, qd)
        found["python"].append(time.process_time() - clock)
        call("planned", ctypes.c_double(now + PERIOD), q, qd)
        qd += NOISE * rng.normal(size=qd.size)
    return {name: np.array(values[10:]) for name, values in found.items()}


def measured(name: str, steps: int, intervals: int | None) -> dict[str, float]:
    """Figures of a robot."""
    horizon = horizon_of(name, intervals)
    with tempfile.TemporaryDirectory() as place:
        folder = od.codegen.export_controller(horizon, Path(place) / "ctrl")
        header = (folder / "ctrl_controller.h").read_text()
        numbers = int(header.split("#define CTRL_NUMBERS ")[1].split()[0])
        found = walked(horizon, compiled(folder), numbers, steps)
    whole = found["prepare"] + found["feedback"]
    figures = {"dofs": float(horizon.model.nv), "intervals": float(horizon.intervals), "MB": 8e-6 * numbers}
    figures |= {part: 1e3 * float(np.median(found[part])) for part in ("prepare", "feedback", "python")}
    figures |= {"step": 1e3 * float(np.median(whole)), "step 99 %": 1e3 * float(np.quantile(whole, 0.99))}
    figures |= {"factorizations": float(np.median(found["factorizations"])), "Hz": 1 / float(np.median(whole))}
    return figures


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("robots", nargs="*", default=["go2", "g1"], help="names of od.control.body (default go2 g1)")
    parser.add_argument("--steps", type=int, default=200, help="control steps of each (default 200)")
    parser.add_argument("--intervals", type=int, help="of the window; default: 25 on four feet, 20 on two")
    parser.add_argument("--json", action="store_true", help="the figures as the last line")
    options = parser.parse_args()
    STAGE_QP.obtain(wait=True)
    titles = "dofs", "intervals", "prepare", "feedback", "step", "step 99 %", "factorizations", "Hz", "python", "MB"
    table = Table({"ms": "<10s"} | dict.fromkeys(titles, "8.3g"))
    rows = {}
    for name in options.robots:
        rows[name] = measured(name, options.steps, options.intervals)
        table.row(name, *(rows[name][title] for title in titles))
    if LEGS in options.robots and (peers := crocoddyls()):
        for name, lap in peers[0].items():
            seconds = [lap()[0] for _ in range(options.steps)]
            rows[name] = {"step": 1e3 * float(np.median(seconds)), "least": 1e3 * min(seconds)}
            print(f"{name}: an iteration takes {rows[name]['step']:.3g} ms, {rows[name]['least']:.3g} at least")
    if options.json:
        print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
