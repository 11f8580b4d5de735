"""Units do not matter: a model in other units of length, mass and time gives the same numbers in these units."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.casadi_functions.registry import REGISTRY
from ocp_dyn.io.json import model_from_dict, model_to_dict
from ocp_dyn.mechanism.builder import check_inertia
from ocp_dyn.mechanism.editing import central
from ocp_dyn.mechanism.reduction import variants
from tests.helpers import JOINTS, OF_CLOSED_CHAINS, State, flat, mostly_slow, random_inertia, random_rotation

EQUAL = 1e-12
"""Relative to the largest number of an output; all models have lengths, masses and times of about 1 in SI."""


@dataclass(frozen=True)
class Units:
    """How many new units of length, mass and time make an old one: numbers in old ones grow by these factors."""

    length: float = 1.0
    mass: float = 1.0
    time: float = 1.0

    def factor(self, exponents: Any) -> Any:
        """What a number of dimension (mass, length, time) is multiplied by; of an array of them, entry by entry."""
        m, l, t = np.moveaxis(np.asarray(exponents, dtype=float), -1, 0)
        return self.mass**m * self.length**l * self.time**t


SI = Units()
UNITS = [
    Units(2.0**-20, 2.0**-20, 2.0**-20),
    Units(2.0**20, 2.0**-20, 2.0**20),
    Units(length=1e-3, mass=1e-6),
    Units(1e-6, 1e-6, 1e6),
    Units(1e6, 1e6, 1e-6),
    Units(3e-6, 7e5, 1.7e-3),
    Units(7e5, 3e-6, 1.7e3),
    Units(3e-6, 7e-5, 1.7e3),
]


# Dimensions: (mass, length, time), a row per entry

ONE, LENGTH, TIME, ENERGY = (np.array(x) for x in ((0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 2, -2)))


def lengths(joint: od.Joint) -> tuple[bool, ...]:
    """Which dofs of a joint are lengths; the entries of q that are lengths come first, or stand where their dof does."""
    match joint:
        case od.Prismatic() | od.Translation():
            return (True,) * joint.nv
        case od.Cylindrical():
            return False, True
        case od.Planar():
            return True, True, False
        case od.FloatingBase():
            return True, True, True, False, False, False
        case od.MultiDof():
            return tuple(not any(axis[:3]) for axis in joint.axes)
        case od.CustomJoint():
            return tuple(label == "slide" for label in joint.labels)
    return (False,) * joint.nv


def of_q(model: od.Model) -> np.ndarray:
    parts = [np.pad(lengths(joint), (0, joint.nq - joint.nv)) for joint in model.joints]
    return np.outer(np.concatenate(parts), LENGTH)


def of_dofs(model: od.Model) -> np.ndarray:
    """What a small step along every dof is."""
    return np.outer(np.concatenate([lengths(joint) for joint in model.joints]), LENGTH)


def table(rows: Any, columns: Any = ((0, 0, 0),)) -> np.ndarray:
    """The dimensions of a matrix of (dimension of the row) times (dimension of the column)."""
    rows, columns = np.atleast_2d(rows), np.atleast_2d(columns)
    return rows[:, None, :] + columns[None, :, :]


INERTIAL = np.array([(1, 0, 0), *[(1, 1, 0)] * 3, *[(1, 2, 0)] * 6])
MOTION = np.array([ONE] * 3 + [LENGTH] * 3)
"""Of [angular; linear] motions."""


def dimensions(model: od.Model, rows: np.ndarray, accelerated: bool, natural: Any = None) -> dict[str, np.ndarray]:
    """Dimensions of every input and output of the registry by name.

    rows: of phi. natural: natural coordinates, where there are some. accelerated: mu weighs accelerations, not forces; L = mu' tau is an energy here, mu' qdd 1/s^2.
    """
    d = of_dofs(model)
    v, a, f = d - TIME, d - 2 * TIME, ENERGY - d
    lam, Lam = ENERGY - rows, ENERGY - rows + TIME
    L = -2 * TIME if accelerated else ENERGY
    momentum = ENERGY + TIME - MOTION
    x = np.outer(natural.lengths if natural else (), LENGTH)
    Phi = np.outer(natural.powers if natural else (), LENGTH)
    return {
        "q": table(of_q(model)), "qd": table(v), "qdd": table(a), "tau": table(f),
        "mu": table(L - (a if accelerated else f)),
        "H": table(f, -a), "C": table(f), "tau_g": table(f), "C_mat": table(f, -v),
        "H_inv": table(a, -f), "Minv": table(a, -f), "qdd_c": table(a),
        "R": table([ONE] * 3, [ONE] * 3), "p": table([LENGTH] * 3),
        **dict.fromkeys(("pos", "com", "zmp"), table([LENGTH] * 3)),
        **dict.fromkeys(("vel", "com_vel"), table([LENGTH - TIME] * 3)),
        "acc": table([LENGTH - 2 * TIME] * 3),
        "J": table([LENGTH] * 3, -d), "J6": table(MOTION, -d), "J_dot": table([LENGTH - TIME] * 3, -d),
        "J_com": table([LENGTH] * 3, -d),
        "phi": table(rows), "phi_dot": table(rows - TIME), "G": table(rows, -d), "gamma": table(rows - 2 * TIME),
        "lam": table(lam), "qd_plus": table(v), "Lam": table(Lam), "residual": table(rows - 2 * TIME),
        "Y": table(f, np.tile(-INERTIAL, (model.nb, 1))),
        "dtau_dq": table(f, -d), "dtau_dqd": table(f, -v),
        "dqdd_dq": table(a, -d), "dqdd_dqd": table(a, -v), "dqdd_dtau": table(a, -f),
        "dlam_dq": table(lam, -d), "dlam_dqd": table(lam, -v), "dlam_dtau": table(lam, -f),
        "dqd_plus_dq": table(v, -d), "dqd_plus_dqd": table(v, -v),
        "dLam_dq": table(Lam, -d), "dLam_dqd": table(Lam, -v),
        "L_qq": table(L - d, -d), "L_q_qd": table(L - d, -v), "L_qd_qd": table(L - v, -v),
        "L_q_qdd": table(L - d, -a), "L_q_tau": table(L - d, -f),
        "R_B": table(np.tile(MOTION[::-1], (model.nb, 1)), -d),
        "v_B": table(np.tile(MOTION[::-1], (model.nb, 1)) - TIME),
        "Sc_B": table(np.tile(MOTION[::-1], (model.nb, 1)) - 2 * TIME),
        "R_A": table(x, -d), "Sc_A": table(x - 2 * TIME),
        "T": table(ENERGY), "V": table(ENERGY), "P": table(f + v),
        "x": table(x), "xd": table(x - TIME), "Q": table(ENERGY - x), "M": table(ENERGY - x, 2 * TIME - x),
        "xdd": table(x - 2 * TIME), "lam_x": table(ENERGY - Phi), "h": table(TIME), "error": table(ONE),
        "x_next": table(x), "xd_next": table(x - TIME), "xdd_next": table(x - 2 * TIME),
        "lam_x_next": table(ENERGY - Phi),
        "Phi": table(Phi), "Phi_x": table(Phi, -x), "c": table(Phi - 2 * TIME),
        "h_com": table(momentum), "A_G": table(momentum, -v), "h_bias": table(momentum - TIME),
        "A_G_dot": table(momentum - TIME, -v), "tau_static": table(f),
        "Y_T": table(ENERGY, np.tile(-INERTIAL, (model.nb, 1))), "Y_V": table(ENERGY, np.tile(-INERTIAL, (model.nb, 1))),
        "vel_frame": table(MOTION - TIME), "acc_frame": table(MOTION - 2 * TIME),
        "J_frame": table(MOTION, -d), "J_frame_dot": table(MOTION - TIME, -d),
        "R_all": table([ONE] * 3, [ONE] * (3 * model.nb)), "p_all": table([LENGTH] * 3, [ONE] * model.nb),
        **dict.fromkeys(("q0", "q1", "q_next", "q_s"), table(of_q(model))), "s": table(ONE), "v": table(d),
        **dict.fromkeys(("dq_next_dq", "dq_next_dv", "dv_dq0", "dv_dq1"), table(d, -d)),
    }  # fmt: skip


# Models in other units


def scaled_joint(joint: od.Joint, units: Units) -> od.Joint:
    if not isinstance(joint, od.CustomJoint):
        return joint.scaled(units.length)
    old = units.factor([LENGTH if length else ONE for length in lengths(joint)])

    def function(q: Any) -> od.Transform:
        X = joint.function(q / DM(old))
        return od.Transform(X.E, units.length * X.r)

    return od.CustomJoint(function, joint.labels)


def rebuilt(model: od.Model, units: Units) -> od.Model:
    """The model as a builder makes it from its numbers in other units, all that joints do by themselves included."""
    builder = od.ModelBuilder(model.name, gravity=units.factor(LENGTH - 2 * TIME) * np.array(model.gravity))
    d, q = units.factor(of_dofs(model)), units.factor(of_q(model))
    f = units.factor(ENERGY) / d
    by_dof = {"damping": f / d * units.time, "friction": f, "stiffness": f / d, "armature": f / d * units.time**2}
    by_dof |= {"velocity": d / units.time, "effort": f}
    fields = {"velocity": "qd_max", "effort": "tau_max"}
    for i, p in model.edges:
        own, qs = slice(*model.v_index[i : i + 2]), slice(*model.q_index[i : i + 2])
        mass, com, inertia = central(model.I[i], model.body_names[i - 1])
        X = model.X_tree[i]
        builder.add_body(
            model.body_names[i - 1], scaled_joint(model.joints[i], units), model.body_names[p - 1] if p else "world",
            joint_name=model.joint_names[i - 1], origin=units.length * flat(X.r), rotation=flat(X.E.T),
            mass=units.mass * mass, com=units.length * com, inertia=units.factor((1, 2, 0)) * inertia,
            **{key: getattr(model.dofs, fields.get(key, key))[own] * factor[own] for key, factor in by_dof.items()},
            **{key: getattr(model.dofs, field)[qs] * q[qs]
               for key, field in (("lower", "q_lower"), ("upper", "q_upper"), ("rest", "rest"))},
        )  # fmt: skip
    for name, frame in model.frames.items():
        if name not in model.body_names:
            body = model.body_names[frame.body - 1] if frame.body else "world"
            builder.add_frame(name, body, units.length * flat(frame.X.r), flat(frame.X.E.T))
    return builder.build()


def scaled_set(contacts: Sequence[od.Contact], units: Units) -> tuple[od.Contact, ...]:
    def longer(point: Any) -> Any:
        return tuple(units.length * x for x in point)

    return tuple(
        replace(c, point=longer(c.point), reference=c.reference and (c.reference[0], longer(c.reference[1])))
        for c in contacts
    )


def row_dimensions(contacts: Sequence[od.Contact]) -> np.ndarray:
    return np.array([LENGTH if ".t" in row else ONE for c in contacts for row in c.rows]).reshape(-1, 3)


class Case:
    """A model with a constraint set and a state in SI, and what is built of it in other units, kept."""

    def __init__(self, model: od.Model, contacts: Sequence[od.Contact] = ()) -> None:
        rng = np.random.default_rng(3)
        self.model = rebuilt(model, SI)
        self.contacts = tuple(contact.at(model, model.random_q(rng)) for contact in contacts)
        self.frame = model.frame_names[-1]
        self.values = {**vars(State.of(model, rng)), "mu": rng.normal(size=model.nv), "s": np.array([0.3])}
        step = rng.uniform(-1, 1, model.nv)
        self.values |= {"v": step, "q0": self.values["q"], "q1": flat(model.integrate(self.values["q"], step))}
        self._kept: dict[Units, od.Model] = {SI: self.model}

    def in_units(self, units: Units) -> od.Model:
        if units not in self._kept:
            self._kept[units] = rebuilt(self.model, units)
        return self._kept[units]

    def compare(self, algorithm: Callable[..., Any], units: Units, **options: Any) -> None:
        """The same of the model in other units as of the model in SI, reduced and not."""
        contacts = self._rows(algorithm)
        natural = od.formulations.natural(self.model) if algorithm in NATURAL else None
        dims = dimensions(
            self.model, row_dimensions(contacts), algorithm is od.forward_dynamics_second_derivatives, natural
        )
        if natural:
            q, qd = DM(self.values["q"]), DM(self.values["qd"])
            off = 0.01 * np.random.default_rng(5).normal(size=natural.n)  # else Phi is rounding alone
            self.values["x"] = flat(od.formulations.natural_from_q(self.model, natural, q)) + off
            self.values["xd"] = flat(od.formulations.natural_velocity(self.model, natural, q, qd))
            rng = np.random.default_rng(6)
            self.values |= {
                "xdd": rng.normal(size=natural.n),
                "lam_x": rng.normal(size=natural.m),
                "h": np.array([0.01]),
            }
        for reduce in (True, False):
            f, g = (self.function(algorithm, u, reduce=reduce, **options) for u in (SI, units))
            given = [self.values[name] for name in f.name_in()]
            other = [units.factor(dims[n])[:, 0] * x for n, x in zip(g.name_in(), given, strict=True)]
            for name, expected, got in zip(f.name_out(), outputs(f, given), outputs(g, other), strict=True):
                # the penalties of a step are large by nature: its factor loses six digits
                equal = 1e-6 if algorithm is od.formulations.trapezoidal_step else EQUAL
                check(f"{name}, reduce={reduce}", expected, got / units.factor(dims[name]), equal)

    def function(self, algorithm: Callable[..., Any], units: Units, **options: Any) -> ca.Function:
        static: tuple[Any, ...] = ()
        if algorithm in FRAMED:
            static = (self.frame,)
        if algorithm in CONSTRAINED:
            static = (scaled_set(self._rows(algorithm), units),)
        if algorithm in NATURAL:
            static = (od.formulations.natural(self.in_units(units)),)
        return od.function(algorithm, self.in_units(units), *static, **options)

    def _rows(self, algorithm: Callable[..., Any]) -> tuple[od.Contact, ...]:
        """The contacts; for IDc as many rows as are unactuated: of more, the least forces are a matter of units."""
        return self.contacts[:1] if algorithm is od.constrained_inverse_dynamics else self.contacts


FRAMED = (
    od.pose, od.point_position, od.point_velocity, od.point_acceleration, od.point_jacobian, od.point_jacobian_6d,
    od.point_jacobian_dot, od.frame_velocity, od.frame_acceleration, od.frame_jacobian, od.frame_jacobian_dot,
)  # fmt: skip
CONSTRAINED = (
    od.constraint_position, od.constraint_velocity, od.constraint_jacobian, od.constraint_hessian,
    od.constrained_dynamics, od.impact, od.constrained_dynamics_derivatives, od.impact_derivatives,
    od.constrained_equations, od.constrained_inverse_dynamics, od.formulations.closed_chain_dynamics,
)  # fmt: skip


EVERY = tuple(a for a in REGISTRY if a not in OF_CLOSED_CHAINS)
"""The registry, without the algorithms that take closed chains only."""
NATURAL = tuple(a for a in REGISTRY if "natural" in inspect.signature(a).parameters)
"""Algorithms on natural coordinates, which take no helical and no custom joints."""


def outputs(f: ca.Function, given: Sequence[Any]) -> list[np.ndarray]:
    return [np.array(y.full()) for y in f.call([DM(x) for x in given])]


def check(name: str, expected: np.ndarray, got: np.ndarray, equal: float = EQUAL) -> None:
    """Equal relative to the largest number, in units in which no quantity is small or large by nature."""
    assert np.all(np.isfinite(expected)), name
    error = np.abs(got - expected) / (np.abs(expected).max() or 1.0)
    assert np.all(error <= equal), f"{name}: relative error {np.max(error):.3g}"


# Models


def add(builder: od.ModelBuilder, name: str, joint: od.Joint, parent: str, rng: np.random.Generator) -> None:
    """A body of about 1 kg and 1 m, with what joints do by themselves, friction aside: its speed is given in SI."""
    mass, own = rng.uniform(1, 2), joint.nv
    builder.add_body(
        name, joint, parent, joint_name=f"to_{name}", origin=rng.uniform(-0.5, 0.5, 3), rotation=random_rotation(rng),
        mass=mass, com=rng.uniform(-0.3, 0.3, 3), inertia=5 * random_inertia(rng, mass),
        damping=rng.uniform(size=own), stiffness=rng.uniform(size=own), armature=rng.uniform(size=own),
    )  # fmt: skip


def humanoid(full: bool) -> Case:
    """A trunk that floats, legs and an arm that slides; six rows at one foot, three at the other."""
    rng = np.random.default_rng(8)
    builder = od.ModelBuilder("humanoid", gravity=(1.1, -2.3, -9.81))
    add(builder, "trunk", od.FloatingBase(), "world", rng)
    add(builder, "thigh_l", od.Revolute("y"), "trunk", rng)
    add(builder, "shank_l", od.Revolute((1, 2, 3)), "thigh_l", rng)
    add(builder, "arm", od.Prismatic("x"), "trunk", rng)
    if full:
        add(builder, "foot_l", od.Universal("y", "x"), "shank_l", rng)
        add(builder, "thigh_r", od.Spherical(), "trunk", rng)
        add(builder, "shank_r", od.Revolute("-x"), "thigh_r", rng)
        add(builder, "hand", od.Helical("x", 0.2), "arm", rng)
    ends = ("foot_l", "shank_r") if full else ("shank_l", "arm")
    builder.add_frame("sole", ends[0], (0.05, 0, -0.1))
    return Case(builder.build(), (od.Contact("sole"), od.Contact(ends[1], (0.1, 0.02, -0.1), "xyz" if full else "x")))


def kinds(key: str) -> Case:
    """A tree that has a joint of a kind at its root, inside and at a tip."""
    rng = np.random.default_rng(7)
    builder = od.ModelBuilder(key, gravity=(1.1, -2.3, -9.81))
    for name, kind, parent in (
        ("b1", key, "world"), ("b2", "revolute_skew", "b1"), ("b3", key, "b2"), ("b4", "revolute_z", "b2"),
        ("b5", key, "b1"),
    ):  # fmt: skip
        add(builder, name, JOINTS[kind], parent, rng)
    return Case(builder.build())


def drawn(rng: np.random.Generator) -> Units:
    return Units(*10.0 ** rng.uniform(-6, 6, 3))


SMALL = humanoid(full=False)


LONG = (
    od.constrained_dynamics_derivatives, od.impact_derivatives, od.forward_dynamics_second_derivatives,
)  # fmt: skip


@mostly_slow("algorithm", EVERY, [a for a in EVERY[::3] if a not in LONG], ids=lambda a: REGISTRY[a].name)
def test_every_entry(algorithm):
    SMALL.compare(algorithm, Units(3e-6, 7e-5, 1.7e3))


SHORT = (od.inverse_dynamics, od.forward_dynamics)


@mostly_slow("key", JOINTS, ("prismatic_skew", "helical_skew", "multi_dof", "custom", "floating"))
@pytest.mark.slow
def test_every_joint(key, rng):
    case = kinds(key)
    for algorithm in SHORT:
        case.compare(algorithm, drawn(rng))


@pytest.mark.slow
def test_every_second_entry_on_a_humanoid():
    case, units = humanoid(full=True), UNITS[4]
    for algorithm in EVERY[1::2]:
        if algorithm not in (*NATURAL, *LONG):
            case.compare(algorithm, units)


@pytest.mark.slow
def test_a_random_tree():
    """Joints of all kinds, in units drawn at random."""
    rng = np.random.default_rng(0)
    case = Case(od.random_tree(4, 1.6, rng=rng))
    for algorithm in EVERY:
        if algorithm not in (*CONSTRAINED, *NATURAL, *LONG):
            case.compare(algorithm, drawn(rng))


@mostly_slow("units", UNITS[:2], UNITS[1:2], ids=str)
def test_what_joints_do_by_themselves(units):
    for algorithm in (od.inverse_dynamics, od.forward_dynamics, od.forward_dynamics_crba):
        SMALL.compare(algorithm, units, loads=od.Loads(passive=True, armature=True))


# Robots of a millimeter and of a kilometer


def qdd_of(model: od.Model, **options: Any) -> np.ndarray:
    n = model.nv
    return flat(od.function(od.forward_dynamics, model, **options)(0.3 + np.arange(n), np.ones(n), np.zeros(n)))


def test_a_rod_of_a_millimeter_and_a_milligram():
    """I qdd = m g l sin q, of any size and mass."""
    for length, mass in ((1e-3, 1e-6), (1e-6, 1e-12), (1e3, 1e6)):
        builder = od.ModelBuilder("rod")
        inertia = np.array([1, 1, 0]) * mass * length**2 / 12
        builder.add_body("rod", od.Revolute("y"), mass=mass, com=(0, 0, -length / 2), inertia=inertia)
        for reduce in (True, False):
            expected = -1.5 * 9.81 / length * np.sin(0.3)
            np.testing.assert_allclose(qdd_of(builder.build(), reduce=reduce), [expected], rtol=1e-14)


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-9), (1e-6, 1e-6), (1e6, 1e6), (2e5, 3e-5)])
def test_scaled_and_reduced_models(length, mass):
    """`Model.scale` and `od.reduce` of one another, and the Function of either."""
    model = od.models.pendulum(2).scale(length, mass)
    expected = qdd_of(od.models.pendulum(2).with_gravity((0, 0, -9.81 / length)))
    for made in (model, od.reduce(model), od.reduce(od.models.pendulum(2)).scale(length, mass)):
        for reduce in (True, False):
            np.testing.assert_allclose(qdd_of(made, reduce=reduce), expected, rtol=1e-12)


def zeros(model: od.Model) -> list[Any]:
    """Where the numbers of a model are structurally zero."""
    bodies = [DM(x).sparsity() for body in model.I for x in (body.h, body.I)]
    return [*bodies, *(x.sparsity() for X in model.X_tree for x in (X.E, X.r))]


@mostly_slow(
    "make", (od.models.human, od.models.five_link_biped, od.models.chain), (od.models.five_link_biped, od.models.chain)
)
def test_as_many_structural_zeros_in_all_units(make):
    model = make(6) if make is od.models.chain else make()
    for units in UNITS:
        other = rebuilt(model, units)
        assert zeros(other) == zeros(rebuilt(model, SI))
        for one, two in zip(variants(model), variants(other), strict=True):
            assert zeros(one) == zeros(two)


URDF = """
<robot name="finger">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="{l} {n} 0" rpy="0 1.5707963267948966 0"/><mass value="{m}"/>
    <inertia ixx="{I}" iyy="{I}" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"><inertial><origin xyz="0 0 {l}"/><mass value="{m}"/>
    <inertia ixx="{I}" iyy="{I}" izz="{I}" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <origin xyz="0 -{n} {l}"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint>
  <joint name="b" type="prismatic"><parent link="upper"/><child link="tip"/><axis xyz="1 0 0"/>
    <origin xyz="{l} 0 0"/><limit effort="1" velocity="1" lower="-{l}" upper="{l}"/></joint>
