"""The law of moved worlds: a problem turned about the vertical and moved has the turned and moved motion.

Gravity and the model are as before, and so are the iterates and the cost: first guesses, costs and bounds refer to the
feet and the ground under them, to no direction and no origin of the world.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.guess.standing_guess import initial_guess, standing
from ocp_dyn.ocp.solvers.block_ldl.library import Seen, obtain
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.symmetry.advance import Advance
from problems.small import hopper

MOVES = [(0.3, (10.0, -7.0, 2.0)), (np.pi, (0.0, 0.0, 2.0)), (-2.0, (10.0, -7.0, 0.0))]
ROOTS = {"quaternion": od.FloatingBase(), "euler": od.FloatingBase(rotation="euler_zyx")}
GUESSES = {
    "standing": None,
    "plan": ocp.FootPlan(),
    "postures": ocp.Postures({0.0: {}, 0.5: {"shank_joint": 0.1}, 1.0: {}}),
}


def leg(root: od.Joint) -> od.Model:
    """A trunk on one leg with a flat foot."""
    builder = od.ModelBuilder("leg")
    builder.add_body("trunk", root, mass=8, inertia=(0.2, 0.15, 0.1), joint_name="root")
    builder.add_body("pelvis", od.Revolute("x"), "trunk", mass=0.5, inertia=[0.01] * 3, lower=-0.5, upper=0.5)
    builder.add_body("thigh", od.Revolute("y"), "pelvis", mass=1, com=(0, 0, -0.1), inertia=(0.03, 0.03, 0.01))
    shank = {"mass": 0.5, "com": (0, 0, -0.4), "inertia": [0.01] * 3, "lower": 0.0, "upper": 0.3}
    builder.add_body("shank", od.Prismatic("-z"), "thigh", **shank)
    builder.add_body("ankle", od.Revolute("y"), "shank", origin=(0, 0, -0.5), mass=0.2, inertia=[0.002] * 3)
    builder.add_body("foot", od.Revolute("x"), "ankle", mass=0.4, com=(0.02, 0, -0.03), inertia=[0.002] * 3)
    builder.add_frame("sole", "foot", (0.03, 0, -0.05))
    return builder.build()


class World:
    """A problem's data in a world that is turned and moved."""

    def __init__(self, turn: float, shift: tuple[float, float, float]) -> None:
        self.turn, self.height, self.advance = turn, shift[2], Advance.of(*shift, turn=turn)

    def foothold(self, x: float, y: float, yaw: float) -> ocp.Foothold:
        px, py, _ = np.array(self.advance.point(DM([x, y, 0])).full()).ravel()
        plane = ocp.Plane((0.0, 0.0, self.height))
        sole = od.Contact("sole")
        return ocp.Foothold(sole, px, py, self.turn + yaw, half_length=0.08, half_width=0.04, plane=plane)

    def step(self, length: float, sideways: float) -> ocp.Step:
        x, y, _ = np.array(DM(self.advance.vector(DM([length, sideways, 0]))).full()).ravel()
        return ocp.Step(x, y)


STAND = (ocp.Unilateral(), ocp.FrictionCone(0.8, second_order=True), ocp.CenterOfPressure())
EFFORT = (
    ocp.TorqueSquared(1e-3),
    ocp.AccelerationSquared(1e-4, base=True),
    ocp.CapturePointSquared(0.5),
    ocp.ZeroMomentPointSquared(0.5),
)


def hop(world: World, root: str, guess: str) -> ocp.Problem:
    """One hop after the other, ahead and sideways."""
    clear = ocp.Clearance([("sole", (0, 0, 0))], height=0.03, terrain=lambda x, y: world.height)
    foot = world.foothold(0.1, 0.05, 0.2)
    stance = ocp.Phase("stance", 5, (0.1, 0.3), [foot], (*STAND, ocp.CaptureMargin(0.3)), EFFORT)
    flight = ocp.Phase("flight", 5, (0.2, 0.4), path=[clear], objective=EFFORT)
    again = ocp.Periodic(mirror=False, transition=ocp.Impact(), step=world.step(0.3, 0.05))
    return ocp.Problem(leg(ROOTS[root]), [stance, flight], periodic=again, guess=GUESSES[guess])


def travel(world: World, root: str, guess: str) -> ocp.Problem:
    """Hops at a given speed; its sign is that of the step along x."""
    problem = hop(world, root, guess)
    return replace(
        problem, periodic=replace(problem.periodic, speed=math.copysign(0.6, problem.periodic.step.length[0]))
    )


def stand(world: World, root: str, guess: str) -> ocp.Problem:
    """A motion that is not periodic, on one foot and then on another place."""
    first, second = world.foothold(0.1, 0.05, 0.2), world.foothold(0.4, 0.1, 0.5)
    phases = [ocp.Phase(str(k), 3, 0.3, feet) for k, feet in enumerate(([first], [], [second]))]
    return ocp.Problem(leg(ROOTS[root]), phases, guess=GUESSES[guess])


