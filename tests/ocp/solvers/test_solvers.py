"""Solvers by name, warm starts, interrupts, reports of what is at fault, and predictive control."""

import re
import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.models import pendulum
from ocp_dyn.ocp.solvers import ipopt, monitor, nlpsol, sqp
from ocp_dyn.ocp.solvers.by_name import SOLVERS
from ocp_dyn.ocp.transcription.transcribe import transcribe
from ocp_dyn.ocp.workflows import attempt as solver
from ocp_dyn.ocp.workflows.attempt import prepare
from ocp_dyn.ocp.workflows.diagnosis import row_places
from problems import rabbit
from problems.small import hopper
from tests.helpers import close

EFFORT = ocp.TorqueSquared()


def swing(form="implicit", goal=0.3, **options):
    """A double pendulum from rest to rest at an angle that is a parameter."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["from"], s.qd, e.q - e.values["to"], e.qd), 0, 0))
    parameters = (ocp.Parameter("from", np.zeros(2)), ocp.Parameter("to", np.full(2, goal)))
    phase = ocp.Phase("swing", 10, 0.6, objective=EFFORT)
    return ocp.Problem(pendulum(2), phase, boundary=ends, parameters=parameters, form=form, **options)


def slide(limit=np.inf, goal=1.0):
    """A mass pushed from rest to rest over one meter in one second: linear dynamics, a quadratic cost."""
    builder = od.ModelBuilder("slide")
    builder.add_body("block", od.Prismatic("x"), mass=1, inertia=(1, 1, 1), effort=limit)
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q - s.values["x0"], s.qd, e.q - goal, e.qd), 0, 0), name="rest")
    phase = ocp.Phase("push", 10, 1.0, objective=EFFORT)
    return ocp.Problem(builder.build(), phase, boundary=ends, parameters=ocp.Parameter("x0", 0.0))


@pytest.mark.parametrize("form", ["implicit", "explicit"])
@pytest.mark.slow
def test_solvers_agree(form):
    problem = swing(form)
    near = problem.solve(values={"to": [0.25, 0.25]}, progress=False)  # there is another minimum, farther away
    first = problem.solve(guess=near, progress=False)
    assert first.converged
    for name, options in {"sqp": {}, "sqp by qrqp": {"qp": "qrqp"}}.items():
        found = problem.solve(solver=name.split()[0], guess=near, progress=False, **options)
        assert found.converged, name
        assert found.stats["solver"] == name.split()[0]
        assert found.objective == pytest.approx(first.objective, rel=1e-5)
        close(found.q, first.q, 1e-3)


@pytest.mark.parametrize("name", SOLVERS)
def test_multipliers_have_casadis_signs(name):
    """grad f + J' lam_g + lam_x = 0 at the solution, with lam_x > 0 at upper bounds alone and < 0 at lower ones."""
    builder = od.ModelBuilder("slide")
    builder.add_body("block", od.Prismatic("x"), mass=1, inertia=(1, 1, 1), effort=5.0)  # 6 N without the limit
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0, 0), name="rest")
    problem = ocp.Problem(builder.build(), ocp.Phase("push", 10, 1.0, objective=EFFORT), boundary=rest)
    solution = problem.solve(solver=name, progress=False)
    assert solution.converged
    program = transcribe(problem).program
    functions, (x, lam_x, lam_g) = program.assemble(), (solution.iterate[key] for key in ("x", "lam_x", "lam_g"))
    gradient, jacobian = (f(x, program.values)[1].full() for f in (functions.gradient, functions.jacobian))
    close(gradient.ravel() + jacobian.T @ lam_g + lam_x, 0 * x, 1e-6)
    pushing = np.flatnonzero(np.abs(lam_x) > 1e-3)
    lower, upper = program.x_lower[pushing], program.x_upper[pushing]
    close(np.where(lam_x[pushing] > 0, upper, lower), x[pushing], 1e-6)
    assert {*np.sign(lam_x[pushing])} == {-1, 1}


def test_other_plugins_take_the_graph():
    options = {"qpsol": "qrqp", "print_header": False, "print_iteration": False, "print_status": False}
    options["qpsol_options"] = {"print_iter": False, "print_header": False, "print_info": False}
    problem = slide()
    found = problem.solve(solver="sqpmethod", progress=False, **options)
    assert found.converged
    close(found.tau, problem.solve(progress=False, tolerance=1e-10).tau, 1e-6)