</robot>
"""


@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1e-6), (1e-6, 1e-9), (1e3, 1e6), (1.0, 1.0)])
def test_urdf_and_json(length, mass, tmp_path):
    """The same structure, the same numbers in units of the robot, and files that give back every bit."""

    def load(l: float, m: float) -> od.Model:
        path = tmp_path / f"{l}.urdf"
        path.write_text(URDF.format(l=repr(l), m=repr(m), n=repr(1.7e-17 * l), I=repr(m * l * l / 10)))
        return od.load_urdf(path)

    model, whole = load(length, mass), load(1.0, 1.0)
    assert [x.nnz() for x in zeros(model)] == [x.nnz() for x in zeros(whole)]
    units = Units(length, mass)
    q, qd, tau = np.array([0.4, 0.3]), np.array([1.1, -0.7]), np.array([0.2, 0.9])
    d, f = units.factor(of_dofs(whole)), units.factor(ENERGY - of_dofs(whole))
    whole = whole.with_gravity((0, 0, -9.81 / length))
    for reduce in (True, False):
        expected = flat(od.function(od.forward_dynamics, whole, reduce=reduce)(q, qd, tau))
        got = flat(od.function(od.forward_dynamics, model, reduce=reduce)(q * d, qd * d, tau * f)) / d
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    od.save_model(model, tmp_path / "robot.json")
    assert model_to_dict(od.load_model(tmp_path / "robot.json")) == model_to_dict(model)


def test_json_of_a_long_screw():
    """A screw's advance in a file is compared beside itself, and comes back as it is written."""
    builder = od.ModelBuilder("screw")
    builder.add_body("nut", od.Helical((0, 0, 1, 0, 0, 1e6)), mass=1, inertia=(1, 1, 1))
    data = model_to_dict(builder.build())
    data["bodies"][0]["joint"]["axis"][3] = 1e-9
    assert model_to_dict(model_from_dict(data)) == data


