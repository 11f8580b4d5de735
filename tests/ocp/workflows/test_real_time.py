"""Real-time iterations by the Riccati recursion: the recursion, the barrier, and predictive control with them."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.native.libraries import RICCATI
from ocp_dyn.ocp.solvers import riccati
from ocp_dyn.ocp.solvers.barrier import Barrier
from ocp_dyn.ocp.solvers.riccati import NumpyRecursion, split_rows
from ocp_dyn.ocp.solvers.stage_matrices import Size, StageMatrices, entries
from tests.helpers import close

EFFORT = ocp.TorqueSquared()
needs_library = pytest.mark.skipif(RICCATI.obtain(wait=True)[0] is None, reason="no native library")
FORMS = [pytest.param("in C", marks=needs_library), "in numpy"]

CHAINS = {
    "plain": [Size(3, 5)] * 4 + [Size(0, 5)],
    "rows": [Size(6, 4, 2), Size(5, 4, 3), Size(9, 6, 9), Size(2, 6, 1), Size(0, 3, 2)],
    "prices": [Size(4, 3, 1, 2), Size(2, 9, 0, 12), Size(0, 9, 0, 3)],
    "whole vectors and one more": [Size(8, 8, 2, 8), Size(9, 8, 8, 1), Size(7, 1), Size(17, 16, 0, 17), Size(0, 16)],
    "one stage": [Size(1, 1, 1, 1)],
    "nothing but controls": [Size(3, 0, 1, 0)],
}


def filled(sizes, rng):
    """Random stages with a convex cost and a first state that is given; h, b, r."""
    sizes = [sizes[0]._replace(ne=sizes[0].ne + sizes[0].nx), *sizes[1:]]
    stages = StageMatrices(sizes)
    for H, F, E, S in zip(stages.H, stages.F, stages.E, stages.S, strict=True):
        root = rng.normal(size=H.shape)
        H[:], F[:], E[:], S[:] = root @ root.T + np.eye(len(H)), *(rng.normal(size=M.shape) for M in (F, E, S))
    nu, nx = sizes[0][:2]
    stages.E[0][:nx] = np.eye(nu + nx)[nu:]
    h, b, r = (rng.normal(size=stages.total[name]) for name in "zbr")
    h[:nx], b[:nx] = 0.0, 0.0  # of the stage that is the first state alone
    return stages, h, b, r


def by_dense_algebra(stages, h, b, r):
    """The same by one system of equations: the first state, then all z."""
    n, m = h.size, b.size + r.size
    H, A, sides = np.zeros((n, n)), np.zeros((m, n)), np.zeros(m)
    z, of_b, of_r = (stages.begin(name) for name in "zbr")
    nu = [size.nu for size in stages.sizes[1:]]
    row = 0
    first = np.arange(stages.sizes[0].nu)
    A[first, first], A[first, z[0] + nu[0] + first] = -1.0, 1.0
    row = first.size
    for k, (H_k, F, E) in enumerate(zip(stages.H, stages.F, stages.E, strict=True)):
        here = slice(z[k], z[k] + len(H_k))
        H[here, here] = H_k
        A[row : row + len(E), here], sides[row : row + len(E)] = E, r[of_r[k] : of_r[k] + len(E)]
        row += len(E)
        if len(F):
            gap = np.arange(row, row + len(F))
            A[gap, here], A[gap, z[k + 1] + nu[k + 1] + np.arange(len(F))] = -F, 1.0
            sides[gap] = b[of_b[k] : of_b[k] + len(F)]
            row += len(F)
    KKT = np.block([[H, A.T], [A, np.zeros((m, m))]])
    return np.linalg.solve(KKT, np.concatenate([-h, sides]))[:n]


@pytest.fixture(params=FORMS)
def how(request, monkeypatch):
    """The form of the recursion: in C, or in numpy as without the native library."""
    if request.param == "in numpy":
        monkeypatch.setattr(RICCATI, "obtain", lambda: (None, "it is missing"))
    return request.param


@pytest.fixture
def solver(how):
    """The recursion in this form."""
    return riccati.recursion


@pytest.mark.parametrize("name", CHAINS)
def test_the_recursion_solves_the_quadratic_program(name, solver, rng):
    stages, h, b, r = filled(CHAINS[name], rng)
    recursion = solver(stages)
    recursion.add_prices(rng.uniform(0.1, 1.0, stages.total["s"]))
    assert recursion.factor() == -1
    for _ in range(2):  # other vectors for the same factors
        z, unmet = recursion.solve(h, b, r)
        close(z, by_dense_algebra(stages, h, b, r), 1e-9)  # the dense system is the worse conditioned of the two
        assert unmet < 1e-12
        h[stages.begin("z")[0] :] *= 2.0


@pytest.mark.parametrize(("apart", "error"), [(1e-3, 1e-7), (1e-6, 1e-4)])
def test_rows_that_controls_can_hardly_meet(solver, rng, apart, error):
    """Position and rest at one node, by semi-implicit Euler steps and controls that act almost alike on both.

    What their difference can do is met by controls while that is not lost in rounding, else left to the state.
    """
    h, I = 0.03, np.eye(2)
    stages = StageMatrices([Size(4, 4, 4), *[Size(4, 4)] * 9, Size(4, 4, 4), *[Size(4, 4)] * 5, Size(0, 4)])
    for H, F in zip(stages.H, stages.F, strict=True):
        H[:] = np.diag([1e-3] * (len(H) - 4) + [1.0, 1.0, 10.0, 10.0])
        if len(F):
            F[:] = np.block([[h**2 * I, h**2 * I, I, h * I], [h * I, h * (1 + apart) * I, 0 * I, I]])
    stages.E[0][:] = stages.E[10][:] = np.eye(8)[4:]
    vectors = [np.zeros(stages.total[name]) for name in "zbr"]
    vectors[2][:] = rng.normal(size=vectors[2].size)
    recursion = solver(stages)
    assert recursion.factor() == -1
    z, unmet = recursion.solve(*vectors)
    exact = by_dense_algebra(stages, *vectors)
    assert np.max(np.abs(z - exact)) < error * np.max(np.abs(exact))
    assert unmet < 1e-12


def test_prices_are_squares(solver, rng):
    stages, *_ = filled(CHAINS["prices"], rng)
    before = [H.copy() for H in stages.H]
    price = rng.uniform(0.1, 1.0, stages.total["s"])
    solver(stages).add_prices(price)
    for H, H_before, S, first in zip(stages.H, before, stages.S, stages.begin("s"), strict=True):
        close(H, H_before + S.T @ np.diag(price[first : first + len(S)]) @ S)


def test_entries_of_one_place_are_summed(solver):
    stages = StageMatrices([Size(1, 1), Size(0, 1)])
    where = stages.place("F", np.zeros(3, dtype=int), np.zeros(3, dtype=int), np.array([0, 1, 0]))
    recursion = solver(stages)
    for _ in range(2):  # what was there before is gone
        recursion.write(entries(where, np.array([2, 0, 1])), np.array([10.0, 20.0, 30.0]), -1.0)
        close(stages.F[0], [[-50.0, -10.0]])


def test_of_rows_that_contradict_the_first_count(solver, rng):
    """The first state is given, and then given again, otherwise."""
    stages, h, b, r = filled([Size(2, 3, 3), Size(2, 3, 0), Size(0, 3, 0)], rng)
    nx = 3
    stages.E[0][nx:] = stages.E[0][:nx]
    recursion = solver(stages)
    assert recursion.factor() == -1
    begin = int(stages.begin("r")[0])
    r[begin + nx : begin + 2 * nx] = r[begin : begin + nx]
    z, unmet = recursion.solve(h, b, r)
    assert unmet < 1e-13
    r[begin + nx + 1] += 0.25
    other, unmet = recursion.solve(h, b, r)
    assert unmet == pytest.approx(0.25, rel=1e-12)
    close(other, z)


def test_a_cost_that_is_not_convex_is_told(solver, rng):
    stages, *_ = filled([Size(2, 3), Size(2, 3), Size(2, 3), Size(0, 3)], rng)
    stages.H[1][:] = -1e6 * np.eye(5)
    assert solver(stages).factor() == 1


def test_rows_are_split(rng):
    rows = rng.normal(size=(5, 7))
    rows[3] = rows[0] - 2 * rows[1]  # repeats what was said
    rows[4, :3] = 0.5 * rows[1, :3]  # of the controls nothing new
    found = split_rows(rows, 3)
    assert (found.rank, found.left) == (3, 1)
    close(found.transform @ rows, found.reduced)
    close(found.reduced[:3, found.order], np.eye(3))
    close(found.reduced[3:, :3], np.zeros((2, 3)), 1e-12)
    close(found.reduced[4], np.zeros(7), 1e-12)


def test_without_the_library_the_recursion_is_in_numpy(monkeypatch):
    stages = StageMatrices([Size(1, 1), Size(0, 1)])
    monkeypatch.setattr(RICCATI, "obtain", lambda: (None, "it is missing"))
    assert isinstance(riccati.recursion(stages), NumpyRecursion)


def test_the_barrier_is_twice_differentiable():
    barrier, step = Barrier(0.3, 0.05), 1e-6
    lower, upper = np.zeros(5), np.array([np.inf, np.inf, np.inf, 1.0, np.inf])
    value = np.array([0.4, 0.02, -0.3, 0.99, 0.05])
    close(barrier.slope(value[:1], lower[:1], upper[:1]), [-0.3 / 0.4])
    close(barrier.slope(value[3:4], lower[3:4], upper[3:4]), [0.3 * (-1 / 0.99 - (0.01 - 0.1) / 0.05**2)])
    ahead, behind = (barrier.slope(value + d, lower, upper) for d in (step, -step))
    # differences of second order, with a kink of the third derivative at the last value
    close(barrier.curvature(value, lower, upper), (ahead - behind) / (2 * step), 1e-4)
    free = np.full(5, np.inf)
    close(barrier.slope(value, -free, free), np.zeros(5))
    close(barrier.curvature(value, -free, free), np.zeros(5))


def swing(form="implicit", **options):
    """A double pendulum from where it is to rest at an angle, both parameters."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["from"], s.qd, e.q - s.values["to"], e.qd), 0, 0))
    parameters = (ocp.Parameter("from", np.zeros(2)), ocp.Parameter("to", np.full(2, 0.3)))
    phase = ocp.Phase("swing", 10, 0.6, objective=EFFORT)
    return ocp.Problem(pendulum(2), phase, boundary=ends, parameters=parameters, form=form, **options)


