"""Wrong arguments of the public interface: refused at the boundary, with what was got and what is expected."""

from __future__ import annotations

from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn._base.types import repr_in_message
from ocp_dyn.dynamics.invertible import check_invertible
from ocp_dyn.functions.checked import CheckedFunction
from tests.helpers import TREES, close, flat, mostly_slow, tree

MODEL = tree("chain")
FLOATING = tree("floating")
CONTACT = od.Contact("b2", axes="xyz")
HUGE = 10**400
ITSELF: list[object] = []
ITSELF.append(ITSELF)
BAR = od.models.n_four_bar(1)


def add_body(**options):
    od.ModelBuilder().add_body("b", od.Revolute("x"), **options)


def from_json(change):
    data = od.model_to_dict(MODEL)
    change(data["bodies"][0])
    return od.model_from_dict(data)


REFUSED = [
    (od.ModelError, "damping must be finite, got", lambda: from_json(lambda b: b.update(damping=["inf"]))),
    (od.ModelError, "stiffness must be finite, got", lambda: from_json(lambda b: b.update(stiffness=["inf"]))),
    (od.ModelError, "armature must be finite, got", lambda: from_json(lambda b: b.update(armature=["inf"]))),
    (od.ModelError, "rest must be finite, got", lambda: from_json(lambda b: b.update(rest=["-inf"]))),
    (od.ModelError, "a moving body needs a joint that moves",
        lambda: from_json(lambda b: b.update(joint={"kind": "Fixed"}))),
    (ValueError, "RollingContact height .* finite", lambda: od.RollingContact("b1", 0.1, height=np.nan)),
    (ValueError, "RollingContact radius .* finite", lambda: od.RollingContact("b1", None)),
    (od.ModelError, "joint_name: a name must be a non-empty string, got 3.5", lambda: add_body(joint_name=3.5)),
    (od.ModelError, "mass must be 1 finite numbers, got <an integer of 1329 bits>", lambda: add_body(mass=HUGE)),
    (od.ModelError, "lower limit must be one number or 1, got <an integer", lambda: add_body(lower=HUGE)),
    (od.ModelError, "mass must be 1 finite numbers, got '3'", lambda: add_body(mass="3")),
    (od.ModelError, "with_frame: a name must be a non-empty string, got None", lambda: MODEL.with_frame(None, "b1")),
    (TypeError, "attach needs a Model, got None", lambda: MODEL.attach(None, "b1")),
    (TypeError, "q0 must be 4 numbers or a casadi", lambda: od.assemble_q(MODEL, CONTACT, None)),
    (TypeError, "name must be a string or None, got 5", lambda: od.function(od.mass_matrix, MODEL, name=5)),
    (TypeError, "signature must be a string or None, .*, got 5",
        lambda: od.function(od.mass_matrix, MODEL, signature=5)),
    (ValueError, "columns must be a whole number .* got -1",
     lambda: od.function(od.mass_matrix_inverse_product, MODEL, columns=-1)),
    (ValueError, "MultiDof needs 1 to 6 axes .* got None", lambda: od.MultiDof(None)),
    (ValueError, "LockedJoint value must be 1 finite numbers, got 'x'", lambda: od.LockedJoint("j", value="x")),
    (ValueError, "Baumgarte time constant .* finite", lambda: od.Baumgarte(CONTACT, HUGE)),
    (TypeError, "JointCoupling needs names of joints, got None", lambda: od.JointCoupling(None, "b")),
    (ValueError, "layout must be one of", lambda: od.Layout(MODEL, 3.5)),
    (ValueError, "columns must be a whole number .* got True",
     lambda: od.function(od.mass_matrix_inverse_product, MODEL, columns=True)),
    (ValueError, "iterations must .* got True", lambda: od.assemble_q(MODEL, CONTACT, ca.DM(4, 1), iterations=True)),
    (od.ModelError, "com must be 3 numbers of size 1e.100 at most", lambda: add_body(mass=1, com=(0, 0, -1e101))),
    (ValueError, r"a quaternion \(x, y, z, w\) must be a column", lambda: od.quaternion_matrix([0, 0, 1])),
    (ValueError, "mass must lie between .* got 0.333333", lambda: od.models.human(mass=Fraction(1, 3))),
    (ValueError, "JointWork efficiency must be a pair", lambda: od.ocp.JointWork(efficiency=np.array(None))),
    (TypeError, "Problem terminal must hold|terminal", lambda: od.ocp.Problem(MODEL, od.ocp.Phase("a", 3, 1.0),
        terminal=np.array(None))),
    (ValueError, "axis must be 3 finite numbers, got ", lambda: od.Revolute(ITSELF)),
    (TypeError, "q must be", lambda: od.mass_matrix(MODEL, ITSELF)),
    (TypeError, "PointTarget needs a frame .* got nan", lambda: od.PointTarget(np.nan, (0, 0, 1))),
    (TypeError, "OrientationTarget needs a frame .* got 3", lambda: od.OrientationTarget(3, np.eye(3))),
    (TypeError, "CenterOfMassTarget name must be a string", lambda: od.CenterOfMassTarget((0, 0, 1), name=[np.nan])),
    (ValueError, "a point must be three finite numbers",
     lambda: od.point_position(MODEL, "b2", ca.DM(4, 1), ca.DM([0, 0, np.nan]))),
    (TypeError, "CustomConstraint timed must be True or False",
        lambda: od.CustomConstraint(lambda q: q[0], timed=np.nan)),
    (ValueError, "Contact axes must be a subset of 'xyz'", lambda: od.Contact("b2", axes=np.array(None))),
    (TypeError, "model must be a Model", lambda: CONTACT.at(3, ca.DM(4, 1))),
    (TypeError, "random_q needs rng", lambda: MODEL.random_q(3)),
    (ValueError, "direction must be 1 or -1", lambda: od.StrengthCurve(9, 0.3, 1.2, 1.5, 4.0,
        direction=ca.DM([1, -1]))),
    (TypeError, "absolute_angles needs a Model", lambda: od.models.absolute_angles(3)),
    (TypeError, "rows_of needs a name", lambda: od.formulations.natural(MODEL).rows_of(np.nan)),
    (TypeError, "five_bar_pendulum: lumped must be True or False", lambda: od.models.five_bar_pendulum(lumped=np.nan)),
    (KeyError, "no joint or dof array", lambda: od.formulations.independent_coordinates(
        BAR.model, BAR.loops, BAR.q, prefer=np.zeros((3, 3)))),
    (KeyError, "no point or vector", lambda: od.formulations.natural(MODEL).element([])),
    (KeyError, "no moving body", lambda: od.formulations.open_by_removing(BAR.model, BAR.loops, np.zeros((3, 3)))),
    (od.ModelError, "no joint array", lambda: od.ModelBuilder().add_mimic(np.zeros(3), "b")),
    (TypeError, "a law is a text such as", lambda: od.Quantity("E", law=np.zeros(3))),
    (ValueError, "the period .s. must not hold NaN", lambda: od.ocp.follow_limit_cycles([], [0.0], np.nan)),
    (ValueError, "iterations must be at least 1 and at most 1000", lambda: od.formulations.trapezoidal_motion(
        MODEL, od.formulations.natural(MODEL), np.zeros(4), h=0.01, duration=0.02, iterations=10**9)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "message", "call"), REFUSED, ids=[message for _, message, _ in REFUSED])
