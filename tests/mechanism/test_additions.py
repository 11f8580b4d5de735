"""Loads that bodies carry and springs at joints, in edited copies of a model."""

import numpy as np
import pytest

import ocp_dyn as od
from tests.helpers import close, flat

ARM = od.models.pendulum(2)
LAST = ARM.joint_names[-1]


def test_a_load_is_a_body_on_a_fixed_joint(rng):
    """The same dynamics as with another body that is joined by a fixed joint at a turned frame."""

    def arm(load: bool) -> od.Model:
        builder = od.ModelBuilder("arm")
        builder.add_body("link", od.Revolute("y"), mass=2.0, com=(0, 0.1, -0.4), inertia=(0.2, 0.2, 0.1))
        turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
        builder.add_frame("grip", "link", (0.1, 0.0, -0.8), turned)
        if load:
            builder.add_body("box", od.Fixed(), "grip", mass=3.0, com=(0, 0.2, 0.1), inertia=(0.3, 0.2, 0.15))
        return builder.build()

    loaded = arm(False).with_load("grip", 3.0, (0, 0.2, 0.1), (0.3, 0.2, 0.15))
    state = rng.normal(size=(3, 1))
    close(od.inverse_dynamics(loaded, *state), od.inverse_dynamics(arm(True), *state))
    assert loaded.mass == pytest.approx(5.0)


def test_springs_pull_to_their_rest_and_damp():
    sprung = ARM.with_springs({LAST: 50.0}, rest={LAST: 0.2}, damping={LAST: 2.0})
    force = flat(od.passive_force(sprung, [0.4, 0.5], [1.0, 3.0]))
    close(force, [0.0, -50.0 * 0.3 - 2.0 * 3.0])
    again = sprung.with_springs({LAST: 10.0})
    close(flat(od.passive_force(again, [0.4, 0.5], [0.0, 0.0])), [0.0, -10.0 * 0.3])
    human = od.models.human()
    k = human.qd_names.index("hip_r.rx")
    assert human.with_springs({"hip_r.rx": 7.0}, rest={"hip_r.rx": 0.1}).dofs.rest[human.nq - human.nv + k] == 0.1


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda m: m.with_load(m.body_names[0], -1.0), od.ModelError, "mass must not be negative"),
        (lambda m: m.with_load(m.body_names[0], 1.0, inertia=(1.0, 1.0, 5.0)), od.ModelError, "no body has"),
        (lambda m: m.with_springs({"elbow": 1.0}), KeyError, "no dof 'elbow'; dofs are: "),
        (lambda m: m.with_springs({m.qd_names[0]: -1.0}), ValueError, "stiffness of .* must"),
        (lambda m: m.with_springs([1.0]), TypeError, "a dict of values by names of dofs"),
        (
            lambda m: m.with_springs({LAST: 1.0}, rest={m.qd_names[0]: 0.2}),
            od.ModelError,
            "has no spring: name it in stiff",
        ),
    ],
)
def test_what_no_model_can_have_is_refused(change, error, message):
    with pytest.raises(error, match=message):
        change(ARM)


def test_the_ground_carries_no_load():
    builder = od.ModelBuilder("rail")
    builder.add_frame("stop", "world", (1.0, 0.0, 0.0))
    builder.add_body("cart", od.Prismatic("x"), mass=1.0)
    with pytest.raises(od.ModelError, match="fixed to the ground"):
        builder.build().with_load("stop", 1.0)


def test_a_quaternion_has_no_spring():
    with pytest.raises(od.ModelError, match="quaternion"):
        od.models.human().with_springs({"root.wx": 1.0})
