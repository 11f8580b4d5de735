"""Curves of muscles: fixed points, inverses, derivatives, and numbers of an independent implementation."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from casadi import DM, MX, SX

import ocp_dyn as od

M = od.muscles
N = 6

FAMILIES = {
    "de_groote_fregly": M.DeGrooteFreglyCurves(np.linspace(1, 1.3, N), np.linspace(0.5, 0.7, N), 0.049),
    "thelen": M.ThelenCurves(np.linspace(0.03, 0.05, N), 0.6, 0.45, 5.0, np.linspace(0.2, 0.3, N), 1.4, 0.95),
    "millard": M.MillardCurves.default(N),
    "schutte": M.SchutteCurves(),
}
DAMPING = {"de_groote_fregly": np.geomspace(1e-6, 0.1, N), "thelen": 0.0, "millard": 0.1, "schutte": 0.1}


def of_thelen(family: M.ThelenCurves) -> M.ThelenCurves:
    """Its arrays as columns."""
    return M.ThelenCurves(*(DM(np.ravel(getattr(family, name))) for name in family.__dataclass_fields__))


FAMILIES["thelen"] = of_thelen(FAMILIES["thelen"])


def columns(rng: np.random.Generator, low: float, high: float) -> DM:
    return DM(rng.uniform(low, high, N))


@pytest.mark.parametrize("name", FAMILIES)
def test_fixed_points(name):
    curves, one = FAMILIES[name], DM.ones(N)
    assert float(ca.norm_inf(curves.force_velocity(0 * one, 0.4 * one) - 1)) < 1e-14
    assert float(ca.norm_inf(curves.force_velocity(-one, one))) < 1e-14
    assert float(ca.norm_inf(curves.active_force_length(one) - (0.998869 if name == "schutte" else 1))) < 1e-6
    assert float(ca.norm_inf(curves.tendon_force(one))) < 1e-14


def test_strains_of_one():
    groote, thelen, millard = (FAMILIES[name] for name in ("de_groote_fregly", "thelen", "millard"))
    assert float(ca.norm_inf(groote.passive_force_length(DM(1 + np.linspace(0.5, 0.7, N))) - 1)) < 1e-14
    assert float(ca.norm_inf(groote.tendon_force(DM.ones(N) * 1.049) - 1)) < 1e-13
    assert float(ca.norm_inf(thelen.passive_force_length(DM.ones(N) * 1.6) - 1)) < 1e-13
    assert float(ca.norm_inf(thelen.tendon_force(1 + DM(np.linspace(0.03, 0.05, N))) - 1)) < 1e-13
    assert float(ca.norm_inf(millard.passive_force_length(DM.ones(N) * 1.7) - 1)) < 1e-13
    assert float(ca.norm_inf(millard.tendon_force(DM.ones(N) * 1.049) - 1)) < 1e-13


@pytest.mark.parametrize("name", FAMILIES)
def test_the_fiber_speed_is_the_inverse_of_the_force(name, rng):
    curves, damping = FAMILIES[name], DM(np.broadcast_to(DAMPING[name], (N,)))
    for low, high in ((-1.3, -0.9), (-1.0, 0.0), (-0.05, 0.05), (0.0, 1.2)):
        v, a, active = columns(rng, low, high), columns(rng, 0.02, 1.0), columns(rng, 0.02, 1.1)
        force = active * curves.force_velocity(v, a) + damping * v
        back = curves.fiber_speed(force, active, damping, a)
        assert float(ca.norm_inf(back - v)) < 1e-10, (name, low)


def test_de_grootes_speed_has_a_solution_for_every_force(rng):
    """Newton's steps suffice for weak and strong fibers, for little and much damping."""
    curves = M.DeGrooteFreglyCurves()
    for _ in range(60):
        active, damping = DM(10 ** rng.uniform(-6, 0, N)), DM(10 ** rng.uniform(-4, 0, N))
        force = DM(rng.normal(0, 2, N))
        v = curves.fiber_speed(force, active, damping, active)
        again = active * curves.force_velocity(v, active) + damping * v
        assert float(ca.norm_inf((again - force) / (1 + ca.fabs(v) * damping))) < 1e-13


