"""Every robot of the extra `robots` walks or trots: a line for each, from the library's own guess.

    python -m scripts.bench.robots [--only NAME ...] [--iterations 300] [--limit 300] [--json FILE] [--out DIR]

Humanoids and bipeds walk (`problems.robot_walk`), quadrupeds trot (`problems.robot_trot`), each at the speed that its
legs suggest and on the full grid. Robots of the library itself come last. Every robot has a process of its
own, so that a failure, even of the interpreter, is a line of the table and no more. Seconds are processor seconds, of
loading, building and solving together. --limit: wall seconds for a robot. --json writes the numbers; --out writes a
picture of every gait and all of them on one sheet, robots.png. The exit status is the number of robots without a gait.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import ocp_dyn as od
from ocp_dyn.cli.examples import FAILURES
from ocp_dyn.walking.biped import OWN, SOLES
from ocp_dyn.walking.quadruped import PAWS
from problems import robot_trot, robot_walk
from scripts.common import command_line, in_process

HEAD = {"robot": 26, "gait": 5, "dofs": 4, "leg [m]": 7, "speed [m/s]": 11, "step [m]": 8, "time [s]": 8,
        "double support": 14, "iterations": 10, "CPU [s]": 7, "bounds that decide": 24}  # fmt: skip
"""Columns of the table and their widths."""
NAMED = 3
"""Bounds that a line of the table names; it counts the rest."""
LEGLESS = ("alex_nub_hands", "alex_psyonic_hands", "alex_sake_hands")
"""Humanoids whose files end at the pelvis."""
COLUMNS = 4
"""Pictures side by side on the sheet."""
POSES, POSES_OF_TROT = 5, 3
"""Poses of a picture; trotters are longer than tall."""
HEAD_OF_PICTURE = 0.08
"""Part of a picture's height that its title takes; the sheet leaves it out."""


def robots() -> tuple[str, ...]:
    """Names of all robots with legs: those of the extra by alphabet, then those of the library itself."""
    kinds = ("biped", "humanoid", "quadruped")
    walkers = [name for name in od.robots.names() if od.robots.describe(name).kind in kinds and name not in LEGLESS]
    return (*walkers, *OWN)


def trots(name: str) -> bool:
    return name not in OWN and od.robots.describe(name).kind == "quadruped"


def walk(name: str, iterations: int, out: Path | None) -> dict[str, Any]:
    """Numbers of a robot's gait; the picture goes to `out`."""
    begin = time.process_time()
    problem = (robot_trot if trots(name) else robot_walk).problem(None, name)
    solution = problem.solve(progress=False, max_iterations=iterations)
    seconds = time.process_time() - begin
    model, phases = problem.model, solution.phases
    double = sum(phase.duration for phase in phases if phase.name.startswith("double_support"))
    foot = PAWS[0] if trots(name) else SOLES[0]
    found = {
        "converged": solution.converged, "status": solution.status, "dofs": model.nv, "mass_kg": float(model.mass),
        "leg_m": od.walking.leg_length(model, foot), "speed_m_per_s": solution.step_length / solution.duration,
        "step_m": solution.step_length, "time_s": solution.duration, "double_support": double / solution.duration,
        "iterations": solution.stats["iterations"], "cpu_seconds": seconds,
        "faults": [str(fault) for fault in solution.stats["faults"][:3]],
    }  # fmt: skip
    try:
        found["bounds"] = [bound.text for bound in solution.deciding()]
        found["defect_rad"] = solution.defects().angle
        if out is not None:
            od.viz.stick_figure(solution, out / f"{name}.png", poses=POSES_OF_TROT if trots(name) else POSES, ghosts=0)
            found["picture"] = f"{name}.png"
    except FAILURES as error:  # the gait is there all the same
        found["diagnosis"] = f"{type(error).__name__}: {error}"
    return found


