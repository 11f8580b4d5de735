"""Activations beside electromyograms: times, largest values, groups and names; the figure; refused input."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp

TIMES = np.linspace(0.0, 1.0, 41)
LABELS = ("soleus_r", "gasmed_r", "gaslat_r", "vasmed_r")


def motion() -> SimpleNamespace:
    """Activations that are waves, in two phases."""
    waves = np.stack([0.3 + 0.2 * np.sin(6 * TIMES + k) for k in range(4)], axis=1)
    parts = [SimpleNamespace(channels={"activation": waves[:21]}), SimpleNamespace(channels={"activation": waves[20:]})]
    t = np.concatenate([TIMES[:21], TIMES[20:]])
    channel = ocp.Channel("activation", labels=LABELS)
    return SimpleNamespace(channels=(channel,), phases=parts, t=t, model=SimpleNamespace(name="leg"))


def envelopes() -> od.recordings.Recording:
    """Half the activations of the muscles, recorded from 0.5 s earlier on, and a name that no muscle has."""
    t = np.linspace(0.0, 2.0, 401)
    waves = [0.15 + 0.1 * np.sin(6 * (t - 0.5) + k) for k in (0, 1, 3)]
    return od.recordings.Recording(
        ["soleus", "gastrocnemius", "vastus_medius", "knee"], t, np.stack([*waves, t], 1), ""
    )


def test_curves_of_the_same_muscle_agree() -> None:
    found = od.walking.activation_curves(motion(), envelopes(), begin=0.5)
    assert list(found) == ["soleus", "gastrocnemius", "vastus_medius"]
    for name in ("soleus", "vastus_medius"):
        active, seen, r = found[name]
        np.testing.assert_allclose(active, seen, atol=1e-3)
        assert r == pytest.approx(1.0, abs=1e-4)
        assert active.max() == seen.max() == 1.0
    assert 0.5 < found["gastrocnemius"][2] < 0.999  # the larger of two waves
    early = od.walking.activation_curves(motion(), envelopes())
    assert early["soleus"][2] < 0.9
    one = od.walking.activation_curves(motion(), envelopes(), begin=0.5, muscles={"gastrocnemius": ["gasmed_r"]})
    assert one["gastrocnemius"][2] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.slow
def test_the_figure_has_a_panel_for_every_muscle(tmp_path) -> None:
    curves = od.walking.activation_curves(motion(), envelopes(), begin=0.5)
    figure = od.walking.plot_activations(curves, motion().t, tmp_path / "emg.png")
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["soleus, r = 1.00", titles[1], "vastus medius, r = 1.00"]
    assert (tmp_path / "emg.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"muscles": {"soleos": ["soleus_r"]}}, KeyError, "soleus"),
        ({"muscles": {"soleus": ["soleus"]}}, KeyError, "soleus_r"),
        ({"begin": np.nan}, ValueError, "begin"),
    ],
)
def test_unknown_names_are_refused(options, kind, words) -> None:
    with pytest.raises(kind, match=words):
        od.walking.activation_curves(motion(), envelopes(), **options)


def test_motions_without_activations_are_refused() -> None:
    bare = SimpleNamespace(**vars(motion()) | {"channels": ()})
    with pytest.raises(od.ModelError, match="no activations"):
        od.walking.activation_curves(bare, envelopes())
