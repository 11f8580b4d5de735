"""Helpers of several test files: models of every joint, random states, evaluation, comparison."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.joints import EULER_ORDERS
from ocp_dyn.ocp.workflows.sweeps.crews import ExecutorCrew
from ocp_dyn.spatial_algebra.rotations import rotation_about

DATA = Path(__file__).parent / "data"
REPOSITORY = Path(__file__).parents[1]


def mostly_slow(name: str, values: Iterable[Any], quick: Container[Any], **options: Any) -> pytest.MarkDecorator:
    """`parametrize` over all values, of which the quick run takes the quick ones alone."""
    return pytest.mark.parametrize(
        name, [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in values], **options
    )


TIGHT = 1e-10
"""The relative error of all comparisons that do not say why it is larger."""


def knee(q: Any) -> od.Transform:
    """A joint of no library: the origin runs along a curve while the body turns by two coupled angles."""
    flexion, slide = ca.vertsplit(q)
    E = rotation_about((0.0, 1.0, 0.0), flexion + slide**2).T @ rotation_about((0.8, 0.0, 0.6), flexion / 3).T
    return od.Transform(E, ca.vertcat(0.1 * ca.sin(flexion), slide, 0.2 * (ca.cos(flexion) - 1) + flexion * slide))


JOINTS: dict[str, od.Joint] = {
    "revolute_z": od.Revolute("z"),
    "revolute_-y": od.Revolute("-y"),
    "revolute_skew": od.Revolute((0.3, -0.5, 0.8)),
    "prismatic_x": od.Prismatic("x"),
    "prismatic_skew": od.Prismatic((-0.4, 0.2, 0.9)),
    "translation": od.Translation(),
    "spherical": od.Spherical(),
    "helical_x": od.Helical("x", pitch=0.3),
    "helical_skew": od.Helical((0.6, -0.3, 0.8, 0.15, 0.4, -0.2)),
    "cylindrical_skew": od.Cylindrical((0.2, 0.7, -0.4)),
    "universal": od.Universal("z", (0.1, 0.9, 0.3)),
    "multi_dof": od.MultiDof(
        [(0, 0, 1, 0, 0, 0), (0.6, 0, 0.8, 0.1, -0.3, 0.2), (0, 0, 0, 1, 2, 3), (1, 0, 0, 0, 0, 0)]
    ),
    "custom": od.CustomJoint(knee, ("flexion", "slide")),
    "functions": od.FunctionJoint(
        [
            od.JointAxis((0.1, 0.2, 1.0), od.SimmSpline((-1.0, -0.3, 0.2, 0.5, 1.1), (-0.9, -0.4, 0.3, 0.4, 1.2))),
            od.JointAxis((1.0, 0.3, 0.0), od.PolynomialFunction((0.2, -0.4, 0.5, 0.1)), (1,)),
            od.JointAxis((0.0, 1.0, 0.4), od.LinearFunction((0.5, -0.7), 0.2), (0, 1)),
        ],
        [od.JointAxis("x", od.SineFunction(0.3, 1.2, 0.4, 0.1), (1,)), od.JointAxis((0.2, 1.0, 0.0))],
        ("bend", "roll"),
        radii=(0.1, 0.2, 0.3),
        pose=((0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0), (0.1, -0.2, 0.3)),
    ),
    "planar": od.Planar(),
    "floating": od.FloatingBase(),
    **{f"euler_{order}": od.Euler(order) for order in EULER_ORDERS},
    **{f"floating_{order}": od.FloatingBase(f"euler_{order}") for order in EULER_ORDERS},
}

SAME = ("floating_xyz", "floating_yxz", "floating_zxy")
"""Joints without a tree: a floating base moves as `floating_zyx` does, and the trees of the Euler joints hold the
orders of angles."""

ALL_TREES: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    # each kind at the root and inside, with a branch and a fork below it
    **{k: ((k, "revolute_skew", k, "prismatic_skew", k), (0, 1, 1, 2, 3)) for k in JOINTS if k not in SAME},
    "chain": (("revolute_z", "prismatic_x", "revolute_skew", "revolute_-y"), (0, 1, 2, 3)),
    "star": (("revolute_z", "spherical", "planar", "floating"), (0, 0, 0, 0)),
    "forest": (("floating", "spherical", "revolute_z", "planar", "euler_xyz", "prismatic_x"), (0, 1, 1, 0, 4, 4)),
}
MIXED: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "screws": (("custom", "multi_dof", "helical_skew", "multi_dof", "functions", "helical_skew"), (0, 1, 2, 0, 4, 4)),
    "mixed": (("floating_zyx", "universal", "cylindrical_skew", "euler_zyx", "translation"), (0, 1, 1, 2, 3)),
    "bases": (("translation", "floating", "cylindrical_skew", "universal", "planar"), (0, 1, 2, 0, 4)),
}
"""Several kinds in one tree, so that few trees hold every kind at a root and inside."""

SIMILAR = ("revolute_-y", "revolute_skew", "prismatic_x", "prismatic_skew", "helical_x", "euler_xyz", "euler_yxz",
           "euler_zxy", *SAME)  # fmt: skip
"""Joints that tests of algorithms leave out: another one takes the same code, or the other trees hold the joint."""
TREES = ("chain", "star", "forest", *MIXED)
"""The trees on which algorithms are tested: they hold all JOINTS but SIMILAR. Files hold all of ALL_TREES."""
QUICK_TREES = ("forest", "screws")
"""Those of the quick run."""


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    return od.quaternion_matrix(ca.DM(rng.normal(size=4))).full()


def random_inertia(rng: np.random.Generator, mass: float) -> np.ndarray:
    """The inertia of some box, about its center, turned."""
    R, s = random_rotation(rng), rng.uniform(0.05, 0.2, 3) ** 2
    return R @ (mass / 3 * np.diag([s[1] + s[2], s[0] + s[2], s[0] + s[1]])) @ R.T


def add_random(builder: od.ModelBuilder, name: str, joint: od.Joint, parent: str, rng: np.random.Generator) -> None:
    mass = rng.uniform(0.5, 2.0)
    builder.add_body(
        name, joint, parent, joint_name=f"{name}_joint", origin=rng.uniform(-0.5, 0.5, 3),
        rotation=random_rotation(rng), mass=mass, com=rng.uniform(-0.2, 0.2, 3), inertia=random_inertia(rng, mass),
    )  # fmt: skip


def tree(key: str, rng: np.random.Generator | None = None) -> od.Model:
    """The tree of `ALL_TREES` or `MIXED`, of bodies `b<i>`. Without rng: one that tests share, with its Functions."""
    return seeded_tree(key) if rng is None else random_tree(key, rng)


@cache
def seeded_tree(key: str) -> od.Model:
    return random_tree(key, np.random.default_rng(7))


def random_tree(key: str, rng: np.random.Generator) -> od.Model:
    kinds, parents = (ALL_TREES | MIXED)[key]
    builder = od.ModelBuilder(key, gravity=(1.1, -2.3, -9.81))
    for i, (kind, p) in enumerate(zip(kinds, parents, strict=True), 1):
        add_random(builder, f"b{i}", JOINTS[kind], f"b{p}" if p else "world", rng)
    return builder.build()


@dataclass
class State:
    """A random state of a model."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray

    @staticmethod
    def of(model: od.Model, rng: np.random.Generator) -> State:
        return State(model.random_q(rng), *(rng.normal(size=model.nv) for _ in range(3)))


