"""The table of docs/coming_from/rbdl.md against values that RBDL 3.3.1 computed, recorded in tests/data."""

import json
from functools import cache

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from scripts.checks.reference.case import Case
from tests.docs.pages import rows
from tests.helpers import DATA

MODELS = ("root_floating_base", "root_euler_zyx")
RECORDED = [row for row in rows("coming_from/rbdl.md") if row.relation]


@cache
def states(name: str) -> list[tuple]:
    """The table's names on our side and the recorded quantities, for every point and contact set of every state."""
    data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    case, found = Case(data), []
    for state in data["states"]:
        contacts = {found["name"]: found for found in state["contacts"]}
        for k, at in enumerate(state["points"]):
            names = {"od": od, "ca": ca, "np": np, "model": case.model, "q": case.q(state["q"]), "body": at["body"],
                     "point": tuple(at["point"]), "f_ext": case.f_ext(state), "external": case.pushed}  # fmt: skip
            names |= {ours: case.v(state[key], key) for ours, key in (("qd", "qdot"), ("qdd", "qddot"), ("tau", "tau"))}
            sets = list(contacts)
            which = sets[k % len(sets)] if sets else None
            names["contacts"] = case.sets.get(which, ())
            pose = {"E": state["body_pose"][at["body"]]["E"]}
            found.append((case, names, {**state, "points": at, "contacts": contacts.get(which, {}), "body_pose": pose}))
    return found


def recorded(values: dict, key: str):
    for part in key.split("."):
        if part not in values:
            return None
        values = values[part]
    return np.array(values, dtype=float)


def axes(shape: tuple[int, ...], nv: int) -> list[int]:
    return [k for k, size in enumerate(shape) if size == nv]


def test_the_table_is_long_enough():
    assert len(RECORDED) >= 25


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row.place)
@pytest.mark.slow
def test_our_call_gives_the_recorded_value(row):
    compared = 0
    for model in MODELS:
        for case, names, values in states(model):
            wanted = recorded(values, row.relation)
            if wanted is None or (row.relation.startswith("contacts") and values["contacts"]["cond_G"] > 1e6):
                continue
            found = np.squeeze(np.array(eval(row.ours[0], names), dtype=float))
            joints = row.relation in JOINT_SPACE or row.relation.endswith((".J", ".J6", ".J_body_spatial", ".G"))
            if joints:
                found = np.reshape(found, wanted.shape)
                last = wanted.ndim - 1
                found = case.back(found, case.v_at, (0, 1) if row.relation == "H" else (last,))
            error = np.abs(found.reshape(wanted.shape) - wanted) / (1 + np.abs(wanted))
            assert error.max() < 1e-9, (model, row)
            compared += 1
    assert compared >= 2


JOINT_SPACE = {
    "id_tau", "id_tau_fext", "C", "gravity_tau", "H", "fd_qddot", "fd_qddot_fext", "minv_tau", "contacts.fd_qddot",
    "contacts.impact_qdot_plus",
}  # fmt: skip
"""Recorded quantities with an entry per dof."""
