"""A model whose bodies have other sizes along their axes, and another mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from ..._base import checks
from ..._base.types import Array, ModelError, repr_in_message
from ...constraints import PointDistance
from ...mechanism import Annotations, Model, Muscle
from ...muscles import path_geometry
from ...spatial_algebra.spatial import Inertia, Transform
from .inertias import stretched_inertia
from .parts import (
    coordinate_factors,
    stretched_bushing,
    stretched_constraint,
    stretched_joint,
    stretched_marker,
    stretched_muscle,
    stretched_wrap,
)
from .posture import Posture, default_configuration
from .stretches import Stretches, origin, rotation

SLACK = ("resting_length", "slack_length")
"""Parameters of ligaments and springs along paths that are lengths of the whole path."""


def scale_segments(
    model: Model, factors: Mapping[str, Any], *, mass: float | None = None, preserve_mass_distribution: bool = False
) -> Model:
    """A copy of the model whose bodies are longer, wider and deeper, as OpenSim's Scale Tool makes it:

        x -> diag(s_x, s_y, s_z) x   for every point x of a body, in its axes

    factors: three numbers, or one, by names of bodies or of frames; others keep their size. Joint frames, points of
    paths, wrap objects, markers, frames of bushings, and points of constraints move with their bodies; translations
    that are functions of coordinates grow with the body in which the joint is fixed; coordinates, their ranges, springs
    and prescribed motions stay. Optimal fiber lengths and tendon slack lengths grow as the paths of their muscles do in
    the default configuration, resting lengths of ligaments too, and distances that are held.

    mass [kg]: of the whole scaled model; default: the sum of its bodies. preserve_mass_distribution: bodies keep their
    shares of the mass; else each is s_x s_y s_z times as heavy before all are brought to `mass`. Inertias: by the
    square of the factors where a body's are equal; else as a cylinder along the axis of the smallest moment, whose
    radius and length grow [OpenSim, Body::scaleInertialProperties].

    Raises KeyError for frames that the model does not have, ModelError for bodies that are fixed to each other with
    different factors, for symbols in the model, and for constraints of which it is not known how they grow.

    >>> longer = od.recordings.scale_segments(arm, {"link1": (1, 1, 1.2)}, mass=3.0)
    >>> od.point_position(longer, "link2", [0.0, 0.0])  # the second hinge
    DM([00, 00, -1.2])
    """
    if not isinstance(model, Model):
        raise TypeError(f"scale_segments needs a Model, got {repr_in_message(model)}")
    if model.has_symbols:
        raise ModelError(f"model '{model.name}' holds symbols; give it numbers: with_parameters(model, values)")
    stretches = Stretches(model, factors)
    keep = checks.truth(preserve_mass_distribution, "scale_segments: preserve_mass_distribution")
    total = None if mass is None else checks.positive(mass, "scale_segments: mass [kg]")
    maps = stretches.maps
    along = coordinate_factors(model, stretches)
    R = [rotation(X) for X in model.X_tree]
    scaled = replace(
        model,
        joints=(
            model.joints[0],
            *(stretched_joint(model.joints[i], R[i], maps[p], maps[i]) for i, p in model.edges),
        ),
        X_tree=(model.X_tree[0], *(_moved(model.X_tree[i], maps[p]) for i, p in model.edges)),
        I=_inertias(model, stretches, total, keep),
        frames={name: replace(f, X=_moved(f.X, maps[f.body]), stands_for=None) for name, f in model.frames.items()},
        annotations=_annotations(model.annotations, stretches),
        constraints=tuple(stretched_constraint(one, model, stretches, along) for one in model.constraints),
        bushings=tuple(stretched_bushing(one, stretches) for one in model.bushings),
    )
    return _with_lengths(model, scaled)


def _moved(X: Transform, S: Array) -> Transform:
    return Transform(X.E, DM(S @ origin(X)))


def _inertias(model: Model, stretches: Stretches, total: float | None, keep: bool) -> tuple[Inertia, ...]:
    """Inertias of all bodies, brought to a total mass [kg]."""
    parts = []
    for i, body in enumerate(model.I):
        c, I = body.central()
        m, s = float(body.m), stretches.factors(i)
        new = m if keep else m * float(np.prod(s))
        parts.append((new, stretches.maps[i] @ np.array(c.full()).ravel(),
                      stretched_inertia(m, np.array(DM(I).full()), s, new)))  # fmt: skip
    found = sum(m for m, _, _ in parts[1:])
    if total is not None and not found:
        raise ModelError("scale_segments: the model has no mass, which could be brought to `mass`")
    factor = 1.0 if total is None else total / found
    moving = (Inertia.from_com(factor * m, c, factor * I) for m, c, I in parts[1:])
    return (model.I[0], *moving)


def _annotations(given: Annotations, stretches: Stretches) -> Annotations:
    return replace(
        given,
        markers=tuple(stretched_marker(marker, stretches) for marker in given.markers),
        muscles=tuple(stretched_muscle(muscle, stretches) for muscle in given.muscles),
        wraps=tuple(stretched_wrap(wrap, stretches) for wrap in given.wraps),
    )


def _with_lengths(model: Model, scaled: Model) -> Model:
    """The scaled model, whose muscles have lengths that grow as their paths, and whose rods reach as far as before."""
    q = default_configuration(model)
    before, after = _path_lengths(model, q), _path_lengths(scaled, q)
    muscles = [_grown(muscle, after[muscle.name] / before[muscle.name]) if before[muscle.name] > 0 else muscle
               for muscle in scaled.muscles]  # fmt: skip
    constraints = list(scaled.constraints)
    rods = [k for k, one in enumerate(constraints) if isinstance(one, PointDistance)]
    if rods:
        here, there = Posture(model, q), Posture(scaled, q)
        for k in rods:
            old: Any = model.constraints[k]
            new: Any = constraints[k]
            constraints[k] = replace(new, distance=old.distance * _gap(there, new) / _gap(here, old))
    annotations = replace(scaled.annotations, muscles=tuple(muscles))
    return replace(scaled, annotations=annotations, constraints=tuple(constraints))


def _path_lengths(model: Model, q: Array) -> dict[str, float]:
    """Lengths [m] of the paths of all muscles by name, around wrap objects as OpenSim leads them."""
    found = path_geometry(model, q, lines="opensim")
    return dict(zip(found.names, found.lengths.tolist(), strict=True))


def _grown(muscle: Muscle, ratio: float) -> Muscle:
    own = {
        key: getattr(muscle, key) * ratio
        for key in ("optimal_fiber_length", "tendon_slack_length")
        if getattr(muscle, key) is not None
    }
    numbers = {key: value * ratio if key in SLACK else value for key, value in muscle.parameters}
    return replace(muscle, parameters=numbers, **own)


def _gap(posture: Posture, rod: PointDistance) -> float:
    return float(np.linalg.norm(posture.world(rod.other, rod.other_point) - posture.world(rod.frame, rod.point)))
