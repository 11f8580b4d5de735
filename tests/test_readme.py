"""The README's Python code runs from top to bottom in one session; its commands, files and names exist."""

import importlib.util
import os
import re
from pathlib import Path

import pytest

import ocp_dyn
import problems.extending

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMULATIONS = "ocp_dyn/formulations/README.md"
MAPS = sorted(f"docs/development/{path.name}" for path in (ROOT / "docs/development").glob("*.md"))
PAGES = ("README.md", "CONTRIBUTING.md", "scripts/MEASUREMENTS.md", FORMULATIONS, *MAPS)
LONGEST = 150
"""Lines of the README: a newcomer reads it in ten minutes."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_the_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    assert len(blocks("python")) >= 3
    for block in blocks("python"):
        exec(block, space)
    assert str(space["ID"]).startswith("ID:(q[30],qd[29],qdd[29])->(tau[29])")
    assert str(space["FDc"]).startswith("FDc:(q[30],qd[29],tau[29])->(qdd[29],lam[9])")
    assert space["tau"].shape == (100, 29)
    written = {path.name for path in (tmp_path / "build/human").iterdir()}
    assert {"human.c", "human.h", "CMakeLists.txt", "example.c", "README.md"} <= written


@pytest.mark.slow
def test_the_code_of_the_formulations_runs():
    text = (ROOT / FORMULATIONS).read_text(encoding="utf-8")
    space: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, space)
    assert space["qdd"].shape == (5, 1)
    assert space["motion"].position_errors.max() < 1e-10
    for name, algorithms in re.findall(r"^\| (`.*?`) \| (`\w+`.*?) \| `", text, flags=re.MULTILINE):
        for algorithm in re.findall(r"`(\w+)`", algorithms):
            assert hasattr(ocp_dyn.formulations, algorithm) or algorithm == "_a", (name, algorithm)


def test_it_opens_with_five_lines():
    first = blocks("python")[0]
    assert len([line for line in first.splitlines() if line.strip() and not line.startswith("import")]) == 5


def test_it_is_short():
    assert len(README.splitlines()) <= LONGEST


def test_contributing_is_one_page():
    """A newcomer reads it in five minutes, at 200 words a minute."""
    assert len((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split()) <= 1000


@pytest.mark.parametrize("page", PAGES)
def test_links_commands_and_modules_exist(page):
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)h][^)]*)\)", text):
        assert (path.parent / target).exists(), target
    for script in re.findall(r"\b(scripts/\w+(?:\.py)?)(?![\w./])", text):
        assert (ROOT / script).exists(), script
        assert os.access(ROOT / script, os.X_OK) or (ROOT / script).is_dir(), script
    for module in re.findall(r"python -m ((?:problems|scripts)[\w.]*)\b", text):
        module = module.removesuffix(".NAME")
        assert importlib.util.find_spec(module), module


def test_every_extension_is_shown():
    """Two pages of the documentation show all examples of extensions; the gallery names the problems, see
    test_docs.py."""
    pages = [(ROOT / f"docs/how_to/{name}.md").read_text(encoding="utf-8") for name in ("extend", "add_a_state")]
    examples = set(re.findall(r"problems/extending/(\w+)\.py", "".join(pages)))
    assert examples == {path.stem for path in Path(problems.extending.__file__).parent.glob("[a-z]*.py")}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", *MAPS])
def test_the_paths_of_the_maps_exist(page):
    """Files that a page names, from the root, from `ocp_dyn/`, or beside the file that is named before them."""
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        folders = [ROOT, ROOT / "ocp_dyn"]
        for name in re.findall(r"`([\w/.]+\.py|[\w/]+/)`", line):
            found = [folder / name for folder in folders if (folder / name).exists()]
            assert found, name
            folders.append(found[0].parent)


def test_commands_of_problems_run_where_only_the_wheel_is_installed():
    """`python -m problems.NAME` runs in a checkout alone; elsewhere it may run a folder of the user's."""
    from ocp_dyn.cli.ready import problems as ready

    known = ready()
    known |= {
        "NAME": ROOT,
        "small.NAME": ROOT,
        "extending.NAME": ROOT,
        **{k.rpartition(".")[2]: v for k, v in known.items()},
    }
    named = 0
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8").replace(
            "In a checkout of the repository\n`python -m problems.NAME`", ""
        )
        assert "python -m problems" not in text, page
        for name in re.findall(r"`ocp-dyn problems (?!--)([\w.]+)", text):
            named += 1
            assert name in known, (page, name)
    assert named >= 6
