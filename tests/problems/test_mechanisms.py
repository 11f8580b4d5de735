"""Simulations of mechanisms by every formulation, and their command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.simulation import by_formulation as simulation
from ocp_dyn.viz.pictures.simulations import with_loop_ends
from problems import mechanisms
from tests.helpers import close


def run(system: str, **changes):
    return simulation.simulate(mechanisms.SYSTEMS[system]()._replace(**changes))


@pytest.mark.slow
def test_formulations_agree_on_a_closed_chain():
    """Bricard's mechanism for 0.2 s: RK4 to its tolerance, the trapezoidal rule to second order in h."""
    with pytest.raises(ValueError, match="velocity takes open chains only, and this system has loops"):
        run("bricard", formulation="velocity")
    tight, _ = run("bricard", formulation="recursive", duration=0.2, step=1e-3)
    for formulation in ("multipliers", "penalty", "independent", "trapezoidal"):
        found, failure = run("bricard", formulation=formulation, duration=0.2, step=1e-3)
        assert not failure
        assert found.steps == 200
        tolerance = {"trapezoidal": 1e-6, "penalty": 1e-7}.get(formulation, 1e-9)
        close(found.motion.q, tight.motion.q, tolerance)
        assert found.energy_error < 10 * tolerance
        assert found.position_errors.max() < 1e-7


@pytest.mark.slow
def test_formulations_agree_on_an_open_chain():
    tight, _ = run("five_bar", formulation="recursive", duration=0.2, step=1e-3)
    for formulation, tolerance in (("velocity", 1e-10), ("trapezoidal", 1e-6)):
        found, _ = run("five_bar", formulation=formulation, duration=0.2, step=1e-3)
        close(found.motion.q, tight.motion.q, tolerance)


@pytest.mark.parametrize("formulation", ["multipliers", "penalty", "independent"])
def test_forms_for_loops_refuse_open_chains(formulation):
    with pytest.raises(ValueError, match=f"formulation {formulation} .*loops"):
        run("five_bar", formulation=formulation)


@pytest.mark.slow
def test_work_of_motor_and_spring_is_in_the_balance_of_energy():
    found, _ = run("squeezer", formulation="recursive", duration=0.01)
    assert np.ptp(found.work) > 1e-3
    assert found.energy_error < 1e-7
    assert np.ptp(found.motion.energy) > 0.1 * np.ptp(found.kinetic)  # without the work it would not balance


@pytest.mark.slow
def test_last_node_is_the_end_of_the_motion():
    found, _ = run("squeezer", formulation="recursive", duration=0.02, step=4e-6)
    assert found.motion.t[-1] == pytest.approx(0.02, rel=1e-12)
    assert len(found.motion.t) <= simulation.MOST_NODES + 1


@pytest.mark.slow
def test_angles_of_natural_coordinates_do_not_jump():
    """The crank turns over: natural coordinates know its angle up to whole turns."""
    found, _ = run("slider_crank", formulation="trapezoidal", duration=0.8, step=2e-3)
    assert found.motion.q[-1, 0] > np.pi
    assert np.abs(np.diff(found.motion.q, axis=0)).max() < 0.2


def test_a_failed_integration_keeps_the_motion_until_then():
    system = mechanisms.SYSTEMS["n_four_bar"]()._replace(formulation="penalty", duration=1.5, step=1e-3)
    found, failure = simulation.simulate(system)
    assert "not finite after t = " in failure
    assert found is not None
    assert 1.0 < found.motion.t[-1] < 1.5


@pytest.mark.slow
def test_a_vehicle_comes_to_rest_on_its_tires():
    """Tires push where wheels are below their radius, and carry the weight at rest."""
    system = mechanisms.SYSTEMS["car"]()
    q, qd = np.array(od.models.car().q), np.zeros(system.model.nv)
    q[2] += 0.01
    falling = qd - 5 * np.eye(system.model.nv)[2]
    assert not np.any(np.array(system.torque(DM(q), DM(falling))))
    q[2] -= 0.02
    push = np.array(system.torque(DM(q), DM(qd))).ravel()[2]
    assert push == pytest.approx(4 * 2e5 * 0.01, rel=1e-9)


def test_pictures_reach_the_ends_of_loops():
    chain = od.models.bricard()
    model = with_loop_ends(chain.model, chain.loops)
    assert {"loop0_predecessor", "loop0_successor"} <= set(model.frames)
    close(od.pose(model, "loop0_successor", DM(chain.q))[1].full(), np.array([[0.0], [-1.0], [0.0]]))


@pytest.mark.slow
def test_the_command_line(capsys, tmp_path):
    assert mechanisms.main(["--system", "squeezer", "--quick", "--json", "--quiet", "--out", str(tmp_path)]) == 0
    numbers = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert numbers["status"] == "done"
    assert numbers["energy_error"] < 0.01
    assert {path.name for path in tmp_path.iterdir()} == {
        "motion.gif",
        "energy.png",
        "constraints.png",
        "report.md",
        "report.html",
    }


def test_wrong_options(capsys):
    for options, message in (
        (["--system", "bicycle"], "invalid choice: 'bicycle'"),
        (["--step", "0"], "step and duration must be positive"),
        (["--duration", "1e9", "--step", "1e-6"], "steps are too many"),
        (["--system", "five_bar", "--formulation", "penalty"], "this system has none: choose velocity"),
    ):
        with pytest.raises(SystemExit):
            mechanisms.main([*options, "--quiet"])
        assert message in capsys.readouterr().err


@pytest.mark.slow
def test_steps_that_do_not_converge_keep_the_motion_until_then():
    """Above half of the pendulum's fastest turns, Newton's method does not converge."""
    found, failure = run("five_bar", formulation="trapezoidal", duration=6.0, step=0.3)
    assert "does not converge" in failure
    assert found is None or found.motion.t[-1] < 6.0


@pytest.mark.parametrize("draw", [od.viz.plot_energy, od.viz.plot_constraint_errors, od.viz.animate_simulation])
def test_pictures_of_what_is_no_simulation(draw, tmp_path):
    with pytest.raises(TypeError, match=r"needs a Simulation, as od\.simulation\.simulate returns, got 1\.0"):
        draw(1.0, tmp_path / "x.gif")