OTHERS = ("alpaqa", "ampl", "blocksqp", "bonmin", "feasiblesqpmethod", "qrsqp", "scpgen", "sleqp", "sqpmethod", "uno")
"""Plugins of CasADi's package that this library does not adapt: they differentiate the program's graph."""

REFUSE = ("ampl", "blocksqp", "scpgen")


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.slow
def test_every_other_plugin_ends_with_a_solution_a_status_or_a_reason(name):
    if not ca.has_nlpsol(name):
        with pytest.raises(ValueError, match=f"there is no solver '{name}'"):
            slide().solve(solver=name, progress=False)
        return
    if name in REFUSE:
        with pytest.raises(ValueError, match=f"the solver '{name}' .*{re.escape(nlpsol.REMEDIES[name])}"):
            slide().solve(solver=name, progress=False)
        return
    found = slide().solve(solver=name, progress=False)
    assert found.status
    assert found.stats["iterations"] >= 0
    if name in ("bonmin", "sleqp", "sqpmethod", "qrsqp", "uno"):
        assert found.converged
        assert found.objective == pytest.approx(12.1212, rel=1e-3)


def test_sqp_does_not_trust_old_multipliers():
    """The multiplier of a bound that is active no longer must go, though the gradient vanishes with it."""
    builder = od.ModelBuilder("lift")
    builder.add_body("block", od.Prismatic("z"), mass=1, inertia=(1, 1, 1), effort=30.0)
    low = ocp.Path(lambda s: s.tau - s.values["least"], 0.0, np.inf, where="interval")
    phase = ocp.Phase("hold", 3, 0.3, path=low, objective=ocp.AccelerationSquared(base=True))
    problem = ocp.Problem(builder.build(), phase, parameters=ocp.Parameter("least", 12.0))
    forced = problem.solve(solver="sqp", progress=False)
    assert forced.converged
    close(forced.tau, np.full((3, 1), 12.0), 1e-5)
    free = problem.solve(solver="sqp", start=forced, values={"least": 2.0}, progress=False)
    assert free.converged
    assert free.objective < 1e-9


def test_sqp_goes_on_from_an_optimum_in_a_few_steps():
    """From IPOPT's solution none: where a bound is hardly active, multiplier and distance are as small as the root of
    their product, which is what both solvers make small."""
    problem = hopper.problem(5)
    found = problem.solve(progress=False)
    again = problem.solve(solver="sqp", start=found, max_iterations=20, progress=False)
    assert again.converged
    assert again.stats["iterations"] <= 2
    assert again.objective == pytest.approx(found.objective, rel=1e-6)
    near = problem.solve(solver="sqp", start=found, values={"speed": 1.05}, max_iterations=20, progress=False)
    assert near.converged
    assert near.stats["iterations"] <= 6
    assert near.objective == pytest.approx(
        problem.solve(start=found, values={"speed": 1.05}, progress=False).objective, rel=1e-6
    )


@pytest.mark.slow
def test_second_order_corrections_keep_steps_whole(monkeypatch):
    """The rows of a walker are curved: after a whole step they are violated more than before."""
    problem = rabbit.problem(intervals=15)
    found = problem.solve(progress=False)
    near = {"solver": "sqp", "start": found, "values": {"walking_speed": 0.84}, "progress": False}
    corrected = problem.solve(**near)
    monkeypatch.setattr(sqp, "CORRECTIONS", 0)
    shortened = problem.solve(**near)
    assert corrected.converged
    assert shortened.objective == pytest.approx(corrected.objective, rel=1e-6)
    assert corrected.stats["iterations"] <= 5 < shortened.stats["iterations"]


def test_a_quadratic_program_takes_one_step():
    found = slide().solve(solver="sqp", progress=False)
    assert found.converged
    assert found.stats["iterations"] == 1
    exact = slide().solve(progress=False, tolerance=1e-10)
    close(found.tau, exact.tau, 1e-6)
    gauss_newton = slide().solve(solver="sqp", hessian="gauss-newton", progress=False)
    assert gauss_newton.stats["iterations"] == 1  # its constraints have no curvature to leave out
    with pytest.raises(ValueError, match="hessian is 'exact' or 'gauss-newton', got 'bfgs'"):
        slide().solve(solver="sqp", hessian="bfgs", progress=False)
    with pytest.raises(ValueError, match="no QP solver 'none'"):
        slide().solve(solver="sqp", qp="none", progress=False)


