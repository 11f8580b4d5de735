"""Pages of the documentation as data: their code cells, and the rows of their tables of calls."""

import re
from dataclasses import dataclass
from pathlib import Path

import matplotlib

DOCS = Path(__file__).parents[2] / "docs"


@dataclass(frozen=True)
class Row:
    """A row of a table of calls: code of the other library, code of ours, and how the first follows from the second.

    place: file and line. remark: our cell without its code.
    """

    place: str
    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    relation: str
    remark: str


def rows(page: str) -> list[Row]:
    """All rows of the page's tables whose second column is headed "ocp_dyn" and whose first cell holds code."""
    found, inside = [], False
    for number, line in enumerate((DOCS / page).read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) < 2:
            inside = False
        elif cells[1] == "ocp_dyn" and cells[0]:
            inside = True
        elif inside and _code(cells[0]):
            relation = (_code(cells[2]) or ("",))[0] if len(cells) > 2 else ""
            remark = re.sub(r"`[^`]*`", "", cells[1])
            found.append(Row(f"{page}:{number}", _code(cells[0]), _code(cells[1]), relation, remark))
    return found


def _code(cell: str) -> tuple[str, ...]:
    return tuple(code.replace("\\|", "|") for code in re.findall(r"`([^`]+)`", cell))


def cells(page: str) -> list[str]:
    """The code cells of a page, without their options."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"^:[\w-]+:.*\n", "", block, flags=re.MULTILINE) for block in blocks]


def namespace(page: str, count: int | None = None) -> dict[str, object]:
    """The names that the page's first `count` cells define; all cells by default."""
    matplotlib.use("Agg")
    space: dict[str, object] = {}
    for cell in cells(page)[:count]:
        exec(cell, space)
    return space


def value(codes: tuple[str, ...], space: dict[str, object]) -> object:
    """The value of the last code, after the others have run."""
    for code in codes[:-1]:
        exec(code, space)
    return eval(codes[-1], space)
