"""The search for the weights of human effort, on cases whose optimum is known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from scripts.fit_human import BOUNDS, EXPONENTS, KEPT, OF_SPEED, REACH, SPREAD_OF_EXPONENTS, Fitting, start_of

START = start_of(None)
NAMES = [name for name in START if name not in KEPT]


def scaled(weights: dict[str, float]) -> np.ndarray:
    """Logarithms of the weights, and the exponents of the speed."""
    return np.array([weights[name] if name.endswith(OF_SPEED) else np.log(weights[name]) for name in NAMES])


@dataclass
class Known:
    """A case whose residuals vanish at these logarithms of the weights and exponents, with a bend."""

    target: np.ndarray
    solves: int = 0

    def solve(self, weights: dict[str, float], near: Any) -> Any:
        self.solves += 1
        return SimpleNamespace(converged=True, z=scaled(weights))

    def residual(self, solution: Any) -> np.ndarray:
        return 100 * np.sinh(solution.z - self.target)

    def jacobian(self, weights: dict[str, float], solution: Any) -> np.ndarray:
        return np.diag(100 * np.cosh(solution.z - self.target))


@pytest.fixture
def case() -> Known:
    rng = np.random.default_rng(3)
    target = scaled(START) + rng.normal(0.0, 0.4, len(NAMES))
    target[NAMES.index("work")] = np.log(2 * BOUNDS["work"][1])
    return Known(target)


def test_the_search_ends_at_the_optimum_and_at_bounds(case: Known, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "weights.json"
    found = Fitting([case], START, file).run(20)
    z = scaled(found)
    free = [name not in BOUNDS for name in NAMES]
    least = min(REACH, SPREAD_OF_EXPONENTS)
    assert np.abs(z - case.target)[free].max() < 5 / (100 * least) ** 2  # the prior draws by as little
    assert NAMES[-len(EXPONENTS) :] == [name + OF_SPEED for name in EXPONENTS]
    assert found["work"] == pytest.approx(BOUNDS["work"][1])
    assert {name: found[name] for name in KEPT} == {name: START[name] for name in KEPT}
    told = capsys.readouterr().out
    assert "Converged" in told
    assert "work" in next(line for line in told.splitlines() if "at a bound" in line)
    assert json.loads(file.read_text())["weights"] == pytest.approx(found)


def test_it_goes_on_where_the_file_stands(case: Known, tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    first = Fitting([case], START, file).run(1)
    second = Fitting([case], START, file)
    second.run(0)
    assert second.named(second.z) == pytest.approx(first)
    assert second.named(second.z)["ankle"] != pytest.approx(START["ankle"])
