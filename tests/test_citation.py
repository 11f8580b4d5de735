"""CITATION.cff, the changelog, the workflow and the templates: they parse, agree with the package, and promise what the
classifiers do; the parts of `scripts/release` that build nothing."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import tomllib
import zipfile

import pytest

import ocp_dyn as od
from scripts.checks import release
from tests.helpers import REPOSITORY

yaml = pytest.importorskip("yaml")

KEYS = """abstract authors cff-version commit contact date-released doi identifiers keywords license license-url message
preferred-citation references repository repository-artifact repository-code title type url version"""
"""Keys of a file in the Citation File Format 1.2.0, by its schema."""


def read(path):
    return yaml.safe_load((REPOSITORY / path).read_text(encoding="utf-8"))


def test_the_citation_follows_its_schema_and_the_package():
    found = read("CITATION.cff")
    assert set(found) <= set(KEYS.split())
    assert {"cff-version", "message", "title", "authors", "abstract", "keywords", "preferred-citation"} <= set(found)
    assert found["cff-version"] == "1.2.0"
    assert isinstance(found["date-released"], datetime.date)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for cited in (found, found["preferred-citation"]):
        assert cited["version"] == od.__version__
        assert cited["authors"] == [{"name": person["name"]} for person in project["authors"]]
    assert found["license"] == project["license"]
    assert set(project["keywords"]) - {"robotics"} <= set(found["keywords"])


def test_the_paper_has_its_sections_references_figures_and_numbers():
    folder = REPOSITORY / "docs/paper"
    _, head, text = (folder / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(about)
    assert [author["name"] for author in about["authors"]] == [
        person["name"] for person in read("CITATION.cff")["authors"]
    ]
    sections = re.findall(r"^# (.*)$", text, re.MULTILINE)
    assert sections[:3] == ["Summary", "Statement of need", "State of the field"]
    assert 800 < len(text.split()) < 1400  # three pages
    keys = set(re.findall(r"@\w+\{(\w+),", (folder / about["bibliography"]).read_text(encoding="utf-8")))
    assert set(re.findall(r"@([a-z]+\d{4})", text)) == keys
    pictures = re.findall(r"\]\((\w+\.png)\)", text)
    assert len(pictures) == 2
    assert all((folder / name).is_file() and rf"\autoref{{fig:{name[:-4]}}}" in text for name in pictures)
    numbers = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    stated = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", text.partition("# Examples")[2].partition("# Acknow")[0])
    made = [value for part in ("walk", "five_link", "five_link_shooting") for value in numbers[part].values()]
    allowed = {*map(float, made), 1.0, 6.0, 75.0}  # speed in code, a section of a text, the width of a picture
    assert {number for number in stated if float(number) not in allowed} <= {"2017"}


def test_a_release_is_refused_if_its_files_disagree(tmp_path):
    (tmp_path / "ocp_dyn").mkdir()
    for name in ("ocp_dyn/__init__.py", "CITATION.cff", "CHANGELOG.md"):
        shutil.copy(REPOSITORY / name, tmp_path / name)
    changelog = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    notes = release.section("Unreleased", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(changelog.replace(notes, ""), encoding="utf-8")
    assert release.disagreements(tmp_path) == []
    (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    assert [fault[:32] for fault in release.disagreements(tmp_path)] == ['CHANGELOG.md has changes under "']
    cited = (tmp_path / "CITATION.cff").read_text(encoding="utf-8")
    (tmp_path / "CITATION.cff").write_text(re.sub(r"20\d\d-", "1999-", cited), encoding="utf-8")
    assert "another date than CHANGELOG.md" in release.disagreements(tmp_path)[0]
    module = (tmp_path / "ocp_dyn/__init__.py").read_text(encoding="utf-8")
    (tmp_path / "ocp_dyn/__init__.py").write_text(module.replace(od.__version__, "9.9.9"), encoding="utf-8")
    faults = release.disagreements(tmp_path)
    assert sum("disagree about the version" in fault for fault in faults) == 2
    assert any('has 0 sections "9.9.9 - DATE"' in fault for fault in faults)


def test_notes_are_those_of_one_version():
    notes = release.section("0.1.0")
    assert notes.startswith("First release.")
    assert "\n## " not in notes
    assert release.section("0.0.1") == ""


def test_archives_of_the_same_files_are_the_same(tmp_path):
    (tmp_path / "site/a").mkdir(parents=True)
    (tmp_path / "site/a/page.html").write_text("one")
    (tmp_path / "site/index.html").write_text("two")
    release.pack(tmp_path / "site", tmp_path / "first.zip")
    assert zipfile.ZipFile(tmp_path / "first.zip").namelist() == ["first/a/page.html", "first/index.html"]
    (tmp_path / "other").mkdir()
    release.pack(tmp_path / "site", tmp_path / "other/first.zip")
    assert (tmp_path / "other/first.zip").read_bytes() == (tmp_path / "first.zip").read_bytes()


def test_a_folder_with_files_is_refused(tmp_path, capsys):
    (tmp_path / "earlier").write_text("")
    with pytest.raises(SystemExit):
        release.main([str(tmp_path)])
    assert "is not empty: name a new folder" in capsys.readouterr().err


def test_the_workflow_runs_what_the_classifiers_promise():
    flow = read(".github/workflows/ci.yml")
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = {c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)}
    jobs = flow["jobs"]
    assert set(jobs["all"]["strategy"]["matrix"]["python"]) == promised
    assert jobs["all"]["steps"][-1]["run"] == ".ci/run"
    assert "ubuntu" in jobs["all"]["runs-on"]
    assert jobs["quick"]["continue-on-error"] is True  # systems without a classifier
    extras = project["optional-dependencies"]
    for job in jobs.values():
        for step in job["steps"]:
            for path in re.findall(r"(?:scripts|\.ci)/\w+", step.get("run", "")):
                assert (REPOSITORY / path).exists()
            assert set(",".join(re.findall(r"\.\[([\w,]+)\]", step.get("run", ""))).split(",")) <= {"", *extras}


def test_templates_and_hooks_parse():
    forms = sorted((REPOSITORY / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) == 3
    for path in forms:
        found = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert path.name == "config.yml" or {"name", "description", "body"} <= set(found)
    (local,) = read(".pre-commit-config.yaml")["repos"]
    assert {hook["id"] for hook in local["hooks"]} == {"ruff-check", "ruff-format", "mypy", "links"}
