"""Keys of kept machine code: every module that has a part in making it is in the key."""

from __future__ import annotations

import ast
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import ocp_dyn as od
from ocp_dyn._base import identity
from ocp_dyn._base.identity import digest
from ocp_dyn.native.toolchain import find_compiler
from ocp_dyn.ocp.nlp import block_graph, blocks
from tests.hopper import problem

ROOT = Path(od.__file__).parent
COMPILE = sys.modules["ocp_dyn.codegen.compiled.compile"]
CODE = COMPILE.MAKERS

DIFFERENTIATED = "ocp_dyn.functions.differentiated_dynamics"
"""The module that makes the derivatives of inverse dynamics."""

HANDS_OVER = {"ocp_dyn.functions.checked"}
"""Modules on the path that only check arguments."""


def name_of(path: Path) -> str:
    parts = ("ocp_dyn", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in ROOT.rglob("*.py")}


def imported(name: str) -> set[str]:
    """Modules that a module imports, by its syntax tree."""
    path = MODULES[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = ".".join([*package[: len(package) - node.level + 1], *([node.module] if node.module else [])])
            base = base if node.level else str(node.module)
            found |= {f"{base}.{a.name}" if f"{base}.{a.name}" in MODULES else base for a in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & MODULES.keys()


def closure(*names: str) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += imported(name)
    return found


def modules_run(work) -> set[str]:
    """Modules of the library whose code runs during `work()`."""
    files = set()

    def note(frame, event, _):
        if event == "call":
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(note)  # for threads that begin meanwhile
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return {name for name, path in MODULES.items() if str(path) in files}


@pytest.mark.parametrize(
    "makers", [CODE, (*block_graph.DERIVATIVE_MAKERS, DIFFERENTIATED)], ids=["code", "derivatives"]
)
@pytest.mark.slow
def test_the_key_holds_all_that_its_makers_import(makers):
    assert set(identity.sources(*makers)) == closure(*makers)


@pytest.mark.skipif(find_compiler() is None, reason="needs a C compiler")
@pytest.mark.slow
def test_what_runs_while_code_is_made_is_in_its_key(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build, run = COMPILE.build, set()

    def traced(*arguments):
        made = []
        run.update(modules_run(lambda: made.extend(build(*arguments))))
        return made

    monkeypatch.setattr(COMPILE, "build", traced)
    for lanes in (1, 4):
        od.codegen.compile([od.function(od.forward_dynamics, od.models.pendulum(2))], lanes=lanes)
    kernels = {f"ocp_dyn.codegen.text.{name}" for name in ("emit", "driver", "lanes")}
    assert kernels | {f"ocp_dyn.native.{name}" for name in ("toolchain", "processes")} <= run
    assert run <= set(identity.sources(*CODE))


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_what_runs_while_derivatives_are_found_is_in_their_key(monkeypatch, form):
    run, makers = set(), []

    def noted(*modules):
        makers.append(modules)
        return identity.source_digest(*modules)

    def traced(_key, derive):
        made = []
        here = modules_run(lambda: made.append(derive()))
        assert here - HANDS_OVER <= set(identity.sources(*makers[-1]))  # those of the key of this block
        run.update(here)
        return made[0]

    monkeypatch.setattr(block_graph, "source_digest", noted)
    monkeypatch.setattr(blocks, "derived", traced)
    made = problem(free=False)
    unknown = made.model.with_gravity((0, 0, -8 - (form == "explicit")))  # for which nothing is kept
    replace(made, model=unknown, form=form, parameters=()).check()
    assert {"ocp_dyn.ocp.nlp.chain_rule", DIFFERENTIATED} <= run
    assert block_graph.DERIVATIVE_MAKERS in makers  # blocks without dynamics


def test_a_changed_module_makes_another_key(monkeypatch):
    names, source = identity.sources(*CODE), identity._source
    keys = {identity.source_digest(*CODE)}
    for changed in names:
        monkeypatch.setattr(
            identity,
            "_source",
            lambda name, changed=changed: (source(name)[0] + "#" * (name == changed), source(name)[1]),
        )
        keys.add(identity.source_digest.__wrapped__(*CODE))
    assert len(keys) == len(names) + 1


def test_a_changed_template_makes_another_key(monkeypatch):
    texts = identity.files_beside(identity.sources(*CODE))
    assert "ocp_dyn.codegen.text/sincos.h.in" in texts
    before = identity.source_digest.__wrapped__(*CODE)
    monkeypatch.setattr(identity, "files_beside", lambda _: texts | {"ocp_dyn.codegen.text/sincos.h.in": "changed"})
    assert identity.source_digest.__wrapped__(*CODE) != before


def test_another_casadi_makes_another_key(monkeypatch):
    before = identity.source_digest.__wrapped__(*CODE)
    monkeypatch.setattr(identity.ca.CasadiMeta, "version", staticmethod(lambda: "0.0.0"))
    assert identity.source_digest.__wrapped__(*CODE) != before


def test_different_texts_have_different_names():
    """Also where the same characters are shared out in another way."""
    found = {digest(*parts) for parts in (("a", "b"), ("ab",), ("ab", ""), ("", "ab"), ("b", "a"))}
    assert len(found) == 5


def test_a_module_that_has_no_source_is_told():
    with pytest.raises(RuntimeError, match=r"source of ocp_dyn\.nowhere is missing"):
        identity.source_digest("ocp_dyn.nowhere")
