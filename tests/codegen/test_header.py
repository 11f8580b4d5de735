"""An export's header says where it comes from, and what its numbers mean."""

from __future__ import annotations

import re

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn.functions.conventions import force_text, joint_text
from ocp_dyn.spatial_algebra.rotations import rotation_about


def header(*functions: ca.Function) -> str:
    """The header's first comment, on one line per paragraph."""
    text = od.codegen.generate(functions, "robot")["robot.h"].split("*/")[0]
    return re.sub(r"\n \*  +", " ", text)


def robot(gravity: tuple[float, float, float] = (0, 0, -9.81), **turned: object) -> od.Model:
    builder = od.ModelBuilder("robot", gravity=gravity)
    builder.add_body("base", od.FloatingBase(), mass=1, inertia=(1, 1, 1), **turned)
    builder.add_body("arm", od.Revolute("y"), "base", mass=1, inertia=(1, 1, 1))
    return builder.build()


def test_generator_model_and_gravity():
    model = robot(gravity=(0, -1.62, 0))
    text = header(od.function(od.inverse_dynamics, model))
    assert f"* Generator: ocp_dyn {od.__version__}, CasADi {ca.CasadiMeta.version()}\n" in text
    assert f"* Model: robot (digest of its data: {od.codegen.model_digest(model)})\n" in text
    assert "* Gravity: (0, -1.62, 0) m/s^2 in world axes\n" in text
    files = od.codegen.generate([od.function(od.inverse_dynamics, model)], "robot")
    assert f'#define ROBOT_MODEL_DIGEST "{od.codegen.model_digest(model)}"\n' in files["robot.h"]
    assert f'#define ROBOT_GENERATOR "ocp_dyn {od.__version__}, CasADi {ca.CasadiMeta.version()}"\n' in files["robot.h"]


def test_gravity_as_an_input():
    assert "* Gravity: an input of the function\n" in header(
        od.function(od.inverse_dynamics, robot(), parameters=("gravity",))
    )


def test_digests_tell_models_apart():
    digests = [
        od.codegen.model_digest(m)
        for m in (robot(), robot().with_inertia("arm", mass=1 + 1e-15), robot().with_gravity((0, 0, -9.8)))
    ]
    assert len(set(digests)) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", digest) for digest in digests)
    assert od.codegen.model_digest(robot()) == digests[0], "the same data"
    assert od.codegen.model_digest(robot(damping=1e-30)) != digests[0]
    assert od.codegen.model_digest(robot(gravity=(-0.0, 0, -9.81))) == digests[0], "-0 equals 0"
    assert "Gravity: (0, 0, -9.81)" in header(od.function(od.inverse_dynamics, robot(gravity=(-0.0, 0, -9.81))))
    two = [od.function(od.inverse_dynamics, robot()), od.function(od.mass_matrix, robot().with_gravity((0, 0, 0)))]
    text = od.codegen.generate(two, "robot")["robot.h"]
    assert text.count("* Gravity:") == 2
    assert "MODEL_DIGEST" not in text


def test_what_is_no_model_has_no_digest():
    with pytest.raises(TypeError, match="model_digest needs a Model, got 'robot'"):
        od.codegen.model_digest("robot")


def test_models_of_code_have_no_digest():
    builder = od.ModelBuilder()
    builder.add_body("a", od.CustomJoint(lambda q: od.Transform(ca.DM.eye(3), ca.vertcat(q, 0, 0)), ("x",)), mass=1)
    model = builder.build()
    assert od.codegen.model_digest(model) == ""
    alone = od.function(od.inverse_dynamics, model)
    assert "digest" not in header(alone)
    files = od.codegen.generate([alone, od.function(od.mass_matrix, robot())], "robot")
    assert "MODEL_DIGEST" not in files["robot.h"], "it would be that of one of both models"
    assert "MODEL_DIGEST" not in od.codegen.generate([alone], "robot")["robot.h"]


