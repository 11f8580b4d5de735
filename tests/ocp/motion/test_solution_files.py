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


def load(content: bytes, folder: Path, **options: Any) -> Solution:
    path = folder / "damaged.npz"
    path.write_bytes(content)
    return Solution.load(path, **options)


def refused(content: bytes, folder: Path, what: str, **options: Any) -> str:
    """One error: the file's name, what is wrong, what to do."""
    expected = rf"damaged\.npz is not a solution file, or it is damaged: .*{what}.*"
    expected += r"; save the solution again with Solution\.save"
    with pytest.raises(od.ModelError, match=rf"(?s){expected}") as raised:
        load(content, folder, **options)
    return str(raised.value)


def with_about(found: Members, change: dict[str, Any], drop: str = "") -> Members:
    """The content with other entries of plain data."""
    about = {key: value for key, value in about_of(found).items() if key != drop} | change
    return found | {"about.npy": npy(json.dumps(about))}


@pytest.mark.slow
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


# Changes of whole files


CHANGES_OF_AN_ARRAY: dict[str, Callable[[Any], Any]] = {
    "empty": lambda x: x[:0],
    "one more": lambda x: np.concatenate([x, x[:1]]),
    "one less": lambda x: x[:-1],
    "flat": lambda x: x.ravel() if x.ndim > 1 else x[None],
    "of another type": lambda x: x.astype(np.float32 if x.dtype.kind == "f" else np.int32),
    "whole": lambda x: x.astype(int) if x.dtype.kind == "f" else x.astype(float),
    "text": lambda x: x.astype(str),
    "nan": lambda x: x * np.nan,
    "infinite": lambda x: x + np.inf,
    "huge": lambda x: x * 0.0 + 1e308,
    "zero": lambda x: x * 0,
    "of the other sign": lambda x: -x,
    "another number": lambda x: x + (np.arange(x.size).reshape(x.shape) == x.size - 1),
    "reversed": lambda x: x[::-1],
}


def same(x: Any, y: Any) -> bool:
    return bool(x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes())


WAYS = 2
"""Changes of one array; the next array has the next ones."""


@pytest.mark.slow
def test_no_array_can_be_changed_without_notice(content: bytes, tmp_path: Path) -> None:
    """Every second array, taken away or changed in several ways that leave other bytes."""
    found, tried = members(content), 0
    path = tmp_path / "damaged.npz"
    for k, name in enumerate(sorted(found.keys() - {"about.npy", "digests.npy"})[::2]):
        before = array(found[name])
        with np.errstate(invalid="ignore"):  # nan as a whole number
            changed = {key: change(before) for key, change in CHANGES_OF_AN_ARRAY.items()} if before.size else {}
        for after in (None, *np.roll(np.array([*changed.values(), None], dtype=object)[:-1], WAYS * k)[:WAYS]):
            if after is not None and same(before, after):
                continue
            tried += 1
            others = {key: value for key, value in found.items() if key != name}
            path.write_bytes(packed(others if after is None else others | {name: npy(after)}, zipfile.ZIP_STORED))
            with pytest.raises(od.ModelError) as raised:
                Solution.load(path)
            said = str(raised.value)
            assert said.startswith(f"{path} is not a solution file, or it is damaged: "), said
            part = "lacks" if after is None else "has other content in"
            assert f"it was changed after it was saved: it {part} the array {name.removesuffix('.npy')!r};" in said, (
                said
            )
            assert len(said) < 500
    assert tried > 15 * WAYS


@pytest.mark.parametrize("entry", ["model", "cost", "mirrored", "record"])
@pytest.mark.slow
def test_no_entry_can_be_changed_without_notice(content: bytes, tmp_path: Path, entry: str) -> None:
    """A number, a text or a truth somewhere in it."""
    found = members(content)
    about = about_of(found)
    text = json.dumps(about[entry])
    for old, new in (("1", "2"), ("e", "a"), ("true", "false"), ("false", "true"), ("0", "1e308"), ("[]", '["x"]')):
        at = text.find(old)
        if at >= 0 and (changed := valid(text[:at] + new + text[at + len(old) :])) not in (None, about[entry]):
            refused(packed(with_about(found, {entry: changed})), tmp_path, "")
    refused(packed(with_about(found, {}, drop=entry)), tmp_path, entry)
    refused(packed(with_about(found, {"more": 1})), tmp_path, "it has gained the entry 'more'")


