"""The wheel: one top-level package, the problems inside it, nothing that users do not need; run away from the checkout.

It is built without a compiler. `python -m scripts.checks.wheels` builds and uses those with native libraries."""

from __future__ import annotations

import email
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import ocp_dyn as od
from ocp_dyn.native import variants
from tests.helpers import REPOSITORY

wheel_builder = pytest.importorskip("hatchling.builders.wheel")
pytest.importorskip("hatch_fancy_pypi_readme")


@pytest.fixture(scope="module", autouse=True)
def no_compiler(tmp_path_factory: pytest.TempPathFactory):
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("CC", raising=False)
        patched.setenv("PATH", str(tmp_path_factory.mktemp("empty")))
        yield


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    (made,) = wheel_builder.WheelBuilder(str(REPOSITORY)).build(directory=str(folder), versions=["standard"])
    return Path(made)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds what the wheel installs."""
    folder = tmp_path_factory.mktemp("site-packages")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.mark.slow
def test_one_package_with_the_problems_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"ocp_dyn", f"ocp_dyn-{od.__version__}.dist-info"}
    files = {path.relative_to(REPOSITORY) for path in (REPOSITORY / "problems").rglob("*.py")}
    assert {name for name in names if name.startswith("ocp_dyn/problems/")} == {f"ocp_dyn/{path}" for path in files}
    folder = REPOSITORY / "ocp_dyn"
    own = {path.relative_to(REPOSITORY) for kind in ("*.py", "*.csv", "*.in", "*.toml") for path in folder.rglob(kind)}
    assert len([name for name in names if name.endswith(".csv")]) >= 7  # measured gaits
    assert {str(path) for path in own} | {"ocp_dyn/py.typed", "ocp_dyn/__init__.pyi"} <= set(names)
    assert {name for name in names if name.endswith((".c", ".h"))} == {
        f"ocp_dyn/{path.relative_to(REPOSITORY / 'ocp_dyn')}" for path in variants.FOLDER.glob("*/*.[ch]")
    }
    assert wheel.name.endswith("-py3-none-any.whl")
    assert len(names) == len(set(names))
    assert not [
        name for name in names if "test" in name or (name.endswith((".png", ".md", ".pyc")) and "README" not in name)
    ]
    assert wheel.stat().st_size < 2.4e6


@pytest.mark.slow
def test_metadata_are_fit_for_an_index(installed):
    (folder,) = installed.glob("*.dist-info")
    data = email.message_from_string((folder / "METADATA").read_text(encoding="utf-8"))
    assert data["Version"] == od.__version__
    assert data["License-Expression"] == "BSD-3-Clause"
    classifiers = data.get_all("Classifier")
    assert "Typing :: Typed" in classifiers
    assert all(f"Programming Language :: Python :: 3.{minor}" in classifiers for minor in (11, 12, 13))
    assert {"robots", "viewer", "cluster", "dev", "docs"} <= set(data.get_all("Provides-Extra"))
    assert data["Description-Content-Type"] == "text/markdown"
    text = data.get_payload()
    assert text.startswith("# ocp_dyn")
    assert "](problems" not in text.replace("](http", "")
    assert "](" not in text.replace("](http", "")
    assert "ocp-dyn = ocp_dyn.cli:main" in (folder / "entry_points.txt").read_text()


@pytest.fixture
def away(installed: Path, tmp_path: Path) -> dict[str, object]:
    """Options of a process that has the wheel's files and stands in a folder with `problems` of the user."""
    (tmp_path / "problems").mkdir()
    for name in ("__init__", "human_walk", "gait_library"):
        (tmp_path / f"problems/{name}.py").write_text("raise RuntimeError('the problems of the user')\n")
    env = {"PYTHONPATH": str(installed), "PATH": "/usr/bin:/bin", "MPLCONFIGDIR": str(tmp_path)}
    return {"cwd": tmp_path, "env": env, "capture_output": True, "text": True}


@pytest.mark.slow
def test_problems_run_from_the_installed_package(away):
    done = subprocess.run([sys.executable, "-m", "ocp_dyn.problems.small.rotor"], check=False, **away)
    assert not done.stderr
    assert "picture: rotor.png" in done.stdout
    helped = subprocess.run([sys.executable, "-m", "ocp_dyn.problems.slope", "--help"], check=False, **away)
    assert helped.stdout.startswith("usage: python -m ocp_dyn.problems.slope ")
    assert "python -m problems" not in helped.stdout
    listed = subprocess.run([sys.executable, "-m", "ocp_dyn", "problems", "--path", "rotor"], check=False, **away)
    assert Path(listed.stdout.strip()).parts[-4:] == ("ocp_dyn", "problems", "small", "rotor.py")


@pytest.mark.slow
def test_processes_of_a_pool_find_the_problems(away):
    options = ("--model", "legs", "--speeds", "1.2", "--slopes", "0", "--steps", "free", "--jobs", "2", "--quick")
    done = subprocess.run(
        [sys.executable, "-m", "ocp_dyn", "problems", "gait_library", *options, "--out", "gaits"], check=False, **away
    )
    assert done.returncode == 0, done.stderr
    assert (Path(str(away["cwd"])) / "gaits/library.png").exists()


@pytest.mark.slow
def test_a_wheel_from_the_source_distribution_is_the_same(wheel, tmp_path):
    builder = pytest.importorskip("hatchling.builders.sdist").SdistBuilder(str(REPOSITORY))
    (made,) = builder.build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(made) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert (source / "problems/human_walk.py").exists()
    (again,) = wheel_builder.WheelBuilder(str(source)).build(directory=str(tmp_path / "dist"), versions=["standard"])
    assert zipfile.ZipFile(again).namelist() == zipfile.ZipFile(wheel).namelist()


def test_an_editable_installation_compiles_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("the build hook has run"))
    (made,) = wheel_builder.WheelBuilder(str(REPOSITORY)).build(directory=str(tmp_path), versions=["editable"])
    assert made.endswith("-py3-none-any.whl")
