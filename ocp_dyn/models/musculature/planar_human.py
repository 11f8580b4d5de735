"""A human body that moves in the sagittal plane, with nine muscles in each leg."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..._base.types import truth
from ...joints import Fixed, Joint, Planar, Revolute
from ...mechanism import Model, Muscle
from ...mechanism.builder import WORLD, ModelBuilder
from ...mechanism.passive import ExponentialTorque
from ...muscles import path_geometry
from ..anthropometry import MASS, STATURE, Sex, human_dimensions, segment_bodies
from ..biped import X_Z_PLANE
from ..human import BodyFigure
from ..joint_limits import joint_limits, strengths
from ..passive_tissue import JOINT_DAMPING, passive_tissue
from .fitted import with_musculature

GROUPS = {
    "hamstrings": ("hip", "semimem", "semiten", "bflh"),
    "bifemsh": ("knee", "bfsh"),
    "glut_max": ("hip", "glmax2", "glmax1", "glmax3", "glmed2", "glmed3", "addmagIsch", "addmagDist"),
    "iliopsoas": ("hip", "psoas", "iliacus", "addlong", "addbrev", "addmagProx"),
    "rect_fem": ("hip", "recfem"),
    "vasti": ("knee", "vasint", "vaslat", "vasmed"),
    "gastroc": ("ankle", "gasmed", "gaslat"),
    "soleus": ("ankle", "soleus"),
    "tib_ant": ("ankle", "tibant", "edl", "ehl"),
}
"""Muscles of a leg of `human(muscles=True)` that become one, and the joint about which the one has the torque of all in
the standing body; its path, fibers and tendon are those of the first. The groups have the names of OpenSim's model
gait10dof18musc; here muscles that move the hip alone count from moment arms of 2 cm on, adductors too."""

IN_PLANE = {"lumbar.ry": "lumbar", "hip_l.ry": "hip_l", "hip_r.ry": "hip_r"}
"""Names of the dofs of `human` that have other names here."""

STILL = ("subtalar", "shoulder", "elbow")
"""Joints that do not turn."""


def planar_human(
    mass: float = MASS["male"], height: float = STATURE["male"], sex: Sex = "male", muscles: bool = True
) -> Model:
    """A human of body mass [kg] and stature [m] in the sagittal plane: 10 dofs, and 18 muscles of the legs.

    The body of `human` with the same masses, sizes, frames and signs, whose arms hang still: a planar root (forward,
    up, leaning backward), and joints about y, `lumbar`, `hip_l`, `knee_l`, `ankle_l`, and those of the right side.
    Joints have the damping and the passive torques of `passive_tissue`.

    muscles: nine of each leg, `hamstrings_l`, `bifemsh_l`, `glut_max_l`, `iliopsoas_l`, `rect_fem_l`, `vasti_l`,
    `gastroc_l`, `soleus_l`, `tib_ant_l` and those of the right side; each stands for a group of those of
    `human(muscles=True)`, and has the torque of all of them in the standing body. The trunk has none.

    ValueError for another sex, a mass outside 20..250 kg or a height outside 1.0..2.3 m.

    >>> flat = od.models.planar_human(60.0, 1.65, "female")
    >>> round(flat.mass, 6), flat.nv, len(flat.muscles)
    (60.0, 10, 18)
    """
    muscular = truth(muscles, "muscles")
    size, bodies = human_dimensions(height, sex), segment_bodies(mass, height, sex)
    builder = ModelBuilder(f"planar_human_{sex}")
    figure = _PlanarFigure(builder, size, bodies, strengths(mass, height, sex), JOINT_DAMPING, None)
    model = figure.build(Planar())
    tissue = [e for e in passive_tissue(mass, height, sex, muscles=muscular) if isinstance(e, ExponentialTorque)]
    named = [(IN_PLANE.get(e.dof, e.dof), e) for e in tissue]
    model = model.with_passive([
        replace(e, dof=dof, slopes={IN_PLANE.get(name, name): slope for name, slope in dict(e.slopes).items()})
        for dof, e in named if dof in model.qd_names
    ])  # fmt: skip
    return _grouped(with_musculature(model, size, mass)) if muscular else model


def _grouped(model: Model) -> Model:
    """The model with one muscle in place of each group."""
    known = {muscle.name: muscle for muscle in model.muscles}
    standing = path_geometry(model, np.array(model.neutral(), dtype=float).ravel())
    arms = dict(zip(standing.names, standing.moment_arms, strict=True))

    def one(name: str, joint: str, group: list[str], side: str) -> Muscle:
        members, dof = [known[f"{member}_{side}"] for member in group], model.qd_slice(f"{joint}_{side}").start
        torque = sum((muscle.max_isometric_force or 0.0) * arms[muscle.name][dof] for muscle in members)
        force = float(torque / arms[members[0].name][dof])
        return replace(members[0], name=f"{name}_{side}", max_isometric_force=force)

    found = [one(name, joint, group, side) for side in "lr" for name, (joint, *group) in GROUPS.items()]
    used = {wrap.wrap for muscle in found for wrap in muscle.wraps}
    return model.with_muscles(found, [wrap for wrap in model.wraps if wrap.name in used], replace_all=True)


class _PlanarFigure(BodyFigure):
    """The figure of `human` without its joints about x and z."""

    def trunk(self, root: Joint) -> None:
        self.builder.add_body("base", root, WORLD, joint_name="root", rotation=X_Z_PLANE)
        super().trunk(Fixed())

    def hinge(
        self, joint: str, axes: str, segment: str | None, name: str, parent: str, origin: tuple[float, float, float],
        side: str = "", top: float = 0.0,
    ) -> None:  # fmt: skip
        end = f"_{side}" if side else ""
        if joint in STILL:
            self.add(segment, name + end, parent, origin, Fixed(), joint + end, top)
            return
        limits = joint_limits(joint, "yxz"[: len(axes)], side, self.strength)
        about_y: dict[str, Any] = {key: values[0] for key, values in limits._asdict().items()}
        self.add(segment, name + end, parent, origin, Revolute("y"), joint + end, top,
                 about_y | {"damping": self.damping})  # fmt: skip

    def add(self, segment: str | None, name: str, parent: str, *rest: Any, **options: Any) -> None:
        if parent == WORLD:
            parent, options = "base", {**options, "limits": {"rotation": np.transpose(X_Z_PLANE)}}
        super().add(segment, name, parent, *rest, **options)
