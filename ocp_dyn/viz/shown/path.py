"""The path of an animation, which a notebook shows as the animation itself."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

from ..._base.files import path_of, whole_file
from ..._base.types import repr_in_message

LARGEST_SHOWN = 32_000_000
"""Size [bytes] of the largest file that is put into a notebook; of a larger one the path is shown."""

FRAME_HEIGHT = 560
"""Height of the frame in which a page plays [pixels]."""

_Plain: Any = type(Path())


class AnimationPath(_Plain):  # type: ignore[misc]  # Path itself cannot be derived from before Python 3.12
    """The path of a .gif, .html or .mp4, as `animate` returns it; it can be used as any `Path`."""

    def _repr_html_(self) -> str | None:
        """The animation as HTML that needs no further file; None if the file is gone, or large."""
        kind = self.suffix.lower()
        if kind not in (".gif", ".html", ".mp4") or not self.is_file() or self.stat().st_size > LARGEST_SHOWN:
            return None
        if kind == ".html":
            return framed(self.read_text(encoding="utf-8"))
        data = base64.b64encode(self.read_bytes()).decode()
        if kind == ".gif":
            return f'<img alt="animation" style="max-width: 100%" src="data:image/gif;base64,{data}">'
        return (
            f'<video controls autoplay loop muted style="max-width: 100%" src="data:video/mp4;base64,{data}"></video>'
        )


def framed(page: str) -> str:
    """A page inside another one, without a file."""
    style = f"width: 100%; height: {FRAME_HEIGHT}px; border: 0"
    return f'<iframe style="{style}" srcdoc="{escape(page)}"></iframe>'


class AnimationPage:
    """An animation without a file, as `animate()` returns it: a notebook shows it; `save` writes the page."""

    def __init__(self, page: str, title: str) -> None:
        self._page, self._title = page, title

    def save(self, path: str | Path) -> AnimationPath:
        """Writes the page as .html, completely or not at all; returns its path."""
        file = path_of(path)
        if file.suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"{repr_in_message(file.name)}: a page is written as .html; animate({file.name!r}) writes "
                             "other files")  # fmt: skip
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file) as partial:
            partial.write_text(self._page, encoding="utf-8")
        return AnimationPath(file)

    def __repr__(self) -> str:
        return f"Animation of {self._title}: a notebook shows it; animate('walk.gif') writes a file"

    def _repr_html_(self) -> str:
        return framed(self._page)
