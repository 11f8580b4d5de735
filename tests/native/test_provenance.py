"""Provenance: versions, machine and compiler, once for reports, files and exports."""

from __future__ import annotations

import json
import platform

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.native import provenance


@pytest.fixture
def afresh():
    provenance._machine.cache_clear()
    yield
    provenance._machine.cache_clear()


def test_it_names_every_version_and_is_plain_data(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.delenv("CC", raising=False)
    found = provenance.provenance()
    assert json.loads(json.dumps(found)) == found
    assert (found["ocp_dyn"], found["casadi"]) == (od.__version__, ca.CasadiMeta.version())
    assert (found["numpy"], found["python"]) == (np.__version__, platform.python_version())
    assert found["environment"]["OPENBLAS_CORETYPE"] == "Haswell"
    assert "CC" not in found["environment"]
    text = " ".join(provenance.sentences(found))
    assert all(str(found[key]) in text for key in found if key != "environment")
    assert "OPENBLAS_CORETYPE=Haswell" in text


def test_a_machine_without_a_compiler_says_so(monkeypatch, afresh):
    monkeypatch.setattr(provenance, "find_compiler", lambda: None)
    found = provenance.provenance()
    assert (found["compiler"], found["native"]) == ("none", "none")


def test_the_source_tells_two_states_apart(monkeypatch, tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room/one.py").write_text("a = 1")
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path)

    def digest():
        provenance.source.cache_clear()
        return provenance.source()

    first = digest()
    (tmp_path / "room/page.md").write_text("no number hangs on it")
    assert digest() == first
    (tmp_path / "room/one.py").write_text("a = 2")
    assert digest() != first
    (tmp_path / "room/one.py").rename(tmp_path / "room/two.py")
    (tmp_path / "room/two.py").write_text("a = 1")
    assert digest() != first
    provenance.source.cache_clear()


def test_a_run_is_told_with_its_options():
    solve = {"solver": "ipopt", "tolerance": 1e-6, "accuracy": None, "values": {"speed": 1.2}, "options": {}}
    *_, last = provenance.sentences(provenance.provenance() | {"solve": solve, "begin": "the first guess"})
    assert last == "Solved with solver ipopt, tolerance 1e-06, values (speed=1.2), from the first guess."


def test_files_of_earlier_versions_tell_nothing():
    assert provenance.sentences({}) == ["Made by an earlier version of ocp_dyn, which does not tell with what."]


def test_what_is_no_data_becomes_text(tmp_path):
    given = {"x": np.array([1.0, 2.0]), "n": np.int64(3), "m": ca.DM([1, 2]), "p": tmp_path, "s": (1, {"a"})}
    found = provenance.plain(given)
    assert json.loads(json.dumps(found)) == found
    assert found == {"x": [1.0, 2.0], "n": 3, "m": [[1.0], [2.0]], "p": str(tmp_path), "s": [1, "{'a'}"]}
