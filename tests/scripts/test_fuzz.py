"""A small part of `python -m scripts.checks.fuzz`, and what it takes for a finding."""

from __future__ import annotations

import inspect
import os

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from scripts.checks.fuzz import __main__ as fuzz
from scripts.checks.fuzz import arguments, inputs, methods, rooms, submodules, verdicts
from scripts.checks.fuzz.wrong import Broken


@pytest.mark.parametrize("kind", inputs.KINDS)
@pytest.mark.slow
def test_mutated_inputs_are_refused_in_words_of_the_library(kind):
    results = (verdicts.judged(11, kind, number) for number in range(40))
    findings = [text for verdict, text in results if verdict == "finding"]
    assert findings == []


def takes_arguments(run):
    """Whether a public name may be called with arguments; exceptions and types of options count as not callable."""
    if inspect.isclass(run) and issubclass(run, (BaseException, dict)):
        return False
    return bool(inspect.signature(run).parameters)


def test_every_public_name_is_called():
    """Names of the rooms' own lists, and methods of what users hold: those that are not called are listed with a
    reason."""
    called = {call.name for module in (arguments, rooms, submodules, methods) for call in module.calls()}
    ours = {name for name in submodules.public(od) if name not in arguments.SKIPPED["od"]}
    missing = {name for name in ours if name not in called and takes_arguments(getattr(od, name))}
    missing |= {name for name in submodules.public(ocp) if name not in arguments.SKIPPED["ocp"] and name not in called
                and takes_arguments(getattr(ocp, name))}  # fmt: skip
    for room, module in submodules.ROOMS.items():
        names = {name for name, run in submodules.public(module).items() if takes_arguments(run)}
        missing |= {f"{room}.{name}" for name in names - {*arguments.SKIPPED[room]} if f"{room}.{name}" not in called}
        assert {*arguments.SKIPPED[room]} <= {*submodules.public(module)}
    for kind, (thing, _) in methods.held().items():
        names = {f"{kind}.{n}" for n, run in methods.methods_of(thing).items() if takes_arguments(run)}
        missing |= names - arguments.SKIPPED["methods"] - called
    assert missing == set()


def test_inputs_are_repeatable():
    for kind in inputs.KINDS:
        assert verdicts.case(3, kind, 5).text == verdicts.case(3, kind, 5).text


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
    assert verdicts.judged(0, "api", 0)[0] == verdict


def _misspelled(**options):
    return od.Revolute(**options)


@pytest.mark.parametrize(
    ("run", "wrong", "misspelled", "told"),
    [
        (lambda: None, {"mass": np.nan}, False, "took nan for mass"),
        (lambda: None, {"mass": [1.0, {"x": np.full(2, np.nan)}]}, False, "took nan for mass"),
        (lambda: None, {"q": ca.DM.nan(2)}, False, ""),
        (lambda: None, {"axs": "x"}, True, "took axs, which is misspelled"),
        (lambda: _misspelled(axs="x"), {"axs": "x"}, True, ""),
        (lambda: len(Broken()), {"model": Broken()}, False, ""),
        (lambda: OSError("no such file"), {"path": np.nan}, False, ""),
    ],
)
def test_what_is_taken_in_silence(monkeypatch, run, wrong, misspelled, told):
    monkeypatch.setitem(inputs.KINDS, "api", lambda rng: inputs.Case("", run, wrong, misspelled))
    assert told in verdicts.judged(0, "api", 0)[1]
    assert (verdicts.judged(0, "api", 0)[0] == "finding") == bool(told)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("crash", "ended the process (3)"),
        ("fault", "ended the process (-11)"),
        ("hang", "took more than 0.3 s, twice"),
        ("hog", "MemoryError"),
    ],
)
@pytest.mark.slow
def test_workers_tell_of_crashes_hangs_and_memory(kind, said, capsys):
    arguments = ["--only", kind, "--count", "2", "--workers", "1", "--limit", "0.3", "--memory", "16384"]
    assert fuzz.main([*arguments, "--start", "fork"]) == 1
    told = capsys.readouterr().out
    assert f"2 x {kind}" in told
    assert said in told
    assert told.splitlines()[1].split() == [kind, "2", "0", "0", "2"]


@pytest.mark.slow
def test_a_batch_that_is_broken_off_is_tried_again(monkeypatch, capsys):
    """The first input of a batch is a finding, the fourth ends the process."""
    runs = {0: lambda: 1 / 0, 3: lambda: os._exit(1)}
    monkeypatch.setattr(verdicts, "case", lambda seed, kind, number: inputs.Case("", runs.get(number, list)))
    assert fuzz.main(["--only", "urdf", "--count", "6", "--workers", "1", "--start", "fork"]) == 1
    told = capsys.readouterr().out
    assert told.splitlines()[1].split() == ["urdf", "6", "0", "4", "2"]
    assert "ZeroDivisionError" in told
