"""Damaged, forged and older files of solutions and models: they load correctly, or one error says what is wrong."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.constraints import JointCoupling, LockedJoint, RollingContact
from ocp_dyn.io import load_model, npz, save_model
from ocp_dyn.io.constraints import constraint_from_dict, constraint_to_dict
from ocp_dyn.ocp import Solution
from tests.helpers import DATA
from tests.hopper import problem

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def hop() -> Solution:
    """A solution with contacts, an impulse, the solver's iterate and its record; not converged."""
    return problem().solve(progress=False, max_iterations=2)


@pytest.fixture(scope="module")
def content(hop: Solution, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    made = replace(hop, stats=hop.stats | {"converged": True})
    return made.save(tmp_path_factory.mktemp("hop") / "hop.npz").read_bytes()


def members(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(found: Members, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in found.items():
            archive.writestr(name, data)
    return stream.getvalue()


def array(data: bytes) -> Any:
    return np.load(io.BytesIO(data), allow_pickle=False)


def npy(value: Any) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(value), allow_pickle=True)
    return stream.getvalue()


def about_of(found: Members) -> dict[str, Any]:
    return dict(json.loads(str(array(found["about.npy"]))))


def load(content: bytes, folder: Path) -> Solution:
    path = folder / "damaged.npz"
    path.write_bytes(content)
    return Solution.load(path)


def refused(content: bytes, folder: Path, what: str) -> None:
    """One error: the file's name, what is wrong, what to do."""
    expected = rf"damaged\.npz is not a solution file, or it is damaged: .*{what}.*; save the solution again with Solution\.save"
    with pytest.raises(ValueError, match=rf"(?s){expected}"):
        load(content, folder)


def test_what_was_saved_comes_back(hop: Solution, content: bytes, tmp_path: Path) -> None:
    again = load(content, tmp_path)
    for mine, theirs in zip(again.phases, hop.phases, strict=True):
        for key in ("t", "q", "qd", "qdd", "tau", "lam", "tau_rate"):
            np.testing.assert_array_equal(getattr(mine, key), getattr(theirs, key))
        assert mine.contacts == tuple(replace(c, body=c.name) for c in theirs.contacts)
    assert [x.size for x in again.impulses] == [x.size for x in hop.impulses]
    for key, value in hop.record.arrays().items():
        np.testing.assert_array_equal(getattr(again.record, key), value)
    assert again.stats == hop.stats | {"converged": True}


def test_files_from_before_still_load(content: bytes, tmp_path: Path) -> None:
    """Files without the entry "not_finite": numbers of a converged solution must be finite."""
    found = members(content)
    about = about_of(found)
    del about["not_finite"]
    old = found | {"about.npy": npy(json.dumps(about))}
    assert load(packed(old), tmp_path).converged
    lost = old | {"q0.npy": npy(np.nan * array(old["q0.npy"]))}
    refused(packed(lost), tmp_path, "'q0' holds numbers that are not finite")
    about["stats"]["converged"] = False
    assert np.all(np.isnan(load(packed(lost | {"about.npy": npy(json.dumps(about))}), tmp_path).phases[0].q))


def test_a_file_of_a_later_version_is_not_called_damaged(content: bytes, tmp_path: Path) -> None:
    found = members(content)
    later = npy(json.dumps(about_of(found) | {"format": "ocp_dyn solution 3"}))
    with pytest.raises(
        od.ModelError, match=r"damaged\.npz: a later version of ocp_dyn wrote this file .*: update ocp_dyn"
    ):
        load(packed(found | {"about.npy": later}), tmp_path)


@pytest.mark.parametrize("name", ["about", "q0", "t1", "tau_rate0", "iterate_lam_g", "record_row", "record_sizes"])
def test_what_is_missing_is_named(content: bytes, tmp_path: Path, name: str) -> None:
    found = members(content)
    del found[f"{name}.npy"]
    refused(packed(found), tmp_path, name.removeprefix("record_").removeprefix("iterate_"))


@pytest.mark.parametrize("key", ["format", "model", "phases", "cost", "step_length", "mirrored", "stats"])
def test_entries_that_are_missing_or_of_another_kind(content: bytes, tmp_path: Path, key: str) -> None:
    found = members(content)
    for change in ({}, {key: None}, {key: 7.5}, {key: "x"}, {key: [1, {}]}, {key: {"a": []}}):
        about = {k: v for k, v in about_of(found).items() if k != key} | change
        if (key, change) not in (("step_length", {key: 7.5}), ("stats", {key: {"a": []}})):
            refused(packed(found | {"about.npy": npy(json.dumps(about))}), tmp_path, "")


CHANGES: list[tuple[str, Callable[[Any], Any], str]] = [
    ("q0", lambda x: x[:-1], r"'q0' has the shape \(5, 3\), expected \(6, 5\)"),
    ("q0", lambda x: x[:, :-1], "'q0' has the shape"),
    ("q0", lambda x: x.astype(str), "'q0' holds <U"),
    ("q0", lambda x: np.where(x == x[2, 2], np.nan, x), "'q0' holds numbers that are not finite"),
    ("lam0", lambda x: x[:, :2], "'lam0' has the shape"),
    ("tau1", lambda x: x + np.inf, "'tau1' holds numbers"),
    ("t0", lambda x: x[::-1], "'t0' must hold at least two times, in ascending order"),
    ("t0", lambda x: x[:1], "'t0' must hold at least two times"),
    ("t1", lambda x: x.astype(complex), "a header that is not numpy's, or holds other than numbers and text"),
    ("qd0", lambda _: np.array([{"a": 1}]), "a header that is not numpy's, or holds other than numbers and text"),
    ("impulse1", lambda x: np.ones(x.size + 1), "'impulse1' has"),
    ("iterate_x", lambda x: x[1:], "multipliers of bounds for"),
    ("record_variable", lambda x: x + 10_000, "'record_variable' holds indices from 10000 to .*, expected 0 to"),
    ("record_label", lambda x: x - 2, "'record_label' holds indices from -[23] to .*, expected -1 to"),
    ("record_row", lambda x: x.astype(float), "'record_row' holds float64"),
    ("record_value", lambda x: x[1:], "'record_value' has"),
    ("record_scale", lambda x: x * np.nan, "'record_scale' holds numbers"),
    ("record_sizes", lambda x: -x - 1, "holds negative counts"),
    ("record_upper", lambda x: x * np.nan, "bounds that are nan"),
]


@pytest.mark.parametrize(("name", "change", "message"), CHANGES, ids=[f"{c[0]}-{k}" for k, c in enumerate(CHANGES)])
def test_arrays_that_do_not_fit(content: bytes, tmp_path: Path, name: str, change: Any, message: str) -> None:
    found = members(content)
    found[f"{name}.npy"] = npy(change(array(found[f"{name}.npy"])))
    refused(packed(found), tmp_path, message.replace(r"(5, 3\), expected \(6, 5", r"(5, \d+\), expected \(6, \d+"))


def test_declared_sizes_are_believed_only_if_the_file_can_hold_them(content: bytes, tmp_path: Path) -> None:
    found = members(content)
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (100000, 1000000), }".ljust(117) + b"\n"
    huge = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    refused(packed(found | {"q0.npy": huge + bytes(800)}), tmp_path, r"declares the shape \(100000, 1000000\)")
    whole = packed(found, zipfile.ZIP_STORED)
    at = whole.rindex(b"PK\x01\x02")  # in the directory at the end, the last member's size
    refused(whole[: at + 24] + b"\xff\xff\xff\x7f" + whole[at + 28 :], tmp_path, "declares more than it holds")
    refused(packed(found, zipfile.ZIP_BZIP2), tmp_path, "is not an array")


def test_members_that_overlap_are_refused() -> None:
    """Each member alone fits into the file, both together do not."""
    members = [zipfile.ZipInfo(f"{name}.npy") for name in "ab"]
    for member in members:
        member.compress_size = member.file_size = 60
    npz._check_members(members, 120)
    with pytest.raises(ValueError, match="it declares more than it holds"):
        npz._check_members(members, 119)


def test_a_member_declares_at_most_what_its_bytes_can_stand_for() -> None:
    """Deflate makes at most 1032 bytes of one, plus 64 of overhead; without compression the sizes are equal, plus 64."""
    for compression, most in ((zipfile.ZIP_DEFLATED, 1032 * 100 + 64), (zipfile.ZIP_STORED, 164)):
        member = zipfile.ZipInfo("a.npy")
        member.compress_type, member.compress_size, member.file_size = compression, 100, most
        npz._check_members([member], 1000)
        member.file_size = most + 1
        with pytest.raises(ValueError, match=r"'a\.npy' in it declares more than it holds"):
            npz._check_members([member], 1000)


def test_arrays_of_every_order_come_back_in_ours() -> None:
    x = np.arange(6.0).reshape(2, 3) + 0.5
    for given in (x, np.asfortranarray(x), x.astype(">f8"), np.asfortranarray(x.astype(">f8"))):
        found = npz._array(npy(given))
        assert (found.dtype, found.flags.c_contiguous) == (np.dtype(float), True)
        assert found.dtype.isnative
        np.testing.assert_array_equal(found, x)


def test_a_header_longer_than_the_file_is_refused() -> None:
    """Even if the array could be read, because the header may not be complete."""
    data = npy(np.zeros(0))
    assert npz._array(data).shape == (0,)
    with pytest.raises(ValueError, match="a header that is not numpy's"):
        npz._array(data[:8] + (len(data) + 1000).to_bytes(2, "little") + data[10:])


def test_numbers_without_end_and_arrays_too_many(content: bytes, tmp_path: Path) -> None:
    found = members(content)
    about = json.dumps(about_of(found) | {"step_length": "N"}).replace('"N"', "1" + 400 * "0")
    refused(packed(found | {"about.npy": npy(about)}), tmp_path, "'step_length' holds numbers that are not finite")
    more = {f"impulse{k}.npy": npy(np.zeros(0)) for k in range(2, 5)}
    refused(packed(found | more), tmp_path, "expected at most one for each of 2 phases")
    fewer = {f"iterate_{key}.npy": npy(array(found[f"iterate_{key}.npy"])[1:]) for key in ("x", "lam_x")}
    refused(packed(found | fewer), tmp_path, "rows, and the solver's iterate")
    fewer = {"iterate_lam_g.npy": npy(array(found["iterate_lam_g.npy"])[1:])}
    refused(packed(found | fewer), tmp_path, "rows, and the solver's iterate")


def test_what_was_not_finite_comes_back_as_it_was(hop: Solution, tmp_path: Path) -> None:
    """Numbers of a failed run that are not finite are listed in the file, so that it does not count as damaged."""
    lost = replace(hop, cost={"a": np.nan, "b": 1.0}, step_length=np.inf)
    again = Solution.load(lost.save(tmp_path / "lost.npz"))
    assert np.isnan(again.cost["a"])
    assert (again.cost["b"], again.step_length) == (1.0, np.inf)


def test_a_member_that_stands_twice(content: bytes, tmp_path: Path) -> None:
    stream = io.BytesIO(content)
    with zipfile.ZipFile(stream, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("q0.npy", b"")
    refused(stream.getvalue(), tmp_path, "two arrays in it have the same name")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a":' * 100_000, "nan", "1" * 10_000, "\ud800"])
def test_text_that_is_no_object(content: bytes, tmp_path: Path, text: str) -> None:
    refused(
        packed(members(content) | {"about.npy": npy(np.array([ord(c) for c in text], "<u4").view("<U1"))}), tmp_path, ""
    )
    if text.isascii():
        refused(packed(members(content) | {"about.npy": npy(text)}), tmp_path, "")


def test_files_that_are_none(tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", npy(np.zeros(3)), bytes(1000)):
        refused(content, tmp_path, "")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Solution.load(tmp_path / "nowhere.npz")
    with pytest.raises(IsADirectoryError):
        Solution.load(tmp_path)


def test_random_damage(content: bytes, tmp_path: Path) -> None:
    """Bytes turned, lost and added, in the file and, under right checksums, in its members: an error, or all is right."""
    rng = np.random.default_rng(7)
    found = members(content)
    names, errors = list(found), []
    for trial in range(120):
        if trial % 2:
            damaged = damage(content, rng)
        else:
            name = names[rng.integers(len(names))]
            begin = array(found[name]).nbytes and int(rng.choice([128, len(found[name])]))
            damaged = packed(found | {name: damage(found[name][:begin], rng) + found[name][begin:]})
        try:
            again = load(damaged, tmp_path)
        except ValueError as error:
            errors.append(str(error))
        else:
            again.table()
            assert again.variables()
    assert len(errors) > 60
    assert all(said.startswith(str(tmp_path / "damaged.npz")) and len(said) < 500 for said in errors)


def damage(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    kind = rng.integers(4)
    for _ in range(int(rng.choice([1, 2, 20])) if changed and kind < 2 else 0):
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    if kind == 2:
        del changed[int(rng.integers(len(changed) + 1)) :]
    elif kind == 3:
        at = int(rng.integers(len(changed) + 1))
        changed[at:at] = rng.bytes(int(rng.integers(1, 30)))
    return bytes(changed)


# Constraints


def test_constraints_come_back_or_are_refused() -> None:
    model, errors = od.models.pendulum(3), []
    first, last = model.body_names[0], model.body_names[-1]
    for constraint in (
        od.Contact(last, (0.1, 0.0, 0.2), "xz"),
        RollingContact(last, 0.3),
        od.Loop(first, last, "ball"),
        LockedJoint(model.joint_names[1]),
        JointCoupling(model.joint_names[0], model.joint_names[1], 2.0),
    ):
        saved = json.loads(json.dumps(constraint_to_dict(constraint)))
        assert constraint_from_dict(saved, model) == constraint
        for key in saved:
            for value in (None, 10**400, -1, "x", [], {}, [["y"]], float("nan"), 10**9):
                try:
                    found = constraint_from_dict(saved | {key: value}, model)
                except od.ModelError as error:
                    errors.append(str(error))
                else:
                    assert len(found.rows) <= 6
        with pytest.raises(od.ModelError, match="cannot be made or does not fit the model"):
            constraint_from_dict(saved | {"unknown": 1}, model)
    assert max(map(len, errors)) < 500
    for wrong in (None, [], {}, {"kind": ["Contact"]}):
        with pytest.raises(od.ModelError, match="a kind of Contact, "):
            constraint_from_dict(wrong, model)
    with pytest.raises(od.ModelError, match="no kind of constraint 'CustomConstraint'; known: Contact, "):
        constraint_from_dict({"kind": "CustomConstraint"}, model)


# Models


def test_random_damage_of_a_model(tmp_path: Path) -> None:
    path, rng, errors = tmp_path / "model.json", np.random.default_rng(3), []
    save_model(od.models.pendulum(2), path)
    content = path.read_bytes()
    for _ in range(100):
        path.write_bytes(damage(content, rng))
        try:
            load_model(path)
        except od.ModelError as error:
            errors.append(str(error))
    assert all(said.startswith(str(path)) for said in errors)


@pytest.mark.parametrize("number", ["1e308", "-1e308", "1e999", "1" * 5000, "1e-320", "NaN", "true", '"inf"', "[[[]]]"])
def test_numbers_that_no_model_holds(tmp_path: Path, number: str) -> None:
    """One after the other in the place of every number of a file."""
    path, errors = tmp_path / "model.json", []
    save_model(od.models.pendulum(1), path)
    text = path.read_text()
    parts = json.JSONDecoder().decode(text)
    places = [k for k, c in enumerate(text) if c.isdigit() and not text[k - 1].isalnum() and text[k - 1] not in '."-']
    assert len(places) > 40
    assert parts["format"] == "ocp_dyn model"
    for at in places[::3]:
        end = at + len(text[at:]) - len(text[at:].lstrip("0123456789.e+-"))
        path.write_text(text[:at] + number + text[end:])
        try:
            load_model(path)
        except od.ModelError as error:
            errors.append(str(error))
    assert all(said.startswith(str(path)) for said in errors)


def test_files_of_format_1_are_read_in_the_names_of_today():
    """The file holds a wheel that rolls, with an arm on it; it was written when velocities were called v."""
    found = Solution.load(DATA / "solution_1.npz")
    phase = found.phases[0]
    assert (phase.q.shape, phase.qd.shape, phase.qdd.shape) == ((7, 4), (7, 4), (6, 4))
    assert phase.contacts[0].center == (0.0, 0.0, 0.0)
    assert {"qd roll[3]", "qdd roll[0]"} <= found.variables().keys()
    assert found.defects().angle < 1e-2  # velocities and accelerations are in their places
    assert found.loads == od.Loads(passive=True, armature=True)
