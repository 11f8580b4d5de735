"""Checks of the arguments of optimal control: numbers, names, sequences, functions, options; problems do not change."""

import copy
import dataclasses
import math
import pickle
import sys

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base import checks as arguments
from ocp_dyn._base.types import repr_in_message
from ocp_dyn.cli import examples
from ocp_dyn.models import compass_walker, pendulum
from ocp_dyn.ocp.analysis import defects
from ocp_dyn.ocp.workflows import attempt as solver
from ocp_dyn.ocp.workflows import diagnosis
from problems import five_link
from tests.helpers import close
from tests.hopper import monopod

HUGE = 10**400
WRONG = (math.nan, math.inf, -1.0, "x", None, HUGE, object(), "x" * 10**6)
FOOT = ocp.Foothold(od.Contact("foot", axes="xyz"))


def swing(model=None, **options):
    keys = ("path", "objective", "constraints", "footholds")
    phase = ocp.Phase("swing", 3, 1.0, **{key: options.pop(key) for key in keys if key in options})
    return ocp.Problem(model or pendulum(2), phase, **options)


def stand(path=(), objective=(), **options):
    return swing(monopod(), path=path, objective=objective, footholds=FOOT, unactuated=["root"], **options)


NUMBERS = {
    ocp.TorqueSquared: ("weight", "scale"),
    ocp.TorqueRateSquared: ("weight", "scale"),
    ocp.AccelerationSquared: ("weight", "base"),
    ocp.JerkSquared: ("weight",),
    ocp.JointAngleSquared: ("weight", "stiffness"),
    ocp.ForceSquared: ("weight", "scale"),
    ocp.ForceRateSquared: ("weight", "scale"),
    ocp.MechanicalWork: ("weight", "kind", "smoothing"),
    ocp.SlackWork: ("weight", "kind"),
    ocp.AngularMomentumSquared: ("weight", "scale"),
    ocp.HeadStabilization: ("weight", "point", "arm"),
    ocp.CapturePointSquared: ("weight",),
    ocp.ZeroMomentPointSquared: ("weight",),
    ocp.FrictionCone: ("mu", "mu_yaw", "second_order"),
    ocp.CenterOfPressure: ("margin",),
    ocp.CaptureMargin: ("radius",),
    ocp.ZeroMomentPointMargin: ("radius",),
    ocp.JointMargin: ("margin",),
    ocp.FootPlan: ("lift", "crouch"),
    ocp.Impact: ("weight",),
    ocp.Periodic: ("mirror", "transition"),
}


CHECKS = [
    (lambda: arguments.numbers("3", "x"), TypeError, "x must be a number, or numbers, got '3'"),
    (lambda: arguments.numbers(["3", 4], "x"), TypeError, "x must be a number, or numbers, got"),
    (lambda: arguments.numbers([1j], "x"), TypeError, "x must be a number, or numbers, got"),
    (lambda: arguments.positive(0, "x"), ValueError, "x must be positive, got 0"),
    (lambda: arguments.not_negative(-1e-9, "x"), ValueError, "x must not be negative"),
    (lambda: arguments.whole(True, "x"), ValueError, "x must be at least 0, a whole number, got True"),
    (lambda: arguments.whole(3, "x", 0, 2), ValueError, "x must be at least 0 and at most 2, a whole number, got 3"),
    (lambda: arguments.bounds(2, 1, "x"), ValueError, "x: needs lower <= upper, got 2 and 1"),
    (lambda: arguments.bounds([0, 2], [1, 1], "x"), ValueError, "x: needs lower <= upper"),
    (lambda: arguments.bounds(np.inf, np.inf, "x"), ValueError, "allows no value"),
    (lambda: arguments.bounds(-np.inf, -np.inf, "x"), ValueError, "allows no value"),
    (lambda: arguments.point((0, 0, np.inf), "x"), ValueError, "x must be 3 finite numbers"),
    (lambda: arguments.point((0, 0), "x"), ValueError, "x must be 3 finite numbers"),
    (lambda: arguments.rows_and_bounds((ca.SX(2, 1), [0, 0, 0], 1), "x"), ValueError, "x has 2 rows but 3 bounds"),
    (lambda: arguments.rows_and_bounds((ca.SX(2, 2), 0, 1), "x"), ValueError, "x must be a column, got shape"),
    (lambda: arguments.scalar(ca.SX(2, 1), "x"), ValueError, "x must be one number, got shape"),
    (lambda: arguments.expression(np.nan, "x"), ValueError, "x must return finite numbers"),
    (lambda: arguments.listed_names("foot", "x"), TypeError, "x must be a sequence of names"),
]


@pytest.mark.parametrize(("check", "error", "message"), CHECKS, ids=range(len(CHECKS)))
def test_checks_by_themselves(check, error, message):
    with pytest.raises(error, match=message):
        check()


