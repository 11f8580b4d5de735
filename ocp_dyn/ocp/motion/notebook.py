"""Display of a solution in a notebook: a strip of poses, the outcome in numbers, and the cost by term."""

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
        made = stick_figure(solution, poses=POSES)
    except ValueError:  # no shapes in the model, or positions that are not finite
        return None
    stream = io.BytesIO()
    made.savefig(stream, format="png", dpi=80)
    return stream.getvalue()


def card(solution: Motion) -> str:
    """The strip of poses and the outcome in numbers, as self-contained HTML."""
    drawn = picture(solution)
    image = ""
    if drawn is not None:
        data = base64.b64encode(drawn).decode()
        image = f'<img style="max-width: 100%" alt="poses" src="data:image/png;base64,{data}">'
    lines = [f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>" for name, value in facts(solution)]
    return f"{image}<table>{''.join(lines)}</table>"


def facts(solution: Motion) -> list[tuple[str, str]]:
    """The outcome as pairs (name, value)."""
    found = [("status", solution.status + ("" if solution.converged else ": not converged"))]
    found += [("objective", f"{solution.objective:.6g}")]
    if len(solution.cost) > 1:
        found += [(f"cost: {name}", f"{value:.6g}") for name, value in solution.cost.items()]
    found += [("duration", f"{solution.duration:.4g} s")]
    if solution.step_length:
        found += [("step length", f"{solution.step_length:.4g} m")]
        found += [("speed", f"{solution.step_length / solution.duration:.4g} m/s")]
    for key, what, unit in (("iterations", "iterations", ""), ("solve_seconds", "time to solve", " s")):
        if key in solution.stats:
            found.append((what, f"{solution.stats[key]:.4g}{unit}"))
    if not solution.converged and solution.stats.get("faults"):
        found += [("worst fault", str(solution.stats["faults"][0]))]
    return found
