"""Fixtures for all tests. Helpers that tests import by name are in `helpers.py`."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded, and new for every test, so that a test does not depend on those before it."""
    return np.random.default_rng(20240607)
