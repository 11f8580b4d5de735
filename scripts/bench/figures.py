"""The measurements of [F16] section 8 as tables of rows, and a figure like the paper's three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Rows = dict[str, dict[str, float]]
"""Microseconds and counts: quantity -> column -> number."""

FIGURE_1 = {"FD_ABA": "FD by ABA", "FD_HC": "FD by Cholesky", "EoM": "H and C only"}
FIGURE_2 = {"FD": "forward dynamics", "Minv": "$H^{-1}\\tau$", "H_inv": "all of $H^{-1}$"}
FIGURE_3 = {"H": "H", "C": "C", "G": "G", "gamma": "$\\gamma$", "EoM": "EoM\nsetup", "EoMc": "contact\nEoM setup"}

PAPER_1 = {
    "six joints": {"FD_ABA": 13.83, "FD_HC": 21.51, "EoM": 12.24},
    "one joint": {"FD_ABA": 12.58, "FD_HC": 19.48, "EoM": 9.69},
}
PAPER_3 = {
    "RBDL": {"H": 6.76, "C": 5.25, "G": 5.57, "gamma": 7.72},
    "RBDL, reusing": {"H": 4.42, "C": 5.25, "G": 1.15, "gamma": 0.01, "EoM": 9.54, "EoMc": 10.91},
    "DYNAMOD": {"H": 5.49, "C": 2.94, "G": 0.90, "gamma": 0.77, "EoM": 8.52, "EoMc": 10.21},
}
"""Microseconds that the paper gives in its text, for an i7-3770 of 2012: another machine, the same kind of robot."""

COLORS = {"one": "#1b6ca8", "lanes": "#67a9cf", "casadi C": "#b8860b", "Pinocchio": "#c0392b"}
LABELS = {
    "one": "ours, one state",
    "lanes": "ours, batch of 512",
    "casadi C": "CasADi's own C",
    "Pinocchio": "Pinocchio",
}


def plot(path: Path, bases: Mapping[str, Rows], chains: Mapping[int, Rows], humanoid: Rows, title: str) -> None:
    """Three panels: Figure 1 (floating base), Figure 2 (chains), Figure 3 (contact dynamics of the humanoid)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(15, 4.8), constrained_layout=True)
    bars = {f"{LABELS[c]}; base of {base}": {q: rows[q].get(c) for q in FIGURE_1 if q in rows}
            for base, rows in bases.items() for c in ("one", "Pinocchio")}  # fmt: skip
    hatched = {label: "six" in label for label in bars}
    colors = {label: COLORS["Pinocchio" if "Pinocchio" in label else "one"] for label in bars}
    _bars(axes[0], FIGURE_1, bars, colors, hatched)
    axes[0].set_title("Floating base: six joints or one")
    _curves(axes[1], chains)
    columns = ("one", "lanes", "casadi C", "Pinocchio")
    bars = {LABELS[c]: {q: humanoid[q].get(c) for q in FIGURE_3 if q in humanoid} for c in columns}
    _bars(axes[2], FIGURE_3, bars, {LABELS[c]: COLORS[c] for c in columns}, {})
    axes[2].set_title("Quantities of the equation of motion")
    figure.suptitle(title)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def _bars(
    axes: Any,
    quantities: Mapping[str, str],
    bars: Mapping[str, Mapping[str, float | None]],
    colors: Mapping[str, str],
    hatched: Mapping[str, bool],
) -> None:
    """A group of bars per quantity; a bar that was not measured is missing."""
    bars = {label: values for label, values in bars.items() if any(values.values())}
    width = 0.8 / max(1, len(bars))
    for k, (label, values) in enumerate(bars.items()):
        at = [(i, values[q]) for i, q in enumerate(quantities) if values.get(q)]
        places = [i + (k + 0.5) * width - 0.4 for i, _ in at]
        axes.bar(
            places, [value for _, value in at], 0.92 * width, color=colors[label], label=label,
            hatch="///" if hatched.get(label) else None, edgecolor="white", linewidth=0.5,
        )  # fmt: skip
    axes.set_xticks(range(len(quantities)), quantities.values())
    axes.set_ylabel("µs per state")
    axes.set_ylim(0, 1.35 * axes.get_ylim()[1])
    if bars:
        axes.legend(fontsize="small", loc="upper left")


def _curves(axes: Any, chains: Mapping[int, Rows]) -> None:
    styles: Sequence[str] = ("-o", "--s", ":^")
    for style, (quantity, name) in zip(styles, FIGURE_2.items(), strict=True):
        for column in ("one", "lanes", "Pinocchio"):
            points = [(n, rows[quantity][column]) for n, rows in chains.items() if column in rows.get(quantity, {})]
            if points:
                label = f"{LABELS[column]}: {name}"
                axes.plot(*zip(*points, strict=True), style, color=COLORS[column], label=label, ms=3.5, lw=1.2)
    axes.set_yscale("log")
    axes.set_xlabel("degrees of freedom")
    axes.set_ylabel("µs per state")
    axes.set_title("Chains")
    axes.grid(which="both", alpha=0.2)
    axes.set_ylim(top=axes.get_ylim()[1] * 30)
    axes.legend(fontsize="x-small", ncols=2, loc="upper left")
