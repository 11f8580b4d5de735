"""Mirror images of muscles by names and places, and symmetric twins of bodies with muscles."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base.types import Array
from ocp_dyn.mechanism import Muscle

CHOSEN = ("bflh", "gaslat", "vaslat")


@lru_cache(maxsize=1)
def body() -> od.Model:
    """The human model with six muscles: straight, over cylinders, with a patella."""
    human = od.models.human(muscles=True)
    muscles = [muscle for muscle in human.muscles if muscle.name[:-2] in CHOSEN]
    used = {wrap.wrap for muscle in muscles for wrap in muscle.wraps}
    return human.with_muscles(muscles, [wrap for wrap in human.wraps if wrap.name in used], replace_all=True)


def changed(model: od.Model, **by_name: Any) -> od.Model:
    """A copy with other muscles under their names."""
    muscles = [by_name.get(muscle.name, muscle) for muscle in model.muscles]
    return model.with_muscles(muscles, model.wraps, replace_all=True)


def lengths(model: od.Model, q: Array) -> dict[str, float]:
    found = od.muscles.path_geometry(model, q)
    return dict(zip(found.names, found.lengths, strict=True))


@pytest.mark.slow
def test_partners_are_found_by_names_and_by_places() -> None:
    assert ocp.muscle_images(body())["gaslat_l"] == "gaslat_r"
    letters = dict(zip(body().muscle_names, "abcdef", strict=True))
    unnamed = body().with_muscles(
        [replace(muscle, name=letters[muscle.name]) for muscle in body().muscles], body().wraps, replace_all=True
    )
    images = ocp.muscle_images(unnamed)
    for one, other in (("bflh_l", "bflh_r"), ("gaslat_l", "gaslat_r")):
        assert images[letters[one]] == letters[other]
        assert images[letters[other]] == letters[one]
    assert images[letters["vaslat_l"]] == letters["vaslat_l"]  # its points move


@pytest.mark.slow
def test_a_twin_has_even_muscles() -> None:
    model = body()
    muscle: Muscle = next(one for one in model.muscles if one.name == "bflh_r")
    shifted = tuple(replace(p, point=tuple(np.add(p.point, (0.004, 0.002, -0.006)))) for p in muscle.path)  # type: ignore[union-attr]
    uneven = changed(model, bflh_r=replace(muscle, path=shifted, max_isometric_force=2000.0))
    smaller = "GasLat_at_condyles_r"
    wraps = [replace(w, sizes=(w.sizes[0] * 0.9, w.sizes[1])) if w.name == smaller else w for w in model.wraps]
    twin = ocp.symmetric_twin(uneven.with_muscles(uneven.muscles, wraps, replace_all=True))
    mirror = ocp.mirror_map(twin)
    q = np.array(twin.random_q(np.random.default_rng(4)), dtype=float).ravel()
    here, there = lengths(twin, q), lengths(twin, np.array(mirror.q(q)).ravel())
    for name in here:
        assert abs(here[name] - there[name[:-1] + ("l" if name[-1] == "r" else "r")]) < 1e-9
    before = {one.name: one for one in uneven.muscles}
    mean = (before["bflh_l"].max_isometric_force + before["bflh_r"].max_isometric_force) / 2  # type: ignore[operator]
    assert {one.max_isometric_force for one in twin.muscles if one.name.startswith("bflh")} == {mean}
    left = np.array(twin.muscles[0].path[1].point)  # type: ignore[union-attr]
    assert np.allclose(left - np.array(model.muscles[0].path[1].point), [0.002, -0.001, -0.003])  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_symmetric_body_is_its_own_twin() -> None:
    q = np.array(body().random_q(np.random.default_rng(5)), dtype=float).ravel()
    one, other = lengths(body(), q), lengths(ocp.symmetric_twin(body()), q)
    assert all(abs(one[name] - other[name]) < 1e-9 for name in one)
