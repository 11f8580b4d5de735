"""Wheels with and without native libraries, out of the source distribution, installed and used without a compiler.

    python -m scripts.checks.wheels [--folder DIR]

Builds the source distribution, from it a wheel with the C compiler of this machine and one without, and installs each
in an environment of its own, which takes the other packages from this one. There the walk of the five-link biped is
solved without a compiler, in a process with an empty cache. Exits non-zero unless the first wheel has a tag of its
platform and uses its libraries, and the second one is pure and does without. Takes half a minute; --folder keeps the
files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

BUILD = """
import sys
from hatchling.builders.{kind} import {builder}
print(*{builder}(sys.argv[1]).build(directory=sys.argv[2], versions=["standard"]))
"""

SOLVE = """
import json, sys, time
import ocp_dyn
assert ocp_dyn.__file__.startswith(sys.prefix), ocp_dyn.__file__
from ocp_dyn.problems import five_link
problem = five_link.problem()
begin = time.perf_counter()
stats = problem.solve(progress=False).stats
told = {key: stats[key] for key in ("evaluation", "linear_solver", "linear_solver_reason", "converged", "iterations")}
print(json.dumps(told | {"seconds": time.perf_counter() - begin}))
"""


def run(*command: str, **changes: str) -> str:
    """The last line of the output of a command, in an environment with these changes."""
    environment = {key: text for key, text in os.environ.items() if key not in ("CC", "PYTHONPATH")} | changes
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)[:200]} failed:\n{done.stderr}")
    return "".join(done.stdout.splitlines()[-1:])


def built(kind: str, source: Path, folder: Path, **changes: str) -> Path:
    builder = {"wheel": "WheelBuilder", "sdist": "SdistBuilder"}[kind]
    folder.mkdir()
    code = f"import os; os.chdir({str(source)!r})" + BUILD.format(kind=kind, builder=builder)
    return Path(run(sys.executable, "-c", code, str(source), str(folder), **changes))


def used(wheel: Path, folder: Path) -> dict[str, Any]:
    """Report of a solve in a fresh environment with this wheel, without a compiler."""
    run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    run(sys.executable, "-m", "pip", "--python", str(folder), "install", "--no-deps", "--no-index", str(wheel))
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    python, cache = str(folder / "bin/python"), str(folder / "cache")
    found: dict[str, Any] = json.loads(run(python, "-P", "-c", SOLVE, PATH=str(folder), XDG_CACHE_HOME=cache))
    return found


def check(folder: Path) -> list[str]:
    """Faults, as sentences."""
    archive = built("sdist", ROOT, folder / "sdist")
    with tarfile.open(archive) as opened:
        opened.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    wheels = {True: built("wheel", source, folder / "native"), False: built("wheel", source, folder / "pure", PATH="")}
    faults = []
    for native, wheel in wheels.items():
        told = used(wheel, folder / f"venv-{wheel.parent.name}")
        print(f"{wheel.name}: evaluated by {told['evaluation']}; linear equations by {told['linear_solver']}")
        print(f"    {told['iterations']} iterations, {told['seconds']:.1f} s")
        if wheel.name.endswith("-none-any.whl") is native:
            faults.append(f"{wheel.name} has the tag of the other kind")
        parts = told["linear_solver"] == "block_ldl", "tables" in told["evaluation"].partition(";")[0]
        if parts != (native, native) or not told["converged"]:
            faults.append(f"{wheel.name}: {told}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="a new folder for the files; default: one that is removed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        faults = check(folder)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
