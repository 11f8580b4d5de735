"""Display of a solution in a notebook: a strip of poses and a table of its main figures."""

from __future__ import annotations

import base64
import html
import io

from .motion import Motion

POSES = 7


def picture(solution: Motion) -> bytes | None:
    """A strip of poses as .png; None if nothing can be drawn."""
    from ...viz import stick_figure

    try:
        strip = stick_figure(solution, poses=POSES)
    except ValueError:  # no shapes in the model, or positions that are not finite
        return None
    stream = io.BytesIO()
    strip.savefig(stream, format="png", dpi=80)
    return stream.getvalue()


def card(solution: Motion, rows: list[tuple[str, str]]) -> str:
    """The strip of poses and a table of figures, as self-contained HTML; rows: pairs (name, value as text)."""
    drawn = picture(solution)
    image = ""
    if drawn is not None:
        data = base64.b64encode(drawn).decode()
        image = f'<img style="max-width: 100%" alt="poses" src="data:image/png;base64,{data}">'
    lines = [f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>" for name, value in rows]
    return f"{image}<table>{''.join(lines)}</table>"
