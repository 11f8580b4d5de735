"""The ready models: names and sizes, closed forms, anthropometry, signs, mirror symmetry, error paths."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import models
from ocp_dyn._base.types import Array
from ocp_dyn.mechanism import Model
from ocp_dyn.spatial_algebra.spatial import Transform

PEOPLE = [
    (73.0, 1.741, "male"), (61.9, 1.735, "female"), (58.3, 1.55, "female"), (101.7, 1.98, "male"), (40.0, 1.40, "male"),
]  # fmt: skip


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def walk(model: Model, q: Array, qd: Array | None = None) -> tuple[list[Transform], list[DM]]:
    """Ground-to-body transforms and spatial velocities of every body: the plain recursion, on numbers."""
    qd = np.zeros(model.nv) if qd is None else qd
    X, v = [Transform.identity()], [DM(6, 1)]
    for i, p in model.edges:
        state = model.joints[i].jcalc(DM(model.split_q(DM(q))[i]), DM(model.split_qd(DM(qd))[i]))
        Xi = state.XJ @ model.X_tree[i]
        X.append(Xi @ X[p])
        v.append(Xi.apply(v[p]) + state.vJ)
    return X, v


def place(model: Model, q: Array, frame: str, point: tuple[float, float, float] = (0, 0, 0)) -> Array:
    """Position of a point of a frame in the world."""
    f = model.frame(frame)
    return np.array((f.X @ walk(model, q)[0][f.body]).point(DM(point)).full()).ravel()


def com(model: Model, q: Array) -> Array:
    X, _ = walk(model, q)
    moments = [I.m * X[i].r + X[i].E.T @ I.h for i, I in enumerate(model.I)]
    return np.array((sum(moments[1:], start=moments[0]) / model.mass).full()).ravel()


def kinetic_energy(model: Model, q: Array, qd: Array) -> float:
    _, v = walk(model, q, qd)
    return float(sum(ca.dot(v[i], I.apply(v[i])) for i, I in enumerate(model.I))) / 2


def central_inertia(I: od.Inertia) -> Array:
    """3x3 inertia about the center of mass."""
    m, h = float(I.m), np.array(I.h.full()).ravel()
    return np.array(I.I.full()) - (h @ h * np.eye(3) - np.outer(h, h)) / m


def turned(model: Model, **angles: float) -> Array:
    """Neutral but for the named entries of q; `__` stands for the dot."""
    q = model.neutral()
    for name, value in angles.items():
        q[model.q_names.index(name.replace("__", "."))] = value
    return q


# Pendulums and chains


def test_pendulum_closed_form(rng: np.random.Generator) -> None:
    m, l, (a, b), (da, db) = 1.3, 0.7, rng.normal(size=2), rng.normal(size=2)
    model = models.pendulum(2, l, m)
    assert model.body_names == ("link1", "link2")
    assert model.joint_names == ("joint1", "joint2")
    q, qd = np.array([a, b - a]), np.array([da, db - da])
    tip = [-l * (np.sin(a) + np.sin(b)), 0, -l * (np.cos(a) + np.cos(b))]
    np.testing.assert_allclose(place(model, q, "tip"), tip, atol=1e-14)
    # double compound pendulum, angles from the vertical
    T = m * l**2 * (da**2 * 2 / 3 + db**2 / 6 + da * db * np.cos(a - b) / 2)
    assert kinetic_energy(model, q, qd) == pytest.approx(T, rel=1e-13)
    height = -l * (1.5 * np.cos(a) + 0.5 * np.cos(b)) / 2
    assert com(model, q)[2] == pytest.approx(height, rel=1e-13)


@pytest.mark.parametrize(
    ("branching", "parents"),
    [(1, [0, 1, 2, 3, 4, 5]), (2, [0, 1, 1, 2, 2, 3]), (3, [0, 1, 1, 1, 2, 2]), (np.inf, [0] * 6)],
)
@pytest.mark.slow
def test_chain_parents(branching: float, parents: list[int]) -> None:
    model = models.chain(6, branching)
    assert list(model.parent[1:]) == parents
    assert list(model.parent) == list(od.random_tree(6, branching).parent)
    assert model.nv == 6
    assert [j.axis for j in model.joints[1:3]] == [(0, 1, 0), (1, 0, 0)]  # type: ignore[attr-defined]
    assert repr(model.X_tree) == repr(models.chain(6, branching).X_tree)


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_bad_counts(n: object) -> None:
    with pytest.raises(ValueError, match=r"pendulum: the number of rods must be at least 1.*, a whole number"):
        models.pendulum(n)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"chain: the number of links must be at least 1.*, a whole number"):
        models.chain(n)  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_bad_rods(bad: float) -> None:
    with pytest.raises(ValueError, match="length of a rod must be a positive number of m"):
        models.pendulum(1, length=bad)
    with pytest.raises(ValueError, match="mass of a rod must be a positive number of kg"):
        models.pendulum(1, mass=bad)
    if bad != np.inf:
        with pytest.raises(ValueError, match="branching must be at least 1"):
            models.chain(3, branching=bad)


# Five-link biped

PARAMETERS = models.FiveLinkParameters(
    swing_tibia_com=0.272, swing_femur_com=0.237, torso_length=0.6, femur_length=0.43
)


def five_link_energy(p: models.FiveLinkParameters, a: Array, da: Array) -> tuple[float, Array]:
    """Kinetic energy and center of mass with the stance foot at the origin, straight from absolute angles.

    Every center of mass is a sum of lengths along links: `x = -sum c sin a`, `z = sum c cos a`.
    """
    lt, lf = p.tibia_length, p.femur_length
    arms = np.array([
        [lt - p.tibia_com, 0, 0, 0, 0],
        [lt, lf - p.femur_com, 0, 0, 0],
        [lt, lf, p.torso_length - p.torso_com, 0, 0],
        [lt, lf, 0, -p.swing_femur_com, 0],
        [lt, lf, 0, -lf, -p.swing_tibia_com],
    ])  # fmt: skip
    m = np.array([p.tibia_mass, p.femur_mass, p.torso_mass, p.femur_mass, p.tibia_mass])
    J = np.array([p.tibia_inertia, p.femur_inertia, p.torso_inertia, p.femur_inertia, p.tibia_inertia])
    vx, vz = -arms @ (np.cos(a) * da), -arms @ (np.sin(a) * da)
    center = m @ np.column_stack([-arms @ np.sin(a), 0 * a, arms @ np.cos(a)]) / m.sum()
    return float(m @ (vx**2 + vz**2) + J @ da**2) / 2, center


@pytest.mark.parametrize("p", [models.FiveLinkParameters(), PARAMETERS], ids=["rabbit", "other"])
def test_five_link_pinned(p: models.FiveLinkParameters, rng: np.random.Generator) -> None:
    model = models.five_link_biped(p)
    assert model.joint_names == ("stance_ankle", "stance_knee", "stance_hip", "swing_hip", "swing_knee")
    assert model.mass == pytest.approx(40.0)
    A = models.absolute_angles(model)
    np.testing.assert_array_equal(A, np.tril(np.ones((5, 5))))
    a, da = rng.normal(size=(2, 5))
    q, qd = np.linalg.solve(A, a), np.linalg.solve(A, da)
    T, center = five_link_energy(p, a, da)
    assert kinetic_energy(model, q, qd) == pytest.approx(T, rel=1e-12)
    np.testing.assert_allclose(com(model, q), center, atol=1e-14)
    np.testing.assert_allclose(place(model, q, "stance_foot"), 0, atol=1e-14)


def test_five_link_planar_is_the_pinned_one(rng: np.random.Generator) -> None:
    """With the hip where the pinned model has it, both stand alike and move with the same energy."""
    pinned, planar = models.five_link_biped(PARAMETERS), models.five_link_biped(PARAMETERS, root="planar")
    assert planar.joint_names == ("root", "stance_hip", "stance_knee", "swing_hip", "swing_knee")
    assert (planar.nq, planar.nv, planar.mass) == (7, 7, pytest.approx(40.0))
    a, da = rng.normal(size=(2, 5))
    A1, A2 = models.absolute_angles(pinned), models.absolute_angles(planar)
    assert not A2[:, :2].any()
    q1, qd1 = np.linalg.solve(A1, a), np.linalg.solve(A1, da)
    hip = place(pinned, q1, "hip")
    lengths = np.array([PARAMETERS.tibia_length, PARAMETERS.femur_length])
    hip_velocity = [-lengths @ (np.cos(a[:2]) * da[:2]), -lengths @ (np.sin(a[:2]) * da[:2])]
    q2 = np.concatenate([hip[[0, 2]], np.linalg.solve(A2[:, 2:], a)])
    qd2 = np.concatenate([hip_velocity, np.linalg.solve(A2[:, 2:], da)])
    for frame in ("stance_foot", "swing_foot", "hip", "head"):
        np.testing.assert_allclose(place(planar, q2, frame), place(pinned, q1, frame), atol=1e-14)
    assert kinetic_energy(planar, q2, qd2) == pytest.approx(kinetic_energy(pinned, q1, qd1), rel=1e-12)
    for link in ("torso", "stance_femur", "swing_tibia"):  # every link has the world's axes at q = 0
        f = planar.frame(link)
        np.testing.assert_allclose((f.X @ walk(planar, planar.neutral())[0][f.body]).E.full(), np.eye(3), atol=1e-15)


@pytest.mark.parametrize(("call", "message"), [
    (lambda: models.five_link_swing((0.1, 0.2), 1.0), "start must be 5 absolute angles .rad., got 2 numbers"),
    (lambda: models.five_link_swing(np.zeros(5), 0.0), "duration .s. must be positive"),
    (lambda: models.five_link_strike(np.zeros(4), np.zeros(5)), "q must have 5 entries"),
])  # fmt: skip
def test_wrong_numbers_of_the_five_link_biped(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_five_link_signs() -> None:
    """Positive absolute angles: stance tibia backwards, hanging leg forwards; knees bend as people's do."""
    model = models.five_link_biped()
    assert place(model, turned(model, stance_ankle=0.1), "head")[0] < -0.1
    assert place(model, turned(model, swing_hip=0.1), "swing_foot")[0] > 0.05
    crouched = turned(model, stance_ankle=-0.3, stance_knee=0.6, swing_knee=-0.5)
    assert place(model, crouched, "stance_femur")[0] > 0.1  # the stance knee is ahead of foot and hip
    straight = turned(model, stance_ankle=-0.3, stance_knee=0.6)
    assert place(model, crouched, "swing_foot")[0] < place(model, straight, "swing_foot")[0] - 0.1  # the heel rises


