"""Sphinx extension: the API reference from the library's docstrings, which are plain text with markdown.

Directive `api`: a table of public names with one line each, then a full entry for each.

    ```{api} ocp_dyn
    mass_matrix
    Model: members
    ```

Directive `examples`: the names that the examples of a module's docstrings use.

Docstrings hold paragraphs, `names`, lists, tables, and indented formulas, code or descriptions of fields. The hook
`to_rst` turns them into reStructuredText; names in backticks link to their entries if they are public.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import ocp_dyn

MODULES = {
    "ocp_dyn": ocp_dyn,
    "ocp_dyn.models": ocp_dyn.models,
    "ocp_dyn.robots": ocp_dyn.robots,
    "ocp_dyn.ocp": ocp_dyn.ocp,
    "ocp_dyn.codegen": ocp_dyn.codegen,
    "ocp_dyn.viz": ocp_dyn.viz,
    "ocp_dyn.walking": ocp_dyn.walking,
    "ocp_dyn.recordings": ocp_dyn.recordings,
    "ocp_dyn.muscles": ocp_dyn.muscles,
    "ocp_dyn.replay": ocp_dyn.replay,
    "ocp_dyn.control": ocp_dyn.control,
    "ocp_dyn.formulations": ocp_dyn.formulations,
    "ocp_dyn.simulation": ocp_dyn.simulation,
    "ocp_dyn.io": ocp_dyn.io,
    "ocp_dyn.layouts": ocp_dyn.layouts,
}
"""The modules whose names users call, by the names by which they call them."""


def public(module: ModuleType) -> list[str]:
    """The public names of a module: its `__all__`, else all names without an underscore that are no modules."""
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    return sorted(name for name in names if not inspect.ismodule(getattr(module, name)))


def public_names() -> dict[str, str]:
    """Full names by last names, as `ocp_dyn.ocp.Phase` by `Phase`; the first module that has a name counts."""
    found: dict[str, str] = {}
    for prefix, module in MODULES.items():
        if prefix == "ocp_dyn.layouts":  # its helpers are documented on one page, by their module's name
            names = [
                name for name in public(module) if getattr(getattr(module, name), "__module__", "") == module.__name__
            ]
        else:
            names = public(module)
        for name in names:
            found.setdefault(name, f"{prefix}.{name}")
    return found


NAMES = public_names()


def full_names() -> set[str]:
    """Full names of all that users call, each once: those of `NAMES`, and others whose last name means another
    thing there, as `ocp_dyn.robots.load` beside `ocp_dyn.load`."""
    others = {
        f"{prefix}.{name}"
        for prefix, module in MODULES.items()
        for name in public(module)
        if name in NAMES and prefix != "ocp_dyn.layouts" and getattr(module, name) is not _object(NAMES[name])
    }
    return {*NAMES.values(), *others}


RESULTS = {
    "Model", "Frame", "InverseKinematics", "Solution", "PhaseMotion", "Summary", "Defects", "Drift", "ActiveSet",
    "Active", "DecidingBound", "DecidingBounds", "Sensitivities", "Slope", "Floquet", "LimitCycle", "MirrorMap",
    "RealTimeIteration", "GridPoint",
    "Compiled", "CompiledFunction", "Buffer", "Viewer", "HumanDimensions", "NaturalCoordinates", "NaturalElement",
    "NaturalMotion", "Trajectory", "Stages", "OpenedChain", "IndependentCoordinates"
}  # fmt: skip
"""Classes that users receive and do not make: their entries show no arguments."""


# Text: one line of a docstring to reStructuredText

PIECES = re.compile(r"(``.+?``|`[^`]+`)")
SPECIAL = re.compile(r"([*|`\\]|_(?=\W|$))")


def _link(text: str, here: str) -> str:
    """A name in backticks: a link if it is public and can be meant in the module `here`, else literal text."""
    bare = text.removeprefix("od.").removeprefix("ocp_dyn.").removeprefix("ocp.")
    name, dot, rest = bare.removesuffix("()").partition(".")
    if NAMES.get(name, "").rpartition(".")[0] not in ("ocp_dyn", "ocp_dyn.ocp", here):
        return f"``{text}``"
    if not dot:
        return f":py:obj:`{text} <{NAMES[name]}>`"
    owner = _object(NAMES[name])
    if inspect.isclass(owner) and callable(getattr(owner, rest, None)):
        return f":py:obj:`{text} <{NAMES[name]}.{rest}>`"
    return f"``{text}``"


def _object(full: str) -> Any:
    prefix, _, name = full.rpartition(".")
    return getattr(MODULES[prefix], name)


def inline(text: str, here: str) -> str:
    """One line, with literal names and links, and with the signs of formulas escaped."""
    pieces = PIECES.split(text)
    found = ""
    for k, piece in enumerate(pieces):
        if k % 2:
            body = piece.strip("`").strip()
            link = _link(body, here)
            before = "\\ " if found and (found[-1].isalnum() or found[-1] in "=/-") else ""
            after = "\\ " if k + 1 < len(pieces) and pieces[k + 1][:1].isalnum() else ""
            found += before + link + after
        else:
            found += SPECIAL.sub(r"\\\1", piece)
    return found


# Blocks


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _blocks(lines: list[str]) -> Iterable[tuple[str, list[str]]]:
    """The blocks of a docstring: "text", "hanging", "table", "list", "doctest" and "indented", in order.

    Blank lines separate blocks. "hanging": descriptions whose later lines are indented.
    """
    kind, block = "", []
    for line in [*lines, ""]:
        mark = line.lstrip()
        if not mark:
            now = "indented" if kind == "indented" else ""
        elif (mark.startswith(">>>") and not _indent(line)) or kind == "doctest":
            now = "doctest"
        elif _indent(line) >= 2 and kind in ("text", "hanging") and not block[-1].endswith(":"):
            now = kind = "hanging"
        elif kind == "hanging":
            now = "hanging"
        elif _indent(line) >= 2 and kind != "list":
            now = "indented"
        elif _indent(line) >= 2:
            now = "list"
        elif mark.startswith("|") and (kind == "table" or (mark.count("|") > 2 and mark.rstrip().endswith("|"))):
            now = "table"
        elif mark.startswith(("- ", "* ")):
            now = "list"
        else:
            now = "text"
        if now != kind and block:
            yield kind, block
            block = []
        kind = now
        if now:
            block.append(line)
    if block:
        yield kind, block


CODE = re.compile(
    r">>>|^\s*(from|import|with|for|def|class|print)\b|\w+\.\w+\(|^\s*\w+ = \w+\(.*\)\s*(#.*)?$|^\s*\w+\(.*\)\s*#",
    re.MULTILINE,
)
FIELD = re.compile(r"^\w[\w ,;()/.\[\]'+-]*: \S")


def _indented(lines: list[str], here: str) -> list[str]:
    """An indented block: code, a list of fields with their descriptions, or a formula."""
    least = min(_indent(line) for line in lines if line.strip())
    lines = [line[least:] for line in lines]
    while lines and not lines[-1].strip():
        lines.pop()
    lines = [re.sub(r"\s*# doctest:.*", "", line) for line in lines]
    text = "\n".join(lines)
    heads = [line for line in lines if line.strip() and not _indent(line)]
    if heads and all(FIELD.match(line) for line in heads) and not CODE.search(text):
        return _fields(lines, here)
    language = "pycon" if ">>>" in text else "python" if CODE.search(text) else "text"
    return [f".. code-block:: {language}", "", *("    " + line for line in lines), ""]


def _fields(lines: list[str], here: str) -> list[str]:
    """A bullet for each field; lines that are indented deeper belong to the field above."""
    items: list[str] = []
    for line in lines:
        if line.strip() and not _indent(line):
            items.append(line.strip())
        elif line.strip():
            items[-1] += " " + line.strip()
    return ["", *("* " + inline(item, here) for item in items), ""]


def _hanging(lines: list[str], here: str) -> list[str]:
    """Descriptions with indented later lines: an item for each, after the text before the first."""
    items: list[str] = []
    for line in lines:
        if not _indent(line) and (not items or FIELD.match(re.sub("[\ue000\ue001]", "", line))):
            items.append(line.strip())
        else:
            items[-1] += " " + line.strip()
    return ["", *("* " + inline(item, here) for item in items), ""]


def _table(lines: list[str], here: str) -> list[str]:
    """A table of markdown as a list-table."""
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    rows = [row for row in rows if not all(re.fullmatch(r":?-+:?", cell) for cell in row)]
    width = max(map(len, rows))
    found = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        cells = row + [""] * (width - len(row))
        found += [f"   {'* -' if k == 0 else '  -'} {inline(cell, here)}".rstrip() for k, cell in enumerate(cells)]
    return [*found, ""]


def _list(lines: list[str], here: str) -> list[str]:
    """A list of markdown; lists inside it keep their indentation."""
    items: list[str] = []
    for line in lines:
        if line.lstrip().startswith(("- ", "* ")):
            items.append(line.rstrip())
        else:
            items[-1] += " " + line.strip()
    found = [""]
    for item in items:
        deep = _indent(item)
        found += [" " * deep + "* " + inline(item.strip()[2:], here), *([] if deep == _indent(items[-1]) else [""])]
    return [*found, ""]


def to_rst(lines: list[str], here: str = "ocp_dyn") -> list[str]:
    """A docstring of the module `here` as reStructuredText."""
    made: list[str] = []
    for kind, block in _blocks(inspect.cleandoc("\n".join(lines)).splitlines()):
        if kind == "text":
            made += [*inline("\n".join(block), here).splitlines(), ""]
        else:
            made += {"indented": _indented, "doctest": _indented, "hanging": _hanging, "table": _table, "list": _list}[
                kind
            ](block, here)
    return made


SENTENCE = re.compile(r"(?<!\beq)(?<!\beqs)(?<!\bch)(?<!\bsec)(?<!\bt\.b)\.\s+(?=[A-Z`(\w])")


def summary(documented: Any) -> str:
    """The first sentence of a docstring, or two if the first is a short formula, as the text of a table."""
    if typing.get_args(documented):
        return f"One of {', '.join(map(repr, typing.get_args(documented)))}."
    text = " ".join(re.split(r"\n\n|:\n    ", inspect.getdoc(documented) or "")[0].split())
    codes = re.findall("`[^`]*`", text)
    found = ""
    for sentence in SENTENCE.split(re.sub("`[^`]*`", "`_`", text)):  # sentences do not end inside literal text
        found += (". " if found else "") + sentence
        if len(found) > 40:
            break
    for code in codes:
        found = found.replace("`_`", f"\ue002{code[1:]}", 1)
    return found.replace("\ue002", "`").rstrip(":.,; ") + "."


def _arguments(documented: Any) -> list[str]:
    """Names of the arguments of a function or of a class."""
    try:
        return [name for name in inspect.signature(documented).parameters if name not in ("self", "cls")]
    except (TypeError, ValueError):
        return []


def emphasized(lines: list[str], names: list[str]) -> list[str]:
    """The lines with names of arguments in bold type where a sentence describes them: "point [m]: ...", "q, qd
    (nv)"."""
    if not names:
        return lines
    some = "(?:" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + ")"
    start = re.compile(
        rf"(^|(?<=[.;:] ))({some}(?:(?:, | and ){some})*)(?=:| [\[(]|(?:, \w+)* as (?:in|for)\b)", re.MULTILINE
    )
    found = []
    for kind, block in _blocks(lines):
        if kind in ("text", "hanging"):
            block = start.sub(lambda m: m[1] + re.sub(some, "\ue000\\g<0>\ue001", m[2]), "\n".join(block)).splitlines()
        found += [*block, ""]
    return found


