"""The pages of the documentation: all their code is executed, all are in the table of contents, all problems in the
gallery, all public names in the reference. The links of a built site are checked by scripts/checks/links.py."""

import importlib.util
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

import problems
from tests.helpers import REPOSITORY

DOCS = REPOSITORY / "docs"
OTHERS = {"_build", "_extensions", "paper"}
PAGES = sorted(path for path in DOCS.rglob("*.md") if not OTHERS & set(path.relative_to(DOCS).parts))
TEXTS = {path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(encoding="utf-8") for path in PAGES}
FRONT_MATTER = """---
file_format: mystnb
kernelspec:
  name: python3
  display_name: Python 3
"""


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def links():
    return loaded(REPOSITORY / "scripts" / "checks" / "links.py")


@pytest.fixture(scope="module")
def extension():
    pytest.importorskip("sphinx")
    return loaded(DOCS / "_extensions" / "docstrings.py")


@pytest.mark.parametrize("page", TEXTS)
def test_all_code_is_executed(page):
    """Plain blocks of Python would be shown without being run; cells run only in pages that open as notebooks."""
    text = TEXTS[page]
    assert not re.search(
        r"^\s*(```+|:::+|~~~+) *\{?(code-block|code)?\}? *(python|py|ipython|pycon)\b", text, re.MULTILINE
    )
    if "{code-cell}" in text:
        assert text.startswith(FRONT_MATTER)