def test_checks_let_pass_what_is_right():
    assert arguments.not_negative(0, "x") == 0
    assert arguments.whole(2, "x", 0, 2) == 2
    assert arguments.bounds(1, 1, "x") == (1, 1)
    assert arguments.bounds(-np.inf, [1, np.inf], "x")[1].tolist() == [1, np.inf]
    assert arguments.rows_and_bounds((ca.SX(2, 1), [0, 0], np.inf), "x")[1] == [0, 0]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: str(wrong)[:12])
@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in NUMBERS.items() for key in keys])
@pytest.mark.slow
def test_numbers_of_terms_are_checked(kind, key, wrong):
    with pytest.raises((ValueError, TypeError)) as told:
        kind(**{key: wrong})
    assert len(str(told.value)) < 600
    assert kind.__name__ in str(told.value) or key in str(told.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ocp.CaptureMargin(0), "CaptureMargin radius .* must be positive, got 0"),
        (lambda: ocp.TorqueSquared(scale=0), "TorqueSquared scale must be positive"),
        (lambda: ocp.TorqueSquared(scale=[1, 0]), "TorqueSquared scale must be positive"),
        (lambda: ocp.Unilateral(math.nan), "Unilateral minimum .* must not hold NaN"),
        (lambda: ocp.Duration(math.nan), "Duration weight must not hold NaN"),
        (lambda: ocp.PowerLimit(math.nan), "PowerLimit maximum .* must not hold NaN"),
        (lambda: ocp.TorqueSpeedCurve(tau_max=-1), "TorqueSpeedCurve tau_max must be positive"),
        (lambda: ocp.FootPlan(strike=math.nan), "FootPlan strike .* must not hold NaN"),
        (lambda: ocp.FootPlan(leave=90), "FootPlan leave is an angle in rad, below pi, got 90"),
        (lambda: ocp.Postures({0.0: [0]}), "fractions must increase from 0"),
        (lambda: ocp.Postures({0.0: [0], 0.5: [1]}), "fractions must increase from 0"),
        (lambda: ocp.Postures([(0, [0]), (0.5, [1]), (0.5, [2]), (1, [0])]), "fractions must increase from 0"),
        (lambda: ocp.Postures({0.0: [0], 1.0: {"knee": math.inf}}), "the posture at 1 must be finite"),
        (lambda: ocp.Postures([(0, [0], 1), (1, [0])]), "or pairs, got"),
        (lambda: ocp.Postures({0.0: [0], 1.0: [0]}, lift=-1), "Postures lift .* must not be negative"),
        (lambda: ocp.Postures({0.0: [0], 1.0: [0]}, leave=90), "Postures leave is an angle in rad"),
        (lambda: ocp.Separation([], 0.1, facing=""), "Separation facing must be a name"),
        (lambda: ocp.FootPlan(crouch=1.5), r"FootPlan crouch must lie in \[0, 1\)"),
        (lambda: ocp.Clearance([("foot", (0, 0, 0))], part=(1, 0)), "Clearance part must be .* got .1, 0."),
        (lambda: ocp.Clearance([("foot", (0, 0, 0))], math.nan), "Clearance height"),
        (lambda: ocp.Clearance([("foot", (0, 0))]), "3 finite numbers"),
        (lambda: ocp.Clearance("foot"), r"\(frame, point\) pairs"),
        (lambda: ocp.Clearance([("foot", (0, 0, 0))], terrain=0.1), "terrain must be a function"),
        (lambda: ocp.Separation([], math.nan), "Separation distance"),
        (lambda: ocp.Separation([(("a", (0, 0, 0)),)], 0.1), "two points each"),
        (lambda: ocp.NoCollision([("a", "b")]), "pairs of Capsule and Obstacle"),
        (lambda: ocp.NoCollision([], math.inf), "NoCollision margin .* finite"),
        (lambda: ocp.Obstacle((0, 0, 0), -1), "Obstacle: radius .* negative"),
        (lambda: ocp.Capsule("a", 0.1, end=(0, 0, 0)), "start and end are one point"),
        (lambda: ocp.Path(lambda s: s.q, math.inf), "a lower limit of inf, or an upper limit of -inf, allows no value"),
        (lambda: ocp.Path(lambda s: s.q, -1, -math.inf), "allows no value"),
        (lambda: ocp.Path(lambda s: s.q, math.nan), "must not hold NaN"),
        (lambda: ocp.Path(3), "Path must be a function"),
        (lambda: ocp.Parameter("p", bounds=(math.inf, math.inf)), "allows no value"),
        (lambda: ocp.Parameter("p", bounds=3), r"bounds must be \(lower, upper\)"),
        (lambda: ocp.Parameter("p", HUGE), "fit into a float"),
        (lambda: ocp.Periodic(step_length=(math.inf, math.inf)), "step_length must be a number or"),
        (lambda: ocp.Phase("p", 3, HUGE), "duration must be a number or"),
        (lambda: ocp.Phase("p", HUGE, 1.0), "intervals must be at least 1 and at most"),
        (lambda: ocp.Phase(None, 3, 1.0), "Phase name must be a name"),
        (lambda: ocp.Foothold(od.Contact("foot"), x=(-math.inf, 1)), "Foothold x must be finite"),
        (lambda: ocp.Foothold(od.Contact("foot"), half_width=math.nan), "half_width"),
        (lambda: ocp.Integral(None), "Integral must be a function"),
        (lambda: ocp.Terminal(lambda a, b: 0, math.nan), "Terminal weight"),
        (lambda: ocp.Boundary(lambda a, b: 0, name=3), "Boundary name"),
        (lambda: ocp.Jump(3), "Jump must be a function"),
        (lambda: ocp.TrackJoints(np.zeros(3)), r"reference must be a function.*ocp.recording"),
        (lambda: ocp.TrackJoints(lambda s: s, joints="hip"), "sequence of names"),
        (lambda: ocp.recording([0, 1], [0, HUGE]), "fit into a float"),
    ],
)
def test_arguments_out_of_range_are_refused(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tolerance": math.nan}, "tolerance must not hold NaN"),
        ({"tolerance": 0}, "tolerance must be positive"),
        ({"threads": -1}, "threads must be at least 1"),
        ({"threads": HUGE}, "threads must be at least 1 and at most"),
        ({"max_iterations": -1}, "max_iterations must be at least 0"),
        ({"values": [1.0]}, "values must be a dict"),
        ({"solver": "sqp", "qp": "nothing"}, "there is no QP solver 'nothing'"),
        ({"solver": "sqp", "hessian": "none"}, "hessian is 'exact' or 'gauss-newton', got 'none'"),
        ({"solver": "sqp", "qp": "qrqp", "bogus": 1}, "the QP solver 'qrqp' refuses"),
        ({"linear_solver": "ma27", "hsllib": "/nowhere.so"}, "linear_solver='ma27' may need a library"),
        ({"linear_solver": None}, "refuses its option linear_solver=None"),
        ({"bound_push": -1.0}, "the solver 'ipopt' refuses"),
        ({"tol": math.nan}, "refuses its option tol"),
    ],
)
def test_options_of_a_run_are_told_before_anything_is_built(options, message, monkeypatch):
    monkeypatch.setattr(solver, "transcribe", lambda *a: pytest.fail("built before the options were looked at"))
    with pytest.raises((ValueError, TypeError), match=message):
        swing().solve(progress=False, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"guess": np.zeros(2)}, r"guess must be a function s -> \(q, qd\)"),
        ({"options": None}, "options must be a dict"),
        ({"posture": [math.nan, 0]}, "posture must have nq = 2 entries"),
        ({"posture": [0.0]}, "posture must have nq = 2 entries"),
        ({"baumgarte": "x"}, "baumgarte .* must be a number"),
        ({"form": "bogus"}, "form must be one of implicit, explicit, got 'bogus'"),
        ({"form": "implict"}, "did you mean 'implicit'"),
        ({"form": []}, "form must be one of"),
        ({"integrator": {}}, "integrator must be one of"),
        ({"steps": HUGE}, "steps per interval must be at least 1 and at most"),
        ({"limits": 3}, "limits must be True or False"),
        ({"unactuated": ["joint3"]}, "unactuated: no joint 'joint3': did you mean 'joint"),
        ({"unactuated": "joint1"}, "sequence of names"),
        ({"transitions": lambda a, b: 0}, "wrap a function in Jump"),
        ({"terminal": lambda a, b: 0}, "wrap a function in Terminal"),
        ({"parameters": ocp.Parameter("massa:link1", 1.0)}, "no kind of model parameter 'massa': did you mean 'mass'"),
        ({"parameters": ocp.Parameter("mass:link3", 1.0)}, "no body 'link3': did you mean 'link"),
        (
            {"parameters": [ocp.Parameter("slope", 0.0), ocp.Parameter("gravity", [0, 0, -9.81])]},
            "both set the direction",
        ),
    ],
)
def test_a_problem_checks_its_arguments(options, message):
    with pytest.raises((ValueError, TypeError, KeyError), match=message):
        swing(**options)


