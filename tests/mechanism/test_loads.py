"""Loads: one value for springs, losses, rotors and external wrenches, checked where it is made and where it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.mechanism.loads import JOINT_LOADS, NO_LOADS
from tests.dynamics.test_passive import MODEL
from tests.helpers import State, close, evaluate, flat


@pytest.mark.slow
def test_equal_loads_are_one() -> None:
    assert od.Loads() == NO_LOADS
    assert od.Loads(external=["b1"]) == od.Loads(external=("b1",))
    assert len({od.Loads(passive=True, armature=np.True_), JOINT_LOADS}) == 1
    mine = od.Loads(external=["b1"], passive=True)
    assert od.function(od.bias_force, MODEL, loads=mine) is od.function(
        od.bias_force, MODEL, loads=od.Loads(external=("b1",), passive=True)
    )
    assert od.function(od.bias_force, MODEL, loads=NO_LOADS) is od.function(od.bias_force, MODEL)


@pytest.mark.slow
def test_the_slip_speed_is_that_of_the_loads(rng: np.random.Generator) -> None:
    """In C, ID, FD by both algorithms, and in the derivatives."""
    s, loads = State.of(MODEL, rng), od.Loads(passive=True, slip_speed=0.5)
    force = flat(od.passive_force(MODEL, DM(s.q), DM(s.qd), slip_speed=0.5))
    assert np.abs(force - flat(od.passive_force(MODEL, DM(s.q), DM(s.qd)))).max() > 1e-3
    C = evaluate(od.bias_force, MODEL, args=(s.q, s.qd), loads=loads)
    close(C, evaluate(od.bias_force, MODEL, args=(s.q, s.qd)) - force)
    for algorithm in (od.forward_dynamics, od.forward_dynamics_crba):
        qdd = evaluate(algorithm, MODEL, args=(s.q, s.qd, s.tau), loads=loads)
        close(evaluate(od.inverse_dynamics, MODEL, args=(s.q, s.qd, qdd), loads=loads), s.tau)
    h = 1e-6
    by_qd = evaluate(od.inverse_dynamics_derivatives, MODEL, args=(s.q, s.qd, s.qdd), loads=loads)[1]
    ahead, behind = (evaluate(od.bias_force, MODEL, args=(s.q, s.qd + step * s.tau), loads=loads) for step in (h, -h))
    close(by_qd @ s.tau, (ahead - behind) / (2 * h), 1e-6)


def test_an_algorithm_takes_its_part(rng: np.random.Generator) -> None:
    """The same loads may be handed to all: H holds the armature, C the forces."""
    s, loads = State.of(MODEL, rng), od.Loads(passive=True, armature=True, external=("b6",))
    q, qd, f = DM(s.q), DM(s.qd), DM(rng.normal(size=(6, 1)))
    H, C = od.equations_of_motion(MODEL, q, qd, f, loads=loads)
    close(H, od.mass_matrix(MODEL, q, loads=loads))
    close(C, od.bias_force(MODEL, q, qd, f, loads=loads))
    close(H @ s.qdd + C, od.inverse_dynamics(MODEL, q, qd, DM(s.qdd), f, loads=loads))


def own(model: od.Model, q: Any, *, armature: bool = False) -> Any:
    return 2 * q if armature else q


def test_an_option_of_ones_own_may_bear_the_name() -> None:
    assert float(od.function(own, od.models.pendulum(), signature="q -> x", armature=True)(1.0)) == 2.0


Q, V = DM(MODEL.neutral()), DM(MODEL.nv, 1)
REFUSED = [
    (TypeError, "passive must be True or False, got 'no'", lambda: od.Loads(passive="no")),
    (TypeError, "armature must be True or False, got 0", lambda: od.Loads(armature=0)),
    (TypeError, r"external must be a tuple of frame names, .*write \('b1',\)", lambda: od.Loads(external="b1")),
    (TypeError, "external must be a tuple of frame names, got 5", lambda: od.Loads(external=5)),
    *((ValueError, "slip_speed", lambda speed=speed: od.Loads(slip_speed=speed)) for speed in (0, -1, np.nan, np.inf)),
    (TypeError, r"loads must be od.Loads\(.*\), got True", lambda: od.mass_matrix(MODEL, Q, loads=True)),
    (TypeError, "loads must be od.Loads", lambda: od.function(od.mass_matrix, MODEL, loads={"armature": True})),
    (TypeError, "missing 2 required positional arguments", lambda: od.mass_matrix(loads=JOINT_LOADS)),
    (KeyError, "no frame 'b66'.*did you mean", lambda: od.mass_matrix(MODEL, Q, loads=od.Loads(external=("b66",)))),
    (KeyError, "no frame 'b66'.*did you mean", lambda: od.function(
        od.inverse_dynamics, MODEL, loads=od.Loads(external=("b66",)))),
    (TypeError, r"inverse_dynamics has no option armature: write loads=od.Loads\(armature=True\)", lambda:
        od.inverse_dynamics(MODEL, Q, V, V, armature=True)),
    (TypeError, r"mass_matrix has no option passive and no armature: write .*\(passive=True, armature=True\)", lambda:
        od.function(od.mass_matrix, MODEL, passive=True, armature=True)),
    (TypeError, r"inverse_dynamics has no option external: write loads=od.Loads\(external=\('b1',\)\)", lambda:
        od.function(od.inverse_dynamics, MODEL, external=("b1",))),
    (ValueError, "H has no input f_ext: external wrenches do not enter it", lambda: od.function(
        od.mass_matrix, MODEL, loads=od.Loads(external=("b1",)))),
    (ValueError, "second derivatives contain no passive forces: give loads=od.Loads.armature=True", lambda:
        od.forward_dynamics_second_derivatives(MODEL, Q, V, V, V, loads=JOINT_LOADS)),
    (ValueError, "second derivatives contain no external forces", lambda: od.forward_dynamics_second_derivatives(
        MODEL, Q, V, V, V, loads=od.Loads(external=("b1",)))),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), REFUSED)
def test_errors(error: type[Exception], message: str, call: Any) -> None:
    with pytest.raises(error, match=message):
        call()