def slide(limit=np.inf, **bounds):
    """A mass pushed from rest to rest over one meter in one second."""
    builder = od.ModelBuilder("slide")
    builder.add_body("block", od.Prismatic("x"), mass=1, inertia=(1, 1, 1), effort=limit, **bounds)
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["x0"], s.qd, e.q - 1.0, e.qd), 0, 0), name="rest")
    phase = ocp.Phase("push", 10, 1.0, objective=EFFORT)
    return ocp.Problem(builder.build(), phase, boundary=ends, parameters=ocp.Parameter("x0", 0.0))


@pytest.mark.usefixtures("how")
@pytest.mark.slow
def test_an_iteration_solves_what_is_quadratic():
    problem = slide()
    control = problem.rti(problem.solve(progress=False), qp="riccati")
    for x0 in (0.2, -0.1):
        tau = control.feedback(x0=x0)
        exact = problem.solve(values={"x0": x0}, progress=False, tolerance=1e-10)
        assert control.solved
        close(tau, exact.tau[0], 1e-9)
        close(control.solution().q, exact.q, 1e-9)
        assert control.infeasibility < 1e-13
        assert control.unmet < 1e-13


@pytest.mark.parametrize(
    ("form", "integrator"),
    [("implicit", "midpoint"), ("implicit", "euler"), ("explicit", "rk4"), ("explicit", "gauss:2")],
)
@pytest.mark.slow
def test_iterations_come_to_the_solution(form, integrator):
    """At one measured state, by full steps with Gauss and Newton's Hessian."""
    problem = swing(form, integrator=integrator)
    start = problem.solve(progress=False)
    control = problem.rti(start, qp="riccati")
    for _ in range(25):
        control.feedback(to=[0.35, 0.3])
    exact = problem.solve(start=start, values={"to": [0.35, 0.3]}, progress=False, tolerance=1e-10)
    close(control.solution().q, exact.q, 1e-7)
    assert control.infeasibility < 1e-10


