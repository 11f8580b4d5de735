"""Controllers in MuJoCo: a trot, steps, pushes at their time, figures, options of the command."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.control.controller import HURRY, LAG, MOST_TRIM, State, rotation_vector, turned
from ocp_dyn.control.footing import Footing
from ocp_dyn.control.ready_bodies import H1_HALF_LENGTH, H1_PACKAGE, H1_RADIUS
from ocp_dyn.control.stepping import BELOW
from ocp_dyn.control.swing import Swing
from ocp_dyn.control.whole_body import FRICTION
from ocp_dyn.control.world import PERIOD, boxes
from problems import control

needs_robots = pytest.mark.skipif(
    find_spec("mujoco") is None or not od.robots.installed(), reason="needs MuJoCo and the files of robots"
)
needs_mujoco = pytest.mark.skipif(find_spec("mujoco") is None, reason="needs the package mujoco")


@pytest.fixture(scope="module")
def human():
    return od.control.body("human")


def wanted(body, **changes):
    """Standing still, with other wishes as given."""
    n, feet = body.model.nv, len(body.feet)
    found = od.control.Wanted(np.zeros(3), np.zeros(3), np.zeros((feet, 6)), np.zeros(n - 6), np.ones(feet))
    return found._replace(**changes)


@pytest.mark.parametrize("standing", [(True, True), (True, False)])
@pytest.mark.slow
def test_whole_body_program_holds_dynamics_cones_and_limits(human, standing):
    rng = np.random.default_rng(2)
    model = human.model
    q, qd = human.posture.copy(), 0.1 * rng.standard_normal(model.nv)
    q[7:] += 0.05 * rng.standard_normal(model.nq - 7)
    seen = human.see(q, qd)
    wish = wanted(human, linear=np.array([0.5, -0.4, 0.3]), standing=np.array(standing, float))
    found = od.control.WholeBody(human)(q, qd, seen, wish)
    assert found.solved
    assert np.all(found.forces[~np.array(standing)] == 0)
    corners = [p + foot.corners @ R.T for foot, p, R in zip(human.feet, seen.p, seen.R, strict=True)]
    # equations of motion, with the wrench of the corners about the frames of the feet
    force = np.zeros(model.nv)
    for k, points in enumerate(corners):
        for point, f in zip(points, found.forces[k], strict=True):
            force += seen.G[k].T @ np.concatenate([np.cross(point - seen.p[k], f), f])
    off = seen.H @ found.qdd + seen.bias - seen.passive - force - found.tau
    assert np.abs(off).max() < 1e-4 * model.weight
    up, across = found.forces[..., 2], np.abs(found.forces[..., :2]).max(axis=-1)
    assert up.min() > -1e-4 * model.weight
    assert np.all(across <= FRICTION * up + 1e-4 * model.weight)
    assert np.all(np.abs(found.tau) <= human.strength)
    assert up.sum() > 0.9 * model.weight


def test_feet_that_stand_get_no_acceleration_and_the_body_the_wanted_one(human):
    model, q = human.model, human.posture
    seen = human.see(q, np.zeros(model.nv))
    wish = wanted(human, linear=np.array([0.2, 0.1, 0.3]))
    found = od.control.WholeBody(human)(q, np.zeros(model.nv), seen, wish)
    accelerations = seen.G @ found.qdd - seen.gamma
    assert np.abs(accelerations).max() < 0.05
    assert (seen.H[:3] @ found.qdd / human.mass) == pytest.approx([0.2, 0.1, 0.3], abs=0.05)


def test_the_heel_of_a_foot_in_the_air_lifts_before_the_center_of_mass_pays(human):
    """The ankle of the left foot is at its limit, and the foot is wanted upward."""
    model, q = human.model, human.posture.copy()
    ankle = model.q_slice("ankle_l").start
    q[ankle] = human.reach[0][ankle - 7]
    seen, still = human.see(q, np.zeros(model.nv)), np.zeros(model.nv)
    feet = np.zeros((2, 6))
    feet[0, 5] = 30.0
    found = od.control.WholeBody(human)(q, still, seen, wanted(human, feet=feet, standing=np.array([0.0, 1.0])))
    swing = seen.G[0] @ found.qdd - seen.gamma[0]
    assert np.abs(seen.H[:3] @ found.qdd / human.mass).max() < 1.0
    assert swing[5] > 8.0
    assert swing[1] > 20.0  # the toe goes down


def test_a_sole_that_rocks_carries_little_moment(human):
    control, q, qd = od.control.controller(human), human.posture, np.zeros(human.model.nv)
    qd[human.model.qd_slice("ankle_l")] = 4.0
    seen = human.see(q, qd)
    state = State(0.0, q, qd, seen, np.ones(2), seen.com, np.zeros(3), 0.0)
    control._rock(state)
    assert control.share == pytest.approx([0.1, 1.0])
    found = control.program(q, 0 * qd, human.see(q, 0 * qd), wanted(human, standing=control.share))
    for force, share in zip(found.forces, control.share, strict=True):
        point = force[:, 2] @ human.feet[0].corners[:, :2] / force[:, 2].sum() * share
        assert np.all(np.abs(point) <= share * np.array([0.08, 0.05]))
    left = human.model.qd_slice("ankle_l")
    assert abs(found.tau[left][0]) < 0.015 * human.model.weight  # of a tenth of the sole, and the foot's own weight
    still = State(0.0, q, 0 * qd, human.see(q, 0 * qd), np.ones(2), seen.com, np.zeros(3), 0.0)
    for _ in range(200):
        control._rock(still)
    assert control.share == pytest.approx([1.0, 1.0], abs=1e-3)


def test_states_that_are_no_numbers_give_torques_that_slow_down(human):
    model = human.model
    qd = np.full(model.nv, np.nan)
    found = od.control.WholeBody(human)(human.posture, qd, human.see(human.posture, qd), wanted(human))
    assert not found.solved
    assert np.all(np.isfinite(found.tau))
    qd = np.zeros(model.nv)
    qd[8] = 1.0
    damped = od.control.WholeBody(human)._damped(qd)
    assert damped.tau[8] < 0


def test_a_swing_reaches_a_foothold_that_moves():
    swing = Swing(np.array([0.0, 0.0, 0.1]), clearance=0.05)
    target, heights = np.array([0.3, 0.1, 0.12]), []
    for k in range(199):
        if k == 100:
            target = np.array([0.35, 0.05, 0.12])
        place, velocity, _ = swing.advance(0.002, target, 0.4)
        heights.append(place[2])
    assert place == pytest.approx(target, abs=2e-3)
    assert max(heights) == pytest.approx(0.17, abs=2e-3)  # half of the change of height higher than the clearance
    assert abs(velocity[2]) < 0.03
    later = [swing.advance(0.002, target, 0.4)[0] for _ in range(5)][-1]
    assert later[2] < place[2]  # searches for the ground


def test_rotation_vectors():
    assert rotation_vector(turned(0.3)) == pytest.approx([0, 0, 0.3])
    assert rotation_vector(np.eye(3)) == pytest.approx([0, 0, 0])


@pytest.fixture(scope="module")
def trotting():
    """Go2 trots, and is pushed."""
    push = od.control.Push((0.3, 0.0), 0.25)
    return od.control.controller(od.control.body("go2")).simulate(ocp.Command(0.4), 3.5, pushes=[push])


@needs_robots
@pytest.mark.slow
def test_a_trot_takes_a_push_at_its_phase(trotting):
    run = trotting
    assert not run.fell
    assert run.seconds == pytest.approx(3.5)
    ((begin, _),) = run.pushes
    assert 2.5 <= begin < 2.5 + run.stride + 0.01
    before, after = (np.abs(run.t - t).argmin() for t in (begin, begin + 0.1))
    assert run.velocity[after, 0] - run.velocity[before, 0] == pytest.approx(0.3, abs=0.15)
    assert run.phases[before] == pytest.approx(0.25, abs=0.03)


@needs_robots
@pytest.mark.slow
def test_predictive_control_trots_and_stops():
    """At the asked speed, within the torques of the file, with every program solved."""
    body = od.control.body("go2")
    control = od.control.PredictiveController(body)
    run = control.simulate(lambda t: ocp.Command(0.4, walk=t < 1.5), 2.4)
    assert not run.fell
    middle = (run.t > 0.8) & (run.t < 1.5)
    assert run.velocity[middle, 0].mean() == pytest.approx(0.4, rel=0.1)
    assert np.all(np.abs(run.tau) <= body.strength + 1e-9)
    assert control.action.solved
    assert np.abs(run.qd[-1, :3]).max() < 0.1


@needs_robots
@pytest.mark.slow
def test_torques_stay_within_the_limits_of_the_file(trotting):
    assert np.all(np.abs(trotting.tau) <= trotting.body.strength + 1e-9)
    assert trotting.load <= 1.0 + 1e-9
    weight = trotting.body.model.weight
    assert trotting.forces[:, :, 2].sum(axis=1).mean() == pytest.approx(weight, rel=0.05)


@needs_robots
@pytest.mark.slow
def test_figures_tell_speed_and_times(trotting):
    numbers = trotting.figures()
    assert {"fell", "seconds", "speed_error", "solve_ms", "real_time_factor"} <= set(numbers)
    assert 0 < numbers["solve_ms"]["median"] <= numbers["solve_ms"]["p99"]
    assert math.isnan(numbers["speed_error"])  # the first 2 s are not compared, and segments last 2 s


def test_speed_error_compares_means_of_segments(human):
    t = np.arange(0.0, 6.0, 0.01)
    n = t.size
    q = np.tile(human.posture, (n, 1))
    com = np.column_stack([0.5 * t + 0.01 * np.sin(2 * np.pi * t / 0.5), 0 * t, 0 * t + 1])
    nothing = np.zeros((n, 2, 3))
    run = od.control.ControlledRun(
        human, od.control.World(), t, q, np.zeros((n, 29)), np.zeros((n, 29)), com, nothing, nothing, nothing[:, :, 0],
        np.tile([0.4, 0.0, 0.0], (n, 1)), np.full(n, 0.5), 0 * t, np.ones(100), False, 6.0, 12.0, (), 0.5,
    )  # fmt: skip
    assert run.speed_error == pytest.approx(0.25, abs=0.01)
    assert run.figures()["real_time_factor"] == 0.5
    assert math.isnan(replace(run, command=0 * run.command).speed_error)
    changes = replace(run, command=run.command * (1 + (t > 4.5))[:, None])  # the window at 5 to 6 s is not compared
    assert len(changes.means()[0]) == 1


@needs_mujoco
@pytest.mark.slow
def test_a_human_steps_and_a_controller_without_torque_falls(human):
    run = od.control.controller(human).simulate(ocp.Command(0.3), 1.7)
    assert not run.fell
    assert run.forces[-60:, :, 2].min() == 0.0  # a foot was in the air

    class Limp(od.control.StepController):
        def __call__(self, t, q, qd, touching, command):
            return np.zeros(self.body.model.nv)

    limp = Limp(human).simulate(ocp.Command(0.3), 3.0)
    assert limp.fell
    assert limp.seconds < 2.5


@needs_mujoco
@pytest.mark.slow
def test_worlds_differ_from_the_model(human):
    plain = od.control.world.SimulatedWorld(human, od.control.World())
    heavy = od.control.world.SimulatedWorld(human, od.control.World(trunk=1.1, friction=0.5))
    trunk = plain.spec.body_mass[plain.trunk]
    assert heavy.mass - plain.mass == pytest.approx(0.1 * trunk)
    assert heavy.spec.geom_friction[:, 0] == pytest.approx(0.5)
    # MuJoCo's default contacts
    assert plain.spec.geom_solref[0] == pytest.approx([0.02, 1.0])
    assert plain.spec.opt.timestep == 1e-3


def test_boxes_lie_below_the_patches_of_a_terrain():
    slope, top = boxes(od.control.trial("slope")[1]["world"].terrain)
    normal = np.array(slope.R)[:, 2]
    assert math.degrees(math.acos(normal[2])) == pytest.approx(5.0)
    corner = np.array(slope.center) + slope.R @ [-slope.half_sizes[0], 0, slope.half_sizes[2]]
    assert corner == pytest.approx([0.8, 0.0, 0.0])
    assert top.center[2] + top.half_sizes[2] == pytest.approx(40.0 * math.sin(math.radians(5.0)))
    for box in boxes(od.control.steps(0.02)):
        assert box.center[2] + box.half_sizes[2] == pytest.approx(0.02)
    assert boxes(None) == ()


def test_feet_stand_on_patches_as_a_whole():
    stairs = Footing(ocp.stairs(0.1, 0.3, 2, width=1.0), length=0.1, width=0.05)
    assert not stairs.apart
    assert not Footing(ocp.ramp(0.1, length=10.0)).apart
    found = stairs.nearest(np.array([[-0.05, 0.0], [0.08, 0.7], [0.9, 0.1]]))
    assert found == pytest.approx(np.array([[-0.13, 0.0, 0.0], [0.13, 0.42, 0.1], [0.9, 0.1, 0.2]]))
    slope = ocp.ramp(0.2, 3.0)
    places = np.array([[1.0, 0.1], [2.0, -0.3]])
    found = Footing(slope).nearest(places)
    assert found == pytest.approx(np.column_stack([places, slope.height(*places.T).full().ravel()]))


def test_ways_over_stones_go_from_one_to_the_next_with_feet_apart():
    row = [(0.4 * k, 0.1 * side, 0.0) for k in range(4) for side in (1, -1)]
    stones = Footing(ocp.stepping_stones(row, length=0.3, width=0.16), length=0.08, width=0.03)
    assert stones.apart
    steps = np.array([[0.2, -0.2], [0.2, 0.2], [0.2, -0.2]])
    least = np.array([[0.0, -0.1], [0.0, 0.1], [0.0, -0.1]])
    ways, first, off = stones.ways(np.array([0.0, 0.1]), steps, least)
    assert ways.shape == (24, 3, 3)
    assert np.all(np.diff(off) >= 0)
    last = np.concatenate([np.tile([0.0, 0.1], (len(ways), 1, 1)), ways[:, :, :2]], axis=1)
    across = np.diff(last[..., 1], axis=1)
    assert np.all(across * [-1, 1, -1] >= 0.1 - 1e-12)
    # from the first foot on, as if every step were the wanted one: clipping one step delays none of the next ones
    usual = np.array([0.0, 0.1]) + np.cumsum(steps, axis=0)
    assert off == pytest.approx(np.sum((ways[..., :2] - usual) ** 2, axis=(1, 2)))
    assert ways[0, 1] == pytest.approx([0.4, 0.1, 0.0])
    assert stones.onto(first, ways[:, 0, :2]) == pytest.approx(ways[:, 0])
    # nothing is far enough to the side: the nearest place all the same
    (forced,), _, _ = stones.ways(np.zeros(2), steps[:1], np.array([[0.0, -3.0]]))
    assert forced[0] == pytest.approx([0.04, -0.12, 0.0], abs=0.3)


def test_a_periodic_walk_turns_with_its_heading(human):
    """xi leaves the foot by exp(omega T), and is beside the next foot, in axes that have turned, as beside this one."""
    control = od.control.StepController(human)
    control.velocity[:] = 0.5, 0.1, 0.6
    T, turn = np.array(0.4), np.exp(0.24j)
    (left, b_left), (right, b_right) = control._periodic(T, 1.0), control._periodic(T, -1.0)
    growth = math.exp(0.4 * control.omega)
    assert growth * b_left - left == pytest.approx(turn * b_right)
    assert growth * b_right - right == pytest.approx(turn * b_left)
    # without the distance of the feet, a step is the way of the body
    assert (left + right) / 2 == pytest.approx(0.4 * (0.5 + 0.1j) * np.exp(0.12j))


def test_footholds_on_a_terrain_that_is_known(human):
    terrain = ocp.stepping_stones([(0.0, 0.0, 0.1), (0.3, -0.1, 0.15)], length=0.4, width=0.3, ground=0.0)
    control = od.control.controller(human, terrain)
    control.elapsed, control.velocity[0] = 0.2, 0.3
    seen = human.see(human.posture, np.zeros(29))
    state = State(0.0, human.posture, np.zeros(29), seen, np.ones(2), seen.com, np.zeros(3), 0.0)
    control._choose(state, np.zeros(2), np.array([0.1, -0.05]))
    assert control.target == pytest.approx(control.footing.nearest(control.target[None, :2])[0] - [0, 0, BELOW])


@pytest.mark.parametrize("speed", [(0.5, 0.0, 0.0), (0.3, 0.1, 0.4)])
def test_known_level_ground_asks_for_the_periodic_walk(human, speed):
    """Footholds are the usual ones, and the divergent component shall begin the next step beside them as always."""
    wide = ocp.stepping_stones([(0.0, 0.0, 0.0)], length=20.0, width=20.0, ground=0.0)
    control = od.control.controller(human, wide)
    control.elapsed, control.velocity[:] = 0.2, speed
    seen = human.see(human.posture, np.zeros(29))
    state = State(0.0, human.posture, np.zeros(29), seen, np.ones(2), seen.com, np.zeros(3), 0.0)
    T, axes = np.array(control.T), control._heading(state)
    step, b = control._periodic(T, 1.0)
    xi = axes @ [b.real, b.imag] * math.exp(0.2 * control.omega)
    control._choose(state, np.zeros(2), xi)
    assert control.target[:2] == pytest.approx(axes @ [step.real, step.imag], abs=0.02)
    assert control.end == pytest.approx(xi * math.exp((control.T - 0.2) * control.omega), abs=2e-3)


@needs_robots
@pytest.mark.slow
def test_a_robot_goes_on_stones_that_it_knows():
    stones = od.control.stones()
    run = od.control.controller(od.control.body("go2"), stones).simulate(
        ocp.Command(0.3), 6.0, world=od.control.World(terrain=stones)
    )
    assert not run.fell
    assert run.com[-1, 0] > 1.0
    loaded = run.forces[..., 2] > 0.2 * run.body.model.weight
    assert run.feet[..., 2][loaded].min() > 0.06  # on stones, not between them


def test_swings_go_up_before_the_edges_of_stairs_and_down_behind_them():
    for height in (0.15, -0.15):
        swing, way = Swing(np.zeros(3), clearance=0.05), []
        for _ in range(200):
            way.append(swing.advance(0.002, np.array([0.3, 0.0, height]), 0.4)[0])
        x, _, z = np.array(way).T
        edge = x > 0.04 if height > 0 else x < 0.26
        assert z[edge].min() > max(height, 0.0) - 0.02
        assert way[-1] == pytest.approx([0.3, 0.0, height], abs=0.02)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: od.control.Push((0.1, 0.0), phase=1.5), "between 0 and 1"),
        (lambda: od.control.World(friction=-1.0), "World friction"),
        (lambda: od.control.World(terrain=ocp.ramp(-0.1, 2.0)), "above the plane z = 0"),
        (lambda: od.control.terrain("stair"), "stairs"),
        (lambda: Footing(ocp.stairs(0.1, 0.2, 2, landing=0.2), 0.1), "no patch"),
        (lambda: od.control.Controller.simulate(None, ocp.Command(), -1.0), "seconds must"),
    ],
)
def test_values_out_of_range_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_h1_needs_a_package_and_says_so(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r'envpool-assets.*pip install "ocp_dyn\[robots\]"'):
        od.control.body("h1")


needs_h1 = pytest.mark.skipif(find_spec(H1_PACKAGE) is None, reason="needs the file of H1")


@needs_h1
@needs_mujoco
@pytest.mark.slow
def test_h1_stands_on_two_lines():
    """Rotors count, no moment acts about the line of a sole, and the center of mass is above the soles."""
    body = od.control.body("h1")
    model, q, qd = body.model, body.posture.copy(), np.zeros(body.model.nv)
    q[model.q_slice("left_hip_roll")] += 0.2  # one foot is tilted, the other is not
    seen = body.see(q, qd)
    assert seen.H == pytest.approx(od.mass_matrix(model, q).full() + np.diag(model.dofs.armature))
    assert seen.com[0] == pytest.approx(seen.p[:, 0].mean(), abs=5e-3)
    wish = wanted(body, linear=np.array([0.3, 0.0, 0.0]), feet=np.full((2, 6), 0.4))
    found = od.control.WholeBody(body)(q, qd, seen, wish)
    assert found.solved
    assert found.forces.shape == (2, 2, 3)
    rates = seen.G @ found.qdd - seen.gamma
    for k, R in enumerate(seen.R):
        assert rates[k, 3:] == pytest.approx(0.4, abs=0.05)
        assert R.T[1:] @ (rates[k, :3] - 0.4) == pytest.approx(0.0, abs=0.05)
    assert abs(seen.R[0].T[0] @ (rates[0, :3] - 0.4)) > 0.1
    world = od.control.world.SimulatedWorld(body, od.control.World())
    capsules = world.spec.geom_type == int(world.mj.mjtGeom.mjGEOM_CAPSULE)
    assert world.spec.geom_size[capsules][:, :2] == pytest.approx(np.array([[H1_RADIUS, H1_HALF_LENGTH]] * 2))
    world.place(body.posture, qd)
    axis = world.data.geom_xmat[capsules].reshape(-1, 3, 3)[:, :, 2]
    assert np.abs(axis[:, 0]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.slow
def test_expected_velocities_lag_and_only_the_rest_is_summed_up(human):
    """A command that the body follows with the usual lag leaves no trim; a constant error does, within its bound."""
    control = od.control.StepController(human)
    seen = human.see(human.posture, np.zeros(29))

    def follow(velocity, seconds):
        for _ in range(round(seconds / PERIOD)):
            now = velocity() if callable(velocity) else velocity
            state = State(0.0, human.posture, np.zeros(29), seen, np.ones(2), seen.com, np.append(now, 0.0), 0.0)
            control._follow(ocp.Command(0.4, 0.2), state)

    follow((0.0, 0.0), 0.1)
    assert not control.trim.any()  # it stands
    assert control.velocity == pytest.approx([0.15, 0.1, 0.0])
    assert HURRY[:2] * 0.1 == pytest.approx(control.velocity[:2])
    control.stepping = True
    follow(lambda: control.expected, 3.0)
    assert np.abs(control.trim).max() < 1e-3
    assert control.expected == pytest.approx([0.4, 0.2], abs=0.02)
    assert control.stride * LAG < 1.0
    follow((0.3, 0.2), 1.0)
    assert control.trim[0] == pytest.approx(0.07, abs=0.01)
    follow((0.0, 0.0), 9.0)
    assert control.trim == pytest.approx(MOST_TRIM)


def test_feet_keep_apart_when_they_walk_sideways_and_learn_when_they_touch(human):
    control = od.control.StepController(human)
    assert control._apart == control.width
    control.velocity[1] = -0.3
    narrow = control._apart - 0.3 * control.T
    assert narrow == pytest.approx(0.8 * control.width)


def test_unknown_robots_are_refused():
    with pytest.raises((KeyError, ValueError), match="go2"):
        od.control.body("go22")


@needs_robots
@pytest.mark.slow
def test_command_prints_numbers_and_draws(capsys, tmp_path):
    assert control.main(["go2", "--seconds", "1", "--quiet", "--json", "--out", str(tmp_path)]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert numbers["robot"] == "go2"
    assert not numbers["fell"]
    assert {path.name for path in tmp_path.iterdir()} == {"motion.png", "cones.png", "times.png", "run.gif"}


@needs_mujoco
@pytest.mark.parametrize(
    "words",
    [
        ["human", "--changing", "--push", "0.1"],
        ["human", "--command", "1", "2", "3", "4"],
        ["human", "--seconds", "-1"],
        ["human", "--command", "99"],
        ["human", "--terrain", "hills"],
        ["human", "--seed", "-1"],
        ["human", "--terrain", "stairs", "--trial", "slope"],
    ],
)
def test_wrong_options_end_with_a_line(words, capsys):
    with pytest.raises(SystemExit) as exit_:
        control.main(words)
    assert exit_.value.code == 2
    assert "error" in capsys.readouterr().err
