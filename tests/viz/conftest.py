"""Motions that several test files draw."""

from __future__ import annotations

import pytest

from ocp_dyn.ocp import Solution
from tests.viz import motions


@pytest.fixture(scope="session")
def walk() -> Solution:
    return motions.walk()
