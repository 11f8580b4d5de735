"""The path of an animation, which a notebook shows as the animation itself."""

from __future__ import annotations

import base64
from html import escape
from pathlib import Path
from typing import Any

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
            page = escape(self.read_text(encoding="utf-8"))
            style = f"width: 100%; height: {FRAME_HEIGHT}px; border: 0"
            return f'<iframe style="{style}" srcdoc="{page}"></iframe>'
        data = base64.b64encode(self.read_bytes()).decode()
        if kind == ".gif":
            return f'<img alt="animation" style="max-width: 100%" src="data:image/gif;base64,{data}">'
        return (
            f'<video controls autoplay loop muted style="max-width: 100%" src="data:video/mp4;base64,{data}"></video>'
        )