def evaluate(algorithm: Any, model: od.Model, *static: Any, args: Sequence[Any], **options: Any) -> Any:
    """An algorithm at numbers, as arrays: columns flat, matrices as they are.

    By its Function where an option is one of Functions: that takes longer to build than the numbers take.
    """
    if "input" in options.values() or {"reduce", "parameters"} & options.keys():
        results = od.function(algorithm, model, *static, **options)(*args)
    else:
        results = algorithm(model, *static, *map(ca.DM, args), **options)
    arrays = [flat(r) for r in (results if isinstance(results, tuple) else (results,))]
    return arrays[0] if len(arrays) == 1 else arrays


def flat(x: Any) -> np.ndarray:
    a = ca.DM(x).full()
    return a[:, 0] if a.shape[1] == 1 else a


def close(a: Any, b: Any, tolerance: float = TIGHT) -> None:
    """Asserts |a - b| / (1 + |b|) <= tolerance, entry by entry, and equal shapes."""
    a, b = flat(a), flat(b)
    assert a.shape == b.shape, f"shapes {a.shape} and {b.shape}"
    error = np.abs(a - b) / (1 + np.abs(b))
    good = error <= tolerance  # nan is not
    assert good.all(), f"relative error {np.max(error):.3g} > {tolerance:g}: {a[~good][:6]} is not {b[~good][:6]}"