def test_the_barrier_comes_to_the_bounded_solution():
    """Torques at their limit for part of the way: the barrier keeps off it, the less the smaller its weight."""
    problem = slide(limit=5.0)
    exact = problem.solve(progress=False, tolerance=1e-10)
    assert np.sum(np.abs(np.abs(exact.tau) - 5.0) < 1e-4) >= 2
    gaps = []
    for weight in (1e-2, 1e-4, 1e-6):
        control = problem.rti(exact, qp="riccati", barrier=weight, relaxation=1e-7)
        for _ in range(40):
            control.feedback(x0=0.0)
        found = control.solution()
        assert np.all(np.abs(found.tau) < 5.0 + 1e-9)
        gaps.append(float(np.max(np.abs(found.tau - exact.tau))))
    assert gaps[0] > 3 * gaps[1] > 9 * gaps[2]
    assert gaps[2] < 1e-2


def test_bounds_without_a_weight_of_their_own():
    problem = slide(limit=5.0)
    exact = problem.solve(progress=False, tolerance=1e-10)
    control = problem.rti(exact, qp="riccati")
    for _ in range(20):
        control.feedback(x0=0.0)
    close(control.solution().tau, exact.tau, 0.05)  # the default barrier's distance from the limit
    x = control.x.copy()
    control.feedback()
    close(control.x, x, 1e-8)


