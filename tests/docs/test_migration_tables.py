"""The tables of docs/coming_from: every call on our side names something that exists, and runs."""

import ast
import builtins
import inspect
import re

import pytest

import ocp_dyn as od
from ocp_dyn._names import _ELSEWHERE
from ocp_dyn.mechanism.builder import DofOptions
from tests.docs.pages import DOCS, namespace, rows

PAGES = sorted(str(path.relative_to(DOCS)) for path in (DOCS / "coming_from").glob("*.md"))
LEAST = {"pinocchio": 30, "rbdl": 40, "mujoco": 30, "opensim": 20, "bioptim_muscod": 20, "crocoddyl": 12}
"""Least number of rows by page."""


def keywords() -> set[str]:
    """Names of arguments of the library's functions and classes."""
    found = set(DofOptions.__annotations__)
    for place in (od, od.ocp, od.ModelBuilder, od.Model):
        for member in vars(place).values():
            if callable(member) and not (isinstance(member, type) and issubclass(member, BaseException)):
                found |= set(inspect.signature(member).parameters)
    return found


KEYWORDS = keywords()


@pytest.fixture(scope="module")
def spaces():
    """The names that each page's cells and the calls of its tables know."""
    found: dict[str, dict] = {}

    def of(page: str) -> dict:
        if page not in found:
            found[page] = namespace(page) | {"od": od, "ocp": od.ocp}
        return found[page]

    return of


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.slow
def test_the_calls_of_the_table(page, spaces):
    found = rows(page)
    name = page.split("/")[-1].removesuffix(".md")
    assert len(found) >= LEAST[name]
    tested_with_the_peer = name in ("pinocchio", "mujoco")  # their tables use names of the tests beside this one
    for row in found:
        assert row.ours or len(row.remark) > 20, f"{row.place}: say what to do where there is no counterpart"
        for code in row.ours:
            if keyword := re.match(r"(\w+)=(?!=)", code):
                assert keyword[1] in KEYWORDS, f"{row.place}: no function has an argument {keyword[1]}"
                continue
            names_exist(code, spaces(page), row.place)
            if not tested_with_the_peer:
                eval(code, spaces(page))


def names_exist(code: str, space: dict, place: str) -> None:
    """Every dotted name that starts at the library or at an object of the page exists."""
    for node in ast.walk(ast.parse(code, mode="eval")):
        if isinstance(node, ast.Attribute):
            path = dotted(node)
            if path and path[0] in space:
                here = space[path[0]]
                for part in path[1:]:
                    assert hasattr(here, part), f"{place}: {'.'.join(path)} does not exist"
                    here = getattr(here, part)
        if isinstance(node, ast.Name):
            assert node.id.isidentifier()
            assert node.id in space or hasattr(builtins, node.id) or not node.id.startswith("od"), (place, node.id)


def dotted(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute) and (head := dotted(node.value)):
        return [*head, node.attr]
    return []


def test_the_names_that_messages_translate_stand_in_the_tables():
    """`od.rnea` says that it is called inverse_dynamics here: so does a row."""
    table = [row for page in PAGES for row in rows(page)]
    for theirs, ours in _ELSEWHERE.items():
        name = re.compile(rf"\b{theirs}\w*\(|\b{theirs}\b")
        here = [row for row in table if any(name.search(code) for code in row.theirs)]
        assert any(ours in code for row in here for code in row.ours), (theirs, ours)


def test_a_name_that_does_not_exist_is_found():
    with pytest.raises(AssertionError, match=r"od\.rnea does not exist"):
        names_exist("od.rnea(model, q)", {"od": od}, "here")
