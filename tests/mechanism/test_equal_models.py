"""Models with equal data are equal, in sets and dicts too, and share what is found for one of them."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import time
import weakref
from dataclasses import fields, replace
from functools import lru_cache
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from casadi import DM

import ocp_dyn as od
from ocp_dyn.functions.description import describe
from ocp_dyn.functions.differentiated_dynamics import dynamics_derivatives
from ocp_dyn.mechanism import Annotations, CoordinateNames, DofData, FileJoint, Mimic, ShapeFile
from ocp_dyn.mechanism.equal_models import kept_per_model
from ocp_dyn.mechanism.parameters import with_parameters
from ocp_dyn.models import pendulum
from ocp_dyn.ocp import equations
from ocp_dyn.ocp.equations import equations_of, reduced
from ocp_dyn.ocp.workflows.attempt import prepare
from tests.helpers import close

LIGHT = (0.3, 0.2, -7.7)
"""A gravity that no other test has: so no other test holds what is found for a model here."""


def tree(joint=None, **options) -> od.Model:
    """Two links side by side on a third one."""
    builder = od.ModelBuilder("tree", gravity=LIGHT)
    for name, parent in (("a", "world"), ("b", "a"), ("c", "a")):
        hinge = joint if joint and name == "c" else od.Revolute("y")
        builder.add_body(name, hinge, parent, joint_name=f"to_{name}", mass=1, com=(0, 0, 0.1), **options)
    builder.add_frame("tip", "c", (0, 0, 0.5))
    builder.add_passive(od.OneSidedSpring("to_b", 10.0, 0.5))
    return builder.build()


MODEL = tree()
CHANGED = {
    "name": "bush",
    "gravity": (0.0, 0.0, -1.62),
    "parent": (-1, 0, 1, 2),
    "joints": (*MODEL.joints[:3], od.Prismatic("y")),
    "X_tree": (*MODEL.X_tree[:3], od.Transform(MODEL.X_tree[3].E, DM([0, 0, 0.1]))),
    "I": (*MODEL.I[:3], od.Inertia.from_com(1.0, (0, 0, 0.2), np.zeros((3, 3)))),
    "joint_names": ("to_a", "to_b", "hinge"),
    "body_names": ("a", "b", "d"),
    "frames": {**MODEL.frames, "tip": od.Frame("tip", 3)},
    "dofs": replace(MODEL.dofs, damping=[0.0, 0.0, 1e-9]),
    "mimics": (Mimic("to_b", "to_c"),),
    "file_joints": (FileJoint("to_a", continuous=True),),
    "shape_files": (ShapeFile("tree.urdf"),),
    "passive": (od.OneSidedSpring("to_b", 10.0, 0.6),),
    "coordinate_names": (CoordinateNames("to_a", ("angle",)),),
    "constraints": (od.JointCoupling("to_b", "to_c"),),
    "bushings": (od.Bushing("a", "b"),),
    "annotations": Annotations(markers=(od.Marker("m", "a", (0, 0, 0)),)),
}
FRAME = od.Frame("tip", 1, od.Transform(DM.eye(3), DM([1, 0, 0])))


@pytest.mark.parametrize("field", [field.name for field in fields(od.Model)])
def test_models_that_differ_in_one_field_are_not_equal(field):
    other = replace(MODEL, **{field: CHANGED[field]})
    assert other != MODEL
    assert len({MODEL, other, replace(other, **{field: getattr(MODEL, field)})}) == 2


@pytest.mark.parametrize("field", [field.name for field in fields(DofData)])
def test_models_that_differ_in_one_number_of_their_dofs_are_not_equal(field):
    values = np.array(getattr(MODEL.dofs, field))
    values[1] = -0.25 if field == "tau_min" else 0.25
    assert replace(MODEL, dofs=replace(MODEL.dofs, **{field: values})) != MODEL


@pytest.mark.parametrize(
    "other",
    [replace(FRAME, name="top"), replace(FRAME, body=2), replace(FRAME, X=od.Transform.identity()),
     replace(FRAME, stands_for=FRAME)],
)  # fmt: skip
def test_frames_are_equal_by_their_data(other):
    assert other != FRAME
    assert len({FRAME, other, replace(FRAME), copy.deepcopy(FRAME), pickle.loads(pickle.dumps(FRAME))}) == 2
    assert od.Contact(replace(FRAME)) == od.Contact(FRAME) != od.Contact(other)
    symbolic = replace(FRAME, X=od.Transform(DM.eye(3), ca.SX.sym("r", 3)))
    assert len({symbolic, symbolic, replace(symbolic)}) == 2


def test_models_that_were_made_in_different_ways_are_equal():
    made = {
        "again": tree(),
        "copy": copy.copy(MODEL),
        "deep copy": copy.deepcopy(MODEL),
        "pickle": pickle.loads(pickle.dumps(MODEL)),
        "file": od.model_from_dict(od.model_to_dict(MODEL)),
        "there and back": MODEL.with_gravity((0, 0, -1)).with_limits(effort=3.0).with_gravity(LIGHT).with_limits(
            effort=MODEL.dofs.effort),
        "passive torques added": replace(MODEL, passive=()).with_passive(MODEL.passive),
    }  # fmt: skip
    assert {name for name, other in made.items() if other != MODEL} == set()
    assert {MODEL: "kept"}[made["file"]] == "kept"
    assert len({hash(other) for other in made.values()} | {hash(MODEL)}) == 1
    one, other = (MODEL.with_inertia("a", mass=2.0), MODEL.with_limits(lower={"to_a": -1.0}))
    assert one.with_limits(lower={"to_a": -1.0}) == other.with_inertia("a", mass=2.0) != one
    assert MODEL.with_gravity((0.0, 0, -1)) == MODEL.with_gravity((-0.0, 0, -1))
    assert MODEL not in (1, None, "tree", MODEL.dofs)


def test_patterns_of_matrices_and_the_order_of_frames_count():
    """Graphs have other operations for zeros that are stored, and users may loop over frames."""
    full = od.Transform(ca.densify(MODEL.X_tree[1].E), MODEL.X_tree[1].r)
    assert replace(MODEL, X_tree=(MODEL.X_tree[0], full, *MODEL.X_tree[2:])) != MODEL
    assert replace(MODEL, frames=dict(reversed(MODEL.frames.items()))) != MODEL


def test_models_with_symbols_or_functions_equal_only_themselves():
    def slide(q):
        return od.Transform(DM.eye(3), ca.vertcat(0, 0, q))

    symbolic = [with_parameters(MODEL, {"gravity": ca.SX.sym("g", 3)}) for _ in range(2)]
    joint = od.CustomJoint(slide)
    for one, other in (symbolic, [tree(joint), tree(joint)]):
        assert len({one, other, one, copy.copy(one)}) == 3


def test_a_class_that_is_defined_again_and_attributes_that_are_no_fields_count():
    def hinge():
        class Hinge(od.Revolute):
            """A joint of a user."""

        return Hinge

    one, other = hinge(), hinge()
    assert tree(one("y")) == tree(one("y")) != tree(other("y"))
    noted = one("y")
    object.__setattr__(noted, "noted", [1.0])
    assert tree(noted) != tree(one("y"))


@pytest.mark.slow
def test_pickles_are_equal_in_a_process_with_other_hashes():
    code = (
        "import pickle, sys\nfrom ocp_dyn.models import pendulum\n"
        "one, other = pickle.load(sys.stdin.buffer), pendulum(2)\n"
        "assert one == other and hash(one) == hash(other) and {one: 1}[other]\n"
        "pickle.dump(one, sys.stdout.buffer)"
    )
    model = pendulum(2)
    assert hash(model)
    process = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(model), capture_output=True, check=True,
        env=os.environ | {"PYTHONHASHSEED": "1"},
    )  # fmt: skip
    assert pickle.loads(process.stdout) == model


@pytest.mark.slow
def test_equal_models_share_what_is_found():
    one, other = tree(), tree()
    assert dynamics_derivatives(one) is dynamics_derivatives(other)
    assert reduced(one) is reduced(other)
    assert od.function(od.mass_matrix, one) is od.function(od.mass_matrix, other)
    assert od.function(od.mass_matrix, one) is not od.function(od.mass_matrix, one.with_gravity((0, 0, -1)))
    feet = [(od.Contact(model.frame("tip"), axes="x"),) for model in (one, other)]
    found = [od.function(od.constrained_dynamics, one, foot) for foot in feet]
    assert found[0] is found[1] is od.function(od.constrained_dynamics, other, feet[0])


def test_results_are_kept_by_arguments_and_errors_are_not():
    calls = []

    @kept_per_model
    def found(model, power, base=2):
        """A power."""
        calls.append((power, base))
        return None if power < 0 else base**power if base else 1 / 0

    assert found.__doc__ == "A power."
    assert [found(tree(), 3), found(MODEL, 3), found(MODEL, 3, base=3), found(MODEL, 3, base=3)] == [8, 8, 27, 27]
    assert found(MODEL, -1) is found(MODEL, -1) is None
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            found(MODEL, 2, base=0)
    assert calls == [(3, 2), (3, 3), (-1, 2), (2, 0), (2, 0)]


@pytest.mark.slow
def test_results_live_as_long_as_one_of_the_equal_models():
    """Even those that hold the model, such as a Function whose algorithm holds it."""

    class Result:
        pass

    @kept_per_model
    def found(model):
        return [model, Result()]

    one, other = (MODEL.with_gravity((0, 0, -5.5)) for _ in range(2))
    gone = [weakref.ref(one), weakref.ref(found(one)[1])]
    assert found(other)[0] is one
    f = od.function(lambda model, q, held=one: q, one, signature="q -> same")
    del one
    gc.collect()
    assert found(other)[1] is gone[1]()
    del other, f
    gc.collect()
    assert [ref() for ref in gone] == [None, None]


@pytest.mark.slow
def test_a_function_that_was_found_by_its_description_is_freed():
    model = MODEL.with_gravity((0, 0, -4.4))
    f = od.function(od.inverse_dynamics, model)
    assert od.function(od.inverse_dynamics, describe(f).source) is f
    gone = weakref.ref(f)
    del f, model
    gc.collect()
    assert gone() is None


def test_threads_find_equal_models_equal_and_one_result():
    models, barrier, results = [tree() for _ in range(8)], threading.Barrier(8), []
    found = kept_per_model(lambda model: time.sleep(0.02) or object())

    def ask(model):
        barrier.wait()
        results.append((hash(model), found(model)))

    threads = [threading.Thread(target=ask, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert len(set(results)) == 1


@pytest.mark.slow
def test_models_of_the_last_problems_are_kept_for_the_next(monkeypatch):
    monkeypatch.setattr(equations, "_recent", lru_cache(2)(equations._recent.__wrapped__))
    models = [lambda n=n: pendulum(n).with_gravity(LIGHT) for n in (1, 2, 3)]
    gone = [weakref.ref(equations_of(SimpleNamespace(model=new(), loads=od.Loads())).model) for new in models]
    gc.collect()
    assert [ref() is None for ref in gone] == [True, False, False]


@pytest.mark.slow
def test_mirror_maps_belong_to_the_model_that_was_asked_for():
    one, other = od.models.human(), od.models.human()
    first, second = od.ocp.mirror_map(one), od.ocp.mirror_map(other)
    assert first.model is one
    assert second.model is other
    assert first.partners == second.partners
    assert float(ca.norm_fro(first.qd_matrix - second.qd_matrix)) == 0
    with pytest.raises(od.ModelError, match="not left-right symmetric"):
        od.ocp.mirror_map(one.with_inertia(one.body_names[-1], mass=9.0))


def test_a_model_takes_the_frames_of_equal_models():
    models = [pendulum(2).with_gravity(LIGHT) for _ in range(2)]
    q = DM([0.3, 0.4])
    for model, other in (models, models[::-1], (reduced(models[0]), models[1])):
        for found, expected in zip(od.pose(model, other.frame("tip"), q), od.pose(model, "tip", q), strict=True):
            close(found, expected)
    with pytest.raises(ValueError, match="belongs to another model"):
        od.pose(models[0], pendulum(2, length=2.0).frame("tip"), q)


@pytest.mark.slow
def test_problems_of_equal_models_take_frames_of_their_own_model():
    for _ in range(2):
        builder = od.ModelBuilder("slider")
        builder.add_body("block", od.FloatingBase(), mass=1.25, inertia=(0.3, 0.2, 0.1))
        builder.add_frame("corner", "block", (0.1, 0.2, 0))
        model = builder.build()
        held = od.ocp.Foothold(od.Contact(model.frame("corner"), axes="xyz"), x=0.0, y=0.0)
        phase = od.ocp.Phase("hang", 2, 0.1, held, objective=od.ocp.AccelerationSquared(1.0))
        assert prepare(od.ocp.Problem(model, phase))[1].n > 0
        contacts = (od.Contact(model.frame("corner")),)
        assert od.function(od.constrained_dynamics, model, contacts).n_in() == 3
