"""A misspelled word is answered with the nearest one: in every option that takes a word, and in every name."""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp
from ocp_dyn._base.types import suggestion

ROD = od.models.pendulum()
HUMAN = od.models.human()
STATE = ([0.1], [0.0], [0.0])
TIP = od.Contact("tip", axes="x")
COSTS = [ocp.TorqueSquared()]
DRONE = "<robot name='drone'><link name='body'/></robot>"


def problem(**options):
    return ocp.Problem(ROD, [ocp.Phase("swing", 2, 1.0, objective=COSTS)], **options)


@pytest.fixture(scope="module")
def solution():
    return problem().solve(progress=False)


ID = od.function(od.inverse_dynamics, ROD)
FORMULATIONS = od.formulations
NATURAL = FORMULATIONS.natural(ROD)
X = FORMULATIONS.natural_from_q(ROD, NATURAL, [0.1])
LOOP = [od.Loop("tip", "link1", "ball")]

WORDS = {
    "male": lambda: od.models.human(sex="mal"),
    "female": lambda: od.models.human_dimensions(sex="femal"),
    "pinned": lambda: od.models.compass_walker(root="pined"),
    "planar": lambda: od.models.five_link_biped(root="plannar"),
    "quaternion": lambda: od.FloatingBase("quaternions"),
    "revolute": lambda: od.Loop("a", "b", "revolut"),
    "local": lambda: od.frame_velocity(ROD, "tip", [0.0], [0.0], reference="locl"),
    "ltdl": lambda: od.forward_dynamics_crba(ROD, *STATE, method="ltd"),
    "range": lambda: od.constrained_dynamics(ROD, [TIP], *STATE, solver="rang"),
    "couple": lambda: od.parse_urdf(DRONE, mimic="coupl"),
    "keep": lambda: od.parse_urdf(DRONE, inertia="kep"),
    "mujoco": lambda: od.Layout(ROD, "mujoko"),
    "speed": lambda: od.viz.show(ROD, sped=1),
    "gravity": lambda: od.function(od.inverse_dynamics, ROD, parameters=("gravty",)),
    "link1": lambda: od.function(od.inverse_dynamics, ROD, parameters=("mass:lnk1",)),
    "tip": lambda: ROD.frame("tib"),
    "joint1": lambda: ROD.q_slice("jont1"),
    "dofs": lambda: od.Quantity("a", rows="dof"),
    "stiffness": lambda: od.ModelBuilder().add_body("a", od.Revolute("z"), stifness=1),
    "penalty": lambda: FORMULATIONS.closed_chain_dynamics(ROD, LOOP, *STATE, method="penalti"),
    "multipliers": lambda: FORMULATIONS.natural_forward_dynamics(ROD, NATURAL, X, X, [0.0], method="multiplier"),
    "augmented": lambda: FORMULATIONS.trapezoidal_motion(ROD, NATURAL, [0.1], h=0.1, duration=1, method="augmentd"),
    "rk4": lambda: FORMULATIONS.runge_kutta_motion(ROD, lambda q, qd, tau: q, [0.0], [0.0], h=1, duration=1,
        method="rk5"),
    "auto": lambda: FORMULATIONS.natural(ROD, plane="aut"),
    "double": lambda: od.codegen.compile([ID], precision="duble"),
    "single": lambda: od.codegen.generate([ID], "rod", precision="singel"),
    "jac": lambda: od.codegen.generate([ID], "rod", derivatives=["jaco"]),
    "implicit": lambda: problem(form="implicite"),
    "midpoint": lambda: problem(integrator="midpont"),
    "linear": lambda: problem(torque="linar"),
    "velocity": lambda: problem(contact_level="velocty"),
    "ipopt": lambda: problem().solve(solver="ipop"),
    "tolerance": lambda: problem().solve(tolerence=1e-3, progress=False),
    "piqp": lambda: problem().solve(solver="sqp", qp="piq", progress=False),
    "gauss-newton": lambda: problem().solve(solver="sqp", hessian="gaus-newton", progress=False),
    "stages": lambda: problem().kkt_pattern("stage"),
    "interval": lambda: ocp.Path(lambda instant: instant.q, where="intervall"),
    "positive": lambda: ocp.MechanicalWork(kind="positiv"),
    "absolute": lambda: ocp.Peak(lambda instant: instant.q, kind="abs"),
    "angle": lambda: problem(parameters=[ocp.Parameter("angle", 1.0)]).solve(values={"angel": 1}, progress=False),
}  # fmt: skip

