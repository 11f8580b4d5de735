"""The human body of 40 bodies: counts, masses against the tables, symmetry."""

from __future__ import annotations

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import models
from ocp_dyn._base.types import Array
from ocp_dyn.mechanism import Model
from ocp_dyn.models.human_body import THICKNESS
from ocp_dyn.symmetry.mirror import mirror_map
from tests.helpers import close, evaluate

PEOPLE = [
    (73.0, 1.741, "male"), (20.0, 2.3, "female"),
]  # fmt: skip


@pytest.fixture(params=PEOPLE, ids=lambda p: f"{p[2]}-{p[0]}")
def person(request: pytest.FixtureRequest) -> tuple[float, float, str]:
    return request.param  # type: ignore[no-any-return]


def spatial_inertia(model: Model, bodies: list[str], about: Array) -> tuple[float, Array, Array]:
    """Mass, first moment and 3x3 inertia about a point of several bodies at q = 0, where all axes are parallel."""
    mass, h, I = 0.0, np.zeros(3), np.zeros((3, 3))
    for name in bodies:
        body = model.I[model.body_names.index(name) + 1]
        m, first = float(body.m), np.array(body.h.full()).ravel()
        r = evaluate(od.point_position, model, name, args=[model.neutral()]) - about
        center, c = r + first / m, first / m
        central = np.array(body.I.full()) - m * (c @ c * np.eye(3) - np.outer(c, c))
        mass, h = mass + m, h + m * center
        I = I + central + m * (center @ center * np.eye(3) - np.outer(center, center))
    return mass, h, I


def test_counts() -> None:
    model = models.human_body()
    kinds = [type(joint) for joint in model.joints[1:]]
    assert (model.nb, model.nv) == (40, 45)
    assert kinds == [od.FloatingBase] + [od.Revolute] * 39
    axes = {joint.axis for joint in model.joints[2:]}  # type: ignore[attr-defined]
    assert axes == {(1, 0, 0), (0, 1, 0), (0, 0, 1)}


@pytest.mark.slow
def test_every_body_has_mass_and_inertia(person: tuple[float, float, str]) -> None:
    model = models.human_body(*person)  # type: ignore[arg-type]
    assert model.mass == pytest.approx(person[0], rel=1e-12)
    for i in range(1, 41):
        m, h, I = spatial_inertia(model, [model.body_names[i - 1]],
                                  evaluate(od.point_position, model, model.body_names[i - 1],
                                      args=[model.neutral()]))  # fmt: skip
        c = h / m
        values = np.linalg.eigvalsh(I - m * (c @ c * np.eye(3) - np.outer(c, c)))
        size = m * person[1] ** 2
        assert m > 1e-4 * person[0]
        assert values[0] > 1e-6 * size, model.body_names[i - 1]
        assert values[0] + values[1] > values[2]


SEGMENTS = {
    "pelvis": ["pelvis"], "torso": ["lumbar_1", "lumbar_2", "abdomen", "thorax", "neck_1", "neck_2", "skull",
    "clavicle_l", "scapula_l", "clavicle_r", "scapula_r"], "thigh_l": ["hip_1_l", "hip_2_l", "thigh_l"],
    "shank_l": ["shank_l"], "foot_l": ["talus_l", "foot_l", "toes_l"],
    "upper_arm_l": ["shoulder_1_l", "shoulder_2_l", "upper_arm_l"],
    "forearm_l": ["ulna_l", "radius_l", "carpus_l", "hand_l"],
}  # fmt: skip
"""Bodies of `human`, and those of `human_body` that they are made of."""


@pytest.mark.parametrize("segment", ["torso", "foot_l", "forearm_l"])
@pytest.mark.slow
def test_segments_are_those_of_the_tables(segment: str) -> None:
    args = (58.3, 1.55, "female")
    fine, coarse = models.human_body(*args), models.human(*args)  # type: ignore[arg-type]
    about = evaluate(od.point_position, coarse, segment, args=[coarse.neutral()])
    for got, expected in zip(
        spatial_inertia(fine, SEGMENTS[segment], about), spatial_inertia(coarse, [segment], about), strict=True
    ):
        close(got, expected, 1e-13)