@pytest.mark.parametrize(
    ("path", "objective", "message"),
    [
        (
            (),
            ocp.TrackForces(["fooot"], lambda s: [0, 0, 0]),
            "no foothold in any phase .* 'fooot': did you mean 'foot'",
        ),
        ((), ocp.TrackForces(["trunk"], lambda s: [0, 0, 0]), "no foothold in any phase .* 'trunk'"),
        ((), ocp.TrackJoints(lambda s: [0] * 5, joints=["hip_jont"]), "no joint 'hip_jont': did you mean 'hip_joint'"),
        ((), ocp.TrackMarkers([("leeg", (0, 0, 0))], lambda s: [0, 0, 0]), "no frame 'leeg': did you mean 'leg'"),
        ((), ocp.HeadStabilization("hed"), "HeadStabilization: no frame 'hed'"),
        ((), ocp.TorqueSquared(scale=[1, 2]), "TorqueSquared scale: give one number, or nv = 5"),
        ((), ocp.Soft(ocp.Clearance([("fot", (0, 0, 0))])), "no frame 'fot': did you mean 'foot'"),
        (ocp.Clearance([("fot", (0, 0, 0))]), (), "phase 'swing': Clearance points: no frame 'fot'"),
        (ocp.Separation([(("foot", (0, 0, 0)), ("fot", (0, 0, 0)))], 0.1), (), "Separation pairs: no frame 'fot'"),
        (ocp.NoCollision([(ocp.Capsule("fot", 0.1), ocp.Obstacle((1, 0, 0), 0.1))]), (), "no frame 'fot'"),
        (ocp.PowerLimit([1, 2]), (), "PowerLimit maximum: give one number, or nv = 5"),
    ],
)
@pytest.mark.slow
def test_names_and_sizes_are_checked_when_the_problem_is_made(path, objective, message):
    with pytest.raises((KeyError, ValueError), match=message):
        stand(path, objective)


