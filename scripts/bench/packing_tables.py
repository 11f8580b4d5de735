"""Tables and a picture of packed beside plain code, with the goals that were set for their ratios."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .figures import Rows

TIME_GOALS = {
    "talos_reduced": {"ID": 0.55, "C": 0.55, "FD": 0.70, "dID": 0.70},
    "human": {"FD": 0.70, "dID": 0.70, "ID": 0.80, "C": 0.80, "H": 0.80},
}
"""Largest ratios of packed to plain time of one state."""
SIZE_GOAL, SIZE_GOAL_FROM = 0.70, 2 / 3
"""Largest ratio of the sizes, where at least this share of the operations stands in vectors."""
PEER_GOALS = {"talos_reduced": {"ID": 0.25, "C": 0.25, "FD": 0.28, "H": 0.35}}
"""Largest ratios of packed time to Pinocchio's, on machines where the plain code takes .45 to .48 of it."""

GROUPS = {
    "one": ("again and again, us", "{:8.3f}{:8.3f}{:7.2f}"),
    "turn": ("in turn, us", "{:8.3f}{:8.3f}{:7.2f}"),
    "kB": ("code, kB", "{:8.1f}{:8.1f}{:7.2f}"),
    "s": ("compiler, s", "{:8.2f}{:8.2f}{:7.2f}"),
    "write": ("writer of C, s", "{:8.2f}{:8.2f}{:7.2f}"),
}
"""Groups of columns: plain, packed, and their ratio."""
PLAIN_WIDTH = 23
GOALS_OF = ("one", "kB")

Table = Mapping[str, Mapping[str, Rows]]
"""Rows by robot and compiler."""


def goals(robot: str, quantity: str, row: Mapping[str, float]) -> dict[str, float]:
    """The goals of a row, by group of columns."""
    found = {}
    if quantity in TIME_GOALS.get(robot, {}):
        found["one"] = TIME_GOALS[robot][quantity]
    if row.get("paired", 0.0) >= SIZE_GOAL_FROM:
        found["kB"] = SIZE_GOAL
    if "Pinocchio" in row and quantity in PEER_GOALS.get(robot, {}):
        found["Pinocchio"] = PEER_GOALS[robot][quantity]
    return found


def ratios(row: Mapping[str, float]) -> dict[str, float]:
    """The measured ratios of a row, by group of columns."""
    found = {group: row[f"{group} ratio"] for group in GROUPS if f"{group} ratio" in row}
    if "Pinocchio" in row and "one packed" in row:
        found["Pinocchio"] = row["one packed"] / row["Pinocchio"]
    return found


def lines(robot: str, dofs: int, compiler: str, rows: Rows) -> Iterator[str]:
    """The table of a robot by one compiler."""
    peers = any("Pinocchio" in row for row in rows.values())
    yield f"{robot}, {dofs} dof, {compiler}: plain, packed, ratio" + " (goal)"
    head = f"{'':7s}{'operations':>11s}{'after':>8s}{'in vectors':>11s}"
    for group, (title, _) in GROUPS.items():
        head += f"{title:>{PLAIN_WIDTH + 7 * (group in GOALS_OF)}s}"
    yield head + (f"{'Pinocchio, us':>15s}{'plain/P':>9s}{'packed/P':>9s}" if peers else "")
    for quantity, row in rows.items():
        yield _line(quantity, row, goals(robot, quantity, row))


def _line(quantity: str, row: Mapping[str, float], wanted: Mapping[str, float]) -> str:
    text = f"{quantity:7s}"
    if "operations" in row:
        text += f"{row['operations']:11.0f}{row['statements']:8.0f}{100 * row['paired']:9.0f} %"
    else:
        text += " " * 30
    for group, (_, form) in GROUPS.items():
        keys = [f"{group} {key}" for key in ("plain", "packed", "ratio")]
        text += form.format(*(row[key] for key in keys)) if keys[0] in row else f"{'-':>{PLAIN_WIDTH}s}"
        if group in GOALS_OF:
            text += f" ({wanted[group]:.2f})" if group in wanted else " " * 7
    if "Pinocchio" in row:
        peer = row["Pinocchio"]
        text += f"{peer:15.3f}{row['one plain'] / peer:9.2f}{row['one packed'] / peer:9.2f}"
        text += f" ({wanted['Pinocchio']:.2f})" if "Pinocchio" in wanted else ""
    return text.rstrip()