@pytest.mark.slow
def test_dimensions() -> None:
    model, size = models.human_body(), models.human_dimensions()
    place = {name: evaluate(od.point_position, model, name, args=[model.neutral()]) for name in model.frames}
    assert place["head"][2] - place["toe_l"][2] == pytest.approx(size.height, rel=1e-13)
    assert place["toe_l"][0] - place["heel_l"][0] == pytest.approx(size.foot_length, rel=1e-13)
    assert place["upper_arm_l"][1] - place["upper_arm_r"][1] == pytest.approx(size.shoulder_width, rel=1e-13)
    arm = size.upper_arm + size.forearm + size.hand
    assert place["upper_arm_l"][2] - place["fingertip_l"][2] == pytest.approx(arm, rel=1e-13)
    assert place["thigh_l"][1] - place["thigh_r"][1] == pytest.approx(size.hip_spacing, rel=1e-13)


@pytest.mark.slow
def test_left_and_right_are_mirror_images() -> None:
    model = models.human_body()
    mirror = mirror_map(model)  # raises unless the dynamics are symmetric
    rng = np.random.default_rng(3)
    q, qd = model.random_q(rng), rng.normal(size=45)
    H = evaluate(od.mass_matrix, model, args=[q])
    q2, qd2 = (np.array(x).ravel() for x in (mirror.q(q), mirror.qd(qd)))
    H2 = evaluate(od.mass_matrix, model, args=[q2])
    assert qd2 @ H2 @ qd2 == pytest.approx(qd @ H @ qd, rel=1e-12)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="sex must be"):
        models.human_body(sex="robot")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="mass must lie between"):
        models.human_body(mass=5.0)


@pytest.mark.parametrize(("mass", "height", "sex"), [(73.0, 1.741, "male"), (58.0, 1.62, "female")])
@pytest.mark.slow
def test_straight_toes_leave_the_human_as_it_is(mass: float, height: float, sex: str) -> None:
    """Mass matrix of all other dofs, in general position; bent toes move their frame only."""
    plain = models.human(mass, height, sex)  # type: ignore[arg-type]
    model = models.human(mass, height, sex, toes=True)  # type: ignore[arg-type]
    size = models.human_dimensions(height, sex)  # type: ignore[arg-type]
    assert (model.nb, model.nv) == (16, 31)
    q = plain.random_q(np.random.default_rng(5))
    full, others = model.neutral(), [k for k, name in enumerate(model.qd_names) if not name.startswith("toes")]
    full[[*range(4), *(k + 1 for k in others[3:])]] = q  # nq = nv + 1
    H, plain_H = (np.array(od.mass_matrix(m, x)) for m, x in ((model, full), (plain, q)))
    np.testing.assert_allclose(H[np.ix_(others, others)], plain_H, rtol=1e-10, atol=1e-12)
    for frame in ("toe_l", "heel_l", "sole_r"):
        np.testing.assert_allclose(
            od.point_position(model, frame, full), od.point_position(plain, frame, q), atol=1e-12
        )
    bend = model.neutral()
    bend[model.q_slice("toes_l")] = -0.5  # extension: the tip rises
    ball = np.array([size.ball, 0.0, THICKNESS["toes"] * height - size.ankle_height])
    tip = np.array([size.toe, 0.0, -size.ankle_height]) - ball
    c, s = np.cos(0.5), np.sin(0.5)
    ankle = np.array(od.point_position(model, "talus_l", bend)).ravel()
    expected = ankle + ball + [c * tip[0] - s * tip[2], 0.0, s * tip[0] + c * tip[2]]
    np.testing.assert_allclose(np.array(od.point_position(model, "toe_l", bend)).ravel(), expected, atol=1e-12)
    k = model.qd_names.index("toes_l")
    built = mass * height / (73 * 1.741)
    assert (model.dofs.tau_min[k], model.dofs.tau_max[k]) == pytest.approx((-8.52 * built, 14.2 * built))
    assert (model.dofs.stiffness[k], model.dofs.damping[k]) == pytest.approx((25 * built, 2 * built))
    force = np.array(od.passive_force(model, bend, np.zeros(model.nv))).ravel()[k]
    assert force == pytest.approx((12.5 + 0.9 * np.exp(14.87 * (0.5 - np.radians(65)))) * built)
    assert not models.human(mass, height, sex, tissue=False, toes=True).dofs.stiffness.any()  # type: ignore[arg-type]