def test_the_base_and_its_velocity():
    text = header(od.function(od.inverse_dynamics, robot()))
    assert (
        "root: q = [x, y, z of the origin in world axes; quaternion x, y, z, w of the rotation of the body axes]; "
        "qd = [velocity of the origin in world axes; angular velocity in body axes]" in text
    )
    turned = header(od.function(od.inverse_dynamics, robot(rotation=rotation_about((0, 0, 1), 0.3))))
    assert "x, y, z of the origin in axes of the joint's frame, which is fixed in the world" in turned
    raised = header(od.function(od.inverse_dynamics, robot(origin=(1, 0, 2))))
    assert "x, y, z of the origin, from the point (1, 0, 2) m of the world, in world axes; quaternion" in raised
    assert "qd = [velocity of the origin in world axes;" in raised
    builder = od.ModelBuilder("robot")
    builder.add_body("base", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    builder.add_body("tool", od.Planar(), "base", mass=1, inertia=(1, 1, 1))
    on_base = header(od.function(od.inverse_dynamics, builder.build()))
    assert "x, y of the origin, from the point (0, 0, 0) m of base, in axes of base" in on_base


class Geared(od.Revolute):
    """A joint of a user, whose velocity is twice the rate of its q."""

    def q_dot(self, q, qd):
        return qd / 2


def along_x(q):
    return od.Transform(ca.DM.eye(3), ca.vertcat(q, 0, 0))


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        (od.Revolute("z"), ""),
        (od.Prismatic("z"), ""),
        (od.Helical("z", pitch=0.1), ""),
        (od.Fixed(), ""),
        (Geared("z"), "q and qd as Geared defines them; qd is not dq/dt"),
        (od.CustomJoint(along_x, ("x",)), "q = its coordinate, as CustomJoint defines it; qd = dq/dt"),
        (od.Spherical(),
            "q = quaternion x, y, z, w of the rotation of the body axes; qd = angular velocity in body axes"),
        (od.Euler("yxz"), "q = [angles a, b, c of the rotation Ry(a) Rx(b) Rz(c)]; qd = dq/dt"),
        (od.FloatingBase("euler_zyx"),
         "q = [x, y, z of the origin in HERE; angles a, b, c of the rotation Rz(a) Ry(b) Rx(c)]; qd = dq/dt"),
        (od.Planar(), "q = [x, y of the origin in HERE; angle about z]; qd = dq/dt"),
        (od.Translation(), "q = [x, y, z of the origin in HERE]; qd = dq/dt"),
        (od.Cylindrical("x"), "q = [angle about the axis; displacement along it]; qd = dq/dt"),
        (od.Universal("z", "x"),
         "q = [angle about the first axis; angle about the second, which the first turns]; qd = dq/dt"),
        (od.MultiDof([(0, 0, 1, 0, 0, 0), (0, 0, 0, 1, 0, 0)]),
         "q and qd = dq/dt of its single motions, one after the other"),
    ],
)  # fmt: skip
def test_joints(joint, text):
    assert joint_text(joint, "HERE") == text


def test_translations_of_joints_on_bodies():
    builder = od.ModelBuilder("robot")
    builder.add_body("base", od.Revolute("z"), mass=1, inertia=(1, 1, 1))
    builder.add_body("slide", od.Planar(), "base", origin=(0, 0, 1), mass=1, inertia=(1, 1, 1))
    text = header(od.function(od.mass_matrix, builder.build()))
    assert "q = [x, y of the origin, from the point (0, 0, 1) m of base, in axes of base; angle about z]" in text


def test_loads():
    wanted = od.Loads(passive=True, armature=True)
    text = header(od.function(od.inverse_dynamics, robot(), loads=wanted), od.function(od.mass_matrix, robot()))
    assert (
        "* With loads: robot_ID: springs, damping and friction of the joints (slip speed 0.01 rad/s, m/s) and "
        "armatures of "
        "the joints\n" in text
    )
    assert text.count("loads") == 1
    rotors = header(od.function(od.mass_matrix, robot(), loads=od.Loads(armature=True)))
    assert "robot_H: armatures of the joints\n" in rotors