def test_the_tendon_length_is_the_inverse_of_its_force(rng):
    curves, z = M.DeGrooteFreglyCurves(tendon_strain=np.linspace(0.03, 0.1, N)), columns(rng, -0.1, 3.0)
    assert float(ca.norm_inf(curves.tendon_force(curves.tendon_length(z)) - z)) < 1e-13
    h = 1e-6
    slope = (
        (curves.tendon_force(curves.tendon_length(z) + h) - curves.tendon_force(curves.tendon_length(z) - h)) / 2 / h
    )
    assert float(ca.norm_inf(slope / curves.tendon_stiffness(z) - 1)) < 1e-8
    with pytest.raises(NotImplementedError, match="take the fiber length as the state"):
        FAMILIES["millard"].tendon_length(z)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.slow
def test_slopes_and_curvatures_by_differences(name, rng):
    """The derivatives of the expressions, between the points at which a curve changes its form."""
    curves, x = FAMILIES[name], SX.sym("x", N)
    a, active, damping = columns(rng, 0.2, 1), columns(rng, 0.2, 1), DM(np.broadcast_to(DAMPING[name], (N,)))
    cases = {
        "active": (curves.active_force_length(x), 0.5, 1.7),
        "passive": (curves.passive_force_length(x), 1.01, 1.8),
        "speed": (curves.force_velocity(x, a), -1.2, 1.2),
        "inverse": (curves.fiber_speed(x, active, damping, a), 0.02, 1.8),
        "tendon": (curves.tendon_force(x), 1.001, 1.06),
    }
    for what, (value, low, high) in cases.items():
        slope = ca.jacobian(value, x)
        curvature = ca.jacobian(ca.diag(slope), x)
        f = ca.Function("f", [x], [value, ca.diag(slope), ca.diag(curvature)])
        assert slope.nnz() == N
        at, h = columns(rng, low, high), 1e-6
        up, down, here = f(at + h), f(at - h), f(at)
        for k in (1, 2):
            error = np.abs(((up[k - 1] - down[k - 1]) / (2 * h) - here[k]).full()).ravel()
            size = 1 + np.abs(here[k].full()).ravel()
            assert np.sort(error / size)[-2] < 3e-5, (name, what, k)  # one point may straddle a change of form


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.slow
def test_numbers_and_both_kinds_of_expressions_agree(name, rng):
    curves, x, a = FAMILIES[name], columns(rng, 0.6, 1.5), columns(rng, 0.1, 1.0)
    active, damping = columns(rng, 0.2, 1), DM(np.broadcast_to(DAMPING[name], (N,)))

    def values(x, a):
        return ca.vertcat(
            curves.active_force_length(x), curves.passive_force_length(x), curves.force_velocity(x - 1, a),
            curves.tendon_force(1 + (x - 1) / 10), curves.fiber_speed(x, active, damping, a),
        )  # fmt: skip

    expected = values(x, a)
    for kind in (SX, MX):
        u, w = kind.sym("u", N), kind.sym("w", N)
        found = ca.Function("f", [u, w], [values(u, w)])(x, a)
        assert float(ca.norm_inf(found - expected)) < 1e-13, kind


OPENSIM = {
    "active_force_length": {
        0.3: 0.1, 0.5: 0.11765335492808801, 0.6: 0.4511018783255816, 0.8: 0.87067661327986, 0.97: 0.9995094593935314,
        1.2: 0.823680970871459, 1.5: 0.4033687054999136, 1.9: 0.1},
    "passive_force_length": {
        0.9: 0.0, 1.05: 0.006505492810261267, 1.2: 0.04969203020562088, 1.5: 0.4602615047912092,
        1.8: 1.285714285714286},
    "force_velocity": {
        -1.2: 0.0, -0.95: 0.0028515625000000164, -0.5: 0.15808560444169842, -0.1: 0.6252142843129728, 0.0: 1.0,
        0.1: 1.225153837753858, 0.5: 1.3311315693144758, 0.95: 1.3991328124999998, 1.1: 1.4},
    "tendon_force": {
        0.99: 0.0, 1.005: 0.03760449363141661, 1.02: 0.2609359826149298, 1.04: 0.747448979591838,
        1.06: 1.3086734693877569},
}  # fmt: skip
"""Values of OpenSim 4.6's default curves of Millard."""