def test_unknown_footholds_and_phases_are_told():
    with pytest.raises(KeyError, match="phase 'swing': Foothold: no frame 'fooot': did you mean 'foot'"):
        swing(monopod(), footholds=ocp.Foothold(od.Contact("fooot", axes="xyz")))
    active = swing(objective=ocp.TorqueSquared()).solve(progress=False).active()
    assert active.where(phase="swing") is not None
    with pytest.raises(KeyError, match="no phase 'swnig': did you mean 'swing'"):
        active.where(phase="swnig")
    with pytest.raises(TypeError, match="where: name must be a string, got 3"):
        active.where(3)
    with pytest.raises(ValueError, match="kind must be one of"):
        active.where(kind="rows")


FUNCTIONS = {
    "nothing": lambda *a: None,
    "text": lambda *a: "x",
    "huge": lambda *a: HUGE,
    "nan": lambda *a: math.nan,
    "shape": lambda *a: ca.SX.zeros(3, 3),
    "stranger": lambda *a: ca.SX.sym("stranger"),
    "other type": lambda *a: ca.MX.sym("x"),
    "division": lambda *a: 1 / 0,
    "missing": lambda *a: a[0].values["apxe"],
    "attribute": lambda *a: a[0].velocity,
    "mismatch": lambda *a: a[0].q + ca.SX.zeros(5),
    "arguments": lambda: 1,
    "a tuple": lambda *a: (1, 2, 3, 4),
}


class OwnCost(ocp.Cost):
    """A cost of the user's own."""

    weight = 1.0

    def __init__(self, function):
        self.function = function

    def integrand(self, instant):
        return self.function(instant)


class OwnPath(ocp.PathConstraint):
    """A path constraint of the user's own."""

    where = "interval"

    def __init__(self, function):
        self.function = function

    def rows(self, instant):
        return self.function(instant)


PLACES = {
    "Integral": (lambda f: {"objective": ocp.Integral(f, name="mine")}, "phase 'swing'|swing: 'mine'"),
    "Path": (lambda f: {"path": ocp.Path(f)}, "phase 'swing'|swing Path"),
    "interval": (lambda f: {"path": ocp.Path(f, where="interval")}, "phase 'swing'|swing: 'Path'"),
    "Soft": (lambda f: {"objective": ocp.Soft(ocp.Path(f))}, "phase 'swing'|swing: 'Soft Path'"),
    "Boundary": (lambda f: {"boundary": ocp.Boundary(f, "mine")}, "Boundary 'mine'"),
    "Boundary rows": (lambda f: {"boundary": ocp.Boundary(lambda *a: (f(*a), 0, 0), "mine")}, "mine"),
    "Terminal": (lambda f: {"terminal": ocp.Terminal(f, name="mine")}, "mine"),
    "Peak": (lambda f: {"objective": ocp.Peak(f, name="mine")}, "phase 'swing'|'mine'"),
    "Rate": (lambda f: {"objective": ocp.Rate(f, name="mine")}, "phase 'swing'|'mine'"),
    "own cost": (lambda f: {"objective": OwnCost(f)}, "OwnCost"),
    "own path": (lambda f: {"path": OwnPath(lambda x: (f(x), -1, 1))}, "OwnPath"),
    "own rows": (lambda f: {"path": OwnPath(f)}, "OwnPath"),
    "guess": (lambda f: {"guess": f}, "guess"),
    "guess parts": (lambda f: {"guess": lambda s: (f(s), [0, 0])}, "guess"),
    "reference": (lambda f: {"objective": ocp.TrackJoints(f)}, "TrackJoints: reference"),
    "terrain": (lambda f: {"path": ocp.Clearance([("link2", (0, 0, 0))], terrain=f)}, "Clearance"),
}


