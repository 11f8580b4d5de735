"""Compliant footholds in optimal control: both forms, every scheme, all that analyses and files do with a solution."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn.ocp.motion.plain_data import contact_from_dict, contact_to_dict

SPHERE = od.HuntCrossleySphere("ball", radius=0.1, stiffness=1e5, dissipation=0.5)


def ball(mass=2.0):
    """A ball that moves in the x-z plane, with a motor along each axis."""
    builder = od.ModelBuilder("ball")
    builder.add_body("ball", od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1)]), mass=mass, joint_name="root")
    return builder.build()


FOOT = ocp.CompliantFoothold("ball", [SPHERE])


def bounces(form="implicit", integrator="radau:2", intervals=24, period=0.4, **options):
    """A hop in place that repeats itself, with the least squared force of the motor."""
    start = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[0], start.q[1] - 0.2, start.qd[1]), 0, 0))
    effort = (ocp.TorqueSquared(1e-2), *options.pop("costs", ()))
    phase = ocp.Phase("hop", intervals, period, [options.pop("foot", FOOT)], options.pop("path", ()), effort)
    still = ocp.Periodic(step_length=0.0, mirror=False, transition=ocp.Continuous())
    settings = {"limits": False, "unactuated": (), "boundary": [start], "periodic": still, **options}
    return ocp.Problem(ball(), [phase], form=form, integrator=integrator, **settings)


@pytest.fixture(scope="module")
def hop():
    return bounces().solve(progress=False)


@pytest.mark.slow
def test_the_wrench_is_the_law(hop):
    """At the stages, so in the mean over an interval nearly that at its middle."""
    phase = hop.phases[0]
    force = phase.wrenches["ball"]
    assert hop.converged
    assert force.shape == (24, 6)
    assert force[:, 5].max() > 60
    middle = [(a + b) / 2 for a, b in ((phase.q[:-1], phase.q[1:]), (phase.qd[:-1], phase.qd[1:]))]
    law = np.array([FOOT.law(hop.model, *map(ca.DM, state)).full().ravel() for state in zip(*middle, strict=True)])
    assert np.abs(law - force)[:, 5].max() < 0.2 * force[:, 5].max()
    gaps = hop.record.value[[k for k, r in enumerate(hop.record.row) if "force of" in hop.record.rows[r]]]
    assert gaps.size == 24 * 2 * 6
    assert np.abs(gaps).max() < 1e-6


def test_the_ground_bears_the_weight_over_a_period(hop):
    phase = hop.phases[0]
    mean = (phase.wrenches["ball"][:, 5] + phase.tau[:, 1]) @ np.diff(phase.t) / hop.duration
    assert mean == pytest.approx(2 * 9.81, rel=1e-6)


@pytest.mark.parametrize(
    ("form", "integrator", "options"),
    [
        ("implicit", "gauss:2", {"torque": "linear"}),
        ("implicit", "midpoint", {"steps": 2}),
        ("explicit", "rk4", {"steps": 4}),
        ("explicit", "radau:2", {}),
    ],
)
@pytest.mark.slow
def test_every_form_finds_the_same_hop(hop, form, integrator, options):
    other = bounces(form, integrator, **options).solve(guess=hop, progress=False)
    assert other.converged
    assert other.objective == pytest.approx(hop.objective, rel=0.15)
    assert np.abs(other.q - hop.q).max() < 0.01
    peak = hop.phases[0].wrenches["ball"][:, 5].max()
    assert other.phases[0].wrenches["ball"][:, 5].max() == pytest.approx(peak, rel=0.3)


def test_re_integration_confirms_the_motion(hop):
    defects, drift = hop.defects(), hop.drift()
    assert defects.length < 1e-3
    assert drift == ocp.Drift(0.0, 0.0)


@pytest.mark.slow
def test_floquet_multipliers_are_those_of_differences(hop):
    """The derivative of the flow over the period, against finite differences of re-integration."""
    from ocp_dyn.ocp.analysis.defects import Flow, advance

    found = hop.floquet(step=0.0005)
    phase, model = hop.phases[0], hop.model

    def end(state):
        q, qd = state[:2], state[2:]
        flow = Flow(hop.equations, phase.contacts)
        for k, h in enumerate(np.diff(phase.t)):
            q, qd = advance(flow, q, qd, np.concatenate([phase.tau[k], phase.tau_rate[k], [h]]))
        return np.concatenate([q, qd])

    z = np.concatenate([phase.q[0], phase.qd[0]])
    step = 1e-4
    J = np.column_stack([(end(z + step * e) - end(z - step * e)) / (2 * step) for e in np.eye(4)])
    wanted = np.sort(np.abs(np.linalg.eigvals(J)))
    values = np.concatenate([found.multipliers, [found.neutral["x"]]])
    assert np.sort(np.abs(values))[-2:] == pytest.approx(wanted[-2:], rel=0.05)
    assert model.nv == 2


def test_files_keep_the_foot(hop, tmp_path):
    loaded = ocp.Solution.load(hop.save(tmp_path / "hop.npz"))
    foot = loaded.phases[0].contacts[0]
    assert isinstance(foot, ocp.CompliantFoothold)
    assert (foot.name, foot.spheres, foot.plane) == ("ball", FOOT.spheres, FOOT.plane)
    assert np.array_equal(loaded.phases[0].wrenches["ball"], hop.phases[0].wrenches["ball"])
    assert loaded.stances() == hop.stances()
    again = bounces().solve(start=loaded, progress=False)
    assert again.converged
    assert again.stats["iterations"] < 5


def test_stances_are_found_by_the_force(hop):
    (stance,) = hop.stances(least=5.0)
    force, t = hop.phases[0].wrenches["ball"][:, 5], hop.phases[0].t
    middle = (t[:-1] + t[1:]) / 2
    inside = (middle > stance.touch_down) & (middle < stance.lift_off)
    assert np.array_equal(inside, force > 5.0)
    assert 0.05 < stance.lift_off - stance.touch_down < 0.4


def test_pictures_show_the_foot_while_it_is_loaded(hop):
    from ocp_dyn.gait.unrolled import ground_forces, unroll

    stretches = unroll(hop)
    assert [len(s.supports) for s in stretches] == [0, 1, 0]
    assert sum(len(s.tau) for s in stretches) == 24
    (support,) = stretches[1].supports
    assert support.place == pytest.approx([0, 0, 0], abs=1e-6)
    moment = support.wrench[:, 1]  # of a force at the contact point below the place of the foot's frame
    assert np.abs(moment).max() < 1e-6
    time = float(stretches[1].middle[len(stretches[1].middle) // 2])
    ((_, point, force),) = ground_forces(stretches[1], time, 1.0)
    assert point == pytest.approx([0, 0, 0], abs=1e-6)
    assert force[2] > 5


def test_a_foot_on_another_plane_feels_that_plane():
    ramp = ocp.Plane(point=(0, 0, 0.3), normal=(0, 0, 2))
    foot = ocp.CompliantFoothold("ball", [SPHERE], plane=ramp)
    at = ca.DM([0.0, 0.39]), ca.DM([0.0, 0.0])
    assert float(foot.law(ball(), *at)[5]) == pytest.approx(float(FOOT.law(ball(), ca.DM([0.0, 0.09]), at[1])[5]))
    assert float(foot.depth(ball(), at[0])) == pytest.approx(0.01)


def test_pictures_read_the_force_along_the_normal_of_the_plane():
    """A foot against a wall stands on it while it presses against the wall, whatever it carries upward."""
    from types import SimpleNamespace

    from ocp_dyn.gait.cuts import pressing

    wall = SimpleNamespace(planes={"ball": ocp.Plane(normal=(1, 0, 0))})
    wrench = np.array([[0.0, 0, 0, 30, 0, 5]])
    assert pressing(wall, "ball", wrench) == pytest.approx([30])
    assert pressing(SimpleNamespace(planes={}), "ball", wrench) == pytest.approx([5])


def test_standing_spheres_bear_the_weight_in_the_first_guess():
    from ocp_dyn.ocp.guess.standing_guess import standing
    from ocp_dyn.ocp.transcription.transcribe import transcribe

    builder = od.ModelBuilder("block")
    builder.add_body("block", od.FloatingBase(), mass=2, inertia=(1, 1, 1))
    block = builder.build()
    foot = ocp.CompliantFoothold("block", [od.HuntCrossleySphere("block", (0, 0, -0.3), 0.1)])
    q = standing(transcribe(ocp.Problem(block, [ocp.Phase("stand", 2, 1.0, [foot])])))
    assert float(foot.law(block, ca.DM(q), ca.DM(6, 1))[5]) == pytest.approx(2 * 9.81, rel=1e-4)


def test_constraints_that_the_law_implies_are_left_out():
    plain, bound = (
        bounces(path=path, intervals=4) for path in ((), (ocp.Unilateral(), ocp.FrictionCone(), ocp.CenterOfPressure()))
    )
    from ocp_dyn.ocp.workflows.attempt import prepare

    assert prepare(plain)[1].row_lower.size == prepare(bound)[1].row_lower.size


@pytest.mark.slow
def test_costs_see_the_wrench():
    pushed = bounces(costs=[ocp.ForceSquared(1e-6)], intervals=6).solve(progress=False)
    assert pushed.cost["ForceSquared"] > 0


@pytest.mark.parametrize(
    "term", [ocp.CaptureMargin(0.1), ocp.ZeroMomentPointMargin(0.1), ocp.CapturePointSquared(),
        ocp.ZeroMomentPointSquared()]
)  # fmt: skip
def test_terms_that_need_places_are_refused(term):
    where = {"path": [term]} if hasattr(term, "where") else {"costs": [term]}
    with pytest.raises(ValueError, match="place"):
        bounces(**where)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ocp.CompliantFoothold(3, [SPHERE]), TypeError, "frame"),
        (lambda: ocp.CompliantFoothold("ball", []), ValueError, "none"),
        (lambda: ocp.CompliantFoothold("ball", [SPHERE], plane="ground"), TypeError, "Plane"),
        (lambda: bounces(foot=ocp.CompliantFoothold("bal", [SPHERE])), KeyError, "ball"),
        (lambda: bounces(guess=ocp.FootPlan()), ValueError, "FootPlan"),
    ],
)
def test_wrong_arguments_are_told(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_spheres_of_two_bodies_are_refused():
    builder = od.ModelBuilder("two")
    builder.add_body("a", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    builder.add_body("b", od.Revolute("y"), "a", mass=1, inertia=(1, 1, 1))
    foot = ocp.CompliantFoothold("a", [od.HuntCrossleySphere("b")])
    with pytest.raises(ValueError, match="different bodies"):
        ocp.Problem(builder.build(), [ocp.Phase("stand", 2, 1.0, [foot])])


def test_another_solver_finds_the_same_hop(hop):
    other = bounces().solve(solver="sqp", guess=hop, progress=False)
    assert other.converged
    assert other.objective == pytest.approx(hop.objective, rel=1e-6)


@pytest.mark.slow
def test_sensitivities_are_those_of_differences(hop):
    heavy = bounces(parameters=[ocp.Parameter("mass:ball", 2.0)])
    found = heavy.solve(guess=hop, progress=False)
    slope = ocp.sensitivities(heavy, found, "mass:ball")["mass:ball"]
    ends = [heavy.solve(start=found, values={"mass:ball": 2.0 + e}, progress=False).objective for e in (1e-3, -1e-3)]
    assert float(np.ravel(slope.objective)[0]) == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-3)


def test_a_model_with_parameters_steps_by_the_same_law(hop):
    heavy = bounces("explicit", "radau:2", parameters=[ocp.Parameter("mass:ball", 2.0)])
    found = heavy.solve(guess=hop, progress=False)
    assert found.converged
    assert np.abs(found.q - hop.q).max() < 1e-3


@pytest.mark.slow
def test_a_rigid_and_a_compliant_foot_stand_side_by_side():
    """A bar on two feet, one of each kind: each bears half of the weight; an impact acts on the rigid one alone."""
    builder = od.ModelBuilder("bar")
    planar = od.MultiDof([(0, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1), (0, 1, 0, 0, 0, 0)])
    builder.add_body("bar", planar, mass=4, inertia=(0.1, 0.1, 0.1), joint_name="root")
    builder.add_frame("hard", "bar", (0.2, 0, 0))
    builder.add_frame("soft", "bar", (-0.2, 0, 0))
    bar = builder.build()
    sphere = od.HuntCrossleySphere("soft", (0, 0, 0.05), radius=0.05, stiffness=1e6, dissipation=20.0)
    feet = [ocp.CompliantFoothold("soft", [sphere]), ocp.Foothold(od.Contact("hard", axes="xz"), x=(0.0, 1.0), y=0)]
    above = ocp.Boundary(lambda start, end: (ca.vertcat(start.q[0], start.q[1] - 0.02, start.q[2], start.qd), 0, 0))
    phases = [ocp.Phase("fall", 6, (0.01, 0.2), feet[:1]), ocp.Phase("stand", 20, 1.5, feet)]
    for form, integrator in (("implicit", "radau:2"), ("explicit", "radau:2")):
        problem = ocp.Problem(
            bar,
            phases,
            transitions=[ocp.Impact()],
            boundary=[above],
            unactuated=["root"],
            form=form,
            integrator=integrator,
        )
        found = problem.solve(progress=False)
        assert found.converged, form
        stand = found.phases[1]
        assert [c.name for c in stand.contacts] == ["soft", "hard"]
        assert stand.wrenches["soft"][-1, 5] == pytest.approx(2 * 9.81, rel=0.02)
        assert stand.wrenches["hard"][-1, 5] == pytest.approx(2 * 9.81, rel=0.02)
        (impulse, *_) = found.impulses
        assert impulse.shape == (8,)
        assert np.all(impulse[:6] == 0)
        assert impulse[7] > 0.1
        again = problem.solve(guess=found, progress=False)
        assert again.stats["iterations"] <= 12
        assert {s.foot for s in found.stances()} == {"soft", "hard"}


def test_a_stance_may_reach_beyond_the_end_of_the_cycle(hop):
    phase, ahead = hop.phases[0], dataclasses.replace(hop, step_length=0.3)
    early = dataclasses.replace(ahead, phases=(dataclasses.replace(phase, lam=np.roll(phase.lam, 12, axis=0)),))
    (before,), (after,) = ahead.stances(5.0), early.stances(5.0)
    assert after.touch_down < hop.duration < after.lift_off
    assert after.touch_down == pytest.approx(before.touch_down + hop.duration / 2, abs=1e-9)
    assert after.lift_off - after.touch_down == pytest.approx(before.lift_off - before.touch_down)


def rolled(plane):
    """A block with a compliant foot that rolls in four intervals, pressed at the point c of the plane; and c [m]."""
    builder = od.ModelBuilder("block")
    builder.add_body("block", od.FloatingBase("euler_zyx"), mass=2, inertia=(1, 1, 1))
    builder.add_frame("foot", "block", (0.1, 0.0, -0.2))
    model = builder.build()
    foot = ocp.CompliantFoothold("foot", [od.HuntCrossleySphere("foot", radius=0.02)], plane)
    q = np.array([[0.3 + 0.1 * k, 0.2, 1.0, 0.1, angle, 0.05] for k, angle in enumerate((0.4, 0.2, 0.0, 0.3, 0.5))])
    c = np.array(plane.to_world(ca.DM([0.5, 0.25, 0.0])).full()).ravel()
    f = 100 * np.array(plane.normal) + np.array(plane.R.full())[:, 0] * 30
    lam = []
    for a, b in pairwise(q):
        middle = model.integrate(ca.DM(a), model.difference(ca.DM(a), ca.DM(b)) / 2)
        origin = od.point_position(model, "foot", middle).full().ravel()
        lam.append(np.concatenate([np.cross(c - origin, f), f]))
    still = np.zeros((4, 6))
    planes = {} if plane == ocp.Plane() else {"foot": plane}
    phase = ocp.PhaseMotion(
        "roll", np.linspace(0, 1, 5), q, np.zeros((5, 6)), still, still, np.array(lam), (foot,), {}, planes=planes
    )
    return ocp.Solution(model, (phase,), {}, (), 0.0, False, {}), c, f


@pytest.mark.parametrize("plane", [ocp.Plane(), ocp.Plane((0.0, 0.0, 0.4), (-0.3, 0.1, 1.0))])
@pytest.mark.slow
def test_pictures_press_where_the_ground_does(plane):
    from ocp_dyn.gait.unrolled import unroll
    from ocp_dyn.viz.viewer.track import of_motion

    motion, c, f = rolled(plane)
    (stretch,) = unroll(motion)
    (support,) = stretch.supports
    assert np.allclose(support.force, f)
    at = np.array([*support.place[:2], support.height]) + support.pressure(1.0)
    assert np.allclose(at, c, atol=1e-9)
    model, q = motion.model, motion.phases[0].q
    tilts = []
    for k in range(4):  # the place is that of the frame where it is flattest on the plane
        middle = model.integrate(ca.DM(q[k]), model.difference(ca.DM(q[k]), ca.DM(q[k + 1])) / 2)
        R, p = plane.pose(*od.pose(model, "foot", middle))
        tilts.append((float(R[2, 2]), np.array(plane.to_world(ca.vertcat(p[:2], 0)).full()).ravel()))
    assert np.allclose([*support.place[:2], support.height], max(tilts, key=lambda x: x[0])[1])
    (hold,) = of_motion(motion, []).holds
    assert np.allclose(hold.point, [*support.place[:2], support.height])


def test_files_keep_planes_and_refuse_feet_that_do_not_fit():
    foot = rolled(ocp.Plane((0.0, 0.0, 0.4), (-0.3, 0.1, 1.0)))[0].phases[0].contacts[0]
    model = rolled(ocp.Plane())[0].model
    saved = contact_to_dict(foot)
    assert contact_from_dict(saved, model, {}).plane == foot.plane
    for wrong in (
        {"frame": "hand"},
        {"spheres": []},
        {"spheres": [saved["spheres"][0] | {"frame": "hand"}]},
        {"plane": 3},
    ):
        with pytest.raises(od.ModelError, match="CompliantFoothold"):
            contact_from_dict(saved | wrong, model, {})
    with pytest.raises(od.ModelError, match="not finite"):
        contact_from_dict(saved | {"plane": [[0.0, 0.0, float("nan")], [0.0, 0.0, 1.0]]}, model, {})