@pytest.mark.parametrize(
    ("bounds", "path"), [({"lower": -2.0, "upper": 2.0}, ()), ({}, ocp.Path(lambda s: s.qd, upper=1.5))]
)
def test_what_the_barrier_adds_is_not_summed_up(bounds, path):
    """A second preparation changes nothing: of limits of position and speed, of which no cost has an entry."""
    problem = slide(**bounds)
    problem = replace(problem, phases=ocp.Phase("push", 10, 1.0, path=path, objective=EFFORT))
    start = problem.solve(progress=False)
    once, twice = (problem.rti(start, qp="riccati") for _ in range(2))
    for control, times in ((once, 1), (twice, 3)):
        for _ in range(times):
            control.prepare()
        control.feedback(x0=0.1)
    close(twice.x, once.x)


@pytest.mark.parametrize(("before", "measured"), [(1.0, -1.0), (0.0, 0.0)])
def test_what_is_not_finite_keeps_the_plan(before, measured):
    """A row without a value, or without a slope, about a state that other rows give already."""
    problem = slide()
    again = ocp.Boundary(lambda s, e: (ca.sqrt(s.q + s.values["shift"]) - 1, 0, 0), name="again")
    parameters = (*problem.parameters, ocp.Parameter("shift", 1.0))
    problem = replace(problem, boundary=(*problem.boundary, again), parameters=parameters)
    start = problem.solve(progress=False, max_iterations=5)
    control = problem.rti(start, qp="riccati", values={"shift": before})
    control.x[np.abs(control.x) < 1e-6] = 0.0
    plan = control.x.copy()
    control.feedback(shift=measured)
    assert not control.solved
    close(control.x, plan)


