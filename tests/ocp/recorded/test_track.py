"""`ocp.track`: the motion of a body that steps from foot to foot, recorded without errors, or with a wrong mass."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.cuts import load_of

TIMES = np.arange(0.0, 2.001, 0.01)
FEET = ("left", "right")
PLACES = {
    f"{body}{k}": (body, p)
    for body, n in (("trunk", 4), ("arm", 2))
    for k, p in enumerate(np.random.default_rng(1).uniform(-0.3, 0.3, (n, 3)).round(3).tolist())
}


@cache
def walker() -> od.Model:
    """A trunk with two feet that stand on wide soles, an arm, and a patella that follows the arm."""
    builder = od.ModelBuilder("walker")
    builder.add_body("trunk", od.FloatingBase("euler_zyx"), mass=30, com=(0, 0, 0.1), inertia=(1, 1.2, 0.8))
    light = {"mass": 4, "com": (0, 0, -0.2), "inertia": (0.1, 0.1, 0.01)}
    builder.add_body("arm", od.Revolute("y"), "trunk", origin=(0, 0.2, 0.3), **light)
    builder.add_body("cap", od.Prismatic("x"), "arm", origin=(0, 0, -0.4), mass=0.5)
    for side, y in zip(FEET, (0.1, -0.1), strict=True):
        builder.add_frame(side, "trunk", origin=(0, y, -0.9))
    follows = od.CoordinateCoupling("cap_joint", ("arm_joint",), od.PolynomialFunction((0.05, 0.0, 0.01)))
    return builder.build().with_constraints([follows])


def moved(t: Any) -> tuple[Any, ...]:
    """q, qd, qdd over time: smooth waves of 1 Hz, and the cap as its coupling demands."""
    w, phase = 2 * np.pi, np.arange(7)
    size = np.array([0.05, 0.06, 0.02, 0.1, 0.05, 0.08, 0.5])
    angle = w * np.asarray(t)[:, None] + phase
    q, qd, qdd = size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)
    q[:, 2] += 0.9
    arm, rate, second = q[:, 6:], qd[:, 6:], qdd[:, 6:]
    slope = 0.1 * arm
    cap = (0.05 * arm**2 + 0.01, slope * rate, slope * second + 0.1 * rate**2)
    return tuple(np.hstack([x, y]) for x, y in zip((q, qd, qdd), cap, strict=True))


@cache
def recorded() -> tuple[od.recordings.Recording, od.recordings.Recording]:
    """Markers, and wrenches on the feet: the left one carries the body, then the right one, then the left again."""
    model = walker()
    q, qd, qdd = moved(TIMES)
    x = ca.SX.sym("q", model.nq)
    spots = ca.vertcat(*(od.point_position(model, frame, x, point) for frame, point in PLACES.values()))
    points = np.array(ca.Function("points", [x], [spots]).map(TIMES.size)(q.T)).T
    tau = np.array(od.function(od.inverse_dynamics, model).map(TIMES.size)(q.T, qd.T, qdd.T)).T
    J = ca.Function("J", [x], [od.frame_jacobian(model, "trunk", x)])
    wrenches = []
    for a, force in zip(q, tau, strict=True):
        w = np.linalg.solve(np.array(J(a))[:, :6].T, force[:6])
        wrenches.append([*(w[:3] + np.cross(a[:3], w[3:])), *w[3:]])
    share = np.interp(TIMES, [0.6, 0.8, 1.3, 1.5], [1.0, 0.0, 0.0, 1.0])[:, None]
    both = np.stack([share * wrenches, (1 - share) * wrenches], axis=1)
    markers = od.recordings.Recording(tuple(PLACES), TIMES, points.reshape(TIMES.size, -1, 3), "m")
    return markers, od.recordings.Recording(FEET, TIMES, both, "N m, N")


def track(model: od.Model | None = None, markers: Any = None, forces: Any = None, **options: Any) -> ocp.Problem:
    given = {"places": PLACES, "between": (0.4, 1.4), "rate": 20, "cutoff": 12.0} | options
    seen, plates = recorded()
    return ocp.track(model or walker(), markers or seen, forces or plates, **given)


def residual(model: od.Model, phase: Any) -> float:
    """Largest entry of ID - tau - G' lam in the middle of the intervals, where the midpoint rule has its equations."""
    x, worst = ca.SX.sym("q", model.nq), 0.0
    G = ca.Function("G", [x], [ca.vertcat(*(c.jacobian(model, x) for c in phase.contacts))])
    ID = od.function(od.inverse_dynamics, model)
    for k, h in enumerate(np.diff(phase.t)):
        rate = phase.qd[k] + h / 2 * phase.qdd[k]
        q = model.integrate(phase.q[k], h / 2 * rate)
        q[7], rate[7] = 0.05 * q[6] ** 2 + 0.01, 0.1 * float(q[6]) * rate[6]
        gap = ID(q, rate, phase.qdd[k]) - phase.tau[k] - G(q).T @ phase.lam[k]
        worst = max(worst, float(ca.norm_inf(gap)))
    return worst