OF_CALLS = {
    "reference": lambda motion: ocp.Gait("right", "a walk", {}, {}, {}).plot(refrence="winter"),
    "effort": lambda motion: ROD.with_limits(efort=1),
    "rng": lambda motion: ROD.random_q(rgn=1),
    "gait": lambda motion: ocp.Horizon(HUMAN, [], gati="trot"),
    "targets": lambda motion: od.inverse_kinematics(ROD, tarets=[]),
    "qdd": lambda motion: od.inverse_dynamics(ROD, 0.0, 0.0, qddd=0.0),
    "samples": lambda motion: motion.table(sampels=5),
    "stride": lambda motion: motion.to_dataframe(strde=True),
    "delimiter": lambda motion: motion.to_csv("a.csv", delimeter=";"),
    "step": lambda motion: motion.floquet_multipliers(stpe=0.1),
    "side": lambda motion: motion.gait(sied="left"),
    "path": lambda motion: motion.save(pth="a.npz"),
    "defects": lambda motion: motion.summary(defect=False),
    "view": lambda motion: od.viz.plot_model(ROD, veiw="side"),
    "values": lambda motion: problem().check(value={}),
    "noise": lambda motion: ocp.multistart(problem(), 2, nois=1.0),
    "hessian": lambda motion: problem().rti(motion, hesian="exact"),
    "barrier": lambda motion: problem().rti(motion, qp="riccati", barier=1.0),
}

OF_A_SOLUTION = OF_CALLS | {
    "side": lambda motion: od.viz.animate(motion, "walk.gif", view="sid"),
    ".gif": lambda motion: od.viz.animate(motion, "walk.gf"),
    ".png": lambda motion: od.viz.plot(motion, "walk.pgn"),
    "torques": lambda motion: od.viz.plot_motion(motion, quantities=["torqe"]),
    "joint1": lambda motion: od.viz.plot_motion(motion, joints=["jont1"]),
    "swing": lambda motion: motion.active().where(phase="swng"),
    "bound": lambda motion: motion.active().where(kind="bond"),
    "pinocchio": lambda motion: motion.table("pinochio"),
    "riccati": lambda motion: problem().rti(motion, qp="ricati"),
    "qrqp": lambda motion: problem().rti(motion, qp="qrq"),
    "exact": lambda motion: problem().rti(motion, hessian="exct"),
    "top": lambda motion: od.viz.plot_model(ROD, view="tpo"),
    "frames": lambda motion: od.viz.plot_model(ROD, labels="frame"),
    "kkt": lambda motion: od.viz.spy(problem(), order="kk"),
}


@pytest.mark.parametrize("word", WORDS)
def test_options_suggest_the_nearest_word(word: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError), match=f"did you mean .*'{word}'") as error:
        WORDS[word]()
    assert len(str(error.value)) < 600


@pytest.mark.parametrize("word", OF_A_SOLUTION)
def test_options_of_motions_suggest_the_nearest_word(word: str, solution: ocp.Solution) -> None:
    with pytest.raises((ValueError, KeyError, TypeError), match=f"did you mean .*'{word}'"):
        OF_A_SOLUTION[word](solution)


def test_names_of_the_same_words_are_near() -> None:
    assert suggestion("left_sole", HUMAN.frame_names) == ": did you mean 'sole_l'?"
    assert suggestion("-", HUMAN.frame_names) == ""
    assert suggestion("right hip", HUMAN.joint_names) == ": did you mean 'hip_r'?"
    assert suggestion("left_sole", ["left_sole_link", "base"]) == ": did you mean 'left_sole_link'?"
    assert suggestion("sole_l", ["base", "left_foot_and_its_sole_at_the_ground"]).endswith("sole_at_the_ground'?")
    assert suggestion("b", ["base"]) == ""  # one letter tells nothing
    assert suggestion("uppe", HUMAN.frame_names).startswith(": did you mean 'upper_trunk'")
    for name in ("", "wheel", None, 3, np.zeros(3), ca.SX.sym("x")):
        assert suggestion(name, HUMAN.joint_names) == ""


