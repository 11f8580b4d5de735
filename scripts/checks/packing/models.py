"""Models with mirrored, equal and unequal limbs, and the Functions of all algorithms for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

import ocp_dyn as od
from ocp_dyn.functions.registry import REGISTRY

Array = NDArray[np.float64]
MIRROR = np.diag([1.0, -1.0, 1.0])
"""Reflection at the plane y = 0."""

LOOPS_ONLY = (
    od.formulations.closing_jacobian, od.formulations.independent_transformation, od.formulations.dependent_qd,
    od.formulations.closed_chain_dynamics, od.formulations.closed_chain_dynamics_a,
)  # fmt: skip
"""Algorithms of models with closed loops."""


class Case(NamedTuple):
    """A model with constraints; q: a configuration that keeps closed loops closed, None where there are no loops."""

    model: od.Model
    constraints: Any
    q: Array | None = None


def mirrored(seed: int = 3, length: int = 2, sides: int = 2) -> Case:
    """A floating body in general position with random limbs, each beside its mirror image; every limb forks."""
    rng = np.random.default_rng(seed)
    builder = od.ModelBuilder("mirrored", gravity=(0.0, 0.0, -9.81))
    builder.add_body("trunk", od.FloatingBase(), "world", **_body(rng, np.eye(3)))
    for limb in range(sides // 2):
        for k in range(length):
            parts = _body(rng, None)
            axis = rng.normal(size=3)
            fork = _body(rng, None), rng.normal(size=3)
            for side, M in (("l", np.eye(3)), ("r", MIRROR)):
                parent = f"{side}{limb}_{k - 1}" if k else "trunk"
                builder.add_body(f"{side}{limb}_{k}", _revolute(axis, M), parent, **_image(parts, M))
                if k == length - 1:
                    builder.add_body(f"{side}{limb}_fork", _revolute(fork[1], M), parent, **_image(fork[0], M))
    model = builder.build()
    tips = [
        od.Contact(f"{side}0_{length - 1}", point=(0.1, y, -0.2), axes="xyz") for side, y in (("l", 0.05), ("r", -0.05))
    ]
    return Case(model, tuple(tips))


def quadruped() -> Case:
    """A floating body on four equal legs of three hinges, at the corners of a rectangle."""
    builder = od.ModelBuilder("quadruped", gravity=(0.0, 0.0, -9.81))
    inertia = np.diag([0.01, 0.02, 0.03])
    builder.add_body("base", od.FloatingBase(), "world", mass=2.0, com=(0.0, 0.0, 0.01), inertia=inertia)
    feet, small = [], np.diag([2e-4, 3e-4, 1e-4])
    for name, x, y in (("fl", 0.2, 0.1), ("fr", 0.2, -0.1), ("hl", -0.2, 0.1), ("hr", -0.2, -0.1)):
        out, parent = np.sign(y), "base"
        for part, axis, origin, mass, com, moments in (
            ("hip", "x", (x, y, 0.0), 0.15, (0.01, 0.02 * out, 0.0), small),
            ("upper", "y", (0.0, 0.05 * out, 0.0), 0.15, (0.0, 0.01 * out, -0.08), small),
            ("lower", "y", (0.0, 0.03 * out, -0.16), 0.03, (0.0, 0.0, -0.09), small / 5),
        ):
            body = f"{name}_{part}"
            builder.add_body(body, od.Revolute(axis), parent, origin=origin, mass=mass, com=com, inertia=moments)
            parent = body
        feet.append(od.Contact(parent, point=(0.0, 0.0, -0.16), axes="xyz"))
    return Case(builder.build(), tuple(feet))


def random_tree() -> Case:
    """A tree of all kinds of joints, without equal limbs."""
    model = od.random_tree(6, 2, rng=np.random.default_rng(5))
    return Case(model, (od.Contact(model.body_names[-1], point=(0.1, 0.2, 0.3), axes="xz"),))


def planar() -> Case:
    model = od.models.five_link_biped(root="planar")
    return Case(model, (od.Contact(model.body_names[-1], point=(0.0, 0.0, -0.4), axes="xz"),))


def human() -> Case:
    model = od.models.human()
    return Case(model, tuple(od.Contact(model.frame(f"sole_{side}")) for side in "lr"))


def closed() -> Case:
    chain = od.models.n_four_bar(2)
    return Case(chain.model, chain.loops, np.array(chain.q))


def robot(name: str) -> Case:
    """A robot of the extra `robots`."""
    model = od.robots.load(name)
    return Case(model, tuple(od.robots.contacts(name)))


MODELS: dict[str, Callable[[], Case]] = {
    "mirrored": mirrored, "quadruped": quadruped, "random": random_tree, "planar": planar, "closed": closed,
    "human": human,
    **{name: (lambda name=name: robot(name)) for name in ("talos", "solo12", "anymal_c")},
}  # fmt: skip


def functions(case: Case, names: Collection[str] = ()) -> Iterator[ca.Function]:
    """The Function of every algorithm of the registry that takes this model, or of those with these names."""
    model, loops = case.model, case.q is not None
    q = model.neutral() if case.q is None else case.q
    held = case.constraints if loops else tuple(c.at(model, q) for c in case.constraints)
    natural = od.formulations.natural(model)
    for algorithm, signature in REGISTRY.items():
        takes = inspect.signature(algorithm).parameters
        static: list[Any] = []
        options: dict[str, Any] = {}
        if (names and signature.name not in names) or (algorithm in LOOPS_ONLY and not loops):
            continue
        if "constraints" in takes:
            static.append(held)
        if "opened" in takes:
            static.append(od.formulations.open_by_removing(model, held, ["coupler1", "coupler2"]))
        if "independent" in takes and algorithm is not od.formulations.closed_chain_dynamics:
            options["independent"] = od.formulations.independent_coordinates(model, held, q)
        if "frame" in takes:
            static.append(model.body_names[-1])
        if "natural" in takes:
            static.append(natural)
        yield od.function(algorithm, model, *static, **options)


def _revolute(axis: Array, M: Array) -> od.Revolute:
    """A hinge about an axis, or about its mirror image: a rotation is mirrored as an axial vector."""
    return od.Revolute(tuple(axis if np.linalg.det(M) > 0 else -M @ axis))


def _body(rng: np.random.Generator, rotation: Array | None) -> dict[str, Any]:
    """Random arguments of a body: place, mass, center of mass, inertia."""
    R = od.quaternion_matrix(ca.DM(rng.normal(size=4))).full() if rotation is None else rotation
    s = rng.uniform(0.05, 0.2, 3) ** 2
    mass = rng.uniform(0.5, 2.0)
    inertia = R @ (mass / 3 * np.diag([s[1] + s[2], s[0] + s[2], s[0] + s[1]])) @ R.T
    return {"origin": rng.uniform(-0.5, 0.5, 3), "rotation": R, "mass": mass, "com": rng.uniform(-0.2, 0.2, 3),
            "inertia": inertia}  # fmt: skip


def _image(body: dict[str, Any], M: Array) -> dict[str, Any]:
    """The arguments of a body's mirror image."""
    turned = {key: M @ body[key] @ M for key in ("rotation", "inertia")}
    moved = {key: M @ body[key] for key in ("origin", "com")}
    return {**body, **turned, **moved}
