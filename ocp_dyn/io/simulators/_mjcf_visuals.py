"""Visible shapes of the bodies in an MJCF file: sticks between joints, or the shapes of the model's own file."""

from __future__ import annotations

import numpy as np

from ..._base.types import Array, ModelError
from ...dynamics.subtrees import children_of
from ...mechanism import Model, ShapeFile
from ..shapes.body_shape import BodyShape
from ..shapes.placed import read_shapes
from ._common import Element, Names, child, names_shown, pose_attributes
from ._mjcf_bodies import Written
from .shapes import pose_in_body

MESHES = (".stl", ".obj", ".msh")
"""Endings of files with meshes that MuJoCo reads."""
THIN = 0.015
"""Radius of a stick, relative to the length of the longest limb."""


def add_sticks(model: Model, done: Written) -> None:
    """Capsules from the origin of every body to each joint that it carries and to its farthest frame; at the end of a
    limb without frames, to its center of mass."""
    radius, children = THIN * reach(model), children_of(model)
    frames: list[list[Array]] = [[np.zeros(3)] for _ in children]
    for frame in model.frames.values():
        frames[frame.body].append(np.array(frame.X.r.full()).ravel())
    for i in range(1, model.nb + 1):
        ends = [np.array(model.X_tree[c].r.full()).ravel() for c in children[i]]
        ends.append(max(frames[i], key=np.linalg.norm))
        h, m = np.array(model.I[i].h.full()).ravel(), float(model.I[i].m)
        if m and not any(map(np.any, ends)):
            ends.append(h / m)
        for end in dict.fromkeys(tuple(end.tolist()) for end in ends):
            if np.linalg.norm(end) > radius / 10:
                child(done.bodies[i], "geom", class_="visual", type="capsule", fromto=[0, 0, 0, *end], size=radius)


def reach(model: Model) -> float:
    """Distance along the joints from a body on the ground to the farthest one that it carries [m]; 1 without any."""
    far = [0.0] * (model.nb + 1)
    for i, p in model.edges:
        if p:
            far[i] = far[p] + float(np.linalg.norm(np.array(model.X_tree[i].r.full())))
    return max(far) or 1.0


def add_file_shapes(root: Element, model: Model, done: Written) -> None:
    """The shapes of the files that the model comes from; a note names the meshes that MuJoCo cannot read."""
    if not model.shape_files:
        raise ModelError(
            'write_mjcf: this model comes from no URDF, MJCF or SDF, so it knows no meshes: write visuals="sticks" or '
            '"none"'
        )
    assets, left = child(root, "asset"), list[str]()
    names, known = Names(), dict[tuple[str, tuple[float, ...]], str]()
    for file in model.shape_files:
        for visual in read_shapes(file.path, folder=file.folder):
            frame = model.frames.get(file.prefix + visual.link)
            if frame is None:
                continue
            R, p = pose_in_body(frame.X, visual.R, file.scale * visual.p)
            attributes = simple(visual, file)
            if attributes is None:
                if visual.path is None or visual.path.suffix.lower() not in MESHES:
                    left.append(visual.mesh)
                    continue
                key = str(visual.path), tuple(file.scale * x for x in visual.size)
                if key not in known:
                    known[key] = names.new(visual.path.stem)
                    # `shell`: a mesh that is only seen need not be closed
                    child(assets, "mesh", name=known[key], file=key[0], scale=key[1], inertia="shell")
                attributes = {"type": "mesh", "mesh": known[key]}
            color = visual.color or (0.7, 0.7, 0.7, 1.0)
            child(done.bodies[frame.body], "geom", class_="visual", rgba=color, **attributes, **pose_attributes(R, p))
    if not len(assets):
        root.remove(assets)
    if left:
        done.notes.append(
            f"Meshes that MuJoCo does not read, or that were not found, are left out: {names_shown(left)}."
        )


def simple(visual: BodyShape, file: ShapeFile) -> dict[str, str | Array] | None:
    """type and size of a shape that is no mesh."""
    size = file.scale * np.array(visual.size)
    if visual.kind == "mesh":
        return None
    if visual.kind == "box":
        return {"type": "box", "size": size / 2}
    return {"type": visual.kind, "size": size if visual.kind == "sphere" else size * (1, 0.5)}