def test_checks_of_inertias_know_no_units():
    for scale in (1e-30, 1e-12, 1.0, 1e12):
        check_inertia(scale * np.diag([1.0, 1.0, 2.0]), "body")
        for wrong in ((1, 1, 3), (-0.1, 1, 1)):
            with pytest.raises(od.ModelError, match="no body has principal moments"):
                check_inertia(scale * np.diag(np.array(wrong, dtype=float)), "body")


def test_rounding_beside_what_was_summed():
    """Numbers that cancel leave structural zeros in all units, and numbers that are only small stay."""
    for length in (1e-6, 1.0, 1e6):
        builder = od.ModelBuilder("there and back")
        builder.add_body(
            "a", od.Revolute("z"), mass=1, com=(length / 3, 1e-17 * length, 0), inertia=(1e-3 * length**2,) * 3
        )
        builder.add_body("out", od.Fixed(), "a", origin=(0.1 * length, 0.7 * length, 0), mass=0.1)
        builder.add_body(
            "b",
            od.Revolute("z"),
            "out",
            origin=(0.2 * length, -0.7 * length, 1e-20 * length),
            mass=1,
            com=(length, 0, 0),
        )
        model = builder.build()
        assert model.X_tree[2].r.nnz() == 1
        assert DM(model.I[1].h).nnz() == 2
        assert float(model.I[1].h[1]) == pytest.approx(0.07 * length)
    assert od.Inertia.from_com(1e-20, (1e-9, 0, 0), np.zeros((3, 3))).I[1, 1] == 1e-38


