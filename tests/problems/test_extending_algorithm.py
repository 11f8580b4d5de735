"""An algorithm that is not of the library: one line gives it all that the library's own have."""

from __future__ import annotations

from typing import Any

import casadi as ca
import pytest

import ocp_dyn as od
from ocp_dyn.functions.description import describe
from ocp_dyn.functions.quantities import QUANTITIES
from tests.helpers import State, close, tree

MODEL, LOADS = tree("chain"), od.Loads()


@od.algorithm("reach: q p -> d power", od.Quantity("p", "m, world axes", rows=("x", "y", "z")), od.Quantity("d", "m"))
def reach(model: od.Model, q: Any, p: Any) -> tuple[Any, Any]:
    """Distance of the last body from a point, and its square."""
    d = ca.norm_2(od.point_position(model, model.body_names[-1], q) - p)
    return d, d**2


def power(model: od.Model, qd: Any, tau: Any) -> Any:
    return qd * tau


def test_one_line_gives_names_units_and_labels(rng):
    f = od.function(reach, MODEL)
    assert str(f).startswith(f"reach:(q[{MODEL.nq}],p[3])->(d,power)")
    labels = describe(f).labels
    assert labels["q"] == (QUANTITIES["q"].units, MODEL.q_names, ())
    assert labels["p"] == ("m, world axes", ("x", "y", "z"), ())
    assert labels["d"].units == "m"
    assert "power" not in labels, "nothing is known of it"
    s = State.of(MODEL, rng)
    close(f(s.q, (0.1, 0.2, 0.3))[1], float(f(s.q, (0.1, 0.2, 0.3))[0]) ** 2)
    assert od.function(reach, MODEL) is f
    assert od.function(reach, MODEL, name="reach_tip").name() == "reach_tip"


def test_units_and_labels_are_in_the_exported_header():
    header = od.codegen.generate([od.function(reach, MODEL)], "arm")["arm.h"]
    assert "p [3], in; m, world axes; entries: list 2" in header
    assert "d [1], out; m" in header
    assert "z" in header[header.index("list 2") :]


def test_a_signature_for_a_function_that_cannot_be_decorated(rng):
    """Rows that stand for the model's dofs, and a name by the text; it goes before the decorator's."""
    signature = od.Signature.parse("P_motor: qd tau -> P_motor", od.Quantity("P_motor", "W", rows="dofs"))
    f = od.function(power, MODEL, signature=signature)
    assert f.name() == "P_motor"
    assert describe(f).labels["P_motor"] == ("W", MODEL.qd_names, ())
    other = od.function(reach, MODEL, signature="q p[3] -> d other")
    assert (other.name(), other.name_out()) == ("reach", ["d", "other"])
    square = od.Signature.parse("far: q p[3] -> d square")
    assert od.function(reach, MODEL, signature=square).name_out() == ["d", "square"]


@pytest.mark.slow
def test_traits(rng):
    """A joint-space algorithm runs on a cheaper model, options become inputs, outputs come on request."""
    bent = od.random_tree(3, 1.0, [od.Revolute((1, 2, 3))])

    @od.algorithm("lossy: q qd f_ext? s? tau* -> C residual?", od.Quantity("s", "1", rows=1), joint_space=True)
    def lossy(model, q, qd, tau, f_ext=None, *, loads=LOADS, s=1.0, columns=1, residual=False):
        C = s * od.bias_force(model, q, qd, f_ext, loads=loads)
        return (C, C - tau) if residual else C

    plain, light = (od.function(lossy, bent, reduce=reduce) for reduce in (False, True))
    assert light.n_instructions() < plain.n_instructions()
    f = od.function(lossy, bent, loads=od.Loads(external=("body1",)), s="input", columns=2, residual=True)
    assert f.name_in() == ["q", "qd", "tau", "f_ext", "s"]
    assert (f.size_in("tau"), f.name_out()) == ((3, 2), ["C", "residual"])


def test_inputs_by_the_constraints(rng):
    """A quantity of the table is known by its name: lam has a row per row of the constraints."""

    def pull(model, constraints, q, lam):
        return od.constraint_jacobian(model, constraints, q).T @ lam

    foot = (od.Contact("b2", axes="xz"),)
    f = od.function(pull, MODEL, foot, signature="q lam -> tau")
    assert f.size_in("lam") == (2, 1)
    assert describe(f).labels["lam"].rows == od.constraint_rows(foot)
    with pytest.raises(ValueError, match="have the rows of a constraint set, and none is given"):
        od.function(pull, MODEL, signature="q lam -> tau")


REFUSED = [
    (ValueError, r"E has 2 rows, its quantity names 3: x, y, z", lambda: od.function(
        lambda model, q: ca.vertcat(q[0], q[0]), MODEL,
        signature=od.Signature.parse("q -> E", od.Quantity("E", rows=("x", "y", "z"))))),
    (ValueError, "'q -> E' names no F", lambda: od.Signature.parse(
        "q -> E", od.Quantity("F"))),
    (ValueError, "two quantities are called E", lambda: od.Signature.parse(
        "q -> E", od.Quantity("E"), od.Quantity("E", "J"))),
    (ValueError, "rows must be one of .*got 'dof': did you mean 'dofs'", lambda: od.Quantity("E", rows="dof")),
    (TypeError, "columns must be one of .* or names, got 1.5", lambda: od.Quantity("E", columns=1.5)),
    (TypeError, "units must be a string, got 5", lambda: od.Quantity("E", 5)),
    (ValueError, "the name of a quantity is a word", lambda: od.Quantity("E E")),
    (TypeError, "quantities are od.Quantity.*, got 'J'", lambda: od.Signature.parse("q -> E", "J")),
    (ValueError, r"the quantity p has rows already; leave out \[3\]", lambda: od.Signature.parse(
        "p[3] -> E", od.Quantity("p", rows=3))),
    (ValueError, "output E\\[3\\]: the size of an output follows from the algorithm; write E",
        lambda: od.Signature.parse("q -> E[3]")),
    (ValueError, "'q-d' in a signature is no name", lambda: od.Signature.parse("q-d -> E")),
    (KeyError, "input 'qdot' has no known size; .*qdot.3.: did you mean 'q", lambda: od.Signature.parse("qdot -> E")),
    (ValueError, "a signature reads", lambda: od.Signature.parse(": q -> E")),
    (KeyError, "energy.* is not in the registry.*@od.algorithm", lambda: od.function(energy, MODEL)),
]  # fmt: skip


def energy(model: od.Model, q: Any, qd: Any) -> Any:
    return od.kinetic_energy(model, q, qd)


@pytest.mark.parametrize(("error", "message", "call"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_errors(error, message, call):
    with pytest.raises(error, match=message):
        call()