def test_five_link_errors() -> None:
    with pytest.raises(ValueError, match="root must be one of pinned, planar, got 'free'"):
        models.five_link_biped(root="free")  # type: ignore[arg-type]
    for name, bad in (("tibia_mass", 0.0), ("torso_inertia", -1.0), ("femur_length", np.nan), ("torso_com", np.inf)):
        with pytest.raises(ValueError, match=f"{name} must be"):
            replace(models.FiveLinkParameters(), **{name: bad})
    assert replace(models.FiveLinkParameters(), torso_com=-0.1).torso_com == -0.1


# Human


@pytest.mark.slow
def test_human_names_and_sizes() -> None:
    model = models.human()
    assert (model.nb, model.nq, model.nv) == (14, 30, 29)
    limbs = ["thigh", "shank", "talus", "foot", "upper_arm", "forearm"]
    assert set(model.body_names) == {"pelvis", "torso", *(f"{b}_{s}" for b in limbs for s in "lr")}
    joints = ["hip", "knee", "ankle", "subtalar", "shoulder", "elbow"]
    assert set(model.joint_names) == {"root", "lumbar", *(f"{j}_{s}" for j in joints for s in "lr")}
    frames = {
        "head",
        "upper_trunk",
        "seat",
        *(f"{f}_{s}" for f in ("heel", "toe", "sole", "hand", "fingertip") for s in "lr"),
    }
    assert set(model.frame_names) == set(model.body_names) | frames
    euler = models.human(root=od.FloatingBase("euler_zyx"))
    assert (euler.nq, euler.nv) == (29, 29)
    held = models.human(root=od.Fixed())
    assert (held.nv, held.body_names[0]) == (23, "torso")
    assert models.human(root=od.Revolute("y")).joint_names[0] == "root"


