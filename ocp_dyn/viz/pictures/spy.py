"""Patterns of nonzeros: H, its L'DL factor, G, and the KKT matrix of an optimal control problem, with names at the
axes.

Cells of H and G are colored by the side of the joints: blue if row and column belong to the left, vermilion if both
belong to the right, gray otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import casadi as ca
import numpy as np
from casadi import DM, MX, SX

from ..._base.checks import choice
from ..._base.types import repr_in_message, sequence, truth
from ...dynamics.rnea_crba_aba import mass_matrix
from ...functions.description import describe
from ...functions.function import function
from ...gait.bodies import named_side
from ...mechanism import Model
from ..drawing import COLORS, FAINT, FORCE, INK, bare, figure, picture_format, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Groups = tuple[tuple[str, int], ...]
"""Names and sizes of consecutive groups of rows or columns."""

CELL, SMALLEST_CELL = 0.165, 0.1
"""Side of a cell with its name beside it, and the smallest side of a cell [inches]."""

WIDEST = 7.0
"""Largest side of the picture of one matrix [inches]."""

LETTER, TITLE_LETTER, MARGIN, HEAD = 0.06, 0.088, 0.15, 0.4
"""Widths of a letter of a name and of the title, margin, and height of the title [inches]."""

PIXELS = 1400
"""Largest number of pixels along a side; a pixel of a larger matrix stands for several entries."""

LINES = "#DDE1E5"
"""Color of the lines between rows and columns."""

HEAVY = "#4A5460"
"""Color of the entries of matrices without sides."""

ORDERS = ("kkt", "stages")
"""Orders of the variables and rows of a KKT matrix."""


@dataclass(frozen=True)
class NamedPattern:
    """The pattern of a matrix with names of its rows and columns, or of groups of them.

    rows, columns: a name for each, or (). row_groups, column_groups: groups, in place of names. title: for the picture.
    """

    sparsity: ca.Sparsity
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    row_groups: Groups = ()
    column_groups: Groups = ()
    title: str = ""


@runtime_checkable
class HasKkt(Protocol):
    """An optimal control problem, as `ocp_dyn.ocp.Problem`."""

    def kkt_pattern(self, order: str = "kkt") -> NamedPattern: ...


def spy(
    matrix: Any,
    path: str | Path | None = None,
    *,
    factor: bool | None = None,
    output: str = "",
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    order: str = "kkt",
) -> Figure:
    """The pattern of nonzeros of a matrix, with names at its axes; written to `path` (.png, .pdf, .svg) if given.

        spy(model)                                              # H(q) and its factor L, H = L' D L
        spy(od.function(od.constraint_jacobian, model, feet))   # G(q), with the names of its rows and of the joints
        spy(H, rows=model.qd_names, columns=model.qd_names)     # any matrix: SX, MX, DM, Sparsity, numpy array
        spy(problem)                                            # [W A'; A 0] of an optimal control problem

    factor: whether to draw the factor L of a symmetric matrix beside it, factorized from the last row to the first
    without pivoting [RBDA, 6.5]; entries that are zero in the matrix, the fill-in, are green. True for a model by
    default. output: of a Function with several outputs; default: its first matrix. rows, columns: names, where the
    matrix does not bring them along. order: of the KKT matrix of a problem: "kkt", variables then constraints, each by
    phase; or "stages", by time, so that the matrix is a band. It builds the problem's program, as `solve` does.
    `TypeError` for anything else, `ValueError` for names that do not fit, or a factor of a matrix that is not
    symmetric.

    >>> figure = od.viz.spy(arm)
    >>> [text.get_text() for text in figure.texts]
    ['H of pendulum 2: 2 × 2, 4 nonzeros (100 %)', 'L, 3 nonzeros, no fill-in']
    """
    picture_format(path)
    choice(order, ORDERS, "spy: order")
    with_factor = isinstance(matrix, Model) if factor is None else truth(factor, "spy: factor")
    patterns = [_named(_pattern_of(matrix, output, order), rows, columns)]
    if with_factor:
        patterns.append(factor_of(patterns[0]))
    fill = patterns[0].sparsity if with_factor else None
    boxes = [_Box(pattern, k == 0) for k, pattern in enumerate(patterns)]
    wide = sum(box.width for box in boxes) + MARGIN * (len(boxes) + 1)
    tall = max(box.height for box in boxes) + HEAD + MARGIN
    made = figure(wide, tall)
    left = MARGIN
    for k, box in enumerate(boxes):
        box.draw(made, left, fill if k else None)
        left += box.width + MARGIN
    save(made, path, dpi=200)
    return made


def factor_of(pattern: NamedPattern) -> NamedPattern:
    """The pattern of the unit lower factor L of A = L' D L, from the last row to the first [RBDA, table 6.3].

    Row k of A adds a_ki a_kj / a_kk to entry (i, j); numbers that cancel by chance do not count. ValueError unless the
    pattern is symmetric.
    """
    A = pattern.sparsity
    if A.shape[0] != A.shape[1] or not A.is_symmetric():
        raise ValueError(f"spy: factor=True needs a symmetric matrix, got a pattern of shape {A.shape} that is not")
    entries = [set(A.row()[A.colind()[k] : A.colind()[k + 1]]) for k in range(A.shape[0])]
    for k in reversed(range(A.shape[0])):
        before = sorted(j for j in entries[k] if j < k)
        for n, i in enumerate(before):
            entries[i].update(before[: n + 1])
    found = [(k, j) for k, row in enumerate(entries) for j in (*sorted(i for i in row if i < k), k)]
    L = ca.Sparsity.triplet(A.shape[0], A.shape[0], [k for k, _ in found], [j for _, j in found])
    below = sum(i > j for i, j in zip(A.row(), A.get_col(), strict=True))
    added = L.nnz() - below - A.shape[0]
    title = f"L, {L.nnz()} nonzeros, {f'{added} of them fill-in (green)' if added else 'no fill-in'}"
    return replace(pattern, sparsity=L, title=title)


def _pattern_of(matrix: Any, output: str, order: str) -> NamedPattern:
    """The pattern of anything that `spy` takes."""
    if not isinstance(output, str) or (output and not isinstance(matrix, ca.Function)):
        raise ValueError(
            f"spy: output is the name of an output of a Function, got {repr_in_message(output)}: leave it out"
        )
    if isinstance(matrix, NamedPattern):
        return matrix
    if isinstance(matrix, Model):
        return _of_function(function(mass_matrix, matrix), "")
    if isinstance(matrix, ca.Function):
        return _of_function(matrix, output)
    if isinstance(matrix, HasKkt) and not isinstance(matrix, type):
        return matrix.kkt_pattern(order)
    if isinstance(matrix, ca.Sparsity):
        return _titled(matrix, "")
    if isinstance(matrix, (SX, MX, DM)):
        return _titled(matrix.sparsity(), "")
    try:
        array = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    except (TypeError, ValueError):
        array = np.zeros(0, dtype=object)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise TypeError(
            "spy needs a model, a Function, a problem, or a matrix (SX, MX, DM, Sparsity, array of two dimensions), "
            f"got {repr_in_message(matrix)}"
        )
    i, j = np.nonzero(array)
    return _titled(ca.Sparsity.triplet(array.shape[0], array.shape[1], i.tolist(), j.tolist()), "")


def _of_function(f: ca.Function, output: str) -> NamedPattern:
    names = f.name_out()
    if output and output not in names:
        raise KeyError(f"spy: {f.name()} has no output {repr_in_message(output)}; its outputs are {', '.join(names)}")
    matrices = [k for k in range(f.n_out()) if min(f.size_out(k)) > 1]
    k = names.index(output) if output else (matrices or [0])[0]
    described = describe(f)
    label = described.labels.get(names[k]) if described else None
    rows, columns = (label.rows, label.columns) if label else ((), ())
    title = names[k] + (f" of {described.model.replace('_', ' ')}" if described and described.model else "")
    return replace(_titled(f.sparsity_out(k), title), rows=rows, columns=columns)


def _titled(sparsity: ca.Sparsity, name: str) -> NamedPattern:
    n, m = sparsity.shape
    share = 100 * sparsity.nnz() / max(1, n * m)
    title = f"{n} × {m}, {sparsity.nnz()} nonzeros ({share:.3g} %)"
    return NamedPattern(sparsity, title=f"{name}: {title}" if name else title)


def _named(pattern: NamedPattern, rows: Iterable[str], columns: Iterable[str]) -> NamedPattern:
    """The pattern with names that the user gives; ValueError if there are too many or too few."""
    found = []
    for what, given, own, size in (
        ("rows", rows, pattern.rows, pattern.sparsity.shape[0]),
        ("columns", columns, pattern.columns, pattern.sparsity.shape[1]),
    ):
        names = tuple(sequence(given, f"spy: {what} must be a sequence of names"))
        if names and (len(names) != size or not all(isinstance(name, str) for name in names)):
            raise ValueError(f"spy: {what} must be {size} names, got {len(names)}: {repr_in_message(names)}")
        found.append(names or own)
    return replace(pattern, rows=found[0], columns=found[1])


class _Box:
    """The place of a matrix in the picture [inches]: its cells, and the names on its left and above it."""

    def __init__(self, pattern: NamedPattern, named_rows: bool) -> None:
        self.pattern = pattern
        n, m = (max(1, k) for k in pattern.sparsity.shape)
        self.cell = min(CELL, WIDEST / max(n, m))
        self.rows = _groups(pattern.rows, pattern.row_groups, n, self.cell)
        self.named_rows = named_rows
        self.columns = _groups(pattern.columns, pattern.column_groups, m, self.cell)
        self.left, self.above = (
            0.15 + LETTER * max((len(name) for name, _ in groups), default=0)
            for groups in (self.rows if named_rows else (), self.columns)
        )
        least = TITLE_LETTER * len(pattern.title)
        self.width = max(self.left + self.cell * m, least)
        self.height = self.above + self.cell * n

    def draw(self, made: Figure, left: float, fill: ca.Sparsity | None) -> None:
        """Draws the matrix; entries that `fill` does not have are green."""
        wide, tall = (float(x) for x in made.get_size_inches())
        n, m = self.pattern.sparsity.shape
        bottom = tall - HEAD - self.above - self.cell * n
        axes = made.add_axes(
            ((left + self.left) / wide, bottom / tall, max(1, m) * self.cell / wide, max(1, n) * self.cell / tall)
        )
        bare(axes)
        axes.set_xlim(0, max(1, m))
        axes.set_ylim(max(1, n), 0)
        self._cells(axes, fill)
        self._names(axes)
        made.text(left / wide, 1 - 0.2 / tall, self.pattern.title, fontsize=9, color=INK, va="center", weight="bold")

    def _cells(self, axes: Axes, fill: ca.Sparsity | None) -> None:
        A = self.pattern.sparsity
        n, m = A.shape
        i, j = np.array(A.row(), dtype=int), np.array(A.get_col(), dtype=int)
        if max(n, m) > PIXELS or self.cell * 200 < 3:
            _raster(axes, i, j, (n, m))
        else:
            self._squares(axes, i, j, fill)
        axes.plot([0, m, m, 0, 0], [0, 0, n, n, 0], color=FAINT, linewidth=0.8, clip_on=False, zorder=4)
        for groups, line in ((self.rows, axes.axhline), (self.columns, axes.axvline)):
            for end in np.cumsum([size for _, size in groups])[:-1]:
                line(float(end), color=LINES, linewidth=0.5, zorder=1.5)

    def _squares(self, axes: Axes, i: Any, j: Any, fill: ca.Sparsity | None) -> None:
        from matplotlib.collections import PolyCollection

        gap = 0.07 if self.cell > 0.05 else 0.0
        low, high = gap, 1 - gap
        corners = np.array([[low, low], [high, low], [high, high], [low, high]])
        squares = np.column_stack([j, i])[:, None, :] + corners
        colors = self._colors(i, j)
        if fill is not None:
            known = set(zip(fill.row(), fill.get_col(), strict=True)) | {(k, k) for k in range(fill.shape[0])}
            colors = [c if e in known else FORCE for c, e in zip(colors, zip(i, j, strict=True), strict=True)]
        axes.add_collection(PolyCollection(list(squares), facecolors=colors, linewidths=0, zorder=2), autolim=False)

    def _colors(self, i: Any, j: Any) -> list[str]:
        """Colors of entries by the sides that the names of their rows and columns tell."""
        if not self.pattern.columns:
            return [HEAVY] * len(i)
        of_columns: list[Any] = [named_side(name) for name in self.pattern.columns]
        of_rows: list[Any] = [named_side(name) for name in self.pattern.rows]
        if not of_rows:
            return [COLORS[of_columns[c]] for c in j]
        pairs = [(of_rows[r], of_columns[c]) for r, c in zip(i, j, strict=True)]
        return [COLORS[a if a == b else "middle"] for a, b in pairs]

    def _names(self, axes: Axes) -> None:
        """Writes the names of rows on the left and those of columns above."""
        for groups, upright in ((self.rows if self.named_rows else (), False), (self.columns, True)):
            start = 0.0
            for name, size in groups:
                middle, away = start + size / 2, -0.06 / self.cell
                if upright:
                    axes.text(middle, away, name, fontsize=7, color=INK, ha="center", va="bottom", rotation=90)
                else:
                    axes.text(away, middle, name, fontsize=7, color=INK, ha="right", va="center")
                start += size


def _groups(names: tuple[str, ...], groups: Groups, size: int, cell: float) -> Groups:
    """The names to write: of single rows if they fit, else of joints ("root" for root.x, root.y, ...), else none."""
    if groups:
        return groups
    if not names:
        return ()
    if cell >= SMALLEST_CELL:
        return tuple((name, 1) for name in names)
    joints = tuple((joint, len(list(members))) for joint, members in groupby(name.partition(".")[0] for name in names))
    return joints if cell * size / len(joints) >= SMALLEST_CELL else ()


def _raster(axes: Axes, i: Any, j: Any, shape: tuple[int, int]) -> None:
    """Draws a large matrix as an image; a pixel is the darker, the more of its entries are nonzero."""
    n, m = shape
    scale = min(1.0, PIXELS / max(n, m))
    rows, columns = max(1, round(n * scale)), max(1, round(m * scale))
    counts = np.zeros((rows, columns))
    np.add.at(counts, (np.minimum((i * rows) // n, rows - 1), np.minimum((j * columns) // m, columns - 1)), 1.0)
    most = (n / rows) * (m / columns)
    strength = np.where(counts > 0, 0.45 + 0.55 * np.minimum(1.0, counts / most), 0.0)[..., None]
    ink = np.array([int(HEAVY[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    axes.imshow(1 - strength * (1 - ink), extent=(0, m, n, 0), interpolation="nearest", aspect="auto", zorder=1)
