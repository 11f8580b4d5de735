"""`pinocchio.Model` objects: every joint, against Pinocchio's own dynamics, where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.io import from_pinocchio
from tests.helpers import close

AXIS = np.array([0.6, 0.0, 0.8])
JOINTS = (
    "FreeFlyer", "RX", "PY", "RevoluteUnaligned", "PrismaticUnaligned", "RUBZ", "HX", "HelicalUnaligned", "Spherical",
    "SphericalZYX", "Translation", "Planar", "Universal", "Ellipsoid", "Composite",
)  # fmt: skip


def joint(pin: Any, kind: str) -> Any:
    make = getattr(pin, f"JointModel{kind}")
    if kind == "Composite":
        made = make()
        for part in ("RX", "PrismaticUnaligned", "Spherical"):
            made.addJoint(joint(pin, part), pin.SE3.Random())
        return made
    arguments = {"HX": (0.3,), "HelicalUnaligned": (AXIS, 0.2), "Ellipsoid": (0.1, 0.2, 0.3),
                 "Universal": (np.array([1.0, 0, 0]), np.array([0, 0.6, 0.8])),
                 "RevoluteUnaligned": (AXIS,), "PrismaticUnaligned": (AXIS,)}  # fmt: skip
    return make(*arguments.get(kind, ()))


def chain(pin: Any, kinds: tuple[str, ...]) -> Any:
    """A tree of these joints in general position."""
    pin.seed(3)
    model = pin.Model()
    model.name = "tree"
    for n, kind in enumerate(kinds):
        k = model.addJoint(max(0, n - n % 2), joint(pin, kind), pin.SE3.Random(), f"joint{n}")
        model.appendBodyToJoint(k, pin.Inertia.Random(), pin.SE3.Identity())
        model.addBodyFrame(f"body{n}", k, pin.SE3.Identity(), 0)
        model.addFrame(pin.Frame(f"tool{n}", k, 0, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    return model


@pytest.mark.parametrize("kinds", [(kind,) for kind in JOINTS] + [JOINTS])
def test_dynamics_are_those_of_pinocchio(kinds: tuple[str, ...]) -> None:
    pin = pytest.importorskip("pinocchio")
    theirs = chain(pin, kinds)
    model, data = od.load(theirs), theirs.createData()
    layout = od.Layout(model, "pinocchio", joints=model.joint_names)
    rng = np.random.default_rng(1)
    q = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
    v, a = rng.normal(size=(2, theirs.nv))
    our_q = layout.from_q(q)
    our_qd = layout.from_qd(our_q, v)
    our_qdd = layout.from_qdd(our_q, our_qd, a)
    close(
        layout.to_tau(our_q, od.inverse_dynamics(model, our_q, our_qd, our_qdd)), pin.rnea(theirs, data, q, v, a), 1e-12
    )
    pin.framesForwardKinematics(theirs, data, q)
    for frame, place in zip(theirs.frames, data.oMf, strict=True):
        if frame.name in model.frames:
            R, p = od.pose(model, frame.name, our_q)
            close(R, place.rotation, 1e-12)
            close(p, place.translation, 1e-12)
    assert {f"body{len(kinds) - 1}", f"tool{len(kinds) - 1}"} <= set(model.frame_names)


def test_limits_and_losses() -> None:
    pin = pytest.importorskip("pinocchio")
    theirs = chain(pin, ("RX", "FreeFlyer", "RUBZ"))
    theirs.lowerPositionLimit[0], theirs.upperPositionLimit[0] = -0.3, 0.7
    theirs.armature = np.arange(8.0)
    theirs.damping = np.arange(8.0) / 2
    theirs.velocityLimit = np.full(8, 3.0)
    model = from_pinocchio(theirs)
    assert (model.dofs.q_lower[0], model.dofs.q_upper[0]) == (-0.3, 0.7)
    assert np.all(np.isinf(model.dofs.q_upper[1:]))
    np.testing.assert_array_equal(model.dofs.armature, np.arange(8.0))
    np.testing.assert_array_equal(model.dofs.damping, np.arange(8.0) / 2)
    np.testing.assert_array_equal(model.dofs.qd_max, np.full(8, 3.0))
    assert od.Layout(model, "pinocchio").unbounded == ("joint2",)


def test_what_is_refused() -> None:
    with pytest.raises(TypeError, match=r"needs a pinocchio\.Model, got 3"):
        from_pinocchio(3)
    pin = pytest.importorskip("pinocchio")
    with pytest.raises(TypeError):
        od.load(chain(pin, ("RX",)), root=od.FloatingBase())
