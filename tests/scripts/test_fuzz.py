"""A small part of `scripts/fuzz.py`, and what it takes for a finding."""

from __future__ import annotations

import os

import numpy as np
import pytest

import ocp_dyn as od
from scripts import fuzz
from scripts.fuzzing import inputs


@pytest.mark.parametrize("kind", inputs.KINDS)
def test_mutated_inputs_are_refused_in_words_of_the_library(kind):
    results = (fuzz.judged(11, kind, number) for number in range(100 if kind in ("npz", "rooms") else 150))
    findings = [text for verdict, text in results if verdict == "finding"]
    assert findings == []


def test_inputs_are_repeatable():
    for kind in inputs.KINDS:
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
    monkeypatch.setitem(inputs.KINDS, "api", lambda rng: inputs.Case("", run))
    assert fuzz.judged(0, "api", 0)[0] == verdict


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("crash", "ended the process (3)"),
        ("fault", "ended the process (-11)"),
        ("hang", "took more than 0.3 s, twice"),
        ("hog", "MemoryError"),
    ],
)
def test_workers_tell_of_crashes_hangs_and_memory(kind, said, capsys):
    arguments = ["--only", kind, "--count", "2", "--workers", "1", "--limit", "0.3", "--memory", "16384"]
    assert fuzz.main([*arguments, "--start", "fork"]) == 1
    told = capsys.readouterr().out
    assert f"2 x {kind}" in told
    assert said in told
    assert told.splitlines()[1].split() == [kind, "2", "0", "0", "2"]


def test_a_batch_that_is_broken_off_is_tried_again(monkeypatch, capsys):
    """The first input of a batch is a finding, the fourth ends the process."""
    runs = {0: lambda: 1 / 0, 3: lambda: os._exit(1)}
    monkeypatch.setattr(fuzz, "case", lambda seed, kind, number: inputs.Case("", runs.get(number, list)))
    assert fuzz.main(["--only", "urdf", "--count", "6", "--workers", "1", "--start", "fork"]) == 1
    told = capsys.readouterr().out
    assert told.splitlines()[1].split() == ["urdf", "6", "0", "4", "2"]
    assert "ZeroDivisionError" in told


@pytest.mark.slow
def test_the_script_runs_in_workers(capsys):
    assert fuzz.main(["--count", "200", "--only", "urdf", "json", "--workers", "1", "--seconds", "60"]) == 0
    assert "urdf           100" in capsys.readouterr().out