@pytest.mark.parametrize(("mass", "height", "sex"), PEOPLE)
@pytest.mark.slow
def test_human_mass_and_stature_are_exact(mass: float, height: float, sex: str) -> None:
    model = models.human(mass, height, sex)  # type: ignore[arg-type]
    size = models.human_dimensions(height, sex)  # type: ignore[arg-type]
    assert model.mass == pytest.approx(mass, rel=1e-13)
    q = turned(model, root__z=size.leg_length)
    assert place(model, q, "head")[2] == pytest.approx(height, rel=1e-13)
    for side in "lr":
        for frame in ("heel", "toe", "sole"):
            assert place(model, q, f"{frame}_{side}")[2] == pytest.approx(0.0, abs=1e-13)
        length = place(model, q, f"toe_{side}") - place(model, q, f"heel_{side}")
        np.testing.assert_allclose(length, [size.foot_length, 0, 0], atol=1e-13)
    assert place(model, q, "upper_arm_l")[2] == pytest.approx(size.shoulder_height, rel=1e-13)
    assert place(model, q, "torso")[2] == pytest.approx(size.lumbar_height, rel=1e-13)


@pytest.mark.parametrize(("height", "sex"), [(h, s) for h in (1.5, 1.741, 2.0) for s in ("male", "female")])
def test_human_proportions(height: float, sex: str) -> None:
    size = models.human_dimensions(height, sex)  # type: ignore[arg-type]
    assert 0.04 < size.neck_gap / height < 0.085  # what the table's lengths leave of the stature
    assert 0.78 < size.shoulder_height / height < 0.84  # Drillis and Contini: 0.818
    assert 0.49 < size.leg_length / height < 0.54  # Drillis and Contini: greater trochanter 0.530
    assert size.sole_half_length == pytest.approx((size.heel + size.toe) / 2, rel=1e-14)
    assert size.sole_half_breadth == size.foot_breadth / 2
    assert 0 < size.heel < size.toe
    reference = models.human_dimensions(1.741, sex)  # type: ignore[arg-type]
    assert size.neck_gap / height == pytest.approx(reference.neck_gap / 1.741, rel=1e-12)


