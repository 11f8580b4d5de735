"""Names and units of the curves of a walk, and its data as other modules see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from .._base.types import Array

UNITS = {
    **dict.fromkeys(("hip flexion", "hip flexion from trunk", "thigh flexion", "knee flexion"), "degrees"),
    **dict.fromkeys(("ankle dorsiflexion", "pelvis tilt", "pelvis obliquity", "pelvis rotation"), "degrees"),
    **dict.fromkeys(("hip adduction", "hip internal rotation"), "degrees"),
    **dict.fromkeys(("trunk tilt", "trunk lean", "trunk rotation", "foot pitch"), "degrees"),
    **dict.fromkeys(("hip extension moment", "knee extension moment", "ankle plantar flexion moment"), "N m/kg"),
    **dict.fromkeys(("hip abduction moment", "hip external rotation moment"), "N m/kg"),
    **dict.fromkeys(("hip power", "knee power", "ankle power"), "W/kg"),
    **dict.fromkeys(("hip abduction power", "hip rotation power"), "W/kg"),
    **dict.fromkeys(("forward force", "lateral force", "vertical force"), "body weights"),
    **dict.fromkeys(("center of pressure along", "center of pressure lateral"), "foot lengths"),
    **dict.fromkeys(("center of mass height", "center of mass lateral"), "m"),
}
"""Unit of every curve. `Gait` tells definitions and signs."""

POSITIVE = {
    **dict.fromkeys(("hip flexion", "hip flexion from trunk", "thigh flexion", "knee flexion"), "flexion"),
    "ankle dorsiflexion": "dorsiflexion",
    "pelvis tilt": "forward",
    "trunk tilt": "forward",
    "pelvis obliquity": "this side up",
    "pelvis rotation": "this side forward",
    "foot pitch": "toes up",
    "trunk lean": "to this side",
    "trunk rotation": "this side forward",
    "hip adduction": "adduction",
    "hip internal rotation": "internal rotation",
    "hip abduction moment": "abduction",
    "hip external rotation moment": "external rotation",
    **dict.fromkeys(("hip extension moment", "knee extension moment"), "extension"),
    "ankle plantar flexion moment": "plantar flexion",
    **dict.fromkeys(("hip power", "knee power", "ankle power"), "generation"),
    **dict.fromkeys(("hip abduction power", "hip rotation power"), "generation"),
    "forward force": "forward",
    "lateral force": "outward",
    "vertical force": "up",
    "center of pressure along": "forward",
    "center of pressure lateral": "outward",
    "center of mass height": "up",
    "center of mass lateral": "outward",
}
"""Positive sense of every curve."""

PERCENT = np.linspace(0.0, 100.0, 101)
"""Percent of the stride at which all curves are given."""


class GaitData(Protocol):
    """Attributes of a gait; `Gait` has them."""

    @property
    def side(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def curves(self) -> Mapping[str, Array]: ...
    @property
    def events(self) -> Mapping[str, float]: ...
    @property
    def figures(self) -> Mapping[str, float]: ...
