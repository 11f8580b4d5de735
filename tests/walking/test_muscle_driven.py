"""Motions by muscles from motions by motors: their statement, their costs, weaker muscles; refused input."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.problems import muscle_human

ELBOW = od.models.elbow()
ENDS = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - 0.3, start.qd, end.q - 1.4, end.qd), 0, 0))


@cache
def lift() -> ocp.Problem:
    phase = ocp.Phase("lift", 10, 0.5, objective=[ocp.TorqueSquared(), ocp.AccelerationSquared(1e-3)])
    return ocp.Problem(ELBOW, [phase], boundary=[ENDS])


@cache
def body() -> od.Model:
    return od.models.human(muscles=True, root=od.FloatingBase())


@pytest.mark.slow
def test_costs_stay_and_those_of_muscles_are_added():
    found = od.walking.muscle_driven(lift())
    assert [cost.name for cost in found.phases[0].objective] == [
        "TorqueSquared", "AccelerationSquared", "ChannelPower activation", "ChannelRateSquared activation",
    ]  # fmt: skip
    assert (found.actuated, lift().actuated) == ([], [0])
    assert [c.name for c in found.parts.channels] == ["activation"]
    smooth = od.walking.muscle_driven(lift(), muscles=ocp.Muscles())
    assert [cost.name for cost in smooth.phases[0].objective][2:] == [
        "ChannelPower activation", "ChannelPower excitation",
    ]  # fmt: skip
    own = od.walking.muscle_driven(lift(), costs=[ocp.ChannelPower("activation", 10)])
    assert own.phases[0].objective[2].power == 10
    bare = replace(lift(), model=ELBOW.with_muscles([], replace_all=True))
    assert od.walking.muscle_driven(bare, model=ELBOW).actuated == []
    solution = found.solve(guess=lift().solve(progress=False), progress=False)
    assert solution.converged
    assert solution.cost["TorqueSquared"] == 0.0


@pytest.mark.slow
def test_a_walk_by_muscles_has_motors_at_the_arms():
    walk = muscle_human.by_motors(1.1, intervals=(1, 1, 2, 2))
    found = muscle_human.problem(1.1, intervals=(1, 1, 2, 2))
    assert {found.model.qd_names[k].split("_")[0] for k in found.actuated} == {"shoulder", "elbow"}
    assert [p.name for p in found.phases] == [p.name for p in walk.phases]
    assert found.periodic.mirror
    weak = muscle_human.by_motors(1.1, weaken={"soleus_r": 0.4}, intervals=(1, 1, 2, 2))
    assert not weak.periodic.mirror
    assert len(weak.phases) == 2 * len(walk.phases)
    with pytest.raises(ValueError, match="both sides must be equally strong"):
        muscle_human.problem(1.1, weaken={"soleus_r": 0.4}, intervals=2, feet="compliant")


@pytest.mark.slow
def test_weakened_muscles_have_less_force():
    weak = od.walking.weakened(body(), {"soleus_r": 0.4})
    factors = {
        a.name: a.max_isometric_force / b.max_isometric_force for a, b in zip(weak.muscles, body().muscles, strict=True)
    }
    assert factors.pop("soleus_r") == pytest.approx(0.4)
    assert set(np.round(list(factors.values()), 12)) == {1.0}
    assert od.walking.weakened(body(), {}) is body()


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: od.walking.muscle_driven("walk"), TypeError, "needs an ocp.Problem"),
        (lambda: od.walking.muscle_driven(lift(), muscles=True), TypeError, "ocp.Muscles"),
        (lambda: od.walking.muscle_driven(replace(lift(), model=od.models.pendulum(), boundary=())), od.ModelError,
         "no muscles"),
        (lambda: od.walking.weakened(od.models.pendulum(), {"a": 1.0}), od.ModelError, "no muscles"),
        (lambda: od.walking.weakened(ELBOW, {"bicep": 1.0}), KeyError, "did you mean 'biceps'"),
        (lambda: od.walking.weakened(ELBOW, {"biceps": -1.0}), ValueError, "must not be negative"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_the_command_refuses_a_factor_without_a_number(capsys):
    with pytest.raises(SystemExit):
        muscle_human.main(["--weaken", "soleus_r"])
    assert "MUSCLE=FACTOR" in capsys.readouterr().err