@pytest.mark.parametrize(("mass", "height", "sex"), PEOPLE)
@pytest.mark.slow
def test_human_center_of_mass(mass: float, height: float, sex: str) -> None:
    """Center of mass of standing adults: 0.54 to 0.58 of stature, above the soles, on the midplane."""
    model = models.human(mass, height, sex)  # type: ignore[arg-type]
    q = turned(model, root__z=models.human_dimensions(height, sex).leg_length)  # type: ignore[arg-type]
    x, y, z = com(model, q)
    assert 0.54 < z / height < 0.58
    assert abs(y) < 1e-14
    assert 0 < x < 0.01


@pytest.mark.parametrize(
    ("mass", "height", "measured"),
    [(78.70, 1.834, (14.91, 13.44, 1.48)), (66.81, 1.712, (10.80, 9.25, 1.16)), (92.08, 1.862, (16.27, 14.57, 1.60))],
)
@pytest.mark.slow
def test_human_whole_body_inertia(mass: float, height: float, measured: tuple[float, float, float]) -> None:
    """Three standing men of Santschi et al. (AMRL-TDR-63-36, 1963), about the axes x, y, z through the com."""
    model = models.human(mass, height)
    X, _ = walk(model, model.neutral())
    body = sum((I.to_parent(X[i]) for i, I in enumerate(model.I)), start=od.Inertia.zero())
    I = central_inertia(body)
    # build differs between people; turning about z is the smallest and hangs on where the arms are
    np.testing.assert_allclose(np.diag(I)[:2], measured[:2], rtol=0.15)
    np.testing.assert_allclose(I[2, 2], measured[2], rtol=0.3)


@pytest.mark.parametrize(("mass", "height", "sex"), PEOPLE)
@pytest.mark.slow
def test_human_inertias_are_physical(mass: float, height: float, sex: str) -> None:
    model = models.human(mass, height, sex)  # type: ignore[arg-type]
    for name, I in zip(model.body_names, model.I[1:], strict=True):
        if name.startswith("talus"):
            assert not float(I.m)
            continue
        A, B, C = np.linalg.eigvalsh(central_inertia(I))
        assert A > 0
        assert A + B > C * (1 - 1e-12)


