"""A horizon as `codegen.export_controller` takes it: its functions and numbers, those of the first step included."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from ...codegen import ControllerParts
from . import controller, inputs
from .feet import Body
from .gait_patterns import GaitPattern
from .tuning import Tuning


def controller_parts(
    body: Body, functions: Mapping[str, ca.Function], gait: GaitPattern, tuning: Tuning
) -> ControllerParts:
    """Functions and numbers of a horizon's controller."""
    where = body.node.slices
    return ControllerParts(
        name=body.model.name,
        functions=functions,
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
        unit=inputs.UNIT,
        dependent=controller.DEPENDENT,
        latest=inputs.LATEST,
    )