def test_gauss_newton_takes_free_times():
    """The least effort in a time that costs as much: of the whole Hessian's 1/T^3 only what is convex is kept."""
    ends = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1.0, e.qd), 0, 0))
    phase = ocp.Phase("push", 10, (0.5, 4.0), objective=(EFFORT, ocp.Duration(weight=30.0)))
    problem = ocp.Problem(slide().model, phase, boundary=ends)
    one = problem.solve(progress=False, tolerance=1e-9)
    other = problem.solve(solver="sqp", hessian="gauss-newton", progress=False)
    assert one.converged
    assert other.converged
    assert other.duration == pytest.approx(one.duration, rel=1e-4)


def test_a_solver_that_is_not_there_is_an_error():
    with pytest.raises(ValueError, match="no solver 'simplex' in this installation"):
        swing().solve(solver="simplex", progress=False)
    with pytest.raises(ValueError, match="the solver 'ipopt' refuses"):
        swing().solve(progress=False, tolerence=1.0)


def test_a_solver_that_is_no_longer_adapted_says_what_to_use():
    with pytest.raises(ValueError, match=r"'fatrop' cannot be used here: .*use solver='ipopt'.*qp='riccati'"):
        swing().solve(solver="fatrop", progress=False)
    if ca.has_nlpsol("uno"):
        with pytest.raises(ValueError, match=r"Unknown option: preset.*a dict of their own: uno=\{'preset': 'ipopt'\}"):
            slide().solve(solver="uno", preset="ipopt", progress=False)
        silent = {"preset": "ipopt", "logger": "SILENT"}
        assert slide().solve(solver="uno", uno=silent, progress=False).converged


def test_chains_are_needed_where_they_are():
    phase = ocp.Phase("swing", 4, (0.5, 0.7), objective=EFFORT)
    options = {"solver": "sqp", "qp": "hpipm", "progress": False}
    with pytest.raises(ValueError, match="share the free variables duration of swing: fix them"):
        ocp.Problem(pendulum(1), phase).solve(**options)
    periodic = ocp.Periodic(mirror=False, transition=ocp.Continuous(), step_length=0)
    fixed = ocp.Phase("swing", 4, 0.5, objective=EFFORT)
    with pytest.raises(ValueError, match="the motion is periodic"):
        ocp.Problem(pendulum(1), fixed, periodic=periodic).solve(**options)
    closed = ocp.Boundary(lambda s, e: (s.q - e.q, 0, 0), name="closed")
    with pytest.raises(ValueError, match="ends: closed ties stage 0 to stage 4"):
        ocp.Problem(pendulum(1), fixed, boundary=closed).solve(**options)


def test_a_second_solve_builds_nothing(monkeypatch):
    problem = swing()
    first = problem.solve(progress=False)
    monkeypatch.setattr(solver, "transcribe", lambda *a: pytest.fail("built again"))
    other = problem.solve(values={"to": [0.1, 0.2]}, progress=False)
    close(other.q[-1], [0.1, 0.2], 1e-6)
    again = problem.solve(progress=False)
    assert again.objective == pytest.approx(first.objective, rel=1e-9)  # values given once do not stay
    monkeypatch.undo()
    problem = replace(problem, form="explicit", integrator="", contact_level="")
    assert problem.solve(progress=False).objective != first.objective


def test_a_start_has_multipliers(tmp_path):
    problem = swing()
    first = problem.solve(progress=False)
    loaded = ocp.Solution.load(first.save(tmp_path / "swing.npz"))
    for name in ("ipopt", "sqp"):
        assert problem.solve(solver=name, start=loaded, progress=False).stats["iterations"] <= 3
    near = problem.solve(start=first, values={"to": [0.31, 0.3]}, progress=False)
    cold = problem.solve(values={"to": [0.31, 0.3]}, progress=False)
    assert near.stats["iterations"] < cold.stats["iterations"]
    assert near.objective == pytest.approx(cold.objective, rel=1e-6)
    with pytest.raises(
        ValueError, match="start must be a solution of this problem, with 85 variables and 68 constraints, got 43"
    ):
        problem.solve(start=slide().solve(progress=False), progress=False)
    with pytest.raises(ValueError, match="not both"):
        problem.solve(start=first, guess=first, progress=False)


