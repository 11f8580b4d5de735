"""A horizon as `codegen.export_controller` takes it: its functions and numbers, those of the first step included."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np
from casadi import SX

from ...codegen import ControllerParts
from . import controller
from .feet import Body
from .gait_patterns import GaitPattern
from .references import base_yaw
from .tuning import Tuning


def controller_parts(
    body: Body, functions: Mapping[str, ca.Function], gait: GaitPattern, tuning: Tuning
) -> ControllerParts:
    """Functions and numbers of a horizon's controller."""
    where = body.node.slices
    return ControllerParts(
        name=body.model.name,
        functions={**functions, "begin": begin(body), "touching": touching(body)},
        grid=np.asarray(body.grid, dtype=float),
        posture=np.asarray(body.posture, dtype=float),
        height=float(body.height),
        forces=[*body.begins, body.nf],
        contact=where["contact"].start,
        force_reference=where["force_ref"].start,
        gait=gait.vector(body),
        settings=tuning.vector(body),
        strongest=np.nan_to_num(np.asarray(body.model.dofs.tau_max, dtype=float)[6:], posinf=1e19),
        joints=body.model.joint_names[1:],
        feet=[foot.frame for foot in body.feet],
        steps=controller.FIRST_ITERATIONS,
        iterations=controller.ITERATIONS,
        answers=controller.FEEDBACK_ITERATIONS,
        tolerance=controller.TOLERANCE,
        start=controller.START,
        largest=controller.LARGEST,
        unit=controller.UNIT,
        dependent=controller.DEPENDENT,
    )


def begin(body: Body) -> ca.Function:
    """begin(time, q) -> memory of a robot whose feet are on the ground where they are, before its gait has begun."""
    time, q = SX.sym("time"), SX.sym("q", body.model.nq)
    parts = {name: SX.zeros(*(shape or (1,))) for name, shape in body.memory.shapes.items()}
    parts |= {"time": time, "end": SX(-1), "halt": SX(-1)}
    parts |= {"anchor": ca.vertcat(q[:2], base_yaw(q)), "ground": q[2] - body.height}
    return ca.Function("begin", [time, q], [body.memory.join(parts)], ["time", "q"], ["memory"])


def touching(body: Body) -> ca.Function:
    """touching(time, gait, memory) -> 1 for feet that stand as scheduled."""
    time, gait, memory = SX.sym("time"), SX.sym("gait", body.gait.size), SX.sym("memory", body.memory.size)
    g, m = body.gait.split(gait), body.memory.split(memory)
    fraction = m["phase"] + (time - m["time"]) / g["period"] + g["offsets"]
    found = fraction - ca.floor(fraction) < g["duty"]
    return ca.Function("touching", [time, gait, memory], [found], ["time", "gait", "memory"], ["feet"])
