"""Members of users' costs, path constraints, constraints, footholds, joints and schemes: read, or refused, and never
passed over."""

from dataclasses import fields, is_dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

import ocp_dyn as od
from ocp_dyn import ocp


class Cost(ocp.Cost):
    weight = 1.0

    def integrand(self, instant: ocp.Instant) -> Any:
        return ca.sumsqr(instant.tau)


class RateCost(ocp.RateCost):
    weight = 1.0

    def quantity(self, instant: ocp.Instant) -> Any:
        return instant.tau

    def rate_integrand(self, rate: Any) -> Any:
        return ca.sumsqr(rate)


class Row(ocp.PathConstraint):
    where = "interval"

    def rows(self, instant: ocp.Instant) -> Any:
        return instant.q, -1.0, 1.0


class Held(od.Constraint):
    rows = ("row",)

    def position(self, model: od.Model, q: Any) -> Any:
        return q[0]

    def jacobian(self, model: od.Model, q: Any) -> Any:
        return ca.DM([[1.0]])

    def hessian(self, model: od.Model, q: Any, qd: Any) -> Any:
        return ca.DM([0.0])


def made(kind: type, **members: Any) -> Any:
    return type("Own", (kind,), members)()


def method(*arguments: Any) -> Any:
    return 0


def phase(term: Any) -> ocp.Phase:
    of_path = isinstance(term, ocp.PathConstraint)
    return ocp.Phase("move", 2, 1.0, path=[term] if of_path else (), objective=() if of_path else [term])


@pytest.mark.parametrize(
    ("kind", "members", "fault"),
    [
        (Cost, {"residul": method}, "its residul is read by nobody: did you mean 'residual'"),
        (Cost, {"chekc": method}, "did you mean 'check'"),
        (Cost, {"needs_tau_rates": True}, "did you mean 'needs_tau_rate'"),
        (Cost, {"nam": "effort"}, "did you mean 'name'"),
        (Cost, {"residual": 3.0}, "residual must be a method, got 3.0"),
        (Cost, {"name": method}, "name must be a text, got"),
        (Cost, {"name": True}, "name must be a text, got True"),
        (Cost, {"continues": True}, "continues has no effect on such a term"),
        (Cost, {"ends": False}, "ends has no effect on such a term"),
        (
            Cost,
            {"slack_size": method},
            "slack_size has no effect on such a term: leave it out, or derive .* ocp.SlackCost",
        ),
        (Cost, {"reference_size": method}, "reference_size has no effect on such a term: .* ocp.TrackingCost"),
        (ocp.SlackCost, {"slack_row": method}, "its slack_row is read by nobody: did you mean 'slack_rows'"),
        (
            ocp.SlackCost,
            {"weight": 1.0, "integrand": method, "slack_size": method, "slack_rows": method},
            "needs the attribute scale",
        ),
        (ocp.TrackingCost, {"referense_size": method}, "did you mean 'reference_size'"),
        (
            ocp.TrackingCost,
            {"weight": 1.0, "residual": method, "reference_size": method},
            "needs the attribute reference",
        ),
        (
            ocp.LeastSquares,
            {"weight": 1.0, "residuals": method},
            "its residuals is read by nobody: did you mean 'residual'",
        ),
        (ocp.Cost, {"weight": 1.0}, "Can't instantiate abstract class Own .*integrand"),
        (ocp.Cost, {"integrand": method, "weigth": 1.0}, "its weigth is read by nobody: did you mean 'weight'"),
        (ocp.RateCost, {"weight": 1.0, "quantity": method}, "Can't instantiate abstract class Own .*rate_integrand"),
        (ocp.PathConstraint, {"where": "node"}, "Can't instantiate abstract class Own .*rows"),
        (ocp.PathConstraint, {"rows": method}, "needs the attribute where"),
        (Row, {"where": "nodes"}, "must be one of node, interval, wrench, got 'nodes'"),
        (Row, {"rows": (0.0, 1.0)}, r"rows must be a method, got \(0.0, 1.0\)"),
        (
            Cost,
            {"weight": -1.0},
            "weight of Own must not be negative, got -1.0; to make a quantity large, return its neg",
        ),
        (Cost, {"weight": np.inf}, "weight of Own must be finite"),
        (RateCost, {"continus": True}, "did you mean 'continues'"),
        (RateCost, {"continues": "yes"}, "continues must be True or False, got 'yes'"),
        (RateCost, {"weight": -1.0}, "weight of Own must not be negative"),
        (Row, {"at_interval_end": True}, "did you mean 'at_interval_ends'"),
        (Row, {"ends": False}, "ends=False counts for nodes, and its where is 'interval'"),
        (Row, {"where": "node", "at_interval_ends": True}, "at_interval_ends counts for intervals"),
    ],
)
def test_members_of_terms_that_would_be_passed_over(kind: type, members: dict[str, Any], fault: str) -> None:
    with pytest.raises((TypeError, ValueError), match=fault):
        phase(made(kind, **members))
    if kind is Row:
        with pytest.raises((TypeError, ValueError), match=f"(Soft|class Own).*{fault}"):
            ocp.Soft(made(kind, **members))