@pytest.mark.slow
def test_wrong_arguments_are_refused(error, message, call):
    with pytest.raises(error, match=message):
        call()


COUPLED = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="knee" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
<joint name="rod" type="revolute"><parent link="a"/><child link="c"/><axis xyz="0 0 1"/><mimic joint="nee"/></joint>
</robot>"""
MISSPELLED = [
    ("'cholesky'", lambda: od.forward_dynamics_crba(MODEL, *[ca.DM(4, 1)] * 3, method="cholesk")),
    ("'quaternion'", lambda: od.FloatingBase("quaternions")),
    ("'zyx'", lambda: od.Euler("zyxx")),
    ("'range'", lambda: od.constrained_dynamics(MODEL, CONTACT, *[ca.DM(4, 1)] * 3, solver="rang")),
    ("'double'", lambda: od.codegen.compile([od.function(od.mass_matrix, MODEL)], precision="duble")),
    ("'jac'", lambda: od.codegen.generate([od.function(od.mass_matrix, MODEL)], "p", derivatives=("jak",))),
    ("'pinocchio'", lambda: od.Layout(MODEL, "pinochio")),
    ("'couple'", lambda: od.parse_urdf("<robot/>", mimic="coupled")),
    ("'refuse'", lambda: od.parse_urdf("<robot/>", inertia="refused")),
    ("'xyz'", lambda: od.parse_urdf(COUPLED.replace("<axis", '<origin xzy="0 0 0"/><axis', 1))),
    ("'knee'", lambda: od.parse_urdf(COUPLED, mimic="couple")),
    ("'gauss:2'", lambda: od.integrators.scheme("gaus:2")),
    ("'midpoint'", lambda: od.integrators.scheme("midpiont")),
    ("'revolute'", lambda: od.Loop("b1", "b2", axes="revolut")),
    ("'qdd'", lambda: od.function(od.inverse_dynamics, MODEL)(q=0, qd=0, qdddd=0)),
    ("'armature'", lambda: od.Loads(armatur=True)),
    ("'integrator'", lambda: od.ocp.Problem(MODEL, od.ocp.Phase("swing", 2, 1.0), integratr="rk4")),
    ("'progress'", lambda: od.ocp.Problem(MODEL, od.ocp.Phase("swing", 2, 1.0)).solve(progres=False)),
    ("'positive'", lambda: od.ocp.MechanicalWork(kind="positiv")),
    ("'mass'", lambda: add_body(mas=1)),
    ("'b3_joint'", lambda: od.Layout(MODEL, "rbdl", joints=["b1_joint", "b2_joint", "b3_jont", "b4_joint"])),
    ("'method'", lambda: od.function(od.forward_dynamics_crba, MODEL, methd="ltl")),
    ("'local'", lambda: od.frame_velocity(MODEL, "b1", ca.DM(4, 1), ca.DM(4, 1), reference="locl")),
]  # fmt: skip


@pytest.mark.parametrize(("near", "call"), MISSPELLED, ids=[near for near, _ in MISSPELLED])
@pytest.mark.slow
def test_misspelled_names_and_words_suggest_the_nearest(near, call):
    with pytest.raises((TypeError, ValueError, KeyError), match=f"did you mean .*{near}"):
        call()


def test_functions_take_every_input_in_its_own_size():
    ID = od.function(od.inverse_dynamics, FLOATING)
    q, v = FLOATING.neutral(), np.zeros(FLOATING.nv)
    for wrong, message in (
        (
            (0, 0, 0),
            rf"ID: q has the shape \(\), expected \({FLOATING.nq}, 1\): nq = .*; one number does not .*neutral",
        ),
        ((q, 1, 0), rf"ID: qd has the shape \(\), .* nv = {FLOATING.nv}, b1_joint.x, .*; one number .*, except 0"),
        ((v, v, v), rf"ID: q has the shape .*: nq = {FLOATING.nq}, b1_joint.x, b1_joint.y, .*in all\)$"),
        ((q, q, v), rf"ID: qd has the shape .*: nv = {FLOATING.nv}, b1_joint.x, b1_joint.y, .*in all\)$"),
    ):
        with pytest.raises(ValueError, match=message):
            ID(*wrong)
    three = ID.map(3)
    columns = np.tile(q, (3, 1)).T
    assert np.array_equal(three(columns, 0, 0).full(), np.tile(ID(q, 0, 0).full(), 3))
    assert np.array_equal(three(q[:, None], 0, 0).full(), np.tile(ID(q, 0, 0).full(), 3))  # repeated, as CasADi does
    with pytest.raises(ValueError, match=rf"q has the shape \(\), expected \({FLOATING.nq}, 3\): nq = .* one number"):
        three(0, 0, 0)
    between = od.function(od.interpolate, FLOATING)
    with pytest.raises(ValueError, match=r"interpolate: q0 has the shape \(\), .*: nq = .* one number does not"):
        between(0, q, 0.5)
    hand = od.function(od.inverse_dynamics, FLOATING, parameters=("gravity",))
    with pytest.raises(ValueError, match=r"ID: gravity has the shape \(2,\), expected \(3, 1\): x, y, z$"):
        hand(q, v, v, [0, 0])
    with pytest.raises(ValueError, match=rf"ID: qd has the shape \(\), expected \({FLOATING.nv}, 1\).*, except 0"):
        ID(q, 1.5, v)
    with pytest.raises(ValueError, match=r"ID: qd has the shape \(1, 1\)"):
        ID(q, ca.SX.sym("x"), v)
    close(ID(q, 0, ca.DM(0)), ID(q, v, v))
    with pytest.raises(ValueError, match=rf"ID: qdd has the shape \(3,\), expected \({FLOATING.nv}, 1\)"):
        ID(q, v, [1, 2, 3])
    with pytest.raises(TypeError, match="ID: qd must be numbers or an expression, got 'a'"):
        ID(q, "a", v)
    with pytest.raises(TypeError, match=r"ID takes 3 arguments \(q, qd, qdd\), got 2"):
        ID(q, v)
    with pytest.raises(TypeError, match="ID: qd, qdd not given; inputs are q, qd, qdd"):
        ID(q=q)
    with pytest.raises(TypeError, match="ID: no input x"):
        ID(q=q, qd=v, qdd=v, x=1)
    with pytest.raises(TypeError, match=r"expressions of one kind .* got SX, MX, ndarray"):
        ID(ca.SX.sym("q", FLOATING.nq), ca.MX.sym("v", FLOATING.nv), v)
    with pytest.raises(ValueError, match="must hold equally many, got q 2, qd 3"):
        ID(np.tile(q[:, None], 2), np.zeros((FLOATING.nv, 3)), v)


def test_functions_take_arguments_in_order_or_by_name_and_nothing_for_nothing():
    x, u = ca.SX.sym("x", 2), ca.SX.sym("u", 0)
    f = CheckedFunction("f", [x, u], [ca.sumsqr(x)], ["x", "u"], ["y"])
    for none in ([], (), ca.DM(), ca.DM(0, 1), np.zeros((1, 0))):
        assert float(f([1, 2], none)) == 5.0
    with pytest.raises(TypeError, match="give all arguments in order, or all by name"):
        f([1, 2], u=[])
    with pytest.raises(ValueError, match=r"x has the shape \(0, 0\), expected \(2, 1\)"):
        f(ca.DM(), [])


def test_functions_stay_casadi_functions():
    ID = od.function(od.inverse_dynamics, FLOATING)
    q, v = FLOATING.neutral(), np.ones(FLOATING.nv)
    tau = ID(q, v, v)
    assert isinstance(ID, ca.Function)
    assert np.array_equal(flat(ID(q=q, qd=v, qdd=v)["tau"]), flat(tau))
    assert np.array_equal(flat(ID(q[None], v, ca.DM(v))), flat(tau))
    many = ID(np.tile(q[:, None], 3), v, v)
    assert many.shape == (FLOATING.nv, 3)
    Q = ca.MX.sym("q", FLOATING.nq)
    assert np.array_equal(flat(ca.Function("f", [Q], [ID(Q, v, v)])(q)), flat(tau))
    assert np.array_equal(flat(ca.Function.deserialize(ID.serialize())(q, v, v)), flat(tau))


@pytest.mark.parametrize("algorithm", [od.forward_dynamics, od.forward_dynamics_crba, od.mass_matrix_inverse])
@pytest.mark.slow
def test_joints_that_move_no_inertia_have_no_forward_dynamics(algorithm):
    for joint, options in (
        (od.Revolute("x"), {}),
        (od.Prismatic("x"), {}),
        (od.Revolute("x"), {"mass": 1, "com": (0.3, 0, 0)}),  # a point mass on the axis
        (od.Spherical(), {"mass": 1, "com": (0.3, 0, 0)}),
    ):
        builder = od.ModelBuilder()
        builder.add_body("rod", od.FloatingBase(), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
        builder.add_body("tip", joint, "rod", origin=(0, 0, -1), **options, armature=0.2)
        model = builder.build()
        with pytest.raises(od.ModelError, match=r"joint 'tip_joint', which moves body 'tip' .*armature=True"):
            od.function(algorithm, model)
        od.function(algorithm, model, loads=od.Loads(armature=True))
        tau = od.function(od.inverse_dynamics, model)(model.neutral(), np.ones(model.nv), np.ones(model.nv))
        assert np.all(np.isfinite(np.array(tau)))
    text = """<robot name="r"><link name="base"><inertial><mass value="1"/></inertial></link><link name="tip"/>
      <joint name="j" type="revolute"><parent link="base"/><child link="tip"/></joint></robot>"""
    with pytest.raises(od.ModelError, match="joint 'j', which moves body 'tip'"):
        od.function(algorithm, od.parse_urdf(text))


@mostly_slow("scale", (1e-6, 1e6), (1e-6,))
@pytest.mark.slow
def test_small_and_large_robots_move_inertia(scale):
    for name in (*(key for key in TREES if key != "screws"), "helical_skew", "multi_dof"):
        check_invertible(tree(name).scale(scale, scale**2))


def two_joints(first, second):
    """A body on a massless one."""
    builder = od.ModelBuilder()
    builder.add_body("link", first)
    builder.add_body("body", second, "link", mass=2.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    return builder.build()


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.slow
def test_a_massless_link_moves_what_is_left_to_it(scale):
    """Between axes across each other there is inertia for both; the second of two equal axes leaves none to the
    first."""
    for joint in (od.Revolute("y"), od.Prismatic("x"), od.Prismatic("z")):
        check_invertible(two_joints(od.Revolute("z"), joint).scale(scale, scale))
    for joint in (od.Revolute("z"), od.Revolute((0.36, 0.48, 0.8)), od.Prismatic((0.36, 0.48, 0.8))):
        with pytest.raises(od.ModelError, match="joint 'link_joint', which moves body 'link'"):
            check_invertible(two_joints(joint, joint).scale(scale, scale))


@pytest.mark.slow
def test_buffers_and_compiled_functions_do_not_broadcast():
    fast = od.codegen.compile([od.function(od.mass_matrix, MODEL)])
    buffer = fast.H.buffer()
    with pytest.raises(ValueError, match=r"H: q has the shape \(\), expected \(4,\): nq = 4, "):
        buffer(0.0)
    with pytest.raises(TypeError, match="H: q must hold real numbers, got 'x'"):
        buffer("x")
    with pytest.raises(ValueError, match="q has the shape"):
        fast.H(0.0)


@pytest.mark.parametrize(
    "value",
    ["a" * 10_000_000, HUGE, [[1] * 1000] * 1000, np.zeros((500, 500)), ca.SX.sym("x", 999), {"k": ["v" * 9999] * 99}],
)
def test_messages_show_large_values_shortened(value):
    assert 0 < len(repr_in_message(value)) <= 200
    with pytest.raises(od.ModelError) as caught:
        add_body(mass=value)
    assert len(str(caught.value)) < 400


def test_options_without_effect_are_refused():
    """alpha, omega, mu and others that the chosen method does not use."""
    f, bar = od.formulations, od.models.n_four_bar(1)
    at = bar.q, bar.qd, np.zeros(3)
    opened = f.open_by_removing(bar.model, bar.loops, "coupler1")
    for options, message in (
        ({"alpha": 1e6}, "alpha: for method='penalty' only, got method='multipliers': leave out alpha"),
        ({"omega": 5.0, "mu": 1.0}, "omega, mu: for method='penalty' only"),
    ):
        with pytest.raises(ValueError, match=message):
            f.closed_chain_dynamics(bar.model, bar.loops, *at, **options)
        with pytest.raises(ValueError, match=message):
            f.closed_chain_dynamics_a(bar.model, opened, *at, **options)
    rod = od.models.pendulum()
    natural = f.natural(rod)
    x = f.natural_from_q(rod, natural, [0.1])
    for options, message in (
        ({"alpha": 1e6}, r"alpha has no effect without method='penalty', got alpha=1000000\.0: leave it out"),
        ({"iterations": 2}, "iterations has no effect without method='penalty'"),
        ({"mu": 1.0}, "mu has no effect without omega above zero"),
        ({"at": (1.0, 0.0)}, "at has no effect without method='matrix_r'"),
    ):
        with pytest.raises(ValueError, match=message):
            f.natural_forward_dynamics(rod, natural, x, ca.DM.zeros(2), [0.0], **options)
    step = od.function(f.trapezoidal_step, rod, natural)
    with pytest.raises(ValueError, match="trapezoidal_motion: mu has no effect beside step"):
        f.trapezoidal_motion(rod, natural, [0.1], h=0.1, duration=0.1, step=step, mu=0.1)


@pytest.mark.parametrize("kind", [ca.SX, ca.MX])
@pytest.mark.slow
def test_numbers_for_q_mix_with_symbols_for_velocities(kind):
    f, bar = od.formulations, od.models.n_four_bar(1)
    q, tau = ca.DM([0.1, -0.1, 0.1]), ca.DM([1, 2, 3])
    qd = kind.sym("qd", 3)
    for run in (f.forward_dynamics_formulation_b, lambda model, *at: f.closed_chain_dynamics(model, bar.loops, *at)[0]):
        found = run(bar.model, q, qd, tau)
        assert isinstance(found, kind)
        value = ca.Function("f", [qd], [found])(ca.DM([1, -1, 1]))
        assert float(ca.norm_inf(value - run(bar.model, q, ca.DM([1, -1, 1]), tau))) < 1e-9


def test_transforms_and_inertias_take_arrays_and_lists():
    X, Y = od.Transform(np.eye(3), [0, 0, 1]), od.Transform(ca.DM.eye(3), ca.DM([0, 0, 1]))
    motion = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    for operation in ("apply", "apply_inverse", "apply_force", "apply_transpose"):
        found, expected = getattr(X, operation)(motion), getattr(Y, operation)(ca.DM(motion))
        assert isinstance(found, ca.DM)
        assert found.full().tolist() == expected.full().tolist()
    assert X.point([1, 2, 3]).full().ravel().tolist() == [1, 2, 4]
    assert (X @ X.inverse()).r.full().ravel().tolist() == [0, 0, 0]
    assert X.E.nnz() == 3  # zeros are structural
    body = od.Inertia(2, [0, 0, 1], np.diag([1.0, 2.0, 3.0]))
    assert body.apply(np.array(motion)).full().ravel().tolist() == pytest.approx([-0.4, 0.8, 0.9, 1.0, 0.9, 1.2])
    for made, message in (
        (lambda: od.Transform(np.eye(2), [0, 0, 0]), "Transform E must be 3 x 3"),
        (lambda: od.Transform(np.eye(3), [0, 0]), r"Transform r must be 3 x 1, got \[0, 0\]"),
        (lambda: od.Inertia(1, [0, 0], np.eye(3)), "Inertia h must be 3 x 1"),
        (lambda: od.Inertia([1, 2], [0, 0, 0], np.eye(3)), "Inertia m must be 1 x 1"),
    ):
        with pytest.raises(ValueError, match=message):
            made()
    with pytest.raises(TypeError, match="Transform E must be numbers, or a casadi SX, MX or DM, got 'x'"):
        od.Transform("x", [0, 0, 0])


@pytest.mark.parametrize("joint", [od.Spherical(), od.FloatingBase()])
@pytest.mark.parametrize("option", ["lower", "upper", "rest"])
def test_one_number_does_not_fit_a_quaternion(joint, option):
    builder = od.ModelBuilder()
    with pytest.raises(od.ModelError, match=rf"must be {joint.nq} numbers \(.*qx, qy, qz, qw\), got 1: one number"):
        builder.add_body("a", joint, mass=1, **{option: 1})
    builder.add_body("a", joint, mass=1, inertia=(1, 1, 1), lower=-np.inf, upper=np.inf, stiffness=1.0)
    builder.add_body("b", od.Euler("zyx"), mass=1, inertia=(1, 1, 1), lower=-1.0)
    assert builder.build().dofs.q_lower[-3:].tolist() == [-1, -1, -1]
