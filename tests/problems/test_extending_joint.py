"""A joint of the user's own: dynamics, files of models and of solutions, errors."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn import ocp
from problems.extending.joint import Screw

AXIS = od.Revolute((1, 2, 3)).axis
PITCH = 1 / 7


def model(joint: od.Joint) -> od.Model:
    """A branched mechanism with the joint at the root and inside."""
    builder = od.ModelBuilder("screws")
    builder.add_body("base", joint, mass=1.3, com=(0.1, 0.2, -0.1), inertia=(0.1, 0.2, 0.25), damping=0.1)
    for name, kind, parent in (
        ("arm", od.Revolute("y"), "base"),
        ("nut", joint, "arm"),
        ("slide", od.Prismatic("x"), "base"),
    ):
        builder.add_body(
            name, kind, parent, origin=(0.3, -0.1, 0.2), mass=0.7, com=(0, 0.1, 0.2), inertia=(0.1, 0.1, 0.1)
        )
    return builder.build()


OWN, BUILT_IN = model(Screw(PITCH, AXIS)), model(od.Helical(AXIS, pitch=PITCH))


@pytest.mark.parametrize(
    "algorithm",
    [od.inverse_dynamics, od.forward_dynamics, od.mass_matrix, od.bias_force, od.inverse_dynamics_derivatives],
)
@pytest.mark.slow
def test_algorithms_agree_with_the_library_s_joint(algorithm: Any, rng: np.random.Generator) -> None:
    f, g = od.function(algorithm, OWN), od.function(algorithm, BUILT_IN)
    x = [DM(rng.normal(size=f.size1_in(i))) for i in range(f.n_in())]
    for k in range(f.n_out()):
        np.testing.assert_allclose(f.call(x)[k].full(), g.call(x)[k].full(), rtol=1e-12, atol=1e-13)


def test_constrained_dynamics_agree(rng: np.random.Generator) -> None:
    q, qd, tau = (DM(rng.normal(size=4)) for _ in range(3))
    (a, lam), (b, mu) = (od.constrained_dynamics(m, od.Contact("nut", axes="xz"), q, qd, tau) for m in (OWN, BUILT_IN))
    np.testing.assert_allclose(ca.vertcat(a, lam).full(), ca.vertcat(b, mu).full(), rtol=1e-10, atol=1e-12)


def test_a_file_gives_the_model_back_exactly(tmp_path: Any) -> None:
    path = tmp_path / "screws.json"
    od.save_model(OWN, path)
    again = od.load_model(path, joints=(Screw,))
    assert again.joints == OWN.joints
    assert [type(x) for x in (again.joints[1].pitch, *again.joints[1].axis)] == [float] * 4
    q = DM([0.1, 0.2, 0.3, 0.4])
    assert np.array_equal(od.mass_matrix(again, q).full(), od.mass_matrix(OWN, q).full())
    assert od.load_model(path, joints=Screw).joints == OWN.joints


def test_a_class_that_is_not_given_is_named_with_the_remedy(tmp_path: Any) -> None:
    path = tmp_path / "screws.json"
    od.save_model(OWN, path)
    with pytest.raises(od.ModelError, match=r"screws.json: bodies\[0\].*no kind of joint 'Screw'.*joints=\(Screw,\)"):
        od.load_model(path)
    path.write_text(path.read_text().replace('"Screw"', '"Scerw"'))
    with pytest.raises(od.ModelError, match="no kind of joint 'Scerw': did you mean 'Screw'"):
        od.load_model(path, joints=(Screw,))


@pytest.mark.parametrize("wrong", [Screw(0.1), "Screw", (int,), (od.Joint,), (od.Contact,), ("Screw",)])
def test_what_is_no_class_of_joints_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"joints must be a tuple of classes.*such as joints=\(MyClass,\), got"):
        od.model_from_dict({}, joints=wrong)


def test_names_are_unique() -> None:
    @dataclass(frozen=True)
    class Revolute(Screw):
        pass

    with pytest.raises(ValueError, match="two classes are called 'Revolute', one may be the library's: rename"):
        od.model_from_dict({}, joints=(Revolute,))
    with pytest.raises(od.ModelError, match="body 'base': the class Revolute of its joint has the name of one of"):
        od.model_to_dict(model(Revolute(0.1)))


def test_fields_of_every_plain_kind_come_back() -> None:
    @dataclass(frozen=True)
    class Threaded(Screw):
        teeth: int = 3
        name: str = "M6"
        left: bool = True
        stops: tuple[tuple[float, ...], ...] = ((0.1,), (0.2, np.float64(1 / 3)))
        mark: None = None

    joint = Threaded(0.1)
    data = json.loads(json.dumps(od.model_to_dict(model(joint))))
    found = od.model_from_dict(data, joints=(Threaded,)).joints[1]
    assert found == joint
    assert (type(found.teeth), type(found.left)) == (int, bool)
    for key, value, message in (
        ("pitch", "inf", r"cannot be evaluated"),
        ("pitch", 1e300, r"'pitch' must be made of finite numbers, texts, null and lists"),
        ("stops", {}, r"'stops' must be made of finite numbers"),
        ("axis", [0, 1], r"cannot be evaluated"),
        ("thread", 1, r"Threaded has no 'thread'; it has: pitch, axis, teeth"),
    ):
        data["bodies"][0]["joint"] = data["bodies"][2]["joint"] | {key: value}
        with pytest.raises(od.ModelError, match=rf"bodies\[0\]: 'joint': .*{message}|bodies\[0\]: 'joint': {message}"):
            od.model_from_dict(data, joints=(Threaded,))


@dataclass(frozen=True)
class Degrees(Screw):
    """Its constructor changes the number that it is given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "pitch", self.pitch / 360)


@dataclass(frozen=True)
class Law(Screw):
    law: Any = print


def test_a_joint_that_a_file_could_not_give_back_is_refused() -> None:
    with pytest.raises(od.ModelError, match="a file would not give back the joint of body 'base': 'pitch' must be"):
        od.model_to_dict(model(Degrees(5.0)))
    with pytest.raises(od.ModelError, match=r"body 'base': Law.law = <built-in function print> cannot be written"):
        od.model_to_dict(model(Law(5.0)))


def test_a_solution_holds_the_joint(tmp_path: Any) -> None:
    builder = od.ModelBuilder("nut")
    builder.add_body("nut", Screw(PITCH), mass=1.0, inertia=(1, 1, 1))
    nut = builder.build()
    rest = ocp.Boundary(lambda start, end: (ca.vertcat(start.q, start.qd, end.q - 1, end.qd), 0.0, 0.0))
    problem = ocp.Problem(nut, ocp.Phase("turn", 4, 1.0, objective=ocp.TorqueSquared()), boundary=rest)
    solution = problem.solve(progress=False)
    path = solution.save(tmp_path / "turn.npz")
    again = ocp.Solution.load(path, joints=(Screw,))
    assert again.model.joints == nut.joints
    assert np.array_equal(again.tau, solution.tau)
    with pytest.raises(od.ModelError, match=r"turn.npz: .*no kind of joint 'Screw'.*joints=\(Screw,\)") as error:
        ocp.Solution.load(path)
    assert "damaged" not in str(error.value)
    with pytest.raises(TypeError, match="joints must be a tuple of classes"):
        ocp.Solution.load(path, joints=(replace(Screw(1.0)),))