@pytest.mark.parametrize("sex", ["male", "female"])
def test_segment_table(sex: str) -> None:
    """The three trunk parts make up the whole trunk of the same table; the masses make up the body."""
    table = models.anthropometry.SEGMENTS[sex]
    trunk = [table[f"{part}_trunk"] for part in ("upper", "middle", "lower")]
    length, mass, center = {"male": (531.9, 43.46, 44.86), "female": (529.3, 42.57, 41.51)}[sex]
    assert sum(s.length for s in trunk) == pytest.approx(length, abs=0.1)
    assert sum(s.mass for s in trunk) == pytest.approx(mass, abs=0.011)
    tops = np.cumsum([0.0] + [s.length for s in trunk])
    z = sum(s.mass * (top + s.com * s.length / 100) for s, top in zip(trunk, tops, strict=False)) / mass
    assert 100 * z / length == pytest.approx(center, abs=0.6)  # 3 mm: as published, in the man's trunk
    bodies = models.anthropometry.segment_bodies(80.0, 1.8, sex)  # type: ignore[arg-type]
    paired = models.anthropometry.PAIRED
    assert sum(b.mass * (2 if name in paired else 1) for name, b in bodies.items()) == pytest.approx(80.0, rel=1e-14)


@pytest.mark.slow
def test_human_mirror_symmetry(rng: np.random.Generator) -> None:
    """Right = left mirrored in y: placements, inertias, limits, and every pose with the x and z signs changed."""
    model = models.human(66.0, 1.69, "female")
    S = np.diag([1.0, -1.0, 1.0])
    names, dofs = model.body_names, model.dofs
    for left in (n for n in names if n.endswith("_l")):
        i, j = names.index(left) + 1, names.index(left[:-1] + "r") + 1
        np.testing.assert_allclose(S @ model.X_tree[i].r.full(), model.X_tree[j].r.full(), atol=1e-15)
        np.testing.assert_array_equal(model.X_tree[i].E.full(), np.eye(3))
        np.testing.assert_allclose(S @ model.I[i].h.full(), model.I[j].h.full(), atol=1e-15)
        np.testing.assert_allclose(S @ model.I[i].I.full() @ S, model.I[j].I.full(), atol=1e-15)
    q, mirrored = turned(model), turned(model)
    for name in model.q_names[7:]:
        other = name.replace("_l", "_r") if "_l" in name else name.replace("_r", "_l") if "_r" in name else name
        sign = -1.0 if name.endswith((".rx", ".rz")) or name.startswith("subtalar") else 1.0
        k, o = model.q_names.index(name), model.q_names.index(other)
        limits = sorted([sign * dofs.q_lower[o], sign * dofs.q_upper[o]])
        np.testing.assert_allclose([dofs.q_lower[k], dofs.q_upper[k]], limits, atol=0)
        assert dofs.qd_max[k - 1] == dofs.qd_max[o - 1]
        efforts = sorted(sign * dofs.effort[o - 1])
        np.testing.assert_array_equal(dofs.effort[k - 1], efforts)
        q[k] = rng.uniform(dofs.q_lower[k], dofs.q_upper[k])
        mirrored[o] = sign * q[k]
    for frame in ("toe_l", "heel_r", "fingertip_l", "fingertip_r", "sole_l", "forearm_r", "head"):
        other = frame[:-1] + {"l": "r", "r": "l"}[frame[-1]] if "_" in frame else frame
        np.testing.assert_allclose(S @ place(model, q, frame), place(model, mirrored, other), atol=1e-14)


def test_human_limits() -> None:
    model = models.human()
    d = model.dofs
    q = model.neutral()
    assert np.all(d.q_lower <= q)
    assert np.all(q <= d.q_upper)
    assert np.all(np.isinf(d.tau_max[:6]))
    assert np.all(np.isfinite(d.q_upper[7:] - d.q_lower[7:]))
    assert np.all(d.qd_max[6:] > 0)
    assert np.all(d.tau_max[6:] > 0)
    euler = [k for k, name in enumerate(model.q_names) if name.endswith(".rx")]
    assert np.all(np.abs(d.q_lower[euler]) < np.pi / 2)  # away from the singular pose
    assert np.all(d.q_upper[euler] < np.pi / 2)
    assert np.all(d.tau_min[6:] < 0)
    assert models.human(90.0, 1.9).dofs.effort[6:] == pytest.approx(d.effort[6:] * 90 * 1.9 / (73 * 1.741))