def rate_of(expression: Any, model: od.Model, q: Any, qd: Any, qdd: Any | None = None) -> Any:
    """d/dt of an SX expression of q (and qd) along dq/dt = q_dot(q, qd), d(qd)/dt = qdd."""
    shape = expression.shape
    x = ca.vec(expression)
    dt = ca.jacobian(x, q) @ model.q_dot(q, qd)
    if qdd is not None:
        dt = dt + ca.jacobian(x, qd) @ qdd
    return ca.reshape(dt, shape)


def symbols(model: od.Model) -> tuple[ca.SX, ca.SX, ca.SX]:
    return ca.SX.sym("q", model.nq), ca.SX.sym("qd", model.nv), ca.SX.sym("qdd", model.nv)


FORMULATIONS = od.formulations
CLOSED = od.models.n_four_bar(2)
"""A closed chain, for the algorithms that take no other model."""
OF_CLOSED_CHAINS = (
    FORMULATIONS.closing_jacobian, FORMULATIONS.independent_transformation, FORMULATIONS.dependent_qd,
    FORMULATIONS.closed_chain_dynamics_a,
)  # fmt: skip
"""Algorithms of the registry that take loops only, or what is made of them."""


def closed_chain_function(algorithm: Any, **options: Any) -> ca.Function:
    """The Function of one of `OF_CLOSED_CHAINS` for the model of CLOSED."""
    model, loops, q = CLOSED.model, CLOSED.loops, CLOSED.q
    if algorithm is FORMULATIONS.closed_chain_dynamics_a:
        return od.function(
            algorithm, model, FORMULATIONS.open_by_removing(model, loops, ["coupler1", "coupler2"]), **options
        )
    if algorithm is not FORMULATIONS.closing_jacobian:
        options["independent"] = FORMULATIONS.independent_coordinates(model, loops, q)
    return od.function(algorithm, model, loops, **options)


def turn(rotvec):
    """Rotation matrix of a rotation vector by the matrix exponential: sixty terms after halving twice."""
    x, y, z = np.asarray(rotvec, dtype=float) / 4
    A = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R, term = np.eye(3), np.eye(3)
    for k in range(1, 60):
        term = term @ A / k
        R = R + term
    for _ in range(2):
        R = R @ R
    return R


def turns(axes, angles):
    """Intrinsic rotations about the named axes, one after the other."""
    R = np.eye(3)
    for axis, angle in zip(axes, np.atleast_1d(angles), strict=True):
        R = R @ turn(angle * np.eye(3)["xyz".index(axis)])
    return R


def turn_of_quaternion(q):
    """Rotation matrix of a quaternion (x, y, z, w) of any length, by its axis and angle."""
    v = np.asarray(q[:3], dtype=float)
    n = np.linalg.norm(v)
    return turn(2 * np.arctan2(n, q[3]) * v / n) if n else np.eye(3)


class Inline(Executor):
    """Does at once what it is given; stops after so many."""

    def __init__(self, most=100):
        self.tasks, self.most = [], most

    def submit(self, function, task):
        if len(self.tasks) == self.most:
            raise KeyboardInterrupt
        self.tasks.append(task)
        future = Future()
        try:
            future.set_result(function(task))
        except ValueError as error:
            future.set_exception(error)
        return future


def calls(function: Callable[[], object]) -> int:
    """The number of calls of compiled code by a function, of CasADi and of NumPy."""
    count = 0

    def profile(frame, event, argument):
        nonlocal count
        count += event == "c_call"

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


class InlineCrew(ExecutorCrew):
    """In place of a sweep's `ProcessCrew`: does its tasks at once, in this process."""

    def __init__(self, count):
        super().__init__(Inline(), count)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def with_straight_muscles(model: od.Model, count: int = 2) -> od.Model:
    """The model with muscles of three points each, between its bodies."""
    rng, names = np.random.default_rng(5), model.body_names
    muscles = []
    for k in range(count):
        ends = (names[-1], names[-1 - k % len(names)], names[k % len(names)])
        path = [od.PathPoint(f"P{j}", body, tuple(rng.uniform(-0.3, 0.3, 3))) for j, body in enumerate(ends)]
        muscles.append(od.Muscle(f"m{k}", "PathSpring", tuple(path)))
    return model.with_muscles(muscles)
