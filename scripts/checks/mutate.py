"""Mutations of changed lines: which of them no test notices.

    python -m scripts.checks.mutate [--base main] [--room dynamics] [--tests tests/dynamics ...] [--most 100] [--seed 0]

Each mutation changes one place of a line that differs from the commit --base (--room: of any line of a room of
`ocp_dyn/`): a comparison, an operator, a number, a boolean, a default, a condition, a statement that is left out. The
tests of the room, `tests/ROOM` without the slow ones, run in a copy of the checkout; mutations that pass them are
printed, as their lines. The exit status is 1 if there is one. Annotations, docstrings and messages of errors are left
alone.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
COMPARE = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
           ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
BINARY = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.MatMult: ast.Mult,
          ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd}  # fmt: skip
PYTEST = ["-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-m"]


class Mutation(NamedTuple):
    """A file, the change in words, and the whole text of the mutated file."""

    path: Path
    change: str
    text: str


def variant(node: ast.AST) -> ast.AST | None:
    """A node that may stand in place of a node; None if there is none."""
    changed: Any = copy.deepcopy(node)
    if isinstance(node, ast.Compare):
        changed.ops[0] = COMPARE[type(node.ops[0])]()
    elif isinstance(node, (ast.BinOp, ast.AugAssign)) and type(node.op) in BINARY:
        changed.op = BINARY[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        return node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        changed.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
        changed.test = ast.UnaryOp(ast.Not(), changed.test)
    elif isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)):
        return ast.Pass()
    else:
        return None
    return changed


def places(node: ast.AST) -> Iterator[tuple[Any, Any]]:
    """(container, key) of every node below this one that may be mutated."""
    for field, value in ast.iter_fields(node):
        if field not in ("annotation", "returns", "exc", "decorator_list"):
            many = isinstance(value, list)
            for k, child in enumerate(value if many else [value]):
                if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield (value, k) if many else (vars(node), field)
                    yield from places(child)


def mutations(path: Path, lines: set[int] | None) -> Iterator[Mutation]:
    """All mutations of a file, on these lines; None: on all."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for container, key in places(tree):
        kept = container[key]
        line, other = getattr(kept, "lineno", 0), variant(kept)
        if other is not None and (lines is None or line in lines):
            container[key] = other
            text = ast.unparse(ast.fix_missing_locations(tree))
            container[key] = kept
            change = f"{line}: {ast.unparse(kept)[:100]}  ->  {ast.unparse(other)[:100]}"
            yield Mutation(path, change, text)


def changed_lines(base: str) -> dict[Path, set[int]]:
    """Lines of the library that differ from a commit, by file."""
    command, found = ["git", "diff", "--unified=0", base, "--", "ocp_dyn"], dict[Path, set[int]]()
    for row in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines():
        if row.startswith("+++ "):
            lines = found.setdefault(ROOT / row[6:], set())
        elif match := re.match(r"@@ .* \+(\d+)(?:,(\d+))? @@", row):
            lines.update(range(int(match[1]), int(match[1]) + int(match[2] or 1)))
    return {path: lines for path, lines in found.items() if lines and path.suffix == ".py"}


def tests_of(path: Path) -> str:
    """The folder of the tests of a module: the deepest that has the name of one of its rooms."""
    folders = [Path("tests") / room for room in path.relative_to(ROOT / "ocp_dyn").parents]
    return str(next(folder for folder in folders if (ROOT / folder).is_dir()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="main", help="commit from which lines differ (default: main)")
    parser.add_argument("--room", help="all lines of this folder or file of ocp_dyn/ instead")
    parser.add_argument("--tests", nargs="+", help="tests to run (default: those of the room)")
    parser.add_argument("--most", type=int, default=100, help="largest number, drawn at random (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    options = parser.parse_args()
    chosen: dict[Path, Any] = changed_lines(options.base)
    if options.room:
        room = ROOT / "ocp_dyn" / options.room
        chosen = dict.fromkeys([room] if room.is_file() else sorted(room.rglob("*.py")))
    found = [mutation for path, lines in chosen.items() for mutation in mutations(path, lines)]
    random.Random(options.seed).shuffle(found)
    living = 0
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "checkout"
        shutil.copytree(ROOT, copied, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", "_build"))
        for k, mutation in enumerate(found[: options.most]):
            living += _lives(mutation, copied, options.tests or [tests_of(mutation.path)])
            print(f"\r{k + 1} tried, {living} living", end="", file=sys.stderr)
    print(f"\n{len(found)} mutations, {min(options.most, len(found))} tried, {living} living")
    return 1 if living else 0


def _lives(mutation: Mutation, copied: Path, tests: list[str]) -> bool:
    """Whether the tests pass with the mutation; a line about it if they do."""
    target = copied / mutation.path.relative_to(ROOT)
    kept = target.read_text(encoding="utf-8")
    target.write_text(mutation.text, encoding="utf-8")
    command = [sys.executable, *PYTEST, "not slow", *tests]
    variables = os.environ | {"PYTHONPATH": str(copied), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copied, env=variables, capture_output=True, timeout=600, check=False)
        lives = done.returncode == 0
    except subprocess.TimeoutExpired:
        lives = False
    target.write_text(kept, encoding="utf-8")
    if lives:
        print(f"{mutation.path.relative_to(ROOT)}:{mutation.change}", flush=True)
    return lives


if __name__ == "__main__":
    sys.exit(main())