def test_a_measurement_that_is_unknown_is_forgotten():
    problem = slide()
    control = problem.rti(problem.solve(progress=False), qp="riccati")
    with pytest.raises((KeyError, ValueError), match="speed"):
        control.feedback(speed=1.0)
    control.feedback(x0=0.1)
    assert control.solved
    assert control.infeasibility < 1e-12


def test_how_things_are_computed_is_told(how):
    problem = slide()
    control = problem.rti(problem.solve(progress=False), qp="riccati")
    assert "virtual machine" in control.evaluation
    assert f"; the recursion {how}" in control.evaluation


def test_the_barrier_holds_rows():
    """A limit of speed, which enters no cost."""
    problem = slide()
    (phase,) = problem.phases
    slow = ocp.Path(lambda s: s.qd, upper=1.2)
    problem = replace(problem, phases=ocp.Phase("push", 10, phase.duration, path=slow, objective=EFFORT))
    exact = problem.solve(progress=False, tolerance=1e-10)
    assert np.sum(exact.qd > 1.2 - 1e-5) >= 3
    control = problem.rti(exact, qp="riccati", barrier=1e-6, relaxation=1e-7)
    for _ in range(30):
        control.feedback(x0=0.0)
    close(control.solution().tau, exact.tau, 2e-3)  # as far as the barrier keeps off
    assert np.all(control.solution().qd < 1.2)
    free = slide().solve(progress=False)
    assert np.max(free.qd) > 1.4


def test_what_is_measured_holds_though_feet_say_otherwise():
    """The foot is measured a millimeter above the ground on which it stands."""
    builder = od.ModelBuilder("stool")
    builder.add_body("slider", od.Prismatic("x"), mass=0.1, inertia=(1, 1, 1))
    builder.add_body("foot", od.Prismatic("z"), "slider", mass=1, inertia=(1, 1, 1))
    builder.add_body("seat", od.Prismatic("z"), "foot", mass=5, inertia=(1, 1, 1))
    model = builder.build()
    foot = ocp.Foothold(od.Contact("foot", axes="xz"), x=0.0, y=0.0)
    start = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["q0"], s.qd), 0, 0))
    phase = ocp.Phase("stand", 5, 0.2, foot, objective=EFFORT)
    problem = ocp.Problem(
        model, phase, boundary=start, parameters=ocp.Parameter("q0", [0.0, 0.0, 0.5]),
        unactuated=model.joint_names[:2], contact_level="acceleration",
    )  # fmt: skip
    control = problem.rti(problem.solve(progress=False), qp="riccati")
    control.feedback(q0=[0.0, 0.001, 0.5])
    assert control.solved
    close(control.solution().q[0], [0.0, 0.001, 0.5], 1e-12)
    assert control.unmet == pytest.approx(0.001, rel=1e-6)
    assert control.infeasibility == pytest.approx(0.001, rel=1e-6)


def test_fixed_variables_stay():
    """An effort of zero is a bound from both sides: the joint falls freely."""
    builder = od.ModelBuilder("falling")
    builder.add_body("a", od.Revolute("y"), mass=1, com=(0, 0, -0.5), inertia=(1, 1, 1), effort=0.0)
    builder.add_body("b", od.Revolute("y"), "a", origin=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(1, 1, 1))
    start = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["q0"], s.qd), 0, 0))
    phase = ocp.Phase("fall", 5, 0.2, objective=EFFORT)
    parameters = ocp.Parameter("q0", [0.5, 0.2])
    problem = ocp.Problem(builder.build(), phase, boundary=start, parameters=parameters)
    control = problem.rti(problem.solve(progress=False), qp="riccati")
    control.feedback(q0=[0.4, 0.1])
    assert control.solved
    close(control.solution().tau[:, 0], np.zeros(5), 1e-14)
    close(control.solution().q[0], [0.4, 0.1], 1e-12)