@cache
def solved() -> tuple[ocp.Problem, ocp.Solution]:
    problem = track()
    return problem, problem.solve(progress=False)


@pytest.mark.slow
def test_a_recording_without_errors_is_found_again() -> None:
    problem, solution = solved()
    assert solution.converged
    assert solution.stats["iterations"] <= 40
    assert [phase.name for phase in solution.phases] == [
        "1 left",
        "2 left right",
        "3 right",
        "4 left right",
    ]
    errors = ocp.tracking_errors(problem, solution)
    assert errors.marker_rms < 1.5e-3
    assert errors.force_rms < 1.0
    assert errors.moment_rms < 0.3
    for phase in solution.phases:
        times = 0.4 + phase.t
        assert np.abs(phase.q - moved(times)[0]).max() < 0.012
        assert not np.any(phase.tau[:, [*range(6), 7]])  # no residuals at the root, no motor of the cap
        assert residual(walker(), phase) < 1e-6
        assert np.allclose(phase.q[:, 7], 0.05 * phase.q[:, 6] ** 2 + 0.01, atol=1e-9)


@pytest.mark.slow
def test_a_wrong_mass_changes_forces_and_motion_and_leaves_no_residual() -> None:
    heavy = walker().with_inertia("trunk", mass=31.5)
    problem = track(heavy, errors=ocp.MeasurementErrors(marker=1e-3))
    solution = problem.solve(progress=False)
    errors = ocp.tracking_errors(problem, solution)
    assert solution.converged
    assert max(residual(heavy, phase) for phase in solution.phases) < 1e-6
    count = sum(len(phase.tau) for phase in solution.phases)
    assert errors.forces[:, 2].sum() / count == pytest.approx(1.5 * 9.81, abs=2.5)  # the motion takes the rest


@pytest.mark.slow
def test_a_foot_beside_the_plates_gets_what_the_equations_need() -> None:
    _, plates = recorded()
    values = np.array(plates.values)
    values[TIMES > 1.2, 0] = 0.0  # the second stance of the left foot misses the plate
    forces = replace(plates, values=values)
    problem = track(forces=forces, between=(0.9, 1.45))
    assert [phase.name for phase in problem.phases][-1] == "2 left right"
    solution = problem.solve(progress=False)
    late = solution.phases[-1].wrenches["left"]
    wanted = plates.resample(times=0.9 + (solution.phases[-1].t[1:] + solution.phases[-1].t[:-1]) / 2)["left"]
    assert np.abs(late[:, 3:] - wanted[:, 3:]).max() < 15.0
    middle = (solution.phases[-1].q[1:] + solution.phases[-1].q[:-1]) / 2
    origins = [np.array(od.point_position(walker(), "left", q)).ravel() for q in middle]
    about_world = late[:, :3] + np.cross(origins, late[:, 3:])
    assert np.abs(about_world - wanted[:, :3]).max() < 5.0


