"""The examples of extensions: short, with a how-to, and they run."""

from __future__ import annotations

import runpy
from pathlib import Path

import casadi as ca
import pytest

import ocp_dyn as od
import problems.extending
from ocp_dyn import ocp

FOLDER = Path(problems.extending.__file__).parent
EXAMPLES = sorted(path.stem for path in FOLDER.glob("[a-z]*.py"))
MOST_LINES = 40
COMPONENTS = ("elastic_drive", "fatigue", "hill_joint", "motor_heat")
MOST_LINES_OF_COMPONENTS = 60


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.slow
def test_examples_are_short_and_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= (MOST_LINES_OF_COMPONENTS if name in COMPONENTS else MOST_LINES)
    assert f"    python -m problems.extending.{name}\n" in source
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_is_one_for_every_kind_of_extension() -> None:
    expected = [
        "algorithm",
        "constraint",
        "cost",
        "foothold",
        "integrator",
        "joint",
        "path_constraint",
        "peak",
        "rate",
        "solver",
    ]
    assert {*expected, *COMPONENTS} <= set(EXAMPLES)


def test_a_solver_of_the_user_finds_what_ipopt_finds(monkeypatch) -> None:
    from ocp_dyn.ocp.solvers import by_name

    monkeypatch.setattr(by_name, "SOLVERS", dict(by_name.SOLVERS))
    made = runpy.run_path(str(FOLDER / "solver.py"))
    turned = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1.0, end.qd), 0.0, 0.0))
    swing = ocp.Phase("swing", 10, 1.0, objective=[ocp.TorqueSquared()])
    problem = ocp.Problem(od.models.pendulum(), [swing], boundary=[turned])
    own, usual = (problem.solve(solver=name, progress=False) for name in ("newton", "ipopt"))
    assert own.converged
    assert own.objective == pytest.approx(usual.objective, rel=1e-7)
    ocp.add_solver("newton", made["newton"])  # again: the user's own may be replaced
    for name in ("ipopt", "sqp"):
        with pytest.raises(ValueError, match=r"there is a solver .* already"):
            ocp.add_solver(name, made["newton"])
    with pytest.raises(TypeError, match="add_solver: solve"):
        ocp.add_solver("mine", 3)