@pytest.mark.parametrize("name", ["ipopt", "sqp"])
def test_an_interrupt_keeps_the_best_iterate(monkeypatch, capsys, name):
    see = monitor.Monitor.see

    def interrupted(self, *arguments):
        see(self, *arguments)
        if self.iteration == 3:
            signal.raise_signal(signal.SIGINT)
        return self.stop

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(monitor.Monitor, "see", interrupted)
    found = swing(goal=1.2).solve(solver=name, progress=False, interrupt="return")
    assert not found.converged
    assert found.status == "Interrupted"
    assert found.stats["faults"]
    assert signal.getsignal(signal.SIGINT) is before
    assert "the best iterate is kept" in capsys.readouterr().err


@pytest.mark.slow
def test_ipopt_goes_on_once_its_linear_algebra_has_given_up(monkeypatch, capsys):
    """From the best iterate, without multipliers, a few times at most, and says so; never after another end."""
    ended, once = [], ipopt._run_once

    def give_up(program, start, settings, monitor):
        ended.append((start, settings))
        found = once(program, start, replace(settings, max_iterations=2 if fails(len(ended)) else 50), monitor)
        return replace(found, status="Restoration_Failed", converged=False) if fails(len(ended)) else found

    problem = swing()
    before = problem.solve(progress=False)
    monkeypatch.setattr(ipopt, "_run_once", give_up)
    fails = lambda attempt: attempt < 2
    found = problem.solve(start=before, values={"to": [0.4, 0.3]})
    assert found.converged
    assert found.stats["retries"] == 1
    assert found.stats["iterations"] > 2
    assert "Restoration_Failed after 2 iterations: goes on from the best iterate" in capsys.readouterr().err
    (first, settings), (start, again) = ended
    assert first.warm
    assert not start.warm
    assert start.lam_x is None
    assert np.any(start.x)
    assert again.max_iterations == settings.max_iterations - 2
    fails = lambda attempt: True
    ended.clear()
    found = swing().solve(progress=False)
    assert found.status == "Restoration_Failed"
    assert found.stats["retries"] == len(ipopt.RETRY_OPTIONS) == len(ended) - 1
    monkeypatch.undo()
    assert swing().solve(progress=False, max_iterations=2).stats["retries"] == 0


def test_what_cannot_hold_is_named(capsys):
    """Over one meter in one second takes more than the 4 N of bang-bang control: 2 N are too few."""
    found = slide(limit=2.0).solve(max_iterations=100)
    assert not found.converged
    assert found.stats["faults"]
    assert found.stats["infeasibility"] > 1e-3
    assert any("push" in fault or "rest" in fault for fault in found.stats["faults"])
    assert found.stats["faults"][0] in capsys.readouterr().err


def test_faults_say_where_and_when():
    """Report on a program at a made-up point: rows ranked by their violation, with the time of the worst."""
    problem = slide()
    t, program = solver.prepare(problem)
    x = t.program.start.copy()
    x[t.phases[0]["qd"][4].index] += 0.5
    found = solver.faults(t, program, x)
    assert [fault.rows for fault in found][:1] == ["ends: rest"]  # one meter short
    step = next(fault for fault in found if fault.rows == "push: velocity step")
    assert (step.phase, step.count) == ("push", 2)
    assert step.time == pytest.approx(0.3)
    assert step.violation == pytest.approx(0.5)
    assert str(step) == "push: velocity step: out of its bounds by 0.5 at t = 0.300 s of push, 2 rows in all"


def test_check_finds_nothing_wrong_with_a_sound_problem():
    assert swing().check() == []


