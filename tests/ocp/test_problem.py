"""Problems: published results, two forms of one problem, the physics of solutions, files, errors."""

import dataclasses

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import human, pendulum
from problems import five_link, human_walk


@pytest.mark.slow
def test_five_link_multiple_shooting_gives_the_published_figures():
    """With the rows that keep the knees from bending backward, and without."""
    problem = five_link.problem("explicit", 50)
    solution = problem.solve(progress=False)
    assert solution.converged
    assert solution.objective == pytest.approx(469.943901, abs=1e-5)
    defects = solution.defects()
    assert defects.angle < 1e-6
    assert defects.open_loop_angle < 1e-3
    problem = dataclasses.replace(problem, limits=False)
    assert problem.solve(progress=False, guess=solution).objective == pytest.approx(469.8006, abs=1e-4)


@pytest.mark.slow
def test_five_link_implicit_midpoint_approaches_the_converged_figure():
    errors = [abs(five_link.problem("implicit", n).solve(progress=False).objective - 469.650) for n in (25, 50)]
    assert errors[1] < 0.002 * 469.65
    assert 3.4 < errors[0] / errors[1] < 4.6  # second order


def test_a_minimum_time_swing_is_bang_bang():
    """Double integrator in a pendulum's clothes: no gravity, unit inertia; from rest to rest in 2 sqrt(d / a)."""
    builder = od.ModelBuilder("rotor", gravity=(0, 0, 0))
    builder.add_body("disc", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=2.0)

    def ends(start, end):
        zero = (start.q, start.qd, end.q - 1.0, end.qd)
        return ca.vertcat(*zero), 0.0, 0.0

    time = ocp.Integral(lambda instant: 1.0, name="time")
    for form in ("explicit", "implicit"):
        phase = ocp.Phase("swing", 40, (0.5, 4.0), objective=(time,))
        solution = ocp.Problem(builder.build(), [phase], boundary=(ocp.Boundary(ends),), form=form).solve(
            progress=False
        )
        assert solution.converged
        assert solution.duration == pytest.approx(2 * np.sqrt(1 / 2), rel=1e-4)
        assert solution.cost["time"] == pytest.approx(solution.duration)


@pytest.mark.slow
def test_what_did_not_converge_says_so():
    solution = five_link.problem("explicit", 20).solve(progress=False, max_iterations=2)
    assert not solution.converged
    assert solution.status == "Maximum_Iterations_Exceeded"


@pytest.mark.slow
def test_progress_is_shown(capsys):
    five_link.problem("explicit", 10).solve()
    shown = capsys.readouterr().err
    assert "solving for" in shown
    assert "infeasibility" in shown


def test_problems_are_checked():
    model = pendulum(2)
    phase = ocp.Phase("swing", 10, 1.0)
    with pytest.raises(ValueError, match="at least one Phase"):
        ocp.Problem(model, [])
    with pytest.raises(ValueError, match="must have different names"):
        ocp.Problem(model, [phase, phase])
    with pytest.raises(ValueError, match="2 phases need 1 transitions"):
        ocp.Problem(model, [phase, ocp.Phase("next", 5, 1.0)], transitions=[ocp.Impact(), ocp.Impact()])
    with pytest.raises(ValueError, match="only a Periodic problem"):
        ocp.Problem(model, [phase], per_distance=True)
    with pytest.raises(KeyError, match="no frame 'foot'"):
        ocp.Problem(model, [ocp.Phase("stand", 5, 1.0, (ocp.Foothold(od.Contact("foot")),))])
    with pytest.raises(ValueError, match="intervals must be at least 1"):
        ocp.Phase("swing", 0, 1.0)
    with pytest.raises(ValueError, match="duration must be positive"):
        ocp.Phase("swing", 5, (-1.0, 1.0))
    with pytest.raises(ValueError, match="lower <= upper"):
        ocp.Phase("swing", 5, (2.0, 1.0))
    with pytest.raises(ValueError, match="Foothold y must be"):
        ocp.Foothold(od.Contact("foot"), y=(1.0, 0.0))


def test_actuation():
    assert ocp.Problem(human(), [ocp.Phase("fall", 5, 0.1)]).actuated == list(range(6, 29))
    assert ocp.Problem(pendulum(2), [ocp.Phase("fall", 5, 0.1)]).actuated == [0, 1]
    assert ocp.Problem(pendulum(2), [ocp.Phase("fall", 5, 0.1)], unactuated=("joint2",)).actuated == [0]


@pytest.mark.slow
def test_wrong_options_are_told_before_anything_is_solved(tmp_path, capsys):
    (tmp_path / "file").write_text("in the way")
    for module, options, message in (
        (five_link, ["--intervals", "0"], "intervals must be at least 1"),
        (five_link, ["--out", str(tmp_path / "file")], "no file can be written there"),
        (human_walk, ["--out", str(tmp_path / "file" / "below")], "no file can be written there"),
        (human_walk, ["--speed", "-1"], "between 0.5 and 2.2 m/s"),
    ):
        with pytest.raises(SystemExit):
            module.main(options)
        assert message in capsys.readouterr().err
