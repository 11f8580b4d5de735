"""Channels and components: their checks, and what they add to a problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.statement.state.channels import channel_of_dict
from ocp_dyn.ocp.transcription.transcribe import transcribe
from tests.helpers import close

ROD = od.models.pendulum()
SWING = ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared()])


def made(**methods: Any) -> Any:
    """A component with a state y, a control u and these methods."""

    def channels(self: Any, model: od.Model) -> list[ocp.Channel]:
        return [ocp.Channel("y", labels=2), ocp.Channel("u", "control")]

    given = {"derivatives": lambda self, instant: {"y": ca.vertcat(instant["u"], 0)}}
    return type("Part", (ocp.Component,), {"channels": channels} | given | methods)()


def problem(*components: Any, **options: Any) -> ocp.Problem:
    return ocp.Problem(ROD, [SWING], components=components, **options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "q"}, "Channel 'q': the name is a name of the library"),
        ({"name": "the heat"}, "is no identifier, such as 'heat'"),
        ({"kind": "stat"}, "kind must be one of state, control, algebraic, got 'stat': did you mean 'state'"),
        ({"labels": []}, "labels must be different names, one or more"),
        ({"labels": ["a", "a"]}, "labels must be different names, one or more"),
        ({"labels": 0}, "labels must be names, or their number from 1 to 10000, got 0"),
        ({"labels": ["a", "b"], "scale": [1, 2, 3]}, "scale: give one number, or 2 \\(one per entry\\), got 3"),
        ({"scale": 0}, "scale must be positive"),
        ({"bounds": (1, 0)}, "bounds: needs lower <= upper"),
        ({"bounds": 3}, "bounds must be \\(lower, upper\\), got 3"),
        ({"neutral": np.inf}, "neutral must be finite"),
        ({"unit": 1}, "unit must be a text, such as 'K', got 1"),
        ({"rate": -1}, "rate must not be negative"),
        ({"kind": "algebraic", "rate": 1}, "an algebraic channel has no rate"),
        ({"mirror": "singed"}, "mirror must be one of same, signed, unsigned, got 'singed': did you mean 'signed'"),
        ({"mirror": 1}, "mirror must be one of same, signed, unsigned or a dict"),
        ({"labels": ["a", "b"], "mirror": {"a": ("b", 1)}}, "mirror must give every label one image and a sign"),
        ({"periodic": 1}, "periodic must be True or False"),
        ({"labels": {"a", "b"}}, "labels must be a list of names, as their order counts, got"),
        ({"labels": {"a": 1}}, "labels must be a list of names, as their order counts, got"),
        (
            {"labels": ["a", "b"], "mirror": {"a": ("b", 1), "b": ("a", -1)}},
            "the image of 'a' is \\('b', 1\\), that of 'b' \\('a', -1\\): give 'b' the image \\('a', 1\\)",
        ),
        (
            {"labels": ["a", "b", "c"], "mirror": {"a": ("b", 1), "b": ("c", 1), "c": ("a", 1)}},
            "mirror must be a reflection, whose image is the original",
        ),
    ],
)
def test_channels_are_checked(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        ocp.Channel(**({"name": "heat"} | arguments))


def test_a_channel_comes_back_from_plain_data() -> None:
    pairs = {"a": ("b", -1), "b": ("a", -1)}
    for channel in (
        ocp.Channel("heat", labels=["a", "b"], unit="K", scale=(1, 2), bounds=(0, [3, np.inf]), mirror=pairs),
        ocp.Channel("charge", "control", rate=2.0, periodic=False),
    ):
        assert channel_of_dict(channel.to_dict()) == channel == replace(channel)
    with pytest.raises(ValueError, match="Channel 'lean': it has no labels, which would be dofs: give mirror="):
        ocp.Channel("lean", mirror="signed").image({})
    close(ocp.Channel("x", labels=["a", "b"], mirror=pairs).image({}) @ ca.DM([1, 2]), [-2, -1], 0)


@pytest.mark.parametrize(
    ("component", "error", "message"),
    [
        (3, TypeError, "components must be ocp.Components, got 3"),
        (made(channels=lambda self, model: [1]), TypeError, "Part: channels must return a list of ocp.Channel, got 1"),
        (made(derivatives=lambda self, x: 1), TypeError, "component Part: derivatives must return a dict by names"),
        (made(derivatives=lambda self, x: {"z": 1}), KeyError, "component Part: derivatives: no channel 'z'"),
        (made(derivatives=lambda self, x: {"u": 1}), KeyError, "component Part: derivatives: no channel 'u'"),
        (
            made(derivatives=lambda self, x: {"y": ca.SX(3, 1)}),
            ValueError,
            "'y' has 2 entries, got the shape \\(3, 1\\)",
        ),
        (made(derivatives=lambda self, x: x["v"]), ValueError, "no channel 'v' is known at this instant; there are"),
        (made(force=lambda self, x: ca.SX(2, 1) + 1), ValueError, "force must return one number per dof, nv = 1"),
        (made(force=lambda self, x: x.qdd), ValueError, "component Part: force must return"),
        (made(rows=lambda self, x: (1, 2)), ValueError, "rows must return \\(expression, lower, upper\\)"),
        (made(check=lambda self, model: model.body("no")), KeyError, "no"),
        (
            made(derivatives=lambda self, x: {"y": ca.vertcat(0, np.nan * x["u"])}),
            ValueError,
            "component Part: derivatives: y 1 contains NaN",
        ),
        (made(force=lambda self, x: ca.sqrt(-1.0) * x.q), ValueError, "component Part: force: joint1 contains NaN"),
        (made(rows=lambda self, x: (x["u"] + np.nan, 0, 1)), ValueError, "component Part: rows: row 0 contains NaN"),
        (made(force=lambda self, x: 2 * x.lam), ValueError, r"Here instant.qdd and instant.lam and .* is None: see oc"),
        (made(force=lambda self, x: 2 * x.tau_rate), ValueError, r"Here instant.qdd .* and instant.tau_rate is None"),
        (made(force=lambda self, x: x.values["T"]), ValueError, "force: the function raised KeyError: 'T'"),
        (made(force=lambda self, x: x.values["step_length"]), ValueError, "raised KeyError: 'step_length'"),
        (made().__class__, TypeError, "components must be ocp.Components, got .*: write Part\\(\\)"),
        (made(derivatives=lambda self, x: {}), ValueError, "no row determines the derivative of the state 'y': return"),
        (
            made(channels=lambda self, model: [ocp.Channel("y", labels=2), ocp.Channel("u", "algebraic")]),
            ValueError,
            "no row determines the algebraic channel 'u': use instant\\['u'\\] in rows, or make it a control",
        ),
    ],
)
def test_components_are_tried_when_the_problem_is_made(component: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        problem(component)


def test_rates_of_states_are_known_in_rows_of_shooting_and_nowhere_else() -> None:
    part = made(derivatives=lambda self, x: {"y": ca.vertcat(x.rates["y"][1], 0)})
    shot = problem(part, form="explicit")
    with pytest.raises(ValueError, match=r"derivatives: .*no rate of 'y' is known at this instant; there are none"):
        transcribe(shot).program.assemble()


def test_the_step_of_a_period_is_known() -> None:
    part = made(force=lambda self, x: x.values["step_length"] * x["u"])
    again = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    transcribe(problem(part, periodic=again)).program.assemble()


def test_first_values_out_of_bounds_are_told() -> None:
    def bounded(neutral: Any, **methods: Any) -> ocp.Problem:
        def channels(self: Any, model: od.Model) -> list[ocp.Channel]:
            return [ocp.Channel("y", bounds=(1, 2), neutral=neutral)]

        return problem(made(channels=channels, derivatives=lambda self, x: {"y": 0}, **methods))

    assert bounded(None).check() == []
    (told,) = bounded(0.5).check()
    assert told.startswith("the first guess of the y at t = 0.000 s of swing is 0.5, out of its bounds 1 to 2")
    (told,) = bounded(None, guess=lambda self, x: {"y": 3 + x.q}).check()
    assert told.startswith("the first guess of the y at t = 0.000 s of swing is 3, out of its bounds 1 to 2")


def test_a_fixed_start_of_a_state_that_repeats_is_told() -> None:
    again = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    begin = ocp.Boundary(lambda s, e: (s["y"][1] - 1, 0, 0))
    (told,) = (x for x in problem(made(), periodic=again, boundary=[begin]).check() if "start" in x)
    assert told.startswith("the start of y 1 is fixed, and the state repeats with the motion")


def test_a_misspelled_method_is_an_error_when_the_class_is_made() -> None:
    with pytest.raises(TypeError, match="its derivative is read by nobody: did you mean 'derivatives'"):
        type("Part", (ocp.Component,), {"channels": lambda self, model: [], "derivative": lambda self, x: {}})


def test_names_are_given_once() -> None:
    with pytest.raises(ValueError, match="two components declare the channel 'y'"):
        problem(made(), made())
    with pytest.raises(ValueError, match="Channel 'u' has the name of a parameter of the problem"):
        problem(made(), parameters=[ocp.Parameter("u", 1.0)])


def test_a_problem_without_components_has_no_more_variables() -> None:
    plain, more = (transcribe(problem(*parts)).program for parts in ((), (made(),)))
    assert more.size == plain.size + 5 * 2 + 4 * 1 + 4 * 2  # y at the nodes, u on the intervals, the rates of y
    assert [v.name for v in plain.variables] == [v.name for v in more.variables if v.name[0] not in "yu"]


@pytest.mark.slow
def test_algebraic_channels_and_bounded_rates() -> None:
    """p = 1 + q^2 at the stages; a control that moves at most by 0.5 per second, and is drawn to the time."""

    class Part(ocp.Component):
        def channels(self, model: od.Model) -> list[ocp.Channel]:
            return [ocp.Channel("p", "algebraic"), ocp.Channel("u", "control", rate=0.5), ocp.Channel("y", rate=2.0)]

        def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
            return {"y": 5.0 * instant.s + instant.rates["u"]}

        def rows(self, instant: ocp.Instant) -> Any:
            return instant["p"] - 1 - instant.q**2

    drawn = ocp.Integral(lambda instant: (instant["u"] - instant.s) ** 2, name="drawn")
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1, e.qd, s["u"]), 0, 0))
    for form in ("implicit", "explicit"):
        phase = ocp.Phase("swing", 10, 1.0, objective=[ocp.TorqueSquared(1e-3), drawn])
        solution = ocp.Problem(ROD, [phase], boundary=[ends], components=[Part()], form=form).solve(progress=False)
        assert solution.status in ("Infeasible", "Infeasible_Problem_Detected")  # y' exceeds its bound
        free = replace(SWING, intervals=10, objective=phase.objective)
        easy = ocp.Problem(ROD, [free], boundary=[ends], components=[_Slow()], form=form).solve(progress=False)
        assert easy.converged
        assert np.diff(easy["u"][:, 0]).max() == pytest.approx(0.05, abs=1e-6)
        assert easy["p"].shape == (10, 1)
        assert easy["p"][-1, 0] == pytest.approx(1 + 1.0, abs=0.1)


class _Slow(ocp.Component):
    """The same without the state."""

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        return [ocp.Channel("p", "algebraic"), ocp.Channel("u", "control", rate=0.5)]

    def rows(self, instant: ocp.Instant) -> Any:
        return instant["p"] - 1 - instant.q**2


def test_states_go_on_from_phase_to_phase_and_over_impacts() -> None:
    halves = [ocp.Phase(name, 4, 0.5, objective=[ocp.TorqueSquared()]) for name in ("first", "second")]
    for transition in (ocp.Continuous(), ocp.Impact()):
        found = transcribe(ocp.Problem(ROD, halves, [transition], components=[made()]))
        assert found.phases[1]["y"][0] is found.phases[0]["y"][-1]
    jump = ocp.Jump(lambda end, start: (ca.vertcat(start.q - end.q, start.qd - end.qd, start["y"] + end["y"]), 0, 0))
    start = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1, e.qd, s["y"] - 3), 0, 0))
    still = made(derivatives=lambda self, x: {"y": 0})
    effort = ocp.Integral(lambda x: x["u"] ** 2)
    halves = [replace(phase, objective=[ocp.TorqueSquared(), effort]) for phase in halves]
    solution = ocp.Problem(ROD, halves, [jump], boundary=[start], components=[still]).solve(progress=False)
    assert solution.converged
    close(solution.phases[1]["y"], -3 * np.ones((5, 2)), 1e-6)


def test_unknown_channels_of_a_solution() -> None:
    solution = ocp.Problem(ROD, [SWING]).solve(progress=False)
    assert np.array_equal(solution["tau"], solution.tau)
    with pytest.raises(KeyError, match="this motion: no channel 'taus': did you mean 'tau'"):
        solution["taus"]
    with pytest.raises(ValueError, match="lam has other columns in every phase"):
        solution["lam"]


@pytest.mark.parametrize("qp", ["riccati", "piqp"])
def test_channels_are_part_of_the_chain_of_stages(qp: str) -> None:
    """A real-time iteration from a solution stays there, and from a moved start it goes to the new solution."""
    heat = made(derivatives=lambda self, x: {"y": ca.vertcat(x["u"], x.tau**2)})
    cost = ocp.Integral(lambda x: x.tau**2 + x["u"] ** 2 + x["y"][0] ** 2, name="effort")
    begin = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["q0"], s.qd, s["y"] - 1), 0, 0))
    end = ocp.Boundary(lambda s, e: (ca.vertcat(e.q - 0.3, e.qd), 0, 0), "end")
    steered = ocp.Problem(
        ROD, [replace(SWING, objective=[cost])], boundary=[begin, end], components=[heat],
        parameters=[ocp.Parameter("q0", 0.0)],
    )  # fmt: skip
    control = steered.rti(steered.solve(progress=False), qp=qp, hessian="gauss-newton")
    for _ in range(4 if qp == "riccati" else 3):
        control.feedback(q0=0.1)
    wanted = steered.solve(values={"q0": 0.1}, progress=False)
    close(control.solution()["y"], wanted["y"], 1e-2)


class _Pushed(ocp.Component):
    """A force u on the rod that is linear along the intervals, its integral y, and w, whose rate is that of u."""

    def __init__(self, rate: float | None = np.inf) -> None:
        self.given = rate

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        return [ocp.Channel("u", "control", rate=self.given), ocp.Channel("y"), ocp.Channel("w")]

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        return {"y": instant["u"], "w": instant.rates["u"] if self.given else 0}

    def force(self, instant: ocp.Instant) -> Any:
        return instant["u"]


def pushed(component: ocp.Component, **options: Any) -> ocp.Problem:
    effort = ocp.Integral(lambda x: x["u"] ** 2 + 1e2 * x.tau**2, name="effort")
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1, e.qd, s["y"], s["w"]), 0, 0))
    settings: dict[str, Any] = {"boundary": [ends], "integrator": "gauss:3"} | options
    return ocp.Problem(ROD, [replace(SWING, intervals=10, objective=[effort])], components=[component], **settings)


@pytest.mark.parametrize("options", [{}, {"steps": 2}, {"form": "explicit", "integrator": "rk4", "steps": 3}], ids=str)
@pytest.mark.slow
def test_a_control_with_a_rate_is_linear_along_intervals(options: dict[str, Any]) -> None:
    solution = pushed(_Pushed(), **options).solve(progress=False)
    assert solution.converged
    u, y, w = (solution[name][:, 0] for name in "uyw")
    assert u.size == 11
    close(np.diff(y), 0.1 * (u[1:] + u[:-1]) / 2, 1e-8)
    close(w, u - u[0], 1e-8)
    assert np.ptp(u) > 0.1
    assert solution.defects().angle < (1e-7 if not options.get("form") else 1e-5)


def test_a_control_without_a_rate_is_constant_on_intervals() -> None:
    solution = pushed(_Pushed(None)).solve(progress=False)
    assert solution["u"].shape == (10, 1)
    close(np.diff(solution["y"][:, 0]), 0.1 * solution["u"][:, 0], 1e-8)
    assert solution.defects().angle < 1e-7


def test_controls_with_a_rate_are_no_chain_of_stages() -> None:
    problem = pushed(_Pushed())
    with pytest.raises(ValueError, match="two intervals share the values of u at a node"):
        problem.rti(problem.solve(progress=False), qp="riccati")


@pytest.mark.parametrize("periodic", [True, False])
def test_channels_repeat_with_a_period_unless_they_need_not(periodic: bool) -> None:
    class Counter(ocp.Component):
        def channels(self, model: od.Model) -> list[ocp.Channel]:
            return [ocp.Channel("count", periodic=periodic)]

        def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
            return {"count": 1.0}

    again = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    problem = ocp.Problem(ROD, [SWING], periodic=again, components=[Counter()])
    if periodic:
        assert "ends: periodic count" in transcribe(problem).program.assemble().row_names
        return
    solution = problem.solve(progress=False)
    close(solution["count"][-1] - solution["count"][0], [1.0], 1e-8)
    assert solution.floquet().basis.shape == (2, 2)  # what need not repeat is no disturbance


def test_files_take_the_components_of_their_problem_only(tmp_path: Any) -> None:
    path = pushed(_Pushed()).solve(progress=False).save(tmp_path / "pushed.npz")
    assert ocp.Solution.load(path, components=[_Pushed(), ocp.Activation()]).components
    with pytest.raises(ValueError, match="npz: components declare the channels y, u, and the file has u, y, w"):
        ocp.Solution.load(path, components=[made()])
    other = "the channel 'u' as control without a rate of size 1 .* and the file has 'u' as control with a rate of size"
    with pytest.raises(ValueError, match=other) as error:
        ocp.Solution.load(path, components=[_Pushed(None)])
    assert "damaged" not in str(error.value)
    with pytest.raises(TypeError, match="those of the problem, got"):
        ocp.Solution.load(path, components=[3])


class _Timed(ocp.Component):
    """A force and a derivative that use the fraction of the phase, the slope of a control and that of the torque."""

    def channels(self, model: od.Model) -> list[ocp.Channel]:
        return [ocp.Channel("u", "control", rate=np.inf), ocp.Channel("y")]

    def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
        return {"y": instant.s**2 + 0.1 * instant.tau_rate}

    def force(self, instant: ocp.Instant) -> Any:
        return 3 * instant.s + 0.2 * instant.rates["u"] + 0.1 * instant.tau_rate


@pytest.mark.parametrize("options", [{}, {"form": "explicit", "integrator": "rk4", "steps": 3}], ids=str)
@pytest.mark.slow
def test_forces_that_depend_on_time_and_slopes_are_those_of_the_program(options: dict[str, Any]) -> None:
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1, e.qd, s["y"]), 0, 0))
    solution = pushed(_Timed(), torque="linear", boundary=[ends], **options).solve(progress=False)
    assert solution.converged
    assert solution.defects().angle < 1e-5
    if options:
        phase = solution.phases[0]
        slope = np.diff(phase["u"], axis=0) / 0.1
        force = 3 * np.arange(10)[:, None] / 10 + 0.2 * slope + 0.1 * phase.tau_rate
        torques, dynamics = phase.tau - 0.05 * phase.tau_rate + force, solution.equations.forward_dynamics
        states = zip(phase.q[:-1], phase.qd[:-1], torques, strict=True)
        wanted = [float(dynamics((), *map(ca.DM, z))[0]) for z in states]
        close(phase.qdd[:, 0], wanted, 1e-9)


def test_channels_have_other_names_than_the_variables_of_the_program() -> None:
    """The end of y is no channel y_end."""

    class Part(ocp.Component):
        def channels(self, model: od.Model) -> list[ocp.Channel]:
            return [ocp.Channel(name) for name in ("y", "y_end", "q_end", "q_before", "place0")]

        def derivatives(self, instant: ocp.Instant) -> dict[str, Any]:
            return {"y": 1, "y_end": 2, "q_end": 3, "q_before": 4, "place0": 5}

    names = ("y", "y_end", "q_end", "q_before", "place0")
    start = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1, e.qd, *(e[name] - 1 for name in names)), 0, 0))
    solution = problem(Part(), boundary=[start]).solve(progress=False)
    assert solution.converged
    for k, name in enumerate(names):
        close(solution[name][[0, -1], 0], [1 - (k + 1), 1], 1e-7)
    with pytest.raises(ValueError, match="Channel 'T0': the name is a name of the library"):
        ocp.Channel("T0")


def test_derivatives_are_of_the_same_states_in_all_phases() -> None:
    foot = ocp.Foothold(od.Contact(ROD.body_names[-1], axes="x"), x=0, y=0)
    halves = [replace(SWING, name="one"), ocp.Phase("two", 4, 1.0, [foot])]
    part = made(
        derivatives=lambda self, x: {} if x.wrenches else {"y": 1},
        rows=lambda self, x: x.rates["y"] - 1,
    )
    with pytest.raises(ValueError, match="derivatives gives that of 'y' in phase 0 and not in phase 1: give it in all"):
        ocp.Problem(ROD, halves, components=[part])


def test_rows_with_bounds_may_be_a_list() -> None:
    for rows in (lambda self, x: [x["u"], -1, 2.0], lambda self, x: (x["u"], -1, 2.0)):
        instant = ocp.Instant(ROD, ca.SX(0), ca.SX(0), channels={"u": ca.SX.sym("u")})
        ((_, value, lower, upper),) = problem(made(rows=rows)).parts.rows(instant)
        assert (value.shape, lower, upper) == ((1, 1), -1, 2.0)
