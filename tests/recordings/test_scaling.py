"""Models scaled to a subject: the law of every part, factors that are found again, markers, setup files."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.recordings import (
    Measurement,
    Recording,
    ScaleSetup,
    place_markers,
    read_marker_set,
    read_scale_setup,
    scale_segments,
    scaled_to,
    segment_factors,
    write,
)

TURN = np.array([[0.0, -0.8, 0.6], [1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
BACK = od.SimmSpline((-2.0, -1.0, 0.0, 1.0), (-0.03, -0.01, 0.0, 0.004))


@cache
def body() -> od.Model:
    """A pelvis that floats, a thigh, a shank that rolls on it, a foot that is fixed to the shank, and their parts."""
    builder = od.ModelBuilder("subject")
    moments = {"pelvis": (0.1, 0.08, 0.05), "thigh": (0.12, 0.11, 0.03), "shank": (0.055, 0.056, 0.01)}
    add = {name: {"inertia": np.diag(I) + 0.002 * (np.ones((3, 3)) - np.eye(3))} for name, I in moments.items()}
    builder.add_body("pelvis", od.FloatingBase(rotation="euler_zyx"), mass=12, com=(-0.05, 0.01, 0.02), **add["pelvis"])
    builder.add_body("thigh", od.Universal("y", "x"), "pelvis", joint_name="hip", origin=(0.02, -0.08, -0.1), mass=8,
                     com=(0.01, 0.02, -0.17), **add["thigh"])  # fmt: skip
    knee = od.FunctionJoint(
        [od.JointAxis("y")], [od.JointAxis("x", BACK), od.JointAxis((0, 0.6, 0.8), od.LinearFunction(0.01))],
        pose=(tuple(np.eye(3).ravel()), (0.01, 0.0, 0.03)),
    )  # fmt: skip
    builder.add_body("shank", knee, "thigh", joint_name="knee", origin=(0, 0.01, -0.42), rotation=TURN, mass=4,
                     com=(0, 0.01, -0.2), **add["shank"])  # fmt: skip
    builder.add_body("foot", od.Fixed(), "shank", origin=(0.04, 0, -0.4), mass=1, com=(0.05, 0, 0),
                     inertia=(0.001, 0.003, 0.002))  # fmt: skip
    builder.add_frame("sole", "shank", origin=(0.1, 0.0, -0.45), rotation=TURN)
    model = builder.build()
    rng = np.random.default_rng(3)
    names = ("pelvis", "thigh", "shank", "foot")
    markers = [od.Marker(f"{name}{k}", name, tuple(rng.normal(size=3) * 0.1)) for name in names for k in range(3)]
    path = (od.PathPoint("P1", "pelvis", (0.05, 0, 0.03)),
            od.ConditionalPathPoint("P2", "thigh", (0.06, 0, -0.2), "hip.q0", -1.0, 1.0),
            od.MovingPathPoint("P3", "shank", (BACK, od.ConstantFunction(0.01), od.LinearFunction(0.2)),
                               ("knee", None, "hip.q0")),
            od.PathPoint("P4", "foot", (0.1, 0, 0)))  # fmt: skip
    muscles = (
        od.Muscle("long", "Millard2012EquilibriumMuscle", path, optimal_fiber_length=0.1, tendon_slack_length=0.3,
                  max_isometric_force=1000.0),
        od.Muscle("band", "Ligament", path[:2], parameters={"resting_length": 0.2, "pcsa_force": 9.0}),
    )  # fmt: skip
    wraps = (
        od.WrapObject("tube", "cylinder", "shank", (0.03, 0.2), (0.01, 0, 0.1), tuple(TURN.ravel())),
        od.WrapObject("ball", "sphere", "thigh", (0.05,), (0, 0.03, 0)),
        od.WrapObject("egg", "ellipsoid", "pelvis", (0.03, 0.04, 0.05), (0.01, 0.02, 0.03)),
        od.WrapObject("ring", "torus", "pelvis", (0.01, 0.05)),
    )
    constraints = [
        od.PointDistance("pelvis", "foot", 0.9, (0.1, 0, 0), (0, 0.1, 0)),
        od.Loop("thigh", "sole", "ball", successor_pose=(np.eye(3), (0.1, 0.2, 0.3))),
        od.CoordinateCoupling("hip.q1", ("knee",), od.LinearFunction(0.2)),
    ]
    names = [name for name in model.q_names if name.startswith(("hip", "knee"))]
    renamed = {"hip.q0": names[0], "hip.q1": names[1], "knee": names[2]}
    muscles = tuple(replace(m, path=tuple(_renamed(p, renamed) for p in m.path)) for m in muscles)
    constraints[2] = od.CoordinateCoupling(renamed["hip.q1"], (renamed["knee"],), od.LinearFunction(0.2))
    return model.with_markers(markers).with_muscles(muscles, wraps).with_constraints(constraints)


def _renamed(point: Any, names: dict[str, str]) -> Any:
    if isinstance(point, od.ConditionalPathPoint):
        return replace(point, coordinate=names[point.coordinate])
    if isinstance(point, od.MovingPathPoint):
        return replace(point, coordinates=tuple(names.get(c) if c else None for c in point.coordinates))
    return point


FACTORS = {"pelvis": (1.1, 0.95, 1.05), "thigh": (1.02, 0.9, 1.2), "shank": (1.08, 1.08, 1.08)}


def posture(model: od.Model, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.3, 0.3, model.nq)


def place(model: od.Model, frame: str, q: Any, point: Any) -> np.ndarray:
    return np.array(od.point_position(model, frame, q, point)).ravel()


def as_markers(model: od.Model, q: np.ndarray) -> Recording:
    """A static trial of one posture, with samples that are missing."""
    points = np.array([place(model, m.body, q, m.point) for m in model.markers])
    values = np.tile(points, (4, 1, 1))
    values[1, 0] = np.nan
    return Recording([m.name for m in model.markers], 0.1 * np.arange(4), values, "m")


@pytest.mark.slow
def test_equal_factors_are_a_larger_model() -> None:
    """By equal factors everything grows as `Model.scale` makes it, coordinates that are lengths apart."""
    model = body()
    s = 1.17
    ours = scale_segments(model, dict.fromkeys(model.body_names, s))
    theirs = model.scale(length=s, mass=s**3)
    q = posture(model, 0)
    longer = np.where(model.lengths[0], s, 1.0) * q
    np.testing.assert_allclose(od.mass_matrix(ours, longer), od.mass_matrix(theirs, longer), rtol=1e-12)
    assert od.potential_energy(ours, longer).full() == pytest.approx(od.potential_energy(theirs, longer).full())
    for a, b in zip((*ours.markers, *ours.wraps), (*theirs.markers, *theirs.wraps), strict=True):
        for key in ("point", "origin", "sizes"):
            np.testing.assert_allclose(getattr(a, key, ()), getattr(b, key, ()), rtol=1e-12)
    for one, (a, b) in enumerate(zip(ours.constraints, theirs.constraints, strict=True)):
        phi = [np.array(od.constraint_position(m, [c], longer)) for m, c in ((ours, a), (theirs, b))]
        np.testing.assert_allclose(*phi, rtol=1e-12, atol=1e-15, err_msg=str(one))
    for a, b in zip(ours.muscles, theirs.muscles, strict=True):
        assert a.optimal_fiber_length == (b.optimal_fiber_length and pytest.approx(b.optimal_fiber_length))
    assert dict(ours.muscles[1].parameters) == pytest.approx({"resting_length": 0.2 * s, "pcsa_force": 9.0})


@pytest.mark.slow
def test_every_point_of_a_body_is_stretched_along_its_axes() -> None:
    """Places of points against those of the unscaled model, body by body, in general position."""
    model = body()
    ours = scale_segments(model, FACTORS)
    q = posture(model, 1)
    S = {name: np.diag(FACTORS[name]) for name in FACTORS}
    S["foot"] = S["shank"]
    for frame, parent in (("thigh", "pelvis"), ("foot", "shank"), ("sole", "shank")):
        for before, after in [(_inside(model, parent, q, frame), _inside(ours, parent, q, frame))]:
            np.testing.assert_allclose(after, S[parent] @ before, atol=1e-12)
    # the moved frame of the knee lies in the shank, at its pose; its way on the thigh is stretched with the thigh
    p = np.array([0.01, 0.0, 0.03])
    before, after = _inside(model, "thigh", q, "shank", p), _inside(ours, "thigh", q, "shank", S["shank"] @ p)
    np.testing.assert_allclose(after, S["thigh"] @ before, atol=1e-12)
    marker = {m.name: m for m in ours.markers}
    for m in model.markers:
        np.testing.assert_allclose(marker[m.name].point, S[m.body] @ np.array(m.point), rtol=1e-12)
    wraps = {w.name: w for w in ours.wraps}
    assert wraps["egg"].sizes == pytest.approx((0.033, 0.038, 0.0525))
    assert wraps["tube"].sizes == pytest.approx((0.03 * 1.08, 0.2 * 1.08))
    assert wraps["ring"].sizes == pytest.approx((0.01 * 1.025, 0.05 * 1.025))
    assert wraps["ball"].sizes == pytest.approx((0.05 * (1.02 + 0.9 + 1.2) / 3,))
    assert wraps["ball"].origin == pytest.approx((0, 0.027, 0))
    turned = od.WrapObject("tube", "cylinder", "thigh", (0.03, 0.2), rotation=tuple(TURN.ravel()))
    tube = scale_segments(model.with_muscles(wraps=[turned], muscles=[], replace_all=True), FACTORS).wraps[0]
    along = np.linalg.norm(S["thigh"] @ TURN, axis=0)
    assert tube.sizes == pytest.approx((0.03 * (along[0] + along[1]) / 2, 0.2 * along[2]))


@pytest.mark.slow
def test_bushings_move_with_their_bodies_and_prescribed_motions_stay() -> None:
    nod = od.PrescribedMotion("knee", od.SineFunction(amplitude=0.2, omega=3.0))
    place, upright = (0.03, -0.02, 0.05), np.eye(3)
    given = replace(
        body(), annotations=replace(body().annotations, prescribed=(nod,)),
        bushings=(od.Bushing("thigh", "sole", (1,) * 6, first_pose=(TURN, place), second_pose=(upright, place)),
                  od.Bushing("world", "pelvis", (2,) * 6, first_pose=(upright, place))),
    )  # fmt: skip
    ours = scale_segments(given, FACTORS)
    assert ours.prescribed == (nod,)
    assert ours.bushings[1] == given.bushings[1]
    scaled, q = ours.bushings[0], posture(given, 1)
    for name, parent, (R, p), axes in (("thigh", "thigh", scaled.first_pose, TURN),
                                       ("sole", "shank", scaled.second_pose, upright)):  # fmt: skip
        before, after = _inside(given, parent, q, name, place), _inside(ours, parent, q, name, p)
        np.testing.assert_allclose(after, np.diag(FACTORS[parent]) @ before, atol=1e-12)
        np.testing.assert_allclose(R, axes.ravel())


def test_joints_that_move_along_lengths() -> None:
    """Screws and joints by functions, also reversed ones: functions are stretched with the side on which they are
    fixed, coordinates are not; couplings of coordinates that are lengths grow with them."""
    add: Any = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    R = np.eye(3)[[1, 2, 0]]
    builder = od.ModelBuilder()
    builder.add_body("slide", od.Prismatic((0, 0.6, 0.8)), joint_name="a", **add)
    builder.add_body("base", od.Revolute("x"), "slide", joint_name="b", **add)
    builder.add_body("screw", od.Helical("z", pitch=0.1), "base", origin=(0.1, 0.2, 0.3), rotation=TURN, **add)
    axes = [od.JointAxis("x", od.LinearFunction(0.1), (0,)), od.JointAxis("y", od.LinearFunction(), (1,))]
    round_ = od.FunctionJoint([od.JointAxis("x")], axes, ("turn", "shift"), (0.1, 0.2, 0.3),
                              (tuple(R.ravel()), (0.01, 0.02, 0.03)), reverse=True)  # fmt: skip
    builder.add_body("plate", round_, "base", joint_name="d", origin=(0.3, 0.1, 0.0), rotation=TURN, **add)
    builder.add_frame("ground", "world")
    model = builder.build()
    model = model.with_frame("edge", "screw", (0.1, 0, 0), TURN).with_markers([od.Marker("m", "edge", (0.1, 0.2, 0.3))])
    couplings = [od.CoordinateCoupling("a", ("b",), od.LinearFunction(0.3)), od.JointCoupling("a", "b", 0.4, 0.5)]
    model = model.with_constraints(couplings)
    factors = {"base": (1.1, 0.9, 1.2), "screw": (0.8, 1.2, 1.3), "plate": (1.3, 0.7, 0.9), "ground": (1, 2, 3)}
    ours = scale_segments(model, factors)
    S = {name: np.diag(s) for name, s in factors.items()}
    q = np.array([0.2, 0.3, 0.7, 0.5, 0.04])
    before, after = (_inside(m, "base", q, "screw") for m in (model, ours))
    np.testing.assert_allclose(after, S["base"] @ before, atol=1e-12)
    # what the reversed joint moves is its place on the base, seen from the plate; its shift of 0.04 m stays
    p = np.array([0.3, 0.1, 0.0])
    before, after = _inside(model, "plate", q, "base", p), _inside(ours, "plate", q, "base", S["base"] @ p)
    shift = R @ np.array([0, 0.04, 0])
    np.testing.assert_allclose(after - shift, S["plate"] @ (before - shift), atol=1e-12)
    m, edge = ours.markers[0], ours.frames["edge"]
    there = np.array(edge.X.point(list(m.point))).ravel()
    old = np.array(model.frames["edge"].X.point([0.1, 0.2, 0.3])).ravel()
    np.testing.assert_allclose(there, S["screw"] @ old, atol=1e-12)
    grow = np.linalg.norm(S["ground"] @ (0, 0.6, 0.8))  # the slide is fixed in the ground
    first, second = ours.constraints
    assert (first.scale, second.ratio, second.offset) == pytest.approx((grow, 0.4 * grow, 0.5 * grow))


def test_samples_that_count() -> None:
    """Means of the distances between two times; weights of all markers where none is given; times of each part."""
    model = od.models.pendulum(2).with_markers(
        [od.Marker("a", "link1", (0, 0, 0)), od.Marker("b", "link1", (0, 0, -1))]
    )
    values = np.zeros((4, 2, 3))
    values[:, 1, 2] = [-1.0, -1.1, -1.6, -9.0]
    static = Recording(["a", "b"], [0.0, 1.0, 2.0, 3.0], values, "m")
    size = Measurement("m", [("a", "b")], {"link1": "Z"})
    assert segment_factors(model, static, [size], times=(0.0, 2.0))["link1"][2] == pytest.approx(3.7 / 3)
    subject = scaled_to(model, static, ScaleSetup((size,), times=(1.0, 2.0), place_times=(0.0, 0.0)))
    assert subject.factors["link1"][2] == pytest.approx(1.35)
    assert subject.model.markers[1].point == pytest.approx((0, 0, -1))
    angle = {"joint1": 0.5}
    pulled, alone = (place_markers(model, static, times=(0.0, 0.0), weights=w and {"joint1": w}, coordinates=angle)[1]
                     for w in (0.3, 0.0))  # fmt: skip
    # by shares of one half, the marker at 1 m pulls at zero by half of what a weight of 0.5 does
    x = np.linspace(0, 0.5, 200001)
    best = x[np.argmin(0.5 * (2 - 2 * np.cos(x)) + 0.3 * (x - 0.5) ** 2)]
    assert pulled.q[0, 0] == pytest.approx(best, abs=1e-5)
    assert alone.q[0, 0] == pytest.approx(0, abs=1e-9)


def _inside(model: od.Model, parent: str, q: Any, frame: str, point: Any = (0, 0, 0)) -> np.ndarray:
    """A point of a frame in the axes of another one."""
    axes = np.stack([place(model, parent, q, e) - place(model, parent, q, (0, 0, 0)) for e in np.eye(3)])
    return axes @ (place(model, frame, q, point) - place(model, parent, q, (0, 0, 0)))


@pytest.mark.slow
def test_masses_and_inertias() -> None:
    model = body()
    for keep in (False, True):
        ours = scale_segments(model, FACTORS, mass=60, preserve_mass_distribution=keep)
        masses = np.array([float(b.m) for b in ours.I[1:]])
        shares = np.array([12, 8, 5]) * (1 if keep else np.prod([FACTORS[n] for n in model.body_names], axis=1))
        np.testing.assert_allclose(masses, 60 * shares / shares.sum(), rtol=1e-12)
        c, I = (np.array(x) for x in ours.I[2].central())
        np.testing.assert_allclose(c.ravel(), np.array(FACTORS["thigh"]) * (0.01, 0.02, -0.17), rtol=1e-12)
        m, new = 8.0, masses[1]
        r2, l2 = 2 * 0.03 / m, 12 * (0.12 - 0.03 / 2) / m  # the long axis is z, its length by the moment about x
        x, y, z = FACTORS["thigh"]
        assert I[2, 2] == pytest.approx(new * r2 * x * y / 2)
        assert I[0, 0] == I[1, 1] == pytest.approx(new * (l2 * z**2 / 12 + r2 * x * y / 4))
        assert I[0, 2] == pytest.approx(0.002 * x * z * new / m)
    # a real cylinder that grows along its axis and equally across stays one
    builder = od.ModelBuilder()
    m, r, length = 3.0, 0.1, 0.7
    across = m * (r**2 / 4 + length**2 / 12)
    builder.add_body("rod", od.Revolute("x"), mass=m, inertia=(across, m * r**2 / 2, across))
    I = np.array(scale_segments(builder.build(), {"rod": (1.2, 0.8, 1.2)}).I[1].central()[1])
    m, r, length = m * 1.2 * 0.8 * 1.2, r * 1.2, length * 0.8
    across = m * (r**2 / 4 + length**2 / 12)
    np.testing.assert_allclose(I, np.diag([across, m * r**2 / 2, across]), rtol=1e-12, atol=1e-16)


@pytest.mark.slow
def test_lengths_of_muscles_grow_with_their_paths_in_the_default_configuration() -> None:
    model = body()
    q = np.array(model.neutral(), dtype=float).ravel()
    ours = scale_segments(model, FACTORS)
    knee = BACK.at(0.0)
    for count, muscle in ((4, ours.muscles[0]), (2, ours.muscles[1])):
        lengths = []
        for m, s in ((model, dict.fromkeys(("pelvis", "thigh", "shank"), np.ones(3))), (ours, FACTORS)):
            points = [("pelvis", (0.05, 0, 0.03)), ("thigh", (0.06, 0, -0.2)),
                      ("shank", (float(knee), 0.01, 0.0)), ("shank", (0.14, 0, -0.4))][:count]  # fmt: skip
            places = [place(m, f, q, np.array(p) * s[f]) for f, p in points]
            lengths.append(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
        ratio = lengths[1] / lengths[0]
        if count == 4:
            assert muscle.optimal_fiber_length == pytest.approx(0.1 * ratio)
            assert muscle.tendon_slack_length == pytest.approx(0.3 * ratio)
            assert muscle.max_isometric_force == 1000.0
        else:
            assert dict(muscle.parameters)["resting_length"] == pytest.approx(0.2 * ratio)


def test_paths_around_wrap_objects_grow_as_they_are() -> None:
    """A path that bends around a cylinder on the thigh, whose lengths are those of `path_geometry`."""
    tube = od.WrapObject("post", "cylinder", "thigh", (0.08, 0.3), (0, 0, -0.3), tuple(np.eye(3)[[2, 0, 1]].ravel()))
    ends = (od.PathPoint("P1", "pelvis", (0.1, -0.08, 0)), od.PathPoint("P2", "thigh", (-0.07, 0, -0.5)))
    bent = od.Muscle("bent", "Millard2012EquilibriumMuscle", ends, (od.PathWrap("post"),), tendon_slack_length=0.3)
    model = body().with_muscles([bent], [tube], replace_all=True)
    ours = scale_segments(model, FACTORS)
    q = np.array(model.neutral(), dtype=float).ravel()
    before, after = (float(od.muscles.path_geometry(m, q, lines="opensim").lengths[0]) for m in (model, ours))
    straight = np.linalg.norm(place(ours, "thigh", q, ours.muscles[0].path[1].point) -
                              place(ours, "pelvis", q, ours.muscles[0].path[0].point))  # fmt: skip
    assert after > straight + 0.005
    assert ours.muscles[0].tendon_slack_length == pytest.approx(0.3 * after / before)


@pytest.mark.slow
def test_factors_posture_and_markers_are_found_again() -> None:
    """A model scaled by known factors makes markers; from these, factors, posture and places of markers follow."""
    model = body()
    free = model.with_constraints([], replace_all=True)
    factors = FACTORS | {"thigh": (1.0, 1.0, 1.1)}
    real = scale_segments(free, factors, mass=60)
    q = posture(real, 2)
    moved = [replace(m, point=tuple(np.array(m.point) + 0.004)) if m.name == "thigh1" else m for m in real.markers]
    static = as_markers(real.with_markers(moved, replace_all=True), q)
    upright = [m.name for m in model.markers if m.body == "pelvis"]
    pelvis = ScaleSetup(factors={"pelvis": FACTORS["pelvis"], "thigh": (1, 1, 1.1)}, measurements=[
        Measurement("shank", [("shank0", "shank1"), ("shank0", "foot2")], {"shank": "XYZ", "foot": "xyz"}),
    ], mass=60, weights={name: 1.0 for name in static.names if name != "thigh1"})  # fmt: skip
    subject = scaled_to(free, static, pelvis)
    assert set(subject.factors) == {"pelvis", "thigh", "shank", "foot"}
    np.testing.assert_allclose(subject.factors["shank"], 1.08, rtol=1e-12)
    np.testing.assert_allclose(subject.factors["foot"], 1.08, rtol=1e-12)
    assert subject.posture is not None
    np.testing.assert_allclose(subject.posture.q[0], q, atol=1e-6)
    assert subject.mass == pytest.approx(60)
    for a, b in zip(subject.model.markers, moved, strict=True):
        np.testing.assert_allclose(a.point, b.point, atol=1e-6)
    np.testing.assert_allclose(od.mass_matrix(subject.model, q), od.mass_matrix(real, q), atol=1e-10)
    assert len(upright) == 3
    assert "60 kg, 4 bodies scaled, 12 markers placed from " in repr(subject)


@pytest.mark.slow
def test_one_axis_at_a_time_and_the_last_measurement_wins() -> None:
    model = body()
    static = as_markers(scale_segments(model, dict.fromkeys(model.body_names, 1.25)), posture(model, 3))
    pair = [("thigh0", "thigh1")]
    found = segment_factors(model, static, [Measurement("a", pair, {"thigh": "X"}),
                                            Measurement("b", pair, {"thigh": "zy"})],
                            factors={"thigh": (9, 9, 2), "pelvis": 3})  # fmt: skip
    np.testing.assert_allclose(found["thigh"], (1.25, 1.25, 1.25))
    assert found["pelvis"] == (3, 3, 3)
    setup = ScaleSetup([Measurement("a", pair, {"thigh": "X"})], {"thigh": (1, 1, 1)}, place=False)
    assert scaled_to(model, static, setup).factors["thigh"] == (1, 1, 1)
    turned = replace(setup, order=("factors", "measurements"))
    np.testing.assert_allclose(scaled_to(model, static, turned).factors["thigh"], (1.25, 1, 1))


@pytest.mark.slow
def test_weights_of_markers_are_shares_and_coordinates_pull_at_them() -> None:
    """The posture is a minimum of the sum that the docstring names; fixed and unknown markers stay and go."""
    model = body().with_constraints([], replace_all=True)
    q = posture(model, 4)
    rng = np.random.default_rng(1)
    static = as_markers(model, q)
    static = Recording(static.names[1:], static.times, static.values[:, 1:] + 0.01 * rng.normal(size=(1, 11, 3)), "m")
    fixed = [replace(m, fixed=m.name == "foot0") for m in model.markers]
    model = model.with_markers(fixed, replace_all=True)
    weights = {name: float(w) for name, w in zip(static.names, rng.uniform(1, 5, 11), strict=True)}
    del weights[static.names[4]]
    knee = model.q_names[-1]
    placed, found = place_markers(
        model, static, weights=weights | {knee: 0.02}, coordinates={knee: 0.4}, times=(0, 0.1)
    )
    mean = np.nanmean(static.values[:2], axis=0)
    chosen = [m for m in model.markers if m.name in static.names]

    x = ca.SX.sym("q", model.nq)
    at = ca.Function("at", [x], [ca.horzcat(*(od.point_position(model, m.body, x, m.point) for m in chosen))])
    means = np.array([mean[static.names.index(m.name)] for m in chosen])

    def cost(x: np.ndarray) -> float:
        far = np.sum((np.array(at(x)).T - means) ** 2, axis=1)
        shares = np.array([weights.get(m.name, 0.0) for m in chosen])
        return float(shares @ far / shares.sum() + 0.02 * (x[-1] - 0.4) ** 2)

    best = cost(found.q[0])
    for k in range(model.nq):
        for step in (-1e-4, 1e-4):
            assert cost(found.q[0] + step * np.eye(model.nq)[k]) > best
    assert [m.name for m in placed.markers] == [*static.names]
    for m in placed.markers:
        if m.name != "foot0":
            np.testing.assert_allclose(place(placed, m.body, found.q[0], m.point), mean[static.names.index(m.name)],
                                       atol=1e-9)  # fmt: skip
    assert {m.name: m for m in placed.markers}["foot0"] == {m.name: m for m in model.markers}["foot0"]


SETUP = """<OpenSimDocument Version="40000"><ScaleTool name="s"><mass>62.5</mass>
<GenericModelMaker><model_file>body.osim</model_file><marker_set_file>marks.xml</marker_set_file></GenericModelMaker>
<ModelScaler><scaling_order>manualScale measurements</scaling_order>
<MeasurementSet><objects>
<Measurement name="thigh"><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>a b</markers></MarkerPair>
<MarkerPair><markers>a c</markers></MarkerPair></objects></MarkerPairSet>
<BodyScaleSet><objects><BodyScale name="femur_r"><axes>X Y</axes></BodyScale></objects></BodyScaleSet></Measurement>
<Measurement name="off"><apply>false</apply></Measurement></objects></MeasurementSet>
<ScaleSet><objects><Scale><scales>1 1.2 0.9</scales><segment>pelvis</segment></Scale></objects></ScaleSet>
<marker_file>static.trc</marker_file><time_range>1 2</time_range>
<preserve_mass_distribution>true</preserve_mass_distribution></ModelScaler>
<MarkerPlacer><IKTaskSet><objects><IKMarkerTask name="a"><weight>3</weight></IKMarkerTask>
<IKMarkerTask name="b"><apply>false</apply><weight>3</weight></IKMarkerTask>
<IKCoordinateTask name="knee"><weight>0.1</weight><value_type>manual_value</value_type><value>0.2</value>
</IKCoordinateTask>
<IKCoordinateTask name="hip"><weight>5</weight><value_type>default_value</value_type></IKCoordinateTask>
<IKCoordinateTask name="ankle"><value_type>from_file</value_type></IKCoordinateTask></objects></IKTaskSet>
<marker_file>Unassigned</marker_file><coordinate_file>angles.mot</coordinate_file><time_range>-1 -1</time_range>
<output_model_file>subject.osim</output_model_file></MarkerPlacer></ScaleTool></OpenSimDocument>"""
MARKS = """<OpenSimDocument><MarkerSet><objects><Marker name="a"><body>femur_r</body><location>1 2 3</location></Marker>
<Marker name="b"><socket_parent_frame>/bodyset/femur_r</socket_parent_frame><fixed>true</fixed></Marker></objects>
</MarkerSet></OpenSimDocument>"""


def files(folder: Path, setup: str = SETUP) -> Path:
    (folder / "setup.xml").write_text(setup)
    (folder / "marks.xml").write_text(MARKS)
    write(Recording(["ankle", "other"], [0.0, 1.0], [[90, 1], [2, 3]], "deg"), folder / "angles.mot")
    return folder / "setup.xml"


def test_setup_files(tmp_path: Path) -> None:
    setup = read_scale_setup(files(tmp_path))
    assert setup.measurements == (Measurement("thigh", (("a", "b"), ("a", "c")), (("femur_r", "XY"),)),)
    assert setup.factors == {"pelvis": (1.0, 1.2, 0.9)}
    assert setup.order == ("factors", "measurements")
    assert (setup.mass, setup.preserve_mass_distribution, setup.times, setup.place_times) == (62.5, True, (1, 2), None)
    assert setup.weights == {"a": 3, "knee": 0.1, "hip": 5, "ankle": 1}
    assert setup.coordinates == {"knee": 0.2, "hip": None, "ankle": pytest.approx(np.pi / 2)}
    assert setup.markers == (od.Marker("a", "femur_r", (1, 2, 3)), od.Marker("b", "femur_r", (0, 0, 0), True))
    assert setup.files == {"model": tmp_path / "body.osim", "static": tmp_path / "static.trc",
                           "output": tmp_path / "subject.osim"}  # fmt: skip
    quiet = SETUP.replace("<ModelScaler>", "<ModelScaler><apply>false</apply>")
    quiet = quiet.replace("<MarkerPlacer>", "<MarkerPlacer><apply>false</apply>")
    still = read_scale_setup(files(tmp_path, quiet))
    assert (still.measurements, still.factors, still.place) == ((), {}, False)
    assert read_marker_set(tmp_path / "marks.xml")[1].fixed


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("manualScale meas", "manual meas", "line 3: <ModelScaler>.*scaling_order.*got 'manual'"),
        ("<axes>X Y<", "<axes>X W<", "line 7.*<axes> must be some of X Y Z, got 'X W'"),
        (">a b<", ">a<", "line 5: <Measurement 'thigh'>.*two names of markers"),
        ("1 1.2 0.9", "1 1,2 0.9", "line 9.*write a point, not a comma"),
        ("1 1.2 0.9", "1 -1.2 0.9", "line 9.*must be positive"),
        (">pelvis<", "><", "line 9.*names no <segment>"),
        ("<time_range>1 2", "<time_range>3 2", "must rise"),
        ("manual_value", "by_hand", "line 14.*value_type.*got 'by_hand'"),
        ("<weight>3<", "<weight>-3<", "must not be negative"),
        ('name="ankle"', 'name="ankle_r"', "line 17.*no column 'ankle_r'"),
        ("ScaleTool", "IKTool", "no setup of a scaling"),
        ("<mass>62.5", "<mass>heavy", "'heavy' is not a number"),
        ("<IKMarkerTask", "<MarkerTask", "line 12|not well-formed"),
    ],
)  # fmt: skip
def test_faults_of_setup_files_name_the_line(tmp_path: Path, old: str, new: str, text: str) -> None:
    with pytest.raises(od.ModelError) as caught:
        read_scale_setup(files(tmp_path, SETUP.replace(old, new)))
    assert re.search(text, str(caught.value)), caught.value


def test_mistakes() -> None:
    model = body()
    static = as_markers(model, posture(model, 5))
    pair = [("thigh0", "thigh1")]
    lost = Recording(static.names, static.times, np.full_like(static.values, np.nan), "m")
    coincide = model.with_markers([replace(m, point=(0, 0, 0)) for m in model.markers], replace_all=True)
    cases: list[tuple[type[Exception], str, Any]] = [
        (KeyError, "no frame 'thig'.*did you mean", lambda: scale_segments(model, {"thig": 1.1})),
        (ValueError, "0.001 to 1000, got", lambda: scale_segments(model, {"thigh": (1, -1, 1)})),
        (ValueError, "0.001 to 1000, got", lambda: scale_segments(model, {"thigh": (1, 1)})),
        (od.ModelError, "fixed to 'shank', which is stretched otherwise", lambda: scale_segments(model, {"foot": 1.1})),
        (od.ModelError, "keep_locked", lambda: scale_segments(model, {"shank": 1.1, "foot": (1.1, 1.1, 1.2)})),
        (TypeError, "three numbers by names", lambda: scale_segments(model, 1.1)),  # type: ignore[arg-type]
        (TypeError, "needs a Model", lambda: scale_segments(static, {})),  # type: ignore[arg-type]
        (ValueError, "mass", lambda: scale_segments(model, {}, mass=0)),
        (KeyError, "the recording has no marker 'thihg0'",
         lambda: segment_factors(model, static, [Measurement("m", [("thihg0", "thigh1")], {"thigh": "X"})])),
        (KeyError, "m: the model has no frame 'thihg'",
         lambda: segment_factors(model, static, [Measurement("m", pair, {"thihg": "X"})])),
        (od.ModelError, "never seen together",
         lambda: segment_factors(model, lost, [Measurement("m", pair, {"thigh": "X"})])),
        (od.ModelError, "at one place",
         lambda: segment_factors(coincide, static, [Measurement("m", pair, {"thigh": "X"})])),
        (ValueError, "no sample lies between 7 and 8", lambda: segment_factors(model, static, [], times=(7, 8))),
        (ValueError, "axes of 'thigh'", lambda: Measurement("m", pair, {"thigh": "XQ"})),
        (ValueError, "'a' twice", lambda: Measurement("m", [("a", "a")], {"thigh": "X"})),
        (ValueError, "needs a pair", lambda: Measurement("m", [], {"thigh": "X"})),
        (KeyError, "coordinates: the model has no 'kne'", lambda: place_markers(model, static, coordinates={"kne": 0})),
        (TypeError, "needs a ScaleSetup", lambda: scaled_to(model, static, {})),  # type: ignore[arg-type]
        (od.ModelError, "has no markers",
         lambda: scaled_to(model.with_markers([], replace_all=True), static, ScaleSetup())),
        (ValueError, "order must be some of", lambda: ScaleSetup(order=("measurement",))),
        (od.ModelError, "class RollingContact|class Contact",
         lambda: scale_segments(model.with_constraints([od.Contact("foot")]), FACTORS)),
    ]  # fmt: skip
    for kind, text, call in cases:
        with pytest.raises(kind) as caught:
            call()
        assert re.search(text, str(caught.value)), caught.value
