"""Loads of joints in optimal control: the balance at the root of a walk, a cost and a limit that lower a load."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from tests.motions import Motions

ELBOW = od.models.elbow()
MUSCLES = ocp.Muscles(activation="limits")
LOAD = ocp.JointLoad("elbow", MUSCLES)


@cache
def lifted(which: str) -> ocp.Solution:
    """A forearm that is lifted with little effort; with a price of its load, or with a limit."""
    ends = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - 0.3, start.qd, end.q - 1.4, end.qd), 0, 0))
    costs: list[ocp.Cost] = [ocp.ChannelPower("activation")]
    path: list[ocp.PathConstraint] = []
    if which == "cost":
        costs.append(ocp.JointLoadSquared(LOAD, weight=10.0, scale=100.0))
    if which == "limit":
        path.append(ocp.JointLoadLimit(LOAD, "f_z", lower=0.9 * float(most("free"))))
    phase = ocp.Phase("lift", 12, 0.5, objective=costs, path=path)
    return ocp.Problem(ELBOW, [phase], boundary=[ends], unactuated=["elbow"], components=[MUSCLES]).solve(
        progress=False
    )


def most(which: str) -> float:
    """The largest pressing force along the forearm [N], negative."""
    return float(lifted(which).joint_load(LOAD)[:, 5].min())


@pytest.mark.slow
def test_a_cost_and_a_limit_lower_the_load() -> None:
    free = lifted("free").joint_load(LOAD)
    assert free.shape == (12, 6)
    assert most("free") < -20
    assert np.square(lifted("cost").joint_load(LOAD)[:, 3:]).sum() < 0.95 * np.square(free[:, 3:]).sum()
    assert lifted("limit").converged
    assert most("limit") > 0.95 * most("free")


def test_the_load_is_what_the_motion_needs() -> None:
    solution, k = lifted("free"), 5
    phase = solution.phases[0]
    q, qd = ((x[k] + x[k + 1]) / 2 for x in (phase.q, phase.qd))
    a = phase["activation"][k : k + 2].mean(axis=0)
    hill = od.muscles.HillMuscles.of(ELBOW)
    F = od.muscles.rigid_tendon(hill, od.muscle_lengths(ELBOW, q), od.muscle_speeds(ELBOW, q, qd), DM(a)).tendon_force
    expected = od.muscles.joint_reaction(ELBOW, q, qd, phase.qdd[k], "elbow", F)
    assert np.allclose(solution.joint_load(LOAD)[k], np.array(expected).ravel())


@pytest.mark.slow
def test_ground_forces_balance_at_the_root(motions: Motions) -> None:
    walk = motions["human walk"]
    whole, knee = (walk.joint_load(ocp.JointLoad(name, axes="world")) for name in ("root", "knee_l"))
    weight = 9.81 * walk.model.mass
    assert np.abs(whole[:, 3:]).max() < 0.1 * weight  # the middle of an interval is no point of the scheme
    assert np.abs(whole[:, 3:].mean(axis=0)).max() < 0.01 * weight
    assert -1.6 * weight < knee[:, 5].min() < -0.8 * weight
    shared = walk.joint_load(ocp.JointLoad("knee_l", compartments=((0, -0.02, 0), (0, 0.02, 0))))
    along = walk.joint_load(ocp.JointLoad("knee_l"))
    assert np.allclose(shared.sum(axis=1), along[:, 5])
    assert np.allclose(0.02 * (shared[:, 1] - shared[:, 0]), along[:, 0])


def test_faults_are_told() -> None:
    with pytest.raises(ValueError, match="compartments must be"):
        ocp.JointLoad("knee", compartments=(0, 0, 1))
    with pytest.raises(TypeError, match=r"muscles must be ocp\.Muscles"):
        ocp.JointLoad("knee", muscles="soleus")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs an ocp"):
        ocp.JointLoadSquared("knee")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs a JointLoad with compartments"):
        ocp.JointLoadSquared(LOAD, part="medial")
    with pytest.raises(ValueError, match="row must be one of"):
        ocp.JointLoadLimit(LOAD, "medial")
    with pytest.raises(KeyError, match="elbow"):
        lifted("free").joint_load(ocp.JointLoad("elbo"))
    with pytest.raises(TypeError, match="give an ocp"):
        lifted("free").joint_load("elbow")  # type: ignore[arg-type]
