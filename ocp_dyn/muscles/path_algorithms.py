"""Lengths, moment arms and speeds of muscles, and the torques of their tensions, on numbers and expressions.

Straight paths are exact, all others the polynomials of `paths.smooth`. With the length l(q) of a path and the tension F
of its muscle:

    r = -dl/dq,   dl/dt = -r qd,   tau = r' F   (power: tau' qd = -F' dl/dt).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from casadi import DM, SX

from .._base.checks import positive
from .._base.types import Expr, M, Numbers, as_type, cast_to_matrix
from ..mechanism import Model, Muscle
from ..mechanism.boundary import checks_arguments
from .paths.bodies import entry_of, placed
from .paths.geometry import Path
from .paths.polynomials import Basis, Exponents
from .paths.smooth import TOLERANCE, smooth_paths
from .paths.smooth_path import Pieces


@checks_arguments()
def muscle_lengths(model: Model, q: M | Numbers, *, tolerance: float = TOLERANCE) -> M:
    """l (muscles) [m]: lengths of the paths, in the order of `model.muscle_names`.

    tolerance: RMS of the error of moment arms that the polynomials of paths that bend may have [m]; see
    `od.muscles.path_report`. ModelError where the path of a muscle cannot be fitted, see `od.muscles.path_faults`.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> od.muscle_lengths(arm.with_muscles([od.Muscle("flexor", "PathSpring", path)]), [0.0, 0.0])
    DM(0.7)
    """
    smooth = _Smooth(model, cast_to_matrix(q), positive(tolerance, "tolerance [m]"))
    return as_type(ca.vertcat(*smooth.lengths()) if model.muscles else type(smooth.q)(0, 1), q)


@checks_arguments()
def moment_arms(model: Model, q: M | Numbers, *, tolerance: float = TOLERANCE) -> M:
    """r = -dl/dq (muscles x nv) [m, for dofs that are lengths 1]: positive where the muscle shortens as q grows.

    Structurally zero for dofs that a path does not cross. Where coordinates are coupled by constraints these are the
    arms of the tree: with qd = A v of the independent velocities v those of the coupled mechanism are r A.
    tolerance: as in `muscle_lengths`.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> od.moment_arms(arm.with_muscles([od.Muscle("flexor", "PathSpring", path)]), [0.0, 0.0])
    DM([[00, -0.03]])
    """
    smooth = _Smooth(model, cast_to_matrix(q), positive(tolerance, "tolerance [m]"))
    r = type(smooth.q)(len(model.muscles), model.nv)
    for k, slopes in enumerate(smooth.slopes()):
        for dof, slope in slopes.items():
            r[k, dof] = -slope
    return as_type(r, q)


@checks_arguments()
def muscle_speeds(model: Model, q: M | Numbers, qd: M | Numbers, *, tolerance: float = TOLERANCE) -> M:
    """dl/dt = -r qd (muscles) [m/s]: positive where a muscle lengthens. tolerance: as in `muscle_lengths`.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> od.muscle_speeds(arm.with_muscles([od.Muscle("flexor", "PathSpring", path)]), [0.0, 0.0], [0.0, 2.0])
    DM(0.06)
    """
    smooth = _Smooth(model, cast_to_matrix(q), positive(tolerance, "tolerance [m]"))
    speeds = smooth.speeds(cast_to_matrix(qd))
    return as_type(ca.vertcat(*speeds) if speeds else type(smooth.q)(0, 1), q)


@checks_arguments()
def muscle_torques(model: Model, q: M | Numbers, F_mt: M | Numbers, *, tolerance: float = TOLERANCE) -> M:
    """tau = r' F (nv) [N m, N]: generalized forces of the tensions F (muscles) [N]; a tension pulls where it is
    positive. tolerance: as in `muscle_lengths`.

    Fewer operations than the product with `moment_arms`: polynomials over the same coordinates are added first.

    >>> path = (od.PathPoint("P1", "link1", (0.03, 0, -0.4)), od.PathPoint("P2", "link2", (0.03, 0, -0.1)))
    >>> od.muscle_torques(arm.with_muscles([od.Muscle("flexor", "PathSpring", path)]), [0.0, 0.0], [100.0])
    DM([00, -3])
    """
    smooth = _Smooth(model, cast_to_matrix(q), positive(tolerance, "tolerance [m]"))
    F = cast_to_matrix(F_mt)
    tau = type(F if isinstance(smooth.q, DM) else smooth.q)(model.nv, 1)
    for dof, force in smooth.torques(F).items():
        tau[dof] = force
    return as_type(tau, F if isinstance(q, DM) else q)


class PathFunction(NamedTuple):
    """The path of one muscle as a function of the coordinates that it crosses: entries of q and of qd, one for one, and
    (q entries) -> length, its slopes by these entries, a column."""

    entries: tuple[int, ...]
    dofs: tuple[int, ...]
    function: ca.Function


def path_functions(model: Model, names: Sequence[str], q: SX) -> list[PathFunction]:
    """The smooth paths of these muscles, each by itself; none if one crosses a joint with a quaternion. q: symbols."""
    smooth, found = _Smooth(model, q, TOLERANCE), []
    lengths, slopes = smooth.lengths(), smooth.slopes()
    quaternions = (i for i, _ in model.edges if model.joints[i].has_quaternion)
    turned = {entry for i in quaternions for entry in range(model.q_index[i], model.q_index[i + 1])}
    for name in names:
        k = model.muscle_names.index(name)
        column = ca.vertcat(lengths[k], *slopes[k].values())
        entries = tuple(sorted(set(ca.jacobian_sparsity(column, q).get_col())))
        if turned & set(entries):
            return []
        dofs = tuple(entry_of(model, model.q_names[entry])[1] for entry in entries)
        by = ca.vertcat(SX(0, 1), *(ca.densify(SX(slopes[k].get(dof, 0.0))) for dof in dofs))
        function = ca.Function(name, [q[list(entries)]], [lengths[k], by], {"cse": True})
        found.append(PathFunction(entries, dofs, function))
    return found


class _Smooth:
    """The smooth paths of a model at one configuration, with what they share."""

    def __init__(self, model: Model, q: Expr, tolerance: float) -> None:
        self.model, self.q = model, q
        self.paths = smooth_paths(model, tolerance)
        self._straight = _Straight(model, q)
        self._fitted: dict[Any, _Fitted] = {}

    def _over(self, pieces: Pieces) -> _Fitted:
        key = (pieces.box, pieces.couplings)
        if key not in self._fitted:
            self._fitted[key] = _Fitted(self.model, self.q, pieces)
        return self._fitted[key]

    def _all(self) -> Iterator[tuple[int, Muscle, Pieces | None]]:
        yield from ((k, *pair) for k, pair in enumerate(zip(self.model.muscles, self.paths.pieces, strict=True)))

    def lengths(self) -> list[Expr]:
        """Lengths of all paths."""
        return [
            self._straight.length(muscle) if pieces is None else self._over(pieces).length(pieces)
            for _, muscle, pieces in self._all()
        ]

    def slopes(self) -> list[dict[int, Expr]]:
        """dl/dq of all paths, by dof."""
        return [
            self._straight.slopes(muscle) if pieces is None else self._over(pieces).slopes(pieces)
            for _, muscle, pieces in self._all()
        ]

    def speeds(self, qd: Expr) -> list[Expr]:
        """dl/dt of all paths."""
        found: list[Expr] = []
        for _, muscle, pieces in self._all():
            if pieces is not None:
                found.append(self._over(pieces).speed(pieces, qd))
                continue
            speed: Expr = 0.0
            for dof, slope in self._straight.slopes(muscle).items():
                speed = speed + slope * qd[dof]
            found.append(speed)
        return found

    def torques(self, F: Expr) -> dict[int, Expr]:
        """Generalized forces by dof, -dl/dq F."""
        tau: dict[int, Expr] = {}
        for k, muscle, pieces in self._all():
            if pieces is not None:
                self._over(pieces).load(pieces, F[k])
                continue
            for dof, slope in self._straight.slopes(muscle).items():
                tau[dof] = tau.get(dof, 0.0) - slope * F[k]
        for over in self._fitted.values():
            for dof, force in over.loads().items():
                tau[dof] = tau.get(dof, 0.0) - force
        return tau


class _Line(NamedTuple):
    """A straight piece between points of two bodies: where it starts, and the way to its end."""

    first: int
    last: int
    start: Expr
    way: Expr


class _Straight:
    """Paths that are chains of straight lines, through the poses of the bodies between their ends."""

    def __init__(self, model: Model, q: Expr) -> None:
        self.model, self.q = model, q
        self._poses: dict[Any, list[Expr]] = {}

    def _pieces(self, muscle: Muscle) -> tuple[float, list[_Line], dict[int, tuple[Expr, Expr]], Path]:
        """The length of the pieces within single bodies, the pieces between bodies in the axes of the base, and the
        twists of the dofs."""
        path = Path(self.model, muscle)
        bodies = path.bodies
        key = (bodies.base, bodies.joints)
        if key not in self._poses:
            self._poses[key] = bodies.function.call([self.q]) if bodies.joints else []
        values = self._poses[key]
        poses = {body: (values[2 * k], values[2 * k + 1]) for k, body in enumerate(bodies.joints)}
        twists = {dof: values[2 * len(bodies.joints) + k] for k, dof in enumerate(bodies.dofs)}
        points = [placed(self.model, p.body, p.point) for p in muscle.path]  # type: ignore[union-attr, arg-type]
        within, lines = 0.0, []
        for (a, start), (b, end) in pairwise(points):
            if a == b:
                within += float(np.linalg.norm(end - start))
                continue
            places = [R @ DM(at) + p for (R, p), at in (
                (poses.get(a, (DM.eye(3), DM(3, 1))), start), (poses.get(b, (DM.eye(3), DM(3, 1))), end))]  # fmt: skip
            lines.append(_Line(a, b, places[0], places[1] - places[0]))
        return within, lines, {dof: (x[:3], x[3:]) for dof, x in twists.items()}, path

    def length(self, muscle: Muscle) -> Expr:
        """The sum of the lengths of the pieces."""
        within, lines, _, _ = self._pieces(muscle)
        return within + _sum(ca.norm_2(line.way) for line in lines)

    def slopes(self, muscle: Muscle) -> dict[int, Expr]:
        """dl/dq by dof: the unit vectors of the pieces act on the bodies of their ends."""
        _, lines, twists, path = self._pieces(muscle)
        moment: dict[int, Expr] = {}
        force: dict[int, Expr] = {}
        for line in lines:
            e = line.way / ca.norm_2(line.way)
            n = ca.cross(line.start, e)
            for body, sign in ((line.first, 1.0), (line.last, -1.0)):
                force[body] = force.get(body, 0.0) + sign * e
                moment[body] = moment.get(body, 0.0) + sign * n
        found = {}
        for dof, behind in zip(path.bodies.dofs, path.bodies.behind, strict=True):
            moved = sorted(behind & force.keys())
            if moved:
                w, v = twists[dof]
                f, n = sum(force[body] for body in moved), sum(moment[body] for body in moved)
                found[dof] = -(ca.dot(w, n) + ca.dot(v, f))
        return found


class _Fitted:
    """Polynomials over one box: l = P(x) + sum of P_c(x) delta_c, delta_c = q_c - scale f(q_other) for coordinates that
    are coupled to others."""

    def __init__(self, model: Model, q: Expr, pieces: Pieces) -> None:
        self.pieces = pieces
        entries = pieces.box.entries
        self.basis = Basis(pieces.box, [q[k] for k in entries])
        self.dofs = [entry_of(model, model.q_names[k])[1] for k in entries]
        self.follows = [entry_of(model, model.q_names[one.entry])[1] for one in pieces.couplings]
        self.places = [entries.index(one.other) for one in pieces.couplings]
        values = [one.function.orders(q[one.other]) for one in pieces.couplings]
        pairs = list(zip(pieces.couplings, values, strict=True))
        self.delta = [q[one.entry] - one.scale * value.value for one, value in pairs]
        self.bend = [one.scale * value.slopes[0] for one, value in pairs]
        self._rates: dict[Exponents, Expr] = {}
        self._weights: list[dict[Exponents, Expr]] = [{} for _ in range(1 + len(pieces.couplings))]

    def _polynomials(self, pieces: Pieces) -> list[dict[Exponents, float]]:
        """Terms of the polynomial of the length, and of those of the couplings."""
        return [dict(zip(*one, strict=True)) for one in (pieces.length, *pieces.coupled)]

    def length(self, pieces: Pieces) -> Expr:
        """The length of a path."""
        values = [_sum(c * self.basis.value(e) for e, c in one.items()) for one in self._polynomials(pieces)]
        return values[0] + _sum(value * delta for value, delta in zip(values[1:], self.delta, strict=True))

    def slopes(self, pieces: Pieces) -> dict[int, Expr]:
        """dl/dq by dof."""
        return self._slopes(self._polynomials(pieces))

    def _slopes(self, terms: Any) -> dict[int, Expr]:
        found: dict[int, Expr] = {}
        for k, dof in enumerate(self.dofs):
            by = [_sum(c * self.basis.slope(e, k) for e, c in one.items() if e[k]) for one in terms]
            found[dof] = by[0] + _sum(one * delta for one, delta in zip(by[1:], self.delta, strict=True))
        for j, dof in enumerate(self.follows):
            value = _sum(c * self.basis.value(e) for e, c in terms[1 + j].items())
            found[dof] = value
            other = self.dofs[self.places[j]]
            found[other] = found[other] - value * self.bend[j]
        return found

    def _rate(self, e: Exponents, qd: Expr) -> Expr:
        """Time derivative of a product."""
        if e not in self._rates:
            self._rates[e] = _sum(self.basis.slope(e, k) * qd[dof] for k, dof in enumerate(self.dofs) if e[k])
        return self._rates[e]

    def speed(self, pieces: Pieces, qd: Expr) -> Expr:
        """dl/dt: rates of the products are shared by all paths over the box."""
        terms = self._polynomials(pieces)
        rates = [_sum(c * self._rate(e, qd) for e, c in one.items() if any(e)) for one in terms]
        total = rates[0]
        for j, dof in enumerate(self.follows):
            value = _sum(c * self.basis.value(e) for e, c in terms[1 + j].items())
            d_delta = qd[dof] - self.bend[j] * qd[self.dofs[self.places[j]]]
            total = total + rates[1 + j] * self.delta[j] + value * d_delta
        return total

    def load(self, pieces: Pieces, F: Expr) -> None:
        """Adds a path with its tension: the polynomial of the sum of all lengths times their tensions."""
        for weights, terms in zip(self._weights, self._polynomials(pieces), strict=True):
            for e, c in terms.items():
                weights[e] = weights.get(e, 0.0) + c * F

    def loads(self) -> dict[int, Expr]:
        """dl/dq by dof of the sum of lengths times tensions."""
        return self._slopes(self._weights)


def _sum(terms: Iterator[Expr]) -> Expr:
    total: Expr = 0.0
    for term in terms:
        total = total + term
    return total
