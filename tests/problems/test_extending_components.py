"""Components of users in every workflow: the four examples, and channels of a body that mirrors itself."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.guess.standing_guess import initial_guess
from ocp_dyn.ocp.statement.state.mirrored import check_mirrored
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.replay.simulator import load
from problems.extending import elastic_drive, fatigue, hill_joint, motor_heat
from tests.helpers import close

EXAMPLES = {
    "heat": (motor_heat, "cooling", 1.0),
    "tired": (fatigue, "tiring", 0.45),
    "theta": (elastic_drive, "stiffness", 55.0),
    "fiber": (hill_joint, "strength", 820.0),
}
"""The examples by one of their channels, each with its parameter and another value of it."""

WAYS: list[dict[str, Any]] = [
    {"integrator": "gauss:2"},
    {"integrator": "radau:2", "steps": 2},
    {"integrator": "lobatto:3"},
    {"form": "explicit", "integrator": "gauss:2"},
    {"torque": "linear", "integrator": "gauss:2"},
]
SHOOTING: list[dict[str, Any]] = [{"form": "explicit"}, {"form": "explicit", "integrator": "heun", "steps": 2}]


@functools.cache
def problem(name: str) -> ocp.Problem:
    return EXAMPLES[name][0].problem()


@functools.cache
def solved(name: str) -> ocp.Solution:
    solution = problem(name).solve(progress=False)
    assert solution.converged
    return solution


@functools.cache
def accurate(name: str) -> ocp.Solution:
    return EXAMPLES[name][0].problem(integrator="gauss:3").solve(progress=False)


NAMES = pytest.mark.parametrize("name", EXAMPLES)


@pytest.mark.parametrize("name", ["theta", "fiber"])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.slow
def test_every_scheme_finds_the_same_motion(name: str, way: dict[str, Any]) -> None:
    found, wanted = EXAMPLES[name][0].problem(**way).solve(progress=False), accurate(name)
    assert found.converged
    assert found.objective == pytest.approx(wanted.objective, rel=0.02)
    assert np.abs(found[name] - wanted[name]).mean() < 0.03 * np.ptp(wanted[name])


@pytest.mark.parametrize("name", ["heat", "tired"])
@pytest.mark.parametrize("way", SHOOTING, ids=str)
@pytest.mark.slow
def test_shooting_finds_the_same_motion(name: str, way: dict[str, Any]) -> None:
    """The fibers of a muscle are too fast for explicit schemes."""
    found = EXAMPLES[name][0].problem(**way).solve(progress=False)
    assert found.converged
    assert found.objective == pytest.approx(accurate(name).objective, rel=0.02)


@NAMES
@pytest.mark.slow
def test_files_bring_channels_back_and_start_the_next_solve(name: str, tmp_path: Any) -> None:
    solution = solved(name)
    loaded = ocp.Solution.load(solution.save(tmp_path / "motion.npz"), components=problem(name).components)
    assert loaded.channels == solution.channels
    for channel in solution.channels:
        assert np.array_equal(loaded[channel.name], solution[channel.name])
    again = problem(name).solve(start=loaded, progress=False)
    assert again.stats["iterations"] <= 2
    close(again.objective, solution.objective, 1e-6)
    finer = replace(problem(name), phases=[replace(problem(name).phases[0], intervals=24)])
    guessed = finer.solve(guess=loaded, progress=False, max_iterations=0)
    gap = np.abs(np.interp(guessed.t, solution.t, solution[name][:, 0]) - guessed[name][:, 0]).max()
    assert gap < 0.05 * np.ptp(solution[name])


@NAMES
@pytest.mark.slow
def test_continuation_and_sweeps_follow_a_parameter(name: str, tmp_path: Any) -> None:
    module, parameter, other = EXAMPLES[name]
    first = float(np.ravel(problem(name).parameters[0].value)[0])
    path = ocp.solve_along(problem(name), solve={"progress": False}, **{parameter: [first, other]})
    assert all(solution.converged for solution in path)
    with ThreadPoolExecutor(1) as executor:
        points = ocp.grid(**{parameter: [first, other]})
        sweep = ocp.Sweep(module.problem, points, tmp_path, executor=executor, solve={"progress": False})
        found = {point.values[parameter]: solution for point, solution in sweep}
    for value, solution in zip((first, other), path, strict=True):
        close(found[value].objective, solution.objective, 1e-5)
        assert sweep.library.load(next(p for p in points if p.values[parameter] == value)).channels


@NAMES
@pytest.mark.slow
def test_sensitivities_are_those_of_solving_again(name: str) -> None:
    parameter = EXAMPLES[name][1]
    at = float(np.ravel(problem(name).parameters[0].value)[0])
    tight = problem(name).solve(start=solved(name), progress=False, tolerance=1e-9)
    slope = ocp.sensitivities(problem(name), tight)[parameter]
    h = 1e-3 * at
    near = [
        problem(name).solve(start=tight, values={parameter: at + d}, progress=False, tolerance=1e-9) for d in (h, -h)
    ]
    assert slope.objective == pytest.approx((near[0].objective - near[1].objective) / (2 * h), rel=1e-2, abs=1e-9)
    expected = (near[0][name] - near[1][name]) / (2 * h)
    assert np.abs(slope.phases[0][name] - expected).max() < 0.05 * np.abs(expected).max() + 1e-9


@NAMES
@pytest.mark.slow
def test_tables_plots_and_reports_show_the_channels(name: str, tmp_path: Any) -> None:
    solution = solved(name)
    channel = next(c for c in solution.channels if c.name == name)
    columns = solution.table()
    assert np.array_equal(columns[channel.names()[0]], solution[name][:, 0])
    assert channel.names()[0] in solution.to_csv(tmp_path / "motion.csv").read_text().splitlines()[0]
    panels = solution.plot().axes
    titles = [axes.get_title(loc="left") for axes in panels]
    for axes in panels:
        x, y = axes.get_position().p0
        below = [other for other in panels if abs(other.get_position().x0 - x) < 0.01 and other.get_position().y0 < y]
        assert bool(axes.get_xlabel().strip()) == (not below)
    assert {c.name for c in solution.channels} <= set(titles)
    assert [axes.get_title(loc="left") for axes in solution.plot(quantities=[name]).axes] == [name]
    report = solution.summary(defects=False).numbers()
    largest = [value for key, value in report.items() if key.startswith(f"largest_{name}")]
    assert largest == [pytest.approx(solution[name].max())]
    assert (
        name in problem(name)._card_html() or type(problem(name).components[0]).__name__ in problem(name)._card_html()
    )


@NAMES
def test_the_check_finds_nothing_wrong(name: str) -> None:
    assert problem(name).check() == []


@pytest.mark.parametrize(("name", "angle"), [("heat", 1e-3), ("tired", 1e-3), ("theta", 2e-2)])
@pytest.mark.slow
def test_defects_integrate_the_states_of_components(name: str, angle: float, tmp_path: Any) -> None:
    found = solved(name).defects()
    assert found.angle < angle
    assert accurate(name).defects().angle < 0.1 * found.angle
    loaded = ocp.Solution.load(solved(name).save(tmp_path / "motion.npz"))
    assert loaded.summary().defects is None
    with pytest.raises(ValueError, match=r"give Solution.load\(path, components=problem.components\)"):
        loaded.defects()


@pytest.mark.slow
def test_defects_integrate_implicit_rows() -> None:
    """In the first interval of this grid the fibers of the muscle, which is hardly active, are faster than its rows
    allow."""
    accurate = hill_joint.problem(integrator="radau:3").solve(progress=False)
    assert accurate.defects().by_interval[1:, 0].max() < 1e-5


def test_the_bound_of_a_channel_decides_a_motion() -> None:
    decides = solved("heat").deciding()[0]
    assert (decides.text, decides.kind, decides.unit) == ("heat of joint1 (upper 20 K)", "heat", "K")
    free = motor_heat.problem(1000.0).solve(progress=False)
    assert free["heat"].max() > 25
    assert solved("heat")["heat"].max() <= 20 + 1e-5
    assert solved("heat").objective > free.objective


def test_heat_is_the_integral_of_its_rate() -> None:
    (phase,), T = accurate("heat").phases, 0.0
    for k in range(len(phase.tau)):  # exact for constant torques
        decay = np.exp(-0.5 / 5.0 * (phase.t[k + 1] - phase.t[k]))
        T = T * decay + 2.0 * phase.tau[k, 0] ** 2 / 0.5 * (1 - decay)
        assert phase["heat"][k + 1, 0] == pytest.approx(T, rel=1e-6)


def test_tired_muscles_are_weaker() -> None:
    solution = fatigue.problem(integrator="gauss:2").solve(progress=False)
    left = 14.0 * (1 - np.maximum(solution["tired"][:-1, 0], solution["tired"][1:, 0]))
    assert np.all(np.abs(solution.tau[:, 0]) <= left + 0.02 * 14)
    assert np.any(np.abs(solution.tau[:, 0]) >= 0.98 * left)


@pytest.mark.slow
def test_the_joint_feels_the_spring_alone(tmp_path: Any) -> None:
    """I qdd + gravity = k (theta - q), whatever the motor does."""
    solution = elastic_drive.problem(integrator="gauss:2", form="explicit").solve(progress=False)
    (phase,) = solution.phases
    spring = 50.0 * (phase["theta"][:-1, 0] - phase.q[:-1, 0])
    close(phase.qdd[:, 0] / 3 + 9.81 / 2 * np.sin(phase.q[:-1, 0]), spring, 1e-8)
    assert np.abs(solution.tau[:, 0] - spring).max() > 0.5
    loaded = ocp.Solution.load(solution.save(tmp_path / "motion.npz"))
    for motion in (solution, loaded):
        said = dict(motion.summary(defects=False).rows())
        assert said["work and torque"] == "of tau alone, without the force of ElasticDrive"


def test_replay_refuses_forces_of_components() -> None:
    solution = solved("theta")
    with pytest.raises(ValueError, match=r"the forces of ElasticDrive are added to them"):
        load(solution)
    with pytest.raises(ValueError, match=r"the channels theta, omega of components that are not known"):
        load(replace(solution, components=()))


def twins() -> od.Model:
    """A trunk with a leg on either side, which swings about y."""
    builder = od.ModelBuilder("twins")
    builder.add_body("trunk", od.FloatingBase("euler_zyx"), mass=8, inertia=(1, 1, 1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        legs = {"mass": 1, "com": (0, 0, -0.3), "inertia": (0.1, 0.1, 0.1), "origin": (0, y, 0)}
        builder.add_body(f"leg_{side}", od.Revolute("y"), "trunk", **legs)
    return builder.build()


@dataclass(frozen=True)
class Legs(ocp.Component):
    """A temperature, a motor angle and a charge; loss: of the motors of both legs."""

    loss: tuple[float, float] = (1.0, 1.0)
    mirror: Any = "unsigned"
    hottest: tuple[float, float] = (np.inf, np.inf)

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        legs = tuple(name for name in model.qd_names if name.startswith("leg"))
        heat = ocp.Channel("heat", labels=legs, mirror=self.mirror, periodic=False, bounds=(-50, self.hottest))
        return [heat, ocp.Channel("lag", labels=legs, mirror="signed"), ocp.Channel("charge", periodic=False)]

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        tau = instant.tau[-2:]
        return {
            "heat": ca.DM(self.loss) * tau**2 - instant["heat"],
            "lag": instant.qd[-2:] - instant["lag"],
            "charge": -ca.sumsqr(tau),
        }


def flight(component: Legs) -> ocp.Problem:
    """A flight in which the legs change places, mirrored from period to period."""
    swing = ocp.Phase("flight", 6, 0.6, objective=ocp.TorqueSquared())
    apart = ocp.Boundary(
        lambda s, e: (ca.vertcat(s.q[-2] - 0.3, s.q[-1] + 0.3, s["heat"] - 1, s["charge"]), 0, 0), "start"
    )
    cycle = ocp.Periodic(speed=1.0, mirror=True, transition=ocp.Jump(_again))
    return ocp.Problem(
        twins(),
        swing,
        boundary=[apart],
        periodic=cycle,
        components=[component],
        unactuated=["root"],
        integrator="gauss:2",
    )


def _again(end: ocp.Instant, start: ocp.Instant) -> tuple[Any, float, float]:
    """The legs and the lag repeat; what falls does not come back."""
    return ca.vertcat(start.q[-2:] - end.q[-2:], start["lag"] - end["lag"]), 0, 0


@pytest.mark.slow
def test_channels_change_sides_in_a_mirrored_period() -> None:
    solution = flight(Legs()).solve(progress=False)
    assert solution.converged
    lag, sign = solution["lag"], solution.mirror().images["leg_l_joint"][1]
    close(lag[0], sign * lag[-1][::-1], 1e-7)
    assert np.abs(lag[0]).max() > 0.1
    assert np.abs(solution["heat"][0] - solution["heat"][-1][::-1]).max() > 0.1
    assert len(solution.plot(quantities=["heat", "lag", "charge"]).axes) == 3


def test_bounds_hold_for_the_next_period_too() -> None:
    track = transcribe(flight(Legs(hottest=(60.0, 70.0)))).phases[0].tracks["heat"]
    close(track.upper, [60, 60], 0)


@pytest.mark.parametrize(
    ("component", "message"),
    [
        (Legs(loss=(1.0, 2.0)), "not left-right symmetric: the derivative of 'heat'"),
        (Legs(mirror=None), "entries of dofs, such as 'leg_l_joint', and the motion is mirrored: give mirror='signed'"),
        (Legs(mirror="same"), "not left-right symmetric: the derivative of 'heat'"),
    ],
)
def test_equations_that_do_not_mirror_are_refused(component: Legs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        flight(component).check()


@dataclass(frozen=True)
class Rules(ocp.Component):
    """Implicit states, an algebraic channel and a limit of both legs; given: numbers of the left and the right leg."""

    implicit: tuple[float, float] = (1.0, 1.0)
    algebraic: tuple[float, float] = (1.0, 1.0)
    limit: tuple[float, float] = (1.0, 1.0)
    late: float = 0.0

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        legs = tuple(name for name in model.qd_names if name.startswith("leg"))
        slow = ocp.Channel("slow", labels=legs, mirror="unsigned", bounds=(0, 5), neutral=1.0)
        return [slow, ocp.Channel("bend", "algebraic", labels=legs, mirror="signed")]

    def rows(self, instant: ocp.Instant) -> tuple[Any, Any, Any]:
        rate, tau = instant.rates["slow"] + instant["slow"] ** 3, instant.tau[-2:]
        late = ca.vertcat(self.late * ca.fmax(0, instant.s - 0.5), 0)
        rows = [
            ca.DM(self.implicit) * rate - tau**2 + late,
            ca.DM(self.algebraic) * instant["bend"] - instant.q[-2:],
            ca.DM(self.limit) - tau**2 - instant["slow"],
        ]
        return ca.vertcat(*rows), 0.0, [0.0] * 4 + [np.inf] * 2


@pytest.mark.parametrize(
    "uneven", [{"implicit": (1.0, 2.0)}, {"algebraic": (1.0, 2.0)}, {"limit": (1.0, 2.0)}, {"late": 1.0}, {}]
)
@pytest.mark.slow
def test_rows_are_compared_with_those_of_the_mirrored_instant(uneven: dict[str, Any]) -> None:
    part, model = Rules(**uneven), twins()
    parts = ocp.Problem(model, ocp.Phase("move", 2, 1.0), components=[part]).parts
    if uneven:
        with pytest.raises(ValueError, match="not left-right symmetric: the rows of Rules of the mirrored state"):
            check_mirrored(parts, model, ocp.mirror_map(model), {})
    else:
        check_mirrored(parts, model, ocp.mirror_map(model), {})


def test_bounds_that_exclude_those_of_the_other_side_are_refused() -> None:
    channel = ocp.Channel("heat", labels=("a", "b"), bounds=((0, 2), (1, 3)), mirror={"a": ("b", 1), "b": ("a", 1)})
    with pytest.raises(ValueError, match="the bounds of 'a', 0 to 1, and the mirrored ones of 'b', 2 to 3, hold toge"):
        channel.mirrored_bounds({})


def test_first_guesses_of_components_follow_those_of_positions() -> None:
    """theta = q, omega = its neutral value; the rates of the states are those of their guesses."""
    t = transcribe(replace(problem("theta"), guess=lambda s: ([2.0 * s], [2.0])))
    initial_guess(t)
    (x,), start = t.phases, t.program.start

    def values(track: str) -> Any:
        return np.array([start[variable.index] * variable.scale for variable in x[track]])

    close(values("theta"), values("q"), 1e-12)
    close(values("theta'"), np.full((30, 1), 2.0), 1e-9)
    assert not np.any(values("omega"))
