"""Inertias of bodies whose shapes are meshes, from MuJoCo's own compiler. The only module here that imports `mujoco`.

A file without such bodies is read without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..._base.types import ModelError
from ...spatial_algebra.poses import from_quaternion
from .elements import GeomData, InertiaData


class MeshInertias:
    """Inertias by the number of the body, depth first from 1; the file is compiled when one is asked for."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._compiled: Any = None

    def of(self, body: int, geom: GeomData) -> InertiaData:
        """The inertia of a body; geom: the shape that needs it, for messages."""
        if self._compiled is None:
            self._compiled = self._compile(geom)
        model = self._compiled
        axes = from_quaternion(np.array(model.body_iquat[body]))
        I = axes @ np.diag(model.body_inertia[body]) @ axes.T
        return InertiaData(float(model.body_mass[body]), np.array(model.body_ipos[body]), I)

    def _compile(self, geom: GeomData) -> Any:
        needs = "the mass of the body follows from a mesh, which MuJoCo's compiler reads"
        if self.path is None:
            raise geom.element.fault(f"{needs}: load the file, not its text, or give the body an <inertial>")
        try:
            import mujoco
        except ImportError:
            raise geom.element.fault(
                f"{needs}, and the package mujoco is not installed: pip install mujoco, or give the body an <inertial>"
            ) from None
        try:
            spec = mujoco.MjSpec.from_file(str(self.path))
            spec.compiler.fusestatic = spec.compiler.discardvisual = 0
            spec.compiler.settotalmass = -1.0
            return spec.compile()
        except (ValueError, mujoco.FatalError) as error:
            said = " ".join(str(error).split())
            raise ModelError(f"{geom.element.place}: {geom.element.what}: {needs}, and it says: {said}") from None
