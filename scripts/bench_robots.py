#!/usr/bin/env python3
"""Every robot of the extra `robots` walks or trots: a line for each, from the library's own guess.

    python scripts/bench_robots.py [--only NAME ...] [--iterations 300] [--limit 300] [--json FILE] [--out DIR]

Humanoids and bipeds walk (`problems.robot_walk`), quadrupeds trot (`problems.robot_trot`), each at the speed that its
legs suggest and on the full grid, interpreted. Robots of the library itself come last. Every robot has a process of its
own, so that a failure, even of the interpreter, is a line of the table and no more. Seconds are processor seconds, of
loading, building and solving together. --limit: wall seconds for a robot. --json writes the numbers; --out writes a
picture of every gait and all of them on one sheet, robots.png. The exit status is the number of robots without a gait.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import ocp_dyn as od
from problems import robot_trot, robot_walk
from problems._command import FAILURES
from problems._robots import leg_length

HEAD = ("robot", "gait", "dofs", "mass [kg]", "leg [m]", "speed [m/s]", "step [m]", "time [s]", "double support",
        "iterations", "CPU [s]", "bounds that decide", "picture")  # fmt: skip
WIDTHS = (26, 5, 4, 9, 7, 11, 8, 8, 14, 10, 7, 24, 7)
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
    return (*walkers, *robot_walk.OWN)


def trots(name: str) -> bool:
    return name not in robot_walk.OWN and od.robots.describe(name).kind == "quadruped"


def walk(name: str, iterations: int, out: Path | None) -> dict[str, Any]:
    """Numbers of a robot's gait; the picture goes to `out`."""
    begin = time.process_time()
    problem = (robot_trot if trots(name) else robot_walk).problem(None, name)
    solution = problem.solve(progress=False, compile=False, max_iterations=iterations)
    seconds = time.process_time() - begin
    model, phases = problem.model, solution.phases
    double = sum(phase.duration for phase in phases if phase.name.startswith("double_support"))
    foot = robot_trot.NAMES[0] if trots(name) else robot_walk.SOLES[0]
    found = {
        "robot": name, "gait": "trot" if trots(name) else "walk", "converged": solution.converged,
        "status": solution.status, "dofs": model.nv, "mass_kg": float(model.mass),
        "leg_m": leg_length(model, foot), "speed_m_per_s": solution.step_length / solution.duration,
        "step_m": solution.step_length, "time_s": solution.duration, "double_support": double / solution.duration,
        "iterations": solution.stats["iterations"], "cpu_seconds": seconds,
        "faults": [str(fault) for fault in solution.stats["faults"][:3]],
    }  # fmt: skip
    try:
        found["bounds"] = [bound.text for bound in solution.deciding()]
        found["defect_rad"] = solution.defects().angle
        if out is not None:
            from ocp_dyn.viz import stick_figure

            stick_figure(solution, out / f"{name}.png", poses=POSES_OF_TROT if trots(name) else POSES, ghosts=0)
            found["picture"] = f"{name}.png"
    except FAILURES as error:  # the gait is there all the same
        found["diagnosis"] = f"{type(error).__name__}: {error}"
    return found


def line(numbers: dict[str, Any]) -> tuple[str, ...]:
    """The cells of a robot's line."""
    if not numbers.get("converged"):
        text = numbers.get("error") or f"{numbers['status']}: {', '.join(numbers['faults'])}"
        return numbers["robot"], numbers.get("gait", ""), *("",) * 9, f"none: {text}", ""
    bounds = numbers.get("bounds", [])
    rest = f" and {len(bounds) - NAMED} more" if len(bounds) > NAMED else ""
    decide = ", ".join(bounds[:NAMED]) + rest or "none"
    double = f"{100 * numbers['double_support']:.0f} %" if numbers["double_support"] else "-"
    return (
        numbers["robot"], numbers["gait"], str(numbers["dofs"]), f"{numbers['mass_kg']:.1f}", f"{numbers['leg_m']:.2f}",
        f"{numbers['speed_m_per_s']:.2f}", f"{numbers['step_m']:.2f}", f"{numbers['time_s']:.2f}", double,
        str(numbers["iterations"]), f"{numbers['cpu_seconds']:.1f}",
        f"diagnosis failed: {numbers['diagnosis']}" if "diagnosis" in numbers else decide, numbers.get("picture", "-"),
    )  # fmt: skip


def in_process(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """The numbers of a robot from a process of its own."""
    command = [sys.executable, __file__, "--worker", name, "--iterations", str(options.iterations)]
    command += ["--out", str(options.out)] if options.out else []
    failed = {"robot": name, "gait": "trot" if trots(name) else "walk", "converged": False}
    try:
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=options.limit, check=False)
    except subprocess.TimeoutExpired:
        return failed | {"error": f"no gait within {options.limit:g} s"}
    try:
        found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = (run.stderr.strip().splitlines() or [""])[-1]
        return failed | {"error": f"its process ended with {run.returncode}: {last}"}
    return failed | found


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


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--only", nargs="+", metavar="NAME", help="these robots instead of all")
    arguments.add_argument("--iterations", type=int, default=300, help="most iterations (default 300)")
    arguments.add_argument(
        "--limit", type=float, default=300.0, metavar="S", help="most seconds for a robot (default 300)"
    )
    arguments.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to FILE")
    arguments.add_argument("--out", type=Path, metavar="DIR", help="write pictures to DIR")
    arguments.add_argument("--worker", metavar="NAME", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.out:
        options.out = options.out.resolve()
        options.out.mkdir(parents=True, exist_ok=True)
    if options.worker:
        try:
            found = walk(options.worker, options.iterations, options.out)
        except FAILURES as error:
            traceback.print_exc()
            found = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(found))
        return 0
    if not od.robots.installed():
        arguments.error('the files of the robots are missing: pip install ".[robots]"')
    unknown = sorted(set(options.only or ()) - set(robots()))
    if unknown:
        arguments.error(f"no robots with legs: {', '.join(unknown)}; known: {', '.join(robots())}")
    results = []
    print("| " + " | ".join(head.ljust(width) for head, width in zip(HEAD, WIDTHS, strict=True)) + " |")
    print("|" + "|".join("-" * (width + 2) for width in WIDTHS) + "|", flush=True)
    for name in options.only or robots():
        results.append(in_process(name, options))
        cells = line(results[-1])
        print(
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, WIDTHS, strict=True)) + " |", flush=True
        )
    done = [numbers for numbers in results if numbers["converged"]]
    print(f"\n{len(done)} of {len(results)} robots go; ", end="")
    if done:
        most = (
            max(done, key=lambda numbers: numbers["iterations"]),
            max(done, key=lambda numbers: numbers["cpu_seconds"]),
        )
        print(f"at most {most[0]['iterations']} iterations ({most[0]['robot']}), {most[1]['cpu_seconds']:.1f} s "
              f"({most[1]['robot']})")  # fmt: skip
    if options.json:
        options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
    if options.out and (page := sheet(results, options.out)):
        print(f"all pictures: {page}")
    return len(results) - len(done)


if __name__ == "__main__":
    sys.exit(main())
