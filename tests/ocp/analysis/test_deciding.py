"""Bounds that decide a result: which ones show, in which unit, merged how, and what they are worth."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.motion.program_table import ProgramTable

REST = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0))


def turning(effort: float = np.inf, duration: Any = 1.0, velocity: float = np.inf) -> ocp.Problem:
    """A rotor turned by 1 rad from rest to rest."""
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=effort, velocity=velocity)
    phase = ocp.Phase("turn", 20, duration, objective=(ocp.TorqueSquared(),))
    return ocp.Problem(builder.build(), [phase], boundary=[REST])


def turn(*arguments: Any, **options: Any) -> ocp.Solution:
    return turning(*arguments, **options).solve(progress=False, tolerance=1e-9)


@pytest.mark.slow
def test_multipliers_are_derivatives_of_the_cost() -> None:
    """A stronger motor and a later end make the turn cheaper: at the rate of the multipliers."""
    found = turn(4.5).deciding()
    assert [(e.name, e.side, e.bound, e.unit, e.phases) for e in found] == [
        ("torque of disc_joint", "upper", 4.5, "N m", ("turn",)),
        ("torque of disc_joint", "lower", -4.5, "N m", ("turn",)),
    ]
    assert [(e.start, e.end, e.times) for e in found] == [(pytest.approx(0), pytest.approx(15), 4),
                                                         (pytest.approx(80), pytest.approx(95), 4)]  # fmt: skip
    rate = (turn(4.5).objective - turn(4.5 + 1e-3).objective) / 1e-3
    assert sum(e.multiplier for e in found) == pytest.approx(rate, rel=2e-3)
    assert found[0].worth == pytest.approx(found[0].multiplier * 9 / turn(4.5).objective)
    late = turn(duration=(0.5, 0.9))
    rate = (late.objective - turn(duration=(0.5, 0.9001)).objective) / 1e-4
    assert late.deciding()[0].multiplier == pytest.approx(rate, rel=1e-3)
    assert late.deciding().line == "duration of turn (upper 0.9 s)"


@pytest.mark.slow
def test_a_speed_limit_is_told_in_degrees() -> None:
    found = turn(velocity=1.4).deciding()
    assert [e.text for e in found] == ["speed of disc_joint (upper 80.2 deg/s)"]
    rate = (turn(velocity=1.4).objective - turn(velocity=1.4 + 1e-4).objective) / 1e-4
    assert np.degrees(found[0].multiplier) == pytest.approx(rate, rel=2e-3)


def program(*variables: tuple[str, str, int, float, float, float, float, float, float]) -> ocp.Solution:
    """A solution with one entry of its program for each (name, label, phase, time, lower, upper, x, multiplier, scale).

    Equal names are entries of one variable. The objective is 10, the motion takes 2 s.
    """
    builder = od.ModelBuilder("crane")
    builder.add_body("cart", od.Prismatic("x"), mass=1.0)
    builder.add_body("arm", od.Revolute("y"), "cart", mass=1.0, com=(0, 0, -1), inertia=(1, 1, 1))
    model = builder.build()
    assert (model.q_names, model.qd_names) == (("cart_joint", "arm_joint"), ("cart_joint", "arm_joint"))
    names, labels, phase, time, lower, upper, x, lam, scale = zip(*variables, strict=True)
    known, told = tuple(dict.fromkeys(names)), tuple(dict.fromkeys(filter(None, labels)))
    nothing, whole = np.zeros(0), np.zeros(0, dtype=int)
    record = ProgramTable(
        known, told, ("one", "two"), (), (), np.array([known.index(n) for n in names]),
        np.array([names[:k].count(n) for k, n in enumerate(names)]),
        np.array([told.index(n) if n else -1 for n in labels]), np.array(phase), np.array(time), np.array(scale),
        np.array(lower), np.array(upper), whole, whole, whole, nothing, nothing, nothing, nothing, whole, nothing,
    )  # fmt: skip
    values = np.array(x) / np.array(scale)
    iterate = {"x": values, "lam_x": np.array(lam) * np.array(scale), "lam_g": nothing}
    still = ocp.PhaseMotion(
        "one", np.array([0.0, 2.0]), *(np.zeros((n, 2)) for n in (2, 2, 1, 1)), np.zeros((1, 0)), (), {}
    )
    stats = {"converged": True, "status": "hand-made"}
    return ocp.Solution(model, (still,), {"cost": 10.0}, (), 0.0, False, stats, iterate, record)


NONE, INF = float("nan"), np.inf


def test_every_kind_has_its_name_unit_and_order() -> None:
    """Bounds of the problem first, then those of the joints by what they are worth; equal ones at all times are one."""
    found = program(
        ("q one[1]", "arm_joint", 0, 0.5, -1.0, 1.0, 1.0, 0.5, 1.0),
        ("q two[3]", "arm_joint", 1, 1.5, -1.0, 1.0, 1.0, 1.5, 1.0),
        ("q two[3]", "cart_joint", 1, 1.5, -1.0, 2.0, -1.0, -1.0, 1.0),
        ("qd one[1]", "cart_joint", 0, 0.5, -2.0, 2.0, 2.0, 0.1, 1.0),
        ("tau one[1]", "cart_joint", 0, 0.5, -50.0, 50.0, 50.0, 0.001, 100.0),
        ("place of foot", "", -1, NONE, 0.0, 1.0, 0.5, 0.0, 1.0),
        ("place of foot", "", -1, NONE, -1.0, 0.25, 0.25, 1.0, 1.0),
        ("place of foot", "", -1, NONE, -0.1, 0.1, -0.1, -1.0, 1.0),
        ("step_length", "", -1, NONE, 0.0, 0.8, 0.8, 0.02, 1.0),
        ("duration of one", "", -1, NONE, 0.0, 0.1, 0.1, 1.0, 1.0),
        ("mass", "", -1, NONE, 1.0, INF, 1.0, -0.001, 1.0),
        ("gains", "", -1, NONE, 0.0, 1.0, 1.0, 0.001, 1.0),
        ("gains", "", -1, NONE, 0.0, 1.0, 0.0, -0.0005, 1.0),
    ).deciding()  # fmt: skip
    assert [(e.kind, e.name, e.side, e.value) for e in found] == [
        ("place", "place of foot, y", "upper", "0.25 m"),
        ("place", "place of foot, yaw", "lower", "-5.7 deg"),
        ("duration", "duration of one", "upper", "0.1 s"),
        ("parameter", "step_length", "upper", "0.8 m"),
        ("parameter", "mass", "lower", "1"),
        ("parameter", "gains[0]", "upper", "1"),
        ("parameter", "gains[1]", "lower", "0"),
        ("position", "arm_joint", "upper", "57.3 deg"),
        ("position", "cart_joint", "lower", "-1 m"),
        ("velocity", "speed of cart_joint", "upper", "2 m/s"),
        ("torque", "torque of cart_joint", "upper", "50 N"),
    ]
    arm = found[7]
    assert (arm.phases, arm.start, arm.end, arm.times) == (("one", "two"), 25.0, 75.0, 2)
    assert arm.multiplier == pytest.approx(np.radians(2.0))  # per degree
    assert arm.worth == pytest.approx(2.0 * 2.0 / 10)
    torque, mass = found[10], found[4]
    assert torque.multiplier == pytest.approx(0.001)
    assert torque.worth == pytest.approx(0.001 * 100 / 10)
    assert mass.worth == pytest.approx(1e-4)  # over the size of the bound: the other one is infinite


def test_what_decides_nothing_does_not_show() -> None:
    """Slacks at zero, fixed and free variables, bounds that are touched without pressure, and noise."""
    entry = ("q one[1]", "arm_joint", 0, 0.5, -1.0, 1.0)
    assert not program(
        ("slack0 one[2]", "", -1, NONE, 0.0, INF, 0.0, -3.0, 1.0),
        ("activation one[2]", "arm_joint", 0, 0.1, 0.0, 1.0, 0.0, -3.0, 1.0),
        ("peak torque", "", -1, NONE, 0.0, INF, 0.0, -3.0, 1.0),
        ("duration of one", "", -1, NONE, 0.1, 0.1, 0.1, 3.0, 1.0),
        (*entry, 0.5, 0.0, 1.0),
    ).deciding()  # fmt: skip
    touched = program((*entry, 1.0, 4e-5, 1.0))
    assert not touched.deciding()
    assert [e.name for e in touched.deciding(least=1e-6)] == ["arm_joint"]
    assert not program((*entry, 1.0, 1e-7, 1.0)).deciding(least=0.0)  # below the solver's resolution
    assert str(touched.deciding()) == "no bound decides"


def test_numbers_of_any_size_have_digits_enough() -> None:
    found = program(
        ("q one[1]", "arm_joint", 0, 0.5, -1.0, np.radians(0.25), np.radians(0.25), 0.5, 1.0),
        ("tau one[1]", "arm_joint", 0, 0.5, -1.0, 12345.0, 12345.0, 0.5, 1.0),
    ).deciding()
    assert {e.value for e in found} == {"0.25 deg", "12345 N m"}


def test_a_bound_of_zero_alone_is_worth_the_size_of_its_variable() -> None:
    """The pair of a bound at zero and an infinite one has no range."""
    (found,) = program(("qd one[1]", "arm_joint", 0, 0.5, 0.0, INF, 0.0, -0.2, 3.0)).deciding()
    assert found.worth == pytest.approx(0.2 * 3.0 / 10)


def test_small_objectives_have_shares_too() -> None:
    solution = program(("duration of one", "", -1, NONE, 0.0, 0.1, 0.1, 1e-4, 1.0))
    (found,) = replace(solution, cost={"cost": 1e-3}).deciding()
    assert found.worth == pytest.approx(0.01)


def test_a_parameter_called_slack_is_a_parameter() -> None:
    found = program(
        ("slack", "", -1, NONE, 0.0, 1.0, 0.0, -0.5, 1.0), ("slack0 turn[3]", "", -1, NONE, 0.0, 1.0, 0.0, -0.5, 1.0)
    ).deciding()
    assert [(e.kind, e.text) for e in found] == [("parameter", "slack (lower 0)")]


def test_full_activation_of_a_muscle_decides() -> None:
    full = program(("activation one[2]", "arm_joint", 0, 0.1, 0.0, 1.0, 1.0, 3.0, 1.0))
    assert full.deciding().line == "arm_joint (upper 1)"


def test_one_line_names_four_values_and_counts_the_rest() -> None:
    def parameter(name: str, upper: float, multiplier: float) -> tuple[Any, ...]:
        return (name, "", -1, NONE, 0.0, upper, upper, multiplier, 1.0)

    found = program(*(parameter(name, size, 1.0 - 0.1 * k) for k, (name, size) in enumerate(
        zip("abcdefg", (1.0, 2.0, 1.0, 3.0, 4.0, 5.0, 6.0), strict=True)))).deciding()  # fmt: skip
    assert [e.name for e in found] == list("fegdbac")
    assert found.line == "f (upper 5), e (upper 4), g (upper 6), d (upper 3) and 3 more, see solution.deciding()"
    assert program(*(parameter(name, 1.0, 1.0) for name in "ab")).deciding().line == "a and b (upper 1)"
    many = program(*(parameter(name, 1.0, 1.0) for name in "abcdef")).deciding().line
    assert many == "a, b, c and 3 others (upper 1)"


@pytest.mark.slow
def test_reports_show_them(capsys: pytest.CaptureFixture[str]) -> None:
    """The end of a solve, `print`, the summary, tables, and JSON; not a run that did not converge."""
    solution = turn(4.5)
    line = "torque of disc_joint (upper 4.5 N m), torque of disc_joint (lower -4.5 N m)"
    assert str(solution).splitlines() == [repr(solution), f"bounds that decide: {line}"]
    assert solution.summary(defects=False).rows()[-1] == ("bounds that decide", line)
    assert line in solution._repr_html_()
    assert "0 - 15" in solution.deciding()._repr_html_()
    row = str(solution.deciding()).splitlines()[1].split("  ")
    assert [cell.strip() for cell in row if cell] == [
        "torque of disc_joint",
        "upper",
        "4.5 N m",
        "turn",
        "0 - 15",
        "4",
        "0.706 per N m",
    ]
    plain = turn(duration=(0.5, 0.9)).deciding().as_dicts()
    assert json.loads(json.dumps(plain)) == plain
    assert (plain[0]["name"], plain[0]["start"], plain[0]["phases"]) == ("duration of turn", None, [])
    failed = replace(solution, stats={**solution.stats, "converged": False})
    assert str(failed) == repr(failed)
    assert not failed.summary(defects=False).bounds
    assert str(replace(solution, record=None)).count("\n") == 0
    with pytest.raises(ValueError, match="solve the problem again"):
        replace(solution, record=None).deciding()
    assert "bounds that decide" not in str(turn())


def test_a_solve_tells_them_once_at_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    problem = turning(duration=(0.5, 0.9))
    problem.solve(progress=False)
    assert capsys.readouterr().err == ""
    problem.solve()
    assert capsys.readouterr().err.splitlines()[-1] == "bounds that decide: duration of turn (upper 0.9 s)"
