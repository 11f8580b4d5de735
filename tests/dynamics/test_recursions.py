"""Steps of the passes over a tree: each is traced once for each structure."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from casadi import DM, MX, SX

from ocp_dyn._base.autodiff import apply_template
from ocp_dyn.spatial_algebra.spatial import Inertia, Transform
from tests.helpers import close, random_rotation


class Pair(NamedTuple):
    first: Any
    second: Any


def test_a_step_of_a_recursion_is_traced_once_for_each_structure(rng):
    """Dataclasses, NamedTuples and tuples of symbols go in and come out; numbers and MX take the algebra itself."""
    calls = []

    def step(X: Transform, both: Pair, body: Inertia) -> tuple[Pair, Inertia]:
        calls.append(body)
        return Pair(X.apply(both.first), (both.second, both.second.T)), body.to_parent(X)

    def arguments(kind: Any, columns: int) -> tuple[Any, ...]:
        X = Transform(kind(DM(random_rotation(rng))), kind(DM(rng.normal(size=3))))
        both = Pair(kind(DM(rng.normal(size=6))), kind(DM(rng.normal(size=(2, columns)))))
        return X, both, Inertia(kind(DM(2.0)), kind(DM(rng.normal(size=3))), kind(DM.eye(3)))

    for columns, traced in ((2, 1), (2, 1), (3, 2)):
        given = arguments(SX, columns)
        pair, body = apply_template(step, *given)
        assert len(calls) == traced
        expected_pair, expected_body = step(*given)
        calls.pop()
        assert isinstance(pair, Pair)
        assert isinstance(body, Inertia)
        close(DM(pair.first), np.array(DM(expected_pair.first).full()).ravel())
        close(DM(pair.second[1]), np.array(DM(expected_pair.second[1]).full()))
        close(DM(body.I), np.array(DM(expected_body.I).full()))
    for kind in (DM, MX):
        before = len(calls)
        for _ in range(2):
            apply_template(step, *arguments(kind, 2))
        assert len(calls) == before + 2