@pytest.mark.slow
def test_angles_and_fitted_motions_are_followed() -> None:
    q = od.recordings.Recording(walker().q_names, TIMES, moved(TIMES)[0], "rad")
    problem = track(markers=q, places=None, rate=10)
    errors = ocp.tracking_errors(problem, problem.solve(progress=False))
    assert not errors.markers.size
    assert np.abs(errors.angles).max() < 0.05
    motion = od.recordings.fit_motion(walker(), recorded()[0], places=PLACES)
    (term,) = [t for t in track(markers=motion).phases[0].objective if isinstance(t, ocp.TrackJoints)]
    assert np.allclose(term.reference(0.0), moved(np.array([0.4]))[0], atol=5e-3)


@pytest.mark.slow
def test_missing_samples_are_where_the_fitted_motion_has_them() -> None:
    markers, _ = recorded()
    values = np.array(markers.values)
    values[60:80, 2] = np.nan
    problem = track(markers=replace(markers, values=values), rate=10)
    assert ocp.tracking_errors(problem, problem.solve(progress=False)).marker_rms < 5e-3


def test_the_default_time_is_the_stride_that_the_plates_saw() -> None:
    _, plates = recorded()
    shifted = np.array(plates.values)
    shifted[TIMES < 0.2] = 0.0  # left: strikes at 0.2 and 1.3 s, leaves at 0.8 s
    problem = track(forces=replace(plates, values=shifted), between=None)
    total = sum(phase.duration_bounds[0] for phase in problem.phases)
    assert 1.0 < total < 1.2


def test_files_keep_loaded_feet(tmp_path: Any) -> None:
    _, solution = solved()
    again = ocp.Solution.load(solution.save(tmp_path / "walk.npz"))
    assert isinstance(again.phases[0].contacts[0], ocp.LoadedFoothold)
    assert np.array_equal(again.phases[0].wrenches["left"], solution.phases[0].wrenches["left"])


def test_compliant_feet_stand_in_one_phase() -> None:
    balls = {side: ocp.CompliantFoothold(side, [od.HuntCrossleySphere(side)]) for side in FEET}
    problem = track(feet=balls)
    assert [phase.name for phase in problem.phases] == ["motion"]
    assert not problem.phases[0].path
    (term,) = [t for t in problem.phases[0].objective if isinstance(t, ocp.TrackWrenches)]
    assert [tuple(names) for names in term.feet] == [("left",), ("right",)]


