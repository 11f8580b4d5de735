"""Findings of `check` are shown by line and by foot; failed samples of predictive control are told once."""

import warnings

import casadi as ca
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.workflows.findings import Findings


def test_findings_are_shown_by_line_and_by_foot():
    told = ["sole_r is far", "the model is odd", "sole_l is high", "sole_l and sole_r cross"]
    found = Findings(told, ["sole_l", "sole_r"])
    assert found == told
    assert str(found).splitlines() == [
        "- the model is odd", "- sole_l and sole_r cross",
        "sole_l:", "  - sole_l is high", "sole_r:", "  - sole_r is far",
    ]  # fmt: skip
    assert repr(found) == str(found)
    assert found._repr_html_().startswith("<ul><li>the model is odd</li>")
    assert (repr(Findings()), Findings()._repr_html_()) == ("[]", "nothing was found")


def test_a_sample_whose_qp_fails_is_told_once_with_its_rows():
    """A wheel that must be within 0.4 rad of the measured angle, and is not."""
    builder = od.ModelBuilder("wheel")
    builder.add_body("rim", od.Revolute("z"), mass=1, inertia=(0.5, 0.5, 1), effort=2.0)
    now = ocp.Boundary(lambda start, end: (ca.vertcat(start.q - start.values["q0"], start.qd), 0, 0), name="measured")
    near = ocp.Path(lambda instant: instant.q, -0.4, 0.4, name="gate")
    phase = ocp.Phase("hold", 5, 0.5, objective=[ocp.TorqueSquared(), ocp.JointAngleSquared()], path=[near])
    problem = ocp.Problem(builder.build(), [phase], boundary=[now], parameters=[ocp.Parameter("q0", 0.0)])
    control = problem.rti(problem.solve(progress=False))
    control.feedback(q0=0.1)
    assert (control.solved, control.verdict, control.failures) == (True, "", 0)
    before = control.x.copy()
    with pytest.warns(ocp.NotConvergedWarning, match=r"'piqp' did not solve .* \(1 of 2 samples so far\)") as caught:
        control.feedback(q0=3.0)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        control.feedback(q0=3.1)
    assert (control.solved, control.failures, control.samples) == (False, 2, 3)
    assert "ends: measured: out of its bounds by" in control.verdict
    assert (control.x == before).all()
    control.feedback(q0=0.0)
    assert (control.solved, control.verdict, control.failures) == (True, "", 2)
