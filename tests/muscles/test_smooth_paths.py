"""Smooth forms of paths: right to the tolerance, consistent with each other, the same every time, told where wrong."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, SX

import ocp_dyn as od
from ocp_dyn._base import cache
from ocp_dyn.muscles.paths import fits, smooth
from ocp_dyn.muscles.paths.polynomials import Box, exponents
from tests.helpers import close
from tests.muscles import bodies


@pytest.fixture(scope="module")
def model():
    """A muscle over the knee, a straight one, and one over hip and knee."""
    knee = bodies.extensor("one half")
    straight = (bodies.point("P1", "ground", -0.03, 0.02, 0.1), bodies.point("P2", "shank", 0.01, 0.02, -0.1))
    long = (bodies.point("P1", "ground", 0.05, 0.02, 0.1), bodies.point("P2", "thigh", 0.05, 0.01, -0.2),
            bodies.point("P3", "shank", 0.02, -0.02, -0.15))  # fmt: skip
    return knee.with_muscles(
        [
            od.Muscle("straight", "PathSpring", straight),
            od.Muscle("long", "PathSpring", long, (od.PathWrap("W", first=2, last=3),)),
        ]
    )


@pytest.mark.slow
def test_fits_are_as_good_as_they_say(model):
    """At configurations of another sequence."""
    q = bodies.states(model, 200)
    exact = od.muscles.path_geometry(model, q)
    l, r = (
        np.array([f(one).full() for one in q])
        for f in (od.function(od.muscle_lengths, model), od.function(od.moment_arms, model))
    )
    reports = od.muscles.path_report(model)
    assert [one.straight for one in reports] == [False, True, False]
    close(l[:, 1, 0], exact.lengths[:, 1], 1e-12)
    close(r[:, 1], exact.moment_arms[:, 1], 1e-12)
    for k in (0, 2):
        off = r[:, k] - exact.moment_arms[:, k]
        rms = np.sqrt(np.mean(off**2, axis=0)).max()
        assert rms < 1.4 * reports[k].arm_rms + 1e-5
        assert reports[k].arm_rms <= 1e-3
        assert np.sqrt(np.mean((l[:, k, 0] - exact.lengths[:, k]) ** 2)) <= 1e-3
    rough = od.muscles.path_report(bodies.extensor("one half"), tolerance=5e-3)[0]
    assert rough.terms < reports[0].terms


def test_lengths_arms_speeds_and_torques_belong_together(model):
    q, rng = bodies.states(model, 1)[0], np.random.default_rng(0)
    qd, F = rng.normal(size=4), rng.uniform(1, 2, 3)
    x = SX.sym("q", 4)
    l = od.muscle_lengths(model, x)
    r = od.moment_arms(model, q)
    close(-ca.Function("J", [x], [ca.jacobian(l, x)])(q), r, 1e-12)
    close(od.muscle_speeds(model, q, qd), -(r @ qd), 1e-12)
    close(od.muscle_torques(model, q, F), r.T @ F, 1e-12)
    assert od.moment_arms(model, q).sparsity().nnz() == 1 + 4 + 4


def test_fits_are_found_in_the_cache_and_never_stale(model, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fresh = smooth._fitted
    calls = []
    monkeypatch.setattr(smooth, "_fitted", lambda *args: calls.append(1) or fresh(*args))
    find = smooth.smooth_paths.__wrapped__
    small = bodies.extensor("one half")
    first = find(small, 1e-3)
    assert find(small, 1e-3) == first
    assert len(calls) == 1
    moved = od.WrapObject("W", "cylinder", "thigh", (0.031, 0.3), (0.0, 0.01, -0.41), bodies.TURN, "x")
    other = bodies.leg().with_muscles(small.muscles, [moved])
    assert find(other, 1e-3) != first
    assert find(small.with_limits(upper={"knee": 1.5}), 1e-3) != first
    assert find(small, 5e-3) != first
    assert len(calls) == 4
    find(small.with_inertia("shank", mass=9.0), 1e-3)  # masses do not matter
    assert len(calls) == 4
    for path in cache.directory().glob("*.paths"):
        path.write_text("{")
    assert find(small, 1e-3) == first


def test_coordinates_that_follow_others():
    """Right on the coupling, in both coordinates of the tree."""
    builder = od.ModelBuilder("knee")
    builder.add_body("shank", od.Revolute("y"), joint_name="knee", mass=1)
    builder.add_body("patella", od.Revolute("y"), joint_name="beta", mass=1)
    builder.add_frame("femur", "world")
    coupling = od.CoordinateCoupling("beta", ("knee",), od.PolynomialFunction((0.1, 0.6, 0.0)))
    model = builder.build().with_limits(lower={"knee": -1.0}, upper={"knee": 1.0}).with_constraints([coupling])
    path = (bodies.point("P1", "femur", 0.05, 0, 0.3), bodies.point("P2", "patella", 0.06, 0, 0.02),
            bodies.point("P3", "shank", 0.05, 0, -0.2))  # fmt: skip
    ball = od.WrapObject("ball", "sphere", "femur", (0.045,))
    model = model.with_muscles([od.Muscle("vastus", "PathSpring", path, (od.PathWrap("ball"),))], [ball])
    knee = np.linspace(-0.9, 0.9, 7)
    q = np.column_stack([knee, 0.1 * knee**2 + 0.6 * knee])
    exact = od.muscles.path_geometry(model, q)
    for k, one in enumerate(q):
        close(od.muscle_lengths(model, one), exact.lengths[k], 1e-3)
        assert np.max(np.abs(od.moment_arms(model, one).full() - exact.moment_arms[k])) < 3e-3
    qd = np.array([0.7, -0.4])
    close(od.muscle_speeds(model, q[2], qd), -(od.moment_arms(model, q[2]) @ qd), 1e-12)
    close(od.muscle_torques(model, q[2], [3.0]), 3 * od.moment_arms(model, q[2]).T, 1e-12)
    assert od.muscles.coupled_coordinates(model) == {"vastus": ("beta",)}


@pytest.mark.slow
def test_faults_are_told_by_name():
    model = bodies.extensor("one half")
    path = (bodies.point("P1", "thigh", 0.045, 0.01, -0.1), bodies.point("P2", "thigh", 0.01, 0.01, -0.41),
            bodies.point("P3", "shank", 0.02, -0.02, -0.15))  # fmt: skip
    deep = model.with_muscles([od.Muscle("deep", "PathSpring", path, (od.PathWrap("W"),))])
    told = [str(fault) for fault in od.muscles.path_faults(deep)]
    assert any("'deep': its point 'P2' lies inside the wrap object 'W' at 100%" in one for one in told)
    assert not any("'extensor'" in one for one in told)

    jumping = bodies.all_points()
    assert any("jumps by" in str(fault) and "'points'" in str(fault) for fault in od.muscles.path_faults(jumping))

    torn = od.muscles.path_report(bodies.extensor("cylinder"))[0]
    assert 1e-3 < torn.jump < 2e-2  # the line falls behind the cylinder
    assert od.muscles.path_report(bodies.extensor("one half"), tolerance=1e-7)[0].jump < 1e-4

    rough = od.muscles.path_faults(bodies.extensor("one half"), tolerance=1e-7)
    assert any("off by" in fault.what and "narrower ranges" in fault.remedy for fault in rough)

    free = model.with_limits(upper={"knee": np.inf})
    assert "crosses 'knee', whose range [-0.2, inf]" in od.muscles.path_faults(free)[0].what
    with pytest.raises(od.ModelError, match=r"'extensor' crosses 'knee'.*model.with_limits"):
        od.muscle_lengths(free, np.zeros(4))
    assert od.muscles.path_faults(model.lock_joints({"knee": 0.5})) is not None


def test_points_in_one_place_of_a_body_leave_derivatives_finite():
    twice = bodies.point("P2", "thigh", 0.05, 0, -0.2)
    path = (bodies.point("P1", "ground", 0.05, 0, 0.1), twice, twice, bodies.point("P3", "shank", 0.03, 0, -0.1))
    inside = (bodies.point("P1", "thigh", 0, 0, 0), bodies.point("P2", "thigh", 0, 0.3, 0.4))
    model = bodies.leg().with_muscles([od.Muscle("m", "PathSpring", path), od.Muscle("inside", "PathSpring", inside)])
    q = bodies.states(model, 1)[0]
    exact = od.muscles.path_geometry(model, q)
    close(od.muscle_lengths(model, q), exact.lengths, 1e-13)
    close(od.moment_arms(model, q), exact.moment_arms, 1e-13)
    assert exact.lengths[1] == pytest.approx(0.5)
    H = od.function(od.muscle_torques, model).jacobian()
    assert np.all(np.isfinite(np.concatenate([x.full().ravel() for x in H.call([q, [1.0, 1.0], 0])])))


def test_no_muscles():
    model = bodies.leg()
    assert od.muscle_lengths(model, np.zeros(4)).shape == (0, 1)
    assert od.moment_arms(model, np.zeros(4)).shape == (0, 4)
    assert od.muscles.path_report(model) == ()
    assert DM(od.muscle_torques(model, np.zeros(4), np.zeros(0))).nnz() == 0


def test_the_command_tells_what_is_wrong_with_paths(tmp_path, capsys):
    from ocp_dyn.cli.main import main

    path = (bodies.point("P1", "thigh", 0.045, 0.01, -0.1), bodies.point("P2", "thigh", 0.045, 0.01, -0.1))
    od.save_model(bodies.leg().with_muscles([od.Muscle("none", "PathSpring", path)]), tmp_path / "leg.json")
    assert main(["check", str(tmp_path / "leg.json")]) == 0
    assert "note: muscle 'none': its path has no length" in capsys.readouterr().out


def mirrored_pair(shift: float) -> od.Model:
    """Two muscles from the ground to the shank on both sides of the leg's plane; the right one is moved by a shift."""
    muscles, wraps = [], []
    turn = np.reshape(bodies.TURN, (3, 3))
    for side, sign in (("l", 1.0), ("r", -1.0)):
        flip = np.diag([1.0, sign, 1.0])
        at = (0.0, 0.01 * sign, -0.41)
        wraps.append(od.WrapObject(f"W_{side}", "cylinder", "thigh", (0.03, 0.3), at, tuple(
            (flip @ turn @ np.diag([1.0, sign, 1.0])).ravel()), "x"))  # fmt: skip
        moved = shift if side == "r" else 0.0
        path = (bodies.point("P1", "ground", 0.05 + moved, 0.02 * sign, 0.1),
                bodies.point("P2", "thigh", 0.05, 0.01 * sign, -0.2),
                bodies.point("P3", "shank", 0.02, -0.02 * sign, -0.15))  # fmt: skip
        muscles.append(od.Muscle(f"long_{side}", "PathSpring", path, (od.PathWrap(f"W_{side}", first=2, last=3),)))
    return bodies.leg().with_muscles(muscles, wraps)