@pytest.mark.slow
def test_closed_loop_brings_the_pendulum_up():
    """The plant is integrated finely; one iteration per sampling instant, from the plan for another state."""
    model, dt, up = pendulum(2), 0.05, np.array([np.pi, 0.0])
    start = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["q0"], s.qd - s.values["qd0"]), 0, 0))
    near = ocp.TrackJoints(lambda s: up, weight=100.0)
    slow = ocp.Integral(lambda s: ca.sumsqr(s.qd), weight=1.0)
    phase = ocp.Phase("hold", 20, 20 * dt, objective=(near, slow, ocp.TorqueSquared(weight=1e-3)))
    parameters = ocp.Parameter("q0", up), ocp.Parameter("qd0", np.zeros(2))
    problem = ocp.Problem(model, phase, boundary=start, parameters=parameters, limits=False)
    control = problem.rti(problem.solve(progress=False), qp="riccati")
    FD = od.function(od.forward_dynamics, model)
    q, qd = up + np.array([0.4, -0.3]), np.array([0.5, 0.5])
    for _ in range(50):
        control.prepare()
        tau = control.feedback(q0=q, qd0=qd)
        assert control.solved
        for _ in range(20):
            qd = qd + dt / 20 * np.array(FD(q, qd, tau)).ravel()
            q = q + dt / 20 * qd
        control.shift()
    close(q, up, 1e-3)
    assert np.max(np.abs(qd)) < 1e-2


def test_what_the_recursion_cannot_take_is_refused():
    problem = slide()
    start = problem.solve(progress=False)
    with pytest.raises(ValueError, match="takes hessian='gauss-newton', which is convex, got 'exact'"):
        problem.rti(start, qp="riccati", hessian="exact")
    with pytest.raises(ValueError, match="barrier and relaxation must be positive, got -1"):
        problem.rti(start, qp="riccati", barrier=-1.0)
    rates = replace(swing(), phases=ocp.Phase("swing", 4, 0.6, objective=(EFFORT, ocp.TorqueRateSquared())))
    with pytest.raises(ValueError, match="needs costs of one stage each, and one ties stage 0 to stage 1"):
        rates.rti(rates.solve(progress=False), qp="riccati")
    steps = swing(steps=2)
    with pytest.raises(ValueError, match="states of every stage to follow from the stage before"):
        steps.rti(steps.solve(progress=False), qp="riccati")
    free = ocp.Problem(pendulum(1), ocp.Phase("swing", 4, (0.5, 0.7), objective=EFFORT))
    with pytest.raises(ValueError, match="share the free variables duration of swing"):
        free.rti(free.solve(progress=False), qp="riccati")


@pytest.mark.slow
def test_what_an_iteration_is_given_is_checked():
    problem = slide()
    start = problem.solve(progress=False)
    for wrong in (None, "start.npz"):
        with pytest.raises(TypeError, match="rti begins at a Solution of the problem"):
            problem.rti(wrong)
    with pytest.raises(ValueError, match="qp='piqp' has no option barrier: they belong to qp='riccati'"):
        problem.rti(start, barrier=1.0)
    with pytest.raises(ValueError, match="qp='riccati' has no option weight: it takes barrier and relaxation"):
        problem.rti(start, qp="riccati", weight=1.0)


def test_a_failing_factorization_keeps_the_plan():
    """A cost that falls without end, in a direction that no square holds."""
    start = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["x0"], s.qd), 0, 0))
    phase = ocp.Phase("push", 4, 1.0, objective=(ocp.Integral(lambda s: -(s.tau[0] ** 2) * s.values["sign"]),))
    problem = ocp.Problem(
        slide().model, phase, boundary=start, parameters=(ocp.Parameter("x0", 0.0), ocp.Parameter("sign", -1.0))
    )
    control = problem.rti(problem.solve(progress=False), qp="riccati", values={"sign": 1.0})
    plan = control.x.copy()
    control.feedback(x0=0.1)
    assert not control.solved
    close(control.x, plan)
