"""Bodies of people that walk: where their feet point, how they stand, and how long their steps are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.walking.alterations import strengthened


@pytest.fixture(scope="module")
def person() -> od.walking.Person:
    return od.walking.person(still=True)


def test_feet_point_outwards_from_the_heading(person):
    left, right = (person.feet_at(side, 0.0, y, heading=0.2).flat for side, y in (("l", 0.1), ("r", -0.1)))
    assert np.degrees(np.array(left.yaw) - 0.2) == pytest.approx([6, 6])
    assert np.degrees(np.array(right.yaw) - 0.2) == pytest.approx([-6, -6])
    assert person.spread == pytest.approx(2 * person.sole_middle * math.sin(math.radians(6)))


def test_a_person_at_rest_has_no_velocity_and_the_chosen_height(person):
    model = person.model
    q, qd = np.array(model.neutral()), np.zeros(model.nv)
    q[2] = person.pelvis_height(0.1)
    ahead = float(od.center_of_mass(model, DM(q))[0] - od.point_position(model, "foot_l", DM(q))[0])
    rows = np.array(person.at_rest(ocp.Instant(model, DM(q), DM(qd)), 0.1, ahead)).ravel()
    assert np.abs(rows).max() < 1e-12
    q[2] += 0.01
    qd[0] = 0.5
    rows = np.array(person.at_rest(ocp.Instant(model, DM(q), DM(qd)), 0.1, ahead)).ravel()
    assert sorted(rows[np.abs(rows) > 1e-9]) == pytest.approx([0.01, 0.5])
    straight = person.pelvis_height(0.0)
    assert straight == pytest.approx(person.size.leg_length)


def test_the_pace_of_taller_people_has_longer_steps():
    short, tall = (od.walking.pace(od.walking.person(height=h, still=True), 1.2).guessed_length for h in (1.5, 1.8))
    assert tall / short == pytest.approx(1.8 / 1.5)


def test_calves_have_the_strength_that_running_shows():
    """2.8 N m/kg, whatever the body; an ankle half as strong as dynamometers measure keeps half."""
    for mass, height, sex in ((60.0, 1.6, "female"), (90.0, 1.9, "male")):
        measured = od.models.human(mass, height, sex)
        strong = strengthened(measured, height, sex)
        ankle = measured.qd_names.index("ankle_l")
        assert strong.dofs.tau_max[ankle] == pytest.approx(2.8 * mass)
        most = float(measured.dofs.tau_max[ankle])
        weak = measured.with_limits(effort={"ankle_l": (float(measured.dofs.tau_min[ankle]), most / 2)})
        assert strengthened(weak, height, sex).dofs.tau_max[ankle] == pytest.approx(1.4 * mass)


def test_hips_of_women_have_the_strength_that_they_show_standing():
    """For their mass, 0.88 of the men's abduction and all of their adduction, on both sides."""
    hips = {}
    for mass, height, sex in ((61.9, 1.735, "female"), (73.0, 1.741, "male")):  # the mean woman and man
        model = strengthened(od.models.human(mass, height, sex), height, sex)
        dofs = [model.qd_names.index(f"hip_{side}.rx") for side in "lr"]
        hips[sex] = np.array([(model.dofs.tau_min[k], model.dofs.tau_max[k]) for k in dofs]) / mass
    ratio = [[1.0, 1.13 / 1.29], [1.13 / 1.29, 1.0]]
    np.testing.assert_allclose(hips["female"] / hips["male"], ratio, rtol=0.005)


def test_the_foot_leaves_over_a_round_front():
    """From the ball on, at 0.72, the sole is a circle of 0.3 of the foot's length, which the flat sole touches."""
    walker = od.walking.person(still=True)
    feet, length = walker.feet("r"), walker.size.foot_length
    edge, flat = feet.toes.contact, feet.flat.contact
    assert edge.radius == pytest.approx(0.3 * length)
    assert edge.center == pytest.approx((0.72 * length, 0.0, 0.3 * length))
    assert flat.point[0] + feet.flat.half_length == pytest.approx(0.72 * length)
    assert walker.pivot == pytest.approx(0.72 * length)
