"""Algorithms on a mechanism and on the same mechanism in another description: inputs there, outputs back."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from casadi import DM
from scipy.linalg import block_diag

import ocp_dyn as od
from ocp_dyn.functions.laws import Factor, Law
from ocp_dyn.functions.quantities import Quantity
from ocp_dyn.functions.registry import REGISTRY
from ocp_dyn.functions.signature import Signature
from tests.laws.constraints import held
from tests.laws.joints import Array
from tests.laws.worlds import World, axes_of, factor, of_bodies, scaled, skew

Algorithm = Callable[..., Any]
FIRST_INPUTS = ("q", "qd", "x", "q0")
"""Parameters of algorithms behind those that are no inputs."""
Matrices = Mapping[str, Callable[[], Array]]


class OtherElements(LookupError):
    """Natural coordinates of the new world are of other points, vectors or conditions: there is nothing to compare."""


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism at a state, and what algorithms take beside it. values: inputs by name, drawn as they are needed.

    opened: bodies that open the loops. dependent: whether rows of the constraints follow from others.
    """

    model: od.Model
    q: Array
    seed: int
    constraints: tuple[od.Constraint, ...] = ()
    frame: str = "tool"
    natural: Any = None
    independent: Any = None
    opened: tuple[str, ...] = ()
    dependent: bool = False
    world: World | None = None
    values: dict[str, Array] = field(default_factory=dict)

    @cached_property
    def chain(self) -> Any:
        """The opened chain, None if no bodies open it."""
        loops = self.constraints
        return od.formulations.open_by_removing(self.model, loops, self.opened) if self.opened else None

    def rng(self, name: str) -> np.random.Generator:
        return np.random.default_rng([self.seed, *name.encode()])

    def static(self, algorithm: Algorithm) -> tuple[Any, ...]:
        """The arguments between the model and the inputs."""
        known = {"constraints": self.constraints, "frame": self.frame, "natural": self.natural, "opened": self.chain}
        found = []
        for name in list(inspect.signature(algorithm).parameters)[1:]:
            if name in FIRST_INPUTS:
                break
            if not known.get(name):
                raise NotImplementedError(
                    f"the laws have no {name!r} for {algorithm.__name__}: make one in tests/laws/cases.py, "
                    "Case.static, and a mechanism that has it in tests/test_laws.py, cases"
                )
            found.append(known[name])
        return tuple(found)

    def options(self, algorithm: Algorithm, signature: Signature) -> dict[str, Any]:
        """Options that algorithms need, and all optional inputs."""
        names = {quantity.name for quantity in signature.optional_inputs}
        takes = inspect.signature(algorithm).parameters
        found: dict[str, Any] = {"loads": od.Loads(external=self.external)} if "f_ext" in names else {}
        if "independent" in takes and takes["independent"].default is inspect.Parameter.empty:
            found["independent"] = self.independent
        if "normal" in takes and "point" in takes:
            found |= {"point": DM(self.value("p")), "normal": DM(self.values["normal"])}
        return found

    @property
    def external(self) -> tuple[str, ...]:
        """Frames that external wrenches act on."""
        model = self.model if self.world is None else self.world.old
        return (model.body_names[0], self.frame)

    def value(self, name: str) -> Array:
        return self.values[name]

    def call(self, algorithm: Algorithm, evaluate: Callable[..., Any]) -> list[Array]:
        """The outputs of an algorithm of the registry."""
        signature = REGISTRY[algorithm]
        static, options = self.static(algorithm), self.options(algorithm, signature)
        needed = [self._input(quantity, (*static, *options.values())) for quantity in signature.inputs]
        extra = {one.name: self._input(one, (*static,)) for one in signature.optional_inputs}
        results = evaluate(algorithm, self.model, static, needed, {**options, **extra})
        return [np.array(DM(x).full()) for x in (results if isinstance(results, tuple) else (results,))]

    def _input(self, quantity: Quantity, static: tuple[Any, ...]) -> DM:
        """The input as it was drawn, or carried over from the world before."""
        key = f"{quantity.name}: {quantity.law}"
        if key not in self.values:
            size = quantity.size(self.model, static, self.external)
            self.values[key] = DRAWN.get(quantity.name, _normal)(self, size)
        return DM(self.values[key])