def test_a_joint_that_feels_a_small_entry_of_a_large_inertia():
    """What a joint feels stays beside what it does not, be this 1e15 times as large: coaxial joints, far mass centers."""
    small = 1e-2
    builder = od.ModelBuilder("coaxial")
    builder.add_body("ring", od.Revolute("z"), mass=small, inertia=(small, small, small))
    builder.add_body("mast", od.Revolute("z"), "ring", mass=1e7, com=(0, 0, 1e3), inertia=(small, small, small))
    for reduce in (True, False):
        H = od.function(od.mass_matrix, builder.build(), reduce=reduce)(np.zeros(2)).full()
        np.testing.assert_allclose(H, small * np.array([[2, 1], [1, 1]]), rtol=1e-12)


def test_axes_all_but_at_right_angles_keep_their_origins_near():
    """Files hold angles of 1.5708: where the axes meet, 3e5 m away, is no place for an inertia's origin."""
    builder = od.ModelBuilder("rounded")
    for k in range(4):
        R = od.rpy_matrix((1.5708, 1e-8, 0.3 * k))
        builder.add_body(
            f"b{k}", od.Revolute("z"), f"b{k - 1}" if k else "world", origin=(0.3, 0.2, 0.4), rotation=R, mass=1,
            com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.15),
        )  # fmt: skip
    model = builder.build()
    for reduced in (od.reduce(model), *variants(model)):
        assert max(np.abs(X.r.full()).max() for X in reduced.X_tree) < 10
        for f in (od.inverse_dynamics, od.forward_dynamics):
            state = (np.arange(4) + 0.3, np.ones(4), np.arange(4))
            one, two = (flat(od.function(f, m, reduce=False)(*state)) for m in (reduced, model))
            np.testing.assert_allclose(one, two, rtol=1e-11)


