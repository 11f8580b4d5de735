"""The steps of `least_squares` by the native library: all frames in C but the poses of bodies, and nearer to Newton.

The matrix of a step is that of Newton without the curvature of functions in the joints,

    H + B,   B_ij = sum over markers of f . (w_i x v_j),   f = w (p - y),   i carries j or is j,

with v_j the velocity of the marker by dof j and w_i the axis of dof i, where this is positive definite, else H, that of
Gauss and Newton. So errors of markers, which make the steps of Gauss and Newton slow, do not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._base.types import Array
from ...native.libraries import FITTING
from .least_squares import LEAST, MOST, START, STIFF, Fit, Prior, Steps, total_weight
from .placed import Measured, Placed

_SUMS = 22


class _Tree(ctypes.Structure):
    """struct tree of fitting.c."""

    _fields_ = (
        *((name, ctypes.c_longlong) for name in ("nb", "nv", "markers", "rows")),
        *((name, ctypes.c_void_p) for name in ("parent", "dof_body", "before", "bodies", "points")),
    )


class NativeMarkers:
    """The markers of some frames on a model, for the native library; its arrays live as long as it does."""

    def __init__(self, placed: Placed, measured: Measured, rows: int, library: Any) -> None:
        model = placed.model
        ints = (model.parent, placed.dof_body, model.dof_parent, measured.bodies)
        self._ints = [np.ascontiguousarray(x, dtype=np.int32) for x in ints]
        self._points = _doubles(measured.points)
        self.markers, self.nv, self.rows = len(measured.bodies), model.nv, rows
        self.library = library
        self.tree = _Tree(model.nb, model.nv, self.markers, rows, *(_at(x) for x in self._ints), _at(self._points))
        nv = model.nv
        self._space = np.empty(3 * nv + rows * (nv + rows + 1) + _SUMS * (model.nb + 1) + 6 * nv + 3 * nv * nv + 8)

    def steps(
        self, flat: Array, measured: Measured, bent: tuple[Array, Array] | None, phi: Array, G: Array,
        marks: tuple[Any, Any, Any], mu: Array,
    ) -> tuple[Array, Array, Any]:  # fmt: skip
        """(cost (N), steps (N, nv), whether there is one (N)). flat: poses (N, 15 nb + 6 nv) of `Placed.flat`; bent:
        slopes and stiffnesses (N, nv) of measured coordinates; marks: dofs that are fixed (nv), at limits (N, nv)."""
        N = len(flat)
        cost, v, found = np.empty(N), np.empty((N, self.nv)), np.empty(N, dtype=np.uint8)
        given = [_doubles(x) for x in (flat, measured.y, measured.weights, *(bent or ()), phi, G)]
        bytes_ = [np.ascontiguousarray(x, dtype=np.uint8) for x in marks]
        addresses = [_at(x) for x in given]
        addresses[3:3] = [] if bent else [None, None]
        self.library.fitting_steps(
            N, ctypes.addressof(self.tree), *addresses, *map(_at, bytes_), _at(damping := _doubles(mu)),
            _at(self._space), _at(cost), _at(v), _at(found),
        )  # fmt: skip
        del damping
        return cost, v, found.astype(bool)

    def matrices(self, flat: Array, measured: Measured) -> tuple[Array, Array, Array, Array]:
        """(cost (N), gradient (N, nv), lower triangles (N, nv, nv) of H and of B)."""
        N, nv = len(flat), self.nv
        found = [np.zeros(shape) for shape in ((N,), (N, nv), (N, nv, nv), (N, nv, nv))]
        given = [_doubles(x) for x in (flat, measured.y, measured.weights)]
        self.library.fitting_matrices(
            N, ctypes.addressof(self.tree), *map(_at, given), _at(self._space), *map(_at, found)
        )
        return found[0], found[1], found[2], found[3]


def _doubles(x: Any) -> Array:
    return np.ascontiguousarray(x, dtype=float)


def _at(x: Any) -> Any:
    return x.ctypes.data


class NewtonSteps:
    """The least squares of a model, as `least_squares.Steps`, for markers without sensors of orientation."""

    def __init__(self, steps: Steps, library: Any) -> None:
        self.steps, self.library = steps, library
        self.placed, self.limits, self.fixed = steps.placed, steps.limits, steps.fixed
        self.entry, self.dof = steps.entry_dofs.T

    def fitted(self, q0: Array, measured: Measured, prior: Prior | None, tolerance: float, iterations: int) -> Fit:
        """The nearest minimum from configurations (N, nq) on. tolerance [rad, m]: length of the last step."""
        q = np.clip(q0, self.limits.lower, self.limits.upper)
        N = len(q)
        rows = self.placed.rows(q[:1])[0].shape[1]
        markers = NativeMarkers(self.placed, measured, rows, self.library)
        mu, arrived, open_ = np.full(N, START), np.zeros(N, dtype=bool), np.arange(N)
        v: Array = np.empty((N, self.placed.nv))
        merit = np.empty(N)
        merit[:], v[:], definite = self._evaluated(markers, q, measured, prior, mu)
        lost = np.where(definite, 0, 1)
        step = 0
        while open_.size and step < iterations:
            step += 1
            small = (np.abs(v[open_]).max(axis=1, initial=0.0) < tolerance) & (lost[open_] == 0)
            ready = small & (mu[open_] < 1)  # much damping makes any step small
            done = ready | (mu[open_] > MOST)
            arrived[open_[done]] = small[done]
            q[open_[ready]] = self.steps.ahead(q[open_[ready]], v[open_[ready]])
            open_ = open_[~done]
            if not open_.size:
                break
            ahead = self.steps.ahead(q[open_], v[open_])
            here = measured.frames(open_)
            told = None if prior is None else prior.frames(open_)
            less = np.maximum(mu[open_] / 10, LEAST)
            there, further, definite = self._evaluated(markers, ahead, here, told, less)
            better = (there <= merit[open_] * (1 + 1e-14)) & (lost[open_] == 0)
            on = open_[better]
            q[on], v[on], merit[on], mu[on] = ahead[better], further[better], there[better], less[better]
            lost[on] = ~definite[better]
            back = open_[~better]
            if back.size:
                mu[back] *= 10
                again = None if prior is None else prior.frames(back)
                _, v[back], definite = self._evaluated(markers, q[back], measured.frames(back), again, mu[back])
                lost[back] = ~definite
        return Fit(q, arrived, step)

    def _evaluated(
        self, markers: NativeMarkers, q: Array, measured: Measured, prior: Prior | None, mu: Array
    ) -> tuple[Array, Array, Any]:
        """(merit (N), steps (N, nv), whether there is one) at configurations."""
        N, nv = len(q), self.placed.nv
        phi, G = self.placed.rows(q)
        low, high = self.limits.reached(q)
        bent, extra = None, np.zeros(N)
        if prior is not None:
            off = np.where(prior.weights > 0, q - prior.values, 0.0)
            extra = 0.5 * np.sum(prior.weights * off**2, axis=1)
            bent = np.zeros((N, nv)), np.zeros((N, nv))
            bent[0][:, self.dof] = (prior.weights * off)[:, self.entry]
            bent[1][:, self.dof] = prior.weights[:, self.entry]
        flat = self.placed.flat(q)
        cost, v, definite = markers.steps(flat, measured, bent, phi, G, (self.fixed, low, high), mu)
        stiff = STIFF * total_weight(measured, prior)
        return cost + extra + 0.5 * stiff * np.sum(phi**2, axis=1), v, definite


def native_steps(wait: bool) -> Callable[[Steps], NewtonSteps] | None:
    """Maker of `NewtonSteps` of `Steps`; None if the library is not there, or not yet. wait: until it is compiled."""
    found, _ = FITTING.obtain(wait)
    if found is None:
        return None
    library = found.functions
    return lambda steps: NewtonSteps(steps, library)