def _normal(case: Case, size: tuple[int, int]) -> Array:
    return case.rng("any").normal(size=size)


def _other_q(case: Case, size: tuple[int, int]) -> Array:
    return np.array(od.integrate(case.model, case.q, case.rng("q1").uniform(-0.7, 0.7, case.model.nv)).full())


def _qd(case: Case, size: tuple[int, int]) -> Array:
    """Velocities; ones that keep rows that depend on each other, whose accelerations would contradict else."""
    qd = _normal(case, size)
    if len(qd) != case.model.nv or not case.dependent:
        return qd
    G = np.array(od.constraint_jacobian(case.model, case.constraints, case.q).full())
    return qd - np.linalg.pinv(G, 1e-6) @ (G @ qd)


def _x(case: Case, size: tuple[int, int]) -> Array:
    """Natural coordinates near the position, off it by what Phi feels."""
    near = np.array(od.formulations.natural_from_q(case.model, case.natural, case.q).full())
    return near + 0.01 * case.rng("x").normal(size=near.shape)


DRAWN: dict[str, Callable[[Case, tuple[int, int]], Array]] = {
    **dict.fromkeys(("q", "q0"), lambda case, size: case.q[:, None]),
    "q1": _other_q,
    "qd": _qd,
    "x": _x,
    "v": lambda case, size: case.rng("v").uniform(-0.7, 0.7, size),
    "e": lambda case, size: np.full((1, 1), 0.3),
    "s": lambda case, size: np.full((1, 1), 0.3),
    "t": lambda case, size: np.full((1, 1), 0.4),
    "h": lambda case, size: np.full((1, 1), 0.01),
}
"""Inputs that are not just any numbers."""


# The same case in a changed world


def there(case: Case, world: World) -> Case:
    """The case in the new description, without its inputs."""
    found = [held(constraint, world) for constraint in case.constraints]
    order = np.arange(len(found))
    if world.change.rows:
        order = case.rng("rows").permutation(len(found))
    constraints = tuple(one for k in order for one in found[k].constraints)
    natural = None
    if case.natural is not None:
        loops = constraints if case.opened else []
        natural = od.formulations.natural(world.model, loops, q=world.q(case.natural.q))
    A = world.A
    independent = case.independent and _independent(case, world, order, A)
    new = Case(
        world.model, world.q(case.q), case.seed, constraints, case.frame, natural, independent,
        case.opened, case.dependent, world,
    )  # fmt: skip
    new.values["normal"] = world.Q @ case.values["normal"]
    new.values["p"] = world.point(0, case.values["p"])
    return new