def markdown(table: Table, dofs: Mapping[str, int]) -> Iterator[str]:
    """A table per robot: numbers by the first compiler, and ratios by all."""
    for robot, by_compiler in table.items():
        (first, rows), *others = by_compiler.items()
        peer = any("Pinocchio" in row for row in rows.values())
        head = [
            f"{robot}, {dofs[robot]} dofs",
            "operations",
            "statements",
            f"us, {first}",
            "packed",
            "ratio",
            "in turn",
        ]
        head += ["kB", "packed", "ratio", "compiler", *(f"{c}: time / in turn / kB / compiler" for c, _ in others)]
        head += ["Pinocchio, us", "plain / packed over it"] if peer else []
        yield from ("", _cells(head), _cells(["---", *["---:"] * (len(head) - 1)]))
        for quantity, row in rows.items():
            if "operations" not in row:
                cells = ["all in turn", *[""] * 5, f"{row['turn ratio']:.2f}", *[""] * 4]
            else:
                cells = [quantity, f"{row['operations']:,.0f}", f"{row['statements']:,.0f}"]
                cells += [
                    f"{row['one plain']:.3g}",
                    f"{row['one packed']:.3g}",
                    _ratio(row, "one"),
                    _ratio(row, "turn"),
                ]
                cells += [f"{row['kB plain']:.3g}", f"{row['kB packed']:.3g}", _ratio(row, "kB"), _ratio(row, "s")]
            for _, other in others:
                cells.append(" / ".join(_ratio(other[quantity], group) or "-" for group in ("one", "turn", "kB", "s")))
            if peer:
                P = row.get("Pinocchio")
                cells += [f"{P:.3g}", f"{row['one plain'] / P:.2f} / {row['one packed'] / P:.2f}"] if P else ["", ""]
            yield _cells(cells)


def _ratio(row: Mapping[str, float], group: str) -> str:
    return f"{row[f'{group} ratio']:.2f}" if f"{group} ratio" in row else ""


def _cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def misses(table: Table) -> list[str]:
    """A line for every goal that was not reached."""
    found = []
    for robot, by_compiler in table.items():
        for compiler, rows in by_compiler.items():
            for quantity, row in rows.items():
                reached = ratios(row)
                found += [
                    f"{robot} {quantity}, {compiler}: {MEASURES[group]} {reached[group]:.2f}, goal {goal:.2f}"
                    for group, goal in goals(robot, quantity, row).items()
                    if round(reached[group], 2) > goal
                ]
    return found


MEASURES = {"one": "time", "kB": "code", "Pinocchio": "time over Pinocchio's"}


def plot(path: Path, table: Table) -> None:
    """A panel per robot: ratios of packed to plain code, a group of bars per quantity, goals as black lines."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bars = {
        "one": ("time, called again and again", "#1b6ca8"),
        "turn": ("time, called in turn with others", "#67a9cf"),
        "kB": ("size of the code", "#b8860b"),
        "s": ("time of the compiler", "#9aa5ad"),
    }
    compilers = list(dict.fromkeys(c for by_compiler in table.values() for c in by_compiler))
    every = [row for by_compiler in table.values() for rows in by_compiler.values() for row in rows.values()]
    largest = max((row[f"{group} ratio"] for row in every for group in bars if f"{group} ratio" in row), default=1.0)
    figure, axes = plt.subplots(
        len(table), len(compilers), figsize=(6.5 * len(compilers), 2.1 * len(table) + 0.8), squeeze=False,
        sharey=True, constrained_layout=True,
    )  # fmt: skip
    for line, (robot, by_compiler) in zip(axes, table.items(), strict=True):
        for panel, compiler in zip(line, compilers, strict=True):
            rows = {q: row for q, row in by_compiler.get(compiler, {}).items() if "operations" in row}
            for k, (group, (label, color)) in enumerate(bars.items()):
                at = [
                    (i + 0.2 * (k - 1.5), ratios(row)[group])
                    for i, row in enumerate(rows.values())
                    if group in ratios(row)
                ]
                panel.bar(*zip(*at, strict=True) if at else ([], []), 0.19, color=color, label=label)
                for i, (quantity, row) in enumerate(rows.items()):
                    if group in (wanted := goals(robot, quantity, row)):
                        x = i + 0.2 * (k - 1.5)
                        panel.plot([x - 0.095, x + 0.095], [wanted[group]] * 2, color="black", lw=1.4)
            panel.axhline(1.0, color="black", lw=0.6, ls=":")
            panel.set_xticks(range(len(rows)), rows)
            panel.set_title(f"{robot}, {compiler}", fontsize="medium")
            panel.set_ylim(0, max(1.15, 1.05 * largest))
    for line in axes:
        line[0].set_ylabel("packed / plain")
    handles, labels = axes[0][0].get_legend_handles_labels()
    (goal,) = axes[0][0].plot([], [], color="black", lw=1.4)
    figure.legend([*handles, goal], [*labels, "goal"], loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)