@pytest.mark.parametrize(
    ("sex", "dof", "lower", "upper"),
    [
        ("male", "knee_l", -0.163, 0.087),
        ("male", "ankle_r", -0.033, 0.095),
        ("female", "hip_l.ry", -0.127, 0.181),
        ("female", "ankle_l", -0.027, 0.104),
        ("male", "hip_l.rx", -217.0, 185.0),
        ("male", "hip_r.rx", -185.0, 217.0),
        ("female", "hip_r.rz", -36.6, 40.6),
        ("male", "subtalar_l", -37.0, 33.4),
        ("male", "subtalar_r", -33.4, 37.0),
        ("male", "lumbar.ry", -118.1, 87.3),
        ("female", "lumbar.rx", -47.85, 47.85),
        ("male", "shoulder_l.ry", -63.0, 91.9),
        ("female", "shoulder_r.rz", -19.4, 26.3),
        ("male", "elbow_r", -70.3, 53.2),
    ],
)
@pytest.mark.slow
def test_human_strengths_of_both_directions(sex: str, dof: str, lower: float, upper: float) -> None:
    """Published torques [N m] of people of a known mass, or parts of weight times stature, in the model's signs."""
    masses = {"hip": (73.8, 62.8), "lumbar": (73.4, 55.1), "subtalar": (73.0, 61.9)}
    column = ("male", "female").index(sex)
    height = (1.741, 1.735)[column]
    mass = masses.get(dof.split(".")[0].split("_")[0], masses["hip"])[column]
    model = models.human(mass, height, sex)  # type: ignore[arg-type]
    unit = mass * 9.81 * height if abs(upper) < 1 else 1.0
    k = model.qd_names.index(dof)
    np.testing.assert_allclose(model.dofs.effort[k], [lower * unit, upper * unit], rtol=1e-12)


@pytest.mark.parametrize(
    ("entry", "frame", "axis", "sign"),
    [
        ("lumbar.ry", "head", 0, 1), ("lumbar.rx", "head", 1, -1), ("lumbar.rz", "upper_arm_l", 0, -1),
        ("hip_l.ry", "foot_l", 0, -1), ("hip_l.rx", "foot_l", 1, 1), ("hip_l.rz", "toe_l", 1, 1),
        ("knee_l", "foot_l", 0, -1), ("ankle_l", "toe_l", 2, -1),
        ("shoulder_l.ry", "fingertip_l", 0, -1), ("shoulder_l.rx", "fingertip_l", 1, 1), ("elbow_l", "hand_l", 0, -1),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_human_signs(entry: str, frame: str, axis: int, sign: int) -> None:
    """A small positive angle moves the frame in the direction that the docstring's table says."""
    model = models.human()
    shift = place(model, turned(model, **{entry: 0.1}), frame) - place(model, model.neutral(), frame)
    assert sign * shift[axis] > 0.01


def test_human_eversion_and_shoulder_rotation() -> None:
    model = models.human()
    sole = model.frame("sole_l")
    X, _ = walk(model, turned(model, subtalar_l=0.2))
    normal = -np.array((sole.X @ X[sole.body]).E.full())[2]
    assert normal[1] > 0.1  # everted: the sole faces outwards
    q = turned(model, elbow_l=-np.pi / 2, shoulder_l__rz=0.3)  # forearm ahead, then out: external rotation
    assert place(model, q, "hand_l")[1] > place(model, q, "forearm_l")[1] + 0.05


def test_human_errors() -> None:
    for bad in ("Male", "", "other"):
        with pytest.raises(ValueError, match="sex must be one of male, female"):
            models.human(sex=bad)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="sex must be one of male, female"):
            models.human_dimensions(sex=bad)  # type: ignore[arg-type]
    for bad_mass in (19.9, 251.0, 0.0, -70.0):
        with pytest.raises(ValueError, match=r"mass must lie between 20 and 250 kg.*is it in kg\?"):
            models.human(mass=bad_mass)
    for bad_height in (174.1, 0.99, -1.7):
        with pytest.raises(ValueError, match=r"height must lie between 1 and 2.3 m.*is it in m\?"):
            models.human(height=bad_height)
        with pytest.raises(ValueError, match="height must lie between"):
            models.human_dimensions(bad_height)
    for no_number in (np.nan, np.inf, "80", None, True):
        with pytest.raises(ValueError, match="mass must be a number of kg"):
            models.human(mass=no_number)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="height must be a number of m"):
            models.human(height=no_number)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="root must be a joint"):
        models.human(root="free")  # type: ignore[arg-type]
