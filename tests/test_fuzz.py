"""A small part of `scripts/fuzz.py`, and what it takes for a finding."""

from __future__ import annotations

import numpy as np
import pytest

import ocp_dyn as od
from scripts import fuzz, fuzz_inputs


@pytest.mark.parametrize("kind", ["urdf", "json", "api"])
def test_mutated_inputs_are_refused_in_words_of_the_library(kind):
    findings = [
        text for number in range(150) for verdict, text in [fuzz.judged(11, kind, number)] if verdict == "finding"
    ]
    assert findings == []


def test_inputs_are_repeatable():
    for kind in ("urdf", "json", "api"):
        assert fuzz.case(3, kind, 5).text == fuzz.case(3, kind, 5).text


@pytest.mark.parametrize(
    ("run", "verdict"),
    [
        (lambda: None, "accepted"),
        (lambda: od.Revolute(None), "refused"),
        (lambda: od.load_model("/nowhere"), "finding"),
        (lambda: np.zeros(2) @ np.zeros(3), "finding"),
        (lambda: od.Layout(od.models.pendulum(), "rbdl")._order[7], "finding"),
    ],
)
def test_what_is_a_finding(monkeypatch, run, verdict):
    monkeypatch.setitem(fuzz_inputs.KINDS, "api", lambda rng: fuzz_inputs.Case("", run))
    assert fuzz.judged(0, "api", 0)[0] == verdict


@pytest.mark.slow
def test_the_script_runs_in_workers(capsys):
    assert fuzz.main(["--count", "200", "--only", "urdf", "json", "--workers", "1", "--seconds", "60"]) == 0
    assert "urdf           100" in capsys.readouterr().out
