"""Loads of joints: a free body in general position, wrapped paths, compartments, faults."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn._base.types import Array
from ocp_dyn.muscles import compartment_forces, joint_reaction, muscle_wrenches


@lru_cache(maxsize=1)
def leg() -> od.Model:
    """Three bodies with two straight muscles and one over a cylinder."""
    builder = od.ModelBuilder("leg")
    root = od.FloatingBase("euler_zyx")
    builder.add_body("pelvis", root, mass=3, com=(0.1, 0.02, -0.1), inertia=(0.2, 0.2, 0.3))
    builder.add_body(
        "thigh", od.Euler("yxz"), "pelvis", joint_name="hip", origin=(0.1, 0.2, -0.3), mass=2, com=(0.02, 0.01, -0.2),
        inertia=(0.1, 0.1, 0.05), lower=-0.8, upper=0.8,
    )  # fmt: skip
    builder.add_body(
        "shank", od.Revolute("y"), "thigh", joint_name="knee", origin=(0, 0.05, -0.4), mass=1, com=(0.01, 0.02, -0.15),
        inertia=(0.03, 0.03, 0.02), lower=0.0, upper=1.6,
    )  # fmt: skip
    points = [
        od.PathPoint(f"P{k}", body, at)
        for k, (body, at) in enumerate(
            [("pelvis", (0.05, 0.1, 0.1)), ("thigh", (0.06, 0, -0.2)), ("shank", (0.05, 0.01, -0.1)),
             ("thigh", (0.045, 0.03, -0.1)), ("shank", (0.03, 0.06, -0.14))]
        )
    ]  # fmt: skip
    wrap = od.WrapObject("condyles", "cylinder", "thigh", (0.03, 0.3), (0, 0.05, -0.41),
                         od.rpy_matrix((np.pi / 2, 0, 0)).ravel(), quadrant="x")  # fmt: skip
    muscles = [
        od.Muscle("long", "PathSpring", tuple(points[:3])),
        od.Muscle("short", "PathSpring", tuple(points[1:3])),
        od.Muscle("bent", "PathSpring", tuple(points[3:]), (od.PathWrap("condyles"),)),
    ]
    return builder.build().with_muscles(muscles, [wrap])


def state(seed: int) -> tuple[Array, Array, Array, Array]:
    """q, qd, qdd, and a wrench on the shank."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-0.6, 0.6, 10)
    q[9] = rng.uniform(0.3, 1.2)
    return q, rng.normal(size=10), rng.normal(size=10), 20 * rng.normal(size=6)


def column(x: object) -> Array:
    return np.array(x, dtype=float).ravel()


def pull(q: Array, muscle: int) -> tuple[Array, Array]:
    """(place, unit vector) of the pull of a straight muscle on the shank, world axes."""
    points = leg().muscles[muscle].path[-2:]
    there, here = (column(od.point_position(leg(), p.body, q, p.point)) for p in points)  # type: ignore[union-attr]
    return here, (there - here) / np.linalg.norm(there - here)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_the_load_balances_the_free_shank(seed: int) -> None:
    """Newton's and Euler's equations of the shank by itself, about the knee, from accelerations of its points."""
    model, (q, qd, qdd, external), F = leg(), state(seed), np.array([300.0, 150.0, 0.0])
    found = column(
        joint_reaction(
            model, q, qd, qdd, "knee", F, external[:, None], axes="world", loads=od.Loads(external=["shank"])
        )
    )
    com, knee = (column(od.point_position(model, "shank", q, at)) for at in ((0.01, 0.02, -0.15), (0, 0, 0)))
    a = column(od.point_acceleration(model, "shank", q, qd, qdd, (0.01, 0.02, -0.15)))
    spin = column(od.frame_velocity(model, "shank", q, qd))[:3]
    turn = column(od.frame_acceleration(model, "shank", q, qd, qdd))[:3]
    R = np.array(od.pose(model, "shank", q)[0].full())
    inertia = R @ np.diag([0.03, 0.03, 0.02]) @ R.T
    force = a - np.array([0, 0, -9.81]) - external[3:]
    moment = inertia @ turn + np.cross(spin, inertia @ spin) + np.cross(com - knee, a - np.array([0, 0, -9.81]))
    moment -= external[:3] - np.cross(knee, external[3:])
    for k in (0, 1):
        here, e = pull(q, k)
        force, moment = force - F[k] * e, moment - F[k] * np.cross(here - knee, e)
    assert np.allclose(found, [*moment, *force], atol=1e-9 * 300)
    axes = R[:, 1]  # of the knee: muscles leave nothing but what motors give
    tau = od.inverse_dynamics(model, q, qd, qdd, external[:, None], loads=od.Loads(external=["shank"]))
    rest = column(tau) - column(od.muscle_torques(model, q, F))
    assert axes @ found[:3] == pytest.approx(rest[9], abs=1e-9)


