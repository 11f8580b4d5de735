"""Stances of compliant feet: a phase in which feet come and go, cut where the set of loaded feet changes.

A compliant foot has no place and no phase of its own. It counts as on the ground while its force along the normal of
its plane exceeds `load_of`. Every stance gets a place, that of the foot's frame when the foot is flattest, and its
wrenches are moved there, so that all pictures show it as they show a foothold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from casadi import DM

from .._base.types import Array
from ..dynamics.kinematics import pose
from ..mechanism import Model

LOADED, LEAST_SHARE = 20.0, 0.05
"""Force along the normal of its plane above which a compliant foot of a person is on the ground [N], as force plates
are read with thresholds of 10 to 20 N; and the share of the weight of lighter bodies."""


def load_of(model: Model) -> float:
    """The force [N] above which a foot of a model is on the ground: 20 N, or 5 % of the weight of a light body."""
    return min(LOADED, LEAST_SHARE * model.weight) if model.weight else LOADED


class PhaseLike(Protocol):
    """Attributes of a phase that the pictures need; `ocp_dyn.ocp.PhaseMotion` has them."""

    @property
    def name(self) -> str: ...
    @property
    def t(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def qd(self) -> Array: ...
    @property
    def tau(self) -> Array: ...
    @property
    def places(self) -> dict[str, Array]: ...
    @property
    def planes(self) -> Mapping[str, Any]: ...
    @property
    def wrenches(self) -> dict[str, Array]: ...


@dataclass(frozen=True, eq=False)
class Part:
    """Some consecutive intervals of a phase, in which the same feet are on the ground; a `PhaseLike`."""

    name: str
    t: Array
    q: Array
    qd: Array
    tau: Array
    places: dict[str, Array]
    planes: Mapping[str, Any]
    wrenches: dict[str, Array]
    contacts: tuple[Any, ...]


def cut(model: Model, phases: Any) -> tuple[PhaseLike, ...]:
    """The phases, those with compliant feet cut into parts; others as they are."""
    found: list[PhaseLike] = []
    for phase in phases:
        soft = [name for name in phase.wrenches if name not in phase.places]
        found += _parts(model, phase, soft) if soft else [phase]
    return tuple(found)


def _parts(model: Model, phase: PhaseLike, soft: list[str]) -> Iterator[Part]:
    wrenches = phase.wrenches
    loaded = {name: pressing(phase, name, wrenches[name]) > load_of(model) for name in soft}
    moved = {name: _stances(model, phase, name, wrenches[name], loaded[name]) for name in soft}
    state = np.array([loaded[name] for name in soft])
    changes = np.flatnonzero(np.any(state[:, 1:] != state[:, :-1], axis=0)) + 1
    for begin, end in zip([0, *changes], [*changes, len(phase.tau)], strict=True):
        nodes, here = slice(begin, end + 1), slice(begin, end)
        on = [name for name in soft if loaded[name][begin]]
        held = {name: w[here] for name, w in wrenches.items() if name not in soft}
        places = phase.places | {name: moved[name][begin][0] for name in on}
        forces = held | {name: np.array([moved[name][k][1] for k in range(begin, end)]) for name in on}
        yield Part(
            phase.name,
            phase.t[nodes],
            phase.q[nodes],
            phase.qd[nodes],
            phase.tau[here],
            places,
            phase.planes,
            forces,
            tuple(getattr(phase, "contacts", ())),
        )


def pressing(phase: PhaseLike, name: str, wrench: Array) -> Array:
    """Force along the normal of the foot's plane in every interval (N) [N]."""
    normal = np.array(phase.planes[name].normal if name in phase.planes else (0.0, 0.0, 1.0))
    return np.asarray(wrench[:, 3:] @ normal)


def _stances(model: Model, phase: PhaseLike, name: str, wrench: Array, loaded: Any) -> dict[int, tuple[Array, Array]]:
    """(place, wrench about it) of a foot in every interval in which it is loaded."""
    found: dict[int, tuple[Array, Array]] = {}
    plane = phase.planes.get(name, LEVEL)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loaded, [False]]).astype(int)))
    for begin, end in edges.reshape(-1, 2):
        poses = [_between(model, phase, name, int(k)) for k in range(begin, end)]
        level = [(np.array(DM(R).full()), np.array(DM(p).full()).ravel()) for R, p in (plane.pose(*x) for x in poses)]
        R, p = max(level, key=lambda x: x[0][2, 2])
        place = np.array([p[0], p[1], np.arctan2(R[1, 0], R[0, 0])])
        about = np.array(DM(plane.to_world(DM([p[0], p[1], 0.0]))).full()).ravel()
        for k, (_, origin) in zip(range(begin, end), poses, strict=True):
            moment = wrench[k, :3] + np.cross(np.array(origin.full()).ravel() - about, wrench[k, 3:])
            found[int(k)] = place, np.concatenate([moment, wrench[k, 3:]])
    return found


def _between(model: Model, phase: PhaseLike, name: str, k: int) -> tuple[DM, DM]:
    """(R, p) of the foot's frame in the middle of interval k."""
    q0, q1 = DM(phase.q[k]), DM(phase.q[k + 1])
    R, p = pose(model, name, model.integrate(q0, model.difference(q0, q1) / 2))
    return R, p


class _Level:
    """The ground z = 0, with the methods of a plane that are used here."""

    @staticmethod
    def pose(R: DM, p: DM) -> tuple[DM, DM]:
        return R, p

    @staticmethod
    def to_world(p: DM) -> DM:
        return p


LEVEL: Any = _Level()
