"""Small problems: their length, and their answers beside closed forms, energy and momentum."""

from __future__ import annotations

import ast
import importlib
import runpy
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.viz import overview, skeleton
from problems import small

FILES = sorted(path for path in Path(small.__file__).parent.glob("[!_]*.py"))
NAMES = [path.stem for path in FILES]
LINES = 40
G = 9.81


def solved(name: str, *arguments: object, **options: object) -> ocp.Solution:
    solution = importlib.import_module(f"problems.small.{name}").problem(*arguments, **options).solve(progress=False)
    assert solution.converged, solution.status
    return solution


def rise(solution: ocp.Solution) -> float:
    """Energy gained from the first node to the last [J]."""
    model = solution.model
    ends = [(ca.DM(solution.q[k]), ca.DM(solution.qd[k])) for k in (0, -1)]
    before, after = (float(od.potential_energy(model, q) + od.kinetic_energy(model, q, qd)) for q, qd in ends)
    return after - before


def work(solution: ocp.Solution) -> float:
    """Work of the joints [J]: torques are constant on an interval, so this sum is exact for what the joints turn."""
    return sum(float(np.sum(phase.tau * np.diff(phase.q, axis=0))) for phase in solution.phases)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_small_problem_is_short_and_says_its_feature(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= LINES
    assert "Shows: " in (ast.get_docstring(ast.parse(text)) or "")
    assert f"| `{path.stem}` |" in (small.__doc__ or "")


def test_the_rotor_is_bang_bang() -> None:
    """T = 2 sqrt(I angle / torque)."""
    solution = solved("rotor")
    assert solution.duration == pytest.approx(2 * np.sqrt(np.pi / 2), rel=2e-5)  # torques end just off their bounds
    assert np.abs(solution.tau[:, 0]) == pytest.approx(2.0, abs=1e-3)


@pytest.mark.slow
def test_the_weakest_motor_works_at_its_limit_and_lifts_the_rod() -> None:
    solution = solved("pendulum")
    peak = solution.variables()["peak"][0]
    assert np.mean(np.abs(solution.tau[:, 0]) > 0.999 * peak) > 0.9
    assert work(solution) == pytest.approx(G, rel=3e-3)  # m g l: the mass center rises by l
    assert peak < G / 2 / 3  # a third of what holds the rod level


@pytest.mark.slow
def test_the_cart_pole_costs_as_much_by_another_transcription() -> None:
    """Trapezoids on the equations of Kelly (2017), written down by hand."""
    solution = solved("cart_pole")
    n, m1, m2, l = 60, 1.0, 0.3, 0.5
    opti, h = ca.Opti(), 2.0 / n
    x, u = opti.variable(4, n + 1), opti.variable(1, n + 1)
    s, c, w = ca.sin(x[1, :]), ca.cos(x[1, :]), x[3, :]
    a = (l * m2 * s * w**2 + u + m2 * G * c * s) / (m1 + m2 * s**2)
    b = -(l * m2 * c * s * w**2 + u * c + (m1 + m2) * G * s) / (l * m1 + l * m2 * s**2)
    f = ca.vertcat(x[2:, :], a, b)
    opti.subject_to(ca.vec(x[:, 1:] - x[:, :-1] - h / 2 * (f[:, 1:] + f[:, :-1])) == 0)
    opti.subject_to(x[:, 0] == 0)
    opti.subject_to(x[:, -1] == ca.DM([1, np.pi, 0, 0]))  # a positive angle is negative about y
    opti.minimize(h / 2 * (ca.sumsqr(u[1:]) + ca.sumsqr(u[:-1])))
    k = np.linspace(0, solution.duration, n + 1)
    opti.set_initial(x[0, :], np.interp(k, solution.t, solution.q[:, 0]))
    opti.set_initial(x[1, :], np.interp(k, solution.t, -solution.q[:, 1]))
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes"})
    assert opti.solve().value(opti.f) == pytest.approx(solution.objective, rel=1e-2)


@pytest.mark.slow
def test_the_arm_passes_the_ball_and_pays_for_it() -> None:
    from problems.small.reach import BALL, LENGTH

    free, held = solved("reach", ball=False), solved("reach")
    assert held.objective > 1.3 * free.objective
    links = [(name, z) for name in ("upper", "fore") for z in np.linspace(0, -LENGTH, 9)]

    def nearest(solution: ocp.Solution) -> float:
        points = [od.point_position(solution.model, n, ca.DM(q), (0, 0, z)) for q in solution.q for n, z in links]
        return min(float(ca.norm_2(point - ca.DM(BALL.start))) for point in points) - BALL.radius - 0.03

    assert nearest(free) < -0.05
    assert nearest(held) > -1e-6


@pytest.mark.slow
def test_the_lift_takes_another_load() -> None:
    from problems.small.lift import problem

    lift = problem()
    light = lift.solve(progress=False)
    heavy = lift.solve(progress=False, values={"payload:grip": [5.0] + 9 * [0]}, start=light)
    assert heavy.objective > 2 * light.objective
    for load, solution in ((2.0, light), (5.0, heavy)):
        assert solution.model.mass == pytest.approx(3.0 + load)
        assert work(solution) == pytest.approx(rise(solution), rel=5e-3)


@pytest.mark.slow
def test_the_ball_flies_as_far_as_the_cost_says() -> None:
    solution = solved("throw", 40)
    model, q, qd = solution.model, ca.DM(solution.q[-1]), ca.DM(solution.qd[-1])
    place, speed = (np.array(x).ravel() for x in (od.point_position(model, "ball", q),
                                                 od.point_velocity(model, "ball", q, qd)))  # fmt: skip
    landing = max(np.roots([-G / 2, speed[2], place[2]]))
    assert -solution.cost["distance"] == pytest.approx(place[0] + speed[0] * landing)
    assert 20 < -solution.cost["distance"] < 25
    assert work(solution) == pytest.approx(rise(solution), rel=2e-2)


@pytest.mark.slow
def test_the_slider_crank_takes_as_long_as_a_quadrature() -> None:
    """T = 2 integral of sqrt(I / (2 torque angle)) over a quarter turn, with 2 sqrt(angle) for the variable."""
    from problems.small.slider_crank import CRANK, ROD, TORQUE

    solution = solved("slider_crank")
    root = (np.arange(2000) + 0.5) / 2000 * np.sqrt(np.pi / 2)

    def inertia(angle: np.ndarray) -> np.ndarray:
        """Twice the kinetic energy at unit speed, point masses in the middle of the links; angle from the near end."""
        lean = np.arcsin(CRANK / ROD * np.sin(angle))
        turn = CRANK * np.cos(angle) / (ROD * np.cos(lean))
        along = CRANK * np.sin(angle) - ROD * np.sin(lean) * turn  # speed of the piston
        middle = (CRANK * np.sin(angle) - ROD / 2 * np.sin(lean) * turn, CRANK / 2 * np.cos(angle))
        return (CRANK / 2) ** 2 + middle[0] ** 2 + middle[1] ** 2 + 2 * along**2

    # from rest the energy is torque angle, up to a quarter turn; then torque (pi - angle)
    halves = [np.mean(2 * np.sqrt(inertia(x) / (2 * TORQUE))) * np.sqrt(np.pi / 2) for x in (root**2, np.pi - root**2)]
    assert solution.duration == pytest.approx(sum(halves), rel=1e-3)
    assert np.mean(np.abs(solution.tau[:, 0]) > 0.999 * TORQUE) > 0.9
    assert solution.drift().position < 1e-6


@pytest.mark.slow
def test_the_paddle_moves_as_momentum_and_restitution_say() -> None:
    from problems.small.juggling import BALL, PADDLE, RESTITUTION, TIME

    solution = solved("juggling")
    gain = BALL / PADDLE * G * TIME
    v0 = ((1 - RESTITUTION) * G * TIME / 2 - RESTITUTION * gain) / (1 + RESTITUTION)
    v1 = v0 + gain
    assert solution.qd[[0, -1], 0] == pytest.approx([v0, v1])
    cost = PADDLE**2 * (4 * (v0**2 + v0 * v1 + v1**2) / TIME + 2 * G * gain + G**2 * TIME)
    assert solution.objective == pytest.approx(cost, rel=1e-4)


@pytest.mark.slow
def test_the_ground_carries_the_hopper() -> None:
    solution = solved("hopper")
    stance = solution.phases[0]
    push = float(np.diff(stance.t) @ stance.wrenches["foot"][:, 5])
    landing = float(solution.impulses[-1][-1])
    weight = solution.model.mass * G
    assert push + landing == pytest.approx(weight * solution.duration, rel=1e-4)
    assert solution.step_length == pytest.approx(solution.duration)  # at 1 m/s


@pytest.mark.slow
def test_the_ape_swings_for_nothing() -> None:
    solution = solved("brachiation")
    assert solution.objective < 1e-9
    assert solution.variables()["distance"] == pytest.approx(0.8042, abs=1e-4)
    assert solution.defects().open_loop_angle < 1e-4  # the whole swing, integrated again


@pytest.mark.slow
def test_the_command_writes_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["reach", "--out", str(tmp_path / "new")])
    monkeypatch.delitem(sys.modules, "problems.small.reach", raising=False)  # runpy warns of modules that are loaded
    runpy.run_module("problems.small.reach", run_name="__main__")
    assert (tmp_path / "new" / "reach.png").stat().st_size > 10_000
    assert "Solve_Succeeded" in capsys.readouterr().out