def _process(app: Sphinx, what: str, name: str, documented: Any, options: Any, lines: list[str]) -> None:
    lines[:] = inspect.cleandoc("\n".join(lines)).splitlines()
    here = max((prefix for prefix in MODULES if name.startswith(prefix + ".")), key=len, default="ocp_dyn")
    text = "\n".join(to_rst(emphasized(lines, _arguments(documented)), here))
    lines[:] = text.replace("\ue000", "**").replace("\ue001", "**").splitlines()


def _default(documented: Any, found: re.Match[str]) -> str:
    """A default that the source names by a constant of its module, as `loads=NO_LOADS`: its value if that is short."""
    constant, _, key = found[3].rstrip("]").partition("[")
    value = getattr(sys.modules[inspect.unwrap(documented).__module__], constant, None)
    value = value[key.strip("'")] if key and value else value
    if value is None:
        return found[0]
    text = repr(value).replace(", external=(), slip_speed=0.01)", ")").replace("passive=False, armature=False)", ")")
    text = "FloatingBase()" if isinstance(value, ocp_dyn.FloatingBase) else text
    return found[1] + found[2] + (text if len(text) < 40 else "...")


def _signature(app: Sphinx, what: str, name: str, documented: Any, options: Any, args: str, result: str) -> Any:
    """Signatures without what only a type checker needs; records and enumerations that have no arguments show none."""
    if args is None:
        return None
    if what == "class" and documented.__name__ in RESULTS:
        return "", None
    args = re.sub(r"~?\b(?:ocp_dyn|casadi|numpy|np|ca|typing|collections\.abc)(?:\.\w+)*\.(?=\w)", "", args)
    args = re.sub(r"(\b\w+): (?:M|Any|Expr|Model|Array|Numbers?|Constraints)(?: \| None)?(?=[,)]| =)", r"\1", args)
    args = re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[\w+\]\]", "Array", args)
    args = re.sub(
        r"(\w+)(: [^=]*? = |=)(_?[A-Z][A-Z_]+(?:\['\w+'\])?)(?=[,)])", lambda m: _default(documented, m), args
    )
    args = args.replace("<factory>", "...").replace(" | None = None", " = None")
    args = args.replace(", external=(), slip_speed=0.01)", ")")
    result = re.sub(r"~?\b(?:\w+\.)+(?=\w)", "", result or "")
    result = re.sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[\w+\]\]", "Array", result)
    plain = result in ("", "None", "Any", "Expr") or re.search(r"\bM\b", result)
    return args, None if plain else result


