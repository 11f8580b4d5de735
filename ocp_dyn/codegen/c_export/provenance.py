"""Statements of an export's header about its origin: generator, models with gravity and coordinates, axes of forces."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from ...native.provenance import generator
from ..text.interface import ExportedFunction
from ..text.names import printable

WIDTH = 92
"""Length of the lines of a comment."""

ROWS_OF_CONSTRAINTS = ("lam", "Lam", "G", "gamma", "phi", "phi_dot", "dlam_dq", "dLam_dq")
"""Arguments of which one at least must occur for a header to describe constraints."""


def lines(entries: Sequence[ExportedFunction]) -> list[str]:
    """Lines of the header's first comment: generator, models, forces of constraints."""
    known = [entry for entry in entries if entry.description]
    models = list(dict.fromkeys(_model(entry) for entry in known))
    result = [f" * Generator: {generator()}"]
    for model in models:
        result += [line for paragraph in model for line in paragraph]
    for entry in known:
        if entry.description and entry.description.loads:
            result += [" * With loads:", *_paragraph(f"{entry.public}: {entry.description.loads}")]
    for (constraints, labels), names in _constraints(known).items():
        result.append(f" * Rows of {', '.join(labels)} in {', '.join(names)}:")
        result += [line for constraint in constraints for line in _paragraph(f"{constraint[0]}: {constraint[1]}")]
    return result


def digests(entries: Sequence[ExportedFunction]) -> list[str]:
    """Digests of the models of an export, without repetition; "" for models that have none."""
    return list(dict.fromkeys(entry.description.conventions.digest for entry in entries if entry.description))


def _model(entry: ExportedFunction) -> tuple[tuple[str, ...], ...]:
    """Paragraphs on the model of a function."""
    description = entry.description
    if description is None:
        return ()
    conventions = description.conventions
    digest = f" (digest of its data: {conventions.digest})" if conventions.digest else ""
    head = _paragraph(f"{description.model}{digest}")
    if description.gravity_is_input:
        gravity = "an input of the function"
    elif conventions.gravity is None:
        gravity = "symbolic"
    else:
        gravity = f"({', '.join(f'{x:.12g}' for x in conventions.gravity)}) m/s^2 in world axes"
    coordinates = [_paragraph(f"{name}: {text}") for name, text in conventions.joints]
    about = [" * Coordinates of joints:"] if coordinates else []
    one_dof = " * All other joints have one angle [rad] or displacement [m], and its rate." if coordinates else ""
    lines = [*about, *(line for paragraph in coordinates for line in paragraph), *filter(None, [one_dof])]
    if any("quaternion" in text for _, text in conventions.joints):
        lines.append(" * A quaternion must not be zero: with zeros, or a null pointer, for q the results are nan.")
    return (" * Model:", *head), (f" * Gravity: {gravity}",), tuple(lines)


def _constraints(
    entries: Iterable[ExportedFunction],
) -> dict[tuple[tuple[tuple[str, str], ...], tuple[str, ...]], list[str]]:
    """Names of the functions for every set of constraints and of arguments whose rows belong to it."""
    found: dict[tuple[tuple[tuple[str, str], ...], tuple[str, ...]], list[str]] = {}
    for entry in entries:
        labels = tuple(a.label for a in entry.arguments if a.label in ROWS_OF_CONSTRAINTS)
        if entry.description and entry.description.forces and labels:
            found.setdefault((entry.description.forces, labels), []).append(entry.public)
    return found


def _paragraph(text: str) -> list[str]:
    """A paragraph of a comment, wrapped at spaces, its continuation lines moved in."""
    wrapped = textwrap.wrap(printable(text), WIDTH - 5, subsequent_indent="  ", break_long_words=False,
                            break_on_hyphens=False)  # fmt: skip
    return [f" *   {line}" for line in wrapped]
