"""Smooth forms of the paths of a model: straight ones as they are, all others as fitted polynomials, with a report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np

from ..._base import cache
from ..._base.identity import digest, source_digest
from ..._base.types import Array, ModelError, repr_in_message
from ...constraints import CoordinateCoupling
from ...joints import LinearFunction
from ...mechanism import ConditionalPathPoint, Model, Muscle, PathPoint
from ...mechanism.equal_models import content_of, kept_per_model
from .bodies import Poses, entry_of
from .fits import Fit, Fitter, Polynomial, Sampled
from .geometry import Path, orders, path_values
from .mirror_images import MirrorImages
from .polynomials import Box
from .smooth_path import Coupled, Pieces, SmoothPath

TOLERANCE = 1e-3
"""RMS of the error of a moment arm that a fit may have, unless another is asked for [m]."""
PER_LENGTH = 0.1
"""Length [m] of a step along a coordinate that is a length that weighs as much as 1 rad."""
LINES, PIECES = 40, 24
"""Number of lines, besides those between corners, and of their pieces, along which jumps of a length are looked for."""
LONGEST_TURN = 2 * np.pi + 1e-9
"""Largest range of an angle that a fit covers [rad]."""


class SmoothPaths(NamedTuple):
    """The smooth forms of all muscles of a model, in its order; pieces is None for straight ones."""

    reports: tuple[SmoothPath, ...]
    pieces: tuple[Pieces | None, ...]


def is_straight(model: Model, muscle: Muscle) -> bool:
    """Whether a path is a chain of straight lines between points that are fixed in bodies."""
    return all(isinstance(point, PathPoint) for point in muscle.path) and not Path(model, muscle).wraps


@kept_per_model
def smooth_paths(model: Model, tolerance: float) -> SmoothPaths:
    """The smooth forms of the paths of a model: from the cache of this user, or fitted.

    ModelError for a coordinate without a range, and for a model with symbols.
    """
    straight = [is_straight(model, muscle) for muscle in model.muscles]
    if not all(straight) and model.has_symbols:
        name = model.muscles[straight.index(False)].name
        raise ModelError(
            f"the path of {repr_in_message(name)} bends, so that a polynomial is fitted to it, and the model has "
            "symbols; take the model without symbols"
        )
    found = _from_cache(model, tolerance) if not all(straight) else None
    if found is None:
        found = _fitted(model, tolerance, straight)
        if not all(straight):
            _to_cache(model, tolerance, found)
    return found


def _fitted(model: Model, tolerance: float, straight: Sequence[bool]) -> SmoothPaths:
    fitters: dict[Any, SharedSamples] = {}
    reports: list[SmoothPath] = []
    pieces: list[Pieces | None] = []
    images = MirrorImages()
    for muscle, direct in zip(model.muscles, straight, strict=True):
        path = Path(model, muscle, fine=False)
        names = tuple(model.q_names[k] for k in path.coordinates)
        if direct:
            reports.append(SmoothPath(muscle.name, names))
            pieces.append(None)
            continue
        couplings = couplings_of(model, path.coordinates)
        box = box_of(model, muscle, path.coordinates, couplings)
        found = None if couplings else images.find(path, box)
        if found is None:
            key = (box, couplings)
            if key not in fitters:
                fitters[key] = SharedSamples(model, box, couplings)
            found = fitters[key].fitted(path, tolerance)
            images.add(path, *found)
        piece, report = found
        reports.append(replace(report, coordinates=names))
        pieces.append(piece)
    return SmoothPaths(tuple(reports), tuple(pieces))


def couplings_of(model: Model, entries: Sequence[int]) -> tuple[Coupled, ...]:
    """Couplings of the model that give one of these coordinates as a function of one other."""
    names, found = model.q_names, {}
    for mimic in model.mimics:
        function = LinearFunction(mimic.ratio, mimic.offset)
        found[names.index(mimic.joint)] = Coupled(names.index(mimic.joint), names.index(mimic.other), function, 1.0)
    for one in model.constraints:
        if isinstance(one, CoordinateCoupling) and len(one.others) == 1:
            k, other = names.index(one.coordinate), names.index(one.others[0])
            found[k] = Coupled(k, other, one.function, one.scale)
    return tuple(found[k] for k in entries if k in found and found[k].other not in found)


def box_of(model: Model, muscle: Muscle, entries: Sequence[int], couplings: Sequence[Coupled]) -> Box:
    """The ranges of the coordinates of a path that do not follow others; ModelError for one without a range."""
    follows = {one.entry for one in couplings}
    free = sorted({k for k in entries if k not in follows} | {one.other for one in couplings})
    middle, half = [], []
    for k in free:
        low, high = float(model.dofs.q_lower[k]), float(model.dofs.q_upper[k])
        turn = not model.lengths[0][k]
        if not np.isfinite(high - low) or (turn and high - low > LONGEST_TURN) or high - low < 1e-9:
            raise ModelError(
                f"the path of {repr_in_message(muscle.name)} crosses {repr_in_message(model.q_names[k])}, whose range "
                f"[{low:g}, {high:g}] is none that a polynomial can be fitted in; give it one by model.with_limits("
                f'lower={{"{model.q_names[k]}": ...}}, upper=...), or lock its joint'
            )
        middle.append((low + high) / 2)
        half.append((high - low) / 2)
        entry_of(model, model.q_names[k])
    return Box(tuple(free), tuple(middle), tuple(half))


class SharedSamples:
    """Samples, basis and poses, which the fits over one box share."""

    def __init__(self, model: Model, box: Box, couplings: tuple[Coupled, ...]) -> None:
        self.model, self.couplings = model, couplings
        self.fitter = Fitter(box)
        q = np.tile(np.array(model.neutral(), dtype=float).ravel(), (len(self.fitter.points), 1))
        q[:, list(box.entries)] = self.fitter.points
        self.bends = []
        for one in couplings:
            value, slope = (np.asarray(x.full()).ravel() for x in orders(one.function)(q[:, one.other][None]))
            q[:, one.entry] = one.scale * value
            self.bends.append(one.scale * slope)
        self.q = q
        self.poses: dict[Any, Poses] = {}

    def fitted(self, path: Path, tolerance: float) -> tuple[Pieces, SmoothPath]:
        """The polynomials of a path and their report."""
        bodies, box = path.bodies, self.fitter.box
        key = (bodies.base, bodies.joints)
        if key not in self.poses:
            self.poses[key] = bodies.at(self.q)
        exact = path_values(path, self.q, self.poses[key])
        dofs = [entry_of(self.model, self.model.q_names[k])[1] for k in box.entries]
        follows = [entry_of(self.model, self.model.q_names[one.entry])[1] for one in self.couplings]
        slopes = -exact.moment_arms[:, dofs]
        for one, dof, bend in zip(self.couplings, follows, self.bends, strict=True):
            slopes[:, box.entries.index(one.other)] -= exact.moment_arms[:, dof] * bend
        tolerances = self._tolerances(box.entries, tolerance)
        fit = self.fitter.fit(Sampled(exact.length, slopes), tolerances)
        of_coupled = [
            self.fitter.fit(Sampled(-exact.moment_arms[:, dof], None), self._tolerances([one.entry], tolerance))
            for one, dof in zip(self.couplings, follows, strict=True)
        ]
        pieces = Pieces(box, self.couplings, fit.polynomial, tuple(one.polynomial for one in of_coupled))
        return pieces, self._report(path, fit, of_coupled, tolerance)

    def _tolerances(self, entries: Sequence[int], tolerance: float) -> Array:
        return tolerance / np.where(self.model.lengths[0][list(entries)], PER_LENGTH, 1.0)

    def _report(self, path: Path, fit: Fit, coupled: Sequence[Fit], tolerance: float) -> SmoothPath:
        weight = tolerance / self._tolerances(self.fitter.box.entries, tolerance)
        others = [tolerance / self._tolerances([one.entry], tolerance) for one in self.couplings]
        rms = [fit.slope_rms * weight, *(one.slope_rms * w for one, w in zip(coupled, others, strict=True))]
        worst = [fit.slope_worst * weight, *(one.slope_worst * w for one, w in zip(coupled, others, strict=True))]
        return SmoothPath(
            path.muscle.name, (), straight=False, degree=fit.degree, terms=len(fit.polynomial.exponents),
            length_rms=fit.value_rms, arm_rms=_largest(rms), arm_worst=_largest(worst),
            jump=max(self._jump(path), self._tear(path) if _largest(rms) > tolerance else 0.0),
            coupled=tuple(self.model.q_names[one.entry] for one in self.couplings),
        )  # fmt: skip

    def _tear(self, path: Path) -> float:
        """The largest jump of the length along lines between samples that follow each other: what the slopes at both
        ends of a short step do not explain."""
        q = self.q[: 2 ** len(self.fitter.box.entries) + LINES]
        share = np.linspace(0.0, 1.0, PIECES + 1)[:, None, None]
        along = (1 - share) * q[:-1] + share * q[1:]
        found = path_values(path, along.reshape(-1, q.shape[1]))
        length = found.length.reshape(along.shape[:2])
        slopes = found.moment_arms.reshape(*along.shape[:2], -1)
        dofs = [entry_of(self.model, self.model.q_names[k])[1] for k in path.coordinates]
        steps = np.diff(along, axis=0)[..., list(path.coordinates)]
        expected = -np.sum((slopes[1:] + slopes[:-1])[..., dofs] * steps, axis=2) / 2
        return float(np.max(np.abs(np.diff(length, axis=0) - expected)))

    def _jump(self, path: Path) -> float:
        """The largest jump of the length, over samples, where a conditional point comes or goes within its range."""
        found = 0.0
        for point in path.muscle.path:
            if not isinstance(point, ConditionalPathPoint):
                continue
            k = self.model.q_names.index(point.coordinate)
            low, high = self.model.dofs.q_lower[k], self.model.dofs.q_upper[k]
            for edge in (point.lower - 1e-5, point.upper + 1e-5):
                if low < edge < high:
                    q = self.q[: 2 ** len(self.fitter.box.entries) + 60].copy()
                    sides = [edge - 1e-9, edge + 1e-9]
                    lengths = []
                    for side in sides:
                        q[:, k] = side
                        lengths.append(path_values(path, q).length)
                    found = max(found, float(np.max(np.abs(lengths[1] - lengths[0]))))
        return found


def _largest(rows: Sequence[Array]) -> float:
    return float(max((np.max(row) for row in rows if row.size), default=0.0))


# Cache


def _key(model: Model, tolerance: float) -> str | None:
    """A digest of all that the fits depend on; None where a joint has data that are not known."""
    paths = tuple((muscle.name, muscle.path, muscle.wraps) for muscle in model.muscles)
    parts = (
        model.parent, model.joints, model.X_tree, model.frames, model.mimics, model.constraints, paths, model.wraps,
        model.q_names, model.dofs.q_lower, model.dofs.q_upper, tolerance,
    )  # fmt: skip
    text = content_of(parts)
    return None if text is None else "paths-" + digest(source_digest(__name__), text)


def _to_cache(model: Model, tolerance: float, found: SmoothPaths) -> None:
    key = _key(model, tolerance)
    if key is None:
        return
    rows = [
        None if piece is None else [list(piece.box), list(piece.length), [list(one) for one in piece.coupled]]
        for piece in found.pieces
    ]
    text = json.dumps({"reports": [asdict(report) for report in found.reports], "pieces": rows})
    cache.keep(key, SUFFIX, text.encode())


def _from_cache(model: Model, tolerance: float) -> SmoothPaths | None:
    """Forms that were stored under the key of this model; None if there is nothing, or nothing that can be read."""
    key = _key(model, tolerance)
    path = key and cache.find(cache.directory(), key, SUFFIX)
    if not path:
        return None
    try:
        data = json.loads(path.read_text())
        reports = tuple(
            SmoothPath(**{**row, "coordinates": tuple(row["coordinates"]), "coupled": tuple(row["coupled"])})
            for row in data["reports"]
        )
        pieces = tuple(_read(model, path_, row) for path_, row in zip(reports, data["pieces"], strict=True))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return SmoothPaths(reports, pieces)


def _read(model: Model, report: SmoothPath, row: Any) -> Pieces | None:
    if row is None:
        return None
    (entries, middle, half), length, coupled = row
    box = Box(tuple(entries), tuple(middle), tuple(half))
    couplings = couplings_of(model, [model.q_names.index(name) for name in report.coordinates])
    return Pieces(box, couplings, _polynomial(length), tuple(map(_polynomial, coupled)))


def _polynomial(row: Any) -> Polynomial:
    return Polynomial(tuple(tuple(e) for e in row[0]), tuple(row[1]))


SUFFIX = ".paths"
