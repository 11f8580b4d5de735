"""The table of docs/coming_from/pinocchio.md: both calls of every row, on the same robots."""

import sysconfig
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from tests.docs.pages import Row, namespace, rows, value

pin = pytest.importorskip("pinocchio")
PAGE = "coming_from/pinocchio.md"
ROWS = [row for row in rows(PAGE) if "(...)" not in row.theirs[0] and not row.theirs[0].startswith("cpin.")]
"""Without those whose Pinocchio call needs a viewer, meshes or its CasADi build."""
TOLERANCE = 1e-9
SOLO = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/share/example-robot-data/robots/solo_description/robots"
SWAP = [3, 4, 5, 0, 1, 2]


@pytest.fixture(scope="module")
def walker(tmp_path_factory) -> tuple[dict, dict]:
    return both(namespace(PAGE, 2), tmp_path_factory.mktemp("walker"))


def both(ours: dict, folder: Path) -> tuple[dict, dict]:
    """Names of the table on our side and on Pinocchio's, for the robot `urdf` of our side."""
    path = folder / "robot.urdf"
    path.write_text(ours["urdf"], encoding="utf-8")
    rng, layout, q, qd, qdd, tau = (ours[name] for name in ("rng", "layout", "q", "qd", "qdd", "tau"))
    foot = ours.setdefault("foot", "left_foot")
    wrench, w, u = rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    joint = ours["model"].joint_names[-1]
    ours |= {
        "path": path,
        "f_ext": wrench,
        "w": w,
        "u": u,
        "joint": joint,
        "q_symbol": ca.SX.sym("q", ours["model"].nq),
    }

    model = pin.buildModelFromXML(ours["urdf"], pin.JointModelFreeFlyer())
    data, i = model.createData(), model.getFrameId(foot)
    column = lambda x: np.array(x).ravel()
    theirs = {"pin": pin, "np": np, "model": model, "data": data, "i": i, "foot": foot, "urdf": ours["urdf"],
              "path": path, "q": column(layout.to_q(q)), "v": column(layout.to_qd(q, qd)), "w": w, "u": u,
              "a": column(layout.to_qdd(q, qd, qdd)), "tau": column(layout.to_tau(q, tau))}  # fmt: skip
    tool = '<robot name="tool"><link name="handle"/><link name="blade"/>JOINT</robot>'.replace(
        "JOINT", '<joint name="grip" type="continuous"><parent link="handle"/><child link="blade"/></joint>'
    )
    ours["tool"], theirs["tool"] = od.parse_urdf(tool), pin.buildModelFromXML(tool)
    theirs["j"] = model.getJointId(joint)
    pin.framesForwardKinematics(model, data, theirs["q"])
    frame = model.frames[i]
    theirs["f_joint"] = [pin.Force.Zero() for _ in range(model.njoints)]
    theirs["f_joint"][frame.parentJoint] = data.oMi[frame.parentJoint].actInv(pin.Force(wrench[3:], wrench[:3]))
    point = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_3D, model, frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED
    )
    theirs["contacts"] = pin.StdVec_RigidConstraintModel([point])
    theirs["contact_data"] = pin.StdVec_RigidConstraintData([point.createData()])
    theirs["J"] = pin.computeFrameJacobian(model, data, theirs["q"], i, pin.LOCAL_WORLD_ALIGNED)[:3]
    pin.forwardKinematics(model, data, theirs["q"], theirs["v"], 0 * theirs["v"])
    theirs["gamma"] = pin.getFrameClassicalAcceleration(model, data, i, pin.LOCAL_WORLD_ALIGNED).linear
    return ours, theirs


def expected(row: Row, ours: dict) -> np.ndarray:
    """Their result as the last column of the table makes it of ours."""
    layout, q, qd = ours["layout"], ours["q"], ours["qd"]
    T = np.array(layout.qd_map(q))
    found = np.array(value(row.ours[:1], ours), dtype=float)
    if row.relation in ("to_qd", "to_tau"):
        return np.array(getattr(layout, row.relation)(q, found))
    if row.relation == "to_qdd":
        return np.array(layout.to_qdd(q, qd, found))
    if row.relation == "T Y, bodies":
        order = [layout.model.joint_names.index(name) for name in layout.joints]
        return T @ np.hstack([found[:, 10 * k : 10 * k + 10] for k in order])
    simple = {"=": lambda: found, "to_q": lambda: np.array(layout.to_q(found)), "T M T'": lambda: T @ found @ T.T,
              "joints": lambda: T @ found @ T.T, "rotations": lambda: T @ found @ T.T, "M T'": lambda: found @ T.T,
              "swap": lambda: found[SWAP],
              "swap, M T'": lambda: found[SWAP] @ T.T}  # fmt: skip
    return simple[row.relation]()


@pytest.fixture(scope="module")
def solo(tmp_path_factory) -> tuple[dict, dict]:
    """A quadruped from its file, at another state."""
    rng = np.random.default_rng(2)
    text = (SOLO / "solo12.urdf").read_text(encoding="utf-8")
    model = od.parse_urdf(text, root=od.FloatingBase())
    q, (qd, qdd, tau) = model.random_q(rng), rng.normal(size=(3, model.nv))
    names = {"od": od, "np": np, "ca": ca, "urdf": text, "model": model, "rng": rng, "foot": "FR_FOOT",
             "layout": od.Layout(model, "pinocchio"), "q": q, "qd": qd, "qdd": qdd, "tau": tau}  # fmt: skip
    return both(names, tmp_path_factory.mktemp("solo"))


def compare(row: Row, ours: dict, theirs: dict) -> None:
    """Both calls run; their results agree in the way that the row's last column tells."""
    found = value(row.theirs, theirs)
    for code in row.ours:
        eval(code, ours)
    if not row.relation:
        return
    wanted, found = expected(row, ours), np.array(found, dtype=float)
    wanted = np.squeeze(wanted).reshape(found.shape)
    if row.relation == "joints":
        wanted, found = wanted[:, 6:], found[:, 6:]
    if row.relation == "rotations":
        wanted, found = wanted[3:, 3:], found[3:, 3:]
    scale = max(1.0, float(np.abs(found).max()))
    assert np.abs(found - wanted).max() <= TOLERANCE * scale, f"{row.place}\n{found}\n{wanted}"


def test_the_table_is_long_enough():
    assert sum(bool(row.relation) for row in ROWS) >= 45


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.place)
def test_both_calls(row, walker):
    compare(row, *walker)


@pytest.mark.slow
@pytest.mark.skipif(not SOLO.exists(), reason="example-robot-data is not installed")
@pytest.mark.parametrize("row", [row for row in ROWS if "right_hip" not in row.ours[0]], ids=lambda row: row.place)
def test_both_calls_for_a_quadruped(row, solo):
    compare(row, *solo)
