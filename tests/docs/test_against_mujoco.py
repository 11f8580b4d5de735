"""The table of docs/coming_from/mujoco.md: both calls of every row, on the same robot."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from tests.docs.pages import namespace, rows, value

mujoco = pytest.importorskip("mujoco")
PAGE = "coming_from/mujoco.md"
ROWS = [row for row in rows(PAGE) if "mujoco" in row.theirs[0] or row.relation]
TOLERANCE = {"=": 1e-9, "to_q": 1e-9, "~": 1e-4}


@pytest.fixture(scope="module")
def ours() -> dict:
    names = namespace(PAGE, 3)
    rng = np.random.default_rng(4)
    names |= {"n": rng.normal(size=3), "f": rng.normal(size=3), "xyzw": rng.normal(size=4)}
    names["xyzw"] /= np.linalg.norm(names["xyzw"])
    return names


@pytest.fixture
def theirs(ours) -> dict:
    m = mujoco.MjModel.from_xml_string(ours["mjcf"])
    d = mujoco.MjData(m)
    d.qpos[:] = ours["layout"].to_q(ours["q"]).full().ravel()
    d.qvel[:] = ours["qd"]
    mujoco.mj_forward(m, d)
    nv = m.nv
    x, y, z, w = ours["xyzw"]
    ours["d_qacc"] = ca.DM(d.qacc)
    return {"mujoco": mujoco, "mjcf": ours["mjcf"], "m": m, "d": d, "s": m.site("tip").id, "palm": m.body("palm").id,
            "site": mujoco.mjtObj.mjOBJ_SITE, "qpos": d.qpos.copy(), "qvel": ours["qd"].copy(),
            "qacc": ours["qdd"].copy(), "force": ours["tau"][None].copy(), "n": ours["n"], "f": ours["f"],
            "quat": np.array([w, x, y, z]), "mat": np.zeros(9), "M": np.zeros((nv, nv)), "x": np.zeros(nv),
            "x0": np.zeros(nv), "row": np.zeros((1, nv)), "v": np.zeros(6), "Jp": np.zeros((3, nv)),
            "Jr": np.zeros((3, nv)), **{name: np.zeros((nv, nv)) for name in ("D1", "D2", "D3")}}  # fmt: skip


def test_the_table_is_long_enough():
    assert sum(bool(row.relation) for row in ROWS) >= 30


@pytest.mark.parametrize("row", [row for row in ROWS if "viewer" not in row.theirs[0]], ids=lambda row: row.place)
@pytest.mark.slow
def test_both_calls(row, ours, theirs):
    found = value(row.theirs, theirs)
    values = [eval(code, ours) for code in row.ours]
    if not row.relation:
        return
    wanted = ours["layout"].to_q(values[0]) if row.relation == "to_q" else values[0]
    found = np.array(found, dtype=float)
    wanted = np.squeeze(np.array(wanted, dtype=float)).reshape(found.shape)
    assert np.abs(found - wanted).max() <= TOLERANCE[row.relation] * max(1, np.abs(found).max()), (found, wanted)


def test_the_quaternion_comes_first_in_both_libraries_frames(ours, theirs):
    assert isinstance(ours["model"].joints[1], od.FloatingBase)
    assert np.allclose(theirs["d"].qpos[3:7], np.roll(ours["q"][3:7], 1))