@pytest.mark.parametrize("kinds", [np.array([1, 2]), np.array([[1, 2], [3, 4]]), [["jac"]], [{}]])
def test_kinds_of_derivatives_are_words(kinds: object) -> None:
    with pytest.raises(ValueError, match="derivatives are 'jac', 'fwd1', 'adj1', 'jac_adj1', got"):
        od.codegen.generate([ID], "rod", derivatives=kinds)


def test_names_of_files_and_of_attributes_in_functions(tmp_path) -> None:
    od.save_model(ROD, tmp_path / "rod.json")
    with pytest.raises(FileNotFoundError, match=r"no file '.*rdo.json': did you mean 'rod.json'"):
        od.load(tmp_path / "rdo.json")
    with pytest.raises(FileNotFoundError, match=r"no file .nothing/rod.json.$"):
        ocp.Solution.load("nothing/rod.json")
    phase = ocp.Phase("swing", 2, 1.0, objective=[ocp.Integral(lambda instant: instant.taus[0])])
    with pytest.raises(ValueError, match="no attribute 'taus': did you mean 'tau'"):
        ocp.Problem(ROD, [phase]).solve(progress=False)


ROOMS = [od, od.codegen, od.control, od.formulations, od.io, od.models, od.muscles, od.ocp, od.recordings, od.replay]
ROOMS += [od.robots, od.simulation, od.viz, od.walking]


SMALL = od.Transform, od.Inertia  # of the recursions


def takes_names(public: Any) -> list[str]:
    """Names of the arguments of a public function or class; none for results, errors, and where arguments are handed
    on."""
    if isinstance(public, type):
        if issubclass(public, (tuple, dict, BaseException)) or public in SMALL:
            return []
    elif not inspect.isfunction(public):
        return []
    found = inspect.signature(public).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in found):
        return []
    return [one.name for one in found if len(one.name) > 2 and one.kind is not one.VAR_POSITIONAL]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
@pytest.mark.slow
def test_misspelled_arguments_of_everything_public_are_answered_with_the_nearest(room: Any) -> None:
    for public in (getattr(room, name) for name in room.__all__):
        for name in takes_names(public):
            with pytest.raises(TypeError, match=f"has no argument '{name}y': did you mean .*'{name}'"):
                public(**{name + "y": None})


OF_OBJECTS = {
    "nv": lambda motion: ROD.nv_,
    "effort": lambda motion: ROD.dofs.efort,
    "axis": lambda motion: ROD.joints[1].axs,
    "weight": lambda motion: COSTS[0].wieght,
    "solve": lambda motion: problem().solv,
    "summary": lambda motion: motion.sumary,
    "qdd": lambda motion: motion.phases[0].qdd_,
    "scale": lambda motion: motion.record.scael,
    "samples": lambda motion: problem().rti(motion).sample,
}


@pytest.mark.parametrize("word", OF_OBJECTS)
def test_a_misspelled_attribute_of_an_object_suggests_the_nearest(solution, word):
    with pytest.raises(AttributeError, match=f"has no attribute .*did you mean .*'{word}'"):
        OF_OBJECTS[word](solution)


def test_tools_may_ask_objects_for_what_they_do_not_have(solution):
    for each in (ROD, COSTS[0], solution, problem()):
        assert not hasattr(each, "shape")
        assert getattr(each, "_repr_latex_", None) is None
        assert type(copy.copy(each)) is type(each)
        assert type(pickle.loads(pickle.dumps(each))) is type(each)
    with pytest.raises(AttributeError) as found:
        solution._repr_mimebundel_  # noqa: B018, tools ask for names with _
    assert "did you mean" not in str(found.value)
    assert found.value.obj is None  # with it Python would add a second suggestion


def test_the_error_in_a_property_is_its_own(solution):
    class Broken(ocp.Cost):
        @property
        def slope(self):
            return ROD.nothing.like_it

        def integrand(self, instant):
            return 0.0

    assert Broken.__getattr__ is ocp.TorqueSquared.__getattr__
    with pytest.raises(AttributeError, match="Model has no attribute 'nothing'"):
        _ = Broken().slope
