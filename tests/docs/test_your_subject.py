"""The fit on the page about a subject, which takes too long to run whole: its calls, names and data."""

import inspect
import re
import shutil
from types import SimpleNamespace

import pytest

from ocp_dyn import ocp
from ocp_dyn.gait.reference import FOLDER
from tests.docs.pages import DOCS, namespace

PAGE = "how_to/your_subject.md"


@pytest.mark.slow
def test_the_fit_of_a_subject_names_what_there_is(tmp_path, monkeypatch):
    space = namespace(PAGE, 1)
    calls = []

    def fit(*arguments, **options):
        calls.append(inspect.signature(real).bind(*arguments, **options).arguments)
        weights = dict.fromkeys(calls[0]["parameters"], 2.0)
        return SimpleNamespace(applied=lambda problem: SimpleNamespace(solve=lambda: problem.with_weights(weights)))

    real = ocp.fit
    monkeypatch.setattr(ocp, "fit", fit)
    monkeypatch.chdir(tmp_path)
    for speed in (1.0, 1.3, 1.6):
        shutil.copy(FOLDER / "winter.csv", f"subject_{speed}.csv")
    lines = re.DOTALL | re.MULTILINE
    plain = re.sub(r"^```\{.*?^```\n", "", (DOCS / PAGE).read_text(encoding="utf-8"), flags=lines)
    blocks = re.findall(r"^```\n(.*?)^```", plain, flags=lines)
    space["__name__"] = "__main__"
    for block in blocks:
        exec(block, space)
    (call,) = calls
    assert call["problems"].keys() == call["data"].keys() == space["walks"].keys()
    assert all(measured for measured in call["data"].values())
    assert set(space["faster"].weights.values()) == {2.0}
