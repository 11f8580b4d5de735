"""Tables and examples of docs/coming_from against biorbd and OpenSim Moco."""

import contextlib
import importlib.util
import locale
import subprocess
import sys

import numpy as np
import pytest

from tests.docs.pages import cells, namespace, rows

PAGE, OPENSIM = "coming_from/bioptim_muscod.md", "coming_from/opensim.md"
COMPARED = [row for row in rows(PAGE) if row.relation]
MOCO = """
import opensim
model = opensim.Model()
model.set_gravity(opensim.Vec3(0, 0, 0))
body = opensim.Body("body", 2.0, opensim.Vec3(0), opensim.Inertia(0))
joint = opensim.SliderJoint("slider", model.getGround(), body)
joint.updCoordinate().setName("position")
motor = opensim.CoordinateActuator()
motor.setName("motor")
motor.setCoordinate(joint.updCoordinate())
motor.setOptimalForce(1)
for part in (body, joint, motor):
    model.addComponent(part)
model.finalizeConnections()
study = opensim.MocoStudy()
problem = study.updProblem()
problem.setModel(model)
problem.setTimeBounds(opensim.MocoInitialBounds(0.0), opensim.MocoFinalBounds(0.1, 5.0))
problem.setStateInfo("/slider/position/value", [-5, 5], [0], [1])
problem.setStateInfo("/slider/position/speed", [-50, 50], [0], [0])
problem.setControlInfo("/motor", [-50, 50])
problem.addGoal(opensim.MocoFinalTimeGoal())
solver = study.initCasADiSolver()
solver.set_num_mesh_intervals(50)
solver.set_verbosity(0)
print("duration", study.solve().getFinalTime())
"""


@contextlib.contextmanager
def locale_kept():
    """Restores the locale: biorbd sets it to "C" for the whole process when it reads a model, and later tests of this
    process would read files as ASCII."""
    before = locale.setlocale(locale.LC_ALL)
    try:
        yield
    finally:
        locale.setlocale(locale.LC_ALL, before)


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    biorbd = pytest.importorskip("biorbd")
    ours = namespace(PAGE, 0)
    exec("import numpy as np, casadi as ca, ocp_dyn as od", ours)
    exec(next(cell for cell in cells(PAGE) if "biomod" in cell), ours)
    path = tmp_path_factory.mktemp("biorbd") / "robot.bioMod"
    path.write_text(ours["biomod"], encoding="utf-8")
    encoding = locale.getencoding()
    with locale_kept():
        robot = biorbd.Model(str(path))
    assert locale.getencoding() == encoding
    return ours, {"m": robot, **{name: ours[name] for name in ("q", "qd", "qdd", "tau")}}


def test_the_table_is_long_enough():
    assert len(COMPARED) >= 15


@pytest.mark.parametrize("row", COMPARED, ids=lambda row: row.place)
def test_both_calls(row, both):
    ours, theirs = both
    found = eval(row.theirs[0], theirs)
    found = np.array(found.to_array() if hasattr(found, "to_array") else found, dtype=float)
    wanted = np.array(eval(row.ours[0], ours), dtype=float).reshape(found.shape)
    assert np.abs(found - wanted).max() <= 1e-9 * max(1.0, np.abs(wanted).max())


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("opensim"), reason="opensim is not installed")
def test_the_first_example_of_moco(tmp_path):
    """In a process of its own, because OpenSim brings its own build of CasADi."""
    run = subprocess.run([sys.executable, "-c", MOCO], cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs = float(next(line for line in run.stdout.splitlines() if line.startswith("duration")).split()[1])
    space = namespace(OPENSIM, 1)
    exec(cells(OPENSIM)[-1], space)
    exact = 2 * (2.0 * 1.0 / 50) ** 0.5
    assert abs(theirs - exact) < 5e-4
    assert abs(space["fastest"].duration - exact) < 1e-4
    assert abs(space["fastest"].duration - exact) < abs(theirs - exact)