def test_through_the_emitter():
    """Machine code of a micro-robot: its tiny constants are not taken for zeros, nor for one another."""
    units = Units(3e-6, 7e-5, 1.7e3)
    dims = dimensions(SMALL.model, np.zeros((0, 3)), False)
    functions = [SMALL.function(a, units) for a in (od.inverse_dynamics, od.forward_dynamics, od.mass_matrix)]
    x = ca.SX.sym("x")
    tiny = ca.Function("tiny", [x], [1e-20 * x, 1.1e-20 * x, 1e-20 + 0 * x, x + 1e-300, 0 * x])
    code = od.codegen.compile([*functions, tiny], lanes=1, threads=1)
    for f in functions:
        given = [units.factor(dims[n])[:, 0] * SMALL.values[n] for n in f.name_in()]
        got = np.asarray(code[f.name()](*(x[None] for x in given)))[0]
        factor = units.factor(dims[f.name_out(0)])
        check(f.name(), outputs(f, given)[0] / factor, got.reshape(factor.shape[:2]) / factor)
    assert [float(np.squeeze(y)) for y in code["tiny"](np.array([[2.0]]))] == [2e-20, 2.2e-20, 1e-20, 2.0, 0.0]


@pytest.mark.parametrize("length", [1e-6, 1e-3, 1e4])
def test_inverse_kinematics_of_small_and_large_arms(length):
    """As many steps to the same angles, where the tolerance is in units of the arm."""
    start, target = (0.3, 0.5, -0.2), np.array((0.7, 0.0, -1.1))
    found, expected = (
        od.inverse_kinematics(model, od.PointTarget(model.frame_names[-1], l * target), start, tolerance=1e-10 * l)
        for model, l in ((od.models.pendulum(3).scale(length), length), (od.models.pendulum(3), 1.0))
    )
    assert (found.reached, found.iterations) == (expected.reached, expected.iterations) == (True, found.iterations)
    np.testing.assert_allclose(found.q, expected.q, atol=1e-9)
