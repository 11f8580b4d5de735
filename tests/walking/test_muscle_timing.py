"""Activity of muscles over a stride beside electromyograms: right at made-up walks, mirrored or not; refused input."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp

GROUPS = od.walking.ELECTROMYOGRAMS


@cache
def body() -> od.Model:
    return od.models.human(muscles=True, root=od.FloatingBase())


def walk(mirrored: bool, late: float = 0.0) -> SimpleNamespace:
    """A walk whose muscles are active when the measured ones are, or later by a part of the stride [%]."""
    model, steps = body(), 1 if mirrored else 2
    percent = np.linspace(0.0, 100.0 * steps / 2, 500 * steps + 1)
    names = [f"{m}_{side}" for group in GROUPS.values() for m in group.muscles for side in "lr"]
    names = [name for name in names if name in model.muscle_names]  # others are those of planar bodies
    columns = []
    for name in names:
        group = next(g for g in GROUPS.values() if name[:-2] in g.muscles)
        at = percent - late - (50.0 if name.endswith("_l") else 0.0)
        on = [np.mod(at - begin, 100) <= end - begin for begin, end in group.active]
        columns.append(0.1 + 0.5 * np.any(on, axis=0) + 0.3 * (np.abs(np.mod(at - group.peak, 100)) < 0.4))
    channel = ocp.Channel("activation", labels=names)
    time = percent / 100
    phase = SimpleNamespace(channels={"activation": np.transpose(columns)}, t=time)
    return SimpleNamespace(
        model=model, repeats=True, mirrored=mirrored, channels=(channel,), phases=(phase,), t=time, duration=time[-1]
    )


@pytest.mark.parametrize("mirrored", [True, False])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.slow
def test_muscles_that_work_as_measured_agree(mirrored, side):
    found = od.walking.muscle_timing(walk(mirrored), side)
    assert set(found) == set(GROUPS)
    for name, one in found.items():
        assert one.agreement > 0.95, name
        assert abs((one.peak - GROUPS[name].peak + 50) % 100 - 50) <= 1, name
    late = od.walking.muscle_timing(walk(mirrored, late=10.0), side)
    on = sum(end - begin for begin, end in GROUPS["soleus"].active)
    assert abs(late["soleus"].agreement - 0.8) < 0.03  # ten percent at either end of one burst
    assert abs(late["soleus"].active.sum() - on) <= 2
    assert late["soleus"].bursts == ((40, 70),)
    begin, end = late["medial hamstrings"].bursts[0]  # over the end of the stride
    assert (begin, end) == (100, 122) or (begin, end) == (0, 22)
    assert late["soleus"].numbers()["measured_percent"] == [(30, 60)]


def test_motions_without_such_muscles_are_refused():
    one = walk(True)
    with pytest.raises(ValueError, match="periodic"):
        od.walking.muscle_timing(SimpleNamespace(**vars(one) | {"repeats": False}))
    with pytest.raises(od.ModelError, match="soleus_r"):
        od.walking.muscle_timing(SimpleNamespace(**vars(one) | {"channels": ()}))
    with pytest.raises(ValueError, match="side"):
        od.walking.muscle_timing(one, "both")
