"""Places of footholds that no motion can keep: out of reach, crossed, on walls. Found before a problem is solved.

Feet that are on the ground at the same time are those of one phase, and those of two consecutive phases: at the time
between them the first ones still stand, and the others have just been set down. A place that is free has bounds; a
finding holds for all places within the bounds of the problem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from casadi import DM

from ..._base.types import Array
from ...constraints import RollingContact
from ...dynamics.kinematics import pose, resolve
from ...joints import Joint
from ...mechanism import Model
from ...mechanism.equal_models import kept_per_model
from ..statement.footholds import Foothold
from ..statement.path_constraints import FrictionCone
from ..transcription.variables import Transcription, place_corners

CLOSE = 1e-6
"""Distance within which two places are the same, and a chain of links just reaches [m]."""

CROSSED = 0.02
"""Distance by which a left foot has to be right of a right one before it is reported, as a fraction of the distance of
both hips or ankles in the neutral posture."""

DIRECTIONS = 24
"""Number of edges of the polyhedral cone by which a friction cone is replaced."""

UNBALANCED, STEPS = 0.02, 2000
"""Part of the weight that contacts may lack before they are reported, and largest number of gradient steps to find
it."""


def misplaced_footholds(transcription: Transcription) -> list[str]:
    """Sentences on footholds whose places no motion can keep, each with the names of footholds and phases."""
    if transcription.problem.model.has_symbols:
        return []
    found = [*_out_of_reach(transcription), *_crossed(transcription), *_walls(transcription)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True, eq=False)
class _Standing:
    """A foothold of a phase, and the corners (n, 3) of the range of its contact point [m]; yaws [rad] of its ends."""

    foothold: Foothold
    phase: str
    corners: Array
    headings: Array

    def __str__(self) -> str:
        return f"{self.foothold.name!r} of phase {self.phase!r}"


def _standing(transcription: Transcription, index: int) -> list[_Standing]:
    """The footholds of a phase, with the ranges of their places."""
    phase = transcription.problem.phases[index]
    found = []
    for f in phase.footholds:
        if not isinstance(f, Foothold):
            continue
        places = place_corners(transcription, f)
        corners = [np.array(DM(f.origin(DM(p))).full()).ravel() for p in places]
        ahead = [np.array(DM(f.to_world_axes(_forward(p[2]))).full()).ravel() for p in places]
        found.append(_Standing(f, phase.name, np.array(corners), np.array(ahead)))
    return found


def _forward(yaw: float) -> DM:
    return DM([np.cos(yaw), np.sin(yaw), 0.0])


def _pairs(transcription: Transcription) -> Iterator[tuple[_Standing, _Standing]]:
    """Footholds of two bodies that are on the ground at the same time."""
    model, count = transcription.problem.model, len(transcription.problem.phases)
    standing = [_standing(transcription, k) for k in range(count)]
    for k in range(count):
        together = [*standing[k], *(standing[k + 1] if k + 1 < count else [])]
        for i, a in enumerate(together):
            for b in together[i + 1 :]:
                if _body(model, a) != _body(model, b):
                    yield a, b


def _body(model: Model, a: _Standing) -> int:
    return resolve(model, a.foothold.contact.body).body


def _out_of_reach(transcription: Transcription) -> Iterator[str]:
    """Pairs of footholds that are farther from each other than the links between them are long."""
    model, told = transcription.problem.model, set()
    for a, b in _pairs(transcription):
        if frozenset((a.foothold.root, b.foothold.root)) in told:
            continue
        # Largest distance of the contact points of two footholds [m]: the sum of the links between them, stretched
        gap, reach = _gap(a.corners, b.corners), reach_of(model, end_of(model, a.foothold), end_of(model, b.foothold))
        if gap > reach + CLOSE:
            told.add(frozenset((a.foothold.root, b.foothold.root)))
            yield (
                f"foothold {b} is at least {gap:.3g} m from {a}, and both are on the ground at the same time, but the "
                f"links between them reach {reach:.3g} m: move one (x, y, plane), or lift one foot before the other is "
                "set down"
            )


def _gap(a: Array, b: Array) -> float:
    """Distance between the boxes around two sets of points [m], at most that of the sets."""
    apart = np.maximum(a.min(axis=0) - b.max(axis=0), b.min(axis=0) - a.max(axis=0))
    return float(np.linalg.norm(np.maximum(apart, 0.0)))


def end_of(model: Model, f: Foothold) -> tuple[int, float]:
    """The body of a foothold, and the largest distance of the place from its origin [m]."""
    body, _, point = f.level(model)
    rolled = f.contact.radius if isinstance(f.contact, RollingContact) else 0.0
    return body, float(np.linalg.norm(point)) + 2 * rolled


def reach_of(model: Model, a: tuple[int, float], b: tuple[int, float], limits: bool = True) -> float:
    """Largest distance [m] of two points, each on a body and at most that far from its origin; limits: of joints
    hold."""
    sides = []
    for body, start in (a, b):
        length, chain, lengths = start, [body], {body: start}
        while chain[-1]:
            child, parent = chain[-1], model.parent[chain[-1]]
            length += float(np.linalg.norm(np.array(DM(model.X_tree[child].r).full()))) + _slide(model, child, limits)
            chain.append(parent)
            lengths[parent] = length
        sides.append((chain, lengths))
    (chain, lengths), (others, further) = sides
    meet = next(body for body in chain if body in others)
    total = lengths[meet] + further[meet]
    if meet not in (chain[0], others[0]):  # at the body where both chains meet, the distance between its two joints
        hips = [np.array(DM(model.X_tree[c[c.index(meet) - 1]].r).full()) for c in (chain, others)]
        total += float(np.linalg.norm(hips[0] - hips[1])) - sum(float(np.linalg.norm(hip)) for hip in hips)
    return total


@kept_per_model
def _slide(model: Model, body: int, limits: bool) -> float:
    """Largest distance by which a joint moves the origin of its body [m]; infinite if it slides without limits."""
    joint, rng = model.joints[body], np.random.default_rng(0)
    span = model.q_slice(model.joint_names[body - 1])
    if max(_moved(joint, joint.random_q(rng)) for _ in range(2)) < CLOSE:
        return 0.0
    low, high = model.dofs.q_lower[span], model.dofs.q_upper[span]
    if not (limits and np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        return float("inf")
    return max(_moved(joint, np.array(q)) for q in product(*zip(low, high, strict=True)))


def _moved(joint: Joint, q: Array) -> float:
    """Distance by which the joint moves the origin of its body at q [m]."""
    return float(np.linalg.norm(np.array(DM(joint.jcalc(DM(q), DM(joint.nv, 1)).XJ.r).full())))


def _crossed(transcription: Transcription) -> Iterator[str]:
    """Left feet to the right of right ones, side by side in the neutral posture, at the same time on the ground."""
    model, told = transcription.problem.model, set()
    for pair in _pairs(transcription):
        names = frozenset(s.foothold.root for s in pair)
        if names in told:
            continue
        if _overlap(*pair):
            told.add(names)
            yield (
                f"footholds {pair[0]} and {pair[1]} overlap, and both are on the ground at the same time: set the feet "
                "farther apart, or correct half_length and half_width"
            )
            continue
        spots = [_neutral(model, s.foothold) for s in pair]
        (left, at_left), (right, at_right) = sorted(zip(pair, spots, strict=True), key=lambda x: -x[1][1])
        apart = at_left[1] - at_right[1]
        level = abs(at_left[2] - at_right[2]) < 0.1 * apart and min(s.foothold.plane.normal[2] for s in pair) > 0.5
        if at_left[1] * at_right[1] >= 0 or not level:
            continue
        headings = np.concatenate([left.headings, right.headings])
        ahead = headings.mean(axis=0)
        across = np.cross([0.0, 0.0, 1.0], ahead)
        size = np.linalg.norm(across)
        if size < 0.5:
            continue  # the feet point in opposite directions
        widest = float((left.corners @ across).max() - (right.corners @ across).min()) / size
        if widest < -CROSSED * apart:
            told.add(names)
            yield (
                f"footholds {left} and {right} cross: the left foot stands {-widest:.3g} m to the right of the right "
                "one, or more, while both are on the ground: exchange or widen their bounds of y (y points to the left)"
            )


def _overlap(a: _Standing, b: _Standing) -> bool:
    """Whether two flat soles on one plane overlap at all places in their bounds, by the circles inside them."""
    f, g = a.foothold, b.foothold
    if f.plane != g.plane or {f.kind, g.kind} != {"flat"}:
        return False
    inside = sum(min(foot.half_length, foot.half_width) for foot in (f, g))
    farthest = max(float(np.linalg.norm(p - q)) for p in a.corners for q in b.corners)
    return farthest < inside


def _neutral(model: Model, f: Foothold) -> Array:
    """Contact point in the neutral posture [m]."""
    R, p = pose(model, resolve(model, f.contact.body), DM(model.neutral()))
    return np.array(DM(p + R @ DM(f.point)).full()).ravel()


def _walls(transcription: Transcription) -> Iterator[str]:
    """Phases with flat feet whose contacts cannot carry weight together, because their planes are too steep."""
    model = transcription.problem.model
    gravity, told = np.array(model.gravity, dtype=float), set()
    if "slope" in transcription.slots or not np.any(gravity):
        return
    up = -gravity / np.linalg.norm(gravity)
    for phase in transcription.problem.phases:
        cones = [c for c in phase.path if isinstance(c, FrictionCone)]
        standing = [f for f in phase.footholds if isinstance(f, Foothold)]
        if not cones or len(standing) < len(phase.held) or all(f.kind == "point" for f in standing):
            continue
        cone = min(cones, key=lambda c: c.mu)
        key = frozenset(f.root for f in standing)
        if key in told or _carry(up, standing, cone):
            continue
        told.add(key)
        steep = max(standing, key=lambda f: f.kind == "flat")
        angle = np.degrees(np.arccos(np.clip(up @ np.array(steep.plane.normal), -1, 1)))
        yield (
            f"foothold {steep.name!r} of phase {phase.name!r} stands on a plane {angle:.0f} degrees steep, and "
            f"friction of mu = {cone.mu:g} holds a foot up to {_steepest(cone)}: no contact of this phase can carry "
            "the weight; check the normal of the plane (it points to the side of the foot), or add a foothold that "
            "carries"
        )


def _steepest(cone: FrictionCone) -> str:
    """The steepest plane on which friction holds a foot, in words."""
    flat, round_ = (np.degrees(np.arctan(cone.mu / root)) for root in (np.sqrt(2), 1.0))
    return (
        f"{round_:.0f} degrees"
        if cone.second_order
        else (f"{flat:.0f} degrees (the pyramid inside the cone; with FrictionCone(second_order=True) {round_:.0f})")
    )


def _carry(up: Array, feet: Sequence[Foothold], cone: FrictionCone) -> bool:
    """Whether forces in the friction cones can add up to a force along `up`: non-negative least squares."""
    edges, count = [], DIRECTIONS if cone.second_order else 4
    turns = np.pi * (0.25 + 2 * np.arange(count) / count)
    for f in feet:
        R = np.array(f.plane.R.full())
        edges += [R @ [cone.mu * np.cos(turn), cone.mu * np.sin(turn), 1.0] for turn in turns]
    A = np.array([edge / np.linalg.norm(edge) for edge in edges]).T
    x, step = np.zeros(A.shape[1]), 1.0 / np.linalg.norm(A, 2) ** 2
    for _ in range(STEPS):
        gap = A @ x - up
        if np.linalg.norm(gap) < UNBALANCED:
            return True
        x = np.maximum(0.0, x - step * A.T @ gap)
    return False