@pytest.mark.parametrize("kind", [Cost, RateCost, Row])
def test_members_of_one_s_own_stay(kind: type) -> None:
    own = {"names": ("hip", "knee"), "residuals": np.zeros(3), "frame": "foot", "compute": method, "_residul": method}
    phase(made(kind, **own))
    if kind is Cost:
        phase(made(Cost, residual=method, residuals=method))  # residual is there: residuals is another thing


NEEDED = {
    "function": method, "reference": method, "points": [("foot", (0, 0, 0))], "feet": ["foot"],
    "constraint": ocp.Unilateral(),
}  # fmt: skip
WEIGHED = [
    kind for kind in vars(ocp).values() if is_dataclass(kind) and "weight" in (field.name for field in fields(kind))
]


@pytest.mark.parametrize("kind", WEIGHED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan, "heavy"])
def test_every_weight_is_checked(kind: type, weight: Any) -> None:
    needed = [field.name for field in fields(kind) if field.init and field.default is field.default_factory]
    with pytest.raises((TypeError, ValueError), match="weight"):
        kind(**{name: NEEDED.get(name, "foot") for name in needed}, weight=weight)


def test_to_make_a_quantity_large_return_its_negative() -> None:
    for term in (ocp.Integral, ocp.Terminal):
        with pytest.raises(ValueError, match="weight must not be negative, got -1; to make a quantity large"):
            term(method, weight=-1)


def test_a_soft_constraint_needs_what_its_constraint_needs() -> None:
    with pytest.raises(ValueError, match="Soft Own needs the rate of the torques"):
        ocp.Problem(od.models.pendulum(1), [phase(ocp.Soft(made(Row, needs_tau_rate=True)))])


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"velocty": method}, r"class Own\(Held\): its velocty is read by nobody: did you mean 'velocity'"),
        ({"wrenches": 3}, r"class Own\(Held\): wrenches must be a method, got 3"),
        ({"position": np.zeros(1)}, r"class Own\(Held\): position must be a method"),
        ({"parameters": ("point",)}, r"with parameters it needs with_parameter\(kind, value\) too"),
    ],
)
def test_members_of_constraints_that_would_be_passed_over(members: dict[str, Any], fault: str) -> None:
    assert float(od.constraint_position(od.models.pendulum(1), made(Held, size=3), [0.5])) == 0.5
    with pytest.raises(TypeError, match=fault):
        made(Held, **members)


def test_constraints_without_the_base_class_or_its_methods() -> None:
    with pytest.raises(TypeError, match=r"Can't instantiate abstract class Own .*hessian"):
        made(od.Constraint, rows=("row",), position=method, jacobian=method)
    alone = made(object, rows=("row",), position=method, jacobian=method)
    remedy = r"derive its class from the base class, class Own\(od.Constraint\), with hessian"
    model = od.models.pendulum(1)
    for use in (
        lambda: od.constraint_position(model, alone, [0.5]),
        lambda: od.ConstraintSet([alone]),
        lambda: od.Baumgarte(alone, 0.1),
        lambda: ocp.Phase("hold", 2, 1.0, constraints=alone),
    ):
        with pytest.raises(TypeError, match=remedy):
            use()


