"""Recorded values of an independent implementation, and the script that compares with them."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import ocp_dyn as od
from scripts.checks.reference.__main__ import main
from scripts.checks.reference.case import Case
from scripts.checks.reference.comparison import check, check_file
from scripts.checks.reference.report import Report
from tests.helpers import DATA, mostly_slow

FILES = sorted(DATA.glob("*.json"))
PERTURBED = ("root_floating_base", "single_pendulum", "four_bar")
NOT_COMPARED = {"q", "qdot", "qddot", "tau", "f_ext", "kind", "name", "body", "point", "cond_G", "rbdl_raw", "T_stab",
                "impact_restitution", "rbdl_nonlinear_effects", "rbdl_nonlinear_effects_rel_error"}  # fmt: skip


@functools.cache
def report_of(path: Path) -> Report:
    return check_file(str(path))


def load(name: str) -> dict:
    return json.loads((DATA / f"{name}.json").read_text())


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
@pytest.mark.slow
def test_everything_recorded_agrees(path):
    report = report_of(path)
    assert report.failures == []
    assert report.count > 100
    assert max(report.errors.values(), default=0.0) < 1e-10


@pytest.mark.slow
def test_all_quantities_are_met_by_some_file():
    counts: dict[str, int] = {}
    for name in ("root_spherical", "single_pendulum", "openhrp_sample1_multidof", "four_bar"):
        counts |= report_of(DATA / f"{name}.json").counts
    for section, keys in {
        "": "q_rate id_tau id_tau_fext C C_fext gravity_tau H fd_qddot fd_qddot_fext minv_tau",
        "body_pose.": "E r",
        "points.": "pos vel acc acc_qddot0 vel6 acc6 acc6_qddot0 J J6 J_body_spatial",
        "centroidal.": "mass com com_vel com_acc angular_momentum_com angular_momentum_rate_com kinetic_energy "
        "potential_energy zmp_plane_z0",
        "contacts.": "G gamma fd_qddot force fd_qddot_fext force_fext impact_qdot_plus impact_impulse "
        "impact_e_qdot_plus impact_e_impulse",
        "contacts.inverse_dynamics_constrained.": "tau force qddot fully_actuated",
        "loops.": "G gamma position_error velocity_error fd_qddot force impact_qdot_plus impact_impulse",
        "loops.baumgarte.": "gamma fd_qddot force",
        "trajectories.": "q qdot energy",
    }.items():
        for key in keys.split():
            assert counts[section + key] > 0


# A value that is off by 1e-6 must be seen, whichever it is


def leaves(x: object, path: tuple = ()) -> Iterator[tuple]:
    """Paths to all compared numbers of a state or trajectory."""
    if isinstance(x, dict):
        for key, value in x.items():
            if key not in NOT_COMPARED or "trajectories" in path:
                yield from leaves(value, (*path, key))
    elif isinstance(x, list):
        for k, value in enumerate(x):
            yield from leaves(value, (*path, k))
    elif isinstance(x, (int, float)) and not isinstance(x, bool):
        yield path


def one_of_each(data: dict) -> list[tuple]:
    """The last number under every key, names and indices aside."""
    found = {}
    for section in ("states", "trajectories"):
        for path in leaves(data.get(section, []), (section,)):
            found[tuple(key for key in path if isinstance(key, str))] = path
    for skipped in ("t", "step", "tau"):  # inputs of a trajectory
        found.pop(("trajectories", skipped), None)
    return list(found.values())


def perturbed(data: dict, path: tuple, change: float) -> dict:
    data = copy.deepcopy(data)
    place = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] += change * (1 + abs(place[path[-1]]))
    return data


@pytest.mark.parametrize(("name", "change"), [*((name, 1e-6) for name in PERTURBED), ("four_bar", float("nan"))])
@pytest.mark.slow
def test_every_changed_value_is_seen(name, change):
    data = load(name)
    data["states"] = data["states"][-1:]
    for trajectory in data.get("trajectories", []):
        trajectory |= {key: trajectory[key][:2] for key in ("t", "q", "qdot", "energy")}
    case = Case(data)
    assert check(data, case).ok
    paths = one_of_each(data)
    assert len(paths) > 30
    for path in paths:
        failures = check(perturbed(data, path, change), case).failures
        assert failures, f"{path} changed and nobody saw it"
        assert str(path[-2 if isinstance(path[-1], int) else -1]) in " ".join(failures) or len(path) > 3


# Files that are not as they should be


def altered(tmp_path: Path, change) -> str:
    data = load("root_revolute")
    del data["states"][1:]
    change(data)
    path = tmp_path / "file.json"
    path.write_text(json.dumps(data))
    return str(path)


ALTERED = {
    "unknown key 'extra'": lambda d: d.update(extra=1),
    "unknown key 'power'": lambda d: d["states"][0].update(power=[0.0]),
    "unknown key 'speed'": lambda d: d["states"][0]["points"][0].update(speed=1.0),
    "unknown key 'spin'": lambda d: d["states"][0]["centroidal"].update(spin=1.0),
    "unknown key 'slip'": lambda d: d["states"][0]["contacts"][0].update(slip=1.0),
    "unknown key 'rotor'": lambda d: d["bodies"][0].update(rotor=1.0),
    "nothing was compared": lambda d: d.update(states=[]),
    "C: shape": lambda d: d["states"][0].update(C=[0.0]),
    "H: shape": lambda d: d["states"][0].update(H=[[1.0, 2.0, 3.0, 4.0]]),
    "error: states[0].C: numbers expected": lambda d: d["states"][0].update(C="much"),
    "error: schema 'other'": lambda d: d.update(schema="other"),
    "error: a key is missing or a name unknown: 'bodies'": lambda d: d.pop("bodies"),
    "error: q has 1 entries, the model 2": lambda d: d["states"][0].update(q=[0.0]),
    "error: the joints' indices into q do not": lambda d: d["bodies"][1].update(q_index=5),
    "error: f_ext names no body: hand": lambda d: d["states"][0]["f_ext"].update(hand=[0.0] * 6),
    "no contact set 'heel'": lambda d: d["states"][0]["contacts"][0].update(name="heel"),
    "error: ModelError: body": lambda d: d["bodies"][0].update(mass=-1.0),
    "error: body 'b1': ndof 2 does not fit": lambda d: d["bodies"][0].update(ndof=2),
    "error: joint axis": lambda d: d["bodies"][0]["joint"].update(axes=[[0, 0, 2, 0, 0, 0]]),
}


@mostly_slow("message", ALTERED, [m for m in ALTERED if "extra" in m or "shape" in m or "schema" in m])
@pytest.mark.slow
def test_wrong_files_fail_with_one_clear_line(tmp_path, capsys, message):
    assert main([altered(tmp_path, ALTERED[message])]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if message in line]
    assert len(lines) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"schema": 1}', "\x00"])
def test_files_of_another_kind_fail(tmp_path, capsys, text):
    path = tmp_path / "file.json"
    path.write_text(text)
    assert main([str(path)]) == 1
    assert f"{path}: error: " in capsys.readouterr().out


@pytest.mark.slow
def test_a_file_that_is_not_there_fails_and_the_others_are_still_compared(tmp_path, capsys):
    assert main([str(tmp_path / "none.json"), str(DATA / "root_prismatic.json")]) == 1
    out = capsys.readouterr().out
    assert "none.json: error: FileNotFoundError" in out
    assert "root_prismatic.json: " in out


def _per_row(data: dict, e: list[float]) -> dict:
    """The data with impacts recorded for a restitution per row, as the library computes them."""
    data = copy.deepcopy(data)
    case = Case(data)
    for state in data["states"]:
        for recorded in state["contacts"]:
            rows = case.sets[recorded["name"]]
            args = (case.q(state["q"]), case.v(state["qdot"], "qdot"))
            qd_plus, Lam = case(od.impact, rows, args=args, e=tuple(e))
            recorded |= {"impact_restitution": e, "impact_e_impulse": Lam.full().ravel().tolist()}
            recorded["impact_e_qdot_plus"] = case.back(qd_plus, case.v_at).ravel().tolist()
    return data


@pytest.mark.slow
def test_restitution_per_row_is_compared():
    data = load("root_spherical")
    report = check(_per_row(data, [0.3, 0.8]))
    assert report.failures == []
    assert report.counts["contacts.impact_e_impulse"] == 2 * len(data["states"])
    wrong = _per_row(data, [0.3, 0.8])
    wrong["states"][-1]["contacts"][0]["impact_restitution"] = [0.8, 0.3]
    assert any("impact_e_impulse" in failure for failure in check(wrong).failures)


@pytest.mark.slow
def test_what_is_not_built_is_named(capsys, tmp_path):
    data = load("root_helical")
    data["bodies"][0]["joint"]["type"] = "magnetic"
    unknown = tmp_path / "magnetic.json"
    unknown.write_text(json.dumps(data))
    assert main([str(unknown), str(DATA / "four_bar.json")]) == 0
    assert "not built yet: joint 'magnetic'" in capsys.readouterr().out
    assert main([str(unknown)]) == 1  # nothing was compared
    assert "nothing was compared" in capsys.readouterr().out