@pytest.mark.parametrize("curve", OPENSIM)
def test_millards_curves_beside_opensim(curve):
    curves = M.MillardCurves.default()
    for x, expected in OPENSIM[curve].items():
        extra = (DM(1.0),) if curve == "force_velocity" else ()
        assert abs(float(getattr(curves, curve)(DM(x), *extra)) - expected) < 1e-13, x


def by_bisection(curve, x: float) -> float:
    """A Bezier curve by halving u, from its control points."""
    for (x0, xa, xb, x1), (y0, ya, yb, y1) in zip(curve.x[0], curve.y[0], strict=True):
        if x0 <= x <= x1:
            binomials, low, high = np.array([1, 5, 10, 10, 5, 1]), 0.0, 1.0
            for _ in range(60):
                u = (low + high) / 2
                basis = binomials * u ** np.arange(6) * (1 - u) ** np.arange(5, -1, -1)
                low, high = (u, high) if basis @ [x0, xa, xa, xb, xb, x1] < x else (low, u)
            return float(basis @ [y0, ya, ya, yb, yb, y1])
    raise ValueError(x)


@pytest.mark.slow
def test_four_newton_steps_are_enough(rng):
    curves = M.MillardCurves.default()
    spans = {"active": (0.4441, 1.8123), "passive": (1.0, 1.7), "speed": (-1.0, 1.0), "tendon": (1.0, 1.0327)}
    for name, (low, high) in spans.items():
        curve = getattr(curves, name)
        for x in rng.uniform(low, high, 20):
            assert abs(float(curve.value(DM(x))) - by_bisection(curve, x)) < 1e-13, (name, x)


def test_curves_of_different_families_together(rng):
    groote, millard = M.DeGrooteFreglyCurves(tendon_strain=[0.04, 0.05]), M.MillardCurves.default()
    curves = M.MixedCurves((([2, 0], groote), ([1], millard)))
    x, a = DM(rng.uniform(1.0, 1.1, 3)), DM([0.5, 0.6, 0.7])
    apart = (groote.tendon_force(x[[2, 0]]), millard.tendon_force(x[1]))
    assert np.allclose(curves.tendon_force(x).full()[[2, 0, 1]], ca.vertcat(*apart).full(), rtol=0, atol=1e-15)
    apart = groote.force_velocity(x[[2, 0]] - 1.2, a[[2, 0]]), millard.force_velocity(x[1] - 1.2, a[1])
    assert np.allclose(
        curves.force_velocity(x - 1.2, a).full()[[2, 0, 1]], ca.vertcat(*apart).full(), rtol=0, atol=1e-15
    )
    assert curves.least_length(3).full().ravel().tolist() == [0.0, 0.4441, 0.0]


def test_splines_of_a_file():
    """The functions of a muscle replace the default ones."""
    path = (od.PathPoint("P1", "a", (0, 0, 0)), od.PathPoint("P2", "b", (0, 0, 0)))
    own = od.LinearFunction(2.0, -1.0)
    muscles = [
        od.Muscle("one", "Schutte1993Muscle_Deprecated", path, functions={"active_force_length_curve": own}),
        od.Muscle("two", "Schutte1993Muscle_Deprecated", path),
    ]
    found = M.SchutteCurves.of(muscles).active_force_length(DM([1.2, 1.045]))
    assert np.allclose(found.full().ravel(), [1.4, 0.993333], rtol=0, atol=1e-14)
    rigid = M.RigidTendonCurves.of(muscles)
    assert np.allclose(rigid.force_velocity(DM([-0.5, 0.25]), 1.0).full().ravel(), [0.166667, 1.706751], atol=1e-6)
    with pytest.raises(NotImplementedError, match="no compliant tendon"):
        rigid.tendon_force(DM([1.0]))


def test_speeds_without_an_equation_are_refused():
    one = DM.ones(1)
    with pytest.raises(ValueError, match=r"at least 0\.001"):
        M.MillardCurves.default().fiber_speed(one, one, 0 * one, one)
    with pytest.raises(ValueError, match="no fiber_damping in the explicit form"):
        M.ThelenCurves().fiber_speed(one, one, 0.1 * one, one)
