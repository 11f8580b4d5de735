"""First values of the variables of a program: what is set is read, and reading costs no joining of all variables."""

from __future__ import annotations

import numpy as np

from ocp_dyn.ocp.nlp import program as room
from ocp_dyn.ocp.nlp.program import Program


def test_first_values_are_those_that_were_set_last(monkeypatch):
    program, joined = Program(), []
    a = program.variable("a", 2, -9, 9, [1.0, 2.0], scale=2.0)
    assert program.start.tolist() == [0.5, 1.0]
    b = program.variable("b", 1, -9, 9, 3.0)
    assert program.start.tolist() == [0.5, 1.0, 3.0]
    concatenate = np.concatenate
    monkeypatch.setattr(room.np, "concatenate", lambda parts: joined.append(len(parts)) or concatenate(parts))
    for k in range(5):
        program.set_start(b, k)
        program.set_start(a, [k, 4])
        program.start[:] = np.nan  # a reader's own copy
        assert program.start.tolist() == [k / 2, 2.0, k]
    assert joined == []
    program.reset()
    assert program.start.tolist() == [0.5, 1.0, 3.0]
