"""Motions that tests of several files look at: solved once in a run of the tests, by the first test that asks for one,
and read from a file by all others, in whichever process they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ocp_dyn import ocp
from ocp_dyn._base.files import alone_in
from problems import compliant_walk, human_walk
from tests import hopper

SOLVED: dict[str, Callable[[], ocp.Solution]] = {
    "human walk": lambda: human_walk.problem(1.3, intervals=human_walk.QUICK).solve(progress=False),
    "fine human walk": lambda: human_walk.problem(1.3).solve(progress=False),
    "compliant walk": lambda: compliant_walk.problem(1.3, intervals=compliant_walk.QUICK).solve(
        guess=compliant_walk.first_guess(1.3), progress=False
    ),
    "hop": lambda: hopper.problem().solve(progress=False),
}


class Motions:
    """The solutions of `SOLVED` by name; folder: that of the run, which all its processes share."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.read = folder, dict[str, ocp.Solution]()

    def __getitem__(self, name: str) -> ocp.Solution:
        if name not in self.read:
            place = self.folder / name
            place.mkdir(parents=True, exist_ok=True)
            with alone_in(place):
                if not (place / "motion.npz").exists():
                    SOLVED[name]().save(place / "motion.npz")
            self.read[name] = ocp.Solution.load(place / "motion.npz")
        return self.read[name]