def test_zeros_are_no_quaternion():
    """The calls in the manual start at a configuration, and the header says that zeros are none."""
    model = robot()
    files = od.codegen.generate([od.function(od.inverse_dynamics, model)], "robot")
    manual = files["README.md"]
    assert "double q[ROBOT_ID_Q_SIZE] = {0};\nq[6] = 1;  /* root.qw */\ndouble qd" in manual
    assert "q = np.zeros(8, np.float64)\nq[6] = 1  # root.qw\nqd = " in manual
    assert manual.count("root.qw") == 2
    assert (
        "A quaternion must not be zero: with zeros, or a null pointer, for q the results are nan." in files["robot.h"]
    )
    rod = od.codegen.generate([od.function(od.inverse_dynamics, od.models.pendulum())], "rod")
    assert "must not be zero" not in rod["rod.h"]
    step = od.codegen.generate([od.function(od.difference, model)], "robot")
    assert step["README.md"].count("q1[6] = 1") == 2
    assert step["example.c"].count("root.qw */") == 2
    first, second = re.findall(r"([-0-9.]+), /\* root.qw", step["example.c"])
    assert first != second


@pytest.mark.slow
def test_rows_of_forces():
    model = robot()
    sets = [(od.Contact("arm", point=(0, 0, -0.5), axes=[(0, 0, 2)]), od.Contact("base")), (od.LockedJoint("joint2"),)]
    sets[1] = (od.LockedJoint(model.joint_names[1]),)
    one = od.function(od.constrained_dynamics, model, sets[0])
    other = od.function(od.impact, model, sets[1])
    text = header(one, od.function(od.constraint_jacobian, model, sets[0]), other)
    assert (
        "Rows of lam in robot_FDc: arm: force [N] at the point (0, 0, -0.5) m of the frame along each of (0, 0, 1), in "
        "world axes; it acts on the robot" in text
    )
    assert (
        "base: couple x, y, z [N m], then force x, y, z [N], at the point (0, 0, 0) m of the frame; world axes;" in text
    )
    assert "Rows of G in robot_G:" in text
    assert f"Rows of Lam in robot_impact: {model.joint_names[1]}: generalized forces" in text


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (
            od.Loop("arm", "base", "ball", (np.eye(3), (1, 2, 3)), (np.eye(3), (0, 0, 0.5))),
            (
                "wrench (r: couple, N m; t: force, N) along axes of arm; it acts on base at the point (0, 0, 0.5) m "
                "of that frame, its opposite on arm at (1, 2, 3) m"
            ),
        ),
        (
            od.Loop("arm", "base", "prismatic", (((0, 1, 0), (-1, 0, 0), (0, 0, 1)), (1, 2, 3))),
            (
                "along the axes (0, -1, 0); (1, 0, 0); (0, 0, 1) of arm; it acts on base at the point (0, 0, 0) m of "
                "that frame, its opposite on arm at the same place"
            ),
        ),
        (
            od.Loop("arm", "base", [(0, 0, 2, 0, 0, 0)]),
            "wrench (each row: multiple of the axis [couple; force], N m, N)",
        ),
        (
            od.RollingContact("arm", 0.1, normal=(1, 0, 0)),
            (
                "force [N] at the point in contact along the plane's normal (1, 0, 0) and across it along (0, 0, 1); "
                "(0, -1, 0), in world axes; it acts on the robot"
            ),
        ),
        (
            od.RollingContact("arm", 0.1, axis=(1, 0, 0)),
            "; then couples [N m] about the normal and against tilting; they",
        ),
        (od.Contact("arm", planar=True), "couple y [N m], then force x, z [N], at the point (0, 0, 0) m of the frame"),
        (od.JointCoupling("a", "b", ratio=-3), "generalized force [N m, N] on a; b feels it times 3"),
        (od.JointCoupling("a", "b", ratio=2, function=ca.sin), "b feels it times -2 df/dq of it"),
        (od.CustomConstraint(lambda q: q[0], 1), "work per change of phi"),
        (od.Baumgarte(od.LockedJoint("a"), 0.1), "generalized forces"),
    ],
)
def test_forces(constraint, text):
    assert text in force_text(constraint)
