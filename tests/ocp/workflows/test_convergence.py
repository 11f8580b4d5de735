"""Solutions that did not converge say so: a warning, an error, Ctrl-C; and all that is made from them."""

import signal
import warnings

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.gait.gait import Gait
from ocp_dyn.ocp.solvers import monitor
from ocp_dyn.ocp.workflows import attempt
from ocp_dyn.ocp.workflows.refinement import ladder

MARK = "NOT CONVERGED (Infeasible)"


def turn(angle=1.0, effort=2.0, count=6, **options):
    """A wheel of 1 kg m^2 that turns within 1 s; torques of at most `effort` reach angles up to effort / 4."""
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1), effort=effort)
    goal = ocp.Boundary(
        lambda start, end: (ca.vertcat(start.q, start.qd, end.q - end.values["angle"], end.qd), 0, 0),
        name="to the goal",
    )
    phase = ocp.Phase("turn", count, 1.0, objective=[ocp.TorqueSquared()], **options)
    return ocp.Problem(builder.build(), [phase], boundary=[goal], parameters=[ocp.Parameter("angle", angle)])


@pytest.fixture(scope="module")
def failed():
    return turn().solve(progress=False)


def interrupt(monkeypatch, iteration=1):
    """Ctrl-C in this iteration of every run that follows."""
    see = monitor.Monitor.see

    def interrupted(self, *arguments):
        see(self, *arguments)
        if self.iteration == iteration:
            signal.raise_signal(signal.SIGINT)
        return self.stop

    monkeypatch.setattr(monitor.Monitor, "see", interrupted)


def test_a_silent_solve_that_fails_warns_with_the_verdict():
    problem = turn()
    with pytest.warns(ocp.NotConvergedWarning, match="not converged: Infeasible: no motion satisfies") as caught:
        problem.solve(progress=False)
    assert caught[0].filename == __file__  # the line of the user, not one of the library
    with pytest.warns(ocp.NotConvergedWarning):
        ocp.solve(problem, progress=False)


def test_nothing_warns_where_it_was_printed_or_converged(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turn().solve()
        assert "no motion satisfies" in capsys.readouterr().err
        turn(0.3).solve(progress=False, check=True)


def test_check_raises_with_the_solution():
    with pytest.raises(ocp.NotConverged, match="Infeasible: no motion satisfies") as caught:
        turn().solve(progress=False, check=True)
    assert caught.value.solution.status == "Infeasible"
    with pytest.raises(TypeError, match="check"):
        turn().solve(check=1)
    with pytest.raises(ValueError, match="interrupt"):
        turn().solve(interrupt="ignore")


def test_ctrl_c_ends_loops_and_keeps_the_iterate(monkeypatch):
    problem = turn(0.3)
    interrupt(monkeypatch)
    with pytest.raises(KeyboardInterrupt) as caught:
        problem.solve(progress=False)
    assert caught.value.solution.status == "Interrupted"
    assert caught.value.solution.q.shape == (7, 1)
    assert problem.solve(progress=False, interrupt="return").status == "Interrupted"
    with pytest.raises(ocp.Interrupted) as caught:
        ocp.multistart(problem, 3, progress=False)
    assert caught.value.found.failed == {0: "Interrupted"}


def test_a_ladder_that_is_stopped_while_it_builds_keeps_the_coarse_motion(monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(ladder, "solved_on", stopped)
    with pytest.raises(ocp.Interrupted) as caught:
        turn(0.3, count=16).solve(ladder=True, progress=False)
    assert caught.value.solution.q.shape[0] < 17
    assert caught.value.solution.q[-1, 0] == pytest.approx(0.3)
    monkeypatch.setattr(attempt, "prepare", stopped)
    with pytest.raises(KeyboardInterrupt) as caught:  # nothing was found yet
        turn(0.3).solve(progress=False)
    assert not isinstance(caught.value, ocp.Interrupted)


def test_a_ladder_goes_on_without_a_plugin_that_refuses_its_start(monkeypatch):
    def refuses(*_):
        raise ValueError("its QPs must be convex")

    monkeypatch.setattr(ladder, "solved_on", refuses)
    found = turn(0.3, count=16).solve(ladder=True, progress=False)
    assert found.converged
    assert [one["intervals"] for one in found.stats["ladder"]] == [[4], [16]]


@pytest.mark.slow
def test_values_that_are_not_reached_are_told():
    with pytest.warns(ocp.NotConvergedWarning, match="angle = 1 was not reached: not converged: Infeasible"):
        found = ocp.solve_along(turn(0.3), angle=[0.3, 1.0], solve={"progress": False})
    assert [one.converged for one in found] == [True, False]


def test_a_continuation_that_is_stopped_keeps_what_it_found(monkeypatch):
    problem = turn(0.3)
    found = ocp.solve_along(problem, angle=[0.3], solve={"progress": False})
    interrupt(monkeypatch)
    with pytest.raises(ocp.Interrupted) as caught:
        ocp.solve_along(problem, angle=[0.4, 0.45], solve={"progress": False}, start=found[0])
    assert (caught.value.found, caught.value.solution.status) == ([], "Interrupted")


def test_works_of_several_solves_refuse_arguments_of_one():
    with pytest.raises(TypeError, match=r"check is an argument of problem\.solve\(\) alone"):
        ocp.solve_along(turn(), angle=[0.3], solve={"check": True})


@pytest.mark.slow
def test_texts_and_tables_say_it(failed, tmp_path):
    assert MARK in repr(failed)
    assert MARK in str(failed)
    assert MARK in failed._repr_html_()
    assert MARK in str(failed.summary())
    assert list(failed.table())[-1] == MARK
    assert MARK in failed.to_csv(tmp_path / "turn.csv").read_text().splitlines()[0]
    with pytest.warns(ocp.NotConvergedWarning, match=r"turn\.npz: not converged: Infeasible"):
        assert MARK in repr(ocp.Solution.load(failed.save(tmp_path / "turn.npz")))


def texts(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize(
    "draw",
    [od.viz.plot, od.viz.overview, od.viz.stick_figure, od.viz.plot_phase_portrait],
    ids=["plot", "overview", "stick_figure", "plot_phase_portrait"],
)
@pytest.mark.slow
def test_pictures_say_it(failed, draw):
    assert MARK in texts(draw(failed))
    assert not any("NOT CONVERGED" in text for text in texts(draw(turn(0.3).solve(progress=False))))


def test_animations_say_it(failed, tmp_path):
    assert MARK in failed.animate(tmp_path / "turn.html").read_text()


def test_gaits_say_it():
    gait = Gait("right", f"{MARK}: a walk", {"knee flexion": np.full(101, 5.0)}, {}, {"step_width_m": 0.1}, mark=MARK)
    assert MARK in texts(gait.plot(quantities=["angles"]))
    assert MARK in str(gait)
