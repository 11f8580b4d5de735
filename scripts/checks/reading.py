"""Amount of text that a reader must read: files and functions that a call enters, and sizes of the whole.

    python -m scripts.checks.reading [--root FOLDER]

Calls, each in a process of its own with an empty cache: `od.function(od.forward_dynamics, human)`, the wheel of the
README solved, and `od.codegen.compile` of a Function. "again": the same call once more. Lines are code lines, without
docstrings, comments and blanks. --root: another checkout of the library, which is measured in the same way.
"""

from __future__ import annotations

import argparse
import ast
import collections
import importlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import tokenize
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType
from typing import Any

HERE = Path(__file__).parents[2]
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def function_of_the_human() -> Callable[[], Any]:
    import ocp_dyn as od

    human = od.models.human()
    return lambda: od.function(od.forward_dynamics, human)


def wheel() -> Callable[[], Any]:
    import casadi as ca

    import ocp_dyn as od
    from ocp_dyn import ocp

    builder = od.ModelBuilder("rotor")
    builder.add_body("wheel", od.Revolute("z"), mass=1, inertia=(1, 1, 1), effort=2.0)
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0))
    turn = ocp.Phase("turn", intervals=40, duration=(0.5, 4.0), objective=[ocp.Duration()])
    problem = ocp.Problem(builder.build(), [turn], boundary=[rest])
    return lambda: problem.solve(progress=False)


def compilation() -> Callable[[], Any]:
    import ocp_dyn as od

    f = od.function(od.forward_dynamics, od.models.five_link_biped())
    return lambda: od.codegen.compile([f])


CALLS = {"od.function": function_of_the_human, "problem.solve": wheel, "codegen.compile": compilation}


def entered(run: Callable[[], Any], package: str) -> set[CodeType]:
    """Functions of the package that a call enters, in all threads; not the bodies of modules and
    classes, nor comprehensions."""
    found: set[CodeType] = set()

    def see(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code)

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {code for code in found if code.co_filename.startswith(package) and code.co_flags & CO_OPTIMIZED
            and not code.co_name.endswith(("comp>", "genexpr>"))}  # fmt: skip


def measure(name: str, root: Path) -> dict[str, list[int]]:
    """Files, functions, and code lines of these functions, of the first call and of the second."""
    importlib.import_module("ocp_dyn._names")  # what an import runs is not read
    run, package = CALLS[name](), str(root / "ocp_dyn")
    return {title: _sizes(entered(run, package)) for title in ("first", "again")}


def _sizes(codes: set[CodeType]) -> list[int]:
    starts = collections.defaultdict(set)
    for code in codes:
        starts[code.co_filename].add(code.co_firstlineno)
    lines = 0
    for file, first in starts.items():
        text = Path(file).read_text(encoding="utf-8")
        kept = code_lines(text)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and first & {node.lineno, *(d.lineno for d in node.decorator_list)}:
                lines += len(kept & set(range(node.lineno, node.end_lineno + 1)))
    return [len(starts), len(codes), lines]


def code_lines(text: str) -> set[int]:
    """Numbers of the lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return lines


def sizes(root: Path) -> dict[str, int]:
    """Code lines by folder, classes, private functions that one place uses, rows of "Where things are"."""
    texts = {p: p.read_text(encoding="utf-8") for p in root.glob("*/**/*.py") if p.relative_to(root).parts[0][0] != "."}
    folder = {p: p.relative_to(root).parts[0] for p in texts}
    found = {f"code lines of {name}": sum(len(code_lines(t)) for p, t in texts.items() if folder[p] == name)
             for name in ("ocp_dyn", "problems", "tests", "scripts")}  # fmt: skip
    trees = [ast.parse(text) for path, text in texts.items() if folder[path] == "ocp_dyn"]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    found["classes of ocp_dyn"] = sum(isinstance(node, ast.ClassDef) for node in nodes)
    used = collections.Counter(node.id if isinstance(node, ast.Name) else node.attr for node in nodes
                               if isinstance(node, (ast.Name, ast.Attribute)))  # fmt: skip
    private = [n.name for n in nodes if isinstance(n, ast.FunctionDef) and re.match(r"_(?!_)", n.name)]
    found |= {"private functions": len(private), "  of which used once": sum(used[name] == 1 for name in private)}
    table = (root / "docs/development/where_things_are.md").read_text(encoding="utf-8")
    found['rows of "Where things are"'] = sum(line.startswith("| ") for line in table.splitlines()) - 1
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=HERE, help="a checkout (default: this one)")
    parser.add_argument("--call", choices=CALLS, help="one call, in this process")
    options = parser.parse_args()
    root = options.root.resolve()
    if options.call:
        print(json.dumps(measure(options.call, root)))
        return 0
    print(f"{'':18}{'files':>8}{'functions':>11}{'lines':>8}")
    for name in CALLS:
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{HERE}", "XDG_CACHE_HOME": cache}
            command = [sys.executable, str(Path(__file__)), "--call", name, "--root", str(root)]
            done = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, text=True)
        for title, (files, functions, lines) in json.loads(done.stdout.splitlines()[-1]).items():
            print(f"{name if title == 'first' else '  again':18}{files:8}{functions:11}{lines:8}")
    print()
    for name, number in sizes(root).items():
        print(f"{name:29}{number:8,}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
