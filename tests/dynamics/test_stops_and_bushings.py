"""Stops with damping, torques given as formulas, and bushings: derivatives, energies, edits, files."""

from __future__ import annotations

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base.formulas import formula
from ocp_dyn.dynamics.passive_torques import passive_derivatives
from ocp_dyn.io.json import model_from_dict, model_to_dict
from ocp_dyn.io.opensim.frames import rotation_xyz
from tests.helpers import close

RNG = np.random.default_rng(4)


def turned(seed: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """A pose not far from the identity."""
    a = np.random.default_rng(seed).uniform(-0.3, 0.3, 3)
    return tuple(rotation_xyz(a).ravel()), tuple(a[::-1])


def bare() -> od.Model:
    builder = od.ModelBuilder("machine")
    inertia = {"mass": 1.0, "com": (0.1, 0.0, 0.2), "inertia": (1.0, 1.1, 1.2)}
    builder.add_body("base", od.FloatingBase(), **inertia)
    builder.add_body("arm", od.Revolute((0, 0.6, 0.8)), "base", joint_name="elbow", origin=(0.1, 0.2, 0.3), **inertia)
    builder.add_body("hand", od.Prismatic("x"), "arm", joint_name="slide", origin=(0.1, 0.2, 0.0), **inertia)
    return builder.build()


STOP = od.CoordinateLimit("slide", 0.1, -0.2, 80.0, 50.0, 3.0, 0.07)
CUBE = od.FormulaTorque("elbow", "-20*q^3 - 0.5*qdot^2*tanh(q)")
BUSHINGS = (
    od.Bushing("base", "hand", RNG.uniform(1, 9, 6), RNG.uniform(1, 9, 6), turned(1), turned(2), "rubber"),
    od.Bushing("world", "arm", RNG.uniform(1, 9, 6), RNG.uniform(1, 9, 6)),
    od.PathSpring(
        [("world", (1, 2, 3)), ("base", (0.1, 0.2, 0.3)), ("hand", (0, 0.1, 0))], (9, 3, 2), (0.5, 1), (1, 2)
    ),
    od.PathSpring(
        along={"elbow": 2.0, "slide": -3.0}, stiffness=(5, -1, 2), rest=0.1, damping=(1, 0.2, 0.3), name="sum"
    ),
    od.WeightSupport("hand", 1.5, (0.1, 0.2, 0.3)),
)
FORMULAS_OF_X = ("3*theta_x + a; a=delta_z^2", "1 + theta_y", "delta_y^2", "delta_x*theta_z", "2", "delta_y*theta_x")
CURVES_OF_X = [od.SimmSpline((-1, -0.3, 0.2, 1), (k, 1, -0.5 * k, 2)) for k in range(6)]
MODEL = bare().with_passive([STOP, CUBE]).with_bushings(BUSHINGS)
STATES = [(0.15, 0.3), (-0.23, -0.4), (0.02, 0.2), (0.3, -0.6)]
"""Places of the slide: in a transition, in the other one, in the range, beyond."""


def state(slide: float, elbow: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    q = np.concatenate([rng.uniform(-0.3, 0.3, 3), [0.1, -0.2, 0.15, 0.9], [elbow, slide]])
    q[3:7] /= np.linalg.norm(q[3:7])
    return q, rng.normal(size=8)


@pytest.mark.parametrize("place", STATES)
@pytest.mark.slow
def test_derivatives_and_energy(place: tuple[float, float]) -> None:
    q, qd = state(*place)
    f = od.function(od.passive_force, MODEL, signature="q qd -> tau_p")
    V = od.function(od.spring_energy, MODEL.with_passive([STOP], replace_all=True), signature="q -> V_s")
    pull = od.function(od.passive_force, MODEL.with_passive([STOP], replace_all=True), signature="q qd -> tau_p")
    by_q, by_qd = passive_derivatives(MODEL, DM(q), DM(qd))
    step = 1e-6
    for k, e in enumerate(np.eye(MODEL.nv)):
        ahead, back = (MODEL.integrate(DM(q), DM(x * step * e)) for x in (1, -1))
        close(by_q[:, k], (f(ahead, qd) - f(back, qd)) / (2 * step), 1e-7)
        close(by_qd[:, k], (f(q, qd + step * e) - f(q, qd - step * e)) / (2 * step), 1e-7)
        close(pull(q, 0 * qd)[k], -(V(ahead) - V(back)) / (2 * step), 1e-7)
    x = ca.SX.sym("x", MODEL.nq)
    assert passive_derivatives(bare().with_passive([STOP]), x, ca.SX.sym("v", 8))[1].nnz() == 1


@pytest.mark.slow
def test_dampers_only_take_energy() -> None:
    """Each of them alone, with springs at rest: the power of the force is not positive."""
    for model in (bare().with_passive([STOP]), bare().with_bushings(BUSHINGS)):
        for place in STATES:
            q, qd = state(*place)
            loss = od.passive_force(model, q, qd) - od.passive_force(model, q, 0 * qd)
            assert float(ca.dot(loss, DM(qd))) <= 1e-12
    assert float(ca.dot(loss, DM(qd))) < -1


@pytest.mark.slow
def test_copies_keep_the_forces() -> None:
    q, qd = state(0.15, 0.3)
    force = od.passive_force(MODEL, q, qd)
    assert model_from_dict(model_to_dict(MODEL)) == MODEL
    assert MODEL != MODEL.with_bushings(BUSHINGS[:1], replace_all=True)
    cart = od.ModelBuilder("cart")
    cart.add_body("cart", od.Prismatic("x"), mass=1)
    both = cart.build().attach(MODEL, "cart", prefix="a_")
    assert [one.frames for one in both.bushings] == [
        ("a_base", "a_hand"), ("cart", "a_arm"), ("cart", "a_base", "a_hand"), (), ("a_hand",)
    ]  # fmt: skip
    assert both.bushings[3].coordinates == ("a_elbow", "a_slide")
    close(od.passive_force(both, np.r_[0.0, q], np.r_[0.0, qd])[1:], force)
    held = MODEL.lock_joints({"slide": 0.15})
    close(od.passive_force(held, q[:-1], np.r_[qd[:-1]])[:7], od.passive_force(MODEL, q, np.r_[qd[:-1], 0.0])[:7])
    assert MODEL.subtree("hand").bushings[0].along == (("slide", -3.0),)  # the elbow is held at 0
    assert MODEL.subtree("hand").bushings[1:] == BUSHINGS[4:]
    large = MODEL.scale(2.0, 1.0)
    bent = [0, 1, 2, 8]
    stretched = q.copy()
    stretched[bent] *= 2
    for one, other in zip(MODEL.bushings[:2], large.bushings[:2], strict=True):
        close(np.array(other.first_pose[1]), 2 * np.array(one.first_pose[1]))
    rope, total, weight = (bare().with_bushings([one]) for one in BUSHINGS[2:])
    length = np.where(MODEL.lengths[1], 1.0, 2.0)  # torques have one more length than forces
    wide = rope.with_bushings([replace(BUSHINGS[2], stiffness=9.0, damping=0.0)], replace_all=True)
    for model, factor in ((wide, 2.0 * length), (weight, length)):
        close(od.passive_force(model.scale(2.0, 1.0), stretched, 0 * qd), factor * od.passive_force(model, q, 0 * qd))
    close(od.passive_force(weight.scale(1.0, 3.0), q, qd), 3 * od.passive_force(weight, q, qd))
    close(od.passive_force(total.scale(2.0, 1.0), stretched, 0 * qd)[6], od.passive_force(total, q, 0 * qd)[6])
    far = large.with_bushings([], replace_all=True)
    assert isinstance(far.passive[0], od.CoordinateLimit)
    assert far.passive[0].upper == 0.2
    close(od.passive_force(od.reduce(MODEL), q, qd), force)


@pytest.mark.slow
def test_the_ground_of_bushings_follows_edits() -> None:
    """Bushings to the ground go where their model is attached; a part of a model has the parent as its ground."""
    q, qd = state(0.15, 0.3)
    back = od.Bushing("arm", "world", RNG.uniform(1, 9, 6), RNG.uniform(1, 9, 6))
    back = MODEL.with_bushings([*BUSHINGS[:4], back], replace_all=True)  # the weight follows the gravity of the whole
    cart = od.ModelBuilder("cart")
    cart.add_body("cart", od.Prismatic("x"), mass=1)
    for to in ("cart", "world"):
        rotation, origin = np.reshape(turned(5)[0], (3, 3)), turned(6)[1]
        both = cart.build().attach(back, to, prefix="a_", origin=origin, rotation=rotation)
        close(od.passive_force(both, np.r_[0.7, q], np.r_[0.0, qd])[1:], od.passive_force(back, q, qd), 1e-12)
    assert MODEL.subtree("base").bushings == BUSHINGS
    assert MODEL.subtree("arm").bushings == BUSHINGS[3:]


def test_mirrored_elements() -> None:
    """On the mirror image of a coordinate the torque is the mirrored one."""
    for element in (STOP, CUBE):
        image = element.mirrored({element.dof: ("other", -1.0)})
        for x, v in ((0.15, 0.4), (-0.25, 1.1), (0.4, -0.3)):
            one = element.torque({element.dof: DM(x)}) + element.loss({element.dof: DM(x)}, DM(v))
            other = image.torque({"other": DM(-x)}) + image.loss({"other": DM(-x)}, DM(-v))
            close(other, -one, 1e-13)
        assert image.mirrored({"other": (element.dof, -1.0)}) == element
    assert STOP.acting({"slide": 0.0}) == {"slide": 0.1 + 0.07}
    assert CUBE.scaled({"elbow": 2.0}).torque({"elbow": DM(0.6)}) == CUBE.torque({"elbow": DM(0.3)})
    double = CUBE.times(2.0).torque({"elbow": DM(0.3)})
    close(double, 2 * CUBE.torque({"elbow": DM(0.3)}))
    close(STOP.times(2.0).torque({"slide": DM(0.3)}), 2 * STOP.torque({"slide": DM(0.3)}))


def bent(left: float, right: float, side: float = 1.0) -> np.ndarray:
    """A place of the pair; side = -1: its mirror image."""
    legs = (left, right) if side > 0 else (right, left)
    turn = np.array([side * 0.1, -0.2, side * 0.15, 0.9])
    return np.r_[0.1, side * 0.2, 0.3, turn / np.linalg.norm(turn), legs]


@pytest.mark.slow
def test_a_bushing_on_one_side_is_not_symmetric() -> None:
    builder = od.ModelBuilder("pair")
    builder.add_body("trunk", od.FloatingBase(), mass=1, inertia=(1, 1, 1))
    for side, y in (("l", 0.1), ("r", -0.1)):
        builder.add_body(side, od.Revolute("y"), "trunk", origin=(0, y, 0), mass=1, com=(0, 0, -0.1))
    pair = builder.build()
    stiff = (0, 30.0, 0, 0, 0, 0)
    even = pair.with_bushings([od.Bushing("trunk", side, stiff) for side in ("l", "r")])
    assert ocp.mirror_map(even, loads=od.Loads(passive=True)).partners == (0, 1, 3, 2)
    legs = [name for name in pair.qd_names if name.endswith("_joint")]
    uneven = [
        pair.with_bushings([od.Bushing("trunk", "l", stiff)]),
        pair.with_bushings([od.Bushing("trunk", "l", damping=stiff)]),
        pair.with_bushings([od.PathSpring([("world", (1, 2, 3)), ("l", (0.1, 0.2, 0.3))], 20.0)]),
        pair.with_bushings([od.PathSpring(along={legs[0]: 2.0}, stiffness=3.0, damping=1.0)]),
        pair.with_bushings([od.WeightSupport("l", 0.5, (0.1, 0.2, 0.3))]),
        pair.with_bushings([od.Bushing("trunk", "l", first_pose=turned(1), laws=FORMULAS_OF_X)]),
        pair.with_bushings([od.Bushing("l", "trunk", first_pose=turned(2), laws=CURVES_OF_X)]),
        pair.with_bushings([od.Bushing("world", "l", (1, 2, 3, 40, 50, 60), (3, 2, 1, 4, 5, 6), turned(1), turned(2))]),
        pair.with_passive([od.FormulaTorque(leg, f"-{k}*qdot") for k, leg in enumerate(legs, 2)]),
    ]
    for model in uneven:
        with pytest.raises(od.ModelError, match="the passive torques"):
            ocp.mirror_map(model, loads=od.Loads(passive=True))
        twin = ocp.symmetric_twin(model)
        assert ocp.mirror_map(twin, loads=od.Loads(passive=True)).partners == (0, 1, 3, 2)
        one, image = (od.spring_energy(model, q) for q in (bent(0.2, 0.5), bent(0.2, 0.5, -1.0)))
        close(od.spring_energy(twin, bent(0.2, 0.5)), (one + image) / 2, 1e-12)


FORMULAS = {
    "1 + 2*3 - 4/8": 6.5, "-2^2": -4.0, "2^-1^2": 0.5, "2^3^2": 512.0, "(1+2)*-x": -6.0, "x^-1": 0.5, "x^0.5": 2**0.5,
    "step(x)*max(x, 3) + min(1, 2)": 4.0, "select(x - 2, 5, 7)": 7.0, "a*b; a = b + 1; b = x": 6.0,
    ".5e1 + 1.": 6.0, "atan2(1, x)": math.atan2(1, 2), "recip(square(x)) + cube(x)": 8.25, "sec(0) + erfc(0)": 2.0,
    "delta(x - 2) + abs(-x) + floor(x/3) + ceil(x/3)": 4.0, "+x": 2.0, "x x": "stands where the formula could end",
    "": "the end stands where", "2*": "the end stands where", "(1": "not closed", "sin(1, 2)": "2 arguments",
    "y": "no variable 'y'", "tang(x)": "did you mean 'tan'", "x ! 2": "'!' is no part", "1; 2": "name = formula",
    "(" * 60 + "1" + ")" * 60: "more than 50 deep", "-" * 60 + "1": "more than 50 deep", "1e999": "too large",
    "x" * 10_001: "at most 10000", "__import__(1)": "no function '__import__'", "x.real": "no part of a formula",
}  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas(text: str) -> None:
    expected = FORMULAS[text]
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            formula(text, {"x": DM(2.0)})
        return
    close(formula(text, {"x": DM(2.0)}), expected, 1e-14)
    x = ca.SX.sym("x")
    close(ca.Function("f", [x], [formula(text, {"x": x})])(2.0), expected, 1e-14)


def test_a_formula_of_many_terms_is_read() -> None:
    assert float(formula("+".join(["1"] * 4000), {})) == 4000


FAULTS = {
    "lower must not be above upper": lambda: od.CoordinateLimit("a", 0.0, 1.0, 1, 1),
    "CoordinateLimit damping must not be negative": lambda: od.CoordinateLimit("a", 1.0, 0.0, 1, 1, -1),
    "transition .* must be positive": lambda: od.CoordinateLimit("a", 1.0, 0.0, 1, 1, 0, 0),
    "only a factor of at least zero": lambda: STOP.times(-1),
    "FormulaTorque on a: there is no variable 'p'": lambda: od.FormulaTorque("a", "p"),
    "Bushing stiffness must not be negative": lambda: od.Bushing("a", "b", (-1, 0, 0, 0, 0, 0)),
    "first_pose must be": lambda: od.Bushing("a", "b", first_pose=3),
    "no frame 'hnd' in this model: did you mean 'hand'": lambda: bare().with_bushings([od.Bushing("base", "hnd")]),
    "must be an od.Bushing": lambda: bare().with_bushings([3]),
    "no frame 'hnd'": lambda: bare().with_bushings([od.PathSpring([("hnd", (0, 0, 0)), ("base", (0, 0, 0))])]),
    "no coordinate 'elbw' in this model: did you mean 'elbow'": lambda: bare().with_bushings(
        [od.PathSpring(along={"elbw": 1.0})]
    ),
    "no coordinate 'root.wx'": lambda: bare().with_bushings([od.PathSpring(along={"root.wx": 1.0})]),
    "needs two points or more, or coordinates": lambda: od.PathSpring([("a", (0, 0, 0))]),
    "rest must be one length, or two that rise": lambda: od.PathSpring(along={"a": 1}, rest=(1, 0)),
    "stiffness must be one to 3 numbers": lambda: od.PathSpring(along={"a": 1}, stiffness=(1, 2, 3, 4)),
    "each once": lambda: od.PathSpring(along=[("a", 1), ("a", 2)]),
    "points must differ from the ones before": lambda: od.PathSpring([("a", (0, 0, 1)), ("a", (0, 0, 1))]),
    "PathSpring points must be a list": lambda: od.PathSpring([("a", 1, 2)]),
    "name must be a text": lambda: od.WeightSupport("a", 1.0, name=3),  # type: ignore[arg-type]
    "laws must be six functions or formulas": lambda: od.Bushing("a", "b", laws=("1",)),
    "no variable 'theta'": lambda: od.Bushing("a", "b", laws=("theta",) * 6),
    "got 3 among them": lambda: od.Bushing("a", "b", laws=(3,) * 6),
    "must not hold NaN": lambda: od.WeightSupport("a", float("nan")),
    "PrescribedMotion knee: function": lambda: od.PrescribedMotion("knee", 3),
}  # fmt: skip


@pytest.mark.parametrize("message", FAULTS)
def test_wrong_arguments(message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        FAULTS[message]()