@pytest.mark.slow
def test_mirror_images_have_equal_polynomials():
    """So that a body whose sides are equal moves as its mirror image does."""
    model, other = mirrored_pair(0.0), mirrored_pair(1e-4)
    signs = np.array([-1.0, 1.0, -1.0, 1.0])
    q = bodies.states(model, 5)
    l = np.array([od.muscle_lengths(model, one).full().ravel() for one in q])
    image = np.array([od.muscle_lengths(model, signs * one).full().ravel() for one in q])
    close(l, image[:, ::-1], 1e-14)
    exact = od.muscles.path_geometry(model, q)
    assert np.abs(l - exact.lengths).max() < 3e-3
    one, two = (od.muscles.path_report(m) for m in (model, other))
    assert (one[1].name, one[1].terms, one[1].arm_rms) == ("long_r", one[0].terms, one[0].arm_rms)
    assert two[1].arm_rms != two[0].arm_rms


def test_a_polynomial_that_misses_its_tolerance_has_few_terms():
    """Terms that gain nothing are left out there too: every one of them costs operations in optimal control."""
    box = Box((0, 1), (0.1, -0.2), (0.8, 0.6))
    fitter = fits.Fitter(box)
    x, y = fitter.points.T
    bent = np.maximum(x - 0.2, 0.0)  # the slope jumps, as where a path touches an object
    target = fits.Sampled(0.05 * bent + 0.02 * y, np.stack([0.05 * (x > 0.2), 0.02 + 0 * y], axis=1))
    tolerances = np.array([1e-4, 1e-4])
    found = fitter.fit(target, tolerances)
    assert not found.within(tolerances)
    whole = exponents(2, found.degree)
    assert len(found.polynomial.exponents) < len(whole) / 2
    some = np.arange(len(whole))
    system = fitter._gram(True), fitter._rows(True, slice(fitter.kept)).T @ fits._stacked(target, slice(fitter.kept))
    best = fitter._judged(target, some, fits._solved(*system, some), found.degree)
    assert np.all(found.slope_rms <= np.maximum(1.05 * best.slope_rms, tolerances))
