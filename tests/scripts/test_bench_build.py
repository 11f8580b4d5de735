"""The benchmark of building problems."""

import pytest

from scripts.bench import build


@pytest.mark.slow
def test_a_case_has_times_and_memory():
    found = build.measure("human, 18 dofs", 12)
    assert set(found) == {"first", "first tables", "next", "next tables", "peak"}
    assert all(0 < x < 600 for name, x in found.items() if name != "peak")
    assert 50 < found["peak"] < 10_000