def _missing(app: Sphinx, env: Any, node: Any, contnode: Any) -> Any:
    """Types in signatures: a link to the public name; others stay text. Roles that authors write must resolve."""
    if "refexplicit" in node or node.get("refdomain") != "py":
        return None
    last = node.get("reftarget", "").rpartition(".")[2]
    if last in NAMES:
        domain = env.get_domain("py")
        full = NAMES[last]
        if full in domain.objects:
            entry = domain.objects[full]
            return nodes.reference(
                "",
                "",
                contnode,
                internal=True,
                refuri=app.builder.get_relative_uri(node["refdoc"], entry.docname) + "#" + entry.node_id,
            )
    return contnode


class Api(SphinxDirective):
    """Names of a module, one a line: a table of summaries, then the entries. See this module."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        prefix = self.arguments[0]
        names = [line.strip() for line in self.content if line.strip()]
        text = [".. list-table::", "   :class: api-summary", "   :widths: 30 70", ""]
        for name in names:
            found = getattr(MODULES[prefix], name)
            text += [f"   * - :py:obj:`{name} <{prefix}.{name}>`", f"     - {inline(summary(found), prefix)}"]
        text.append("")
        for name in names:
            text += self._entry(prefix, name, getattr(MODULES[prefix], name))
        fence = "```{eval-rst}\n" + "\n".join(text) + "\n```"
        return self.parse_text_to_nodes(fence)

    @staticmethod
    def _entry(prefix: str, name: str, documented: Any) -> list[str]:
        if inspect.isclass(documented) and issubclass(documented, Exception):
            return [f".. autoexception:: {prefix}.{name}", ""]
        if inspect.isclass(documented):
            options = ["   :members:"]
            if _inherits(documented):
                without = "object, Exception, tuple, list, dict, Sequence, Mapping, Protocol, Generic"
                options.append(f"   :inherited-members: {without}")
            return [f".. autoclass:: {prefix}.{name}", *options, ""]
        kind = "autofunction" if callable(documented) and inspect.isroutine(documented) else "autodata"
        return [f".. {kind}:: {prefix}.{name}", ""]


class Examples(SphinxDirective):
    """The beginning of a module's docstring up to the end of its examples, which define names for all other
    examples."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        blocks = list(_blocks(inspect.cleandoc(MODULES[self.arguments[0]].__doc__ or "").splitlines()))
        last = max(k for k, (kind, _) in enumerate(blocks) if kind == "doctest")
        lines = [line for _, block in blocks[1 : last + 1] for line in [*block, ""]]
        return self.parse_text_to_nodes("```{eval-rst}\n" + "\n".join(to_rst(lines, self.arguments[0])) + "\n```")


def _inherits(documented: type) -> bool:
    """Whether a base of the library's own, which is not public, holds methods of a class."""
    return any(base.__module__.startswith("ocp_dyn") and base.__name__ not in NAMES for base in documented.__mro__[1:])


def _source_of(app: Sphinx, module: str) -> tuple[str, dict[str, Any]] | None:
    """No source page for a module whose names belong to two public modules: such a page links back to one of them only,
    and half of its links would lead nowhere."""
    homes = {full.rpartition(".")[0] for full in NAMES.values() if getattr(_object(full), "__module__", None) == module}
    return ("", {}) if len(homes) > 1 else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("api", Api)
    app.add_directive("examples", Examples)
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _signature)
    app.connect("missing-reference", _missing)
    app.setup_extension("sphinx.ext.viewcode")
    app.connect("viewcode-find-source", _source_of)
    sys.modules.setdefault("docstrings", sys.modules[__name__])
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
