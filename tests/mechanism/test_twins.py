"""Equal models share what follows from their data."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict
from types import SimpleNamespace

import casadi as ca
import pytest

import ocp_dyn as od
from ocp_dyn.casadi_functions.differentiated_dynamics import differentiated
from ocp_dyn.mechanism import twins
from ocp_dyn.mechanism.parameters import with_parameters
from ocp_dyn.mechanism.twins import shared, twin
from ocp_dyn.models import pendulum
from ocp_dyn.ocp import equations
from ocp_dyn.ocp.equations import equations_of, reduced
from ocp_dyn.ocp.workflows.solve import prepare


def test_equal_models_are_one_key():
    one, other = pendulum(2), pendulum(2)
    assert one is not other
    assert twin(one) is twin(other) is twin(one)
    assert twin(pendulum(3)) is not twin(one)
    assert twin(one.with_gravity((0, 0, -1.62))) is not twin(one)
    assert differentiated(one) is differentiated(other)
    assert reduced(one) is reduced(other)
    assert od.function(od.mass_matrix, one) is not od.function(od.mass_matrix, other)  # a user's own


def test_models_with_symbols_are_their_own_twins():
    models = [with_parameters(pendulum(1), {"gravity": ca.SX.sym("g", 3)}) for _ in range(2)]
    assert [twin(model) is model for model in models] == [True, True]


def test_a_class_that_is_defined_again_is_another(monkeypatch):
    def model():
        class Hinge(od.Revolute):
            """A joint of a user."""

        builder = od.ModelBuilder("rod")
        builder.add_body("rod", Hinge("y"), mass=1, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.01))
        return builder.build()

    monkeypatch.setattr(twins.pickle, "dumps", lambda model: b"the same")
    one, other = model(), model()
    assert twin(one) is not twin(other)


def test_models_live_no_longer_for_it():
    first = pendulum(1).with_gravity((0.3, 0.2, -7.7))  # no other test has this model
    gone = weakref.ref(twin(first))
    del first
    gc.collect()
    assert gone() is None


def test_models_of_the_last_problems_are_kept_for_the_next(monkeypatch):
    monkeypatch.setattr(equations, "_recent", OrderedDict())
    monkeypatch.setattr(equations, "MODELS_KEPT", 2)
    models = [lambda n=n: pendulum(n).with_gravity((0.3, 0.1, -8.8)) for n in (1, 2, 3)]  # no other test has them
    gone = [weakref.ref(equations_of(SimpleNamespace(model=new(), loads=od.Loads())).model) for new in models]
    gc.collect()
    assert [ref() is None for ref in gone] == [True, False, False]


def test_mirror_maps_belong_to_the_model_that_was_asked_for():
    one, other = od.models.human(), od.models.human()
    first, second = od.ocp.mirror_map(one), od.ocp.mirror_map(other)
    assert first.model is one
    assert second.model is other
    assert first.partners == second.partners
    assert float(ca.norm_fro(first.qd_matrix - second.qd_matrix)) == 0
    with pytest.raises(od.ModelError, match="not left-right symmetric"):
        od.ocp.mirror_map(one.with_inertia(one.body_names[-1], mass=9.0))


def test_a_shared_model_takes_the_frames_of_all_equal_models():
    models = [pendulum(2).with_gravity((0.2, 0.3, -6.6)) for _ in range(2)]
    own = [shared(model) for model in models]
    assert own[0] is own[1]
    assert own[0] not in models
    name = models[0].frame_names[-1]
    q = ca.DM([0.3, 0.4])
    for model in models:
        found = od.pose(own[0], model.frame(name), q)
        assert all(float(ca.norm_fro(a - b)) == 0 for a, b in zip(found, od.pose(model, name, q), strict=True))
    for model, other in (models, models[::-1], (models[0], own[0])):
        with pytest.raises(ValueError, match="belongs to another model"):
            od.pose(model, other.frame(name), q)
    symbolic = with_parameters(models[0], {"gravity": ca.SX.sym("g", 3)})
    assert shared(symbolic) is symbolic


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
