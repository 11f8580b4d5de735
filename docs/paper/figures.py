#!/usr/bin/env python3
"""Makes the figures and the numbers of the paper: python docs/paper/figures.py [FOLDER], by default beside this file.

Leaves walk.png, the solved stride; angles.png, its joint angles over those of people; and numbers.json, all that the
text states. Takes a few minutes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import ocp_dyn as od
from ocp_dyn.problems import five_link, human_walk

HERE = Path(__file__).parent
SPEED = 1.2
"""Speed of the walk [m/s]."""


def walk(folder: Path) -> dict[str, Any]:
    """Numbers of the human walk; its two figures are written."""
    solution = human_walk.problem(speed=SPEED).solve(progress=False, check=True)
    od.viz.stick_figure(solution, folder / "walk.png")
    both = {"model": solution, "people": "winter"}
    od.viz.plot(both, folder / "angles.png", width=4.8, style="paper", quantities=["angles"])
    stats, model = solution.stats, solution.model
    errors = solution.interval_errors()
    made = stats["provenance"]
    return {
        "made_with": {name: made[name] for name in ("ocp_dyn", "source", "casadi", "numpy", "python")},
        "walk": {
            "speed_m_per_s": SPEED,
            "dofs": model.nv,
            "bodies": model.nb,
            "intervals": len(solution.tau),
            "variables": stats["variables"],
            "constraints": stats["constraints"],
            "iterations": stats["iterations"],
            "step_length_m": round(float(solution.step_length), 2),
            "step_time_s": round(float(solution.duration), 2),
            "largest_angle_error_degrees": round(float(np.degrees(errors.angle.max())), 4),
        },
    }


def biped() -> dict[str, Any]:
    """Numbers of the five-link step beside the published optimum."""
    found = five_link.problem("implicit", 50, "gauss:2", "linear").solve(progress=False, check=True)
    shot = five_link.problem("implicit", 50, "rk4").solve(progress=False, check=True)
    return {
        "five_link": {"cost": round(found.objective, 3), "published": five_link.CONVERGED},
        "five_link_shooting": {"cost": round(shot.objective, 6), "published": five_link.SHOOTING},
    }


def functions() -> dict[str, Any]:
    """Numbers of operations of dynamics functions of the human model."""
    model = od.models.human()
    names = {"ID": od.inverse_dynamics, "FD": od.forward_dynamics, "H": od.mass_matrix}
    counts = {name: od.function(algorithm, model).n_instructions() for name, algorithm in names.items()}
    return {"instructions": counts}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE, metavar="FOLDER")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    found = walk(folder) | biped() | functions()
    (folder / "numbers.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
