"""The laws themselves: mechanisms for every algorithm of the registry, changes of their description, the comparison."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from casadi import DM

import ocp_dyn as od
from ocp_dyn.functions.laws import Law
from ocp_dyn.functions.registry import REGISTRY
from tests.helpers import JOINTS, add_random, with_straight_muscles
from tests.laws import constraints
from tests.laws.cases import Case, Pair, there
from tests.laws.worlds import Change, World

EQUAL = 1e-8
"""Relative to the largest number of an output, or to 1, in units in which mechanisms have lengths, masses and times of
about 1."""
LOOSE = {"NC_step": 1e-6}
"""The penalties of a step are large by nature: its factor loses six digits."""

ONE_BY_ONE = {
    "turned": Change(turned=True),
    "mirrored": Change(mirrored=True),
    "moved by 1 km": Change(shift=1000.0),
    "frames elsewhere": Change(frames=0.4),
    "bodies in another order": Change(bodies=True),
    "rows in another order": Change(rows=True),
    "joints split": Change(split=True),
}
UNITS = {f"{what} by {size:g}": Change(**{what: size}) for what in ("length", "mass", "time") for size in (1e-3, 1e3)}
AT_ONCE = Change(3e-4, 4e3, 7e-2, turned=True, mirrored=True, shift=10.0, frames=0.4, bodies=True, rows=True)


def mechanism(kinds: tuple[str, ...], rng: np.random.Generator) -> od.Model:
    """A random tree of these joints, with a frame on a body and one in the world."""
    builder = od.ModelBuilder("mechanism", gravity=(1.1, -2.3, -9.81))
    for k, kind in enumerate(kinds):
        parent = f"b{rng.integers(max(0, k - 2), k)}" if k else "world"
        add_random(builder, f"b{k}", JOINTS[kind], parent, rng)
    builder.add_frame("tool", f"b{len(kinds) - 1}", rng.uniform(-0.3, 0.3, 3), od.rpy_matrix(rng.uniform(-1, 1, 3)))
    builder.add_frame("ground", "world", rng.uniform(-0.3, 0.3, 3), od.rpy_matrix(rng.uniform(-1, 1, 3)))
    return with_straight_muscles(builder.build())


@cache
def case(kinds: tuple[str, ...], what: str, seed: int, distance: float | None = None) -> Case:
    """A mechanism with what some of the algorithms take: constraints of a kind, or natural coordinates."""
    rng = np.random.default_rng([seed, *what.encode()])
    model = mechanism(kinds, rng)
    q, found, natural, chosen = model.random_q(rng), (), None, None
    if what == "independent rows":
        found = constraints.independent(model, q, rng)
    if what == "dependent rows":
        found = constraints.dependent(model, q, rng, distance)
    if what == "loops":
        found = constraints.loops(model, q, rng)
        chosen = od.formulations.independent_coordinates(model, found, q)
    if what == "a held body":
        found = (od.Contact("tool").at(model, q),)
    if what == "natural coordinates":
        natural = od.formulations.natural(model, q=q)
    made = Case(model, q, seed, found, natural=natural, independent=chosen, dependent=what == "dependent rows")
    return given(made, rng)


@cache
def closed(seed: int) -> Case:
    """A closed chain that the removal of bodies opens."""
    bar = od.models.n_four_bar(2)
    model = bar.model.with_frame("tool", "coupler1", (0.1, 0.2, 0.3))
    q = np.array(bar.q)
    natural = od.formulations.natural(model, bar.loops, q=q)
    made = Case(model, q, seed, tuple(bar.loops), natural=natural, opened=("coupler1", "coupler2"))
    return given(made, np.random.default_rng(seed))


def given(made: Case, rng: np.random.Generator) -> Case:
    made.values.update(normal=rng.normal(size=3), p=rng.normal(size=3))
    return made


@cache
def pair(old: Case, change: Change) -> Pair:
    return Pair(old, there(old, World.of(old.model, change, old.rng("world"))))


def numbers(algorithm: Any, model: od.Model, static: Any, needed: list[DM], options: dict[str, Any]) -> Any:
    """An algorithm at numbers."""
    return algorithm(model, *static, *needed, **options)


def function_of(algorithm: Any, model: od.Model, static: Any, options: dict[str, Any]) -> tuple[ca.Function, list[DM]]:
    """The algorithm's Function, on the model of fewest operations, and its optional inputs."""
    given = {name: options[name] for name in ("e", "t", "f_ext") if name in options}
    chosen = {name: value for name, value in options.items() if name not in given}
    f = od.function(algorithm, model, *static, **chosen, **{name: "input" for name in given if name != "f_ext"})
    return f, [given[name] for name in f.name_in() if name in given]


def by_function(algorithm: Any, model: od.Model, static: Any, needed: list[DM], options: dict[str, Any]) -> Any:
    """Its Function at numbers."""
    f, given = function_of(algorithm, model, static, options)
    return f(*needed, *given)