def test_rigid_feet_stand_near_their_measured_places() -> None:
    feet = {side: ocp.Foothold(od.Contact(side, axes="xyz")) for side in FEET}
    problem = track(feet=feet)
    left, *_ = problem.phases[0].footholds
    assert left.x[1] - left.x[0] == pytest.approx(0.3)
    assert problem.phases[1].footholds[0] is left


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "other body": (
        lambda m, f: {"markers": replace(m, values=m.values * 2).between(0.4, 0.5)}, ValueError, "another body",
    ),
    "too short": (lambda m, f: {"markers": m.between(0.0, 0.05)}, ValueError, "too short"),
    "short time": (lambda m, f: {"between": (0.5, 0.53)}, ValueError, "frames with markers"),
    "no stride": (lambda m, f: {"between": None}, ValueError, "no whole stride.*give between"),
    "outside": (lambda m, f: {"between": (1.0, 3.0)}, ValueError, "recorded motion must cover 1 to 3 s"),
    "no load": (lambda m, f: {"forces": replace(f, values=0 * f.values)}, ValueError, "no foot is loaded"),
    "half the force": (lambda m, f: {"forces": replace(f, values=f.values / 2)}, ValueError, "0.50 times"),
    "names": (lambda m, f: {"forces": replace(f, names=("lefd", "right"))}, KeyError, "lefd"),
    "table": (lambda m, f: {"forces": m}, TypeError, "ground_forces"),
    "no markers": (lambda m, f: {"places": {"other": ("trunk", (0, 0, 0))}}, od.ModelError, "marker"),
    "empty frames": (
        lambda m, f: {"markers": replace(m, values=np.where((TIMES > 0.6) & (TIMES < 0.9), np.nan, m.values.T).T)},
        ValueError, "markers are missing for",
    ),
    "backwards": (lambda m, f: {"between": (1.0, 0.5)}, ValueError, "begin before end"),
    "feet": (lambda m, f: {"feet": {"lef": ocp.LoadedFoothold("left")}}, KeyError, "lef"),
    "mixed": (
        lambda m, f: {"feet": {"left": ocp.CompliantFoothold("left", [od.HuntCrossleySphere("left")])}},
        ValueError, "either all",
    ),
    "error": (lambda m, f: {"errors": 0.01}, TypeError, "ocp.MeasurementErrors"),
    "rate": (lambda m, f: {"rate": 0.0}, ValueError, "rate"),
    "model": (lambda m, f: {"markers": 3.0}, TypeError, "Recording of markers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
@pytest.mark.slow
def test_bad_input_is_told(name: str) -> None:
    change, error, words = BAD[name]
    with pytest.raises(error, match=words):
        track(**change(*recorded()))


def test_loaded_feet_need_the_implicit_form_and_have_no_forward_dynamics() -> None:
    problem, solution = solved()
    with pytest.raises(ValueError, match="wrench of the loaded foothold 'left' is a variable of the implicit form"):
        replace(problem, form="explicit")
    with pytest.raises(ValueError, match="loaded foothold 'left' is a variable"):
        solution.defects()
    assert "left" in str(solution.summary())
    with pytest.raises(ValueError, match="no solution of this problem"):
        ocp.tracking_errors(track(between=(0.9, 1.2)), solution)


def test_feet_of_a_light_robot_stand() -> None:
    """Half a kilogram presses with less than the 20 N of a person's foot: 5 % of its own weight are enough."""
    builder = od.ModelBuilder("pup")
    builder.add_body("block", od.FloatingBase(), mass=0.5, inertia=(0.1, 0.1, 0.1))
    model, t = builder.build(), np.linspace(0, 1, 51)
    heights = od.recordings.Recording("top", t, np.stack([0 * t, 0 * t, 1 + 0 * t], axis=1)[:, None], "m")
    load = od.recordings.Recording("block", t, [[[0, 0, 0, 0, 0, 4.9]]] * 51, "N m, N")
    sure = ocp.MeasurementErrors(marker=1e-6, smoothing=0)
    window = {"places": {"top": ("block", (0, 0, 0))}, "between": (0.2, 0.6), "rate": 10, "errors": sure}
    follow = ocp.track(model, heights, load, **window)
    assert [list(phase.footholds) != [] for phase in follow.phases] == [True] * len(follow.phases)
    assert load_of(model) == pytest.approx(0.05 * 0.5 * 9.81)
    assert load_of(model.with_gravity((0, 0, 0))) == load_of(od.models.human()) == 20.0
    with pytest.raises(ValueError, match=r"no foot is loaded by more than 0\.245 N"):
        ocp.track(model, heights, od.recordings.Recording("block", t, [[[0.0] * 6]] * 51, "N m, N"), **window)


def armed() -> od.Model:
    """The walker with two muscles that move its arm."""
    muscles = [
        od.Muscle(name, "DeGrooteFregly2016Muscle", (od.PathPoint("P1", "trunk", (x, 0.2, 0.25)),
                  od.PathPoint("P2", "arm", (x, 0, -0.15))), max_isometric_force=900.0, optimal_fiber_length=0.12,
                  tendon_slack_length=0.08)
        for name, x in (("front", 0.06), ("back", -0.06))
    ]  # fmt: skip
    return walker().with_muscles(muscles)


@pytest.mark.slow
def test_muscles_follow_a_recording() -> None:
    problem = track(armed(), muscles=True)
    assert problem.actuated == []
    assert problem.weights["ChannelPower activation"] == 4.0
    motors = solved()[1]
    solution = problem.solve(guess=motors, progress=False)
    assert solution.converged
    assert solution.stats["iterations"] <= 40
    assert ocp.tracking_errors(problem, solution).marker_rms < 4e-3  # excitations are constant in intervals of 50 ms
    assert solution["activation"].max() > 0.05
    brave = track(armed(), muscles=ocp.Muscles(), errors=ocp.MeasurementErrors(activation=0.1))
    assert brave.weights["ChannelPower activation"] == pytest.approx(100.0)
    with pytest.raises(ValueError, match="activation"):
        ocp.MeasurementErrors(activation=0.0)
