"""Names and units of the curves of a walk, and its data as other modules see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from ...._types import Array

UNITS = {
    "hip flexion": "degrees",
    "hip flexion from trunk": "degrees",
    "thigh flexion": "degrees",
    "knee flexion": "degrees",
    "ankle dorsiflexion": "degrees",
    "pelvis tilt": "degrees",
    "pelvis obliquity": "degrees",
    "pelvis rotation": "degrees",
    "trunk tilt": "degrees",
    "foot pitch": "degrees",
    "hip extension moment": "N m/kg",
    "knee extension moment": "N m/kg",
    "ankle plantar flexion moment": "N m/kg",
    "hip power": "W/kg",
    "knee power": "W/kg",
    "ankle power": "W/kg",
    "forward force": "body weights",
    "lateral force": "body weights",
    "vertical force": "body weights",
    "center of pressure along": "foot lengths",
    "center of pressure lateral": "foot lengths",
}
"""Unit of every curve. `Gait` tells definitions and signs."""

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