def iterate(problem: ocp.Problem, iterations: int) -> ocp.Solution:
    """The motion after so many iterations, or the solution."""
    return problem.solve(progress=False, tolerance=1e-8, max_iterations=iterations)


def places(model: od.Model, states: Iterable[np.ndarray]) -> np.ndarray:
    """Places (n, 3, 3) [m] of three points, not on a line, of trunk and foot."""
    points = [("trunk", (0.3, 0.1, 0.0)), ("trunk", (0.0, 0.2, 0.0)), ("sole", (0.1, 0.0, 0.0))]
    return np.array([[od.point_position(model, name, DM(q), p).full().ravel() for name, p in points] for q in states])


def moved_places(world: World, found: np.ndarray) -> np.ndarray:
    """The points in the moved world."""
    R, shift = (np.array(DM(x).full()) for x in (world.advance.R, world.advance.shift))
    return found @ R.T + shift.ravel()


def first_places(problem: ocp.Problem) -> np.ndarray:
    """The points in the first guess, at all nodes."""
    transcription = transcribe(problem, 1)
    initial_guess(transcription)
    nodes = [q for phase in transcription.phases for q in phase["q"]]
    return places(problem.model, (transcription.program.start[q.index] * q.scale for q in nodes))


STILL = World(0.0, (0.0, 0.0, 0.0))


GUESSED = [
    (hop, "quaternion", "postures"),
    (travel, "euler", "standing"),
    (stand, "euler", "postures"),
    (stand, "quaternion", "plan"),
]


@pytest.mark.parametrize(("make", "root", "guess"), GUESSED)
@pytest.mark.slow
def test_first_guesses_move_with_the_world(make, root, guess):
    still = first_places(make(STILL, root, guess))
    world = World(*(MOVES[0] if make is stand else MOVES[2]))
    assert np.abs(first_places(make(world, root, guess)) - moved_places(world, still)).max() < 1e-9


SAME_PATH = 10
"""Iterations that are compared: far from a solution rounding errors grow, by 1e9 in twenty iterations, until line
searches decide differently."""


@pytest.mark.parametrize(
    ("root", "guess", "move", "last"), [("euler", "plan", MOVES[1], 120), ("quaternion", "postures", MOVES[2], 0)]
)
@pytest.mark.slow
def test_a_moved_problem_takes_the_moved_path_to_the_moved_motion(root, guess, move, last):
    world = World(*move)
    # else a trunk that is turned by half a turn hops as well, at the same cost
    model = leg(ROOTS[root]).with_limits(lower={"thigh_joint": -1.5}, upper={"thigh_joint": 1.5})
    problems = [replace(hop(where, root, guess), model=model) for where in (STILL, world)]
    for iterations, accuracy, digits in ((SAME_PATH, 1e-4, 1e-5), (last, 1e-6, 1e-8))[: 1 + bool(last)]:
        still, moved = (iterate(problem, iterations) for problem in problems)
        assert still.converged == moved.converged == (iterations > SAME_PATH)
        assert moved.objective == pytest.approx(still.objective, rel=digits)
        wanted = moved_places(world, places(still.model, still.q))
        assert np.abs(places(moved.model, moved.q) - wanted).max() < accuracy


@pytest.mark.skipif(obtain(wait=True)[0] is None, reason="no library of the block LDL solver")
@pytest.mark.slow
def test_an_eigenvalue_that_is_zero_to_rounding_counts_alike_in_all_worlds():
    """At the standing guess of a hop one direction has no curvature: the pivot is a rounding error of either sign."""
    library, _ = obtain()
    assert library is not None
    counts = []
    for turn in (0.0, 0.7):
        seen: list[Seen] = []
        with library.watched(seen.append):
            hop(World(turn, (0.0, 0.0, 0.0)), "quaternion", "standing").solve(progress=False, max_iterations=1)
        counts.append([each.negative for each in seen if each.right is None])
    assert counts[0][1] == counts[0][0] + 2  # one negative eigenvalue, and the zero
    assert counts[1] == counts[0]


def test_a_posture_stands_over_its_foothold_and_as_it_is_turned():
    transcription = transcribe(stand(World(0.5, (3.0, -2.0, 1.0)), "quaternion", "standing"), 1)
    model, q = transcription.problem.model, DM(standing(transcription))
    R = od.pose(model, "sole", q)[0].full()
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(0.7)
    wanted = np.array(World(0.5, (3.0, -2.0, 1.0)).advance.point(DM([0.1, 0.05, 0.0])).full())
    assert np.abs(np.array(od.point_position(model, "sole", q).full()) - wanted).max() < 1e-12


def test_a_planar_model_stands_on_ground_at_any_height():
    problem = hopper.problem(3)
    phases = [
        replace(phase, footholds=[replace(f, plane=ocp.Plane((0.0, 0.0, 2.0))) for f in phase.footholds])
        for phase in problem.phases
    ]
    transcription = transcribe(replace(problem, phases=phases), 1)
    foot = od.point_position(problem.model, "foot", DM(standing(transcription))).full().ravel()
    assert foot == pytest.approx([0.0, 0.0, 2.0])
