"""Muscles that are weaker, or stronger, than they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..._base.checks import name_among, not_negative
from ..._base.types import ModelError, names_in_message, repr_in_message
from ...mechanism import Model
from ...ocp import muscle_images


def weakened(model: Model, factors: Mapping[str, float]) -> Model:
    """The model with maximum isometric forces multiplied by factors, by the names of muscles.

    ModelError for a model without muscles, or for muscles without that force; KeyError for unknown names, ValueError
    for factors below zero.

    >>> weak = od.walking.weakened(od.models.elbow(), {"biceps": 0.5})
    >>> [round(m.max_isometric_force / n.max_isometric_force, 3) for m, n in zip(weak.muscles, elbow.muscles)]
    [0.5, 1.0]
    """
    if not model.muscles:
        raise ModelError(f"model {model.name!r} has no muscles: take one from a file that has some")
    for name, factor in factors.items():
        name_among(name, model.muscle_names, "weaken", "muscle")
        not_negative(factor, f"weaken {repr_in_message(name)}")
    if not factors:
        return model
    forceless = [m.name for m in model.muscles if m.name in factors and m.max_isometric_force is None]
    if forceless:
        raise ModelError(f"weaken: {names_in_message(forceless)} has no max_isometric_force")
    found = [
        replace(m, max_isometric_force=(m.max_isometric_force or 0.0) * factors[m.name]) if m.name in factors else m
        for m in model.muscles
    ]
    return model.with_muscles(found, model.wraps, replace_all=True)


def is_even(model: Model, factors: Mapping[str, float]) -> bool:
    """Whether the factors of all muscles are those of their mirror images, so that both sides stay alike.

    >>> od.walking.is_even(od.models.planar_human(), {"soleus_r": 0.5})
    False
    """
    images = muscle_images(model)
    return all(factors.get(images[name], 1.0) == factor for name, factor in factors.items())
