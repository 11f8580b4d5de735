"""Display of a solution in a notebook: a strip of poses and a table of its main figures."""

from __future__ import annotations

from ..._display import Picture, image, table
from .motion import Motion

POSES = 7


def picture(solution: Motion) -> Picture | None:
    """A strip of poses; None if nothing can be drawn."""
    from ...viz import stick_figure

    try:
        drawn: Picture = stick_figure(solution, poses=POSES)._repr_png_()  # type: ignore[attr-defined]
    except ValueError:  # no shapes in the model, or positions that are not finite
        return None
    return drawn


def card(solution: Motion, rows: list[tuple[str, str]]) -> str:
    """The strip of poses and a table of figures, as self-contained HTML; rows: pairs (name, value as text)."""
    drawn = picture(solution)
    return ("" if drawn is None else image(drawn)) + table((), rows)