EVERYWHERE = ("nothing", "text", "missing")
"""Functions that are tried in every place; each place has a quarter of the others, too."""
PAIRS = [(place, wrong) for k, place in enumerate(PLACES) for n, wrong in enumerate(FUNCTIONS)
         if wrong in EVERYWHERE or (k + n) % 4 == 0]  # fmt: skip


@pytest.mark.parametrize(("place", "wrong"), PAIRS)
@pytest.mark.slow
def test_functions_that_return_the_wrong_thing_or_raise_are_named(place, wrong):
    make, named = PLACES[place]
    with pytest.raises((ValueError, TypeError), match=named) as told:
        swing(**make(FUNCTIONS[wrong]), parameters=ocp.Parameter("apex", 1.0)).solve(progress=False, max_iterations=1)
    assert len(str(told.value)) < 700
    if wrong == "missing" and place in ("Integral", "Path", "Boundary", "Terminal", "Peak", "Rate", "own cost"):
        assert "did you mean 'apex'" in str(told.value)


def test_the_rows_of_a_jump_are_checked():
    phases = [ocp.Phase("first", 2, 1.0), ocp.Phase("second", 2, 1.0)]
    for f in (lambda end, start: None, lambda end, start: (start.q - end.q, 0), lambda end, start: 1 / 0):
        with pytest.raises(ValueError, match="Jump 'kick'"):
            ocp.Problem(pendulum(1), phases, ocp.Jump(f, "kick")).solve(progress=False)


def test_messages_repeat_no_megabytes():
    for value in (
        "x" * 10**7,
        [1] * 10**6,
        np.zeros(10**6),
        {k: k for k in range(10**5)},
        HUGE,
        [["x" * 10**4] * 9] * 9,
    ):
        assert len(repr_in_message(value)) <= 200
    assert repr_in_message("foot") == "'foot'"
    assert repr_in_message(None) == "None"


# Sequences of transitions


@pytest.mark.parametrize("wrong", [[ocp.Impact()], (), (ocp.Impact(), ocp.Jump(lambda e, s: (0, 0, 0))), ocp.Impact])
def test_a_period_is_closed_by_one_transition(wrong):
    with pytest.raises(TypeError, match="Periodic transition must be one Continuous, Impact or Jump"):
        ocp.Periodic(transition=wrong)


# Forces and impulses


def test_a_least_force_does_not_bound_an_impulse():
    term = ocp.Unilateral(50.0)
    wrench = {FOOT: ca.DM([0, 0, 0, 0, 0, 7.0])}
    assert term.rows(ocp.Instant(monopod(), None, None, wrenches=wrench))[1] == 50.0
    assert term.rows(ocp.Instant(monopod(), None, None, wrenches=wrench, impulse=True))[1] == 0.0
    seen = []

    def watched(instant):
        seen.append(instant.impulse)
        return next(iter(instant.wrenches.values()))[5]

    phases = [
        ocp.Phase("flight", 2, 0.1),
        ocp.Phase("stance", 2, 0.1, FOOT, (ocp.Path(watched, 0.0, np.inf, where="wrench"), term)),
    ]
    problem = ocp.Problem(monopod(), phases, ocp.Impact(), unactuated=["root"])
    _, program = solver.prepare(problem)
    assert set(seen) == {True, False}
    bounds = {}
    for block in program.blocks:
        for name, low in zip(block.row_names, block.lower, strict=True):
            if name == "Unilateral":
                bounds[block.name] = low * 100.0
    assert bounds == {"stance": 50.0, "impact to stance": 0.0}


# Frozen problems