def by_expressions(kind: type) -> Any:
    """Its expressions of SX or MX, evaluated; what is given by name stays numbers."""

    def evaluate(algorithm: Any, model: od.Model, static: Any, needed: list[DM], options: dict[str, Any]) -> Any:
        symbols = [kind.sym(f"x{k}", *x.shape) for k, x in enumerate(needed)]
        results = algorithm(model, *static, *symbols, **options)
        results = results if isinstance(results, tuple) else (results,)
        assert all(isinstance(x, kind) for x in results)
        return tuple(ca.Function("f", symbols, list(results)).call(needed))

    return evaluate


def check(algorithm: Any, old: Case, change: Change, evaluate: Any = numbers) -> None:
    """Outputs in the new world are those in the old one, by the laws of their quantities."""
    signature = REGISTRY[algorithm]
    found = errors(algorithm, pair(old, change), evaluate)
    for quantity, error in zip(signature.outputs, found, strict=True):
        limit = LOOSE.get(signature.name, EQUAL)
        assert error <= limit, f"{signature.name}, {quantity.name}: relative error {error:.3g}, {change}"


def errors(algorithm: Any, both: Pair, evaluate: Any) -> list[float]:
    """The largest relative error of every output, carried back from the new world."""
    signature, old = REGISTRY[algorithm], both.old
    expected = kept(old, algorithm, evaluate)
    for one in (*signature.inputs, *signature.optional_inputs):
        key = f"{one.name}: {one.law}"
        both.new.values[key] = both.carry(one, old.values[key])
    found, worst = both.new.call(algorithm, evaluate), list[float]()
    for quantity, here, other in zip(signature.outputs, expected, found, strict=True):
        here, back = comparable(quantity, here, both.back(quantity, other), both)
        worst.append(float(np.abs(back - here).max(initial=0.0) / max(1.0, np.abs(here).max(initial=0.0))))
    return worst


@cache
def kept(old: Case, algorithm: Any, evaluate: Any) -> list[np.ndarray]:
    return old.call(algorithm, evaluate)


def comparable(quantity: Any, here: Any, back: Any, both: Pair) -> tuple[Any, Any]:
    """Numbers that must be equal in the two: quaternions up to their sign, powers joint by joint, forces where rows
    depend on each other by the force on the joints."""
    law, model = Law.parse(quantity.law), both.old.model
    if law.rows.index == "q":
        step = np.array(DM(od.difference(model, here, back)).full())
        return np.zeros_like(step), step
    if law.rows.index == "each_dof":
        parts = [model.qd_slice(name) for name in model.joint_names]
        theirs = [np.any(both.world.A[:, part], axis=1) for part in parts]
        return np.array([here[part].sum() for part in parts]), np.array([back[part].sum() for part in theirs])
    if law.rows.index == "row" and law.rows.dual and both.old.dependent:
        if law.columns.index:
            return np.zeros(1), np.zeros(1)
        G = np.array(od.constraint_jacobian(model, both.old.constraints, both.old.q).full())
        return G.T @ here, G.T @ back
    return here, back


FREE = (
    ("floating", "revolute_skew", "universal", "prismatic_skew"),
    ("planar", "helical_skew", "spherical", "revolute_z"),
    ("cylindrical_skew", "euler_zyx", "custom", "prismatic_x"),
    ("translation", "multi_dof", "revolute_-y", "helical_x"),
)
"""Joints of mechanisms; together all kinds of them, but for the orders of Euler angles."""
WITHOUT_SCREWS = ("euler_xyz", "revolute_skew", "cylindrical_skew", "spherical")
"""Joints that natural coordinates take."""
SINGLE = ("revolute_skew", "prismatic_skew", "revolute_z", "helical_skew", "revolute_-y")
CLOSING = ("closing_jacobian", "closed_chain_dynamics", "independent_transformation", "dependent_qd")
"""Algorithms on loops that do not depend on time."""


def cases(algorithm: Any, seed: int) -> list[Case]:
    """Mechanisms for an algorithm, with what it takes beside them."""
    takes = inspect.signature(algorithm).parameters
    kinds = FREE[seed % len(FREE)]
    if "opened" in takes:
        return [closed(seed)]
    if "natural" in takes:
        return [case(WITHOUT_SCREWS, "natural coordinates", seed)]
    if algorithm is od.constrained_inverse_dynamics:  # of more rows the least forces are a matter of units
        return [case(("floating", *kinds[1:]), "a held body", seed)]
    if algorithm.__name__ in CLOSING:
        return [case(SINGLE, "loops", seed)]
    if "constraints" in takes:
        return [case(kinds, what, seed) for what in ("independent rows", "dependent rows")]
    return [case(kinds, "alone", seed)]


def changes(algorithm: Any) -> tuple[Change, ...]:
    """All changes at once, and what does not go with them."""
    if {"natural", "opened"} & set(inspect.signature(algorithm).parameters):  # other frames, other natural coordinates
        return (replace(AT_ONCE, frames=0.0, bodies=False),)
    return AT_ONCE, Change(split=True)