def line(numbers: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a robot's line."""
    if not numbers.get("converged"):
        text = numbers.get("error") or f"{numbers['status']}: {', '.join(numbers['faults'])}"
        return numbers["robot"], numbers["gait"], *("",) * 8, f"none: {text}"
    bounds = numbers.get("bounds", [])
    rest = f" and {len(bounds) - NAMED} more" if len(bounds) > NAMED else ""
    decide = ", ".join(bounds[:NAMED]) + rest or "none"
    lengths = (f"{numbers[key]:.2f}" for key in ("leg_m", "speed_m_per_s", "step_m", "time_s"))
    return (
        numbers["robot"], numbers["gait"], str(numbers["dofs"]), *lengths,
        f"{100 * numbers['double_support']:.0f} %" if numbers["double_support"] else "-",
        str(numbers["iterations"]), f"{numbers['cpu_seconds']:.1f}",
        f"diagnosis failed: {numbers['diagnosis']}" if "diagnosis" in numbers else decide,
    )  # fmt: skip


def print_line(cells: tuple[str, ...]) -> None:
    padded = (cell.ljust(width) for cell, width in zip(cells, HEAD.values(), strict=True))
    print(f"| {' | '.join(padded)} |", flush=True)


def numbers_of(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """The numbers of a robot from a process of its own."""
    arguments = ["--worker", name, "--iterations", str(options.iterations)]
    arguments += ["--out", str(options.out)] if options.out else []
    lines, fault = in_process("scripts.bench.robots", arguments, options.limit)
    failed = {"robot": name, "gait": "trot" if trots(name) else "walk", "converged": False}
    return failed | ({"error": f"its process: {fault}"} if fault else json.loads(lines[-1]))


def sheet(found: list[dict[str, Any]], out: Path) -> Path | None:
    """All pictures on one, with the names of the robots; None if there are none."""
    from PIL import Image, ImageDraw, ImageFont

    shown = [numbers for numbers in found if "picture" in numbers]
    if not shown:
        return None
    width, height, margin = 560, 250, 24
    font = ImageFont.load_default(18)
    page = Image.new("RGB", (COLUMNS * width, -(-len(shown) // COLUMNS) * (height + margin)), "white")
    for k, numbers in enumerate(shown):
        picture = Image.open(out / numbers["picture"]).convert("RGB")
        picture = picture.crop((0, round(HEAD_OF_PICTURE * picture.height), picture.width, picture.height))
        picture.thumbnail((width - 12, height - 8), Image.Resampling.LANCZOS)
        left, top = k % COLUMNS * width, k // COLUMNS * (height + margin)
        page.paste(picture, (left + (width - picture.width) // 2, top + margin + height - picture.height))
        text = f"{numbers['robot']}, {numbers['speed_m_per_s']:.2f} m/s"
        ImageDraw.Draw(page).text((left + width // 2, top + 4), text, fill="black", font=font, anchor="ma")
    page.save(out / "robots.png", optimize=True)
    return out / "robots.png"


def work(name: str, iterations: int, out: Path | None) -> None:
    """Prints the numbers of a robot, or its error."""
    try:
        found = walk(name, iterations, out)
    except FAILURES as error:
        traceback.print_exc()
        found = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(found))


def summary(results: list[dict[str, Any]]) -> str:
    """The numbers of robots that go, and the largest of their figures."""
    done = [numbers for numbers in results if numbers["converged"]]
    text = f"{len(done)} of {len(results)} robots go"
    if not done:
        return text
    most, longest = (max(done, key=lambda numbers, key=key: numbers[key]) for key in ("iterations", "cpu_seconds"))
    return (f"{text}; at most {most['iterations']} iterations ({most['robot']}), {longest['cpu_seconds']:.1f} s "
            f"({longest['robot']})")  # fmt: skip


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these robots instead of all")
    parser.add_argument("--iterations", type=int, default=300, help="most iterations (default 300)")
    parser.add_argument(
        "--limit", type=float, default=300.0, metavar="S", help="most seconds for a robot (default 300)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to FILE")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write pictures to DIR")
    parser.add_argument("--worker", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.out:
        options.out = options.out.resolve()
        options.out.mkdir(parents=True, exist_ok=True)
    if options.worker:
        work(options.worker, options.iterations, options.out)
        return 0
    if not od.robots.installed():
        parser.error('the files of the robots are missing: pip install ".[robots]"')
    if unknown := sorted(set(options.only or ()) - set(robots())):
        parser.error(f"no robots with legs: {', '.join(unknown)}; known: {', '.join(robots())}")
    print_line(tuple(HEAD))
    print_line(tuple("-" * width for width in HEAD.values()))
    results = []
    for name in options.only or robots():
        results.append(numbers_of(name, options))
        print_line(line(results[-1]))
    print(f"\n{summary(results)}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if options.out and (page := sheet(results, options.out)):
        print(f"all pictures: {page}")
    return sum(not numbers["converged"] for numbers in results)


if __name__ == "__main__":
    sys.exit(main())