def test_a_problem_does_not_change():
    problem = swing(objective=ocp.TorqueSquared())
    for name in ("form", "formm", "phases", "limits"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(problem, name, "bogus")
    with pytest.raises(dataclasses.FrozenInstanceError):
        del problem.form
    with pytest.raises(ValueError, match="form must be one of"):
        dataclasses.replace(problem, form="bogus")
    with pytest.raises(TypeError, match="formm"):
        dataclasses.replace(problem, formm="explicit")


def ends(start, end):
    return ca.vertcat(start.q, start.qd, end.q - 0.3, end.qd), 0, 0


@pytest.mark.slow
def test_copies_are_problems_of_their_own():
    problem = swing(objective=ocp.TorqueSquared(), boundary=ocp.Boundary(ends), posture=[0.1, 0.0])
    first = problem.solve(progress=False)
    others = copy.copy(problem), copy.deepcopy(problem), pickle.loads(pickle.dumps(problem))
    for other in (*others, dataclasses.replace(problem), dataclasses.replace(problem, steps=1)):
        assert other.solve(progress=False).objective == pytest.approx(first.objective, rel=1e-9)
    changed = dataclasses.replace(problem, form="explicit")
    assert changed.solve(progress=False).objective != first.objective
    posture = np.array([0.1, 0.2])
    kept = swing(posture=posture)
    posture[:] = 9.0
    close(kept.posture, [0.1, 0.2])


# Changed problems


def test_a_changed_problem_finds_its_own_defaults():
    problem = swing()
    assert (problem.integrator, problem.contact_level, problem.unactuated) == ("", "", None)  # as they were written
    assert problem.resolved[:3] == ("midpoint", "position", ())
    explicit = dataclasses.replace(problem, form="explicit")
    assert explicit.resolved[:2] == ("rk4", "acceleration")
    assert explicit.scheme.name == "rk4"
    assert dataclasses.replace(explicit, form="implicit").resolved[:2] == ("midpoint", "position")
    chosen = dataclasses.replace(problem, integrator="gauss:2", contact_level="velocity")
    assert dataclasses.replace(chosen, form="explicit").resolved[:2] == ("gauss:2", "velocity")
    again = pickle.loads(pickle.dumps(problem))
    assert again.resolved == problem.resolved
    assert dataclasses.replace(again, form="explicit").resolved[:2] == ("rk4", "acceleration")
    stats = swing(boundary=ocp.Boundary(ends)).solve(progress=False, max_iterations=0).stats
    assert (stats["integrator"], stats["contact_level"]) == ("midpoint", "position")


def test_changed_phases_have_their_own_links_and_durations():
    time = ocp.Parameter("duration", 1.0)
    one = ocp.Problem(pendulum(2), ocp.Phase("a", 2, time))
    assert (one.parameters, one.resolved.parameters, one.resolved.transitions) == ((), (time,), ())
    again = ocp.Parameter("duration", 2.0)
    two = dataclasses.replace(one, phases=[ocp.Phase("a", 2, again), ocp.Phase("b", 2, 1.0)])
    assert (two.resolved.parameters, two.resolved.transitions) == ((again,), (ocp.Continuous(),))
    chosen = dataclasses.replace(two, transitions=ocp.Continuous())
    with pytest.raises(ValueError, match="1 phases need 0 transitions between them, got 1"):
        dataclasses.replace(chosen, phases=one.phases)


def legged(root="root", foot="foot", floating=True):
    """A trunk with a leg; the root joint is called `root`."""
    builder = od.ModelBuilder(f"on {root}")
    joint = od.FloatingBase(rotation="euler_zyx") if floating else od.Prismatic("z")
    builder.add_body("trunk", joint, joint_name=root, mass=5, inertia=(1, 1, 1))
    builder.add_body("leg", od.Revolute("y"), "trunk", joint_name="hip", mass=1, com=(0, 0, -0.2), inertia=(1, 1, 1))
    builder.add_frame(foot, "leg", (0, 0, -0.5))
    return builder.build()


def hanging(model, **options):
    """A problem that names frames and joints in every way there is."""
    foot = ocp.Foothold(od.Contact("foot", axes="xyz"))
    terms = {
        "path": (ocp.Clearance([("foot", (0, 0, 0)), ("leg", (0, 0, 0))], 0.0),),
        "objective": (
            ocp.Soft(
                ocp.NoCollision([(ocp.Capsule(name, 0.1), ocp.Capsule("trunk", 0.1)) for name in ("foot", "leg")])
            ),
            ocp.TrackJoints(lambda s: np.zeros(model.nq), joints=["hip"]),
            ocp.HeadStabilization("trunk"),
        ),
        "constraints": (od.Loop("foot", "trunk", "ball"), od.Baumgarte(od.LockedJoint("hip"), 1.0)),
    }
    phases = [ocp.Phase("stand", 2, 1.0, foot, **terms), ocp.Phase("turn", 2, 1.0, foot)]
    mass = ocp.Parameter("mass:leg", 1.0)
    return ocp.Problem(model, phases, parameters=[mass], **options)


def test_a_problem_moves_to_another_model():
    problem = hanging(legged())
    assert problem.resolved.unactuated == ("root",)
    other = dataclasses.replace(problem, model=legged("base"))
    assert other.resolved.unactuated == ("base",)
    assert other.actuated == [6]
    assert dataclasses.replace(other, model=legged("slide", floating=False)).actuated == [0, 1]
    named = hanging(legged(), unactuated=["root"])
    with pytest.raises(KeyError, match="unactuated: no joint 'root'; there are: base, hip"):
        dataclasses.replace(named, model=legged("base"))
    assert dataclasses.replace(named, model=legged("base"), unactuated=None).actuated == [6]


@pytest.mark.slow
def test_a_walker_of_another_size_walks_by_the_same_problem():
    swung = swing(objective=ocp.TorqueSquared(), boundary=ocp.Boundary(ends))
    longer = dataclasses.replace(swung, model=pendulum(2, length=1.5))
    moved, stated = (
        p.solve(progress=False)
        for p in (longer, swing(longer.model, objective=ocp.TorqueSquared(), boundary=ocp.Boundary(ends)))
    )
    assert moved.objective == pytest.approx(stated.objective, rel=1e-9)
    assert moved.objective != pytest.approx(swung.solve(progress=False).objective, rel=0.1)


def test_every_name_that_a_model_lacks_is_told_at_once():
    problem = hanging(legged(), unactuated=["root"])
    builder = od.ModelBuilder("biped")
    builder.add_body("torso", od.FloatingBase(), joint_name="base", mass=5, inertia=(1, 1, 1))
    builder.add_body("leg_l", od.Revolute("y"), "torso", joint_name="hip_l", mass=1, inertia=(1, 1, 1))
    builder.add_frame("foot_l", "leg_l", (0, 0, -0.5))
    with pytest.raises(KeyError) as caught:
        dataclasses.replace(problem, model=builder.build())
    text = caught.value.args[0]
    for part in (
        "6 names in this problem do not fit the model 'biped'",
        (
            "no frame 'foot': did you mean 'foot_l'? (phase 'stand': Foothold, phase 'stand': Loop, phase 'stand': "
            "Clearance points and 2 more)"
        ),
        "no frame 'trunk' (phase 'stand': Loop, phase 'stand': NoCollision: Capsule, phase 'stand': HeadStabilization)",
        "no frame 'leg': did you mean 'leg_l'? (phase 'stand': Clearance points, phase 'stand': NoCollision: Capsule)",
        "no joint 'hip': did you mean 'hip_l'? (phase 'stand': LockedJoint, phase 'stand': TrackJoints joints)",
        "no joint 'root' (unactuated)",
        "no body 'leg': did you mean 'leg_l'? (Parameter 'mass:leg')",
        "Its frames are: torso, leg_l, foot_l. Its joints are: base, hip_l. Use these names in the problem, or build",
    ):
        assert part in text, text


def test_a_frame_of_another_model_is_told():
    model, other = legged(), legged(foot="sole").with_frame("foot", "trunk")
    problem = swing(model, footholds=ocp.Foothold(od.Contact(model.frame("foot"), axes="xyz")))
    with pytest.raises(
        ValueError, match=r"phase 'swing': Foothold: .* belongs to another model .* with the name 'foot'"
    ):
        dataclasses.replace(problem, model=other)


def test_a_posture_belongs_to_a_model():
    problem = swing(posture=[0.1, 0.2])
    with pytest.raises(
        ValueError, match=r"posture must have nq = 3 entries for the model .*, got 2: .*model=\.\.\., posture=None"
    ):
        dataclasses.replace(problem, model=pendulum(3))
    assert dataclasses.replace(problem, model=pendulum(3), posture=None).posture is None


# Path constraints at every node


def test_a_path_constraint_holds_at_the_ends_too():
    """The end of a swing, free, is as far as the wall lets it; without the ends it goes beyond."""
    wall = lambda **more: ocp.Path(lambda instant: instant.q, -np.inf, 0.3, **more)
    start = ocp.Boundary(lambda a, b: (ca.vertcat(a.q, a.qd), 0, 0))
    far = ocp.Terminal(lambda a, b: 100 * ca.sumsqr(b.q - 1))
    options = {"objective": ocp.TorqueSquared(), "boundary": start, "terminal": far}
    held, free = (swing(path=wall(**more), **options).solve(progress=False) for more in ({}, {"ends": False}))
    assert held.q.max() <= 0.3 + 1e-6
    assert held.q[-1].max() == pytest.approx(0.3, abs=1e-5)
    assert free.q[:-1].max() <= 0.3 + 1e-6
    assert free.q[-1].max() > 0.31


def nodes(problem, name):
    """Number of nodes at which the block has rows."""
    _, program = solver.prepare(problem)
    return [len(block.instances) for block in program.blocks if block.name.endswith(name)]


@pytest.mark.slow
def test_rows_where_phases_meet_are_asked_for_once():
    """Unless they differ there: by the fraction of the phase, by velocities that jump, in another state."""
    position, speed = ocp.Path(lambda s: s.q, -1, 1), ocp.Path(lambda s: s.qd, -1, 1)
    waning = ocp.Path(lambda s: s.q * (1 - s.s), -1, 1)
    copied = ocp.Jump(lambda end, start: (ca.vertcat(start.q - end.q, start.qd - end.qd), 0, 0))

    def counts(term, transition, first=True):
        paths = (term if first else (), term)
        phases = [ocp.Phase(name, 3, 1.0, path=path) for name, path in zip("ab", paths, strict=True)]
        return nodes(ocp.Problem(pendulum(1), phases, transition), "Path")

    assert counts(position, ocp.Continuous()) == counts(position, ocp.Impact()) == [4, 3]
    assert counts(speed, ocp.Continuous()) == [4, 3]
    assert counts(speed, ocp.Impact()) == counts(waning, ocp.Continuous()) == [4, 4]
    assert counts(position, copied) == [4, 4]
    assert counts(position, ocp.Continuous(), first=False) == [4]
    alone = {"mirror": False, "step_length": 0}
    for transition, term, count in (
        (ocp.Continuous(), speed, 3), (ocp.Impact(), speed, 4), (ocp.Continuous(), waning, 4)
    ):  # fmt: skip
        closed = swing(path=term, periodic=ocp.Periodic(transition=transition, **alone))
        assert nodes(closed, "Path") == [count]


@pytest.mark.parametrize(
    ("term", "ends", "inside"),
    [
        (lambda **more: ocp.JointMargin(0.1, **more), 4, 2),
        (lambda **more: ocp.NoCollision([(ocp.Capsule("leg", 0.1), ocp.Obstacle((9, 0, 0), 0.1))], **more), 4, 2),
        (lambda **more: ocp.Separation([(("leg", (0, 0, 0)), ("trunk", (0, 0, 0)))], -1.0, **more), 4, 2),
    ],
)
@pytest.mark.slow
def test_constraints_of_nodes_say_whether_they_hold_at_the_ends(term, ends, inside):
    for more, count in (({}, ends), ({"ends": False}, inside)):
        problem = swing(monopod(), path=term(**more))
        assert nodes(problem, type(term()).__name__) == [count]


def test_a_clearance_leaves_out_the_ends():
    assert nodes(stand(ocp.Clearance([("foot", (0, 0, 0))])), "Clearance") == [2]


# A diagnosis never loses a result


def test_a_diagnosis_that_fails_keeps_the_run(monkeypatch):
    def fails(*a):
        raise RuntimeError("no diagnosis today")

    monkeypatch.setattr(solver, "repetitions", fails)
    monkeypatch.setattr(solver, "faults", fails)
    found = swing(boundary=ocp.Boundary(ends)).solve(progress=False, max_iterations=0)
    assert not found.converged
    assert found.stats["faults"] == ["this diagnosis failed: RuntimeError: 'no diagnosis today'"]
    assert diagnosis.faults is not fails


class Closed:
    """A stream whose reader has gone."""

    def write(self, text):
        raise BrokenPipeError("nobody listens")

    flush = write


def test_progress_that_nobody_reads_keeps_the_run(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Closed())
    assert swing(objective=ocp.TorqueSquared(), boundary=ocp.Boundary(ends)).solve().converged


def test_defects_are_infinite_where_the_integrator_gives_up(monkeypatch):
    solution = swing(objective=ocp.TorqueSquared(), boundary=ocp.Boundary(ends)).solve(progress=False)

    def gives_up(**given):
        raise RuntimeError("CVode returned CV_TOO_MUCH_WORK")

    monkeypatch.setattr(defects.Flow, "_integrator", lambda *a: gives_up)
    assert math.isinf(solution.defects().angle)


@pytest.mark.slow
def test_a_report_that_fails_keeps_the_solution(tmp_path, monkeypatch, capsys):
    def fails(*a, **k):
        raise RuntimeError("no numbers today")

    monkeypatch.setattr(five_link, "numbers", fails)
    monkeypatch.setattr(examples, "write", lambda *a, **k: None)
    assert five_link.main(["--quick", "--quiet", "--form", "explicit", "--out", str(tmp_path)]) == 0
    assert ocp.Solution.load(tmp_path / "walk.npz").converged
    assert "the numbers of the report could not be made: RuntimeError: no numbers today" in capsys.readouterr().err


def test_counts_of_iterations_are_never_garbage():
    """IPOPT that finds too few degrees of freedom does not begin, and leaves its count as it was."""
    found = swing(
        boundary=ocp.Boundary(lambda a, b: (ca.vertcat(a.q, a.qd, a.q, a.qd, b.q, b.qd, b.q, b.qd), 0, 0))
    ).solve(progress=False)
    assert 0 <= found.stats["iterations"] <= 500


def test_a_walker_needs_its_names():
    model = compass_walker()
    with pytest.raises(TypeError, match=r"model must be a Model, .* got 3"):
        ocp.mirror_map(3)
    with pytest.raises(ValueError, match="tolerance must be positive"):
        ocp.symmetric_twin(model, 0.0)