@pytest.mark.slow
def test_an_overview_shows_paths_obstacles_and_only_driven_joints() -> None:
    solution = solved("cart_pole", 20)
    made = overview(solution, trace=["pole"], obstacles=[ocp.Obstacle((0.5, 0, 0.5), 0.1)], poses=5)
    poses, *panels = made.axes
    assert [panel.get_title(loc="left") for panel in panels] == ["angles", "positions", "forces"]
    assert len(poses.collections) == 5
    assert poses.patches[0].get_path().vertices.mean(axis=0) == pytest.approx([0.5, 0.5], abs=0.01)
    assert len(poses.lines[0].get_xdata()) == 200
    with pytest.raises(KeyError, match="elbow"):
        overview(solution, trace=["elbow"])
    with pytest.raises(ValueError, match="poses must be at least 2, a whole number, got 1"):
        overview(solution, poses=1)


def test_a_body_without_extent_is_a_ball() -> None:
    model = importlib.import_module("problems.small.cart_pole").cart_pole()
    ball = next(segment for segment in skeleton(model) if segment.kind == "ball")
    assert ball.name == "cart"
    assert ball.radii[0] == pytest.approx(0.1 * 0.5)  # at most a tenth of the model


def test_a_root_that_moves_in_a_plane_is_on_no_rail() -> None:
    model = importlib.import_module("problems.small.hopper").hopper()
    assert [(s.name, s.kind) for s in skeleton(model) if s.kind == "rail"] == [("leg", "rail")]