def test_check_finds_what_is_wrong():
    low = od.ModelBuilder("low")
    low.add_body("block", od.Prismatic("x"), mass=1, inertia=(1, 1, 1), lower=-1.0, upper=1.0)
    phase = ocp.Phase("push", 3, 1.0)
    beyond = ocp.Problem(low.build(), phase, guess=lambda s: ([2.0], [0.0]))
    (line,) = ocp.check(beyond)
    told = "the first guess of the position of block_joint at t = 0.000 s of push is 2, out of its bounds -1 to 1"
    assert line.startswith(f"{told} (and at 3 other times of push): the solver moves it")
    assert ocp.check(replace(beyond, guess=lambda s: ([1.03], [0.0]))) == []  # less than 2 % of the range
    never = ocp.Boundary(lambda s, e: (s.values["w"] - 1.0, 0, 0), name="never")
    hopeless = ocp.Problem(pendulum(1), phase, boundary=never, parameters=ocp.Parameter("w", 0.0))
    assert any("ends: never is out of its bounds by 1" in line for line in hopeless.check())
    assert not any("out of its bounds" in line for line in hopeless.check(values={"w": 1.0}))
    twice = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, s.q + s.qd), 0, 0), name="twice")
    (line, *_) = ocp.Problem(pendulum(1), phase, boundary=twice).check()
    assert "have rank" in line
    assert "contradict or repeat others, among ends: twice; leave out" in line


def test_check_names_joints_and_phases():
    """Rows that there are for every dof have its name; the place of a foothold its axis."""
    builder = od.ModelBuilder("two")
    builder.add_body("hip", od.Revolute("y"), mass=1, com=(0, 0, -0.5), inertia=(1, 1, 1))
    builder.add_body("knee", od.Revolute("y"), "hip", origin=(0, 0, -1), mass=1, com=(0, 0, -0.5), inertia=(1, 1, 1))
    held = ocp.Boundary(lambda s, e: (ca.vertcat(s.q, s.qd, e.q - 1, e.qd), 0, 0), name="held")
    phase = ocp.Phase("swing", 1, 0.5)
    t, program = prepare(ocp.Problem(builder.build(), phase, boundary=held))
    names = {name for name, _ in row_places(t, program, t.program.start, by_joint=True).values()}
    for row in ("dynamics", "velocity step", "position step"):
        assert {f"swing: {row} of hip_joint", f"swing: {row} of knee_joint"} <= names
    assert "ends: held" in names


def test_check_finds_what_is_not_finite():
    """A root of a negative number, the slope of a norm at zero; and a guess where there is nothing to find."""
    root = ocp.Path(lambda instant: ca.sqrt(instant.q[0] - 1.0), 0.0, 1.0, where="interval")
    norm = ocp.Integral(lambda instant: ca.sqrt(instant.q[0] ** 2 + instant.qd[0] ** 2))
    phase = ocp.Phase("swing", 3, 1.0, path=root, objective=norm)
    lines = ocp.Problem(pendulum(1), phase).check()
    told = [line.partition(": its value")[0] for line in lines if "not a finite number" in line]
    assert told == ["swing: Path at 3 times", "the cost"]
    assert ocp.Problem(pendulum(1), phase, guess=lambda s: ([2.0], [1.0])).check() == []