def valid(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def test_a_change_is_named(content: bytes, tmp_path: Path) -> None:
    found = members(content)
    tau = array(found["tau0.npy"])
    changed = {k: x for k, x in found.items() if k != "record_x_time.npy"} | {"tau0.npy": npy(tau + 1e-9)}
    refused(packed(changed), tmp_path, "lacks x_time")
    changed = found | {"tau0.npy": npy(tau + 1e-9), "qd1.npy": npy(2 * array(found["qd1.npy"])), "x.npy": npy(tau)}
    what = "it was changed after it was saved: it has gained the array 'x' and has other content in the array "
    what += "'(tau0|qd1)', the"
    refused(packed(changed), tmp_path, what)
    rate = about_of(found)["stats"] | {"solve_seconds": 1e-3}
    refused(packed(with_about(found, {"stats": rate})), tmp_path, "it has other content in the entry 'stats'")
    kept = json.loads(str(array(found["digests.npy"])))
    del kept["digests"]["the array 'impulse1'"]
    for text in (json.dumps(kept), json.dumps({"digests": {}}), "[]", "{", json.dumps({"digests": 1, "whole": 2})):
        refused(packed(found | {"digests.npy": npy(text)}), tmp_path, "the text 'digests', .* was changed itself")
    del found["digests.npy"]
    refused(packed(found), tmp_path, "the text 'digests', which every solution file holds, is missing")


def test_files_of_other_programs_are_read_when_asked_for(hop: Solution, content: bytes, tmp_path: Path) -> None:
    """Arrays that fit the schema are read as they are; others are refused all the same."""
    found = members(content)
    del found["digests.npy"]
    found["tau0.npy"] = npy(2 * array(found["tau0.npy"]))
    doubled = load(packed(found), tmp_path, verify=False)
    np.testing.assert_array_equal(doubled.phases[0].tau, 2 * hop.phases[0].tau)
    assert Solution.load(doubled.save(tmp_path / "again.npz")).converged
    with pytest.raises(TypeError, match="verify"):
        load(packed(found), tmp_path, verify="no")
    scales = found | {"record_scale.npy": npy(-array(found["record_scale.npy"]))}
    refused(packed(scales), tmp_path, "'record_scale' holds numbers that are not positive and finite", verify=False)
    still = found | {"t0.npy": npy(0 * array(found["t0.npy"]))}
    refused(packed(still), tmp_path, "'t0' holds times that do not ascend", verify=False)
    refused(
        packed(with_about(found, {"cost": {"a": 1e308}})), tmp_path, "'cost' holds .* beyond 1e\\+100", verify=False
    )
    fewer = {key: value for key, value in found.items() if key != "impulse1.npy"}
    refused(packed(fewer), tmp_path, "'impulse1' is missing: it holds 1 impulses for 2 transitions", verify=False)
    landing = next(k for k, name in enumerate(about_of(found)["stats"]["transitions"]) if name == "Impact")
    none = found | {f"impulse{landing}.npy": npy(np.zeros(0))}
    refused(
        packed(none), tmp_path, f"'impulse{landing}' has 0 numbers, expected [23], those of an impact", verify=False
    )
    for key in ("status", "converged"):
        stats = {k: x for k, x in about_of(found)["stats"].items() if k != key}
        refused(packed(with_about(found, {"stats": stats})), tmp_path, f"'stats': '{key}' is missing", verify=False)


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ("6", "a later version of ocp_dyn wrote this file in the format .*: update ocp_dyn"),
        ("2", "a development version .* does not tell whether it is whole: give verify=False to read it as it is"),
        ("1", r"ocp_dyn 0\.1\.0 wrote this file .*: solve the problem again, or read the file with ocp_dyn 0\.1\.0"),
    ],
)
def test_files_of_other_versions_are_not_called_damaged(
    content: bytes, tmp_path: Path, written: str, what: str
) -> None:
    other = packed(with_about(members(content), {"format": f"ocp_dyn solution {written}"}))
    with pytest.raises(od.ModelError, match=rf"damaged\.npz: {what}"):
        load(other, tmp_path)


