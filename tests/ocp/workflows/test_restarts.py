"""Restarts: other first guesses once a run has failed."""

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.workflows import attempt
from ocp_dyn.ocp.workflows.restarts import RESTARTS
from tests.helpers import mostly_slow
from tests.hopper import problem

HOP = problem()


def corner(**options):
    """An arm whose cost is 0/0 at its first guess."""
    builder = od.ModelBuilder("arm")
    builder.add_body("arm", od.Revolute("z"), mass=1, inertia=(1, 1, 1), lower=-1.0, upper=1.0)
    away = ocp.Integral(lambda instant: ca.sin(instant.q) / instant.q, name="away")
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - 0.3, s.qd, e.q - 0.5, e.qd), 0, 0))
    phase = ocp.Phase("move", 8, 1.0, objective=[ocp.TorqueSquared(), away])
    return ocp.Problem(builder.build(), phase, boundary=ends, **options)


def test_another_guess_is_tried_once_a_run_has_failed(capfd):
    assert corner().solve(progress=False).stats["restarts"] == {"first guess": "Invalid_Number_Detected"}
    assert "CasADi" not in "".join(capfd.readouterr())  # the status tells what it would warn of
    found = corner().solve(restarts=1)
    assert found.converged
    assert found.stats["guess"] == "perturbed"
    assert list(found.stats["restarts"].values()) == ["Invalid_Number_Detected", "Solve_Succeeded"]
    assert "restart 1 of 1: perturbed" in capfd.readouterr().err


def test_the_seed_decides_and_the_same_seed_repeats():
    first, again, other = (
        corner().solve(restarts="perturbed", seed=seed, max_iterations=1, progress=False) for seed in (3, 3, 4)
    )
    assert first.stats["guess"] == "perturbed"
    assert np.array_equal(first.q, again.q)
    assert not np.allclose(first.q, other.q)


@pytest.mark.slow
def test_a_run_that_converges_or_contradicts_itself_is_not_restarted():
    assert HOP.solve(restarts=3, progress=False).stats["restarts"] == {"first guess": "Solve_Succeeded"}
    twice = ocp.Boundary(lambda s, e: (e.q - 0.6, 0, 0))
    bad = corner()
    found = ocp.Problem(bad.model, bad.phases, boundary=[*bad.boundary, twice]).solve(restarts=3, progress=False)
    assert found.stats["restarts"] == {"first guess": "Infeasible"}


@pytest.mark.slow
def test_restarts_that_apply_are_made_in_order():
    found = HOP.solve(restarts=9, max_iterations=1, progress=False)
    labels = [
        "first guess",
        "crouched",
        "planned",
        "perturbed",
        "coarse",
        "slow",
        *(f"perturbed {k}" for k in range(2, 6)),
    ]
    assert list(found.stats["restarts"]) == labels  # "standing" is the first guess already
    infeasibility = found.stats["infeasibility"]
    assert infeasibility <= HOP.solve(max_iterations=1, progress=False).stats["infeasibility"]


@mostly_slow("name", ("planned", "crouched", "coarse", "slow"), ("planned", "crouched"))
@pytest.mark.slow
def test_every_restart_leads_to_the_motion(name, monkeypatch):
    """After a first run that is cut short; the hopper has several motions of least cost, so the cost may differ."""
    once, runs = attempt.run, []

    def cut(solver, program, orders, start, settings, monitor):
        runs.append(start.x)
        if len(runs) == 1:
            settings = type(settings)(settings.tolerance, 1, settings.options)
        return once(solver, program, orders, start, settings, monitor)

    monkeypatch.setattr(attempt, "run", cut)
    found = HOP.solve(restarts=name, progress=False)
    assert found.converged
    assert found.stats["guess"] == name
    assert len(runs) == (3 if name in ("coarse", "slow") else 2)
    assert runs[-1].shape == runs[0].shape
    assert not np.allclose(runs[-1], runs[0])


def test_bad_restarts_are_refused():
    problem = corner()
    with pytest.raises(KeyError, match="no restart 'crouch': did you mean 'crouched'"):
        problem.solve(restarts=["crouch"])
    with pytest.raises(TypeError, match="restarts must be a number of restarts, or names of them"):
        problem.solve(restarts=1.5)
    with pytest.raises(TypeError, match="restarts must be"):
        problem.solve(restarts=True)
    with pytest.raises(ValueError, match="restarts"):
        problem.solve(restarts=-1)
    with pytest.raises((TypeError, ValueError), match="seed"):
        problem.solve(restarts=1, seed=-1)
    assert set(RESTARTS) == {"crouched", "planned", "standing", "perturbed", "coarse", "slow"}
