"""A release in a folder: source distribution, wheels, notes, documentation, checksums. It uploads nothing.

    python -m scripts.checks.release [--rehearsal] [--no-docs] FOLDER

The version, its date, the changelog and CITATION.cff must agree, and all files must be committed; what does not is
listed before anything is built. The wheel with native libraries and the pure one are installed in fresh environments,
and a walk is solved with each (`scripts.checks.wheels`). --rehearsal: notes of "Unreleased", whatever the state of the
files. `docs/development/release.md` has what comes before and after.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from . import wheels

ROOT = Path(__file__).parents[2]

SECTION = r"^## {title}[^\n]*\n(.*?)(?=^## |\Z)"
"""A section of the changelog, by its title."""


def version_of(root: Path = ROOT) -> str:
    """The version that the package states."""
    text = (root / "ocp_dyn/__init__.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    return str(found)


def section(title: str, root: Path = ROOT) -> str:
    """The text of a section of the changelog; "" if there is none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(SECTION.format(title=re.escape(title)), text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def disagreements(root: Path = ROOT) -> list[str]:
    """Faults of version, date and notes, as sentences."""
    version = version_of(root)
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    dates = re.findall(rf"^## {re.escape(version)} - (\d{{4}}-\d\d-\d\d)$", changelog, re.MULTILINE)
    found = []
    for told in set(re.findall(r"^ *version: (\S+)$", citation, re.MULTILINE)) ^ {version}:
        found.append(f"CITATION.cff and ocp_dyn/__init__.py disagree about the version {told}")
    if len(dates) != 1:
        found.append(f'CHANGELOG.md has {len(dates)} sections "{version} - DATE", expected one')
    elif set(re.findall(r"^ *date-released: (\S+)$", citation, re.MULTILINE)) != set(dates):
        found.append(f"CITATION.cff has another date than CHANGELOG.md, {dates[0]}")
    if section("Unreleased", root):
        found.append('CHANGELOG.md has changes under "Unreleased": they belong to this version or to a later one')
    return found


def uncommitted() -> list[str]:
    """A sentence if files differ from the last commit."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    changed = done.stdout.splitlines()
    return [f"{len(changed)} files are not committed, such as {changed[0][3:]}"] if changed else []


def make(folder: Path, title: str, docs: bool) -> list[str]:
    """Makes all files of a release; faults, as sentences."""
    version = version_of()
    (folder / "NOTES.md").write_text(f"# ocp_dyn {version}\n\n{section(title)}\n", encoding="utf-8")
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary).resolve()
        faults = wheels.check(work)
        for path in [*work.glob("sdist/*.tar.gz"), *work.glob("native/*.whl"), *work.glob("pure/*.whl")]:
            shutil.copy2(path, folder / path.name)
        if docs:
            site = work / "docs"
            done = subprocess.run([str(ROOT / "scripts/docs"), str(site)], cwd=ROOT, check=False)
            if done.returncode:
                faults.append(
                    f"scripts/docs ended with status {done.returncode}: there is no archive of the documentation"
                )
            else:
                shutil.rmtree(site / ".doctrees")  # Sphinx's own, three times the size of the pages
                pack(site, folder / f"ocp_dyn-{version}-docs.zip")
    shutil.copy2(ROOT / "CITATION.cff", folder)
    pack(ROOT / "docs/paper", folder / f"ocp_dyn-{version}-paper.zip")
    sums = [f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}" for p in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")
    return faults


def pack(folder: Path, archive: Path) -> None:
    """Writes all files of a folder into a zip archive, in the order of their names and without times: the same files
    make the same archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = f"{archive.stem}/{path.relative_to(folder).as_posix()}"
            opened.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new or empty folder")
    parser.add_argument("--rehearsal", action="store_true", help='notes of "Unreleased", and no look at the state')
    parser.add_argument("--no-docs", action="store_true", help="without the archive of the documentation")
    parser.add_argument("--from", dest="base", type=Path, default=Path(), help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    folder = (options.base / options.folder).resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        parser.error(f"{folder} is not empty: name a new folder")
    faults = [] if options.rehearsal else [*disagreements(), *uncommitted()]
    if not faults:
        folder.mkdir(parents=True, exist_ok=True)
        faults = make(folder, "Unreleased" if options.rehearsal else version_of(), not options.no_docs)
    for fault in faults:
        print(f"release: {fault}", file=sys.stderr)
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            print(f"{path.stat().st_size / 1e6:8.2f} MB  {path}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
