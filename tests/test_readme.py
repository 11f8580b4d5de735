"""The README's Python runs as it stands, from the top, in one session; its commands exist."""

import os
import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text()


def test_the_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        exec(block, space)
    assert str(space["ID"]).startswith("ID:(q[30],qd[29],qdd[29])->(tau[29])")
    assert str(space["FDc"]).startswith("FDc:(q[30],qd[29],tau[29])->(qdd[29],lam[9])")
    written = {path.name for path in (tmp_path / "build/human").iterdir()}
    assert {"human.c", "human.h", "CMakeLists.txt", "example.c", "README.md"} <= written


def test_it_opens_with_five_lines():
    first = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert first is not None
    assert len([line for line in first[1].splitlines() if line.strip() and not line.startswith("import")]) == 5


def test_what_it_links_to_is_there():
    root = Path(__file__).parents[1]
    for target in re.findall(r"\]\(([^)h][^)]*)\)", README):
        assert (root / target).exists(), target
    for script in re.findall(r"\b(scripts/\w+(?:\.py)?)", README):
        assert (root / script).exists(), script
        assert os.access(root / script, os.X_OK), script
