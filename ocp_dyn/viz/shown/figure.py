"""A matplotlib figure that a notebook shows without any setting. Imported when something is drawn: it loads
matplotlib."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

SHARPNESS = 2
"""Pixels of the picture per pixel of its place in a notebook, for screens of high resolution."""


class ShownFigure(Figure):
    """A figure outside matplotlib's global list of figures; a notebook shows it as the last value of a cell.

    `%matplotlib inline` and pyplot are not needed, and do no harm.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture as .png, and its width and height in a notebook [pixels]."""
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=SHARPNESS * self.dpi, facecolor="white")
        width, height = (round(float(inches) * float(self.dpi)) for inches in self.get_size_inches())
        return stream.getvalue(), {"width": width, "height": height}