def entries(page):
    """Pages that the toctrees of a page name, patterns included."""
    folder = Path(page).parent
    for block in re.findall(r"^```\{toctree\}\n(.*?)^```", TEXTS[page], re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.strip() and not line.startswith(":"):
                target = re.sub(r".*<(.*)>", r"\1", line.strip())
                yield (folder / target).as_posix() if not target.startswith("/") else target[1:]


def test_every_page_is_in_the_table_of_contents():
    waiting, reached = ["index"], {"index"}
    while waiting:
        patterns = list(entries(waiting.pop()))
        found = {page for page in TEXTS for pattern in patterns if fnmatch(page, pattern)} - reached
        reached |= found
        waiting += sorted(found)
    assert set(TEXTS) - reached == set()


def test_every_problem_is_in_the_gallery():
    folder, gallery = Path(problems.__file__).parent, TEXTS["gallery"]
    for path in [*folder.glob("[a-z]*.py"), *folder.glob("small/[a-z]*.py")]:
        module = ".".join(path.relative_to(folder).with_suffix("").parts)
        assert re.search(rf"python -m ocp_dyn\.problems\.{module}\b", gallery), module
    pictures = {path.name for path in (DOCS / "gallery").iterdir()}
    assert pictures == set(re.findall(r"gallery/(\w+\.png)", gallery))
    sizes = {path.name: path.stat().st_size for path in (DOCS / "gallery").iterdir()}
    assert {name for name, size in sizes.items() if size >= 60_000} == {"robots.png"}  # a sheet of all robots
    assert sizes["robots.png"] < 160_000


def documented():
    """Full names in the `api` blocks of the reference, with repetitions."""
    pages = "\n".join(text for page, text in TEXTS.items() if page.startswith("reference/"))
    blocks = re.findall(r"^```\{api\} ([\w.]+)\n(.*?)^```", pages, re.MULTILINE | re.DOTALL)
    return [f"{module}.{name}" for module, names in blocks for name in names.split()]


@pytest.mark.slow
def test_every_public_name_is_in_the_reference_once(extension):
    names = documented()
    assert len(names) == len(set(names)) > 200
    assert set(names) == extension.full_names()


def test_docstrings_become_restructured_text(extension):
    text = """\
    The tau (nv) of `inverse_dynamics`; x* and a_ are no markup [m].

        f[i] = I[i] a[i]

    | a | b |
    |---|---|
    | 1 | `x` |

    Its parts:
        q, qd (nv): a state,
            and more
        t: time

    - one
      of two
    - two
    """
    assert extension.to_rst(text.splitlines()) == [
        "The tau (nv) of :py:obj:`inverse_dynamics <ocp_dyn.inverse_dynamics>`; x\\* and a\\_ are no markup [m].",
        "",
        ".. code-block:: text",
        "",
        "    f[i] = I[i] a[i]",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
        "   * - a",
        "     - b",
        "   * - 1",
        "     - ``x``",
        "",
        "Its parts:",
        "",
        "",
        "* q, qd (nv): a state, and more",
        "* t: time",
        "",
        "",
        "* one of two",
        "* two",
        "",
    ]
    lines = extension.to_rst(["dense: row by row,", "    or by column", "lanes: two", "or four"])
    assert lines == ["", "* dense: row by row, or by column", "* lanes: two or four", ""]
    lines = extension.to_rst([">>> od.pose(model, 'hand', q)"])
    assert lines[0] == ".. code-block:: pycon"


def test_names_link_where_they_can_be_meant(extension):
    """`stages` is a function of the formulations; elsewhere it may be another thing."""
    assert extension.inline("`stages`", "ocp_dyn.formulations") == ":py:obj:`stages <ocp_dyn.formulations.stages>`"
    assert extension.inline("`stages`, `Phase`", "ocp_dyn") == "``stages``, :py:obj:`Phase <ocp_dyn.ocp.Phase>`"
    assert extension.inline("`Model.body`", "ocp_dyn") == ":py:obj:`Model.body <ocp_dyn.Model.body>`"


def test_signatures_hold_what_users_need(extension):
    shown = extension._signature
    human = "(mass: float = MASS['male'], root: ~ocp_dyn.joints.Joint = _FLOATING)"
    args, result = shown(None, "function", "", extension.ocp_dyn.models.human, None, human, "~ocp_dyn.mechanism.Model")
    assert (args, result) == ("(mass: float = 73.0, root: Joint = FloatingBase())", "Model")
    energy = "(model: ~ocp_dyn.mechanism.Model, q: M, loads: Loads = NO_LOADS)"
    found = shown(None, "function", "", extension.ocp_dyn.inverse_dynamics, None, energy, "M")
    assert found == ("(model, q, loads: Loads = Loads())", None)
    assert shown(None, "class", "", extension.ocp_dyn.Model, None, "(name: str)", None) == ("", None)


def test_arguments_are_emphasized_and_summaries_are_sentences(extension):
    lines = extension.emphasized(["q: a state. h [s]: a step, q is used"], ["q", "h"])
    assert lines[0] == "\ue000q\ue001: a state. \ue000h\ue001 [s]: a step, q is used"
    assert extension.summary(extension.ocp_dyn.ModelError).endswith("and the remedy.")
    short = type("Short", (), {"__doc__": "x (n) [m]. `a. B` of eq. 3 is its mean over all. More."})
    assert extension.summary(short) == "x (n) [m]. `a. B` of eq. 3 is its mean over all."
    for full in extension.NAMES.values():
        found = extension.summary(extension._object(full))
        assert 8 < len(found) < 260, (full, found)


def test_links_between_files_of_the_repository(links):
    assert links.broken_in_markdown(REPOSITORY) == []


def test_broken_links_are_found(tmp_path, links, capsys):
    (tmp_path / "index.html").write_text(
        '<h1 id="here">A</h1><a href="b.html#there">1</a><a href="b.html#nowhere">2</a><a href="#here">3</a>'
        '<a href="#gone">4</a><img src="none.png"><a href="https://example.org/x">5</a><a href="b.html">6</a>'
        '<a name="old"></a><a href="#old">7</a>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="there">B</p>', encoding="utf-8")
    found = [line.split(": ")[1] for line in links.broken_in_site(tmp_path)]
    assert found == ["b.html#nowhere", "#gone", "none.png"]
    assert links.main([str(tmp_path)]) == 1
    assert "index.html:1: #gone: no such place in the page" in capsys.readouterr().out
    (tmp_path / "README.md").write_text("[a](b.html) [b](c.md) [c](https://x.org)\n```\n[d](e.md)\n```\n")
    assert links.broken_in_markdown(tmp_path) == ["README.md: c.md: no such file"]


def test_a_folder_without_a_site_is_refused(tmp_path):
    script = [sys.executable, str(REPOSITORY / "scripts" / "checks" / "links.py"), str(tmp_path)]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "build the site by scripts/docs" in done.stderr
