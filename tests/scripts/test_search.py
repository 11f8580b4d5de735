"""`python -m scripts.checks.search`: what it tells."""

from __future__ import annotations

import pytest

from scripts.checks import search


@pytest.mark.parametrize(("found", "status"), [([], 0), (["a fault"], 1)])
def test_findings_are_told_with_their_seeds(monkeypatch, capsys, found, status):
    monkeypatch.setitem(search.SEARCHES, "laws", lambda seed: found)
    assert search.main(["laws", "--seed", "7", "--count", "2"]) == status
    told = capsys.readouterr().out
    assert ("seed 8: a fault" in told) == bool(found)
    assert f"2 cases, {2 * len(found)} findings" in told
