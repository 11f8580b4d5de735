"""Activations of a motion beside recorded electromyograms of the same motion: correlations, and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..._base.checks import finite, listed_names, name_among
from ..._base.types import Array, ModelError, repr_in_message
from ...ocp import Solution
from ...recordings import Recording
from .muscle_timing import ELECTROMYOGRAMS


def activation_curves(
    solution: Solution, emg: Recording, *, begin: float = 0.0, side: str = "r",
    muscles: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, tuple[Array, Array, float]]:  # fmt: skip
    """Activation (n) of every recorded group of muscles at the nodes of a motion, the electromyogram (n) at these
    times, both over their largest values, and their correlation.

    emg: envelopes by name, at the times of the recording; begin: its time at the start of the motion [s]. muscles: the
    muscles of the model by the names of the envelopes; default: those of `ELECTROMYOGRAMS`, whose names may be written
    with _ and with "medius" for "medialis", on a side "l" or "r". Of several muscles the largest activation counts.
    Correlation is blind to the height, which electrodes do not tell.

    >>> lift = ocp.Phase("lift", 10, 0.5, objective=[ocp.ChannelPower("activation")])
    >>> lifted = ocp.Problem(elbow, [lift], muscles=True).solve(progress=False)
    >>> envelope = od.recordings.Recording(["arm"], np.linspace(0, 1, 6), np.arange(6.0)[:, None] / 5, "")
    >>> found = od.walking.activation_curves(lifted, envelope, muscles={"arm": ["biceps"]})
    >>> found["arm"][1].round(2).tolist()[:3]
    [0.0, 0.1, 0.2]
    """
    channel = next((c for c in solution.channels if c.name == "activation"), None)
    if channel is None:
        raise ModelError(f"activation_curves: the motion of {repr_in_message(solution.model.name)} has no activations")
    times = solution.t + finite(begin, "activation_curves: begin [s]")
    a = dict(zip(channel.labels, np.concatenate([p.channels["activation"] for p in solution.phases]).T, strict=True))
    found = {}
    for name, group in (_usual(emg, side, channel.labels) if muscles is None else dict(muscles)).items():
        name_among(name, emg.names, "activation_curves", "envelope")
        for muscle in listed_names(group, f"activation_curves: muscles of {name!r}"):
            name_among(muscle, channel.labels, "activation_curves", "muscle")
        active = np.max([a[muscle] for muscle in group], axis=0)
        seen = np.interp(times, emg.times, np.asarray(emg.values)[:, emg.names.index(name)])
        curves = [x / max(float(np.max(np.abs(x))), 1e-12) for x in (active, seen)]
        found[name] = (curves[0], curves[1], float(np.corrcoef(curves[0], curves[1])[0, 1]))
    return found


def _usual(emg: Recording, side: str, known: Sequence[str]) -> dict[str, list[str]]:
    """Muscles of the envelopes that have usual names."""
    plain = {name: name.replace("_", " ").replace("vastus medius", "vastus medialis") for name in emg.names}
    return {
        name: [f"{muscle}_{side}" for muscle in ELECTROMYOGRAMS[words].muscles if f"{muscle}_{side}" in known]
        for name, words in plain.items()
        if words in ELECTROMYOGRAMS
    }


def plot_activations(curves: Mapping[str, tuple[Array, Array, float]], times: Array, path: Any = None) -> Any:
    """A figure of the result of `activation_curves`: activations as lines, electromyograms as areas behind them.

    times (n): of the curves, such as `solution.t`. path: a file to write. Returns the figure of matplotlib.

    >>> rising = np.linspace(0, 1, 5)
    >>> od.walking.plot_activations({"soleus": (rising, rising, 1.0)}, rising).axes[0].get_title()
    'soleus, r = 1.00'
    """
    from matplotlib.figure import Figure

    columns = min(len(curves), 5)
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(2.6 * columns, 1.9 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axis, (name, (active, seen, r)) in zip(axes, curves.items(), strict=False):
        axis.fill_between(times, seen, color="0.85", label="electromyogram")
        axis.plot(times, active, color="tab:red", label="activation")
        axis.set_title(f"{name.replace('_', ' ')}, r = {r:.2f}", fontsize=9)
    for axis in axes[len(curves) :]:
        axis.set_axis_off()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=8, frameon=False)
    figure.supxlabel("time [s]", fontsize=9)
    figure.supylabel("share of the largest", fontsize=9)
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure
