"""Left-right symmetric versions of nearly symmetric robots, for gaits whose left steps mirror the right steps."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
from casadi import DM

from .._base.checks import choice, positive
from .._base.types import Array, sparse
from ..dynamics.kinematics import body_transforms, point_position, pose
from ..mechanism import BodySpring, Bushing, Frame, Model
from ..mechanism.boundary import checks_arguments
from ..mechanism.parts import UNTURNED, WORLD
from ..mechanism.passive import PassiveElement, Pose
from ..spatial_algebra.spatial import Inertia, Transform
from .mirror import PASSIVE, REFLECTION, ROTORS, MirrorMap, kinematic_mirror, match_bodies, uneven_dof
from .muscles import with_even_muscles

UPRIGHT = {
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}
"""Rotations that take an axis of the base frame to z, by the name of this axis."""


@checks_arguments()
def symmetric_twin(model: Model, tolerance: float = 0.2) -> Model:
    """A symmetric copy of the model: inertia and pose of every body are averaged with its partner's mirror image.

    Poses are those of the neutral posture. Springs and their rest positions, passive torques, bushings, damping,
    friction and armature of the joints and muscles are averaged too, and both partners get the tighter limits of
    positions, speeds and torques, as far as those of positions have something in common.
    Real robots carry a battery on one side, and their CAD data have rounded angles; a mirrored gait needs a model
    without these differences. tolerance: largest difference between partners, relative to the mass [m, kg].
    `asymmetry` returns the differences between the twin and the original. ModelError if a body has no partner.

    >>> uneven = od.models.human().with_inertia("thigh_l", mass=11.0)
    >>> twin = ocp.symmetric_twin(uneven)
    >>> round(twin.mass - uneven.mass, 9), ocp.asymmetry(twin)["mass"]
    (0.0, 0.0)
    """
    partners = match_bodies(model, positive(tolerance, "tolerance"))
    X0 = body_transforms(model, DM(model.neutral()))
    seen = [I.to_parent(X) for I, X in zip(model.I, X0, strict=True)]
    poses = [(np.array(DM(X.E).full()).T, np.array(DM(X.r).full()).ravel()) for X in X0]
    Y0 = [_between(poses[i], poses[j]) for i, j in enumerate(partners)]
    inertia, X_tree = [model.I[0]], [model.X_tree[0]]
    for i, p in model.edges:
        inertia.append(_average(seen[i], _image(seen[partners[i]])).to_parent(Y0[i].inverse()))
        # the joint's transform in the neutral posture does not change
        joint = X0[i] @ (model.X_tree[i] @ X0[p]).inverse()
        moved = joint.inverse() @ Y0[i] @ Y0[p].inverse()
        X_tree.append(Transform(sparse(moved.E), sparse(moved.r)))
    twin = _with_even_joints(replace(model, I=tuple(inertia), X_tree=tuple(X_tree)))
    return with_even_muscles(kinematic_mirror(twin)) if twin.muscles else twin


def _with_even_joints(model: Model) -> Model:
    """The model with springs, tissue, losses and armature averaged over partner joints, and with the tighter of both
    partners' limits; everything else must be symmetric."""
    mirror = kinematic_mirror(model)
    dofs = mirror.limits
    model = replace(model, dofs=dofs)
    if not any(getattr(dofs, kind).any() for kind in (*PASSIVE, *ROTORS)) and not model.passive and not model.bushings:
        return model
    model = replace(model, passive=_even_elements(mirror), bushings=_even_bushings(mirror))
    even = {kind: (getattr(dofs, kind) + mirror.of_dofs(getattr(dofs, kind))) / 2 for kind in (*PASSIVE, *ROTORS)}
    rest, sprung = DM(dofs.rest), even["stiffness"] > 0
    half = model.difference(rest, mirror.q(rest)) / 2 * DM(sprung.astype(float))
    even["rest"] = np.array(model.integrate(rest, half).full()).ravel()
    return replace(model, dofs=replace(dofs, **even))


def _even_elements(mirror: MirrorMap) -> tuple[PassiveElement, ...]:
    """The passive elements; if they are not symmetric, half of each and half of its mirror image, equal ones merged."""
    elements = mirror.model.passive
    if uneven_dof(replace(mirror, model=replace(mirror.model, bushings=()))) is None:
        return elements
    counts = Counter([*elements, *(element.mirrored(mirror.images) for element in elements)])
    return tuple(element.times(count / 2) for element, count in counts.items())


def _even_bushings(mirror: MirrorMap) -> tuple[BodySpring, ...]:
    """The bushings; if they are not symmetric, half of each and half of its mirror image, summed where two of them are
    at one place."""
    bushings = mirror.model.bushings
    if uneven_dof(replace(mirror, model=replace(mirror.model, passive=()))) is None:
        return bushings
    halves = [one.times(0.5) for one in bushings]
    found: list[BodySpring] = []
    for half in (*halves, *(_image_of_bushing(mirror, half) for half in halves)):
        both = ((k, _sum(mirror.model, one, half)) for k, one in enumerate(found))
        k, whole = next(((k, whole) for k, whole in both if whole is not None), (len(found), half))
        found[k : k + 1] = [whole]
    return tuple(found)


def _sum(model: Model, one: BodySpring, other: BodySpring) -> Bushing | None:
    """One bushing in place of two that are linear, and act between the same frames of the same bodies; None for
    others."""
    if not isinstance(one, Bushing) or not isinstance(other, Bushing) or one.laws or other.laws:
        return None
    for (a, at_a), (b, at_b) in zip(_ends(model, one), _ends(model, other), strict=True):
        if a != b or not np.allclose(at_a, at_b):
            return None
    stiffness, damping = np.add(one.stiffness, other.stiffness), np.add(one.damping, other.damping)
    return replace(one, stiffness=stiffness, damping=damping)


def _ends(model: Model, bushing: Bushing) -> list[tuple[int, Array]]:
    """For both frames of a bushing the body, 0 for the world, and [axes, origin] (3 x 4) in the neutral posture."""
    found = []
    for name, (axes, p) in ((bushing.first, bushing.first_pose), (bushing.second, bushing.second_pose)):
        R, x = _placed(model, name)
        place = np.column_stack([R @ np.reshape(axes, (3, 3)), x + R @ p])
        found.append((0 if name == WORLD else model.frames[name].body, place))
    return found


def _placed(model: Model, name: str) -> tuple[Array, Array]:
    """Axes (3x3) and origin of a frame in the neutral posture."""
    R, p = (DM.eye(3), DM(3, 1)) if name == WORLD else pose(model, name, DM(model.neutral()))
    return np.array(R.full()), np.array(p.full()).ravel()


def _image_of_bushing(mirror: MirrorMap, spring: BodySpring) -> BodySpring:
    """The mirror image of a spring, on the partner bodies; its numbers are the same in the mirrored frames."""
    model, bodies = mirror.model, (WORLD, *mirror.model.body_names)

    def image(name: str, at: Pose) -> tuple[str, Pose]:
        partner = bodies[0 if name == WORLD else mirror.partners[model.frames[name].body]]
        (R, x), (R_partner, x_partner) = _placed(model, name), _placed(model, partner)
        axes = R_partner.T @ REFLECTION @ R @ np.reshape(at[0], (3, 3)) @ REFLECTION
        origin = R_partner.T @ (REFLECTION @ (x + R @ at[1]) - x_partner)
        return partner, (tuple(axes.ravel()), tuple(origin))

    return spring.placed(image).mirrored(mirror.images)


def _between(place: tuple[Array, Array], partner: tuple[Array, Array]) -> Transform:
    """World -> body for the mean of a body's pose (R, p) and the mirror image of its partner's pose.

    The axes of partners may differ by signs and order; if they differ by more, the orientation of the body stays.
    """
    R, p = place
    image = REFLECTION @ partner[0]
    order = np.round(image.T @ R)
    if np.abs(image @ order - R).max() < 0.1:
        u, _, vt = np.linalg.svd(R + image @ order)
        R = u @ vt
    return Transform(sparse(R.T), sparse((p + REFLECTION @ partner[1]) / 2))


