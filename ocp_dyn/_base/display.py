"""Display in notebooks, without a notebook package: objects as HTML, and the progress of long runs; pictures that may
fail.

A class derives from `Displayed` and writes its text and tables. A picture is drawn by a higher room, which registers
its function with `picture_of`; matplotlib is loaded when a notebook asks for the picture, not before.
"""

from __future__ import annotations

import base64
import sys
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import singledispatch
from html import escape
from importlib import import_module
from typing import Any, ClassVar, TypeVar, overload

import numpy as np

from .types import Array, ModelError, repr_in_message

CELL = "text-align: left; padding: 1px 10px 1px 0; vertical-align: top"
"""Style of a cell of a table; notebooks would align it to the right."""

FAILURES = (ArithmeticError, AttributeError, ImportError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""Exceptions that the numbers or a picture of a solution may raise."""

Picture = tuple[bytes, dict[str, int]]
"""A picture as .png, and its width and height in a notebook [pixels]."""


def attempt(what: str, make: Callable[[], object]) -> bool:
    """Whether `make` succeeds; an error becomes a line on standard error, and what was made before is kept."""
    try:
        make()
    except FAILURES as error:
        print(f"{what} could not be made: {type(error).__name__}: {error}", file=sys.stderr)
        return False
    return True


@singledispatch
def picture_of(shown: Any) -> Any:
    """A figure of an object, with a method `_repr_png_`; None for objects without one.

    Higher rooms add classes: `@picture_of.register(Model)`.
    """
    return None


@singledispatch
def viewer_of(shown: Any, q: Any = None, **options: Any) -> Any:
    """A running viewer of an object. Higher rooms add classes, as for `picture_of`; `show` calls this."""
    raise TypeError(f"a {type(shown).__name__} cannot be shown in a viewer")


@singledispatch
def figure_of(shown: Any, **options: Any) -> Any:
    """A figure of an object with the options of its method `plot`. Higher rooms add classes, as for `picture_of`."""
    raise TypeError(f"a {type(shown).__name__} has no figure")


def plot(shown: Any, **options: Any) -> Any:
    """A figure of an object, by the room that is registered for its class."""
    import_module("ocp_dyn.viz")  # registers its figures; by name, since it is a higher room
    return figure_of(shown, **options)


def show(shown: Any, q: Any = None, **options: Any) -> Any:
    """A running viewer of an object, by the room that is registered for its class."""
    import_module("ocp_dyn.viz")  # registers its viewers; by name, since it is a higher room
    return viewer_of(shown, q, **options)


class Displayed:
    """An object that a notebook shows as a picture, if a room draws one, beside the text of `_card_html`."""

    def _card_html(self) -> str:
        """Text and tables of the object, as HTML."""
        raise NotImplementedError

    def _repr_png_(self) -> Picture | None:
        import_module("ocp_dyn.viz")  # registers its pictures; by name, since it is a higher room
        try:
            figure = picture_of(self)
            return None if figure is None else figure._repr_png_()
        except (ArithmeticError, ModelError, ValueError):  # nothing to draw: an empty model, or one with symbols
            return None

    def _repr_html_(self) -> str:
        return beside(self._repr_png_(), self._card_html())


def beside(picture: Picture | None, text: str) -> str:
    """A picture and HTML text side by side; below each other where there is little room."""
    if picture is None:
        return f"<div>{text}</div>"
    flow = "display: flex; flex-wrap: wrap; gap: 1em; align-items: flex-start"
    return f'<div style="{flow}"><div>{image(picture)}</div><div>{text}</div></div>'


def image(picture: Picture) -> str:
    """A picture as HTML that needs no file."""
    data, size = picture
    source = base64.b64encode(data).decode()
    return f'<img style="width: {size["width"]}px; max-width: 100%" alt="picture" src="data:image/png;base64,{source}">'


def heading(name: str, rest: str) -> str:
    """A line that opens with a name in bold."""
    return f'<div style="margin-bottom: 4px"><b>{escape(name)}</b>{escape(rest)}</div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], indent: Sequence[int] = ()) -> str:
    """A table of texts as HTML. indent: depths of the rows in a tree, by which their first cells are moved in."""

    def line(cells: Sequence[str], tag: str, depth: int = 0) -> str:
        moved = f"; padding-left: {1.2 * depth:.1f}em" if depth else ""
        styles = [f"{CELL}{moved}", *[CELL] * (len(cells) - 1)]
        inner = "".join(f'<{tag} style="{s}">{escape(c)}</{tag}>' for s, c in zip(styles, cells, strict=True))
        return f"<tr>{inner}</tr>"

    given = [list(row) for row in rows]
    depths = [*indent] or [0] * len(given)
    body = "".join(line(row, "td", depth) for row, depth in zip(given, depths, strict=True))
    return f"<table>{line(head, 'th') if head else ''}{body}</table>"


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 15px system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #30363d }}
img {{ max-width: 100% }} table {{ border-collapse: collapse; margin: 1em 0 }}
tr:nth-child(even) {{ background: #eceef1 }}</style></head>
<body>
{body}
</body></html>
"""


def page(title: str, body: str) -> str:
    """A page for a browser, in HTML."""
    return PAGE.format(title=escape(title), body=body)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows of texts as lines, every column as wide as its widest text."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


class Tabular:
    """An object that `print` and notebooks show as a table, with a head and lines of texts."""

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        """Head of the table, and the lines below it."""
        raise NotImplementedError

    def __str__(self) -> str:
        head, lines = self._head_and_lines()
        return aligned([head, *lines])

    def _repr_html_(self) -> str:
        return table(*self._head_and_lines())


@dataclass(frozen=True)
class Table(Tabular):
    """A table of texts that was made for display."""

    head: Sequence[str]
    lines: list[tuple[str, ...]]

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        return self.head, self.lines

    def __repr__(self) -> str:
        return str(self)


MOST_ROWS, MOST_COLUMNS, MOST_NAMES = 10, 7, 40
"""Largest numbers of rows, of columns and of arrays that a table shows; the middle of larger ones is left out."""


class Columns(dict[str, Array], Tabular):
    """Columns of numbers by name, a dict that `print` and notebooks show as a table; the middle of a long or wide one
    is left out."""

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        rows = max((len(column) for column in self.values()), default=0)
        names = _ends([*self], MOST_COLUMNS)
        shown = [_ends([f"{x:.4g}" for x in self[name]], MOST_ROWS) if name in self else [] for name in names]
        longest = max(map(len, shown), default=0)
        lines = [tuple(column[k] if column else LEFT_OUT for column in shown) for k in range(longest)]
        size = f"{rows} rows, {len(self)} columns"
        return (names, [*lines, (size, *[""] * (len(names) - 1))]) if names else ((size,), [])

    __str__ = __repr__ = Tabular.__str__


class Listing(dict[str, Any], Tabular):
    """Values by name, a dict that `print` and notebooks show with a line for each; arrays by their shape and range."""

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        names = _ends([*self], MOST_NAMES)
        return ("name", "value"), [(name, _short(self[name]).strip("'") if name in self else "") for name in names]

    __str__ = __repr__ = Tabular.__str__


def _short(value: Any) -> str:
    """repr of a value in one line; arrays by their size and range."""
    if isinstance(value, np.ndarray) and value.size > 1:
        return f"{' x '.join(map(str, value.shape))} numbers from {value.min():.4g} to {value.max():.4g}"
    return f"{value:.6g}" if isinstance(value, float) else " ".join(repr_in_message(value).split()).replace("( [", "([")


class Brief:
    """A base of dataclasses with a repr of one line: the fields that differ from their defaults, arrays by their size
    and range. Derived classes keep it, unless they write one of their own."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]  # a dataclass replaces what it only inherits

    def __repr__(self) -> str:
        return brief(self) if is_dataclass(self) else object.__repr__(self)


def brief(shown: Any) -> str:
    """repr of a dataclass in one line, see `Brief`."""
    plain = float, int, str, type(None)
    words = [
        f"{one.name}={_short(value)}"
        for one, value in ((one, getattr(shown, one.name)) for one in fields(shown) if one.repr)
        if not (value is one.default or (isinstance(value, plain) and value == one.default))
    ]
    return f"{type(shown).__name__}({', '.join(words)})"


E = TypeVar("E")


class Several(tuple[E, ...]):
    """A tuple whose repr is one line, however many entries it has."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"({_counted([_short(value) for value in self])}{',' * (len(self) == 1)})"


class ByName(dict[str, E]):
    """A dict by names whose repr is one line, however many entries it has."""

    def __repr__(self) -> str:
        return f"{{{_counted([f'{name!r}: {_short(value)}' for name, value in self.items()])}}}"


def _counted(texts: list[str], most: int = 200) -> str:
    """Texts one after the other; of more than `most` letters the first ones, and how many there are."""
    text = ", ".join(texts)
    return text if len(text) <= most else f"{text[:most]}...: {len(texts)} in all"


LEFT_OUT = "..."


def _ends(texts: list[str], most: int) -> list[str]:
    """The texts, or the first and last ones of more than `most`."""
    half = most // 2
    return texts if len(texts) <= most else [*texts[: most - half], LEFT_OUT, *texts[-half:]]


@dataclass(frozen=True, eq=False)
class Entries(Sequence[E], Tabular):
    """A sequence of entries that `print` and notebooks show as a table, with a line for one or several of them."""

    entries: tuple[E, ...]
    """The entries, which indices and loops give one by one."""
    head: ClassVar[Sequence[str]] = ()

    def lines(self) -> list[tuple[str, ...]]:
        """Lines of the table, below its head; all texts."""
        raise NotImplementedError

    def _head_and_lines(self) -> tuple[Sequence[str], list[tuple[str, ...]]]:
        return self.head, self.lines()

    @overload
    def __getitem__(self, k: int) -> E: ...
    @overload
    def __getitem__(self, k: slice) -> Sequence[E]: ...
    def __getitem__(self, k: int | slice) -> E | Sequence[E]:
        return self.entries[k]

    def __len__(self) -> int:
        return len(self.entries)


def folded(summary: str, content: str, opened: bool = False) -> str:
    """Content that a click on its summary shows or hides."""
    return f"<details{' open' if opened else ''}><summary>{escape(summary)}</summary>{content}</details>"


class Progress:
    """Shows what a run does: `say = Progress(); say("solving ...")`. With on=False it shows nothing.

    In a terminal every text is a line on standard error. In a notebook, where standard error is a red box, a text
    replaces the one before, and the last one stays. A closed stream does not end the run.
    """

    def __init__(self, on: bool = True) -> None:
        self.on = on
        self._publish = notebook_publisher() if on else None
        self._id = ""

    def __call__(self, text: str) -> None:
        if not self.on:
            return
        try:
            if self._publish is None:
                print(text, file=sys.stderr, flush=True)
            else:
                again, self._id = bool(self._id), self._id or uuid.uuid4().hex
                self._publish({"text/plain": text}, {}, transient={"display_id": self._id}, update=again)
        except (OSError, ValueError):
            self.on = False


REPORT_INTERVAL = 2.0
"""Time after which a `Count` reports, and between two of its reports [s]."""


class Count:
    """Progress of a work of equal parts that may take long: "writing ID; 3 of 12 functions, 4 s".

    Nothing is said before REPORT_INTERVAL has passed. total: number of the parts, once known; done: those that are
    finished.
    """

    def __init__(self, say: Callable[[str], None], total: int = 0, parts: str = "functions") -> None:
        self.total, self.done = total, 0
        self._say, self._parts = say, parts
        self._begin = self._said = time.monotonic()

    def tell(self, what: str, ahead: float = 0.0) -> None:
        """Says what comes next, if it is time. ahead: time that it will take [s]; what takes long is said at once."""
        now = time.monotonic()
        if now - self._said > REPORT_INTERVAL or ahead > REPORT_INTERVAL:
            self._said = now
            so_far = f"; {self.done} of {self.total} {self._parts}, {now - self._begin:.0f} s" if self.total else ""
            self._say(f"{what}{so_far}")


def notebook_publisher() -> Any:
    """The function by which a running notebook kernel publishes output; None outside of notebooks.

    It is found without importing a notebook package: in a notebook IPython is loaded.
    """
    ipython: Any = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if hasattr(ipython, "get_ipython") else None
    return shell.display_pub.publish if hasattr(shell, "kernel") else None