def test_attributes_of_constraints_and_footholds_are_checked_in_the_phase() -> None:
    held = made(Held)
    held.velocty = method
    with pytest.raises(TypeError, match="phase 'hold': Own: its velocty is read by nobody: did you mean 'velocity'"):
        ocp.Phase("hold", 2, 1.0, constraints=held)


@pytest.mark.parametrize("kind", [ocp.Foothold, ocp.CompliantFoothold])
def test_members_of_footholds_that_would_be_passed_over(kind: type) -> None:
    with pytest.raises(TypeError, match=r"class Own\(.*Foothold\): its wrenc is read by nobody: did you mean 'wrench'"):
        type("Own", (kind,), {"wrenc": method})
    with pytest.raises(TypeError, match=r"class Own\(.*Foothold\): wrench must be a method, got 3"):
        type("Own", (kind,), {"wrench": 3})
    type("Own", (kind,), {"wrench": method, "leather": 3, "_wrenc": method})


def test_members_of_schemes_that_would_be_passed_over() -> None:
    with pytest.raises(TypeError, match=r"class Own\(Scheme\): its explict is read by nobody: did you mean 'explicit'"):
        type("Own", (ocp.Scheme,), {"explict": True})
    with pytest.raises(TypeError, match="Scheme has no argument 'semi_implict': did you mean 'semi_implicit'"):
        ocp.Scheme("own", A=[[0]], b=[1], semi_implict=True)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="semi_implicit must be True or False"):
        ocp.Scheme("own", A=[[0]], b=[1], semi_implicit="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"nuetral": method}, r"class Own\((Joint|Revolute)\): its nuetral is read by nobody: did you mean 'neutral'"),
        (
            {"has_quaternions": True},
            r"class Own\((Joint|Revolute)\): its has_quaternions is read by nobody: did you mean 'has_quaternion'",
        ),
        ({"random_q": np.zeros(1)}, r"class Own\((Joint|Revolute)\): random_q must be a method"),
        ({"has_quaternion": "yes"}, r"class Own\((Joint|Revolute)\): has_quaternion must be True or False, got 'yes'"),
        ({"leading_translations": "three"}, "leading_translations must be a number, got 'three'"),
        (
            {"leading_translations": method},
            r"class Own\((Joint|Revolute)\): leading_translations must be a number, got",
        ),
    ],
)
def test_members_of_joints_that_would_be_passed_over(members: dict[str, Any], fault: str) -> None:
    for base in (od.Joint, od.Revolute):
        with pytest.raises(TypeError, match=fault):
            type("Own", (base,), members)
    type("Own", (od.Joint,), {"length": 0.3, "lengths": method, "play": method})


@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [
        (ocp.BoundaryCondition, "rows", "boundary"),
        (ocp.JumpCondition, "rows", "transitions"),
        (ocp.TerminalCost, "value", "terminal"),
    ],
)
def test_members_of_conditions_and_costs_of_states_that_would_be_passed_over(kind: type, name: str, key: str) -> None:
    with pytest.raises(TypeError, match=rf"class Own\({kind.__name__}\): its {name}s is read by nobody: did you mean"):
        type("Own", (kind,), {f"{name}s": method})
    with pytest.raises(TypeError, match=rf"Can't instantiate abstract class Own .*{name}"):
        made(kind)
    condition = made(kind, **{name: method, "name": "rest"})
    condition.name = 3.0
    halves = [ocp.Phase("one", 2, 1.0), ocp.Phase("two", 2, 1.0)]
    for wrong, fault in (
        (condition, f"{key}: Own: name must be a text, got 3.0"),
        (made(object, **{name: method}), "derive its class"),
    ):
        with pytest.raises(TypeError, match=fault):
            ocp.Problem(od.models.pendulum(1), halves, **{key: [wrong]})


def test_the_weight_of_a_cost_of_states_is_checked() -> None:
    with pytest.raises(ValueError, match="weight of Own must not be negative"):
        ocp.Problem(
            od.models.pendulum(1),
            [ocp.Phase("one", 2, 1.0)],
            terminal=[made(ocp.TerminalCost, value=method, weight=-1.0)],
        )


def test_joints_without_their_method() -> None:
    with pytest.raises(TypeError, match=r"Can't instantiate abstract class Own .*jcalc"):
        made(od.Joint, q_labels=("",), qd_labels=("",))