def test_files_without_digests_are_read_when_asked_for(content: bytes, tmp_path: Path) -> None:
    found = members(content)
    del found["digests.npy"]
    change = {"format": "ocp_dyn solution 2", "not_finite": []}
    assert load(packed(with_about(found, change, drop="irregular")), tmp_path, verify=False).converged
    refused(
        packed(with_about(found, {"format": "ocp_dyn solution 2"})), tmp_path, "'not_finite' is missing", verify=False
    )


def test_what_cannot_be_read_is_not_saved(hop: Solution, tmp_path: Path) -> None:
    """A figure that is missing, an array changed since the motion was made: told before anything is written."""
    for stats, what in (({}, "(converged|status)' is missing"), (hop.stats | {"iterations": -1}, "'iterations'")):
        with pytest.raises(ValueError, match=f"'stats': .*{what}"):
            replace(hop, stats=stats).save(tmp_path / "hop.npz")
    phase = replace(hop.phases[0])
    phase.__dict__["q"] = phase.q[:-1]
    broken = replace(hop)
    broken.__dict__["phases"] = (phase, *hop.phases[1:])
    with pytest.raises(ValueError, match="'q0' has the shape"):
        broken.save(tmp_path / "hop.npz")
    with pytest.raises(ValueError, match="'impulse1' is missing: it holds 1 impulses for 2 transitions"):
        replace(hop, impulses=hop.impulses[:1]).save(tmp_path / "hop.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("key", ["format", "phases", "step_length", "stats"])
@pytest.mark.slow
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
    ("t0", lambda x: x[::-1], "'t0' holds times that do not ascend"),
    ("t0", lambda x: x[:1], "'t0' must hold at least two times"),
    ("t1", lambda x: x.astype(complex), "a header that is not numpy's, or holds other than numbers and text"),
    ("qd0", lambda _: np.array([{"a": 1}]), "a header that is not numpy's, or holds other than numbers and text"),
    ("impulse1", lambda x: np.ones(x.size + 1), "'impulse1' has"),
    ("iterate_x", lambda x: x[1:], "'iterate_lam_x' has the shape"),
    ("record_variable", lambda x: x + 10_000, "'record_variable' holds indices from 10000 to .*, expected 0 to"),
    ("record_label", lambda x: x - 2, "'record_label' holds indices from -[23] to .*, expected -1 to"),
    ("record_row", lambda x: x.astype(float), "'record_row' holds float64, expected whole numbers"),
    ("record_value", lambda x: x[1:], "'record_value' has"),
    ("record_scale", lambda x: -x, "'record_scale' holds numbers that are not positive"),
    ("record_scale", lambda x: x * np.nan, "'record_scale' holds numbers"),
    ("record_sizes", lambda x: -x - 1, "'record_sizes' holds negative counts"),
    ("record_upper", lambda x: x * np.nan, "'record_upper' holds nan"),
]


@pytest.mark.parametrize(("name", "change", "message"), CHANGES, ids=[f"{c[0]}-{k}" for k, c in enumerate(CHANGES)])
@pytest.mark.slow
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
    """Deflate makes at most 1032 bytes of one, plus 64 of overhead; without compression the sizes are equal, plus
    64."""
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
    refused(packed(found | fewer), tmp_path, "'x of the iterate' has the shape")
    fewer = {"iterate_lam_g.npy": npy(array(found["iterate_lam_g.npy"])[1:])}
    refused(packed(found | fewer), tmp_path, "'lam_g of the iterate' has the shape")


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
@pytest.mark.slow
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


@pytest.mark.slow
def test_random_damage(content: bytes, tmp_path: Path) -> None:
    """Bytes turned, lost and added, in the file and, under right checksums, in its members: an error, or all is
    right."""
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
            again = load(damaged, tmp_path, verify=bool(trial % 3))
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
        RollingContact(last, 0.3, axis="y", planar=True),
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
@pytest.mark.slow
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
