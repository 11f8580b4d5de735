"""Public dataclasses that users make: values of another kind or size are refused when they are made, also by
`replace`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp

ROOMS = (od, od.ocp, od.io, od.codegen, od.viz, od.models, od.robots, od.formulations, od.recordings)

ARM = od.models.pendulum(2)
FOOT, OTHER = od.Contact("link2"), od.Contact("link1", axes="xyz")
PHASE = ocp.Phase("swing", 4, 1.0, objective=[ocp.TorqueSquared()])
FOOTHOLD = ocp.Foothold(FOOT)
SHAPE = ocp.Capsule("link2", 0.1)
CURVE = od.StrengthCurve(200.0, angle=0.4, width=1.2, speed_75=1.5, speed_50=4.0)


def recorded(s: Any, T: Any) -> Any:
    return ca.vertcat(0.0, 0.0)


def one(instant: Any) -> Any:
    return instant.q[0]


def two(start: Any, end: Any) -> Any:
    return start.q[0] - end.q[0], 0, 0


PATH = (od.PathPoint("P1", "link1", (0, 0, 0)), od.PathPoint("P2", "link2", (0, 0, 0)))


def motion() -> ocp.PhaseMotion:
    nodes, between = np.zeros((3, 2)), np.zeros((2, 2))
    return ocp.PhaseMotion("swing", np.arange(3.0), nodes, nodes, between, between, np.zeros((2, 3)), (OTHER,), {})


def solution() -> ocp.Solution:
    stats = {"converged": True, "status": "made by hand"}
    return ocp.Solution(ARM, (motion(),), {"cost": 1.0}, (np.zeros(3),), 0.0, False, stats)


SAMPLES: tuple[Callable[[], Any], ...] = (
    lambda: ARM, lambda: ARM.dofs, lambda: ARM.frame("link2"), motion, solution,
    lambda: FOOT, lambda: OTHER, lambda: od.RollingContact("link2", 0.1), lambda: od.Loop("link1", "link2", "ball"),
    lambda: od.LockedJoint("joint1"), lambda: od.JointCoupling("joint1", "joint2"), lambda: od.Baumgarte(FOOT, 0.1),
    lambda: od.CustomConstraint(lambda q: q[0]), lambda: od.Loads(), lambda: od.HuntCrossleySphere("link2"),
    lambda: od.Revolute("x"), lambda: od.Prismatic("x"), lambda: od.Helical("x", pitch=1.0),
    lambda: od.Cylindrical("x"),
    lambda: od.Universal("x", "y"), lambda: od.MultiDof([(1, 0, 0, 0, 0, 0)]), lambda: od.Euler("xyz"),
    lambda: od.FloatingBase(), lambda: od.Transform.identity(), lambda: od.Inertia.zero(),
    lambda: od.ExponentialTorque("joint1", 1.0, {"joint1": 1.0}), lambda: od.OneSidedSpring("joint1", 1.0, 0.0, 0.1),
    lambda: od.CoordinateLimit("joint1", 1.0, 0.0, 9, 9), lambda: od.FormulaTorque("joint1", "-q"),
    lambda: od.Bushing("link1", "link2"), lambda: od.PathSpring(along={"joint1": 1.0}),
    lambda: od.WeightSupport("link2", 1.0), lambda: od.PrescribedMotion("joint1", od.SineFunction()),
    lambda: od.recordings.Recording(["a", "b"], [0.0, 0.1], [[1, 2], [3, 4]]),
    lambda: od.recordings.Events({"l": [0.1]}), lambda: od.recordings.ScaleSetup(factors={"link1": 1.1}),
    lambda: od.recordings.Measurement("size", [("a", "b")], {"link1": "X"}),
    lambda: od.PointTarget("link2", (0, 0, 0)), lambda: od.OrientationTarget("link2", np.eye(3)),
    lambda: od.CenterOfMassTarget((0, 0, 0)), lambda: od.io.Ball("link2", 0.1), lambda: od.io.Box("link2", (1, 1, 1)),
    lambda: od.io.Cylinder("link2", 0.1, 0.1), lambda: od.Layout(ARM, "rbdl"), lambda: od.models.CompassParameters(),
    lambda: od.models.FiveLinkParameters(),
    lambda: PHASE, lambda: ocp.Foothold(FOOT), lambda: ocp.CompliantFoothold("link2", [od.HuntCrossleySphere("link2")]),
    lambda: ocp.LoadedFoothold("link2"), lambda: ocp.MeasurementErrors(),
    lambda: ocp.Plane(), lambda: ocp.Patch(length=1.0, width=1.0), lambda: ocp.Terrain(), lambda: ocp.Impact(),
    lambda: ocp.Jump(two), lambda: ocp.Boundary(two), lambda: ocp.At([0.0]), lambda: ocp.Rest([0.0]),
    lambda: ocp.Parameter("p", 1.0), lambda: ocp.Periodic(1.0),
    lambda: ocp.Step(), lambda: ocp.FootPlan(), lambda: ocp.Postures({0.0: [0, 0], 1.0: [1, 0]}),
    lambda: ocp.Problem(ARM, [PHASE]), lambda: ocp.Channel("heat"),
    lambda: ocp.DependentJoints(od.JointCoupling("joint2", "joint1"), ["joint2"], ["joint1"], lambda q: q),
    lambda: ocp.TorqueSquared(), lambda: ocp.AccelerationSquared(), lambda: ocp.AngularMomentumSquared(),
    lambda: ocp.CapturePointSquared(), lambda: ocp.Duration(), lambda: ocp.ForceRateSquared(),
    lambda: ocp.ForceSquared(),
    lambda: ocp.HeadStabilization("link2"), lambda: ocp.JerkSquared(), lambda: ocp.JointAngleSquared(),
    lambda: ocp.MechanicalWork(), lambda: ocp.SlackWork(), lambda: ocp.TorqueRateSquared(),
    lambda: ocp.ZeroMomentPointSquared(), lambda: ocp.PassiveTorqueSquared(), lambda: ocp.Integral(one),
    lambda: ocp.Peak(one), lambda: ocp.Rate(one), lambda: ocp.Terminal(two), lambda: ocp.Soft(ocp.JointMargin(0.1)),
    lambda: ocp.TrackJoints(recorded), lambda: ocp.TrackForces(["link2"], recorded),
    lambda: ocp.TrackVelocities(recorded), lambda: ocp.TrackActivations(ocp.Muscles(), ["biceps"], recorded),
    lambda: ocp.TrackWrenches(["link2"], recorded),
    lambda: ocp.TrackMarkers([("link2", (0, 0, 0))], recorded), lambda: SHAPE, lambda: ocp.Obstacle((0, 0, 0), 0.1),
    lambda: ocp.NoCollision([(SHAPE, ocp.Obstacle((0, 0, 0), 0.1))]), lambda: ocp.CaptureMargin(0.1),
    lambda: ocp.JointMargin(0.1), lambda: ocp.PowerLimit(1.0), lambda: ocp.TorqueSpeedCurve(1.0, 1.0),
    lambda: ocp.ZeroMomentPointMargin(0.1), lambda: ocp.CenterOfPressure(),
    lambda: ocp.Clearance([("link2", (0, 0, 0))], 0.1),
    lambda: ocp.FrictionCone(0.5), lambda: ocp.Path(one, 0, 1),
    lambda: ocp.Separation([(("link1", (0, 0, 0)), ("link2", (0, 0, 0)))], 0.1), lambda: ocp.Unilateral(),
    lambda: ocp.Scheme("own", [[0, 0], [1, 0]], [0.5, 0.5]), lambda: ocp.Tendon("joint1", 1.0),
    lambda: ocp.RestingRate(), lambda: ocp.JointWork(), lambda: ocp.TorquePower(2), lambda: ocp.MetabolicRate(),
    lambda: ocp.TorqueCapacity({"joint1": (None, one)}), lambda: ocp.Activation(), lambda: ocp.ExcitationSquared(),
    lambda: CURVE, lambda: od.CustomJoint(lambda q: od.Transform(DM.eye(3), ca.vertcat(q, 0, 0))),
    lambda: od.models.human_dimensions(), lambda: od.Quantity("x", "m"), lambda: od.models.n_four_bar(2),
    lambda: od.ConstantFunction(), lambda: od.LinearFunction(), lambda: od.PolynomialFunction((1.0, 2.0)),
    lambda: od.SineFunction(), lambda: od.SimmSpline((0, 1), (0, 1)), lambda: od.JointAxis("x"),
    lambda: od.PiecewiseLinearFunction((0, 1), (0, 1)), lambda: od.NaturalSpline((0, 1, 2), (0, 1, 0)),
    lambda: od.ScaledFunction(od.SineFunction(), 2.0),
    lambda: od.FunctionJoint([od.JointAxis("x")]), lambda: od.CoordinateCoupling("joint1", ("joint2",)),
    lambda: od.PointDistance("link1", "link2", 1.0), lambda: od.Marker("m", "link1", (0, 0, 0)), lambda: PATH[0],
    lambda: od.ConditionalPathPoint("P", "link1", (0, 0, 0), "joint1", 0.0, 1.0), lambda: od.PathWrap("ball"),
    lambda: od.MovingPathPoint("P", "link1", (od.SineFunction(),) * 3, ("joint1",) * 3),
    lambda: od.Muscle("m", "PathSpring", PATH), lambda: od.WrapObject("ball", "sphere", "link1", (0.1,)),
    lambda: od.Fixed(), lambda: od.Planar(), lambda: od.Spherical(), lambda: od.Translation(), lambda: ocp.Continuous(),
    lambda: ocp.Tuning(), lambda: ocp.GaitPattern(1.0, 0.6, [0.0, 0.5]), lambda: ocp.Command(height=0.5),
    lambda: ocp.Intervals([1, 2]), lambda: ocp.Muscles(), lambda: ocp.MuscleMetabolicRate(ocp.Muscles()),
    lambda: ocp.ChannelPower("activation"), lambda: ocp.ChannelRateSquared("activation"),
    lambda: ocp.Measured("end", one, [1.0, 2.0]), lambda: ocp.Fitted("p"),
    lambda: ocp.JointLoad("knee"),
    lambda: ocp.JointLoadSquared(ocp.JointLoad("knee")), lambda: ocp.JointLoadLimit(ocp.JointLoad("knee")),
)  # fmt: skip
"""An object of every class that users make."""

RESULTS = {
    "codegen": {"ControllerParts"},
    "formulations": {"IndependentCoordinates", "NaturalCoordinates", "NaturalElement", "NaturalMotion", "OpenedChain",
        "Trajectory"},
    "ocp": {
        "Action",
        "ActiveSet", "DecidingBounds", "Defects", "Drift", "Floquet", "Gait", "GaitComparison", "GaitReference",
        "GridPoint",
        "LimitCycle", "Metabolism", "MirrorMap", "Sensitivities", "Slope", "SolverResult", "Summary",
        "Instant", "IntervalErrors", "Library", "Multistart", "Optimum", "Plan",
        "Refinement", "Round", "Sweep", "Weights",
        "DataAgreement", "Fit", "Fold",
        "JointStrength", "StrengthUse",
        "TrackingErrors",
    },
    "ocp_dyn": {"InverseKinematics", "ModelBuilder", "Signature"},
    "io": {"MjcfFile"},
    "recordings": {"Capture", "FittedMotion", "MuscleEstimate", "NetMoments", "ScaledSubject"},
    "viz": {"Segment"},
}  # fmt: skip
"""Classes that functions of the library make, and those that collect what others have made."""


def public() -> dict[type, str]:
    """All public dataclasses, with the names of their rooms."""
    found: dict[type, str] = {}
    for room in ROOMS:
        for name in dir(room):
            kind = getattr(room, name, None)
            if isinstance(kind, type) and dataclasses.is_dataclass(kind):
                found.setdefault(kind, room.__name__.rpartition(".")[2])
    return found


def test_every_public_dataclass_has_a_sample_or_is_a_result() -> None:
    made = {type(sample()) for sample in SAMPLES}
    missing = {(room, kind.__name__) for kind, room in public().items() if kind not in made}
    assert missing == {(room, name) for room, names in RESULTS.items() for name in names}


WRONG = (object(), b"x", [object()], {1: 2}, np.full((2, 3, 5), np.nan))
"""Values that no field takes."""


def refusal(made: Any, field: str, value: Any) -> str:
    """The message about a value that a field does not take."""
    try:
        dataclasses.replace(made, **{field: value})
    except (TypeError, ValueError, KeyError) as error:
        return str(error)
    pytest.fail(f"{type(made).__name__} takes {value!r} as {field}")


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.slow
def test_values_of_no_kind_are_refused_when_they_are_given(sample: Callable[[], Any]) -> None:
    made = sample()
    for field in dataclasses.fields(made):
        for wrong in WRONG if field.init else ():
            assert len(refusal(made, field.name, wrong)) < 1000


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.slow
def test_arrays_and_tuples_of_another_length_are_refused(sample: Callable[[], Any]) -> None:
    """One entry more, and one less: of arrays of numbers, and of all that a model holds for its bodies."""
    made = sample()
    for field in dataclasses.fields(made):
        value = getattr(made, field.name)
        whole = isinstance(made, od.Model) and field.name in PER_BODY
        if not field.init or not (whole or (isinstance(value, np.ndarray) and value.ndim)):
            continue
        parts = tuple if whole else np.array
        for other in (parts([*value, value[-1]]), value[:-1]):
            said = refusal(made, field.name, other)
            assert any(re.search(rf"\b{each.name}", said) for each in dataclasses.fields(made)), said


PER_BODY = ("gravity", "parent", "joints", "X_tree", "I", "joint_names", "body_names")


def test_parts_of_a_model_that_do_not_fit_are_named() -> None:
    """Parts of an error: what, got, expected."""
    other = od.models.pendulum(3)
    tip = ARM.frames["link2"]
    wrong = {
        "dofs": (other.dofs, "q_lower of its dofs has 3 numbers, expected nq = 2, those of the joints"),
        "parent": ((-1, 0, 2), r"parent must hold -1 for the ground and, .* an earlier one, got \(-1, 0, 2\)"),
        "joints": (other.joints, "joints has 4 entries, expected 3: the ground and 2 bodies"),
        "body_names": (("a", "a"), "body_names holds 'a' twice; names must be unique"),
        "frames": ({"tip": tip}, "the frame 'tip' must have this name and be fixed to one of the bodies 0 to 2"),
        "gravity": ((0, 0), r"gravity must be three numbers \[m/s\^2\], got \(0, 0\)"),
        "mimics": (("joint1",), "mimics must be a tuple of Mimics"),
    }
    for field, (value, message) in wrong.items():
        with pytest.raises(od.ModelError, match=f"model '{ARM.name}': {message}"):
            dataclasses.replace(ARM, **{field: value})
    with pytest.raises(od.ModelError, match="bodies 0 to 2"):
        dataclasses.replace(ARM, frames={"link2": od.Frame("link2", 3)})
    with pytest.raises(od.ModelError, match="damping of the dofs has 1 numbers, expected 2, as many as the others"):
        dataclasses.replace(ARM.dofs, damping=[1.0])
    assert dataclasses.replace(ARM.dofs, damping=[1.0, 2.0]).damping.tolist() == [1, 2]


def test_arrays_of_a_motion_that_do_not_fit_are_named() -> None:
    made = solution()
    cases: dict[str, Any] = {
        r"'q0' has the shape \(3, 1\), expected \(3, 2\): nodes x nq": {"model": od.models.pendulum(3)},
        "'impulse0' has 2 numbers, expected 3 or none": {"impulses": (np.zeros(2),)},
        "it holds 2 impulses, expected at most one": {"impulses": (np.zeros(3), np.zeros(3))},
        "the iterate of a motion consists of x, expected x, lam_x, lam_g: all or none": {"iterate": {"x": np.zeros(2)}},
        "cost of a must be a number": {"cost": {"a": "1"}},
    }
    cases[r"'q0' has the shape \(3, 2\), expected \(3, 3\)"] = cases.pop(next(iter(cases)))
    for message, change in cases.items():
        with pytest.raises((ValueError, TypeError), match=message):
            dataclasses.replace(made, **change)
    with pytest.raises(ValueError, match=r"'lam' has the shape \(2, 2\), expected \(2, 3\): intervals x rows"):
        dataclasses.replace(motion(), lam=np.zeros((2, 2)))
    assert dataclasses.replace(motion(), tau_rate=1.5).tau_rate.tolist() == [[1.5, 1.5], [1.5, 1.5]]


@pytest.mark.parametrize("sample", [PHASE, ARM.dofs, FOOTHOLD, od.walking.person()], ids=lambda one: type(one).__name__)
def test_large_objects_are_shown_in_a_line(sample: Any) -> None:
    """Without arrays, and without what is as by default."""
    text = repr(sample)
    assert "\n" not in text
    assert "array(" not in text
    assert len(text) < 500
