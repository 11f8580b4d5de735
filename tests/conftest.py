"""Fixtures for all tests. Helpers that tests import by name are in `helpers.py`."""

from __future__ import annotations

import gc
import os
import sys

import numpy as np
import pytest

from tests.motions import Motions

# Modules are compiled once, not in each of the processes that tests start. Of the tests themselves that is half of the
# time in which they are collected.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_collection_finish() -> None:
    """Takes the collected tests, which live to the end, from what the garbage collector looks at: a sixth of the time
    of all tests. It looks less often than by default, which halves the time in which syntax trees are read."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000)


@pytest.fixture
def rng() -> np.random.Generator:
    """Seeded, and new for every test, so that a test does not depend on those before it."""
    return np.random.default_rng(20240607)


@pytest.fixture(scope="session")
def motions(tmp_path_factory: pytest.TempPathFactory) -> Motions:
    base = tmp_path_factory.getbasetemp()  # of a process of several, inside of that of the run
    return Motions((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "motions")
