"""The examples of extensions: short, with a how-to, and they run."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

import problems.extending

FOLDER = Path(problems.extending.__file__).parent
EXAMPLES = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))
MOST_LINES = 40


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_short_and_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= MOST_LINES
    assert f"    python -m problems.extending.{name}\n" in source
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_is_one_for_every_kind_of_extension() -> None:
    expected = ["algorithm", "constraint", "cost", "foothold", "integrator", "joint", "path_constraint", "peak", "rate"]
    assert set(expected) <= set(EXAMPLES)
