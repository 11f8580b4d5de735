"""Torque limits that differ between both directions: input, copies, files, mirror images, optimal control."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.cli import info
from ocp_dyn.io import load_model, model_from_dict, model_to_dict, save_model
from ocp_dyn.ocp.guess.standing_guess import initial_guess
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.workflows.attempt import prepare
from tests import hopper
from tests.helpers import flat


def pairs(rng: np.random.Generator, n: int) -> np.ndarray:
    """Limits in general position: no two of equal size."""
    return np.column_stack([-rng.uniform(1, 2, n), rng.uniform(3, 4, n)])


def limbs(rng: np.random.Generator) -> od.Model:
    """A floating base without limits, a ball joint and two joints of one dof."""
    builder = od.ModelBuilder("limbs")
    body = {"mass": 1.0, "inertia": (0.1, 0.2, 0.15)}
    builder.add_body("trunk", od.FloatingBase(), **body)
    builder.add_body("arm", od.Spherical(), "trunk", effort=pairs(rng, 3), **body)
    builder.add_body("hand", od.Revolute((1, 2, 3)), "arm", effort=tuple(pairs(rng, 1)[0]), **body)
    builder.add_body("rail", od.Prismatic("y"), "trunk", effort=7, **body)
    return builder.build()


def rotor(**limits: object) -> od.Model:
    builder = od.ModelBuilder("rotor")
    builder.add_body("wheel", od.Revolute("z"), mass=1, inertia=(1, 1, 1), **limits)
    return builder.build()


def test_pairs_are_kept_per_dof(rng):
    state = np.random.default_rng(3)
    model = limbs(np.random.default_rng(3))
    expected = np.vstack([pairs(state, 3), pairs(state, 1)])
    assert np.array_equal(model.dofs.effort[6:10], expected)
    assert np.array_equal(model.dofs.effort[:6], [[-np.inf, np.inf]] * 6)
    assert np.array_equal(model.dofs.effort[10], [-7, 7])
    assert not model.dofs.tau_min.flags.writeable
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(twin.dofs.effort, model.dofs.effort)
        assert not twin.dofs.tau_min.flags.writeable
    assert np.array_equal(limbs(rng).with_limits(effort=model.dofs.effort).dofs.effort, model.dofs.effort)


def test_forms_of_limits():
    for given, expected in (
        (3, (-3, 3)), ([4], (-4, 4)), ((-1, 5), (-1, 5)), ([(-1, 5)], (-1, 5)), ((0, 5), (0, 5)), ((-2, 0), (-2, 0)),
        (ca.DM([[-1, 5]]), (-1, 5)), ((-np.inf, 5), (-np.inf, 5)), (None, (-np.inf, np.inf)), (0, (0, 0)),
    ):  # fmt: skip
        assert rotor(effort=given).dofs.effort[0].tolist() == list(expected), given
    both = limbs(np.random.default_rng(0)).with_limits(
        effort={"arm_joint": 2.0, "arm_joint.wy": (-1, 3), "rail_joint": np.array([-5.0, 6.0])}
    )
    assert both.dofs.effort[6:9].tolist() == [[-2, 2], [-1, 3], [-2, 2]]
    assert both.dofs.effort[10].tolist() == [-5, 6]
    builder = od.ModelBuilder()
    builder.add_body("a", od.Universal("x", "y"), mass=1, inertia=(1, 1, 1), effort=(1, 2))  # one per dof, no pair
    assert builder.build().dofs.effort.tolist() == [[-1, 1], [-2, 2]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((1, 5), r"a pair \(lower, upper\) needs lower <= 0 <= upper"),
        ((-5, -1), r"a pair \(lower, upper\) needs lower <= 0 <= upper"),
        (-3, "must not be negative, got -3: it limits both directions; for different limits write pairs"),
        ((1, 2, 3), r"must be one number, or a pair \(lower, upper\), got"),
        ((-np.nan, 1), "must be one number, or a pair"),
        (((-1, 2), (-3,)), "must be one number, or a pair"),
        ((-1e300, 1), "must be one number, or a pair"),
        (ca.SX.sym("e"), r"must be one number, or a pair \(lower, upper\), got SX"),
    ],
)
def test_wrong_limits_are_refused(given, message):
    with pytest.raises(od.ModelError, match=message):
        rotor(effort=given)
    with pytest.raises(od.ModelError, match=message):
        rotor().with_limits(effort={"wheel_joint": given})


def test_several_dofs_refuse_one_pair():
    builder = od.ModelBuilder()
    for wrong in ((-1, 5), [(-1, 5)], [[-1, -1, -1], [5, 5, 5]]):
        with pytest.raises(od.ModelError, match="must "):
            builder.add_body("a", od.Spherical(), mass=1, inertia=(1, 1, 1), effort=wrong)


def test_strength_per_direction():
    model = rotor(effort=(-2, 5))
    assert model.dofs.strength().tolist() == [5]
    assert model.dofs.strength(directed=True).tolist() == [[-2, 5]]
    assert rotor(effort=(-6, 5)).dofs.strength().tolist() == [6]
    assert rotor(effort=(-6, np.inf)).dofs.strength(unlimited=9).tolist() == [9]
    assert rotor(effort=(-6, np.inf)).dofs.strength(unlimited=9, directed=True).tolist() == [[-6, 9]]
    assert rotor(effort=(0, 4)).dofs.strength(directed=True).tolist() == [[-1, 4]]
    assert rotor(effort=(0, 4)).dofs.strength().tolist() == [4]
    assert replace(model.dofs, tau_min=None).tau_min.tolist() == [-5]


def test_copies_keep_the_directions(rng):
    model = limbs(rng)
    both = model.attach(rotor(effort=(-2, 5)), "hand", prefix="tool_")
    assert np.array_equal(both.dofs.effort, [*model.dofs.effort, (-2, 5)])
    stiff = both.lock_joints({"arm_joint": (0, 0, 0, 1)})
    assert np.array_equal(stiff.dofs.effort, both.dofs.effort[[*range(6), 9, 10, 11]])
    assert np.array_equal(model.scale(length=2, mass=3).dofs.effort, model.dofs.effort)


def test_files_of_both_kinds(rng, tmp_path):
    model = limbs(rng)
    save_model(model, tmp_path / "model.json")
    assert np.array_equal(load_model(tmp_path / "model.json").dofs.effort, model.dofs.effort)
    data = model_to_dict(model)
    for body in data["bodies"]:  # as earlier versions wrote it
        del body["tau_min"]
    old = model_from_dict(json.loads(json.dumps(data)))
    assert np.array_equal(old.dofs.tau_max, model.dofs.tau_max)
    assert np.array_equal(old.dofs.tau_min, -model.dofs.tau_max)
    data["bodies"][2]["tau_min"] = [0.5]
    with pytest.raises(od.ModelError, match="tau_min must not be positive"):
        model_from_dict(data)


@pytest.mark.slow
def test_mirror_images_swap_the_directions(rng):
    human = od.models.human()
    mirror = ocp.mirror_map(human)
    tau = rng.uniform(-1, 1, human.nv)
    lower, upper = tau - rng.uniform(0.1, 0.2, human.nv), tau + rng.uniform(0.3, 0.4, human.nv)
    low, high = mirror.of_bounds(lower, upper)
    image = flat(mirror.qd(ca.DM(tau)))
    names = list(human.qd_names)
    assert np.all((low < image) & (image < high))
    for name, sign in (("hip_r.ry", 1), ("hip_r.rx", -1), ("hip_r.rz", -1), ("subtalar_r", -1), ("ankle_r", 1)):
        k, o = names.index(name), names.index(name.replace("_r", "_l"))
        expected = (lower[o], upper[o]) if sign > 0 else (-upper[o], -lower[o])
        assert (low[k], high[k]) == expected, name


@pytest.mark.slow
def test_a_symmetric_twin_has_the_tighter_limits():
    human = od.models.human()
    names = list(human.qd_names)
    uneven = human.with_limits(effort={"hip_l.rx": (-10, 20), "hip_r.rx": (-15, 12), "ankle_l": (-30, 50)})
    twin = ocp.symmetric_twin(uneven.with_limits(effort={"ankle_r": (-40, 45)})).dofs.effort
    assert twin[names.index("hip_l.rx")].tolist() == [-10, 15]
    assert twin[names.index("hip_r.rx")].tolist() == [-15, 10]
    assert twin[names.index("ankle_l")].tolist() == twin[names.index("ankle_r")].tolist() == [-30, 45]


def turn(model: od.Model, angle: float = 1.0, **options) -> ocp.Problem:
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - angle, end.qd), 0, 0))
    phase = ocp.Phase("turn", 24, (0.2, 9.0), objective=[ocp.Duration()])
    return ocp.Problem(model, phase, boundary=[rest], **options)


@pytest.mark.slow
def test_optimal_control_keeps_both_limits():
    """Bang-bang with torques a forward and b backward: T = sqrt(2 I angle (a + b) / (a b))."""
    for angle in (1.0, -1.0):
        solution = turn(rotor(effort=(-2, 5)), angle).solve(progress=False)
        assert solution.duration == pytest.approx(np.sqrt(2 * 7 / 10), rel=2e-3)
        assert solution.tau.max() == pytest.approx(5, rel=1e-3)
        assert solution.tau.min() == pytest.approx(-2, rel=1e-3)


@pytest.mark.parametrize(("limits", "bounds"), [(True, (-0.02, 0.05)), (False, (-np.inf, np.inf))])
def test_bounds_of_the_program_are_the_limits(limits, bounds):
    program = prepare(turn(rotor(effort=(-2, 5)), limits=limits))[0].program
    k = next(k for k, v in enumerate(program.variables) if v.name.startswith("tau"))
    assert (program._lower[k][0], program._upper[k][0]) == pytest.approx(bounds)  # in units of 100 N m


def test_a_mirrored_period_keeps_the_limits_of_both_sides():
    """The right leg turns about -y, so that its limits (-3, 4) are (-4, 3) for its image, the left leg."""
    builder = od.ModelBuilder("flier")
    builder.add_body("trunk", od.FloatingBase(), mass=5, inertia=(1, 1, 1))
    for side, y, axis, effort in (("l", 0.1, "y", (-2, 5)), ("r", -0.1, "-y", (-3, 4))):
        leg = {"mass": 1, "inertia": (0.1, 0.1, 0.1), "com": (0, 0, -0.2), "effort": effort}
        builder.add_body(f"leg_{side}", od.Revolute(axis), "trunk", origin=(0, y, 0), **leg)
    phase = ocp.Phase("flight", 2, 0.5, objective=ocp.TorqueSquared())
    for mirror, expected in ((True, [(-2, 3), (-3, 2)]), (False, [(-2, 5), (-3, 4)])):
        periodic = ocp.Periodic(1.0, mirror=mirror, transition=ocp.Continuous())
        problem = ocp.Problem(builder.build(), phase, periodic=periodic, unactuated=["root"])
        program = transcribe(problem).program
        k = next(k for k, v in enumerate(program.variables) if v.name.startswith("tau"))
        found = 100 * np.column_stack([program._lower[k], program._upper[k]])
        np.testing.assert_allclose(found, expected)


def test_guessed_torques_keep_half_of_both_limits():
    limits = {"hip_joint": (-0.5, 2.0), "leg_joint": (-3.0, 0.2)}
    problem = replace(hopper.problem(), model=hopper.monopod().with_limits(effort=limits), guess=ocp.FootPlan())
    t = transcribe(problem)
    initial_guess(t)
    tau = np.array([t.program.start[v.index] * v.scale for x in t.phases for v in x["tau"]])
    assert (tau.min(axis=0), tau.max(axis=0)) == (pytest.approx([-0.25, -1.5]), pytest.approx([1.0, 0.1]))


def test_the_table_of_limits_shows_both():
    model = rotor(effort=(-2, 5), velocity=3)
    assert "-2..5" in info.text(model)
    assert info.data(model)["joints"][0]["effort_lower"] == [-2]
    assert info.data(model)["joints"][0]["effort"] == [5]
    assert ".." not in info.text(rotor(effort=5, velocity=3)).split("limits")[1]