def test_axes_are_those_that_were_asked_for() -> None:
    model, (q, qd, qdd, _) = leg(), state(5)
    by_axes = {axes: column(joint_reaction(model, q, qd, qdd, "knee", [10, 20, 30], axes=axes))
               for axes in ("child", "parent", "world")}  # fmt: skip
    for axes, frame in (("child", "shank"), ("parent", "thigh")):
        R = np.array(od.pose(model, frame, q)[0].full())
        assert np.allclose(R @ by_axes[axes][3:], by_axes["world"][3:])
        assert np.allclose(R @ by_axes[axes][:3], by_axes["world"][:3])
    whole = column(joint_reaction(model, q, qd, qdd, "root", axes="child"))
    total = column(joint_reaction(model, q, qd, qdd, "root", [1e3, 1e3, 1e3]))
    assert np.allclose(whole, total)  # no muscle crosses the root


def test_bent_paths_have_polynomials_of_their_pulls() -> None:
    model = leg()
    rng = np.random.default_rng(2)
    for _ in range(5):
        q = np.array([*rng.uniform(-0.7, 0.7, 9), rng.uniform(0.1, 1.5)])
        exact = muscle_wrenches(model, q, "knee")
        held = [column(joint_reaction(model, q, 0 * q, 0 * q, "knee", F)) for F in ([0, 0, 0], [0, 0, 1])]
        assert np.allclose(held[0] - held[1], exact[2], atol=0.02)
        assert np.allclose((held[0] - held[1])[:3], exact[2, :3], atol=3e-3)
        assert np.linalg.norm(exact[:, 3:], axis=1) == pytest.approx(1.0)
    table = np.tile(q, (2, 1))
    assert np.allclose(muscle_wrenches(model, table, "knee"), [exact, exact])
    hip = muscle_wrenches(model, q, "hip")
    assert not hip[1:].any()
    assert hip[0].any()


def test_symbols_and_derivatives() -> None:
    model, (q, qd, qdd, _) = leg(), state(7)
    at, F = ca.SX.sym("q", 10), ca.SX.sym("F", 3)
    R = joint_reaction(model, at, DM(qd), DM(qdd), "knee", F)
    f = ca.Function("R", [at, F], [R, ca.jacobian(R, F)])
    values, slopes = f(q, [100, 50, 80])
    numbers = joint_reaction(model, q, qd, qdd, "knee", [100, 50, 80])
    assert np.allclose(column(values), column(numbers))
    assert np.allclose(np.array(slopes)[3:, :2], -muscle_wrenches(model, q, "knee")[:2, 3:].T)


def test_compartments_share_the_load() -> None:
    rng = np.random.default_rng(1)
    inner, outer = np.array([0.003, -0.021, 0.001]), np.array([-0.002, 0.024, 0.001])
    along = np.array([0.1, 0.02, 1.0])
    along -= (along @ (outer - inner)) * (outer - inner) / ((outer - inner) @ (outer - inner))
    along /= np.linalg.norm(along)
    a, b = rng.normal(size=2) * 1e3
    moment = np.cross(inner, a * along) + np.cross(outer, b * along)
    found = column(compartment_forces([*moment, *((a + b) * along)], inner, outer, along))
    assert np.allclose(found, [a, b])
    with pytest.raises(ValueError, match="must lie beside each other"):
        compartment_forces(np.ones(6), (0, 0, 0.1), (0, 0, 0.2))


def test_faults_are_told() -> None:
    model, q = leg(), np.zeros(10)
    with pytest.raises(KeyError, match="knee"):
        joint_reaction(model, q, q, q, "kne")
    with pytest.raises(ValueError, match="axes must be one of child, parent, world"):
        joint_reaction(model, q, q, q, "knee", axes="shank")
    with pytest.raises(ValueError, match="F_mt must have 3 rows"):
        joint_reaction(model, q, q, q, "knee", [1.0, 2.0])
    with pytest.raises(ValueError, match="q must be 10 finite numbers"):
        muscle_wrenches(model, np.zeros(3), "knee")