@pytest.mark.slow
def test_check_finds_a_walker_on_a_root_that_does_not_move():
    builder = od.ModelBuilder("bolted")
    builder.add_body("pelvis", od.Fixed(), mass=1)
    builder.add_body("leg", od.Revolute("y"), "pelvis", mass=1, inertia=(1, 1, 1), com=(0, 0, -1))
    builder.add_frame("sole", "leg", (0, 0, -1))
    stand = ocp.Phase("stand", 2, 0.1, ocp.Foothold(od.Contact("sole", axes="xz")))
    line = ocp.Problem(builder.build(), stand).check()[0]
    assert line.startswith("the model is fixed to the ground at pelvis, which carries it in place of its feet")
    assert "root=od.FloatingBase()" in line
    builder = od.ModelBuilder("free")  # a frame of the ground alone bolts nothing
    builder.add_body("base", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    builder.add_frame("wall", "world", (1, 0, 0))
    stand = ocp.Phase("stand", 2, 0.1, ocp.Foothold(od.Contact("base", axes="xyz")))
    assert not any("fixed to the ground" in line for line in ocp.Problem(builder.build(), stand).check())


@pytest.mark.slow
def test_check_finds_a_walker_carried_by_motors():
    builder = od.ModelBuilder("crane")
    builder.add_body("rail", od.Prismatic("x"), joint_name="root_x")
    builder.add_body("ball", od.Prismatic("z"), "rail", mass=1, inertia=(1, 1, 1), joint_name="root_z")
    stand = ocp.Phase("stand", 2, 0.1, ocp.Foothold(od.Contact("ball", axes="xz")))
    carried = "the root joint 'root_x' has a motor"
    assert ocp.Problem(builder.build(), stand).check()[0].startswith(carried)
    idle = ocp.Problem(builder.build(), stand, unactuated=("root_x", "root_z"))
    assert not any(line.startswith(carried) for line in idle.check())


def test_a_quadratic_solver_says_which_option_it_does_not_know():
    with pytest.raises(ValueError, match="'qrqp' refuses: Unknown option: tolerence"):
        slide().solve(solver="sqp", qp="qrqp", progress=False, tolerence=1.0)


def test_check_finds_contacts_that_repeat_each_other():
    builder = od.ModelBuilder("plate")
    builder.add_body("plate", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    for k, x in enumerate((-0.1, 0.1)):
        builder.add_frame(f"corner{k}", "plate", (x, 0, 0))
    feet = [ocp.Foothold(od.Contact(f"corner{k}", axes="xyz"), x=x, y=0.0) for k, x in enumerate((-0.1, 0.1))]
    found = ocp.Problem(builder.build(), ocp.Phase("lie", 2, 0.1, feet), unactuated=()).check()
    words = "contacts of phase 'lie' (corner0, corner1) have 6 rows of rank 5 at the first guess: some rows repeat"
    assert any(words in line for line in found)


@pytest.mark.slow
def test_check_names_contact_rows_along_which_nothing_moves():
    builder = od.ModelBuilder("slider")
    builder.add_body("cart", od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)]), mass=1)
    for axes, silent in (("xyz", False), ("xz", True)):
        stand = ocp.Phase("stand", 2, 0.1, [ocp.Foothold(od.Contact("cart", axes=axes))])
        found = ocp.Problem(builder.build(), stand, unactuated=()).check()
        assert silent != any(
            "3 rows of rank 2" in x and "nothing in this model moves along cart.ty;" in x for x in found
        )


def test_a_real_time_iteration_solves_what_is_quadratic():
    """With linear dynamics and a quadratic cost one iteration is the whole solution."""
    problem = slide()
    control = problem.rti(problem.solve(progress=False))
    for x0 in (0.2, -0.1):
        control.prepare()
        tau = control.feedback(x0=x0)
        exact = problem.solve(values={"x0": x0}, progress=False, tolerance=1e-10)
        assert control.solved
        close(tau, exact.tau[0], 1e-5)
        close(control.solution().q, exact.q, 1e-5)
        assert control.infeasibility < 1e-7
        assert min(control.seconds) > 0


def test_a_real_time_iteration_keeps_its_own_values():
    problem = slide()
    control = problem.rti(problem.solve(progress=False))
    control.feedback(x0=0.2)
    problem.solve(values={"x0": -3.0}, progress=False)
    close(control.feedback(), problem.solve(values={"x0": 0.2}, progress=False, tolerance=1e-10).tau[0], 1e-5)


def test_threads_take_turns():
    problem = slide()
    goals = [0.1 * k for k in range(4)]
    alone = [problem.solve(values={"x0": x0}, progress=False).objective for x0 in goals]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda x0: problem.solve(values={"x0": x0}, progress=False).objective, goals)
        close(list(together), alone, 1e-9)


def test_a_real_time_iteration_follows_the_motion():
    """In closed loop without disturbance, one interval at a time, the plan stays that of the start."""
    problem = slide()
    plan = problem.solve(progress=False, tolerance=1e-10)
    control = problem.rti(plan)
    control.feedback(x0=0.0)
    close(control.solution().q, plan.q, 1e-6)
    control.shift()
    close(control.torques(), plan.tau[1], 1e-6)


def test_a_real_time_iteration_comes_to_a_nonlinear_solution():
    problem = swing()
    control = problem.rti(problem.solve(progress=False), hessian="exact")
    for _ in range(6):
        control.feedback(to=[0.35, 0.3])
    exact = problem.solve(values={"to": [0.35, 0.3]}, progress=False)
    close(control.solution().q, exact.q, 1e-4)
