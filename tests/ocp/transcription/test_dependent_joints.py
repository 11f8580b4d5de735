"""Independent coordinates: the same program as that of a model without the dependent joints, in every scheme."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.guess.from_solution import carry_over
from ocp_dyn.ocp.statement.state.dependent import Coordinates
from ocp_dyn.ocp.workflows.attempt import prepare

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(8)
PINS = {"a": (-0.11, 0.02), "b": (0.13, -0.33), "d": (0.10, -0.07), "c": (-0.16, -0.29)}
"""Pins (x, z) of a crossed four-bar linkage: bars a-b and d-c between the arm (a, d) and the hand (b, c)."""

TILT = np.linalg.qr(RNG.normal(size=(3, 3)))[0]
TILT = TILT * np.sign(np.linalg.det(TILT))
"""The plane of the linkage, in the arm."""

HAND = {"mass": 0.9, "com": tuple(RNG.uniform(-0.1, 0.1, 3)), "inertia": (0.02, 0.03, 0.025)}
LOOP = od.Loop("end", "seat", axes=[(0, 0, 0, 1, 0, 0), (0, 0, 0, 0.3, 0, 1)])
LIMITS = {"lower": -0.4, "upper": 0.7, "effort": 30.0, "velocity": 9.0}
PIN_MASS = 0.2


def pin(name: str, origin: str = "") -> np.ndarray:
    x, z = np.subtract(PINS[name], PINS[origin] if origin else (0, 0))
    return np.array([x, 0.0, z])


def bearing(vector: np.ndarray) -> float:
    """The angle about y from x to a vector in the plane."""
    return float(np.arctan2(-vector[2], vector[0]))


def closed(q):
    """Angles of the hand against the bar a-b, and of the bar d-c, by the law of cosines."""
    start = bearing(pin("b", "a"))
    length = {pair: np.linalg.norm(pin(*pair)) for pair in ("ba", "cb", "cd")}
    x, z = length["ba"] * ca.cos(start + q[0]) + PINS["a"][0], -length["ba"] * ca.sin(start + q[0]) + PINS["a"][1]
    u, w = PINS["d"][0] - x, PINS["d"][1] - z
    gap = ca.sqrt(u**2 + w**2)
    corner = ca.acos((gap**2 + length["cb"] ** 2 - length["cd"] ** 2) / (2 * gap * length["cb"]))
    # the hand's second pin is on that side of the line from its first pin to d on which it is at q = 0
    side = np.sign(np.cross(pin("d", "b"), pin("c", "b"))[1])
    hand = ca.atan2(-w, u) + side * corner
    end_x, end_z = x + length["cb"] * ca.cos(hand) - PINS["d"][0], z - length["cb"] * ca.sin(hand) - PINS["d"][1]
    around = [
        wrapped(angle) for angle in (hand - bearing(pin("c", "b")), ca.atan2(-end_z, end_x) - bearing(pin("c", "d")))
    ]
    return ca.vertcat(around[0] - q[0], around[1])


def wrapped(angle):
    return ca.atan2(ca.sin(angle), ca.cos(angle))


def hand_pose(q):
    angle = closed(q)[0] + q[0]
    (c, s), (x, z) = (ca.cos(angle), ca.sin(angle)), pin("b", "a")[[0, 2]]
    zero, one = type(q)(1, 1), type(q)(1)
    E = ca.blockcat([[c, zero, -s], [zero, one, zero], [s, zero, c]])
    ab = ca.vertcat(ca.cos(q[0]) * x + ca.sin(q[0]) * z, 0, ca.cos(q[0]) * z - ca.sin(q[0]) * x)
    return od.Transform(E, DM(pin("a")) + ab)


def point_masses(pins: str) -> dict[str, object]:
    """A bar with half of its mass at either pin."""
    r = pin(pins[1], pins[0])
    across = (r @ r) * np.eye(3) - np.outer(r, r)
    return {"mass": 2 * PIN_MASS, "com": tuple(r / 2), "inertia": across * PIN_MASS / 2}


def arm(linkage: bool = True, root: od.Joint | None = None, **rear: object) -> od.Model:
    """An arm with a hand on a four-bar linkage; linkage=False: the same masses, and one joint with the hand's
    motion."""
    b = od.ModelBuilder("arm")
    b.add_body(
        "arm", root or od.Spherical(), mass=3, com=(0.1, -0.05, -0.2), inertia=(0.1, 0.12, 0.08), joint_name="shoulder"
    )
    b.add_frame("wrist", "arm", (0.05, 0.02, -0.4), TILT)
    if linkage:
        b.add_body(
            "front", od.Revolute("y"), "wrist", origin=pin("a"), joint_name="turn", **point_masses("ab"), **LIMITS
        )
        b.add_body("hand", od.Revolute("y"), "front", origin=pin("b", "a"), joint_name="pin", **HAND)
        b.add_body("rear", od.Revolute("y"), "wrist", origin=pin("d"), joint_name="swing", **point_masses("dc"), **rear)
        b.add_frame("end", "rear", pin("c", "d"))
    else:
        b.add_body("hand", od.CustomJoint(hand_pose), "wrist", joint_name="turn", **HAND, **LIMITS)
        for name, body, frame in (("a", "wrist", ""), ("d", "wrist", ""), ("b", "hand", "b"), ("c", "hand", "b")):
            b.add_body(f"mass_{name}", od.joints.Fixed(), body, origin=pin(name, frame), mass=PIN_MASS)
    b.add_frame("seat", "hand", pin("c", "b"))
    b.add_frame("tip", "hand", (0.1, 0.03, -0.35))
    return b.build()


FOLLOWS = ocp.DependentJoints(LOOP, ("pin", "swing"), ["turn"], closed)


def problem(linkage: bool = True, **options: object) -> ocp.Problem:
    """A swing of the arm, then the tip hits the ground and stays there, then it is released again."""
    model = arm(linkage)
    x, y, z = np.array(od.point_position(model, "tip", DM(model.neutral())).full()).ravel()
    ground = ocp.Plane((0, 0, z))
    tip = ocp.Foothold(od.Contact("tip", axes="xyz"), (x - 0.2, x + 0.2), (y - 0.2, y + 0.2), plane=ground)
    motors = [model.qd_slice("turn").start]
    effort = (
        ocp.TorqueSquared(),
        ocp.TorqueRateSquared(1e-5),
        ocp.Integral(lambda i: ca.sumsqr(i.qdd[motors]) + ca.sumsqr(od.centroidal_momentum(i.model, i.q, i.qd)), 0.1),
        ocp.Rate(lambda i: ca.vertcat(i.qdd[motors], od.center_of_mass(i.model, i.q)), 0.2),
        ocp.Peak(lambda i: od.point_position(i.model, "tip", i.q), 0.3),
    )
    low = ocp.Path(lambda i: od.point_velocity(i.model, "seat", i.q, i.qd), -3, 3, where="node")
    force = ocp.Path(lambda i: od.point_position(i.model, "seat", i.q) * i.qdd[motors], -50, 50, where="interval")
    ends = ocp.Boundary(lambda first, last: (ca.vertcat(first.qd[:3], od.center_of_mass(model, last.q)), -1, 1))
    return ocp.Problem(
        model,
        [
            ocp.Phase("swing", 2, (0.1, 0.4), path=[low, force], objective=effort),
            ocp.Phase("hold", 2, 0.3, [tip], [ocp.Unilateral()], effort),
            ocp.Phase("release", 1, (0.1, 0.2), objective=effort[:1] + effort[2:3] + effort[4:]),
        ],
        [ocp.Impact(), ocp.Continuous()],
        boundary=[ends],
        terminal=[ocp.Terminal(lambda first, last: ca.sumsqr(od.point_position(model, "tip", last.q)))],
        unactuated=["pin", "swing"] if linkage else [],
        dependent=[FOLLOWS] if linkage else [],
        **options,
    )


def program(stated: ocp.Problem):
    """Objective, rows, their Jacobian and the Hessian as functions of x, and a point near the first guess."""
    transcription, assembled = prepare(stated, 1)
    p, e = transcription.program.values, assembled.evaluator
    rng = np.random.default_rng(1)
    x = transcription.program.start + 0.03 * rng.normal(size=transcription.program.size)
    lam = rng.normal(size=assembled.row_lower.size)
    J = np.array(DM(e.jacobian_pattern, e.jacobian(x, p).copy()).full())
    H = np.array(DM(e.hessian_pattern, e.hessian(x, p, 0.7, lam).copy()).full())
    return e.objective(x, p), e.constraints(x, p).copy(), J, H, assembled, transcription


def same(one: ocp.Problem, other: ocp.Problem) -> None:
    """Both have the same rows, bounds, values and derivatives at a point."""
    ours, theirs = program(one), program(other)
    assert ours[4].row_names == theirs[4].row_names
    for key in ("x_lower", "x_upper"):
        assert getattr(ours[5].program, key) == pytest.approx(getattr(theirs[5].program, key))
    for ours_value, value in zip(ours[:4], theirs[:4], strict=True):
        assert np.all(np.abs(ours_value - value) <= 1e-9 * np.maximum(1.0, np.abs(value)))


SCHEMES = [
    {"integrator": "midpoint", "torque": "linear", "steps": 2},
    {"integrator": "radau:2", "contact_level": "velocity", "baumgarte": 3.0},
    {"form": "explicit", "integrator": "euler", "contact_level": "acceleration"},
]


@pytest.mark.parametrize("options", SCHEMES, ids=lambda options: "-".join(map(str, options.values())))
def test_the_program_is_that_of_a_joint_with_the_hands_motion(options: dict) -> None:
    pair = [problem(linkage, **options) for linkage in (True, False)]
    if "contact_level" in options:  # impacts are as in the first scheme
        pair = [replace(stated, phases=stated.phases[1:2], transitions=[]) for stated in pair]
    same(*pair)


def test_a_period_closes_in_independent_coordinates() -> None:
    def periodic(linkage: bool) -> ocp.Problem:
        stated = problem(linkage)
        swing, hold, _ = (replace(phase, intervals=1, path=(), objective=()) for phase in stated.phases)
        again = ocp.Periodic(mirror=False, step_length=0.0, transition=ocp.Impact(0.1))
        return replace(stated, phases=[hold, swing], transitions=[ocp.Continuous()], periodic=again)

    same(periodic(True), periodic(False))


def test_parameters_of_the_model_stay_free() -> None:
    stated = replace(problem(), phases=problem().phases[:1], transitions=[])
    heavy = replace(stated, parameters=[ocp.Parameter("mass:hand", 0.9)])
    for one, other in zip(program(heavy)[:2], program(stated)[:2], strict=True):
        assert np.abs(one - other).max() <= 1e-9


BENT = 0.45
"""Angle of the turn at which the arm is bent; at 0.07 its tip is farthest from the shoulder."""


def bent() -> ocp.Problem:
    """The swing of a bent arm, with stages that are its nodes, so that its equations can be checked there.

    A stretched arm carries any force along itself without torque, so no optimum is better than its neighbors there:
    the tip hits the ground nearer, and a cost keeps the arm bent.
    """
    stated = problem(integrator="euler")
    model = stated.model
    q = np.r_[0.0, 0, 0, 1, BENT, np.array(closed(DM(BENT))).ravel()]
    x, y, z = np.array(od.point_position(model, "tip", DM(q)).full()).ravel()
    spans = (x - 0.05, x + 0.05), (y - 0.05, y + 0.05)
    tip = ocp.Foothold(od.Contact("tip", axes="xyz"), *spans, plane=ocp.Plane((0, 0, z)))
    calm = ocp.Integral(lambda i: ca.sumsqr(i.qd[:4]) + 10 * (i.q[4] - BENT) ** 2, 1)
    start = [0.1, -0.05, 0.05, BENT - 0.1]
    begin = ocp.Boundary(lambda first, last: (ca.vertcat(first.q[:3], first.q[4]) - DM(start), 0, 0))
    phases = [
        replace(phase, footholds=[tip] if phase.footholds else [], objective=(*phase.objective, calm))
        for phase in stated.phases
    ]
    return replace(stated, phases=phases, posture=q, boundary=[*stated.boundary, begin])


@pytest.fixture(scope="module")
def solution() -> ocp.Solution:
    found = bent().solve(progress=False)
    assert found.converged, found.status
    return found


def test_forces_and_impulses_of_the_loop_balance_the_dependent_joints(solution: ocp.Solution) -> None:
    model = solution.model
    for phase in solution.phases:
        assert phase.contacts[-1] == LOOP
        for k in range(len(phase.tau)):
            q, qd, qdd, lam = (DM(x[k]) for x in (phase.q, phase.qd, phase.qdd, phase.lam))
            G = od.constraint_jacobian(model, phase.contacts, q)
            gap = od.inverse_dynamics(model, q, qd, qdd) - DM(phase.tau[k]) - G.T @ lam
            assert float(ca.norm_inf(gap)) < 1e-6
            assert float(ca.norm_inf(od.constraint_jacobian(model, LOOP, q) @ qd)) < 1e-10
            assert float(ca.norm_inf(LOOP.position(model, q))) < 1e-10
    before, after = solution.phases[:2]
    q = DM(after.q[0])
    change = od.mass_matrix(model, q) @ DM(after.qd[0] - before.qd[-1])
    G = od.constraint_jacobian(model, after.contacts, q)
    assert float(ca.norm_inf(change - G.T @ DM(solution.impulses[0]))) < 1e-6
    assert solution.impulses[1].size == 0


def test_a_solution_is_kept_and_begins_others(solution: ocp.Solution, tmp_path) -> None:
    solution.save(tmp_path / "swing.npz")
    loaded = ocp.Solution.load(tmp_path / "swing.npz")
    assert np.array_equal(loaded.q, solution.q)
    stated = bent()
    assert stated.solve(start=solution, progress=False).stats["iterations"] < solution.stats["iterations"] / 2
    with_loop = replace(stated, dependent=[], phases=[replace(p, constraints=[LOOP]) for p in stated.phases])
    held = with_loop.solve(guess=solution, progress=False)
    assert held.converged, held.status
    assert held.objective == pytest.approx(solution.objective, rel=2e-5)  # another discretization
    again = stated.solve(guess=held, progress=False)
    assert again.converged, again.status
    assert again.objective == pytest.approx(solution.objective, rel=1e-7)  # both end within the tolerance of the solver
    assert np.abs(again.q - solution.q).max() < 1e-6


def test_a_guess_sets_independent_accelerations_and_impulses(solution: ocp.Solution) -> None:
    stated = bent()
    transcription, _ = prepare(stated, 1)
    carry_over(transcription, solution)
    start = transcription.program.start
    impulse = transcription.impulses[0]
    assert np.allclose(start[impulse.index] * impulse.scale, solution.impulses[0][:3], rtol=1e-12)
    for x, phase in zip(transcription.phases, solution.phases, strict=True):
        for qdd, found in zip(x["qdd"], phase.qdd, strict=True):
            assert np.allclose(start[qdd.index] * qdd.scale, found[stated.coordinates.qd], rtol=1e-12)


def test_limits_of_dependent_joints_are_rows() -> None:
    model = arm(lower=-0.3, upper=0.2, velocity=4.0)
    limited = replace(problem(), model=model)
    _, g, *_, assembled, transcription = program(limited)
    for key, count in (("position", 3 + 3 + 1), ("speed", 3 + 3 + 1)):
        rows = [k for k, name in enumerate(assembled.row_names) if name.endswith(f"dependent joints in swing: {key}")]
        rows += [k for k, name in enumerate(assembled.row_names) if "joints in hold: " + key in name]
        rows += [k for k, name in enumerate(assembled.row_names) if "joints in release: " + key in name]
        assert len(rows) == count
        low, high = assembled.row_lower[rows], assembled.row_upper[rows]
        assert (set(low), set(high)) == (({-0.3}, {0.2}) if key == "position" else ({-4.0}, {4.0}))
    chosen, x = limited.coordinates, transcription.program.start
    at = transcription.phases[0]["q"][1]
    first = [k for k, name in enumerate(assembled.row_names) if name.endswith("dependent joints in swing: position")]
    assert g[first[1]] != 0
    q = chosen.full_q(DM(x[at.index]))
    assert float(q[model.q_slice("swing")]) == pytest.approx(float(closed(q[model.q_slice("turn")])[1]))
    assert not any("dependent joints" in name for name in prepare(replace(limited, limits=False), 1)[1].row_names)


def geared() -> od.Model:
    b = od.ModelBuilder("geared")
    for k, parent in enumerate(("world", "link0", "link1", "link2")):
        link = {"mass": 1.0 + k, "com": tuple(RNG.uniform(-0.3, 0.3, 3)), "inertia": (0.1, 0.2, 0.15)}
        b.add_body(f"link{k}", od.Revolute(tuple(RNG.normal(size=3))), parent, origin=(0.1, 0.2, -0.3), **link)
    return b.build()


def test_gears_as_dependent_joints_cost_what_gears_with_forces_cost() -> None:
    """A linear coupling: both discretizations are the same. One joint follows from two others; its constraint
    also holds a joint that follows from one of these."""
    model, target = geared(), RNG.uniform(0.5, 1, 2)
    names = [f"link{k}_joint" for k in range(4)]
    gear = od.JointCoupling(names[2], names[0], ratio=-1.7, offset=0.3)
    mean = od.CustomConstraint(lambda q: q[3] - 0.5 * q[0] + 0.8 * q[1] + 0.4 * q[2] - 0.22, name="mean")
    ends = ocp.Boundary(
        lambda first, last: (ca.vertcat(first.q[:2], first.qd[:2], last.q[:2] - target, last.qd[:2]), 0, 0)
    )
    phase = ocp.Phase("turn", 6, 0.8, objective=[ocp.TorqueSquared()], constraints=[gear, mean])
    q0 = [0, 0, 0.3, 0.1]
    forces = ocp.Problem(model, [phase], boundary=[ends], posture=q0, unactuated=names[2:3], form="explicit")
    dependent = [
        ocp.DependentJoints(gear, names[2:3], names[:1], lambda q: 0.3 - 1.7 * q),
        ocp.DependentJoints(mean, names[3:], [names[1], names[0]], lambda q: 1.18 * q[1] - 0.8 * q[0] + 0.1),
    ]
    free = replace(forces, dependent=dependent, phases=[replace(phase, constraints=[])])
    one, other = (stated.solve(progress=False, tolerance=1e-10) for stated in (forces, free))
    assert one.converged, one.status
    assert other.converged, other.status
    assert other.objective == pytest.approx(one.objective, rel=1e-8)
    assert np.abs(other.q - one.q).max() < 1e-6
    assert np.abs(other.phases[0].lam - one.phases[0].lam).max() < 1e-5 * np.abs(one.phases[0].lam).max()
    assert other.stats["variables"] < one.stats["variables"]


def test_what_cannot_be_dependent_is_refused() -> None:
    stated = problem()

    def refused(
        message: str, *members: ocp.DependentJoints, kind: type[Exception] = ValueError, **fields: object
    ) -> None:
        with pytest.raises(kind, match=message):
            replace(stated, dependent=members or [FOLLOWS], **fields)

    refused("has 2 rows .* the joints pin have 1 dofs", ocp.DependentJoints(LOOP, ["pin"], ["turn"], closed))
    refused("no joint 'elbow'", ocp.DependentJoints(LOOP, ["pin", "elbow"], ["turn"], closed), kind=KeyError)
    three = od.Loop("end", "seat", "ball")
    refused("have quaternions", ocp.DependentJoints(three, ["shoulder"], ["turn"], lambda q: q))
    refused("already is a dependent joint of 'end-seat'", FOLLOWS, FOLLOWS)
    again = od.JointCoupling("turn", "pin")
    refused(
        "joint 'turn' in of= is a dependent joint of 'turn=pin'",
        FOLLOWS,
        ocp.DependentJoints(again, ["turn"], ["pin"], lambda q: q),
    )
    refused(r"must return 2 coordinates", ocp.DependentJoints(LOOP, ["pin", "swing"], ["turn"], lambda q: q))
    strange = ocp.DependentJoints(LOOP, ["pin", "swing"], ["turn"], lambda q: q * ca.SX.sym("load", 2))
    refused("function must depend on the coordinates of turn only, got the symbols load_0, load_1", strange)
    wrong = ocp.DependentJoints(LOOP, ["swing", "pin"], ["turn"], closed)
    refused(r"does not close the constraint at turn = 0.3: phi", wrong, posture=[0, 0, 0, 1, 0.3, 0, 0])
    outside = ocp.DependentJoints(LOOP, ["pin", "swing"], ["turn"], lambda q: ca.sqrt(q - 9) * ca.vertcat(1, 1))
    refused(r"phi = \[nan nan\]", outside)
    refused(
        "function: the function raised AttributeError",
        ocp.DependentJoints(LOOP, ["pin", "swing"], ["turn"], lambda q: q.nothing),
    )
    held = [replace(phase, constraints=[LOOP]) for phase in stated.phases]
    refused(r"phase 'swing' holds a constraint that dependent joints fulfill", phases=held)
    refused(r"dependent must hold DependentJoints", LOOP, kind=TypeError)
    with pytest.raises(TypeError, match=r"needs a constraint such as od.Loop, got 'loop'"):
        ocp.DependentJoints("loop", ["pin"], ["turn"], closed)
    with pytest.raises(ValueError, match="joints must name joints, each once"):
        ocp.DependentJoints(LOOP, ["pin", "pin"], ["turn"], closed)
    with pytest.raises(TypeError, match="function must be a function"):
        ocp.DependentJoints(LOOP, ["pin", "swing"], ["turn"], 3)


def test_a_dead_center_is_refused() -> None:
    """A parallelogram whose bars are in line: its coupler and its rocker no longer follow from the crank."""
    b = od.ModelBuilder("parallelogram")
    b.add_body("crank", od.Revolute("y"), mass=1)
    b.add_body("coupler", od.Revolute("y"), "crank", origin=(0.3, 0, 0), mass=1)
    b.add_body("rocker", od.Revolute("y"), origin=(0.5, 0, 0), mass=1)
    b.add_frame("end", "rocker", (0.3, 0, 0))
    b.add_frame("pin", "coupler", (0.5, 0, 0))
    loop = od.Loop("end", "pin", axes=[(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)])
    follow = ocp.DependentJoints(loop, ["coupler_joint", "rocker_joint"], ["crank_joint"], lambda q: ca.vertcat(-q, q))
    stated = [ocp.Phase("turn", 3, 1.0)]
    for angle in (0.0, 1e-11):
        with pytest.raises(
            ValueError, match=f"determine coupler_joint, rocker_joint at crank_joint = {angle:g}, a dead cen"
        ):
            ocp.Problem(b.build(), stated, dependent=[follow], posture=[angle, 0, 0])
    fine = ocp.Problem(b.build(), stated, dependent=[follow], posture=[-0.1, 0, 0])
    assert (fine.coordinates.q, fine.coordinates.qd) == ([0], [0])


def test_joints_that_follow_from_a_quaternion() -> None:
    """dq/dt of the independent joint is not its velocity."""
    b = od.ModelBuilder("head")
    b.add_body("neck", od.Spherical(), mass=1, inertia=(0.1, 0.2, 0.3))
    b.add_body("jaw", od.Revolute("y"), "neck", mass=1, inertia=(0.1, 0.1, 0.1))
    model = b.build()
    nod = od.CustomConstraint(lambda q: q[4] - q[0] * q[2] - q[1] ** 2, name="nod")
    chosen = Coordinates(
        model, (ocp.DependentJoints(nod, ["jaw_joint"], ["neck_joint"], lambda q: q[0] * q[2] + q[1] ** 2),)
    )
    rng = np.random.default_rng(4)
    q, qd = model.random_q(rng), rng.normal(size=4)
    full, rate = chosen.complete(DM(q), DM(qd))
    h = 1e-5
    later, earlier = (chosen.complete(model.integrate(full, sign * h * rate))[0] for sign in (1, -1))
    assert float(later[4] - earlier[4]) / (2 * h) == pytest.approx(float(rate[3]), rel=1e-8)
    assert np.abs(np.array(DM(nod.position(model, full)).full())).max() < 1e-15


def test_mirror_images_of_dependent_joints_must_be_dependent() -> None:
    b = od.ModelBuilder("pair")
    b.add_body("trunk", od.FloatingBase("euler_zyx"), mass=8, inertia=(1, 1, 1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        link = {"mass": 1, "com": (0, 0, -0.3), "inertia": (0.1, 0.1, 0.1)}
        b.add_body(f"hip_{side}", od.Revolute("y"), "trunk", origin=(0, y, 0), **link)
        b.add_body(f"knee_{side}", od.Revolute("y"), f"hip_{side}", origin=(0, 0, -0.4), **link)
    model = b.build()
    gears = [od.JointCoupling(f"knee_{side}_joint", f"hip_{side}_joint", ratio=-2.0) for side in "lr"]
    follow = [ocp.DependentJoints(gear, [gear.joint], [gear.other], lambda q: -2 * q) for gear in gears]
    stated = ocp.Problem(model, [ocp.Phase("fly", 2, 0.3)], periodic=ocp.Periodic(), dependent=follow)
    _, assembled = prepare(stated, 1)
    assert sum(name.endswith("periodic position") for name in assembled.row_names) == 8
    with pytest.raises(ValueError, match="mirror image of the dependent coordinate 'knee_l_joint' is independent"):
        prepare(replace(stated, dependent=follow[:1]), 1)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX, DM])
def test_coordinates_complete_and_project_in_every_type(kind: type) -> None:
    """qd is the rate of q, qdd the rate of qd, and R2' passes the power of all forces."""
    model = arm()
    chosen = Coordinates(model, (FOLLOWS,))
    rng = np.random.default_rng(3)
    q, qd, qdd, f = (rng.uniform(-0.4, 0.4, n) for n in (model.nq, model.nv, model.nv, model.nv))
    if kind is DM:
        found = [*chosen.complete(DM(q), DM(qd), DM(qdd)), chosen.project(DM(q), DM(f))]
    else:
        given = [kind.sym(name, len(value)) for name, value in zip("abcd", (q, qd, qdd, f), strict=True)]
        outputs = [*chosen.complete(*given[:3]), chosen.project(given[0], given[3])]
        found = ca.Function("found", given, outputs)(q, qd, qdd, f)
    full, rate, acceleration, felt = (np.array(x.full()).ravel() for x in found)
    h = 1e-6

    def at(t: float) -> tuple[np.ndarray, np.ndarray]:
        turn = model.q_slice("turn").start
        q_t, qd_t = q.copy(), qd.copy()
        k = model.qd_slice("turn").start
        q_t[turn] += t * qd[k] + t**2 / 2 * qdd[k]
        qd_t[k] += t * qdd[k]
        return tuple(np.array(x.full()).ravel() for x in chosen.complete(DM(q_t), DM(qd_t)))

    later, earlier = at(h), at(-h)
    closed_part = [model.q_slice(name).start for name in ("turn", "pin", "swing")]
    rates = [model.qd_slice(name).start for name in ("turn", "pin", "swing")]
    assert (later[0] - earlier[0])[closed_part] / (2 * h) == pytest.approx(rate[rates], abs=1e-8)
    assert (later[1] - earlier[1])[rates] / (2 * h) == pytest.approx(acceleration[rates], abs=1e-7)
    assert felt @ rate[chosen.qd] == pytest.approx(f @ rate, rel=1e-12)
    assert np.abs(np.array(LOOP.position(model, DM(full)).full())).max() < 1e-12