def _independent(case: Case, world: World, order: Array, A: Array) -> Any:
    """The same choice of independent coordinates, where every new dof is an old one."""
    sizes = [len(c.rows) for c in case.constraints]
    rows = [k for c in order for k in range(sum(sizes[:c]), sum(sizes[: c + 1]))]
    names = od.constraint_rows([one for c in order for one in held(case.constraints[c], world).constraints])
    new = {int(old): k for k, old in enumerate(np.argmax(np.abs(A), axis=1))}
    old = case.independent
    return od.formulations.IndependentCoordinates(
        world.model.qd_names, names, tuple(sorted(new[k] for k in old.independent)),
        tuple(new[k] for k in old.dependent), tuple(rows.index(k) for k in old.rows), old.pivot,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pair:
    """A case, the same case in another world, and how the indices of laws change between them."""

    old: Case
    new: Case

    @property
    def world(self) -> World:
        assert self.new.world is not None
        return self.new.world

    def matrix(self, index: str) -> Array:
        """New entries along an index by old ones; a matrix with more rows where bodies have been added."""
        if index not in self._matrices:
            raise NotImplementedError(
                f"the laws do not know the index {index!r}: add it to Pair._matrices in tests/laws/cases.py"
            )
        if index not in self.world.kept:
            self.world.kept[index] = self._matrices[index]()
        return self.world.kept[index]

    @property
    def _matrices(self) -> Matrices:
        world = self.world
        s, Q, axial = world.change.length, world.Q, np.linalg.det(world.Q) * world.Q
        bodies = range(1, world.old.nb + 1)
        return {
            "dof": lambda: world.A,
            "row": self._rows,
            "inertia": lambda: scaled({i: _inertial(world, i) for i in bodies}, world),
            "body": lambda: of_bodies(world),
            "frame": lambda: np.eye(len(self.old.external)),
            "vector": lambda: Q,
            "point": lambda: Q,
            "potential": lambda: np.eye(1),
            "motion": lambda: block_diag(axial, s * Q),
            "twist": lambda: np.block([[axial, np.zeros((3, 3))], [skew(world.d) @ axial, s * Q]]),
            "axes": lambda: axes_of(world, self.old.frame),
            "body_axes": lambda: scaled({i: world.frame(i).P for i in bodies}, world),
            "body_motion": lambda: scaled({i: block_diag(s * Q, axial) for i in bodies}, world),
            "x": self._x,
            "condition": lambda: self._conditions(lambda case: range(case.natural.m)),
            "closing": lambda: self._conditions(lambda case: case.chain.rows),
            "muscle": lambda: np.eye(len(world.old.muscles)),
            "independent": lambda: world.A[np.ix_(self.new.independent.independent, self.old.independent.independent)],
        }  # fmt: skip

    def _rows(self) -> Array:
        found = [held(constraint, self.world).rows for constraint in self.old.constraints]
        matrix = block_diag(*found)
        starts = np.cumsum([0, *(len(rows) for rows in found)])
        order = np.arange(len(found))
        if self.world.change.rows:
            order = self.old.rng("rows").permutation(len(found))
        return matrix[[k for c in order for k in range(starts[c], starts[c + 1])]]

    def _x(self) -> Array:
        """Points and unit vectors that are the same elements of the mechanism; OtherElements if others were chosen."""
        old, new, world = self.old.natural, self.new.natural, self.world
        d = old.dimension
        A = np.zeros((new.n, old.n))
        shift = np.zeros(new.n)
        turn = new.plane.T @ world.Q @ old.plane
        numbers = dict(enumerate(old.tree.body_names, 1))
        for k, one in enumerate(new.chosen):
            for j, other in enumerate(old.chosen):
                body = numbers[other.body]
                if new.tree.body_names[one.body - 1] != body or one.is_point != other.is_point:
                    continue
                sign = _same(world, other, one)
                if sign:
                    A[d * k : d * (k + 1), d * j : d * (j + 1)] = (
                        sign * turn * (world.change.length if one.is_point else 1)
                    )
                    shift[d * k : d * (k + 1)] = new.plane.T @ world.d if one.is_point else 0.0
        if A.shape[0] != A.shape[1] or not np.all(np.abs(A).sum(axis=1)):
            raise OtherElements("natural coordinates of other elements")
        world.kept["shift of x"] = shift
        return A

    def _conditions(self, rows: Callable[[Case], Any]) -> Array:
        old, new = ([case.natural.constraint_names[k] for k in rows(case)] for case in (self.old, self.new))
        if sorted(old) != sorted(new):
            raise OtherElements("other conditions of natural coordinates")
        sizes = dict(zip(self.old.natural.constraint_names, self._condition_sizes(), strict=True))
        return np.array([[sizes[o] * (n == o) for o in old] for n in new])

    def _condition_sizes(self) -> Array:
        """Factors of the conditions: powers of the length, negative where a unit vector has turned around."""
        old, new = self.old.natural, self.new.natural
        there = [new.constraint_names.index(name) for name in old.constraint_names]
        x = self.old.rng("off").normal(size=(old.n, 20))
        carried = self.matrix("x") @ x + self.world.kept["shift of x"][:, None]
        values = [np.array(n.conditions.value(DM(at)).full()) for n, points in ((old, x), (new, carried))
                  for at in points.T]  # fmt: skip
        along = sum(one * other[there] for one, other in zip(values[:20], values[20:], strict=True))
        return np.sign(along.ravel()) * self.world.change.length ** np.array(old.powers, dtype=float)

    # Quantities there and back

    def carry(self, quantity: Quantity, value: Array) -> Array:
        """An input of the old world in the new one."""
        law = Law.parse(quantity.law)
        if law.rows.index == "q":
            return self.world.q(value.ravel())[:, None]
        new = factor(self.world.change.units, law.rows.dimension) * self._push(law.rows) @ value
        if law.columns.index:
            new = new @ self._push(law.columns).T
        if law.rows.index == "x" and not any(law.rows.dimension) and not law.rows.dual:
            new = new + self.world.kept["shift of x"][:, None]
        return new

    def _origins(self) -> Array:
        """The distances by which new origins of bodies lie beside the old ones, new world axes (3 x nb)."""
        world, new = self.world, self.new.model
        found = np.zeros((3, new.nb))
        for body, name in enumerate(world.old.body_names, 1):
            R = np.array(od.pose(new, name, self.new.q)[0].full())
            found[:, new.body_names.index(name)] = -R @ world.point(body, np.zeros(3))
        return found

    def _push(self, one: Factor) -> Array:
        if one.index is None:
            return np.eye(1)
        A = self.matrix(one.index)
        return np.linalg.pinv(A).T if one.dual else A

    def _pull(self, one: Factor, size: int) -> Array:
        if one.index is None:
            return np.eye(size)
        A = self.matrix(one.index)
        return A.T if one.dual else np.linalg.pinv(A)

    def back(self, quantity: Quantity, value: Array, unit: bool = True) -> Array:
        """An output of the new world in the old one."""
        law, world = Law.parse(quantity.law), self.world
        if law.rows.index == "q":
            return np.array(world.old_q(DM(value)).full())
        if law.rows.index == "each_dof":
            return value / factor(world.change.units, law.rows.dimension)
        if law.rows.index == "point":
            value = value - world.d[:, None]
            if law.columns.index == "body":
                value = value - self._origins()
        if law.rows.index == "x" and not any(law.rows.dimension):
            self.matrix("x")
            shifted = law.columns.index is None
            value = value - world.kept["shift of x"][:, None] if shifted else value
        if law.rows.index == "potential":
            masses = np.tile([1.0] + [0.0] * 9, world.model.nb) if law.columns.index else np.array([world.model.mass])
            value = value + (np.array(world.model.gravity) @ world.d) * masses[None, :]
        scale = factor(world.change.units, law.rows.dimension) * factor(world.change.units, law.columns.dimension)
        return self._pull(law.rows, value.shape[0]) @ value @ self._pull(law.columns, value.shape[1]).T / scale


def _same(world: World, old: Any, new: Any) -> int:
    """1 if two elements are the same place or direction of the body, -1 for the opposite direction, else 0."""
    if old.is_point:
        expected = world.point(old.body, old.r)
        return int(np.linalg.norm(expected - new.r) < 1e-9 * world.change.length * (1 + np.linalg.norm(old.r)))
    expected = world.frame(old.body).P @ old.r
    along = float(expected @ new.r)
    return int(np.sign(along)) if abs(abs(along) - 1) < 1e-9 else 0


def _inertial(world: World, body: int) -> Array:
    """New inertial parameters of a body by its old ones (10 x 10)."""
    change, frame = world.change, world.frame(body)
    columns = []
    for pi in np.eye(10):
        m, h = pi[0], pi[1:4]
        I = np.array([[pi[4], pi[5], pi[7]], [pi[5], pi[6], pi[8]], [pi[7], pi[8], pi[9]]])
        moment = h - m * frame.r
        # about the new origin r: I + 2 (h . r) 1 - (h r' + r h') ... minus m (r . r 1 - r r')
        r = frame.r
        I = I - (2 * (h @ r) * np.eye(3) - np.outer(h, r) - np.outer(r, h)) + m * (r @ r * np.eye(3) - np.outer(r, r))
        I = factor(change.units, (1, 2, 0)) * frame.P @ I @ frame.P.T
        h = change.mass * change.length * frame.P @ moment
        columns.append([change.mass * m, *h, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])
    return np.array(columns).T