@checks_arguments()
def facing_forward(model: Model, left: str, right: str, *, up: str = "z") -> Model:
    """The model whose base frame is turned so that z points up and the frame `left` lies along +y from `right`.

    left, right: names of frames; their positions are those of the neutral posture. x then points forward, as walking
    along x needs. up: the axis of the base frame, "x", "y" or "z", that points up when the robot stands; the files of
    some human models have "y". Only the frame of the base is turned; the poses of all other frames on the robot stay.
    Markers, paths of muscles, shapes of files and other data that are given in the frame of the base are in a new one
    then, whose name ends in "_unturned".
    ValueError if the origins of both frames lie on one vertical line.

    >>> turned = ocp.facing_forward(od.models.human(), "thigh_l", "thigh_r")  # it faces forward already
    >>> od.pose(turned, "pelvis", turned.neutral())[0]
    DM(
    [[1, 0, 0],
     [0, 1, 0],
     [0, 0, 1]])
    """
    upright = UPRIGHT[choice(up, tuple(UPRIGHT), "up")]
    q = DM(model.neutral())
    apart = np.array((point_position(model, left, q) - point_position(model, right, q)).full()).ravel()
    dx, dy, _ = upright @ apart
    if np.hypot(dx, dy) < 1e-6:
        raise ValueError(
            f"frames {left!r} and {right!r} must lie apart horizontally, got ({dx:.3g}, {dy:.3g}) m: name frames "
            "of the left and the right leg"
        )
    turn = Transform(sparse(np.round(_about_z(np.arctan2(-dx, dy)), 12).T @ upright), DM(3, 1))
    back = turn.inverse()
    if np.array_equal(np.array(back.E.full()), np.eye(3)):
        return model
    I = (model.I[0], model.I[1].to_parent(back), *model.I[2:])
    X_tree = tuple(X @ back if p == 1 else X for X, p in zip(model.X_tree, model.parent, strict=True))
    base = model.body_names[0]
    frames = {n: replace(f, X=f.X @ back) if f.body == 1 and n != base else f for n, f in model.frames.items()}
    return _with_old_axes(replace(model, I=I, X_tree=X_tree, frames=frames), base, back)


def _with_old_axes(model: Model, base: str, back: Transform) -> Model:
    """The model, whose base frame was turned, with all that is given in this frame at its place: in a frame that has
    the axes of before, if anything is."""
    given, old = model.annotations, f"{base}{UNTURNED}"

    def frame(name: str) -> str:
        return old if name == base else name

    def moved(part: Any) -> Any:
        return replace(part, body=frame(part.body))

    annotations = replace(
        given,
        markers=tuple(map(moved, given.markers)),
        muscles=tuple(replace(muscle, path=tuple(map(moved, muscle.path))) for muscle in given.muscles),
        wraps=tuple(map(moved, given.wraps)),
    )
    bushings = tuple(one.placed(lambda name, pose: (frame(name), pose)) for one in model.bushings)
    constraints = tuple(one.renamed(frame) for one in model.constraints)
    if not model.shape_files and (annotations, bushings, constraints) == (given, model.bushings, model.constraints):
        return model
    frames = {**model.frames, old: Frame(old, 1, back)}
    return replace(model, frames=frames, annotations=annotations, bushings=bushings, constraints=constraints)


def _about_z(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@checks_arguments()
def asymmetry(model: Model) -> dict[str, float]:
    """Asymmetry of a model: the largest differences to its symmetric twin.

    Keys: "mass" [kg], "center_of_mass" [m], "place" [m] of a joint's fixed frame, "limits" [rad, m] of positions.

    >>> human = od.models.human()
    >>> ocp.asymmetry(human)["mass"], round(ocp.asymmetry(human.with_inertia("thigh_l", mass=11.0))["mass"], 4)
    (0.0, 0.3316)
    """
    twin = symmetric_twin(model)
    mass, com, place = [0.0], [0.0], [0.0]
    for i, _ in model.edges:
        one, other = model.I[i], twin.I[i]
        mass.append(abs(float(one.m) - float(other.m)))
        if float(one.m):
            com.append(_length(one.h / one.m - other.h / other.m))
        place.append(_length(model.X_tree[i].r - twin.X_tree[i].r))
    ours, theirs = (np.concatenate([m.dofs.q_lower, m.dofs.q_upper]) for m in (model, twin))
    limits = np.abs(np.subtract(ours, theirs, out=np.zeros(ours.size), where=ours != theirs))
    return {
        "mass": max(mass), "center_of_mass": max(com), "place": max(place), "limits": float(limits.max(initial=0.0))
    }  # fmt: skip


def _length(x: DM) -> float:
    return float(np.linalg.norm(np.array(DM(x).full())))


def _image(body: Inertia) -> Inertia:
    """The mirror image of an inertia about the world origin."""
    S = DM(REFLECTION)
    return Inertia(body.m, S @ body.h, S @ body.I @ S)


def _average(one: Inertia, other: Inertia) -> Inertia:
    def mean(a: DM, b: DM) -> Array:
        return np.array(DM(a).full() + DM(b).full()) / 2

    return Inertia(sparse(mean(one.m, other.m)), sparse(mean(one.h, other.h)), sparse(mean(one.I, other.I)))
