"""Fixtures for tests of problems."""

import pytest

from ocp_dyn import ocp


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without the pictures that all problems have; those of the five links are drawn in `tests/ocp`."""
    monkeypatch.setattr("ocp_dyn.cli.reporting.stick_figure", lambda *_: None)
    for name in ("plot", "animate"):
        monkeypatch.setattr(ocp.Solution, name, lambda *_: None)
